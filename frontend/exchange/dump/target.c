#include "frontend/exchange/dump/target.h"

void dump_add_target(struct dump *dump)
{
    const struct dump_options *options = dump->options;
    struct module *module = dump->module;
    if (!options->has_device || module->targets.count)
        return;
    struct attr attrs[3] = {
        {W_aic, NONE, {.kind = ATTR_INT, .i = options->aic}},
        {W_aiv, NONE, {.kind = ATTR_INT, .i = options->aiv}},
    };
    if (options->arch)
        attrs[2] = (struct attr){
            W_arch, NONE, {.kind = ATTR_STRING, .id = module_name(module, options->arch)}};
    struct target target = {.name =
                                module_name(module, options->device ? options->device : "ascend"),
                            .loc = NONE,
                            .attrs = module_add_attrs(module, attrs, options->arch ? 3 : 2)};
    vec_push(&module->order, order_make(module->targets.count, ORDER_TARGET));
    vec_push(&module->targets, target);
}
