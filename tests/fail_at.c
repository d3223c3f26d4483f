/* A library for LD_PRELOAD: the N-th call of a kind fails. SKIR_FAIL is "KIND:N", or "KIND:N+" for
 * all from there on; N is 0: none does. In programs of the name SKIR_FAIL_IN alone. At the end of
 * the process, the number of calls of that kind goes to the file SKIR_FAIL_COUNT, as a line. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    KIND_NONE,
    KIND_ALLOC,
    KIND_OPEN,
    KIND_READ,
    KIND_WRITE,
    KIND_RENAME,
    KIND_SYNC,
    KIND_MMAP,
    KIND_STAT,
    KIND_FORK,
    KIND_SHORT,
    KIND_SIGNAL,
    KINDS
};
static const char *const kind_names[KINDS] = {"none", "alloc", "open", "read", "write", "rename",
                                              "sync", "mmap",  "stat", "fork", "short", "signal"};

static enum kind wanted;
static unsigned long at;
static bool onwards;
static atomic_ulong calls;

/* Whether this call, which is of that kind, fails. */
static bool fails(enum kind kind, int error)
{
    if (kind != wanted)
        return false;
    unsigned long n = atomic_fetch_add(&calls, 1) + 1;
    if (at == 0 || (onwards ? n < at : n != at))
        return false;
    errno = error;
    return true;
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        _exit(126);
    return found;
}

#define NEXT(type, name, ...)                                                                      \
    static type (*own)(__VA_ARGS__);                                                               \
    if (!own)                                                                                      \
    *(void **)&own = next(#name)

__attribute__((constructor)) static void begin(void)
{
    const char *what = getenv("SKIR_FAIL"), *program = getenv("SKIR_FAIL_IN");
    const char *colon = what ? strchr(what, ':') : NULL;
    if (!colon || !program || strcmp(program, program_invocation_short_name) != 0)
        return;
    char *end;
    at = strtoul(colon + 1, &end, 10);
    onwards = *end == '+';
    for (int kind = 1; kind < KINDS; kind++)
        if (strlen(kind_names[kind]) == (size_t)(colon - what) &&
            strncmp(kind_names[kind], what, (size_t)(colon - what)) == 0)
            wanted = (enum kind)kind;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("SKIR_FAIL_COUNT");
    char line[32];
    if (!wanted || !path)
        return;
    wanted = KIND_NONE;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int size = snprintf(line, sizeof line, "%lu\n", atomic_load(&calls));
    if (fd >= 0)
        (void)!write(fd, line, (size_t)size);
    close(fd);
}

/* ----------------------------------------------------------------------------- memory ---- */

/* What dlsym itself needs before the functions are found. */
static _Alignas(16) char early[1 << 16];
static size_t early_size;

static bool is_early(const void *block)
{
    return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void *early_alloc(size_t size)
{
    void *block = early + early_size;
    early_size += (size + 15) & ~(size_t)15;
    return early_size <= sizeof early ? block : NULL;
}

static void *(*own_malloc)(size_t), *(*own_calloc)(size_t, size_t), *(*own_realloc)(void *, size_t);
static void (*own_free)(void *);
static int (*own_posix_memalign)(void **, size_t, size_t);
static void *(*own_aligned_alloc)(size_t, size_t);

static bool find_all(void)
{
    static bool finding;
    if (own_aligned_alloc)
        return true;
    if (finding)
        return false;
    finding = true;
    *(void **)&own_malloc = next("malloc");
    *(void **)&own_calloc = next("calloc");
    *(void **)&own_realloc = next("realloc");
    *(void **)&own_free = next("free");
    *(void **)&own_posix_memalign = next("posix_memalign");
    *(void **)&own_aligned_alloc = next("aligned_alloc");
    return true;
}

void *malloc(size_t size)
{
    if (!find_all())
        return early_alloc(size);
    return fails(KIND_ALLOC, ENOMEM) ? NULL : own_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (!find_all())
        return early_alloc(count * size);
    return fails(KIND_ALLOC, ENOMEM) ? NULL : own_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    if (!find_all())
        return early_alloc(size);
    if (is_early(block)) {
        void *moved = own_malloc(size);
        return moved ? memcpy(moved, block, size) : NULL; /* it is within `early` */
    }
    return fails(KIND_ALLOC, ENOMEM) ? NULL : own_realloc(block, size);
}

void *reallocarray(void *block, size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, all);
}

void free(void *block)
{
    if (block && !is_early(block) && find_all())
        own_free(block);
}

int posix_memalign(void **block, size_t align, size_t size)
{
    find_all();
    return fails(KIND_ALLOC, ENOMEM) ? ENOMEM : own_posix_memalign(block, align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    find_all();
    return fails(KIND_ALLOC, ENOMEM) ? NULL : own_aligned_alloc(align, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    NEXT(void *, mmap, void *, size_t, int, int, int, off_t);
    return fails(KIND_MMAP, ENOMEM) ? MAP_FAILED
                                    : own(address, size, protection, flags, fd, offset);
}

int mprotect(void *address, size_t size, int protection)
{
    NEXT(int, mprotect, void *, size_t, int);
    return fails(KIND_MMAP, ENOMEM) ? -1 : own(address, size, protection);
}

/* ------------------------------------------------------------------------------ files ---- */

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        NEXT(int, name, const char *, int, ...);                                                   \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_of(flags, args);                                                        \
        va_end(args);                                                                              \
        return fails(KIND_OPEN, EMFILE) ? -1 : own(path, flags, mode);                             \
    }
OPEN(open)
OPEN(open64)

int openat(int folder, const char *path, int flags, ...)
{
    NEXT(int, openat, int, const char *, int, ...);
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return fails(KIND_OPEN, EMFILE) ? -1 : own(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *how)
{
    NEXT(FILE *, fopen, const char *, const char *);
    return fails(KIND_OPEN, EMFILE) ? NULL : own(path, how);
}

FILE *tmpfile(void)
{
    NEXT(FILE *, tmpfile, void);
    return fails(KIND_OPEN, EMFILE) ? NULL : own();
}

int mkstemp(char *path)
{
    NEXT(int, mkstemp, char *);
    return fails(KIND_OPEN, EACCES) ? -1 : own(path);
}

int mkostemp(char *path, int flags)
{
    NEXT(int, mkostemp, char *, int);
    return fails(KIND_OPEN, EACCES) ? -1 : own(path, flags);
}

char *mkdtemp(char *path)
{
    NEXT(char *, mkdtemp, char *);
    return fails(KIND_OPEN, EACCES) ? NULL : own(path);
}

int memfd_create(const char *name, unsigned flags)
{
    NEXT(int, memfd_create, const char *, unsigned);
    return fails(KIND_OPEN, EMFILE) ? -1 : own(name, flags);
}

int dup2(int from, int to)
{
    NEXT(int, dup2, int, int);
    return fails(KIND_OPEN, EMFILE) ? -1 : own(from, to);
}

int pipe2(int fds[2], int flags)
{
    NEXT(int, pipe2, int *, int);
    return fails(KIND_OPEN, EMFILE) ? -1 : own(fds, flags);
}

/* A part of the bytes is as good as all to who asks again; a signal may come before the first. */
static size_t some_of(size_t size)
{
    return size > 1 && fails(KIND_SHORT, 0) ? size / 2 : size;
}

static bool is_interrupted(void)
{
    return fails(KIND_SIGNAL, EINTR);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    NEXT(ssize_t, read, int, void *, size_t);
    return fails(KIND_READ, EIO) || is_interrupted() ? -1 : own(fd, bytes, some_of(size));
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    NEXT(ssize_t, pread, int, void *, size_t, off_t);
    return fails(KIND_READ, EIO) || is_interrupted() ? -1 : own(fd, bytes, some_of(size), offset);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset)
{
    NEXT(ssize_t, pread64, int, void *, size_t, off64_t);
    return fails(KIND_READ, EIO) || is_interrupted() ? -1 : own(fd, bytes, some_of(size), offset);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    NEXT(ssize_t, write, int, const void *, size_t);
    return fails(KIND_WRITE, ENOSPC) || is_interrupted() ? -1 : own(fd, bytes, some_of(size));
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    NEXT(ssize_t, pwrite, int, const void *, size_t, off_t);
    return fails(KIND_WRITE, ENOSPC) || is_interrupted() ? -1
                                                         : own(fd, bytes, some_of(size), offset);
}

/* As it does that cannot write what it has kept; those in memory have no number. */
static bool stream_fails(FILE *file)
{
    enum { ERROR_SEEN = 0x20 };
    if (file == stderr || fileno(file) < 0 || !fails(KIND_WRITE, ENOSPC))
        return false;
    file->_flags |= ERROR_SEEN;
    return true;
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file)
{
    NEXT(size_t, fwrite, const void *, size_t, size_t, FILE *);
    return stream_fails(file) ? 0 : own(bytes, size, count, file);
}

int fflush(FILE *file)
{
    NEXT(int, fflush, FILE *);
    return file && stream_fails(file) ? EOF : own(file);
}

int fchmod(int fd, mode_t mode)
{
    NEXT(int, fchmod, int, mode_t);
    return fails(KIND_RENAME, EPERM) ? -1 : own(fd, mode);
}

int ftruncate(int fd, off_t size)
{
    NEXT(int, ftruncate, int, off_t);
    return fails(KIND_WRITE, ENOSPC) ? -1 : own(fd, size);
}

int rename(const char *from, const char *to)
{
    NEXT(int, rename, const char *, const char *);
    return fails(KIND_RENAME, EACCES) ? -1 : own(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    NEXT(int, renameat, int, const char *, int, const char *);
    return fails(KIND_RENAME, EACCES) ? -1 : own(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    NEXT(int, renameat2, int, const char *, int, const char *, unsigned);
    return fails(KIND_RENAME, EACCES) ? -1 : own(from_folder, from, to_folder, to, flags);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    NEXT(int, linkat, int, const char *, int, const char *, int);
    return fails(KIND_RENAME, EACCES) ? -1 : own(from_folder, from, to_folder, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(int, mkdir, const char *, mode_t);
    return fails(KIND_RENAME, EACCES) ? -1 : own(path, mode);
}

int fsync(int fd)
{
    NEXT(int, fsync, int);
    return fails(KIND_SYNC, EIO) ? -1 : own(fd);
}

int fdatasync(int fd)
{
    NEXT(int, fdatasync, int);
    return fails(KIND_SYNC, EIO) ? -1 : own(fd);
}

int close(int fd)
{
    NEXT(int, close, int);
    int status = own(fd);
    return fails(KIND_SYNC, EIO) ? -1 : status;
}

int stat(const char *path, struct stat *st)
{
    NEXT(int, stat, const char *, struct stat *);
    return fails(KIND_STAT, EACCES) ? -1 : own(path, st);
}

int lstat(const char *path, struct stat *st)
{
    NEXT(int, lstat, const char *, struct stat *);
    return fails(KIND_STAT, EACCES) ? -1 : own(path, st);
}

int fstat(int fd, struct stat *st)
{
    NEXT(int, fstat, int, struct stat *);
    return fails(KIND_STAT, EIO) ? -1 : own(fd, st);
}

/* -------------------------------------------------------------------------- processes ---- */

pid_t fork(void)
{
    NEXT(pid_t, fork, void);
    return fails(KIND_FORK, EAGAIN) ? -1 : own();
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const *argv, char *const *environment)
{
    NEXT(int, posix_spawn, pid_t *, const char *, const posix_spawn_file_actions_t *,
         const posix_spawnattr_t *, char *const *, char *const *);
    return fails(KIND_FORK, EAGAIN) ? EAGAIN
                                    : own(pid, path, actions, attributes, argv, environment);
}

int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const *argv, char *const *environment)
{
    NEXT(int, posix_spawnp, pid_t *, const char *, const posix_spawn_file_actions_t *,
         const posix_spawnattr_t *, char *const *, char *const *);
    return fails(KIND_FORK, EAGAIN) ? EAGAIN
                                    : own(pid, path, actions, attributes, argv, environment);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *),
                   void *user)
{
    NEXT(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return fails(KIND_FORK, EAGAIN) ? EAGAIN : own(thread, attributes, work, user);
}

void *dlopen(const char *path, int flags)
{
    NEXT(void *, dlopen, const char *, int);
    return path && fails(KIND_OPEN, 0) ? own("/nowhere/library.so", flags) : own(path, flags);
}
