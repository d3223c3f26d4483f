#include "backend/device/link.h"
#include "backend/device/code.h"
#include "backend/device/symbols.h"
#include "backend/library/kernel_link.h"

enum { ENTRY_GROUP = 0 }; /* of the link; then come those of kernels */

/* The name of a part in links for this machine; `user` is the module. */
static void add_symbol(const void *user, struct text *text, const struct kernel *kernel,
                       struct kernel_part part, uint32_t copy)
{
    const struct module *module = user;
    uint32_t id = kernel_id(module, kernel);
    if (kernel_is_dynamic(module, kernel))
        device_variant_symbol(text, module, id, part.variant, part.core, copy);
    else
        device_copy_symbol(text, module, id, part.core, copy);
}

/* Without an output the link is only tried. */
static void begin_link(struct kernel_link *linker, const struct module *module,
                       const struct backend_places *places, struct device_output *output,
                       struct diags *diags)
{
    const struct kernel_names names = {.symbol = add_symbol, .user = module};
    kernel_link_begin(linker, module, places, &names, ENTRY_GROUP + 1, output ? output->path : NULL,
                      diags);
    linker->bytes = output ? &output->bytes : NULL;
    linker->size = output ? &output->size : NULL;
}

/* What messages call the entries. */
static const char caller[] = "the code that calls it";

/* Adds nothing but the machine that kernels' objects have to be for; freed behind the link. */
static struct object_made *add_caller(struct object_link *link)
{
    uint16_t machine = object_this_machine();
    struct object_made *made = machine ? object_made_new(machine) : NULL;
    if (made)
        object_link_add_made(link, ENTRY_GROUP, caller, made);
    return made;
}

enum backend_status device_link_kernels(const struct module *module,
                                        const struct backend_places *places, const uint8_t *used,
                                        struct device_output *output, struct diags *diags)
{
    struct kernel_link linker;
    begin_link(&linker, module, places, output, diags);
    linker.keep = true;
    struct object_made *made = add_caller(linker.link);
    enum backend_status status = kernel_link_finish(&linker, kernel_link_add(&linker, used));
    object_made_free(made);
    return status;
}

/* ------------------------------------------------------------------------- entries ---- */

/* How many of the cores of a type a call may run on, which are the first of them. */
static uint32_t reached_cores(const struct module *module, const struct kernel *kernel,
                              const struct instr *instr, int core)
{
    enum { MOST_AIVS = 2 }; /* of an AI core */
    const struct kernel_type_info *info = kernel_type_info(kernel->type);
    uint64_t blocks = (uint64_t)instr->number[1];
    uint64_t cores = core == CORE_AIV && !info->flat ? MOST_AIVS * blocks : blocks;
    bool all = instr->op != INSTR_call || kernel_is_dynamic(module, kernel);
    return all || cores > UINT8_MAX ? UINT8_MAX : (uint32_t)cores;
}

/* Copies that are there without cost, or are told apart by more than their code. */
static bool has_all_copies(const struct module *module, const struct kernel *kernel)
{
    return kernel_is_stub(module, kernel) || attr_find(module, kernel->attrs, W_split);
}

static void count_copies(const struct module *module, const struct entry *entry, int core,
                         struct kernel_copies *copies)
{
    const struct program *program = &entry->programs[core];
    uint8_t wanted = (uint8_t)attr_int(module, entry->attrs, W_split, 1);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op != INSTR_call && instr->op != INSTR_select)
            continue;
        const struct kernel *kernel = module_kernel(module, instr->kernel);
        uint32_t id = kernel_id(module, kernel);
        uint32_t reached =
            has_all_copies(module, kernel) ? wanted : reached_cores(module, kernel, instr, core);
        uint8_t made = reached < wanted ? (uint8_t)reached : wanted;
        copies->chosen[id] = wanted > copies->chosen[id] ? wanted : copies->chosen[id];
        copies->made[id] = made > copies->made[id] ? made : copies->made[id];
    }
}

struct kernel_copies device_kernel_copies(const struct module *module)
{
    struct kernel_copies copies = {mem_calloc(module->kernels.count, 1),
                                   mem_calloc(module->kernels.count, 1)};
    for (uint32_t e = 0; e < module->entries.count; e++)
        for (int core = 0; core < CORE_TYPES; core++)
            count_copies(module, &module->entries.at[e], core, &copies);
    return copies;
}

void kernel_copies_free(struct kernel_copies *copies)
{
    mem_free(copies->chosen);
    mem_free(copies->made);
}

/* Adds one of each kernel that no entry calls, but an op outside of super kernels; and forgets the
 * others, unless they are wanted, too. */
static void add_launched(const struct module *module, uint8_t *copies, bool called)
{
    uint8_t *launched = mem_calloc(module->kernels.count, 1);
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            const struct op *op = &graph->ops.at[i];
            if (op->kernel != NONE && graph_superkernel(graph, op->block) == NONE)
                launched[kernel_id(module, module_kernel(module, op->kernel))] = 1;
        }
    }
    for (uint32_t i = 0; i < module->kernels.count; i++)
        copies[i] = copies[i] ? (called ? copies[i] : 0) : launched[i];
    mem_free(launched);
}

static void keep_entries(struct object_link *link, const struct module *module, const char *prefix)
{
    for (uint32_t i = 0; i < module->entries.count; i++) {
        struct text symbol = {NULL, 0, 0}, own = {NULL, 0, 0};
        device_entry_symbol(&symbol, module, &module->entries.at[i]);
        text_char(&symbol, '\0');
        if (prefix)
            text_printf(&own, "%s%u", prefix, i);
        text_char(&own, '\0');
        object_link_export(link, ENTRY_GROUP, prefix ? own.at : symbol.at, symbol.at);
        object_link_keep(link, symbol.at);
        text_free(&symbol);
        text_free(&own);
    }
}

/* The tables of graphs with gears. */
static void keep_gears(struct object_link *link, const struct module *module)
{
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        struct text symbol = {NULL, 0, 0};
        if (module->graphs.at[i].cases.count == 0)
            continue;
        device_gears_symbol(&symbol, module, i);
        text_char(&symbol, '\0');
        object_link_export(link, ENTRY_GROUP, symbol.at, symbol.at);
        object_link_keep(link, symbol.at);
        text_free(&symbol);
    }
}

static bool add_entries(struct object_link *link, const struct device_entries *entries,
                        struct diags *diags)
{
    bool ok = true;
    if (entries->made)
        ok = object_link_add_made(link, ENTRY_GROUP, caller, entries->made);
    for (size_t i = 0; ok && i < sizeof entries->files / sizeof entries->files[0]; i++)
        if (entries->files[i])
            ok = object_link_add_file(link, ENTRY_GROUP, entries->files[i]);
    if (!ok)
        diag_at(diags, DIAG_link, no_span, "%s", object_link_error(link));
    return ok;
}

/* What loads the code has the runtime, which this process may lack. */
static bool is_provided(const char *name)
{
    return strncmp(name, "skrt_", 5) == 0 || device_code_provided(name) != NULL;
}

enum backend_status device_link_entries(const struct module *module,
                                        const struct backend_places *places,
                                        const struct device_entries *entries,
                                        struct device_output *output, struct diags *diags)
{
    struct kernel_link linker;
    begin_link(&linker, module, places, output, diags);
    linker.provided = output->path ? is_provided : NULL; /* else it is told when it is loaded */
    struct kernel_copies copies = device_kernel_copies(module);
    bool ok = add_entries(linker.link, entries, diags);
    keep_entries(linker.link, module, entries->prefix);
    if (!entries->prefix)
        keep_gears(linker.link, module);
    ok = ok && kernel_link_add(&linker, copies.made);
    kernel_copies_free(&copies);
    return kernel_link_finish(&linker, ok);
}

enum backend_status device_link_check(const struct module *module,
                                      const struct backend_places *places, bool called,
                                      struct diags *diags)
{
    struct kernel_link linker;
    begin_link(&linker, module, places, NULL, diags);
    linker.provided = is_provided;
    struct object_made *made = add_caller(linker.link);
    struct kernel_copies copies = device_kernel_copies(module);
    add_launched(module, copies.made, called);
    bool ok = kernel_link_add(&linker, copies.made);
    kernel_copies_free(&copies);
    enum backend_status status = kernel_link_finish(&linker, ok);
    object_made_free(made);
    return status;
}
