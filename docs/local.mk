# Documentation that is installed or part of a release.

dist_man1_MANS =
EXTRA_DIST += docs/examples
