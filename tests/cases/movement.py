"""Kernels that put elements elsewhere: exact."""

import numpy as np

from numpy_cases import Result, Tensor, integers, uniform


def add(cases):
    parts = [uniform("f16", 3, n, 2) for n in (1, 4, 2)]
    joined = np.concatenate([part.elements for part in parts], 1)
    cases.add("ConcatD", [parts], Result("f16", joined), "concat_dim = -2, N = 3")
    var, updates = uniform("f32", 2, 5, 3), uniform("f32", 2, 4, 3)
    places = [4, 0, 9, 4]
    wanted = var.elements.copy()
    for n, place in enumerate(places):
        if place < 5:
            wanted[:, place] = updates.elements[:, n]
    cases.add("ScatterUpdate", [var, Tensor("i32", places), updates], Result("f32", wanted), "axis = 1")
    ref, value = integers("i16", 4, 5), integers("i16", 4, 5)
    cases.add("Assign", [ref, value], Result("i16", value.elements), updates=0)
