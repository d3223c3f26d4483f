#include "frontend/import/dump/maker.h"

#include "frontend/import/dump/types.h"
#include "ir/analysis/contents.h"
#include "ir/core/attr.h"
#include "ir/core/calls.h"
#include "ir/core/sk_options.h"
#include "ir/optypes/op_types.h"
#include "ir/verify/verify.h"

static bool is_taken(const void *user, uint32_t name)
{
    return dump_names_find(user, name) != NULL;
}

uint32_t maker_name(struct dump_maker *maker, uint32_t name)
{
    if (maker->module->names.names[name].size == 0)
        name = module_name(maker->module, "_");
    struct dump_name *taken = dump_names_set(&maker->taken, name, 0, 0);
    if (!taken)
        return name;
    uint32_t made = module_free_name(maker->module, name, ".",
                                     (struct taken_names){is_taken, &maker->taken}, &taken->id);
    dump_names_set(&maker->taken, made, 0, 0);
    return made;
}

uint32_t maker_type(struct dump_maker *maker, uint32_t type)
{
    return type != NONE ? type : dump_no_type(maker->dump);
}

void maker_give(struct dump_maker *maker, uint32_t node, struct range values)
{
    maker->outputs[node] = (struct range){maker->given.count, values.count};
    for (uint32_t i = 0; i < values.count; i++)
        vec_push(&maker->given, values.first + i);
}

uint32_t maker_named_graph(const struct dump_maker *maker, const struct attr_value *value)
{
    return value->kind == ATTR_SYMBOL ? id_map_find(&maker->dump->graph_names, value->id) : NONE;
}

uint32_t maker_first_graph(const struct dump_maker *maker, const struct attr_value *value)
{
    if (value->kind == ATTR_LIST && value->count)
        value = &maker->module->attr_values.at[value->first];
    return maker_named_graph(maker, value);
}

/* The type of the op of a node that is not translated: in the namespace of its dialect. */
static uint32_t dump_foreign_type(struct dump *dump, const struct dump_node *node)
{
    /* The type of an operator of another domain than that of its source has this. */
    const struct translation_table *table = translation_table((enum dialect)node->dialect);
    const struct intern_name *name = &dump->module->names.names[node->type];
    bool has_domain = false;
    for (uint32_t i = 1; i + 1 < name->size; i++)
        has_domain |= name->text[i] == ':' && name->text[i - 1] == ':';
    return table && !has_domain ? module_name_printf(dump->module, "%s.%.*s", table->name,
                                                     NAME(dump->module, node->type))
                                : node->type;
}

/* Scopes and streams of nodes as blocks: streams within scopes. */

/* Scopes that say that their ops are not to be fused. */
static bool is_none(const struct module *module, uint32_t scope)
{
    return name_is(module, scope, DUMP_SCOPE_NONE);
}

static uint32_t open_block(struct dump_maker *maker, struct block block)
{
    block.parent = maker->scope_block;
    block.end_loc = NONE;
    uint32_t id = graph_add_block(maker->out, &block);
    graph_add_item(maker->out, ITEM_OPEN, id);
    return id;
}

static void close_block(struct dump_maker *maker, uint32_t *block, uint32_t *name)
{
    if (*block != NONE)
        graph_add_item(maker->out, ITEM_CLOSE, *block);
    *block = *name = NONE;
}

static struct range one_attr(struct dump_maker *maker, uint32_t key, uint32_t loc,
                             struct attr_value value)
{
    struct attr attr = {key, loc, value};
    return module_add_attrs(maker->module, &attr, 1);
}

/* An option that an earlier block of the scope has otherwise is lost, but for strict-scope-check:
 * of that the last op's counts. */
static void join_options(struct dump_maker *maker, const struct dump_node *node, uint32_t scope,
                         struct dump_name *told)
{
    struct module *module = maker->module;
    struct sk_options before, here;
    const struct intern_name *text = &module->names.names[node->options];
    uint32_t loc = node->options_loc ? node->options_loc : node->loc;
    if (!sk_options_parse(&here, text->text, text->size, source_token(maker->dump->source, loc),
                          maker->dump->diags) ||
        !sk_options_of(&before, module, told->id))
        return; /* those of the first block are looked at in the module */
    const struct sk_setting *old = &before.of[SK_strict_scope_check];
    const struct sk_setting *strict = &here.of[SK_strict_scope_check];
    bool replaces = strict->given && old->number != strict->number;
    unsigned other = 0;
    while ((other = sk_options_differ(&before, &here, other)) == SK_strict_scope_check)
        other++;
    if (other < SK_OPTION_COUNT)
        dump_drop(maker->dump, node->loc, "options '%.*s' of scope '%.*s', which has others",
                  NAME(module, node->options), NAME(module, scope));
    if (!replaces)
        return;
    if (old->given)
        dump_drop(maker->dump, node->loc,
                  "'strict-scope-check=%.*s' of scope '%.*s': of several ops the last one counts, "
                  "which has '%.*s'",
                  (int)old->size, old->text, NAME(module, scope), (int)strict->size, strict->text);
    char setting[64];
    snprintf(setting, sizeof setting, "strict-scope-check=%.*s", (int)strict->size, strict->text);
    told->id = sk_options_override(module, told->id, setting);
    module->attrs.at[maker->out->blocks.at[told->output].attrs.first].value.id = told->id;
}

/* Options that no earlier block of the scope has told. */
static bool has_options(struct dump_maker *maker, const struct dump_node *node, uint32_t scope)
{
    if (node->options == NONE || scope == NONE || is_none(maker->module, scope))
        return false;
    struct dump_name *told = dump_names_find(&maker->told, scope);
    if (told && told->id != node->options)
        join_options(maker, node, scope, told);
    return !told;
}

static void open_scope(struct dump_maker *maker, const struct dump_node *node, uint32_t scope)
{
    bool none = is_none(maker->module, scope), options = has_options(maker, node, scope);
    struct block block = {.kind = none ? BLOCK_SCOPE_NONE : BLOCK_SCOPE,
                          .name = none ? NONE : scope,
                          .loc = node->loc};
    if (options) {
        struct attr_value value = {.kind = ATTR_STRING, .id = node->options};
        dump_names_set(&maker->told, scope, node->options, maker->out->blocks.count);
        block.attrs =
            one_attr(maker, W_options, node->options_loc ? node->options_loc : node->loc, value);
    }
    maker->scope_block = open_block(maker, block);
    maker->scope = scope;
}

void maker_leave(struct dump_maker *maker)
{
    close_block(maker, &maker->stream_block, &maker->stream);
    close_block(maker, &maker->scope_block, &maker->scope);
}

/* Opens and closes blocks before an op of the node. */
static void maker_enter(struct dump_maker *maker, const struct dump_node *node)
{
    bool is_scope = node->scope != NONE && maker->module->names.names[node->scope].size > 0;
    uint32_t scope = is_scope ? node->scope : NONE;
    uint32_t stream = node->stream == NONE ? NONE : stream_label(node->stream);
    if (scope != maker->scope || has_options(maker, node, scope)) {
        maker_leave(maker);
        if (scope != NONE)
            open_scope(maker, node, scope);
    }
    if (stream != maker->stream) {
        close_block(maker, &maker->stream_block, &maker->stream);
        if (stream == NONE)
            return;
        struct block block = {.kind = BLOCK_STREAM, .name = node->stream, .loc = node->loc};
        struct attr_value priority = {.kind = ATTR_INT, .i = node->priority};
        if (node->priority != DUMP_NO_PRIORITY &&
            !dump_names_set(&maker->priority, node->stream, 0, 0)) /* no earlier block told it */
            block.attrs = one_attr(maker, W_priority, node->loc, priority);
        maker->stream_block = open_block(maker, block);
        maker->stream = node->stream;
    }
}

/* Nodes as ops: operands as their types want them, attributes, results, what they wait for. */

/* -------------------------------------------------------------------------- clauses ---- */

static uint32_t definer(const struct dump_maker *maker, uint32_t value)
{
    return maker->out->values.at[value].def;
}

/* Adds the values that are there when a node is done: the first of each op that gives some of what
 * the node does. */
static void take_completion(struct dump_maker *maker, const struct dump_link *link)
{
    struct range given = {0, 0};
    uint32_t param = link->kind == LINK_PARAM ? maker_value(maker, link) : NONE;
    uint32_t first = maker->values.count;
    if (link->kind == LINK_NODE)
        given = maker->outputs[link->id];
    for (uint32_t i = 0; i < given.count; i++) {
        uint32_t value = maker->given.at[given.first + i];
        bool seen = value == NONE;
        for (uint32_t k = first; k < maker->values.count && !seen; k++)
            seen = definer(maker, maker->values.at[k]) == definer(maker, value);
        if (!seen)
            vec_push(&maker->values, value);
    }
    if (param != NONE)
        vec_push(&maker->values, param);
}

/* The values of the nodes that this one follows, in maker->values. */
static void maker_take_order(struct dump_maker *maker, const struct dump_node *node)
{
    const struct dump_graph *graph = maker_graph(maker);
    maker->values.count = 0;
    for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++) {
        if (graph->inputs.at[i].kind == DUMP_CONTROL)
            take_completion(maker, &maker->links.inputs[i]);
    }
}

/* Notes whether the results of an op that was added are ordered. `effects` says that the op may do
 * more than give its results. */
static void maker_note_order(struct dump_maker *maker, uint32_t id, bool effects)
{
    const struct graph *graph = maker->out;
    const struct op *op = &graph->ops.at[id];
    bool ordered = effects || op_clauses(graph, op)->after.count > 0;
    for (uint32_t i = 0; i < op->operands.count && !ordered; i++) {
        uint32_t operand = graph->refs.at[op->operands.first + i];
        uint32_t viewed = viewed_value(maker->module, graph, operand);
        ordered = (operand < maker->ordered.count && maker->ordered.at[operand]) ||
                  (viewed < maker->inference.written.count && maker->inference.written.at[viewed]);
    }
    for (uint32_t i = 0; i < op->results.count && ordered; i++) {
        while (maker->ordered.count <= op->results.first + i)
            vec_push(&maker->ordered, false);
        maker->ordered.at[op->results.first + i] = true;
    }
}

static uint32_t add_clauses(struct dump_maker *maker, const struct dump_node *node,
                            uint32_t first_operand)
{
    struct clauses clauses = {.forms = maker_add_forms(maker, first_operand)};
    maker_take_order(maker, node);
    clauses.after = graph_add_refs(maker->out, maker->values.at, maker->values.count);
    if (node->send_event != NONE)
        clauses.send = graph_add_refs(maker->out, &node->send_event, 1);
    if (node->recv_event != NONE)
        clauses.recv = graph_add_refs(maker->out, &node->recv_event, 1);
    if (clauses.forms.count + clauses.after.count + clauses.send.count + clauses.recv.count == 0)
        return 0;
    vec_push(&maker->out->clauses, clauses);
    return maker->out->clauses.count - 1;
}

/* ----------------------------------------------------------------------- attributes ---- */

/* Symbols of the value become the names that the graphs have in the module; those of graphs that
 * are not there, strings. Returns whether all are there. */
static bool settle_symbols(struct dump_maker *maker, struct attr_value *value, bool *changed)
{
    bool known = true;
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        known &= settle_symbols(maker, &maker->module->attr_values.at[value->first + i], changed);
    if (value->kind != ATTR_SYMBOL)
        return known;
    uint32_t graph = maker_named_graph(maker, value);
    *changed = true;
    if (graph != NONE)
        value->id = maker->dump->graphs.at[graph].name;
    else
        value->kind = ATTR_STRING;
    return graph != NONE;
}

static void push_name(struct dump_maker *maker, const struct dump_node *node)
{
    vec_push(&maker->attrs, (struct attr){module_name(maker->module, "_name"),
                                          node->loc,
                                          {.kind = ATTR_STRING, .id = node->name}});
}

/* The attributes of a node, and its name in the dump where none of its values has it. */
static struct range take_attrs(struct dump_maker *maker, const struct dump_node *node,
                               uint32_t shown_name)
{
    struct module *module = maker->module;
    bool named = node->name != NONE && node->name != shown_name, changed = named;
    maker->attrs.count = 0;
    for (uint32_t i = 0; i < node->attrs.count; i++) {
        struct attr attr = module->attrs.at[node->attrs.first + i];
        /* Of an operator that is not translated, its own stay, unless the user wants others. */
        bool own = *module->names.names[attr.key].text != '_' &&
                   maker->dump->options->keep == DUMP_KEEP_KNOWN;
        if (node->dialect != DIALECT_GE && !own && !dump_keeps(maker->dump, NONE, &attr)) {
            changed = true;
            continue;
        }
        bool known = settle_symbols(maker, &attr.value, &changed);
        if (!known)
            dump_drop(maker->dump, node->loc,
                      "a graph that '%.*s' names and the dump does not have",
                      NAME(module, attr.key));
        /* By such a key the dump means something else than skir. */
        const struct attr_row *row = attr_row_find(OWNER_OP, attr.key);
        if (!known || (row && !attr_row_takes(module, row, &attr.value))) {
            attr.key = module_name_printf(module, "_%.*s", NAME(module, attr.key));
            changed = true;
        }
        vec_push(&maker->attrs, attr);
    }
    if (named)
        push_name(maker, node);
    return changed ? module_add_attrs(module, maker->attrs.at, maker->attrs.count) : node->attrs;
}

/* -------------------------------------------------------------------------- results ---- */

static uint32_t maker_output_name(struct dump_maker *maker, const struct dump_node *node,
                                  uint32_t output)
{
    const struct dump_graph *graph = maker_graph(maker);
    uint32_t own =
        output < node->outputs.count ? graph->outputs.at[node->outputs.first + output].name : NONE;
    uint32_t base = node->name == NONE ? node->type : node->name;
    if (own == NONE && output > 0)
        own = module_name_printf(maker->module, "%.*s.%u", NAME(maker->module, base), output);
    return maker_name(maker, own == NONE ? base : own);
}

/* A token where others wait for an op that gives nothing. */
static struct range add_results(struct dump_maker *maker, uint32_t n, const struct dump_node *node)
{
    uint32_t count = maker->links.n_outputs[n], op = maker->out->ops.count;
    struct range results = {maker->out->values.count, count};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = maker_output_name(maker, node, i), type = NONE;
        if (i < node->outputs.count)
            type = maker_graph(maker)->outputs.at[node->outputs.first + i].type;
        graph_add_value(maker->out, name, maker_type(maker, type), op);
    }
    if (count == 0 && maker->links.used[n] & 2) {
        graph_add_value(maker->out, maker_output_name(maker, node, 0), module_token(maker->module),
                        op);
        results.count++;
    }
    return results;
}

/* ------------------------------------------------------------------------------ ops ---- */

static void maker_add_op(struct dump_maker *maker, uint32_t n, uint32_t block)
{
    const struct dump_node *node = maker_node(maker, n);
    struct op op = {.type = dump_foreign_type(maker->dump, node),
                    .loc = node->loc,
                    .block = block,
                    .kernel = NONE};
    maker_take_operands(maker, node);
    op.operands = graph_add_refs(maker->out, maker->values.at, maker->values.count);
    op.clauses = add_clauses(maker, node, op.operands.first);
    op.results = add_results(maker, n, node);
    uint32_t shown = op.results.count ? maker->out->values.at[op.results.first].name : NONE;
    /* The dump's names of the outputs may count, not that of the node. */
    if (node->outputs.count && maker_graph(maker)->outputs.at[node->outputs.first].name != NONE)
        shown = node->name;
    op.attrs = take_attrs(maker, node, shown);
    maker_give(maker, n, op.results);
    uint32_t id = graph_add_op(maker->out, &op);
    graph_add_item(maker->out, ITEM_OP, id);
    maker_note_order(maker, id,
                     op_call_kind(&op) != CALL_NONE || !op_type_find(maker->module, op.type));
    dump_infer(&maker->inference, maker->module, maker->out, &op);
    if (maker->links.used[n] & 4)
        dump_mark_written(&maker->inference, maker->out, &op);
}

/* Nodes as ops, in their blocks: those of other dialects as what they are translated to. */

/* Results have the names of the node's outputs, others one that is made of the first of these. */
static void name_values(struct dump_maker *maker, const struct dump_node *node,
                        const struct translation *t)
{
    struct value *values = maker->out->values.at;
    uint32_t base = NONE;
    for (uint32_t i = 0; i < t->n_results; i++) {
        uint32_t value = t->results[i].value;
        if (value == NONE)
            continue;
        values[value].name = maker_output_name(maker, node, i);
        base = base == NONE ? values[value].name : base;
    }
    if (base == NONE)
        base = node->name == NONE ? node->type : node->name;
    for (uint32_t v = t->first_value; v < maker->out->values.count; v++) {
        bool is_result = false;
        for (uint32_t i = 0; i < t->n_results; i++)
            is_result |= t->results[i].value == v;
        if (!is_result)
            values[v].name = maker_name(
                maker, module_name_printf(maker->module, "%.*s.%.*s", NAME(maker->module, base),
                                          NAME(maker->module, values[v].name)));
    }
}

/* Constants have no operands: those that are ordered are added to what the node follows. */
static void take_operands_order(struct dump_maker *maker, const struct dump_node *node)
{
    const struct dump_graph *dumped = maker_graph(maker);
    for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++) {
        uint32_t value = dumped->inputs.at[i].kind == DUMP_CONTROL
                             ? NONE
                             : maker_value(maker, &maker->links.inputs[i]);
        if (value != NONE && value < maker->ordered.count && maker->ordered.at[value])
            vec_push(&maker->values, value);
    }
}

/* All ops that a node becomes wait for what the node waits for. */
static void order_ops(struct dump_maker *maker, const struct dump_node *node,
                      const struct translation *t)
{
    struct graph *graph = maker->out;
    bool constants = true; /* nothing else: then they keep the order for those that wait for them */
    maker_take_order(maker, node);
    for (uint32_t id = t->first_op; id < graph->ops.count; id++)
        constants &= name_is(maker->module, graph->ops.at[id].type, "Const");
    if (constants && t->dialect == DIALECT_TF) /* in ONNX nothing has effects */
        take_operands_order(maker, node);
    for (uint32_t id = t->first_op; id < graph->ops.count; id++) {
        const struct op *op = &graph->ops.at[id];
        bool constant = name_is(maker->module, op->type, "Const") && !constants;
        struct clauses clauses = *op_clauses(graph, op);
        bool first = true; /* no other op of the node comes before it */
        for (uint32_t i = 0; i < op->operands.count; i++)
            first &= graph->refs.at[op->operands.first + i] < t->first_value;
        if (maker->values.count == 0 || constant || clauses.after.count || !first)
            continue;
        clauses.after = graph_add_refs(graph, maker->values.at, maker->values.count);
        graph_set_clauses(graph, id, clauses);
    }
}

/* The last op gets what skir or the user wants of the node's attributes that are not its
 * operator's. */
static void keep_attrs(struct dump_maker *maker, const struct dump_node *node, uint32_t shown)
{
    struct op *op = &maker->out->ops.at[maker->out->ops.count - 1];
    maker->attrs.count = 0;
    for (uint32_t i = 0; i < op->attrs.count; i++)
        vec_push(&maker->attrs, maker->module->attrs.at[op->attrs.first + i]);
    for (uint32_t i = 0; i < node->attrs.count; i++) {
        struct attr attr = maker->module->attrs.at[node->attrs.first + i];
        if (*maker->module->names.names[attr.key].text == '_' &&
            dump_keeps(maker->dump, op->type, &attr))
            vec_push(&maker->attrs, attr);
    }
    if (node->name != NONE && node->name != shown)
        push_name(maker, node);
    if (maker->attrs.count > op->attrs.count)
        op->attrs = module_add_attrs(maker->module, maker->attrs.at, maker->attrs.count);
}

static void finish(struct dump_maker *maker, uint32_t n, const struct translation *t)
{
    const struct dump_node *node = maker_node(maker, n);
    const struct dump_graph *graph = maker_graph(maker);
    name_values(maker, node, t);
    order_ops(maker, node, t);
    maker->outputs[n] = (struct range){maker->given.count, t->n_results};
    for (uint32_t i = 0; i < t->n_results; i++)
        vec_push(&maker->given, t->results[i].value);
    bool own = node->outputs.count && graph->outputs.at[node->outputs.first].name != NONE;
    uint32_t first = t->n_results ? t->results[0].value : NONE;
    keep_attrs(maker, node,
               own             ? node->name
               : first == NONE ? NONE
                               : maker->out->values.at[first].name);
    if (maker->links.n_outputs[n] == 0 && maker->links.used[n] & 2) {
        /* A token where something waits for a node that gives nothing. */
        uint32_t last = maker->out->ops.count - 1;
        uint32_t value = graph_add_value(maker->out, maker_output_name(maker, node, 0),
                                         module_token(maker->module), last);
        struct range *results = &maker->out->ops.at[last].results;
        *results = (struct range){results->count ? results->first : value, results->count + 1};
        maker_give(maker, n, (struct range){value, 1});
    }
    for (uint32_t id = t->first_op; id < maker->out->ops.count; id++) {
        graph_add_item(maker->out, ITEM_OP, id);
        maker_note_order(maker, id, false);
        if (maker->links.used[n] & 4)
            dump_mark_written(&maker->inference, maker->out, &maker->out->ops.at[id]);
    }
}

static bool translate(struct dump_maker *maker, uint32_t n, uint32_t block)
{
    const struct dump_node *node = maker_node(maker, n);
    const struct dump_graph *graph = maker_graph(maker), *versioned = graph;
    while (versioned->version == 0 && versioned->parent != NONE)
        versioned = &maker->dump->graphs.at[versioned->parent];
    maker->values.count = 0;
    for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++) {
        uint32_t value = maker_value(maker, &maker->links.inputs[i]);
        if (graph->inputs.at[i].kind != DUMP_CONTROL)
            vec_push(&maker->values, value);
    }
    while (maker->values.count && maker->values.at[maker->values.count - 1] == NONE)
        maker->values.count--;
    bool changed = false;
    maker->attrs.count = 0;
    for (uint32_t i = 0; i < node->attrs.count; i++) {
        struct attr attr = maker->module->attrs.at[node->attrs.first + i];
        settle_symbols(maker, &attr.value, &changed);
        vec_push(&maker->attrs, attr);
    }
    struct translation t = {
        .translator = &maker->translator,
        .graph = maker->out,
        .written = &maker->inference.written,
        .dialect = (enum dialect)node->dialect,
        .type = node->type,
        .version = versioned->version ? versioned->version : maker->dump->version,
        .loc = node->loc,
        .block = block,
        .attrs = changed ? module_add_attrs(maker->module, maker->attrs.at, maker->attrs.count)
                         : node->attrs,
        .operands = maker->values.at,
        .n_operands = maker->values.count,
        .n_results = maker->links.n_outputs[n],
    };
    t.results = mem_calloc(t.n_results + 1, sizeof *t.results);
    /* What something takes, or else, of a node that nothing takes anything of, the first result. */
    uint64_t taken = maker->links.taken[n];
    bool all = graph->open && !(maker->links.used[n] & 1);
    for (uint32_t i = 0; i < t.n_results; i++) {
        bool wanted = all || (taken ? taken >> (i < 63 ? i : 63) & 1 : i == 0);
        uint32_t type = NONE;
        if (i < node->outputs.count)
            type = graph->outputs.at[node->outputs.first + i].type;
        t.results[i] = (struct translation_result){wanted, type, NONE};
    }
    bool done = translate_node(&t);
    uint32_t type = done ? NONE : dump_foreign_type(maker->dump, node);
    if (done)
        finish(maker, n, &t);
    else
        diag_at(maker->dump->diags, DIAG_not_translated,
                source_token(maker->dump->source, node->loc), "%.*s is not translated: %.*s",
                NAME(maker->module, type), (int)t.reason.size, t.reason.at);
    mem_free(t.results);
    translation_free(&t);
    return done;
}

/* ------------------------------------------------------------------ graphs in a node ---- */

/* The parameters of graphs in a node that stand for values of this graph get their types. */
static void type_captures(struct dump_maker *maker, const struct dump_node *node)
{
    struct vec_u32 *held = &maker->values;
    held->count = 0;
    dump_named_graphs(maker->dump, node, maker->index, held);
    for (uint32_t h = 0; h < held->count; h++) {
        struct dump_graph *graph = &maker->dump->graphs.at[held->at[h]];
        for (uint32_t i = 0; i < graph->params.count; i++) {
            struct dump_param *param = &graph->params.at[i];
            const struct dump_name *outer = dump_names_find(&maker->linker.values, param->name);
            if (param->type != NONE || !outer)
                continue;
            struct dump_link link = {outer->id == NONE ? LINK_PARAM : LINK_NODE,
                                     outer->id == NONE ? outer->output : outer->id, outer->output};
            uint32_t taken = maker_value(maker, &link);
            if (taken != NONE)
                param->type = maker->out->values.at[taken].type;
        }
    }
}

void maker_add_node(struct dump_maker *maker, uint32_t n)
{
    const struct dump_node *node = maker_node(maker, n);
    maker_enter(maker, node);
    uint32_t block = maker->stream_block != NONE ? maker->stream_block : maker->scope_block;
    type_captures(maker, node);
    if (node->dialect == DIALECT_GE || !translate(maker, n, block))
        maker_add_op(maker, n, block);
}
