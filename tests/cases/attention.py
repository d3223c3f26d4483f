"""Attention: f32 sums in the order of keys."""

import numpy as np

from numpy_cases import Result, Tensor, random, uniform


def attention(query, key, value, scale, left_out=None):
    """Of [b, n, s, d] in f64: what comes out, the maxima and the sums of what is exponentiated."""
    scores = query @ np.swapaxes(key, -1, -2) * scale
    if left_out is not None:
        scores = np.where(left_out, -np.inf, scores)
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        exps = np.where(np.isinf(scores), 0, np.exp(scores - top))
    total = exps.sum(-1, keepdims=True)
    return exps / np.where(total == 0, 1, total) @ value, top, total


def add_fused_infer(cases):
    for dtype in ("f16", "bf16"):
        query = uniform(dtype, 2, 4, 5, 16)
        key, value = uniform(dtype, 2, 2, 7, 16), uniform(dtype, 2, 2, 7, 16)
        mask = Tensor("bool", random.integers(0, 2, (5, 7)))
        out, top, total = attention(query.f64, np.repeat(key.f64, 2, 1), np.repeat(value.f64, 2, 1), 0.25,
                                    mask.elements)
        cases.add("FusedInferAttentionScore", [query, [key], [value], None, mask],
                  [Result(dtype, out, 1, 0.1), Result("f32", top + np.log(total), 16, 1)],
                  "num_heads = 4, num_key_value_heads = 2, scale = 0.25, input_layout = \"BNSD\"")


def add(cases):
    add_fused_infer(cases)
