/* What the calling thread's core is running, for signal handlers. */
#include <string.h>
#include <unistd.h>

#include "backend/runtime/scheduler.h"

static void write_text(int fd, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        ssize_t n = write(fd, text, left);
        if (n <= 0)
            return;
        text += n;
        left -= (size_t)n;
    }
}

static void write_number(int fd, uint32_t number)
{
    char digits[12];
    char *at = digits + sizeof digits - 1;
    *at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    write_text(fd, at);
}

void skrt_report_crash(int fd)
{
    const struct skrt_worker *worker = skrt_sched_this_worker();
    const struct skrt_core *core = worker ? worker->core : NULL;
    if (!core || !core->job->launch)
        return;
    const struct skrt_site *ran = atomic_load_explicit(&core->ran, memory_order_relaxed);
    bool in_call = atomic_load_explicit(&core->in_call, memory_order_relaxed);
    write_text(fd, "launch ");
    write_text(fd, core->job->launch->name);
    write_text(fd, ": ");
    write_text(fd, skrt_core_type_names[core->type]);
    write_text(fd, " ");
    write_number(fd, core->index);
    write_text(fd, " at `");
    write_text(fd, skrt_site_text(atomic_load_explicit(&core->site, memory_order_relaxed)));
    write_text(fd, in_call ? "`; in op " : "`; last op ");
    write_text(fd, ran ? skrt_site_op(ran) : "none");
    write_text(fd, "\n");
}
