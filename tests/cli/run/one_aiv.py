"""Kernels for one AIV (1:1) in launches with two: both run the vector part, and it is done once."""

import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

CC = os.environ.get("CC", "cc").split() or ["cc"]
INCLUDES = ["-I" + os.path.join(tap.SOURCE, folder) for folder in ("backend/runtime", "ir/core")]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def numbers(path):
    """The elements of a version 1 file of u32."""
    with open(path, "rb") as file:
        data = file.read()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return list(struct.unpack(f"<{len(data) // 4}I", data))


# The AIC of a block hands tiles to its AIVs through one place of the workspace, which it writes anew
# only when they have all read it. What the second AIV does differs: nothing but the kernel's flags and
# barriers; half of the work; nothing at all.
write("k.c", """#include "skrt.h"

enum { N = 96, TILE = 8, IDLE, SHARE, LEAVE };

static uint32_t *tile_of(const uint64_t *slots, const skrt_core *core)
{
    return (uint32_t *)slots[2] + skrt_block_idx(core) * TILE;
}

void make(skrt_core *core, uint64_t offset)
{
    uint64_t *slots = skrt_args(core, offset);
    const uint32_t *x = (const void *)slots[0];
    for (uint32_t t = skrt_block_idx(core); t < N / TILE; t += skrt_block_num(core)) {
        for (uint32_t i = 0; i < TILE; i++)
            tile_of(slots, core)[i] = 31 * x[((t * TILE + i) * 7 + 5) % N] + x[t * TILE + i];
        skrt_kernel_set_c2v(core);
        skrt_kernel_wait_v2c(core);
    }
    if (BARRIER)
        skrt_kernel_sync_all(core);
}

void take(skrt_core *core, uint64_t offset)
{
    uint64_t *slots = skrt_args(core, offset);
    uint32_t *y = (void *)slots[1];
    uint32_t sub = skrt_sub_block_idx(core), subs = SECOND == SHARE ? skrt_sub_block_num(core) : N;
    if (SECOND == LEAVE && sub > 0)
        return;
    for (uint32_t t = skrt_block_idx(core); t < N / TILE; t += skrt_block_num(core)) {
        skrt_kernel_wait_c2v(core);
        for (uint32_t i = 0; i < TILE; i++)
            if (SECOND == SHARE ? i % subs == sub : sub == 0)
                y[t * TILE + i] = tile_of(slots, core)[i] + t * TILE + i;
        skrt_kernel_set_v2c(core);
    }
    if (BARRIER)
        skrt_kernel_sync_all(core);
}

void nothing(skrt_core *core, uint64_t offset)
{
    (void)core;
    (void)offset;
}

/* By AIV: that it ran, and the numbers by which it would share out its work. */
void number(skrt_core *core, uint64_t offset)
{
    uint32_t *y = (uint32_t *)skrt_args(core, offset)[1] + 4 * skrt_core_index(core);
    y[0] = 1 + skrt_block_idx(core);
    y[1] = skrt_block_num(core);
    y[2] = skrt_sub_block_idx(core);
    y[3] = skrt_sub_block_num(core);
}
""")


def build(name, second, barrier):
    subprocess.run([*CC, "-c", "-fPIC", "-O1", f"-DSECOND={second}", f"-DBARRIER={barrier}",
                    *INCLUDES, "k.c", "-o", name], check=True)


build("idle.o", "IDLE", 0)
build("share.o", "SHARE", 0)
build("leave.o", "LEAVE", 0)
build("idle_sync.o", "IDLE", 1)
build("share_sync.o", "SHARE", 1)


def kernel(name, ratio, blocks, code, more=""):
    return (f'kernel @{name} : mix_aic_1_{ratio} {{\n  op = "Step", block = {blocks}, object = '
            f'"{code}.o", function = {{aic = "make", aiv = "take"}},\n  params = [x, y, workspace], '
            f'workspace = 1024{more}\n}}\n')


def chain(kernels, options=""):
    """Ops one behind the other, each on what the one before it computes."""
    ops = [f"    %v{i + 1} = Step(%v{i}) : u32[96] via @{name}\n" for i, name in enumerate(kernels)]
    results = ", ".join(f"%v{i + 1}" for i in range(len(kernels)))
    types = ", ".join(["u32[96]"] * len(kernels))
    return (f"graph @g(%v0: u32[96]) -> ({types}) {{\n  scope @s {{options = \"{options}\"}} {{\n"
            + "".join(ops) + f"  }}\n  return {results}\n}}\n")


def run(text, *arguments):
    write("one.skir", "skir 1\n" + text)
    return tap.skirc("run", "one.skir", "--input", "v0=rand:0..100:7", "--timeout=30", *arguments)


def exact(claim, text, *arguments):
    done = run(text, "--compare=unfused", "--race-check", *arguments)
    lowered = tap.skirc("compile", "--emit=skir", "one.skir").stdout
    tap.check(claim, done.returncode == 0 and "; bit-exact; race-free (" in done.stdout
              and ": mix_aic_1_2 {block = " in lowered, done.stdout + done.stderr + lowered)


# ---- Beside a kernel for two AIVs ----

for few in 1, 3, 4:
    for options in "", "stream-fusion=1":
        kernels = (kernel("two", 2, 4, "share") + kernel("idle", 1, few, "idle")
                   + kernel("shared", 1, few, "share"))
        exact(f"1:1 kernels of {few} blocks beside a 1:2 kernel of 4 {options}",
              kernels + chain(["idle", "two", "shared", "two", "idle", "shared", "idle", "idle"],
                              options))
    for barriers in "", "--full-barriers":
        kernels = (kernel("two", 2, 4, "share_sync", ", sync_all")
                   + kernel("idle", 1, few, "idle_sync", ", sync_all")
                   + kernel("shared", 1, few, "share_sync", ", sync_all"))
        exact(f"full barriers of 1:1 kernels of {few} blocks {barriers}",
              kernels + chain(["idle", "two", "shared", "idle"],
                              "feed-sync-all=1" if few < 4 else ""), *barriers.split())

# ---- A sample kernel ----

SAMPLE = "".join(f"""kernel @{name} : mix_aic_1_{ratio} {{
  op = "QuantBatchMatmulV3", block = {blocks}, object = "quant_batch_matmul_v3.o",
  function = {{aic = "quant_batch_matmul_v3_mix_aic", aiv = "quant_batch_matmul_v3_mix_aiv"}},
  params = [x1, x2, scale, offset, bias, pertoken_scale, y, workspace, tiling],
  workspace_per_element = 4
}}
""" for name, ratio, blocks in (("one", 1, 5), ("two", 2, 24))) + """
graph @g(%v0: i8[70, 64], %w: i8[64, 90], %s: f32[90]) -> (f16[70, 90], f16[70, 90]) {
  scope @s {
    %a = QuantBatchMatmulV3(%v0, %w, %s, none, none, none) : f16[70, 90] via @one
    %b = QuantBatchMatmulV3(%v0, %w, %s, none, none, none) : f16[70, 90] via @two
  }
  return %a, %b
}
"""
exact("QuantBatchMatmulV3 as a 1:1 kernel beside itself as a 1:2 kernel", SAMPLE)

# ---- The numbers that kernels see ----


def seen(fused):
    text = kernel("two", 2, 4, "share") + """kernel @one : mix_aic_1_1 {
  op = "Number", block = 3, object = "idle.o", function = {aic = "nothing", aiv = "number"},
  params = [x, y]
}
graph @g(%v0: u32[96]) -> (u32[96], u32[96]) {
  scope """ + ("@s" if fused else "none") + """ {
    %a = Step(%v0) : u32[96] via @two
    %b = Number(%a) : u32[96] via @one
  }
  return %a, %b
}
"""
    done = run(text, "--trust-kernels", "-o", "b=b.npy")
    values = numbers("b.npy") if done.returncode == 0 else []
    rows = [tuple(values[at:at + 4]) for at in range(0, len(values), 4)]
    return [row for row in rows if row[0]], done


rows, done = seen(True)
tap.check("in a 1:2 launch both AIVs of three AI cores run it, with one block index",
          rows == [(1 + block, 3, sub, 2) for block in range(3) for sub in range(2)],
          f"{rows}\n{done.stdout}{done.stderr}")
rows, done = seen(False)
tap.check("launched alone it runs on one AIV of each", rows == [(1 + block, 3, 0, 1)
                                                              for block in range(3)],
          f"{rows}\n{done.stdout}{done.stderr}")

# ---- A kernel whose flags leave the second AIV out ----

LEAVE = kernel("two", 2, 4, "share") + kernel("leave", 1, 2, "leave")
done = run(LEAVE + chain(["two", "leave"]))
tap.check("without flags on the second AIV it hangs, and the report says why", done.returncode == 1
          and "deadlock" in done.stderr and "aiv 1, aiv 3 have not set its kernel's v2c; in op Step"
          in done.stderr, done.stdout + done.stderr)
done = run(LEAVE + chain(["leave", "leave"]))
tap.check("in a 1:1 launch it does not", done.returncode == 0, done.stdout + done.stderr)

tap.done()
