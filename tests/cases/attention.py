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
                  [Result(dtype, out, 1, 0.1), Result("f32", top + np.log(np.maximum(total, 1e-30)), 16, 1)],
                  "num_heads = 4, num_key_value_heads = 2, scale = 0.25, input_layout = \"BNSD\"")


def laid_out(x, layout):
    """From [b, n, s, d]."""
    b, n, s, d = x.shape
    return {"BNSD": lambda: x, "BSND": lambda: x.transpose(0, 2, 1, 3),
            "BSH": lambda: x.transpose(0, 2, 1, 3).reshape(b, s, n * d),
            "SBH": lambda: x.transpose(2, 0, 1, 3).reshape(s, b, n * d)}[layout]()


def add_flash(cases):
    for dtype in ("f32", "f16", "bf16"):
        for number, layout in enumerate(("BNSD", "BSND", "BSH", "SBH")):
            query = uniform(dtype, 2, 4, 5, 16)
            key, value = uniform(dtype, 2, 2, 9, 16), uniform(dtype, 2, 2, 9, 16)
            shape = ((5, 9), (1, 1, 5, 9), (2, 1, 5, 9), (2, 4, 5, 9))[number]
            mask = Tensor("bool" if number % 2 else "u8", random.integers(0, 2, shape))
            for left_out in (None, mask):
                out, top, total = attention(
                    query.f64, np.repeat(key.f64, 2, 1), np.repeat(value.f64, 2, 1), 0.25,
                    None if left_out is None else np.broadcast_to(mask.elements != 0, (2, 4, 5, 9)))
                operands = [Tensor(dtype, laid_out(x.elements, layout)) for x in (query, key, value)]
                cases.add("FlashAttentionScore", operands + [None] * 3 + [left_out],
                          [Result("f32", np.repeat(top, 8, -1), 8, 1), Result("f32", np.repeat(total, 8, -1), 16, 1),
                           Result(dtype, np.zeros(0)),
                           Result(dtype, laid_out(out, layout), 16 if dtype == "f32" else 1, 0.5)],
                          f'head_num = 4, input_layout = "{layout}", scale_value = 0.25')


def add_rotary(cases):
    """Two products and a sum of f32: exact."""
    for dtype in ("f32", "f16", "bf16"):
        for width in (64, 6, 600):
            for shape in ((1, 1, 5, width), (2, 1, 5, width), (2, 3, 5, width), (5, width)):
                x, r1, r2 = uniform(dtype, 2, 3, 5, width), uniform(dtype, *shape), uniform(dtype, *shape)
                first, second = np.split(x.f32, 2, -1)
                half = x.f32 * r1.f32 + np.concatenate([-second, first], -1) * r2.f32
                pairs = np.stack([-x.f32[..., 1::2], x.f32[..., ::2]], -1).reshape(x.shape)
                cases.add("RotaryMul", [x, r1, r2], Result(dtype, half))
                cases.add("RotaryPositionEmbedding", [x, r1, r2], Result(dtype, half), "mode = 0")
                cases.add("RotaryPositionEmbedding", [x, r1, r2], Result(dtype, x.f32 * r1.f32 + pairs * r2.f32),
                          "mode = 1")


def add_gating(cases):
    for dtype in ("f32", "f16", "bf16"):
        for shape, k in (((6, 300), 8), ((2, 3, 4), 2), ((5, 1), 1)):
            x = Tensor(dtype, random.integers(-9, 9, shape) / 2)
            finished = Tensor("bool", random.integers(0, 2, shape[:-1]))
            rows = int(np.prod(shape[:-1]))
            experts = np.argsort(-x.f64, -1, kind="stable")[..., :k]
            exps = np.exp(x.f64 - x.f64.max(-1, keepdims=True))
            y = np.take_along_axis(exps / exps.sum(-1, keepdims=True), experts, -1)
            row = (np.arange(k) * rows + np.arange(rows)[:, None]).reshape(y.shape)
            for done in (None, finished):
                named = experts if done is None else np.where(done.elements[..., None], shape[-1], experts)
                cases.add("MoeGatingTopKSoftmax", [x, done],
                          [Result(dtype, y, 8 if dtype == "f32" else 1), Result("i32", named), Result("i32", row)],
                          f"k = {k}")


def add(cases):
    add_fused_infer(cases)
    add_flash(cases)
    add_rotary(cases)
    add_gating(cases)
