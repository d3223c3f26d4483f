#include "passes/residency/launch_cuts.h"
#include "ir/analysis/concurrency.h"
#include "passes/partition/reference_cuts.h"
#include "passes/partition/superkernel_names.h"

#include <string.h>

/* What the parts of a super kernel are called, as those of scopes. One that is a part already goes
 * on from its own place. */
struct part_names {
    uint32_t base, scope; /* scope: of names by the reference, else NONE */
    int64_t begin;        /* the place of the first op of the super kernel */
};

enum { CUT = 1, DISSOLVED };

/* The body of the graph is written again. */
struct cutter {
    struct module *module;
    struct graph *graph;
    const struct order *order;
    uint8_t *before; /* per op: its super kernel is cut before it */
    uint8_t *cut;    /* per block: it is cut, or (DISSOLVED) its ops are launched alone */
    VEC(uint64_t) body;
    uint32_t superkernel, beside, stream; /* that are open, or NONE; `beside` is a `scope none` */
    uint32_t first, place;                /* of the open part, and of the next op */
    struct part_names names;
    struct vec_u32 taken; /* symbols (passes/partition/superkernel_names.h) */
    struct vec_u32 part;  /* the own ops of the open part */
    int64_t *position;    /* per op, by the reference; NULL: names are not its own */
    struct vec_u32 ops;   /* of the super kernel at work */
};

/* ------------------------------------------------------------------------- names ---- */

static struct part_names part_names_of(struct module *module, const struct block *block,
                                       bool reference)
{
    struct part_places places = {0, 0};
    uint32_t base = superkernel_part_of(module, block->name, &places),
             scope = attr_symbol(module, block->attrs, W_scope);
    return (struct part_names){base == NONE ? block->name : base, reference ? scope : NONE,
                               places.begin};
}

static void put_item(struct cutter *cutter, enum item_kind kind, uint32_t id)
{
    vec_push(&cutter->body, item_make(kind, id));
}

static void close_block(struct cutter *cutter, uint32_t *block)
{
    if (*block != NONE)
        put_item(cutter, ITEM_CLOSE, *block);
    *block = NONE;
}

static uint32_t open_block(struct cutter *cutter, struct block block, uint32_t parent)
{
    block.parent = parent;
    uint32_t id = graph_add_block(cutter->graph, &block);
    put_item(cutter, ITEM_OPEN, id);
    return id;
}

static void put_op(struct cutter *cutter, uint32_t op, uint32_t model, uint32_t block)
{
    struct graph *graph = cutter->graph;
    bool same = cutter->stream == NONE ? model == NONE
                                       : model != NONE && graph->blocks.at[model].name ==
                                                              graph->blocks.at[cutter->stream].name;
    if (!same) {
        close_block(cutter, &cutter->stream);
        if (model != NONE)
            cutter->stream = open_block(cutter, graph->blocks.at[model], block);
    }
    put_item(cutter, ITEM_OP, op);
    graph->ops.at[op].block = cutter->stream != NONE ? cutter->stream : block;
}

static void put_inside(struct cutter *cutter, uint32_t op, uint32_t model, bool beside)
{
    static const struct block none = {
        .kind = BLOCK_SCOPE_NONE, .name = NONE, .loc = NONE, .end_loc = NONE};
    if (beside != (cutter->beside != NONE)) {
        close_block(cutter, &cutter->stream);
        if (beside)
            cutter->beside = open_block(cutter, none, cutter->superkernel);
        else
            close_block(cutter, &cutter->beside);
    }
    put_op(cutter, op, model, beside ? cutter->beside : cutter->superkernel);
    cutter->place += !beside && !cutter->order->passive[op];
    if (!beside)
        vec_push(&cutter->part, op);
}

static uint32_t part_name(struct cutter *cutter)
{
    struct module *module = cutter->module;
    const struct part_names *names = &cutter->names;
    const struct vec_u32 *ops = &cutter->part;
    uint32_t last = cutter->place > cutter->first ? cutter->place - 1 : cutter->first, name;
    struct part_places places = {names->begin + cutter->first, names->begin + last};
    if (names->scope != NONE && ops->count) {
        places = superkernel_positions_around(ops->at, ops->count, cutter->position);
        name = superkernel_reference_name(module, cutter->graph, names->scope, &places, ops->at,
                                          ops->count, cutter->position);
    } else {
        name = superkernel_part_name(module, names->base, places);
    }
    return taken_symbols_take_free(&cutter->taken, module, name);
}

/* ------------------------------------------------------------------------ events ---- */

static void add_event(struct graph *graph, struct range *events, uint32_t event)
{
    struct vec_u32 all = {NULL, 0, 0};
    if (events->count && events->first + events->count == graph->refs.count) {
        graph_add_refs(graph, &event, 1); /* many in turn for one list take linear time */
        events->count++;
        return;
    }
    for (uint32_t i = 0; i < events->count; i++)
        vec_push(&all, graph->refs.at[events->first + i]);
    vec_push(&all, event);
    *events = graph_add_refs(graph, all.at, all.count);
    vec_free(&all);
}

static void add_events(struct graph *graph, uint32_t op, struct range send, struct range recv)
{
    struct clauses clauses = *op_clauses(graph, &graph->ops.at[op]);
    for (uint32_t i = 0; i < send.count; i++)
        add_event(graph, &clauses.send, graph->refs.at[send.first + i]);
    for (uint32_t i = 0; i < recv.count; i++)
        add_event(graph, &clauses.recv, graph->refs.at[recv.first + i]);
    graph_set_clauses(graph, op, clauses);
}

/* The first or last ops on each stream, of those of the super kernel at work that execute
 * something, in their order or from the last on: as indices of cutter->ops. */
static void find_ends(const struct cutter *cutter, uint32_t superkernel, bool last,
                      struct vec_u32 *ends)
{
    struct id_map seen = {NULL, 0, 0};
    uint32_t count = cutter->ops.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = last ? count - 1 - i : i, op = cutter->ops.at[at];
        uint32_t stream = cutter->order->stream[op] == NONE ? 0 : cutter->order->stream[op] + 1;
        if (cutter->order->passive[op] || id_map_find(&seen, stream) != NONE ||
            graph_superkernel(cutter->graph, cutter->graph->ops.at[op].block) != superkernel)
            continue;
        id_map_set(&seen, stream, 1);
        vec_push(ends, at);
    }
    id_map_free(&seen);
}

/* An event that the op sends, of a name that no text has. */
static uint32_t add_end(struct cutter *cutter, uint32_t op)
{
    uint32_t event = module_name_printf(cutter->module, "end.%u", op);
    struct range range = graph_add_refs(cutter->graph, &event, 1);
    add_events(cutter->graph, op, range, (struct range){0, 0});
    return event;
}

/* Events of a launch that is cut, or left unfused: what it waits for, the first op on each stream
 * does where it is left unfused. What it sends, its last op does, or its last part: after the last
 * op on each other stream that is not of that part. */
static void hand_over_events(struct cutter *cutter, uint32_t superkernel, uint32_t last_part)
{
    struct graph *graph = cutter->graph;
    static const struct range nothing = {0, 0};
    bool unfused = cutter->cut[superkernel] == DISSOLVED;
    struct range recv = graph->blocks.at[superkernel].recv,
                 send = graph->blocks.at[superkernel].send;
    struct vec_u32 first = {NULL, 0, 0}, last = {NULL, 0, 0}, ends = {NULL, 0, 0};
    if (recv.count && unfused)
        find_ends(cutter, superkernel, false, &first);
    for (uint32_t i = 0; i < first.count; i++)
        add_events(graph, cutter->ops.at[first.at[i]], nothing, recv);
    if (send.count)
        find_ends(cutter, superkernel, true, &last);
    for (uint32_t i = 1; i < last.count; i++)
        if (unfused || last.at[i] < last_part)
            vec_push(&ends, add_end(cutter, cutter->ops.at[last.at[i]]));
    if (last.count)
        add_events(graph, cutter->ops.at[last.at[0]], unfused ? send : nothing,
                   graph_add_refs(graph, ends.at, ends.count));
    vec_free(&first);
    vec_free(&last);
    vec_free(&ends);
}

/* ------------------------------------------------------------------------- parts ---- */

/* A part of a super kernel. */
struct cut_launch {
    uint32_t superkernel;
    uint32_t first, end; /* places among the ops of the super kernel that execute something */
    bool last;
    uint32_t opened; /* its first block in the new body, or NONE */
};

/* Ops in the order of the graph, by a number of each. */
struct numbered_ops {
    uint32_t *first, *ops; /* first: by number; one more for the end */
};

struct cuts {
    struct cutter *cutter;
    VEC(struct cut_launch) launches;
    uint32_t
        *of_block;    /* by block: the launch that ops of the super kernel are of by now, or NONE */
    uint32_t *sorted; /* ops in the order of the graph, which is that of the text where it can */
    uint32_t *launch; /* by place there, and by op; NONE: it is launched alone */
    uint32_t *launch_of;
    struct numbered_ops of_launch;
};

/* `number` is by place; NONE: the op is left out. */
static struct numbered_ops number_ops(const struct cuts *cuts, const uint32_t *number,
                                      uint32_t n_numbers)
{
    uint32_t n = cuts->cutter->order->n_ops;
    struct numbered_ops all = {.first = mem_calloc(n_numbers + 2, sizeof *all.first),
                               .ops = mem_calloc(n, sizeof *all.ops)};
    for (uint32_t i = 0; i < n; i++)
        if (number[i] != NONE)
            all.first[number[i] + 2]++;
    for (uint32_t i = 2; i < n_numbers + 2; i++)
        all.first[i] += all.first[i - 1];
    for (uint32_t i = 0; i < n; i++)
        if (number[i] != NONE)
            all.ops[all.first[number[i] + 1]++] = cuts->sorted[i];
    return all;
}

static void numbered_ops_free(struct numbered_ops *all)
{
    mem_free(all->first);
    mem_free(all->ops);
}

static uint32_t add_launch(struct cuts *cuts, uint32_t superkernel, uint32_t first)
{
    uint32_t id = cuts->launches.count;
    vec_push(&cuts->launches, ((struct cut_launch){.superkernel = superkernel,
                                                   .first = first,
                                                   .end = first,
                                                   .last = true,
                                                   .opened = NONE}));
    return id;
}

static uint32_t find_launch(struct cuts *cuts, uint32_t op)
{
    const struct cutter *cutter = cuts->cutter;
    uint32_t block = graph_superkernel(cutter->graph, cutter->graph->ops.at[op].block);
    if (block == NONE || cutter->cut[block] == DISSOLVED)
        return NONE;
    uint32_t *id = &cuts->of_block[block];
    if (*id == NONE) {
        *id = add_launch(cuts, block, 0);
    } else if (cutter->before[op]) {
        uint32_t end = cuts->launches.at[*id].end;
        cuts->launches.at[*id].last = false;
        *id = add_launch(cuts, block, end);
    }
    cuts->launches.at[*id].end += !cutter->order->passive[op];
    return *id;
}

static void hand_over_all(struct cuts *cuts)
{
    struct cutter *cutter = cuts->cutter;
    const struct graph *graph = cutter->graph;
    uint32_t n = cutter->order->n_ops, n_blocks = graph->blocks.count;
    uint32_t *block_of = mem_calloc(n, sizeof *block_of);
    for (uint32_t i = 0; i < n; i++)
        block_of[i] = graph_superkernel(graph, graph->ops.at[cuts->sorted[i]].block);
    struct numbered_ops of_block = number_ops(cuts, block_of, n_blocks);
    for (uint32_t b = 0; b < n_blocks; b++) {
        uint32_t last_part = 0;
        if (!cutter->cut[b] || !block_has_events(&graph->blocks.at[b]))
            continue;
        cutter->ops.count = 0;
        for (uint32_t i = of_block.first[b]; i < of_block.first[b + 1]; i++) {
            if (cutter->before[of_block.ops[i]])
                last_part = cutter->ops.count;
            vec_push(&cutter->ops, of_block.ops[i]);
        }
        hand_over_events(cutter, b, last_part);
    }
    numbered_ops_free(&of_block);
    mem_free(block_of);
}

/* ------------------------------------------------------------------------------- text ---- */

static uint32_t launch_label(const struct cuts *cuts, uint32_t superkernel)
{
    const struct cutter *cutter = cuts->cutter;
    uint32_t label =
        attr_string(cutter->module, cutter->graph->blocks.at[superkernel].attrs, W_stream);
    return label == NONE ? NONE : stream_label(label);
}

/* The text anew: ops, by place their launches, and their components. */
struct arranged {
    uint32_t *ops, *launch, *component, *next;
};

static void arrange(struct cuts *cuts, struct arranged *text)
{
    const struct order *order = cuts->cutter->order;
    uint32_t n = order->n_ops, *at = mem_calloc(n, sizeof *at), next = NONE;
    struct concurrency concurrency;
    memset(at, 0xff, n * sizeof *at); /* NONE */
    concurrency_init(&concurrency, order, at, cuts->sorted, n, cuts->launch, cuts->launches.count);
    for (uint32_t i = 0; i < cuts->launches.count; i++) {
        concurrency.launches[i].stream = launch_label(cuts, cuts->launches.at[i].superkernel);
        concurrency.launches[i].placed = true;
    }
    text->ops = mem_calloc(n, sizeof *text->ops);
    text->launch = mem_calloc(n, sizeof *text->launch);
    text->component = mem_calloc(n, sizeof *text->component);
    text->next = mem_calloc(n, sizeof *text->next);
    bool fits = concurrency_fits(&concurrency);
    if (fits && memcmp(concurrency.ran, cuts->sorted, n * sizeof *concurrency.ran) == 0)
        concurrency_arrange(&concurrency, text->ops, text->component);
    else /* what waits has been moved, or by hand nothing was put in order */
        memcpy(text->ops, fits ? concurrency.ran : cuts->sorted, n * sizeof *text->ops);
    for (uint32_t i = n; i-- > 0;) {
        text->launch[i] = cuts->launch_of[text->ops[i]];
        if (i + 1 < n && text->component[i + 1] != text->component[i])
            next = NONE;
        next = text->launch[i] != NONE ? text->launch[i] : next;
        text->next[i] = next;
    }
    concurrency_free(&concurrency);
    mem_free(at);
}

static void arranged_free(struct arranged *text)
{
    mem_free(text->ops);
    mem_free(text->launch);
    mem_free(text->component);
    mem_free(text->next);
}

static void close_launch(struct cutter *cutter)
{
    close_block(cutter, &cutter->stream);
    close_block(cutter, &cutter->beside);
    close_block(cutter, &cutter->superkernel);
}

/* What the part is called. */
static uint32_t name_of(struct cuts *cuts, uint32_t id)
{
    struct cutter *cutter = cuts->cutter;
    const struct cut_launch *launch = &cuts->launches.at[id];
    const struct block *block = &cutter->graph->blocks.at[launch->superkernel];
    cutter->part.count = 0;
    for (uint32_t i = cuts->of_launch.first[id]; i < cuts->of_launch.first[id + 1]; i++)
        vec_push(&cutter->part, cuts->of_launch.ops[i]);
    cutter->names = part_names_of(cutter->module, block, cutter->position != NULL);
    cutter->first = launch->first;
    cutter->place = launch->end;
    return part_name(cutter);
}

/* What the super kernel as a whole waits for, its first part does; what it sends, its last. */
static struct block first_block(struct cuts *cuts, uint32_t id)
{
    const struct cut_launch *launch = &cuts->launches.at[id];
    struct block block = cuts->cutter->graph->blocks.at[launch->superkernel];
    if (launch->first > 0) {
        block.recv.count = 0;
        block.end_loc = NONE;
    }
    if (!launch->last)
        block.send.count = 0;
    if (launch->first > 0 || !launch->last)
        block.name = name_of(cuts, id);
    return block;
}

static void open_launch(struct cuts *cuts, uint32_t id)
{
    struct cutter *cutter = cuts->cutter;
    struct cut_launch *launch = &cuts->launches.at[id];
    struct block block = {
        .kind = BLOCK_SUPERKERNEL_REST, .name = NONE, .loc = NONE, .end_loc = NONE};
    close_launch(cutter);
    block.whole = launch->opened;
    if (launch->opened == NONE)
        block = first_block(cuts, id);
    cutter->superkernel = open_block(cutter, block, NONE);
    if (launch->opened == NONE)
        launch->opened = cutter->superkernel;
}

static bool stands_inside(const struct cuts *cuts, const struct arranged *text, uint32_t place,
                          uint32_t open)
{
    const struct order *order = cuts->cutter->order;
    uint32_t op = text->ops[place];
    return open != NONE && text->next[place] == open &&
           (order->passive[op] ||
            order->stream[op] != launch_label(cuts, cuts->launches.at[open].superkernel));
}

static void put_all(struct cuts *cuts, const struct arranged *text)
{
    struct cutter *cutter = cuts->cutter;
    uint32_t open = NONE;
    for (uint32_t i = 0; i < cutter->order->n_ops; i++) {
        uint32_t op = text->ops[i], id = text->launch[i];
        uint32_t block = cutter->graph->ops.at[op].block;
        uint32_t model = graph_enclosing(cutter->graph, block, BLOCK_STREAM);
        bool inside = id == NONE && stands_inside(cuts, text, i, open);
        if (id != NONE && id != open)
            open_launch(cuts, id);
        else if (id == NONE && !inside && cutter->superkernel != NONE)
            close_launch(cutter);
        open = id != NONE ? id : inside ? open : NONE;
        if (open == NONE)
            put_op(cutter, op, model, NONE);
        else
            put_inside(cutter, op, model, inside);
    }
    close_launch(cutter);
}

static void write_body(struct cutter *cutter)
{
    const struct order *order = cutter->order;
    struct cuts cuts = {.cutter = cutter};
    struct arranged text;
    struct order_cycle cycle;
    uint32_t n_blocks = cutter->graph->blocks.count;
    cuts.of_block = mem_calloc(n_blocks, sizeof *cuts.of_block);
    memset(cuts.of_block, 0xff, n_blocks * sizeof *cuts.of_block); /* NONE */
    cuts.sorted = mem_calloc(order->n_ops, sizeof *cuts.sorted);
    cuts.launch = mem_calloc(order->n_ops, sizeof *cuts.launch);
    cuts.launch_of = mem_calloc(order->n_ops, sizeof *cuts.launch_of);
    bool acyclic = order_sort(order, cuts.sorted, &cycle);
    assert(acyclic); /* the verifier refuses cycles */
    (void)acyclic;
    for (uint32_t i = 0; i < order->n_ops; i++)
        cuts.launch_of[cuts.sorted[i]] = cuts.launch[i] = find_launch(&cuts, cuts.sorted[i]);
    cuts.of_launch = number_ops(&cuts, cuts.launch, cuts.launches.count);
    hand_over_all(&cuts);
    arrange(&cuts, &text);
    put_all(&cuts, &text);
    arranged_free(&text);
    numbered_ops_free(&cuts.of_launch);
    vec_free(&cuts.launches);
    mem_free(cuts.of_block);
    vec_free(&cycle.edges);
    mem_free(cuts.sorted);
    mem_free(cuts.launch);
    mem_free(cuts.launch_of);
}

/* ------------------------------------------------------------------------- changes ---- */

/* Whether a block goes on with what the item before it closes: a stream's. */
static bool goes_on(const struct graph *next, const struct block *block, uint64_t before)
{
    if (item_kind(before) != ITEM_CLOSE || block->kind != BLOCK_STREAM)
        return false;
    const struct block *closed = &next->blocks.at[item_id(before)];
    return closed->kind == BLOCK_STREAM && closed->name == block->name &&
           closed->parent == block->parent;
}

/* Numbers the blocks that stand in the body, in its order, and leaves out others. Blocks of one
 * stream, one right behind the other, become one. */
static void number_blocks(struct graph *graph)
{
    struct graph next = {.name = NONE};
    struct id_map now = {NULL, 0, 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        enum item_kind kind = item_kind(graph->body.at[i]);
        if (kind == ITEM_OPEN) {
            struct block block = graph->blocks.at[id];
            if (block.parent != NONE)
                block.parent = id_map_get(&now, block.parent);
            if (block.kind == BLOCK_SUPERKERNEL_REST)
                block.whole = id_map_get(&now, block.whole);
            if (count > 0 && goes_on(&next, &block, graph->body.at[count - 1])) {
                id_map_set(&now, id, item_id(graph->body.at[--count]));
                continue;
            }
            id_map_set(&now, id, graph_add_block(&next, &block));
        }
        if (kind == ITEM_OP && graph->ops.at[id].block != NONE)
            graph->ops.at[id].block = id_map_get(&now, graph->ops.at[id].block);
        graph->body.at[count++] =
            kind == ITEM_OP ? graph->body.at[i] : item_make(kind, id_map_get(&now, id));
    }
    graph->body.count = count;
    vec_free(&graph->blocks);
    memcpy(&graph->blocks, &next.blocks, sizeof next.blocks);
    id_map_free(&now);
}

/* Whether the text of a launch has others within it, or between its parts. */
static bool has_nested(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        if (block->kind == BLOCK_SUPERKERNEL_REST ||
            (block->kind == BLOCK_SCOPE_NONE && graph_superkernel(graph, block->parent) != NONE))
            return true;
    }
    return false;
}

static void cut_all(struct cutter *cutter)
{
    struct graph *graph = cutter->graph;
    write_body(cutter);
    vec_free(&graph->body);
    memcpy(&graph->body, &cutter->body, sizeof cutter->body);
    number_blocks(graph);
}

enum sk_strict fix_strictness(const struct fix *fix, const struct graph_launches *launches)
{
    uint32_t block = launches->sources.at[fix->row].block;
    struct range attrs = launches->graph->blocks.at[block].attrs;
    struct sk_options options;
    if (!fix->cut ||
        !sk_options_of(&options, launches->module, attr_string(launches->module, attrs, W_options)))
        return SK_STRICT_unset;
    return (enum sk_strict)options.of[SK_strict_scope_check].number;
}

/* The op no longer receives the event: its super kernel does, before it starts. */
static void move_wait(struct graph *graph, uint32_t op, uint32_t event)
{
    uint32_t block = graph_superkernel(graph, graph->ops.at[op].block);
    struct clauses clauses = *op_clauses(graph, &graph->ops.at[op]);
    struct vec_u32 left = {NULL, 0, 0};
    if (block == NONE)
        return;
    for (uint32_t i = 0; i < clauses.recv.count; i++)
        if (graph->refs.at[clauses.recv.first + i] != event)
            vec_push(&left, graph->refs.at[clauses.recv.first + i]);
    clauses.recv = graph_add_refs(graph, left.at, left.count);
    graph_set_clauses(graph, op, clauses);
    add_event(graph, &graph->blocks.at[block].recv, event);
    vec_free(&left);
}

/* What is not cut waits as a whole: the super kernel that the op is of by now, a part where it has
 * been cut; none where it is left unfused. Returns whether there are such. */
static bool move_waits(const struct fixes *fixes, const struct graph_launches *launches,
                       struct graph *graph)
{
    bool any = false;
    for (uint32_t i = 0; i < fixes->count; i++) {
        const struct launch_step *step = &launches->table.steps.at[fixes->at[i].step];
        if (fixes->at[i].cut)
            continue;
        move_wait(graph, step->user, launches->events.at[step->event]);
        any = true;
    }
    return any;
}

/* A launch that now waits as a whole may have what it waits for below it, or within its text. */
static void arrange_again(struct module *module, struct graph *graph)
{
    struct order order;
    order_init(&order, module, graph);
    struct cutter cutter = {.module = module,
                            .graph = graph,
                            .order = &order,
                            .before = mem_calloc(graph->ops.count, 1),
                            .cut = mem_calloc(graph->blocks.count, 1),
                            .superkernel = NONE,
                            .beside = NONE,
                            .stream = NONE};
    cut_all(&cutter);
    vec_free(&cutter.ops);
    vec_free(&cutter.part);
    mem_free(cutter.before);
    mem_free(cutter.cut);
    order_free(&order);
}

void fixes_apply(const struct fixes *fixes, const struct graph_launches *launches,
                 const struct order *order, struct module *module, struct graph *graph,
                 bool reference_names)
{
    struct cutter cutter = {.module = module,
                            .graph = graph,
                            .order = order,
                            .before = mem_calloc(graph->ops.count, 1),
                            .cut = mem_calloc(graph->blocks.count, 1),
                            .superkernel = NONE,
                            .beside = NONE,
                            .stream = NONE};
    bool any = false;
    for (uint32_t i = 0; i < fixes->count; i++) {
        const struct launch_step *step = &launches->table.steps.at[fixes->at[i].step];
        uint32_t block = launches->sources.at[fixes->at[i].row].block;
        if (!fixes->at[i].cut)
            continue;
        cutter.before[step->user] = 1;
        any = true;
        cutter.cut[block] =
            fix_strictness(fixes->at + i, launches) == SK_STRICT_bypass ? DISSOLVED : CUT;
    }
    if (any) {
        taken_symbols_init(&cutter.taken, module);
        if (reference_names)
            cutter.position = reference_positions(order, graph->n_params);
        cut_all(&cutter);
    }
    if (move_waits(fixes, launches, graph) && has_nested(graph))
        arrange_again(module, graph);
    vec_free(&cutter.ops);
    vec_free(&cutter.part);
    vec_free(&cutter.taken);
    mem_free(cutter.position);
    mem_free(cutter.before);
    mem_free(cutter.cut);
}
