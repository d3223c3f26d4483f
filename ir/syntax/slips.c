#include "ir/syntax/slips.h"
#include "ir/base/suggest.h"
#include "ir/syntax/slip_operand.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------------------- looking ---- */

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* The token before, if it is a word or name: from its first byte. */
static const char *word_before(const struct slip *slip, const char *end)
{
    const char *begin = end;
    while (begin > slip->text && is_name_byte(begin[-1]))
        begin--;
    return begin;
}

static bool span_is(const char *begin, const char *end, const char *text)
{
    return (size_t)(end - begin) == strlen(text) && memcmp(begin, text, strlen(text)) == 0;
}

static bool found(const struct slip *slip, const char *text)
{
    return span_is(slip->begin, slip->end, text);
}

static bool behind(const struct slip *slip, const char *text)
{
    size_t size = strlen(text);
    return (size_t)(slip->before - slip->text) >= size &&
           memcmp(slip->before - size, text, size) == 0 &&
           !((size_t)(slip->before - slip->text) > size && is_name_byte(text[0]) &&
             is_name_byte(slip->before[-(ptrdiff_t)size - 1]));
}

static bool expects(const struct slip *slip, unsigned what)
{
    return (slip->expects & what) == what;
}

static bool found_word(const struct slip *slip)
{
    return slip->begin < slip->end && (isalpha((unsigned char)*slip->begin) || *slip->begin == '_');
}

static const char *skip_blanks(const struct slip *slip, const char *p)
{
    while (p < slip->limit && isspace((unsigned char)*p))
        p++;
    return p;
}

static const char *skip_blanks_back(const struct slip *slip, const char *p)
{
    while (p > slip->text && isspace((unsigned char)p[-1]))
        p--;
    return p;
}

static char last_byte(const struct slip *slip)
{
    return slip->before > slip->text ? slip->before[-1] : '\0';
}

/* The first byte behind the token that is no blank. */
static char next_byte(const struct slip *slip)
{
    const char *p = skip_blanks(slip, slip->end);
    return p < slip->limit ? *p : '\0';
}

/* Whether the text before the token ends in `word =`; `*begin` is where the word does. */
static bool behind_key(const struct slip *slip, const char *end, const char **begin,
                       const char **key_end)
{
    const char *p = skip_blanks_back(slip, end);
    if (p == slip->text || p[-1] != '=')
        return false;
    *key_end = skip_blanks_back(slip, p - 1);
    *begin = word_before(slip, *key_end);
    return *begin < *key_end && !(*begin > slip->text && strchr("%@", (*begin)[-1]));
}

/* --------------------------------------------------------------------------------- names ---- */

/* What others call the element types. */
static const struct {
    const char *name, *dtype;
} dtype_names[] = {
    {"float16", "f16"},   {"fp16", "f16"},      {"half", "f16"},        {"bfloat16", "bf16"},
    {"float", "f32"},     {"float32", "f32"},   {"fp32", "f32"},        {"double", "f64"},
    {"float64", "f64"},   {"fp64", "f64"},      {"int8", "i8"},         {"int16", "i16"},
    {"int", "i32"},       {"int32", "i32"},     {"long", "i64"},        {"int64", "i64"},
    {"index", "i64"},     {"uint8", "u8"},      {"uint16", "u16"},      {"uint32", "u32"},
    {"uint64", "u64"},    {"byte", "u8"},       {"char", "i8"},         {"boolean", "bool"},
    {"i1", "bool"},       {"complex64", "c64"}, {"complex128", "c128"}, {"int4", "i4"},
    {"si8", "i8"},        {"si32", "i32"},      {"ui8", "u8"},          {"f8E4M3FN", "f8e4m3fn"},
    {"f8E5M2", "f8e5m2"},
};

/* Without DT_, and in small letters. */
static const char *known_dtype(const char *begin, const char *end)
{
    char word[24];
    size_t size = (size_t)(end - begin);
    if (size >= sizeof word)
        return NULL;
    for (size_t i = 0; i < size; i++)
        word[i] = (char)tolower((unsigned char)begin[i]);
    word[size] = '\0';
    const char *name = strncmp(word, "dt_", 3) == 0 ? word + 3 : word;
    for (size_t i = 0; i < sizeof dtype_names / sizeof dtype_names[0]; i++)
        if (strcasecmp(dtype_names[i].name, name) == 0)
            return dtype_names[i].dtype;
    static const char *const own[] = {
#define DTYPE(name, ...) #name,
#include "ir/dtypes.def"
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(own[i], name) == 0)
            return own[i];
    return NULL;
}

/* `tensor<8x8xf16>` as it is written here: "f16[8, 8]". */
static bool help_tensor(const struct slip *slip)
{
    const char *p = slip->end, *close = NULL;
    struct text text = {NULL, 0, 0};
    if (p < slip->limit && *p == '<')
        close = memchr(p, '>', (size_t)(slip->limit - p));
    const char *last = close ? close : p;
    while (last > p && last[-1] != 'x' && last[-1] != '<')
        last--;
    const char *dtype = close ? known_dtype(last, close) : NULL;
    for (const char *c = p + 1; dtype && c < last - 1; c++)
        text_printf(&text, *c == 'x' ? ", " : "%c", *c);
    diag_help(slip->diags, dtype ? "a type is written '%s[%.*s]'" : "a type is written 'f16[8, 8]'",
              dtype ? dtype : "", (int)text.size, text.at ? text.at : "");
    text_free(&text);
    return true;
}

static bool help_dtype(const struct slip *slip)
{
    if (!expects(slip, SLIP_DTYPE))
        return false;
    if (found(slip, "tensor") || found(slip, "memref") || found(slip, "vector"))
        return help_tensor(slip);
    if (found(slip, "{")) {
        diag_help(slip->diags, "a graph that returns nothing has '-> ()'");
        return true;
    }
    const char *dtype = known_dtype(slip->begin, slip->end);
    if (dtype)
        diag_help(slip->diags, "did you mean '%s'?", dtype);
    else if (found_word(slip) || found(slip, "["))
        diag_help(slip->diags, "a type is an element type and a shape: 'f16[8, 8]'; element types "
                               "are f32, f16, bf16, i8, i32, i64, bool ...");
    return dtype || found_word(slip) || found(slip, "[");
}

static bool help_shape(const struct slip *slip)
{
    const char *word = word_before(slip, slip->before);
    if (slip->expects == SLIP_BRACKET && known_dtype(word, slip->before)) {
        diag_help(slip->diags,
                  found(slip, "(") ? "a shape stands in brackets: '%.*s[8, 8]'"
                                   : "a type has a shape: '%.*s[]' is that of a single element",
                  (int)(slip->before - word), word);
        return true;
    }
    if (expects(slip, SLIP_INT | SLIP_UNBRACKET) && (found(slip, "*") || found(slip, ":"))) {
        diag_help(slip->diags, "a dimension that is not known is '?'");
        return true;
    }
    if (expects(slip, SLIP_UNBRACKET) && *slip->begin == 'x' && found_word(slip)) {
        diag_help(slip->diags, "dimensions are separated by ',': '8, 8'");
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------------ heads of blocks ---- */

static bool help_item(const struct slip *slip)
{
    static const char *const graphs[] = {"func", "def", "fn", "function", "define"};
    if (!expects(slip, SLIP_ITEM))
        return false;
    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++)
        if (found(slip, graphs[i])) {
            diag_help(slip->diags, "a graph is written 'graph @NAME(%%A: TYPE) -> TYPE {'");
            return true;
        }
    if (found(slip, "module"))
        diag_help(slip->diags, "nothing stands around what a file has: a file is a module");
    else if (found(slip, "import") || found(slip, "use") || found(slip, "from"))
        diag_help(slip->diags, "another file is included by 'include \"FILE.skir\"'");
    else if (found(slip, "}"))
        diag_help(slip->diags, "no block is open here");
    else if (found(slip, "scope") || found(slip, "stream") || found(slip, "return"))
        diag_help(slip->diags, "it stands in a graph; a '}' before may be one too many");
    else {
        struct suggest suggest = {.wanted = slip->begin,
                                  .wanted_size = (size_t)(slip->end - slip->begin)};
        static const char *const items[] = {"target", "include", "kernel", "graph", "entry"};
        for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
            suggest_offer_text(&suggest, items[i]);
        diag_suggest(slip->diags, &suggest);
    }
    return true;
}

static bool help_name(const struct slip *slip)
{
    static const char *const owners[] = {"scope", "superkernel", "graph", "kernel", "entry", "via"};
    const char *begin = slip->begin, *end = slip->end;
    if (!expects(slip, SLIP_SYMBOL))
        return false;
    if (found(slip, "{") && behind(slip, "scope")) {
        diag_help(slip->diags, "a scope has a name: 'scope @NAME'");
        return true;
    }
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        if (!behind(slip, owners[i]) || !strchr("\"%", *begin) == !is_name_byte(*begin))
            continue;
        if (*begin == '"' && end - begin > 2)
            begin++, end--;
        begin += *begin == '%';
        diag_help(slip->diags, "the name begins with '@': write '%s @%.*s'", owners[i],
                  (int)(end - begin), begin);
        return true;
    }
    return false;
}

static bool help_label(const struct slip *slip)
{
    const char *begin = slip->begin + strspn(slip->begin, "@%");
    static const char *const owners[] = {"stream", "target", "include"};
    if (!expects(slip, SLIP_STRING) || !(is_name_byte(*begin) || *begin == '{'))
        return false;
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++)
        if (behind(slip, owners[i])) {
            if (*begin == '{')
                diag_help(slip->diags, "it has a name, a string: '%s \"NAME\"'", owners[i]);
            else
                diag_help(slip->diags, "the name is a string: write '%s \"%.*s\"'", owners[i],
                          (int)(slip->end - begin), begin);
            return true;
        }
    return false;
}

static bool help_braces(const struct slip *slip)
{
    if (!expects(slip, SLIP_ATTRS))
        return false;
    if (expects(slip, SLIP_COMMA | SLIP_CLOSE) && found_word(slip)) {
        diag_help(slip->diags, "a format stands behind ':', as in 'f16[16, 16]:FRACTAL_NZ'; the "
                               "next parameter behind ','");
        return true;
    }
    if (!slip->in_body || last_byte(slip) == ')' || !(found(slip, "(") || found_word(slip)))
        return false;
    diag_help(slip->diags, "attributes stand in braces: '{KEY = VALUE}', and then '{'");
    return true;
}

static bool help_gears(const struct slip *slip)
{
    if (!found(slip, "(") || !behind(slip, "gears"))
        return false;
    diag_help(slip->diags, "write 'gears zip (...)' to pair values by position, 'gears product "
                           "(...)' for all combinations");
    return true;
}

static bool help_param(const struct slip *slip)
{
    bool type = found_word(slip);
    if (slip->in_body || !type ||
        !(slip->expects == SLIP_COLON || expects(slip, SLIP_VALUE | SLIP_CLOSE)))
        return false;
    if (behind(slip, "kernel") || (slip->expects == SLIP_COLON && last_byte(slip) == '{'))
        return false;
    diag_help(slip->diags, "a parameter is '%%NAME: TYPE'");
    return true;
}

/* ----------------------------------------------------------------------------------- ops ---- */

static bool help_percent(const struct slip *slip)
{
    const char *begin, *end, *type = word_before(slip, slip->before);
    if (found(slip, "=") && expects(slip, SLIP_OPEN)) {
        begin = type;
        end = slip->before;
    } else if (!(found(slip, "(") && expects(slip, SLIP_UNBRACE) && type < slip->before &&
                 behind_key(slip, type, &begin, &end))) {
        return false;
    }
    if (begin < end)
        diag_help(slip->diags, "values begin with '%%': write '%%%.*s = ...'", (int)(end - begin),
                  begin);
    return begin < end;
}

static bool help_key(const struct slip *slip)
{
    const char *word = word_before(slip, slip->before), *begin, *end;
    if (found(slip, ":") &&
        (expects(slip, SLIP_OPEN) || expects(slip, SLIP_EQUAL | SLIP_UNBRACE)) &&
        (word < slip->before || last_byte(slip) == '"')) {
        diag_help(slip->diags, "attributes are written '{KEY = VALUE}'");
        return true;
    }
    if (expects(slip, SLIP_VALUE | SLIP_BRACKET) && *slip->begin != '(' &&
        behind_key(slip, slip->begin, &begin, &end)) {
        diag_help(slip->diags, "attributes stand in braces behind the operands: '{%.*s = ...}'",
                  (int)(end - begin), begin);
        return true;
    }
    if (slip->expects == SLIP_OPEN && word < slip->before &&
        (found(slip, "{") || found(slip, "["))) {
        diag_help(slip->diags,
                  "attributes stand in braces behind the operands: '%.*s(...) {KEY = VALUE}'",
                  (int)(slip->before - word), word);
        return true;
    }
    return false;
}

static bool help_results(const struct slip *slip)
{
    if (found(slip, ":") && expects(slip, SLIP_COMMA | SLIP_EQUAL))
        diag_help(slip->diags, isdigit((unsigned char)next_byte(slip))
                                   ? "each result has a name: '%%A, %%B = ...'"
                                   : "an op defines its results by '=': '%%A = TYPE(...)'");
    else if (found(slip, "(") && next_byte(slip) == '%' && !expects(slip, SLIP_OPEN) &&
             last_byte(slip) != '(' && last_byte(slip) != ',' && !behind(slip, "return"))
        diag_help(slip->diags, "results stand without parentheses: '%%A, %%B = ...'");
    else if (found(slip, "(") && expects(slip, SLIP_VALUE | SLIP_BRACKET | SLIP_CLOSE))
        diag_help(slip->diags, "a list of operands stands in brackets: '[%%A, %%B]'");
    else if (*slip->begin == '%' && (expects(slip, SLIP_STRING | SLIP_WORD) ||
                                     (slip->expects == SLIP_OPEN && !behind(slip, "after"))))
        diag_help(slip->diags, "an op is written 'TYPE(%%A, %%B)'");
    else
        return false;
    return true;
}

/* A statement ends with its line. */
static bool help_end(const struct slip *slip)
{
    const char *p = slip->end;
    while (p < slip->limit && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    bool last = p == slip->limit || *p == '\n' || *p == '/';
    if (!found(slip, ",") || last_byte(slip) == ',' || !last)
        return false;
    diag_help(slip->diags, "nothing stands at the end of a line");
    return true;
}

static bool help_types(const struct slip *slip)
{
    if (found(slip, "->") || (found(slip, "=") && last_byte(slip) == ')'))
        diag_help(slip->diags, "behind the operands stand ':' and the types of the results alone: "
                               "': f16[8, 8]'");
    else if (found(slip, ",") && last_byte(slip) == ']' && !expects(slip, SLIP_CLOSE))
        diag_help(slip->diags, "several types stand in parentheses: ': (f16[8, 8], f16[8, 8])'");
    else
        return false;
    return true;
}

static bool is_clause(const struct slip *slip)
{
    return found(slip, "via") || found(slip, "after") || found(slip, "send") || found(slip, "recv");
}

static bool help_clauses(const struct slip *slip)
{
    static const struct {
        const char *clause, *form;
    } clauses[] = {{"after", "after (%A, %B)"}, {"send", "send [A, B]"}, {"recv", "recv [A, B]"}};
    for (size_t i = 0; i < sizeof clauses / sizeof clauses[0]; i++)
        if (behind(slip, clauses[i].clause) && slip->expects & (SLIP_OPEN | SLIP_BRACKET)) {
            if (i == 0 && *slip->begin == '%')
                diag_help(slip->diags, "write 'after (%.*s)'", (int)(slip->end - slip->begin),
                          slip->begin);
            else
                diag_help(slip->diags, "write '%s'", clauses[i].form);
            return true;
        }
    if (!is_clause(slip) && !found(slip, ":") && !(found(slip, "{") && last_byte(slip) != '}'))
        return false;
    diag_help(slip->diags, "the parts of an op stand in this order: 'TYPE(OPERANDS) {ATTRIBUTES} : "
                           "TYPES via @KERNEL after (VALUES) send [EVENTS] recv [EVENTS]'");
    return true;
}

static bool help_return(const struct slip *slip)
{
    if (behind(slip, "return") && expects(slip, SLIP_VALUE)) {
        if (found_word(slip))
            diag_help(slip->diags, "values begin with '%%': write 'return %%%.*s'",
                      (int)(slip->end - slip->begin), slip->begin);
        else
            diag_help(slip->diags, "write 'return %%A, %%B'");
        return true;
    }
    if (!found(slip, ":") || !expects(slip, SLIP_COMMA | SLIP_UNBRACE))
        return false;
    diag_help(slip->diags, "the types of what is returned stand in the head of the graph, behind "
                           "'->'");
    return true;
}

void slip_help(const struct slip *slip)
{
    if (slip->begin == slip->end || help_item(slip) || help_name(slip) || help_label(slip) ||
        help_dtype(slip) || help_shape(slip))
        return;
    if (expects(slip, SLIP_ARROW) && found(slip, "{")) {
        diag_help(slip->diags, "what a graph returns stands behind '->': '-> ()' if it is nothing");
        return;
    }
    if (help_percent(slip) || help_key(slip) || help_braces(slip) || help_gears(slip) ||
        help_param(slip) || !slip->in_body)
        return;
    (void)(help_return(slip) ||
           (expects(slip, SLIP_VALUE) && slip->types && slip_help_operand(slip)) ||
           help_results(slip) || help_end(slip) || help_types(slip) || help_clauses(slip));
}

/* ---------------------------------------------------------------------------- characters ---- */

void slip_help_character(const struct slip *slip)
{
    const char *word = word_before(slip, slip->begin);
    char c = *slip->begin, next = slip->end < slip->limit ? *slip->end : '\0';
    if (c == '\'')
        diag_help(slip->diags, "strings stand in double quotes");
    else if (c == '#' || (c == '/' && next == '*'))
        diag_help(slip->diags, "comments begin with '//' and end with the line");
    else if (c == ';')
        diag_help(slip->diags, "nothing stands at the end of a line");
    else if (c == '.' && word < slip->begin)
        diag_help(slip->diags, "an op type with other characters than letters, digits and '_' is "
                               "quoted: '\"aten.add\"(...)'");
    else if (c == '-' && word < slip->begin && isalpha((unsigned char)next))
        diag_help(slip->diags, "options of scopes stand in a string: '{options = "
                               "\"stream-fusion=1\"}'; other names with '-' are quoted");
    else if (c == '<' && behind(slip, "include"))
        diag_help(slip->diags, "write 'include \"FILE.skir\"'");
}
