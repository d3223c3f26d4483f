#include "ir/shapes/gears.h"
#include "ir/support/parts.h"
#include "passes/lower/insertion_points.h"
#include "passes/lower/superkernel.h"
#include "passes/lower/visit.h"

/* What all parts of a visit share. */
struct visits {
    struct pass_context *context;
    bool (*visit)(struct superkernel *sk);
    bool (*wants)(const struct sk_options *options); /* NULL: whatever they are */
    void *user;
    struct entry_change *changes; /* by entry: what parts have done */
    bool failed;                  /* atomic */
};

struct visitor {
    struct superkernel sk;
    const struct visits *visits;
    struct group_namer namer;
    uint32_t *index; /* a copy of the graph's, for calls in another order */
};

/* Records stand between what passes recognise by its place. They are none of a pass's
 * business, and their places follow from the rest. */
static bool visit_one(struct visitor *visitor)
{
    struct superkernel *sk = &visitor->sk;
    sk->records = records_take(sk);
    uint64_t checked = records_checked(sk);
    bool ok = visitor->visits->visit(sk);
    if (ok) {
        records_make(sk, sk->records);
        records_recheck(sk, checked);
    }
    return ok;
}

/* ----------------------------------------------------------------------------- turns ---- */

/* Visits a super kernel whose programs call its ops in another order than the list: by turns. */
static bool visit_turned(struct visitor *visitor, const struct members *members,
                         struct called *called)
{
    struct superkernel *sk = &visitor->sk;
    const uint32_t *listed = sk->ops;
    uint32_t count = sk->graph->ops.count;
    uint32_t *turns = mem_calloc(sk->count, sizeof *turns), *ops = NULL;
    bool ok = turns_find(sk, called, turns);
    if (!ok) {
        mem_free(turns);
        return false;
    }
    if (!visitor->index) {
        visitor->index = mem_calloc(count, sizeof *visitor->index);
        memcpy(visitor->index, members->index, count * sizeof *visitor->index);
    }
    ops = mem_calloc(sk->count, sizeof *ops);
    for (uint32_t turn = 0; turn < sk->count; turn++) {
        ops[turn] = listed[turns[turn]];
        visitor->index[ops[turn]] = turn;
    }
    for (uint32_t group = 0; group < sk->n_grouped; group++)
        if (called->place[group] != NONE)
            called->place[group] = visitor->index[listed[called->place[group]]];
    sk->index = visitor->index;
    sk->ops = ops;
    sk->listed = turns;
    ok = visit_one(visitor);
    sk->ops = listed;
    sk->listed = NULL;
    sk->index = members->index;
    for (uint32_t turn = 0; turn < sk->count; turn++)
        visitor->index[ops[turn]] = members->index[ops[turn]];
    mem_free(turns);
    mem_free(ops);
    return ok;
}

/* --------------------------------------------------------------------- super kernels ---- */

/* An entry that calls something else than the ops may be an edited dump. */
static bool visit_entry(struct visitor *visitor, struct entry *entry, const struct members *members,
                        const uint32_t *grouped)
{
    struct superkernel *sk = &visitor->sk;
    struct group_name *names = mem_calloc(sk->count, sizeof *names); /* by place in the list */
    struct called called;
    sk->entry = entry;
    sk->change = (struct entry_change){.entry = entry, .in_part = part_runs()};
    group_namer_clear(&visitor->namer);
    for (uint32_t group = 0; group < sk->count; group++)
        names[grouped[group]] =
            group_name_of(&visitor->namer, sk->graph, superkernel_op(sk, grouped[group]));
    bool ok = called_find(&called, &(struct called_source){.diags = sk->context->diags,
                                                           .module = sk->module,
                                                           .graph = sk->graph,
                                                           .superkernel = sk->block,
                                                           .entry = entry,
                                                           .ops = sk->ops,
                                                           .count = sk->count,
                                                           .grouped = grouped,
                                                           .names = names});
    sk->grouped = called.place;
    sk->n_grouped = entry_named_groups(entry);
    if (ok)
        ok = called.in_order ? visit_one(visitor) : visit_turned(visitor, members, &called);
    called_free(&called);
    mem_free(names);
    if (sk->change.copied)
        visitor->visits->changes[entry_id(sk->module, entry)] = sk->change;
    return ok;
}

static bool visit_graph(struct visitor *visitor)
{
    struct superkernel *sk = &visitor->sk;
    struct analyses *analyses = sk->context->analyses;
    const struct members *members = analyses_members(analyses, sk->module, sk->graph);
    bool ok = true;
    sk->order = analyses_order(analyses, sk->module, sk->graph);
    sk->index = members->index;
    for (uint32_t b = 0; b < sk->graph->blocks.count; b++) {
        const struct block *block = &sk->graph->blocks.at[b];
        if (block->kind != BLOCK_SUPERKERNEL)
            continue;
        sk->block = block;
        struct entry *entry = block_entry(sk->module, block);
        sk->ops = members->ops + members->first[b];
        sk->count = members->first[b + 1] - members->first[b];
        sk->options = block_options(sk->module, block);
        if (!visitor->visits->wants || visitor->visits->wants(sk->options))
            ok = visit_entry(visitor, entry, members, members->grouped + members->first[b]) && ok;
    }
    mem_free(visitor->index);
    visitor->index = NULL;
    return ok;
}

/* --------------------------------------------------------------------------- all parts ---- */

static void visit_part(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct visits *visits = user;
    struct pass_context context = *visits->context;
    struct module *module = context.module;
    struct visitor visitor = {.sk = {.context = &context, .module = module, .user = visits->user},
                              .visits = visits,
                              .namer = {.module = module}};
    bool ok = true;
    context.diags = diags;
    for (uint32_t i = first; i < end; i++) {
        visitor.sk.graph = &module->graphs.at[i];
        gears_tell_copy(diags, module, visitor.sk.graph);
        ok = visit_graph(&visitor) && ok;
    }
    gears_tell_copy(diags, module, NULL);
    group_namer_free(&visitor.namer);
    if (!ok)
        __atomic_store_n(&visits->failed, true, __ATOMIC_RELAXED);
}

static uint64_t visit_weight(const void *user, uint32_t item)
{
    const struct visits *visits = user;
    return 2 * (uint64_t)visits->context->module->graphs.at[item].ops.count;
}

/* Whether each entry is that of one super kernel at most. */
static bool entries_are_apart(const struct module *module)
{
    uint8_t *seen = mem_calloc(module->entries.count, 1);
    bool apart = true;
    for (uint32_t i = 0; apart && i < module->graphs.count; i++)
        for (uint32_t b = 0; apart && b < module->graphs.at[i].blocks.count; b++) {
            const struct block *block = &module->graphs.at[i].blocks.at[b];
            if (block->kind != BLOCK_SUPERKERNEL)
                continue;
            uint32_t id = entry_id(module, block_entry(module, block));
            apart = !seen[id];
            seen[id] = 1;
        }
    mem_free(seen);
    return apart;
}

/* So that no part is left for a text of options that was not asked for before. */
static void parse_options(const struct module *module)
{
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t b = 0; b < module->graphs.at[i].blocks.count; b++)
            if (module->graphs.at[i].blocks.at[b].kind == BLOCK_SUPERKERNEL)
                block_options(module, &module->graphs.at[i].blocks.at[b]);
}

static bool visit_all(struct visits *visits, bool in_parts)
{
    struct module *module = visits->context->module;
    analyses_make_members(visits->context->analyses, module);
    if (!in_parts || module->threads.most <= 1 || module->graphs.count <= 1 ||
        !entries_are_apart(module)) {
        visit_part(visits, 0, module->graphs.count, visits->context->diags);
        return !visits->failed;
    }
    parse_options(module);
    visits->changes = mem_calloc(module->entries.count, sizeof *visits->changes);
    parts_run(&(struct parts){.threads = module->threads,
                              .count = module->graphs.count,
                              .weight = visit_weight,
                              .work = visit_part,
                              .user = visits},
              visits->context->diags);
    for (uint32_t i = 0; i < module->entries.count; i++)
        entry_change_take(&visits->changes[i]);
    mem_free(visits->changes);
    return !visits->failed;
}

bool superkernels_visit(struct pass_context *context, bool (*visit)(struct superkernel *sk))
{
    return superkernels_visit_if(context, NULL, visit);
}

bool superkernels_visit_if(struct pass_context *context,
                           bool (*wants)(const struct sk_options *options),
                           bool (*visit)(struct superkernel *sk))
{
    return visit_all(&(struct visits){.context = context, .visit = visit, .wants = wants}, true);
}

bool superkernels_visit_in_turn(struct pass_context *context, bool (*visit)(struct superkernel *sk),
                                void *user)
{
    return visit_all(&(struct visits){.context = context, .visit = visit, .user = user}, false);
}
