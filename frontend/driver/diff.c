#include "frontend/driver/diff.h"
#include "ir/support/intern.h"

#include <stdbool.h>
#include <string.h>

enum {
    CONTEXT = 3,
    MAX_COST = 2000, /* edits of a script that is searched for */
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

/* The furthest positions in `a` that paths of each cost reach, by diagonal: those of cost `d` on
 * the diagonals -d to d begin at d * d. A diagonal is a position in `a` less one in `b`. */
struct reach {
    int32_t *at;
    uint32_t count, capacity;
};

static int64_t reached(const struct reach *reach, int64_t cost, int64_t diagonal)
{
    return diagonal < -cost || diagonal > cost ? -1 : reach->at[cost * cost + diagonal + cost];
}

/* Whether the last edit of such a path inserts a line of `b`; else it deletes one of `a`. */
static bool inserts(const struct reach *reach, int64_t cost, int64_t diagonal)
{
    return reached(reach, cost - 1, diagonal + 1) > reached(reach, cost - 1, diagonal - 1);
}

/* Myers, "An O(ND) Difference Algorithm and Its Variations", section 2: paths through the edit
 * graph grow by one edit at a time until one reaches the end, and are followed back then. The time
 * and the memory are quadratic in the number of edits; beyond MAX_COST of them, all lines between
 * the first and the last difference count as changed. */
static void compare_sides(struct side *a, struct side *b)
{
    const uint32_t *x_lines = a->kept.at, *y_lines = b->kept.at;
    int64_t begin = 0, n = a->kept.count, m = b->kept.count;
    struct reach reach = {NULL, 0, 0};
    while (begin < n && begin < m && a->ids.at[x_lines[begin]] == b->ids.at[y_lines[begin]])
        begin++;
    while (n > begin && m > begin && a->ids.at[x_lines[n - 1]] == b->ids.at[y_lines[m - 1]])
        n--, m--;
    int64_t cost = 0, diagonal = n - m, x = 0;
    for (bool found = false; !found && cost <= MAX_COST; cost += !found)
        for (int64_t k = -cost; k <= cost; k += 2) {
            x = cost == 0                  ? begin
                : inserts(&reach, cost, k) ? reached(&reach, cost - 1, k + 1)
                                           : reached(&reach, cost - 1, k - 1) + 1;
            while (x < n && x - k < m && a->ids.at[x_lines[x]] == b->ids.at[y_lines[x - k]])
                x++;
            vec_push(&reach, (int32_t)x);
            if (k < cost)
                vec_push(&reach, 0); /* diagonals of the other parity */
            found |= k == diagonal && x >= n;
        }
    if (cost > MAX_COST) {
        for (int64_t i = begin; i < n; i++)
            a->changed[x_lines[i]] = 1;
        for (int64_t i = begin; i < m; i++)
            b->changed[y_lines[i]] = 1;
    }
    for (; cost > 0 && cost <= MAX_COST; cost--) {
        if (inserts(&reach, cost, diagonal)) {
            x = reached(&reach, cost - 1, ++diagonal);
            b->changed[y_lines[x - diagonal]] = 1;
        } else {
            x = reached(&reach, cost - 1, --diagonal);
            a->changed[x_lines[x]] = 1;
        }
    }
    vec_free(&reach);
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
