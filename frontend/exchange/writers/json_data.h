/* Names, types and attributes as JSON. */
#ifndef FRONTEND_EXCHANGE_WRITERS_JSON_DATA_H
#define FRONTEND_EXCHANGE_WRITERS_JSON_DATA_H

#include "ir/base/json.h"
#include "ir/module.h"

struct json_data {
    struct json json;
    const struct module *module;
};

/* The next value of an object is that of this name. */
void json_data_key(struct json_data *data, uint32_t name);

/* Members: a name, an index, which are null for NONE, and a list of indices. */
void json_data_name(struct json_data *data, const char *key, uint32_t name);
void json_data_index(struct json_data *data, const char *key, uint32_t index);
void json_data_indices(struct json_data *data, const char *key, const uint32_t *at, uint32_t count);
/* The member `attrs`. */
void json_data_attrs(struct json_data *data, struct range attrs);

/* Values. An integer that a double may not hold is a string of digits. */
void json_data_integer(struct json_data *data, int64_t number);
void json_data_string(struct json_data *data, uint32_t name);
void json_data_type(struct json_data *data, uint32_t type);

#endif
