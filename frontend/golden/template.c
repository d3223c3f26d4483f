/* A template becomes one POSIX extended regular expression: literal text is escaped, the value of a
 * known name too, and each other piece is a group. It is compiled again only when the value of a
 * name has changed. POSIX has no back references in extended regular expressions, so that the
 * second occurrence of a name in a line is a group of its own, whose text is compared with the
 * first one's. */
#define _GNU_SOURCE /* memmem */
#include "frontend/golden/template.h"
#include "ir/base/ids.h"
#include "ir/base/message.h"

/* What a name matches that has no regular expression. */
static const char word[] = "[A-Za-z0-9_.]+";

const struct capture *captures_find(const struct captures *captures, const char *name)
{
    for (uint32_t i = captures->count; i-- > 0;)
        if (strcmp(captures->at[i].name, name) == 0)
            return &captures->at[i];
    return NULL;
}

/* ------------------------------------------------------------------------------ parsing ---- */

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

/* The braces that end a regular expression; NULL if there are none. */
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

/* A parenthesis that closes nothing: regcomp() may take it for text, but in the regular expression
 * of the whole line it would close a group. */
static bool closes_nothing(const char *regex)
{
    uint32_t depth = 0;
    for (const char *p = regex; *p; p++) {
        if (*p == '\\' && p[1]) {
            p++;
        } else if (*p == '[') {
            p += p[1] == '^' ? 2 : 1;
            p += *p == ']';
            while (*p && *p != ']')
                p++;
            if (!*p)
                break;
        } else if (*p == '(') {
            depth++;
        } else if (*p == ')' && depth-- == 0) {
            return true;
        }
    }
    return false;
}

static bool check_regex(struct template_piece *piece, char *error, size_t error_size)
{
    regex_t compiled;
    char what[128];
    if (closes_nothing(piece->regex))
        return message_fail(error, error_size,
                            "'{{%.80s}}' is not a regular expression: "
                            "Unmatched ) or \\)",
                            piece->regex);
    int failure = regcomp(&compiled, piece->regex, REG_EXTENDED);
    if (failure) {
        regerror(failure, &compiled, what, sizeof what);
        return message_fail(error, error_size, "'{{%.80s}}' is not a regular expression: %s",
                            piece->regex, what);
    }
    piece->groups = (uint32_t)compiled.re_nsub;
    regfree(&compiled);
    return true;
}

/* `NAME`, `NAME:REGEX` or `REGEX`. */
static bool parse_piece(struct template_piece *piece, struct arena *arena, const char *text,
                        size_t size, char *error, size_t error_size)
{
    size_t name = name_size(text, size);
    *piece = (struct template_piece){.text = NULL};
    if (name && (name == size || text[name] == ':')) {
        piece->name = arena_strndup(arena, text, name);
        if (name == size)
            return true;
        text += name + 1;
        size -= name + 1;
    }
    if (size == 0)
        return message_fail(error, error_size,
                            "a regular expression is empty; '{{.*}}' matches any text");
    piece->regex = arena_strndup(arena, text, size);
    return check_regex(piece, error, error_size);
}

bool template_parse(struct template *template, struct arena *arena, const char *text, size_t size,
                    char *error, size_t error_size)
{
    VEC(struct template_piece) pieces = {NULL, 0, 0};
    const char *end = text + size;
    bool good = true;
    *template = (struct template){.pieces = NULL};
    while (good && text < end) {
        const char *brace = memmem(text, (size_t)(end - text), "{{", 2);
        const char *stop = brace ? brace : end;
        if (stop > text)
            vec_push(&pieces, (struct template_piece){.text = text, .size = (size_t)(stop - text)});
        if (!brace)
            break;
        struct template_piece piece;
        stop = find_end(brace + 2, end);
        if (!stop)
            good = message_fail(error, error_size,
                                "a '{{' is not closed; '{{\\{\\{}}' matches two braces");
        else
            good = parse_piece(&piece, arena, brace + 2, (size_t)(stop - brace - 2), error,
                               error_size);
        if (good) {
            vec_push(&pieces, piece);
            template->regexes++;
            text = stop + 2;
        }
    }
    template->count = pieces.count;
    template->pieces = arena_alloc(arena, pieces.count * sizeof *pieces.at + 1);
    if (pieces.count)
        memcpy(template->pieces, pieces.at, pieces.count * sizeof *pieces.at);
    vec_free(&pieces);
    return good;
}

void template_free(struct template *template)
{
    if (template->source.size)
        regfree(&template->compiled);
    text_free(&template->source);
}

/* ----------------------------------------------------------------------------- matching ---- */

/* A piece within one match. */
struct place {
    uint32_t group; /* 0: its text is literal */
    uint32_t same;  /* the piece before it that must match the same text, or NONE */
};

static void append_literal(struct text *source, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (strchr(".[\\()*+?{|^$", text[i]) && text[i])
            text_char(source, '\\');
        text_char(source, text[i]);
    }
}

/* The piece of the same line that has the name of this one and comes last before it. */
static uint32_t find_same(const struct template *template, uint32_t piece)
{
    const struct template_piece *pieces = template->pieces;
    for (uint32_t j = piece; pieces[piece].name && !pieces[piece].regex && j-- > 0;)
        if (pieces[j].name && strcmp(pieces[j].name, pieces[piece].name) == 0)
            return j;
    return NONE;
}

/* Appends the regular expression of the whole to `source`. Returns the number of its groups, the
 * one for all of it included. */
static uint32_t make_source(const struct template *template, bool whole,
                            const struct captures *captures, struct place *places,
                            struct text *source)
{
    uint32_t groups = 1;
    if (whole)
        text_char(source, '^');
    for (uint32_t i = 0; i < template->count; i++) {
        const struct template_piece *piece = &template->pieces[i], *regex = piece;
        places[i] = (struct place){.same = find_same(template, i)};
        for (uint32_t j = places[i].same; j != NONE; j = places[j].same)
            regex = &template->pieces[j];
        const struct capture *known =
            regex->name && !regex->regex ? captures_find(captures, regex->name) : NULL;
        if (piece->text || known) {
            append_literal(source, known ? known->value : piece->text,
                           known ? known->size : piece->size);
            continue;
        }
        text_char(source, '(');
        text_string(source, regex->regex ? regex->regex : word);
        text_char(source, ')');
        places[i].group = groups;
        groups += 1 + regex->groups;
    }
    if (whole)
        text_char(source, '$');
    text_char(source, '\0');
    return groups;
}

/* Makes `source` the template's. */
static bool compile(struct template *template, const struct text *source)
{
    if (template->source.size == source->size &&
        memcmp(template->source.at, source->at, source->size) == 0)
        return true;
    template_free(template);
    if (regcomp(&template->compiled, source->at, REG_EXTENDED) != 0)
        return false; /* its pieces have been checked: there is no memory for it */
    text_append(&template->source, source);
    return true;
}

/* Whether pieces of the same name have matched the same text. */
static bool are_same(const struct template *template, const struct place *places,
                     const regmatch_t *groups, const char *line)
{
    for (uint32_t i = 0; i < template->count; i++) {
        if (places[i].same == NONE || !places[i].group)
            continue;
        const regmatch_t *a = &groups[places[places[i].same].group], *b = &groups[places[i].group];
        if (a->rm_eo - a->rm_so != b->rm_eo - b->rm_so ||
            memcmp(line + a->rm_so, line + b->rm_so, (size_t)(a->rm_eo - a->rm_so)) != 0)
            return false;
    }
    return true;
}

/* Tries the first match at each place, since pieces of one name may differ at the first. The line
 * ends with a null byte. */
static bool match_line(const struct template *template, const struct place *places,
                       regmatch_t *groups, uint32_t n_groups, const char *line, size_t size)
{
    for (size_t start = 0; start <= size; start = (size_t)groups[0].rm_so + 1) {
        if (regexec(&template->compiled, line + start, n_groups, groups, start ? REG_NOTBOL : 0) !=
            0)
            return false;
        for (uint32_t i = 0; i < n_groups; i++) {
            groups[i].rm_so += groups[i].rm_so < 0 ? 0 : (regoff_t)start;
            groups[i].rm_eo += groups[i].rm_eo < 0 ? 0 : (regoff_t)start;
        }
        if (are_same(template, places, groups, line))
            return true;
    }
    return false;
}

static bool is_literal_match(const struct template *template, const char *line, size_t size,
                             bool whole)
{
    const struct template_piece *piece = template->pieces;
    if (template->count == 0)
        return !whole || size == 0;
    return whole ? size == piece->size && memcmp(line, piece->text, size) == 0
                 : memmem(line, size, piece->text, piece->size) != NULL;
}

bool template_matches(struct template *template, const char *line, size_t size, bool whole,
                      struct captures *captures)
{
    if (template->regexes == 0)
        return is_literal_match(template, line, size, whole);
    struct text source = {NULL, 0, 0};
    struct place *places = mem_calloc(template->count, sizeof *places);
    uint32_t n_groups = make_source(template, whole, captures, places, &source);
    regmatch_t *groups = mem_calloc(n_groups, sizeof *groups);
    struct text terminated = {NULL, 0, 0};
    text_printf(&terminated, "%.*s", (int)size, line);
    bool matches = compile(template, &source) &&
                   match_line(template, places, groups, n_groups, terminated.at, terminated.size);
    for (uint32_t i = 0; matches && i < template->count; i++) {
        const regmatch_t *group = &groups[places[i].group];
        if (template->pieces[i].name && places[i].group && places[i].same == NONE)
            vec_push(captures, (struct capture){template->pieces[i].name, line + group->rm_so,
                                                (size_t)(group->rm_eo - group->rm_so)});
    }
    text_free(&terminated);
    text_free(&source);
    mem_free(places);
    mem_free(groups);
    return matches;
}
