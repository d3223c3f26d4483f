"""All operators of docs/sample-kernels.md before a second judge, tests/judge_kernels, which knows
them from the pages only: random ops, fused and alone, give what it says."""

import os
import re
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.need_numpy()
import numpy as np
from judge_kernels import modules
from judge_kernels.draws import Draw
from judge_kernels.table import JUDGES, draw_op

SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "10"))
ONLY = os.environ.get("ONLY", "").split()


def listed():
    """The names that the table of operators has in its first column."""
    with open(os.path.join(tap.SOURCE, "docs", "sample-kernels.md")) as file:
        table = file.read().split("## Operators")[1].split("\n\n")[2]
    cells = [row.split("|")[1] for row in table.splitlines()[2:]]
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


class Verdict:
    """What was found of an operator."""

    def __init__(self):
        self.ops, self.wrong = 0, []

    def show(self, op_type):
        few = sorted(self.wrong, key=len)[:int(os.environ.get("SHOW", "2"))]
        tap.check(f"{op_type}: {self.ops} ops", self.ops and not self.wrong,
                  f"{len(self.wrong)} of them are wrong, or none\n" + "\n".join(few))


def run(seed, verdicts):
    """One op of each type, in a module, or in two where some may leave elements."""
    ops = []
    for op_type in verdicts:
        with np.errstate(all="ignore"):
            ops.append(draw_op(Draw([seed, zlib.crc32(op_type.encode())]), op_type))
    for guarded in (True, False):
        some = [op for op in ops if op.guarded == guarded]
        for op, wrong in modules.judged(some, Draw(seed), guarded, folder) if some else ():
            verdict = verdicts[op.type] if op else whole
            verdict.ops += 1
            if wrong:
                verdict.wrong.append(f"seed {seed}: {wrong}")


print(f"# seeds {SEED} to {SEED + COUNT - 1}", flush=True)
names = listed()
missing = [name for name in names if name not in JUDGES]
tap.check(f"the judge knows all {len(names)} operators of the page", names and not missing, missing)
whole = Verdict()
verdicts = {name: Verdict() for name in ONLY or names if name in JUDGES}
with tempfile.TemporaryDirectory() as folder:
    for seed in range(SEED, SEED + COUNT):
        run(seed, verdicts)
tap.check("all modules can be run", not whole.wrong, "\n".join(whole.wrong))
for name, verdict in verdicts.items():
    verdict.show(name)
tap.done()
