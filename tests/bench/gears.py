#!/usr/bin/env python3
"""Measures how long it takes to find a combination of gears by its shape, of 1, 10 and 100, and to
compile so many combinations of the layer of docs/examples/decoder_gears.skir, by one thread and by
two.

All are measured in each round, so that a slow moment of the machine hits all of them. Where
valgrind is installed, instructions are counted, too: their number is the same in every run.
"""

import argparse
import collections
import glob
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import figures

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
FOLDERS = ["", "ir/core", "backend/runtime"]
CASES = [1, 10, 100]
SHAPES = {1: ([2], [32]), 10: ([2, 3], range(16, 96, 16)), 100: (range(2, 12), range(16, 176, 16))}
LOOKUPS = 10000  # that are counted
THREAD_RUNS = 15


def graph(cases):
    """A graph of two gears, whose combinations are so many."""
    values = list(range(2, 2 + cases)) if cases > 1 else [2, 2]
    return f"""skir 1
graph @gears_{cases}(%x: f32[b, 8], %y: f32[c, 8]) gears zip (b = {values}, c = {values}) -> f32[b, 8] {{
  scope @s {{
    %z = Add(%x, %x) : f32[b, 8]
    %w = Mul(%z, %x) : f32[b, 8]
  }}
  return %w
}}
"""


def build(args, folder):
    """The program, beside the objects with the tables."""
    objects = []
    for cases in CASES:
        path = os.path.join(folder, f"gears_{cases}")
        with open(path + ".skir", "w") as file:
            file.write(graph(cases))
        subprocess.run([args.skirc, "compile", path + ".skir", "-o", path + ".o"], check=True)
        objects.append(path + ".o")
    program = os.path.join(folder, "gears")
    subprocess.run([*args.cc.split(), "-std=gnu11", "-O2", "-w",
                    *("-I" + os.path.join(SOURCE, name) for name in FOLDERS),
                    os.path.join(HERE, "gears.c"), *objects,
                    *glob.glob(os.path.join(SOURCE, "backend", "runtime", "*.c")),
                    "-lm", "-lpthread", "-o", program], check=True)
    return program


def times(program, rounds):
    """{cases: ns of each round}"""
    lines = subprocess.run([program, "times", str(rounds)], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    found = collections.defaultdict(list)
    for cases, ns in (line.split() for line in lines):
        found[int(cases)].append(float(ns))
    return found


def instructions(program, cases, folder):
    """Of one look-up; None without valgrind."""
    if not shutil.which("valgrind"):
        return None
    report = subprocess.run(
        ["valgrind", "--tool=callgrind", "--toggle-collect=skrt_gears_find",
         "--callgrind-out-file=" + os.path.join(folder, "callgrind"), program, "count", str(cases),
         str(LOOKUPS)], check=True, capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", report).group(1)) / LOOKUPS


# ---- Compiling ----


def layers(count, batches, lengths):
    """The layer of docs/examples/decoder_gears.skir so many times, one behind the other, for these
    batches and lengths."""
    with open(os.path.join(SOURCE, "docs", "examples", "decoder_gears.skir")) as file:
        head, rest = file.read().split("  scope @layer {", 1)
    options, rest = rest.split("\n", 1)
    body, tail = rest.split("\n  }\n", 1)
    shared = set(re.findall(r"%(\w+): ", head)) - {"x"}
    parts = []
    for layer in range(count):
        def name(match):
            word = match.group(1)
            if word == "x":
                return f"%y_{layer - 1}" if layer else "%x"
            return "%" + (word if word in shared else f"{word}_{layer}")
        parts.append(f"  scope @layer{layer} {{{options}\n" + re.sub(r"%(\w+)", name, body)
                     + "\n  }\n")
    head = re.sub(r"gears product \(.*?\)", f"gears product (b = {batches}, s = {lengths})", head)
    return head + "".join(parts) + tail.replace("%y", f"%y_{count - 1}")


def compile_argv(args, folder, cases, count=1):
    """The command that compiles so many layers for so many combinations of batches and lengths."""
    batches, lengths = ([*values] for values in SHAPES[cases])
    bound = [] if cases > 1 else [f"--bind=b={batches[0]}", f"--bind=s={lengths[0]}"]
    if bound:
        batches, lengths = [2, 3], [16, 32]
    path = os.path.join(folder, f"decoder_{cases}_{count}")
    with open(path + ".skir", "w") as file:
        file.write(layers(count, batches, lengths))
    argv = [args.skirc, "compile", "--jobs=1", path + ".skir", "-o", path + ".o", *bound]
    return argv, path + ".o"


def processor_time(argv):
    """Of the command, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def own_instructions(argv, folder):
    """Those of skirc itself, in millions; None without valgrind."""
    if not shutil.which("valgrind"):
        return None
    report = subprocess.run(
        ["valgrind", "--tool=callgrind",
         "--callgrind-out-file=" + os.path.join(folder, "callgrind"), *argv],
        check=True, capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", report).group(1)) / 1e6


def compare_compiling(args, folder):
    commands = {cases: compile_argv(args, folder, cases) for cases in CASES}
    samples = collections.defaultdict(list)
    for _ in range(args.runs):
        for cases, (argv, _) in commands.items():
            samples[cases].append(processor_time(argv))
    print("a layer of a decoder compiled by one thread: medians of processor time")
    medians = {cases: statistics.median(ms) for cases, ms in samples.items()}
    for cases, (argv, path) in commands.items():
        count = own_instructions(argv, folder)
        print(f"  {cases:>3} combinations: {medians[cases]:6.1f} ms, {os.path.getsize(path)} bytes"
              + (f", {count:.1f} million instructions of skirc" if count else ""))
    print(f"  {CASES[-1]} / {CASES[0]} combinations: {medians[100] / medians[1]:.2f} x time")


def count_longer_layer(args, folder):
    """The layer of docs/examples/decoder_layer.skir, whose dimensions of 64 are its length, with so
    many lengths."""
    with open(os.path.join(SOURCE, "docs", "examples", "decoder_layer.skir")) as file:
        text = re.sub(r"\b64\b", "s", file.read())
    for cases in CASES:
        lengths = [*range(16, 16 + 16 * max(cases, 2), 16)]
        path = os.path.join(folder, f"layer_{cases}")
        with open(path + ".skir", "w") as file:
            file.write(text.replace(") -> ", f")\n    gears zip (s = {lengths}) -> ", 1))
        argv = [args.skirc, "compile", "--jobs=1", path + ".skir", "-o", path + ".o",
                *(["--bind=s=16"] if cases == 1 else [])]
        count = own_instructions(argv, folder)
        if count:
            print(f"  {cases:>3} combinations of a layer of 30 ops: {os.path.getsize(path + '.o')} "
                  f"bytes, {count:.1f} million instructions of skirc")


# ---- Threads ----


def elapsed(argv):
    """In milliseconds."""
    start = time.perf_counter()
    subprocess.run(argv, check=True)
    return 1e3 * (time.perf_counter() - start)


def compare_threads(args, folder, count):
    """The most combinations by one thread and by two, side by side in each round. A machine that
    has something else to do shows nothing; then the report says no more than that."""
    what = "layer" if count == 1 else "layers"
    print(f"{CASES[-1]} combinations of {count} {what} compiled: medians of {THREAD_RUNS} "
          "interleaved rounds")
    if len(os.sched_getaffinity(0)) < 2:
        print("  not measured: there is one processor")
        return
    argv, _ = compile_argv(args, folder, CASES[-1], count)
    samples = collections.defaultdict(list)
    for _ in range(THREAD_RUNS):
        for threads in (1, 2):
            samples[threads].append(elapsed([*argv, f"--jobs={threads}"]))
    ratios = [one / two for one, two in zip(samples[1], samples[2])]
    low, ratio, high = statistics.quantiles(ratios, n=4)
    if high / low > 1.25:
        print(f"  not told: the middle half of the ratios is from {low:.2f} to {high:.2f}")
        return
    for threads, ms in samples.items():
        print(f"  -j {threads}: {statistics.median(ms):6.1f} ms")
    print(f"  -j 1 / -j 2: {ratio:.2f} x time, the middle half {low:.2f} to {high:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skirc", default="skirc")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    args = figures.parse(parser, 11, 5)
    with tempfile.TemporaryDirectory(prefix="skir-bench.") as folder:
        program = build(args, folder)
        medians = {cases: statistics.median(ns) for cases, ns in times(program, args.runs).items()}
        print(f"look-ups of gears, 2 dimensions: medians of {args.runs} interleaved rounds")
        for cases in CASES:
            count = instructions(program, cases, folder)
            print(f"  {cases:>3} combinations: {medians[cases]:6.2f} ns"
                  + (f", {count:.1f} instructions" if count else ""))
        print(f"  {CASES[-1]} / {CASES[0]} combinations: {medians[100] / medians[1]:.2f} x time")
        compare_compiling(args, folder)
        count_longer_layer(args, folder)
        for count in (1, 10):
            compare_threads(args, folder, count)


if __name__ == "__main__":
    sys.exit(main())
