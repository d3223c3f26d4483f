/* A run of `skirc run`: what its files share. */
#ifndef FRONTEND_RUN_RUNNER_H
#define FRONTEND_RUN_RUNNER_H

#include "backend/target/run.h"
#include "frontend/driver/lowered_input.h"
#include "frontend/run/samples.h"
#include "frontend/tensor/storage.h"
#include "frontend/tensor/tensor.h"

/* As many measured runs as it takes. */
#define REPEAT_AUTO UINT64_MAX

/* What a graph is compared with. */
enum comparison {
    COMPARE_NONE,
    COMPARE_UNFUSED, /* its ops, as launches of their own */
    COMPARE_OPTIONS, /* itself, under other options of scopes */
    COMPARE_FILE,    /* that of another file */
};

/* What a comparison says; the worse is the greater. */
enum verdict { VERDICT_EXACT, VERDICT_CLOSE, VERDICT_DIFFERENT };

/* Values that an option names. Zero-initialised when empty. */
struct named_value {
    uint32_t graph;   /* index: the graph of the run, but where @GRAPH.NAME may name another */
    uint32_t value;   /* id */
    const char *text; /* behind the sign; NULL where there is none */
};

struct named_values {
    struct named_value *at;
    uint32_t count, capacity;
};

struct runner {
    struct invocation *invocation;
    FILE *out;        /* standard output; what is printed goes to the invocation's `out` */
    const char *name; /* of what it runs, in what is said of it */
    const struct backend *target;
    struct lowered_input lowered;
    const struct module *module;
    const struct graph *graph;
    struct diags *diags;
    const struct backend_runner *how;
    uint64_t seed, threads, timeout, max_iterations;
    uint64_t repeat;    /* measured runs behind the first one, or REPEAT_AUTO */
    bool trust_kernels; /* what they write is not looked at */
    bool check_kernels; /* ops run one by one, too, to look at them */
    enum comparison compare;
    const char *compared;        /* the options, or the file */
    const char *compare_options; /* of this way: what --compare says; NULL: none */
    bool race_check, full_barriers, serial;
    const char *profile, *trace; /* files, or NULL */
    struct named_values inputs, outputs, printed, expected;
    struct tolerance tolerance; /* of what is expected, and of results of another graph */
    bool json_written;          /* what --json asks for */
};

/* Where graphs run, again and again. */
struct workplace {
    struct storages storages;
    struct restore restore;
};

/* One way of running a graph, and what comes of it. */
struct outcome {
    struct runner *runner;
    struct runner *given;          /* of the graph whose inputs it gets; NULL: its own */
    const char *name;              /* in what is said of it */
    bool fused, recorded;          /* time records are wanted */
    const struct run_watch *watch; /* or NULL */
    struct backend_run *run;       /* open, or NULL */
    struct storages storages;      /* of its first run: what is left there is its result */
    struct workplace *workplace;   /* of its further runs; ways that run one graph share it */
    uint64_t *input_sums;          /* before its first run (run_checks.c), or NULL */
    struct run_result last;
    unsigned runs;          /* so far */
    double first;           /* seconds of the first run */
    struct samples samples; /* those of the measured ones */
};

enum { MAX_OUTCOMES = 2 };

/* All ways that are compared, and what the comparisons say. */
struct outcomes {
    struct outcome at[MAX_OUTCOMES];
    unsigned count;
    struct workplace workplaces[MAX_OUTCOMES];
    bool compared;           /* there is a verdict */
    enum verdict verdict;    /* on their results */
    bool repeatable;         /* all further runs have left what the first one has */
    struct text differences; /* lines */
};

#endif
