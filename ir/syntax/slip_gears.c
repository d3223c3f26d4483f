#include "ir/syntax/slip_gears.h"
#include "ir/base/suggest.h"
#include "ir/syntax/slip_looking.h"

#include <stdlib.h>

enum { MOST = 2000 }; /* bytes that are looked at before a token */

/* ---------------------------------------------------------------------------- dimensions ---- */

/* Whether the token stands in the brackets of a type, which follow a word at once. */
static bool in_shape(const struct slip *slip)
{
    const char *first = slip->begin - slip->text > MOST ? slip->begin - MOST : slip->text;
    for (const char *p = slip->begin; p-- > first;) {
        if (*p == '[')
            return p > first && (slip_is_name_byte(p[-1]) || p[-1] == '?');
        if (strchr("](){}\"=;", *p))
            return false;
    }
    return false;
}

static bool found_number(const struct slip *slip)
{
    return isdigit((unsigned char)*slip->begin);
}

/* A name that is written as others are; the help shows one that can be written. */
static void help_quoted(const struct slip *slip)
{
    const char *begin = slip->begin + 1, *end = slip->end - (*slip->begin == '"');
    bool word = end > begin && !isdigit((unsigned char)*begin);
    for (const char *p = begin; p < end; p++)
        word = word && (isalnum((unsigned char)*p) || *p == '_');
    diag_help(slip->diags, "a name in a dimension is a plain word%s '%.*s'",
              word ? ":" : ", such as", word ? (int)(end - begin) : 1, word ? begin : "b");
}

/* What stands behind a dimension that is complete. */
static void help_next_dim(const struct slip *slip)
{
    const char *before = slip_word_before(slip, slip->before);
    if (slip_found_word(slip) && before < slip->before && isdigit((unsigned char)*before))
        diag_help(slip->diags, "a product is written '%.*s*%.*s'", (int)(slip->before - before),
                  before, (int)(slip->end - slip->begin), slip->begin);
    else
        diag_help(slip->diags, "dimensions are separated by ','");
}

bool slip_help_dims(const struct slip *slip)
{
    char c = *slip->begin;
    bool complete = slip_is_name_byte(slip_last_byte(slip));
    if (!in_shape(slip))
        return false;
    if (c == '"' || (c == '%' && slip->end > slip->begin + 1) || c == '@')
        help_quoted(slip);
    else if (c == '/')
        diag_help(slip->diags, "a dimension has no quotient: give it a name of its own, as 'q', "
                               "and write '2*q' for what is divided");
    else if (c == '-' && complete)
        diag_help(slip->diags, "a dimension has no difference: give it a name of its own, as 'd', "
                               "and write 'd + 1' for what something is taken from");
    else if (c == '^' || (c == '*' && slip_last_byte(slip) == '*'))
        diag_help(slip->diags, "a power is written as a product: 'b*b'");
    else if (slip_found(slip, "..") || strchr("|={[:;", c))
        diag_help(slip->diags, "a dimension is one number or name; 'gears zip (b = [2, 4])' behind "
                               "the parameters lists the values of a name");
    else if (complete && (slip_found_word(slip) || found_number(slip)))
        help_next_dim(slip);
    else
        diag_help(slip->diags, "a dimension is a number, '?', or a sum of products of numbers and "
                               "names: '2*b + 1'");
    return true;
}

/* --------------------------------------------------------------------------------- gears ---- */

/* Where the list of gears is that the token stands in. */
struct gears_place {
    const char *begin;   /* behind the word 'gears'; NULL: it stands in none */
    const char *bracket; /* the open one of values; NULL */
    bool closed;         /* its parenthesis is, before the token */
};

/* The last word 'gears' before the token, in the head of the same graph. */
static const char *find_word(const struct slip *slip)
{
    static const char word[] = "gears";
    const size_t size = sizeof word - 1;
    const char *first = slip->before - slip->text > MOST ? slip->before - MOST : slip->text;
    for (const char *p = slip->before; p > first && !strchr("{}>@", p[-1]); p--)
        if ((size_t)(slip->before - (p - 1)) >= size && memcmp(p - 1, word, size) == 0 &&
            (p - 1 == slip->text || !strchr("%_", p[-2])) &&
            !(p - 1 > slip->text && slip_is_name_byte(p[-2])) &&
            (p - 1 + size == slip->before || !slip_is_name_byte(p[-1 + size])))
            return p - 1 + size;
    return NULL;
}

static struct gears_place find_place(const struct slip *slip)
{
    struct gears_place place = {.begin = find_word(slip)};
    for (const char *p = place.begin; p && p < slip->before; p++) {
        place.bracket = *p == '[' ? p : *p == ']' ? NULL : place.bracket;
        place.closed = place.closed || *p == ')';
    }
    return place;
}

/* "[2, 3, 4]" of what was written as from 2 to 4. */
static void help_range(const struct slip *slip)
{
    enum { MOST_LISTED = 8 };
    struct text text = {NULL, 0, 0};
    const char *behind = slip_skip_blanks(slip, slip->end);
    const char *last =
        *slip->begin == '-' && slip->end > slip->begin + 1 ? slip->begin + 1 : behind;
    const char *before = slip_word_before(slip, slip->before);
    bool numbers = before < slip->before && isdigit((unsigned char)*before) && last < slip->limit &&
                   isdigit((unsigned char)*last);
    long from = numbers ? strtol(before, NULL, 10) : 0, to = numbers ? strtol(last, NULL, 10) : 0;
    bool few = from >= 2 && from < to && to - from < MOST_LISTED;
    for (long value = few ? from : 2; value <= (few ? to : 4); value++)
        text_printf(&text, "%s%ld", text.size ? ", " : "", value);
    diag_help(slip->diags, "a gear lists each of its values: '[%.*s]'", (int)text.size, text.at);
    text_free(&text);
}

static void help_values(const struct slip *slip)
{
    if (slip_found(slip, "]"))
        diag_help(slip->diags, "a gear has 2 to 100 values: '[2, 4]'");
    else if (slip_found(slip, "..") || slip_found(slip, ":") ||
             (*slip->begin == '-' && slip_is_name_byte(slip_last_byte(slip))))
        help_range(slip);
    else if (slip_is_name_byte(slip_last_byte(slip)))
        diag_help(slip->diags, "values are separated by ','");
    else
        diag_help(slip->diags, "values of gears are whole numbers from 2 on");
}

/* The word behind 'gears'. */
static void help_mode(const struct slip *slip)
{
    struct suggest suggest = {.wanted = slip->begin,
                              .wanted_size = (size_t)(slip->end - slip->begin)};
    suggest_offer_text(&suggest, "zip");
    suggest_offer_text(&suggest, "product");
    if (!diag_suggest(slip->diags, &suggest))
        diag_help(slip->diags, "write 'gears zip (...)' to pair values by position, 'gears product "
                               "(...)' for all combinations");
}

static bool help_gear(const struct slip *slip)
{
    const char *name = slip_word_before(slip, slip->before);
    int size = (int)(slip->before - name);
    if (slip_found(slip, "->"))
        diag_help(slip->diags, "the parenthesis of the gears is not closed");
    else if (slip_expects(slip, SLIP_COMMA | SLIP_CLOSE))
        diag_help(slip->diags, "gears are separated by ','");
    else if (slip_expects(slip, SLIP_EQUAL) && size > 0)
        diag_help(slip->diags, "a gear is written '%.*s = [2, 4]'", size, name);
    else if (slip_expects(slip, SLIP_BRACKET) && slip_last_byte(slip) == '=')
        diag_help(slip->diags, "the values of a gear stand in brackets: '[2, 4]'");
    else if (slip->expects)
        diag_help(slip->diags, "a gear is written 'b = [2, 4]'");
    return slip->expects != 0;
}

/* What stands where gears may begin, or behind them. */
static bool help_clause(const struct slip *slip, bool behind_gears)
{
    struct suggest suggest = {.wanted = slip->begin,
                              .wanted_size = (size_t)(slip->end - slip->begin)};
    if (slip_found(slip, "gears"))
        diag_help(slip->diags, "all gears stand in the parentheses of one 'gears', behind ','");
    else if (slip_found(slip, "dims"))
        diag_help(slip->diags,
                  behind_gears ? "'dims' stands before 'gears'"
                               : "all names stand in the parentheses of one 'dims', behind ','");
    else if (slip_found(slip, "zip") || slip_found(slip, "product"))
        diag_help(slip->diags, "write 'gears %.*s (...)'", (int)suggest.wanted_size,
                  suggest.wanted);
    else {
        suggest_offer_text(&suggest, behind_gears ? "->" : "gears");
        suggest_offer_text(&suggest, behind_gears ? "->" : "dims");
        return diag_suggest(slip->diags, &suggest);
    }
    return true;
}

bool slip_help_gears(const struct slip *slip)
{
    const struct gears_place place = find_place(slip);
    if (slip_expects(slip, SLIP_ARROW))
        return slip_found_word(slip) && help_clause(slip, place.begin && place.closed);
    if (!place.begin || place.closed || slip->in_body)
        return false;
    if (place.bracket) {
        help_values(slip);
        return true;
    }
    if (place.begin == slip->before) {
        help_mode(slip);
        return true;
    }
    if (slip_behind(slip, "zip") || slip_behind(slip, "product")) {
        const char *mode = slip_word_before(slip, slip->before);
        diag_help(slip->diags, "write 'gears %.*s (b = [2, 4])'", (int)(slip->before - mode), mode);
        return true;
    }
    return help_gear(slip);
}
