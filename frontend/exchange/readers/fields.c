#include "frontend/exchange/readers/fields.h"

/* ------------------------------------------------------------------------- messages ---- */

enum sort { SORT_MANY, SORT_ONE, SORT_CHOICE, SORT_LOST, SORT_STRAY };

struct row {
    const char *name;
    uint8_t size, sort;
};

/* A message has at most this many fields, and one bit of field_walk.seen for each. */
enum { MOST_FIELDS = 24 };

static const struct {
    const char *shown;
    struct row rows[MOST_FIELDS];
} messages[] = {
#define ROW(field, sort) {#field, sizeof #field - 1, sort},
#define MANY(field) ROW(field, SORT_MANY)
#define ONE(field) ROW(field, SORT_ONE)
#define CHOICE(field) ROW(field, SORT_CHOICE)
#define LOST(field) ROW(field, SORT_LOST)
#define STRAY(field) ROW(field, SORT_STRAY)
#define MESSAGE(id, shown, fields) {shown, {fields}},
#include "frontend/exchange/readers/messages.def"
#undef MESSAGE
#undef STRAY
#undef LOST
#undef CHOICE
#undef ONE
#undef MANY
#undef ROW
};

/* The row of the field, or MOST_FIELDS. */
static unsigned find_row(const struct row *rows, const struct proto_field *field)
{
    for (unsigned i = 0; i < MOST_FIELDS && rows[i].name && !field->bracketed; i++)
        if (rows[i].size == field->name_size && *rows[i].name == *field->name &&
            memcmp(rows[i].name, field->name, field->name_size) == 0)
            return i;
    return MOST_FIELDS;
}

/* Once for all messages of a kind: dumps repeat their messages very often. */
static void report_unused(struct field_walk *walk, const struct proto_field *field)
{
    struct dump *dump = walk->dump;
    walk->unused = true;
    uint32_t key = module_name_printf(dump->module, "%d.%.*s", (int)walk->message,
                                      (int)field->name_size, field->name);
    if (id_map_find(&dump->unused_fields, key) != NONE)
        return;
    id_map_set(&dump->unused_fields, key, 0);
    dump_drop(dump, field->name_span.begin, "the field '%.*s' of %s", (int)field->name_size,
              field->name, messages[walk->message].shown);
}

static bool fail_stray(struct field_walk *walk, const struct proto_field *field)
{
    const char *shown = messages[walk->message].shown;
    proto_fail(walk->proto, field->name_span,
               "'%.*s' is no field of %s: its contents would be lost", (int)field->name_size,
               field->name, shown);
    return false;
}

/* The bits of all rows of CHOICE. */
static uint64_t choices(const struct row *rows)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < MOST_FIELDS && rows[i].name; i++)
        if (rows[i].sort == SORT_CHOICE)
            bits |= (uint64_t)1 << i;
    return bits;
}

static bool take_field(struct field_walk *walk, const struct proto_field *field)
{
    const struct row *rows = messages[walk->message].rows;
    unsigned n = find_row(rows, field);
    unsigned sort = n < MOST_FIELDS ? rows[n].sort : SORT_LOST;
    uint64_t bit = (uint64_t)1 << n;
    if (sort == SORT_MANY)
        return true;
    if (sort == SORT_LOST)
        return report_unused(walk, field), false;
    if (sort == SORT_STRAY)
        return fail_stray(walk, field);
    if (walk->seen & (sort == SORT_CHOICE ? choices(rows) : bit)) {
        proto_fail(walk->proto, field->name_span,
                   walk->seen & bit ? "'%.*s' appears twice in %s"
                                    : "'%.*s' is a second value of %s",
                   (int)field->name_size, field->name, messages[walk->message].shown);
        return false;
    }
    walk->seen |= bit;
    return true;
}

bool field_next(struct field_walk *walk, struct proto_field *field)
{
    while (proto_next(walk->proto, field))
        if (take_field(walk, field))
            return true;
    return false;
}

/* --------------------------------------------------------------------------- values ---- */

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
