/* What the parts of verify-sync share: the entry under proof, and the super kernel that it is
 * for. */

#ifndef PASSES_SYNC_PROOF_CHECK_H
#define PASSES_SYNC_PROOF_CHECK_H

#include <assert.h>

#include "ir/analysis/dep_graph.h"
#include "ir/core/kernel_args.h"
#include "ir/syntax/locate.h"
#include "passes/lower/call_order.h"
#include "passes/manager/context.h"
#include "passes/sync/proof/proof.h"

/* Releases of a flag, and arrivals of a core, that may be outstanding. */
enum { SYNC_FLAG_LIMIT = 15 };

/* Where an op stands in the programs; NONE on core types where it has nothing. */
struct sync_placed {
    struct sync_point call[CORE_TYPES];
    uint32_t select[CORE_TYPES]; /* steps, of dynamic kernels */
};

/* How an event crosses the super kernels of a graph. */
struct sync_event {
    uint32_t sender; /* block of the super kernel whose op sends it, or NONE */
    bool leaves;     /* something outside of that super kernel receives it, or of the module */
    bool received;   /* by something of the graph */
};

/* Those that are sent or received in a graph. */
struct sync_events {
    struct id_map index; /* in `list`, by name */
    VEC(struct sync_event) list;
};

/* The super kernel that an entry is for. */
struct sync_subject {
    const struct graph *graph;
    uint32_t block;
    const struct order *order;
    const struct sync_events *events;
    const uint32_t *ops; /* in list order */
    uint32_t count;
    const uint32_t *index;           /* per op of the graph: its place in its list, or NONE */
    const uint32_t *grouped;         /* by group of arguments: the place of its op */
    struct slots slots;              /* of all groups in turn; the first is slot 1 of the entry */
    uint32_t *first_slot, *end_slot; /* by place: indices in `slots` */
    struct group_name *groups;       /* by place: what its group is called */
    struct sync_placed *placed;      /* by place */
};

struct sync_checker {
    struct diags *diags;
    const struct module *module;
    const struct entry *entry;
    struct instr_numbers *numbers; /* of the entry, for messages */
    struct sync_proof proof;
    const struct sync_subject *subject; /* NULL: the entry is for no super kernel */
    bool grouped;                       /* its arguments are those of the subject's ops */
    struct called called;               /* of a subject: which op each call is for */
};

/* The op at a place in list order, and its kernel. */
static inline const struct op *sync_op(const struct sync_subject *subject, uint32_t place)
{
    assert(place < subject->count);
    return &subject->graph->ops.at[subject->ops[place]];
}

static inline const struct kernel *sync_kernel(const struct sync_checker *checker, uint32_t name)
{
    return module_kernel(checker->module, name);
}

static inline const struct sync_event *sync_event(const struct sync_subject *subject, uint32_t name)
{
    return &subject->events->list.at[id_map_get(&subject->events->index, name)];
}

static inline struct sync_point sync_point_all(const struct sync_checker *checker,
                                               enum core_type core, uint32_t step)
{
    return (struct sync_point){core, step,
                               sync_extent_narrow(&checker->proof, core, SYNC_ALL_CORES)};
}

/* Parts of the proof. Each reports what it refutes, and returns whether all is well. */

/* There is a subject, and the entry's parameters are those of its ops. */
bool sync_check_slots(const struct sync_checker *checker);

/* Of any programs: none waits for ever; between two calls on a core its pipes drain; calls say what
 * their kernels were built to do. */
bool sync_check_blocked(const struct sync_checker *checker);
bool sync_check_drained(const struct sync_checker *checker);
bool sync_check_early(const struct sync_checker *checker);

/* Of programs that do not block, with or without a subject: flags and arrivals are never more than
 * their counters hold, and none is left; cores that calls leave out take part in the barriers
 * of kernels; nothing of the entry mixes with these. */
bool sync_check_counts(const struct sync_checker *checker);
bool sync_check_feed(const struct sync_checker *checker);
bool sync_check_full_barriers(const struct sync_checker *checker);

/* Of the programs of a subject: each of its ops is called once on each core type that it has a part
 * on, with its own kernel, arguments and blocks. Places the calls where that is so. */
bool sync_check_calls(struct sync_checker *checker);

/* The same, where the subject's calls are placed. */
bool sync_check_selects(struct sync_checker *checker); /* dynamic kernels; places their selects */
bool sync_check_events(struct sync_checker *checker);  /* needs the selects in their places */
/* What kernels read through data caches, with a subject, once all else is proved: warns where a
 * cache may hold what was there before. */
void sync_check_caches(struct sync_checker *checker);

/* The refutations of verify-sync, in words: where it is, why it is wrong, and what to write
 * where. */

/* What a core of a type writes to arrive at its barrier, to await it, for both, to set its flag,
 * which has a name, and to wait for that of the other type. */
struct sync_text {
    const char *arrive, *await, *barrier, *set, *flag, *wait;
};
extern const struct sync_text sync_texts[CORE_TYPES];

/* "aic instruction 3 (set c2v)": entries that a pass made have no positions. */
const char *sync_step_text(const struct sync_checker *checker, enum core_type core, uint32_t step);
struct span sync_step_span(const struct sync_checker *checker, enum core_type core, uint32_t step);
const char *sync_op_text(const struct sync_checker *checker, uint32_t place); /* "Add %y" */

/* Reports a step: `text` follows what and where it is. */
bool sync_report_step(const struct sync_checker *checker, enum diag_id id, enum core_type core,
                      uint32_t step, const char *text);
/* Tells what to write after or before a step, as a line to paste. Adds the fact `insert` to the
 * diagnostic for tools. */
enum sync_side { SYNC_BEFORE, SYNC_BEHIND };
void sync_help(const struct sync_checker *checker, const char *instrs, enum sync_side side,
               enum core_type core, uint32_t step);

/* Tells to take a step out, which other help writes at another place: one that stands on the wrong
 * side of what it is ordered with. Adds the fact `remove`. */
void sync_help_take_out(const struct sync_checker *checker, const struct sync_point *point);
/* Whether `first` comes before `point` in every run, so that nothing can order it after. */
bool sync_is_before(const struct sync_checker *checker, const struct sync_point *first,
                    const struct sync_point *point);

/* The part of op `from` on `part` is not known where that of `to` on `core` starts. */
void sync_report_order(const struct sync_checker *checker, const struct order_edge *edge,
                       uint32_t from, uint32_t to, enum core_type part, enum core_type core);

/* What is known of `earlier` at `later`, and what to write where to make it complete by then. */
void sync_explain_order(const struct sync_checker *checker, const struct sync_point *earlier,
                        const struct sync_point *later);
/* The latter alone. */
void sync_help_order(const struct sync_checker *checker, const struct sync_point *earlier,
                     const struct sync_point *later);

#endif
