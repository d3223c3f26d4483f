/* Runs of graphs on the virtual device: what the files that make and execute them share. */
#ifndef BACKEND_HOST_RUN_H
#define BACKEND_HOST_RUN_H

#include "backend/host/ops.h"
#include "backend/run.h"
#include "ir/analyses.h"
#include "ir/slots.h"

/* What a parameter slot holds: the address of a tensor's storage, or a word that is known from the
 * start. */
struct host_argument {
    struct slot slot;
    uint64_t word;
};

/* The words of an op with a dynamic kernel, and what the host's tiling writes there. */
struct host_tiling_words {
    uint64_t key, blocks, lock;
    struct host_choice choice;
};

struct host_call;

struct host_launch {
    struct host_call *call;  /* an op that calls graphs, which is no launch itself; or NULL */
    struct skrt_launch skrt; /* without params */
    uint32_t first, count;   /* of its arguments; the first is the sync base address */
    uint32_t stream;         /* in run.streams */
    struct range waits;      /* in run.events: those that it waits for as a whole */
    struct range sends;      /* and that it sends so */
    uint32_t block;          /* the super kernel, or NONE */
    uint32_t profile_slot;   /* of its time records, or NONE */
    uint64_t records;        /* at most */
    const char **ops;        /* names of the super kernel's ops */
    uint32_t n_ops;
    struct range tilings; /* in run.tilings: those that its entry waits for */
};

struct host_run {
    struct backend_run base;
    struct run_options options;
    const struct module *module; /* of the options, as are these: */
    const struct graph *graph;
    struct diags *diags;
    struct host_run *root;       /* that of the main graph */
    VEC(struct host_run *) runs; /* of the root: of the graphs that are run, the main one first */
    VEC(struct host_call *) calls;
    void **values;       /* memory of the graph's values */
    uint32_t *of_params; /* per value: the parameter whose memory it is, or NONE */
    const char *cause;   /* of the root: what is wrong, where it is with no launch */
    struct analyses analyses;
    struct skrt_device *device;
    void *entries, *kernels; /* dlopen handles, or NULL */
    struct arena arena;      /* names, tilings */
    VEC(struct host_launch) launches;
    VEC(struct host_argument) arguments;
    struct vec_u32 events;                   /* names */
    struct vec_u32 streams;                  /* labels; NONE is the default stream */
    VEC(const char *) stream_names;          /* as reports have them; in the arena */
    VEC(struct host_tiling_words *) tilings; /* in the arena */
    uint64_t *words_of_events;               /* by name id; NULL while there is no event */
    VEC(void *) workspaces;
    VEC(char *) reports;    /* of launches, from the runtime */
    struct mem_guard guard; /* of the device, handles and reports */
    uint64_t *params;       /* room for the largest launch's */
    struct run_profile profile;
};

static inline const struct kernel *host_run_kernel(const struct host_run *run, const struct op *op)
{
    return module_kernel(run->module, op->kernel);
}

/* How graphs run on the host: the functions of its struct backend_runner (backend/run.h). */
struct backend_run *host_run_open(const struct run_options *options, enum backend_status *status);
void host_run_execute(struct backend_run *run, void *const *const *values,
                      struct run_result *result);
void host_run_close(struct backend_run *run);

#endif
