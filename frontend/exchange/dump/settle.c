#include "frontend/exchange/dump/settle.h"
#include "ir/calls.h"
#include "ir/verify/verify.h"

#include <stdlib.h>

/* Taking an op as it is may show more of others; but not for long. */
enum { ROUNDS = 3 };

/* Errors by their places. */
struct faults {
    const struct diag **at;
    uint32_t count;
};

static int by_begin(const void *a, const void *b)
{
    const struct diag *x = *(const struct diag *const *)a, *y = *(const struct diag *const *)b;
    return x->span.begin < y->span.begin ? -1 : x->span.begin > y->span.begin;
}

static void collect(struct faults *faults, const struct diags *diags)
{
    faults->at = mem_calloc(diags->list.count + 1, sizeof *faults->at);
    faults->count = 0;
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].severity == SEVERITY_ERROR)
            faults->at[faults->count++] = &diags->list.at[i];
    qsort(faults->at, faults->count, sizeof *faults->at, by_begin);
}

/* The first error at a place, or NULL. */
static const struct diag *fault_at(const struct faults *faults, uint32_t loc)
{
    uint32_t low;
    bisect(low, i, faults->count, faults->at[i]->span.begin < loc);
    return low < faults->count && faults->at[low]->span.begin == loc ? faults->at[low] : NULL;
}

static struct range attrs_with(struct module *module, struct range attrs, uint32_t key,
                               uint32_t loc, struct attr_value value)
{
    VEC(struct attr) list = {NULL, 0, 0};
    vec_reserve(&list, attrs.count + 1);
    for (uint32_t i = 0; i < attrs.count; i++)
        vec_push(&list, module->attrs.at[attrs.first + i]);
    vec_push(&list, (struct attr){key, loc, value});
    attrs = module_add_attrs(module, list.at, list.count);
    vec_free(&list);
    return attrs;
}

/* False where that is done already. */
static bool take_as_is(struct dump *dump, struct op *op)
{
    struct module *module = dump->module;
    if (op_call_kind(op) != CALL_NONE) {
        struct attr_value type = {.kind = ATTR_STRING, .id = op->type};
        op->attrs = attrs_with(module, op->attrs, module_name(module, "_type"), op->loc, type);
        op->type = module_name_printf(module, "_%.*s", NAME(module, op->type));
        return true;
    }
    if (attr_flag(module, op->attrs, W__unchecked))
        return false;
    struct attr_value yes = {.kind = ATTR_BOOL, .i = 1};
    op->attrs = attrs_with(module, op->attrs, W__unchecked, op->loc, yes);
    return true;
}

/* Attributes that do not mean here what they mean to skir get a key of their own. */
static const struct diag *settle_attrs(struct dump *dump, const struct op *op,
                                       const struct faults *faults)
{
    const struct diag *found = NULL;
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        struct attr *attr = &dump->module->attrs.at[op->attrs.first + i];
        const struct diag *fault = fault_at(faults, attr->loc);
        if (!fault || attr->loc == op->loc)
            continue;
        found = fault;
        if (op_call_kind(op) == CALL_NONE)
            attr->key = module_name_printf(dump->module, "_%.*s", NAME(dump->module, attr->key));
    }
    return found;
}

static bool settle_op(struct dump *dump, struct op *op, const struct faults *faults)
{
    uint32_t type = op->type;
    const struct diag *in_attrs = settle_attrs(dump, op, faults),
                      *fault = fault_at(faults, op->loc);
    if (!fault && in_attrs && op_call_kind(op) != CALL_NONE)
        fault = in_attrs;
    if (fault ? !take_as_is(dump, op) : !in_attrs)
        return false;
    diag_at(dump->diags, DIAG_taken_as_is, source_token(dump->source, op->loc),
            "taken as it is, not as what skir knows of %.*s: %s", NAME(dump->module, type),
            (fault ? fault : in_attrs)->text);
    return true;
}

static bool settle_graphs(struct dump *dump, const struct faults *faults)
{
    bool changed = false;
    for (uint32_t g = 0; g < dump->module->graphs.count; g++) {
        struct graph *graph = &dump->module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++)
            changed |= settle_op(dump, &graph->ops.at[i], faults);
    }
    return changed;
}

enum settled {
    SETTLED_CLEAN,   /* there was nothing to be said */
    SETTLED_CHANGED, /* so that it is worth to look again */
    SETTLED_WRONG,
};

static enum settled settle_once(struct dump *dump)
{
    struct diags diags;
    struct faults faults;
    diags_init(&diags, dump->source, dump->source->path);
    diags.max_errors = 0;
    bool changed = false;
    if (!verify_module(dump->module, &diags)) {
        collect(&faults, &diags);
        changed = settle_graphs(dump, &faults);
        mem_free(faults.at);
    }
    uint32_t said = diags.counts[SEVERITY_ERROR] + diags.counts[SEVERITY_WARNING] +
                    diags.counts[SEVERITY_REMARK];
    diags_free(&diags);
    return changed ? SETTLED_CHANGED : said ? SETTLED_WRONG : SETTLED_CLEAN;
}

void dump_settle(struct dump *dump)
{
    enum settled settled = SETTLED_CHANGED;
    for (int round = 0; settled == SETTLED_CHANGED && round < ROUNDS; round++)
        settled = settle_once(dump);
    if (settled != SETTLED_CLEAN)
        verify_module(dump->module, dump->diags);
}
