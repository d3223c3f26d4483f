/* The order of inputs in the result, where it is not that in which they were added. */
#include "backend/object/object.h"

#include "backend/object/internal.h"

#include <string.h>

static bool defines(const struct object_input *input, const char *symbol)
{
    for (uint32_t i = input->local_count; i < input->symbol_count; i++)
        if (input->symbols[i].section != OBJECT_UNDEFINED &&
            strcmp(input->symbols[i].name, symbol) == 0)
            return true;
    return false;
}

bool object_link_place(struct object_link *link, unsigned group, const char *symbol, unsigned rank)
{
    bool found = false;
    if (link->error.set)
        return false;
    struct object_input *input = object_map_get(&link->groups, group, "");
    for (; input && !found; input = input->next_in_group) {
        if (symbol && !defines(input, symbol))
            continue;
        input->rank = rank;
        found = symbol != NULL;
    }
    return found || !symbol ||
           object_fail(&link->error, "no definition of '%.300s', which is to be placed", symbol);
}

static unsigned rank_of(const struct object_input *input)
{
    return input->original ? input->original->rank : input->rank;
}

static unsigned highest_rank(const struct object_link *link)
{
    unsigned highest = 0;
    for (const struct object_input *input = link->first_input; input; input = input->next)
        highest = rank_of(input) > highest ? rank_of(input) : highest;
    return highest;
}

/* The order of a rank stays, so what is copied stays before its copies. */
void object_sort_inputs(struct object_link *link)
{
    unsigned highest = highest_rank(link);
    if (highest == 0)
        return;
    struct object_input *rest = link->first_input, **rest_tail = &rest;
    link->input_tail = &link->first_input;
    for (unsigned rank = 0; rest; rank++) {
        struct object_input *input = rest;
        for (rest_tail = &rest; input; input = input->next) {
            struct object_input ***tail = rank_of(input) == rank ? &link->input_tail : &rest_tail;
            **tail = input;
            *tail = &input->next;
        }
        *rest_tail = NULL;
    }
    *link->input_tail = NULL;
}
