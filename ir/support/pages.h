/* Pieces of memory so large that they get pages of their own, in large pages where the system has
 * them: the first touch of a page costs more than what is written to it. */
#ifndef IR_SUPPORT_PAGES_H
#define IR_SUPPORT_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Sizes are multiples of this, which is that of a large page on most machines. */
#define PAGES_UNIT ((size_t)2 << 20)

/* NULL where there is no memory; `clear`: it is all 0. */
void *pages_new(size_t size, bool *clear);
/* The same memory with another size, perhaps at another place; NULL where there is none, and the
 * old one stays. */
void *pages_resize(void *pages, size_t size, size_t new_size);
void pages_free(void *pages, size_t size);

#endif
