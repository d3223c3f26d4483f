#include "frontend/cli/sk_argument.h"
#include "ir/sk_options.h"

#include <string.h>

/* The value is a source of its own, so that carets point into it. */
bool sk_argument_check(const struct invocation *invocation)
{
    const char *text = option_value(invocation, "sk-options");
    if (!text)
        return true;
    size_t size = strlen(text);
    if (size >= UINT32_MAX) {
        usage_error(invocation, "the value of --sk-options is too long");
        return false;
    }
    struct source source = {.path = "--sk-options", .text = text, .size = (uint32_t)size};
    struct diags diags;
    struct sk_options options;
    diags_init(&diags, &source, source.path);
    bool ok = sk_options_parse(&options, text, size, (struct span){0, source.size}, &diags);
    diags_print(&diags, invocation->err, false);
    diags_free(&diags);
    source_free(&source);
    if (!ok)
        usage_error(invocation, "--sk-options has errors");
    return ok;
}
