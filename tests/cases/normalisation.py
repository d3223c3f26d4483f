"""Norms and softmax: f32 sums in eight lanes, so a few ulps of what is added up."""

import numpy as np

from numpy_cases import Result, uniform

FLOATS = ("f32", "f16", "bf16")
# Of f32 results; narrower ones are one off at most.
ULPS = 8


def ulps(dtype):
    return ULPS if dtype == "f32" else 1


def softmax(x, axis=-1):
    """Of float32: the differences are, and the exponentials of these are exact."""
    exps = np.exp((x - x.max(axis, keepdims=True, initial=-np.inf)).astype(np.float64))
    return exps / exps.sum(axis, keepdims=True)


def add_softmax(cases):
    for dtype in FLOATS:
        for shape in ((4, 300), (3, 1), (2, 0, 5), (2, 3, 17)):
            x = uniform(dtype, *shape, low=-20, high=20)
            cases.add("Softmax", [x], Result(dtype, softmax(x.f32), ulps(dtype)))
        for axes in ((-1,), (0,), (1, 2), (0, 2)):
            x = uniform(dtype, 3, 40, 5, low=-20, high=20)
            cases.add("SoftmaxV2", [x], Result(dtype, softmax(x.f32, axes), ulps(dtype)),
                      f"axes = {list(axes)}")
            top = x.f32.max(axes, keepdims=True)
            log = np.log(np.exp((x.f32 - top).astype(np.float64)).sum(axes, keepdims=True))
            cases.add("LogSoftmaxV2", [x], Result(dtype, (x.f32 - top) - log, ulps(dtype), 1),
                      f"axes = {list(axes)}")
        cases.add("SoftmaxV2", [x], Result("f32", softmax(x.f32), ULPS), "half_to_float = true")
        cases.add("LogSoftmaxV2", [x], Result(dtype, np.log(softmax(x.f32)), ulps(dtype), 40))


def add_rms_norm(cases):
    for dtype in FLOATS:
        for gamma_dtype in {dtype, "f32"}:
            x, gamma = uniform(dtype, 3, 2, 300), uniform(gamma_dtype, 300)
            rstd = 1 / np.sqrt(np.mean(x.f64 ** 2, -1, keepdims=True) + np.float32(1e-5))
            cases.add("RmsNorm", [x, gamma],
                      [Result(dtype, x.f64 * rstd * gamma.f64, ulps(dtype)), Result("f32", rstd, ULPS)],
                      "epsilon = 1e-05")


def add(cases):
    add_softmax(cases)
    add_rms_norm(cases)
