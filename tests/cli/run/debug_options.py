"""Options that add to entries for debugging: what is computed stays the same to the bit, what is compiled
is proven, and what is there already is not added again."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

EXAMPLES = os.path.join(os.environ["SKIR_SOURCE"], "docs", "examples")
OPTIONS = [
    "debug-sync-all=1",
    "debug-dcci-all=1",
    "dcci-before-kernel-start=MatMul,Add,QuantBatchMatmulV3:dcci-after-kernel-end=Add,DequantSwigluQuant",
    "profiling=1:debug-sync-all=1:debug-dcci-all=1:dcci-before-kernel-start=Add,MatMul:dcci-after-kernel-end=Add,MatMul",
]

CC = os.environ.get("CC", "cc").split() or ["cc"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


for name in "decoder_layer", "multi_stream", "quant_swiglu_small":
    example = os.path.join(EXAMPLES, name + ".skir")
    for options in OPTIONS:
        for streams in ":stream-fusion=0", ":stream-fusion=1":
            option = "--sk-options=" + options + streams
            lowered = tap.skirc("opt", "--passes=default", "--verify-each", option, example)
            if lowered.returncode != 0 and "[stream-fusion]" in lowered.stderr:
                continue  # streams that only run side by side
            write("lowered.skir", lowered.stdout)
            again = tap.skirc("opt", "--passes=default", "lowered.skir")
            tap.check(f"{name}, {options}{streams}: the pipeline's output is its output",
                      lowered.returncode == again.returncode == 0
                      and lowered.stdout == again.stdout, lowered.stderr + again.stderr)
            done = tap.skirc("run", "--compare=unfused", option, example)
            tap.check(f"{name}, {options}{streams}: it computes the same",
                      done.returncode == 0 and "bit-exact" in done.stdout,
                      done.stdout + done.stderr)

# ---- A kernel with full barriers, on fewer cores than the super kernel has ----

# Rotates its input by one element for each barrier, as often as there are blocks.
KERNEL = """#include <skrt.h>
void rotate(skrt_core *core, uint64_t args_offset)
{
    const uint64_t *args = skrt_args(core, args_offset);
    const float *x = (const float *)(uintptr_t)args[0];
    float *volatile y = (float *)(uintptr_t)args[1];
    uint32_t own = skrt_block_idx(core), n = skrt_block_num(core);
    y[own] = x[own];
    for (uint32_t i = 0; i < n; i++) {
        skrt_kernel_sync_all(core);
        float next = y[(own + 1) % n];
        skrt_kernel_sync_all(core);
        y[own] = next;
    }
}
"""
FEWER = """skir 1
kernel @rotate : aiv_only {
  block = 5, object = "rotate.o", function = "rotate", params = [x, y], sync_all
}
graph @g(%a: f32[5], %b: f32[5]) -> f32[5] {
  scope @s {
    %s = Add(%a, %b) : f32[5]
    %r = Rotate(%s) : f32[5] via @rotate
    %t = Rotate(%r) : f32[5] via @rotate
    %u = Mul(%t, %b) : f32[5]
    %v = Rotate(%u) : f32[5] via @rotate
  }
  return %v
}
"""
write("rotate.c", KERNEL)
write("fewer.skir", FEWER)
subprocess.run(CC + ["-O1", "-fPIC", "-I" + os.path.join(os.environ["SKIR_SOURCE"], "backend/runtime"),
                     "-I" + os.path.join(os.environ["SKIR_SOURCE"], "ir/core"), "-c", "rotate.c"], check=True)
done = tap.skirc("run", "--compare=unfused", "--unproven", "fewer.skir")
tap.check("barriers of a kernel are over the cores of its call", "bit-exact" in done.stdout, done.stderr)
done = tap.skirc("run", "--compare=unfused", "--unproven", "--full-barriers", "fewer.skir")
tap.check("by the NPU's rule others are missing", done.returncode == 1
          and "43 of 48 AIVs have not come to it: aiv 5..47" in done.stderr, done.stderr)
for options in ("", ":debug-sync-all=1:debug-dcci-all=1", ":stream-fusion=1:preload-code=none",
                ":profiling=1:early-start=0:debug-sync-all=1:dcci-before-kernel-start=Rotate"):
    for rule in [], ["--full-barriers"]:
        done = tap.skirc("run", "--compare=unfused", "--sk-options=feed-sync-all=1" + options, *rule,
                         "fewer.skir")
        tap.check(f"feed-sync-all=1{options} {rule}: they take part", done.returncode == 0
                  and "bit-exact" in done.stdout, done.stderr)
    lowered = tap.skirc("opt", "--passes=default", "--sk-options=feed-sync-all=1" + options,
                        "fewer.skir").stdout
    write("lowered.skir", lowered)
    again = tap.skirc("opt", "--passes=default", "lowered.skir").stdout
    tap.check(f"feed-sync-all=1{options}: what is fed is not fed again", lowered == again, again)
lowered = tap.skirc("opt", "--passes=default", "--sk-options=feed-sync-all=1", "fewer.skir").stdout
write("lowered.skir", lowered)
done = tap.skirc("run", "--full-barriers", "lowered.skir")
tap.check("a dump has the workspace that it needs", done.returncode == 0, done.stderr)
write("missing.skir", lowered.replace("    feed_sync complement\n", "", 1))
done = tap.skirc("run", "--full-barriers", "--unproven", "missing.skir")
tap.check("a step that is missing is seen", done.returncode == 1
          and "43 of 48 AIVs have not come to it" in done.stderr, done.stderr)
write("small.skir", lowered.replace("workspace = ", "workspace = 1"))
tap.check("a workspace that does not fit the blocks is refused",
          tap.skirc("run", "small.skir").returncode == 1)

tap.done()
