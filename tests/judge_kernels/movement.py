"""What the ops that move elements, and that write into an operand, do. NumPy moves them."""

import numpy as np

from .draws import MOVED, NUMBER, Op
from .numbers import CARRIERS, FLOATS, INTS, Answer, Tensor, rounded
from .table import also, judges


def exact(tensor, data):
    return Answer(tensor.dtype, np.ascontiguousarray(data).reshape(np.shape(data)))


def moved(draw, low=1, high=4, empty=True):
    return draw.tensor(draw.pick(MOVED), draw.shape(low, high, empty=empty))


def with_numbers(draw, op_type, x, result, **numbers):
    """An op that is told integers: by attributes if its name ends in D, else by operands."""
    if op_type.endswith("D"):
        return Op(x, result, {key: list(map(int, data)) for key, data in numbers.items()})
    dtype = draw.pick(["i32", "i64"])
    tensors = [Tensor(dtype, np.array(data, CARRIERS[dtype]), constant=draw.chance())
               for data in numbers.values()]
    return Op([x, *tensors], result)


# ---- Lists ----

def joined(draw):
    """Tensors that are alike but for one dimension, and that."""
    shape = list(draw.shape(1, 4, elements=1500))
    axis = draw.axis(len(shape))
    dtype, parts = draw.pick(MOVED), []
    for _ in range(draw.int(1, 5)):
        shape[axis] = draw.size()
        if np.prod(shape) > 3000:
            shape[axis] = 1
        parts.append(draw.tensor(dtype, shape))
    return parts, axis


@judges("ConcatD", "ConcatV2D", "ConcatV2")
def concat(draw, op_type):
    parts, axis = joined(draw)
    result = exact(parts[0], np.concatenate([part.data for part in parts], axis))
    count = {"N": draw.maybe(len(parts))}
    if op_type == "ConcatV2":
        return Op([parts, draw.number(axis)], result, count)
    if axis == 0 and draw.chance():
        return Op([parts], result, count)
    return Op([parts], result, {"concat_dim": axis, **count})


also("Concat", "ConcatD")


@judges("Pack")
def pack(draw):
    x = moved(draw, 0, 3)
    parts = [x] + [draw.tensor(x.dtype, x.shape) for _ in range(draw.int(0, 4))]
    axis = draw.axis(len(x.shape), new=True)
    result = exact(x, np.stack([part.data for part in parts], axis))
    return Op([parts], result, {"axis": axis if axis else draw.maybe(0), "N": len(parts)})


@judges("SplitD")
def split(draw):
    shape = list(draw.shape(1, 4, elements=1500))
    axis, count = draw.axis(len(shape)), draw.int(1, 5)
    shape[axis] = count * draw.int(0, 4)
    x = draw.tensor(draw.pick(MOVED), shape)
    results = [exact(x, part) for part in np.split(x.data, count, axis)]
    return Op(x, results, {"split_dim": axis, "num_split": count})


also("Split", "SplitD")


@judges("SplitVD", "SplitV")
def split_v(draw, op_type):
    parts, axis = joined(draw)
    x = Tensor(parts[0].dtype, np.concatenate([part.data for part in parts], axis))
    sizes = [part.shape[axis] for part in parts]
    results, count = [exact(part, part.data) for part in parts], {"num_split": len(parts)}
    if op_type == "SplitVD":
        return Op(x, results, {"size_splits": sizes, "split_dim": axis, **count})
    return Op([x, draw.numbers(sizes), draw.number(axis)], results, count)


# ---- Numbers ----

@judges("Transpose", "TransposeD")
def transpose(draw, op_type):
    x = moved(draw, 0, 5)
    order = draw.random.permutation(x.data.ndim)
    return with_numbers(draw, op_type, x, exact(x, x.data.transpose(order)), perm=order)


@judges("Slice", "SliceD")
def slice_op(draw, op_type):
    x = moved(draw, 0)
    offsets = [draw.int(0, n) for n in x.shape]
    sizes = [-1 if draw.chance(0.2) else draw.int(0, n - at) for n, at in zip(x.shape, offsets)]
    places = tuple(slice(at, None if size < 0 else at + size) for at, size in zip(offsets, sizes))
    return with_numbers(draw, op_type, x, exact(x, x.data[places]), offsets=offsets, size=sizes)


class Places:
    """Random places of a strided slice, and NumPy's index for them."""

    def __init__(self, draw, shape):
        self.draw, self.index, self.masks = draw, [], {}
        self.begin, self.end, self.strides = [], [], []
        dims = list(shape)
        ellipsis = draw.chance(0.3)
        skipped = draw.int(0, len(dims)) if ellipsis else 0
        at = draw.int(0, len(dims) - skipped) if ellipsis else None
        used = dims if ellipsis or draw.chance(0.7) else dims[:draw.int(1, len(dims))]
        i = 0
        while i < len(used):
            if draw.chance(0.1):
                self.add("new_axis_mask", np.newaxis)
            if at == i:
                self.add("ellipsis_mask", Ellipsis)
                i, at = i + skipped, None
                continue
            self.one(used[i])
            i += 1
        if at is not None:
            self.add("ellipsis_mask", Ellipsis)

    def add(self, mask, index, begin=None, end=None, stride=1):
        if mask:
            self.masks[mask] = self.masks.get(mask, 0) | 1 << len(self.begin)
        any_number = self.draw.int(-2, 2)
        self.begin.append(any_number if begin is None else begin)
        self.end.append(any_number if end is None else end)
        self.strides.append(stride)
        self.index.append(index)

    def one(self, size):
        draw = self.draw
        begin, end = draw.int(-size - 2, size + 2), draw.int(-size - 2, size + 2)
        stride = draw.pick([1, 1, 2, 3, -1, -2])
        if size and draw.chance(0.15):
            begin = draw.int(-size, size - 1)
            return self.add("shrink_axis_mask", begin, begin, begin + 1)
        first, last = (None if draw.chance(0.2) else place for place in (begin, end))
        bit = 1 << len(self.begin)
        for mask, place in (("begin_mask", first), ("end_mask", last)):
            if place is None:
                self.masks[mask] = self.masks.get(mask, 0) | bit
        return self.add(None, slice(first, last, stride), begin, end, stride)


@judges("StridedSlice", "StridedSliceD")
def strided_slice(draw, op_type):
    x = moved(draw)
    places = Places(draw, x.shape)
    if not places.begin:
        return strided_slice(draw, op_type)
    result = exact(x, x.data[tuple(places.index)])
    numbers = {"begin": places.begin, "end": places.end, "strides": places.strides}
    if all(stride == 1 for stride in places.strides) and draw.chance():
        del numbers["strides"]
    op = with_numbers(draw, op_type, x, result, **numbers)
    op.attrs.update(places.masks)
    return op


@judges("Tile", "TileD")
def tile(draw, op_type):
    x = draw.tensor(draw.pick(MOVED), draw.shape(0, 4, elements=300))
    times = [draw.pick([1, 1, 2, 3, 0]) if draw.chance(0.8) else draw.int(1, 5) for _ in x.shape]
    return with_numbers(draw, op_type, x, exact(x, np.tile(x.data, times)), multiples=times)


@judges("BroadcastTo", "BroadcastToD")
def broadcast_to(draw, op_type):
    shape = draw.shape(0, 4)
    x = draw.tensor(draw.pick(MOVED), draw.part(shape))
    result = exact(x, np.broadcast_to(x.data, shape))
    return with_numbers(draw, op_type, x, result, shape=shape)


@judges("Fill")
def fill(draw):
    shape = draw.shape(0, 4)
    value = draw.tensor(draw.pick(MOVED), () if draw.chance() else (1,))
    data = np.full(shape, value.data.reshape(()))
    return Op([draw.numbers(shape), value], Answer(value.dtype, data))


@judges("Pad", "PadV3")
def pad(draw, op_type):
    x = draw.tensor(draw.pick(MOVED), draw.shape(0, 3, elements=400, empty=False))
    mode = draw.pick(["constant", "reflect", "edge", None]) if op_type == "PadV3" else None
    most = [n - 1 if mode == "reflect" else 3 for n in x.shape]
    paddings = [[draw.int(0, min(n, 5)), draw.int(0, min(n, 5))] for n in most]
    paddings = np.array(paddings, int).reshape(-1, 2)
    contiguous = draw.pick([None, True, False]) if op_type == "PadV3" else None
    numbers = draw.numbers(np.transpose(paddings) if contiguous is False else paddings)
    value = draw.tensor(x.dtype, () if draw.chance() else (1,))
    value = value if op_type == "PadV3" and draw.chance() else None
    how = {"constant_values": value.data.reshape(()) if value else 0} if mode in (
        None, "constant") else {}
    padded = np.pad(x.data, paddings, mode or "constant", **how) if x.shape else x.data
    result = exact(x, padded)
    return Op([x, numbers] + ([value] if op_type == "PadV3" else []), result,
              {"mode": mode, "paddings_contiguous": contiguous})


# ---- Indices ----

def taken(x, indices, axis, batch, negative):
    """The slices of x along an axis, and which of them there are."""
    count = x.shape[axis]
    places = np.where(indices < 0, indices + count, indices) if negative else indices
    there = (places >= 0) & (places < count)
    rows, tail = x.shape[:batch], x.shape[axis + 1:]
    middle = x.shape[batch:axis]
    result = np.zeros(rows + middle + places.shape[batch:] + tail, x.dtype)
    written = np.zeros(result.shape, bool)
    for row in np.ndindex(*rows):
        for at in np.ndindex(*middle):
            for place in np.ndindex(*places.shape[batch:]):
                if there[row + place]:
                    result[row + at + place] = x[row + at + (int(places[row + place]),)]
                    written[row + at + place] = True
    return result, written


def gathered(draw, axis, batch):
    """Operands and the answer of a gather."""
    shape = list(draw.shape(axis + 1, axis + 3, elements=600))
    x = draw.tensor(draw.pick(MOVED), shape)
    negative = draw.chance()
    tail = draw.shape(0, 2, elements=20)
    count = x.shape[axis]
    low, high = (-count if negative else 0), count - 1
    stray = draw.chance(0.15)
    if count == 0 or stray:
        low, high = low - 2, high + 3
    dtype = draw.pick(["i32", "i64"])
    indices = draw.random.integers(low, high, x.shape[:batch] + tail, endpoint=True)
    made, written = taken(x.data, indices, axis, batch, negative)
    shown = batch - indices.ndim if indices.ndim > batch and draw.chance(0.2) else batch
    attrs = {"batch_dims": shown if shown else draw.maybe(0),
             "negative_index_support": negative or draw.maybe(False),
             "is_preprocessed": draw.maybe(False, 0.2)}
    return x, Tensor(dtype, indices), Answer(x.dtype, made, written=written), attrs


@judges("Gather")
def gather(draw):
    batch = draw.pick([0, 0, 1, 2])
    x, indices, result, attrs = gathered(draw, batch, batch)
    attrs["validate_indices"] = draw.maybe(draw.chance(), 0.3)
    return Op([x, indices], result, attrs, guarded=bool(result.written.all()))


also("Embedding", "Gather")


@judges("GatherV2")
def gather_v2(draw):
    axis = draw.int(0, 2)
    batch = draw.int(0, axis)
    x, indices, result, attrs = gathered(draw, axis, batch)
    shown = axis - x.data.ndim if draw.chance() else axis
    return Op([x, indices, draw.number(shown)], result, attrs, guarded=bool(result.written.all()))


@judges("ScatterUpdate")
def scatter_update(draw):
    var = moved(draw)
    axis = draw.axis(var.data.ndim)
    count = var.shape[axis]
    stray = 2 if draw.chance(0.3) else 0
    if not count + stray:
        return scatter_update(draw)
    indices = draw.random.integers(-stray, count + stray, draw.int(0, 6))
    shape = list(var.shape)
    shape[axis] = len(indices)
    updates = draw.tensor(var.dtype, shape)
    made = np.moveaxis(var.data.copy(), axis, 0)
    for index, update in zip(indices, np.moveaxis(updates.data, axis, 0)):
        if 0 <= index < count:
            made[index] = update
    result = exact(var, np.moveaxis(made, 0, axis))
    op = Op([var, draw_indices(draw, indices), updates], result,
            {"axis": axis if axis else draw.maybe(0)}, memory=0)
    op.implied, op.unfit = draw.chance(), stray > 0
    return op


def draw_indices(draw, values):
    dtype = draw.pick(["i32", "i64"])
    return Tensor(dtype, np.array(values, CARRIERS[dtype]))


# ---- Memory ----

@judges("Assign")
def assign(draw):
    ref = moved(draw, 0)
    value = draw.tensor(ref.dtype, ref.shape)
    return nameless(Op([ref, value], exact(ref, value.data), memory=0))


@judges("AssignAdd", "AssignSub")
def assign_add(draw, op_type):
    ref = draw.tensor(draw.pick(NUMBER), draw.shape())
    value = draw.tensor(ref.dtype, ref.shape)
    made = ref.data + value.data if op_type == "AssignAdd" else ref.data - value.data
    made = rounded(ref.dtype, made) if ref.dtype in FLOATS else made
    return nameless(Op([ref, value], Answer(ref.dtype, made), memory=0))


def nameless(op):
    """The op, which has no result and writes what its type says."""
    op.nameless = op.implied = True
    return op


@judges("HcomAllReduce", "HcomAllGather", "HcomReduceScatter", "HcomAllToAll")
def collective(draw, op_type):
    reduces = op_type in ("HcomAllReduce", "HcomReduceScatter")
    dtypes = [dtype for dtype in MOVED if dtype != "bool"] if reduces else MOVED
    x = draw.tensor(draw.pick(dtypes), draw.shape(1, 4))
    attrs = {"group": draw.maybe("hccl_world_group"), "_hccl": draw.maybe(True)}
    if reduces:
        attrs["reduction"] = draw.pick(["sum", "prod", "max", "min"])
    if op_type in ("HcomAllGather", "HcomReduceScatter"):
        attrs["rank_size"] = draw.maybe(1)
    if op_type == "HcomAllReduce":
        attrs.update(fusion=draw.maybe(1), fusion_id=draw.maybe(-1))
    return Op(x, exact(x, x.data), attrs)


for known, others in (("HcomAllReduce", ["AllReduce"]), ("HcomAllGather", ["AllGather"]),
                      ("HcomReduceScatter", ["ReduceScatter"]),
                      ("HcomAllToAll", ["AlltoAll", "AllToAll"])):
    for other in others:
        also(other, known)
