#define _GNU_SOURCE /* pipe2 */
#include "ir/support/tool.h"
#include "config.h"
#include "ir/support/arena.h"
#include "ir/support/cleanup_registry.h"

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

bool tool_folder_make(struct tool_folder *folder)
{
    static const char name[] = "/skirc-XXXXXX", here[] = "./";
    const char *base = getenv("TMPDIR");
    base = base && *base ? base : "/tmp";
    size_t size = sizeof here + strlen(base) + sizeof name;
    sigset_t before;
    *folder = (struct tool_folder){.path = mem_realloc(NULL, size, 1)};
    /* Tools do not take the path for an option. */
    snprintf(folder->path, size, "%s%s%s", *base == '-' ? here : "", base, name);
    cleanup_hold(&before);
    bool made = mkdtemp(folder->path) != NULL;
    int failure = errno;
    if (made)
        folder->cleanup = cleanup_add(CLEANUP_FOLDER, 0, folder->path);
    cleanup_release(&before);
    if (made)
        mem_guard(&folder->guard, remove_folder, folder);
    else
        mem_free(folder->path);
    errno = failure;
    return made;
}

void tool_folder_remove(struct tool_folder *folder)
{
    mem_unguard(&folder->guard);
    /* Code of others may have taken the right from this process: who waits for it has it still. */
    if (cleanup_remove_folder(folder->path) || errno == ENOENT)
        cleanup_forget(folder->cleanup);
    mem_free(folder->path);
}

/* ---- A tool at work ---- */

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

/* Reads what a tool prints to its end; keeps what fits. False where that does not come before the
 * deadline. */
static bool drain(int output, int64_t deadline, char *text, size_t text_size)
{
    char rest[4096];
    size_t size = 0;
    ssize_t n = 1;
    for (int64_t left; n != 0 && (left = deadline - now()) > 0;) {
        struct pollfd poll_fd = {output, POLLIN, 0};
        bool full = size + 1 >= text_size;
        if (poll(&poll_fd, 1, left < INT_MAX ? (int)left : INT_MAX) <= 0)
            continue;
        n = read(output, full ? rest : text + size, full ? sizeof rest : text_size - 1 - size);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            n = 0;
        if (n > 0 && !full)
            size += (size_t)n;
    }
    text[size] = '\0';
    return n == 0;
}

/* In a group of its own, so that it can be ended with all that it has started, with all signals,
 * whatever this thread holds back, and without standard input. Returns an error number. */
static int spawn(pid_t *pid, const char *const *argv, const char *const *environment, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure)
        return failure;
    failure = posix_spawnattr_init(&attributes);
    if (!failure) {
        failure =
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
                ?: posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
                ?: posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
                ?: posix_spawnattr_setpgroup(&attributes, 0)
                ?: posix_spawnattr_setsigmask(&attributes, &none)
                ?: posix_spawnattr_setflags(&attributes,
                                            POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK)
                ?: posix_spawnp(pid, argv[0], &actions, &attributes,
                                (char *const *)argv, (char *const *)environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

/* Runs it to its end. Whether it ends well in time; `error` says how it does else. */
static bool run(const char *const *argv, const char *const *environment, char *error,
                size_t error_size)
{
    char printed[2048];
    int64_t deadline = now() + tool_timeout() * 1000;
    pid_t pid = 0;
    int cleanup = CLEANUP_NONE, ends[2], status = 0,
        failure = pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
    if (!failure) {
        sigset_t signals;
        cleanup_hold(&signals);
        failure = spawn(&pid, argv, environment, ends[1]);
        if (!failure)
            cleanup = cleanup_add(CLEANUP_PROCESS, pid, "");
        cleanup_release(&signals);
        close(ends[1]);
        if (failure)
            close(ends[0]);
    }
    if (failure == ENOMEM)
        mem_exhausted();
    if (failure) {
        snprintf(error, error_size, "cannot run '%s': %s", argv[0], strerror(failure));
        return false;
    }
    bool in_time = drain(ends[0], deadline, printed, sizeof printed);
    if (!in_time)
        cleanup_end_process(pid);
    while (in_time && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    cleanup_forget(cleanup);
    close(ends[0]); /* what is ended prints that it is */
    if (in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    const char *colon = *printed ? ":\n" : "";
    if (!in_time)
        snprintf(error, error_size,
                 "'%s' takes longer than %ld seconds: SKIR_TOOL_TIMEOUT allows no more%s%s",
                 argv[0], tool_timeout(), colon, printed);
    else
        snprintf(error, error_size, "'%s' failed (%s %d)%s%s", argv[0],
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), colon, printed);
    return false;
}

/* What a tool leaves when it is ended goes away with its temporary folder. */
bool tool_run(const char *const *argv, char *error, size_t error_size)
{
    static const char name[] = "TMPDIR=";
    struct tool_folder folder;
    if (!tool_folder_make(&folder)) {
        snprintf(error, error_size, "cannot make a temporary folder for '%s': %s", argv[0],
                 strerror(errno));
        return false;
    }
    size_t count = 0, n = 0, size = sizeof name + strlen(folder.path);
    while (environ[count])
        count++;
    char *variable = mem_realloc(NULL, size, 1);
    const char **environment = mem_calloc(count + 2, sizeof *environment);
    snprintf(variable, size, "%s%s", name, folder.path);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], name, sizeof name - 1) != 0)
            environment[n++] = environ[i];
    environment[n] = variable;
    bool ok = run(argv, environment, error, error_size);
    mem_free(environment);
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
