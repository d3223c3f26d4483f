#include "ir/base/file.h"
#include "ir/base/message.h"

#include <limits.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool fail(char *error, size_t error_size, const char *path, const char *what)
{
    snprintf(error, error_size, "cannot %s '%s': %s", what, path, strerror(errno));
    return false;
}

/* ---- Opening ---- */

int file_open_patiently(const char *path, int access, int busy)
{
    enum { TURNS = 500 };
    const struct timespec turn = {0, 10000000};
    int fd;
    for (int i = 0; (fd = open(path, access | O_CLOEXEC | O_NONBLOCK)) < 0; i++) {
        if (errno != busy || i == TURNS)
            break;
        nanosleep(&turn, NULL);
    }
    return fd;
}

/* Without O_NONBLOCK, a pipe would wait for somebody who writes, and a file that another process
 * has leased (F_SETLEASE) as long as the system lets it keep that: it gets a while for that. */
static int open_to_read(const char *path)
{
    return file_open_patiently(path, O_RDONLY, EWOULDBLOCK);
}

static bool fail_open(char *error, size_t error_size, const char *path)
{
    if (errno == EWOULDBLOCK)
        return message_fail(error, error_size,
                            "cannot open '%s': another process has a lease on it, and does not "
                            "give it up",
                            path);
    return fail(error, error_size, path, "open");
}

/* ---- Reading ---- */

/* How much may be read: of a file; of what positions point into; of what has no size beforehand. */
static const uint64_t most_of_file = UINT64_C(64) << 30, most_of_text = UINT32_MAX,
                      most_of_stream = UINT64_C(1) << 30;

/* A file that is read to its end. */
struct reading {
    const char *path;
    int fd;
    bool standard; /* it is standard input */
    bool pipe;     /* it may have to be waited for */
    bool begun;    /* of a pipe: somebody writes, or has written */
    bool waited;   /* of a pipe: for somebody to come */
    uint64_t size; /* 0 where it is not known */
    uint64_t most;
    char *error;
    size_t error_size;
};

static bool fail_reading(const struct reading *reading)
{
    return fail(reading->error, reading->error_size, reading->path, "read");
}

static bool fail_large(const struct reading *reading)
{
    return message_fail(reading->error, reading->error_size, "'%s' is larger than %llu GiB%s",
                        reading->path, (unsigned long long)((reading->most + 1) >> 30),
                        reading->size || !reading->pipe ? "" : ", the most that a pipe may have");
}

/* A pipe is opened without waiting for anybody: who is to write gets a while to come, and then as
 * long as he likes. */
static bool wait_for_writer(struct reading *reading, bool is_there)
{
    enum { PATIENCE = 5000 }; /* milliseconds */
    struct pollfd poll_fd = {reading->fd, POLLIN, 0};
    if (!is_there && reading->waited)
        return message_fail(reading->error, reading->error_size,
                            "'%s' is a pipe that nobody writes to", reading->path);
    reading->begun = is_there;
    reading->waited = true;
    poll(&poll_fd, 1, is_there ? -1 : PATIENCE);
    return true;
}

/* Some bytes; 0 at the end. False, with an error, where they cannot be read. */
static bool read_some(struct reading *reading, char *data, size_t size, size_t *got)
{
    for (;;) {
        ssize_t n = read(reading->fd, data, size);
        bool silent = n < 0 && errno == EAGAIN && reading->pipe;
        if (n > 0 || (n == 0 && (reading->begun || !reading->pipe))) {
            reading->begun = true;
            *got = (size_t)n;
            return true;
        }
        if (n < 0 && !silent && errno != EINTR)
            return fail_reading(reading);
        if ((n == 0 || silent) && !wait_for_writer(reading, silent))
            return false;
    }
}

static bool read_to_end(struct reading *reading, struct file_bytes *bytes)
{
    size_t capacity = reading->size ? reading->size + 2 : 65536, got;
    bytes->data = mem_realloc(NULL, capacity, 1);
    for (;;) {
        /* One byte stays free for the NUL. */
        if (bytes->size + 1 == capacity) {
            capacity += capacity / 2 + 4096;
            bytes->data = mem_realloc(bytes->data, capacity, 1);
        }
        if (!read_some(reading, bytes->data + bytes->size, capacity - 1 - bytes->size, &got))
            return false;
        bytes->size += got;
        if (bytes->size > reading->most)
            return fail_large(reading);
        if (got == 0)
            break;
    }
    bytes->data[bytes->size] = '\0';
    return true;
}

static void close_fd(void *fd)
{
    close(*(int *)fd);
}

/* Files and pipes have an end; a device need not have one, but for that which is empty. Standard
 * input is what the caller has made it. */
static bool can_be_read(struct reading *reading, const struct stat *st)
{
    if (S_ISDIR(st->st_mode)) {
        errno = EISDIR;
        return fail_reading(reading);
    }
    reading->pipe = S_ISFIFO(st->st_mode);
    reading->begun = reading->standard;
    if (S_ISREG(st->st_mode))
        reading->size = (uint64_t)st->st_size;
    else if (!reading->pipe && !reading->standard && !path_same(reading->path, "/dev/null"))
        return message_fail(reading->error, reading->error_size,
                            "'%s' is neither a file nor a pipe; standard input is '-'",
                            reading->path);
    else if (reading->most > most_of_stream)
        reading->most = most_of_stream;
    return reading->size <= reading->most || fail_large(reading);
}

static bool read_all(struct reading *reading, struct file_bytes *bytes)
{
    struct stat st;
    if (fstat(reading->fd, &st) != 0)
        return fail_reading(reading);
    return can_be_read(reading, &st) && read_to_end(reading, bytes);
}

static bool read_path(const char *path, struct file_bytes *bytes, uint64_t most, char *error,
                      size_t error_size)
{
    struct reading reading = {.path = path,
                              .fd = STDIN_FILENO,
                              .standard = strcmp(path, "-") == 0,
                              .most = most,
                              .error = error,
                              .error_size = error_size};
    struct mem_guard guard = {.what = NULL};
    *bytes = (struct file_bytes){.data = NULL};
    if (!reading.standard && (reading.fd = open_to_read(path)) < 0)
        return fail_open(error, error_size, path);
    if (!reading.standard)
        mem_guard(&guard, close_fd, &reading.fd);
    bool ok = read_all(&reading, bytes);
    if (!ok)
        file_bytes_free(bytes);
    mem_unguard(&guard);
    if (!reading.standard)
        close(reading.fd);
    return ok;
}

bool file_read(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    return read_path(path, bytes, most_of_file, error, error_size);
}

bool file_read_text(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    return read_path(path, bytes, most_of_text, error, error_size);
}

static bool read_regular(int fd, const char *path, uint64_t size, struct file_bytes *bytes,
                         char *error, size_t error_size)
{
    struct reading reading = {.path = path,
                              .fd = fd,
                              .size = size,
                              .most = most_of_file,
                              .error = error,
                              .error_size = error_size};
    struct mem_guard guard;
    mem_guard(&guard, close_fd, &fd);
    bool ok = size <= most_of_file ? read_to_end(&reading, bytes) : fail_large(&reading);
    if (!ok)
        file_bytes_free(bytes);
    mem_unguard(&guard);
    close(fd);
    return ok;
}

bool file_read_regular(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    uint64_t size;
    *bytes = (struct file_bytes){.data = NULL};
    int fd = file_open_regular(path, &size, error, error_size);
    return fd >= 0 && read_regular(fd, path, size, bytes, error, error_size);
}

static bool read_at(int fd, uint64_t offset, char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = pread(fd, data, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? EIO : errno; /* the file has shrunk */
            return false;
        }
        data += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

bool file_read_at(int fd, const char *path, uint64_t offset, void *data, size_t size, char *error,
                  size_t error_size)
{
    return read_at(fd, offset, data, size) || fail(error, error_size, path, "read");
}

int file_open_regular(const char *path, uint64_t *size, char *error, size_t error_size)
{
    int fd = open_to_read(path);
    struct stat st;
    if (fd < 0) {
        fail_open(error, error_size, path);
        return -1;
    }
    bool known = fstat(fd, &st) == 0;
    if (known && S_ISREG(st.st_mode)) {
        *size = (uint64_t)st.st_size;
        return fd;
    }
    if (known)
        message_fail(error, error_size, "'%s' is not a regular file", path);
    else
        fail(error, error_size, path, "read");
    close(fd);
    return -1;
}

bool file_read_part(const char *path, uint64_t offset, void *data, size_t size, char *error,
                    size_t error_size)
{
    uint64_t has;
    int fd = file_open_regular(path, &has, error, error_size);
    if (fd < 0)
        return false;
    bool ok = offset <= has && size <= has - offset
                  ? file_read_at(fd, path, offset, data, size, error, error_size)
                  : message_fail(error, error_size,
                                 "'%s' has %llu bytes, but %zu from byte %llu on are needed", path,
                                 (unsigned long long)has, size, (unsigned long long)offset);
    close(fd);
    return ok;
}

void file_bytes_free(struct file_bytes *bytes)
{
    mem_free(bytes->data);
    *bytes = (struct file_bytes){.data = NULL};
}

/* -------------------------------------------------------------------------- folders ---- */

char *path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return mem_strdup(".");
    char *folder = mem_strdup(path);
    folder[slash == path ? 1 : slash - path] = '\0';
    return folder;
}

struct known_file known_file_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return (struct known_file){.path = path};
    return (struct known_file){path, true, st.st_dev, st.st_ino};
}

bool known_file_is(const struct known_file *file, const char *path)
{
    struct stat st;
    return file->is_there && stat(path, &st) == 0 && st.st_dev == file->device &&
           st.st_ino == file->number;
}

bool path_same(const char *a, const char *b)
{
    struct known_file file = known_file_of(a);
    return known_file_is(&file, b);
}

char *path_real(const char *path)
{
    char real[PATH_MAX];
    return realpath(path, real) ? mem_strdup(real) : NULL;
}

static void close_folder(void *folder)
{
    closedir(folder);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool read_names(DIR *folder, struct arena *arena, struct file_names *names)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (!entry)
            return errno == 0;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            vec_push(names, arena_strndup(arena, entry->d_name, strlen(entry->d_name)));
    }
}

bool folder_names(const char *path, struct arena *arena, struct file_names *names)
{
    uint32_t first = names->count;
    DIR *folder = opendir(path);
    if (!folder && errno == ENOMEM)
        mem_exhausted();
    if (!folder)
        return false;
    struct mem_guard guard;
    mem_guard(&guard, close_folder, folder);
    bool ok = read_names(folder, arena, names);
    mem_unguard(&guard);
    int saved = errno;
    closedir(folder);
    if (names->count > first)
        qsort(names->at + first, names->count - first, sizeof *names->at, compare_names);
    errno = saved;
    return ok;
}
