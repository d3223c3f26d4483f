/* What a dump has, in numbers, and what of it is lost. */
#include "frontend/exchange/dump/dump.h"
#include "ir/base/json.h"

#include <stdarg.h>

/* Edges are the inputs of nodes that name a producer, whether it is there or not. */
static struct dump_count count_graph(const struct dump_graph *graph)
{
    struct dump_count count = {.name = graph->name, .nodes = 0};
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        count.nodes += !graph->nodes.at[i].implied;
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        uint8_t kind = graph->inputs.at[i].kind;
        count.control_edges += kind == DUMP_CONTROL;
        count.data_edges += kind == DUMP_DATA || kind == DUMP_VALUE;
    }
    return count;
}

void dump_count_graphs(struct dump *dump)
{
    if (dump->counts.count)
        return;
    for (uint32_t i = 0; i < dump->graphs.count; i++)
        vec_push(&dump->counts, count_graph(&dump->graphs.at[i]));
}

static void print_count(struct json *json, const struct dump *dump, const struct dump_count *count)
{
    const struct intern_name *name = &dump->module->names.names[count->name];
    json_line(json);
    json_open_object(json);
    json_add_bytes(json, "name", name->text, name->size);
    json_add_unsigned(json, "nodes", count->nodes);
    json_add_unsigned(json, "data_edges", count->data_edges);
    json_add_unsigned(json, "control_edges", count->control_edges);
    json_close_object(json);
}

void dump_print_counts(const struct dump *dump, struct text *text)
{
    struct json json = {.text = text};
    json_open_object(&json);
    json_key(&json, "graphs");
    json_open_array(&json);
    for (uint32_t i = 0; i < dump->counts.count; i++)
        print_count(&json, dump, &dump->counts.at[i]);
    json_close_array(&json);
    json_line(&json);
    json_key(&json, "dropped");
    json_open_array(&json);
    for (uint32_t i = 0; i < dump->dropped.count; i++)
        json_string(&json, dump->dropped.at[i]);
    json_close_array(&json);
    json_close_object(&json);
    text_char(text, '\n');
}

static void record(struct dump *dump, enum diag_id id, uint32_t loc, const char *format,
                   va_list args)
{
    const char *text = arena_vprintf(&dump->arena, format, args);
    vec_push(&dump->dropped, text);
    diag_at(dump->diags, id, source_token(dump->source, loc), "%s", text);
}

void dump_drop(struct dump *dump, uint32_t loc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(dump, DIAG_not_imported, loc, format, args);
    va_end(args);
}

void dump_lose(struct dump *dump, uint32_t loc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(dump, dump->lost ? DIAG_not_imported : DIAG_contents_left_out, loc, format, args);
    va_end(args);
    if (!dump->lost)
        diag_help(dump->diags, "--counts lists what is left out; 'run --input' gives contents");
    dump->lost = true;
}
