#include "frontend/import/dump/dump.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/import/dump/links.h"
#include "frontend/import/dump/maker.h"
#include "frontend/import/dump/marks.h"
#include "ir/core/attr.h"
#include "ir/core/calls.h"
#include "ir/core/kernel_source.h"
#include "ir/core/module.h"
#include "ir/core/operands.h"
#include "ir/optypes/op_types.h"
#include "ir/shapes/gears.h"
#include "ir/verify/verify.h"

/* -------------------------------------------------------------------- sample kernels ---- */

/* Whether the sample kernel takes the op's operands, in whatever dtypes. */
static bool operands_fit(const struct library_kernel *kernel, const struct module *module,
                         const struct graph *graph, const struct op *op)
{
    uint32_t results = op_tensor_results(module, graph, op), count = 0;
    for (uint32_t i = 0; i < kernel->n_params; i++) {
        count += strcmp(kernel->params[i], "workspace") && strcmp(kernel->params[i], "tiling");
        if (kernel->presences[i] == PARAM_REPEATED)
            results = 1;
    }
    if (results > count)
        return false;
    uint32_t operands = count - results, places = op_n_given(graph, op, operands);
    for (uint32_t i = 0; i < operands && places <= operands; i++) {
        enum operand_kind kind = i < places ? op_operand(graph, op, i).kind : OPERAND_NONE;
        char presence = kernel->presences[i];
        bool listed = presence == PARAM_LISTED || presence == PARAM_LISTED_OPTIONAL;
        bool absent = kind == OPERAND_NONE && presence == PARAM_OPTIONAL;
        if (listed ? kind != OPERAND_LIST : kind != OPERAND_VALUE && !absent)
            return false;
    }
    return places <= operands;
}

/* ----------------------------------------------------------------------------- stubs ---- */

/* Of an op with more operands no answer is kept. */
enum { KEYED_MOST = 8 };

struct stubs {
    struct dump *dump;
    struct module *module;
    struct id_map kernels; /* by op type: the name of its stub */
    struct text key;       /* of the op at hand: what a sample kernel takes or refuses it by */
    struct intern keys;
    struct id_map fits; /* by key: whether a sample kernel takes such ops */
    struct arena arena;
};

static void add_to_key(struct stubs *stubs, uint32_t part)
{
    text_bytes(&stubs->key, (const char *)&part, sizeof part);
}

/* The type of an op, those of its operands and results, which operands are one value, and its
 * attributes. */
static uint32_t key_of(struct stubs *stubs, const struct graph *graph, const struct op *op)
{
    const uint32_t *operands = op_operands(graph, op);
    const struct attr *attrs = stubs->module->attrs.at + op->attrs.first;
    stubs->key.size = 0;
    add_to_key(stubs, op->type);
    add_to_key(stubs, op->operands.count);
    add_to_key(stubs, op->attrs.count);
    for (uint32_t i = 0, same = 0; i < op->operands.count; i++, same = 0) {
        while (operands[same] != operands[i])
            same++;
        add_to_key(stubs, same);
        add_to_key(stubs, graph->values.at[operands[i]].type);
    }
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        add_to_key(stubs, attrs[i].key);
        add_to_key(stubs, attrs[i].value.kind);
        add_to_key(stubs, attrs[i].value.count);
        text_bytes(&stubs->key, (const char *)&attrs[i].value.i, sizeof attrs[i].value.i);
    }
    for (uint32_t i = 0; i < op->results.count; i++)
        add_to_key(stubs, graph->values.at[op->results.first + i].type);
    return intern_copy(&stubs->keys, stubs->key.at, stubs->key.size);
}

/* Whether there is a sample kernel that takes the op. */
static bool has_sample(struct stubs *stubs, const struct graph *graph, const struct op *op)
{
    struct dump *dump = stubs->dump;
    struct kernel_source *library = dump->options->library;
    uint32_t unkeyed = NONE;
    if (!library)
        return false;
    uint32_t *fits = op->clauses || op->operands.count > KEYED_MOST
                         ? &unkeyed
                         : id_map_at(&stubs->fits, key_of(stubs, graph, op));
    if (*fits != NONE)
        return *fits;
    const struct library_kernel *kernel =
        library->find(library, name_text(stubs->module, op->type, &stubs->arena), false);
    arena_clear(&stubs->arena);
    *fits = kernel && !attr_flag(stubs->module, op->attrs, W__unchecked) &&
            operands_fit(kernel, stubs->module, graph, op);
    if (*fits && library->check) {
        struct diags unheard;
        diags_init(&unheard, dump->source, NULL);
        *fits = library->check(stubs->module, graph, op, &unheard);
        diags_free(&unheard);
    }
    return *fits;
}

/* A remark for the first op of a stub, unless its type is unknown, or it contradicts its type. */
static void bind(struct stubs *stubs, struct op *op)
{
    uint32_t *kernel = id_map_at(&stubs->kernels, op->type);
    if (*kernel == NONE) {
        *kernel = stub_kernel_declare(stubs->module, op->type);
        if (stubs->dump->options->library && op_type_find(stubs->module, op->type) &&
            !attr_flag(stubs->module, op->attrs, W__unchecked))
            diag_at(stubs->dump->diags, DIAG_no_sample_kernel,
                    source_token(stubs->dump->source, op->loc),
                    "%.*s gets a stub: no sample kernel takes these operands",
                    NAME(stubs->module, op->type));
    }
    op->kernel = *kernel;
}

/* The first combination of the graph's gears decides which ops have sample kernels: gives its
 * values their types there. Returns the values' own types, in the dump's arena. */
static uint32_t *bind_gears(struct stubs *stubs, struct graph *graph)
{
    struct module *module = stubs->module;
    uint32_t count = graph->values.count;
    int64_t *row = arena_alloc(&stubs->dump->arena, graph->gears.count * sizeof *row);
    uint32_t *types = arena_alloc(&stubs->dump->arena, count * sizeof *types);
    for (uint32_t i = 0; i < graph->gears.count; i++)
        row[i] = graph->gear_values.at[graph->gears.at[i].values.first];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = types[i] = graph->values.at[i].type;
        int64_t dims[MAX_RANK];
        if (id == NONE || module->types.at[id].rank > MAX_RANK)
            continue;
        struct type type = module->types.at[id];
        for (uint32_t d = 0; d < type.rank; d++)
            dims[d] = gear_row_dim(module, graph, row, type_dims(module, id)[d]);
        graph->values.at[i].type =
            module_type(module, (enum dtype)type.dtype, type.format, dims, type.rank);
    }
    return types;
}

/* Declares a stub kernel for each op type that needs a kernel and has no sample kernel that fits,
 * and binds its ops to it: as large as the target, for the cores that such ops run on. */
static void dump_add_stubs(struct dump *dump)
{
    struct stubs stubs = {.dump = dump, .module = dump->module};
    for (uint32_t g = 0; g < dump->module->graphs.count; g++) {
        struct graph *graph = &dump->module->graphs.at[g];
        const uint32_t *types = graph->gears.count ? bind_gears(&stubs, graph) : NULL;
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            struct op *op = &graph->ops.at[i];
            /* Passive ops execute nothing, views neither, and those that call graphs are no
             * kernels. */
            const struct op_type *type = op_type_find(dump->module, op->type);
            bool known = type && !attr_flag(dump->module, op->attrs, W__unchecked);
            if (op->kernel == NONE && op_call_kind(op) == CALL_NONE &&
                !(known && (type->passive || type->view)) && !has_sample(&stubs, graph, op))
                bind(&stubs, op);
        }
        for (uint32_t i = 0; types && i < graph->values.count; i++)
            graph->values.at[i].type = types[i];
    }
    struct kernel_source *library = dump->options->library;
    if (library && library->failed)
        diag_fault(dump->diags, DIAG_file, &library->fault);
    /* In the text kernels precede the graphs whose ops they are of. */
    struct module *module = dump->module;
    uint64_t *order = mem_calloc(module->order.count + 1, sizeof *order);
    uint32_t n = 0;
    for (int graphs = 0; graphs < 2; graphs++)
        for (uint32_t i = 0; i < module->order.count; i++)
            if ((order_kind(module->order.at[i]) == SYMBOL_GRAPH) == graphs)
                order[n++] = module->order.at[i];
    if (n)
        memcpy(module->order.at, order, n * sizeof *order);
    mem_free(order);
    text_free(&stubs.key);
    intern_free(&stubs.keys);
    id_map_free(&stubs.fits);
    arena_free(&stubs.arena);
    id_map_free(&stubs.kernels);
}

/* ----------------------------------------------------------------------- parameters ---- */

static uint32_t add_param(struct dump_maker *maker, uint32_t name, uint32_t type, uint32_t loc,
                          struct range attrs)
{
    vec_push(&maker->out->params, (struct param){loc, attrs});
    maker->out->n_params++;
    return graph_add_value(maker->out, maker_name(maker, name), maker_type(maker, type), DEF_PARAM);
}

/* A parameter that takes something, or gives several things, stays an op. */
static bool is_param(const struct dump_maker *maker, uint32_t n)
{
    const struct dump_graph *graph = maker_graph(maker);
    const struct dump_node *node = &graph->nodes.at[n];
    if (node->role != DUMP_PARAM || maker->links.n_outputs[n] > 1)
        return false;
    for (uint32_t i = 0; i < node->inputs.count; i++)
        if (graph->inputs.at[node->inputs.first + i].kind != DUMP_ABSENT)
            return false;
    return true;
}

/* A node, and where it belongs among its like. */
struct placed {
    int64_t index;
    uint32_t node;
};

struct places {
    struct placed *at;
    uint32_t count, capacity;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* By their indices, where all have one. */
static void sort_places(struct places *places)
{
    for (uint32_t i = 0; i < places->count; i++)
        if (places->at[i].index < 0)
            return;
    if (places->count)
        qsort(places->at, places->count, sizeof *places->at, by_place);
}

/* Those who call the graph give it parameters that none of its nodes is for. */
static void fill_params(struct dump_maker *maker, int64_t end)
{
    uint32_t wanted = maker->n_args[maker->index];
    while (maker->out->n_params < wanted && maker->out->n_params < end)
        add_param(maker, module_name(maker->module, "unused"), NONE, maker_graph(maker)->loc,
                  (struct range){0, 0});
}

static void add_params(struct dump_maker *maker)
{
    const struct dump_graph *graph = maker_graph(maker);
    struct places places = {NULL, 0, 0};
    for (uint32_t n = 0; n < graph->nodes.count; n++)
        if (is_param(maker, n))
            vec_push(&places, (struct placed){graph->nodes.at[n].index, n});
    sort_places(&places);
    for (uint32_t i = 0; i < places.count; i++) {
        fill_params(maker, places.at[i].index);
        const struct dump_node *node = &graph->nodes.at[places.at[i].node];
        uint32_t type = node->outputs.count ? graph->outputs.at[node->outputs.first].type : NONE;
        uint32_t name = node->name == NONE ? node->type : node->name;
        uint32_t value = add_param(maker, name, type, node->loc, node->attrs);
        maker_give(maker, places.at[i].node, (struct range){value, 1});
    }
    vec_free(&places);
    for (uint32_t i = 0; i < graph->params.count; i++) {
        const struct dump_param *param = &graph->params.at[i];
        vec_push(&maker->params,
                 add_param(maker, param->name, param->type, param->loc, (struct range){0, 0}));
    }
    fill_params(maker, INT64_MAX);
}

/* -------------------------------------------------------------------------- returns ---- */

static void add_return(struct dump_maker *maker, uint32_t value)
{
    if (value == NONE)
        return;
    vec_push(&maker->out->returns, value);
    vec_push(&maker->out->result_types, maker->out->values.at[value].type);
}

static void add_returns(struct dump_maker *maker)
{
    const struct dump_graph *graph = maker_graph(maker);
    struct places places = {NULL, 0, 0};
    for (uint32_t n = 0; n < graph->nodes.count; n++)
        if (graph->nodes.at[n].role == DUMP_RETURN)
            vec_push(&places, (struct placed){graph->nodes.at[n].index, n});
    sort_places(&places);
    for (uint32_t i = 0; i < places.count; i++) {
        struct range inputs = graph->nodes.at[places.at[i].node].inputs;
        for (uint32_t k = inputs.first; k < inputs.first + inputs.count; k++)
            if (graph->inputs.at[k].kind != DUMP_CONTROL)
                add_return(maker, maker_value(maker, &maker->links.inputs[k]));
    }
    for (uint32_t i = 0; places.count == 0 && i < graph->returns.count; i++)
        add_return(maker, maker_value(maker, &maker->links.returns[i]));
    /* Of an open graph, what nothing takes. */
    bool open = graph->open && places.count == 0 && graph->returns.count == 0;
    for (uint32_t i = 0; open && i < graph->nodes.count; i++) {
        uint32_t n = maker->order[i];
        struct range outputs = maker->outputs[n];
        for (uint32_t k = 0;
             k < outputs.count && !(maker->links.used[n] & 1) && k < maker->links.n_outputs[n]; k++)
            add_return(maker, maker->given.at[outputs.first + k]);
    }
    maker->out->return_loc = maker->out->returns.count ? graph->loc : NONE;
    vec_free(&places);
}

/* --------------------------------------------------------------------------- graphs ---- */

/* Outputs that the dump does not declare: as many as the type has at least, and of nodes that call
 * graphs, as many as these return. */
static void complete_outputs(struct dump_maker *maker)
{
    const struct dump_graph *graph = maker_graph(maker);
    for (uint32_t n = 0; n < graph->nodes.count; n++) {
        const struct dump_node *node = &graph->nodes.at[n];
        uint32_t *count = &maker->links.n_outputs[n];
        bool is_ge = node->dialect == DIALECT_GE && node->role != DUMP_RETURN;
        const struct op_type *type =
            is_ge && *count == 0 ? op_type_find(maker->module, node->type) : NULL;
        while (type && *count < type->n_results &&
               type->slots[type->n_operands + *count].presence == OP_REQUIRED)
            ++*count;
        enum call_kind kind = op_call_kind(&(struct op){.type = node->type});
        for (uint32_t i = 0; kind != CALL_NONE && i < n_call_attrs; i++) {
            if (call_attrs[i].kind != kind || call_attrs[i].role == ROLE_CONDITION)
                continue;
            const struct attr *attr = attr_find(maker->module, node->attrs, call_attrs[i].key);
            uint32_t called = attr ? maker_first_graph(maker, &attr->value) : NONE;
            if (called != NONE && *count < maker->n_returns[called])
                *count = maker->n_returns[called];
        }
    }
}

/* A graph is not filled where names or circles are wrong. */
static void make_graph(struct dump_maker *maker, uint32_t index)
{
    const struct dump_graph *graph = &maker->dump->graphs.at[index];
    struct graph *out = maker->out = module_add_graph(maker->module, graph->name);
    maker->index = index;
    out->loc = out->end_loc = graph->loc;
    out->attrs = graph->attrs;
    maker->order = mem_calloc(graph->nodes.count + 1, sizeof *maker->order);
    maker->outputs = mem_calloc(graph->nodes.count + 1, sizeof *maker->outputs);
    maker->params.count = maker->given.count = maker->ordered.count = 0;
    maker->scope_block = maker->stream_block = maker->scope = maker->stream = NONE;
    dump_names_next(&maker->taken);
    dump_names_next(&maker->told);
    dump_names_next(&maker->priority);
    dump_infer_begin(&maker->inference);
    dump_link_graph(&maker->linker, index, &maker->links);
    dump_sort(maker->dump, index, &maker->links, maker->order);
    if (!maker->dump->diags->counts[SEVERITY_ERROR]) {
        complete_outputs(maker);
        dump_link_writes(maker->dump, index, &maker->links);
        dump_mark_nodes(maker->dump, index, maker->order);
        add_params(maker);
        for (uint32_t i = 0; i < graph->nodes.count; i++) {
            uint32_t n = maker->order[i];
            const struct dump_node *node = &graph->nodes.at[n];
            bool wanted = node->role != DUMP_RETURN;
            /* What returns may follow ops whose results it does not take. */
            for (uint32_t k = 0; k < node->inputs.count && !wanted; k++)
                wanted = graph->inputs.at[node->inputs.first + k].kind == DUMP_CONTROL;
            if (wanted && !maker_made(maker, n))
                maker_add_node(maker, n);
        }
        maker_leave(maker);
        add_returns(maker);
        /* The names in the dimensions of the graph's values. */
        dump_names_next(&maker->taken);
        for (uint32_t v = 0; v < out->values.count; v++) {
            const struct type *type = &maker->module->types.at[out->values.at[v].type];
            for (uint32_t d = 0; d < type_n_dims(type); d++) {
                int64_t dim = maker->module->dims.at[type->dims + d];
                if (dim_is_gear(dim) && !dump_names_set(&maker->taken, dim_gear(dim), 0, 0))
                    vec_push(&out->dims, (struct free_dim){dim_gear(dim), out->loc});
            }
        }
    }
    dump_links_free(&maker->links);
    mem_free(maker->order);
    mem_free(maker->outputs);
}

/* ------------------------------------------------------------------------ arguments ---- */

/* How many values a graph returns. */
static uint32_t count_returns(const struct dump_graph *graph)
{
    uint32_t count = 0;
    bool node = false;
    for (uint32_t n = 0; n < graph->nodes.count; n++) {
        struct range inputs = graph->nodes.at[n].inputs;
        if (graph->nodes.at[n].role != DUMP_RETURN)
            continue;
        node = true;
        for (uint32_t i = inputs.first; i < inputs.first + inputs.count; i++)
            count +=
                graph->inputs.at[i].kind == DUMP_DATA || graph->inputs.at[i].kind == DUMP_VALUE;
    }
    return node ? count : graph->returns.count;
}

/* How many parameters the graphs that are called need: as many as they are given. */
static void count_args(struct dump_maker *maker)
{
    const struct dump *dump = maker->dump;
    struct vec_u32 called = {NULL, 0, 0};
    maker->n_args = mem_calloc(dump->graphs.count + 1, sizeof *maker->n_args);
    maker->n_returns = mem_calloc(dump->graphs.count + 1, sizeof *maker->n_returns);
    for (uint32_t g = 0; g < dump->graphs.count; g++) {
        const struct dump_graph *graph = &dump->graphs.at[g];
        maker->n_returns[g] = count_returns(graph);
        for (uint32_t n = 0; n < graph->nodes.count; n++) {
            const struct dump_node *node = &graph->nodes.at[n];
            enum call_kind kind = op_call_kind(&(struct op){.type = node->type});
            if (kind == CALL_NONE)
                continue;
            uint32_t args = call_info(kind)->own, lead = call_info(kind)->lead;
            for (uint32_t i = 0; i < node->inputs.count; i++)
                args += graph->inputs.at[node->inputs.first + i].kind != DUMP_CONTROL;
            args = args > lead ? args - lead : 0;
            called.count = 0;
            dump_named_graphs(dump, node, NONE, &called);
            for (uint32_t i = 0; i < called.count; i++)
                if (maker->n_args[called.at[i]] < args)
                    maker->n_args[called.at[i]] = args;
        }
    }
    vec_free(&called);
}

/* ------------------------------------------------------------------------- verified ---- */

/* Taking an op as it is may show more of others; but not for long. */
enum { ROUNDS = 3 };

/* Errors by their places. */
struct faults {
    struct id_map first; /* by where it begins: the index of the first one there */
    const struct diags *diags;
};

/* The first error at a place, or NULL. */
static const struct diag *fault_at(const struct faults *faults, uint32_t loc)
{
    uint32_t index = id_map_find(&faults->first, loc);
    return index == NONE ? NULL : &faults->diags->list.at[index];
}

/* False where that is done already. */
static bool take_as_is(struct dump *dump, struct op *op)
{
    struct module *module = dump->module;
    if (op_call_kind(op) != CALL_NONE) {
        struct attr_value type = {.kind = ATTR_STRING, .id = op->type};
        op->attrs = attrs_with(module, op->attrs,
                               (struct attr){module_name(module, "_type"), op->loc, type});
        op->type = module_name_printf(module, "_%.*s", NAME(module, op->type));
        return true;
    }
    if (attr_flag(module, op->attrs, W__unchecked))
        return false;
    struct attr_value yes = {.kind = ATTR_BOOL, .i = 1};
    op->attrs = attrs_with(module, op->attrs, (struct attr){W__unchecked, op->loc, yes});
    return true;
}

/* Attributes that do not mean here what they mean to skir get a key of their own. */
static const struct diag *settle_attrs(struct dump *dump, const struct op *op,
                                       const struct faults *faults)
{
    const struct diag *found = NULL;
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        struct attr *attr = &dump->module->attrs.at[op->attrs.first + i];
        const struct diag *fault = fault_at(faults, attr->loc);
        if (!fault || attr->loc == op->loc)
            continue;
        found = fault;
        if (op_call_kind(op) == CALL_NONE)
            attr->key = module_name_printf(dump->module, "_%.*s", NAME(dump->module, attr->key));
    }
    return found;
}

static bool settle_op(struct dump *dump, struct op *op, const struct faults *faults)
{
    uint32_t type = op->type;
    const struct diag *in_attrs = settle_attrs(dump, op, faults),
                      *fault = fault_at(faults, op->loc);
    if (!fault && in_attrs && op_call_kind(op) != CALL_NONE)
        fault = in_attrs;
    if (fault ? !take_as_is(dump, op) : !in_attrs)
        return false;
    diag_at(dump->diags, DIAG_taken_as_is, source_token(dump->source, op->loc),
            "taken as it is, not as what skir knows of %.*s: %s", NAME(dump->module, type),
            (fault ? fault : in_attrs)->text);
    return true;
}

/* Verifies the module. An op that contradicts what skir knows of its type is taken as the dump has
 * it: as one of which nothing is known (`_unchecked`), with a remark that says why; and one that
 * cannot call the graphs that it names, as one that calls none (`_If`). Errors that are left are
 * reported. */
static void settle_module(struct dump *dump)
{
    bool changed = true, said = true;
    for (int round = 0; changed && round < ROUNDS; round++) {
        struct diags diags;
        diags_init(&diags, dump->source, dump->source->path);
        diags.max_errors = 0;
        changed = false;
        if (!verify_module(dump->module, &diags)) {
            struct faults faults = {.diags = &diags};
            for (uint32_t i = diags.list.count; i-- > 0;)
                if (diags.list.at[i].severity == SEVERITY_ERROR)
                    id_map_set(&faults.first, diags.list.at[i].span.begin, i);
            for (uint32_t g = 0; g < dump->module->graphs.count; g++) {
                struct graph *graph = &dump->module->graphs.at[g];
                for (uint32_t i = 0; i < graph->ops.count; i++)
                    changed |= settle_op(dump, &graph->ops.at[i], &faults);
            }
            id_map_free(&faults.first);
        }
        said = diags.counts[SEVERITY_ERROR] + diags.counts[SEVERITY_WARNING] +
               diags.counts[SEVERITY_REMARK];
        diags_free(&diags);
    }
    if (changed || said)
        verify_module(dump->module, dump->diags);
}

/* ---------------------------------------------------------------------------- dumps ---- */

bool dump_finish(struct dump *dump)
{
    struct dump_maker maker = {.dump = dump,
                               .module = dump->module,
                               .linker = {.dump = dump},
                               .translator = {.module = dump->module}};
    dump_count_graphs(dump);
    if (dump->options->name && dump->graphs.count)
        dump->graphs.at[0].name = module_name(dump->module, dump->options->name);
    if (dump->options->marks && !dump_marks_read(dump->options->marks, dump))
        return false;
    dump_add_target(dump);
    dump_capture(&maker.linker);
    count_args(&maker);
    for (uint32_t i = 0; i < dump->graphs.count; i++)
        make_graph(&maker, i);
    dump_linker_free(&maker.linker);
    mem_free(maker.n_args);
    mem_free(maker.n_returns);
    vec_free(&maker.params);
    vec_free(&maker.given);
    vec_free(&maker.taken);
    vec_free(&maker.told);
    vec_free(&maker.priority);
    vec_free(&maker.values);
    vec_free(&maker.ordered);
    dump_inference_free(&maker.inference);
    translator_free(&maker.translator);
    vec_free(&maker.forms);
    vec_free(&maker.attrs);
    if (!dump->diags->counts[SEVERITY_ERROR])
        dump_add_gears(dump);
    if (!dump->diags->counts[SEVERITY_ERROR])
        settle_module(dump);
    if (!dump->diags->counts[SEVERITY_ERROR])
        dump_add_stubs(dump);
    dump_report_marks(dump);
    dump_report_keys(dump);
    return !dump->diags->counts[SEVERITY_ERROR];
}
