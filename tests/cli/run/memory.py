"""Memory that ops share: a KV cache is updated in place while other streams read it, on the host."""

import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import npy, read, write

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

# Two steps of decoding. Each appends a key and reads all keys on another stream: by a view, the sum
# of the cache with itself. What the first step reads must not be what the second one writes.
CACHE = """skir 1
graph @decode(%kc: f32[4, 2], %i1: i32[1], %k1: f32[1, 2], %i2: i32[1], %k2: f32[1, 2]) -> (f32[8], f32[8], f32[4, 2]) {
  scope @s {options = "stream-fusion=1"} {
    stream "1" {
      %c1 = ScatterUpdate(%kc, %i1, %k1) : f32[4, 2]
    }
    stream "2" {
      %v1 = Reshape(%c1) : f32[8]
      %s1 = Add(%v1, %v1) : f32[8]
    }
    stream "1" {
      %c2 = ScatterUpdate(%c1, %i2, %k2) : f32[4, 2]
    }
    stream "3" {
      %v2 = Reshape(%c2) : f32[8]
      %s2 = Add(%v2, %v2) : f32[8]
    }
  }
  return %s1, %s2, %c2
}
"""


def floats(path):
    data = read(path)
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return list(struct.unpack(f"<{len(data) // 4}f", data))


write("kc.npy", npy("<f4", (4, 2), struct.pack("<8f", 0, 1, 2, 3, 4, 5, 6, 7)))
write("k1.npy", npy("<f4", (1, 2), struct.pack("<2f", 10, 11)))
write("k2.npy", npy("<f4", (1, 2), struct.pack("<2f", 20, 21)))
write("i1.npy", npy("<i4", (1,), struct.pack("<i", 1)))
write("i2.npy", npy("<i4", (1,), struct.pack("<i", 1)))
INPUTS = [f"--input={name}={name}.npy" for name in ("kc", "k1", "k2", "i1", "i2")]
OUTPUTS = [f"--output={name}={name}.out.npy" for name in ("kc", "c1", "c2", "v1", "s1", "s2")]

write("cache.skir", CACHE)
before = read("kc.npy")
done = tap.skirc("run", "cache.skir", "--compare=unfused", "--race-check", *INPUTS, *OUTPUTS)
tap.check("a cache that is updated in place runs as it does op by op, without a race",
          done.returncode == 0 and re.search(r"in 1 launch; unfused in 4 launches; bit-exact; race-free",
                                             done.stdout), done.stdout + done.stderr)
tap.check("the first reader sees the first update", floats("s1.out.npy") == [0, 2, 20, 22, 8, 10, 12, 14],
          floats("s1.out.npy"))
tap.check("the second one the second", floats("s2.out.npy") == [0, 2, 40, 42, 8, 10, 12, 14],
          floats("s2.out.npy"))
LAST = [0, 1, 20, 21, 4, 5, 6, 7]
tap.check("outputs are read at the end: all names of the memory have what is there then",
          all(floats(name + ".out.npy") == LAST for name in ("kc", "c1", "c2", "v1")),
          [floats(name + ".out.npy") for name in ("kc", "c1", "c2", "v1")])
tap.check("what was given is not written", read("kc.npy") == before)

# ---- The race that there would be ----

made = tap.skirc("compile", "--emit=skir", "cache.skir").stdout
tap.check("views are in no entry, and the four others are",
          made.count("call @scatter_update") == 2 and made.count("call @add") == 2, made)
racing = re.sub(r"    arrive aiv\n", "    pipe_barrier\n", made)
racing = re.sub(r"    await aiv\n", "", racing)
write("racing.skir", racing)
done = tap.skirc("run", "racing.skir")
tap.check("without its barriers the entry is refuted", done.returncode == 1 and "[sync-order]" in done.stderr,
          done.stderr)
done = tap.skirc("run", "racing.skir", "--unproven", "--race-check", *INPUTS)
tap.check("and its races are found: readers behind updates, and the update behind the reader before it",
          done.returncode == 1 and "race: 4 required orders are not enforced" in done.stderr
          and re.search(r"started ScatterUpdate\(%c1, .*\) without knowing that Add\(%v1, .*\) was complete",
                        done.stderr), done.stdout + done.stderr)

# Without `alias` nothing says that the second update and the first reader are of one memory.
write("apart.skir", CACHE.replace("ScatterUpdate(%c1", "ScatterUpdate(%kc")
      .replace("%k1) :", "%k1) {inplace = [0], alias = [none]} :")
      .replace("%k2) :", "%k2) {inplace = [0], alias = [none]} :"))
done = tap.skirc("run", "apart.skir", *INPUTS)
tap.check("the sample kernel does not run where its result is said to be another memory",
          done.returncode == 1 and "its result is the memory of operand 0 [op-signature]" in done.stderr,
          done.stderr)

# ---- Comparison ----

write("assign.skir", """skir 1
graph @g(%v: f32[4], %x: f32[4]) -> f32[4] {
  scope @s {
    %sum = Add(%v, %x) : f32[4]
    %done = Assign(%v, %sum) : token
    %view = Reshape(%v) : f32[2, 2]
    %y = Mul(%view, %view) : f32[2, 2] after (%done)
  }
  return %v
}
""")
done = tap.skirc("run", "assign.skir", "--compare=unfused", "--race-check", "-i", "v=ones", "-i", "x=ones",
                 "-o", "v=v.npy", "-o", "y=y.npy")
tap.check("a parameter that is assigned is read by its views behind that, in both runs",
          done.returncode == 0 and "bit-exact" in done.stdout and floats("v.npy") == [2] * 4
          and floats("y.npy") == [4] * 4, done.stdout + done.stderr)

# What this kernel writes depends on where the memory is, which is not the same in both runs.
write("where.c", """#include "skrt.h"
void where(skrt_core *core, uint64_t args);
void where(skrt_core *core, uint64_t args)
{
    uint64_t address = skrt_args(core, args)[0];
    ((float *)address)[1] = (float)(address >> 4 & 0xffffff);
}
""")
compiler = os.environ.get("CC", "cc").split() or ["cc"]
kernels = os.path.join(os.environ["SKIR_SOURCE"], "backend", "runtime")
subprocess.run(compiler + ["-O2", "-fPIC", "-I" + kernels, "-I" + os.path.join(os.environ["SKIR_SOURCE"], "ir/core"),
                           "-I" + os.environ["SKIR_SOURCE"], "-c", "where.c"], check=True)
WHERE = """skir 1
kernel @where : aiv_only {block = 1, object = "where.o", function = "where"}
graph @g(%v: f32[4], %x: f32[4]) -> f32[4] {
  scope @s {
    %a = Identity(%v) : f32[4]
    %b = Reshape(%a) : f32[2, 2]
    Place(%a) {inplace = [0]} via @where
    %c = Add(%x, %x) : f32[4]
  }
  return %c
}
"""
write("where.skir", WHERE)
done = tap.skirc("run", "where.skir", "--compare=unfused")
tap.check("a memory that differs is told by its last name", done.returncode == 1 and "DIFFERENT" in done.stdout
          and done.stdout.startswith("first difference: %b[0, 1] of Reshape is "), done.stdout + done.stderr)
write("where.skir", re.sub("    %[ab] = .*\n", "", WHERE).replace("Place(%a)", "Place(%v)"))
done = tap.skirc("run", "where.skir", "--compare=unfused")
tap.check("or by the parameter's", done.returncode == 1
          and done.stdout.startswith("first difference: %v[1] is "), done.stdout + done.stderr)

tap.done()
