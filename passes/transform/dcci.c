/* dcci: cleans and invalidates the whole data cache before and after ops that ask for it, or after
 * all.
 *
 * needs    super kernels with their entries
 * changes  programs: `dcci all` beside calls, `pipe_barrier` and `dcci all` behind ops
 * keeps    calls, synchronisation, and their order
 *
 * Why it is sound: neither instruction orders cores or is waited for, so every order that held
 * holds.
 *
 * What is there already is left alone, and it is recognised by its place: `dcci all` directly
 * before or behind the call; the pair of debug-dcci-all behind that. For an op that has no part on
 * a core type, the pair stands somewhere between the calls around, in whose stretch it is one of as
 * many as there are such ops.
 */
#include "ir/analysis/modref.h"
#include "ir/core/operands.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/lower/insertion_points.h"
#include "passes/lower/visit.h"

#include <assert.h>

/* ------------------------------------------------------------------------------ who ---- */

enum { BEFORE = 1, AFTER = 2, DISABLED = 4, LISTS = 3 };

static const struct list {
    enum sk_option option;
    uint8_t bit;
    uint32_t attribute; /* of kernels, which asks for the same */
} lists[LISTS] = {
    {SK_dcci_before_kernel_start, BEFORE, W_dcci_before},
    {SK_dcci_after_kernel_end, AFTER, W_dcci_after},
    {SK_dcci_disable_on_kernel, DISABLED, W_dcci_disable},
};

/* Op types in the lists of options, and patterns of them, by name id. */
struct types {
    uint8_t *listed; /* bits of the lists of the super kernel at hand */
    uint8_t *met;    /* bits of the lists that some op was found in, by what stands there */
    bool any;        /* there are lists */
};

static uint32_t next_type(struct module *module, struct sk_setting *rest)
{
    const char *word;
    size_t size;
    return sk_option_next(rest, &word, &size) ? intern_copy(&module->names, word, size) : NONE;
}

static bool is_pattern(const struct module *module, uint32_t word)
{
    const struct intern_name *name = &module->names.names[word];
    return sk_option_is_pattern(name->text, name->size);
}

static bool is_member(const struct superkernel *sk, uint32_t op)
{
    return superkernel_index(sk, op) != NONE && !sk->order->passive[op];
}

/* Whether an op of the super kernel gives the value, or a value that this one is the memory of; or
 * one outside, where there is `word` from there. */
static bool is_given(const struct superkernel *sk, uint32_t value, bool word)
{
    uint32_t def;
    while ((def = sk->graph->values.at[value].def) < sk->graph->ops.count) {
        const struct op *op = &sk->graph->ops.at[def];
        if (is_member(sk, def) || (word && !sk->order->passive[def]))
            return true;
        value = op_alias(sk->module, sk->graph, op, value - op->results.first);
        if (value == NONE)
            return false;
    }
    return false;
}

/* Whether an op writes memory that op `i` accesses under another name: one of the super kernel, or
 * where there is `word` from outside, one there. */
static bool is_written(const struct superkernel *sk, uint32_t i, bool word)
{
    const struct order *order = sk->order;
    uint32_t op = sk->ops[i];
    for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
        const struct order_edge *edge = &order->edges[e];
        if (order_is_memory(edge->kind) && (word || is_member(sk, edge->from)))
            return true;
    }
    return false;
}

/* Whether op `i` waits for an event from outside. */
static bool waits_outside(const struct superkernel *sk, uint32_t i)
{
    const struct order *order = sk->order;
    uint32_t op = sk->ops[i];
    for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
        if (order->edges[e].kind == ORDER_EVENT && !is_member(sk, order->edges[e].from))
            return true;
    return false;
}

/* Whether op `i` reads through the data cache what is written during the launch, for all that is
 * known. `word`: it, or one before it, waits for an event from outside, which also tells of all
 * that is complete before who sends it. */
static bool reads_stale(const struct superkernel *sk, uint32_t i, bool word)
{
    const struct kernel *kernel = superkernel_kernel(sk, i);
    const struct op *op = superkernel_op(sk, i);
    const struct attr *reads = attr_find(sk->module, kernel->attrs, W_scalar_reads);
    if (!reads || reads->value.count == 0)
        return false;
    if (is_written(sk, i, word))
        return true;
    for (uint32_t n = 0; n < reads->value.count; n++) {
        uint32_t place = op_scalar_place(sk->module, sk->graph, op, kernel,
                                         &sk->module->attr_values.at[reads->value.first + n]);
        struct range values =
            place == NONE ? (struct range){0, 0} : op_operand(sk->graph, op, place).values;
        for (uint32_t v = 0; v < values.count; v++)
            if (is_given(sk, sk->graph->refs.at[values.first + v], word))
                return true;
    }
    return false;
}

/* What lists of types and patterns ask for; there are none where `user` is NULL. */
static void find_listed(const struct superkernel *sk, uint8_t *wishes)
{
    struct types *types = sk->user;
    const struct intern_name *names = sk->module->names.names;
    struct vec_u32 listed = {NULL, 0, 0};
    for (int list = 0; types && list < LISTS; list++) {
        struct sk_setting rest = sk->options->of[lists[list].option];
        uint32_t word;
        while ((word = next_type(sk->module, &rest)) != NONE) {
            if (!is_pattern(sk->module, word)) {
                types->listed[word] |= lists[list].bit;
                vec_push(&listed, word);
                continue;
            }
            for (uint32_t i = 0; i < sk->count; i++) {
                const struct intern_name *type = &names[superkernel_op(sk, i)->type];
                if (!sk_option_fits(names[word].text, names[word].size, type->text, type->size))
                    continue;
                wishes[i] |= lists[list].bit;
                types->met[word] |= lists[list].bit;
            }
        }
    }
    for (uint32_t i = 0; types && i < sk->count; i++) {
        uint32_t type = superkernel_op(sk, i)->type;
        wishes[i] |= types->listed[type];
        types->met[type] |= wishes[i];
    }
    for (uint32_t i = 0; i < listed.count; i++)
        types->listed[listed.at[i]] = 0;
    vec_free(&listed);
}

/* What each op asks for. BEFORE and AFTER only where it is not disabled. */
static uint8_t *find_wishes(const struct superkernel *sk)
{
    uint8_t *wishes = mem_calloc(sk->count, 1);
    bool word = false;
    find_listed(sk, wishes);
    for (uint32_t i = 0; i < sk->count; i++) {
        for (int j = 0; j < LISTS; j++)
            if (attr_flag(sk->module, superkernel_kernel(sk, i)->attrs, lists[j].attribute))
                wishes[i] |= lists[j].bit;
        word |= waits_outside(sk, i);
        if (sk->options->of[SK_dcci_scalar_reads].number && reads_stale(sk, i, word))
            wishes[i] |= BEFORE;
        if (wishes[i] & DISABLED)
            wishes[i] = DISABLED;
    }
    return wishes;
}

/* ----------------------------------------------------------------------------- where ---- */

struct placing {
    const struct superkernel *sk;
    const uint8_t *wishes;
    bool everywhere; /* debug-dcci-all */
    bool absent;     /* the same for ops without a part: in two lists they are not in this one */
    const struct program *program;
    const uint32_t *calls;
    struct program_edit edit;
};

static void add_dcci(struct placing *p, uint32_t at)
{
    program_edit_add(&p->edit, at, instr_make(INSTR_dcci, 0));
}

static void add_pairs(struct placing *p, uint32_t at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        program_edit_add(&p->edit, at, instr_make(INSTR_pipe_barrier, 0));
        add_dcci(p, at);
    }
}

/* Returns where the stretch up to the next call begins. */
static uint32_t place_after(struct placing *p, uint32_t i)
{
    uint32_t place = call_site_end(p->program, p->calls[i]);
    if (p->wishes[i] & AFTER && call_site_dcci_behind(p->program, p->calls[i], &place))
        add_dcci(p, place);
    if (p->everywhere) {
        uint32_t at = skip_records(p->program, place);
        if (program_has_dcci_pair(p->program, at))
            return at + 2;
        add_pairs(p, place, 1);
    }
    return place;
}

/* The first preload for the next call in its stretch, or the stretch's end: preloads are at the op
 * before their own (preload-code). */
static uint32_t find_preload(const struct placing *p, uint32_t begin, uint32_t call)
{
    const struct instr *instrs = p->program->instrs.at;
    for (uint32_t at = begin; at < call; at++)
        if ((instrs[at].op == INSTR_preload && instrs[at].kernel == instrs[call].kernel) ||
            (instrs[at].op == INSTR_preload_data && instrs[at].number[0] == instrs[call].number[0]))
            return at;
    return call;
}

/* `count` ops without a part here stand between two calls, of which the later one is NONE at the
 * end. The op before them has sent its events. */
static void place_absent(struct placing *p, uint32_t begin, uint32_t call, uint32_t count)
{
    uint32_t end = call == NONE ? p->program->instrs.count : call, present = 0;
    for (uint32_t at = begin; at < end; at++)
        present += program_has_dcci_pair(p->program, at);
    if (present >= count)
        return;
    count -= present;
    assert(begin <= end);
    uint32_t preload = call == NONE ? end : find_preload(p, begin, call);
    uint32_t notified = call_site_behind_notify(p->program, begin);
    if (preload == end) {
        add_pairs(p, notified, count);
        return;
    }
    add_pairs(p, preload, count - 1);
    preload++;
    while (program_has(p->program, preload, INSTR_preload_data))
        preload++;
    add_pairs(p, preload > notified ? preload : notified, 1);
}

static void place_all(struct placing *p)
{
    uint32_t begin = program_start_end(p->program), absent = 0;
    for (uint32_t i = 0; i < p->sk->count; i++) {
        if (p->calls[i] == NONE) {
            absent++;
            continue;
        }
        if (p->absent && absent > 0)
            place_absent(p, begin, p->calls[i], absent);
        absent = 0;
        uint32_t place;
        if (p->wishes[i] & BEFORE && call_site_dcci_before(p->program, p->calls[i], &place))
            add_dcci(p, place);
        begin = place_after(p, i);
    }
    if (p->absent && absent > 0)
        place_absent(p, begin, NONE, absent);
}

static void place_core(struct superkernel *sk, enum core_type core, const uint8_t *wishes)
{
    bool everywhere = sk->options->of[SK_debug_dcci_all].number != 0;
    const struct program *program = &sk->entry->programs[core];
    uint32_t *calls = superkernel_calls(sk, core);
    struct placing placing = {
        .sk = sk,
        .wishes = wishes,
        .everywhere = everywhere,
        .absent = everywhere && !superkernel_is_two_lists(sk),
        .program = program,
        .calls = calls,
    };
    place_all(&placing);
    superkernel_edit(sk, core, &placing.edit);
    mem_free(calls);
}

/* -------------------------------------------------------------------------- warnings ---- */

/* Ops first, first + 1 ... of `row`, `count` of them, are one behind the other. */
static void warn_row(const struct superkernel *sk, const uint32_t *row, uint32_t count)
{
    enum { NAMED = 8 };
    struct text names = {NULL, 0, 0};
    struct diags *diags = sk->context->diags;
    for (uint32_t i = 0; i < count && i < NAMED; i++)
        text_printf(&names, i ? ", %s" : "%s",
                    op_text(sk->module, sk->graph, superkernel_op(sk, row[i]), &diags->arena));
    if (count > NAMED)
        text_printf(&names, " and %u more", count - NAMED);
    if (diag_at(diags, DIAG_dcci_disabled,
                locate_op(sk->module, superkernel_op(sk, row[1]), OP_TYPE_NAME, 0),
                "super kernel '@%.*s' does no cache maintenance at %u ops in a row (%.*s): what "
                "they read may be stale",
                NAME(sk->module, sk->block->name), count, (int)names.size, names.at)) {
        diag_note(diags, locate_op(sk->module, superkernel_op(sk, row[0]), OP_TYPE_NAME, 0),
                  "the first of them");
        diag_help(diags, "take some of them out of dcci-disable-on-kernel");
    }
    text_free(&names);
}

/* Rows of disabled ops among those that have a part on `core`, or CORE_TYPES: all. `warned` marks
 * ops that a row before had. */
static void find_rows(const struct superkernel *sk, const uint8_t *wishes, int core,
                      uint8_t *warned)
{
    uint32_t *row = mem_calloc(sk->count, sizeof *row), count = 0;
    bool fresh = false;
    for (uint32_t i = 0; i <= sk->count; i++) {
        if (i < sk->count && core != CORE_TYPES && !superkernel_has_part(sk, i, core))
            continue;
        if (i < sk->count && wishes[i] & DISABLED) {
            fresh = fresh || !warned[i];
            row[count++] = i;
            continue;
        }
        if (count > 1 && fresh) {
            warn_row(sk, row, count);
            for (uint32_t j = 0; j < count; j++)
                warned[row[j]] = 1;
        }
        count = 0;
        fresh = false;
    }
    mem_free(row);
}

static void warn_rows(const struct superkernel *sk, const uint8_t *wishes)
{
    if (sk->options->of[SK_debug_dcci_all].number)
        return;
    uint8_t *warned = mem_calloc(sk->count, 1);
    if (!superkernel_is_two_lists(sk)) {
        find_rows(sk, wishes, CORE_TYPES, warned);
    } else {
        for (int core = 0; core < CORE_TYPES; core++)
            find_rows(sk, wishes, core, warned);
    }
    mem_free(warned);
}

static void suggest_type(struct pass_context *context, const struct graph *graph, uint32_t block,
                         uint32_t type)
{
    struct suggest suggest = name_suggest(context->module, type);
    if (!diag_wants_suggestion(context->diags))
        return;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        if (graph_superkernel(graph, op->block) == block)
            name_offer(&suggest, context->module, op->type);
    }
    diag_suggest(context->diags, &suggest);
}

/* Goes through the lists of a super kernel. Without `met`: gives the types ids, and learns whether
 * there are any. Then: warns of those that no op has. A scope may have become several super
 * kernels, and options of the command line are those of all, so a type is at its place if any that
 * lists it has such an op. */
static void look_at_types(struct pass_context *context, struct types *types,
                          const struct graph *graph, uint32_t block)
{
    struct module *module = context->module;
    const struct block *superkernel = &graph->blocks.at[block];
    const struct sk_options *options = block_options(module, superkernel);
    for (int i = 0; i < LISTS; i++) {
        struct sk_setting rest = options->of[lists[i].option];
        struct span span = no_span; /* found once, in time proportional to the options */
        bool found = false;
        uint32_t type;
        while ((type = next_type(module, &rest)) != NONE) {
            types->any = true;
            if (!types->met || types->met[type] & lists[i].bit)
                continue;
            types->met[type] |= lists[i].bit;
            if (!found)
                span = locate_option(module, superkernel, lists[i].option);
            found = true;
            bool pattern = is_pattern(module, type);
            if (diag_at(context->diags, DIAG_option_op_type, span,
                        pattern ? "'%s' has the pattern '%.*s', which no op's type here fits"
                                : "'%s' names the op type '%.*s', which no op here has",
                        sk_option_key(lists[i].option), NAME(module, type)) &&
                !pattern)
                suggest_type(context, graph, block, type);
        }
    }
}

static void look_at_all_types(struct pass_context *context, struct types *types)
{
    for (uint32_t g = 0; g < context->module->graphs.count; g++) {
        const struct graph *graph = &context->module->graphs.at[g];
        for (uint32_t b = 0; b < graph->blocks.count; b++)
            if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL)
                look_at_types(context, types, graph, b);
    }
}

/* --------------------------------------------------------------------------- driving ---- */

static bool visit(struct superkernel *sk)
{
    uint8_t *wishes = find_wishes(sk);
    warn_rows(sk, wishes);
    for (int core = 0; core < CORE_TYPES; core++)
        if (sk->entry->programs[core].present)
            place_core(sk, core, wishes);
    mem_free(wishes);
    return true;
}

bool pass_dcci(struct pass_context *context)
{
    struct types types = {.any = false};
    look_at_all_types(context, &types);
    if (!types.any)
        return superkernels_visit(context, visit);
    types.listed = mem_calloc(context->module->names.count, 1);
    types.met = mem_calloc(context->module->names.count, 1);
    bool ok = superkernels_visit_in_turn(context, visit, &types);
    look_at_all_types(context, &types);
    mem_free(types.listed);
    mem_free(types.met);
    return ok;
}
