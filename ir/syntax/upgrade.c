#include "ir/syntax/upgrade.h"
#include "ir/base/text.h"
#include "ir/op_types.h"

#include <string.h>

void upgrade_note(struct parser *parser, struct span span, const char *what, const char *form)
{
    if (!parser->upgrade && diag_at(parser->diags, DIAG_old_form, span, "%s", what))
        diag_help(parser->diags, "write '%s'; 'skirc fmt --upgrade' rewrites old forms", form);
}

static struct span name_span(const struct parser *parser, uint32_t begin, uint32_t name)
{
    return (struct span){begin, begin + parser->module->names.names[name].size};
}

void upgrade_kernel(struct parser *parser, struct range attrs)
{
    struct module *module = parser->module;
    for (uint32_t i = 0; i < attrs.count; i++) {
        struct attr *attr = &module->attrs.at[attrs.first + i];
        if (attr->key != W_entry)
            continue;
        upgrade_note(parser, name_span(parser, attr->loc, W_entry),
                     "a kernel's 'entry' is an old form", "function = ...");
        attr->key = W_function;
        module_note_key(module, attr->key);
    }
}

/* -------------------------------------------------------------------- super kernels ---- */

static bool is_words(const struct module *module, const struct attr_value *list)
{
    bool words = list->kind == ATTR_LIST;
    for (uint32_t i = 0; words && i < list->count; i++)
        words = module->attr_values.at[list->first + i].kind == ATTR_WORD;
    return words;
}

/* Events of an attribute that was a clause's. */
static struct range take_events(struct parser *parser, const struct attr *attr)
{
    const struct module *module = parser->module;
    struct range events = {parser->graph->refs.count, 0};
    for (; events.count < attr->value.count; events.count++)
        vec_push(&parser->graph->refs, module->attr_values.at[attr->value.first + events.count].id);
    return events;
}

/* Returns whether the attribute stays one. */
static bool upgrade_launch_attr(struct parser *parser, struct block *block, struct attr *attr)
{
    struct span span = name_span(parser, attr->loc, attr->key);
    bool words = is_words(parser->module, &attr->value);
    if (attr->key == W_send && words) {
        upgrade_note(parser, span, "'send' as an attribute is an old form",
                     "superkernel @NAME {...} send [...] {");
        block->send = take_events(parser, attr);
        return false;
    }
    if (attr->key == W_recv && words) {
        upgrade_note(parser, span, "'recv' as an attribute is an old form",
                     "superkernel @NAME {...} recv [...] {");
        block->recv = take_events(parser, attr);
        return false;
    }
    if (attr->key == W_scope && attr->value.kind == ATTR_STRING) {
        upgrade_note(parser, span, "a scope's name in quotes is an old form", "scope = @NAME");
        attr->value.kind = ATTR_SYMBOL;
    }
    return true;
}

/* Attributes are shared with other blocks whose text is the same, so these get their own. */
void upgrade_superkernel(struct parser *parser, struct block *block)
{
    struct module *module = parser->module;
    struct range kept = {module->attrs.count, 0};
    vec_reserve(&module->attrs, block->attrs.count);
    for (uint32_t i = 0; i < block->attrs.count; i++) {
        struct attr attr = module->attrs.at[block->attrs.first + i];
        if (upgrade_launch_attr(parser, block, &attr))
            module->attrs.at[kept.first + kept.count++] = attr;
    }
    if (kept.count == block->attrs.count && !parser->upgrade)
        return;
    module->attrs.count += kept.count;
    block->attrs = kept;
}

/* ------------------------------------------------------------------- ops, instructions ---- */

/* The type that has this name but for its letters' case; NULL: none is known. */
static const struct op_type *type_of_other_case(const struct parser *parser,
                                                const struct intern_name *name)
{
    const struct module *module = parser->module;
    if (parser->upgrade || !diag_wants_suggestion(parser->diags))
        return NULL;
    struct suggest suggest = {.wanted = name->text, .wanted_size = name->size};
    op_types_offer(module->op_types, &suggest);
    if (!suggest.best || suggest.distance != 0)
        return NULL;
    return op_types_find(module->op_types, suggest.best, suggest.best_size);
}

void upgrade_op_type(struct parser *parser, uint64_t type)
{
    struct span span = name_span(parser, token_begin(type), token_id(type));
    struct text form = {NULL, 0, 0};
    const struct op_type *known =
        type_of_other_case(parser, &parser->module->names.names[token_id(type)]);
    if (known)
        text_printf(&form, "%s(...)' for the op type of skirc, or '", known->name);
    text_printf(&form, "\"%.*s\"(...)", NAME(parser->module, token_id(type)));
    text_char(&form, '\0');
    upgrade_note(parser, span, "an op type in small letters must be quoted", form.at);
    text_free(&form);
}

static bool name_is_units(const char *word, size_t size)
{
    return size == 5 && memcmp(word, "units", size) == 0;
}

bool upgrade_instr_word(struct parser *parser, struct span span, const char *word, size_t size,
                        uint32_t name)
{
    if (!name_is_units(word, size) || !name_is(parser->module, name, "lines"))
        return false;
    upgrade_note(parser, span, "'lines' of a preload is an old form", "preload @KERNEL units N");
    return true;
}
