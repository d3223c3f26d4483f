#include "frontend/exchange/dump/marks.h"
#include "ir/op_types.h"

#include <fnmatch.h>
#include <string.h>

/* Nodes of a graph, by their places, that have a name or type in common. */
struct chains {
    struct id_map first; /* by name id: the first place */
    uint32_t *next;      /* by place; NONE */
    const char **texts;  /* by first place: the name, NUL-terminated, where it was needed; NULL */
};

struct marking {
    struct dump *dump;
    struct dump_graph *graph;
    const uint32_t *order; /* by place */
    struct chains names, types;
    struct arena arena; /* of the texts */
};

static struct dump_node *node_at(const struct marking *marking, uint32_t place)
{
    return &marking->graph->nodes.at[marking->order[place]];
}

/* ------------------------------------------------------------------------------ chains ---- */

static uint32_t key_at(const struct marking *marking, const struct chains *chains, uint32_t place)
{
    const struct dump_node *node = node_at(marking, place);
    return chains == &marking->types ? node->type : node->name;
}

static void make_chains(struct marking *marking, struct chains *chains)
{
    uint32_t count = marking->graph->nodes.count;
    chains->next = mem_calloc(count + 1, sizeof *chains->next);
    chains->texts = mem_calloc(count + 1, sizeof *chains->texts);
    for (uint32_t place = count; place-- > 0;) {
        uint32_t key = key_at(marking, chains, place);
        if (key == NONE)
            continue;
        chains->next[place] = id_map_find(&chains->first, key);
        id_map_set(&chains->first, key, place);
    }
}

static void free_chains(struct chains *chains)
{
    id_map_free(&chains->first);
    mem_free(chains->next);
    mem_free(chains->texts);
}

/* The first place of what has just this name; NONE. */
static uint32_t find_place(const struct marking *marking, const struct chains *chains,
                           const char *name)
{
    uint32_t id = intern_find(&marking->dump->module->names, name, strlen(name));
    return id == NONE ? NONE : id_map_find(&chains->first, id);
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

static void give_chain(struct marking *marking, const struct chains *chains, uint32_t place,
                       struct dump_mark *mark)
{
    for (; place != NONE; place = chains->next[place])
        give(marking, node_at(marking, place), mark);
}

static void give_places(struct marking *marking, uint32_t first, uint32_t end,
                        struct dump_mark *mark)
{
    for (; first < end; first++)
        give(marking, node_at(marking, first), mark);
}

/* ------------------------------------------------------------------------------- marks ---- */

/* What has a NUL inside fits no pattern as a whole. */
static bool fits(struct marking *marking, struct chains *chains, uint32_t place,
                 const char *pattern, size_t literal)
{
    const struct module *module = marking->dump->module;
    uint32_t id = key_at(marking, chains, place);
    const struct intern_name *name = &module->names.names[id];
    if (name->size < literal || memcmp(name->text, pattern, literal) != 0)
        return false;
    if (!chains->texts[place])
        chains->texts[place] = name_text(module, id, &marking->arena);
    return fnmatch(pattern, chains->texts[place], 0) == 0;
}

static void mark_pattern(struct marking *marking, struct chains *chains, struct dump_mark *mark)
{
    size_t literal = strcspn(mark->pattern, "*?[\\"); /* bytes that stand for themselves */
    if (!mark->pattern[literal]) {
        give_chain(marking, chains, find_place(marking, chains, mark->pattern), mark);
        return;
    }
    for (uint32_t place = 0; place < marking->graph->nodes.count; place++) {
        uint32_t key = key_at(marking, chains, place);
        if (key != NONE && id_map_find(&chains->first, key) == place &&
            fits(marking, chains, place, mark->pattern, literal))
            give_chain(marking, chains, place, mark);
    }
}

static void mark_range(struct marking *marking, struct dump_mark *mark)
{
    uint32_t first = find_place(marking, &marking->names, mark->pattern);
    uint32_t last = find_place(marking, &marking->names, mark->to);
    mark->met |= (first != NONE ? MARK_FROM : 0) | (last != NONE ? MARK_TO : 0);
    if (first == NONE || last == NONE)
        return;
    while (last != NONE && last < first)
        last = marking->names.next[last];
    if (last == NONE)
        mark->met |= MARK_REVERSED;
    else
        give_places(marking, first, last + 1, mark);
}

static void give_mark(struct marking *marking, struct dump_mark *mark)
{
    switch (mark->kind) {
    case MARK_ALL: give_places(marking, 0, marking->graph->nodes.count, mark); break;
    case MARK_NAME: mark_pattern(marking, &marking->names, mark); break;
    case MARK_TYPE: mark_pattern(marking, &marking->types, mark); break;
    case MARK_RANGE: mark_range(marking, mark); break;
    }
}

void dump_mark_nodes(struct dump *dump, uint32_t graph, const uint32_t *order)
{
    struct dump_marks *marks = dump->options->marks;
    struct marking marking = {.dump = dump, .graph = &dump->graphs.at[graph], .order = order};
    if (!marks || marks->list.count == 0)
        return;
    make_chains(&marking, &marking.names);
    make_chains(&marking, &marking.types);
    for (uint32_t i = 0; i < marks->list.count; i++)
        give_mark(&marking, &marks->list.at[i]);
    free_chains(&marking.names);
    free_chains(&marking.types);
    arena_free(&marking.arena);
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
