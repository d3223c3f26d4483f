# What a program is.

libskir_la_SOURCES += \
	ir/arena.c \
	ir/arena.h \
	ir/attr_keys.def \
	ir/diag.c \
	ir/diag.h \
	ir/diag_ids.def \
	ir/dtypes.def \
	ir/event_sides.c \
	ir/event_sides.h \
	ir/file.c \
	ir/file.h \
	ir/formats.def \
	ir/grammar.c \
	ir/grammar.h \
	ir/instrs.def \
	ir/intern.c \
	ir/intern.h \
	ir/kernel_types.def \
	ir/lexer.c \
	ir/locate.c \
	ir/locate.h \
	ir/members.c \
	ir/members.h \
	ir/module.c \
	ir/module.h \
	ir/order.c \
	ir/order.h \
	ir/order_launch.c \
	ir/order_memory.c \
	ir/order_pairs.h \
	ir/parse.c \
	ir/parse.h \
	ir/parse_entry.c \
	ir/parser.h \
	ir/passive_ops.def \
	ir/print.c \
	ir/print.h \
	ir/scanner.h \
	ir/sk_options.c \
	ir/sk_options.def \
	ir/sk_options.h \
	ir/slots.c \
	ir/slots.h \
	ir/suggest.c \
	ir/suggest.h \
	ir/tables.c \
	ir/text.c \
	ir/text.h \
	ir/variants.c \
	ir/variants.h \
	ir/vec.h \
	ir/verify.c \
	ir/verify.h \
	ir/verify_entry.c \
	ir/verify_graph.c \
	ir/verify_internal.h \
	ir/verify_options.c \
	ir/verify_order.c \
	ir/verify_variants.c \
	ir/words.def

libskir_la_LIBADD = libskrt.la $(LIBELF_LIBS) $(CJSON_LIBS) $(MATH_LIBS)
libskir_la_LDFLAGS = $(INSTRUMENT) -no-undefined -version-info 0:0:0 \
	-export-symbols-regex '^skir_[^y]'

# ---- The scanner and the parser: generated, and part of a release ----

EXTRA_DIST += ir/grammar.y ir/lexer.re
BUILT_SOURCES += ir/grammar.c ir/grammar.h ir/lexer.c
MAINTAINERCLEANFILES += ir/grammar.c ir/grammar.h ir/lexer.c

# A generator that fails must leave no product behind, and the header must not look older than the
# parser, or its rule would run for ever.
ir/lexer.c: ir/lexer.re
	$(AM_V_GEN)$(MKDIR_P) ir && \
	  $(RE2C) -b -W $(WERROR) -i --no-generation-date -o $@ $< || { rm -f $@; exit 1; }

ir/grammar.c: ir/grammar.y
	$(AM_V_GEN)$(MKDIR_P) ir && \
	  $(BISON) -Wall $(WERROR) --file-prefix-map='$(srcdir)/=' \
	    --header=ir/grammar.h -o $@ $< && touch ir/grammar.h || { rm -f $@; exit 1; }

ir/grammar.h: ir/grammar.c
	$(AM_V_at)test -f $@ || { rm -f ir/grammar.c && $(MAKE) $(AM_MAKEFLAGS) ir/grammar.c; }
