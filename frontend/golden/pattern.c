#include "frontend/golden/pattern.h"
#include "ir/base/message.h"

#include <string.h>

enum {
    MAX_SIZE = 200, /* bytes of a pattern */
    /* A byte makes at most four states; one more is the end. */
    MAX_STATES = 4 * MAX_SIZE + 4,
    MAX_WORDS = (MAX_STATES + 63) / 64
};

/* A step of the automaton: over a byte of `set`, or (where it has none) over nothing to one or two
 * others. */
struct state {
    const uint8_t *set; /* 256 bits, or NULL */
    uint16_t next, other;
};

static const uint16_t NOWHERE = UINT16_MAX;

struct pattern {
    struct state *states;
    uint32_t n_states, words; /* of 64 bits that a set of states has */
    uint16_t begin, end;
    uint64_t *closures; /* by state: the others that it leads to over nothing, and itself */
};

/* ------------------------------------------------------------------------------ reading ---- */

struct reader {
    struct arena *arena;
    const char *at, *end;
    struct state states[MAX_STATES];
    uint32_t n_states;
    char *error;
    size_t error_size;
};

/* A part of the automaton; its last state leads nowhere yet. */
struct part {
    uint16_t begin, end;
};

static uint16_t add_state(struct reader *reader, const uint8_t *set, uint16_t next, uint16_t other)
{
    reader->states[reader->n_states] = (struct state){set, next, other};
    return (uint16_t)reader->n_states++;
}

static uint8_t *new_set(struct reader *reader)
{
    uint8_t *set = arena_alloc(reader->arena, 32);
    memset(set, 0, 32);
    return set;
}

static void set_add(uint8_t *set, uint8_t byte)
{
    set[byte / 8] |= (uint8_t)(1 << byte % 8);
}

static bool set_has(const uint8_t *set, uint8_t byte)
{
    return set[byte / 8] >> byte % 8 & 1;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool fail(struct reader *reader, const char *what)
{
    return message_fail(reader->error, reader->error_size, "%s", what);
}

/* A byte of a set or behind a backslash. */
static bool read_byte(struct reader *reader, uint8_t *byte)
{
    if (*reader->at == '\\') {
        if (++reader->at == reader->end)
            return fail(reader, "nothing stands behind its last '\\'");
        if (is_word(*reader->at))
            return fail(reader, "'\\' stands before a letter or digit, which is itself anyway");
    }
    *byte = (uint8_t)*reader->at++;
    return true;
}

/* `[abc0-9]` or `[^abc]`, behind the bracket. */
static bool read_set(struct reader *reader, uint8_t *set)
{
    bool inverted = reader->at < reader->end && *reader->at == '^';
    const char *first = reader->at += inverted;
    while (reader->at < reader->end && (*reader->at != ']' || reader->at == first)) {
        uint8_t low, high;
        if (!read_byte(reader, &low))
            return false;
        high = low;
        if (reader->end - reader->at >= 2 && reader->at[0] == '-' && reader->at[1] != ']') {
            reader->at++;
            if (!read_byte(reader, &high))
                return false;
        }
        if (high < low)
            return fail(reader, "a range of it ends before it begins");
        for (unsigned byte = low; byte <= high; byte++)
            set_add(set, (uint8_t)byte);
    }
    if (reader->at == reader->end)
        return fail(reader, "a '[' of it is not closed");
    reader->at++;
    for (unsigned i = 0; inverted && i < 32; i++)
        set[i] = (uint8_t)~set[i];
    return true;
}

static bool read_choice(struct reader *reader, struct part *part);

static bool read_atom(struct reader *reader, struct part *part)
{
    char c = *reader->at;
    if (c == '(') {
        reader->at++;
        if (!read_choice(reader, part))
            return false;
        if (reader->at == reader->end)
            return fail(reader, "a '(' of it is not closed");
        reader->at++;
        return true;
    }
    if (c == '*' || c == '+' || c == '?')
        return fail(reader, "nothing stands before a '*', '+' or '?'");
    if (c == '^' || c == '$' || c == '{')
        return fail(reader,
                    "'^', '$' and '{' have no meaning; with a '\\' before it, it is itself");
    uint8_t *set = new_set(reader), byte;
    if (c == '[') {
        reader->at++;
        if (!read_set(reader, set))
            return false;
    } else if (c == '.') {
        reader->at++;
        memset(set, 0xff, 32);
    } else {
        if (!read_byte(reader, &byte))
            return false;
        set_add(set, byte);
    }
    part->end = add_state(reader, NULL, NOWHERE, NOWHERE);
    part->begin = add_state(reader, set, part->end, NOWHERE);
    return true;
}

/* An atom and the `*`, `+`, `?` behind it. */
static bool read_repeated(struct reader *reader, struct part *part)
{
    if (!read_atom(reader, part))
        return false;
    for (; reader->at < reader->end && *reader->at && strchr("*+?", *reader->at); reader->at++) {
        uint16_t end = add_state(reader, NULL, NOWHERE, NOWHERE);
        uint16_t begin = add_state(reader, NULL, part->begin, end);
        reader->states[part->end].next = *reader->at == '?' ? end : begin;
        *part = (struct part){*reader->at == '+' ? part->begin : begin, end};
    }
    return true;
}

static bool read_sequence(struct reader *reader, struct part *part)
{
    part->begin = part->end = add_state(reader, NULL, NOWHERE, NOWHERE);
    while (reader->at < reader->end && *reader->at != '|' && *reader->at != ')') {
        struct part next;
        if (!read_repeated(reader, &next))
            return false;
        reader->states[part->end].next = next.begin;
        part->end = next.end;
    }
    return true;
}

static bool read_choice(struct reader *reader, struct part *part)
{
    if (!read_sequence(reader, part))
        return false;
    while (reader->at < reader->end && *reader->at == '|') {
        struct part other;
        reader->at++;
        if (!read_sequence(reader, &other))
            return false;
        reader->states[other.end].next = part->end;
        part->begin = add_state(reader, NULL, part->begin, other.begin);
    }
    return true;
}

/* ----------------------------------------------------------------------------- closures ---- */

static void bits_add(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

static bool bits_have(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static const uint64_t *closure(const struct pattern *pattern, uint32_t state)
{
    return pattern->closures + (size_t)state * pattern->words;
}

static void fill_closure(const struct pattern *pattern, uint32_t from)
{
    uint64_t *bits = pattern->closures + (size_t)from * pattern->words;
    uint16_t stack[2 * MAX_STATES];
    uint32_t depth = 0;
    stack[depth++] = (uint16_t)from;
    while (depth) {
        uint16_t at = stack[--depth];
        if (bits_have(bits, at))
            continue;
        bits_add(bits, at);
        const struct state *state = &pattern->states[at];
        if (!state->set && state->next != NOWHERE)
            stack[depth++] = state->next;
        if (!state->set && state->other != NOWHERE)
            stack[depth++] = state->other;
    }
}

const struct pattern *pattern_parse(struct arena *arena, const char *text, size_t size, char *error,
                                    size_t error_size)
{
    struct reader reader = {
        .arena = arena, .at = text, .end = text + size, .error = error, .error_size = error_size};
    struct part whole;
    if (size > MAX_SIZE) {
        fail(&reader, "it is longer than 200 bytes");
        return NULL;
    }
    if (!read_choice(&reader, &whole))
        return NULL;
    if (reader.at < reader.end) {
        fail(&reader, "a ')' of it closes nothing");
        return NULL;
    }
    struct pattern *pattern = arena_alloc(arena, sizeof *pattern);
    uint32_t n = reader.n_states, words = (n + 63) / 64;
    *pattern = (struct pattern){
        arena_alloc(arena, n * sizeof(struct state)), n, words, whole.begin, whole.end,
        arena_alloc(arena, (size_t)n * words * 8)};
    memcpy(pattern->states, reader.states, n * sizeof(struct state));
    memset(pattern->closures, 0, (size_t)n * words * 8);
    for (uint32_t i = 0; i < n; i++)
        fill_closure(pattern, i);
    return pattern;
}

/* ----------------------------------------------------------------------------- matching ---- */

static bool meet(const struct pattern *pattern, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t i = 0; i < pattern->words; i++)
        if (a[i] & b[i])
            return true;
    return false;
}

void pattern_begins(const struct pattern *pattern, const char *text, size_t size,
                    const uint8_t *ends, uint8_t *begins)
{
    /* The states, but those over nothing, from which an end can be reached from here on. */
    uint64_t sets[2][MAX_WORDS], *live = sets[0], *behind = sets[1];
    memset(behind, 0, pattern->words * 8);
    for (size_t p = size + 1; p-- > 0;) {
        memset(live, 0, pattern->words * 8);
        if (ends[p])
            bits_add(live, pattern->end);
        for (uint32_t i = 0; p < size && i < pattern->n_states; i++) {
            const struct state *state = &pattern->states[i];
            if (state->set && set_has(state->set, (uint8_t)text[p]) &&
                meet(pattern, closure(pattern, state->next), behind))
                bits_add(live, i);
        }
        begins[p] = meet(pattern, closure(pattern, pattern->begin), live);
        uint64_t *other = behind;
        behind = live;
        live = other;
    }
}

size_t pattern_end(const struct pattern *pattern, const char *text, size_t size, size_t begin,
                   const uint8_t *ends, size_t limit)
{
    uint64_t sets[2][MAX_WORDS], *now = sets[0], *then = sets[1];
    size_t found = SIZE_MAX;
    memcpy(now, closure(pattern, pattern->begin), pattern->words * 8);
    for (size_t q = begin; q < limit && q <= size; q++) {
        bool any = false;
        if (ends[q] && bits_have(now, pattern->end))
            found = q;
        memset(then, 0, pattern->words * 8);
        for (uint32_t i = 0; q < size && i < pattern->n_states; i++) {
            const struct state *state = &pattern->states[i];
            if (!state->set || !bits_have(now, i) || !set_has(state->set, (uint8_t)text[q]))
                continue;
            any = true;
            for (uint32_t w = 0; w < pattern->words; w++)
                then[w] |= closure(pattern, state->next)[w];
        }
        if (!any)
            break;
        uint64_t *other = now;
        now = then;
        then = other;
    }
    return found;
}
