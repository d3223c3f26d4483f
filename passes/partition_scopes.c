/* partition-scopes: collects each scope's ops, over all its blocks and streams, into super kernels.
 *
 * needs    nothing
 * changes  blocks: scopes vanish, super kernels appear; the text order of ops
 * keeps    ops, values, streams; the text satisfies the required order (ir/order.h)
 *
 * The graph is scheduled as a list: an op follows when all that it needs stands, and ops of one
 * scope follow each other as long as any of them is ready. What is emitted in one go becomes one
 * super kernel, so the graph of super kernels and outside ops has no cycle by construction: the
 * schedule is a topological order of it. A scope is left unfinished only when nothing else can
 * go first: then some op outside needs a part of the scope and another part needs that op.
 */
#include "ir/locate.h"
#include "ir/order.h"
#include "passes/heap.h"
#include "passes/pass.h"

#include <string.h>

enum { GROUP_NONE = 0 }; /* ops that are not to be fused */

struct group {
    uint32_t scope; /* block id of one of its blocks (scope), or of its super kernel */
    bool is_scope;  /* else a super kernel of the input, which must stay whole */
    uint32_t waits; /* edges from unscheduled ops of other groups to unscheduled ops of this one */
    uint32_t left;  /* unscheduled ops */
    uint32_t options; /* name id of the options that any of its blocks gives, or NONE */
    uint32_t segments;
    struct heap ready; /* its ready ops by text position */
};

/* A run of the schedule that becomes one super kernel, or (GROUP_NONE) one op of its own. */
struct segment {
    uint32_t group, first, count;
};

struct partition {
    struct pass_context *context;
    struct vec_u32 *taken; /* by name id: whether an entry or a super kernel has that name */
    struct module *module;
    struct graph *graph;
    struct order order;
    uint32_t *group_of; /* per op */
    VEC(struct group) groups;
    uint32_t *needs; /* per op: unscheduled predecessors, with multiplicity */
    uint32_t *users; /* successors of op i: users[user_first[i]] .. */
    uint32_t *user_first;
    uint32_t *scheduled; /* per op: schedule index + 1 */
    uint32_t *schedule;
    uint32_t count;
    struct heap free_ops; /* ready ops outside of groups, by text position */
    struct heap whole;    /* groups that wait for nothing, by text position of a ready op */
    struct heap partial;  /* groups that have a ready op, the same; may hold outdated items */
    VEC(struct segment) segments;
};

/* ------------------------------------------------------------------------ preparing ---- */

/* Blocks of one scope are one group; each super kernel is its own. */
static void find_block_groups(struct partition *p, uint32_t *of_block)
{
    uint32_t *of_name = mem_calloc(p->module->names.count, sizeof *of_name);
    vec_push(&p->groups, (struct group){.scope = NONE, .options = NONE});
    for (uint32_t i = 0; i < p->graph->blocks.count; i++) {
        const struct block *block = &p->graph->blocks.at[i];
        bool is_scope = block->kind == BLOCK_SCOPE;
        if (!is_scope && block->kind != BLOCK_SUPERKERNEL)
            continue;
        of_block[i] = is_scope ? of_name[block->name] : GROUP_NONE;
        if (of_block[i] == GROUP_NONE) {
            of_block[i] = p->groups.count;
            vec_push(&p->groups, (struct group){.scope = i, .is_scope = is_scope, .options = NONE});
        }
        if (is_scope)
            of_name[block->name] = of_block[i];
        struct group *group = &p->groups.at[of_block[i]];
        if (group->options == NONE)
            group->options = attr_string(p->module, block->attrs, W_options);
    }
    free(of_name);
}

static void find_groups(struct partition *p)
{
    const struct graph *graph = p->graph;
    uint32_t *of_block = mem_calloc(graph->blocks.count, sizeof *of_block);
    find_block_groups(p, of_block);
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        uint32_t block = graph_enclosing(graph, graph->ops.at[i].block, BLOCK_SUPERKERNEL);
        if (block == NONE)
            block = graph_enclosing(graph, graph->ops.at[i].block, BLOCK_SCOPE);
        p->group_of[i] = block == NONE ? GROUP_NONE : of_block[block];
        p->groups.at[p->group_of[i]].left++;
    }
    free(of_block);
}

/* Turns the edges round, and counts what each op and each group waits for. */
static void find_users(struct partition *p)
{
    const struct order *order = &p->order;
    uint32_t n = order->n_ops;
    for (uint32_t op = 0; op < n; op++) {
        p->needs[op] = order->first[op + 1] - order->first[op];
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
            uint32_t from = order->edges[e].from;
            p->user_first[from + 1]++;
            p->groups.at[p->group_of[op]].waits += p->group_of[from] != p->group_of[op];
        }
    }
    for (uint32_t i = 0; i < n; i++)
        p->user_first[i + 1] += p->user_first[i];
    p->users = mem_calloc(p->user_first[n], sizeof *p->users);
    uint32_t *fill = mem_calloc(n, sizeof *fill);
    for (uint32_t op = 0; op < n; op++)
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
            uint32_t from = order->edges[e].from;
            p->users[p->user_first[from] + fill[from]++] = op;
        }
    free(fill);
}

/* ----------------------------------------------------------------------- scheduling ---- */

static void offer_whole(struct partition *p, uint32_t group)
{
    const struct group *g = &p->groups.at[group];
    if (g->waits == 0 && g->left > 0 && g->ready.count > 0)
        heap_push(&p->whole, heap_top_key(&g->ready), group);
}

static void op_is_ready(struct partition *p, uint32_t op)
{
    uint32_t group = p->group_of[op], position = p->order.position[op];
    if (group == GROUP_NONE) {
        heap_push(&p->free_ops, position, op);
        return;
    }
    heap_push(&p->groups.at[group].ready, position, op);
    heap_push(&p->partial, position, group);
}

static void schedule_op(struct partition *p, uint32_t op)
{
    uint32_t group = p->group_of[op];
    p->schedule[p->count++] = op;
    p->scheduled[op] = p->count;
    p->groups.at[group].left--;
    for (uint32_t i = p->user_first[op]; i < p->user_first[op + 1]; i++) {
        uint32_t user = p->users[i], user_group = p->group_of[user];
        if (--p->needs[user] == 0)
            op_is_ready(p, user);
        if (user_group != group && --p->groups.at[user_group].waits == 0 &&
            user_group != GROUP_NONE)
            offer_whole(p, user_group);
    }
}

/* Schedules ops of the group until none is ready. */
static void schedule_group(struct partition *p, uint32_t group)
{
    uint32_t first = p->count;
    while (p->groups.at[group].ready.count)
        schedule_op(p, heap_pop(&p->groups.at[group].ready));
    struct group *g = &p->groups.at[group];
    g->segments++;
    vec_push(&p->segments, (struct segment){group, first, p->count - first});
}

/* Groups in these heaps may have been scheduled since they were pushed. */
static void drop_outdated(struct partition *p, struct heap *heap)
{
    while (heap->count && p->groups.at[heap_top(heap)].ready.count == 0)
        heap_pop(heap);
}

static void schedule_all(struct partition *p)
{
    uint32_t n = p->order.n_ops;
    for (uint32_t i = 0; i < n; i++)
        if (p->needs[p->order.text[i]] == 0)
            op_is_ready(p, p->order.text[i]);
    for (uint32_t group = 1; group < p->groups.count; group++)
        offer_whole(p, group);
    while (p->count < n) {
        drop_outdated(p, &p->whole);
        drop_outdated(p, &p->partial);
        bool whole = p->whole.count > 0, alone = p->free_ops.count > 0;
        if (alone && (!whole || heap_top_key(&p->free_ops) < heap_top_key(&p->whole))) {
            vec_push(&p->segments, (struct segment){GROUP_NONE, p->count, 1});
            schedule_op(p, heap_pop(&p->free_ops));
        } else {
            schedule_group(p, heap_pop(whole ? &p->whole : &p->partial));
        }
    }
}

/* -------------------------------------------------------------------------- rewriting ---- */

/* The new list of blocks and items. Of an op's blocks only its stream remains. */
struct rewrite {
    struct partition *p;
    struct graph next;    /* blocks and body */
    uint32_t superkernel; /* open block of `next`, or NONE */
    uint32_t stream;      /* the same */
};

static void close_stream(struct rewrite *rewrite)
{
    if (rewrite->stream != NONE)
        graph_add_item(&rewrite->next, ITEM_CLOSE, rewrite->stream);
    rewrite->stream = NONE;
}

static uint32_t open_block(struct rewrite *rewrite, const struct block *model)
{
    struct block block = *model;
    block.parent = rewrite->superkernel;
    uint32_t id = graph_add_block(&rewrite->next, &block);
    graph_add_item(&rewrite->next, ITEM_OPEN, id);
    return id;
}

static void place_op(struct rewrite *rewrite, uint32_t op)
{
    struct graph *graph = rewrite->p->graph;
    uint32_t label = rewrite->p->order.stream[op];
    uint32_t open = rewrite->stream == NONE ? NONE : rewrite->next.blocks.at[rewrite->stream].name;
    if (label != open) {
        close_stream(rewrite);
        if (label != NONE)
            rewrite->stream = open_block(
                rewrite,
                &graph->blocks.at[graph_enclosing(graph, graph->ops.at[op].block, BLOCK_STREAM)]);
    }
    graph_add_item(&rewrite->next, ITEM_OP, op);
}

static void set_block(struct rewrite *rewrite, uint32_t op)
{
    rewrite->p->graph->ops.at[op].block =
        rewrite->stream != NONE ? rewrite->stream : rewrite->superkernel;
}

/* False if the name was taken. */
static bool take_name(struct vec_u32 *taken, uint32_t name)
{
    while (taken->count <= name)
        vec_push(taken, 0);
    return !taken->at[name]++;
}

/* GRAPH_SCOPE, with _split_N where the scope became several. Graph @a_b with scope @c and graph @a
 * with scope @b_c would have the same: a number makes the second one differ. */
static uint32_t superkernel_name(struct partition *p, const struct group *group, uint32_t n)
{
    struct module *module = p->module;
    uint32_t scope = p->graph->blocks.at[group->scope].name;
    uint32_t base =
        module_name_printf(module, "%.*s_%.*s", NAME(module, p->graph->name), NAME(module, scope));
    if (group->segments > 1)
        base = module_name_printf(module, "%.*s_split_%u", NAME(module, base), n);
    uint32_t name = base;
    for (unsigned i = 1; !take_name(p->taken, name); i++)
        name = module_name_printf(module, "%.*s.%u", NAME(module, base), i);
    return name;
}

static struct range superkernel_attrs(struct partition *p, const struct group *group)
{
    uint32_t scope = p->graph->blocks.at[group->scope].name;
    struct attr attrs[2] = {
        {W_scope, NONE, {.kind = ATTR_STRING, .id = scope}},
        {W_options, NONE, {.kind = ATTR_STRING, .id = group->options}},
    };
    return module_add_attrs(p->module, attrs, group->options == NONE ? 1 : 2);
}

/* The edge for which an op of a later segment had to wait: from outside, after the segment before. */
static void remark_split(struct partition *p, const struct segment *segment, uint32_t last_end)
{
    struct diags *diags = p->context->diags;
    uint32_t scope = p->graph->blocks.at[p->groups.at[segment->group].scope].name;
    for (uint32_t i = 0; i < segment->count; i++) {
        uint32_t op = p->schedule[segment->first + i];
        for (uint32_t e = p->order.first[op]; e < p->order.first[op + 1]; e++) {
            const struct op *from = &p->graph->ops.at[p->order.edges[e].from];
            uint32_t at = p->scheduled[p->order.edges[e].from] - 1;
            if (at < last_end || at >= segment->first)
                continue;
            if (diag_at(diags, DIAG_scope_split,
                        locate_op(p->module, &p->graph->ops.at[op], OP_TYPE_NAME, 0),
                        "scope '@%.*s' is split before this op: it needs the %.*s outside, which "
                        "needs the first part",
                        NAME(p->module, scope), NAME(p->module, from->type)))
                diag_note(diags, locate_op(p->module, from, OP_TYPE_NAME, 0),
                          "move this op into the scope, or out of the way");
            return;
        }
    }
}

static void place_segment(struct rewrite *rewrite, const struct segment *segment, uint32_t n,
                          uint32_t last_end)
{
    struct partition *p = rewrite->p;
    const struct group *group = &p->groups.at[segment->group];
    struct block block = p->graph->blocks.at[group->scope];
    close_stream(rewrite);
    if (group->is_scope) {
        uint32_t name = block.name;
        block = (struct block){.kind = BLOCK_SUPERKERNEL,
                               .name = superkernel_name(p, group, n),
                               .loc = block.loc,
                               .end_loc = NONE,
                               .attrs = superkernel_attrs(p, group)};
        diag_at(p->context->diags, DIAG_fused,
                locate_op(p->module, &p->graph->ops.at[p->schedule[segment->first]], OP_TYPE_NAME,
                          0),
                "%u op%s of scope '@%.*s' become super kernel '@%.*s'", segment->count,
                segment->count == 1 ? "" : "s", NAME(p->module, name),
                NAME(p->module, block.name));
        if (n > 0)
            remark_split(p, segment, last_end);
    }
    rewrite->superkernel = open_block(rewrite, &block);
    for (uint32_t i = 0; i < segment->count; i++) {
        place_op(rewrite, p->schedule[segment->first + i]);
        set_block(rewrite, p->schedule[segment->first + i]);
    }
    close_stream(rewrite);
    graph_add_item(&rewrite->next, ITEM_CLOSE, rewrite->superkernel);
    rewrite->superkernel = NONE;
}

static void rewrite_graph(struct partition *p)
{
    struct rewrite rewrite = {.p = p, .superkernel = NONE, .stream = NONE};
    uint32_t *numbers = mem_calloc(p->groups.count, sizeof *numbers);
    uint32_t *ends = mem_calloc(p->groups.count, sizeof *ends);
    for (uint32_t i = 0; i < p->segments.count; i++) {
        const struct segment *segment = &p->segments.at[i];
        if (segment->group == GROUP_NONE) {
            place_op(&rewrite, p->schedule[segment->first]);
            set_block(&rewrite, p->schedule[segment->first]);
            continue;
        }
        place_segment(&rewrite, segment, numbers[segment->group]++, ends[segment->group]);
        ends[segment->group] = segment->first + segment->count;
    }
    close_stream(&rewrite);
    free(numbers);
    free(ends);
    vec_free(&p->graph->blocks);
    vec_free(&p->graph->body);
    memcpy(&p->graph->blocks, &rewrite.next.blocks, sizeof rewrite.next.blocks);
    memcpy(&p->graph->body, &rewrite.next.body, sizeof rewrite.next.body);
}

/* ---------------------------------------------------------------------------- driving ---- */

/* A super kernel of the input that no schedule keeps whole waits for itself. */
static bool check_whole(struct partition *p)
{
    bool whole = true;
    for (uint32_t i = 1; i < p->groups.count; i++) {
        const struct group *group = &p->groups.at[i];
        if (group->is_scope || group->segments <= 1)
            continue;
        const struct block *block = &p->graph->blocks.at[group->scope];
        diag_at(p->context->diags, DIAG_cycle, locate_name(p->module, block->loc),
                "an op outside needs a part of '@%.*s', and another part needs that op",
                NAME(p->module, block->name));
        whole = false;
    }
    return whole;
}

static void partition_init(struct partition *p)
{
    order_init(&p->order, p->module, p->graph);
    uint32_t n = p->order.n_ops;
    p->group_of = mem_calloc(n, sizeof *p->group_of);
    p->needs = mem_calloc(n, sizeof *p->needs);
    p->user_first = mem_calloc((size_t)n + 2, sizeof *p->user_first);
    p->scheduled = mem_calloc(n, sizeof *p->scheduled);
    p->schedule = mem_calloc(n, sizeof *p->schedule);
    find_groups(p);
    find_users(p);
}

static void partition_free(struct partition *p)
{
    for (uint32_t i = 0; i < p->groups.count; i++)
        heap_free(&p->groups.at[i].ready);
    vec_free(&p->groups);
    vec_free(&p->segments);
    heap_free(&p->free_ops);
    heap_free(&p->whole);
    heap_free(&p->partial);
    free(p->group_of);
    free(p->needs);
    free(p->users);
    free(p->user_first);
    free(p->scheduled);
    free(p->schedule);
    order_free(&p->order);
}

/* The names that new super kernels, and so their entries, cannot have. */
static void take_names(const struct module *module, struct vec_u32 *taken)
{
    for (uint32_t i = 0; i < module->entries.count; i++)
        take_name(taken, module->entries.at[i].name);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t b = 0; b < module->graphs.at[i].blocks.count; b++)
            if (module->graphs.at[i].blocks.at[b].kind == BLOCK_SUPERKERNEL)
                take_name(taken, module->graphs.at[i].blocks.at[b].name);
}

bool pass_partition_scopes(struct pass_context *context)
{
    bool ok = true;
    struct vec_u32 taken = {NULL, 0, 0};
    take_names(context->module, &taken);
    for (uint32_t i = 0; i < context->module->graphs.count; i++) {
        struct partition p = {.context = context,
                              .taken = &taken,
                              .module = context->module,
                              .graph = &context->module->graphs.at[i]};
        partition_init(&p);
        schedule_all(&p);
        if (check_whole(&p))
            rewrite_graph(&p);
        else
            ok = false;
        partition_free(&p);
    }
    vec_free(&taken);
    return ok;
}
