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

struct dump_name *dump_names_set(struct dump_names *names, uint32_t name, uint32_t id,
                                 uint32_t output)
{
    struct dump_name *found = dump_names_find(names, name);
    if (found)
        return found;
    if (name >= names->count) {
        vec_reserve(names, name + 1 - names->count);
        memset(names->at + names->count, 0, (names->capacity - names->count) * sizeof *names->at);
        names->count = names->capacity;
    }
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
        struct range outputs = graph->nodes.at[n].outputs;
        for (uint32_t i = 0; i < outputs.count; i++) {
            name = graph->outputs.at[outputs.first + i].name;
            first = name == NONE ? NULL : dump_names_set(&linker->values, name, n, i);
            if (first && report)
                report_value(linker, graph, name, graph->nodes.at[n].loc, first);
        }
    }
}

/* ------------------------------------------------------------------------- captures ---- */

/* The value becomes a parameter of the graph. */
static void capture(struct dump_linker *linker, uint32_t index, uint32_t name, uint32_t loc)
{
    struct dump_graph *graph = &linker->dump->graphs.at[index];
    dump_names_set(&linker->values, name, NONE, graph->params.count);
    vec_push(&graph->params, (struct dump_param){name, NONE, loc});
}

/* Appends the names of the values that a graph uses and does not have, each once. */
static void find_captures(struct dump_linker *linker, uint32_t index, struct vec_u32 *captures)
{
    const struct dump_graph *graph = &linker->dump->graphs.at[index];
    for (uint32_t i = 0; i < graph->inputs.count + graph->returns.count; i++) {
        struct dump_input input = i < graph->inputs.count
                                      ? graph->inputs.at[i]
                                      : graph->returns.at[i - graph->inputs.count];
        if (input.kind != DUMP_VALUE || dump_names_find(&linker->values, input.name))
            continue;
        capture(linker, index, input.name, input.loc);
        vec_push(captures, input.name);
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
static void join_captures(struct dump_linker *linker, const struct vec_u32 *captures,
                          uint32_t index, uint32_t n, const struct vec_u32 *held)
{
    struct vec_u32 all = {NULL, 0, 0};
    for (uint32_t h = 0; h < held->count; h++) {
        const struct vec_u32 *names = &captures[held->at[h]];
        for (uint32_t i = 0, k; i < names->count; i++) {
            for (k = 0; k < all.count && all.at[k] != names->at[i];)
                k++;
            if (k == all.count)
                vec_push(&all, names->at[i]);
        }
    }
    for (uint32_t h = 0; all.count && h < held->count; h++) {
        struct dump_graph *graph = &linker->dump->graphs.at[held->at[h]];
        graph->params.count -= captures[held->at[h]].count;
        for (uint32_t i = 0; i < all.count; i++)
            vec_push(&graph->params, (struct dump_param){all.at[i], NONE, graph->loc});
    }
    if (all.count)
        add_inputs(linker->dump, index, n, &all);
    vec_free(&all);
}

/* Graphs have greater indices than those that they stand in, so inner ones come first. */
void dump_capture(struct dump_linker *linker)
{
    struct dump *dump = linker->dump;
    uint8_t *outer = mem_calloc(dump->graphs.count + 1, 1); /* by graph: another is in it */
    struct vec_u32 *captures = mem_calloc(dump->graphs.count + 1, sizeof *captures);
    struct vec_u32 held = {NULL, 0, 0};
    for (uint32_t i = dump->graphs.count; i-- > 0;) {
        uint32_t n_nodes = outer[i] ? dump->graphs.at[i].nodes.count : 0;
        for (uint32_t n = 0; n < n_nodes; n++) {
            held.count = 0;
            dump_named_graphs(dump, &dump->graphs.at[i].nodes.at[n], i, &held);
            join_captures(linker, captures, i, n, &held);
        }
        if (dump->graphs.at[i].parent != NONE) {
            outer[dump->graphs.at[i].parent] = 1;
            name_graph(linker, &dump->graphs.at[i], false);
            find_captures(linker, i, &captures[i]);
        }
    }
    for (uint32_t i = 0; i < dump->graphs.count; i++)
        vec_free(&captures[i]);
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
    uint32_t index = (uint32_t)(input - graph->inputs.at), low;
    bisect(low, i, graph->hints.count, graph->hints.at[i].input < index);
    if (param->type == NONE && low < graph->hints.count && graph->hints.at[low].input == index)
        param->type = graph->hints.at[low].type; /* as its consumer says */
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
        /* Nodes of the type may write to operands, or call graphs, which may. */
        const struct op_type *type = type_of(dump, node);
        bool writes = op_call_kind(&(struct op){.type = node->type}) != CALL_NONE;
        for (uint32_t i = 0; type && i < type->n_operands; i++)
            writes |= type->slots[i].writes;
        for (uint32_t i = 0; i < node->attrs.count; i++)
            writes |= dump->module->attrs.at[node->attrs.first + i].key == W_inplace;
        if (!writes)
            continue;
        for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++)
            if (graph->inputs.at[i].kind != DUMP_CONTROL)
                mark_memory(dump, graph, links, i);
    }
}

/* ----------------------------------------------------------------------------- order ---- */

/* Depth-first, with a stack of its own: a node follows all that it takes. */

enum { NEW, OPEN, DONE };
enum { NAMED_NODES = 8 };

/* A node whose inputs are walked through. */
struct frame {
    uint32_t node, next;
};

struct sorter {
    struct dump *dump;
    struct dump_graph *graph;
    VEC(struct frame) stack;
};

/* An input closes a circle: it becomes a parameter, or a mere order is lost, where the options say
 * so. Else the nodes are named, from the last one on. */
static void close_circle(struct sorter *sorter, uint32_t input, struct dump_link *link)
{
    struct dump *dump = sorter->dump;
    struct dump_graph *graph = sorter->graph;
    const struct dump_input *taken = &graph->inputs.at[input];
    if (dump->options->dangling_params && taken->kind == DUMP_CONTROL) {
        dump_drop(dump, taken->loc, "the order behind '%.*s', which closes a circle",
                  NAME(dump->module, taken->name));
        *link = (struct dump_link){LINK_NOTHING, 0, 0};
        return;
    }
    if (dump->options->dangling_params) {
        uint32_t name =
            module_name_printf(dump->module, "%.*s.loop", NAME(dump->module, taken->name));
        vec_push(&graph->params, (struct dump_param){name, NONE, taken->loc});
        *link = (struct dump_link){LINK_PARAM, graph->params.count - 1, 0};
        return;
    }
    if (!diag_at(dump->diags, DIAG_import_cycle, source_token(dump->source, taken->loc),
                 "in graph '%.*s' this waits for itself", NAME(dump->module, graph->name)))
        return;
    for (uint32_t i = sorter->stack.count, noted = 0; i-- > 0 && noted < NAMED_NODES; noted++) {
        const struct dump_node *member = &graph->nodes.at[sorter->stack.at[i].node];
        diag_note(dump->diags, source_token(dump->source, member->loc), "%.*s",
                  NAME(dump->module, member->name == NONE ? member->type : member->name));
        if (sorter->stack.at[i].node == link->id)
            break;
    }
    diag_help(dump->diags, "--dangling=param makes a parameter where it closes");
}

void dump_sort(struct dump *dump, uint32_t index, struct dump_links *links, uint32_t *order)
{
    struct dump_graph *graph = &dump->graphs.at[index];
    struct sorter sorter = {.dump = dump, .graph = graph};
    uint8_t *state = mem_calloc(graph->nodes.count + 1, 1);
    uint32_t count = 0;
    for (uint32_t n = 0; n < graph->nodes.count; n++) {
        if (state[n] != NEW)
            continue;
        state[n] = OPEN;
        vec_push(&sorter.stack, (struct frame){n, 0});
        while (sorter.stack.count) {
            struct frame *frame = &sorter.stack.at[sorter.stack.count - 1];
            const struct dump_node *node = &graph->nodes.at[frame->node];
            if (frame->next == node->inputs.count) {
                state[frame->node] = DONE;
                order[count++] = frame->node;
                sorter.stack.count--;
                continue;
            }
            uint32_t input = node->inputs.first + frame->next++;
            struct dump_link *link = &links->inputs[input];
            if (link->kind != LINK_NODE || state[link->id] == DONE)
                continue;
            /* Loops of TensorFlow close where the next round begins. */
            uint32_t type = graph->nodes.at[link->id].type;
            if (state[link->id] == OPEN || name_is(dump->module, type, "NextIteration") ||
                name_is(dump->module, type, "RefNextIteration")) {
                close_circle(&sorter, input, link);
            } else {
                state[link->id] = OPEN;
                vec_push(&sorter.stack, (struct frame){link->id, 0});
            }
        }
    }
    vec_free(&sorter.stack);
    mem_free(state);
}
