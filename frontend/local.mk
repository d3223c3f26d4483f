# What goes in and how: the library's own interface, the commands of skirc, and the importers.

libskir_la_SOURCES += \
	frontend/code_sizes.c \
	frontend/code_sizes.h \
	frontend/skir.c \
	frontend/skir.h
libskir_la_CPPFLAGS = $(AM_CPPFLAGS) -DSKIR_KERNEL_DIR='"$(kerneldir)"'
skirinclude_HEADERS += frontend/skir.h

# All but main, for the tests.
noinst_LIBRARIES += frontend/libfrontend.a
frontend_libfrontend_a_SOURCES = \
	frontend/cmd.h \
	frontend/cmd_check.c \
	frontend/cmd_compile.c \
	frontend/cmd_fmt.c \
	frontend/cmd_opt.c \
	frontend/cmd_run.c \
	frontend/cmd_test.c \
	frontend/command.c \
	frontend/command.h \
	frontend/commands.c \
	frontend/crash.c \
	frontend/crash.h \
	frontend/diff.c \
	frontend/diff.h \
	frontend/golden.c \
	frontend/golden.h \
	frontend/golden_bless.c \
	frontend/golden_pool.c \
	frontend/golden_pool.h \
	frontend/golden_run.c \
	frontend/half.h \
	frontend/help.c \
	frontend/help.h \
	frontend/host.c \
	frontend/host.h \
	frontend/input.c \
	frontend/input.h \
	frontend/json.c \
	frontend/json.h \
	frontend/library.c \
	frontend/library.h \
	frontend/message.h \
	frontend/npy.c \
	frontend/npy.h \
	frontend/output.c \
	frontend/output.h \
	frontend/profile.c \
	frontend/profile.h \
	frontend/remarks.c \
	frontend/remarks.h \
	frontend/sk_argument.c \
	frontend/sk_argument.h \
	frontend/skir.c \
	frontend/skir.h \
	frontend/storage.c \
	frontend/storage.h \
	frontend/tensor.c \
	frontend/tensor.h \
	frontend/tensor_fill.c
frontend_libfrontend_a_CPPFLAGS = $(AM_CPPFLAGS) -DSKIR_KERNEL_DIR='"$(kerneldir)"'

# Objects that skirc loads call the runtime: all of it is linked, whatever skirc itself uses.
bin_PROGRAMS += skirc
skirc_SOURCES = frontend/main.c
skirc_LDADD = frontend/libfrontend.a libskir.la $(libskrt_la_OBJECTS) $(THREAD_LIBS) $(DL_LIBS)
skirc_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
