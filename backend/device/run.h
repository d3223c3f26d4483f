/* Runs of graphs on the virtual device: what the files that make and execute them share. */
#ifndef BACKEND_DEVICE_RUN_H
#define BACKEND_DEVICE_RUN_H

#include "backend/device/link.h"
#include "backend/device/ops.h"
#include "backend/target/run.h"
#include "ir/analysis/analyses.h"
#include "ir/core/kernel_args.h"
#include "ir/support/guarded.h"

struct device_run;
struct device_launch;

/* What a target has of its own when its graphs run here. */
struct device_target {
    /* Makes one relocatable object of the module's entries and their kernels. Its only global
     * symbols are the entries (device_entry_symbol), each a skrt_entry_fn. */
    enum backend_status (*compile)(const struct module *module, const struct backend_places *places,
                                   struct device_output *output, struct diags *diags);
    /* Where its entries write time records in another way than skrt: the memory for those of a
     * launch, which is freed behind it, and its two slots; NULL where there is none. And what they
     * are as records of skrt, to be freed, in nanoseconds since `begin` of the monotonic clock. */
    void *(*open_records)(const struct device_run *run, const struct device_launch *launch,
                          uint64_t *slots);
    struct skrt_profile *(*take_records)(const struct device_run *run,
                                         const struct device_launch *launch, const void *area,
                                         uint64_t begin);
};

/* What a parameter slot holds: the address of a tensor's storage, or a word that is known from the
 * start. */
struct device_argument {
    struct slot slot;
    uint32_t op;     /* in the launch's ops; NONE: it is the entry's */
    uint32_t memory; /* in run.memories: the table that the word is the address of, or NONE */
    uint64_t word;
};

/* The words of an op with a dynamic kernel, and what the host's tiling writes there. */
struct device_tiling_words {
    uint64_t *given; /* key and blocks: a table */
    uint64_t *lock;  /* in the arena */
};

struct device_call;

/* The calls of a program, in turn, by their ops' places in the list of the super kernel. */
struct device_calls {
    const uint32_t *at;
    uint32_t count;
};

/* Memory beside that of values. */
struct device_memory {
    struct guarded guarded;
    const struct op *op; /* whose it is; NULL: an entry's */
    const char *what;    /* "workspace" */
    bool is_table;       /* kernels only read it */
    uint64_t sum;        /* of a table, as it is to be */
};

struct device_launch {
    struct device_call *call;      /* an op that calls graphs, which is no launch itself; or NULL */
    struct skrt_launch skrt;       /* without params */
    uint32_t first, count;         /* of its arguments; the first is the sync base address */
    const struct op *op;           /* of a launch of one op; or NULL */
    uint32_t stream;               /* in run.streams */
    struct range waits;            /* in run.events: those that it waits for as a whole */
    struct range sends;            /* and that it sends so */
    uint32_t block;                /* the super kernel, or NONE */
    uint32_t profile_slot;         /* of its time records, or NONE */
    struct skrt_trace_line *trace; /* in run.memories, or NULL */
    uint32_t trace_lines;
    uint64_t records; /* at most, but for those in kernels */
    const char **ops; /* names of the super kernel's ops, or of the one */
    uint32_t n_ops;
    struct device_calls calls[CORE_TYPES]; /* of its entry */
    struct range tilings;                  /* in run.tilings: those that its entry waits for */
};

struct device_run {
    struct backend_run base;
    const struct device_target *target;
    struct run_options options;
    const struct module *module; /* of the options, as are these: */
    const struct graph *graph;
    struct diags *diags;
    struct device_run *root;       /* that of the main graph */
    VEC(struct device_run *) runs; /* of the root: of the graphs that are run, the main one first */
    VEC(struct device_call *) calls;
    void **values;       /* memory of the graph's values */
    uint32_t *of_params; /* per value: the parameter whose memory it is, or NONE; both made at the
                          * first execution */
    const char *cause;   /* of the root: what is wrong, where it is with no launch */
    struct analyses analyses;
    struct skrt_device *device;
    struct skrt_device_config config;
    bool shares; /* the device is another run's */
    struct device_code entries, kernels;
    struct arena arena; /* names, and words of events and locks */
    VEC(struct device_launch) launches;
    VEC(struct device_argument) arguments;
    struct vec_u32 events;                     /* names */
    struct vec_u32 streams;                    /* labels; NONE is the default stream */
    VEC(const char *) stream_names;            /* as reports have them; in the arena */
    VEC(struct device_tiling_words *) tilings; /* in the arena */
    uint64_t **words_of_events;                /* by name id, in the arena; NULL: none yet */
    VEC(struct device_memory) memories;        /* workspaces and tables */
    VEC(char *) reports;                       /* of launches, from the runtime */
    struct mem_guard guard;                    /* of the device, handles and reports */
    uint64_t *params;                          /* of all launches, a table */
    struct run_profile profile;
    VEC(struct skrt_trace_line)
    trace; /* of the root: of all launches so far, with lines of names */
};

static inline uint64_t device_launch_cores(const struct device_launch *launch)
{
    return (uint64_t)launch->skrt.blocks * (launch->skrt.aics + launch->skrt.aivs);
}

static inline const struct kernel *device_run_kernel(const struct device_run *run,
                                                     const struct op *op)
{
    return module_kernel(run->module, op->kernel);
}

/* The same of what kernels only read. */
void *device_run_table(struct device_run *run, const struct op *op, const char *what,
                       uint64_t size);

/* Functions of a struct backend_runner (backend/target/run.h), the first for a target's own. */
struct backend_run *device_run_open(const struct run_options *options,
                                    const struct device_target *target,
                                    enum backend_status *status);
void device_run_execute(struct backend_run *run, void *const *const *values,
                        struct run_result *result);
bool device_run_damage(struct backend_run *run, struct run_damage *damage);
void device_run_spoil(struct backend_run *run, unsigned char byte);
bool device_run_place(const struct backend_run *run, const void *address, char *text, size_t size);
void device_run_unload(struct backend_run *run);
void device_run_close(struct backend_run *run);

#endif
