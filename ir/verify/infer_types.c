#include "ir/analysis/op_infer.h"
#include "ir/core/calls.h"
#include "ir/core/operands.h"
#include "ir/optypes/foreign_names.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/verify.h"

#include <string.h>

struct inferrer {
    struct module *module;
    struct graph *graph;
    struct diags *diags;
    struct arena scratch;
    uint8_t *written; /* of graph_mark_written; NULL: nobody has asked */
    bool ok;
};

/* -------------------------------------------------------------------------- errors ---- */

__attribute__((format(printf, 4, 5))) static bool report(struct inferrer *in, const struct op *op,
                                                         uint32_t result, const char *format, ...)
{
    uint32_t value = in->graph->values.at[op->results.first + result].name;
    va_list args;
    va_start(args, format);
    const char *why = arena_vprintf(&in->diags->arena, format, args);
    va_end(args);
    in->ok = false;
    return diag_at(in->diags, DIAG_cannot_infer, locate_op(in->module, op, OP_RESULT, result),
                   "the type of '%%%.*s' does not follow: %s", NAME(in->module, value), why);
}

/* Words for what is not known of the types of all results. */
static void help_type(struct inferrer *in, const struct op *op)
{
    enum { MOST = 8 };
    struct text types = {NULL, 0, 0};
    struct arena scratch = {NULL, 0};
    uint32_t count = op->results.count;
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        uint32_t id = in->graph->values.at[op->results.first + i].type;
        const struct type *type = &in->module->types.at[id];
        const char *whole = type_text(in->module, id, &scratch);
        const char *dtype = type->dtype == DTYPE_UNKNOWN ? "DTYPE" : dtype_info(type->dtype)->name;
        text_string(&types, i ? ", " : "");
        if (type->rank == RANK_UNKNOWN)
            text_printf(&types, "%s[N, ...]", dtype);
        else
            text_printf(&types, "%s%s", dtype, strchr(whole, '['));
    }
    text_string(&types, count > MOST ? ", ..." : "");
    diag_help(in->diags,
              count == 1 ? "write the type behind the op: ': %.*s'"
                         : "write the types of all results behind the op: ': (%.*s)'",
              (int)types.size, types.at);
    arena_free(&scratch);
    text_free(&types);
}

/* Of the result that lacks it; whether help may follow. */
static bool report_dtype(struct inferrer *in, const struct op *op, const struct op_inference *found)
{
    const struct op_type *type = found->tensors.call.type;
    const struct op_slot *slot = &type->slots[found->slot];
    struct text names = {NULL, 0, 0};
    const char *between = "";
    if (slot->by != NONE) /* where an attribute would say it */
        return report(in, op, found->result, "'%s' does not say the data type of '%s' of %s",
                      type->attrs[slot->by].name, slot->name, type->name);
    if (slot->dtypes == 0) /* that of an operand, which the op does not have */
        return report(in, op, found->result, "nothing says the data type of '%s' of %s", slot->name,
                      type->name);
    uint64_t set = slot->dtypes;
    for (int dtype = 0; dtype < DTYPE_COUNT && slot->dtypes != UINT64_MAX; dtype++)
        if (set >> dtype & 1) {
            text_printf(&names, "%s%s", between, dtype_info(dtype)->name);
            set &= ~(UINT64_C(1) << dtype);
            between = set & (set - 1) ? ", " : " or ";
        }
    text_string(&names, slot->dtypes == UINT64_MAX ? "of any data type" : "");
    bool kept = report(in, op, found->result, "'%s' of %s may be %.*s", slot->name, type->name,
                       (int)names.size, names.at);
    text_free(&names);
    return kept;
}

/* ------------------------------------------------------------------------- formats ---- */

/* That of the first operand, where the result has as many dimensions. */
static void take_format(const struct inferrer *in, const struct op *op,
                        const struct op_tensors *tensors)
{
    uint32_t n = tensors->misfit == OP_FITS ? 0 : NONE;
    while (n < tensors->call.n_tensors &&
           (tensors->places[n].result || tensors->call.tensors[n].slot != 0))
        n++;
    uint32_t first = n < tensors->call.n_tensors ? tensors->places[n].type : NONE;
    if (first == NONE || in->module->types.at[first].format == W_ND)
        return;
    struct type like = in->module->types.at[first];
    for (uint32_t i = 0; i < op->results.count; i++) {
        uint32_t *result = &in->graph->values.at[op->results.first + i].type;
        struct type type = in->module->types.at[*result];
        if (type.rank == like.rank && type.rank != RANK_UNKNOWN)
            *result = module_type(in->module, type.dtype, like.format,
                                  type_dims(in->module, *result), type.rank);
    }
}

/* ---------------------------------------------------------------------------- calls ---- */

/* The results of the first graph whose results they are; its names of dimensions mean nothing here.
 * What is wrong with it, the verifier says. */
static void infer_call(struct inferrer *in, const struct op *op)
{
    struct module *module = in->module;
    struct callee callee = {.role = ROLE_CONDITION};
    int64_t dims[MAX_RANK];
    for (uint32_t n = 0; callee.role == ROLE_CONDITION; n++)
        if (!op_callee(module, op, n, &callee))
            return;
    if (callee.graph == NONE)
        return;
    const struct graph *called = &module->graphs.at[callee.graph];
    for (uint32_t i = 0; i < op->results.count && i < called->result_types.count; i++) {
        uint32_t id = called->result_types.at[i];
        struct type type = module->types.at[id];
        if (id == module->token)
            continue;
        for (uint32_t d = 0; d < type_n_dims(&type); d++) {
            int64_t dim = type_dims(module, id)[d];
            dims[d] = dim_is_gear(dim) ? DIM_UNKNOWN : dim;
        }
        in->graph->values.at[op->results.first + i].type =
            module_type(module, type.dtype, type.format, dims, type.rank);
    }
}

/* ------------------------------------------------------------------------------ ops ---- */

/* Of the result whose shape does not follow: whether help may follow. */
static bool report_shape(struct inferrer *in, const struct op *op, const struct op_inference *found)
{
    const struct op_call *call = &found->tensors.call;
    const struct op_type *type = call->type;
    const char *slot = type->slots[found->slot].name;
    for (uint32_t i = 0; i < type->n_contents; i++)
        for (uint32_t n = 0; type->contents[i].rule.slot == found->slot && n < call->n_tensors; n++)
            if (call->tensors[n].slot == type->contents[i].operand)
                return report(in, op, found->result,
                              "what stands in '%s' of %s says the shape of '%s', and is not known",
                              type->slots[type->contents[i].operand].name, type->name, slot);
    return report(in, op, found->result, "no rule of %s says the shape of '%s'", type->name, slot);
}

static void infer_by_data(struct inferrer *in, const struct op *op, const struct op_type *type)
{
    struct op_inference found;
    bool kept = false;
    if (type->n_contents && !in->written) {
        in->written = mem_calloc(in->graph->values.count + 1, 1);
        graph_mark_written(in->module, in->graph, in->written);
    }
    op_infer(&found, in->module, in->graph, op, type, type->n_contents ? in->written : NULL,
             &in->scratch);
    uint32_t format =
        found.tensors.misfit == OP_FITS ? op_tensors_odd_format(in->module, &found.tensors) : NONE;
    if (format != NONE)
        kept = report(in, op, 0, "rules of shapes know nothing of the format %.*s",
                      NAME(in->module, format));
    else if (found.tensors.misfit == OP_NO_LABEL && op->kernel != NONE)
        kept = report(in, op, 0, "the labels of operands are those of the kernel");
    else if (found.untold == OP_NO_DTYPE)
        kept = report_dtype(in, op, &found);
    else if (found.untold == OP_NO_SHAPE)
        kept = report_shape(in, op, &found);
    else if (found.untold == OP_MANY_DIMS) /* no type can be written either */
        report(in, op, found.result,
               "the rule of %s gives '%s' %u dimensions, but a type has at most %d", type->name,
               type->slots[found.slot].name, found.n_dims, MAX_RANK);
    if (kept)
        help_type(in, op);
    take_format(in, op, &found.tensors);
    arena_clear(&in->scratch);
}

static void infer_op(struct inferrer *in, const struct op *op)
{
    uint32_t unknown = module_type(in->module, DTYPE_UNKNOWN, W_ND, NULL, RANK_UNKNOWN);
    const struct op_type *type = op_type_find(in->module, op->type);
    const struct intern_name *name = &in->module->names.names[op->type];
    struct suggest meant = {.best = NULL};
    for (uint32_t i = 0; i < op->results.count; i++)
        in->graph->values.at[op->results.first + i].type = unknown;
    if (op_is_unchecked(in->module, op)) {
        if (report(in, op, 0, "the op is not held to what is known of its type ('_unchecked')"))
            help_type(in, op);
    } else if (op_call_kind(op) != CALL_NONE) {
        infer_call(in, op);
    } else if (type) {
        infer_by_data(in, op, type);
    } else if (report(in, op, 0, "nothing is known of the op type '%.*s'",
                      name->size < 100 ? (int)name->size : 100, name->text)) {
        /* The type may be misspelt, or of a private kernel. */
        if (op->kernel == NONE && diag_wants_suggestion(in->diags))
            meant = meant_type(op_types_of(in->module), name->text, name->size);
        if (!meant.best || !diag_suggest(in->diags, &meant))
            help_type(in, op);
    }
}

bool infer_graph_types(struct module *module, struct graph *graph, struct diags *diags)
{
    struct inferrer in = {.module = module, .graph = graph, .diags = diags, .ok = true};
    for (uint32_t i = 0; graph->untyped && i < graph->ops.count; i++)
        if (op_is_untyped(graph, &graph->ops.at[i]))
            infer_op(&in, &graph->ops.at[i]);
    mem_free(in.written);
    arena_free(&in.scratch);
    return in.ok;
}

bool infer_types(struct module *module, struct diags *diags)
{
    bool ok = true;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        ok = infer_graph_types(module, &module->graphs.at[i], diags) && ok;
    return ok;
}
