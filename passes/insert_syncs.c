/* insert-syncs: enforces the order of an entry's calls.
 *
 * needs    super kernels with their entries
 * changes  programs of entries that have no synchronisation yet
 * keeps    calls and their order
 *
 * The calls of a super kernel form one list (ir/members.h), and every call is ordered behind the
 * one before it. Between two successive ops, each core type does what its part in them asks for:
 *
 *   a core of a type that the earlier op has a part on arrives at the barrier of its type and awaits
 *   it; if the later op has a part on the other type, it then releases that other type by a flag;
 *   a core of a type that the later op has a part on waits for the flag of the other type, if the
 *   earlier op has a part there.
 *
 * Why it is enough: by induction over the list, when an op starts on a core, that core knows all
 * earlier ops to be complete on all cores. The cores that ran the op before knew all that came before
 * it when they started; the barrier gives every core of their type what all of them know and did; the
 * flags give it to every core of the other type. Why nothing blocks or overflows: both types emit the
 * same transitions in the same order, each set has its wait in the same transition, and a core that
 * sets waits in between for the cores that it set, so at most one release is outstanding.
 */
#include "ir/members.h"
#include "passes/pass.h"

#include <string.h>

struct programs {
    struct entry *entry;
    struct program next[CORE_TYPES];
    uint32_t call[CORE_TYPES]; /* index of the program's next call */
};

/* Which core types an op has a part on. */
struct parts {
    bool on[CORE_TYPES];
};

static void emit(struct programs *programs, enum core_type core, enum instr_op op, uint8_t word)
{
    vec_push(
        &programs->next[core].instrs,
        (struct instr){.op = op, .part = CORE_TYPES, .word = word, .loc = NONE, .kernel = NONE});
}

static void emit_transition(struct programs *programs, struct parts earlier, struct parts later)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        int other = 1 - core;
        if (earlier.on[core]) {
            emit(programs, core, INSTR_arrive, core);
            emit(programs, core, INSTR_await, core);
            if (later.on[other])
                emit(programs, core, INSTR_set, core);
        }
        if (earlier.on[other] && later.on[core])
            emit(programs, core, INSTR_wait, other);
    }
}

/* Copies a program up to and with its next call. */
static void copy_call(struct programs *programs, enum core_type core)
{
    const struct program *old = &programs->entry->programs[core];
    while (programs->call[core] < old->instrs.count) {
        struct instr instr = old->instrs.at[programs->call[core]++];
        vec_push(&programs->next[core].instrs, instr);
        if (instr.op == INSTR_call)
            break;
    }
}

static bool is_synchronised(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = &entry->programs[core];
        for (uint32_t i = 0; i < program->instrs.count; i++) {
            enum instr_effect effect = instr_info(program->instrs.at[i].op)->effect;
            if (effect != EFFECT_NONE && effect != EFFECT_CALL)
                return true;
        }
    }
    return false;
}

static void synchronise(struct programs *programs, const struct parts *ops, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            emit_transition(programs, ops[i - 1], ops[i]);
        for (int core = 0; core < CORE_TYPES; core++)
            if (ops[i].on[core])
                copy_call(programs, core);
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        struct program *old = &programs->entry->programs[core];
        while (programs->call[core] < old->instrs.count)
            copy_call(programs, core);
        vec_free(&old->instrs);
        memcpy(&old->instrs, &programs->next[core].instrs, sizeof old->instrs);
    }
}

/* Whether the entry's calls are those of the ops: a dump may have been edited. */
static bool calls_match(struct pass_context *context, const struct entry *entry,
                        const struct parts *ops, uint32_t count)
{
    uint32_t wanted[CORE_TYPES] = {0};
    for (uint32_t i = 0; i < count; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            wanted[core] += ops[i].on[core];
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = &entry->programs[core];
        uint32_t calls = 0;
        for (uint32_t i = 0; i < program->instrs.count; i++)
            calls += program->instrs.at[i].op == INSTR_call;
        if (calls == wanted[core])
            continue;
        diag_at(context->diags, DIAG_entry_calls, (struct span){0, 0},
                "entry '@%.*s' calls %u kernels on %s, but its super kernel has %u there",
                NAME(context->module, entry->name), calls, core_type_name(core), wanted[core]);
        return false;
    }
    return true;
}

static bool insert(struct pass_context *context, const struct graph *graph,
                   const uint32_t *kernel_index, struct entry *entry, const uint32_t *ops,
                   uint32_t count)
{
    struct parts *parts = mem_calloc(count, sizeof *parts);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kernel = kernel_index[graph->ops.at[ops[i]].kernel] - 1;
        for (int core = 0; core < CORE_TYPES; core++)
            parts[i].on[core] = kernel_type_has(context->module->kernels.at[kernel].type, core);
    }
    bool ok = calls_match(context, entry, parts, count);
    if (ok) {
        struct programs programs = {.entry = entry};
        synchronise(&programs, parts, count);
    }
    free(parts);
    return ok;
}

bool pass_insert_syncs(struct pass_context *context)
{
    struct module *module = context->module;
    uint32_t *kernel_index = module_kernel_index(module);
    uint32_t *entry_index = module_entry_index(module);
    bool ok = true;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        struct members members;
        members_init(&members, module, graph);
        for (uint32_t b = 0; b < graph->blocks.count; b++) {
            if (graph->blocks.at[b].kind != BLOCK_SUPERKERNEL)
                continue;
            struct entry *entry = &module->entries.at[entry_index[graph->blocks.at[b].name] - 1];
            if (!is_synchronised(entry))
                ok = insert(context, graph, kernel_index, entry, members.ops + members.first[b],
                            members.first[b + 1] - members.first[b]) &&
                     ok;
        }
        members_free(&members);
    }
    free(kernel_index);
    free(entry_index);
    return ok;
}
