#include "frontend/commands/gear_names.h"
#include "ir/base/text.h"

#include <string.h>

enum { MAX_RANGES = 6 }; /* that a text names */

/* ---------------------------------------------------------------------------- names ---- */

/* "f_*_layer": `tail` is what expand-gears has put behind names, at whose last place `*` stands. */
static uint32_t common_name(struct module *module, uint32_t name, const struct intern_name *tail)
{
    struct intern_name text = module->names.names[name];
    for (uint32_t at = text.size; tail->size && at-- > 0;)
        if (at + tail->size <= text.size && memcmp(text.text + at, tail->text, tail->size) == 0)
            return module_name_printf(module, "%.*s_*%.*s", (int)at, text.text,
                                      (int)(text.size - at - tail->size),
                                      text.text + at + tail->size);
    return name;
}

static void add_name(struct gear_names *names, uint32_t name, struct gear_place place)
{
    id_map_set(&names->at, name, names->places.count);
    vec_push(&names->places, place);
}

static void add_row(struct gear_names *names, uint32_t id, uint32_t row)
{
    struct module *module = names->module;
    uint32_t base = module->graphs.at[id].name, name = module->graphs.at[id].cases.at[row].graph;
    const struct graph *graph = module_graph(module, name);
    struct intern_name tail = module->names.names[name];
    uint32_t skip = module->names.names[base].size;
    skip = skip < tail.size ? skip : tail.size;
    tail.text += skip;
    tail.size -= skip;
    add_name(names, name, (struct gear_place){id, row, common_name(module, name, &tail)});
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind == BLOCK_SUPERKERNEL)
            add_name(names, block->name,
                     (struct gear_place){id, row, common_name(module, block->name, &tail)});
    }
}

void gear_names_init(struct gear_names *names, struct module *module)
{
    *names = (struct gear_names){.module = module};
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t row = 0; row < module->graphs.at[i].cases.count; row++)
            add_row(names, i, row);
}

void gear_names_free(struct gear_names *names)
{
    id_map_free(&names->at);
    vec_free(&names->places);
}

const struct gear_place *gear_names_find(const struct gear_names *names, uint32_t name)
{
    uint32_t at = id_map_find(&names->at, name);
    return at == NONE ? NULL : &names->places.at[at];
}

/* ---------------------------------------------------------------------------- events ---- */

/* Whether events are named after it in the graph: values, types of ops, and super kernels. */
static bool names_events(const struct graph *graph, uint32_t name)
{
    for (uint32_t i = 0; i < graph->values.count; i++)
        if (graph->values.at[i].name == name)
            return true;
    for (uint32_t i = 0; i < graph->ops.count; i++)
        if (graph->ops.at[i].type == name)
            return true;
    return false;
}

/* What an event, which is no other's in the module, is called by what sends it, without the number
 * behind that. */
static struct intern_name event_base(const struct gear_names *names, const struct gear_place *place,
                                     const char *name, size_t size)
{
    const struct module *module = names->module;
    const struct graph *graph =
        module_graph(module, module->graphs.at[place->graph].cases.at[place->row].graph);
    struct intern_name whole = {.text = name, .size = (uint32_t)size};
    uint32_t id = intern_find(&module->names, name, size);
    const struct gear_place *launch = id == NONE ? NULL : gear_names_find(names, id);
    if (launch)
        return module->names.names[launch->name];
    while (size > 0 && name[size - 1] >= '0' && name[size - 1] <= '9')
        size--;
    if (size == whole.size || size < 2 || name[size - 1] != '_' ||
        (id != NONE && names_events(graph, id)))
        return whole;
    id = intern_find(&module->names, name, size - 1);
    return id != NONE && names_events(graph, id) ? module->names.names[id] : whole;
}

/* Appends a text that is said of a combination, with its events as all combinations have them. */
static void write_events(const struct gear_names *names, struct text *text,
                         const struct gear_place *place, const char *from)
{
    for (const char *begin, *end; (begin = strchr(from, '\'')); from = end) {
        end = strchr(begin + 1, '\'');
        if (!end)
            break;
        struct intern_name base = event_base(names, place, begin + 1, (size_t)(end - begin - 1));
        text_bytes(text, from, (size_t)(begin + 1 - from));
        text_bytes(text, base.text, base.size);
        text_char(text, *end++);
    }
    text_string(text, from);
}

/* ---------------------------------------------------------------------------- texts ---- */

static const struct gear_place *write_names(const struct gear_names *names, struct text *text,
                                            const char *from)
{
    const struct gear_place *first = NULL;
    for (const char *begin; (begin = strstr(from, "'@"));) {
        const char *name = begin + 2, *end = strchr(name, '\'');
        if (!end)
            break;
        uint32_t id = intern_find(&names->module->names, name, (size_t)(end - name));
        const struct gear_place *place = id == NONE ? NULL : gear_names_find(names, id);
        text_bytes(text, from, (size_t)(name - from));
        if (place)
            text_printf(text, "%.*s", NAME(names->module, place->name));
        from = place ? end : name;
        first = first ? first : place;
    }
    text_string(text, from);
    return first;
}

const struct gear_place *gear_names_write(const struct gear_names *names, struct text *text,
                                          const char *from)
{
    struct text named = {NULL, 0, 0};
    const struct gear_place *place = write_names(names, &named, from);
    text_char(&named, '\0');
    if (place)
        write_events(names, text, place, named.at);
    else
        text_string(text, from);
    text_free(&named);
    return place;
}

/* --------------------------------------------------------------------------- ranges ---- */

static void row_text(struct text *text, const struct module *module, const struct graph *graph,
                     uint32_t row)
{
    gear_row_text(text, module, graph, graph->gear_values.at + graph->cases.at[row].values.first);
}

static void range_text(struct text *text, const struct module *module, const struct graph *graph,
                       uint32_t first, uint32_t last)
{
    row_text(text, module, graph, first);
    if (last == first)
        return;
    text_string(text, " .. ");
    if (graph->gears.count == 1)
        text_signed(text, graph->gear_values.at[graph->cases.at[last].values.first]);
    else
        row_text(text, module, graph, last);
}

void gear_rows_text(struct text *text, const struct module *module, const struct graph *graph,
                    const uint32_t *marks, uint32_t mark)
{
    uint32_t n = graph->cases.count, ranges = 0, others = 0;
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && marks[end] == marks[first];)
            end++;
        if (marks[first] != mark)
            continue;
        if (++ranges > MAX_RANGES) {
            others += end - first;
            continue;
        }
        text_string(text, ranges > 1 ? "; " : "");
        range_text(text, module, graph, first, end - 1);
    }
    if (others)
        text_printf(text, "; %u more", others);
}
