"""run: what kernels do wrong is reported with the op: they crash, hang, end the process, write out of
bounds or into values of others, leave elements unwritten, read what no kernel has written, or are
code of another architecture."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

CC = os.environ.get("CC", "cc").split() or ["cc"]
SOURCE = os.environ["SKIR_SOURCE"]
INCLUDES = ["-I", SOURCE, "-I", os.path.join(SOURCE, "backend/runtime"), "-I", os.path.join(SOURCE, "ir/core")]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def build(name, body, ctype="float"):
    """A kernel of one block, of the tensors x and y of n elements and a workspace w."""
    write("k.c", f"""#include <stdint.h>
#include "skrt.h"
void bad(skrt_core *core, uint64_t offset)
{{
    uint64_t *args = skrt_args(core, offset), n = 60;
    {ctype} *x = ({ctype} *)args[0], *y = ({ctype} *)args[1];
    char *w = (char *)args[2];
    if (skrt_block_idx(core) > 0)
        return;
    (void)x, (void)y, (void)w, (void)n;
    {body}
}}
""")
    subprocess.run([*CC, "-c", "-fPIC", "-O1", *INCLUDES, "k.c", "-o", name + ".o"], check=True)


def module(name, dtype="f32", ops=None, format_=""):
    """%b, in the line LINE, is what the kernel makes."""
    ops = ops or f"""%a = Cast(%x) : {dtype}[6, 10]
    %b = Bad(%a) : {dtype}[6, 10]{format_} via @bad
    %c = Bad2(%b) : {dtype}[6, 10]{format_} via @copy"""
    write(name + ".skir", f"""skir 1
kernel @bad : aiv_only {{block = 2, object = "{name}.o", function = "bad", workspace = 48, params = [x, y, workspace]}}
kernel @copy : aiv_only {{block = 2, object = "copy.o", function = "bad", workspace = 8, params = [x, y, workspace]}}
graph @g(%x: f32[6, 10]) -> {dtype}[6, 10]{format_} {{
  scope @s {{
    {ops}
  }}
  return %c
}}
""")


WAYS = [["--repeat=0"], ["--repeat=2"], ["--compare=unfused", "--repeat=2"]]
MORE = [["--check-kernels", "--repeat=0"], ["--repeat=3"], []]
READS = "computes with what nobody has written, or something else each time"
LINE = 7


def is_named(claim, name, text, ways=WAYS, line=LINE, errors=1, column=10):
    """The op of that line is the only one that is blamed, with that text."""
    for way in ways:
        done = tap.skirc("run", name + ".skir", *way)
        tap.check(f"{claim}: {' '.join(way)}",
                  done.returncode == 1 and done.stderr.count("[wrong-kernel]") == errors and
                  f"{name}.skir:{line}:{column}: error: the kernel of {text} [wrong-kernel]" in done.stderr,
                  f"status {done.returncode}: {done.stdout}{done.stderr}")


def is_right(claim, name, ways=WAYS):
    for way in ways:
        done = tap.skirc("run", name + ".skir", *way)
        tap.check(f"{claim}: {' '.join(way)}", done.returncode == 0 and not done.stderr,
                  f"status {done.returncode}: {done.stdout}{done.stderr}")


def crashes(claim, name, text):
    done = tap.skirc("run", name + ".skir")
    tap.check(claim, done.returncode == 1 and "skirc: a sub-kernel crashed (signal 11)" in done.stderr and
              text in done.stderr, f"status {done.returncode}: {done.stdout}{done.stderr}")


ALL = "for (uint64_t i = 0; i < n; i++) y[i] = x[i];"
build("copy", ALL)

# ---- What is wrong ----

CASES = [
    ("does nothing", "nothing", "", "Bad %b writes none of the 60 elements of '%b', the first at [0, 0]"),
    ("leaves the last element", "last", "for (uint64_t i = 0; i + 1 < n; i++) y[i] = x[i];",
     "Bad %b leaves 1 of 60 elements of '%b' unwritten, the first at [5, 9]"),
    ("writes only even elements", "even", "for (uint64_t i = 0; i < n; i += 2) y[i] = x[i];",
     "Bad %b leaves 30 of 60 elements of '%b' unwritten, the first at [0, 1]"),
    ("writes behind its tensor", "behind", ALL + "y[n] = 0;",
     "Bad %b writes behind '%b', which has 60 elements: the first at 60, 4 bytes in all"),
    ("writes before its tensor", "before", ALL + "y[-1] = 0;",
     "Bad %b writes before '%b', which has 60 elements: the first at -1, 4 bytes in all"),
    ("writes behind another tensor", "other", ALL + "x[n + 3] = 0;",
     "Bad %b writes behind '%a', which has 60 elements: the first at 63, 4 bytes in all"),
    ("copies what is behind its operand", "pieces",
     "for (uint64_t i = 0; i < n; i += 8) __builtin_memcpy(y + i, x + i, 32);",
     "Bad %b writes behind '%b', which has 60 elements: the first at 60, 16 bytes in all"),
    ("copies and clips it", "clips",
     "for (uint64_t i = 0; i < (n + 7) / 8 * 8; i++) y[i] = x[i] < -1e9f ? -1e9f : x[i];",
     "Bad %b writes behind '%b', which has 60 elements: the first at 60, 16 bytes in all"),
    ("copies what is before its operand", "copies_before", ALL + "__builtin_memcpy(y - 4, x - 4, 16);",
     "Bad %b writes before '%b', which has 60 elements: the first at -4, 16 bytes in all"),
    ("writes behind its workspace", "workspace", ALL + "w[48] = w[50] = 0;",
     "Bad %b writes behind its workspace of 48 bytes: the first at byte 48, 2 in all"),
    ("writes before its workspace", "workspace2", ALL + "w[-2] = 0;",
     "Bad %b writes before its workspace of 48 bytes: the first at byte -2, 1 in all"),
]
for claim, name, body, text in CASES:
    build(name, body)
    module(name)
    is_named(claim, name, text)

SUM = "for (uint64_t i = 0; i < n; i++) y[i] += x[i];"
for dtype, ctype in ("f32", "float"), ("f16", "_Float16"):
    build("sum", SUM, ctype)
    module("sum", dtype, f"""%a = Cast(%x) : {dtype}[6, 10]
    %b = Bad(%a) : {dtype}[6, 10] via @bad
    %c = Neg(%b) : {dtype}[6, 10]""")
    is_named(f"reads what it has not written, in {dtype}", "sum", "Bad %b " + READS, WAYS[1:] + MORE)
build("sum", "for (uint64_t i = 0; i < n; i++) y[i] = i == 13 ? x[i] - y[i] : x[i];")
module("sum")
is_named("one element of it", "sum", "Bad %b " + READS, WAYS[1:] + MORE)
for claim, name, body in (("greatest", "greatest", "y[i] = y[i] > x[i] ? y[i] : x[i];"),
                          ("least", "least", "y[i] = y[i] < x[i] ? y[i] : x[i];")):
    for dtype, ctype in ("f32", "float"), ("i32", "int32_t"), ("i8", "int8_t"):
        build(name, f"for (uint64_t i = 0; i < n; i++) {body}", ctype)
        module(name, dtype, f"""%a = Cast(%x) : {dtype}[6, 10]
    %b = Bad(%a) : {dtype}[6, 10] via @bad
    %c = Relu(%b) : {dtype}[6, 10]""")
        is_named(f"takes the {claim} of {dtype} and what it has not written", name, "Bad %b " + READS, MORE)
for claim, name, body in (("its workspace before it writes it", "stale", "y[i] = x[i] + ((float *)w)[i % 12];"),
                          ("behind its operand", "reads_behind", "y[i] = x[i] + x[i + 1];"),
                          ("before its operand", "reads_before", "y[i] = x[i] + x[(int64_t)i - 1];")):
    build(name, f"for (uint64_t i = 0; i < n; i++) {body}")
    module(name)
    is_named(f"reads {claim}", name, "Bad %b " + READS, MORE)
build("kept", "for (uint64_t i = 0; i < n; i++) ((float *)w)[i % 12] = x[i], y[i] = ((float *)w)[i % 12] + 1;")
module("kept")
is_right("one that keeps in its workspace what it needs", "kept", WAYS + MORE)
build("varies", "static int calls; calls++; for (uint64_t i = 0; i < n; i++) y[i] = x[i] + calls;")
module("varies")
is_named("computes something else each time", "varies", "Bad %b " + READS, MORE)
build("input", ALL + "x[13] = x[14] = 1e9f;")
module("input", ops="""%b = Bad(%x) : f32[6, 10] via @bad
    %c = Bad2(%b) : f32[6, 10] via @copy""")
is_named("writes an input", "input", "Bad %b writes into its operand '%x', which the op only reads", line=6)
module("input", ops="""%i = Const() {value = 2.5} : f32[6, 10]
    %b = Bad(%i) : f32[6, 10] via @bad
    %c = Bad2(%b) : f32[6, 10] via @copy""")
is_named("writes a constant", "input", "Bad %b writes into its operand '%i', which the op only reads")
is_right("which --trust-kernels does not look at", "input", [["--trust-kernels"]])
INPUT = """%b = Bad(%x) : f32[6, 10] via @bad
    %c = Bad2(%b) : f32[6, 10] via @copy"""
# Vectors that reach behind the end of an input put back what is there.
build("reaches", ALL + "x[n] = x[n];")
module("reaches", ops=INPUT)
is_right("what is beside an input may be written if it stays", "reaches")
build("overwrites", "for (uint64_t i = 0; i < n; i++) y[i] = x[i], x[i] = 7;")
module("overwrites")
is_named("writes what another op has made", "overwrites",
         "Bad %b writes into its operand '%a', which the op only reads", [WAYS[2]])
is_right("unless that is trusted", "overwrites", [["--compare=unfused", "--trust-kernels"]])
write("overwrites.skir", open("overwrites.skir").read().replace(
    "Bad(%a)", "Bad(%a) {inplace = [0]}"))
is_right("or said to be so", "overwrites", [WAYS[2]])
write("overwrites.skir", """skir 1
kernel @bad : aiv_only {block = 2, object = "overwrites.o", function = "bad", workspace = 48, params = [x, y, workspace]}
graph @called(%x: f32[60]) -> f32[60] {
  %a = Add(%x, %x) : f32[60]
  %b = Bad(%a) : f32[60] via @bad
  %c = Add(%a, %b) : f32[60]
  return %c
}
graph @main(%c: bool[], %x: f32[60]) -> f32[60] {
  %y = If(%c, %x) {then_branch = @called, else_branch = @called} : f32[60]
  return %y
}
""")
is_named("in a graph that is called", "overwrites",
         "Bad %b writes into its operand '%a', which the op only reads", [WAYS[2]], 5, column=8)
# The second call writes the result of the first.
build("others", "static float *first; if (!first) first = y; else if (first != y) first[13] = 7; " + ALL)
module("others", ops="""%a = Bad(%x) : f32[6, 10] via @bad
    %b = Bad(%x) : f32[6, 10] via @bad
    %c = Add(%b, %b) : f32[6, 10]""")
is_named("writes what another op has made", "others", "Bad %b writes into '%a', which is none of the op's values",
         [["--check-kernels", "--repeat=0"], ["--check-kernels", "--compare=unfused", "--repeat=2"]])
# Two ops may write a memory in parts.
build("parts", "for (uint64_t i = 0; i < n / 2; i++) y[i] = 1;")
build("rest", "for (uint64_t i = n / 2; i < n; i++) x[i] = 3;")
write("rest.skir", """skir 1
kernel @k : aiv_only {block = 2, object = "parts.o", function = "bad", workspace = 8, params = [x, y, workspace]}
kernel @rest : aiv_only {block = 2, object = "rest.o", function = "bad", workspace = 8, params = [x, y, workspace]}
graph @g(%x: f32[60]) -> f32[60] {
  scope @s {
    %a = Part(%x) : f32[60] via @k
    %b = Rest(%a) {inplace = [0], alias = [0]} : f32[60] via @rest
  }
  return %b
}
""")
is_right("two ops that write a memory in parts", "rest", WAYS + MORE)

build("tiling", "for (uint64_t i = 0; i < n; i++) y[i] = x[i]; *(uint64_t *)(args[2] + 224) = 0;")
write("tiling.skir", """skir 1
kernel @bad : aiv_only {block = 2, object = "tiling.o", function = "bad", params = [x, y, tiling]}
graph @g(%x: f32[6, 10]) -> f32[6, 10] {
  scope @s {
    %b = Bad(%x) : f32[6, 10] via @bad
  }
  return %b
}
""")
is_named("writes behind the tiling", "tiling",
         "Bad %b writes behind its tiling of 216 bytes: the first at byte 224, 8 in all", WAYS[:1], 5)
build("both", "for (uint64_t i = 0; i + 1 < n; i++) y[i] = x[i]; y[n] = y[-1] = 0;")
module("both")
is_named("all that a kernel does is said", "both", CASES[1][3], WAYS[:1], errors=2)
is_named("each thing", "both", "Bad %b writes before '%b', which has 60 elements: the first at -1, "
         "8 bytes in all", WAYS[:1], errors=2)

build("far", ALL + "y[n + 2000] = 0;")
module("far")
crashes("writes far behind crash where they happen", "far",
        "in op bad(%a, %b)\nit touched what is 8000 bytes behind the end of '%b'\n")
build("far2", ALL + "y[-1100] = 0;")
module("far2")
crashes("and so do those far before", "far2",
        "in op bad(%a, %b)\nit touched what is 4400 bytes before '%b'\n")
build("far3", ALL + "y[(uint64_t)1 << 40] = 0;")
module("far3")
crashes("and those that are near nothing", "far3", "in op bad(%a, %b)\n")

# Kernels only read the slots that they are given: they are compared after the launch.
build("slots", ALL + "args[1] ^= 4;")
module("slots")
for way in [[], ["--trust-kernels"], ["--target=ascend"]]:
    done = tap.skirc("run", "slots.skir", "--repeat=0", *way)
    tap.check(f"a kernel changes a slot of the launch's arguments: {' '.join(way)}", done.returncode == 1 and
              "skirc: misuse" in done.stderr and "launch g_s: a kernel has changed slot 5 " in done.stderr and
              "of the launch's arguments, which kernels only read; it is for Bad(%a, %b)\n" in done.stderr,
              f"status {done.returncode}: {done.stdout}{done.stderr}")

# ---- What ends the process ----

for name, body, texts in (
        ("segfault", "*(volatile int *)8 = 1;", ["skirc: a sub-kernel crashed (signal 11)", "in op bad(%a, %b)"]),
        ("hang", "for (volatile int i = 0;; i++);", ["skirc: timeout", "in op bad(%a, %b)"]),
        ("exit", "__builtin_exit(0);", ["skirc: a sub-kernel has called exit", "in op bad(%a, %b)"])):
    build(name, body)
    module(name)
    done = tap.skirc("run", name + ".skir", "--timeout=1")
    tap.check(f"a {name} is reported", done.returncode == 1 and all(text in done.stderr for text in texts),
              f"status {done.returncode}: {done.stdout}{done.stderr}")
build("foreign", ALL)
with open("foreign.o", "r+b") as file:
    file.seek(18)  # e_machine
    file.write((243).to_bytes(2, sys.byteorder))
module("foreign")
done = tap.skirc("run", "foreign.skir")
tap.check("code of another architecture is reported", done.returncode == 1 and "foreign.skir:2:8: error: ./foreign.o is for riscv" in
          done.stderr, f"status {done.returncode}: {done.stdout}{done.stderr}")

# ---- What shows in the fused graph alone: its second op has its parameters further behind ----

FUSED = [
    ("leaves the last element", "for (uint64_t i = 0; i + (offset > 1) < n; i++) y[i] = x[i];",
     ":7:10: error: the graph leaves 1 of 60 elements of '%b' unwritten, the first at [5, 9], which the op "
     "alone writes"),
    ("writes beside its tensor", ALL + "if (offset > 1) y[n] = 0;",
     ":4:7: error: the graph writes beside its tensors, but no op of it does where it runs alone"),
    ("writes an input", ALL + "if (offset > 1) x[0] = 1e9f;",
     ":4:7: error: the graph writes an input that none of its ops writes, but no op of it does where it "
     "runs alone"),
]
for claim, body, text in FUSED:
    build("fused", body)
    module("fused", ops="""%a = Bad2(%x) : f32[6, 10] via @copy
    %b = Bad(%x) : f32[6, 10] via @bad
    %c = Add(%a, %b) : f32[6, 10]""")
    done = tap.skirc("run", "fused.skir")
    tap.check(f"only the fused graph {claim}", done.returncode == 1 and
              done.stderr.count("[wrong-kernel]") == 1 and text + " [wrong-kernel]" in done.stderr,
              f"status {done.returncode}: {done.stdout}{done.stderr}")

# ---- Data types ----

TYPES = {"f16": "_Float16", "bf16": "uint16_t", "f64": "double", "i8": "int8_t", "u8": "uint8_t",
         "i16": "int16_t", "i32": "int32_t", "u64": "uint64_t", "bool": "uint8_t", "f8e5m2": "uint8_t",
         "f8e4m3fn": "uint8_t", "hif8": "uint8_t", "c64": "uint64_t", "f8e8m0": "uint8_t"}
for dtype, ctype in TYPES.items():
    ops = f"""%b = Bad(%x) : {dtype}[6, 10] via @bad
    %c = Bad2(%b) : {dtype}[6, 10] via @same"""
    for name, limit in (dtype + "_all", "n"), (dtype + "_last", "n - 1"):
        build(name, f"for (uint64_t i = 0; i < {limit}; i++) y[i] = ({ctype})(i % 2);", ctype)
        module(name, dtype, ops.replace("@same", "@bad").replace("Bad2(%b)", "Bad(%x)")
               if limit == "n" else ops.replace("Bad2(%b) :", "Bad(%x) :").replace("@same", "@bad"))
    is_right(f"{dtype} that is written", dtype + "_all", WAYS[:1])
    is_named(f"{dtype} of which the last element is not", dtype + "_last",
             "Bad %b leaves 1 of 60 elements of '%b' unwritten, the first at [5, 9]", WAYS[:1], 6, errors=2)

build("nz", "memset(y, 0, 512); y[0] = 1;".replace("memset", "__builtin_memset"), "uint16_t")
module("nz", "f16", format_=":FRACTAL_NZ", ops="""%b = Bad(%x) : f16[6, 10]:FRACTAL_NZ via @bad
    %c = Bad(%x) : f16[6, 10]:FRACTAL_NZ via @bad""")
is_right("a format with padding", "nz", WAYS[:1])
build("nz2", "for (int r = 0; r < 6; r++) for (int c = 0; c < 10; c++) if (r != 2 || c != 7) "
      "y[r * 16 + c] = 1;", "uint16_t")
module("nz2", "f16", format_=":FRACTAL_NZ", ops="""%b = Bad(%x) : f16[6, 10]:FRACTAL_NZ via @bad
    %c = Bad(%x) : f16[6, 10]:FRACTAL_NZ via @bad""")
is_named("elements are said as those of the tensor, whatever its format", "nz2",
         "Bad %b leaves 1 of 60 elements of '%b' unwritten, the first at [2, 7]", WAYS[:1], 6, errors=2)

build("small", "for (int i = 0; i < 14; i++) y[i] = 0x5a;", "uint8_t")
module("small", "i4", "%b = Bad(%x) : i4[6, 5] via @bad\n    %c = Bad(%x) : i4[6, 5] via @bad")
write("small.skir", open("small.skir").read().replace("i4[6, 10]", "i4[6, 5]"))
is_named("elements below a byte, by the byte", "small",
         "Bad %b leaves 1 of 15 bytes of '%b' unwritten, the first at [5, 3]", WAYS[:1], 6, errors=2)

# ---- Who is not to be blamed ----

build("right", ALL)
module("right")
is_right("a kernel that writes all", "right")
build("nan", "for (uint64_t i = 0; i < n; i++) y[i] = __builtin_nanf(\"0x25a5a5\");")
module("nan")
is_right("one that writes NaN", "nan")
for poison in "0x40404040", "0xc0c0c0c0":
    build("poison", f"for (uint64_t i = 0; i < n; i++) ((uint32_t *)y)[i] = {poison};")
    module("poison")
    is_right(f"one that writes {poison}, as unwritten elements have", "poison")
build("bytes", "for (uint64_t i = 0; i < n; i++) y[i] = (int8_t)(i % 2 ? 0xc0 : 0x40);", "int8_t")
module("bytes", "i8", "%b = Bad(%x) : i8[6, 10] via @bad\n    %c = Bad(%x) : i8[6, 10] via @bad")
is_right("one that writes the bytes of integers that are not", "bytes")
build("inplace", "y[3] = 1;")
write("inplace.skir", """skir 1
kernel @bad : aiv_only {
  block = 2, object = "inplace.o", function = "bad", workspace = 8, params = [x, k, y, workspace]
}
graph @g(%x: f32[60], %k: f32[60]) -> f32[60] {
  scope @s {
    %r = Bad(%x, %k) {inplace = [1], alias = [1]} : f32[60] via @bad
  }
  return %r
}
""")
is_right("one that writes a part of an operand in place", "inplace")
write("inplace.skir", """skir 1
graph @g(%x: f32[60], %y: f32[60]) -> f32[60] {
  scope @s {
    Assign(%x, %y) {inplace = [0]}
    %r = Add(%x, %y) : f32[60]
  }
  return %r
}
""")
is_right("an op that writes an input in place", "inplace")
write("branch.skir", """skir 1
graph @taken(%x: f32[60]) -> f32[60] {
  %y = Add(%x, %x) : f32[60]
  return %y
}

graph @other(%x: f32[60]) -> f32[60] {
  %y = Mul(%x, %x) : f32[60]
  return %y
}

graph @main(%c: bool[], %x: f32[60]) -> f32[60] {
  %y = If(%c, %x) {then_branch = @taken, else_branch = @other} : f32[60]
  return %y
}
""")
is_right("ops of a branch that is not taken", "branch")

# ---- In called graphs ----

write("loop.skir", """skir 1
kernel @bad : aiv_only {block = 2, object = "last.o", function = "bad", workspace = 8, params = [x, y, workspace]}
graph @left(%n: f32[], %m: f32[], %x: f32[6, 10]) -> f32[] {
  return %n
}
graph @next(%n: f32[], %m: f32[], %x: f32[6, 10]) -> (f32[], f32[], f32[6, 10]) {
  %k = Add(%n, %m) : f32[]
  %b = Bad(%x) : f32[6, 10] via @bad
  %c = Add(%b, %b) : f32[6, 10]
  return %k, %m, %c
}
graph @main(%n: f32[], %m: f32[], %x: f32[6, 10]) -> f32[6, 10] {
  %k, %l, %y = While(%n, %m, %x) {cond = @left, body = @next} : (f32[], f32[], f32[6, 10])
  return %y
}
""")
is_named("in the body of a loop", "loop", CASES[1][3], [[*way, "-in=3", "-im=-1"] for way in WAYS], 8, column=8)

# ---- Lists ----

write("list.skir", """skir 1
kernel @bad : aiv_only {
  block = 2, object = "list.o", function = "bad", workspace = 8, params = [x, all, y, workspace]
}
graph @g(%x: f32[60], %z: f32[60]) -> f32[60] {
  scope @s {
    %b = Bad(%x, [%x, %z]) : f32[60] via @bad
  }
  return %b
}
""")
build("list", "float *r = (float *)args[2]; for (uint64_t i = 0; i < n; i++) r[i] = x[i];"
      "((char *)args[1])[-1] = 0;")
is_named("writes before the table of a list", "list",
         "Bad %b writes before its list of 56 bytes: the first at byte -1, 1 in all", WAYS[:1])

# ---- What else is said ----

done = tap.skirc("run", "last.skir", "--trust-kernels", "--print=b", "-o", "b=b.npy")
tap.check("--trust-kernels does not look; values are 0 at first", done.returncode == 0 and
          " 0]]\n" in done.stdout and os.path.exists("b.npy"), done.stdout + done.stderr)
os.remove("b.npy")
done = tap.skirc("run", "last.skir", "--print=b", "-o", "b=b.npy")
tap.check("values are printed, but not written", done.returncode == 1 and
          done.stdout.startswith("%b: f32[6, 10]") and "max 3.00392 " in done.stdout and
          not os.path.exists("b.npy"), done.stdout + done.stderr)
tap.check("and help is given", "--trust-kernels" in done.stderr, done.stderr)

tap.done()
