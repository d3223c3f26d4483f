#include "frontend/support/support.h"
#include "frontend/support/vocabulary.h"

/* ------------------------------------------------------------------------------- words ---- */

static bool is_repeated(const char *const *words, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(words[j], words[i]) == 0)
            return true;
    return false;
}

static void print_words(struct text *text, const char *const *words)
{
    const char *between = "";
    for (size_t i = 0; words[i]; i++) {
        if (is_repeated(words, i))
            continue;
        text_printf(text, "%s%s", between, words[i]);
        between = " ";
    }
}

static void print_commands(struct text *text, const struct cli *cli)
{
    text_string(text, "_skirc_commands=\"");
    for (const struct command *command = cli->commands; command->name; command++)
        text_printf(text, "%s ", command->name);
    text_string(text, "help --help --version\"\n\n");
}

/* ----------------------------------------------------------------------------- options ---- */

static void print_option_names(struct text *text, const struct option *options)
{
    for (const struct option *option = options; option && option->name; option++)
        text_printf(text, " --%s%s", option->name, option->kind == OPTION_FLAG ? "" : "=");
}

static void print_options(struct text *text, const struct cli *cli)
{
    text_string(text, "_skirc_options() # COMMAND\n{\n    case $1 in\n");
    for (const struct command *command = cli->commands; command->name; command++) {
        text_printf(text, "    %s) words=\"", command->name);
        print_option_names(text, command->options);
        print_option_names(text, cli->common_options);
        text_string(text, "\" ;;\n");
    }
    text_string(text, "    esac\n}\n\n");
}

static void print_values(struct text *text, const struct command *command,
                         const struct option *option)
{
    struct option_values values = option_values(command, option);
    if (values.kind == VALUE_NONE)
        return;
    text_printf(text, "    \"%s --%s\"", command->name, option->name);
    if (option->letter)
        text_printf(text, " | \"%s -%c\"", command->name, option->letter);
    text_string(text, ") ");
    if (option->kind == OPTION_OPTIONAL)
        text_string(text, "joined=1 ");
    if (values.kind == VALUE_WORDS) {
        text_string(text, "kind=words words=\"");
        print_words(text, values.words);
        text_string(text, "\"");
        if (values.between)
            text_printf(text, " between=%c", values.between);
    } else {
        text_printf(text, "kind=%s",
                    values.kind == VALUE_FILE     ? "file"
                    : values.kind == VALUE_FOLDER ? "folder"
                                                  : "any");
    }
    text_string(text, " ;;\n");
}

static void print_all_values(struct text *text, const struct cli *cli)
{
    text_string(text, "# What stands behind an option: kind, words, what is between several.\n"
                      "_skirc_values() # COMMAND OPTION\n{\n    case \"$1 $2\" in\n");
    for (const struct command *command = cli->commands; command->name; command++) {
        for (const struct option *o = command->options; o && o->name; o++)
            print_values(text, command, o);
        for (const struct option *o = cli->common_options; o && o->name; o++)
            print_values(text, command, o);
    }
    text_string(text, "    esac\n}\n\n");
}

/* A word of the shell ends at '=' and ':', too, and what is completed is only what follows. */
static const char function[] =
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
    print_commands(text, cli);
    text_string(text, "_skirc_support=\"");
#define SUPPORT(name, summary) text_string(text, #name " ");
#include "frontend/support/support.def"
#undef SUPPORT
    text_string(text, "\"\n\n");
    print_options(text, cli);
    print_all_values(text, cli);
    text_string(text, function);
}
