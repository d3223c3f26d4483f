/* Errors as one line of text in the caller's buffer. */
#ifndef IR_BASE_MESSAGE_H
#define IR_BASE_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Always false, so that a function can return it. */
__attribute__((format(printf, 3, 4))) static inline bool message_fail(char *error, size_t size,
                                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, size, format, args);
    va_end(args);
    return false;
}

#endif
