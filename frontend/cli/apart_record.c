#include "frontend/cli/apart_record.h"
#include "ir/base/diag.h"
#include "ir/base/utf8.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t key;
static char suspects[SUSPECTS_SIZE];

enum { STATUSES = 8 };

void record_make_key(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t number = (uint64_t)time.tv_nsec << 32 ^ (uint64_t)time.tv_sec ^ (uint64_t)getpid();
    key = (number * 0x9e3779b97f4a7c15) | 1;
}

uint64_t record_key(void)
{
    return key;
}

/* All of it in one number: what is not all of it is nothing. */
uint64_t record_done(enum exit_status status)
{
    return key + (uint64_t)status;
}

bool record_ending(struct record *shared, enum exit_status *status)
{
    uint64_t number = atomic_load(&shared->done) - key;
    *status = (enum exit_status)(number % STATUSES);
    return number < STATUSES;
}

/* Each has its part of the room. */
void record_add(struct record *shared, const char *text, size_t size)
{
    uint32_t at = atomic_fetch_add(&shared->said_size, (uint32_t)size);
    if (at < sizeof shared->said && size <= sizeof shared->said - at)
        memcpy(shared->said + at, text, size);
}

/* ----------------------------------------------------------------------------- reports ---- */

/* Whether it can be what was said: lines of text. */
static bool is_text(const char *at, size_t size)
{
    struct text checked = {NULL, 0, 0};
    text_utf8(&checked, at, size);
    bool ok = checked.size == size && (size == 0 || memcmp(checked.at, at, size) == 0);
    text_free(&checked);
    for (size_t i = 0; ok && i < size; i++)
        ok = ((unsigned char)at[i] >= ' ' && at[i] != 0x7f) || at[i] == '\n' || at[i] == '\t';
    return ok;
}

static bool is_string(const char *at, size_t room)
{
    size_t size = strnlen(at, room);
    return size > 0 && size < room && is_text(at, size);
}

static bool has_text(const struct skrt_note *note)
{
    return is_string(note->text, sizeof note->text);
}

void record_say(struct record *shared, const char *format, ...)
{
    char text[SKRT_NOTE_SIZE + 256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    record_add(shared, text, strlen(text));
}

/* Whether a core is in a call that is noted. */
static bool has_running(struct record *shared)
{
    for (uint32_t i = 0; i < SKRT_NOTES && atomic_load(&shared->noted); i++)
        if (shared->notes[i].running && has_text(&shared->notes[i]))
            return true;
    return false;
}

/* Who said something may have been cut off. */
static void end_line(struct record *shared)
{
    uint32_t size = atomic_load(&shared->said_size);
    if (size > 0 && size <= sizeof shared->said && shared->said[size - 1] != '\n')
        record_add(shared, "\n", 1);
}

/* The calls that cores were in, or where none is running those that they were in last: the first
 * ones. */
static void say_notes(struct record *shared, bool running)
{
    enum { SHOWN = 4 };
    unsigned count = 0;
    end_line(shared);
    for (uint32_t i = 0; i < SKRT_NOTES; i++)
        if ((!running || shared->notes[i].running != 0) && has_text(&shared->notes[i]) &&
            count++ < SHOWN)
            record_say(shared, "%s", shared->notes[i].text);
    if (count > SHOWN)
        record_say(shared, "and %u cores more were in calls\n", count - SHOWN);
}

void record_suspect(const char *lines)
{
    snprintf(suspects, sizeof suspects, "%s", lines);
}

void record_say_suspects(struct record *shared)
{
    end_line(shared);
    if (is_string(shared->launch, sizeof shared->launch))
        record_say(shared, "the last launch was %s\n", shared->launch);
    record_add(shared, suspects, strlen(suspects));
}

void record_say_calls(struct record *shared)
{
    bool any = false;
    for (uint32_t i = 0; i < SKRT_NOTES && atomic_load(&shared->noted) && !any; i++)
        any = has_text(&shared->notes[i]);
    end_line(shared);
    if (any) {
        record_say(shared, "calls that cores were in last:\n");
        say_notes(shared, false);
    }
    record_say_suspects(shared);
}

void record_say_running(struct record *shared)
{
    if (has_running(shared))
        say_notes(shared, true);
    else
        record_say_calls(shared);
}

void record_say_any(struct record *shared)
{
    record_say_running(shared);
    if (has_running(shared))
        record_say_suspects(shared);
}

/* Nobody runs, and still the process does not go on. */
static void say_endless(struct record *shared, enum ended_by by)
{
    record_say(shared, "skirc: timeout: behind the launches the process of the kernels %s\n",
               by == BY_WAIT ? "waits for a lock or a thread that one of them has taken or damaged"
                             : "does not come to an end: one has damaged what is not its own");
    record_say_calls(shared);
}

/* The first thread is none that cores run on: it waits for them, and for what runs beside them. */
static void say_headless(struct record *shared)
{
    const char *who = *shared->running ? shared->running : "a kernel";
    record_say(shared,
               "skirc: %s has ended the first thread of its process, or has it ended at a system "
               "call (seccomp)\n",
               who);
    if (!*shared->running)
        record_say_any(shared);
}

/* Nobody has told of the end. */
static void say_silent(struct record *shared, const char *how, int number)
{
    if (atomic_load(&shared->noted))
        record_say(
            shared,
            "skirc: the process of the kernels ended outside of their calls (%s %d): one has "
            "damaged what is not its own, or left a thread behind\n",
            how, number);
    else
        record_say(shared,
                   "skirc: the process of the kernels ended (%s %d) in a run that does not note "
                   "calls, or behind it\n",
                   how, number);
}

void record_say_end(struct record *shared, const struct attended *work)
{
    int status = work->status;
    enum ended_by by = work->by;
    const char *who = *shared->running ? shared->running : "a sub-kernel";
    const char *how = WIFSIGNALED(status) ? "signal" : "exit status";
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (by == BY_WAIT || (by == BY_TIME && work->deadline == 0)) {
        say_endless(shared, by);
        return;
    }
    if (by == BY_THREADS) {
        say_headless(shared);
        return;
    }
    if (by == BY_PROGRAM)
        record_say(
            shared,
            "skirc: %s has started another program in the place of its process (exec), which is "
            "ended\n",
            who);
    else if (*shared->running && by == BY_TIME)
        record_say(shared, "skirc: %s does not return\n", who);
    else if (by == BY_TIME)
        record_say(shared, "skirc: timeout: %s does not return\n", who);
    else if (*shared->running || has_running(shared))
        record_say(shared, "skirc: %s has ended its process (%s %d)\n", who, how, number);
    else
        say_silent(shared, how, number);
    if (!*shared->running)
        record_say_running(shared);
}

bool record_take_damage(struct record *shared)
{
    uint32_t size = atomic_load(&shared->said_size);
    shared->running[sizeof shared->running - 1] = '\0';
    bool running = !*shared->running || is_string(shared->running, sizeof shared->running);
    if (!running)
        *shared->running = '\0';
    size_t room = sizeof shared->said, text = strnlen(shared->said, size < room ? size : room);
    bool ok = running && is_text(shared->said, text);
    if (!ok) {
        memset(shared->said, 0, room);
        atomic_store(&shared->noted, false); /* nor is the rest what it was */
        *shared->launch = '\0';
    }
    atomic_store(&shared->said_size, ok ? (uint32_t)text : 0);
    return !ok;
}

void record_take_said(const struct record *shared, FILE *err, struct apart_end *end)
{
    uint32_t count = atomic_load(&shared->said_size);
    size_t size = count < sizeof shared->said ? count : sizeof shared->said;
    size_t kept = size < sizeof end->text ? size : sizeof end->text - 1;
    diag_put_lines(err, shared->said, size);
    memcpy(end->text, shared->said, kept);
    end->text[kept] = '\0';
    end->answered = atomic_load(&shared->answered) == key;
}
