"""What tests of kernels that do what they like to their process begin with: a kernel in C whose third
block does it, and what is to be so behind the run. In a temporary folder of its own."""

import json
import os
import re
import subprocess
import tempfile
import time

import tap

CC = os.environ.get("CC", "cc").split() or ["cc"]
# A sanitizer's handler of a crash ends the process with a status, as long as it is there.
CRASHED = "(signal 11|exit status 1)"
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
os.mkdir("tmp")
os.environ["TMPDIR"] = os.path.abspath("tmp")
os.environ["LC_ALL"] = "C"


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


HEAD = """#define _GNU_SOURCE
#include "skrt.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
"""
OWN = """
void own(skrt_core *core, uint64_t offset)
{
    float *y = (float *)skrt_args(core, offset)[1];
    if (skrt_block_idx(core) == 0)
        for (int i = 0; i < 4; i++)
            y[i] = 1;
    if (skrt_block_idx(core) == 2) {
        %s
    }
}
"""
MODULE = """skir 1
kernel @k : aiv_only { op = "Own", block = 4, object = "%s.o", function = "own", params = [x, y] }
graph @g(%%x: f32[4]) -> f32[4] {
  scope @s {
    %%y = Own(%%x) : f32[4] via @k
    %%z = Relu(%%y) : f32[4]
  }
  return %%z
}
"""
INCLUDES = ["-I" + os.path.join(tap.SOURCE, folder) for folder in ("backend/runtime", "ir/core")]


def build(name, source, module=MODULE):
    write(f"{name}.c", HEAD + source)
    subprocess.run([*CC, "-c", "-fPIC", "-O0", "-fno-stack-protector", "-w", *INCLUDES,
                    f"{name}.c", "-o", f"{name}.o"], check=True)
    write(f"{name}.skir", module % name)
    return f"{name}.skir"


def processes():
    """Of this session, what has the mark that is given to skirc."""
    found = []
    for pid in os.listdir("/proc"):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if os.environ["TMPDIR"].encode() in file.read() and int(pid) != os.getpid():
                    found.append(pid)
        except (OSError, ValueError):
            pass
    return found


def run(name, *arguments):
    with open("kept.npy", "w") as file:
        file.write("kept")
    start = time.monotonic()
    done = tap.skirc("run", name, "-i", "x=1", "--threads=2", "-oz=kept.npy", "-oy=new.npy",
                     *arguments)
    return done, time.monotonic() - start


def check_json(name, texts):
    """run.json says what was said, however the process has ended."""
    try:
        with open("run.json") as file:
            run = json.load(file)
        os.unlink("run.json")
    except (OSError, ValueError) as error:
        tap.check("  it is told as JSON", False, error)
        return
    said = "\n".join(["skirc: " + run.get("failure", ""), *run.get("reports", []),
                      *(diag["text"] for diag in run["diagnostics"])])
    missing = [text for text in texts if not re.search(text, said) and "[" + "wrong" not in text]
    tap.check("  it is told as JSON", run["status"] == 1 and run["file"] == name
              and ("failure" in run or run["diagnostics"]) and not missing,
              f"no match for {missing} in {json.dumps(run)}")


def check(claim, name, texts, *arguments, most=20):
    done, seconds = run(name, "--json=run.json", *arguments)
    missing = [text for text in texts if not re.search(text, done.stderr)]
    tap.check(claim, done.returncode == 1 and not missing and seconds < most,
              f"status {done.returncode}, {seconds:.1f} s, no match for {missing} in:\n"
              f"{done.stdout}{done.stderr}")
    check_json(name, texts)
    left = (os.listdir("tmp"), processes())
    with open("kept.npy", "rb") as file:
        same = file.read() == b"kept" and not os.path.exists("new.npy")
    tap.check("  no result is written, and nothing is left behind", same and left == ([], []),
              f"results as they were: {same}, left: {left}")


CALL = r"launch g_s: aiv 2 at `call @k args %y blocks 4`; in op Own\(%x, %y\)"


def check_harmless(claim, name, *arguments):
    """The run is as if the kernel had not done it."""
    done, seconds = run(name, *arguments)
    tap.check(claim, done.returncode == 0 and seconds < 20 and os.path.exists("new.npy"),
              f"status {done.returncode}, {seconds:.1f} s: {done.stdout}{done.stderr}")
    left = (os.listdir("tmp"), processes())
    tap.check("  nothing is left behind", left == ([], []), left)
    if os.path.exists("new.npy"):
        os.unlink("new.npy")
