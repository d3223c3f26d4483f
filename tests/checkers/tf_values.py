"""Operators of TensorFlow: what import makes of a GraphDef computes what TensorFlow's documentation says.

For each row of the translation table, random nodes (attributes, dtypes, ranks, shapes; constants and placeholders as
operands) are written as GraphDefs, imported and run. The results are compared with models in NumPy, which are written from
the documentation of TensorFlow's operators alone. A node may be refused with a reason.

    tf_values.py             some nodes of each operator
    tf_values.py --list      also every node that was refused, with the reason

SKIR_TEST_SEED (1) and SKIR_TEST_COUNT (nodes of an operator) choose other nodes, ONLY="Sum Tile" operators, and
KEEP=FOLDER keeps the files of the nodes that failed.
"""

import collections
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from checkers import imported
from checkers.imported import Outcome

imported.need(["numpy"], "python3-numpy")
import numpy as np
from checkers.tf_nodes import Node
from checkers.tf_variables import MODELS
from judge_kernels.numbers import to_bits

SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "4"))
ONLY = os.environ.get("ONLY", "").split()


def judge(node):
    base = os.path.join(scratch.name, node.label.replace(" ", "."))
    source = tap.write(base + ".pbtxt", node.text())
    text = imported.import_graph("tf-graphdef", source, base + ".skir")
    files = []
    for i, tensor in enumerate(node.operands):
        if not tensor.constant:
            np.save(f"{base}.x{i}.npy", to_bits(tensor))
            files.append((f"x{i}", f"{base}.x{i}.npy"))
    paths = imported.run(base + ".skir", text, "graph", files, len(node.answers))
    for i, (answer, path) in enumerate(zip(node.answers, paths)):
        if wrong := answer.difference(np.load(path)):
            return Outcome("wrong", f"result {i}: {wrong}")
    return Outcome("equal")


scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
listed = tap.skirc("import", "--translations=tf")
rows = re.findall(r"^\| `(\w+)`", listed.stdout, re.M)
unknown = [name for name in rows if name not in MODELS]
tap.check("each row of the table has a model", rows and not unknown, " ".join(unknown))
names = [name for name in (rows or sorted(MODELS)) if name in MODELS and (not ONLY or name in ONLY)]
nodes = [Node(name, SEED + number, MODELS) for name in names for number in range(COUNT)]
found = collections.defaultdict(list)
for node, outcome in zip(nodes, imported.outcomes(judge, nodes)):
    found[node.op].append((node.label, outcome))
    if outcome.verdict == "wrong" and os.environ.get("KEEP"):
        shutil.copytree(scratch.name, os.environ["KEEP"], dirs_exist_ok=True, ignore=lambda _, files: [
            file for file in files if not file.startswith(node.label.replace(" ", ".") + ".")])
for name in names:
    faults, verdicts = imported.faults(found[name]), [outcome.verdict for _, outcome in found[name]]
    claim = f"{name}: {imported.counted(verdicts)}"
    tap.check(claim, not faults, "\n".join(faults))
    if "--list" in sys.argv:
        for label, outcome in found[name]:
            if outcome.verdict == "refused":
                print(f"# {label}: {outcome.text or 'no reason'}")
print(f"# all: {imported.counted([outcome.verdict for each in found.values() for _, outcome in each])}")
tap.done()
