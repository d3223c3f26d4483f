#include "frontend/support/support.h"
#include "frontend/support/vocabulary.h"

/* ------------------------------------------------------------------------------ quoting ---- */

/* A piece of a specification in single quotes, in which `special` have a meaning. Of a text with
 * several lines the first. */
static void print_quoted(struct text *text, const char *piece, const char *special)
{
    for (; *piece && *piece != '\n'; piece++) {
        if (*piece == '\'') {
            text_string(text, "'\\''");
            continue;
        }
        if (strchr(special, *piece))
            text_char(text, '\\');
        text_char(text, *piece);
    }
}

/* ------------------------------------------------------------------------------ options ---- */

static void print_action(struct text *text, const struct option_values *values, const char *metavar)
{
    if (values->kind == VALUE_FILE) {
        text_string(text, "_files");
    } else if (values->kind == VALUE_FOLDER) {
        text_string(text, "_files -/");
    } else if (values->kind == VALUE_ANY) {
        text_char(text, ' ');
    } else if (values->between) {
        text_printf(text, "_values -s %c %s", values->between, metavar);
        for (size_t i = 0; values->words[i]; i++)
            text_printf(text, " %s", values->words[i]);
    } else {
        text_char(text, '(');
        for (size_t i = 0; values->words[i]; i++)
            text_printf(text, "%s%s", i ? " " : "", values->words[i]);
        text_char(text, ')');
    }
}

/* `--name=[help]:metavar:action`; the letter of an option is one more name of it. */
static void print_spec(struct text *text, const struct command *command,
                       const struct option *option, bool letter)
{
    struct option_values values = option_values(command, option);
    text_string(text, " \\\n            '");
    if (option->kind == OPTION_MANY)
        text_char(text, '*');
    if (letter)
        text_printf(text, "-%c", option->letter);
    else
        text_printf(text, "--%s", option->name);
    if (values.kind != VALUE_NONE)
        text_string(text, option->kind == OPTION_OPTIONAL ? "=-" : letter ? "+" : "=");
    text_char(text, '[');
    print_quoted(text, option->help, "[]:\\");
    text_char(text, ']');
    if (values.kind != VALUE_NONE) {
        text_string(text, option->kind == OPTION_OPTIONAL ? "::" : ":");
        print_quoted(text, option->metavar, ":\\");
        text_char(text, ':');
        print_action(text, &values, "value");
    }
    text_char(text, '\'');
}

static void print_specs(struct text *text, const struct command *command,
                        const struct option *options)
{
    for (const struct option *option = options; option && option->name; option++) {
        print_spec(text, command, option, false);
        if (option->letter)
            print_spec(text, command, option, true);
    }
}

static void print_operands(struct text *text, const struct command *command)
{
    if (strcmp(command->name, "support") == 0) {
        text_string(text, " \\\n            '1:what:(");
#define SUPPORT(name, summary) text_string(text, " " #name);
#include "frontend/support/support.def"
#undef SUPPORT
        text_string(text, ")' ;;\n");
        return;
    }
    text_string(text, " \\\n            '*:file:_files' ;;\n");
}

/* ----------------------------------------------------------------------------- commands ---- */

static void print_commands(struct text *text, const struct cli *cli)
{
    for (const struct command *command = cli->commands; command->name; command++) {
        text_printf(text, "            '%s:", command->name);
        print_quoted(text, command->summary, ":\\");
        text_string(text, "'\n");
    }
    text_string(text, "            'help:show the help of a command'\n");
}

void support_zsh(const struct cli *cli, struct text *text)
{
    text_string(text,
                "#compdef skirc\n# zsh completion of skirc, printed by 'skirc support zsh'.\n\n"
                "_skirc() {\n    local curcontext=\"$curcontext\" state line\n"
                "    local -a commands\n    typeset -A opt_args\n"
                "    _arguments -C '1:command:->command' '*::argument:->argument' && return\n"
                "    case $state in\n    command)\n        commands=(\n");
    print_commands(text, cli);
    text_string(text, "        )\n        _describe command commands ;;\n    argument)\n"
                      "        case $words[1] in\n");
    for (const struct command *command = cli->commands; command->name; command++) {
        text_printf(text, "        %s)\n            _arguments", command->name);
        print_specs(text, command, command->options);
        print_specs(text, command, cli->common_options);
        print_operands(text, command);
    }
    text_string(text, "        esac ;;\n    esac\n}\n\n_skirc \"$@\"\n");
}
