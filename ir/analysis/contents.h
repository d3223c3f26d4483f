/* Contents that a graph gives to its constants and variables: the attribute `value` of passive ops
 * that have no operands (docs/language.md, "Contents"). */
#ifndef IR_ANALYSIS_CONTENTS_H
#define IR_ANALYSIS_CONTENTS_H

#include "ir/core/module.h"
#include "ir/support/float_formats.h"

#include <stddef.h>

/* ------------------------------------------------------------------- other files of arrays ---- */

/* Files of arrays that nothing here reads, by their names and by their first bytes: what they hold
 * would be taken for elements. */

/* How many first bytes tell the kinds. */
enum { ARRAY_KIND_BYTES = 16 };

/* What a file of that name is, such as "an archive of NumPy's savez"; NULL where its name says
 * nothing. A static string. */
const char *array_kind_by_name(const char *path, size_t size);

/* The same by the first bytes of a file, up to ARRAY_KIND_BYTES. Signatures of less than four bytes
 * are not looked at: elements may be the same. */
const char *array_kind_by_bytes(const void *bytes, size_t size);

/* -------------------------------------------------------------------------------- contents ---- */

#define NO_BYTES UINT64_MAX

/* Whether the op is one whose result is there before the graph runs: a passive one without operands
 * and kernel, with one result, a tensor. */
bool op_is_source(const struct module *module, const struct graph *graph, const struct op *op);
/* Whether a value is there before the graph runs: a parameter, or the result of such an op. */
bool value_is_given(const struct module *module, const struct graph *graph, uint32_t value);

/* Either numbers, of which a single one may fill a tensor, or a part of a file. */
struct contents {
    const struct attr_value *numbers; /* INT, FLOAT and BOOL; NULL: there is a file */
    uint32_t count;
    uint32_t file;   /* name id of its path */
    uint64_t offset; /* of its first byte */
    uint64_t bytes;  /* NO_BYTES: as many as the tensor takes */
    bool escaped;    /* they stand there as string literals (ir/support/escapes.h) */
};

/* The attribute, which only ops have whose results are given; NULL where there is none. */
const struct attr *op_contents_attr(const struct module *module, const struct graph *graph,
                                    const struct op *op);
/* Whether it could have it by what is known of its type, and does not. */
bool op_lacks_contents(const struct module *module, const struct graph *graph, const struct op *op);
/* What a verified op's attribute says. */
struct contents contents_read(const struct module *module, const struct attr *attr);
/* Whether they are an array of NumPy: a file *.npy of which no part is told. */
bool contents_are_npy(const struct module *module, const struct contents *contents);

/* The format of a dtype's numbers, or of their real and imaginary parts. False for a dtype that is
 * no float or complex, or whose format is none of float_format's kind (hif8, f8e8m0). */
bool dtype_float_format(enum dtype dtype, struct float_format *format);

enum number_fit {
    NUMBER_FITS,
    NUMBER_WRONG_KIND, /* a number with a fraction, or a truth value, for what has none */
    NUMBER_TOO_LARGE,
    NUMBER_UNKNOWN, /* nothing is known of the dtype's numbers */
};
/* The bits of a number as a dtype has it: integers in its range, bool also as 0 and 1; floats are
 * rounded once, to the nearest, ties to even. Not for complex dtypes. */
enum number_fit number_encode(enum dtype dtype, const struct attr_value *number, uint64_t *bits);

/* ---- what the text says of operands ---- */

struct op_tensors;

/* Where the contents of a value come from that is a view, or one of one, of something else: that,
 * else the value itself. */
uint32_t viewed_value(const struct module *module, const struct graph *graph, uint32_t value);

/* Whether the text says what stands in any operand of the op. */
bool op_knows_contents(const struct module *module, const struct graph *graph, const struct op *op);

/* Whether an op of the graph writes into what this value, which is no view, is. */
bool value_is_written(const struct module *module, const struct graph *graph, uint32_t value);

/* The same of all values, by value of the graph: 1 where something is written. */
void graph_mark_written(const struct module *module, const struct graph *graph, uint8_t *written);

/* The rules of an op can ask what stands in its operands from now on, if that is in the text,
 * whether or not something is written there later. `tensors` is that of an op of the graph. */
struct known_contents {
    const struct module *module;
    const struct graph *graph;
    const struct op *op;
    const struct op_tensors *tensors;
    const uint8_t
        *written; /* of graph_mark_written: of such values nothing is said; NULL: of all */
};
void known_contents_use(struct known_contents *known, const struct module *module,
                        const struct graph *graph, const struct op *op, struct op_tensors *tensors);

#endif
