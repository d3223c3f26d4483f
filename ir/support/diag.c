#include "ir/support/diag.h"
#include "ir/support/memory.h"

#include <assert.h>
#include <ctype.h>

enum { MAX_NAME = 64 };

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
            unsigned edit = above[j] < row[j - 1] ? above[j] + 1 : row[j - 1] + 1;
            unsigned replaced = above[j - 1] + (ai != bj);
            row[j] = edit < replaced ? edit : replaced;
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

enum { MAX_SUGGESTIONS = 32 };

static const struct {
    const char *text;
    enum severity severity;
} ids[] = {
#define DIAG(name, severity, text, summary) {text, SEVERITY_##severity},
#include "ir/support/diag_ids.def"
#undef DIAG
};

const char *diag_id_text(enum diag_id id)
{
    return ids[id].text;
}

enum severity diag_id_severity(enum diag_id id)
{
    return ids[id].severity;
}

const char *severity_text(enum severity severity)
{
    static const char *const texts[] = {"error", "warning", "remark"};
    return texts[severity];
}

void diags_init(struct diags *diags, struct source *source, const char *path)
{
    *diags = (struct diags){.source = source, .path = path, .max_errors = 20};
}

void diags_free(struct diags *diags)
{
    arena_free(&diags->arena);
    vec_free(&diags->list);
    id_map_free(&diags->begins);
}

struct diags diags_of_part(const struct diags *diags)
{
    return (struct diags){.source = diags->source,
                          .path = diags->path,
                          .max_errors = diags->max_errors,
                          .remarks = diags->remarks,
                          .copies = diags->copies,
                          .part = true};
}

/* Parts have no errors, and have made no suggestions: they leave both to be done alone. */
void diags_merge(struct diags *diags, struct diags *part)
{
    assert(part->part && part->counts[SEVERITY_ERROR] + part->suggestions == 0);
    for (uint32_t i = 0; i < part->list.count; i++)
        vec_push(&diags->list, part->list.at[i]);
    for (int severity = 0; severity < SEVERITY_COUNT; severity++)
        diags->counts[severity] += part->counts[severity];
    arena_merge(&diags->arena, &part->arena);
    vec_free(&part->list);
}

/* Before what depends on the diagnostics of earlier parts. */
static void leave_part(const struct diags *diags)
{
    if (diags->part)
        part_leave();
}

/* Names in a message may be as long as a file, and a message may stand there often: what is too
 * long to be read is cut off. */
static const char *format_text(struct diags *diags, const char *format, va_list args)
{
    enum { MAX_TEXT = 2000 };
    static const char dots[] = "...";
    char text[MAX_TEXT + sizeof dots];
    int size = vsnprintf(text, MAX_TEXT + 1, format, args);
    if (size > MAX_TEXT)
        memcpy(text + utf8_prefix(text, MAX_TEXT, MAX_TEXT - 1), dots, sizeof dots);
    return arena_strndup(&diags->arena, text, strlen(text));
}

/* Whether texts differ in nothing but numbers. */
static bool are_alike(const char *a, const char *b)
{
    while (*a && *b) {
        size_t digits = strspn(a, "0123456789"), others = strspn(b, "0123456789");
        bool both = digits && others;
        if (!both && *a != *b)
            return false;
        a += both ? digits : 1;
        b += both ? others : 1;
    }
    return *a == *b;
}

/* The last kept diagnostic whose position begins there, or NONE. */
static uint32_t last_at(struct diags *diags, uint32_t begin)
{
    for (; diags->n_begins < diags->list.count; diags->n_begins++) {
        struct diag *diag = &diags->list.at[diags->n_begins];
        uint32_t *last = id_map_at(&diags->begins, diag->span.begin);
        diag->same_begin = *last;
        *last = diags->n_begins;
    }
    return id_map_find(&diags->begins, begin);
}

/* Whether it is one of an error that is kept. */
static bool is_repeated(struct diags *diags, enum diag_id id, struct span span, const char *format,
                        va_list args)
{
    const char *text = NULL;
    for (uint32_t i = last_at(diags, span.begin); i != NONE; i = diags->list.at[i].same_begin) {
        struct diag *diag = &diags->list.at[i];
        if (diag->id != id || diag->span.end != span.end)
            continue;
        text = text ? text : format_text(diags, format, args);
        if (are_alike(diag->text, text)) {
            diag->repeated++;
            return true;
        }
    }
    return false;
}

bool diag_dropped(struct diags *diags, enum diag_id id)
{
    enum severity severity = ids[id].severity;
    bool dropped = severity == SEVERITY_REMARK && !diags->remarks;
    if (severity == SEVERITY_ERROR) {
        leave_part(diags);
        dropped = !diags->copies && diags->max_errors &&
                  diags->counts[SEVERITY_ERROR] >= diags->max_errors;
    }
    diags->counts[severity] += dropped;
    return dropped;
}

bool diag_vat(struct diags *diags, enum diag_id id, struct span span, const char *format,
              va_list args)
{
    enum severity severity = ids[id].severity;
    if (diag_dropped(diags, id))
        return false;
    va_list again;
    va_copy(again, args);
    bool repeated =
        diags->copies && severity == SEVERITY_ERROR && is_repeated(diags, id, span, format, again);
    va_end(again);
    assert(span.begin <= span.end);
    if (repeated)
        return false;
    diags->counts[severity]++;
    if (severity == SEVERITY_ERROR && diags->max_errors &&
        diags->counts[SEVERITY_ERROR] > diags->max_errors)
        return false;
    const char *text = format_text(diags, format, args);
    const struct diag_copy *copy = &diags->copy;
    bool told = severity == SEVERITY_ERROR && copy->text;
    vec_push(&diags->list, (struct diag){.id = id,
                                         .severity = severity,
                                         .span = span,
                                         .text = text,
                                         .copy_id = copy->text ? copy->id : NONE,
                                         .copy = told ? copy->text(copy, &diags->arena) : NULL});
    return true;
}

bool(diag_at)(struct diags *diags, enum diag_id id, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool kept = diag_vat(diags, id, span, format, args);
    va_end(args);
    return kept;
}

/* The list of diagnostics moves when it grows, and with it the first link of a chain: the end of an
 * empty chain is not kept. */
static void add_note(struct diags *diags, struct span span, const char *format, va_list args)
{
    assert(diags->list.count > 0);
    struct diag *diag = &diags->list.at[diags->list.count - 1];
    struct diag_note *note = arena_alloc(&diags->arena, sizeof *note);
    *note = (struct diag_note){.text = format_text(diags, format, args), .span = span};
    *(diag->notes ? diag->last_note : &diag->notes) = note;
    diag->last_note = &note->next;
}

void diag_note(struct diags *diags, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(diags, span, format, args);
    va_end(args);
}

void diag_help(struct diags *diags, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_note(diags, no_span, format, args);
    va_end(args);
}

bool diag_suggest(struct diags *diags, const struct suggest *suggest)
{
    if (suggest->best)
        diag_help(diags, "%s", suggest_text(suggest).text);
    return suggest->best != NULL;
}

static void add_field(struct diags *diags, const char *key, const char *value, bool listed)
{
    assert(diags->list.count > 0);
    struct diag *diag = &diags->list.at[diags->list.count - 1];
    struct diag_field *field = arena_alloc(&diags->arena, sizeof *field);
    *field =
        (struct diag_field){key, arena_strndup(&diags->arena, value, strlen(value)), listed, NULL};
    *(diag->fields ? diag->last_field : &diag->fields) = field;
    diag->last_field = &field->next;
}

void diag_field(struct diags *diags, const char *key, const char *value)
{
    add_field(diags, key, value, false);
}

void diag_listed(struct diags *diags, const char *key, const char *value)
{
    add_field(diags, key, value, true);
}

bool diags_have(const struct diags *diags, enum diag_id id)
{
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].id == id)
            return true;
    return false;
}

void diags_take_back(struct diags *diags, enum diag_id id, struct span span)
{
    assert(ids[id].severity == SEVERITY_WARNING);
    leave_part(diags);
    for (uint32_t i = last_at(diags, span.begin); i != NONE; i = diags->list.at[i].same_begin) {
        struct diag *diag = &diags->list.at[i];
        if (diag->id != id || diag->span.end != span.end || diag->taken_back)
            continue;
        diag->taken_back = true;
        diags->n_taken_back++;
        diags->counts[SEVERITY_WARNING]--;
    }
}

void diags_take_back_one(struct diags *diags, uint32_t place)
{
    struct diag *diag = &diags->list.at[place];
    assert(diag->severity == SEVERITY_REMARK && !diag->taken_back);
    diag->taken_back = true;
    diags->n_taken_back++;
    diags->counts[SEVERITY_REMARK]--;
}

void diags_take_back_all(struct diags *diags, enum diag_id id)
{
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].id == id && !diags->list.at[i].taken_back)
            diags_take_back_one(diags, i);
}

/* `but`: a severity, or SEVERITY_COUNT for none. */
static void keep_all(struct diags *diags, enum severity but)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (!diags->list.at[i].taken_back && diags->list.at[i].severity != but)
            diags->list.at[kept++] = diags->list.at[i];
    diags->list.count = kept;
    diags->n_taken_back = diags->n_begins = 0;
    id_map_clear(&diags->begins);
}

void diags_settle(struct diags *diags)
{
    if (diags->n_taken_back)
        keep_all(diags, SEVERITY_COUNT);
}

void diags_drop(struct diags *diags, enum severity severity)
{
    keep_all(diags, severity);
}

bool diag_wants_suggestion(struct diags *diags)
{
    leave_part(diags);
    return diags->suggestions++ < MAX_SUGGESTIONS;
}

const char *diag_copies_text(struct diags *diags, const struct diag *diag)
{
    const char *copy = diag->copy ? diag->copy : "", *with = diag->copy ? "with " : "";
    const char *times = diag->repeated == 1 ? "time" : "times", *and = diag->copy ? ", and " : "";
    if (diag->repeated)
        return arena_printf(&diags->arena, "so it is %s%s%s%u more %s, in other %s", with, copy,
                            and, diag->repeated, times, diags->copies);
    return diag->copy ? arena_printf(&diags->arena, "so it is with %s", copy) : NULL;
}

/* ------------------------------------------------------------------------- printing ---- */

static const char *const severity_colour[] = {"\33[1;31m", "\33[1;35m", "\33[1;36m"};

/* Carets stay in their column. Control characters of UTF-8 that have two bytes are U+0080 to
 * U+009F. */
void diag_put(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        bool wide = byte == 0xc2 && i + 1 < size && ((unsigned char)text[i + 1] & 0xe0) == 0x80;
        fputc(byte == '\t' ? ' ' : byte < 0x20 || byte == 0x7f || wide ? '?' : byte, out);
        i += wide;
    }
}

void diag_put_lines(FILE *out, const char *text, size_t size)
{
    for (size_t at = 0, end; at < size; at = end + 1) {
        for (end = at; end < size && text[end] != '\n';)
            end++;
        diag_put(out, text + at, end - at);
        fputc('\n', out);
    }
}

/* Long lines are cut to a window around the caret. */
enum { WINDOW_BEFORE = 80, WINDOW = 160 };

static void print_place(struct diags *diags, FILE *out, struct span span)
{
    uint32_t begin = span.begin;
    struct source *source = source_at(diags->source, &begin);
    struct position at = source_position(source, begin);
    diag_put(out, source->path, strlen(source->path));
    fprintf(out, ":%u:%u", at.line, at.column);
}

/* The head of a diagnostic or note: its origin, or else its position. */
static void print_head(struct diags *diags, FILE *out, struct diag_origin origin, struct span span)
{
    if (origin.text)
        diag_put(out, origin.text, origin.size);
    else if (span.end && diags->source)
        print_place(diags, out, span);
    else if (diags->path)
        diag_put(out, diags->path, strlen(diags->path));
    else
        return;
    fputs(": ", out);
}

/* The line below the head, and above it the position where the head has the origin. */
static void print_excerpt(struct diags *diags, FILE *out, struct diag_origin origin,
                          struct span span, bool colour)
{
    uint32_t begin = span.begin;
    struct source *source = source_at(diags->source, &begin);
    struct position at = source_position(source, begin);
    size_t size;
    const char *line = source_line(source, at.line, &size);
    size_t caret = begin - (size_t)(line - source->text);
    if (origin.text) {
        fputs("  at ", out);
        print_place(diags, out, span);
        fputc('\n', out);
    }
    if (caret > size)
        caret = size;
    size_t from = caret > WINDOW_BEFORE ? caret - WINDOW_BEFORE : 0;
    while (from < caret && continues_code_point(line[from]))
        from++;
    size_t shown = utf8_prefix(line + from, size - from, WINDOW);
    fprintf(out, "%5u | %s", at.line, from ? "..." : "");
    diag_put(out, line + from, shown);
    fprintf(out, "%s\n      | %s", from + shown < size ? "..." : "", from ? "   " : "");
    for (size_t i = from; i < caret; i++)
        if (!continues_code_point(line[i]))
            fputc(' ', out);
    fputs(colour ? "\33[1;32m^" : "^", out);
    size_t end = caret + (span.end - span.begin);
    for (size_t i = caret + 1; i < end && i < from + shown; i++)
        if (!continues_code_point(line[i]))
            fputc('~', out);
    fputs(colour ? "\33[0m\n" : "\n", out);
}

static void print_help(FILE *out, const char *text)
{
    fputs("  help: ", out);
    diag_put(out, text, strlen(text));
    fputc('\n', out);
}

static void print_one(struct diags *diags, FILE *out, const struct diag *diag, bool colour)
{
    print_head(diags, out, diag->origin, diag->span);
    fprintf(out, "%s%s:%s ", colour ? severity_colour[diag->severity] : "",
            severity_text(diag->severity), colour ? "\33[0m" : "");
    diag_put(out, diag->text, strlen(diag->text));
    fprintf(out, " [%s]\n", diag_id_text(diag->id));
    if (diag->span.end && diags->source)
        print_excerpt(diags, out, diag->origin, diag->span, colour);
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        if (!note->span.end || !diags->source) {
            print_help(out, note->text);
            continue;
        }
        print_head(diags, out, note->origin, note->span);
        fputs("note: ", out);
        diag_put(out, note->text, strlen(note->text));
        fputc('\n', out);
        print_excerpt(diags, out, note->origin, note->span, colour);
    }
    const char *copies = diag_copies_text(diags, diag);
    if (copies)
        print_help(out, copies);
}

static int compare(const void *a, const void *b)
{
    const struct diag *const *x = a, *const *y = b;
    uint32_t p = (*x)->span.begin, q = (*y)->span.begin;
    /* Stable: list order breaks ties. */
    return p != q ? (p < q ? -1 : 1) : (*x < *y ? -1 : *x > *y);
}

const struct diag **diags_sorted(const struct diags *diags)
{
    const struct diag **order = mem_calloc(diags->list.count, sizeof *order);
    for (uint32_t i = 0; i < diags->list.count; i++)
        order[i] = &diags->list.at[i];
    qsort(order, diags->list.count, sizeof *order, compare);
    return order;
}

void diags_print(struct diags *diags, FILE *out, bool colour)
{
    const struct diag **order = diags_sorted(diags);
    for (uint32_t i = 0; i < diags->list.count; i++)
        print_one(diags, out, order[i], colour);
    mem_free(order);
    uint32_t errors = diags->counts[SEVERITY_ERROR];
    if (diags->max_errors && errors > diags->max_errors)
        fprintf(out, "%s: %u more errors; --max-errors=0 shows all\n",
                diags->source ? diags->source->path : diags->path, errors - diags->max_errors);
}
