# What is done to a program: one file per pass, the pipeline table, the analyses they share.

libskir_la_SOURCES += \
	passes/assign_streams.c \
	passes/bind_kernels.c \
	passes/called.c \
	passes/called.h \
	passes/context.h \
	passes/dcci.c \
	passes/debug_sync_all.c \
	passes/early_start.c \
	passes/entry/insertion_points.c \
	passes/entry/insertion_points.h \
	passes/entry/launch.c \
	passes/entry/launch.h \
	passes/entry/short_calls.c \
	passes/entry/short_calls.h \
	passes/entry/superkernel.c \
	passes/entry/superkernel.h \
	passes/entry/visit.c \
	passes/entry/visit.h \
	passes/events/event_inserter.c \
	passes/events/event_inserter.h \
	passes/expand_gears.c \
	passes/feed_sync_all.c \
	passes/fusion/fusable.c \
	passes/fusion/fusable.h \
	passes/fusion/fused_report.c \
	passes/fusion/fused_report.h \
	passes/fusion/fusion.c \
	passes/fusion/fusion.h \
	passes/fusion/fusion_internal.h \
	passes/fusion/fusion_report.c \
	passes/fusion/fusion_rewrite.c \
	passes/fusion/merge.c \
	passes/fusion/reference_cuts.c \
	passes/fusion/reference_cuts.h \
	passes/fusion/schedule.c \
	passes/fusion/schedule.h \
	passes/fusion/stream_waits.c \
	passes/fusion/superkernel_names.c \
	passes/fusion/superkernel_names.h \
	passes/inline/graph.c \
	passes/inline/graph.h \
	passes/inline_calls.c \
	passes/insert_events.c \
	passes/insert_events.h \
	passes/insert_syncs.c \
	passes/instrumentation.c \
	passes/kernel_binding.c \
	passes/kernel_binding.h \
	passes/limit_residency.c \
	passes/limit_residency.h \
	passes/limit_stream_fusion.c \
	passes/lower_superkernels.c \
	passes/pass.h \
	passes/pass_plugin.h \
	passes/passes.def \
	passes/pipeline.c \
	passes/pipeline.h \
	passes/preload.c \
	passes/properties.c \
	passes/properties.h \
	passes/residency/deadlock_search.c \
	passes/residency/deadlock_search.h \
	passes/residency/launch_cuts.c \
	passes/residency/launch_cuts.h \
	passes/residency/launch_queue.c \
	passes/residency/launch_queue.h \
	passes/residency/launch_report.c \
	passes/residency/launch_report.h \
	passes/residency/residency_graph.c \
	passes/residency/residency_graph.h \
	passes/split_code.c \
	passes/sync/barriers.c \
	passes/sync/caches.c \
	passes/sync/call_checks.c \
	passes/sync/check.c \
	passes/sync/check.h \
	passes/sync/event_checks.c \
	passes/sync/plan/placement.c \
	passes/sync/plan/placement.h \
	passes/sync/plan/plan.c \
	passes/sync/plan/plan.h \
	passes/sync/proof.c \
	passes/sync/proof.h \
	passes/verify_launches.c \
	passes/verify_sync.c

# ---- What passes from outside of the tree are built by ----

# They are installed as they stand here, so that such a pass includes what one of the tree does.
plugin_headers = \
	ir/analysis/addresses.h \
	ir/analysis/analyses.h \
	ir/analysis/contents.h \
	ir/analysis/dep_graph.h \
	ir/analysis/hazards.h \
	ir/analysis/launch_order.h \
	ir/analysis/modref.h \
	ir/core/arch.h \
	ir/core/archs.def \
	ir/core/call_ops.def \
	ir/core/calls.h \
	ir/core/dtypes.def \
	ir/core/entry.h \
	ir/core/instr.h \
	ir/core/instrs.def \
	ir/core/kernel_args.h \
	ir/core/kernel_source.h \
	ir/core/kernel_types.def \
	ir/core/kernels.h \
	ir/core/module.h \
	ir/core/operands.h \
	ir/core/sk_options.def \
	ir/core/sk_options.h \
	ir/core/words.def \
	ir/optypes/op_eval.h \
	ir/optypes/op_functions.def \
	ir/optypes/op_rules.h \
	ir/optypes/op_shapes.h \
	ir/optypes/op_types.h \
	ir/shapes/dims.h \
	ir/support/arena.h \
	ir/support/check.h \
	ir/support/diag.h \
	ir/support/diag_ids.def \
	ir/support/file.h \
	ir/support/float_formats.h \
	ir/support/heap.h \
	ir/support/ids.h \
	ir/support/intern.h \
	ir/support/json.h \
	ir/support/memory.h \
	ir/support/source.h \
	ir/support/text.h \
	ir/support/vec.h \
	ir/syntax/locate.h \
	ir/syntax/print.h \
	ir/syntax/scanner.h \
	ir/syntax/spelling.h \
	passes/called.h \
	passes/context.h \
	passes/entry/superkernel.h \
	passes/entry/visit.h \
	passes/fusion/fusable.h \
	passes/pass.h \
	passes/pass_plugin.h \
	passes/passes.def \
	passes/properties.h
nobase_skirinclude_HEADERS = $(plugin_headers)
nobase_nodist_skirinclude_HEADERS = passes/plugin_headers.h
BUILT_SOURCES += passes/plugin_headers.h
CLEANFILES += passes/plugin_headers.h

passes/plugin_headers.h: $(plugin_headers)
	$(AM_V_GEN)$(MKDIR_P) passes && (cd $(srcdir) && cat $(plugin_headers)) | cksum | \
	  $(AWK) '{ print "/* A sum of the headers that plugins are built by. */"; \
	    print "#define SKIR_PLUGIN_HEADERS " $$1 "u" }' >$@.tmp && mv $@.tmp $@
