/* Files of arrays that nothing here reads, by their names and by their first bytes: what they hold
 * would be taken for elements. */
#ifndef IR_BASE_ARRAY_KINDS_H
#define IR_BASE_ARRAY_KINDS_H

#include <stddef.h>

/* How many first bytes tell the kinds. */
enum { ARRAY_KIND_BYTES = 16 };

/* What a file of that name is, such as "an archive of NumPy's savez"; NULL where its name says
 * nothing. A static string. */
const char *array_kind_by_name(const char *path, size_t size);

/* The same by the first bytes of a file, up to ARRAY_KIND_BYTES. Signatures of less than four bytes
 * are not looked at: elements may be the same. */
const char *array_kind_by_bytes(const void *bytes, size_t size);

#endif
