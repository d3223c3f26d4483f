#include "ir/core/kernel_args.h"
#include "tests/unit/entry_runner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct interpreted {
    const struct entry *entry;
    struct skrt_call *calls[CORE_TYPES]; /* by instruction */
    uint32_t *slots[CORE_TYPES];         /* the same, of events */
};

static void idle_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)core;
    (void)args_offset;
}

static void execute(skrt_core *core, const struct instr *instr, const struct skrt_call *call,
                    uint32_t slot)
{
    static const struct skrt_site sites[INSTR_COUNT] = {
#define INSTR(name, ...) {#name, NULL},
#include "ir/core/instrs.def"
#undef INSTR
    };
    const struct skrt_site *site = &sites[instr->op];
    enum skrt_core_type group = instr->word == CORE_AIC ? SKRT_AIC : SKRT_AIV;
    bool c2v = instr->word == CORE_AIC;
    switch ((enum instr_op)instr->op) {
    case INSTR_call: skrt_call(core, call, site); break;
    case INSTR_arrive: skrt_arrive(core, group, site); break;
    case INSTR_await: skrt_await(core, group, site); break;
    case INSTR_set: (c2v ? skrt_set_c2v : skrt_set_v2c)(core, site); break;
    case INSTR_wait: (c2v ? skrt_wait_c2v : skrt_wait_v2c)(core, site); break;
    case INSTR_notify: skrt_notify(core, slot, site); break;
    case INSTR_wait_event: skrt_wait_event(core, slot, site); break;
    case INSTR_reset: skrt_reset(core, slot, site); break;
    case INSTR_pipe_barrier: skrt_pipe_barrier(core, site); break;
    default: skrt_hint(core, site); break;
    }
}

static void interpret(skrt_core *core)
{
    const struct interpreted *code = (const void *)(uintptr_t)skrt_args(core, 0)[0];
    enum core_type type = skrt_core_type(core) == SKRT_AIC ? CORE_AIC : CORE_AIV;
    const struct program *program = &code->entry->programs[type];
    for (uint32_t i = 0; i < program->instrs.count; i++)
        execute(core, &program->instrs.at[i], &code->calls[type][i], code->slots[type][i]);
}

static struct skrt_call *make_calls(const struct module *module, const struct entry *entry,
                                    const struct program *program)
{
    struct skrt_call *calls = mem_calloc(program->instrs.count, sizeof *calls);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op != INSTR_call)
            continue;
        const struct kernel_type_info *info =
            kernel_type_info(module_find_kernel(module, instr->kernel)->type);
        calls[i] =
            (struct skrt_call){idle_kernel, group_slot(entry, &entry->groups.at[instr->number[0]]),
                               instr->number[1], info->flat ? 1 : info->aivs, info->flat};
    }
    return calls;
}

static uint32_t *find_slots(const struct entry *entry, const struct program *program)
{
    uint32_t *slots = mem_calloc(program->instrs.count, sizeof *slots);
    struct event_slots events = {{NULL, 0, 0}, {NULL, 0, 0}};
    event_slots_take(&events, entry);
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (instr_info(program->instrs.at[i].op)->effect == EFFECT_EVENT)
            slots[i] = instr_event_slot(&events, entry, &program->instrs.at[i]);
    event_slots_free(&events);
    return slots;
}

void entry_runner_close(struct entry_runner *runner)
{
    skrt_device_close(runner->device);
    runner->device = NULL;
}

static bool leaves_usable(enum skrt_status status)
{
    return status == SKRT_OK || status == SKRT_INVALID || status == SKRT_LEFT_SET ||
           status == SKRT_RACE;
}

void entry_runner_run(struct entry_runner *runner, const struct module *module,
                      const struct entry *entry, const struct skrt_race_check *race,
                      struct skrt_result *result)
{
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    uint32_t n_params = entry_slots(entry);
    uint64_t *slots = mem_calloc(n_params + 1, sizeof *slots);
    uint64_t *words = mem_calloc(n_params + 1, sizeof *words);
    struct interpreted code = {.entry = entry};
    for (int core = 0; core < CORE_TYPES; core++) {
        code.calls[core] = make_calls(module, entry, &entry->programs[core]);
        code.slots[core] = find_slots(entry, &entry->programs[core]);
    }
    for (uint32_t i = 1; i < n_params; i++) {
        words[i] = 1;
        slots[i] = (uintptr_t)&words[i];
    }
    slots[0] = (uintptr_t)&code;
    struct skrt_launch launch = {.entry = interpret,
                                 .blocks = (uint32_t)attr_int(module, entry->attrs, W_block, 1),
                                 .aics = info->aics,
                                 .aivs = info->aivs,
                                 .params = slots,
                                 .n_params = n_params + 1,
                                 .race = race};
    if (!runner->device)
        runner->device = skrt_device_open(&runner->config);
    assert_non_null(runner->device);
    if (!leaves_usable(skrt_launch(runner->device, &launch, result)))
        entry_runner_close(runner);
    for (int core = 0; core < CORE_TYPES; core++) {
        mem_free(code.calls[core]);
        mem_free(code.slots[core]);
    }
    mem_free(slots);
    mem_free(words);
}
