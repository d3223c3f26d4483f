#include "frontend/import/dump/dump.h"

#include <stdarg.h>

#include <string.h>

#include "frontend/import/text/decimal.h"
#include "ir/core/attr.h"
#include "ir/support/json.h"
#include "ir/optypes/op_types.h"
#include "ir/syntax/spelling.h"

void dump_init(struct dump *dump, struct source *source, struct diags *diags,
               const struct dump_options *options)
{
    *dump = (struct dump){.source = source,
                          .diags = diags,
                          .options = options,
                          .gears = {{.text = NONE}, {.text = NONE}, {.text = NONE}}};
    dump->module = module_new(source);
}

void dump_free(struct dump *dump)
{
    for (uint32_t i = 0; i < dump->graphs.count; i++) {
        struct dump_graph *graph = &dump->graphs.at[i];
        vec_free(&graph->nodes);
        vec_free(&graph->inputs);
        vec_free(&graph->outputs);
        vec_free(&graph->hints);
        vec_free(&graph->params);
        vec_free(&graph->returns);
    }
    vec_free(&dump->graphs);
    vec_free(&dump->counts);
    vec_free(&dump->dropped);
    id_map_free(&dump->graph_names);
    id_map_free(&dump->graph_numbers);
    id_map_free(&dump->keys);
    id_map_free(&dump->unused_fields);
    id_map_free(&dump->dtypes);
    id_map_free(&dump->formats);
    arena_free(&dump->arena);
    module_free(dump->module);
}

uint32_t dump_name(struct dump *dump, const char *bytes, size_t size)
{
    uintptr_t offset = (uintptr_t)bytes - (uintptr_t)dump->source->text;
    struct intern *names = &dump->module->names;
    if (offset < dump->source->size && size <= dump->source->size - offset)
        return intern_static(names, bytes, size);
    return intern_copy(names, bytes, size);
}

static bool is_graph(const void *user, uint32_t name)
{
    return id_map_find(user, name) != NONE;
}

static uint32_t free_name(struct dump *dump, uint32_t name)
{
    uint32_t wanted = name == NONE ? module_name(dump->module, "graph") : name;
    uint32_t *last = id_map_at(&dump->graph_numbers, wanted);
    *last = *last == NONE ? 0 : *last;
    return module_free_name(dump->module, wanted, ".",
                            (struct taken_names){is_graph, &dump->graph_names}, last);
}

uint32_t dump_add_graph(struct dump *dump, uint32_t name, uint32_t loc, uint32_t parent)
{
    uint32_t index = dump->graphs.count;
    name = free_name(dump, name);
    id_map_set(&dump->graph_names, name, index);
    vec_push(&dump->graphs, (struct dump_graph){.name = name, .loc = loc, .parent = parent});
    return index;
}

void dump_name_graph(struct dump *dump, uint32_t index, uint32_t name)
{
    id_map_unset(&dump->graph_names, dump->graphs.at[index].name);
    name = free_name(dump, name);
    id_map_set(&dump->graph_names, name, index);
    dump->graphs.at[index].name = name;
}

void dump_begin(struct dump_draft *draft, uint32_t loc)
{
    draft->node = (struct dump_node){
        .name = NONE,
        .type = NONE,
        .loc = loc,
        .index = -1,
        .scope = NONE,
        .options = NONE,
        .stream = NONE,
        .priority = DUMP_NO_PRIORITY,
        .send_event = NONE,
        .recv_event = NONE,
        .dialect = DIALECT_GE,
    };
    draft->inputs.count = draft->outputs.count = draft->attrs.count = draft->hints.count = 0;
}

#define append(target, source)                                                                     \
    (struct range){(target)->count, (source)->count};                                              \
    vec_reserve(target, (source)->count);                                                          \
    if ((source)->count)                                                                           \
        memcpy((target)->at + (target)->count, (source)->at,                                       \
               (source)->count * sizeof *(source)->at);                                            \
    (target)->count += (source)->count

void dump_add_node(struct dump *dump, uint32_t index, struct dump_draft *draft)
{
    dump_sort_attrs(dump, draft);
    struct dump_graph *graph = &dump->graphs.at[index];
    struct dump_node node = draft->node;
    node.inputs = append(&graph->inputs, &draft->inputs);
    for (uint32_t i = 0; i < draft->hints.count; i++)
        vec_push(&graph->hints, (struct dump_hint){node.inputs.first + draft->hints.at[i].input,
                                                   draft->hints.at[i].type});
    node.outputs = append(&graph->outputs, &draft->outputs);
    node.attrs = module_add_attrs(dump->module, draft->attrs.at, draft->attrs.count);
    vec_push(&graph->nodes, node);
}

void dump_draft_free(struct dump_draft *draft)
{
    vec_free(&draft->inputs);
    vec_free(&draft->outputs);
    vec_free(&draft->hints);
    vec_free(&draft->attrs);
}

bool dump_is_empty(const struct dump *dump)
{
    uint64_t count = dump->module->graphs.count; /* of readers that make them themselves */
    for (uint32_t i = 0; i < dump->graphs.count; i++) {
        const struct dump_graph *graph = &dump->graphs.at[i];
        count += (uint64_t)graph->nodes.count + graph->params.count + graph->returns.count;
    }
    return count == 0;
}

int64_t dump_dim(struct dump *dump, const char *text, size_t size)
{
    uint32_t name = intern_copy(&dump->module->names, text, size);
    return is_plain_word(dump->module, name) ? DIM_GEAR + name : DIM_UNKNOWN;
}

void dump_add_target(struct dump *dump)
{
    const struct dump_options *options = dump->options;
    struct module *module = dump->module;
    if (!options->has_device || module->targets.count)
        return;
    struct attr attrs[3] = {
        {W_aic, NONE, {.kind = ATTR_INT, .i = options->aic}},
        {W_aiv, NONE, {.kind = ATTR_INT, .i = options->aiv}},
    };
    if (options->arch)
        attrs[2] = (struct attr){
            W_arch, NONE, {.kind = ATTR_STRING, .id = module_name(module, options->arch)}};
    struct target target = {.name =
                                module_name(module, options->device ? options->device : "ascend"),
                            .loc = NONE,
                            .attrs = module_add_attrs(module, attrs, options->arch ? 3 : 2)};
    vec_push(&module->order, order_make(module->targets.count, ORDER_TARGET));
    vec_push(&module->targets, target);
}

/* What a dump has, in numbers, and what of it is lost. */

/* Edges are the inputs of nodes that name a producer, whether it is there or not. */
void dump_count_graphs(struct dump *dump)
{
    for (uint32_t g = 0, before = dump->counts.count; before == 0 && g < dump->graphs.count; g++) {
        const struct dump_graph *graph = &dump->graphs.at[g];
        struct dump_count count = {.name = graph->name, .nodes = 0};
        for (uint32_t i = 0; i < graph->nodes.count; i++)
            count.nodes += !graph->nodes.at[i].implied;
        for (uint32_t i = 0; i < graph->inputs.count; i++) {
            uint8_t kind = graph->inputs.at[i].kind;
            count.control_edges += kind == DUMP_CONTROL;
            count.data_edges += kind == DUMP_DATA || kind == DUMP_VALUE;
        }
        vec_push(&dump->counts, count);
    }
}

void dump_print_counts(const struct dump *dump, struct text *text)
{
    struct json json = {.text = text};
    json_open_object(&json);
    json_key(&json, "graphs");
    json_open_array(&json);
    for (uint32_t i = 0; i < dump->counts.count; i++) {
        const struct dump_count *count = &dump->counts.at[i];
        const struct intern_name *name = &dump->module->names.names[count->name];
        json_line(&json);
        json_open_object(&json);
        json_add_bytes(&json, "name", name->text, name->size);
        json_add_unsigned(&json, "nodes", count->nodes);
        json_add_unsigned(&json, "data_edges", count->data_edges);
        json_add_unsigned(&json, "control_edges", count->control_edges);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_line(&json);
    json_key(&json, "dropped");
    json_open_array(&json);
    for (uint32_t i = 0; i < dump->dropped.count; i++)
        json_string(&json, dump->dropped.at[i]);
    json_close_array(&json);
    json_close_object(&json);
    text_char(text, '\n');
}

static void record(struct dump *dump, enum diag_id id, uint32_t loc, const char *format,
                   va_list args)
{
    const char *text = arena_vprintf(&dump->arena, format, args);
    vec_push(&dump->dropped, text);
    diag_at(dump->diags, id, source_token(dump->source, loc), "%s", text);
}

void dump_drop(struct dump *dump, uint32_t loc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(dump, DIAG_not_imported, loc, format, args);
    va_end(args);
}

void dump_lose(struct dump *dump, uint32_t loc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(dump, dump->lost ? DIAG_not_imported : DIAG_contents_left_out, loc, format, args);
    va_end(args);
    if (!dump->lost)
        diag_help(dump->diags, "--counts lists what is left out; 'run --input' gives contents");
    dump->lost = true;
}

/* Attributes of nodes: what they say to skir, and which others are kept. */

enum meaning { MEANS_SCOPE, MEANS_OPTIONS, MEANS_STREAM, MEANS_PRIORITY, MEANS_NOTHING };

/* The attributes of GE that become blocks. */
static const char *const words[] = {
    [MEANS_SCOPE] = "_super_kernel_scope",
    [MEANS_OPTIONS] = "_super_kernel_options",
    [MEANS_STREAM] = "_user_stream_label",
    [MEANS_PRIORITY] = "_user_stream_priority",
};

/* What a key says, and whether skir reads it of ops of all types. */
struct key {
    enum meaning meaning;
    bool own;
};

static struct key find_key(struct dump *dump, uint32_t key)
{
    uint32_t *place = id_map_at(&dump->keys, key);
    if (*place == NONE) {
        uint32_t meaning = 0;
        while (meaning < MEANS_NOTHING && !name_is(dump->module, key, words[meaning]))
            meaning++;
        bool own = attr_row_find(OWNER_OP, key) || name_is(dump->module, key, "_op_aicore_num") ||
                   name_is(dump->module, key, "_op_vectorcore_num");
        *place = meaning << 1 | own;
    }
    return (struct key){(enum meaning)(*place >> 1), *place & 1};
}

bool dump_is_constant(const struct dump *dump, uint32_t type)
{
    static const char *const types[] = {"Const", "Constant", "Variable", "FileConstant"};
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
        if (type != NONE && name_is(dump->module, type, types[i]))
            return true;
    return false;
}

/* Whether the user wants an attribute that has no meaning of its own: by default, one that the data
 * of the op type has. */
static bool is_kept(const struct dump *dump, uint32_t name, uint32_t key)
{
    const struct dump_options *options = dump->options;
    if (options->keep == DUMP_KEEP_ALL || options->keep == DUMP_KEEP_NONE)
        return options->keep == DUMP_KEEP_ALL;
    if (options->keep == DUMP_KEEP_LIST) {
        const char *const *at = options->keys;
        while (at && *at && !name_is(dump->module, key, *at))
            at++;
        return at && *at;
    }
    const struct op_type *type = name == NONE ? NULL : op_type_find(dump->module, name);
    bool known = name == NONE;
    for (uint32_t i = 0; type && i < type->n_attrs && !known; i++)
        known = name_is(dump->module, key, type->attrs[i].name);
    for (uint32_t i = 0; type && i < type->n_graphs && !known; i++)
        known = name_is(dump->module, key, type->graphs[i].attr);
    return known;
}

bool dump_keeps(struct dump *dump, uint32_t type, const struct attr *attr)
{
    /* Contents of a constant, and graphs that the op calls, are parts of the graph. */
    const struct attr_value *value = &attr->value;
    if (value->kind == ATTR_LIST && value->count)
        value = &dump->module->attr_values.at[value->first];
    return find_key(dump, attr->key).own || is_kept(dump, type, attr->key) ||
           value->kind == ATTR_SYMBOL || (attr->key == W_value && dump_is_constant(dump, type));
}

bool dump_wants(struct dump *dump, const struct dump_draft *draft, uint32_t key)
{
    uint32_t type = draft->node.type;
    struct key found = find_key(dump, key);
    return found.meaning != MEANS_NOTHING || found.own || draft->node.dialect != DIALECT_GE ||
           is_kept(dump, type, key) || (key == W_value && dump_is_constant(dump, type));
}

void dump_sort_attrs(struct dump *dump, struct dump_draft *draft)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < draft->attrs.count; i++) {
        struct attr attr = draft->attrs.at[i];
        struct key key = find_key(dump, attr.key);
        if (key.meaning != MEANS_NOTHING) {
            bool fits = attr.value.kind == ATTR_STRING;
            uint32_t string = fits ? attr.value.id : NONE;
            int64_t number = attr.value.kind == ATTR_INT ? attr.value.i : INT64_MAX;
            struct dump_node *node = &draft->node;
            switch (key.meaning) {
            case MEANS_SCOPE: node->scope = string; break;
            case MEANS_OPTIONS: node->options = string; break;
            case MEANS_STREAM: node->stream = string; break;
            default:
                if (fits) { /* as TorchAir writes numbers */
                    const struct intern_name *digits = &dump->module->names.names[string];
                    if (!decimal_integer(digits->text, digits->text + digits->size, &number))
                        number = INT64_MAX;
                }
                fits = number >= -1024 && number <= 1024;
                node->priority = fits ? (int32_t)number : node->priority;
            }
            if (!fits)
                dump_drop(dump, attr.loc, "the attribute '%.*s', whose value is of another kind",
                          NAME(dump->module, attr.key));
            continue;
        }
        if (draft->node.role == DUMP_PARAM && name_is(dump->module, attr.key, "index"))
            continue; /* the order of the parameters says it */
        if (draft->node.dialect != DIALECT_GE || dump_keeps(dump, draft->node.type, &attr))
            draft->attrs.at[kept++] = attr;
    }
    draft->attrs.count = kept;
}

void dump_report_keys(struct dump *dump)
{
    struct module *module = dump->module;
    for (const char *const *at = dump->options->keys; at && *at; at++) {
        struct suggest suggest = {.wanted = *at, .wanted_size = strlen(*at)};
        uint32_t id = intern_find(&module->names, *at, strlen(*at));
        if (id != NONE && id_map_find(&dump->keys, id) != NONE)
            continue;
        for (uint32_t i = id_map_next(&dump->keys, 0); i != NONE;
             i = id_map_next(&dump->keys, i + 1))
            suggest_offer(&suggest, module->names.names[i].text, module->names.names[i].size);
        diag_at(dump->diags, DIAG_idle_key, no_span, "--keep-attrs: no op has the attribute '%s'",
                *at);
        diag_suggest(dump->diags, &suggest);
    }
}
