/* What is wrong with a file that is no source, and where: kept apart from diagnostics, for whoever
 * reads such files knows nothing of these. */
#ifndef IR_SUPPORT_FILE_FAULT_H
#define IR_SUPPORT_FILE_FAULT_H

#include "ir/support/diag.h"

struct file_fault {
    const char
        *path; /* of the file that the span is in, of whoever reads it; NULL: there is none */
    struct span span;
    struct position at; /* of its beginning */
    char text[600];     /* one line */
};

/* One that has no position. Always false, so that a function can return it. */
bool file_fault_say(struct file_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The whole as a line of text, "PATH:LINE:COLUMN: ...", of at most `size` bytes with its NUL. */
void file_fault_line(const struct file_fault *fault, char *line, size_t size);

/* Reports it, at its place in the file where it has one: the file is read again, and joins the
 * source of the diagnostics. */
void diag_fault(struct diags *diags, enum diag_id id, const struct file_fault *fault);

#endif
