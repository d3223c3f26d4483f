/* assign-streams: gives each stream label a number, and fills in what a stream block leaves out.
 *
 * needs    nothing
 * changes  attributes of stream blocks: `id` and `priority`
 * keeps    everything else
 *
 * The default stream, whose label is "0", is 0. Other labels get 1, 2 ... in the order in which
 * they first stand in the text, except for those that a block of theirs gives an id.
 */
#include "ir/syntax/locate.h"
#include "passes/pass.h"

struct assigner {
    struct pass_context *context;
    struct module *module;
    struct graph *graph;
    struct id_map id_of;  /* by label */
    int64_t *priority_of; /* by label */
    uint8_t *used;        /* by id */
};

enum { MAX_STREAMS = 65536 };

/* Ids that the text gives; two labels may not share one. */
static bool take_given(struct assigner *a, const struct block *block)
{
    int64_t id = attr_int(a->module, block->attrs, W_id, -1);
    if (id < 0)
        return true;
    if (block->name == W_0 && id != 0) {
        diag_at(a->context->diags, DIAG_conflict, locate_name(a->module, block->loc),
                "the default stream has the id 0, not %lld", (long long)id);
        return false;
    }
    if (id_map_find(&a->id_of, block->name) == NONE && (id == 0 || a->used[id])) {
        diag_at(a->context->diags, DIAG_conflict, locate_name(a->module, block->loc),
                id ? "another stream has the id %lld" : "the id %lld is that of the default stream",
                (long long)id);
        return false;
    }
    id_map_set(&a->id_of, block->name, (uint32_t)id);
    a->used[id] = 1;
    return true;
}

static bool assign_id(struct assigner *a, const struct block *block, uint32_t *next)
{
    if (id_map_find(&a->id_of, block->name) != NONE)
        return true;
    while (*next < MAX_STREAMS && a->used[*next])
        ++*next;
    if (*next == MAX_STREAMS) {
        diag_at(a->context->diags, DIAG_number_range, locate_name(a->module, block->loc),
                "a graph has at most %d streams", MAX_STREAMS - 1);
        return false;
    }
    a->used[*next] = 1;
    id_map_set(&a->id_of, block->name, *next);
    return true;
}

static void set_attrs(struct assigner *a, struct block *block)
{
    if (attr_find(a->module, block->attrs, W_id) && attr_find(a->module, block->attrs, W_priority))
        return;
    struct attr attrs[2] = {
        {W_id, NONE, {.kind = ATTR_INT, .i = id_map_get(&a->id_of, block->name)}},
        {W_priority, NONE, {.kind = ATTR_INT, .i = a->priority_of[block->name]}},
    };
    block->attrs = module_add_attrs(a->module, attrs, 2);
}

static bool assign_graph(struct assigner *a)
{
    struct graph *graph = a->graph;
    uint32_t next = 1;
    bool ok = true;
    id_map_set(&a->id_of, W_0, 0);
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        if (block->kind != BLOCK_STREAM)
            continue;
        ok = take_given(a, block) && ok;
        if (attr_find(a->module, block->attrs, W_priority))
            a->priority_of[block->name] = attr_int(a->module, block->attrs, W_priority, 0);
    }
    for (uint32_t i = 0; i < graph->blocks.count && ok; i++)
        if (graph->blocks.at[i].kind == BLOCK_STREAM)
            ok = assign_id(a, &graph->blocks.at[i], &next);
    for (uint32_t i = 0; i < graph->blocks.count && ok; i++)
        if (graph->blocks.at[i].kind == BLOCK_STREAM)
            set_attrs(a, &graph->blocks.at[i]);
    return ok;
}

bool pass_assign_streams(struct pass_context *context)
{
    bool ok = true;
    for (uint32_t i = 0; i < context->module->graphs.count; i++) {
        uint32_t names = context->module->names.count;
        struct assigner a = {.context = context,
                             .module = context->module,
                             .graph = &context->module->graphs.at[i],
                             .priority_of = mem_calloc(names, sizeof *a.priority_of),
                             .used = mem_calloc(MAX_STREAMS, 1)};
        ok = assign_graph(&a) && ok;
        id_map_free(&a.id_of);
        mem_free(a.priority_of);
        mem_free(a.used);
    }
    return ok;
}
