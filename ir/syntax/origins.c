#include "ir/syntax/origins.h"
#include "ir/syntax/locate.h"

#include <string.h>

/* A part of the module; it ends where the next begins. */
struct part {
    uint32_t loc;
    struct range attrs;
    bool again; /* more of a construct that has another part */
};

struct parts {
    struct part *at;
    uint32_t count, capacity;
};

static void add(struct parts *parts, uint32_t loc, struct range attrs)
{
    if (loc != NONE)
        vec_push(parts, (struct part){loc, attrs, false});
}

/* Behind its attributes stand the types of its results. */
static void add_head(struct parts *parts, const struct module *module, const struct graph *graph)
{
    add(parts, graph->loc, graph->attrs);
    uint32_t loc = graph->attrs.count ? module->attrs.at[graph->attrs.first].loc : NONE;
    if (loc != NONE)
        vec_push(parts, (struct part){loc, graph->attrs, true});
}

static void add_graph(struct parts *parts, const struct module *module, const struct graph *graph)
{
    static const struct range none = {0, 0};
    add_head(parts, module, graph);
    for (uint32_t i = 0; i < graph->params.count; i++)
        add(parts, graph->params.at[i].loc, graph->params.at[i].attrs);
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        add(parts, graph->blocks.at[i].loc, graph->blocks.at[i].attrs);
        add(parts, graph->blocks.at[i].end_loc, none);
    }
    for (uint32_t i = 0; i < graph->ops.count; i++)
        add(parts, graph->ops.at[i].loc, graph->ops.at[i].attrs);
    add(parts, graph->return_loc, none);
    add(parts, graph->end_loc, none);
}

static int compare(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

static void find_parts(struct parts *parts, const struct module *module)
{
    for (uint32_t i = 0; i < module->targets.count; i++)
        add(parts, module->targets.at[i].loc, module->targets.at[i].attrs);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        add(parts, module->kernels.at[i].loc, module->kernels.at[i].attrs);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        add_graph(parts, module, &module->graphs.at[i]);
    for (uint32_t i = 0; i < module->entries.count; i++)
        add(parts, module->entries.at[i].loc, module->entries.at[i].attrs);
    if (parts->count)
        qsort(parts->at, parts->count, sizeof *parts->at, compare);
}

/* ------------------------------------------------------------------------- origins ---- */

/* Whether a text is FILE:LINE. The file may have colons; the line is from 1. */
static bool is_place(const struct intern_name *text)
{
    const char *end = text->text + text->size, *digits = end;
    while (digits > text->text && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return digits < end && *digits != '0' && digits - text->text >= 2 && digits[-1] == ':';
}

/* The origin that attributes say, or NULL. */
static const struct intern_name *origin_of(const struct module *module, struct range attrs)
{
    uint32_t text = attr_string(module, attrs, W__loc);
    return text != NONE && is_place(&module->names.names[text]) ? &module->names.names[text] : NULL;
}

static bool has_origins(const struct module *module)
{
    for (uint32_t i = 0; module_may_have(module, W__loc) && i < module->attrs.count; i++)
        if (module->attrs.at[i].key == W__loc)
            return true;
    return false;
}

/* The part that an offset is in, or NULL. */
static const struct part *part_at(const struct parts *parts, uint32_t offset)
{
    uint32_t low;
    bisect(low, i, parts->count, parts->at[i].loc <= offset);
    return low ? &parts->at[low - 1] : NULL;
}

static struct diag_origin find_origin(const struct module *module, const struct parts *parts,
                                      struct span span)
{
    const struct part *part = span.end ? part_at(parts, span.begin) : NULL;
    const struct intern_name *origin = part ? origin_of(module, part->attrs) : NULL;
    return origin ? (struct diag_origin){origin->text, origin->size}
                  : (struct diag_origin){NULL, 0};
}

void origins_mark(const struct module *module, struct diags *diags)
{
    struct parts parts = {NULL, 0, 0};
    if (diags->list.count == 0 || !has_origins(module))
        return;
    find_parts(&parts, module);
    for (uint32_t i = 0; i < diags->list.count; i++) {
        struct diag *diag = &diags->list.at[i];
        diag->origin = find_origin(module, &parts, diag->span);
        for (struct diag_note *note = diag->notes; note; note = note->next)
            note->origin = find_origin(module, &parts, note->span);
    }
    vec_free(&parts);
}

void origins_check(const struct module *module, struct diags *diags)
{
    struct parts parts = {NULL, 0, 0};
    if (!has_origins(module))
        return;
    find_parts(&parts, module);
    for (uint32_t i = 0; i < parts.count; i++) {
        const struct attr *attr = attr_find(module, parts.at[i].attrs, W__loc);
        if (attr && !parts.at[i].again && !origin_of(module, parts.at[i].attrs) &&
            diag_at(diags, DIAG_location, locate_token(module, attr->loc),
                    "'_loc' is no place of a source"))
            diag_help(diags, "a place is written \"FILE:LINE\", with lines from 1");
    }
    vec_free(&parts);
}
