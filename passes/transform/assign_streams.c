/* assign-streams: gives each stream label a number, and fills in what a stream block leaves out.
 *
 * needs    nothing
 * changes  attributes of stream blocks: `id` and `priority`
 * keeps    everything else
 *
 * The default stream, whose label is "0", is 0. Other labels get 1, 2 ... in the order in which
 * they first stand in the text, except for those that a block of theirs gives an id.
 */
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"
#include "passes/manager/pass.h"

struct assigner {
    struct pass_context *context;
    struct module *module;
    struct graph *graph;
    struct id_map id_of;       /* by label */
    struct id_map priority_of; /* by label: the last block that says it */
    struct id_map used;        /* by id: its label */
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
    if (id_map_find(&a->id_of, block->name) == NONE &&
        (id == 0 || id_map_find(&a->used, (uint32_t)id) != NONE)) {
        diag_at(a->context->diags, DIAG_conflict, locate_name(a->module, block->loc),
                id ? "another stream has the id %lld" : "the id %lld is that of the default stream",
                (long long)id);
        return false;
    }
    id_map_set(&a->id_of, block->name, (uint32_t)id);
    id_map_set(&a->used, (uint32_t)id, block->name);
    return true;
}

static bool assign_id(struct assigner *a, const struct block *block, uint32_t *next)
{
    if (id_map_find(&a->id_of, block->name) != NONE)
        return true;
    while (*next < MAX_STREAMS && id_map_find(&a->used, *next) != NONE)
        ++*next;
    if (*next == MAX_STREAMS) {
        diag_at(a->context->diags, DIAG_number_range, locate_name(a->module, block->loc),
                "a graph has at most %d streams", MAX_STREAMS - 1);
        return false;
    }
    id_map_set(&a->used, *next, block->name);
    id_map_set(&a->id_of, block->name, *next);
    return true;
}

static void set_attrs(struct assigner *a, struct block *block)
{
    if (attr_find(a->module, block->attrs, W_id) && attr_find(a->module, block->attrs, W_priority))
        return;
    uint32_t said = id_map_find(&a->priority_of, block->name);
    int64_t priority =
        said == NONE ? 0 : attr_int(a->module, a->graph->blocks.at[said].attrs, W_priority, 0);
    struct attr attrs[2] = {
        {W_id, NONE, {.kind = ATTR_INT, .i = id_map_get(&a->id_of, block->name)}},
        {W_priority, NONE, {.kind = ATTR_INT, .i = priority}},
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
            id_map_set(&a->priority_of, block->name, i);
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
        struct assigner a = {
            .context = context, .module = context->module, .graph = &context->module->graphs.at[i]};
        gears_tell_copy(context->diags, context->module, a.graph);
        ok = assign_graph(&a) && ok;
        id_map_free(&a.id_of);
        id_map_free(&a.priority_of);
        id_map_free(&a.used);
    }
    gears_tell_copy(context->diags, context->module, NULL);
    return ok;
}
