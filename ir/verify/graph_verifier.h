/* Shared by the parts of the verifier that look at one graph. */
#ifndef IR_VERIFY_GRAPH_VERIFIER_H
#define IR_VERIFY_GRAPH_VERIFIER_H

#include "ir/seen_ops.h"
#include "ir/verify/verify_internal.h"

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
/* The gears by themselves, with the marks of `dims`. */
void verify_gears(struct graph_verifier *gv);
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
