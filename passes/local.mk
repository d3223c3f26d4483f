# What is done to a program: one file per pass, the pipeline table, the analyses they share.

libskir_la_SOURCES += \
	passes/assign_streams.c \
	passes/bind_kernels.c \
	passes/dcci.c \
	passes/debug_sync_all.c \
	passes/early_start.c \
	passes/fusable.c \
	passes/fusable.h \
	passes/fusion.c \
	passes/fusion.h \
	passes/fusion_internal.h \
	passes/fusion_report.c \
	passes/fusion_rewrite.c \
	passes/heap.h \
	passes/insert_events.c \
	passes/insert_syncs.c \
	passes/kernel_library.c \
	passes/kernel_library.h \
	passes/launch.c \
	passes/launch.h \
	passes/limit_stream_fusion.c \
	passes/lower_superkernels.c \
	passes/outer_events.c \
	passes/outer_events.h \
	passes/partition_scopes.c \
	passes/pass.h \
	passes/passes.def \
	passes/pipeline.c \
	passes/preload_code.c \
	passes/program_edit.c \
	passes/program_edit.h \
	passes/schedule.c \
	passes/schedule.h \
	passes/split_nonfusable.c \
	passes/superkernel.c \
	passes/superkernel.h \
	passes/sync_check.h \
	passes/sync_events.c \
	passes/sync_plan.c \
	passes/sync_plan.h \
	passes/sync_proof.c \
	passes/sync_proof.h \
	passes/sync_report.c \
	passes/sync_report.h \
	passes/sync_selects.c \
	passes/verify_sync.c
