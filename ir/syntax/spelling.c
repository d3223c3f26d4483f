#include "ir/syntax/spelling.h"
#include "ir/core/operands.h"
#include "ir/support/escapes.h"

void spell_quoted(struct text *text, const char *bytes, size_t size)
{
    text_char(text, '"');
    escape_put(text, bytes, size, ESCAPE_HEX);
    text_char(text, '"');
}

/* ---------------------------------------------------------------------------- names ---- */

enum { CHAR_WORD = 1, CHAR_FIRST = 2, CHAR_NAME = 4 };

/* Which bytes may stand in words (first, later) and in names behind % and @. */
static const unsigned char char_class[256] = {
    ['a' ... 'z'] = CHAR_WORD | CHAR_FIRST | CHAR_NAME,
    ['A' ... 'Z'] = CHAR_WORD | CHAR_FIRST | CHAR_NAME,
    ['_'] = CHAR_WORD | CHAR_FIRST | CHAR_NAME,
    ['0' ... '9'] = CHAR_WORD | CHAR_NAME,
    ['.'] = CHAR_NAME,
    ['$'] = CHAR_NAME,
};

/* Appends a name if it has any bytes and all of them are of the class. */
static inline bool add_plain(struct text *text, const struct intern_name *name, unsigned class)
{
    const char *from = name->text;
    size_t size = name->size;
    if (text->capacity - text->size <= size)
        text_grow(text, size);
    char *to = text->at + text->size;
    unsigned common = size > 0 ? class : 0;
    for (size_t i = 0; i < size; i++) {
        to[i] = from[i];
        common &= char_class[(unsigned char)from[i]];
    }
    text->size += common ? size : 0;
    return common;
}

/* A word that the scanner takes for a number. */
static inline bool is_number_word(const struct intern_name *name)
{
    return name->size == 3 &&
           (memcmp(name->text, "inf", 3) == 0 || memcmp(name->text, "nan", 3) == 0);
}

bool is_plain_word(const struct module *module, uint32_t id)
{
    const struct intern_name *name = &module->names.names[id];
    unsigned common = name->size ? char_class[(unsigned char)name->text[0]] & CHAR_FIRST : 0;
    for (size_t i = 0; i < name->size; i++)
        common &= char_class[(unsigned char)name->text[i]] & CHAR_WORD ? CHAR_FIRST : 0;
    return common && !is_number_word(name) && id != W_true && id != W_false;
}

void spell_word(struct text *text, const struct module *module, uint32_t id)
{
    const struct intern_name *name = &module->names.names[id];
    bool word = name->size > 0 && char_class[(unsigned char)name->text[0]] & CHAR_FIRST &&
                !is_number_word(name);
    if (!word || !add_plain(text, name, CHAR_WORD))
        spell_quoted(text, name->text, name->size);
}

static void spell_sigil(struct text *text, const struct module *module, char sigil, uint32_t id)
{
    const struct intern_name *name = &module->names.names[id];
    text_char(text, sigil);
    if (!add_plain(text, name, CHAR_NAME))
        spell_quoted(text, name->text, name->size);
}

void spell_value(struct text *text, const struct module *module, uint32_t name)
{
    spell_sigil(text, module, '%', name);
}

void spell_symbol(struct text *text, const struct module *module, uint32_t name)
{
    spell_sigil(text, module, '@', name);
}

void spell_type(struct text *text, const struct module *module, uint32_t id)
{
    const struct type *type = &module->types.at[id];
    const int64_t *dims = type_dims(module, id);
    if (type->dtype == DTYPE_TOKEN) {
        text_string(text, "token");
        return;
    }
    text_string(text, dtype_info(type->dtype)->name);
    text_char(text, '[');
    if (type->rank == RANK_UNKNOWN)
        text_bytes(text, "..", 2);
    for (uint32_t i = 0; i < type_n_dims(type); i++) {
        if (i)
            text_bytes(text, ", ", 2);
        if (dims[i] == DIM_UNKNOWN)
            text_char(text, '?');
        else if (dim_is_gear(dims[i]))
            text_bytes(text, module->names.names[dim_gear(dims[i])].text,
                       module->names.names[dim_gear(dims[i])].size);
        else
            text_signed(text, dims[i]);
    }
    text_char(text, ']');
    if (type->format != W_ND) {
        text_char(text, ':');
        spell_word(text, module, type->format);
    }
}

void spell_event(struct text *text, const struct module *module, uint32_t name)
{
    text_bytes(text, module->names.names[name].text, module->names.names[name].size);
}

/* ----------------------------------------------------------------------- arguments ---- */

/* A word that the scanner takes for something else is quoted. */
void spell_group(struct text *text, const struct module *module, uint32_t name, bool word)
{
    if (!word)
        spell_value(text, module, name);
    else if (name < W_INSTR_END)
        spell_quoted(text, module->names.names[name].text, module->names.names[name].size);
    else
        spell_word(text, module, name);
}

static void spell_listed(struct text *text, const struct module *module, const struct entry *entry,
                         const struct arg *arg)
{
    text_char(text, '[');
    for (uint32_t i = 0; i < arg->count; i++) {
        if (i)
            text_bytes(text, ", ", 2);
        spell_value(text, module, entry->listed.at[arg->id + i]);
    }
    text_char(text, ']');
}

void spell_arg(struct text *text, const struct module *module, const struct entry *entry,
               const struct arg *arg)
{
    switch ((enum arg_kind)arg->kind) {
    case ARG_VALUE: spell_value(text, module, arg->id); break;
    case ARG_NONE: text_string(text, "none"); break;
    case ARG_LIST: spell_listed(text, module, entry, arg); break;
    case ARG_WORD: spell_word(text, module, arg->id); break;
    case ARG_SEND:
    case ARG_RECV:
        text_string(text, arg->kind == ARG_SEND ? "send " : "recv ");
        spell_event(text, module, arg->id);
        break;
    }
}

/* ---------------------------------------------------------------------- instructions ---- */

static void spell_group_of(struct text *text, const struct module *module,
                           const struct entry *entry, uint32_t group)
{
    spell_group(text, module, entry->groups.at[group].name, entry->groups.at[group].word);
}

static void spell_instr_operand(struct text *text, const struct module *module,
                                const struct entry *entry, const struct instr *instr, char operand,
                                unsigned *n_numbers)
{
    static const char *const phases[] = {"begin", "end", "complement"};
    static const char *const waits[] = {"", " early_wait aic", " early_wait aiv",
                                        " early_wait mix"};
    switch (operand) {
    case 'K':
        spell_symbol(text, module, instr->kernel);
        if (instr->part < CORE_TYPES) {
            text_char(text, '.');
            text_string(text, core_type_name(instr->part));
        }
        break;
    case 'N': text_unsigned(text, instr->number[(*n_numbers)++]); break;
    case 'S': spell_group_of(text, module, entry, instr->number[(*n_numbers)++]); break;
    case 'V':
    case 'L':
        if (instr->word) {
            text_string(text, "lock ");
            spell_group_of(text, module, entry, instr->number[0]);
        } else {
            spell_event(text, module, instr->number[0]);
        }
        break;
    case 'G': text_string(text, core_type_name(instr->word)); break;
    case 'F': text_string(text, instr->word == CORE_AIC ? "c2v" : "v2c"); break;
    case 'A': text_string(text, "all"); break;
    case 'E':
        text_string(text, waits[instr->early & EARLY_WAIT_MIX]);
        text_string(text, instr->early & EARLY_SET ? " early_set" : "");
        break;
    default: text_string(text, phases[instr->word]); break;
    }
}

void spell_instr(struct text *text, const struct module *module, const struct entry *entry,
                 const struct instr *instr)
{
    const struct instr_info *info = instr_info(instr->op);
    unsigned n_numbers = 0;
    text_string(text, info->name);
    if (instr->op == INSTR_call && instr->kernel == NONE) {
        text_char(text, ' ');
        spell_group(text, module, instr->number[0], instr->word);
        return;
    }
    for (const char *p = info->operands; *p;) {
        size_t size = strcspn(p, " ");
        if (*p != 'E')
            text_char(text, ' ');
        if (*p >= 'a' && *p <= 'z')
            text_bytes(text, p, size);
        else
            spell_instr_operand(text, module, entry, instr, *p, &n_numbers);
        p += size + (p[size] == ' ');
    }
}

/* ------------------------------------------------------------------------ slots, ops ---- */

void spell_slot(struct text *text, const struct module *module, const struct graph *graph,
                struct slot slot)
{
    if (slot.kind == SLOT_TENSOR) {
        spell_value(text, module, graph->values.at[slot.id].name);
    } else if (slot.kind == SLOT_NONE || slot.kind == SLOT_LIST) {
        struct operand operand = {OPERAND_NONE, NONE, {0, 0}};
        if (slot.kind == SLOT_LIST)
            operand = graph->forms.at[slot.id];
        operand.label = NONE;
        spell_operand(text, module, graph, operand);
    } else if (slot.kind == SLOT_SEND || slot.kind == SLOT_RECV) {
        text_string(text, slot.kind == SLOT_SEND ? "send " : "recv ");
        spell_event(text, module, slot.id);
    } else {
        spell_word(text, module, slot_word(slot));
    }
}

/* The text as a string in the arena; it is freed. */
static const char *take_text(struct text *text, struct arena *arena)
{
    const char *copy = arena_strndup(arena, text->at, text->size);
    text_free(text);
    return copy;
}

const char *op_text(const struct module *module, const struct graph *graph, const struct op *op,
                    struct arena *arena)
{
    struct text text = {NULL, 0, 0};
    spell_word(&text, module, op->type);
    if (op->results.count) {
        text_char(&text, ' ');
        spell_value(&text, module, graph->values.at[op->results.first].name);
    }
    return take_text(&text, arena);
}

void spell_operand(struct text *text, const struct module *module, const struct graph *graph,
                   struct operand operand)
{
    if (operand.label != NONE) {
        spell_word(text, module, operand.label);
        text_bytes(text, " = ", 3);
    }
    if (operand.kind == OPERAND_NONE)
        text_bytes(text, "none", 4);
    if (operand.kind == OPERAND_LIST)
        text_char(text, '[');
    for (uint32_t i = 0; i < operand.values.count; i++) {
        if (i)
            text_bytes(text, ", ", 2);
        spell_value(text, module, graph->values.at[graph->refs.at[operand.values.first + i]].name);
    }
    if (operand.kind == OPERAND_LIST)
        text_char(text, ']');
}

const char *op_call_text(const struct module *module, const struct graph *graph,
                         const struct op *op, struct arena *arena)
{
    uint32_t operands = op_n_places(graph, op), tensors = operands + op->results.count;
    const struct intern_name *type = &module->names.names[op->type];
    struct text text = {NULL, 0, 0};
    escape_put(&text, type->text, type->size, ESCAPE_HEX);
    for (uint32_t n = 0; n < tensors; n++) {
        text_string(&text, n ? ", " : "(");
        if (n < operands)
            spell_operand(&text, module, graph, op_operand(graph, op, n));
        else
            spell_value(&text, module, graph->values.at[op->results.first + (n - operands)].name);
    }
    if (tensors > 0)
        text_char(&text, ')');
    return take_text(&text, arena);
}

const char *type_text(const struct module *module, uint32_t type, struct arena *arena)
{
    struct text text = {NULL, 0, 0};
    spell_type(&text, module, type);
    return take_text(&text, arena);
}

const char *args_name_text(const struct module *module, uint32_t name, bool word,
                           struct arena *arena)
{
    struct text text = {NULL, 0, 0};
    spell_group(&text, module, name, word);
    return take_text(&text, arena);
}

const char *instr_text(const struct module *module, const struct entry *entry,
                       const struct instr *instr, struct arena *arena)
{
    struct text text = {NULL, 0, 0};
    spell_instr(&text, module, entry, instr);
    return take_text(&text, arena);
}
