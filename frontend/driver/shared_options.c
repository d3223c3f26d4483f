#include "frontend/driver/shared_options.h"
#include "ir/core/sk_options.h"
#include "ir/support/parts.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

unsigned jobs_option(const struct invocation *invocation)
{
    unsigned processors = parts_processors();
    return (unsigned)option_number(invocation, "jobs",
                                   processors < MAX_JOBS ? processors : MAX_JOBS);
}

void threads_option(const struct invocation *invocation, struct threads *threads)
{
    struct rlimit limit;
    threads->always = option_given(invocation, "jobs");
    threads->most = jobs_option(invocation);
    if (!threads->always && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        threads->most = 1;
}

const struct backend *target_option(const struct invocation *invocation)
{
    char error[512];
    const char *name = option_value(invocation, "target");
    const struct backend *backend =
        name ? backend_find(name, error, sizeof error) : backend_default();
    if (!backend)
        usage_error(invocation, "%s", error);
    return backend;
}

/* <folder of the program>/backend/kernels, or NULL where there is no such folder. */
static const char *kernels_of_build(struct arena *arena)
{
    char program[4096];
    struct stat st;
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size <= 0)
        return NULL;
    program[size] = '\0';
    const char *slash = strrchr(program, '/');
    if (!slash)
        return NULL;
    const char *kernels =
        arena_printf(arena, "%.*s/backend/kernels", (int)(slash - program), program);
    return stat(kernels, &st) == 0 && S_ISDIR(st.st_mode) ? kernels : NULL;
}

void kernel_dir_find(const struct invocation *invocation, struct arena *arena,
                     struct session_options *options)
{
    const char *given = option_value(invocation, "kernel-dir"), *own = kernels_of_build(arena);
    options->header_dir = own ? own : session_installed_kernels();
    options->kernel_dir = given ? given : options->header_dir;
}

/* The value is a source of its own, so that carets point into it. */
bool sk_argument_check(const struct invocation *invocation, const char *option)
{
    const char *text = option_value(invocation, option);
    if (!text)
        return true;
    size_t size = strlen(text);
    if (size >= UINT32_MAX)
        return usage_fail(invocation, "the value of --%s is too long", option);
    char path[32];
    snprintf(path, sizeof path, "--%s", option);
    struct source source = {.path = path, .text = text, .size = (uint32_t)size};
    struct diags diags;
    struct sk_options options;
    diags_init(&diags, &source, source.path);
    bool ok = sk_options_parse(&options, text, size, (struct span){0, source.size}, &diags);
    diags_print(&diags, invocation->err, false);
    diags_free(&diags);
    source_free(&source);
    return ok || usage_fail(invocation, "%s has errors", path);
}
