"""run: whatever kernels do to their process, the status is 1, the report names core and op, results
are not written, and nothing is left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import CALL, CRASHED, OWN, build, check, processes, run

KERNELS = {
    "exit": ("exit(0);", ["skirc: a sub-kernel has called exit", CALL]),
    "leave": ("_exit(0);", [r"skirc: a sub-kernel has ended its process \(exit status 0\)", CALL]),
    "system_call": ("syscall(SYS_exit_group, 7);", [r"ended its process \(exit status 7\)", CALL]),
    "quick": ("quick_exit(0);", [r"ended its process \(exit status 0\)", CALL]),
    "abort": ("abort();", [r"skirc: a sub-kernel crashed \(signal 6\)", CALL]),
    "kill": ("kill(getpid(), SIGKILL); pause();", [r"ended its process \(signal 9\)", CALL]),
    "terminate": ("kill(getpid(), SIGTERM); pause();", [r"ended its process \(signal 15\)", CALL]),
    "execute": ('execl("/bin/true", "true", (char *)0);',
                [r"ended its process \(exit status 0\)", CALL]),
    "raise": ("raise(SIGTERM);", [r"ended its process \(signal 15\)", CALL]),
    "piped": ("raise(SIGPIPE);", [r"ended its process \(signal 13\)", CALL]),
    "replaced": ('execl("/bin/sleep", "sleep", "60", (char *)0);',
                 [r"skirc: a sub-kernel has started another program in the place of its process",
                  CALL]),
    "silent": ("close(1); close(2); *(volatile int *)8 = 1;", [r"crashed \(signal 11\)", CALL]),
    "unmapped": ("munmap((void *)((uintptr_t)core & ~4095ul), 4096); *(volatile int *)8 = 1;",
                 [r"ended its process|crashed", CALL]),
    "limited": ("signal(SIGXCPU, SIG_DFL); raise(SIGXCPU); kill(getpid(), SIGXCPU); pause();",
                [r"ended its process \(signal 24\)", CALL]),
}
for name, (body, texts) in KERNELS.items():
    check(f"a kernel that does: {body}", build(name, OWN % body), texts)

for streams, first in (("0", "input"), ("1", "output"), ("2", "error"), ("1 2", "output"),
                       (" ".join(map(str, range(1000))), "input")):
    body = "for (int i = %s; i <= %s; i++) close(i);" % (streams.split()[0], streams.split()[-1])
    check(f"a kernel that does: {body}", build("closing", OWN % body),
          [f"skirc: the kernel of Own %y has closed standard {first}"])
check("a kernel that puts a file in the place of a stream", build("duplicating", OWN %
      "dup2(0, 1);"), ["skirc: the kernel of Own %y has closed standard output"], "--threads=1")

# A program that is skirc itself is not seen to be another one; its standard input does not end.
path = build("again", OWN % 'execl(getenv("SKIRC"), "skirc", "fmt", "-", (char *)0);')
reader, writer = os.pipe()
done = subprocess.run([tap.SKIRC, "run", path, "-i", "x=1", "--threads=2", "--timeout=1"],
                      stdin=reader, capture_output=True, text=True, timeout=60)
os.close(reader)
os.close(writer)
tap.check("a process that does not tell of its timeout is ended", done.returncode == 1 and
          "skirc: timeout: a sub-kernel does not return\n" in done.stderr and
          re.search(CALL, done.stderr), f"{done.returncode} {done.stderr}")

path = build("stopped", OWN % "kill(getpid(), SIGSTOP);")
done, seconds = run(path)
tap.check("a kernel that stops its process goes on", done.returncode == 0 and seconds < 20,
          done.stderr)
os.unlink("new.npy")

# ---- What outlives the launch ----

FORK = "if (fork() == 0) { %s for (;;) sleep(1); }"
LEFT = ["skirc: the kernel of Own %y has left a process running"]
check("a kernel that forks", build("forking", OWN % (FORK % "")), LEFT)
check("a kernel that forks away", build("daemon", OWN % (
    "if (fork() == 0) { setsid(); if (fork()) _exit(0); for (;;) sleep(1); }")), LEFT)
check("a kernel that leaves a thread", build("thread", """
static void *work(void *unused) { for (;;) usleep(1000); }
""" + OWN % "pthread_t thread; pthread_create(&thread, 0, work, 0);"),
      ["skirc: the kernel of Own %y has left a thread running"])
path = build("joined", """
static void *work(void *unused) { return unused; }
""" + OWN % "pthread_t thread; pthread_create(&thread, 0, work, 0); pthread_join(thread, 0);")
done, _ = run(path)
tap.check("a kernel may have threads that it waits for", done.returncode == 0, done.stderr)
os.unlink("new.npy")

# What ends soon has run behind the launch all the same.
LATE = "static void *late(void *y) { usleep(30000); *(float *)y = 9; return 0; }\n"
SOON = "skirc: (the kernel of Own %y|a kernel) has left a "
check("a kernel whose thread ends soon", build("late", LATE + OWN % (
    "pthread_t thread; pthread_create(&thread, 0, late, y); pthread_detach(thread);")),
      [SOON + "thread running", "Own %y"], "--repeat=0")
check("a kernel whose process in its memory ends soon", build("late_process", LATE + """
#include <sched.h>
static int late_process(void *y) { late(y); _exit(0); }
""" + OWN % "clone(late_process, (char *)malloc(65536) + 65536, CLONE_VM | SIGCHLD, y);"),
      [SOON + "process running", "Own %y"], "--repeat=0")
many = build("joined_many", """
static void *work(void *unused) { return unused; }
""" + OWN % """pthread_t threads[50];
        for (int i = 0; i < 50; i++)
            pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 50; i++)
            pthread_join(threads[i], 0);
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, 0, 0);""")
done, _ = run(many, "--repeat=100")
tap.check("threads and processes that are waited for are never taken for running ones",
          done.returncode == 0, done.stderr)
os.unlink("new.npy")

with open("/proc/sys/vm/max_map_count") as file:
    most = int(file.read())
if most < 1 << 20:
    for flags in ("--check-kernels",), ("--compare=unfused",), ("--repeat=0",):
        check("a kernel that uses up the mappings of its process " + flags[0], build("mappings", OWN % (
            "for (int i = 0; mmap(0, 4096, i & 1 ? 3 : 1, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; i++);")),
              ["skirc: (the kernel of Own %y|a kernel) has used up what memory its process can map", "Own %y"],
              *flags)
else:
    tap.skip("a kernel that uses up the mappings of its process", "there may be too many")

check("a crash in a thread that a kernel waits for", build("thread_crash", """
static void *work(void *unused) { *(volatile int *)8 = 1; return unused; }
""" + OWN % "pthread_t thread; pthread_create(&thread, 0, work, 0); pthread_join(thread, 0);"),
      [r"skirc: a sub-kernel crashed \(signal 11\), in a thread that is no core's", CALL])
for end, status in ("exit(3);", 3), ("*(volatile int *)8 = 1;", -11):
    path = build("waiting", OWN % """int status, pid = fork();
        if (pid == 0) { %s }
        waitpid(pid, &status, 0);
        if ((WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)) != %d) abort();"""
                 % (end, status))
    done, _ = run(path)
    tap.check(f"a kernel may have processes that it waits for, here one that does: {end}",
              done.returncode == 0 and not done.stderr,
              f"{done.returncode} {done.stdout}{done.stderr}")
    os.unlink("new.npy")

# ---- Functions for the end ----

path = build("atexit", """
static void say(void) { write(1, "it has run\\n", 11); }
""" + OWN % "static int once; if (!once++) atexit(say);")
done, _ = run(path)
tap.check("atexit runs when the code is unloaded", done.returncode == 0
          and done.stdout.count("it has run\n") == 1, f"{done.returncode} {done.stdout}{done.stderr}")
os.unlink("new.npy")
path = build("on_exit", """
static void say(int status, void *unused) { write(1, "it has run\\n", 11); }
""" + OWN % "on_exit(say, 0);")
done, _ = run(path)
tap.check("on_exit is refused", done.returncode == 1 and "undefined symbol: on_exit" in done.stderr
          and "kernels cannot use on_exit" in done.stderr, done.stderr)

# ---- What kernels print ----

PRINT = "#include <stdio.h>\n" + OWN % 'write(1, "written\\n", 8); printf("printed\\n"); %s'
for name, body, status in (("good", "", 0), ("crashing", "*(volatile int *)8 = 1;", 1),
                           ("leaving", "fflush(stdout); _exit(0);", 1),
                           ("hanging", "fflush(stdout); for (volatile int i = 0;; i++);", 1),
                           ("wrong", "((uint64_t *)skrt_args(core, offset))[0] ^= 1;", 1)):
    path = build(f"printing_{name}", PRINT % body)
    for flags in ("--json",), ("--json=-",), ("--json", "--in-process"):
        if "--in-process" in flags and status:
            continue  # there is nobody who writes any
        done, _ = run(path, "--repeat=2", "--timeout=1", *flags)
        try:
            said = json.loads(done.stdout)["status"]
        except ValueError as error:
            said = error
        tap.check(f"JSON on standard output is that alone, {name}: {' '.join(flags)}",
                  said == done.returncode == status and "written\n" in done.stderr,
                  f"{done.returncode} {said}: {done.stdout}{done.stderr}")
    if status == 0:
        done, _ = run(path, "--repeat=2")
        tap.check("  without it, they print there", done.stdout.count("written\n") == 3
                  and "written" not in done.stderr, done)
        os.unlink("new.npy")

# ---- Memory that is not the kernel's ----

check("a kernel that writes before its result", build("before", OWN % "y[-1] = 77;"),
      [r"op Own\(%x, %y\)|Own", r"\[wrong-kernel\]"])
check("a kernel that frees what is not its own", build("freeing", OWN % "free(y);"),
      [r"skirc: .*(crashed|ended)"])

for size in 270000, 300000, 1200000, 1500000, 20000000, 60000000:
    check(f"a kernel that has {size} bytes on its stack, and touches the lowest", build(
        f"frame_{size}", OWN % f"volatile char frame[{size}]; frame[16] = 1;"),
          [r"skirc: a sub-kernel crashed \(signal 11\)", r"in op Own\(%x, %y\)",
           "it touched what is below its stack, which has 256 KiB"])
done = subprocess.run(["sh", "-c", 'ulimit -v 2000000; exec "$@"', "sh", tap.SKIRC, "run", build("plain", OWN % ""), "-i", "x=1"],
                      capture_output=True, text=True)
tap.check("stacks are nearer to each other where addresses are limited", done.returncode == 0, done.stderr)

# ---- Code beside launches ----

LINKED = "__attribute__((%s)) static void beside(void) { %s }\n"
for kind in "constructor", "destructor":
    for name, body, how in (("crashing", "*(volatile int *)8 = 1;", CRASHED),
                            ("leaving", "_exit(0);", "exit status 0")):
        name = f"{kind}_{name}"
        source = LINKED % (kind, body) + OWN % ""
        check(f"a {kind} that does: {body}", build(name, source),
              [rf"skirc: a {kind} of '{name}\.o'.* has ended its process \({how}\)"])

check("a constructor that does not return", build("endless_constructor", LINKED % (
    "constructor", "for (volatile int i = 0;; i++);") + OWN % ""),
      [r"skirc: a constructor of 'endless_constructor\.o'.* does not return"], "--timeout=1")

# What a run has left is what it was when the last launch ended.
LATE = "static float *own_y, *own_x; static void late(void) { if (own_y) own_y[2] = own_x[1] = 7; }\n"
KEEP = OWN % "own_y = y, own_x = (float *)skrt_args(core, offset)[0]; %s"
for name, source in (
        ("destructor", LATE + KEEP % "" + "__attribute__((destructor)) static void l(void) { late(); }"),
        ("atexit", LATE + KEEP % "static int is; if (!is) atexit(late); is = 1;")):
    path = build(f"late_{name}", source)
    for flags in ("--repeat=0",), ("--repeat=0", "--compare=unfused"), ("--repeat=0", "--check-kernels"):
        check(f"results that change behind the last launch: {name}, {' '.join(flags)}", path,
              ["a destructor of kernels, or what they have left to 'atexit', has changed '%y', which the run "
               "has left"], *flags)
    for option in "--print=y", "--expect=y=1":
        done = tap.skirc("run", path, "-i", "x=1", "--repeat=0", option)
        tap.check(f"  asked for by {option}", done.returncode == 1 and not done.stdout
                  and "has changed '%y'" in done.stderr, done)
    done = tap.skirc("run", path, "-i", "x=1", "--repeat=0", "-oz=z.npy")
    tap.check("  which others are not", done.returncode == 0 and not done.stderr, done)

# ---- Signals from outside ----

path = build("endless", OWN % "for (volatile int i = 0;; i++);")
for number in signal.SIGTERM, signal.SIGINT, signal.SIGKILL:
    process = subprocess.Popen([tap.SKIRC, "run", path, "--timeout=0"], stderr=subprocess.DEVNULL)
    time.sleep(1)
    process.send_signal(number)
    status = process.wait(10)
    for _ in range(100):
        if not processes():
            break
        time.sleep(0.05)
    tap.check(f"{number.name} ends it, and all that it has started",
              status == -number and not processes(), f"{status} {processes()}")

path = build("deaf", "#include <stdio.h>\n" + OWN % """
        signal(SIGTERM, SIG_IGN), signal(SIGINT, SIG_IGN), signal(SIGHUP, SIG_IGN);
        fclose(fopen("deaf", "w"));
        for (volatile int i = 0;; i++);""")
for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
    if os.path.exists("deaf"):
        os.unlink("deaf")
    process = subprocess.Popen([tap.SKIRC, "run", path, "--timeout=0"], stderr=subprocess.DEVNULL)
    while not os.path.exists("deaf"):
        time.sleep(0.01)
    process.send_signal(number)
    try:
        status = process.wait(1.5)
    except subprocess.TimeoutExpired:
        status = "late"
    process.kill()
    tap.check(f"{number.name} ends it soon also where a kernel ignores that",
              status == -number and not processes(), f"{status} {processes()}")

path = build("endless", OWN % "for (volatile int i = 0;; i++);")
done = subprocess.run(f"{tap.SKIRC} run {path} --timeout=1 --in-process", shell=True,
                      capture_output=True, text=True)
tap.check("in one process, a kernel that does not return is reported, too",
          done.returncode == 1 and "skirc: timeout" in done.stderr, done.stderr)
for path, said in ((path, "timeout"), (build("moving", OWN % 'chdir("/");'), "the kernel of Own %y has changed the folder")):
    for flag in "--json=here.json", "--json":
        done = tap.skirc("run", path, "--timeout=1", "--repeat=0", "--in-process", flag)
        if flag != "--json":
            with open("here.json") as file:
                text = file.read()
            os.unlink("here.json")
        else:
            text = done.stdout
        told = json.loads(text or "{}")
        tap.check(f"  as JSON, too: {said}, {flag}", done.returncode == told.get("status") == 1
                  and told["failure"].startswith(said) and f"skirc: {said}" in done.stderr, f"{done.stderr}{text}")

tap.done()
