/* The verifier's part for entries: each instruction fits its program's core type, its kernel and
 * the launch; arguments are known words and values of the graph; and checks of barriers and flags
 * are where a program without a fault passes them. passes/sync proves synchronisation. */
#include "ir/analysis/block_rules.h"
#include "ir/core/kernel.h"
#include "ir/core/kernel_args.h"
#include "ir/syntax/locate.h"
#include "ir/verify/verify_internal.h"

/* ---------------------------------------------------------------------------- checks ---- */

/* Checks of barriers and flags (docs/passes.md, "check-sync"): a core that has passed its n-th wait
 * checks that the cores it waited for have counted n times. So each count comes before what it
 * counts and after the previous count, and each check after its wait and before the next one; else
 * programs without a fault would fail a check. What calls do by early start counts, too. */

/* The checks of one program: of the barrier of its core type, or of the flag that it waits for. */
struct checks_verifier {
    const struct module *module;
    struct diags *diags;
    const struct entry *entry;
    bool barrier;
    enum core_type core;               /* of the program */
    enum core_type word;               /* of its waits and checks */
    enum instr_op count, check;        /* what counts an arrival or release; what checks a wait */
    const char *gives, *given, *waits; /* for messages */
};

/* "count_arrive aic" and the like, as the program would have it. */
static const char *written(const struct checks_verifier *cv, enum instr_op op)
{
    static const char *const words[][CORE_TYPES] = {{"c2v", "v2c"}, {"aic", "aiv"}};
    return arena_printf(&cv->diags->arena, "%s %s", instr_info(op)->name,
                        words[cv->barrier][cv->word]);
}

/* "aic instruction 3 (await aic)" */
static const char *place_text(const struct checks_verifier *cv, enum core_type core,
                              const struct instr *instr)
{
    const struct program *program = &cv->entry->programs[core];
    struct instr_numbers numbers = {.module = cv->module, .entry = cv->entry};
    const char *text = instr_place_text(&numbers, core, (uint32_t)(instr - program->instrs.at),
                                        NULL, &cv->diags->arena);
    instr_numbers_free(&numbers);
    return text;
}

static bool report(const struct checks_verifier *cv, enum core_type core, const struct instr *instr,
                   const char *what)
{
    return diag_at(cv->diags, DIAG_sync_check, locate_instr(cv->module, instr),
                   "entry '@%.*s', %s: %s", NAME(cv->module, cv->entry->name),
                   place_text(cv, core, instr), what);
}

/* ----------------------------------------------------------------------------- checks ---- */

/* How often an instruction of a core's program arrives or releases, `gives`, or else waits. */
static bool is_met(const struct checks_verifier *cv, const struct instr *instr, bool gives)
{
    const struct kernel *kernel;
    enum core_type core = gives ? cv->word : cv->core;
    unsigned own = core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
    if (instr->op != INSTR_call)
        return instr->op == (gives         ? cv->barrier ? INSTR_arrive : INSTR_set
                             : cv->barrier ? INSTR_await
                                           : INSTR_wait) &&
               instr->word == cv->word;
    if (cv->barrier)
        return instr->early & (gives ? EARLY_SET : own);
    if (!gives)
        return instr->early & EARLY_WAIT_MIX & ~own;
    return instr->early & own && (kernel = module_find_kernel(cv->module, instr->kernel)) &&
           kernel_type_has(kernel->type, 1 - core);
}

/* Each arrival, or release, of the cores that give it has one count, after the one before. */
static void verify_counts(const struct checks_verifier *cv)
{
    const struct program *program = &cv->entry->programs[cv->word];
    const struct instr *count = NULL;                    /* of what follows */
    const struct instr *twice = NULL, *uncounted = NULL; /* a second count; what has none */
    for (uint32_t i = 0; i < program->instrs.count && !twice && !uncounted; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op == cv->count && instr->word == cv->word) {
            twice = count ? instr : NULL;
            count = count ? count : instr;
        } else if (is_met(cv, instr, true)) {
            uncounted = count ? NULL : instr;
            count = NULL;
        }
    }
    const char *name = written(cv, cv->count);
    struct arena *arena = &cv->diags->arena;
    if (uncounted && report(cv, cv->word, uncounted,
                            arena_printf(arena, "no '%s' counts this %s, but the entry checks such",
                                         name, cv->given)))
        diag_help(cv->diags, "write '%s' directly before it, or take out the checks", name);
    if (uncounted || !count)
        return;
    const char *what = arena_printf(arena,
                                    twice ? "the %s that follows is counted already"
                                          : "no %s follows that it could count",
                                    cv->given);
    if (!report(cv, cv->word, twice ? twice : count, what))
        return;
    if (twice)
        diag_note(cv->diags, locate_instr(cv->module, count), "%s counts it",
                  place_text(cv, cv->word, count));
    diag_help(cv->diags, "take it out, or put it directly before the '%s' that it is to count",
              cv->gives);
}

/* Each check has a wait before it that is the only one since the last check. Whether there is
 * any. */
static bool verify_program_checks(const struct checks_verifier *cv)
{
    const struct program *program = &cv->entry->programs[cv->core];
    const struct instr *unchecked = NULL; /* the first wait since the last check */
    struct arena *arena = &cv->diags->arena;
    uint32_t waits = 0, checks = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        bool is_check = instr->op == cv->check && instr->word == cv->word;
        if (is_check && waits == checks + 1) {
            checks++;
            unchecked = NULL;
        } else if (is_check) {
            const char *place =
                waits ? arena_printf(arena, "stands behind '%s' number %u", cv->waits, waits)
                      : arena_printf(arena, "no '%s' stands before it", cv->waits);
            bool kept =
                report(cv, cv->core, instr,
                       arena_printf(arena, "this is check number %u, but %s", checks + 1, place));
            if (kept && unchecked) {
                diag_note(cv->diags, locate_instr(cv->module, unchecked), "nothing checks %s",
                          place_text(cv, cv->core, unchecked));
                diag_help(cv->diags, "write '%s' directly behind that, too",
                          written(cv, cv->check));
            } else if (kept) {
                diag_help(cv->diags,
                          "put it directly behind the '%s' that it is to check, or take it out",
                          cv->waits);
            }
            return true;
        } else if (is_met(cv, instr, false)) {
            waits++;
            unchecked = unchecked ? unchecked : instr;
        }
    }
    return checks > 0;
}

static void verify_checks(struct verifier *verifier, const struct entry *entry)
{
    struct checks_verifier cv = {
        .module = verifier->module, .diags = verifier->diags, .entry = entry};
    for (int core = 0; core < CORE_TYPES; core++)
        for (int flag = 0; flag <= 1; flag++) {
            cv.core = (enum core_type)core;
            cv.barrier = !flag;
            cv.word = flag ? (enum core_type)(1 - core) : cv.core;
            cv.count = flag ? INSTR_count_set : INSTR_count_arrive;
            cv.check = flag ? INSTR_check_wait : INSTR_check_await;
            cv.gives = flag ? "set" : "arrive";
            cv.given = flag ? "release" : "arrival";
            cv.waits = flag ? "wait" : "await";
            if (verify_program_checks(&cv))
                verify_counts(&cv);
        }
}

/* ------------------------------------------------------------------ words in arguments ---- */

/* A word among the arguments of an entry. */
static void verify_arg_word(struct verifier *verifier, const struct arg_group *group, uint32_t n,
                            uint32_t word)
{
    static const uint32_t words[] = {W_workspace, W_tiling,    W_tiling_key,     W_block_num,
                                     W_lock,      W_profiling, W_sync_workspace, W_tracing};
    const size_t count = sizeof words / sizeof words[0];
    struct suggest suggest = name_suggest(verifier->module, word);
    for (size_t i = 0; i < count; i++)
        if (words[i] == word)
            return;
    if (!diag_at(verifier->diags, DIAG_unknown_group,
                 locate_listed(verifier->module, group->loc, n),
                 "'%.*s' is no argument of an entry", NAME(verifier->module, word)))
        return;
    for (size_t i = 0; i < count; i++)
        name_offer(&suggest, verifier->module, words[i]);
    if (word == W_ffts)
        diag_help(verifier->diags, "slot 0 is always 'ffts', which is not written");
    else
        diag_suggest(verifier->diags, &suggest);
}

/* ---------------------------------------------------------------------------- values ---- */

/* The values of the graph are marked. */
static bool is_value(const struct verifier *verifier, uint32_t name)
{
    return verifier->marks[name].stamp == verifier->stamp;
}

static void unknown_value(struct verifier *verifier, const struct graph *graph, struct span span,
                          uint32_t name)
{
    const struct module *module = verifier->module;
    if (diag_at(verifier->diags, DIAG_unknown_value, span, "graph '@%.*s' has no value '%%%.*s'",
                NAME(module, graph->name), NAME(module, name)))
        suggest_value(module, verifier->diags, graph, name);
}

static void verify_values(struct verifier *verifier, const struct graph *graph,
                          const struct entry *entry)
{
    for (uint32_t g = 0; g < entry->groups.count; g++) {
        const struct arg_group *group = &entry->groups.at[g];
        if (group->name != NONE && !group->word && !is_value(verifier, group->name))
            unknown_value(verifier, graph, locate_group(verifier->module, group), group->name);
        for (uint32_t i = 0; i < group->args.count; i++) {
            const struct arg *arg = group_arg(entry, group, i);
            const uint32_t *names = arg->kind == ARG_LIST ? entry->listed.at + arg->id : &arg->id;
            uint32_t count = arg->kind == ARG_LIST ? arg->count : arg->kind == ARG_VALUE;
            for (uint32_t n = 0; n < count; n++)
                if (!is_value(verifier, names[n]))
                    unknown_value(verifier, graph, locate_listed(verifier->module, group->loc, i),
                                  names[n]);
        }
    }
}

void verify_arg_values(struct verifier *verifier)
{
    const struct module *module = verifier->module;
    for (uint32_t i = 0; i < module->graphs.count && module->entries.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        bool marked = false;
        for (uint32_t b = 0; b < graph->blocks.count; b++) {
            const struct entry *entry = block_entry(module, &graph->blocks.at[b]);
            if (!entry)
                continue;
            if (!marked)
                marks_clear(verifier);
            for (uint32_t v = 0; v < graph->values.count && !marked; v++)
                if (graph->values.at[v].def != DEF_MISSING)
                    marks_set(verifier, graph->values.at[v].name, v, NULL);
            marked = true;
            verify_values(verifier, graph, entry);
        }
    }
}

/* ----------------------------------------------------------------------- instructions ---- */

struct entry_verifier {
    struct verifier *verifier;
    const struct module *module;
    struct diags *diags;
    const struct entry *entry;
    enum core_type core;
    int64_t blocks;             /* of the launch; 0: not given */
    bool checks;                /* of barriers or flags */
    const struct instr *select; /* the last one behind the last call, or NULL */
    enum { BINDING_UNKNOWN, BINDING_OPEN, BINDING_DONE } binding; /* of its super kernels' ops */
};

/* Whether the program's cores execute the instruction; the word of a flag is its sender. */
static void verify_core(struct entry_verifier *ev, const struct instr *instr)
{
    bool own = (enum core_type)instr->word == ev->core;
    enum instr_who who = instr_info(instr->op)->who;
    if (who == WHO_ANY || own == (who != WHO_RECEIVER))
        return;
    if (!diag_at(ev->diags, DIAG_wrong_core, locate_instr(ev->module, instr),
                 "an %s cannot execute this", core_type_name(ev->core)))
        return;
    if (who == WHO_GROUP)
        diag_help(ev->diags, "a core takes part in the barriers of its own type");
    else
        diag_help(ev->diags, "'%s' is set by an %s and waited for by an %s",
                  instr->word == CORE_AIC ? "c2v" : "v2c", core_type_name(instr->word),
                  core_type_name((enum core_type)(1 - instr->word)));
}

static void verify_part(struct entry_verifier *ev, const struct instr *instr,
                        const struct kernel *kernel)
{
    const struct module *module = ev->module;
    const char *type = kernel_type_info(kernel->type)->name;
    struct span span = locate_instr(module, instr);
    if (!kernel_type_has(kernel->type, ev->core)) {
        diag_at(ev->diags, DIAG_wrong_core, span, "'@%.*s' is %s and has no part for an %s",
                NAME(module, kernel->name), type, core_type_name(ev->core));
        return;
    }
    bool mixed = kernel_type_is_mixed(kernel->type);
    if (mixed ? instr->part == ev->core : instr->part == CORE_TYPES)
        return;
    if (!diag_at(ev->diags, DIAG_kernel_part, span, "'@%.*s' is %s: %s", NAME(module, kernel->name),
                 type, mixed ? "its part for this program must be named" : "it has no named parts"))
        return;
    diag_help(ev->diags, "write '@%.*s%s%s'", NAME(module, kernel->name), mixed ? "." : "",
              mixed ? core_type_name(ev->core) : "");
}

/* How many of the launch's cores a kernel's blocks can count. The call finds the words that the
 * select of a dynamic kernel reads among its slots. */
static void verify_call(struct entry_verifier *ev, const struct instr *instr,
                        const struct kernel *kernel)
{
    const struct module *module = ev->module;
    int64_t cores = entry_room(module, ev->entry, kernel->type);
    struct span span = locate_instr(module, instr);
    if (kernel_block_rule(module, kernel) != NONE &&
        diag_at(ev->diags, DIAG_block_rule, span,
                "the blocks of '@%.*s' depend on the shapes of an op", NAME(module, kernel->name)))
        diag_help(ev->diags, "entries call kernels with 'block = N'");
    if (cores && (instr->number[1] < 1 || instr->number[1] > cores))
        diag_at(ev->diags, DIAG_number_range, span,
                "a call with %u blocks in a launch that has %lld of them", instr->number[1],
                (long long)cores);
    if (!kernel_is_dynamic(module, kernel))
        return;
    if (instr->early)
        diag_at(ev->diags, DIAG_dynamic_kernel, span,
                "'@%.*s' is a dynamic kernel, which takes no part in early start",
                NAME(module, kernel->name));
    if (group_find_tiling(ev->entry, &ev->entry->groups.at[instr->number[0]]) == NONE &&
        diag_at(ev->diags, DIAG_dynamic_kernel, span,
                "its arguments have no tiling key for '@%.*s'", NAME(module, kernel->name)))
        diag_help(ev->diags, "behind the slots of its tensors stand 'tiling_key, block_num, lock'");
}

/* A core holds one choice at a time: the next call is of the kernel that was selected. Whether each
 * call has its select is verify-sync's question. */
static void verify_select(struct entry_verifier *ev, const struct instr *instr,
                          const struct kernel *kernel)
{
    if (instr->op == INSTR_select && !kernel_is_dynamic(ev->module, kernel)) {
        diag_at(ev->diags, DIAG_dynamic_kernel, locate_instr(ev->module, instr),
                "'@%.*s' is no dynamic kernel: there is nothing to select",
                NAME(ev->module, kernel->name));
        return;
    }
    if (ev->select && ev->select->kernel != instr->kernel &&
        diag_at(ev->diags, DIAG_dynamic_kernel, locate_instr(ev->module, ev->select),
                "the next call of the program must be that of '@%.*s', which is selected here",
                NAME(ev->module, ev->select->kernel)))
        diag_note(ev->diags, locate_instr(ev->module, instr), "this stands between");
    ev->select = instr->op == INSTR_select ? instr : NULL;
}

/* Whether an op of the entry's super kernels has no kernel yet: what is not declared may be the
 * sample kernel that bind-kernels will find. */
static bool has_open_ops(struct entry_verifier *ev)
{
    const struct module *module = ev->module;
    for (uint32_t g = 0; g < module->graphs.count && ev->binding == BINDING_UNKNOWN; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            uint32_t block = graph_superkernel(graph, graph->ops.at[i].block);
            if (graph->ops.at[i].kernel == NONE && block != NONE &&
                block_entry_name(module, &graph->blocks.at[block]) == ev->entry->name)
                ev->binding = BINDING_OPEN;
        }
    }
    if (ev->binding == BINDING_UNKNOWN)
        ev->binding = BINDING_DONE;
    return ev->binding == BINDING_OPEN;
}

/* ---------------------------------------------------------------------------- words ---- */

/* Which events are among the arguments: ids of marks. */
enum { MARK_SEND = 1, MARK_RECV = 2 };

static uint32_t event_mark(const struct entry_verifier *ev, uint32_t name)
{
    const struct mark *mark = &ev->verifier->marks[name];
    return mark->stamp == ev->verifier->stamp ? mark->id : 0;
}

static void unknown_event(struct entry_verifier *ev, const struct instr *instr, bool send)
{
    uint32_t name = instr->number[0];
    if (!diag_at(ev->diags, DIAG_unknown_group, locate_instr(ev->module, instr),
                 "the entry has no '%s %.*s' among its arguments", send ? "send" : "recv",
                 NAME(ev->module, name)))
        return;
    struct suggest suggest = name_suggest(ev->module, name);
    for (uint32_t i = 0; i < ev->entry->args.count; i++)
        if (ev->entry->args.at[i].kind == (send ? ARG_SEND : ARG_RECV))
            name_offer(&suggest, ev->module, ev->entry->args.at[i].id);
    if (event_mark(ev, name))
        diag_help(ev->diags, send ? "it receives the event: 'wait_event' and 'reset' are for it"
                                  : "it sends the event: 'notify' is for it");
    else
        diag_suggest(ev->diags, &suggest);
}

/* An entry without arguments of ops, written by hand, may have them from these later. */
static void verify_word(struct entry_verifier *ev, const struct instr *instr)
{
    bool send = instr->op == INSTR_notify;
    const struct arg_group *groups = ev->entry->groups.at;
    if (instr->word) {
        if (group_find_tiling(ev->entry, &groups[instr->number[0]]) == NONE)
            diag_at(ev->diags, DIAG_unknown_group, locate_instr(ev->module, instr),
                    "'lock' is not among these arguments: the op has no dynamic kernel");
    } else if (entry_named_groups(ev->entry) > 0 &&
               !(event_mark(ev, instr->number[0]) & (send ? MARK_SEND : MARK_RECV))) {
        unknown_event(ev, instr, send);
    }
}

/* --------------------------------------------------------------------------- kernels ---- */

/* --------------------------------------------------------------------------- programs ---- */

static void verify_instr(struct entry_verifier *ev, const struct instr *instr)
{
    verify_core(ev, instr);
    if (instr->op == INSTR_profile && instr->number[1] >= PROFILE_KINDS)
        diag_at(ev->diags, DIAG_number_range, locate_instr(ev->module, instr),
                "kind %u: 0 is a kernel, 1 an op, 2 a notify, 3 a wait", instr->number[1]);
    if (instr->op == INSTR_trace && instr->number[1] >= TRACE_STATES)
        diag_at(ev->diags, DIAG_number_range, locate_instr(ev->module, instr),
                "state %u: 0 is begun, 1 launched, 2 finished, 3 ended, 4 waiting, 5 received",
                instr->number[1]);
    ev->checks |= instr->op == INSTR_check_await || instr->op == INSTR_check_wait;
    if (instr->kernel != NONE) {
        const struct kernel *kernel = module_find_kernel(ev->module, instr->kernel);
        if (!kernel && has_open_ops(ev)) {
            ev->select = NULL;
            return;
        }
        if (!kernel) {
            verify_unknown_kernel(ev->verifier, locate_instr(ev->module, instr), instr->kernel);
            return;
        }
        verify_part(ev, instr, kernel);
        if (instr->op == INSTR_select || instr->op == INSTR_call)
            verify_select(ev, instr, kernel);
        if (instr->op == INSTR_call)
            verify_call(ev, instr, kernel);
    }
    if (instr->op == INSTR_call && instr->kernel == NONE)
        ev->select = NULL; /* bind-kernels says what it calls */
    if (instr_info(instr->op)->effect == EFFECT_EVENT)
        verify_word(ev, instr);
}

static void verify_program(struct entry_verifier *ev, enum core_type core)
{
    const struct program *program = &ev->entry->programs[core];
    const char *type = kernel_type_info(ev->entry->type)->name;
    bool wanted = kernel_type_has(ev->entry->type, core);
    if (wanted != program->present) {
        struct span span = program->present ? locate_token(ev->module, program->loc)
                                            : locate_name(ev->module, ev->entry->loc);
        diag_at(ev->diags, wanted ? DIAG_missing_program : DIAG_wrong_core, span,
                "an entry of type %s %s '%s'", type, wanted ? "needs a program for" : "runs on no",
                core_type_name(core));
    }
    if (!wanted)
        return;
    ev->core = core;
    ev->select = NULL;
    for (uint32_t i = 0; i < program->instrs.count; i++)
        verify_instr(ev, &program->instrs.at[i]);
}

static void verify_launch(struct entry_verifier *ev)
{
    const struct kernel_type_info *info = kernel_type_info(ev->entry->type);
    struct span span = locate_name(ev->module, ev->entry->loc);
    if (!ev->blocks) {
        if (!attr_find(ev->module, ev->entry->attrs, W_block) &&
            diag_at(ev->diags, DIAG_missing_attribute, span, "the entry has no 'block'"))
            diag_help(ev->diags, "write {block = N}, the number of AI cores it runs on");
        return;
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t per_block = core == CORE_AIC ? info->aics : info->aivs;
        uint32_t cores = module_cores(ev->module, core);
        if (ev->blocks * per_block > cores)
            diag_at(ev->diags, DIAG_number_range, span,
                    "%lld blocks of type %s need %lld cores of type %s, but the target has %u",
                    (long long)ev->blocks, info->name, (long long)ev->blocks * per_block,
                    core_type_name(core), cores);
    }
}

void verify_entry(struct verifier *verifier, const struct entry *entry)
{
    const struct module *module = verifier->module;
    verify_attrs(verifier, entry->attrs, OWNER_ENTRY);
    struct entry_verifier ev = {.verifier = verifier,
                                .module = module,
                                .diags = verifier->diags,
                                .entry = entry,
                                .blocks = attr_int(module, entry->attrs, W_block, 0)};
    for (uint32_t g = 0; g < entry->groups.count; g++) {
        const struct arg_group *group = &entry->groups.at[g];
        for (uint32_t i = 0; i < group->args.count; i++)
            if (group_arg(entry, group, i)->kind == ARG_WORD)
                verify_arg_word(verifier, group, i, group_arg(entry, group, i)->id);
    }
    verify_launch(&ev);
    marks_clear(verifier);
    for (uint32_t i = 0; i < entry->args.count; i++) {
        const struct arg *arg = &entry->args.at[i];
        if (arg->kind != ARG_SEND && arg->kind != ARG_RECV)
            continue;
        marks_set(verifier, arg->id, 0, NULL);
        verifier->marks[arg->id].id |= arg->kind == ARG_SEND ? MARK_SEND : MARK_RECV;
    }
    for (int core = 0; core < CORE_TYPES; core++)
        verify_program(&ev, core);
    if (ev.checks)
        verify_checks(verifier, entry);
}
