/* Objects inside files: an object itself, or the members of a GNU `ar` archive. */
#include "backend/object/internal.h"
#include "ir/base/file.h"

#include <ar.h>
#include <errno.h>
#include <libelf.h>
#include <string.h>

static const char thin_magic[] = "!<thin>\n";

static bool visit_member(struct object_arena *arena, const char *name, Elf *member,
                         struct object_visitor *visitor)
{
    const Elf_Arhdr *header = elf_getarhdr(member);
    if (!header || !header->ar_name || !header->ar_rawname)
        return object_fail(arena->error, "%.400s: malformed archive member", name);
    /* The symbol index and the table of long names. */
    if (strcmp(header->ar_name, "/") == 0 || strcmp(header->ar_name, "//") == 0 ||
        strcmp(header->ar_name, "/SYM64/") == 0)
        return true;
    char *label = object_format(arena, "%s(%s)", name, header->ar_name);
    if (strncmp(header->ar_rawname, "#1/", 3) == 0 || strcmp(header->ar_name, "__.SYMDEF") == 0)
        return object_fail(arena->error, "%.400s: BSD archives are not supported, only GNU ones",
                           label);
    size_t size;
    const char *bytes = elf_rawfile(member, &size);
    if (!bytes)
        return object_fail(arena->error, "%.400s: malformed archive member", label);
    struct object_input *input = object_input_read(arena, label, bytes, size);
    return input && visitor->visit(visitor, input, label + strlen(name));
}

static bool read_members(struct object_arena *arena, const char *name, Elf *archive,
                         size_t archive_size, struct object_visitor *visitor)
{
    size_t end = SARMAG;
    Elf *member;
    /* Members of an image in memory have no file behind them; this mode does not look for one. */
    Elf_Cmd command = ELF_C_READ_MMAP;
    bool ok = true;
    while (ok && (member = elf_begin(-1, command, archive))) {
        const Elf_Arhdr *header = elf_getarhdr(member);
        size_t start = (size_t)elf_getbase(member);
        size_t size = header && header->ar_size > 0 ? (size_t)header->ar_size : 0;
        if (start > archive_size || size > archive_size - start)
            ok = object_fail(arena->error, "%.400s: truncated archive", name);
        else
            end = start + size;
        struct mem_guard guard;
        mem_guard(&guard, object_elf_end, member);
        ok = ok && visit_member(arena, name, member, visitor);
        mem_unguard(&guard);
        command = elf_next(member);
        elf_end(member);
    }
    /* libelf ends the walk in the same way at the end and at a header that it cannot read. */
    end += end & 1;
    if (ok && end < archive_size)
        return object_fail(arena->error, "%.400s: malformed archive member header at byte %zu",
                           name, end);
    return ok;
}

static bool read_archive(struct object_arena *arena, const char *name, const void *bytes,
                         size_t size, struct object_visitor *visitor)
{
    if (size == SARMAG)
        return true;
    elf_version(EV_CURRENT);
    /* libelf does not write to an image that it only reads. */
    Elf *archive = elf_memory((char *)bytes, size);
    struct mem_guard guard;
    mem_guard(&guard, object_elf_end, archive);
    bool ok = archive && elf_kind(archive) == ELF_K_AR
                  ? read_members(arena, name, archive, size, visitor)
                  : object_fail(arena->error, "%.400s: malformed archive", name);
    mem_unguard(&guard);
    elf_end(archive);
    return ok;
}

static bool read_any(struct object_arena *arena, const char *name, const void *bytes, size_t size,
                     struct object_visitor *visitor)
{
    if (size >= SARMAG && memcmp(bytes, thin_magic, SARMAG) == 0)
        return object_fail(arena->error,
                           "%.400s: thin archives are not supported; make it without 'T'", name);
    if (size >= SARMAG && memcmp(bytes, ARMAG, SARMAG) == 0)
        return read_archive(arena, name, bytes, size, visitor);
    struct object_input *input = object_input_read(arena, name, bytes, size);
    return input && visitor->visit(visitor, input, NULL);
}

bool object_read_each(struct object_arena *arena, const char *name, const void *bytes, size_t size,
                      struct object_visitor *visitor)
{
    errno = 0;
    bool ok = read_any(arena, name, bytes, size, visitor);
    /* Without memory, libelf says what it says of a malformed file. */
    if (!ok && errno == ENOMEM)
        mem_exhausted();
    return ok;
}

bool object_read_file(struct object_arena *arena, const char *path, struct object_visitor *visitor)
{
    struct file_bytes bytes;
    char text[sizeof arena->error->text];
    bool standard = strcmp(path, "-") == 0;
    if (!(standard ? file_read : file_read_regular)(path, &bytes, text, sizeof text))
        return object_fail(arena->error, "%s", text);
    char *name = object_copy(arena, path, strlen(path) + 1);
    bool ok = object_read_each(arena, name, bytes.data, bytes.size, visitor);
    file_bytes_free(&bytes);
    return ok;
}
