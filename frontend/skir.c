#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "frontend/skir.h"
#include "backend/backend.h"
#include "frontend/session.h"
#include "ir/syntax/parse.h"
#include "ir/syntax/print.h"
#include "ir/verify/verify.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct skir_module {
    char *path, *text;
    struct source source;
    struct diags diags;
    struct module *module; /* NULL where the text does not follow the grammar */
    char *messages;        /* of the last skir_messages */
};

const char *skir_version(void)
{
    return PACKAGE_VERSION;
}

struct skir_module *skir_parse(const char *path, const char *text, size_t size)
{
    struct skir_module *module = mem_calloc(1, sizeof *module);
    module->path = mem_strdup(path);
    module->text = mem_realloc(NULL, size + 1, 1);
    memcpy(module->text, text, size);
    module->text[size] = '\0';
    diags_init(&module->diags, NULL, module->path);
    if (!source_init(&module->source, module->path, module->text, size)) {
        diag_at(&module->diags, DIAG_file, no_span, "the text is larger than 4 GiB");
        return module;
    }
    module->diags.source = &module->source;
    module->module = parse_module(&module->source, &module->diags, NULL);
    if (module->module)
        verify_module(module->module, &module->diags);
    return module;
}

void skir_free(struct skir_module *module)
{
    if (!module)
        return;
    module_free(module->module);
    diags_free(&module->diags);
    source_free(&module->source);
    free(module->messages);
    mem_free(module->text);
    mem_free(module->path);
    mem_free(module);
}

bool skir_ok(const struct skir_module *module)
{
    return module->module && module->diags.counts[SEVERITY_ERROR] == 0;
}

const char *skir_messages(struct skir_module *module)
{
    size_t size;
    free(module->messages);
    module->messages = NULL;
    FILE *stream = open_memstream(&module->messages, &size);
    if (!stream)
        return "";
    diags_print(&module->diags, stream, false);
    fclose(stream);
    return module->messages;
}

/* A folder of the caller's own kernels need not have skrt.h. */
static bool has_runtime_header(const char *folder)
{
    struct arena scratch = {NULL, 0};
    bool has = access(arena_printf(&scratch, "%s/skrt.h", folder), R_OK) == 0;
    arena_free(&scratch);
    return has;
}

static void open_session(struct session *session, struct skir_module *module,
                         const char *kernel_dir)
{
    const char *installed = session_installed_kernels();
    struct session_options options = {
        .source = module->path,
        .kernel_dir = kernel_dir ? kernel_dir : installed,
        .header_dir = kernel_dir && has_runtime_header(kernel_dir) ? kernel_dir : installed,
    };
    session_open(session, module->module, &module->diags, &options);
}

static bool run_passes(struct skir_module *module, struct session *session, const char *passes)
{
    struct pipeline pipeline;
    char error[256];
    if (!pipeline_parse(&pipeline, passes, error, sizeof error)) {
        diag_at(&module->diags, DIAG_unknown_pass, no_span, "%s", error);
        return false;
    }
    return session_run(session, &pipeline, NULL, NULL) == PIPELINE_OK &&
           verify_module(module->module, &module->diags);
}

bool skir_run_passes(struct skir_module *module, const char *passes, const char *kernel_dir)
{
    struct session session;
    if (!skir_ok(module))
        return false;
    open_session(&session, module, kernel_dir);
    bool ok = run_passes(module, &session, passes);
    session_close(&session);
    return ok;
}

char *skir_print(struct skir_module *module)
{
    struct text text = {NULL, 0, 0};
    if (!skir_ok(module))
        return NULL;
    print_module(&text, module->module, NULL);
    text_char(&text, '\0');
    return mem_disown(text.at, text.size);
}

bool skir_compile(struct skir_module *module, const char *kernel_dir, const char *output)
{
    struct session session;
    if (!skir_ok(module))
        return false;
    open_session(&session, module, kernel_dir);
    const struct emission *object = emission_default(session.target);
    assert(object->kind == EMISSION_OBJECT);
    const struct emission_job job = {.module = module->module,
                                     .places = &session.places,
                                     .diags = &module->diags,
                                     .output = output};
    bool ok = run_passes(module, &session, "default") && object->make(&job) == BACKEND_OK;
    session_close(&session);
    return ok;
}
