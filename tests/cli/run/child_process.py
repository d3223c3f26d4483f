"""run: where a kernel crashes, ends its process or does not return, the status is 1, the report names
core and op, no result is written, and no temporary file or process is left."""

import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import CALL, CRASHED, OWN, build, check, check_harmless, processes, run

KERNELS = {
    "exit": ("exit(0);", ["skirc: a sub-kernel has called exit", CALL]),
    "leave": ("_exit(0);", [r"skirc: a kernel of launch g_s has ended its process \(exit status 0\)"]),
    "abort": ("abort();", [r"skirc: a sub-kernel crashed \(signal 6\)", CALL]),
    "kill": ("kill(getpid(), SIGKILL); pause();",
             [r"skirc: a kernel of launch g_s has ended its process \(signal 9\)"]),
    "segfault": ("*(volatile int *)8 = 1;", [r"skirc: a sub-kernel crashed \(signal 11\)", CALL]),
    "division": ("volatile int zero = 0; y[0] = 7 / zero;", [r"skirc: a sub-kernel crashed \(signal 8\)", CALL]),
    "freeing": ("free(y);", [r"skirc: .*(crashed|ended)"]),
    "before": ("y[-1] = 77;", [r"Own", r"\[wrong-kernel\]"]),
}
for name, (body, texts) in KERNELS.items():
    if name != "division" or os.uname().machine == "x86_64":
        check(f"a kernel that does: {body}", build(name, OWN % body), texts)

THREAD = "static void *work(void *unused) { %s return unused; }\n" + OWN % (
    "pthread_t thread; pthread_create(&thread, 0, work, 0); pthread_join(thread, 0);")
check("a crash in a thread that a kernel waits for", build("thread_crash", THREAD % "*(volatile int *)8 = 1;"),
      [r"skirc: a sub-kernel crashed \(signal 11\), in a thread that is no core's"])
check_harmless("a kernel may have threads", build("joined", THREAD % ""))
for end, status in ("exit(3);", 3), ("*(volatile int *)8 = 1;", -11):
    check_harmless(f"a kernel may have processes, here one that does: {end}", build("waiting", OWN % """int status, pid = fork();
        if (pid == 0) { %s }
        waitpid(pid, &status, 0);
        if ((WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)) != %d) abort();"""
                                                                             % (end, status)))
for size in 270000, 1500000, 60000000:
    check(f"a kernel that has {size} bytes on its stack, and touches the lowest", build(
        f"frame_{size}", OWN % f"volatile char frame[{size}]; frame[16] = 1;"),
          [r"skirc: a sub-kernel crashed \(signal 11\)", r"in op Own\(%x, %y\)",
           "it touched what is below its stack, which has 256 KiB"])
done = subprocess.run(["sh", "-c", 'ulimit -v 2000000; exec "$@"', "sh", tap.SKIRC, "run", build("plain", OWN % ""), "-i", "x=1"],
                      capture_output=True, text=True)
tap.check("stacks are nearer to each other where addresses are limited", done.returncode == 0, done.stderr)
done = subprocess.run([tap.SKIRC, "run", "plain.skir", "-i", "x=1"], capture_output=True, text=True,
                      preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
tap.check("a caller may ignore the end of children", done.returncode == 0, done)

# ---- Time ----

SPINNING = build("spinning", OWN % "for (volatile int i = 0;; i++);")
check("a kernel that computes for ever", SPINNING, ["skirc: timeout", r"in op Own\(%x, %y\)"], "--timeout=1")
ENDLESS = build("endless", OWN % "for (;;) pause();")
check("a kernel that does not return", ENDLESS, ["skirc: timeout", r"aiv 2: running at `call @k args %y blocks 4`; in op Own\(%x, %y\)"], "--timeout=1")
check("another program in the place of the process", build("replaced", OWN % (
    'execl("/bin/sleep", "sleep", "60", (char *)0);')),
      ["skirc: timeout: a kernel of launch g_s does not return"], "--timeout=1")

# ---- Code that runs before and after launches ----

LINKED = "__attribute__((%s)) static void around(void) { %s }\n"
for kind in "constructor", "destructor":
    for name, body, how in (("crashing", "*(volatile int *)8 = 1;", CRASHED),
                            ("leaving", "_exit(0);", "exit status 0")):
        name = f"{kind}_{name}"
        check(f"a {kind} that does: {body}", build(name, LINKED % (kind, body) + OWN % ""),
              [rf"skirc: a {kind} of '{name}\.o'.* has ended its process \({how}\)"])
check("a constructor that does not return", build("endless_constructor", LINKED % (
    "constructor", "for (;;) pause();") + OWN % ""),
      [r"skirc: timeout: a constructor of 'endless_constructor\.o'.* does not return"], "--timeout=1")

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
                           ("hanging", "fflush(stdout); for (;;) pause();", 1)):
    path = build(f"printing_{name}", PRINT % body)
    for flags in ("--json",), ("--json=-",), ("--json", "--in-process"):
        if "--in-process" in flags and name in ("crashing", "leaving"):
            continue  # there is no process left that could write any
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

# ---- Signals ----

for number in signal.SIGTERM, signal.SIGINT, signal.SIGKILL:
    process = subprocess.Popen([tap.SKIRC, "run", ENDLESS, "--timeout=0"], stderr=subprocess.DEVNULL)
    time.sleep(1)
    process.send_signal(number)
    status = process.wait(10)
    for _ in range(100):
        if not processes():
            break
        time.sleep(0.05)
    tap.check(f"{number.name} ends it, and the process of the kernels", status == -number and not processes(),
              f"{status} {processes()}")

# ---- In one process ----

done = tap.skirc("run", ENDLESS, "--timeout=1", "--in-process", "--json=here.json")
with open("here.json") as file:
    told = json.load(file)
tap.check("in one process, a kernel that does not return is reported, in JSON, too", done.returncode == 1 and
          "skirc: timeout" in done.stderr and told["status"] == 1 and told["failure"].startswith("timeout"), done)

tap.done()
