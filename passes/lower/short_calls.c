#include "passes/lower/short_calls.h"

#include "ir/core/kernel.h"
#include "ir/core/kernel_args.h"
#include "ir/support/diag.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/lower/superkernel.h"

struct writer {
    struct pass_context *context;
    struct module *module;
    const struct graph *graph;
    const struct block *block;
    const uint32_t *ops; /* of the super kernel, in list order */
    uint32_t count;
    const uint32_t *grouped; /* by group of arguments: the place of its op */
    struct entry *entry;
    struct group_namer namer;
    struct vec_u32 names;    /* of the ops' groups */
    struct id_map places[2]; /* by name, of values and of words */
};

static bool is_short(const struct instr *instr)
{
    return instr->op == INSTR_call && instr->kernel == NONE;
}

static bool is_undeclared(const struct module *module, const struct instr *instr)
{
    return instr->kernel != NONE && !module_find_kernel(module, instr->kernel);
}

bool entry_is_unbound(const struct module *module, const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (is_short(&entry->programs[core].instrs.at[i]) ||
                is_undeclared(module, &entry->programs[core].instrs.at[i]))
                return true;
    return false;
}

bool entries_are_bound(const struct module *module)
{
    for (uint32_t i = 0; i < module->entries.count; i++)
        if (entry_is_unbound(module, &module->entries.at[i]))
            return false;
    return true;
}

/* The first short call of an entry, or NULL. */
static const struct instr *find_short(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (is_short(&entry->programs[core].instrs.at[i]))
                return &entry->programs[core].instrs.at[i];
    return NULL;
}

bool short_calls_present(const struct module *module)
{
    for (uint32_t i = 0; i < module->entries.count; i++)
        if (find_short(&module->entries.at[i]))
            return true;
    return false;
}

static const struct op *op_at(const struct writer *writer, uint32_t place)
{
    return &writer->graph->ops.at[writer->ops[place]];
}

static const struct kernel *kernel_at(const struct writer *writer, uint32_t place)
{
    return module_kernel(writer->module, op_at(writer, place)->kernel);
}

/* ---------------------------------------------------------------------------- groups ---- */

/* Gives the entry the groups of all ops, before those without names that it has. */
static void add_groups(struct writer *writer)
{
    struct entry *entry = writer->entry, old = *entry;
    struct slots slots = {NULL, 0, 0};
    entry->groups.at = NULL;
    entry->args.at = NULL;
    entry->groups.count = entry->groups.capacity = 0;
    entry->args.count = entry->args.capacity = 0;
    group_namer_clear(&writer->namer);
    for (uint32_t i = 0; i < writer->count; i++) {
        const struct op *op = op_at(writer, writer->grouped[i]);
        struct group_name name = group_name_of(&writer->namer, writer->graph, op);
        slots.count = 0;
        slots_add_op(&slots, writer->module, writer->graph, op,
                     kernel_at(writer, writer->grouped[i]));
        entry_add_group(entry, name.name, name.word, NONE);
        for (uint32_t n = 0; n < slots.count; n++)
            entry_add_arg(entry, slot_arg(entry, writer->graph, slots.at[n]));
    }
    for (uint32_t g = 0; g < old.groups.count; g++) {
        entry_add_group(entry, NONE, false, old.groups.at[g].loc);
        for (uint32_t i = 0; i < old.groups.at[g].args.count; i++)
            entry_add_arg(entry, *group_arg(&old, &old.groups.at[g], i));
    }
    vec_free(&slots);
    vec_free(&old.groups);
    vec_free(&old.args);
}

/* The entry's group of this name, or NONE. */
static uint32_t find_group(const struct writer *writer, uint32_t place, uint32_t name, bool word)
{
    const struct entry *entry = writer->entry;
    uint32_t group = place < entry->groups.count && entry->groups.at[place].name == name &&
                             entry->groups.at[place].word == word
                         ? place
                         : 0; /* groups stand mostly in the order of the ops */
    while (group < entry->groups.count &&
           (entry->groups.at[group].name != name || entry->groups.at[group].word != word))
        group++;
    return group < entry->groups.count ? group : NONE;
}

/* ----------------------------------------------------------------------------- calls ---- */

static bool report_no_op(const struct writer *writer, const struct instr *call)
{
    const struct module *module = writer->module;
    struct diags *diags = writer->context->diags;
    struct suggest suggest = name_suggest(module, call->number[0]);
    if (!diag_at(diags, DIAG_unknown_group, locate_instr(module, call),
                 "super kernel '@%.*s' has no op '%s'", NAME(module, writer->block->name),
                 args_name_text(module, call->number[0], call->word, &diags->arena)))
        return false;
    suggest.before = call->word ? "" : "%";
    for (uint32_t i = 0; i < writer->names.count; i++)
        if (id_map_find(&writer->places[call->word], writer->names.at[i]) == writer->grouped[i])
            name_offer(&suggest, module, writer->names.at[i]);
    if (!diag_suggest(diags, &suggest))
        diag_help(diags, "an op is named after its last result, or its type if it has none");
    return false;
}

/* A dynamic kernel runs with as many as there are. */
static uint32_t call_blocks(const struct writer *writer, const struct kernel *kernel)
{
    uint32_t blocks = kernel_blocks(writer->module, kernel);
    uint32_t room = entry_room(writer->module, writer->entry, kernel->type);
    return kernel_is_dynamic(writer->module, kernel) && room && room < blocks ? room : blocks;
}

/* Appends the call, and the choice of its kernel where that is needed. */
static bool write_call(const struct writer *writer, struct instrs *instrs, struct instr call,
                       enum core_type core)
{
    uint32_t place = id_map_find(&writer->places[call.word], call.number[0]);
    if (place == NONE)
        return report_no_op(writer, &call);
    const struct module *module = writer->module;
    struct diags *diags = writer->context->diags;
    const struct kernel *kernel = kernel_at(writer, place);
    uint32_t group = find_group(writer, place, call.number[0], call.word);
    if (group == NONE) {
        if (diag_at(diags, DIAG_unknown_group, locate_instr(module, &call),
                    "the entry has no arguments 'args %s'",
                    args_name_text(module, call.number[0], call.word, &diags->arena)))
            diag_help(diags, "write the arguments of all ops, or of none: then they are filled in");
        return false;
    }
    if (!kernel_type_has(kernel->type, core)) {
        diag_at(diags, DIAG_wrong_core, locate_instr(module, &call),
                "the kernel of this op, '@%.*s', is %s and has no part for an %s",
                NAME(module, kernel->name), kernel_type_info(kernel->type)->name,
                core_type_name(core));
        return false;
    }
    const struct instr *last = instrs->count ? &instrs->at[instrs->count - 1] : NULL;
    call.word = 0;
    call.kernel = kernel->name;
    call.part = kernel_type_is_mixed(kernel->type) ? (uint8_t)core : CORE_TYPES;
    if (kernel_is_dynamic(writer->module, kernel) &&
        !(last && last->op == INSTR_select && last->kernel == kernel->name)) {
        struct instr select = instr_make(INSTR_select, 0);
        select.kernel = call.kernel;
        select.part = call.part;
        vec_push(instrs, select);
    }
    call.number[0] = group;
    call.number[1] = call_blocks(writer, kernel);
    vec_push(instrs, call);
    return true;
}

static bool write_program(const struct writer *writer, enum core_type core)
{
    struct program *program = &writer->entry->programs[core];
    struct instrs instrs = {NULL, 0, 0};
    bool ok = true;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        if (is_short(&program->instrs.at[i]))
            ok = write_call(writer, &instrs, program->instrs.at[i], core) && ok;
        else
            vec_push(&instrs, program->instrs.at[i]);
    }
    program_replace(program, &instrs);
    return ok;
}

static bool write_entry(struct writer *writer)
{
    bool ok = true;
    group_namer_clear(&writer->namer);
    for (uint32_t i = 0; i < writer->count; i++) {
        uint32_t place = writer->grouped[i];
        struct group_name name = group_name_of(&writer->namer, writer->graph, op_at(writer, place));
        id_map_set(&writer->places[name.word], name.name, place);
        vec_push(&writer->names, name.name);
    }
    if (entry_named_groups(writer->entry) == 0)
        add_groups(writer);
    for (int core = 0; core < CORE_TYPES; core++)
        ok = write_program(writer, (enum core_type)core) && ok;
    for (uint32_t i = 0; i < writer->names.count; i++)
        for (int word = 0; word < 2; word++)
            id_map_unset(&writer->places[word], writer->names.at[i]);
    writer->names.count = 0;
    return ok;
}

/* --------------------------------------------------------------------------- driving ---- */

static bool write_graph(struct writer *writer)
{
    struct pass_context *context = writer->context;
    bool ok = true;
    for (uint32_t b = 0; b < writer->graph->blocks.count; b++) {
        const struct block *block = &writer->graph->blocks.at[b];
        writer->block = block;
        writer->entry = block_entry(writer->module, block);
        if (!writer->entry || !find_short(writer->entry))
            continue;
        const struct members *members =
            analyses_members(context->analyses, writer->module, writer->graph);
        writer->ops = members->ops + members->first[b];
        writer->count = members->first[b + 1] - members->first[b];
        writer->grouped = members->grouped + members->first[b];
        ok = write_entry(writer) && ok;
    }
    return ok;
}

bool short_calls_write(struct pass_context *context)
{
    struct module *module = context->module;
    struct writer writer = {.context = context, .module = module, .namer = {.module = module}};
    bool ok = true;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        writer.graph = &module->graphs.at[i];
        ok = write_graph(&writer) && ok;
    }
    for (uint32_t i = 0; ok && i < module->entries.count; i++) {
        const struct entry *entry = &module->entries.at[i];
        const struct instr *left = find_short(entry);
        if (left && diag_at(context->diags, DIAG_unknown_group, locate_instr(module, left),
                            "no super kernel says which op this calls: none has the entry '@%.*s'",
                            NAME(module, entry->name)))
            diag_help(context->diags, "the whole form is 'call @KERNEL args GROUP blocks N'");
        ok = !left;
    }
    group_namer_free(&writer.namer);
    vec_free(&writer.names);
    id_map_free(&writer.places[0]);
    id_map_free(&writer.places[1]);
    return ok;
}

void undeclared_find(struct id_map *undeclared, const struct module *module)
{
    for (uint32_t e = 0; e < module->entries.count; e++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &module->entries.at[e].programs[core];
            for (uint32_t i = 0; i < program->instrs.count; i++)
                if (is_undeclared(module, &program->instrs.at[i]))
                    id_map_set(undeclared, program->instrs.at[i].kernel, 1);
        }
}

uint32_t entry_called_blocks(const struct entry *entry, uint32_t name)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr->op == INSTR_call && instr->kernel == name)
                return instr->number[1];
        }
    return 0;
}

/* --------------------------------------------------------------------------- writing ---- */

static bool report_unknown(struct pass_context *context, const struct sample_uses *uses,
                           const struct entry *entry, const struct instr *instr)
{
    const struct module *module = context->module;
    struct suggest suggest = name_suggest(module, instr->kernel);
    if (!diag_at(context->diags, DIAG_unknown_kernel, locate_instr(module, instr),
                 "the kernel '@%.*s' is not declared, and no op here runs a sample kernel of that "
                 "name",
                 NAME(module, instr->kernel)))
        return false;
    suggest.before = "@";
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->at[i].entry == entry->name)
            name_offer(&suggest, module, uses->at[i].sample);
    diag_suggest(context->diags, &suggest);
    return false;
}

/* Gives an instruction the kernel that an op of its entry got. */
static bool write_instr(struct pass_context *context, const struct sample_uses *uses,
                        const struct entry *entry, struct instr *instr)
{
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->at[i].entry == entry->name && uses->at[i].sample == instr->kernel) {
            instr->kernel = uses->at[i].kernel;
            return true;
        }
    return !is_undeclared(context->module, instr) || report_unknown(context, uses, entry, instr);
}

bool sample_calls_write(struct pass_context *context, const struct id_map *undeclared,
                        const struct sample_uses *uses)
{
    struct module *module = context->module;
    bool ok = true;
    for (uint32_t e = 0; e < module->entries.count; e++) {
        struct entry *entry = &module->entries.at[e];
        for (int core = 0; core < CORE_TYPES; core++)
            for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
                struct instr *instr = &entry->programs[core].instrs.at[i];
                if (instr->kernel != NONE && id_map_find(undeclared, instr->kernel) != NONE)
                    ok = write_instr(context, uses, entry, instr) && ok;
            }
    }
    return ok;
}
