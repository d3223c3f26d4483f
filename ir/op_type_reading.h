/* Parts of ir/op_type_reader.c: what the data of one type says, key by key. */
#ifndef IR_OP_TYPE_READING_H
#define IR_OP_TYPE_READING_H

#include "ir/base/json_document.h"
#include "ir/op_types.h"

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
bool op_reading_fail(const struct reading *reading, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
char *op_reading_copy(const struct reading *reading, const char *text, size_t size);

/* The number of elements of a list of strings; NONE where it is none. Absent lists are empty. */
uint32_t op_reading_count_strings(const cJSON *list);
/* Whether it is a word of letters, digits and `_` that begins with no digit. */
bool op_reading_is_word(const char *text, size_t size);
/* Whether a text of a size is the one that is known. */
bool op_reading_is_text(const char *known, const char *text, size_t size);

/* The slot of a name among some; an operand's, a result's, or first an operand's; or NONE. */
uint32_t op_reading_find_slot(const struct reading *reading, uint32_t first, uint32_t end,
                              const char *name, size_t size);
uint32_t op_reading_find_operand(const struct reading *reading, const char *name, size_t size);
uint32_t op_reading_find_result(const struct reading *reading, const char *name, size_t size);
uint32_t op_reading_find_any(const struct reading *reading, const char *name, size_t size);

/* The members of those names, which are read in this order; one that is absent is NULL. */
bool op_read_slots(struct reading *reading, const cJSON *operands, const cJSON *results);
bool op_read_dtypes(const struct reading *reading, const cJSON *dtypes);
bool op_read_dtype_by(const struct reading *reading, const cJSON *by);
bool op_read_alias(const struct reading *reading, const cJSON *alias);
bool op_read_access(const struct reading *reading, const cJSON *list, bool writes);
bool op_read_rules(const struct reading *reading, const cJSON *list);
bool op_read_values(struct reading *reading, const cJSON *values);
bool op_read_number(const struct reading *reading, const cJSON *item, struct op_rule *rule);
bool op_read_text(const struct reading *reading, const cJSON *item, const char **text);
bool op_read_flag(const struct reading *reading, const cJSON *item, bool *flag);

#endif
