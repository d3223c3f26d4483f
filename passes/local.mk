# What is done to a program: one file per pass, the pipeline table, the analyses they share.

libskir_la_SOURCES += \
	passes/bind_kernels.c \
	passes/heap.h \
	passes/insert_syncs.c \
	passes/kernel_library.c \
	passes/kernel_library.h \
	passes/lower_superkernels.c \
	passes/partition_scopes.c \
	passes/pass.h \
	passes/passes.def \
	passes/pipeline.c
