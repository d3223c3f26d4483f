/* Prints the words of the tables, as a dictionary for libFuzzer: what stands in modules, in golden
 * files and on command lines. */
#include "frontend/driver/skirc.h"
#include "frontend/exchange.h"
#include "ir/core/module.h"
#include "ir/core/sk_options.h"
#include "ir/optypes/op_types.h"
#include "passes/manager/pass.h"

#include <ctype.h>
#include <stdio.h>

static void put(const char *word)
{
    if (!word || !*word)
        return;
    putchar('"');
    for (; *word; word++)
        if (*word == '"' || *word == '\\' || !isprint((unsigned char)*word))
            printf("\\x%02x", (unsigned)(unsigned char)*word);
        else
            putchar(*word);
    puts("\"");
}

/* Words with fixed numbers of names: keywords, attributes, options of scopes, instructions. */
static void put_words(void)
{
    struct module *module = module_new(NULL);
    for (uint32_t i = 0; i < W_COUNT; i++)
        put(module->names.names[i].text);
    module_free(module);
    for (int i = 0; i < INSTR_COUNT; i++)
        put(instr_info(i)->name);
    for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++)
        put(dtype_info(dtype)->name);
    for (enum sk_option option = 0; option < SK_OPTION_COUNT; option++)
        put(sk_option_key(option));
}

static void put_op_types(void)
{
    struct op_types *types = op_types_new();
    const struct op_type *type;
    for (uint32_t i = 0; (type = op_types_at(types, i)); i++) {
        put(type->name);
        for (uint32_t n = 0; n < type->n_attrs; n++)
            put(type->attrs[n].name);
    }
    op_types_free(types);
}

static void put_options(const struct option *option)
{
    char text[128];
    for (; option && option->name; option++) {
        snprintf(text, sizeof text, "--%s%s", option->name, option->metavar ? "=" : "");
        put(text);
    }
}

int main(void)
{
    put_words();
    put_op_types();
    for (unsigned i = 0; i < PASS_COUNT; i++)
        put(passes[i].name);
    for (unsigned i = 0; i < exchange_formats.count; i++)
        put(exchange_formats.formats[i].name);
    for (const struct command *command = skirc.commands; command->name; command++) {
        put(command->name);
        put_options(command->options);
    }
    put_options(skirc.common_options);
    put("//! expect");
    put("//! error: ");
    return 0;
}
