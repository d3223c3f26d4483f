#include "frontend/session.h"
#include "ir/core/kernel.h"
#include "ir/support/file.h"

/* SKIR_KERNEL_DIR is set by the build. */
const char *session_installed_kernels(void)
{
    return SKIR_KERNEL_DIR;
}

/* Sample kernels, and with them whatever objects say of their code. */
static void open_kernels(struct session *session, const struct session_options *options)
{
    kernel_library_init(&session->library, options->kernel_dir,
                        options->header_dir ? options->header_dir : options->kernel_dir,
                        session->target->functions->check_op);
    session->context.library = &session->library.source;
    session->context.code_sizes = &session->objects.sizes;
}

void session_open(struct session *session, struct module *module, struct diags *diags,
                  const struct session_options *options)
{
    char *source_dir = path_folder(options->source);
    *session = (struct session){
        .target = options->target ? options->target : backend_default(),
        .places = {source_dir, options->kernel_dir, options->header_dir, NULL},
        .source_dir = source_dir,
        .passes = options->passes,
        .context = {.module = module,
                    .diags = diags,
                    .sk_options = options->sk_options,
                    .compare_options = options->compare_options,
                    .graph = options->graph,
                    .strict_gears = options->strict_gears,
                    .reference_partition = options->reference_partition,
                    .reference_names = options->reference_names,
                    .unproven = options->unproven},
    };
    kernel_objects_init(&session->objects, &session->places);
    if (options->kernel_dir)
        open_kernels(session, options);
}

void session_close(struct session *session)
{
    kernel_objects_free(&session->objects);
    if (session->context.library)
        kernel_library_free(&session->library);
    mem_free(session->source_dir);
}

/* The first function of the kernel that its object does not have; NONE: all are there. */
static uint32_t missing_function(const struct module *module, const struct kernel *kernel,
                                 const struct kernel_object *object)
{
    struct kernel_part part;
    for (uint32_t i = 0; i < kernel_parts(module, kernel); i++)
        if (kernel_part_at(module, kernel, i, &part) && part.function != NONE &&
            !kernel_object_function(object, &module->names.names[part.function]))
            return part.function;
    return NONE;
}

static void check_object(struct session *session, const struct kernel *kernel,
                         const struct attr *attr)
{
    const struct module *module = session->context.module;
    struct diags *diags = session->context.diags;
    struct span span = source_token(module->source, attr->loc);
    const struct kernel_object *object = kernel_object_of(&session->objects, module, kernel);
    uint32_t missing = object && !object->error ? missing_function(module, kernel, object) : NONE;
    if (!object)
        diag_at(diags, DIAG_imported_object, span, "the object '%.*s' of '@%.*s' is not there",
                NAME(module, attr->value.id), NAME(module, kernel->name));
    else if (object->error)
        diag_at(diags, DIAG_imported_object, span, "the object of '@%.*s' cannot be used: %s",
                NAME(module, kernel->name), object->error);
    else if (missing != NONE)
        diag_at(diags, DIAG_imported_object, span,
                "'%s' does not define the function '%.*s' of '@%.*s'", object->path,
                NAME(module, missing), NAME(module, kernel->name));
}

void session_check_objects(struct session *session)
{
    const struct module *module = session->context.module;
    for (uint32_t i = 0; session->context.code_sizes && i < module->kernels.count; i++) {
        const struct kernel *kernel = &module->kernels.at[i];
        const struct attr *attr = attr_find(module, kernel->attrs, W_object);
        if (attr && attr->loc != NONE && attr->value.kind == ATTR_STRING)
            check_object(session, kernel, attr);
    }
}

enum pipeline_status session_run(struct session *session, const struct pipeline *pipeline,
                                 pipeline_hook *hook, void *user)
{
    return pipeline_run(pipeline, &session->context, hook, user);
}

enum pipeline_status session_lower(struct session *session)
{
    return pipeline_lower(&session->context, session->passes);
}

enum pipeline_status session_lower_part(struct session *session, unsigned first, unsigned end)
{
    return pipeline_lower_part(&session->context, session->passes, first, end);
}

bool session_target_accepts(struct session *session)
{
    const struct backend_functions *functions = session->target->functions;
    return !functions->accepts ||
           functions->accepts(session->context.module, session->context.diags);
}

enum backend_status session_check_target(struct session *session)
{
    const struct emission_job job = {.module = session->context.module,
                                     .places = &session->places,
                                     .diags = session->context.diags};
    return session->target->functions->check(&job);
}
