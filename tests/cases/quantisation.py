"""Kernels to and from 8 bits."""

import numpy as np

from numpy_cases import Result, Tensor, integers, uniform


def silu(x):
    return x / (1 + np.exp(-x))


def add_swiglu(cases):
    """One row has the largest element that decides its scale; elements may round the other way."""
    x = integers("i32", 5, 64)
    weight, row = uniform("f32", 64, low=0.01, high=0.1), uniform("f32", 5, low=0.5)
    v = x.f32 * weight.elements * row.elements[:, None]
    gate = silu(v[:, :32].astype(np.float64)) * v[:, 32:]
    scale = np.abs(gate).max(-1) / 127
    cases.add("DequantSwigluQuant", [x, weight, row],
              [Result("i8", np.rint(gate / scale[:, None])), Result("f32", scale, 4)], "activate_left")
    gate = v[:, :32] * silu(v[:, 32:].astype(np.float64))
    scale = np.abs(gate).max(-1) / 127
    cases.add("DequantSwigluQuant", [x, weight, row],
              [Result("i8", np.rint(gate / scale[:, None])), Result("f32", scale, 4)])


ROUND = {"round": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


def add_quant(cases):
    """In f32, and so exact."""
    for dtype in ("f32", "f16", "bf16"):
        x = uniform(dtype, 3, 5, 40, low=-100, high=100)
        for mode, function in ROUND.items():
            scaled = x.f32 * np.float32(1.7) + np.float32(-3.25)
            cases.add("AscendQuant", [x], Result("i8", np.clip(function(scaled), -128, 127)),
                      f"scale = 1.7, offset = -3.25, round_mode = \"{mode.capitalize()}\"")
            for axis in (0, -2, -1):
                scale, offset = uniform(dtype, x.shape[axis], low=0.1), uniform(dtype, x.shape[axis], low=-9)
                spread = [1, 1, 1]
                spread[axis] = -1
                wanted = x.f32 * scale.f32.reshape(spread) + offset.f32.reshape(spread)
                cases.add("AscendQuantV2", [x, scale, offset], Result("i8", np.clip(function(wanted), -128, 127)),
                          f"round_mode = \"{mode}\", axis = {axis}, dst_type = 2")
        one = Tensor(dtype, [0.5])
        cases.add("AscendQuantV2", [x, one], Result("i8", np.rint(x.f32 * np.float32(0.25))), "sqrt_mode")
        cases.add("AscendQuant", [x], Result("i8", np.rint(x.f32 * np.float32(0.25))),
                  "scale = 0.5, offset = 0.0, sqrt_mode")
    odd = Tensor("f32", [np.nan, np.inf, -np.inf, 2.5, 3.5])
    cases.add("AscendQuant", [odd], Result("i8", [0, 127, -128, 2, 4]), "scale = 1.0, offset = 0.0", "NaN")


def add_dequant(cases):
    x = integers("i32", 4, 30, low=-2 ** 30, high=2 ** 30)
    for dtype, number in (("f32", 0), ("f16", 1), ("bf16", 27)):
        for scale_dtype in ("f32", "f16", "bf16"):
            scale = uniform(scale_dtype, 30, low=1e-8, high=1e-6)
            cases.add("AscendDequant", [x, scale], Result(dtype, x.f32 * scale.f32))
        one = Tensor("f32", [0.001])
        wanted = np.maximum(x.f32 * one.f32 * one.f32, 0)
        cases.add("AscendDequant", [x, one], Result(dtype, wanted),
                  f"sqrt_mode, relu_flag, dtype = {number}")
        bits = Tensor("u64", scale.f32.view(np.uint32).astype(np.uint64) | np.uint64(5 << 40))
        cases.add("AscendDequant", [x, bits], Result(dtype, x.f32 * scale.f32))


def add_dynamic(cases):
    for dtype in ("f16", "bf16"):
        x, smooth = uniform(dtype, 2, 3, 300, low=-9, high=9), uniform(dtype, 300)
        for factor in (None, smooth):
            scaled = x.f32 * (factor.f32 if factor else 1)
            scale = (np.abs(scaled).max(-1) / np.float32(127)).astype(np.float32)
            cases.add("DynamicQuant", [x, factor], [Result("i8", np.rint(scaled / scale[..., None])),
                                                    Result("f32", scale)], "dst_type = 2")
        nothing = Tensor(dtype, np.zeros((2, 5)))
        cases.add("DynamicQuant", [nothing], [Result("i8", np.zeros((2, 5))), Result("f32", np.zeros(2))])


def add_swi_glu(cases):
    for dtype in ("f32", "f16", "bf16"):
        for dim in (-1, 0, 1):
            x = uniform(dtype, 6, 4, 600, low=-8, high=8)
            a, b = np.split(x.f64, 2, dim)
            cases.add("SwiGlu", [x], Result(dtype, silu(a) * b, 4 if dtype == "f32" else 1), f"dim = {dim}")


def add(cases):
    add_quant(cases)
    add_dequant(cases)
    add_dynamic(cases)
    add_swi_glu(cases)
    add_swiglu(cases)
