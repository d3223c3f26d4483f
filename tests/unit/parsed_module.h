/* A module with the text that it was parsed from, for tests. */
#ifndef TESTS_UNIT_PARSED_MODULE_H
#define TESTS_UNIT_PARSED_MODULE_H

#include "ir/syntax/parse.h"
#include "ir/syntax/print.h"
#include "ir/verify/verify.h"

struct parsed_module {
    char *copy; /* of the text: a source may change it */
    struct source source;
    struct diags diags;
    struct spans comments;
    struct module *module; /* NULL where the text does not follow the grammar */
};

static inline void parsed_init(struct parsed_module *parsed, const char *text, size_t size)
{
    *parsed = (struct parsed_module){.copy = mem_realloc(NULL, size + 1, 1)};
    if (size)
        memcpy(parsed->copy, text, size);
    parsed->copy[size] = '\0';
    diags_init(&parsed->diags, &parsed->source, "test.skir");
    if (source_init(&parsed->source, "test.skir", parsed->copy, size))
        parsed->module = parse_module(&parsed->source, &parsed->diags, &parsed->comments);
}

static inline void parsed_free(struct parsed_module *parsed)
{
    module_free(parsed->module);
    vec_free(&parsed->comments);
    source_free(&parsed->source);
    diags_free(&parsed->diags);
    mem_free(parsed->copy);
}

/* Canonical text, NUL-terminated behind its size. */
static inline struct text parsed_print(const struct parsed_module *parsed, bool comments)
{
    struct text text = {NULL, 0, 0};
    print_module(&text, parsed->module, comments ? &parsed->comments : NULL);
    text_char(&text, '\0');
    text.size--;
    return text;
}

#endif
