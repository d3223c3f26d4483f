/* The words of the language, by what they are to a reader. */
#ifndef FRONTEND_SUPPORT_VOCABULARY_H
#define FRONTEND_SUPPORT_VOCABULARY_H

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

#endif
