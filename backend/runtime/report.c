/* What the cores of a launch do, in words: for launches that did not end well, and for signal
 * handlers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/runtime/internal.h"

enum { MAX_RANGES = 8 }; /* of cores in one list; the rest is counted */

const char *const skrt_core_type_names[SKRT_CORE_TYPES] = {[SKRT_AIC] = "aic", [SKRT_AIV] = "aiv"};
static const char *const plural_names[SKRT_CORE_TYPES] = {[SKRT_AIC] = "AICs", [SKRT_AIV] = "AIVs"};

static const char *const status_texts[] = {
    [SKRT_OK] = "ok",
    [SKRT_INVALID] = "invalid launch",
    [SKRT_DEADLOCK] = "deadlock",
    [SKRT_TIMEOUT] = "timeout",
    [SKRT_OVERFLOW] = "flag overflow",
    [SKRT_LEFT_SET] = "flag left set",
    [SKRT_MISUSE] = "misuse",
    [SKRT_RACE] = "race",
};

const char *skrt_status_text(enum skrt_status status)
{
    size_t n = sizeof status_texts / sizeof status_texts[0];
    return (size_t)status < n ? status_texts[status] : "unknown status";
}

/* ---------------------------------------------------------- lists of cores ---- */

static const struct skrt_core *core_at(const struct skrt_device *device, enum skrt_core_type type,
                                       uint32_t index)
{
    return &device->cores[type][index];
}

static void print_range(FILE *out, enum skrt_core_type type, uint32_t first, uint32_t last)
{
    fprintf(out, "%s %u", skrt_core_type_names[type], first);
    if (last > first)
        fprintf(out, "..%u", last);
}

void skrt_report_core(FILE *out, enum skrt_core_type type, uint32_t index)
{
    print_range(out, type, index, index);
}

void skrt_report_cores(FILE *out, enum skrt_core_type type, const bool *marked, uint32_t n)
{
    uint32_t ranges = 0, more = 0;
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && marked[i] == marked[end];)
            end++;
        if (!marked[i])
            continue;
        if (ranges++ < MAX_RANGES) {
            fputs(ranges > 1 ? ", " : "", out);
            print_range(out, type, i, end - 1);
        } else {
            more += end - i;
        }
    }
    if (more > 0)
        fprintf(out, " and %u more", more);
}

/* --------------------------------------------- what blocked cores wait for ---- */

/* The missing cores of a barrier, among `of` whom it is about. */
static void print_missing(FILE *out, enum skrt_core_type type, const bool *missing, uint32_t n,
                          uint32_t of, const char *not_done)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += missing[i];
    fprintf(out, "%u of %u %s %s not %s: ", count, of, plural_names[type],
            count == 1 ? "has" : "have", not_done);
    skrt_report_cores(out, type, missing, n);
}

static void print_barrier_wait(FILE *out, const struct skrt_core *core)
{
    const struct skrt_device *device = core->device;
    const struct skrt_barrier *barrier = &device->barriers[core->type];
    uint64_t complete = atomic_load_explicit(&barrier->complete, memory_order_relaxed);
    uint32_t n = device->launched[core->type];
    bool missing[SKRT_MAX_CORES];
    for (uint32_t i = 0; i < n; i++)
        missing[i] = core_at(device, core->type, i)->arrived <= complete;
    print_missing(out, core->type, missing, n, n, "arrived");
}

static void print_sync_all_wait(FILE *out, const struct skrt_core *core)
{
    const struct skrt_device *device = core->device;
    const struct skrt_sync_point *point = core->sync;
    bool full = device->launch->full_barriers;
    uint32_t n = device->launched[core->type];
    bool missing[SKRT_MAX_CORES];
    for (uint32_t i = 0; i < n; i++) {
        const struct skrt_core *other = core_at(device, core->type, i);
        bool waits = other->state == SKRT_CORE_BLOCKED && other->wait == SKRT_WAIT_SYNC_ALL &&
                     other->sync == point;
        bool feeds = other->state == SKRT_CORE_BLOCKED && other->wait == SKRT_WAIT_FEED &&
                     other->feed == core->feed;
        missing[i] = (full || skrt_core_included(other, &point->call)) && !waits && !feeds;
    }
    fputs("in its barrier; ", out);
    print_missing(out, core->type, missing, n, full ? n : point->size, "come to it");
}

/* The cores `first` to `last` wait for the same flag, each for that of its own partners. */
static void print_flag_wait(FILE *out, const struct skrt_core *first, const struct skrt_core *last)
{
    const struct skrt_device *device = first->device;
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
    for (uint32_t i = 0; i < device->launched[setter]; i++)
        count += missing[i];
    skrt_report_cores(out, setter, missing, device->launched[setter]);
    fprintf(out, " %s not set %s", count == 1 ? "has" : "have", skrt_flag_table[flag].name);
}

static void print_wait(FILE *out, const struct skrt_core *first, const struct skrt_core *last)
{
    switch (first->wait) {
    case SKRT_WAIT_BARRIER: print_barrier_wait(out, first); break;
    case SKRT_WAIT_FLAG: print_flag_wait(out, first, last); break;
    case SKRT_WAIT_SYNC_ALL: print_sync_all_wait(out, first); break;
    case SKRT_WAIT_FEED:
        fprintf(out, "%u %s ended the call", skrt_feed_ended(first),
                skrt_feed_ended(first) == 1 ? "core has" : "cores have");
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

static const char *site_text(const struct skrt_site *site)
{
    return site && site->text ? site->text : "?";
}

/* The operator of a call, or where it has none the call itself. */
static const char *site_op(const struct skrt_site *site)
{
    return site && site->op ? site->op : site_text(site);
}

static bool same_site(const struct skrt_site *a, const struct skrt_site *b)
{
    if (a == b || !a || !b)
        return a == b;
    return strcmp(site_text(a), site_text(b)) == 0 && strcmp(site_op(a), site_op(b)) == 0;
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
        fprintf(out, "blocked in `%s`: ", site_text(site));
        print_wait(out, first, last);
        return;
    case SKRT_CORE_HALTED: fputs("stopped", out); break;
    case SKRT_CORE_RUNNING: fputs("running", out); break;
    case SKRT_CORE_READY: fputs(site ? "ready to go on" : "not started", out); break;
    }
    if (site)
        fprintf(out, " at `%s`", site_text(site));
}

static void print_group(FILE *out, const struct skrt_core *first, const struct skrt_core *last)
{
    const struct skrt_site *ran = ran_of(first);
    fputs("  ", out);
    print_range(out, first->type, first->index, last->index);
    fputs(": ", out);
    print_state(out, first, last);
    if (in_call(first))
        fprintf(out, "; in op %s\n", site_op(ran));
    else
        fprintf(out, "; last op %s\n", ran ? site_op(ran) : "none");
}

static void print_groups(FILE *out, const struct skrt_device *device, enum skrt_core_type type)
{
    uint32_t n = device->launched[type];
    for (uint32_t i = 0, end; i < n; i = end) {
        const struct skrt_core *first = core_at(device, type, i);
        for (end = i + 1; end < n && same_situation(first, core_at(device, type, end));)
            end++;
        print_group(out, first, core_at(device, type, end - 1));
    }
}

/* ---------------------------------------------------------- left flags ---- */

bool skrt_report_finds_left_set(const struct skrt_device *device)
{
    for (uint32_t i = 0; i < device->launched[SKRT_AIV]; i++)
        for (int flag = 0; flag < SKRT_FLAGS; flag++)
            if (core_at(device, SKRT_AIV, i)->flags[flag] > 0)
                return true;
    return false;
}

static void print_left(FILE *out, const struct skrt_device *device, enum skrt_flag flag)
{
    uint32_t n = device->launched[SKRT_AIV];
    for (uint32_t i = 0, end; i < n; i = end) {
        unsigned count = core_at(device, SKRT_AIV, i)->flags[flag];
        for (end = i + 1; end < n && core_at(device, SKRT_AIV, end)->flags[flag] == count;)
            end++;
        if (count == 0)
            continue;
        fputs("  ", out);
        print_range(out, SKRT_AIV, i, end - 1);
        fprintf(out, ": %s was set %u time%s more often than waited for\n",
                skrt_flag_table[flag].name, count, count == 1 ? "" : "s");
    }
}

char *skrt_report_launch(const struct skrt_device *device)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%s: %s\n", skrt_status_text(device->status), device->cause);
    fprintf(out, "launch %s: %u AICs, %u AIVs, %u unfinished\n", device->launch->name,
            device->launched[SKRT_AIC], device->launched[SKRT_AIV], device->unfinished);
    if (device->status == SKRT_LEFT_SET)
        for (int flag = 0; flag < SKRT_FLAGS; flag++)
            print_left(out, device, (enum skrt_flag)flag);
    if (skrt_race_found(device))
        skrt_race_print(out, device);
    for (int type = 0; type < SKRT_CORE_TYPES && device->status != SKRT_RACE; type++)
        print_groups(out, device, (enum skrt_core_type)type);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* ------------------------------------------------------------- crashes ---- */

/* Set before the thread runs any core. Initial-exec: a read in a signal handler must not
 * allocate. */
#define IN_HANDLERS __attribute__((tls_model("initial-exec")))
static IN_HANDLERS _Thread_local const struct skrt_worker *this_worker;

void skrt_report_set_worker(const struct skrt_worker *worker)
{
    this_worker = worker;
}

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
    const struct skrt_worker *worker = this_worker;
    const struct skrt_core *core = worker ? worker->core : NULL;
    if (!core || !worker->device->launch)
        return;
    write_text(fd, "launch ");
    write_text(fd, worker->device->launch->name);
    write_text(fd, ": ");
    write_text(fd, skrt_core_type_names[core->type]);
    write_text(fd, " ");
    write_number(fd, core->index);
    write_text(fd, " at `");
    write_text(fd, site_text(site_of(core)));
    write_text(fd, in_call(core) ? "`; in op " : "`; last op ");
    write_text(fd, ran_of(core) ? site_op(ran_of(core)) : "none");
    write_text(fd, "\n");
}
