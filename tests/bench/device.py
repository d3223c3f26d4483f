#!/usr/bin/env python3
"""Measures the virtual device: what a barrier over all cores takes, and how much faster chains of
small ops, and examples, are when they are fused, on one thread and on two. What is compared takes turns, in one
run; where the machine has something else to do, the spread of the ratios shows it."""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

import figures

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
OPS = 128
CHAINS = {"Add": ["Add"], "MatMul and Add": ["MatMul", "Add"]}
THREADS = [1, 2]
EXAMPLES = ["decoder_layer", "multi_stream"]


def barriers(args, folder):
    program = os.path.join(folder, "device")
    subprocess.run(shlex.split(args.cc) + ["-std=gnu11", "-O2", "-I" + args.include, "-I" + SOURCE,
                                           os.path.join(HERE, "device.c"), args.runtime, "-lm",
                                           "-lpthread", "-o", program], check=True)
    samples = {threads: [] for threads in THREADS}
    for _ in range(args.runs):
        for threads in THREADS:
            line = subprocess.run([program, str(threads)], check=True, capture_output=True,
                                  text=True).stdout
            samples[threads].append([float(word) for word in line.split()[1:]])
    print(f"barriers of 24 AICs and 48 AIVs, ns, medians of {args.runs} interleaved processes")
    print(f"  {'threads':>7} {'rows':>9} {'code':>9} {'bare':>9} {'1st launch':>11} {'launch':>9} "
          f"{'72 switches':>11}")
    medians = {}
    for threads, lines in samples.items():
        medians[threads] = [statistics.median(column) for column in zip(*lines)]
        rows, code, bare, first, launch, switches = medians[threads]
        print(f"  {threads:>7} {rows:9.0f} {code:9.0f} {bare:9.0f} {first:11.0f} {launch:9.0f} "
              f"{switches:11.0f}")
    one, two = (medians[threads] for threads in THREADS)
    print(f"  1 thread / 2 threads: rows {one[0] / two[0]:.2f} x, code {one[1] / two[1]:.2f} x")
    barrier_figures(args, samples, medians)


def barrier_figures(args, samples, medians):
    """The columns of a line are those that barriers prints."""
    for threads, lines in samples.items():
        rows, code, bare, _, _, switches = medians[threads]
        for name, at, median in (("rows", 0, rows), ("code", 1, code)):
            figures.ratio(args, f"barrier of 72 cores, {name}, {threads} thread{'s'[:threads - 1]}, / "
                          "bare barrier and 72 switches of stacks", "≤ 2 ×",
                          [line[at] / (line[2] + line[5]) for line in lines],
                          f"{bare:.0f} and {switches:.0f} ns; skrt, {median:.0f} ns")
    for name, at in (("rows", 0), ("code", 1)):
        figures.ratio(args, f"barrier of 72 cores, {name}, 1 thread / 2 threads", "≥ 1 ×",
                      [one[at] / two[at] for one, two in zip(*samples.values())],
                      " and ".join(f"{line[at]:.0f} ns" for line in medians.values()))
    for threads, lines in samples.items():
        figures.ratio(args, f"launch of 72 cores, {threads} thread{'s'[:threads - 1]}, first / median",
                      "≤ 1.2 ×", [line[3] / line[4] for line in lines],
                      f"median, {medians[threads][4] / 1e3:.0f} µs")


def write_chain(path, types):
    """Each op reads what the one before it wrote."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("skir 1\n\ngraph @f(%v: f32[64, 64], %w: f32[64, 64]) -> f32[64, 64] {\n"
                   "  scope @s {\n")
        for i in range(OPS):
            before = f"v{i - 1}" if i else "v"
            file.write(f"    %v{i} = {types[i % len(types)]}(%{before}, %w) : f32[64, 64]\n")
        file.write(f"  }}\n  return %v{OPS - 1}\n}}\n")


def run(args, path, threads, inputs=()):
    """Milliseconds, fused and unfused, which skirc runs in turn."""
    argv = [args.skirc, "run", path, *(f"--input={spec}" for spec in inputs),
            "--compare=unfused", "--repeat=20", f"--threads={threads}", "--json"]
    result = json.loads(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
    return [run["median_ms"] for run in result["runs"]]


def compare(args, name, path, inputs=()):
    """Prints how long both take by each number of threads; returns {threads: pairs}."""
    samples = {threads: [] for threads in THREADS}
    for _ in range(args.runs):
        for threads in THREADS:
            samples[threads].append(run(args, path, threads, inputs))
    for threads, pairs in samples.items():
        fused, unfused = (statistics.median(column) for column in zip(*pairs))
        ratios = sorted(b / a for a, b in pairs)
        print(f"  {name}, {threads} thread{'s'[:threads - 1]}: fused {fused:.2f}, unfused "
              f"{unfused:.2f}: {statistics.median(ratios):.2f} x "
              f"({ratios[0]:.2f} to {ratios[-1]:.2f})")
    return samples


def add_figures(args, name, aim, samples):
    fused, unfused = (statistics.median(column) for column in zip(*samples[2]))
    figures.ratio(args, f"{name}, unfused / fused, 2 threads", aim, [b / a for a, b in samples[2]],
                  f"unfused, {unfused:.2f} ms; fused, {fused:.2f} ms")
    figures.ratio(args, f"{name}, fused, 1 thread / 2 threads", "≥ 1 ×",
                  [one[0] / two[0] for one, two in zip(samples[1], samples[2])],
                  " and ".join(f"{statistics.median(a for a, _ in pairs):.2f} ms"
                               for pairs in samples.values()))


def chains(args, folder):
    print(f"chains of {OPS} ops of 64 x 64, ms, medians of {args.runs} interleaved processes")
    for name, types in CHAINS.items():
        path = os.path.join(folder, "chain.skir")
        write_chain(path, types)
        samples = compare(args, name, path, ["v=rand:0..1", "w=rand:0..0.01"])
        add_figures(args, f"{OPS} small ops, {name}", "≥ 5 ×", samples)


def examples(args):
    print(f"examples, ms, medians of {args.runs} interleaved processes")
    for name in EXAMPLES:
        path = os.path.join(SOURCE, "docs", "examples", name + ".skir")
        add_figures(args, f"`{name}.skir`", "≥ 1 ×", compare(args, name, path))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skirc", default="build/skirc")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", default="build/backend/kernels", help="folder of skrt.h")
    parser.add_argument("--runtime", default="build/.libs/libskrt.a")
    args = figures.parse(parser, 9, 5)
    with tempfile.TemporaryDirectory(prefix="skir-bench.") as folder:
        barriers(args, folder)
        chains(args, folder)
        examples(args)


if __name__ == "__main__":
    sys.exit(main())
