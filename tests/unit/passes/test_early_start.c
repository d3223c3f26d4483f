/* early-start on random chains of ops: with the words of calls written out as instructions, the
 * result is the program that insert-syncs made, but for barriers that are added where it has none
 * to take; and executed by sync_simulator.h, each op is ordered behind the one before it, nothing
 * is stuck, and no flag is left set. */
#include "ir/core/kernel.h"
#include "passes/manager/pipeline.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/sync_simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MAX_OPS = 12 };

/* Stand for calls of pseudo ops, behind those of the ops: what an op must wait for, what waits for
 * it. */
enum { WAITED = 16, NOTIFIED = 32 };

struct list {
    struct instr *at;
    uint32_t count, capacity;
};

struct trial {
    uint64_t seed;
    struct random random;
    struct text text;
    struct parsed_module parsed;
    unsigned n_ops;
    bool events;
    enum kernel_type type[MAX_OPS];
    bool waits[MAX_OPS], notifies[MAX_OPS];
    struct list before[CORE_TYPES]; /* the programs that insert-syncs made */
    struct list after[CORE_TYPES];  /* those of the result, written out */
};

struct tally {
    unsigned ops, words, added;
};

#define CHECK(trial, condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_trial(trial, #condition);                                                         \
        }                                                                                          \
    } while (0)

static void fail_trial(struct trial *trial, const char *what)
{
    struct text dump = parsed_print(&trial->parsed, false);
    random_report(trial->seed, &trial->text);
    fprintf(stderr, "%.*s\n", (int)dump.size, dump.at);
    diags_print(&trial->parsed.diags, stderr, false);
    text_free(&dump);
    fail_msg("not %s", what);
}

/* -------------------------------------------------------------------------- programs ---- */

static void add_kernel(struct trial *trial, unsigned i)
{
    static const char *const words[] = {"", "set, reads_done", "wait, reads_late",
                                        "set, wait, reads_done, reads_late"};
    enum kernel_type type = random_below(&trial->random, KERNEL_TYPE_COUNT);
    const struct kernel_type_info *info = kernel_type_info(type);
    trial->type[i] = type;
    text_printf(&trial->text, "kernel @k%u : %s {block = %u, early_start = [%s]}\n", i, info->name,
                1 + random_below(&trial->random, info->flat ? 6 : 3),
                words[random_below(&trial->random, 4)]);
}

/* An op outside for each event of the super kernel. */
static void make_partners(struct trial *trial, const bool *events, const char *clause,
                          const char *name)
{
    for (unsigned i = 0; i < trial->n_ops; i++)
        if (events[i])
            text_printf(&trial->text, "  %%%s%u = Op(%%v0) : f32[8] via @k0 %s [%s%u]\n", name, i,
                        clause, name, i);
}

/* Ops of a chain, each with a kernel of its own. */
static void make_text(struct trial *trial)
{
    trial->n_ops = 1 + random_below(&trial->random, MAX_OPS);
    text_string(&trial->text, "skir 1\n");
    for (unsigned i = 0; i < trial->n_ops; i++) {
        add_kernel(trial, i);
        trial->waits[i] = trial->events && i > 0 && random_percent(&trial->random, 25);
        trial->notifies[i] =
            trial->events && i + 1 < trial->n_ops && random_percent(&trial->random, 25);
    }
    text_string(&trial->text, "graph @g(%v0: f32[8]) -> () {\n  stream \"1\" {\n");
    make_partners(trial, trial->waits, "send", "r");
    text_string(&trial->text, "  }\n  superkernel @s {\n");
    for (unsigned i = 0; i < trial->n_ops; i++) {
        text_printf(&trial->text, "    %%v%u = Op(%%v%u) : f32[8] via @k%u", i + 1, i, i);
        if (trial->notifies[i])
            text_printf(&trial->text, " send [s%u]", i);
        if (trial->waits[i])
            text_printf(&trial->text, " recv [r%u]", i);
        text_char(&trial->text, '\n');
    }
    text_string(&trial->text, "  }\n  stream \"2\" {\n");
    make_partners(trial, trial->notifies, "recv", "s");
    text_string(&trial->text, "  }\n  return\n}\n");
}

static unsigned op_of(const struct trial *trial, const struct instr *instr)
{
    unsigned op = 0;
    while (op < trial->n_ops && trial->parsed.module->kernels.at[op].name != instr->kernel)
        op++;
    return op;
}

static struct program *program_of(const struct trial *trial, int core)
{
    return &trial->parsed.module->entries.at[0].programs[core];
}

static void put_program(struct program *program, struct list *list)
{
    vec_free(&program->instrs);
    program->instrs.at = list->at;
    program->instrs.count = list->count;
    program->instrs.capacity = list->capacity;
}

static void add_preloads(struct trial *trial, int core)
{
    struct list list = {NULL, 0, 0};
    const struct program *program = program_of(trial, core);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        while (random_percent(&trial->random, 20))
            vec_push(&list, (struct instr){.op = INSTR_preload,
                                           .part = CORE_TYPES,
                                           .loc = NONE,
                                           .kernel = trial->parsed.module->kernels.at[0].name,
                                           .number = {i}});
        vec_push(&list, program->instrs.at[i]);
    }
    put_program(program_of(trial, core), &list);
}

/* ------------------------------------------------------------------------ writing out ---- */

static void write_instr(struct list *list, enum instr_op op, int word)
{
    vec_push(list, (struct instr){.op = op, .word = word, .part = CORE_TYPES, .kernel = NONE});
}

/* By docs/device-model.md, "Early start". */
static void write_call(const struct trial *trial, int core, struct instr call, struct list *list)
{
    enum kernel_type type = trial->type[op_of(trial, &call)];
    unsigned early = call.early;
    bool own = early & (core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV);
    bool other = early & (core == CORE_AIC ? EARLY_WAIT_AIV : EARLY_WAIT_AIC);
    if (own)
        write_instr(list, INSTR_await, core);
    if (own && kernel_type_has(type, 1 - core))
        write_instr(list, INSTR_set, core);
    if (other)
        write_instr(list, INSTR_wait, 1 - core);
    call.early = 0;
    vec_push(list, call);
    if (early & EARLY_SET)
        write_instr(list, INSTR_arrive, core);
}

/* The program without preloads and words. */
static void write_out(const struct trial *trial, int core, struct list *list)
{
    const struct program *program = program_of(trial, core);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        struct instr instr = program->instrs.at[i];
        if (instr.op == INSTR_call)
            write_call(trial, core, instr, list);
        else if (instr.op != INSTR_preload)
            vec_push(list, instr);
    }
}

static bool same_instr(const struct instr *a, const struct instr *b)
{
    return a->op == b->op && a->kernel == b->kernel && a->number[0] == b->number[0] &&
           (a->op == INSTR_call || a->word == b->word);
}

/* The end of the gap between calls that begins at `at`. */
static uint32_t gap_end(const struct list *list, uint32_t at)
{
    while (at < list->count && list->at[at].op != INSTR_call)
        at++;
    return at;
}

/* Gaps are equal; only in the first and the last one, and with events, there may be more. */
static void check_gaps(struct trial *trial, int core, struct tally *tally)
{
    const struct list *before = &trial->before[core], *after = &trial->after[core];
    uint32_t b = 0, a = 0;
    for (bool first = true;; first = false) {
        uint32_t b_end = gap_end(before, b), a_end = gap_end(after, a);
        uint32_t extra = (a_end - a) - (b_end - b);
        for (; b < b_end; b++, a++) {
            while (a < a_end && !same_instr(&before->at[b], &after->at[a]))
                a++;
            CHECK(trial, a < a_end);
        }
        tally->added += extra;
        CHECK(trial, extra == 0 || first || trial->events || a_end == after->count);
        a = a_end;
        CHECK(trial, (b == before->count) == (a == after->count));
        if (b == before->count)
            return;
        CHECK(trial, same_instr(&before->at[b++], &after->at[a++]));
    }
}

/* ---------------------------------------------------------------------------- execution ---- */

static struct sync_instr sync_call(const struct trial *trial, const struct instr *instr)
{
    unsigned op = op_of(trial, instr);
    const struct kernel_type_info *info = kernel_type_info(trial->type[op]);
    return (struct sync_instr){
        .effect = EFFECT_CALL, .arg = op, .blocks = instr->number[1], .flat = info->flat};
}

/* The op whose event, s or r with its number, this is. */
static unsigned owner_of(const struct trial *trial, uint32_t event)
{
    const struct intern_name *name = &trial->parsed.module->names.names[event];
    unsigned op = 0;
    for (uint32_t i = 1; i < name->size; i++)
        op = op * 10 + (unsigned)(name->text[i] - '0');
    return op;
}

static void add_sync(const struct trial *trial, struct sync_program *program,
                     const struct instr *instr, bool events)
{
    enum instr_effect effect = instr_info(instr->op)->effect;
    if (effect == EFFECT_CALL) {
        vec_push(program, sync_call(trial, instr));
    } else if (effect != EFFECT_EVENT) {
        vec_push(program, (struct sync_instr){.effect = effect, .arg = instr->word});
    } else if (events) {
        unsigned base = instr->op == INSTR_notify ? NOTIFIED : WAITED;
        vec_push(program, (struct sync_instr){.effect = EFFECT_EVENT,
                                              .arg = base + owner_of(trial, instr->number[0]),
                                              .blocks = 1,
                                              .flat = true});
    }
}

static struct sync_outcome execute(struct trial *trial, bool events)
{
    struct sync_outcome outcome;
    const struct entry *entry = &trial->parsed.module->entries.at[0];
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    struct sync_launch launch = {
        .blocks = (unsigned)attr_int(trial->parsed.module, entry->attrs, W_block, 0),
        .per_block = {info->aics, info->aivs}};
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < trial->after[core].count; i++)
            add_sync(trial, &launch.programs[core], &trial->after[core].at[i], events);
    sync_simulate(&outcome, &launch);
    sync_launch_free(&launch);
    return outcome;
}

static void check_execution(struct trial *trial)
{
    struct sync_outcome outcome = execute(trial, false);
    CHECK(trial, outcome.stuck == 0);
    CHECK(trial, outcome.overflows == 0);
    CHECK(trial, outcome.left == 0);
    CHECK(trial, outcome.undrained == 0);
    outcome = execute(trial, true);
    for (unsigned op = 0; op < trial->n_ops; op++) {
        for (unsigned earlier = 0; earlier < op; earlier++)
            CHECK(trial, sync_ops_has(&outcome.known[op], earlier));
        CHECK(trial, !trial->waits[op] || sync_ops_has(&outcome.known[op], WAITED + op));
        CHECK(trial, !trial->notifies[op] || sync_ops_has(&outcome.known[NOTIFIED + op], op));
    }
}

/* ------------------------------------------------------------------------------- trials ---- */

static void run_pass(struct trial *trial, pass_function *pass)
{
    struct analyses analyses = {.effects = NULL};
    struct pass_context context = {
        .module = trial->parsed.module, .diags = &trial->parsed.diags, .analyses = &analyses};
    CHECK(trial, pass(&context));
    analyses_drop(&analyses);
}

/* Each kernel's calls say what it was built for. */
static void check_words(struct trial *trial, struct tally *tally)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = program_of(trial, core);
        for (uint32_t i = 0; i < program->instrs.count; i++) {
            const struct instr *instr = &program->instrs.at[i];
            if (instr->op != INSTR_call)
                continue;
            const struct kernel *kernel = module_find_kernel(trial->parsed.module, instr->kernel);
            unsigned built = kernel_early_start(trial->parsed.module, kernel);
            CHECK(trial, (instr->early & EARLY_SET) == (built & EARLY_SET));
            CHECK(trial, !(instr->early & EARLY_WAIT_MIX) == !(built & EARLY_WAIT_MIX));
            tally->words += instr->early != 0;
        }
    }
}

static void check_again(struct trial *trial)
{
    struct text once = parsed_print(&trial->parsed, false);
    run_pass(trial, pass_insert_syncs);
    run_pass(trial, pass_early_start);
    struct text twice = parsed_print(&trial->parsed, false);
    CHECK(trial, once.size == twice.size && memcmp(once.at, twice.at, once.size) == 0);
    text_free(&once);
    text_free(&twice);
}

static void run_trial(uint64_t seed, bool events, struct tally *tally)
{
    struct trial trial = {.seed = seed, .random = {seed}, .events = events};
    make_text(&trial);
    parsed_init(&trial.parsed, trial.text.at, trial.text.size);
    assert_non_null(trial.parsed.module);
    run_pass(&trial, pass_lower_superkernels);
    run_pass(&trial, pass_insert_syncs);
    for (int core = 0; core < CORE_TYPES; core++) {
        write_out(&trial, core, &trial.before[core]);
        add_preloads(&trial, core);
    }
    run_pass(&trial, pass_early_start);
    check_words(&trial, tally);
    for (int core = 0; core < CORE_TYPES; core++) {
        write_out(&trial, core, &trial.after[core]);
        check_gaps(&trial, core, tally);
    }
    check_execution(&trial);
    check_again(&trial);
    tally->ops += trial.n_ops;
    for (int core = 0; core < CORE_TYPES; core++) {
        vec_free(&trial.before[core]);
        vec_free(&trial.after[core]);
    }
    text_free(&trial.text);
    parsed_free(&trial.parsed);
}

static void run_random(bool events)
{
    struct tally tally = {0};
    struct random_runs runs = random_runs(1500);
    for (uint64_t i = 0; i < runs.count; i++)
        run_trial(runs.seed + i, events, &tally);
    print_message("# %u ops, %u calls with words, %u instructions added\n", tally.ops, tally.words,
                  tally.added);
    assert_true(runs.count < 100 || (tally.words > tally.ops / 4 && tally.added > 0));
}

static void test_chains(void **state)
{
    (void)state;
    run_random(false);
}

static void test_events(void **state)
{
    (void)state;
    run_random(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_events),
    };
    return cmocka_run_group_tests_name("early_start", tests, NULL, NULL);
}
