#include "frontend/commands/padding_folds.h"

#include <string.h>

/* The first of the dimensions that a dimension of the value is. */
static uint32_t first_of(const struct fold *fold, uint32_t dim)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < dim; i++)
        first += fold->counts[i];
    return first;
}

bool fold_has(const struct fold *fold, uint32_t dim)
{
    uint32_t first = first_of(fold, dim);
    bool outer = false; /* one of more than 1 stands before */
    for (uint32_t i = first; i < first + fold->counts[dim]; i++) {
        if (outer && padded_dim(&fold->whole, i))
            return true;
        outer = outer || fold->whole.padded[i] != 1;
    }
    return false;
}

static bool has_any(const struct fold *fold, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++)
        if (fold_has(fold, i))
            return true;
    return false;
}

static bool is_one(const struct padded_shape *shape, uint32_t dim)
{
    return shape->exact[dim] == 1 && shape->padded[dim] == 1;
}

/* How many dimensions from `first` on make one of these sizes; NONE: no number of them does. */
static uint32_t count_for(const struct padded_shape *whole, uint32_t first, int64_t exact,
                          int64_t padded)
{
    int64_t e = 1, p = 1;
    uint32_t count = 0;
    while (e != exact || p != padded) {
        if (first + count == whole->rank || whole->padded[first + count] < 0 ||
            __builtin_mul_overflow(e, whole->exact[first + count], &e) ||
            __builtin_mul_overflow(p, whole->padded[first + count], &p) || p > padded)
            return NONE;
        count++;
    }
    return count;
}

bool fold_view(const struct padded_shape *shape, const struct fold *from,
               const struct padded_shape *to, struct fold *fold, bool *folded)
{
    uint32_t at = 0;
    *fold =
        (struct fold){.whole = from ? from->whole : *shape, .origin = from ? from->origin : NONE};
    for (uint32_t i = 0; i < to->rank; i++) {
        uint32_t count = count_for(&fold->whole, at, to->exact[i], to->padded[i]);
        if (count == NONE || to->padded[i] < 0)
            return false;
        fold->counts[i] = count;
        at += count;
    }
    for (; at < fold->whole.rank && to->rank; at++) {
        if (!is_one(&fold->whole, at))
            return false;
        fold->counts[to->rank - 1]++;
    }
    *folded = has_any(fold, to->rank);
    return at == fold->whole.rank;
}

/* Puts one dimension behind those that are there; false where there is no room. */
static bool add_dim(struct padded_shape *whole, int64_t exact, int64_t padded)
{
    if (whole->rank == MAX_RANK)
        return false;
    whole->exact[whole->rank] = exact;
    whole->padded[whole->rank++] = padded;
    return true;
}

bool fold_pass(const struct fold *from, uint32_t rank, const struct padded_shape *result,
               struct fold *fold)
{
    *fold = (struct fold){.whole = {.rank = 0}, .origin = from->origin};
    if (result->rank == RANK_UNKNOWN)
        return false;
    uint32_t shift = result->rank > rank ? result->rank - rank : 0;
    for (uint32_t i = result->rank; i < rank; i++)
        if (fold_has(from, i))
            return false;
    for (uint32_t i = 0; i < result->rank; i++) {
        bool several = i >= shift && fold_has(from, i - shift);
        uint32_t first = several ? first_of(from, i - shift) : 0;
        fold->counts[i] = several ? from->counts[i - shift] : 1;
        int64_t exact = 1, padded = 1;
        for (uint32_t n = first; several && n < first + fold->counts[i]; n++) {
            exact *= from->whole.exact[n];
            padded *= from->whole.padded[n];
            if (!add_dim(&fold->whole, from->whole.exact[n], from->whole.padded[n]))
                return false;
        }
        if (several ? exact != result->exact[i] || padded != result->padded[i]
                    : !add_dim(&fold->whole, result->exact[i], result->padded[i]))
            return false;
    }
    return true;
}

bool fold_agrees(const struct fold *a, uint32_t a_dim, const struct fold *b, uint32_t b_dim)
{
    uint32_t at = first_of(a, a_dim), bt = first_of(b, b_dim);
    if (a->counts[a_dim] != b->counts[b_dim])
        return false;
    for (uint32_t i = 0; i < a->counts[a_dim]; i++)
        if (a->whole.exact[at + i] != b->whole.exact[bt + i] ||
            a->whole.padded[at + i] != b->whole.padded[bt + i])
            return false;
    return true;
}
