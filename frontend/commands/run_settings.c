#include "frontend/commands/run_settings.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { N_STREAMS = sizeof((struct run_settings *)0)->streams / sizeof(int) };

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

static struct run_settings_file file_of(const char *path)
{
    struct stat st;
    bool known = stat(path, &st) == 0;
    return (struct run_settings_file){known ? st.st_dev : 0, known ? st.st_ino : 0};
}

static bool is_same(struct run_settings_file a, struct run_settings_file b)
{
    return a.device == b.device && a.file == b.file;
}

/* What decides, with the user and the group, which files this thread may open. */
static void take_rights(struct run_settings *settings)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
    (void)!syscall(SYS_capget, &header, data);
    for (int i = 0; i < 2; i++)
        settings->capabilities[i] = data[i].effective;
    settings->file_user = (uid_t)setfsuid((uid_t)-1); /* which no user has: nothing changes */
    settings->file_group = (gid_t)setfsgid((gid_t)-1);
    settings->no_more_privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

/* Rights that were given up are gone. */
static bool restore_rights(const struct run_settings *settings)
{
    struct run_settings now;
    take_rights(&now);
    setfsuid(settings->file_user);
    setfsgid(settings->file_group);
    return now.file_user != settings->file_user || now.file_group != settings->file_group ||
           now.capabilities[0] != settings->capabilities[0] ||
           now.capabilities[1] != settings->capabilities[1] ||
           now.no_more_privileges != settings->no_more_privileges;
}

void run_settings_take(struct run_settings *settings)
{
    take_rights(settings);
    settings->current = file_of(".");
    settings->root = file_of("/");
    settings->user = geteuid();
    settings->group = getegid();
    for (int i = 0; i < N_STREAMS; i++)
        settings->streams[i] = fcntl(i, F_GETFL);
    if (!getcwd(settings->folder, sizeof settings->folder))
        *settings->folder = '\0';
    settings->mask = current_mask();
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (getrlimit((__rlimit_resource_t)i, &settings->limits[i]) != 0)
            settings->limits[i] = (struct rlimit){0, 0};
}

static bool restore_folder(const struct run_settings *settings)
{
    if (is_same(file_of("."), settings->current))
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

/* They are those of whoever else has the stream. One that is closed is told otherwise. */
static bool restore_streams(const struct run_settings *settings)
{
    bool changed = false;
    for (int i = 0; i < N_STREAMS; i++) {
        int now = fcntl(i, F_GETFL);
        if (now < 0 || settings->streams[i] < 0 || now == settings->streams[i])
            continue;
        fcntl(i, F_SETFL, settings->streams[i]);
        changed = true;
    }
    return changed;
}

bool run_settings_restore(const struct run_settings *settings, char *changed, size_t size)
{
    int wrong = -1;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        wrong = restore_limit(settings, i) ? i : wrong;
    /* Who has another user or root may find no folder any more. */
    bool user = geteuid() != settings->user || getegid() != settings->group;
    bool rights = restore_rights(settings);
    bool root = !is_same(file_of("/"), settings->root), folder = restore_folder(settings);
    bool mask = current_mask() != settings->mask, flags = restore_streams(settings);
    umask(settings->mask);
    const char *what = user     ? "the user of its process (setuid)"
                       : root   ? "the root folder of its process (chroot)"
                       : folder ? "the folder of its process (chdir)"
                       : mask   ? "the mode of new files (umask)"
                       : flags  ? "the flags of a standard stream (fcntl)"
                       : rights
                           ? "the rights of its process (setfsuid, capset, PR_SET_NO_NEW_PRIVS)"
                           : NULL;
    if (what)
        snprintf(changed, size, "changed %s", what);
    else if (wrong >= 0)
        snprintf(changed, size, "changed the limit %s of its process", limit_name(wrong));
    return what || wrong >= 0;
}
