/* Files of a process that has ended appear, all or none (ir/base/file.h). */
#define _GNU_SOURCE /* renameat2 */
#include "ir/base/file.h"
#include "ir/base/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One of the files: under `place` once it is named, where that had a file, which it then has. */
struct settled {
    struct leftovers_deferred from;
    const char *place; /* NULL: its contents go to what is no regular file */
    enum { UNNAMED, NAMED, EXCHANGED } state;
};

struct settling {
    struct settled *at;
    int count;
    char *error;
    size_t error_size;
};

static bool fail(const struct settling *settling, const char *name)
{
    bool printed = strcmp(name, "-") == 0;
    const char *quote = printed ? "" : "'";
    snprintf(settling->error, settling->error_size, "cannot write %s%s%s: %s", quote,
             printed ? "the output" : name, quote, strerror(errno));
    return false;
}

static bool is_in_place(const char *name)
{
    struct stat st;
    return strcmp(name, "-") == 0 ||
           (stat(name, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static bool find(struct settling *settling, pid_t pid, int i)
{
    struct settled *one = &settling->at[i];
    bool found = leftovers_find_deferred(pid, i + 1, &one->from);
    one->place = found ? file_out_pinned(one->from.name) : NULL;
    if (!found)
        snprintf(settling->error, settling->error_size,
                 "cannot write what was made: a kernel has damaged what its process has noted");
    else if (!one->place && strcmp(one->from.name, "-") != 0)
        snprintf(settling->error, settling->error_size,
                 "cannot write '%s': it leads elsewhere than before", one->from.name);
    else
        return true;
    return false;
}

static bool give_name(const struct settling *settling, struct settled *one)
{
    const char *path = one->from.path;
    struct stat st;
    bool exists = lstat(one->place, &st) == 0, regular = exists && S_ISREG(st.st_mode);
    if (regular && renameat2(AT_FDCWD, path, AT_FDCWD, one->place, RENAME_EXCHANGE) == 0) {
        one->state = EXCHANGED;
        return true;
    }
    bool lacks = regular && (errno == EINVAL || errno == ENOSYS); /* the file system, the system */
    if (exists && !regular)
        errno = EEXIST;
    if ((exists && !lacks) || rename(path, one->place) != 0)
        return fail(settling, one->from.name);
    one->state = NAMED;
    return true;
}

static void take_name(struct settled *one)
{
    const char *path = one->from.path;
    if (one->state == EXCHANGED)
        (void)!renameat2(AT_FDCWD, one->place, AT_FDCWD, path, RENAME_EXCHANGE);
    else if (one->state == NAMED)
        (void)!rename(one->place, path);
    one->state = UNNAMED;
}

static bool copy(const struct settling *settling, const struct settled *one, file_printer *print,
                 void *context)
{
    struct file_bytes bytes;
    const char *name = one->from.name;
    if (!file_read_regular(one->from.path, &bytes, settling->error, settling->error_size))
        return false;
    bool printed = strcmp(name, "-") == 0;
    bool ok = printed
                  ? print(context, bytes.data, bytes.size) || fail(settling, name)
                  : file_write(name, bytes.data, bytes.size, settling->error, settling->error_size);
    file_bytes_free(&bytes);
    return ok;
}

/* Files first: what is printed cannot be taken back. Returns the number of those that are done. */
static int settle_all(const struct settling *settling, bool in_place, file_printer *print,
                      void *context)
{
    for (int i = 0; i < settling->count; i++) {
        struct settled *one = &settling->at[i];
        if (is_in_place(one->from.name) == in_place &&
            !(in_place ? copy(settling, one, print, context) : give_name(settling, one)))
            return i;
    }
    return settling->count;
}

/* Old files are gone, and nothing is left to clear; or all is as it was. */
static void end(const struct settling *settling, bool ok)
{
    for (int i = settling->count; i-- > 0;) {
        struct settled *one = &settling->at[i];
        if (!ok) {
            take_name(one);
            continue;
        }
        if (one->state != NAMED)
            unlink(one->from.path);
        leftovers_forget(one->from.number);
    }
}

bool file_settle(pid_t pid, int count, file_printer *print, void *context, char *name,
                 size_t name_size, char *error, size_t error_size)
{
    sigset_t before;
    struct settling settling = {mem_calloc((size_t)count + 1, sizeof *settling.at), count, error,
                                error_size};
    int done = 0, found = 0;
    while (found < count && find(&settling, pid, found))
        found++;
    if (found == count) {
        leftovers_hold(&before);
        done = settle_all(&settling, false, print, context);
        leftovers_release(&before);
    }
    if (found == count && done == count)
        done = settle_all(&settling, true, print, context);
    bool ok = found == count && done == count;
    const char *failed = found < count ? settling.at[found].from.name : settling.at[done].from.name;
    snprintf(name, name_size, "%s", !ok && failed ? failed : "");
    end(&settling, ok);
    mem_free(settling.at);
    return ok;
}
