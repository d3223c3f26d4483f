/* The cursor over protobuf's text: messages, their fields, and the elements of lists. */
#include "frontend/exchange/text/proto_error.h"
#include "frontend/exchange/text/proto_scan.h"
#include "frontend/exchange/text/proto_space.h"

static void init(struct proto_text *proto, const char *text, size_t size, struct diags *diags)
{
    proto->text = proto->at = text;
    proto->end = text + size;
    proto->diags = diags;
    proto->within = no_span;
    proto->inner = proto->failed = proto->pending = false;
    proto->first = true;
    proto->depth = 0;
    proto->copy = NULL;
    proto->scratch = (struct text){NULL, 0, 0};
    proto->levels[0] = (struct proto_level){.begin = text};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        proto->at += 3;
}

void proto_init(struct proto_text *proto, const struct source *source, struct diags *diags)
{
    init(proto, source->text, source->size, diags);
}

/* The scanner stops at a NUL. Behind a string that was not decoded stands its closing quote. */
void proto_init_inner(struct proto_text *proto, const char *bytes, size_t size, struct span within,
                      struct diags *diags)
{
    char *copy = NULL;
    if (bytes[size] != '\0') {
        copy = mem_realloc(NULL, size + 1, 1);
        memcpy(copy, bytes, size);
        copy[size] = '\0';
        bytes = copy;
    }
    init(proto, bytes, size, diags);
    proto->copy = copy;
    proto->within = within;
    proto->inner = true;
}

void proto_free(struct proto_text *proto)
{
    mem_free(proto->copy);
    text_free(&proto->scratch);
}

/* The span of one token, which has no line breaks. */
static inline struct span token_span(const struct proto_text *proto, const char *begin,
                                     const char *end)
{
    if (proto->inner)
        return proto->within;
    return (struct span){(uint32_t)(begin - proto->text), (uint32_t)(end - proto->text)};
}

/* ---- Values ---- */

/* The literals behind the first one are joined with it. */
static bool read_string(struct proto_text *proto, struct proto_field *field, bool plain)
{
    const char *end = proto->at, *next;
    bool several = false;
    field->kind = PROTO_STRING;
    for (;;) {
        next = skip_space(proto, end);
        if (*next != '"' && *next != '\'')
            break;
        plain = false;
        several = true;
        if (proto_scan_value(proto, next) == VALUE_FAILED)
            return false;
        end = proto->at;
    }
    field->plain = plain;
    field->size = (uint32_t)(end - field->text);
    field->span =
        several ? proto_span(proto, field->text, end) : token_span(proto, field->text, end);
    proto->at = next;
    return true;
}

/* Behind a minus, only words that are numbers make sense. */
static bool is_number_word(const char *word, size_t size)
{
    static const char *const words[] = {"inf", "infinity", "nan"};
    if (size > 3 && (word[size - 1] | 0x20) == 'f')
        size--;
    for (unsigned i = 0; i < 3; i++) {
        size_t p = 0;
        while (p < size && (word[p] | 0x20) == words[i][p])
            p++;
        if (p == size && words[i][p] == '\0')
            return true;
    }
    return false;
}

static bool end_token(struct proto_text *proto, struct proto_field *field, enum proto_kind kind)
{
    field->kind = kind;
    field->size = (uint32_t)(proto->at - field->text);
    field->span = token_span(proto, field->text, proto->at);
    return true;
}

static bool read_word(struct proto_text *proto, struct proto_field *field, const char *word,
                      bool minus)
{
    if (minus && !is_number_word(word, (size_t)(proto->at - word)))
        return proto_error(proto, word, proto->at, NULL, "expected a number behind the '-'");
    return end_token(proto, field, PROTO_WORD);
}

/* A minus that stands apart from its number. */
static bool read_minus(struct proto_text *proto, struct proto_field *field)
{
    const char *start = skip_space(proto, proto->at);
    enum proto_value value = *start == '-' ? VALUE_MINUS : proto_scan_value(proto, start);
    if (value == VALUE_FAILED)
        return false;
    if (value != VALUE_NUMBER && value != VALUE_WORD)
        return proto_error_expected(proto, start, "a number");
    if (value == VALUE_WORD ? !read_word(proto, field, start, true)
                            : !end_token(proto, field, PROTO_NUMBER))
        return false;
    field->span = proto_span(proto, field->text, proto->at);
    return true;
}

static bool read_message(struct proto_text *proto, struct proto_field *field)
{
    proto->pending = true;
    return end_token(proto, field, PROTO_MESSAGE);
}

/* Of a value at `start`, but no list. */
static bool read_single(struct proto_text *proto, struct proto_field *field, const char *start)
{
    field->text = start;
    field->plain = 0;
    bool plain;
    const char *end = skip_string(proto, start, &plain);
    if (end) {
        proto->at = end;
        return read_string(proto, field, plain);
    }
    enum proto_value value = proto_scan_value(proto, start);
    switch (value) {
    case VALUE_FAILED: return false;
    case VALUE_NUMBER: return end_token(proto, field, PROTO_NUMBER);
    case VALUE_WORD: return read_word(proto, field, start + (*start == '-'), *start == '-');
    case VALUE_PLAIN:
    case VALUE_ESCAPED: return read_string(proto, field, value == VALUE_PLAIN);
    case VALUE_MINUS: return read_minus(proto, field);
    case VALUE_OPEN: return read_message(proto, field);
    case VALUE_LIST:
        return proto_error(proto, start, start + 1, NULL, "a list may not be in a list");
    }
    return false;
}

/* ---- Lists ---- */

static void list_field(const struct proto_text *proto, const struct proto_level *level,
                       struct proto_field *field)
{
    field->name = level->list;
    field->name_size = level->list_size;
    field->bracketed = level->bracketed;
    field->name_span = token_span(proto, level->list, level->list + level->list_size);
}

/* The next element. False at the end of the list, which is left then, or at an error. */
static bool next_element(struct proto_text *proto, struct proto_level *level,
                         struct proto_field *field)
{
    const char *at = skip_space(proto, proto->at);
    bool first = proto->first;
    proto->first = false;
    if (*at == ']') {
        level->list = NULL;
        proto->at = at + 1;
        return false;
    }
    if (!first && *at != ',')
        return proto_error_expected(proto, at, "',' or ']'");
    list_field(proto, level, field);
    return read_single(proto, field, first ? at : skip_space(proto, at + 1));
}

/* Behind the bracket that begins a list. Without a colon before it, its elements are messages. */
static bool begin_list(struct proto_text *proto, const struct proto_field *field, const char *at,
                       bool colon)
{
    struct proto_level *level = &proto->levels[proto->depth];
    const char *element = skip_space(proto, at + 1);
    if (!colon && *element != ']' && *element != '{' && *element != '<')
        return proto_error(proto, at, at + 1, "only messages may do without the colon",
                           "expected ':' before this list");
    level->list = field->name;
    level->list_size = field->name_size;
    level->bracketed = field->bracketed;
    proto->at = element;
    return proto->first = true;
}

/* ---- Fields ---- */

/* The name is what stands between the brackets, without blanks and comments around it. `close` is
 * behind the closing bracket. */
static void trim_brackets(const struct proto_text *proto, struct proto_field *field,
                          const char *close)
{
    const char *begin = skip_space(proto, field->name + 1), *end = begin, *at = begin;
    while (at < close - 1) {
        while (at < close - 1 && (unsigned char)*at > ' ' && *at != '#')
            at++;
        end = at;
        at = skip_space(proto, at);
    }
    field->name_span = proto_span(proto, field->name, close);
    field->name = begin;
    field->name_size = (uint32_t)(end - begin);
}

/* False where the list that the field is has begun, too. */
static bool read_field(struct proto_text *proto, struct proto_field *field, const char *start,
                       bool bracketed)
{
    const char *at = proto->at;
    field->name = start;
    field->name_size = (uint32_t)(at - start);
    field->bracketed = bracketed;
    field->name_span = token_span(proto, start, at);
    if (bracketed)
        trim_brackets(proto, field, at);
    at = skip_space(proto, at);
    bool colon = *at == ':';
    if (colon)
        at = skip_space(proto, at + 1);
    if (*at == '[')
        return begin_list(proto, field, at, colon), false;
    if (!colon && *at != '{' && *at != '<')
        return proto_error_expected(proto, at, "':' or '{'");
    return read_single(proto, field, at);
}

static inline bool leave(struct proto_text *proto, const char *at)
{
    const struct proto_level *level = &proto->levels[proto->depth];
    if (proto->depth == 0 || *at != level->close)
        return proto_error_close(proto, at, proto->depth);
    proto->depth--;
    proto->first = false;
    return false;
}

/* A separator may stand behind each field. */
static enum proto_head next_head(struct proto_text *proto, const char **start)
{
    bool first = proto->first;
    *start = skip_space(proto, proto->at);
    enum proto_head head = proto_scan_head(proto, *start);
    if (head != HEAD_SEPARATOR)
        return head;
    if (!first) {
        *start = skip_space(proto, proto->at);
        head = proto_scan_head(proto, *start);
        if (head != HEAD_SEPARATOR)
            return head;
    }
    return (enum proto_head)proto_error_expected(proto, *start, "the name of a field");
}

static bool next_field(struct proto_text *proto, struct proto_field *field)
{
    const char *start;
    enum proto_head head = next_head(proto, &start);
    proto->first = false;
    switch (head) {
    case HEAD_NAME:
    case HEAD_BRACKETED: return read_field(proto, field, start, head == HEAD_BRACKETED);
    case HEAD_CLOSE: return leave(proto, start);
    case HEAD_END: return proto->depth > 0 && proto_error_open(proto, proto->depth);
    default: return false;
    }
}

/* ---- Messages ---- */

void proto_enter(struct proto_text *proto)
{
    if (proto->failed || !proto->pending)
        return;
    const char *bracket = proto->at - 1;
    proto->pending = false;
    proto->first = true;
    if (proto->depth == PROTO_DEPTH) {
        proto_error_deep(proto, bracket);
        return;
    }
    proto->levels[++proto->depth] =
        (struct proto_level){.begin = bracket, .close = *bracket == '{' ? '}' : '>'};
}

bool proto_next(struct proto_text *proto, struct proto_field *field)
{
    if (proto->pending) {
        proto_enter(proto);
        if (!proto->failed)
            proto_scan_message(proto);
    }
    for (;;) {
        if (proto->failed)
            return false;
        struct proto_level *level = &proto->levels[proto->depth];
        if (level->list) {
            if (next_element(proto, level, field))
                return true;
        } else if (next_field(proto, field)) {
            return true;
        } else if (!level->list || proto->failed) {
            return false;
        }
    }
}
