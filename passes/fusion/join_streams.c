/* On which streams parts of groups can run side by side. */
#include "ir/abreast.h"
#include "passes/fusion/joiner.h"

#include <string.h>

/* Places that are looked at for the streams of launches side by side; in a short search per op. */
enum { STREAM_SEARCH = 1 << 20, SHORT_SEARCH = 64 };

/* The streams that ops of each group are on. */
static void find_labels(struct join *j)
{
    const struct fusion *f = j->f;
    j->labels = mem_calloc(f->groups.count, sizeof *j->labels);
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        uint32_t op = f->order->text[i], label = f->order->stream[op], n = 0;
        struct vec_u32 *labels = &j->labels[f->group_of[op]];
        if (f->order->passive[op] || f->group_of[op] == GROUP_NONE)
            continue;
        while (n < labels->count && labels->at[n] != label)
            n++;
        if (n == labels->count)
            vec_push(labels, label);
    }
}

static void add_choice(struct vec_u32 *choices, uint32_t label)
{
    for (uint32_t i = 0; i < choices->count; i++)
        if (choices->at[i] == label)
            return;
    vec_push(choices, label);
}

/* The stream that the part would have alone; then those of its ops, and of others of its group,
 * with which it may be joined later on. A super kernel of the text that is whole has its own. */
static void find_choices(struct join *j, uint32_t part, const uint32_t *ops, uint32_t count,
                         struct vec_u32 *choices)
{
    const struct fusion *f = j->f;
    uint32_t stream, group = j->parts.at[part - 1].group;
    fusion_stream(f, &(struct segment){.group = group, .count = count}, ops, &stream);
    vec_push(choices, stream);
    if (f->mode == FUSION_FILTER || fusion_same_superkernel(f, ops, count) == NONE) {
        uint32_t block = f->groups.at[group].block;
        if (f->graph->blocks.at[block].kind == BLOCK_SUPERKERNEL)
            add_choice(choices, fusion_given_stream(f, block));
        for (uint32_t i = 0; i < count; i++)
            if (!f->order->passive[ops[i]])
                add_choice(choices, f->order->stream[ops[i]]);
        for (uint32_t i = 0; i < j->labels[group].count; i++)
            add_choice(choices, j->labels[group].at[i]);
    }
}

/* The ops of a run, launch by launch: those of launch i from first[i] to first[i + 1]. */
struct launch_ops {
    uint32_t *ops, *first;
};

static struct launch_ops find_launch_ops(const struct abreast *a)
{
    struct launch_ops m = {.ops = mem_calloc(a->count, sizeof *m.ops),
                           .first = mem_calloc((size_t)a->n_launches + 1, sizeof *m.first)};
    uint32_t *fill = mem_calloc((size_t)a->n_launches + 1, sizeof *fill);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->launch[i] != NONE)
            m.first[a->launch[i] + 1]++;
    for (uint32_t i = 0; i < a->n_launches; i++)
        m.first[i + 1] += m.first[i];
    memcpy(fill, m.first, a->n_launches * sizeof *fill);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->launch[i] != NONE)
            m.ops[fill[a->launch[i]]++] = a->ops[i];
    mem_free(fill);
    return m;
}

/* Choices of the launches that have none; only of those whose stream is unknown. */
static void add_choices(struct join *j, struct abreast *a, const struct vec_u32 *parts,
                        bool unknown)
{
    struct launch_ops m = find_launch_ops(a);
    for (uint32_t i = 0; i < a->n_launches; i++)
        if (a->launches[i].choices.count == 0 &&
            (!unknown || j->parts.at[parts->at[i] - 1].stream == MANY))
            find_choices(j, parts->at[i], m.ops + m.first[i], m.first[i + 1] - m.first[i],
                         &a->launches[i].choices);
    mem_free(m.ops);
    mem_free(m.first);
}

/* Numbers the parts of some ops. */
uint32_t *join_number_parts(struct join *j, const uint32_t *ops, uint32_t count,
                            struct vec_u32 *parts)
{
    uint32_t *launch = mem_calloc(count, sizeof *launch);
    j->stamp++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = j->part_of[ops[i]];
        launch[i] = NONE;
        if (!part)
            continue;
        struct part *p = &j->parts.at[part - 1];
        if (p->stamp != j->stamp) {
            p->stamp = j->stamp;
            p->index = parts->count;
            vec_push(parts, part);
        }
        launch[i] = p->index;
    }
    return launch;
}

/* Whether there are streams for all parts among some ops; they are then theirs. Those that parts
 * have are tried first. The ops get an order in which launches of a stream do not overlap. */
bool join_find_streams(struct join *j, uint32_t *ops, uint32_t count)
{
    struct abreast abreast;
    struct vec_u32 parts = {NULL, 0, 0};
    uint32_t *launch = join_number_parts(j, ops, count, &parts);
    if (!j->labels)
        find_labels(j);
    abreast_init(&abreast, j->f->order, j->at, ops, count, launch, parts.count);
    abreast.budget = STREAM_SEARCH;
    if (j->is_short && count < STREAM_SEARCH / SHORT_SEARCH)
        abreast.budget = (uint64_t)count * SHORT_SEARCH;
    add_choices(j, &abreast, &parts, true);
    for (uint32_t i = 0; i < parts.count; i++) {
        struct abreast_launch *l = &abreast.launches[i];
        uint32_t known = j->parts.at[parts.at[i] - 1].stream;
        l->stream = known == MANY ? l->choices.at[0] : known;
        l->placed = true;
    }
    bool found = abreast_fits(&abreast);
    if (!found) {
        add_choices(j, &abreast, &parts, false);
        found = abreast_find(&abreast);
    }
    for (uint32_t i = 0; i < parts.count && found; i++)
        j->parts.at[parts.at[i] - 1].stream = abreast.launches[i].stream;
    if (found)
        memcpy(ops, abreast.ran, count * sizeof *ops);
    j->work += abreast.work;
    abreast_free(&abreast);
    mem_free(launch);
    vec_free(&parts);
    return found;
}
