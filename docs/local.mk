# Documentation that is installed or part of a release.

dist_man1_MANS =
dist_doc_DATA = \
	CHANGELOG.md \
	LICENSE \
	docs/device-model.md \
	docs/objects.md \
	docs/sample-kernels.md \
	docs/testing.md
EXTRA_DIST += docs/examples
