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

/* An element that is a number or a word names an operand that is there. */
static bool verify_place(struct graph_verifier *gv, const struct op *op, const struct attr *attr,
                         uint32_t n)
{
    const struct module *module = gv->module;
    const struct attr_value *place = &module->attr_values.at[attr->value.first + n];
    bool none = attr->key == W_alias && place->kind == ATTR_WORD && place->id == W_none;
    if (none || (place->kind != ATTR_INT && place->kind != ATTR_WORD))
        return true;
    uint32_t named = op_named_place(gv->graph, op, place);
    enum operand_kind kind = named == NONE ? OPERAND_NONE : op_operand(gv->graph, op, named).kind;
    if (kind == OPERAND_VALUE || (kind == OPERAND_LIST && attr->key != W_alias))
        return true;
    struct span span = locate_listed(module, attr->loc, n); /* takes linear time */
    if (named != NONE)
        diag_at(gv->diags, DIAG_operand_label, span, "'%.*s' names an operand that is %s",
                NAME(module, attr->key), kind == OPERAND_NONE ? "'none'" : "a list");
    else if (place->kind == ATTR_INT)
        diag_at(gv->diags, DIAG_number_range, span,
                "'%.*s' names operand %lld of an op that has %u", NAME(module, attr->key),
                (long long)place->i, op_n_places(gv->graph, op));
    else if (diag_at(gv->diags, DIAG_operand_label, span,
                     "no operand of the op has the label '%.*s'", NAME(module, place->id)))
        diag_help(gv->diags, "operands without labels are named by their numbers, from 0");
    return false;
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

void verify_places(struct graph_verifier *gv, const struct op *op)
{
    uint32_t results = op->results.count;
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &gv->module->attrs.at[op->attrs.first + i];
        bool alias = attr->key == W_alias;
        uint32_t count = attr->value.count;
        gv->verifier->shared_names |= attr->key == W_shared_name;
        if ((attr->key != W_inplace && !alias) || attr->value.kind != ATTR_LIST)
            continue;
        if (alias && count != results) {
            if (diag_at(gv->diags, DIAG_alias, locate_token(gv->module, attr->loc),
                        "'alias' has %u element%s, but the op has %u result%s", count,
                        count == 1 ? "" : "s", results, results == 1 ? "" : "s"))
                diag_help(gv->diags,
                          "for each result write the operand whose memory it is, or 'none'");
            continue;
        }
        for (uint32_t n = 0; n < count; n++)
            if (verify_place(gv, op, attr, n) && alias)
                verify_alias_type(gv, op, attr, n);
    }
}

/* ------------------------------------------------------------------------- variables ---- */

/* The first variable of a name: its op, by graph. */
struct variable {
    uint32_t graph, op;
};

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
static void verify_variable(struct verifier *verifier, const struct graph *graph,
                            const struct op *op, const struct variable *first)
{
    const struct module *module = verifier->module;
    struct diags *diags = verifier->diags;
    const struct graph *first_graph = &module->graphs.at[first->graph];
    const struct op *other = &first_graph->ops.at[first->op];
    struct intern_name own = container_name(module, op), before = container_name(module, other);
    uint32_t name = op_shared_name(module, op);
    bool same = own.size == before.size && memcmp(own.text, before.text, own.size) == 0;
    if (!same &&
        diag_at(diags, DIAG_alias, locate_op(module, op, OP_TYPE_NAME, 0),
                "variable \"%.*s\" is in container \"%.*s\" here, but in \"%.*s\" before",
                NAME(module, name), (int)own.size, own.text, (int)before.size, before.text)) {
        diag_note(diags, locate_op(module, other, OP_TYPE_NAME, 0), "it is here");
        diag_help(diags, "'shared_name' alone names the memory: give one of the two another "
                         "'shared_name', or both one container");
    }
    if (op->results.count == 0 || other->results.count == 0)
        return;
    uint32_t type = graph->values.at[op->results.first].type;
    uint32_t other_type = first_graph->values.at[other->results.first].type;
    if (!types_share(module, type, other_type) &&
        diag_at(diags, DIAG_alias, locate_op(module, op, OP_RESULT_TYPE, 0),
                "this is %s, but variable \"%.*s\" is %s", type_text(module, type, &diags->arena),
                NAME(module, name), type_text(module, other_type, &diags->arena)))
        diag_note(diags, locate_op(module, other, OP_RESULT_TYPE, 0), "it is here");
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

void verify_returned(const struct module *module, const struct graph *graph, struct diags *diags)
{
    struct memories memories;
    struct id_map last = {NULL, 0, 0};     /* by memory: the last op in the text that writes it */
    struct id_map position = {NULL, 0, 0}; /* by op: its place in the text */
    memories_init(&memories, module, graph);
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        uint32_t id = item_id(graph->body.at[i]);
        struct op_write write = {0};
        id_map_set(&position, id, i);
        while (op_next_write(module, graph, &graph->ops.at[id], &write))
            id_map_set(&last, memory_of(&memories, write.operand), id);
    }
    for (uint32_t i = 0; i < graph->returns.count; i++) {
        const struct value *value = &graph->values.at[graph->returns.at[i]];
        uint32_t writer = id_map_find(&last, memory_of(&memories, graph->returns.at[i]));
        if (writer == NONE || value->def >= graph->ops.count ||
            id_map_get(&position, writer) <= id_map_get(&position, value->def))
            continue;
        if (diag_at(diags, DIAG_return_overwritten, locate_return(module, graph, i),
                    "the memory of '%%%.*s' is written behind its definition, and read when all "
                    "ops are complete",
                    NAME(module, value->name)))
            diag_note(diags, locate_op(module, &graph->ops.at[writer], OP_TYPE_NAME, 0),
                      "the last to write it is this op");
    }
    memories_free(&memories);
    id_map_free(&last);
    id_map_free(&position);
}

/* --------------------------------------------------------------------- addresses ---- */

/* ------------------------------------------------------------------------ one address ---- */

static const char *text_of(struct graph_verifier *gv, const struct address *address)
{
    return address_text(gv->module, address, &gv->diags->arena);
}

/* `part`: an op may access less of an operand than there is. */
static bool verify_one(struct graph_verifier *gv, struct span span,
                       const struct attr_value *element, uint32_t type, bool part,
                       struct address *address)
{
    uint64_t bytes;
    bool exact;
    enum address_state state = address_read(gv->module, element, type, address);
    if (state == ADDRESS_UNSIZED && type == NONE)
        diag_at(gv->diags, DIAG_address, span, "a workspace has a length: a second number");
    else if (state == ADDRESS_UNSIZED &&
             diag_at(gv->diags, DIAG_address, span,
                     "the length is not known: it does not follow from the type %s",
                     type_text(gv->module, type, &gv->diags->arena)))
        diag_help(gv->diags, "write it behind where it begins, as in [pool, 0, 4096]");
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

/* ------------------------------------------------------------------------------- ops ---- */

struct op_addresses {
    struct graph_verifier *gv;
    const struct addresses *addresses;
    const struct op *op;
};

/* The list of an op's addresses under a key; NULL where it has none. */
static const struct attr *address_list(const struct op_addresses *oa, uint32_t key, uint32_t room)
{
    struct graph_verifier *gv = oa->gv;
    const struct attr *list = op_address_list(gv->module, oa->op, key);
    if (list && list->value.count > room)
        diag_at(gv->diags, DIAG_address, locate_token(gv->module, list->loc),
                "'%.*s' has %u addresses, but the op has %u %s%s", NAME(gv->module, list->key),
                list->value.count, room, key == W_operands ? "operand" : "result",
                room == 1 ? "" : "s");
    return list;
}

static void verify_operands_of(const struct op_addresses *oa)
{
    struct graph_verifier *gv = oa->gv;
    uint32_t n_places = op_n_places(gv->graph, oa->op);
    const struct attr *list = address_list(oa, W_operands, n_places);
    struct address address;
    for (uint32_t place = 0; list && place < n_places && place < list->value.count; place++) {
        struct range values = op_operand(gv->graph, oa->op, place).values;
        struct span span = locate_listed(gv->module, list->loc, place);
        for (uint32_t n = 0; n < values.count; n++) {
            uint32_t id = gv->graph->refs.at[values.first + n];
            const struct value *value = &gv->graph->values.at[id];
            const struct attr_value *element =
                op_operand_address(gv->module, gv->graph, oa->op, place, n);
            if (!verify_one(gv, span, element, value->type, true, &address))
                continue;
            const struct address *known = addresses_find(oa->addresses, id);
            if (known && !address_holds(known, &address))
                diag_at(gv->diags, DIAG_address, span, "%s are no part of '%%%.*s', which is at %s",
                        text_of(gv, &address), NAME(gv->module, value->name), text_of(gv, known));
        }
    }
}

/* What is said at a result's definition is true of all that is one memory with it. */
static void verify_results_of(const struct op_addresses *oa)
{
    struct graph_verifier *gv = oa->gv;
    const struct module *module = gv->module;
    const struct value *values = gv->graph->values.at;
    uint32_t n_results = oa->op->results.count;
    const struct attr *list = address_list(oa, W_results, n_results);
    struct address address;
    for (uint32_t n = 0; list && n < list->value.count && n < n_results; n++) {
        struct span span = locate_listed(module, list->loc, n);
        uint32_t value = oa->op->results.first + n, type = values[value].type;
        const struct attr_value *element = op_result_address(module, oa->op, n);
        if (type == gv->token && address_is_one(module, element)) {
            diag_at(gv->diags, DIAG_address, span, "a token has no memory");
            continue;
        }
        if (!verify_one(gv, span, element, type, false, &address))
            continue;
        const struct address *known = addresses_find(oa->addresses, value);
        uint32_t first = memory_of(&oa->addresses->memories, value);
        if (known && (known->buffer != address.buffer || known->low != address.low))
            diag_at(gv->diags, DIAG_address, span,
                    "this says %s, but '%%%.*s' is one memory with '%%%.*s', which is at %s",
                    text_of(gv, &address), NAME(module, values[value].name),
                    NAME(module, values[first].name), text_of(gv, known));
    }
}

/* ------------------------------------------------------------------- within one op ---- */

static int compare_accesses(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->address.buffer != y->address.buffer)
        return x->address.buffer < y->address.buffer ? -1 : 1;
    return (x->address.low > y->address.low) - (x->address.low < y->address.low);
}

static void verify_meeting(const struct op_addresses *oa, const struct access *a,
                           const struct access *b)
{
    struct graph_verifier *gv = oa->gv;
    const struct memories *memories = &oa->addresses->memories;
    if (!a || !address_meets(&a->address, &b->address))
        return;
    bool one = a->value != NONE && b->value != NONE &&
               memory_of(memories, a->value) == memory_of(memories, b->value);
    /* Buffers by their names may be both read and written. */
    bool whole = a->value == NONE && a->address.high == INT64_MAX && b->value == NONE &&
                 b->address.high == INT64_MAX;
    if (!one && !whole &&
        diag_at(gv->diags, DIAG_overlap, locate_op(gv->module, oa->op, OP_TYPE_NAME, 0),
                "this op accesses %s and %s, and writes one of them",
                access_text(gv->module, gv->graph, a, &gv->diags->arena),
                access_text(gv->module, gv->graph, b, &gv->diags->arena)))
        diag_help(gv->diags, "give one of them other memory; an operand that the op writes into "
                             "is one of its 'inplace'");
}

/* Operands may meet of which the op writes all or none; so may a result and an operand that it
 * writes. What it reads by one name and writes into by another, it updates by both. Of all other
 * accesses that meet, neighbours in memory are enough. */
static void verify_alone(const struct op_addresses *oa)
{
    static const uint8_t against[] = {
        [ACCESS_READ] = 1 << ACCESS_WRITE | 1 << ACCESS_UPDATE,
        [ACCESS_WRITE] = 1 << ACCESS_READ | 1 << ACCESS_WRITE,
        [ACCESS_UPDATE] = 1 << ACCESS_READ,
    };
    const struct memories *memories = &oa->addresses->memories;
    struct accesses accesses = {NULL, 0, 0};
    struct id_map updated = {NULL, 0, 0};
    const struct access *last[] = {NULL, NULL, NULL}; /* by kind: the one that ends the furthest */
    addresses_of_op(oa->addresses, oa->op, &accesses);
    for (uint32_t i = 0; i < accesses.count; i++)
        if (accesses.at[i].kind == ACCESS_UPDATE && accesses.at[i].value != NONE)
            id_map_set(&updated, memory_of(memories, accesses.at[i].value), i);
    for (uint32_t i = 0; i < accesses.count; i++)
        if (accesses.at[i].kind == ACCESS_READ && accesses.at[i].value != NONE &&
            id_map_find(&updated, memory_of(memories, accesses.at[i].value)) != NONE)
            accesses.at[i].kind = ACCESS_UPDATE;
    id_map_free(&updated);
    if (accesses.count)
        qsort(accesses.at, accesses.count, sizeof *accesses.at, compare_accesses);
    for (uint32_t i = 0; i < accesses.count; i++) {
        const struct access *access = &accesses.at[i], **end = &last[access->kind];
        for (int kind = ACCESS_READ; kind <= ACCESS_UPDATE; kind++)
            if (against[access->kind] & 1 << kind)
                verify_meeting(oa, last[kind], access);
        if (!*end || (*end)->address.buffer != access->address.buffer ||
            (*end)->address.high < access->address.high)
            *end = access;
    }
    vec_free(&accesses);
}

void verify_addresses(struct graph_verifier *gv)
{
    const struct module *module = gv->module;
    struct addresses addresses;
    struct address address;
    addresses_init(&addresses, module, gv->graph);
    for (uint32_t i = 0; i < gv->graph->n_params && addresses.any; i++) {
        const struct attr *attr = attr_find(module, gv->graph->params.at[i].attrs, W_address);
        if (attr)
            verify_one(gv, locate_token(module, attr->loc), &attr->value,
                       gv->graph->values.at[i].type, false, &address);
    }
    for (uint32_t i = 0; i < gv->graph->ops.count && addresses.any; i++) {
        const struct op *op = &gv->graph->ops.at[i];
        const struct op_addresses oa = {gv, &addresses, op};
        const struct attr *workspaces = op_address_list(module, op, W_workspace);
        verify_operands_of(&oa);
        verify_results_of(&oa);
        for (uint32_t n = 0; workspaces && n < workspaces->value.count; n++)
            verify_one(gv, locate_listed(module, workspaces->loc, n),
                       op_workspace_address(module, op, n), NONE, false, &address);
        if (!op_is_passive(module, gv->graph, op))
            verify_alone(&oa);
    }
    addresses_free(&addresses);
}

/* ----------------------------------------------------------------------- among ops ---- */

static struct span op_span(const struct verifier *verifier, const struct graph *graph, uint32_t op)
{
    return locate_op(verifier->module, &graph->ops.at[op], OP_TYPE_NAME, 0);
}

void verify_overlaps(struct verifier *verifier, const struct graph *graph,
                     const struct order *order)
{
    const struct module *module = verifier->module;
    struct diags *diags = verifier->diags;
    struct overlaps overlaps;
    overlaps_find(&overlaps, module, graph, order);
    for (uint32_t i = 0; i < overlaps.unordered.count; i++) {
        const struct overlap *overlap = &overlaps.unordered.at[i];
        const struct op *from = &graph->ops.at[overlap->from];
        if (!diag_at(diags, DIAG_overlap, op_span(verifier, graph, overlap->to),
                     "this op %s %s, the %.*s %s %s, and nothing orders the two",
                     overlap->later.kind == ACCESS_READ ? "reads" : "writes",
                     access_text(module, graph, &overlap->later, &diags->arena),
                     NAME(module, from->type),
                     overlap->first.kind == ACCESS_READ ? "reads" : "writes",
                     access_text(module, graph, &overlap->first, &diags->arena)))
            continue;
        diag_note(diags, op_span(verifier, graph, overlap->from), "the %.*s",
                  NAME(module, from->type));
        if (from->results.count)
            diag_help(diags,
                      "put it behind the %.*s by 'after (%%%.*s)' or an event, or give it other "
                      "memory",
                      NAME(module, from->type),
                      NAME(module, graph->values.at[from->results.first].name));
        else
            diag_help(
                diags,
                "put it behind the %.*s by an event ('send', 'recv'), or give it other memory",
                NAME(module, from->type));
    }
    for (uint32_t i = 0; i < overlaps.overwritten.count; i++) {
        const struct overwrite *overwrite = &overlaps.overwritten.at[i];
        uint32_t writer = graph->ops.at[overwrite->writer].type;
        struct span span = overwrite->op == NONE ? locate_return(module, graph, overwrite->index)
                                                 : op_span(verifier, graph, overwrite->op);
        if (diag_at(diags, DIAG_overwritten, span,
                    "'%%%.*s' is read here from %s, where the %.*s has written %s since",
                    NAME(module, graph->values.at[overwrite->read.value].name),
                    address_text(module, &overwrite->read.address, &diags->arena),
                    NAME(module, writer),
                    access_text(module, graph, &overwrite->write, &diags->arena)))
            diag_note(diags, op_span(verifier, graph, overwrite->writer), "the %.*s",
                      NAME(module, writer));
    }
    overlaps_free(&overlaps);
}
