"""run --print and --expect: values as answers."""

import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import npy, write

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def answers(claim, status, wanted, *arguments, file):
    """All that the run prints behind its summary, and its status."""
    done = tap.skirc("run", file, "--repeat=0", *arguments)
    found = done.stdout.split("\n", 1)[1] if "\n" in done.stdout else ""
    tap.check(claim, done.returncode == status and found == wanted,
              f"status {done.returncode}: {done.stdout}{done.stderr}")


def refuses(claim, status, text, *arguments, file):
    done = tap.skirc("run", file, "--repeat=0", *arguments)
    tap.check(claim, done.returncode == status and text in done.stderr,
              f"status {done.returncode}: {done.stdout}{done.stderr}")


def params(*types):
    """A graph without ops, of parameters %a, %b, ..."""
    names = [f"%{chr(ord('a') + i)}" for i in range(len(types))]
    listed = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types))
    return f"skir 1\ngraph @g({listed}) -> ({', '.join(types)}) {{\n  return {', '.join(names)}\n}}\n"


# ---- What can be asked ----

write("asked.skir", params("f32[2]"))
write("three.npy", npy("<f4", "(3,)", struct.pack("<3f", 1, 2, 3)))
for spec, text in (("none.npy", "cannot open 'none.npy'"), ("three.npy", "[3]"), ("onse", "'onse' is none of")):
    done = tap.skirc("run", "asked.skir", "--repeat=0", f"--expect=a={spec}")
    tap.check(f"what cannot be expected is told before the run: {spec}",
              done.returncode == 1 and text in done.stderr and not done.stdout,
              f"status {done.returncode}: {done.stdout}{done.stderr}")

# ---- What is printed ----

write("p.skir", params("f32[2, 3]", "f32[2, 1, 2]", "bool[3]", "i64[]", "f16[0, 3]", "c64[2]",
                       "bf16[2]", "f32[4]"))
write("special.npy", npy("<f4", "(2, 3)", struct.pack("<6f", 1, float("nan"), float("inf"),
                                                      float("-inf"), -2.5, 3e10)))
answers("NaN and infinities are counted, and left out of the rest", 0,
        "%a: f32[2, 3]  min -2.5  max 3e+10  mean 1e+10  nan 1  inf 2\n"
        "  [[    1   nan   inf]\n"
        "   [ -inf  -2.5 3e+10]]\n", "-ia=special.npy", "--print=a", file="p.skir")
answers("matrices have a line between them", 0,
        "%b: f32[2, 1, 2]  min 0  max 3  mean 1.5  nan 0  inf 0\n"
        "  [[[0 1]]\n"
        "\n"
        "   [[2 3]]]\n", "-ib=arange", "--print=%b", file="p.skir")
answers("bool, a scalar, and several values in the order of the options", 0,
        "%d: i64[]  min -9223372036854775808  max -9223372036854775808  mean -9.22337e+18\n"
        "  -9223372036854775808\n"
        "%c: bool[3]  min 1  max 1  mean 1\n"
        "  [true true true]\n"
        "%d: i64[]  min -9223372036854775808  max -9223372036854775808  mean -9.22337e+18\n"
        "  -9223372036854775808\n",
        "-ic=true", "-id=-9223372036854775808", "--print=d", "--print=c", "--print=d", file="p.skir")
answers("what has no elements", 0, "%e: f16[0, 3]  nan 0  inf 0\n  []\n", "--print=e", file="p.skir")
answers("complex numbers have a mean only", 0,
        "%f: c64[2]  mean (1.5, 0)  nan 0  inf 0\n  [(1, 0) (2, 0)]\n", "-if=arange:1", "--print=f",
        file="p.skir")
write("elided.skir", params("i32[3, 9, 10]", "f32[100]"))
answers("of many rows, columns and matrices some are left out", 0,
        "%a: i32[3, 9, 10]  min 0  max 269  mean 134.5\n"
        "  [[[  0   1   2 ...   7   8   9]\n"
        "    [ 10  11  12 ...  17  18  19]\n"
        "    [ 20  21  22 ...  27  28  29]\n"
        "    ...\n"
        "    [ 60  61  62 ...  67  68  69]\n"
        "    [ 70  71  72 ...  77  78  79]\n"
        "    [ 80  81  82 ...  87  88  89]]\n"
        "\n"
        "   ...\n"
        "\n"
        "   [[180 181 182 ... 187 188 189]\n"
        "    [190 191 192 ... 197 198 199]\n"
        "    [200 201 202 ... 207 208 209]\n"
        "    ...\n"
        "    [240 241 242 ... 247 248 249]\n"
        "    [250 251 252 ... 257 258 259]\n"
        "    [260 261 262 ... 267 268 269]]]\n"
        "%b: f32[100]  min 0  max 9.9  mean 4.95  nan 0  inf 0\n"
        "  [  0 0.1 0.2 ... 9.7 9.8 9.9]\n",
        "-ia=arange", "-ib=arange:0:0.1", "--print=a", "--print=b", file="elided.skir")

INNER = """skir 1
graph @twice(%x: f32[4]) -> f32[4] {
  %y = Add(%x, %x) : f32[4]
  return %y
}

graph @lonely(%x: f32[4]) -> f32[4] {
  %y = NoKernel(%x, %x) : f32[4]
  return %y
}

graph @main(%c: bool[], %x: f32[4], %w: f16[2, 3]:FRACTAL_NZ) -> f32[4] {
  scope @s {
    %inner = Mul(%x, %x) : f32[4]
    %sum = Add(%inner, %x) : f32[4]
  }
  %call = If(%c, %sum) {then_branch = @twice, else_branch = @twice} : f32[4]
  return %call
}
"""
write("inner.skir", INNER)
answers("inner values, those of graphs that are called, and of other formats", 0,
        "%inner: f32[4]  min 0  max 9  mean 3.5  nan 0  inf 0\n  [0 1 4 9]\n"
        "@twice.%y: f32[4]  min 0  max 24  mean 10  nan 0  inf 0\n  [ 0  4 12 24]\n"
        "%w: f16[2, 3]:FRACTAL_NZ  min 0  max 5  mean 2.5  nan 0  inf 0\n  [[0 1 2]\n   [3 4 5]]\n",
        "--graph=main", "-ic=1", "-ix=arange", "-iw=arange", "--print=inner", "--print=@twice.%y", "--print", "w",
        file="inner.skir")
refuses("a value that is not there", 2, "--print: the graph has no value 'iner'; did you mean 'inner'?",
        "--graph=main", "--print=iner", file="inner.skir")
refuses("a graph that is not there", 2, "--print: '@main' calls no graph 'twise'; did you mean 'twice'?",
        "--graph=main", "--print=@twise.y", file="inner.skir")
refuses("a graph that is not called", 2, "--print: '@main' calls no graph 'lonely'",
        "--graph=main", "--print=@lonely.%y", file="inner.skir")
# ---- What is expected ----

answers("a file, and other forms of SPEC", 0, "%a is special.npy\n%b is arange:2\n%g is 0.5\n",
        "-ia=special.npy", "-ib=arange:2", "-ig=0.5", "--expect=a=special.npy", "--expect=%b=arange:2",
        "--expect=g=0.5", file="p.skir")
write("other.npy", npy("<f4", "(2, 3)", bytes.fromhex("0000803f0200c0ff0000807f000080ff") +
                       struct.pack("<2f", -2.5, 3e10)))
answers("NaN is as any NaN", 0, "%a is other.npy\n", "-ia=special.npy", "--expect=a=other.npy",
        file="p.skir")
answers("also within tolerance, as infinities are as the same", 0, "%a is other.npy\n",
        "-ia=special.npy", "--expect=a=other.npy", "--rtol=1", file="p.skir")
answers("NaN and infinities are as nothing else", 1,
        "%a is not -inf: 5 of 6 elements differ, first [0, 0]: 1, expected -inf\n", "-ia=special.npy",
        "--expect=a=-inf", "--rtol=1", "--atol=1e300", file="p.skir")
answers("-0 is not 0 bit for bit", 1,
        "%b is not zeros: 4 of 4 elements differ, first [0, 0, 0]: -0, expected 0\n", "-ib=-0",
        "--expect=b=zeros", file="p.skir")
answers("as a number it is", 0, "%b is zeros\n", "-ib=-0", "--expect=b=zeros", "--rtol=0",
        file="p.skir")
write("ref.npy", npy("<f8", "(2, 3)", struct.pack("<6d", 0.1, 1.1, 2.1, 3.1, 4.1, 5.1)))
answers("a reference in f64 is rounded", 0, "%a is ref.npy\n", "-ia=arange:0.1", "--expect=a=ref.npy",
        file="p.skir")
answers("but not for tolerances", 1,
        "%a is not ref.npy: 6 of 6 elements differ, first [0, 0]: 0.1, expected 0.1; largest error "
        "9.54e-08 at [0, 2], relative 4.54e-08 at [0, 2]\n", "-ia=arange:0.1", "--expect=a=ref.npy",
        "--atol=1e-9", file="p.skir")
answers("within them, the largest errors are said", 0,
        "%a is ref.npy: largest error 9.54e-08 at [0, 2], relative 4.54e-08 at [0, 2]\n",
        "-ia=arange:0.1", "--expect=a=ref.npy", "--rtol=1e-6", file="p.skir")
write("half.npy", npy("<f4", "(2,)", struct.pack("<2f", 0.30078125, 0.5)))
answers("and of dtypes that NumPy does not have", 0, "%g is half.npy\n", "-ig=arange:0.3:0.2",
        "--expect=g=half.npy", file="p.skir")
write("d.npy", npy("<i4", "()", struct.pack("<i", -7)))
answers("a reference of other integers", 0, "%d is d.npy\n", "-id=-7", "--expect=d=d.npy", file="p.skir")
answers("is compared as numbers", 1,
        "%d is not d.npy: 1 of 1 element differs, first []: 4294967289, expected -7; largest error "
        "4.29e+09 at [], relative 6.14e+08 at []\n", "-id=4294967289", "--expect=d=d.npy", file="p.skir")
answers("how much complex numbers differ", 1,
        "%f is not ones: 1 of 2 elements differs, first [1]: (4, 0), expected (1, 0); largest error 3 "
        "at [1], relative 3 at [1]\n", "-if=arange:1:3", "--expect=f=ones", file="p.skir")
answers("a value may be printed, and another be wrong", 1,
        "%b: f32[2, 1, 2]  min 1  max 1  mean 1  nan 0  inf 0\n  [[[1 1]]\n\n   [[1 1]]]\n"
        "%b is not 3: 4 of 4 elements differ, first [0, 0, 0]: 1, expected 3; largest error 2 at "
        "[0, 0, 0], relative 0.667 at [0, 0, 0]\n%b is ones\n", "-ib=1", "--print=b",
        "--expect=b=3", "--expect=b=ones", file="p.skir")
refuses("a reference of another shape", 1,
        "skirc: --expect 'special.npy': 'special.npy' has the shape [2, 3], but [4] is needed",
        "--expect=h=special.npy", file="p.skir")
refuses("and of another kind", 1, "holds i32, items of type '<i4', but the dtype is bool",
        "--expect=c=d.npy", file="p.skir")
refuses("a SPEC that is none", 1, "did you mean 'zeros'?", "--expect=h=zeroes", file="p.skir")
refuses("an expectation without a SPEC", 2, "--expect h: expected NAME=SPEC", "--expect=h", file="p.skir")
refuses("a tolerance that is none", 2, "'--rtol' needs a number that is not negative, not '-1'",
        "--rtol=-1", file="p.skir")
refuses("nor is this", 2, "'--atol' needs a number that is not negative, not '1x'", "--atol=1x",
        file="p.skir")
refuses("one of nothing", 2, "'--rtol' needs '--expect', or '--compare' with a file or options",
        "--rtol=1", file="p.skir")
refuses("or of what is compared bit for bit", 2, "'--atol' is about '--expect' and other files; "
        "'--compare=unfused' compares bit for bit", "--atol=1", "--compare=unfused", file="p.skir")
tap.done()
