#include "ir/core/sk_options.h"
#include "ir/support/text.h"

#include <string.h>

/* -------------------------------------------------------------------------------- patterns ---- */

bool sk_option_is_pattern(const char *word, size_t size)
{
    return size && (memchr(word, '.', size) || memchr(word, '*', size));
}

/* From the pattern's end to its beginning: fits[i] tells whether what follows in the pattern takes
 * the word from its byte i on. */
bool sk_option_fits(const char *pattern, size_t pattern_size, const char *word, size_t size)
{
    if (!sk_option_is_pattern(pattern, pattern_size))
        return pattern_size == size && memcmp(pattern, word, size) == 0;
    bool *fits = mem_calloc(size + 1, sizeof *fits);
    fits[size] = true;
    for (size_t p = pattern_size; p > 0;) {
        bool repeated = p > 1 && pattern[p - 1] == '*', after = false;
        p -= repeated ? 2 : 1;
        for (size_t i = size + 1; i-- > 0;) {
            bool takes = i < size && (pattern[p] == '.' || pattern[p] == word[i]);
            bool was = fits[i];
            fits[i] = repeated ? was || (takes && fits[i + 1]) : takes && after;
            after = was;
        }
    }
    bool whole = fits[0];
    mem_free(fits);
    return whole;
}

enum {
    MAX_IGNORED = 20, /* warnings per text */
    MAX_SHOWN = 200,  /* bytes of a key or value in a message */
};

/* ---------------------------------------------------------------------------- the table ---- */

static const char *const preload_words[] = {
#define SK_PRELOAD_WORD(name, text) text,
#include "ir/core/sk_options.def"
};

static const char *const preload_data_words[] = {
#define SK_PRELOAD_DATA_WORD(name, text) text,
#include "ir/core/sk_options.def"
};

static const char *const strict_words[] = {
#define SK_STRICT_WORD(name, text) text,
#include "ir/core/sk_options.def"
};

enum kind { KIND_NUMBER, KIND_POWER, KIND_CHOICE, KIND_LIST, KIND_MAP, KIND_TEXT };

static const struct row {
    const char *key;
    enum kind kind;
    int64_t low, high, absent;
    const char *const *words;
    const char *help;
} rows[SK_OPTION_COUNT] = {
#define SK_OPTION(name, text, kind, low, high, absent, words, help)                                \
    {text, KIND_##kind, low, high, absent, words, help},
#include "ir/core/sk_options.def"
};

#define SK_OPTION(name, text, kind, low, high, absent, words, help)                                \
    _Static_assert((low) <= (high) && (low) >= 0, text ": an empty range");
#include "ir/core/sk_options.def"

static void text_values(struct text *text, const struct row *row)
{
    switch (row->kind) {
    case KIND_NUMBER:
        if (row->high - row->low > 2) {
            text_printf(text, "%lld to %lld", (long long)row->low, (long long)row->high);
            break;
        }
        for (int64_t i = row->low; i <= row->high; i++)
            text_printf(text, i == row->low ? "%lld" : ", %lld", (long long)i);
        break;
    case KIND_POWER:
        text_printf(text, "0 or a power of two, 2 to %lld", (long long)row->high);
        break;
    case KIND_CHOICE:
        for (int64_t i = row->low; i <= row->high; i++)
            text_printf(text, i == row->low ? "%s" : ", %s", row->words[i]);
        break;
    case KIND_LIST: text_string(text, "op types or patterns, comma-separated"); break;
    case KIND_MAP: text_string(text, "FUNCTION/COPY/..., comma-separated"); break;
    case KIND_TEXT: text_string(text, "text without ':'"); break;
    }
}

const char *sk_option_key(enum sk_option option)
{
    return rows[option].key;
}

bool sk_option_is_number(enum sk_option option)
{
    return rows[option].kind == KIND_NUMBER || rows[option].kind == KIND_POWER;
}

void sk_options_list(FILE *out)
{
    enum { COLUMNS = 4 };
    struct text cells[SK_OPTION_COUNT + 1][COLUMNS] = {{{NULL, 0, 0}}};
    static const char *const titles[COLUMNS] = {"option", "values", "default", "meaning"};
    int widths[COLUMNS] = {0};
    for (int column = 0; column < COLUMNS; column++)
        text_string(&cells[0][column], titles[column]);
    for (int i = 0; i < SK_OPTION_COUNT; i++) {
        const struct row *row = &rows[i];
        const char *word = row->kind == KIND_CHOICE ? row->words[row->absent] : NULL;
        text_string(&cells[i + 1][0], row->key);
        text_values(&cells[i + 1][1], row);
        if (sk_option_is_number((enum sk_option)i))
            text_signed(&cells[i + 1][2], row->absent);
        else
            text_string(&cells[i + 1][2], word ? word : "-");
        text_string(&cells[i + 1][3], row->help);
    }
    for (int i = 0; i <= SK_OPTION_COUNT; i++)
        for (int column = 0; column < COLUMNS - 1; column++)
            if (widths[column] < (int)cells[i][column].size)
                widths[column] = (int)cells[i][column].size;
    for (int i = 0; i <= SK_OPTION_COUNT; i++)
        for (int column = 0; column < COLUMNS; column++) {
            struct text *cell = &cells[i][column];
            int gap = column == COLUMNS - 1 ? 0 : widths[column] + 2 - (int)cell->size;
            fprintf(out, "%.*s%*s%s", (int)cell->size, cell->at, gap, "",
                    column == COLUMNS - 1 ? "\n" : "");
            text_free(cell);
        }
}

/* ------------------------------------------------------------------------------- pieces ---- */

struct piece {
    const char *at;
    size_t size;
};

/* A piece as arguments for "%.*s": as much of it as a message shows. */
#define SHOWN(piece) (int)utf8_prefix((piece).at, (piece).size, MAX_SHOWN), (piece).at

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct piece trim(struct piece piece)
{
    for (; piece.size && is_blank(piece.at[0]); piece.at++)
        piece.size--;
    while (piece.size && is_blank(piece.at[piece.size - 1]))
        piece.size--;
    return piece;
}

static bool piece_is(struct piece piece, const char *text)
{
    return strlen(text) == piece.size && memcmp(piece.at, text, piece.size) == 0;
}

/* Cuts off what stands before the separator, which goes away; false at the end of the text. A text
 * that ends in a separator has an empty piece behind it, and an empty text has none. */
static bool cut(struct piece *rest, char separator, struct piece *piece)
{
    if (!rest->at || (!rest->size && !piece->at))
        return false;
    const char *stop = rest->size ? memchr(rest->at, separator, rest->size) : NULL;
    *piece = (struct piece){rest->at, stop ? (size_t)(stop - rest->at) : rest->size};
    size_t used = piece->size + (stop != NULL);
    *rest = stop ? (struct piece){stop + 1, rest->size - used} : (struct piece){NULL, 0};
    return true;
}

/* The key and value of a pair, or false where it has no '='. */
static bool split_pair(struct piece pair, struct piece *key, struct piece *value)
{
    const char *sign = pair.size ? memchr(pair.at, '=', pair.size) : NULL;
    if (!sign)
        return false;
    size_t before = (size_t)(sign - pair.at);
    *key = trim((struct piece){pair.at, before});
    *value = trim((struct piece){sign + 1, pair.size - before - 1});
    return true;
}

/* ------------------------------------------------------------------------------- values ---- */

/* Decimal digits; what is too large for any option stays too large. */
static bool read_number(struct piece value, int64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return false;
        *number = *number > INT32_MAX ? *number : *number * 10 + (value.at[i] - '0');
    }
    return value.size > 0;
}

/* Whether a '*' of the word has nothing before it that it could repeat. */
static bool repeats_nothing(struct piece word)
{
    for (size_t i = 0; i < word.size; i++)
        if (word.at[i] == '*' && (i == 0 || strchr("*, \t", word.at[i - 1])))
            return true;
    return false;
}

/* Words that are not empty, and one between two commas. */
static bool is_list(struct piece value)
{
    struct piece word = {NULL, 0};
    while (cut(&value, ',', &word)) {
        struct piece op_type = trim(word);
        if (!op_type.size || repeats_nothing(op_type))
            return false;
        for (size_t i = 0; i < op_type.size; i++)
            if (is_blank(op_type.at[i]))
                return false;
    }
    return true;
}

/* Of each word at least two names, none empty, and at most as many as there are copies. */
static bool is_map(struct piece value)
{
    struct piece word = {NULL, 0}, rest = value;
    while (cut(&rest, ',', &word)) {
        struct piece family = trim(word), name = {NULL, 0};
        unsigned count = 0;
        while (cut(&family, '/', &name)) {
            if (!name.size)
                return false;
            count++;
        }
        if (count < 2 || count > rows[SK_split_mode].high)
            return false;
    }
    return is_list(value);
}

static bool read_value(const struct row *row, struct piece value, int64_t *number)
{
    *number = row->absent;
    switch (row->kind) {
    case KIND_NUMBER:
        return read_number(value, number) && *number >= row->low && *number <= row->high;
    case KIND_POWER:
        return read_number(value, number) && *number <= row->high && *number != 1 &&
               (*number & (*number - 1)) == 0;
    case KIND_CHOICE:
        for (*number = row->low; *number <= row->high; ++*number)
            if (piece_is(value, row->words[*number]))
                return true;
        return false;
    case KIND_LIST: return is_list(value);
    case KIND_MAP: return is_map(value);
    case KIND_TEXT: return true;
    }
    return false;
}

bool sk_option_next(struct sk_setting *rest, const char **word, size_t *size)
{
    struct piece left = {rest->text, rest->size}, one = {NULL, 0};
    if (!cut(&left, ',', &one))
        return false;
    rest->text = left.at;
    rest->size = left.size;
    one = trim(one);
    *word = one.at;
    *size = one.size;
    return true;
}

bool sk_option_lists(const struct sk_options *options, enum sk_option option, const char *word,
                     size_t size)
{
    struct sk_setting rest = options->of[option];
    struct piece one;
    while (sk_option_next(&rest, &one.at, &one.size))
        if (sk_option_fits(one.at, one.size, word, size))
            return true;
    return false;
}

const char *sk_option_of_word(const char *word, size_t size)
{
    for (int i = 0; i < SK_OPTION_COUNT; i++) {
        size_t n = 0;
        while (n < size && rows[i].key[n] &&
               (word[n] == rows[i].key[n] || (word[n] == '_' && rows[i].key[n] == '-')))
            n++;
        if (n == size && !rows[i].key[n])
            return rows[i].key;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------ parsing ---- */

struct option_parser {
    struct sk_options *options;
    struct piece text;
    struct span span;
    struct diags *diags;               /* or NULL */
    struct span keys[SK_OPTION_COUNT]; /* of the options so far */
    bool seen[SK_OPTION_COUNT];
    unsigned ignored;
    bool ok;
};

/* At least one byte wide: an empty piece is what stands behind it. */
static struct span piece_span(const struct option_parser *parser, struct piece piece)
{
    struct span all = parser->span;
    if (all.end - all.begin != parser->text.size)
        return all;
    uint32_t begin = all.begin + (uint32_t)(piece.at - parser->text.at);
    return (struct span){begin, begin + (piece.size ? (uint32_t)piece.size : 1)};
}

static bool report(struct option_parser *parser, enum diag_id id, struct piece piece,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Returns whether notes can be added. */
static bool report(struct option_parser *parser, enum diag_id id, struct piece piece,
                   const char *format, ...)
{
    if (diag_id_severity(id) == SEVERITY_ERROR)
        parser->ok = false;
    if (!parser->diags)
        return false;
    va_list args;
    va_start(args, format);
    bool kept = diag_vat(parser->diags, id, piece_span(parser, piece), format, args);
    va_end(args);
    return kept;
}

static struct suggest suggest_key(struct option_parser *parser, struct piece key)
{
    struct suggest suggest = {.wanted = key.at, .wanted_size = key.size};
    if (diag_wants_suggestion(parser->diags))
        for (int i = 0; i < SK_OPTION_COUNT; i++)
            suggest_offer_text(&suggest, rows[i].key);
    return suggest;
}

/* A value that is none of the option's: it may be several pairs that something else than ':'
 * joins. */
static void report_value(struct option_parser *parser, const struct row *row, struct piece value)
{
    size_t next = 0; /* where what joins another pair begins */
    struct text values = {NULL, 0, 0};
    for (size_t i = 0; i + 1 < value.size && !next; i++)
        if (strchr(",; ", value.at[i]) && memchr(value.at + i, '=', value.size - i))
            next = i;
    text_values(&values, row);
    if (!value.size) {
        if (report(parser, DIAG_option_syntax, value, "'%s' has no value", row->key))
            diag_help(parser->diags, "it takes %.*s; its default is what it is without this pair",
                      (int)values.size, values.at);
        text_free(&values);
        return;
    }
    bool kept =
        report(parser, DIAG_option_value, value, "bad value '%.*s' for '%s', which takes %.*s",
               SHOWN(value), row->key, (int)values.size, values.at);
    text_free(&values);
    if (kept && next) {
        size_t rest = next + strspn(value.at + next, ",; ");
        diag_help(parser->diags, "options are joined by ':': write '%s=%.*s:%.*s'", row->key,
                  (int)next, value.at, (int)(value.size - rest), value.at + rest);
    } else if (kept && row->kind == KIND_CHOICE && diag_wants_suggestion(parser->diags)) {
        struct suggest suggest = {.wanted = value.at, .wanted_size = value.size};
        for (int64_t i = row->low; i <= row->high; i++)
            suggest_offer_text(&suggest, row->words[i]);
        diag_suggest(parser->diags, &suggest);
    }
    if (kept && row->kind == KIND_LIST && repeats_nothing(value))
        diag_help(parser->diags, "'*' repeats the character before it; '.*' is any characters");
}

static void report_ignored(struct option_parser *parser, struct piece pair)
{
    struct piece word = trim(pair);
    if (parser->ignored++ >= MAX_IGNORED)
        return;
    if (!word.size) {
        report(parser, DIAG_option_ignored, pair, "an empty option is skipped");
        return;
    }
    if (!report(parser, DIAG_option_ignored, word, "'%.*s' has no '=' and is skipped", SHOWN(word)))
        return;
    struct suggest suggest = suggest_key(parser, word);
    suggest.behind = "=VALUE";
    diag_suggest(parser->diags, &suggest);
}

static void parse_pair(struct option_parser *parser, struct piece pair)
{
    struct piece key, value;
    int option = 0;
    if (!split_pair(pair, &key, &value)) {
        report_ignored(parser, pair);
        return;
    }
    if (!key.size) {
        report(parser, DIAG_option_syntax, trim(pair), "a name is missing before '='");
        return;
    }
    while (option < SK_OPTION_COUNT && !piece_is(key, rows[option].key))
        option++;
    if (option == SK_OPTION_COUNT) {
        if (!report(parser, DIAG_unknown_option, key, "unknown option '%.*s'", SHOWN(key)))
            return;
        struct suggest suggest = suggest_key(parser, key);
        if (!diag_suggest(parser->diags, &suggest))
            diag_help(parser->diags, "'skirc opt --list-sk-options' lists the options");
        return;
    }
    if (parser->seen[option]) {
        if (report(parser, DIAG_option_repeated, key, "'%s' stands twice", rows[option].key))
            diag_note(parser->diags, parser->keys[option], "the first is here");
        return;
    }
    parser->seen[option] = true;
    parser->keys[option] = piece_span(parser, key);
    int64_t number;
    if (value.size && read_value(&rows[option], value, &number))
        parser->options->of[option] = (struct sk_setting){true, number, value.at, value.size};
    else
        report_value(parser, &rows[option], value);
}

static const struct sk_options defaults = {{
#define SK_OPTION(name, text, kind, low, high, absent, words, help) {false, absent, "", 0},
#include "ir/core/sk_options.def"
}};

void sk_options_defaults(struct sk_options *options)
{
    *options = defaults;
}

bool sk_options_parse(struct sk_options *options, const char *text, size_t size, struct span span,
                      struct diags *diags)
{
    struct option_parser parser = {
        .options = options, .text = {text, size}, .span = span, .diags = diags, .ok = true};
    struct piece rest = parser.text, pair = {NULL, 0};
    sk_options_defaults(options);
    while (cut(&rest, ':', &pair))
        parse_pair(&parser, pair);
    return parser.ok;
}

bool sk_options_of(struct sk_options *options, const struct module *module, uint32_t name)
{
    sk_options_defaults(options);
    if (name == NONE)
        return true;
    const struct intern_name *text = &module->names.names[name];
    return sk_options_parse(options, text->text, text->size, no_span, NULL);
}

const struct sk_options *block_options(const struct module *module, const struct block *block)
{
    uint32_t name = attr_string(module, block->attrs, W_options);
    if (name == NONE)
        return &defaults;
    uint32_t id = id_map_find(&module->option_ids, name);
    if (id == NONE) {
        part_leave();
        struct module *own = (struct module *)module; /* as a cache, it is no part of its value */
        struct sk_options *options = arena_alloc(&own->options_arena, sizeof *options);
        sk_options_of(options, module, name);
        id = own->options.count;
        vec_push(&own->options, options);
        id_map_set(&own->option_ids, name, id);
    }
    return module->options.at[id];
}

unsigned sk_options_differ(const struct sk_options *a, const struct sk_options *b, unsigned from)
{
    for (; from < SK_OPTION_COUNT; from++) {
        const struct sk_setting *x = &a->of[from], *y = &b->of[from];
        if (x->given != y->given || x->number != y->number || x->size != y->size ||
            memcmp(x->text, y->text, x->size) != 0)
            break;
    }
    return from;
}

bool sk_options_check(const struct sk_options *options)
{
    const struct sk_setting *own = &options->of[SK_debug_cross_core_sync_check];
    return own->given ? own->number : options->of[SK_debug_per_op_max_core_num].number;
}

bool sk_options_trace(const struct sk_options *options)
{
    const struct sk_setting *own = &options->of[SK_debug_op_exec_trace];
    return own->given ? own->number : sk_options_check(options);
}

/* ---------------------------------------------------------------------------- searching ---- */

const char *sk_options_find(const char *text, size_t size, enum sk_option option)
{
    struct piece rest = {text, size}, pair = {NULL, 0}, key, value;
    while (cut(&rest, ':', &pair))
        if (split_pair(pair, &key, &value) && piece_is(key, rows[option].key))
            return key.at;
    return NULL;
}

/* ----------------------------------------------------------------------------- override ---- */

/* Appends the pairs of a text: where others have the key, theirs if `replace`, else none. Whether
 * the text has any. */
static bool add_pairs(struct text *out, struct piece text, struct piece others, bool replace)
{
    struct piece pair = {NULL, 0}, key, value, other_key, other_value;
    bool any = false;
    while (cut(&text, ':', &pair)) {
        struct piece rest = others, other = {NULL, 0}, found = {NULL, 0};
        if (!split_pair(pair, &key, &value))
            continue;
        any = true;
        while (!found.at && cut(&rest, ':', &other))
            if (split_pair(other, &other_key, &other_value) && other_key.size == key.size &&
                memcmp(other_key.at, key.at, key.size) == 0)
                found = other;
        if (found.at && !replace)
            continue;
        found = trim(found.at ? found : pair);
        text_string(out, out->size ? ":" : "");
        text_bytes(out, found.at, found.size);
    }
    return any;
}

uint32_t sk_options_override(struct module *module, uint32_t base, const char *more)
{
    const struct intern_name *name = base == NONE ? NULL : &module->names.names[base];
    const struct piece old = {name ? name->text : "", name ? name->size : 0};
    const struct piece new = {more ? more : "", more ? strlen(more) : 0};
    struct text out = {NULL, 0, 0};
    add_pairs(&out, old, new, true);
    bool any = add_pairs(&out, new, old, false);
    uint32_t id = any ? intern_copy(&module->names, out.at, out.size) : base;
    text_free(&out);
    return id;
}
