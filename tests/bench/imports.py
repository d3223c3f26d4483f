#!/usr/bin/env python3
"""Measures skirc import on generated dumps, one of each form and a small and a large one of GE's, and
on those that are named; beside protoc, which encodes the same text as GE's, where it is installed.

Whole processes are measured, in turn. Memory is the most that was resident: the mapped input, too.
"""

import argparse
import os
import shutil
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import bench
import dumps

GE = "ge-txt"


def inputs(args):
    """Paths, and the forms of those that are generated."""
    os.makedirs(args.data, exist_ok=True)
    sizes = [(GE, 1), (GE, args.large)] + [(form, args.size) for form in dumps.FORMS if form != GE]
    for form, size in sizes:
        path = dumps.path_of(args.data, form, size)
        if args.forms and form not in args.forms:
            continue
        if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(dumps.__file__):
            dumps.generate(path, form, size * 1_000_000)
        yield path, form
    for path in args.dumps:
        yield path, None


def commands(args, path, form):
    yield "skirc import", [args.skirc, "import", path, "-o", "/dev/null"]
    yield "skirc import --counts", [args.skirc, "import", "--counts", path, "-o", "/dev/null"]
    if args.against:
        yield "other import", [args.against, "import", path, "-o", "/dev/null"]
    if args.protoc and form == GE:
        # protoc reads its text from the standard input
        yield "protoc --encode", ["sh", "-c", f"exec '{args.protoc}' --proto_path='{HERE}' "
                                  f"--encode=ge.Model ge_graph.proto <'{path}' >/dev/null"]


def measure(args, path, form):
    size = os.path.getsize(path)
    lines = dict(commands(args, path, form))
    samples = {name: [] for name in lines}
    for run in range(args.runs + 1):
        for name, argv in lines.items():
            sample = bench.measure(argv)
            if run > 0:
                samples[name].append(sample)
    print(f"{os.path.basename(path)}: {size / 1e6:.1f} MB, {args.runs} interleaved runs of whole "
          "processes")
    print(f"  {'command':<22} {'median ms':>10} {'cpu ms':>9} {'MB/s':>8} {'peak MB':>8} {'/ input':>8}")
    medians = {}
    for name, runs in samples.items():
        wall, cpu = (statistics.median(getattr(s, k) for s in runs) for k in ("wall", "cpu"))
        rss = max(s.rss for s in runs)
        medians[name] = wall
        print(f"  {name:<22} {wall * 1e3:10.1f} {cpu * 1e3:9.1f} {size / 1e6 / wall:8.1f}"
              f" {rss / 1e6:8.1f} {rss / size:8.2f}")
    if "protoc --encode" in medians:
        print(f"  protoc --encode / skirc import: "
              f"{medians['protoc --encode'] / medians['skirc import']:.2f} x wall time")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skirc", default="build/skirc")
    parser.add_argument("--data", default="bench-data", help="folder for generated inputs")
    parser.add_argument("--size", type=int, default=20, help="MB of each form")
    parser.add_argument("--large", type=int, default=100, help="MB of the large one of GE's")
    parser.add_argument("--forms", nargs="+", choices=dumps.FORMS, help="only these")
    parser.add_argument("--against", help="another skirc, for comparison")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("dumps", nargs="*", help="other dumps, of any format")
    args = parser.parse_args()
    args.protoc = shutil.which("protoc")
    if not args.protoc:
        print("protoc is not installed (Debian: protobuf-compiler), so there is no comparison with it")
    for path, form in inputs(args):
        measure(args, path, form)


if __name__ == "__main__":
    main()
