#include "frontend/exchange/describe.h"
#include "frontend/exchange/text/proto_text.h"

enum { SHOWN_FIELDS = 5, SHOWN_BYTES = 40 };

/* The names of the outermost fields of protobuf text, each once, the first few. */
struct fields {
    const char *names[SHOWN_FIELDS];
    uint32_t sizes[SHOWN_FIELDS];
    uint32_t count; /* of all fields */
    uint32_t shown;
};

static void note_field(struct fields *fields, const struct proto_field *field)
{
    fields->count++;
    for (uint32_t i = 0; i < fields->shown; i++)
        if (fields->sizes[i] == field->name_size &&
            memcmp(fields->names[i], field->name, field->name_size) == 0)
            return;
    if (fields->shown == SHOWN_FIELDS)
        return;
    fields->names[fields->shown] = field->name;
    fields->sizes[fields->shown++] = field->name_size;
}

/* Whether the text is protobuf text to its end; `diags` gets what is wrong with it. */
static bool read_fields(const struct source *source, struct diags *diags, struct fields *fields)
{
    struct proto_text proto;
    struct proto_field field;
    proto_init(&proto, source, diags);
    *fields = (struct fields){.count = 0};
    while (proto_next(&proto, &field))
        note_field(fields, &field);
    bool whole = !proto.failed;
    proto_free(&proto);
    return whole;
}

/* A text that begins as a message does, and breaks off or goes on as something else. */
static bool begins_as_message(const struct source *source)
{
    struct proto_text proto;
    struct proto_field field;
    proto_init(&proto, source, NULL);
    bool begins = proto_next(&proto, &field);
    proto_free(&proto);
    return begins;
}

static void describe_fields(const struct fields *fields, struct text *text)
{
    text_string(text, "the text is protobuf text, but of no graph: its fields are ");
    for (uint32_t i = 0; i < fields->shown; i++) {
        text_string(text, i ? ", '" : "'");
        text_bytes(text, fields->names[i], fields->sizes[i]);
        text_char(text, '\'');
    }
}

static const char *first_text(const struct source *source)
{
    const char *at = source->text;
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

static bool begins_as_module(const struct source *source)
{
    const char *begin = first_text(source);
    return strncmp(begin, "skir ", 5) == 0 || strncmp(begin, "//", 2) == 0;
}

static void describe_begin(const struct source *source, struct text *text)
{
    const char *begin = first_text(source);
    size_t size = strcspn(begin, "\r\n");
    text_string(text, "the text is in no format that is known: it begins with '");
    text_bytes(text, begin, size < SHOWN_BYTES ? size : SHOWN_BYTES);
    text_char(text, '\'');
}

bool exchange_describe(const struct source *source, struct diags *diags, struct text *text)
{
    struct fields fields;
    if (source->size == 0) {
        text_string(text, "the file is empty");
    } else if (memchr(source->text, '\0', source->size)) {
        text_string(text, "the file is binary");
    } else if (*first_text(source) == '{' || *first_text(source) == '[') {
        text_string(text, "the text is JSON, but no graph");
    } else if (begins_as_module(source)) {
        text_string(text, "the text is a .skir file already");
    } else if (!begins_as_message(source)) {
        describe_begin(source, text);
    } else if (!read_fields(source, diags, &fields)) {
        return false;
    } else {
        describe_fields(&fields, text);
    }
    return true;
}
