/* Whether a file can be given to dlopen, which maps what the file's headers name: of a file that is
 * cut off, as an interrupted copy or build leaves it, that ends in a SIGBUS. */
#ifndef FRONTEND_CLI_SHARED_OBJECT_H
#define FRONTEND_CLI_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* False, with one line of text that names the file, where it is no regular file, no shared object
 * of 64 bits, or lacks bytes that its headers name. */
bool shared_object_check(const char *path, char *error, size_t error_size);

#endif
