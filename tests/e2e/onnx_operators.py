"""ONNX's own cases of its operators: imported and run, each gives what ONNX says, or is refused with a reason.

The cases are those of onnx.backend.test (Debian: python3-onnx). Each is written as the text of a ModelProto, imported, and
run with the case's inputs; dtype, shape and values of the results are compared, floats within the case's own tolerances.

    onnx_operators.py             all cases: a TAP case an operator, then the counts of each group
    onnx_operators.py --list      also every case that was refused, with the reason
    onnx_operators.py CASE...     single cases, with the model, the imported text and what differs

SKIRC and SKIR_SOURCE are set as for all tests. SKIR_TEST_JOBS is the number of cases at a time.
"""

import collections
import concurrent.futures
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

PACKAGES = "import numpy, onnx.backend.test, google.protobuf"
if not all(map(importlib.util.find_spec, ("numpy", "onnx", "google"))):
    # The first python3 may not be that of the system, which the package belongs to.
    for python in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if python != sys.executable and os.path.exists(python) and subprocess.run(
                [python, "-c", PACKAGES], capture_output=True).returncode == 0:
            os.execv(python, [python, *sys.argv])
    tap.skip("ONNX's cases", "no python3 has onnx; on Debian, install the package python3-onnx")
    tap.done()

import numpy as np

for alias, kind in (("bool", bool), ("int", int), ("float", float), ("complex", complex), ("object", object), ("str", str)):
    if alias not in np.__dict__:  # ONNX 1.12 uses names that NumPy 1.24 no longer has
        setattr(np, alias, kind)

import onnx
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

VERDICTS = "equal", "wrong", "refused", "no plain tensors"
Outcome = collections.namedtuple("Outcome", "verdict text")  # text: what differs, or the reason of a refusal
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
    """An input as .npy, of the dtype that the model gives it."""
    tensor = value.type.tensor_type
    array = np.asarray(array)
    shape = tuple(dim.dim_value for dim in tensor.shape.dim)
    if array.shape != shape and array.size == 1 and all(dim.HasField("dim_value") for dim in tensor.shape.dim):
        array = np.broadcast_to(array, shape)  # the operand of CastLike that gives the dtype alone
    descr = NPY_DTYPES[tensor.elem_type]
    if tensor.elem_type != BF16:
        array = array.astype(descr, copy=False)
    tap.write(path, tap.npy(descr, array.shape, np.ascontiguousarray(array).tobytes()))


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


def interface(text, graph):
    """Names of the parameters and results of a graph, from its text."""
    body = re.search(rf'^graph @(?:{re.escape(graph)}|"{re.escape(graph)}")\(.*?^}}', text, re.M | re.S).group()
    head, body = re.split(r"\{$", body, maxsplit=1, flags=re.M)
    name = r'%("(?:[^"\\]|\\.)*"|[^\s:,(){}]+)'
    returned = re.search(r"^  return (.*)", body, re.M | re.S)
    return ([found.strip('"') for found in re.findall(name + ":", head)],
            [found.strip('"') for found in re.findall(name, returned.group(1))] if returned else [])


def reason(stderr, *kinds):
    """The first diagnostic of these kinds, without its place."""
    found = re.search(rf"(?:^|: )(?:{'|'.join(kinds)}): (.*)", stderr, re.M)
    return found.group(1) if found else ""


def command(*arguments):
    return subprocess.run([tap.SKIRC, *arguments], capture_output=True, text=True, timeout=60, errors="replace")


def run_case(case):
    """Imports and runs a case; what came of it."""
    graph, (inputs, outputs) = case.model.graph, case.data_sets[0]
    if not plain(graph.input, inputs) or not plain(graph.output, outputs):
        return Outcome("no plain tensors", "")
    base = os.path.join(scratch.name, case.name)
    model = tap.write(base + ".txt", text_format.MessageToString(case.model))
    try:
        done = command("import", "--format=onnx-txt", "--remarks", model, "-o", base + ".skir")
        if done.returncode != 0:
            return refusal(done, "import", reason(done.stderr, "error"))
        text = tap.read(base + ".skir").decode()
        remark = reason(done.stderr, "warning", "remark")
        if re.search(r"^  stub$", text, re.M):
            return refusal(done, "import", remark)
        parameters, results = interface(text, graph.name)
        if len(results) != len(outputs):
            return Outcome("wrong", f"{len(results)} results, expected {len(outputs)}")
        arguments = []
        for value, array in zip(graph.input, inputs):
            if value.name not in parameters:
                return Outcome("wrong", f"the graph has no parameter {value.name}")
            write_array(f"{base}.{len(arguments)}.npy", value, array)
            arguments.append(f"--input={value.name}={base}.{len(arguments)}.npy")
        paths = [f"{base}.out{i}.npy" for i in range(len(outputs))]
        # A value that two results are is written once.
        named = {name: path for name, path in zip(results, paths)}
        arguments += [f"--output={name}={path}" for name, path in named.items()]
        done = command("run", "--repeat=0", "--threads=1", base + ".skir", *arguments)
        if done.returncode != 0:
            return refusal(done, "run", reason(done.stderr, "error"))
        wrong = [difference(value.name, named[name], value, array, case.rtol, case.atol)
                 for value, name, array in zip(graph.output, results, outputs)]
        return Outcome("wrong", "; ".join(filter(None, wrong))) if any(wrong) else Outcome("equal", "")
    except subprocess.TimeoutExpired as error:
        return Outcome("wrong", f"{error.cmd[1]}: no end after {error.timeout} seconds")


def refusal(done, stage, why):
    """A refusal is one with status 1 that blames the input; whatever else ends a command is a defect."""
    if done.returncode not in (0, 1) or "[wrong-kernel]" in done.stderr or done.returncode == 1 and not why:
        return Outcome("wrong", f"{stage}: status {done.returncode}\n{done.stderr}")
    return Outcome("refused", f"{stage}: {why}" if why else "")


def show(case):
    """A single case, with all there is."""
    outcome = run_case(case)
    for suffix in ".txt", ".skir":
        path = os.path.join(scratch.name, case.name) + suffix
        if os.path.exists(path):
            print(tap.read(path).decode())
    inputs, outputs = case.data_sets[0]
    for value, array in (*zip(case.model.graph.input, inputs), *zip(case.model.graph.output, outputs)):
        print(f"# {value.name}:", *str(array).splitlines(), sep="\n#   ")
    tap.check(f"{case.name}: {outcome.verdict}", outcome.verdict in ("equal", "no plain tensors"), outcome.text)


def report(operator, group, outcomes):
    """The TAP case of an operator."""
    wrong = [f"{name}: {o.text}" for name, o in outcomes if o.verdict == "wrong"]
    refused = [f"{name}: refused: {o.text}" for name, o in outcomes if o.verdict == "refused" and group != "other"]
    silent = [f"{name}: refused without a reason" for name, o in outcomes if o.verdict == "refused" and not o.text]
    counts = collections.Counter(o.verdict for _, o in outcomes)
    claim = f"{operator}: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    faults = wrong + refused + silent
    if faults and (not TRANSLATED or operator in PENDING and not wrong):
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
TRANSLATED = command("import", "--translations=onnx").returncode == 0
tap.check("onnx has its cases", len(cases) >= 924, len(cases))
with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("SKIR_TEST_JOBS", os.cpu_count()))) as pool:
    outcomes = dict(zip(cases, pool.map(run_case, cases.values())))
by_operator = collections.defaultdict(list)
totals = collections.defaultdict(collections.Counter)
for name, case in cases.items():
    operator = operator_of(case, cases)
    by_operator[operator].append((name, outcomes[name]))
    totals[GROUP_OF.get(operator, "other")][outcomes[name].verdict] += 1
failed = [operator for operator in sorted(by_operator)
          if not report(operator, GROUP_OF.get(operator, "other"), by_operator[operator])]
if failed:
    print("# not as wanted:", *failed)
if "--list" in sys.argv:
    for name, outcome in sorted(outcomes.items()):
        if outcome.verdict == "refused":
            print(f"# {name}: {outcome.text or 'no reason'}")
for group in (*GROUPS, "other"):
    print(f"# {group}: " + ", ".join(f"{totals[group][verdict]} {verdict}" for verdict in VERDICTS))
whole = sum(totals.values(), collections.Counter())
print("# all: " + ", ".join(f"{whole[verdict]} {verdict}" for verdict in VERDICTS))
tap.done()
