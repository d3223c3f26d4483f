/* What a module says of a sample kernel: its declaration, as one that is written by hand. */
#ifndef PASSES_DECLARED_SAMPLES_H
#define PASSES_DECLARED_SAMPLES_H

#include "ir/kernel_source.h"

/* The blocks that the sample wants, as far as the target has cores for them; 0: shapes say it. */
uint32_t sample_block(const struct module *module, const struct library_kernel *sample);

/* Adds the kernel with so many blocks, or where that is 0 with what the sample says of shapes. Its
 * name, a free one, is returned. Sets `*ill_described` with a diagnostic where its description says
 * what is no number of blocks. */
uint32_t sample_declare(struct module *module, const struct library_kernel *sample, uint32_t blocks,
                        struct diags *diags, bool *ill_described);

#endif
