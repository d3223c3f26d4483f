/* Reads the data of an op type: operands and results first, then what refers to them by name. Each
 * key has a function, which reports what is wrong at its place in the document. */
#include "ir/optypes/op_type_reader.h"
#include "ir/optypes/op_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The set of one data type. */
#define ONE_DTYPE(dtype) (UINT64_C(1) << DTYPE_##dtype)

/* One type being read. */
struct reading {
    struct json_document *document;
    struct arena *arena; /* for what is read */
    const cJSON *json;
    struct op_type *type;
    struct op_slot *slots;
    struct op_content_rule *contents;
    struct rule_variables *variables;
};

/* An error at a place of the data. Always false. */
__attribute__((format(printf, 3, 4))) static bool fail(const struct reading *reading,
                                                       struct span span, const char *format, ...)
{
    char what[500];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return json_fail_span(reading->document, span, "op type '%s': %s", reading->type->name, what);
}

static char *copy_text(const struct reading *reading, const char *text, size_t size)
{
    return arena_strndup(reading->arena, text, size);
}

/* The number of elements of a list of strings; NONE where it is none. Absent lists are empty. */
static uint32_t count_strings(const cJSON *list)
{
    const cJSON *item;
    uint32_t count = 0;
    if (!list)
        return 0;
    for (EACH_ITEM(item, list)) {
        if (!cJSON_IsString(item))
            return NONE;
        count++;
    }
    return cJSON_IsArray(list) ? count : NONE;
}

/* Whether it is a word of letters, digits and `_` that begins with no digit. */
static bool is_word(const char *text, size_t size)
{
    static const char bytes[] = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return size > 0 && (*text < '0' || *text > '9') && strspn(text, bytes) >= size;
}

static uint32_t find_slot(const struct reading *reading, uint32_t first, uint32_t end,
                          const char *name, size_t size)
{
    for (uint32_t i = first; i < end; i++)
        if (strlen(reading->slots[i].name) == size &&
            memcmp(reading->slots[i].name, name, size) == 0)
            return i;
    return NONE;
}

static uint32_t find_operand(const struct reading *reading, const char *name, size_t size)
{
    return find_slot(reading, 0, reading->type->n_operands, name, size);
}

static uint32_t find_result(const struct reading *reading, const char *name, size_t size)
{
    const struct op_type *type = reading->type;
    return find_slot(reading, type->n_operands, type->n_operands + type->n_results, name, size);
}

/* First an operand, else a result. */
static uint32_t find_any(const struct reading *reading, const char *name, size_t size)
{
    uint32_t slot = find_operand(reading, name, size);
    return slot == NONE ? find_result(reading, name, size) : slot;
}

static bool text_is(const char *known, const char *text, size_t size)
{
    return strlen(known) == size && memcmp(known, text, size) == 0;
}

/* ---------------------------------------------------------- values of attributes ---- */

/* A number at the beginning of a text; what is behind it and blanks, NULL where there is none that
 * fits. Of a float only that it is one is of interest. */
static const char *read_number(const char *text, bool is_float, int64_t *number)
{
    char *end;
    errno = 0;
    if (is_float)
        strtod(text, &end);
    else
        *number = strtoll(text, &end, 10);
    if (end == text || errno == ERANGE || strchr(" \t\n", *text))
        return NULL;
    return end + strspn(end, " ");
}

/* "[1, -1]" */
static bool read_list(struct op_attr *attr, struct arena *arena)
{
    const char *text = attr->fallback;
    int64_t *numbers = arena_alloc(arena, (strlen(text) + 1) * sizeof *numbers);
    attr->numbers = numbers;
    attr->n_numbers = 0;
    if (*text++ != '[')
        return false;
    text += strspn(text, " ");
    if (strcmp(text, "]") == 0)
        return true;
    for (;; text += 1 + strspn(text + 1, " ")) {
        text = read_number(text, attr->kind == OP_ATTR_FLOATS, &numbers[attr->n_numbers]);
        if (!text)
            return false;
        attr->n_numbers++;
        if (*text != ',')
            return strcmp(text, "]") == 0;
    }
}

static bool read_one(struct op_attr *attr, struct arena *arena)
{
    int64_t *number = arena_alloc(arena, sizeof *number);
    *number = 0;
    attr->numbers = number;
    attr->n_numbers = 1;
    if (attr->kind == OP_ATTR_BOOL) {
        *number = strcmp(attr->fallback, "true") == 0;
        return *number || strcmp(attr->fallback, "false") == 0;
    }
    const char *end = read_number(attr->fallback, attr->kind == OP_ATTR_FLOAT, number);
    return end && !*end;
}

/* Reads `attr->fallback`; false where it is none of the attribute's kind. */
static bool read_default(struct op_attr *attr, struct arena *arena)
{
    switch (attr->kind) {
    case OP_ATTR_STRING: return true;
    case OP_ATTR_INTS:
    case OP_ATTR_FLOATS: return read_list(attr, arena);
    case OP_ATTR_CONTENTS: return false;
    default: return read_one(attr, arena);
    }
}

_Static_assert(DTYPE_COUNT <= 64, "sets of dtypes are 64-bit masks");

/* ---------------------------------------------------------------------- presence ---- */

/* "x", "x?" or "x*". */
static bool read_slot(const struct reading *reading, const cJSON *item, uint32_t index)
{
    const char *text = item->valuestring;
    size_t size = strlen(text);
    enum op_presence presence = OP_REQUIRED;
    if (size && (text[size - 1] == '?' || text[size - 1] == '*'))
        presence = text[--size] == '?' ? OP_OPTIONAL : OP_LISTED;
    if (!is_word(text, size))
        return fail(reading, json_span(reading->document, item), "'%s' is no name", text);
    reading->slots[index] = (struct op_slot){.name = copy_text(reading, text, size),
                                             .presence = presence,
                                             .dtypes = UINT64_MAX,
                                             .like = NONE,
                                             .alias = NONE,
                                             .by = NONE,
                                             .reads = true};
    return true;
}

/* The slots from `first` on; names among them differ. */
static bool read_names_of(const struct reading *reading, const cJSON *list, uint32_t first)
{
    const cJSON *item;
    uint32_t n = first;
    for (EACH_ITEM(item, list)) {
        if (!read_slot(reading, item, n))
            return false;
        const char *name = reading->slots[n].name;
        if (find_slot(reading, first, n++, name, strlen(name)) != NONE)
            return fail(reading, json_span(reading->document, item), "'%s' stands twice", name);
    }
    return true;
}

/* Where what is wrong with the two lists is to be repaired. */
static struct span place_of_slots(const struct reading *reading, const cJSON *operands,
                                  const cJSON *results)
{
    if (operands && reading->type->n_operands == NONE)
        return json_span(reading->document, operands);
    return operands && results ? json_span(reading->document, results)
                               : json_span(reading->document, reading->json);
}

static bool read_slots(struct reading *reading, const cJSON *operands, const cJSON *results)
{
    struct op_type *type = reading->type;
    type->n_operands = count_strings(operands);
    type->n_results = count_strings(results);
    if (!operands || !results || type->n_operands == NONE || type->n_results == NONE)
        return fail(reading, place_of_slots(reading, operands, results),
                    "'operands' and 'results' are lists of names");
    uint32_t count = type->n_operands + type->n_results;
    if (count > MAX_OP_SLOTS)
        return fail(reading, json_span(reading->document, results),
                    "there are more than %d operands and results", MAX_OP_SLOTS);
    reading->slots = arena_alloc(reading->arena, (count + 1) * sizeof *reading->slots);
    type->slots = reading->slots;
    return read_names_of(reading, operands, 0) && read_names_of(reading, results, type->n_operands);
}

/* ------------------------------------------------------------------------- dtypes ---- */

/* Sets of dtypes that data names. */
static const struct {
    const char *name;
    uint64_t set;
} dtype_sets[] = {
    {"any", UINT64_MAX},
    {"floats", ONE_DTYPE(f16) | ONE_DTYPE(bf16) | ONE_DTYPE(f32) | ONE_DTYPE(f64)},
    {"float8s", ONE_DTYPE(hif8) | ONE_DTYPE(f8e5m2) | ONE_DTYPE(f8e4m3fn)},
    {"ints", ONE_DTYPE(i8) | ONE_DTYPE(i16) | ONE_DTYPE(i32) | ONE_DTYPE(i64)},
    {"uints", ONE_DTYPE(u8) | ONE_DTYPE(u16) | ONE_DTYPE(u32) | ONE_DTYPE(u64)},
    {"numbers", ONE_DTYPE(f16) | ONE_DTYPE(bf16) | ONE_DTYPE(f32) | ONE_DTYPE(f64) | ONE_DTYPE(i8) |
                    ONE_DTYPE(i16) | ONE_DTYPE(i32) | ONE_DTYPE(i64) | ONE_DTYPE(u8) |
                    ONE_DTYPE(u16) | ONE_DTYPE(u32) | ONE_DTYPE(u64)},
    {"complexes", ONE_DTYPE(c64) | ONE_DTYPE(c128)},
};

/* 0 where a text names none. */
static uint64_t find_dtypes(const char *text, size_t size)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (text_is(dtype_info(i)->name, text, size))
            return UINT64_C(1) << i;
    for (size_t i = 0; i < sizeof dtype_sets / sizeof dtype_sets[0]; i++)
        if (text_is(dtype_sets[i].name, text, size))
            return dtype_sets[i].set;
    return 0;
}

/* One of the words between "|": a dtype, a set, or a slot that stands before this one. */
static bool read_dtype_word(const struct reading *reading, uint32_t index, const cJSON *item,
                            const char *text, size_t size)
{
    struct op_slot *slot = &reading->slots[index];
    uint64_t set = find_dtypes(text, size);
    uint32_t like = find_any(reading, text, size);
    slot->dtypes |= set;
    if (set)
        return true;
    if (like >= index)
        return fail(reading, json_span(reading->document, item),
                    "'%.*s' is no data type, and no operand or result before '%s'", (int)size, text,
                    slot->name);
    if (slot->like != NONE)
        return fail(reading, json_span(reading->document, item),
                    "'%s' can be like one other, not two", slot->name);
    slot->like = like;
    return true;
}

static bool read_dtypes(const struct reading *reading, const cJSON *dtypes)
{
    const cJSON *item;
    for (EACH_ITEM(item, dtypes)) {
        uint32_t slot = find_any(reading, item->string, strlen(item->string));
        if (slot == NONE || !cJSON_IsString(item))
            return fail(reading, json_key_span(reading->document, item),
                        "'dtypes' has no operand or result '%s'", item->string);
        reading->slots[slot].dtypes = 0;
        for (const char *text = item->valuestring;; text += strspn(text, " |")) {
            size_t size = strcspn(text, " |");
            if (!read_dtype_word(reading, slot, item, text, size))
                return false;
            text += size;
            if (!*text)
                break;
        }
    }
    return true;
}

static uint32_t find_int(const struct op_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->n_attrs; i++)
        if (type->attrs[i].kind == OP_ATTR_INT && strcmp(type->attrs[i].name, name) == 0)
            return i;
    return NONE;
}

/* {"result": "attribute"} */
static bool read_dtype_by(const struct reading *reading, const cJSON *by)
{
    const cJSON *item;
    for (EACH_ITEM(item, by)) {
        const char *name = cJSON_IsString(item) ? item->valuestring : "";
        uint32_t result = find_result(reading, item->string, strlen(item->string));
        uint32_t attr = find_int(reading->type, name);
        if (result == NONE || attr == NONE)
            return fail(reading, json_key_span(reading->document, item),
                        "'dtype_by' maps results to attributes of the kind int, not '%s' to '%s'",
                        item->string, name);
        reading->slots[result].by = attr;
    }
    return true;
}

/* ---------------------------------------------------------------------- memory ---- */

/* {"result": "operand"} */
static bool read_alias(const struct reading *reading, const cJSON *alias)
{
    const cJSON *item;
    for (EACH_ITEM(item, alias)) {
        const char *name = cJSON_IsString(item) ? item->valuestring : "";
        uint32_t result = find_result(reading, item->string, strlen(item->string));
        uint32_t operand = find_operand(reading, name, strlen(name));
        if (result == NONE || operand == NONE)
            return fail(reading, json_key_span(reading->document, item),
                        "'alias' maps results to operands, not '%s' to '%s'", item->string, name);
        if (reading->slots[result].presence == OP_LISTED ||
            reading->slots[operand].presence == OP_LISTED)
            return fail(reading, json_key_span(reading->document, item),
                        "'alias' has a list: '%s' of '%s'", item->string, name);
        reading->slots[result].alias = operand;
        if (reading->slots[result].dtypes == UINT64_MAX) {
            reading->slots[result].dtypes = 0;
            reading->slots[result].like = operand;
        }
    }
    return true;
}

/* Operands that are written, or the only ones that are read. */
static bool read_access(const struct reading *reading, const cJSON *list, bool writes)
{
    const cJSON *item;
    if (count_strings(list) == NONE)
        return fail(reading, json_span(reading->document, list), "'%s' is a list of operands",
                    writes ? "writes" : "reads");
    for (uint32_t i = 0; list && !writes && i < reading->type->n_operands; i++)
        reading->slots[i].reads = false;
    for (EACH_ITEM(item, list)) {
        uint32_t operand = find_operand(reading, item->valuestring, strlen(item->valuestring));
        if (operand == NONE)
            return fail(reading, json_span(reading->document, item), "'%s' has no operand '%s'",
                        writes ? "writes" : "reads", item->valuestring);
        if (writes)
            reading->slots[operand].writes = true;
        else
            reading->slots[operand].reads = true;
    }
    return true;
}

/* --------------------------------------------------------------- rules and texts ---- */

/* One rule, which may use what those before it have bound. */
static bool read_rule(const struct reading *reading, const cJSON *item, enum rule_use use,
                      struct op_rule *rule)
{
    char error[400];
    const char *text = copy_text(reading, item->valuestring, strlen(item->valuestring));
    return op_rule_parse(reading->arena, reading->type, text, use, reading->variables, rule, error,
                         sizeof error) ||
           fail(reading, json_span(reading->document, item), "rule '%.200s': %s", text, error);
}

static bool read_rules(const struct reading *reading, const cJSON *list)
{
    struct op_type *type = reading->type;
    const cJSON *item;
    uint32_t count = count_strings(list), n = 0;
    if (count == NONE)
        return fail(reading, json_span(reading->document, list), "'shape' is a list of rules");
    if (count > MAX_OP_RULES)
        return fail(reading, json_span(reading->document, list),
                    "there are more than %d rules of shapes", MAX_OP_RULES);
    struct op_rule *rules = arena_alloc(reading->arena, (count + 1) * sizeof *rules);
    for (EACH_ITEM(item, list)) {
        if (!read_rule(reading, item, RULE_FOR_SHAPES, &rules[n++]))
            return false;
    }
    type->shape = rules;
    type->n_shape = count;
    return true;
}

/* What an operand may be, where it is like another one what that may be. */
static uint64_t dtypes_of(const struct op_slot *slots, uint32_t slot)
{
    uint64_t set = slots[slot].dtypes;
    for (; slots[slot].like != NONE; set |= slots[slot].dtypes)
        slot = slots[slot].like;
    return set;
}

/* The operand that a member of `values` names; NONE, with an error, where it has no rules. */
static uint32_t operand_of_values(const struct reading *reading, const cJSON *item)
{
    static const uint64_t integers = ONE_DTYPE(i8) | ONE_DTYPE(i16) | ONE_DTYPE(i32) |
                                     ONE_DTYPE(i64) | ONE_DTYPE(u8) | ONE_DTYPE(u16) |
                                     ONE_DTYPE(u32);
    uint32_t operand = find_operand(reading, item->string, strlen(item->string));
    if (operand == NONE || reading->slots[operand].presence == OP_LISTED)
        fail(reading, json_key_span(reading->document, item), "'values' has no operand '%s'%s",
             item->string, operand == NONE ? "" : " that is no list");
    else if (dtypes_of(reading->slots, operand) & ~integers)
        fail(reading, json_key_span(reading->document, item),
             "'values' of '%s', which 'dtypes' does not say to be integers below u64",
             item->string);
    else
        return operand;
    return NONE;
}

static bool read_value_rule(const struct reading *reading, uint32_t operand, const cJSON *item)
{
    struct op_type *type = reading->type;
    struct op_content_rule *rule = &reading->contents[type->n_contents++];
    *rule = (struct op_content_rule){.operand = operand};
    if (!read_rule(reading, item, RULE_FOR_CONTENTS, &rule->rule))
        return false;
    rule->by_element = rule_speaks_of(rule->rule.value, RULE_ELEMENTS);
    return !rule->by_element || rule->rule.slot == NONE ||
           fail(reading, json_span(reading->document, item),
                "rule '%.200s' is of a shape, but speaks of one element", item->valuestring);
}

/* {"operand": "rule"}, or a list of rules. */
static bool read_values(struct reading *reading, const cJSON *values)
{
    const cJSON *item, *rule;
    size_t most = 0;
    for (EACH_ITEM(item, values))
        most += 1 + (size_t)cJSON_GetArraySize(item);
    reading->contents = arena_alloc(reading->arena, (most + 1) * sizeof(struct op_content_rule));
    reading->type->contents = reading->contents;
    for (EACH_ITEM(item, values)) {
        uint32_t operand = operand_of_values(reading, item);
        if (operand == NONE)
            return false;
        if (!cJSON_IsString(item) && (!cJSON_IsArray(item) || count_strings(item) == NONE))
            return fail(reading, json_span(reading->document, item),
                        "'values' of '%s' is a rule or a list of rules", item->string);
        if (cJSON_IsString(item) && !read_value_rule(reading, operand, item))
            return false;
        for (EACH_ITEM(rule, item)) {
            if (!read_value_rule(reading, operand, rule))
                return false;
        }
    }
    return true;
}

static bool read_expression(const struct reading *reading, const cJSON *item, struct op_rule *rule)
{
    if (item && !cJSON_IsString(item))
        return fail(reading, json_span(reading->document, item), "'%s' is a string", item->string);
    return !item || read_rule(reading, item, RULE_FOR_NUMBER, rule);
}

static bool read_text(const struct reading *reading, const cJSON *item, const char **text)
{
    if (!item)
        return true;
    if (!cJSON_IsString(item))
        return fail(reading, json_span(reading->document, item), "'%s' is a string", item->string);
    *text = copy_text(reading, item->valuestring, strlen(item->valuestring));
    return true;
}

static bool read_flag(const struct reading *reading, const cJSON *item, bool *flag)
{
    if (item && !cJSON_IsBool(item))
        return fail(reading, json_span(reading->document, item), "'%s' is true or false",
                    item->string);
    *flag = cJSON_IsTrue(item);
    return true;
}

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
    if (!is_word(item->string, strlen(item->string)))
        return fail(reading, json_key_span(reading->document, item),
                    "'%s' is no name of an attribute", item->string);
    *attr = (struct op_attr){.name = copy_text(reading, item->string, strlen(item->string)),
                             .kind = OP_ATTR_KINDS};
    for (int kind = 0; kind < OP_ATTR_KINDS; kind++)
        if (text_is(op_attr_kind_name((enum op_attr_kind)kind), text, size))
            attr->kind = (enum op_attr_kind)kind;
    text += size + strspn(text + size, " ");
    if (attr->kind == OP_ATTR_KINDS || (*text && *text != '='))
        return fail(reading, json_span(reading->document, item),
                    "attribute '%s' has no kind such as \"int\" or \"int = 0\"", item->string);
    if (*text)
        text += 1 + strspn(text + 1, " ");
    else
        text = NULL;
    attr->fallback = text ? copy_text(reading, text, strlen(text)) : NULL;
    return !text || read_default(attr, reading->arena) ||
           fail(reading, json_span(reading->document, item),
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
        return fail(reading, json_span(reading->document, attributes),
                    "there are more than %d attributes", MAX_OP_ATTRS);
    struct op_attr *attrs = arena_alloc(reading->arena, (size_t)count * sizeof *attrs);
    type->attrs = attrs;
    for (EACH_ITEM(item, attributes)) {
        const char *name = item->string;
        if (!read_attr(reading, item, &attrs[type->n_attrs]))
            return false;
        if (find_any(reading, name, strlen(name)) != NONE)
            return fail(reading, json_key_span(reading->document, item),
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
        slots[*count] =
            results ? find_result(reading, text, size) : find_operand(reading, text, size);
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
    graph->attr = copy_text(reading, item->string, size - graph->listed);
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
    return fail(reading, json_span(reading->document, item),
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
        return fail(reading, json_span(reading->document, json), "this is no object");
    for (EACH_ITEM(item, json)) {
        int key = 0;
        while (key < KEYS && strcmp(keys[key], item->string) != 0)
            key++;
        if (key == KEYS)
            return fail(reading, json_key_span(reading->document, item), "unknown key '%s'",
                        item->string);
        if (is_dictionary(key) && !cJSON_IsObject(item))
            return fail(reading, json_span(reading->document, item), "'%s' is an object",
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
           read_slots(&reading, members[KEY_operands], members[KEY_results]) &&
           read_attrs(&reading, members[KEY_attributes]) &&
           read_dtypes(&reading, members[KEY_dtypes]) &&
           read_dtype_by(&reading, members[KEY_dtype_by]) &&
           read_alias(&reading, members[KEY_alias]) &&
           read_access(&reading, members[KEY_writes], true) &&
           read_access(&reading, members[KEY_reads], false) &&
           read_graphs(&reading, members[KEY_graphs]) && read_rules(&reading, members[KEY_shape]) &&
           read_values(&reading, members[KEY_values]) &&
           read_text(&reading, members[KEY_about], &type->about) &&
           read_expression(&reading, members[KEY_flops], &type->flops) &&
           read_expression(&reading, members[KEY_bytes], &type->bytes) &&
           read_flag(&reading, members[KEY_passive], &type->passive) &&
           read_flag(&reading, members[KEY_view], &type->view) &&
           read_flag(&reading, members[KEY_no_cores], &type->no_cores);
}
