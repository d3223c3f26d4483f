"""run: what is said of kernels where nobody knows which core, or which op, has done something: the last
launch, and the ops that it can have been."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import CALL, MODULE, OWN, build, check, check_harmless

HEAD = "#include <sys/ptrace.h>\n#include <sys/time.h>\n#include <time.h>\n"
SUSPECTS = "it is one of Own %y, Relu %z"


def says(how):
    """Who waits for the process says so: the launch is known, too."""
    return [how, "the last launch was g_s", SUSPECTS]


# ---- Measured runs, which note no calls ----

THIRD = HEAD + "static int runs;\n" + OWN
for body, how in (("raise(SIGKILL);", "signal 9"), ("kill(getpid(), SIGKILL);", "signal 9"),
                  ("_exit(0);", "exit status 0"), ("quick_exit(3);", "exit status 3"),
                  ("kill(getpid(), SIGTERM); pause();", "signal 15")):
    check(f"a kernel that in its third run does: {body}", build("third", THIRD % f"if (++runs == 3) {{ {body} }}"),
          says(rf"skirc: the process of the kernels ended \({how}\) in a run that does not note calls, or behind it"),
          "--repeat=5")
for number in signal.SIGTERM, signal.SIGUSR1, signal.SIGRTMIN + 3:
    check(f"a kernel that sends its thread signal {int(number)} in its third run",
          build("third", THIRD % f"if (++runs == 3) raise({int(number)});"),
          [rf"skirc: a kernel has sent its thread a signal \({int(number)}\), which that keeps back", SUSPECTS], "--repeat=5")
check("a kernel that crashes in its third run is named", build("third", THIRD % (
    "if (++runs == 3) *(volatile int *)8 = 1;")), [r"skirc: a sub-kernel crashed \(signal 11\)", CALL], "--repeat=5")
check("a kernel that changes the folder in its third run", build("third", THIRD % 'if (++runs == 3) chdir("/");'),
      ["skirc: a kernel has changed the folder of its process", SUSPECTS], "--repeat=5")

# ---- Threads and handlers that are in no call ----

LEFT_THREAD = ["skirc: (the kernel of Own %y|a kernel) has left a thread running", "Own %y"]
check("a thread that is about to crash behind its kernel", build("late", HEAD + """
static void *work(void *unused) { usleep(20000); *(volatile int *)8 = 1; return unused; }
""" + OWN % "pthread_t t; pthread_create(&t, 0, work, 0); pthread_detach(t);"),
      LEFT_THREAD, "--repeat=0")
check("a crash as a thread ends", build("key", HEAD + """
static void end(void *unused) { *(volatile int *)8 = 1; }
""" + OWN % "pthread_key_t k; pthread_key_create(&k, end); pthread_setspecific(k, &k);"),
      says(r"skirc: .*\(signal 11\)"))
if os.uname().machine == "x86_64":
    for base in "4096", "room + 32768":
        check(f"a kernel whose thread finds nothing of its own any more: {base}", build("base", HEAD + """
#include <asm/prctl.h>
static char room[65536];
""" + OWN % f"syscall(SYS_arch_prctl, ARCH_SET_FS, {base});"), [r"skirc: .*\(signal 11\)", "Own ?[(%]"], "--timeout=3")
    # The thread that crashes cannot tell whose it is, wherever that may be.
    check("a crash of a thread that finds nothing of its own", build("base", HEAD + """
#include <asm/prctl.h>
""" + OWN % "syscall(SYS_arch_prctl, ARCH_SET_FS, 4096); *(volatile int *)8 = 1;"),
          says(r"skirc: a sub-kernel crashed \(signal 11\)\n(.*\n)*.*aiv 2 at `call @k"))
# Others of the process go on, and nobody is told of its end.
check("a constructor that has the first thread ended at its next system call", build("strict", HEAD + """
#include <sys/prctl.h>
__attribute__((constructor)) static void forbid(void) { prctl(PR_SET_SECCOMP, 1); }
""" + OWN % ""), ["skirc: .*has ended the first thread of its process, or has it ended at a system call", "Own %y"],
      "--timeout=0")
for body in ("union sigval v = {0}; sigqueue(getpid(), SIGUSR1, v); usleep(10000);",
             "union sigval v = {0}; sigqueue(getpid(), SIGRTMIN + 1, v); usleep(10000);",
             "siginfo_t i; memset(&i, 0, sizeof i); i.si_code = -60; syscall(SYS_rt_sigqueueinfo, getpid(), SIGSEGV, &i);"
             "usleep(10000);"):
    check(f"a kernel that does: {body}", build("queue", HEAD + OWN % body), [r"skirc: a sub-kernel (has ended|crashed)", CALL])
RUNNING = [r"launch g_s: 0 AICs, 48 AIVs, 48 unfinished", "aiv 2: running at `call @k args %y blocks 4`; in op Own"]
for body in ("pthread_exit(0);", "syscall(SYS_exit, 0);",
             "syscall(SYS_futex, (char *)core, 0, *(int *)core, 0, 0, 0);"):
    check(f"a kernel whose core ends by: {body}", build("ended", HEAD + OWN % body), RUNNING, "--timeout=1")
check("a kernel whose handler keeps the first thread", build("handler", HEAD + """
static void stay(int unused) { for (;;) ; }
""" + OWN % "signal(SIGUSR1, stay); syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);"),
      ["skirc: timeout", "Own ?[(%]"], "--timeout=1", "--repeat=0")
check("a kernel that asks for another program's permission for system calls", build("asking", HEAD + """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
""" + OWN % """
        struct sock_filter f[] = {{0x20, 0, 0, 0}, {0x15, 0, 1, SYS_write}, {6, 0, 0, SECCOMP_RET_USER_NOTIF},
                                  {6, 0, 0, SECCOMP_RET_ALLOW}};
        struct sock_fprog p = {4, f};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 8 | 16 | 1, &p) < 0) abort();"""),
      ["skirc: a kernel has forbidden its process system calls", SUSPECTS], "--timeout=1", "--repeat=0")

# ---- Timers ----

for body in ("struct itimerval t = {{0, 0}, {10, 0}}; setitimer(ITIMER_REAL, &t, 0);",
             "struct itimerval t = {{0, 0}, {10, 0}}; setitimer(ITIMER_PROF, &t, 0);", "alarm(10);",
             "timer_t t; struct sigevent e = {.sigev_notify = SIGEV_NONE}; timer_create(CLOCK_MONOTONIC, &e, &t);"):
    if "timer_create" not in body or os.path.exists("/proc/self/timers"):
        check(f"a kernel that does: {body}", build("timer", HEAD + OWN % body),
              [r"skirc: the kernel of Own %y has left a timer running \(setitimer, timer_create\)"])
for code in "alarm(10);", "struct itimerval t = {{10, 0}, {10, 0}}; setitimer(ITIMER_REAL, &t, 0);":
    check(f"a constructor that does: {code}", build("begun", HEAD + """
__attribute__((constructor)) static void begin(void) { %s }
""" % code + OWN % ""), ["skirc: a constructor of 'begun.o'.* has left a timer running"])
# Its handler would keep the thread that looks at results.
check("a kernel whose timer has a handler that does not return", build("stay", HEAD + """
static void stay(int unused) { for (;;) ; }
""" + OWN % """signal(SIGALRM, stay);
        struct itimerval t = {{0, 0}, {0, 500}};
        setitimer(ITIMER_REAL, &t, 0);"""), ["skirc: ", "Own"], "--timeout=1", "--repeat=100")
check("a kernel whose thread is about to send the first thread a signal behind the launch", build("sent", HEAD + """
static void stay(int unused) { for (;;) ; }
static void *send(void *unused)
{
    usleep(50000);
    syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
    return unused;
}
""" + OWN % "signal(SIGUSR1, stay); pthread_t t; pthread_create(&t, 0, send, 0); pthread_detach(t);"),
      LEFT_THREAD, "--timeout=1", "--repeat=0")

# ---- Graphs that call others, and large ones ----

CALLS = MODULE.replace("graph @g", "graph @h").replace("%", "%%").replace("%%%%", "%%").replace('"%%s.o"', '"%s.o"') + """
graph @g(%%x: f32[4], %%c: bool[]) -> f32[4] {
  %%a = If(%%c, %%x) {then_branch = @h, else_branch = @h} : f32[4]
  return %%a
}
"""
path = build("called", THIRD % 'if (++runs == 3) chdir("/");', CALLS)
done = tap.skirc("run", path, "-i", "x=1", "--repeat=5")
tap.check("ops of graphs that are called are among them", done.returncode == 1 and
          "has changed the folder" in done.stderr and "it is one of Own %y, Relu %z\n" in done.stderr, done.stderr)
LONG = MODULE.replace("return %%z", "\n".join(f"%%r{i} = Relu(%%z) : f32[4]" for i in range(20)) + "\n  return %%z")
done = tap.skirc("run", build("long", THIRD % "if (++runs == 3) _exit(0);", LONG), "-i", "x=1", "--repeat=5")
tap.check("of many the first are named", done.returncode == 1 and "it is one of Own %y, Relu %z, Relu %r0, Relu %r1, "
          "Relu %r2, Relu %r3, Relu %r4, Relu %r5, and 14 more\n" in done.stderr, done.stderr)

# ---- Descriptors, and what there is to look with ----

GONE = ["skirc: the kernel of Own %y has closed or replaced files of its process that are not its own"]
check("a kernel that puts a file in the place of all others", build("fill", OWN % "for (int i = 3; i < 1024; i++) dup2(0, i);"),
      GONE)
for flags in (), ("--repeat=0",), ("--in-process",):
    check("a kernel that closes all but the standard streams " + " ".join(flags),
          build("close", OWN % "for (int i = 3; i < 1024; i++) close(i);"), GONE, *flags)
check("a kernel that closes the first of them", build("close", OWN % "close(3);"), GONE)
check("a kernel that puts a file in the place of streams, too", build("all", OWN % "for (int i = 0; i < 1024; i++) dup2(0, i);"),
      ["skirc: the kernel of Own %y has closed standard output"])
check("a kernel that leaves requests to the system", build("queue", OWN % """
        char p[256]; memset(p, 0, sizeof p); if (syscall(425, 8, p) < 0) chdir("/");"""),
      ["skirc: the kernel of Own %y has (left a queue of requests to the system open|changed the folder)"])
path = build("harmless", OWN % "")
for flags in [], ["--in-process"], ["--check-kernels", "--compare=unfused"]:
    codes = set()
    for files in range(4, 12):
        done = subprocess.run(["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", tap.SKIRC, "run", path, "-i", "x=1",
                               "--repeat=1", *flags], capture_output=True, text=True)
        said = "the limit of open files (ulimit -n) is too low" in done.stderr
        codes.add(done.returncode)
        tap.check(f"with {files} files {' '.join(flags)}", done.returncode == (1 if said else 0), f"{done.returncode} {done.stderr}")
    tap.check("  few are too few, some are enough", codes == {0, 1}, codes)

tap.done()
