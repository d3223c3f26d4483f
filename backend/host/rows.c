#include "backend/device/link.h"
#include "backend/host/rows.h"
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"

#include <assert.h>

_Static_assert((int)CORE_AIC == (int)SKRT_AIC && (int)CORE_AIV == (int)SKRT_AIV, "one order");
_Static_assert((int)PHASE_begin == (int)SKRT_BEGIN && (int)PHASE_end == (int)SKRT_END &&
                   (int)PHASE_begin == (int)SKRT_FEED_BEGIN &&
                   (int)PHASE_end == (int)SKRT_FEED_END &&
                   (int)PHASE_complement == (int)SKRT_FEED_COMPLEMENT,
               "one order");
_Static_assert((int)PROFILE_KERNEL == (int)SKRT_PROFILE_KERNEL &&
                   (int)PROFILE_WAIT == (int)SKRT_PROFILE_WAIT,
               "one order");
_Static_assert((int)EARLY_WAIT_AIC == (int)SKRT_EARLY_WAIT_AIC &&
                   (int)EARLY_WAIT_AIV == (int)SKRT_EARLY_WAIT_AIV &&
                   (int)EARLY_SET == (int)SKRT_EARLY_SET,
               "the same bits");

/* As many combinations as gears make, with a few super kernels each. */
enum { MAX_LOOK_BACK = 1000 };

#define ROW(name, ...)                                                                             \
    (struct skrt_row)                                                                              \
    {                                                                                              \
        .op = SKRT_ROW_##name, .numbers = { __VA_ARGS__ }                                          \
    }

/* A program whose rows are made. */
struct row_maker {
    struct row_tables *tables;
    struct emitter *emitter;
    enum core_type core;
    const struct program *program;
    struct vec_u32 calls; /* indices of the instructions that are calls */
    uint32_t call;        /* those before the instruction at hand */
    struct text text;
    const struct entry *like;           /* one whose groups are alike, or NULL */
    const struct entry_rows *like_rows; /* of that */
    bool ok;
};

/* ----------------------------------------------------------------------------- numbers ---- */

static uint32_t part_of(struct row_maker *maker, const struct instr *instr)
{
    uint32_t kernel = called_id(maker->emitter, instr);
    uint32_t *place = &maker->tables->places[kernel * CORE_TYPES + maker->core];
    if (*place == 0) {
        vec_push(&maker->tables->parts, (struct row_part){kernel, maker->core});
        *place = maker->tables->parts.count;
    }
    return *place - 1;
}

/* The row of the same instruction, in the same place of an entry with such groups; or NULL. */
static const struct skrt_row *like_row(const struct row_maker *maker, const struct instr *instr)
{
    uint32_t at = (uint32_t)(instr - maker->program->instrs.at);
    if (!maker->like || at >= maker->like->programs[maker->core].instrs.count)
        return NULL;
    const struct instr *other = &maker->like->programs[maker->core].instrs.at[at];
    bool same = other->op == instr->op && other->part == instr->part &&
                other->word == instr->word && other->early == instr->early &&
                other->kernel == instr->kernel && other->number[0] == instr->number[0] &&
                other->number[1] == instr->number[1];
    return same ? &maker->like_rows->programs[maker->core].at[at] : NULL;
}

static uint32_t site_of(struct row_maker *maker, const struct instr *instr)
{
    const struct skrt_row *like = like_row(maker, instr);
    if (like)
        return like->site;
    struct text *text = &maker->text;
    text->size = 0;
    emitter_site(maker->emitter, instr, text);
    return intern_copy(&maker->tables->sites, text->at, text->size);
}

/* The slot of an event, or of a lock: entries by themselves may name what they have no slot for. */
static uint32_t event_slot(struct row_maker *maker, const struct instr *instr)
{
    struct emitter *emitter = maker->emitter;
    uint32_t slot = instr_event_slot(&emitter->events, emitter->entry, instr);
    if (slot != NONE)
        return slot;
    diag_at(emitter->diags, DIAG_unknown_group, locate_instr(emitter->module, instr),
            "the entry has no slot for this event");
    maker->ok = false;
    return 0;
}

static uint32_t workspace_slot(struct row_maker *maker, const struct instr *instr)
{
    struct emitter *emitter = maker->emitter;
    if (emitter->workspace_slot != NONE)
        return emitter->workspace_slot;
    if (diag_at(emitter->diags, DIAG_missing_attribute, locate_instr(emitter->module, instr),
                "'%s' needs a workspace, which the entry does not have",
                instr_info(instr->op)->name))
        diag_help(emitter->diags, "give the entry 'workspace = N' and 'args [sync_workspace]'");
    maker->ok = false;
    return 0;
}

/* -------------------------------------------------------------------------------- rows ---- */

static struct skrt_row call_row(struct row_maker *maker, const struct instr *instr)
{
    const struct emitter *emitter = maker->emitter;
    const struct kernel *kernel = called_kernel(emitter, instr);
    const struct kernel_type_info *info = kernel_type_info(kernel->type);
    bool dynamic = kernel_is_dynamic(emitter->module, kernel);
    return (struct skrt_row){
        .op = dynamic ? SKRT_ROW_call_selected : SKRT_ROW_call,
        .early = dynamic ? 0 : instr->early & (EARLY_WAIT_MIX | EARLY_SET),
        .aivs = info->flat ? 1 : info->aivs,
        .flat = info->flat,
        .numbers = {part_of(maker, instr),
                    group_slot(emitter->entry, &emitter->entry->groups.at[instr->number[0]]),
                    instr->number[1]},
    };
}

/* Feeding is for the call beside it. */
static struct skrt_row feed_row(struct row_maker *maker, const struct instr *instr)
{
    const struct emitter *emitter = maker->emitter;
    bool begin = instr->word == PHASE_begin;
    uint32_t slot = workspace_slot(maker, instr), call = maker->call - !begin;
    if (call < maker->calls.count)
        return ROW(feed_sync, instr->word, slot, call, maker->calls.at[call]);
    diag_at(emitter->diags, DIAG_instr_operands, locate_instr(emitter->module, instr),
            "there is no call %s this", begin ? "behind" : "before");
    maker->ok = false;
    return ROW(hint, 0);
}

/* What the instruction is to the runtime, but for where it stands. */
static struct skrt_row make_row(struct row_maker *maker, const struct instr *instr)
{
    const struct entry *entry = maker->emitter->entry;
    switch ((enum instr_op)instr->op) {
    case INSTR_preload:
    case INSTR_preload_all:
    case INSTR_preload_data:
    case INSTR_dcci: return ROW(hint, 0);
    case INSTR_call: return call_row(maker, instr);
    case INSTR_select:
        return ROW(select, part_of(maker, instr),
                   emitter_select_slot(maker->emitter, maker->program, instr));
    case INSTR_arrive: return ROW(arrive, instr->word);
    case INSTR_await: return ROW(await, instr->word);
    case INSTR_set: return instr->word == CORE_AIC ? ROW(set_c2v, 0) : ROW(set_v2c, 0);
    case INSTR_wait: return instr->word == CORE_AIC ? ROW(wait_c2v, 0) : ROW(wait_v2c, 0);
    case INSTR_notify: return ROW(notify, event_slot(maker, instr));
    case INSTR_wait_event: return ROW(wait_event, event_slot(maker, instr));
    case INSTR_reset: return ROW(reset, event_slot(maker, instr));
    case INSTR_pipe_barrier: return ROW(pipe_barrier, 0);
    case INSTR_clear_workspace: return ROW(clear_workspace, workspace_slot(maker, instr));
    case INSTR_feed_sync: return feed_row(maker, instr);
    case INSTR_profile:
        return ROW(profile, entry_profile_slot(entry), instr->word, instr->number[0],
                   instr->number[1]);
    case INSTR_trace:
        return ROW(trace, entry_slot(entry, W_tracing), instr->number[0], instr->number[1]);
    case INSTR_count_arrive: return ROW(count, entry_slot(entry, W_tracing), SKRT_BARRIER);
    case INSTR_count_set: return ROW(count, entry_slot(entry, W_tracing), SKRT_FLAG);
    case INSTR_check_await: return ROW(check, entry_slot(entry, W_tracing), SKRT_BARRIER);
    case INSTR_check_wait: return ROW(check, entry_slot(entry, W_tracing), SKRT_FLAG);
    case INSTR_COUNT: break;
    }
    return ROW(hint, 0);
}

static struct skrt_row next_row(struct row_maker *maker, const struct instr *instr)
{
    bool idle = instr_info(instr->op)->place == PLACE_RECORD &&
                emitter_records_slot(maker->emitter->entry, instr) == NONE;
    struct skrt_row row = idle ? ROW(hint, 0) : make_row(maker, instr);
    row.site = site_of(maker, instr);
    maker->call += instr->op == INSTR_call;
    return row;
}

/* Whether groups are spelled alike in reports, with the values in their slots. */
static bool groups_are_alike(const struct entry *a, const struct entry *b)
{
    bool alike = a->groups.count == b->groups.count && a->args.count == b->args.count;
    for (uint32_t i = 0; alike && i < a->groups.count; i++) {
        const struct arg_group *x = &a->groups.at[i], *y = &b->groups.at[i];
        alike = x->name == y->name && x->word == y->word && x->args.first == y->args.first &&
                x->args.count == y->args.count;
    }
    for (uint32_t i = 0; alike && i < a->args.count; i++) {
        const struct arg *x = &a->args.at[i], *y = &b->args.at[i];
        alike = x->kind == y->kind && (x->kind != ARG_VALUE || x->id == y->id);
    }
    return alike;
}

/* Combinations of gears follow one another, and are mostly alike. */
static bool make_entry(struct entry_rows *rows, struct row_tables *tables, struct emitter *emitter)
{
    const struct entry *before = emitter->entry_id > 0 ? emitter->entry - 1 : NULL;
    bool alike = before && groups_are_alike(emitter->entry, before);
    bool ok = true;
    rows->copies = entry_copies(emitter->module, emitter->entry);
    rows->workspace = emitter->workspace_slot == NONE ? 0 : (uint64_t)emitter->workspace;
    for (int core = 0; core < CORE_TYPES; core++) {
        struct row_maker maker = {.tables = tables,
                                  .emitter = emitter,
                                  .core = core,
                                  .program = &emitter->entry->programs[core],
                                  .like = alike ? before : NULL,
                                  .like_rows = alike ? rows - 1 : NULL,
                                  .ok = true};
        for (uint32_t i = 0; i < maker.program->instrs.count; i++)
            if (maker.program->instrs.at[i].op == INSTR_call)
                vec_push(&maker.calls, i);
        vec_reserve(&rows->programs[core], maker.program->instrs.count);
        for (uint32_t i = 0; i < maker.program->instrs.count; i++)
            vec_push(&rows->programs[core], next_row(&maker, &maker.program->instrs.at[i]));
        vec_free(&maker.calls);
        text_free(&maker.text);
        ok &= maker.ok;
    }
    return ok;
}

/* `what` has the name, and a symbol of another. Frees the symbol. */
static void remark_symbol(const struct module *module, const char *what, uint32_t id, uint32_t loc,
                          struct text *symbol, struct diags *diags)
{
    const struct intern_name *name = &module->names.names[id];
    if (symbol->size != name->size || memcmp(symbol->at, name->text, name->size) != 0)
        diag_at(diags, DIAG_entry_symbol, locate_name(module, loc),
                "the symbol of %s '@%.*s' is '%.*s'", what, NAME(module, id), (int)symbol->size,
                symbol->at);
    text_free(symbol);
}

/* ------------------------------------------------------------------------------ module ---- */

static bool entries_equal(const struct entry_rows *a, const struct entry_rows *b)
{
    bool equal = a->workspace == b->workspace && a->copies == b->copies;
    for (int core = 0; equal && core < CORE_TYPES; core++) {
        uint32_t count = a->programs[core].count;
        equal = count == b->programs[core].count &&
                (count == 0 || memcmp(a->programs[core].at, b->programs[core].at,
                                      count * sizeof *a->programs[core].at) == 0);
    }
    return equal;
}

/* Only combinations of gears are looked at, whose number is limited. */
static void find_equal(struct module_rows *rows, bool shared)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        uint32_t other = shared && i > MAX_LOOK_BACK ? i - MAX_LOOK_BACK : 0;
        while (shared && other < i && !entries_equal(&rows->entries[other], &rows->entries[i]))
            other++;
        rows->equal[i] = shared ? other : i;
    }
}

bool module_rows_make(struct module_rows *rows, const struct module *module, struct diags *diags)
{
    struct emitter emitter = {.module = module, .diags = diags};
    struct text symbol = {NULL, 0, 0};
    bool ok = true;
    *rows = (struct module_rows){.count = module->entries.count};
    rows->tables.places =
        mem_calloc((size_t)module->kernels.count * CORE_TYPES, sizeof *rows->tables.places);
    rows->entries = mem_calloc(rows->count, sizeof *rows->entries);
    rows->equal = mem_calloc(rows->count, sizeof *rows->equal);
    for (uint32_t i = 0; i < rows->count; i++) {
        emitter_begin(&emitter, i);
        ok &= make_entry(&rows->entries[i], &rows->tables, &emitter);
        device_entry_symbol(&symbol, module, emitter.entry);
        remark_symbol(module, "entry", emitter.entry->name, emitter.entry->loc, &symbol, diags);
        emitter_end(&emitter);
    }
    event_slots_free(&emitter.events);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        if (graph->cases.count == 0)
            continue;
        device_gears_symbol(&symbol, module, i);
        remark_symbol(module, "the table of gears of", graph->name, graph->loc, &symbol, diags);
    }
    find_equal(rows, module_has_cases(module));
    return ok;
}

void module_rows_free(struct module_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            vec_free(&rows->entries[i].programs[core]);
    mem_free(rows->entries);
    mem_free(rows->equal);
    intern_free(&rows->tables.sites);
    vec_free(&rows->tables.parts);
    mem_free(rows->tables.places);
}
