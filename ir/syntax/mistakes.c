/* A table of mistakes: the first row that fits the place of a syntax error gives its help. A row
 * names what the grammar expects there, the token before, and the token that was found. The test
 * of a row is linear in its text, so that a help costs no more than reading the table. */
#include "ir/syntax/mistakes.h"
#include "ir/support/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct mistake {
    unsigned context;           /* bits of enum mistake_context that the place has */
    const char *before, *found; /* tokens, or classes of tokens in capitals; NULL: any */
    /* '$' is the token that was found, without its mark; '^' the word before it; '#' the dtype that
     * the token means. NULL: no help. */
    const char *help;
};

#define ORDER                                                                                      \
    "the parts of an op have this order: 'TYPE(OPERANDS) {ATTRIBUTES} : TYPES via @KERNEL after "  \
    "(VALUES) send [EVENTS] recv [EVENTS]'"

static const struct mistake mistakes[] = {
    /* Characters. */
    {AT_CHARACTER, NULL, "'", "write strings in double quotes"},
    {AT_CHARACTER, NULL, "# /*", "comments begin with '//' and end with the line"},
    {AT_CHARACTER, NULL, ";", "remove it: a statement ends with its line"},
    {AT_CHARACTER, "include", "<", "write 'include \"FILE.skir\"'"},
    {AT_CHARACTER, "WORD", ".",
     "quote an op type with other characters than letters, digits and '_': '\"aten.add\"(...)'"},
    {IN_BODY | AT_CHARACTER, "WORD", "-",
     "write options of scopes in a string: '{options = \"stream-fusion=1\"}'; quote other names "
     "with '-'"},
    {AT_CHARACTER, NULL, NULL, NULL},

    /* Items of a file. */
    {EXPECTS_ITEM, NULL, "func def fn function define",
     "write a graph as 'graph @NAME(%A: TYPE) -> TYPE {'"},
    {EXPECTS_ITEM, NULL, "module", "remove it: a file is a module, without a block around it"},
    {EXPECTS_ITEM, NULL, "import use from", "include another file by 'include \"FILE.skir\"'"},
    {EXPECTS_ITEM, NULL, "}", "remove it: no block is open here"},
    {EXPECTS_ITEM, NULL, "scope stream return",
     "'$' belongs in a graph; a '}' before it may be one too many"},

    /* Names. */
    {EXPECTS_SYMBOL, "scope", "{", "name the scope: 'scope @NAME {'"},
    {EXPECTS_SYMBOL, "scope superkernel graph kernel entry via", "WORD STRING VALUE",
     "the name begins with '@': write '^ @$'"},
    {EXPECTS_STRING, "stream target include", "{", "name it by a string: '^ \"NAME\"'"},
    {EXPECTS_STRING, "stream target include", "WORD NUMBER VALUE SYMBOL",
     "the name is a string: write '^ \"$\"'"},

    /* Types. */
    {EXPECTS_DTYPE, NULL, "{", "a graph that returns nothing has '-> ()'"},
    {EXPECTS_DTYPE, NULL, "FOREIGN", "did you mean '#'?"},
    {EXPECTS_DTYPE, NULL, "WORD [",
     "a type is an element type and a shape: 'f16[8, 8]'; element types are f32, f16, bf16, i8, "
     "i32, i64, bool ..."},
    {EXPECTS_BRACKET, "DTYPE", "(", "write the shape in brackets: '^[8, 8]'"},
    {EXPECTS_BRACKET, "DTYPE", NULL, "a type has a shape: '^[]' is that of a single element"},
    {EXPECTS_QUERY | EXPECTS_WORD, NULL, "* :", "a dimension that is not known is '?'"},
    {EXPECTS_QUERY | EXPECTS_WORD, NULL, NULL,
     "a dimension is a number, '?', or a sum of products of numbers and names: '2*b + 1'"},
    {EXPECTS_STAR, NULL, "WORD NUMBER",
     "separate dimensions by ',': '8, 8'; a product is written '2*b', a sum 'b + 1'"},
    {EXPECTS_STAR | EXPECTS_COMMA, NULL, NULL,
     "a dimension is a number, '?', or a sum of products of numbers and names: '2*b + 1'"},

    /* Heads of graphs. */
    {EXPECTS_ARROW, NULL, "{", "write what a graph returns after '->': '-> ()' for nothing"},
    {EXPECTS_ARROW, NULL, "zip product", "write 'gears $ (b = [2, 4])'"},
    {IN_HEAD, "gears", NULL,
     "write 'gears zip (...)' to pair values by position, 'gears product (...)' for all "
     "combinations"},
    {EXPECTS_OPEN, "zip product", NULL, "write 'gears ^ (b = [2, 4])'"},
    {EXPECTS_COLON, "VALUE", "WORD", "a parameter is '%NAME: TYPE'"},
    {IN_HEAD | EXPECTS_VALUE | EXPECTS_CLOSE, NULL, "WORD", "a parameter is '%NAME: TYPE'"},
    {EXPECTS_ATTRS | EXPECTS_COMMA | EXPECTS_CLOSE, NULL, "WORD",
     "write a format after ':', as in 'f16[16, 16]:FRACTAL_NZ', and ',' before the next "
     "parameter"},

    /* Results and attributes. */
    {EXPECTS_OPEN, "WORD", "=", "values begin with '%': write '%^ = ...'"},
    {EXPECTS_COMMA | EXPECTS_UNBRACE, "WORD", "(",
     "values begin with '%': '%NAME = TYPE(...)'; attributes are '{KEY = VALUE}'"},
    {EXPECTS_COMMA | EXPECTS_EQUAL, NULL, ":",
     "an op defines its results by '=': '%A, %B = TYPE(...)'"},
    {EXPECTS_OPEN, "WORD STRING", ":", "attributes are written '{KEY = VALUE}'"},
    {EXPECTS_EQUAL | EXPECTS_UNBRACE, NULL, ":", "attributes are written '{KEY = VALUE}'"},
    {IN_BODY | EXPECTS_VALUE | EXPECTS_BRACKET, "=", "WORD NUMBER STRING { SYMBOL",
     "write attributes in braces after the operands: '{KEY = $}'"},

    /* Clauses and 'return'. */
    {EXPECTS_OPEN, "after", "VALUE", "write 'after (%$)'"},
    {EXPECTS_OPEN, "after", NULL, "write 'after (%A, %B)'"},
    {EXPECTS_BRACKET, "send recv", NULL, "write '^ [A, B]'"},
    {EXPECTS_VALUE, "return", "WORD", "values begin with '%': write 'return %$'"},
    {EXPECTS_VALUE, "return", NULL, "write 'return %A, %B'"},
    {EXPECTS_COMMA | EXPECTS_UNBRACE, NULL, ":",
     "write the types of what the graph returns in its head, after '->'"},

    /* Ops. */
    {IN_BODY | EXPECTS_OPEN, "WORD", "{ [",
     "write attributes in braces after the operands: '^(...) {KEY = VALUE}'"},
    {IN_BODY | EXPECTS_OPEN, NULL, "VALUE", "an op is written 'TYPE(%A, %B)'"},
    {IN_BODY | EXPECTS_VALUE | EXPECTS_WORD | EXPECTS_UNBRACE, NULL, "(",
     "write results without parentheses: '%A, %B = TYPE(...)'"},
    {IN_BODY | EXPECTS_VALUE | EXPECTS_BRACKET, NULL, "(",
     "write a list of operands in brackets: '[%A, %B]'"},
    {IN_BODY | EXPECTS_STRING | EXPECTS_WORD, "=", "VALUE", "an op is written 'TYPE(%A, %B)'"},
    {IN_BODY | EXPECTS_VALUE, NULL, "true false",
     "an operand is a value: write it as an attribute, '{KEY = $}', or as a constant, '%c = "
     "Const() {value = $} : bool[]'"},
    {IN_BODY | EXPECTS_VALUE, NULL, "NUMBER",
     "an operand is a value: write a number as an attribute, '{KEY = $}', or as a constant, '%c = "
     "Const() {value = $} : f32[]'"},
    {IN_BODY, NULL,
     "-> =", "write ':' and the types of the results alone after the operands: ': f16[8, 8]'"},
    {IN_BODY, "]", ",", "write several types in parentheses: ': (f16[8, 8], f16[8, 8])'"},
    {IN_BODY, "}", "{", NULL},
    {IN_BODY, NULL, "via after send recv : {", ORDER},
    {IN_BODY | EXPECTS_ATTRS, NULL, "( WORD", "write attributes in braces: '{KEY = VALUE}'"},
};

/* ------------------------------------------------------------------------------- dtypes ---- */

/* What other systems call the dtypes, without their DT_; capitals do not matter. */
static const struct {
    const char *name, *dtype;
} foreign_dtypes[] = {
    {"float16", "f16"},     {"fp16", "f16"},    {"half", "f16"},      {"bfloat16", "bf16"},
    {"float", "f32"},       {"float32", "f32"}, {"fp32", "f32"},      {"double", "f64"},
    {"float64", "f64"},     {"int8", "i8"},     {"int16", "i16"},     {"int", "i32"},
    {"int32", "i32"},       {"long", "i64"},    {"int64", "i64"},     {"index", "i64"},
    {"uint8", "u8"},        {"uint16", "u16"},  {"uint32", "u32"},    {"uint64", "u64"},
    {"boolean", "bool"},    {"i1", "bool"},     {"complex64", "c64"}, {"complex128", "c128"},
    {"f8e4m3", "f8e4m3fn"},
#define DTYPE(name, ...) {#name, #name},
#include "ir/core/dtypes.def"
};

static const char *dtype_meant(const char *name, size_t size)
{
    if (size > 3 && strncasecmp(name, "dt_", 3) == 0)
        name += 3, size -= 3;
    for (size_t i = 0; i < sizeof foreign_dtypes / sizeof foreign_dtypes[0]; i++)
        if (strlen(foreign_dtypes[i].name) == size &&
            strncasecmp(foreign_dtypes[i].name, name, size) == 0)
            return foreign_dtypes[i].dtype;
    return NULL;
}

/* ------------------------------------------------------------------------------- tokens ---- */

struct token {
    const char *begin, *end;
};

/* The token that ends at `before`: a word or a name with its mark, else one character. */
static struct token token_before(const struct mistake_place *place)
{
    struct token token = {place->before, place->before};
    for (char c; token.begin > place->text; token.begin--) {
        c = token.begin[-1];
        if (!isalnum((unsigned char)c) && c != '_' && c != '.' && c != '$')
            break;
    }
    bool word = token.begin < token.end;
    if (token.begin > place->text && (!word || strchr("%@", token.begin[-1])))
        token.begin--;
    return token;
}

static bool is_class(struct token token, const char *class, size_t size)
{
    static const char *const classes[] = {"WORD",   "NUMBER", "STRING", "VALUE",
                                          "SYMBOL", "DTYPE",  "FOREIGN"};
    char first = *token.begin;
    const char *digit = token.begin + (first == '-' || first == '.');
    for (unsigned i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (strlen(classes[i]) == size && memcmp(classes[i], class, size) == 0)
            switch (i) {
            case 0: return isalpha((unsigned char)first) || first == '_';
            case 1: return digit < token.end && isdigit((unsigned char)*digit);
            case 2: return first == '"';
            case 3: return first == '%' && token.end > token.begin + 1;
            case 4: return first == '@';
            default: return dtype_meant(token.begin, (size_t)(token.end - token.begin)) != NULL;
            }
    return false;
}

/* Whether one of the words of `list` is the token, or its class; NULL: any token. */
static bool is_one_of(struct token token, const char *list)
{
    if (!list)
        return true;
    while (*list && token.begin < token.end) {
        size_t size = strcspn(list, " ");
        bool same =
            (size_t)(token.end - token.begin) == size && memcmp(token.begin, list, size) == 0;
        if (same || is_class(token, list, size))
            return true;
        list += size + strspn(list + size, " ");
    }
    return false;
}

/* Without the mark of a name, and the quotes of a string. */
static struct token bare(struct token token)
{
    if (*token.begin == '"' && token.end > token.begin + 1)
        token.end--;
    token.begin += strchr("\"%@", *token.begin) != NULL;
    return token;
}

/* ----------------------------------------------------------------------------- help ---- */

static const char *fill_in(const char *help, struct token before, struct token found,
                           struct arena *arena)
{
    struct text text = {NULL, 0, 0};
    const char *dtype = dtype_meant(found.begin, (size_t)(found.end - found.begin));
    before = bare(before);
    found = bare(found);
    for (; *help; help++)
        if (*help == '$')
            text_bytes(&text, found.begin, (size_t)(found.end - found.begin));
        else if (*help == '^')
            text_bytes(&text, before.begin, (size_t)(before.end - before.begin));
        else if (*help == '#')
            text_string(&text, dtype);
        else
            text_char(&text, *help);
    const char *filled = arena_strndup(arena, text.at, text.size);
    text_free(&text);
    return filled;
}

const char *mistake_help(const struct mistake_place *place, struct arena *arena)
{
    struct token before = token_before(place), found = {place->begin, place->end};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const struct mistake *row = &mistakes[i];
        if ((place->context & row->context) == row->context && is_one_of(before, row->before) &&
            is_one_of(found, row->found))
            return row->help ? fill_in(row->help, before, found, arena) : NULL;
    }
    return NULL;
}
