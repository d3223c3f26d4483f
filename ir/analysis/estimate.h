/* How long ops and launches take, estimated by the roofline of the target's chip
 * (ir/core/archs.def): what is computed at the rate of the cores, or what is moved at that of
 * the memory, whatever takes longer. All data comes from the memory and goes there, and nothing
 * else uses it. */
#ifndef IR_ANALYSIS_ESTIMATE_H
#define IR_ANALYSIS_ESTIMATE_H

#include "ir/analysis/analyses.h"

enum estimate_by {
    ESTIMATE_UNKNOWN, /* counts as no time */
    ESTIMATE_TIME,    /* `time` of the kernel */
    ESTIMATE_FLOPS,
    ESTIMATE_BYTES
};

struct op_estimate {
    enum estimate_by by;
    double us;
};

/* Of an op with a kernel, once it runs. */
struct op_estimate op_estimate(const struct module *module, const struct graph *graph,
                               const struct op *op);

/* What a launch costs by itself, in us; 0 where nothing is known of the chip. */
double estimate_launch(const struct module *module);

/* The launches of a graph whose ops have kernels. */
struct graph_estimate {
    struct op_estimate *ops; /* by op; those without a kernel are unknown */
    double *blocks;          /* by block: a super kernel's, with its launch; of others 0 */
    double *alone;           /* by block: the same if each op were a launch */
    double fused, unfused;   /* all launches one behind the other, as they are, and of each op */
    uint32_t unknown;        /* ops that count as no time */
};

void graph_estimate_init(struct graph_estimate *estimate, struct analyses *analyses,
                         const struct module *module, const struct graph *graph);
void graph_estimate_free(struct graph_estimate *estimate);

#endif
