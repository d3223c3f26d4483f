#include "frontend/exchange/dump/sort.h"

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
