#!/usr/bin/env python3
"""Measures what it takes to make one object of an entry and the copies of its kernels (split-mode=4):
by skirc, and by tools, whole processes in turn.

The tools are those of a build script: objcopy names the functions of each copy, objdump lists them,
`ld -r` joins all, and objcopy makes all but the entry local. A linker alone gets the copies ready
made: lld, or what LD names.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import figures

COPIES = 4
BLOCK = 48
KERNELS = 1000
BY_TOOLS = 100  # kernels: more take minutes
# The functions' names are as long as those that the copies get, so that bytes can be replaced.
NAME = "kernel_%04d_split%d"


def source(kernel):
    """A kernel with a table, a function of its own, and a variable that is not constant."""
    name = NAME % (kernel, 0)
    numbers = ", ".join(str((kernel * 31 + i * i) % 251) for i in range(256))
    return f"""#include <stdint.h>
static const unsigned char table[256] = {{{numbers}}};
static float last;
static __attribute__((noinline)) float weigh(const float *x, unsigned n)
{{
    float sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += x[i] * table[i & 255];
    return sum;
}}
void {name}(const void *core, const uint64_t *args)
{{
    const float *x = (const float *)(uintptr_t)args[0];
    float *y = (float *)(uintptr_t)args[1];
    y[0] = last = weigh(x, 16) + {kernel};
}}
"""


def module(path, kernels):
    with open(path, "w", encoding="utf-8") as file:
        file.write("skir 1\n\n")
        for k in range(kernels):
            file.write(f'kernel @k{k} : aiv_only {{block = {BLOCK}, object = "{k:04}_0.o", '
                       f'function = "{NAME % (k, 0)}", params = [x, y]}}\n')
        file.write(f'\ngraph @f(%v: f32[64]) -> f32[64] {{\n  scope @s {{options = '
                   f'"split-mode={COPIES}"}} {{\n')
        for k in range(kernels):
            before = f"v{k - 1}" if k else "v"
            file.write(f"    %v{k} = Op{k}(%{before}) : f32[64] via @k{k}\n")
        file.write(f"  }}\n  return %v{kernels - 1}\n}}\n")


def make_objects(args, folder):
    """For each kernel KKKK_0.o, and ready KKKK_1.o to KKKK_3.o."""
    for kernel in range(KERNELS):
        with open(os.path.join(folder, f"{kernel:04}_0.c"), "w", encoding="utf-8") as file:
            file.write(source(kernel))
    for first in range(0, KERNELS, 100):
        subprocess.run([*args.cc.split(), "-std=gnu11", "-O1", "-fPIC", "-c",
                        *(f"{k:04}_0.c" for k in range(first, first + 100))],
                       cwd=folder, check=True)
    for kernel in range(KERNELS):
        with open(os.path.join(folder, f"{kernel:04}_0.o"), "rb") as file:
            data = file.read()
        for copy in range(1, COPIES):
            with open(os.path.join(folder, f"{kernel:04}_{copy}.o"), "wb") as file:
                file.write(data.replace((NAME % (kernel, 0)).encode(),
                                        (NAME % (kernel, copy)).encode()))


def seconds(commands, folder):
    begin = time.perf_counter()
    for command in commands:
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def copies(kernels):
    return [(k, c) for k in range(kernels) for c in range(COPIES)]


def by_tools(kernels):
    """The commands of a build script."""
    names = [f"tool_{k:04}_{c}.o" for k, c in copies(kernels)]
    return ([["objcopy", f"--redefine-sym={NAME % (k, 0)}={NAME % (k, c)}", f"{k:04}_0.o", name]
             for (k, c), name in zip(copies(kernels), names)]
            + [["objdump", "-t", name] for name in names]
            + [["ld", "-r", "-o", "tools.o", *names],
               ["objcopy", f"--keep-global-symbol={NAME % (0, 0)}", "tools.o", "local.o"]])


def ratios(args, what, aim, ones, others, beside):
    all_ratios = [b / a for a, b in zip(ones, others)]
    figures.ratio(args, what, aim, all_ratios, beside)
    low, middle, high = figures.quarters(all_ratios)
    return f"{middle:.2f} x, the middle half {low:.2f} to {high:.2f}"


def compare_linker(args, folder, linker):
    listed = os.path.join(folder, "listed")
    with open(listed, "w", encoding="utf-8") as file:
        file.write("\n".join(f"{k:04}_{c}.o" for k, c in copies(KERNELS)))
    own = [[args.skirc, "compile", "--jobs=1", f"{KERNELS}.skir", "-o", "own.o"]]
    joined = [[linker, "-r", "-o", "joined.o", "@listed"]]
    samples = [(seconds(own, folder), seconds(joined, folder)) for _ in range(args.runs)]
    ones, others = zip(*samples)
    print(f"{KERNELS} kernels, {COPIES} copies each: medians of {args.runs} runs in turn, whole "
          "processes")
    print(f"  skirc compile --jobs=1, from text: {statistics.median(ones) * 1e3:8.1f} ms, "
          f"{os.path.getsize(os.path.join(folder, 'own.o')) / 1e6:.1f} MB")
    print(f"  {os.path.basename(linker)} -r of copies ready made: "
          f"{statistics.median(others) * 1e3:8.1f} ms, "
          f"{os.path.getsize(os.path.join(folder, 'joined.o')) / 1e6:.1f} MB")
    what = f"link of {KERNELS:,} kernels x {COPIES} copies, {os.path.basename(linker)} / skirc"
    beside = (f"{os.path.basename(linker)} of ready copies, {statistics.median(others) * 1e3:.0f} ms; "
              f"skirc from text, {statistics.median(ones) * 1e3:.0f} ms")
    print(f"  linker / skirc: {ratios(args, what, '≥ 1 ×', ones, others, beside)}")


def compare_tools(args, folder):
    own = [[args.skirc, "compile", "--jobs=1", f"{BY_TOOLS}.skir", "-o", "own.o"]]
    samples = [(min(seconds(own, folder) for _ in range(5)), seconds(by_tools(BY_TOOLS), folder))
               for _ in range(1 if args.short else 3)]
    ones, others = zip(*samples)
    print(f"{BY_TOOLS} kernels, {COPIES} copies each: medians of {len(samples)} runs in turn")
    print(f"  skirc compile --jobs=1, from text, the best of 5: {statistics.median(ones) * 1e3:.1f} ms")
    print(f"  objcopy of each, objdump of each, ld -r, objcopy: {statistics.median(others):.2f} s")
    what = f"link of {BY_TOOLS} kernels x {COPIES} copies, tools / skirc"
    beside = (f"objcopy of each, objdump of each, ld -r, objcopy, {statistics.median(others):.1f} s; "
              f"skirc from text, {statistics.median(ones) * 1e3:.1f} ms")
    print(f"  tools / skirc: {ratios(args, what, '≥ 500 ×', ones, others, beside)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skirc", default="build/skirc")
    parser.add_argument("--cc", default="cc")
    args = figures.parse(parser, 11, 7)
    args.skirc = os.path.abspath(args.skirc)
    with tempfile.TemporaryDirectory(prefix="skir-bench.") as folder:
        make_objects(args, folder)
        for kernels in (BY_TOOLS, KERNELS):
            module(os.path.join(folder, f"{kernels}.skir"), kernels)
        linker = os.environ.get("LD") or shutil.which("ld.lld") or shutil.which("ld")
        if linker:
            compare_linker(args, folder, linker)
        if shutil.which("objcopy") and shutil.which("objdump") and shutil.which("ld"):
            compare_tools(args, folder)
        else:
            print("  no tools to compare with: objcopy, objdump, ld")


if __name__ == "__main__":
    main()
