#include "frontend/cli/crash.h"
#include "backend/runtime/skrt.h"
#include "frontend/cli/apart.h"
#include "frontend/cli/command.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* Sub-kernels may crash on several threads at once. A handler has no other way to know. */
static atomic_flag reporting = ATOMIC_FLAG_INIT;

static const struct crash_map *crash_map;
static pid_t owner;

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction before[sizeof signals / sizeof *signals];

static void say_place(const void *address)
{
    char text[512];
    if (skrt_crash_is_overflow(address)) {
        apart_say("it touched what is below its stack, which has 256 KiB\n");
        return;
    }
    if (!crash_map->text(crash_map->context, address, text, sizeof text))
        return;
    apart_say("it touched what is ");
    apart_say(text);
    apart_say("\n");
}

/* A kernel may have threads of its own, which are in no call, and it may have damaged what says
 * what the core's call is. */
static void say_call(void)
{
    char call[SKRT_NOTE_SIZE];
    apart_say_calls(true);
    bool in_call = skrt_crash_text(call, sizeof call) > 0;
    apart_say(in_call ? "\n" : ", in a thread that is no core's\n");
    if (in_call)
        apart_say(call);
    apart_say_calls(!in_call);
}

/* Whether the thread is to go on where it was. */
static bool is_allowed(int signal_number, const siginfo_t *info)
{
    char call[SKRT_NOTE_SIZE] = "";
    if (signal_number != SIGSEGV || info->si_code != SEGV_ACCERR || !crash_map->allow)
        return false;
    skrt_crash_text(call, sizeof call);
    return crash_map->allow(crash_map->allows, info->si_addr, call);
}

static void on_crash(int signal_number, siginfo_t *info, void *unused)
{
    (void)unused;
    if (is_allowed(signal_number, info))
        return;
    const char digits[] = {(char)('0' + signal_number / 10), (char)('0' + signal_number % 10), ')',
                           '\0'};
    if (getpid() != owner) { /* one that a kernel has forked, for which the kernel waits */
        signal(signal_number, SIG_DFL);
        raise(signal_number);
        return;
    }
    while (atomic_flag_test_and_set(&reporting))
        pause(); /* until the other thread's report ends the process */
    apart_say("skirc: a sub-kernel crashed (signal ");
    apart_say(digits + (signal_number < 10));
    say_call();
    if (signal_number == SIGSEGV || signal_number == SIGBUS)
        say_place(info->si_addr);
    _exit(EXIT_INPUT);
}

void crash_reports_begin(const struct crash_map *map)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    crash_map = map;
    owner = getpid();
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, &before[i]);
}

void crash_reports_end(void)
{
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &before[i], NULL);
}

const char *crash_changed_floats(char *text, size_t size)
{
    if (skrt_take_changed_floats(text, size) == 0)
        *text = '\0';
    return text;
}
