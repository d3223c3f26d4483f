/* Files that appear when they are complete (ir/base/file.h). */
#include "ir/base/file.h"
#include "ir/base/cleanup_registry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool fail(char *error, size_t error_size, const char *path)
{
    struct stat st;
    int failure = errno;
    if (failure == ENXIO && stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) {
        snprintf(error, error_size, "'%s' is a pipe that nobody reads", path);
        return false;
    }
    errno = failure;
    snprintf(error, error_size, "cannot write '%s': %s", path, strerror(errno));
    return false;
}

/* Files are created for the owner alone; the result should have the mode that open() would
 * have given, or that of the file it replaces. */
static mode_t wanted_mode(const struct stat *existing)
{
    if (existing)
        return existing->st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

enum { RANDOM_SIZE = 6 }; /* letters at the end of a temporary file's name */

/* Beside the path. Where its name has no room for more, by another one. */
static char *temp_pattern(const char *path)
{
    static const char more[] = ".XXXXXX", other[] = ".skirc.XXXXXX";
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0, size = strlen(path);
    bool fits = size - folder + strlen(more) <= NAME_MAX;
    char *temp = mem_realloc(NULL, size + sizeof other, 1);
    snprintf(temp, size + sizeof other, "%.*s%s", (int)(fits ? size : folder), path,
             fits ? more : other);
    return temp;
}

static void put_random(char *at)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static uint64_t last;
    struct timespec time;
    uint64_t number = 0;
    clock_gettime(CLOCK_MONOTONIC, &time);
    (void)!getrandom(&number, sizeof number, GRND_NONBLOCK);
    last = (last ^ number ^ (uint64_t)time.tv_nsec << 24 ^ (uint64_t)getpid()) *
               UINT64_C(6364136223846793005) +
           1442695040888963407;
    number = last >> 24;
    for (int i = 0; i < RANDOM_SIZE; i++, number /= sizeof letters - 1)
        at[i] = letters[number % (sizeof letters - 1)];
}

/* Noted before it is there: a signal that nobody can hold back may end the process between. */
static int make_noted(const char *temp, int *cleanup)
{
    struct stat st;
    errno = EEXIST;
    if (lstat(temp, &st) == 0)
        return -1;
    *cleanup = cleanup_add(CLEANUP_FILE, temp);
    int fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        cleanup_forget(*cleanup);
    return fd;
}

/* Makes the file that will be renamed to out->path. */
static void open_temp(struct file_out *out, mode_t mode)
{
    enum { TRIES = 100 };
    char *temp = temp_pattern(out->path);
    sigset_t before;
    cleanup_hold(&before);
    for (int i = 0; i < TRIES && out->fd < 0 && (i == 0 || errno == EEXIST); i++) {
        put_random(temp + strlen(temp) - RANDOM_SIZE);
        out->fd = make_noted(temp, &out->cleanup);
    }
    int saved = errno;
    out->temp = out->fd >= 0 ? temp : NULL;
    cleanup_release(&before);
    if (out->fd >= 0)
        (void)!fchmod(out->fd, mode);
    else
        mem_free(temp);
    errno = saved;
}

/* Where a symbolic link leads from its folder; NULL where the path is none. */
static char *link_target(const char *path)
{
    char target[PATH_MAX];
    ssize_t size = readlink(path, target, sizeof target - 1);
    const char *slash = strrchr(path, '/');
    if (size < 0)
        return NULL;
    target[size] = '\0';
    int folder = slash && *target != '/' ? (int)(slash + 1 - path) : 0;
    char *joined = mem_calloc((size_t)folder + (size_t)size + 1, 1);
    snprintf(joined, (size_t)folder + (size_t)size + 1, "%.*s%s", folder, path, target);
    return joined;
}

/* The file that a path leads to by links, which need not be there. NULL, with errno set, where they
 * lead nowhere. */
static char *follow_links(const char *path)
{
    enum { MOST_LINKS = 40 }; /* as the system follows */
    char *at = mem_strdup(path);
    for (int i = 0; i <= MOST_LINKS; i++) {
        char *next = link_target(at);
        if (!next)
            return at;
        mem_free(at);
        at = next;
    }
    mem_free(at);
    errno = ELOOP;
    return NULL;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool path_same_place(const char *a, const char *b)
{
    char *files[] = {follow_links(a), follow_links(b)};
    bool same = files[0] && files[1] && *last_name(files[0]) &&
                !strcmp(last_name(files[0]), last_name(files[1]));
    if (same) {
        char *folders[] = {path_folder(files[0]), path_folder(files[1])};
        same = path_same(folders[0], folders[1]);
        mem_free(folders[0]);
        mem_free(folders[1]);
    }
    mem_free(files[0]);
    mem_free(files[1]);
    return same;
}

/* What is no regular file is written in place. Who is to read a pipe gets a while to come: nobody
 * may ever. */
static int open_in_place(const char *path)
{
    int fd = file_open_patiently(path, O_WRONLY, ENXIO);
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

/* Symbolic links stay: what they lead to is replaced. */
static void open_out(struct file_out *out, const char *path)
{
    struct stat st;
    bool exists = stat(path, &st) == 0, regular = exists && S_ISREG(st.st_mode);
    if (!exists && errno != ENOENT)
        return;
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return;
    }
    out->path = regular ? path_real(path) : exists ? mem_strdup(path) : follow_links(path);
    if (out->path && exists && !regular)
        out->fd = open_in_place(path);
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
    mem_guard(&out->guard, abandon, out);
    open_out(out, path);
    if (out->fd >= 0)
        return true;
    fail(error, error_size, path);
    file_out_abandon(out);
    return false;
}

bool file_can_write(const char *path, char *error, size_t error_size)
{
    struct stat st;
    struct file_out out;
    bool there = stat(path, &st) == 0;
    if (strcmp(path, "-") == 0 || (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return true;
    if (!file_out_open(&out, path, error, error_size))
        return false;
    file_out_abandon(&out);
    return true;
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
    return write_fd(out->fd, data, size) || fail(error, error_size, out->path);
}

static bool give_name(const struct file_out *out)
{
    if (rename(out->temp, out->path) != 0)
        return false;
    cleanup_forget(out->cleanup);
    return true;
}

bool file_out_commit(struct file_out *out, char *error, size_t error_size)
{
    bool ok = close(out->fd) == 0;
    out->fd = -1;
    ok = ok && (!out->temp || give_name(out));
    if (!ok) {
        fail(error, error_size, out->path);
    } else {
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
        return write_fd(STDOUT_FILENO, data, size) || fail(error, error_size, path);
    struct file_out out;
    if (!file_out_open(&out, path, error, error_size))
        return false;
    if (file_out_write(&out, data, size, error, error_size))
        return file_out_commit(&out, error, error_size);
    file_out_abandon(&out);
    return false;
}
