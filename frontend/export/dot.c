/* Graphs as digraphs for Graphviz (docs/command-line.md, "skirc export"). */
#include "frontend/exchange.h"
#include "frontend/export/foreign.h"
#include "ir/analysis/dep_graph.h"
#include "ir/core/calls.h"
#include "ir/support/text.h"
#include "ir/syntax/spelling.h"

/* A module on its way out. */
struct writer {
    struct pieces pieces;
    struct text label; /* under construction, in the spelling of .skir */
    struct text clean; /* the same as UTF-8 */
    const struct module *module;
    struct id_map senders; /* by name id: index of the event's sender */
    /* The graph at hand. */
    const struct graph *graph;
    struct op_places places;
    uint32_t *clusters; /* by block id */
};

/* --------------------------------------------------------------------------- labels ---- */

static struct text *out(struct writer *writer)
{
    return &writer->pieces.text;
}

static struct text *begin_label(struct writer *writer)
{
    writer->label.size = 0;
    return &writer->label;
}

/* The label in quotes. Strings have two escapes, \" and \\; of labels, \n ends a line, and & begins
 * an entity. Control bytes other than line ends do not come: the spelling of .skir escapes them. */
static void put_label(struct writer *writer)
{
    writer->clean.size = 0;
    text_utf8(&writer->clean, writer->label.at, writer->label.size);
    text_char(out(writer), '"');
    for (size_t i = 0; i < writer->clean.size; i++) {
        char c = writer->clean.at[i];
        if (c == '"' || c == '\\')
            text_char(out(writer), '\\');
        text_string(out(writer), c == '\n' ? "\\n" : c == '&' ? "&amp;" : (char[]){c, '\0'});
    }
    text_char(out(writer), '"');
}

static void add_values(struct writer *writer, const char *before, struct range values)
{
    for (uint32_t i = 0; i < values.count; i++) {
        text_string(&writer->label, i ? ", " : before);
        spell_value(&writer->label, writer->module,
                    writer->graph->values.at[values.first + i].name);
    }
}

static void put_indent(struct writer *writer, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        text_string(out(writer), "  ");
}

/* ---------------------------------------------------------------------------- nodes ---- */

static void put_value_node(struct writer *writer, const char *kind, uint32_t index)
{
    text_printf(out(writer), "  %s%u [shape=ellipse, label=", kind, index);
    put_label(writer);
    text_string(out(writer), "];\n");
}

static void put_params(struct writer *writer)
{
    for (uint32_t i = 0; i < writer->graph->n_params && pieces_next(&writer->pieces); i++) {
        struct text *label = begin_label(writer);
        spell_value(label, writer->module, writer->graph->values.at[i].name);
        text_char(label, '\n');
        spell_type(label, writer->module, writer->graph->values.at[i].type);
        put_value_node(writer, "param", i);
    }
}

static void put_returns(struct writer *writer)
{
    const struct vec_u32 *returns = &writer->graph->returns;
    for (uint32_t i = 0; i < returns->count && pieces_next(&writer->pieces); i++) {
        struct text *label = begin_label(writer);
        text_printf(label, "return %u\n", i);
        spell_value(label, writer->module, writer->graph->values.at[returns->at[i]].name);
        put_value_node(writer, "return", i);
    }
}

/* The graphs that an op calls, with what they are called for. */
static void put_called(struct writer *writer, const struct op *op)
{
    const struct module *module = writer->module;
    struct callee callee;
    for (uint32_t n = 0; op_callee(module, op, n, &callee); n++) {
        if (callee.graph == NONE)
            continue;
        text_printf(&writer->label, "\n%.*s ", NAME(module, callee.attr->key));
        spell_symbol(&writer->label, module, module->graphs.at[callee.graph].name);
    }
}

static void put_op(struct writer *writer, uint32_t id, unsigned depth)
{
    const struct op *op = &writer->graph->ops.at[id];
    struct text *label = begin_label(writer);
    spell_word(label, writer->module, op->type);
    add_values(writer, "\n", op->results);
    if (op->kernel != NONE) {
        text_char(label, '\n');
        spell_symbol(label, writer->module, op->kernel);
    }
    put_called(writer, op);
    put_indent(writer, depth);
    text_printf(out(writer), "op%u [label=", writer->places.of_op[id]);
    put_label(writer);
    text_string(out(writer), "];\n");
}

/* ------------------------------------------------------------------------- clusters ---- */

/* How each kind of block is drawn, and its label up to the name. Inner clusters inherit what they
 * do not say themselves. */
static const struct {
    const char *word, *style;
} kinds[] = {
    [BLOCK_SCOPE] = {"scope ", "style=rounded, color=black"},
    [BLOCK_SCOPE_NONE] = {"scope none", "style=\"rounded,dashed\", color=black"},
    [BLOCK_STREAM] = {"stream ", "style=solid, color=blue"},
    [BLOCK_SUPERKERNEL] = {"superkernel ", "style=filled, color=black, fillcolor=lightgrey"},
    [BLOCK_SUPERKERNEL_REST] = {"superkernel ", "style=filled, color=black, fillcolor=lightgrey"},
};

/* Blocks of one kind and name within the same cluster are one cluster, since a cluster may be
 * opened again. In different ones they cannot be: clusters nest or are disjoint. */
static void number_clusters(struct writer *writer)
{
    struct intern numbers = {0};
    const struct graph *graph = writer->graph;
    writer->clusters = mem_calloc(graph->blocks.count, sizeof *writer->clusters);
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        uint32_t parent = block->parent == NONE ? NONE : writer->clusters[block->parent];
        bool rest = block->kind == BLOCK_SUPERKERNEL_REST;
        uint32_t name = block->kind == BLOCK_SCOPE_NONE ? i : block_name(graph, block);
        const uint32_t key[] = {parent, rest ? BLOCK_SUPERKERNEL : block->kind, name};
        writer->clusters[i] = intern_copy(&numbers, (const char *)key, sizeof key);
    }
    intern_free(&numbers);
}

static void label_block(struct writer *writer, const struct block *block)
{
    struct text *label = begin_label(writer);
    text_string(label, kinds[block->kind].word);
    if (block->kind == BLOCK_STREAM) {
        const struct intern_name *name = &writer->module->names.names[block->name];
        spell_quoted(label, name->text, name->size);
    } else if (block->kind != BLOCK_SCOPE_NONE) {
        spell_symbol(label, writer->module, block_name(writer->graph, block));
    }
}

/* Clusters without nodes would not be drawn. */
static void open_block(struct writer *writer, uint32_t id, unsigned depth)
{
    const struct block *block = &writer->graph->blocks.at[id];
    put_indent(writer, depth);
    text_printf(out(writer), "subgraph cluster%u {\n", writer->clusters[id]);
    put_indent(writer, depth + 1);
    text_printf(out(writer), "graph [%s, label=", kinds[block->kind].style);
    label_block(writer, block);
    put_label(writer);
    text_string(out(writer), "];\n");
    if (writer->places.blocks[id].count > 0)
        return;
    put_indent(writer, depth + 1);
    text_printf(out(writer), "block%u [shape=point, style=invis];\n", id);
}

static void put_body(struct writer *writer)
{
    const struct graph *graph = writer->graph;
    unsigned depth = 1;
    for (uint32_t i = 0; i < graph->body.count && pieces_next(&writer->pieces); i++) {
        uint32_t id = item_id(graph->body.at[i]);
        switch (item_kind(graph->body.at[i])) {
        case ITEM_OP: put_op(writer, id, depth); break;
        case ITEM_OPEN: open_block(writer, id, depth++); break;
        case ITEM_CLOSE:
            put_indent(writer, --depth);
            text_string(out(writer), "}\n");
            break;
        }
    }
}

/* ---------------------------------------------------------------------------- edges ---- */

/* The node that defines a value. */
static void put_definer(struct writer *writer, uint32_t value)
{
    uint32_t def = writer->graph->values.at[value].def;
    if (def == DEF_PARAM)
        text_printf(out(writer), "  param%u", value);
    else
        text_printf(out(writer), "  op%u", writer->places.of_op[def]);
}

static void put_data_edge(struct writer *writer, uint32_t value, const char *kind, uint32_t index)
{
    spell_type(begin_label(writer), writer->module, writer->graph->values.at[value].type);
    put_definer(writer, value);
    text_printf(out(writer), " -> %s%u [label=", kind, index);
    put_label(writer);
    text_string(out(writer), "];\n");
}

static void put_op_edges(struct writer *writer, uint32_t id)
{
    const struct graph *graph = writer->graph;
    const struct op *op = &graph->ops.at[id];
    const uint32_t *operands = op_operands(graph, op);
    struct range after = op_clauses(graph, op)->after;
    uint32_t place = writer->places.of_op[id];
    for (uint32_t i = 0; i < op->operands.count && pieces_next(&writer->pieces); i++)
        put_data_edge(writer, operands[i], "op", place);
    for (uint32_t i = 0; i < after.count && pieces_next(&writer->pieces); i++) {
        put_definer(writer, graph->refs.at[after.first + i]);
        text_printf(out(writer), " -> op%u [style=dotted, label=\"after\"];\n", place);
    }
}

/* One side of an event: an op; or a super kernel, which its first or last op stands for. */
static void put_side(struct writer *writer, const struct event_side *side, bool sends)
{
    if (side->op != NONE) {
        text_printf(out(writer), "op%u", writer->places.of_op[side->op]);
        return;
    }
    struct range inside = writer->places.blocks[side->block];
    if (inside.count == 0)
        text_printf(out(writer), "block%u", side->block);
    else
        text_printf(out(writer), "op%u", sends ? inside.first + inside.count - 1 : inside.first);
}

static void put_event_edge(struct writer *writer, const struct event_side *from,
                           const struct event_side *to)
{
    text_string(out(writer), "  ");
    put_side(writer, from, true);
    text_string(out(writer), " -> ");
    put_side(writer, to, false);
    text_string(out(writer), " [style=dashed");
    /* An edge from or to a super kernel ends at its border. */
    if (from->op == NONE)
        text_printf(out(writer), ", ltail=cluster%u", writer->clusters[from->block]);
    if (to->op == NONE)
        text_printf(out(writer), ", lhead=cluster%u", writer->clusters[to->block]);
    text_string(out(writer), ", label=");
    text_bytes(begin_label(writer), writer->module->names.names[from->event].text,
               writer->module->names.names[from->event].size);
    put_label(writer);
    text_string(out(writer), "];\n");
}

static void put_event_edges(struct writer *writer)
{
    struct event_sides sends = event_sides_find(writer->graph, W_send);
    struct event_sides receives = event_sides_find(writer->graph, W_recv);
    for (uint32_t i = 0; i < sends.count; i++)
        id_map_set(&writer->senders, sends.at[i].event, i);
    for (uint32_t i = 0; i < receives.count && pieces_next(&writer->pieces); i++) {
        uint32_t sender = id_map_find(&writer->senders, receives.at[i].event);
        if (sender != NONE)
            put_event_edge(writer, &sends.at[sender], &receives.at[i]);
    }
    for (uint32_t i = 0; i < sends.count; i++)
        id_map_unset(&writer->senders, sends.at[i].event);
    vec_free(&sends);
    vec_free(&receives);
}

/* --------------------------------------------------------------------------- graphs ---- */

/* Edges stand behind all clusters: within one they would draw their nodes into it. */
static void put_graph(struct writer *writer, const struct graph *graph)
{
    writer->graph = graph;
    op_places_init(&writer->places, graph);
    number_clusters(writer);
    spell_symbol(begin_label(writer), writer->module, graph->name);
    text_string(out(writer), "digraph ");
    put_label(writer);
    text_string(out(writer), " {\n  compound=true; labelloc=t; node [shape=box];\n  label=");
    put_label(writer);
    text_string(out(writer), ";\n");
    put_params(writer);
    put_body(writer);
    put_returns(writer);
    for (uint32_t i = 0; i < graph->body.count; i++)
        if (item_kind(graph->body.at[i]) == ITEM_OP)
            put_op_edges(writer, item_id(graph->body.at[i]));
    for (uint32_t i = 0; i < graph->returns.count && pieces_next(&writer->pieces); i++)
        put_data_edge(writer, graph->returns.at[i], "return", i);
    put_event_edges(writer);
    text_string(out(writer), "}\n");
    op_places_free(&writer->places);
    mem_free(writer->clusters);
}

bool exchange_write_dot(struct print_sink *sink, const struct module *module)
{
    struct writer writer = {.pieces = {.sink = sink}, .module = module};
    for (uint32_t i = 0; i < module->graphs.count && pieces_next(&writer.pieces); i++)
        put_graph(&writer, &module->graphs.at[i]);
    id_map_free(&writer.senders);
    text_free(&writer.label);
    text_free(&writer.clean);
    return pieces_end(&writer.pieces);
}
