/* skirc support: files for shells and editors. */
#include "frontend/driver/cmd.h"
#include "frontend/driver/module_io.h"
#include "frontend/support/support.h"
#include "ir/support/diag.h"

#include <string.h>

const struct option options_support[] = {
    {"output", 'o', OPTION_VALUE, "FILE", "write there instead of standard output"},
    {0},
};

static const struct {
    const char *name;
    void (*print)(const struct cli *cli, struct text *text);
} files[] = {
#define SUPPORT(name, summary) {#name, support_##name},
#include "frontend/support/support.def"
#undef SUPPORT
};

enum exit_status cmd_support(struct invocation *invocation)
{
    const char *name = invocation->files[0];
    struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
    struct text text = {NULL, 0, 0};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        suggest_offer_text(&suggest, files[i].name);
        if (strcmp(files[i].name, name) != 0)
            continue;
        files[i].print(invocation->cli, &text);
        enum exit_status status =
            write_output(invocation, option_value(invocation, "output"), &text);
        text_free(&text);
        return status;
    }
    return usage_error(invocation, "there is no file for '%s'%s", name, suggest_end(&suggest).text);
}
