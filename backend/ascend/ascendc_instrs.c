/* Statements of AscendC for instructions, and the kernels that entries call. */
#include <assert.h>
#include <stdlib.h>

#include "backend/ascend/ascendc_emitter.h"
#include "backend/target/statement.h"
#include "ir/core/kernel.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

/* The kernels that entries call: declarations of their functions, choice among copies of their
 * code, and among the variants of dynamic ones. */

/* ------------------------------------------------------------------------------ uses ---- */

/* Which parts of a kernel entries call. */
struct use {
    bool part[CORE_TYPES];
    uint32_t copies; /* at the first kernel with an object: the most that one of them has */
};

/* A function of a kernel: `name` is its name id, or NONE where the kernel does not say it. */
struct function {
    const struct kernel *kernel;
    enum core_type core;
    uint32_t name;
    uint32_t copies;
};

/* Of a function of a kernel, or a copy of it. One that has no name is called by its kernel. */
static const char *symbol_of(struct ascendc *out, const struct function *function, uint32_t copy)
{
    struct symbols *symbols = &out->symbols;
    if (function->name != NONE)
        return symbols_function(symbols, function->kernel, function->name, copy);
    const char *name =
        arena_printf(&symbols->arena, "skir_kernel_%u_%s", kernel_id(out->module, function->kernel),
                     core_type_name(function->core));
    return copy ? arena_printf(&symbols->arena, "%s_split%u", name, copy) : name;
}

/* Of the part of a kernel that is not dynamic. */
static const char *called_symbol(struct ascendc *out, const struct kernel *kernel,
                                 enum core_type core)
{
    const struct function function = {kernel, core, kernel_function(out->module, kernel, core), 1};
    return symbol_of(out, &function, 0);
}

/* The rows of a choice among copies: what surrounds their symbols. */
static void choose(struct ascendc *out, const struct function *function, const char *before,
                   const char *after)
{
    text_string(out->text, "    switch (copy) {\n");
    for (uint32_t copy = 1; copy < function->copies; copy++)
        text_printf(out->text, "    case %u: %s::%s%s\n", copy, before,
                    symbol_of(out, function, copy), after);
    text_printf(out->text, "    default: %s::%s%s\n    }\n}\n", before, symbol_of(out, function, 0),
                after);
}

/* Declares a function and its copies, unless that is done already. The function of a stub is
 * defined here and does nothing. Two more functions choose a copy: for its address, and to call
 * it. */
static void declare(struct ascendc *out, struct intern *written, const struct function *function)
{
    const char *symbol = symbol_of(out, function, 0);
    uint32_t count = written->count;
    if (intern_copy(written, symbol, strlen(symbol)) < count)
        return;
    for (uint32_t copy = 0; copy < function->copies; copy++)
        text_printf(out->text, "extern \"C\" __aicore__ void %s(uint64_t args_offset)%s\n",
                    symbol_of(out, function, copy),
                    kernel_is_stub(out->module, function->kernel) ? " {}" : ";");
    if (function->copies < 2)
        return;
    text_printf(out->text,
                "namespace skir {\n"
                "static __aicore__ inline const void *code_%s(uint64_t copy)\n{\n",
                symbol);
    choose(out, function, "return (const void *)", ";");
    if (!kernel_is_dynamic(out->module, function->kernel)) {
        text_printf(out->text,
                    "static __aicore__ inline void call_%s(uint64_t copy, uint64_t args_offset)\n"
                    "{\n",
                    symbol);
        choose(out, function, "", "(args_offset); break;");
    }
    text_string(out->text, "} // namespace skir\n");
}

/* ---------------------------------------------------------------------------- variants ---- */

/* A row of the search for a key. */
struct found {
    uint64_t key;
    struct function function;
    enum kernel_type type;
};

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const struct found *)a)->key, y = ((const struct found *)b)->key;
    return (x > y) - (x < y);
}

/* What the variant is to the core type: the address of its code, 0 where it has none, and how
 * blocks count, which the number of blocks joins. */
static void put_variant(struct ascendc *out, const struct found *found, int depth)
{
    struct text *text = out->text;
    bool copied = found->function.copies > 1;
    text_printf(text, "%*sif (key == %lluull) {\n", depth, "", (unsigned long long)found->key);
    if (!kernel_type_has(found->type, found->function.core))
        text_printf(text, "%*sreturn {0, blocks};\n", depth + 4, "");
    else
        text_printf(text, "%*sreturn {(uint64_t)%s%s%s, %s};\n", depth + 4, "",
                    copied ? "code_" : "::", symbol_of(out, &found->function, 0),
                    copied ? "(copy)" : "",
                    kernel_type_info(found->type)->flat ? "1ull << 32 | blocks" : "blocks");
    text_printf(text, "%*s}\n", depth, "");
}

/* A binary search. */
static void put_search(struct ascendc *out, const struct found *found, uint32_t count, int depth)
{
    if (count < 3) {
        for (uint32_t i = 0; i < count; i++)
            put_variant(out, &found[i], depth);
        return;
    }
    uint32_t half = count / 2;
    text_printf(out->text, "%*sif (key < %lluull) {\n", depth, "",
                (unsigned long long)found[half].key);
    put_search(out, found, half, depth + 4);
    text_printf(out->text, "%*s} else {\n", depth, "");
    put_search(out, found + half, count - half, depth + 4);
    text_printf(out->text, "%*s}\n", depth, "");
}

/* Declares the functions of a dynamic kernel's variants, and writes the function that selects
 * one. */
static void put_variants(struct ascendc *out, struct intern *written, const struct kernel *kernel,
                         enum core_type core, uint32_t copies)
{
    uint32_t count = kernel_variants(out->module, kernel);
    struct found *found = mem_calloc(count + 1, sizeof *found);
    for (uint32_t i = 0; i < count; i++) {
        struct variant variant = kernel_variant(out->module, kernel, i);
        found[i] = (struct found){
            (uint64_t)variant.key, {kernel, core, variant.functions[core], copies}, variant.type};
        if (kernel_type_has(variant.type, core))
            declare(out, written, &found[i].function);
    }
    qsort(found, count, sizeof *found, by_key);
    text_printf(out->text,
                "namespace skir {\nstatic __aicore__ inline Selected select_%u_%s"
                "(GM_ADDR *words, uint64_t copy)\n{\n"
                "    wait_lock(words[2]);\n"
                "    const uint64_t key = read_word(words[0]);\n"
                "    const uint64_t blocks = read_word(words[1]);\n",
                kernel_id(out->module, kernel), core_type_name(core));
    put_search(out, found, count, 4);
    text_string(out->text, "    trap();\n    return {0, 0};\n}\n} // namespace skir\n");
    mem_free(found);
}

/* ----------------------------------------------------------------------------- kernels ---- */

static void put_kernel(struct ascendc *out, struct intern *written, const struct kernel *kernel,
                       const struct use *use, uint32_t copies)
{
    text_string(out->text, "\n// ");
    spell_symbol(out->text, out->module, kernel->name);
    text_printf(out->text, " : %s\n", kernel_type_info(kernel->type)->name);
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct function function = {
            kernel, (enum core_type)core,
            kernel_function(out->module, kernel, (enum core_type)core), copies};
        if (use->part[core] && kernel_is_dynamic(out->module, kernel))
            put_variants(out, written, kernel, (enum core_type)core, copies);
        else if (use->part[core])
            declare(out, written, &function);
    }
}

void ascendc_kernels(struct ascendc *out)
{
    const struct module *module = out->module;
    struct use *uses = mem_calloc(module->kernels.count + 1, sizeof *uses);
    struct intern written = {0};
    for (uint32_t e = 0; e < module->entries.count; e++) {
        const struct entry *entry = &module->entries.at[e];
        uint32_t copies = ascendc_copies(out, entry);
        for (int core = 0; core < CORE_TYPES; core++)
            for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
                const struct instr *instr = &entry->programs[core].instrs.at[i];
                if (instr->op != INSTR_call)
                    continue;
                const struct kernel *kernel = ascendc_kernel(out, instr);
                struct use *first = &uses[symbols_owner(&out->symbols, kernel)];
                uses[kernel_id(module, kernel)].part[core] = true;
                first->copies = copies > first->copies ? copies : first->copies;
            }
    }
    for (uint32_t k = 0; k < module->kernels.count; k++) {
        const struct kernel *kernel = &module->kernels.at[k];
        if (uses[k].part[CORE_AIC] || uses[k].part[CORE_AIV])
            put_kernel(out, &written, kernel, &uses[k],
                       uses[symbols_owner(&out->symbols, kernel)].copies);
    }
    intern_free(&written);
    mem_free(uses);
}

/* The statement of an instruction: the column `ascend` of ir/core/instrs.def, the pieces that it
 * names, and which cores execute it. */

/* An instruction of the program at hand. */
struct statement {
    struct ascendc *out;
    enum core_type core;
    const struct instr *instr;
    uint32_t index;
};

enum { INDENT = 8 };

static const struct program *program_of(const struct statement *s)
{
    return &s->out->entry->programs[s->core];
}

/* ------------------------------------------------------------------------------ calls ---- */

/* The call that an instruction is about: itself; of a preload or a select the next one of its
 * kernel; of a step or record the adjacent one. NULL where there is none. */
static const struct instr *next_call(const struct statement *s, uint32_t kernel)
{
    for (uint32_t i = s->index; i < program_of(s)->instrs.count; i++) {
        const struct instr *instr = &program_of(s)->instrs.at[i];
        if (instr->op == INSTR_call && (kernel == NONE || instr->kernel == kernel))
            return instr;
    }
    return NULL;
}

static const struct instr *last_call(const struct statement *s)
{
    for (uint32_t i = s->index; i-- > 0;)
        if (program_of(s)->instrs.at[i].op == INSTR_call)
            return &program_of(s)->instrs.at[i];
    return NULL;
}

static const struct instr *call_of(const struct statement *s)
{
    switch (s->instr->op) {
    case INSTR_call: return s->instr;
    case INSTR_feed_sync: return s->instr->word == PHASE_begin ? next_call(s, NONE) : last_call(s);
    default: return next_call(s, s->instr->kernel);
    }
}

/* Whether the call includes all cores of the launch that execute it. */
static bool includes_all(const struct statement *s, const struct instr *call)
{
    const struct entry *entry = s->out->entry;
    const struct kernel_type_info *launch = kernel_type_info(entry->type);
    uint64_t cores = (uint64_t)attr_int(s->out->module, entry->attrs, W_block, 1);
    if (kernel_type_info(ascendc_kernel(s->out, call)->type)->flat && !launch->flat)
        cores *= launch->aivs;
    return call->number[1] >= cores;
}

/* Whether the core is one that the call includes (docs/device-model.md, "Calls"). */
static void put_included(const struct statement *s, const struct instr *call)
{
    bool flat = kernel_type_info(ascendc_kernel(s->out, call)->type)->flat;
    text_printf(s->out->text, "%s < %u", flat ? "AscendC::GetBlockIdx()" : "get_block_idx()",
                call->number[1]);
}

/* ------------------------------------------------------------------------------ pieces ---- */

static void put_call(const struct statement *s)
{
    struct ascendc *out = s->out;
    const struct kernel *kernel = ascendc_kernel(out, s->instr);
    uint32_t slot = group_slot(out->entry, &out->entry->groups.at[s->instr->number[0]]);
    bool copied = ascendc_copies(out, out->entry) > 1;
    if (kernel_is_dynamic(out->module, kernel))
        text_printf(out->text, "skir::call_selected(selected, %u)", slot);
    else
        text_printf(out->text, "%s%s(%s%u)", copied ? "skir::call_" : "",
                    called_symbol(out, kernel, s->core), copied ? "copy, " : "", slot);
}

static void put_function(const struct statement *s)
{
    struct ascendc *out = s->out;
    bool copied = ascendc_copies(out, out->entry) > 1;
    text_printf(out->text, "%s%s%s", copied ? "skir::code_" : "",
                called_symbol(out, ascendc_kernel(out, s->instr), s->core), copied ? "(copy)" : "");
}

/* The words that it reads are those of its kernel's next call. */
static void put_select(const struct statement *s)
{
    struct ascendc *out = s->out;
    const struct instr *call = next_call(s, s->instr->kernel);
    const struct arg_group *group = call ? &out->entry->groups.at[call->number[0]] : NULL;
    uint32_t slot = group ? group_find_tiling(out->entry, group) : NONE;
    if (slot == NONE) /* verify-sync refuses it */
        text_string(out->text, "trap()");
    else
        text_printf(out->text, "selected = skir::select_%u_%s(p + %u, %s)",
                    kernel_id(out->module, ascendc_kernel(out, s->instr)), core_type_name(s->core),
                    slot, ascendc_copies(out, out->entry) > 1 ? "copy" : "0");
}

static void put_wait_pipe(const struct statement *s)
{
    if (s->out->arch == ARCH_c310)
        text_string(s->out->text, "PIPE_S, ");
}

/* An event's word is written back when the launch ends, a lock at once: the host may wait. */
static void put_reset(const struct statement *s)
{
    text_string(s->out->text, s->instr->word ? "close" : "reset");
}

/* AICs have a counter for each op; AIVs have one for each after these. */
static void put_counters(const struct statement *s, uint32_t op)
{
    struct ascendc *out = s->out;
    uint32_t ops = out->ops.count;
    if (out->workspace != NONE) {
        text_printf(out->text, "p[%u] + %u", out->workspace,
                    64 * (s->core == CORE_AIC ? op : ops + op));
        return;
    }
    if (diag_at(out->diags, DIAG_missing_attribute, locate_instr(out->module, s->instr),
                "'%s' needs a workspace, which the entry does not have",
                instr_info(s->instr->op)->name))
        diag_help(out->diags, "give the entry 'workspace = N' and 'args [sync_workspace]'");
    out->ok = false;
}

static void put_workspace(const struct statement *s)
{
    put_counters(s, 0);
    text_printf(s->out->text, ", %u", s->out->ops.count);
}

/* On a c310 SuperKernelAutoSyncAllComplementImpl waits for two AIVs of its AI core, whatever the
 * launch has. The parts of an op are reported once. */
static void check_complement(const struct statement *s, const struct instr *call)
{
    struct ascendc *out = s->out;
    const struct kernel *kernel = ascendc_kernel(out, call);
    const struct op *op = entry_op(&out->ops, call->number[0]);
    if (out->arch != ARCH_c310 || kernel_type_info(out->entry->type)->aivs != 1 ||
        !kernel_type_is_mixed(kernel->type))
        return;
    out->ok = false;
    struct span at = s->instr->loc == NONE && op ? locate_op(out->module, op, OP_WHOLE, 0)
                                                 : locate_instr(out->module, s->instr);
    if (s->core == CORE_AIC &&
        diag_at(out->diags, DIAG_feed_ratio, at,
                "idle cores of '@%.*s' cannot take part in the full barriers of '@%.*s' on this "
                "chip: the function for it waits for two AIVs of each AIC, and the launch has one",
                NAME(out->module, out->entry->name), NAME(out->module, kernel->name)))
        diag_help(out->diags, "take the op out of the scope");
}

/* Feeding is for the adjacent call. */
static void put_feed(const struct statement *s)
{
    struct ascendc *out = s->out;
    const struct instr *call = call_of(s);
    bool begin = s->instr->word == PHASE_begin;
    if (!call) {
        diag_at(out->diags, DIAG_instr_operands, locate_instr(out->module, s->instr),
                "there is no call %s this", begin ? "behind" : "before");
        out->ok = false;
    } else if (begin) {
        put_counters(s, call->number[0]);
    } else {
        if (s->instr->word == PHASE_complement)
            check_complement(s, call);
        text_string(out->text, s->instr->word == PHASE_complement ? "!(" : "");
        put_included(s, call);
        text_string(out->text, s->instr->word == PHASE_complement ? ")" : "");
    }
}

/* A record of an op has its place, from 1; one of an event its number, where it has one of 32 bits,
 * or else its slot. */
static const struct instr *recorded_event(const struct statement *s)
{
    bool begin = s->instr->word == PHASE_begin;
    for (uint32_t i = s->index; begin ? ++i < program_of(s)->instrs.count : i-- > 0;) {
        const struct instr *instr = &program_of(s)->instrs.at[i];
        if (instr_info(instr->op)->effect == EFFECT_EVENT)
            return instr;
    }
    return NULL;
}

static void put_record(const struct statement *s)
{
    struct ascendc *out = s->out;
    uint64_t number = s->instr->number[0];
    const struct instr *event;
    switch (s->instr->number[1]) {
    case PROFILE_KERNEL: break;
    case PROFILE_OP: number++; break;
    default:
        event = recorded_event(s);
        if (event && (!event_number(&out->module->names.names[event->number[0]], &number) ||
                      number > UINT32_MAX))
            number = instr_event_slot(&out->events, out->entry, event);
    }
    text_unsigned(out->text, number);
}

/* A line of 64 bytes for every 8 slots, the sync base among those of the first group. */
static void put_preload_data(const struct statement *s)
{
    const struct arg_group *group = &s->out->entry->groups.at[s->instr->number[0]];
    uint32_t first = group_slot(s->out->entry, group), end = first + group->args.count;
    first = s->instr->number[0] == 0 ? 0 : first;
    for (uint32_t slot = first; slot < end; slot += 8)
        text_printf(s->out->text, "%sdc_preload((__gm__ uint64_t *)(p + %u), (int64_t)0)",
                    slot > first ? "; " : "", slot);
}

static bool put_piece(void *user, const char *name, size_t size)
{
    static const struct {
        const char *name;
        void (*put)(const struct statement *s);
    } pieces[] = {
        {"call", put_call},
        {"function", put_function},
        {"select", put_select},
        {"wait_pipe", put_wait_pipe},
        {"reset", put_reset},
        {"workspace", put_workspace},
        {"feed", put_feed},
        {"record", put_record},
        {"preload_data", put_preload_data},
    };
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        if (strlen(pieces[i].name) == size && memcmp(pieces[i].name, name, size) == 0) {
            pieces[i].put(user);
            return true;
        }
    return false;
}

static void expand(const struct statement *s, const struct instr *instr)
{
    bool expanded =
        statement_expand(s->out->text, instr_info(instr->op)->ascend, instr, put_piece, (void *)s);
    assert(expanded);
    (void)expanded;
}

/* ------------------------------------------------------------------------- early start ---- */

/* What a call waits for, as kernels and the headers' functions number it: 4 times the type of the
 * op before, and its own; 0 is AICs, 1 AIVs, 2 both. */
static unsigned early_config(const struct ascendc *out, const struct instr *call)
{
    static const unsigned before[] = {
        [EARLY_WAIT_AIC] = 0, [EARLY_WAIT_AIV] = 1, [EARLY_WAIT_MIX] = 2};
    enum kernel_type type = ascendc_kernel(out, call)->type;
    unsigned own = kernel_type_is_mixed(type) ? 2 : kernel_type_has(type, CORE_AIV) ? 1 : 0;
    return 4 * before[call->early & EARLY_WAIT_MIX] + own;
}

/* Idle cores call the headers' functions, as the kernel does on the others: which primitives these
 * are depends on the chip, and on how the parts are compiled. */
static void put_early_call(const struct statement *s)
{
    struct text *text = s->out->text;
    bool waits = s->instr->early & EARLY_WAIT_MIX, all = includes_all(s, s->instr);
    unsigned config = waits ? early_config(s->out, s->instr) : 0;
    if (waits)
        text_printf(text, "%*sg_super_kernel_early_start_config = %u;\n", INDENT, "", config);
    if (!all) {
        text_printf(text, "%*sif (", INDENT, "");
        put_included(s, s->instr);
        text_string(text, ") {\n");
    }
    text_printf(text, "%*s", all ? INDENT : INDENT + 4, "");
    expand(s, s->instr);
    text_string(text, ";\n");
    if (all)
        return;
    text_printf(text, "%*s} else {\n", INDENT, "");
    if (waits)
        text_printf(text, "%*sAscendC::WaitPreTaskEndImpl<%u>();\n", INDENT + 4, "", config);
    if (s->instr->early & EARLY_SET)
        text_printf(text, "%*sAscendC::SetNextTaskStart();\n", INDENT + 4, "");
    text_printf(text, "%*s}\n", INDENT, "");
}

/* Whether an instruction sets the flag of the core type for the other one; a call that waits early
 * does, where its kernel has both. */
static bool sets_flag(const struct ascendc *out, const struct instr *instr, enum core_type core)
{
    unsigned own = core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
    if (instr->op == INSTR_call)
        return (instr->early & own) && kernel_type_is_mixed(ascendc_kernel(out, instr)->type);
    return instr->op == INSTR_set;
}

/* Whether it waits for the flag that the other core type, `sender`, sets. */
static bool waits_for_flag(const struct instr *instr, enum core_type sender)
{
    unsigned other = sender == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
    return instr->op == INSTR_call ? (instr->early & other) != 0 : instr->op == INSTR_wait;
}

void ascendc_find_early_sets(struct ascendc *out, enum core_type core)
{
    const struct program *own = &out->entry->programs[core];
    const struct program *other = &out->entry->programs[core == CORE_AIC ? CORE_AIV : CORE_AIC];
    uint32_t wait = 0;
    id_map_free(&out->early_sets);
    if (arch_has_sync_base(out->arch))
        return; /* all flags are set and waited for by one pair of primitives */
    for (uint32_t i = 0; i < own->instrs.count; i++) {
        const struct instr *instr = &own->instrs.at[i];
        if (!sets_flag(out, instr, core))
            continue;
        while (wait < other->instrs.count && !waits_for_flag(&other->instrs.at[wait], core))
            wait++;
        if (wait == other->instrs.count)
            return;
        if (instr->op == INSTR_set && other->instrs.at[wait].op == INSTR_call)
            id_map_set(&out->early_sets, i, wait);
        wait++;
    }
}

static void refuse_early_set(const struct statement *s, const struct instr *call)
{
    struct ascendc *out = s->out;
    const struct op *op = entry_op(&out->ops, call->number[0]);
    const char *core = core_type_name(s->core);
    bool counted = s->index > 0 && program_of(s)->instrs.at[s->index - 1].op == INSTR_count_set;
    struct span at = s->instr->loc == NONE && op ? locate_op(out->module, op, OP_WHOLE, 0)
                                                 : locate_instr(out->module, s->instr);
    out->ok = false;
    if (!diag_at(out->diags, DIAG_early_start, at,
                 "on this chip the kernel '@%.*s' starts early by a function whose other half is "
                 "'await %s' and 'set %s' in one, but %s",
                 NAME(out->module, ascendc_kernel(out, call)->name), core,
                 s->core == CORE_AIC ? "c2v" : "v2c",
                 counted ? "counts of debug-cross-core-sync-check are between the two"
                         : "there is no such 'await' directly before the 'set'"))
        return;
    if (counted)
        diag_help(out->diags, "write debug-cross-core-sync-check=0");
    else
        diag_help(out->diags, "write 'await %s' directly before it", core);
}

/* An `await` and the `set` that follows are what the headers' function does on a core type that a
 * kernel has no part on: where the kernel waits by it, they are one statement, that of the `await`.
 * Returns whether the instruction is one of the two. */
static bool put_early_halves(const struct statement *s)
{
    const struct program *program = program_of(s);
    bool set = s->instr->op == INSTR_set;
    uint32_t at = set ? s->index : s->index + 1;
    if ((!set && s->instr->op != INSTR_await) || at == program->instrs.count)
        return false;
    /* The call of the other core type that waits early for the flag which the `set` sets. */
    uint32_t waiter = id_map_find(&s->out->early_sets, at);
    if (waiter == NONE)
        return false;
    const struct instr *call =
        &s->out->entry->programs[s->core == CORE_AIC ? CORE_AIV : CORE_AIC].instrs.at[waiter];
    if (set && (at == 0 || program->instrs.at[at - 1].op != INSTR_await))
        refuse_early_set(s, call);
    if (!set)
        text_printf(s->out->text, "%*sAscendC::WaitPreTaskEndImpl<%u>();\n", INDENT, "",
                    early_config(s->out, call));
    return true;
}

/* -------------------------------------------------------------------------- statements ---- */

static void put_statement(const struct statement *s)
{
    struct ascendc *out = s->out;
    enum instr_op op = s->instr->op;
    struct instr plain = *s->instr;
    const struct instr *call = op == INSTR_preload ? call_of(s) : s->instr;
    if (!call)
        return;
    if (instr_info(op)->effect == EFFECT_EVENT) {
        plain.number[0] = instr_event_slot(&out->events, out->entry, s->instr);
        if (plain.number[0] == NONE) { /* entries alone may name what they have no slot for */
            diag_at(out->diags, DIAG_unknown_group, locate_instr(out->module, s->instr),
                    "the entry has no slot for this event");
            out->ok = false;
            return;
        }
    }
    /* Whether it is for the cores of a call alone. */
    bool guarded = (op == INSTR_call || op == INSTR_preload) &&
                   !kernel_is_dynamic(out->module, ascendc_kernel(out, call)) &&
                   !includes_all(s, call);
    text_printf(out->text, "%*s", INDENT, "");
    if (guarded) {
        text_string(out->text, "if (");
        put_included(s, call);
        text_string(out->text, ") { ");
    }
    expand(s, &plain);
    text_string(out->text, guarded ? "; }\n" : ";\n");
}

void ascendc_instr(struct ascendc *out, enum core_type core, uint32_t index)
{
    const struct instr *instr = &out->entry->programs[core].instrs.at[index];
    const struct statement s = {out, core, instr, index};
    const struct instr_info *info = instr_info(instr->op);
    if (out->lines)
        vec_push(out->lines,
                 (struct source_line){(uint32_t)out->text->size, out->entry_id, core, index});
    assert(info->ascend);
    if (info->place == PLACE_RECORD &&
        (instr->op == INSTR_profile ? out->records : out->tracing) == NONE)
        return; /* nothing is recorded where there is no area for records */
    if (instr->op == INSTR_call && instr->early)
        put_early_call(&s);
    else if (!put_early_halves(&s))
        put_statement(&s);
}
