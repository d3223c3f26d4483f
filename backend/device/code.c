#include "backend/device/code.h"
#include "backend/device/tools.h"
#include "ir/base/file.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Kernels may call what nothing else in this process does. */
static void *find_in_libm(const char *name)
{
    static void *libm;
    if (!libm)
        libm = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    return libm ? dlsym(libm, name) : NULL;
}

/* What this process would call when the code is no longer there. */
static const char on_exit_name[] = "on_exit";

void *device_code_provided(const char *name)
{
    if (strcmp(name, on_exit_name) == 0)
        return NULL;
    void *found = dlsym(RTLD_DEFAULT, name);
    return found ? found : find_in_libm(name);
}

static enum backend_status fails(struct diags *diags, const char *why)
{
    const char *name = strrchr(why, ' ');
    if (diag_at(diags, DIAG_link, no_span, "cannot load what was compiled: %s", why) && name &&
        strcmp(name + 1, on_exit_name) == 0)
        diag_help(diags, "kernels cannot use on_exit: their code is gone when the process ends; "
                         "atexit calls functions before that");
    return BACKEND_INPUT;
}

/* ------------------------------------------------------------------- the system's loader ---- */

static enum backend_status write_object(const struct device_output *linked, const char *path,
                                        struct diags *diags)
{
    char error[512];
    if (file_write(path, linked->bytes, linked->size, error, sizeof error))
        return BACKEND_OK;
    diag_at(diags, DIAG_file, no_span, "%s", error);
    return BACKEND_INPUT;
}

/* Constructors and destructors are the only code that runs by itself. */
static void tell_code_runs(const struct device_origin *origin, const char *kind)
{
    char what[256];
    if (!origin->code_runs)
        return;
    snprintf(what, sizeof what, "a %s of %s", kind, origin->objects);
    origin->code_runs(what);
}

static void tell_code_returned(const struct device_origin *origin)
{
    if (origin->code_runs)
        origin->code_runs(NULL);
}

static bool open_shared(struct device_code *code, const char *path)
{
    tell_code_runs(&code->origin, "constructor");
    code->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    tell_code_returned(&code->origin);
    return code->handle != NULL;
}

/* The folder is gone before anything runs, so that a launch that crashes, hangs or is interrupted
 * leaves nothing behind. */
static enum backend_status load_shared(struct device_code *code, const struct device_output *linked,
                                       struct diags *diags)
{
    struct tool_folder folder;
    struct arena scratch = {NULL, 0};
    if (!device_make_folder(&folder, diags))
        return BACKEND_INPUT;
    const char *object = arena_printf(&scratch, "%s/linked.o", folder.path);
    const char *shared = arena_printf(&scratch, "%s/linked.so", folder.path);
    enum backend_status status = write_object(linked, object, diags);
    if (status == BACKEND_OK)
        status = device_make_shared(object, code->origin.objects, shared, diags);
    if (status == BACKEND_OK && !open_shared(code, shared))
        status = fails(diags, dlerror());
    tool_folder_remove(&folder);
    arena_free(&scratch);
    return status;
}

/* -------------------------------------------------------------------------------- code ---- */

enum backend_status device_code_load(struct device_code *code, const struct device_output *linked,
                                     const struct device_origin *origin, struct diags *diags)
{
    char why[512];
    *code = (struct device_code){.origin = *origin};
    switch (object_image_load(linked->bytes, linked->size, device_code_provided, &code->image, why,
                              sizeof why)) {
    case OBJECT_IMAGE_LOADED: return BACKEND_OK;
    case OBJECT_IMAGE_OTHER: return load_shared(code, linked, diags);
    case OBJECT_IMAGE_FAILED: break;
    }
    return fails(diags, why);
}

void device_code_unload(struct device_code *code)
{
    object_image_free(code->image);
    if (code->handle) {
        tell_code_runs(&code->origin, "destructor");
        dlclose(code->handle);
        tell_code_returned(&code->origin);
    }
    *code = (struct device_code){.image = NULL};
}

void *device_code_find(const struct device_code *code, const char *name)
{
    return code->image    ? object_image_find(code->image, name)
           : code->handle ? dlsym(code->handle, name)
                          : NULL;
}
