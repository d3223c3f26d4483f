#include "ir/support/file_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool file_fault_say(struct file_fault *fault, const char *format, ...)
{
    va_list args;
    fault->path = NULL;
    va_start(args, format);
    vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    return false;
}

void file_fault_line(const struct file_fault *fault, char *line, size_t size)
{
    if (fault->path)
        snprintf(line, size, "%s:%u:%u: %s", fault->path, fault->at.line, fault->at.column,
                 fault->text);
    else
        snprintf(line, size, "%s", fault->text);
}

/* The file as a part of the source. NULL where that cannot be, or where it has become shorter. */
static const struct source_file *join(struct source *source, const struct file_fault *fault)
{
    struct file_bytes bytes;
    char error[512];
    const struct source_file *file = NULL;
    for (uint32_t i = 0; i < source->files.count; i++) /* an earlier fault may have added it */
        if (strcmp(source->files.at[i]->text.path, fault->path) == 0)
            file = source->files.at[i];
    if (!file && file_read_regular(fault->path, &bytes, error, sizeof error)) {
        const char *path = arena_strndup(&source->arena, fault->path, strlen(fault->path));
        file = source_join(source, path, &bytes, error, sizeof error);
        if (!file)
            file_bytes_free(&bytes);
    }
    return file && fault->span.end <= file->text.size ? file : NULL;
}

void diag_fault(struct diags *diags, enum diag_id id, const struct file_fault *fault)
{
    char line[sizeof fault->text + 512];
    const struct source_file *file =
        fault->path && diags->source ? join(diags->source, fault) : NULL;
    if (file) {
        struct span span = {file->begin + fault->span.begin, file->begin + fault->span.end};
        diag_at(diags, id, span, "%s", fault->text);
        return;
    }
    file_fault_line(fault, line, sizeof line);
    diag_at(diags, id, no_span, "%s", line);
}
