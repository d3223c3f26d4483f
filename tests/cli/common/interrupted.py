"""Commands that a signal ends, at any system call, leave nothing behind, and no output that is
neither the old one nor the new one.

A few calls of each command are tried; `make torture` tries all (`interrupted.py --all`).
"""

import glob
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from cut_off import CC, COMPILER, listing, read, start_anew, write, write_modules

ALL = "--all" in sys.argv
SAMPLES = 10
BEHIND = 160
CANNOT_TRACE = 125
SIGNALS = signal.SIGTERM, signal.SIGINT, signal.SIGHUP
SKIRC = shutil.which(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
os.mkdir("tmp")
os.environ["TMPDIR"] = os.path.abspath("tmp")
os.environ["CC"] = COMPILER
os.environ["CCACHE_DISABLE"] = "1"

HARNESS = os.path.join(tap.SOURCE, "tests", "kill_at.c")
subprocess.run([*CC, "-O1", HARNESS, "-o", "kill_at"], check=True)

write_modules()
WRONG = "//! opt\n//! nothing is done\n" + read("add.skir").decode() + "//! expect\nskir 1\n"


def kill_at(number, n, command):
    done = subprocess.run(["./kill_at", str(int(number)), str(n), SKIRC, *command],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    return done.returncode, int(done.stdout.split()[-1]) if done.stdout else 0


def wrong_after(status, number, before, new):
    """What is wrong behind a command that was to be killed."""
    if os.listdir("tmp"):
        return f"in TMPDIR: {os.listdir('tmp')}"
    for path in new:
        old = before[path].encode() if path in before else None
        if old is not None and not os.path.exists(path):
            return f"{path} is gone"
        if os.path.exists(path) and read(path) not in (old, new[path]):
            return f"{path} is damaged"
    extra = listing() - known - {"./" + path for path in new}
    if extra:
        return f"left behind: {sorted(extra)}"
    if status not in (0, 1, -number):
        return f"the status is {status}"
    return None


def torture(claim, command, outputs, stays=False):
    """`outputs`: files that the command writes, with what they have before. `stays`: the process
    that is in the call does not end by itself; the calls are those behind the run."""
    before = {path: text for path, text in outputs.items() if text is not None}
    start_anew(before)
    status, calls = kill_at(0, 0, command)
    if status == CANNOT_TRACE:
        tap.skip(claim, "processes cannot be traced")
        return
    new = {path: read(path) for path in outputs}
    places = range(1, calls + 1) if ALL else range(calls - BEHIND, calls, BEHIND // SAMPLES) if stays else \
        range(3, calls, max(1, calls // SAMPLES))
    killed, wrong = 0, []
    for i, n in enumerate(places):
        number = SIGNALS[i % len(SIGNALS)]
        start_anew(before)
        status, _ = kill_at(-number if stays else number, n, command)
        killed += status == -number
        problem = wrong_after(status, number, before, new)
        if problem:
            wrong.append(f"signal {int(number)} at call {n} of {calls}: {problem}")
            shutil.rmtree("tmp")
            os.mkdir("tmp")
    print(f"# {claim}: {len(places)} of {calls} calls, {killed} times it ended by the signal")
    tap.check(claim, status != 127 and not wrong and killed, "\n".join(wrong[:20]) or "never killed")


known = listing()
torture("compile", ["compile", "add.skir", "-o", "out.o", "--emit=obj"], {"out.o": "old"})
torture("compile, to a new file", ["compile", "add.skir", "-o", "out.o"], {"out.o": None})
torture("run with the system's loader",
        ["run", "own.skir", "-i", "x=1", "-oy=out.npy", "--repeat=0", "--threads=1"],
        {"out.npy": "old"})
torture("run", ["run", "add.skir", "-i", "x=1", "-i", "y=1", "-ob=out.npy", "--repeat=2",
                "--compare=unfused"], {"out.npy": None})
torture("run, with processes that are slow to end",
        ["run", "add.skir", "-i", "x=1", "-i", "y=1", "-ob=out.npy", "-oa=out2.npy", "--repeat=0"],
        {"out.npy": "old", "out2.npy": None}, stays=True)
torture("test --bless", ["test", "--bless", "-j2", "outs"],
        {"outs/a.skir": WRONG, "outs/b.skir": WRONG})

# ---- A file that grows too large ----

start_anew({"out.o": "old"})
done = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$0" "$@"', SKIRC, "compile", "add.skir",
                       "-o", "out.o"], capture_output=True, text=True)
tap.check("an output above the limit of files is an error", done.returncode == 1
          and "File too large" in done.stderr, f"{done.returncode} {done.stderr}")
tap.check("  and leaves the old one, and nothing else",
          read("out.o") == b"old" and not listing() - known - {"./out.o"}, listing())

# ---- Tools that do not end ----

write("slow", "#!/bin/sh\ntrap 'rm -f \"$TMPDIR/mine\"; exit 1' TERM\necho begun > \"$TMPDIR/mine\"\n"
      "while :; do sleep 0.1; done\n")
os.chmod("slow", 0o755)
os.environ["CC"] = os.path.abspath("slow")
os.environ["SKIR_TOOL_TIMEOUT"] = "1"
done = tap.skirc("run", "own.skir", timeout=30)
tap.check("a compiler that does not end is ended", done.returncode == 4 and
          "takes longer than 1 seconds: SKIR_TOOL_TIMEOUT allows no more" in done.stderr, done.stderr)
tap.check("  it may clean up, and nothing is left", not os.listdir("tmp"), os.listdir("tmp"))

# ---- Signals that end a process, but for those of real time ----

os.environ["SKIR_TOOL_TIMEOUT"] = "100"
KEPT = (signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT, signal.SIGCHLD,
        signal.SIGURG, signal.SIGWINCH, signal.SIGXFSZ)
for number in sorted(number for number in signal.valid_signals() - set(KEPT) if number < signal.SIGRTMIN):
    running = subprocess.Popen([SKIRC, "run", "own.skir"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    while running.poll() is None and not glob.glob("tmp/**/mine", recursive=True):
        time.sleep(0.01)
    running.send_signal(number)
    status = running.wait(60)
    tap.check(f"signal {int(number)} leaves nothing behind", status == -number and not os.listdir("tmp"),
              f"status {status}, {os.listdir('tmp')}")
    shutil.rmtree("tmp")
    os.mkdir("tmp")

tap.done()
