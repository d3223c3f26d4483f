"""Kernels that compute element by element: exact, but for what the C library computes."""

import numpy as np

from numpy_cases import NUMPY, Result, Tensor, integers, uniform

FLOATS = ("f32", "f16", "bf16")
SHAPES = [((33, 7), (33, 7)), ((5, 1, 7), (3, 1)), ((), (9,)), ((2, 0, 3), (3,))]


NUMBERS = FLOATS + ("i8", "i32", "i64")
ODD = [0.0, -0.0, 1.5, -1.5, 2.5, np.inf, -np.inf, np.nan]
ODD_WHOLE = [0, 1, -1, 7, -7, 100, -128, 127]


def erf(x):
    import math
    return np.vectorize(math.erf, otypes=[float])(x)


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
    bits = np.iinfo(NUMPY[dtype]).bits
    return np.vectorize(lambda x: (int(x) + 2 ** (bits - 1)) % 2 ** bits - 2 ** (bits - 1), otypes=[object])(elements)


# What floats give, computed in f32 as the kernels do, and integers.
BINARY = {
    "Add": (np.add, np.add), "Sub": (np.subtract, np.subtract), "Mul": (np.multiply, np.multiply),
    "Div": (np.divide, truncate), "RealDiv": (np.divide, None),
    "Maximum": (np.maximum, np.maximum), "Minimum": (np.minimum, np.minimum),
    "FloorDiv": (np.floor_divide, np.floor_divide), "FloorMod": (np.mod, np.mod),
    "Mod": (np.fmod, np.fmod),
    "SquaredDifference": (lambda a, b: (a - b) * (a - b), lambda a, b: (a - b) * (a - b)),
}
COMPARE = {
    "Equal": np.equal, "NotEqual": np.not_equal, "Greater": np.greater, "Less": np.less,
    "GreaterEqual": np.greater_equal, "LessEqual": np.less_equal,
}
# What is exact in f32, of floats and of integers.
EXACT = {
    "Neg": np.negative, "Abs": np.abs, "Square": np.square, "Sign": np.sign,
    "Relu": lambda x: np.where(x < 0, 0, x),
}
EXACT_FLOAT = {"Sqrt": np.sqrt, "Floor": np.floor, "Ceil": np.ceil, "Round": np.rint,
               "Reciprocal": lambda x: np.float32(1) / x,
               "Rsqrt": lambda x: np.float32(1) / np.sqrt(x)}
# Ulps of f32 against the true value; halves are right but for their own rounding.
NEAR = {
    "Exp": (np.exp, 1), "Expm1": (np.expm1, 1), "Log": (np.log, 1), "Log1p": (np.log1p, 1),
    "Sin": (np.sin, 1), "Cos": (np.cos, 1), "Tanh": (np.tanh, 2), "Erf": (erf, 1),
    "Sigmoid": (sigmoid, 3), "Softplus": (lambda x: np.logaddexp(0, x), 3),
    "Swish": (lambda x: x * sigmoid(x), 3), "Silu": (lambda x: x * sigmoid(x), 3),
}


def add_binary(cases):
    for op, (of_floats, of_integers) in BINARY.items():
        for dtype in FLOATS:
            for left, right in SHAPES:
                a, b = uniform(dtype, *left), uniform(dtype, *right)
                cases.add(op, [a, b], Result(dtype, of_floats(a.f32, b.f32)))
            a = Tensor(dtype, ODD)
            b = Tensor(dtype, [[x] for x in ODD])
            if "Floor" not in op:
                cases.add(op, [a, b], Result(dtype, of_floats(a.f32, b.f32)), claim=f"{op} of odd {dtype}")
        for dtype in ("i8", "i32", "i64") if of_integers else ():
            a, b = integers(dtype, 4, 5), integers(dtype, 5)
            cases.add(op, [a, b], Result(dtype, wrapped(of_integers(a.elements, b.elements), dtype)))
            a, b = Tensor(dtype, ODD_WHOLE), Tensor(dtype, [[x] for x in ODD_WHOLE])
            wide = [np.asarray(x.elements, np.int64) for x in (a, b)]
            cases.add(op, [a, b], Result(dtype, wrapped(of_integers(*wide), dtype)), claim=f"{op} of odd {dtype}")
    for dtype in FLOATS:
        a, b = uniform(dtype, 6, 7, low=0.1), uniform(dtype, 7)
        for op in ("Pows", "Pow"):
            cases.add(op, [a, b], Result(dtype, np.power(a.f64, b.f64), 1))
    a, b = integers("i32", 40, low=-9, high=9), integers("i32", 40, low=0, high=9)
    cases.add("Pow", [a, b], Result("i32", np.power(a.elements, b.elements)))
    cases.add("Pow", [Tensor("i8", [1, -1, -1, 2, 0]), Tensor("i8", [-3, -3, -2, -1, -1])],
              Result("i8", [1, -1, 1, 0, 0]))


def add_compare(cases):
    for op, compute in COMPARE.items():
        for dtype in FLOATS + ("i8", "i16", "i32", "i64", "u8") + (("bool",) if op in ("Equal", "NotEqual") else ()):
            values = [0, 1, 1, 0] if dtype == "bool" else [0, 1, 7, 100] if dtype == "u8" else ODD_WHOLE
            a = Tensor(dtype, ODD if dtype in FLOATS else values)
            b = Tensor(dtype, a.elements[:, None])
            cases.add(op, [a, b], Result("bool", compute(a.elements, b.elements)))
    a, b = Tensor("bool", [False, True]), Tensor("bool", [[False], [True]])
    cases.add("LogicalAnd", [a, b], Result("bool", a.elements & b.elements))
    cases.add("LogicalOr", [a, b], Result("bool", a.elements | b.elements))
    cases.add("LogicalNot", [a], Result("bool", ~a.elements))


def add_unary(cases):
    for op, compute in EXACT.items():
        for dtype in NUMBERS:
            x = Tensor(dtype, ODD if dtype in FLOATS else ODD_WHOLE)
            at = x.f32 if dtype in FLOATS else x.elements.astype(np.int64)
            wanted = compute(at) if dtype in FLOATS else wrapped(compute(at), dtype)
            cases.add(op, [x], Result(dtype, wanted))
    for dtype in FLOATS:
        x = Tensor(dtype, np.append(uniform(dtype, 300, low=-20, high=20).elements, ODD))
        for op, compute in EXACT_FLOAT.items():
            cases.add(op, [x], Result(dtype, compute(x.f32)))
        for op, (compute, ulps) in NEAR.items():
            cases.add(op, [x], Result(dtype, compute(x.f64), ulps if dtype == "f32" else 1))
        cases.add("Swish", [x], Result(dtype, x.f64 * sigmoid(x.f64 * -0.5), 3), "scale = -0.5")
        cases.add("LeakyRelu", [x], Result(dtype, np.where(x.f32 > 0, x.f32, x.f32 * np.float32(-0.25))),
                  "negative_slope = -0.25")
        cases.add("LeakyRelu", [x], Result(dtype, np.where(x.f32 > 0, x.f32, x.f32 * 0)))
        finite = uniform(dtype, 300, low=-4, high=4)
        exact = 0.5 * finite.f64 * (1 + erf(finite.f64 / np.sqrt(2)))
        for op, wanted, attributes in (
                ("Gelu", gelu(finite.f64), ""), ("GeluV2", exact, ""),
                ("GeluV2", exact, 'approximate = "none"'), ("GeluV2", gelu(finite.f64), 'approximate = "tanh"'),
                ("FastGelu", finite.f64 * sigmoid(1.702 * finite.f64), "")):
            cases.add(op, [finite], Result(dtype, wanted, 8 if wanted is not exact else 1, 0.03), attributes)
        cases.add("Adds", [x], Result(dtype, x.f32 + np.float32(-1.5)), "value = -1.5")
        cases.add("Muls", [x], Result(dtype, x.f32 * np.float32(-1.5)), "value = -1.5")
        for op, test in (("IsInf", np.isinf), ("IsFinite", np.isfinite), ("IsNan", np.isnan)):
            cases.add(op, [x], Result("bool", test(x.elements)))
    x = Tensor("i8", ODD_WHOLE)
    cases.add("Adds", [x], Result("i8", wrapped(x.elements.astype(int) + 100, "i8")), "value = 100")
    cases.add("Muls", [x], Result("i8", wrapped(x.elements.astype(int) * -3, "i8")), "value = -3")


def add_select(cases):
    for op in ("Select", "SelectV2", "Where"):
        for dtype in FLOATS + ("f64", "i8", "i64", "u16", "bool"):
            whole = dtype not in FLOATS
            a, b = (integers(dtype, *shape, low=0, high=1) if whole else uniform(dtype, *shape)
                    for shape in ((4, 1, 6), (5, 6)))
            condition = Tensor("bool", integers("i8", 5, 1, low=0, high=1).elements)
            cases.add(op, [condition, a, b], Result(dtype, np.where(condition.elements, a.elements, b.elements)))
    for op in ("ClipByValue", "Clip"):
        for dtype in NUMBERS:
            x = Tensor(dtype, ODD if dtype in FLOATS else ODD_WHOLE)
            low, high = Tensor(dtype, [[-1], [0]]), Tensor(dtype, 2)
            wanted = np.minimum(np.maximum(x.elements, low.elements), high.elements)
            cases.add(op, [x, low, high], Result(dtype, wanted))


def add_updates(cases):
    for dtype in NUMBERS:
        ref = uniform(dtype, 3, 50) if dtype in FLOATS else integers(dtype, 3, 50)
        value = uniform(dtype, 3, 50) if dtype in FLOATS else integers(dtype, 3, 50)
        a, b = (x.f32 if dtype in FLOATS else x.elements.astype(object) for x in (ref, value))
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
        sum = (parts[0].f32 + parts[1].f32) + parts[2].f32
        cases.add("AddN", [parts], Result(dtype, sum), "N = 3")
    x = uniform("f32", 40, low=-300, high=300)
    for dtype in ("f16", "bf16"):
        cases.add("Cast", [x], Result(dtype, x.elements))
    for dtype in ("i8", "i16", "i32", "i64", "u8"):
        bounds = np.iinfo(NUMPY[dtype])
        inside = Tensor("f32", np.clip(x.elements, bounds.min, bounds.max))
        whole = Tensor(dtype, np.trunc(inside.elements))
        cases.add("Cast", [inside], Result(dtype, whole.elements))
        cases.add("Cast", [whole], Result("f16", whole.elements))
    for dtype in FLOATS:
        halves = Tensor(dtype, [0.5, 1.5, 2.5, 2.75, -0.5, -1.5, -2.5, -2.75, -0.0])
        cases.add("Cast", [halves], Result("i32", [0, 1, 2, 2, 0, -1, -2, -2, 0]))
    cases.add("Cast", [Tensor("f32", [0, -0.0, 2, np.nan])], Result("bool", [False, False, True, True]))
