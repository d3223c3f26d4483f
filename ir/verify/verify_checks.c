/* The verifier's part for checks of barriers and flags (docs/passes.md, "check-sync"): who has
 * passed its n-th wait checks that those it waited for have counted n times. So each count stands
 * before what it counts and behind the one before, and each check behind its wait and before the
 * next one; else programs without a fault would fail a check. What calls do by early start
 * counts as well. */
#include "ir/syntax/instr_numbers.h"
#include "ir/verify/verify_internal.h"

/* What is counted: arrivals at the barrier of a core type, or releases of a flag. */
enum what { WHAT_BARRIER, WHAT_FLAG, WHATS };

struct checks_verifier {
    const struct module *module;
    struct diags *diags;
    const struct entry *entry;
    enum core_type core; /* of the program */
    enum what what;
};

static enum instr_op count_op(enum what what)
{
    return what == WHAT_BARRIER ? INSTR_count_arrive : INSTR_count_set;
}

static enum instr_op check_op(enum what what)
{
    return what == WHAT_BARRIER ? INSTR_check_await : INSTR_check_wait;
}

/* The core type whose word the program's instructions have. */
static enum core_type checked_word(const struct checks_verifier *cv)
{
    return cv->what == WHAT_BARRIER ? cv->core : (enum core_type)(1 - cv->core);
}

static unsigned own_wait(const struct checks_verifier *cv)
{
    return cv->core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
}

/* Whether it arrives, or releases, once. */
static bool gives(const struct checks_verifier *cv, const struct instr *instr)
{
    const struct kernel *kernel;
    if (instr->op == INSTR_call && cv->what == WHAT_BARRIER)
        return instr->early & EARLY_SET;
    if (instr->op == INSTR_call)
        return instr->early & own_wait(cv) &&
               (kernel = module_find_kernel(cv->module, instr->kernel)) &&
               kernel_type_has(kernel->type, 1 - cv->core);
    return instr->op == (cv->what == WHAT_BARRIER ? INSTR_arrive : INSTR_set) &&
           instr->word == cv->core;
}

/* Whether it waits, once, for what others give. */
static bool takes(const struct checks_verifier *cv, const struct instr *instr)
{
    if (instr->op == INSTR_call)
        return instr->early &
               (cv->what == WHAT_BARRIER ? own_wait(cv) : EARLY_WAIT_MIX & ~own_wait(cv));
    return instr->op == (cv->what == WHAT_BARRIER ? INSTR_await : INSTR_wait) &&
           instr->word == checked_word(cv);
}

/* "count_arrive aic" and the like, as the program would have it. */
static const char *wanted(const struct checks_verifier *cv, enum instr_op op, enum core_type word)
{
    static const char *const words[WHATS][CORE_TYPES] = {{"aic", "aiv"}, {"c2v", "v2c"}};
    return arena_printf(&cv->diags->arena, "%s %s", instr_info(op)->name, words[cv->what][word]);
}

/* "aic instruction 3 (await aic)" */
static const char *place_text(const struct checks_verifier *cv, const struct instr *instr)
{
    const struct program *program = &cv->entry->programs[cv->core];
    struct instr_numbers numbers = {.module = cv->module, .entry = cv->entry};
    const char *text = instr_place_text(&numbers, cv->core, (uint32_t)(instr - program->instrs.at),
                                        NULL, &cv->diags->arena);
    instr_numbers_free(&numbers);
    return text;
}

static bool report(const struct checks_verifier *cv, const struct instr *instr, const char *what)
{
    return diag_at(cv->diags, DIAG_sync_check, locate_instr(cv->module, instr),
                   "entry '@%.*s', %s: %s", NAME(cv->module, cv->entry->name),
                   place_text(cv, instr), what);
}

/* ----------------------------------------------------------------------------- counts ---- */

static void report_uncounted(const struct checks_verifier *cv, const struct instr *instr)
{
    const char *count = wanted(cv, count_op(cv->what), cv->core);
    if (report(cv, instr,
               arena_printf(&cv->diags->arena,
                            cv->what == WHAT_BARRIER
                                ? "no '%s' counts this arrival, but the entry checks such"
                                : "no '%s' counts this release, but the entry checks such",
                            count)))
        diag_help(cv->diags, "write '%s' directly before it, or take out the checks", count);
}

static void report_idle_count(const struct checks_verifier *cv, const struct instr *instr,
                              const struct instr *before)
{
    bool barrier = cv->what == WHAT_BARRIER;
    if (!report(cv, instr,
                before    ? barrier ? "the arrival that follows is counted already"
                                    : "the release that follows is counted already"
                : barrier ? "no arrival follows that it could count"
                          : "no release follows that it could count"))
        return;
    if (before)
        diag_note(cv->diags, locate_instr(cv->module, before), "%s counts it",
                  place_text(cv, before));
    diag_help(cv->diags, "take it out, or put it directly before the '%s' that it is to count",
              barrier ? "arrive" : "set");
}

/* Each arrival, or release, has one count, behind the one before. */
static void verify_counts(const struct checks_verifier *cv)
{
    const struct program *program = &cv->entry->programs[cv->core];
    const struct instr *count = NULL; /* of what follows */
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op == count_op(cv->what) && instr->word == cv->core) {
            if (count) {
                report_idle_count(cv, instr, count);
                return;
            }
            count = instr;
        } else if (gives(cv, instr)) {
            if (!count) {
                report_uncounted(cv, instr);
                return;
            }
            count = NULL;
        }
    }
    if (count)
        report_idle_count(cv, count, NULL);
}

/* ----------------------------------------------------------------------------- checks ---- */

/* `unchecked` is the first wait behind the last check, NULL where there is none. */
static void report_check(const struct checks_verifier *cv, const struct instr *check,
                         uint32_t checks, uint32_t waits, const struct instr *unchecked)
{
    const char *wait = cv->what == WHAT_BARRIER ? "await" : "wait";
    struct arena *arena = &cv->diags->arena;
    const char *behind = waits ? arena_printf(arena, "stands behind '%s' number %u", wait, waits)
                               : arena_printf(arena, "no '%s' stands before it", wait);
    if (!report(cv, check,
                arena_printf(arena, "this is check number %u, but %s", checks + 1, behind)))
        return;
    if (!unchecked) {
        diag_help(cv->diags, "put it directly behind the '%s' that it is to check, or take it out",
                  wait);
        return;
    }
    diag_note(cv->diags, locate_instr(cv->module, unchecked), "nothing checks %s",
              place_text(cv, unchecked));
    diag_help(cv->diags, "write '%s' directly behind that, too",
              wanted(cv, check_op(cv->what), checked_word(cv)));
}

/* Each check has a wait before it that is the only one since the last check. */
static void verify_program_checks(const struct checks_verifier *cv)
{
    const struct program *program = &cv->entry->programs[cv->core];
    const struct instr *unchecked = NULL; /* the first wait behind the last check */
    uint32_t waits = 0, checks = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op == check_op(cv->what) && instr->word == checked_word(cv)) {
            if (waits != checks + 1) {
                report_check(cv, instr, checks, waits, unchecked);
                return;
            }
            checks++;
            unchecked = NULL;
        } else if (takes(cv, instr)) {
            waits++;
            if (!unchecked)
                unchecked = instr;
        }
    }
}

/* ---------------------------------------------------------------------------- entries ---- */

static bool has_checks(const struct checks_verifier *cv)
{
    const struct program *program = &cv->entry->programs[cv->core];
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (program->instrs.at[i].op == check_op(cv->what))
            return true;
    return false;
}

void verify_checks(struct verifier *verifier, const struct entry *entry)
{
    struct checks_verifier cv = {verifier->module, verifier->diags, entry, CORE_AIC, WHAT_BARRIER};
    for (int core = 0; core < CORE_TYPES; core++)
        for (int what = 0; what < WHATS; what++) {
            cv.core = (enum core_type)core;
            cv.what = (enum what)what;
            if (!has_checks(&cv))
                continue;
            verify_program_checks(&cv);
            cv.core = checked_word(&cv);
            verify_counts(&cv);
        }
}
