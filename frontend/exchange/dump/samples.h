/* Which ops the sample kernels take as they are. */
#ifndef FRONTEND_EXCHANGE_DUMP_SAMPLES_H
#define FRONTEND_EXCHANGE_DUMP_SAMPLES_H

#include "ir/base/diag.h"
#include "ir/kernel_source.h"
#include "ir/module.h"

/* What is known of an op type: its kernel, and whether this takes the op that was asked for
 * last. */
struct dump_sample {
    const struct library_kernel *kernel; /* NULL: there is none */
    uint32_t graph;                      /* the op's, by name; NONE: none was asked for */
    struct op op;
    bool fits;
};

struct dump_samples {
    struct module *module;
    struct source *source;
    const struct kernel_source *library; /* NULL: no sample kernels */
    struct id_map types;                 /* by op type: index in `samples` */
    VEC(struct dump_sample) samples;
    struct arena arena;
};

void dump_samples_init(struct dump_samples *samples, struct module *module, struct source *source,
                       const struct kernel_source *library);
void dump_samples_free(struct dump_samples *samples);

/* Whether a sample kernel takes the op. */
bool dump_samples_take(struct dump_samples *samples, const struct graph *graph,
                       const struct op *op);

#endif
