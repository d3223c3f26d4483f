/* Prints what the cursor over protobuf text sees, for tests/cli/import/proto_text.py: a line per
 * field of the text on standard input, its depth, name and value read in all ways. */
#include "frontend/import/text/proto_text.h"

#include <inttypes.h>

static void print_string(struct proto_text *proto, const struct proto_field *field)
{
    const char *bytes;
    size_t size;
    if (!proto_string(proto, field, &bytes, &size))
        return;
    printf(" s ");
    for (size_t i = 0; i < size; i++)
        printf("%02x", (unsigned char)bytes[i]);
}

static void print_scalar(const struct proto_field *field)
{
    int64_t integer;
    double number;
    uint64_t bits;
    bool truth;
    printf(field->kind == PROTO_NUMBER ? " n" : " w %.*s", (int)field->size, field->text);
    if (proto_integer(NULL, field, &integer))
        printf(" i=%" PRId64, integer);
    if (proto_float(NULL, field, &number)) {
        memcpy(&bits, &number, sizeof bits);
        printf(" f=%016" PRIx64, bits);
    }
    if (proto_bool(NULL, field, &truth))
        printf(" b=%d", truth);
}

static void print_field(struct proto_text *proto, const struct proto_field *field, uint32_t depth)
{
    printf(field->bracketed ? "%" PRIu32 " [%.*s]" : "%" PRIu32 " %.*s", depth,
           (int)field->name_size, field->name);
    if (field->kind == PROTO_MESSAGE)
        printf(" m");
    else if (field->kind == PROTO_STRING)
        print_string(proto, field);
    else
        print_scalar(field);
    putchar('\n');
}

static void print_fields(struct proto_text *proto)
{
    struct proto_field field;
    for (uint32_t depth = 0;;) {
        if (proto_next(proto, &field)) {
            print_field(proto, &field, depth);
            if (field.kind != PROTO_MESSAGE)
                continue;
            proto_enter(proto);
            depth++;
        } else if (depth-- == 0 || proto->failed) {
            return;
        }
    }
}

static struct text read_input(void)
{
    struct text text = {NULL, 0, 0};
    char bytes[4096];
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, stdin)) > 0;)
        text_bytes(&text, bytes, size);
    text_bytes(&text, "", 1);
    return text;
}

int main(void)
{
    struct text text = read_input();
    struct source source;
    struct diags diags;
    struct proto_text proto;
    if (!source_init_foreign(&source, "input", text.at, text.size - 1))
        return 2;
    diags_init(&diags, &source, "input");
    proto_init(&proto, &source, &diags);
    print_fields(&proto);
    diags_print(&diags, stderr, false);
    bool failed = proto.failed;
    proto_free(&proto);
    diags_free(&diags);
    source_free(&source);
    text_free(&text);
    return failed;
}
