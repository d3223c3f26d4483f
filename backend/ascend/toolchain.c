#include "backend/ascend/toolchain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Where releases of the toolkit have their tools, and which they have; %s is the machine. */
static const char *const tool_folders[] = {
    "bin",          "compiler/ccec_compiler/bin", "ccec_compiler/bin", "%s-linux/ccec_compiler/bin",
    "%s-linux/bin", "tools/bisheng_compiler/bin",
};
static const char *const compilers[] = {"bisheng", "ccec"};

/* The headers of AscendC, from `headers`. */
static const char *const header_folders[] = {
    "impl/adv_api",
    "impl/basic_api",
    "impl/c_api",
    "impl/basic_api/reg_compute",
    "impl/micro_api",
    "impl/simt_api",
    "impl/utils",
    "include",
    "include/adv_api",
    "include/basic_api",
    "include/aicpu_api",
    "include/c_api",
    "include/basic_api/reg_compute",
    "include/micro_api",
    "include/simt_api",
    "include/utils",
    "impl",
    ".",
    "../ascendc/act",
    "../tikcpp",
    "../tikcpp/tikcfw",
    "../tikcpp/tikcfw/impl",
    "../tikcpp/tikcfw/interface",
    "../../include",
    "../../include/ascendc",
};

enum {
    TOOL_FOLDERS = sizeof tool_folders / sizeof *tool_folders,
    COMPILERS = sizeof compilers / sizeof *compilers,
    HEADER_FOLDERS = sizeof header_folders / sizeof *header_folders,
};

/* A folder below the toolkit's; its name may have one %s for the machine. */
static const char *folder_at(struct arena *arena, const char *home, const char *name)
{
    struct utsname machine;
    char below[128];
    if (uname(&machine) != 0)
        snprintf(machine.machine, sizeof machine.machine, "x86_64");
    const char *hole = strstr(name, "%s");
    if (hole)
        snprintf(below, sizeof below, "%.*s%s%s", (int)(hole - name), name, machine.machine,
                 hole + 2);
    else
        snprintf(below, sizeof below, "%s", name);
    return arena_printf(arena, "%s/%s", home, below);
}

static const char *tool_in(struct arena *arena, const char *folder, const char *name)
{
    const char *path = arena_printf(arena, "%s/%s", folder, name);
    return access(path, X_OK) == 0 ? path : NULL;
}

static bool find_tools(struct toolchain *tools, struct arena *arena, const char *home)
{
    for (int f = 0; f < TOOL_FOLDERS; f++) {
        const char *folder = folder_at(arena, home, tool_folders[f]);
        tools->compiler = NULL;
        for (int c = 0; c < COMPILERS && !tools->compiler; c++)
            tools->compiler = tool_in(arena, folder, compilers[c]);
        if (!tools->compiler)
            continue;
        tools->linker = tool_in(arena, folder, "ld.lld");
        tools->objcopy = tool_in(arena, folder, "llvm-objcopy");
        return true;
    }
    return false;
}

static const char *find_headers(struct arena *arena, const char *home)
{
    static const char *const folders[] = {"%s-linux/asc", "compiler/asc", "asc"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *folder = folder_at(arena, home, folders[i]);
        if (access(folder, X_OK) == 0)
            return folder;
    }
    return NULL;
}

void toolchain_find(struct toolchain *tools, struct arena *arena, char *why, size_t why_size)
{
    const char *home = getenv("ASCEND_HOME_PATH");
    *tools = (struct toolchain){.found = false};
    if (home && *home && find_tools(tools, arena, home)) {
        tools->found = true;
        tools->headers = find_headers(arena, home);
        return;
    }
    if (home && *home)
        snprintf(why, why_size, "ASCEND_HOME_PATH, '%s', has no bisheng", home);
    else
        snprintf(why, why_size, "ASCEND_HOME_PATH is not set");
    *tools = (struct toolchain){
        .compiler = compilers[0], .linker = "ld.lld", .objcopy = "llvm-objcopy", .headers = "$asc"};
}

void toolchain_add_includes(const struct toolchain *tools, struct arena *arena,
                            struct file_names *words)
{
    for (int i = 0; i < HEADER_FOLDERS && tools->headers; i++) {
        const char *folder = arena_printf(arena, "%s/%s", tools->headers, header_folders[i]);
        if (!tools->found || access(folder, X_OK) == 0)
            vec_push(words, arena_printf(arena, "-I%s", folder));
    }
}
