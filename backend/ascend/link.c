#include "backend/ascend/link.h"
#include "backend/ascend/symbols.h"
#include "backend/device/link.h"
#include "backend/library/kernel_link.h"

/* Groups of the link; kernels' come behind them. Parts of entries are apart, as inline functions of
 * one name are other code for the other core type. */
enum { FIRST_KERNEL_GROUP = CORE_TYPES };

/* The order of a link: entry and cube parts, then vector parts, dynamic kernels last. */
enum { RANK_ENTRY, RANK_CUBE, RANK_VECTOR_ENTRY, RANK_VECTOR, RANK_DYNAMIC };

/* ---------------------------------------------------------------------------- kernels ---- */

static void add_symbol(const void *user, struct text *text, const struct kernel *kernel,
                       struct kernel_part part, uint32_t copy)
{
    symbols_add_function(user, text, kernel, part.function, copy);
}

static uint32_t owner_of(const void *user, const struct kernel *kernel)
{
    return symbols_owner(user, kernel);
}

/* Places the input that has a function, with all copies of it that the object brings itself. */
static void place_function(struct kernel_link *linker, const struct kernel *kernel,
                           enum core_type core, uint32_t copies, unsigned rank)
{
    const struct module *module = linker->module;
    uint32_t function = kernel_function(module, kernel, core);
    bool own = attr_find(module, kernel->attrs, W_split);
    for (uint32_t copy = 0; copy < (own ? copies : 1); copy++) {
        struct text name = {NULL, 0, 0};
        kernel_copy_function(&name, module, kernel, function, copy);
        text_char(&name, '\0');
        object_link_place(linker->link, kernel_link_group(linker, kernel), name.at, rank);
        text_free(&name);
    }
}

/* An input that has both parts stands with the cube parts. */
static void place_kernel(struct kernel_link *linker, const struct kernel *kernel, uint32_t copies)
{
    bool cube = kernel_type_has(kernel->type, CORE_AIC);
    unsigned rank = kernel_is_dynamic(linker->module, kernel) ? RANK_DYNAMIC
                    : cube                                    ? RANK_CUBE
                                                              : RANK_VECTOR;
    if (kernel_is_stub(linker->module, kernel))
        return;
    object_link_place(linker->link, kernel_link_group(linker, kernel), NULL, rank);
    if (rank == RANK_CUBE && kernel_type_has(kernel->type, CORE_AIV)) {
        place_function(linker, kernel, CORE_AIV, copies, RANK_VECTOR);
        place_function(linker, kernel, CORE_AIC, copies, RANK_CUBE);
    }
}

static void place_kernels(struct kernel_link *linker, const uint8_t *copies)
{
    for (uint32_t i = 0; i < linker->module->kernels.count; i++)
        if (copies[i])
            place_kernel(linker, &linker->module->kernels.at[i], copies[i]);
}

/* ----------------------------------------------------------------------------- entries ---- */

static void keep_part(struct object_link *link, const struct module *module,
                      const struct entry *entry, enum core_type core)
{
    struct text symbol = {NULL, 0, 0};
    entry_part_symbol(&symbol, module, entry, core);
    text_char(&symbol, '\0');
    object_link_export(link, core, symbol.at, symbol.at);
    object_link_keep(link, symbol.at);
    text_free(&symbol);
}

static void add_entries(struct kernel_link *linker, const char *const objects[CORE_TYPES])
{
    const struct module *module = linker->module;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!objects[core])
            continue;
        object_link_add_file(linker->link, (unsigned)core, objects[core]);
        object_link_place(linker->link, (unsigned)core, NULL,
                          core == CORE_AIV && objects[CORE_AIC] ? RANK_VECTOR_ENTRY : RANK_ENTRY);
        object_link_share(linker->link, (unsigned)core);
    }
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            if (kernel_type_has(module->entries.at[i].type, (enum core_type)core))
                keep_part(linker->link, module, &module->entries.at[i], (enum core_type)core);
}

/* Of the entries' objects; NULL: of the kernels alone. */
static enum backend_status link_objects(const struct emission_job *job, const char *const *objects,
                                        const char *output)
{
    struct kernel_link linker;
    struct symbols symbols;
    symbols_init(&symbols, job->module);
    const struct kernel_names names = {add_symbol, owner_of, &symbols};
    kernel_link_begin(&linker, job->module, job->places, &names, FIRST_KERNEL_GROUP, output,
                      job->diags);
    linker.replaced = known_file_of(job->output);
    /* Cores choose by the numbers that they have on the device, whatever the launch: any copy. */
    struct kernel_copies copies = device_kernel_copies(job->module);
    if (objects)
        add_entries(&linker, objects);
    bool ok = kernel_link_add(&linker, copies.chosen);
    if (ok)
        place_kernels(&linker, copies.chosen);
    enum backend_status status = kernel_link_finish(&linker, ok);
    kernel_copies_free(&copies);
    symbols_free(&symbols);
    return status;
}

enum backend_status link_entries(const struct emission_job *job,
                                 const char *const objects[CORE_TYPES], const char *output)
{
    return link_objects(job, objects, output);
}

enum backend_status link_check(const struct emission_job *job)
{
    return link_objects(job, NULL, NULL);
}
