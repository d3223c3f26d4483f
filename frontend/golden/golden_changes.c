#include "frontend/golden/golden_changes.h"
#include "frontend/cli/diff.h"
#include "ir/base/ids.h"

/* A block of a text: its lines up to an empty one. */
struct block {
    struct part text;
    size_t head;      /* bytes of its first two words */
    bool same;        /* the other text has it */
    uint32_t partner; /* a block of the other text with the same head; NONE: there is none */
};

struct blocks {
    struct block *at;
    uint32_t count, capacity;
};

/* ------------------------------------------------------------------------------- blocks ---- */

/* "entry @e" of "entry @e : aiv_only {". */
static size_t head_size(const struct part *text)
{
    unsigned words = 0;
    for (size_t i = 0; i < text->size; i++) {
        char c = text->text[i];
        if (c == '\n' || c == '(' || c == ':' || (c == ' ' && ++words == 2))
            return i;
    }
    return text->size;
}

static void add_block(struct blocks *blocks, const char *begin, const char *end)
{
    struct block block = {.text = {begin, (size_t)(end - begin)}, .partner = NONE};
    block.head = head_size(&block.text);
    if (end > begin)
        vec_push(blocks, block);
}

static void split_blocks(struct blocks *blocks, struct part text)
{
    const char *end = text.text + text.size, *begin = text.text;
    for (const char *line = begin; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == line) {
            add_block(blocks, begin, line);
            begin = line + 1;
        }
        line = stop ? stop + 1 : end;
    }
    add_block(blocks, begin, end);
}

/* ---------------------------------------------------------------------------- comparison ---- */

static bool is_alike(const struct block *a, const struct block *b, bool whole)
{
    size_t size = whole ? a->text.size : a->head;
    return size == (whole ? b->text.size : b->head) &&
           memcmp(a->text.text, b->text.text, size) == 0;
}

/* Pairs blocks that are equal, or have equal heads, each with the first that is left. */
static void pair(struct blocks *old, struct blocks *new, bool whole)
{
    for (uint32_t i = 0; i < new->count; i++)
        for (uint32_t j = 0; new->at[i].partner == NONE &&j < old->count; j++) {
            if (old->at[j].partner != NONE || !is_alike(&old->at[j], &new->at[i], whole))
                continue;
            new->at[i].partner = j;
            old->at[j].partner = i;
            new->at[i].same = whole;
        }
}

/* ------------------------------------------------------------------------------ printing ---- */

static void print_new(struct text *out, const struct part *text)
{
    text_bytes(out, text->text, text->size);
    if (text->text[text->size - 1] != '\n')
        text_char(out, '\n');
}

static void print_gone(struct text *out, const struct part *text)
{
    const char *end = memchr(text->text, '\n', text->size);
    text_char(out, '-');
    text_bytes(out, text->text, end ? (size_t)(end - text->text) : text->size);
    text_char(out, '\n');
}

static void print_changes(struct text *out, const struct blocks *old, const struct blocks *new)
{
    const char *between = "";
    for (uint32_t i = 0; i < new->count; i++) {
        const struct block *block = &new->at[i];
        if (block->same)
            continue;
        text_string(out, between);
        between = "\n";
        if (block->partner == NONE) {
            print_new(out, &block->text);
            continue;
        }
        const struct part *before = &old->at[block->partner].text;
        diff_brief(out, before->text, before->size, block->text.text, block->text.size);
    }
    for (uint32_t i = 0; i < old->count; i++) {
        if (old->at[i].partner != NONE)
            continue;
        text_string(out, between);
        between = "\n";
        print_gone(out, &old->at[i].text);
    }
}

void golden_changes(struct text *out, struct part old_text, struct part new_text)
{
    struct blocks old = {NULL, 0, 0}, new = {NULL, 0, 0};
    split_blocks(&old, old_text);
    split_blocks(&new, new_text);
    pair(&old, &new, true);
    pair(&old, &new, false);
    print_changes(out, &old, &new);
    vec_free(&old);
    vec_free(&new);
}
