#include "ir/ge_gears.h"
#include "ir/gears.h"

#include <string.h>

/* A graph whose gears are written. */
struct ge_writer {
    const struct module *module;
    const struct graph *graph;
    struct gear_table table; /* of gears that are not expanded, without the rows that are marked */
};

static uint32_t count_rows(const struct ge_writer *writer)
{
    return writer->graph->cases.count ? writer->graph->cases.count : writer->table.n_rows;
}

static const int64_t *row_at(const struct ge_writer *writer, uint32_t row)
{
    return writer->graph->cases.count
               ? writer->graph->gear_values.at + writer->graph->cases.at[row].values.first
               : gear_table_row(&writer->table, row);
}

static int64_t dim_at(const struct ge_writer *writer, uint32_t row, int64_t dim)
{
    return gear_row_dim(writer->module, writer->graph, row_at(writer, row), dim);
}

/* What GE has no words for of a parameter: its shape is known in each combination else; NULL. */
static const char *unsaid_of(const struct ge_writer *writer, uint32_t param)
{
    const struct value *value = &writer->graph->values.at[param];
    const struct intern_name *name = &writer->module->names.names[value->name];
    const struct type *type = &writer->module->types.at[value->type];
    if (memchr(name->text, ';', name->size))
        return "its name has a semicolon";
    if (name->size == 0 || *name->text == '^')
        return "no node can have its name";
    if (type->rank == RANK_UNKNOWN)
        return "how many dimensions it has is not known";
    for (uint32_t row = 0; row < count_rows(writer); row++)
        for (uint32_t i = 0; i < type->rank; i++)
            if (dim_at(writer, row, type_dims(writer->module, value->type)[i]) < 0)
                return "gears do not give all of its dimensions";
    return NULL;
}

static void drop_marked(struct gear_table *table, const struct graph *graph)
{
    uint32_t kept = 0;
    for (uint32_t row = 0; row < table->n_rows; row++)
        if (!gear_row_is_marked(graph, row))
            memmove(table->values + (size_t)kept++ * table->n_gears, gear_table_row(table, row),
                    table->n_gears * sizeof *table->values);
    table->n_rows = kept;
}

/* What GE has no words for, and of which parameter, or NONE; NULL where it has. */
static const char *unsaid(const struct ge_writer *writer, uint32_t *param)
{
    const char *why = count_rows(writer) < 2 ? "one combination alone is none to it" : NULL;
    *param = NONE;
    for (uint32_t i = 0; !why && i < writer->graph->n_params; i++) {
        why = unsaid_of(writer, i);
        *param = why ? i : NONE;
    }
    return why;
}

/* False where the graph has no gears. The table is to be freed. */
static bool begin(struct ge_writer *writer, const struct module *module, const struct graph *graph)
{
    *writer = (struct ge_writer){.module = module, .graph = graph};
    if (graph->gear_mode == GEARS_NONE ||
        (graph->cases.count == 0 && !gear_table_init(&writer->table, graph)))
        return false;
    if (graph->cases.count == 0)
        drop_marked(&writer->table, graph);
    return true;
}

static void put_param(const struct ge_writer *writer, uint32_t param, struct text *text)
{
    const struct value *value = &writer->graph->values.at[param];
    const struct intern_name *name = &writer->module->names.names[value->name];
    text_string(text, param ? ";" : "");
    text_bytes(text, name->text, name->size);
    for (uint32_t i = 0; i < writer->module->types.at[value->type].rank; i++) {
        int64_t dim = type_dims(writer->module, value->type)[i];
        text_char(text, i ? ',' : ':');
        text_signed(text, dim_is_gear(dim) ? -1 : dim);
    }
    if (writer->module->types.at[value->type].rank == 0)
        text_char(text, ':');
}

static void put_row(const struct ge_writer *writer, uint32_t row, struct text *text)
{
    const char *between = row ? ";" : "";
    for (uint32_t param = 0; param < writer->graph->n_params; param++) {
        uint32_t type = writer->graph->values.at[param].type;
        for (uint32_t i = 0; i < writer->module->types.at[type].rank; i++) {
            int64_t dim = type_dims(writer->module, type)[i];
            if (!dim_is_gear(dim))
                continue;
            text_string(text, between);
            text_signed(text, dim_at(writer, row, dim));
            between = ",";
        }
    }
}

bool ge_gears_write(struct ge_gears *gears, const struct module *module, const struct graph *graph)
{
    struct ge_writer writer;
    uint32_t param;
    *gears = (struct ge_gears){.input_shape = {NULL, 0, 0}};
    if (!begin(&writer, module, graph))
        return false;
    bool says = !unsaid(&writer, &param);
    for (uint32_t i = 0; says && i < graph->n_params; i++)
        put_param(&writer, i, &gears->input_shape);
    for (uint32_t i = 0; says && i < count_rows(&writer); i++)
        put_row(&writer, i, &gears->dynamic_dims);
    gear_table_free(&writer.table);
    return says;
}

const char *ge_gears_unsaid(const struct module *module, const struct graph *graph, uint32_t *param)
{
    struct ge_writer writer;
    *param = NONE;
    if (!begin(&writer, module, graph))
        return NULL;
    const char *why = unsaid(&writer, param);
    gear_table_free(&writer.table);
    return why;
}

void ge_gears_free(struct ge_gears *gears)
{
    text_free(&gears->input_shape);
    text_free(&gears->dynamic_dims);
}
