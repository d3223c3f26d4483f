/* Scopes and streams of nodes as blocks: streams within scopes. */
#include "frontend/exchange/dump/maker.h"
#include "ir/sk_options.h"

/* Scopes that say that their ops are not to be fused. */
static bool is_none(const struct module *module, uint32_t scope)
{
    return name_is(module, scope, DUMP_SCOPE_NONE);
}

static bool is_scope(const struct module *module, uint32_t scope)
{
    return scope != NONE && module->names.names[scope].size > 0;
}

static uint32_t open_block(struct dump_maker *maker, struct block block)
{
    block.parent = maker->scope_block;
    block.end_loc = NONE;
    uint32_t id = graph_add_block(maker->out, &block);
    graph_add_item(maker->out, ITEM_OPEN, id);
    return id;
}

static void close_block(struct dump_maker *maker, uint32_t *block, uint32_t *name)
{
    if (*block != NONE)
        graph_add_item(maker->out, ITEM_CLOSE, *block);
    *block = *name = NONE;
}

static struct range one_attr(struct dump_maker *maker, uint32_t key, uint32_t loc,
                             struct attr_value value)
{
    struct attr attr = {key, loc, value};
    return module_add_attrs(maker->module, &attr, 1);
}

/* Says what is wrong with options that no block is to have. */
static bool are_right(struct dump_maker *maker, const struct dump_node *node,
                      struct sk_options *options)
{
    const struct intern_name *text = &maker->module->names.names[node->options];
    uint32_t loc = node->options_loc ? node->options_loc : node->loc;
    return sk_options_parse(options, text->text, text->size, source_token(maker->dump->source, loc),
                            maker->dump->diags);
}

/* An option that an earlier block of the scope has otherwise is lost, but for strict-scope-check:
 * of that the last op's counts. */
static void join_options(struct dump_maker *maker, const struct dump_node *node, uint32_t scope,
                         struct dump_name *told)
{
    struct module *module = maker->module;
    struct sk_options before, here;
    if (!are_right(maker, node, &here) || !sk_options_of(&before, module, told->id))
        return; /* those of the first block are looked at in the module */
    const struct sk_setting *old = &before.of[SK_strict_scope_check];
    const struct sk_setting *strict = &here.of[SK_strict_scope_check];
    bool replaces = strict->given && old->number != strict->number;
    unsigned other = 0;
    while ((other = sk_options_differ(&before, &here, other)) == SK_strict_scope_check)
        other++;
    if (other < SK_OPTION_COUNT)
        dump_drop(maker->dump, node->loc, "options '%.*s' of scope '%.*s', which has others",
                  NAME(module, node->options), NAME(module, scope));
    if (!replaces)
        return;
    if (old->given)
        dump_drop(maker->dump, node->loc,
                  "'strict-scope-check=%.*s' of scope '%.*s': of several ops the last one counts, "
                  "which has '%.*s'",
                  (int)old->size, old->text, NAME(module, scope), (int)strict->size, strict->text);
    char text[64];
    snprintf(text, sizeof text, "strict-scope-check=%.*s", (int)strict->size, strict->text);
    told->id = sk_options_override(module, told->id, text);
    module->attrs.at[maker->out->blocks.at[told->output].attrs.first].value.id = told->id;
}

/* Options that no earlier block of the scope has told. */
static bool has_options(struct dump_maker *maker, const struct dump_node *node, uint32_t scope)
{
    if (node->options == NONE || scope == NONE || is_none(maker->module, scope))
        return false;
    struct dump_name *told = dump_names_find(&maker->told, scope);
    if (told && told->id != node->options)
        join_options(maker, node, scope, told);
    return !told;
}

static void open_scope(struct dump_maker *maker, const struct dump_node *node, uint32_t scope)
{
    bool none = is_none(maker->module, scope), options = has_options(maker, node, scope);
    struct block block = {.kind = none ? BLOCK_SCOPE_NONE : BLOCK_SCOPE,
                          .name = none ? NONE : scope,
                          .loc = node->loc};
    if (options) {
        struct attr_value value = {.kind = ATTR_STRING, .id = node->options};
        dump_names_set(&maker->told, scope, node->options, maker->out->blocks.count);
        block.attrs =
            one_attr(maker, W_options, node->options_loc ? node->options_loc : node->loc, value);
    }
    maker->scope_block = open_block(maker, block);
    maker->scope = scope;
}

/* The priority where no earlier block of the stream has told it. */
static struct range new_priority(struct dump_maker *maker, const struct dump_node *node)
{
    if (node->priority == DUMP_NO_PRIORITY || dump_names_set(&maker->priority, node->stream, 0, 0))
        return (struct range){0, 0};
    struct attr_value value = {.kind = ATTR_INT, .i = node->priority};
    return one_attr(maker, W_priority, node->loc, value);
}

static void open_stream(struct dump_maker *maker, const struct dump_node *node)
{
    struct block block = {.kind = BLOCK_STREAM, .name = node->stream, .loc = node->loc};
    if (stream_label(node->stream) != NONE)
        block.attrs = new_priority(maker, node);
    maker->stream_block = open_block(maker, block);
    maker->stream = node->stream;
}

void maker_leave(struct dump_maker *maker)
{
    close_block(maker, &maker->stream_block, &maker->stream);
    close_block(maker, &maker->scope_block, &maker->scope);
}

void maker_enter(struct dump_maker *maker, const struct dump_node *node)
{
    uint32_t scope = is_scope(maker->module, node->scope) ? node->scope : NONE;
    uint32_t stream = node->stream == NONE ? NONE : stream_label(node->stream);
    if (scope != maker->scope || has_options(maker, node, scope)) {
        maker_leave(maker);
        if (scope != NONE)
            open_scope(maker, node, scope);
    }
    if (stream != maker->stream) {
        close_block(maker, &maker->stream_block, &maker->stream);
        if (stream != NONE)
            open_stream(maker, node);
    }
}
