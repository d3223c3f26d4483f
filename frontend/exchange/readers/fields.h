/* What readers of protobuf text share: which fields a message has, values of fields as names, and
 * tokens that diagnostics point to. */
#ifndef FRONTEND_EXCHANGE_READERS_FIELDS_H
#define FRONTEND_EXCHANGE_READERS_FIELDS_H

#include "frontend/exchange/dump/dump.h"
#include "frontend/exchange/text/proto_text.h"

enum message {
#define MESSAGE(id, shown, fields) MESSAGE_##id,
#include "frontend/exchange/readers/messages.def"
#undef MESSAGE
    MESSAGES
};

/* A message that was entered, and a bit for each row of its fields (messages.def) that was seen. */
struct field_walk {
    struct dump *dump;
    struct proto_text *proto;
    enum message message;
    uint64_t seen;
    bool unused; /* a field was passed over */
};

/* The next field that the message can have. Fields that it does not have are passed over, with a
 * remark, and so are those without a use; one too many is an error. False as of proto_next. */
bool field_next(struct field_walk *walk, struct proto_field *field);

/* The field's message is the innermost one. A field that is no message is an error, and false. */
bool field_enter(struct proto_text *proto, const struct proto_field *field);
/* The name id of a string, that of the empty one, too. NONE where it is no string, an error. */
uint32_t field_string(struct proto_text *proto, const struct proto_field *field, struct dump *dump);
/* The same; its place becomes a token of the source. In the order of the text. */
uint32_t field_token(struct proto_text *proto, const struct proto_field *field, struct dump *dump);

static inline bool field_is_message(const struct proto_field *field, const char *name)
{
    return field->kind == PROTO_MESSAGE && proto_is(field, name);
}

static inline bool field_is_string(const struct proto_field *field, const char *name)
{
    return field->kind == PROTO_STRING && proto_is(field, name);
}

/* Whether a field has one of the names of a list that NULL ends. */
bool field_is_one(const struct proto_field *field, const char *const *names);

#endif
