#include "ir/syntax/slips.h"
#include "ir/base/suggest.h"
#include "ir/syntax/slip_gears.h"
#include "ir/syntax/slip_looking.h"
#include "ir/syntax/slip_operand.h"

#include <strings.h>

/* ------------------------------------------------------------------------------- looking ---- */

/* Whether the text before the token ends in `word =`; `*begin` is where the word does. */
static bool behind_key(const struct slip *slip, const char *end, const char **begin,
                       const char **key_end)
{
    const char *p = slip_skip_blanks_back(slip, end);
    if (p == slip->text || p[-1] != '=')
        return false;
    *key_end = slip_skip_blanks_back(slip, p - 1);
    *begin = slip_word_before(slip, *key_end);
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
    if (!slip_expects(slip, SLIP_DTYPE))
        return false;
    if (slip_found(slip, "tensor") || slip_found(slip, "memref") || slip_found(slip, "vector"))
        return help_tensor(slip);
    if (slip_found(slip, "{")) {
        diag_help(slip->diags, "a graph that returns nothing has '-> ()'");
        return true;
    }
    const char *dtype = known_dtype(slip->begin, slip->end);
    if (dtype)
        diag_help(slip->diags, "did you mean '%s'?", dtype);
    else if (slip_found_word(slip) || slip_found(slip, "["))
        diag_help(slip->diags, "a type is an element type and a shape: 'f16[8, 8]'; element types "
                               "are f32, f16, bf16, i8, i32, i64, bool ...");
    return dtype || slip_found_word(slip) || slip_found(slip, "[");
}

static bool help_shape(const struct slip *slip)
{
    const char *word = slip_word_before(slip, slip->before);
    if (slip->expects == SLIP_BRACKET && known_dtype(word, slip->before)) {
        diag_help(slip->diags,
                  slip_found(slip, "(")
                      ? "a shape stands in brackets: '%.*s[8, 8]'"
                      : "a type has a shape: '%.*s[]' is that of a single element",
                  (int)(slip->before - word), word);
        return true;
    }
    if (slip_expects(slip, SLIP_INT | SLIP_UNBRACKET) &&
        (slip_found(slip, "*") || slip_found(slip, ":"))) {
        diag_help(slip->diags, "a dimension that is not known is '?'");
        return true;
    }
    if (slip_expects(slip, SLIP_UNBRACKET) && *slip->begin == 'x' && slip_found_word(slip)) {
        diag_help(slip->diags, "dimensions are separated by ',': '8, 8'");
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------------ heads of blocks ---- */

static bool help_item(const struct slip *slip)
{
    static const char *const graphs[] = {"func", "def", "fn", "function", "define"};
    if (!slip_expects(slip, SLIP_ITEM))
        return false;
    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++)
        if (slip_found(slip, graphs[i])) {
            diag_help(slip->diags, "a graph is written 'graph @NAME(%%A: TYPE) -> TYPE {'");
            return true;
        }
    if (slip_found(slip, "module"))
        diag_help(slip->diags, "nothing stands around what a file has: a file is a module");
    else if (slip_found(slip, "import") || slip_found(slip, "use") || slip_found(slip, "from"))
        diag_help(slip->diags, "another file is included by 'include \"FILE.skir\"'");
    else if (slip_found(slip, "}"))
        diag_help(slip->diags, "no block is open here");
    else if (slip_found(slip, "scope") || slip_found(slip, "stream") || slip_found(slip, "return"))
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
    if (!slip_expects(slip, SLIP_SYMBOL))
        return false;
    if (slip_found(slip, "{") && slip_behind(slip, "scope")) {
        diag_help(slip->diags, "a scope has a name: 'scope @NAME'");
        return true;
    }
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
        if (!slip_behind(slip, owners[i]) || !strchr("\"%", *begin) == !slip_is_name_byte(*begin))
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
    if (!slip_expects(slip, SLIP_STRING) || !(slip_is_name_byte(*begin) || *begin == '{'))
        return false;
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++)
        if (slip_behind(slip, owners[i])) {
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
    if (!slip_expects(slip, SLIP_ATTRS))
        return false;
    if (slip_expects(slip, SLIP_COMMA | SLIP_CLOSE) && slip_found_word(slip)) {
        diag_help(slip->diags, "a format stands behind ':', as in 'f16[16, 16]:FRACTAL_NZ'; the "
                               "next parameter behind ','");
        return true;
    }
    if (!slip->in_body || slip_last_byte(slip) == ')' ||
        !(slip_found(slip, "(") || slip_found_word(slip)))
        return false;
    diag_help(slip->diags, "attributes stand in braces: '{KEY = VALUE}', and then '{'");
    return true;
}

static bool help_param(const struct slip *slip)
{
    bool type = slip_found_word(slip);
    if (slip->in_body || !type ||
        !(slip->expects == SLIP_COLON || slip_expects(slip, SLIP_VALUE | SLIP_CLOSE)))
        return false;
    if (slip_behind(slip, "kernel") || (slip->expects == SLIP_COLON && slip_last_byte(slip) == '{'))
        return false;
    diag_help(slip->diags, "a parameter is '%%NAME: TYPE'");
    return true;
}

/* ----------------------------------------------------------------------------------- ops ---- */

static bool help_percent(const struct slip *slip)
{
    const char *begin, *end, *type = slip_word_before(slip, slip->before);
    if (slip_found(slip, "=") && slip_expects(slip, SLIP_OPEN)) {
        begin = type;
        end = slip->before;
    } else if (!(slip_found(slip, "(") && slip_expects(slip, SLIP_UNBRACE) && type < slip->before &&
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
    const char *word = slip_word_before(slip, slip->before), *begin, *end;
    if (slip_found(slip, ":") &&
        (slip_expects(slip, SLIP_OPEN) || slip_expects(slip, SLIP_EQUAL | SLIP_UNBRACE)) &&
        (word < slip->before || slip_last_byte(slip) == '"')) {
        diag_help(slip->diags, "attributes are written '{KEY = VALUE}'");
        return true;
    }
    if (slip_expects(slip, SLIP_VALUE | SLIP_BRACKET) && *slip->begin != '(' &&
        behind_key(slip, slip->begin, &begin, &end)) {
        diag_help(slip->diags, "attributes stand in braces behind the operands: '{%.*s = ...}'",
                  (int)(end - begin), begin);
        return true;
    }
    if (slip->expects == SLIP_OPEN && word < slip->before &&
        (slip_found(slip, "{") || slip_found(slip, "["))) {
        diag_help(slip->diags,
                  "attributes stand in braces behind the operands: '%.*s(...) {KEY = VALUE}'",
                  (int)(slip->before - word), word);
        return true;
    }
    return false;
}

static bool help_results(const struct slip *slip)
{
    if (slip_found(slip, ":") && slip_expects(slip, SLIP_COMMA | SLIP_EQUAL))
        diag_help(slip->diags, isdigit((unsigned char)slip_next_byte(slip))
                                   ? "each result has a name: '%%A, %%B = ...'"
                                   : "an op defines its results by '=': '%%A = TYPE(...)'");
    else if (slip_found(slip, "(") && slip_next_byte(slip) == '%' &&
             !slip_expects(slip, SLIP_OPEN) && slip_last_byte(slip) != '(' &&
             slip_last_byte(slip) != ',' && !slip_behind(slip, "return"))
        diag_help(slip->diags, "results stand without parentheses: '%%A, %%B = ...'");
    else if (slip_found(slip, "(") && slip_expects(slip, SLIP_VALUE | SLIP_BRACKET | SLIP_CLOSE))
        diag_help(slip->diags, "a list of operands stands in brackets: '[%%A, %%B]'");
    else if (*slip->begin == '%' && (slip_expects(slip, SLIP_STRING | SLIP_WORD) ||
                                     (slip->expects == SLIP_OPEN && !slip_behind(slip, "after"))))
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
    if (!slip_found(slip, ",") || slip_last_byte(slip) == ',' || !last)
        return false;
    diag_help(slip->diags, "nothing stands at the end of a line");
    return true;
}

static bool help_types(const struct slip *slip)
{
    if (slip_found(slip, "->") || (slip_found(slip, "=") && slip_last_byte(slip) == ')'))
        diag_help(slip->diags, "behind the operands stand ':' and the types of the results alone: "
                               "': f16[8, 8]'");
    else if (slip_found(slip, ",") && slip_last_byte(slip) == ']' &&
             !slip_expects(slip, SLIP_CLOSE))
        diag_help(slip->diags, "several types stand in parentheses: ': (f16[8, 8], f16[8, 8])'");
    else
        return false;
    return true;
}

static bool is_clause(const struct slip *slip)
{
    return slip_found(slip, "via") || slip_found(slip, "after") || slip_found(slip, "send") ||
           slip_found(slip, "recv");
}

static bool help_clauses(const struct slip *slip)
{
    static const struct {
        const char *clause, *form;
    } clauses[] = {{"after", "after (%A, %B)"}, {"send", "send [A, B]"}, {"recv", "recv [A, B]"}};
    for (size_t i = 0; i < sizeof clauses / sizeof clauses[0]; i++)
        if (slip_behind(slip, clauses[i].clause) && slip->expects & (SLIP_OPEN | SLIP_BRACKET)) {
            if (i == 0 && *slip->begin == '%')
                diag_help(slip->diags, "write 'after (%.*s)'", (int)(slip->end - slip->begin),
                          slip->begin);
            else
                diag_help(slip->diags, "write '%s'", clauses[i].form);
            return true;
        }
    if (!is_clause(slip) && !slip_found(slip, ":") &&
        !(slip_found(slip, "{") && slip_last_byte(slip) != '}'))
        return false;
    diag_help(slip->diags, "the parts of an op stand in this order: 'TYPE(OPERANDS) {ATTRIBUTES} : "
                           "TYPES via @KERNEL after (VALUES) send [EVENTS] recv [EVENTS]'");
    return true;
}

static bool help_return(const struct slip *slip)
{
    if (slip_behind(slip, "return") && slip_expects(slip, SLIP_VALUE)) {
        if (slip_found_word(slip))
            diag_help(slip->diags, "values begin with '%%': write 'return %%%.*s'",
                      (int)(slip->end - slip->begin), slip->begin);
        else
            diag_help(slip->diags, "write 'return %%A, %%B'");
        return true;
    }
    if (!slip_found(slip, ":") || !slip_expects(slip, SLIP_COMMA | SLIP_UNBRACE))
        return false;
    diag_help(slip->diags, "the types of what is returned stand in the head of the graph, behind "
                           "'->'");
    return true;
}

void slip_help(const struct slip *slip)
{
    if (slip->begin == slip->end || help_item(slip) || help_name(slip) || help_label(slip) ||
        help_dtype(slip) || help_shape(slip) || slip_help_dims(slip) || slip_help_gears(slip))
        return;
    if (slip_expects(slip, SLIP_ARROW) && slip_found(slip, "{")) {
        diag_help(slip->diags, "what a graph returns stands behind '->': '-> ()' if it is nothing");
        return;
    }
    if (help_percent(slip) || help_key(slip) || help_braces(slip) || help_param(slip) ||
        !slip->in_body)
        return;
    (void)(help_return(slip) ||
           (slip_expects(slip, SLIP_VALUE) && slip->types && slip_help_operand(slip)) ||
           help_results(slip) || help_end(slip) || help_types(slip) || help_clauses(slip));
}

/* ---------------------------------------------------------------------------- characters ---- */

void slip_help_character(const struct slip *slip)
{
    const char *word = slip_word_before(slip, slip->begin);
    char c = *slip->begin, next = slip->end < slip->limit ? *slip->end : '\0';
    if (slip_help_dims(slip) || slip_help_gears(slip))
        return;
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
    else if (c == '<' && slip_behind(slip, "include"))
        diag_help(slip->diags, "write 'include \"FILE.skir\"'");
}
