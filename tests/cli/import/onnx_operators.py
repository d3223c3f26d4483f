"""ONNX's own cases of its operators: imported and run, each gives what ONNX says, or is refused with a reason.

The cases are those of onnx.backend.test (Debian: python3-onnx). Each is written as the text of a ModelProto, imported, and
run with the case's inputs; dtype, shape and values of the results are compared, floats within the case's own tolerances.

    onnx_operators.py             all cases: a TAP case an operator, then the counts of each group
    onnx_operators.py --list      also every case that was refused, with the reason
    onnx_operators.py CASE...     single cases, with the model, the imported text and what differs

SKIRC and SKIR_SOURCE are set as for all tests. SKIR_TEST_JOBS is the number of cases at a time.
"""

import collections
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from checkers import imported
from checkers.imported import Outcome

imported.need(["numpy", "onnx", "google.protobuf"], "python3-onnx")
import numpy as np

for alias, kind in (("bool", bool), ("int", int), ("float", float), ("complex", complex), ("object", object), ("str", str)):
    if alias not in np.__dict__:  # ONNX 1.12 uses names that NumPy 1.24 no longer has
        setattr(np, alias, kind)

from google.protobuf import text_format
from onnx.backend.test.case.node import collect_testcases

# Every case of an operator in a group must be equal. Those of all other operators may be refused with a reason.
GROUPS = {
    "elementwise": """Abs Acos Acosh Add Asin Asinh Atan Atanh BitShift Ceil Celu Cos Cosh Div Elu Erf Exp Floor HardSigmoid
        HardSwish Identity LeakyRelu Log Max Mean Min Mod Mul Neg PRelu Pow Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin
        Sinh Softplus Softsign Sqrt Sub Sum Tan Tanh ThresholdedRelu""",
    "comparison and logic": "And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Xor",
    "reduction": """ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
        ReduceSumSquare""",
    "shape": "Concat Expand Flatten Pad Reshape Slice Split Squeeze Tile Transpose Unsqueeze",
    "gather and where": "Gather GatherElements GatherND Where",
    "MatMul and Gemm": "Gemm MatMul",
    "softmax": "Hardmax LogSoftmax Softmax",
    "normalisation": "BatchNormalization InstanceNormalization LayerNormalization LRN MeanVarianceNormalization",
    "cast": "Cast CastLike",
    "clip": "Clip",
    "cumsum": "CumSum",
    "arg and top-k": "ArgMax ArgMin TopK",
}
GROUP_OF = {operator: group for group, operators in GROUPS.items() for operator in operators.split()}

# Operators that are not translated yet: their refusals are TODO in TAP.
PENDING = set("""
""".split())

NPY_DTYPES = {  # of TensorProto.DataType, what is not here is no plain tensor
    1: "<f4", 2: "|u1", 3: "|i1", 4: "<u2", 5: "<i2", 6: "<i4", 7: "<i8", 9: "|b1", 10: "<f2", 11: "<f8", 12: "<u4",
    13: "<u8", 14: "<c8", 15: "<c16", 16: "<V2",
}
BF16 = 16
# NumPy has no bf16: cases have its bits. ONNX 1.12 cuts f32 off where the operator rounds, which is up to one place.
BF16_RTOL = 2.0**-7

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")


def operator_of(case, cases):
    """A case may be a function's body, whose name is that of the case of the operator with a suffix."""
    whole = cases.get(re.sub(r"_expanded.*", "", case.name), case)
    return whole.model.graph.node[0].op_type if len(whole.model.graph.node) == 1 else case.name


def plain(values, data):
    """Whether all inputs or results are tensors of numbers, and no sequences, optionals or strings."""
    return len(values) == len(data) and all(
        value.type.HasField("tensor_type") and value.type.tensor_type.elem_type in NPY_DTYPES
        and isinstance(array, (np.ndarray, np.generic)) for value, array in zip(values, data))


def write_array(path, value, array):
    """An input as .npy, of the dtype that the model gives it; the path."""
    tensor = value.type.tensor_type
    array = np.asarray(array)
    shape = tuple(dim.dim_value for dim in tensor.shape.dim)
    if array.shape != shape and array.size == 1 and all(dim.HasField("dim_value") for dim in tensor.shape.dim):
        array = np.broadcast_to(array, shape)  # the operand of CastLike that gives the dtype alone
    descr = NPY_DTYPES[tensor.elem_type]
    if tensor.elem_type != BF16:
        array = array.astype(descr, copy=False)
    return tap.write(path, tap.npy(descr, array.shape, np.ascontiguousarray(array).tobytes()))


def as_numbers(array, elem_type):
    if elem_type != BF16:
        return array
    return (array.view("<u2").astype("<u4") << 16).view("<f4")


def difference(name, path, value, wanted, rtol, atol):
    """What is wrong with a result, or ''."""
    elem_type = value.type.tensor_type.elem_type
    found, wanted = np.load(path), np.asarray(wanted)
    descr = np.dtype(NPY_DTYPES[elem_type])
    if found.dtype != descr:
        return f"{name}: dtype {found.dtype}, expected {descr}"
    if found.shape != wanted.shape:
        return f"{name}: shape {found.shape}, expected {wanted.shape}"
    found, wanted = as_numbers(found, elem_type), as_numbers(wanted, elem_type)
    if wanted.dtype.kind in "fc":
        same = np.isclose(found, wanted, max(rtol, BF16_RTOL if elem_type == BF16 else 0), atol, equal_nan=True)
    else:
        same = found == wanted
    if same.all():
        return ""
    first = np.unravel_index(np.argmin(same), same.shape)
    return (f"{name}: {np.count_nonzero(~same)} of {same.size} elements differ, first "
            f"{[int(i) for i in first]}: {found[first]}, expected {wanted[first]}")


def judge(case):
    """Imports and runs a case; what came of it."""
    graph, (inputs, outputs) = case.model.graph, case.data_sets[0]
    if not plain(graph.input, inputs) or not plain(graph.output, outputs):
        return Outcome("no plain tensors")
    base = os.path.join(scratch.name, case.name)
    model = tap.write(base + ".txt", text_format.MessageToString(case.model))
    text = imported.import_graph("onnx-txt", model, base + ".skir")
    files = [(value.name, write_array(f"{base}.{i}.npy", value, array))
             for i, (value, array) in enumerate(zip(graph.input, inputs))]
    results = imported.run(base + ".skir", text, graph.name, files, len(outputs))
    wrong = [difference(value.name, path, value, array, case.rtol, case.atol)
             for value, path, array in zip(graph.output, results, outputs)]
    return Outcome("wrong", "; ".join(filter(None, wrong))) if any(wrong) else Outcome("equal")


def show(case):
    """A single case, with all there is."""
    outcome, = imported.outcomes(judge, [case])
    for suffix in ".txt", ".skir":
        path = os.path.join(scratch.name, case.name) + suffix
        if os.path.exists(path):
            print(tap.read(path).decode())
    inputs, outputs = case.data_sets[0]
    for value, array in (*zip(case.model.graph.input, inputs), *zip(case.model.graph.output, outputs)):
        print(f"# {value.name}:", *str(array).splitlines(), sep="\n#   ")
    tap.check(f"{case.name}: {outcome.verdict}", outcome.verdict in ("equal", "no plain tensors"), outcome.text)


def report(operator, group, found):
    """The TAP case of an operator; whether it is as wanted."""
    faults = imported.faults(found, refusals=group == "other")
    verdicts = [outcome.verdict for _, outcome in found]
    claim = f"{operator}: {imported.counted(verdicts)}"
    if faults and (not TRANSLATED or operator in PENDING and "wrong" not in verdicts):
        tap.todo(claim, "\n".join(faults), "not translated yet")
    else:
        tap.check(claim, not faults, "\n".join(faults))
    if not faults and operator in PENDING:
        print("# passes: remove it from PENDING")
    return not faults


np.random.seed(0)
cases = {}
for case in collect_testcases(None):
    if case.name in cases:  # two names occur twice
        case.name += "_again"
    cases[case.name] = case
names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
if names:
    for name in names:
        show(cases[name])
    tap.done()

# Without a table of translations, no operator is expected to pass.
TRANSLATED = tap.skirc("import", "--translations=onnx").returncode == 0
tap.check("onnx has its cases", len(cases) >= 924, len(cases))
outcomes = dict(zip(cases, imported.outcomes(judge, cases.values())))
by_operator, by_group = collections.defaultdict(list), collections.defaultdict(list)
for name, case in cases.items():
    operator = operator_of(case, cases)
    by_operator[operator].append((name, outcomes[name]))
    by_group[GROUP_OF.get(operator, "other")].append(outcomes[name].verdict)
failed = [operator for operator in sorted(by_operator)
          if not report(operator, GROUP_OF.get(operator, "other"), by_operator[operator])]
if failed:
    print("# not as wanted:", *failed)
if "--list" in sys.argv:
    for name, outcome in sorted(outcomes.items()):
        if outcome.verdict == "refused":
            print(f"# {name}: {outcome.text or 'no reason'}")
for group in (*GROUPS, "other"):
    print(f"# {group}: {imported.counted(by_group[group])}")
print(f"# all: {imported.counted(sum(by_group.values(), []))}")
tap.done()
