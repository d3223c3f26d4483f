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
                or_entry(checker, locate_listed(checker->module, group->loc, n)),
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
        diag_at(checker->diags, DIAG_entry_calls, entry_span(checker),
                "%u more arguments of entry '@%.*s' are wrong", sc.wrong - MAX_REPORTS,
                NAME(checker->module, checker->entry->name));
    return sc.wrong == 0;
}

/* Whether the calls are those of the super kernel's ops, each once on each core type that its
 * kernel has a part for: told by the arguments that they pass, in whatever order they stand. */

static void place_calls(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_subject *subject = checker->subject;
    const struct sync_track *track = &checker->proof.tracks[core];
    for (uint32_t i = 0; i < subject->count; i++)
        subject->placed[i].call[core] = (struct sync_point){core, NONE, SYNC_ALL_CORES};
    for (uint32_t i = 0; i < track->count; i++) {
        if (track->steps[i].effect != EFFECT_CALL)
            continue;
        const struct instr *call = sync_instr(&checker->proof, core, i);
        const struct kernel *kernel = sync_kernel(checker, call->kernel);
        uint32_t place = checker->called.place[call->number[0]];
        subject->placed[place].call[core] = (struct sync_point){
            core, i, sync_extent_of_call(&checker->proof, core, kernel, call->number[1])};
    }
}

/* A call runs as many blocks as the kernel was built for. */
static bool check_blocks(const struct sync_checker *checker, const struct sync_point *point)
{
    const struct instr *call = sync_instr(&checker->proof, point->core, point->step);
    const struct kernel *kernel = sync_kernel(checker, call->kernel);
    int64_t blocks = attr_int(checker->module, kernel->attrs, W_block, call->number[1]);
    if (call->number[1] == blocks)
        return true;
    if (sync_report_step(checker, DIAG_entry_calls, point->core, point->step,
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
    for (int core = 0; core < CORE_TYPES; core++)
        place_calls(checker, (enum core_type)core);
    for (uint32_t i = 0; i < subject->count; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            if (subject->placed[i].call[core].step != NONE)
                ok = check_blocks(checker, &subject->placed[i].call[core]) && ok;
    return ok;
}

/* Dynamic kernels, whose function is selected before it is called. */

/* One program, as it is followed. */
struct selection {
    struct sync_checker *checker;
    enum core_type core;
    struct id_map pending; /* the step of a select that no call has used yet, by kernel */
};

static uint32_t *pending_of(struct selection *selection, uint32_t kernel)
{
    return id_map_at(&selection->pending, kernel);
}

static bool is_dynamic(const struct selection *selection, uint32_t kernel)
{
    const struct sync_checker *checker = selection->checker;
    const struct kernel *of = module_find_kernel(checker->module, kernel);
    return of && attr_flag(checker->module, of->attrs, W_dynamic);
}

static bool report(const struct selection *selection, uint32_t step, const char *text)
{
    return sync_report_step(selection->checker, DIAG_sync_select, selection->core, step, text);
}

static bool visit_select(struct selection *selection, uint32_t step)
{
    uint32_t kernel = sync_instr(&selection->checker->proof, selection->core, step)->kernel;
    if (!is_dynamic(selection, kernel)) {
        report(selection, step, "the kernel is not a dynamic one, which has nothing to select");
        return false;
    }
    if (*pending_of(selection, kernel) != NONE) {
        if (report(selection, step, "the kernel is selected twice for one call"))
            diag_help(selection->checker->diags,
                      "each op has a tiling key of its own: select behind the call before");
        return false;
    }
    *pending_of(selection, kernel) = step;
    return true;
}

/* The place of the op that is called at a step. */
static uint32_t called_place(const struct selection *selection, uint32_t step)
{
    const struct sync_checker *checker = selection->checker;
    return checker->called.place[sync_instr(&checker->proof, selection->core, step)->number[0]];
}

static bool visit_call(struct selection *selection, uint32_t step)
{
    uint32_t kernel = sync_instr(&selection->checker->proof, selection->core, step)->kernel;
    if (!is_dynamic(selection, kernel))
        return true;
    uint32_t select = *pending_of(selection, kernel);
    *pending_of(selection, kernel) = NONE;
    if (select != NONE) {
        if (selection->checker->subject)
            selection->checker->subject->placed[called_place(selection, step)]
                .select[selection->core] = select;
        return true;
    }
    if (report(selection, step, "the dynamic kernel is not selected before this call")) {
        const struct instr *call = sync_instr(&selection->checker->proof, selection->core, step);
        bool mixed = call->part != CORE_TYPES;
        sync_help(selection->checker,
                  arena_printf(&selection->checker->diags->arena, "select @%.*s%s%s",
                               NAME(selection->checker->module, kernel), mixed ? "." : "",
                               mixed ? core_type_name(selection->core) : ""),
                  SYNC_BEFORE, selection->core, step);
    }
    return false;
}

/* Selects that no call has used. */
static bool check_left(struct selection *selection)
{
    const struct sync_track *track = &selection->checker->proof.tracks[selection->core];
    bool ok = true;
    for (uint32_t i = 0; i < track->count; i++) {
        const struct instr *instr = sync_instr(&selection->checker->proof, selection->core, i);
        if (track->steps[i].effect != EFFECT_SELECT || !is_dynamic(selection, instr->kernel) ||
            *pending_of(selection, instr->kernel) != i)
            continue;
        report(selection, i, "no call of the kernel follows this");
        ok = false;
    }
    return ok;
}

static bool check_selects_of(struct selection *selection)
{
    const struct sync_track *track = &selection->checker->proof.tracks[selection->core];
    bool ok = true;
    for (uint32_t i = 0; i < track->count; i++) {
        if (track->steps[i].effect == EFFECT_SELECT)
            ok = visit_select(selection, i) && ok;
        else if (track->steps[i].effect == EFFECT_CALL)
            ok = visit_call(selection, i) && ok;
    }
    return check_left(selection) && ok;
}

bool sync_check_selects(struct sync_checker *checker)
{
    const struct sync_subject *subject = checker->subject;
    bool ok = true;
    for (uint32_t i = 0; subject && i < subject->count; i++)
        subject->placed[i].select[CORE_AIC] = subject->placed[i].select[CORE_AIV] = NONE;
    for (int core = 0; core < CORE_TYPES; core++) {
        struct selection selection = {.checker = checker, .core = core};
        ok = check_selects_of(&selection) && ok;
        id_map_free(&selection.pending);
    }
    return ok;
}
