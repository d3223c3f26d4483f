/* Variables that groups share. Code that is compiled apart but runs as one, such as an entry and
 * the kernels that it calls, has inline variables of the same headers: each object has a weak
 * definition of its own, and means the same variable. */
#include "backend/object/object.h"

#include "backend/object/internal.h"

#include <string.h>

bool object_link_share(struct object_link *link, unsigned group)
{
    if (link->error.set)
        return false;
    struct object_share *share = object_alloc(&link->arena, 1, sizeof *share);
    *share = (struct object_share){group, link->first_share};
    link->first_share = share;
    return true;
}

static bool group_shares(const struct object_link *link, unsigned group)
{
    for (const struct object_share *share = link->first_share; share; share = share->next)
        if (share->group == group)
            return true;
    return false;
}

static bool is_variable(const struct object_global *global)
{
    if (global->strength == OBJECT_NONE)
        return true; /* what it is, its definition says */
    if (global->type != STT_NOTYPE)
        return global->type == STT_OBJECT;
    const struct object_section *home = object_symbol_section(global->input, global->symbol);
    return home && !(home->flags & SHF_EXECINSTR);
}

/* The strongest definition of a group that shares, or else a mention. */
static void choose_own(struct object_map *names, struct object_global *global)
{
    void **place = object_map_at(names, 0, global->name);
    const struct object_global *chosen = *place;
    if (!chosen || global->strength > chosen->strength)
        *place = global;
}

/* The first definition of another group, where there is none. */
static void choose_other(struct object_map *names, struct object_global *global)
{
    const struct object_global *chosen = object_map_get(names, 0, global->name);
    if (chosen && chosen->strength == OBJECT_NONE && global->strength < OBJECT_STRONG)
        *object_map_at(names, 0, global->name) = global;
}

static void choose_all(struct object_writer *writer, struct object_map *names, bool own)
{
    for (struct object_global *global = writer->first_global; global; global = global->next) {
        if (!is_variable(global) || group_shares(writer->link, global->input->group) != own)
            continue;
        if (own)
            choose_own(names, global);
        else
            choose_other(names, global);
    }
}

void object_share_variables(struct object_writer *writer)
{
    struct object_map names = {NULL, 0, 0};
    if (!writer->link->first_share)
        return;
    choose_all(writer, &names, true);
    choose_all(writer, &names, false);
    for (struct object_global *global = writer->first_global; global; global = global->next) {
        struct object_global *chosen = object_map_get(&names, 0, global->name);
        if (!chosen || chosen == global || chosen->strength == OBJECT_NONE ||
            global->strength == OBJECT_STRONG || !is_variable(global))
            continue;
        global->target = chosen;
        chosen->needed |= global->needed;
    }
    object_map_free(&names);
}
