#include "ir/analysis/concurrency.h"
#include "ir/support/components.h"
#include "ir/support/heap.h"

#include <string.h>

static bool executes(const struct concurrency *a, uint32_t place)
{
    return !a->order->passive[a->ops[place]];
}

/* ------------------------------------------------------------------------------ edges ---- */

static void find_chains(struct concurrency *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        struct concurrency_launch *launch =
            a->launch[i] == NONE ? NULL : &a->launches[a->launch[i]];
        a->chain[i] = NONE;
        if (!launch || !executes(a, i))
            continue;
        if (launch->count++ == 0)
            launch->first = i;
        else
            a->chain[launch->last] = i;
        launch->last = i;
    }
}

void concurrency_init(struct concurrency *a, const struct order *order, uint32_t *at,
                      const uint32_t *ops, uint32_t count, const uint32_t *launch,
                      uint32_t n_launches)
{
    *a = (struct concurrency){
        .order = order, .ops = ops, .count = count, .launch = launch, .n_launches = n_launches};
    a->launches = mem_calloc(n_launches, sizeof *a->launches);
    a->chain = mem_calloc(count, sizeof *a->chain);
    a->before_first = mem_calloc((size_t)count + 1, sizeof *a->before_first);
    a->user_first = mem_calloc((size_t)count + 1, sizeof *a->user_first);
    a->left = mem_calloc(count, sizeof *a->left);
    a->next = mem_calloc(count, sizeof *a->next);
    a->ran = mem_calloc(count, sizeof *a->ran);
    a->budget = UINT64_MAX;
    for (uint32_t i = 0; i < n_launches; i++)
        a->launches[i] = (struct concurrency_launch){.first = NONE, .last = NONE, .stream = NONE};
    find_chains(a);
    for (uint32_t i = 0; i < count; i++)
        at[ops[i]] = i;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t e = order->first[ops[i]]; e < order->first[ops[i] + 1]; e++) {
            uint32_t from = at[order->edges[e].from];
            if (from == NONE)
                continue;
            assert(from < i);
            vec_push(&a->before, from);
            a->user_first[from + 1]++;
        }
        a->before_first[i + 1] = a->before.count;
    }
    for (uint32_t i = 0; i < count; i++) {
        a->user_first[i + 1] += a->user_first[i];
        a->left[i] = a->user_first[i];
        at[ops[i]] = NONE;
    }
    a->users = mem_calloc(a->before.count, sizeof *a->users);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t b = a->before_first[i]; b < a->before_first[i + 1]; b++)
            a->users[a->left[a->before.at[b]]++] = i;
}

void concurrency_free(struct concurrency *a)
{
    for (uint32_t i = 0; i < a->n_launches; i++)
        vec_free(&a->launches[i].choices);
    mem_free(a->launches);
    mem_free(a->chain);
    mem_free(a->user_first);
    mem_free(a->users);
    mem_free(a->before_first);
    vec_free(&a->before);
    mem_free(a->left);
    mem_free(a->next);
    mem_free(a->ran);
    id_map_free(&a->last_of);
}

/* ---------------------------------------------------------------------------- streams ---- */

/* The last place of what begins at a place and counts on its stream; NONE: nothing begins there. */
static uint32_t end_of(const struct concurrency *a, uint32_t place, uint32_t *stream)
{
    if (!executes(a, place))
        return NONE;
    if (a->launch[place] == NONE) {
        *stream = a->order->stream[a->ops[place]];
        return place;
    }
    const struct concurrency_launch *launch = &a->launches[a->launch[place]];
    *stream = launch->stream;
    return launch->placed && launch->first == place ? launch->last : NONE;
}

/* Who follows whom on the streams. Returns whether all do so in the order of the run. */
static bool link_streams(struct concurrency *a)
{
    bool forward = true;
    id_map_clear(&a->last_of);
    memset(a->next, 0xff, a->count * sizeof *a->next); /* NONE */
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t stream, end = end_of(a, i, &stream);
        if (end == NONE)
            continue;
        uint32_t *last = id_map_at(&a->last_of, stream == NONE ? 0 : stream + 1);
        if (*last != NONE) {
            a->next[*last] = i;
            forward = forward && *last < i;
        }
        *last = end;
    }
    a->work += a->count;
    return forward;
}

/* For how many others each place waits, but for those of its launch and stream. */
static void count_waits(struct concurrency *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        a->left[i] = a->before_first[i + 1] - a->before_first[i];
}

/* ----------------------------------------------------------------------------- running ---- */

/* The run, op by op: on each stream a launch begins when the one before it has ended. */
struct runner {
    struct concurrency *a;
    struct heap ready;    /* places that wait for nothing but, maybe, their stream */
    struct vec_u32 later; /* those that wait for that */
    uint8_t *done;        /* by place */
    uint32_t *run;        /* by launch: how many of its ops */
    struct id_map open;   /* by stream + 1: the launch that has begun and not ended, or NONE */
    uint32_t *seen, stamp;
    struct vec_u32 path;
    uint32_t count;
};

static uint32_t *open_on(struct runner *r, uint32_t stream)
{
    return id_map_at(&r->open, stream == NONE ? 0 : stream + 1);
}

/* The stream that an op that executes something is launched on. False: its launch has none yet. */
static bool stream_of(const struct concurrency *a, uint32_t place, uint32_t *stream)
{
    uint32_t launch = a->launch[place];
    *stream = launch == NONE ? a->order->stream[a->ops[place]] : a->launches[launch].stream;
    return launch == NONE || a->launches[launch].placed;
}

static void meet_place(struct runner *r, uint32_t place)
{
    if (r->done[place] || r->seen[place] == r->stamp)
        return;
    r->seen[place] = r->stamp;
    vec_push(&r->path, place);
}

static void meet_launch(struct runner *r, uint32_t launch)
{
    const struct concurrency *a = r->a;
    for (uint32_t i = a->launches[launch].first; i != NONE; i = a->chain[i])
        meet_place(r, i);
}

/* All that a place needs: what it waits for, and the launch that has its stream. */
static void meet_needs(struct runner *r, uint32_t place)
{
    struct concurrency *a = r->a;
    uint32_t stream;
    for (uint32_t b = a->before_first[place]; b < a->before_first[place + 1]; b++)
        meet_place(r, a->before.at[b]);
    if (!executes(a, place) || !stream_of(a, place, &stream))
        return;
    uint32_t open = *open_on(r, stream);
    if (open != NONE && open != a->launch[place])
        meet_launch(r, open);
}

/* Whether a launch can begin: it needs nothing that would come behind it on its stream. */
static bool may_begin(struct runner *r, uint32_t launch)
{
    struct concurrency *a = r->a;
    uint32_t stream;
    bool ok = true;
    r->stamp++;
    r->path.count = 0;
    meet_launch(r, launch);
    while (r->path.count && ok) {
        uint32_t place = r->path.at[--r->path.count];
        a->work++;
        ok = a->launch[place] == launch || !executes(a, place) || !stream_of(a, place, &stream) ||
             stream != a->launches[launch].stream;
        meet_needs(r, place);
    }
    return ok;
}

static void run_place(struct runner *r, uint32_t place)
{
    struct concurrency *a = r->a;
    uint32_t launch = a->launch[place], stream;
    bool placed = stream_of(a, place, &stream);
    r->done[place] = 1;
    a->ran[r->count++] = a->ops[place];
    if (launch != NONE && executes(a, place) && placed) {
        bool ends = ++r->run[launch] == a->launches[launch].count;
        *open_on(r, stream) = ends ? NONE : launch;
    }
    for (uint32_t u = a->user_first[place]; u < a->user_first[place + 1]; u++)
        if (--a->left[a->users[u]] == 0)
            heap_push(&r->ready, a->users[u], a->users[u]);
    for (uint32_t i = 0; i < r->later.count; i++)
        heap_push(&r->ready, r->later.at[i], r->later.at[i]);
    r->later.count = 0;
}

/* Whether the place can be run now, without beginning a launch. */
static bool is_ready(struct runner *r, uint32_t place)
{
    const struct concurrency *a = r->a;
    uint32_t launch = a->launch[place], stream;
    if (!executes(a, place) || !stream_of(a, place, &stream))
        return true;
    return launch == NONE ? *open_on(r, stream) == NONE : r->run[launch] > 0;
}

/* Begins the first launch that can. */
static bool run_later(struct runner *r)
{
    const struct concurrency *a = r->a;
    for (uint32_t i = 0; i < r->later.count; i++) {
        uint32_t place = r->later.at[i], launch = a->launch[place];
        if (launch == NONE || *open_on(r, a->launches[launch].stream) != NONE ||
            a->work > a->budget || !may_begin(r, launch))
            continue;
        r->later.at[i] = r->later.at[--r->later.count];
        run_place(r, place);
        return true;
    }
    return false;
}

static bool run_all(struct concurrency *a)
{
    struct runner r = {.a = a};
    r.done = mem_calloc(a->count, 1);
    r.run = mem_calloc(a->n_launches, sizeof *r.run);
    r.seen = mem_calloc(a->count, sizeof *r.seen);
    count_waits(a);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->left[i] == 0)
            heap_push(&r.ready, i, i);
    while (r.ready.count || r.later.count) {
        uint32_t place = r.ready.count ? heap_pop(&r.ready) : NONE;
        a->work++;
        if (place != NONE && is_ready(&r, place))
            run_place(&r, place);
        else if (place != NONE)
            vec_push(&r.later, place);
        else if (!run_later(&r))
            break;
    }
    heap_free(&r.ready);
    vec_free(&r.later);
    vec_free(&r.path);
    id_map_free(&r.open);
    mem_free(r.done);
    mem_free(r.run);
    mem_free(r.seen);
    return r.count == a->count;
}

bool concurrency_fits(struct concurrency *a)
{
    if (a->work > a->budget)
        return false;
    if (!link_streams(a))
        return run_all(a);
    memcpy(a->ran, a->ops, a->count * sizeof *a->ran);
    return true;
}

/* Depth first: a launch gets its next stream as long as those before it fit. */
bool concurrency_find(struct concurrency *a)
{
    uint32_t *choice = mem_calloc(a->n_launches, sizeof *choice), at = 0;
    for (uint32_t i = 0; i < a->n_launches; i++)
        a->launches[i].placed = false;
    while (at < a->n_launches && a->work <= a->budget) {
        struct concurrency_launch *launch = &a->launches[at];
        launch->placed = choice[at] < launch->choices.count;
        if (launch->placed) {
            launch->stream = launch->choices.at[choice[at]++];
            if (!concurrency_fits(a))
                continue;
            if (++at < a->n_launches)
                choice[at] = 0;
        } else if (at == 0) {
            break;
        } else {
            at--;
        }
    }
    bool found = at == a->n_launches;
    mem_free(choice);
    return found;
}

/* ------------------------------------------------------------------------------- text ---- */

struct sorter {
    struct concurrency *a;
    struct heap ready; /* places */
    struct heap *of;   /* the same by launch */
    uint8_t *done;     /* by place */
    uint32_t *sorted, count;
};

static void offer(struct sorter *s, uint32_t place)
{
    heap_push(&s->ready, place, place);
    if (s->a->launch[place] != NONE)
        heap_push(&s->of[s->a->launch[place]], place, place);
}

static void take(struct sorter *s, uint32_t place)
{
    struct concurrency *a = s->a;
    s->done[place] = 1;
    s->sorted[s->count++] = a->ops[place];
    for (uint32_t u = a->user_first[place]; u < a->user_first[place + 1]; u++)
        if (--a->left[a->users[u]] == 0)
            offer(s, a->users[u]);
    if (a->next[place] != NONE && --a->left[a->next[place]] == 0)
        offer(s, a->next[place]);
    if (a->chain[place] != NONE && --a->left[a->chain[place]] == 0)
        offer(s, a->chain[place]);
}

/* The first that is ready, of a launch if it has one. */
static uint32_t choose(struct sorter *s, uint32_t launch)
{
    if (launch != NONE && s->of[launch].count)
        return heap_pop(&s->of[launch]);
    for (;;) {
        uint32_t place = heap_pop(&s->ready);
        if (s->done[place])
            continue;
        if (s->a->launch[place] != NONE)
            heap_pop(&s->of[s->a->launch[place]]); /* the same, as it is the first there, too */
        return place;
    }
}

void concurrency_sort(struct concurrency *a, uint32_t *sorted)
{
    struct sorter s = {.a = a, .sorted = sorted};
    uint32_t launch = NONE;
    s.of = mem_calloc(a->n_launches, sizeof *s.of);
    s.done = mem_calloc(a->count, 1);
    link_streams(a);
    count_waits(a);
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->next[i] != NONE)
            a->left[a->next[i]]++;
        if (a->chain[i] != NONE)
            a->left[a->chain[i]]++;
    }
    for (uint32_t i = 0; i < a->count; i++)
        if (a->left[i] == 0)
            offer(&s, i);
    while (s.count < a->count) {
        uint32_t place = choose(&s, launch);
        launch = a->launch[place] != NONE ? a->launch[place] : launch;
        take(&s, place);
    }
    for (uint32_t i = 0; i < a->n_launches; i++)
        heap_free(&s.of[i]);
    mem_free(s.of);
    mem_free(s.done);
    heap_free(&s.ready);
}

/* -------------------------------------------------------------------------- components ---- */

/* The run as a graph of places in which all of a launch need each other: what waits for itself
 * there is a component. */
struct parts {
    struct concurrency *a;
    uint32_t *first, *to; /* by place: what it waits for, so that components come in order */
    uint32_t *edge;       /* by place: the next of its edges */
    struct components components;
};

static void add_part_edge(struct parts *p, uint32_t *fill, uint32_t from, uint32_t to)
{
    if (fill)
        p->to[fill[to]++] = from;
    else
        p->first[to + 1]++;
}

static void add_part_edges(struct parts *p, uint32_t *fill)
{
    const struct concurrency *a = p->a;
    for (uint32_t i = 0; i < a->count; i++) {
        for (uint32_t u = a->user_first[i]; u < a->user_first[i + 1]; u++)
            add_part_edge(p, fill, i, a->users[u]);
        if (a->next[i] != NONE)
            add_part_edge(p, fill, i, a->next[i]);
        if (a->chain[i] != NONE)
            add_part_edge(p, fill, i, a->chain[i]);
        const struct concurrency_launch *launch =
            a->launch[i] == NONE ? NULL : &a->launches[a->launch[i]];
        if (!launch || launch->first == NONE)
            continue;
        if (!executes(a, i))
            add_part_edge(p, fill, launch->first, i);
        if (!executes(a, i) || (launch->last == i && launch->first != i))
            add_part_edge(p, fill, i, launch->first);
    }
}

static uint32_t next_place(void *context, uint32_t place)
{
    struct parts *p = context;
    return p->edge[place] < p->first[place + 1] ? p->to[p->edge[place]++] : NONE;
}

static void find_components(struct parts *p)
{
    uint32_t n = p->a->count;
    p->first = mem_calloc((size_t)n + 1, sizeof *p->first);
    p->edge = mem_calloc(n, sizeof *p->edge);
    add_part_edges(p, NULL);
    for (uint32_t i = 0; i < n; i++)
        p->first[i + 1] += p->first[i];
    p->to = mem_calloc(p->first[n], sizeof *p->to);
    memcpy(p->edge, p->first, n * sizeof *p->edge);
    add_part_edges(p, p->edge);
    memcpy(p->edge, p->first, n * sizeof *p->edge);
    components_init(&p->components, n);
    for (uint32_t i = 0; i < n; i++)
        components_find(&p->components, i, next_place, p);
}

static void parts_free(struct parts *p)
{
    mem_free(p->first);
    mem_free(p->to);
    mem_free(p->edge);
    components_free(&p->components);
}

void concurrency_arrange(struct concurrency *a, uint32_t *sorted, uint32_t *component)
{
    struct parts p = {.a = a};
    uint32_t *inner = mem_calloc(a->count, sizeof *inner);
    struct id_map at = {NULL, 0, 0}; /* by op: its place */
    concurrency_sort(a, inner);
    find_components(&p);
    const uint32_t *of = p.components.of;
    uint32_t *fill = mem_calloc((size_t)p.components.count + 1, sizeof *fill);
    for (uint32_t i = 0; i < a->count; i++) {
        id_map_set(&at, a->ops[i], i);
        fill[of[i] + 1]++;
    }
    for (uint32_t c = 0; c < p.components.count; c++)
        fill[c + 1] += fill[c];
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t c = of[id_map_find(&at, inner[i])];
        component[fill[c]] = c;
        sorted[fill[c]++] = inner[i];
    }
    parts_free(&p);
    id_map_free(&at);
    mem_free(inner);
    mem_free(fill);
}
