#define _GNU_SOURCE /* pipe2 */
#include "ir/base/tool.h"
#include "config.h"
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

/* Returns an error number. */
static int spawn_with(posix_spawn_file_actions_t *actions, const char *const *argv, int output,
                      pid_t *pid)
{
    int failure = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failure)
        failure = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    if (!failure)
        failure = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
    if (!failure)
        failure = posix_spawnp(pid, argv[0], actions, NULL, (char *const *)argv, environ);
    return failure;
}

static int spawn(const char *const *argv, int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure)
        return failure;
    failure = spawn_with(&actions, argv, output, pid);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
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
        if (failure == ENOMEM)
            mem_exhausted();
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

static const char blanks[] = " \t\n";

/* The words of a variable of the environment, or of `otherwise`. */
static const char *command_of(const char *variable, const char *otherwise)
{
    const char *words = getenv(variable);
    return words && words[strspn(words, blanks)] ? words : otherwise;
}

/* Runs the program that the first word of `command` is, with the others before these arguments. */
static bool run_command(const char *command, const char *const *args, char *error,
                        size_t error_size)
{
    char *words = mem_strdup(command), *rest;
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

bool tool_run_cc(const char *const *args, char *error, size_t error_size)
{
    return run_command(command_of("CC", "cc"), args, error, error_size);
}

bool tool_run_cxx(const char *const *args, char *error, size_t error_size)
{
    const char *command = command_of("CXX", SKIR_CXX);
    if (*command)
        return run_command(command, args, error, error_size);
    snprintf(error, error_size,
             "there is no C++ compiler: install clang++ or g++, and name it by CXX");
    return false;
}

static void remove_folder(void *folder)
{
    tool_folder_remove(folder);
}

/* The pattern of a new folder's name, for mkdtemp. */
static char *folder_pattern(void)
{
    static const char name[] = "/skirc-XXXXXX";
    const char *base = getenv("TMPDIR");
    if (!base || !*base)
        base = "/tmp";
    size_t size = strlen(base) + sizeof name;
    char *path = mem_realloc(NULL, size, 1);
    snprintf(path, size, "%s%s", base, name);
    return path;
}

/* False, with errno set, where there is none then. */
static bool make_folder(struct tool_folder *folder)
{
    if (!mkdtemp(folder->path))
        return false;
    folder->names = opendir(folder->path);
    if (folder->names)
        return true;
    int failure = errno;
    rmdir(folder->path);
    errno = failure;
    return false;
}

bool tool_folder_make(struct tool_folder *folder)
{
    *folder = (struct tool_folder){.path = folder_pattern()};
    if (make_folder(folder)) {
        mem_guard(&folder->guard, remove_folder, folder);
        return true;
    }
    int failure = errno;
    mem_free(folder->path);
    if (failure == ENOMEM)
        mem_exhausted();
    errno = failure;
    return false;
}

void tool_folder_remove(struct tool_folder *folder)
{
    mem_unguard(&folder->guard);
    rewinddir(folder->names);
    for (struct dirent *entry; (entry = readdir(folder->names));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder->names), entry->d_name, 0);
    closedir(folder->names);
    rmdir(folder->path);
    mem_free(folder->path);
}
