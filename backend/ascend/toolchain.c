#include "backend/ascend/toolchain.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backend/ascend/ascend.h"
#include "backend/ascend/compile_info.h"
#include "backend/device/link.h"
#include "backend/library/kernel_link.h"
#include "ir/support/escapes.h"
#include "ir/syntax/locate.h"

/* Where releases of the toolkit have their tools, and which they have; %s is the machine. */
static const char *const tool_folders[] = {
    "bin",          "compiler/ccec_compiler/bin", "ccec_compiler/bin", "%s-linux/ccec_compiler/bin",
    "%s-linux/bin", "tools/bisheng_compiler/bin",
};
static const char *const compilers[] = {"bisheng", "ccec"};

/* The headers of AscendC, from `headers`. */
static const char *const header_folders[] = {"impl/adv_api",
                                             "impl/basic_api",
                                             "impl/c_api",
                                             "impl/basic_api/reg_compute",
                                             "impl/micro_api",
                                             "impl/simt_api",
                                             "impl/utils",
                                             "include",
                                             "include/adv_api",
                                             "include/basic_api",
                                             "include/aicpu_api",
                                             "include/c_api",
                                             "include/basic_api/reg_compute",
                                             "include/micro_api",
                                             "include/simt_api",
                                             "include/utils",
                                             "impl",
                                             ".",
                                             "../ascendc/act",
                                             "../tikcpp",
                                             "../tikcpp/tikcfw",
                                             "../tikcpp/tikcfw/impl",
                                             "../tikcpp/tikcfw/interface",
                                             "../../include",
                                             "../../include/ascendc"};

enum {
    TOOL_FOLDERS = sizeof tool_folders / sizeof *tool_folders,
    COMPILERS = sizeof compilers / sizeof *compilers,
    HEADER_FOLDERS = sizeof header_folders / sizeof *header_folders,
};

/* A folder below the toolkit's; its name may have one %s for the machine. */
static const char *folder_at(struct arena *arena, const char *home, const char *name)
{
    struct utsname machine;
    char below[128];
    if (uname(&machine) != 0)
        snprintf(machine.machine, sizeof machine.machine, "x86_64");
    const char *hole = strstr(name, "%s");
    if (hole)
        snprintf(below, sizeof below, "%.*s%s%s", (int)(hole - name), name, machine.machine,
                 hole + 2);
    else
        snprintf(below, sizeof below, "%s", name);
    return arena_printf(arena, "%s/%s", home, below);
}

static const char *tool_in(struct arena *arena, const char *folder, const char *name)
{
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    return access(path, X_OK) == 0 ? path : NULL;
}

static bool find_tools(struct toolchain *tools, struct arena *arena, const char *home)
{
    for (int f = 0; f < TOOL_FOLDERS; f++) {
        const char *folder = folder_at(arena, home, tool_folders[f]);
        tools->compiler = NULL;
        for (int c = 0; c < COMPILERS && !tools->compiler; c++)
            tools->compiler = tool_in(arena, folder, compilers[c]);
        if (!tools->compiler)
            continue;
        tools->linker = tool_in(arena, folder, "ld.lld");
        tools->objcopy = tool_in(arena, folder, "llvm-objcopy");
        return true;
    }
    return false;
}

/* The toolchain that the environment's ASCEND_HOME_PATH leads to; where it leads to none, `why` is
 * half a line that says so. */
static void toolchain_find(struct toolchain *tools, struct arena *arena, char *why, size_t why_size)
{
    const char *home = getenv("ASCEND_HOME_PATH");
    *tools = (struct toolchain){.found = false};
    if (home && *home && find_tools(tools, arena, home)) {
        static const char *const folders[] = {"%s-linux/asc", "compiler/asc", "asc"};
        tools->found = true;
        for (size_t i = 0; i < sizeof folders / sizeof *folders && !tools->headers; i++) {
            const char *folder = folder_at(arena, home, folders[i]);
            tools->headers = access(folder, X_OK) == 0 ? folder : NULL;
        }
        return;
    }
    if (home && *home)
        snprintf(why, why_size, "ASCEND_HOME_PATH, '%s', has no bisheng", home);
    else
        snprintf(why, why_size, "ASCEND_HOME_PATH is not set");
    *tools = (struct toolchain){
        .compiler = compilers[0], .linker = "ld.lld", .objcopy = "llvm-objcopy", .headers = "$asc"};
}

/* ---------------------------------------------------------------------------- options ---- */

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
    struct file_names options = {NULL, 0, 0};
    launch_info_compile_options(&info, &lines->arena, &options);
    for (uint32_t i = 0; i < options.count; i++) {
        /* A dump of one entry is one of all: it has an option of its own. */
        bool known = strncmp(options.at[i], "-DASCENDC_DUMP", 14) == 0;
        for (uint32_t k = 0; k < lines->options.count && !known; k++)
            known = strcmp(lines->options.at[k], options.at[i]) == 0;
        if (!known)
            vec_push(&lines->options, options.at[i]);
    }
    vec_free(&options);
    launch_info_free(&info);
}

void command_lines_init(struct command_lines *lines, const struct module *module, char *why,
                        size_t why_size)
{
    struct entry_finder finder;
    *lines = (struct command_lines){.module = module, .arch = module_arch(module)};
    toolchain_find(&lines->tools, &lines->arena, why, why_size);
    symbols_init(&lines->symbols, module);
    entry_finder_init(&finder, module);
    for (uint32_t i = 0; i < module->entries.count; i++)
        add_entry(lines, &finder, &module->entries.at[i]);
    entry_finder_free(&finder);
}

void command_lines_free(struct command_lines *lines)
{
    vec_free(&lines->options);
    symbols_free(&lines->symbols);
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
    for (uint32_t i = 0; i < module->entries.count; i++) {
        const struct entry *entry = &module->entries.at[i];
        vec_push(words, arena_printf(&lines->arena, "-Dauto_gen_%s_kernel=%s",
                                     symbols_entry(&lines->symbols, entry),
                                     symbols_part(&lines->symbols, entry, core)));
    }
}

void command_lines_compile(struct command_lines *lines, enum core_type core, const char *source,
                           const char *object, struct file_names *words)
{
    /* The table of lines is in a form that skirc reads. */
    static const char *const first[] = {
        "-x", "cce", "-c", "-O3", "-std=c++17", "-gdwarf-4", "-gline-tables-only", NULL};
    /* The stacks of the cores. */
    static const char *const code_options[] = {"-mllvm", "-cce-aicore-stack-size=0x8000",
                                               "-mllvm", "-cce-aicore-function-stack-size=0x8000",
                                               "-mllvm", "-cce-aicore-record-overflow=false",
                                               "-mllvm", "-cce-aicore-addr-transform",
                                               "-mllvm", "-cce-aicore-dcci-insert-for-scalar=false",
                                               NULL};
    static const char *const far_calls[] = {
        "-mllvm", "-cce-aicore-jump-expand=true", "--cce-long-call=true",
        "-mllvm", "-cce-aicore-long-call",        NULL};
    vec_push(words, lines->tools.compiler);
    add_words(words, first);
    for (int i = 0; i < HEADER_FOLDERS && lines->tools.headers; i++) {
        const char *folder =
            arena_printf(&lines->arena, "%s/%s", lines->tools.headers, header_folders[i]);
        if (!lines->tools.found || access(folder, X_OK) == 0)
            vec_push(words, arena_printf(&lines->arena, "-I%s", folder));
    }
    vec_push(words, arena_printf(&lines->arena, "--cce-aicore-arch=dav-%s-%s",
                                 arch_name(lines->arch), core == CORE_AIC ? "cube" : "vec"));
    vec_push(words, "--cce-aicore-only");
    if (!arch_has_sync_base(lines->arch)) {
        vec_push(words, "-D__DAV_C310__");
        vec_push(words, "--cce-no-dcache-flush");
    }
    add_words(words, code_options);
    if (lines->copies)
        add_words(words, far_calls);
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

/* The commands that make an object of the source, as a script: what skirc runs itself where it
 * finds the toolchain, with the linker's own tools in the place of its engine. */

struct script {
    struct text *text;
    const struct module *module;
    struct command_lines lines;
    struct kernel_objects *objects;
    const uint8_t *copies; /* by kernel; 0: nothing calls it */
    uint32_t *next;        /* by kernel: the next one with its object, or NONE */
    const char *base;
    struct file_names linked[CORE_TYPES + 1]; /* kernels' objects: by core type; dynamic ones */
    struct intern symbols_met;
    struct file_names locals; /* symbols that become local */
    struct arena arena;
};

/* ------------------------------------------------------------------------------- words ---- */

static bool is_plain(const char *word)
{
    for (const char *c = word; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-+=./:,@%", *c))
            return false;
    return *word != '\0';
}

/* The variable of the headers' folder is the shell's; all else is taken as it is. */
static void put_word(struct text *text, const char *word)
{
    if (is_plain(word)) {
        text_string(text, word);
    } else if (strncmp(word, "-I$asc/", 7) == 0 && is_plain(word + 6)) {
        text_printf(text, "\"%s\"", word);
    } else {
        text_char(text, '\'');
        for (const char *c = word; *c; c++)
            text_string(text, *c == '\'' ? "'\\''" : (const char[]){*c, '\0'});
        text_char(text, '\'');
    }
}

/* A command, in lines that can be read. */
static void put_command(struct text *text, const struct file_names *words)
{
    enum { WIDTH = 100 };
    size_t line = text->size;
    for (uint32_t i = 0; i < words->count; i++) {
        if (i && text->size - line + strlen(words->at[i]) + 4 > WIDTH) {
            text_string(text, " \\\n   ");
            line = text->size - 3;
        }
        text_string(text, i ? " " : "");
        put_word(text, words->at[i]);
    }
    text_char(text, '\n');
}

/* ------------------------------------------------------------------------------- parts ---- */

static const char *part_object(struct script *script, enum core_type core)
{
    return arena_printf(&script->arena, "%s_%s.o", script->base, core_type_name(core));
}

static void put_compilations(struct script *script)
{
    const char *source = arena_printf(&script->arena, "%s" ASCENDC_SUFFIX, script->base);
    text_string(script->text, "\n# The source, for each type of core.\n");
    for (int core = 0; core < CORE_TYPES; core++) {
        struct file_names words = {NULL, 0, 0};
        if (!script->lines.parts[core])
            continue;
        command_lines_compile(&script->lines, (enum core_type)core, source,
                              part_object(script, (enum core_type)core), &words);
        put_command(script->text, &words);
        vec_free(&words);
    }
}

/* ----------------------------------------------------------------------------- kernels ---- */

/* Adds an option for each function of the kernel that the entries call by another name, and to the
 * local symbols all of them. */
static void add_functions(struct script *script, const struct kernel *kernel, uint32_t copy,
                          struct file_names *words)
{
    const struct module *module = script->module;
    bool own = attr_find(module, kernel->attrs, W_split);
    for (uint32_t i = 0; i < kernel_parts(module, kernel); i++) {
        struct kernel_part part;
        if (!kernel_part_at(module, kernel, i, &part) || part.function == NONE)
            continue;
        const char *symbol = symbols_function(&script->lines.symbols, kernel, part.function, copy);
        uint32_t met = script->symbols_met.count;
        if (intern_copy(&script->symbols_met, symbol, strlen(symbol)) < met)
            continue; /* kernels may share functions */
        /* What the function, or a copy that the object brings itself, is called there. */
        struct text name = {NULL, 0, 0};
        kernel_copy_function(&name, module, kernel, part.function, own ? copy : 0);
        text_char(&name, '\0');
        vec_push(&script->locals, symbol);
        if (strcmp(symbol, name.at) != 0)
            vec_push(words, arena_printf(&script->arena, "--redefine-sym=%s=%s", name.at, symbol));
        text_free(&name);
    }
}

/* Those of all kernels with this object: copies that it brings itself are in its first one. */
static void add_renames(struct script *script, uint32_t owner, uint32_t copy,
                        struct file_names *words)
{
    const struct module *module = script->module;
    for (uint32_t k = owner; k != NONE; k = script->next[k]) {
        const struct kernel *kernel = &module->kernels.at[k];
        bool own = attr_find(module, kernel->attrs, W_split);
        uint32_t end = !own ? copy + 1 : copy == 0 ? script->copies[k] : 0;
        for (uint32_t i = copy; i < end && i < script->copies[k]; i++)
            add_functions(script, kernel, i, words);
    }
}

static void add_copy(struct script *script, const struct kernel *kernel, uint32_t owner,
                     uint32_t copy)
{
    struct file_names words = {NULL, 0, 0};
    /* Where the object is, or what the program calls it. */
    const struct kernel_object *object = kernel_object_of(script->objects, script->module, kernel);
    uint32_t name = attr_string(script->module, kernel->attrs, W_object);
    const char *path = object ? object->path : name_text(script->module, name, &script->arena);
    unsigned list = kernel_is_dynamic(script->module, kernel) ? CORE_TYPES
                    : kernel_type_has(kernel->type, CORE_AIC) ? CORE_AIC
                                                              : CORE_AIV;
    vec_push(&words, script->lines.tools.objcopy);
    add_renames(script, owner, copy, &words);
    if (words.count > 1) {
        /* The file may be in another folder, and have the suffix .a. */
        const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
        const char *renamed = arena_printf(&script->arena, "%s_k%u_%u%s", script->base, owner, copy,
                                           dot && (!slash || dot > slash) ? dot : "");
        vec_push(&words, path);
        vec_push(&words, renamed);
        put_command(script->text, &words);
        path = renamed;
    }
    if (words.count > 1 || copy == 0)
        vec_push(&script->linked[list], path);
    vec_free(&words);
}

/* The kernels with an object are a list from their owner on, in their order. */
static void find_next(struct script *script)
{
    const struct module *module = script->module;
    script->next = mem_calloc(module->kernels.count + 1, sizeof *script->next);
    for (uint32_t k = 0; k < module->kernels.count; k++)
        script->next[k] = NONE;
    for (uint32_t k = module->kernels.count; k-- > 0;) {
        uint32_t owner = symbols_owner(&script->lines.symbols, &module->kernels.at[k]);
        if (owner == k)
            continue;
        script->next[k] = script->next[owner];
        script->next[owner] = k;
    }
}

static void put_kernels(struct script *script)
{
    const struct module *module = script->module;
    if (!script->lines.tools.objcopy)
        script->lines.tools.objcopy = "llvm-objcopy";
    text_string(script->text, "\n# Kernels, by the names that the source calls them, and copies of "
                              "their code.\n");
    for (uint32_t k = 0; k < module->kernels.count; k++) {
        const struct kernel *kernel = &module->kernels.at[k];
        if (symbols_owner(&script->lines.symbols, kernel) != k ||
            attr_string(module, kernel->attrs, W_object) == NONE)
            continue;
        uint32_t copies = 0; /* the most that one of the kernels with the object has */
        for (uint32_t i = k; i != NONE; i = script->next[i])
            copies = script->copies[i] > copies ? script->copies[i] : copies;
        for (uint32_t copy = 0; copy < copies; copy++)
            add_copy(script, kernel, k, copy);
    }
}

/* ------------------------------------------------------------------------------- links ---- */

static void add_list(struct file_names *words, const struct file_names *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        vec_push(words, list->at[i]);
}

/* Entry and cube parts, then vector parts, dynamic kernels last; archives as a whole, where their
 * cube parts are. */
static void put_link(struct script *script, const char *output)
{
    static const char *const first[] = {"-m", "aicorelinux",     "-r", "-Ttext=0", "-q",
                                        "-x", "--whole-archive", NULL};
    const char *const last[] = {"-static", "-o", output, NULL};
    struct file_names words = {NULL, 0, 0};
    if (!script->lines.tools.linker)
        script->lines.tools.linker = "ld.lld";
    vec_push(&words, script->lines.tools.linker);
    add_words(&words, first);
    for (int core = 0; core < CORE_TYPES; core++) {
        if (script->lines.parts[core])
            vec_push(&words, part_object(script, (enum core_type)core));
        add_list(&words, &script->linked[core]);
    }
    add_list(&words, &script->linked[CORE_TYPES]);
    add_words(&words, last);
    text_string(script->text, "\n# One object, whose only global functions are the entries.\n");
    put_command(script->text, &words);
    vec_free(&words);
}

/* Loaders compare it. Metadata have a line for each key, here each entry's. */
static void put_digest(struct script *script, const char *output)
{
    const char *meta = arena_printf(&script->arena, "%s.json", script->base);
    text_string(script->text, "\n# The object's digest, for its metadata.\nmeta=");
    put_word(script->text, meta);
    text_string(script->text, "\nobject=");
    put_word(script->text, output);
    text_string(script->text,
                "\nif [ -f \"$meta\" ]; then\n"
                "    digest=$(sha256sum <\"$object\" | cut -d' ' -f1)\n"
                "    line='\"sha256\": \"'\"$digest\"'\",'\n"
                "    sed -e '/^[[:space:]]*\"sha256\":/d' \\\n"
                "        -e 's/^\\([[:space:]]*\\)\"taskRation\":/\\1'\"$line\"'\\n&/' \\\n"
                "        <\"$meta\" >\"$meta.new\"\n"
                "    mv \"$meta.new\" \"$meta\"\n"
                "fi\n");
}

static void put_links(struct script *script)
{
    const char *output = arena_printf(&script->arena, "%s.o", script->base);
    struct file_names words = {NULL, 0, 0};
    put_link(script, output);
    vec_push(&words, script->lines.tools.objcopy);
    for (uint32_t i = 0; i < script->locals.count; i++)
        vec_push(&words,
                 arena_printf(&script->arena, "--localize-symbol=%s", script->locals.at[i]));
    vec_push(&words, output);
    put_command(script->text, &words);
    words.count = 0;
    command_lines_finish(&script->lines, output, output, &words);
    put_command(script->text, &words);
    vec_free(&words);
    put_digest(script, output);
}

/* ------------------------------------------------------------------------------ scripts ---- */

static void put_head(struct script *script)
{
    struct text base = {NULL, 0, 0};
    escape_put(&base, script->base, strlen(script->base), ESCAPE_HEX);
    text_printf(script->text, "#!/bin/sh\n# Makes '%.*s.o' of '%.*s" ASCENDC_SUFFIX "'.\nset -e\n",
                (int)base.size, base.at, (int)base.size, base.at);
    text_free(&base);
    if (!script->lines.tools.found)
        text_string(script->text,
                    "# The tools are those of the toolkit, whose set_env.sh puts them into PATH.\n"
                    "asc=\"${ASCEND_HOME_PATH:?}/$(uname -m)-linux/asc\"\n");
}

void commands_add(const struct emission_job *job, struct text *text, const char *base)
{
    char why[512];
    struct script script = {
        .text = text, .objects = job->places->objects, .module = job->module, .base = base};
    struct kernel_copies copies = device_kernel_copies(job->module);
    script.copies = copies.chosen; /* by numbers that cores have on the device */
    command_lines_init(&script.lines, job->module, why, sizeof why);
    find_next(&script);
    put_head(&script);
    put_compilations(&script);
    put_kernels(&script);
    put_links(&script);
    command_lines_free(&script.lines);
    for (int i = 0; i <= CORE_TYPES; i++)
        vec_free(&script.linked[i]);
    vec_free(&script.locals);
    intern_free(&script.symbols_met);
    mem_free(script.next);
    kernel_copies_free(&copies);
    arena_free(&script.arena);
}

/* Whether the object that a kernel's was found as is in the folder of the sample kernels. */
static bool is_sample(const struct emission_job *job, const struct kernel *kernel)
{
    const struct kernel_object *object =
        kernel_object_of(job->places->objects, job->module, kernel);
    const char *folder = job->places->header_dir;
    size_t size = folder ? strlen(folder) : 0;
    return object && size && strncmp(object->path, folder, size) == 0 && object->path[size] == '/';
}

bool commands_check_kernels(const struct emission_job *job)
{
    const struct module *module = job->module;
    struct kernel_copies copies = device_kernel_copies(module);
    bool ok = true;
    for (uint32_t k = 0; k < module->kernels.count; k++) {
        const struct kernel *kernel = &module->kernels.at[k];
        if (!copies.chosen[k] || kernel_is_stub(module, kernel) || !is_sample(job, kernel))
            continue;
        ok = false;
        if (diag_at(
                job->diags, DIAG_sample_object,
                kernel->loc == NONE ? no_span : locate_name(module, kernel->loc),
                "the kernel '@%.*s' is a sample kernel, whose object is for this machine and not "
                "for an NPU",
                NAME(module, kernel->name)))
            diag_help(job->diags,
                      "declare a kernel for its ops whose 'object' was built for the NPU");
    }
    kernel_copies_free(&copies);
    return ok;
}

enum backend_status ascend_emit_commands(const struct emission_job *job)
{
    if (!commands_check_kernels(job))
        return BACKEND_INPUT;
    if (job->module->entries.count == 0) {
        text_string(job->text, "#!/bin/sh\n# Nothing is fused: there is no object to make.\n");
        return BACKEND_OK;
    }
    struct symbols symbols;
    symbols_init(&symbols, job->module);
    commands_add(job, job->text, symbols_entry(&symbols, &job->module->entries.at[0]));
    symbols_free(&symbols);
    return BACKEND_OK;
}
