#include "frontend/support/vocabulary.h"

const char *const vocabulary_keywords[] = {
#define KEYWORD(name) #name,
#include "ir/words.def"
#undef KEYWORD
    NULL};

const char *const vocabulary_words[] = {
#define WORD(name) #name,
#include "ir/words.def"
#undef WORD
    NULL};

const char *const vocabulary_instructions[] = {
#define INSTR(name, ...) #name,
#include "ir/instrs.def"
#undef INSTR
    NULL};

const char *const vocabulary_dtypes[] = {
#define DTYPE(name, ...) #name,
#include "ir/dtypes.def"
#undef DTYPE
    NULL};

const char *const vocabulary_formats[] = {
#define FORMAT(name, ...) #name,
#include "ir/formats.def"
#undef FORMAT
    NULL};

const char *const vocabulary_kernel_types[] = {
#define KERNEL_TYPE(name, ...) #name,
#include "ir/kernel_types.def"
#undef KERNEL_TYPE
    NULL};

const char *const vocabulary_sk_options[] = {
#define SK_OPTION(name, text, ...) text,
#include "ir/sk_options.def"
#undef SK_OPTION
    NULL};

const char *const vocabulary_directives[] = {"error",  "warning", "remark", "note",     "help",
                                             "expect", "also",    "fails",  "anywhere", "times",
                                             "time",   "not",     NULL};

void vocabulary_print(struct text *text, const char *const *words, const char *between)
{
    for (size_t i = 0; words[i]; i++)
        text_printf(text, "%s%s", i ? between : "", words[i]);
}
