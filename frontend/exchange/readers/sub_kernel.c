#include "frontend/exchange/readers/sub_kernel.h"
#include "ir/base/json_document.h"
#include "ir/arch.h"

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

/* ------------------------------------------------------------------------- pieces ---- */

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

static bool has_param(const struct metadata *meta, uint32_t word)
{
    for (uint32_t i = 0; i < meta->params.count; i++)
        if (meta->params.at[i] == word)
            return true;
    return false;
}

/* No two tensors have one name. */
static uint32_t unlike_others(struct metadata *meta, uint32_t word)
{
    uint32_t tried = word;
    if (word == W_workspace || word == W_tiling)
        return word;
    for (uint32_t n = 1; has_param(meta, tried); n++)
        tried = module_name_printf(meta->module, "%.*s_%u", NAME(meta->module, word), n);
    return tried;
}

static bool read_param(struct metadata *meta, const cJSON *item)
{
    const char *text = json_as_text(&meta->document, item);
    if (!text)
        return false;
    uint32_t word = unlike_others(meta, sub_kernel_word(meta->module, text, strlen(text)));
    vec_push(&meta->params, word);
    return true;
}

static void read_params(struct metadata *meta, const cJSON *item)
{
    const cJSON *param;
    for (EACH_JSON(&meta->document, param, item, cJSON_Array))
        if (!read_param(meta, param))
            return;
}

/* ------------------------------------------------------------------------- types ---- */

/* Whether a text is KERNEL_TYPE_ and the name of a type in capitals. */
static bool is_type(const char *text, const char *name)
{
    static const char prefix[] = "KERNEL_TYPE_";
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return false;
    for (text += sizeof prefix - 1; *name && *text == toupper((unsigned char)*name); name++)
        text++;
    return !*name && !*text;
}

static bool read_type(struct metadata *meta, const cJSON *item, enum kernel_type *type)
{
    const char *text = json_as_text(&meta->document, item);
    if (!text)
        return false;
    for (unsigned i = 0; i < KERNEL_TYPE_COUNT; i++) {
        *type = (enum kernel_type)i;
        if (is_type(text, kernel_type_info(*type)->name))
            return true;
    }
    return json_fail(&meta->document, item, "'%s' is no kernel type", text);
}

/* --------------------------------------------------------------------- functions ---- */

/* Functions may be there for several chips: those of the target's count. */
static bool is_chip(struct metadata *meta, const char *chip, size_t size, enum core_type core)
{
    uint32_t name = intern_copy(&meta->module->names, chip, size);
    struct vec_u32 *others = &meta->chips[core];
    enum arch arch;
    if (arch_of_name(meta->module, name, &arch) && arch == module_arch(meta->module))
        return true;
    for (uint32_t i = 0; i < others->count; i++)
        if (others->at[i] == name)
            return false;
    vec_push(others, name);
    return false;
}

static bool is_part(const cJSON *item, const char *suffix)
{
    size_t size = strlen(item->string), end = strlen(suffix);
    return size > 4 + end && strncmp(item->string, "dav-", 4) == 0 &&
           strcmp(item->string + size - end, suffix) == 0;
}

/* Where the function of a key such as `dav-c220-cube` belongs; NULL for other keys. */
static uint32_t *function_of(struct metadata *meta, const cJSON *item, uint32_t *any,
                             uint32_t *by_core)
{
    static const char *const suffixes[CORE_TYPES] = {[CORE_AIC] = "-cube", [CORE_AIV] = "-vec"};
    if (json_is(item, "AiCore"))
        return any;
    for (int core = 0; core < CORE_TYPES; core++)
        if (is_part(item, suffixes[core]))
            return is_chip(meta, item->string + 4,
                           strlen(item->string) - 4 - strlen(suffixes[core]), core)
                       ? &by_core[core]
                       : NULL;
    return NULL;
}

static bool fail_function(struct metadata *meta, struct span span, enum kernel_type type, int core)
{
    const char *part = core == CORE_AIC ? "cube" : "vec";
    const struct vec_u32 *chips = &meta->chips[core];
    struct text others = {NULL, 0, 0};
    for (uint32_t i = 0; i < chips->count; i++)
        text_printf(&others, "%s%.*s", i ? ", " : "; this one has some for other chips: ",
                    NAME(meta->module, chips->at[i]));
    json_fail_span(&meta->document, span,
                   "a kernel of type %s needs a function for %s ('dav-%s-%s')%.*s",
                   kernel_type_info(type)->name, core == CORE_AIC ? "AICs" : "AIVs",
                   chips->count ? arch_name(module_arch(meta->module)) : "...", part,
                   (int)others.size, others.size ? others.at : "");
    text_free(&others);
    return false;
}

/* The functions that a type has, `key` for each core type. Reports those that are missing. */
static bool find_functions(struct metadata *meta, struct span span, enum kernel_type type,
                           uint32_t any, uint32_t *by_core)
{
    bool mixed = kernel_type_is_mixed(type);
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!kernel_type_has(type, core))
            by_core[core] = NONE;
        else if (by_core[core] == NONE && (mixed || any == NONE))
            return fail_function(meta, span, type, core);
        else if (by_core[core] == NONE)
            by_core[core] = any;
    }
    return true;
}

/* ---------------------------------------------------------------------- variants ---- */

static struct attr attr_of(uint32_t key, enum attr_kind kind, uint32_t id)
{
    return (struct attr){.key = key, .loc = NONE, .value = {.kind = kind, .id = id}};
}

static struct attr attr_number(uint32_t key, int64_t i)
{
    return (struct attr){.key = key, .loc = NONE, .value = {.kind = ATTR_INT, .i = i}};
}

static bool read_tiling_key(struct metadata *meta, const cJSON *item, int64_t *key)
{
    size_t digits = strspn(item->string, "0123456789");
    *key = strtoll(item->string, NULL, 10);
    return (digits > 0 && digits < 19 && !item->string[digits]) ||
           json_fail_span(&meta->document, json_key_span(&meta->document, item),
                          "this is no tiling key");
}

/* A key stands in each part of a kernel that it has a function of. */
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

static void read_variant_type(struct metadata *meta, const cJSON *item, struct variant *variant)
{
    enum kernel_type type;
    if (!read_type(meta, item, &type))
        return;
    if (variant->has_type && variant->type != type)
        json_fail(&meta->document, item, "another part of tiling key %lld is of type %s",
                  (long long)variant->key, kernel_type_info(variant->type)->name);
    variant->type = type;
    variant->has_type = true;
}

static void read_variant_function(struct metadata *meta, const cJSON *item, struct variant *variant,
                                  uint32_t *function)
{
    if (*function != NONE)
        json_fail_span(&meta->document, json_key_span(&meta->document, item),
                       "tiling key %lld has this function already", (long long)variant->key);
    else
        read_name(meta, item, function);
}

/* `part`: the key of the functions that all of this is below; NULL: each variant has such keys. */
static void read_variant(struct metadata *meta, const cJSON *item, const cJSON *part)
{
    const cJSON *member;
    int64_t key;
    if (!read_tiling_key(meta, item, &key))
        return;
    struct variant *variant = variant_at(meta, key, json_key_span(&meta->document, item));
    for (EACH_JSON(&meta->document, member, item, cJSON_Object)) {
        const cJSON *place = !part ? member : json_is(member, "func_name") ? part : NULL;
        uint32_t *function =
            place ? function_of(meta, place, &variant->function, variant->functions) : NULL;
        if (json_is(member, "kernel_type"))
            read_variant_type(meta, member, variant);
        else if (function)
            read_variant_function(meta, member, variant, function);
    }
}

static void read_variants(struct metadata *meta, const cJSON *item, const cJSON *part)
{
    const cJSON *variant;
    for (EACH_JSON(&meta->document, variant, item, cJSON_Object))
        read_variant(meta, variant, part);
}

static bool check_variants(struct metadata *meta)
{
    for (uint32_t i = 0; i < meta->variants.count; i++) {
        struct variant *variant = &meta->variants.at[i];
        if (!variant->has_type)
            return json_fail_span(&meta->document, variant->span,
                                  "this variant has no 'kernel_type'");
        if (!find_functions(meta, variant->span, variant->type, variant->function,
                            variant->functions))
            return false;
    }
    return meta->variants.count > 0 || json_fail_span(&meta->document, meta->functions_span,
                                                      "a dynamic kernel has 'dynamic_func_names'");
}

/* The function, or the variants, of one key. */
static void read_function(struct metadata *meta, const cJSON *item, uint32_t *function)
{
    const cJSON *member;
    for (EACH_JSON(&meta->document, member, item, cJSON_Object))
        if (json_is(member, "func_name"))
            read_name(meta, member, function);
        else if (json_is(member, "dynamic_func_names") && meta->source->dynamic)
            read_variants(meta, member, item);
}

static void read_functions(struct metadata *meta, const cJSON *item)
{
    const cJSON *member;
    meta->has_functions = true;
    meta->functions_span = json_key_span(&meta->document, item);
    for (EACH_JSON(&meta->document, member, item, cJSON_Object)) {
        uint32_t *function = function_of(meta, member, &meta->function, meta->functions);
        if (function)
            read_function(meta, member, function);
        else if (json_is(member, "dynamic_func_names") && meta->source->dynamic)
            read_variants(meta, member, NULL);
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

static void read_debug(struct metadata *meta, const cJSON *item)
{
    if (read_name(meta, item, &meta->debug))
        sub_kernel_check_debug(meta->dump, json_span(&meta->document, item), meta->debug);
}

/* A request has slots in the place of tensors, so nothing can be computed of shapes. */
static void read_block(struct metadata *meta, const cJSON *item)
{
    if (cJSON_IsString(item) && !json_is_quoted_number(item))
        json_fail(&meta->document, item,
                  "a fusion request knows no shapes, of which blocks could be computed: "
                  "'blockDim' is a number there");
    else
        json_as_integer(&meta->document, item, 1, 1024, &meta->block);
}

/* Others are what the file has for others. */
static void read_member(struct metadata *meta, const cJSON *item)
{
    struct json_document *document = &meta->document;
    if (read_flag(meta, item))
        return;
    if (json_is(item, "kernelName")) {
        meta->name_span = json_span(&meta->document, item);
        read_name(meta, item, &meta->name);
    } else if (json_is(item, "blockDim"))
        read_block(meta, item);
    else if (json_is(item, "sub_operator_op_type"))
        read_name(meta, item, &meta->op_type);
    else if (json_is(item, "sub_operator_params"))
        read_params(meta, item);
    else if (json_is(item, "sub_operator_kernel_type")) {
        meta->has_type = read_type(meta, item, &meta->type);
        meta->type_span = json_span(&meta->document, item);
    } else if (json_is(item, "sub_operator_kernel_name"))
        read_functions(meta, item);
    else if (json_is(item, "split_mode") && !cJSON_IsNull(item))
        json_as_integer(document, item, 1, 64, &meta->split);
    else if (json_is(item, "debugOptions") && !(cJSON_IsString(item) && !*item->valuestring))
        read_debug(meta, item);
    else if (json_is(item, "debugBufSize"))
        json_as_integer(document, item, 0, INT64_MAX, &meta->debug_bytes);
    else
        sub_kernel_check_key(document, item);
}

static bool check_members(struct metadata *meta)
{
    struct json_document *document = &meta->document;
    const char *missing = meta->name == NONE                           ? "kernelName"
                          : !meta->has_type                            ? "sub_operator_kernel_type"
                          : !meta->has_functions                       ? "sub_operator_kernel_name"
                          : meta->block == 0 && !meta->source->dynamic ? "blockDim"
                                                                       : NULL;
    if (missing)
        return json_fail(document, document->root, "these metadata of a kernel have no '%s'",
                         missing);
    return meta->source->dynamic ? check_variants(meta)
                                 : find_functions(meta, meta->functions_span, meta->type,
                                                  meta->function, meta->functions);
}

static bool read_members(struct metadata *meta)
{
    const cJSON *item;
    for (EACH_JSON(&meta->document, item, meta->document.root, cJSON_Object))
        read_member(meta, item);
    return !meta->document.failed && check_members(meta);
}

/* ------------------------------------------------------------------------ kernel ---- */

struct attr_list {
    struct attr *at;
    uint32_t count, capacity;
};

static void add_flag(struct attr_list *attrs, uint32_t key, bool value)
{
    if (value)
        vec_push(attrs,
                 (struct attr){.key = key, .loc = NONE, .value = {.kind = ATTR_BOOL, .i = 1}});
}

static void add_list(struct metadata *meta, struct attr_list *attrs, uint32_t key,
                     const struct attr_value *values, uint32_t count)
{
    struct range range = module_add_values(meta->module, values, count);
    vec_push(attrs, (struct attr){.key = key,
                                  .loc = NONE,
                                  .value = {.kind = ATTR_LIST,
                                            .count = range.count,
                                            .first = count ? range.first : 0}});
}

static void add_words(struct metadata *meta, struct attr_list *attrs, uint32_t key,
                      const uint32_t *words, uint32_t count)
{
    VEC(struct attr_value) values = {NULL, 0, 0};
    for (uint32_t i = 0; i < count; i++)
        vec_push(&values, (struct attr_value){.kind = ATTR_WORD, .id = words[i]});
    add_list(meta, attrs, key, values.at, count);
    vec_free(&values);
}

static void add_function(struct metadata *meta, struct attr_list *attrs)
{
    struct attr parts[CORE_TYPES];
    if (!kernel_type_is_mixed(meta->type)) {
        uint32_t aic = meta->functions[CORE_AIC];
        vec_push(attrs,
                 attr_of(W_function, ATTR_STRING, aic != NONE ? aic : meta->functions[CORE_AIV]));
        return;
    }
    for (int core = 0; core < CORE_TYPES; core++)
        parts[core] = attr_of(core == CORE_AIC ? W_aic : W_aiv, ATTR_STRING, meta->functions[core]);
    struct range range = module_add_attrs(meta->module, parts, CORE_TYPES);
    vec_push(attrs, (struct attr){
                        .key = W_function,
                        .loc = NONE,
                        .value = {.kind = ATTR_DICT, .count = range.count, .first = range.first}});
}

/* The reference takes an arrival for the end of an op, and a wait for its beginning. */
static void add_early_start(struct metadata *meta, struct attr_list *attrs)
{
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
}

static struct attr_value make_variant(struct metadata *meta, const struct variant *variant)
{
    uint32_t type = module_name(meta->module, kernel_type_info(variant->type)->name), count = 2;
    struct attr attrs[2 + CORE_TYPES] = {attr_number(W_key, variant->key),
                                         attr_of(W_type, ATTR_WORD, type)};
    for (int core = 0; core < CORE_TYPES; core++)
        if (variant->functions[core] != NONE)
            attrs[count++] =
                attr_of(core == CORE_AIC ? W_aic : W_aiv, ATTR_STRING, variant->functions[core]);
    struct range range = module_add_attrs(meta->module, attrs, count);
    return (struct attr_value){.kind = ATTR_DICT, .count = range.count, .first = range.first};
}

static void add_variants(struct metadata *meta, struct attr_list *attrs)
{
    VEC(struct attr_value) values = {NULL, 0, 0};
    for (uint32_t i = 0; i < meta->variants.count; i++)
        vec_push(&values, make_variant(meta, &meta->variants.at[i]));
    add_list(meta, attrs, W_variants, values.at, values.count);
    vec_free(&values);
}

/* In the order of docs/language.md. */
static void add_attrs(struct metadata *meta, struct attr_list *attrs)
{
    bool dynamic = meta->source->dynamic;
    vec_push(attrs, attr_of(W_op, ATTR_STRING, meta->op_type));
    if (!dynamic)
        vec_push(attrs, attr_number(W_block, meta->block));
    if (meta->source->object != NONE)
        vec_push(attrs, (struct attr){.key = W_object,
                                      .loc = meta->source->object_loc,
                                      .value = {.kind = ATTR_STRING, .id = meta->source->object}});
    add_flag(attrs, W_dynamic, dynamic);
    if (dynamic)
        add_variants(meta, attrs);
    else
        add_function(meta, attrs);
    add_words(meta, attrs, W_params, meta->params.at, meta->params.count);
    add_early_start(meta, attrs);
    if (meta->split)
        vec_push(attrs, attr_number(W_split, meta->split));
    add_flag(attrs, W_sync_all, meta->sync_all);
    add_flag(attrs, W_dcci_before, meta->dcci_before);
    add_flag(attrs, W_dcci_after, meta->dcci_after);
    add_flag(attrs, W_dcci_disable, meta->dcci_disable);
    vec_push(attrs, attr_of(W__json, ATTR_STRING, meta->source->json));
    if (meta->debug != NONE)
        vec_push(attrs, attr_of(W__debugOptions, ATTR_STRING, meta->debug));
    if (meta->debug_bytes)
        vec_push(attrs, attr_number(W__debugBufSize, meta->debug_bytes));
}

/* Of files that several kernels come from once. */
static void add_token(struct source *source, struct span token)
{
    uint32_t count = source->tokens.count;
    if (count == 0 || source->tokens.at[count - 1].end <= token.begin)
        source_add_token(source, token);
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

static const struct source_file *open_file(struct dump *dump, const struct sub_kernel_source *from)
{
    struct arena arena = {NULL, 0};
    char error[512];
    const struct source_file *file = source_add_file(
        dump->source, name_text(dump->module, from->json, &arena), error, sizeof error);
    if (!file)
        diag_at(dump->diags, DIAG_file, from->json_span, "%s", error);
    arena_free(&arena);
    return file;
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
    const struct source_file *file = open_file(dump, source);
    *sub = (struct sub_kernel){.kernel = NONE, .op_type = NONE};
    if (!file)
        return;
    if (json_document_read(&meta.document, &file->text, file->begin, dump->diags) &&
        read_members(&meta)) {
        add_token(dump->source, meta.name_span);
        make_kernel(&meta, sub);
    }
    json_document_free(&meta.document);
    vec_free(&meta.params);
    vec_free(&meta.variants);
    id_map_free(&meta.variant_keys);
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&meta.chips[core]);
}
