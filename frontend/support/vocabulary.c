#include "frontend/support/vocabulary.h"

#include <string.h>

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

/* ------------------------------------------------------------------------------- sets ---- */

static const char *const COLOURS[] = {"auto", "always", "never", NULL};
static const char *const COMPARED[] = {"unfused", NULL};
static const char *const PARTITIONS[] = {"fewest", "reference", NULL};
static const char *const NAMES[] = {"own", "reference", NULL};

static const char *const PASSES[] = {
#define PASS(name, cli, where, needs, gives, changes, summary) cli,
#include "passes/passes.def"
#undef PASS
    NULL};

static const char *const PASS_LISTS[] = {"default",
#define PASS(name, cli, where, needs, gives, changes, summary) cli,
#include "passes/passes.def"
#undef PASS
                                         NULL};

static const char *const SK_OPTIONS[] = {
#define SK_OPTION(name, text, kind, low, high, absent, words, help) text "=",
#include "ir/sk_options.def"
#undef SK_OPTION
    NULL};

static const char *const TARGETS[] = {
#define BACKEND(name, summary, runs, functions) #name,
#include "backend/backends.def"
#undef BACKEND
    NULL};

static const char *const RUNNERS[] = {
#define RUNS_yes(name) #name,
#define RUNS_no(name)
#define BACKEND(name, summary, runs, functions) RUNS_##runs(name)
#include "backend/backends.def"
#undef BACKEND
    NULL};

static const char *const EMISSIONS[] = {
#define EMISSION(target, name, kind, suffix, make, summary) name,
#include "backend/backends.def"
#undef EMISSION
    NULL};

#define IF_yes(cli) cli,
#define IF_some(cli) cli,
#define IF_graph(cli) cli,
#define IF_no(cli)
static const char *const READ_FORMATS[] = {
#define FORMAT(name, cli, suffix, reads, writes, summary) IF_##reads(cli)
#include "frontend/exchange/exchange.def"
#undef FORMAT
    NULL};

static const char *const WRITTEN_FORMATS[] = {
#define FORMAT(name, cli, suffix, reads, writes, summary) IF_##writes(cli)
#include "frontend/exchange/exchange.def"
#undef FORMAT
    NULL};

/* ---------------------------------------------------------------------------- options ---- */

static const struct row {
    const char *command, *option;
    struct option_values values;
} rows[] = {
#define VALUES(command, option, set, between) {command, option, {VALUE_WORDS, set, between}},
#include "frontend/support/values.def"
#undef VALUES
};

/* FILE, FILE.json, NAME=FILE.npy, OUT, OUT.skir */
static bool names_file(const char *metavar)
{
    return strstr(metavar, "FILE") || strncmp(metavar, "OUT", 3) == 0;
}

struct option_values option_values(const struct command *command, const struct option *option)
{
    if (!option->metavar)
        return (struct option_values){.kind = VALUE_NONE};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].option, option->name) == 0 &&
            (!*rows[i].command || strcmp(rows[i].command, command->name) == 0))
            return rows[i].values;
    if (strcmp(option->metavar, "DIR") == 0)
        return (struct option_values){.kind = VALUE_FOLDER};
    return (struct option_values){.kind = names_file(option->metavar) ? VALUE_FILE : VALUE_ANY};
}
