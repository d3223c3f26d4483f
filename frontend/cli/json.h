/* What commands that write JSON share. */
#ifndef FRONTEND_CLI_JSON_H
#define FRONTEND_CLI_JSON_H

#include "frontend/cli/output.h"

#include <cjson/cJSON.h>

/* Names and paths are bytes, JSON is UTF-8: other bytes become U+FFFD, the replacement character. */
cJSON *json_string(const char *bytes);
void json_add_string(cJSON *object, const char *key, const char *bytes);

/* Writes a value and a line end to `path` (write_output), and deletes the value. Indented, it is for
 * people as well. */
enum exit_status json_write(const struct invocation *invocation, const char *path, cJSON *root,
                            bool indented);

#endif
