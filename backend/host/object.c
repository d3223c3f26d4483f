#include "backend/host/object.h"
#include "backend/device/link.h"
#include "backend/device/symbols.h"
#include "backend/host/object_gears.h"
#include "backend/host/object_maker.h"
#include "backend/host/rows.h"
#include "ir/variants.h"

#include <assert.h>
#include <string.h>

struct entries_maker {
    struct object_maker base;
    const struct module_rows *rows;
    uint64_t kernels, sites; /* the tables, in data */
    uint64_t *code;          /* the functions of entries, by index */
    struct kernel_copies copies;
    uint8_t stride; /* the most that a kernel has */
};

/* ----------------------------------------------------------------------------- kernels ---- */

/* The functions of stubs do nothing. */
static uint32_t function_symbol(struct entries_maker *maker, uint32_t kernel,
                                const struct text *name)
{
    if (!kernel_is_stub(maker->base.module, &maker->base.module->kernels.at[kernel]))
        return object_made_want(maker->base.made, name->at);
    return object_maker_return(&maker->base, name->at);
}

static uint32_t copy_symbol(struct entries_maker *maker, const struct row_part *part, uint32_t copy)
{
    struct text name = {NULL, 0, 0};
    device_copy_symbol(&name, maker->base.module, part->kernel, part->core, copy);
    text_char(&name, '\0');
    uint32_t symbol = function_symbol(maker, part->kernel, &name);
    text_free(&name);
    return symbol;
}

static uint32_t variant_symbol(struct entries_maker *maker, const struct row_part *part,
                               uint32_t variant, uint32_t copy)
{
    struct text name = {NULL, 0, 0};
    device_variant_symbol(&name, maker->base.module, part->kernel, variant, part->core, copy);
    text_char(&name, '\0');
    uint32_t symbol = object_made_want(maker->base.made, name.at);
    text_free(&name);
    return symbol;
}

/* The table that a select of one copy looks in. */
static uint64_t put_variants(struct entries_maker *maker, const struct row_part *part,
                             uint32_t copy)
{
    const struct module *module = maker->base.module;
    const struct kernel *kernel = &module->kernels.at[part->kernel];
    uint32_t count = kernel_variants(module, kernel);
    uint64_t table = object_maker_room(&maker->base, count * sizeof(struct skrt_variant));
    for (uint32_t i = 0; i < count; i++) {
        struct variant variant = kernel_variant(module, kernel, i);
        const struct kernel_type_info *info = kernel_type_info(variant.type);
        uint64_t at = table + i * sizeof(struct skrt_variant);
        struct skrt_variant *row = object_maker_at(&maker->base, at);
        row->key = (uint64_t)variant.key;
        row->aivs = info->flat ? 1 : info->aivs;
        row->flat = info->flat;
        if (kernel_type_has(variant.type, part->core))
            object_maker_point(&maker->base, at + offsetof(struct skrt_variant, fn),
                               variant_symbol(maker, part, i, copy), 0);
    }
    return table;
}

static void put_copy(struct entries_maker *maker, const struct row_part *part, uint32_t copy,
                     uint64_t at)
{
    const struct module *module = maker->base.module;
    const struct kernel *kernel = &module->kernels.at[part->kernel];
    if (!kernel_is_dynamic(module, kernel)) {
        object_maker_point(&maker->base, at + offsetof(struct skrt_row_kernel, fn),
                           copy_symbol(maker, part, copy), 0);
        return;
    }
    uint64_t variants = put_variants(maker, part, copy);
    struct skrt_row_kernel *row = object_maker_at(&maker->base, at);
    row->n_variants = kernel_variants(module, kernel);
    object_maker_point(&maker->base, at + offsetof(struct skrt_row_kernel, variants),
                       object_made_begin(OBJECT_MADE_DATA), variants);
}

/* All that entries choose from, from `at` on. */
static void put_copies(struct entries_maker *maker, const struct row_part *part, uint64_t at)
{
    uint32_t made = maker->copies.made[part->kernel];
    for (uint32_t copy = 0; copy < maker->copies.chosen[part->kernel]; copy++)
        put_copy(maker, part, copy % made, at + copy * sizeof(struct skrt_row_kernel));
}

static void put_kernels(struct entries_maker *maker)
{
    const uint64_t size = sizeof(struct skrt_row_kernel);
    maker->kernels = object_maker_room(&maker->base, (uint64_t)maker->rows->tables.parts.count *
                                                         maker->stride * size);
    for (uint32_t i = 0; i < maker->rows->tables.parts.count; i++)
        put_copies(maker, &maker->rows->tables.parts.at[i],
                   maker->kernels + (uint64_t)i * maker->stride * size);
}

/* ------------------------------------------------------------------------------- sites ---- */

/* The text of a call goes on behind its NUL with the op. */
static void put_site(struct entries_maker *maker, uint32_t id)
{
    struct object_maker *base = &maker->base;
    const struct intern_name *text = &maker->rows->tables.sites.names[id];
    uint64_t at = maker->sites + id * sizeof(struct skrt_site), size = strlen(text->text) + 1;
    uint64_t where = object_maker_string(base, text->text, text->size);
    uint32_t rodata = object_made_begin(OBJECT_MADE_RODATA);
    object_maker_point(base, at + offsetof(struct skrt_site, text), rodata, where);
    if (size < text->size)
        object_maker_point(base, at + offsetof(struct skrt_site, op), rodata, where + size);
}

static void put_sites(struct entries_maker *maker)
{
    uint32_t count = maker->rows->tables.sites.count;
    maker->sites = object_maker_room(&maker->base, count * sizeof(struct skrt_site));
    for (uint32_t i = 0; i < count; i++)
        put_site(maker, i);
}

/* ----------------------------------------------------------------------------- entries ---- */

static uint64_t put_program(struct entries_maker *maker, const struct entry_rows *rows, int core)
{
    return object_made_put(maker->base.made, OBJECT_MADE_RODATA, rows->programs[core].at,
                           rows->programs[core].count * sizeof *rows->programs[core].at,
                           _Alignof(struct skrt_row));
}

/* The function of an entry. */
static uint64_t put_entry(struct entries_maker *maker, const struct entry_rows *made)
{
    struct object_maker *base = &maker->base;
    uint64_t at = object_maker_room(base, sizeof(struct skrt_rows));
    struct skrt_rows *rows = object_maker_at(base, at);
    *rows = (struct skrt_rows){.version = SKRT_ROWS_VERSION,
                               .copies = made->copies,
                               .stride = maker->stride,
                               .workspace = made->workspace};
    for (int core = 0; core < CORE_TYPES; core++)
        rows->programs[core].n_rows = made->programs[core].count;
    object_maker_point(base, at + offsetof(struct skrt_rows, kernels),
                       object_made_begin(OBJECT_MADE_DATA), maker->kernels);
    object_maker_point(base, at + offsetof(struct skrt_rows, sites),
                       object_made_begin(OBJECT_MADE_DATA), maker->sites);
    for (int core = 0; core < CORE_TYPES; core++)
        object_maker_point(base,
                           at + offsetof(struct skrt_rows, programs) +
                               (size_t)core * sizeof(struct skrt_row_program) +
                               offsetof(struct skrt_row_program, rows),
                           object_made_begin(OBJECT_MADE_RODATA), put_program(maker, made, core));
    return object_maker_jump(base, at);
}

static void define_entry(struct entries_maker *maker, uint32_t id)
{
    const struct module *module = maker->base.module;
    uint32_t equal = maker->rows->equal[id];
    struct text name = {NULL, 0, 0};
    device_entry_symbol(&name, module, &module->entries.at[id]);
    text_char(&name, '\0');
    maker->code[id] = equal < id ? maker->code[equal] : put_entry(maker, &maker->rows->entries[id]);
    maker->base.entries[id] = object_maker_define(&maker->base, name.at, maker->code[id]);
    text_free(&name);
}

/* -------------------------------------------------------------------------------- object ---- */

static void put_all(struct entries_maker *maker)
{
    put_kernels(maker);
    put_sites(maker);
    for (uint32_t i = 0; i < maker->rows->count; i++)
        define_entry(maker, i);
    object_gears(&maker->base);
}

static struct object_made *make_object(const struct module_rows *rows, const struct module *module,
                                       uint16_t machine)
{
    struct entries_maker maker = {.rows = rows,
                                  .code = mem_calloc(rows->count, sizeof *maker.code),
                                  .copies = device_kernel_copies(module)};
    object_maker_begin(&maker.base, module, machine);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        maker.stride =
            maker.copies.chosen[i] > maker.stride ? maker.copies.chosen[i] : maker.stride;
    put_all(&maker);
    kernel_copies_free(&maker.copies);
    mem_free(maker.code);
    return object_maker_end(&maker.base);
}

struct object_made *host_make_object(const struct module *module, uint16_t machine,
                                     struct diags *diags)
{
    struct module_rows rows;
    struct object_made *made = NULL;
    if (module_rows_make(&rows, module, diags))
        made = make_object(&rows, module, machine);
    module_rows_free(&rows);
    return made;
}
