/* Names of events: those of their senders, so that a change at one op does not rename the events of
 * others. */
#define _GNU_SOURCE /* qsort_r */
#include "ir/base/text.h"
#include "passes/events/inserter.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------- words of memory ---- */

enum { MAX_CANDIDATES = 64 };

/* Whether the use of an outer event that the op `to` waits for is over when the op `from` starts:
 * the op that waited, and all of the launch that it is part of, which clears the event at its end,
 * are complete. */
static bool use_is_over(struct inserter *in, uint32_t to, uint32_t from)
{
    const struct outer_launch *receiver = &in->launches.at[in->launch_of[to]];
    const uint32_t *know = inserter_know(in, BY_LAUNCHES, from);
    if (receiver->block == NONE)
        return inserter_is_known(in, know, to);
    if (in->launch_of[from] == in->launch_of[to])
        return false;
    for (uint32_t i = 0; i < in->n_lanes; i++)
        if (know[i] < receiver->know[BY_LAUNCHES][i])
            return false;
    return true;
}

/* How many words of memory the outer events need: one is used again where its use before is over.
 * `last` has the op that waits for the last use of each. */
static uint32_t count_words(struct inserter *in)
{
    struct vec_u32 last = {NULL, 0, 0};
    for (uint32_t i = 0; i < in->events.count; i++) {
        const struct event *event = &in->events.at[i];
        if (event->inner || event->implied)
            continue;
        uint32_t id = 0, end = last.count < MAX_CANDIDATES ? last.count : MAX_CANDIDATES;
        while (id < end && !use_is_over(in, last.at[id], event->from))
            id++;
        if (id < end)
            last.at[id] = event->to;
        else
            vec_push(&last, event->to);
    }
    uint32_t count = last.count;
    vec_free(&last);
    return count;
}

/* --------------------------------------------------------------------------- names ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* As an integer prints, if it is surely one of 64 bits. */
static bool is_integer(const struct intern_name *name)
{
    for (uint32_t i = 0; i < name->size; i++)
        if (!is_digit(name->text[i]))
            return false;
    return name->size == 1 || (name->size < 19 && name->text[0] != '0');
}

/* A word that stands for a number. */
static bool is_number(const struct intern_name *name)
{
    return name->size == 3 &&
           (memcmp(name->text, "inf", 3) == 0 || memcmp(name->text, "nan", 3) == 0);
}

static bool is_word(const struct intern_name *name)
{
    for (uint32_t i = 0; i < name->size; i++)
        if (!is_letter(name->text[i]) && !is_digit(name->text[i]))
            return false;
    return is_letter(name->text[0]) && !is_number(name);
}

/* The name of an event that is nearest to any name: a word or an integer. */
static uint32_t event_word(struct module *module, uint32_t id)
{
    struct intern_name name = module->names.names[id];
    if (name.size > 0 && (is_word(&name) || is_integer(&name)))
        return id;
    struct text text = {NULL, 0, 0};
    if (name.size == 0 || is_digit(name.text[0]) || is_number(&name))
        text_char(&text, '_');
    for (uint32_t i = 0; i < name.size; i++)
        text_char(&text, is_letter(name.text[i]) || is_digit(name.text[i]) ? name.text[i] : '_');
    uint32_t word = intern_copy(&module->names, text.at, text.size);
    text_free(&text);
    return word;
}

/* What sends: a super kernel, the first result of an op, or what has none, by its type. */
static uint32_t sender_name(const struct inserter *in, const struct event *event)
{
    const struct op *op = &in->graph->ops.at[event->from];
    if (event->from_launch)
        return in->graph->blocks.at[in->launches.at[in->launch_of[event->from]].block].name;
    return op->results.count ? in->graph->values.at[op->results.first].name : op->type;
}

/* The name itself, or that with the first number behind it that no event has yet. */
static uint32_t unused_name(struct inserter *in, uint32_t base)
{
    uint32_t n = id_map_find(in->names, base), name = base;
    const char *lead = is_digit(in->module->names.names[base].text[0]) ? "_" : "";
    if (n == NONE) {
        id_map_set(in->names, base, 1);
        return base;
    }
    while (id_map_find(in->names, name) != NONE)
        name = module_name_printf(in->module, "%s%.*s_%u", lead, NAME(in->module, base), n++);
    id_map_set(in->names, base, n);
    id_map_set(in->names, name, 1);
    return name;
}

static int compare_events(const void *a, const void *b, void *position)
{
    const uint32_t *place = position;
    const struct event *x = a, *y = b;
    if (place[x->from] != place[y->from])
        return place[x->from] < place[y->from] ? -1 : 1;
    return place[x->to] < place[y->to] ? -1 : place[x->to] > place[y->to];
}

uint32_t events_name(struct inserter *in)
{
    if (in->events.count) /* sorting nothing at NULL is undefined */
        qsort_r(in->events.at, in->events.count, sizeof *in->events.at, compare_events,
                in->order->position);
    for (uint32_t i = 0; i < in->events.count; i++) {
        struct event *event = &in->events.at[i];
        event->name = kept_name(in, event);
        if (event->name == NONE)
            event->name = unused_name(in, event_word(in->module, sender_name(in, event)));
    }
    return count_words(in);
}
