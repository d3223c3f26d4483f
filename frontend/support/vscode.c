#include "frontend/support/support.h"
#include "frontend/support/vocabulary.h"

/* A rule of the grammar: words of a list, as a whole. */
static void print_words(struct text *text, const char *scope, const char *before,
                        const char *const *words, const char *behind)
{
    text_printf(text, "    {\"name\": \"%s.skir\", \"match\": \"%s(?:", scope, before);
    vocabulary_print(text, words, "|");
    text_printf(text, ")%s\"},\n", behind);
}

/* Rules count in this order. */
static const char begin[] =
    "{\n"
    "  \"$schema\": "
    "\"https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json\",\n"
    "  \"name\": \"skir\",\n"
    "  \"scopeName\": \"source.skir\",\n"
    "  \"fileTypes\": [\"skir\"],\n"
    "  \"patterns\": [\n"
    "    {\"name\": \"meta.directive.skir\", \"match\": \"//!.*$\"},\n"
    "    {\"name\": \"comment.line.double-slash.skir\", \"match\": \"//.*?(?=//!|$)\"},\n"
    "    {\"name\": \"variable.other.skir\", "
    "\"match\": \"%(?:[A-Za-z0-9_.$]+|\\\"(?:[^\\\"\\\\\\\\]|\\\\\\\\.)*\\\")\"},\n"
    "    {\"name\": \"entity.name.function.skir\", "
    "\"match\": \"@(?:[A-Za-z0-9_.$]+|\\\"(?:[^\\\"\\\\\\\\]|\\\\\\\\.)*\\\")\"},\n"
    "    {\"name\": \"string.quoted.double.skir\", \"begin\": \"\\\"\", "
    "\"end\": \"\\\"|$\", \"patterns\": [\n"
    "      {\"name\": \"constant.character.escape.skir\", \"match\": \"\\\\\\\\.\"},\n"
    "      {\"name\": \"support.type.property-name.skir\", \"match\": \"\\\\b(?:";

static const char end[] =
    "    {\"name\": \"support.function.skir\", "
    "\"match\": \"\\\\b[A-Za-z_]\\\\w*(?=\\\\s*\\\\()\"},\n"
    "    {\"name\": \"variable.parameter.skir\", "
    "\"match\": \"\\\\b[A-Za-z_]\\\\w*(?=\\\\s*=(?!=))\"},\n"
    "    {\"name\": \"constant.numeric.skir\", "
    "\"match\": \"\\\\b(?:0x[0-9A-Fa-f]+|[0-9]+(?:\\\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\\\\b\"}\n"
    "  ]\n"
    "}\n";

void support_vscode(const struct cli *cli, struct text *text)
{
    (void)cli;
    text_string(text, begin);
    vocabulary_print(text, vocabulary_sk_options, "|");
    text_string(text, ")(?==)\"}\n    ]},\n");
    print_words(text, "keyword.control", "\\\\b", vocabulary_keywords, "\\\\b");
    print_words(text, "storage.type", "\\\\b", vocabulary_dtypes, "\\\\b");
    print_words(text, "storage.modifier", "(?<=:)\\\\s*", vocabulary_formats, "\\\\b");
    print_words(text, "storage.type.kernel", "\\\\b", vocabulary_kernel_types, "\\\\b");
    print_words(text, "keyword.operator.instruction", "\\\\b", vocabulary_instructions, "\\\\b");
    print_words(text, "variable.language", "\\\\b", vocabulary_words, "\\\\b");
    text_string(text, end);
}
