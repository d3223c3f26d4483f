#define _GNU_SOURCE /* pipe2 */
#include "ir/base/tool.h"
#include "config.h"
#include "ir/base/arena.h"
#include "ir/base/cleanup_registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- Folders ---- */

static void remove_folder(void *folder)
{
    tool_folder_remove(folder);
}

/* The pattern of a new folder's name, for mkdtemp; tools do not take it for an option. */
static char *folder_pattern(void)
{
    static const char name[] = "/skirc-XXXXXX", here[] = "./";
    const char *base = getenv("TMPDIR");
    if (!base || !*base)
        base = "/tmp";
    size_t size = sizeof here + strlen(base) + sizeof name;
    char *path = mem_realloc(NULL, size, 1);
    snprintf(path, size, "%s%s%s", *base == '-' ? here : "", base, name);
    return path;
}

/* False, with errno set, where there is none then. */
static bool make_folder(struct tool_folder *folder)
{
    sigset_t before;
    cleanup_hold(&before);
    bool made = mkdtemp(folder->path) != NULL;
    if (made)
        folder->cleanup = cleanup_add(CLEANUP_FOLDER, folder->path);
    cleanup_release(&before);
    if (!made)
        return false;
    folder->names = opendir(folder->path);
    if (folder->names)
        return true;
    int failure = errno;
    /* Code of others may have taken the right from this process: who waits for it has it still. */
    if (rmdir(folder->path) == 0 || errno == ENOENT)
        cleanup_forget(folder->cleanup);
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
    /* Code of others may have taken the right from this process: who waits for it has it still. */
    if (rmdir(folder->path) == 0 || errno == ENOENT)
        cleanup_forget(folder->cleanup);
    mem_free(folder->path);
}

/* ---- A tool at work ---- */

struct tool {
    const char *const *argv;
    const char **environment; /* this process's, but for where temporary files are */
    int output;               /* what it prints is read there */
    pid_t pid;
    int cleanup;      /* that it is noted by */
    int64_t deadline; /* milliseconds of the monotonic clock */
};

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* What SKIR_TOOL_TIMEOUT says; 0 where it does not say a number that may be. */
static long said_patience(const char *text)
{
    enum { MOST = 1000000 };
    char *end;
    errno = 0;
    long seconds = strtol(text, &end, 10);
    bool digits = *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
    return digits && seconds <= MOST ? seconds : 0;
}

bool tool_timeout_is_valid(void)
{
    const char *text = getenv("SKIR_TOOL_TIMEOUT");
    return !text || !*text || said_patience(text) > 0;
}

long tool_timeout(void)
{
    enum { PATIENCE = 600 };
    const char *text = getenv("SKIR_TOOL_TIMEOUT");
    long seconds = text ? said_patience(text) : 0;
    return seconds > 0 ? seconds : PATIENCE;
}

/* Whether there is something to read, or the end of it, before the deadline. */
static bool wait_for_output(const struct tool *tool)
{
    struct pollfd poll_fd = {tool->output, POLLIN, 0};
    for (int64_t left; (left = tool->deadline - now()) > 0;)
        if (poll(&poll_fd, 1, left < INT_MAX ? (int)left : INT_MAX) > 0)
            return true;
    return false;
}

/* Of its own group, so that it can be ended with all that it has started, and with all signals,
 * whatever this thread keeps back. Returns an error number, as do the next two. */
static int spawn_as(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigemptyset(&none);
    int failure = posix_spawnattr_setpgroup(attributes, 0);
    if (!failure)
        failure = posix_spawnattr_setsigmask(attributes, &none);
    if (!failure)
        failure =
            posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    return failure;
}

static int spawn_to(posix_spawn_file_actions_t *actions, int output)
{
    int failure = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failure)
        failure = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    if (!failure)
        failure = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
    return failure;
}

static int spawn(struct tool *tool, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure)
        return failure;
    failure = posix_spawnattr_init(&attributes);
    if (!failure) {
        failure = spawn_to(&actions, output);
        if (!failure)
            failure = spawn_as(&attributes);
        if (!failure)
            failure = posix_spawnp(&tool->pid, tool->argv[0], &actions, &attributes,
                                   (char *const *)tool->argv, (char *const *)tool->environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static const char variable_name[] = "TMPDIR=";

/* What a tool leaves behind when it is ended goes away with the folder. */
static char *temporary_variable(const struct tool_folder *folder)
{
    size_t size = sizeof variable_name + strlen(folder->path);
    char *variable = mem_realloc(NULL, size, 1);
    snprintf(variable, size, "%s%s", variable_name, folder->path);
    return variable;
}

/* This process's environment, with one variable as it is here. */
static const char **environment_with(const char *variable)
{
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    const char **environment = mem_calloc(count + 2, sizeof *environment);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], variable_name, sizeof variable_name - 1) != 0)
            environment[n++] = environ[i];
    environment[n] = variable;
    return environment;
}

/* Returns an error number. */
static int tool_start(struct tool *tool)
{
    int ends[2];
    sigset_t signals;
    tool->deadline = now() + tool_timeout() * 1000;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    tool->output = ends[0];
    cleanup_hold(&signals);
    int failure = spawn(tool, ends[1]);
    if (!failure)
        tool->cleanup = cleanup_add_process(tool->pid);
    cleanup_release(&signals);
    close(ends[1]);
    if (failure)
        close(ends[0]);
    return failure;
}

/* Reads what it prints to its end. Whether it ends well in time; if not, `how` says how. */
static bool tool_end(struct tool *tool, char *printed, size_t printed_size, char *how,
                     size_t how_size)
{
    int status = 0;
    char rest[4096];
    size_t size = 0;
    ssize_t n = 1;
    while (n != 0 && wait_for_output(tool)) {
        bool full = size + 1 >= printed_size;
        n = read(tool->output, full ? rest : printed + size,
                 full ? sizeof rest : printed_size - 1 - size);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            n = 0;
        if (n > 0 && !full)
            size += (size_t)n;
    }
    printed[size] = '\0';
    bool ends = n == 0;
    if (!ends) {
        cleanup_end_process(tool->pid);
        snprintf(how, how_size, "takes longer than %ld seconds: SKIR_TOOL_TIMEOUT allows no more",
                 tool_timeout());
    }
    while (ends && waitpid(tool->pid, &status, 0) < 0 && errno == EINTR)
        ;
    cleanup_forget(tool->cleanup);
    close(tool->output); /* what is ended prints that it is */
    if (ends)
        snprintf(how, how_size, "failed (%s %d)", WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return ends && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool run(struct tool *tool, char *error, size_t error_size)
{
    char printed[2048], how[128];
    int failure = tool_start(tool);
    if (failure == ENOMEM)
        mem_exhausted();
    if (failure) {
        snprintf(error, error_size, "cannot run '%s': %s", tool->argv[0], strerror(failure));
        return false;
    }
    if (tool_end(tool, printed, sizeof printed, how, sizeof how))
        return true;
    snprintf(error, error_size, "'%s' %s%s%s", tool->argv[0], how, *printed ? ":\n" : "", printed);
    return false;
}

bool tool_run(const char *const *argv, char *error, size_t error_size)
{
    struct tool_folder folder;
    if (!tool_folder_make(&folder)) {
        snprintf(error, error_size, "cannot make a temporary folder for '%s': %s", argv[0],
                 strerror(errno));
        return false;
    }
    char *variable = temporary_variable(&folder);
    struct tool tool = {.argv = argv, .environment = environment_with(variable)};
    bool ok = run(&tool, error, error_size);
    mem_free(tool.environment);
    mem_free(variable);
    tool_folder_remove(&folder);
    return ok;
}

/* ---- Compilers ---- */

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

const char *tool_cc(void)
{
    return command_of("CC", "cc");
}

const char *tool_cxx(void)
{
    return command_of("CXX", SKIR_CXX);
}

bool tool_run_cc(const char *const *args, char *error, size_t error_size)
{
    return run_command(tool_cc(), args, error, error_size);
}

bool tool_run_cxx(const char *const *args, char *error, size_t error_size)
{
    const char *command = tool_cxx();
    if (*command)
        return run_command(command, args, error, error_size);
    snprintf(error, error_size,
             "there is no C++ compiler: install clang++ or g++, and name it by CXX");
    return false;
}
