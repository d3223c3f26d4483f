#include "frontend/exchange/readers/fields.h"

bool field_enter(struct proto_text *proto, const struct proto_field *field)
{
    if (field->kind == PROTO_MESSAGE)
        proto_enter(proto);
    else
        proto_fail(proto, field->span, "'%.*s' is a message, in braces", (int)field->name_size,
                   field->name);
    return !proto->failed;
}

uint32_t field_string(struct proto_text *proto, const struct proto_field *field, struct dump *dump)
{
    const char *bytes;
    size_t size;
    if (!proto_string(proto, field, &bytes, &size))
        return NONE;
    return dump_name(dump, bytes, size);
}

uint32_t field_token(struct proto_text *proto, const struct proto_field *field, struct dump *dump)
{
    uint32_t name = field_string(proto, field, dump);
    if (name != NONE)
        source_add_token(dump->source, field->span);
    return name;
}

bool field_is_one(const struct proto_field *field, const char *const *names)
{
    for (; *names; names++)
        if (proto_is(field, *names))
            return true;
    return false;
}
