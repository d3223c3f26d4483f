# What a program is.

libskir_la_SOURCES += \
	ir/addresses.c \
	ir/addresses.h \
	ir/analyses.c \
	ir/analyses.h \
	ir/arch.c \
	ir/arch.h \
	ir/archs.def \
	ir/attr_keys.def \
	ir/attr_kinds.def \
	ir/attrs.c \
	ir/attrs.h \
	ir/block_rules.c \
	ir/block_rules.h \
	ir/call_ops.def \
	ir/calls.c \
	ir/calls.h \
	ir/concurrency.c \
	ir/concurrency.h \
	ir/contents.c \
	ir/contents.h \
	ir/dep_graph.c \
	ir/dep_graph.h \
	ir/dims.c \
	ir/dims.h \
	ir/dtypes.def \
	ir/entry.h \
	ir/estimate.c \
	ir/estimate.h \
	ir/foreign_dtypes.def \
	ir/foreign_names.c \
	ir/foreign_names.h \
	ir/formats.def \
	ir/gears.c \
	ir/gears.h \
	ir/hazards.c \
	ir/hazards.h \
	ir/instr.h \
	ir/instrs.def \
	ir/invariants.c \
	ir/invariants.h \
	ir/kernel_args.c \
	ir/kernel_args.h \
	ir/kernel_source.h \
	ir/kernel_types.def \
	ir/kernels.c \
	ir/kernels.h \
	ir/launch_order.c \
	ir/launch_order.h \
	ir/modref.c \
	ir/modref.h \
	ir/module.c \
	ir/module.h \
	ir/op_data.h \
	ir/op_eval.c \
	ir/op_eval.h \
	ir/op_functions.c \
	ir/op_functions.def \
	ir/op_infer.c \
	ir/op_infer.h \
	ir/op_rules.c \
	ir/op_rules.h \
	ir/op_shapes.c \
	ir/op_shapes.h \
	ir/op_tensors.c \
	ir/op_tensors.h \
	ir/op_type_reader.c \
	ir/op_type_reader.h \
	ir/op_types.c \
	ir/op_types.h \
	ir/op_values.c \
	ir/operands.c \
	ir/operands.h \
	ir/sk_options.c \
	ir/sk_options.def \
	ir/sk_options.h \
	ir/support/arena.c \
	ir/support/arena.h \
	ir/support/check.h \
	ir/support/cleanup_registry.c \
	ir/support/cleanup_registry.h \
	ir/support/components.c \
	ir/support/components.h \
	ir/support/diag.c \
	ir/support/diag.h \
	ir/support/diag_ids.def \
	ir/support/escapes.c \
	ir/support/escapes.h \
	ir/support/file.c \
	ir/support/file.h \
	ir/support/file_fault.c \
	ir/support/file_fault.h \
	ir/support/float_formats.h \
	ir/support/guarded.c \
	ir/support/guarded.h \
	ir/support/heap.h \
	ir/support/ids.c \
	ir/support/ids.h \
	ir/support/intern.c \
	ir/support/intern.h \
	ir/support/json.c \
	ir/support/json.h \
	ir/support/json_document.c \
	ir/support/json_document.h \
	ir/support/memory.c \
	ir/support/memory.h \
	ir/support/pages.c \
	ir/support/pages.h \
	ir/support/parts.c \
	ir/support/parts.h \
	ir/support/source.c \
	ir/support/source.h \
	ir/support/stream.c \
	ir/support/stream.h \
	ir/support/text.c \
	ir/support/text.h \
	ir/support/tool.c \
	ir/support/tool.h \
	ir/support/vec.h \
	ir/syntax/grammar.c \
	ir/syntax/grammar.h \
	ir/syntax/lexer.c \
	ir/syntax/locate.c \
	ir/syntax/locate.h \
	ir/syntax/mistakes.c \
	ir/syntax/mistakes.h \
	ir/syntax/parse.c \
	ir/syntax/parse.h \
	ir/syntax/parse_entry.c \
	ir/syntax/parse_graph.c \
	ir/syntax/parse_items.c \
	ir/syntax/parser.h \
	ir/syntax/print.c \
	ir/syntax/print.h \
	ir/syntax/scanner.h \
	ir/syntax/spelling.c \
	ir/syntax/spelling.h \
	ir/tables.c \
	ir/types.c \
	ir/verified_ops.c \
	ir/verified_ops.h \
	ir/verify/infer_types.c \
	ir/verify/verify.c \
	ir/verify/verify.h \
	ir/verify/verify_attrs.c \
	ir/verify/verify_calls.c \
	ir/verify/verify_entry.c \
	ir/verify/verify_gears.c \
	ir/verify/verify_graph.c \
	ir/verify/verify_internal.h \
	ir/verify/verify_kernel.c \
	ir/verify/verify_memory.c \
	ir/verify/verify_op_types.c \
	ir/verify/verify_ops.c \
	ir/verify/verify_order.c \
	ir/verify/verify_types.c \
	ir/verify/verify_warnings.c \
	ir/words.def

libskir_la_LIBADD = libskrt.la $(LIBELF_LIBS) $(CJSON_LIBS) $(NETTLE_LIBS) $(MATH_LIBS)
libskir_la_LDFLAGS = $(INSTRUMENT) -no-undefined -version-info 0:0:0 \
	-export-symbols-regex '^skir_[^y]'

# ---- The data of op types, as C ----

op_data_files = \
	ir/ops/attention.json \
	ir/ops/collective.json \
	ir/ops/control.json \
	ir/ops/data.json \
	ir/ops/elementwise.json \
	ir/ops/image.json \
	ir/ops/matrix.json \
	ir/ops/moe.json \
	ir/ops/normalisation.json \
	ir/ops/quantisation.json \
	ir/ops/reduction.json \
	ir/ops/shape.json
nodist_libskir_la_SOURCES = ir/op_data.c
EXTRA_DIST += ir/op_data.awk $(op_data_files)
CLEANFILES += ir/op_data.c

ir/op_data.c: $(op_data_files) ir/op_data.awk
	$(AM_V_GEN)$(MKDIR_P) ir && \
	  $(AWK) -f $(srcdir)/ir/op_data.awk $(filter %.json,$^) >$@.tmp && mv $@.tmp $@ || \
	  { rm -f $@.tmp; exit 1; }

# ---- The scanner and the parser: generated, and part of a release ----

EXTRA_DIST += ir/syntax/grammar.y ir/syntax/lexer.re
BUILT_SOURCES += ir/syntax/grammar.c ir/syntax/grammar.h ir/syntax/lexer.c
MAINTAINERCLEANFILES += ir/syntax/grammar.c ir/syntax/grammar.h ir/syntax/lexer.c

# A generator that fails must leave no product behind, and the header must not look older than the
# parser, or its rule would run for ever.
ir/syntax/lexer.c: ir/syntax/lexer.re
	$(AM_V_GEN)$(MKDIR_P) ir/syntax && \
	  $(RE2C) -b -W $(WERROR) -i --no-generation-date -o $@ $< || { rm -f $@; exit 1; }

ir/syntax/grammar.c: ir/syntax/grammar.y
	$(AM_V_GEN)$(MKDIR_P) ir/syntax && \
	  $(BISON) -Wall $(WERROR) --file-prefix-map='$(srcdir)/=' \
	    --header=ir/syntax/grammar.h -o $@ $< && touch ir/syntax/grammar.h || { rm -f $@; exit 1; }

ir/syntax/grammar.h: ir/syntax/grammar.c
	$(AM_V_at)test -f $@ || { rm -f ir/syntax/grammar.c && $(MAKE) $(AM_MAKEFLAGS) ir/syntax/grammar.c; }
