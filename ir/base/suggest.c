#include "ir/base/suggest.h"

#include <ctype.h>
#include <stdio.h>

enum { MAX_NAME = 64 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

/* Edits (insert, remove, replace, swap neighbours), where a change of case alone costs nothing. */
static unsigned edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    unsigned rows[3][MAX_NAME + 1];
    unsigned *older = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        int ai = tolower((unsigned char)a[i - 1]);
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            int bj = tolower((unsigned char)b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (ai != bj));
            if (i > 1 && j > 1 && ai == tolower((unsigned char)b[j - 2]) &&
                bj == tolower((unsigned char)a[i - 2]) && older[j - 2] + 1 < row[j])
                row[j] = older[j - 2] + 1;
        }
        unsigned *free_row = older;
        older = above;
        above = row;
        row = free_row;
    }
    return above[m];
}

void suggest_offer(struct suggest *suggest, const char *name, size_t size)
{
    size_t wanted = suggest->wanted_size;
    size_t longer = wanted > size ? wanted : size, shorter = wanted > size ? size : wanted;
    /* A third of the name may differ, and one letter of a very short one. */
    unsigned limit = suggest->best ? suggest->distance - 1 : (unsigned)(longer + 2) / 3;
    if (longer > MAX_NAME || shorter == 0 || longer - shorter > limit ||
        (suggest->best && suggest->distance == 0))
        return;
    unsigned distance = edit_distance(suggest->wanted, wanted, name, size);
    if (distance > limit || distance >= longer)
        return;
    suggest->best = name;
    suggest->best_size = size;
    suggest->distance = distance;
}

static struct suggest_text phrase(const struct suggest *suggest, const char *lead)
{
    struct suggest_text phrase = {""};
    const char *before = suggest->before ? suggest->before : "";
    const char *behind = suggest->behind ? suggest->behind : "";
    if (suggest->best)
        snprintf(phrase.text, sizeof phrase.text, "%sdid you mean '%s%.*s%s'?", lead, before,
                 (int)suggest->best_size, suggest->best, behind);
    return phrase;
}

struct suggest_text suggest_text(const struct suggest *suggest)
{
    return phrase(suggest, "");
}

struct suggest_text suggest_end(const struct suggest *suggest)
{
    return phrase(suggest, "; ");
}
