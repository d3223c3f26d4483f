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
import math
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
from checkers.tf_nodes import Node, dims_text
from judge_kernels.numbers import CARRIERS, FLOATS, INTS, Answer, quantum, rounded, to_bits

SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "4"))
ONLY = os.environ.get("ONLY", "").split()

FLOAT = "f32 f32 f16 bf16 f64"  # f32 is drawn more often
SIGNED = "i32 i64 i8 i16"
NUMBER = FLOAT + " i32 i64"
ANY = NUMBER + " bool i8 u8"


def exact(dtype, values):
    values = np.asarray(values)
    return Answer(dtype, rounded(dtype, values) if dtype in FLOATS else values.astype(CARRIERS[dtype]), signed=False)


def near(dtype, values, ulps=16, error=2e-6):
    """Real numbers, or what is near to them: units in the last place of f32, and an absolute error."""
    return Answer(dtype, np.asarray(values, np.float64), near=ulps, error=error)


def in_steps(dtype, values):
    """What an operator may make of several, each rounded to the dtype."""
    return near(dtype, values, error=2 * quantum(dtype, values))


# ---- Models: MODELS has a function of a node for each operator ----

MODELS = {}


def op(*names):
    def known(model):
        for name in names:
            MODELS[name] = model
        return model
    return known


def each(function):
    """A function of numbers of Python for all elements."""
    return lambda x: np.vectorize(function, otypes=[np.float64])(x)


SELU_SCALE, SELU_ALPHA = 1.0507009873554804934, 1.6732632423543772848
UNARY = {  # dtypes, elements, model, how exactly
    "Abs": (FLOAT + " " + SIGNED, "plain", np.abs, exact),
    "Acos": (FLOAT, "unit", np.arccos, near),
    "Acosh": (FLOAT, "above1", np.arccosh, near),
    "Asin": (FLOAT, "unit", np.arcsin, near),
    "Asinh": (FLOAT, "plain", np.arcsinh, near),
    "Atan": (FLOAT, "plain", np.arctan, near),
    "Atanh": (FLOAT, "unit", np.arctanh, near),
    "Ceil": (FLOAT, "plain", np.ceil, exact),
    "Cos": (FLOAT, "plain", np.cos, near),
    "Cosh": (FLOAT, "narrow", np.cosh, near),
    "Elu": (FLOAT, "plain", lambda x: np.where(x > 0, x, np.expm1(x)), near),
    "Erf": (FLOAT, "narrow", each(math.erf), near),
    "Erfc": (FLOAT, "narrow", each(math.erfc), near),
    "Exp": (FLOAT, "narrow", np.exp, near),
    "Expm1": (FLOAT, "narrow", np.expm1, near),
    "Floor": (FLOAT, "plain", np.floor, exact),
    "Identity": (ANY, "plain", lambda x: x, exact),
    "Inv": (FLOAT, "positive", lambda x: 1 / x, near),
    "Invert": (SIGNED + " u8 u16 u32", "plain", np.invert, exact),
    "Lgamma": (FLOAT, "positive", each(math.lgamma), near),
    "Log": (FLOAT, "positive", np.log, near),
    "Log1p": (FLOAT, "unit", np.log1p, near),
    "Neg": (FLOAT + " " + SIGNED, "plain", np.negative, exact),
    "OnesLike": (ANY, "plain", np.ones_like, exact),
    "PreventGradient": (ANY, "plain", lambda x: x, exact),
    "Reciprocal": (FLOAT, "positive", lambda x: 1 / x, near),
    "Relu": (FLOAT + " " + SIGNED, "plain", lambda x: np.maximum(x, 0), exact),
    "Relu6": (FLOAT + " " + SIGNED, "plain", lambda x: np.clip(x, 0, 6), exact),
    "Rint": (FLOAT, "plain", np.rint, exact),
    "Round": (FLOAT + " " + SIGNED, "plain", np.rint, exact),
    "Rsqrt": (FLOAT, "positive", lambda x: 1 / np.sqrt(x), near),
    "Selu": (FLOAT, "plain", lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(x)), near),
    "Sigmoid": (FLOAT, "plain", lambda x: 1 / (1 + np.exp(-x)), near),
    "Sign": (FLOAT + " i32 i64", "zeros", np.sign, exact),
    "Sin": (FLOAT, "plain", np.sin, near),
    "Sinh": (FLOAT, "narrow", np.sinh, near),
    "Snapshot": (ANY, "plain", lambda x: x, exact),
    "Softplus": (FLOAT, "plain", lambda x: np.log1p(np.exp(x)), near),
    "Softsign": (FLOAT, "plain", lambda x: x / (1 + np.abs(x)), near),
    "Sqrt": (FLOAT, "positive", np.sqrt, near),
    "Square": (NUMBER, "whole", np.square, exact),
    "StopGradient": (ANY, "plain", lambda x: x, exact),
    "Tan": (FLOAT, "unit", np.tan, near),
    "Tanh": (FLOAT, "plain", np.tanh, near),
    "ZerosLike": (ANY, "plain", np.zeros_like, exact),
}


@op(*UNARY)
def unary(node):
    dtypes, kind, model, answer = UNARY[node.op]
    t = node.dtype(dtypes)
    return answer(t, model(node.data(t, node.shape(), kind)))


@op("IsFinite", "IsInf", "IsNan")
def is_special(node):
    t = node.dtype(FLOAT)
    return exact("bool", getattr(np, node.op.lower())(node.data(t, node.shape(), "special")))


@op("LogicalNot")
def logical_not(node):
    return exact("bool", ~node.data("bool", node.shape()))


@op("LeakyRelu")
def leaky_relu(node):
    t = node.dtype(FLOAT)
    alpha = node.attr(node.pick([0.2, 0.2, 0.01, 0.5]), "alpha", 0.2)
    x = node.data(t, node.shape())
    return near(t, np.where(x > 0, x, np.float64(np.float32(alpha)) * x))


@op("L2Loss")
def l2_loss(node):
    t = node.dtype(FLOAT)
    return near(t, np.sum(node.data(t, node.shape(high=3, elements=100), "whole") ** 2) / 2)


def truncated_division(x, y):
    return np.trunc(x / y) if x.dtype.kind == "f" else np.copysign(np.abs(x) // np.abs(y), x * 1.0 * y).astype(x.dtype)


def shifted(x, y):
    return np.right_shift(x, np.clip(y, 0, 7))


WHOLE = FLOAT + " i32 i64 i8 i16 u8"
INTEGER = "i32 i64 i8 i16 u8 u16"
BINARY = {  # dtypes, elements of both, model, how exactly, dtype of the result where it is another
    "Add": (NUMBER + " i8 u8 i16", "plain plain", np.add, exact),
    "AddV2": (NUMBER + " i8 u8 i16", "plain plain", np.add, exact),
    "Atan2": (FLOAT, "plain plain", np.arctan2, near),
    "BitwiseAnd": (INTEGER, "plain plain", np.bitwise_and, exact),
    "BitwiseOr": (INTEGER, "plain plain", np.bitwise_or, exact),
    "BitwiseXor": (INTEGER, "plain plain", np.bitwise_xor, exact),
    "Div": (NUMBER, "plain nonzero",
            lambda x, y: x / y if x.dtype.kind == "f" else truncated_division(x, y), exact),
    "DivNoNan": (FLOAT, "plain zeros", lambda x, y: np.where(y == 0, 0, x / np.where(y == 0, 1, y)), exact),
    "FloorDiv": (WHOLE, "whole nonzero", np.floor_divide, exact),
    "FloorMod": (FLOAT + " i32 i64", "whole nonzero", np.mod, exact),
    "LeftShift": ("i32 i64 u8 u16", "plain count", np.left_shift, exact),
    "LogicalAnd": ("bool", "plain plain", np.logical_and, exact),
    "LogicalOr": ("bool", "plain plain", np.logical_or, exact),
    "Maximum": (NUMBER, "plain plain", np.maximum, exact),
    "Minimum": (NUMBER, "plain plain", np.minimum, exact),
    "Mod": ("f32 f64 i32 i64", "whole nonzero", np.fmod, exact),
    "Mul": (NUMBER + " i16", "whole whole", np.multiply, exact),
    "MulNoNan": (FLOAT, "special zeros", lambda x, y: np.where(y == 0, 0, x * y), exact),
    "Pow": (FLOAT, "positive narrow", np.power, lambda t, values: near(t, values, 64)),
    "RealDiv": (FLOAT, "plain nonzero", np.true_divide, exact),
    "RightShift": ("i32 i64 u8 u16", "plain count", np.right_shift, exact),
    "SquaredDifference": (NUMBER, "whole whole", lambda x, y: (x - y) ** 2, exact),
    "Sub": (NUMBER, "plain plain", np.subtract, exact),
    "TruncateDiv": ("i32 i64 i8 i16 u8", "whole nonzero", truncated_division, exact),
    "TruncateMod": ("f32 f64 i32 i64", "whole nonzero", np.fmod, exact),
    "Xdivy": (FLOAT, "zeros nonzero", lambda x, y: x / y, exact),
    "Xlog1py": (FLOAT, "zeros positive", lambda x, y: x * np.log1p(y), near),
    "Xlogy": (FLOAT, "zeros positive", lambda x, y: x * np.log(y), near),
    "Equal": (ANY, "whole whole", np.equal, exact, "bool"),
    "NotEqual": (ANY, "whole whole", np.not_equal, exact, "bool"),
    "Greater": (NUMBER, "whole whole", np.greater, exact, "bool"),
    "GreaterEqual": (NUMBER, "whole whole", np.greater_equal, exact, "bool"),
    "Less": (NUMBER, "whole whole", np.less, exact, "bool"),
    "LessEqual": (NUMBER, "whole whole", np.less_equal, exact, "bool"),
}


@op(*BINARY)
def binary(node):
    dtypes, kinds, model, answer, *result = BINARY[node.op]
    t = node.pick(dtypes.split()) if node.op.startswith("Logical") else node.dtype(dtypes)
    if node.op in ("Equal", "NotEqual"):
        node.attr(True, "incompatible_shape_error", True)
    x, y = (node.data(t, shape, kind) for shape, kind in zip(node.parts(2)[0], kinds.split()))
    return answer(*result or [t], model(x, y))


@op("ApproximateEqual")
def approximate_equal(node):
    t, shape = node.dtype("f32 f64"), node.shape()
    tolerance = node.attr(node.pick([1e-5, 0.75, 2.5]), "tolerance", 1e-5)
    x, y = (node.data(t, shape, "whole") for _ in "xy")
    return exact("bool", np.abs(x - y) < tolerance)


@op("AddN", "AccumulateNV2")
def add_n(node):
    t, shape, n = node.dtype(NUMBER), node.shape(), node.int(1, 5)
    node.attr(n, "N")
    if node.op == "AccumulateNV2":
        node.attrs["shape"] = f"shape {{ {dims_text(shape)} }}"
    return exact(t, sum(node.data(t, shape, "whole") for _ in range(n)))


@op("MatMul")
def mat_mul(node):
    t, (m, k, n) = node.dtype("f32 f32 f16 bf16 f64 i32 i64"), [node.size() for _ in range(3)]
    a, b = node.flag("transpose_a"), node.flag("transpose_b")
    x, y = node.data(t, (k, m) if a else (m, k), "whole"), node.data(t, (n, k) if b else (k, n), "whole")
    return exact(t, (x.T if a else x) @ (y.T if b else y))


@op("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_mat_mul(node):
    v3 = node.op == "BatchMatMulV3"
    t = node.dtype("f32 f32 f16 bf16 f64 i32", *(["Ta", "Tb", "Tout"] if v3 else ["T"]))
    m, k, n = [node.int(1, 9) for _ in range(3)]
    batch = tuple(node.int(1, 3) for _ in range(node.int(0, 3)))
    first, second = (batch, batch) if node.op == "BatchMatMul" else (batch, node.part(batch))
    a, b = node.flag("adj_x"), node.flag("adj_y")
    x = node.data(t, first + ((k, m) if a else (m, k)), "whole")
    y = node.data(t, second + ((n, k) if b else (k, n)), "whole")
    return exact(t, (x.swapaxes(-1, -2) if a else x) @ (y.swapaxes(-1, -2) if b else y))


@op("BiasAdd", "BiasAddV1")
def bias_add(node):
    t, nchw = node.dtype(NUMBER), node.op == "BiasAdd" and node.chance(0.4)
    shape = node.shape(4, 4) if nchw else node.shape(2, 5)
    if node.op == "BiasAdd":
        node.attr("NCHW" if nchw else "NHWC", "data_format", "NHWC")
    x, bias = node.data(t, shape), node.data(t, (shape[1 if nchw else -1],))
    return exact(t, x + (bias.reshape(-1, 1, 1) if nchw else bias))


REDUCTIONS = {
    "Sum": ("whole", np.sum, exact), "Mean": ("plain", np.mean, near), "Max": ("plain", np.max, exact),
    "Min": ("plain", np.min, exact), "Prod": ("powers", np.prod, exact), "All": ("plain", np.all, exact),
    "Any": ("plain", np.any, exact),
    "EuclideanNorm": ("plain", lambda x, **how: np.sqrt(np.sum(x * x, **how)), in_steps),
}


@op(*REDUCTIONS)
def reduction(node):
    kind, model, answer = REDUCTIONS[node.op]
    t = "bool" if node.op in ("All", "Any") else node.dtype(NUMBER if answer is exact else FLOAT)
    shape = node.shape(elements=200)
    x = node.data(t, shape, "powers" if t in FLOATS and kind == "powers" else kind)
    axes = node.axes(len(shape), low=0) if node.chance(0.15) else node.axes(len(shape))
    scalar = len(axes) == 1 and node.chance(0.4)
    node.number(axes[0] if scalar else np.array(axes, int), "Tidx")
    keep = node.flag("keep_dims")
    return answer(t, model(x, axis=tuple(axes), keepdims=keep)) if axes else answer(t, model(x[None], axis=0))


@op("ArgMax", "ArgMin")
def arg(node):
    t, shape = node.dtype("f32 f32 f64 i32 i64"), node.shape(1)
    x = node.data(t, shape, "distinct")
    axis = node.number(node.axis(len(shape)), "Tidx")
    out = node.pick(["i32", "i64"])
    if out == "i32" or node.chance():
        node.type(out, "output_type")
    return exact(out, getattr(np, node.op.lower())(x, axis))


@op("TopK", "TopKV2")
def top_k(node):
    t, shape = node.dtype("f32 f32 f16 i32"), node.shape(1)
    x = node.data(t, shape, "distinct" if np.prod(shape) < 500 and t != "f16" else "whole")
    k = node.int(1, shape[-1])
    if node.op == "TopK":
        node.attr(k, "k")
    else:
        node.number(k, choices="i32")
    node.attr(True, "sorted", True)
    node.outputs = [0, 1]
    order = np.argsort(-x, -1, kind="stable")[..., :k]
    return [exact(t, np.take_along_axis(x, order, -1)), exact("i32", order)]


@op("Cumsum", "Cumprod")
def cumulative(node):
    t, shape = node.dtype(NUMBER), node.shape(1, elements=300)
    shape = tuple(min(n, 9) for n in shape)
    x = node.data(t, shape, "whole" if node.op == "Cumsum" else "powers" if t in FLOATS else "unit")
    axis = node.number(node.axis(len(shape)), "Tidx")
    exclusive, reverse = node.flag("exclusive"), node.flag("reverse")
    x = np.flip(x, axis) if reverse else x
    made = (np.cumsum if node.op == "Cumsum" else np.cumprod)(x, axis, dtype=x.dtype)
    if exclusive:
        first = np.full_like(np.take(x, [0], axis), node.op == "Cumprod")
        made = np.concatenate([first, np.delete(made, -1, axis)], axis)
    return exact(t, np.flip(made, axis) if reverse else made)


@op("Softmax", "LogSoftmax")
def softmax(node):
    t = node.dtype(FLOAT)
    x = node.data(t, node.shape(1))
    logs = x - x.max(-1, keepdims=True)
    logs = logs - np.log(np.exp(logs).sum(-1, keepdims=True))
    return near(t, logs if node.op == "LogSoftmax" else np.exp(logs), 64)


# Shapes


@op("Reshape")
def reshape(node):
    t, shape = node.dtype(ANY), node.shape()
    x, rest, wanted = node.data(t, shape), int(np.prod(shape)), []
    while rest > 1 and len(wanted) < 4:
        part = node.pick([n for n in range(1, rest + 1) if rest % n == 0])
        wanted.append(part)
        rest //= part
    wanted += [rest] if rest > 1 else []
    asked = list(wanted)
    if asked and node.chance(0.4):
        asked[node.int(0, len(asked) - 1)] = -1
    node.number(np.array(asked, int), "Tshape")
    return exact(t, x.reshape(wanted))


@op("Transpose")
def transpose(node):
    t, shape = node.dtype(ANY), node.shape()
    x, perm = node.data(t, shape), node.random.permutation(len(shape))
    return exact(t, x.transpose(node.number(perm, "Tperm")))


@op("Squeeze")
def squeeze(node):
    t, shape = node.dtype(ANY), tuple(node.pick([1, 1, node.size()]) for _ in range(node.int(0, 5)))
    ones = [axis for axis, n in enumerate(shape) if n == 1]
    some = node.random.permutation(ones)[:node.int(0, len(ones))].tolist() if ones else []
    some = [int(axis) - len(shape) * node.chance(0.3) for axis in some]
    node.attr(some, "squeeze_dims", [])
    return exact(t, np.squeeze(node.data(t, shape), tuple(some) if some else None))


@op("ExpandDims")
def expand_dims(node):
    t, shape = node.dtype(ANY), node.shape()
    x, axis = node.data(t, shape), node.axis(len(shape), new=True)
    number = np.array([axis]) if node.chance(0.2) else axis
    node.number(number, "Tdim")
    return exact(t, np.expand_dims(x, axis))


@op("Concat", "ConcatV2")
def concat(node):
    t, shape, n = node.dtype(ANY), list(node.shape(1)), node.int(2, 5)
    node.attr(n, "N")
    axis = node.axis(len(shape))
    if node.op == "Concat":
        node.number(axis, choices="i32")
    parts = []
    for _ in range(n):
        shape[axis] = node.int(1, 6)
        parts.append(node.data(t, tuple(shape)))
    if node.op == "ConcatV2":
        node.number(axis, "Tidx")
    return exact(t, np.concatenate(parts, axis))


@op("Pack")
def pack(node):
    t, shape, n = node.dtype(ANY), node.shape(), node.int(1, 5)
    node.attr(n, "N")
    axis = node.attr(node.axis(len(shape), new=True), "axis", 0)
    return exact(t, np.stack([node.data(t, shape) for _ in range(n)], axis))


@op("Unpack")
def unpack(node):
    t, shape = node.dtype(ANY), tuple(min(n, 6) for n in node.shape(1))
    axis = node.attr(node.axis(len(shape)), "axis", 0)
    n = node.attr(shape[axis], "num")
    x, node.outputs = node.data(t, shape), list(range(n))
    return [exact(t, np.take(x, i, axis)) for i in range(n)]


@op("Split")
def split(node):
    t, shape, n = node.dtype(ANY), list(node.shape(1)), node.int(1, 4)
    axis = node.number(node.axis(len(shape)), choices="i32")
    shape[axis] = n * node.int(1, 4)
    x, node.outputs = node.data(t, tuple(shape)), list(range(node.attr(n, "num_split")))
    return [exact(t, part) for part in np.split(x, n, axis)]


@op("SplitV")
def split_v(node):
    t, shape, n = node.dtype(ANY), list(node.shape(1)), node.int(1, 4)
    axis, sizes = node.axis(len(shape)), [node.int(1, 5) for _ in range(n)]
    shape[axis] = sum(sizes)
    x, asked = node.data(t, tuple(shape)), list(sizes)
    if node.chance(0.3):
        asked[node.int(0, n - 1)] = -1
    node.number(np.array(asked), "Tlen")
    node.number(axis, choices="i32")
    node.outputs = list(range(node.attr(n, "num_split")))
    return [exact(t, part) for part in np.split(x, np.cumsum(sizes)[:-1], axis)]


@op("Slice")
def cut(node):
    t, shape = node.dtype(ANY), node.shape()
    begin = [node.int(0, n - 1) for n in shape]
    size = [node.int(1, n - low) for n, low in zip(shape, begin)]
    x, kind = node.data(t, shape), node.dtype("i32 i64", "Index")
    asked = [-1 if low + n == whole and node.chance() else n for low, n, whole in zip(begin, size, shape)]
    node.number(np.array(begin, int), choices=kind)
    node.number(np.array(asked, int), choices=kind)
    return exact(t, x[tuple(slice(low, low + n) for low, n in zip(begin, size))])


@op("StridedSlice")
def strided_slice(node):
    t, shape = node.dtype(ANY), node.shape(1)
    x, kind, masks = node.data(t, shape), node.dtype("i32 i64", "Index"), collections.Counter()
    used, index, numbers, dim = node.int(1, len(shape)), [], [], 0
    ellipsis = node.int(0, used) if node.chance(0.25) else -1
    while len(numbers) < 7 and (dim < used or ellipsis == dim):
        bit = 1 << len(numbers)
        if ellipsis == dim and not masks["ellipsis_mask"]:
            masks["ellipsis_mask"] += bit
            index.append(Ellipsis)
            numbers.append((0, 0, 1))
            dim, used = len(shape) - (used - dim), len(shape)
            ellipsis = -1
            continue
        if node.chance(0.15):
            masks["new_axis_mask"] += bit
            index.append(None)
            numbers.append((node.int(-2, 2), node.int(-2, 2), 1))
            continue
        n = shape[dim]
        dim += 1
        if node.chance(0.25):
            masks["shrink_axis_mask"] += bit
            index.append(node.int(-n, n - 1))
            numbers.append((index[-1], index[-1] + 1 if node.chance() else node.int(-n, n), 1))
            continue
        step = node.pick([1, 1, 1, 2, 3, -1, -2])
        low, high = node.int(-n - 1, n + 1), node.int(-n - 1, n + 1)
        masks["begin_mask"] += bit * (begins := node.chance(0.3))
        masks["end_mask"] += bit * (ends := node.chance(0.3))
        index.append(slice(None if begins else low, None if ends else high, step))
        numbers.append((low, high, step))
    for row in zip(*numbers):
        node.number(np.array(row), choices=kind)
    for name in "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask":
        node.attr(int(masks[name]), name, 0)
    return exact(t, x[tuple(index)])


@op("Pad", "PadV2")
def pad(node):
    t, shape = node.dtype(NUMBER), node.shape(1)
    x = node.data(t, shape)
    widths = node.number(np.array([[node.int(0, 3), node.int(0, 3)] for _ in shape]), "Tpaddings")
    value = node.give(t, 3, 0.9) if node.op == "PadV2" else 0
    return exact(t, np.pad(x, widths, constant_values=value))


@op("MirrorPad")
def mirror_pad(node):
    t, shape, reflects = node.dtype(NUMBER), node.shape(1, elements=300), node.chance()
    x = node.data(t, shape)
    widths = [[node.int(0, min(3, n - reflects)), node.int(0, min(3, n - reflects))] for n in shape]
    node.number(np.array(widths), "Tpaddings")
    node.attr("REFLECT" if reflects else "SYMMETRIC", "mode")
    return exact(t, np.pad(x, widths, "reflect" if reflects else "symmetric"))


@op("Tile")
def tile(node):
    t, shape = node.dtype(ANY), node.shape(1, elements=200)
    return exact(t, np.tile(node.data(t, shape), node.number(np.array([node.int(1, 3) for _ in shape]), "Tmultiples")))


@op("BroadcastTo")
def broadcast_to(node):
    t, shape = node.dtype(ANY), node.shape()
    x = node.data(t, node.part(shape))
    node.number(np.array(shape, int), "Tidx")
    return exact(t, np.broadcast_to(x, shape))


@op("Fill")
def fill(node):
    t, shape = node.dtype(ANY), node.shape()
    node.number(np.array(shape, int), "index_type")
    return exact(t, np.full(shape, node.data(t, ())))


@op("ReverseV2")
def reverse(node):
    t, shape = node.dtype(ANY), node.shape(1)
    x, axes = node.data(t, shape), node.axes(len(shape))
    node.number(np.array(axes, int), "Tidx")
    return exact(t, np.flip(x, tuple(axes)))


@op("Shape", "Size", "Rank")
def shape_of(node):
    t, shape, out = node.dtype(ANY), node.shape(), "i32"
    node.data(t, shape)
    if node.op != "Rank":
        out = node.pick(["i32", "i64"])
        if out == "i64" or node.chance():
            node.type(out, "out_type")
    return exact(out, {"Shape": np.array(shape, int), "Size": int(np.prod(shape)), "Rank": len(shape)}[node.op])


# Elements at places


@op("Gather", "GatherV2")
def gather(node):
    v2, t = node.op == "GatherV2", node.dtype(ANY, "Tparams")
    shape, batch, axis = node.shape(1), 0, 0
    if v2:
        axis = node.int(0, len(shape) - 1)
        batch = node.int(0, axis) if node.chance(0.4) else 0
    x, kind = node.data(t, shape), node.dtype("i32 i64", "Tindices")
    places = node.give(kind, node.random.integers(0, shape[axis], shape[:batch] + node.shape(0, 2, elements=20)))
    if v2:
        node.number(axis - len(shape) * node.chance(0.3), "Taxis")
        node.attr(batch, "batch_dims", 0)
    lead = shape[:batch]
    made = [np.take(x[i], places[i], axis - batch) for i in np.ndindex(*lead)]
    return exact(t, np.array(made).reshape(lead + made[0].shape))


@op("GatherNd")
def gather_nd(node):
    t, shape = node.dtype(ANY, "Tparams"), node.shape(1)
    x, kind, depth = node.data(t, shape), node.dtype("i32 i64", "Tindices"), node.int(1, len(shape))
    lead = node.shape(0, 2, elements=20)
    places = np.stack([node.random.integers(0, n, lead) for n in shape[:depth]], -1)
    return exact(t, x[tuple(np.moveaxis(node.give(kind, places), -1, 0))])


@op("Select")
def select(node):
    t, shape = node.dtype(ANY), node.shape()
    kinds = [shape, ()] + ([shape[:1]] if shape else [])
    chosen = node.data("bool", node.pick(kinds))
    x, y = node.data(t, shape), node.data(t, shape)
    chosen = chosen.reshape(chosen.shape + (1,) * (len(shape) - chosen.ndim)) if chosen.ndim else chosen
    return exact(t, np.where(chosen, x, y))


@op("SelectV2")
def select_v2(node):
    t, parts = node.dtype(ANY), node.parts(3)[0]
    return exact(t, np.where(node.data("bool", parts[0]), node.data(t, parts[1]), node.data(t, parts[2])))


@op("OneHot")
def one_hot(node):
    t, shape, depth = node.dtype(ANY), node.shape(0, 3, elements=60), node.int(1, 6)
    kind = node.dtype("i32 i64 u8", "TI")
    places = node.give(kind, node.random.integers(0 if kind == "u8" else -1, depth + 1, shape))
    node.number(depth, choices="i32")
    on, off = node.data(t, ()), node.data(t, ())
    axis = node.attr(node.int(-1, len(shape)), "axis", -1)
    where = np.expand_dims(places.astype(int), axis)
    levels = np.arange(depth).reshape([-1 if i == (axis % (len(shape) + 1)) else 1 for i in range(len(shape) + 1)])
    return exact(t, np.where(where == levels, on, off))


@op("Range")
def counted(node):
    t, delta = node.dtype("i32 i64 f32 f64", "Tidx"), node.pick([1, 1, 2, -1, 3])
    low = node.int(-5, 5)
    high = low + delta * node.int(1, 9) + node.int(0, abs(delta) - 1) * (1 if delta > 0 else -1)
    for number in low, high, delta:
        node.number(number, choices=t)
    return exact(t, np.arange(low, high, delta))


@op("Cast")
def cast(node):
    source, target = node.dtype(ANY + " i16 u16", "SrcT"), node.dtype(ANY + " i16", "DstT")
    if node.chance():
        node.attr(False, "Truncate", False)
    unsigned = target[0] == "u" and source != "bool"
    x = node.data(source, node.shape(), "positive" if unsigned else "plain")
    if target == "bool":
        return exact(target, x != 0)
    return exact(target, np.trunc(x) if target in INTS and source in FLOATS else x)


@op("ClipByValue")
def clip_by_value(node):
    t, shape = node.dtype(FLOAT + " i32"), node.shape()
    x, sides = node.data(t, shape), node.pick([(), (), shape])
    low = node.give(t, np.full(sides, -node.int(0, 3)), 0.6)
    high = node.give(t, np.full(sides, node.int(0, 3)), 0.6)
    return exact(t, np.minimum(np.maximum(x, low), high))


@op("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(node):
    t, shape, first = "f32", node.shape(4, 4), node.chance(0.4)
    t = node.dtype("f32" if node.op == "FusedBatchNorm" else "f32 f32 f16 bf16")
    if node.op != "FusedBatchNorm":
        node.type("f32", "U")
    node.attr("NCHW" if first else "NHWC", "data_format", "NHWC")
    epsilon = node.attr(node.pick([1e-4, 1e-4, 1e-3, 0.1]), "epsilon", 1e-4)
    training = node.attr(node.chance(0.15), "is_training", True)
    channels = shape[1 if first else 3]
    x = node.data(t, shape)
    scale, offset, mean = (node.give("f32", node.random.standard_normal(0 if training and i == 2 else channels), 0.5)
                           for i in range(3))
    variance = node.give("f32", node.random.uniform(0.01, 2, 0 if training else channels), 0.5)
    x = np.moveaxis(x, 1, -1) if first else x
    if training:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    y = (x - mean) / np.sqrt(variance + epsilon) * scale + offset
    node.outputs = [0]
    return [near(t, np.moveaxis(y, -1, 1) if first else y, 64, 1e-4 if training else 1e-5)]


# ---- Running them ----


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
rows = sorted(set(re.findall(r"^(\w+)", listed.stdout, re.M))) if listed.returncode == 0 else []
unknown = [name for name in rows if name not in MODELS]
tap.check("each row of the table has a model", not unknown, " ".join(unknown))
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
    if faults and not rows:
        tap.todo(claim, "\n".join(faults), "not translated yet")
    else:
        tap.check(claim, not faults, "\n".join(faults))
    if "--list" in sys.argv:
        for label, outcome in found[name]:
            if outcome.verdict == "refused":
                print(f"# {label}: {outcome.text or 'no reason'}")
print(f"# all: {imported.counted([outcome.verdict for each in found.values() for _, outcome in each])}")
tap.done()
