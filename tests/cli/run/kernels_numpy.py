"""Every sample kernel against NumPy: within the ulps that tests/cases states, 0 where it is exact."""

import glob
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.need_numpy()
import numpy_cases
from cases import attention, elementwise, matrix, movement, normalisation, quantisation, reduction

FAMILIES = [elementwise, movement, matrix, reduction, normalisation, quantisation, attention]


def types_of_kernels():
    """The op types that have a sample kernel, by the descriptions that skirc reads."""
    folder = os.path.join(os.path.dirname(os.path.abspath(tap.SKIRC)), "backend", "kernels")
    types = set()
    for path in glob.glob(os.path.join(folder, "*.json")):
        with open(path) as file:
            types.add(json.load(file)["sub_operator_op_type"])
    return types


seen = set()
for family in FAMILIES:
    cases = numpy_cases.Cases()
    family.add(cases)
    seen |= cases.types()
    with tempfile.TemporaryDirectory(prefix="skir-test.") as folder:
        cases.run(family.__name__, folder)

types = types_of_kernels()
tap.check("there are sample kernels", len(types) > 15, types)
tap.check("each has a case", types <= seen, f"without: {sorted(types - seen)}")
tap.done()
