/* What the cores of a launch that did not end well do or did, in words; and what a core that has
 * crashed runs, for signal handlers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "backend/runtime/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/runtime/core.h"
#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"
#include "backend/runtime/scheduler.h"

static const struct skrt_core *core_at(const struct skrt_job *job, enum skrt_core_type type,
                                       uint32_t index)
{
    assert(index < job->launched[type]);
    return &job->cores[type][index];
}

/* --------------------------------------------- what blocked cores wait for ---- */

/* The missing cores of a barrier, among `of` whom it is about. */
static void print_missing(FILE *out, enum skrt_core_type type, const bool *missing, uint32_t n,
                          uint32_t of, const char *not_done)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += missing[i];
    fprintf(out, "%u of %u %s %s not %s: ", count, of, skrt_core_type_plural_names[type],
            count == 1 ? "has" : "have", not_done);
    skrt_print_cores(out, type, missing, n);
}

static void print_barrier_wait(FILE *out, const struct skrt_core *core)
{
    const struct skrt_job *job = core->job;
    const struct skrt_barrier *barrier = &job->barriers[core->type];
    uint32_t n = job->launched[core->type];
    bool missing[SKRT_MAX_CORES];
    for (uint32_t i = 0; i < n; i++)
        missing[i] = core_at(job, core->type, i)->arrived <= barrier->complete;
    print_missing(out, core->type, missing, n, n, "arrived");
}

static void print_sync_all_wait(FILE *out, const struct skrt_core *core)
{
    const struct skrt_job *job = core->job;
    assert(core->sync);
    const struct skrt_sync_point *point = core->sync;
    bool full = job->launch->full_barriers;
    uint32_t n = job->launched[core->type];
    bool missing[SKRT_MAX_CORES];
    for (uint32_t i = 0; i < n; i++) {
        const struct skrt_core *other = core_at(job, core->type, i);
        bool waits = other->state == SKRT_CORE_BLOCKED && other->wait == SKRT_WAIT_SYNC_ALL &&
                     other->sync == point;
        bool feeds = other->state == SKRT_CORE_BLOCKED && other->wait == SKRT_WAIT_FEED &&
                     other->feed == core->feed;
        missing[i] = (full || skrt_core_included(other, &point->call)) && !waits && !feeds;
    }
    fputs("in its barrier; ", out);
    print_missing(out, core->type, missing, n, full ? n : point->barrier.size, "come to it");
}

/* The cores `first` to `last` wait for the same flag, each for that of its own partners. */
static void print_flag_wait(FILE *out, const struct skrt_core *first, const struct skrt_core *last)
{
    const struct skrt_job *job = first->job;
    enum skrt_flag flag = first->wait_flag;
    enum skrt_core_type setter = skrt_flag_table[flag].setter;
    bool missing[SKRT_MAX_CORES] = {false};
    uint32_t count = 0;
    for (const struct skrt_core *core = first; core <= last; core++) {
        uint32_t n;
        const struct skrt_core *aivs = skrt_flag_aivs(core, flag, &n);
        for (uint32_t i = 0; i < n; i++)
            if (aivs[i].flags[flag] == 0)
                missing[setter == SKRT_AIV ? aivs[i].index : core->block] = true;
    }
    for (uint32_t i = 0; i < job->launched[setter]; i++)
        count += missing[i];
    skrt_print_cores(out, setter, missing, job->launched[setter]);
    fprintf(out, " %s not set %s", count == 1 ? "has" : "have", skrt_flag_table[flag].name);
}

static void print_wait(FILE *out, const struct skrt_core *first, const struct skrt_core *last)
{
    switch (first->wait) {
    case SKRT_WAIT_BARRIER: print_barrier_wait(out, first); break;
    case SKRT_WAIT_FLAG: print_flag_wait(out, first, last); break;
    case SKRT_WAIT_SYNC_ALL: print_sync_all_wait(out, first); break;
    case SKRT_WAIT_FEED:
        fprintf(out, "%llu %s ended the call", (unsigned long long)first->feed->ended,
                first->feed->ended == 1 ? "core has" : "cores have");
        break;
    case SKRT_WAIT_EVENT:
        fprintf(out, "the event of slot %llu has not come", (unsigned long long)first->wait_slot);
        break;
    case SKRT_WAIT_TILING:
        fprintf(out, "the lock of slot %llu says that its tiling has not come",
                (unsigned long long)first->wait_slot);
        break;
    }
}

/* -------------------------------------------------------- groups of cores ---- */

static const struct skrt_site *site_of(const struct skrt_core *core)
{
    return atomic_load_explicit(&core->site, memory_order_relaxed);
}

static const struct skrt_site *ran_of(const struct skrt_core *core)
{
    return atomic_load_explicit(&core->ran, memory_order_relaxed);
}

static bool in_call(const struct skrt_core *core)
{
    return atomic_load_explicit(&core->in_call, memory_order_relaxed);
}

static bool same_site(const struct skrt_site *a, const struct skrt_site *b)
{
    if (a == b || !a || !b)
        return a == b;
    return strcmp(skrt_site_text(a), skrt_site_text(b)) == 0 &&
           strcmp(skrt_site_op(a), skrt_site_op(b)) == 0;
}

static bool same_wait(const struct skrt_core *a, const struct skrt_core *b)
{
    if (a->wait != b->wait)
        return false;
    switch (a->wait) {
    case SKRT_WAIT_BARRIER: return true;
    case SKRT_WAIT_FLAG: return a->wait_flag == b->wait_flag;
    case SKRT_WAIT_SYNC_ALL: return a->sync == b->sync;
    case SKRT_WAIT_FEED: return a->feed == b->feed;
    case SKRT_WAIT_EVENT:
    case SKRT_WAIT_TILING: return a->wait_slot == b->wait_slot;
    }
    return false;
}

/* Whether one description fits both. */
static bool same_situation(const struct skrt_core *a, const struct skrt_core *b)
{
    if (a->state != b->state || in_call(a) != in_call(b) || !same_site(ran_of(a), ran_of(b)))
        return false;
    if (a->state == SKRT_CORE_FINISHED)
        return true;
    return same_site(site_of(a), site_of(b)) && (a->state != SKRT_CORE_BLOCKED || same_wait(a, b));
}

static void print_state(FILE *out, const struct skrt_core *first, const struct skrt_core *last)
{
    const struct skrt_site *site = site_of(first);
    switch (first->state) {
    case SKRT_CORE_FINISHED: fputs("finished", out); return;
    case SKRT_CORE_BLOCKED:
        fprintf(out, "blocked in `%s`: ", skrt_site_text(site));
        print_wait(out, first, last);
        return;
    case SKRT_CORE_HALTED: fputs("stopped", out); break;
    case SKRT_CORE_RUNNING: fputs("running", out); break;
    case SKRT_CORE_NEW: fputs("waits for a core of the device", out); return;
    case SKRT_CORE_READY: fputs(site ? "ready to go on" : "not started", out); break;
    }
    if (site)
        fprintf(out, " at `%s`", skrt_site_text(site));
}

static void print_group(FILE *out, const struct skrt_core *first, const struct skrt_core *last)
{
    const struct skrt_site *ran = ran_of(first);
    fputs("  ", out);
    skrt_print_range(out, first->type, first->index, last->index);
    fputs(": ", out);
    print_state(out, first, last);
    if (in_call(first))
        fprintf(out, "; in op %s\n", skrt_site_op(ran));
    else
        fprintf(out, "; last op %s\n", ran ? skrt_site_op(ran) : "none");
}

static void print_groups(FILE *out, const struct skrt_job *job, enum skrt_core_type type)
{
    uint32_t n = job->launched[type];
    for (uint32_t i = 0, end; i < n; i = end) {
        const struct skrt_core *first = core_at(job, type, i);
        for (end = i + 1; end < n && same_situation(first, core_at(job, type, end));)
            end++;
        print_group(out, first, core_at(job, type, end - 1));
    }
}

/* ---------------------------------------------------------- left flags ---- */

static void print_left(FILE *out, const struct skrt_job *job, enum skrt_flag flag)
{
    uint32_t n = job->launched[SKRT_AIV];
    for (uint32_t i = 0, end; i < n; i = end) {
        unsigned count = core_at(job, SKRT_AIV, i)->flags[flag];
        for (end = i + 1; end < n && core_at(job, SKRT_AIV, end)->flags[flag] == count;)
            end++;
        if (count == 0)
            continue;
        fputs("  ", out);
        skrt_print_range(out, SKRT_AIV, i, end - 1);
        fprintf(out, ": %s was set %u time%s more often than waited for\n",
                skrt_flag_table[flag].name, count, count == 1 ? "" : "s");
    }
}

static void print_unawaited(FILE *out, const struct skrt_job *job, enum skrt_core_type type)
{
    uint32_t n = job->launched[type];
    for (uint32_t i = 0, end; i < n; i = end) {
        const struct skrt_core *first = core_at(job, type, i);
        uint64_t count = first->arrived - first->awaited;
        for (end = i + 1;
             end < n &&
             core_at(job, type, end)->arrived - core_at(job, type, end)->awaited == count;)
            end++;
        if (count == 0)
            continue;
        fputs("  ", out);
        skrt_print_range(out, type, i, end - 1);
        fprintf(out, ": arrived %llu time%s more often than awaited\n", (unsigned long long)count,
                count == 1 ? "" : "s");
    }
}

/* ------------------------------------------------------------- launches ---- */

/* What is said of a launch behind its first line. */
static void print_launch(FILE *out, const struct skrt_job *job, enum skrt_status status)
{
    /* What the next launch would find. */
    for (int flag = 0; status == SKRT_LEFT_SET && flag < SKRT_FLAGS; flag++)
        print_left(out, job, (enum skrt_flag)flag);
    for (int type = 0; status == SKRT_LEFT_SET && type < SKRT_CORE_TYPES; type++)
        print_unawaited(out, job, (enum skrt_core_type)type);
    if (skrt_race_found(job))
        skrt_race_print(out, job);
    for (int type = 0; type < SKRT_CORE_TYPES && status != SKRT_RACE; type++)
        print_groups(out, job, (enum skrt_core_type)type);
}

static void print_counts(FILE *out, const struct skrt_job *job)
{
    fprintf(out, "launch %s: %u AICs, %u AIVs, %u unfinished", job->launch->name,
            job->launched[SKRT_AIC], job->launched[SKRT_AIV], job->unfinished);
    if (job->placed < job->launch->blocks)
        fprintf(out, ", %u of %u blocks not begun", job->launch->blocks - job->placed,
                job->launch->blocks);
    fputc('\n', out);
}

char *skrt_report_launch(const struct skrt_job *job, enum skrt_status status, const char *cause)
{
    assert(job->device->locked && job->launch);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%s: %s\n", skrt_status_text(status), cause);
    print_counts(out, job);
    print_launch(out, job, status);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* ------------------------------------------------------- several streams ---- */

static const char *stream_name(const struct skrt_job *job)
{
    return job->device->queue->streams[job->stream];
}

static bool has_come(const struct skrt_signal *signal)
{
    return atomic_load((const _Atomic uint64_t *)signal->word) != 0;
}

/* A launch that has not begun. */
static void print_waiting(FILE *out, const struct skrt_job *job)
{
    const struct skrt_queued *queued = &job->device->queue->launches[job->at];
    uint32_t missing = 0, printed = 0;
    for (uint32_t i = 0; i < queued->n_waits; i++)
        missing += !has_come(&queued->waits[i]);
    fprintf(out, "launch %s: not begun", queued->launch.name ? queued->launch.name : "(no name)");
    for (uint32_t i = 0; i < queued->n_waits; i++) {
        const struct skrt_signal *wait = &queued->waits[i];
        if (!has_come(wait))
            fprintf(out, "%s%s",
                    printed++     ? ", "
                    : missing > 1 ? ", waits for the events "
                                  : ", waits for the event ",
                    wait->name ? wait->name : "?");
    }
    fputc('\n', out);
}

static void print_stream(FILE *out, const struct skrt_job *job)
{
    const struct skrt_device *device = job->device;
    fprintf(out, "stream %s, ", stream_name(job));
    if (job->launch) {
        print_counts(out, job);
        print_launch(out, job, job == device->culprit ? device->status : SKRT_OK);
    } else if (job->at < device->queue->n_launches) {
        print_waiting(out, job);
    } else {
        fputs("all launches have ended\n", out);
    }
}

/* The places that a job has; NULL: that nobody has. Returns whether there are any. */
static bool print_places(FILE *out, const struct skrt_device *device, enum skrt_core_type type,
                         const struct skrt_job *job)
{
    bool marked[SKRT_MAX_CORES], any = false;
    for (uint32_t i = 0; i < device->capacity[type]; i++) {
        marked[i] = device->holders[type][i] == job;
        any = any || marked[i];
    }
    if (any) {
        fputs("  ", out);
        skrt_print_cores(out, type, marked, device->capacity[type]);
    }
    return any;
}

static void print_holders(FILE *out, const struct skrt_device *device, enum skrt_core_type type)
{
    for (const struct skrt_job *job = device->running; job; job = job->next)
        if (print_places(out, device, type, job))
            fprintf(out, ": stream %s, launch %s\n", stream_name(job), job->launch->name);
    if (print_places(out, device, type, NULL))
        fputs(": free\n", out);
}

char *skrt_report_queue(const struct skrt_device *device)
{
    assert(device->locked && device->queue && device->n_jobs > 0);
    if (device->queue->n_launches == 1)
        return skrt_report_launch(&device->jobs[0], device->status, device->cause);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%s: %s\n", skrt_status_text(device->status), device->cause);
    for (uint32_t i = 0; i < device->n_jobs; i++)
        print_stream(out, &device->jobs[i]);
    fputs("cores of the device\n", out);
    for (int type = 0; type < SKRT_CORE_TYPES; type++)
        print_holders(out, device, (enum skrt_core_type)type);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* -------------------------------------------------------- crashes, for signal handlers ---- */

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
    size_t done = 0;
    for (ssize_t n = describe_own(&line); n > 0 && done < line.size; done += (size_t)n)
        n = write(fd, line.text + done, line.size - done);
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
