/* The rules, texts and flags of data. */
#include "ir/op_rules.h"
#include "ir/op_type_reading.h"

#include <string.h>

/* One rule, which may use what those before it have bound. */
static bool read_rule(const struct reading *reading, const cJSON *item, enum rule_use use,
                      struct op_rule *rule)
{
    char error[400];
    const char *text = op_reading_copy(reading, item->valuestring, strlen(item->valuestring));
    return op_rule_parse(reading->arena, reading->type, text, use, reading->variables, rule, error,
                         sizeof error) ||
           op_reading_fail(reading, json_span(reading->document, item), "rule '%.200s': %s", text,
                           error);
}

bool op_read_rules(const struct reading *reading, const cJSON *list)
{
    struct op_type *type = reading->type;
    const cJSON *item;
    uint32_t count = op_reading_count_strings(list), n = 0;
    if (count == NONE)
        return op_reading_fail(reading, json_span(reading->document, list),
                               "'shape' is a list of rules");
    if (count > MAX_OP_RULES)
        return op_reading_fail(reading, json_span(reading->document, list),
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
    uint32_t operand = op_reading_find_operand(reading, item->string, strlen(item->string));
    if (operand == NONE || reading->slots[operand].presence == OP_LISTED)
        op_reading_fail(reading, json_key_span(reading->document, item),
                        "'values' has no operand '%s'%s", item->string,
                        operand == NONE ? "" : " that is no list");
    else if (dtypes_of(reading->slots, operand) & ~integers)
        op_reading_fail(reading, json_key_span(reading->document, item),
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
           op_reading_fail(reading, json_span(reading->document, item),
                           "rule '%.200s' is of a shape, but speaks of one element",
                           item->valuestring);
}

/* {"operand": "rule"}, or a list of rules. */
bool op_read_values(struct reading *reading, const cJSON *values)
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
        if (!cJSON_IsString(item) &&
            (!cJSON_IsArray(item) || op_reading_count_strings(item) == NONE))
            return op_reading_fail(reading, json_span(reading->document, item),
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

bool op_read_number(const struct reading *reading, const cJSON *item, struct op_rule *rule)
{
    if (item && !cJSON_IsString(item))
        return op_reading_fail(reading, json_span(reading->document, item), "'%s' is a string",
                               item->string);
    return !item || read_rule(reading, item, RULE_FOR_NUMBER, rule);
}

bool op_read_text(const struct reading *reading, const cJSON *item, const char **text)
{
    if (!item)
        return true;
    if (!cJSON_IsString(item))
        return op_reading_fail(reading, json_span(reading->document, item), "'%s' is a string",
                               item->string);
    *text = op_reading_copy(reading, item->valuestring, strlen(item->valuestring));
    return true;
}

bool op_read_flag(const struct reading *reading, const cJSON *item, bool *flag)
{
    if (item && !cJSON_IsBool(item))
        return op_reading_fail(reading, json_span(reading->document, item), "'%s' is true or false",
                               item->string);
    *flag = cJSON_IsTrue(item);
    return true;
}
