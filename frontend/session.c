#include "frontend/session.h"
#include "ir/base/file.h"

/* SKIR_KERNEL_DIR is set by the build. */
const char *session_installed_kernels(void)
{
    return SKIR_KERNEL_DIR;
}

/* Sample kernels, and with them whatever objects say of their code. */
static void open_kernels(struct session *session, const char *kernel_dir)
{
    kernel_library_init(&session->library, kernel_dir, session->target->functions->check_op);
    kernel_objects_init(&session->objects, &session->places);
    session->context.library = &session->library.source;
    session->context.code_sizes = &session->objects.sizes;
}

void session_open(struct session *session, struct module *module, struct diags *diags,
                  const struct session_options *options)
{
    char *source_dir = path_folder(options->source);
    *session = (struct session){
        .target = options->target ? options->target : backend_default(),
        .places = {source_dir, options->kernel_dir, options->header_dir},
        .source_dir = source_dir,
        .context = {.module = module,
                    .diags = diags,
                    .sk_options = options->sk_options,
                    .graph = options->graph,
                    .unproven = options->unproven},
    };
    if (options->kernel_dir)
        open_kernels(session, options->kernel_dir);
}

void session_close(struct session *session)
{
    if (session->context.library) {
        kernel_objects_free(&session->objects);
        kernel_library_free(&session->library);
    }
    mem_free(session->source_dir);
}

enum pipeline_status session_run(struct session *session, const struct pipeline *pipeline,
                                 pipeline_hook *hook, void *user)
{
    return pipeline_run(pipeline, &session->context, hook, user);
}

enum pipeline_status session_lower(struct session *session)
{
    return pipeline_lower(&session->context);
}
