#!/usr/bin/env python3
"""Measures skirc on large graphs, beside mlir-opt on the equivalent MLIR and llvm-as on as many calls
where these are installed.

Whole processes are measured, in turn (A B C A B C ...), so that a slow moment of the machine hits
all of them. What runs is the table COMMANDS; what is divided by what is the table RATIOS.
"""

import argparse
import collections
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

import figures

HERE = os.path.dirname(os.path.abspath(__file__))

# name, input format, command line; {input} and the programs are filled in.
Command = collections.namedtuple("Command", "name format argv")
COMMANDS = [
    Command("skirc fmt", "skir", ["{skirc}", "fmt", "-o", "/dev/null", "{input}"]),
    Command("skirc check", "skir", ["{skirc}", "check", "--no-lower", "{input}"]),
    # Parses, verifies and prints, with as many threads as it likes.
    Command(
        "mlir-opt",
        "mlir",
        ["{mlir_opt}", "--allow-unregistered-dialect", "-o", "/dev/null", "{input}"],
    ),
    Command("llvm-as", "llvm", ["{llvm_as}", "-o", "/dev/null", "{input}"]),
]
RATIOS = [("mlir-opt", "skirc fmt"), ("mlir-opt", "skirc check"), ("llvm-as", "skirc check")]
# What is aimed at.
AIMS = {("mlir-opt", "skirc check"): "≥ 20 ×", ("llvm-as", "skirc check"): "≥ 1 ×"}
LINEAR = "1.0"
# Commands measured for growth: the time per op should not depend on the size.
GROWTH = ["skirc fmt", "skirc check"]

# Passes timed by skirc itself: those that decide what is fused and ordered, on many scopes; and those
# that synchronise one large entry and prove it.
DECIDING_PASSES = ["assign-streams", "partition-scopes", "split-nonfusable",
                   "limit-stream-fusion", "insert-events"]
SYNC_PASSES = ["insert-syncs", "verify-sync"]
PassTable = collections.namedtuple("PassTable", "title format sizes passes shown")
PASS_TABLES = [
    PassTable("100 ops a scope, 8 streams", "mixed", None, DECIDING_PASSES, DECIDING_PASSES),
    PassTable("one entry of all ops, 4 streams", "fused", [10000, 100000],
              DECIDING_PASSES + ["bind-kernels", "lower-superkernels"] + SYNC_PASSES, SYNC_PASSES),
]

# Peers, and where they may be.
PEERS = {"mlir_opt": ["mlir-opt-16", "/usr/lib/llvm-16/bin/mlir-opt", "mlir-opt"],
         "llvm_as": ["llvm-as-16", "/usr/lib/llvm-16/bin/llvm-as", "llvm-as"]}
PACKAGES = {"mlir_opt": "mlir-16-tools", "llvm_as": "llvm"}
PEER_FORMATS = {"mlir": "mlir_opt", "llvm": "llvm_as"}

Sample = collections.namedtuple("Sample", "wall cpu rss")


def measure(argv):
    """Runs a command once: seconds of wall and processor time, and peak memory in bytes. What this
    process itself uses, about 10 MB, is a lower bound of what Linux reports for the child."""
    with open(os.devnull, "r+b") as null:
        begin = time.perf_counter()
        child = subprocess.Popen(argv, stdin=null, stdout=null, stderr=subprocess.PIPE)
        errors = child.stderr.read(4000)
        child.stderr.close()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(
            f"bench: exit status {child.returncode} from: {' '.join(argv)}\n"
            + errors.decode(errors="replace")
        )
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


class Bench:
    def __init__(self, args, peers):
        self.args = args
        self.peers = peers

    def input(self, syntax, ops):
        """The generated file; it is kept for the next time, unless its generator is newer."""
        path = os.path.join(self.args.data, f"ops{ops}.{syntax}")
        generator = os.path.join(HERE, "generate.py")
        if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(generator):
            os.makedirs(self.args.data, exist_ok=True)
            temporary = path + ".part"
            subprocess.run(
                [sys.executable, generator, f"--ops={ops}", "--format", syntax, "-o", temporary],
                check=True,
            )
            os.replace(temporary, path)
        return path

    def argv(self, command, ops):
        path = self.input(command.format, ops)
        names = {"skirc": self.args.skirc, "input": path, **self.peers}
        return [word.format(**names) for word in command.argv], os.path.getsize(path)

    def samples(self, commands, ops, runs):
        """{name: (samples, input size)} of interleaved runs; one more at first warms the caches."""
        lines = {c.name: self.argv(c, ops) for c in commands}
        result = {name: ([], size) for name, (_, size) in lines.items()}
        for number in range(runs + 1):
            for name, (argv, _) in lines.items():
                sample = measure(argv)
                if number > 0:
                    result[name][0].append(sample)
        return result

    def compare(self, ops, runs):
        commands = [c for c in COMMANDS
                    if c.format == "skir" or PEER_FORMATS[c.format] in self.peers]
        print(f"{ops} ops, {runs} interleaved runs of whole processes")
        print(f"  {'command':<14} {'input MB':>9} {'min ms':>9} {'median ms':>10} {'cpu ms':>9}"
              f" {'MB/s':>8} {'peak MB':>8}")
        medians = {}
        measured = self.samples(commands, ops, runs)
        for name, (samples, size) in measured.items():
            median = statistics.median(s.wall for s in samples)
            cpu = statistics.median(s.cpu for s in samples)
            rss = max(s.rss for s in samples)
            medians[name] = (median, cpu, rss)
            print(f"  {name:<14} {size / 1e6:9.2f} {min(s.wall for s in samples) * 1e3:9.1f}"
                  f" {median * 1e3:10.1f} {cpu * 1e3:9.1f} {size / 1e6 / median:8.1f}"
                  f" {rss / 1e6:8.1f}")
        for over, under in RATIOS:
            if over in medians and under in medians:
                wall, cpu, rss = (a / b for a, b in zip(medians[over], medians[under]))
                print(f"  {over} / {under}: {wall:.2f} x wall time, {cpu:.2f} x processor time,"
                      f" {rss:.2f} x memory (medians of the same ops)")
                walls = [[sample.wall for sample in measured[name][0]] for name in (over, under)]
                if (over, under) in AIMS:
                    figures.ratio(self.args, f"`{under[6:]}` of {ops:,} ops, {over} / skirc",
                                  AIMS[over, under], [a / b for a, b in zip(*walls)],
                                  f"{over}, {medians[over][0] * 1e3:.0f} ms; skirc, "
                                  f"{medians[under][0] * 1e3:.1f} ms")

    def growth(self, sizes, runs):
        commands = [c for c in COMMANDS if c.name in GROWTH]
        print(f"growth: median ns of wall time per op over {runs} runs")
        print(f"  {'command':<14}" + "".join(f"{ops:>12}" for ops in sizes))
        per_op = collections.defaultdict(list)
        for ops in sizes:
            for name, (samples, _) in self.samples(commands, ops, runs).items():
                per_op[name].append(statistics.median(s.wall for s in samples) * 1e9 / ops)
        for name, values in per_op.items():
            print(f"  {name:<14}" + "".join(f"{v:12.0f}" for v in values)
                  + f"   last / first: {values[-1] / values[0]:.2f}")
            grows = [1 + math.log(values[-1] / values[i]) / math.log(sizes[-1] / sizes[i])
                     for i in range(2)] # below the second size, starting counts
            figures.add(self.args, f"growth of `{name[6:]}`, {sizes[0]:,} to {sizes[-1]:,} ops: exponent",
                        LINEAR, f"{grows[0]:.2f}; from {sizes[1]:,} on {grows[1]:.2f}", f"{values[-1]:.0f} ns per op at the end")

    def pass_times(self, table, ops):
        """{pass: seconds} of one run."""
        argv = [self.args.skirc, "opt", "--time-passes", "--passes=" + ",".join(table.passes),
                "-o", os.devnull, self.input(table.format, ops)]
        lines = subprocess.run(argv, check=True, capture_output=True, text=True).stderr.splitlines()
        times = {name: float(ms) / 1e3 for ms, _, name in (line.split() for line in lines)}
        return {name: times[name] for name in table.shown}

    def passes(self, table, sizes, runs):
        sizes = table.sizes or sizes
        print(f"passes: median ns per op over {runs} runs, {table.title}")
        print(f"  {'pass':<20}" + "".join(f"{ops:>12}" for ops in sizes))
        medians = collections.defaultdict(list)
        for ops in sizes:
            samples = [self.pass_times(table, ops) for _ in range(runs)]
            for sample in samples:
                sample["all"] = sum(sample.values())
            for name in samples[0]:
                medians[name].append(statistics.median(s[name] for s in samples) * 1e9 / ops)
        for name, values in medians.items():
            print(f"  {name:<20}" + "".join(f"{v:12.0f}" for v in values)
                  + f"   last / first: {values[-1] / values[0]:.2f}")


def find_peers(args):
    """Where those are that are installed."""
    found = {}
    for name, places in PEERS.items():
        wanted = getattr(args, name)
        there = [path for path in map(shutil.which, [wanted] if wanted else places) if path]
        if there:
            found[name] = there[0]
        else:
            print(f"{name.replace('_', '-')} is not installed (Debian: {PACKAGES[name]}), so there is "
                  "no comparison with it")
    return found


def numbers(text):
    return [int(word) for word in text.split(",") if word]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skirc", default="build/skirc")
    for name, places in PEERS.items():
        parser.add_argument("--" + name.replace("_", "-"),
                            help="default: the first that exists of " + ", ".join(places))
    parser.add_argument("--data", default="bench-data", help="folder for generated inputs")
    parser.add_argument("--ops", type=int, default=100000, help="size of the comparison")
    parser.add_argument("--growth", type=numbers, default=[1000, 10000, 100000, 1000000],
                        help="sizes for growth, separated by commas; empty for none")
    args = figures.parse(parser, 5, 3)
    bench = Bench(args, find_peers(args))
    bench.compare(args.ops, args.runs)
    if args.growth:
        bench.growth(args.growth, max(1, args.runs // 2 + 1))
        for table in [] if args.short else PASS_TABLES:
            bench.passes(table, args.growth, max(1, args.runs // 2 + 1))


if __name__ == "__main__":
    main()
