"""What tests of commands that do not come to their end begin with: two modules, one with a kernel
of its own, and outputs as they were. Of files in the current folder, outputs begin with "out"."""

import os
import shutil
import subprocess

import tap
from tap import read, write

CC = os.environ.get("CC", "cc").split() or ["cc"]
# Without its launcher, which has files and processes of its own.
COMPILER = shutil.which(CC[-1] if "ccache" in CC[0] else CC[0]) or "cc"

ADD = """skir 1
graph @g(%x: f32[16], %y: f32[16]) -> f32[16] {
  scope @s {
    %a = Add(%x, %y) : f32[16]
    %b = Add(%a, %y) : f32[16]
  }
  return %b
}
"""
OWN = """skir 1
kernel @k : aiv_only { op = "Own", block = 2, object = "k.o", function = "own", params = [x, y] }
graph @g(%x: f32[4]) -> f32[4] {
  scope @s {
    %y = Own(%x) : f32[4] via @k
  }
  return %y
}
"""
KERNEL = """#include "skrt.h"
static int made;
__attribute__((constructor)) static void make(void) { made = 1; }
void own(skrt_core *core, uint64_t offset)
{
    const uint64_t *args = skrt_args(core, offset);
    if (skrt_block_idx(core) == 0)
        for (int i = 0; i < 4; i++)
            ((float *)args[1])[i] = ((const float *)args[0])[i] + (float)made;
}
"""


def write_modules(*flags):
    """add.skir, and own.skir with its object k.o, which has a constructor: the system's linker and
    loader are needed for it. The compiler gets the flags, too."""
    includes = ["-I" + os.path.join(tap.SOURCE, folder) for folder in ("backend/runtime", "ir/core")]
    write("add.skir", ADD)
    write("own.skir", OWN)
    write("k.c", KERNEL)
    subprocess.run([*CC, "-c", *flags, "-fPIC", "-O1", *includes, "k.c", "-o", "k.o"], check=True)


def start_anew(outputs):
    """The files that a command may write, as they are before it: {path: text}."""
    for path in os.listdir("."):
        if path.startswith("out"):
            os.unlink(path) if os.path.isfile(path) else shutil.rmtree(path)
    for path, text in outputs.items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write(path, text)


def listing():
    return {os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names}
