"""run: kernels that signal, stop, trace or outlive the processes around their own."""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import CALL, OWN, build, check, check_harmless

# ---- Stops ----

TRACED = "#include <sys/ptrace.h>\n"
for body in ("ptrace(PTRACE_TRACEME, 0, 0, 0);",
             "ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP);",
             "ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGCHLD);",
             "kill(getpid(), SIGSTOP);", "raise(SIGSTOP);", "raise(SIGTSTP);",
             "kill(getpid(), SIGTSTP);", "kill(getpid(), SIGTTIN);", "raise(SIGTTOU);",
             "kill(getppid(), SIGSTOP);", "kill(getppid(), SIGTSTP);"):
    check_harmless(f"a kernel that does: {body}", build("stops", TRACED + OWN % body))
check("a kernel that is traced and crashes", build("traced_crash", TRACED + OWN % (
    "ptrace(PTRACE_TRACEME, 0, 0, 0); *(volatile int *)8 = 1;")), [r"crashed \(signal 11\)", CALL])
check("a kernel that is traced and starts a program", build("traced_program", TRACED + OWN % (
    'ptrace(PTRACE_TRACEME, 0, 0, 0); execl("/bin/sleep", "sleep", "60", (char *)0);')),
      [r"skirc: a sub-kernel has (started another program|ended its process)", CALL])
check("a kernel that traces its parent", build("tracer", TRACED + OWN % (
    "if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) != 0) kill(getppid(), SIGKILL); for (;;) pause();")),
      [r"skirc: (timeout|.*has ended the process above its own)",
       r"at `call @k args %y blocks 4`; in op Own\(%x, %y\)"], "--timeout=1")

for above in ("getppid()", "above(getppid())"):
    for body in (f"if (ptrace(PTRACE_ATTACH, {above}, 0, 0) != 0) chdir(\"/\");",
                 f"if (ptrace(PTRACE_SEIZE, {above}, 0, 0) != 0 || ptrace(PTRACE_INTERRUPT, {above}, 0, 0) != 0) chdir(\"/\");"):
        check(f"a kernel that traces another process above and returns: {body}", build("tracer", TRACED + """
#include <stdio.h>
static pid_t above(pid_t pid)
{
    char path[64], line[256];
    int number = 0;
    sprintf(path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "r");
    while (fgets(line, sizeof line, file))
        sscanf(line, "PPid: %d", &number);
    fclose(file);
    return number;
}
""" + OWN % body), [r"skirc: a kernel has traced a process above its own \(ptrace\)|has changed the folder",
                    "it is one of Own %y, Relu %z|the kernel of Own %y"], most=3)

# A zombie whose tracer does not let it go is not seen to have ended.
TRACER = "if (fork() == 0) { ptrace(PTRACE_%s, %s, 0, 0); alarm(60); for (;;) pause(); } usleep(200000); %s"
for who, end in (("getppid()", ""), ("getppid()", "*(volatile int *)8 = 1;"), ("getppid()", "for (;;) pause();"),
                 (f"{{0}}", "for (;;) pause();")):
    for how in "ATTACH", "SEIZE":
        target = who if "{" not in who else "above"
        check(f"a kernel whose process traces {'it' if target != 'above' else 'what waits for it'} ({how}): {end}",
              build("traced", TRACED + OWN % ("int above = getppid(); " + TRACER % (how, target, end))),
              ["skirc: ", "Own"], "--timeout=1", "--repeat=0")

# ---- Processes above and beside ----

for name in "SIGKILL", "SIGTERM", "SIGINT", "SIGUSR1", "SIGSEGV":
    check(f"a kernel that sends {name} to its parent",
          build("parent", OWN % f"kill(getppid(), {name}); for (;;) pause();"),
          [r"skirc: a sub-kernel has ended the process above its own \(signal \d+\)", CALL])
for name, number in ("SIGKILL", 9), ("SIGTERM", 15):
    check(f"a kernel that sends {name} to its group",
          build("group", OWN % f"kill(0, {name}); for (;;) pause();"),
          [rf"skirc: a sub-kernel has ended its process \(signal {number}\)", CALL])
check("a kernel that is not to end with its parent", build("away", "#include <sys/prctl.h>\n" + OWN % (
    "prctl(PR_SET_PDEATHSIG, 0); kill(getppid(), SIGKILL); for (;;) pause();")),
      ["has ended the process above its own", CALL])

# ---- What outlives the run ----

CLONE = "if (syscall(SYS_clone, 0, 0, 0, 0, 0) == 0) for (alarm(60);;) sleep(1);"
check("a kernel that leaves a process of which nobody is told", build("silent_child", OWN % CLONE),
      ["skirc: the kernel of Own %y has left a process running"])
check("a kernel that makes a process which is none of its own", build("sibling", OWN % (
    "if (syscall(SYS_clone, 0x8000 | SIGCHLD, 0, 0, 0, 0) == 0) _exit(0); usleep(300000);")),
      ["skirc: a kernel has left a process behind", "calls that cores were in last:"], "--repeat=0")
DAEMON = "if (fork() == 0) { setsid(); if (fork()) _exit(0); for (alarm(60);;) sleep(1); }"
check("a kernel whose processes are not its own", build("unadopted", "#include <sys/prctl.h>\n" + OWN % (
    "prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); " + DAEMON)),
      ["skirc: (the kernel of Own %y|a kernel) has left a process (running|behind)"])
# Each ends by itself, too, and there are at most so many: a test that fails is to leave a machine
# that works.
check("a kernel whose processes make more", build("more", """
static _Atomic int *made;
""" + OWN % """made = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (fork() == 0)
            for (alarm(20);; usleep(100))
                if (++*made < 200 && fork() == 0)
                    alarm(20);"""),
      ["skirc: (the kernel of Own %y|a kernel) has left a process (running|behind)"])

done = subprocess.run([tap.SKIRC, "run", build("quiet", OWN % ""), "-i", "x=1"], capture_output=True,
                      text=True, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
tap.check("a caller who ignores the end of children", done.returncode == 0, done)

# ---- A terminal's stop ----


def states(pid):
    """Of a process and all below it."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                words = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if entry == str(pid):
            found.append(words[0])
        elif words[1] == str(pid):
            found += states(entry)
    return found


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return True
        time.sleep(0.01)
    return False


path = build("slow", "#include <stdio.h>\n" + OWN % (
    'fclose(fopen("begun", "w")); for (int i = 0; i < 100; i++) usleep(10000);'))
process = subprocess.Popen([tap.SKIRC, "run", path, "-i", "x=1", "--repeat=0"], preexec_fn=os.setpgrp,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
begun = wait_until(lambda: os.path.exists("begun"))
os.killpg(process.pid, signal.SIGTSTP)
stopped = wait_until(lambda: set(states(process.pid)) == {"T"})
tap.check("what stops skirc stops the process of the kernels, too", begun and stopped and
          len(states(process.pid)) == 3, states(process.pid))
os.killpg(process.pid, signal.SIGCONT)
error = process.communicate(timeout=60)[1]
tap.check("  and both go on", process.returncode == 0, error)

tap.done()
