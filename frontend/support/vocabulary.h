/* The words of the language, by what they are to a reader. */
#ifndef FRONTEND_SUPPORT_VOCABULARY_H
#define FRONTEND_SUPPORT_VOCABULARY_H

#include "frontend/cli/command.h"
#include "ir/base/text.h"

/* Lists ended by NULL. */
extern const char *const vocabulary_keywords[];     /* begin a construct or a clause */
extern const char *const vocabulary_words[];        /* keys and values of attributes, operands */
extern const char *const vocabulary_instructions[]; /* of entries */
extern const char *const vocabulary_dtypes[];
extern const char *const vocabulary_formats[];
extern const char *const vocabulary_kernel_types[];
extern const char *const vocabulary_sk_options[];
extern const char *const vocabulary_directives[]; /* of golden files, behind `//!` */

/* Appends them with `between` in between. */
void vocabulary_print(struct text *text, const char *const *words, const char *between);

/* What can stand behind options. */

enum value_kind {
    VALUE_NONE, /* a flag */
    VALUE_ANY,
    VALUE_WORDS,
    VALUE_FILE,
    VALUE_FOLDER
};

struct option_values {
    enum value_kind kind;
    const char *const *words; /* ended by NULL */
    char between;             /* 0: one value */
};

struct option_values option_values(const struct command *command, const struct option *option);

#endif
