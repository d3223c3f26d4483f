#!/usr/bin/env python3
"""Measures skirc import on dumps of GE's form: one of about 1 MB, one of about 100 MB, and those that
are named; beside protoc, which encodes the same text, where it is installed.

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


def desc(indent, kind, shape):
    dims = "".join(f"{indent}    dim: {n}\n" for n in shape)
    return (f"{indent}{kind} {{\n{indent}  dtype: DT_FLOAT16\n{indent}  shape {{\n{dims}{indent}  }}\n"
            f"{indent}  layout: \"NCHW\"\n{indent}  attr {{\n{indent}    key: \"origin_format\"\n"
            f"{indent}    value {{\n{indent}      s: \"NCHW\"\n{indent}    }}\n{indent}  }}\n"
            f"{indent}  has_out_attr: true\n{indent}  size: 802816\n{indent}}}\n")


def op(number, kind, inputs):
    """As much text to an op as real dumps have: about 2 KB."""
    text = f'  op {{\n    name: "model/block{number // 64}/{kind.lower()}_{number}"\n    type: "{kind}"\n'
    text += "".join(f'    input: "{name}:0"\n' for name in inputs)
    for key, value in (("_datadump_original_op_names", 's: "block"'), ("imply_type", "i: 1"),
                       ("alpha", "f: 0.25"), ("_is_aicore", "b: true"), ("stream_label", 's: "main"')):
        text += (f'    attr {{\n      key: "{key}"\n      value {{\n        {value}\n      }}\n'
                 "    }\n")
    text += "    has_out_attr: true\n"
    text += "".join(desc("    ", "input_desc", (8, 64, 28, 28)) for _ in inputs)
    return text + desc("    ", "output_desc", (8, 64, 28, 28)) + f"    id: {number + 1}\n  }}\n"


def generate(path, size):
    with open(path + ".part", "w") as out:
        out.write('graph {\n  name: "generated"\n' + op(0, "Data", []))
        names, written, number = ["model/block0/data_0"], 0, 0
        while written < size:
            number += 1
            kind = ("Add", "Relu", "Mul", "Sigmoid")[number % 4]
            count = 2 if kind in ("Add", "Mul") else 1
            text = op(number, kind, [names[-1 - i * 7 % len(names)] for i in range(count)])
            names = names[-64:] + [f"model/block{number // 64}/{kind.lower()}_{number}"]
            written += out.write(text)
        out.write("}\n")
    os.replace(path + ".part", path)


def inputs(args):
    os.makedirs(args.data, exist_ok=True)
    for size in (1_000_000, args.size * 1_000_000):
        path = os.path.join(args.data, f"ge{size // 1_000_000}.txt")
        if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(__file__):
            generate(path, size)
        yield path
    yield from args.dumps


def commands(args, path):
    yield "skirc import", [args.skirc, "import", path, "-o", "/dev/null"]
    yield "skirc import --counts", [args.skirc, "import", "--counts", path, "-o", "/dev/null"]
    if args.protoc and path not in args.dumps:
        # protoc reads its text from the standard input
        yield "protoc --encode", ["sh", "-c", f"exec '{args.protoc}' --proto_path='{HERE}' "
                                  f"--encode=ge.Model ge_graph.proto <'{path}' >/dev/null"]


def measure(args, path):
    size = os.path.getsize(path)
    lines = dict(commands(args, path))
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
    parser.add_argument("--size", type=int, default=100, help="MB of the large input")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("dumps", nargs="*", help="other dumps, of any format")
    args = parser.parse_args()
    args.protoc = shutil.which("protoc")
    if not args.protoc:
        print("protoc is not installed (Debian: protobuf-compiler), so there is no comparison with it")
    for path in inputs(args):
        measure(args, path)


if __name__ == "__main__":
    main()
