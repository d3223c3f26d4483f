#include <math.h>

#include "frontend/exchange/exchange.h"
#include "frontend/exchange/writers/foreign.h"
#include "ir/base/json.h"
#include "ir/groups.h"
#include "ir/module.h"
#include "ir/operands.h"
#include "ir/syntax/spelling.h"

struct json_data {
    struct json json;
    const struct module *module;
};

/* Integers up to this are numbers; others are strings of digits, since readers take numbers as
 * doubles. */
#define SAFE_INTEGER ((int64_t)1 << 53)

/* ---------------------------------------------------------------- names and numbers ---- */

static void json_data_key(struct json_data *data, uint32_t name)
{
    const struct intern_name *bytes = &data->module->names.names[name];
    json_key_bytes(&data->json, bytes->text, bytes->size);
}

static void json_data_string(struct json_data *data, uint32_t name)
{
    const struct intern_name *bytes = &data->module->names.names[name];
    json_bytes(&data->json, bytes->text, bytes->size);
}

/* Members: a name, an index, which are null for NONE, and a list of indices. */
static void json_data_name(struct json_data *data, const char *key, uint32_t name)
{
    json_key(&data->json, key);
    if (name == NONE)
        json_null(&data->json);
    else
        json_data_string(data, name);
}

static void json_data_index(struct json_data *data, const char *key, uint32_t index)
{
    json_key(&data->json, key);
    if (index == NONE)
        json_null(&data->json);
    else
        json_unsigned(&data->json, index);
}

static void json_data_indices(struct json_data *data, const char *key, const uint32_t *at,
                              uint32_t count)
{
    json_key(&data->json, key);
    json_open_array(&data->json);
    for (uint32_t i = 0; i < count; i++)
        json_unsigned(&data->json, at[i]);
    json_close_array(&data->json);
}

static bool is_safe(int64_t number)
{
    return number <= SAFE_INTEGER && number >= -SAFE_INTEGER;
}

static void put_digits(struct json *json, int64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    json_string(json, digits);
}

/* Values. An integer that a double may not hold is a string of digits. */
static void json_data_integer(struct json_data *data, int64_t number)
{
    if (is_safe(number))
        json_signed(&data->json, number);
    else
        put_digits(&data->json, number);
}

/* ---------------------------------------------------------------------------- types ---- */

static void put_dim(struct json_data *data, int64_t dim)
{
    if (dim == DIM_UNKNOWN)
        json_null(&data->json);
    else if (dim_is_gear(dim))
        json_data_string(data, dim_gear(dim));
    else
        json_data_integer(data, dim);
}

static void put_type_dims(struct json_data *data, const struct type *type)
{
    const int64_t *dims = data->module->dims.at + type->dims;
    json_open_array(&data->json);
    for (uint32_t i = 0; i < type->rank; i++)
        put_dim(data, dims[i]);
    json_close_array(&data->json);
}

static void json_data_type(struct json_data *data, uint32_t id)
{
    const struct type *type = &data->module->types.at[id];
    if (type->dtype == DTYPE_TOKEN) {
        json_string(&data->json, "token");
        return;
    }
    json_open_object(&data->json);
    json_key(&data->json, "dtype");
    if (type->dtype == DTYPE_UNKNOWN)
        json_null(&data->json);
    else
        json_string(&data->json, dtype_info(type->dtype)->name);
    json_key(&data->json, "dims");
    if (type->rank == RANK_UNKNOWN)
        json_null(&data->json);
    else
        put_type_dims(data, type);
    json_data_name(data, "format", type->format);
    json_close_object(&data->json);
}

/* ----------------------------------------------------------------------- attributes ---- */

static void put_value(struct json_data *data, const struct attr_value *value);

static void put_dict(struct json_data *data, struct range attrs)
{
    json_open_object(&data->json);
    for (uint32_t i = 0; i < attrs.count; i++) {
        const struct attr *attr = &data->module->attrs.at[attrs.first + i];
        json_data_key(data, attr->key);
        put_value(data, &attr->value);
    }
    json_close_object(&data->json);
}

static void put_list(struct json_data *data, const struct attr_value *list)
{
    json_open_array(&data->json);
    for (uint32_t i = 0; i < list->count; i++)
        put_value(data, &data->module->attr_values.at[list->first + i]);
    json_close_array(&data->json);
}

static const char *float_text(double number)
{
    return isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
}

/* What JSON has no kind for: an object whose one key says what it is. */
static void put_tagged(struct json_data *data, const struct attr_value *value)
{
    struct json *json = &data->json;
    json_open_object(json);
    switch ((enum attr_kind)value->kind) {
    case ATTR_INT:
        json_key(json, "int");
        put_digits(json, value->i);
        break;
    case ATTR_FLOAT: json_add_string(json, "float", float_text(value->f)); break;
    case ATTR_WORD: json_data_name(data, "word", value->id); break;
    case ATTR_SYMBOL: json_data_name(data, "symbol", value->id); break;
    case ATTR_VALUE: json_data_name(data, "value", value->id); break;
    case ATTR_TYPE:
        json_key(json, "type");
        json_data_type(data, value->id);
        break;
    case ATTR_DICT:
        json_key(json, "dict");
        put_dict(data, (struct range){value->first, value->count});
        break;
    case ATTR_LIST: json_data_name(data, "list", value->first); break;
    case ATTR_BOOL:
    case ATTR_STRING: break; /* JSON has them */
    }
    json_close_object(json);
}

static void put_value(struct json_data *data, const struct attr_value *value)
{
    struct json *json = &data->json;
    if (value->kind == ATTR_INT && is_safe(value->i))
        json_signed(json, value->i);
    else if (value->kind == ATTR_FLOAT && isfinite(value->f))
        json_double(json, value->f);
    else if (value->kind == ATTR_BOOL)
        json_bool(json, value->i);
    else if (value->kind == ATTR_STRING)
        json_data_string(data, value->id);
    else if (value->kind == ATTR_LIST && (value->count || !value->first))
        put_list(data, value);
    else
        put_tagged(data, value);
}

static void json_data_attrs(struct json_data *data, struct range attrs)
{
    json_key(&data->json, "attrs");
    put_dict(data, attrs);
}

/* Modules as JSON (docs/command-line.md, "skirc export"). */

/* A module on its way out. */
struct writer {
    struct pieces pieces;
    struct json_data data;
    /* The graph at hand. */
    const struct graph *graph;
    struct op_places places;
    const struct entry *entry; /* the one at hand */
};

static struct json *out(struct writer *writer)
{
    return &writer->data.json;
}

/* ---------------------------------------------------------------------------- lists ---- */

static void begin_list(struct writer *writer, const char *key)
{
    json_line(out(writer));
    json_key(out(writer), key);
    json_open_array(out(writer));
}

/* An element of an outer list: a line of its own. Returns false where no more is wanted. */
static bool begin_row(struct writer *writer)
{
    if (!pieces_next(&writer->pieces))
        return false;
    json_line(out(writer));
    json_open_object(out(writer));
    return true;
}

/* --------------------------------------------------------------------------- graphs ---- */

static void put_params(struct writer *writer)
{
    begin_list(writer, "params");
    for (uint32_t i = 0; i < writer->graph->n_params && begin_row(writer); i++) {
        json_add_unsigned(out(writer), "value", i);
        json_data_attrs(&writer->data, writer->graph->params.at[i].attrs);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
}

static void put_dims(struct writer *writer)
{
    json_key(out(writer), "dims");
    json_open_array(out(writer));
    for (uint32_t i = 0; i < writer->graph->dims.count; i++)
        json_data_string(&writer->data, writer->graph->dims.at[i].name);
    json_close_array(out(writer));
}

/* Only where they are expanded. */
static void put_cases(struct writer *writer)
{
    const struct graph *graph = writer->graph;
    if (graph->cases.count == 0)
        return;
    json_key(out(writer), "cases");
    json_open_array(out(writer));
    for (uint32_t i = 0; i < graph->cases.count; i++) {
        const struct gear_case *row = &graph->cases.at[i];
        json_open_object(out(writer));
        json_key(out(writer), "values");
        json_open_array(out(writer));
        for (uint32_t n = 0; n < row->values.count; n++)
            json_data_integer(&writer->data, graph->gear_values.at[row->values.first + n]);
        json_close_array(out(writer));
        json_data_name(&writer->data, "graph", row->graph);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
}

static void put_gears(struct writer *writer)
{
    const struct graph *graph = writer->graph;
    json_key(out(writer), "gears");
    if (graph->gear_mode == GEARS_NONE) {
        json_null(out(writer));
        return;
    }
    json_open_object(out(writer));
    json_add_string(out(writer), "mode", graph->gear_mode == GEARS_ZIP ? "zip" : "product");
    json_key(out(writer), "dims");
    json_open_object(out(writer));
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        const struct gear *gear = &graph->gears.at[i];
        json_data_key(&writer->data, gear->name);
        json_open_array(out(writer));
        for (uint32_t j = 0; j < gear->values.count; j++)
            json_data_integer(&writer->data, graph->gear_values.at[gear->values.first + j]);
        json_close_array(out(writer));
    }
    json_close_object(out(writer));
    put_cases(writer);
    json_close_object(out(writer));
}

static void put_results(struct writer *writer)
{
    const struct vec_u32 *types = &writer->graph->result_types;
    json_line(out(writer));
    json_key(out(writer), "results");
    json_open_array(out(writer));
    for (uint32_t i = 0; i < types->count; i++)
        json_data_type(&writer->data, types->at[i]);
    json_close_array(out(writer));
}

static void put_values(struct writer *writer)
{
    begin_list(writer, "values");
    for (uint32_t i = 0; i < writer->graph->values.count && begin_row(writer); i++) {
        const struct value *value = &writer->graph->values.at[i];
        bool defined = value->def < writer->graph->ops.count;
        json_data_name(&writer->data, "name", value->name);
        json_key(out(writer), "type");
        json_data_type(&writer->data, value->type);
        json_data_index(&writer->data, "op", defined ? writer->places.of_op[value->def] : NONE);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
}

static void put_events(struct writer *writer, const char *key, struct range events)
{
    json_key(out(writer), key);
    json_open_array(out(writer));
    for (uint32_t i = 0; i < events.count; i++)
        json_data_string(&writer->data, writer->graph->refs.at[events.first + i]);
    json_close_array(out(writer));
}

static void put_blocks(struct writer *writer)
{
    static const char *const kinds[] = {[BLOCK_SCOPE] = "scope",
                                        [BLOCK_SCOPE_NONE] = "scope none",
                                        [BLOCK_STREAM] = "stream",
                                        [BLOCK_SUPERKERNEL] = "superkernel",
                                        [BLOCK_SUPERKERNEL_REST] = "superkernel"};
    begin_list(writer, "blocks");
    for (uint32_t i = 0; i < writer->graph->blocks.count && begin_row(writer); i++) {
        const struct block *block = &writer->graph->blocks.at[i];
        json_add_string(out(writer), "kind", kinds[block->kind]);
        json_data_name(&writer->data, "name", block_name(writer->graph, block));
        json_data_index(&writer->data, "parent", block->parent);
        json_add_unsigned(out(writer), "first", writer->places.blocks[i].first);
        json_add_unsigned(out(writer), "count", writer->places.blocks[i].count);
        json_data_attrs(&writer->data, block->attrs);
        put_events(writer, "send", block->send);
        put_events(writer, "recv", block->recv);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
}

/* How the operands are written, where they are not all plain values: lists of indices, one index,
 * or null. */
static void put_forms(struct writer *writer, const struct op *op)
{
    const struct graph *graph = writer->graph;
    json_key(out(writer), "forms");
    json_open_array(out(writer));
    for (uint32_t place = 0; place < op_n_places(graph, op); place++) {
        struct operand operand = op_operand(graph, op, place);
        const uint32_t *values = graph->refs.at + operand.values.first;
        json_open_object(out(writer));
        json_data_name(&writer->data, "label", operand.label);
        if (operand.kind == OPERAND_LIST)
            json_data_indices(&writer->data, "list", values, operand.values.count);
        else
            json_data_index(&writer->data, "value",
                            operand.kind == OPERAND_NONE ? NONE : values[0]);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
}

static void put_op(struct writer *writer, const struct op *op)
{
    const struct graph *graph = writer->graph;
    const struct clauses *clauses = op_clauses(graph, op);
    json_data_name(&writer->data, "type", op->type);
    json_data_indices(&writer->data, "operands", op_operands(graph, op), op->operands.count);
    if (op_has_forms(graph, op))
        put_forms(writer, op);
    json_key(out(writer), "results");
    json_open_array(out(writer));
    for (uint32_t i = 0; i < op->results.count; i++)
        json_unsigned(out(writer), op->results.first + i);
    json_close_array(out(writer));
    json_data_attrs(&writer->data, op->attrs);
    json_data_name(&writer->data, "kernel", op->kernel);
    json_data_index(&writer->data, "block", op->block);
    const struct range after = clauses->after;
    json_data_indices(&writer->data, "after", after.count ? &graph->refs.at[after.first] : NULL,
                      after.count);
    put_events(writer, "send", clauses->send);
    put_events(writer, "recv", clauses->recv);
}

static void put_ops(struct writer *writer)
{
    begin_list(writer, "ops");
    for (uint32_t i = 0; i < writer->graph->body.count; i++) {
        uint64_t item = writer->graph->body.at[i];
        if (item_kind(item) != ITEM_OP)
            continue;
        if (!begin_row(writer))
            break;
        put_op(writer, &writer->graph->ops.at[item_id(item)]);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
}

static void put_graph(struct writer *writer, const struct graph *graph)
{
    writer->graph = graph;
    op_places_init(&writer->places, graph);
    json_data_name(&writer->data, "name", graph->name);
    json_data_attrs(&writer->data, graph->attrs);
    put_dims(writer);
    put_gears(writer);
    put_params(writer);
    put_results(writer);
    put_values(writer);
    put_blocks(writer);
    put_ops(writer);
    json_line(out(writer));
    json_data_indices(&writer->data, "returns", graph->returns.at, graph->returns.count);
    op_places_free(&writer->places);
}

/* -------------------------------------------------------------------------- entries ---- */

/* The name of a group: a member for a value's name, or for a word. */
static void put_named(struct writer *writer, const char *key, uint32_t name, bool word)
{
    json_key(out(writer), key);
    json_open_object(out(writer));
    json_data_name(&writer->data, "value", word ? NONE : name);
    json_data_name(&writer->data, "word", word ? name : NONE);
    json_close_object(out(writer));
}

static void put_arg(struct writer *writer, const struct arg *arg)
{
    static const char *const kinds[] = {
        [ARG_VALUE] = "value", [ARG_NONE] = "none", [ARG_LIST] = "list",
        [ARG_WORD] = "word",   [ARG_SEND] = "send", [ARG_RECV] = "recv",
    };
    struct json *json = out(writer);
    json_open_object(json);
    if (arg->kind == ARG_NONE) {
        json_key(json, "none");
        json_bool(json, true);
    } else if (arg->kind == ARG_LIST) {
        json_key(json, "list");
        json_open_array(json);
        for (uint32_t i = 0; i < arg->count; i++)
            json_data_string(&writer->data, writer->entry->listed.at[arg->id + i]);
        json_close_array(json);
    } else {
        json_data_name(&writer->data, kinds[arg->kind], arg->id);
    }
    json_close_object(json);
}

static void put_groups(struct writer *writer)
{
    const struct entry *entry = writer->entry;
    begin_list(writer, "groups");
    for (uint32_t i = 0; i < entry->groups.count && begin_row(writer); i++) {
        const struct arg_group *group = &entry->groups.at[i];
        put_named(writer, "name", group->name, group->word);
        json_add_unsigned(out(writer), "slot", group_slot(entry, group));
        json_key(out(writer), "args");
        json_open_array(out(writer));
        for (uint32_t n = 0; n < group->args.count; n++)
            put_arg(writer, group_arg(entry, group, n));
        json_close_array(out(writer));
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
}

static void put_early(struct json *json, unsigned early)
{
    static const char *const waits[] = {NULL, "aic", "aiv", "mix"};
    const char *wait = waits[early & EARLY_WAIT_MIX];
    json_key(json, "early_wait");
    if (wait)
        json_string(json, wait);
    else
        json_null(json);
    json_key(json, "early_set");
    json_bool(json, early & EARLY_SET);
}

static void put_kernel_part(struct writer *writer, const struct instr *instr)
{
    struct json *json = out(writer);
    json_data_name(&writer->data, "kernel", instr->kernel);
    json_key(json, "part");
    if (instr->part < CORE_TYPES)
        json_string(json, core_type_name(instr->part));
    else
        json_null(json);
}

/* One operand, by its letter in the table of instructions. */
static void put_operand(struct writer *writer, const struct instr *instr, char operand)
{
    bool lock = instr->word;
    static const char *const phases[] = {"begin", "end", "complement"};
    struct json *json = out(writer);
    switch (operand) {
    case 'K': put_kernel_part(writer, instr); break;
    case 'V':
    case 'L':
        json_data_name(&writer->data, "event", lock ? NONE : instr->number[0]);
        json_data_index(&writer->data, "lock", lock ? instr->number[0] : NONE);
        break;
    case 'G': json_add_string(json, "group", core_type_name(instr->word)); break;
    case 'F': json_add_string(json, "flag", instr->word == CORE_AIC ? "c2v" : "v2c"); break;
    case 'P':
    case 'B': json_add_string(json, "phase", phases[instr->word]); break;
    case 'E': put_early(json, instr->early); break;
    default: break; /* words stand for themselves */
    }
}

/* A number, or the index of a group, has the word before it for a key; other numbers stand in a
 * list. */
static void put_operands(struct writer *writer, const struct instr *instr, const char *operands)
{
    const char *word = NULL;
    size_t word_size = 0;
    uint32_t n_numbers = 0, n_listed = 0;
    while (*operands) {
        size_t size = strcspn(operands, " ");
        if (*operands != 'N' && *operands != 'S') {
            put_operand(writer, instr, *operands);
        } else if (word) {
            json_key_bytes(out(writer), word, word_size);
            json_unsigned(out(writer), instr->number[n_numbers++]);
        } else {
            n_numbers++;
            n_listed++;
        }
        word = *operands >= 'a' && *operands <= 'z' ? operands : NULL;
        word_size = size;
        operands += size + (operands[size] == ' ');
    }
    if (n_listed)
        json_data_indices(&writer->data, "numbers", instr->number + n_numbers - n_listed, n_listed);
}

static void put_instr(struct writer *writer, const struct instr *instr)
{
    const struct instr_info *info = instr_info(instr->op);
    struct text text = {NULL, 0, 0};
    json_add_string(out(writer), "instr", info->name);
    spell_instr(&text, writer->data.module, writer->entry, instr);
    json_add_bytes(out(writer), "text", text.at, text.size);
    text_free(&text);
    if (instr->op == INSTR_call && instr->kernel == NONE)
        put_named(writer, "of", instr->number[0], instr->word);
    else
        put_operands(writer, instr, info->operands);
}

static void put_program(struct writer *writer, const struct program *program, enum core_type core)
{
    if (!program->present) {
        json_line(out(writer));
        json_key(out(writer), core_type_name(core));
        json_null(out(writer));
        return;
    }
    begin_list(writer, core_type_name(core));
    for (uint32_t i = 0; i < program->instrs.count && begin_row(writer); i++) {
        put_instr(writer, &program->instrs.at[i]);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
}

static void put_entry(struct writer *writer, const struct entry *entry)
{
    json_data_name(&writer->data, "name", entry->name);
    json_add_string(out(writer), "type", kernel_type_info(entry->type)->name);
    json_data_attrs(&writer->data, entry->attrs);
    writer->entry = entry;
    put_groups(writer);
    for (int core = 0; core < CORE_TYPES; core++)
        put_program(writer, &entry->programs[core], (enum core_type)core);
}

/* --------------------------------------------------------------------------- module ---- */

static void put_target(struct writer *writer)
{
    const struct module *module = writer->data.module;
    json_line(out(writer));
    json_key(out(writer), "target");
    if (module->targets.count == 0) {
        json_null(out(writer));
        return;
    }
    json_open_object(out(writer));
    json_data_name(&writer->data, "name", module->targets.at[0].name);
    json_data_attrs(&writer->data, module->targets.at[0].attrs);
    json_close_object(out(writer));
}

static void put_kernel(struct writer *writer, const struct kernel *kernel)
{
    json_data_name(&writer->data, "name", kernel->name);
    json_add_string(out(writer), "type", kernel_type_info(kernel->type)->name);
    json_data_attrs(&writer->data, kernel->attrs);
}

static void put_module(struct writer *writer)
{
    const struct module *module = writer->data.module;
    json_add_unsigned(out(writer), "skir", 1);
    put_target(writer);
    begin_list(writer, "kernels");
    for (uint32_t i = 0; i < module->kernels.count && begin_row(writer); i++) {
        put_kernel(writer, &module->kernels.at[i]);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
    begin_list(writer, "graphs");
    for (uint32_t i = 0; i < module->graphs.count && begin_row(writer); i++) {
        put_graph(writer, &module->graphs.at[i]);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
    begin_list(writer, "entries");
    for (uint32_t i = 0; i < module->entries.count && begin_row(writer); i++) {
        put_entry(writer, &module->entries.at[i]);
        json_close_object(out(writer));
    }
    json_close_array(out(writer));
}

bool exchange_write_json(struct print_sink *sink, const struct module *module)
{
    struct writer writer = {.pieces = {.sink = sink}, .data = {.module = module}};
    writer.data.json.text = &writer.pieces.text;
    json_open_object(&writer.data.json);
    put_module(&writer);
    json_close_object(&writer.data.json);
    text_char(&writer.pieces.text, '\n');
    return pieces_end(&writer.pieces);
}
