#include "frontend/driver/shared_options.h"
#include "ir/core/sk_options.h"
#include "ir/support/parts.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_JOBS = 256 };

bool jobs_option(const struct invocation *invocation, unsigned *jobs)
{
    unsigned processors = parts_processors();
    uint64_t wanted = processors < MAX_JOBS ? processors : MAX_JOBS;
    bool right = option_number(invocation, "jobs", 1, MAX_JOBS, &wanted);
    *jobs = (unsigned)wanted;
    return right;
}

static bool address_space_is_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool threads_option(const struct invocation *invocation, struct threads *threads)
{
    threads->always = option_given(invocation, "jobs");
    bool right = jobs_option(invocation, &threads->most);
    if (!threads->always && address_space_is_limited())
        threads->most = 1;
    return right;
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

/* The value is a source of its own, so that carets point into it. */
bool sk_argument_check(const struct invocation *invocation, const char *option)
{
    const char *text = option_value(invocation, option);
    if (!text)
        return true;
    size_t size = strlen(text);
    if (size >= UINT32_MAX) {
        usage_error(invocation, "the value of --%s is too long", option);
        return false;
    }
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
    if (!ok)
        usage_error(invocation, "%s has errors", path);
    return ok;
}

bool fusion_arguments_read(const struct invocation *invocation, struct session_options *options)
{
    static const char *const partitions[] = {"fewest", "reference", NULL};
    static const char *const names[] = {"own", "reference", NULL};
    unsigned partition = 0, name = 0;
    if (!option_exists(invocation, "partition"))
        return true;
    if (!option_choice(invocation, "partition", partitions, &partition) ||
        !option_choice(invocation, "names", names, &name))
        return false;
    options->reference_partition = partition == 1;
    options->reference_names = name == 1;
    return true;
}

bool fusion_arguments_check(const struct invocation *invocation)
{
    struct session_options options = {.target = NULL};
    return fusion_arguments_read(invocation, &options);
}
