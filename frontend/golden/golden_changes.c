#include "frontend/golden/golden_changes.h"
#include "frontend/cli/diff.h"
#include "ir/base/intern.h"

/* A block of a text: its lines up to an empty one. */
struct block {
    struct part text;
    uint32_t id;   /* equal blocks have equal ids */
    uint32_t head; /* the id of its first two words */
    bool same;     /* the other text has it */
    bool paired;   /* or one that begins so */
    uint32_t like; /* of a new one that is only paired: the index of the old one */
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

static void add_block(struct blocks *blocks, struct intern *names, struct part text)
{
    vec_push(blocks, (struct block){.text = text,
                                    .id = intern_static(names, text.text, text.size),
                                    .head = intern_static(names, text.text, head_size(&text))});
}

static void split_blocks(struct blocks *blocks, struct intern *names, struct part text)
{
    const char *end = text.text + text.size, *begin = text.text;
    for (const char *line = begin; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line)), *next;
        next = stop ? stop + 1 : end;
        if (stop == line) {
            if (line > begin)
                add_block(blocks, names, (struct part){begin, (size_t)(line - begin)});
            begin = next;
        }
        line = next;
    }
    if (end > begin)
        add_block(blocks, names, (struct part){begin, (size_t)(end - begin)});
}

/* ---------------------------------------------------------------------------- comparison ---- */

/* By name id, the blocks of `old` that have it, in their order. */
struct waiting {
    uint32_t *first; /* by id: index + 1 of a block, 0: none */
    uint32_t *next;  /* by block */
};

static struct waiting wait_for(const struct blocks *old, uint32_t n_names, bool heads)
{
    struct waiting waiting = {mem_calloc(n_names, sizeof(uint32_t)),
                              mem_calloc(old->count, sizeof(uint32_t))};
    for (uint32_t i = old->count; i-- > 0;) {
        if (old->at[i].paired)
            continue;
        uint32_t name = heads ? old->at[i].head : old->at[i].id;
        waiting.next[i] = waiting.first[name];
        waiting.first[name] = i + 1;
    }
    return waiting;
}

/* Pairs each block that is not paired yet with one of `old` that has the same id, or head. */
static void pair(struct blocks *old, struct blocks *new, uint32_t n_names, bool heads)
{
    struct waiting waiting = wait_for(old, n_names, heads);
    for (uint32_t i = 0; i < new->count; i++) {
        struct block *block = &new->at[i];
        uint32_t *first = &waiting.first[heads ? block->head : block->id];
        if (block->paired || *first == 0)
            continue;
        block->like = *first - 1;
        *first = waiting.next[block->like];
        block->paired = old->at[block->like].paired = true;
        block->same = !heads;
    }
    mem_free(waiting.first);
    mem_free(waiting.next);
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
        const struct part *text = &block->text;
        if (block->paired)
            diff_brief(out, old->at[block->like].text.text, old->at[block->like].text.size,
                       text->text, text->size);
        else
            print_new(out, text);
    }
    for (uint32_t i = 0; i < old->count; i++) {
        if (old->at[i].paired)
            continue;
        text_string(out, between);
        between = "\n";
        print_gone(out, &old->at[i].text);
    }
}

void golden_changes(struct text *out, struct part old_text, struct part new_text)
{
    struct intern names = {0};
    struct blocks old = {NULL, 0, 0}, new = {NULL, 0, 0};
    split_blocks(&old, &names, old_text);
    split_blocks(&new, &names, new_text);
    pair(&old, &new, names.count, false);
    pair(&old, &new, names.count, true);
    print_changes(out, &old, &new);
    vec_free(&old);
    vec_free(&new);
    intern_free(&names);
}
