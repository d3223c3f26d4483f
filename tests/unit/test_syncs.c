/* The pipeline `default` on random graphs: every entry is executed by sync_simulator.h, which must
 * find each order that the graph demands (graph_model.h) known wherever an op starts, nothing stuck,
 * and no flag too full or left set. Entries with an instruction taken out show that it can fail, and
 * that verify-sync, which executes nothing, proves none that is wrong. */
#include "entry_words.h"
#include "graph_model.h"
#include "parsed_module.h"
#include "passes/pass.h"
#include "random_graph.h"
#include "passes/superkernel.h"
#include "sync_simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* How mutated entries were found wrong; one may count in several ways. */
struct mutations {
    unsigned tried, stuck, left, unawaited, undrained, disordered, redundant;
    unsigned unproven; /* well, but not for verify-sync */
};

struct tally {
    const char *sk_options; /* of all scopes; NULL: none */
    bool one_list;          /* graphs whose ops cannot be one list are left out */
    bool barriers;          /* there must be one behind each call */
    bool early;             /* kernels may arrive where nobody awaits, behind the last op */
    unsigned graphs, entries, ops, required;
    struct mutations single, paired, swapped, drained, recast;
};

struct trial {
    uint64_t seed;
    struct text text;
    struct parsed_module parsed;
    struct graph_model before, after;
    struct tally *tally;
};

#define CHECK(trial, condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            random_report((trial)->seed, &(trial)->text);                                          \
            diags_print(&(trial)->parsed.diags, stderr, false);                                    \
            fail_msg("not %s", #condition);                                                        \
        }                                                                                          \
    } while (0)

static const struct graph *the_graph(const struct trial *trial)
{
    return &trial->parsed.module->graphs.at[0];
}

/* ------------------------------------------------------------------ entry to launch ---- */

static uint32_t tensors(const struct op *op)
{
    return op->operands.count + op->results.count;
}

/* Whether the entry's parameters from `slot` on are the tensors of the op. */
static bool slots_match(const struct trial *trial, const struct entry *entry, const struct op *op,
                        uint32_t slot)
{
    const struct module *module = trial->parsed.module;
    const struct graph *graph = the_graph(trial);
    const struct attr *params = attr_find(module, entry->attrs, W_params);
    uint32_t count = tensors(op);
    if (!params || slot + count > params->value.count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = i < op->operands.count ? op_operands(graph, op)[i]
                                                : op->results.first + i - op->operands.count;
        const struct attr_value *param = &module->attr_values.at[params->value.first + slot + i];
        if (param->kind != ATTR_VALUE || param->id != graph->values.at[value].name)
            return false;
    }
    return true;
}

/* The op of the super kernel that a call runs. Where the tensors of several ops stand at its slot, it
 * is the one with the most: an op's own results stand nowhere before it. */
static unsigned called_op(struct trial *trial, const struct entry *entry, const struct instr *instr)
{
    const struct op *ops = the_graph(trial)->ops.at;
    unsigned found = NONE;
    for (unsigned nr = 0; nr < trial->after.count; nr++) {
        const struct op *op = &ops[trial->after.id[nr]];
        if (trial->after.superkernel[nr] != entry->name || op->kernel != instr->kernel ||
            !slots_match(trial, entry, op, instr->number[0]))
            continue;
        if (found == NONE || tensors(op) > tensors(&ops[trial->after.id[found]]))
            found = nr;
    }
    CHECK(trial, found != NONE);
    return found;
}

static struct sync_instr call_instr(struct trial *trial, const struct entry *entry, unsigned core,
                                    const struct instr *instr)
{
    const struct kernel *kernel = module_find_kernel(trial->parsed.module, instr->kernel);
    const struct kernel_type_info *info = kernel_type_info(kernel->type);
    return (struct sync_instr){.effect = EFFECT_CALL,
                               .arg = called_op(trial, entry, instr),
                               .blocks = instr->number[1],
                               .subs = core == CORE_AIC ? info->aics : info->aivs,
                               .flat = info->flat};
}

static void add_sync(struct sync_program *program, enum instr_effect effect, unsigned arg)
{
    vec_push(program, (struct sync_instr){.effect = effect, .arg = arg});
}

/* A call, and what its kernel, or the core where it has no blocks, does besides. */
static void add_call(struct sync_launch *launch, struct trial *trial, const struct entry *entry,
                     unsigned core, const struct instr *instr, struct entry_words *words)
{
    struct sync_program *program = &launch->programs[core];
    struct sync_instr call = call_instr(trial, entry, core, instr);
    const struct kernel *kernel = module_find_kernel(trial->parsed.module, instr->kernel);
    bool own = instr->early & (core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV);
    bool other = instr->early & (core == CORE_AIC ? EARLY_WAIT_AIV : EARLY_WAIT_AIC);
    words->args[call.arg] = instr->number[0];
    call.early = own || other;
    if (own)
        add_sync(program, EFFECT_AWAIT, core);
    if (own && kernel_type_has(kernel->type, 1 - core))
        add_sync(program, EFFECT_SET, core);
    if (other)
        add_sync(program, EFFECT_WAIT, 1 - core);
    vec_push(program, call);
    if (instr->early & EARLY_SET)
        add_sync(program, EFFECT_ARRIVE, core);
}

static void launch_init(struct sync_launch *launch, struct trial *trial, const struct entry *entry,
                        struct entry_words *words)
{
    words->first = trial->after.count;
    words->count = 0;
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    *launch = (struct sync_launch){
        .blocks = (unsigned)attr_int(trial->parsed.module, entry->attrs, W_block, 0),
        .per_block = {info->aics, info->aivs}};
    CHECK(trial, launch->blocks * (info->aics + info->aivs) <= SYNC_MAX_CORES);
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            enum instr_effect effect = instr_info(instr->op)->effect;
            unsigned arg = instr->word;
            if (effect == EFFECT_CALL) {
                add_call(launch, trial, entry, core, instr, words);
                continue;
            }
            if (effect == EFFECT_EVENT)
                arg = entry_words_add(words, instr);
            CHECK(trial, arg != NONE);
            add_sync(&launch->programs[core], effect, arg);
        }
}

static void launch_free(struct sync_launch *launch)
{
    for (unsigned core = 0; core < CORE_TYPES; core++)
        vec_free(&launch->programs[core]);
}

/* ------------------------------------------------------------------------- properties ---- */

/* What the op must have complete within its own super kernel. */
static uint64_t inner_needs(const struct trial *trial, unsigned nr)
{
    uint64_t inner = 0;
    for (unsigned i = 0; i < trial->after.count; i++)
        if (trial->after.superkernel[i] == trial->after.superkernel[nr])
            inner |= (uint64_t)1 << i;
    return trial->before.needs[nr] & inner;
}

static bool is_ordered(const struct trial *trial, const struct entry *entry,
                       const struct entry_words *words, const struct sync_outcome *outcome)
{
    if (!entry_words_well(words, trial->parsed.module, the_graph(trial), &trial->after, entry->name,
                          outcome))
        return false;
    for (unsigned nr = 0; nr < trial->after.count; nr++)
        if (outcome->started >> nr & 1 && inner_needs(trial, nr) & ~outcome->known[nr])
            return false;
    return true;
}

/* Each op is called once on each core type that its kernel has, and on no other. */
static void check_calls(struct trial *trial, const struct entry *entry,
                        const struct sync_launch *launch)
{
    for (unsigned nr = 0; nr < trial->after.count; nr++) {
        const struct op *op = &the_graph(trial)->ops.at[trial->after.id[nr]];
        if (trial->after.superkernel[nr] != entry->name)
            continue;
        const struct kernel *kernel = module_find_kernel(trial->parsed.module, op->kernel);
        for (unsigned core = 0; core < CORE_TYPES; core++) {
            unsigned calls = 0;
            for (uint32_t i = 0; i < launch->programs[core].count; i++)
                calls += launch->programs[core].at[i].effect == EFFECT_CALL &&
                         launch->programs[core].at[i].arg == nr;
            CHECK(trial, calls == kernel_type_has(kernel->type, core));
        }
        trial->tally->ops++;
        trial->tally->required += (unsigned)__builtin_popcountll(inner_needs(trial, nr));
    }
}

/* -------------------------------------------------------------------------- mutations ---- */

static struct instr take_instr(struct program *program, uint32_t index)
{
    struct instr instr = program->instrs.at[index];
    uint32_t behind = --program->instrs.count - index;
    memmove(program->instrs.at + index, program->instrs.at + index + 1, behind * sizeof instr);
    return instr;
}

static void put_instr(struct program *program, uint32_t index, struct instr instr)
{
    uint32_t behind = program->instrs.count - index;
    vec_push(&program->instrs, instr);
    memmove(program->instrs.at + index + 1, program->instrs.at + index, behind * sizeof instr);
    program->instrs.at[index] = instr;
}

/* What the pass verify-sync says of the module, all of whose other entries are well. */
static bool is_proven(const struct trial *trial)
{
    struct diags diags;
    diags_init(&diags, NULL, "test.skir");
    struct pass_context context = {.module = trial->parsed.module, .diags = &diags};
    bool proven = pass_verify_sync(&context);
    diags_free(&diags);
    return proven;
}

/* Whether calls say what their kernels were built to do. */
static bool calls_are_well(const struct trial *trial, const struct entry *entry)
{
    const struct module *module = trial->parsed.module;
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr->op != INSTR_call)
                continue;
            unsigned built = kernel_early_start(module, module_find_kernel(module, instr->kernel));
            if ((built ^ instr->early) & EARLY_SET ||
                !(built & EARLY_WAIT_MIX) != !(instr->early & EARLY_WAIT_MIX))
                return false;
        }
    return true;
}

/* What is proven must be well. The proof may ask for more: it does not follow each core. */
static void try_mutation(struct trial *trial, const struct entry *entry,
                         struct mutations *mutations)
{
    struct sync_launch launch;
    struct sync_outcome outcome;
    struct entry_words words;
    launch_init(&launch, trial, entry, &words);
    sync_simulate(&outcome, &launch);
    launch_free(&launch);
    bool ordered = is_ordered(trial, entry, &words, &outcome) && calls_are_well(trial, entry);
    mutations->tried++;
    mutations->stuck += outcome.stuck > 0;
    mutations->left += outcome.left > 0;
    mutations->unawaited += outcome.unawaited > 0;
    mutations->undrained += outcome.undrained > 0;
    mutations->disordered += !ordered;
    mutations->redundant += ordered && sync_outcome_ok(&outcome);
    bool well =
        ordered && !outcome.stuck && !outcome.overflows && !outcome.left && !outcome.undrained;
    bool proven = is_proven(trial);
    CHECK(trial, well || !proven);
    mutations->unproven += well && !proven;
}

static enum instr_effect effect_at(const struct program *program, uint32_t index)
{
    return instr_info(program->instrs.at[index].op)->effect;
}

/* The instruction that belongs to the arrive or set at `index`: of the same count in its program. */
static bool find_partner(const struct entry *entry, unsigned core, uint32_t index,
                         unsigned *partner_core, uint32_t *partner)
{
    enum instr_effect effect = effect_at(&entry->programs[core], index);
    bool barrier = effect == EFFECT_ARRIVE;
    unsigned before = 0;
    if (!barrier && effect != EFFECT_SET)
        return false;
    for (uint32_t i = 0; i < index; i++)
        before += effect_at(&entry->programs[core], i) == effect;
    *partner_core = barrier ? core : 1 - core;
    const struct program *program = &entry->programs[*partner_core];
    for (*partner = 0; *partner < program->instrs.count; ++*partner)
        if (effect_at(program, *partner) == (barrier ? EFFECT_AWAIT : EFFECT_WAIT) && before-- == 0)
            return true;
    return false;
}

static void try_single(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    struct instr taken = take_instr(&entry->programs[core], index);
    try_mutation(trial, entry, &trial->tally->single);
    put_instr(&entry->programs[core], index, taken);
}

/* The later of two instructions of one program is taken first, so that both indices hold. */
static void try_pair(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    unsigned other;
    uint32_t partner;
    if (!find_partner(entry, core, index, &other, &partner))
        return;
    bool swap = other == core && partner < index;
    struct program *late = &entry->programs[swap ? core : other];
    struct program *early = &entry->programs[swap ? other : core];
    uint32_t late_at = swap ? index : partner, early_at = swap ? partner : index;
    struct instr late_taken = take_instr(late, late_at);
    struct instr early_taken = take_instr(early, early_at);
    try_mutation(trial, entry, &trial->tally->paired);
    put_instr(early, early_at, early_taken);
    put_instr(late, late_at, late_taken);
}

static void try_swap(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    struct program *program = &entry->programs[core];
    if (index + 1 == program->instrs.count ||
        (effect_at(program, index) == EFFECT_CALL && effect_at(program, index + 1) == EFFECT_CALL))
        return;
    put_instr(program, index + 1, take_instr(program, index));
    try_mutation(trial, entry, &trial->tally->swapped);
    put_instr(program, index + 1, take_instr(program, index));
}

/* The halves of a barrier that are gone make a drain of one of them, which is often enough. */
static void try_drain(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    unsigned other;
    uint32_t partner;
    struct program *program = &entry->programs[core];
    if (!find_partner(entry, core, index, &other, &partner) || other != core || partner < index)
        return;
    struct instr await = take_instr(program, partner), arrive = program->instrs.at[index];
    program->instrs.at[index] = instr_make(INSTR_pipe_barrier, 0);
    try_mutation(trial, entry, &trial->tally->drained);
    program->instrs.at[index] = arrive;
    put_instr(program, partner, await);
}

/* A call that does one thing more, or less, than before its kernel starts or when it ends. */
static void try_early(struct trial *trial, struct entry *entry, unsigned core, uint32_t index)
{
    struct instr *call = &entry->programs[core].instrs.at[index];
    const struct kernel *kernel = module_find_kernel(trial->parsed.module, call->kernel);
    unsigned built = kernel_early_start(trial->parsed.module, kernel);
    for (unsigned bit = 1; bit <= EARLY_SET; bit <<= 1) {
        if (!(built & bit))
            continue;
        call->early ^= bit;
        try_mutation(trial, entry, &trial->tally->recast);
        call->early ^= bit;
    }
}

/* Takes out each synchronisation instruction, alone and with the one that it belongs to, puts it
 * behind the next one, and makes other changes of the kinds above. */
static void mutate(struct trial *trial, struct entry *entry)
{
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            try_swap(trial, entry, core, i);
            if (effect_at(&entry->programs[core], i) == EFFECT_CALL) {
                try_early(trial, entry, core, i);
                continue;
            }
            try_single(trial, entry, core, i);
            try_pair(trial, entry, core, i);
            try_drain(trial, entry, core, i);
        }
}

/* ------------------------------------------------------------------------------ trials ---- */

/* Behind each call, before the next one, the core drains and then takes part in a barrier. */
static void check_barriers(struct trial *trial, const struct entry *entry)
{
    for (unsigned core = 0; core < CORE_TYPES && trial->tally->barriers; core++) {
        const struct program *program = &entry->programs[core];
        bool barrier = true;
        for (uint32_t i = 0; i < program->instrs.count; i++) {
            enum instr_effect next =
                i + 1 < program->instrs.count ? effect_at(program, i + 1) : EFFECT_NONE;
            if (effect_at(program, i) == EFFECT_CALL)
                CHECK(trial, barrier);
            if (effect_at(program, i) == EFFECT_CALL)
                barrier = false;
            else if (effect_at(program, i) == EFFECT_DRAIN)
                barrier = barrier || next == EFFECT_ARRIVE || next == EFFECT_AWAIT ||
                          next == EFFECT_WAIT || next == EFFECT_SET;
        }
        CHECK(trial, barrier);
    }
}

static uint32_t count_instrs(const struct module *module)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (unsigned core = 0; core < CORE_TYPES; core++)
            count += module->entries.at[i].programs[core].instrs.count;
    return count;
}

/* The pipeline adds nothing to what it has made. */
static void check_kept(struct trial *trial, struct pass_context *context)
{
    uint32_t count = count_instrs(trial->parsed.module);
    CHECK(trial, pipeline_lower(context) == PIPELINE_OK);
    CHECK(trial, count_instrs(trial->parsed.module) == count);
}

static void check_entry(struct trial *trial, struct entry *entry, bool mutated)
{
    struct sync_launch launch;
    struct sync_outcome outcome;
    struct entry_words words;
    launch_init(&launch, trial, entry, &words);
    sync_simulate(&outcome, &launch);
    check_calls(trial, entry, &launch);
    CHECK(trial, outcome.stuck == 0);
    CHECK(trial, outcome.overflows == 0);
    CHECK(trial, outcome.left == 0);
    CHECK(trial, outcome.unawaited == 0 || trial->tally->early);
    CHECK(trial, outcome.undrained == 0);
    CHECK(trial, is_ordered(trial, entry, &words, &outcome));
    check_barriers(trial, entry);
    trial->tally->entries++;
    launch_free(&launch);
    if (mutated)
        mutate(trial, entry);
}

/* Order may be said in another way afterwards, for launches as wholes, but that within a super kernel
 * is still that of its ops. */
static void check_order_kept(struct trial *trial)
{
    for (unsigned i = 0; i < trial->before.count; i++)
        CHECK(trial, trial->after.superkernel[i] == NONE ||
                         !(inner_needs(trial, i) & ~trial->after.needs[i]));
}

/* Whether all that was wrong are streams that run side by side. */
static bool has_streams(const struct trial *trial)
{
    const struct diags *diags = &trial->parsed.diags;
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].severity == SEVERITY_ERROR &&
            diags->list.at[i].id != DIAG_stream_fusion)
            return false;
    return true;
}

static void run_trial(uint64_t seed, const struct random_graph_options *options, bool mutated,
                      struct tally *tally)
{
    struct trial trial = {.seed = seed, .tally = tally};
    random_graph(&trial.text, seed, options);
    parsed_init(&trial.parsed, trial.text.at, trial.text.size);
    struct module *module = trial.parsed.module;
    CHECK(&trial, module && verify_module(module, &trial.parsed.diags));
    CHECK(&trial, graph_model_init(&trial.before, module, the_graph(&trial)));
    struct pass_context context = {
        .module = module, .diags = &trial.parsed.diags, .sk_options = tally->sk_options};
    enum pipeline_status status = pipeline_lower(&context);
    if (tally->one_list && status == PIPELINE_INPUT && has_streams(&trial)) {
        text_free(&trial.text);
        parsed_free(&trial.parsed);
        return;
    }
    CHECK(&trial, status == PIPELINE_OK);
    CHECK(&trial, graph_model_init(&trial.after, module, the_graph(&trial)));
    check_order_kept(&trial);
    for (uint32_t i = 0; i < module->entries.count; i++)
        check_entry(&trial, &module->entries.at[i], mutated);
    check_kept(&trial, &context);
    tally->graphs++;
    text_free(&trial.text);
    parsed_free(&trial.parsed);
}

static void run_random(const struct random_graph_options *options, bool mutated,
                       struct tally *tally, uint64_t count)
{
    struct random_runs runs = random_runs(count);
    for (uint64_t i = 0; i < runs.count; i++)
        run_trial(runs.seed + i, options, mutated, tally);
    print_message("# %u graphs, %u entries, %u ops, %u required orders\n", tally->graphs,
                  tally->entries, tally->ops, tally->required);
}

static void test_small_graphs(void **state)
{
    (void)state;
    struct tally tally = {0};
    run_random(
        &(struct random_graph_options){
            .max_ops = 12, .memory = true, .unfusable = true, .stream_fusion = true},
        false, &tally, 4000);
}

static void test_large_graphs(void **state)
{
    (void)state;
    struct tally tally = {0};
    run_random(&(struct random_graph_options){.max_ops = 48, .stream_fusion = true}, false, &tally,
               500);
}

/* What debug options add keeps every order, and is complete. */
static void test_debug_options(void **state)
{
    (void)state;
    static const struct tally tallies[] = {
        {.sk_options = "stream-fusion=0:debug-sync-all=1", .one_list = true, .barriers = true},
        {.sk_options = "stream-fusion=0:debug-sync-all=1:debug-dcci-all=1:"
                       "dcci-before-kernel-start=Add,Cast,call:dcci-after-kernel-end=MatMul,Cast",
         .one_list = true,
         .barriers = true},
        {.sk_options = "debug-sync-all=1", .barriers = true},
        {.sk_options = "debug-sync-all=1:debug-dcci-all=1:dcci-before-kernel-start=Add,Cast,call",
         .barriers = true},
        {.sk_options =
             "debug-dcci-all=1:dcci-before-kernel-start=Add,Cast:dcci-after-kernel-end=Cast,call"},
    };
    for (size_t i = 0; i < sizeof tallies / sizeof tallies[0]; i++) {
        struct tally tally = tallies[i];
        run_random(&(struct random_graph_options){.max_ops = 16, .stream_fusion = true}, false,
                   &tally, 600);
    }
}

static void print_mutations(const char *what, const struct mutations *m)
{
    print_message("# %s: %u mutations: %u stuck, %u left, %u unawaited, %u undrained, "
                  "%u disordered, %u redundant, %u unproven\n",
                  what, m->tried, m->stuck, m->left, m->unawaited, m->undrained, m->disordered,
                  m->redundant, m->unproven);
}

static void print_all(const struct tally *tally)
{
    print_mutations("single", &tally->single);
    print_mutations("paired", &tally->paired);
    print_mutations("swapped", &tally->swapped);
    print_mutations("drained", &tally->drained);
    print_mutations("recast", &tally->recast);
}

/* The proof refuses nothing that is well: what it computes of two positions is all that there is to
 * know about a launch. */
static void check_all_proven(const struct tally *tally)
{
    assert_int_equal(tally->single.unproven, 0);
    assert_int_equal(tally->paired.unproven, 0);
    assert_int_equal(tally->swapped.unproven, 0);
    assert_int_equal(tally->drained.unproven, 0);
    assert_int_equal(tally->recast.unproven, 0);
}

/* Where an instruction is missing, something is wrong or the instruction was not needed; each way
 * to be wrong occurs. */
static void test_mutations(void **state)
{
    (void)state;
    struct tally tally = {0};
    run_random(&(struct random_graph_options){.max_ops = 12, .stream_fusion = true}, true, &tally,
               400);
    print_all(&tally);
    check_all_proven(&tally);
    if (tally.graphs < 100)
        return;
    assert_true(tally.single.stuck > 0 && tally.single.left > 0 && tally.single.unawaited > 0);
    assert_true(tally.single.redundant < tally.single.tried / 10);
    assert_true(tally.paired.disordered > 0 && tally.paired.undrained > 0);
}

static void test_early_mutations(void **state)
{
    (void)state;
    struct tally tally = {.sk_options = "stream-fusion=0", .one_list = true, .early = true};
    run_random(
        &(struct random_graph_options){.max_ops = 10, .stream_fusion = true, .early_start = true},
        true, &tally, 600);
    print_all(&tally);
    check_all_proven(&tally);
    if (tally.graphs < 100)
        return;
    assert_true(tally.recast.stuck > 0 && tally.recast.left > 0 && tally.recast.disordered > 0);
}

/* --------------------------------------------------------------------- the simulator ---- */

static void add_instr(struct sync_launch *launch, enum core_type core, enum instr_effect effect,
                      unsigned arg)
{
    vec_push(&launch->programs[core], (struct sync_instr){.effect = effect, .arg = arg});
}

static struct sync_outcome simulate(struct sync_launch *launch)
{
    struct sync_outcome outcome;
    sync_simulate(&outcome, launch);
    launch_free(launch);
    return outcome;
}

/* Fifteen outstanding releases are allowed; one more is not, even if the waits could be quick. */
static void test_flag_limit(void **state)
{
    (void)state;
    for (unsigned sender = 0; sender < CORE_TYPES; sender++)
        for (unsigned n = 15; n <= 16; n++) {
            struct sync_launch launch = {.blocks = 2, .per_block = {1, 2}};
            for (unsigned i = 0; i < n; i++) {
                add_instr(&launch, sender, EFFECT_SET, sender);
                add_instr(&launch, 1 - sender, EFFECT_WAIT, sender);
            }
            struct sync_outcome outcome = simulate(&launch);
            assert_int_equal(outcome.stuck, 0);
            assert_int_equal(outcome.left, 0);
            assert_int_equal(outcome.overflows > 0, n == 16);
        }
}

static void test_stuck_and_left(void **state)
{
    (void)state;
    struct sync_launch launch = {.blocks = 3, .per_block = {1, 2}};
    add_instr(&launch, CORE_AIC, EFFECT_SET, CORE_AIC);
    add_instr(&launch, CORE_AIC, EFFECT_WAIT, CORE_AIV);
    add_instr(&launch, CORE_AIV, EFFECT_AWAIT, 0);
    struct sync_outcome outcome = simulate(&launch);
    assert_int_equal(outcome.stuck, 9);
    assert_int_equal(outcome.left, 6);
    assert_false(sync_outcome_ok(&outcome));
}

/* A flag tells the vector cores what their own cube core did, not what the others did; and not what
 * it may still be doing. */
static void test_flag_alone_is_not_enough(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        unsigned blocks = 1 + i / 2, drained = i % 2;
        struct sync_launch launch = {.blocks = blocks, .per_block = {1, 2}};
        add_instr(&launch, CORE_AIC, EFFECT_CALL, 5);
        if (drained)
            add_instr(&launch, CORE_AIC, EFFECT_DRAIN, 0);
        add_instr(&launch, CORE_AIC, EFFECT_SET, CORE_AIC);
        add_instr(&launch, CORE_AIV, EFFECT_WAIT, CORE_AIC);
        add_instr(&launch, CORE_AIV, EFFECT_CALL, 6);
        struct sync_outcome outcome = simulate(&launch);
        assert_true(sync_outcome_ok(&outcome));
        assert_int_equal(outcome.started, 1 << 5 | 1 << 6);
        assert_int_equal(outcome.known[6], blocks == 1 && drained ? 1 << 5 : 0);
        assert_int_equal(outcome.known[5], 0);
    }
}

/* What is done between arrive and await is not known to the others. */
static void test_split_barrier(void **state)
{
    (void)state;
    struct sync_launch launch = {.blocks = 4, .per_block = {0, 1}};
    add_instr(&launch, CORE_AIV, EFFECT_CALL, 0);
    add_instr(&launch, CORE_AIV, EFFECT_ARRIVE, 0);
    add_instr(&launch, CORE_AIV, EFFECT_DRAIN, 0);
    add_instr(&launch, CORE_AIV, EFFECT_CALL, 1);
    add_instr(&launch, CORE_AIV, EFFECT_AWAIT, 0);
    add_instr(&launch, CORE_AIV, EFFECT_CALL, 2);
    struct sync_outcome outcome = simulate(&launch);
    assert_true(sync_outcome_ok(&outcome));
    assert_int_equal(outcome.known[1], 0);
    assert_int_equal(outcome.known[2], 1 << 0);
}

static void test_drained(void **state)
{
    (void)state;
    struct sync_launch launch = {.blocks = 1, .per_block = {1, 0}};
    for (unsigned op = 0; op < 3; op++) {
        add_instr(&launch, CORE_AIC, EFFECT_CALL, op);
        add_instr(&launch, CORE_AIC, op ? EFFECT_ARRIVE : EFFECT_DRAIN, 0);
    }
    struct sync_outcome outcome = simulate(&launch);
    assert_int_equal(outcome.undrained, 1);
    assert_int_equal(outcome.unawaited, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flag_limit),
        cmocka_unit_test(test_stuck_and_left),
        cmocka_unit_test(test_flag_alone_is_not_enough),
        cmocka_unit_test(test_split_barrier),
        cmocka_unit_test(test_drained),
        cmocka_unit_test(test_small_graphs),
        cmocka_unit_test(test_large_graphs),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_early_mutations),
        cmocka_unit_test(test_debug_options),
    };
    return cmocka_run_group_tests_name("syncs", tests, NULL, NULL);
}
