#include "frontend/exchange/readers/sub_kernel.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

uint32_t sub_kernel_word(struct module *module, const char *text, size_t size)
{
    struct text word = {NULL, 0, 0};
    bool digit = size > 0 && text[0] >= '0' && text[0] <= '9';
    bool number = size == 3 && (memcmp(text, "inf", 3) == 0 || memcmp(text, "nan", 3) == 0);
    bool truth =
        (size == 4 && memcmp(text, "true", 4) == 0) || (size == 5 && memcmp(text, "false", 5) == 0);
    if (size == 0 || digit || number || truth)
        text_char(&word, '_');
    for (size_t i = 0; i < size; i++)
        text_char(&word, is_letter(text[i]) || (text[i] >= '0' && text[i] <= '9') ? text[i] : '_');
    uint32_t id = intern_copy(&module->names, word.at, word.size);
    text_free(&word);
    return id;
}

uint32_t sub_kernel_name(struct module *module, uint32_t wanted)
{
    const struct intern_name *name = &module->names.names[wanted];
    bool part = name->size > 4 && (memcmp(name->text + name->size - 4, ".aic", 4) == 0 ||
                                   memcmp(name->text + name->size - 4, ".aiv", 4) == 0);
    uint32_t tried = wanted;
    for (uint32_t n = 1; (part && tried == wanted) || module_has_symbol(module, tried); n++)
        tried = module_name_printf(module, "%.*s_%u", NAME(module, wanted), n);
    return tried;
}
