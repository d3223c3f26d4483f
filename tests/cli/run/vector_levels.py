"""Vector levels: SKRT_VECTORS says what kernels take at most, and all of them give the same bits."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

CC = os.environ.get("CC", "cc").split() or ["cc"]
INCLUDES = ["-I" + os.path.join(tap.SOURCE, folder) for folder in ("backend/runtime", "ir/core")]
LEVELS = ["base", "avx2", "avx512", "vnni"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def run(path, level, *arguments):
    """With so much in the environment; None: nothing."""
    os.environ.pop("SKRT_VECTORS", None)
    if level is not None:
        os.environ["SKRT_VECTORS"] = level
    return tap.skirc("run", path, "--repeat=0", *arguments)


# ---- What kernels are told ----

write("tell.c", """#include "skrt.h"

void tell(skrt_core *core, uint64_t offset)
{
    *(int32_t *)skrt_args(core, offset)[1] = skrt_vector_level();
}
""")
subprocess.run([*CC, "-c", "-fPIC", "-O1", *INCLUDES, "tell.c", "-o", "tell.o"], check=True)
write("tell.skir", """skir 1

kernel @tell : aiv_only {
  op = "Tell", block = 1, object = "tell.o", function = "tell", params = [x, y]
}

graph @g(%x: i32[1]) -> i32[1] {
  %y = Tell(%x) : i32[1] via @tell
  return %y
}
""")


def told(level):
    """The level's number, or what was printed."""
    done = run("tell.skir", level, "--print=y")
    lines = done.stdout.split("\n")
    found = [line.strip(" []") for line in lines if line.startswith("  [")]
    return int(found[0]) if done.returncode == 0 and found else done.stdout + done.stderr


widest = told(None)
tap.check("without SKRT_VECTORS it is what the machine has", widest in range(len(LEVELS)),
          str(widest))
for number, level in enumerate(LEVELS):
    found = told(level)
    tap.check(f"SKRT_VECTORS={level} is the most", found == min(number, widest), str(found))
for other in "", "AVX2", "sse":
    found = told(other)
    tap.check(f"SKRT_VECTORS='{other}' is as if there were none", found == widest, str(found))

# ---- The same bits ----

write("all.skir", """skir 1

graph @g(%a: f32[150, 130], %b: f32[130, 200], %h: bf16[150, 130], %w: bf16[200, 130], %i: i8[70, 300],
         %j: i8[300, 140], %s: f32[140])
    -> (f32[150, 200], bf16[150, 200], f16[70, 140], f32[150, 200], f32[150, 200], f32[150, 200]) {
  %p = MatMul(%a, %b) : f32[150, 200]
  %q = MatMul(%h, %w) {transpose_x2} : bf16[150, 200]
  %r = QuantBatchMatmulV3(%i, %j, %s) : f16[70, 140]
  %t = Softmax(%p) : f32[150, 200]
  %u = Pows(%t, %p) : f32[150, 200]
  %v = Swish(%p) : f32[150, 200]
  return %p, %q, %r, %t, %u, %v
}
""")


def results(level):
    """The files of all results, or what was printed."""
    names = "pqrtuv"
    done = run("all.skir", level, *(f"--output={name}={name}.npy" for name in names))
    if done.returncode != 0:
        return done.stdout + done.stderr
    files = []
    for name in names:
        with open(f"{name}.npy", "rb") as file:
            files.append(file.read())
    return files


base = results("base")
tap.check("kernels run at the lowest level", isinstance(base, list), str(base))
for level in LEVELS[1:]:
    found = results(level)
    differ = found if isinstance(found, str) else [
        name for name, one, other in zip("pqrtuv", base, found) if one != other]
    tap.check(f"results are the same with {level}", not differ, str(differ))

tap.done()
