"""Early start: kernels that do barrier halves themselves compute what they compute one by one."""

import itertools
import os
import re
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


# Each element needs two of the operand's that other cores have written, mostly. Before it waits, and
# behind its work, a core takes a time of its own.
write("k.c", """#include "skrt.h"

enum { N = 96 };

static void linger(skrt_core *core, uint64_t seed)
{
    uint64_t n = (skrt_core_index(core) * 7919u + seed * 104729u) % 13 * 400;
    for (volatile uint64_t i = 0; i < n; i++)
        ;
}

static void step(skrt_core *core, uint64_t offset, uint32_t first, uint32_t end)
{
    uint64_t *slots = skrt_args(core, offset);
    const uint32_t *x = (const void *)slots[0];
    uint32_t *y = (void *)slots[1];
    uint32_t worker = skrt_block_idx(core) * skrt_sub_block_num(core) + skrt_sub_block_idx(core);
    uint32_t workers = skrt_block_num(core) * skrt_sub_block_num(core);
    linger(core, offset);
    if (WAITS)
        skrt_kernel_wait_previous(core);
    for (uint32_t i = first + worker; i < end; i += workers)
        y[i] = 31 * x[(i * 7 + 5) % N] + x[N - 1 - i] + i;
    if (SETS)
        skrt_kernel_next_start(core);
    linger(core, offset + 1);
}

void whole(skrt_core *core, uint64_t offset)
{
    step(core, offset, 0, N);
}

void lower_half(skrt_core *core, uint64_t offset)
{
    step(core, offset, 0, N / 2);
}

void upper_half(skrt_core *core, uint64_t offset)
{
    step(core, offset, N / 2, N);
}
""")
FLAGS = [(), ("set",), ("wait",), ("set", "wait")]


def build(name, sets, waits, source="k.c"):
    subprocess.run([*CC, "-c", "-fPIC", "-O1", f"-DSETS={int(sets)}", f"-DWAITS={int(waits)}",
                    *INCLUDES, source, "-o", name], check=True)


for flags in FLAGS:
    build("_".join(("k",) + flags) + ".o", "set" in flags, "wait" in flags)


def kernel(name, kind, blocks, flags, object_flags=None):
    code = "_".join(("k",) + (flags if object_flags is None else object_flags))
    entry = '{aic = "lower_half", aiv = "upper_half"}' if kind.startswith("mix") else '"whole"'
    return (f'kernel @{name} : {kind} {{\n  op = "Step", block = {blocks}, object = "{code}.o", '
            f"function = {entry},\n  params = [x, y], early_start = [{', '.join(flags)}]\n}}\n")


def chain(kernels, options=""):
    """Ops one behind the other, each on what the one before it computes."""
    ops = [f"    %v{i + 1} = Step(%v{i}) : i32[96] via @{name}\n" for i, name in enumerate(kernels)]
    results = ", ".join(f"%v{i + 1}" for i in range(len(kernels)))
    types = ", ".join(["i32[96]"] * len(kernels))
    return (f"graph @g(%v0: i32[96]) -> ({types}) {{\n  scope @s {{options = \"{options}\"}} {{\n"
            + "".join(ops) + f"  }}\n  return {results}\n}}\n")


def tour(nodes):
    """A walk that takes each step between two nodes, or from one to itself, once, and returns."""
    left = {node: list(nodes) for node in nodes}
    stack, walk = [nodes[0]], []
    while stack:
        if left[stack[-1]]:
            stack.append(left[stack[-1]].pop())
        else:
            walk.append(stack.pop())
    return walk


def bit_exact(claim, file):
    done = tap.skirc("run", file, "--compare=unfused", "--race-check", "--input",
                     "v0=rand:0..1000:7")
    tap.check(claim, done.returncode == 0 and "; bit-exact; race-free (" in done.stdout,
              done.stdout + done.stderr)


# ---- All pairs of core types, each with all flags, in one chain ----

# Blocks of the cube, vector and mixed kernels: one core of each; as many for all; idle cores of each
# type for one kernel or the other.
BLOCKS = {"one": (1, 1, 1), "several": (4, 8, 4), "few cube": (1, 8, 3), "few vector": (4, 3, 2),
          "few mixed": (3, 5, 1)}
for mixed in "mix_aic_1_2", "mix_aic_1_1":
    kinds = ["aic_only", "aiv_only", mixed]
    names = ["_".join((kind,) + flags) for kind in kinds for flags in FLAGS]
    walk = tour(names)
    assert len(walk) == len(names) ** 2 + 1 and set(zip(walk, walk[1:])) == set(
        itertools.product(names, names))
    for claim, blocks in BLOCKS.items():
        head = "skir 1\n" + "".join(kernel("_".join((kind,) + flags), kind, count, flags)
                                    for kind, count in zip(kinds, blocks) for flags in FLAGS)
        # Each kernel type once at the beginning and once at the end, with its waits and arrivals.
        turn = kinds[list(BLOCKS).index(claim) % 3] + "_set_wait"
        at = walk.index(turn)
        write("chain.skir", head + chain(walk[at:] + walk[1:at + 1]))
        bit_exact(f"all pairs with {mixed}, {claim} blocks", "chain.skir")

# ---- First and last ----

for kind in "aic_only", "aiv_only", "mix_aic_1_1", "mix_aic_1_2":
    for flags in FLAGS[1:]:
        write("alone.skir", "skir 1\n" + kernel("k", kind, 3, flags) + chain(["k"]))
        bit_exact(f"one {kind} op with {' and '.join(flags)}", "alone.skir")
        write("first.skir", "skir 1\n" + kernel("k", kind, 2, flags)
              + kernel("big", "mix_aic_1_2", 4, ()) + chain(["k", "big", "k"]))
        bit_exact(f"a {kind} op with {' and '.join(flags)} first and last, on few cores",
                  "first.skir")

# ---- Without waiting it goes wrong ----

# An entry in which a core does not wait where it must shows that the order is needed.
write("chain.skir", "skir 1\n" + kernel("a", "mix_aic_1_2", 8, ()) + chain(["a"] * 12))
lowered = tap.skirc("compile", "--emit=skir", "chain.skir").stdout
write("broken.skir", re.sub(r"    (arrive|await|set|wait) \w+\n", "    pipe_barrier\n", lowered))
done = tap.skirc("run", "broken.skir", "--compare=unfused", "--unproven", "--input",
                 "v0=rand:0..1000:7")
tap.check("the results show where the ops are not ordered", done.returncode == 1
          and "bit-exact" not in done.stdout, done.stdout + done.stderr)

# ---- Kernels that do not do what they are declared to do, and others ----


def misused(claim, text, declared, built):
    write("misuse.skir", "skir 1\n" + kernel("k", "aiv_only", 4, declared, built)
          + kernel("a", "aiv_only", 4, ()) + chain(["a", "k", "a"]))
    done = tap.skirc("run", "misuse.skir", "--timeout=30")
    tap.check(claim, done.returncode == 1 and "skirc: misuse" in done.stderr
              and text in done.stderr and "in op Step" in done.stderr, done.stdout + done.stderr)


misused("a kernel that does not wait", "has not called skrt_kernel_wait_previous, as the call says",
        ("wait",), ())
misused("a kernel that does not arrive", "has not called skrt_kernel_next_start, as the call says",
        ("set",), ())
misused("a kernel that waits undeclared",
        "skrt_kernel_wait_previous in a sub-kernel whose call does not say so", (), ("wait",))
misused("a kernel that arrives undeclared",
        "skrt_kernel_next_start in a sub-kernel whose call does not say so", (), ("set",))

for half in "wait_previous", "next_start":
    with open("k.c") as file:
        source = file.read()
    write("twice.c", re.sub(rf"skrt_kernel_{half}\(core\);", r"\g<0> \g<0>", source)
          .replace("if (WAITS)", "if (WAITS) {").replace("if (SETS)", "if (SETS) {")
          .replace("    for (uint32_t i = first", "    }\n    for (uint32_t i = first")
          .replace("    linger(core, offset + 1);", "    }\n    linger(core, offset + 1);"))
    build("twice.o", True, True, "twice.c")
    text = "skir 1\n" + kernel("k", "aiv_only", 4, ("set", "wait")).replace(
        "k_set_wait.o", "twice.o") + kernel("a", "aiv_only", 4, ()) + chain(["a", "k", "a"])
    write("twice.skir", text)
    for mode in [], ["--compare=unfused"]:
        done = tap.skirc("run", "twice.skir", "--timeout=30", *mode)
        tap.check(f"a kernel that does skrt_kernel_{half} twice {' '.join(mode)}",
                  done.returncode == 1 and f"skrt_kernel_{half} a second time in one call"
                  in done.stderr, done.stdout + done.stderr)

tap.done()
