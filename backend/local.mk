# What comes out: entry emitters and object files (libskir), the host runtime (libskrt), and the
# sample kernels.

libskir_la_SOURCES += \
	backend/host_build.c \
	backend/host_build.h \
	backend/host_emit.c \
	backend/host_emit.h \
	backend/host_objects.c \
	backend/host_objects.h \
	backend/host_ops.c \
	backend/host_ops.h \
	backend/host_profile.c \
	backend/host_profile.h \
	backend/host_race.c \
	backend/host_race.h \
	backend/host_run.c \
	backend/host_run.h \
	backend/kernels/sample_ops.c \
	backend/kernels/sample_ops.h \
	backend/object.h \
	backend/object_archive.c \
	backend/object_copy.c \
	backend/object_dump.c \
	backend/object_frame.c \
	backend/object_input.c \
	backend/object_internal.h \
	backend/object_link.c \
	backend/object_memory.c \
	backend/object_names.c \
	backend/object_place.c \
	backend/object_query.c \
	backend/object_resolve.c \
	backend/object_symbols.c \
	backend/object_write.c \
	backend/tool.c \
	backend/tool.h

# ---- The runtime of the host target ----

libskrt_la_SOURCES = \
	backend/skrt.h \
	backend/skrt_core.c \
	backend/skrt_device.c \
	backend/skrt_dynamic.c \
	backend/skrt_early.c \
	backend/skrt_event.c \
	backend/skrt_feed.c \
	backend/skrt_fiber.c \
	backend/skrt_fiber.h \
	backend/skrt_internal.h \
	backend/skrt_profile.c \
	backend/skrt_race.c \
	backend/skrt_race.h \
	backend/skrt_race_find.c \
	backend/skrt_report.c \
	backend/skrt_sched.c \
	ir/dtypes.def
libskrt_la_LIBADD = $(THREAD_LIBS)
libskrt_la_LDFLAGS = $(INSTRUMENT) -no-undefined -version-info 0:0:0 \
	-export-symbols-regex '^skrt_'
skirinclude_HEADERS += backend/skrt.h ir/dtypes.def

# ---- Sample kernels ----

# Relocatable objects, their descriptions, and the header that generated entries are compiled with:
# skirc finds them in backend/kernels beside itself or where they are installed.
kerneldir = $(pkglibdir)/kernels
kernel_objects = \
	backend/kernels/add.o \
	backend/kernels/add_dynamic.o \
	backend/kernels/cast.o \
	backend/kernels/dequant_swiglu_quant.o \
	backend/kernels/is_finite.o \
	backend/kernels/is_inf.o \
	backend/kernels/mat_mul.o \
	backend/kernels/mul.o \
	backend/kernels/pows.o \
	backend/kernels/quant_batch_matmul_v3.o \
	backend/kernels/rms_norm.o \
	backend/kernels/softmax.o
kernel_json = $(kernel_objects:.o=.json)
kernel_headers = \
	backend/kernels/add.h \
	backend/kernels/elementwise.h \
	backend/kernels/float16.h \
	backend/kernels/kernel.h \
	backend/kernels/nz.h
kernel_companions = $(kernel_json) backend/skrt.h ir/dtypes.def
nodist_kernel_DATA = $(kernel_objects)
dist_kernel_DATA = $(kernel_companions)
EXTRA_DIST += $(kernel_objects:.o=.c) $(kernel_headers)

# Always the same code, whatever the compiler itself is built with: results are compared bit by
# bit, and instrumented objects could not be linked into one that is not.
KERNEL_CFLAGS = -O3 -fPIC -ffp-contract=off -fno-math-errno -std=gnu11 $(WARNINGS) $(WERROR)
KERNEL_CPPFLAGS = -I$(srcdir)/ir -I$(srcdir)/backend -I$(srcdir)

$(kernel_objects): backend/kernels/%.o: backend/kernels/%.c $(kernel_headers) backend/skrt.h \
		ir/dtypes.def
	$(AM_V_CC)$(MKDIR_P) backend/kernels && \
	  $(CC) $(KERNEL_CPPFLAGS) $(KERNEL_CFLAGS) -c -o $@ $<

# The companions beside the objects in the build folder. A stamp stands for the copies, because make
# would find the source of a description in its place.
all-local: backend/kernels/companions.stamp
backend/kernels/companions.stamp: $(kernel_companions)
	$(AM_V_GEN)$(MKDIR_P) backend/kernels && \
	  for file in $(kernel_companions); do \
	    copy=backend/kernels/`basename $$file`; \
	    test "$(srcdir)/$$file" -ef "$$copy" || cp -f "$(srcdir)/$$file" "$$copy" || exit 1; \
	  done && touch $@

CLEANFILES += $(kernel_objects) backend/kernels/companions.stamp backend/kernels/skrt.h \
	backend/kernels/dtypes.def
clean-kernels:
	test '$(srcdir)' = . || rm -f $(kernel_json)
.PHONY: clean-kernels
