/* The skir compiler as a library.
 *
 *   struct skir_module *m = skir_parse("kernel.skir", text, size);
 *   if (!skir_compile(m, NULL, "kernel.o"))
 *       fputs(skir_messages(m), stderr);
 *   skir_free(m);
 *
 * Functions may be called from several threads on different modules. Nothing is printed, and
 * nothing ends the process. A call for which there is not enough memory fails; it leaves no file,
 * descriptor or memory behind. Of the module, nothing is left then: no later call for it succeeds,
 * its only message says "out of memory", and it is still to be freed.
 */
#ifndef SKIR_H
#define SKIR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program and the diagnostics about it. */
struct skir_module;

/* The version of the library, for example "0.1.0". */
const char *skir_version(void);

/* Parses and verifies `size` bytes of .skir text, which are copied; `path` stands for the text in
 * messages; files that it includes and objects of kernels are looked for in its folder. What is
 * wrong with the text is in skir_messages, and every other function then fails. NULL only where
 * there is not even memory for the result. */
struct skir_module *skir_parse(const char *path, const char *text, size_t size);

/* Finds the text of an included file: `*size` bytes, which stay where they are until
 * skir_parse_with returns; or NULL, where there is none. `path` begins with the folder that the
 * including text has, and has no "." and no ".." but at its begin: what is included as "x.skir" by
 * a text at "a/b.skir" is "a/x.skir". It may be called once for each path. It must return. */
typedef const char *skir_include(void *user, const char *path, size_t *size);
/* The same as skir_parse, with the texts of included files from `include`, not from files. NULL:
 * there are none. */
struct skir_module *skir_parse_with(const char *path, const char *text, size_t size,
                                    skir_include *include, void *user);
void skir_free(struct skir_module *module);

/* Whether no error has been found so far, and memory has sufficed. */
bool skir_ok(const struct skir_module *module);

/* All diagnostics so far as text, with source lines. Valid until the next call for the module. */
const char *skir_messages(struct skir_module *module);

/* Runs passes: a list as for `skirc opt --passes`, such as "default", or names separated by commas.
 * `kernel_dir` is a folder of kernels that ops find by their type, before the sample kernels, or
 * one of sample kernels; NULL: the installed ones. After a failure the module is unusable. */
bool skir_run_passes(struct skir_module *module, const char *passes, const char *kernel_dir);

/* The module as canonical text without comments, NUL-terminated, to be freed with free(); NULL
 * after an error. */
char *skir_print(struct skir_module *module);
/* The same as a text that stands alone: what came by includes is in it, their lines are not. */
char *skir_print_whole(struct skir_module *module);

/* Compiles for this machine: runs the default passes and writes the linked object. Needs a C
 * compiler (CC, or cc). */
bool skir_compile(struct skir_module *module, const char *kernel_dir, const char *output);

#ifdef __cplusplus
}
#endif
#endif
