#include "frontend/exchange/dump/gears.h"
#include "ir/base/message.h"
#include "ir/base/suggest.h"
#include "ir/dims.h"
#include "ir/ge_gears.h"
#include "ir/gears.h"
#include "ir/refine_types.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/gear_rows.h"
#include "ir/verify/verify.h"

#include <stdarg.h>
#include <string.h>

/* ------------------------------------------------------------------------ GE's texts ---- */

/* The shape of an input; -1 where gears decide. The name is a part of the text. */
struct gear_input {
    const char *name;
    size_t size;
    uint32_t rank;
    int64_t dims[MAX_RANK];
};

/* Zero-initialised is nothing. */
struct gear_texts {
    VEC(struct gear_input) inputs;
    uint32_t n_columns, n_rows; /* dimensions of -1, combinations */
    VEC(int64_t) values;        /* n_rows rows of n_columns */
};

/* A text, which need not end in a zero. */
struct gear_text {
    const char *at;
    size_t size;
};

/* So that nothing takes long, whatever the text. */
enum { MAX_INPUTS = 10000, MAX_COLUMNS = 1000 };

struct gear_reader {
    struct gear_texts *texts;
    char *error;
    size_t error_size;
};

/* ------------------------------------------------------------------------------ parts ---- */

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

/* The part up to a sign, or the end, which the text then begins behind. */
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
    bool negative = text.size && *text.at == '-';
    size_t digits = text.size - negative;
    *number = 0;
    for (size_t i = negative; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        *number = digits <= 18 ? *number * 10 + (text.at[i] - '0') : 0;
    }
    *number = negative ? -*number : *number;
    return digits > 0 && digits <= 18 && *number >= -1;
}

static bool fail_part(const struct gear_reader *reader, struct gear_text part, const char *what)
{
    return message_fail(reader->error, reader->error_size, "'%.*s' %s", (int)part.size, part.at,
                        what);
}

/* ------------------------------------------------------------------------------ inputs ---- */

static bool read_dims(const struct gear_reader *reader, struct gear_text whole,
                      struct gear_text dims, struct gear_input *input)
{
    struct gear_text part;
    if (trim(dims).size == 0)
        return true;
    while (next_part(&dims, ',', &part)) {
        if (input->rank == MAX_RANK)
            return fail_part(reader, whole, "has too many dimensions");
        if (!read_number(part, &input->dims[input->rank]))
            return fail_part(reader, whole, "is no NAME:N,N,... of whole numbers and -1");
        reader->texts->n_columns += input->dims[input->rank++] < 0;
        if (reader->texts->n_columns > MAX_COLUMNS)
            return message_fail(reader->error, reader->error_size,
                                "more than %d dimensions of inputs are -1", MAX_COLUMNS);
    }
    return true;
}

static bool is_given(const struct gear_texts *texts, const struct gear_input *input)
{
    for (uint32_t i = 0; i < texts->inputs.count; i++)
        if (texts->inputs.at[i].size == input->size &&
            memcmp(texts->inputs.at[i].name, input->name, input->size) == 0)
            return true;
    return false;
}

/* A name may have colons, too. */
static bool read_input(const struct gear_reader *reader, struct gear_text part)
{
    size_t size = part.size;
    while (size > 0 && part.at[size - 1] != ':')
        size--;
    if (size < 2)
        return fail_part(reader, part, "is no NAME:N,N,... of whole numbers and -1");
    struct gear_text name = trim((struct gear_text){part.at, size - 1});
    struct gear_input input = {.name = name.at, .size = name.size};
    if (is_given(reader->texts, &input))
        return fail_part(reader, name, "stands twice");
    if (!read_dims(reader, part, (struct gear_text){part.at + size, part.size - size}, &input))
        return false;
    vec_push(&reader->texts->inputs, input);
    return true;
}

/* Read the shapes of inputs, and then combinations. False, with a line in `error`, where the text
 * is not what GE takes, or combinations not what gears take. */
static bool read_inputs(struct gear_texts *texts, struct gear_text text, char *error,
                        size_t error_size)
{
    const struct gear_reader reader = {texts, error, error_size};
    struct gear_text part;
    if (trim(text).size == 0)
        return message_fail(error, error_size, "it is empty");
    while (next_part(&text, ';', &part)) {
        if (texts->inputs.count == MAX_INPUTS)
            return message_fail(error, error_size, "it has more than %d inputs", MAX_INPUTS);
        if (!read_input(&reader, part))
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------------------- rows ---- */

static bool is_repeated(const struct gear_texts *texts)
{
    size_t n = texts->n_columns;
    const int64_t *row = texts->values.at + texts->n_rows * n;
    for (uint32_t i = 0; i < texts->n_rows; i++)
        if (memcmp(texts->values.at + i * n, row, n * sizeof *row) == 0)
            return true;
    return false;
}

static bool read_row(const struct gear_reader *reader, struct gear_text whole)
{
    struct gear_texts *texts = reader->texts;
    struct gear_text rest = whole, part;
    uint32_t count = 0;
    int64_t number;
    for (; next_part(&rest, ',', &part); count++) {
        if (!read_number(part, &number) || number < 0)
            return fail_part(reader, whole, "is no list of whole numbers");
        if (number < 2)
            return fail_part(reader, whole, "has a value below 2, which gears cannot have");
        if (count < texts->n_columns)
            vec_push(&texts->values, number);
    }
    if (count != texts->n_columns)
        return message_fail(reader->error, reader->error_size,
                            "'%.*s' has %u number%s, but %u dimension%s -1", (int)whole.size,
                            whole.at, count, count == 1 ? "" : "s", texts->n_columns,
                            texts->n_columns == 1 ? " of inputs is" : "s of inputs are");
    if (is_repeated(texts))
        return fail_part(reader, whole, "stands twice");
    texts->n_rows++;
    return true;
}

static bool read_rows(struct gear_texts *texts, struct gear_text text, char *error,
                      size_t error_size)
{
    const struct gear_reader reader = {texts, error, error_size};
    struct gear_text part;
    if (trim(text).size == 0)
        return message_fail(error, error_size, "it is empty");
    if (texts->n_columns == 0)
        return message_fail(error, error_size, "no dimension of an input is -1");
    while (next_part(&text, ';', &part)) {
        if (texts->n_rows == GEARS_MAX_ROWS)
            return message_fail(error, error_size, "it has more than %d combinations",
                                GEARS_MAX_ROWS);
        if (!read_row(&reader, part))
            return false;
    }
    return texts->n_rows >= 2 ||
           message_fail(error, error_size, "it has fewer than two combinations");
}

static void free_texts(struct gear_texts *texts)
{
    vec_free(&texts->inputs);
    vec_free(&texts->values);
}

/* The graph that gets gears. */
struct gear_maker {
    struct dump *dump;
    struct module *module;
    struct graph *graph;
    struct gear_texts texts;
    const char *shape_key, *dims_key; /* who says so, for messages */
    struct span shape_at, dims_at;    /* where; no_span: on the command line */
    uint32_t *names;                  /* by column: its gear */
    bool ok;
};

/* ------------------------------------------------------------------------------ texts ---- */

bool dump_wants_gears(const struct dump *dump, uint32_t key)
{
    return name_is(dump->module, key, GE_INPUT_SHAPE) ||
           name_is(dump->module, key, GE_DYNAMIC_DIMS) ||
           name_is(dump->module, key, GE_DYNAMIC_NODE_TYPE);
}

static void report_twice(const struct dump *dump, const struct attr *attr, struct span key,
                         const struct dump_gear_text *before)
{
    if (!diag_at(dump->diags, DIAG_gear, key,
                 "%.*s: it is '%.*s' here, but another value stands before",
                 NAME(dump->module, attr->key), NAME(dump->module, attr->value.id)))
        return;
    diag_note(dump->diags, before->key, "here it is '%.*s'", NAME(dump->module, before->text));
    diag_help(dump->diags, "leave one of both away");
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
    else if (place->text != attr->value.id)
        report_twice(dump, attr, key, place);
    return true;
}

/* Where a key stands. */
static struct span place_of(const struct gear_maker *maker, const char *key)
{
    if (strcmp(key, GE_DYNAMIC_NODE_TYPE) == 0)
        return maker->dump->gears.node_type.key;
    return strcmp(key, maker->shape_key) == 0 ? maker->shape_at : maker->dims_at;
}

static void fail(struct gear_maker *maker, const char *key, const char *what)
{
    maker->ok = false;
    diag_at(maker->dump->diags, DIAG_gear, place_of(maker, key), "%s: %s", key, what);
}

static void failf(struct gear_maker *maker, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void failf(struct gear_maker *maker, const char *key, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    fail(maker, key, what);
}

static struct gear_text text_of(const struct gear_maker *maker, uint32_t name)
{
    const struct intern_name *text = &maker->module->names.names[name];
    return (struct gear_text){text->text, text->size};
}

static void read_texts(struct gear_maker *maker, struct gear_text shape,
                       const struct gear_text *dims)
{
    char error[512];
    if (!read_inputs(&maker->texts, shape, error, sizeof error))
        fail(maker, maker->shape_key, error);
    else if (dims && !read_rows(&maker->texts, *dims, error, sizeof error))
        fail(maker, maker->dims_key, error);
}

static void read_options(struct gear_maker *maker)
{
    const struct dump_options *options = maker->dump->options;
    struct gear_text dims = {options->dynamic_dims,
                             options->dynamic_dims ? strlen(options->dynamic_dims) : 0};
    maker->shape_at = maker->dims_at = no_span;
    maker->shape_key = "--input-shape";
    maker->dims_key = "--dynamic-dims";
    read_texts(maker, (struct gear_text){options->input_shape, strlen(options->input_shape)},
               options->dynamic_dims ? &dims : NULL);
}

static void read_attrs(struct gear_maker *maker)
{
    const struct dump_gears *gears = &maker->dump->gears;
    struct gear_text dims;
    maker->shape_at = gears->input_shape.key;
    maker->dims_at = gears->dynamic_dims.key;
    maker->shape_key = GE_INPUT_SHAPE;
    maker->dims_key = GE_DYNAMIC_DIMS;
    if (gears->node_type.text != NONE &&
        !name_is(maker->module, gears->node_type.text, GE_NODES_ARE_PARAMETERS))
        failf(maker, GE_DYNAMIC_NODE_TYPE,
              "it is '%.*s', but only " GE_NODES_ARE_PARAMETERS ", inputs of the graph, is known",
              NAME(maker->module, gears->node_type.text));
    if (gears->dynamic_dims.text != NONE)
        dims = text_of(maker, gears->dynamic_dims.text);
    if (gears->input_shape.text == NONE)
        failf(maker, GE_DYNAMIC_DIMS, "it needs " GE_INPUT_SHAPE);
    else
        read_texts(maker, text_of(maker, gears->input_shape.text),
                   gears->dynamic_dims.text == NONE ? NULL : &dims);
}

/* ------------------------------------------------------------------------------ names ---- */

static bool are_equal(const struct gear_maker *maker, uint32_t a, uint32_t b)
{
    const struct gear_texts *texts = &maker->texts;
    for (uint32_t i = 0; i < texts->n_rows; i++)
        if (texts->values.at[i * texts->n_columns + a] !=
            texts->values.at[i * texts->n_columns + b])
            return false;
    return true;
}

static bool is_free(const struct gear_maker *maker, uint32_t column, uint32_t name)
{
    for (uint32_t i = 0; i < column; i++)
        if (maker->names[i] == name)
            return false;
    return is_plain_word(maker->module, name) && !graph_declares_dim(maker->graph, name);
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
    do {
        name = module_name_printf(maker->module, "%.*s", (int)text.size, text.at);
        text_char(&text, '_');
    } while (!is_free(maker, column, name));
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
                failf(maker, maker->dims_key,
                      "dimension %u of '%.*s' is '%.*s' as another one, which has other values",
                      dim, NAME(maker->module, maker->graph->values.at[param].name),
                      NAME(maker->module, name));
            return maker->names[i];
        }
    }
    return name != NONE ? name : new_name(maker, column, param, dim);
}

static int64_t dim_of_name(struct gear_maker *maker, uint32_t name)
{
    struct dim_term term = dim_one;
    struct dim_sum sum = {.count = 0};
    dim_term_multiply_name(&term, maker->module, name);
    dim_sum_add(&sum, maker->module, &term);
    return dim_of_sum(maker->module, &sum);
}

/* ------------------------------------------------------------------------- parameters ---- */

static uint32_t find_param(struct gear_maker *maker, const struct gear_input *input)
{
    const struct graph *graph = maker->graph;
    struct suggest suggest = {.wanted = input->name, .wanted_size = input->size};
    uint32_t name = intern_find(&maker->module->names, input->name, input->size);
    for (uint32_t i = 0; name != NONE && i < graph->n_params; i++)
        if (graph->values.at[i].name == name)
            return i;
    for (uint32_t i = 0; i < graph->n_params; i++)
        name_offer(&suggest, maker->module, graph->values.at[i].name);
    failf(maker, maker->shape_key, "the graph has no input '%.*s'%s", (int)input->size, input->name,
          suggest_end(&suggest).text);
    return NONE;
}

/* Whether what the text says of a dimension is not against what the graph has. */
static bool agrees(const struct gear_maker *maker, int64_t declared, int64_t said)
{
    if (declared == DIM_UNKNOWN || declared == said)
        return true;
    return said < 0 && dim_is_gear(declared) &&
           graph_declares_dim(maker->graph, dim_gear(declared));
}

static void report_dim(struct gear_maker *maker, uint32_t param, uint32_t dim, int64_t declared,
                       int64_t said)
{
    struct text text = {NULL, 0, 0};
    if (dim_is_gear(declared))
        text_printf(&text, "'%.*s'", NAME(maker->module, dim_gear(declared)));
    else
        text_signed(&text, declared);
    failf(maker, maker->shape_key, "dimension %u of '%.*s' is %.*s in the graph, not %lld", dim,
          NAME(maker->module, maker->graph->values.at[param].name), (int)text.size, text.at,
          (long long)said);
    text_free(&text);
}

/* Gives a parameter the shape; its dimensions of -1 are the columns from `column` on. */
static void fill_param(struct gear_maker *maker, uint32_t param, const struct gear_input *input,
                       uint32_t column)
{
    uint32_t *id = &maker->graph->values.at[param].type;
    struct type type = maker->module->types.at[*id];
    int64_t dims[MAX_RANK];
    if (type.rank != RANK_UNKNOWN && type.rank != input->rank) {
        failf(maker, maker->shape_key, "'%.*s' has %u dimension%s in the graph, not %u",
              (int)input->size, input->name, type.rank, type.rank == 1 ? "" : "s", input->rank);
        return;
    }
    for (uint32_t i = 0; i < input->rank; i++) {
        int64_t said = input->dims[i];
        int64_t declared =
            type.rank == RANK_UNKNOWN ? DIM_UNKNOWN : type_dims(maker->module, *id)[i];
        dims[i] = said < 0 ? declared : said;
        if (!agrees(maker, declared, said))
            report_dim(maker, param, i, declared, said);
        else if (said < 0 && maker->texts.n_rows) {
            maker->names[column] = name_column(maker, column, param, i, declared);
            dims[i] = dim_of_name(maker, maker->names[column]);
        }
        column += said < 0;
    }
    *id = module_type(maker->module, type.dtype, type.format, dims, input->rank);
}

static uint32_t count_columns(const struct gear_input *input)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < input->rank; i++)
        count += input->dims[i] < 0;
    return count;
}

static void fill_params(struct gear_maker *maker)
{
    uint32_t column = 0;
    for (uint32_t i = 0; maker->ok && i < maker->texts.inputs.count; i++) {
        const struct gear_input *input = &maker->texts.inputs.at[i];
        uint32_t param = find_param(maker, input);
        if (param != NONE)
            fill_param(maker, param, input, column);
        column += count_columns(input);
    }
}

/* ------------------------------------------------------------------------------ gears ---- */

static bool is_first(const struct gear_maker *maker, uint32_t column)
{
    for (uint32_t i = 0; i < column; i++)
        if (maker->names[i] == maker->names[column])
            return false;
    return true;
}

static int64_t value_at(const struct gear_maker *maker, uint32_t row, uint32_t column)
{
    return maker->texts.values.at[row * maker->texts.n_columns + column];
}

/* Whether the value stands in the column in a row before this one. */
static bool stands_before(const struct gear_maker *maker, uint32_t row, uint32_t column)
{
    for (uint32_t i = 0; i < row; i++)
        if (value_at(maker, i, column) == value_at(maker, row, column))
            return true;
    return false;
}

static uint32_t count_values(const struct gear_maker *maker, uint32_t column)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < maker->texts.n_rows; i++)
        count += !stands_before(maker, i, column);
    return count;
}

/* Whether there are several gears, and every value of one stands with all of the others: as no
 * combination stands twice, there are as many as that makes. */
static bool is_product(const struct gear_maker *maker)
{
    uint32_t gears = 0;
    uint64_t rows = 1;
    for (uint32_t i = 0; i < maker->texts.n_columns; i++) {
        if (!is_first(maker, i))
            continue;
        uint32_t values = count_values(maker, i);
        gears++;
        rows *= values;
        if (values < 2 || rows > maker->texts.n_rows)
            return false;
    }
    return gears > 1 && rows == maker->texts.n_rows;
}

static void add_gear(struct gear_maker *maker, uint32_t column)
{
    struct graph *graph = maker->graph;
    struct gear gear = {maker->names[column], graph->loc, {graph->gear_values.count, 0}};
    for (uint32_t i = 0; i < maker->texts.n_rows; i++)
        if (graph->gear_mode == GEARS_ZIP || !stands_before(maker, i, column))
            vec_push(&graph->gear_values, value_at(maker, i, column));
    gear.values.count = graph->gear_values.count - gear.values.first;
    vec_push(&graph->gears, gear);
}

static void drop_free_name(struct graph *graph, uint32_t name)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->dims.count; i++)
        if (graph->dims.at[i].name != name)
            graph->dims.at[kept++] = graph->dims.at[i];
    graph->dims.count = kept;
}

static void add_gears(struct gear_maker *maker)
{
    if (maker->texts.n_rows == 0)
        return;
    maker->graph->gear_mode = is_product(maker) ? GEARS_PRODUCT : GEARS_ZIP;
    for (uint32_t i = 0; i < maker->texts.n_columns; i++)
        if (is_first(maker, i)) {
            drop_free_name(maker->graph, maker->names[i]);
            add_gear(maker, i);
        }
}

/* ----------------------------------------------------------------------- contradictions ---- */

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

static void warn_rows(const struct gear_maker *maker, const struct gear_rows_left_out *out,
                      uint32_t count)
{
    struct diags *diags = maker->dump->diags;
    if (out->count == 0 || !diag_at(diags, DIAG_import_shapes, place_of(maker, maker->dims_key),
                                    "%s: %u of %u combinations contradict%s the graph",
                                    maker->dims_key, out->count, count, out->count == 1 ? "s" : ""))
        return;
    diag_note(diags, out->where, "with %.*s: %.*s", (int)out->first.size, out->first.at,
              (int)out->reason.size, out->reason.at);
    diag_help(diags, out->count == count ? "nothing is left that can be compiled"
                                         : "what is compiled leaves them out");
}

/* What the graph, which had nothing against itself before, has against its shapes. */
static void check_shapes(const struct gear_maker *maker)
{
    struct gear_verdict why = {.fits = true};
    struct gear_rows_left_out out;
    if (is_right(maker, &why)) {
        struct diags *diags = maker->dump->diags;
        warn_rows(maker, &out, gear_rows_find(&out, maker->module, 0, diags));
        gear_rows_left_out_free(&out);
    } else if (diag_at(maker->dump->diags, DIAG_import_shapes, place_of(maker, maker->shape_key),
                       "%s: the graph contradicts these shapes", maker->shape_key)) {
        diag_note(maker->dump->diags, why.where, "%.*s", (int)why.reason.size, why.reason.at);
    }
    text_free(&why.reason);
}

/* ---------------------------------------------------------------------------- driving ---- */

/* What follows from the parameters in the place of dimensions that are not known. */
static void refine_results(struct gear_maker *maker)
{
    struct graph *graph = maker->graph;
    refine_result_types(maker->module, graph);
    for (uint32_t i = 0; i < graph->result_types.count && i < graph->returns.count; i++)
        if (type_has_unknown(maker->module, graph->result_types.at[i]))
            graph->result_types.at[i] = graph->values.at[graph->returns.at[i]].type;
}

static void make_gears(struct gear_maker *maker)
{
    maker->names = mem_calloc(maker->texts.n_columns + 1, sizeof *maker->names);
    fill_params(maker);
    if (maker->ok) {
        add_gears(maker);
        refine_results(maker);
    }
    mem_free(maker->names);
}

static void make_checked(struct gear_maker *maker)
{
    struct gear_verdict before = {.fits = true};
    bool right = is_right(maker, &before);
    text_free(&before.reason);
    make_gears(maker);
    if (maker->ok && right)
        check_shapes(maker);
}

/* Whether an option says what stands in the dump; both may be absent. */
static bool says_the_same(const struct gear_maker *maker, const char *option, uint32_t name)
{
    if (!option || name == NONE)
        return !option && name == NONE;
    struct gear_text text = text_of(maker, name);
    return strlen(option) == text.size && memcmp(option, text.at, text.size) == 0;
}

/* Whether the options repeat what the dump says: what they say otherwise counts. */
static bool options_repeat(const struct gear_maker *maker)
{
    const struct dump_options *options = maker->dump->options;
    const struct dump_gears *said = &maker->dump->gears;
    return says_the_same(maker, options->input_shape, said->input_shape.text) &&
           says_the_same(maker, options->dynamic_dims, said->dynamic_dims.text);
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

/* Options count over what the dump says. */
static void warn_otherwise(const struct gear_maker *maker)
{
    const struct dump_options *options = maker->dump->options;
    const struct dump_gears *said = &maker->dump->gears;
    warn_text(maker, "--input-shape", options->input_shape, GE_INPUT_SHAPE, &said->input_shape);
    warn_text(maker, "--dynamic-dims", options->dynamic_dims, GE_DYNAMIC_DIMS, &said->dynamic_dims);
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
    bool by_options = options->input_shape && !options_repeat(&maker);
    if (by_options)
        read_options(&maker);
    else
        read_attrs(&maker);
    if (maker.ok && by_options && attrs)
        warn_otherwise(&maker);
    if (maker.ok)
        make_checked(&maker);
    free_texts(&maker.texts);
}
