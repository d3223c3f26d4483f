# What goes in and how: the library's own interface, the commands of skirc, and the importers.

libskir_la_SOURCES += \
	frontend/included_texts.c \
	frontend/included_texts.h \
	frontend/session.c \
	frontend/session.h \
	frontend/skir.c \
	frontend/skir.h \
	frontend/exchange/dump/dump.c \
	frontend/exchange/dump/dump.h \
	frontend/exchange/dump/finish.c \
	frontend/exchange/dump/gears.c \
	frontend/exchange/dump/infer.c \
	frontend/exchange/dump/links.c \
	frontend/exchange/dump/links.h \
	frontend/exchange/dump/make_operands.c \
	frontend/exchange/dump/maker.c \
	frontend/exchange/dump/maker.h \
	frontend/exchange/dump/marks.c \
	frontend/exchange/dump/marks.h \
	frontend/exchange/dump/types.c \
	frontend/exchange/dump/types.h \
	frontend/exchange/translate/build_ops.c \
	frontend/exchange/translate/build_ops.h \
	frontend/exchange/translate/constant_values.c \
	frontend/exchange/translate/onnx_elements.c \
	frontend/exchange/translate/onnx_norms.c \
	frontend/exchange/translate/rows.h \
	frontend/exchange/translate/onnx_shapes.c \
	frontend/exchange/translate/tf_elements.c \
	frontend/exchange/translate/tf_tensors.c \
	frontend/exchange/translate/translate.c \
	frontend/exchange/translate/translate.h \
	frontend/exchange/exchange.c \
	frontend/exchange/exchange.def \
	frontend/exchange/exchange.h \
	frontend/exchange/readers/ge_proto.c \
	frontend/exchange/readers/ge_readable_text.c \
	frontend/exchange/readers/kernel_info.c \
	frontend/exchange/readers/messages.c \
	frontend/exchange/readers/messages.h \
	frontend/exchange/readers/onnx.c \
	frontend/exchange/readers/sk_graph.c \
	frontend/exchange/readers/sub_kernel.c \
	frontend/exchange/readers/sub_kernel.h \
	frontend/exchange/readers/tf_graph.c \
	frontend/exchange/readers/tf_ops.def \
	frontend/exchange/readers/torchair_py.c \
	frontend/exchange/text/decimal.c \
	frontend/exchange/text/decimal.h \
	frontend/exchange/text/proto_text.c \
	frontend/exchange/text/proto_text.h \
	frontend/exchange/text/python_text.c \
	frontend/exchange/text/python_text.h \
	frontend/exchange/writers/dot.c \
	frontend/exchange/writers/foreign.c \
	frontend/exchange/writers/foreign.h \
	frontend/exchange/writers/proto_graphs.c \
	frontend/exchange/writers/json.c \
	frontend/exchange/writers/kernel_info.c \
	frontend/exchange/writers/profile.c \
	frontend/exchange/writers/profile.h
libskir_la_CPPFLAGS = $(AM_CPPFLAGS) -DSKIR_KERNEL_DIR='"$(kerneldir)"'
kernel_dir_objects = frontend/libskir_la-session.lo
$(kernel_dir_objects): install-dirs
skirinclude_HEADERS += frontend/skir.h

# For programs of PyTorch: they run where that is, and need nothing of this tree.
dist_pkgdata_DATA = \
	frontend/exchange/torch_skir.py \
	frontend/exchange/torch_skir_ops.py \
	frontend/exchange/torch_skir_rewrites.py

# The package that GE and torch_npu import, for PYTHONPATH.
superkerneldir = $(pkgdatadir)/python/superkernel
dist_superkernel_DATA = \
	frontend/python/superkernel/__init__.py \
	frontend/python/superkernel/super_kernel.py

# All but main, for the tests.
noinst_LIBRARIES += frontend/libfrontend.a
frontend_libfrontend_a_SOURCES = \
	frontend/skirc.c \
	frontend/skirc.h \
	frontend/cli/bind_dims.c \
	frontend/cli/bind_dims.h \
	frontend/cli/child_process.c \
	frontend/cli/child_process.h \
	frontend/cli/command.c \
	frontend/cli/command.h \
	frontend/cli/diff.c \
	frontend/cli/diff.h \
	frontend/cli/module_io.c \
	frontend/cli/module_io.h \
	frontend/cli/pass_plugins.c \
	frontend/cli/pass_plugins.h \
	frontend/cli/shared_options.c \
	frontend/cli/shared_options.h \
	frontend/commands/cmd.h \
	frontend/commands/check_gears.c \
	frontend/commands/check_gears.h \
	frontend/commands/cmd_check.c \
	frontend/commands/cmd_compile.c \
	frontend/commands/cmd_export.c \
	frontend/commands/cmd_fmt.c \
	frontend/commands/cmd_import.c \
	frontend/commands/cmd_objdump.c \
	frontend/commands/cmd_where.c \
	frontend/commands/cmd_support.c \
	frontend/commands/cmd_trace.c \
	frontend/commands/cmd_opt.c \
	frontend/commands/cmd_run.c \
	frontend/commands/cmd_test.c \
	frontend/commands/graph_arguments.c \
	frontend/commands/graph_arguments.h \
	frontend/commands/lowered_input.c \
	frontend/commands/lowered_input.h \
	frontend/commands/run_checks.c \
	frontend/commands/run_checks.h \
	frontend/commands/run_answers.c \
	frontend/commands/run_answers.h \
	frontend/commands/run_values.c \
	frontend/commands/run_values.h \
	frontend/commands/run_launch.c \
	frontend/commands/run_launch.h \
	frontend/commands/run_setup.c \
	frontend/commands/run_setup.h \
	frontend/commands/run_report.c \
	frontend/commands/run_report.h \
	frontend/commands/runner.h \
	frontend/commands/samples.c \
	frontend/commands/samples.h \
	frontend/commands/run_operands.c \
	frontend/commands/run_operands.h \
	frontend/golden/golden.c \
	frontend/golden/golden.h \
	frontend/golden/golden_bless.c \
	frontend/golden/golden_compare.c \
	frontend/golden/golden_outcome.c \
	frontend/golden/golden_processes.c \
	frontend/golden/golden_processes.h \
	frontend/golden/golden_scan.h \
	frontend/golden/template.c \
	frontend/golden/template.h \
	frontend/support/support.c \
	frontend/support/support.def \
	frontend/support/support.h \
	frontend/support/values.def \
	frontend/tensor/npy.c \
	frontend/tensor/npy.h \
	frontend/tensor/poison.c \
	frontend/tensor/poison.h \
	frontend/tensor/storage.c \
	frontend/tensor/storage.h \
	frontend/tensor/tensor.c \
	frontend/tensor/tensor.h \
	frontend/tensor/tensor_fill.c

# What is compared with plugins is there before it is compiled.
frontend/cli/pass_plugins.o: passes/plugin_headers.h

# Objects that skirc loads call the runtime: all of it is linked, whatever skirc itself uses.
bin_PROGRAMS += skirc
skirc_SOURCES = frontend/main.c
skirc_LDADD = frontend/libfrontend.a libskir.la $(libskrt_la_OBJECTS) $(THREAD_LIBS) $(DL_LIBS)
skirc_LDFLAGS = $(AM_LDFLAGS) -export-dynamic

# ---- Scanners of texts of others: generated, and part of a release ----

exchange_scanners = \
	frontend/exchange/readers/ge_readable_text.c \
	frontend/exchange/text/proto_text.c \
	frontend/exchange/text/python_text.c
EXTRA_DIST += $(exchange_scanners:.c=.re)
BUILT_SOURCES += $(exchange_scanners)
MAINTAINERCLEANFILES += $(exchange_scanners)

frontend/exchange/readers/ge_readable_text.c: frontend/exchange/readers/ge_readable_text.re
	$(AM_V_GEN)$(MKDIR_P) frontend/exchange/readers && $(exchange_scan)
frontend/exchange/text/proto_text.c: frontend/exchange/text/proto_text.re
	$(AM_V_GEN)$(MKDIR_P) frontend/exchange/text && $(exchange_scan)
frontend/exchange/text/python_text.c: frontend/exchange/text/python_text.re
	$(AM_V_GEN)$(MKDIR_P) frontend/exchange/text && $(exchange_scan)
exchange_scan = $(RE2C) -b -W $(WERROR) -i --no-generation-date -o $@ $< || { rm -f $@; exit 1; }

# ---- What shells and editors know ----

# Where their packages look for those of others; a distribution may say otherwise.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
vimdir = $(datadir)/vim/vimfiles
vimsyntaxdir = $(vimdir)/syntax
vimdetectdir = $(vimdir)/ftdetect
vscodedir = $(pkgdatadir)/vscode
vscodesyntaxdir = $(vscodedir)/syntaxes
bashcompletion_DATA = frontend/support/bash/skirc
zshcompletion_DATA = frontend/support/zsh/_skirc
vimsyntax_DATA = frontend/support/vim/skir.vim
vscodesyntax_DATA = frontend/support/vscode/syntaxes/skir.tmLanguage.json
dist_vimdetect_DATA = frontend/support/ftdetect/skir.vim
dist_vscode_DATA = \
	frontend/support/vscode/language-configuration.json \
	frontend/support/vscode/package.json
support_files = $(bashcompletion_DATA) $(zshcompletion_DATA) $(vimsyntax_DATA) $(vscodesyntax_DATA)
CLEANFILES += $(support_files)
$(support_files): skirc$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	  $(EMULATOR) ./skirc$(EXEEXT) support $(word 3,$(subst /, ,$@)) -o $@
