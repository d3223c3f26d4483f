/* Modules as JSON (docs/command-line.md, "skirc export"). */
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/op_places.h"
#include "frontend/exchange/pieces.h"
#include "ir/base/json.h"
#include "ir/syntax/spelling.h"

#include <math.h>

/* Integers up to this are numbers; others are strings of digits, since readers take numbers as
 * doubles. */
#define SAFE_INTEGER ((int64_t)1 << 53)

/* A module on its way out. */
struct writer {
    struct pieces pieces;
    struct json json;
    const struct module *module;
    /* The graph at hand. */
    const struct graph *graph;
    struct op_places places;
};

/* -------------------------------------------------------------------------- members ---- */

/* A name, or null for NONE. */
static void put_name(struct writer *writer, const char *key, uint32_t id)
{
    json_key(&writer->json, key);
    if (id == NONE) {
        json_null(&writer->json);
        return;
    }
    const struct intern_name *name = &writer->module->names.names[id];
    json_bytes(&writer->json, name->text, name->size);
}

/* An index, or null for NONE. */
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

static void put_integer(struct json *json, int64_t number)
{
    if (is_safe(number))
        json_signed(json, number);
    else
        put_digits(json, number);
}

static void begin_list(struct writer *writer, const char *key)
{
    json_line(&writer->json);
    json_key(&writer->json, key);
    json_open_array(&writer->json);
}

/* An element of an outer list: a line of its own. Returns false where no more is wanted. */
static bool begin_row(struct writer *writer)
{
    if (!pieces_next(&writer->pieces))
        return false;
    json_line(&writer->json);
    json_open_object(&writer->json);
    return true;
}

/* ---------------------------------------------------------------- types, attributes ---- */

static void put_dim(struct writer *writer, int64_t dim)
{
    struct json *json = &writer->json;
    if (dim == DIM_UNKNOWN) {
        json_null(json);
    } else if (dim_is_gear(dim)) {
        const struct intern_name *gear = &writer->module->names.names[dim_gear(dim)];
        json_bytes(json, gear->text, gear->size);
    } else {
        put_integer(json, dim);
    }
}

static void put_type(struct writer *writer, uint32_t id)
{
    const struct type *type = &writer->module->types.at[id];
    const int64_t *dims = type_dims(writer->module, id);
    json_open_object(&writer->json);
    json_add_string(&writer->json, "dtype", dtype_info(type->dtype)->name);
    json_key(&writer->json, "dims");
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < type->rank; i++)
        put_dim(writer, dims[i]);
    json_close_array(&writer->json);
    put_name(writer, "format", type->format);
    json_close_object(&writer->json);
}

static void put_value(struct writer *writer, const struct attr_value *value);

static void put_dict(struct writer *writer, struct range attrs)
{
    json_open_object(&writer->json);
    for (uint32_t i = 0; i < attrs.count; i++) {
        const struct attr *attr = &writer->module->attrs.at[attrs.first + i];
        const struct intern_name *key = &writer->module->names.names[attr->key];
        json_key_bytes(&writer->json, key->text, key->size);
        put_value(writer, &attr->value);
    }
    json_close_object(&writer->json);
}

static void put_list(struct writer *writer, const struct attr_value *list)
{
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < list->count; i++)
        put_value(writer, &writer->module->attr_values.at[list->first + i]);
    json_close_array(&writer->json);
}

static const char *float_text(double number)
{
    return isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
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
    case ATTR_FLOAT: json_add_string(json, "float", float_text(value->f)); break;
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
    case ATTR_BOOL:
    case ATTR_STRING:
    case ATTR_LIST: break; /* JSON has them */
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
        json_bytes(json, writer->module->names.names[value->id].text,
                   writer->module->names.names[value->id].size);
    else if (value->kind == ATTR_LIST)
        put_list(writer, value);
    else
        put_tagged(writer, value);
}

static void put_attrs(struct writer *writer, struct range attrs)
{
    json_key(&writer->json, "attrs");
    put_dict(writer, attrs);
}

/* --------------------------------------------------------------------------- graphs ---- */

static void put_params(struct writer *writer)
{
    begin_list(writer, "params");
    for (uint32_t i = 0; i < writer->graph->n_params && begin_row(writer); i++) {
        json_add_unsigned(&writer->json, "value", i);
        put_attrs(writer, writer->graph->params.at[i].attrs);
        json_close_object(&writer->json);
    }
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
        const struct intern_name *name = &writer->module->names.names[gear->name];
        json_key_bytes(&writer->json, name->text, name->size);
        json_open_array(&writer->json);
        for (uint32_t j = 0; j < gear->values.count; j++)
            put_integer(&writer->json, graph->gear_values.at[gear->values.first + j]);
        json_close_array(&writer->json);
    }
    json_close_object(&writer->json);
    json_close_object(&writer->json);
}

static void put_results(struct writer *writer)
{
    const struct vec_u32 *types = &writer->graph->result_types;
    json_line(&writer->json);
    json_key(&writer->json, "results");
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < types->count; i++)
        put_type(writer, types->at[i]);
    json_close_array(&writer->json);
}

static void put_values(struct writer *writer)
{
    begin_list(writer, "values");
    for (uint32_t i = 0; i < writer->graph->values.count && begin_row(writer); i++) {
        const struct value *value = &writer->graph->values.at[i];
        bool defined = value->def < writer->graph->ops.count;
        put_name(writer, "name", value->name);
        json_key(&writer->json, "type");
        put_type(writer, value->type);
        put_index(writer, "op", defined ? writer->places.of_op[value->def] : NONE);
        json_close_object(&writer->json);
    }
    json_close_array(&writer->json);
}

static void put_blocks(struct writer *writer)
{
    static const char *const kinds[] = {[BLOCK_SCOPE] = "scope",
                                        [BLOCK_SCOPE_NONE] = "scope none",
                                        [BLOCK_STREAM] = "stream",
                                        [BLOCK_SUPERKERNEL] = "superkernel"};
    begin_list(writer, "blocks");
    for (uint32_t i = 0; i < writer->graph->blocks.count && begin_row(writer); i++) {
        const struct block *block = &writer->graph->blocks.at[i];
        json_add_string(&writer->json, "kind", kinds[block->kind]);
        put_name(writer, "name", block->name);
        put_index(writer, "parent", block->parent);
        json_add_unsigned(&writer->json, "first", writer->places.blocks[i].first);
        json_add_unsigned(&writer->json, "count", writer->places.blocks[i].count);
        put_attrs(writer, block->attrs);
        json_close_object(&writer->json);
    }
    json_close_array(&writer->json);
}

static void put_events(struct writer *writer, const char *key, struct range events)
{
    json_key(&writer->json, key);
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t id = writer->graph->refs.at[events.first + i];
        const struct intern_name *name = &writer->module->names.names[id];
        json_bytes(&writer->json, name->text, name->size);
    }
    json_close_array(&writer->json);
}

static void put_op(struct writer *writer, const struct op *op)
{
    const struct graph *graph = writer->graph;
    const struct clauses *clauses = op_clauses(graph, op);
    put_name(writer, "type", op->type);
    put_indices(writer, "operands", op_operands(graph, op), op->operands.count);
    json_key(&writer->json, "results");
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < op->results.count; i++)
        json_unsigned(&writer->json, op->results.first + i);
    json_close_array(&writer->json);
    put_attrs(writer, op->attrs);
    put_name(writer, "kernel", op->kernel);
    put_index(writer, "block", op->block);
    put_indices(writer, "after", graph->refs.at + clauses->after.first, clauses->after.count);
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
        json_close_object(&writer->json);
    }
    json_close_array(&writer->json);
}

static void put_graph(struct writer *writer, const struct graph *graph)
{
    writer->graph = graph;
    op_places_init(&writer->places, graph);
    put_name(writer, "name", graph->name);
    put_gears(writer);
    put_params(writer);
    put_results(writer);
    put_values(writer);
    put_blocks(writer);
    put_ops(writer);
    json_line(&writer->json);
    put_indices(writer, "returns", graph->returns.at, graph->returns.count);
    op_places_free(&writer->places);
}

/* -------------------------------------------------------------------------- entries ---- */

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
    static const char *const phases[] = {"begin", "end", "complement"};
    struct json *json = &writer->json;
    switch (operand) {
    case 'K': put_kernel_part(writer, instr); break;
    case 'G': json_add_string(json, "group", core_type_name(instr->word)); break;
    case 'F': json_add_string(json, "flag", instr->word == CORE_AIC ? "c2v" : "v2c"); break;
    case 'P':
    case 'B': json_add_string(json, "phase", phases[instr->word]); break;
    case 'E': put_early(json, instr->early); break;
    default: break; /* words stand for themselves */
    }
}

/* A number has the word before it for a key; the others stand in a list. */
static void put_operands(struct writer *writer, const struct instr *instr, const char *operands)
{
    const char *word = NULL;
    size_t word_size = 0;
    uint32_t n_numbers = 0, n_listed = 0;
    while (*operands) {
        size_t size = strcspn(operands, " ");
        if (*operands != 'N') {
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

static void put_instr(struct writer *writer, const struct instr *instr)
{
    const struct instr_info *info = instr_info(instr->op);
    struct text text = {NULL, 0, 0};
    json_add_string(&writer->json, "instr", info->name);
    spell_instr(&text, writer->module, instr);
    json_add_bytes(&writer->json, "text", text.at, text.size);
    text_free(&text);
    put_operands(writer, instr, info->operands);
}

static void put_program(struct writer *writer, const struct program *program, enum core_type core)
{
    if (!program->present) {
        json_line(&writer->json);
        json_key(&writer->json, core_type_name(core));
        json_null(&writer->json);
        return;
    }
    begin_list(writer, core_type_name(core));
    for (uint32_t i = 0; i < program->instrs.count && begin_row(writer); i++) {
        put_instr(writer, &program->instrs.at[i]);
        json_close_object(&writer->json);
    }
    json_close_array(&writer->json);
}

static void put_entry(struct writer *writer, const struct entry *entry)
{
    put_name(writer, "name", entry->name);
    json_add_string(&writer->json, "type", kernel_type_info(entry->type)->name);
    put_attrs(writer, entry->attrs);
    for (int core = 0; core < CORE_TYPES; core++)
        put_program(writer, &entry->programs[core], (enum core_type)core);
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

static void put_kernel(struct writer *writer, const struct kernel *kernel)
{
    put_name(writer, "name", kernel->name);
    json_add_string(&writer->json, "type", kernel_type_info(kernel->type)->name);
    put_attrs(writer, kernel->attrs);
}

static void put_module(struct writer *writer)
{
    const struct module *module = writer->module;
    json_add_unsigned(&writer->json, "skir", 1);
    put_target(writer);
    begin_list(writer, "kernels");
    for (uint32_t i = 0; i < module->kernels.count && begin_row(writer); i++) {
        put_kernel(writer, &module->kernels.at[i]);
        json_close_object(&writer->json);
    }
    json_close_array(&writer->json);
    begin_list(writer, "graphs");
    for (uint32_t i = 0; i < module->graphs.count && begin_row(writer); i++) {
        put_graph(writer, &module->graphs.at[i]);
        json_close_object(&writer->json);
    }
    json_close_array(&writer->json);
    begin_list(writer, "entries");
    for (uint32_t i = 0; i < module->entries.count && begin_row(writer); i++) {
        put_entry(writer, &module->entries.at[i]);
        json_close_object(&writer->json);
    }
    json_close_array(&writer->json);
}

bool exchange_write_json(struct print_sink *sink, const struct module *module)
{
    struct writer writer = {.pieces = {.sink = sink}, .module = module};
    writer.json.text = &writer.pieces.text;
    json_open_object(&writer.json);
    put_module(&writer);
    json_close_object(&writer.json);
    text_char(&writer.pieces.text, '\n');
    return pieces_end(&writer.pieces);
}
