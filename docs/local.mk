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
	docs/architecture.md \
	docs/ascend.md \
	docs/command-line.md \
	docs/compile-info.schema.json \
	docs/device-model.md \
	docs/diagnostics.md \
	docs/importing.md \
	docs/json.schema.json \
	docs/kernel-meta.schema.json \
	docs/launches.schema.json \
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
EXTRA_DIST += docs/examples
