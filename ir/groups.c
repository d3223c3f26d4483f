#include "ir/groups.h"

uint32_t entry_named_groups(const struct entry *entry)
{
    uint32_t count = entry->groups.count;
    while (count > 0 && entry->groups.at[count - 1].name == NONE)
        count--;
    return count;
}

/* --------------------------------------------------------------------------- entries ---- */

struct entry entry_make(uint32_t name, enum kernel_type type)
{
    assert((unsigned)type < KERNEL_TYPE_COUNT);
    return (struct entry){.name = name, .loc = NONE, .end_loc = NONE, .type = type};
}

/* ---------------------------------------------------------------------------- making ---- */

void entry_add_group(struct entry *entry, uint32_t name, bool word, uint32_t loc)
{
    vec_push(&entry->groups, (struct arg_group){name, word, loc, {entry->args.count, 0}});
}

void entry_add_arg(struct entry *entry, struct arg arg)
{
    assert(entry->groups.count > 0);
    vec_push(&entry->args, arg);
    entry->groups.at[entry->groups.count - 1].args.count++;
}

/* Makes room for `count` arguments before group `at`. */
static uint32_t open_gap(struct entry *entry, uint32_t at, uint32_t count)
{
    uint32_t first = at < entry->groups.count ? entry->groups.at[at].args.first : entry->args.count;
    vec_reserve(&entry->args, count);
    memmove(entry->args.at + first + count, entry->args.at + first,
            (entry->args.count - first) * sizeof *entry->args.at);
    entry->args.count += count;
    for (uint32_t i = at; i < entry->groups.count; i++)
        entry->groups.at[i].args.first += count;
    return first;
}

void entry_insert_words(struct entry *entry, uint32_t at, uint32_t word, uint32_t count)
{
    assert(at >= entry_named_groups(entry) && at <= entry->groups.count && count > 0);
    uint32_t first = open_gap(entry, at, count);
    for (uint32_t i = 0; i < count; i++)
        entry->args.at[first + i] = (struct arg){.kind = ARG_WORD, .id = word};
    vec_reserve(&entry->groups, 1);
    memmove(entry->groups.at + at + 1, entry->groups.at + at,
            (entry->groups.count - at) * sizeof *entry->groups.at);
    entry->groups.count++;
    entry->groups.at[at] = (struct arg_group){NONE, false, NONE, {first, count}};
}

/* ----------------------------------------------------------------------------- words ---- */

static bool is_word(const struct entry *entry, uint32_t arg, uint32_t word)
{
    return entry->args.at[arg].kind == ARG_WORD && entry->args.at[arg].id == word;
}

uint32_t entry_slot(const struct entry *entry, uint32_t word)
{
    for (uint32_t g = entry_named_groups(entry); g < entry->groups.count; g++) {
        struct range args = entry->groups.at[g].args;
        for (uint32_t i = args.first; i < args.first + args.count; i++)
            if (is_word(entry, i, word))
                return arg_slot(entry, i);
    }
    return NONE;
}

uint32_t entry_profile_slot(const struct entry *entry)
{
    uint32_t slot = entry_slot(entry, W_profiling);
    uint32_t next = slot + 1 - arg_slot(entry, 0); /* among the arguments */
    bool found = slot != NONE && next < entry->args.count && is_word(entry, next, W_profiling);
    return found ? slot : NONE;
}

uint32_t group_find_tiling(const struct entry *entry, const struct arg_group *group)
{
    uint32_t end = group->args.first + group->args.count;
    for (uint32_t i = group->args.first; i + 2 < end; i++)
        if (is_word(entry, i, W_tiling_key) && is_word(entry, i + 1, W_block_num) &&
            is_word(entry, i + 2, W_lock))
            return arg_slot(entry, i);
    return NONE;
}

/* ---------------------------------------------------------------------------- events ---- */

static struct id_map *map_of(struct event_slots *slots, const struct arg *arg)
{
    return arg->kind == ARG_SEND ? &slots->sends : arg->kind == ARG_RECV ? &slots->recvs : NULL;
}

void event_slots_take(struct event_slots *slots, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->args.count; i++) {
        struct id_map *map = map_of(slots, &entry->args.at[i]);
        if (map && id_map_find(map, entry->args.at[i].id) == NONE)
            id_map_set(map, entry->args.at[i].id, arg_slot(entry, i));
    }
}

void event_slots_leave(struct event_slots *slots, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->args.count; i++) {
        struct id_map *map = map_of(slots, &entry->args.at[i]);
        if (map)
            id_map_unset(map, entry->args.at[i].id);
    }
}

void event_slots_free(struct event_slots *slots)
{
    id_map_free(&slots->sends);
    id_map_free(&slots->recvs);
}

uint32_t instr_event_slot(const struct event_slots *slots, const struct entry *entry,
                          const struct instr *instr)
{
    assert(instr_info(instr->op)->effect == EFFECT_EVENT);
    if (!instr->word)
        return id_map_find(instr->op == INSTR_notify ? &slots->sends : &slots->recvs,
                           instr->number[0]);
    uint32_t tiling = group_find_tiling(entry, &entry->groups.at[instr->number[0]]);
    return tiling == NONE ? NONE : tiling + 2;
}
