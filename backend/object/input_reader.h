/* What the files that read one object share. */
#ifndef BACKEND_OBJECT_INPUT_READER_H
#define BACKEND_OBJECT_INPUT_READER_H

#include "backend/object/internal.h"

#include <libelf.h>

struct input_reader {
    struct object_arena *arena;
    struct object_error *error;
    struct object_input *input;
    Elf *elf;
    const unsigned char *image;
    size_t size;
    uint32_t symtab, strings, extended, section_names; /* section indices; 0: none */
};

/* Errors about the object, or one of its sections. Always false. */
bool input_fail(struct input_reader *r, const char *what);
bool input_fail_at(struct input_reader *r, const struct object_section *section, const char *what);

/* The string at `offset` in the table, counted against `budget`: names may share their tails, and a
 * hostile file could share so much that its names never fit in memory. NULL where there is none. */
const char *input_string(struct input_reader *r, uint32_t table, uint64_t offset, uint64_t *budget);
/* What all names of `count` things may take together. */
uint64_t input_name_budget(const struct object_section *strings, uint64_t count);

/* The decoded entries of a table, `*count` of them, each of `entry_size` bytes. NULL on error. */
const void *input_table(struct input_reader *r, uint32_t index, size_t entry_size, size_t *count);

/* Reads the section headers, of which there are input->section_count, with names and roles. Data is
 * inside of the file then, and no two sections share any. */
bool input_read_sections(struct input_reader *r);

/* Unpacks what is compressed and not loaded, behind that; no more than in proportion to the
 * file. */
bool input_decompress(struct input_reader *r);

/* Reads the symbol table, if there is one, behind the sections. */
bool input_read_symbols(struct input_reader *r);

#endif
