#include "frontend/cli/diff.h"
#include "ir/base/intern.h"

#include <stdbool.h>
#include <string.h>

enum {
    CONTEXT = 3,
    /* Edits that a search for the middle of the shortest script may try before it settles for the
     * furthest point it has reached. */
    MAX_COST = 256
};

/* One text as lines. Equal lines of both texts have equal ids. */
struct side {
    const char *text;
    size_t size;
    VEC(size_t) starts; /* offset of each line, and the text's size */
    struct vec_u32 ids;
    uint8_t *changed;    /* by line: it is deleted (old text) or inserted (new text) */
    struct vec_u32 kept; /* lines that stand in the other text, too: only these are compared */
};

/* The sequences that are compared: ids of the kept lines of both sides. */
struct compare {
    struct side *a, *b;
    /* Furthest positions in `a` by diagonal, forwards and backwards. */
    int64_t *forward, *backward;
    int64_t origin; /* index of diagonal 0 */
};

/* ---------------------------------------------------------------------------- lines ---- */

static void side_split(struct side *side, struct intern *lines)
{
    for (size_t at = 0; at < side->size;) {
        const char *start = side->text + at;
        const char *end = memchr(start, '\n', side->size - at);
        size_t size = end ? (size_t)(end - start) + 1 : side->size - at;
        vec_push(&side->starts, at);
        vec_push(&side->ids, intern_static(lines, start, size));
        at += size;
    }
    vec_push(&side->starts, side->size);
    side->changed = mem_calloc(side->ids.count, 1);
}

/* Lines that the other text does not have are changes in any script. */
static void side_keep_common(struct side *side, const struct side *other, uint32_t n_lines)
{
    uint8_t *seen = mem_calloc(n_lines, 1);
    for (uint32_t i = 0; i < other->ids.count; i++)
        seen[other->ids.at[i]] = 1;
    for (uint32_t i = 0; i < side->ids.count; i++) {
        if (seen[side->ids.at[i]])
            vec_push(&side->kept, i);
        else
            side->changed[i] = 1;
    }
    mem_free(seen);
}

static void side_free(struct side *side)
{
    vec_free(&side->starts);
    vec_free(&side->ids);
    vec_free(&side->kept);
    mem_free(side->changed);
}

/* ----------------------------------------------------------------------- comparison ---- */

/* A rectangle of the edit graph: positions [a, a_end) of `a` against [b, b_end) of `b`. */
struct box {
    int64_t a, a_end, b, b_end;
};

static bool same(const struct compare *c, int64_t a, int64_t b)
{
    return c->a->ids.at[c->a->kept.at[a]] == c->b->ids.at[c->b->kept.at[b]];
}

/* A point through which the script goes. */
struct point {
    int64_t a, b;
};

/* The furthest position on diagonal `k` with one edit more than its neighbours took: a step down
 * from the one, or a step right from the other. -1 where both leave the box of n by m lines. */
static int64_t step(const int64_t *reach, int64_t k, int64_t n, int64_t m)
{
    int64_t down = reach[k + 1], right = reach[k - 1] + 1;
    if (down - k > m)
        down = -1;
    if (right == 0 || right > n)
        right = -1;
    return down > right ? down : right;
}

/* All paths of `cost` edits from one corner of the box: the first, or the last if `backward`, where
 * positions count from the other end. Diagonals are a - b from that corner. Returns whether a path
 * met one from the opposite corner. */
static bool extend(const struct compare *c, const struct box *box, int64_t cost, bool backward,
                   struct point *meeting)
{
    int64_t n = box->a_end - box->a, m = box->b_end - box->b, delta = n - m;
    int64_t *reach = (backward ? c->backward : c->forward) + c->origin;
    const int64_t *other = (backward ? c->forward : c->backward) + c->origin;
    int64_t other_cost = backward ? cost : cost - 1; /* the front moves first */
    reach[-cost - 1] = reach[cost + 1] = -1;
    for (int64_t k = -cost; k <= cost; k += 2) {
        int64_t x = cost ? step(reach, k, n, m) : 0, y = x - k;
        while (x >= 0 && x < n && y < m &&
               (backward ? same(c, box->a_end - 1 - x, box->b_end - 1 - y)
                         : same(c, box->a + x, box->b + y)))
            x++, y++;
        reach[k] = x;
        int64_t mirrored = delta - k;
        if (x < 0 || (mirrored + other_cost) % 2 != 0 || mirrored < -other_cost ||
            mirrored > other_cost || other[mirrored] < 0 || x + other[mirrored] < n)
            continue;
        *meeting = backward ? (struct point){box->a_end - x, box->b_end - y}
                            : (struct point){box->a + x, box->b + y};
        return true;
    }
    return false;
}

/* The point inside the box that the paths of `cost` edits from the front have got furthest to. */
static struct point furthest(const struct compare *c, const struct box *box, int64_t cost)
{
    int64_t n = box->a_end - box->a, m = box->b_end - box->b;
    const int64_t *reach = c->forward + c->origin;
    struct point best = {box->a, box->b};
    for (int64_t k = -cost; k <= cost; k += 2) {
        int64_t x = reach[k], y = x - k;
        if (x >= 0 && x <= n && y >= 0 && y <= m && x + y > best.a - box->a + best.b - box->b)
            best = (struct point){box->a + x, box->b + y};
    }
    return best;
}

/* Myers, "An O(ND) Difference Algorithm and Its Variations", section 4b: paths from both corners
 * meet in the middle. The corners of the box differ, so the point splits it into smaller ones. */
static struct point middle(const struct compare *c, const struct box *box)
{
    struct point meeting;
    for (int64_t cost = 0; cost <= MAX_COST; cost++)
        if (extend(c, box, cost, false, &meeting) || extend(c, box, cost, true, &meeting))
            return meeting;
    return furthest(c, box, MAX_COST);
}

static void mark_changed(struct side *side, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        side->changed[side->kept.at[i]] = 1;
}

/* The first part of each split costs at most half of the edits, or MAX_COST, so that recursion is
 * shallow; the second part is the loop's next round. */
static void compare_box(const struct compare *c, struct box box)
{
    for (;;) {
        while (box.a < box.a_end && box.b < box.b_end && same(c, box.a, box.b))
            box.a++, box.b++;
        while (box.a < box.a_end && box.b < box.b_end && same(c, box.a_end - 1, box.b_end - 1))
            box.a_end--, box.b_end--;
        if (box.a == box.a_end || box.b == box.b_end)
            break;
        struct point at = middle(c, &box);
        compare_box(c, (struct box){box.a, at.a, box.b, at.b});
        box.a = at.a;
        box.b = at.b;
    }
    mark_changed(c->a, box.a, box.a_end);
    mark_changed(c->b, box.b, box.b_end);
}

static void compare_sides(struct side *a, struct side *b)
{
    /* A search uses the diagonals -MAX_COST - 1 .. MAX_COST + 1. */
    enum { DIAGONALS = 2 * MAX_COST + 3 };
    int64_t forward[DIAGONALS] = {0}, backward[DIAGONALS] = {0};
    struct compare c = {a, b, forward, backward, MAX_COST + 1};
    compare_box(&c, (struct box){0, a->kept.count, 0, b->kept.count});
}

/* -------------------------------------------------------------------------- printing ---- */

static void print_line(struct text *out, char mark, const struct side *side, uint32_t line)
{
    size_t start = side->starts.at[line], size = side->starts.at[line + 1] - start;
    text_char(out, mark);
    text_bytes(out, side->text + start, size);
    if (side->text[start + size - 1] != '\n')
        text_string(out, "\n\\ No newline at end of file\n");
}

/* Lines [a, a_end) of the old and [b, b_end) of the new text, changes and context. */
struct hunk {
    uint32_t a, a_end, b, b_end;
};

/* The hunk with the first change at or behind (i, j): changes whose context touches belong
 * together. False where there is none. */
static bool next_hunk(const struct side *a, const struct side *b, uint32_t i, uint32_t j,
                      struct hunk *hunk)
{
    uint32_t first = i;
    while (i < a->ids.count && j < b->ids.count && !a->changed[i] && !b->changed[j])
        i++, j++;
    if (i == a->ids.count && j == b->ids.count)
        return false;
    uint32_t before = i - first < CONTEXT ? i - first : CONTEXT, equal = 0;
    hunk->a = i - before;
    hunk->b = j - before;
    for (;;) {
        /* Moves over one run of changes. */
        while (i < a->ids.count && a->changed[i])
            ++i;
        while (j < b->ids.count && b->changed[j])
            ++j;
        equal = 0;
        while (i + equal < a->ids.count && j + equal < b->ids.count && !a->changed[i + equal] &&
               !b->changed[j + equal] && equal <= 2 * CONTEXT)
            equal++;
        bool last = i + equal == a->ids.count && j + equal == b->ids.count;
        if (equal > 2 * CONTEXT || last)
            break;
        i += equal;
        j += equal;
    }
    uint32_t behind = equal < CONTEXT ? equal : CONTEXT;
    hunk->a_end = i + behind;
    hunk->b_end = j + behind;
    return true;
}

/* An empty range is named by the line before it. */
static void print_range(struct text *out, uint32_t first, uint32_t end)
{
    uint32_t count = end - first;
    text_unsigned(out, count ? first + 1 : first);
    if (count != 1)
        text_printf(out, ",%u", count);
}

/* Splits both sides and marks what differs. */
static void compare_texts(struct side *a, struct side *b)
{
    struct intern lines = {0};
    side_split(a, &lines);
    side_split(b, &lines);
    side_keep_common(a, b, lines.count);
    side_keep_common(b, a, lines.count);
    compare_sides(a, b);
    intern_free(&lines);
}

void diff_unified(struct text *out, const char *old_name, const char *old, size_t old_size,
                  const char *new_name, const char *new, size_t new_size)
{
    if (old_size == new_size && (old_size == 0 || memcmp(old, new, old_size) == 0))
        return;
    struct side a = {.text = old, .size = old_size}, b = {.text = new, .size = new_size};
    compare_texts(&a, &b);
    text_printf(out, "--- %s\n+++ %s\n", old_name, new_name);
    struct hunk hunk = {0, 0, 0, 0};
    while (next_hunk(&a, &b, hunk.a_end, hunk.b_end, &hunk)) {
        text_string(out, "@@ -");
        print_range(out, hunk.a, hunk.a_end);
        text_string(out, " +");
        print_range(out, hunk.b, hunk.b_end);
        text_string(out, " @@\n");
        for (uint32_t i = hunk.a, j = hunk.b; i < hunk.a_end || j < hunk.b_end;) {
            if (i < hunk.a_end && a.changed[i]) {
                print_line(out, '-', &a, i++);
            } else if (j < hunk.b_end && b.changed[j]) {
                print_line(out, '+', &b, j++);
            } else {
                print_line(out, ' ', &a, i++);
                j++;
            }
        }
    }
    side_free(&a);
    side_free(&b);
}

void diff_brief(struct text *out, const char *old, size_t old_size, const char *new,
                size_t new_size)
{
    struct side a = {.text = old, .size = old_size}, b = {.text = new, .size = new_size};
    bool gap = false;
    compare_texts(&a, &b);
    for (uint32_t i = 0, j = 0; i < a.ids.count || j < b.ids.count;) {
        bool first = j == 0;
        if (i < a.ids.count && a.changed[i]) {
            print_line(out, '-', &a, i++);
            gap = false;
        } else if (j < b.ids.count && b.changed[j]) {
            print_line(out, '+', &b, j++);
            gap = false;
        } else {
            if (first)
                print_line(out, ' ', &b, j);
            else if (!gap)
                text_string(out, "...\n");
            gap = !first;
            i++, j++;
        }
    }
    side_free(&a);
    side_free(&b);
}
