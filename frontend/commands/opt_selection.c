#include "frontend/commands/opt_selection.h"
#include "ir/gears.h"

#include <string.h>

bool selection_read(struct selection *selection, const struct invocation *invocation)
{
    const char *value = option_value(invocation, "only");
    *selection = (struct selection){SELECT_ALL, NULL};
    if (!value)
        return true;
    if (strcmp(value, "entries") == 0)
        selection->what = SELECT_ENTRIES;
    else if (strcmp(value, "graphs") == 0)
        selection->what = SELECT_GRAPHS;
    else if (value[0] == '@' && value[1])
        *selection = (struct selection){SELECT_NAMED, value + 1};
    else
        usage_error(invocation, "'--only' can be entries, graphs or @NAME, not '%s'%s%s", value,
                    value[0] && value[0] != '@' ? "; a name begins with '@': --only=@" : "",
                    value[0] && value[0] != '@' ? value : "");
    return selection->what != SELECT_ALL;
}

/* The elements of a module that are to be printed, by their index. */
struct marks {
    const struct module *module;
    uint8_t *of[SYMBOL_KINDS];
};

static bool is_named(const struct marks *marks, const struct selection *selection, uint32_t name)
{
    return selection->what == SELECT_NAMED && name_is(marks->module, name, selection->name);
}

static void mark_kernel(struct marks *marks, uint32_t name)
{
    uint32_t index = name == NONE ? NONE : module_find(marks->module, SYMBOL_KERNEL, name);
    if (index != NONE)
        marks->of[SYMBOL_KERNEL][index] = 1;
}

static void mark_kernels_of_graphs(struct marks *marks)
{
    for (uint32_t i = 0; i < marks->module->graphs.count; i++) {
        const struct graph *graph = &marks->module->graphs.at[i];
        for (uint32_t j = 0; marks->of[SYMBOL_GRAPH][i] && j < graph->ops.count; j++)
            mark_kernel(marks, graph->ops.at[j].kernel);
    }
}

static void mark_kernels_of_entries(struct marks *marks)
{
    for (uint32_t i = 0; i < marks->module->entries.count; i++)
        for (int core = 0; marks->of[SYMBOL_ENTRY][i] && core < CORE_TYPES; core++) {
            const struct program *program = &marks->module->entries.at[i].programs[core];
            for (uint32_t j = 0; j < program->instrs.count; j++)
                mark_kernel(marks, program->instrs.at[j].kernel);
        }
}

static void mark_named(struct marks *marks, const struct selection *selection)
{
    const struct module *module = marks->module;
    for (uint32_t i = 0; i < module->kernels.count; i++)
        marks->of[SYMBOL_KERNEL][i] = is_named(marks, selection, module->kernels.at[i].name);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        marks->of[SYMBOL_GRAPH][i] = is_named(marks, selection, module->graphs.at[i].name);
    for (uint32_t i = 0; i < module->entries.count; i++)
        marks->of[SYMBOL_ENTRY][i] = is_named(marks, selection, module->entries.at[i].name);
    graphs_mark_reached(marks->module, marks->of[SYMBOL_GRAPH]);
    mark_kernels_of_graphs(marks);
    mark_kernels_of_entries(marks);
}

/* Whether all elements of a kind are selected, where a kind is. */
static bool selects_kind(const struct selection *selection, unsigned kind)
{
    return kind == SYMBOL_KERNEL ||
           kind == (selection->what == SELECT_GRAPHS ? SYMBOL_GRAPH : SYMBOL_ENTRY);
}

static void marks_init(struct marks *marks, const struct module *module,
                       const struct selection *selection)
{
    const uint32_t counts[SYMBOL_KINDS] = {[SYMBOL_KERNEL] = module->kernels.count,
                                           [SYMBOL_GRAPH] = module->graphs.count,
                                           [SYMBOL_ENTRY] = module->entries.count};
    marks->module = module;
    for (unsigned kind = 0; kind < SYMBOL_KINDS; kind++) {
        marks->of[kind] = mem_calloc(counts[kind], 1);
        if (counts[kind])
            memset(marks->of[kind], selects_kind(selection, kind), counts[kind]);
    }
    if (selection->what == SELECT_NAMED)
        mark_named(marks, selection);
}

static void marks_free(struct marks *marks)
{
    for (unsigned kind = 0; kind < SYMBOL_KINDS; kind++)
        mem_free(marks->of[kind]);
}

void selection_print(struct text *text, const struct selection *selection,
                     const struct module *module, const struct spans *comments)
{
    struct marks marks;
    if (selection->what == SELECT_ALL) {
        print_changed_module(text, module, comments);
        return;
    }
    marks_init(&marks, module, selection);
    uint8_t *marked = mem_calloc(module->order.count, 1);
    for (uint32_t i = 0; i < module->order.count; i++) {
        unsigned kind = order_kind(module->order.at[i]);
        marked[i] = kind >= SYMBOL_KINDS || marks.of[kind][order_index(module->order.at[i])];
    }
    print_marked_module(text, module, comments, marked);
    mem_free(marked);
    marks_free(&marks);
}

bool selection_is_there(const struct selection *selection, const struct invocation *invocation,
                        const struct module *module)
{
    if (selection->what != SELECT_NAMED)
        return true;
    struct suggest suggest = {
        .wanted = selection->name, .wanted_size = strlen(selection->name), .before = "@"};
    for (uint32_t i = 0; i < module->order.count; i++) {
        uint32_t index = order_index(module->order.at[i]), name = NONE;
        switch (order_kind(module->order.at[i])) {
        case SYMBOL_KERNEL: name = module->kernels.at[index].name; break;
        case SYMBOL_GRAPH: name = module->graphs.at[index].name; break;
        case SYMBOL_ENTRY: name = module->entries.at[index].name; break;
        default: continue;
        }
        if (name_is(module, name, selection->name))
            return true;
        name_offer(&suggest, module, name);
    }
    fprintf(invocation->err, "skirc: --only: the result has no '@%s'%s\n", selection->name,
            suggest_end(&suggest).text);
    return false;
}
