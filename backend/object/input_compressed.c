/* Compressed sections of an object that is read: what describes code for debuggers. */
#include "backend/object/input_reader.h"

#include <string.h>

/* What linkers of old compress by name alone: "ZLIB", the size as eight bytes of which the first is
 * the highest, and the data. */
static const char old_prefix[] = ".zdebug_";
enum { OLD_HEADER = 12 };

/* A file may be so many times as large when it is unpacked; small ones have a little more. Debug
 * information is three to ten times as large. */
enum { MOST_TIMES = 64, LITTLE = 1 << 20 };

static bool is_old(const struct object_section *section)
{
    return section->type == SHT_PROGBITS && !(section->flags & SHF_COMPRESSED) &&
           strncmp(section->name, old_prefix, sizeof old_prefix - 1) == 0;
}

static bool is_compressed(const struct object_section *section)
{
    return section->role == OBJECT_CONTENT && !(section->flags & SHF_ALLOC) && section->data &&
           (section->flags & SHF_COMPRESSED || is_old(section));
}

/* False where the header is none. */
static bool read_size(const struct object_section *section, uint64_t *size, uint64_t *align)
{
    Elf64_Chdr header;
    if (!is_old(section)) {
        if (section->size < sizeof header)
            return false;
        memcpy(&header, section->data, sizeof header);
        *size = header.ch_size;
        *align = header.ch_addralign ? header.ch_addralign : 1;
        return true;
    }
    if (section->size < OLD_HEADER || memcmp(section->data, "ZLIB", 4) != 0)
        return false;
    *size = 0;
    for (unsigned i = 4; i < OLD_HEADER; i++)
        *size = *size << 8 | section->data[i];
    *align = section->align;
    return true;
}

/* ".zdebug_line" is ".debug_line" then. */
static const char *new_name(struct input_reader *r, const struct object_section *section)
{
    size_t size = strlen(section->name); /* without the 'z', with the end */
    char *name = object_alloc(r->arena, size, 1);
    name[0] = '.';
    memcpy(name + 1, section->name + 2, size - 1);
    return name;
}

static bool unpack(struct input_reader *r, struct object_section *section, uint64_t size)
{
    bool old = is_old(section);
    Elf_Scn *from = elf_getscn(r->elf, (size_t)(section - r->input->sections));
    int done = old ? elf_compress_gnu(from, 0, 0) : elf_compress(from, 0, 0);
    const Elf_Data *data = done < 0 ? NULL : elf_getdata(from, NULL);
    if (!data || data->d_size != size || (size && !data->d_buf))
        return input_fail_at(r, section,
                             "cannot be decompressed: it is damaged, or compressed in a way that "
                             "libelf does not know; compile with -gz=none");
    section->data = (const unsigned char *)object_copy(r->arena, data->d_buf, size);
    section->size = size;
    section->flags &= ~(uint64_t)SHF_COMPRESSED;
    if (old)
        section->name = new_name(r, section);
    return true;
}

bool input_decompress(struct input_reader *r)
{
    uint64_t left = (uint64_t)r->size * MOST_TIMES + LITTLE;
    for (uint32_t i = 1; i < r->input->section_count; i++) {
        struct object_section *section = &r->input->sections[i];
        uint64_t size, align;
        if (!is_compressed(section))
            continue;
        if (!read_size(section, &size, &align) || align > OBJECT_MAX_ALIGN || align & (align - 1))
            return input_fail_at(r, section, "is compressed, but has no header that says how");
        if (size > left)
            return input_fail_at(r, section,
                                 "is compressed to less than 1/64 of its size, which is not "
                                 "supported; compile with -gz=none");
        left -= size;
        if (!unpack(r, section, size))
            return false;
        section->align = align;
    }
    return true;
}
