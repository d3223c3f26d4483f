"""Models of TensorFlow's operators in NumPy: those on elements, of matrices and reductions. MODELS has a function for each
operator, which draws a node's attributes and operands, and returns what its results must be."""

import math

import numpy as np
from checkers.tf_nodes import dims_text
from judge_kernels.numbers import CARRIERS, FLOATS, INTS, Answer, quantum, rounded

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
