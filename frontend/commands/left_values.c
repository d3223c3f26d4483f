#include "frontend/commands/left_values.h"
#include "ir/gears.h"
#include "ir/verify/gear_rows.h"

/* Rows of a graph that is expanded are those that are left. */
static void mark_rows(struct input *input, const struct graph *graph)
{
    struct gear_rows_left_out left_out;
    gear_rows_find(&left_out, input->module, graph_id(input->module, graph), &input->diags);
    gear_rows_left_out_free(&left_out);
}

static void add_rows(const struct graph *graph, const struct gear_table *table, uint32_t gear,
                     struct left_values *values)
{
    for (uint32_t i = 0; i < table->n_rows; i++)
        if (graph->cases.count || !gear_row_is_marked(graph, i))
            vec_push(values, gear_table_row(table, i)[gear]);
}

struct left_values left_values_find(struct input *input, const struct graph *graph,
                                    const struct gear *gear)
{
    struct left_values values = {NULL, 0, 0};
    struct gear_table table;
    if (gear_table_init_left(&table, graph)) {
        mark_rows(input, graph);
        add_rows(graph, &table, (uint32_t)(gear - graph->gears.at), &values);
        gear_table_free(&table);
    }
    for (uint32_t i = 0; values.count == 0 && i < gear->values.count; i++)
        vec_push(&values, graph->gear_values.at[gear->values.first + i]);
    return values;
}
