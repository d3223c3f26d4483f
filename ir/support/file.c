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

/* False where there is no memory. */
static bool add_input(const struct stat *st)
{
    bool ok = true;
    if (!inputs.listed || !S_ISREG(st->st_mode))
        return true;
    pthread_mutex_lock(&inputs.lock);
    if (inputs.count == inputs.capacity) {
        size_t capacity = inputs.capacity + inputs.capacity / 2 + 64;
        struct input *at = realloc(inputs.at, capacity * sizeof *at);
        ok = at;
        inputs.at = ok ? at : inputs.at;
        inputs.capacity = ok ? capacity : inputs.capacity;
    }
    if (ok)
        inputs.at[inputs.count++] = (struct input){st->st_dev, st->st_ino};
    pthread_mutex_unlock(&inputs.lock);
    return ok;
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

/* Reads `size` bytes, or to the end where that is 0, of at most `most`, and closes the file. */
static bool read_to_end(int fd, const char *path, uint64_t size, uint64_t most, bool pipe,
                        struct file_bytes *bytes, char *error, size_t error_size)
{
    struct mem_guard guard;
    size_t capacity = size ? size + 2 : 65536;
    ssize_t n = 1;
    mem_guard(&guard, close_fd, &fd);
    if (size <= most)
        bytes->data = mem_realloc(NULL, capacity, 1);
    while (n != 0 && size <= most && bytes->size <= most && !(size && bytes->size == size)) {
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

/* Files and pipes have an end; a device need not have one, but for that which is empty. Standard
 * input is what the caller has made it. */
static bool read_path(const char *path, struct file_bytes *bytes, uint64_t most, char *error,
                      size_t error_size)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                      : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    *bytes = (struct file_bytes){.data = NULL};
    if (fd < 0)
        return fail(error, error_size, path, standard ? "read" : "open");
    bool ok = fstat(fd, &st) == 0 || fail(error, error_size, path, "read");
    bool listed = !ok || standard || add_input(&st);
    if (ok && !S_ISREG(st.st_mode)) {
        most = most < most_of_stream ? most : most_of_stream;
        ok = S_ISDIR(st.st_mode) || S_ISFIFO(st.st_mode) || standard ||
             path_same(path, "/dev/null") ||
             message_fail(error, error_size,
                          "'%s' is neither a file nor a pipe; standard input is '-'", path);
    }
    if (ok && listed)
        return read_to_end(fd, path, S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0, most,
                           S_ISFIFO(st.st_mode), bytes, error, error_size);
    close(fd);
    if (!listed)
        mem_exhausted();
    return false;
}

bool file_read(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    return read_path(path, bytes, most_of_file, error, error_size);
}

bool file_read_text(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    return read_path(path, bytes, most_of_text, error, error_size);
}

bool file_read_regular(const char *path, struct file_bytes *bytes, char *error, size_t error_size)
{
    uint64_t size;
    *bytes = (struct file_bytes){.data = NULL};
    int fd = file_open_regular(path, &size, error, error_size);
    return fd >= 0 && read_to_end(fd, path, size, most_of_file, false, bytes, error, error_size);
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

/* Without O_NONBLOCK, opening a pipe would wait for a process that writes. */
int file_open_regular(const char *path, uint64_t *size, char *error, size_t error_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0) {
        fail(error, error_size, path, "open");
        return -1;
    }
    bool known = fstat(fd, &st) == 0;
    if (known && !add_input(&st)) {
        close(fd);
        mem_exhausted();
    }
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

static bool fail_write(char *error, size_t error_size, const char *path)
{
    return fail(error, error_size, path, "write");
}

static bool fail_input(const char *path, char *error, size_t error_size)
{
    return message_fail(error, error_size, "the output '%s' would replace an input", path);
}

/* Files are created for the owner alone; the result has the mode that open() would have given, or
 * that of the file it replaces. */
static mode_t wanted_mode(const struct stat *existing)
{
    if (existing)
        return existing->st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Makes the file that will be renamed to out->path, in its folder. */
static void open_temp(struct file_out *out, mode_t mode)
{
    static const char name[] = ".skirc.XXXXXX";
    const char *slash = strrchr(out->path, '/');
    int folder = slash ? (int)(slash + 1 - out->path) : 0;
    sigset_t before;
    out->temp = mem_realloc(NULL, (size_t)folder + sizeof name, 1);
    snprintf(out->temp, (size_t)folder + sizeof name, "%.*s%s", folder, out->path, name);
    cleanup_hold(&before);
    out->fd = mkostemp(out->temp, O_CLOEXEC);
    if (out->fd >= 0)
        out->cleanup = cleanup_add(CLEANUP_FILE, out->temp);
    int saved = errno;
    cleanup_release(&before);
    if (out->fd >= 0) {
        (void)!fchmod(out->fd, mode);
    } else {
        mem_free(out->temp);
        out->temp = NULL;
    }
    errno = saved;
}

static void open_out(struct file_out *out, const char *path)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (!exists && errno != ENOENT)
        return;
    /* A file without a name is one that a descriptor in /dev/fd leads to. */
    bool direct = exists ? !S_ISREG(st.st_mode) || st.st_nlink == 0 : lstat(path, &st) == 0;
    out->path = exists && !direct ? path_real(path) : mem_strdup(path);
    if (direct)
        out->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    else if (out->path)
        open_temp(out, wanted_mode(exists ? &st : NULL));
}

static void abandon(void *out)
{
    file_out_abandon(out);
}

bool file_out_open(struct file_out *out, const char *path, char *error, size_t error_size)
{
    *out = (struct file_out){.fd = -1};
    if (file_is_input(path))
        return fail_input(path, error, error_size);
    mem_guard(&out->guard, abandon, out);
    open_out(out, path);
    if (out->fd >= 0)
        return true;
    fail_write(error, error_size, path);
    file_out_abandon(out);
    return false;
}

bool file_can_write(const char *path, char *error, size_t error_size)
{
    struct stat st;
    if (strcmp(path, "-") == 0)
        return true;
    if (file_is_input(path))
        return fail_input(path, error, error_size);
    bool exists = stat(path, &st) == 0;
    if (exists ? !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)
               : errno == ENOENT && lstat(path, &st) == 0)
        return true;
    if (exists && S_ISDIR(st.st_mode))
        errno = EISDIR;
    bool ok = exists ? S_ISREG(st.st_mode) : errno == ENOENT;
    if (ok) {
        char *real = exists ? path_real(path) : NULL, *folder = path_folder(real ? real : path);
        ok = access(folder, W_OK | X_OK) == 0;
        int saved = errno;
        mem_free(folder);
        mem_free(real);
        errno = saved;
    }
    return ok || fail_write(error, error_size, path);
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
    return write_fd(out->fd, data, size) || fail_write(error, error_size, out->path);
}

bool file_out_commit(struct file_out *out, char *error, size_t error_size)
{
    bool ok = close(out->fd) == 0;
    out->fd = -1;
    ok = ok && (!out->temp || rename(out->temp, out->path) == 0);
    if (!ok) {
        fail_write(error, error_size, out->path);
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
        return write_fd(STDOUT_FILENO, data, size) || fail_write(error, error_size, path);
    struct file_out out;
    if (!file_out_open(&out, path, error, error_size))
        return false;
    if (file_out_write(&out, data, size, error, error_size))
        return file_out_commit(&out, error, error_size);
    file_out_abandon(&out);
    return false;
}
