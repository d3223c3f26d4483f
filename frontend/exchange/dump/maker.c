#include "frontend/exchange/dump/maker.h"
#include "frontend/exchange/dump/types.h"

static bool is_taken(const void *user, uint32_t name)
{
    return dump_names_find(user, name) != NULL;
}

uint32_t maker_name(struct dump_maker *maker, uint32_t name)
{
    if (maker->module->names.names[name].size == 0)
        name = module_name(maker->module, "_");
    struct dump_name *taken = dump_names_set(&maker->taken, name, 0, 0);
    if (!taken)
        return name;
    uint32_t made = module_free_name(maker->module, name, ".",
                                     (struct taken_names){is_taken, &maker->taken}, &taken->id);
    dump_names_set(&maker->taken, made, 0, 0);
    return made;
}

uint32_t maker_type(struct dump_maker *maker, uint32_t type)
{
    return type != NONE ? type : dump_no_type(maker->dump);
}

uint32_t maker_value(const struct dump_maker *maker, const struct dump_link *link)
{
    switch (link->kind) {
    case LINK_PARAM: return maker->params.at[link->id];
    case LINK_NODE:
        return link->output < maker->outputs[link->id].count
                   ? maker->given.at[maker->outputs[link->id].first + link->output]
                   : NONE;
    default: return NONE;
    }
}

void maker_give(struct dump_maker *maker, uint32_t node, struct range values)
{
    maker->outputs[node] = (struct range){maker->given.count, values.count};
    for (uint32_t i = 0; i < values.count; i++)
        vec_push(&maker->given, values.first + i);
}

uint32_t maker_named_graph(const struct dump_maker *maker, const struct attr_value *value)
{
    return value->kind == ATTR_SYMBOL ? id_map_find(&maker->dump->graph_names, value->id) : NONE;
}

uint32_t maker_first_graph(const struct dump_maker *maker, const struct attr_value *value)
{
    if (value->kind == ATTR_LIST && value->count)
        value = &maker->module->attr_values.at[value->first];
    return maker_named_graph(maker, value);
}

/* Whether it is an operator of another domain than that of its source, which its type has. */
static bool has_domain(const struct module *module, uint32_t type)
{
    const struct intern_name *name = &module->names.names[type];
    for (uint32_t i = 1; i + 1 < name->size; i++)
        if (name->text[i] == ':' && name->text[i - 1] == ':')
            return true;
    return false;
}

uint32_t dump_foreign_type(struct dump *dump, const struct dump_node *node)
{
    const struct translation_table *table = translation_table((enum dialect)node->dialect);
    return table && !has_domain(dump->module, node->type)
               ? module_name_printf(dump->module, "%s.%.*s", table->name,
                                    NAME(dump->module, node->type))
               : node->type;
}
