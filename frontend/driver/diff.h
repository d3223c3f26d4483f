/* Unified diffs of two texts. */
#ifndef FRONTEND_DRIVER_DIFF_H
#define FRONTEND_DRIVER_DIFF_H

#include "ir/support/text.h"

/* Appends the unified diff from `old` to `new`, with three lines of context and these names in its
 * header; nothing where the texts are the same. Time is near-linear in the texts where they are
 * similar. Where they differ in very many places the diff stays correct but need not be the
 * shortest, so that time stays bounded. */
void diff_unified(struct text *out, const char *old_name, const char *old, size_t old_size,
                  const char *new_name, const char *new, size_t new_size);

/* Appends all lines of both that differ, marked with '-' and '+', and the first line of `new` in
 * any case; "..." stands for lines that do not. */
void diff_brief(struct text *out, const char *old, size_t old_size, const char *new,
                size_t new_size);

#endif
