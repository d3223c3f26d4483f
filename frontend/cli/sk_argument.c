#include "frontend/cli/sk_argument.h"
#include "ir/sk_options.h"

#include <string.h>

/* The value is a source of its own, so that carets point into it. */
bool sk_argument_check(const struct invocation *invocation, const char *option)
{
    const char *text = option_value(invocation, option);
    if (!text)
        return true;
    size_t size = strlen(text);
    if (size >= UINT32_MAX) {
        usage_error(invocation, "the value of --%s is too long", option);
        return false;
    }
    char path[32];
    snprintf(path, sizeof path, "--%s", option);
    struct source source = {.path = path, .text = text, .size = (uint32_t)size};
    struct diags diags;
    struct sk_options options;
    diags_init(&diags, &source, source.path);
    bool ok = sk_options_parse(&options, text, size, (struct span){0, source.size}, &diags);
    diags_print(&diags, invocation->err, false);
    diags_free(&diags);
    source_free(&source);
    if (!ok)
        usage_error(invocation, "%s has errors", path);
    return ok;
}
