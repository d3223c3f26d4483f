#define _GNU_SOURCE /* leases */
#include "ir/base/file.h"
#include "ir/base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(char *error, size_t error_size, const char *path, const char *what)
{
    snprintf(error, error_size, "cannot %s '%s': %s", what, path, strerror(errno));
    return false;
}

static bool read_fd(int fd, struct file_bytes *bytes, size_t expected)
{
    size_t capacity = expected + 1, size = 0;
    char *data = malloc(capacity);
    while (data) {
        /* One byte stays free for the NUL. */
        if (size + 1 == capacity) {
            char *grown = realloc(data, capacity += capacity / 2 + 4096);
            if (!grown)
                break;
            data = grown;
        }
        ssize_t n = read(fd, data + size, capacity - 1 - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        if (n == 0) {
            data[size] = '\0';
            *bytes = (struct file_bytes){data, size, 0};
            return true;
        }
        size += (size_t)n;
    }
    int saved = errno;
    free(data);
    errno = saved;
    return false;
}

/* Makes others who would write to the file wait until `fd` is closed. A process that may not do so,
 * a file that is being written, and most network file systems are refused. */
static bool take_lease(int fd)
{
#ifdef F_SETLEASE
    /* The holder is told of those who wait by a signal; this one is ignored unless handled. */
    return fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
#else
    (void)fd;
    return false;
#endif
}

/* Without the lease, a file that shrinks would take mapped bytes away. Keeps `fd` on success. */
static bool map_fd(int fd, struct file_bytes *bytes)
{
    enum { MIN_MAPPED = 1 << 20 };
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < MIN_MAPPED || !take_lease(fd))
        return false;
    /* Behind the end, the last page has room for the NUL. */
    size_t size = fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
    if (size % (size_t)sysconf(_SC_PAGESIZE) == 0)
        return false;
    char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return false;
    data[size] = '\0';
    *bytes = (struct file_bytes){data, size, fd + 1};
    return true;
}

static bool read_path(const char *path, struct file_bytes *bytes, bool may_map, char *error,
                      size_t error_size)
{
    *bytes = (struct file_bytes){NULL, 0, 0};
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(error, error_size, path, "open");
    if (may_map && !standard && map_fd(fd, bytes))
        return true;
    struct stat st;
    bool ok = fstat(fd, &st) == 0;
    if (ok && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        ok = false;
    }
    ok = ok && read_fd(fd, bytes, S_ISREG(st.st_mode) ? (size_t)st.st_size + 1 : 65536);
    if (!ok)
        fail(error, error_size, path, "read");
    if (!standard)
        close(fd);
    return ok;
}

bool file_read(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    return read_path(path, bytes, false, error, error_size);
}

bool file_map(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    return read_path(path, bytes, true, error, error_size);
}

void file_bytes_free(struct file_bytes *bytes)
{
    if (bytes->lease) {
        munmap(bytes->data, bytes->size);
        close(bytes->lease - 1);
    } else {
        free(bytes->data);
    }
    *bytes = (struct file_bytes){NULL, 0, 0};
}

char *path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return mem_strdup(".");
    char *folder = mem_strdup(path);
    folder[slash == path ? 1 : slash - path] = '\0';
    return folder;
}

/* mkstemp creates files for the owner alone; the result should have the mode that open() would
 * have given, or that of the file it replaces. */
static mode_t wanted_mode(const struct stat *existing)
{
    if (existing)
        return existing->st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

bool file_out_open(struct file_out *out, const char *path, char *error, size_t error_size)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return fail(error, error_size, path, "write");
    }
    /* A symbolic link stays one: what it leads to is replaced. */
    char *target = exists && S_ISREG(st.st_mode) ? realpath(path, NULL) : strdup(path);
    *out = (struct file_out){-1, target, NULL};
    if (!target)
        return fail(error, error_size, path, "write");
    if (exists && !S_ISREG(st.st_mode)) {
        out->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        size_t size = strlen(target) + sizeof ".XXXXXX";
        out->temp = malloc(size);
        if (out->temp) {
            snprintf(out->temp, size, "%s.XXXXXX", target);
            out->fd = mkstemp(out->temp);
        }
        if (out->fd >= 0)
            (void)!fchmod(out->fd, wanted_mode(exists ? &st : NULL));
    }
    if (out->fd >= 0)
        return true;
    fail(error, error_size, path, "write");
    if (out->fd < 0) { /* mkstemp made nothing that abandon could remove */
        free(out->temp);
        out->temp = NULL;
    }
    file_out_abandon(out);
    return false;
}

static bool write_fd(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

bool file_out_write(struct file_out *out, const void *data, size_t size, char *error,
                    size_t error_size)
{
    return write_fd(out->fd, data, size) || fail(error, error_size, out->path, "write");
}

bool file_out_commit(struct file_out *out, char *error, size_t error_size)
{
    bool ok = close(out->fd) == 0;
    out->fd = -1;
    ok = ok && (!out->temp || rename(out->temp, out->path) == 0);
    if (!ok) {
        fail(error, error_size, out->path, "write");
    } else {
        free(out->temp);
        out->temp = NULL;
    }
    file_out_abandon(out);
    return ok;
}

void file_out_abandon(struct file_out *out)
{
    int saved = errno;
    if (out->fd >= 0)
        close(out->fd);
    if (out->temp)
        unlink(out->temp);
    free(out->temp);
    free(out->path);
    *out = (struct file_out){-1, NULL, NULL};
    errno = saved;
}

bool file_write(const char *path, const void *data, size_t size, char *error, size_t error_size)
{
    if (strcmp(path, "-") == 0)
        return write_fd(STDOUT_FILENO, data, size) || fail(error, error_size, path, "write");
    struct file_out out;
    if (!file_out_open(&out, path, error, error_size))
        return false;
    if (file_out_write(&out, data, size, error, error_size))
        return file_out_commit(&out, error, error_size);
    file_out_abandon(&out);
    return false;
}
