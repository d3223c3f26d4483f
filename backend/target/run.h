/* Graphs on the targets that run them. */
#ifndef BACKEND_TARGET_RUN_H
#define BACKEND_TARGET_RUN_H

#include "backend/runtime/skrt.h"
#include "backend/target/backend.h"
#include "ir/support/text.h"

/* Who wants to know how a run goes on. */
struct run_watch {
    /* Behind each op of a run that is not fused, and that has gone well so far; also behind ops
     * that call graphs. */
    void (*op_ended)(void *context, const struct graph *graph, const struct op *op,
                     void *const *values);
    void *context;
    /* Before it. NULL: nobody asks. Both get the memory of each value of the op's graph. */
    void (*op_begins)(void *context, const struct graph *graph, const struct op *op,
                      void *const *values);
};

/* What to run, and how; all that it points to outlives the run. */
struct run_options {
    const struct module *module; /* lowered */
    const struct graph *graph;
    const struct backend_places *places;
    struct diags *diags;
    /* Each super kernel is a launch, and each op outside of them; else each op is, which runs its
     * kernel without any entry. */
    bool fused;
    bool race_check;         /* fused: orders that are not enforced are found */
    bool profile;            /* time records can be kept, of entries that make some and of ops */
    bool trace;              /* fused: traces of entries that make some are kept */
    bool full_barriers;      /* barriers of kernels are over all cores of a launch, as on the NPU */
    bool serial;             /* launches run one after another, also those of different streams */
    bool turns;              /* launches of several streams get cores in turns (skrt_queue) */
    uint32_t threads;        /* of this machine; 0: as many as it has processors */
    uint64_t timeout_ms;     /* of a launch; 0: none */
    uint64_t max_iterations; /* of a While; 0: any number */
    const struct run_watch *watch; /* or NULL */
    /* Told before code of kernels' objects runs beside launches what does, for people ("a
     * constructor of 'k.o'"), and behind it NULL. Or NULL. */
    void (*code_runs)(const char *what);
    /* Told how many launches begin that may run one after another, and the name of the first;
     * behind them 0 and NULL. Or NULL. */
    void (*launches_run)(uint32_t count, const char *first);
    /* Another open run, or NULL. Where both need the same, it runs on that one's cores and threads,
     * so that their times can be compared; then that one is closed later. */
    struct backend_run *beside;
};

/* Something was written beside a memory of a run that is no value's. */
struct run_damage {
    const struct graph *graph;
    const struct op *op;  /* whose memory it is, in that graph; NULL: an entry's */
    const char *what;     /* it is: "workspace", "list", "tiling" */
    uint64_t size, bytes; /* of the memory; how many were written beside it */
    int64_t first;        /* their offset, as guarded_damage has it */
};

/* A graph that is ready to run. Each target's own struct begins with this. */
struct backend_run {
    uint32_t launches; /* that the last execution has begun */
    uint32_t orders;   /* that the race check holds them against */
    bool record;       /* set by its owner: with run_options.profile, the next executions keep time
                        * records */
    uint8_t *ran;      /* by graph: whether the last execution has run it */
};

/* Time records of a graph's launches: those of super kernels as their entries with `profile`
 * instructions make them, and where the virtual device's cores were blocked; those of ops. */
struct run_profile {
    struct arena arena;
    struct {
        struct run_profile_launch {
            const char *name;
            const char *const *ops; /* names, in list order */
            uint32_t n_ops;
            uint32_t stream; /* launches of one do not overlap */
            bool alone;      /* no super kernel: an op */
        } * at;
        uint32_t count, capacity;
    } launches;
    struct {
        const char **at; /* names */
        uint32_t count, capacity;
    } streams;
    struct {
        struct run_profile_event {
            uint32_t launch;
            struct skrt_profile_record record; /* `ns` since the first launch began; `index` is the
                                                * op's, or NONE: behind the last */
        } * at;
        uint32_t count, capacity;
    } events; /* those of one core stand in turn */
    uint64_t dropped;
    uint64_t start; /* when the first launch began */
};

enum run_end {
    RUN_DONE,
    RUN_FAILED,
    RUN_STUCK, /* cores still run and cannot be stopped: nothing that they use may be released */
};

struct run_result {
    enum run_end end;
    double seconds;             /* of all launches */
    const char *cause;          /* what is wrong, a line; NULL: nothing is */
    const char *const *reports; /* more about it, in lines; of the run */
    uint32_t n_reports;
    const struct run_profile *profile; /* of the run; NULL where nothing is recorded */
    const void *trace;                 /* of the run: lines as skrt.h has them */
    uint64_t trace_size;               /* in bytes */
};

/* How graphs run on a target. */
struct backend_runner {
    /* Bytes that a value of a type takes. False, with a diagnostic at `span`, where the target does
     * not have the type. */
    bool (*value_size)(const struct module *module, uint32_t type, struct span span, uint64_t *size,
                       struct diags *diags);
    /* Compiles what is needed and loads it; no files are left behind. NULL, with diagnostics and
     * `*status`, on failure. */
    struct backend_run *(*open)(const struct run_options *options, enum backend_status *status);
    /* Runs all launches, those of several streams side by side, up to one that does not end well; a
     * race is no end, so `report` may be that of several launches. `values` has the storage of each
     * value by graph and value id, for the graph and those that it calls. As often as wanted, up to
     * the first end that is not RUN_DONE; what `result` points to lasts until the next time. */
    void (*execute)(struct backend_run *run, void *const *const *values, struct run_result *result);
    /* The next memory of the run, but for values, that something was written beside, which is
     * repaired. False where there is none. */
    bool (*damage)(struct backend_run *run, struct run_damage *damage);
    /* Fills the workspaces of ops, and what is directly beside all its memory, with a byte. */
    void (*spoil)(struct backend_run *run, unsigned char byte);
    /* What is at an address, where that is memory of the run but for values: "slot 3 of the
     * arguments of ...". For handlers of signals. */
    bool (*place)(const struct backend_run *run, const void *address, char *text, size_t size);
    /* Takes its code away, which runs destructors: nothing is executed behind it. What executions
     * have left stays. */
    void (*unload)(struct backend_run *run);
    void (*close)(struct backend_run *run);
};

#endif
