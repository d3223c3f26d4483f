#include "backend/host/emit_gears.h"
#include "backend/device/gears_table.h"
#include "backend/device/symbols.h"

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

void emit_gears(struct text *text, const struct module *module)
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
