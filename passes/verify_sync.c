/* verify-sync: proves that each entry is correctly synchronised, or says why it is not.
 *
 * needs    nothing
 * changes  nothing
 *
 * It shares no code with the passes that insert synchronisation. The rules are those of
 * docs/device-model.md; the orders to be enforced are those of the super kernel that the entry is for
 * (ir/order.h), and its calls must be those of that super kernel's ops. Entries without a super kernel
 * are checked for everything but order and calls.
 *
 * All cores of one type run the same program, so two positions describe a launch: how far the cube
 * and how far the vector program is. For each instruction four numbers are computed: how many
 * instructions of each program are sure to be complete before it starts, on all cores of that type
 * (`all`), and on the cores of the same AI core (`own`). A barrier passes on what is known at its
 * arrivals, and what every core there knows of its own AI core is then known of all; a flag passes on
 * what is known where it is set. Each instruction is looked at once.
 */
#include "ir/locate.h"
#include "ir/members.h"
#include "ir/order.h"
#include "ir/text.h"
#include "passes/pass.h"

static const struct span no_span = {0, 0};

enum { FLAG_LIMIT = 15 };

/* Instructions of each program that are complete. */
struct known {
    uint32_t all[CORE_TYPES], own[CORE_TYPES];
};

/* One program and how far it has been followed. */
struct follower {
    const struct program *program;
    struct known *before; /* per instruction: what is known when it starts */
    struct known now;
    uint32_t next;           /* the instruction it is at */
    struct vec_u32 arrivals; /* indices of the arrive instructions so far */
    uint32_t awaits;         /* barriers awaited so far */
    struct vec_u32 sets;     /* indices of the set instructions so far */
    uint32_t waits;          /* flags of the other type consumed so far */
    struct vec_u32 wait_at;  /* indices of the wait instructions so far */
};

struct prover {
    struct pass_context *context;
    const struct module *module;
    const struct entry *entry;
    struct follower followers[CORE_TYPES];
    bool single; /* one AI core: what is known of the own one is known of all */
};

static void raise_to(uint32_t *number, uint32_t at_least)
{
    if (*number < at_least)
        *number = at_least;
}

static void join(struct known *known, const struct known *other)
{
    for (int core = 0; core < CORE_TYPES; core++)
        raise_to(&known->all[core], other->all[core]);
}

static const char *other_name(int core)
{
    return core_type_name((enum core_type)(1 - core));
}

/* ---------------------------------------------------------------------- execution ---- */

/* The n-th barrier: every core of the type has arrived n times, knowing what it knew there. */
static bool pass_barrier(struct prover *p, enum core_type core)
{
    struct follower *f = &p->followers[core];
    if (f->awaits >= f->arrivals.count)
        return false; /* the cores that it waits for stand here themselves */
    uint32_t arrival = f->arrivals.at[f->awaits++];
    const struct known *there = &f->before[arrival];
    join(&f->now, there);
    raise_to(&f->now.all[core], arrival);
    /* What each core knows of its own AI core, all of them together know of all. */
    raise_to(&f->now.all[1 - core], there->own[1 - core]);
    raise_to(&f->now.own[core], arrival);
    raise_to(&f->now.own[1 - core], there->own[1 - core]);
    return true;
}

/* The n-th wait is met by the n-th set of the other type, on the cores of the same AI core. */
static bool pass_flag(struct prover *p, enum core_type core)
{
    struct follower *f = &p->followers[core], *sender = &p->followers[1 - core];
    if (f->waits >= sender->sets.count)
        return false;
    uint32_t set = sender->sets.at[f->waits++];
    const struct known *there = &sender->before[set];
    join(&f->now, there);
    raise_to(&f->now.own[1 - core], set);
    raise_to(&f->now.own[core], there->own[core]);
    if (p->single)
        raise_to(&f->now.all[1 - core], set);
    return true;
}

/* Executes one instruction; false where it has to wait for the other program. */
static bool step(struct prover *p, enum core_type core)
{
    struct follower *f = &p->followers[core];
    const struct instr *instr = &f->program->instrs.at[f->next];
    switch (instr_info(instr->op)->effect) {
    case EFFECT_AWAIT:
        if (!pass_barrier(p, core))
            return false;
        break;
    case EFFECT_WAIT:
        if (!pass_flag(p, core))
            return false;
        vec_push(&f->wait_at, f->next);
        break;
    default: break;
    }
    f->before[f->next] = f->now;
    if (instr_info(instr->op)->effect == EFFECT_ARRIVE)
        vec_push(&f->arrivals, f->next);
    if (instr_info(instr->op)->effect == EFFECT_SET)
        vec_push(&f->sets, f->next);
    f->next++;
    return true;
}

static bool at_end(const struct follower *f)
{
    return f->next == f->program->instrs.count;
}

static void execute(struct prover *p)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int core = 0; core < CORE_TYPES; core++)
            while (!at_end(&p->followers[core]) && step(p, core))
                moved = true;
    }
}

/* ------------------------------------------------------------------------- reports ---- */

static struct span instr_span(const struct prover *p, int core, uint32_t index)
{
    return locate_instr(p->module, &p->followers[core].program->instrs.at[index]);
}

static const char *instr_text(const struct prover *p, int core, uint32_t index)
{
    struct text text = {NULL, 0, 0};
    text_instr(&text, p->module, &p->followers[core].program->instrs.at[index]);
    const char *copy = arena_strndup(&p->context->diags->arena, text.at, text.size);
    text_free(&text);
    return copy;
}

/* Positions of entries that a pass made are none: the texts say which instruction it is. */
static bool report(struct prover *p, enum diag_id id, int core, uint32_t index, const char *text)
{
    return diag_at(p->context->diags, id, instr_span(p, core, index),
                   "entry '@%.*s', %s instruction %u (%s): %s", NAME(p->module, p->entry->name),
                   core_type_name((enum core_type)core), index, instr_text(p, core, index), text);
}

static void explain_block(struct prover *p, int core)
{
    const struct follower *f = &p->followers[core], *other = &p->followers[1 - core];
    struct diags *diags = p->context->diags;
    const struct instr *instr = &f->program->instrs.at[f->next];
    if (instr_info(instr->op)->effect == EFFECT_AWAIT)
        diag_note(diags, no_span,
                  "its %s cores have arrived %u times and await barrier %u: each 'await' needs an "
                  "'arrive' of the same program before it",
                  core_type_name((enum core_type)core), f->arrivals.count, f->awaits + 1);
    else if (at_end(other))
        diag_note(diags, no_span, "the %s program ends after setting its flag %u times",
                  other_name(core), other->sets.count);
    else
        diag_note(diags, instr_span(p, 1 - core, other->next),
                  "the %s program, which would have to set the flag, is blocked at '%s'",
                  other_name(core), instr_text(p, 1 - core, other->next));
}

static bool check_blocked(struct prover *p)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (at_end(&p->followers[core]))
            continue;
        ok = false;
        if (report(p, DIAG_sync_deadlock, core, p->followers[core].next, "this blocks for ever"))
            explain_block(p, core);
    }
    return ok;
}

/* Between its n-th set and the wait that is sure to be over, at most FLAG_LIMIT may be outstanding;
 * at the end none. */
static bool check_flags(struct prover *p)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        struct follower *f = &p->followers[core], *receiver = &p->followers[1 - core];
        uint32_t over = 0;
        for (uint32_t n = 0; n < f->sets.count; n++) {
            const struct known *known = &f->before[f->sets.at[n]];
            while (over < receiver->wait_at.count &&
                   receiver->wait_at.at[over] < known->own[1 - core])
                over++;
            if (n + 1 - over <= FLAG_LIMIT)
                continue;
            if (report(p, DIAG_sync_overflow, core, f->sets.at[n],
                       "this may be the 16th release that nobody has waited for"))
                diag_note(p->context->diags, no_span,
                          "let the %s wait for the %s at times, by the other flag",
                          core_type_name((enum core_type)core), other_name(core));
            ok = false;
            break;
        }
        if (f->sets.count == receiver->waits)
            continue;
        if (report(p, DIAG_sync_left_set, core, f->sets.at[receiver->waits],
                   "nothing waits for this release: the flag is left set"))
            diag_note(p->context->diags, no_span,
                      "the flag is set %u times and waited for %u times", f->sets.count,
                      receiver->waits);
        ok = false;
    }
    return ok;
}

/* Between two calls on a core, its pipes must drain. */
static bool check_drained(struct prover *p)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = p->followers[core].program;
        uint32_t last = NONE;
        for (uint32_t i = 0; i < program->instrs.count; i++) {
            enum instr_effect effect = instr_info(program->instrs.at[i].op)->effect;
            if (effect == EFFECT_AWAIT || effect == EFFECT_DRAIN)
                last = NONE;
            if (effect != EFFECT_CALL)
                continue;
            if (last != NONE) {
                if (report(p, DIAG_sync_undrained, core, i,
                           "the call before it may still use the core's memory"))
                    diag_note(p->context->diags, instr_span(p, core, last),
                              "put an 'await' or a 'pipe_barrier' behind '%s'",
                              instr_text(p, core, last));
                ok = false;
            }
            last = i;
        }
    }
    return ok;
}

/* --------------------------------------------------------------------------- order ---- */

/* Where an op is called: instruction indices, NONE on types where it has no part, and how many cores
 * of its own counting run it. */
struct placed {
    uint32_t call[CORE_TYPES];
    uint32_t blocks;
    bool flat;
};

/* The calls of a program in turn are those of the ops that have a part on it. */
static bool place_calls(struct prover *p, const struct graph *graph, const uint32_t *kernel_index,
                        const uint32_t *ops, uint32_t count, struct placed *placed)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = p->followers[core].program;
        uint32_t at = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t name = graph->ops.at[ops[i]].kernel;
            const struct kernel *kernel = &p->module->kernels.at[kernel_index[name] - 1];
            placed[i].call[core] = NONE;
            if (!kernel_type_has(kernel->type, core))
                continue;
            while (at < program->instrs.count && program->instrs.at[at].op != INSTR_call)
                at++;
            if (at == program->instrs.count || program->instrs.at[at].kernel != name)
                return false;
            placed[i].call[core] = at;
            placed[i].blocks = program->instrs.at[at++].number[1];
            placed[i].flat = kernel_type_info(kernel->type)->flat;
        }
        while (at < program->instrs.count && program->instrs.at[at].op != INSTR_call)
            at++;
        if (at < program->instrs.count)
            return false;
    }
    return true;
}

/* Whether an op runs on the first AI core alone. */
static bool on_first_core(const struct prover *p, const struct placed *placed)
{
    return placed->blocks <= (placed->flat ? kernel_type_info(p->entry->type)->aivs : 1);
}

/* Whether the part of `to` on `core` starts knowing that the part of `from` on `part` is complete. */
static bool is_known(const struct prover *p, const struct placed *from, const struct placed *to,
                     int core, int part)
{
    const struct known *known = &p->followers[core].before[to->call[core]];
    if (from->call[part] < known->all[part])
        return true;
    const struct kernel_type_info *launch = kernel_type_info(p->entry->type);
    if (core == part && p->single && (core == CORE_AIC ? launch->aics : launch->aivs) == 1 &&
        from->call[part] < to->call[core])
        return true;
    if (!on_first_core(p, from) || !on_first_core(p, to))
        return false;
    /* One core alone knows what it did itself; calls on it are drained. */
    bool same_core = core == part && from->blocks == 1 && to->blocks == 1 &&
                     (core == CORE_AIC || (from->flat && to->flat));
    return from->call[part] < known->own[part] || (same_core && from->call[part] < to->call[core]);
}

static void report_order(struct prover *p, const struct graph *graph, uint32_t from, uint32_t to,
                         const struct placed *placed_from, const struct placed *placed_to, int core,
                         int part)
{
    struct diags *diags = p->context->diags;
    const struct module *module = p->module;
    if (!diag_at(diags, DIAG_sync_order, locate_op(module, &graph->ops.at[to], OP_TYPE_NAME, 0),
                 "entry '@%.*s' does not enforce that the %.*s is complete on every %s before this "
                 "op starts on an %s",
                 NAME(module, p->entry->name), NAME(module, graph->ops.at[from].type),
                 core_type_name((enum core_type)part), core_type_name((enum core_type)core)))
        return;
    diag_note(diags, locate_op(module, &graph->ops.at[from], OP_TYPE_NAME, 0),
              "the graph orders it behind this op");
    diag_note(diags, instr_span(p, part, placed_from->call[part]),
              "what is missing must begin behind %s instruction %u (%s), with %s",
              core_type_name((enum core_type)part), placed_from->call[part],
              instr_text(p, part, placed_from->call[part]),
              core == part ? "'arrive' and 'await'" : "'arrive', 'await' and 'set'");
    diag_note(diags, instr_span(p, core, placed_to->call[core]),
              "and end before %s instruction %u (%s)", core_type_name((enum core_type)core),
              placed_to->call[core], instr_text(p, core, placed_to->call[core]));
}

static bool check_edge(struct prover *p, const struct graph *graph, uint32_t from, uint32_t to,
                       const struct placed *placed_from, const struct placed *placed_to)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (int part = 0; part < CORE_TYPES; part++) {
            if (placed_to->call[core] == NONE || placed_from->call[part] == NONE ||
                is_known(p, placed_from, placed_to, core, part))
                continue;
            report_order(p, graph, from, to, placed_from, placed_to, core, part);
            return false;
        }
    return true;
}

/* How many parameter slots an op has (lower-superkernels lays them out). */
static uint32_t count_slots(const struct prover *p, const struct graph *graph, const struct op *op,
                            const struct kernel *kernel)
{
    const struct attr *params = attr_find(p->module, kernel->attrs, W_params);
    const struct clauses *clauses = op_clauses(graph, op);
    return (params ? params->value.count : op->operands.count + op->results.count) +
           (attr_flag(p->module, kernel->attrs, W_dynamic) ? 3 : 0) + clauses->send.count +
           clauses->recv.count;
}

/* A call must pass its op's own slots, and run as many blocks as the kernel was built for. */
static bool check_call(struct prover *p, int core, uint32_t index, uint32_t slot, int64_t blocks)
{
    const struct instr *call = &p->followers[core].program->instrs.at[index];
    bool right_slot = call->number[0] == slot;
    if (right_slot && call->number[1] == blocks)
        return true;
    if (report(p, DIAG_entry_calls, core, index,
               right_slot ? "the kernel was built for another number of blocks"
                          : "this passes the arguments of another op")) {
        if (right_slot)
            diag_note(p->context->diags, no_span, "write 'blocks %lld'", (long long)blocks);
        else
            diag_note(p->context->diags, no_span, "the op's arguments begin at slot %u", slot);
    }
    return false;
}

/* The super kernel that an entry is for. */
struct subject {
    const struct graph *graph;
    const struct order *order;
    const uint32_t *ops; /* in list order */
    uint32_t count;
    const uint32_t *kernel_index;
    uint32_t *index_of; /* per op of the graph: its place in `ops`, + 1 */
};

/* One missing order of an op is enough to report: others often have the same reason. */
static bool check_op(struct prover *p, const struct subject *subject, const struct placed *placed,
                     uint32_t i)
{
    uint32_t to = subject->ops[i];
    for (uint32_t e = subject->order->first[to]; e < subject->order->first[to + 1]; e++) {
        uint32_t from = subject->order->edges[e].from, index = subject->index_of[from];
        if (index && !check_edge(p, subject->graph, from, to, &placed[index - 1], &placed[i]))
            return false;
    }
    return true;
}

static bool check_calls(struct prover *p, const struct subject *subject,
                        const struct placed *placed)
{
    uint32_t slot = 1; /* behind the sync base address */
    bool ok = true;
    for (uint32_t i = 0; i < subject->count; i++) {
        const struct op *op = &subject->graph->ops.at[subject->ops[i]];
        const struct kernel *kernel = &p->module->kernels.at[subject->kernel_index[op->kernel] - 1];
        int64_t blocks = attr_int(p->module, kernel->attrs, W_block, placed[i].blocks);
        for (int core = 0; core < CORE_TYPES; core++)
            if (placed[i].call[core] != NONE)
                ok = check_call(p, core, placed[i].call[core], slot, blocks) && ok;
        slot += count_slots(p, subject->graph, op, kernel);
    }
    return ok;
}

static bool check_order(struct prover *p, const struct subject *subject)
{
    struct placed *placed = mem_calloc(subject->count, sizeof *placed);
    bool placed_all =
        place_calls(p, subject->graph, subject->kernel_index, subject->ops, subject->count, placed);
    bool ok = placed_all;
    if (!placed_all)
        diag_at(p->context->diags, DIAG_entry_calls, locate_name(p->module, p->entry->loc),
                "entry '@%.*s' does not call the kernels of its super kernel's ops in their order",
                NAME(p->module, p->entry->name));
    ok = ok && check_calls(p, subject, placed);
    for (uint32_t i = 0; i < subject->count; i++)
        subject->index_of[subject->ops[i]] = i + 1;
    for (uint32_t i = 0; placed_all && i < subject->count; i++)
        ok = check_op(p, subject, placed, i) && ok;
    for (uint32_t i = 0; i < subject->count; i++)
        subject->index_of[subject->ops[i]] = 0;
    free(placed);
    return ok;
}

/* ------------------------------------------------------------------------- driving ---- */

static bool prove(struct pass_context *context, const struct entry *entry,
                  const struct subject *subject)
{
    struct prover p = {.context = context, .module = context->module, .entry = entry};
    p.single = attr_int(context->module, entry->attrs, W_block, 1) == 1;
    for (int core = 0; core < CORE_TYPES; core++) {
        p.followers[core].program = &entry->programs[core];
        p.followers[core].before =
            mem_calloc(entry->programs[core].instrs.count, sizeof(struct known));
    }
    execute(&p);
    bool ok = check_blocked(&p);
    ok = ok && check_flags(&p);
    ok = check_drained(&p) && ok;
    if (ok && subject)
        ok = check_order(&p, subject);
    for (int core = 0; core < CORE_TYPES; core++) {
        struct follower *f = &p.followers[core];
        free(f->before);
        vec_free(&f->arrivals);
        vec_free(&f->sets);
        vec_free(&f->wait_at);
    }
    return ok;
}

/* Proves the entries of a graph's super kernels, and marks them. */
static bool prove_graph(struct pass_context *context, const struct graph *graph,
                        const uint32_t *kernel_index, const uint32_t *entry_index, uint8_t *proven)
{
    struct module *module = context->module;
    struct members members;
    struct order order;
    bool ok = true;
    order_init(&order, module, graph);
    members_init(&members, module, graph);
    struct subject subject = {.graph = graph, .order = &order, .kernel_index = kernel_index};
    subject.index_of = mem_calloc(graph->ops.count, sizeof *subject.index_of);
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind != BLOCK_SUPERKERNEL || !entry_index[block->name])
            continue;
        uint32_t entry = entry_index[block->name] - 1;
        bool bound = true;
        subject.ops = members.ops + members.first[b];
        subject.count = members.first[b + 1] - members.first[b];
        for (uint32_t i = 0; i < subject.count; i++)
            bound = bound && graph->ops.at[subject.ops[i]].kernel != NONE;
        ok = prove(context, &module->entries.at[entry], bound ? &subject : NULL) && ok;
        proven[entry] = 1;
    }
    free(subject.index_of);
    members_free(&members);
    order_free(&order);
    return ok;
}

bool pass_verify_sync(struct pass_context *context)
{
    struct module *module = context->module;
    if (context->unproven || module->entries.count == 0)
        return true;
    uint32_t *kernel_index = module_kernel_index(module);
    uint32_t *entry_index = module_entry_index(module);
    uint8_t *proven = mem_calloc(module->entries.count, 1);
    bool ok = true;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        ok = prove_graph(context, &module->graphs.at[i], kernel_index, entry_index, proven) && ok;
    for (uint32_t i = 0; i < module->entries.count; i++)
        if (!proven[i])
            ok = prove(context, &module->entries.at[i], NULL) && ok;
    free(kernel_index);
    free(entry_index);
    free(proven);
    return ok;
}
