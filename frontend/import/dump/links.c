#include "frontend/import/dump/links.h"

#include <string.h>

#include "ir/core/calls.h"
#include "ir/optypes/op_types.h"

/* Outputs that a dump does not declare, but some input names, are made. A graph may have so many of
 * them, besides a few for each input. */
enum { FREE_OUTPUTS = 65536, OUTPUTS_PER_INPUT = 4 };

void dump_names_next(struct dump_names *names)
{
    names->turn++;
}

struct dump_name *dump_names_find(const struct dump_names *names, uint32_t name)
{
    struct dump_name *found = name < names->count ? &names->at[name] : NULL;
    return found && found->turn == names->turn ? found : NULL;
}

static void make_room(struct dump_names *names, uint32_t name)
{
    if (name < names->count)
        return;
    vec_reserve(names, name + 1 - names->count);
    memset(names->at + names->count, 0, (names->capacity - names->count) * sizeof *names->at);
    names->count = names->capacity;
}

struct dump_name *dump_names_set(struct dump_names *names, uint32_t name, uint32_t id,
                                 uint32_t output)
{
    struct dump_name *found = dump_names_find(names, name);
    if (found)
        return found;
    make_room(names, name);
    names->at[name] = (struct dump_name){names->turn, id, output};
    return NULL;
}

void dump_linker_free(struct dump_linker *linker)
{
    vec_free(&linker->nodes);
    vec_free(&linker->values);
}

/* ---------------------------------------------------------------------------- names ---- */

static void report_duplicate(struct dump *dump, const char *what, uint32_t name, uint32_t loc,
                             uint32_t first)
{
    if (diag_at(dump->diags, DIAG_duplicate, source_token(dump->source, loc),
                "another %s is '%.*s'", what, NAME(dump->module, name)))
        diag_note(dump->diags, source_token(dump->source, first), "it is here");
}

/* Two values of one name. */
static void report_value(struct dump_linker *linker, const struct dump_graph *graph, uint32_t name,
                         uint32_t loc, const struct dump_name *first)
{
    uint32_t where =
        first->id == NONE ? graph->params.at[first->output].loc : graph->nodes.at[first->id].loc;
    report_duplicate(linker->dump, "value", name, loc, where);
}

static void name_outputs(struct dump_linker *linker, const struct dump_graph *graph, uint32_t n,
                         bool report)
{
    const struct dump_node *node = &graph->nodes.at[n];
    for (uint32_t i = 0; i < node->outputs.count; i++) {
        uint32_t name = graph->outputs.at[node->outputs.first + i].name;
        struct dump_name *first = name == NONE ? NULL : dump_names_set(&linker->values, name, n, i);
        if (first && report)
            report_value(linker, graph, name, node->loc, first);
    }
}

/* Of several nodes with one name the second one's number is noted, as `output`: whoever takes it by
 * its name is in doubt. */
static void name_graph(struct dump_linker *linker, const struct dump_graph *graph, bool report)
{
    dump_names_next(&linker->nodes);
    dump_names_next(&linker->values);
    for (uint32_t i = 0; i < graph->params.count; i++) {
        const struct dump_param *param = &graph->params.at[i];
        struct dump_name *first = dump_names_set(&linker->values, param->name, NONE, i);
        if (first && report)
            report_value(linker, graph, param->name, param->loc, first);
    }
    for (uint32_t n = 0; n < graph->nodes.count; n++) {
        uint32_t name = graph->nodes.at[n].name;
        struct dump_name *first =
            name == NONE ? NULL : dump_names_set(&linker->nodes, name, n, NONE);
        if (first && first->output == NONE)
            first->output = n;
        name_outputs(linker, graph, n, report);
    }
}

/* ------------------------------------------------------------------------- captures ---- */

/* Names of the values that a graph uses and does not have, each once. */
struct captures {
    struct vec_u32 names;
};

static bool is_outer(const struct dump_linker *linker, const struct dump_input *input)
{
    return input->kind == DUMP_VALUE && !dump_names_find(&linker->values, input->name);
}

/* The value becomes a parameter of the graph. */
static void capture(struct dump_linker *linker, uint32_t index, uint32_t name, uint32_t loc)
{
    struct dump_graph *graph = &linker->dump->graphs.at[index];
    dump_names_set(&linker->values, name, NONE, graph->params.count);
    vec_push(&graph->params, (struct dump_param){name, NONE, loc});
}

static void find_captures(struct dump_linker *linker, uint32_t index, struct captures *captures)
{
    const struct dump_graph *graph = &linker->dump->graphs.at[index];
    for (uint32_t i = 0; i < graph->inputs.count + graph->returns.count; i++) {
        struct dump_input input = i < graph->inputs.count
                                      ? graph->inputs.at[i]
                                      : graph->returns.at[i - graph->inputs.count];
        if (!is_outer(linker, &input))
            continue;
        capture(linker, index, input.name, input.loc);
        vec_push(&captures->names, input.name);
        graph = &linker->dump->graphs.at[index];
    }
}

/* The graphs that a value of an attribute names. */
static void add_named(const struct dump *dump, const struct attr_value *value, uint32_t outer,
                      struct vec_u32 *graphs)
{
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        add_named(dump, &dump->module->attr_values.at[value->first + i], outer, graphs);
    uint32_t graph = value->kind == ATTR_SYMBOL ? id_map_find(&dump->graph_names, value->id) : NONE;
    if (graph != NONE && (outer == NONE || dump->graphs.at[graph].parent == outer))
        vec_push(graphs, graph);
}

void dump_named_graphs(const struct dump *dump, const struct dump_node *node, uint32_t outer,
                       struct vec_u32 *graphs)
{
    for (uint32_t i = 0; i < node->attrs.count; i++)
        add_named(dump, &dump->module->attrs.at[node->attrs.first + i].value, outer, graphs);
}

static bool has_name(const struct vec_u32 *names, uint32_t name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (names->at[i] == name)
            return true;
    return false;
}

/* A node gets inputs behind its own. */
static void add_inputs(struct dump *dump, uint32_t index, uint32_t n, const struct vec_u32 *names)
{
    struct dump_graph *graph = &dump->graphs.at[index];
    struct dump_node *node = &graph->nodes.at[n];
    struct range inputs = node->inputs;
    node->inputs = (struct range){graph->inputs.count, inputs.count + names->count};
    vec_reserve(&graph->inputs, node->inputs.count);
    for (uint32_t i = 0; i < inputs.count; i++)
        graph->inputs.at[graph->inputs.count++] = graph->inputs.at[inputs.first + i];
    for (uint32_t i = 0; i < inputs.count; i++) /* they have moved */
        graph->inputs.at[inputs.first + i].kind = DUMP_ABSENT;
    for (uint32_t i = 0; i < names->count; i++)
        graph->inputs.at[graph->inputs.count++] =
            (struct dump_input){names->at[i], 0, NONE, node->loc, DUMP_VALUE, false};
}

/* All graphs that one node holds get the same parameters, those that one of them uses, in one
 * order, for they are called with the same operands. */
static void join_captures(struct dump_linker *linker, struct captures *captures, uint32_t index,
                          uint32_t n, const struct vec_u32 *held)
{
    struct vec_u32 all = {NULL, 0, 0};
    for (uint32_t h = 0; h < held->count; h++) {
        const struct vec_u32 *names = &captures[held->at[h]].names;
        for (uint32_t i = 0; i < names->count; i++)
            if (!has_name(&all, names->at[i]))
                vec_push(&all, names->at[i]);
    }
    for (uint32_t h = 0; all.count && h < held->count; h++) {
        struct dump_graph *graph = &linker->dump->graphs.at[held->at[h]];
        graph->params.count -= captures[held->at[h]].names.count;
        for (uint32_t i = 0; i < all.count; i++)
            vec_push(&graph->params, (struct dump_param){all.at[i], NONE, graph->loc});
    }
    if (all.count)
        add_inputs(linker->dump, index, n, &all);
    vec_free(&all);
}

/* Whether some graph stands in another. */
static uint8_t *mark_outer(const struct dump *dump)
{
    uint8_t *outer = mem_calloc(dump->graphs.count + 1, 1);
    for (uint32_t i = 0; i < dump->graphs.count; i++) {
        uint32_t parent = dump->graphs.at[i].parent;
        if (parent != NONE)
            outer[parent] = 1;
    }
    return outer;
}

/* Graphs have greater indices than those that they stand in, so inner ones come first. */
void dump_capture(struct dump_linker *linker)
{
    struct dump *dump = linker->dump;
    uint8_t *outer = mark_outer(dump);
    struct captures *captures = mem_calloc(dump->graphs.count + 1, sizeof *captures);
    struct vec_u32 held = {NULL, 0, 0};
    for (uint32_t i = dump->graphs.count; i-- > 0;) {
        uint32_t n_nodes = outer[i] ? dump->graphs.at[i].nodes.count : 0;
        for (uint32_t n = 0; n < n_nodes; n++) {
            held.count = 0;
            dump_named_graphs(dump, &dump->graphs.at[i].nodes.at[n], i, &held);
            join_captures(linker, captures, i, n, &held);
        }
        if (dump->graphs.at[i].parent != NONE) {
            name_graph(linker, &dump->graphs.at[i], false);
            find_captures(linker, i, &captures[i]);
        }
    }
    for (uint32_t i = 0; i < dump->graphs.count; i++)
        vec_free(&captures[i].names);
    vec_free(&held);
    mem_free(captures);
    mem_free(outer);
}

/* ---------------------------------------------------------------------------- links ---- */

struct walk {
    struct dump_linker *linker;
    struct dump_links *links;
    uint32_t index;
    uint64_t implied; /* outputs made so far */
};

static struct dump_graph *graph_of(const struct walk *walk)
{
    return &walk->linker->dump->graphs.at[walk->index];
}

/* The type that its consumer says an input has; NONE. */
static uint32_t hinted_type(const struct dump_graph *graph, const struct dump_input *input)
{
    uint32_t index = (uint32_t)(input - graph->inputs.at), low;
    bisect(low, i, graph->hints.count, graph->hints.at[i].input < index);
    return low < graph->hints.count && graph->hints.at[low].input == index
               ? graph->hints.at[low].type
               : NONE;
}

/* What nothing gives. */
static struct dump_link dangling(struct walk *walk, const struct dump_input *input)
{
    static const char *const kinds[] = {
        [DUMP_DATA] = "node", [DUMP_VALUE] = "value", [DUMP_CONTROL] = "node"};
    struct dump *dump = walk->linker->dump;
    struct dump_graph *graph = graph_of(walk);
    if (!dump->options->dangling_params) {
        if (diag_at(dump->diags, DIAG_no_producer, source_token(dump->source, input->loc),
                    "no %s of graph '%.*s' is '%.*s'", kinds[input->kind],
                    NAME(dump->module, graph->name), NAME(dump->module, input->name)))
            diag_help(dump->diags, "--dangling=param makes a parameter of it");
        return (struct dump_link){LINK_NOTHING, 0, 0};
    }
    if (input->kind == DUMP_CONTROL) {
        dump_drop(dump, input->loc, "the order behind '%.*s', which is not in graph '%.*s'",
                  NAME(dump->module, input->name), NAME(dump->module, graph->name));
        return (struct dump_link){LINK_NOTHING, 0, 0};
    }
    uint32_t name = input->name;
    if (input->kind == DUMP_DATA && input->output)
        name = module_name_printf(dump->module, "%.*s.%u", NAME(dump->module, name), input->output);
    if (!dump_names_find(&walk->linker->values, name))
        capture(walk->linker, walk->index, name, input->loc);
    const struct dump_name *known = dump_names_find(&walk->linker->values, name);
    if (known->id != NONE)
        return (struct dump_link){LINK_NODE, known->id, known->output};
    struct dump_param *param = &graph->params.at[known->output];
    if (param->type == NONE)
        param->type = hinted_type(graph, input);
    return (struct dump_link){LINK_PARAM, known->output, 0};
}

/* Notes that an output is taken, which makes those up to it. */
static bool take_output(struct walk *walk, const struct dump_input *input, uint32_t node,
                        uint32_t output)
{
    uint32_t *count = &walk->links->n_outputs[node];
    uint64_t limit = FREE_OUTPUTS + (uint64_t)OUTPUTS_PER_INPUT * graph_of(walk)->inputs.count;
    walk->links->used[node] |= 1;
    walk->links->taken[node] |= UINT64_C(1) << (output < 63 ? output : 63);
    if (output < *count)
        return true;
    bool is_param = graph_of(walk)->nodes.at[node].role == DUMP_PARAM; /* it has one */
    if ((is_param && output > 0) || walk->implied + (output - *count) >= limit) {
        struct dump *dump = walk->linker->dump;
        diag_at(dump->diags, DIAG_foreign_form, source_token(dump->source, input->loc),
                "'%.*s' has no output %u", NAME(dump->module, input->name), output);
        return false;
    }
    walk->implied += output + 1 - *count;
    *count = output + 1;
    return true;
}

static struct dump_link link_value(struct walk *walk, const struct dump_input *input)
{
    const struct dump_name *found = dump_names_find(&walk->linker->values, input->name);
    if (!found)
        return dangling(walk, input);
    if (found->id == NONE)
        return (struct dump_link){LINK_PARAM, found->output, 0};
    take_output(walk, input, found->id, found->output);
    return (struct dump_link){LINK_NODE, found->id, found->output};
}

static struct dump_link link_node(struct walk *walk, const struct dump_input *input)
{
    struct dump_name *found = dump_names_find(&walk->linker->nodes, input->name);
    const struct dump_link nothing = {LINK_NOTHING, 0, 0};
    if (!found && input->kind == DUMP_CONTROL &&
        dump_names_find(&walk->linker->values, input->name))
        return link_value(walk, input);
    if (!found)
        return dangling(walk, input);
    if (found->output != NONE) {
        const struct dump_graph *graph = graph_of(walk);
        report_duplicate(walk->linker->dump, "node", input->name,
                         graph->nodes.at[found->output].loc, graph->nodes.at[found->id].loc);
        found->output = NONE; /* once is enough */
        return nothing;
    }
    struct dump_link link = {LINK_NODE, found->id, input->output};
    if (input->kind == DUMP_CONTROL)
        walk->links->used[found->id] |= 2;
    else if (!take_output(walk, input, found->id, input->output))
        return nothing;
    return link;
}

static struct dump_link link_input(struct walk *walk, const struct dump_input *input)
{
    switch (input->kind) {
    case DUMP_DATA:
    case DUMP_CONTROL: return link_node(walk, input);
    case DUMP_VALUE: return link_value(walk, input);
    default: return (struct dump_link){LINK_NOTHING, 0, 0};
    }
}

void dump_link_graph(struct dump_linker *linker, uint32_t index, struct dump_links *links)
{
    const struct dump_graph *graph = &linker->dump->graphs.at[index];
    struct walk walk = {linker, links, index, 0};
    links->inputs = mem_calloc(graph->inputs.count + 1, sizeof *links->inputs);
    links->returns = mem_calloc(graph->returns.count + 1, sizeof *links->returns);
    links->n_outputs = mem_calloc(graph->nodes.count + 1, sizeof *links->n_outputs);
    links->used = mem_calloc(graph->nodes.count + 1, 1);
    links->taken = mem_calloc(graph->nodes.count + 1, sizeof *links->taken);
    name_graph(linker, graph, true);
    for (uint32_t n = 0; n < graph->nodes.count; n++)
        links->n_outputs[n] = graph->nodes.at[n].outputs.count;
    for (uint32_t i = 0; i < graph_of(&walk)->inputs.count; i++)
        links->inputs[i] = link_input(&walk, &graph_of(&walk)->inputs.at[i]);
    for (uint32_t i = 0; i < graph_of(&walk)->returns.count; i++)
        links->returns[i] = link_input(&walk, &graph_of(&walk)->returns.at[i]);
}

void dump_links_free(struct dump_links *links)
{
    mem_free(links->inputs);
    mem_free(links->returns);
    mem_free(links->n_outputs);
    mem_free(links->used);
    mem_free(links->taken);
}

/* ---------------------------------------------------------------------------- writes ---- */

/* The type of the op that a node becomes, or NULL. */
static const struct op_type *type_of(const struct dump *dump, const struct dump_node *node)
{
    enum dialect dialect = (enum dialect)node->dialect;
    if (dialect == DIALECT_GE)
        return op_type_find(dump->module, node->type);
    const struct translation_row *row = translation_find(dump->module, dialect, node->type);
    return row ? op_types_find(op_types_of(dump->module), row->to, strlen(row->to)) : NULL;
}

/* Whether nodes of the type write to operands, or call graphs, which may. */
static bool may_write(const struct dump *dump, const struct dump_node *node)
{
    const struct op op = {.type = node->type};
    const struct op_type *type = type_of(dump, node);
    bool writes = op_call_kind(&op) != CALL_NONE;
    for (uint32_t i = 0; type && i < type->n_operands; i++)
        writes |= type->slots[i].writes;
    for (uint32_t i = 0; i < node->attrs.count; i++)
        writes |= dump->module->attrs.at[node->attrs.first + i].key == W_inplace;
    return writes;
}

/* The node whose memory the input is: through views, which alias their first input. What nodes of
 * other dialects become may be views. */
static void mark_memory(const struct dump *dump, const struct dump_graph *graph,
                        struct dump_links *links, uint32_t input)
{
    for (uint32_t steps = 0; steps <= graph->nodes.count; steps++) {
        struct dump_link link = links->inputs[input];
        if (link.kind != LINK_NODE)
            return;
        const struct dump_node *node = &graph->nodes.at[link.id];
        const struct op_type *type = type_of(dump, node);
        bool known = links->used[link.id] & 4;
        links->used[link.id] |= 4;
        bool view = node->dialect != DIALECT_GE || (type && type->view);
        if (known || !view || node->inputs.count == 0)
            return;
        input = node->inputs.first;
    }
}

void dump_link_writes(const struct dump *dump, uint32_t index, struct dump_links *links)
{
    const struct dump_graph *graph = &dump->graphs.at[index];
    for (uint32_t n = 0; n < graph->nodes.count; n++) {
        const struct dump_node *node = &graph->nodes.at[n];
        if (!may_write(dump, node))
            continue;
        for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++)
            if (graph->inputs.at[i].kind != DUMP_CONTROL)
                mark_memory(dump, graph, links, i);
    }
}

enum { NEW, OPEN, DONE };

/* A node whose inputs are walked through. */
struct frame {
    uint32_t node, next;
};

struct sorter {
    struct dump *dump;
    uint32_t index;
    struct dump_links *links;
    uint8_t *state; /* by node */
    VEC(struct frame) stack;
    uint32_t *order, count;
};

static const struct dump_node *node_at(const struct sorter *sorter, uint32_t node)
{
    return &sorter->dump->graphs.at[sorter->index].nodes.at[node];
}

enum { NAMED_NODES = 8 };

/* Names the nodes of a circle, from its last one on. */
static void note_circle(struct sorter *sorter, uint32_t node)
{
    struct dump *dump = sorter->dump;
    for (uint32_t i = sorter->stack.count, noted = 0; i-- > 0 && noted < NAMED_NODES; noted++) {
        const struct dump_node *member = node_at(sorter, sorter->stack.at[i].node);
        diag_note(dump->diags, source_token(dump->source, member->loc), "%.*s",
                  NAME(dump->module, member->name == NONE ? member->type : member->name));
        if (sorter->stack.at[i].node == node)
            break;
    }
    diag_help(dump->diags, "--dangling=param makes a parameter where it closes");
}

static bool is_next_iteration(const struct sorter *sorter, uint32_t node)
{
    uint32_t type = node_at(sorter, node)->type;
    return name_is(sorter->dump->module, type, "NextIteration") ||
           name_is(sorter->dump->module, type, "RefNextIteration");
}

/* The input becomes a parameter; a mere order is lost. */
static void cut(struct sorter *sorter, uint32_t input, struct dump_link *link)
{
    struct dump *dump = sorter->dump;
    struct dump_graph *graph = &dump->graphs.at[sorter->index];
    const struct dump_input *taken = &graph->inputs.at[input];
    if (taken->kind == DUMP_CONTROL) {
        dump_drop(dump, taken->loc, "the order behind '%.*s', which closes a circle",
                  NAME(dump->module, taken->name));
        *link = (struct dump_link){LINK_NOTHING, 0, 0};
        return;
    }
    uint32_t name = module_name_printf(dump->module, "%.*s.loop", NAME(dump->module, taken->name));
    vec_push(&graph->params, (struct dump_param){name, NONE, taken->loc});
    *link = (struct dump_link){LINK_PARAM, graph->params.count - 1, 0};
}

static void close_circle(struct sorter *sorter, uint32_t input, struct dump_link *link)
{
    struct dump *dump = sorter->dump;
    const struct dump_graph *graph = &dump->graphs.at[sorter->index];
    uint32_t loc = graph->inputs.at[input].loc;
    if (dump->options->dangling_params)
        cut(sorter, input, link);
    else if (diag_at(dump->diags, DIAG_import_cycle, source_token(dump->source, loc),
                     "in graph '%.*s' this waits for itself", NAME(dump->module, graph->name)))
        note_circle(sorter, link->id);
}

static void push(struct sorter *sorter, uint32_t node)
{
    sorter->state[node] = OPEN;
    vec_push(&sorter->stack, (struct frame){node, 0});
}

/* Loops of TensorFlow close where the next round begins. */
static bool closes(const struct sorter *sorter, const struct dump_link *link)
{
    return sorter->state[link->id] == OPEN ||
           (sorter->state[link->id] == NEW && is_next_iteration(sorter, link->id));
}

/* One input of the innermost node, or its end. */
static void step(struct sorter *sorter)
{
    struct frame *frame = &sorter->stack.at[sorter->stack.count - 1];
    const struct dump_node *node = node_at(sorter, frame->node);
    if (frame->next == node->inputs.count) {
        sorter->state[frame->node] = DONE;
        sorter->order[sorter->count++] = frame->node;
        sorter->stack.count--;
        return;
    }
    uint32_t input = node->inputs.first + frame->next++;
    struct dump_link *link = &sorter->links->inputs[input];
    if (link->kind != LINK_NODE)
        return;
    if (closes(sorter, link))
        close_circle(sorter, input, link);
    else if (sorter->state[link->id] == NEW)
        push(sorter, link->id);
}

void dump_sort(struct dump *dump, uint32_t graph, struct dump_links *links, uint32_t *order)
{
    uint32_t count = dump->graphs.at[graph].nodes.count;
    struct sorter sorter = {.dump = dump, .index = graph, .links = links, .order = order};
    sorter.state = mem_calloc(count + 1, 1);
    for (uint32_t n = 0; n < count; n++) {
        if (sorter.state[n] == NEW)
            push(&sorter, n);
        while (sorter.stack.count)
            step(&sorter);
    }
    vec_free(&sorter.stack);
    mem_free(sorter.state);
}
