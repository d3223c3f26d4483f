"""What the reductions, running sums and searches compute."""

import numpy as np

from .draws import NUMBER, REAL, Op
from .numbers import CARRIERS, FLOATS, INTS, Answer, rounded
from .table import also, judges

def lanes_sum(rows):
    """The sum of floats along the last dimension in eight lanes by the index, halved at the end."""
    lanes = np.zeros(rows.shape[:-1] + (8,), rows.dtype)
    for i in range(rows.shape[-1]):
        lanes[..., i % 8] += rows[..., i]
    for count in (4, 2, 1):
        lanes = lanes[..., :count] + lanes[..., count:]
    return lanes[..., 0]


def in_turn(apply, rows, first):
    """Along the last dimension, from the first element to the last."""
    total = np.full(rows.shape[:-1], first, rows.dtype)
    for i in range(rows.shape[-1]):
        total = apply(total, rows[..., i])
    return total


def lowest(dtype):
    return -np.inf if dtype in FLOATS else np.iinfo(INTS[dtype]).min


def highest(dtype):
    return np.inf if dtype in FLOATS else np.iinfo(INTS[dtype]).max


def reduced(kind, dtype, rows):
    if kind == "Max":
        return in_turn(np.maximum, rows, lowest(dtype))
    if kind == "Min":
        return in_turn(np.minimum, rows, highest(dtype))
    if kind == "Prod":
        return in_turn(np.multiply, rows, 1)
    total = lanes_sum(rows) if dtype in FLOATS else in_turn(np.add, rows, 0)
    return total / rows.dtype.type(rows.shape[-1]) if kind == "Mean" else total


def rows_along(data, axes):
    """The elements along axes as the last dimension, in row-major order; and what is left."""
    axes = sorted(axis % data.ndim for axis in axes)
    left = [axis for axis in range(data.ndim) if axis not in axes]
    count = int(np.prod([data.shape[axis] for axis in axes], dtype=int))
    shape = [data.shape[axis] for axis in left]
    return data.transpose(left + axes).reshape(shape + [count])


def kept(shape, axes):
    """The shape with 1 in the place of axes."""
    axes = [axis % len(shape) for axis in axes]
    return [1 if i in axes else n for i, n in enumerate(shape)]


KINDS = ["Sum", "Max", "Min", "Prod", "Mean"]


@judges(*(f"Reduce{kind}{end}" for kind in KINDS for end in ("", "D")))
def reduce_op(draw, op_type):
    kind = op_type.removeprefix("Reduce").removesuffix("D")
    dtype = draw.pick(REAL if kind == "Mean" else NUMBER)
    x = draw.tensor(dtype, draw.shape(0, 4))
    rank, keep = x.data.ndim, draw.chance()
    chosen = draw.axes(rank, low=0 if draw.chance(0.2) else 1)
    attrs = {"keep_dims": keep or draw.maybe(False)}
    if op_type.endswith("D"):
        operands, attrs["axes"], axes = x, chosen, chosen
    else:
        none = attrs["noop_with_empty_axes"] = draw.pick([None, True, False])
        axes = list(range(rank)) if not chosen and none is False else chosen
        scalar = len(chosen) == 1 and draw.chance()
        operands = [x, draw.numbers(chosen, scalar)]
    made = reduced(kind, dtype, rows_along(x.data, axes))
    made = made.reshape(kept(x.shape, axes)) if keep else made
    made = rounded(dtype, made) if dtype in FLOATS else made
    return Op(operands, Answer(dtype, made, signed=kind not in ("Max", "Min")), attrs)


@judges("ReduceAll", "ReduceAllD", "ReduceAny", "ReduceAnyD", "ReduceLogSumExp")
def reduce_more(draw, op_type):
    exponentials = op_type == "ReduceLogSumExp"
    dtype = draw.pick(REAL) if exponentials else "bool"
    kind = draw.pick(["plain", "special"]) if exponentials else None
    x = draw.tensor(dtype, draw.shape(0, 4), kind)
    keep, chosen = draw.chance(), draw.axes(x.data.ndim, low=0 if draw.chance(0.2) else 1)
    attrs, axes = {"keep_dims": keep or draw.maybe(False)}, chosen
    if op_type.endswith("D"):
        operands, attrs["axes"] = x, chosen
    else:
        operands = [x, draw.numbers(chosen, len(chosen) == 1 and draw.chance())]
    if exponentials:
        none = attrs["noop_with_empty_axes"] = draw.pick([None, True, False])
        axes = list(range(x.data.ndim)) if not chosen and not none else chosen
    rows = rows_along(x.data, axes)
    if exponentials:
        rows = rows.astype(np.float64)
        largest = rows.max(axis=-1, initial=-np.inf)
        base = np.where(np.isfinite(largest), largest, 0)
        made = base + np.log(np.exp(rows - base[..., None]).sum(axis=-1))
        error = np.spacing(1.0 if dtype == "f64" else np.float32(1)) * (4 + np.abs(base))
    else:
        made = (rows.all if "All" in op_type else rows.any)(axis=-1)
    shape = kept(x.shape, axes) if keep else made.shape
    if not exponentials:
        return Op(operands, Answer("bool", made.reshape(shape)), attrs)
    return Op(operands, Answer(dtype, made.reshape(shape), near=6, error=error.reshape(shape)), attrs)


# ---- Searches ----

def order_keys(data):
    """Integers that are as elements are ordered: NaN above all; 0 and -0 are the same."""
    if data.dtype.kind != "f":
        return data.astype(object)
    values = np.unique(np.where(np.isnan(data), 0, data) + 0.0)
    places = np.searchsorted(values, np.where(np.isnan(data), 0, data) + 0.0)
    return np.where(np.isnan(data), len(values), places)


@judges("ArgMaxD", "ArgMaxV2", "ArgMinD", "ArgMin")
def arg_max(draw, op_type):
    x = draw.tensor(draw.pick(NUMBER), draw.shape(1, 4, empty=False))
    axis = draw.axis(x.data.ndim)
    dtype = draw.pick(["i32", "i64"])
    keys = order_keys(x.data)
    if "Min" in op_type:  # NaN is first, too
        keys = np.where(np.isnan(x.data), 1, -keys) if x.dtype in FLOATS else -keys
    made = np.argmax(keys, axis).astype(INTS[dtype])
    attrs = {"dtype": draw.maybe(9 if dtype == "i64" else 3)}
    if op_type.endswith("D"):
        return Op(x, Answer(dtype, made), {"dimension": axis, **attrs})
    return Op([x, draw.number(axis)], Answer(dtype, made), attrs)


also("ArgMax", "ArgMaxV2")


@judges("TopK", "TopKV2")
def top_k(draw, op_type):
    x = draw.tensor(draw.pick(NUMBER), draw.shape(1, 4))
    axis, largest = draw.axis(x.data.ndim), draw.chance()
    count = draw.int(0, x.shape[axis])
    keys = order_keys(x.data)
    places = np.argsort(-keys if largest else keys, axis, kind="stable")
    places = np.take(places, range(count), axis)
    values = np.take_along_axis(x.data, places, axis)
    indices = draw.pick(["i32", "i64"]) if op_type == "TopKV2" else "i32"
    k = draw.number(count)
    if op_type == "TopK":
        k.dtype, k.data = "i32", k.data.astype(np.int32)
    attrs = {"sorted": draw.pick([None, True, False]), "largest": draw.maybe(True) if largest
             else False, "dim": axis if axis != -1 else draw.maybe(-1)}
    if op_type == "TopKV2":
        attrs["indices_dtype"] = draw.maybe(9 if indices == "i64" else 3)
    return Op([x, k], [Answer(x.dtype, values), Answer(indices, places.astype(INTS[indices]))],
              attrs)


# ---- Running sums ----

def running(data, dtype, product, exclusive, reverse):
    """Sums or products along the first dimension: f32 ones of floats, 64-bit ones of integers."""
    start = np.ones if product else np.zeros
    total = start(data.shape[1:], CARRIERS[dtype] if dtype in FLOATS else np.uint64)
    made = np.zeros(data.shape, CARRIERS[dtype])
    places = range(data.shape[0])
    for i in reversed(places) if reverse else places:
        element = data[i].astype(total.dtype)
        before, total = total, total * element if product else total + element
        stored = before if exclusive else total
        made[i] = rounded(dtype, stored) if dtype in FLOATS else stored.astype(INTS[dtype])
    return made


@judges("CumsumD", "Cumsum", "CumprodD", "Cumprod")
def cumsum(draw, op_type):
    x = draw.tensor(draw.pick(NUMBER), draw.shape(1, 4))
    axis, exclusive, reverse = draw.axis(x.data.ndim), draw.chance(), draw.chance()
    made = running(np.moveaxis(x.data, axis, 0), x.dtype, "prod" in op_type, exclusive, reverse)
    result = Answer(x.dtype, np.moveaxis(made, 0, axis))
    attrs = {"exclusive": exclusive or draw.maybe(False), "reverse": reverse or draw.maybe(False)}
    if op_type.endswith("D"):
        return Op(x, result, {"axis": axis, **attrs})
    return Op([x, draw.number(axis)], result, attrs)


also("CumSum", "Cumsum")
