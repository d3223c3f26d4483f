"""Kernels that compute element by element: exact, but for what the C library computes."""

import numpy as np

from numpy_cases import NUMPY, Result, Tensor, integers, uniform

FLOATS = ("f32", "f16", "bf16")
SHAPES = [((33, 7), (33, 7)), ((5, 1, 7), (3, 1)), ((), (9,)), ((2, 0, 3), (3,))]


def add(cases):
    for op, compute in (("Add", np.add), ("Mul", np.multiply)):
        for dtype in FLOATS:
            for left, right in SHAPES:
                a, b = uniform(dtype, *left), uniform(dtype, *right)
                cases.add(op, [a, b], Result(dtype, compute(a.f32, b.f32)))
        for dtype in ("i8", "i32", "i64"):
            a, b = integers(dtype, 4, 5), integers(dtype, 5)
            with np.errstate(over="ignore"):
                cases.add(op, [a, b], Result(dtype, compute(a.elements, b.elements)))
    for dtype in FLOATS:
        a, b = uniform(dtype, 6, 7, low=0.1), uniform(dtype, 7)
        cases.add("Pows", [a, b], Result(dtype, np.power(a.f64, b.f64), 1))
        odd = Tensor(dtype, [0.0, -1.5, np.inf, -np.inf, np.nan])
        cases.add("IsInf", [odd], Result("bool", np.isinf(odd.elements)))
        cases.add("IsFinite", [odd], Result("bool", np.isfinite(odd.elements)))
        parts = [uniform(dtype, 3, 5) for _ in range(3)]
        sum = (parts[0].f32 + parts[1].f32) + parts[2].f32
        cases.add("AddN", [parts], Result(dtype, sum), "N = 3")
    x = uniform("f32", 40, low=-300, high=300)
    for dtype in ("f16", "bf16"):
        cases.add("Cast", [x], Result(dtype, x.elements))
    for dtype in ("i8", "i16", "i32", "i64", "u8"):
        bounds = np.iinfo(NUMPY[dtype])
        whole = Tensor(dtype, np.clip(np.rint(x.elements), bounds.min, bounds.max))
        cases.add("Cast", [x], Result(dtype, whole.elements))
        cases.add("Cast", [whole], Result("f16", whole.elements))
    cases.add("Cast", [Tensor("f32", [0, -0.0, 2, np.nan])], Result("bool", [False, False, True, True]))
