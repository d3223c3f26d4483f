#include "ir/op_type_reader.h"
#include "ir/op_attr_defaults.h"
#include "ir/op_rules.h"
#include "ir/op_type_reading.h"

#include <string.h>

/* ----------------------------------------------------------------- attributes ---- */

const char *op_attr_kind_name(enum op_attr_kind kind)
{
    static const char *const names[OP_ATTR_KINDS] = {"int",  "float",  "bool",    "string",
                                                     "ints", "floats", "contents"};
    return names[kind];
}

/* "KIND" or "KIND = VALUE". */
static bool read_attr(const struct reading *reading, const cJSON *item, struct op_attr *attr)
{
    const char *text = cJSON_IsString(item) ? item->valuestring : "";
    size_t size = strcspn(text, " =");
    if (!op_reading_is_word(item->string, strlen(item->string)))
        return op_reading_fail(reading, json_key_span(reading->document, item),
                               "'%s' is no name of an attribute", item->string);
    *attr = (struct op_attr){.name = op_reading_copy(reading, item->string, strlen(item->string)),
                             .kind = OP_ATTR_KINDS};
    for (int kind = 0; kind < OP_ATTR_KINDS; kind++)
        if (op_reading_is_text(op_attr_kind_name((enum op_attr_kind)kind), text, size))
            attr->kind = (enum op_attr_kind)kind;
    text += size + strspn(text + size, " ");
    if (attr->kind == OP_ATTR_KINDS || (*text && *text != '='))
        return op_reading_fail(reading, json_span(reading->document, item),
                               "attribute '%s' has no kind such as \"int\" or \"int = 0\"",
                               item->string);
    if (*text)
        text += 1 + strspn(text + 1, " ");
    else
        text = NULL;
    attr->fallback = text ? op_reading_copy(reading, text, strlen(text)) : NULL;
    return !text || op_attr_read_default(attr, reading->arena) ||
           op_reading_fail(reading, json_span(reading->document, item),
                           "attribute '%s' cannot be '%.80s': that is no %s", attr->name, text,
                           op_attr_kind_name(attr->kind));
}

static bool read_attrs(const struct reading *reading, const cJSON *attributes)
{
    struct op_type *type = reading->type;
    const cJSON *item;
    uint32_t count = cJSON_GetArraySize(attributes);
    if (count == 0)
        return true;
    if (count > MAX_OP_ATTRS)
        return op_reading_fail(reading, json_span(reading->document, attributes),
                               "there are more than %d attributes", MAX_OP_ATTRS);
    struct op_attr *attrs = arena_alloc(reading->arena, (size_t)count * sizeof *attrs);
    type->attrs = attrs;
    for (EACH_ITEM(item, attributes)) {
        const char *name = item->string;
        if (!read_attr(reading, item, &attrs[type->n_attrs]))
            return false;
        if (op_reading_find_any(reading, name, strlen(name)) != NONE)
            return op_reading_fail(reading, json_key_span(reading->document, item),
                                   "attribute '%s' has the name of an operand or result", name);
        type->n_attrs++;
    }
    return true;
}

/* -------------------------------------------------------------------- graphs ---- */

/* "(a, b)": slots, of operands or of results. Returns what is behind, NULL where it is wrong. */
static const char *read_names(const struct reading *reading, const char *text, bool results,
                              const uint32_t **list, uint32_t *count)
{
    uint32_t *slots = arena_alloc(reading->arena, (strlen(text) + 1) * sizeof *slots);
    *list = slots;
    *count = 0;
    if (*text++ != '(')
        return NULL;
    while (*text != ')') {
        size_t size = strcspn(text, ",) ");
        slots[*count] = results ? op_reading_find_result(reading, text, size)
                                : op_reading_find_operand(reading, text, size);
        if (slots[(*count)++] == NONE)
            return NULL;
        text += size;
        if (*text == ',')
            text += 1 + strspn(text + 1, " ");
        else if (*text != ')')
            return NULL;
    }
    return text + 1;
}

/* "(operands) -> (results)", or "(operands) -> bool". */
static bool read_graph(const struct reading *reading, const cJSON *item, struct op_graph *graph)
{
    static const char arrow[] = " -> ";
    const char *text = cJSON_IsString(item) ? item->valuestring : "";
    size_t size = strlen(item->string);
    *graph = (struct op_graph){.listed = size && item->string[size - 1] == '*'};
    graph->attr = op_reading_copy(reading, item->string, size - graph->listed);
    text = read_names(reading, text, false, &graph->params, &graph->n_params);
    if (text && strncmp(text, arrow, sizeof arrow - 1) == 0) {
        text += sizeof arrow - 1;
        graph->decides = strcmp(text, "bool") == 0;
        if (graph->decides)
            return true;
        text = read_names(reading, text, true, &graph->results, &graph->n_results);
        if (text && !*text)
            return true;
    }
    return op_reading_fail(reading, json_span(reading->document, item),
                           "graph '%s' is no \"(OPERANDS) -> (RESULTS)\"", item->string);
}

static bool read_graphs(const struct reading *reading, const cJSON *json)
{
    struct op_type *type = reading->type;
    const cJSON *item;
    if (!json)
        return true;
    struct op_graph *graphs =
        arena_alloc(reading->arena, (size_t)cJSON_GetArraySize(json) * sizeof *graphs + 1);
    type->graphs = graphs;
    for (EACH_ITEM(item, json)) {
        if (!read_graph(reading, item, &graphs[type->n_graphs++]))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------- one type ---- */

enum {
    KEY_about,
    KEY_operands,
    KEY_results,
    KEY_attributes,
    KEY_dtypes,
    KEY_dtype_by,
    KEY_alias,
    KEY_writes,
    KEY_reads,
    KEY_graphs,
    KEY_passive,
    KEY_view,
    KEY_no_cores,
    KEY_shape,
    KEY_values,
    KEY_flops,
    KEY_bytes,
    KEYS
};

static const char *const keys[KEYS] = {
    "about",  "operands", "results", "attributes", "dtypes", "dtype_by", "alias", "writes", "reads",
    "graphs", "passive",  "view",    "no_cores",   "shape",  "values",   "flops", "bytes"};

static bool is_dictionary(int key)
{
    return key == KEY_attributes || key == KEY_dtypes || key == KEY_dtype_by || key == KEY_alias ||
           key == KEY_graphs || key == KEY_values;
}

/* Each member, and none that is unknown. */
static bool find_members(const struct reading *reading, const cJSON *json, const cJSON **members)
{
    const cJSON *item;
    if (!cJSON_IsObject(json))
        return op_reading_fail(reading, json_span(reading->document, json), "this is no object");
    for (EACH_ITEM(item, json)) {
        int key = 0;
        while (key < KEYS && strcmp(keys[key], item->string) != 0)
            key++;
        if (key == KEYS)
            return op_reading_fail(reading, json_key_span(reading->document, item),
                                   "unknown key '%s'", item->string);
        if (is_dictionary(key) && !cJSON_IsObject(item))
            return op_reading_fail(reading, json_span(reading->document, item), "'%s' is an object",
                                   item->string);
        members[key] = item;
    }
    return true;
}

const cJSON *op_type_same(const cJSON *json)
{
    const cJSON *same = json_member(json, "same");
    return same && cJSON_IsString(same) && json->child == same && !same->next ? same : NULL;
}

bool op_type_read(const struct op_type_reader *reader, const char *name, const char *family,
                  const cJSON *json, struct op_type *type)
{
    struct rule_variables variables = {.count = 0};
    struct reading reading = {.document = reader->document,
                              .arena = reader->arena,
                              .json = json,
                              .type = type,
                              .variables = &variables};
    const cJSON *members[KEYS] = {NULL};
    *type = (struct op_type){.name = name, .real = name, .family = family, .about = ""};
    return find_members(&reading, json, members) &&
           op_read_slots(&reading, members[KEY_operands], members[KEY_results]) &&
           read_attrs(&reading, members[KEY_attributes]) &&
           op_read_dtypes(&reading, members[KEY_dtypes]) &&
           op_read_dtype_by(&reading, members[KEY_dtype_by]) &&
           op_read_alias(&reading, members[KEY_alias]) &&
           op_read_access(&reading, members[KEY_writes], true) &&
           op_read_access(&reading, members[KEY_reads], false) &&
           read_graphs(&reading, members[KEY_graphs]) &&
           op_read_rules(&reading, members[KEY_shape]) &&
           op_read_values(&reading, members[KEY_values]) &&
           op_read_text(&reading, members[KEY_about], &type->about) &&
           op_read_number(&reading, members[KEY_flops], &type->flops) &&
           op_read_number(&reading, members[KEY_bytes], &type->bytes) &&
           op_read_flag(&reading, members[KEY_passive], &type->passive) &&
           op_read_flag(&reading, members[KEY_view], &type->view) &&
           op_read_flag(&reading, members[KEY_no_cores], &type->no_cores);
}
