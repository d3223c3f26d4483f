#include "frontend/import/sub_kernel.h"
#include "frontend/import/messages.h"
#include "ir/core/arch.h"

#include <ctype.h>
#include <stdlib.h>

/* A tiling key of a dynamic kernel, and what runs for it. */
struct variant {
    int64_t key;
    struct span span;
    bool has_type;
    enum kernel_type type;
    uint32_t function, functions[CORE_TYPES]; /* as those of the metadata */
};

/* What the metadata says, before it is a kernel. Name ids are NONE where it does not say it. */
struct metadata {
    struct dump *dump;
    struct module *module;
    struct json_document document;
    const struct sub_kernel_source *source;
    uint32_t name, op_type;
    struct span name_span;
    bool has_type, has_functions;
    enum kernel_type type;
    struct span type_span, functions_span;
    int64_t block, split, debug_bytes;
    uint32_t debug;
    uint32_t function, functions[CORE_TYPES]; /* of any core type, of each */
    bool set, wait, sync_all, dcci_before, dcci_after, dcci_disable;
    struct vec_u32 params;
    struct vec_u32 chips[CORE_TYPES]; /* name ids: those besides the target's with a function */
    VEC(struct variant) variants;
    struct id_map variant_keys; /* by name, the key in digits: index of the variant */
};

/* ------------------------------------------------------------------------- names ---- */

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
        text_char(&word, isalnum((unsigned char)text[i]) ? text[i] : '_');
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

/* Warns of a word that is nearly one of those that are known, which blanks separate: a letter may
 * differ, or two of a long name. */
static void check_word(struct diags *diags, struct span span, const char *text, size_t size,
                       const char *known)
{
    struct suggest suggest = {.wanted = text, .wanted_size = size};
    for (size_t length; *known; known += length + strspn(known + length, " ")) {
        length = strcspn(known, " ");
        if (length == size && memcmp(known, text, size) == 0)
            return;
        suggest_offer(&suggest, known, length);
    }
    if (suggest.best && suggest.distance <= (size < 12 ? 1 : 2))
        diag_at(diags, DIAG_attribute_slip, span, "'%.*s' means nothing here%s", (int)size, text,
                suggest_end(&suggest).text);
}

void sub_kernel_check_key(struct json_document *document, const cJSON *item)
{
    static const char known[] =
        "super_kernel_options op_list json_path bin_path stream_id task_type send_event_list "
        "recv_event_list memory buffer offset bytes access kernelName blockDim "
        "sub_operator_op_type sub_operator_params sub_operator_kernel_type "
        "sub_operator_kernel_name split_mode sub_op_with_sync_all "
        "sub_operator_early_start_set_flag sub_operator_early_start_wait_flag "
        "sub_operator_call_dcci_before_kernel_start sub_operator_call_dcci_after_kernel_end "
        "sub_operator_call_dcci_disable_on_kernel debugOptions debugBufSize";
    check_word(document->diags, json_key_span(document, item), item->string, strlen(item->string),
               known);
}

static bool read_name(struct metadata *meta, const cJSON *item, uint32_t *name)
{
    const char *text = json_as_text(&meta->document, item);
    if (!text)
        return false;
    if (!*text)
        return json_fail(&meta->document, item, "this is no name");
    *name = intern_copy(&meta->module->names, text, strlen(text));
    return true;
}

/* The words of the kernel's tensors: no two have one name. */
static void read_params(struct metadata *meta, const cJSON *item)
{
    const cJSON *param;
    struct id_map taken = {NULL, 0, 0};
    for (EACH_JSON(&meta->document, param, item, cJSON_Array)) {
        const char *text = json_as_text(&meta->document, param);
        if (!text)
            break;
        uint32_t word = sub_kernel_word(meta->module, text, strlen(text)), tried = word;
        bool memory = word == W_workspace || word == W_tiling;
        for (uint32_t n = 1; !memory && id_map_find(&taken, tried) != NONE; n++)
            tried = module_name_printf(meta->module, "%.*s_%u", NAME(meta->module, word), n);
        id_map_set(&taken, tried, 0);
        vec_push(&meta->params, tried);
    }
    id_map_free(&taken);
}

/* ------------------------------------------------------------------------- types ---- */

/* A text that is KERNEL_TYPE_ and the name of a type in capitals. */
static bool read_type(struct metadata *meta, const cJSON *item, enum kernel_type *type)
{
    static const char prefix[] = "KERNEL_TYPE_";
    const char *text = json_as_text(&meta->document, item);
    if (!text)
        return false;
    for (unsigned i = 0; i < KERNEL_TYPE_COUNT && strncmp(text, prefix, sizeof prefix - 1) == 0;
         i++) {
        const char *name = kernel_type_info((enum kernel_type)i)->name;
        const char *at = text + sizeof prefix - 1;
        for (; *name && *at == toupper((unsigned char)*name); name++)
            at++;
        *type = (enum kernel_type)i;
        if (!*name && !*at)
            return true;
    }
    return json_fail(&meta->document, item, "'%s' is no kernel type", text);
}

/* --------------------------------------------------------------------- functions ---- */

/* Where the function of a key such as `dav-c220-cube` belongs; NULL for other keys. */
static uint32_t *function_of(struct metadata *meta, const cJSON *item, uint32_t *any,
                             uint32_t *by_core)
{
    static const char *const suffixes[CORE_TYPES] = {[CORE_AIC] = "-cube", [CORE_AIV] = "-vec"};
    const char *key = item->string;
    size_t size = strlen(key);
    if (strcmp(key, "AiCore") == 0)
        return any;
    for (int core = 0; core < CORE_TYPES; core++) {
        size_t end = strlen(suffixes[core]);
        if (size <= 4 + end || strncmp(key, "dav-", 4) != 0 ||
            strcmp(key + size - end, suffixes[core]) != 0)
            continue;
        /* Functions may be there for several chips: those of the target's count. */
        uint32_t chip = intern_copy(&meta->module->names, key + 4, size - 4 - end), i = 0;
        struct vec_u32 *others = &meta->chips[core];
        enum arch arch;
        if (arch_of_name(meta->module, chip, &arch) && arch == module_arch(meta->module))
            return &by_core[core];
        while (i < others->count && others->at[i] != chip)
            i++;
        if (i == others->count)
            vec_push(others, chip);
        return NULL;
    }
    return NULL;
}

/* The functions that a type has, `key` for each core type. Reports those that are missing. */
static bool find_functions(struct metadata *meta, struct span span, enum kernel_type type,
                           uint32_t any, uint32_t *by_core)
{
    bool mixed = kernel_type_is_mixed(type);
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!kernel_type_has(type, core))
            by_core[core] = NONE;
        else if (by_core[core] == NONE && !mixed)
            by_core[core] = any;
        if (!kernel_type_has(type, core) || by_core[core] != NONE)
            continue;
        const struct vec_u32 *chips = &meta->chips[core];
        struct text others = {NULL, 0, 0};
        for (uint32_t i = 0; i < chips->count; i++)
            text_printf(&others, "%s%.*s", i ? ", " : "; this one has some for other chips: ",
                        NAME(meta->module, chips->at[i]));
        json_fail_span(
            &meta->document, span, "a kernel of type %s needs a function for %s ('dav-%s-%s')%.*s",
            kernel_type_info(type)->name, core == CORE_AIC ? "AICs" : "AIVs",
            chips->count ? arch_name(module_arch(meta->module)) : "...",
            core == CORE_AIC ? "cube" : "vec", (int)others.size, others.size ? others.at : "");
        text_free(&others);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------------- variants ---- */

/* A key is in each part of a kernel that it has a function of. */
static struct variant *variant_at(struct metadata *meta, int64_t key, struct span span)
{
    uint32_t name = module_name_printf(meta->module, "%lld", (long long)key);
    uint32_t *index = id_map_at(&meta->variant_keys, name);
    if (*index == NONE) {
        *index = meta->variants.count;
        vec_push(&meta->variants,
                 (struct variant){
                     .key = key, .span = span, .function = NONE, .functions = {NONE, NONE}});
    }
    return &meta->variants.at[*index];
}

/* The variants of tiling keys. `part`: the key of the functions that all of them are below; NULL:
 * each variant has such keys. */
static void read_variants(struct metadata *meta, const cJSON *item, const cJSON *part)
{
    struct json_document *document = &meta->document;
    const cJSON *of_key, *member;
    for (EACH_JSON(document, of_key, item, cJSON_Object)) {
        struct span span = json_key_span(document, of_key);
        size_t digits = strspn(of_key->string, "0123456789");
        if (digits == 0 || digits > 18 || of_key->string[digits]) {
            json_fail_span(document, span, "this is no tiling key");
            return;
        }
        struct variant *variant = variant_at(meta, strtoll(of_key->string, NULL, 10), span);
        long long key = variant->key;
        for (EACH_JSON(document, member, of_key, cJSON_Object)) {
            const cJSON *place = !part ? member : json_is(member, "func_name") ? part : NULL;
            uint32_t *function =
                place ? function_of(meta, place, &variant->function, variant->functions) : NULL;
            enum kernel_type type;
            if (json_is(member, "kernel_type") && read_type(meta, member, &type)) {
                if (variant->has_type && variant->type != type)
                    json_fail(document, member, "another part of tiling key %lld is of type %s",
                              key, kernel_type_info(variant->type)->name);
                variant->type = type;
                variant->has_type = true;
            } else if (function && *function != NONE) {
                json_fail_span(document, json_key_span(document, member),
                               "tiling key %lld has this function already", key);
            } else if (function) {
                read_name(meta, member, function);
            }
        }
    }
}

static void read_functions(struct metadata *meta, const cJSON *item)
{
    const cJSON *key, *member;
    meta->has_functions = true;
    meta->functions_span = json_key_span(&meta->document, item);
    for (EACH_JSON(&meta->document, key, item, cJSON_Object)) {
        uint32_t *function = function_of(meta, key, &meta->function, meta->functions);
        if (!function && json_is(key, "dynamic_func_names") && meta->source->dynamic)
            read_variants(meta, key, NULL);
        if (!function)
            continue;
        for (EACH_JSON(&meta->document, member, key, cJSON_Object))
            if (json_is(member, "func_name"))
                read_name(meta, member, function);
            else if (json_is(member, "dynamic_func_names") && meta->source->dynamic)
                read_variants(meta, member, key);
    }
}

/* ----------------------------------------------------------------------- members ---- */

static bool read_flag(struct metadata *meta, const cJSON *item)
{
    static const struct {
        const char *key;
        size_t place;
    } flags[] = {
#define FLAG(key, field) {key, offsetof(struct metadata, field)}
        FLAG("sub_operator_early_start_set_flag", set),
        FLAG("sub_operator_early_start_wait_flag", wait),
        FLAG("sub_op_with_sync_all", sync_all),
        FLAG("sub_operator_call_dcci_before_kernel_start", dcci_before),
        FLAG("sub_operator_call_dcci_after_kernel_end", dcci_after),
        FLAG("sub_operator_call_dcci_disable_on_kernel", dcci_disable),
#undef FLAG
    };
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        if (json_is(item, flags[i].key))
            return json_as_bool(&meta->document, item, (bool *)((char *)meta + flags[i].place)),
                   true;
    return false;
}

/* Others are what the file has for others. */
static void read_member(struct metadata *meta, const cJSON *item)
{
    struct json_document *document = &meta->document;
    if (read_flag(meta, item))
        return;
    if (json_is(item, "kernelName")) {
        meta->name_span = json_span(document, item);
        read_name(meta, item, &meta->name);
    } else if (json_is(item, "blockDim")) {
        /* A request has slots in place of tensors, so nothing can be computed of shapes. */
        if (cJSON_IsString(item) && !json_is_quoted_number(item))
            json_fail(document, item,
                      "a fusion request knows no shapes, of which blocks could be computed: "
                      "'blockDim' is a number there");
        else
            json_as_integer(document, item, 1, 1024, &meta->block);
    } else if (json_is(item, "sub_operator_op_type")) {
        read_name(meta, item, &meta->op_type);
    } else if (json_is(item, "sub_operator_params")) {
        read_params(meta, item);
    } else if (json_is(item, "sub_operator_kernel_type")) {
        meta->has_type = read_type(meta, item, &meta->type);
        meta->type_span = json_span(document, item);
    } else if (json_is(item, "sub_operator_kernel_name")) {
        read_functions(meta, item);
    } else if (json_is(item, "split_mode") && !cJSON_IsNull(item)) {
        json_as_integer(document, item, 1, 64, &meta->split);
    } else if (json_is(item, "debugOptions") && !(cJSON_IsString(item) && !*item->valuestring)) {
        read_name(meta, item, &meta->debug);
        for (const char *at = cJSON_IsString(item) ? item->valuestring : "", *end; *at; at = end) {
            end = at + strcspn(at, ",");
            check_word(document->diags, json_span(document, item), at, (size_t)(end - at),
                       "timestamp printf assert");
            end += *end == ',';
        }
    } else if (json_is(item, "debugBufSize")) {
        json_as_integer(document, item, 0, INT64_MAX, &meta->debug_bytes);
    } else {
        sub_kernel_check_key(document, item);
    }
}

/* ------------------------------------------------------------------------ kernel ---- */

/* Whether the metadata are those of a kernel; what is missing is reported. */
static bool check_members(struct metadata *meta)
{
    struct json_document *document = &meta->document;
    bool dynamic = meta->source->dynamic;
    const char *missing = meta->name == NONE             ? "kernelName"
                          : !meta->has_type              ? "sub_operator_kernel_type"
                          : !meta->has_functions         ? "sub_operator_kernel_name"
                          : meta->block == 0 && !dynamic ? "blockDim"
                                                         : NULL;
    if (missing)
        return json_fail(document, document->root, "these metadata of a kernel have no '%s'",
                         missing);
    if (!dynamic)
        return find_functions(meta, meta->functions_span, meta->type, meta->function,
                              meta->functions);
    for (uint32_t i = 0; i < meta->variants.count; i++) {
        struct variant *variant = &meta->variants.at[i];
        if (!variant->has_type)
            return json_fail_span(document, variant->span, "this variant has no 'kernel_type'");
        if (!find_functions(meta, variant->span, variant->type, variant->function,
                            variant->functions))
            return false;
    }
    return meta->variants.count > 0 || json_fail_span(document, meta->functions_span,
                                                      "a dynamic kernel has 'dynamic_func_names'");
}

static struct attr attr_of(uint32_t key, enum attr_kind kind, uint32_t id)
{
    return (struct attr){key, NONE, {.kind = kind, .id = id}};
}

static struct attr attr_number(uint32_t key, int64_t i)
{
    return (struct attr){key, NONE, {.kind = ATTR_INT, .i = i}};
}

struct attr_list {
    struct attr *at;
    uint32_t count, capacity;
};

static struct attr_value dict_of(struct metadata *meta, const struct attr *attrs, uint32_t count)
{
    struct range range = module_add_attrs(meta->module, attrs, count);
    return (struct attr_value){.kind = ATTR_DICT, .count = range.count, .first = range.first};
}

static void add_words(struct metadata *meta, struct attr_list *attrs, uint32_t key,
                      const uint32_t *words, uint32_t count)
{
    struct value_stack values = {NULL, 0, 0};
    for (uint32_t i = 0; i < count; i++)
        vec_push(&values, (struct attr_value){.kind = ATTR_WORD, .id = words[i]});
    vec_push(attrs, (struct attr){key, NONE, take_list(&values, meta->module, 0, 0)});
    vec_free(&values);
}

static void add_variants(struct metadata *meta, struct attr_list *attrs)
{
    struct value_stack values = {NULL, 0, 0};
    for (uint32_t i = 0; i < meta->variants.count; i++) {
        const struct variant *variant = &meta->variants.at[i];
        uint32_t type = module_name(meta->module, kernel_type_info(variant->type)->name), count = 2;
        struct attr parts[2 + CORE_TYPES] = {attr_number(W_key, variant->key),
                                             attr_of(W_type, ATTR_WORD, type)};
        if (variant->functions[CORE_AIC] != NONE)
            parts[count++] = attr_of(W_aic, ATTR_STRING, variant->functions[CORE_AIC]);
        if (variant->functions[CORE_AIV] != NONE)
            parts[count++] = attr_of(W_aiv, ATTR_STRING, variant->functions[CORE_AIV]);
        vec_push(&values, dict_of(meta, parts, count));
    }
    vec_push(attrs, (struct attr){W_variants, NONE, take_list(&values, meta->module, 0, 0)});
    vec_free(&values);
}

/* In the order of docs/language.md. */
static void add_attrs(struct metadata *meta, struct attr_list *attrs)
{
    bool dynamic = meta->source->dynamic;
    const struct attr parts[CORE_TYPES] = {
        attr_of(W_aic, ATTR_STRING, meta->functions[CORE_AIC]),
        attr_of(W_aiv, ATTR_STRING, meta->functions[CORE_AIV]),
    };
    const struct {
        uint32_t key;
        bool set;
    } flags[] = {{W_sync_all, meta->sync_all},
                 {W_dcci_before, meta->dcci_before},
                 {W_dcci_after, meta->dcci_after},
                 {W_dcci_disable, meta->dcci_disable}};
    vec_push(attrs, attr_of(W_op, ATTR_STRING, meta->op_type));
    if (!dynamic)
        vec_push(attrs, attr_number(W_block, meta->block));
    if (meta->source->object != NONE)
        vec_push(attrs, (struct attr){.key = W_object,
                                      .loc = meta->source->object_loc,
                                      .value = {.kind = ATTR_STRING, .id = meta->source->object}});
    if (dynamic) {
        vec_push(attrs, (struct attr){W_dynamic, NONE, {.kind = ATTR_BOOL, .i = 1}});
        add_variants(meta, attrs);
    } else if (kernel_type_is_mixed(meta->type))
        vec_push(attrs, (struct attr){W_function, NONE, dict_of(meta, parts, CORE_TYPES)});
    else
        vec_push(attrs,
                 attr_of(W_function, ATTR_STRING,
                         meta->functions[meta->functions[CORE_AIC] == NONE ? CORE_AIV : CORE_AIC]));
    add_words(meta, attrs, W_params, meta->params.at, meta->params.count);
    /* The reference takes an arrival for the end of an op, and a wait for its beginning. */
    uint32_t words[4], count = 0;
    if (meta->set)
        words[count++] = W_set;
    if (meta->wait)
        words[count++] = W_wait;
    if (meta->set)
        words[count++] = W_reads_done;
    if (meta->wait)
        words[count++] = W_reads_late;
    if (count)
        add_words(meta, attrs, W_early_start, words, count);
    if (meta->split)
        vec_push(attrs, attr_number(W_split, meta->split));
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].set)
            vec_push(attrs, (struct attr){flags[i].key, NONE, {.kind = ATTR_BOOL, .i = 1}});
    vec_push(attrs, attr_of(W__json, ATTR_STRING, meta->source->json));
    if (meta->debug != NONE)
        vec_push(attrs, attr_of(W__debugOptions, ATTR_STRING, meta->debug));
    if (meta->debug_bytes)
        vec_push(attrs, attr_number(W__debugBufSize, meta->debug_bytes));
}

static void make_kernel(struct metadata *meta, struct sub_kernel *sub)
{
    struct attr_list attrs = {NULL, 0, 0};
    if (meta->op_type == NONE)
        meta->op_type = meta->name;
    add_attrs(meta, &attrs);
    struct range range = module_add_attrs(meta->module, attrs.at, attrs.count);
    struct kernel *kernel =
        module_add_kernel(meta->module, sub_kernel_name(meta->module, meta->name), meta->type);
    kernel->attrs = range;
    kernel->loc = meta->name_span.begin;
    sub->kernel = kernel->name;
    sub->op_type = meta->op_type;
    for (uint32_t i = 0; i < meta->params.count; i++)
        if (meta->params.at[i] != W_workspace && meta->params.at[i] != W_tiling)
            vec_push(&sub->params, meta->params.at[i]);
    vec_free(&attrs);
}

void sub_kernel_read(struct dump *dump, const struct sub_kernel_source *source,
                     struct sub_kernel *sub)
{
    struct metadata meta = {.dump = dump,
                            .module = dump->module,
                            .source = source,
                            .name = NONE,
                            .op_type = NONE,
                            .debug = NONE,
                            .function = NONE,
                            .functions = {NONE, NONE}};
    struct arena arena = {NULL, 0};
    char error[512];
    const char *path = name_text(dump->module, source->json, &arena);
    const struct source_file *file = source_add_file(dump->source, path, error, sizeof error);
    const cJSON *item;
    *sub = (struct sub_kernel){.kernel = NONE, .op_type = NONE};
    if (!file)
        diag_at(dump->diags, DIAG_file, source->json_span, "%s", error);
    arena_free(&arena);
    if (!file)
        return;
    bool read = json_document_read(&meta.document, &file->text, file->begin, dump->diags);
    if (read)
        for (EACH_JSON(&meta.document, item, meta.document.root, cJSON_Object))
            read_member(&meta, item);
    if (read && !meta.document.failed && check_members(&meta)) {
        /* Of files that several kernels come from a token is added once. */
        struct source *text = dump->source;
        uint32_t count = text->tokens.count;
        if (count == 0 || text->tokens.at[count - 1].end <= meta.name_span.begin)
            source_add_token(text, meta.name_span);
        make_kernel(&meta, sub);
    }
    json_document_free(&meta.document);
    vec_free(&meta.params);
    vec_free(&meta.variants);
    id_map_free(&meta.variant_keys);
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&meta.chips[core]);
}
