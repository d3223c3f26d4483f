#include "ir/core/kernel.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/sync/proof/check.h"

/* Whether an entry's groups of arguments are those of its super kernel's ops. */

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

/* What a pass made has no place in the text; the entry's name takes it. */
static struct span or_entry(const struct sync_checker *checker, struct span span)
{
    return span.end ? span : locate_name(checker->module, checker->entry->loc);
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

static void help_group(const struct sync_checker *checker, uint32_t place)
{
    const struct sync_subject *subject = checker->subject;
    const struct group_name *name = &subject->groups[place];
    diag_help(checker->diags, "write 'args %s = [%s]'",
              args_name_text(checker->module, name->name, name->word, &checker->diags->arena),
              slots_text(checker, subject->first_slot[place], subject->end_slot[place]));
}

/* --------------------------------------------------------------------------- groups ---- */

static void compare_slots(struct slot_checker *sc, const struct arg_group *group, uint32_t place)
{
    const struct sync_checker *checker = sc->checker;
    const struct sync_subject *subject = checker->subject;
    uint32_t first = subject->first_slot[place], count = subject->end_slot[place] - first;
    if (group->args.count != count) {
        if (may_report(sc) &&
            diag_at(checker->diags, DIAG_entry_calls,
                    or_entry(checker, locate_group(checker->module, group)),
                    "these are %u argument%s, but the op %s takes %u", group->args.count,
                    group->args.count == 1 ? "" : "s", sync_op_text(checker, place), count))
            help_group(checker, place);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!slot_is_arg(checker->entry, subject->graph, subject->slots.at[first + i],
                         group_arg(checker->entry, group, i)) &&
            may_report(sc))
            diag_at(checker->diags, DIAG_entry_calls,
                    or_entry(checker, locate_listed(checker->module, group->loc, i)),
                    "this must be %s, which the op %s takes here",
                    slots_text(checker, first + i, first + i + 1), sync_op_text(checker, place));
}

/* Up to the first group that is not that of its op, or that has none. */
static void compare_groups(struct slot_checker *sc)
{
    const struct sync_checker *checker = sc->checker;
    const struct sync_subject *subject = checker->subject;
    const struct arg_group *groups = checker->entry->groups.at;
    uint32_t named = entry_named_groups(checker->entry), at = 0;
    for (; at < named && at < subject->count; at++) {
        const struct group_name *name = &subject->groups[subject->grouped[at]];
        if (groups[at].name != name->name || groups[at].word != name->word)
            break;
        compare_slots(sc, &groups[at], subject->grouped[at]);
    }
    if ((at == named && at == subject->count) || !may_report(sc))
        return;
    struct span span =
        or_entry(checker, at < named ? locate_group(checker->module, &groups[at]) : no_span);
    if (at == subject->count)
        diag_at(checker->diags, DIAG_entry_calls, span,
                "these are the arguments of no op of super kernel '@%.*s'",
                NAME(checker->module, subject->graph->blocks.at[subject->block].name));
    else if (diag_at(checker->diags, DIAG_entry_calls, span,
                     at < named ? "the arguments of the op %s must stand here"
                                : "the arguments of the op %s are missing",
                     sync_op_text(checker, subject->grouped[at])))
        help_group(checker, subject->grouped[at]);
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
                        or_entry(checker, locate_listed(checker->module, group->loc, i)),
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
        diag_at(checker->diags, DIAG_entry_calls, or_entry(checker, no_span),
                "%u more arguments of entry '@%.*s' are wrong", sc.wrong - MAX_REPORTS,
                NAME(checker->module, checker->entry->name));
    return sc.wrong == 0;
}

/* Whether the calls are those of the super kernel's ops, each once on each core type that its
 * kernel has a part for: told by the arguments that they pass, in whatever order they stand. */

/* A call runs as many blocks as the kernel was built for. */
static bool check_blocks(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    const struct instr *call = sync_instr(&checker->proof, core, step);
    const struct kernel *kernel = sync_kernel(checker, call->kernel);
    int64_t blocks = attr_int(checker->module, kernel->attrs, W_block, call->number[1]);
    if (call->number[1] == blocks)
        return true;
    if (sync_report_step(checker, DIAG_entry_calls, core, step,
                         "the kernel was built for another number of blocks"))
        diag_help(checker->diags, "write 'blocks %lld'", (long long)blocks);
    return false;
}

/* Where the arguments themselves are wrong, it is enough to say that. */
bool sync_check_calls(struct sync_checker *checker)
{
    const struct sync_subject *subject = checker->subject;
    const struct called_source source = {
        .diags = checker->grouped ? checker->diags : NULL,
        .module = checker->module,
        .graph = subject->graph,
        .superkernel = &subject->graph->blocks.at[subject->block],
        .entry = checker->entry,
        .ops = subject->ops,
        .count = subject->count,
        .grouped = subject->grouped,
        .names = subject->groups,
    };
    if (!called_find(&checker->called, &source))
        return false;
    bool ok = true;
    for (uint32_t i = 0; i < subject->count; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            subject->placed[i].call[core] = (struct sync_point){core, NONE, SYNC_ALL_CORES};
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < checker->proof.tracks[core].count; i++) {
            if (checker->proof.tracks[core].steps[i].effect != EFFECT_CALL)
                continue;
            const struct instr *call = sync_instr(&checker->proof, core, i);
            enum sync_extent extent = sync_extent_of_call(
                &checker->proof, core, sync_kernel(checker, call->kernel), call->number[1]);
            subject->placed[checker->called.place[call->number[0]]].call[core] =
                (struct sync_point){core, i, extent};
            ok = check_blocks(checker, core, i) && ok;
        }
    return ok;
}

/* Dynamic kernels, whose function is selected before it is called. */

/* In a program each call of such a kernel has a select of its own before it. */
static bool check_selects_of(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    struct id_map pending = {NULL, 0, 0}; /* by kernel: a select that no call has used yet */
    bool ok = true;
    for (uint32_t i = 0; i < track->count; i++) {
        const struct instr *instr = sync_instr(&checker->proof, core, i);
        bool select = track->steps[i].effect == EFFECT_SELECT;
        if (!select && track->steps[i].effect != EFFECT_CALL)
            continue;
        const struct kernel *kernel = module_find_kernel(checker->module, instr->kernel);
        bool dynamic = kernel && kernel_is_dynamic(checker->module, kernel);
        uint32_t *step = dynamic ? id_map_at(&pending, instr->kernel) : NULL, used = NONE;
        if (!dynamic && select) {
            sync_report_step(checker, DIAG_sync_select, core, i,
                             "the kernel is not a dynamic one, which has nothing to select");
            ok = false;
        }
        if (!dynamic)
            continue;
        used = *step;
        if (select && used == NONE) {
            *step = i;
        } else if (select) {
            if (sync_report_step(checker, DIAG_sync_select, core, i,
                                 "the kernel is selected twice for one call"))
                diag_help(checker->diags,
                          "each op has a tiling key of its own: select behind the call before");
            ok = false;
        } else if (used != NONE) {
            *step = NONE;
            if (checker->subject)
                checker->subject->placed[checker->called.place[instr->number[0]]].select[core] =
                    used;
        } else {
            bool mixed = instr->part != CORE_TYPES;
            if (sync_report_step(checker, DIAG_sync_select, core, i,
                                 "the dynamic kernel is not selected before this call"))
                sync_help(checker,
                          arena_printf(&checker->diags->arena, "select @%.*s%s%s",
                                       NAME(checker->module, instr->kernel), mixed ? "." : "",
                                       mixed ? core_type_name(core) : ""),
                          SYNC_BEFORE, core, i);
            ok = false;
        }
    }
    for (uint32_t i = 0; i < track->count; i++)
        if (track->steps[i].effect == EFFECT_SELECT &&
            id_map_find(&pending, sync_instr(&checker->proof, core, i)->kernel) == i) {
            sync_report_step(checker, DIAG_sync_select, core, i,
                             "no call of the kernel follows this");
            ok = false;
        }
    id_map_free(&pending);
    return ok;
}

bool sync_check_selects(struct sync_checker *checker)
{
    const struct sync_subject *subject = checker->subject;
    for (uint32_t i = 0; subject && i < subject->count; i++)
        subject->placed[i].select[CORE_AIC] = subject->placed[i].select[CORE_AIV] = NONE;
    bool aic = check_selects_of(checker, CORE_AIC);
    return check_selects_of(checker, CORE_AIV) && aic;
}
