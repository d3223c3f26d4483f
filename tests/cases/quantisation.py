"""Kernels to and from 8 bits."""

import numpy as np

from numpy_cases import Result, integers, uniform


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


def add(cases):
    add_swiglu(cases)
