#!/usr/bin/env python3
"""Measures sample kernels beside libraries that compute the same: products of matrices beside
OpenBLAS (f32), those of i8 beside oneDNN, elements beside NumPy, which has one thread.

All are measured in each round, so that a slow moment of the machine hits all of them; ratios are of
rounds, and of the shortest times. A library that is not installed is left out.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import figures


def import_numpy():
    """NumPy, or None; where only the system's Python has it, that one runs this program."""
    try:
        import numpy
        return numpy
    except ImportError:
        system = "/usr/bin/python3"
        if sys.executable != system and os.access(system, os.X_OK):
            os.execv(system, [system, *sys.argv])
        return None


def library(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


# ---- Peers: each makes a function of no arguments, or None where it is not installed ----


def floats(count):
    return (ctypes.c_float * count)(*(i % 251 * 0.008 - 1 for i in range(count)))


def open_blas(m, k, n):
    """A product of row-major matrices."""
    blas = library("libopenblas.so.0", "libopenblas.so")
    if not blas:
        return None
    a, b, c = floats(m * k), floats(k * n), floats(m * n)
    row_major, as_it_is = 101, 111

    def run():
        blas.cblas_sgemm(row_major, as_it_is, as_it_is, m, n, k, ctypes.c_float(1), a, k, b, n,
                         ctypes.c_float(0), c, n)
    return run


def one_dnn(m, k, n):
    dnnl = library("libdnnl.so.2", "libdnnl.so.3", "libdnnl.so")
    if not dnnl or not hasattr(dnnl, "dnnl_gemm_s8s8s32"):
        return None
    a = (ctypes.c_int8 * (m * k))(*(i % 251 - 125 for i in range(m * k)))
    b = (ctypes.c_int8 * (k * n))(*(i % 241 - 120 for i in range(k * n)))
    c, offset = (ctypes.c_int32 * (m * n))(), (ctypes.c_int32 * 1)()
    size, letter = ctypes.c_int64, ctypes.c_char

    def run():
        dnnl.dnnl_gemm_s8s8s32(
            letter(b"N"), letter(b"N"), letter(b"F"), size(m), size(n), size(k), ctypes.c_float(1),
            a, size(k), ctypes.c_int8(0), b, size(n), ctypes.c_int8(0), ctypes.c_float(0), c,
            size(n), offset)
    return run


def numpy_softmax(m, n):
    x = numpy.random.default_rng(1).standard_normal((m, n), numpy.float32)

    def run():
        powers = numpy.exp(x - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)
    return run


def numpy_exp(m, n):
    x = numpy.random.default_rng(1).standard_normal((m, n), numpy.float32)
    return lambda: numpy.exp(x)


def numpy_power(m, n):
    draw = numpy.random.default_rng(1)
    x = draw.uniform(0.1, 3, (m, n)).astype(numpy.float32)
    y = draw.standard_normal((m, n), numpy.float32)
    return lambda: numpy.power(x, y)


# ---- Cases ----


class Case:
    """An op, and what is measured beside it."""

    def __init__(self, title, operands, op, result, peer, repeat, inputs=(), aim=None):
        self.title, self.peer, self.repeat, self.inputs = title, peer, repeat, inputs
        self.aim = aim  # the library, and how many times as long at most
        parameters = ", ".join(f"%{name}: {of}" for name, of in operands.items())
        self.text = (f"skir 1\n\ngraph @f({parameters}) -> {result} {{\n"
                     f"  %y = {op} : {result}\n  return %y\n}}\n")
        self.own, self.others = [], []

    def measure(self, args, folder):
        """A round: adds the times of all runs, in milliseconds."""
        path = os.path.join(folder, "case.skir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)
        inputs = [f"--input={spec}" for spec in self.inputs]
        answer = subprocess.run(
            [args.skirc, "run", "--json", f"--repeat={self.repeat}", f"--threads={args.threads}",
             path, *inputs], check=True, capture_output=True, text=True).stdout
        self.own.append(json.loads(answer)["runs"][0]["times_ms"])
        if self.peer:
            times = []
            for _ in range(self.repeat + 1):
                begin = time.perf_counter()
                self.peer()
                times.append((time.perf_counter() - begin) * 1e3)
            self.others.append(times[1:])

    def report(self, args):
        def times(rounds):
            return statistics.median(map(statistics.median, rounds)), min(map(min, rounds))

        line = "{:42} {:9.3f} {:9.3f}".format(self.title, *times(self.own))
        if not self.peer:
            return line + "   (nothing beside it)"
        ratios = [statistics.median(own) / statistics.median(other)
                  for own, other in zip(self.own, self.others)]
        if self.aim:
            figures.ratio(args, f"{self.title}, skirc / {self.aim[0]}", self.aim[1], ratios,
                          f"{self.aim[0]}, {times(self.others)[0]:.2f} ms; skirc, "
                          f"{times(self.own)[0]:.2f} ms")
        return line + " {:9.3f} {:9.3f}   {:5.2f} {:5.2f}".format(
            *times(self.others), statistics.median(ratios),
            times(self.own)[1] / times(self.others)[1])


def product(title, dtype, peer, m, k, n, flags="", aim=None):
    x, y = f"{dtype}[{m}, {k}]", f"{dtype}[{k}, {n}]"
    repeat = max(10, min(200, 20 * 1024 ** 3 // (m * k * n) // 2))
    return Case(f"MatMul {title} {m} x {k} x {n}", {"a": x, "b": y}, f"MatMul(%a, %b){flags}",
                f"{dtype}[{m}, {n}]", peer, repeat, ["a=normal", "b=normal:2"], aim)


def cases(size):
    blas = open_blas(size, size, size)
    square = f"[{size}, {size}]"
    twice = ("OpenBLAS f32", "≤ 2 ×")
    yield product("f32", "f32", blas, size, size, size, aim=twice)
    yield product("f32, transposed", "f32", blas, size, size, size, " {transpose_x2}")
    yield product("bf16, f32 beside it", "bf16", blas, size, size, size, aim=twice)
    yield product("f16, f32 beside it", "f16", blas, size, size, size)
    yield product("f32", "f32", open_blas(size // 4, size // 4, size // 4), *[size // 4] * 3)
    yield product("f32", "f32", open_blas(1, size, size), 1, size, size)
    yield Case(f"QuantBatchMatmulV3 {size} x {size} x {size}",
               {"a": "i8" + square, "b": "i8" + square, "s": f"f32[{size}]"},
               "QuantBatchMatmulV3(%a, %b, %s)", "f16" + square, one_dnn(size, size, size), 20,
               aim=("oneDNN", "≤ 4 ×"))
    positive = ["a=rand:0.1..3", "b=normal:2"]
    for op, operands, peer, inputs in (
            ("Softmax", "a", numpy_softmax, ["a=normal"]), ("Exp", "a", numpy_exp, ["a=normal"]),
            ("Pows", "ab", numpy_power, positive)):
        yield Case(f"{op} f32 {square}", {name: "f32" + square for name in operands},
                   f"{op}({', '.join('%' + name for name in operands)})", "f32" + square,
                   peer(size, size) if numpy else None, 20, inputs,
                   None if op == "Exp" else ("NumPy", "≤ 1 ×"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skirc", default="build/skirc")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--size", type=int, default=1024)
    args = figures.parse(parser, 7, 5)
    # Read when the libraries are loaded.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(args.threads)
    wanted = list(cases(args.size))
    with tempfile.TemporaryDirectory(prefix="skir-bench.") as folder:
        for _ in range(args.runs):
            for case in wanted:
                case.measure(args, folder)
    print(f"kernels on {args.threads} threads, and OpenBLAS and oneDNN on as many, NumPy on one: ms, "
          f"{args.runs} rounds in turn")
    print("{:42} {:>9} {:>9} {:>9} {:>9}   {:>5} {:>5}".format(
        "", "median", "least", "beside", "least", "ratio", "least"))
    for case in wanted:
        print(case.report(args))


numpy = import_numpy()
if __name__ == "__main__":
    main()
