/* Text to module to text: nothing is lost or changed, whatever stands in the text and wherever its
 * comments and line ends are. Texts are made of random tokens in canonical spelling, so that what
 * is printed must be the same tokens again. */
#include "ir/syntax/spelling.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A text under construction: with random space and comments, and as bare tokens. */
struct writer {
    struct random random;
    struct text text, tokens;
    bool comments;
    unsigned n_comments, n_names;
};

static uint32_t below(struct writer *w, uint32_t limit)
{
    return random_below(&w->random, limit);
}

static bool percent(struct writer *w, unsigned p)
{
    return random_percent(&w->random, p);
}

static void put_space(struct writer *w)
{
    static const char *const spaces[] = {" ", "\n", "\t", " \r\n  ", "\n\n\n"};
    text_string(&w->text, percent(w, 80) ? " " : spaces[below(w, 5)]);
    while (w->comments && percent(w, 6))
        text_printf(&w->text, percent(w, 50) ? " // <%u> it's \"so\"\n" : "\n\n// <%u> {\n",
                    w->n_comments++);
}

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writer *w, const char *format, ...)
{
    char token[256];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(token, sizeof token, format, args);
    va_end(args);
    assert_in_range(size, 1, sizeof token - 1);
    put_space(w);
    text_string(&w->text, token);
    text_string(&w->tokens, token);
}

/* A comma before all but the first. */
static void comma(struct writer *w, unsigned i)
{
    if (i)
        put(w, ",");
}

/* ---------------------------------------------------------------------------- pieces ---- */

/* A name that no other call gives, after '%' or '@'. */
static void new_name(struct writer *w, char sigil, char *name, size_t size)
{
    static const char *const forms[] = {"%cn%u",
                                        "%c%u",
                                        "%c%u.x$_",
                                        "%c\"a b %u\"",
                                        "%c\"\\x00\\n%u\"",
                                        "%c\"q\\\"\\\\%u/\"",
                                        "%c\"\xc3\xa9%u\""};
    char form[32];
    snprintf(form, sizeof form, "%s", forms[below(w, sizeof forms / sizeof forms[0])]);
    const char *number = strstr(form, "%u");
    assert_non_null(number);
    snprintf(name, size, "%c%.*s%u%s", sigil, (int)(number - form - 2), form + 2, w->n_names++,
             number + 2);
}

/* In normal form, of a name and of `free` and `zip`, which sort behind it. */
static void put_dim(struct writer *w, const char *gear)
{
    static const char *const terms[] = {"3*%s*free*zip", "free*zip", "%s", "2*free", "zip", "7"};
    bool any = false;
    for (unsigned i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        if (!percent(w, 40) && (any || i != 2))
            continue;
        if (i == 5 && !any)
            continue;
        if (any)
            put(w, "+");
        any = true;
        for (const char *p = terms[i]; *p;) {
            size_t size = *p == '*' ? 1 : strcspn(p, "*");
            if (*p == '%')
                put(w, "%s", gear);
            else
                put(w, "%.*s", (int)size, p);
            p += size;
        }
    }
}

static void put_type(struct writer *w, const char *gear)
{
    put(w, "%s", dtype_info(below(w, DTYPE_COUNT))->name);
    put(w, "[");
    for (unsigned i = 0, rank = below(w, 4); i < rank; i++) {
        comma(w, i);
        if (percent(w, 15))
            put(w, "?");
        else if (gear && percent(w, 30))
            put_dim(w, gear);
        else
            put(w, "%u", below(w, 1000));
    }
    put(w, "]");
    if (percent(w, 20)) {
        put(w, ":");
        put(w, percent(w, 50) ? "FRACTAL_NZ" : "NCHW");
    }
}

static void put_type_or_token(struct writer *w, const char *gear)
{
    if (percent(w, 5))
        put(w, "token");
    else
        put_type(w, gear);
}

static void put_types(struct writer *w, unsigned count, const char *gear)
{
    if (count == 1) {
        put_type_or_token(w, gear);
        return;
    }
    put(w, "(");
    for (unsigned i = 0; i < count; i++) {
        comma(w, i);
        put_type_or_token(w, gear);
    }
    put(w, ")");
}

static double random_double(struct random *random)
{
    uint64_t bits = random_bits(random);
    double number;
    if (random_percent(random, 20)) /* few digits */
        return (double)random_below(random, 100000) / 1000;
    memcpy(&number, &bits, sizeof number);
    return isnan(number) ? (double)INFINITY : number;
}

static void put_double(struct writer *w)
{
    struct text number = {NULL, 0, 0};
    text_double(&number, random_double(&w->random));
    put(w, "%.*s", (int)number.size, number.at);
    text_free(&number);
}

static void put_string(struct writer *w)
{
    struct text string = {NULL, 0, 0};
    char bytes[12];
    size_t size = below(w, sizeof bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)below(w, 256);
    spell_quoted(&string, bytes, size);
    put(w, "%.*s", (int)string.size, string.at);
    text_free(&string);
}

static void put_attrs(struct writer *w, unsigned depth);

static void put_list(struct writer *w, unsigned depth);

static void put_data(struct writer *w, unsigned depth)
{
    static const char *const words[] = {"word", "none", "f32", "call", "skir", "_", "token"};
    char name[64];
    switch (below(w, depth < 3 ? 11 : 9)) {
    case 0: put(w, "%lld", (long long)random_bits(&w->random)); break;
    case 1: put(w, "%d", (int)below(w, 7) - 3); break;
    case 2: put_double(w); break;
    case 3: put(w, percent(w, 50) ? "true" : "false"); break;
    case 4: put_string(w); break;
    case 5: put(w, "%s", words[below(w, 7)]); break;
    case 6:
    case 7:
        new_name(w, percent(w, 50) ? '%' : '@', name, sizeof name);
        put(w, "%s", name);
        break;
    case 8: put_type(w, NULL); break;
    case 9: put_list(w, depth + 1); break;
    case 10: put_attrs(w, depth + 1); break;
    }
}

static void put_list(struct writer *w, unsigned depth)
{
    static const char *const kinds[] = {"int", "float", "bool", "string", "type", "list"};
    unsigned count = below(w, 4);
    put(w, "[");
    for (unsigned i = 0; i < count; i++) {
        comma(w, i);
        put_data(w, depth);
    }
    put(w, "]");
    if (count == 0 && percent(w, 50)) {
        put(w, ":");
        put(w, "%s", kinds[below(w, 6)]);
    }
}

/* A key alone is true; so `= true` is not canonical. */
static void put_attrs(struct writer *w, unsigned depth)
{
    static const char *const keys[] = {"k%u", "\"two words %u\"", "\"%u\"", "_%u"};
    put(w, "{");
    for (unsigned i = 0, count = below(w, 4) + (depth == 0); i < count; i++) {
        const char *key = keys[below(w, 4)];
        const char *number = strchr(key, '%');
        comma(w, i);
        put(w, "%.*s%u%s", (int)(number - key), key, i, number + 2);
        if (percent(w, 20))
            continue;
        put(w, "=");
        if (percent(w, 5))
            put(w, "false");
        else if (percent(w, 5))
            put_string(w);
        else
            put_list(w, depth + 1);
    }
    put(w, "}");
}

/* Spelled the same each time, as the attributes of most ops are. */
static void put_common_attrs(struct writer *w)
{
    static const char *const dicts[] = {
        "{axes = [-1], half_to_float = false}", "{keep, mode = \"la}st\"}",
        "{a = f16[2, 3]:NCHW, b = [%x, @y, [word]]}", "{a = {b = 1}, c = \"// {\"}"};
    put(w, "%s", dicts[below(w, sizeof dicts / sizeof dicts[0])]);
}

static void put_attrs_maybe(struct writer *w, unsigned p)
{
    if (!percent(w, p))
        return;
    if (percent(w, 50)) {
        put_common_attrs(w);
        return;
    }
    put(w, "{");
    put(w, "key");
    put(w, "=");
    do {
        if (percent(w, 70)) {
            put(w, "[");
            put_data(w, 0);
            put(w, "]");
        } else {
            put_double(w);
        }
        put(w, ",");
        put(w, "k%u", w->n_names++);
        put(w, "=");
    } while (percent(w, 40));
    put_attrs(w, 0);
    put(w, "}");
}

/* ------------------------------------------------------------------------- constructs ---- */

enum { MAX_NAMES = 32, NAME_SIZE = 64 };

struct names {
    char at[MAX_NAMES][NAME_SIZE];
    unsigned count;
};

static void put_values(struct writer *w, const struct names *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        comma(w, i);
        put(w, "%s", values->at[below(w, values->count)]);
    }
}

/* A value, none, or a list, which may be empty. */
static void put_form(struct writer *w, const struct names *values)
{
    switch (below(w, 3)) {
    case 0: put_values(w, values, 1); break;
    case 1: put(w, "none"); break;
    case 2:
        put(w, "[");
        put_values(w, values, below(w, 3));
        put(w, "]");
    }
}

/* Operands of all forms. Whether their labels are single does not matter to the text. */
static void put_forms(struct writer *w, const struct names *values)
{
    static const char *const labels[] = {"key", "none", "f32", "call", "skir", "_", "atten_mask"};
    for (unsigned i = 0, count = below(w, 5); i < count; i++) {
        comma(w, i);
        if (percent(w, 40)) {
            put(w, "%s", labels[below(w, 7)]);
            put(w, "=");
        }
        put_form(w, values);
    }
}

static unsigned put_results(struct writer *w, struct names *values)
{
    unsigned count = below(w, 3);
    for (unsigned i = 0; i < count; i++) {
        char name[NAME_SIZE];
        new_name(w, '%', name, sizeof name);
        comma(w, i);
        put(w, "%s", name);
        if (values->count < MAX_NAMES)
            memcpy(values->at[values->count++], name, sizeof name);
    }
    if (count)
        put(w, "=");
    return count;
}

static void put_events(struct writer *w, const char *clause)
{
    static const char *const words[] = {"graph", "f32", "wait", "true", "_"};
    if (!percent(w, 15))
        return;
    put(w, "%s", clause);
    put(w, "[");
    for (unsigned i = 0, count = 1 + below(w, 2); i < count; i++) {
        comma(w, i);
        if (percent(w, 20))
            put(w, "%s", words[below(w, 5)]);
        else
            put(w, percent(w, 50) ? "%u" : "ev%u", below(w, 100));
    }
    put(w, "]");
}

static void put_op(struct writer *w, struct names *values, const char *gear)
{
    static const char *const types[] = {"Add",       "MatMul",  "_own", "\"await\"",
                                        "\"scope\"", "\"a b\"", "\"\""};
    unsigned results = put_results(w, values);
    put(w, "%s", types[below(w, 7)]);
    put(w, "(");
    if (percent(w, 25))
        put_forms(w, values);
    else
        put_values(w, values, below(w, 4));
    put(w, ")");
    put_attrs_maybe(w, 30);
    if (results) {
        put(w, ":");
        put_types(w, results, gear);
    }
    if (percent(w, 30)) {
        put(w, "via");
        put(w, percent(w, 50) ? "@k" : "@\"odd kernel\"");
    }
    if (percent(w, 20)) {
        put(w, "after");
        put(w, "(");
        put_values(w, values, 1 + below(w, 2));
        put(w, ")");
    }
    put_events(w, "send");
    put_events(w, "recv");
}

static void put_block_head(struct writer *w)
{
    char name[NAME_SIZE];
    bool superkernel = false;
    new_name(w, '@', name, sizeof name);
    switch (below(w, 4)) {
    case 0:
        put(w, "scope");
        put(w, "none");
        return;
    case 1:
        put(w, "stream");
        put_string(w);
        break;
    default:
        superkernel = percent(w, 30);
        put(w, superkernel ? "superkernel" : "scope");
        put(w, "%s", name);
        break;
    }
    put_attrs_maybe(w, 20);
    if (superkernel) {
        put_events(w, "send");
        put_events(w, "recv");
    }
}

static void put_statements(struct writer *w, struct names *values, const char *gear, unsigned depth)
{
    for (unsigned i = 0, count = below(w, 5); i < count; i++) {
        if (depth == 4 || percent(w, 70)) {
            put_op(w, values, gear);
            continue;
        }
        put_block_head(w);
        put(w, "{");
        put_statements(w, values, gear, depth + 1);
        put(w, "}");
    }
}

static void put_gears(struct writer *w)
{
    put(w, "gears");
    put(w, percent(w, 50) ? "zip" : "product");
    put(w, "(");
    for (unsigned i = 0, count = 1 + below(w, 3); i < count; i++) {
        comma(w, i);
        put(w, i ? "g%u" : "b", i);
        put(w, "=");
        put(w, "[");
        put(w, "%u", 2 + below(w, 8));
        put(w, ",");
        put(w, "%u", 2 + below(w, 8));
        put(w, "]");
    }
    put(w, ")");
}

static void put_graph(struct writer *w)
{
    struct names values = {.count = 0};
    const char *gear = percent(w, 30) ? "b" : NULL;
    char name[NAME_SIZE];
    new_name(w, '@', name, sizeof name);
    put(w, "graph");
    put(w, "%s", name);
    put(w, "(");
    for (unsigned i = 0, count = 1 + below(w, 4); i < count; i++) {
        new_name(w, '%', values.at[values.count++], NAME_SIZE);
        comma(w, i);
        put(w, "%s", values.at[i]);
        put(w, ":");
        put_type(w, gear);
        put_attrs_maybe(w, 10);
    }
    put(w, ")");
    put_attrs_maybe(w, 20);
    if (gear) {
        put(w, "dims");
        put(w, "(");
        put(w, "free");
        put(w, ",");
        put(w, "zip");
        put(w, ")");
        put_gears(w);
    }
    unsigned results = below(w, 3);
    put(w, "->");
    put_types(w, results, gear);
    put(w, "{");
    put_statements(w, &values, gear, 0);
    if (results) {
        put(w, "return");
        put_values(w, &values, results);
    }
    put(w, "}");
}

/* The groups that entries have, as they are printed. */
static const char *const groups[] = {"%m", "Update", "\"a b\"", "\"none\"", "args", "%\"c d\""};
enum { N_GROUPS = sizeof groups / sizeof groups[0] };

static void put_event(struct writer *w)
{
    static const char *const events[] = {"e0",    "7",   "await", "lock",
                                         "graph", "f16", "true",  "none"};
    put(w, "%s", events[below(w, 8)]);
}

static void put_listed(struct writer *w)
{
    put(w, "[");
    for (unsigned i = 0, count = below(w, 3); i < count; i++) {
        comma(w, i);
        put(w, percent(w, 50) ? "%%x" : "%%\"x y\"");
    }
    put(w, "]");
}

static void put_arg(struct writer *w)
{
    static const char *const words[] = {"%x", "none", "tiling", "call"};
    switch (below(w, 4)) {
    case 0: put_listed(w); break;
    case 1:
        put(w, percent(w, 50) ? "send" : "recv");
        put_event(w);
        break;
    default: put(w, "%s", words[below(w, 4)]); break;
    }
}

static void put_groups(struct writer *w)
{
    for (unsigned g = 0, unnamed = below(w, 3); g < N_GROUPS + unnamed; g++) {
        put(w, "args");
        if (g < N_GROUPS) {
            put(w, "%s", groups[g]);
            put(w, "=");
        }
        put(w, "[");
        for (unsigned i = 0, count = below(w, 4); i < count; i++) {
            comma(w, i);
            put_arg(w);
        }
        put(w, "]");
    }
}

/* Operands as the instruction's row in ir/core/instrs.def has them. */
static void put_operand(struct writer *w, const char *operand, size_t size, const char *core)
{
    static const char *const phases[] = {"begin", "end", "complement"};
    static const char *const waits[] = {"aic", "aiv", "mix"};
    switch (*operand) {
    case 'K': put(w, percent(w, 50) ? "@k" : "@\"odd kernel\""); break;
    case 'N': put(w, "%u", percent(w, 50) ? below(w, 10) : below(w, UINT32_MAX)); break;
    case 'S': put(w, "%s", groups[below(w, N_GROUPS)]); break;
    case 'L':
        if (percent(w, 30)) {
            put(w, "lock");
            put(w, "%s", groups[below(w, N_GROUPS)]);
            break;
        }
        put_event(w);
        break;
    case 'V': put_event(w); break;
    case 'G': put(w, "%s", core); break;
    case 'F': put(w, percent(w, 50) ? "c2v" : "v2c"); break;
    case 'A': put(w, "all"); break;
    case 'P': put(w, "%s", phases[below(w, 3)]); break;
    case 'B': put(w, "%s", phases[below(w, 2)]); break;
    case 'E':
        if (percent(w, 50)) {
            put(w, "early_wait");
            put(w, "%s", waits[below(w, 3)]);
        }
        if (percent(w, 50))
            put(w, "early_set");
        break;
    default: put(w, "%.*s", (int)size, operand); break;
    }
}

static void put_program(struct writer *w, const char *core)
{
    put(w, "%s", core);
    put(w, "{");
    for (unsigned i = 0, count = below(w, 12); i < count; i++) {
        const struct instr_info *info = instr_info(below(w, INSTR_COUNT));
        put(w, "%s", info->name);
        if (info->effect == EFFECT_CALL && percent(w, 20)) {
            put(w, "%s", groups[below(w, N_GROUPS)]);
            continue;
        }
        for (const char *p = info->operands; *p;) {
            size_t size = strcspn(p, " ");
            put_operand(w, p, size, core);
            p += size + (p[size] == ' ');
        }
    }
    put(w, "}");
}

static void put_head(struct writer *w, const char *what)
{
    char name[NAME_SIZE];
    new_name(w, '@', name, sizeof name);
    put(w, "%s", what);
    put(w, "%s", name);
    put(w, ":");
    put(w, "%s", kernel_type_info(below(w, KERNEL_TYPE_COUNT))->name);
    put_attrs_maybe(w, 60);
}

static void put_module(struct writer *w)
{
    put(w, "skir");
    put(w, "1");
    if (percent(w, 30)) {
        put(w, "target");
        put_string(w);
        put_attrs_maybe(w, 50);
    }
    for (unsigned i = 0, count = 1 + below(w, 5); i < count; i++) {
        if (percent(w, 50)) {
            put_graph(w);
        } else if (percent(w, 50)) {
            put_head(w, "kernel");
        } else {
            put_head(w, "entry");
            put(w, "{");
            put_groups(w);
            put_program(w, "aic");
            put_program(w, "aiv");
            put(w, "}");
        }
    }
    put_space(w);
}

/* -------------------------------------------------------------------------- properties ---- */

#define CHECK(seed, w, condition) RANDOM_CHECK(seed, &(w)->text, condition)

/* Whether the texts are equal but for space. */
static bool same_tokens(const struct text *a, const struct text *b)
{
    static const char space[] = " \t\r\n";
    size_t i = 0, j = 0;
    for (;;) {
        while (i < a->size && strchr(space, a->at[i]))
            i++;
        while (j < b->size && strchr(space, b->at[j]))
            j++;
        if (i == a->size || j == b->size)
            return i == a->size && j == b->size;
        if (a->at[i++] != b->at[j++])
            return false;
    }
}

static unsigned count_of(const struct text *text, const char *wanted)
{
    unsigned count = 0;
    for (const char *p = text->at; (p = strstr(p, wanted)); p++)
        count++;
    return count;
}

static void check_comments(uint64_t seed, const struct writer *w, const struct text *printed)
{
    for (unsigned i = 0; i < w->n_comments; i++) {
        char comment[32];
        snprintf(comment, sizeof comment, "// <%u> ", i);
        CHECK(seed, w, count_of(printed, comment) == 1);
    }
    CHECK(seed, w, count_of(printed, "// <") == w->n_comments);
}

static struct text print_again(uint64_t seed, const struct writer *w, const struct text *text)
{
    struct parsed_module parsed;
    parsed_init(&parsed, text->at, text->size);
    if (!parsed.module)
        diags_print(&parsed.diags, stderr, false);
    CHECK(seed, w, parsed.module);
    struct text printed = parsed_print(&parsed, w->comments);
    parsed_free(&parsed);
    return printed;
}

static void run_trial(uint64_t seed, bool comments)
{
    struct writer w = {.random = {seed}, .comments = comments};
    put_module(&w);
    struct text first = print_again(seed, &w, &w.text);
    struct text second = print_again(seed, &w, &first);
    CHECK(seed, &w, strcmp(first.at, second.at) == 0);
    if (comments)
        check_comments(seed, &w, &first);
    else
        CHECK(seed, &w, same_tokens(&w.tokens, &first));
    text_free(&first);
    text_free(&second);
    text_free(&w.text);
    text_free(&w.tokens);
}

static void test_tokens(void **state)
{
    (void)state;
    struct random_runs runs = random_runs(6000);
    for (uint64_t i = 0; i < runs.count; i++)
        run_trial(runs.seed + i, false);
}

static void test_comments(void **state)
{
    (void)state;
    struct random_runs runs = random_runs(6000);
    for (uint64_t i = 0; i < runs.count; i++)
        run_trial(runs.seed + i, true);
}

/* ------------------------------------------------------------------------------ floats ---- */

/* The number that the attribute of the only kernel has, read from its text. */
static double read_double(const char *number, size_t size)
{
    struct text text = {NULL, 0, 0};
    struct parsed_module parsed;
    text_printf(&text, "skir 1 kernel @k : aiv_only {x = %.*s}", (int)size, number);
    parsed_init(&parsed, text.at, text.size);
    assert_non_null(parsed.module);
    const struct attr *attr = &parsed.module->attrs.at[parsed.module->kernels.at[0].attrs.first];
    assert_int_equal(attr->value.kind, ATTR_FLOAT);
    double read = attr->value.f;
    parsed_free(&parsed);
    text_free(&text);
    return read;
}

static void test_floats(void **state)
{
    (void)state;
    static const double special[] = {
        0.0,  -0.0, 1.0,  -1.0,        5e-324,           1.7976931348623157e308, 0.1,
        1e21, 1e22, 1e23, 123456789.0, (double)INFINITY, -(double)INFINITY};
    enum { SPECIAL = sizeof special / sizeof special[0] };
    struct random_runs runs = random_runs(20000);
    struct random random = {runs.seed};
    for (uint64_t i = 0; i < runs.count + SPECIAL; i++) {
        double number = i < SPECIAL ? special[i] : random_double(&random);
        struct text text = {NULL, 0, 0};
        text_double(&text, number);
        double read = read_double(text.at, text.size);
        if (memcmp(&read, &number, sizeof read) != 0)
            fail_msg("%a became %.*s, which is %a", number, (int)text.size, text.at, read);
        text_free(&text);
    }
    assert_true(isnan(read_double("nan", 3)));
}

/* Modules that the passes' tests use, which are not canonical: the second print is the first. */
static void test_graphs(void **state)
{
    (void)state;
    struct random_runs runs = random_runs(1000);
    for (uint64_t i = 0; i < runs.count; i++) {
        struct writer w = {.comments = false};
        random_graph(
            &w.text, runs.seed + i,
            &(struct random_graph_options){.max_ops = 30, .superkernels = true, .memory = true});
        struct text first = print_again(runs.seed + i, &w, &w.text);
        struct text second = print_again(runs.seed + i, &w, &first);
        CHECK(runs.seed + i, &w, strcmp(first.at, second.at) == 0);
        text_free(&first);
        text_free(&second);
        text_free(&w.text);
    }
}

/* Attributes, and types behind them, with the text of earlier ones: equal values, each at its own
 * place. */
static void test_known_attrs(void **state)
{
    (void)state;
    static const char dict[] = "{first = [1, 2], second = \"x\", third}";
    static const char *const keys[] = {"first", "second", "third"};
    enum { OPS = 8 };
    struct text text = {NULL, 0, 0};
    struct parsed_module parsed;
    text_string(&text, "skir 1 graph @g(%a: f32[1]) -> () {\n");
    for (int i = 0; i < OPS; i++)
        if (i < OPS / 2)
            text_printf(&text, "A(%%a) %s\n", dict);
        else
            text_printf(&text, "%%b%d, %%c = A(%%a) %s : (f32[2], i32[3])\n", i, dict);
    text_string(&text, "}\n");
    parsed_init(&parsed, text.at, text.size);
    assert_non_null(parsed.module);
    const struct module *module = parsed.module;
    const char *at = text.at;
    for (int i = 0; i < OPS; i++) {
        const struct graph *graph = &module->graphs.at[0];
        const struct op *op = &graph->ops.at[i];
        struct range attrs = op->attrs;
        at = strstr(at + 1, dict);
        assert_int_equal(op->results.count, i < OPS / 2 ? 0 : 2);
        for (uint32_t k = 0; k < op->results.count; k++)
            assert_int_equal(*type_dims(module, graph->values.at[op->results.first + k].type),
                             2 + k);
        assert_int_equal(attrs.count, 3);
        for (uint32_t k = 0; k < attrs.count; k++) {
            const struct attr *attr = &module->attrs.at[attrs.first + k];
            assert_true(name_is(module, attr->key, keys[k]));
            assert_ptr_equal(text.at + attr->loc, strstr(at, keys[k]));
        }
        assert_int_equal(module->attr_values.at[module->attrs.at[attrs.first].value.first + 1].i,
                         2);
    }
    parsed_free(&parsed);
    text_free(&text);
}

/* ------------------------------------------------------------------------------ pieces ---- */

struct gathering_sink {
    struct print_sink sink;
    struct text text;
    unsigned pieces, wanted;
};

static bool gather(struct print_sink *sink, const char *bytes, size_t size)
{
    struct gathering_sink *gathering = (struct gathering_sink *)sink;
    text_bytes(&gathering->text, bytes, size);
    return ++gathering->pieces < gathering->wanted;
}

/* Text that comes in pieces is the text as a whole, wherever its comments are; a sink that has
 * enough is not asked again. */
static void test_pieces(void **state)
{
    (void)state;
    enum { OPS = 20000 };
    struct text text = {NULL, 0, 0};
    struct parsed_module parsed;
    text_string(&text, "skir 1\ngraph @g(%a: f32[1]) -> () {\n");
    for (int i = 0; i < OPS; i++)
        text_printf(&text, "A(%%a)%s\n", i % 3 ? "" : " // trails\n// alone");
    text_string(&text, "} // end\n");
    parsed_init(&parsed, text.at, text.size);
    assert_non_null(parsed.module);
    struct text whole = parsed_print(&parsed, true);
    struct gathering_sink all = {{gather}, {NULL, 0, 0}, 0, UINT32_MAX};
    assert_true(print_module_to(&all.sink, parsed.module, &parsed.comments));
    assert_int_equal(all.text.size, whole.size);
    assert_memory_equal(all.text.at, whole.at, whole.size);
    assert_in_range(all.pieces, 3, 100);
    struct gathering_sink some = {{gather}, {NULL, 0, 0}, 0, 2};
    assert_false(print_module_to(&some.sink, parsed.module, &parsed.comments));
    assert_int_equal(some.pieces, 2);
    assert_memory_equal(some.text.at, whole.at, some.text.size);
    text_free(&all.text);
    text_free(&some.text);
    text_free(&whole);
    text_free(&text);
    parsed_free(&parsed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),      cmocka_unit_test(test_comments),
        cmocka_unit_test(test_floats),      cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_known_attrs), cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests_name("roundtrip", tests, NULL, NULL);
}
