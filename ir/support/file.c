/* Files and folders. Outputs are compared with inputs in one place: files that are opened to read
 * are listed by device and inode, and a file that is to be replaced is looked up in that list. */
#define _GNU_SOURCE /* mkostemp */
#include "ir/support/cleanup_registry.h"
#include "ir/support/file.h"
#include "ir/support/text.h"

#include <limits.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(char *error, size_t error_size, const char *path, const char *what)
{
    const char *why =
        errno == EMFILE ? "the limit of open files (ulimit -n) is too low" : strerror(errno);
    snprintf(error, error_size, "cannot %s '%s': %s", what, path, why);
    return false;
}

/* --------------------------------------------------------------------------- inputs ---- */

/* Of the whole process: which file an output would replace does not depend on who reads it. The
 * list is plain memory, since it outlives the scopes of work. */
static struct {
    pthread_mutex_t lock;
    bool listed;
    struct input {
        dev_t device;
        ino_t inode;
    } * at;
    size_t count, capacity;
} inputs = {.lock = PTHREAD_MUTEX_INITIALIZER};

void file_protect_inputs(bool protect)
{
    free(inputs.at);
    inputs.at = NULL;
    inputs.count = inputs.capacity = 0;
    inputs.listed = protect;
}

/* The place of a file in the list; `count` where it is not in it. The lock is held. */
static size_t find_input(const struct stat *st)
{
    size_t i = 0;
    while (i < inputs.count &&
           (inputs.at[i].device != st->st_dev || inputs.at[i].inode != st->st_ino))
        i++;
    return i;
}

static void add_input(const struct stat *st)
{
    if (!inputs.listed || !S_ISREG(st->st_mode))
        return;
    pthread_mutex_lock(&inputs.lock);
    bool full = inputs.count == inputs.capacity;
    size_t capacity = full ? inputs.capacity + inputs.capacity / 2 + 64 : inputs.capacity;
    struct input *at = full ? realloc(inputs.at, capacity * sizeof *at) : inputs.at;
    if (at) {
        inputs.at = at;
        inputs.capacity = capacity;
        inputs.at[inputs.count++] = (struct input){st->st_dev, st->st_ino};
    }
    pthread_mutex_unlock(&inputs.lock);
    if (!at)
        mem_exhausted();
}

bool file_is_input(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    pthread_mutex_lock(&inputs.lock);
    bool is = find_input(&st) < inputs.count;
    pthread_mutex_unlock(&inputs.lock);
    return is;
}

void file_release_input(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return;
    pthread_mutex_lock(&inputs.lock);
    for (size_t i; (i = find_input(&st)) < inputs.count;)
        inputs.at[i] = inputs.at[--inputs.count];
    pthread_mutex_unlock(&inputs.lock);
}

/* -------------------------------------------------------------------------- reading ---- */

/* How much may be read: of a file; of what positions point into; of what has no size beforehand. */
static const uint64_t most_of_file = UINT64_C(64) << 30, most_of_text = UINT32_MAX,
                      most_of_stream = UINT64_C(1) << 30;

static void close_fd(void *fd)
{
    close(*(int *)fd);
}

/* Opens a file to be read, or standard input, which is what the caller has made it. Files and pipes
 * have an end; a device need not have one, but for that which is empty. `regular`: only a regular
 * file will do, and opening a pipe does not wait for a process that writes. */
static int open_input(const char *path, bool regular, struct stat *st, char *error,
                      size_t error_size)
{
    bool standard = !regular && strcmp(path, "-") == 0;
    int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                      : open(path, O_RDONLY | O_CLOEXEC | (regular ? O_NONBLOCK : 0));
    bool ok = fd >= 0 || fail(error, error_size, path, standard ? "read" : "open");
    ok = ok && (fstat(fd, st) == 0 || fail(error, error_size, path, "read"));
    if (ok && regular && !S_ISREG(st->st_mode))
        ok = message_fail(error, error_size, "'%s' is not a regular file", path);
    if (ok && !standard && !S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode) &&
        !S_ISFIFO(st->st_mode) && !path_same(path, "/dev/null"))
        ok = message_fail(error, error_size,
                          "'%s' is neither a file nor a pipe; standard input is '-'", path);
    if (ok && !standard) {
        struct mem_guard guard;
        mem_guard(&guard, close_fd, &fd);
        add_input(st);
        mem_unguard(&guard);
    }
    if (!ok && fd >= 0)
        close(fd);
    return ok ? fd : -1;
}

/* Reads a file of at most `most` bytes to its end. */
static bool read_path(const char *path, bool regular, uint64_t most, struct file_bytes *bytes,
                      char *error, size_t error_size)
{
    struct stat st;
    struct mem_guard guard;
    int fd = open_input(path, regular, &st, error, error_size);
    *bytes = (struct file_bytes){.data = NULL};
    if (fd < 0)
        return false;
    bool sized = S_ISREG(st.st_mode) && st.st_size > 0, pipe = S_ISFIFO(st.st_mode);
    uint64_t size = sized ? (uint64_t)st.st_size : 0;
    size_t capacity = sized ? size + 2 : 65536;
    ssize_t n = 1;
    if (!S_ISREG(st.st_mode) && most > most_of_stream)
        most = most_of_stream;
    mem_guard(&guard, close_fd, &fd);
    if (size <= most)
        bytes->data = mem_realloc(NULL, capacity, 1);
    while (n != 0 && size <= most && bytes->size <= most && !(sized && bytes->size == size)) {
        if (bytes->size + 1 == capacity) { /* one byte stays free for the NUL */
            capacity += capacity / 2 + 4096;
            bytes->data = mem_realloc(bytes->data, capacity, 1);
        }
        n = read(fd, bytes->data + bytes->size, capacity - 1 - bytes->size);
        if (n < 0 && errno != EINTR)
            break;
        bytes->size += n > 0 ? (size_t)n : 0;
    }
    bool large = size > most || bytes->size > most, ok = !large && n >= 0;
    if (large)
        message_fail(error, error_size, "'%s' is larger than %llu GiB%s", path,
                     (unsigned long long)((most + 1) >> 30),
                     pipe ? ", the most that a pipe may have" : "");
    else if (!ok)
        fail(error, error_size, path, "read");
    else
        bytes->data[bytes->size] = '\0';
    if (!ok)
        file_bytes_free(bytes);
    mem_unguard(&guard);
    close(fd);
    return ok;
}

bool file_read(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    return read_path(path, false, most_of_file, bytes, error, error_size);
}

bool file_read_text(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    return read_path(path, false, most_of_text, bytes, error, error_size);
}

bool file_read_regular(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    return read_path(path, true, most_of_file, bytes, error, error_size);
}

int file_open_regular(const char *path, uint64_t *size, char *error, size_t error_size)
{
    struct stat st;
    int fd = open_input(path, true, &st, error, error_size);
    if (fd >= 0)
        *size = (uint64_t)st.st_size;
    return fd;
}

bool file_read_at(int fd, const char *path, uint64_t offset, void *data, size_t size, char *error,
                  size_t error_size)
{
    for (char *at = data; size > 0;) {
        ssize_t n = pread(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? EIO : errno; /* the file has shrunk */
            return fail(error, error_size, path, "read");
        }
        at += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
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

bool path_same(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
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

bool folder_names(const char *path, struct arena *arena, struct file_names *names)
{
    uint32_t first = names->count;
    struct mem_guard guard;
    const struct dirent *entry;
    DIR *folder = opendir(path);
    if (!folder && errno == ENOMEM)
        mem_exhausted();
    if (!folder)
        return false;
    mem_guard(&guard, close_folder, folder);
    while (errno = 0, (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            vec_push(names, arena_strndup(arena, entry->d_name, strlen(entry->d_name)));
    int failure = errno;
    mem_unguard(&guard);
    closedir(folder);
    if (names->count > first)
        qsort(names->at + first, names->count - first, sizeof *names->at, compare_names);
    errno = failure;
    return failure == 0;
}

/* -------------------------------------------------------------------------- writing ---- */

static bool fail_input(const char *path, char *error, size_t error_size)
{
    return message_fail(error, error_size, "the output '%s' would replace an input", path);
}

/* Looks at the place of an output, with `exists` and `st` of what is there. `direct`: it is written
 * where it is, as a device, a pipe, a link to nothing, or a file without a name, which a descriptor
 * in /dev/fd leads to. False, with errno set, where nothing can be there. */
static bool find_target(const char *path, struct stat *st, bool *exists, bool *direct)
{
    *exists = stat(path, st) == 0;
    if (!*exists && errno != ENOENT)
        return false;
    *direct = *exists ? !S_ISREG(st->st_mode) || st->st_nlink == 0 : lstat(path, st) == 0;
    return true;
}

/* Makes the file that will be renamed to out->path, in its folder. It is created for the owner
 * alone; the result has the mode of the file that it replaces, or that which open() would give. */
static void open_temp(struct file_out *out, const struct stat *existing)
{
    static const char name[] = ".skirc.XXXXXX";
    const char *slash = strrchr(out->path, '/');
    int folder = slash ? (int)(slash + 1 - out->path) : 0;
    sigset_t before;
    mode_t mask = umask(0);
    umask(mask);
    out->temp = mem_realloc(NULL, (size_t)folder + sizeof name, 1);
    snprintf(out->temp, (size_t)folder + sizeof name, "%.*s%s", folder, out->path, name);
    cleanup_hold(&before);
    out->fd = mkostemp(out->temp, O_CLOEXEC);
    if (out->fd >= 0)
        out->cleanup = cleanup_add(CLEANUP_FILE, 0, out->temp);
    int saved = errno;
    cleanup_release(&before);
    if (out->fd >= 0) {
        (void)!fchmod(out->fd, existing ? existing->st_mode & 07777 : 0666 & ~mask);
    } else {
        mem_free(out->temp);
        out->temp = NULL;
    }
    errno = saved;
}

static void abandon(void *out)
{
    file_out_abandon(out);
}

bool file_out_open(struct file_out *out, const char *path, char *error, size_t error_size)
{
    struct stat st;
    bool exists, direct;
    *out = (struct file_out){.fd = -1};
    if (file_is_input(path))
        return fail_input(path, error, error_size);
    mem_guard(&out->guard, abandon, out);
    if (find_target(path, &st, &exists, &direct)) {
        out->path = exists && !direct ? path_real(path) : mem_strdup(path);
        if (direct)
            out->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        else if (out->path)
            open_temp(out, exists ? &st : NULL);
    }
    if (out->fd >= 0)
        return true;
    fail(error, error_size, path, "write");
    file_out_abandon(out);
    return false;
}

bool file_can_write(const char *path, char *error, size_t error_size)
{
    struct stat st;
    bool exists, direct;
    if (strcmp(path, "-") == 0)
        return true;
    if (file_is_input(path))
        return fail_input(path, error, error_size);
    bool ok = find_target(path, &st, &exists, &direct);
    if (ok && exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        ok = false;
    } else if (ok && !direct) {
        char *real = exists ? path_real(path) : NULL, *folder = path_folder(real ? real : path);
        ok = access(folder, W_OK | X_OK) == 0;
        int saved = errno;
        mem_free(folder);
        mem_free(real);
        errno = saved;
    }
    return ok || fail(error, error_size, path, "write");
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
    } else if (out->temp) {
        cleanup_forget(out->cleanup);
        mem_free(out->temp);
        out->temp = NULL;
    }
    file_out_abandon(out);
    return ok;
}

void file_out_abandon(struct file_out *out)
{
    int saved = errno;
    mem_unguard(&out->guard);
    if (out->fd >= 0)
        close(out->fd);
    if (out->temp) {
        unlink(out->temp);
        cleanup_forget(out->cleanup);
    }
    mem_free(out->temp);
    mem_free(out->path);
    *out = (struct file_out){.fd = -1};
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
