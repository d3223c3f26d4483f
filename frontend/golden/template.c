#define _GNU_SOURCE /* memmem */
#include "frontend/golden/template.h"
#include "ir/base/message.h"

#include <string.h>

enum {
    MAX_PATTERNS = 64, /* in a line */
    /* Values of names tried in a line that has such a name twice. */
    MAX_TRIES = 1000
};

/* What a name stands for that is given no pattern. */
static const char word[] = "[A-Za-z0-9_.]+";

const struct capture *captures_find(const struct captures *captures, const char *name)
{
    for (uint32_t i = captures->count; i-- > 0;)
        if (strcmp(captures->at[i].name, name) == 0)
            return &captures->at[i];
    return NULL;
}

/* ------------------------------------------------------------------------------ reading ---- */

/* How many bytes of the text are a name. */
static size_t name_size(const char *text, size_t size)
{
    size_t n = 0;
    for (; n < size; n++) {
        char c = text[n];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (n == 0 || c < '0' || c > '9'))
            break;
    }
    return n;
}

/* The braces that end a pattern; NULL where there are none. */
static const char *find_end(const char *at, const char *end)
{
    for (; end - at >= 2; at++) {
        if (at[0] == '}' && at[1] == '}')
            return at;
        if (at[0] == '\\')
            at++;
    }
    return NULL;
}

/* `NAME`, `NAME:PATTERN` or `PATTERN`. */
static bool parse_piece(struct template_piece *piece, struct arena *arena, const char *text,
                        size_t size, char *error, size_t error_size)
{
    size_t name = name_size(text, size);
    const char *pattern = text;
    char what[160];
    *piece = (struct template_piece){.text = NULL};
    if (name && (name == size || text[name] == ':')) {
        piece->name = arena_strndup(arena, text, name);
        pattern = text + name + 1;
        if (name == size)
            return true;
    }
    size_t pattern_size = (size_t)(text + size - pattern);
    if (pattern_size == 0)
        return message_fail(error, error_size, "a pattern is empty; '{{.*}}' is any text");
    piece->pattern = pattern_parse(arena, pattern, pattern_size, what, sizeof what);
    if (piece->pattern)
        return true;
    return message_fail(error, error_size, "'{{%.*s}}' is no pattern: %s",
                        size < 80 ? (int)size : 80, text, what);
}

bool template_parse(struct template *template, struct arena *arena, const char *text, size_t size,
                    char *error, size_t error_size)
{
    VEC(struct template_piece) pieces = {NULL, 0, 0};
    const char *end = text + size;
    bool good = true;
    *template = (struct template){.pieces = NULL};
    while (good && text < end) {
        const char *brace = memmem(text, (size_t)(end - text), "{{", 2),
                   *stop = brace ? brace : end;
        if (stop > text)
            vec_push(&pieces, (struct template_piece){.text = text, .size = (size_t)(stop - text)});
        text = stop;
        if (!brace)
            break;
        struct template_piece piece;
        stop = find_end(brace + 2, end);
        if (!stop)
            good =
                message_fail(error, error_size, "a '{{' is not closed; '{{\\{\\{}}' is the text");
        else if (++template->patterns > MAX_PATTERNS)
            good =
                message_fail(error, error_size, "a line has more than %d patterns", MAX_PATTERNS);
        else
            good = parse_piece(&piece, arena, brace + 2, (size_t)(stop - brace - 2), error,
                               error_size);
        if (good)
            vec_push(&pieces, piece);
        text = stop ? stop + 2 : end;
    }
    template->count = pieces.count;
    template->pieces = arena_alloc(arena, pieces.count * sizeof *pieces.at + 1);
    if (pieces.count)
        memcpy(template->pieces, pieces.at, pieces.count * sizeof *pieces.at);
    vec_free(&pieces);
    return good;
}

/* ----------------------------------------------------------------------------- matching ---- */

/* A piece in a line: what is known of it. */
struct place {
    const char *text; /* as of pieces */
    size_t size;
    const struct pattern *pattern;
    uint32_t same; /* the piece of this line that its name is first in, or UINT32_MAX */
    bool again;    /* a later one has the same name */
    size_t begin, end;
};

struct match {
    const struct template *template;
    const char *line;
    size_t size;
    struct place *places;
    uint8_t *fits; /* by place and position: the places from there on match from there on */
    uint32_t tries;
};

static uint8_t *fits(const struct match *match, uint32_t place)
{
    return match->fits + place * (match->size + 1);
}

/* Names that are known are texts; the first of those that are not, in this line, has a pattern. */
static void resolve(struct match *match, const struct captures *captures, struct arena *arena)
{
    const struct template *template = match->template;
    char error[64];
    for (uint32_t i = 0; i < template->count; i++) {
        const struct template_piece *piece = &template->pieces[i];
        struct place *place = &match->places[i];
        *place = (struct place){piece->text, piece->size, piece->pattern, UINT32_MAX, false, 0, 0};
        for (uint32_t j = 0; piece->name && !piece->pattern && j < i; j++)
            if (template->pieces[j].name && strcmp(template->pieces[j].name, piece->name) == 0)
                place->same = j;
        const struct capture *known = NULL;
        if (place->same != UINT32_MAX) {
            uint32_t first = match->places[place->same].same;
            place->same = first != UINT32_MAX ? first : place->same;
            place->pattern = match->places[place->same].pattern;
            match->places[place->same].again = place->pattern != NULL;
            if (!place->pattern)
                known = captures_find(captures, piece->name);
        } else if (piece->name && !piece->pattern) {
            known = captures_find(captures, piece->name);
        }
        if (known) {
            place->text = known->value;
            place->size = known->size;
        } else if (!place->text && !place->pattern) {
            place->pattern = pattern_parse(arena, word, sizeof word - 1, error, sizeof error);
        }
    }
}

static bool has_text(const struct match *match, const struct place *place, size_t at)
{
    return match->size - at >= place->size &&
           memcmp(match->line + at, place->text, place->size) == 0;
}

/* From the last place to `first`. A name that has to be the same as another counts as any text that
 * this might be. */
static void fill_fits(struct match *match, uint32_t first)
{
    for (uint32_t i = match->template->count; i-- > first;) {
        const struct place *place = &match->places[i];
        const uint8_t *behind = fits(match, i + 1);
        uint8_t *here = fits(match, i);
        if (!place->text) {
            pattern_begins(place->pattern, match->line, match->size, behind, here);
            continue;
        }
        for (size_t p = 0; p <= match->size; p++)
            here[p] = has_text(match, place, p) && behind[p + place->size];
    }
}

static bool match_from(struct match *match, uint32_t i, size_t at);

/* Names that stand in the line again: each value is tried, the longest first. */
static bool match_repeated(struct match *match, uint32_t i, size_t at)
{
    struct place *place = &match->places[i];
    size_t limit = SIZE_MAX;
    for (;;) {
        size_t end =
            pattern_end(place->pattern, match->line, match->size, at, fits(match, i + 1), limit);
        if (end == SIZE_MAX || match->tries++ >= MAX_TRIES)
            return false;
        place->begin = at;
        limit = place->end = end;
        for (uint32_t j = i + 1; j < match->template->count; j++)
            if (match->places[j].same == i) {
                match->places[j].text = match->line + at;
                match->places[j].size = end - at;
            }
        fill_fits(match, i + 1);
        if (fits(match, i + 1)[end] && match_from(match, i + 1, end))
            return true;
        for (uint32_t j = i + 1; j < match->template->count; j++)
            if (match->places[j].same == i)
                match->places[j].text = NULL;
        fill_fits(match, i + 1);
    }
}

/* The places from `i` on are known to fit there. */
static bool match_from(struct match *match, uint32_t i, size_t at)
{
    for (; i < match->template->count; i++) {
        struct place *place = &match->places[i];
        if (place->again)
            return match_repeated(match, i, at);
        place->begin = at;
        at = place->text ? at + place->size
                         : pattern_end(place->pattern, match->line, match->size, at,
                                       fits(match, i + 1), SIZE_MAX);
        place->end = at;
    }
    return true;
}

static bool match_line(struct match *match, bool whole)
{
    memset(fits(match, match->template->count), !whole, match->size + 1);
    fits(match, match->template->count)[match->size] = 1;
    fill_fits(match, 0);
    for (size_t p = 0; p <= (whole ? 0 : match->size); p++)
        if (fits(match, 0)[p] && match_from(match, 0, p))
            return true;
    return false;
}

/* Lines without patterns, and those whose first or last text stands elsewhere. */
static bool is_hopeless(const struct template *template, const char *line, size_t size, bool whole)
{
    for (uint32_t i = 0; i < template->count; i++) {
        const struct template_piece *piece = &template->pieces[i];
        if (!piece->text)
            continue;
        if (piece->size > size)
            return true;
        if (!whole) {
            if (!memmem(line, size, piece->text, piece->size))
                return true;
            continue;
        }
        if (i == 0 && memcmp(line, piece->text, piece->size) != 0)
            return true;
        if (i + 1 == template->count &&
            memcmp(line + size - piece->size, piece->text, piece->size) != 0)
            return true;
    }
    return false;
}

bool template_matches(const struct template *template, const char *line, size_t size, bool whole,
                      struct captures *captures, struct arena *arena)
{
    if (is_hopeless(template, line, size, whole))
        return false;
    if (template->patterns == 0)
        return !whole || size == (template->count ? template->pieces[0].size : 0);
    struct match match = {.template = template, .line = line, .size = size};
    match.places = arena_alloc(arena, template->count * sizeof *match.places);
    match.fits = arena_alloc(arena, (template->count + 1) * (size + 1));
    resolve(&match, captures, arena);
    bool matches = match_line(&match, whole);
    for (uint32_t i = 0; matches && i < template->count; i++) {
        const struct place *place = &match.places[i];
        if (template->pieces[i].name && !place->text)
            vec_push(captures, (struct capture){template->pieces[i].name, line + place->begin,
                                                place->end - place->begin});
    }
    arena_clear(arena);
    return matches;
}
