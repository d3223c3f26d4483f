/* What `skirc support` prints: completion of the command line for bash and zsh from the tables of
 * commands and options, syntaxes for Vim and VS Code from the tables of the language's words. */
#include "frontend/support/support.h"

#include <string.h>

/* ------------------------------------------------------------------------------- words ---- */

static const char *const KEYWORDS[] = {
#define KEYWORD(name) #name,
#include "ir/core/words.def"
#undef KEYWORD
    NULL};

static const char *const WORDS[] = {
#define WORD(name) #name,
#include "ir/core/words.def"
#undef WORD
    NULL};

static const char *const INSTRUCTIONS[] = {
#define INSTR(name, ...) #name,
#include "ir/core/instrs.def"
#undef INSTR
    NULL};

static const char *const DTYPES[] = {
#define DTYPE(name, ...) #name,
#include "ir/core/dtypes.def"
#undef DTYPE
    NULL};

static const char *const FORMATS[] = {
#define FORMAT(name, ...) #name,
#include "ir/core/formats.def"
#undef FORMAT
    NULL};

static const char *const KERNEL_TYPES[] = {
#define KERNEL_TYPE(name, ...) #name,
#include "ir/core/kernel_types.def"
#undef KERNEL_TYPE
    NULL};

static const char *const SK_OPTIONS[] = {
#define SK_OPTION(name, text, ...) text,
#include "ir/core/sk_options.def"
#undef SK_OPTION
    NULL};

static const char *const TARGETS[] = {
#define BACKEND(name, ...) #name,
#include "backend/target/backends.def"
#undef BACKEND
    NULL};

static const char *const RUNNERS[] = {
#define RUNS_yes(name) #name,
#define RUNS_no(name)
#define BACKEND(name, summary, runs, functions) RUNS_##runs(name)
#include "backend/target/backends.def"
#undef BACKEND
    NULL};

static const char *const EMISSIONS[] = {
#define EMISSION(target, name, ...) name,
#include "backend/target/backends.def"
#undef EMISSION
    NULL};

static const char *const PASS_LISTS[] = {"default",
#define PASS(name, cli, ...) cli,
#include "passes/manager/passes.def"
#undef PASS
                                         NULL};

#define IF_yes(cli) cli,
#define IF_some(cli) cli,
#define IF_graph(cli) cli,
#define IF_no(cli)
static const char *const READ_FORMATS[] = {
#define FORMAT(name, cli, suffix, reads, writes, summary) IF_##reads(cli)
#include "frontend/exchange.def"
#undef FORMAT
    NULL};

static const char *const WRITTEN_FORMATS[] = {
#define FORMAT(name, cli, suffix, reads, writes, summary) IF_##writes(cli)
#include "frontend/exchange.def"
#undef FORMAT
    NULL};

static const char *const COMPARED[] = {"unfused", NULL};

/* What values of options can be, besides those of OPTION_WORD. Options that are not here take
 * anything, or files where their metavar says so. */
static const struct completion {
    const char *command, *option; /* command: NULL for every one that has the option */
    const char *const *words;
    char between;       /* of several words in one value; 0: there is one */
    const char *ending; /* of each word */
} completions[] = {
    {NULL, "passes", PASS_LISTS, ',', ""},
    {NULL, "print-after", PASS_LISTS + 1, ',', ""},
    {NULL, "start-after", PASS_LISTS + 1, 0, ""},
    {NULL, "stop-after", PASS_LISTS + 1, 0, ""},
    {NULL, "sk-options", SK_OPTIONS, ':', "="},
    {"compile", "target", TARGETS, 0, ""},
    {"run", "target", RUNNERS, 0, ""},
    {NULL, "emit", EMISSIONS, 0, ""},
    {NULL, "compare", COMPARED, 0, ""},
    {"import", "format", READ_FORMATS, 0, ""},
    {"export", "format", WRITTEN_FORMATS, 0, ""},
};

/* Its `words` are NULL where there are none. */
static struct completion find_completion(const struct command *command, const struct option *option)
{
    for (size_t i = 0; i < sizeof completions / sizeof completions[0]; i++)
        if (strcmp(completions[i].option, option->name) == 0 &&
            (!completions[i].command || strcmp(completions[i].command, command->name) == 0))
            return completions[i];
    return (struct completion){.words = option->kind.words, .ending = ""};
}

static bool takes_folder(const struct option *option)
{
    return strcmp(option->metavar, "DIR") == 0;
}

static bool takes_file(const struct option *option)
{
    return strstr(option->metavar, "FILE") || strncmp(option->metavar, "OUT", 3) == 0;
}

/* Appends each word once, with `between` in between. */
static void print_words(struct text *text, const char *const *words, const char *ending,
                        const char *between)
{
    for (size_t i = 0; words[i]; i++) {
        size_t first = 0;
        while (strcmp(words[first], words[i]) != 0)
            first++;
        if (first == i)
            text_printf(text, "%s%s%s", i ? between : "", words[i], ending);
    }
}

/* -------------------------------------------------------------------------------- bash ---- */

static void print_option_names(struct text *text, const struct option *options)
{
    for (; options->name; options++)
        text_printf(text, " --%s%s", options->name, options->kind.value == VALUE_NONE ? "" : "=");
}

static void print_values(struct text *text, const struct command *command,
                         const struct option *option)
{
    struct completion completion = find_completion(command, option);
    if (option->kind.value == VALUE_NONE)
        return;
    text_printf(text, "    \"%s --%s\"", command->name, option->name);
    if (option->letter)
        text_printf(text, " | \"%s -%c\"", command->name, option->letter);
    text_printf(text, ") %s", option->kind.value == VALUE_OPTIONAL ? "joined=1 " : "");
    if (completion.words) {
        text_string(text, "kind=words words=\"");
        print_words(text, completion.words, completion.ending, " ");
        text_string(text, "\"");
        if (completion.between)
            text_printf(text, " between=%c", completion.between);
    } else {
        text_printf(text, "kind=%s",
                    takes_folder(option) ? "folder"
                    : takes_file(option) ? "file"
                                         : "any");
    }
    text_string(text, " ;;\n");
}

/* A word of the shell ends at '=' and ':', too, and what is completed is only what follows. */
static const char bash_function[] =
    "_skirc()\n"
    "{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} command=${COMP_WORDS[1]}\n"
    "    local whole before option= value= head= words= kind= between= joined= breaks= found\n"
    "    whole=${line##*[[:blank:]]}\n"
    "    before=${line%\"$whole\"}\n"
    "    before=${before%\"${before##*[![:blank:]]}\"}\n"
    "    COMPREPLY=()\n"
    "    if [[ $whole == --*=* ]]; then\n"
    "        option=${whole%%=*} value=${whole#*=} head=${whole%%=*}=\n"
    "        _skirc_values \"$command\" \"$option\"\n"
    "    elif [[ ${before##*[[:blank:]]} == -* ]]; then\n"
    "        value=$whole\n"
    "        _skirc_values \"$command\" \"${before##*[[:blank:]]}\"\n"
    "        [ -z \"$joined\" ] || kind=\n"
    "    fi\n"
    "    if [ -z \"$kind\" ]; then\n"
    "        value=$whole head=\n"
    "        if [[ $before != *[[:blank:]]* ]]; then\n"
    "            words=$_skirc_commands kind=words\n"
    "        elif [[ $whole == -* ]]; then\n"
    "            _skirc_options \"$command\"\n"
    "            kind=words\n"
    "        elif [ \"$command\" = help ]; then\n"
    "            words=$_skirc_commands kind=words\n"
    "        elif [ \"$command\" = support ]; then\n"
    "            words=$_skirc_support kind=words\n"
    "        else\n"
    "            kind=file\n"
    "        fi\n"
    "    fi\n"
    "    if [ -n \"$between\" ]; then\n"
    "        head+=${value%\"${value##*$between}\"} value=${value##*$between}\n"
    "        compopt -o nospace 2>/dev/null\n"
    "    fi\n"
    "    [[ $COMP_WORDBREAKS != *=* ]] || breaks+==\n"
    "    [[ $COMP_WORDBREAKS != *:* ]] || breaks+=:\n"
    "    [ -z \"$breaks\" ] || breaks=${whole%\"${whole##*[$breaks]}\"}\n"
    "    case $kind in\n"
    "    words) found=$(compgen -W \"$words\" -- \"$value\") ;;\n"
    "    file) found=$(compgen -f -- \"$value\") ;;\n"
    "    folder) found=$(compgen -d -- \"$value\") ;;\n"
    "    *) found= ;;\n"
    "    esac\n"
    "    [ -n \"$found\" ] || return 0\n"
    "    [ \"$kind\" = words ] || compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r value; do\n"
    "        value=$head$value\n"
    "        COMPREPLY+=(\"${value#\"$breaks\"}\")\n"
    "    done <<<\"$found\"\n"
    "    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then\n"
    "        compopt -o nospace 2>/dev/null\n"
    "    fi\n"
    "}\n"
    "complete -F _skirc skirc\n";

void support_bash(const struct cli *cli, struct text *text)
{
    text_string(text, "# bash completion of skirc, printed by 'skirc support bash'.\n\n");
    text_string(text, "_skirc_commands=\"");
    for (const struct command *command = cli->commands; command->name; command++)
        text_printf(text, "%s ", command->name);
    text_string(text, "help --help --version\"\n\n");
    text_string(text, "_skirc_support=\"");
#define SUPPORT(name, summary) text_string(text, #name " ");
#include "frontend/support/support.def"
#undef SUPPORT
    text_string(text, "\"\n\n");
    text_string(text, "_skirc_options() # COMMAND\n{\n    case $1 in\n");
    for (const struct command *command = cli->commands; command->name; command++) {
        text_printf(text, "    %s) words=\"", command->name);
        print_option_names(text, command->options);
        print_option_names(text, cli->common_options);
        text_string(text, "\" ;;\n");
    }
    text_string(text, "    esac\n}\n\n");
    text_string(text, "# What stands behind an option: kind, words, what is between several.\n"
                      "_skirc_values() # COMMAND OPTION\n{\n    case \"$1 $2\" in\n");
    for (const struct command *command = cli->commands; command->name; command++) {
        for (const struct option *o = command->options; o->name; o++)
            print_values(text, command, o);
        for (const struct option *o = cli->common_options; o->name; o++)
            print_values(text, command, o);
    }
    text_string(text, "    esac\n}\n\n");
    text_string(text, bash_function);
}

/* --------------------------------------------------------------------------------- zsh ---- */

/* A piece of a specification in single quotes, in which `special` have a meaning. Of a text with
 * several lines the first. */
static void print_quoted(struct text *text, const char *piece, const char *special)
{
    for (; *piece && *piece != '\n'; piece++) {
        if (*piece == '\'')
            text_string(text, "'\\'");
        else if (strchr(special, *piece))
            text_char(text, '\\');
        text_char(text, *piece);
    }
}

/* `--name=[help]:metavar:action`; the letter of an option is one more name of it. */
static void print_spec(struct text *text, const struct command *command,
                       const struct option *option, bool letter)
{
    struct completion completion = find_completion(command, option);
    bool optional = option->kind.value == VALUE_OPTIONAL;
    text_printf(text, " \\\n            '%s", option->kind.value == VALUE_MANY ? "*" : "");
    if (letter)
        text_printf(text, "-%c", option->letter);
    else
        text_printf(text, "--%s", option->name);
    if (option->metavar)
        text_string(text, optional ? "=-" : letter ? "+" : "=");
    text_char(text, '[');
    print_quoted(text, option->help, "[]:\\");
    text_char(text, ']');
    if (option->metavar) {
        text_string(text, optional ? "::" : ":");
        print_quoted(text, option->metavar, ":\\");
        text_char(text, ':');
        if (completion.words) {
            if (completion.between)
                text_printf(text, "_values -s %c value ", completion.between);
            else
                text_char(text, '(');
            print_words(text, completion.words, completion.ending, " ");
            text_string(text, completion.between ? "" : ")");
        } else {
            text_string(text, takes_folder(option) ? "_files -/"
                              : takes_file(option) ? "_files"
                                                   : " ");
        }
    }
    text_char(text, '\'');
}

static void print_specs(struct text *text, const struct command *command,
                        const struct option *options)
{
    for (; options->name; options++) {
        print_spec(text, command, options, false);
        if (options->letter)
            print_spec(text, command, options, true);
    }
}

void support_zsh(const struct cli *cli, struct text *text)
{
    text_string(text,
                "#compdef skirc\n# zsh completion of skirc, printed by 'skirc support zsh'.\n\n"
                "_skirc() {\n    local curcontext=\"$curcontext\" state line\n"
                "    local -a commands\n    typeset -A opt_args\n"
                "    _arguments -C '1:command:->command' '*::argument:->argument' && return\n"
                "    case $state in\n    command)\n        commands=(\n");
    for (const struct command *command = cli->commands; command->name; command++) {
        text_printf(text, "            '%s:", command->name);
        print_quoted(text, command->summary, ":\\");
        text_string(text, "'\n");
    }
    text_string(text, "            'help:show the help of a command'\n");
    text_string(text, "        )\n        _describe command commands ;;\n    argument)\n"
                      "        case $words[1] in\n");
    for (const struct command *command = cli->commands; command->name; command++) {
        text_printf(text, "        %s)\n            _arguments", command->name);
        print_specs(text, command, command->options);
        print_specs(text, command, cli->common_options);
        if (strcmp(command->name, "support") == 0) {
            text_string(text, " \\\n            '1:what:(");
#define SUPPORT(name, summary) text_string(text, " " #name);
#include "frontend/support/support.def"
#undef SUPPORT
            text_string(text, ")' ;;\n");
        } else {
            text_string(text, " \\\n            '*:file:_files' ;;\n");
        }
    }
    text_string(text, "        esac ;;\n    esac\n}\n\n_skirc \"$@\"\n");
}

/* --------------------------------------------------------------------------------- Vim ---- */

static void print_keywords(struct text *text, const char *group, const char *const *words)
{
    text_printf(text, "syn keyword %s ", group);
    print_words(text, words, "", " ");
    text_char(text, '\n');
}

/* What has a place of its own: sigils, strings, numbers, types of ops, comments. The last match of
 * several at one place wins. */
static const char vim_matches[] =
    "syn match skirOpType /\\<\\h\\w*\\ze\\s*(/\n"
    "syn match skirKey /\\<\\h\\w*\\ze\\s*=[^=]/\n"
    "syn match skirNumber /\\<-\\?\\d\\+\\(\\.\\d\\+\\)\\?\\([eE][-+]\\?\\d\\+\\)\\?\\>/\n"
    "syn match skirNumber /\\<0x\\x\\+\\>/\n"
    "syn match skirValue /%[A-Za-z0-9_.$]\\+\\|%\"\\([^\"\\\\]\\|\\\\.\\)*\"/\n"
    "syn match skirSymbol /@[A-Za-z0-9_.$]\\+\\|@\"\\([^\"\\\\]\\|\\\\.\\)*\"/\n"
    "syn region skirString start=/[@%]\\@<!\"/ skip=/\\\\./ end=/\"/ oneline contains=skirOption\n"
    "syn match skirComment /\\/\\/.*/ contains=skirDirective,@Spell\n";

static const char vim_colours[] = "\n"
                                  "hi def link skirKeyword Statement\n"
                                  "hi def link skirWord Identifier\n"
                                  "hi def link skirKey Identifier\n"
                                  "hi def link skirInstruction Function\n"
                                  "hi def link skirOpType Function\n"
                                  "hi def link skirDtype Type\n"
                                  "hi def link skirKernelType Type\n"
                                  "hi def link skirFormat StorageClass\n"
                                  "hi def link skirValue Identifier\n"
                                  "hi def link skirSymbol Special\n"
                                  "hi def link skirString String\n"
                                  "hi def link skirOption Special\n"
                                  "hi def link skirNumber Number\n"
                                  "hi def link skirComment Comment\n"
                                  "hi def link skirDirective PreProc\n"
                                  "\n"
                                  "setlocal comments=:// commentstring=//\\ %s\n"
                                  "let b:current_syntax = 'skir'\n";

void support_vim(const struct cli *cli, struct text *text)
{
    (void)cli;
    text_string(text, "\" Vim syntax of .skir, printed by 'skirc support vim'.\n"
                      "if exists('b:current_syntax')\n  finish\nendif\n\nsyn case match\n");
    text_string(text, vim_matches);
    print_keywords(text, "skirWord", WORDS);
    print_keywords(text, "skirInstruction", INSTRUCTIONS);
    print_keywords(text, "skirDtype", DTYPES);
    print_keywords(text, "skirKernelType", KERNEL_TYPES);
    print_keywords(text, "skirKeyword", KEYWORDS);
    print_keywords(text, "skirFormat", FORMATS); /* the last one of a word counts */
    text_string(text, "syn match skirOption /\\<\\(");
    print_words(text, SK_OPTIONS, "", "\\|");
    text_string(text, "\\)\\ze=/ contained\nsyn match skirDirective /\\/\\/!.*/ contained\n");
    text_string(text, vim_colours);
}

/* ----------------------------------------------------------------------------- VS Code ---- */

/* A rule of the grammar: words of a list, as a whole. */
static void print_rule(struct text *text, const char *scope, const char *before,
                       const char *const *words)
{
    text_printf(text, "    {\"name\": \"%s.skir\", \"match\": \"%s(?:", scope, before);
    print_words(text, words, "", "|");
    text_string(text, ")\\\\b\"},\n");
}

/* Rules count in this order. */
static const char grammar_begin[] =
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

static const char grammar_end[] =
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
    text_string(text, grammar_begin);
    print_words(text, SK_OPTIONS, "", "|");
    text_string(text, ")(?==)\"}\n    ]},\n");
    print_rule(text, "keyword.control", "\\\\b", KEYWORDS);
    print_rule(text, "storage.type", "\\\\b", DTYPES);
    print_rule(text, "storage.modifier", "(?<=:)\\\\s*", FORMATS);
    print_rule(text, "storage.type.kernel", "\\\\b", KERNEL_TYPES);
    print_rule(text, "keyword.operator.instruction", "\\\\b", INSTRUCTIONS);
    print_rule(text, "variable.language", "\\\\b", WORDS);
    text_string(text, grammar_end);
}
