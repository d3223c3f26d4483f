"""What attention computes, near to real numbers, and the rotations of positions, which are f32."""

import numpy as np

from .draws import FLOAT, Op
from .numbers import Answer, Tensor, rounded
from .table import judges

UNIT = 2.0 ** -24


def attended(query, key, value, scale, covered):
    """Of [n, s, d], [n, t, d] and what is left out of [n, s, t]: the result, its errors, the
    largest scores and the sums of the exponentials relative to these."""
    scores = query @ np.swapaxes(key, -1, -2) * scale
    sizes = np.abs(query) @ np.swapaxes(np.abs(key), -1, -2) * abs(scale)
    scores = np.where(covered, -np.inf, scores)
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total, total, 1)
    step = UNIT * (query.shape[-1] + key.shape[-2] + 8)
    relative = step * (1 + sizes.max(axis=-1, keepdims=True, initial=0))
    error = 2 * relative * (weights @ np.abs(value))
    return weights @ value, error, (largest, relative), (total, 2 * relative * total)


def repeated(heads, count):
    """Heads of keys or values, each for a group of those of the query."""
    return np.repeat(heads, count // heads.shape[-3], axis=-3)


class Layout:
    """Where the dimensions b, n, s, d of a tensor are in one of a layout."""

    ORDERS = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (2, 0, 1, 3)}

    def __init__(self, name):
        self.name, self.order = name, self.ORDERS[name]

    def store(self, heads):
        """The array of [b, n, s, d] in this layout."""
        made = np.ascontiguousarray(heads.transpose(self.order))
        return made.reshape(*made.shape[:2], -1) if self.name.endswith("H") else made


def heads(draw, dtype, shape):
    return draw.tame(dtype, shape, 1.0).data


def counts(draw):
    """Sizes b, n, s, d, and how many heads keys have."""
    fewer = draw.int(1, 3)
    return draw.int(1, 3), fewer * draw.int(1, 3), draw.int(1, 12), draw.int(1, 24), fewer


@judges("FlashAttentionScore")
def flash_attention(draw):
    b, n, s, d, fewer = counts(draw)
    t, dtype = draw.int(1, 20), draw.pick(FLOAT)
    layout, scale = Layout(draw.pick(list(Layout.ORDERS))), draw.pick([None, 0.25, 1.0])
    query, key, value = (heads(draw, dtype, shape)
                         for shape in ((b, n, s, d), (b, fewer, t, d), (b, fewer, t, d)))
    mask = None
    if draw.chance():
        shape = draw.pick([(s, t), (b, 1, s, t), (b, n, s, t), (1, 1, s, t)])
        mask = Tensor(draw.pick(["bool", "u8"]), draw.random.random(shape) < 0.4)
    made, error, largest, total = attended(
        query.astype(np.float64), repeated(key, n), repeated(value, n),
        1.0 if scale is None else scale, mask.data != 0 if mask else False)
    answers = [near_rows(*largest), near_rows(*total), Answer(dtype, np.zeros(0, np.float32)),
               Answer(dtype, layout.store(made), near=4, error=layout.store(error))]
    operands = [Tensor(dtype, layout.store(each)) for each in (query, key, value)]
    if mask:
        operands.append(("atten_mask", mask))
    attrs = {"head_num": n, "input_layout": layout.name, "scale_value": scale,
             "keep_prob": draw.maybe(1.0), "sparse_mode": draw.maybe(0),
             "pre_tockens": draw.pick([None, s, 65536]),
             "next_tockens": draw.pick([None, t, 65536]), "inner_precise": draw.pick([None, 0, 1]),
             "pse_type": draw.pick([None, 0, 1])}
    return Op(operands, answers, attrs)


def near_rows(values, error):
    """One number for each row, eight times."""
    return Answer("f32", np.repeat(values, 8, -1), near=4,
                  error=np.repeat(np.broadcast_to(error, values.shape), 8, -1))


@judges("FusedInferAttentionScore")
def fused_infer_attention(draw):
    b, n, s, d, fewer = counts(draw)
    dtype, layout = draw.pick(["f16", "bf16"]), Layout(draw.pick(["BSH", "BNSD"]))
    apart, t = draw.chance(0.3), draw.int(1, 20)
    lengths = [draw.int(1, 20) if apart else t for _ in range(b)]
    scale, mask = draw.pick([None, 0.25, 1.0]), None
    if not apart and draw.chance():
        shape = draw.pick([(s, t), (b, 1, s, t)])
        mask = Tensor(draw.pick(["bool", "u8", "i8"]), draw.random.random(shape) < 0.4)
    query = heads(draw, dtype, (b, n, s, d))
    keys, values = ([heads(draw, dtype, (1, fewer, length, d)) for length in lengths]
                    for _ in range(2))
    covered = np.broadcast_to(mask.data != 0, (b, 1, s, t)) if mask else [False] * b
    factor = 1.0 if scale is None else scale
    parts = [attended(query[i].astype(np.float64), repeated(keys[i][0], n),
                      repeated(values[i][0], n), factor, covered[i]) for i in range(b)]
    made, error = (layout.store(np.stack([part[i] for part in parts])) for i in range(2))
    answers = [Answer(dtype, made, near=4, error=error), lse(parts)]
    operands = [Tensor(dtype, layout.store(query))]
    operands += [(name, listed(dtype, layout, tensors, apart))
                 for name, tensors in (("key", keys), ("value", values))]
    operands += [("atten_mask", mask)] if mask else []
    own = fewer != n or draw.chance(0.3)
    attrs = {"num_heads": n, "num_key_value_heads": fewer if own else draw.maybe(0),
             "scale": scale, "softmax_lse_flag": draw.maybe(draw.chance()),
             "input_layout": layout.name if layout.name == "BNSD" or draw.chance() else None}
    return Op(operands, answers, attrs)


def listed(dtype, layout, tensors, apart):
    """A tensor for each batch, or one for all."""
    tensors = tensors if apart else [np.concatenate(tensors)]
    return [Tensor(dtype, layout.store(tensor)) for tensor in tensors]


def lse(parts):
    """The logarithms of the sums of the exponentials, of rows that have keys."""
    largest, total = (np.stack([part[i][0] for part in parts]) for i in (2, 3))
    error = np.stack([part[2][1] for part in parts]) * 3
    made = np.where(total, largest, 0) + np.log(np.where(total, total, 1))
    return Answer("f32", made, near=4, error=error, written=total > 0)


# ---- Rotations ----

def rotated(x, cosines, sines, pairs):
    """In f32: x * cosines + turned(x) * sines."""
    turned = np.empty_like(x)
    half = x.shape[-1] // 2
    if pairs:
        turned[..., 0::2], turned[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    else:
        turned[..., :half], turned[..., half:] = -x[..., half:], x[..., :half]
    return x * cosines + turned * sines


@judges("RotaryMul", "RotaryPositionEmbedding")
def rotary(draw, op_type):
    shape = draw.shape(0, 3, elements=300) + (2 * draw.int(1, 20),)
    x = draw.tensor(draw.pick(FLOAT), shape, draw.pick(["plain", "whole", "special"]))
    part = tuple(1 if draw.chance(0.4) else n for n in shape[:-1]) + shape[-1:]
    cosines, sines = (draw.tensor(x.dtype, part, "plain") for _ in range(2))
    mode = draw.pick([None, 0, 1]) if op_type == "RotaryPositionEmbedding" else None
    made = rotated(x.data, cosines.data, sines.data, mode == 1)
    return Op([x, cosines, sines], Answer(x.dtype, rounded(x.dtype, made)), {"mode": mode})
