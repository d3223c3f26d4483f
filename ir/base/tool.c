#define _GNU_SOURCE /* pipe2 */
#include "ir/base/tool.h"
#include "ir/base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Reads to the end; keeps what fits. */
static void drain(int fd, char *text, size_t text_size)
{
    char rest[4096];
    size_t size = 0;
    for (;;) {
        bool full = size + 1 >= text_size;
        ssize_t n = read(fd, full ? rest : text + size, full ? sizeof rest : text_size - 1 - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        if (!full)
            size += (size_t)n;
    }
    text[size] = '\0';
}

static int spawn(const char *const *argv, int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    int status = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

bool tool_run(const char *const *argv, char *error, size_t error_size)
{
    int ends[2];
    char printed[2048];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(error, error_size, "cannot run '%s': %s", argv[0], strerror(errno));
        return false;
    }
    int failure = spawn(argv, ends[1], &pid);
    close(ends[1]);
    if (failure) {
        close(ends[0]);
        snprintf(error, error_size, "cannot run '%s': %s", argv[0], strerror(failure));
        return false;
    }
    drain(ends[0], printed, sizeof printed);
    close(ends[0]);
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    snprintf(error, error_size, "'%s' failed (%s %d)%s%s", argv[0],
             WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), *printed ? ":\n" : "",
             printed);
    return false;
}

bool tool_run_cc(const char *const *args, char *error, size_t error_size)
{
    static const char blanks[] = " \t\n";
    const char *cc = getenv("CC");
    char *words = mem_strdup(cc && cc[strspn(cc, blanks)] ? cc : "cc"), *rest;
    size_t count = strlen(words) + 1; /* more than it has words */
    for (size_t i = 0; args[i]; i++)
        count++;
    const char **argv = mem_calloc(count + 1, sizeof *argv);
    size_t n = 0;
    for (char *word = strtok_r(words, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest))
        argv[n++] = word;
    for (size_t i = 0; args[i]; i++)
        argv[n++] = args[i];
    bool ok = tool_run(argv, error, error_size);
    mem_free(argv);
    mem_free(words);
    return ok;
}

char *tool_make_folder(void)
{
    static const char name[] = "/skirc-XXXXXX";
    const char *base = getenv("TMPDIR");
    if (!base || !*base)
        base = "/tmp";
    size_t size = strlen(base) + sizeof name;
    char *path = mem_realloc(NULL, size, 1);
    snprintf(path, size, "%s%s", base, name);
    if (mkdtemp(path))
        return path;
    mem_free(path);
    return NULL;
}

void tool_remove_folder(char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
    mem_free(folder);
}
