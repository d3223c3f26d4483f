"""Kernels that compute element by element: exact, but for what the C library computes."""

import numpy as np

from numpy_cases import NUMPY, Result, Tensor, integers, uniform

FLOATS = ("f32", "f16", "bf16", "f64")
INTS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
SHAPES = [((33, 7), (33, 7)), ((5, 1, 7), (3, 1)), ((), (9,)), ((2, 0, 3), (3,))]


NUMBERS = FLOATS + INTS
ODD = [0.0, -0.0, 1.5, -1.5, 2.5, np.inf, -np.inf, np.nan]
ODD_WHOLE = [0, 1, -1, 7, -7, 100, -128, 127]


def erf(x):
    import math
    return np.vectorize(math.erf, otypes=[float])(x)


def erfc(x):
    import math
    return np.vectorize(math.erfc, otypes=[float])(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def truncate(a, b):
    """The quotient of integers, cut; 0 where b is 0."""
    safe = np.where(b == 0, 1, b).astype(object)
    wide = a.astype(object)
    quotient = np.where((wide < 0) != (safe < 0), -(abs(wide) // abs(safe)), wide // safe)
    return np.where(b == 0, 0, quotient)


def wrapped(elements, dtype):
    limits = np.iinfo(NUMPY[dtype])
    return np.vectorize(lambda x: (int(x) - limits.min) % 2 ** limits.bits + limits.min, otypes=[object])(elements)


def whole(dtype):
    """Odd integers, of a type that has no negative ones as large as it has."""
    limits = np.iinfo(NUMPY[dtype])
    return Tensor(dtype, np.clip(ODD_WHOLE, limits.min, limits.max) if limits.min < 0
                  else [0, 1, limits.max if limits.bits < 64 else 2 ** 53, 7, 6, 100, 128, 127])


# What floats give, computed in f32 as the kernels do, and integers.
BINARY = {
    "Add": (np.add, np.add), "Sub": (np.subtract, np.subtract), "Mul": (np.multiply, np.multiply),
    "Div": (np.divide, truncate), "RealDiv": (np.divide, None),
    "Maximum": (np.maximum, np.maximum), "Minimum": (np.minimum, np.minimum),
    "FloorDiv": (np.floor_divide, np.floor_divide), "FloorMod": (np.mod, np.mod),
    "Mod": (np.fmod, np.fmod), "TruncateMod": (np.fmod, np.fmod),
    "TruncateDiv": (lambda a, b: np.trunc(a / b), truncate),
    "DivNoNan": (lambda a, b: np.where(b == 0, 0, a / b), truncate),
    "Xdivy": (lambda a, b: np.where(a == 0, 0, a / b), None),
    "BitwiseAnd": (None, np.bitwise_and), "BitwiseOr": (None, np.bitwise_or), "BitwiseXor": (None, np.bitwise_xor),
    "SquaredDifference": (lambda a, b: (a - b) * (a - b), lambda a, b: (a - b) * (a - b)),
}
COMPARE = {
    "Equal": np.equal, "NotEqual": np.not_equal, "Greater": np.greater, "Less": np.less,
    "GreaterEqual": np.greater_equal, "LessEqual": np.less_equal,
}
# What is exact in f32, of floats and of integers.
EXACT = {
    "Neg": np.negative, "Abs": np.abs, "Square": np.square, "Sign": np.sign,
    "Relu": lambda x: np.where(x < 0, 0, x), "Relu6": lambda x: np.clip(x, 0, 6),
    "Trunc": np.trunc, "Round": np.rint,
}
EXACT_FLOAT = {"Sqrt": np.sqrt, "Floor": np.floor, "Ceil": np.ceil, "Rint": np.rint,
               "Reciprocal": lambda x: x.dtype.type(1) / x,
               "Rsqrt": lambda x: x.dtype.type(1) / np.sqrt(x),
               "Softsign": lambda x: x / (1 + np.abs(x))}
# Ulps of f32 against the true value; halves are right but for their own rounding.
NEAR = {
    "Exp": (np.exp, 1), "Expm1": (np.expm1, 1), "Log": (np.log, 1), "Log1p": (np.log1p, 1),
    "Sin": (np.sin, 1), "Cos": (np.cos, 1), "Tanh": (np.tanh, 2), "Erf": (erf, 1),
    "Sigmoid": (sigmoid, 3), "Softplus": (lambda x: np.logaddexp(0, x), 3),
    "Swish": (lambda x: x * sigmoid(x), 3), "Silu": (lambda x: x * sigmoid(x), 3),
    "Tan": (np.tan, 2), "Asin": (np.arcsin, 2), "Acos": (np.arccos, 2), "Atan": (np.arctan, 2),
    "Sinh": (np.sinh, 3), "Cosh": (np.cosh, 3), "Asinh": (np.arcsinh, 3), "Acosh": (np.arccosh, 3),
    "Atanh": (np.arctanh, 3), "Erfc": (erfc, 4),
    "Selu": (lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), 3),
    "Mish": (lambda x: x * np.tanh(np.logaddexp(0, x)), 4),
    "HardSwish": (lambda x: x * np.clip((x + 3) / 6, 0, 1), 3),
}


def add_binary(cases):
    for op, (of_floats, of_integers) in BINARY.items():
        for dtype in FLOATS if of_floats else ():
            for left, right in SHAPES:
                a, b = uniform(dtype, *left), uniform(dtype, *right)
                cases.add(op, [a, b], Result(dtype, of_floats(a.computed, b.computed)))
            a = Tensor(dtype, ODD)
            b = Tensor(dtype, [[x] for x in ODD])
            if "Floor" not in op:
                cases.add(op, [a, b], Result(dtype, of_floats(a.computed, b.computed)),
                          claim=f"{op} of odd {dtype}")
        for dtype in INTS if of_integers else ():
            a, b = (integers(dtype, *shape, low=0 if dtype[0] == "u" else -100) for shape in ((4, 5), (5,)))
            cases.add(op, [a, b], Result(dtype, wrapped(of_integers(a.elements, b.elements), dtype)))
            a = whole(dtype)
            b = Tensor(dtype, a.elements[:, None])
            wide = [np.asarray(x.elements, np.int64) for x in (a, b)]
            cases.add(op, [a, b], Result(dtype, wrapped(of_integers(*wide), dtype)), claim=f"{op} of odd {dtype}")
    for dtype in FLOATS:
        a, b = uniform(dtype, 6, 7, low=0.1), uniform(dtype, 7)
        for op in ("Pows", "Pow"):
            cases.add(op, [a, b], Result(dtype, np.power(a.f64, b.f64), 1))
        for op, wanted, ulps in (("Atan2", np.arctan2(a.f64, b.f64), 2),
                                 ("Xlogy", a.f64 * np.log(a.f64), 2)):
            cases.add(op, [a, b if op == "Atan2" else a], Result(dtype, wanted, ulps))
        zero = Tensor(dtype, [0, 0, 2])
        cases.add("Xlogy", [zero, Tensor(dtype, [0, np.inf, 0])], Result(dtype, [0, 0, -np.inf]))
        weights = uniform(dtype, 3)
        for shape, weight in (((2, 3, 4, 5), weights), ((4, 3), weights), ((3,), weights),
                              ((2, 5), uniform(dtype, 1)), ((), uniform(dtype))):
            x = uniform(dtype, *shape)
            each = weight.computed.reshape((-1,) + (1,) * max(len(shape) - 2, 0))
            each = each.reshape(()) if each.size == 1 else each
            cases.add("PRelu", [x, weight], Result(dtype, np.where(x.computed > 0, x.computed, x.computed * each)))
    for dtype in NUMBERS:
        x = Tensor(dtype, np.arange(24).reshape(2, 3, 4))
        last, second = (Tensor(dtype, np.arange(n) + 5) for n in (4, 3))
        cases.add("BiasAdd", [x, last], Result(dtype, x.elements + last.elements))
        cases.add("BiasAdd", [x, second], Result(dtype, x.elements + second.elements[:, None]), 'data_format = "NCHW"')
    for dtype in INTS:
        x, count = whole(dtype), integers(dtype, 8, low=0, high=7)
        pairs = list(zip(x.elements.tolist(), count.elements.tolist()))
        cases.add("LeftShift", [x, count], Result(dtype, wrapped([a << b for a, b in pairs], dtype)))
        cases.add("RightShift", [x, count], Result(dtype, [a >> b for a, b in pairs]))
        all_out = Tensor(dtype, [64, 100] * 4)
        cases.add("LeftShift", [x, all_out], Result(dtype, np.zeros(8, int)))
        cases.add("RightShift", [x, all_out], Result(dtype, [-1 if a < 0 else 0 for a, _ in pairs]))
        cases.add("Invert", [x], Result(dtype, wrapped([~a for a, _ in pairs], dtype)))
    a, b = integers("i32", 40, low=-9, high=9), integers("i32", 40, low=0, high=9)
    cases.add("Pow", [a, b], Result("i32", np.power(a.elements, b.elements)))
    cases.add("Pow", [Tensor("i8", [1, -1, -1, 2, 0]), Tensor("i8", [-3, -3, -2, -1, -1])],
              Result("i8", [1, -1, 1, 0, 0]))


def add_compare(cases):
    for op, compute in COMPARE.items():
        for dtype in NUMBERS + (("bool",) if op in ("Equal", "NotEqual") else ()):
            a = (Tensor(dtype, ODD if dtype in FLOATS else [0, 1, 1, 0]) if dtype not in INTS
                 else whole(dtype) if dtype != "u64" else Tensor(dtype, [0, 1, 2 ** 63, 2 ** 64 - 1]))
            b = Tensor(dtype, a.elements[:, None])
            cases.add(op, [a, b], Result("bool", compute(a.elements, b.elements)))
    a, b = Tensor("bool", [False, True]), Tensor("bool", [[False], [True]])
    cases.add("LogicalAnd", [a, b], Result("bool", a.elements & b.elements))
    cases.add("LogicalOr", [a, b], Result("bool", a.elements | b.elements))
    cases.add("LogicalNot", [a], Result("bool", ~a.elements))


def add_unary(cases):
    for op, compute in EXACT.items():
        for dtype in NUMBERS:
            x = Tensor(dtype, ODD) if dtype in FLOATS else whole(dtype)
            at = x.computed if dtype in FLOATS else x.elements.astype(np.int64)
            wanted = compute(at) if dtype in FLOATS else wrapped(compute(at), dtype)
            cases.add(op, [x], Result(dtype, wanted))
    for dtype in FLOATS:
        x = Tensor(dtype, np.append(uniform(dtype, 300, low=-20, high=20).elements, ODD))
        for op, compute in EXACT_FLOAT.items():
            cases.add(op, [x], Result(dtype, compute(x.computed)))
        for op, (compute, ulps) in NEAR.items():
            cases.add(op, [x], Result(dtype, compute(x.f64), ulps + 1 if dtype in ("f32", "f64") else 1))
        cases.add("Swish", [x], Result(dtype, x.f64 * sigmoid(x.f64 * -0.5), 3), "scale = -0.5")
        cases.add("LeakyRelu", [x], Result(dtype, np.where(x.f32 > 0, x.elements, x.computed * -0.25)),
                  "negative_slope = -0.25")
        cases.add("LeakyRelu", [x], Result(dtype, np.where(x.f32 > 0, x.elements, x.computed * 0)))
        wide = x.f64
        for op, wanted, attributes in (
                ("Elu", np.where(wide > 0, 1.5 * wide, 2 * 1.5 * np.expm1(0.5 * wide)),
                 "alpha = 2, scale = 1.5, input_scale = 0.5"),
                ("Elu", np.where(wide > 0, wide, np.expm1(wide)), ""),
                ("CeluV2", np.where(wide > 0, wide, 2 * np.expm1(wide / 2)), "alpha = 2"),
                ("HardSigmoid", np.clip(0.25 * wide + 0.5, 0, 1), "alpha = 0.25, beta = 0.5"),
                ("ThresholdedRelu", np.where(wide <= 0.5, 0, wide), "alpha = 0.5"),
                ("HardShrink", np.where(np.abs(wide) <= 0.5, 0, wide), ""),
                ("HardShrink", np.where(np.abs(wide) <= 1.5, 0, wide), "lambd = 1.5"),
                ("SoftShrink", np.where(wide > 1.5, wide - 1.5, np.where(wide < -1.5, wide + 1.5, 0 * wide)),
                 "lambd = 1.5")):
            cases.add(op, [x], Result(dtype, wanted, 3 if dtype in ("f32", "f64") else 1), attributes)
        finite = uniform(dtype, 300, low=-4, high=4)
        exact = 0.5 * finite.f64 * erfc(-finite.f64 / np.sqrt(2))
        for op, wanted, attributes in (
                ("Gelu", gelu(finite.f64), ""), ("GeluV2", exact, ""),
                ("GeluV2", exact, 'approximate = "none"'), ("GeluV2", gelu(finite.f64), 'approximate = "tanh"'),
                ("FastGelu", finite.f64 * sigmoid(1.702 * finite.f64), "")):
            cases.add(op, [finite], Result(dtype, wanted, 64 if dtype == "f64" else 2 if wanted is exact else 8, 0.03),
                      attributes)
        cases.add("Adds", [x], Result(dtype, x.computed + x.computed.dtype.type(-1.5)), "value = -1.5")
        cases.add("Muls", [x], Result(dtype, x.computed * x.computed.dtype.type(-1.5)), "value = -1.5")
        for decimals in (2, -1):
            ten = x.computed.dtype.type(100 if decimals > 0 else 10)
            wanted = np.rint(x.computed * ten) / ten if decimals > 0 else np.rint(x.computed / ten) * ten
            cases.add("Round", [x], Result(dtype, wanted), f"decimals = {decimals}")
        for op, test in (("IsInf", np.isinf), ("IsFinite", np.isfinite), ("IsNan", np.isnan)):
            cases.add(op, [x], Result("bool", test(x.elements)))
    x = Tensor("i8", ODD_WHOLE)
    cases.add("Round", [x], Result("i8", x.elements), "decimals = 1")
    cases.add("Adds", [x], Result("i8", wrapped(x.elements.astype(int) + 100, "i8")), "value = 100")
    cases.add("Muls", [x], Result("i8", wrapped(x.elements.astype(int) * -3, "i8")), "value = -3")


def add_select(cases):
    for op in ("Select", "SelectV2", "Where"):
        for dtype in FLOATS + ("i8", "i64", "u16", "bool"):
            is_whole = dtype not in FLOATS
            a, b = (integers(dtype, *shape, low=0, high=1) if is_whole else uniform(dtype, *shape)
                    for shape in ((4, 1, 6), (5, 6)))
            condition = Tensor("bool", integers("i8", 5, 1, low=0, high=1).elements)
            cases.add(op, [condition, a, b], Result(dtype, np.where(condition.elements, a.elements, b.elements)))
    for op in ("ClipByValue", "Clip"):
        for dtype in NUMBERS:
            x = Tensor(dtype, ODD) if dtype in FLOATS else whole(dtype)
            low, high = Tensor(dtype, [[1 if dtype[0] == "u" else -1], [0]]), Tensor(dtype, 2)
            wanted = np.minimum(np.maximum(x.elements, low.elements), high.elements)
            cases.add(op, [x, low, high], Result(dtype, wanted))


def add_updates(cases):
    for dtype in NUMBERS:
        ref, value = (uniform(dtype, 3, 50) if dtype in FLOATS else
                      integers(dtype, 3, 50, low=0 if dtype[0] == "u" else -100) for _ in range(2))
        a, b = (x.computed if dtype in FLOATS else x.elements.astype(object) for x in (ref, value))
        for op, wanted in (("AssignAdd", a + b), ("AssignSub", a - b)):
            wanted = wanted if dtype in FLOATS else wrapped(wanted, dtype)
            cases.add(op, [ref, value], Result(dtype, wanted), updates=0)


def add(cases):
    with np.errstate(all="ignore"):
        add_binary(cases)
        add_compare(cases)
        add_unary(cases)
        add_select(cases)
        add_updates(cases)
    for dtype in FLOATS:
        parts = [uniform(dtype, 3, 5) for _ in range(3)]
        sum = (parts[0].computed + parts[1].computed) + parts[2].computed
        cases.add("AddN", [parts], Result(dtype, sum), "N = 3")
        whole_parts = [integers("u8", 7, low=0), integers("u8", 7, low=0, high=255)]
    cases.add("AddN", [whole_parts], Result("u8", whole_parts[0].elements + whole_parts[1].elements), "N = 2")
    add_casts(cases)


def add_casts(cases):
    for source in ("f32", "f64"):
        x = uniform(source, 40, low=-300, high=300)
        for dtype in FLOATS:
            cases.add("Cast", [x], Result(dtype, x.elements))
        for dtype in INTS:
            bounds = np.iinfo(NUMPY[dtype])
            inside = Tensor(source, np.clip(x.elements, bounds.min, bounds.max))
            trunc = Tensor(dtype, np.trunc(inside.elements))
            cases.add("Cast", [inside], Result(dtype, trunc.elements))
            cases.add("Cast", [trunc], Result("f16", trunc.elements))
    # Once rounded: twice it would be another number.
    cases.add("Cast", [Tensor("f64", [1 + 2.0 ** -11 + 2.0 ** -40, 1 + 2.0 ** -8 + 2.0 ** -50])],
              Result("f16", [1 + 2.0 ** -10, 1 + 2.0 ** -8]))
    cases.add("Cast", [Tensor("f64", [1 + 2.0 ** -8 + 2.0 ** -50])], Result("bf16", [1 + 2.0 ** -7]))
    large = Tensor("u64", np.array([2 ** 64 - 1, 2 ** 63, 2 ** 63 + 2 ** 10 + 1, 5], np.uint64))
    for dtype in ("f32", "f64", "i64", "u32"):
        cases.add("Cast", [large], Result(dtype, large.elements.astype(NUMPY[dtype])))
    cases.add("Cast", [Tensor("f64", [2.0 ** 63, 2.0 ** 64 - 2.0 ** 11, 0.5])],
              Result("u64", np.array([2 ** 63, 2 ** 64 - 2 ** 11, 0], np.uint64)))
    for dtype in FLOATS:
        halves = Tensor(dtype, [0.5, 1.5, 2.5, 2.75, -0.5, -1.5, -2.5, -2.75, -0.0])
        cases.add("Cast", [halves], Result("i32", [0, 1, 2, 2, 0, -1, -2, -2, 0]))
    cases.add("Cast", [Tensor("f32", [0, -0.0, 2, np.nan])], Result("bool", [False, False, True, True]))
