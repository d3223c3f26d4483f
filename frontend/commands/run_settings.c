#include "frontend/commands/run_settings.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *limit_name(int limit)
{
    switch (limit) {
    case RLIMIT_AS: return "RLIMIT_AS";
    case RLIMIT_CORE: return "RLIMIT_CORE";
    case RLIMIT_CPU: return "RLIMIT_CPU";
    case RLIMIT_DATA: return "RLIMIT_DATA";
    case RLIMIT_FSIZE: return "RLIMIT_FSIZE";
    case RLIMIT_MEMLOCK: return "RLIMIT_MEMLOCK";
    case RLIMIT_NOFILE: return "RLIMIT_NOFILE";
    case RLIMIT_NPROC: return "RLIMIT_NPROC";
    case RLIMIT_STACK: return "RLIMIT_STACK";
    }
    return "of resources";
}

static mode_t current_mask(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return mask;
}

void run_settings_take(struct run_settings *settings)
{
    struct stat st;
    bool known = stat(".", &st) == 0;
    settings->device = known ? st.st_dev : 0;
    settings->file = known ? st.st_ino : 0;
    if (!getcwd(settings->folder, sizeof settings->folder))
        *settings->folder = '\0';
    settings->mask = current_mask();
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (getrlimit((__rlimit_resource_t)i, &settings->limits[i]) != 0)
            settings->limits[i] = (struct rlimit){0, 0};
}

static bool restore_folder(const struct run_settings *settings)
{
    struct stat st;
    bool known = stat(".", &st) == 0;
    if ((known ? st.st_dev : 0) == settings->device && (known ? st.st_ino : 0) == settings->file)
        return false;
    if (*settings->folder)
        (void)!chdir(settings->folder);
    return true;
}

/* The hard one cannot be raised again. */
static bool restore_limit(const struct run_settings *settings, int limit)
{
    struct rlimit now = {0, 0}, before = settings->limits[limit];
    getrlimit((__rlimit_resource_t)limit, &now);
    if (now.rlim_cur == before.rlim_cur && now.rlim_max == before.rlim_max)
        return false;
    if (setrlimit((__rlimit_resource_t)limit, &before) != 0) {
        now.rlim_cur = now.rlim_max < before.rlim_cur ? now.rlim_max : before.rlim_cur;
        setrlimit((__rlimit_resource_t)limit, &now);
    }
    return true;
}

bool run_settings_restore(const struct run_settings *settings, char *changed, size_t size)
{
    int wrong = -1;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        wrong = restore_limit(settings, i) ? i : wrong;
    bool folder = restore_folder(settings), mask = current_mask() != settings->mask;
    umask(settings->mask);
    if (folder)
        snprintf(changed, size, "changed the folder of its process (chdir)");
    else if (mask)
        snprintf(changed, size, "changed the mode of new files (umask)");
    else if (wrong >= 0)
        snprintf(changed, size, "changed the limit %s of its process", limit_name(wrong));
    return folder || mask || wrong >= 0;
}
