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
__attribute__((format(printf, 3, 4))) static bool fail_at(const struct reading *reading,
                                                          struct span span, const char *format, ...)
{
    char what[500];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return json_fail_span(reading->document, span, "op type '%s': %s", reading->type->name, what);
}

#define fail(reading, item, ...) fail_at(reading, json_span((reading)->document, item), __VA_ARGS__)
#define fail_key(reading, item, ...)                                                               \
    fail_at(reading, json_key_span((reading)->document, item), __VA_ARGS__)

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

/* A number at the beginning of a text; what follows it and blanks, NULL where there is none that
 * fits. Of a float only that it is one is of interest. */
static const char *read_number(const char *text, bool is_float, int64_t *number)
{
    char *end;
    errno = 0;
    *number = 0;
    if (is_float)
        strtod(text, &end);
    else
        *number = strtoll(text, &end, 10);
    if (end == text || errno == ERANGE || strchr(" \t\n", *text))
        return NULL;
    return end + strspn(end, " ");
}

/* Reads `attr->fallback`, such as "true" or "[1, -1]"; false where it is none of the attribute's
 * kind. */
static bool read_default(struct op_attr *attr, struct arena *arena)
{
    bool list = attr->kind == OP_ATTR_INTS || attr->kind == OP_ATTR_FLOATS;
    bool is_float = attr->kind == OP_ATTR_FLOAT || attr->kind == OP_ATTR_FLOATS;
    const char *text = attr->fallback;
    if (attr->kind == OP_ATTR_STRING || attr->kind == OP_ATTR_CONTENTS)
        return attr->kind == OP_ATTR_STRING;
    int64_t *numbers = arena_alloc(arena, (strlen(text) + 1) * sizeof *numbers);
    attr->numbers = numbers;
    if (attr->kind == OP_ATTR_BOOL) {
        attr->n_numbers = 1;
        numbers[0] = strcmp(text, "true") == 0;
        return numbers[0] || strcmp(text, "false") == 0;
    }
    if (list && *text++ != '[')
        return false;
    text += list ? strspn(text, " ") : 0;
    if (list && strcmp(text, "]") == 0)
        return true;
    for (;; text += 1 + strspn(text + 1, " ")) {
        text = read_number(text, is_float, &numbers[attr->n_numbers++]);
        if (!text || !list || *text != ',')
            return text && strcmp(text, list ? "]" : "") == 0;
    }
}

_Static_assert(DTYPE_COUNT <= 64, "sets of dtypes are 64-bit masks");

/* The slots of a list from `first` on: "x", "x?" or "x*", whose names differ. */
static bool read_names_of(const struct reading *reading, const cJSON *list, uint32_t first)
{
    const cJSON *item;
    uint32_t n = first;
    for (EACH_ITEM(item, list)) {
        const char *text = item->valuestring;
        size_t size = strlen(text);
        enum op_presence presence = OP_REQUIRED;
        if (size && (text[size - 1] == '?' || text[size - 1] == '*'))
            presence = text[--size] == '?' ? OP_OPTIONAL : OP_LISTED;
        if (!size || rule_word_size(text) < size)
            return fail(reading, item, "'%s' is no name", text);
        if (find_slot(reading, first, n, text, size) != NONE)
            return fail(reading, item, "'%.*s' stands twice", (int)size, text);
        reading->slots[n++] = (struct op_slot){.name = copy_text(reading, text, size),
                                               .presence = presence,
                                               .dtypes = UINT64_MAX,
                                               .like = NONE,
                                               .alias = NONE,
                                               .by = NONE,
                                               .reads = true};
    }
    return true;
}

static bool read_slots(struct reading *reading, const cJSON *operands, const cJSON *results)
{
    struct op_type *type = reading->type;
    type->n_operands = count_strings(operands);
    type->n_results = count_strings(results);
    if (!operands || !results || type->n_operands == NONE || type->n_results == NONE)
        return fail(reading,
                    operands && type->n_operands == NONE ? operands
                    : operands && results                ? results
                                                         : reading->json,
                    "'operands' and 'results' are lists of names");
    uint32_t count = type->n_operands + type->n_results;
    if (count > MAX_OP_SLOTS)
        return fail(reading, results, "there are more than %d operands and results", MAX_OP_SLOTS);
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

/* Words between "|": a dtype, a set, or a slot before this one. */
static bool read_dtypes(struct reading *reading, const cJSON *dtypes)
{
    const cJSON *item;
    for (EACH_ITEM(item, dtypes)) {
        uint32_t index = find_any(reading, item->string, strlen(item->string));
        if (index == NONE || !cJSON_IsString(item))
            return fail_key(reading, item, "'dtypes' has no operand or result '%s'", item->string);
        struct op_slot *slot = &reading->slots[index];
        slot->dtypes = 0;
        for (const char *text = item->valuestring;; text += strspn(text, " |")) {
            size_t size = strcspn(text, " |");
            uint64_t set = find_dtypes(text, size);
            uint32_t like = set ? NONE : find_any(reading, text, size);
            if (!set && like >= index)
                return fail(reading, item,
                            "'%.*s' is no data type, and no operand or result before '%s'",
                            (int)size, text, slot->name);
            if (!set && slot->like != NONE)
                return fail(reading, item, "'%s' can be like one other, not two", slot->name);
            slot->dtypes |= set;
            slot->like = set ? slot->like : like;
            text += size;
            if (!*text)
                break;
        }
    }
    return true;
}

/* {"result": "attribute"} */
static bool read_dtype_by(struct reading *reading, const cJSON *by)
{
    const cJSON *item;
    for (EACH_ITEM(item, by)) {
        const char *name = cJSON_IsString(item) ? item->valuestring : "";
        uint32_t result = find_result(reading, item->string, strlen(item->string));
        const struct op_attr *attr = op_type_attr(reading->type, name, strlen(name));
        if (result == NONE || !attr || attr->kind != OP_ATTR_INT)
            return fail_key(reading, item,
                            "'dtype_by' maps results to attributes of the kind int, not '%s' to "
                            "'%s'",
                            item->string, name);
        reading->slots[result].by = (uint32_t)(attr - reading->type->attrs);
    }
    return true;
}

/* ---------------------------------------------------------------------- memory ---- */

/* {"result": "operand"} */
static bool read_alias(struct reading *reading, const cJSON *alias)
{
    const cJSON *item;
    for (EACH_ITEM(item, alias)) {
        const char *name = cJSON_IsString(item) ? item->valuestring : "";
        uint32_t result = find_result(reading, item->string, strlen(item->string));
        uint32_t operand = find_operand(reading, name, strlen(name));
        if (result == NONE || operand == NONE)
            return fail_key(reading, item, "'alias' maps results to operands, not '%s' to '%s'",
                            item->string, name);
        struct op_slot *slot = &reading->slots[result];
        if (slot->presence == OP_LISTED || reading->slots[operand].presence == OP_LISTED)
            return fail_key(reading, item, "'alias' has a list: '%s' of '%s'", item->string, name);
        slot->alias = operand;
        if (slot->dtypes == UINT64_MAX) {
            slot->dtypes = 0;
            slot->like = operand;
        }
    }
    return true;
}

/* Operands that are written, or the only ones that are read. */
static bool read_access(struct reading *reading, const cJSON *list)
{
    bool writes = strcmp(list->string, "writes") == 0;
    const cJSON *item;
    for (uint32_t i = 0; !writes && i < reading->type->n_operands; i++)
        reading->slots[i].reads = false;
    for (EACH_ITEM(item, list)) {
        uint32_t operand = find_operand(reading, item->valuestring, strlen(item->valuestring));
        if (operand == NONE)
            return fail(reading, item, "'%s' has no operand '%s'", list->string, item->valuestring);
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
           fail(reading, item, "rule '%.200s': %s", text, error);
}

static bool read_rules(struct reading *reading, const cJSON *list)
{
    struct op_type *type = reading->type;
    const cJSON *item;
    uint32_t count = count_strings(list);
    if (count > MAX_OP_RULES)
        return fail(reading, list, "there are more than %d rules of shapes", MAX_OP_RULES);
    struct op_rule *rules = arena_alloc(reading->arena, (count + 1) * sizeof *rules);
    type->shape = rules;
    for (EACH_ITEM(item, list)) {
        if (!read_rule(reading, item, RULE_FOR_SHAPES, &rules[type->n_shape++]))
            return false;
    }
    return true;
}

/* The operand that a member of `values` names; NONE, with an error, where it has no rules. */
static uint32_t operand_of_values(const struct reading *reading, const cJSON *item)
{
    static const uint64_t integers = ONE_DTYPE(i8) | ONE_DTYPE(i16) | ONE_DTYPE(i32) |
                                     ONE_DTYPE(i64) | ONE_DTYPE(u8) | ONE_DTYPE(u16) |
                                     ONE_DTYPE(u32);
    uint32_t operand = find_operand(reading, item->string, strlen(item->string));
    if (operand == NONE || reading->slots[operand].presence == OP_LISTED) {
        fail_key(reading, item, "'values' has no operand '%s'%s", item->string,
                 operand == NONE ? "" : " that is no list");
        return NONE;
    }
    for (uint32_t slot = operand; slot != NONE; slot = reading->slots[slot].like)
        if (reading->slots[slot].dtypes & ~integers) {
            fail_key(reading, item,
                     "'values' of '%s', which 'dtypes' does not say to be integers below u64",
                     item->string);
            return NONE;
        }
    return operand;
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
           fail(reading, item, "rule '%.200s' is of a shape, but speaks of one element",
                item->valuestring);
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
            return fail(reading, item, "'values' of '%s' is a rule or a list of rules",
                        item->string);
        if (cJSON_IsString(item) && !read_value_rule(reading, operand, item))
            return false;
        for (EACH_ITEM(rule, item)) {
            if (!read_value_rule(reading, operand, rule))
                return false;
        }
    }
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
    if (rule_word_size(item->string) != strlen(item->string) || !*item->string)
        return fail_key(reading, item, "'%s' is no name of an attribute", item->string);
    *attr = (struct op_attr){.name = copy_text(reading, item->string, strlen(item->string)),
                             .kind = OP_ATTR_KINDS};
    for (int kind = 0; kind < OP_ATTR_KINDS; kind++)
        if (text_is(op_attr_kind_name((enum op_attr_kind)kind), text, size))
            attr->kind = (enum op_attr_kind)kind;
    text += size + strspn(text + size, " ");
    if (attr->kind == OP_ATTR_KINDS || (*text && *text != '='))
        return fail(reading, item, "attribute '%s' has no kind such as \"int\" or \"int = 0\"",
                    item->string);
    if (!*text)
        return true;
    text += 1 + strspn(text + 1, " ");
    attr->fallback = copy_text(reading, text, strlen(text));
    return read_default(attr, reading->arena) ||
           fail(reading, item, "attribute '%s' cannot be '%.80s': that is no %s", attr->name, text,
                op_attr_kind_name(attr->kind));
}

static bool read_attrs(struct reading *reading, const cJSON *attributes)
{
    struct op_type *type = reading->type;
    const cJSON *item;
    int count = cJSON_GetArraySize(attributes);
    if (count > MAX_OP_ATTRS)
        return fail(reading, attributes, "there are more than %d attributes", MAX_OP_ATTRS);
    struct op_attr *attrs = arena_alloc(reading->arena, ((size_t)count + 1) * sizeof *attrs);
    type->attrs = attrs;
    for (EACH_ITEM(item, attributes)) {
        if (!read_attr(reading, item, &attrs[type->n_attrs++]))
            return false;
        if (find_any(reading, item->string, strlen(item->string)) != NONE)
            return fail_key(reading, item, "attribute '%s' has the name of an operand or result",
                            item->string);
    }
    return true;
}

/* -------------------------------------------------------------------- graphs ---- */

/* "(a, b)": slots, of operands or of results. Returns what follows, NULL where it is wrong. */
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

/* {"attribute": "(operands) -> (results)"}, or "(operands) -> bool"; "attribute*" is a list. */
static bool read_graphs(struct reading *reading, const cJSON *json)
{
    static const char arrow[] = " -> ";
    struct op_type *type = reading->type;
    const cJSON *item;
    struct op_graph *graphs =
        arena_alloc(reading->arena, (size_t)cJSON_GetArraySize(json) * sizeof *graphs + 1);
    type->graphs = graphs;
    for (EACH_ITEM(item, json)) {
        struct op_graph *graph = &graphs[type->n_graphs++];
        size_t size = strlen(item->string);
        *graph = (struct op_graph){.listed = size && item->string[size - 1] == '*'};
        graph->attr = copy_text(reading, item->string, size - graph->listed);
        const char *text = read_names(reading, cJSON_IsString(item) ? item->valuestring : "", false,
                                      &graph->params, &graph->n_params);
        if (text)
            text = strncmp(text, arrow, sizeof arrow - 1) == 0 ? text + sizeof arrow - 1 : NULL;
        graph->decides = text && strcmp(text, "bool") == 0;
        if (text && !graph->decides)
            text = read_names(reading, text, true, &graph->results, &graph->n_results);
        if (!text || (*text && !graph->decides))
            return fail(reading, item, "graph '%s' is no \"(OPERANDS) -> (RESULTS)\"",
                        item->string);
    }
    return true;
}

/* ---------------------------------------------------------------------- one type ---- */

enum form { FORM_SLOTS, FORM_LIST, FORM_OBJECT, FORM_RULE, FORM_TEXT, FORM_FLAG };

/* In the order in which they are read: each may name what those before it have defined. */
static const struct {
    const char *name;
    enum form form;
    const char *noun;
    bool (*read)(struct reading *reading, const cJSON *item); /* of lists and objects */
    size_t field;                                             /* of op_type, for rules and flags */
} keys[] = {
    {"operands", FORM_SLOTS, NULL, NULL, 0},
    {"results", FORM_SLOTS, NULL, NULL, 0},
    {"attributes", FORM_OBJECT, "an object", read_attrs, 0},
    {"dtypes", FORM_OBJECT, "an object", read_dtypes, 0},
    {"dtype_by", FORM_OBJECT, "an object", read_dtype_by, 0},
    {"alias", FORM_OBJECT, "an object", read_alias, 0},
    {"writes", FORM_LIST, "a list of operands", read_access, 0},
    {"reads", FORM_LIST, "a list of operands", read_access, 0},
    {"graphs", FORM_OBJECT, "an object", read_graphs, 0},
    {"shape", FORM_LIST, "a list of rules", read_rules, 0},
    {"values", FORM_OBJECT, "an object", read_values, 0},
    {"about", FORM_TEXT, "a string", NULL, 0},
    {"flops", FORM_RULE, "a string", NULL, offsetof(struct op_type, flops)},
    {"bytes", FORM_RULE, "a string", NULL, offsetof(struct op_type, bytes)},
    {"passive", FORM_FLAG, "true or false", NULL, offsetof(struct op_type, passive)},
    {"view", FORM_FLAG, "true or false", NULL, offsetof(struct op_type, view)},
    {"no_cores", FORM_FLAG, "true or false", NULL, offsetof(struct op_type, no_cores)},
};

enum { KEYS = sizeof keys / sizeof keys[0] };

/* Each member, and none that is unknown. */
static bool find_members(const struct reading *reading, const cJSON **members)
{
    const cJSON *item;
    if (!cJSON_IsObject(reading->json))
        return fail(reading, reading->json, "this is no object");
    for (EACH_ITEM(item, reading->json)) {
        int key = 0;
        while (key < KEYS && strcmp(keys[key].name, item->string) != 0)
            key++;
        if (key == KEYS)
            return fail_key(reading, item, "unknown key '%s'", item->string);
        bool right = keys[key].form == FORM_OBJECT ? cJSON_IsObject(item)
                     : keys[key].form == FORM_LIST ? count_strings(item) != NONE
                     : keys[key].form == FORM_FLAG
                         ? cJSON_IsBool(item)
                         : keys[key].form == FORM_SLOTS || cJSON_IsString(item);
        if (!right)
            return fail(reading, item, "'%s' is %s", item->string, keys[key].noun);
        members[key] = item;
    }
    return true;
}

const cJSON *op_type_same(const cJSON *json)
{
    const cJSON *same = json_member(json, "same");
    return same && cJSON_IsString(same) && json->child == same && !same->next ? same : NULL;
}

bool op_type_read(struct arena *arena, struct json_document *document, const char *name,
                  const char *family, const cJSON *json, struct op_type *type)
{
    struct rule_variables variables = {.count = 0};
    struct reading reading = {
        .document = document, .arena = arena, .json = json, .type = type, .variables = &variables};
    const cJSON *members[KEYS] = {NULL};
    *type = (struct op_type){.name = name, .real = name, .family = family, .about = ""};
    bool ok = find_members(&reading, members) && read_slots(&reading, members[0], members[1]);
    for (int key = 0; ok && key < KEYS; key++) {
        const cJSON *item = members[key];
        void *field = (char *)type + keys[key].field;
        if (!item)
            continue;
        switch (keys[key].form) {
        case FORM_SLOTS: break;
        case FORM_LIST:
        case FORM_OBJECT: ok = keys[key].read(&reading, item); break;
        case FORM_RULE: ok = read_rule(&reading, item, RULE_FOR_NUMBER, field); break;
        case FORM_TEXT:
            type->about = copy_text(&reading, item->valuestring, strlen(item->valuestring));
            break;
        case FORM_FLAG: *(bool *)field = cJSON_IsTrue(item); break;
        }
    }
    return ok;
}
