#include "frontend/support/support.h"
#include "frontend/support/vocabulary.h"

static void print_keywords(struct text *text, const char *group, const char *const *words)
{
    text_printf(text, "syn keyword %s ", group);
    vocabulary_print(text, words, " ");
    text_char(text, '\n');
}

/* What has a place of its own: sigils, strings, numbers, types of ops, comments. The last match of
 * several at one place wins. */
static const char matches[] =
    "syn match skirOpType /\\<\\h\\w*\\ze\\s*(/\n"
    "syn match skirKey /\\<\\h\\w*\\ze\\s*=[^=]/\n"
    "syn match skirNumber /\\<-\\?\\d\\+\\(\\.\\d\\+\\)\\?\\([eE][-+]\\?\\d\\+\\)\\?\\>/\n"
    "syn match skirNumber /\\<0x\\x\\+\\>/\n"
    "syn match skirValue /%[A-Za-z0-9_.$]\\+\\|%\"\\([^\"\\\\]\\|\\\\.\\)*\"/\n"
    "syn match skirSymbol /@[A-Za-z0-9_.$]\\+\\|@\"\\([^\"\\\\]\\|\\\\.\\)*\"/\n"
    "syn region skirString start=/[@%]\\@<!\"/ skip=/\\\\./ end=/\"/ oneline contains=skirOption\n"
    "syn match skirComment /\\/\\/.*/ contains=skirDirective,@Spell\n";

static const char colours[] = "\n"
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
    text_string(text, matches);
    print_keywords(text, "skirWord", vocabulary_words);
    print_keywords(text, "skirInstruction", vocabulary_instructions);
    print_keywords(text, "skirDtype", vocabulary_dtypes);
    print_keywords(text, "skirKernelType", vocabulary_kernel_types);
    print_keywords(text, "skirKeyword", vocabulary_keywords);
    print_keywords(text, "skirFormat", vocabulary_formats); /* the last one of a word counts */
    text_string(text, "syn match skirOption /\\<\\(");
    vocabulary_print(text, vocabulary_sk_options, "\\|");
    text_string(text, "\\)\\ze=/ contained\nsyn match skirDirective /\\/\\/!.*/ contained\n");
    text_string(text, colours);
}
