#include "frontend/cli/kernel_dir.h"
#include "backend/host/ops.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SKIR_KERNEL_DIR is set by the build. */

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* <folder of the program>/backend/kernels, if there is such a folder. */
static char *beside_program(void)
{
    static const char kernels[] = "backend/kernels";
    char program[4096];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - sizeof kernels - 1);
    if (size <= 0)
        return NULL;
    program[size] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return NULL;
    memcpy(slash + 1, kernels, sizeof kernels);
    return is_directory(program) ? mem_strdup(program) : NULL;
}

void library_open(struct kernel_library *library, struct library_place *place,
                  const struct invocation *invocation)
{
    const char *given = option_value(invocation, "kernel-dir");
    place->headers = beside_program();
    if (!place->headers)
        place->headers = mem_strdup(SKIR_KERNEL_DIR);
    place->directory = mem_strdup(given ? given : place->headers);
    kernel_library_init(library, place->directory, host_op_check);
}

void library_close(struct kernel_library *library, struct library_place *place)
{
    kernel_library_free(library);
    mem_free(place->directory);
    mem_free(place->headers);
}
