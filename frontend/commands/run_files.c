#include "frontend/commands/run_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char folder_name[] = "/proc/self/fd";

bool run_file_look(struct run_file *file, int fd)
{
    struct stat st;
    bool open = fstat(fd, &st) == 0;
    *file = (struct run_file){fd, open ? st.st_dev : 0, open ? st.st_ino : 0};
    return open;
}

/* Where the system does not say, it is as it was. */
bool run_file_is_gone(const struct run_file *file)
{
    struct run_file now;
    if (!run_file_look(&now, file->fd))
        return errno == EBADF;
    return now.device != file->device || now.file != file->file;
}

/* Calls `visit` for each descriptor but the standard streams, and but that of this list, till it
 * returns true. */
static void for_each(bool (*visit)(void *context, int fd), void *context)
{
    DIR *folder = opendir(folder_name);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        int fd = atoi(entry->d_name);
        if (fd > STDERR_FILENO && fd != dirfd(folder) && visit(context, fd))
            break;
    }
    if (folder)
        closedir(folder);
}

static bool take(void *context, int fd)
{
    struct run_files *files = context;
    files->count += run_file_look(&files->at[files->count], fd);
    return files->count == RUN_FILES;
}

void run_files_take(struct run_files *files)
{
    files->count = 0;
    for_each(take, files);
}

struct search {
    const struct run_files *files;
    bool found;
};

static bool is_known(const struct run_files *files, int fd)
{
    for (unsigned i = 0; i < files->count; i++)
        if (files->at[i].fd == fd)
            return true;
    return false;
}

/* Requests that wait there are the system's to do, whoever runs then. */
static bool find_queue(void *context, int fd)
{
    struct search *search = context;
    char path[64], name[64];
    if (is_known(search->files, fd))
        return false;
    snprintf(path, sizeof path, "%s/%d", folder_name, fd);
    ssize_t size = readlink(path, name, sizeof name - 1);
    name[size > 0 ? size : 0] = '\0';
    search->found = strstr(name, "[io_uring]") != NULL;
    return search->found;
}

const char *run_files_changed(const struct run_files *files)
{
    struct search search = {files, false};
    for (unsigned i = 0; i < files->count; i++)
        if (run_file_is_gone(&files->at[i]))
            return "closed or replaced files of its process that are not its own";
    for_each(find_queue, &search);
    return search.found ? "left a queue of requests to the system open (io_uring)" : NULL;
}
