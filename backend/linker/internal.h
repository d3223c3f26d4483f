/* What the files of the linker share: memory, errors, inputs, and the state of a write.
 *
 * A write goes through these steps:
 *   input.c    bytes -> struct object_input, fully validated (at object_link_add)
 *   link.c     the same, made here
 *   symbols.c  COMDAT groups, then names: which definition a reference means; variables that groups
 *              share; the symbol table and its string table
 *   layout.c   the order of the inputs, copies of inputs, .eh_frame records without those of
 *              discarded functions, input sections -> offsets in output sections
 *   output.c   relocations, layout of the file, the bytes
 */
#ifndef BACKEND_LINKER_INTERNAL_H
#define BACKEND_LINKER_INTERNAL_H

#include "ir/support/arena.h"
#include "ir/support/text.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds on what an input may ask for. The bytes of the result are those of the inputs, unpacked
 * within a bound of its own (input.c), plus padding, so these two and the bound on names
 * keep the memory of a link linear in its input. */
#define OBJECT_MAX_ALIGN (UINT64_C(1) << 24)
#define OBJECT_MAX_PADDING (UINT64_C(64) << 20)
/* Size of one section, .bss included: far beyond any code model, far below an overflow. */
#define OBJECT_MAX_SECTION (UINT64_C(1) << 40)

/* ---- errors and memory (memory.c) ---- */

struct object_error {
    bool set;
    char text[1024];
};

/* Sets the text unless there is an earlier error; control characters become '?'. Returns false. */
bool object_fail(struct object_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Memory that is freed together. `error` is that of the work which it is for. */
struct object_arena {
    struct arena memory;
    struct object_error *error;
};
/* `count` zeroed elements of `size` bytes, aligned for any type. */
void *object_alloc(struct object_arena *arena, size_t count, size_t size);
void *object_copy(struct object_arena *arena, const void *bytes, size_t size);

/* A hash table from (scope, name) to a pointer. Names are not copied. A zeroed struct is empty. */
struct object_map {
    struct object_map_slot *slots;
    size_t capacity, count;
};
void *object_map_get(const struct object_map *map, uint64_t scope, const char *name);
/* The value's place, made with a NULL value where there is none yet; valid until the next call. */
void **object_map_at(struct object_map *map, uint64_t scope, const char *name);
void object_map_free(struct object_map *map);

/* ---- inputs (input.c, query.c) ---- */

enum object_role {
    OBJECT_IGNORED, /* no part of the result: index 0, .llvm_addrsig, properties, LTO bytecode */
    OBJECT_CONTENT,
    OBJECT_RELOCATIONS,
    OBJECT_GROUP,
    OBJECT_TABLE, /* symbols, their strings, their extended section indices */
};

struct object_relocation {
    uint64_t offset, addend;
    uint32_t type, symbol;
};

struct object_section {
    struct object_input *input;
    const char *name;
    const unsigned char *data; /* NULL in SHT_NOBITS */
    uint64_t flags, size, align, entsize;
    uint32_t type, link, info;
    enum object_role role;
    uint32_t group; /* index of the SHT_GROUP section that lists this one, or 0 */
    struct object_relocation *relocations;
    size_t relocation_count;
    uint32_t relocated_by; /* index of the section that `relocations` come from, or 0 */

    /* Set by a write. */
    bool copied;                  /* each copy of the input has its own */
    bool shared;                  /* in a copy of an input: the original's is used */
    bool discarded;               /* with its COMDAT group */
    struct object_section *kept;  /* its counterpart in the kept group, if there is one */
    struct object_frame *frame;   /* of .eh_frame */
    struct object_output *output; /* NULL: not in the result */
    uint64_t offset;              /* in `output` */
    struct object_section *next;  /* in `output` */
};

/* Symbol table entries refer to sections by index; these stand for the special ones. */
#define OBJECT_UNDEFINED 0
#define OBJECT_ABSOLUTE UINT32_MAX
#define OBJECT_COMMON (UINT32_MAX - 1)

struct object_symbol {
    const char *name;
    uint64_t value, size;
    uint32_t section;
    uint8_t binding, type, other;
    uint32_t index;               /* of a local symbol in the result; set by a write */
    struct object_global *global; /* of any other symbol; set by a write */
};

struct object_input {
    const char *name; /* for messages: "file.o" or "lib.a(member.o)" */
    unsigned group;
    uint16_t machine;
    uint32_t version; /* of the file, as e_version has it */
    uint32_t flags;
    uint8_t abi, abi_version;
    bool stack_note, stack_executable; /* .note.GNU-stack */
    struct object_section *sections;   /* index 0 is the null section */
    uint32_t section_count;
    struct object_symbol *symbols; /* index 0 is the null symbol */
    uint32_t symbol_count, local_count;
    struct object_input *next;
    struct object_input *next_in_group, *group_tail; /* the tail: of the group's first input */
    struct object_input *original;                   /* what this is a copy of, or NULL */
    struct object_input *copy;                       /* the copy at hand; set by a write */
    bool has_copies;
    unsigned rank; /* of an original: object_link_place */
};

/* Reads one object and checks everything that later code relies on: all indices, offsets and
 * sizes in it are valid afterwards. Bytes are copied to the arena. NULL on error. */
struct object_input *object_input_read(struct object_arena *arena, const char *name,
                                       const void *bytes, size_t size);
/* elf_end, for a guard on a handle of libelf. */
void object_elf_end(void *elf);
/* False, with an error, where an object has nothing but that. */
bool object_input_has_code(const struct object_input *input, struct object_error *error);
/* Whether all of its sections are of kinds that can be combined; else an error. */
bool object_input_linkable(const struct object_input *input, struct object_error *error);
/* The section that defines `symbol`, or NULL (undefined, absolute, common). */
struct object_section *object_symbol_section(const struct object_input *input,
                                             const struct object_symbol *symbol);

/* Whether it defines a function that others can name: by its type, or in code without one. */
bool object_symbol_is_function(const struct object_input *input,
                               const struct object_symbol *symbol);
/* The same input with sections and symbols of its own, which a write sets; all else is that of the
 * original, which must outlive it. */
struct object_input *object_input_clone(struct object_arena *arena,
                                        const struct object_input *input);

/* Reads an object, or all members of an archive in their order, as a list. */
bool object_read_bytes(struct object_arena *arena, const char *name, const void *bytes, size_t size,
                       struct object_input **first);
bool object_read_file(struct object_arena *arena, const char *path, struct object_input **first);

struct object_file {
    struct object_error error;
    struct object_arena arena;
    struct object_input *first;
};

/* ---- a write ---- */

/* Strength of a definition within its group; a stronger one replaces a weaker one. */
enum object_strength { OBJECT_NONE, OBJECT_WEAK, OBJECT_TENTATIVE, OBJECT_STRONG };

/* A name as the inputs of one group see it. */
struct object_global {
    const char *name;
    struct object_global *target; /* the symbol of another group, or the common undefined one, that
                                     stands for this; else NULL. Never a chain. */
    enum object_strength strength;
    struct object_input *input; /* the first to mention it; with a definition, the definer */
    struct object_symbol *symbol;
    uint64_t common_size, common_align;
    struct object_output *common_output;
    uint64_t common_offset;
    uint8_t type, visibility, other;
    bool wanted; /* undefined in some input; false: mentioned in discarded groups only */
    bool needed; /* undefined and not weak in some input */
    bool exported, kept;
    uint32_t index;
    struct object_global *next; /* in the order of first mention */
};

struct object_output {
    const char *name;
    uint64_t flags, size, align, entsize;
    uint32_t type;
    struct object_output *linked; /* for SHF_LINK_ORDER */
    struct object_section *first, *last;
    struct object_section *last_frame; /* of .eh_frame: the last with a record in it */
    bool frame_ends;                   /* .eh_frame ends in a terminator */
    uint32_t index, symbol;
    uint64_t relocation_count;
    struct object_output *next;
    struct object_output *alike; /* another one of that name, for the same `linked` */
};

struct object_strings {
    struct object_map map;
    struct text bytes;
};
/* The offset of `text` in the table, added if new; 0 with an error set when it grows too large. */
uint32_t object_strings_add(struct object_strings *strings, struct object_error *error,
                            const char *text);
void object_strings_free(struct object_strings *strings);

struct object_writer {
    struct object_arena arena;
    struct object_error *error;
    const struct object_link *link;
    struct object_map globals; /* scope: group */
    struct object_map exports, undefined;
    struct object_global *first_global, **global_tail;
    struct object_map output_map;
    struct object_output *first_output, **output_tail;
    uint32_t output_count;
    uint64_t padding;
    Elf64_Sym *symbols;
    uint32_t *symbol_sections; /* the full section index of each symbol */
    uint32_t symbol_count, local_count;
    struct object_strings names;
};

/* Puts the inputs into the order of their ranks. */
void object_sort_inputs(struct object_link *link);
bool object_resolve(struct object_writer *writer);
/* What each copy of an input has of its own, once the names of the originals are known. */
void object_copy_resolve(struct object_writer *writer);
bool object_place(struct object_writer *writer);
bool object_symbols_build(struct object_writer *writer);
/* The definition or undefined symbol that stands for `global` in the result. */
struct object_global *object_global_final(struct object_global *global);

/* ---- .eh_frame ---- */

struct object_frame_record {
    uint64_t offset, size, moved_to;
    bool dead;
};
struct object_frame {
    struct object_frame_record *records;
    size_t count;
    uint64_t size;    /* of what is left */
    uint64_t padding; /* to add to the last record */
    bool terminated;
};
bool object_is_frame(const struct object_section *section);
/* Where an offset went; false when it was dropped. Offsets after the last record are kept. */
bool object_frame_move(const struct object_frame *frame, uint64_t *offset);
void object_frame_copy(const struct object_section *section, unsigned char *to);

/* ---- the link ---- */

struct object_export {
    unsigned group;
    const char *symbol, *as;
    struct object_export *next;
};

struct object_keep {
    const char *as;
    struct object_keep *next;
};

struct object_share {
    unsigned group;
    struct object_share *next;
};

struct object_link {
    struct object_error error;
    struct object_arena arena;
    struct object_input *first_input, **input_tail;
    struct object_export *first_export, **export_tail;
    struct object_keep *first_keep, **keep_tail;
    struct object_share *first_share;
    struct object_map groups; /* scope: group; to its first input */
    bool gnu_abi;
};

/* Appends an input to the link and to its group. */
bool object_group_add(struct object_link *link, struct object_input *input);

/* The work of object_link_bytes. */
bool object_write(struct object_link *link, void **bytes, size_t *size);

/* ---- names of numbers (dump.c); NULL where there is none ---- */

const char *object_machine_name(uint16_t machine);
const char *object_relocation_name(uint16_t machine, uint32_t type);

#endif
