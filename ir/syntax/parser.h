/* What the grammar's actions call. Private to the parser. */
#ifndef IR_SYNTAX_PARSER_H
#define IR_SYNTAX_PARSER_H

#include "ir/shapes/dims.h"
#include "ir/syntax/parse.h"

/* The parts of an op in the order of their text; counts are entries of parser.ids. */
struct op_parts {
    uint32_t results, operands, types, after, send, recv;
    uint32_t type, loc;
    uint32_t kernel;  /* name id + 1, not NONE for none: zeroing is how ops in turn are begun */
    uint32_t close;   /* offset of the `)` behind the operands, or 0 where it is not needed */
    bool no_types;    /* `()` is written in the place of types */
    bool known_attrs; /* they are those of an earlier op, or none */
    struct range attrs;
};

/* The parts of a dimension that is being parsed. */
struct dim_parts {
    struct dim_sum sum;
    struct dim_term term;
    uint32_t begin;       /* offset of its first factor; NONE: there is none yet */
    enum dim_fault fault; /* the first */
};

/* What stands for a text that the scanner knows, and where it was: a dictionary, or all that
 * follows an op's operands. */
struct known_text {
    struct range attrs;
    struct range types; /* in parser.known_types */
    uint32_t begin;
};

/* An operand that is not a plain value, or stands in a list with one: its label, or NONE, and the
 * number of its values, which are on parser.ids. Packed, it is one value of the grammar. */
struct form {
    uint32_t label, count;
};

#define FORM_NONE UINT32_MAX
#define FORM_VALUE (UINT32_MAX - 1)

/* Lists are gathered on stacks and taken off when their construct is complete; rules carry only the
 * counts. The stacks are empty between statements. */
struct parser {
    struct scanner scanner;
    struct module *module;
    struct diags *diags;
    struct graph *graph;         /* the open one */
    struct entry *entry;         /* the open one */
    struct program *program;     /* the open one */
    uint32_t block;              /* innermost open block, or NONE */
    struct op_parts op;          /* the one being parsed */
    struct dim_parts dim;        /* the one being parsed */
    unsigned depth;              /* files that include this one; 0: it is the source itself */
    bool versioned;              /* the version line has been read */
    uint32_t open_braces;        /* of bodies: graph, block, entry, program */
    struct vec_u32 ids;          /* names, types */
    struct id_map value_of_name; /* values of the open graph */
    struct id_map superkernels;  /* of the open graph: their first blocks, by name */
    struct id_map groups[2];     /* of the open entry, by name: those of values, of words */
    VEC(struct attr) attrs;
    VEC(struct attr_value) values;
    VEC(int64_t) dims;
    VEC(struct form) forms; /* of the op being parsed; none where all operands are plain values */
    VEC(struct known_text) known; /* by the ids of TOKEN_DICT and TOKEN_REST */
    struct vec_u32 known_types;
    /* Parses the text that begins at an offset, that of a file that this one includes. */
    void (*parse_file)(const struct parser *parser, uint32_t begin);
};

/* Whether nothing is on the stacks, as between statements. */
static inline bool parser_is_between(const struct parser *parser)
{
    return parser->ids.count + parser->attrs.count + parser->values.count + parser->dims.count +
               parser->forms.count ==
           0;
}

/* `loc` is the offset of a construct's first token. */

static inline void parse_push_id(struct parser *parser, uint32_t id)
{
    vec_push(&parser->ids, id);
}

static inline void parse_push_value(struct parser *parser, struct attr_value value)
{
    vec_push(&parser->values, value);
}

/* An attribute whose value is the last one pushed, which is taken off; the key is a token. */
static inline void parse_push_attr(struct parser *parser, uint64_t key)
{
    expensive_assert(parser->values.count > 0);
    struct attr_value value = parser->values.at[--parser->values.count];
    vec_push(&parser->attrs, (struct attr){token_id(key), token_begin(key), value});
}

static inline uint64_t parse_form(uint32_t label, uint32_t count)
{
    return token_make(count, label);
}

/* How many values it has. */
static inline uint32_t parse_form_values(uint64_t form)
{
    uint32_t count = token_id(form);
    return count == FORM_NONE ? 0 : count == FORM_VALUE ? 1 : count;
}

static inline void parse_push_form(struct parser *parser, uint64_t form)
{
    vec_push(&parser->forms, (struct form){token_begin(form), token_id(form)});
}

/* So many plain values. */
static inline void parse_plain_forms(struct parser *parser, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        parse_push_form(parser, parse_form(NONE, FORM_VALUE));
}

void parse_version(struct parser *parser, uint32_t loc, struct span span, int64_t version);
void parse_push_dim(struct parser *parser, int64_t dim);
/* The factors of a term, the terms of a dimension, and the dimension, of which the text ends at
 * `end`; what is wrong with it is reported. */
void parse_number_factor(struct parser *parser, struct span span, int64_t number);
void parse_name_factor(struct parser *parser, uint64_t name);
void parse_end_term(struct parser *parser);
void parse_push_sum(struct parser *parser, uint32_t end);
/* Forgets the parts of a dimension. */
void parse_clear_dim(struct parser *parser);
/* The dictionary at `span`, of the last `count` attributes. */
struct range parse_take_dict(struct parser *parser, struct span span, uint32_t count);
/* A dictionary with the text of an earlier one, or that of a TOKEN_REST. */
struct range parse_known_dict(struct parser *parser, uint64_t text);
/* The braces of a graph's body. */
void parse_body_begin(struct parser *parser);
/* The last `count` values become one, a list. */
void parse_push_list(struct parser *parser, uint32_t count);
/* An empty list whose elements would be what the word says. */
void parse_push_empty(struct parser *parser, struct span span, uint32_t word);
/* `dtype` is a word, or NONE for `?`; `rank` how many of the last dimensions the type has, or
 * RANK_UNKNOWN. */
uint32_t parse_take_type(struct parser *parser, struct span span, uint32_t dtype, uint32_t rank,
                         uint32_t format);

/* Makes the paths of an included kernel's object and metadata ones from the source's folder, of
 * what is there; else it is one of the sample kernels' as it stands. */
void parse_included_paths(struct module *module, const struct kernel *kernel);
/* Reports what an included file may not have; `what` has an article. */
void parse_refuse_included(struct parser *parser, struct span span, const char *what);
void parse_include(struct parser *parser, struct span span, uint32_t path);
void parse_target(struct parser *parser, uint32_t loc, uint32_t name, struct range attrs);
void parse_kernel(struct parser *parser, struct span span, uint32_t name, struct span type_span,
                  uint32_t type, struct range attrs);

/* The kernel type of a word; an unknown one is reported. */
enum kernel_type parse_kernel_type(struct parser *parser, struct span span, uint32_t word);

void parse_graph_begin(struct parser *parser, uint32_t loc, uint32_t name);
void parse_param(struct parser *parser, uint32_t loc, uint32_t name, uint32_t type,
                 struct range attrs);
void parse_gear(struct parser *parser, uint32_t loc, uint32_t name, uint32_t count);
void parse_case(struct parser *parser, uint32_t loc, uint32_t count, uint32_t graph);
void parse_free_dim(struct parser *parser, uint32_t loc, uint32_t name);
void parse_graph_results(struct parser *parser, uint32_t count, struct range attrs);
void parse_return(struct parser *parser, uint32_t loc, uint32_t count);
void parse_graph_end(struct parser *parser, uint32_t end_loc);
void parse_block_begin(struct parser *parser, uint32_t loc, enum block_kind kind, uint32_t name,
                       struct range attrs);
void parse_block_end(struct parser *parser, uint32_t end_loc);
/* A super kernel, whose events are the last on parser.ids: as many as parser.op says. */
void parse_superkernel_begin(struct parser *parser, uint32_t loc, uint32_t name,
                             struct range attrs);
/* Reports an op type without quotes that begins with a small letter. */
void parse_small_op_type(struct parser *parser, uint64_t type);

/* The parts of an op: how many results and operands stand on parser->ids, and what is called. */
static inline void parse_results(struct parser *parser, uint64_t first, uint32_t results)
{
    parser->op.loc = token_begin(first);
    parser->op.results = results;
}

static inline void parse_call(struct parser *parser, uint32_t type, uint32_t operands)
{
    parser->op.type = type;
    parser->op.operands = operands;
}

/* The same where the type is a word, by its token. */
static inline void parse_word_call(struct parser *parser, uint64_t type, uint32_t operands)
{
    if (*scanner_text(&parser->scanner, token_begin(type)) >= 'a')
        parse_small_op_type(parser, type);
    parse_call(parser, token_id(type), operands);
}

/* All that follows the operands. */
void parse_rest(struct parser *parser, uint64_t rest);

static inline void parse_op_type(struct parser *parser, uint32_t type)
{
    parse_push_id(parser, type);
    parser->op.types = 1;
}

/* The op whose parts are in parser->op, which is cleared for the next one. `end` is where its text
 * ends. */
void parse_op(struct parser *parser, const char *end);

void parse_entry_begin(struct parser *parser, struct span span, uint32_t name,
                       struct span type_span, uint32_t type, struct range attrs);
/* Closes the entry, or leaves it where it is broken. */
void parse_entry_leave(struct parser *parser);
void parse_entry_end(struct parser *parser, struct span span);
/* Begins a group of arguments at the token `args`; its name is NONE, a value's, or a word. */
void parse_group(struct parser *parser, uint64_t args, uint32_t name, bool word);
/* An argument of the last group; `values` are those of a list, on parser.ids. */
void parse_arg(struct parser *parser, enum arg_kind kind, uint32_t id, uint32_t values);
void parse_program_begin(struct parser *parser, struct span span, uint32_t core);
void parse_program_end(struct parser *parser, struct span span);
/* Reports and leaves out an instruction whose operands do not fit the table; its operands are the
 * last `count` values on the stack. */
void parse_instr(struct parser *parser, struct span span, uint32_t mnemonic, uint32_t count);

/* Drops a statement that has a syntax error; or all that is left of an element of the module: a
 * broken header leaves its graph open. */
void parse_recover(struct parser *parser);
void parse_recover_item(struct parser *parser);

#endif
