/* The options of a scope: `key=value` pairs joined by ':', such as
 * "stream-fusion=1:early-start=0". ir/core/sk_options.def has all of them. Blanks around keys,
 * values and words of a list do not count. */
#ifndef IR_CORE_SK_OPTIONS_H
#define IR_CORE_SK_OPTIONS_H

#include "ir/core/module.h"

#include <stdio.h>

enum sk_option {
#define SK_OPTION(name, text, kind, low, high, absent, words, help) SK_##name,
#include "ir/core/sk_options.def"
    SK_OPTION_COUNT
};

/* Numbers of preload-code. */
enum sk_preload {
#define SK_PRELOAD_WORD(name, text) SK_PRELOAD_##name,
#include "ir/core/sk_options.def"
};

/* Numbers of preload-data. */
enum sk_preload_data {
#define SK_PRELOAD_DATA_WORD(name, text) SK_PRELOAD_DATA_##name,
#include "ir/core/sk_options.def"
};

/* Numbers of strict-scope-check. */
enum sk_strict {
#define SK_STRICT_WORD(name, text) SK_STRICT_##name,
#include "ir/core/sk_options.def"
};

struct sk_options {
    struct sk_setting {
        bool given;
        int64_t number;   /* the value, or a choice's index; the default where it is not given */
        const char *text; /* the value as it stands in the parsed text; "" where it is not given */
        size_t size;
    } of[SK_OPTION_COUNT];
};

void sk_options_defaults(struct sk_options *options);

/* Sets all options, those that are absent or wrong to their defaults. `span` is where the text
 * stands in the source, and mistakes are reported at their place inside it; a span of another
 * size than the text ({0, 0}, or a literal with escapes) is reported as a whole. `diags` NULL:
 * nothing is reported. Returns whether there was no error; a pair without '=' is only a warning. */
bool sk_options_parse(struct sk_options *options, const char *text, size_t size, struct span span,
                      struct diags *diags);

/* The same of a name's text, with nothing reported. NONE: there are no options. */
bool sk_options_of(struct sk_options *options, const struct module *module, uint32_t name);

/* Those of a scope or super kernel whose options the verifier lets pass. A text is parsed once,
 * when it is first asked for; the result lasts as long as the module. A part (parts.h) that asks
 * for a text first is left. */
const struct sk_options *block_options(const struct module *module, const struct block *block);

/* The option that is meant by a word in which '_' may stand for '-', or NULL. */
const char *sk_option_of_word(const char *word, size_t size);

/* The name id of a text in which the pairs of `more` replace those of `base` that have their
 * keys, or follow them. `base` is a name id or NONE; it is the result where `more`, which may be
 * NULL, has no pairs. */
uint32_t sk_options_override(struct module *module, uint32_t base, const char *more);

/* Words of lists may be patterns: '.' is any character, '*' repeats the character before it, any
 * number of times or not at all. The whole of a word has to fit. */
bool sk_option_is_pattern(const char *word, size_t size);
bool sk_option_fits(const char *pattern, size_t pattern_size, const char *word, size_t size);

/* Whether a list has a word, or a pattern that the word fits. */
bool sk_option_lists(const struct sk_options *options, enum sk_option option, const char *word,
                     size_t size);

/* Whether debug-op-exec-trace, or debug-cross-core-sync-check, is asked for: by itself, or where it
 * is not given by debug-per-op-max-core-num or, for the trace, by the check. */
bool sk_options_trace(const struct sk_options *options);
bool sk_options_check(const struct sk_options *options);

/* The first option, from one on, whose settings differ; SK_OPTION_COUNT: none does. */
unsigned sk_options_differ(const struct sk_options *a, const struct sk_options *b, unsigned from);

/* Where in a text of options the key of one of them stands, or NULL. */
const char *sk_options_find(const char *text, size_t size, enum sk_option option);

/* The words of a list in turn: `*rest` is the option's setting at first; false at its end. */
bool sk_option_next(struct sk_setting *rest, const char **word, size_t *size);

/* The key of an option, and whether its value is written as a number. */
const char *sk_option_key(enum sk_option option);
bool sk_option_is_number(enum sk_option option);

/* Prints the table: key, values, default, meaning. */
void sk_options_list(FILE *out);

#endif
