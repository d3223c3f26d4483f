/* Relocatable object files: read, combine, rename, localise, write. In-process, over libelf.
 *
 * An object_link gathers relocatable ELF objects and `ar` archives of them and writes one
 * relocatable object, as `ld -r` would, with the symbol handling that fused kernels need:
 * inputs belong to groups, and a definition is seen only by the inputs of its own group, unless
 * it is exported. So the binaries of two sub-kernels can define the same helper without clash.
 *
 * Only 64-bit little-endian formats with RELA relocations are handled (x86-64, aarch64 and NPU
 * objects among them); almost nothing here depends on the machine, and all inputs must share it.
 * docs/objects.md tells how each kind of section and symbol is treated.
 * Inputs are not trusted: whatever is wrong with one ends in an error text.
 */
#ifndef BACKEND_OBJECT_OBJECT_H
#define BACKEND_OBJECT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct object_link;

/* A new, empty link. */
struct object_link *object_link_new(void);
void object_link_free(struct object_link *link);

/* The first error of the link so far as one line of text naming the file at fault, or NULL. Every
 * function below returns false from the first error on and then does nothing. Owned by the link. */
const char *object_link_error(const struct object_link *link);

/* Adds the object or archive in `bytes` to `group`; `name` stands for it in messages. The bytes
 * are copied. All members of an archive are taken, in their order. */
bool object_link_add(struct object_link *link, unsigned group, const char *name, const void *bytes,
                     size_t size);
/* The same from a file. */
bool object_link_add_file(struct object_link *link, unsigned group, const char *path);

/* Makes `copy`, which has no inputs, a copy of `group`: of the code of its inputs so far, under the
 * same names. Data is not copied: the copies use that of the group. */
bool object_link_copy(struct object_link *link, unsigned group, unsigned copy);

/* Makes `symbol`, which `group` must define as a global, visible to all groups under the name
 * `as`. The symbol itself is renamed; a definition of `as` inside a group hides the exported one
 * from that group. Saying the same twice is no error; two meanings of one `as` are. Both this and
 * object_link_keep are checked by the write, so they may come before the inputs. */
bool object_link_export(struct object_link *link, unsigned group, const char *symbol,
                        const char *as);

/* Keeps the exported name `as` global in the result; every other definition becomes local. */
bool object_link_keep(struct object_link *link, const char *as);

/* Places the input of `group` that defines `symbol` behind all inputs of lower rank; with NULL, all
 * inputs that the group has. Copies go with what they are copies of. Inputs of one rank stand in
 * the order in which they were added; 0 is the rank of those that this was not said of. */
bool object_link_place(struct object_link *link, unsigned group, const char *symbol, unsigned rank);

/* Makes the variables that inputs of `group` name those of all groups, as `ld` does with what is
 * weak: of its own definition, or else of the first weak one, all weak definitions of that name are
 * the same. Strong ones stay their group's. */
bool object_link_share(struct object_link *link, unsigned group);

/* Combines everything and writes the object atomically to `path` ("-" is standard output). The
 * same inputs in the same order give the same bytes. */
bool object_link_write(struct object_link *link, const char *path);
/* The same to memory; free `*bytes` with mem_free(). */
bool object_link_bytes(struct object_link *link, void **bytes, size_t *size);

/* Calls `visit` for each name that some input needs and none defines for it, with the group that
 * mentions it first. */
typedef void object_undefined_visit(void *user, unsigned group, const char *name);
bool object_link_undefined(struct object_link *link, object_undefined_visit *visit, void *user);

/* The number of bytes in .text sections (.text and .text.*) of the object or of all members of
 * the archive; false with a text in `error` (size `error_size`) where it cannot be read. */
bool object_text_size(const char *path, uint64_t *size, char *error, size_t error_size);

/* Calls `visit` for each function that the object or archive defines (as object_defines understands
 * it), with the size of the section that it is in. The same errors. */
typedef void object_function_visit(void *user, const char *name, uint64_t section_size);
bool object_functions(const char *path, object_function_visit *visit, void *user, char *error,
                      size_t error_size);

/* Whether the object or archive defines `symbol` as a global or weak function: with the type of
 * one, or without a type in a section of code, as assembly may leave it. The same errors. */
bool object_defines(const char *path, const char *symbol, bool *defined, char *error,
                    size_t error_size);

/* Calls `visit` for each function that the object defines, whatever its binding, with its place in
 * the code: sections of code stand one behind the other, each at its alignment. The same errors. */
typedef void object_code_visit(void *user, const char *name, uint64_t address, uint64_t size);
bool object_code(const char *path, object_code_visit *visit, void *user, char *error,
                 size_t error_size);

/* Calls `visit` for each row of the object's line tables (DWARF 2 to 4): at this offset from the
 * begin of a function, code of this line of a file begins. What is malformed ends its table. The
 * same errors. */
typedef void object_line_visit(void *user, const char *function, uint64_t offset, const char *file,
                               uint32_t line);
bool object_lines(const char *path, object_line_visit *visit, void *user, char *error,
                  size_t error_size);

/* Prints sections, symbols and relocations of an object, or of each member of an archive, in a
 * stable text form (no addresses of this run, no path). docs/objects.md describes it. */
bool object_dump(const char *path, FILE *out, char *error, size_t error_size);

#endif
