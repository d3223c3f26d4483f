"""Reductions: sums of floats are f32 in eight lanes, and so within ulps of what is added up."""

import numpy as np

from numpy_cases import NUMPY, Result, Tensor, integers, random, uniform

FLOATS = ("f32", "f16", "bf16", "f64")
INTS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
# Of f32 sums, of the size of the sum of magnitudes; narrower results are one off at most.
ULPS = 4
SHAPES = [((5, 300), (1,), False), ((7, 4, 6), (0, -1), True), ((3, 4, 5, 2), (1, 2), False), ((9,), (0,), False),
          ((2, 0, 3), (1,), False), ((0, 4), (1,), True), ((4, 3), (), False)]
FUNCTIONS = {"Sum": np.sum, "Mean": np.mean, "Max": np.max, "Min": np.min, "Prod": np.prod}


def reduced(name, x, axes, keep):
    """In f64, and the magnitude of what was added up."""
    wide = x.f64 if x.dtype in FLOATS else x.elements
    options = {"axis": axes, "keepdims": keep}
    if name in ("Max", "Min"):
        least = np.inf if x.dtype in FLOATS else None
        if least is None:
            bounds = np.iinfo(NUMPY[x.dtype])
            options["initial"] = bounds.min if name == "Max" else bounds.max
        else:
            options["initial"] = -least if name == "Max" else least
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if x.dtype in FLOATS:
            size = np.mean(np.abs(wide), axis=axes, keepdims=keep) if name == "Mean" else np.sum(
                np.abs(wide), axis=axes, keepdims=keep)
            return FUNCTIONS[name](wide, **options), size if name in ("Sum", "Mean") else 0
        return FUNCTIONS[name](wide, **options, **({} if name in ("Max", "Min") else {"dtype": NUMPY[x.dtype]})), 0


def ulps(name, dtype):
    """Products of many factors round once for each."""
    if name in ("Max", "Min") or dtype not in FLOATS:
        return 0
    return (300 if name == "Prod" else ULPS) if dtype in ("f32", "f64") else 1


def add_reductions(cases):
    for name in FUNCTIONS:
        for shape, axes, keep in SHAPES:
            if name == "Mean" and 0 in shape and shape[axes[0]] == 0:
                continue
            for dtype in FLOATS:
                x = uniform(dtype, *shape, low=0.9 if name == "Prod" else -2, high=1.1 if name == "Prod" else 2)
                wanted, size = reduced(name, x, axes, keep)
                result = Result(dtype, wanted, ulps(name, dtype), np.nan_to_num(size))
                listed = ", ".join(map(str, axes))
                keeps = f", keep_dims = {str(keep).lower()}"
                cases.add(f"Reduce{name}D", [x], result, f"axes = [{listed}]{keeps}")
                cases.add(f"Reduce{name}", [x, Tensor("i64", np.array(axes, np.int64))], result, keeps[2:])
        for dtype in INTS if name != "Mean" else ():
            x = integers(dtype, 4, 3, low=0 if dtype[0] == "u" else -9, high=9)
            cases.add(f"Reduce{name}D", [x], Result(dtype, reduced(name, x, (0,), False)[0]), "axes = [0]")
        x = uniform("f32", 3, 4)
        cases.add(f"Reduce{name}", [x, Tensor("i32", np.zeros(0, np.int32))],
                  Result("f32", reduced(name, x, None, False)[0], 8, np.abs(x.f64).sum()),
                  "noop_with_empty_axes = false")
        cases.add(f"Reduce{name}", [x, Tensor("i32", np.int32(-1))],
                  Result("f32", reduced(name, x, (1,), False)[0], 8, np.abs(x.f64).max() * 4))
    for shape, axes, keep in SHAPES:
        truth = Tensor("bool", random.random(shape) < 0.8)
        for op, reduce in (("ReduceAll", np.all), ("ReduceAny", np.any)):
            wanted = Result("bool", reduce(truth.elements, axis=axes, keepdims=keep))
            keeps, listed = f"keep_dims = {str(keep).lower()}", ", ".join(map(str, axes))
            cases.add(op, [truth, Tensor("i32", np.array(axes, np.int32))], wanted, keeps)
            cases.add(op + "D", [truth], wanted, f"axes = [{listed}], {keeps}")
        for dtype in FLOATS:
            x = uniform(dtype, *shape, low=-9, high=99)
            with np.errstate(divide="ignore"):
                wanted = np.logaddexp.reduce(x.f64.transpose(
                    [axis for axis in range(len(shape)) if axis not in [a % len(shape) for a in axes]] +
                    [a % len(shape) for a in axes]).reshape(
                        np.sum(x.f64, axis=axes).shape + (-1 if x.f64.size else 0,)), axis=-1)
            cases.add("ReduceLogSumExp", [x, Tensor("i64", np.array(axes, np.int64))],
                      Result(dtype, wanted.reshape(np.sum(x.f64, axis=axes, keepdims=keep).shape), 4),
                      f"{keeps}, noop_with_empty_axes = true")
    x = Tensor("f32", [[-np.inf, -np.inf], [np.inf, 1], [np.nan, 1], [-1000, -1001]])
    cases.add("ReduceLogSumExp", [x, Tensor("i32", [1])],
              Result("f32", [-np.inf, np.inf, np.nan, np.logaddexp(-1000, -1001)], 2))
    x = uniform("f32", 3, 4)
    cases.add("ReduceLogSumExp", [x, Tensor("i32", np.zeros(0, np.int32))],
              Result("f32", np.logaddexp.reduce(x.f64, axis=None), 4))
    odd = Tensor("f32", [[1, np.nan, 2], [np.inf, 3, -np.inf]])
    cases.add("ReduceMaxD", [odd], Result("f32", [np.nan, np.inf]), "axes = [1]", "NaN")
    cases.add("ReduceMinD", [odd], Result("f32", [np.nan, -np.inf]), "axes = [1]", "NaN")


def add_arg_max(cases):
    for dtype in FLOATS + INTS:
        x = integers(dtype, 4, 300, 3, low=0, high=20)
        for axis in (0, -2, 2):
            wanted = np.argmax(x.elements, axis)
            cases.add("ArgMaxD", [x], Result("i32", wanted), f"dimension = {axis}")
            cases.add("ArgMaxV2", [x, Tensor("i32", [axis])], Result("i64", wanted))
            wanted = np.argmin(x.elements, axis)
            cases.add("ArgMinD", [x], Result("i32", wanted), f"dimension = {axis}")
            cases.add("ArgMin", [x, Tensor("i32", [axis])], Result("i64", wanted))
    cases.add("ArgMaxD", [Tensor("f32", [3, np.nan, 5, np.nan])], Result("i64", 1), "dimension = 0", "NaN")
    cases.add("ArgMinD", [Tensor("f64", [3, np.nan, -5, np.nan])], Result("i64", 1), "dimension = 0", "NaN")
    large = Tensor("u64", np.array([1, 2 ** 63, 2 ** 64 - 1, 5], np.uint64))
    cases.add("ArgMaxD", [large], Result("i32", 2), "dimension = 0", "large")
    cases.add("ReduceMaxD", [large], Result("u64", large.elements[2]), "axes = [0]", "large")


def add_cumsum(cases):
    for dtype in FLOATS:
        x = uniform(dtype, 3, 10, 2, low=0.5)
        for axis in (0, -2):
            products = np.cumprod(x.computed, axis, dtype=x.computed.dtype)
            cases.add("CumprodD", [x], Result(dtype, products), f"axis = {axis}")
            back = np.flip(np.cumprod(np.flip(x.computed, axis), axis, dtype=x.computed.dtype), axis)
            cases.add("Cumprod", [x, Tensor("i64", axis)], Result(dtype, back), "reverse = true")
        x = uniform(dtype, 3, 40, 2)
        for axis in (0, 1, -1):
            sums = np.cumsum(x.computed, axis, dtype=x.computed.dtype)
            cases.add("CumsumD", [x], Result(dtype, sums), f"axis = {axis}")
            back = np.flip(np.cumsum(np.flip(x.computed, axis), axis, dtype=x.computed.dtype), axis)
            cases.add("Cumsum", [x, Tensor("i64", axis)], Result(dtype, back), "reverse = true")
            before = np.roll(sums, 1, axis)
            before[(slice(None),) * (axis % 3) + (0,)] = 0
            cases.add("CumsumD", [x], Result(dtype, before), f"axis = {axis}, exclusive = true")
    for dtype in INTS:
        x = integers(dtype, 4, 50, low=0, high=9)
        cases.add("Cumsum", [x, Tensor("i32", [1])],
                  Result(dtype, np.cumsum(x.elements, 1, dtype=np.int64).astype(NUMPY[dtype])))


def add_top_k(cases):
    for op, dtypes in (("TopK", FLOATS), ("TopKV2", INTS + FLOATS)):
        for dtype in dtypes:
            x = Tensor(dtype, random.integers(0, 50, (3, 40, 2)))
            for axis, k, largest in ((1, 7, True), (-3, 3, False), (2, 1, True)):
                keys = -x.f64 if largest else x.f64
                places = np.take(np.argsort(keys, axis, kind="stable"), range(k), axis)
                wide = op == "TopKV2"
                cases.add(op, [x, Tensor("i32", k)],
                          [Result(dtype, np.take_along_axis(x.elements, places, axis)),
                           Result("i64" if wide else "i32", places)],
                          f"dim = {axis}, largest = {str(largest).lower()}" + (", indices_dtype = 9" if wide else ""))
    odd = Tensor("f32", [1, np.nan, 3, -np.inf])
    cases.add("TopK", [odd, Tensor("i32", 3)], [Result("f32", [np.nan, 3, 1]), Result("i32", [1, 2, 0])],
              "sorted = false", "NaN")


def add(cases):
    add_reductions(cases)
    add_arg_max(cases)
    add_cumsum(cases)
    add_top_k(cases)
