#include "ir/base/text.h"

#include <math.h>
#include <stdio.h>

void text_grow(struct text *text, size_t extra)
{
    size_t need = text->size + extra;
    size_t capacity = text->capacity + text->capacity / 2 + 256;
    text->capacity = capacity > need ? capacity : need;
    text->at = mem_realloc(text->at, text->capacity, 1);
}

void text_free(struct text *text)
{
    mem_free(text->at);
    *text = (struct text){NULL, 0, 0};
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size > 0) {
        if (text->capacity - text->size <= (size_t)size)
            text_grow(text, (size_t)size + 1);
        vsnprintf(text->at + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
}

void text_unsigned(struct text *text, uint64_t number)
{
    char digits[20], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + number % 10);
    while (number /= 10);
    text_bytes(text, p, (size_t)(digits + sizeof digits - p));
}

void text_signed(struct text *text, int64_t number)
{
    if (number < 0)
        text_char(text, '-');
    text_unsigned(text, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void text_double(struct text *text, double number)
{
    char digits[40];
    if (isnan(number)) {
        text_string(text, "nan");
        return;
    }
    if (isinf(number)) {
        text_string(text, number < 0 ? "-inf" : "inf");
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    /* The exponent form of printf may lack a point ("1e+20"), which the scanner takes as it is. */
    text_string(text, digits);
    if (!strpbrk(digits, ".e"))
        text_string(text, ".0");
}

void text_quoted(struct text *text, const char *bytes, size_t size)
{
    text_char(text, '"');
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        switch (byte) {
        case '\n': text_string(text, "\\n"); break;
        case '\t': text_string(text, "\\t"); break;
        case '\r': text_string(text, "\\r"); break;
        case '"':
        case '\\':
            text_char(text, '\\');
            text_char(text, (char)byte);
            break;
        default:
            if (byte < 0x20 || byte == 0x7f)
                text_printf(text, "\\x%02x", byte);
            else
                text_char(text, (char)byte);
        }
    }
    text_char(text, '"');
}

/* ----------------------------------------------------------------- names and types ---- */

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
static inline bool text_plain(struct text *text, const struct intern_name *name, unsigned class)
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

void text_word(struct text *text, const struct module *module, uint32_t id)
{
    const struct intern_name *name = &module->names.names[id];
    bool word = name->size > 0 && char_class[(unsigned char)name->text[0]] & CHAR_FIRST &&
                !is_number_word(name);
    if (!word || !text_plain(text, name, CHAR_WORD))
        text_quoted(text, name->text, name->size);
}

static void text_sigil(struct text *text, const struct module *module, char sigil, uint32_t id)
{
    const struct intern_name *name = &module->names.names[id];
    text_char(text, sigil);
    if (!text_plain(text, name, CHAR_NAME))
        text_quoted(text, name->text, name->size);
}

void text_value(struct text *text, const struct module *module, uint32_t name)
{
    text_sigil(text, module, '%', name);
}

void text_symbol(struct text *text, const struct module *module, uint32_t name)
{
    text_sigil(text, module, '@', name);
}

void text_type(struct text *text, const struct module *module, uint32_t id)
{
    const struct type *type = &module->types.at[id];
    const int64_t *dims = type_dims(module, id);
    text_string(text, dtype_info(type->dtype)->name);
    text_char(text, '[');
    for (uint32_t i = 0; i < type->rank; i++) {
        if (i)
            text_bytes(text, ", ", 2);
        if (dims[i] == DIM_UNKNOWN)
            text_char(text, '?');
        else if (dim_is_gear(dims[i]))
            text_word(text, module, dim_gear(dims[i]));
        else
            text_signed(text, dims[i]);
    }
    text_char(text, ']');
    if (type->format != W_ND) {
        text_char(text, ':');
        text_word(text, module, type->format);
    }
}

/* ---------------------------------------------------------------------- instructions ---- */

static void text_early(struct text *text, unsigned early)
{
    static const char *const waits[] = {"", " early_wait aic", " early_wait aiv",
                                        " early_wait mix"};
    text_string(text, waits[early & EARLY_WAIT_MIX]);
    if (early & EARLY_SET)
        text_string(text, " early_set");
}

static void text_operand(struct text *text, const struct module *module, const struct instr *instr,
                         char operand, unsigned *n_numbers)
{
    static const char *const phases[] = {"begin", "end", "complement"};
    switch (operand) {
    case 'K':
        text_symbol(text, module, instr->kernel);
        if (instr->part < CORE_TYPES) {
            text_char(text, '.');
            text_string(text, core_type_name(instr->part));
        }
        break;
    case 'N': text_unsigned(text, instr->number[(*n_numbers)++]); break;
    case 'G': text_string(text, core_type_name(instr->word)); break;
    case 'F': text_string(text, instr->word == CORE_AIC ? "c2v" : "v2c"); break;
    case 'A': text_string(text, "all"); break;
    case 'E': text_early(text, instr->early); break;
    default: text_string(text, phases[instr->word]); break;
    }
}

void text_instr(struct text *text, const struct module *module, const struct instr *instr)
{
    const struct instr_info *info = instr_info(instr->op);
    unsigned n_numbers = 0;
    text_string(text, info->name);
    for (const char *p = info->operands; *p;) {
        size_t size = strcspn(p, " ");
        if (*p != 'E')
            text_char(text, ' ');
        if (*p >= 'a' && *p <= 'z')
            text_bytes(text, p, size);
        else
            text_operand(text, module, instr, *p, &n_numbers);
        p += size + (p[size] == ' ');
    }
}
