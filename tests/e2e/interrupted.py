"""Commands that a signal ends, at any system call, leave nothing behind, and no output that is
neither the old one nor the new one.

A few calls of each command are tried; `make torture` tries all (`interrupted.py --all`).
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

CC = os.environ.get("CC", "cc").split() or ["cc"]
ALL = "--all" in sys.argv
SAMPLES = 10
CANNOT_TRACE = 125
SIGNALS = signal.SIGTERM, signal.SIGINT, signal.SIGHUP
SKIRC = shutil.which(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
os.mkdir("tmp")
os.environ["TMPDIR"] = os.path.abspath("tmp")
# A compiler's launcher has files and processes of its own.
os.environ["CC"] = shutil.which(CC[-1] if "ccache" in CC[0] else CC[0]) or "cc"
os.environ["CCACHE_DISABLE"] = "1"


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


HARNESS = os.path.join(tap.SOURCE, "tests", "e2e", "kill_at.c")
subprocess.run([*CC, "-O1", HARNESS, "-o", "kill_at"], check=True)

write("k.c", """#include "skrt.h"
#include <stdio.h>
static int made;
__attribute__((constructor)) static void make(void) { made = 1; }
void own(skrt_core *core, uint64_t offset)
{
    const uint64_t *args = skrt_args(core, offset);
    if (skrt_block_idx(core) == 0)
        for (int i = 0; i < 4; i++)
            ((float *)args[1])[i] = ((const float *)args[0])[i] + (float)made;
}
""")
INCLUDES = ["-I" + os.path.join(tap.SOURCE, folder) for folder in ("backend/runtime", "ir")]
subprocess.run([*CC, "-c", "-fPIC", "-O1", *INCLUDES, "k.c", "-o", "k.o"], check=True)
# A kernel that the system's linker and loader are needed for: it has a constructor.
write("own.skir", """skir 1
kernel @k : aiv_only { op = "Own", block = 2, object = "k.o", function = "own", params = [x, y] }
graph @g(%x: f32[4]) -> f32[4] {
  scope @s {
    %y = Own(%x) : f32[4] via @k
  }
  return %y
}
""")
write("add.skir", """skir 1
graph @g(%x: f32[16], %y: f32[16]) -> f32[16] {
  scope @s {
    %a = Add(%x, %y) : f32[16]
    %b = Add(%a, %y) : f32[16]
  }
  return %b
}
""")
WRONG = "//! opt\n//! nothing is done\n" + read("add.skir").decode() + "//! expect\nskir 1\n"


def start_anew(outputs):
    """The files that a command may write, as they are before it."""
    for path in os.listdir("."):
        if path.startswith("out"):
            os.unlink(path) if os.path.isfile(path) else shutil.rmtree(path)
    for path, text in outputs.items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write(path, text)


def kill_at(number, n, command):
    done = subprocess.run(["./kill_at", str(int(number)), str(n), SKIRC, *command],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    return done.returncode, int(done.stdout.split()[-1]) if done.stdout else 0


def listing():
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(".")
                  for name in names)


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
    extra = set(listing()) - known - {"./" + path for path in new}
    if extra:
        return f"left behind: {sorted(extra)}"
    if status not in (0, 1, -number):
        return f"the status is {status}"
    return None


def torture(claim, command, outputs):
    """`outputs`: files that the command writes, with what they have before."""
    before = {path: text for path, text in outputs.items() if text is not None}
    start_anew(before)
    status, calls = kill_at(0, 0, command)
    if status == CANNOT_TRACE:
        tap.skip(claim, "processes cannot be traced")
        return
    new = {path: read(path) for path in outputs}
    places = range(1, calls + 1) if ALL else range(3, calls, max(1, calls // SAMPLES))
    killed, wrong = 0, []
    for i, n in enumerate(places):
        number = SIGNALS[i % len(SIGNALS)]
        start_anew(before)
        status, _ = kill_at(number, n, command)
        killed += status == -number
        problem = wrong_after(status, number, before, new)
        if problem:
            wrong.append(f"signal {int(number)} at call {n} of {calls}: {problem}")
            shutil.rmtree("tmp")
            os.mkdir("tmp")
    print(f"# {claim}: {len(places)} of {calls} calls, {killed} times it ended by the signal")
    tap.check(claim, status != 127 and not wrong and killed, "\n".join(wrong[:20]) or "never killed")


known = set(listing())
torture("compile", ["compile", "add.skir", "-o", "out.o", "--emit=obj"], {"out.o": "old"})
torture("compile, to a new file", ["compile", "add.skir", "-o", "out.o"], {"out.o": None})
torture("run with the system's loader",
        ["run", "own.skir", "-i", "x=1", "-oy=out.npy", "--repeat=0", "--threads=1"],
        {"out.npy": "old"})
torture("run", ["run", "add.skir", "-i", "x=1", "-i", "y=1", "-ob=out.npy", "--repeat=2",
                "--compare=unfused"], {"out.npy": None})
torture("test --bless", ["test", "--bless", "-j2", "outs"],
        {"outs/a.skir": WRONG, "outs/b.skir": WRONG})

# ---- A file that grows too large ----

start_anew({"out.o": "old"})
done = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$0" "$@"', SKIRC, "compile", "add.skir",
                       "-o", "out.o"], capture_output=True, text=True)
tap.check("an output above the limit of files is an error", done.returncode == 1
          and "File too large" in done.stderr, f"{done.returncode} {done.stderr}")
tap.check("  and leaves the old one, and nothing else",
          read("out.o") == b"old" and not set(listing()) - known - {"./out.o"}, listing())

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

tap.done()
