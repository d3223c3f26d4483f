"""Kernels whose number of blocks depends on shapes: what a description or a declaration says is what
each combination of gears runs, with the bits of the sample kernels; and no expression does harm.

SKIR_TEST_COUNT says how many random expressions, SKIR_TEST_SEED which are the first.
"""

import json
import os
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

FIRST = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "60"))
SAMPLES = os.path.join(os.path.dirname(tap.SKIRC), "backend", "kernels")
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


# ---- Descriptions, as a folder of kernels has them ----

GRAPH = """skir 1
graph @g(%x: f32[16*b, 64], %w: f32[64, 256]) gears zip (b = [2, 3, 16]) -> (f32[16*b, 256], f32[64, 256]) {
  scope @s {
    %s = Add(%x, %x) : f32[16*b, 64]
    %m = MatMul(%s, %w) : f32[16*b, 256]
    %t = Add(%w, %w) : f32[64, 256]
  }
  return %m, %t
}
"""
RULES = {"add": "min(48, (x1[0] + 15) / 16)",
         "mat_mul": "min(24, ((m + 127) / 128) * ((n + 127) / 128))"}


def describe(folder, rules):
    os.makedirs(folder, exist_ok=True)
    for name, rule in rules.items():
        with open(os.path.join(SAMPLES, name + ".json"), encoding="utf-8") as file:
            kernel = json.load(file)
        kernel["blockDim"] = rule
        write(os.path.join(folder, name + ".json"), json.dumps(kernel))
        shutil.copy(os.path.join(SAMPLES, name + ".o"), folder)


describe("own", RULES)
write("g.skir", GRAPH)
ran = tap.skirc("run", "g.skir", "--kernel-dir=own", "--shape=x=48,64", "--repeat=0")
tap.check("a description may compute its blocks", ran.returncode == 0, ran.stderr)
for b, rows, blocks in (2, 32, {"mat_mul.2", "add.2", "add.4"}), \
        (3, 48, {"mat_mul.2", "add.3", "add.4"}), (16, 256, {"mat_mul.4", "add.16", "add.4"}):
    static = re.sub(r" gears \w+ \(.*?\) ->", " ->", GRAPH.replace("16*b", str(rows)))
    write("s.skir", static)
    lowered = tap.skirc("opt", "--passes=default", "--kernel-dir=own", "s.skir").stdout
    called = dict(re.findall(r"call @(\S+) args \S+ blocks (\d+)", lowered))
    tap.check(f"blocks for {rows} rows", set(called) == blocks and
              all(name.endswith("." + n) for name, n in called.items()), lowered)
    for way in "unfused", "s.skir":
        ran = tap.skirc("run", "g.skir", "--kernel-dir=own", f"--shape=x={rows},64",
                        f"--compare={way}", "--repeat=0")
        tap.check(f"b = {b} is as {way}, bit for bit",
                  ran.returncode == 0 and "bit-exact" in ran.stdout, ran.stdout + ran.stderr)
compiled = tap.skirc("compile", "g.skir", "--kernel-dir=own", "-o", "g.o")
tap.check("they compile to one object", compiled.returncode == 0, compiled.stderr)
for rule, said in ("x1[0] *", "a value is missing at the end"), \
        ("x[0]", "nothing says what 'x' is"), ("x1[0] * 100", "needs 3200 blocks of '@add'"):
    describe("bad", {"add": rule})
    ran = tap.skirc("check", "g.skir", "--kernel-dir=bad")
    tap.check(f"a description with '{rule}' is refused", ran.returncode == 1 and said in ran.stderr,
              ran.stderr)

# ---- Hostile expressions ----

PIECES = ["x", "y", "z", "m", "x[0]", "x[-1]", "x[9]", "1", "0", "-7", "48", "9223372036854775807",
          "+", "-", "*", "/", "%", "==", "<", "&&", "||", "!", "?", ":", "(", ")", "[", "]", ",",
          "min(", "max(", "rank(x)", "size(x)", "bytes(x)", "ones(", "concat(x, 0)", "reduce(x, ",
          "reshape(x, ", "present(x)", "count(y)", "'t'", "true", "..", "\\x00", "\\n", "é", "q"]


def rule_graph(rule):
    return f"""skir 1
kernel @k : aiv_only {{block = "{rule}", params = [x, y, tiling]}}
graph @g(%x: f32[8, 3]) -> f32[8, 3] {{
  %y = K(%x) : f32[8, 3] via @k
  return %y
}}
"""


def is_sound(rule):
    """What is wrong with what becomes of an expression."""
    ran = tap.skirc("opt", "--passes=bind-kernels", "-", stdin=rule_graph(rule))
    if ran.returncode == 0:
        blocks = [int(n) for n in re.findall(r"block = (\d+)", ran.stdout)]
        return "" if len(blocks) == 1 and 1 <= blocks[0] <= 48 else f"{rule}: {ran.stdout}"
    return "" if ran.returncode == 1 and "error: " in ran.stderr else f"{rule}: {ran.stderr}"


chance = random.Random(FIRST)
faults = [is_sound(" ".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 12))))
          for _ in range(COUNT)]
print(f"# SKIR_TEST_SEED={FIRST}, {COUNT} expressions")
tap.check("random expressions are numbers of blocks or errors", not any(faults),
          "\n".join(filter(None, faults)))
LARGE = {"many brackets": "(" * 3000 + "1" + ")" * 3000, "a long text": "1" + " + 0" * 2000,
         "a long sum": "1" + "+0" * 2000, "a large list": "ones(9223372036854775807)[0]",
         "what overflows": "9223372036854775807 * 2", "nested lists": "[" * 40 + "1" + "]" * 40}
faults = [f"{name}: {is_sound(rule)}" for name, rule in LARGE.items() if is_sound(rule)]
tap.check("large expressions are judged or refused", not faults, "\n".join(faults))

# Each op has another number: copies are as many as there are numbers.
lines = "".join(f"  %v{i} = K(%x{i % 48}) : f32[{i % 48 + 1}] via @k\n" for i in range(5000))
params = ", ".join(f"%x{i}: f32[{i + 1}]" for i in range(48))
ran = tap.skirc("opt", "--passes=bind-kernels", "-", stdin=f"""skir 1
kernel @k : aiv_only {{block = "x[0]", params = [x, y, tiling]}}
graph @g({params}) -> () {{
{lines}}}
""")
tap.check("a copy for each number of blocks", len(re.findall(r"^kernel ", ran.stdout, re.M)) == 49,
          ran.stderr or ran.stdout[-2000:])
tap.done()
