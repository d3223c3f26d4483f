/* The verifier's part for the options of scopes and super kernels. */
#include "ir/sk_options.h"
#include "ir/verify/verify_internal.h"

bool verify_wants_option_warnings(const struct diags *diags)
{
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].id == DIAG_option_ignored)
            return false;
    return true;
}

static void verify_text(struct verifier *verifier, const struct attr *attr)
{
    const struct module *module = verifier->module;
    const struct intern_name *text = &module->names.names[attr->value.id];
    struct sk_options options;
    if (!verifier->option_warnings &&
        sk_options_parse(&options, text->text, text->size, no_span, NULL))
        return;
    sk_options_parse(&options, text->text, text->size, locate_options(module, attr),
                     verifier->diags);
}

void verify_options(struct verifier *verifier, const struct block *block)
{
    if (block->kind == BLOCK_STREAM || block->attrs.count == 0)
        return;
    const struct attr *attr = attr_find(verifier->module, block->attrs, W_options);
    if (attr && attr->value.kind == ATTR_STRING && !marks_set(verifier, attr->value.id, 0, NULL))
        verify_text(verifier, attr);
}
