/* Contents that stand in a file as string literals, as protobuf's text format has them. */
#ifndef FRONTEND_TENSOR_ESCAPED_FILE_H
#define FRONTEND_TENSOR_ESCAPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the literals at `offset` of a regular file, one or several with nothing but blanks and
 * comments between them, to `size` bytes. */
bool escaped_file_read(const char *path, uint64_t offset, char *data, size_t size, char *error,
                       size_t error_size);

#endif
