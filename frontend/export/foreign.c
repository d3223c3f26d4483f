/* What writers share: protobuf text, places of ops, and names and attributes of nodes. */
#include "frontend/export/foreign.h"

#include <math.h>

#include "ir/analysis/contents.h"
#include "ir/support/escapes.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"

static void begin_line(struct proto_out *out, const char *field)
{
    for (unsigned i = 0; i < out->depth; i++)
        text_bytes(out->text, "  ", 2);
    text_string(out->text, field);
}

void proto_open(struct proto_out *out, const char *field)
{
    begin_line(out, field);
    text_bytes(out->text, " {\n", 3);
    out->depth++;
}

void proto_close(struct proto_out *out)
{
    out->depth--;
    begin_line(out, "}\n");
}

/* Bytes that are not ASCII stay as they are only in fields that are UTF-8: in others libprotobuf
 * escapes them, and takes both. */
void proto_put_string(struct proto_out *out, const char *field, const char *bytes, size_t size)
{
    begin_line(out, field);
    text_bytes(out->text, ": \"", 3);
    escape_put(out->text, bytes, size, ESCAPE_OCTAL);
    text_bytes(out->text, "\"\n", 2);
}

void proto_put_text(struct proto_out *out, const char *field, const char *text)
{
    proto_put_string(out, field, text, strlen(text));
}

void proto_put_integer(struct proto_out *out, const char *field, int64_t number)
{
    begin_line(out, field);
    text_bytes(out->text, ": ", 2);
    text_signed(out->text, number);
    text_char(out->text, '\n');
}

void proto_put_word(struct proto_out *out, const char *field, const char *word)
{
    begin_line(out, field);
    text_bytes(out->text, ": ", 2);
    text_string(out->text, word);
    text_char(out->text, '\n');
}

void proto_put_float(struct proto_out *out, const char *field, double number)
{
    if (isnan(number)) {
        proto_put_word(out, field, "nan");
        return;
    }
    begin_line(out, field);
    text_bytes(out->text, ": ", 2);
    text_double(out->text, number);
    text_char(out->text, '\n');
}

void op_places_init(struct op_places *places, const struct graph *graph)
{
    *places = (struct op_places){.of_op = mem_calloc(graph->ops.count, sizeof *places->of_op),
                                 .ops = mem_calloc(graph->ops.count, sizeof *places->ops),
                                 .blocks = mem_calloc(graph->blocks.count, sizeof *places->blocks)};
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        switch (item_kind(graph->body.at[i])) {
        case ITEM_OP:
            places->ops[places->count] = id;
            places->of_op[id] = places->count++;
            break;
        case ITEM_OPEN: places->blocks[id].first = places->count; break;
        case ITEM_CLOSE: places->blocks[id].count = places->count - places->blocks[id].first; break;
        }
    }
}

void op_places_free(struct op_places *places)
{
    mem_free(places->of_op);
    mem_free(places->ops);
    mem_free(places->blocks);
}

/* ---------------------------------------------------------------------------- names ---- */

static const struct intern_name *module_text(const struct foreign *foreign, uint32_t name)
{
    return &foreign->module->names.names[name];
}

/* Names with another meaning in some format: `^` begins an edge that is only order. */
static bool is_legal(const struct intern_name *name)
{
    return name->size > 0 && *name->text != '^';
}

static bool take(struct foreign *foreign, uint32_t id)
{
    uint32_t *place = id_map_at(&foreign->taken, id);
    bool free = *place != foreign->turn;
    *place = foreign->turn;
    return free;
}

/* The name of a module's name, or one made of it where that is taken. */
static uint32_t make_name(struct foreign *foreign, const char *bytes, size_t size)
{
    uint32_t id = intern_copy(&foreign->names, bytes, size);
    if (take(foreign, id))
        return id;
    for (uint32_t n = 1;; n++) {
        foreign->scratch.size = 0;
        text_bytes(&foreign->scratch, bytes, size);
        text_printf(&foreign->scratch, "_%u", n);
        id = intern_copy(&foreign->names, foreign->scratch.at, foreign->scratch.size);
        if (take(foreign, id))
            return id;
    }
}

static uint32_t value_name(struct foreign *foreign, uint32_t value)
{
    const struct intern_name *name = module_text(foreign, foreign->graph->values.at[value].name);
    return is_legal(name) ? make_name(foreign, name->text, name->size)
                          : make_name(foreign, "value", 5);
}

/* The attribute that imported ops have where their node's name is not that of a value. */
static const struct attr *own_name(const struct foreign *foreign, const struct op *op)
{
    uint32_t key = intern_find(&foreign->module->names, "_name", 5);
    const struct attr *attr = key == NONE ? NULL : attr_find(foreign->module, op->attrs, key);
    bool fits =
        attr && attr->value.kind == ATTR_STRING && is_legal(module_text(foreign, attr->value.id));
    if (!fits ||
        (op->results.count && foreign->graph->values.at[op->results.first].name == attr->value.id))
        return NULL;
    return attr;
}

static uint32_t name_op(struct foreign *foreign, const struct op *op)
{
    const struct attr *own = own_name(foreign, op);
    const struct intern_name *name = own ? module_text(foreign, own->value.id) : NULL;
    if (own && !foreign->form->value_names) {
        uint32_t id = intern_copy(&foreign->names, name->text, name->size);
        if (take(foreign, id))
            return id;
    }
    if (op->results.count)
        return value_name(foreign, op->results.first);
    name = module_text(foreign, op->type);
    return make_name(foreign, name->text, name->size);
}

const struct intern_name *foreign_op_name(const struct foreign *foreign, uint32_t op)
{
    return &foreign->names.names[foreign->op_names[op]];
}

const struct intern_name *foreign_definer(const struct foreign *foreign, uint32_t value)
{
    uint32_t def = foreign->graph->values.at[value].def;
    return &foreign->names
                .names[def == DEF_PARAM ? foreign->param_names[value] : foreign->op_names[def]];
}

uint32_t foreign_output(const struct foreign *foreign, uint32_t value)
{
    uint32_t def = foreign->graph->values.at[value].def;
    return def == DEF_PARAM ? 0 : value - foreign->graph->ops.at[def].results.first;
}

/* ---------------------------------------------------------------------------- types ---- */

void foreign_op_type(const struct foreign *foreign, const struct op *op, struct text *type)
{
    static const char *const roles[] = {"Data",    "RefData",     "AippData",  "AnnData", "_Arg",
                                        "_Retval", "Placeholder", "NetOutput", "subgraph"};
    const struct intern_name *name = module_text(foreign, op->type);
    type->size = 0;
    for (unsigned i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (name_is(foreign->module, op->type, roles[i]))
            text_string(type, "_skir_");
    text_bytes(type, name->text, name->size);
}

/* --------------------------------------------------------------------------- blocks ---- */

static void add_mark(const struct foreign *foreign, struct foreign_mark *marks, uint32_t *count,
                     const char *key, uint32_t name)
{
    if (name == NONE)
        return;
    const struct intern_name *text = module_text(foreign, name);
    marks[(*count)++] = (struct foreign_mark){.key = key, .text = text->text, .size = text->size};
}

uint32_t foreign_marks(const struct foreign *foreign, const struct op *op,
                       struct foreign_mark marks[FOREIGN_MARKS])
{
    static const char scope_key[] = "_super_kernel_scope", options_key[] = "_super_kernel_options";
    const struct graph *graph = foreign->graph;
    uint32_t launch = graph_superkernel(graph, op->block), count = 0;
    uint32_t scope = graph_enclosing(graph, op->block, BLOCK_SCOPE);
    uint32_t stream = graph_enclosing(graph, op->block, BLOCK_STREAM);
    if (launch != NONE) {
        const struct range attrs = graph->blocks.at[launch].attrs;
        add_mark(foreign, marks, &count, scope_key, attr_symbol(foreign->module, attrs, W_scope));
        add_mark(foreign, marks, &count, options_key,
                 attr_string(foreign->module, attrs, W_options));
    } else if (scope != NONE && graph->blocks.at[scope].kind == BLOCK_SCOPE_NONE) {
        marks[count++] = (struct foreign_mark){.key = scope_key, .text = "None", .size = 4};
    } else if (scope != NONE) {
        uint32_t name = graph->blocks.at[scope].name;
        add_mark(foreign, marks, &count, scope_key, name);
        add_mark(foreign, marks, &count, options_key, id_map_find(&foreign->options, name));
    }
    if (stream == NONE || stream_label(graph->blocks.at[stream].name) == NONE)
        return count;
    uint32_t label = graph->blocks.at[stream].name;
    uint32_t priority = id_map_find(&foreign->priority, label);
    add_mark(foreign, marks, &count, "_user_stream_label", label);
    if (priority != NONE)
        marks[count++] = (struct foreign_mark){
            .key = "_user_stream_priority", .number = foreign->module->attrs.at[priority].value.i};
    return count;
}

/* Notes what blocks of one scope or stream say alike, whichever of them says it; or forgets it. */
static void note_blocks(struct foreign *foreign, bool forget)
{
    const struct module *module = foreign->module;
    for (uint32_t i = 0; i < foreign->graph->blocks.count; i++) {
        const struct block *block = &foreign->graph->blocks.at[i];
        uint32_t options = attr_string(module, block->attrs, W_options);
        const struct attr *priority = attr_find(module, block->attrs, W_priority);
        if (block->kind == BLOCK_SCOPE && (forget || options != NONE))
            id_map_set(&foreign->options, block->name, forget ? NONE : options);
        else if (block->kind == BLOCK_STREAM &&
                 (forget || (priority && priority->value.kind == ATTR_INT)))
            id_map_set(&foreign->priority, block->name,
                       forget ? NONE : (uint32_t)(priority - module->attrs.at));
    }
}

/* --------------------------------------------------------------------------- graphs ---- */

void foreign_init(struct foreign *foreign, const struct module *module,
                  const struct foreign_form *form)
{
    *foreign = (struct foreign){.module = module, .form = form};
}

void foreign_free(struct foreign *foreign)
{
    intern_free(&foreign->names);
    text_free(&foreign->scratch);
    id_map_free(&foreign->taken);
    id_map_free(&foreign->options);
    id_map_free(&foreign->priority);
}

void foreign_begin_graph(struct foreign *foreign, const struct graph *graph)
{
    foreign->graph = graph;
    foreign->turn++;
    foreign->op_names = mem_calloc(graph->ops.count + 1, sizeof *foreign->op_names);
    foreign->param_names = mem_calloc(graph->n_params + 1, sizeof *foreign->param_names);
    for (uint32_t i = 0; i < graph->n_params; i++)
        foreign->param_names[i] = value_name(foreign, i);
    for (uint32_t i = 0; i < graph->body.count; i++)
        if (item_kind(graph->body.at[i]) == ITEM_OP) {
            uint32_t id = item_id(graph->body.at[i]);
            foreign->op_names[id] = name_op(foreign, &graph->ops.at[id]);
        }
    foreign->return_name = make_name(foreign, "NetOutput", 9);
    note_blocks(foreign, false);
}

void foreign_end_graph(struct foreign *foreign)
{
    note_blocks(foreign, true);
    mem_free(foreign->op_names);
    mem_free(foreign->param_names);
}

/* ----------------------------------------------------------------------- attributes ---- */

bool foreign_says_attr(const struct foreign *foreign, const struct op *op, const struct attr *attr)
{
    /* Keys that mean something to readers, whoever wrote them. */
    static const char *const reserved[] = {"_super_kernel_scope",
                                           "_super_kernel_options",
                                           "_user_stream_label",
                                           "_user_stream_priority",
                                           "index",
                                           "_parent_node_index",
                                           "_name",
                                           "static"};
    const struct module *module = foreign->module;
    const struct intern_name *key = module_text(foreign, attr->key);
    const struct attr *contents = op ? op_contents_attr(module, foreign->graph, op) : NULL;
    /* Readers take contents from such an attribute of an op that has none. */
    bool is_path =
        name_is(module, attr->key, "file_path") || name_is(module, attr->key, "location");
    if (contents == attr ||
        (op && !contents && is_path && name_is(module, op->type, "FileConstant")))
        return false;
    for (uint32_t i = 0; i < key->size; i++)
        if ((unsigned char)key->text[i] >= 0x80)
            return false;
    for (unsigned i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (name_is(module, attr->key, reserved[i]))
            return false;
    return key->size > 0 && *key->text != '[' &&
           foreign->form->says_value(foreign->module, &attr->value);
}

/* ------------------------------------------------------------------------------ fits ---- */

static void check_name(const struct foreign_form *form, const struct module *module,
                       struct diags *diags, const char *what, uint32_t name, struct span span)
{
    const struct intern_name *n = &module->names.names[name];
    if (utf8_well_formed(n->text, n->size) < n->size)
        diag_at(diags, DIAG_not_exported, span, "%s '%.*s' is not UTF-8, which %s wants", what,
                NAME(module, name), form->name);
}

bool foreign_fits(const struct foreign_form *form, const struct module *module, struct diags *diags)
{
    uint32_t errors = diags->counts[SEVERITY_ERROR];
    if (module->graphs.count == 0)
        diag_at(diags, DIAG_not_exported, no_span, "there is no graph, and %s has nothing else",
                form->name);
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        check_name(form, module, diags, "the name of the graph", graph->name,
                   locate_name(module, graph->loc));
        if (graph->cases.count &&
            diag_at(diags, DIAG_not_exported, locate_name(module, graph->loc),
                    "the gears of this graph are expanded, which %s cannot have", form->name))
            diag_help(diags, "export the graph as it was before, or that of one combination");
        for (uint32_t i = 0; i < graph->ops.count; i++)
            check_name(form, module, diags, "the op type", graph->ops.at[i].type,
                       locate_op(module, &graph->ops.at[i], OP_TYPE_NAME, 0));
        for (uint32_t i = 0; i < graph->values.count; i++)
            check_name(form, module, diags, "the name of the value", graph->values.at[i].name,
                       locate_value(module, graph, i));
    }
    return diags->counts[SEVERITY_ERROR] == errors;
}
