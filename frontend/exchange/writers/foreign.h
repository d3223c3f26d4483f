/* Graphs on their way into formats of others, which have nodes of one or several outputs, and
 * attributes. What is common to these formats: names of nodes, the attributes of GE that say scope
 * and stream, and the rest: what a format has no place for. The rest of an op, parameter or graph
 * is one string, the attribute `_skir`, which is a dictionary of .skir without its braces; the
 * readers take it back (frontend/exchange/dump/rest.h, which has the list of its keys). */
#ifndef FRONTEND_EXCHANGE_WRITERS_FOREIGN_H
#define FRONTEND_EXCHANGE_WRITERS_FOREIGN_H

#include "frontend/exchange/exchange.h"
#include "ir/module.h"

/* What a format can say itself. */
struct foreign_form {
    const char *name;
    bool control;      /* edges that are nothing but order */
    bool value_names;  /* values have names, not only the nodes that give them */
    bool graph_names;  /* graphs have names */
    bool return_nodes; /* what is returned is taken by a node; parameters are nodes, too */
    bool (*says_type)(const struct module *module, uint32_t type);
    bool (*says_value)(const struct module *module, const struct attr_value *value);
};

/* What GE's attributes say of an op; name ids, or NONE. */
struct foreign_marks {
    uint32_t scope;
    bool no_scope; /* it must not be fused */
    uint32_t options, stream;
    const struct attr *priority;
};

struct foreign {
    const struct module *module;
    const struct foreign_form *form;
    struct intern names; /* of nodes */
    struct text rest;    /* the rest of what was asked for last; empty where there is none */
    struct text scratch;
    /* The graph at hand. */
    const struct graph *graph;
    uint32_t *op_names;     /* by op id: an id of `names`; NONE: the op's node has no name */
    uint32_t *param_names;  /* by value id */
    uint32_t return_name;   /* of the node that takes what is returned */
    uint32_t turn;          /* its number */
    struct id_map taken;    /* by id of `names`: the last graph's number that had it */
    struct id_map options;  /* by name id of the scope */
    struct id_map priority; /* by name id of the label: index in module->attrs */
    struct id_map met_scopes, met_streams; /* by name id: the last graph's number that had it */
    bool plain_blocks;                     /* the marks say all about the blocks */
};

void foreign_init(struct foreign *foreign, const struct module *module,
                  const struct foreign_form *form);
void foreign_free(struct foreign *foreign);
void foreign_begin_graph(struct foreign *foreign, const struct graph *graph);
void foreign_end_graph(struct foreign *foreign);

/* The name of the node of an op, a parameter, or of whatever defines a value; NULL where it has
 * none. */
const struct intern_name *foreign_op_name(const struct foreign *foreign, uint32_t op);
const struct intern_name *foreign_definer(const struct foreign *foreign, uint32_t value);
/* Which of its outputs a value is. */
uint32_t foreign_output(const struct foreign *foreign, uint32_t value);
/* The attribute that the name of the op's node says; NULL. */
const struct attr *foreign_name_attr(const struct foreign *foreign, uint32_t op);

/* Whether formats have the op type for parameters, or for what is returned. */
bool foreign_has_role(const struct module *module, uint32_t type);
/* The type of an op's node: such a type gets another name, and the rest says it. */
void foreign_op_type(const struct foreign *foreign, const struct op *op, struct text *type);

/* Whether an attribute of an op, or (NULL) of a parameter can be one of the node, so that it is not
 * in the rest. */
bool foreign_says_attr(const struct foreign *foreign, const struct op *op, const struct attr *attr);

struct foreign_marks foreign_marks(const struct foreign *foreign, const struct op *op);
/* Finds out what the marks of the graph say (foreign_blocks.c). */
void foreign_read_blocks(struct foreign *foreign);
void foreign_forget_blocks(struct foreign *foreign);

/* Fill foreign->rest (foreign_rest.c). */
void foreign_op_rest(struct foreign *foreign, uint32_t op);
void foreign_param_rest(struct foreign *foreign, uint32_t param);
void foreign_graph_rest(struct foreign *foreign, bool first);

/* Whether the module can be written; what is in the way is reported (foreign_fits.c). */
bool foreign_fits(const struct foreign_form *form, const struct module *module,
                  struct diags *diags);
/* The same where there may be no second graph. */
bool foreign_fits_one(const struct foreign_form *form, const struct module *module,
                      struct diags *diags);

#endif
