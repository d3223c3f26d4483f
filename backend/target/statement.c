#include "backend/target/statement.h"

#include <ctype.h>

/* Appends the n-th of `{a|b|c}`; returns what follows it, or NULL where there are fewer. */
static const char *choose(struct text *text, const char *choices, uint32_t n)
{
    const char *from = choices + 1, *end = from + strcspn(from, "}");
    for (; n > 0; n--) {
        from += strcspn(from, "|}");
        if (from == end)
            return NULL;
        from++;
    }
    text_bytes(text, from, strcspn(from, "|}"));
    return *end ? end + 1 : NULL;
}

/* What follows '$': returns what follows it, or NULL where it is wrong. */
static const char *expand_one(struct text *text, const char *at, const struct instr *instr,
                              statement_piece *piece, void *user)
{
    bool number = *at == '0' || *at == '1';
    uint32_t value = number ? instr->number[*at - '0'] : instr->word;
    if ((number || isupper((unsigned char)*at)) && at[1] == '{')
        return choose(text, at + 1, value);
    if (number) {
        text_unsigned(text, value);
        return at + 1;
    }
    size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    return size > 0 && piece(user, at, size) ? at + size : NULL;
}

bool statement_expand(struct text *text, const char *template, const struct instr *instr,
                      statement_piece *piece, void *user)
{
    while (template && *template) {
        size_t plain = strcspn(template, "$");
        text_bytes(text, template, plain);
        template += plain;
        if (*template == '$')
            template = expand_one(text, template + 1, instr, piece, user);
    }
    return template != NULL;
}
