/* The statement of an instruction: the column `ascend` of ir/instrs.def, the pieces that it names,
 * and which cores execute it. */
#include "backend/ascend/ascendc_emitter.h"
#include "backend/emit/statement.h"
#include "ir/syntax/locate.h"

#include <assert.h>

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
 * kernel; of a step or record the one beside it. NULL where there is none. */
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
    if (kernel_is_dynamic(out->module, kernel)) {
        text_printf(out->text, "skir::call_selected(selected, %u)", slot);
        return;
    }
    text_string(out->text, copied ? "skir::call_" : "");
    ascendc_function(out, kernel, s->core);
    text_printf(out->text, "(%s%u)", copied ? "copy, " : "", slot);
}

static void put_function(const struct statement *s)
{
    struct ascendc *out = s->out;
    bool copied = ascendc_copies(out, out->entry) > 1;
    text_string(out->text, copied ? "skir::code_" : "");
    ascendc_function(out, ascendc_kernel(out, s->instr), s->core);
    text_string(out->text, copied ? "(copy)" : "");
}

/* The words that it reads are those of its kernel's next call. */
static void put_select(const struct statement *s)
{
    struct ascendc *out = s->out;
    const struct instr *call = next_call(s, s->instr->kernel);
    const struct arg_group *group = call ? &out->entry->groups.at[call->number[0]] : NULL;
    uint32_t slot = group ? group_find_tiling(out->entry, group) : NONE;
    if (slot == NONE) { /* verify-sync refuses it */
        text_string(out->text, "trap()");
        return;
    }
    text_string(out->text, "selected = ");
    ascendc_select(out, ascendc_kernel(out, s->instr), s->core);
    text_printf(out->text, "(p + %u, %s)", slot,
                ascendc_copies(out, out->entry) > 1 ? "copy" : "0");
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

static bool has_workspace(const struct statement *s)
{
    struct ascendc *out = s->out;
    if (out->workspace != NONE)
        return true;
    if (diag_at(out->diags, DIAG_missing_attribute, locate_instr(out->module, s->instr),
                "'%s' needs a workspace, which the entry does not have",
                instr_info(s->instr->op)->name))
        diag_help(out->diags, "give the entry 'workspace = N' and 'args [sync_workspace]'");
    out->ok = false;
    return false;
}

/* AICs have a counter for each op, and behind these AIVs have one for each. */
static void put_counters(const struct statement *s, uint32_t op)
{
    uint32_t ops = s->out->ops.count;
    if (!has_workspace(s))
        return;
    text_printf(s->out->text, "p[%u] + %u", s->out->workspace,
                64 * (s->core == CORE_AIC ? op : ops + op));
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

/* Feeding is for the call beside it. */
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

static void put_early_config(const struct statement *s)
{
    text_printf(s->out->text, "%*sg_super_kernel_early_start_config = %u;\n", INDENT, "",
                early_config(s->out, s->instr));
}

/* Idle cores call the headers' functions, as the kernel does on the others: which primitives these
 * are depends on the chip, and on how the parts are compiled. */
static void put_idle_core(const struct statement *s)
{
    if (s->instr->early & EARLY_WAIT_MIX)
        text_printf(s->out->text, "%*sAscendC::WaitPreTaskEndImpl<%u>();\n", INDENT + 4, "",
                    early_config(s->out, s->instr));
    if (s->instr->early & EARLY_SET)
        text_printf(s->out->text, "%*sAscendC::SetNextTaskStart();\n", INDENT + 4, "");
}

static void put_early_call(const struct statement *s)
{
    if (s->instr->early & EARLY_WAIT_MIX)
        put_early_config(s);
    if (includes_all(s, s->instr)) {
        text_printf(s->out->text, "%*s", INDENT, "");
        expand(s, s->instr);
        text_string(s->out->text, ";\n");
        return;
    }
    text_printf(s->out->text, "%*sif (", INDENT, "");
    put_included(s, s->instr);
    text_printf(s->out->text, ") {\n%*s", INDENT + 4, "");
    expand(s, s->instr);
    text_printf(s->out->text, ";\n%*s} else {\n", INDENT, "");
    put_idle_core(s);
    text_printf(s->out->text, "%*s}\n", INDENT, "");
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

/* The call of the other core type that waits early for the flag which the instruction `index` of
 * this type sets; or NULL. */
static const struct instr *early_waiter(const struct statement *s, uint32_t index)
{
    uint32_t call = id_map_find(&s->out->early_sets, index);
    const struct entry *entry = s->out->entry;
    return call == NONE
               ? NULL
               : &entry->programs[s->core == CORE_AIC ? CORE_AIV : CORE_AIC].instrs.at[call];
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
    const struct instr *call = early_waiter(s, at);
    if (!call)
        return false;
    if (set && (at == 0 || program->instrs.at[at - 1].op != INSTR_await))
        refuse_early_set(s, call);
    if (!set)
        text_printf(s->out->text, "%*sAscendC::WaitPreTaskEndImpl<%u>();\n", INDENT, "",
                    early_config(s->out, call));
    return true;
}

/* -------------------------------------------------------------------------- statements ---- */

static bool refuse(const struct statement *s, enum diag_id id, const char *text)
{
    diag_at(s->out->diags, id, locate_instr(s->out->module, s->instr), "%s", text);
    s->out->ok = false;
    return false;
}

/* Entries by themselves may name what they have no slot for. */
static bool find_slot(const struct statement *s, struct instr *plain)
{
    struct ascendc *out = s->out;
    plain->number[0] = instr_event_slot(&out->events, out->entry, s->instr);
    return plain->number[0] != NONE ||
           refuse(s, DIAG_unknown_group, "the entry has no slot for this event");
}

/* Whether the instruction is there for the cores of a call alone. */
static bool is_guarded(const struct statement *s, const struct instr *call)
{
    enum instr_op op = s->instr->op;
    if ((op != INSTR_call && op != INSTR_preload) ||
        kernel_is_dynamic(s->out->module, ascendc_kernel(s->out, call)))
        return false;
    return !includes_all(s, call);
}

static void put_statement(const struct statement *s)
{
    const struct instr_info *info = instr_info(s->instr->op);
    struct text *text = s->out->text;
    struct instr plain = *s->instr;
    const struct instr *call = s->instr->op == INSTR_preload ? call_of(s) : s->instr;
    if (!call || (info->effect == EFFECT_EVENT && !find_slot(s, &plain)))
        return;
    bool guarded = is_guarded(s, call);
    text_printf(text, "%*s", INDENT, "");
    if (guarded) {
        text_string(text, "if (");
        put_included(s, call);
        text_string(text, ") { ");
    }
    expand(s, &plain);
    text_string(text, guarded ? "; }\n" : ";\n");
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
