/* The parser's part for entries. */
#include "ir/core/kernel_args.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"
#include "ir/syntax/parser.h"

#include <ctype.h>
#include <string.h>

void parse_entry_begin(struct parser *parser, struct span span, uint32_t name,
                       struct span type_span, uint32_t type, struct range attrs)
{
    enum kernel_type kernel_type = parse_kernel_type(parser, type_span, type);
    parse_refuse_included(parser, span, "an entry");
    assert(!parser->graph && !parser->entry && parser_is_between(parser));
    parser->entry = module_add_entry(parser->module, name, kernel_type);
    parser->entry->loc = span.begin;
    parser->entry->attrs = attrs;
    parser->open_braces = 1;
}

void parse_entry_end(struct parser *parser, struct span span)
{
    assert(!parser->program && parser_is_between(parser));
    struct entry *entry = parser->entry;
    entry->end_loc = span.begin;
    parse_entry_leave(parser);
    parser->open_braces = 0;
}

void parse_entry_leave(struct parser *parser)
{
    for (uint32_t i = 0; parser->entry && i < parser->entry->groups.count; i++) {
        const struct arg_group *group = &parser->entry->groups.at[i];
        if (group->name != NONE)
            id_map_unset(&parser->groups[group->word], group->name);
    }
    parser->entry = NULL;
    parser->program = NULL;
    parser->scanner.in_program = false;
}

/* ---------------------------------------------------------------------------- groups ---- */

/* Programs name groups, and unnamed ones are behind the last op's. */
static void check_group(struct parser *parser, struct span span, uint32_t name, bool word)
{
    const struct entry *entry = parser->entry;
    uint32_t count = entry->groups.count;
    if (entry->programs[CORE_AIC].present || entry->programs[CORE_AIV].present)
        diag_at(parser->diags, DIAG_nesting, span,
                "the arguments of an entry stand before its programs");
    if (name != NONE && count > 0 && entry->groups.at[count - 1].name == NONE &&
        diag_at(parser->diags, DIAG_nesting, span, "a group with a name stands behind one without"))
        diag_help(parser->diags,
                  "slots without a name, such as [sync_workspace], stand behind those of all ops");
    if (name != NONE && id_map_find(&parser->groups[word], name) != NONE)
        diag_at(parser->diags, DIAG_duplicate, span, "the entry has two groups '%s%.*s'",
                word ? "" : "%", NAME(parser->module, name));
}

void parse_group(struct parser *parser, uint64_t args, uint32_t name, bool word)
{
    uint32_t begin = token_begin(args);
    struct span span = {begin, begin + parser->module->names.names[token_id(args)].size};
    if (token_id(args) != W_args) {
        struct suggest suggest = name_suggest(parser->module, token_id(args));
        name_offer(&suggest, parser->module, W_args);
        if (diag_at(parser->diags, DIAG_syntax, span,
                    "expected 'args', 'aic' or 'aiv', found '%.*s'",
                    NAME(parser->module, token_id(args))))
            diag_suggest(parser->diags, &suggest);
    }
    check_group(parser, span, name, word);
    if (name != NONE && id_map_find(&parser->groups[word], name) == NONE)
        id_map_set(&parser->groups[word], name, parser->entry->groups.count);
    entry_add_group(parser->entry, name, word, begin);
}

void parse_arg(struct parser *parser, enum arg_kind kind, uint32_t id, uint32_t values)
{
    struct entry *entry = parser->entry;
    struct arg arg = {.kind = (uint16_t)kind, .id = id};
    if (kind == ARG_LIST) {
        arg.id = entry->listed.count;
        arg.count = values;
        parser->ids.count -= values;
        for (uint32_t i = 0; i < values; i++)
            vec_push(&entry->listed, parser->ids.at[parser->ids.count + i]);
    }
    entry_add_arg(entry, arg);
}

/* -------------------------------------------------------------------------- programs ---- */

void parse_program_begin(struct parser *parser, struct span span, uint32_t word)
{
    parser->open_braces = 2;
    if (word != W_aic && word != W_aiv) {
        diag_at(parser->diags, DIAG_syntax, span, "expected 'aic' or 'aiv', found '%.*s'",
                NAME(parser->module, word));
        word = W_aic;
    }
    struct program *program = &parser->entry->programs[word == W_aic ? CORE_AIC : CORE_AIV];
    if (program->present)
        diag_at(parser->diags, DIAG_duplicate, span, "the entry has two programs for '%.*s'",
                NAME(parser->module, word));
    program->present = true;
    program->loc = span.begin;
    parser->program = program;
    parser->scanner.in_program = true;
}

void parse_program_end(struct parser *parser, struct span span)
{
    parser->program->end_loc = span.begin;
    parser->program = NULL;
    parser->scanner.in_program = false;
    parser->open_braces = 1;
}

/* ---------------------------------------------------------------------- instructions ---- */

/* `@k.aic` is the kernel k and its part for cube cores. */
static void split_part(struct parser *parser, struct instr *instr, uint32_t symbol)
{
    const struct intern_name name = parser->module->names.names[symbol];
    instr->part = CORE_TYPES;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (name.size > 4 && name.text[name.size - 4] == '.' &&
            memcmp(name.text + name.size - 3, core_type_name(core), 3) == 0) {
            instr->part = (uint8_t)core;
            symbol = intern_copy(&parser->module->names, name.text, name.size - 4);
        }
    }
    instr->kernel = symbol;
}

static void take_number(struct parser *parser, struct span span, uint32_t *number, int64_t i)
{
    if (i < 0 || i > UINT32_MAX - 1)
        diag_at(parser->diags, DIAG_number_range, span,
                "%lld is out of range: numbers of instructions are 0 to 4294967294", (long long)i);
    *number = (uint32_t)i;
}

static bool take_choice(struct instr *instr, uint32_t word, const uint32_t *choices, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (word == choices[i]) {
            instr->word = (uint8_t)i;
            return true;
        }
    }
    return false;
}

/* Whether the value names a group; `*word` is whether that is a word. */
static bool is_group_name(const struct attr_value *value, bool *word)
{
    *word = value && value->kind != ATTR_VALUE;
    return value &&
           (value->kind == ATTR_VALUE || value->kind == ATTR_WORD || value->kind == ATTR_STRING);
}

static void unknown_group(struct parser *parser, struct span span, uint32_t name, bool word)
{
    struct suggest suggest = name_suggest(parser->module, name);
    suggest.before = word ? "" : "%";
    if (!diag_at(parser->diags, DIAG_unknown_group, span,
                 "the entry has no arguments 'args %s%.*s'", word ? "" : "%",
                 NAME(parser->module, name)))
        return;
    for (uint32_t i = 0; i < parser->entry->groups.count; i++)
        if (parser->entry->groups.at[i].name != NONE && parser->entry->groups.at[i].word == word)
            name_offer(&suggest, parser->module, parser->entry->groups.at[i].name);
    diag_suggest(parser->diags, &suggest);
}

/* Takes the name of a group; false where it is none. */
static bool take_group(struct parser *parser, struct span span, uint32_t *number,
                       const struct attr_value *value)
{
    bool word;
    if (!is_group_name(value, &word))
        return false;
    *number = id_map_find(&parser->groups[word], value->id);
    if (*number == NONE)
        unknown_group(parser, span, value->id, word);
    return true;
}

/* An event, or the lock of a group where `lock` allows it. */
static const char *take_event(struct parser *parser, struct span span, struct instr *instr,
                              const struct attr_value **value, const struct attr_value *end,
                              bool lock)
{
    const struct attr_value *event = *value;
    if (event == end)
        return lock ? "an event, or 'lock' and a group" : "an event";
    (*value)++;
    instr->number[0] = event->id;
    if (!lock || *value == end)
        return NULL;
    if (event->id != W_lock)
        return "one event";
    instr->word = 1;
    take_group(parser, span, &instr->number[0], (*value)++);
    return NULL;
}

/* What may stand in place of a word-like operand, in the order of instr.word. */
static const struct {
    char operand;
    unsigned count;
    uint32_t words[3];
    const char *text;
} choices[] = {
    {'G', 2, {W_aic, W_aiv}, "'aic' or 'aiv'"},
    {'F', 2, {W_c2v, W_v2c}, "'c2v' or 'v2c'"},
    {'P', 3, {W_begin, W_end, W_complement}, "'begin', 'end' or 'complement'"},
    {'B', 2, {W_begin, W_end}, "'begin' or 'end'"},
    {'A', 1, {W_all}, "'all'"},
};

/* Takes one operand; returns NULL, or what was expected in its place. */
static const char *take_operand(struct parser *parser, struct span span, struct instr *instr,
                                unsigned *n_numbers, char operand, const struct attr_value *value)
{
    if (operand == 'N') {
        if (!value || value->kind != ATTR_INT)
            return "a number";
        take_number(parser, span, &instr->number[(*n_numbers)++], value->i);
        return NULL;
    }
    if (operand == 'S')
        return take_group(parser, span, &instr->number[(*n_numbers)++], value)
                   ? NULL
                   : "a group of arguments (%name)";
    if (operand == 'K') {
        if (!value || value->kind != ATTR_SYMBOL)
            return "a kernel (@name)";
        split_part(parser, instr, value->id);
        return NULL;
    }
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (choices[i].operand == operand)
            return value && value->kind == ATTR_WORD &&
                           take_choice(instr, value->id, choices[i].words, choices[i].count)
                       ? NULL
                       : choices[i].text;
    return "nothing more";
}

/* Takes what a call says of early start, which may be nothing; returns what was expected where
 * `early_wait` stands alone, else NULL. */
static const char *take_early(struct instr *instr, const struct attr_value **value,
                              const struct attr_value *end)
{
    static const uint32_t waits[] = {0, W_aic, W_aiv, W_mix};
    const struct attr_value *next = *value;
    if (next < end && next->kind == ATTR_WORD && next->id == W_early_wait) {
        next++;
        for (uint8_t i = 1; next < end && i < sizeof waits / sizeof waits[0]; i++)
            if (next->kind == ATTR_WORD && next->id == waits[i])
                instr->early = i;
        if (!instr->early)
            return "'aic', 'aiv' or 'mix'";
        next++;
    }
    if (next < end && next->kind == ATTR_WORD && next->id == W_early_set) {
        instr->early |= EARLY_SET;
        next++;
    }
    *value = next;
    return NULL;
}

/* Takes what stands for one element of an instruction's form (`size` bytes at `form`) from the
 * values before `end`; returns NULL, or what was expected in its place, which has `*expected_size`
 * bytes. */
static const char *take_element(struct parser *parser, struct span span, struct instr *instr,
                                unsigned *n_numbers, const char *form, size_t size,
                                const struct attr_value **value, const struct attr_value *end,
                                size_t *expected_size)
{
    const char *expected;
    if (*form == 'E') {
        expected = take_early(instr, value, end);
    } else if (*form == 'V' || *form == 'L') {
        expected = take_event(parser, span, instr, value, end, *form == 'L');
    } else {
        const struct attr_value *next = *value < end ? (*value)++ : NULL;
        if (*form >= 'a' && *form <= 'z') {
            bool word = next && next->kind == ATTR_WORD;
            const struct intern_name *name = word ? &parser->module->names.names[next->id] : NULL;
            *expected_size = size;
            return word && name->size == size && memcmp(name->text, form, size) == 0 ? NULL : form;
        }
        expected = take_operand(parser, span, instr, n_numbers, *form, next);
    }
    *expected_size = expected ? strlen(expected) : 0;
    return expected;
}

static void add_meaning(struct text *text, const char *form, char letter, const char *meaning)
{
    if (strchr(form, letter))
        text_printf(text, "%s%c is %s", text->size ? ", " : ", where ", letter, meaning);
}

/* What the letters of a form stand for: ", where K is a kernel, N is a number". */
static struct text form_legend(const char *form)
{
    struct text text = {NULL, 0, 0};
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        add_meaning(&text, form, choices[i].operand, choices[i].text);
    add_meaning(&text, form, 'K', "a kernel");
    add_meaning(&text, form, 'S', "a group of arguments");
    add_meaning(&text, form, 'N', "a number");
    add_meaning(&text, form, 'V', "an event");
    add_meaning(&text, form, 'L', "an event, or 'lock' and a group of arguments");
    add_meaning(&text, form, 'E', "nothing, 'early_wait aic' (or aiv, mix), 'early_set' or both");
    return text;
}

/* Takes all operands; returns NULL, or what was expected where one is wrong. */
static const char *take_operands(struct parser *parser, struct span span, struct instr *instr,
                                 const struct attr_value *value, uint32_t count,
                                 size_t *expected_size)
{
    const struct attr_value *end = value + count;
    const char *form = instr_info(instr->op)->operands, *expected = NULL;
    unsigned n_numbers = 0;
    bool word;
    if (instr->op == INSTR_call && count == 1 && is_group_name(value, &word)) {
        instr->part = CORE_TYPES; /* `call %m`: the op says the rest */
        instr->number[0] = value->id;
        instr->word = word;
        return NULL;
    }
    for (const char *p = form; *p && !expected;) {
        size_t size = strcspn(p, " ");
        expected =
            take_element(parser, span, instr, &n_numbers, p, size, &value, end, expected_size);
        p += size + (p[size] == ' ');
    }
    if (!expected && value < end) {
        expected = *form ? "no more operands" : "no operands";
        *expected_size = strlen(expected);
    }
    return expected;
}

/* Behind blanks and comments. */
static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (isspace((unsigned char)*p) || *p == '/'))
        if (*p++ == '/')
            while (p < end && *p != '\n')
                p++;
    return p;
}

/* The n-th operand of an instruction, where none has blanks. */
static struct span operand_span(const struct parser *parser, struct span span, uint32_t n)
{
    const char *p = scanner_text(&parser->scanner, span.begin), *begin = p;
    const char *end = scanner_text(&parser->scanner, span.end);
    for (uint32_t token = 0; token <= n + 1; token++) {
        begin = p = skip_space(p, end);
        while (p < end && !isspace((unsigned char)*p))
            p++;
    }
    return (struct span){scanner_offset(&parser->scanner, begin),
                         scanner_offset(&parser->scanner, p)};
}

/* Whether a span begins a line. */
static bool begins_line(const struct parser *parser, struct span span)
{
    const char *first = parser->scanner.first, *p = scanner_text(&parser->scanner, span.begin);
    while (p > first && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    return p == first || p[-1] == '\n';
}

/* Words that are no instructions are taken for operands of the one before. Whether one of those
 * that are left is meant as one: it begins a line, or is nearly one. */
static bool report_unknown_instr(struct parser *parser, struct span span, uint32_t count)
{
    const struct attr_value *values = parser->values.at + parser->values.count;
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].kind != ATTR_WORD)
            continue;
        struct span at = operand_span(parser, span, i);
        struct suggest suggest = name_suggest(parser->module, values[i].id);
        for (unsigned op = 0; op < INSTR_COUNT; op++)
            suggest_offer_text(&suggest, instr_info((enum instr_op)op)->name);
        if (!begins_line(parser, at) && (!suggest.best || values[i].id < W_COUNT))
            continue;
        if (diag_at(parser->diags, DIAG_instr_operands, at, "unknown instruction '%.*s'",
                    NAME(parser->module, values[i].id)) &&
            !diag_suggest(parser->diags, &suggest))
            diag_help(parser->diags,
                      "an instruction ends with its operands; docs/language.md lists "
                      "those that there are");
        return true;
    }
    return false;
}

void parse_instr(struct parser *parser, struct span span, uint32_t mnemonic, uint32_t count)
{
    const struct instr_info *info = instr_info(mnemonic - W_DTYPE_END);
    struct instr instr = {
        .op = (uint8_t)(mnemonic - W_DTYPE_END), .loc = span.begin, .kernel = NONE};
    assert((unsigned)instr.op < INSTR_COUNT && count == parser->values.count);
    parser->values.count -= count;
    size_t expected_size = 0;
    const char *expected = take_operands(
        parser, span, &instr, parser->values.at + parser->values.count, count, &expected_size);
    if (!expected) {
        vec_push(&parser->program->instrs, instr);
    } else if (report_unknown_instr(parser, span, count)) {
        return;
    } else if (diag_at(parser->diags, DIAG_instr_operands, span, "'%s' expects %.*s here",
                       info->name, (int)expected_size, expected)) {
        struct text legend = form_legend(info->operands);
        diag_help(parser->diags, "the form is '%s%s%s'%.*s", info->name, *info->operands ? " " : "",
                  info->operands, (int)legend.size, legend.at ? legend.at : "");
        text_free(&legend);
    }
}
