/* The verifier's part for entries: each instruction fits its program's core type, its kernel and
 * the launch. Whether the programs are synchronised is another question. */
#include "ir/block_rules.h"
#include "ir/groups.h"
#include "ir/variants.h"
#include "ir/verify/verify_internal.h"

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

static enum core_type flag_sender(const struct instr *instr)
{
    return instr->word; /* c2v: CORE_AIC, v2c: CORE_AIV */
}

static bool may_execute(const struct entry_verifier *ev, const struct instr *instr)
{
    switch (instr_info(instr->op)->who) {
    case WHO_ANY: return true;
    case WHO_GROUP: return instr->word == ev->core;
    case WHO_SENDER: return flag_sender(instr) == ev->core;
    case WHO_RECEIVER: return flag_sender(instr) != ev->core;
    }
    return false;
}

static void verify_core(struct entry_verifier *ev, const struct instr *instr)
{
    if (may_execute(ev, instr))
        return;
    if (!diag_at(ev->diags, DIAG_wrong_core, locate_instr(ev->module, instr),
                 "an %s cannot execute this", core_type_name(ev->core)))
        return;
    if (instr_info(instr->op)->who == WHO_GROUP)
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

/* How many of the launch's cores a kernel's blocks can count. */
static void verify_call(struct entry_verifier *ev, const struct instr *instr,
                        const struct kernel *kernel)
{
    int64_t cores = entry_room(ev->module, ev->entry, kernel->type);
    struct span span = locate_instr(ev->module, instr);
    if (kernel_block_rule(ev->module, kernel) != NONE &&
        diag_at(ev->diags, DIAG_block_rule, span,
                "the blocks of '@%.*s' depend on the shapes of an op",
                NAME(ev->module, kernel->name)))
        diag_help(ev->diags, "entries call kernels with 'block = N'");
    if (cores && (instr->number[1] < 1 || instr->number[1] > cores))
        diag_at(ev->diags, DIAG_number_range, span,
                "a call with %u blocks in a launch that has %lld of them", instr->number[1],
                (long long)cores);
}

static void verify_record(struct entry_verifier *ev, const struct instr *instr)
{
    if (instr->op == INSTR_profile && instr->number[1] >= PROFILE_KINDS)
        diag_at(ev->diags, DIAG_number_range, locate_instr(ev->module, instr),
                "kind %u: 0 is a kernel, 1 an op, 2 a notify, 3 a wait", instr->number[1]);
    if (instr->op == INSTR_trace && instr->number[1] >= TRACE_STATES)
        diag_at(ev->diags, DIAG_number_range, locate_instr(ev->module, instr),
                "state %u: 0 is begun, 1 launched, 2 finished, 3 ended, 4 waiting, 5 received",
                instr->number[1]);
}

/* A core holds one choice at a time. Whether each call has its select is verify-sync's question. */
static void select_too_early(struct entry_verifier *ev, const struct instr *instr)
{
    if (diag_at(ev->diags, DIAG_dynamic_kernel, locate_instr(ev->module, ev->select),
                "the next call of the program must be that of '@%.*s', which is selected here",
                NAME(ev->module, ev->select->kernel)))
        diag_note(ev->diags, locate_instr(ev->module, instr), "this stands between");
}

static void verify_select(struct entry_verifier *ev, const struct instr *instr,
                          const struct kernel *kernel)
{
    if (!kernel_is_dynamic(ev->module, kernel)) {
        diag_at(ev->diags, DIAG_dynamic_kernel, locate_instr(ev->module, instr),
                "'@%.*s' is no dynamic kernel: there is nothing to select",
                NAME(ev->module, kernel->name));
        return;
    }
    if (ev->select && ev->select->kernel != instr->kernel)
        select_too_early(ev, instr);
    ev->select = instr;
}

/* A call follows its select, and finds the words that the select reads among its slots. */
static void verify_selected(struct entry_verifier *ev, const struct instr *call,
                            const struct kernel *kernel)
{
    const struct module *module = ev->module;
    if (ev->select && ev->select->kernel != call->kernel)
        select_too_early(ev, call);
    ev->select = NULL;
    if (kernel_is_dynamic(module, kernel) && call->early)
        diag_at(ev->diags, DIAG_dynamic_kernel, locate_instr(module, call),
                "'@%.*s' is a dynamic kernel, which takes no part in early start",
                NAME(module, kernel->name));
    if (kernel_is_dynamic(module, kernel) &&
        group_find_tiling(ev->entry, &ev->entry->groups.at[call->number[0]]) == NONE &&
        diag_at(ev->diags, DIAG_dynamic_kernel, locate_instr(module, call),
                "its arguments have no tiling key for '@%.*s'", NAME(module, kernel->name)))
        diag_help(ev->diags, "behind the slots of its tensors stand 'tiling_key, block_num, lock'");
}

/* ---------------------------------------------------------------------------- words ---- */

/* Which events are among the arguments: ids of marks. */
enum { MARK_SEND = 1, MARK_RECV = 2 };

static void mark_events(struct entry_verifier *ev)
{
    marks_clear(ev->verifier);
    for (uint32_t i = 0; i < ev->entry->args.count; i++) {
        const struct arg *arg = &ev->entry->args.at[i];
        if (arg->kind != ARG_SEND && arg->kind != ARG_RECV)
            continue;
        marks_set(ev->verifier, arg->id, 0, NULL);
        ev->verifier->marks[arg->id].id |= arg->kind == ARG_SEND ? MARK_SEND : MARK_RECV;
    }
}

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

static bool is_code_of(const struct entry_verifier *ev, const struct graph *graph, uint32_t block)
{
    return block != NONE &&
           block_entry_name(ev->module, &graph->blocks.at[block]) == ev->entry->name;
}

/* Whether an op of the entry's super kernels has no kernel yet. */
static bool has_open_ops(const struct entry_verifier *ev)
{
    const struct module *module = ev->module;
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++)
            if (graph->ops.at[i].kernel == NONE &&
                is_code_of(ev, graph, graph_superkernel(graph, graph->ops.at[i].block)))
                return true;
    }
    return false;
}

/* What is not declared may be the sample kernel of an op that bind-kernels will find. */
static bool may_be_sample(struct entry_verifier *ev)
{
    if (ev->binding == BINDING_UNKNOWN)
        ev->binding = has_open_ops(ev) ? BINDING_OPEN : BINDING_DONE;
    return ev->binding == BINDING_OPEN;
}

/* --------------------------------------------------------------------------- programs ---- */

static void verify_instr(struct entry_verifier *ev, const struct instr *instr)
{
    verify_core(ev, instr);
    verify_record(ev, instr);
    ev->checks |= instr->op == INSTR_check_await || instr->op == INSTR_check_wait;
    if (instr->kernel != NONE) {
        const struct kernel *kernel = module_find_kernel(ev->module, instr->kernel);
        if (!kernel && may_be_sample(ev)) {
            ev->select = NULL;
            return;
        }
        if (!kernel) {
            verify_unknown_kernel(ev->verifier, locate_instr(ev->module, instr), instr->kernel);
            return;
        }
        verify_part(ev, instr, kernel);
        if (instr->op == INSTR_select)
            verify_select(ev, instr, kernel);
        if (instr->op == INSTR_call) {
            verify_call(ev, instr, kernel);
            verify_selected(ev, instr, kernel);
        }
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
    verify_arg_words(verifier, entry);
    verify_launch(&ev);
    mark_events(&ev);
    for (int core = 0; core < CORE_TYPES; core++)
        verify_program(&ev, core);
    if (ev.checks)
        verify_checks(verifier, entry);
}
