/* The host target: entries as rows of data in an object, with the kernels that they call. */
#include "backend/host/host.h"

#include <assert.h>
#include <elf.h>
#include <string.h>

#include "backend/device/gears_table.h"
#include "backend/device/ops.h"
#include "backend/device/run.h"
#include "backend/host/emit.h"
#include "backend/host/rows.h"
#include "ir/core/kernel.h"

struct object_maker {
    struct object_made *made;
    const struct module *module;
    const struct machine *machine;
    uint32_t run;      /* the symbol of skrt_run_rows */
    uint64_t nothing;  /* a function that returns, in code */
    uint32_t *entries; /* their symbols, by index, once they are defined */
};

/* There is no function that returns yet. */
static const uint64_t NO_CODE = UINT64_MAX;

/* What is different between machines: the code of an entry, which passes its first parameter on and
 * the address of its rows as the second; that of a function which returns; and how addresses are
 * relocated. */
struct machine {
    uint16_t elf;
    uint32_t address; /* the relocation of 64 bits */
    uint8_t jump[12], nothing[4];
    uint8_t nothing_size;
    struct jump_relocation {
        uint32_t type; /* 0: none */
        bool rows;     /* to the rows, or to skrt_run_rows */
        uint8_t offset;
        int8_t addend;
    } relocations[3];
};

static const struct machine machines[] = {
    /* lea rows(%rip), %rsi; jmp skrt_run_rows; and ret */
    {.elf = EM_X86_64,
     .address = R_X86_64_64,
     .jump = {0x48, 0x8d, 0x35, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0},
     .nothing = {0xc3},
     .nothing_size = 1,
     .relocations = {{R_X86_64_PC32, true, 3, -4}, {R_X86_64_PLT32, false, 8, -4}}},
    /* adrp x1, rows; add x1, x1, :lo12:rows; b skrt_run_rows; and ret */
    {.elf = EM_AARCH64,
     .address = R_AARCH64_ABS64,
     .jump = {0x01, 0, 0, 0x90, 0x21, 0, 0, 0x91, 0, 0, 0, 0x14},
     .nothing = {0xc0, 0x03, 0x5f, 0xd6},
     .nothing_size = 4,
     .relocations = {{R_AARCH64_ADR_PREL_PG_HI21, true, 0, 0},
                     {R_AARCH64_ADD_ABS_LO12_NC, true, 4, 0},
                     {R_AARCH64_JUMP26, false, 8, 0}}},
};

static const struct machine *find_machine(uint16_t elf)
{
    const struct machine *machine = machines;
    while (machine->elf != elf)
        machine++;
    assert(machine < machines + sizeof machines / sizeof machines[0]);
    return machine;
}

/* For a machine (EM_...) that there are objects for. */
static void object_maker_begin(struct object_maker *maker, const struct module *module,
                               uint16_t machine)
{
    *maker = (struct object_maker){.made = object_made_new(machine),
                                   .module = module,
                                   .machine = find_machine(machine),
                                   .nothing = NO_CODE};
    maker->entries = mem_calloc(module->entries.count, sizeof *maker->entries);
    maker->run = object_made_want(maker->made, "skrt_run_rows");
}

static struct object_made *object_maker_end(struct object_maker *maker)
{
    mem_free(maker->entries);
    return maker->made;
}

/* -------------------------------------------------------------------------------- data ---- */

static uint64_t object_maker_room(struct object_maker *maker, uint64_t size)
{
    return object_made_put(maker->made, OBJECT_MADE_DATA, NULL, size, sizeof(uint64_t));
}

static void *object_maker_at(struct object_maker *maker, uint64_t offset)
{
    return object_made_at(maker->made, OBJECT_MADE_DATA, offset);
}

static uint64_t object_maker_string(struct object_maker *maker, const char *text, size_t size)
{
    uint64_t offset = object_made_put(maker->made, OBJECT_MADE_RODATA, text, size, 1);
    object_made_put(maker->made, OBJECT_MADE_RODATA, "", 1, 1);
    return offset;
}

static void object_maker_point(struct object_maker *maker, uint64_t offset, uint32_t symbol,
                               uint64_t behind)
{
    object_made_relocate(maker->made, OBJECT_MADE_DATA,
                         (struct object_made_relocation){.offset = offset,
                                                         .type = maker->machine->address,
                                                         .symbol = symbol,
                                                         .addend = (int64_t)behind});
}

/* -------------------------------------------------------------------------------- code ---- */

enum { CODE_ALIGN = 16 };

/* A function that runs the rows of an entry, a struct skrt_rows in data: its place in code. */
static uint64_t object_maker_jump(struct object_maker *maker, uint64_t rows)
{
    const struct machine *machine = maker->machine;
    uint64_t code = object_made_put(maker->made, OBJECT_MADE_TEXT, machine->jump,
                                    sizeof machine->jump, CODE_ALIGN);
    for (size_t i = 0; i < sizeof machine->relocations / sizeof machine->relocations[0]; i++) {
        struct jump_relocation from = machine->relocations[i];
        if (from.type == 0)
            continue;
        object_made_relocate(
            maker->made, OBJECT_MADE_TEXT,
            (struct object_made_relocation){
                .offset = code + from.offset,
                .type = from.type,
                .symbol = from.rows ? object_made_begin(OBJECT_MADE_DATA) : maker->run,
                .addend = from.addend + (from.rows ? (int64_t)rows : 0)});
    }
    return code;
}

static uint32_t object_maker_define(struct object_maker *maker, const char *name, uint64_t code)
{
    return object_made_define(maker->made, name, OBJECT_MADE_TEXT, code,
                              sizeof maker->machine->jump);
}

static uint32_t object_maker_return(struct object_maker *maker, const char *name)
{
    const struct machine *machine = maker->machine;
    if (maker->nothing == NO_CODE)
        maker->nothing = object_made_put(maker->made, OBJECT_MADE_TEXT, machine->nothing,
                                         machine->nothing_size, CODE_ALIGN);
    return object_made_define(maker->made, name, OBJECT_MADE_TEXT, maker->nothing,
                              machine->nothing_size);
}

/* Where the parts of a table stand in data. */
struct gears_places {
    uint64_t shapes, dims, launches, cases, slots;
};

/* What an object has between members is 0, so that objects of one module are equal: members are
 * written by themselves. */
static void put_launch_row(struct skrt_gear_launch *to, const struct skrt_gear_launch *row)
{
    to->blocks = row->blocks;
    to->aics = row->aics;
    to->aivs = row->aivs;
    to->n_params = row->n_params;
    to->workspace = row->workspace;
}

static void put_case_row(struct skrt_gear_case *to, const struct skrt_gear_case *row)
{
    to->elements = row->elements;
    to->n_launches = row->n_launches;
}

static void put_table_row(struct skrt_gears *to, const struct skrt_gears *row)
{
    to->n_dims = row->n_dims;
    to->n_cases = row->n_cases;
    to->seed = row->seed;
    to->shift = row->shift;
}

static void point_to_data(struct object_maker *maker, uint64_t at, uint64_t target)
{
    object_maker_point(maker, at, object_made_begin(OBJECT_MADE_DATA), target);
}

static void point_to_name(struct object_maker *maker, uint64_t at, uint32_t id)
{
    const struct intern_name *name = &maker->module->names.names[id];
    object_maker_point(maker, at, object_made_begin(OBJECT_MADE_RODATA),
                       object_maker_string(maker, name->text, name->size));
}

static uint64_t put_bytes(struct object_maker *maker, const void *bytes, uint64_t size)
{
    uint64_t at = object_maker_room(maker, size);
    if (size)
        memcpy(object_maker_at(maker, at), bytes, size);
    return at;
}

static uint64_t put_dims(struct object_maker *maker, const struct gears_table *table)
{
    const uint64_t size = sizeof(struct skrt_gear_dim);
    uint64_t first = object_maker_room(maker, table->row.n_dims * size);
    for (uint32_t i = 0; i < table->row.n_dims; i++) {
        struct gear_shape_dim dim = table->shapes.dims.at[i];
        uint64_t at = first + i * size;
        *(struct skrt_gear_dim *)object_maker_at(maker, at) =
            (struct skrt_gear_dim){.param = dim.param, .dim = dim.dim};
        point_to_name(maker, at + offsetof(struct skrt_gear_dim, name),
                      gears_table_param(table, dim));
    }
    return first;
}

static uint64_t put_launches(struct object_maker *maker, const struct gears_table *table)
{
    const uint64_t size = sizeof(struct skrt_gear_launch);
    uint64_t first = object_maker_room(maker, table->launches.count * size);
    for (uint32_t i = 0; i < table->launches.count; i++) {
        const struct gears_launch *launch = &table->launches.at[i];
        uint64_t at = first + i * size;
        put_launch_row(object_maker_at(maker, at), &launch->row);
        point_to_name(maker, at + offsetof(struct skrt_gear_launch, name), launch->name);
        object_maker_point(maker, at + offsetof(struct skrt_gear_launch, entry),
                           maker->entries[launch->entry], 0);
    }
    return first;
}

static uint64_t put_cases(struct object_maker *maker, const struct gears_table *table,
                          const struct gears_places *places)
{
    const uint64_t size = sizeof(struct skrt_gear_case), count = table->row.n_cases;
    uint64_t first = object_maker_room(maker, count * size);
    for (uint64_t i = 0; i < count; i++) {
        const struct gears_case *row = &table->cases[i];
        uint64_t at = first + i * size;
        put_case_row(object_maker_at(maker, at), &row->row);
        point_to_data(maker, at + offsetof(struct skrt_gear_case, shape),
                      places->shapes + i * table->row.n_dims * sizeof(int64_t));
        point_to_name(maker, at + offsetof(struct skrt_gear_case, graph), row->name);
        point_to_data(maker, at + offsetof(struct skrt_gear_case, launches),
                      places->launches + row->launches.first * sizeof(struct skrt_gear_launch));
    }
    return first;
}

static void put_table(struct object_maker *maker, const struct gears_table *table)
{
    struct gears_places places;
    uint64_t size = (uint64_t)table->row.n_cases * table->row.n_dims * sizeof(int64_t);
    places.shapes = put_bytes(maker, table->shapes.values, size);
    places.dims = put_dims(maker, table);
    places.launches = put_launches(maker, table);
    places.cases = put_cases(maker, table, &places);
    places.slots = put_bytes(maker, table->slots, table->n_slots);
    uint64_t at = object_maker_room(maker, sizeof table->row);
    put_table_row(object_maker_at(maker, at), &table->row);
    point_to_name(maker, at + offsetof(struct skrt_gears, graph), table->graph->name);
    point_to_data(maker, at + offsetof(struct skrt_gears, dims), places.dims);
    point_to_data(maker, at + offsetof(struct skrt_gears, cases), places.cases);
    point_to_data(maker, at + offsetof(struct skrt_gears, slots), places.slots);
    struct text symbol = {NULL, 0, 0};
    device_gears_symbol(&symbol, maker->module, graph_id(maker->module, table->graph));
    text_char(&symbol, '\0');
    object_made_define(maker->made, symbol.at, OBJECT_MADE_DATA, at, sizeof table->row);
    text_free(&symbol);
}

/* Puts the table of each graph that has rows under its symbol (device_gears_symbol). The entries
 * are defined. */
static void object_gears(struct object_maker *maker)
{
    for (uint32_t i = 0; i < maker->module->graphs.count; i++) {
        struct gears_table table;
        if (maker->module->graphs.at[i].cases.count == 0)
            continue;
        gears_table_make(&table, maker->module, &maker->module->graphs.at[i]);
        put_table(maker, &table);
        gears_table_free(&table);
    }
}

struct entries_maker {
    struct object_maker base;
    const struct module_rows *rows;
    uint64_t kernels, sites; /* the tables, in data */
    uint64_t *code;          /* the functions of entries, by index */
    struct kernel_copies copies;
    uint8_t stride; /* the most that a kernel has */
};

/* ----------------------------------------------------------------------------- kernels ---- */

/* The function of a part, of a variant of it where the kernel is dynamic. Those of stubs do
 * nothing. */
static uint32_t part_symbol(struct entries_maker *maker, const struct row_part *part,
                            uint32_t variant, uint32_t copy)
{
    const struct module *module = maker->base.module;
    struct text name = {NULL, 0, 0};
    if (variant != NONE)
        device_variant_symbol(&name, module, part->kernel, variant, part->core, copy);
    else
        device_copy_symbol(&name, module, part->kernel, part->core, copy);
    text_char(&name, '\0');
    bool stub = variant == NONE && kernel_is_stub(module, &module->kernels.at[part->kernel]);
    uint32_t symbol = stub ? object_maker_return(&maker->base, name.at)
                           : object_made_want(maker->base.made, name.at);
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
                               part_symbol(maker, part, i, copy), 0);
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
                           part_symbol(maker, part, NONE, copy), 0);
        return;
    }
    uint64_t variants = put_variants(maker, part, copy);
    struct skrt_row_kernel *row = object_maker_at(&maker->base, at);
    row->n_variants = kernel_variants(module, kernel);
    object_maker_point(&maker->base, at + offsetof(struct skrt_row_kernel, variants),
                       object_made_begin(OBJECT_MADE_DATA), variants);
}

/* For each part, all copies that entries choose from. */
static void put_kernels(struct entries_maker *maker)
{
    const uint64_t size = sizeof(struct skrt_row_kernel);
    uint64_t count = maker->rows->tables.parts.count;
    maker->kernels = object_maker_room(&maker->base, count * maker->stride * size);
    for (uint64_t i = 0; i < count; i++) {
        const struct row_part *part = &maker->rows->tables.parts.at[i];
        uint32_t made = maker->copies.made[part->kernel];
        for (uint32_t copy = 0; copy < maker->copies.chosen[part->kernel]; copy++)
            put_copy(maker, part, copy % made, maker->kernels + (i * maker->stride + copy) * size);
    }
}

/* ------------------------------------------------------------------------------- sites ---- */

/* The text of a call goes on after its NUL with the op. */
static void put_sites(struct entries_maker *maker)
{
    struct object_maker *base = &maker->base;
    uint32_t count = maker->rows->tables.sites.count;
    uint32_t rodata = object_made_begin(OBJECT_MADE_RODATA);
    maker->sites = object_maker_room(base, count * sizeof(struct skrt_site));
    for (uint32_t i = 0; i < count; i++) {
        const struct intern_name *text = &maker->rows->tables.sites.names[i];
        uint64_t at = maker->sites + i * sizeof(struct skrt_site), size = strlen(text->text) + 1;
        uint64_t where = object_maker_string(base, text->text, text->size);
        object_maker_point(base, at + offsetof(struct skrt_site, text), rodata, where);
        if (size < text->size)
            object_maker_point(base, at + offsetof(struct skrt_site, op), rodata, where + size);
    }
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

/* Makes the object of the module's entries and of its tables of gears: each entry is a function
 * that jumps to skrt_run_rows with its rows, each stub one that returns. It wants the functions of
 * kernels under their symbols (backend/device/link.h). NULL, with diagnostics, where
 * module_rows_make refuses an entry. To be freed by object_made_free. */
static struct object_made *host_make_object(const struct module *module, uint16_t machine,
                                            struct diags *diags)
{
    struct module_rows rows;
    struct object_made *made = NULL;
    if (module_rows_make(&rows, module, diags))
        made = make_object(&rows, module, machine);
    module_rows_free(&rows);
    return made;
}

enum backend_status host_compile_source(const struct module *module,
                                        const struct backend_places *places,
                                        struct device_output *output, struct diags *diags)
{
    struct text source = {NULL, 0, 0};
    struct arena scratch = {NULL, 0};
    struct tool_folder folder;
    enum backend_status status = BACKEND_INPUT;
    if (host_emit(&source, module, diags) && device_make_folder(&folder, diags)) {
        const char *path = arena_printf(&scratch, "%s/entry.c", folder.path);
        const struct device_entries entries = {
            .files = {arena_printf(&scratch, "%s/entry.o", folder.path)}};
        status = device_compile(&source, path, places, entries.files[0], diags);
        if (status == BACKEND_OK)
            status = device_link_entries(module, places, &entries, output, diags);
        tool_folder_remove(&folder);
    }
    text_free(&source);
    arena_free(&scratch);
    return status;
}

enum backend_status host_compile(const struct module *module, const struct backend_places *places,
                                 struct device_output *output, struct diags *diags)
{
    if (object_this_machine() == EM_NONE)
        return host_compile_source(module, places, output, diags);
    const struct device_entries entries = {
        .made = host_make_object(module, object_this_machine(), diags)};
    if (!entries.made)
        return BACKEND_INPUT;
    enum backend_status status = device_link_entries(module, places, &entries, output, diags);
    object_made_free(entries.made);
    return status;
}

/* ------------------------------------------------------ what rows of backends.def name ---- */

static const struct device_target target = {.compile = host_compile};

static struct backend_run *open_run(const struct run_options *options, enum backend_status *status)
{
    return device_run_open(options, &target, status);
}

static const struct backend_runner runner = {
    .value_size = device_value_size,
    .open = open_run,
    .execute = device_run_execute,
    .damage = device_run_damage,
    .spoil = device_run_spoil,
    .place = device_run_place,
    .unload = device_run_unload,
    .close = device_run_close,
};

static enum backend_status check(const struct emission_job *job)
{
    struct module_rows rows;
    bool ok = module_rows_make(&rows, job->module, job->diags);
    module_rows_free(&rows);
    return ok ? device_link_check(job->module, job->places, true, job->diags) : BACKEND_INPUT;
}

const struct backend_functions host_functions = {
    .check_op = device_op_check, .check = check, .runner = &runner};

enum backend_status host_emit_object(const struct emission_job *job)
{
    enum backend_status status = device_link_check(job->module, job->places, false, job->diags);
    struct device_output output = {.path = job->output};
    return status == BACKEND_OK ? host_compile(job->module, job->places, &output, job->diags)
                                : status;
}

enum backend_status host_emit_source(const struct emission_job *job)
{
    return host_emit(job->text, job->module, job->diags) ? BACKEND_OK : BACKEND_INPUT;
}
