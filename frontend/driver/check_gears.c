#include "frontend/driver/check_gears.h"
#include "ir/analysis/dep_graph.h"
#include "ir/core/calls.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"
#include "ir/syntax/spelling.h"

#include <string.h>

enum { MAX_RANGES = 6 }; /* that a text names */

/* ---------------------------------------------------------------------------- names ---- */

/* "f_*_layer": `tail` is what expand-gears has put behind names, at whose last place `*` stands. */
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

static void add_name(struct gear_names *names, uint32_t name, struct gear_place place)
{
    id_map_set(&names->at, name, names->places.count);
    vec_push(&names->places, place);
}

static void add_place(struct gear_names *names, uint32_t id, uint32_t row)
{
    struct module *module = names->module;
    uint32_t base = module->graphs.at[id].name, name = module->graphs.at[id].cases.at[row].graph;
    const struct graph *graph = module_graph(module, name);
    struct intern_name tail = module->names.names[name];
    uint32_t skip = module->names.names[base].size;
    skip = skip < tail.size ? skip : tail.size;
    tail.text += skip;
    tail.size -= skip;
    add_name(names, name, (struct gear_place){id, row, common_name(module, name, &tail)});
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind == BLOCK_SUPERKERNEL)
            add_name(names, block->name,
                     (struct gear_place){id, row, common_name(module, block->name, &tail)});
    }
}

void gear_names_init(struct gear_names *names, struct module *module)
{
    *names = (struct gear_names){.module = module};
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t row = 0; row < module->graphs.at[i].cases.count; row++)
            add_place(names, i, row);
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

/* ---------------------------------------------------------------------------- events ---- */

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

/* Appends a text that is said of a combination, with its events as all combinations have them. */
static void write_events(const struct gear_names *names, struct text *text,
                         const struct gear_place *place, const char *from)
{
    for (const char *begin, *end; (begin = strchr(from, '\'')); from = end) {
        end = strchr(begin + 1, '\'');
        if (!end)
            break;
        struct intern_name base = event_base(names, place, begin + 1, (size_t)(end - begin - 1));
        text_bytes(text, from, (size_t)(begin + 1 - from));
        text_bytes(text, base.text, base.size);
        text_char(text, *end++);
    }
    text_string(text, from);
}

/* ---------------------------------------------------------------------------- texts ---- */

static const struct gear_place *write_names(const struct gear_names *names, struct text *text,
                                            const char *from)
{
    const struct gear_place *first = NULL;
    for (const char *begin; (begin = strstr(from, "'@"));) {
        const char *name = begin + 2, *end = strchr(name, '\'');
        if (!end)
            break;
        uint32_t id = intern_find(&names->module->names, name, (size_t)(end - name));
        const struct gear_place *place = id == NONE ? NULL : gear_names_find(names, id);
        text_bytes(text, from, (size_t)(name - from));
        if (place)
            text_printf(text, "%.*s", NAME(names->module, place->name));
        from = place ? end : name;
        first = first ? first : place;
    }
    text_string(text, from);
    return first;
}

const struct gear_place *gear_names_write(const struct gear_names *names, struct text *text,
                                          const char *from)
{
    struct text named = {NULL, 0, 0};
    const struct gear_place *place = write_names(names, &named, from);
    text_char(&named, '\0');
    if (place)
        write_events(names, text, place, named.at);
    else
        text_string(text, from);
    text_free(&named);
    return place;
}

/* --------------------------------------------------------------------------- ranges ---- */

static void row_text(struct text *text, const struct module *module, const struct graph *graph,
                     uint32_t row)
{
    gear_row_text(text, module, graph, graph->gear_values.at + graph->cases.at[row].values.first);
}

static void range_text(struct text *text, const struct module *module, const struct graph *graph,
                       uint32_t first, uint32_t last)
{
    row_text(text, module, graph, first);
    if (last == first)
        return;
    text_string(text, " .. ");
    if (graph->gears.count == 1)
        text_signed(text, graph->gear_values.at[graph->cases.at[last].values.first]);
    else
        row_text(text, module, graph, last);
}

void gear_rows_text(struct text *text, const struct module *module, const struct graph *graph,
                    const uint32_t *marks, uint32_t mark)
{
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
        text_string(text, ranges > 1 ? "; " : "");
        range_text(text, module, graph, first, end - 1);
    }
    if (others)
        text_printf(text, "; %u more", others);
}

enum { MAX_CAUSES = 4, MAX_LINES = 20 }; /* of ops, and of a table, that are told */

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
    unsigned shown; /* the facts that are told: a bit each */
    struct gear_facts *rows;
    uint32_t *kinds; /* by row: the same number where rows are alike */
    uint32_t n_kinds;
};

struct account {
    struct text *line; /* of lines, each with its end */
    struct module *module;
    const struct graph *graph;
    const struct gear_names *names;
    VEC(struct unit) units; /* the first is the graph itself */
    struct id_map by_name;
};

/* ------------------------------------------------------------------------- gathering ---- */

static const struct graph *row_graph(const struct account *account, uint32_t row)
{
    return module_graph(account->module, account->graph->cases.at[row].graph);
}

static struct unit *unit_named(struct account *account, uint32_t name, unsigned shown)
{
    uint32_t *at = id_map_at(&account->by_name, name);
    uint32_t n = account->graph->cases.count;
    if (*at == NONE) {
        *at = account->units.count;
        vec_push(&account->units, (struct unit){.name = name, .shown = shown});
        account->units.at[*at].rows = mem_calloc(n, sizeof *account->units.at->rows);
        account->units.at[*at].kinds = mem_calloc(n, sizeof *account->units.at->kinds);
    }
    return &account->units.at[*at];
}

static void add_superkernel(struct account *account, uint32_t row, const struct block *block)
{
    const struct module *module = account->module;
    const struct entry *entry = block_entry(module, block);
    const struct gear_place *place = gear_names_find(account->names, block->name);
    unsigned shown = ((1u << FACT_COUNT) - 1) & ~(1u << FACT_LAUNCHES);
    struct gear_facts *at = &unit_named(account, place->name, shown)->rows[row];
    at->present = true;
    at->of[FACT_WAITS] = block->recv.count;
    if (!entry)
        return;
    at->of[FACT_BLOCKS] = (uint64_t)attr_int(module, entry->attrs, W_block, 1);
    at->of[FACT_WORKSPACE] = (uint64_t)attr_int(module, entry->attrs, W_workspace, 0);
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            enum instr_op op = entry->programs[core].instrs.at[i].op;
            at->of[FACT_BARRIERS] += op == INSTR_await;
            at->of[FACT_FLAGS] += op == INSTR_wait;
        }
}

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
    const struct kernel *kernel = module_kernel(module, op->kernel);
    uint64_t bytes;
    return kernel_workspace(module, kernel, graph, op, &bytes) ? bytes : 0;
}

static void add_op(struct account *account, struct gear_facts *row, const struct graph *graph,
                   uint32_t op)
{
    uint64_t bytes = op_bytes(account->module, graph, &graph->ops.at[op]);
    vec_push(&row->ops, op);
    row->of[FACT_OPS]++;
    row->of[FACT_INSIDE] += op_clauses(graph, &graph->ops.at[op])->recv.count;
    row->of[FACT_CALLED] += op_blocks(account->module, graph, &graph->ops.at[op]);
    if (__builtin_add_overflow(row->of[FACT_WORKSPACE], bytes, &row->of[FACT_WORKSPACE]))
        row->of[FACT_WORKSPACE] = UINT64_MAX;
}

static void add_row(struct account *account, uint32_t row)
{
    const struct graph *graph = row_graph(account, row);
    struct unit *whole = unit_named(account, account->graph->name, 1u << FACT_LAUNCHES);
    whole->rows[row].present = true;
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL) {
            account->units.at[0].rows[row].of[FACT_LAUNCHES]++;
            add_superkernel(account, row, &graph->blocks.at[b]);
        }
    /* All ops that are run: those of super kernels are in one launch. */
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        if (op_is_passive(account->module, graph, op) || op_call_kind(op) != CALL_NONE)
            continue;
        uint32_t block = graph_superkernel(graph, op->block);
        account->units.at[0].rows[row].of[FACT_LAUNCHES] += block == NONE;
        if (block == NONE)
            continue;
        const struct gear_place *place =
            gear_names_find(account->names, graph->blocks.at[block].name);
        add_op(account, &unit_named(account, place->name, 0)->rows[row], graph, i);
    }
}

static bool are_alike(const struct gear_facts *a, const struct gear_facts *b)
{
    return a->present == b->present && memcmp(a->of, b->of, sizeof a->of) == 0;
}

/* --------------------------------------------------------------------------- tables ---- */

static uint32_t first_of(const struct unit *unit, uint32_t kind)
{
    uint32_t row = 0;
    while (unit->kinds[row] != kind)
        row++;
    return row;
}

static bool differs(const struct account *account, const struct unit *unit, enum fact fact)
{
    const struct gear_facts *first = NULL;
    for (uint32_t row = 0; row < account->graph->cases.count; row++) {
        const struct gear_facts *at = &unit->rows[row];
        if (at->present && first && at->of[fact] != first->of[fact])
            return true;
        first = at->present ? at : first;
    }
    return false;
}

/* Most launches wait for nothing but those before them on their stream: then nothing is said. */
static bool is_told(enum fact fact, uint64_t number)
{
    return number || (fact != FACT_WAITS && fact != FACT_INSIDE);
}

/* "22 ops, 48 blocks": what all combinations have in common. */
static void print_common(const struct account *account, const struct unit *unit)
{
    uint32_t row = 0;
    const char *between = "";
    while (!unit->rows[row].present)
        row++;
    for (unsigned fact = 0; fact < FACT_COUNT; fact++) {
        if (!(unit->shown >> fact & 1) || differs(account, unit, (enum fact)fact))
            continue;
        unsigned long long n = unit->rows[row].of[fact];
        if (!is_told((enum fact)fact, n))
            continue;
        text_printf(account->line, "%s%llu %s", between, n,
                    n == 1 ? facts[fact].one : facts[fact].many);
        between = ", ";
    }
}

static void print_cells(const struct account *account, const struct unit *unit,
                        const struct gear_facts *row)
{
    text_string(account->line, "     ");
    for (unsigned fact = 0; fact < FACT_COUNT; fact++) {
        if (!(unit->shown >> fact & 1) || !differs(account, unit, (enum fact)fact))
            continue;
        int width = (int)strlen(facts[fact].head) + 1;
        if (!row)
            text_printf(account->line, " %*s", width, facts[fact].head);
        else if (!row->present)
            text_printf(account->line, " %*s", width, "-");
        else
            text_printf(account->line, " %*llu", width, (unsigned long long)row->of[fact]);
    }
}

static void print_table(const struct account *account, const struct unit *unit)
{
    struct text text = {NULL, 0, 0};
    print_cells(account, unit, NULL);
    text_string(account->line, "  combinations\n");
    for (uint32_t kind = 0; kind < unit->n_kinds && kind < MAX_LINES; kind++) {
        print_cells(account, unit, &unit->rows[first_of(unit, kind)]);
        text.size = 0;
        gear_rows_text(&text, account->module, account->graph, unit->kinds, kind);
        text_printf(account->line, "  %.*s%s\n", (int)text.size, text.at,
                    unit->rows[first_of(unit, kind)].present ? "" : ": not there");
    }
    if (unit->n_kinds > MAX_LINES)
        text_printf(account->line, "       and %u more kinds\n", unit->n_kinds - MAX_LINES);
    text_free(&text);
}

/* --------------------------------------------------------------------------- causes ---- */

/* What an op has that may depend on its shape. */
typedef uint64_t op_number(const struct module *module, const struct graph *graph,
                           const struct op *op);

static const struct {
    op_number *number;
    const char *noun, *why;
} causes[] = {
    {op_blocks, "blocks", "its kernel computes them of shapes"},
    {op_bytes, "bytes of workspace", "its kernel needs some for each element of the result"},
};

/* The least and the largest number that the n-th op has in a combination. */
static bool spans(const struct account *account, const struct unit *unit, uint32_t n,
                  op_number *number, uint64_t *least, uint64_t *most)
{
    *least = UINT64_MAX, *most = 0;
    for (uint32_t row = 0; row < account->graph->cases.count; row++) {
        if (!unit->rows[row].present)
            continue;
        const struct graph *graph = row_graph(account, row);
        const struct op *op = &graph->ops.at[unit->rows[row].ops.at[n]];
        uint64_t is = number(account->module, graph, op);
        *least = is < *least ? is : *least;
        *most = is > *most ? is : *most;
    }
    return *least < *most;
}

/* How many ops differ in it. */
static uint32_t print_cause(const struct account *account, const struct unit *unit, uint32_t row,
                            unsigned cause)
{
    struct arena arena = {NULL, 0};
    const struct graph *graph = row_graph(account, row);
    uint32_t found = 0;
    uint64_t least, most;
    for (uint32_t n = 0; n < unit->rows[row].ops.count; n++) {
        if (!spans(account, unit, n, causes[cause].number, &least, &most) || found++ >= MAX_CAUSES)
            continue;
        const struct op *op = &graph->ops.at[unit->rows[row].ops.at[n]];
        text_printf(account->line, "      -> %s has %llu to %llu %s: %s\n",
                    op_text(account->module, graph, op, &arena), (unsigned long long)least,
                    (unsigned long long)most, causes[cause].noun, causes[cause].why);
    }
    if (found > MAX_CAUSES)
        text_printf(account->line, "      -> and so on: %u more\n", found - MAX_CAUSES);
    arena_free(&arena);
    return found;
}

static void print_causes(const struct account *account, const struct unit *unit)
{
    uint32_t row = 0, found = 0;
    while (!unit->rows[row].present)
        row++;
    if (differs(account, unit, FACT_OPS)) {
        text_string(account->line, "      -> other ops are in it\n");
        return;
    }
    for (unsigned cause = 0; cause < sizeof causes / sizeof causes[0]; cause++)
        found += print_cause(account, unit, row, cause);
    if (differs(account, unit, FACT_WAITS) && differs(account, unit, FACT_INSIDE)) {
        text_string(account->line, "      -> it waits before it starts where it would keep cores "
                                   "inside that others lack\n");
        found++;
    }
    if (found == 0)
        text_string(account->line, "      -> its ops are ordered otherwise\n");
}

/* ---------------------------------------------------------------------------- units ---- */

/* How many kinds have it. */
static uint32_t n_present(const struct unit *unit)
{
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < unit->n_kinds; kind++)
        count += unit->rows[first_of(unit, kind)].present;
    return count;
}

static void print_presence(const struct account *account, const struct unit *unit)
{
    uint32_t row = 0;
    while (!unit->rows[row].present)
        row++;
    text_string(account->line, "is only there with ");
    gear_rows_text(account->line, account->module, account->graph, unit->kinds, unit->kinds[row]);
    text_string(account->line, ": ");
}

static void print_unit(const struct account *account, const struct unit *unit)
{
    bool alike = n_present(unit) == 1;
    text_printf(account->line, "    super kernel '@%.*s' ", NAME(account->module, unit->name));
    if (unit->n_kinds == 1)
        text_string(account->line, "is the same in all: ");
    else if (alike)
        print_presence(account, unit);
    else
        text_string(account->line, "differs; in all: ");
    print_common(account, unit);
    text_char(account->line, '\n');
    if (alike)
        return;
    print_table(account, unit);
    print_causes(account, unit);
}

static void print_whole(const struct account *account)
{
    const struct unit *whole = &account->units.at[0];
    uint32_t n = account->graph->cases.count;
    text_printf(account->line, "  gears of '@%.*s': %u combination%s of ",
                NAME(account->module, account->graph->name), n, n == 1 ? "" : "s");
    if (whole->n_kinds == 1) {
        print_common(account, whole);
        text_string(account->line, n == 1 ? "\n" : " each\n");
        return;
    }
    text_string(account->line, "different numbers of launches\n");
    print_table(account, whole);
    text_string(account->line,
                "      -> other super kernels and ops are launched: see those that are "
                "not in all\n");
}

static void print_graph(struct account *account)
{
    for (uint32_t row = 0; row < account->graph->cases.count; row++)
        add_row(account, row);
    for (uint32_t i = 0; i < account->units.count; i++) {
        struct unit *unit = &account->units.at[i];
        uint32_t first[GEARS_MAX_ROWS];
        for (uint32_t row = 0; row < account->graph->cases.count; row++) {
            uint32_t kind = 0;
            while (kind < unit->n_kinds && !are_alike(&unit->rows[first[kind]], &unit->rows[row]))
                kind++;
            if (kind == unit->n_kinds)
                first[unit->n_kinds++] = row;
            unit->kinds[row] = kind;
        }
    }
    print_whole(account);
    for (uint32_t i = 1; i < account->units.count; i++)
        print_unit(account, &account->units.at[i]);
}

static void account_free(struct account *account)
{
    for (uint32_t i = 0; i < account->units.count; i++) {
        for (uint32_t row = 0; row < account->graph->cases.count; row++)
            vec_free(&account->units.at[i].rows[row].ops);
        mem_free(account->units.at[i].rows);
        mem_free(account->units.at[i].kinds);
    }
    vec_free(&account->units);
    id_map_free(&account->by_name);
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
        account_free(&account);
    }
    diag_put_lines(out, lines.at, lines.size);
    text_free(&lines);
    gear_names_free(&names);
}
