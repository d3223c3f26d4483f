"""Values of ONNX's operators that its own cases (onnx_operators.py) do not have: those of newer and older operator sets.

Each case is the text of a model with one node, imported and run, and compared with NumPy, written from the operators'
documentation. SKIRC and SKIR_SOURCE are set as for all tests; with arguments only the cases of these names.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from checkers import imported

imported.need(["numpy"], "python3-numpy")
import math

import numpy as np

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
random = np.random.default_rng(3)
NUMBERS = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11, "uint32": 12}
erf = np.vectorize(math.erf)


def value(kind, name, array):
    dims = "".join(f" dim {{ dim_value: {dim} }}" for dim in array.shape)
    return f'{kind} {{ name: "{name}" type {{ tensor_type {{ elem_type: {NUMBERS[str(array.dtype)]} shape {{{dims} }} }} }} }}'


def initializer(name, numbers):
    numbers = np.asarray(numbers)
    numbers = numbers.astype(np.float32) if numbers.dtype.kind == "f" else numbers
    dims = "".join(f"dims: {dim} " for dim in numbers.shape)
    field = "int64_data" if numbers.dtype == np.int64 else "int32_data" if numbers.dtype.kind in "iub" else "float_data"
    data = "".join(f" {field}: {number}" for number in numbers.ravel().tolist())
    return f'initializer {{ name: "{name}" {dims}data_type: {NUMBERS[str(numbers.dtype)]}{data} }}'


def attribute(name, setting):
    if isinstance(setting, str):
        said = f's: "{setting}" type: STRING'
    elif isinstance(setting, float):
        said = f"f: {setting} type: FLOAT"
    elif isinstance(setting, int):
        said = f"i: {setting} type: INT"
    else:
        said = "".join(f"ints: {number} " for number in setting) + "type: INTS"
    return f'attribute {{ name: "{name}" {said} }}'


class Case:
    """A node: operands are arrays (inputs of the graph), lists (constants) or None; results are arrays."""

    def __init__(self, name, opset, op, operands, results, **attributes):
        self.name, self.results = name, results
        names = ["" if operand is None else f"x{i}" for i, operand in enumerate(operands)]
        given = [(name, operand) for name, operand in zip(names, operands) if operand is not None]
        self.inputs = [pair for pair in given if isinstance(pair[1], np.ndarray)]
        node = [f'op_type: "{op}"', *(f'input: "{name}"' for name in names),
                *(f'output: "y{i}"' for i in range(len(results))), *(attribute(*pair) for pair in attributes.items())]
        self.text = "\n".join([
            "ir_version: 8", f"opset_import {{ version: {opset} }}", "graph {", 'name: "g"', "node {", *node, "}",
            *(initializer(*pair) for pair in given if isinstance(pair[1], list)),
            *(value("input", *pair) for pair in self.inputs),
            *(value("output", f"y{i}", array) for i, array in enumerate(results)), "}", ""])


def floats(*shape):
    return random.normal(size=shape).astype(np.float32)


def ints(*shape, low=-9, high=10, dtype=np.int32):
    return random.integers(low, high, shape, dtype)


def softmax(x, axes):
    e = np.exp(x - x.max(axes, keepdims=True))
    return e / e.sum(axes, keepdims=True)


def group_norm(x, scale, bias, groups):
    parts = x.reshape(x.shape[0], groups, -1)
    normal = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    channels = (-1,) + (1,) * (x.ndim - 2)
    return normal.reshape(x.shape) * scale.reshape(channels) + bias.reshape(channels)


def triangle(x, k, upper):
    return np.triu(x, k) if upper else np.tril(x, k)


def cases():
    x, y, image = floats(3, 4), floats(3, 4), floats(2, 4, 3, 5)
    i, j = ints(3, 4), ints(3, 4, low=1)
    long, n = ints(3, 4, dtype=np.int64), ints(4, low=1, high=5, dtype=np.int64)
    scale, bias, vector, column = floats(4), floats(4), floats(5), floats(3, 1)
    small = ints(2, 3, dtype=np.int8)
    yield Case("gelu", 20, "Gelu", [x], [x / 2 * (1 + erf(x / math.sqrt(2))).astype(np.float32)])
    yield Case("gelu_tanh", 20, "Gelu", [x], [x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))],
               approximate="tanh")
    yield Case("mish", 18, "Mish", [x], [x * np.tanh(np.log1p(np.exp(x)))])
    yield Case("bitwise_and", 18, "BitwiseAnd", [i, j], [i & j])
    yield Case("bitwise_or", 18, "BitwiseOr", [i, j], [i | j])
    yield Case("bitwise_xor", 18, "BitwiseXor", [i, j], [i ^ j])
    yield Case("bitwise_not", 18, "BitwiseNot", [i], [~i])
    yield Case("group_norm", 21, "GroupNormalization", [image, scale, bias], [group_norm(image, scale, bias, 2)], num_groups=2)
    yield Case("rms_norm", 23, "RMSNormalization", [x, scale],
               [x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * scale])
    yield Case("layer_norm", 17, "LayerNormalization", [x, scale, bias],
               [(x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * scale + bias])
    yield Case("lp_norm", 1, "LpNormalization", [x], [x / np.abs(x).sum(0, keepdims=True)], axis=0, p=1)
    yield Case("split_uneven", 18, "Split", [image], np.split(image, [2, 4], 3), axis=3, num_outputs=3)
    yield Case("split_sizes", 18, "Split", [image, [1, 3]], np.split(image, [1], 1), axis=1)
    yield Case("pad_axes", 18, "Pad", [image, [1, 2, 0, 1], [7.5], [-1, 1]],
               [np.pad(image, [(0, 0), (2, 1), (0, 0), (1, 0)], constant_values=7.5)])
    yield Case("pad_reflect", 11, "Pad", [x, [1, 2, 0, 1]], [np.pad(x, [(1, 0), (2, 1)], "reflect")], mode="reflect")
    yield Case("reduce_mean_axes", 18, "ReduceMean", [image, [1, -1]], [image.mean((1, 3), keepdims=True)])
    yield Case("reduce_max_none", 18, "ReduceMax", [image], [np.asarray(image.max())], keepdims=0)
    yield Case("reduce_sum_noop", 13, "ReduceSum", [image], [image], noop_with_empty_axes=1)
    yield Case("reduce_l1_old", 11, "ReduceL1", [image], [np.abs(image).sum((0, 2))], axes=[0, 2], keepdims=0)
    rows = np.array([[2], [0], [-3]], np.int64)
    grown, lowered = x.copy(), x.copy()
    for row, update in zip(rows[:, 0], y):
        grown[row], lowered[row] = np.maximum(grown[row], update), np.minimum(lowered[row], update)
    yield Case("scatter_nd_max", 18, "ScatterND", [x, rows, y], [grown], reduction="max")
    yield Case("scatter_nd_min", 18, "ScatterND", [x, rows, y], [lowered], reduction="min")
    yield Case("shape_part", 15, "Shape", [image], [np.array([4, 3], np.int64)], start=1, end=-1)
    yield Case("softmax_old", 11, "Softmax", [image], [softmax(image, (1, 2, 3))])
    yield Case("log_softmax_old", 11, "LogSoftmax", [image], [np.log(softmax(image, (2, 3)))], axis=2)
    yield Case("hardmax_old", 11, "Hardmax", [image],
               [(image == image.max((1, 2, 3), keepdims=True)).astype(np.float32)])
    yield Case("clip_old", 6, "Clip", [x], [np.clip(x, -0.5, None)], min=-0.5)
    yield Case("clip_ints", 12, "Clip", [i, np.asarray(-2, np.int32), np.asarray(3, np.int32)], [np.clip(i, -2, 3)])
    yield Case("clip_above", 12, "Clip", [i, None, np.asarray(3, np.int32)], [np.minimum(i, 3)])
    yield Case("pad_old", 2, "Pad", [x], [np.pad(x, [(0, 1), (2, 0)], constant_values=1.5)], pads=[0, 2, 1, 0], value=1.5)
    yield Case("slice_old", 1, "Slice", [image], [image[:, 1:3, :, -2:]], starts=[1, -2], ends=[3, 99], axes=[1, 3])
    yield Case("slice_back", 13, "Slice", [image, [-1, 9], [-9, 0], [2, 3], [-1, -2]], [image[:, :, ::-1, :0:-2]])
    yield Case("top_k_old", 1, "TopK", [x], [-np.sort(-x)[:, :2], np.argsort(-x)[:, :2]], k=2)
    yield Case("div_ints", 14, "Div", [i, j], [np.trunc(i / j).astype(np.int32)])
    yield Case("div_longs", 14, "Div", [long, np.full((3, 4), -4, np.int64)], [np.trunc(long / -4).astype(np.int64)])
    yield Case("mod_ints", 13, "Mod", [i, j], [np.mod(i, j)])
    yield Case("fmod_ints", 13, "Mod", [i, j], [np.fmod(i, j)], fmod=1)
    yield Case("pow_mixed", 15, "Pow", [np.abs(x) + 1, j], [(np.abs(x) + 1)**j.astype(np.float32)])
    yield Case("pow_ints_floats", 15, "Pow", [j, np.abs(x)], [np.trunc(j.astype(np.float64)**np.abs(x)).astype(np.int32)])
    yield Case("gemm", 13, "Gemm", [x, y, scale[:3]], [(0.5 * x @ y.T + 2 * scale[:3]).astype(np.float32)],
               alpha=0.5, beta=2.0, transB=1)
    yield Case("mat_mul_vector", 13, "MatMul", [image, vector], [image @ vector])
    yield Case("cast_down", 13, "Cast", [x * 9], [np.trunc(x * 9).astype(np.int8)], to=3)
    yield Case("arg_max_last", 13, "ArgMax", [np.minimum(i, 3)],
               [3 - np.argmax(np.minimum(i, 3)[:, ::-1], 1)], axis=1, keepdims=0, select_last_index=1)
    yield Case("cum_sum", 14, "CumSum", [x, np.asarray(1, np.int64)], [np.cumsum(x[:, ::-1], 1)[:, ::-1] - x],
               exclusive=1, reverse=1)
    yield Case("expand_both", 13, "Expand", [column, [2, 1, 4]], [np.broadcast_to(column, (2, 3, 4))])
    yield Case("gather_negative", 13, "Gather", [x, n - 5], [x.take(n - 5, 1)], axis=1)
    for k, upper in ((1, 0), (-1, 1)):
        yield Case(f"trilu_{upper}", 14, "Trilu", [x, np.asarray(k, np.int64)], [triangle(x, k, upper)], upper=upper)
    yield Case("eye_like", 9, "EyeLike", [i], [np.eye(3, 4, 1, dtype=np.float64)], dtype=11, k=1)
    yield Case("one_hot", 11, "OneHot", [n - 3, [6], [0.5, 2.0]],
               [np.where(np.arange(6)[:, None] == (n - 3) % 6, 2.0, 0.5).astype(np.float32)], axis=0)
    yield Case("dequantize", 13, "DequantizeLinear",
               [small, np.array([0.5, 2, 4], np.float32), np.array([1, 0, -2], np.int8)],
               [((small.astype(np.int32) - [1, 0, -2]) * [0.5, 2, 4]).astype(np.float32)], axis=1)


def judge(case):
    base = os.path.join(scratch.name, case.name)
    model = tap.write(base + ".txt", case.text)
    text = imported.import_graph("onnx-txt", model, base + ".skir")
    files = [(name, tap.write(f"{base}.{name}.npy", tap.npy(array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes())))
             for name, array in case.inputs]
    found = [np.load(path) for path in imported.run(base + ".skir", text, "g", files, len(case.results))]
    for got, wanted in zip(found, case.results):
        close = np.allclose(got, wanted, 1e-4, 1e-5, True) if wanted.dtype.kind == "f" else np.array_equal(got, wanted)
        if got.dtype != wanted.dtype or got.shape != wanted.shape or not close:
            return imported.Outcome("wrong", f"found\n{got}\nexpected\n{wanted}")
    return imported.Outcome("equal")


chosen = [case for case in cases() if len(sys.argv) == 1 or case.name in sys.argv]
for case, outcome in zip(chosen, imported.outcomes(judge, chosen)):
    tap.check(case.name, outcome.verdict == "equal", f"{outcome.verdict}: {outcome.text}\n{case.text}")
tap.done()
