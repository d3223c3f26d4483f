/* What fuzz targets hold about the text of a module. */
#ifndef TESTS_FUZZ_PRINTED_H
#define TESTS_FUZZ_PRINTED_H

#include "tests/unit/parsed_module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void give_up(const char *what, struct diags *diags)
{
    fprintf(stderr, "%s\n", what);
    if (diags)
        diags_print(diags, stderr, false);
    abort();
}

/* The canonical text must parse, and print as itself. */
static inline void check_printed(const struct text *printed, bool comments)
{
    struct parsed_module again;
    parsed_init(&again, printed->at, printed->size);
    if (!again.module)
        give_up("what was printed does not parse", &again.diags);
    struct text second = parsed_print(&again, comments);
    if (second.size != printed->size || memcmp(second.at, printed->at, second.size) != 0) {
        fprintf(stderr, "---- first\n%s\n---- second\n%s\n", printed->at, second.at);
        give_up("what was printed prints otherwise", NULL);
    }
    text_free(&second);
    parsed_free(&again);
}

static inline void print_and_check(const struct parsed_module *parsed, bool comments)
{
    struct text printed = parsed_print(parsed, comments);
    check_printed(&printed, comments);
    text_free(&printed);
}

#endif
