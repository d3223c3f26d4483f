#include "backend/ascend/command_lines.h"
#include "backend/ascend/launch_info.h"

/* ---------------------------------------------------------------------------- options ---- */

static bool has_word(const struct file_names *words, const char *word)
{
    for (uint32_t i = 0; i < words->count; i++)
        if (strcmp(words->at[i], word) == 0)
            return true;
    return false;
}

/* A dump of one entry is one of all. */
static void add_options(struct command_lines *lines, const struct launch_info *info)
{
    struct file_names options = {NULL, 0, 0};
    launch_info_compile_options(info, &lines->arena, &options);
    for (uint32_t i = 0; i < options.count; i++)
        if (strncmp(options.at[i], "-DASCENDC_DUMP", 14) != 0 &&
            !has_word(&lines->options, options.at[i]))
            vec_push(&lines->options, options.at[i]);
    vec_free(&options);
}

static void add_entry(struct command_lines *lines, struct entry_finder *finder,
                      const struct entry *entry)
{
    struct launch_info info;
    launch_info_init(&info, finder, entry);
    for (int core = 0; core < CORE_TYPES; core++)
        lines->parts[core] |= kernel_type_has(entry->type, (enum core_type)core);
    if (kernel_type_is_mixed(entry->type)) {
        lines->one_to_one =
            (lines->one_to_one || !lines->mixed) && kernel_type_info(entry->type)->aivs == 1;
        lines->mixed = true;
    }
    lines->copies |= launch_info_copies(&info) > 1;
    lines->dumps |= launch_info_dumps(&info);
    add_options(lines, &info);
    launch_info_free(&info);
}

void command_lines_init(struct command_lines *lines, const struct module *module, char *why,
                        size_t why_size)
{
    struct entry_finder finder;
    *lines = (struct command_lines){.module = module, .arch = module_arch(module)};
    toolchain_find(&lines->tools, &lines->arena, why, why_size);
    entry_finder_init(&finder, module);
    for (uint32_t i = 0; i < module->entries.count; i++)
        add_entry(lines, &finder, &module->entries.at[i]);
    entry_finder_free(&finder);
}

void command_lines_free(struct command_lines *lines)
{
    vec_free(&lines->options);
    arena_free(&lines->arena);
}

/* -------------------------------------------------------------------------- compilation ---- */

static void add_words(struct file_names *to, const char *const *words)
{
    for (; *words; words++)
        vec_push(to, *words);
}

/* The source calls each entry by a name of its own; the host knows its parts by these. */
static void add_entry_names(struct command_lines *lines, enum core_type core,
                            struct file_names *words)
{
    const struct module *module = lines->module;
    struct text name = {NULL, 0, 0}, symbol = {NULL, 0, 0};
    for (uint32_t i = 0; i < module->entries.count; i++) {
        const struct entry *entry = &module->entries.at[i];
        name.size = symbol.size = 0;
        entry_kernel_name(&name, module, entry);
        entry_part_symbol(&symbol, module, entry, core);
        vec_push(words, arena_printf(&lines->arena, "-Dauto_gen_%.*s_kernel=%.*s", (int)name.size,
                                     name.at, (int)symbol.size, symbol.at));
    }
    text_free(&name);
    text_free(&symbol);
}

static void add_chip(struct command_lines *lines, enum core_type core, struct file_names *words)
{
    vec_push(words, arena_printf(&lines->arena, "--cce-aicore-arch=dav-%s-%s",
                                 arch_name(lines->arch), core == CORE_AIC ? "cube" : "vec"));
    vec_push(words, "--cce-aicore-only");
    if (!arch_has_sync_base(lines->arch)) {
        vec_push(words, "-D__DAV_C310__");
        vec_push(words, "--cce-no-dcache-flush");
    }
}

/* How code is made for the cores: their stacks, and calls of what is linked far away. */
static void add_code_options(struct command_lines *lines, struct file_names *words)
{
    static const char *const always[] = {"-mllvm", "-cce-aicore-stack-size=0x8000",
                                         "-mllvm", "-cce-aicore-function-stack-size=0x8000",
                                         "-mllvm", "-cce-aicore-record-overflow=false",
                                         "-mllvm", "-cce-aicore-addr-transform",
                                         "-mllvm", "-cce-aicore-dcci-insert-for-scalar=false",
                                         NULL};
    static const char *const far[] = {
        "-mllvm", "-cce-aicore-jump-expand=true", "--cce-long-call=true",
        "-mllvm", "-cce-aicore-long-call",        NULL};
    add_words(words, always);
    if (lines->copies)
        add_words(words, far);
}

void command_lines_compile(struct command_lines *lines, enum core_type core, const char *source,
                           const char *object, struct file_names *words)
{
    /* The table of lines is in a form that skirc reads. */
    static const char *const first[] = {
        "-x", "cce", "-c", "-O3", "-std=c++17", "-gdwarf-4", "-gline-tables-only", NULL};
    vec_push(words, lines->tools.compiler);
    add_words(words, first);
    toolchain_add_includes(&lines->tools, &lines->arena, words);
    add_chip(lines, core, words);
    add_code_options(lines, words);
    vec_push(words, "-DTILING_KEY_VAR=0UL");
    if (lines->mixed)
        vec_push(words, "-D__MIX_CORE_MACRO__=1");
    if (lines->one_to_one)
        vec_push(words, "-D__MIX_CORE_AIC_RATION__=1");
    if (lines->one_to_one && !arch_has_sync_base(lines->arch))
        vec_push(words, "-D__ASCENDC_DAVID_SPLIT_CORE__");
    add_entry_names(lines, core, words);
    vec_push(words, lines->dumps ? "-DASCENDC_DUMP" : "-DASCENDC_DUMP=0");
    if (lines->dumps)
        vec_push(words, "-DONE_CORE_DUMP_SIZE=1048576");
    for (uint32_t i = 0; i < lines->options.count; i++)
        vec_push(words, lines->options.at[i]);
    const char *const last[] = {"-o", object, source, NULL};
    add_words(words, last);
}

void command_lines_finish(struct command_lines *lines, const char *linked, const char *output,
                          struct file_names *words)
{
    const char *const all[] = {lines->tools.linker, "-m", "aicorelinux", "-Ttext=0", linked,
                               "-static",           "-o", output,        "-q",       NULL};
    add_words(words, all);
}
