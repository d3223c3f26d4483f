/* Graphs as dumps of others have them: nodes in any order, which name what they take. A reader
 * fills a dump, whatever its format; dump_finish makes a module of it.
 *
 * Names are ids of dump->module, positions offsets of the dump's text. */
#ifndef FRONTEND_IMPORT_DUMP_DUMP_H
#define FRONTEND_IMPORT_DUMP_DUMP_H

#include "frontend/import/translate/translate.h"
#include "ir/core/module.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"

/* ---- What the user of `skirc import` asks for ---- */

/* Attributes that are kept besides those that mean something to skir. */
enum dump_keep {
    DUMP_KEEP_KNOWN, /* those that the data of the op's type has */
    DUMP_KEEP_ALL,
    DUMP_KEEP_NONE,
    DUMP_KEEP_LIST, /* those of `keys` */
};

struct dump_marks;
struct kernel_source;

struct dump_options {
    const char *name;   /* of the first graph; NULL: as the dump has it */
    const char *device; /* name of the target; NULL */
    uint32_t aic, aiv;  /* cores of the target */
    const char *arch;   /* its chip; NULL: it is not said */
    bool has_device;    /* a target is written */
    enum dump_keep keep;
    const char *const *keys;                /* ended by NULL */
    bool dangling_params;                   /* an input without a producer becomes a parameter */
    struct kernel_source *library;          /* of sample kernels, loaded; NULL: there are none */
    const char *input_shape, *dynamic_dims; /* gears, as GE has them ; NULL: none */
    struct dump_marks *marks;               /* scopes and streams of ops (marks.h); may be NULL */
};

/* What a node is in the graph that is made. */
enum dump_role {
    DUMP_OP,
    DUMP_PARAM, /* a parameter (Data, _Arg), by its `index`, or where none has one by their order */
    DUMP_RETURN, /* what it takes is returned (NetOutput, _Retval), by `index` in the same way */
};

enum dump_edge {
    DUMP_DATA,    /* output `output` of the node `name` */
    DUMP_VALUE,   /* the output or parameter of the name `name` */
    DUMP_CONTROL, /* nothing but order: behind the node `name` */
    DUMP_ABSENT,  /* an optional input that is not there */
};

struct dump_input {
    uint32_t name;   /* NONE where absent */
    uint32_t output; /* of DUMP_DATA */
    uint32_t label;  /* what the dump calls this input of the node; NONE */
    uint32_t loc;
    uint8_t kind; /* enum dump_edge */
    bool listed;  /* one of a list: with those before it that have this, too, and the same label */
};

/* What a node says of the type of one of its inputs, for where nothing gives this one. */
struct dump_hint {
    uint32_t input; /* its index in the graph's; of a draft, in the draft's */
    uint32_t type;
};

struct dump_output {
    uint32_t name; /* of the value; NONE: it is made of the node's */
    uint32_t type; /* type id; NONE: the dump does not say it */
};

struct dump_node {
    uint32_t name; /* NONE: it has none */
    uint32_t type; /* name id of the op type */
    uint32_t loc;
    uint32_t role;
    int64_t index;                   /* of parameters and what is returned; -1: not said */
    struct range inputs, outputs;    /* in the graph's */
    struct range attrs;              /* in module->attrs: those that are kept */
    uint32_t scope, options;         /* name ids of its scope, of the scope's options; NONE */
    uint32_t options_loc;            /* where these stand; 0: in the node */
    uint32_t stream;                 /* name id of the label; NONE: the default stream */
    int32_t priority;                /* of the stream; DUMP_NO_PRIORITY */
    uint32_t send_event, recv_event; /* name ids; NONE */
    bool implied;                    /* it is no node of the dump, and not counted */
    uint8_t dialect;                 /* enum dialect: whose operator the type is */
};

enum { DUMP_NO_PRIORITY = INT32_MIN };

/* The scope of nodes that are not to be fused. */
#define DUMP_SCOPE_NONE "None"

/* A parameter that is no node, or something returned that no node returns. */
struct dump_param {
    uint32_t name, type, loc;
};

struct dump_graph {
    uint32_t name; /* unlike those of all others */
    uint32_t loc;
    uint32_t parent; /* index of the graph whose values its nodes may take, too; NONE */
    struct range attrs;
    bool open;       /* the dump does not say what is returned: unused results are */
    int64_t version; /* of the operator set of its nodes; 0: that of its parent, or of the dump */
    VEC(struct dump_node) nodes;
    VEC(struct dump_input) inputs;
    VEC(struct dump_output) outputs;
    VEC(struct dump_hint) hints; /* by ascending inputs; only where inputs may dangle */
    VEC(struct dump_param) params;
    VEC(struct dump_input) returns;
};

/* A row of what `import --counts` prints. */
struct dump_count {
    uint32_t name;
    uint64_t nodes, data_edges, control_edges;
};

/* What one of GE's options for gears is (ir/shapes/gears.h): a name id, or NONE where the dump
 * does not have it; and where it says so. */
struct dump_gear_text {
    uint32_t text;
    struct span key;
};

struct dump_gears {
    struct dump_gear_text input_shape, dynamic_dims, node_type;
};

struct dump {
    struct source *source;
    struct diags *diags;
    struct module *module;
    const struct dump_options *options;
    VEC(struct dump_graph) graphs;
    VEC(struct dump_count) counts; /* made of the graphs where a reader leaves it empty */
    VEC(const char *) dropped;     /* what the module does not have of the dump; in the arena */
    struct dump_gears gears;       /* of the first graph */
    bool lost;                     /* contents were left out, which was said */
    int64_t version;               /* of the operator set; 0: the dump does not say it */
    struct arena arena;
    struct id_map graph_names;     /* by name: index of the graph */
    struct id_map graph_numbers;   /* by name: that of NAME.1, NAME.2 ... given out last */
    struct id_map keys;            /* by name: what an attribute of this key is */
    struct id_map unused_fields;   /* of messages that were reported: 0 (readers/messages.c) */
    struct id_map dtypes, formats; /* by what the dump calls them: those of the module (types.c) */
};

/* No graphs yet, and a module without elements. What it points to must outlive it. */
void dump_init(struct dump *dump, struct source *source, struct diags *diags,
               const struct dump_options *options);
/* Frees all, the module too where it is still there. */
void dump_free(struct dump *dump);

/* The name id of bytes. Those of the dump's own text are not copied: it outlives the module. */
uint32_t dump_name(struct dump *dump, const char *bytes, size_t size);

/* Whether nothing was read: no graph has a node, a parameter, or anything that is returned. */
bool dump_is_empty(const struct dump *dump);
/* Makes the rows of --counts of the graphs, where the reader made none. */
void dump_count_graphs(struct dump *dump);
/* Appends them as JSON. */
void dump_print_counts(const struct dump *dump, struct text *text);

/* A node on its way into a graph. Zero-initialised; it can be used again for the next one. */
struct dump_draft {
    struct dump_node node;
    VEC(struct dump_input) inputs;
    VEC(struct dump_output) outputs;
    VEC(struct dump_hint) hints;
    VEC(struct attr) attrs;
};

/* The index of a new graph. Where its name is taken, it gets another, in dump->graphs. NONE: it has
 * no name. */
uint32_t dump_add_graph(struct dump *dump, uint32_t name, uint32_t loc, uint32_t parent);

/* Gives a graph another name, as of dump_add_graph. */
void dump_name_graph(struct dump *dump, uint32_t graph, uint32_t name);

/* Empties the draft for a node that begins at `loc`, of GE's dialect. */
void dump_begin(struct dump_draft *draft, uint32_t loc);
/* Adds the node to the graph. */
void dump_add_node(struct dump *dump, uint32_t graph, struct dump_draft *draft);
void dump_draft_free(struct dump_draft *draft);

static inline void dump_add_input(struct dump_draft *draft, struct dump_input input)
{
    vec_push(&draft->inputs, input);
}

static inline void dump_add_output(struct dump_draft *draft, uint32_t name, uint32_t type)
{
    vec_push(&draft->outputs, (struct dump_output){name, type});
}

/* Whether an attribute of this key is of use to the draft's node: it is kept, or says something
 * (scope, stream). Values of others need not be read. Until the node's type is known all may be. */
bool dump_wants(struct dump *dump, const struct dump_draft *draft, uint32_t key);
/* Whether such an attribute of a node of that type is kept. */
bool dump_keeps(struct dump *dump, uint32_t type, const struct attr *attr);
/* Whether the results of the op type (a name id, or NONE) are contents that its `value` says. */
bool dump_is_constant(const struct dump *dump, uint32_t type);
/* An attribute of the draft's node, which dump_add_node looks at: scope, options, stream and
 * priority become those of the node; others are kept where the options say so. */
static inline void dump_add_attr(struct dump_draft *draft, struct attr attr)
{
    vec_push(&draft->attrs, attr);
}
/* Warns of attributes that are to be kept, by their names, and that no node has. */
void dump_report_keys(struct dump *dump);
/* Takes the attributes that say something out of the draft, and those that are not kept. */
void dump_sort_attrs(struct dump *dump, struct dump_draft *draft);

/* The dimension of a name, which the graphs that have it declare, or DIM_UNKNOWN where the text is
 * no name. */
int64_t dump_dim(struct dump *dump, const char *text, size_t size);

/* Something that the module will not have, for --counts and as a remark at `loc`; dump_lose:
 * contents, the first time as a warning, since results depend on them. */
void dump_lose(struct dump *dump, uint32_t loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dump_drop(struct dump *dump, uint32_t loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a target to the module if the user asked for one and it has none, before what is added
 * later. */
void dump_add_target(struct dump *dump);

/* Resolves names, sorts nodes after what they take, and makes the graphs of the dump's module.
 * What is wrong in the dump is a diagnostic at its place: false. */
bool dump_finish(struct dump *dump);

/* Whether the key is one of GE's for gears (ir/shapes/gears.h): its value is taken in, the first
 * time that there is one, with the place of the key; another one is an error that names both. */
bool dump_wants_gears(const struct dump *dump, uint32_t key);
bool dump_take_gears(struct dump *dump, const struct attr *attr, struct span key);

/* Makes gears of what the command line says, or else the dump, for the first graph: dimensions of
 * parameters that are -1 become names with values, and results whose dimensions are not known get
 * what follows. Where skirc export has written the gears themselves, these are held against it.
 * What is wrong is reported. */
void dump_add_gears(struct dump *dump);

#endif
