#include "passes/kept_texts.h"
#include "ir/sound.h"
#include "ir/syntax/print.h"

#include <string.h>

/* By enum pass_changes: the parts that stay. KERNELS concern all: ops' `via`, entries' calls. */
static const uint8_t kept[] = {
    [CHANGES_NOTHING] = 1 << KEPT_GRAPHS | 1 << KEPT_ENTRIES | 1 << KEPT_ALL,
    [CHANGES_KERNELS] = 0,
    [CHANGES_ENTRIES] = 1 << KEPT_GRAPHS,
    [CHANGES_GRAPHS] = 0,
};

static const char *const part_names[] = {"graphs", "entries", "kernels"};

static unsigned kept_parts(const struct pass *pass)
{
    return pass->plugin ? kept[pass->changes] : 0;
}

static void print_kind(struct text *text, const struct module *module, unsigned kind)
{
    uint8_t *marked = mem_calloc((size_t)module->order.count + 1, 1);
    for (uint32_t i = 0; i < module->order.count; i++)
        marked[i] = order_kind(module->order.at[i]) == kind;
    print_marked_module(text, module, NULL, marked);
    mem_free(marked);
}

static void print_part(struct text *text, const struct module *module, enum kept_part part)
{
    if (part == KEPT_ALL)
        print_whole_module(text, module, NULL);
    else
        print_kind(text, module, part == KEPT_GRAPHS ? SYMBOL_GRAPH : SYMBOL_ENTRY);
}

void kept_texts_take(struct kept_texts *texts, const struct pass *pass, const struct module *module)
{
    *texts = (struct kept_texts){.of = {{NULL, 0, 0}}};
    for (unsigned part = 0; part < KEPT_PARTS; part++)
        if (kept_parts(pass) & 1U << part)
            print_part(&texts->of[part], module, (enum kept_part)part);
}

static bool is_same(const struct text *before, const struct module *module, enum kept_part part)
{
    struct text now = {NULL, 0, 0};
    print_part(&now, module, part);
    bool same = now.size == before->size && memcmp(now.at, before->at, now.size) == 0;
    text_free(&now);
    return same;
}

const char *kept_texts_changed(struct kept_texts *texts, const struct pass *pass,
                               const struct module *module)
{
    /* Only a sound module has a text; the verifier says what is wrong with another. */
    unsigned parts = kept_parts(pass);
    const char *changed = NULL;
    if (parts && !module_is_sound(module))
        parts = 0;
    for (unsigned part = 0; part < KEPT_PARTS; part++) {
        if (!changed && parts & 1U << part &&
            !is_same(&texts->of[part], module, (enum kept_part)part))
            changed = part_names[part];
        text_free(&texts->of[part]);
    }
    return changed;
}
