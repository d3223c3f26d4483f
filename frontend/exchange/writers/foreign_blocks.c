/* Scopes and streams as GE's attributes say them: of each op one name of each. */
#include "frontend/exchange/writers/foreign.h"

struct foreign_marks foreign_marks(const struct foreign *foreign, const struct op *op)
{
    const struct graph *graph = foreign->graph;
    struct foreign_marks marks = {.scope = NONE, .options = NONE, .stream = NONE};
    uint32_t launch = graph_superkernel(graph, op->block);
    uint32_t scope = graph_enclosing(graph, op->block, BLOCK_SCOPE);
    uint32_t stream = graph_enclosing(graph, op->block, BLOCK_STREAM);
    if (launch != NONE) {
        const struct range attrs = graph->blocks.at[launch].attrs;
        marks.scope = attr_symbol(foreign->module, attrs, W_scope);
        marks.options = attr_string(foreign->module, attrs, W_options);
    } else if (scope != NONE) {
        marks.no_scope = graph->blocks.at[scope].kind == BLOCK_SCOPE_NONE;
        marks.scope = graph->blocks.at[scope].name;
        if (!marks.no_scope)
            marks.options = id_map_find(&foreign->options, marks.scope);
    }
    if (stream != NONE && stream_label(graph->blocks.at[stream].name) != NONE) {
        marks.stream = graph->blocks.at[stream].name;
        uint32_t priority = id_map_find(&foreign->priority, marks.stream);
        marks.priority = priority == NONE ? NULL : &foreign->module->attrs.at[priority];
    }
    return marks;
}

/* What blocks of one scope or stream say alike, whichever of them says it. */
static void read_block(struct foreign *foreign, const struct block *block)
{
    const struct module *module = foreign->module;
    if (block->kind == BLOCK_SCOPE) {
        uint32_t options = attr_string(module, block->attrs, W_options);
        if (options != NONE)
            id_map_set(&foreign->options, block->name, options);
    } else if (block->kind == BLOCK_STREAM) {
        const struct attr *priority = attr_find(module, block->attrs, W_priority);
        if (priority && priority->value.kind == ATTR_INT)
            id_map_set(&foreign->priority, block->name, (uint32_t)(priority - module->attrs.at));
    }
}

/* Names of scopes that mean that there is none. */
static bool is_none(const struct module *module, uint32_t scope)
{
    return name_is(module, scope, "None") || module->names.names[scope].size == 0;
}

/* A reader's blocks: scopes, and streams in them, which open where the name changes; options and
 * priority stand at the first block of their name. */
struct reader_blocks {
    uint32_t scope, stream;           /* open blocks, or NONE */
    uint32_t last_scope, last_stream; /* those that were closed last, with nothing behind them */
};

/* Whether a block has the one attribute, where it should, and no other. */
static bool says_only(const struct foreign *foreign, const struct block *block, uint32_t key,
                      bool wanted)
{
    if (!wanted)
        return block->attrs.count == 0;
    return block->attrs.count == 1 && attr_find(foreign->module, block->attrs, key);
}

/* Whether the name was not met in this graph; it is now. */
static bool meet(struct foreign *foreign, struct id_map *met, uint32_t name)
{
    uint32_t *place = id_map_at(met, name);
    bool first = *place != foreign->turn;
    *place = foreign->turn;
    return first;
}

static bool same_name(const struct graph *graph, uint32_t last, const struct block *block)
{
    return last != NONE && graph->blocks.at[last].name == block->name;
}

static bool opens_stream(struct foreign *foreign, struct reader_blocks *state,
                         const struct block *block)
{
    bool first = meet(foreign, &foreign->met_streams, block->name);
    bool told = id_map_find(&foreign->priority, block->name) != NONE;
    return state->stream == NONE && stream_label(block->name) != NONE &&
           says_only(foreign, block, W_priority, first && told) &&
           !same_name(foreign->graph, state->last_stream, block);
}

static bool opens_scope(struct foreign *foreign, struct reader_blocks *state,
                        const struct block *block)
{
    bool none = block->kind == BLOCK_SCOPE_NONE;
    bool superkernel = block->kind == BLOCK_SUPERKERNEL || block->kind == BLOCK_SUPERKERNEL_REST;
    if (superkernel || state->scope != NONE || state->stream != NONE)
        return false;
    if (same_name(foreign->graph, state->last_scope, block))
        return false;
    if (none)
        return block->attrs.count == 0;
    bool first = meet(foreign, &foreign->met_scopes, block->name);
    bool told = id_map_find(&foreign->options, block->name) != NONE;
    return !is_none(foreign->module, block->name) &&
           says_only(foreign, block, W_options, first && told);
}

/* Whether a reader would open this block where it opens. */
static bool opens(struct foreign *foreign, struct reader_blocks *state, uint32_t id)
{
    const struct block *block = &foreign->graph->blocks.at[id];
    if (block->kind == BLOCK_STREAM) {
        bool fits = opens_stream(foreign, state, block);
        state->stream = id;
        return fits;
    }
    bool fits = opens_scope(foreign, state, block);
    state->scope = id;
    state->last_stream = NONE;
    return fits;
}

static void closes(struct reader_blocks *state, uint32_t id)
{
    if (state->stream == id) {
        state->last_stream = id;
        state->stream = NONE;
    } else {
        state->last_scope = id;
        state->last_stream = NONE;
        state->scope = NONE;
    }
}

static bool are_plain(struct foreign *foreign)
{
    const struct graph *graph = foreign->graph;
    struct reader_blocks state = {NONE, NONE, NONE, NONE};
    bool plain = true;
    for (uint32_t i = 0; i < graph->body.count && plain; i++) {
        uint64_t item = graph->body.at[i];
        if (item_kind(item) == ITEM_OPEN) {
            plain = opens(foreign, &state, item_id(item));
        } else if (item_kind(item) == ITEM_CLOSE) {
            plain = item_kind(graph->body.at[i - 1]) != ITEM_OPEN;
            closes(&state, item_id(item));
        } else {
            state.last_scope = state.last_stream = NONE;
        }
    }
    return plain;
}

void foreign_read_blocks(struct foreign *foreign)
{
    for (uint32_t i = 0; i < foreign->graph->blocks.count; i++)
        read_block(foreign, &foreign->graph->blocks.at[i]);
    foreign->plain_blocks = are_plain(foreign);
}

void foreign_forget_blocks(struct foreign *foreign)
{
    for (uint32_t i = 0; i < foreign->graph->blocks.count; i++) {
        const struct block *block = &foreign->graph->blocks.at[i];
        if (block->kind == BLOCK_SCOPE)
            *id_map_at(&foreign->options, block->name) = NONE;
        else if (block->kind == BLOCK_STREAM)
            *id_map_at(&foreign->priority, block->name) = NONE;
    }
}
