"""What the ops on elements compute: in f32 (of f64: in f64) each step rounded, or, where the C library computes, the
real numbers."""

import math

import numpy as np

from .draws import MOVED, NUMBER, REAL, Op
from .numbers import FLOATS, INTS, Answer, Tensor, rounded, truncated, wide_of_integers
from .table import also, judges

TINY = 2.0 ** -125  # what is below the normal numbers of f32 may be lost in between


def inplace(draw, op):
    """The op, whose first result may now be the memory of an operand of its type and shape."""
    fit = [i for i, operand in enumerate(op.operands)
           if operand.dtype == op.answers[0].dtype and operand.shape == op.answers[0].shape
           and not operand.constant]
    if fit and draw.chance(0.2):
        op.memory = draw.pick(fit)
    return op


def answer(dtype, values, **more):
    """An exact answer of f32 values or of integers, with what it allows."""
    return Answer(dtype, rounded(dtype, values) if dtype in FLOATS else values, **more)


# ---- Integers ----

def cut_quotient(x, y):
    """Integer quotients cut to whole ones, 0 where y is, as Python's integers have them."""
    quotients = [0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
                 for a, b in zip(x.ravel().tolist(), y.ravel().tolist())]
    return wrapped(quotients, x)


def floor_quotient(x, y):
    return wrapped([0 if b == 0 else a // b
                    for a, b in zip(x.ravel().tolist(), y.ravel().tolist())], x)


def floor_rest(x, y):
    return wrapped([0 if b == 0 else a % b
                    for a, b in zip(x.ravel().tolist(), y.ravel().tolist())], x)


def cut_rest(x, y):
    return wrapped([0 if b == 0 else abs(a) % abs(b) * (1 if a >= 0 else -1)
                    for a, b in zip(x.ravel().tolist(), y.ravel().tolist())], x)


def integer_power(x, y):
    """Powers modulo what the type can hold; with negative exponents the cut quotient 1 / x^-y."""
    modulus = 1 << (8 * x.dtype.itemsize)

    def power(a, b):
        if b >= 0:
            return pow(a, b, modulus)
        return 0 if abs(a) != 1 else a if b % 2 else 1

    return wrapped([power(a, b) for a, b in zip(x.ravel().tolist(), y.ravel().tolist())], x)


def shifted_left(x, y):
    return wrapped([a << b if 0 <= b < 64 else 0
                    for a, b in zip(x.ravel().tolist(), y.ravel().tolist())], x)


def shifted_right(x, y):
    return wrapped([a >> b if 0 <= b < 64 else -(a < 0)
                    for a, b in zip(x.ravel().tolist(), y.ravel().tolist())], x)


def wrapped(numbers, like):
    """Python's integers in a type, of which the low bits stay."""
    bits = 8 * like.dtype.itemsize
    signed = like.dtype.kind == "i"
    low = [n & ((1 << bits) - 1) for n in numbers]
    low = [n - (1 << bits) if signed and n >> (bits - 1) else n for n in low]
    return np.array(low, like.dtype).reshape(like.shape)


# ---- Two operands ----

# For floats in f32, and for integers. What has a third member is near to that of real numbers.
BINARY = {
    "Add": (np.add, np.add),
    "Sub": (np.subtract, np.subtract),
    "Mul": (np.multiply, np.multiply),
    "Div": (np.divide, cut_quotient),
    "FloorDiv": (np.floor_divide, floor_quotient),
    "FloorMod": (np.mod, floor_rest),
    "Mod": (np.fmod, cut_rest),
    "Maximum": (np.maximum, np.maximum),
    "Minimum": (np.minimum, np.minimum),
    "Pow": (np.power, integer_power, 2),
    "SquaredDifference": (lambda x, y: (x - y) * (x - y), lambda x, y: (x - y) * (x - y)),
    "RealDiv": (np.divide, None),
    "Pows": (np.power, None, 2),
    "TruncateDiv": (lambda x, y: np.trunc(x / y), cut_quotient),
    "TruncateMod": (np.fmod, cut_rest),
    "DivNoNan": (lambda x, y: np.where(y == 0, y.dtype.type(0), x / y), cut_quotient),
    "Xdivy": (lambda x, y: np.where(x == 0, x.dtype.type(0), x / y), None),
    "Xlogy": (lambda x, y: np.where(x == 0, 0, x * np.log(y)), None, 4),
    "Atan2": (np.arctan2, None, 3),
    "BitwiseAnd": (None, np.bitwise_and),
    "BitwiseOr": (None, np.bitwise_or),
    "BitwiseXor": (None, np.bitwise_xor),
    "LeftShift": (None, shifted_left),
    "RightShift": (None, shifted_right),
}


@judges(*BINARY)
def binary(draw, op_type):
    of_floats, of_integers, *near = BINARY[op_type]
    dtype = draw.pick([dtype for dtype in NUMBER if (of_floats if dtype in FLOATS else of_integers)])
    shapes, shape = draw.parts(2)
    x, y = (draw.tensor(dtype, part) for part in shapes)
    wide = np.broadcast_arrays(x.data, y.data)
    if dtype not in FLOATS:
        result = Answer(dtype, of_integers(*wide))
    elif near:
        result = Answer(dtype, of_floats(*(a.astype(np.float64) for a in wide)), near=near[0])
    else:
        either = op_type in ("Maximum", "Minimum", "Xdivy", "DivNoNan")
        result = answer(dtype, of_floats(*wide), signed=not either)
    dynamic = True if op_type == "Add" and draw.chance(0.3) else None
    return inplace(draw, Op([x, y], [result], {"dynamic": dynamic}))


COMPARISONS = {"Equal": np.equal, "NotEqual": np.not_equal, "Greater": np.greater,
               "GreaterEqual": np.greater_equal, "Less": np.less, "LessEqual": np.less_equal}
LOGICAL = {"LogicalAnd": np.logical_and, "LogicalOr": np.logical_or}


@judges(*COMPARISONS, *LOGICAL)
def comparison(draw, op_type):
    dtypes = ["bool"] if op_type in LOGICAL else NUMBER
    dtype = draw.pick(dtypes + ["bool"] if op_type in ("Equal", "NotEqual") else dtypes)
    shapes, _ = draw.parts(2)
    kind = draw.pick(["special", "whole"]) if dtype in FLOATS else "small"
    x, y = (draw.tensor(dtype, part, kind) for part in shapes)
    return Op([x, y], Answer("bool", {**COMPARISONS, **LOGICAL}[op_type](x.data, y.data)))


# ---- One operand ----

def sign(x):
    return np.where(np.isnan(x), x, np.sign(x)).astype(x.dtype)


def whole(function):
    """That of floats; integers are whole."""
    return lambda x: function(x) if x.dtype.kind == "f" else x


UNARY = {"Neg": np.negative, "Abs": np.abs, "Square": np.square, "Sign": sign,
         "Relu": lambda x: np.maximum(x, x.dtype.type(0)),
         "Relu6": lambda x: np.minimum(np.maximum(x, x.dtype.type(0)), x.dtype.type(6)),
         "Trunc": whole(np.trunc)}


@judges(*UNARY)
def unary(draw, op_type):
    x = draw.tensor(draw.pick(NUMBER), draw.shape())
    signed = op_type not in ("Relu", "Relu6", "Sign")
    return inplace(draw, Op(x, answer(x.dtype, UNARY[op_type](x.data), signed=signed)))


@judges("Round")
def round_op(draw):
    x, decimals = draw.tensor(draw.pick(NUMBER), draw.shape()), draw.pick([None, 0, 0, 1, 3, -2])
    if x.dtype not in FLOATS:
        return inplace(draw, Op(x, answer(x.dtype, x.data), {"decimals": abs(decimals or 0)}))
    ten = x.data.dtype.type(10 ** abs(decimals or 0))
    made = np.rint(x.data * ten) / ten if (decimals or 0) >= 0 else np.rint(x.data / ten) * ten
    return inplace(draw, Op(x, answer(x.dtype, made), {"decimals": decimals}))


@judges("Adds", "Muls")
def with_number(draw, op_type):
    x = draw.tensor(draw.pick(NUMBER), draw.shape())
    value = draw.pick([0.1, -2.75, 3, 3.0, 300, 0.0, -0.5, 2.5e9])
    if x.dtype in FLOATS:
        number = x.data.dtype.type(value)
    else:
        number = wrapped([int(value)], x.data.reshape(-1)[:1] if x.data.size else
                         np.zeros(1, x.data.dtype))[0]
    apply = np.add if op_type == "Adds" else np.multiply
    return inplace(draw, Op(x, answer(x.dtype, apply(x.data, number)), {"value": value}))


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu_erf(x):
    return x / 2 * (1 + erf(x / math.sqrt(2)))


def erf(x):
    return np.array([math.erf(each) for each in x.ravel()]).reshape(x.shape)


def erfc(x):
    return np.array([math.erfc(each) for each in x.ravel()]).reshape(x.shape)


SELU_ALPHA, SELU_SCALE = 1.6732632423543772848, 1.0507009873554804935


def elu(x, low=1.0, high=1.0, inner=1.0):
    return np.where(x > 0, high * x, low * np.expm1(inner * x))


def exp32(x):
    """Powers of e, which are infinite where f32 has none."""
    powers = np.exp(x)
    return np.where(powers > np.finfo(np.float32).max, np.inf, powers)


def gated(x, factor=1.0):
    """x * sigmoid(factor * x), which is not a number for -inf."""
    return x / (1 + exp32(-factor * x))


def gate_error(x, factor=1.0):
    """That of gated: of the exponent, and near where it is infinite."""
    made = gated(x, factor)
    slope = np.where(np.isfinite(x), np.abs(x * made), 0)
    return 2.0 ** -22 * slope + TINY * (1 + size(x))


def size(x):
    """Magnitudes of what is finite, by which cancellation is measured."""
    return np.where(np.isfinite(x), np.abs(x), 0)


# Real functions, the units in the last place that they may be off, and what may get lost besides,
# as a function of x. The ones with 0 are exact in f32.
FUNCTIONS = {
    "Exp": (np.exp, 2),
    "Expm1": (np.expm1, 2),
    "Log": (np.log, 2),
    "Log1p": (np.log1p, 2),
    "Sqrt": (np.sqrt, 0),
    "Rsqrt": (lambda x: 1 / np.sqrt(x), 2),
    "Reciprocal": (lambda x: 1 / x, 0),
    "Sin": (np.sin, 2),
    "Cos": (np.cos, 2),
    "Tanh": (np.tanh, 2),
    "Erf": (erf, 2),
    "Floor": (np.floor, 0),
    "Ceil": (np.ceil, 0),
    "Rint": (np.rint, 0),
    "Tan": (np.tan, 3),
    "Asin": (np.arcsin, 3),
    "Acos": (np.arccos, 3),
    "Atan": (np.arctan, 3),
    "Sinh": (np.sinh, 4),
    "Cosh": (np.cosh, 4),
    "Asinh": (np.arcsinh, 4),
    "Acosh": (np.arccosh, 4),
    "Atanh": (np.arctanh, 4),
    "Erfc": (erfc, 5),
    "Selu": (lambda x: elu(x, SELU_ALPHA * SELU_SCALE, SELU_SCALE), 6),
    "HardSwish": (lambda x: x * np.clip((x + 3) / 6, 0, 1), 5, lambda x: 2.0 ** -22),
    "Softsign": (lambda x: x / (1 + np.abs(x)), 3),
    "Mish": (lambda x: x * np.tanh(np.logaddexp(0, x)), 8, lambda x: TINY * (1 + size(x))),
    "Sigmoid": (lambda x: 1 / (1 + exp32(-x)), 4, lambda x: TINY),
    "Softplus": (lambda x: np.logaddexp(0, x), 4),
    "Gelu": (gelu_tanh, 6, lambda x: 2.0 ** -22 * size(x)),
    "FastGelu": (lambda x: gated(x, 1.702), 6, lambda x: gate_error(x, 1.702)),
}


@judges(*FUNCTIONS)
def real(draw, op_type):
    function, near, *error = FUNCTIONS[op_type]
    x = draw.tensor(draw.pick(REAL), draw.shape())
    if not near:
        return inplace(draw, Op(x, answer(x.dtype, function(x.data))))
    return inplace(draw, Op(x, near_to(x, function, near, *error)))


def near_to(x, function, near, error=lambda x: 0.0):
    wide = x.data.astype(np.float64)
    return Answer(x.dtype, function(wide), near=near, error=np.abs(error(wide)))


@judges("GeluV2")
def gelu_v2(draw):
    x = draw.tensor(draw.pick(REAL), draw.shape())
    how = draw.pick([None, "none", "tanh"])
    function = gelu_tanh if how == "tanh" else gelu_erf
    result = near_to(x, function, 6, lambda x: 2.0 ** -22 * size(x))
    return inplace(draw, Op(x, result, {"approximate": how}))


@judges("Swish")
def swish(draw):
    x = draw.tensor(draw.pick(REAL), draw.shape())
    scale = draw.pick([None, 1.0, 1.702, -0.5, 0.0])
    factor = float(np.float32(1.0 if scale is None else scale))

    result = near_to(x, lambda wide: gated(wide, factor), 6,
                     lambda wide: gate_error(wide, factor))
    return inplace(draw, Op(x, result, {"scale": scale}))


also("Silu", "Swish")


@judges("LeakyRelu")
def leaky_relu(draw):
    x = draw.tensor(draw.pick(REAL), draw.shape())
    slope = draw.pick([None, 0.01, 0.0, -0.5, 2.0])
    made = np.where(x.data > 0, x.data, x.data * x.data.dtype.type(slope or 0))
    return inplace(draw, Op(x, answer(x.dtype, made), {"negative_slope": slope}))


@judges("PRelu")
def p_relu(draw):
    x = draw.tensor(draw.pick(REAL), draw.shape(0, 4, empty=False))
    channels = x.shape[1] if len(x.shape) > 1 else x.shape[0] if x.shape else 1
    weight = draw.tensor(x.dtype, (channels,) if draw.chance(0.7) else (1,))
    tail = (1,) * max(len(x.shape) - 2, 0)
    each = weight.data.reshape(weight.shape + tail) if x.shape else weight.data[0]
    return Op([x, weight], answer(x.dtype, np.where(x.data > 0, x.data, x.data * each)))


@judges("BiasAdd")
def bias_add(draw):
    x = draw.tensor(draw.pick(NUMBER), draw.shape(2, 4))
    second = draw.chance()
    bias = draw.tensor(x.dtype, (x.shape[1 if second else -1],))
    each = bias.data.reshape(bias.shape + (1,) * (len(x.shape) - 2)) if second else bias.data
    return Op([x, bias], answer(x.dtype, x.data + each), {"data_format": "NCHW" if second else draw.maybe("NHWC")})


@judges("Elu", "CeluV2")
def elu_op(draw, op_type):
    x = draw.tensor(draw.pick(REAL), draw.shape())
    alpha, scale, inner = (draw.pick([None, 0.5, 2.0]) for _ in range(3))
    if op_type == "CeluV2":
        made = near_to(x, lambda wide: elu(wide, alpha or 1, 1, 1 / (alpha or 1)), 6)
        return inplace(draw, Op(x, made, {"alpha": alpha}))
    made = near_to(x, lambda wide: elu(wide, (alpha or 1) * (scale or 1), scale or 1, inner or 1), 6)
    return inplace(draw, Op(x, made, {"alpha": alpha, "scale": scale, "input_scale": inner}))


@judges("HardSigmoid")
def hard_sigmoid(draw):
    x = draw.tensor(draw.pick(REAL), draw.shape())
    alpha, beta = draw.pick([None, 0.25, 2.0]), draw.pick([None, 0.0, 1.5])
    slope, offset = 0.16666666 if alpha is None else alpha, 0.5 if beta is None else beta
    slope = float(x.data.dtype.type(slope))
    made = near_to(x, lambda wide: np.clip(slope * wide + offset, 0, 1), 3,
                   lambda wide: np.full(wide.shape, 2.0 ** -22 if x.dtype != "f64" else 2.0 ** -50))
    return inplace(draw, Op(x, made, {"alpha": alpha, "beta": beta}))


@judges("ThresholdedRelu", "HardShrink", "SoftShrink")
def shrunk(draw, op_type):
    """NaN stays; the numbers are such as all floats have."""
    x = draw.tensor(draw.pick(REAL), draw.shape())
    number = draw.pick([None, 0.25, 1.5, 0.0])
    at = x.data.dtype.type((1 if op_type == "ThresholdedRelu" else 0.5) if number is None else number)
    if op_type == "ThresholdedRelu":
        made = np.where(x.data <= at, 0, x.data)
    elif op_type == "HardShrink":
        made = np.where((x.data >= -at) & (x.data <= at), 0, x.data)
    else:
        made = np.where(x.data > at, x.data - at, np.where(x.data < -at, x.data + at, x.data * 0))
    key = "alpha" if op_type == "ThresholdedRelu" else "lambd"
    result = answer(x.dtype, made.astype(x.data.dtype), signed=False)
    return inplace(draw, Op(x, result, {key: number}))


@judges("Invert")
def invert(draw):
    x = draw.tensor(draw.pick(list(INTS)), draw.shape())
    return inplace(draw, Op(x, answer(x.dtype, np.invert(x.data))))


@judges("IsInf", "IsFinite", "IsNan")
def classes(draw, op_type):
    x = draw.tensor(draw.pick(REAL), draw.shape(), draw.pick(["special", "wide"]))
    tests = {"IsInf": np.isinf, "IsFinite": np.isfinite, "IsNan": np.isnan}
    return Op(x, Answer("bool", tests[op_type](x.data)))


@judges("LogicalNot")
def logical_not(draw):
    x = draw.tensor("bool", draw.shape())
    return inplace(draw, Op(x, Answer("bool", ~x.data)))


# ---- Three and more ----

@judges("Select", "SelectV2")
def select(draw, op_type):
    dtype = draw.pick(MOVED)
    parts, shape = draw.parts(3)
    if op_type == "Select":  # its result is as large as x1 and x2 make it
        parts[1] = shape
    condition = draw.tensor("bool", parts[0])
    x, y = (draw.tensor(dtype, part) for part in parts[1:])
    made = np.where(condition.data, x.data, y.data)
    return inplace(draw, Op([condition, x, y], Answer(dtype, made)))


also("Where", "SelectV2")


@judges("ClipByValue")
def clip(draw):
    dtype = draw.pick(NUMBER)
    parts, _ = draw.parts(3)
    x, low, high = (draw.tensor(dtype, part) for part in parts)
    made = np.minimum(np.maximum(x.data, low.data), high.data)
    return inplace(draw, Op([x, low, high], Answer(dtype, made, signed=False)))


also("Clip", "ClipByValue")


def cast(values, source, target):
    """What a cast gives, and where that is defined; None: everywhere."""
    if target == "bool":
        return values != 0, None
    if source in FLOATS:
        return (rounded(target, values), None) if target in FLOATS else truncated(target, values)
    if target in FLOATS:
        whole = values.astype(np.uint64 if source == "u64" else np.int64)
        wide = whole.astype(np.float64) if target == "f64" else wide_of_integers(whole)
        return rounded(target, wide), None
    return values.astype(INTS[target]), None


@judges("Cast")
def cast_op(draw):
    source, target = draw.pick(MOVED), draw.pick(MOVED)
    x = draw.tensor(source, draw.shape())
    if source in FLOATS and draw.chance():
        span = draw.pick([3.0, 130.0, 4e4, 3e9, 1e19])
        wide = draw.random.uniform(-span, span, x.shape)
        x = Tensor(source, rounded(source, np.rint(wide * 2) / 2 if draw.chance() else wide))
    made, defined = cast(x.data, source, target)
    return inplace(draw, Op(x, Answer(target, made, written=defined)))


@judges("AddN")
def add_n(draw):
    dtype, shape = draw.pick(NUMBER), draw.shape()
    terms = [draw.tensor(dtype, shape) for _ in range(draw.int(1, 5))]
    total = terms[0].data
    for term in terms[1:]:
        total = total + term.data
    return Op([terms], answer(dtype, total), {"N": draw.maybe(len(terms))})
