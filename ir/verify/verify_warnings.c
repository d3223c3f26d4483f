/* Warnings of what is legal, but hardly what was meant: misspelt attributes and parameters. */
#include "ir/analysis/contents.h"
#include "ir/core/attr.h"
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
static void offer_text(struct suggest *suggest, const char *text)
{
    if (suggest->wanted_size &&
        first_letter(text, strlen(text)) == first_letter(suggest->wanted, suggest->wanted_size))
        suggest_offer_text(suggest, text);
}

/* Whether the best offer is so near that another word is not likely: by one letter, or two or three
 * of a long word. */
static bool is_near(const struct suggest *suggest)
{
    return suggest->best && suggest->distance <= 1 + suggest->best_size / 8;
}

/* ------------------------------------------------------------------------ attributes ---- */

/* Each key where it first stands at an owner of the sort, if it is near one of that owner's. One
 * that begins with `_` is private, unless it is near one of skir's that does. Only of owners that
 * may have any attributes: the verifier refuses what others cannot have. */
static void check_keys(struct spelling *spelling, enum attr_owner owner, struct range attrs)
{
    const struct module *module = spelling->module;
    for (uint32_t n = 0; n < attrs.count; n++) {
        const struct attr *attr = &module->attrs.at[attrs.first + n];
        uint32_t *looked = id_map_at(&spelling->keys, attr->key), bit = UINT32_C(1) << owner;
        if (*looked == NONE)
            *looked = 0;
        if (*looked & bit || (attr->key < W_COUNT && attr_row_find(owner, attr->key)))
            continue;
        *looked |= bit;
        struct suggest suggest = name_suggest(module, attr->key);
        bool own = attr_is_private(module, attr->key);
        for (size_t i = 0; i < n_attr_rows; i++)
            if (attr_rows[i].owner == owner && (!own || attr_is_private(module, attr_rows[i].key)))
                offer_text(&suggest, module->names.names[attr_rows[i].key].text);
        if (is_near(&suggest) &&
            diag_at(spelling->diags, DIAG_attribute_slip, locate_token(module, attr->loc),
                    "'%.*s' means nothing to skir", NAME(module, attr->key)))
            diag_suggest(spelling->diags, &suggest);
    }
}

/* ------------------------------------------------------------- attributes of op types ---- */

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
        offer_text(&suggest, type->attrs[i].name);
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

static void check_graph(struct spelling *spelling, const struct graph *graph)
{
    const struct module *module = spelling->module;
    check_keys(spelling, OWNER_GRAPH, graph->attrs);
    for (uint32_t i = 0; i < graph->params.count; i++)
        check_keys(spelling, OWNER_PARAM, graph->params.at[i].attrs);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (graph->blocks.at[i].kind == BLOCK_STREAM)
            check_keys(spelling, OWNER_STREAM, graph->blocks.at[i].attrs);
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        const struct op_type *type = op->attrs.count ? op_type_find(module, op->type) : NULL;
        check_keys(spelling, OWNER_OP, op->attrs);
        if (!type || op_is_unchecked(module, op))
            continue;
        for (uint32_t n = 0; n < op->attrs.count; n++) {
            const struct attr *attr = &module->attrs.at[op->attrs.first + n];
            uint32_t asked = id_map_find(&spelling->types, attr->key);
            if (asked == SAID || asked == op->type || attr_is_private(module, attr->key) ||
                (attr->key < W_COUNT && attr_row_find(OWNER_OP, attr->key)))
                continue;
            id_map_set(&spelling->types, attr->key, op->type);
            report_type_key(spelling, type, attr, op_lacks_contents(module, graph, op));
        }
    }
}

/* ---------------------------------------------------------------- parameters of kernels ---- */

/* Parameters of a kernel that are tensors, but near a word that is none. */
static void check_params(struct spelling *spelling, const struct kernel *kernel)
{
    const struct module *module = spelling->module;
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    uint32_t count = params && params->value.kind == ATTR_LIST ? params->value.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct attr_value *word = &module->attr_values.at[params->value.first + i];
        if (word->kind != ATTR_WORD || word->id == W_workspace || word->id == W_tiling)
            continue;
        struct suggest suggest = name_suggest(module, word->id);
        offer_text(&suggest, "workspace");
        offer_text(&suggest, "tiling");
        if (is_near(&suggest) &&
            diag_at(spelling->diags, DIAG_param_slip, locate_token(module, params->loc),
                    "the parameter '%.*s' is a tensor", NAME(module, word->id)))
            diag_suggest(spelling->diags, &suggest);
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
