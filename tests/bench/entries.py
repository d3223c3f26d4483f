#!/usr/bin/env python3
"""Measures what it takes to compile one entry, to rows of data as skirc does it and to code by way of
its C source and a compiler, whole processes in turn; and how the first grows."""

import argparse
import math
import os
import shlex
import statistics
import subprocess
import tempfile
import time

import figures

COMPARED = 1000
SIZES = [1000, 10000, 100000, 1000000]


def chain(path, ops):
    """A scope of so many ops, each of which reads what the one before it wrote."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("skir 1\n\ngraph @f(%v: f32[64, 64]) -> f32[64, 64] {\n  scope @s {\n")
        for i in range(ops):
            before = f"v{i - 1}" if i else "v"
            file.write(f"    %v{i} = Add(%{before}, %v) : f32[64, 64]\n")
        file.write(f"  }}\n  return %v{ops - 1}\n}}\n")


def seconds(commands):
    begin = time.perf_counter()
    for command in commands:
        subprocess.run(command, check=True)
    return time.perf_counter() - begin


def exponent(per_op, first):
    """By which power of the number of ops the time of all grows, from one of the sizes on."""
    return 1 + math.log(per_op[-1] / per_op[first]) / math.log(SIZES[-1] / SIZES[first])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skirc", default="build/skirc")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", default="build/backend/kernels", help="folder of skrt.h")
    args = figures.parse(parser, 5, 3)
    with tempfile.TemporaryDirectory(prefix="skir-bench.") as folder:
        def path(name):
            return os.path.join(folder, name)

        for ops in [1, *SIZES]:
            chain(path(f"{ops}.skir"), ops)
        rows = [[args.skirc, "compile", path(f"{COMPARED}.skir"), "-o", path("rows.o")]]
        source = [[args.skirc, "compile", "--emit=c", path(f"{COMPARED}.skir"), "-o", path("c.c")],
                  shlex.split(args.cc) + ["-std=gnu11", "-O1", "-fPIC", "-I" + args.include, "-c",
                                          path("c.c"), "-o", path("c.o")]]
        least = [[args.skirc, "compile", path("1.skir"), "-o", path("rows.o")]]
        samples = [(seconds(rows), seconds(source), seconds(least)) for _ in range(args.runs)]
        both = [statistics.median(column) for column in zip(*samples)]
        ratios = sorted(code / data for data, code, _ in samples)
        print(f"one entry of {COMPARED} ops, median of {args.runs} runs in turn: as rows, linked, "
              f"{both[0] * 1e3:.1f} ms; as C, not linked, {both[1] * 1e3:.1f} ms; "
              f"{ratios[0]:.1f} to {ratios[-1]:.1f} times as long")
        more = figures.quarters([(data - one) * 1e3 for data, _, one in samples])
        figures.add(args, f"`compile` of {COMPARED:,} ops, above that of 1", "≤ 10 ms",
                    "{1:.1f} ms ({0:.1f} to {2:.1f})".format(*more),
                    f"as C by the compiler, {both[1] * 1e3:.0f} ms")
        print(f"growth: median ns of wall time per op over {args.runs} runs, of {SIZES[0]} to "
              f"{SIZES[-1]} ops")
        per_op = []
        for ops in SIZES:
            command = [args.skirc, "compile", path(f"{ops}.skir"), "-o", path("rows.o")]
            runs = 1 if args.short and ops == SIZES[-1] else args.runs
            per_op.append(statistics.median(seconds([command]) for _ in range(runs)) * 1e9 / ops)
        # Below 10,000 ops, starting counts.
        grows = f"{exponent(per_op, 0):.2f}; from {SIZES[1]:,} on {exponent(per_op, 1):.2f}"
        print("  skirc compile " + "".join(f"{value:12.0f}" for value in per_op)
              + f"   exponent: {grows}")
        figures.add(args, f"growth of `compile`, {SIZES[0]:,} to {SIZES[-1]:,} ops: exponent", "1.0",
                    grows, f"{per_op[-1]:.0f} ns per op at the end")


if __name__ == "__main__":
    main()
