/* Modules as JSON (docs/command-line.md, "skirc export"). */
#include <math.h>

#include "frontend/exchange.h"
#include "frontend/export/foreign.h"
#include "ir/core/kernel_args.h"
#include "ir/core/module.h"
#include "ir/core/operands.h"
#include "ir/support/json.h"
#include "ir/syntax/spelling.h"

/* A module on its way out. */
struct writer {
    struct pieces pieces;
    struct json json;
    const struct module *module;
    /* The graph at hand. */
    const struct graph *graph;
    struct op_places places;
    /* The entry at hand. */
    const struct entry *entry;
    const struct program *program;
};

/* Integers up to this are numbers; others are strings of digits, since readers take numbers as
 * doubles. */
#define SAFE_INTEGER ((int64_t)1 << 53)

/* ---------------------------------------------------------------- names and numbers ---- */

static void put_key(struct writer *writer, uint32_t name)
{
    const struct intern_name *bytes = &writer->module->names.names[name];
    json_key_bytes(&writer->json, bytes->text, bytes->size);
}

static void put_string(struct writer *writer, uint32_t name)
{
    const struct intern_name *bytes = &writer->module->names.names[name];
    json_bytes(&writer->json, bytes->text, bytes->size);
}

/* Members: a name, an index, which are null for NONE, and a list of indices. */
static void put_name(struct writer *writer, const char *key, uint32_t name)
{
    json_key(&writer->json, key);
    if (name == NONE)
        json_null(&writer->json);
    else
        put_string(writer, name);
}

static void put_index(struct writer *writer, const char *key, uint32_t index)
{
    json_key(&writer->json, key);
    if (index == NONE)
        json_null(&writer->json);
    else
        json_unsigned(&writer->json, index);
}

static void put_indices(struct writer *writer, const char *key, const uint32_t *at, uint32_t count)
{
    json_key(&writer->json, key);
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < count; i++)
        json_unsigned(&writer->json, at[i]);
    json_close_array(&writer->json);
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
static void put_integer(struct writer *writer, int64_t number)
{
    if (is_safe(number))
        json_signed(&writer->json, number);
    else
        put_digits(&writer->json, number);
}

/* ---------------------------------------------------------------------------- types ---- */

static void put_type_dims(struct writer *writer, const struct type *type)
{
    const int64_t *dims = writer->module->dims.at + type->dims;
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < type->rank; i++)
        if (dims[i] == DIM_UNKNOWN)
            json_null(&writer->json);
        else if (dim_is_gear(dims[i]))
            put_string(writer, dim_gear(dims[i]));
        else
            put_integer(writer, dims[i]);
    json_close_array(&writer->json);
}

static void put_type(struct writer *writer, uint32_t id)
{
    const struct type *type = &writer->module->types.at[id];
    if (type->dtype == DTYPE_TOKEN) {
        json_string(&writer->json, "token");
        return;
    }
    json_open_object(&writer->json);
    json_key(&writer->json, "dtype");
    if (type->dtype == DTYPE_UNKNOWN)
        json_null(&writer->json);
    else
        json_string(&writer->json, dtype_info(type->dtype)->name);
    json_key(&writer->json, "dims");
    if (type->rank == RANK_UNKNOWN)
        json_null(&writer->json);
    else
        put_type_dims(writer, type);
    put_name(writer, "format", type->format);
    json_close_object(&writer->json);
}

/* ----------------------------------------------------------------------- attributes ---- */

static void put_value(struct writer *writer, const struct attr_value *value);

static void put_dict(struct writer *writer, struct range attrs)
{
    json_open_object(&writer->json);
    for (uint32_t i = 0; i < attrs.count; i++) {
        const struct attr *attr = &writer->module->attrs.at[attrs.first + i];
        put_key(writer, attr->key);
        put_value(writer, &attr->value);
    }
    json_close_object(&writer->json);
}

/* What JSON has no kind for: an object whose one key says what it is. */
static void put_tagged(struct writer *writer, const struct attr_value *value)
{
    struct json *json = &writer->json;
    json_open_object(json);
    switch ((enum attr_kind)value->kind) {
    case ATTR_INT:
        json_key(json, "int");
        put_digits(json, value->i);
        break;
    case ATTR_FLOAT:
        json_add_string(json, "float", isnan(value->f) ? "nan" : value->f < 0 ? "-inf" : "inf");
        break;
    case ATTR_WORD: put_name(writer, "word", value->id); break;
    case ATTR_SYMBOL: put_name(writer, "symbol", value->id); break;
    case ATTR_VALUE: put_name(writer, "value", value->id); break;
    case ATTR_TYPE:
        json_key(json, "type");
        put_type(writer, value->id);
        break;
    case ATTR_DICT:
        json_key(json, "dict");
        put_dict(writer, (struct range){value->first, value->count});
        break;
    case ATTR_LIST: put_name(writer, "list", value->first); break;
    case ATTR_BOOL:
    case ATTR_STRING: break; /* JSON has them */
    }
    json_close_object(json);
}

static void put_value(struct writer *writer, const struct attr_value *value)
{
    struct json *json = &writer->json;
    if (value->kind == ATTR_INT && is_safe(value->i))
        json_signed(json, value->i);
    else if (value->kind == ATTR_FLOAT && isfinite(value->f))
        json_double(json, value->f);
    else if (value->kind == ATTR_BOOL)
        json_bool(json, value->i);
    else if (value->kind == ATTR_STRING)
        put_string(writer, value->id);
    else if (value->kind == ATTR_LIST && (value->count || !value->first)) {
        json_open_array(json);
        for (uint32_t i = 0; i < value->count; i++)
            put_value(writer, &writer->module->attr_values.at[value->first + i]);
        json_close_array(json);
    } else {
        put_tagged(writer, value);
    }
}

static void put_attrs(struct writer *writer, struct range attrs)
{
    json_key(&writer->json, "attrs");
    put_dict(writer, attrs);
}

/* ---------------------------------------------------------------------------- lists ---- */

/* A list of objects, each on a line of its own, as long as more is wanted. */
static void put_rows(struct writer *writer, const char *key, uint32_t count,
                     void (*put)(struct writer *, uint32_t))
{
    json_line(&writer->json);
    json_key(&writer->json, key);
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < count && pieces_next(&writer->pieces); i++) {
        json_line(&writer->json);
        json_open_object(&writer->json);
        put(writer, i);
        json_close_object(&writer->json);
    }
    json_close_array(&writer->json);
}

/* --------------------------------------------------------------------------- graphs ---- */

static void put_param(struct writer *writer, uint32_t i)
{
    json_add_unsigned(&writer->json, "value", i);
    put_attrs(writer, writer->graph->params.at[i].attrs);
}

/* A list of values of gears. */
static void put_integers(struct writer *writer, struct range values)
{
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < values.count; i++)
        put_integer(writer, writer->graph->gear_values.at[values.first + i]);
    json_close_array(&writer->json);
}

static void put_gears(struct writer *writer)
{
    const struct graph *graph = writer->graph;
    json_key(&writer->json, "gears");
    if (graph->gear_mode == GEARS_NONE) {
        json_null(&writer->json);
        return;
    }
    json_open_object(&writer->json);
    json_add_string(&writer->json, "mode", graph->gear_mode == GEARS_ZIP ? "zip" : "product");
    json_key(&writer->json, "dims");
    json_open_object(&writer->json);
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        const struct gear *gear = &graph->gears.at[i];
        put_key(writer, gear->name);
        put_integers(writer, gear->values);
    }
    json_close_object(&writer->json);
    if (graph->cases.count) { /* they are expanded */
        json_key(&writer->json, "cases");
        json_open_array(&writer->json);
        for (uint32_t i = 0; i < graph->cases.count; i++) {
            json_open_object(&writer->json);
            json_key(&writer->json, "values");
            put_integers(writer, graph->cases.at[i].values);
            put_name(writer, "graph", graph->cases.at[i].graph);
            json_close_object(&writer->json);
        }
        json_close_array(&writer->json);
    }
    json_close_object(&writer->json);
}

static void put_value_row(struct writer *writer, uint32_t i)
{
    const struct value *value = &writer->graph->values.at[i];
    bool defined = value->def < writer->graph->ops.count;
    put_name(writer, "name", value->name);
    json_key(&writer->json, "type");
    put_type(writer, value->type);
    put_index(writer, "op", defined ? writer->places.of_op[value->def] : NONE);
}

static void put_events(struct writer *writer, const char *key, struct range events)
{
    json_key(&writer->json, key);
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < events.count; i++)
        put_string(writer, writer->graph->refs.at[events.first + i]);
    json_close_array(&writer->json);
}

static void put_block(struct writer *writer, uint32_t i)
{
    static const char *const kinds[] = {[BLOCK_SCOPE] = "scope",
                                        [BLOCK_SCOPE_NONE] = "scope none",
                                        [BLOCK_STREAM] = "stream",
                                        [BLOCK_SUPERKERNEL] = "superkernel",
                                        [BLOCK_SUPERKERNEL_REST] = "superkernel"};
    const struct block *block = &writer->graph->blocks.at[i];
    json_add_string(&writer->json, "kind", kinds[block->kind]);
    put_name(writer, "name", block_name(writer->graph, block));
    put_index(writer, "parent", block->parent);
    json_add_unsigned(&writer->json, "first", writer->places.blocks[i].first);
    json_add_unsigned(&writer->json, "count", writer->places.blocks[i].count);
    put_attrs(writer, block->attrs);
    put_events(writer, "send", block->send);
    put_events(writer, "recv", block->recv);
}

/* How the operands are written, where they are not all plain values: lists of indices, one index,
 * or null. */
static void put_forms(struct writer *writer, const struct op *op)
{
    const struct graph *graph = writer->graph;
    json_key(&writer->json, "forms");
    json_open_array(&writer->json);
    for (uint32_t place = 0; place < op_n_places(graph, op); place++) {
        struct operand operand = op_operand(graph, op, place);
        const uint32_t *values = graph->refs.at + operand.values.first;
        json_open_object(&writer->json);
        put_name(writer, "label", operand.label);
        if (operand.kind == OPERAND_LIST)
            put_indices(writer, "list", values, operand.values.count);
        else
            put_index(writer, "value", operand.kind == OPERAND_NONE ? NONE : values[0]);
        json_close_object(&writer->json);
    }
    json_close_array(&writer->json);
}

static void put_op(struct writer *writer, uint32_t place)
{
    const struct graph *graph = writer->graph;
    const struct op *op = &graph->ops.at[writer->places.ops[place]];
    const struct clauses *clauses = op_clauses(graph, op);
    put_name(writer, "type", op->type);
    put_indices(writer, "operands", op_operands(graph, op), op->operands.count);
    if (op_has_forms(graph, op))
        put_forms(writer, op);
    json_key(&writer->json, "results");
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < op->results.count; i++)
        json_unsigned(&writer->json, op->results.first + i);
    json_close_array(&writer->json);
    put_attrs(writer, op->attrs);
    put_name(writer, "kernel", op->kernel);
    put_index(writer, "block", op->block);
    const struct range after = clauses->after;
    put_indices(writer, "after", after.count ? &graph->refs.at[after.first] : NULL, after.count);
    put_events(writer, "send", clauses->send);
    put_events(writer, "recv", clauses->recv);
}

static void put_graph(struct writer *writer, uint32_t index)
{
    const struct graph *graph = writer->graph = &writer->module->graphs.at[index];
    op_places_init(&writer->places, graph);
    put_name(writer, "name", graph->name);
    put_attrs(writer, graph->attrs);
    json_key(&writer->json, "dims");
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < graph->dims.count; i++)
        put_string(writer, graph->dims.at[i].name);
    json_close_array(&writer->json);
    put_gears(writer);
    put_rows(writer, "params", writer->graph->n_params, put_param);
    json_line(&writer->json);
    json_key(&writer->json, "results");
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < graph->result_types.count; i++)
        put_type(writer, graph->result_types.at[i]);
    json_close_array(&writer->json);
    put_rows(writer, "values", writer->graph->values.count, put_value_row);
    put_rows(writer, "blocks", writer->graph->blocks.count, put_block);
    put_rows(writer, "ops", writer->places.count, put_op);
    json_line(&writer->json);
    put_indices(writer, "returns", graph->returns.at, graph->returns.count);
    op_places_free(&writer->places);
}

/* -------------------------------------------------------------------------- entries ---- */

/* The name of a group: a member for a value's name, or for a word. */
static void put_named(struct writer *writer, const char *key, uint32_t name, bool word)
{
    json_key(&writer->json, key);
    json_open_object(&writer->json);
    put_name(writer, "value", word ? NONE : name);
    put_name(writer, "word", word ? name : NONE);
    json_close_object(&writer->json);
}

static void put_arg(struct writer *writer, const struct arg *arg)
{
    static const char *const kinds[] = {
        [ARG_VALUE] = "value", [ARG_NONE] = "none", [ARG_LIST] = "list",
        [ARG_WORD] = "word",   [ARG_SEND] = "send", [ARG_RECV] = "recv",
    };
    struct json *json = &writer->json;
    json_open_object(json);
    if (arg->kind == ARG_NONE) {
        json_key(json, "none");
        json_bool(json, true);
    } else if (arg->kind == ARG_LIST) {
        json_key(json, "list");
        json_open_array(json);
        for (uint32_t i = 0; i < arg->count; i++)
            put_string(writer, writer->entry->listed.at[arg->id + i]);
        json_close_array(json);
    } else {
        put_name(writer, kinds[arg->kind], arg->id);
    }
    json_close_object(json);
}

static void put_group(struct writer *writer, uint32_t i)
{
    const struct entry *entry = writer->entry;
    const struct arg_group *group = &entry->groups.at[i];
    put_named(writer, "name", group->name, group->word);
    json_add_unsigned(&writer->json, "slot", group_slot(entry, group));
    json_key(&writer->json, "args");
    json_open_array(&writer->json);
    for (uint32_t n = 0; n < group->args.count; n++)
        put_arg(writer, group_arg(entry, group, n));
    json_close_array(&writer->json);
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
    struct json *json = &writer->json;
    put_name(writer, "kernel", instr->kernel);
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
    struct json *json = &writer->json;
    switch (operand) {
    case 'K': put_kernel_part(writer, instr); break;
    case 'V':
    case 'L':
        put_name(writer, "event", lock ? NONE : instr->number[0]);
        put_index(writer, "lock", lock ? instr->number[0] : NONE);
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
            json_key_bytes(&writer->json, word, word_size);
            json_unsigned(&writer->json, instr->number[n_numbers++]);
        } else {
            n_numbers++;
            n_listed++;
        }
        word = *operands >= 'a' && *operands <= 'z' ? operands : NULL;
        word_size = size;
        operands += size + (operands[size] == ' ');
    }
    if (n_listed)
        put_indices(writer, "numbers", instr->number + n_numbers - n_listed, n_listed);
}

static void put_instr(struct writer *writer, uint32_t index)
{
    const struct instr *instr = &writer->program->instrs.at[index];
    const struct instr_info *info = instr_info(instr->op);
    struct text text = {NULL, 0, 0};
    json_add_string(&writer->json, "instr", info->name);
    spell_instr(&text, writer->module, writer->entry, instr);
    json_add_bytes(&writer->json, "text", text.at, text.size);
    text_free(&text);
    if (instr->op == INSTR_call && instr->kernel == NONE)
        put_named(writer, "of", instr->number[0], instr->word);
    else
        put_operands(writer, instr, info->operands);
}

static void put_entry(struct writer *writer, uint32_t index)
{
    const struct entry *entry = writer->entry = &writer->module->entries.at[index];
    put_name(writer, "name", entry->name);
    json_add_string(&writer->json, "type", kernel_type_info(entry->type)->name);
    put_attrs(writer, entry->attrs);
    put_rows(writer, "groups", entry->groups.count, put_group);
    for (int core = 0; core < CORE_TYPES; core++) {
        const char *key = core_type_name((enum core_type)core);
        writer->program = &entry->programs[core];
        if (writer->program->present) {
            put_rows(writer, key, writer->program->instrs.count, put_instr);
            continue;
        }
        json_line(&writer->json);
        json_key(&writer->json, key);
        json_null(&writer->json);
    }
}

/* --------------------------------------------------------------------------- module ---- */

static void put_target(struct writer *writer)
{
    const struct module *module = writer->module;
    json_line(&writer->json);
    json_key(&writer->json, "target");
    if (module->targets.count == 0) {
        json_null(&writer->json);
        return;
    }
    json_open_object(&writer->json);
    put_name(writer, "name", module->targets.at[0].name);
    put_attrs(writer, module->targets.at[0].attrs);
    json_close_object(&writer->json);
}

static void put_kernel(struct writer *writer, uint32_t index)
{
    const struct kernel *kernel = &writer->module->kernels.at[index];
    put_name(writer, "name", kernel->name);
    json_add_string(&writer->json, "type", kernel_type_info(kernel->type)->name);
    put_attrs(writer, kernel->attrs);
}

bool exchange_write_json(struct print_sink *sink, const struct module *module)
{
    struct writer writer = {.pieces = {.sink = sink}, .module = module};
    writer.json.text = &writer.pieces.text;
    json_open_object(&writer.json);
    json_add_unsigned(&writer.json, "skir", 1);
    put_target(&writer);
    put_rows(&writer, "kernels", module->kernels.count, put_kernel);
    put_rows(&writer, "graphs", module->graphs.count, put_graph);
    put_rows(&writer, "entries", module->entries.count, put_entry);
    json_close_object(&writer.json);
    text_char(&writer.pieces.text, '\n');
    return pieces_end(&writer.pieces);
}
