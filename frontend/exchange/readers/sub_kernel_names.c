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

/* ------------------------------------------------------------------------- slips ---- */

/* A letter may differ, or two of a long name. */
static void check_word(struct diags *diags, struct span span, const char *text, size_t size,
                       const char *const *known)
{
    struct suggest suggest = {.wanted = text, .wanted_size = size};
    for (; *known; known++) {
        if (strlen(*known) == size && memcmp(*known, text, size) == 0)
            return;
        suggest_offer_text(&suggest, *known);
    }
    if (suggest.best && suggest.distance <= (size < 12 ? 1 : 2))
        diag_at(diags, DIAG_attribute_slip, span, "'%.*s' means nothing here%s", (int)size, text,
                suggest_end(&suggest).text);
}

void sub_kernel_check_key(struct json_document *document, const cJSON *item)
{
    static const char *const known[] = {
        "super_kernel_options",
        "op_list",
        "json_path",
        "bin_path",
        "stream_id",
        "task_type",
        "send_event_list",
        "recv_event_list",
        "memory",
        "buffer",
        "offset",
        "bytes",
        "access",
        "kernelName",
        "blockDim",
        "sub_operator_op_type",
        "sub_operator_params",
        "sub_operator_kernel_type",
        "sub_operator_kernel_name",
        "split_mode",
        "sub_op_with_sync_all",
        "sub_operator_early_start_set_flag",
        "sub_operator_early_start_wait_flag",
        "sub_operator_call_dcci_before_kernel_start",
        "sub_operator_call_dcci_after_kernel_end",
        "sub_operator_call_dcci_disable_on_kernel",
        "debugOptions",
        "debugBufSize",
        NULL,
    };
    check_word(document->diags, json_key_span(document, item), item->string, strlen(item->string),
               known);
}

void sub_kernel_check_debug(struct dump *dump, struct span span, uint32_t value)
{
    static const char *const known[] = {"timestamp", "printf", "assert", NULL};
    const struct intern_name *words = &dump->module->names.names[value];
    for (size_t at = 0, end; at < words->size; at = end + 1) {
        for (end = at; end < words->size && words->text[end] != ',';)
            end++;
        check_word(dump->diags, span, words->text + at, end - at, known);
    }
}
