"""Norms and softmax: f32 sums in eight lanes, so a few ulps of what is added up."""

import numpy as np

from numpy_cases import Result, Tensor, random, uniform

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


def add_wide_softmax(cases):
    x = uniform("f64", 3, 300, 5, low=-20, high=20)
    for axes in ((-1,), (1,), (0, 1)):
        wanted = softmax(x.elements, axes)
        cases.add("SoftmaxV2", [x], Result("f64", wanted, 32), f"axes = {list(axes)}")
        cases.add("LogSoftmaxV2", [x], Result("f64", np.log(wanted), 32, 40), f"axes = {list(axes)}")
    cases.add("Softmax", [x], Result("f64", softmax(x.elements), 8))
    odd = Tensor("f64", [[1, np.inf], [-np.inf, -np.inf], [np.nan, 1], [-np.inf, 0]])
    cases.add("Softmax", [odd], Result("f64", [[np.nan] * 2, [np.nan] * 2, [np.nan] * 2, [0, 1]]))


def add_rms_norm(cases):
    for dtype in FLOATS:
        for gamma_dtype in {dtype, "f32"}:
            x, gamma = uniform(dtype, 3, 2, 300), uniform(gamma_dtype, 300)
            rstd = 1 / np.sqrt(np.mean(x.f64 ** 2, -1, keepdims=True) + np.float32(1e-5))
            cases.add("RmsNorm", [x, gamma],
                      [Result(dtype, x.f64 * rstd * gamma.f64, ulps(dtype)), Result("f32", rstd, ULPS)],
                      "epsilon = 1e-05")


def add_add_rms_norm(cases):
    """The sum is rounded before its norm is taken."""
    for dtype in FLOATS:
        x1, x2, gamma = uniform(dtype, 4, 3, 100), uniform(dtype, 4, 3, 100), uniform(dtype, 3, 100)
        x = Tensor(dtype, x1.f32 + x2.f32)
        rstd = 1 / np.sqrt(np.mean(x.f64 ** 2, (1, 2), keepdims=True) + np.float32(1e-6))
        cases.add("AddRmsNorm", [x1, x2, gamma],
                  [Result(dtype, x.f64 * rstd * gamma.f64, ulps(dtype)), Result("f32", rstd, ULPS),
                   Result(dtype, x.elements)])


def add_layer_norm(cases):
    for dtype in FLOATS:
        for norm, params in ((1, 1), (-1, -1), (1, 2), (2, 1), (0, 0)):
            shape = (5, 6, 70)
            x = uniform(dtype, *shape, low=-1, high=3)
            gamma, beta = uniform(dtype, *shape[params:]), uniform(dtype, *shape[params:])
            axes = tuple(range(norm % 3, 3))
            mean = x.f64.mean(axes, keepdims=True)
            variance = x.f64.var(axes, keepdims=True)
            wanted = (x.f64 - mean) / np.sqrt(variance + np.float32(1e-3)) * gamma.f64 + beta.f64
            cases.add("LayerNorm", [x, gamma, beta],
                      [Result(dtype, wanted, ulps(dtype), 4), Result(dtype, mean, ulps(dtype), 2),
                       Result("f32" if dtype == "f32" else dtype, variance, ulps(dtype), 2)],
                      f"begin_norm_axis = {norm}, begin_params_axis = {params}, epsilon = 0.001")
            rstd = 1 / np.sqrt(variance + np.float32(1e-3))
            cases.add("LayerNormV3", [x, gamma, beta],
                      [Result(dtype, wanted, ulps(dtype), 4), Result(dtype, mean, ulps(dtype), 2),
                       Result(dtype, rstd, ulps(dtype), 2)],
                      f"begin_norm_axis = {norm}, begin_params_axis = {params}, epsilon = 0.001")
        for gammas, betas in ((True, True), (True, False), (False, False)):
            gamma, beta = (uniform(dtype, 6, 70) if there else None for there in (gammas, betas))
            mean, variance = x.f64.mean((1, 2), keepdims=True), x.f64.var((1, 2), keepdims=True)
            rstd = 1 / np.sqrt(variance + np.float32(1e-5))
            wanted = (x.f64 - mean) * rstd * (gamma.f64 if gamma else 1) + (beta.f64 if beta else 0)
            cases.add("LayerNormV4", [x, Tensor("i32", [6, 70]), gamma, beta],
                      [Result(dtype, wanted, ulps(dtype), 4), Result("f32", mean, ULPS, 2), Result("f32", rstd, ULPS, 2)])
        for radius in (0, 2, 9):
            x = uniform(dtype, 2, 3, 4, 7)
            sums = np.stack([(x.f64[..., max(i - radius, 0):i + radius + 1] ** 2).sum(-1) for i in range(7)], -1)
            cases.add("LRN", [x], Result(dtype, x.f64 / (1.5 + 0.25 * sums) ** 0.75, ulps(dtype)),
                      f"depth_radius = {radius}, bias = 1.5, alpha = 0.25, beta = 0.75")
    none = [Tensor("f32", np.zeros(shape)) for shape in ((3, 0), (0,), (0,))]
    unknown = Result("f32", np.full((3, 1), np.nan))
    cases.add("LayerNorm", none, [Result("f32", np.zeros((3, 0))), unknown, unknown],
              "begin_norm_axis = 1, begin_params_axis = 1")
    cases.add("RmsNorm", none[:2], [Result("f32", np.zeros((3, 0))), unknown])
    x, one, zero = uniform("f16", 3, 8), Tensor("f32", np.ones(8)), Tensor("f32", np.zeros(8))
    mean, variance = x.f64.mean(-1, keepdims=True), x.f64.var(-1, keepdims=True)
    cases.add("LayerNorm", [x, one, zero],
              [Result("f16", (x.f64 - mean) / np.sqrt(variance + 1e-7), 1, 1), Result("f32", mean, ULPS, 1),
               Result("f32", variance, ULPS, 1)], "begin_norm_axis = 1, begin_params_axis = 1")


def add_masked_softmax(cases):
    for dtype in FLOATS:
        x = uniform(dtype, 2, 3, 40, 60, low=-8, high=8)
        scaled = x.f32 * np.float32(0.3)
        cases.add("ScaledMaskedSoftmax", [x], Result(dtype, softmax(scaled), ulps(dtype)), "scale = 0.3")
        for shape in ((2, 1, 40, 60), (40, 60), (2, 3, 1, 60)):
            mask = Tensor("bool", random.integers(0, 2, shape))
            wanted = softmax(np.where(np.broadcast_to(mask.elements, x.shape), np.float32(-10000), scaled))
            cases.add("ScaledMaskedSoftmax", [x, mask], Result(dtype, wanted, ulps(dtype)), "scale = 0.3")
        mask = np.triu(np.ones((40, 60), bool), 1)
        cases.add("ScaledMaskedSoftmax", [x], Result(dtype, softmax(np.where(mask, np.float32(-10000), x.f32)),
                                                    ulps(dtype)), "fixed_triu_mask")
    x, mask = uniform("f16", 2, 4), Tensor("bool", np.ones((2, 4)))
    cases.add("ScaledMaskedSoftmax", [x, mask], Result("f16", np.full((2, 4), 0.25)), claim="all masked")


def add(cases):
    add_softmax(cases)
    add_wide_softmax(cases)
    add_rms_norm(cases)
    add_add_rms_norm(cases)
    add_layer_norm(cases)
    add_masked_softmax(cases)
