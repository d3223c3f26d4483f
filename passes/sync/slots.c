/* Whether an entry's groups of arguments are those of its super kernel's ops. */
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/sync/report.h"

/* Wrong groups, and wrong slots, of one entry that are reported. */
enum { MAX_REPORTS = 8 };

struct slot_checker {
    const struct sync_checker *checker;
    uint32_t wrong;
};

/* Whether one more fault may be told. */
static bool may_report(struct slot_checker *sc)
{
    return sc->wrong++ < MAX_REPORTS;
}

static struct span entry_span(const struct sync_checker *checker)
{
    return locate_name(checker->module, checker->entry->loc);
}

/* What a pass made stands for the entry by its name. */
static struct span or_entry(const struct sync_checker *checker, struct span span)
{
    return span.end ? span : entry_span(checker);
}

/* A slot, or several of an op, as they are to be written. */
static const char *slots_text(const struct sync_checker *checker, uint32_t first, uint32_t end)
{
    const struct sync_subject *subject = checker->subject;
    struct text text = {NULL, 0, 0};
    for (uint32_t i = first; i < end; i++) {
        if (i > first)
            text_string(&text, ", ");
        spell_slot(&text, checker->module, subject->graph, subject->slots.at[i]);
    }
    const char *copy = arena_strndup(&checker->diags->arena, text.at ? text.at : "", text.size);
    text_free(&text);
    return copy;
}

static const char *wanted_name(const struct sync_checker *checker, uint32_t place)
{
    const struct group_name *name = &checker->subject->groups[place];
    return args_name_text(checker->module, name->name, name->word, &checker->diags->arena);
}

/* ---------------------------------------------------------------------------- slots ---- */

static void report_slot(struct slot_checker *sc, const struct arg_group *group, uint32_t place,
                        uint32_t n)
{
    const struct sync_checker *checker = sc->checker;
    uint32_t slot = checker->subject->first_slot[place] + n;
    if (may_report(sc))
        diag_at(checker->diags, DIAG_entry_calls,
                or_entry(checker, locate_arg(checker->module, group, n)),
                "this must be %s, which the op %s takes here", slots_text(checker, slot, slot + 1),
                sync_op_text(checker, place));
}

static void report_count(struct slot_checker *sc, const struct arg_group *group, uint32_t place)
{
    const struct sync_checker *checker = sc->checker;
    const struct sync_subject *subject = checker->subject;
    uint32_t first = subject->first_slot[place], end = subject->end_slot[place];
    if (may_report(sc) &&
        diag_at(checker->diags, DIAG_entry_calls,
                or_entry(checker, locate_group(checker->module, group)),
                "these are %u argument%s, but the op %s takes %u", group->args.count,
                group->args.count == 1 ? "" : "s", sync_op_text(checker, place), end - first))
        diag_help(checker->diags, "write 'args %s = [%s]'", wanted_name(checker, place),
                  slots_text(checker, first, end));
}

static void compare_slots(struct slot_checker *sc, const struct arg_group *group, uint32_t place)
{
    const struct sync_checker *checker = sc->checker;
    const struct sync_subject *subject = checker->subject;
    uint32_t first = subject->first_slot[place];
    if (group->args.count != subject->end_slot[place] - first) {
        report_count(sc, group, place);
        return;
    }
    for (uint32_t i = 0; i < group->args.count; i++)
        if (!slot_is_arg(checker->entry, subject->graph, subject->slots.at[first + i],
                         group_arg(checker->entry, group, i)))
            report_slot(sc, group, place, i);
}

/* --------------------------------------------------------------------------- groups ---- */

static bool has_name(const struct arg_group *group, const struct group_name *name)
{
    return group->name == name->name && group->word == name->word;
}

/* The first group that is not that of its op, or that has none. */
static void report_groups(struct slot_checker *sc, uint32_t at, uint32_t named)
{
    const struct sync_checker *checker = sc->checker;
    const struct sync_subject *subject = checker->subject;
    const struct arg_group *group = at < named ? &checker->entry->groups.at[at] : NULL;
    if (!may_report(sc))
        return;
    if (at == subject->count) {
        diag_at(checker->diags, DIAG_entry_calls,
                or_entry(checker, locate_group(checker->module, group)),
                "these are the arguments of no op of super kernel '@%.*s'",
                NAME(checker->module, checker->subject->graph->blocks.at[subject->block].name));
        return;
    }
    struct span span = group ? locate_group(checker->module, group) : no_span;
    uint32_t place = subject->grouped[at];
    if (diag_at(checker->diags, DIAG_entry_calls, or_entry(checker, span),
                group ? "the arguments of the op %s must stand here"
                      : "the arguments of the op %s are missing",
                sync_op_text(checker, place)))
        diag_help(checker->diags, "write 'args %s = [%s]'", wanted_name(checker, place),
                  slots_text(checker, subject->first_slot[place], subject->end_slot[place]));
}

static void compare_groups(struct slot_checker *sc)
{
    const struct sync_checker *checker = sc->checker;
    const struct sync_subject *subject = checker->subject;
    uint32_t named = entry_named_groups(checker->entry), at = 0;
    for (; at < named && at < subject->count; at++) {
        const struct arg_group *group = &checker->entry->groups.at[at];
        uint32_t place = subject->grouped[at];
        if (!has_name(group, &subject->groups[place]))
            break;
        compare_slots(sc, group, place);
    }
    if (at < named || at < subject->count)
        report_groups(sc, at, named);
}

/* Behind those of the ops: the workspace of fed barriers, then the slots of time records. */
static void compare_tail(struct slot_checker *sc)
{
    const struct sync_checker *checker = sc->checker;
    const struct entry *entry = checker->entry;
    struct slots wanted = {NULL, 0, 0};
    uint32_t n = 0;
    slots_add_entry(&wanted, entry);
    for (uint32_t g = entry_named_groups(entry); g < entry->groups.count; g++) {
        const struct arg_group *group = &entry->groups.at[g];
        for (uint32_t i = 0; i < group->args.count; i++, n++)
            if ((n >= wanted.count || !slot_is_arg(entry, checker->subject->graph, wanted.at[n],
                                                   group_arg(entry, group, i))) &&
                may_report(sc) &&
                diag_at(checker->diags, DIAG_entry_calls,
                        or_entry(checker, locate_arg(checker->module, group, i)),
                        "nothing of the entry reads this slot"))
                diag_help(checker->diags, "behind the arguments of ops stand [sync_workspace] and "
                                          "[profiling, profiling], in this order");
    }
    vec_free(&wanted);
}

bool sync_check_slots(const struct sync_checker *checker)
{
    struct slot_checker sc = {.checker = checker};
    compare_groups(&sc);
    compare_tail(&sc);
    if (sc.wrong > MAX_REPORTS)
        diag_at(checker->diags, DIAG_entry_calls, entry_span(checker),
                "%u more arguments of entry '@%.*s' are wrong", sc.wrong - MAX_REPORTS,
                NAME(checker->module, checker->entry->name));
    return sc.wrong == 0;
}
