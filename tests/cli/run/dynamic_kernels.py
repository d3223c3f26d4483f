"""Dynamic kernels: what the tiling key chooses runs, fused and alone, and the entry clears the lock."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

CC = os.environ.get("CC", "cc").split() or ["cc"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def floats(path):
    """The elements of a version 1 file of f32."""
    with open(path, "rb") as file:
        data = file.read()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def exact(claim, file, *arguments):
    done = tap.skirc("run", file, "--compare=unfused", *arguments)
    tap.check(claim, done.returncode == 0 and done.stdout.endswith("; bit-exact\n"),
              done.stdout + done.stderr)


# ---- The sample kernel ----

def sample(name, shape, attributes):
    write(name + ".skir", f"""skir 1
graph @g(%a: f16[{shape}], %b: f16[{shape}]) -> f16[{shape}] {{
  scope @s {{
    %x = Add(%a, %b) {{{attributes}}} : f16[{shape}]
    %y = Mul(%x, %b) : f16[{shape}]
    %z = Add(%y, %x) {{{attributes}}} : f16[{shape}]
  }}
  return %z
}}
""")
    return name + ".skir"


for key in 0, 1:
    for shape in "3, 5", "90, 100":
        for blocks in "", ", tiling_blocks = 7":
            exact(f"a dynamic Add of [{shape}] with the key {key}{blocks}",
                  sample("forced", shape, f"dynamic, tiling_key = {key}{blocks}"))
for shape in "1", "64, 64", "64, 65", "0, 5000", "5000, 0", "200, 300":
    exact(f"a dynamic Add of [{shape}] with the key of its tiling",
          sample("tiled", shape, "dynamic"))

# ---- Kernels of the user's own ----

# y is x + 1 by the first variant, on AIVs alone; 2 x by the second, the AICs first; 3 x by the third,
# on AICs alone. The function of the fourth is that of the first.
write("own.c", """#include "skrt.h"
enum { N = 64 };
static void part(skrt_core *core, uint64_t offset, float factor, float more)
{
    const float *x = (const float *)(uintptr_t)skrt_args(core, offset)[0];
    float *y = (float *)(uintptr_t)skrt_args(core, offset)[1];
    for (uint32_t i = skrt_block_idx(core); i < N; i += skrt_block_num(core))
        if (i % skrt_sub_block_num(core) == skrt_sub_block_idx(core))
            y[i] = x[i] * factor + more;
}
void plus(skrt_core *core, uint64_t offset) { part(core, offset, 1, 1); }
void triple(skrt_core *core, uint64_t offset) { part(core, offset, 3, 0); }
void twice_aic(skrt_core *core, uint64_t offset)
{
    part(core, offset, 1, 0);
    skrt_kernel_set_c2v(core);
    skrt_kernel_wait_v2c(core);
}
void twice_aiv(skrt_core *core, uint64_t offset)
{
    float *y = (float *)(uintptr_t)skrt_args(core, offset)[1];
    skrt_kernel_wait_c2v(core);
    for (uint32_t i = skrt_block_idx(core); i < N; i += skrt_block_num(core))
        if (i / skrt_block_num(core) % 2 == skrt_sub_block_idx(core))
            y[i] *= 2;
    skrt_kernel_set_v2c(core);
}
""")
built = subprocess.run([*CC, "-fPIC", "-O1", "-c", "-o", "own.o", "own.c", "-I",
                        os.path.join(tap.SOURCE, "backend/runtime"), "-I", os.path.join(tap.SOURCE, "ir/core")],
                       capture_output=True, text=True)
assert built.returncode == 0, built.stderr
OWN = """skir 1
target "t" {aic = 6, aiv = 12}
kernel @own : mix_aic_1_2 {
  dynamic,
  object = "own.o",
  variants = [
    {key = 10, type = aiv_only, aiv = "plus"},
    {key = 20, type = mix_aic_1_2, aic = "twice_aic", aiv = "twice_aiv"},
    {key = 30, type = aic_only, aic = "triple"},
    {key = 40, type = aiv_only, aiv = "plus"}
  ]
}
graph @g(%x: f32[64]) -> (f32[64], f32[64]) {
  scope @s OPTIONS{
    %y = Own(%x) {FIRST} : f32[64] via @own
    %w = Add(%y, %x) : f32[64]
    %z = Own(%w) {SECOND} : f32[64] via @own
  }
  return %y, %z
}
"""
RESULTS = {10: lambda x: x + 1, 20: lambda x: 2 * x, 30: lambda x: 3 * x, 40: lambda x: x + 1}


def own(first, second="tiling_key = 10", options=""):
    write("own.skir", OWN.replace("OPTIONS", options).replace("{FIRST}", "{%s}" % first)
          .replace("{SECOND}", "{%s}" % second))
    return "own.skir"


SECONDS = (10, 12), (20, 1), (20, 6), (30, 5), (40, 2)
for n, (first, (second, blocks)) in enumerate((f, s) for f in RESULTS for s in SECONDS):
    mode = '{options = "stream-fusion=1"} ' if n % 2 else ""
    file = own(f"tiling_key = {first}", f"tiling_key = {second}, tiling_blocks = {blocks}", mode)
    done = tap.skirc("run", file, "--compare=unfused", "-ix=ones", "-oy=y.npy", "-oz=z.npy")
    y = RESULTS[first](1)
    right = done.returncode == 0 and done.stdout.endswith("; bit-exact\n") and floats(
        "y.npy") == [y] * 64 and floats("z.npy") == [RESULTS[second](y + 1)] * 64
    tap.check(f"the keys {first} and {second}, this on {blocks} blocks {mode}", right,
              done.stdout + done.stderr)

done = tap.skirc("compile", own("tiling_key = 10"), "-o", "fused.o")
dump = tap.skirc("objdump", "fused.o").stdout
offered = [name for name, place in re.findall(r"^  (\S+) (?:global|weak) \S+ (\S+) ", dump, re.M)
           if place != "undefined"]
tap.check("an object with all variants offers its entry alone",
          done.returncode == 0 and offered == ["g_s"]
          and len(re.findall(r"^  skir_variant_0_\d\.ai[cv] local", dump, re.M)) == 4,
          done.stderr + dump)

# ---- What is wrong ----


def refuses(claim, text, file, *arguments):
    done = tap.skirc("run", file, *arguments)
    tap.check(claim, done.returncode == 1 and text in done.stderr, done.stdout + done.stderr)


for mode in "", "--compare=unfused":
    refuses("an op without a tiling key " + mode, "there is no tiling key for '@own'",
            own("tiling_blocks = 2"), *mode.split())
refuses("a key that is none", "'@own' has no variant with the key 11", own("tiling_key = 11"))
refuses("more blocks than there are", "the op asks for 7 blocks, but the target has 6",
        own("tiling_key = 20, tiling_blocks = 7"))
write("absent.skir", open(own("tiling_key = 10")).read().replace('"triple"', '"absent"'))
refuses("a variant's function that is not there", "does not define the function 'absent'",
        "absent.skir")

# Each entry that is not right says so when it runs, even where nothing proves it before.
lowered = tap.skirc("compile", "--emit=skir", own("tiling_key = 10", "tiling_key = 20")).stdout
resets = re.findall(r"    reset lock %\w+\n", lowered)
tap.check("the entry resets both locks", len(resets) == 2, lowered)
write("left.skir", lowered.replace(resets[1], ""))
refuses("a lock that is not reset", "flag left set: launch g_s has not reset the lock of its "
        "dynamic op 1", "left.skir", "--unproven")
write("early.skir", re.sub(r"(  aic \{\n)", r"\g<1>" + resets[0], lowered).replace(
    resets[0] + "    select", resets[0] + "    arrive aic\n    await aic\n    select"))
done = tap.skirc("run", "early.skir", "--unproven", "--timeout=0", "--threads=1")
tap.check("a lock that is reset before the others have looked", done.returncode == 1
          and "blocked in `select @own.ai" in done.stderr, done.stdout + done.stderr)

# ---- Descriptions ----

# The kernel above as a library has it: each core type says what it has for a key.
os.mkdir("library")
shutil.copy("own.o", "library/own.o")
OBJECT = {"obj_files": "own.o"}


def named(function, kernel_type):
    return {"func_name": function, "kernel_type": "KERNEL_TYPE_" + kernel_type}


CUBE = {"20": named("twice_aic", "MIX_AIC_1_2"), "30": named("triple", "AIC_ONLY")}
VECTOR = {"20": named("twice_aiv", "MIX_AIC_1_2"), "10": named("plus", "AIV_ONLY")}
write("described.skir", """skir 1
graph @g(%x: f32[64]) -> f32[64] {
  scope @s {
    %y = Add(%x, %x) {dynamic, tiling_key = KEY} : f32[64]
  }
  return %y
}
""")


def describe(cube, vector):
    write("library/own.json", json.dumps({
        "kernelName": "own", "blockDim": 1, "sub_operator_op_type": "Add",
        "sub_operator_params": ["x", "z", "y"], "sub_operator_kernel_type": "KERNEL_TYPE_MIX_AIC_1_2",
        "sub_operator_kernel_name": {
            "dav-c220-cube": OBJECT | {"dynamic_func_names": cube},
            "dav-c220-vec": OBJECT | {"dynamic_func_names": vector}}}))


describe(CUBE, VECTOR)
described = tap.skirc("opt", "--passes=bind-kernels", "--kernel-dir=library",
                      "-", stdin=open("described.skir").read().replace("KEY", "20"))
for part in ('{key = 20, type = mix_aic_1_2, aic = "twice_aic", aiv = "twice_aiv"}',
             '{key = 30, type = aic_only, aic = "triple"}',
             '{key = 10, type = aiv_only, aiv = "plus"}'):
    tap.check("a described kernel has the variant " + part, part in described.stdout,
              described.stdout + described.stderr)


def misdescribed(claim, text, cube, vector):
    describe(cube, vector)
    done = tap.skirc("opt", "--passes=bind-kernels", "--kernel-dir=library", "-",
                     stdin=open("described.skir").read().replace("KEY", "20"))
    tap.check(claim, done.returncode == 1 and text in done.stderr, done.stdout + done.stderr)


misdescribed("a mixed variant without its vector part", "tiling key '20' has no function for aiv", CUBE,
             {"10": VECTOR["10"]})
misdescribed("a vector variant among those of the cube part",
             "the kernel types contradict the functions of tiling key '10'",
             CUBE | {"10": named("plus", "AIV_ONLY")}, VECTOR)
misdescribed("one key with two types",
             "the kernel types contradict the functions of tiling key '20'", CUBE,
             VECTOR | {"20": named("twice_aiv", "MIX_AIC_1_1")})
for key in "", "1x", "-1", "1234567890123456789":
    misdescribed(f"the key '{key}'", f"'{key}' is no tiling key: it has up to 18 decimal digits", CUBE,
                 VECTOR | {key: named("plus", "AIV_ONLY")})
misdescribed("a variant without a type", "this object has no 'kernel_type', which is a string", CUBE,
             VECTOR | {"10": {"func_name": "plus"}})
misdescribed("a variant without a function", "this object has no 'func_name', which is a string", CUBE,
             VECTOR | {"10": {"kernel_type": "KERNEL_TYPE_AIV_ONLY"}})
misdescribed("a variant that is no dictionary", "this must be an object with 'kernel_type', not a string", CUBE,
             VECTOR | {"10": "plus"})

tap.done()
