/* Hostile protobuf text: every message is entered and every value is read in every way, with texts
 * that stand in strings. A text that is right all through has as many fields when messages are
 * passed over. */
#include "frontend/import/text/proto_text.h"
#include "tests/fuzz/replay.h"

#include <stdlib.h>

enum { MAX_INNER = 2 };

static uint64_t sum; /* keeps the bytes that are read from being optimised away */

static void walk(struct proto_text *proto, uint32_t *outer, unsigned inner);

static void walk_inner(const struct proto_text *proto, const struct proto_field *field,
                       const char *bytes, size_t size, unsigned inner)
{
    struct proto_text within;
    uint32_t fields = 0;
    proto_init_inner(&within, bytes, size, field->span, proto->diags);
    walk(&within, &fields, inner + 1);
    proto_free(&within);
}

static void read_values(struct proto_text *proto, const struct proto_field *field, unsigned inner)
{
    const char *bytes;
    size_t size;
    int64_t integer;
    double number;
    bool truth;
    sum += proto_integer(NULL, field, &integer) + proto_float(NULL, field, &number) +
           proto_bool(NULL, field, &truth);
    if (field->kind != PROTO_STRING || !proto_string(proto, field, &bytes, &size))
        return;
    if (size > field->size)
        abort();
    for (size_t i = 0; i < size; i++)
        sum += (unsigned char)bytes[i];
    if (inner < MAX_INNER)
        walk_inner(proto, field, bytes, size, inner);
}

static void check_spans(const struct proto_text *proto, const struct proto_field *field)
{
    uint32_t size = (uint32_t)(proto->end - proto->text);
    if (field->text < proto->text || field->size > (size_t)(proto->end - field->text) ||
        field->name < proto->text || field->name_size > (size_t)(field->text - field->name))
        abort();
    if (!proto->inner && (field->span.begin >= field->span.end || field->span.end > size ||
                          field->name_span.begin >= field->name_span.end))
        abort();
}

/* Counts the fields of the outermost message. */
static void walk(struct proto_text *proto, uint32_t *outer, unsigned inner)
{
    struct proto_field field;
    uint32_t depth = 0;
    for (;;) {
        if (!proto_next(proto, &field)) {
            if (depth-- == 0 || proto->failed)
                return;
            continue;
        }
        check_spans(proto, &field);
        *outer += depth == 0;
        if (field.kind != PROTO_MESSAGE) {
            read_values(proto, &field, inner);
            continue;
        }
        proto_enter(proto);
        depth++;
    }
}

static uint32_t pass_over(struct proto_text *proto)
{
    struct proto_field field;
    uint32_t fields = 0;
    while (proto_next(proto, &field))
        fields++;
    return fields;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct source source;
    struct diags diags;
    struct proto_text proto;
    char *text = malloc(size + 1);
    memcpy(text, bytes, size);
    text[size] = '\0';
    source_init_foreign(&source, "fuzz", text, size);
    diags_init(&diags, &source, "fuzz");

    uint32_t fields = 0;
    proto_init(&proto, &source, &diags);
    walk(&proto, &fields, 0);
    bool right = !proto.failed;
    proto_free(&proto);
    proto_init(&proto, &source, NULL);
    uint32_t passed = pass_over(&proto);
    if (right && (passed != fields || proto.failed))
        abort();
    proto_free(&proto);

    diags_free(&diags);
    source_free(&source);
    free(text);
    return 0;
}
