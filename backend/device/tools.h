/* The compilers of this machine, for what runs on it. */
#ifndef BACKEND_DEVICE_TOOLS_H
#define BACKEND_DEVICE_TOOLS_H

#include "backend/backend.h"
#include "ir/base/text.h"
#include "ir/base/tool.h"

/* A new folder for files of a build (ir/base/tool.h); false, with a diagnostic, where there cannot
 * be one. */
bool device_make_folder(struct tool_folder *folder, struct diags *diags);

/* Runs the compiler for C++ (tool_run_cxx), which is to write an object; what it says where it
 * fails is a diagnostic, as is that there is no object. */
enum backend_status device_run_cxx(const char *const *args, const char *object,
                                   struct diags *diags);

enum backend_status device_write(const struct text *text, const char *path, struct diags *diags);

/* Writes C source to `path` and compiles it, with skrt.h in reach, to an object. */
enum backend_status device_compile(const struct text *source, const char *path,
                                   const struct backend_places *places, const char *object,
                                   struct diags *diags);

/* Makes a shared object of a relocatable one, which is called `shown` in what the linker says. */
enum backend_status device_make_shared(const char *object, const char *shown, const char *output,
                                       struct diags *diags);

#endif
