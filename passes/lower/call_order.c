#include "ir/core/kernel.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/lower/call_order.h"

#include <assert.h>

/* Faults of one entry that are told. */
enum { MAX_REPORTS = 8 };

struct finder {
    const struct called_source *source;
    struct called *called;
    uint32_t faults;
};

static const struct op *op_at(const struct finder *finder, uint32_t place)
{
    assert(place < finder->source->count);
    return &finder->source->graph->ops.at[finder->source->ops[place]];
}

static const struct kernel *kernel_at(const struct finder *finder, uint32_t place)
{
    return module_kernel(finder->source->module, op_at(finder, place)->kernel);
}

/* ---------------------------------------------------------------------------- groups ---- */

/* Groups come in the order of `grouped`, but where the entry is wrong: from there on, by names. */
static void find_groups(const struct finder *finder)
{
    const struct called_source *source = finder->source;
    const struct arg_group *groups = source->entry->groups.at;
    uint32_t named = entry_named_groups(source->entry), g = 0;
    struct id_map places[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
    finder->called->place = mem_calloc(named, sizeof *finder->called->place);
    for (; g < named && g < source->count; g++) {
        const struct group_name *name = &source->names[source->grouped[g]];
        if (groups[g].name != name->name || groups[g].word != name->word)
            break;
        finder->called->place[g] = source->grouped[g];
    }
    for (uint32_t i = 0; g < named && i < source->count; i++)
        id_map_set(&places[source->names[i].word], source->names[i].name, i);
    for (; g < named; g++)
        finder->called->place[g] = id_map_find(&places[groups[g].word], groups[g].name);
    id_map_free(&places[0]);
    id_map_free(&places[1]);
}

/* --------------------------------------------------------------------------- reports ---- */

/* Whether one more fault is told. */
static bool may_report(struct finder *finder)
{
    return finder->faults++ < MAX_REPORTS && finder->source->diags;
}

static const char *op_words(const struct finder *finder, uint32_t place)
{
    const struct called_source *source = finder->source;
    return op_text(source->module, source->graph, op_at(finder, place), &source->diags->arena);
}

/* The whole call of an op on a core type. */
static const char *call_words(const struct finder *finder, uint32_t place, enum core_type core)
{
    const struct called_source *source = finder->source;
    const struct kernel *kernel = kernel_at(finder, place);
    const struct group_name *name = &source->names[place];
    struct arena *arena = &source->diags->arena;
    bool mixed = kernel_type_is_mixed(kernel->type);
    return arena_printf(arena, "call @%.*s%s%s args %s blocks %u",
                        NAME(source->module, kernel->name), mixed ? "." : "",
                        mixed ? core_type_name(core) : "",
                        args_name_text(source->module, name->name, name->word, arena),
                        kernel_blocks(source->module, kernel));
}

static bool report_call(const struct finder *finder, enum core_type core, uint32_t index,
                        const char *text)
{
    const struct called_source *source = finder->source;
    const struct instr *call = &source->entry->programs[core].instrs.at[index];
    struct diags *diags = source->diags;
    struct instr_numbers numbers = {.module = source->module, .entry = source->entry};
    const char *place = instr_place_text(&numbers, core, index, NULL, &diags->arena);
    uint32_t number = instr_number(&numbers, core, index);
    instr_numbers_free(&numbers);
    if (!diag_at(diags, DIAG_entry_calls, locate_instr(source->module, call),
                 "entry '@%.*s', %s: %s", NAME(source->module, source->entry->name), place, text))
        return false;
    diag_field(diags, "entry", name_text(source->module, source->entry->name, &diags->arena));
    diag_field(diags, "core", core_type_name(core));
    diag_field(diags, "instruction", arena_printf(&diags->arena, "%u", number));
    diag_field(diags, "text", instr_text(source->module, source->entry, call, &diags->arena));
    return true;
}

/* A call of an op that has been called before. */
static void report_twice(struct finder *finder, enum core_type core, uint32_t index, uint32_t place)
{
    const struct called_source *source = finder->source;
    uint32_t first = finder->called->call[core][place];
    struct instr_numbers numbers = {.module = source->module, .entry = source->entry};
    if (report_call(finder, core, index,
                    arena_printf(&source->diags->arena, "the op %s is called twice",
                                 op_words(finder, place))))
        diag_note(source->diags,
                  locate_instr(source->module, &source->entry->programs[core].instrs.at[first]),
                  "the first time is %s instruction %u", core_type_name(core),
                  instr_number(&numbers, core, first));
    instr_numbers_free(&numbers);
}

/* A call of another kernel than the op's, or on a core type that it has no part on. */
static void report_kernel(struct finder *finder, enum core_type core, uint32_t index,
                          uint32_t place)
{
    struct diags *diags = finder->source->diags;
    bool part = kernel_type_has(kernel_at(finder, place)->type, core);
    const char *format = part ? "this is not the kernel of the op %s, whose arguments it passes"
                              : "the op %s, whose arguments this passes, has no part here";
    char *text = arena_printf(&diags->arena, format, op_words(finder, place));
    if (report_call(finder, core, index, text) && part)
        diag_help(diags, "write '%s'", call_words(finder, place, core));
}

/* ----------------------------------------------------------------------------- calls ---- */

/* The place of the op that a call is for; NONE, reported, where the call is wrong. */
static uint32_t find_op(struct finder *finder, enum core_type core, uint32_t index)
{
    const struct called_source *source = finder->source;
    const struct instr *call = &source->entry->programs[core].instrs.at[index];
    uint32_t place = finder->called->place[call->number[0]];
    bool twice = place != NONE && finder->called->call[core][place] != NONE;
    if (place != NONE && !twice && call->kernel == op_at(finder, place)->kernel)
        return place;
    if (!may_report(finder))
        return NONE;
    if (twice)
        report_twice(finder, core, index, place);
    else if (place != NONE)
        report_kernel(finder, core, index, place);
    else
        report_call(finder, core, index,
                    arena_printf(&source->diags->arena,
                                 "this passes the arguments of no op of super kernel '@%.*s'",
                                 NAME(source->module, source->superkernel->name)));
    return NONE;
}

static void find_calls(struct finder *finder, enum core_type core)
{
    const struct program *program = &finder->source->entry->programs[core];
    uint32_t *calls = finder->called->call[core], next = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        if (program->instrs.at[i].op != INSTR_call)
            continue;
        uint32_t place = find_op(finder, core, i);
        if (place == NONE)
            continue;
        calls[place] = i;
        finder->called->in_order &= place >= next;
        next = place + 1;
    }
}

static void find_missing(struct finder *finder, uint32_t place, enum core_type core)
{
    const struct called_source *source = finder->source;
    if (finder->called->call[core][place] != NONE ||
        !kernel_type_has(kernel_at(finder, place)->type, core) || !may_report(finder) ||
        !diag_at(source->diags, DIAG_entry_calls, locate_name(source->module, source->entry->loc),
                 "entry '@%.*s' does not call the op %s on %s",
                 NAME(source->module, source->entry->name), op_words(finder, place),
                 core_type_name(core)))
        return;
    diag_note(source->diags, locate_op(source->module, op_at(finder, place), OP_TYPE_NAME, 0),
              "the op is here");
    diag_help(source->diags, "write '%s' in the %s program", call_words(finder, place, core),
              core_type_name(core));
}

bool called_find(struct called *called, const struct called_source *source)
{
    struct finder finder = {.source = source, .called = called};
    *called = (struct called){.in_order = true};
    find_groups(&finder);
    for (int core = 0; core < CORE_TYPES; core++) {
        called->call[core] = mem_calloc(source->count, sizeof *called->call[core]);
        for (uint32_t i = 0; i < source->count; i++)
            called->call[core][i] = NONE;
        find_calls(&finder, (enum core_type)core);
    }
    for (uint32_t i = 0; i < source->count; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            find_missing(&finder, i, (enum core_type)core);
    if (finder.faults > MAX_REPORTS && source->diags)
        diag_at(source->diags, DIAG_entry_calls, locate_name(source->module, source->entry->loc),
                "%u more calls of entry '@%.*s' are wrong or missing", finder.faults - MAX_REPORTS,
                NAME(source->module, source->entry->name));
    return finder.faults == 0;
}

void called_free(struct called *called)
{
    mem_free(called->place);
    for (int core = 0; core < CORE_TYPES; core++)
        mem_free(called->call[core]);
}
