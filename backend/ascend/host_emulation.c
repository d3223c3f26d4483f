#include "backend/ascend/host_emulation.h"

#include <assert.h>
#include <string.h>

#include "backend/ascend/compile_info.h"
#include "backend/ascend/symbols.h"
#include "backend/device/emitter.h"
#include "backend/device/link.h"
#include "ir/core/arch.h"
#include "ir/core/kernel.h"
#include "ir/support/intern.h"

/* What the symbols of entries begin with, before their index: a kernel's function may have any name
 * that the source may call. */
#define TWIN_ENTRY "skir_twin_entry_"

/* The area: a head, then a part for each core. A part: magic, next record, end; then the records,
 * of two words each: what it is, and a time. */
enum {
    HEAD = 64,
    BYTES_OF_PART = 12, /* in the head */
    FIRST_AIC = 50,     /* part of the first AIC; those of AIVs precede it */
    NEXT = 8,           /* in a part */
    END = 16,
    RECORDS = 32,
    RECORD = 16,
    TICK = 20, /* nanoseconds */
};
static const uint32_t magic = 0xbdca8756;

static const struct entry *entry_of(const struct device_run *run,
                                    const struct device_launch *launch)
{
    return block_entry(run->module, &run->graph->blocks.at[launch->block]);
}

static uint32_t cores_of(const struct device_launch *launch, enum core_type core)
{
    return launch->skrt.blocks * (core == CORE_AIC ? launch->skrt.aics : launch->skrt.aivs);
}

static uint32_t part_bytes(const struct entry *entry)
{
    uint32_t most = 0;
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t count = 1; /* the first says whose they are */
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            count += entry->programs[core].instrs.at[i].op == INSTR_profile;
        most = count > most ? count : most;
    }
    return RECORDS + RECORD * most;
}

static size_t part_offset(const struct entry *entry, enum core_type core, uint32_t index)
{
    return HEAD + (size_t)part_bytes(entry) * (index + (core == CORE_AIC ? FIRST_AIC : 0));
}

static void put(char *at, uint64_t value, size_t size)
{
    memcpy(at, &value, size);
}

static uint64_t get(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Parts of more AIVs than there are would be those of AICs: there are no records then. */
void *twin_records_open(const struct device_run *run, const struct device_launch *launch,
                        uint64_t *slots)
{
    const struct entry *entry = entry_of(run, launch);
    uint32_t bytes = part_bytes(entry);
    char *area = mem_try_calloc(1, part_offset(entry, CORE_AIC, launch->skrt.blocks));
    slots[0] = slots[1] = 0;
    if (!area || cores_of(launch, CORE_AIV) > FIRST_AIC)
        return area;
    put(area + BYTES_OF_PART, bytes, sizeof(uint32_t));
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < cores_of(launch, (enum core_type)core); i++) {
            char *part = area + part_offset(entry, (enum core_type)core, i);
            put(part, magic, sizeof magic);
            put(part + NEXT, (uintptr_t)part + RECORDS, sizeof(uint64_t));
            put(part + END, (uintptr_t)part + bytes, sizeof(uint64_t));
        }
    slots[0] = (uintptr_t)area;
    return area;
}

/* The call that an op's record is adjacent to. */
static const struct instr *call_beside(const struct program *program, uint32_t i)
{
    bool begin = program->instrs.at[i].word == PHASE_begin;
    for (; i < program->instrs.count; i += begin ? 1 : UINT32_MAX)
        if (program->instrs.at[i].op == INSTR_call)
            return &program->instrs.at[i];
    return NULL;
}

/* Whether a core has something to time, as skrt_profile has it: all cores write all records. */
static bool takes_part(const struct device_run *run, const struct device_launch *launch,
                       const struct program *program, uint32_t i, enum core_type core,
                       uint32_t index)
{
    uint32_t kind = program->instrs.at[i].number[1];
    if (kind == SKRT_PROFILE_KERNEL)
        return true;
    if (kind != SKRT_PROFILE_OP)
        return index == 0;
    const struct instr *call = call_beside(program, i);
    const struct kernel *kernel = call ? module_kernel(run->module, call->kernel) : NULL;
    if (!kernel || kernel_is_dynamic(run->module, kernel))
        return true;
    bool flat = kernel_type_info(kernel->type)->flat;
    return (flat || core == CORE_AIC ? index : index / launch->skrt.aivs) < call->number[1];
}

/* The n-th record of a core is that of the n-th instruction. */
static void take_part(const struct device_run *run, const struct device_launch *launch,
                      const char *area, enum core_type core, uint32_t index,
                      struct skrt_profile *profile)
{
    const struct entry *entry = entry_of(run, launch);
    const struct program *program = &entry->programs[core];
    const char *part = area + part_offset(entry, core, index), *at = part + RECORDS + RECORD;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op != INSTR_profile)
            continue;
        if ((uintptr_t)at >= get(part + NEXT))
            return;
        if (takes_part(run, launch, program, i, core, index))
            profile->records[profile->count++] = (struct skrt_profile_record){
                .ns = get(at + sizeof(uint64_t)) * TICK,
                .index = instr->number[0],
                .core = index,
                .type = (uint8_t)core,
                .kind = (uint8_t)instr->number[1],
                .phase = instr->word == PHASE_begin ? SKRT_BEGIN : SKRT_END};
        at += RECORD;
    }
}

struct skrt_profile *twin_records_take(const struct device_run *run,
                                       const struct device_launch *launch, const void *area,
                                       uint64_t begin)
{
    uint64_t size = sizeof(struct skrt_profile);
    size += launch->records * sizeof(struct skrt_profile_record);
    struct skrt_profile *profile = mem_try_calloc(1, size);
    for (int core = 0; profile && core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < cores_of(launch, (enum core_type)core); i++)
            take_part(run, launch, area, (enum core_type)core, i, profile);
    for (uint64_t i = 0; profile && i < profile->count; i++) {
        uint64_t ns = profile->records[i].ns;
        profile->records[i].ns = ns > begin ? ns - begin : 0;
    }
    return profile;
}

/* A slot whose word others write too, as enum twin_word_kind of twin.h has it. */
enum memory_kind { MEMORY_EVENT, MEMORY_KEY, MEMORY_BLOCKS, MEMORY_LOCK };
struct memory_word {
    uint32_t slot;
    enum memory_kind kind;
};

struct glue {
    struct emitter emitter;
    const struct source_lines *lines;
    uint32_t line; /* the next of them: programs are taken in their order */
    struct symbols symbols;
    struct intern names; /* of kernels' functions, as the source has them; without those of stubs */
    uint32_t copies;     /* of code, at most */
    struct kernel_copies kernel_copies;
    VEC(struct memory_word) words;
    struct id_map seen; /* slots of the words */
};

static const struct program *program_of(const struct glue *glue, enum core_type core)
{
    return &glue->emitter.entry->programs[core];
}

/* Begins the name of a table of the program of a core type. */
static void put_table(struct glue *glue, const char *type, enum core_type core, const char *name)
{
    text_printf(glue->emitter.text, "static %s e%u_%s_%s", type, glue->emitter.entry_id,
                core_type_name(core), name);
}

/* ---------------------------------------------------------------------------- lines ---- */

/* Returns how many rows there are; `*end` is the line after the program. */
static uint32_t put_lines(struct glue *glue, enum core_type core, uint32_t *end)
{
    const struct source_lines *lines = glue->lines;
    uint32_t count = 0;
    put_table(glue, "const struct twin_line", core, "lines[] = {\n");
    for (; glue->line < lines->count; glue->line++, count++) {
        const struct source_line *line = &lines->at[glue->line];
        if (line->entry != glue->emitter.entry_id || line->core != core)
            break;
        text_printf(glue->emitter.text, "    {%u, %u},\n", line->line, line->instr);
    }
    text_string(glue->emitter.text, "};\n");
    *end = glue->line < lines->count ? lines->at[glue->line].line : UINT32_MAX;
    return count;
}

/* ---------------------------------------------------------------------------- calls ---- */

static uint32_t symbol_of(struct glue *glue, const struct kernel *kernel, uint32_t function)
{
    if (function == NONE || kernel_is_stub(glue->emitter.module, kernel))
        return NONE;
    const char *symbol = symbols_function(&glue->symbols, kernel, function, 0);
    return intern_copy(&glue->names, symbol, strlen(symbol));
}

/* The functions of a call by copy, or the symbols of its variants. */
static void put_functions(struct glue *glue, enum core_type core, uint32_t call,
                          const struct instr *instr)
{
    struct text *text = glue->emitter.text;
    const struct kernel *kernel = called_kernel(&glue->emitter, instr);
    uint32_t id = called_id(&glue->emitter, instr);
    uint32_t copies = entry_copies(glue->emitter.module, glue->emitter.entry);
    bool dynamic = kernel_is_dynamic(glue->emitter.module, kernel);
    put_table(glue, dynamic ? "const uint32_t" : "skrt_kernel_fn *const", core, "");
    text_printf(text, "%u[] = {", call);
    for (uint32_t i = 0; dynamic && i < kernel_variants(glue->emitter.module, kernel); i++) {
        struct variant variant = kernel_variant(glue->emitter.module, kernel, i);
        text_printf(text, "%s%uu", i ? ", " : "", symbol_of(glue, kernel, variant.functions[core]));
    }
    for (uint32_t i = 0; !dynamic && i < copies; i++) {
        uint32_t copy = i % glue->kernel_copies.made[id];
        text_printf(text, "%sk%u_%s", i ? ", " : "", id, core_type_name(core));
        if (copy)
            text_printf(text, "_split%u", copy);
    }
    text_string(text, "};\n");
}

/* The select of a call: its place among the selects, and in the program; NONE where it has none. */
static uint32_t find_select(const struct program *program, uint32_t call, uint32_t *row)
{
    uint32_t select = NONE, count = 0;
    for (uint32_t i = 0; i < call; i++) {
        if (program->instrs.at[i].op != INSTR_select)
            continue;
        if (program->instrs.at[i].kernel == program->instrs.at[call].kernel) {
            select = i;
            *row = count;
        }
        count++;
    }
    return select;
}

/* Whether idle cores take part in the barriers of a call: it has begun directly before. */
static bool is_fed(const struct program *program, uint32_t call)
{
    for (uint32_t i = call; i-- > 0 && program->instrs.at[i].op != INSTR_call;)
        if (program->instrs.at[i].op == INSTR_feed_sync)
            return program->instrs.at[i].word == PHASE_begin;
    return false;
}

static void put_call(struct glue *glue, enum core_type core, uint32_t call, uint32_t index)
{
    const struct program *program = program_of(glue, core);
    const struct instr *instr = &program->instrs.at[index];
    const struct kernel *kernel = called_kernel(&glue->emitter, instr);
    struct text *text = glue->emitter.text;
    const char *name = core_type_name(core);
    uint32_t entry = glue->emitter.entry_id, row = 0;
    bool dynamic = kernel_is_dynamic(glue->emitter.module, kernel);
    uint32_t select = dynamic ? find_select(program, index, &row) : NONE;
    uint32_t symbol =
        dynamic ? NONE
                : symbol_of(glue, kernel, kernel_function(glue->emitter.module, kernel, core));
    text_printf(text, "    {.instr = %u, .symbol = %uu", index, symbol);
    if (select != NONE)
        text_printf(text, ", .selects = e%u_%s_selects[%u], .variants = e%u_%s_%u, .select = %u",
                    entry, name, row, entry, name, call, select);
    else
        text_printf(text, ", .copies = e%u_%s_%u", entry, name, call);
    if (instr->early)
        text_printf(text, ", .early = %u", instr->early);
    if (kernel_is_stub(glue->emitter.module, kernel))
        text_string(text, ", .stub = true");
    if (is_fed(program, index))
        text_string(text, ", .fed = true");
    text_string(text, "},\n");
}

/* One row a call, in turn. */
static void put_calls(struct glue *glue, enum core_type core)
{
    const struct program *program = program_of(glue, core);
    uint32_t call = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (program->instrs.at[i].op == INSTR_call)
            put_functions(glue, core, call++, &program->instrs.at[i]);
    put_table(glue, "const struct twin_call", core, "twins[] = {\n");
    call = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (program->instrs.at[i].op == INSTR_call)
            put_call(glue, core, call++, i);
    text_string(glue->emitter.text, "};\n");
}

/* ---------------------------------------------------------------------------- words ---- */

static void add_word(struct glue *glue, uint32_t slot, enum memory_kind kind)
{
    if (slot == NONE || id_map_find(&glue->seen, slot) != NONE)
        return;
    id_map_set(&glue->seen, slot, kind);
    vec_push(&glue->words, (struct memory_word){slot, kind});
}

static void add_tiling(struct glue *glue, const struct instr *call)
{
    const struct entry *entry = glue->emitter.entry;
    uint32_t slot = group_find_tiling(entry, &entry->groups.at[call->number[0]]);
    if (slot == NONE ||
        !kernel_is_dynamic(glue->emitter.module, called_kernel(&glue->emitter, call)))
        return;
    for (int kind = MEMORY_KEY; kind <= MEMORY_LOCK; kind++)
        add_word(glue, slot + (uint32_t)(kind - MEMORY_KEY), (enum memory_kind)kind);
}

static bool is_event(const struct instr *instr)
{
    return instr_info(instr->op)->effect == EFFECT_EVENT;
}

/* Of both programs: each slot once, those of a tiling together. */
static void find_words(struct glue *glue)
{
    const struct entry *entry = glue->emitter.entry;
    for (uint32_t i = 0; i < glue->words.count; i++)
        id_map_set(&glue->seen, glue->words.at[i].slot, NONE);
    glue->words.count = 0;
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (entry->programs[core].instrs.at[i].op == INSTR_call)
                add_tiling(glue, &entry->programs[core].instrs.at[i]);
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (is_event(instr))
                add_word(glue, instr_event_slot(&glue->emitter.events, entry, instr), MEMORY_EVENT);
        }
}

static uint32_t put_events(struct glue *glue, enum core_type core)
{
    const struct program *program = program_of(glue, core);
    uint32_t count = 0;
    put_table(glue, "const struct twin_event", core, "events[] = {\n");
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (!is_event(instr))
            continue;
        text_printf(glue->emitter.text, "    {%u, %u, %s},\n", i,
                    instr_event_slot(&glue->emitter.events, glue->emitter.entry, instr),
                    instr->op == INSTR_notify  ? "TWIN_NOTIFY"
                    : instr->op == INSTR_reset ? "TWIN_RESET"
                                               : "TWIN_WAIT");
        count++;
    }
    text_string(glue->emitter.text, "};\n");
    return count;
}

/* -------------------------------------------------------------------------- entries ---- */

/* The tables of a program; `row` gets what the entry has of them. */
static void put_program(struct glue *glue, enum core_type core, struct text *row)
{
    uint32_t id = glue->emitter.entry_id, end, lines, events;
    const char *name = core_type_name(core);
    emitter_tables(&glue->emitter, core);
    lines = put_lines(glue, core, &end);
    put_calls(glue, core);
    events = put_events(glue, core);
    text_printf(row, "        {e%u_%s_sites, e%u_%s_lines, %u, %uu, e%u_%s_twins, e%u_%s_calls, ",
                id, name, id, name, lines, end, id, name, id, name);
    text_printf(row, "%u, e%u_%s_events, %u},\n", glue->emitter.calls, id, name, events);
}

static void put_row(struct glue *glue, const struct text *programs, const uint32_t *cores)
{
    const struct emitter *emitter = &glue->emitter;
    uint32_t id = emitter->entry_id;
    struct text *text = emitter->text;
    bool fed = emitter->workspace_slot != NONE;
    text_printf(text,
                "extern void e%u_source(void) __asm__(\"auto_gen_%s_kernel\");\n"
                "static const struct twin_entry e%u_entry = {\n"
                "    e%u_source,\n    {\n%.*s    },\n"
                "    e%u_words, %u, %u, {%u, %u}, %u, %u, %lld, %u,\n"
                "    e%u_cores, e%u_params[0], e%u_cache[0]};\n"
                "skrt_entry_fn " TWIN_ENTRY "%u;\n"
                "void " TWIN_ENTRY "%u(skrt_core *core)\n"
                "{\n    skir_twin_run(core, &e%u_entry);\n}\n\n",
                id, symbols_entry(&glue->symbols, emitter->entry), id, id, (int)programs->size,
                programs->at, id, glue->words.count, entry_slots(emitter->entry), cores[CORE_AIC],
                cores[CORE_AIV], entry_copies(emitter->module, emitter->entry),
                fed ? emitter->workspace_slot : 0, fed ? (long long)emitter->workspace : 0,
                fed ? 128 * entry_named_groups(emitter->entry) : 0, id, id, id, id, id, id);
}

static void put_entry(struct glue *glue)
{
    const struct entry *entry = glue->emitter.entry;
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    uint32_t blocks = (uint32_t)attr_int(glue->emitter.module, entry->attrs, W_block, 1);
    const uint32_t cores[CORE_TYPES] = {
        [CORE_AIC] = blocks * info->aics, [CORE_AIV] = blocks * info->aivs};
    struct text programs = {NULL, 0, 0};
    find_words(glue);
    for (int core = 0; core < CORE_TYPES; core++)
        if (entry->programs[core].instrs.count > 0)
            put_program(glue, (enum core_type)core, &programs);
        else
            text_string(&programs, "        {0},\n");
    static const char *const kinds[] = {"TWIN_EVENT", "TWIN_KEY", "TWIN_BLOCKS", "TWIN_LOCK"};
    struct text *text = glue->emitter.text;
    uint32_t id = glue->emitter.entry_id, n = cores[CORE_AIC] + cores[CORE_AIV];
    text_printf(text, "static const struct twin_word e%u_words[] = {\n", id);
    for (uint32_t i = 0; i < glue->words.count; i++)
        text_printf(text, "    {%u, %s},\n", glue->words.at[i].slot, kinds[glue->words.at[i].kind]);
    text_printf(text,
                "};\n"
                "static struct twin_core e%u_cores[%u];\n"
                "static uint64_t e%u_params[%u][%u];\n"
                "static struct twin_copy e%u_cache[%u][%u];\n",
                id, n, id, n, entry_slots(entry), id, n, glue->words.count + 1);
    put_row(glue, &programs, cores);
    text_free(&programs);
    uint32_t copies = entry_copies(glue->emitter.module, entry);
    glue->copies = copies > glue->copies ? copies : glue->copies;
}

/* What the source calls. */
static void put_symbols(struct glue *glue)
{
    struct text *text = glue->emitter.text;
    for (uint32_t i = 0; i < glue->names.count; i++)
        for (uint32_t copy = 0; copy < glue->copies; copy++) {
            const struct intern_name *name = &glue->names.names[i];
            text_printf(text, "extern void f%u_%u(uint64_t) __asm__(\"%.*s", i, copy,
                        (int)name->size, name->text);
            if (copy)
                text_printf(text, "_split%u", copy);
            text_printf(text,
                        "\");\n"
                        "void f%u_%u(uint64_t args_offset)\n{\n"
                        "    skir_twin_call(args_offset, %u, %u);\n}\n",
                        i, copy, i, copy);
        }
}

/* Appends C for the source that `lines` are of, with all entries as functions for skrt. */
static void twin_glue(struct text *text, const struct module *module,
                      const struct source_lines *lines)
{
    struct glue glue = {.emitter = {.text = text, .module = module}, .lines = lines};
    symbols_init(&glue.symbols, module);
    glue.kernel_copies = device_kernel_copies(module);
    text_string(text, "#include \"skrt.h\"\n\n#include \"twin.h\"\n\n");
    emitter_kernels(&glue.emitter);
    for (uint32_t i = 0; i < module->entries.count; i++) {
        emitter_begin(&glue.emitter, i);
        put_entry(&glue);
        emitter_end(&glue.emitter);
    }
    put_symbols(&glue);
    kernel_copies_free(&glue.kernel_copies);
    event_slots_free(&glue.emitter.events);
    symbols_free(&glue.symbols);
    intern_free(&glue.names);
    vec_free(&glue.words);
    id_map_free(&glue.seen);
}

/* The numbers that the device compiler gives its chips. */
static const char *const arch_macros[] = {
    [ARCH_c220] = "-D__NPU_ARCH__=2201",
    [ARCH_c310] = "-D__NPU_ARCH__=3510",
};

/* The definitions that the device compiler gets for the entries; its other options are its own. */
static void add_definitions(const struct module *module, struct arena *arena,
                            struct file_names *args)
{
    struct file_names options = {NULL, 0, 0};
    struct entry_finder finder;
    entry_finder_init(&finder, module);
    for (uint32_t i = 0; i < module->entries.count; i++) {
        struct launch_info info;
        launch_info_init(&info, &finder, &module->entries.at[i]);
        launch_info_compile_options(&info, arena, &options);
        launch_info_free(&info);
    }
    for (uint32_t i = 0; i < options.count; i++)
        if (strncmp(options.at[i], "-D", 2) == 0)
            vec_push(args, options.at[i]);
    entry_finder_free(&finder);
    vec_free(&options);
}

static enum backend_status compile_source(const struct module *module, const char *path,
                                          const struct backend_places *places, const char *object,
                                          struct diags *diags)
{
    static const char *const plain[] = {"-std=c++17",      "-O1",      "-fPIC", "-w",
                                        "-fno-exceptions", "-fno-rtti"};
    struct arena arena = {NULL, 0};
    struct file_names args = {NULL, 0, 0};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        vec_push(&args, plain[i]);
    vec_push(&args, arch_macros[module_arch(module)]);
    add_definitions(module, &arena, &args);
    vec_push(&args, "-include");
    vec_push(&args, arena_printf(&arena, "%s/skrt.h", places->header_dir));
    vec_push(&args, "-include");
    vec_push(&args, arena_printf(&arena, "%s/twin.h", places->header_dir));
    vec_push(&args, arena_printf(&arena, "-I%s", places->header_dir));
    vec_push(&args, "-c");
    vec_push(&args, "-o");
    vec_push(&args, object);
    vec_push(&args, path);
    vec_push(&args, NULL);
    enum backend_status status = device_run_cxx((const char *const *)args.at, object, diags);
    vec_free(&args);
    arena_free(&arena);
    return status;
}

/* The source, what the twin knows of it, and the twin itself. */
static enum backend_status build(const struct module *module, const struct text *source,
                                 const struct text *glue, const struct backend_places *places,
                                 const char *folder, struct device_output *output,
                                 struct diags *diags)
{
    struct arena scratch = {NULL, 0};
    const struct device_entries entries = {
        .files = {arena_printf(&scratch, "%s/entry.o", folder),
                  arena_printf(&scratch, "%s/glue.o", folder),
                  arena_printf(&scratch, "%s/twin.o", places->header_dir)},
        .prefix = TWIN_ENTRY};
    const char *path = arena_printf(&scratch, "%s/entry.cpp", folder);
    enum backend_status status = device_write(source, path, diags);
    if (status == BACKEND_OK)
        status = compile_source(module, path, places, entries.files[0], diags);
    path = arena_printf(&scratch, "%s/glue.c", folder);
    if (status == BACKEND_OK)
        status = device_compile(glue, path, places, entries.files[1], diags);
    if (status == BACKEND_OK)
        status = device_link_entries(module, places, &entries, output, diags);
    arena_free(&scratch);
    return status;
}

enum backend_status twin_compile(const struct module *module, const struct backend_places *places,
                                 struct device_output *output, struct diags *diags)
{
    struct text source = {NULL, 0, 0}, glue = {NULL, 0, 0};
    struct source_lines lines = {NULL, 0, 0, 0};
    struct tool_folder folder;
    enum backend_status status = BACKEND_INPUT;
    if (ascendc_emit(&source, module, &lines, diags) && device_make_folder(&folder, diags)) {
        twin_glue(&glue, module, &lines);
        status = build(module, &source, &glue, places, folder.path, output, diags);
        tool_folder_remove(&folder);
    }
    text_free(&source);
    text_free(&glue);
    vec_free(&lines);
    return status;
}
