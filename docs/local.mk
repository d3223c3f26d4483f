# Documentation that is installed or part of a release.

dist_man1_MANS = docs/man/skirc.1
dist_doc_DATA = \
	CHANGELOG.md \
	LICENSE \
	README.md \
	docs/add-a-format.md \
	docs/add-a-pass.md \
	docs/add-a-target.md \
	docs/add-an-instruction.md \
	docs/add-an-op.md \
	docs/add-an-option.md \
	docs/architecture.md \
	docs/ascend.md \
	docs/ascend-launch.md \
	docs/command-line.md \
	docs/compile-info.schema.json \
	docs/device-model.md \
	docs/diagnostics.md \
	docs/gears.md \
	docs/importing.md \
	docs/json.schema.json \
	docs/kernel-meta.schema.json \
	docs/language.md \
	docs/objects.md \
	docs/opt.schema.json \
	docs/op-types.md \
	docs/options.md \
	docs/passes.md \
	docs/run.schema.json \
	docs/sample-kernels.md \
	docs/synchronisation.md \
	docs/testing.md \
	docs/tutorial.md

# With the folders of what they include; examples that are added need no line here.
EXTRA_DIST += docs/examples
examplesdir = $(docdir)/examples
install-data-local:
	cd $(srcdir)/docs/examples && find . -type f | while read -r file; do \
	  $(MKDIR_P) "$(DESTDIR)$(examplesdir)/$${file%/*}" && \
	  $(INSTALL_DATA) "$$file" "$(DESTDIR)$(examplesdir)/$$file" || exit 1; \
	done
uninstall-local:
	cd $(srcdir)/docs/examples && find . -type f | while read -r file; do \
	  rm -f "$(DESTDIR)$(examplesdir)/$$file"; \
	done
	test ! -d "$(DESTDIR)$(examplesdir)" || \
	  find "$(DESTDIR)$(examplesdir)" -depth -type d -exec rmdir {} \; 2>/dev/null || :
