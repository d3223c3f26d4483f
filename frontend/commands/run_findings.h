/* What is found of wrong kernels while the ops of a graph run one by one: each is reported where it
 * stands, with what it does. */
#ifndef FRONTEND_COMMANDS_RUN_FINDINGS_H
#define FRONTEND_COMMANDS_RUN_FINDINGS_H

#include "frontend/commands/runner.h"
#include "frontend/tensor/poison.h"

struct unwritten_list {
    struct unwritten *at;
    uint32_t count, capacity;
};

struct findings {
    const struct runner *runner;
    struct backend_run *run;       /* that in which ops run one by one */
    const struct storages *first;  /* as the graph's run has left them, which began with poison */
    const struct storages *second; /* those of the run, which begins with the second poison */
    const struct read_only *read_only; /* inputs, which the graph's run may have changed */
    struct read_only *watched;         /* those of the run in which ops run one by one */
    void **copies;                     /* by value: of those that it has, as they were */
    struct unwritten_list proven;      /* what two runs of the graph have not written */
    struct damaged_list {              /* memories of values that the graph's run wrote beside */
        struct damaged {
            uint32_t graph, value;
        } * at;
        uint32_t count, capacity;
    } damaged;
    bool beside_run;   /* it wrote beside other memories of the run */
    uint8_t **tainted; /* by graph and value that stands for a memory: some of it is not
                                    * written */
    const struct graph *tainted_graph; /* the only one with such, or NULL */
    bool found_beside, found_input;    /* something written beside a memory; into an input */
    struct misfed_list {               /* ops that cannot have what stands in their operands */
        const struct op **at;
        uint32_t count, capacity;
    } misfed;
};

/* Before the run, when its inputs are there: nothing is written beside memory yet. */
void findings_begin(struct findings *findings);
/* Before and behind each op (struct run_watch). */
void findings_op_begins(void *findings, const struct graph *graph, const struct op *op,
                        void *const *values);
void findings_op_ended(void *findings, const struct graph *graph, const struct op *op,
                       void *const *values);
/* What to write where a kernel writes into an operand. */
void findings_help_inplace(struct diags *diags);
/* The call in which it was first, a line. */
void findings_help_first(struct diags *diags, const char *call);
/* Behind the run: reports what the graph's own runs do and no op alone: what they leave unwritten,
 * that they write beside a memory, and, where they have `changed` one, into an input. */
void findings_end(struct findings *findings, bool changed);
void findings_free(struct findings *findings);

#endif
