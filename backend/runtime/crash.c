/* What cores are running, for signal handlers. */
#include "backend/runtime/scheduler.h"

#include <string.h>
#include <unistd.h>

/* A line that grows; what has no room is cut off, but for its newline. Stdio is not for signal
 * handlers. */
struct line {
    char text[508];
    size_t size;
};

static void put_text(struct line *line, const char *text)
{
    while (*text && line->size < sizeof line->text - 2)
        line->text[line->size++] = *text++;
}

static void put_number(struct line *line, uint32_t number)
{
    char digits[12];
    char *at = digits + sizeof digits - 1;
    *at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    put_text(line, at);
}

static void describe(struct line *line, const struct skrt_core *core)
{
    const struct skrt_site *ran = atomic_load_explicit(&core->ran, memory_order_relaxed);
    bool in_call = atomic_load_explicit(&core->in_call, memory_order_relaxed);
    line->size = 0;
    put_text(line, "launch ");
    put_text(line, core->job->launch->name);
    put_text(line, ": ");
    put_text(line, skrt_core_type_names[core->type]);
    put_text(line, " ");
    put_number(line, core->index);
    put_text(line, " at `");
    put_text(line, skrt_site_text(atomic_load_explicit(&core->site, memory_order_relaxed)));
    put_text(line, in_call ? "`; in op " : "`; last op ");
    put_text(line, ran ? skrt_site_op(ran) : "none");
    line->text[line->size++] = '\n';
    line->text[line->size] = '\0';
}

static void write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n <= 0)
            return;
        text += n;
        size -= (size_t)n;
    }
}

/* False on threads that run no core. */
static bool describe_own(struct line *line)
{
    const struct skrt_worker *worker = skrt_sched_this_worker();
    const struct skrt_core *core = worker ? worker->core : NULL;
    if (!core || !core->job->launch)
        return false;
    describe(line, core);
    return true;
}

void skrt_report_crash(int fd)
{
    struct line line;
    if (describe_own(&line))
        write_all(fd, line.text, line.size);
}

size_t skrt_crash_text(char *text, size_t size)
{
    struct line line;
    if (size == 0 || !describe_own(&line))
        return 0;
    size_t count = line.size < size ? line.size : size - 1;
    memcpy(text, line.text, count);
    text[count] = '\0';
    return count;
}

bool skrt_crash_is_overflow(const void *address)
{
    const struct skrt_worker *worker = skrt_sched_this_worker();
    return worker && skrt_sched_stack_overflow(worker->device, address);
}
