#include "frontend/cli/kernel_dir.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* <folder of the program>/backend/kernels, or NULL where there is no such folder. */
static const char *beside_program(struct arena *arena)
{
    char program[4096];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size <= 0)
        return NULL;
    program[size] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return NULL;
    const char *kernels =
        arena_printf(arena, "%.*s/backend/kernels", (int)(slash - program), program);
    return is_directory(kernels) ? kernels : NULL;
}

void kernel_dir_find(const struct invocation *invocation, struct arena *arena,
                     struct session_options *options)
{
    const char *given = option_value(invocation, "kernel-dir"), *own = beside_program(arena);
    options->header_dir = own ? own : session_installed_kernels();
    options->kernel_dir = given ? given : options->header_dir;
}
