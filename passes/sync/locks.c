/* The lock of a dynamic kernel: closed again when all cores have chosen their function. */
#include "ir/syntax/spelling.h"
#include "passes/sync/words.h"

/* The first select of the op that may not be over everywhere at a point, or NONE. */
static enum core_type open_select(const struct sync_word *word, const struct sync_point *point)
{
    const struct sync_placed *placed = &word->checker->subject->placed[word->place];
    for (int core = 0; core < CORE_TYPES; core++) {
        if (placed->select[core] == NONE)
            continue;
        struct sync_point select = sync_point_all(word->checker, core, placed->select[core]);
        if (!sync_is_passed(&word->checker->proof, &select, point))
            return core;
    }
    return CORE_TYPES;
}

static void help_unlock(const struct sync_word *word)
{
    const struct sync_placed *placed = &word->checker->subject->placed[word->place];
    enum core_type core = sync_word_main_core(word);
    const char *group = core_type_name(core);
    const struct group_name *name = &word->checker->subject->groups[word->place];
    diag_help(
        word->checker->diags,
        "write 'reset lock %s' behind a barrier that all cores arrive at behind %s%s%s, so at the "
        "latest at the end, behind 'arrive %s await %s'",
        args_name_text(word->checker->module, name->name, name->word, &word->checker->diags->arena),
        sync_step_text(word->checker, core, placed->select[core]),
        placed->select[1 - core] == NONE ? "" : " and ",
        placed->select[1 - core] == NONE
            ? ""
            : sync_step_text(word->checker, 1 - core, placed->select[1 - core]),
        group, group);
}

bool sync_check_lock(const struct sync_word *word)
{
    const struct sync_checker *checker = word->checker;
    if (!sync_is_used(word->words, word->number, USE_RESET)) {
        if (sync_report_word(word, "does not reset the lock of this op's dynamic kernel"))
            help_unlock(word);
        return false;
    }
    struct sync_point reset = sync_use_point(word->words, word->number, USE_RESET);
    enum core_type open = open_select(word, &reset);
    if (open == CORE_TYPES)
        return true;
    if (sync_report_step(
            checker, DIAG_sync_event, reset.core, reset.step,
            open == CORE_AIC
                ? "this may reset the lock before every aic has selected the kernel"
                : "this may reset the lock before every aiv has selected the kernel")) {
        uint32_t select = checker->subject->placed[word->place].select[open];
        struct sync_point selects = sync_point_all(checker, open, select);
        diag_note(checker->diags, sync_step_span(checker, open, select), "they do at %s",
                  sync_step_text(checker, open, select));
        if (sync_is_before(checker, &reset, &selects)) {
            sync_help_take_out(checker, &reset);
            help_unlock(word);
        } else {
            sync_help_order(checker, &selects, &reset);
        }
    }
    return false;
}
