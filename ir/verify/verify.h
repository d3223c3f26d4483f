/* What a module must satisfy beyond the grammar. */
#ifndef IR_VERIFY_VERIFY_H
#define IR_VERIFY_VERIFY_H

#include "ir/core/module.h"
#include "ir/support/text.h"

/* Reports everything that is wrong, each with its position where there is one. Returns whether
 * nothing is. */
bool verify_module(const struct module *module, struct diags *diags);

/* The same where some graphs, marked by index, were verified alone and nothing was said of them. */
bool verify_module_but(const struct module *module, const uint8_t *right, struct diags *diags);

/* The same for one graph of it by itself, whose calls and symbols are looked up in the module. */
bool verify_graph_alone(const struct module *module, const struct graph *graph,
                        struct diags *diags);

/* Whether an op of a graph, whose operands are defined, has nothing against the data of its type
 * that the verifier would report, even where the op is not held to it (op_is_unchecked). */
bool op_fits_type(const struct module *module, const struct graph *graph, const struct op *op);

/* Warns of what is legal but looks like a mistake: once, for what was read, and not again for what
 * passes make of it. The module may be wrong. */
void verify_warnings(const struct module *module, struct diags *diags);

struct attr_row;
/* Whether an attribute that a row describes may have the value. */
bool attr_row_takes(const struct module *module, const struct attr_row *row,
                    const struct attr_value *value);

/* ---- what stands in operands ---- */

struct op_tensors;
struct op_range_fault;

/* Whether the numbers that a graph's text gives to an op's operands may stand there. The op fits
 * its type in all else. */
bool operand_values_fit(const struct module *module, const struct graph *graph, const struct op *op,
                        struct op_tensors *tensors, struct op_range_fault *fault);

/* Reports what is wrong at the operand, with the other tensor that the rule speaks of. Whether it
 * is kept, so that help may follow. */
bool operand_value_report(const struct module *module, const struct op *op,
                          const struct op_tensors *tensors, const struct op_range_fault *fault,
                          struct diags *diags);

/* Combinations of gears that their graph contradicts. */

/* ---- graphs with numbers in the place of gears ---- */

struct gear_verdict {
    bool fits;          /* nothing is wrong */
    bool silent;        /* and nothing at all is to be said */
    bool open;          /* what is wrong is a type that does not follow (DIAG_cannot_infer) */
    struct text reason; /* what is wrong */
    struct text help;   /* and what to do about it; mostly empty */
    struct span where;  /* the place of that, if there is one */
};

struct gear_instance {
    struct graph graph;
    struct gear_verdict made, verified; /* the second one of what is made right */
};

/* Makes a copy of the graph with these values, by gear, in their places; types that are not written
 * follow from them, and so do dimensions that are written as unknown. It is not made right where a
 * dimension becomes too large, or a type does not follow. The source and the path are those of
 * `diags`, which gets nothing. To be freed in any case. */
void gear_instance_make(struct gear_instance *instance, struct module *module,
                        const struct graph *graph, const int64_t *values,
                        const struct diags *diags);
/* What the verifier has against it: it had nothing before there were values, so what it finds,
 * they have done. A part (ir/support/parts.h) may do it again. `superkernels`: as
 * module_superkernels() has them, or NULL. */
void gear_instance_verify(struct gear_instance *instance, const struct module *module,
                          const struct id_map *superkernels, const struct diags *diags);
/* What is wrong with it; NULL: it is right. */
const struct gear_verdict *gear_instance_fault(const struct gear_instance *instance);
/* Not of the graph, if that was taken. */
void gear_instance_free(struct gear_instance *instance);

/* ---- combinations that their graph contradicts ---- */

struct diags;

/* Those of one graph, to be told by one message. Zero-initialised is none. */
struct gear_rows_left_out {
    uint32_t count;
    uint32_t open;                   /* of these, because a type does not follow */
    struct text others;              /* those behind the first one */
    struct text first, reason, help; /* the first one, why, and what to do about it */
    struct span where;
};

/* One more; `fault` is that of its instance. */
void gear_rows_leave_out(struct gear_rows_left_out *left_out, const struct module *module,
                         const struct graph *graph, const int64_t *row,
                         const struct gear_verdict *fault);
/* All of them, of so many: an error, or a warning that says what becomes of them: "are left out",
 * "is left out". Nothing where there are none. Where a type follows in no combination, that is the
 * error, as of a graph without gears. */
void gear_rows_report(const struct gear_rows_left_out *left_out, const struct module *module,
                      const struct graph *graph, uint32_t n_rows, bool refused,
                      struct diags *diags);
void gear_rows_left_out_free(struct gear_rows_left_out *left_out);

/* Marks the combinations that a correct graph contradicts (ir/shapes/gears.h), if its gears are not
 * expanded, and has them in `left_out`, which is to be freed. Returns how many combinations there
 * are, or 0; `diags`, of the same text, gets nothing. */
uint32_t gear_rows_find(struct gear_rows_left_out *left_out, struct module *module, uint32_t graph,
                        const struct diags *diags);
/* The same with a warning that tells them. False, with an error, where nothing is left. */
bool gear_rows_mark(struct module *module, uint32_t graph, struct diags *diags);

/* ---------------------------------------------------------- types that the text leaves out ---- */

/* Gives results whose types are not written the types that follow from the operands, op by op in
 * the order of the text; to be done before the module is verified. Those of which that cannot be
 * said are reported, and nothing is known of their types then. Returns whether there are none. */
bool infer_types(struct module *module, struct diags *diags);

/* The same for one graph of it, or one that is to be: once more, where types of operands have
 * become others. */
bool infer_graph_types(struct module *module, struct graph *graph, struct diags *diags);

#endif
