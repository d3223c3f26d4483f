#include "frontend/driver/check_gears.h"
#include "ir/analysis/dep_graph.h"
#include "ir/core/calls.h"
#include "ir/core/kernel.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"
#include "ir/syntax/spelling.h"

#include <string.h>

/* ------------------------------------------------------------------------------- names ---- */

/* "f_*_layer": `*` replaces the last `tail` in the name, which expand-gears has appended. */
static uint32_t common_name(struct module *module, uint32_t name, const struct intern_name *tail)
{
    struct intern_name text = module->names.names[name];
    for (uint32_t at = text.size; tail->size && at-- > 0;)
        if (at + tail->size <= text.size && memcmp(text.text + at, tail->text, tail->size) == 0)
            return module_name_printf(module, "%.*s_*%.*s", (int)at, text.text,
                                      (int)(text.size - at - tail->size),
                                      text.text + at + tail->size);
    return name;
}

static void add_name(struct gear_names *names, uint32_t name, uint32_t graph, uint32_t row,
                     const struct intern_name *tail)
{
    id_map_set(&names->at, name, names->places.count);
    vec_push(&names->places,
             (struct gear_place){graph, row, common_name(names->module, name, tail)});
}

/* Adds a combination: its graph, and the super kernels of that. */
static void add_combination(struct gear_names *names, uint32_t id, uint32_t row)
{
    struct module *module = names->module;
    uint32_t base = module->graphs.at[id].name, name = module->graphs.at[id].cases.at[row].graph;
    const struct graph *graph = module_graph(module, name);
    struct intern_name tail = module->names.names[name];
    uint32_t skip = module->names.names[base].size;
    skip = skip < tail.size ? skip : tail.size;
    tail.text += skip;
    tail.size -= skip;
    add_name(names, name, id, row, &tail);
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL)
            add_name(names, graph->blocks.at[b].name, id, row, &tail);
}

void gear_names_init(struct gear_names *names, struct module *module)
{
    *names = (struct gear_names){.module = module};
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t row = 0; row < module->graphs.at[i].cases.count; row++)
            add_combination(names, i, row);
}

void gear_names_free(struct gear_names *names)
{
    id_map_free(&names->at);
    vec_free(&names->places);
}

const struct gear_place *gear_names_find(const struct gear_names *names, uint32_t name)
{
    uint32_t at = id_map_find(&names->at, name);
    return at == NONE ? NULL : &names->places.at[at];
}

/* Whether events are named after it in the graph: values, types of ops, and super kernels. */
static bool names_events(const struct graph *graph, uint32_t name)
{
    for (uint32_t i = 0; i < graph->values.count; i++)
        if (graph->values.at[i].name == name)
            return true;
    for (uint32_t i = 0; i < graph->ops.count; i++)
        if (graph->ops.at[i].type == name)
            return true;
    return false;
}

/* What an event, which is no other's in the module, is called by what sends it, without the number
 * behind that. */
static struct intern_name event_base(const struct gear_names *names, const struct gear_place *place,
                                     const char *name, size_t size)
{
    const struct module *module = names->module;
    const struct graph *graph =
        module_graph(module, module->graphs.at[place->graph].cases.at[place->row].graph);
    struct intern_name whole = {.text = name, .size = (uint32_t)size};
    uint32_t id = intern_find(&module->names, name, size);
    const struct gear_place *launch = id == NONE ? NULL : gear_names_find(names, id);
    if (launch)
        return module->names.names[launch->name];
    while (size > 0 && name[size - 1] >= '0' && name[size - 1] <= '9')
        size--;
    if (size == whole.size || size < 2 || name[size - 1] != '_' ||
        (id != NONE && names_events(graph, id)))
        return whole;
    id = intern_find(&module->names, name, size - 1);
    return id != NONE && names_events(graph, id) ? module->names.names[id] : whole;
}

const struct gear_place *gear_names_write(const struct gear_names *names, struct text *text,
                                          const char *from)
{
    const struct gear_place *found = NULL;
    struct text named = {NULL, 0, 0};
    const char *at = from, *begin, *end;
    /* First names of graphs and super kernels, '@NAME'. */
    for (; (begin = strstr(at, "'@")) && (end = strchr(begin + 2, '\''));) {
        uint32_t id = intern_find(&names->module->names, begin + 2, (size_t)(end - begin - 2));
        const struct gear_place *place = id == NONE ? NULL : gear_names_find(names, id);
        text_bytes(&named, at, (size_t)(begin + 2 - at));
        if (place)
            text_printf(&named, "%.*s", NAME(names->module, place->name));
        at = place ? end : begin + 2;
        found = found ? found : place;
    }
    text_string(&named, at);
    text_char(&named, '\0');
    /* Then, in a text about a combination, events, 'NAME'. */
    for (at = found ? named.at : from;
         found && (begin = strchr(at, '\'')) && (end = strchr(begin + 1, '\'')); at = end + 1) {
        struct intern_name base = event_base(names, found, begin + 1, (size_t)(end - begin - 1));
        text_printf(text, "%.*s'%.*s'", (int)(begin - at), at, (int)base.size, base.text);
    }
    text_string(text, at);
    text_free(&named);
    return found;
}

/* ------------------------------------------------------------------------------ ranges ---- */

void gear_rows_text(struct text *text, const struct module *module, const struct graph *graph,
                    const uint32_t *marks, uint32_t mark)
{
    enum { MAX_RANGES = 6 };
    const int64_t *values = graph->gear_values.at;
    uint32_t n = graph->cases.count, ranges = 0, others = 0;
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && marks[end] == marks[first];)
            end++;
        if (marks[first] != mark)
            continue;
        if (++ranges > MAX_RANGES) {
            others += end - first;
            continue;
        }
        const int64_t *last = values + graph->cases.at[end - 1].values.first;
        text_string(text, ranges > 1 ? "; " : "");
        gear_row_text(text, module, graph, values + graph->cases.at[first].values.first);
        text_string(text, end - first > 1 ? " .. " : "");
        if (end - first > 1 && graph->gears.count == 1)
            text_signed(text, *last);
        else if (end - first > 1)
            gear_row_text(text, module, graph, last);
    }
    if (others)
        text_printf(text, "; %u more", others);
}

/* -------------------------------------------------------------------------- comparison ---- */

enum { MAX_CAUSES = 4, MAX_LINES = 20 }; /* of ops, and of a table, that are printed */

/* What combinations are compared by: the enumerator, the head of its column, one and many of it. */
#define FACTS(FACT)                                                                                \
    FACT(LAUNCHES, "launches", "launch", "launches")                                               \
    FACT(OPS, "ops", "op", "ops")                                                                  \
    FACT(BLOCKS, "blocks", "block", "blocks")                                                      \
    FACT(CALLED, "called", "block called", "blocks called")                                        \
    FACT(BARRIERS, "barriers", "barrier", "barriers")                                              \
    FACT(FLAGS, "flags", "flag", "flags")                                                          \
    FACT(WAITS, "waits", "wait before it starts", "waits before it starts")                        \
    FACT(INSIDE, "inside", "wait inside", "waits inside")                                          \
    FACT(WORKSPACE, "workspace", "byte of workspace", "bytes of workspace")

enum fact {
#define FACT(name, ...) FACT_##name,
    FACTS(FACT)
#undef FACT
        FACT_COUNT
};

static const struct {
    const char *head, *one, *many;
} facts[FACT_COUNT] = {
#define FACT(name, ...) {__VA_ARGS__},
    FACTS(FACT)
#undef FACT
};

/* A super kernel of one combination, or all that a combination launches. */
struct gear_facts {
    bool present;
    uint64_t of[FACT_COUNT];
    struct vec_u32 ops; /* of the combination's graph, that it runs */
};

/* The same of all combinations. */
struct unit {
    uint32_t name;  /* common to them */
    unsigned shown; /* the facts that are printed: a bit each */
    struct gear_facts rows[GEARS_MAX_ROWS];
    uint32_t kinds[GEARS_MAX_ROWS];  /* by row: the same number where rows are alike */
    uint32_t firsts[GEARS_MAX_ROWS]; /* by kind: its first row */
    uint32_t n_kinds, n_present;     /* kinds, and those where the unit is there */
    uint32_t present;                /* the first row where it is */
};

struct account {
    struct text *line; /* of lines, each with its end */
    struct module *module;
    const struct graph *graph;
    const struct gear_names *names;
    VEC(struct unit *) units; /* the first is the graph itself */
    struct id_map by_name;
};

static const struct graph *row_graph(const struct account *account, uint32_t row)
{
    return module_graph(account->module, account->graph->cases.at[row].graph);
}

/* The facts of a row of the unit of a name. */
static struct gear_facts *facts_of(struct account *account, uint32_t name, unsigned shown,
                                   uint32_t row)
{
    uint32_t *at = id_map_at(&account->by_name, name);
    if (*at == NONE) {
        struct unit *unit = mem_calloc(1, sizeof *unit);
        unit->name = name;
        unit->shown = shown;
        *at = account->units.count;
        vec_push(&account->units, unit);
    }
    struct gear_facts *row_facts = &account->units.at[*at]->rows[row];
    row_facts->present = true;
    return row_facts;
}

/* What an op has that may depend on its shape. */
typedef uint64_t op_number(const struct module *module, const struct graph *graph,
                           const struct op *op);

static uint64_t op_blocks(const struct module *module, const struct graph *graph,
                          const struct op *op)
{
    (void)graph;
    return kernel_blocks(module, module_kernel(module, op->kernel));
}

/* What is not known, a launch refuses. */
static uint64_t op_bytes(const struct module *module, const struct graph *graph,
                         const struct op *op)
{
    uint64_t bytes;
    return kernel_workspace(module, module_kernel(module, op->kernel), graph, op, &bytes) ? bytes
                                                                                          : 0;
}

static void add_row(struct account *account, uint32_t row)
{
    const struct module *module = account->module;
    const struct graph *graph = row_graph(account, row);
    struct gear_facts *whole = facts_of(account, account->graph->name, 1u << FACT_LAUNCHES, row);
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind != BLOCK_SUPERKERNEL)
            continue;
        unsigned shown = ((1u << FACT_COUNT) - 1) & ~(1u << FACT_LAUNCHES);
        uint32_t name = gear_names_find(account->names, block->name)->name;
        struct gear_facts *at = facts_of(account, name, shown, row);
        const struct entry *entry = block_entry(module, block);
        whole->of[FACT_LAUNCHES]++;
        at->of[FACT_WAITS] = block->recv.count;
        if (!entry)
            continue;
        at->of[FACT_BLOCKS] = (uint64_t)attr_int(module, entry->attrs, W_block, 1);
        at->of[FACT_WORKSPACE] = (uint64_t)attr_int(module, entry->attrs, W_workspace, 0);
        for (int core = 0; core < CORE_TYPES; core++)
            for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
                enum instr_op op = entry->programs[core].instrs.at[i].op;
                at->of[FACT_BARRIERS] += op == INSTR_await;
                at->of[FACT_FLAGS] += op == INSTR_wait;
            }
    }
    /* All ops that are run: those of super kernels are in one launch. */
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        if (op_is_passive(module, graph, op) || op_call_kind(op) != CALL_NONE)
            continue;
        uint32_t block = graph_superkernel(graph, op->block);
        whole->of[FACT_LAUNCHES] += block == NONE;
        if (block == NONE)
            continue;
        uint32_t name = gear_names_find(account->names, graph->blocks.at[block].name)->name;
        struct gear_facts *at = facts_of(account, name, 0, row);
        uint64_t *bytes = &at->of[FACT_WORKSPACE];
        vec_push(&at->ops, i);
        at->of[FACT_OPS]++;
        at->of[FACT_INSIDE] += op_clauses(graph, op)->recv.count;
        at->of[FACT_CALLED] += op_blocks(module, graph, op);
        if (__builtin_add_overflow(*bytes, op_bytes(module, graph, op), bytes))
            *bytes = UINT64_MAX;
    }
}

/* Numbers the kinds of rows. */
static void find_kinds(struct unit *unit, uint32_t n_rows)
{
    for (uint32_t row = 0; row < n_rows; row++) {
        const struct gear_facts *own = &unit->rows[row];
        uint32_t kind = 0;
        for (; kind < unit->n_kinds; kind++) {
            const struct gear_facts *other = &unit->rows[unit->firsts[kind]];
            if (other->present == own->present && memcmp(other->of, own->of, sizeof own->of) == 0)
                break;
        }
        unit->kinds[row] = kind;
        if (kind < unit->n_kinds)
            continue;
        unit->firsts[unit->n_kinds++] = row;
        if (own->present && unit->n_present++ == 0)
            unit->present = row;
    }
}

static bool differs(const struct unit *unit, enum fact fact)
{
    for (uint32_t kind = 0; kind < unit->n_kinds; kind++) {
        const struct gear_facts *row = &unit->rows[unit->firsts[kind]];
        if (row->present && row->of[fact] != unit->rows[unit->present].of[fact])
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------------------- printing ---- */

/* "22 ops, 48 blocks": what all combinations have in common. */
static void print_common(const struct account *account, const struct unit *unit)
{
    const char *between = "";
    for (unsigned fact = 0; fact < FACT_COUNT; fact++) {
        unsigned long long n = unit->rows[unit->present].of[fact];
        /* Most launches wait for nothing but those before them on their stream. */
        bool usual = n == 0 && (fact == FACT_WAITS || fact == FACT_INSIDE);
        if (!(unit->shown >> fact & 1) || differs(unit, (enum fact)fact) || usual)
            continue;
        text_printf(account->line, "%s%llu %s", between, n,
                    n == 1 ? facts[fact].one : facts[fact].many);
        between = ", ";
    }
}

/* A line of the table; its head where `row` is NULL. */
static void print_cells(const struct account *account, const struct unit *unit,
                        const struct gear_facts *row)
{
    text_string(account->line, "     ");
    for (unsigned fact = 0; fact < FACT_COUNT; fact++) {
        if (!(unit->shown >> fact & 1) || !differs(unit, (enum fact)fact))
            continue;
        int width = (int)strlen(facts[fact].head) + 1;
        if (row && row->present)
            text_printf(account->line, " %*llu", width, (unsigned long long)row->of[fact]);
        else
            text_printf(account->line, " %*s", width, row ? "-" : facts[fact].head);
    }
}

static void print_table(const struct account *account, const struct unit *unit)
{
    print_cells(account, unit, NULL);
    text_string(account->line, "  combinations\n");
    for (uint32_t kind = 0; kind < unit->n_kinds && kind < MAX_LINES; kind++) {
        const struct gear_facts *row = &unit->rows[unit->firsts[kind]];
        print_cells(account, unit, row);
        text_string(account->line, "  ");
        gear_rows_text(account->line, account->module, account->graph, unit->kinds, kind);
        text_string(account->line, row->present ? "\n" : ": not there\n");
    }
    if (unit->n_kinds > MAX_LINES)
        text_printf(account->line, "       and %u more kinds\n", unit->n_kinds - MAX_LINES);
}

static const struct {
    op_number *number;
    const char *noun, *why;
} causes[] = {
    {op_blocks, "blocks", "its kernel computes them of shapes"},
    {op_bytes, "bytes of workspace", "its kernel needs some for each element of the result"},
};

/* Prints the ops that differ in a cause, with the least and the largest number of each; returns how
 * many do. */
static uint32_t print_cause(const struct account *account, const struct unit *unit, unsigned cause)
{
    struct arena arena = {NULL, 0};
    const struct vec_u32 *ops = &unit->rows[unit->present].ops;
    const struct graph *first = row_graph(account, unit->present);
    uint32_t found = 0;
    for (uint32_t n = 0; n < ops->count; n++) {
        uint64_t least = UINT64_MAX, most = 0;
        for (uint32_t row = 0; row < account->graph->cases.count; row++) {
            if (!unit->rows[row].present)
                continue;
            const struct graph *graph = row_graph(account, row);
            const struct op *op = &graph->ops.at[unit->rows[row].ops.at[n]];
            uint64_t number = causes[cause].number(account->module, graph, op);
            least = number < least ? number : least;
            most = number > most ? number : most;
        }
        if (least >= most || found++ >= MAX_CAUSES)
            continue;
        text_printf(account->line, "      -> %s has %llu to %llu %s: %s\n",
                    op_text(account->module, first, &first->ops.at[ops->at[n]], &arena),
                    (unsigned long long)least, (unsigned long long)most, causes[cause].noun,
                    causes[cause].why);
    }
    if (found > MAX_CAUSES)
        text_printf(account->line, "      -> and so on: %u more\n", found - MAX_CAUSES);
    arena_free(&arena);
    return found;
}

static void print_causes(const struct account *account, const struct unit *unit)
{
    uint32_t found = 0;
    if (differs(unit, FACT_OPS)) {
        text_string(account->line, "      -> other ops are in it\n");
        return;
    }
    for (unsigned cause = 0; cause < sizeof causes / sizeof causes[0]; cause++)
        found += print_cause(account, unit, cause);
    bool waits = differs(unit, FACT_WAITS) && differs(unit, FACT_INSIDE);
    if (waits)
        text_string(account->line, "      -> it waits before it starts where it would keep cores "
                                   "inside that others lack\n");
    else if (found == 0)
        text_string(account->line, "      -> its ops are ordered otherwise\n");
}

static void print_unit(const struct account *account, const struct unit *unit)
{
    text_printf(account->line, "    super kernel '@%.*s' ", NAME(account->module, unit->name));
    if (unit->n_kinds == 1) {
        text_string(account->line, "is the same in all: ");
    } else if (unit->n_present == 1) {
        text_string(account->line, "is only there with ");
        gear_rows_text(account->line, account->module, account->graph, unit->kinds,
                       unit->kinds[unit->present]);
        text_string(account->line, ": ");
    } else {
        text_string(account->line, "differs; in all: ");
    }
    print_common(account, unit);
    text_char(account->line, '\n');
    if (unit->n_present == 1)
        return;
    print_table(account, unit);
    print_causes(account, unit);
}

static void print_graph(struct account *account)
{
    uint32_t n = account->graph->cases.count;
    for (uint32_t row = 0; row < n; row++)
        add_row(account, row);
    for (uint32_t i = 0; i < account->units.count; i++)
        find_kinds(account->units.at[i], n);
    const struct unit *whole = account->units.at[0];
    text_printf(account->line, "  gears of '@%.*s': %u combination%s of ",
                NAME(account->module, account->graph->name), n, n == 1 ? "" : "s");
    if (whole->n_kinds == 1) {
        print_common(account, whole);
        text_string(account->line, n == 1 ? "\n" : " each\n");
    } else {
        text_string(account->line, "different numbers of launches\n");
        print_table(account, whole);
        text_string(account->line, "      -> other super kernels and ops are launched: see those "
                                   "that are not in all\n");
    }
    for (uint32_t i = 1; i < account->units.count; i++)
        print_unit(account, account->units.at[i]);
}

void check_gears_print(FILE *out, struct module *module)
{
    struct text lines = {NULL, 0, 0};
    struct gear_names names;
    gear_names_init(&names, module);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        struct account account = {
            .line = &lines, .module = module, .graph = &module->graphs.at[i], .names = &names};
        if (account.graph->cases.count == 0)
            continue;
        print_graph(&account);
        for (uint32_t k = 0; k < account.units.count; k++) {
            for (uint32_t row = 0; row < account.graph->cases.count; row++)
                vec_free(&account.units.at[k]->rows[row].ops);
            mem_free(account.units.at[k]);
        }
        vec_free(&account.units);
        id_map_free(&account.by_name);
    }
    diag_put_lines(out, lines.at, lines.size);
    text_free(&lines);
    gear_names_free(&names);
}
