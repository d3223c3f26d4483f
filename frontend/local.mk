# What goes in and how: the library's own interface, the commands of skirc, and the importers.

libskir_la_SOURCES += \
	frontend/exchange.c \
	frontend/exchange.def \
	frontend/exchange.h \
	frontend/export/dot.c \
	frontend/export/foreign.c \
	frontend/export/foreign.h \
	frontend/export/json.c \
	frontend/export/kernel_info.c \
	frontend/export/profile.c \
	frontend/export/profile.h \
	frontend/export/proto_graphs.c \
	frontend/import/dump/dump.c \
	frontend/import/dump/dump.h \
	frontend/import/dump/finish.c \
	frontend/import/dump/gears.c \
	frontend/import/dump/infer.c \
	frontend/import/dump/links.c \
	frontend/import/dump/links.h \
	frontend/import/dump/make_operands.c \
	frontend/import/dump/maker.c \
	frontend/import/dump/maker.h \
	frontend/import/dump/marks.c \
	frontend/import/dump/marks.h \
	frontend/import/dump/types.c \
	frontend/import/dump/types.h \
	frontend/import/ge_proto.c \
	frontend/import/ge_readable_text.c \
	frontend/import/kernel_info.c \
	frontend/import/messages.c \
	frontend/import/messages.h \
	frontend/import/onnx.c \
	frontend/import/sk_graph.c \
	frontend/import/sub_kernel.c \
	frontend/import/sub_kernel.h \
	frontend/import/text/decimal.c \
	frontend/import/text/decimal.h \
	frontend/import/text/proto_text.c \
	frontend/import/text/proto_text.h \
	frontend/import/text/python_text.c \
	frontend/import/text/python_text.h \
	frontend/import/tf_graph.c \
	frontend/import/tf_ops.def \
	frontend/import/torchair_py.c \
	frontend/import/translate/build_ops.c \
	frontend/import/translate/build_ops.h \
	frontend/import/translate/constant_values.c \
	frontend/import/translate/onnx_elements.c \
	frontend/import/translate/onnx_norms.c \
	frontend/import/translate/onnx_shapes.c \
	frontend/import/translate/rows.h \
	frontend/import/translate/tf_elements.c \
	frontend/import/translate/tf_tensors.c \
	frontend/import/translate/translate.c \
	frontend/import/translate/translate.h \
	frontend/session.c \
	frontend/session.h \
	frontend/skir.c \
	frontend/skir.h
libskir_la_CPPFLAGS = $(AM_CPPFLAGS) -DSKIR_KERNEL_DIR='"$(kerneldir)"'
kernel_dir_objects = frontend/libskir_la-session.lo
$(kernel_dir_objects): install-dirs
skirinclude_HEADERS += frontend/skir.h

# For programs of PyTorch: they run where that is, and need nothing of this tree.
dist_pkgdata_DATA = \
	frontend/python/torch_skir.py \
	frontend/python/torch_skir_ops.py \
	frontend/python/torch_skir_rewrites.py

# The package that GE and torch_npu import, for PYTHONPATH.
superkerneldir = $(pkgdatadir)/python/superkernel
dist_superkernel_DATA = \
	frontend/python/superkernel/__init__.py \
	frontend/python/superkernel/super_kernel.py

# All but main, for the tests.
noinst_LIBRARIES += frontend/libfrontend.a
frontend_libfrontend_a_SOURCES = \
	frontend/driver/check_gears.c \
	frontend/driver/check_gears.h \
	frontend/driver/child_process.c \
	frontend/driver/child_process.h \
	frontend/driver/cmd.h \
	frontend/driver/cmd_check.c \
	frontend/driver/cmd_compile.c \
	frontend/driver/cmd_export.c \
	frontend/driver/cmd_fmt.c \
	frontend/driver/cmd_import.c \
	frontend/driver/cmd_objdump.c \
	frontend/driver/cmd_opt.c \
	frontend/driver/cmd_trace.c \
	frontend/driver/cmd_where.c \
	frontend/driver/command.c \
	frontend/driver/command.h \
	frontend/driver/diff.c \
	frontend/driver/diff.h \
	frontend/driver/graph_arguments.c \
	frontend/driver/graph_arguments.h \
	frontend/driver/lowered_input.c \
	frontend/driver/lowered_input.h \
	frontend/driver/module_io.c \
	frontend/driver/module_io.h \
	frontend/driver/pass_plugins.c \
	frontend/driver/pass_plugins.h \
	frontend/driver/shared_options.c \
	frontend/driver/shared_options.h \
	frontend/driver/skirc.c \
	frontend/driver/skirc.h \
	frontend/filetest/cmd_test.c \
	frontend/filetest/golden.c \
	frontend/filetest/golden.h \
	frontend/filetest/golden_bless.c \
	frontend/filetest/golden_compare.c \
	frontend/filetest/golden_outcome.c \
	frontend/filetest/golden_processes.c \
	frontend/filetest/golden_processes.h \
	frontend/filetest/golden_scan.h \
	frontend/filetest/template.c \
	frontend/filetest/template.h \
	frontend/run/cmd_run.c \
	frontend/run/run_answers.c \
	frontend/run/run_answers.h \
	frontend/run/run_checks.c \
	frontend/run/run_checks.h \
	frontend/run/run_launch.c \
	frontend/run/run_launch.h \
	frontend/run/run_operands.c \
	frontend/run/run_operands.h \
	frontend/run/run_report.c \
	frontend/run/run_report.h \
	frontend/run/run_setup.c \
	frontend/run/run_setup.h \
	frontend/run/run_values.c \
	frontend/run/run_values.h \
	frontend/run/runner.h \
	frontend/run/samples.c \
	frontend/run/samples.h \
	frontend/support/cmd_support.c \
	frontend/support/support.c \
	frontend/support/support.def \
	frontend/support/support.h \
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
frontend/driver/pass_plugins.o: passes/plugin_headers.h

# Objects that skirc loads call the runtime: all of it is linked, whatever skirc itself uses.
bin_PROGRAMS += skirc
skirc_SOURCES = frontend/driver/main.c
skirc_LDADD = frontend/libfrontend.a libskir.la $(libskrt_la_OBJECTS) $(THREAD_LIBS) $(DL_LIBS)
skirc_LDFLAGS = $(AM_LDFLAGS) -export-dynamic

# ---- Scanners of texts of others: generated, and part of a release ----

exchange_scanners = \
	frontend/import/ge_readable_text.c \
	frontend/import/text/proto_text.c \
	frontend/import/text/python_text.c
EXTRA_DIST += $(exchange_scanners:.c=.re)
BUILT_SOURCES += $(exchange_scanners)
MAINTAINERCLEANFILES += $(exchange_scanners)

frontend/import/ge_readable_text.c: frontend/import/ge_readable_text.re
	$(AM_V_GEN)$(MKDIR_P) frontend/import && $(exchange_scan)
frontend/import/text/proto_text.c: frontend/import/text/proto_text.re
	$(AM_V_GEN)$(MKDIR_P) frontend/import/text && $(exchange_scan)
frontend/import/text/python_text.c: frontend/import/text/python_text.re
	$(AM_V_GEN)$(MKDIR_P) frontend/import/text && $(exchange_scan)
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
