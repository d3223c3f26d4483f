/* Attributes of nodes: what they say to skir, and which others are kept. */
#include "frontend/exchange/dump/dump.h"
#include "ir/attrs.h"
#include "ir/op_types.h"

#include <stdio.h>
#include <string.h>

enum meaning { MEANS_SCOPE, MEANS_OPTIONS, MEANS_STREAM, MEANS_PRIORITY, MEANS_NOTHING };

/* The attributes of GE that become blocks. */
static const char *const words[] = {
    [MEANS_SCOPE] = "_super_kernel_scope",
    [MEANS_OPTIONS] = "_super_kernel_options",
    [MEANS_STREAM] = "_user_stream_label",
    [MEANS_PRIORITY] = "_user_stream_priority",
};

/* What a key says, and whether skir reads it of ops of all types. */
struct key {
    enum meaning meaning;
    bool own;
};

static bool is_own(const struct dump *dump, uint32_t key)
{
    return attr_row_find(OWNER_OP, key) || name_is(dump->module, key, "_op_aicore_num") ||
           name_is(dump->module, key, "_op_vectorcore_num");
}

static struct key find_key(struct dump *dump, uint32_t key)
{
    uint32_t *place = id_map_at(&dump->keys, key);
    if (*place == NONE) {
        uint32_t meaning = 0;
        while (meaning < MEANS_NOTHING && !name_is(dump->module, key, words[meaning]))
            meaning++;
        *place = meaning << 1 | is_own(dump, key);
    }
    return (struct key){(enum meaning)(*place >> 1), *place & 1};
}

bool dump_is_constant(const struct dump *dump, uint32_t type)
{
    static const char *const types[] = {"Const", "Constant", "Variable", "FileConstant"};
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
        if (type != NONE && name_is(dump->module, type, types[i]))
            return true;
    return false;
}

/* Whether it is a part of the graph rather than said of an op: the contents of a constant, or
 * graphs that the op calls. */
static bool is_structure(const struct dump *dump, uint32_t type, const struct attr *attr)
{
    const struct attr_value *value = &attr->value;
    if (value->kind == ATTR_LIST && value->count)
        value = &dump->module->attr_values.at[value->first];
    return value->kind == ATTR_SYMBOL || (attr->key == W_value && dump_is_constant(dump, type));
}

/* Whether the data of the op type has it. */
static bool is_of_type(const struct dump *dump, uint32_t name, uint32_t key)
{
    const struct op_type *type = name == NONE ? NULL : op_type_find(dump->module, name);
    for (uint32_t i = 0; type && i < type->n_attrs; i++)
        if (name_is(dump->module, key, type->attrs[i].name))
            return true;
    for (uint32_t i = 0; type && i < type->n_graphs; i++)
        if (name_is(dump->module, key, type->graphs[i].attr))
            return true;
    return false;
}

static bool is_listed(const struct dump *dump, uint32_t key)
{
    for (const char *const *at = dump->options->keys; at && *at; at++)
        if (name_is(dump->module, key, *at))
            return true;
    return false;
}

/* Whether the node's operator decides about its attributes when it is translated. */
static bool is_foreign(const struct dump_node *node)
{
    return node->dialect != DIALECT_GE;
}

/* Whether the user wants an attribute that has no meaning of its own. */
static bool is_kept(const struct dump *dump, uint32_t type, uint32_t key)
{
    switch (dump->options->keep) {
    case DUMP_KEEP_ALL: return true;
    case DUMP_KEEP_NONE: return false;
    case DUMP_KEEP_LIST: return is_listed(dump, key);
    case DUMP_KEEP_KNOWN: break;
    }
    return type == NONE || is_of_type(dump, type, key);
}

bool dump_keeps(struct dump *dump, uint32_t type, const struct attr *attr)
{
    return find_key(dump, attr->key).own || is_kept(dump, type, attr->key) ||
           is_structure(dump, type, attr);
}

bool dump_wants(struct dump *dump, const struct dump_draft *draft, uint32_t key)
{
    uint32_t type = draft->node.type;
    struct key found = find_key(dump, key);
    return found.meaning != MEANS_NOTHING || found.own || is_foreign(&draft->node) ||
           is_kept(dump, type, key) || (key == W_value && dump_is_constant(dump, type));
}

static uint32_t string_of(const struct attr *attr)
{
    return attr->value.kind == ATTR_STRING ? attr->value.id : NONE;
}

/* A number of one that may be written as a string, as TorchAir does. */
static bool number_of(const struct dump *dump, const struct attr_value *value, int64_t *number)
{
    char text[16];
    int end = 0;
    *number = value->i;
    if (value->kind != ATTR_STRING)
        return value->kind == ATTR_INT;
    long long read;
    snprintf(text, sizeof text, "%.*s", NAME(dump->module, value->id));
    if (sscanf(text, "%lld%n", &read, &end) != 1 || text[end])
        return false;
    *number = read;
    return true;
}

/* Takes in what an attribute says. False where its value is not of the kind that says it. */
static bool apply(const struct dump *dump, struct dump_node *node, enum meaning meaning,
                  const struct attr *attr)
{
    int64_t number;
    uint32_t string = string_of(attr);
    switch (meaning) {
    case MEANS_SCOPE: node->scope = string; return string != NONE;
    case MEANS_OPTIONS: node->options = string; return string != NONE;
    case MEANS_STREAM: node->stream = string; return string != NONE;
    case MEANS_PRIORITY:
        if (!number_of(dump, &attr->value, &number) || number < -1024 || number > 1024)
            return false;
        node->priority = (int32_t)number;
        return true;
    default: return false;
    }
}

void dump_sort_attrs(struct dump *dump, struct dump_draft *draft)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < draft->attrs.count; i++) {
        struct attr attr = draft->attrs.at[i];
        struct key key = find_key(dump, attr.key);
        if (key.meaning != MEANS_NOTHING) {
            if (!apply(dump, &draft->node, key.meaning, &attr))
                dump_drop(dump, attr.loc, "the attribute '%.*s', whose value is of another kind",
                          NAME(dump->module, attr.key));
            continue;
        }
        if (draft->node.role == DUMP_PARAM && name_is(dump->module, attr.key, "index"))
            continue; /* the order of the parameters says it */
        if (is_foreign(&draft->node) || dump_keeps(dump, draft->node.type, &attr))
            draft->attrs.at[kept++] = attr;
    }
    draft->attrs.count = kept;
}

static void report_key(struct dump *dump, const char *key)
{
    struct module *module = dump->module;
    struct suggest suggest = {.wanted = key, .wanted_size = strlen(key)};
    uint32_t id = intern_find(&module->names, key, strlen(key));
    if (id != NONE && id_map_find(&dump->keys, id) != NONE)
        return;
    for (uint32_t i = id_map_next(&dump->keys, 0); i != NONE; i = id_map_next(&dump->keys, i + 1))
        suggest_offer(&suggest, module->names.names[i].text, module->names.names[i].size);
    diag_at(dump->diags, DIAG_idle_key, no_span, "--keep-attrs: no op has the attribute '%s'", key);
    diag_suggest(dump->diags, &suggest);
}

void dump_report_keys(struct dump *dump)
{
    for (const char *const *at = dump->options->keys; at && *at; at++)
        report_key(dump, *at);
}
