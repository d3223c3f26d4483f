/* A template becomes one POSIX extended regular expression: literal text is escaped, the value of a
 * known name too, and each other piece is a group. A name that occurs again in its line is a back
 * reference to its group, which regcomp() has for nine groups. The whole is compiled again only
 * when the value of a name has changed. */
#define _GNU_SOURCE /* memmem */
#include "frontend/filetest/template.h"
#include "ir/support/ids.h"
#include "ir/support/text.h"

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

/* The last piece before this one that has its name and is no back reference itself, or NULL. */
static const struct template_piece *find_same(const struct template_piece *pieces,
                                              const struct template_piece *piece)
{
    for (const struct template_piece *p = piece; piece->name && !piece->regex && p-- > pieces;)
        if (p->name && strcmp(p->name, piece->name) == 0 && p->group)
            return p;
    return NULL;
}

static bool check_regex(struct template_piece *piece, struct arena *arena, char *error,
                        size_t error_size)
{
    regex_t compiled;
    char what[128] = "Unmatched ) or \\)";
    /* regcomp() takes a parenthesis that closes nothing for text, but in the regular expression of
     * the whole line it would close a group. */
    bool wrong = regcomp(&compiled, arena_printf(arena, "(%s", piece->regex), REG_EXTENDED) == 0;
    if (wrong)
        regfree(&compiled);
    int failure = wrong ? 0 : regcomp(&compiled, piece->regex, REG_EXTENDED);
    if (failure)
        regerror(failure, &compiled, what, sizeof what);
    if (wrong || failure)
        return message_fail(error, error_size, "'{{%.80s}}' is not a regular expression: %s",
                            piece->regex, what);
    piece->groups = (uint32_t)compiled.re_nsub;
    regfree(&compiled);
    return true;
}

/* `NAME`, `NAME:REGEX` or `REGEX`. */
static bool parse_piece(struct template_piece *piece, struct arena *arena, const char *text,
                        size_t size, char *error, size_t error_size)
{
    /* How many bytes of the text are a name. */
    size_t name = 0;
    for (; name < size; name++) {
        char c = text[name];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (name == 0 || c < '0' || c > '9'))
            break;
    }
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
    return check_regex(piece, arena, error, error_size);
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
    for (uint32_t i = 0, groups = 0; good && i < pieces.count; i++) {
        const struct template_piece *same = find_same(pieces.at, &pieces.at[i]);
        if (same && same->group > 9)
            good = message_fail(error, error_size,
                                "'{{%s}}' occurs again in its line, but more than eight groups "
                                "precede it; give the second one another name",
                                same->name);
        if (same || pieces.at[i].text)
            continue;
        pieces.at[i].group = ++groups;
        groups += pieces.at[i].groups;
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

static void append_literal(struct text *source, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (strchr(".[\\()*+?{|^$", text[i]) && text[i])
            text_char(source, '\\');
        text_char(source, text[i]);
    }
}

/* Appends the regular expression of the whole to `source`, and numbers the groups of its pieces.
 * Returns how many groups it has, the one for all of it included. */
static uint32_t make_source(const struct template *template, bool whole,
                            const struct captures *captures, struct text *source)
{
    uint32_t groups = 1;
    if (whole)
        text_char(source, '^');
    for (uint32_t i = 0; i < template->count; i++) {
        struct template_piece *piece = &template->pieces[i];
        piece->group = 0;
        const struct template_piece *same = find_same(template->pieces, piece);
        const struct capture *known =
            piece->name && !piece->regex && !same ? captures_find(captures, piece->name) : NULL;
        if (same) {
            text_printf(source, "\\%u", same->group);
        } else if (piece->text || known) {
            append_literal(source, known ? known->value : piece->text,
                           known ? known->size : piece->size);
        } else {
            text_printf(source, "(%s)", piece->regex ? piece->regex : word);
            piece->group = groups;
            groups += 1 + piece->groups;
        }
    }
    if (whole)
        text_char(source, '$');
    text_char(source, '\0');
    return groups;
}

bool template_matches(struct template *template, const char *line, size_t size, bool whole,
                      struct captures *captures)
{
    if (template->regexes == 0) { /* one piece, or none where the text is empty */
        const char *text = template->count ? template->pieces->text : "";
        size_t text_size = template->count ? template->pieces->size : 0;
        return whole ? size == text_size && memcmp(line, text, size) == 0
                     : memmem(line, size, text, text_size) != NULL;
    }
    struct text source = {NULL, 0, 0}, terminated = {NULL, 0, 0};
    uint32_t n_groups = make_source(template, whole, captures, &source);
    regmatch_t *groups = mem_calloc(n_groups, sizeof *groups);
    text_printf(&terminated, "%.*s", (int)size, line);
    if (template->source.size != source.size ||
        memcmp(template->source.at, source.at, source.size) != 0) {
        template_free(template);
        if (regcomp(&template->compiled, source.at, REG_EXTENDED) != 0)
            mem_exhausted(); /* its pieces have been checked */
        text_append(&template->source, &source);
    }
    bool matches = regexec(&template->compiled, terminated.at, n_groups, groups, 0) == 0;
    for (uint32_t i = 0; matches && i < template->count; i++) {
        const struct template_piece *piece = &template->pieces[i];
        const regmatch_t *group = &groups[piece->group];
        if (piece->name && piece->group)
            vec_push(captures, (struct capture){piece->name, line + group->rm_so,
                                                (size_t)(group->rm_eo - group->rm_so)});
    }
    text_free(&terminated);
    text_free(&source);
    mem_free(groups);
    return matches;
}
