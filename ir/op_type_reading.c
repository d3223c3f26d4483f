#include "ir/op_type_reading.h"

#include <stdio.h>
#include <string.h>

bool op_reading_fail(const struct reading *reading, struct span span, const char *format, ...)
{
    char what[500];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return json_fail_span(reading->document, span, "op type '%s': %s", reading->type->name, what);
}

char *op_reading_copy(const struct reading *reading, const char *text, size_t size)
{
    return arena_strndup(reading->arena, text, size);
}

uint32_t op_reading_count_strings(const cJSON *list)
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

bool op_reading_is_word(const char *text, size_t size)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char digits[] = "0123456789";
    if (size == 0 || !strchr(first, text[0]) || !text[0])
        return false;
    for (size_t i = 1; i < size; i++)
        if (!text[i] || (!strchr(first, text[i]) && !strchr(digits, text[i])))
            return false;
    return true;
}

uint32_t op_reading_find_slot(const struct reading *reading, uint32_t first, uint32_t end,
                              const char *name, size_t size)
{
    for (uint32_t i = first; i < end; i++)
        if (strlen(reading->slots[i].name) == size &&
            memcmp(reading->slots[i].name, name, size) == 0)
            return i;
    return NONE;
}

uint32_t op_reading_find_operand(const struct reading *reading, const char *name, size_t size)
{
    return op_reading_find_slot(reading, 0, reading->type->n_operands, name, size);
}

uint32_t op_reading_find_result(const struct reading *reading, const char *name, size_t size)
{
    const struct op_type *type = reading->type;
    return op_reading_find_slot(reading, type->n_operands, type->n_operands + type->n_results, name,
                                size);
}

uint32_t op_reading_find_any(const struct reading *reading, const char *name, size_t size)
{
    uint32_t slot = op_reading_find_operand(reading, name, size);
    return slot == NONE ? op_reading_find_result(reading, name, size) : slot;
}

bool op_reading_is_text(const char *known, const char *text, size_t size)
{
    return strlen(known) == size && memcmp(known, text, size) == 0;
}
