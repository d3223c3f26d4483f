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
#ifndef BACKEND_LINKER_OBJECT_H
#define BACKEND_LINKER_OBJECT_H

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

/* An object or archive that is read once. */
struct object_file;

/* Never NULL. */
struct object_file *object_file_read(const char *path);
void object_file_free(struct object_file *file);
/* Why it could not be read, one line of text; NULL: it was. */
const char *object_file_error(const struct object_file *file);

/* Calls `visit` for each global or weak function that it defines, with the size of its section.
 * Symbols without a type in a section of code, as assembly may leave them, are functions. */
typedef void object_function_visit(void *user, const char *name, uint64_t section_size);
void object_file_functions(const struct object_file *file, object_function_visit *visit,
                           void *user);

/* Calls `visit` for each function that it defines, whatever its binding, with its place in the
 * code: sections of code follow one another, each at its alignment. */
typedef void object_code_visit(void *user, const char *name, uint64_t address, uint64_t size);
void object_file_code(const struct object_file *file, object_code_visit *visit, void *user);

/* Calls `visit` for each row of its line tables (DWARF 2 to 4): at this offset from the begin of a
 * function, code of this line of a file begins. What is malformed ends its table. */
typedef void object_line_visit(void *user, const char *function, uint64_t offset, const char *file,
                               uint32_t line);
void object_file_lines(const struct object_file *file, object_line_visit *visit, void *user);

/* Adds it to `group`, as object_link_add_file does. It must outlive the link. */
bool object_link_add_read(struct object_link *link, unsigned group, const struct object_file *file);

/* An object that is made here, section by section, without a file in between. */
struct object_made;

/* Of sections: enum object_made_section is their index. */
enum object_made_section {
    OBJECT_MADE_TEXT,   /* code */
    OBJECT_MADE_DATA,   /* constants with addresses in them, which a loader fills in */
    OBJECT_MADE_RODATA, /* constants without */
    OBJECT_MADE_SECTIONS
};

/* The machine of ELF that this one is; EM_NONE where no code is made for it, and entries are
 * compiled as C. */
uint16_t object_this_machine(void);
/* A new one, without code, for an ELF machine (EM_...). */
struct object_made *object_made_new(uint16_t machine);
void object_made_free(struct object_made *made);

/* Appends bytes to a section at an alignment of at most 16, and returns where they are; with
 * NULL, zeroes. */
uint64_t object_made_put(struct object_made *made, enum object_made_section section,
                         const void *bytes, size_t size, size_t align);
/* What is at an offset of a section; valid until the next bytes are put there. */
void *object_made_at(struct object_made *made, enum object_made_section section, uint64_t offset);

/* Symbols, by their indices: that of a section's begin; a function or a variable, which is a global
 * definition; one that is not defined here. Names are copied; equal ones are not made one. */
uint32_t object_made_begin(enum object_made_section section);
uint32_t object_made_define(struct object_made *made, const char *name,
                            enum object_made_section section, uint64_t offset, uint64_t size);
uint32_t object_made_want(struct object_made *made, const char *name);

/* Has the machine's relocation of this type applied at an offset. */
struct object_made_relocation {
    uint64_t offset;
    uint32_t type, symbol;
    int64_t addend;
};
void object_made_relocate(struct object_made *made, enum object_made_section section,
                          struct object_made_relocation relocation);

/* Adds it to `group`, as if it had been read; `name` stands for it in messages. It must last as
 * long as the link, and does not change any more. */
bool object_link_add_made(struct object_link *link, unsigned group, const char *name,
                          struct object_made *made);

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

/* Places the input of `group` that defines `symbol` after all inputs of lower rank; with NULL, all
 * inputs that the group has. Copies go with what they are copies of. Inputs of one rank are in
 * the order in which they were added; 0 is the rank of those that this was not said of. */
bool object_link_place(struct object_link *link, unsigned group, const char *symbol, unsigned rank);

/* Makes the variables that inputs of `group` name those of all groups, as `ld` does with what is
 * weak: of its own definition, or else of the first weak one, all weak definitions of that name are
 * the same. Strong ones stay their group's. */
bool object_link_share(struct object_link *link, unsigned group);

/* Combines everything; free `*bytes` with mem_free(). The same inputs in the same order give the
 * same bytes. */
bool object_link_bytes(struct object_link *link, void **bytes, size_t *size);

/* Calls `visit` for each name that some input needs and none defines for it, with the group that
 * mentions it first. */
typedef void object_undefined_visit(void *user, unsigned group, const char *name);
bool object_link_undefined(struct object_link *link, object_undefined_visit *visit, void *user);

/* A relocatable object as code and data of this process. */
struct object_image;

enum object_image_status {
    OBJECT_IMAGE_LOADED,
    OBJECT_IMAGE_OTHER, /* it needs what is not done here, but by the system's linker and loader */
    OBJECT_IMAGE_FAILED,
};

/* Whether a name is one that the system's linker adds to each object for itself: those with two
 * underscores, which are the compiler's, and some of C's. */
bool object_is_linked_later(const char *name);

/* Loads the object in `bytes`, one that object_link_bytes has made: places its sections, and
 * resolves what it does not define by `lookup` (NULL: it is undefined). Its code can be executed
 * and is not writable, its constants are neither. Without OBJECT_IMAGE_LOADED, `error` says why. It
 * loads objects for x86-64 and aarch64 without thread-local variables, constructors, indirect
 * functions, functions of the compiler's library, and code that is not position-independent. */
enum object_image_status object_image_load(const void *bytes, size_t size,
                                           void *(*lookup)(const char *name),
                                           struct object_image **image, char *error,
                                           size_t error_size);
/* The address of a global definition; NULL where there is none of that name. */
void *object_image_find(const struct object_image *image, const char *name);
/* For NULL does nothing. */
void object_image_free(struct object_image *image);

/* The number of relocations that code of the object needs before it can run, and the symbol of the
 * first one ("" where it has no name). 0 of a file that a linker has finished, which is no
 * relocatable object. False with a text in `error` where it cannot be read. */
bool object_code_relocations(const char *path, uint64_t *count, char *symbol, size_t symbol_size,
                             char *error, size_t error_size);

/* Prints sections, symbols and relocations of an object, or of each member of an archive, in a
 * stable text form (no addresses of this run, no path). docs/objects.md describes it. */
bool object_dump(const char *path, FILE *out, char *error, size_t error_size);

#endif
