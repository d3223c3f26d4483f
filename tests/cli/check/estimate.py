"""`check --estimate`: times of ops and launches by the numbers of ir/core/archs.def, worked out here by hand.

A c220 with 24 AICs and 48 AIVs, 1850 cycles a microsecond:
  cubes    24 * 8192 * 1850     = 363724800 flops/us in f16, twice as many in i8
  vectors  48 * 128 / 2 * 1850  =   5683200 elements of f16/us
  memory   24 * 32 * 1850       =   1420800 bytes/us
  launch                                 3 us"""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def estimate(text, *options):
    """Standard output, with single blanks."""
    with open("t.skir", "w") as file:
        file.write(text)
    done = tap.skirc("check", "--estimate", *options, "t.skir")
    return re.sub(" +", " ", done.stdout) + done.stderr


def has(claim, found, *wanted):
    missing = [line for line in wanted if line not in found]
    tap.check(claim, not missing, "\n".join(["missing:", *missing, "found:", found]))


CHAIN = """skir 1
kernel @own : aiv_only {block = 48, stub, time = 12.5}
graph @g(%a: f16[2048, 2048], %b: f16[2048, 2048]) -> f16[2048, 2048] {
  scope @s {
    %m = MatMul(%a, %b) : f16[2048, 2048]
    %n = Add(%m, %a) : f16[2048, 2048]
  }
  %o = Own(%n) : f16[2048, 2048] via @own
  %u = Unheard(%o) {stub} : f16[2048, 2048]
  return %u
}
"""
# MatMul: 2 * 2048^3 = 17179869184 flops, / 363724800 = 47.233; 3 * 2048^2 * 2 = 25165824 bytes take less, 17.712.
# Add: as many bytes; 2048^2 elements, / 5683200 = 0.738, take less.
found = estimate(CHAIN)
has("a product is as fast as the cubes, what is added as the memory", found,
    " 47.233 us flops aic_only MatMul %m\n", " 17.712 us bytes aiv_only Add %n\n")
# 3 + 47.23315 + 17.71243; 6 + the same.
has("ops that follow one another add up, with one launch", found,
    " '@g_s': 67.946 us; each op launched by itself: 70.946 us\n")
has("a kernel may say its time; of unknown types nothing is known", found,
    " launched by themselves, each 3.000 us more:\n 12.500 us its time aiv_only Own %o\n ? unknown aiv_only Unheard %u\n")
# 67.94558 + 15.5 + 3; 70.94558 + 18.5.
has("the sums, and what fusing saves", found,
    " launches one behind the other: 86.446 us; each op by itself: 89.446 us; fusing saves at most 3.000 us\n",
    " 1 op whose time is not known counts as none\n")
has("the chip is named, and that nothing is measured", found,
    " estimate (roofline of c220, no contention; nothing is measured): 1850 MHz, a launch 3.000 us; barriers")

SIDES = """skir 1
graph @g(%a: f16[2048, 2048], %b: f16[2048, 2048]) -> (f16[2048, 2048], f16[2048, 2048]) {
  scope @s {options = "stream-fusion=1"} {
    %m = MatMul(%a, %b) : f16[2048, 2048]
    stream "2" {
      %n = Add(%b, %a) : f16[2048, 2048]
    }
  }
  return %m, %n
}
"""
# 3 + 47.233: the sum of the vectors is done meanwhile.
has("cubes and vectors work side by side where nothing orders them", estimate(SIDES),
    " '@g_s': 50.233 us; each op launched by itself: 70.946 us\n")
# 3 + 47.233 + 17.712.
has("and one behind the other where it does",
    estimate(SIDES.replace("Add(%b, %a) : f16[2048, 2048]", "Add(%b, %a) : f16[2048, 2048] after (%m)")),
    " '@g_s': 67.946 us;")

OTHERS = """skir 1
kernel @few : aiv_only {op = "Add", block = 6, stub}
kernel @whole : aiv_only {block = 1, stub, time = 4}
graph @g(%q: i8[2048, 2048], %s: f32[2048], %x: f16[2048, 2048], %v: f32[1024, 1024], %w: ?[?, 4]) -> () {
  %i = QuantBatchMatmulV3(%q, %q, %s, none, none, none) {stub} : f16[2048, 2048]
  %t = TransposeD(%x) {perm = [1, 0]} : f16[2048, 2048]
  %a = Add(%x, %x) : f16[2048, 2048] via @few
  %r = ReduceSumD(%v) {axes = [1]} : f32[1024]
  %c = HcomAllReduce(%v) {stub} : f32[1024, 1024]
  %d = Relu(%w) {stub} : ?[?, 4]
  %e = Own(%d) : f32[4] via @whole
}
"""
found = estimate(OTHERS)
# 17179869184 / (2 * 363724800).
has("products of i8 are twice as fast", found, " 23.617 us flops aic_only QuantBatchMatmulV3 %i\n")
# 2 * 2048^2 * 2 = 16777216 bytes; no operations.
has("what only moves takes the time of its bytes", found, " 11.808 us bytes aiv_only TransposeD %t\n")
# 25165824 / (6 * 32 * 1850).
has("a kernel on few cores has as much of the memory", found, " 70.850 us bytes aiv_only Add %a\n")
# (1024^2 + 1024) * 4 = 4198400 bytes, / 1420800.
has("results count", found, " 2.955 us bytes aiv_only ReduceSumD %r\n")
has("collectives and shapes that are not known are unknown, a whole number is a time", found,
    " ? unknown aiv_only HcomAllReduce %c\n", " ? unknown aiv_only Relu %d\n",
    " 4.000 us its time aiv_only Own %e\n", " 2 ops whose time is not known count as none\n")

found = estimate('skir 1\ntarget "n" {aic = 24, aiv = 48, arch = "c310"}\n' + CHAIN[7:])
has("nothing is known of another chip but what kernels say", found,
    " nothing is known of the rates of c310: only kernels with 'time' count\n", " ? unknown aic_only MatMul %m\n",
    " 12.500 us its time aiv_only Own %o\n", "; each op by itself: 12.500 us\n")

# ---- Round trips ----

with open("t.skir", "w") as file:
    file.write(CHAIN)
done = tap.skirc("export", "--format=json", "t.skir")
tap.check("JSON has a kernel's time", '"time":12.5' in done.stdout.replace(" ", ""), done.stdout + done.stderr)
tap.skirc("export", "--format=ge-txt", "-o", "t.txt", "t.skir")
back = tap.skirc("import", "t.txt")
tap.check("and it comes back from a graph of GE", "  time = 12.5\n" in back.stdout, back.stdout + back.stderr)

done = tap.skirc("check", "--estimate", "--no-lower", "t.skir")
tap.check("behind the verifier alone, kernels are bound for it", "aic_only     MatMul %m" in done.stdout,
          done.stdout + done.stderr)
done = tap.skirc("check", "--estimate", stdin="", *["t.skir", "t.skir"])
tap.check("of several files each has its own", done.stdout.count("t.skir:\n") == 2, done.stdout)

tap.done()
