#include "ir/analysis/dep_graph.h"
#include "ir/core/kernel.h"
#include "ir/core/kernel_args.h"
#include "tests/unit/entry_launch.h"

#include <string.h>

/* An instruction that is an op of its own, and the word that it is about. */
struct word_use {
    enum instr_op op;
    unsigned number;
    uint32_t event; /* the event's name, or NONE: the lock of `owner` */
    unsigned owner;
};

struct word_uses {
    struct word_use *at;
    uint32_t count, capacity;
};

struct reader {
    struct entry_launch *launch;
    const struct module *module;
    const struct graph *graph;
    const struct entry *entry;
    unsigned n_ops;                        /* numbers given so far */
    uint32_t group[SYNC_MAX_OPS];          /* by op: that of its arguments, or NONE */
    bool called[CORE_TYPES][SYNC_MAX_OPS]; /* by op */
    struct word_uses uses;
    unsigned clear; /* number of the program's last clear_workspace, or NONE */
    bool ok;
};

/* ------------------------------------------------------------------------- ops of calls ---- */

static uint32_t tensors(const struct op *op)
{
    return op->operands.count + op->results.count;
}

/* Whether the first arguments of a group are the tensors of the op. */
static bool args_match(const struct reader *r, const struct op *op, const struct arg_group *group)
{
    if (tensors(op) > group->args.count)
        return false;
    for (uint32_t i = 0; i < tensors(op); i++) {
        uint32_t value = i < op->operands.count ? op_operands(r->graph, op)[i]
                                                : op->results.first + i - op->operands.count;
        const struct arg *arg = group_arg(r->entry, group, i);
        if (arg->kind != ARG_VALUE || arg->id != r->graph->values.at[value].name)
            return false;
    }
    return true;
}

static bool is_member(const struct reader *r, unsigned op)
{
    uint32_t block = graph_superkernel(r->graph, r->graph->ops.at[op].block);
    return block != NONE && r->graph->blocks.at[block].name == r->entry->name &&
           r->graph->ops.at[op].kernel != NONE; /* views have none, and no part in the entry */
}

/* Whether the group is named after the op: its last result, or its type, a number behind it. */
static bool is_named_after(const struct reader *r, const struct arg_group *group,
                           const struct op *op)
{
    const struct intern_name *type = &r->module->names.names[op->type];
    const struct intern_name *name = &r->module->names.names[group->name];
    if (op->results.count)
        return !group->word &&
               r->graph->values.at[op->results.first + op->results.count - 1].name == group->name;
    return group->word && name->size >= type->size &&
           memcmp(name->text, type->text, type->size) == 0;
}

/* The op of the super kernel that a call runs. */
static unsigned called_op(const struct reader *r, const struct instr *instr)
{
    const struct op *ops = r->graph->ops.at;
    const struct arg_group *group = &r->entry->groups.at[instr->number[0]];
    for (unsigned op = 0; op < r->graph->ops.count; op++)
        if (is_named_after(r, group, &ops[op]) && ops[op].kernel == instr->kernel &&
            is_member(r, op) && args_match(r, &ops[op], group))
            return op;
    return NONE;
}

static void find_groups(struct reader *r)
{
    for (unsigned op = 0; op < r->graph->ops.count; op++)
        r->group[op] = NONE;
    for (unsigned core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < r->entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &r->entry->programs[core].instrs.at[i];
            if (instr->op != INSTR_call)
                continue;
            unsigned op = called_op(r, instr);
            r->ok = r->ok && op != NONE && !r->called[core][op];
            if (op == NONE)
                return;
            r->group[op] = instr->number[0];
            r->called[core][op] = true;
        }
}

/* Each op is called once on each core type that its kernel has, and on no other. */
static void check_calls(struct reader *r)
{
    for (unsigned op = 0; op < r->graph->ops.count; op++)
        for (unsigned core = 0; core < CORE_TYPES && is_member(r, op); core++) {
            const struct kernel *kernel =
                module_find_kernel(r->module, r->graph->ops.at[op].kernel);
            r->ok = r->ok && r->called[core][op] == kernel_type_has(kernel->type, core);
        }
}

/* ------------------------------------------------------------------------- instructions ---- */

static void put(struct reader *r, unsigned core, struct sync_instr instr)
{
    vec_push(&r->launch->sync.programs[core], instr);
}

static void put_sync(struct reader *r, unsigned core, enum instr_effect effect, unsigned arg)
{
    put(r, core, (struct sync_instr){.effect = effect, .arg = arg});
}

/* What a sub-kernel that starts early waits for, all of which comes before its work. */
static void put_early_wait(struct reader *r, unsigned core, const struct instr *call,
                           bool other_part)
{
    unsigned mine = core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
    if (call->early & mine) {
        put_sync(r, core, EFFECT_AWAIT, 0);
        if (other_part)
            put_sync(r, core, EFFECT_SET, core);
    }
    if (call->early & EARLY_WAIT_MIX & ~mine)
        put_sync(r, core, EFFECT_WAIT, 1 - core);
}

/* A number for an op that stands for a part of another, where that has none yet. */
static unsigned number_part(struct reader *r, unsigned op, unsigned *part)
{
    if (*part == op && r->n_ops < SYNC_MAX_OPS)
        *part = r->n_ops++;
    r->ok = r->ok && *part != op;
    return *part;
}

static void put_begin(struct reader *r, unsigned core, const struct instr *instr, bool flat)
{
    unsigned op = called_op(r, instr);
    put(r, core,
        (struct sync_instr){.effect = EFFECT_EVENT,
                            .arg = number_part(r, op, &r->launch->begin[op]),
                            .blocks = instr->number[1],
                            .flat = flat});
}

static void put_rest(struct reader *r, unsigned core, const struct instr *instr, bool flat)
{
    unsigned op = called_op(r, instr);
    put(r, core,
        (struct sync_instr){.effect = EFFECT_CALL,
                            .arg = number_part(r, op, &r->launch->end[op]),
                            .blocks = instr->number[1],
                            .flat = flat,
                            .rest = true});
}

static void put_call(struct reader *r, unsigned core, const struct instr *instr)
{
    const struct kernel *kernel = module_find_kernel(r->module, instr->kernel);
    const struct kernel_type_info *info = kernel_type_info(kernel->type);
    unsigned built = kernel_early_start(r->module, kernel);
    if (instr->early & EARLY_WAIT_MIX && !(built & EARLY_READS_LATE))
        put_begin(r, core, instr, info->flat);
    put_early_wait(r, core, instr, kernel_type_has(kernel->type, 1 - core));
    put(r, core,
        (struct sync_instr){.effect = EFFECT_CALL,
                            .arg = called_op(r, instr),
                            .blocks = instr->number[1],
                            .flat = info->flat,
                            .full = attr_flag(r->module, kernel->attrs, W_sync_all)});
    if (instr->early & EARLY_SET)
        put_sync(r, core, EFFECT_ARRIVE, 0);
    if (instr->early & EARLY_SET && !(built & EARLY_READS_DONE))
        put_rest(r, core, instr, info->flat);
}

/* An instruction of core 0 alone, or of all cores of the type; returns its number. */
static unsigned put_event(struct reader *r, unsigned core, bool alone)
{
    if (r->n_ops >= SYNC_MAX_OPS) {
        r->ok = false;
        return r->n_ops - 1;
    }
    put(r, core,
        (struct sync_instr){
            .effect = EFFECT_EVENT, .arg = r->n_ops, .blocks = alone, .flat = alone});
    return r->n_ops++;
}

static unsigned next_call(const struct reader *r, unsigned core, uint32_t index)
{
    const struct program *program = &r->entry->programs[core];
    for (; index < program->instrs.count; index++)
        if (program->instrs.at[index].op == INSTR_call)
            return called_op(r, &program->instrs.at[index]);
    return NONE;
}

/* The op that sends or receives the event, or has the lock, that an instruction of a program is
 * about: of several receivers, the one that is called next. */
static unsigned word_owner(const struct reader *r, unsigned core, uint32_t index)
{
    const struct instr *instr = &r->entry->programs[core].instrs.at[index];
    bool send = instr->op == INSTR_notify;
    unsigned next = next_call(r, core, index), owner = NONE;
    for (unsigned op = 0; op < r->graph->ops.count; op++) {
        const struct clauses *clauses = op_clauses(r->graph, &r->graph->ops.at[op]);
        struct range events = send ? clauses->send : clauses->recv;
        if (!is_member(r, op))
            continue;
        if (instr->word && r->group[op] == instr->number[0])
            return op;
        for (uint32_t i = 0; !instr->word && i < events.count; i++)
            if (r->graph->refs.at[events.first + i] == instr->number[0] &&
                (owner == NONE || op == next))
                owner = op;
    }
    return owner;
}

static void put_word(struct reader *r, unsigned core, uint32_t index)
{
    const struct instr *instr = &r->entry->programs[core].instrs.at[index];
    struct word_use use = {instr->op, put_event(r, core, true),
                           instr->word ? NONE : instr->number[0], word_owner(r, core, index)};
    vec_push(&r->uses, use);
}

static void put_instr(struct reader *r, unsigned core, uint32_t index)
{
    const struct instr *instr = &r->entry->programs[core].instrs.at[index];
    enum instr_effect effect = instr_info(instr->op)->effect;
    struct word_use use;
    switch (instr->op) {
    case INSTR_call: put_call(r, core, instr); break;
    case INSTR_dcci: vec_push(&r->launch->dcci[core], r->launch->sync.programs[core].count); break;
    case INSTR_select:
        use = (struct word_use){INSTR_select, put_event(r, core, false), NONE,
                                next_call(r, core, index)};
        vec_push(&r->uses, use);
        break;
    case INSTR_clear_workspace: r->clear = put_event(r, core, false); break;
    case INSTR_feed_sync:
        r->ok = r->ok && r->clear != NONE;
        if (r->ok)
            entry_launch_need(r->launch, r->clear, put_event(r, core, false));
        break;
    default:
        if (effect == EFFECT_EVENT)
            put_word(r, core, index);
        else if (effect != EFFECT_NONE)
            put_sync(r, core, effect, instr->word);
    }
}

/* An event comes before its op's kernel begins, and is notified when it has ended. */
static void need_events(struct reader *r)
{
    for (uint32_t i = 0; i < r->uses.count; i++) {
        const struct word_use *use = &r->uses.at[i];
        if (use->op == INSTR_wait_event && use->owner != NONE)
            entry_launch_need(r->launch, use->number, r->launch->begin[use->owner]);
        if (use->op == INSTR_notify && use->owner != NONE)
            entry_launch_need(r->launch, r->launch->end[use->owner], use->number);
    }
}

/* A word is reset behind all that read it: waits for an event, choices by the key of a lock. */
static void need_resets(struct reader *r)
{
    for (uint32_t i = 0; i < r->uses.count; i++)
        for (uint32_t j = 0; j < r->uses.count; j++) {
            const struct word_use *reset = &r->uses.at[i], *read = &r->uses.at[j];
            bool lock = reset->event == NONE;
            if (reset->op == INSTR_reset && read->op == (lock ? INSTR_select : INSTR_wait_event) &&
                (lock ? read->owner == reset->owner : read->event == reset->event))
                entry_launch_need(r->launch, read->number, reset->number);
        }
}

/* ----------------------------------------------------------------------------- completeness
 * ---- */

/* Whether somebody outside of the super kernel sends, or receives, the event. */
static bool is_outer(const struct reader *r, uint32_t event, uint32_t key)
{
    struct event_sides sides = event_sides_find(r->graph, key);
    bool outer = false;
    for (uint32_t i = 0; i < sides.count; i++)
        outer = outer || (sides.at[i].event == event &&
                          (sides.at[i].op == NONE || !is_member(r, sides.at[i].op)));
    vec_free(&sides);
    return outer;
}

static unsigned count_uses(const struct reader *r, enum instr_op op, unsigned owner, uint32_t event)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < r->uses.count; i++)
        count +=
            r->uses.at[i].op == op && r->uses.at[i].owner == owner && r->uses.at[i].event == event;
    return count;
}

/* Of an event, for whatever op. */
static unsigned count_resets(const struct reader *r, uint32_t event)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < r->uses.count; i++)
        count += r->uses.at[i].op == INSTR_reset && r->uses.at[i].event == event;
    return count;
}

/* How many of the op's words are used, each as it must be; `complete` is cleared where one is
 * not. */
static unsigned check_words(const struct reader *r, unsigned op, bool *complete)
{
    const struct clauses *clauses = op_clauses(r->graph, &r->graph->ops.at[op]);
    const struct kernel *kernel = module_find_kernel(r->module, r->graph->ops.at[op].kernel);
    unsigned used = 0;
    for (uint32_t i = 0; i < clauses->send.count; i++) {
        uint32_t event = r->graph->refs.at[clauses->send.first + i];
        if (!is_outer(r, event, W_recv))
            continue;
        *complete = *complete && count_uses(r, INSTR_notify, op, event) == 1;
        used++;
    }
    for (uint32_t i = 0; i < clauses->recv.count; i++) {
        uint32_t event = r->graph->refs.at[clauses->recv.first + i];
        if (!is_outer(r, event, W_send))
            continue;
        *complete = *complete && count_uses(r, INSTR_wait_event, op, event) == 1 &&
                    count_resets(r, event) == 1;
        used += 1 + count_uses(r, INSTR_reset, op, event);
    }
    if (attr_flag(r->module, kernel->attrs, W_dynamic)) {
        *complete = *complete && count_uses(r, INSTR_reset, op, NONE) == 1;
        used++;
        for (unsigned core = 0; core < CORE_TYPES; core++)
            used += kernel_type_has(kernel->type, core);
    }
    return used;
}

/* Each word is used as it must be, and no other. */
static bool is_complete(const struct reader *r)
{
    unsigned used = 0;
    bool complete = true;
    for (unsigned op = 0; op < r->graph->ops.count; op++)
        if (is_member(r, op))
            used += check_words(r, op, &complete);
    return complete && used == r->uses.count;
}

/* ------------------------------------------------------------------------------ launches ---- */

static void read_programs(struct reader *r)
{
    find_groups(r);
    check_calls(r);
    for (unsigned core = 0; core < CORE_TYPES && r->ok; core++) {
        r->clear = NONE;
        for (uint32_t i = 0; i < r->entry->programs[core].instrs.count; i++)
            put_instr(r, core, i);
    }
    for (uint32_t i = 0; i < r->uses.count; i++)
        vec_push(&r->launch->words, ((struct entry_word){r->uses.at[i].op, r->uses.at[i].number,
                                                         r->uses.at[i].event}));
    need_events(r);
    need_resets(r);
    r->launch->complete = is_complete(r);
}

bool entry_launch_init(struct entry_launch *launch, const struct module *module,
                       const struct graph *graph, const struct entry *entry)
{
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    struct reader *r = mem_calloc(1, sizeof *r);
    *launch = (struct entry_launch){
        .sync = {.blocks = (unsigned)attr_int(module, entry->attrs, W_block, 0),
                 .per_block = {info->aics, info->aivs}}};
    *r = (struct reader){.launch = launch,
                         .module = module,
                         .graph = graph,
                         .entry = entry,
                         .n_ops = graph->ops.count};
    for (unsigned op = 0; op < SYNC_MAX_OPS; op++)
        launch->begin[op] = launch->end[op] = op;
    r->ok = graph->ops.count < SYNC_MAX_OPS &&
            launch->sync.blocks * (info->aics + info->aivs) <= SYNC_MAX_CORES;
    if (r->ok)
        read_programs(r);
    bool ok = r->ok;
    vec_free(&r->uses);
    mem_free(r);
    return ok;
}

void entry_launch_free(struct entry_launch *launch)
{
    sync_launch_free(&launch->sync);
    vec_free(&launch->needs);
    vec_free(&launch->words);
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&launch->dcci[core]);
}

void entry_launch_need(struct entry_launch *launch, unsigned earlier, unsigned later)
{
    vec_push(&launch->needs, (struct needed_order){earlier, later});
}

bool entry_launch_is_ordered(const struct entry_launch *launch, const struct sync_outcome *outcome)
{
    for (uint32_t i = 0; i < launch->needs.count; i++)
        if (!sync_outcome_orders(outcome, launch->needs.at[i].earlier, launch->needs.at[i].later))
            return false;
    return launch->complete;
}
