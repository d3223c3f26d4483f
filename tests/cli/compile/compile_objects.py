"""compile: objects that other programs link, and the same bytes every time."""

import ctypes
import ctypes.util
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import read, write

EXAMPLES = os.path.join(tap.SOURCE, "docs", "examples")
CC = os.environ.get("CC", "cc").split() or ["cc"]
LIBC = [ctypes.CDLL(None), ctypes.CDLL(ctypes.util.find_library("m"))]
ENTRIES = {
    "quant_swiglu_small": "decode_sp1",
    "quant_swiglu": "decode_sp1",
    "multi_stream": "multi_stream_sp",
    "decoder_layer": "decoder_layer_layer",
}
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def example(name):
    return os.path.join(EXAMPLES, name + ".skir")


def defined_globals(objdump):
    """The names of the global and weak symbols that an object defines."""
    symbols = re.findall(r"^  (\S+) (?:global|weak) \S+ (\S+) ", objdump, re.M)
    return [name for name, section in symbols if section != "undefined"]


# ---- The documented examples ----

for name, entry in ENTRIES.items():
    compiled = tap.skirc("compile", example(name), "-o", name + ".o")
    tap.check(f"{name} compiles, silently", compiled.returncode == 0
              and compiled.stdout + compiled.stderr == "", compiled.stderr)
    dump = tap.skirc("objdump", name + ".o").stdout
    tap.check(f"{name}: the entry is the only symbol that the object offers",
              defined_globals(dump) == [entry], dump)
    unknown = [symbol for symbol in re.findall(r"^  (\S+) global \S+ undefined", dump, re.M)
               if not symbol.startswith("skrt_") and not any(hasattr(lib, symbol) for lib in LIBC)]
    tap.check(f"{name}: the object needs the runtime, libc and libm alone", not unknown, unknown)

for name in ("quant_swiglu_small", "multi_stream", "decoder_layer"):
    ran = tap.skirc("run", example(name), "--compare", "unfused")
    tap.check(f"{name} computes what its operators compute one by one",
              ran.returncode == 0 and ran.stdout.endswith("; bit-exact\n"), ran.stdout + ran.stderr)

# ---- A program of the user's own ----

# Fused: cube and vector operators on two streams, so that the entry has calls, barriers and flags.
write("own.skir", """skir 1
graph @own(%a: f16[48, 48], %b: f16[48, 48]) -> (f16[48, 48], f16[48, 48]) {
  scope @all {options = "stream-fusion=1"} {
    %sum = Add(%a, %b) : f16[48, 48]
    stream "1" {
      %mm = MatMul(%a, %b) : f16[48, 48]
    }
    %out = Mul(%mm, %sum) : f16[48, 48]
  }
  return %out, %mm
}
""")


def npy_data(path):
    """The elements of a version 1 file, as bytes."""
    data = read(path)
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def entry_params(skir):
    return ["ffts"] + ", ".join(re.findall(r"^  args .*\[(.*)\]$", skir, re.M)).split(", ")


def entry_shape(skir):
    kind, block = re.search(r"^entry @\S+ : (\w+) \{block = (\d+)", skir, re.M).groups()
    return {"mix_aic_1_1": (1, 1), "mix_aic_1_2": (1, 2)}[kind] + (int(block),)


def main_source(params, shape):
    """A C program that launches own_all with the slots as the entry's `args` say."""
    values = sorted({param[1:] for param in params if param[0] == "%"})
    slots = ["0" if param == "ffts" or " " in param else "(uint64_t)&tiling" if param == "tiling"
             else "(uint64_t)" + param[1:] for param in params]
    buffers = "".join(f"static _Alignas(64) unsigned char {value}[48 * 48 * 2];\n"
                      for value in values)
    return f"""#include "skrt.h"
#include <stdio.h>

extern skrt_entry_fn own_all;
{buffers}
static void load(const char *path, unsigned char *data)
{{
    FILE *file = fopen(path, "rb");
    if (!file || fread(data, 1, sizeof a, file) != sizeof a)
        perror(path);
    fclose(file);
}}

int main(void)
{{
    struct skrt_tensor tensor = {{SKRT_f16, SKRT_ND, 2, 0, {{48, 48}}}};
    struct skrt_tensor tensors[] = {{tensor, tensor, tensor}};
    struct skrt_tiling tiling = {{3, 0, tensors, NULL}};
    uint64_t params[] = {{{", ".join(slots)}}};
    struct skrt_device_config config = {{.aic = 24, .aiv = 48}};
    struct skrt_device *device = skrt_device_open(&config);
    struct skrt_launch launch = {{.entry = own_all, .blocks = {shape[2]}, .aics = {shape[0]},
                                  .aivs = {shape[1]}, .params = params,
                                  .n_params = sizeof params / sizeof params[0]}};
    struct skrt_result result;
    load("a.raw", a);
    load("b.raw", b);
    if (!device || skrt_launch(device, &launch, &result) != SKRT_OK)
        return 1;
    fwrite(out, 1, sizeof out, stdout);
    fwrite(mm, 1, sizeof mm, stdout);
    skrt_device_close(device);
    return 0;
}}
"""


run = tap.skirc("run", "own.skir", "-oa=a.npy", "-ob=b.npy", "-oout=out.npy", "-omm=mm.npy")
tap.check("values of all kinds can be written: parameters, inner values, results",
          run.returncode == 0, run.stderr)
tap.skirc("compile", "own.skir", "-o", "own.o")
lowered = tap.skirc("compile", "own.skir", "--emit=skir").stdout
for value in "a", "b":
    with open(value + ".raw", "wb") as file:
        file.write(npy_data(value + ".npy"))
write("main.c", main_source(entry_params(lowered), entry_shape(lowered)))
sources = glob.glob(os.path.join(tap.SOURCE, "backend", "runtime", "*.c"))
includes = ["-I" + os.path.join(tap.SOURCE, folder) for folder in ("", "ir/core", "backend/runtime")]
built = subprocess.run([*CC, "-std=gnu11", "-O1", "-w", *includes, "main.c", "own.o", *sources, "-lm",
                        "-lpthread", "-o", "main"], capture_output=True, text=True)
if tap.check("a C program links the object and the runtime", built.returncode == 0, built.stderr):
    own = subprocess.run(["./main"], capture_output=True, timeout=60)
    tap.check("it computes what skirc run computes",
              own.returncode == 0 and own.stdout == npy_data("out.npy") + npy_data("mm.npy"),
              f"status {own.returncode}, {len(own.stdout)} bytes")

# ---- The same input, the same bytes ----

for emit in "obj", "skir", "entry", "c":
    outputs = []
    for attempt in "first", "second":
        # Another folder, as temporary names must not be in the result.
        folder = tempfile.mkdtemp(dir=".")
        path = os.path.join(folder, attempt)
        tap.skirc("compile", example("decoder_layer"), "--emit=" + emit, "-o", path)
        outputs.append(read(path))
    tap.check(f"--emit={emit} gives the same bytes again",
              outputs[0] == outputs[1] and len(outputs[0]) > 500)

# ---- A dump of any stage is legal input ----

PASSES = [line.split()[0] for line in tap.skirc("opt", "--list-passes").stdout.splitlines()
          if not line.endswith("(only where it is named)")]
for name in ENTRIES:
    whole = tap.skirc("opt", "--passes=default", example(name)).stdout
    text = open(example(name)).read()
    for one in PASSES:
        step = tap.skirc("opt", "--verify-each", "--passes=" + one, "-", stdin=text)
        text = step.stdout
        if step.returncode:
            break
    tap.check(f"{name}: the passes one by one, each on the dump of the one before, are the pipeline",
              text == whole and "entry @" in whole, step.stderr)
    again = tap.skirc("opt", "--passes=default", "-", stdin=whole)
    tap.check(f"{name}: the pipeline changes nothing in its own result", again.stdout == whole,
              again.stderr)
    dumps = tap.skirc("opt", "--passes=default", "--print-after=all", example(name)).stderr
    stages = re.split(r"^// after (\S+)\n", dumps, flags=re.M)
    tap.check(f"{name}: --print-after=all prints every pass once", stages[1::2] == PASSES)
    results = [tap.skirc("opt", "--passes=default", "-", stdin=dump).stdout
               for dump in stages[2::2]]
    tap.check(f"{name}: every dump leads to the same result",
              results == [whole] * len(PASSES))
    write("whole.skir", whole)
    tap.skirc("compile", "whole.skir", "-o", "whole.o")
    tap.check(f"{name}: what --emit=skir prints compiles to the same object",
              read("whole.o") == read(name + ".o"))

# ---- Names ----

write("names.skir", """skir 1
kernel @"a b" : aiv_only {
  op = "Add", block = 1, object = "add.o", function = "add", params = [x1, x2, y, tiling]
}
kernel @skir_kernel_0 : aiv_only {
  op = "Mul", block = 1, object = "mul.o", function = "mul", params = [x1, x2, y, tiling]
}
graph @"\\u00fc $(exit 3)\\"; %s\\\\"(%x: f16[8, 16], %"z z": f16[8, 16]) -> (f16[8, 16], f16[8, 16]) {
  scope @"/*" {
    %a = Add(%x, %x) : f16[8, 16] via @"a b"
    %b = Mul(%"z z", %x) : f16[8, 16] via @skir_kernel_0
  }
  return %a, %b
}
""".replace("\\u00fc", "\u00fc"))
odd = tap.skirc("run", "names.skir", "--compare=unfused", "--input", "z z=ones", "-o", "b=b.npy")
tap.check("names that are no C identifiers, and names that look like skirc's own, run",
          odd.returncode == 0 and "bit-exact" in odd.stdout, odd.stdout + odd.stderr)
odd = tap.skirc("compile", "names.skir", "-o", "names.o", "--remarks")
tap.check("a remark tells the symbol of an entry that cannot have its name",
          "is 'skir_entry_0' [entry-symbol]" in odd.stderr, odd.stderr)
tap.check("and that is the symbol", defined_globals(tap.skirc("objdump", "names.o").stdout)
          == ["skir_entry_0"])

ONE = """graph @{}(%x: f16[8, 16]) -> f16[8, 16] {{
  scope @{} {{
    %y = {}(%x, %x) : f16[8, 16]
  }}
  return %y
}}
"""
write("runtime.skir", "skir 1\n" + ONE.format("skrt", "call", "Add"))
tap.skirc("compile", "runtime.skir", "-o", "runtime.o")
tap.check("an entry cannot replace a function of the runtime",
          defined_globals(tap.skirc("objdump", "runtime.o").stdout) == ["skir_entry_0"])

write("twice.skir", "skir 1\n" + ONE.format("a", "b_c", "Add") + ONE.format("a_b", "c", "Mul"))
twice = tap.skirc("compile", "twice.skir", "-o", "twice.o")
tap.check("graphs and scopes whose names join to the same text are told apart",
          sorted(defined_globals(tap.skirc("objdump", "twice.o").stdout)) == ["a_b_c", "a_b_c.1"],
          twice.stderr)

tap.done()
