#include "backend/host/object.h"
#include "backend/device/link.h"
#include "backend/device/symbols.h"
#include "backend/host/object_gears.h"
#include "backend/host/object_maker.h"
#include "backend/host/rows.h"
#include "ir/gears.h"
#include "ir/variants.h"

#include <assert.h>
#include <string.h>

/* As many combinations as gears make, with a few super kernels each. */
enum { MAX_LOOK_BACK = 1000 };

/* An entry whose rows stand in the object. */
struct made_entry {
    uint64_t rows[CORE_TYPES]; /* where, in constants */
    uint64_t counts[CORE_TYPES];
    uint64_t workspace;
    uint32_t copies;
    uint64_t code; /* its function */
};

struct entries_maker {
    struct object_maker base;
    struct row_tables tables;
    struct emitter emitter;
    VEC(struct made_entry) entries;
    uint64_t kernels, sites; /* the tables, in data */
    uint8_t *copies;         /* of kernels, by index; 0: not called */
    uint8_t stride;          /* the most of them */
    bool shared;             /* there are combinations of gears, whose entries may be equal */
};

/* -------------------------------------------------------------------------------- rows ---- */

static uint64_t counted(const struct emitter *emitter)
{
    return emitter->workspace_slot == NONE ? 0 : (uint64_t)emitter->workspace;
}

static void put_rows(struct entries_maker *maker, const struct entry_rows *rows)
{
    struct made_entry made = {.workspace = counted(&maker->emitter),
                              .copies = entry_copies(maker->base.module, maker->emitter.entry)};
    for (int core = 0; core < CORE_TYPES; core++) {
        made.counts[core] = rows->programs[core].count;
        made.rows[core] = object_made_put(
            maker->base.made, OBJECT_MADE_RODATA, rows->programs[core].at,
            made.counts[core] * sizeof *rows->programs[core].at, _Alignof(struct skrt_row));
    }
    vec_push(&maker->entries, made);
}

static bool put_all_rows(struct entries_maker *maker)
{
    bool ok = true;
    for (uint32_t i = 0; i < maker->base.module->entries.count; i++) {
        struct entry_rows rows;
        emitter_begin(&maker->emitter, i);
        bool made = entry_rows_make(&rows, &maker->tables, &maker->emitter);
        if (made)
            put_rows(maker, &rows);
        ok &= made;
        entry_rows_free(&rows);
        emitter_end(&maker->emitter);
    }
    return ok;
}

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
        *(struct skrt_variant *)object_maker_at(&maker->base, at) = (struct skrt_variant){
            .key = (uint64_t)variant.key, .aivs = info->flat ? 1 : info->aivs, .flat = info->flat};
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

static void put_kernels(struct entries_maker *maker)
{
    const uint64_t size = sizeof(struct skrt_row_kernel);
    maker->kernels =
        object_maker_room(&maker->base, (uint64_t)maker->tables.parts.count * maker->stride * size);
    for (uint32_t i = 0; i < maker->tables.parts.count; i++)
        for (uint32_t copy = 0; copy < maker->copies[maker->tables.parts.at[i].kernel]; copy++)
            put_copy(maker, &maker->tables.parts.at[i], copy,
                     maker->kernels + ((uint64_t)i * maker->stride + copy) * size);
}

/* ------------------------------------------------------------------------------- sites ---- */

/* The text of a call goes on behind its NUL with the op. */
static void put_site(struct entries_maker *maker, uint32_t id)
{
    struct object_maker *base = &maker->base;
    const struct intern_name *text = &maker->tables.sites.names[id];
    uint64_t at = maker->sites + id * sizeof(struct skrt_site), size = strlen(text->text) + 1;
    uint64_t where = object_maker_string(base, text->text, text->size);
    uint32_t rodata = object_made_begin(OBJECT_MADE_RODATA);
    object_maker_point(base, at + offsetof(struct skrt_site, text), rodata, where);
    if (size < text->size)
        object_maker_point(base, at + offsetof(struct skrt_site, op), rodata, where + size);
}

static void put_sites(struct entries_maker *maker)
{
    uint32_t count = maker->tables.sites.count;
    maker->sites = object_maker_room(&maker->base, count * sizeof(struct skrt_site));
    for (uint32_t i = 0; i < count; i++)
        put_site(maker, i);
}

/* ----------------------------------------------------------------------------- entries ---- */

static bool rows_equal(struct entries_maker *maker, const struct made_entry *a,
                       const struct made_entry *b)
{
    bool equal = a->workspace == b->workspace && a->copies == b->copies;
    for (int core = 0; equal && core < CORE_TYPES; core++)
        equal = a->counts[core] == b->counts[core] &&
                (a->counts[core] == 0 ||
                 memcmp(object_made_at(maker->base.made, OBJECT_MADE_RODATA, a->rows[core]),
                        object_made_at(maker->base.made, OBJECT_MADE_RODATA, b->rows[core]),
                        a->counts[core] * sizeof(struct skrt_row)) == 0);
    return equal;
}

/* An entry before this one that does the same; NULL where there is none. Only combinations of gears
 * are looked at, whose number is limited. */
static const struct made_entry *find_equal(struct entries_maker *maker, uint32_t id)
{
    uint32_t first = id > MAX_LOOK_BACK ? id - MAX_LOOK_BACK : 0;
    for (uint32_t i = first; i < id; i++)
        if (rows_equal(maker, &maker->entries.at[i], &maker->entries.at[id]))
            return &maker->entries.at[i];
    return NULL;
}

static uint64_t put_entry(struct entries_maker *maker, const struct made_entry *made)
{
    struct object_maker *base = &maker->base;
    uint64_t at = object_maker_room(base, sizeof(struct skrt_rows));
    struct skrt_rows *rows = object_maker_at(base, at);
    *rows = (struct skrt_rows){.version = SKRT_ROWS_VERSION,
                               .copies = made->copies,
                               .stride = maker->stride,
                               .workspace = made->workspace};
    for (int core = 0; core < CORE_TYPES; core++)
        rows->programs[core].n_rows = made->counts[core];
    object_maker_point(base, at + offsetof(struct skrt_rows, kernels),
                       object_made_begin(OBJECT_MADE_DATA), maker->kernels);
    object_maker_point(base, at + offsetof(struct skrt_rows, sites),
                       object_made_begin(OBJECT_MADE_DATA), maker->sites);
    for (size_t core = 0; core < CORE_TYPES; core++)
        object_maker_point(base,
                           at + offsetof(struct skrt_rows, programs) +
                               core * sizeof(struct skrt_row_program) +
                               offsetof(struct skrt_row_program, rows),
                           object_made_begin(OBJECT_MADE_RODATA), made->rows[core]);
    return object_maker_jump(base, at);
}

static void define_entry(struct entries_maker *maker, uint32_t id)
{
    const struct module *module = maker->base.module;
    const struct made_entry *equal = maker->shared ? find_equal(maker, id) : NULL;
    struct made_entry *made = &maker->entries.at[id];
    struct text name = {NULL, 0, 0};
    entry_symbol_remark(module, &module->entries.at[id], maker->emitter.diags);
    device_entry_symbol(&name, module, &module->entries.at[id]);
    text_char(&name, '\0');
    made->code = equal ? equal->code : put_entry(maker, made);
    maker->base.entries[id] = object_maker_define(&maker->base, name.at, made->code);
    text_free(&name);
}

/* -------------------------------------------------------------------------------- object ---- */

static void maker_begin(struct entries_maker *maker, const struct module *module, uint16_t machine,
                        struct diags *diags)
{
    *maker = (struct entries_maker){.emitter = {.module = module, .diags = diags},
                                    .shared = module_has_cases(module)};
    object_maker_begin(&maker->base, module, machine);
    row_tables_init(&maker->tables, module);
    maker->copies = device_kernel_copies(module);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        maker->stride = maker->copies[i] > maker->stride ? maker->copies[i] : maker->stride;
}

/* The object, where it is wanted. */
static struct object_made *maker_end(struct entries_maker *maker, bool wanted)
{
    struct object_made *made = object_maker_end(&maker->base);
    row_tables_free(&maker->tables);
    event_slots_free(&maker->emitter.events);
    vec_free(&maker->entries);
    mem_free(maker->copies);
    if (wanted)
        return made;
    object_made_free(made);
    return NULL;
}

struct object_made *host_make_object(const struct module *module, uint16_t machine,
                                     struct diags *diags)
{
    struct entries_maker maker;
    maker_begin(&maker, module, machine, diags);
    bool ok = put_all_rows(&maker);
    if (ok) {
        put_kernels(&maker);
        put_sites(&maker);
        for (uint32_t i = 0; i < module->entries.count; i++)
            define_entry(&maker, i);
        object_gears(&maker.base);
    }
    return maker_end(&maker, ok);
}
