/* Shared by the parts of the verifier. */
#ifndef IR_VERIFY_VERIFY_INTERNAL_H
#define IR_VERIFY_VERIFY_INTERNAL_H

#include "ir/analysis/modref.h"
#include "ir/core/attr.h"
#include "ir/optypes/verified_ops.h"
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

/* Suggests the symbol that is meant by a name, of the kinds whose bits (of enum symbol_kind) are
 * set. False where none is near. */
bool suggest_symbol(const struct module *module, struct diags *diags, uint32_t name,
                    unsigned kinds);
/* Suggests the value of a graph that is meant by a name. */
void suggest_value(const struct module *module, struct diags *diags, const struct graph *graph,
                   uint32_t name);

/* Reports a kernel that is not declared, with the most similar one that is. */
void verify_unknown_kernel(struct verifier *verifier, struct span span, uint32_t name);

/* ---------------------------------------------------------------------------- of one graph ---- */

struct graph_verifier {
    struct verifier *verifier;
    const struct module *module;
    struct diags *diags;
    const struct graph *graph;
    uint32_t token;        /* type id of tokens, or one that no value has */
    uint8_t *type_checked; /* by type id: its format and gears were looked at */
    struct id_map dims;    /* the names of dimensions that the graph declares: set or not */
    uint8_t *reached;      /* by op id: the walk over the text has passed it */
    struct seen_ops seen;
    struct id_map labels;   /* of the op that is looked at: by label, its place, the first if two */
    struct vec_u32 tensors; /* scratch: the words of a kernel's parameters that are tensors */
    struct id_map numbers;  /* scratch: by word, its place among them */
};

/* Each type is looked at once per graph, where it is first used; NONE is no type. */
void verify_type(struct graph_verifier *gv, uint32_t type, struct span span);
/* Whether it is clear without a look at its position that nothing is to be said of the type. */
bool type_is_right(struct graph_verifier *gv, uint32_t type);
/* Whether verify_type has something to look at. */
static inline bool type_is_open(struct graph_verifier *gv, uint32_t type)
{
    return type != NONE && !gv->type_checked[type] && !type_is_right(gv, type);
}
/* What `dims` and `gears` declare. */
void verify_dim_names(struct graph_verifier *gv);
/* The rows that gears were expanded to. */
void verify_cases(struct graph_verifier *gv);
/* Whether a value of type `actual` may stand where `declared` is asked for: `?` matches all. */
bool verify_types_match(const struct module *module, uint32_t declared, uint32_t actual);

/* For verify_use: a value that is not known yet, or is a token. */
void verify_odd_use(struct graph_verifier *gv, const struct op *op, enum op_part part,
                    uint32_t index, uint32_t value);

/* A value is known at an op, or (`op` NULL) at the return, when it is a parameter or the result of
 * an op that was reached. The marks are those of the graph's definitions: value ids by name. */
static inline void verify_use(struct graph_verifier *gv, const struct op *op, enum op_part part,
                              uint32_t index, uint32_t value)
{
    const struct value *v = &gv->graph->values.at[value];
    bool known = v->def == DEF_PARAM || (v->def != DEF_MISSING && gv->reached[v->def]);
    if (!known || v->type == gv->token)
        verify_odd_use(gv, op, part, index, value);
}
/* All ops in text order, with the marks of verify_use. */
void verify_ops(struct graph_verifier *gv);

/* What an op says of memory that it shares: `inplace` and `alias`. */
void verify_places(struct graph_verifier *gv, const struct op *op);
/* The labels of an op's operands by themselves; `labels` has them until they are forgotten. */
void verify_labels(struct graph_verifier *gv, const struct op *op);
void forget_labels(struct graph_verifier *gv, const struct op *op);
/* An op and its kernel: operands, results and `params`; the types of both against `inputs` and
 * `outputs`. */
void verify_op_params(struct graph_verifier *gv, const struct op *op, const struct kernel *kernel);
void verify_op_inputs(struct graph_verifier *gv, const struct op *op, const struct kernel *kernel);
void verify_op_outputs(struct graph_verifier *gv, const struct op *op, const struct kernel *kernel);

/* Addresses of the graph's parameters and ops, each by itself and where one op has several. */
void verify_addresses(struct graph_verifier *gv);

/* The contents that an op gives to its result. */
void verify_contents(struct graph_verifier *gv, const struct op *op);

/* Symbols in the op's attributes, and what it calls. */
void verify_op_calls(struct graph_verifier *gv, const struct op *op);

/* An op and what is known of its type. */
void verify_op_type(struct graph_verifier *gv, const struct op *op);

/* Scopes, streams and super kernels. */
void verify_blocks(struct graph_verifier *gv);

#endif
