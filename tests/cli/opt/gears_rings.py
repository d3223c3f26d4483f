"""Random graphs with gears in which ops outside of scopes need a part of one that needs them: rings.
What becomes of each combination passes the verifier, is what the passes make of it again, and runs
to the same bits as op by op, be the ring whole, cut or left unfused.

SKIR_TEST_COUNT says how many graphs, SKIR_TEST_SEED which is the first.
"""

import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

FIRST = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "60"))
GEARS = [("zip (b = [2, 4])", ["b"], ["b=4"]),
         ("zip (b = [2, 4, 8], c = [3, 5, 7])", ["b, c", "b, 8, c", "c, b"], ["b=4", "c=5"]),
         ("product (b = [2, 4], c = [3, 6])", ["b, c", "c, b"], ["b=2", "c=6"])]
OPTIONS = ["", ":strict-scope-check=bypass", ":preload-code=none", ":early-start=1"]
KERNELS = {"Add": "x1, x2", "Mul": "x1, x2", "Neg": "x"}
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def kernel(op, block):
    """A sample kernel on few cores, which leave some to what runs beside its launch."""
    name = op.lower()
    return (f'kernel @{name} : aiv_only {{op = "{op}", block = {block}, object = "{name}.o", '
            f'function = "{name}", params = [{KERNELS[op]}, y, tiling]}}\n')


def graph(seed):
    """The text, and what to bind for a run."""
    chance = random.Random(seed)
    gears, shapes, bind = chance.choice(GEARS)
    type, scopes = f"f32[{chance.choice(shapes)}, 16]", chance.choice([["s"], ["s", "t"]])
    options = chance.choice(OPTIONS)
    text = "skir 1\n\n"
    if chance.random() < 0.7:
        text += "".join(kernel(op, chance.choice([1, 2, 4])) for op in KERNELS)
    text += f"\ngraph @g(%a: {type}, %b: {type}) gears {gears} -> ({type}, {type}) {{\n"
    values = ["%a", "%b"]
    for i in range(chance.randint(4, 12)):
        op = chance.choice(["Add", "Mul", "Neg", "Relu", "Add"])
        operands = chance.choices(values[-4:], k=2 if op in ("Add", "Mul") else 1)
        scope = chance.choice([*scopes, None]) if i else scopes[0]
        stream = chance.choice("0012" if scope else "123")
        line = f"%v{i} = {op}({', '.join(operands)}) : {type}"
        if len(values) > 2 and chance.random() < 0.2:
            line += f" after ({chance.choice(values[2:])})"
        line = f'stream "{stream}" {{\n{line}\n}}'
        if scope:
            line = f'scope @{scope} {{options = "stream-fusion=1{options}"}} {{\n{line}\n}}'
        text += line + "\n"
        values.append(f"%v{i}")
    return text + f"return {', '.join(values[-2:])}\n}}\n", bind


faults, rings, cut, unfused, hang, runs = [], 0, 0, 0, 0, 0
print(f"# seeds {FIRST} to {FIRST + COUNT - 1}", flush=True)
for seed in range(FIRST, FIRST + COUNT):
    text, bind = graph(seed)
    path = write(f"r{seed}.skir", text)
    made = tap.skirc("opt", "--passes=default", "--verify-each", "--remarks", path)
    if made.returncode == 1 and "[launches-hang]" in made.stderr:
        hang += 1
        continue
    again = tap.skirc("opt", "--passes=default", "-", stdin=made.stdout)
    if made.returncode or again.stdout != made.stdout:
        faults.append(f"seed {seed}: {made.stderr[-400:]}{again.stderr[-400:]}\n{text}")
        continue
    rings += "scope none" in made.stdout
    cut += "[launch-cut]" in made.stderr
    unfused += bool(re.search(r"left unfused.*would keep", made.stderr))
    ran = tap.skirc("run", path, "--compare=unfused", "-i", "a=rand:-1..1:1", "-i",
                    "b=rand:-1..1:2", *[word for one in bind for word in ("--bind", one)])
    if ran.returncode or "bit-exact" not in ran.stdout + ran.stderr:
        faults.append(f"seed {seed}: {(ran.stdout + ran.stderr)[-400:]}\n{text}")
    runs += 1
tap.check(f"of {runs} graphs {rings} have rings, {cut} are cut, {unfused} left unfused, and all run "
          f"to the bits of single ops; {hang} hang", not faults, "\n".join(faults[:3]))
tap.check("there are some of each", COUNT < 60 or (rings > 3 and cut > 5 and unfused > 3),
          f"{rings} {cut} {unfused}")
tap.done()
