#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "backend/target/backend.h"
#include "frontend/session.h"
#include "frontend/skir.h"
#include "ir/support/stream.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/parse.h"
#include "ir/syntax/print.h"
#include "ir/verify/verify.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct skir_module {
    struct mem_scope scope; /* of all that is allocated for the module, but for this struct */
    bool exhausted;         /* nothing of it is there any more */
    char *text;
    struct source source;
    struct diags diags;
    struct module *module; /* NULL where the text does not follow the grammar */
    char *messages;        /* of the last skir_messages */
    const char *exhausted_message;
    char path[]; /* and behind it the message */
};

const char *skir_version(void)
{
    return PACKAGE_VERSION;
}

/* Does a part of a call that allocates. False where memory is exhausted, now or since an earlier
 * call: of the module, nothing is left but the message that says so. */
static bool work(struct skir_module *module, void (*part)(void *call), void *call)
{
    if (!module->exhausted)
        module->exhausted = !mem_scope_run(&module->scope, part, call);
    return !module->exhausted;
}

/* ------------------------------------------------------------------------- a module ---- */

/* The message must be there when there is no memory to make it. */
static struct skir_module *handle_new(const char *path)
{
    static const char format[] = "%s: %s: out of memory [%s]\n";
    const char *severity = severity_text(diag_id_severity(DIAG_out_of_memory));
    const char *id = diag_id_text(DIAG_out_of_memory);
    size_t path_size = strlen(path) + 1;
    size_t size = path_size + strlen(severity) + strlen(id) + sizeof format;
    struct skir_module *module = calloc(1, sizeof *module + path_size + size);
    if (!module)
        return NULL;
    memcpy(module->path, path, path_size);
    snprintf(module->path + path_size, size, format, path, severity, id);
    module->exhausted_message = module->path + path_size;
    return module;
}

struct parse_call {
    struct skir_module *module;
    const char *text;
    size_t size;
    struct source_reader *reader;
};

static void parse(void *user)
{
    const struct parse_call *call = user;
    struct skir_module *module = call->module;
    module->text = mem_realloc(NULL, call->size + 1, 1);
    memcpy(module->text, call->text, call->size);
    module->text[call->size] = '\0';
    diags_init(&module->diags, NULL, module->path);
    if (!source_init(&module->source, module->path, module->text, call->size)) {
        diag_at(&module->diags, DIAG_file, no_span, "the text is larger than 4 GiB");
        return;
    }
    module->diags.source = &module->source;
    module->source.reader = call->reader;
    module->module = parse_module(&module->source, &module->diags, NULL);
    module->source.reader = NULL; /* whose user may be gone */
    if (!module->module)
        return;
    verify_warnings(module->module, &module->diags);
    infer_types(module->module, &module->diags);
    verify_module(module->module, &module->diags);
}

static struct skir_module *parse_reading(const char *path, const char *text, size_t size,
                                         struct source_reader *reader)
{
    struct skir_module *module = handle_new(path);
    if (module)
        work(module, parse, &(struct parse_call){module, text, size, reader});
    return module;
}

struct skir_module *skir_parse(const char *path, const char *text, size_t size)
{
    return parse_reading(path, text, size, source_file_reader());
}

/* Included files whose texts the caller has. */
struct included_texts {
    struct source_reader reader;
    skir_include *include; /* NULL: there are none */
    void *user;
};

/* The name of a text: its path without what means nothing in it. */
static bool identify(struct source_reader *reader, const char *path, struct text *name, char *error,
                     size_t error_size)
{
    (void)reader, (void)error, (void)error_size;
    size_t root = *path == '/';
    if (root)
        text_char(name, '/');
    while (*path) {
        size_t size = strcspn(path, "/"), last = name->size;
        while (last > root && name->at[last - 1] != '/')
            last--;
        bool parent = size == 2 && memcmp(path, "..", 2) == 0;
        bool after_parent = name->size - last == 2 && memcmp(name->at + last, "..", 2) == 0;
        if (parent && last < name->size && !after_parent) {
            name->size = last > root ? last - 1 : last;
        } else if (size > 1 || (size == 1 && *path != '.')) {
            text_string(name, name->size > root ? "/" : "");
            text_bytes(name, path, size);
        }
        path += size + (path[size] == '/');
    }
    return true;
}

static bool read_text(struct source_reader *reader, const char *path, struct file_bytes *bytes,
                      char *error, size_t error_size)
{
    const struct included_texts *texts = (const struct included_texts *)reader;
    struct text name = {NULL, 0, 0};
    size_t size = 0;
    identify(reader, path, &name, error, error_size);
    text_char(&name, '\0');
    const char *text = texts->include ? texts->include(texts->user, name.at, &size) : NULL;
    if (text) {
        *bytes = (struct file_bytes){.data = mem_realloc(NULL, size + 1, 1), .size = size};
        memcpy(bytes->data, text, size);
        bytes->data[size] = '\0';
    } else {
        message_fail(error, error_size, "there is no text for '%s'", name.at);
    }
    text_free(&name);
    return text != NULL;
}

struct skir_module *skir_parse_with(const char *path, const char *text, size_t size,
                                    skir_include *include, void *user)
{
    struct included_texts texts = {{identify, read_text}, include, user};
    return parse_reading(path, text, size, &texts.reader);
}

void skir_free(struct skir_module *module)
{
    if (module && !module->exhausted) {
        module_free(module->module);
        diags_free(&module->diags);
        source_free(&module->source);
        mem_free(module->messages);
        mem_free(module->text);
    }
    free(module);
}

bool skir_ok(const struct skir_module *module)
{
    return !module->exhausted && module->module && module->diags.counts[SEVERITY_ERROR] == 0;
}

static void print_messages(void *user)
{
    struct skir_module *module = user;
    struct stream stream;
    mem_free(module->messages);
    module->messages = NULL;
    stream_open(&stream);
    if (module->module)
        origins_mark(module->module, &module->diags);
    diags_print(&module->diags, stream.file, false);
    module->messages = stream_close(&stream, NULL);
}

const char *skir_messages(struct skir_module *module)
{
    return work(module, print_messages, module) ? module->messages : module->exhausted_message;
}

struct print_call {
    const struct skir_module *module;
    bool whole;
    char *text;
};

static void print(void *user)
{
    struct print_call *call = user;
    struct text text = {NULL, 0, 0};
    if (call->whole)
        print_whole_module(&text, call->module->module, NULL);
    else
        print_module(&text, call->module->module, NULL);
    text_char(&text, '\0');
    call->text = malloc(text.size);
    if (!call->text)
        mem_exhausted();
    memcpy(call->text, text.at, text.size);
    text_free(&text);
}

char *skir_print(struct skir_module *module)
{
    struct print_call call = {module, false, NULL};
    return skir_ok(module) && work(module, print, &call) ? call.text : NULL;
}

char *skir_print_whole(struct skir_module *module)
{
    struct print_call call = {module, true, NULL};
    return skir_ok(module) && work(module, print, &call) ? call.text : NULL;
}

/* ---------------------------------------------------------------------------- passes ---- */

struct pass_call {
    struct skir_module *module;
    const char *passes, *kernel_dir;
    const char *output; /* of skir_compile */
    bool ok;
};

/* A folder of the caller's own kernels need not have skrt.h. */
static bool has_runtime_header(const char *folder)
{
    struct arena scratch = {NULL, 0};
    bool has = access(arena_printf(&scratch, "%s/skrt.h", folder), R_OK) == 0;
    arena_free(&scratch);
    return has;
}

static void open_session(struct session *session, const struct pass_call *call)
{
    const char *installed = session_installed_kernels(), *given = call->kernel_dir;
    struct session_options options = {
        .source = call->module->path,
        .kernel_dir = given ? given : installed,
        .header_dir = given && has_runtime_header(given) ? given : installed,
    };
    session_open(session, call->module->module, &call->module->diags, &options);
}

static bool run_passes(struct skir_module *module, struct session *session, const char *passes)
{
    struct pipeline pipeline;
    char error[256];
    if (!pipeline_parse(&pipeline, passes, error, sizeof error)) {
        diag_at(&module->diags, DIAG_unknown_pass, no_span, "%s", error);
        return false;
    }
    bool ok = session_run(session, &pipeline, NULL, NULL) == PIPELINE_OK;
    pipeline_free(&pipeline);
    return ok && verify_module(module->module, &module->diags);
}

static void lower(void *user)
{
    struct pass_call *call = user;
    struct session session;
    open_session(&session, call);
    call->ok = run_passes(call->module, &session, call->passes);
    session_close(&session);
}

bool skir_run_passes(struct skir_module *module, const char *passes, const char *kernel_dir)
{
    struct pass_call call = {.module = module, .passes = passes, .kernel_dir = kernel_dir};
    return skir_ok(module) && work(module, lower, &call) && call.ok;
}

static void compile(void *user)
{
    struct pass_call *call = user;
    struct session session;
    open_session(&session, call);
    const struct emission *object = emission_default(session.target);
    assert(object->kind == EMISSION_OBJECT);
    const struct emission_job job = {.module = call->module->module,
                                     .places = &session.places,
                                     .diags = &call->module->diags,
                                     .output = call->output};
    call->ok = run_passes(call->module, &session, "default") && object->make(&job) == BACKEND_OK;
    session_close(&session);
}

bool skir_compile(struct skir_module *module, const char *kernel_dir, const char *output)
{
    struct pass_call call = {.module = module, .kernel_dir = kernel_dir, .output = output};
    return skir_ok(module) && work(module, compile, &call) && call.ok;
}
