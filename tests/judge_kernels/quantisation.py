"""What the ops that make integers of floats compute, and those that make floats again."""

import numpy as np

from .draws import FLOAT, Op
from .elementwise import gate_error, gated
from .numbers import Answer, Tensor, rounded
from .table import judges

ROUNDINGS = {"round": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


def to_i8(values, rounding):
    """Within i8, NaN as 0."""
    whole = ROUNDINGS[rounding](np.where(np.isnan(values), 0, values))
    return np.clip(whole, -128, 127).astype(np.int8)


def quantised(draw, x, scale, offset, **attrs):
    """The answer of AscendQuant of f32 factors, and its attributes."""
    squared = draw.chance(0.3)
    rounding = draw.pick([None, *ROUNDINGS])
    values = x.data * scale
    values = values * scale if squared else values
    values = values + offset if offset is not None else values
    attrs.update(sqrt_mode=squared or draw.maybe(False), round_mode=rounding,
                 dst_type=draw.maybe(2))
    return Answer("i8", to_i8(values, rounding or "round")), attrs


@judges("AscendQuant")
def ascend_quant(draw):
    x = draw.tensor(draw.pick(FLOAT), draw.shape())
    scale, offset = draw.pick([1.0, 0.5, 13.7, -3.1]), draw.pick([0.0, 2.5, -1.25, 0.1])
    result, attrs = quantised(draw, x, np.float32(scale), np.float32(offset))
    if attrs["round_mode"]:
        attrs["round_mode"] = attrs["round_mode"].capitalize()
    return Op(x, result, {"scale": scale, "offset": offset, **attrs})


@judges("AscendQuantV2")
def ascend_quant_v2(draw):
    x = draw.tensor(draw.pick(FLOAT), draw.shape(1, 4))
    dtype, axis = draw.pick(FLOAT), draw.axis(x.data.ndim)
    count = 1 if draw.chance(0.3) else x.shape[axis]
    along = [1] * x.data.ndim
    along[axis] = count
    scale = draw.tame(dtype, (count,), draw.pick([0.5, 20.0]))
    offset = draw.tame(dtype, (count,), 4.0) if draw.chance() else None
    result, attrs = quantised(draw, x, scale.data.reshape(along),
                              offset.data.reshape(along) if offset else None)
    attrs["axis"] = axis if axis != -1 else draw.maybe(-1)
    return Op([x, scale] + ([offset] if offset or draw.chance() else []), result, attrs)


@judges("AscendDequant")
def ascend_dequant(draw):
    x = draw.tensor("i32", draw.shape(1, 4))
    dtype = draw.pick(FLOAT + ["u64"])
    count = 1 if draw.chance(0.3) else x.shape[-1]
    scale = draw.tensor("f32" if dtype == "u64" else dtype, (count,), "plain")
    given = scale
    if dtype == "u64":
        high = draw.random.integers(0, 2 ** 32, count, np.uint64) << np.uint64(32)
        given = Tensor("u64", high | scale.data.view(np.uint32))
    squared, cut = draw.chance(0.3), draw.chance(0.4)
    values = x.data.astype(np.float32) * scale.data
    values = values * scale.data if squared else values
    values = np.maximum(values, 0) if cut else values
    made = draw.pick(FLOAT)
    return Op([x, given], Answer(made, rounded(made, values), signed=not cut),
              {"sqrt_mode": squared or draw.maybe(False), "relu_flag": cut or draw.maybe(False)})


def by_row(values):
    """Each row over its scale, in f32, and the scales; NaN counts for nothing."""
    known = np.where(np.isnan(values), 0, values)
    scale = np.abs(known).max(axis=-1, initial=0) / np.float32(127)
    quotients = known / np.where(scale == 0, 1, scale)[..., None]
    return np.where(scale[..., None] == 0, 0, quotients), scale


@judges("DynamicQuant")
def dynamic_quant(draw):
    x = draw.tensor(draw.pick(["f16", "bf16"]), draw.shape(1, 4),
                    draw.pick(["plain", "whole", "special", "wide"]))
    smooth = draw.tensor(x.dtype, x.shape[-1:], "plain") if draw.chance() else None
    values = x.data * smooth.data if smooth else x.data
    made, scale = by_row(values.astype(np.float32))
    answers = [Answer("i8", to_i8(made, "round")), Answer("f32", scale.astype(np.float32))]
    return Op([x] + ([smooth] if smooth or draw.chance() else []), answers,
              {"dst_type": draw.maybe(2)})


@judges("DequantSwigluQuant")
def dequant_swiglu_quant(draw):
    m, h = draw.pick([0, draw.int(1, 40)]), draw.pick([0, 1, draw.int(2, 60)])
    dtype = draw.pick(FLOAT + ["i32"])
    x = draw.tensor("i32", (m, 2 * h), "small") if dtype == "i32" else draw.tame(dtype, (m, 2 * h))
    weights = draw.tame("f32", (2 * h,)) if draw.chance() else None
    by_rows = draw.tame("f32", (m,)) if draw.chance() else None
    values = x.data.astype(np.float32)
    values = values * weights.data if weights else values
    values = (values * by_rows.data[:, None] if by_rows else values).astype(np.float64)
    first = draw.chance()
    left, right = values[:, :h], values[:, h:]
    gates = gated(left) * right if first else left * gated(right)
    scale = np.abs(gates).max(axis=-1, initial=0) / 127
    error = np.abs(gates) * 2.0 ** -20 / np.where(scale, scale, 1)[:, None]
    made = np.where(scale[:, None] > 0, gates / np.where(scale, scale, 1)[:, None], 0)
    answers = [Answer("i8", made, near=8, error=error),
               Answer("f32", scale, near=8, error=scale * 2.0 ** -20)]
    return Op([x, weights, by_rows], answers, {"activate_left": first or draw.maybe(False)})


@judges("SwiGlu")
def swiglu(draw):
    shape = list(draw.shape(1, 4, elements=3000))
    axis = draw.axis(len(shape))
    shape[axis] = 2 * draw.int(0, 20)
    x = draw.tensor(draw.pick(FLOAT), shape, draw.pick(["plain", "special"]))
    left, right = np.split(x.data.astype(np.float64), 2, axis)
    made = rounded("f32", gated(left)) * right
    error = np.where(np.isfinite(made), gate_error(left) * np.abs(right), 0) + 2.0 ** -126
    return Op(x, Answer(x.dtype, made, near=6, error=error),
              {"dim": axis if axis != -1 else draw.maybe(-1)})
