/* Shared by the parts of the verifier. */
#ifndef IR_VERIFY_VERIFY_INTERNAL_H
#define IR_VERIFY_VERIFY_INTERNAL_H

#include "ir/attrs.h"
#include "ir/effects.h"
#include "ir/syntax/locate.h"
#include "ir/verify/verify.h"

struct verifier {
    const struct module *module;
    struct diags *diags;
    /* Scratch by name id, for finding duplicates: an entry counts when it has the current stamp. */
    struct mark {
        uint32_t stamp, id;
    } * marks;
    uint32_t stamp;
    bool option_warnings;    /* whether to warn about options */
    struct effects *effects; /* of called graphs */
    bool shared_names;       /* some op has a `shared_name` */
    uint32_t errors;         /* that there were before */
    bool calls;              /* an op that calls graphs was met */
    /* By name, as module_superkernels() has them; NULL: nobody has asked yet. */
    const struct id_map *superkernels;
    struct id_map own_superkernels;
};

/* Each attribute by itself: its owner has it, once, and its value is of its kind. */
void verify_attrs(struct verifier *verifier, struct range attrs, enum attr_owner owner);
/* Whether a value has the form of `variants`: a list of dictionaries. */
bool attr_is_variants(const struct module *module, const struct attr_value *value);
/* Whether it has that of a kernel's `entry`: a string, or a dictionary of strings by core type. */
bool attr_is_names(const struct module *module, const struct attr_value *value);
void verify_kernel(struct verifier *verifier, const struct kernel *kernel);
void verify_graph(struct verifier *verifier, const struct graph *graph);
void verify_order(struct verifier *verifier, const struct graph *graph);
/* Ops that access the same bytes: they are ordered, and nothing is overwritten before it is read.
 * `order` is the graph's. */
struct order;
void verify_overlaps(struct verifier *verifier, const struct graph *graph,
                     const struct order *order);
/* What ops that call graphs need of the whole module: no graph calls itself, directly or by way of
 * others, and results are the memory that they are said to be. */
void verify_calls(struct verifier *verifier);
void verify_entry(struct verifier *verifier, const struct entry *entry);
/* Variables of one `shared_name`, in all graphs. */
void verify_variables(struct verifier *verifier);
/* The values among the arguments of entries: those of the graphs whose super kernels they are. */
void verify_arg_values(struct verifier *verifier);
/* Remarks on results of ops that are returned, but whose memory is written later. The graph is
 * legal. */
void verify_returned(const struct module *module, const struct graph *graph, struct diags *diags);
/* Whether to warn about options: the verifier runs again on what passes made of the source, whose
 * warnings were given then. */
bool verify_wants_option_warnings(const struct diags *diags);

/* Forgets all marks. */
static inline void marks_clear(struct verifier *verifier)
{
    verifier->stamp++;
}

/* Marks the name with an id; returns whether it was marked already, with `*before` its id then. */
static inline bool marks_set(struct verifier *verifier, uint32_t name, uint32_t id,
                             uint32_t *before)
{
    struct mark *mark = &verifier->marks[name];
    bool marked = mark->stamp == verifier->stamp;
    if (marked && before)
        *before = mark->id;
    if (!marked)
        *mark = (struct mark){verifier->stamp, id};
    return marked;
}

/* Reports a kernel that is not declared, with the most similar one that is. */
void verify_unknown_kernel(struct verifier *verifier, struct span span, uint32_t name);

#endif
