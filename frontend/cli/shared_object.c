#include "frontend/cli/shared_object.h"
#include "ir/base/file.h"
#include "ir/base/message.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

struct object_file {
    const char *path;
    int fd;
    uint64_t size;
    char *error;
    size_t error_size;
};

static bool fail(const struct object_file *file, const char *what)
{
    return message_fail(file->error, file->error_size, "'%s' %s", file->path, what);
}

static bool fail_short(const struct object_file *file)
{
    return fail(file, "is cut off: its headers name bytes behind its end; build or copy it again");
}

static bool is_inside(const struct object_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

static bool read_at(const struct object_file *file, uint64_t offset, void *data, size_t size)
{
    return file_read_at(file->fd, file->path, offset, data, size, file->error, file->error_size);
}

static bool check_segments(const struct object_file *file, const Elf64_Ehdr *header)
{
    for (uint64_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        if (!read_at(file, header->e_phoff + i * sizeof segment, &segment, sizeof segment))
            return false;
        if (!is_inside(file, segment.p_offset, segment.p_filesz))
            return fail_short(file);
    }
    return true;
}

static bool check_file(const struct object_file *file)
{
    Elf64_Ehdr header;
    if (file->size < sizeof header)
        return fail(file, "is no shared object");
    if (!read_at(file, 0, &header, sizeof header))
        return false;
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr))
        return fail(file, "is no shared object");
    if (!is_inside(file, header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize) ||
        !is_inside(file, header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize))
        return fail_short(file);
    return check_segments(file, &header);
}

bool shared_object_check(const char *path, char *error, size_t error_size)
{
    struct object_file file = {.path = path, .error = error, .error_size = error_size};
    file.fd = file_open_regular(path, &file.size, error, error_size);
    if (file.fd < 0)
        return false;
    bool ok = check_file(&file);
    close(file.fd);
    return ok;
}
