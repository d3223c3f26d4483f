#include "frontend/exchange/dump/rest.h"
#include "ir/syntax/parse.h"

/* ------------------------------------------------------------------------- look-ups ---- */

const struct attr *dump_rest_find(const struct dump *dump, struct range rest, const char *key,
                                  enum attr_kind kind)
{
    const struct module *module = dump->module;
    uint32_t name = rest.count ? intern_find(&module->names, key, strlen(key)) : NONE;
    const struct attr *attr = name == NONE ? NULL : attr_find(module, rest, name);
    return attr && attr->value.kind == kind ? attr : NULL;
}

const struct attr_value *dump_rest_element(const struct dump *dump, const struct attr *list,
                                           uint32_t n, enum attr_kind kind)
{
    if (!list || n >= list->value.count)
        return NULL;
    const struct attr_value *value = &dump->module->attr_values.at[list->value.first + n];
    return value->kind == kind ? value : NULL;
}

bool dump_is_exported(const struct dump *dump)
{
    return dump->graphs.count && dump_rest_find(dump, dump->graphs.at[0].rest, "skir", ATTR_INT);
}

/* -------------------------------------------------------------------------- parsing ---- */

/* A dictionary: where its statement begins in the text that is parsed, and who has it. */
struct piece {
    uint32_t begin, loc;
    struct range *rest;
};

struct pieces {
    struct piece *at;
    uint32_t count, capacity;
};

/* Names the place of the error in the dump; that in the text nobody has seen. */
static bool report(struct dump *dump, uint32_t loc, const struct diags *inner)
{
    const char *why = inner->list.count ? inner->list.at[0].text : "it is something else";
    diag_at(dump->diags, DIAG_foreign_form, source_token(dump->source, loc),
            "'_skir' is not as skirc export writes it: %s", why);
    return false;
}

/* Names of the module are parts of the text, which lasts as long as the dump. */
static bool parse(struct dump *dump, const struct text *text, uint32_t loc)
{
    struct source source;
    struct diags diags;
    char *lasting = arena_strndup(&dump->arena, text->at, text->size);
    bool fine = source_init(&source, "_skir", lasting, text->size);
    diags_init(&diags, &source, "_skir");
    fine = fine && parse_more(dump->module, &source, &diags);
    if (!fine)
        report(dump, loc, &diags);
    diags_free(&diags);
    source_free(&source);
    return fine;
}

static void add_piece(struct dump *dump, struct text *text, struct pieces *pieces,
                      uint32_t rest_text, uint32_t loc, struct range *rest)
{
    if (rest_text == NONE)
        return;
    const struct intern_name *name = &dump->module->names.names[rest_text];
    vec_push(pieces, (struct piece){(uint32_t)text->size, loc, rest});
    text_string(text, "_() {");
    text_bytes(text, name->text, name->size);
    text_string(text, "}\n");
}

/* The statements of one graph, each with the attributes of one rest. */
static void list_pieces(struct dump *dump, struct text *text, struct pieces *pieces)
{
    text_string(text, "skir 1\ngraph @\"\\x01_skir\"() -> () {\n");
    for (uint32_t g = 0; g < dump->graphs.count; g++) {
        struct dump_graph *graph = &dump->graphs.at[g];
        for (uint32_t n = 0; n < graph->nodes.count; n++) {
            struct dump_node *node = &graph->nodes.at[n];
            if (node->role == DUMP_RETURN && node->rest_text != NONE)
                graph->rest_text = node->rest_text;
            else
                add_piece(dump, text, pieces, node->rest_text, node->loc, &node->rest);
        }
        add_piece(dump, text, pieces, graph->rest_text, graph->loc, &graph->rest);
    }
    text_string(text, "}\n");
}

/* Each statement stands where it was put: no rest has closed its own. */
static bool share_out(struct dump *dump, const struct pieces *pieces, const struct graph *graph)
{
    static const struct diags none;
    for (uint32_t i = 0; i < pieces->count; i++) {
        if (graph->ops.count != pieces->count || graph->ops.at[i].loc != pieces->at[i].begin)
            return report(dump, pieces->at[i].loc, &none);
        *pieces->at[i].rest = graph->ops.at[i].attrs;
    }
    return true;
}

static bool drop_graph(struct dump *dump)
{
    static const uint8_t gone[] = {1};
    bool one = dump->module->graphs.count == 1;
    if (one)
        module_drop_graphs(dump->module, gone);
    return one;
}

static bool parse_pieces(struct dump *dump, struct text *text, struct pieces *pieces)
{
    static const struct diags none;
    list_pieces(dump, text, pieces);
    if (pieces->count == 0)
        return true;
    uint32_t loc = pieces->at[0].loc;
    if (text->size >= UINT32_MAX || !parse(dump, text, loc))
        return false;
    return dump->module->graphs.count == 1
               ? share_out(dump, pieces, &dump->module->graphs.at[0]) && drop_graph(dump)
               : report(dump, loc, &none);
}

/* Kernels, entries and the target become those of the module. */
static bool parse_module_text(struct dump *dump, const struct dump_graph *graph)
{
    static const struct diags none;
    struct module *module = dump->module;
    struct text text = {NULL, 0, 0};
    const struct attr *attr = dump_rest_find(dump, graph->rest, "module", ATTR_STRING);
    if (!attr)
        return true;
    text_bytes(&text, module->names.names[attr->value.id].text,
               module->names.names[attr->value.id].size);
    bool fine = parse(dump, &text, graph->loc);
    if (fine && module->graphs.count + module->includes.count > 0)
        fine = report(dump, graph->loc, &none);
    text_free(&text);
    return fine;
}

/* --------------------------------------------------------------------------- inputs ---- */

/* Adds edges of order behind the node's inputs. */
static void add_behind(struct dump *dump, struct dump_graph *graph, struct dump_node *node)
{
    const struct attr *behind = dump_rest_find(dump, node->rest, "behind", ATTR_LIST);
    if (!behind || behind->value.count == 0)
        return;
    struct range inputs = node->inputs;
    node->inputs = (struct range){graph->inputs.count, inputs.count};
    vec_reserve(&graph->inputs, (uint64_t)inputs.count + behind->value.count);
    for (uint32_t i = 0; i < inputs.count; i++) {
        graph->inputs.at[graph->inputs.count++] = graph->inputs.at[inputs.first + i];
        graph->inputs.at[inputs.first + i].kind = DUMP_ABSENT; /* it has moved */
    }
    for (uint32_t i = 0; i < behind->value.count; i++) {
        const struct attr_value *name = dump_rest_element(dump, behind, i, ATTR_STRING);
        if (!name)
            continue;
        struct dump_input input = {name->id, 0, NONE, node->loc, DUMP_CONTROL, false};
        graph->inputs.at[graph->inputs.count++] = input;
        node->inputs.count++;
    }
}

static void settle_nodes(struct dump *dump, uint32_t index)
{
    struct dump_graph *graph = &dump->graphs.at[index];
    const struct attr *name = dump_rest_find(dump, graph->rest, "name", ATTR_STRING);
    if (name && (index > 0 || !dump->options->name))
        dump_name_graph(dump, index, name->value.id);
    if (dump_rest_find(dump, graph->rest, "closed", ATTR_BOOL))
        graph->open = false;
    for (uint32_t n = 0; n < graph->nodes.count; n++) {
        struct dump_node *node = &graph->nodes.at[n];
        if (node->rest.count == 0)
            continue;
        const struct attr *type = dump_rest_find(dump, node->rest, "type", ATTR_STRING);
        if (type)
            node->type = type->value.id;
        add_behind(dump, graph, node);
    }
}

bool dump_take_rests(struct dump *dump)
{
    struct text text = {NULL, 0, 0};
    struct pieces pieces = {NULL, 0, 0};
    bool fine = parse_pieces(dump, &text, &pieces);
    for (uint32_t g = 0; fine && pieces.count && g < dump->graphs.count; g++) {
        settle_nodes(dump, g);
        fine = g > 0 || parse_module_text(dump, &dump->graphs.at[g]);
    }
    text_free(&text);
    vec_free(&pieces);
    return fine;
}
