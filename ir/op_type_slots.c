/* What data says of operands and results. */
#include "ir/op_type_reading.h"

#include <string.h>

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
    if (!op_reading_is_word(text, size))
        return op_reading_fail(reading, json_span(reading->document, item), "'%s' is no name",
                               text);
    reading->slots[index] = (struct op_slot){.name = op_reading_copy(reading, text, size),
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
        if (op_reading_find_slot(reading, first, n++, name, strlen(name)) != NONE)
            return op_reading_fail(reading, json_span(reading->document, item), "'%s' stands twice",
                                   name);
    }
    return true;
}

/* Where what is wrong with the two lists is to be mended. */
static struct span place_of_slots(const struct reading *reading, const cJSON *operands,
                                  const cJSON *results)
{
    if (operands && reading->type->n_operands == NONE)
        return json_span(reading->document, operands);
    return operands && results ? json_span(reading->document, results)
                               : json_span(reading->document, reading->json);
}

bool op_read_slots(struct reading *reading, const cJSON *operands, const cJSON *results)
{
    struct op_type *type = reading->type;
    type->n_operands = op_reading_count_strings(operands);
    type->n_results = op_reading_count_strings(results);
    if (!operands || !results || type->n_operands == NONE || type->n_results == NONE)
        return op_reading_fail(reading, place_of_slots(reading, operands, results),
                               "'operands' and 'results' are lists of names");
    uint32_t count = type->n_operands + type->n_results;
    if (count > MAX_OP_SLOTS)
        return op_reading_fail(reading, json_span(reading->document, results),
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
        if (op_reading_is_text(dtype_info(i)->name, text, size))
            return UINT64_C(1) << i;
    for (size_t i = 0; i < sizeof dtype_sets / sizeof dtype_sets[0]; i++)
        if (op_reading_is_text(dtype_sets[i].name, text, size))
            return dtype_sets[i].set;
    return 0;
}

/* One of the words between "|": a dtype, a set, or a slot that stands before this one. */
static bool read_dtype_word(const struct reading *reading, uint32_t index, const cJSON *item,
                            const char *text, size_t size)
{
    struct op_slot *slot = &reading->slots[index];
    uint64_t set = find_dtypes(text, size);
    uint32_t like = op_reading_find_any(reading, text, size);
    slot->dtypes |= set;
    if (set)
        return true;
    if (like >= index)
        return op_reading_fail(reading, json_span(reading->document, item),
                               "'%.*s' is no data type, and no operand or result before '%s'",
                               (int)size, text, slot->name);
    if (slot->like != NONE)
        return op_reading_fail(reading, json_span(reading->document, item),
                               "'%s' can be like one other, not two", slot->name);
    slot->like = like;
    return true;
}

bool op_read_dtypes(const struct reading *reading, const cJSON *dtypes)
{
    const cJSON *item;
    for (EACH_ITEM(item, dtypes)) {
        uint32_t slot = op_reading_find_any(reading, item->string, strlen(item->string));
        if (slot == NONE || !cJSON_IsString(item))
            return op_reading_fail(reading, json_key_span(reading->document, item),
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
bool op_read_dtype_by(const struct reading *reading, const cJSON *by)
{
    const cJSON *item;
    for (EACH_ITEM(item, by)) {
        const char *name = cJSON_IsString(item) ? item->valuestring : "";
        uint32_t result = op_reading_find_result(reading, item->string, strlen(item->string));
        uint32_t attr = find_int(reading->type, name);
        if (result == NONE || attr == NONE)
            return op_reading_fail(
                reading, json_key_span(reading->document, item),
                "'dtype_by' maps results to attributes of the kind int, not '%s' to '%s'",
                item->string, name);
        reading->slots[result].by = attr;
    }
    return true;
}

/* ---------------------------------------------------------------------- memory ---- */

/* {"result": "operand"} */
bool op_read_alias(const struct reading *reading, const cJSON *alias)
{
    const cJSON *item;
    for (EACH_ITEM(item, alias)) {
        const char *name = cJSON_IsString(item) ? item->valuestring : "";
        uint32_t result = op_reading_find_result(reading, item->string, strlen(item->string));
        uint32_t operand = op_reading_find_operand(reading, name, strlen(name));
        if (result == NONE || operand == NONE)
            return op_reading_fail(reading, json_key_span(reading->document, item),
                                   "'alias' maps results to operands, not '%s' to '%s'",
                                   item->string, name);
        if (reading->slots[result].presence == OP_LISTED ||
            reading->slots[operand].presence == OP_LISTED)
            return op_reading_fail(reading, json_key_span(reading->document, item),
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
bool op_read_access(const struct reading *reading, const cJSON *list, bool writes)
{
    const cJSON *item;
    if (op_reading_count_strings(list) == NONE)
        return op_reading_fail(reading, json_span(reading->document, list),
                               "'%s' is a list of operands", writes ? "writes" : "reads");
    for (uint32_t i = 0; list && !writes && i < reading->type->n_operands; i++)
        reading->slots[i].reads = false;
    for (EACH_ITEM(item, list)) {
        uint32_t operand =
            op_reading_find_operand(reading, item->valuestring, strlen(item->valuestring));
        if (operand == NONE)
            return op_reading_fail(reading, json_span(reading->document, item),
                                   "'%s' has no operand '%s'", writes ? "writes" : "reads",
                                   item->valuestring);
        if (writes)
            reading->slots[operand].writes = true;
        else
            reading->slots[operand].reads = true;
    }
    return true;
}
