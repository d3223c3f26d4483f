/* What the rests of nodes and graphs say, in the graph that is made. */
#include "frontend/exchange/dump/rest.h"
#include "ir/attr_rows.h"
#include "ir/syntax/spelling.h"

static const struct attr *find(const struct dump_maker *maker, struct range rest, const char *key,
                               enum attr_kind kind)
{
    return dump_rest_find(maker->dump, rest, key, kind);
}

static const struct attr_value *element(const struct dump_maker *maker, const struct attr *list,
                                        uint32_t n, enum attr_kind kind)
{
    return dump_rest_element(maker->dump, list, n, kind);
}

static struct range dict(const struct attr *attr)
{
    return attr ? (struct range){attr->value.first, attr->value.count} : (struct range){0, 0};
}

/* -------------------------------------------------------------------------- results ---- */

uint32_t maker_rest_name(struct dump_maker *maker, const struct dump_node *node, uint32_t output)
{
    const struct attr_value *name =
        element(maker, find(maker, node->rest, "results", ATTR_LIST), output, ATTR_STRING);
    return name ? name->id : NONE;
}

uint32_t maker_rest_type(struct dump_maker *maker, struct range rest, uint32_t output)
{
    const struct attr_value *type =
        element(maker, find(maker, rest, "types", ATTR_LIST), output, ATTR_TYPE);
    return type ? type->id : NONE;
}

uint32_t maker_rest_token(struct dump_maker *maker, const struct dump_node *node)
{
    const struct attr *token = find(maker, node->rest, "token", ATTR_STRING);
    return token ? token->value.id : NONE;
}

bool maker_rest_unnamed(const struct dump_maker *maker, const struct dump_node *node)
{
    return find(maker, node->rest, "unnamed", ATTR_BOOL) != NULL;
}

/* ------------------------------------------------------------------------- operands ---- */

/* One operand: its form, without a place. False where it is none. */
static bool read_operand(const struct dump_maker *maker, const struct attr_value *said,
                         struct operand *operand)
{
    *operand = (struct operand){OPERAND_VALUE, NONE, {0, 1}};
    if (said->kind == ATTR_DICT && said->count == 1) {
        const struct attr *labelled = &maker->module->attrs.at[said->first];
        operand->label = labelled->key;
        said = &labelled->value;
    }
    if (said->kind == ATTR_INT && said->i >= 0 && said->i < INT32_MAX) {
        operand->kind = OPERAND_LIST;
        operand->values.count = (uint32_t)said->i;
        return true;
    }
    if (said->kind == ATTR_WORD && said->id == W_none) {
        operand->kind = OPERAND_NONE;
        operand->values.count = 0;
        return true;
    }
    return said->kind == ATTR_WORD && name_is(maker->module, said->id, "value");
}

bool maker_rest_operands(struct dump_maker *maker, const struct dump_node *node)
{
    const struct attr *list = find(maker, node->rest, "operands", ATTR_LIST);
    uint64_t first = 0;
    if (!list)
        return false;
    uint32_t count = maker->forms.count;
    for (uint32_t i = 0; i < list->value.count; i++) {
        struct operand operand;
        if (!read_operand(maker, &maker->module->attr_values.at[list->value.first + i], &operand))
            break;
        operand.values.first = (uint32_t)first;
        first += operand.values.count;
        vec_push(&maker->forms, operand);
    }
    if (first != maker->values.count || maker->forms.count - count != list->value.count) {
        maker->forms.count = count;
        return false;
    }
    memmove(maker->forms.at, maker->forms.at + count, list->value.count * sizeof *maker->forms.at);
    maker->forms.count = list->value.count;
    return true;
}

/* -------------------------------------------------------------------------- clauses ---- */

static struct range take_events(struct dump_maker *maker, const struct attr *list)
{
    uint32_t first = maker->out->refs.count;
    for (uint32_t i = 0; i < list->value.count; i++) {
        const struct attr_value *event = element(maker, list, i, ATTR_STRING);
        if (event)
            vec_push(&maker->out->refs, event->id);
    }
    return (struct range){first, maker->out->refs.count - first};
}

void maker_rest_clauses(struct dump_maker *maker, const struct dump_node *node,
                        struct clauses *clauses)
{
    const struct attr *after = find(maker, node->rest, "after", ATTR_LIST);
    const struct attr *send = find(maker, node->rest, "send", ATTR_LIST);
    const struct attr *recv = find(maker, node->rest, "recv", ATTR_LIST);
    for (uint32_t i = 0; after && i < clauses->after.count; i++) {
        const struct attr_value *output = element(maker, after, i, ATTR_INT);
        uint32_t *value = &maker->out->refs.at[clauses->after.first + i];
        uint32_t def = maker->out->values.at[*value].def;
        if (!output || def == DEF_PARAM)
            continue;
        if (output->i > 0 && output->i < maker->out->ops.at[def].results.count)
            *value += (uint32_t)output->i;
    }
    if (send)
        clauses->send = take_events(maker, send);
    if (recv)
        clauses->recv = take_events(maker, recv);
}

uint32_t maker_rest_kernel(struct dump_maker *maker, const struct dump_node *node)
{
    const struct attr *via = find(maker, node->rest, "via", ATTR_SYMBOL);
    return via ? via->value.id : NONE;
}

/* ----------------------------------------------------------------------- attributes ---- */

/* Graphs of the dump that a value names get the names that they have in the module. */
static void rename_graphs(struct dump_maker *maker, struct attr_value *value)
{
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        rename_graphs(maker, &maker->module->attr_values.at[value->first + i]);
    uint32_t graph = maker_named_graph(maker, value);
    if (graph != NONE)
        value->id = maker->dump->graphs.at[graph].name;
}

static bool has_key(const struct dump_maker *maker, struct range attrs, uint32_t key)
{
    return attr_find(maker->module, attrs, key) != NULL;
}

bool maker_rest_attrs(struct dump_maker *maker, const struct dump_node *node, struct range rest)
{
    struct range attrs = dict(find(maker, rest, "attrs", ATTR_DICT));
    uint32_t kept = 0;
    if (attrs.count == 0)
        return false;
    for (uint32_t i = 0; i < maker->attrs.count; i++)
        if (!has_key(maker, attrs, maker->attrs.at[i].key))
            maker->attrs.at[kept++] = maker->attrs.at[i];
    maker->attrs.count = kept;
    for (uint32_t i = 0; i < attrs.count; i++) {
        struct attr attr = maker->module->attrs.at[attrs.first + i];
        rename_graphs(maker, &attr.value);
        attr.loc = node ? node->loc : maker_graph(maker)->loc;
        if (!node || dump_keeps(maker->dump, node->type, &attr))
            vec_push(&maker->attrs, attr);
    }
    return true;
}

struct range maker_rest_node_attrs(struct dump_maker *maker, const struct dump_node *node)
{
    maker->attrs.count = 0;
    for (uint32_t i = 0; i < node->attrs.count; i++)
        vec_push(&maker->attrs, maker->module->attrs.at[node->attrs.first + i]);
    if (node->rest.count == 0 || !maker_rest_attrs(maker, NULL, node->rest))
        return node->attrs;
    return module_add_attrs(maker->module, maker->attrs.at, maker->attrs.count);
}

/* --------------------------------------------------------------------------- blocks ---- */

/* Blocks nest so deep at most; deeper ones are not those of a module that was exported. */
enum { MAX_DEPTH = 1024 };

/* The rest of a block of the graph, by its index; NULL where there is none. */
static const struct attr_value *block_at(const struct dump_maker *maker, int64_t index)
{
    const struct attr *blocks = find(maker, maker_graph(maker)->rest, "blocks", ATTR_LIST);
    return index < 0 || index > UINT32_MAX ? NULL
                                           : element(maker, blocks, (uint32_t)index, ATTR_DICT);
}

static struct range block_rest(const struct attr_value *block)
{
    return (struct range){block->first, block->count};
}

/* A block stands in one with a smaller index. */
static int64_t parent_of(const struct dump_maker *maker, int64_t index)
{
    const struct attr_value *block = block_at(maker, index);
    const struct attr *in = block ? find(maker, block_rest(block), "in", ATTR_INT) : NULL;
    return in && in->value.i >= 0 && in->value.i < index ? in->value.i : -1;
}

static enum block_kind kind_of(const struct dump_maker *maker, struct range rest)
{
    const struct attr *kind = find(maker, rest, "kind", ATTR_WORD);
    uint32_t word = kind ? kind->value.id : NONE;
    return word == W_stream        ? BLOCK_STREAM
           : word == W_superkernel ? BLOCK_SUPERKERNEL
           : word == W_none        ? BLOCK_SCOPE_NONE
                                   : BLOCK_SCOPE;
}

static uint32_t name_of(struct dump_maker *maker, struct range rest)
{
    const struct attr *name = find(maker, rest, "name", ATTR_STRING);
    return name ? name->value.id : module_name(maker->module, "_");
}

/* The attributes of a super kernel stand where it begins. */
static struct range superkernel_attrs(struct dump_maker *maker, struct range rest)
{
    uint32_t whole = id_map_find(&maker->superkernels, name_of(maker, rest));
    return whole == NONE ? dict(find(maker, rest, "attrs", ATTR_DICT))
                         : maker->out->blocks.at[whole].attrs;
}

/* What the blocks from `index` outwards say of scope and stream. */
struct block_says {
    bool scoped, streamed;
    uint32_t scope, stream; /* NONE: none; of `scope none` the word */
};

static struct block_says read_says(struct dump_maker *maker, int64_t index)
{
    struct block_says says = {false, false, NONE, NONE};
    for (int depth = 0; index >= 0 && depth < MAX_DEPTH; index = parent_of(maker, index), depth++) {
        const struct attr_value *block = block_at(maker, index);
        if (!block)
            break;
        struct range rest = block_rest(block);
        enum block_kind kind = kind_of(maker, rest);
        if (kind == BLOCK_STREAM && !says.streamed) {
            says.streamed = true;
            says.stream = stream_label(name_of(maker, rest));
        } else if (kind != BLOCK_STREAM && !says.scoped) {
            says.scoped = true;
            says.scope = kind == BLOCK_SCOPE_NONE ? module_name(maker->module, DUMP_SCOPE_NONE)
                         : kind == BLOCK_SCOPE
                             ? name_of(maker, rest)
                             : attr_symbol(maker->module, superkernel_attrs(maker, rest), W_scope);
        }
    }
    return says;
}

static bool agrees(struct dump_maker *maker, const struct dump_node *node, int64_t index)
{
    struct block_says says = read_says(maker, index);
    uint32_t stream = node->stream == NONE ? NONE : stream_label(node->stream);
    return says.scope == node->scope && says.stream == stream;
}

/* A name that a super kernel has already is that of one which goes on. */
static void find_whole(struct dump_maker *maker, struct block *block)
{
    uint32_t *whole = id_map_at(&maker->superkernels, block->name);
    if (*whole == NONE)
        *whole = maker->out->blocks.count;
    else
        *block = (struct block){.kind = BLOCK_SUPERKERNEL_REST,
                                .name = NONE,
                                .whole = *whole,
                                .parent = block->parent,
                                .loc = block->loc,
                                .end_loc = NONE,
                                .attrs = attrs_are_private(maker->module, block->attrs)
                                             ? block->attrs
                                             : (struct range){0, 0}};
}

static void open_block(struct dump_maker *maker, int64_t index)
{
    struct range rest = block_rest(block_at(maker, index));
    const struct attr *send = find(maker, rest, "send", ATTR_LIST);
    const struct attr *recv = find(maker, rest, "recv", ATTR_LIST);
    struct block block = {.kind = kind_of(maker, rest),
                          .name = NONE,
                          .parent = maker->rest_blocks.count
                                        ? maker->rest_blocks.at[maker->rest_blocks.count - 1].id
                                        : NONE,
                          .loc = maker_graph(maker)->loc,
                          .end_loc = NONE,
                          .attrs = dict(find(maker, rest, "attrs", ATTR_DICT))};
    if (block.kind != BLOCK_SCOPE_NONE)
        block.name = name_of(maker, rest);
    if (send)
        block.send = take_events(maker, send);
    if (recv)
        block.recv = take_events(maker, recv);
    if (block.kind == BLOCK_SUPERKERNEL)
        find_whole(maker, &block);
    uint32_t id = graph_add_block(maker->out, &block);
    graph_add_item(maker->out, ITEM_OPEN, id);
    vec_push(&maker->rest_blocks, (struct dump_rest_block){index, id});
}

static void close_to(struct dump_maker *maker, uint32_t depth)
{
    while (maker->rest_blocks.count > depth)
        graph_add_item(maker->out, ITEM_CLOSE,
                       maker->rest_blocks.at[--maker->rest_blocks.count].id);
}

void maker_rest_leave(struct dump_maker *maker)
{
    close_to(maker, 0);
}

bool maker_rest_has_block(struct dump_maker *maker, const struct dump_node *node)
{
    const struct attr *said = find(maker, node->rest, "block", ATTR_INT);
    if (!said)
        return maker->has_rest_blocks && node->scope == NONE && node->stream == NONE;
    return block_at(maker, said->value.i) && agrees(maker, node, said->value.i);
}

uint32_t maker_rest_enter(struct dump_maker *maker, const struct dump_node *node)
{
    const struct attr *said = find(maker, node->rest, "block", ATTR_INT);
    int64_t path[MAX_DEPTH];
    uint32_t depth = 0, common = 0;
    for (int64_t at = said ? said->value.i : -1; at >= 0 && depth < MAX_DEPTH;
         at = parent_of(maker, at))
        path[depth++] = at;
    while (common < depth && common < maker->rest_blocks.count &&
           maker->rest_blocks.at[common].index == path[depth - 1 - common])
        common++;
    close_to(maker, common);
    for (; common < depth; common++)
        open_block(maker, path[depth - 1 - common]);
    return depth ? maker->rest_blocks.at[depth - 1].id : NONE;
}

/* --------------------------------------------------------------------------- graphs ---- */

bool maker_rest_has_dims(const struct dump_maker *maker)
{
    struct range rest = maker_graph(maker)->rest;
    return find(maker, rest, "dims", ATTR_LIST) || find(maker, rest, "zip", ATTR_DICT) ||
           find(maker, rest, "product", ATTR_DICT);
}

static void add_gears(struct dump_maker *maker, const struct attr *gears, enum gear_mode mode)
{
    struct graph *graph = maker->out;
    if (!gears)
        return;
    graph->gear_mode = mode;
    for (uint32_t i = 0; i < gears->value.count; i++) {
        const struct attr *said = &maker->module->attrs.at[gears->value.first + i];
        if (!is_plain_word(maker->module, said->key))
            continue;
        struct gear gear = {said->key, graph->loc, {graph->gear_values.count, 0}};
        for (uint32_t k = 0; said->value.kind == ATTR_LIST && k < said->value.count; k++) {
            const struct attr_value *value = element(maker, said, k, ATTR_INT);
            if (value)
                vec_push(&graph->gear_values, value->i);
        }
        gear.values.count = graph->gear_values.count - gear.values.first;
        vec_push(&graph->gears, gear);
    }
}

void maker_rest_begin(struct dump_maker *maker)
{
    struct range rest = maker_graph(maker)->rest;
    const struct attr *dims = find(maker, rest, "dims", ATTR_LIST);
    maker->rest_blocks.count = 0;
    id_map_clear(&maker->superkernels);
    maker->has_rest_blocks = find(maker, rest, "blocks", ATTR_LIST) != NULL;
    for (uint32_t i = 0; dims && i < dims->value.count; i++) {
        const struct attr_value *name = element(maker, dims, i, ATTR_STRING);
        if (name && is_plain_word(maker->dump->module, name->id))
            vec_push(&maker->out->dims, (struct free_dim){name->id, maker->out->loc});
    }
    add_gears(maker, find(maker, rest, "zip", ATTR_DICT), GEARS_ZIP);
    add_gears(maker, find(maker, rest, "product", ATTR_DICT), GEARS_PRODUCT);
    maker->attrs.count = 0;
    for (uint32_t i = 0; i < maker->out->attrs.count; i++)
        vec_push(&maker->attrs, maker->module->attrs.at[maker->out->attrs.first + i]);
    if (maker_rest_attrs(maker, NULL, rest))
        maker->out->attrs = module_add_attrs(maker->module, maker->attrs.at, maker->attrs.count);
}

void maker_rest_params(struct dump_maker *maker)
{
    const struct attr *params = find(maker, maker_graph(maker)->rest, "params", ATTR_LIST);
    for (uint32_t i = 0; params && i < maker->out->n_params; i++) {
        const struct attr_value *said = element(maker, params, i, ATTR_DICT);
        if (!said)
            continue;
        struct range rest = block_rest(said);
        uint32_t type = maker_rest_type(maker, rest, 0);
        if (type != NONE)
            maker->out->values.at[i].type = type;
        maker->attrs.count = 0;
        if (maker_rest_attrs(maker, NULL, rest))
            maker->out->params.at[i].attrs =
                module_add_attrs(maker->module, maker->attrs.at, maker->attrs.count);
    }
}

void maker_rest_end(struct dump_maker *maker)
{
    struct range rest = maker_graph(maker)->rest;
    const struct attr *types = find(maker, rest, "types", ATTR_LIST);
    for (uint32_t i = 0; types && i < maker->out->result_types.count; i++) {
        uint32_t type = maker_rest_type(maker, rest, i);
        if (type != NONE)
            maker->out->result_types.at[i] = type;
    }
}
