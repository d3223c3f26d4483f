/* Whether an entry's parameters are the slots of its super kernel's ops. */
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/sync/report.h"

/* Wrong slots of one entry that are reported. */
enum { MAX_REPORTS = 8 };

struct slot_checker {
    const struct sync_checker *checker;
    const struct attr *params; /* NULL: there are none */
    uint32_t count;            /* of them */
    struct slots wanted;
};

static const struct attr_value *written(const struct slot_checker *sc, uint32_t slot)
{
    return &sc->checker->module->attr_values.at[sc->params->value.first + slot];
}

static bool is_right(const struct slot_checker *sc, uint32_t slot)
{
    const struct sync_checker *checker = sc->checker;
    return slot_is_named(checker->module, checker->subject->graph, sc->wanted.at[slot],
                         written(sc, slot));
}

static struct span entry_span(const struct sync_checker *checker)
{
    return locate_name(checker->module, checker->entry->loc);
}

/* The element of `params`; entries that a pass made have none, and stand for it by their name. */
static struct span slot_span(const struct slot_checker *sc, uint32_t slot)
{
    struct span span = no_span;
    if (sc->params && slot < sc->count)
        span = locate_element(sc->checker->module, sc->params, slot);
    return span.end ? span : entry_span(sc->checker);
}

static const char *wanted_text(const struct slot_checker *sc, uint32_t slot)
{
    struct arena *arena = &sc->checker->diags->arena;
    struct text text = {NULL, 0, 0};
    spell_slot(&text, sc->checker->module, sc->checker->subject->graph, sc->wanted.at[slot]);
    const char *copy = arena_strndup(arena, text.at, text.size);
    text_free(&text);
    return copy;
}

/* Where parameters are missing or too many, all behind that place are wrong: the place is told. */
static void report_count(const struct slot_checker *sc)
{
    const struct sync_checker *checker = sc->checker;
    uint32_t slot = 0;
    while (slot < sc->count && slot < sc->wanted.count && is_right(sc, slot))
        slot++;
    if (!diag_at(checker->diags, DIAG_entry_calls, entry_span(checker),
                 "entry '@%.*s' has %u parameters, but its super kernel's ops take %u",
                 NAME(checker->module, checker->entry->name), sc->count, sc->wanted.count))
        return;
    if (slot < sc->wanted.count)
        diag_note(checker->diags, slot_span(sc, slot), "slot %u must be %s", slot,
                  wanted_text(sc, slot));
    else
        diag_note(checker->diags, slot_span(sc, slot), "slot %u is behind the last one", slot);
}

static void report_slot(const struct slot_checker *sc, uint32_t slot)
{
    const struct sync_checker *checker = sc->checker;
    diag_at(checker->diags, DIAG_entry_calls, slot_span(sc, slot),
            "slot %u of entry '@%.*s' must be %s, which its super kernel's op takes there", slot,
            NAME(checker->module, checker->entry->name), wanted_text(sc, slot));
}

static bool compare(const struct slot_checker *sc)
{
    uint32_t wrong = 0;
    if (sc->count != sc->wanted.count) {
        report_count(sc);
        return false;
    }
    for (uint32_t i = 0; i < sc->count; i++)
        if (!is_right(sc, i) && wrong++ < MAX_REPORTS)
            report_slot(sc, i);
    if (wrong > MAX_REPORTS)
        diag_at(sc->checker->diags, DIAG_entry_calls, entry_span(sc->checker),
                "%u more slots of entry '@%.*s' are wrong", wrong - MAX_REPORTS,
                NAME(sc->checker->module, sc->checker->entry->name));
    return wrong == 0;
}

bool sync_check_slots(const struct sync_checker *checker)
{
    const struct sync_subject *subject = checker->subject;
    const struct attr *params = attr_find(checker->module, checker->entry->attrs, W_params);
    struct slot_checker sc = {
        .checker = checker, .params = params, .count = params ? params->value.count : 0};
    vec_push(&sc.wanted, ((struct slot){SLOT_WORD, W_ffts}));
    for (uint32_t i = 0; i < subject->slots.count; i++)
        vec_push(&sc.wanted, subject->slots.at[i]);
    slots_add_entry(&sc.wanted, checker->module, checker->entry);
    bool ok = compare(&sc);
    vec_free(&sc.wanted);
    return ok;
}
