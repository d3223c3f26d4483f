# What comes out: entry emitters and object files (libskir), the host runtime (libskrt), and the
# sample kernels.

libskir_la_SOURCES += \
	backend/ascend/ascend.c \
	backend/ascend/ascend.h \
	backend/ascend/ascendc.c \
	backend/ascend/ascendc.h \
	backend/ascend/ascendc_emitter.h \
	backend/ascend/ascendc_instrs.c \
	backend/ascend/compile_info.c \
	backend/ascend/compile_info.h \
	backend/ascend/host_emulation.c \
	backend/ascend/host_emulation.h \
	backend/ascend/meta.c \
	backend/ascend/meta.h \
	backend/ascend/source_map.c \
	backend/ascend/source_map.h \
	backend/ascend/symbols.c \
	backend/ascend/symbols.h \
	backend/ascend/toolchain.c \
	backend/ascend/toolchain.h \
	backend/device/arguments.c \
	backend/device/arguments.h \
	backend/device/emitter.c \
	backend/device/emitter.h \
	backend/device/execute.c \
	backend/device/execute.h \
	backend/device/gears_table.c \
	backend/device/gears_table.h \
	backend/device/launches.c \
	backend/device/launches.h \
	backend/device/link.c \
	backend/device/link.h \
	backend/device/ops.c \
	backend/device/ops.h \
	backend/device/run.c \
	backend/device/run.h \
	backend/host/emit.c \
	backend/host/emit.h \
	backend/host/host.c \
	backend/host/host.h \
	backend/host/rows.c \
	backend/host/rows.h \
	backend/kernels/sample_kernels.def \
	backend/kernels/sample_ops.c \
	backend/kernels/sample_ops.h \
	backend/library/kernel_library.c \
	backend/library/kernel_library.h \
	backend/library/kernel_link.c \
	backend/library/kernel_link.h \
	backend/linker/dump.c \
	backend/linker/image.c \
	backend/linker/image.h \
	backend/linker/input.c \
	backend/linker/internal.h \
	backend/linker/layout.c \
	backend/linker/link.c \
	backend/linker/memory.c \
	backend/linker/object.h \
	backend/linker/output.c \
	backend/linker/query.c \
	backend/linker/relocation.c \
	backend/linker/symbols.c \
	backend/target/backend.c \
	backend/target/backend.h \
	backend/target/backends.def \
	backend/target/run.h \
	backend/target/statement.c \
	backend/target/statement.h

# ---- The runtime of the host target ----

libskrt_la_SOURCES = \
	backend/runtime/barrier.c \
	backend/runtime/call.c \
	backend/runtime/core.c \
	backend/runtime/core.h \
	backend/runtime/device.c \
	backend/runtime/event.c \
	backend/runtime/fiber.c \
	backend/runtime/fiber.h \
	backend/runtime/flag.c \
	backend/runtime/futex_lock.c \
	backend/runtime/futex_lock.h \
	backend/runtime/gears.c \
	backend/runtime/instructions.h \
	backend/runtime/launch_queue.c \
	backend/runtime/launch_queue.h \
	backend/runtime/names.c \
	backend/runtime/names.h \
	backend/runtime/profile.c \
	backend/runtime/profile.h \
	backend/runtime/race.c \
	backend/runtime/race.h \
	backend/runtime/report.c \
	backend/runtime/report.h \
	backend/runtime/rows.c \
	backend/runtime/scheduler.c \
	backend/runtime/scheduler.h \
	backend/runtime/skrt.h \
	backend/runtime/state.h \
	backend/runtime/vectors.c \
	ir/core/dtypes.def
libskrt_la_LIBADD = $(THREAD_LIBS)
libskrt_la_LDFLAGS = $(INSTRUMENT) -no-undefined -version-info 0:0:0 \
	-export-symbols-regex '^skrt_'
skirinclude_HEADERS += backend/runtime/skrt.h ir/core/dtypes.def

# ---- Sample kernels ----

# Relocatable objects, their descriptions, and the header that generated entries are compiled with:
# skirc finds them in backend/kernels beside itself or where they are installed.
kerneldir = $(pkglibdir)/kernels
# The rows of sample_kernels.def as NAME:SOURCE; add_dynamic, a second kernel of its op type, has no
# row, but a description of its own.
kernel_rows := $(shell $(AWK) -v rows=1 -f $(srcdir)/backend/kernels/sample_kernels.awk \
	$(srcdir)/backend/kernels/sample_kernels.def)
kernel_stems := $(foreach row,$(kernel_rows),backend/kernels/$(firstword $(subst :, ,$(row))))
kernel_objects := $(addsuffix .o,$(kernel_stems) backend/kernels/add_dynamic)
kernel_json := $(addsuffix .json,$(kernel_stems))
kernel_sources = \
	backend/kernels/add_dynamic.c \
	backend/kernels/add_n.c \
	backend/kernels/arg_max.c \
	backend/kernels/ascend_dequant.c \
	backend/kernels/ascend_quant.c \
	backend/kernels/assign.c \
	backend/kernels/band.c \
	backend/kernels/binary.c \
	backend/kernels/broadcast_to.c \
	backend/kernels/cast.c \
	backend/kernels/channels.c \
	backend/kernels/clip_by_value.c \
	backend/kernels/compare.c \
	backend/kernels/concat.c \
	backend/kernels/copy.c \
	backend/kernels/cumsum.c \
	backend/kernels/depth_to_space.c \
	backend/kernels/dequant_swiglu_quant.c \
	backend/kernels/dynamic_quant.c \
	backend/kernels/eye.c \
	backend/kernels/fill.c \
	backend/kernels/flash_attention_score.c \
	backend/kernels/fused_infer_attention_score.c \
	backend/kernels/gather.c \
	backend/kernels/gather_nd.c \
	backend/kernels/grouped_matmul.c \
	backend/kernels/layer_norm.c \
	backend/kernels/lrn.c \
	backend/kernels/mat_mul.c \
	backend/kernels/moe_gating_top_k_softmax.c \
	backend/kernels/one_hot.c \
	backend/kernels/pad.c \
	backend/kernels/predicate.c \
	backend/kernels/quant_batch_matmul_v3.c \
	backend/kernels/range.c \
	backend/kernels/reduce.c \
	backend/kernels/reverse_v2.c \
	backend/kernels/rms_norm.c \
	backend/kernels/rotary.c \
	backend/kernels/scaled_masked_softmax.c \
	backend/kernels/scatter.c \
	backend/kernels/scatter_update.c \
	backend/kernels/select.c \
	backend/kernels/shape.c \
	backend/kernels/slice.c \
	backend/kernels/softmax.c \
	backend/kernels/split.c \
	backend/kernels/strided_slice.c \
	backend/kernels/swi_glu.c \
	backend/kernels/tile.c \
	backend/kernels/top_k.c \
	backend/kernels/transpose.c \
	backend/kernels/unary.c \
	backend/kernels/update.c
kernel_headers = \
	backend/kernels/axes.h \
	backend/kernels/binary.h \
	backend/kernels/broadcast.h \
	backend/kernels/elementary.h \
	backend/kernels/elementwise.h \
	backend/kernels/exponentials.h \
	backend/kernels/float16.h \
	backend/kernels/indexing.h \
	backend/kernels/ints.h \
	backend/kernels/kernel.h \
	backend/kernels/nz.h \
	backend/kernels/pairs.h \
	backend/kernels/product.h \
	backend/kernels/product_i8.h \
	backend/kernels/product_tile.h \
	backend/kernels/quantise.h \
	backend/kernels/space.h \
	backend/kernels/strided.h \
	backend/kernels/turn.h \
	backend/kernels/vectors.h
twin_headers = backend/ascend/twin/kernel_operator.h backend/ascend/twin/twin.h
kernel_companions = backend/kernels/add_dynamic.json backend/runtime/skrt.h ir/core/dtypes.def $(twin_headers)
nodist_kernel_DATA = $(kernel_objects) $(kernel_json) backend/kernels/twin.o
dist_kernel_DATA = $(kernel_companions)
EXTRA_DIST += $(kernel_sources) $(kernel_headers) backend/kernels/sample_kernels.awk \
	backend/ascend/twin/twin.c

# Always the same code, whatever the compiler itself is built with: results are compared bit by
# bit, and instrumented objects could not be linked into one that is not. Nobody looks at the flags of
# floating-point exceptions, which compilers would otherwise keep at the cost of vectors.
KERNEL_CFLAGS = -O3 -fPIC -ffp-contract=off -fno-math-errno -fno-trapping-math -std=gnu11 $(WARNINGS) $(WERROR)
KERNEL_CPPFLAGS = -I$(srcdir)/ir/core -I$(srcdir)

kernel_rules := $(foreach row,$(kernel_rows) add_dynamic:add_dynamic, \
	$(eval backend/kernels/$(subst :,.o: backend/kernels/,$(row)).c))
.DEFAULT_GOAL := all
$(kernel_objects): backend/kernels/%.o: $(kernel_headers) backend/runtime/skrt.h ir/core/dtypes.def
	$(AM_V_CC)$(MKDIR_P) backend/kernels && \
	  $(CC) $(KERNEL_CPPFLAGS) $(KERNEL_CFLAGS) -DSAMPLE=$(*F) -c -o $@ $(filter %.c,$^)

# The descriptions of all rows at once.
$(kernel_json): backend/kernels/descriptions.stamp
backend/kernels/descriptions.stamp: backend/kernels/sample_kernels.awk $(op_data_files) \
		backend/kernels/sample_kernels.def
	$(AM_V_GEN)$(MKDIR_P) backend/kernels && \
	  $(AWK) -v out=backend/kernels -f $(srcdir)/backend/kernels/sample_kernels.awk \
	    $(filter %.json,$^) $(srcdir)/backend/kernels/sample_kernels.def && touch $@

# What stands between an entry's AscendC source and skrt where the source runs on this machine.
backend/kernels/twin.o: backend/ascend/twin/twin.c backend/ascend/twin/twin.h \
		backend/runtime/skrt.h ir/core/dtypes.def
	$(AM_V_CC)$(MKDIR_P) backend/kernels && \
	  $(CC) $(KERNEL_CPPFLAGS) $(KERNEL_CFLAGS) -c -o $@ $(srcdir)/backend/ascend/twin/twin.c

# The companions beside the objects in the build folder. A stamp stands for the copies, because make
# would find the source of a description in its place.
all-local: backend/kernels/companions.stamp
backend/kernels/companions.stamp: $(kernel_companions)
	$(AM_V_GEN)$(MKDIR_P) backend/kernels && \
	  for file in $(kernel_companions); do \
	    copy=backend/kernels/`basename $$file`; \
	    test "$(srcdir)/$$file" -ef "$$copy" || cp -f "$(srcdir)/$$file" "$$copy" || exit 1; \
	  done && touch $@

CLEANFILES += $(kernel_objects) backend/kernels/twin.o backend/kernels/companions.stamp \
	backend/kernels/descriptions.stamp $(kernel_json) \
	backend/kernels/kernel_operator.h backend/kernels/twin.h backend/kernels/skrt.h \
	backend/kernels/dtypes.def
clean-kernels:
	test '$(srcdir)' = . || rm -f backend/kernels/add_dynamic.json
.PHONY: clean-kernels
