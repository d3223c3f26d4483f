# What is done to a program: one file per pass, the pipeline table, the analyses they share.

libskir_la_SOURCES += \
	passes/lower/bind_kernels.c \
	passes/lower/call_order.c \
	passes/lower/call_order.h \
	passes/lower/insertion_points.c \
	passes/lower/insertion_points.h \
	passes/lower/instrumentation.c \
	passes/lower/kernel_binding.c \
	passes/lower/kernel_binding.h \
	passes/lower/launch.c \
	passes/lower/launch.h \
	passes/lower/lower_superkernels.c \
	passes/lower/short_calls.c \
	passes/lower/short_calls.h \
	passes/lower/superkernel.c \
	passes/lower/superkernel.h \
	passes/lower/visit.c \
	passes/lower/visit.h \
	passes/manager/context.h \
	passes/manager/pass.h \
	passes/manager/passes.def \
	passes/manager/pipeline.c \
	passes/manager/pipeline.h \
	passes/manager/properties.c \
	passes/manager/properties.h \
	passes/partition/body_writer.c \
	passes/partition/body_writer.h \
	passes/partition/fusable.c \
	passes/partition/fusable.h \
	passes/partition/fused_report.c \
	passes/partition/fused_report.h \
	passes/partition/fusion.c \
	passes/partition/fusion.h \
	passes/partition/fusion_internal.h \
	passes/partition/fusion_report.c \
	passes/partition/fusion_rewrite.c \
	passes/partition/limit_stream_fusion.c \
	passes/partition/merge.c \
	passes/partition/reference_cuts.c \
	passes/partition/reference_cuts.h \
	passes/partition/schedule.c \
	passes/partition/schedule.h \
	passes/partition/stream_waits.c \
	passes/partition/superkernel_names.c \
	passes/partition/superkernel_names.h \
	passes/pass_plugin.h \
	passes/residency/deadlock_search.c \
	passes/residency/deadlock_search.h \
	passes/residency/launch_cuts.c \
	passes/residency/launch_cuts.h \
	passes/residency/launch_queue.c \
	passes/residency/launch_queue.h \
	passes/residency/launch_report.c \
	passes/residency/launch_report.h \
	passes/residency/limit_residency.c \
	passes/residency/limit_residency.h \
	passes/residency/residency_graph.c \
	passes/residency/residency_graph.h \
	passes/residency/verify_launches.c \
	passes/sync/insert_syncs.c \
	passes/sync/plan/placement.c \
	passes/sync/plan/placement.h \
	passes/sync/plan/plan.c \
	passes/sync/plan/plan.h \
	passes/sync/proof/barriers.c \
	passes/sync/proof/caches.c \
	passes/sync/proof/call_checks.c \
	passes/sync/proof/check.c \
	passes/sync/proof/check.h \
	passes/sync/proof/event_checks.c \
	passes/sync/proof/proof.c \
	passes/sync/proof/proof.h \
	passes/sync/verify_sync.c \
	passes/transform/assign_streams.c \
	passes/transform/dcci.c \
	passes/transform/debug_sync_all.c \
	passes/transform/early_start.c \
	passes/transform/events/event_inserter.c \
	passes/transform/events/event_inserter.h \
	passes/transform/events/insert_events.c \
	passes/transform/events/insert_events.h \
	passes/transform/expand_gears.c \
	passes/transform/feed_sync_all.c \
	passes/transform/inline/graph.c \
	passes/transform/inline/graph.h \
	passes/transform/inline/inline_calls.c \
	passes/transform/preload.c \
	passes/transform/split_code.c

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
	ir/core/attr.h \
	ir/core/attr_kinds.def \
	ir/core/call_ops.def \
	ir/core/calls.h \
	ir/core/dtypes.def \
	ir/core/entry.h \
	ir/core/graph.h \
	ir/core/instr.h \
	ir/core/instrs.def \
	ir/core/kernel.h \
	ir/core/kernel_args.h \
	ir/core/kernel_source.h \
	ir/core/kernel_types.def \
	ir/core/module.h \
	ir/core/operands.h \
	ir/core/sk_options.def \
	ir/core/sk_options.h \
	ir/core/type.h \
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
	ir/support/file_fault.h \
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
	passes/lower/call_order.h \
	passes/lower/superkernel.h \
	passes/lower/visit.h \
	passes/manager/context.h \
	passes/manager/pass.h \
	passes/manager/passes.def \
	passes/manager/properties.h \
	passes/partition/fusable.h \
	passes/pass_plugin.h
nobase_skirinclude_HEADERS = $(plugin_headers)
nobase_nodist_skirinclude_HEADERS = passes/plugin_headers.h
BUILT_SOURCES += passes/plugin_headers.h
CLEANFILES += passes/plugin_headers.h

passes/plugin_headers.h: $(plugin_headers)
	$(AM_V_GEN)$(MKDIR_P) passes && (cd $(srcdir) && cat $(plugin_headers)) | cksum | \
	  $(AWK) '{ print "/* A sum of the headers that plugins are built by. */"; \
	    print "#define SKIR_PLUGIN_HEADERS " $$1 "u" }' >$@.tmp && mv $@.tmp $@
