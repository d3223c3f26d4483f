#include "backend/host/emit.h"

#include <assert.h>
#include <string.h>

#include "backend/device/emitter.h"
#include "backend/device/gears_table.h"
#include "backend/device/link.h"
#include "backend/host/rows.h"
#include "backend/target/statement.h"
#include "ir/syntax/spelling.h"

/* The statement of an instruction: the host's column of ir/core/instrs.def, and the pieces that it
 * names. */

/* The next rows of a program's tables. */
struct rows {
    uint32_t call, select;
};

/* An instruction of the program at hand. */
struct statement {
    struct emitter *emitter;
    enum core_type core;
    const struct instr *instr;
    uint32_t index;
    struct rows *next;
};

/* --------------------------------------------------------------------------- pieces ---- */

/* Where reports say that a core is. */
static void emit_site(const struct statement *s)
{
    text_printf(s->emitter->text, "&e%u_%s_sites[%u]", s->emitter->entry_id,
                core_type_name(s->core), s->index);
}

static void emit_early(struct text *text, unsigned early)
{
    static const struct {
        unsigned flag;
        const char *name;
    } flags[] = {
        {EARLY_WAIT_AIC, "SKRT_EARLY_WAIT_AIC"},
        {EARLY_WAIT_AIV, "SKRT_EARLY_WAIT_AIV"},
        {EARLY_SET, "SKRT_EARLY_SET"},
    };
    const char *separator = ", ";
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (!(early & flags[i].flag))
            continue;
        text_printf(text, "%s%s", separator, flags[i].name);
        separator = " | ";
    }
}

static void emit_call_row(const struct statement *s, uint32_t call)
{
    text_printf(s->emitter->text, "e%u_%s_calls[%u]", s->emitter->entry_id, core_type_name(s->core),
                call);
}

/* The function, and what is called: a row of the table; or one with the function of the core's
 * copy. */
static void emit_call(const struct statement *s)
{
    struct emitter *emitter = s->emitter;
    struct text *text = emitter->text;
    bool dynamic = kernel_is_dynamic(emitter->module, called_kernel(emitter, s->instr));
    bool copied = !dynamic && entry_copies(emitter->module, emitter->entry) > 1;
    uint32_t call = s->next->call++;
    if (copied) {
        text_string(text, "call = ");
        emit_call_row(s, call);
        text_printf(text, ";\n    call.fn = k%u_%s_copies[copy];\n    ",
                    called_id(emitter, s->instr), core_type_name(s->core));
    }
    text_printf(text, "skrt_call%s(core, &",
                dynamic           ? "_selected"
                : s->instr->early ? "_early"
                                  : "");
    if (copied)
        text_string(text, "call");
    else
        emit_call_row(s, call);
    if (!dynamic)
        emit_early(text, s->instr->early);
    text_string(text, ", ");
    emit_site(s);
    text_char(text, ')');
}

static void emit_select(const struct statement *s)
{
    bool copied = entry_copies(s->emitter->module, s->emitter->entry) > 1;
    text_printf(s->emitter->text, "&e%u_%s_selects[%u][%s]", s->emitter->entry_id,
                core_type_name(s->core), s->next->select++, copied ? "copy" : "0");
}

static void emit_workspace(const struct statement *s)
{
    text_printf(s->emitter->text, "%u, %lld", s->emitter->workspace_slot,
                (long long)s->emitter->workspace);
}

/* Feeding is for the call beside it. */
static void emit_feed(const struct statement *s)
{
    struct text *text = s->emitter->text;
    uint32_t call = s->next->call - (s->instr->word != PHASE_begin);
    text_string(text, "&(struct skrt_feed){");
    emit_workspace(s);
    text_printf(text, ", %u, &", call);
    emit_call_row(s, call);
    text_char(text, '}');
}

/* The slot of the buffer for records. */
static void emit_records(const struct statement *s)
{
    text_unsigned(s->emitter->text, entry_profile_slot(s->emitter->entry));
}

/* The slot of the trace. */
static void emit_tracing(const struct statement *s)
{
    text_unsigned(s->emitter->text, entry_slot(s->emitter->entry, W_tracing));
}

static bool emit_piece(void *user, const char *name, size_t size)
{
    static const struct {
        const char *name;
        void (*emit)(const struct statement *s);
    } pieces[] = {
        {"site", emit_site},           {"call", emit_call}, {"select", emit_select},
        {"workspace", emit_workspace}, {"feed", emit_feed}, {"records", emit_records},
        {"tracing", emit_tracing},
    };
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        if (strlen(pieces[i].name) == size && memcmp(pieces[i].name, name, size) == 0) {
            pieces[i].emit(user);
            return true;
        }
    return false;
}

/* ----------------------------------------------------------------------- statements ---- */

static void emit_instr(struct emitter *emitter, enum core_type core, const struct instr *instr,
                       uint32_t index, struct rows *next)
{
    struct statement s = {emitter, core, instr, index, next};
    const struct instr_info *info = instr_info(instr->op);
    const char *template = info->host;
    assert(template);
    /* Nothing is recorded where there is no buffer for records. */
    if (info->place == PLACE_RECORD && emitter_records_slot(emitter->entry, instr) == NONE)
        template = "skrt_hint(core, $site)";
    text_string(emitter->text, "    ");
    struct instr plain = *instr;
    if (info->effect == EFFECT_EVENT)
        plain.number[0] = instr_event_slot(&emitter->events, emitter->entry, instr);
    bool expanded = statement_expand(emitter->text, template, &plain, emit_piece, &s);
    assert(expanded);
    (void)expanded;
    text_string(emitter->text, ";\n");
}

/* The table of one graph. */
struct gears_emitter {
    struct text *text;
    const struct module *module;
    uint32_t id; /* of the graph */
    struct gears_table table;
};

/* Bytes of names that are none of C's, and quotes, by their numbers. */
static void put_string(struct text *text, const struct intern_name *name)
{
    text_char(text, '"');
    for (uint32_t i = 0; i < name->size; i++) {
        unsigned char c = (unsigned char)name->text[i];
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '?')
            text_printf(text, "\\%03o", c);
        else
            text_char(text, (char)c);
    }
    text_char(text, '"');
}

static void emit_dims(struct gears_emitter *emitter)
{
    struct text *text = emitter->text;
    text_printf(text, "static const struct skrt_gear_dim g%u_dims[] = {\n", emitter->id);
    for (uint32_t i = 0; i < emitter->table.row.n_dims; i++) {
        struct gear_shape_dim dim = emitter->table.shapes.dims.at[i];
        text_printf(text, "    {%u, %u, ", dim.param, dim.dim);
        put_string(text, &emitter->module->names.names[gears_table_param(&emitter->table, dim)]);
        text_string(text, "},\n");
    }
    text_string(text, "};\n");
}

static void emit_shapes(struct gears_emitter *emitter)
{
    struct text *text = emitter->text;
    uint32_t n = emitter->table.row.n_dims;
    text_printf(text, "static const int64_t g%u_shapes[][%u] = {\n", emitter->id, n);
    for (uint32_t i = 0; i < emitter->table.row.n_cases; i++) {
        text_string(text, "    {");
        for (uint32_t d = 0; d < n; d++) {
            text_string(text, d ? ", " : "");
            text_signed(text, gear_shapes_row(&emitter->table.shapes, i)[d]);
        }
        text_string(text, "},\n");
    }
    text_string(text, "};\n");
}

static void emit_launches(struct gears_emitter *emitter)
{
    struct text *text = emitter->text;
    if (emitter->table.launches.count == 0)
        return;
    text_printf(text, "static const struct skrt_gear_launch g%u_launches[] = {\n", emitter->id);
    for (uint32_t i = 0; i < emitter->table.launches.count; i++) {
        const struct gears_launch *launch = &emitter->table.launches.at[i];
        text_string(text, "    {");
        put_string(text, &emitter->module->names.names[launch->name]);
        text_printf(text, ", e%u, %u, %u, %u, %u, %llu},\n", launch->entry, launch->row.blocks,
                    launch->row.aics, launch->row.aivs, launch->row.n_params,
                    (unsigned long long)launch->row.workspace);
    }
    text_string(text, "};\n");
}

static void emit_cases(struct gears_emitter *emitter)
{
    struct text *text = emitter->text;
    text_printf(text, "static const struct skrt_gear_case g%u_cases[] = {\n", emitter->id);
    for (uint32_t i = 0; i < emitter->table.row.n_cases; i++) {
        const struct gears_case *row = &emitter->table.cases[i];
        text_printf(text, "    {g%u_shapes[%u], ", emitter->id, i);
        put_string(text, &emitter->module->names.names[row->name]);
        text_printf(text, ", %llu, %u, ", (unsigned long long)row->row.elements,
                    row->row.n_launches);
        if (row->row.n_launches)
            text_printf(text, "&g%u_launches[%u]},\n", emitter->id, row->launches.first);
        else
            text_string(text, "0},\n");
    }
    text_string(text, "};\n");
}

static void emit_slots(struct gears_emitter *emitter)
{
    text_printf(emitter->text, "static const uint8_t g%u_slots[] = {", emitter->id);
    for (uint32_t i = 0; i < emitter->table.n_slots; i++)
        text_printf(emitter->text, "%s%u",
                    i == 0   ? ""
                    : i % 24 ? ", "
                             : ",\n    ",
                    emitter->table.slots[i]);
    text_string(emitter->text, "};\n");
}

static void emit_table(struct gears_emitter *emitter)
{
    struct text *text = emitter->text, symbol = {NULL, 0, 0};
    const struct skrt_gears *row = &emitter->table.row;
    device_gears_symbol(&symbol, emitter->module, emitter->id);
    text_printf(text, "extern const struct skrt_gears g%u __asm__(\"%.*s\");\n", emitter->id,
                (int)symbol.size, symbol.at);
    text_printf(text, "const struct skrt_gears g%u = {", emitter->id);
    put_string(text, &emitter->module->names.names[emitter->table.graph->name]);
    text_printf(text, ", %u, %u, g%u_dims, g%u_cases, %llu, %u, g%u_slots};\n", row->n_dims,
                row->n_cases, emitter->id, emitter->id, (unsigned long long)row->seed, row->shift,
                emitter->id);
    text_free(&symbol);
}

static void emit_graph(struct gears_emitter *emitter)
{
    text_printf(emitter->text, "\n/* gears of graph %u */\n\n", emitter->id);
    emit_dims(emitter);
    emit_shapes(emitter);
    emit_launches(emitter);
    emit_cases(emitter);
    emit_slots(emitter);
    emit_table(emitter);
}

/* Appends a `struct skrt_gears` for each graph whose gears are expanded, behind the entries, whose
 * functions are `e` and their index. */
static void emit_gears(struct text *text, const struct module *module)
{
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        struct gears_emitter emitter = {.text = text, .module = module, .id = i};
        if (module->graphs.at[i].cases.count == 0)
            continue;
        gears_table_make(&emitter.table, module, &module->graphs.at[i]);
        emit_graph(&emitter);
        gears_table_free(&emitter.table);
    }
}

/* ----------------------------------------------------------------------- programs ---- */

static void emit_program(struct emitter *emitter, enum core_type core)
{
    const struct program *program = &emitter->entry->programs[core];
    struct rows next = {0, 0};
    emitter_tables(emitter, core);
    text_printf(emitter->text, "static void e%u_%s(skrt_core *core)\n{\n", emitter->entry_id,
                core_type_name(core));
    if (entry_copies(emitter->module, emitter->entry) > 1)
        text_printf(emitter->text,
                    "    const uint32_t copy = skrt_core_index(core) %% %u;\n"
                    "    struct skrt_call call;\n",
                    entry_copies(emitter->module, emitter->entry));
    for (uint32_t i = 0; i < program->instrs.count; i++)
        emit_instr(emitter, core, &program->instrs.at[i], i, &next);
    assert(next.call == emitter->calls);
    text_string(emitter->text, "}\n\n");
}

/* ------------------------------------------------------------------------- entries ---- */

/* A second name for the code of another entry. */
static void emit_alias(struct emitter *emitter, const struct entry *entry)
{
    struct text name = {NULL, 0, 0}, other = {NULL, 0, 0};
    device_entry_symbol(&name, emitter->module, emitter->entry);
    device_entry_symbol(&other, emitter->module, entry);
    text_printf(emitter->text,
                "\n/* entry %u */\n\nextern skrt_entry_fn e%u __asm__(\"%.*s\")\n"
                "    __attribute__((alias(\"%.*s\")));\n",
                emitter->entry_id, emitter->entry_id, (int)name.size, name.at, (int)other.size,
                other.at);
    text_free(&name);
    text_free(&other);
}

static void emit_entry(struct emitter *emitter)
{
    const struct entry *entry = emitter->entry;
    struct text *text = emitter->text;
    struct text name = {NULL, 0, 0};
    /* Empty arrays are no C; programs without instructions have neither sites nor a function. */
    bool has[CORE_TYPES];
    text_printf(text, "\n/* entry %u : %s */\n\n", emitter->entry_id,
                kernel_type_info(entry->type)->name);
    for (int core = 0; core < CORE_TYPES; core++) {
        has[core] = entry->programs[core].instrs.count > 0;
        if (has[core])
            emit_program(emitter, core);
    }
    device_entry_symbol(&name, emitter->module, entry);
    text_printf(text, "extern skrt_entry_fn e%u __asm__(\"%.*s\");\n", emitter->entry_id,
                (int)name.size, name.at);
    text_printf(text, "void e%u(skrt_core *core)\n{\n", emitter->entry_id);
    text_string(text, "    switch (skrt_core_type(core)) {\n");
    for (int core = 0; core < CORE_TYPES; core++)
        if (has[core])
            text_printf(text, "    case %s: e%u_%s(core); break;\n",
                        core == CORE_AIC ? "SKRT_AIC" : "SKRT_AIV", emitter->entry_id,
                        core_type_name(core));
    text_string(text, "    default: break;\n    }\n}\n");
    text_free(&name);
}

static void emit_entries(struct emitter *emitter, const struct module_rows *rows)
{
    text_string(emitter->text, "#include \"skrt.h\"\n\n");
    emitter_kernels(emitter);
    for (uint32_t i = 0; i < rows->count; i++) {
        emitter_begin(emitter, i);
        if (rows->equal[i] != i)
            emit_alias(emitter, &emitter->module->entries.at[rows->equal[i]]);
        else
            emit_entry(emitter);
        emitter_end(emitter);
    }
}

bool host_emit(struct text *text, const struct module *module, struct diags *diags)
{
    struct emitter emitter = {.text = text, .module = module, .diags = diags};
    struct module_rows rows;
    bool ok = module_rows_make(&rows, module, diags);
    if (ok) {
        emit_entries(&emitter, &rows);
        emit_gears(text, module);
    }
    event_slots_free(&emitter.events);
    module_rows_free(&rows);
    return ok;
}
