"""What the ops on elements compute: in f32 each step rounded, or, where the C library computes, the
real numbers."""

import math

import numpy as np

from .draws import FLOAT, MOVED, NUMBER, Op
from .numbers import FLOATS, INTS, Answer, Tensor, rounded, truncated, wide_of_integers
from .table import also, judges

COMPARED = FLOAT + ["i8", "i16", "i32", "i64", "u8"]
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
}


@judges(*BINARY)
def binary(draw, op_type):
    of_floats, of_integers, *near = BINARY[op_type]
    dtype = draw.pick(NUMBER if of_integers else FLOAT)
    shapes, shape = draw.parts(2)
    x, y = (draw.tensor(dtype, part) for part in shapes)
    wide = np.broadcast_arrays(x.data, y.data)
    if dtype not in FLOATS:
        result = Answer(dtype, of_integers(*wide))
    elif near:
        result = Answer(dtype, of_floats(*(a.astype(np.float64) for a in wide)), near=near[0])
    else:
        either = op_type in ("Maximum", "Minimum")
        result = answer(dtype, of_floats(*wide), signed=not either)
    dynamic = True if op_type == "Add" and draw.chance(0.3) else None
    return inplace(draw, Op([x, y], [result], {"dynamic": dynamic}))


COMPARISONS = {"Equal": np.equal, "NotEqual": np.not_equal, "Greater": np.greater,
               "GreaterEqual": np.greater_equal, "Less": np.less, "LessEqual": np.less_equal}
LOGICAL = {"LogicalAnd": np.logical_and, "LogicalOr": np.logical_or}


@judges(*COMPARISONS, *LOGICAL)
def comparison(draw, op_type):
    dtypes = ["bool"] if op_type in LOGICAL else COMPARED
    dtype = draw.pick(dtypes + ["bool"] if op_type in ("Equal", "NotEqual") else dtypes)
    shapes, _ = draw.parts(2)
    kind = draw.pick(["special", "whole"]) if dtype in FLOATS else "small"
    x, y = (draw.tensor(dtype, part, kind) for part in shapes)
    return Op([x, y], Answer("bool", {**COMPARISONS, **LOGICAL}[op_type](x.data, y.data)))


# ---- One operand ----

def sign(x):
    return np.where(np.isnan(x), x, np.sign(x)).astype(x.dtype)


UNARY = {"Neg": np.negative, "Abs": np.abs, "Square": np.square, "Sign": sign,
         "Relu": lambda x: np.maximum(x, x.dtype.type(0))}


@judges(*UNARY)
def unary(draw, op_type):
    x = draw.tensor(draw.pick(NUMBER), draw.shape())
    signed = op_type not in ("Relu", "Sign")
    return inplace(draw, Op(x, answer(x.dtype, UNARY[op_type](x.data), signed=signed)))


@judges("Adds", "Muls")
def with_number(draw, op_type):
    x = draw.tensor(draw.pick(NUMBER), draw.shape())
    value = draw.pick([0.1, -2.75, 3, 3.0, 300, 0.0, -0.5, 2.5e9])
    if x.dtype in FLOATS:
        number = np.float32(value)
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
REAL = {
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
    "Round": (np.rint, 0),
    "Sigmoid": (lambda x: 1 / (1 + exp32(-x)), 4, lambda x: TINY),
    "Softplus": (lambda x: np.logaddexp(0, x), 4),
    "Gelu": (gelu_tanh, 6, lambda x: 2.0 ** -22 * size(x)),
    "FastGelu": (lambda x: gated(x, 1.702), 6, lambda x: gate_error(x, 1.702)),
}


@judges(*REAL)
def real(draw, op_type):
    function, near, *error = REAL[op_type]
    x = draw.tensor(draw.pick(FLOAT), draw.shape())
    if not near:
        return inplace(draw, Op(x, answer(x.dtype, function(x.data))))
    return inplace(draw, Op(x, near_to(x, function, near, *error)))


def near_to(x, function, near, error=lambda x: 0.0):
    wide = x.data.astype(np.float64)
    return Answer(x.dtype, function(wide), near=near, error=np.abs(error(wide)))


@judges("GeluV2")
def gelu_v2(draw):
    x = draw.tensor(draw.pick(FLOAT), draw.shape())
    how = draw.pick([None, "none", "tanh"])
    function = gelu_tanh if how == "tanh" else gelu_erf
    result = near_to(x, function, 6, lambda x: 2.0 ** -22 * size(x))
    return inplace(draw, Op(x, result, {"approximate": how}))


@judges("Swish")
def swish(draw):
    x = draw.tensor(draw.pick(FLOAT), draw.shape())
    scale = draw.pick([None, 1.0, 1.702, -0.5, 0.0])
    factor = float(np.float32(1.0 if scale is None else scale))

    result = near_to(x, lambda wide: gated(wide, factor), 6,
                     lambda wide: gate_error(wide, factor))
    return inplace(draw, Op(x, result, {"scale": scale}))


also("Silu", "Swish")


@judges("LeakyRelu")
def leaky_relu(draw):
    x = draw.tensor(draw.pick(FLOAT), draw.shape())
    slope = draw.pick([None, 0.01, 0.0, -0.5, 2.0])
    made = np.where(x.data > 0, x.data, x.data * np.float32(slope or 0))
    return inplace(draw, Op(x, answer(x.dtype, made), {"negative_slope": slope}))


@judges("IsInf", "IsFinite", "IsNan")
def classes(draw, op_type):
    x = draw.tensor(draw.pick(FLOAT), draw.shape(), draw.pick(["special", "wide"]))
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
        return rounded(target, wide_of_integers(values.astype(np.int64))), None
    return values.astype(INTS[target]), None


@judges("Cast")
def cast_op(draw):
    dtypes = FLOAT + ["i8", "u8", "i16", "i32", "i64", "bool"]
    source, target = draw.pick(dtypes), draw.pick(dtypes)
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
