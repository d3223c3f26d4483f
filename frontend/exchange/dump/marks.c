#include "frontend/exchange/dump/marks.h"
#include "ir/op_types.h"

#include <fnmatch.h>
#include <string.h>

struct marking {
    struct dump *dump;
    struct dump_graph *graph;
    const uint32_t *order; /* by place */
    struct text name;      /* that a pattern is matched with, NUL-terminated */
};

static struct dump_node *node_at(const struct marking *marking, uint32_t place)
{
    return &marking->graph->nodes.at[marking->order[place]];
}

/* ------------------------------------------------------------------------------- nodes ---- */

static uint32_t name_or_none(const struct marking *marking, const char *text)
{
    return text ? module_name(marking->dump->module, text) : NONE;
}

static bool is_passive(const struct marking *marking, const struct dump_node *node)
{
    const struct op_type *type = op_type_find(marking->dump->module, node->type);
    return node->role != DUMP_OP || (type && type->passive);
}

/* `none` is written as dumps say it. */
static uint32_t scope_name(const struct marking *marking, const char *scope)
{
    return name_or_none(marking, strcmp(scope, "none") == 0 ? DUMP_SCOPE_NONE : scope);
}

static void give(struct marking *marking, struct dump_node *node, struct dump_mark *mark)
{
    mark->met |= MARK_MET;
    if (is_passive(marking, node))
        return;
    if (mark->scope) {
        node->scope = scope_name(marking, mark->scope);
        node->options = name_or_none(marking, mark->options);
        node->options_loc = mark->options_span.begin;
    }
    if (mark->stream) {
        node->stream = name_or_none(marking, mark->stream);
        node->priority = mark->priority;
    }
}

static void give_places(struct marking *marking, uint32_t first, uint32_t end,
                        struct dump_mark *mark)
{
    for (; first < end; first++)
        give(marking, node_at(marking, first), mark);
}

/* ------------------------------------------------------------------------------- marks ---- */

/* Whether a name matches a pattern, whose first `literal` bytes stand for themselves. */
static bool matches(struct marking *marking, uint32_t id, const char *pattern, size_t literal)
{
    const struct intern_name *name = &marking->dump->module->names.names[id];
    if (name->size < literal || memcmp(name->text, pattern, literal) != 0)
        return false;
    marking->name.size = 0;
    text_bytes(&marking->name, name->text, name->size);
    text_char(&marking->name, '\0');
    return fnmatch(pattern, marking->name.at, 0) == 0;
}

static uint32_t find_name(const struct marking *marking, const char *name)
{
    return intern_find(&marking->dump->module->names, name, strlen(name));
}

static void mark_pattern(struct marking *marking, struct dump_mark *mark)
{
    size_t literal = strcspn(mark->pattern, "*?[\\");
    bool exact = !mark->pattern[literal];
    uint32_t name = exact ? find_name(marking, mark->pattern) : NONE;
    for (uint32_t place = 0; place < marking->graph->nodes.count; place++) {
        struct dump_node *node = node_at(marking, place);
        uint32_t key = mark->kind == MARK_TYPE ? node->type : node->name;
        if (key != NONE && (exact ? key == name : matches(marking, key, mark->pattern, literal)))
            give(marking, node, mark);
    }
}

/* The first place from `place` on whose node has this name; NONE. */
static uint32_t find_place(const struct marking *marking, const char *text, uint32_t place)
{
    uint32_t name = find_name(marking, text);
    for (; name != NONE && place < marking->graph->nodes.count; place++)
        if (node_at(marking, place)->name == name)
            return place;
    return NONE;
}

static void mark_range(struct marking *marking, struct dump_mark *mark)
{
    uint32_t first = find_place(marking, mark->pattern, 0);
    uint32_t last = find_place(marking, mark->to, 0);
    mark->met |= (first != NONE ? MARK_FROM : 0) | (last != NONE ? MARK_TO : 0);
    if (first == NONE || last == NONE)
        return;
    last = find_place(marking, mark->to, first);
    if (last == NONE)
        mark->met |= MARK_REVERSED;
    else
        give_places(marking, first, last + 1, mark);
}

static void give_mark(struct marking *marking, struct dump_mark *mark)
{
    switch (mark->kind) {
    case MARK_ALL: give_places(marking, 0, marking->graph->nodes.count, mark); break;
    case MARK_NAME:
    case MARK_TYPE: mark_pattern(marking, mark); break;
    case MARK_RANGE: mark_range(marking, mark); break;
    }
}

void dump_mark_nodes(struct dump *dump, uint32_t graph, const uint32_t *order)
{
    struct dump_marks *marks = dump->options->marks;
    struct marking marking = {.dump = dump, .graph = &dump->graphs.at[graph], .order = order};
    if (!marks || marks->list.count == 0)
        return;
    for (uint32_t i = 0; i < marks->list.count; i++)
        give_mark(&marking, &marks->list.at[i]);
    text_free(&marking.name);
}

/* ----------------------------------------------------------------------------- reports ---- */

static void report_range(struct dump *dump, const struct dump_mark *mark, const char *option)
{
    bool from = mark->met & MARK_FROM, to = mark->met & MARK_TO;
    if (mark->met & MARK_REVERSED)
        diag_at(dump->diags, DIAG_idle_mark, mark->subject,
                "%sthe range is reversed: '%s' stands before '%s'", option, mark->to,
                mark->pattern);
    else if (from && to)
        diag_at(dump->diags, DIAG_idle_mark, mark->subject,
                "%sthe range has its ends '%s' and '%s' in different graphs", option, mark->pattern,
                mark->to);
    else if (from || to)
        diag_at(dump->diags, DIAG_idle_mark, mark->subject, "%sthe range has no %s: no op is '%s'",
                option, from ? "end" : "begin", from ? mark->to : mark->pattern);
    else
        diag_at(dump->diags, DIAG_idle_mark, mark->subject,
                "%sthe range has no ends: no op is '%s', and none is '%s'", option, mark->pattern,
                mark->to);
}

static void report_mark(struct dump *dump, const struct dump_mark *mark)
{
    const char *option = mark->subject.end ? "" : "--scope: ";
    if (mark->kind == MARK_RANGE)
        report_range(dump, mark, option);
    else if (mark->kind == MARK_ALL)
        diag_at(dump->diags, DIAG_idle_mark, mark->subject, "%sthere is no op", option);
    else
        diag_at(dump->diags, DIAG_idle_mark, mark->subject, "%sno op's %s fits '%s'", option,
                mark->kind == MARK_TYPE ? "type" : "name", mark->pattern);
}

void dump_report_marks(struct dump *dump)
{
    const struct dump_marks *marks = dump->options->marks;
    for (uint32_t i = 0; marks && i < marks->list.count; i++)
        if (!(marks->list.at[i].met & MARK_MET))
            report_mark(dump, &marks->list.at[i]);
}
