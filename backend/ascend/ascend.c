/* The Ascend target: its commands, and objects: the source is compiled for each type of core, and
 * linked with the kernels. */
#include "backend/ascend/ascend.h"
#include "ir/core/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/ascend/host_emulation.h"
#include "backend/ascend/meta.h"
#include "backend/ascend/source_map.h"
#include "backend/ascend/symbols.h"
#include "backend/ascend/toolchain.h"
#include "backend/device/link.h"
#include "backend/device/ops.h"
#include "backend/device/run.h"
#include "backend/library/kernel_link.h"
#include "backend/linker/object.h"
#include "ir/core/arch.h"
#include "ir/support/diag.h"
#include "ir/syntax/locate.h"

/* Groups of the link; kernels' come after them. Parts of entries are apart, as inline functions of
 * one name are other code for the other core type. */
enum { FIRST_KERNEL_GROUP = CORE_TYPES };

/* The order of a link: entry and cube parts, then vector parts, dynamic kernels last. */
enum { RANK_ENTRY, RANK_CUBE, RANK_VECTOR_ENTRY, RANK_VECTOR, RANK_DYNAMIC };

/* ---------------------------------------------------------------------------- kernels ---- */

static void add_symbol(const void *user, struct text *text, const struct kernel *kernel,
                       struct kernel_part part, uint32_t copy)
{
    text_string(text, symbols_function((struct symbols *)user, kernel, part.function, copy));
}

static uint32_t owner_of(const void *user, const struct kernel *kernel)
{
    return symbols_owner(user, kernel);
}

/* Places the input that has a function, with all copies of it that the object brings itself. */
static void place_function(struct kernel_link *linker, const struct kernel *kernel,
                           enum core_type core, uint32_t copies, unsigned rank)
{
    const struct module *module = linker->module;
    uint32_t function = kernel_function(module, kernel, core);
    bool own = attr_find(module, kernel->attrs, W_split);
    for (uint32_t copy = 0; copy < (own ? copies : 1); copy++) {
        struct text name = {NULL, 0, 0};
        kernel_copy_function(&name, module, kernel, function, copy);
        text_char(&name, '\0');
        object_link_place(linker->link, kernel_link_group(linker, kernel), name.at, rank);
        text_free(&name);
    }
}

/* An input that has both parts goes with the cube parts. */
static void place_kernel(struct kernel_link *linker, const struct kernel *kernel, uint32_t copies)
{
    bool cube = kernel_type_has(kernel->type, CORE_AIC);
    unsigned rank = kernel_is_dynamic(linker->module, kernel) ? RANK_DYNAMIC
                    : cube                                    ? RANK_CUBE
                                                              : RANK_VECTOR;
    if (kernel_is_stub(linker->module, kernel))
        return;
    object_link_place(linker->link, kernel_link_group(linker, kernel), NULL, rank);
    if (rank == RANK_CUBE && kernel_type_has(kernel->type, CORE_AIV)) {
        place_function(linker, kernel, CORE_AIV, copies, RANK_VECTOR);
        place_function(linker, kernel, CORE_AIC, copies, RANK_CUBE);
    }
}

/* ----------------------------------------------------------------------------- entries ---- */

static void add_entries(struct kernel_link *linker, struct symbols *symbols,
                        const char *const objects[CORE_TYPES])
{
    const struct module *module = linker->module;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!objects[core])
            continue;
        object_link_add_file(linker->link, (unsigned)core, objects[core]);
        object_link_place(linker->link, (unsigned)core, NULL,
                          core == CORE_AIV && objects[CORE_AIC] ? RANK_VECTOR_ENTRY : RANK_ENTRY);
        object_link_share(linker->link, (unsigned)core);
    }
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct entry *entry = &module->entries.at[i];
            if (!kernel_type_has(entry->type, (enum core_type)core))
                continue;
            const char *symbol = symbols_part(symbols, entry, (enum core_type)core);
            object_link_export(linker->link, (unsigned)core, symbol, symbol);
            object_link_keep(linker->link, symbol);
        }
}

/* Links the entries' objects, one for each core type that some entry runs on (else NULL), with the
 * kernels that they call into one relocatable object whose only global symbols are the parts of
 * entries. Without `objects`, the kernels alone are linked, to see what would be refused. */
static enum backend_status link_objects(const struct emission_job *job, const char *const *objects,
                                        const char *output)
{
    struct kernel_link linker;
    struct symbols symbols;
    symbols_init(&symbols, job->module);
    const struct kernel_names names = {add_symbol, owner_of, &symbols};
    kernel_link_begin(&linker, job->module, job->places, &names, FIRST_KERNEL_GROUP, output,
                      job->diags);
    /* Cores choose by the numbers that they have on the device, whatever the launch: any copy. */
    struct kernel_copies copies = device_kernel_copies(job->module);
    if (objects)
        add_entries(&linker, &symbols, objects);
    bool ok = kernel_link_add(&linker, copies.chosen);
    for (uint32_t i = 0; ok && i < job->module->kernels.count; i++)
        if (copies.chosen[i])
            place_kernel(&linker, &job->module->kernels.at[i], copies.chosen[i]);
    enum backend_status status = kernel_link_finish(&linker, ok);
    kernel_copies_free(&copies);
    symbols_free(&symbols);
    return status;
}

/* ".../entry.cpp:LINE:COLUMN: error: TEXT" */
struct said_error {
    uint32_t line;
    const char *text;
};

static bool read_error(const char *at, struct said_error *error)
{
    static const char *const words[] = {": error: ", ": fatal error: "};
    const char *file = strstr(at, BUILD_SOURCE ":");
    unsigned line;
    if (!file || sscanf(file, BUILD_SOURCE ":%u", &line) != 1)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = strstr(file, words[i]);
        if (!found)
            continue;
        *error = (struct said_error){line, found + strlen(words[i])};
        return true;
    }
    return false;
}

/* The bytes of a line of the source, from its first word on. */
static const char *line_of(const struct text *source, uint32_t line, int *size)
{
    const char *at = source->at, *end = source->at + source->size;
    for (uint32_t n = 1; n < line && at < end; n++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    while (at < end && *at == ' ')
        at++;
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    *size = (int)((stop ? stop : end) - at);
    return at;
}

/* `said` is what a tool that failed printed, after a line that names it; it is changed. */
static void compile_errors_report(const struct emission_job *job, char *said,
                                  const struct text *source, const struct source_lines *lines)
{
    char *rest, *first = strtok_r(said, "\n", &rest), *line;
    struct said_error error;
    uint32_t found = 0;
    char *all = rest ? mem_strdup(rest) : NULL;
    while ((line = strtok_r(NULL, "\n", &rest)))
        if (read_error(line, &error)) {
            int size;
            const char *text = line_of(source, error.line, &size);
            if (diag_at(job->diags, DIAG_tool, places_span(job->module, lines, error.line),
                        "the device compiler says: %s", error.text))
                diag_help(job->diags, "line %u of the source is '%.*s'", error.line, size, text);
            found++;
        }
    if (found == 0 && diag_at(job->diags, DIAG_tool, no_span, "%s", first) && all)
        for (line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            diag_help(job->diags, "%s", line);
    mem_free(all);
}

/* Objects: the source is compiled for each type of core, and linked with the kernels. Without the
 * device toolchain, what it would be given is left next to the place of the object. */

struct build {
    const struct emission_job *job;
    struct text source;
    struct source_lines lines;
    struct command_lines commands;
    struct code_map code;
    const char *base; /* the output without its suffix */
    struct arena arena;
};

static bool report(const struct build *build, enum diag_id id, const char *error)
{
    diag_at(build->job->diags, id, no_span, "%s", error);
    return false;
}

static bool write_text(const struct build *build, const char *path, const struct text *text)
{
    char error[512];
    return file_write(path, text->at, text->size, error, sizeof error) ||
           report(build, DIAG_file, error);
}

/* --------------------------------------------------------------------------- companions ---- */

/* Only regular files have companions, unlike /dev/null. */
static bool has_companions(const char *output)
{
    struct stat info;
    return stat(output, &info) != 0 || S_ISREG(info.st_mode);
}

static const char *companion(struct build *build, const char *suffix)
{
    return arena_printf(&build->arena, "%s%s", build->base, suffix);
}

static bool write_meta(struct build *build, const struct meta_object *object)
{
    struct text text = {NULL, 0, 0};
    struct emission_job job = *build->job;
    job.text = &text;
    bool ok =
        meta_add(&job, object) == BACKEND_OK && write_text(build, companion(build, ".json"), &text);
    text_free(&text);
    return ok;
}

/* Compile info, and the commands where `commands` is set. */
static bool write_info(struct build *build, bool commands)
{
    struct text text = {NULL, 0, 0};
    struct emission_job job = *build->job;
    job.text = &text;
    bool ok = ascend_emit_compile_info(&job) == BACKEND_OK &&
              write_text(build, companion(build, ".info.json"), &text);
    text.size = 0;
    if (ok && commands) {
        commands_add(build->job, &text, build->base);
        ok = write_text(build, companion(build, ".sh"), &text);
    }
    text_free(&text);
    return ok;
}

/* Metadata of kernels have the suffix of a kernel's own. */
static bool replaces_metadata(struct build *build)
{
    const struct module *module = build->job->module;
    const char *output = companion(build, ".json");
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        const struct kernel *kernel = &module->kernels.at[i];
        uint32_t json = attr_string(module, kernel->attrs, W__json);
        if (json == NONE)
            continue;
        const char *name = name_text(module, json, &build->arena);
        const char *path =
            arena_path(&build->arena, *name == '/' ? "" : build->job->places->source_dir, name);
        if (!path_same(path, output))
            continue;
        diag_at(build->job->diags, DIAG_file, locate_name(module, kernel->loc),
                "'%s', the metadata of the output, would replace those of '@%.*s'", output,
                NAME(module, kernel->name));
        return true;
    }
    return false;
}

/* An object of an earlier compilation would not belong to the metadata of this one. */
static bool remove_object(struct build *build)
{
    char error[512];
    const char *output = build->job->output;
    if (access(output, F_OK) != 0)
        return true;
    /* They are known as inputs then. */
    for (uint32_t i = 0; i < build->job->module->kernels.count; i++)
        kernel_object_of(build->job->places->objects, build->job->module,
                         &build->job->module->kernels.at[i]);
    if (!file_is_input(output) && unlink(output) == 0)
        return true;
    if (file_is_input(output))
        snprintf(error, sizeof error, "the output '%s' would replace an input", output);
    else
        snprintf(error, sizeof error, "cannot remove '%s': %s", output, strerror(errno));
    return report(build, DIAG_file, error);
}

static const char *file_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Everything but the object. */
static enum backend_status leave_commands(struct build *build, const char *why)
{
    const char *base = build->base;
    const struct meta_object object = {.name = file_part(base), .lines = &build->lines};
    if (!has_companions(build->job->output)) {
        if (diag_at(build->job->diags, DIAG_no_toolchain, no_span, "no object is made: %s", why))
            diag_help(build->job->diags, "set it to the folder of the toolkit");
        return BACKEND_OK;
    }
    if (!remove_object(build) ||
        !write_text(build, companion(build, ASCENDC_SUFFIX), &build->source) ||
        !write_meta(build, &object) || !write_info(build, true))
        return BACKEND_INPUT;
    diag_at(build->job->diags, DIAG_no_toolchain, no_span,
            "no object is made: %s; '%s.sh' has the commands that make it of '%s" ASCENDC_SUFFIX
            "', "
            "'%s.json' and '%s.info.json' what the host side needs",
            why, base, base, base, base);
    return BACKEND_OK;
}

/* --------------------------------------------------------------------------- the object ---- */

/* Runs a tool that writes a file, and frees its words. */
static enum backend_status run_tool(struct build *build, struct file_names *words,
                                    const char *output)
{
    char error[2600];
    struct stat info;
    enum backend_status status = BACKEND_TOOL;
    vec_push(words, NULL);
    if (!tool_run(words->at, error, sizeof error)) {
        compile_errors_report(build->job, error, &build->source, &build->lines);
    } else if (stat(output, &info) != 0 || info.st_size == 0) {
        snprintf(error, sizeof error, "'%s' wrote no object, and says nothing of that: status 0",
                 words->at[0]);
        report(build, DIAG_tool, error);
    } else {
        status = BACKEND_OK;
    }
    vec_free(words);
    return status;
}

static enum backend_status compile_parts(struct build *build, const char *folder,
                                         const char *objects[CORE_TYPES])
{
    const char *source = arena_printf(&build->arena, "%s/" BUILD_SOURCE, folder);
    enum backend_status status = BACKEND_OK;
    if (!write_text(build, source, &build->source))
        return BACKEND_INPUT;
    for (int core = 0; core < CORE_TYPES && status == BACKEND_OK; core++) {
        struct file_names words = {NULL, 0, 0};
        objects[core] = NULL;
        if (!build->commands.parts[core])
            continue;
        objects[core] = arena_printf(&build->arena, "%s/entry_%s.o", folder,
                                     core_type_name((enum core_type)core));
        command_lines_compile(&build->commands, (enum core_type)core, source, objects[core],
                              &words);
        status = run_tool(build, &words, objects[core]);
        if (status == BACKEND_OK)
            code_map_add_part(&build->code, objects[core]);
    }
    return status;
}

/* Loaders apply no relocations to code: who puts it at its addresses is the toolchain's linker. */
static enum backend_status check_finished(struct build *build, const char *finished)
{
    char error[512], symbol[256];
    uint64_t count;
    if (!object_code_relocations(finished, &count, symbol, sizeof symbol, error, sizeof error)) {
        report(build, DIAG_tool, error);
        return BACKEND_TOOL;
    }
    if (count == 0)
        return BACKEND_OK;
    const char *linker = build->commands.tools.linker;
    const char *of = *symbol ? arena_printf(&build->arena, ", the first of '%s'", symbol) : "";
    if (diag_at(build->job->diags, DIAG_tool, no_span,
                "no object is made, since it could not be loaded: %llu relocation%s of its code "
                "remain%s%s",
                (unsigned long long)count, count == 1 ? "" : "s", count == 1 ? "s" : "", of)) {
        if (linker)
            diag_help(build->job->diags, "'%s' has left them: make it the device's linker", linker);
        else
            diag_help(build->job->diags, "put the toolkit's 'ld.lld' beside '%s'",
                      build->commands.tools.compiler);
    }
    return BACKEND_TOOL;
}

/* Writes the object where it belongs, and the metadata next to it. */
static enum backend_status deliver(struct build *build, const char *finished)
{
    const char *output = build->job->output;
    struct file_bytes bytes;
    char error[512], hex[2 * SHA256_DIGEST_SIZE + 1] = "";
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    if (!file_read(finished, &bytes, error, sizeof error)) {
        report(build, DIAG_file, error);
        return BACKEND_TOOL;
    }
    sha256_init(&context);
    sha256_update(&context, bytes.size, (const uint8_t *)bytes.data);
    sha256_digest(&context, sizeof digest, digest);
    base16_encode_update(hex, sizeof digest, digest);
    const struct meta_object object = {file_part(build->base), hex, &build->code, &build->lines};
    bool companions = has_companions(output);
    bool ok = file_write(output, bytes.data, bytes.size, error, sizeof error) ||
              report(build, DIAG_file, error);
    ok = ok && (!companions || write_meta(build, &object));
    file_bytes_free(&bytes);
    return ok ? BACKEND_OK : BACKEND_INPUT;
}

static enum backend_status make(struct build *build)
{
    const char *objects[CORE_TYPES], *finished;
    struct tool_folder folder;
    if (!device_make_folder(&folder, build->job->diags))
        return BACKEND_INPUT;
    const char *linked = arena_printf(&build->arena, "%s/linked.o", folder.path);
    enum backend_status status = compile_parts(build, folder.path, objects);
    if (status == BACKEND_OK)
        status = link_objects(build->job, objects, linked);
    if (status == BACKEND_OK)
        code_map_link(&build->code, linked);
    finished = linked;
    /* Where the toolchain has a linker, the host loads what that has put at its addresses. */
    if (status == BACKEND_OK && build->commands.tools.linker) {
        struct file_names words = {NULL, 0, 0};
        finished = arena_printf(&build->arena, "%s/finished.o", folder.path);
        command_lines_finish(&build->commands, linked, finished, &words);
        status = run_tool(build, &words, finished);
    }
    if (status == BACKEND_OK)
        status = check_finished(build, finished);
    if (status == BACKEND_OK)
        status = deliver(build, finished);
    tool_folder_remove(&folder);
    return status;
}

enum backend_status ascend_emit_object(const struct emission_job *job)
{
    struct build build = {.job = job};
    char why[512];
    enum backend_status status = BACKEND_INPUT;
    size_t size = strlen(job->output);
    bool suffix =
        size > 2 && strcmp(job->output + size - 2, ".o") == 0 && job->output[size - 3] != '/';
    build.base = arena_strndup(&build.arena, job->output, suffix ? size - 2 : size);
    command_lines_init(&build.commands, job->module, why, sizeof why);
    bool ok = !replaces_metadata(&build) &&
              ascendc_emit(&build.source, job->module, &build.lines, job->diags) &&
              commands_check_kernels(job);
    if (ok && job->module->entries.count > 0) {
        status = build.commands.tools.found ? make(&build) : leave_commands(&build, why);
    } else if (ok) { /* what the host side reads has no entry */
        const struct meta_object object = {.lines = &build.lines};
        if (!has_companions(job->output) ||
            (remove_object(&build) && write_meta(&build, &object) && write_info(&build, false))) {
            diag_at(job->diags, DIAG_nothing_to_fuse, no_span,
                    "no object is made: there is no super kernel to be in it");
            status = BACKEND_OK;
        }
    }
    command_lines_free(&build.commands);
    code_map_free(&build.code);
    vec_free(&build.lines);
    text_free(&build.source);
    arena_free(&build.arena);
    return status;
}

/* ------------------------------------------------------ what rows of backends.def name ---- */

static const struct device_target twin = {
    .compile = twin_compile, .open_records = twin_records_open, .take_records = twin_records_take};

static struct backend_run *open_run(const struct run_options *options, enum backend_status *status)
{
    return device_run_open(options, &twin, status);
}

static bool accepts(const struct module *module, struct diags *diags)
{
    if (module_arch_is_known(module))
        return true;
    const struct target *target = &module->targets.at[0];
    if (diag_at(diags, DIAG_unknown_chip, locate_name(module, target->loc),
                "no chip is known by the name '%.*s' of the target", NAME(module, target->name)))
        diag_help(diags, "add 'arch = \"c220\"' to the target, or 'arch = \"c310\"'");
    return false;
}

/* Kernels' objects are looked at where there is a toolchain that would link them. */
static enum backend_status check(const struct emission_job *job)
{
    struct command_lines commands;
    struct source_lines lines = {.at = NULL};
    struct text source = {NULL, 0, 0};
    char why[512];
    enum backend_status status = BACKEND_INPUT;
    if (job->module->entries.count == 0)
        return BACKEND_OK;
    command_lines_init(&commands, job->module, why, sizeof why);
    if (ascendc_emit(&source, job->module, &lines, job->diags))
        status = !commands.tools.found         ? BACKEND_OK
                 : commands_check_kernels(job) ? link_objects(job, NULL, NULL)
                                               : BACKEND_INPUT;
    command_lines_free(&commands);
    vec_free(&lines);
    text_free(&source);
    return status;
}

/* What runs is the twin, with the kernels of the host. */
static const struct backend_runner runner = {
    .value_size = device_value_size,
    .open = open_run,
    .execute = device_run_execute,
    .damage = device_run_damage,
    .spoil = device_run_spoil,
    .place = device_run_place,
    .unload = device_run_unload,
    .close = device_run_close,
};

const struct backend_functions ascend_functions = {
    .check_op = device_op_check, .accepts = accepts, .check = check, .runner = &runner};
