/* The verifier's part for memory that is shared: what `inplace` and `alias` name, variables, and
 * addresses (docs/language.md, "Addresses"). An address is memory that there can be and fits its
 * type, those of one op do not contradict each other, and ops that access the same bytes are
 * ordered. */
#include "ir/analysis/hazards.h"
#include "ir/analysis/modref.h"
#include "ir/core/operands.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/verify_internal.h"

#include <stdlib.h>

/* Whether values of these types can be one memory: equal in dtype and, where it is known, in the
 * number of elements. */
static bool types_share(const struct module *module, uint32_t a, uint32_t b)
{
    uint64_t of_a, of_b;
    if (a == NONE || b == NONE || a == b)
        return true;
    enum dtype dtype_a = module->types.at[a].dtype, dtype_b = module->types.at[b].dtype;
    if (dtype_a != dtype_b && dtype_a != DTYPE_UNKNOWN && dtype_b != DTYPE_UNKNOWN)
        return false;
    return !type_elements(module, a, &of_a) || !type_elements(module, b, &of_b) || of_a == of_b;
}

/* ------------------------------------------------------------------------------- ops ---- */

static void unknown_place(struct graph_verifier *gv, const struct op *op, const struct attr *attr,
                          uint32_t n)
{
    const struct attr_value *place = &gv->module->attr_values.at[attr->value.first + n];
    struct span span = locate_listed(gv->module, attr->loc, n);
    if (place->kind == ATTR_INT)
        diag_at(gv->diags, DIAG_number_range, span,
                "'%.*s' names operand %lld of an op that has %u", NAME(gv->module, attr->key),
                (long long)place->i, op_n_places(gv->graph, op));
    else if (diag_at(gv->diags, DIAG_operand_label, span,
                     "no operand of the op has the label '%.*s'", NAME(gv->module, place->id)))
        diag_help(gv->diags, "operands without labels are named by their numbers, from 0");
}

/* An element that is a number or a word names an operand that is there. */
static bool verify_place(struct graph_verifier *gv, const struct op *op, const struct attr *attr,
                         uint32_t n)
{
    const struct attr_value *place = &gv->module->attr_values.at[attr->value.first + n];
    bool none = attr->key == W_alias && place->kind == ATTR_WORD && place->id == W_none;
    if (none || (place->kind != ATTR_INT && place->kind != ATTR_WORD))
        return true;
    uint32_t named = op_named_place(gv->graph, op, place);
    if (named == NONE) {
        unknown_place(gv, op, attr, n);
        return false;
    }
    enum operand_kind kind = op_operand(gv->graph, op, named).kind;
    bool wrong = kind == OPERAND_NONE || (kind == OPERAND_LIST && attr->key == W_alias);
    if (wrong)
        diag_at(gv->diags, DIAG_operand_label, locate_listed(gv->module, attr->loc, n),
                "'%.*s' names an operand that is %s", NAME(gv->module, attr->key),
                kind == OPERAND_NONE ? "'none'" : "a list");
    return !wrong;
}

static void verify_alias_type(struct graph_verifier *gv, const struct op *op,
                              const struct attr *alias, uint32_t n)
{
    const struct module *module = gv->module;
    uint32_t operand = op_place(gv->graph, op, &module->attr_values.at[alias->value.first + n]);
    if (operand == NONE)
        return;
    uint32_t own = gv->graph->values.at[op->results.first + n].type;
    uint32_t other = gv->graph->values.at[operand].type;
    if (own == module->token || other == module->token) {
        diag_at(gv->diags, DIAG_alias, locate_listed(module, alias->loc, n),
                "a token has no memory that could be another's");
        return;
    }
    if (types_share(module, own, other))
        return;
    if (diag_at(gv->diags, DIAG_alias, locate_op(module, op, OP_RESULT_TYPE, n),
                "this is %s, but the memory of '%%%.*s' is %s",
                type_text(module, own, &gv->diags->arena),
                NAME(module, gv->graph->values.at[operand].name),
                type_text(module, other, &gv->diags->arena)))
        diag_note(gv->diags, locate_listed(module, alias->loc, n),
                  "this says that they are one memory: equal dtypes, as many elements");
}

static void verify_alias(struct graph_verifier *gv, const struct op *op, const struct attr *alias)
{
    uint32_t count = alias->value.count, results = op->results.count;
    if (count != results) {
        if (diag_at(gv->diags, DIAG_alias, locate_token(gv->module, alias->loc),
                    "'alias' has %u element%s, but the op has %u result%s", count,
                    count == 1 ? "" : "s", results, results == 1 ? "" : "s"))
            diag_help(gv->diags, "for each result write the operand whose memory it is, or 'none'");
        return;
    }
    for (uint32_t n = 0; n < count; n++)
        if (verify_place(gv, op, alias, n))
            verify_alias_type(gv, op, alias, n);
}

void verify_places(struct graph_verifier *gv, const struct op *op)
{
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &gv->module->attrs.at[op->attrs.first + i];
        gv->verifier->shared_names |= attr->key == W_shared_name;
        if ((attr->key != W_inplace && attr->key != W_alias) || attr->value.kind != ATTR_LIST)
            continue;
        if (attr->key == W_alias)
            verify_alias(gv, op, attr);
        else
            for (uint32_t n = 0; n < attr->value.count; n++)
                verify_place(gv, op, attr, n);
    }
}

/* ------------------------------------------------------------------------- variables ---- */

/* The first variable of a name: its op, by graph. */
struct variable {
    uint32_t graph, op;
};

static uint32_t result_type(const struct graph *graph, const struct op *op)
{
    return op->results.count ? graph->values.at[op->results.first].type : NONE;
}

/* The container of a variable, "" for the default one. */
static struct intern_name container_name(const struct module *module, const struct op *op)
{
    static const char key[] = "container";
    static const struct intern_name none = {"", 0, 0};
    uint32_t id = intern_find(&module->names, key, sizeof key - 1);
    uint32_t name = id == NONE ? NONE : attr_string(module, op->attrs, id);
    return name == NONE ? none : module->names.names[name];
}

/* The source systems name a variable by its container and its `shared_name`, skir by the latter
 * alone. */
static void verify_container(struct verifier *verifier, const struct op *op, const struct op *other)
{
    const struct module *module = verifier->module;
    struct intern_name own = container_name(module, op), first = container_name(module, other);
    if (own.size == first.size && memcmp(own.text, first.text, own.size) == 0)
        return;
    if (!diag_at(verifier->diags, DIAG_alias, locate_op(module, op, OP_TYPE_NAME, 0),
                 "variable \"%.*s\" is in container \"%.*s\" here, but in \"%.*s\" before",
                 NAME(module, op_shared_name(module, op)), (int)own.size, own.text, (int)first.size,
                 first.text))
        return;
    diag_note(verifier->diags, locate_op(module, other, OP_TYPE_NAME, 0), "it is here");
    diag_help(verifier->diags, "'shared_name' alone names the memory: give one of the two another "
                               "'shared_name', or both one container");
}

static void verify_variable(struct verifier *verifier, const struct graph *graph,
                            const struct op *op, const struct variable *first)
{
    const struct module *module = verifier->module;
    const struct graph *first_graph = &module->graphs.at[first->graph];
    const struct op *other = &first_graph->ops.at[first->op];
    uint32_t type = result_type(graph, op), other_type = result_type(first_graph, other);
    verify_container(verifier, op, other);
    if (types_share(module, type, other_type))
        return;
    if (diag_at(verifier->diags, DIAG_alias, locate_op(module, op, OP_RESULT_TYPE, 0),
                "this is %s, but variable \"%.*s\" is %s",
                type_text(module, type, &verifier->diags->arena),
                NAME(module, op_shared_name(module, op)),
                type_text(module, other_type, &verifier->diags->arena)))
        diag_note(verifier->diags, locate_op(module, other, OP_RESULT_TYPE, 0), "it is here");
}

void verify_variables(struct verifier *verifier)
{
    const struct module *module = verifier->module;
    VEC(struct variable) variables = {NULL, 0, 0};
    struct id_map of_name = {NULL, 0, 0};
    for (uint32_t g = 0; g < module->graphs.count && verifier->shared_names; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            const struct op *op = &graph->ops.at[i];
            uint32_t name = op->attrs.count ? op_shared_name(module, op) : NONE;
            if (name == NONE)
                continue;
            uint32_t *first = id_map_at(&of_name, name);
            if (*first != NONE) {
                verify_variable(verifier, graph, op, &variables.at[*first]);
                continue;
            }
            *first = variables.count;
            vec_push(&variables, ((struct variable){g, i}));
        }
    }
    id_map_free(&of_name);
    vec_free(&variables);
}

/* ------------------------------------------------------------------------- returns ---- */

/* Per value that stands for a memory: the last op in the text that writes it, or NONE; and per op
 * its place in the text. */
struct writers {
    struct memories memories;
    struct id_map last, position;
};

static void find_writers(struct writers *writers, const struct module *module,
                         const struct graph *graph)
{
    memories_init(&writers->memories, module, graph);
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        uint32_t id = item_id(graph->body.at[i]);
        struct op_write write = {0};
        id_map_set(&writers->position, id, i);
        while (op_next_write(module, graph, &graph->ops.at[id], &write))
            id_map_set(&writers->last, memory_of(&writers->memories, write.operand), id);
    }
}

static void check_returned(const struct writers *writers, const struct module *module,
                           const struct graph *graph, uint32_t n, struct diags *diags)
{
    const struct value *value = &graph->values.at[graph->returns.at[n]];
    uint32_t writer =
        id_map_find(&writers->last, memory_of(&writers->memories, graph->returns.at[n]));
    if (writer == NONE || value->def >= graph->ops.count ||
        id_map_get(&writers->position, writer) <= id_map_get(&writers->position, value->def))
        return;
    if (diag_at(diags, DIAG_return_overwritten, locate_return(module, graph, n),
                "the memory of '%%%.*s' is written behind its definition, and read when all ops "
                "are complete",
                NAME(module, value->name)))
        diag_note(diags, locate_op(module, &graph->ops.at[writer], OP_TYPE_NAME, 0),
                  "the last to write it is this op");
}

void verify_returned(const struct module *module, const struct graph *graph, struct diags *diags)
{
    struct writers writers = {.memories = {NULL}};
    find_writers(&writers, module, graph);
    for (uint32_t i = 0; i < graph->returns.count; i++)
        check_returned(&writers, module, graph, i, diags);
    memories_free(&writers.memories);
    id_map_free(&writers.last);
    id_map_free(&writers.position);
}

/* --------------------------------------------------------------------- addresses ---- */

/* ------------------------------------------------------------------------ one address ---- */

static const char *text_of(struct graph_verifier *gv, const struct address *address)
{
    return address_text(gv->module, address, &gv->diags->arena);
}

static void report_unsized(struct graph_verifier *gv, struct span span, uint32_t type)
{
    if (!diag_at(gv->diags, DIAG_address, span,
                 type == NONE ? "a workspace has a length: a second number"
                              : "the length is not known: it does not follow from the type %s",
                 type == NONE ? "" : type_text(gv->module, type, &gv->diags->arena)))
        return;
    if (type != NONE)
        diag_help(gv->diags, "write it behind where it begins, as in [pool, 0, 4096]");
}

/* `part`: an op may access less of an operand than there is. */
static bool verify_one(struct graph_verifier *gv, struct span span,
                       const struct attr_value *element, uint32_t type, bool part,
                       struct address *address)
{
    uint64_t bytes;
    bool exact;
    enum address_state state = address_read(gv->module, element, type, address);
    if (state == ADDRESS_UNSIZED)
        report_unsized(gv, span, type);
    if (state == ADDRESS_OUTSIDE)
        diag_at(gv->diags, DIAG_address, span, "memory begins at 0 or later, and ends below 2^63");
    if (state != ADDRESS_KNOWN)
        return false;
    if (!part && type_bytes(gv->module, type, &bytes, &exact) &&
        (uint64_t)(address->high - address->low) < bytes)
        diag_at(gv->diags, DIAG_address, span, "%s are fewer than the %llu bytes of %s",
                text_of(gv, address), (unsigned long long)bytes,
                type_text(gv->module, type, &gv->diags->arena));
    return true;
}

static void verify_count(struct graph_verifier *gv, const struct attr *list, uint32_t count,
                         uint32_t room, const char *what)
{
    if (count > room)
        diag_at(gv->diags, DIAG_address, locate_token(gv->module, list->loc),
                "'%.*s' has %u addresses, but the op has %u %s%s", NAME(gv->module, list->key),
                count, room, what, room == 1 ? "" : "s");
}

/* What stands at a parameter's or result's definition holds of all that is one memory with it. */
static void verify_joined(struct graph_verifier *gv, const struct addresses *addresses,
                          struct span span, uint32_t value, const struct address *address)
{
    const struct address *known = addresses_find(addresses, value);
    if (!known || (known->buffer == address->buffer && known->low == address->low))
        return;
    uint32_t first = memory_of(&addresses->memories, value);
    diag_at(gv->diags, DIAG_address, span,
            "this says %s, but '%%%.*s' is one memory with '%%%.*s', which is at %s",
            text_of(gv, address), NAME(gv->module, gv->graph->values.at[value].name),
            NAME(gv->module, gv->graph->values.at[first].name), text_of(gv, known));
}

/* ------------------------------------------------------------------------------- ops ---- */

struct op_addresses {
    struct graph_verifier *gv;
    const struct addresses *addresses;
    const struct op *op;
};

static void verify_operand(const struct op_addresses *oa, struct span span,
                           const struct attr_value *element, uint32_t value)
{
    struct graph_verifier *gv = oa->gv;
    struct address address;
    if (!verify_one(gv, span, element, gv->graph->values.at[value].type, true, &address))
        return;
    const struct address *known = addresses_find(oa->addresses, value);
    if (known && !address_holds(known, &address))
        diag_at(gv->diags, DIAG_address, span, "%s are no part of '%%%.*s', which is at %s",
                text_of(gv, &address), NAME(gv->module, gv->graph->values.at[value].name),
                text_of(gv, known));
}

static void verify_operands_of(const struct op_addresses *oa, const struct attr *list)
{
    struct graph_verifier *gv = oa->gv;
    uint32_t n_places = op_n_places(gv->graph, oa->op);
    verify_count(gv, list, list->value.count, n_places, "operand");
    for (uint32_t place = 0; place < n_places && place < list->value.count; place++) {
        struct range values = op_operand(gv->graph, oa->op, place).values;
        struct span span = locate_listed(gv->module, list->loc, place);
        for (uint32_t n = 0; n < values.count; n++)
            verify_operand(oa, span, op_operand_address(gv->module, gv->graph, oa->op, place, n),
                           gv->graph->refs.at[values.first + n]);
    }
}

static void verify_results_of(const struct op_addresses *oa, const struct attr *list)
{
    struct graph_verifier *gv = oa->gv;
    struct address address;
    verify_count(gv, list, list->value.count, oa->op->results.count, "result");
    for (uint32_t n = 0; n < list->value.count && n < oa->op->results.count; n++) {
        struct span span = locate_listed(gv->module, list->loc, n);
        uint32_t value = oa->op->results.first + n, type = gv->graph->values.at[value].type;
        const struct attr_value *element = op_result_address(gv->module, oa->op, n);
        if (type == gv->token && address_is_one(gv->module, element))
            diag_at(gv->diags, DIAG_address, span, "a token has no memory");
        else if (verify_one(gv, span, element, type, false, &address))
            verify_joined(gv, oa->addresses, span, value, &address);
    }
}

static void verify_workspaces_of(const struct op_addresses *oa, const struct attr *list)
{
    struct address address;
    for (uint32_t n = 0; n < list->value.count; n++)
        verify_one(oa->gv, locate_listed(oa->gv->module, list->loc, n),
                   op_workspace_address(oa->gv->module, oa->op, n), NONE, false, &address);
}

/* ------------------------------------------------------------------- within one op ---- */

/* Where an access of a kind that others must not meet ends the furthest. */
static const struct access *furthest(const struct access *a, const struct access *b)
{
    return !a || a->address.buffer != b->address.buffer || a->address.high < b->address.high ? b
                                                                                             : a;
}

static int compare_accesses(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->address.buffer != y->address.buffer)
        return x->address.buffer < y->address.buffer ? -1 : 1;
    return (x->address.low > y->address.low) - (x->address.low < y->address.low);
}

static bool is_one_memory(const struct op_addresses *oa, const struct access *a,
                          const struct access *b)
{
    const struct memories *memories = &oa->addresses->memories;
    return a->value != NONE && b->value != NONE &&
           memory_of(memories, a->value) == memory_of(memories, b->value);
}

/* Whether it is a buffer by its name, which an op may both read and write. */
static bool is_whole(const struct access *access)
{
    return access->value == NONE && access->address.high == INT64_MAX;
}

static void verify_meeting(const struct op_addresses *oa, const struct access *a,
                           const struct access *b)
{
    struct graph_verifier *gv = oa->gv;
    if (!a || !address_meets(&a->address, &b->address) || is_one_memory(oa, a, b) ||
        (is_whole(a) && is_whole(b)))
        return;
    if (diag_at(gv->diags, DIAG_overlap, locate_op(gv->module, oa->op, OP_TYPE_NAME, 0),
                "this op accesses %s and %s, and writes one of them",
                access_text(gv->module, gv->graph, a, &gv->diags->arena),
                access_text(gv->module, gv->graph, b, &gv->diags->arena)))
        diag_help(gv->diags, "give one of them other memory; an operand that the op writes into "
                             "is one of its 'inplace'");
}

/* What an op reads by one name and writes into by another, it updates by both. */
static void join_updates(const struct op_addresses *oa, struct accesses *accesses)
{
    const struct memories *memories = &oa->addresses->memories;
    struct id_map updated = {0};
    for (uint32_t i = 0; i < accesses->count; i++)
        if (accesses->at[i].kind == ACCESS_UPDATE && accesses->at[i].value != NONE)
            id_map_set(&updated, memory_of(memories, accesses->at[i].value), i);
    for (uint32_t i = 0; i < accesses->count; i++)
        if (accesses->at[i].kind == ACCESS_READ && accesses->at[i].value != NONE &&
            id_map_find(&updated, memory_of(memories, accesses->at[i].value)) != NONE)
            accesses->at[i].kind = ACCESS_UPDATE;
    id_map_free(&updated);
}

/* Operands may meet of which the op writes all or none; so may a result and an operand that it
 * writes. Of all other accesses that meet, those beside each other in memory are enough. */
static void verify_alone(const struct op_addresses *oa)
{
    static const uint8_t against[] = {
        [ACCESS_READ] = 1 << ACCESS_WRITE | 1 << ACCESS_UPDATE,
        [ACCESS_WRITE] = 1 << ACCESS_READ | 1 << ACCESS_WRITE,
        [ACCESS_UPDATE] = 1 << ACCESS_READ,
    };
    struct accesses accesses = {NULL, 0, 0};
    const struct access *last[] = {NULL, NULL, NULL};
    addresses_of_op(oa->addresses, oa->op, &accesses);
    join_updates(oa, &accesses);
    if (accesses.count)
        qsort(accesses.at, accesses.count, sizeof *accesses.at, compare_accesses);
    for (uint32_t i = 0; i < accesses.count; i++) {
        const struct access *access = &accesses.at[i];
        for (int kind = ACCESS_READ; kind <= ACCESS_UPDATE; kind++)
            if (against[access->kind] & 1 << kind)
                verify_meeting(oa, last[kind], access);
        last[access->kind] = furthest(last[access->kind], access);
    }
    vec_free(&accesses);
}

static void verify_op_addresses(struct graph_verifier *gv, const struct addresses *addresses,
                                const struct op *op)
{
    const struct op_addresses oa = {gv, addresses, op};
    const struct attr *operands = op_address_list(gv->module, op, W_operands);
    const struct attr *results = op_address_list(gv->module, op, W_results);
    const struct attr *workspaces = op_address_list(gv->module, op, W_workspace);
    if (operands)
        verify_operands_of(&oa, operands);
    if (results)
        verify_results_of(&oa, results);
    if (workspaces)
        verify_workspaces_of(&oa, workspaces);
    if (!op_is_passive(gv->module, gv->graph, op))
        verify_alone(&oa);
}

static void verify_param(struct graph_verifier *gv, uint32_t param)
{
    struct address address;
    const struct attr *attr = attr_find(gv->module, gv->graph->params.at[param].attrs, W_address);
    if (attr)
        verify_one(gv, locate_token(gv->module, attr->loc), &attr->value,
                   gv->graph->values.at[param].type, false, &address);
}

void verify_addresses(struct graph_verifier *gv)
{
    struct addresses addresses;
    addresses_init(&addresses, gv->module, gv->graph);
    for (uint32_t i = 0; i < gv->graph->n_params && addresses.any; i++)
        verify_param(gv, i);
    for (uint32_t i = 0; i < gv->graph->ops.count && addresses.any; i++)
        verify_op_addresses(gv, &addresses, &gv->graph->ops.at[i]);
    addresses_free(&addresses);
}

/* ----------------------------------------------------------------------- among ops ---- */

static const char *does(const struct access *access)
{
    return access->kind == ACCESS_READ ? "reads" : "writes";
}

static struct span op_span(const struct verifier *verifier, const struct graph *graph, uint32_t op)
{
    return locate_op(verifier->module, &graph->ops.at[op], OP_TYPE_NAME, 0);
}

/* How to put one op behind another. */
static void help_order(struct verifier *verifier, const struct graph *graph, uint32_t from)
{
    const struct op *op = &graph->ops.at[from];
    if (op->results.count)
        diag_help(verifier->diags,
                  "put it behind the %.*s by 'after (%%%.*s)' or an event, or give it other memory",
                  NAME(verifier->module, op->type),
                  NAME(verifier->module, graph->values.at[op->results.first].name));
    else
        diag_help(verifier->diags,
                  "put it behind the %.*s by an event ('send', 'recv'), or give it other memory",
                  NAME(verifier->module, op->type));
}

static void report_unordered(struct verifier *verifier, const struct graph *graph,
                             const struct overlap *overlap)
{
    const struct module *module = verifier->module;
    struct arena *arena = &verifier->diags->arena;
    uint32_t from = graph->ops.at[overlap->from].type;
    if (!diag_at(verifier->diags, DIAG_overlap, op_span(verifier, graph, overlap->to),
                 "this op %s %s, the %.*s %s %s, and nothing orders the two", does(&overlap->later),
                 access_text(module, graph, &overlap->later, arena), NAME(module, from),
                 does(&overlap->first), access_text(module, graph, &overlap->first, arena)))
        return;
    diag_note(verifier->diags, op_span(verifier, graph, overlap->from), "the %.*s",
              NAME(module, from));
    help_order(verifier, graph, overlap->from);
}

static void report_overwritten(struct verifier *verifier, const struct graph *graph,
                               const struct overwrite *overwrite)
{
    const struct module *module = verifier->module;
    struct arena *arena = &verifier->diags->arena;
    struct span span = overwrite->op == NONE ? locate_return(module, graph, overwrite->index)
                                             : op_span(verifier, graph, overwrite->op);
    if (diag_at(verifier->diags, DIAG_overwritten, span,
                "'%%%.*s' is read here from %s, where the %.*s has written %s since",
                NAME(module, graph->values.at[overwrite->read.value].name),
                address_text(module, &overwrite->read.address, arena),
                NAME(module, graph->ops.at[overwrite->writer].type),
                access_text(module, graph, &overwrite->write, arena)))
        diag_note(verifier->diags, op_span(verifier, graph, overwrite->writer), "the %.*s",
                  NAME(module, graph->ops.at[overwrite->writer].type));
}

void verify_overlaps(struct verifier *verifier, const struct graph *graph,
                     const struct order *order)
{
    struct overlaps overlaps;
    overlaps_find(&overlaps, verifier->module, graph, order);
    for (uint32_t i = 0; i < overlaps.unordered.count; i++)
        report_unordered(verifier, graph, &overlaps.unordered.at[i]);
    for (uint32_t i = 0; i < overlaps.overwritten.count; i++)
        report_overwritten(verifier, graph, &overlaps.overwritten.at[i]);
    overlaps_free(&overlaps);
}
