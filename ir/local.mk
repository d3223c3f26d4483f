# What a program is.

libskir_la_SOURCES += \
	ir/analysis/addresses.c \
	ir/analysis/addresses.h \
	ir/analysis/analyses.c \
	ir/analysis/analyses.h \
	ir/analysis/block_rules.c \
	ir/analysis/block_rules.h \
	ir/analysis/concurrency.c \
	ir/analysis/concurrency.h \
	ir/analysis/contents.c \
	ir/analysis/contents.h \
	ir/analysis/dep_graph.c \
	ir/analysis/dep_graph.h \
	ir/analysis/estimate.c \
	ir/analysis/estimate.h \
	ir/analysis/hazards.c \
	ir/analysis/hazards.h \
	ir/analysis/launch_order.c \
	ir/analysis/launch_order.h \
	ir/analysis/modref.c \
	ir/analysis/modref.h \
	ir/analysis/op_infer.c \
	ir/analysis/op_infer.h \
	ir/core/arch.c \
	ir/core/arch.h \
	ir/core/archs.def \
	ir/core/attr.c \
	ir/core/attr.h \
	ir/core/attr_keys.def \
	ir/core/attr_kinds.def \
	ir/core/call_ops.def \
	ir/core/calls.c \
	ir/core/calls.h \
	ir/core/dtypes.def \
	ir/core/entry.h \
	ir/core/foreign_dtypes.def \
	ir/core/formats.def \
	ir/core/graph.c \
	ir/core/graph.h \
	ir/core/instr.h \
	ir/core/instrs.def \
	ir/core/invariants.c \
	ir/core/invariants.h \
	ir/core/kernel.c \
	ir/core/kernel.h \
	ir/core/kernel_args.c \
	ir/core/kernel_args.h \
	ir/core/kernel_source.h \
	ir/core/kernel_types.def \
	ir/core/module.c \
	ir/core/module.h \
	ir/core/operands.c \
	ir/core/operands.h \
	ir/core/sk_options.c \
	ir/core/sk_options.def \
	ir/core/sk_options.h \
	ir/core/tables.c \
	ir/core/type.c \
	ir/core/type.h \
	ir/core/words.def \
	ir/optypes/foreign_names.c \
	ir/optypes/foreign_names.h \
	ir/optypes/op_data.h \
	ir/optypes/op_eval.c \
	ir/optypes/op_eval.h \
	ir/optypes/op_functions.c \
	ir/optypes/op_functions.def \
	ir/optypes/op_rules.c \
	ir/optypes/op_rules.h \
	ir/optypes/op_shapes.c \
	ir/optypes/op_shapes.h \
	ir/optypes/op_tensors.c \
	ir/optypes/op_tensors.h \
	ir/optypes/op_type_reader.c \
	ir/optypes/op_type_reader.h \
	ir/optypes/op_types.c \
	ir/optypes/op_types.h \
	ir/optypes/op_values.c \
	ir/optypes/verified_ops.c \
	ir/optypes/verified_ops.h \
	ir/shapes/dims.c \
	ir/shapes/dims.h \
	ir/shapes/gears.c \
	ir/shapes/gears.h \
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
	ir/verify/verify_warnings.c

libskir_la_LIBADD = libskrt.la $(LIBELF_LIBS) $(CJSON_LIBS) $(NETTLE_LIBS) $(MATH_LIBS)
libskir_la_LDFLAGS = $(INSTRUMENT) -no-undefined -version-info 0:0:0 \
	-export-symbols-regex '^skir_[^y]'

# ---- The data of op types, as C ----

op_data_files = \
	ir/optypes/ops/attention.json \
	ir/optypes/ops/collective.json \
	ir/optypes/ops/control.json \
	ir/optypes/ops/data.json \
	ir/optypes/ops/elementwise.json \
	ir/optypes/ops/image.json \
	ir/optypes/ops/matrix.json \
	ir/optypes/ops/moe.json \
	ir/optypes/ops/normalisation.json \
	ir/optypes/ops/quantisation.json \
	ir/optypes/ops/reduction.json \
	ir/optypes/ops/shape.json
nodist_libskir_la_SOURCES = ir/optypes/op_data.c
EXTRA_DIST += ir/optypes/op_data.awk $(op_data_files)
CLEANFILES += ir/optypes/op_data.c

ir/optypes/op_data.c: $(op_data_files) ir/optypes/op_data.awk
	$(AM_V_GEN)$(MKDIR_P) ir/optypes && \
	  $(AWK) -f $(srcdir)/ir/optypes/op_data.awk $(filter %.json,$^) >$@.tmp && mv $@.tmp $@ || \
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
