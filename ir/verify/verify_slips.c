/* Slips: what is legal, but hardly what was meant. */
#include "ir/attr_rows.h"
#include "ir/contents.h"
#include "ir/dims.h"
#include "ir/meant_names.h"
#include "ir/op_types.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/origins.h"
#include "ir/verify/verify_internal.h"

#include <ctype.h>
#include <string.h>

struct slips {
    const struct module *module;
    struct diags *diags;
    struct id_map keys;  /* by name: the set of owners that have an attribute with a similar key */
    struct id_map types; /* by name of a key: the op type that was last asked for it, or SAID */
};

enum { SAID = 0xfffffffe }; /* no name id */

/* --------------------------------------------------------------------------- words ---- */

static int first_letter(const char *text, size_t size)
{
    return tolower((unsigned char)text[size > 1 && text[0] == '_']);
}

/* Nobody mistypes the first letter, but many words differ in it alone: `heads` is not `reads`. */
static void offer_text(struct suggest *suggest, const char *text, size_t size)
{
    if (suggest->wanted_size &&
        first_letter(text, size) == first_letter(suggest->wanted, suggest->wanted_size))
        suggest_offer(suggest, text, size);
}

static void offer_word(struct suggest *suggest, const struct module *module, uint32_t word)
{
    const struct intern_name *name = &module->names.names[word];
    offer_text(suggest, name->text, name->size);
}

/* Whether the best offer is so near that another word is not likely: by one letter, or two or three
 * of a long word. */
static bool is_slip(const struct suggest *suggest)
{
    return suggest->best && suggest->distance <= 1 + suggest->best_size / 8;
}

/* ------------------------------------------------------------------------ attributes ---- */

/* The attribute of an owner that a key is near to. One that begins with `_` is somebody's own,
 * unless it is near one of skir's that does. */
static struct suggest suggest_key(const struct module *module, enum attr_owner owner, uint32_t key)
{
    struct suggest suggest = name_suggest(module, key);
    bool own = attr_is_private(module, key);
    for (size_t i = 0; i < n_attr_rows; i++)
        if (attr_rows[i].owner == owner && (!own || attr_is_private(module, attr_rows[i].key)))
            offer_word(&suggest, module, attr_rows[i].key);
    return suggest;
}

static bool key_is_near(const struct module *module, enum attr_owner owner, uint32_t key)
{
    if (!attr_owner_is_open(owner) || (key < W_COUNT && attr_row_find(owner, key)))
        return false;
    struct suggest suggest = suggest_key(module, owner, key);
    return is_slip(&suggest);
}

static uint32_t owners_near(const struct module *module, uint32_t key)
{
    uint32_t owners = 0;
    for (int owner = 0; owner < OWNER_COUNT; owner++)
        owners |= (uint32_t)key_is_near(module, owner, key) << owner;
    return owners;
}

/* Looks at each key once, whosever it is. Attributes are fewer than those of all ops together,
 * which share them. */
static bool find_keys(struct slips *slips)
{
    const struct module *module = slips->module;
    bool any = false;
    for (uint32_t i = 0; i < module->attrs.count; i++) {
        uint32_t key = module->attrs.at[i].key;
        if (id_map_find(&slips->keys, key) != NONE)
            continue;
        uint32_t owners = owners_near(module, key);
        id_map_set(&slips->keys, key, owners);
        any |= owners != 0;
    }
    return any;
}

/* Each key where it first stands at an owner of the sort. */
static void report_key(struct slips *slips, enum attr_owner owner, const struct attr *attr)
{
    const struct module *module = slips->module;
    uint32_t owners = id_map_get(&slips->keys, attr->key);
    if (!(owners >> owner & 1))
        return;
    id_map_set(&slips->keys, attr->key, owners & ~(UINT32_C(1) << owner));
    struct suggest suggest = suggest_key(module, owner, attr->key);
    if (diag_at(slips->diags, DIAG_attribute_slip, locate_token(module, attr->loc),
                "'%.*s' means nothing to skir", NAME(module, attr->key)))
        diag_suggest(slips->diags, &suggest);
}

static void report_keys(struct slips *slips, enum attr_owner owner, struct range attrs)
{
    for (uint32_t n = 0; n < attrs.count; n++)
        report_key(slips, owner, &slips->module->attrs.at[attrs.first + n]);
}

static void report_graph_keys(struct slips *slips, const struct graph *graph)
{
    report_keys(slips, OWNER_GRAPH, graph->attrs);
    for (uint32_t i = 0; i < graph->params.count; i++)
        report_keys(slips, OWNER_PARAM, graph->params.at[i].attrs);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (graph->blocks.at[i].kind == BLOCK_STREAM)
            report_keys(slips, OWNER_STREAM, graph->blocks.at[i].attrs);
    for (uint32_t i = 0; i < graph->ops.count; i++)
        report_keys(slips, OWNER_OP, graph->ops.at[i].attrs);
}

/* ------------------------------------------------------------- attributes of op types ---- */

/* Whether nothing is said of an op's key but by its type. */
static bool key_is_types(const struct module *module, uint32_t key)
{
    return !(key < W_COUNT && attr_row_find(OWNER_OP, key)) && !attr_is_private(module, key);
}

/* Each key where it is first near one of a type that does not have it, or `lonely`: the op is a
 * constant without contents. */
static void report_type_key(struct slips *slips, const struct op_type *type,
                            const struct attr *attr, bool lonely)
{
    const struct module *module = slips->module;
    struct suggest suggest = name_suggest(module, attr->key);
    for (uint32_t i = 0; i < type->n_attrs; i++) {
        if (name_is(module, attr->key, type->attrs[i].name))
            return;
        offer_text(&suggest, type->attrs[i].name, strlen(type->attrs[i].name));
    }
    struct suggest meant = meant_key(type, suggest.wanted, suggest.wanted_size);
    /* No kernel of a view will say that it does not take the attribute. */
    if (!is_slip(&suggest) && !(type->view && meant.best && meant.distance == 0) && !lonely)
        return;
    id_map_set(&slips->types, attr->key, SAID);
    if (!diag_at(slips->diags, DIAG_attribute_slip, locate_token(module, attr->loc),
                 "'%.*s' means nothing to %s%s", NAME(module, attr->key), type->name,
                 lonely ? ", which has no contents" : ""))
        return;
    if (!diag_suggest(slips->diags, &meant) && lonely)
        diag_help(slips->diags, "contents are written 'value = NUMBER', a list or a file");
}

static void check_op_keys(struct slips *slips, const struct graph *graph, const struct op *op)
{
    const struct op_type *type = op_type_find(slips->module, op->type);
    if (op_is_unchecked(slips->module, op))
        return;
    for (uint32_t n = 0; type && n < op->attrs.count; n++) {
        const struct attr *attr = &slips->module->attrs.at[op->attrs.first + n];
        uint32_t asked = id_map_find(&slips->types, attr->key);
        if (asked == SAID || asked == op->type || !key_is_types(slips->module, attr->key))
            continue;
        id_map_set(&slips->types, attr->key, op->type);
        report_type_key(slips, type, attr, op_lacks_contents(slips->module, graph, op));
    }
}

static void check_type_keys(struct slips *slips)
{
    const struct module *module = slips->module;
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++)
            if (graph->ops.at[i].attrs.count)
                check_op_keys(slips, graph, &graph->ops.at[i]);
    }
}

/* ---------------------------------------------------------------- parameters of kernels ---- */

static void check_param(struct slips *slips, const struct attr *params, uint32_t word)
{
    const struct module *module = slips->module;
    struct suggest suggest = name_suggest(module, word);
    if (word == W_workspace || word == W_tiling)
        return;
    offer_word(&suggest, module, W_workspace);
    offer_word(&suggest, module, W_tiling);
    if (is_slip(&suggest) &&
        diag_at(slips->diags, DIAG_param_slip, locate_token(module, params->loc),
                "the parameter '%.*s' is a tensor", NAME(module, word)))
        diag_suggest(slips->diags, &suggest);
}

static void check_params(struct slips *slips, const struct kernel *kernel)
{
    const struct module *module = slips->module;
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    for (uint32_t i = 0; params && params->value.kind == ATTR_LIST && i < params->value.count;
         i++) {
        const struct attr_value *word = &module->attr_values.at[params->value.first + i];
        if (word->kind == ATTR_WORD)
            check_param(slips, params, word->id);
    }
}

/* -------------------------------------------------------------------- streams of launches ---- */

/* By label, the streams that an op of the graph is on. */
static void find_streams(struct id_map *used, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        uint32_t block = graph_enclosing(graph, graph->ops.at[i].block, BLOCK_STREAM);
        if (block != NONE)
            id_map_set(used, graph->blocks.at[block].name, block);
    }
}

static const struct attr *launch_stream(const struct module *module, const struct block *block)
{
    const struct attr *stream =
        block->kind == BLOCK_SUPERKERNEL ? attr_find(module, block->attrs, W_stream) : NULL;
    return stream && stream->value.kind == ATTR_STRING ? stream : NULL;
}

static void check_streams(struct slips *slips, const struct graph *graph)
{
    const struct module *module = slips->module;
    struct id_map used = {NULL, 0, 0};
    bool found = false;
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct attr *stream = launch_stream(module, &graph->blocks.at[i]);
        if (!stream || stream_label(stream->value.id) == NONE)
            continue;
        if (!found)
            find_streams(&used, graph);
        found = true;
        if (id_map_find(&used, stream->value.id) == NONE)
            diag_at(slips->diags, DIAG_idle_stream, locate_token(module, stream->loc),
                    "no op of the graph is on stream \"%.*s\"", NAME(module, stream->value.id));
    }
    id_map_free(&used);
}

/* ----------------------------------------------------------------------- dimensions ---- */

static void mark_dim(const struct module *module, struct id_map *used, int64_t dim)
{
    struct dim_sum sum;
    dim_to_sum(module, dim, &sum);
    for (uint32_t i = 0; i < sum.count; i++)
        for (uint32_t n = 0; n < sum.terms[i].degree; n++)
            id_map_set(used, sum.terms[i].names[n], 0);
}

static void mark_type(const struct module *module, struct id_map *used, uint32_t type)
{
    if (type == NONE)
        return;
    for (uint32_t i = 0; i < type_n_dims(&module->types.at[type]); i++)
        if (dim_is_gear(type_dims(module, type)[i]))
            mark_dim(module, used, type_dims(module, type)[i]);
}

/* Names of `dims` that no value has in its type. */
static void check_dims(struct slips *slips, const struct graph *graph)
{
    struct id_map used = {NULL, 0, 0};
    for (uint32_t i = 0; graph->dims.count && i < graph->values.count; i++)
        mark_type(slips->module, &used, graph->values.at[i].type);
    for (uint32_t i = 0; graph->dims.count && i < graph->result_types.count; i++)
        mark_type(slips->module, &used, graph->result_types.at[i]);
    for (uint32_t i = 0; i < graph->dims.count; i++)
        if (id_map_find(&used, graph->dims.at[i].name) == NONE)
            diag_at(slips->diags, DIAG_unused_dimension,
                    locate_token(slips->module, graph->dims.at[i].loc),
                    "no type of the graph has the dimension '%.*s'",
                    NAME(slips->module, graph->dims.at[i].name));
    id_map_free(&used);
}

/* ------------------------------------------------------------------------- scopes ---- */

static bool letters_are_equal(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Whether one name becomes the other by a letter more, by two that change places, or by their case.
 * Another letter in one place, or a digit more, tells names apart: @up_a, @up_b, @up_b1. */
static bool names_are_similar(const struct intern_name *a, const struct intern_name *b)
{
    size_t n = a->size, m = b->size, i = 0;
    if (n > m + 1 || m > n + 1 || n < 3 || m < 3)
        return false;
    while (i < n && i < m && letters_are_equal(a->text[i], b->text[i]))
        i++;
    while (n > i && m > i && letters_are_equal(a->text[n - 1], b->text[m - 1]))
        n--, m--;
    if (n - i + (m - i) == 1)
        return !isdigit((unsigned char)(n > m ? a : b)->text[i]);
    return n == m &&
           (n == i || (n == i + 2 && letters_are_equal(a->text[i], b->text[i + 1]) &&
                       letters_are_equal(a->text[i + 1], b->text[i]) &&
                       !isdigit((unsigned char)a->text[i]) && !isdigit((unsigned char)b->text[i])));
}

static void compare_scope(struct slips *slips, const struct graph *graph,
                          const struct vec_u32 *before, uint32_t id)
{
    const struct module *module = slips->module;
    const struct block *block = &graph->blocks.at[id];
    for (uint32_t i = 0; i < before->count; i++) {
        const struct block *other = &graph->blocks.at[before->at[i]];
        if (!names_are_similar(&module->names.names[other->name],
                               &module->names.names[block->name]))
            continue;
        if (diag_at(slips->diags, DIAG_similar_scopes, locate_name(module, block->loc),
                    "the scopes '@%.*s' and '@%.*s' have similar names", NAME(module, other->name),
                    NAME(module, block->name)))
            diag_note(slips->diags, locate_name(module, other->loc), "the other one is here");
        return;
    }
}

/* Each name with those before it, so not for graphs with very many. */
static void check_scopes(struct slips *slips, const struct graph *graph)
{
    enum { MAX_SCOPES = 500 };
    struct vec_u32 scopes = {NULL, 0, 0};
    struct id_map seen = {NULL, 0, 0}; /* by name */
    for (uint32_t i = 0; i < graph->blocks.count && scopes.count < MAX_SCOPES; i++) {
        const struct block *block = &graph->blocks.at[i];
        if (block->kind != BLOCK_SCOPE || id_map_find(&seen, block->name) != NONE)
            continue;
        id_map_set(&seen, block->name, i);
        compare_scope(slips, graph, &scopes, i);
        vec_push(&scopes, i);
    }
    vec_free(&scopes);
    id_map_free(&seen);
}

void verify_slips(const struct module *module, struct diags *diags)
{
    struct slips slips = {.module = module, .diags = diags};
    bool near = find_keys(&slips);
    origins_check(module, diags);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        check_params(&slips, &module->kernels.at[i]);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        if (near)
            report_graph_keys(&slips, &module->graphs.at[i]);
        check_streams(&slips, &module->graphs.at[i]);
        check_dims(&slips, &module->graphs.at[i]);
        if (!diags->remarks)
            continue;
        check_scopes(&slips, &module->graphs.at[i]);
        verify_returned(module, &module->graphs.at[i], diags);
    }
    if (module->attrs.count)
        check_type_keys(&slips);
    id_map_free(&slips.types);
    id_map_free(&slips.keys);
}
