/* What formats of others have no place for, as a dictionary of .skir. */
#include "frontend/exchange/writers/foreign.h"
#include "ir/calls.h"
#include "ir/op_types.h"
#include "ir/operands.h"
#include "ir/syntax/spelling.h"

static const struct intern_name *name_of(const struct foreign *foreign, uint32_t name)
{
    return &foreign->module->names.names[name];
}

static struct text *begin_key(struct foreign *foreign, const char *key)
{
    if (foreign->rest.size)
        text_string(&foreign->rest, ", ");
    text_string(&foreign->rest, key);
    return &foreign->rest;
}

static void put_quoted(struct foreign *foreign, uint32_t name)
{
    spell_quoted(&foreign->rest, name_of(foreign, name)->text, name_of(foreign, name)->size);
}

/* Bytes that are not ASCII stand within quotes only. */
static void end_rest(struct foreign *foreign)
{
    struct text *from = &foreign->rest, *to = &foreign->scratch;
    to->size = 0;
    for (size_t i = 0; i < from->size; i++)
        if ((unsigned char)from->at[i] >= 0x80)
            text_printf(to, "\\x%02x", (unsigned char)from->at[i]);
        else
            text_char(to, from->at[i]);
    struct text swapped = *from;
    *from = *to;
    *to = swapped;
}

/* -------------------------------------------------------------------------- results ---- */

static bool has_token(const struct foreign *foreign, const struct op *op)
{
    return op->results.count > op_tensor_results(foreign->module, foreign->graph, op);
}

/* Whether a reader gives a value this name: that of the node, and NAME.1 ... behind it. */
static bool is_expected(struct foreign *foreign, const struct intern_name *node, uint32_t output,
                        uint32_t name)
{
    struct text *text = &foreign->scratch;
    text->size = 0;
    text_bytes(text, node->text, node->size);
    if (output)
        text_printf(text, ".%u", output);
    const struct intern_name *shown = name_of(foreign, name);
    return shown->size == text->size && memcmp(shown->text, text->at, text->size) == 0;
}

static void put_names(struct foreign *foreign, const struct intern_name *node, struct range values)
{
    const struct value *at = values.count ? &foreign->graph->values.at[values.first] : NULL;
    bool expected = true;
    for (uint32_t i = 0; i < values.count && expected; i++)
        expected = is_expected(foreign, node, i, at[i].name);
    if (expected)
        return;
    begin_key(foreign, "results = [");
    for (uint32_t i = 0; i < values.count; i++) {
        text_string(&foreign->rest, i ? ", " : "");
        put_quoted(foreign, at[i].name);
    }
    text_char(&foreign->rest, ']');
}

static void put_types(struct foreign *foreign, struct range values)
{
    const struct value *at = values.count ? &foreign->graph->values.at[values.first] : NULL;
    bool said = true;
    for (uint32_t i = 0; i < values.count && said; i++)
        said = foreign->form->says_type(foreign->module, at[i].type);
    if (said)
        return;
    begin_key(foreign, "types = [");
    for (uint32_t i = 0; i < values.count; i++) {
        text_string(&foreign->rest, i ? ", " : "");
        spell_type(&foreign->rest, foreign->module, at[i].type);
    }
    text_char(&foreign->rest, ']');
}

static void put_results(struct foreign *foreign, uint32_t id)
{
    const struct graph *graph = foreign->graph;
    const struct op *op = &graph->ops.at[id];
    uint32_t tensors = op_tensor_results(foreign->module, graph, op);
    struct range values = {op->results.first, tensors};
    if (!foreign->form->value_names)
        put_names(foreign, foreign_op_name(foreign, id), values);
    put_types(foreign, values);
    if (has_token(foreign, op)) {
        begin_key(foreign, "token = ");
        put_quoted(foreign, graph->values.at[op->results.first + tensors].name);
    }
}

/* Readers keep the name of a node that is not that of its first result. */
static void put_unnamed(struct foreign *foreign, uint32_t id)
{
    const struct op *op = &foreign->graph->ops.at[id];
    if (foreign->form->value_names && op_tensor_results(foreign->module, foreign->graph, op))
        return;
    if (foreign_name_attr(foreign, id))
        return;
    if (op->results.count == 0 || !is_expected(foreign, foreign_op_name(foreign, id), 0,
                                               foreign->graph->values.at[op->results.first].name))
        begin_key(foreign, "unnamed");
}

/* ------------------------------------------------------------------------- operands ---- */

/* Whether the operands are what readers make of so many inputs of an op of this type: values and
 * `none`, and of what its type has as a list, a list. */
static bool is_usual(const struct foreign *foreign, const struct op *op)
{
    const struct op_type *type = op_type_find(foreign->module, op->type);
    uint32_t places = op_n_places(foreign->graph, op), list = NONE;
    for (uint32_t i = 0; type && !op_type_spreads(type) && i < type->n_operands; i++)
        if (type->slots[i].presence == OP_LISTED)
            return false;
    for (uint32_t i = 0; i < places; i++) {
        struct operand operand = op_operand(foreign->graph, op, i);
        if (operand.label != NONE || operand.kind == OPERAND_LIST)
            list = i;
    }
    return list == NONE;
}

/* Whether readers take names of the inputs from an attribute. */
static bool names_inputs(const struct foreign *foreign, const struct op *op)
{
    static const char *const keys[] = {"_input_name_key", "_input_name_idx_key"};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint32_t key = intern_find(&foreign->module->names, keys[i], strlen(keys[i]));
        if (key != NONE && attr_find(foreign->module, op->attrs, key))
            return true;
    }
    return false;
}

static void put_operand(struct foreign *foreign, struct operand operand)
{
    struct text *text = &foreign->rest;
    if (operand.label != NONE) {
        text_char(text, '{');
        put_quoted(foreign, operand.label);
        text_string(text, " = ");
    }
    switch (operand.kind) {
    case OPERAND_VALUE: text_string(text, "value"); break;
    case OPERAND_NONE: text_string(text, "none"); break;
    case OPERAND_LIST: text_unsigned(text, operand.values.count); break;
    }
    if (operand.label != NONE)
        text_char(text, '}');
}

static void put_operands(struct foreign *foreign, const struct op *op)
{
    if (is_usual(foreign, op) && !names_inputs(foreign, op))
        return;
    begin_key(foreign, "operands = [");
    for (uint32_t i = 0; i < op_n_places(foreign->graph, op); i++) {
        text_string(&foreign->rest, i ? ", " : "");
        put_operand(foreign, op_operand(foreign->graph, op, i));
    }
    text_char(&foreign->rest, ']');
}

/* -------------------------------------------------------------------------- clauses ---- */

/* Whether there is an edge of order to what defines a value. To parameters, which are there before
 * everything, there is none where they are no nodes. */
static bool has_edge(const struct foreign *foreign, uint32_t value)
{
    return foreign->form->control || foreign->graph->values.at[value].def != DEF_PARAM;
}

/* Which output of the node stands for it where it is waited for; readers take the first. */
static void put_after(struct foreign *foreign, struct range after)
{
    const uint32_t *values = foreign->graph->refs.at + after.first;
    bool first = true;
    for (uint32_t i = 0; i < after.count; i++)
        first &= foreign_output(foreign, values[i]) == 0;
    if (first)
        return;
    begin_key(foreign, "after = [");
    uint32_t listed = 0;
    for (uint32_t i = 0; i < after.count; i++)
        if (has_edge(foreign, values[i]))
            text_printf(&foreign->rest, "%s%u", listed++ ? ", " : "",
                        foreign_output(foreign, values[i]));
    text_char(&foreign->rest, ']');
}

static void put_behind(struct foreign *foreign, struct range after)
{
    if (after.count == 0 || foreign->form->control)
        return;
    const uint32_t *values = foreign->graph->refs.at + after.first;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < after.count; i++) {
        if (!has_edge(foreign, values[i]))
            continue;
        const struct intern_name *node = foreign_definer(foreign, values[i]);
        if (listed++)
            text_string(&foreign->rest, ", ");
        else
            begin_key(foreign, "behind = [");
        spell_quoted(&foreign->rest, node->text, node->size);
    }
    if (listed)
        text_char(&foreign->rest, ']');
}

/* Ops that readers take to send or receive, by an attribute. */
static bool tells_event(const struct foreign *foreign, const struct op *op)
{
    const struct intern_name *type = name_of(foreign, op->type);
    return type->size >= 4 &&
           (memcmp(type->text, "Send", 4) == 0 || memcmp(type->text, "Recv", 4) == 0) &&
           op->attrs.count;
}

static void put_events(struct foreign *foreign, const char *key, struct range events, bool always)
{
    if (events.count == 0 && !always)
        return;
    begin_key(foreign, key);
    text_string(&foreign->rest, " = [");
    for (uint32_t i = 0; i < events.count; i++) {
        text_string(&foreign->rest, i ? ", " : "");
        put_quoted(foreign, foreign->graph->refs.at[events.first + i]);
    }
    text_char(&foreign->rest, ']');
}

/* ----------------------------------------------------------------------- attributes ---- */

/* Those of a range that the node's attributes do not say. */
static void put_attrs(struct foreign *foreign, const char *key, struct range attrs, uint32_t op,
                      bool all)
{
    const struct attr *name = all || op == NONE ? NULL : foreign_name_attr(foreign, op);
    bool some = false;
    for (uint32_t i = 0; i < attrs.count; i++) {
        const struct attr *attr = &foreign->module->attrs.at[attrs.first + i];
        if (attr == name ||
            (!all &&
             foreign_says_attr(foreign, op == NONE ? NULL : &foreign->graph->ops.at[op], attr)))
            continue;
        if (!some)
            begin_key(foreign, key);
        text_string(&foreign->rest, some ? ", " : " = {");
        spell_attr(&foreign->rest, foreign->module, attr);
        some = true;
    }
    if (some)
        text_char(&foreign->rest, '}');
}

void foreign_op_rest(struct foreign *foreign, uint32_t id)
{
    const struct op *op = &foreign->graph->ops.at[id];
    const struct clauses *clauses = op_clauses(foreign->graph, op);
    foreign->rest.size = 0;
    if (foreign_has_role(foreign->module, op->type)) {
        begin_key(foreign, "type = ");
        put_quoted(foreign, op->type);
    }
    put_unnamed(foreign, id);
    put_results(foreign, id);
    put_operands(foreign, op);
    if (op->kernel != NONE)
        spell_symbol(begin_key(foreign, "via = "), foreign->module, op->kernel);
    put_behind(foreign, clauses->after);
    put_after(foreign, clauses->after);
    put_events(foreign, "send", clauses->send, tells_event(foreign, op));
    put_events(foreign, "recv", clauses->recv, tells_event(foreign, op));
    if (!foreign->plain_blocks && op->block != NONE)
        text_printf(begin_key(foreign, "block = "), "%u", op->block);
    put_attrs(foreign, "attrs", op->attrs, id, false);
    end_rest(foreign);
}

void foreign_param_rest(struct foreign *foreign, uint32_t param)
{
    struct range value = {param, 1};
    foreign->rest.size = 0;
    put_names(foreign, foreign_definer(foreign, param), value);
    put_types(foreign, value);
    put_attrs(foreign, "attrs", foreign->graph->params.at[param].attrs, NONE, false);
    end_rest(foreign);
}

/* --------------------------------------------------------------------------- graphs ---- */

static void put_dims(struct foreign *foreign)
{
    const struct graph *graph = foreign->graph;
    for (uint32_t i = 0; i < graph->dims.count; i++) {
        if (i == 0)
            begin_key(foreign, "dims = [");
        text_string(&foreign->rest, i ? ", " : "");
        put_quoted(foreign, graph->dims.at[i].name);
    }
    if (graph->dims.count)
        text_char(&foreign->rest, ']');
}

static void put_gears(struct foreign *foreign)
{
    const struct graph *graph = foreign->graph;
    if (graph->gear_mode == GEARS_NONE)
        return;
    begin_key(foreign, graph->gear_mode == GEARS_ZIP ? "zip = {" : "product = {");
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        const struct gear *gear = &graph->gears.at[i];
        text_string(&foreign->rest, i ? ", " : "");
        put_quoted(foreign, gear->name);
        for (uint32_t j = 0; j < gear->values.count; j++)
            text_printf(&foreign->rest, "%s%lld", j ? ", " : " = [",
                        (long long)graph->gear_values.at[gear->values.first + j]);
        text_char(&foreign->rest, ']');
    }
    text_char(&foreign->rest, '}');
}

/* The types of results that are not those of the values that are returned. */
static void put_result_types(struct foreign *foreign)
{
    const struct graph *graph = foreign->graph;
    bool differ = false;
    for (uint32_t i = 0; i < graph->returns.count; i++)
        differ |= graph->result_types.at[i] != graph->values.at[graph->returns.at[i]].type;
    if (!differ)
        return;
    begin_key(foreign, "types = [");
    for (uint32_t i = 0; i < graph->result_types.count; i++) {
        text_string(&foreign->rest, i ? ", " : "");
        spell_type(&foreign->rest, foreign->module, graph->result_types.at[i]);
    }
    text_char(&foreign->rest, ']');
}

static void put_block(struct foreign *foreign, const struct block *block)
{
    static const char *const kinds[] = {[BLOCK_SCOPE] = "scope",
                                        [BLOCK_SCOPE_NONE] = "none",
                                        [BLOCK_STREAM] = "stream",
                                        [BLOCK_SUPERKERNEL] = "superkernel",
                                        [BLOCK_SUPERKERNEL_REST] = "superkernel"};
    struct text outer = foreign->rest;
    foreign->rest = (struct text){NULL, 0, 0};
    text_printf(&foreign->rest, "kind = %s", kinds[block->kind]);
    if (block->kind != BLOCK_SCOPE_NONE) {
        begin_key(foreign, "name = ");
        put_quoted(foreign, block_name(foreign->graph, block));
    }
    if (block->parent != NONE)
        text_printf(begin_key(foreign, "in = "), "%u", block->parent);
    put_events(foreign, "send", block->send, false);
    put_events(foreign, "recv", block->recv, false);
    put_attrs(foreign, "attrs", block->attrs, NONE, true);
    text_char(&outer, '{');
    text_append(&outer, &foreign->rest);
    text_char(&outer, '}');
    text_free(&foreign->rest);
    foreign->rest = outer;
}

static void put_blocks(struct foreign *foreign)
{
    const struct graph *graph = foreign->graph;
    if (foreign->plain_blocks || graph->blocks.count == 0)
        return;
    begin_key(foreign, "blocks = [");
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        text_string(&foreign->rest, i ? ", " : "");
        put_block(foreign, &graph->blocks.at[i]);
    }
    text_char(&foreign->rest, ']');
}

/* Where parameters are no nodes: a dictionary for each that has something to say. */
static void put_params(struct foreign *foreign)
{
    struct text list = {NULL, 0, 0}, outer = foreign->rest;
    bool some = false;
    foreign->rest = (struct text){NULL, 0, 0};
    for (uint32_t i = 0; i < foreign->graph->n_params; i++) {
        foreign->rest.size = 0;
        put_types(foreign, (struct range){i, 1});
        put_attrs(foreign, "attrs", foreign->graph->params.at[i].attrs, NONE, true);
        some |= foreign->rest.size > 0;
        text_printf(&list, "%s{", i ? ", " : "");
        if (foreign->rest.size)
            text_append(&list, &foreign->rest);
        text_char(&list, '}');
    }
    text_free(&foreign->rest);
    foreign->rest = outer;
    if (some) {
        begin_key(foreign, "params = [");
        text_append(&foreign->rest, &list);
        text_char(&foreign->rest, ']');
    }
    text_free(&list);
}

/* Kernels, entries and the target, as one text. */
static void put_module(struct foreign *foreign)
{
    const struct module *module = foreign->module;
    struct text text = {NULL, 0, 0};
    if (module->kernels.count + module->entries.count + module->targets.count == 0)
        return;
    print_without_graphs(&text, module, NULL);
    begin_key(foreign, "module = ");
    spell_quoted(&foreign->rest, text.at, text.size);
    text_free(&text);
}

void foreign_graph_rest(struct foreign *foreign, bool first)
{
    foreign->rest.size = 0;
    if (first)
        begin_key(foreign, "skir = 1");
    if (!foreign->form->graph_names) {
        begin_key(foreign, "name = ");
        put_quoted(foreign, foreign->graph->name);
    }
    if (!foreign->form->return_nodes && foreign->graph->returns.count == 0)
        begin_key(foreign, "closed");
    put_dims(foreign);
    put_gears(foreign);
    if (!foreign->form->return_nodes)
        put_params(foreign);
    put_result_types(foreign);
    put_blocks(foreign);
    put_attrs(foreign, "attrs", foreign->graph->attrs, NONE, true);
    if (first)
        put_module(foreign);
    end_rest(foreign);
}
