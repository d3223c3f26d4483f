/* Gears of an imported graph, by what GE says of them: the shapes of inputs ("x1:-1,2;x2:-1,2"),
 * and a tuple for each combination of the dimensions that are -1 ("2,2;4,4"). Each such dimension
 * is a column, each combination a row. Columns that are equal in all rows are one gear. */
#include "frontend/import/dump/dump.h"

#include <stdarg.h>
#include <string.h>

#include "frontend/import/text/decimal.h"
#include "ir/support/diag.h"
#include "ir/shapes/dims.h"
#include "ir/shapes/gears.h"
#include "ir/analysis/op_infer.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/verify.h"

/* So that nothing takes long, whatever the text. */
enum { MAX_INPUTS = 10000, MAX_COLUMNS = 1000 };

/* A text, which need not end in a zero. */
struct gear_text {
    const char *at;
    size_t size;
};

/* The shape of an input; -1 where gears decide. */
struct gear_input {
    struct gear_text name;
    uint32_t rank;
    int64_t dims[MAX_RANK];
};

/* The graph that gets gears. */
struct gear_maker {
    struct dump *dump;
    struct module *module;
    struct graph *graph;
    VEC(struct gear_input) inputs;
    uint32_t n_columns, n_rows;       /* dimensions of -1, combinations */
    VEC(int64_t) values;              /* n_rows rows of n_columns */
    const char *shape_key, *dims_key; /* who says so, for messages */
    struct span shape_at, dims_at;    /* where; no_span: on the command line */
    uint32_t *names;                  /* by column: its gear */
    bool ok;
};

bool dump_wants_gears(const struct dump *dump, uint32_t key)
{
    return name_is(dump->module, key, GE_INPUT_SHAPE) ||
           name_is(dump->module, key, GE_DYNAMIC_DIMS) ||
           name_is(dump->module, key, GE_DYNAMIC_NODE_TYPE);
}

bool dump_take_gears(struct dump *dump, const struct attr *attr, struct span key)
{
    struct dump_gears *gears = &dump->gears;
    struct dump_gear_text *place =
        name_is(dump->module, attr->key, GE_INPUT_SHAPE)    ? &gears->input_shape
        : name_is(dump->module, attr->key, GE_DYNAMIC_DIMS) ? &gears->dynamic_dims
                                                            : &gears->node_type;
    if (attr->value.kind != ATTR_STRING || !dump_wants_gears(dump, attr->key))
        return false;
    if (place->text == NONE)
        *place = (struct dump_gear_text){attr->value.id, key};
    else if (place->text != attr->value.id &&
             diag_at(dump->diags, DIAG_gear, key,
                     "%.*s: it is '%.*s' here, but another value stands before",
                     NAME(dump->module, attr->key), NAME(dump->module, attr->value.id))) {
        diag_note(dump->diags, place->key, "here it is '%.*s'", NAME(dump->module, place->text));
        diag_help(dump->diags, "leave one of both away");
    }
    return true;
}

/* Where a key stands. */
static struct span place_of(const struct gear_maker *maker, const char *key)
{
    if (strcmp(key, GE_DYNAMIC_NODE_TYPE) == 0)
        return maker->dump->gears.node_type.key;
    return strcmp(key, maker->shape_key) == 0 ? maker->shape_at : maker->dims_at;
}

/* Always false. */
__attribute__((format(printf, 3, 4))) static bool fail(struct gear_maker *maker, const char *key,
                                                       const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    diag_at(maker->dump->diags, DIAG_gear, place_of(maker, key), "%s: %s", key, what);
    return maker->ok = false;
}

/* ------------------------------------------------------------------------ GE's texts ---- */

static struct gear_text trim(struct gear_text text)
{
    while (text.size && *text.at == ' ') {
        text.at++;
        text.size--;
    }
    while (text.size && text.at[text.size - 1] == ' ')
        text.size--;
    return text;
}

/* The part up to a sign, or the end; the text then begins after it. */
static bool next_part(struct gear_text *text, char sign, struct gear_text *part)
{
    if (!text->at)
        return false;
    const char *end = memchr(text->at, sign, text->size);
    size_t size = end ? (size_t)(end - text->at) : text->size;
    *part = trim((struct gear_text){text->at, size});
    *text = end ? (struct gear_text){end + 1, text->size - size - 1} : (struct gear_text){NULL, 0};
    return true;
}

/* A whole number of up to 18 digits, or -1. */
static bool read_number(struct gear_text text, int64_t *number)
{
    return text.size && *text.at != '+' && decimal_integer(text.at, text.at + text.size, number) &&
           *number >= -1;
}

#define SHOWN(text) (int)(text).size, (text).at

static bool read_input(struct gear_maker *maker, struct gear_text whole)
{
    const char *key = maker->shape_key;
    struct gear_input input = {.rank = 0};
    size_t size = whole.size; /* a name may have colons, too */
    while (size > 0 && whole.at[size - 1] != ':')
        size--;
    if (size < 2)
        return fail(maker, key, "'%.*s' is no NAME:N,N,... of whole numbers and -1", SHOWN(whole));
    input.name = trim((struct gear_text){whole.at, size - 1});
    for (uint32_t i = 0; i < maker->inputs.count; i++)
        if (maker->inputs.at[i].name.size == input.name.size &&
            memcmp(maker->inputs.at[i].name.at, input.name.at, input.name.size) == 0)
            return fail(maker, key, "'%.*s' stands twice", SHOWN(input.name));
    struct gear_text dims = {whole.at + size, whole.size - size}, part;
    while (trim(dims).size && next_part(&dims, ',', &part)) {
        if (input.rank == MAX_RANK)
            return fail(maker, key, "'%.*s' has too many dimensions", SHOWN(whole));
        if (!read_number(part, &input.dims[input.rank]))
            return fail(maker, key, "'%.*s' is no NAME:N,N,... of whole numbers and -1",
                        SHOWN(whole));
        maker->n_columns += input.dims[input.rank++] < 0;
        if (maker->n_columns > MAX_COLUMNS)
            return fail(maker, key, "more than %d dimensions of inputs are -1", MAX_COLUMNS);
    }
    vec_push(&maker->inputs, input);
    return true;
}

static bool read_row(struct gear_maker *maker, struct gear_text whole)
{
    const char *key = maker->dims_key;
    struct gear_text rest = whole, part;
    uint32_t count = 0, n = maker->n_columns;
    int64_t number;
    for (; next_part(&rest, ',', &part); count++) {
        if (!read_number(part, &number) || number < 0)
            return fail(maker, key, "'%.*s' is no list of whole numbers", SHOWN(whole));
        if (number < 2)
            return fail(maker, key, "'%.*s' has a value below 2, which gears cannot have",
                        SHOWN(whole));
        if (count < n)
            vec_push(&maker->values, number);
    }
    if (count != n)
        return fail(maker, key, "'%.*s' has %u number%s, but %u dimension%s -1", SHOWN(whole),
                    count, count == 1 ? "" : "s", n, n == 1 ? " of inputs is" : "s of inputs are");
    const int64_t *row = maker->values.at + maker->n_rows * n;
    for (uint32_t i = 0; i < maker->n_rows; i++)
        if (memcmp(maker->values.at + i * n, row, n * sizeof *row) == 0)
            return fail(maker, key, "'%.*s' stands twice", SHOWN(whole));
    maker->n_rows++;
    return true;
}

/* Reads the shapes of inputs, and combinations, unless `dims` has none (NULL). */
static bool read_texts(struct gear_maker *maker, struct gear_text shape, struct gear_text dims)
{
    const char *key = maker->dims_key;
    struct gear_text part;
    if (trim(shape).size == 0)
        return fail(maker, maker->shape_key, "it is empty");
    while (next_part(&shape, ';', &part)) {
        if (maker->inputs.count == MAX_INPUTS)
            return fail(maker, maker->shape_key, "it has more than %d inputs", MAX_INPUTS);
        if (!read_input(maker, part))
            return false;
    }
    if (!dims.at)
        return true;
    if (trim(dims).size == 0)
        return fail(maker, key, "it is empty");
    if (maker->n_columns == 0)
        return fail(maker, key, "no dimension of an input is -1");
    while (next_part(&dims, ';', &part)) {
        if (maker->n_rows == GEARS_MAX_ROWS)
            return fail(maker, key, "it has more than %d combinations", GEARS_MAX_ROWS);
        if (!read_row(maker, part))
            return false;
    }
    return maker->n_rows >= 2 || fail(maker, key, "it has fewer than two combinations");
}

/* ------------------------------------------------------------------------------ names ---- */

static int64_t value_at(const struct gear_maker *maker, uint32_t row, uint32_t column)
{
    return maker->values.at[row * maker->n_columns + column];
}

static bool are_equal(const struct gear_maker *maker, uint32_t a, uint32_t b)
{
    for (uint32_t row = 0; row < maker->n_rows; row++)
        if (value_at(maker, row, a) != value_at(maker, row, b))
            return false;
    return true;
}

/* "x_0", of a parameter and its dimension. */
static uint32_t new_name(const struct gear_maker *maker, uint32_t column, uint32_t param,
                         uint32_t dim)
{
    const struct intern_name *own =
        &maker->module->names.names[maker->graph->values.at[param].name];
    struct text text = {NULL, 0, 0};
    uint32_t name;
    for (uint32_t i = 0; i < own->size; i++) {
        char c = own->text[i];
        bool digit = c >= '0' && c <= '9';
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        text_char(&text, letter || (digit && i > 0) ? c : '_');
    }
    text_printf(&text, "_%u", dim);
    bool free;
    do {
        name = module_name_printf(maker->module, "%.*s", (int)text.size, text.at);
        text_char(&text, '_');
        free = is_plain_word(maker->module, name) && !graph_declares_dim(maker->graph, name);
        for (uint32_t i = 0; i < column; i++)
            free &= maker->names[i] != name;
    } while (!free);
    text_free(&text);
    return name;
}

/* The gear of a column: the name that the dimension has already, that of a column before it that is
 * equal in all combinations, or a new one. */
static uint32_t name_column(struct gear_maker *maker, uint32_t column, uint32_t param, uint32_t dim,
                            int64_t declared)
{
    uint32_t name = dim_is_gear(declared) ? dim_gear(declared) : NONE;
    for (uint32_t i = 0; i < column; i++) {
        if (name == NONE ? are_equal(maker, i, column) : maker->names[i] == name) {
            if (!are_equal(maker, i, column))
                fail(maker, maker->dims_key,
                     "dimension %u of '%.*s' is '%.*s' as another one, which has other values", dim,
                     NAME(maker->module, maker->graph->values.at[param].name),
                     NAME(maker->module, name));
            return maker->names[i];
        }
    }
    return name != NONE ? name : new_name(maker, column, param, dim);
}

/* ------------------------------------------------------------------------- parameters ---- */

static uint32_t find_param(struct gear_maker *maker, const struct gear_input *input)
{
    const struct graph *graph = maker->graph;
    struct suggest suggest = {.wanted = input->name.at, .wanted_size = input->name.size};
    uint32_t name = intern_find(&maker->module->names, input->name.at, input->name.size);
    for (uint32_t i = 0; name != NONE && i < graph->n_params; i++)
        if (graph->values.at[i].name == name)
            return i;
    for (uint32_t i = 0; i < graph->n_params; i++)
        name_offer(&suggest, maker->module, graph->values.at[i].name);
    fail(maker, maker->shape_key, "the graph has no input '%.*s'%s", SHOWN(input->name),
         suggest_end(&suggest).text);
    return NONE;
}

/* False, with an error, where the graph has another dimension than the text says. */
static bool check_dim(struct gear_maker *maker, uint32_t param, uint32_t dim, int64_t declared,
                      int64_t said)
{
    struct text text = {NULL, 0, 0};
    bool free =
        said < 0 && dim_is_gear(declared) && graph_declares_dim(maker->graph, dim_gear(declared));
    if (declared == DIM_UNKNOWN || declared == said || free)
        return true;
    if (dim_is_gear(declared))
        text_printf(&text, "'%.*s'", NAME(maker->module, dim_gear(declared)));
    else
        text_signed(&text, declared);
    fail(maker, maker->shape_key, "dimension %u of '%.*s' is %.*s in the graph, not %lld", dim,
         NAME(maker->module, maker->graph->values.at[param].name), (int)text.size, text.at,
         (long long)said);
    text_free(&text);
    return false;
}

/* Gives a parameter the shape; its dimensions of -1 are the columns from `column` on. */
static void fill_param(struct gear_maker *maker, uint32_t param, const struct gear_input *input,
                       uint32_t column)
{
    uint32_t *id = &maker->graph->values.at[param].type;
    struct type type = maker->module->types.at[*id];
    int64_t dims[MAX_RANK];
    if (type.rank != RANK_UNKNOWN && type.rank != input->rank) {
        fail(maker, maker->shape_key, "'%.*s' has %u dimension%s in the graph, not %u",
             SHOWN(input->name), type.rank, type.rank == 1 ? "" : "s", input->rank);
        return;
    }
    for (uint32_t i = 0; i < input->rank; i++) {
        int64_t said = input->dims[i];
        int64_t declared =
            type.rank == RANK_UNKNOWN ? DIM_UNKNOWN : type_dims(maker->module, *id)[i];
        dims[i] = said < 0 ? declared : said;
        if (check_dim(maker, param, i, declared, said) && said < 0 && maker->n_rows) {
            maker->names[column] = name_column(maker, column, param, i, declared);
            struct dim_term term = dim_one;
            struct dim_sum sum = {.count = 0};
            dim_term_multiply_name(&term, maker->module, maker->names[column]);
            dim_sum_add(&sum, maker->module, &term);
            dims[i] = dim_of_sum(maker->module, &sum);
        }
        column += said < 0;
    }
    *id = module_type(maker->module, type.dtype, type.format, dims, input->rank);
}

/* ------------------------------------------------------------------------------ gears ---- */

static bool is_first(const struct gear_maker *maker, uint32_t column)
{
    for (uint32_t i = 0; i < column; i++)
        if (maker->names[i] == maker->names[column])
            return false;
    return true;
}

/* Whether the value stands in the column in a row before this one. */
static bool stands_before(const struct gear_maker *maker, uint32_t row, uint32_t column)
{
    for (uint32_t i = 0; i < row; i++)
        if (value_at(maker, i, column) == value_at(maker, row, column))
            return true;
    return false;
}

/* Whether there are several gears, and every value of one stands with all of the others: as no
 * combination stands twice, there are as many as that makes. */
static bool is_product(const struct gear_maker *maker)
{
    uint32_t gears = 0;
    uint64_t rows = 1;
    for (uint32_t i = 0; i < maker->n_columns; i++) {
        if (!is_first(maker, i))
            continue;
        uint32_t values = 0;
        for (uint32_t row = 0; row < maker->n_rows; row++)
            values += !stands_before(maker, row, i);
        gears++;
        rows *= values;
        if (values < 2 || rows > maker->n_rows)
            return false;
    }
    return gears > 1 && rows == maker->n_rows;
}

/* Whether the verifier has nothing against the graph; else the first thing, in `why`. */
static bool is_right(const struct gear_maker *maker, struct gear_verdict *why)
{
    struct diags diags;
    diags_init(&diags, maker->dump->source, maker->dump->source->path);
    diags.max_errors = 1;
    bool right = verify_graph_alone(maker->module, maker->graph, &diags);
    for (uint32_t i = 0; i < diags.list.count && !right && !why->reason.size; i++)
        if (diags.list.at[i].severity == SEVERITY_ERROR) {
            text_string(&why->reason, diags.list.at[i].text);
            why->where = diags.list.at[i].span;
        }
    diags_free(&diags);
    return right;
}

/* Whether an option says what stands in the dump; both may be absent. */
static bool says_the_same(const struct gear_maker *maker, const char *option, uint32_t name)
{
    if (!option || name == NONE)
        return !option && name == NONE;
    return name_is(maker->module, name, option);
}

static void warn_text(const struct gear_maker *maker, const char *option, const char *given,
                      const char *key, const struct dump_gear_text *said)
{
    struct diags *diags = maker->dump->diags;
    if (said->text == NONE || says_the_same(maker, given, said->text))
        return;
    if (diag_at(diags, DIAG_import_shapes, said->key, "%s is '%.*s' here, but %s is %s%s%s", key,
                NAME(maker->module, said->text), option, given ? "'" : "",
                given ? given : "not given", given ? "'" : ""))
        diag_help(diags, "the options count");
}

/* Makes the gears of the columns, and gives parameters their shapes. If the graph was correct
 * before and is not with them, that is a warning. */
static void make_gears(struct gear_maker *maker)
{
    struct diags *diags = maker->dump->diags;
    struct graph *graph = maker->graph;
    struct gear_verdict before = {.fits = true}, why = {.fits = true};
    bool right = is_right(maker, &before);
    text_free(&before.reason);
    maker->names = mem_calloc(maker->n_columns + 1, sizeof *maker->names);
    for (uint32_t i = 0, column = 0; maker->ok && i < maker->inputs.count; i++) {
        const struct gear_input *input = &maker->inputs.at[i];
        uint32_t param = find_param(maker, input);
        if (param != NONE)
            fill_param(maker, param, input, column);
        for (uint32_t dim = 0; dim < input->rank; dim++)
            column += input->dims[dim] < 0;
    }
    if (maker->ok && maker->n_rows)
        graph->gear_mode = is_product(maker) ? GEARS_PRODUCT : GEARS_ZIP;
    for (uint32_t i = 0; maker->ok && maker->n_rows && i < maker->n_columns; i++) {
        struct gear gear = {maker->names[i], graph->loc, {graph->gear_values.count, 0}};
        uint32_t kept = 0;
        if (!is_first(maker, i))
            continue;
        for (uint32_t k = 0; k < graph->dims.count; k++) /* it is no free name any more */
            if (graph->dims.at[k].name != gear.name)
                graph->dims.at[kept++] = graph->dims.at[k];
        graph->dims.count = kept;
        for (uint32_t row = 0; row < maker->n_rows; row++)
            if (graph->gear_mode == GEARS_ZIP || !stands_before(maker, row, i))
                vec_push(&graph->gear_values, value_at(maker, row, i));
        gear.values.count = graph->gear_values.count - gear.values.first;
        vec_push(&graph->gears, gear);
    }
    mem_free(maker->names);
    if (!maker->ok)
        return;
    refine_result_types(maker->module, graph);
    for (uint32_t i = 0; i < graph->result_types.count && i < graph->returns.count; i++)
        if (type_has_unknown(maker->module, graph->result_types.at[i]))
            graph->result_types.at[i] = graph->values.at[graph->returns.at[i]].type;
    if (right && is_right(maker, &why)) {
        struct gear_rows_left_out out;
        uint32_t count = gear_rows_find(&out, maker->module, 0, diags);
        if (out.count && diag_at(diags, DIAG_import_shapes, place_of(maker, maker->dims_key),
                                 "%s: %u of %u combinations contradict%s the graph",
                                 maker->dims_key, out.count, count, out.count == 1 ? "s" : "")) {
            diag_note(diags, out.where, "with %.*s: %.*s", (int)out.first.size, out.first.at,
                      (int)out.reason.size, out.reason.at);
            diag_help(diags, out.count == count ? "nothing is left that can be compiled"
                                                : "what is compiled leaves them out");
        }
        gear_rows_left_out_free(&out);
    } else if (right && diag_at(diags, DIAG_import_shapes, place_of(maker, maker->shape_key),
                                "%s: the graph contradicts these shapes", maker->shape_key)) {
        diag_note(diags, why.where, "%.*s", (int)why.reason.size, why.reason.at);
    }
    text_free(&why.reason);
}

void dump_add_gears(struct dump *dump)
{
    const struct dump_options *options = dump->options;
    const struct dump_gears *gears = &dump->gears;
    bool attrs = gears->input_shape.text != NONE || gears->dynamic_dims.text != NONE;
    if ((!attrs && !options->input_shape) || dump->module->graphs.count == 0)
        return;
    struct gear_maker maker = {
        .dump = dump, .module = dump->module, .graph = &dump->module->graphs.at[0], .ok = true};
    bool by_options = options->input_shape &&
                      !(says_the_same(&maker, options->input_shape, gears->input_shape.text) &&
                        says_the_same(&maker, options->dynamic_dims, gears->dynamic_dims.text));
    uint32_t shape = gears->input_shape.text, dims = gears->dynamic_dims.text;
    struct gear_text shape_text = {options->input_shape, 0}, dims_text = {options->dynamic_dims, 0};
    maker.shape_key = by_options ? "--input-shape" : GE_INPUT_SHAPE;
    maker.dims_key = by_options ? "--dynamic-dims" : GE_DYNAMIC_DIMS;
    maker.shape_at = by_options ? no_span : gears->input_shape.key;
    maker.dims_at = by_options ? no_span : gears->dynamic_dims.key;
    if (by_options) {
        shape_text.size = strlen(shape_text.at);
        dims_text.size = dims_text.at ? strlen(dims_text.at) : 0;
    } else {
        const struct intern_name *names = dump->module->names.names;
        if (gears->node_type.text != NONE &&
            !name_is(dump->module, gears->node_type.text, GE_NODES_ARE_PARAMETERS))
            fail(&maker, GE_DYNAMIC_NODE_TYPE,
                 "it is '%.*s', but only " GE_NODES_ARE_PARAMETERS
                 ", inputs of the graph, is known",
                 NAME(dump->module, gears->node_type.text));
        if (shape == NONE)
            fail(&maker, GE_DYNAMIC_DIMS, "it needs " GE_INPUT_SHAPE);
        else
            shape_text = (struct gear_text){names[shape].text, names[shape].size};
        dims_text = (struct gear_text){NULL, 0};
        if (dims != NONE)
            dims_text = (struct gear_text){names[dims].text, names[dims].size};
    }
    if (by_options || shape != NONE)
        read_texts(&maker, shape_text, dims_text);
    if (maker.ok && by_options && attrs) { /* options count over what the dump says */
        warn_text(&maker, "--input-shape", options->input_shape, GE_INPUT_SHAPE,
                  &gears->input_shape);
        warn_text(&maker, "--dynamic-dims", options->dynamic_dims, GE_DYNAMIC_DIMS,
                  &gears->dynamic_dims);
    }
    if (maker.ok)
        make_gears(&maker);
    vec_free(&maker.inputs);
    vec_free(&maker.values);
}
