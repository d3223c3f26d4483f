#!/usr/bin/env python3
"""Writes one synthetic graph as .skir text or as the equivalent MLIR in generic form.

usage: generate.py --ops N --format skir|mlir|llvm|mixed|fused [-o FILE] [--seed S]

Every hundred ops are ten at graph level and ninety of one scope, spread over the default stream
and the streams "1" and "2": in turn stream blocks inside the scope, and the scope inside stream
blocks. Some ops have attributes, two results, or `after` clauses.

The formats mixed and fused are other graphs, as .skir only.

The texts skir and mlir describe the same ops in the same nesting, with the same names:
  - MLIR does not show a region's values to what follows it, so ops use only values of the blocks
    around them, which is legal in both languages.
  - A scope or stream block is an op with one region.
  - An `after` clause becomes additional operands and their number as an attribute.
  - The graph is a registered func.func, so that mlir-opt verifies dominance as skirc verifies the
    order of definitions.

The text llvm has the same ops as calls of functions that it declares, without scopes and streams;
two results are taken out of what a call returns.
"""

import argparse
import random
import sys

OPS_PER_GROUP = 100
OUTER_OPS = 10
RECENT = 64  # operands come from this many latest values of a block

F16, I32 = range(2)
SKIR_TYPES = ["f16[1000, 1000]", "i32[1000]"]
MLIR_TYPES = ["tensor<1000x1000xf16>", "tensor<1000xi32>"]

# Op type, operand types, result types, attributes: spelled the same in both languages.
OPS = [
    ("Add", [F16, F16], [F16], ""),
    ("Mul", [F16, F16], [F16], ""),
    ("MatMul", [F16, F16], [F16], " {transpose_x1 = false, transpose_x2 = true}"),
    ("Add", [F16, F16], [F16], ""),
    ("SoftmaxV2", [F16], [F16], " {axes = [-1], half_to_float = false}"),
    ("ArgMaxWithValue", [F16], [I32, F16], ' {dimension = 1, mode = "last"}'),
    ("Gather", [F16, I32], [F16], " {batch_dims = 0}"),
    ("Mul", [F16, F16], [F16], ""),
]


class Block:
    """The values that an op in a block can use: the block's own and those of the blocks around."""

    def __init__(self, parent=None):
        self.values = [list(v) for v in parent.values] if parent else [["%a", "%b"], ["%i"]]

    def pick(self, rng, wanted):
        values = self.values[wanted]
        first = max(0, len(values) - RECENT)
        return values[first + int(rng.random() * (len(values) - first))]


class Skir:
    type_texts = SKIR_TYPES

    def begin(self):
        types = self.type_texts
        return (
            'skir 1\n\ntarget "ascend910_9391" {aic = 24, aiv = 48}\n\n'
            f"graph @bench(%a: {types[F16]}, %b: {types[F16]}, %i: {types[I32]}) -> {types[F16]} {{\n"
        )

    def end(self, result):
        return f"  return {result}\n}}\n"

    def open_scope(self, number):
        return f'scope @s{number} {{options = "stream-fusion=1"}} {{\n'

    def open_stream(self, label):
        return f'stream "{label}" {{priority = 0}} {{\n'

    def close_scope(self, number):
        return "}\n"

    def close_stream(self, label):
        return "}\n"

    def op(self, kind, results, operands, result_types, operand_types, attributes, after):
        types = ", ".join([self.type_texts[t] for t in result_types])
        if len(result_types) > 1:
            types = f"({types})"
        clause = f" after ({', '.join(after)})" if after else ""
        return f"{', '.join(results)} = {kind}({', '.join(operands)}){attributes} : {types}{clause}\n"


class Mlir:
    type_texts = MLIR_TYPES

    def begin(self):
        types = self.type_texts
        return (
            f"func.func @bench(%a: {types[F16]}, %b: {types[F16]}, %i: {types[I32]})"
            f" -> {types[F16]} {{\n"
        )

    def end(self, result):
        return f"  func.return {result} : {self.type_texts[F16]}\n}}\n"

    def open_scope(self, number):
        return '"skir.scope"() ({\n'

    def open_stream(self, label):
        return '"skir.stream"() ({\n'

    def close_scope(self, number):
        return f'}}) {{options = "stream-fusion=1", sym_name = "s{number}"}} : () -> ()\n'

    def close_stream(self, label):
        return f'}}) {{label = "{label}", priority = 0}} : () -> ()\n'

    def op(self, kind, results, operands, result_types, operand_types, attributes, after):
        if after:
            operands = operands + after
            operand_types = operand_types + [F16] * len(after)
            count = f"after = {len(after)}"
            attributes = f"{attributes[:-1]}, {count}}}" if attributes else f" {{{count}}}"
        sources = ", ".join([self.type_texts[t] for t in operand_types])
        types = ", ".join([self.type_texts[t] for t in result_types])
        if len(result_types) > 1:
            types = f"({types})"
        return (
            f"{', '.join(results)} = \"skir.{kind}\"({', '.join(operands)}){attributes}"
            f" : ({sources}) -> {types}\n"
        )


class Llvm:
    """Tensors are numbers. The second of two results is taken out of what the call returns."""

    def begin(self):
        lines = ""
        for kind, count, results in sorted({(k, len(o), len(r)) for k, o, r, _ in OPS}):
            returns = "{ i64, i64 }" if results > 1 else "i64"
            lines += f"declare {returns} @{kind}({', '.join(['i64'] * count)})\n"
        return lines + "\ndefine i64 @bench(i64 %a, i64 %b, i64 %i) {\n"

    def end(self, result):
        return f"  ret i64 {result}\n}}\n"

    def open_scope(self, number):
        return f"; scope {number}\n"

    def open_stream(self, label):
        return f"; stream {label}\n"

    def close_scope(self, number):
        return "\n"

    def close_stream(self, label):
        return "\n"

    def op(self, kind, results, operands, result_types, operand_types, attributes, after):
        call = f"@{kind}({', '.join('i64 ' + name for name in operands)})\n"
        if len(results) == 1:
            return f"{results[0]} = call i64 {call}"
        pair = "{ i64, i64 }"
        return (f"%p{results[0][2:]} = call {pair} {call}"
                + "".join(f"  {name} = extractvalue {pair} %p{results[0][2:]}, {i}\n"
                          for i, name in enumerate(results)))


class Generator:
    def __init__(self, syntax, out, seed):
        self.syntax = syntax
        self.write = out.write
        self.rng = random.Random(seed)
        self.count = 0

    def ops(self, block, count, depth):
        """`count` ops that define their values in `block`."""
        rng = self.rng
        indent = "  " * depth
        for _ in range(count):
            kind, operand_types, result_types, attributes = OPS[int(rng.random() * len(OPS))]
            operands = [block.pick(rng, t) for t in operand_types]
            after = [block.pick(rng, F16)] if rng.random() < 0.05 else []
            results = [f"%v{self.count}" if i == 0 else f"%w{self.count}"
                       for i in range(len(result_types))]
            self.write(indent + self.syntax.op(kind, results, operands, result_types,
                                               operand_types, attributes, after))
            for result, result_type in zip(results, result_types):
                block.values[result_type].append(result)
            self.count += 1
        for values in block.values:
            del values[:-RECENT]

    def stream(self, parent, label, depth, body):
        self.write("  " * depth + self.syntax.open_stream(label))
        body(Block(parent), depth + 1)
        self.write("  " * depth + self.syntax.close_stream(label))

    def scope(self, parent, number, depth, body):
        self.write("  " * depth + self.syntax.open_scope(number))
        body(Block(parent), depth + 1)
        self.write("  " * depth + self.syntax.close_scope(number))

    def streams_in_scope(self, outer, number, count):
        third = count // 3

        def body(block, depth):
            self.ops(block, count - 2 * third, depth)
            for label in "12":
                self.stream(block, label, depth, lambda b, d: self.ops(b, third, d))

        self.scope(outer, number, 1, body)

    def scope_in_streams(self, outer, number, count):
        for label, share in ("1", count // 2), ("2", count - count // 2):
            def in_scope(block, depth, share=share):
                self.ops(block, share, depth)

            def in_stream(block, depth, in_scope=in_scope):
                self.scope(block, number, depth, in_scope)

            self.stream(outer, label, 1, in_stream)

    def graph(self, total):
        self.write(self.syntax.begin())
        outer = Block()
        number = 0
        while self.count < total:
            self.ops(outer, min(OUTER_OPS, total - self.count), 1)
            inner = min(OPS_PER_GROUP - OUTER_OPS, total - self.count)
            if inner > 0:
                shape = self.scope_in_streams if number % 2 else self.streams_in_scope
                shape(outer, number, inner)
            number += 1
        self.write(self.syntax.end(outer.values[F16][-1]))


def mixed_graph(out, total, streams, seed):
    """Scopes whose ops switch between streams every few ops and use values of all of them, for the
    passes that work on scopes, streams and events. Only as .skir: MLIR does not let values out of
    their regions."""
    rng = random.Random(seed)
    out.write("skir 1\n\ngraph @mixed(%v0: f16[64, 64]) -> f16[64, 64] {\n")
    count = 1

    def ops(number, depth):
        nonlocal count
        for _ in range(number):
            a, b = (max(0, count - 1 - int(rng.random() * RECENT)) for _ in "ab")
            out.write(f"{'  ' * depth}%v{count} = Add(%v{a}, %v{b}) : f16[64, 64]\n")
            count += 1

    for scope in range(total // OPS_PER_GROUP):
        ops(OUTER_OPS, 1)
        out.write(f'  scope @s{scope} {{options = "stream-fusion=1"}} {{\n')
        left = OPS_PER_GROUP - OUTER_OPS
        while left:
            run = min(left, 1 + int(rng.random() * 8))
            label = int(rng.random() * streams)
            if label:
                out.write(f'    stream "{label}" {{\n')
            ops(run, 3 if label else 2)
            if label:
                out.write("    }\n")
            left -= run
        out.write("  }\n")
    out.write(f"  return %v{count - 1}\n}}\n")


def fused_graph(out, total, streams, seed):
    """One scope of all ops, each stream a third cube, vector and mixed ones, for the passes over
    entries. Operands come from recent values of all streams."""
    rng = random.Random(seed)
    out.write('skir 1\n\ntarget "ascend910_9391" {aic = 24, aiv = 48}\n\n'
              "kernel @k0 : aic_only {block = 24}\nkernel @k1 : aiv_only {block = 48}\n"
              "kernel @k2 : mix_aic_1_2 {block = 24}\n\n"
              "graph @fused(%v0: f16[64, 64]) -> f16[64, 64] {\n"
              '  scope @s {options = "stream-fusion=1:early-start=0:preload-code=none"} {\n')
    for i in range(1, total + 1):
        a, b = (max(0, i - 1 - int(rng.random() * RECENT)) for _ in "ab")
        out.write(f'    stream "{int(rng.random() * streams)}" {{\n'
                  f"      %v{i} = Add(%v{a}, %v{b}) : f16[64, 64] via @k{int(rng.random() * 3)}\n"
                  "    }\n")
    out.write(f"  }}\n  return %v{total}\n}}\n")


def main():
    parser = argparse.ArgumentParser(description="a synthetic graph as .skir or MLIR text")
    parser.add_argument("--ops", type=int, required=True)
    parser.add_argument("--format", choices=["skir", "mlir", "llvm", "mixed", "fused"],
                        required=True,
                        help="mixed: .skir with more streams and orders between them; "
                        "fused: .skir of one super kernel")
    parser.add_argument("--streams", type=int, help="of a mixed graph (8) or a fused one (4)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", dest="output", default="-")
    args = parser.parse_args()
    out = sys.stdout if args.output == "-" else open(args.output, "w", encoding="ascii")
    with out:
        if args.format == "mixed":
            mixed_graph(out, args.ops, args.streams or 8, args.seed)
            return
        if args.format == "fused":
            fused_graph(out, args.ops, args.streams or 4, args.seed)
            return
        Generator({"skir": Skir, "mlir": Mlir, "llvm": Llvm}[args.format](), out, args.seed).graph(args.ops)


if __name__ == "__main__":
    main()
