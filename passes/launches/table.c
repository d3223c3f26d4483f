#include "passes/launches/table.h"

void launch_table_free(struct launch_table *table)
{
    vec_free(&table->rows);
    vec_free(&table->steps);
    vec_free(&table->events);
}

struct launch_row *launch_table_add(struct launch_table *table, uint32_t stream,
                                    enum block_shape shape, uint32_t blocks)
{
    vec_push(&table->rows, (struct launch_row){.stream = stream,
                                               .shape = shape,
                                               .blocks = blocks,
                                               .steps = {table->steps.count, 0},
                                               .user = NONE});
    if (stream >= table->n_streams)
        table->n_streams = stream + 1;
    return &table->rows.at[table->rows.count - 1];
}

static struct launch_row *last_row(struct launch_table *table)
{
    assert(table->rows.count > 0);
    return &table->rows.at[table->rows.count - 1];
}

static void add_event(struct launch_table *table, struct range *events, uint32_t event)
{
    if (events->count++ == 0)
        events->first = table->events.count;
    assert(events->first + events->count - 1 == table->events.count);
    vec_push(&table->events, event);
    if (event >= table->n_events)
        table->n_events = event + 1;
}

void launch_table_wait(struct launch_table *table, uint32_t event)
{
    add_event(table, &last_row(table)->waits, event);
}

void launch_table_step(struct launch_table *table, enum step_kind kind, uint32_t event,
                       uint32_t user)
{
    struct launch_row *row = last_row(table);
    vec_push(&table->steps, (struct launch_step){.kind = kind, .event = event, .user = user});
    row->steps.count++;
    row->keeps = true;
    if (event >= table->n_events)
        table->n_events = event + 1;
}

void launch_table_send(struct launch_table *table, uint32_t event)
{
    add_event(table, &last_row(table)->sends, event);
}

bool launch_row_is_too_large(const struct launch_table *table, const struct launch_row *row)
{
    struct held held = {{0}};
    held.of[row->shape] = row->keeps || row->blocks == 0 ? row->blocks : 1;
    return !cores_fit(&table->device, &held);
}
