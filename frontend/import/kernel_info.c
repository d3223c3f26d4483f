/* Fusion requests: what the reference compiler is asked for, a list of compiled sub-kernels with
 * their streams and events, as JSON. */
#include "frontend/exchange.h"
#include "frontend/import/messages.h"
#include "frontend/import/sub_kernel.h"
#include "ir/optypes/op_types.h"
#include "ir/support/json_document.h"

/* Where a parameter of an op lies: an entry of its `memory`. */
struct request_place {
    uint32_t param; /* the word that its kernel has for it */
    struct span span;
    uint32_t buffer; /* name id, or NONE */
    int64_t offset, bytes;
    bool read_only;
};

/* An entry of op_list. */
struct request_op {
    struct span span;
    uint32_t json, object; /* name ids of paths, or NONE */
    struct span json_span;
    uint32_t object_loc;
    uint32_t stream; /* name id of its label; NONE: the default stream */
    bool dynamic;
    struct range send, recv; /* of the request's events */
    struct range places;     /* of the request's places */
    uint32_t sub;            /* index in the request's kernels */
};

struct request {
    struct dump *dump;
    struct module *module;
    struct json_document document;
    uint32_t options; /* name id, or NONE */
    uint32_t options_loc;
    VEC(struct request_op) ops;
    struct vec_u32 events; /* name ids */
    VEC(struct request_place) places;
    VEC(struct sub_kernel) kernels;
    struct id_map values;      /* by name: how many others were made of it */
    struct id_map kernel_uses; /* by name: how often it is called */
    struct graph *graph;
    struct text scratch; /* names that are being made: there are very many */
};

/* ------------------------------------------------------------------------- reading ---- */

/* The name that is in `scratch`. */
static uint32_t made_name(struct request *request)
{
    return intern_copy(&request->module->names, request->scratch.at, request->scratch.size);
}

/* The name of a number. */
static uint32_t number_name(struct request *request, int64_t number)
{
    request->scratch.size = 0;
    text_signed(&request->scratch, number);
    return made_name(request);
}

static void read_text(struct request *request, const cJSON *item, uint32_t *name)
{
    const char *text = json_as_text(&request->document, item);
    if (!text)
        return;
    source_add_token(request->dump->source, json_span(&request->document, item));
    *name = *text ? intern_copy(&request->module->names, text, strlen(text)) : NONE;
}

static void read_events(struct request *request, const cJSON *item, struct range *events)
{
    const cJSON *event;
    int64_t number;
    if (cJSON_IsNull(item))
        return;
    events->first = request->events.count;
    for (EACH_JSON(&request->document, event, item, cJSON_Array))
        if (json_as_integer(&request->document, event, 0, INT64_MAX, &number))
            vec_push(&request->events, number_name(request, number));
    events->count = request->events.count - events->first;
}

/* Which of two words a text is: 0, 1, or -1 after an error. `of` is what it says. */
static int read_choice(struct request *request, const cJSON *item, const char *of,
                       const char *const *words)
{
    const char *text = json_as_text(&request->document, item);
    for (int i = 0; text && i < 2; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    if (text)
        json_fail(&request->document, item, "%s is \"%s\" or \"%s\", not \"%s\"", of, words[0],
                  words[1], text);
    return -1;
}

static void drop_member(struct request *request, const cJSON *item, const char *whose)
{
    sub_kernel_check_key(&request->document, item);
    dump_drop(request->dump, json_key_span(&request->document, item).begin,
              "%s has \"%s\", which is not imported", whose, item->string);
}

/* Where the host has put what the op's slots point to: not the reference's, but skir's own. */
static void read_places(struct request *request, const cJSON *item, struct range *places)
{
    static const char *const accesses[] = {"read", "write"};
    struct json_document *document = &request->document;
    const cJSON *param, *member;
    places->first = request->places.count;
    for (EACH_JSON(document, param, item, cJSON_Object)) {
        struct request_place place = {
            .param = sub_kernel_word(request->module, param->string, strlen(param->string)),
            .span = json_key_span(document, param),
            .buffer = NONE,
            .offset = -1,
            .bytes = -1};
        for (EACH_JSON(document, member, param, cJSON_Object))
            if (json_is(member, "buffer"))
                read_text(request, member, &place.buffer);
            else if (json_is(member, "offset"))
                json_as_integer(document, member, 0, INT64_MAX, &place.offset);
            else if (json_is(member, "bytes"))
                json_as_integer(document, member, 0, INT64_MAX, &place.bytes);
            else if (json_is(member, "access"))
                place.read_only = read_choice(request, member, "an access", accesses) == 0;
            else
                drop_member(request, member, "the memory of a parameter");
        if (!document->failed && (place.offset < 0 || place.bytes < 0))
            json_fail_span(document, place.span, "the memory of a parameter has no \"%s\"",
                           place.offset < 0 ? "offset" : "bytes");
        vec_push(&request->places, place);
    }
    places->count = request->places.count - places->first;
}

static void read_op(struct request *request, const cJSON *item)
{
    static const char *const task_types[] = {"normal", "dynamic"};
    struct json_document *document = &request->document;
    const cJSON *member;
    int64_t number;
    struct request_op op = {.span = json_span(document, item),
                            .json = NONE,
                            .object = NONE,
                            .stream = NONE,
                            .sub = NONE};
    for (EACH_JSON(document, member, item, cJSON_Object)) {
        if (json_is(member, "json_path")) {
            op.json_span = json_span(document, member);
            if (!cJSON_IsNull(member))
                read_text(request, member, &op.json);
        } else if (json_is(member, "bin_path")) {
            op.object_loc = json_span(document, member).begin;
            if (!cJSON_IsNull(member))
                read_text(request, member, &op.object);
        } else if (json_is(member, "stream_id")) {
            if (json_as_integer(document, member, 0, UINT32_MAX, &number) && number != 0)
                op.stream = number_name(request, number);
        } else if (json_is(member, "task_type")) {
            op.dynamic = read_choice(request, member, "a task", task_types) > 0;
        } else if (json_is(member, "send_event_list")) {
            read_events(request, member, &op.send);
        } else if (json_is(member, "recv_event_list")) {
            read_events(request, member, &op.recv);
        } else if (json_is(member, "memory")) {
            read_places(request, member, &op.places);
        } else {
            drop_member(request, member, "an op of the request");
        }
    }
    if (op.json != NONE)
        vec_push(&request->ops, op);
    else if (!document->failed)
        dump_drop(request->dump, op.span.begin,
                  "an op of the request has no 'json_path': nothing says which kernel it is");
}

static bool read_request(struct request *request)
{
    struct json_document *document = &request->document;
    const cJSON *root, *item, *op;
    bool has_ops = false;
    if (!json_document_read(document, request->dump->source, 0, request->dump->diags))
        return false;
    root = document->root;
    for (EACH_JSON(document, item, root, cJSON_Object))
        if (json_is(item, "op_list")) {
            has_ops = true;
            for (EACH_JSON(document, op, item, cJSON_Array))
                read_op(request, op);
        } else if (json_is(item, "super_kernel_options")) {
            request->options_loc = json_span(document, item).begin;
            read_text(request, item, &request->options);
            if (request->options == NONE)
                continue;
            /* Some write the text in quotes of its own. */
            struct intern *names = &request->module->names;
            const struct intern_name *text = &names->names[request->options];
            if (text->size >= 2 && text->text[0] == '"' && text->text[text->size - 1] == '"')
                request->options =
                    text->size == 2 ? NONE : intern_copy(names, text->text + 1, text->size - 2);
        } else {
            drop_member(request, item, "the request");
        }
    if (!document->failed && !has_ops)
        json_fail(document, root, "this is no fusion request: it has no 'op_list'");
    else if (!document->failed && request->ops.count == 0)
        json_fail(document, root, "the request has no op with a 'json_path'");
    return !document->failed;
}

/* ------------------------------------------------------------------------- kernels ---- */

/* Memory is that of the kernel's parameters. */
static bool check_places(struct request *request, const struct request_op *op)
{
    const struct sub_kernel *sub = &request->kernels.at[op->sub];
    for (uint32_t i = op->places.first; i < op->places.first + op->places.count; i++) {
        const struct request_place *place = &request->places.at[i];
        uint32_t k = 0;
        while (k < sub->params.count && sub->params.at[k] != place->param)
            k++;
        if (k == sub->params.count && place->param != W_workspace)
            return json_fail_span(
                &request->document, place->span, "the kernel '%.*s' has no parameter '%.*s'",
                NAME(request->module, sub->kernel), NAME(request->module, place->param));
    }
    return true;
}

/* Ops with the same files are calls of one kernel. */
static bool read_kernels(struct request *request)
{
    struct dump *dump = request->dump;
    struct id_map known = {NULL, 0, 0};
    bool ok = true;
    for (uint32_t i = 0; i < request->ops.count; i++) {
        struct request_op *op = &request->ops.at[i];
        request->scratch.size = 0;
        text_unsigned(&request->scratch, (uint64_t)op->json << 32 | op->object);
        text_char(&request->scratch, op->dynamic ? 'd' : 'n');
        uint32_t *index = id_map_at(&known, made_name(request));
        if (*index == NONE) {
            const struct sub_kernel_source source = {op->json, op->object, op->json_span,
                                                     op->object_loc, op->dynamic};
            struct sub_kernel sub;
            *index = request->kernels.count;
            sub_kernel_read(dump, &source, &sub);
            vec_push(&request->kernels, sub);
        }
        op->sub = *index;
        ok = ok && request->kernels.at[op->sub].kernel != NONE && check_places(request, op);
    }
    id_map_free(&known);
    return ok;
}

/* --------------------------------------------------------------------------- graph ---- */

/* The name, or that with a number behind it, that no value has. */
static bool is_value(const void *user, uint32_t name)
{
    return id_map_find(user, name) != NONE;
}

static uint32_t value_name(struct request *request, uint32_t wanted)
{
    uint32_t last = id_map_find(&request->values, wanted), name = wanted;
    if (last != NONE) {
        name = module_free_name(request->module, wanted, ".",
                                (struct taken_names){is_value, &request->values}, &last);
        id_map_set(&request->values, wanted, last);
    }
    id_map_set(&request->values, name, 0);
    return name;
}

/* What the host puts into a slot is a parameter of the graph: nothing says who else has it. */
static struct range add_operands(struct request *request, const struct sub_kernel *sub,
                                 uint32_t use)
{
    struct module *module = request->module;
    struct graph *graph = request->graph;
    struct vec_u32 values = {NULL, 0, 0};
    uint32_t type = dump_no_type(request->dump);
    for (uint32_t i = 0; i < sub->params.count; i++) {
        struct intern_name kernel = module->names.names[sub->kernel];
        struct intern_name param = module->names.names[sub->params.at[i]];
        request->scratch.size = 0;
        text_bytes(&request->scratch, kernel.text, kernel.size);
        if (use) {
            text_char(&request->scratch, '_');
            text_unsigned(&request->scratch, use);
        }
        text_char(&request->scratch, '.');
        text_bytes(&request->scratch, param.text, param.size);
        uint32_t name = value_name(request, made_name(request));
        vec_push(&values, graph_add_value(graph, name, type, DEF_PARAM));
        vec_push(&graph->params, (struct param){.loc = NONE});
        graph->n_params++;
    }
    struct range operands = graph_add_refs(graph, values.at, values.count);
    vec_free(&values);
    return operands;
}

static uint32_t open_block(struct request *request, const struct block *block)
{
    uint32_t id = graph_add_block(request->graph, block);
    graph_add_item(request->graph, ITEM_OPEN, id);
    return id;
}

static const struct request_place *find_place(const struct request *request,
                                              const struct request_op *op, uint32_t param)
{
    for (uint32_t i = op->places.first; i < op->places.first + op->places.count; i++)
        if (request->places.at[i].param == param)
            return &request->places.at[i];
    return NULL;
}

static struct attr_value make_number(int64_t i)
{
    return (struct attr_value){.kind = ATTR_INT, .i = i};
}

/* `none` where there is none. */
static struct attr_value make_address(struct module *module, const struct request_place *place)
{
    struct attr_value parts[3];
    uint32_t count = 0;
    if (!place)
        return (struct attr_value){.kind = ATTR_WORD, .id = W_none};
    if (place->buffer != NONE)
        parts[count++] = (struct attr_value){.kind = ATTR_STRING, .id = place->buffer};
    parts[count++] = make_number(place->offset);
    parts[count++] = make_number(place->bytes);
    return list_value(module, parts, count);
}

static struct attr address_attr(struct request *request, const struct request_op *op,
                                const struct value_stack *operands)
{
    struct module *module = request->module;
    const struct request_place *workspace = find_place(request, op, W_workspace);
    struct attr lists[2] = {
        {W_operands, NONE, list_value(module, operands->at, operands->count)},
    };
    if (workspace) {
        struct attr_value address = make_address(module, workspace);
        lists[1] = (struct attr){W_workspace, NONE, list_value(module, &address, 1)};
    }
    struct range range = module_add_attrs(module, lists, 1 + (workspace != NULL));
    return (struct attr){
        W_address, NONE, {.kind = ATTR_DICT, .count = range.count, .first = range.first}};
}

/* Its operands are slots: what is known of others of the type does not hold of it. */
static struct range op_attrs(struct request *request, const struct request_op *op)
{
    uint32_t count = 0, type = request->kernels.at[op->sub].op_type;
    struct attr attrs[3];
    struct value_stack operands = {NULL, 0, 0}, written = {NULL, 0, 0};
    if (op_type_find(request->module, type))
        attrs[count++] = (struct attr){W__unchecked, NONE, {.kind = ATTR_BOOL, .i = 1}};
    if (op->places.count) {
        /* The addresses of the operands, and the numbers of those that the op may write. */
        const struct vec_u32 *params = &request->kernels.at[op->sub].params;
        for (uint32_t i = 0; i < params->count; i++) {
            const struct request_place *place = find_place(request, op, params->at[i]);
            struct attr_value address = make_address(request->module, place);
            vec_push(&operands, address);
            if (place && !place->read_only)
                vec_push(&written, make_number(i));
        }
        if (written.count)
            attrs[count++] = (struct attr){W_inplace, NONE,
                                           list_value(request->module, written.at, written.count)};
        attrs[count++] = address_attr(request, op, &operands);
    }
    vec_free(&operands);
    vec_free(&written);
    return module_add_attrs(request->module, attrs, count);
}

static void add_op(struct request *request, const struct request_op *op, uint32_t block,
                   struct range operands)
{
    struct graph *graph = request->graph;
    const struct sub_kernel *sub = &request->kernels.at[op->sub];
    struct clauses clauses = {.after = {0, 0}};
    if (op->send.count)
        clauses.send = graph_add_refs(graph, &request->events.at[op->send.first], op->send.count);
    if (op->recv.count)
        clauses.recv = graph_add_refs(graph, &request->events.at[op->recv.first], op->recv.count);
    struct op made = {.type = sub->op_type,
                      .loc = op->json_span.begin,
                      .block = block,
                      .operands = operands,
                      .results = {graph->values.count, 0},
                      .attrs = op_attrs(request, op),
                      .kernel = sub->kernel};
    if (clauses.send.count + clauses.recv.count) {
        made.clauses = graph->clauses.count;
        vec_push(&graph->clauses, clauses);
    }
    graph_add_item(graph, ITEM_OP, graph_add_op(graph, &made));
}

/* The ops in their order, in blocks of their streams. */
static void add_ops(struct request *request, uint32_t superkernel, const struct range *operands)
{
    uint32_t block = superkernel, stream = NONE;
    for (uint32_t i = 0; i < request->ops.count; i++) {
        const struct request_op *op = &request->ops.at[i];
        if (op->stream != stream && block != superkernel)
            graph_add_item(request->graph, ITEM_CLOSE, block);
        if (op->stream != stream)
            block = op->stream == NONE ? superkernel
                                       : open_block(request, &(struct block){.kind = BLOCK_STREAM,
                                                                             .name = op->stream,
                                                                             .parent = superkernel,
                                                                             .loc = NONE,
                                                                             .end_loc = NONE});
        stream = op->stream;
        add_op(request, op, block, operands[i]);
    }
    if (block != superkernel)
        graph_add_item(request->graph, ITEM_CLOSE, block);
}

static uint32_t make_graph(struct request *request)
{
    struct module *module = request->module;
    /* Names are those of one module; kernels have theirs already. */
    const char *wanted = request->dump->options->name, *path = request->dump->source->path;
    const char *slash = strrchr(path, '/'), *dot;
    path = slash ? slash + 1 : path;
    dot = strrchr(path, '.');
    size_t size = dot && dot > path ? (size_t)(dot - path) : strlen(path);
    uint32_t name = wanted ? module_name(module, wanted)
                    : size ? intern_copy(&module->names, path, size)
                           : module_name(module, "request");
    name = module_free_symbol(module, name, ".");
    uint32_t graph = module_name_printf(module, "%.*s.graph", NAME(module, name));
    struct range *operands = mem_calloc(request->ops.count, sizeof *operands);
    request->graph = module_add_graph(module, module_free_symbol(module, graph, "."));
    for (uint32_t i = 0; i < request->ops.count; i++) {
        const struct sub_kernel *sub = &request->kernels.at[request->ops.at[i].sub];
        uint32_t *uses = id_map_at(&request->kernel_uses, sub->kernel);
        *uses = *uses == NONE ? 0 : *uses + 1;
        operands[i] = add_operands(request, sub, *uses);
    }
    struct attr attrs[3] = {{W_fixed_slots, NONE, {.kind = ATTR_BOOL, .i = 1}}};
    uint32_t count = 1, stream = request->ops.at[0].stream;
    if (request->options != NONE)
        attrs[count++] = (struct attr){
            W_options, request->options_loc, {.kind = ATTR_STRING, .id = request->options}};
    if (stream != NONE)
        attrs[count++] = (struct attr){W_stream, NONE, {.kind = ATTR_STRING, .id = stream}};
    uint32_t superkernel =
        open_block(request, &(struct block){.kind = BLOCK_SUPERKERNEL,
                                            .name = name,
                                            .parent = NONE,
                                            .loc = NONE,
                                            .end_loc = NONE,
                                            .attrs = module_add_attrs(module, attrs, count)});
    add_ops(request, superkernel, operands);
    graph_add_item(request->graph, ITEM_CLOSE, superkernel);
    mem_free(operands);
    return name;
}

/* -------------------------------------------------------------------------- driving ---- */

bool exchange_read_kernel_info(struct dump *dump)
{
    struct request request = {.dump = dump, .module = dump->module, .options = NONE};
    if (!dump->source->reader)
        dump->source->reader = source_file_reader();
    dump_add_target(dump);
    bool ok = read_request(&request) && read_kernels(&request);
    if (ok) {
        /* Edges between ops of the request are its events. */
        struct dump_count count = {.name = make_graph(&request), .nodes = request.ops.count};
        struct id_map sent = {NULL, 0, 0};
        for (uint32_t i = 0; i < request.ops.count; i++)
            for (uint32_t n = 0; n < request.ops.at[i].send.count; n++)
                id_map_set(&sent, request.events.at[request.ops.at[i].send.first + n], 1);
        for (uint32_t i = 0; i < request.ops.count; i++)
            for (uint32_t n = 0; n < request.ops.at[i].recv.count; n++)
                count.control_edges +=
                    id_map_find(&sent, request.events.at[request.ops.at[i].recv.first + n]) != NONE;
        vec_push(&dump->counts, count);
        id_map_free(&sent);
    }
    for (uint32_t i = 0; i < request.kernels.count; i++)
        vec_free(&request.kernels.at[i].params);
    vec_free(&request.kernels);
    vec_free(&request.ops);
    vec_free(&request.events);
    vec_free(&request.places);
    text_free(&request.scratch);
    id_map_free(&request.values);
    id_map_free(&request.kernel_uses);
    json_document_free(&request.document);
    return ok;
}

bool exchange_looks_kernel_info(const struct source *source)
{
    static const char *const keys[] = {"op_list", NULL};
    return json_has_key(source, keys);
}
