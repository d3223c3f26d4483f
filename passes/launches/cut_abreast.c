/* Cuts of launches that stand side by side with others. Those that remain may need each other no
 * longer: what can come before or behind does so. */
#include "ir/abreast.h"
#include "passes/launches/cutter.h"

#include <string.h>

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

/* Events of a launch that is cut, or left unfused, become those of its ops or its last part. */
static void hand_over(struct cutter *cutter, uint32_t superkernel,
                      const struct numbered_ops *of_block)
{
    uint32_t last_part = 0;
    cutter->ops.count = 0;
    for (uint32_t i = of_block->first[superkernel]; i < of_block->first[superkernel + 1]; i++) {
        if (cutter->before[of_block->ops[i]])
            last_part = cutter->ops.count;
        vec_push(&cutter->ops, of_block->ops[i]);
    }
    if (cutter->cut[superkernel] == DISSOLVED) {
        cutter_hand_over_recv(cutter, superkernel);
        cutter_hand_over_send(cutter, superkernel);
    } else {
        cutter_hand_over_to_part(cutter, superkernel, last_part);
    }
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
    for (uint32_t b = 0; b < n_blocks; b++)
        if (cutter->cut[b] && block_has_events(&graph->blocks.at[b]))
            hand_over(cutter, b, &of_block);
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
    struct abreast abreast;
    memset(at, 0xff, n * sizeof *at); /* NONE */
    abreast_init(&abreast, order, at, cuts->sorted, n, cuts->launch, cuts->launches.count);
    for (uint32_t i = 0; i < cuts->launches.count; i++) {
        abreast.launches[i].stream = launch_label(cuts, cuts->launches.at[i].superkernel);
        abreast.launches[i].placed = true;
    }
    text->ops = mem_calloc(n, sizeof *text->ops);
    text->launch = mem_calloc(n, sizeof *text->launch);
    text->component = mem_calloc(n, sizeof *text->component);
    text->next = mem_calloc(n, sizeof *text->next);
    bool fits = abreast_fits(&abreast);
    if (fits && memcmp(abreast.ran, cuts->sorted, n * sizeof *abreast.ran) == 0)
        abreast_arrange(&abreast, text->ops, text->component);
    else /* what waits has been moved, or by hand nothing was put in order */
        memcpy(text->ops, fits ? abreast.ran : cuts->sorted, n * sizeof *text->ops);
    for (uint32_t i = n; i-- > 0;) {
        text->launch[i] = cuts->launch_of[text->ops[i]];
        if (i + 1 < n && text->component[i + 1] != text->component[i])
            next = NONE;
        next = text->launch[i] != NONE ? text->launch[i] : next;
        text->next[i] = next;
    }
    abreast_free(&abreast);
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
    cutter_close(cutter, &cutter->stream);
    cutter_close(cutter, &cutter->beside);
    cutter_close(cutter, &cutter->superkernel);
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
    return cutter_part_name(cutter);
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
    cutter->superkernel = cutter_open(cutter, block, NONE);
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
            cutter_put(cutter, op, model, NONE);
        else
            cutter_put_inside(cutter, op, model, inside);
    }
    close_launch(cutter);
}

void cut_abreast(struct cutter *cutter)
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
