/* Warnings of what is legal, but hardly what was meant: misspelt attributes and parameters. */
#include "ir/analysis/contents.h"
#include "ir/core/attrs.h"
#include "ir/optypes/foreign_names.h"
#include "ir/optypes/op_types.h"
#include "ir/syntax/locate.h"
#include "ir/verify/verify_internal.h"

#include <ctype.h>
#include <string.h>

struct spelling {
    const struct module *module;
    struct diags *diags;
    struct id_map keys;  /* by name: the set of owners for which it was looked at */
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
static bool is_near(const struct suggest *suggest)
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

/* Each key where it first stands at an owner of the sort. */
static void check_key(struct spelling *spelling, enum attr_owner owner, const struct attr *attr)
{
    const struct module *module = spelling->module;
    uint32_t *looked = id_map_at(&spelling->keys, attr->key), bit = UINT32_C(1) << owner;
    if (*looked == NONE)
        *looked = 0;
    if (*looked & bit || (attr->key < W_COUNT && attr_row_find(owner, attr->key)))
        return;
    *looked |= bit;
    struct suggest suggest = suggest_key(module, owner, attr->key);
    if (is_near(&suggest) &&
        diag_at(spelling->diags, DIAG_attribute_slip, locate_token(module, attr->loc),
                "'%.*s' means nothing to skir", NAME(module, attr->key)))
        diag_suggest(spelling->diags, &suggest);
}

/* Of owners that may have any attributes: the verifier refuses what others cannot have. */
static void check_keys(struct spelling *spelling, enum attr_owner owner, struct range attrs)
{
    for (uint32_t n = 0; n < attrs.count; n++)
        check_key(spelling, owner, &spelling->module->attrs.at[attrs.first + n]);
}

/* ------------------------------------------------------------- attributes of op types ---- */

/* Whether nothing is said of an op's key but by its type. */
static bool key_is_types(const struct module *module, uint32_t key)
{
    return !(key < W_COUNT && attr_row_find(OWNER_OP, key)) && !attr_is_private(module, key);
}

/* Each key where it is first near one of a type that does not have it, or `lonely`: the op is a
 * constant without contents. */
static void report_type_key(struct spelling *spelling, const struct op_type *type,
                            const struct attr *attr, bool lonely)
{
    const struct module *module = spelling->module;
    struct suggest suggest = name_suggest(module, attr->key);
    for (uint32_t i = 0; i < type->n_attrs; i++) {
        if (name_is(module, attr->key, type->attrs[i].name))
            return;
        offer_text(&suggest, type->attrs[i].name, strlen(type->attrs[i].name));
    }
    struct suggest meant = meant_key(type, suggest.wanted, suggest.wanted_size);
    /* No kernel of a view will say that it does not take the attribute. */
    if (!is_near(&suggest) && !(type->view && meant.best && meant.distance == 0) && !lonely)
        return;
    id_map_set(&spelling->types, attr->key, SAID);
    if (!diag_at(spelling->diags, DIAG_attribute_slip, locate_token(module, attr->loc),
                 "'%.*s' means nothing to %s%s", NAME(module, attr->key), type->name,
                 lonely ? ", which has no contents" : ""))
        return;
    if (!diag_suggest(spelling->diags, &meant) && lonely)
        diag_help(spelling->diags, "contents are written 'value = NUMBER', a list or a file");
}

static void check_type_keys(struct spelling *spelling, const struct graph *graph,
                            const struct op *op)
{
    const struct op_type *type = op_type_find(spelling->module, op->type);
    if (op_is_unchecked(spelling->module, op))
        return;
    for (uint32_t n = 0; type && n < op->attrs.count; n++) {
        const struct attr *attr = &spelling->module->attrs.at[op->attrs.first + n];
        uint32_t asked = id_map_find(&spelling->types, attr->key);
        if (asked == SAID || asked == op->type || !key_is_types(spelling->module, attr->key))
            continue;
        id_map_set(&spelling->types, attr->key, op->type);
        report_type_key(spelling, type, attr, op_lacks_contents(spelling->module, graph, op));
    }
}

static void check_graph(struct spelling *spelling, const struct graph *graph)
{
    check_keys(spelling, OWNER_GRAPH, graph->attrs);
    for (uint32_t i = 0; i < graph->params.count; i++)
        check_keys(spelling, OWNER_PARAM, graph->params.at[i].attrs);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (graph->blocks.at[i].kind == BLOCK_STREAM)
            check_keys(spelling, OWNER_STREAM, graph->blocks.at[i].attrs);
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        check_keys(spelling, OWNER_OP, graph->ops.at[i].attrs);
        if (graph->ops.at[i].attrs.count)
            check_type_keys(spelling, graph, &graph->ops.at[i]);
    }
}

/* ---------------------------------------------------------------- parameters of kernels ---- */

static void check_param(struct spelling *spelling, const struct attr *params, uint32_t word)
{
    const struct module *module = spelling->module;
    struct suggest suggest = name_suggest(module, word);
    if (word == W_workspace || word == W_tiling)
        return;
    offer_word(&suggest, module, W_workspace);
    offer_word(&suggest, module, W_tiling);
    if (is_near(&suggest) &&
        diag_at(spelling->diags, DIAG_param_slip, locate_token(module, params->loc),
                "the parameter '%.*s' is a tensor", NAME(module, word)))
        diag_suggest(spelling->diags, &suggest);
}

static void check_params(struct spelling *spelling, const struct kernel *kernel)
{
    const struct module *module = spelling->module;
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    for (uint32_t i = 0; params && params->value.kind == ATTR_LIST && i < params->value.count;
         i++) {
        const struct attr_value *word = &module->attr_values.at[params->value.first + i];
        if (word->kind == ATTR_WORD)
            check_param(spelling, params, word->id);
    }
}

void verify_warnings(const struct module *module, struct diags *diags)
{
    struct spelling spelling = {.module = module, .diags = diags};
    origins_check(module, diags);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        check_params(&spelling, &module->kernels.at[i]);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        check_graph(&spelling, &module->graphs.at[i]);
        if (diags->remarks)
            verify_returned(module, &module->graphs.at[i], diags);
    }
    id_map_free(&spelling.types);
    id_map_free(&spelling.keys);
}
