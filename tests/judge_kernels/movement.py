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


@judges("PadV2", "MirrorPad")
def pad_more(draw, op_type):
    x = draw.tensor(draw.pick(MOVED), draw.shape(0, 3, elements=400, empty=False))
    mode = draw.pick(["REFLECT", "SYMMETRIC"])
    most = [3 if op_type == "PadV2" else n - (mode == "REFLECT") for n in x.shape]
    paddings = np.array([[draw.int(0, min(n, 5)), draw.int(0, min(n, 5))] for n in most], int).reshape(-1, 2)
    numbers = draw.numbers(paddings)
    if op_type == "MirrorPad":
        made = np.pad(x.data, paddings, mode.lower()) if x.shape else x.data
        return Op([x, numbers], exact(x, made), {"mode": mode})
    value = draw.tensor(x.dtype, () if draw.chance() else (1,))
    made = np.pad(x.data, paddings, constant_values=value.data.reshape(())) if x.shape else x.data
    return Op([x, numbers, value], exact(x, made))


@judges("TensorMove")
def tensor_move(draw):
    x = moved(draw, 0)
    return Op(x, exact(x, x.data.copy()))


@judges("ReverseV2")
def reverse(draw):
    x = moved(draw, 0)
    axes = draw.axes(x.data.ndim, low=0)
    made = np.flip(x.data, axes) if axes else x.data
    return Op([x, draw.numbers(axes, scalar=len(axes) == 1 and draw.chance())], exact(x, made))


@judges("Triu", "Tril", "MatrixBandPart")
def band(draw, op_type):
    x = moved(draw, 2)
    rows, columns = np.indices(x.shape[-2:]) if x.data.size else (np.zeros(x.shape[-2:]),) * 2
    if op_type == "MatrixBandPart":
        low, high = draw.int(-2, 4), draw.int(-2, 4)
        kept = ((low < 0) | (rows - columns <= low)) & ((high < 0) | (columns - rows <= high))
        dtype = draw.pick(["i32", "i64"])
        numbers = [Tensor(dtype, np.array(n, CARRIERS[dtype]), constant=draw.chance()) for n in (low, high)]
        return Op([x, *numbers], exact(x, np.where(kept, x.data, x.data.dtype.type(0))))
    diagonal = draw.pick([None, 0, 1, -1, draw.int(-9, 9), 2 ** 40])
    kept = columns - rows >= (diagonal or 0) if op_type == "Triu" else columns - rows <= (diagonal or 0)
    return Op(x, exact(x, np.where(kept, x.data, x.data.dtype.type(0))), {"diagonal": diagonal})


@judges("Expand")
def expand(draw):
    parts, shape = draw.parts(2)
    x = draw.tensor(draw.pick(MOVED), parts[0])
    return Op([x, draw.numbers(np.array(parts[1], int))], exact(x, np.broadcast_to(x.data, shape)))


@judges("Unpack")
def unpack(draw):
    shape = list(draw.shape(1, 4, elements=600))
    axis = draw.axis(len(shape))
    shape[axis] = draw.int(1, 6)
    x = draw.tensor(draw.pick(MOVED), shape)
    parts = [exact(x, np.take(x.data, i, axis)) for i in range(shape[axis])]
    return Op(x, parts, {"axis": axis if axis else draw.maybe(0), "num": len(parts)})


@judges("StridedSliceV3")
def sliced(draw):
    x = moved(draw, 1)
    axes = draw.axes(x.data.ndim)
    index, begin, end, strides = [slice(None)] * x.data.ndim, [], [], []
    for axis in axes:
        size = x.shape[axis]
        begin.append(draw.pick([draw.int(-size - 2, size + 2), 2 ** 31 - 1, -2 ** 31]))
        end.append(draw.pick([draw.int(-size - 2, size + 2), 2 ** 31 - 1, -2 ** 31]))
        strides.append(draw.pick([1, 1, 2, 3, -1, -2]))
        index[axis] = slice(begin[-1], end[-1], strides[-1])
    result, dtype = exact(x, x.data[tuple(index)]), draw.pick(["i32", "i64"])
    numbers = [Tensor(dtype, np.array(data, CARRIERS[dtype]), constant=draw.chance())
               for data in (begin, end, axes, strides)]
    if axes == list(range(len(axes))) and draw.chance():
        numbers[2] = None
    if all(stride == 1 for stride in strides) and draw.chance():
        numbers[3] = None
    return Op([x, *numbers], result)


@judges("DepthToSpace", "SpaceToDepth")
def blocks(draw, op_type):
    """By places: channel (down, right, c) of a place is c of the place at (down, right) in its block."""
    side, channels = draw.int(1, 3), draw.int(1, 4)
    n, h, w = draw.int(1, 3), draw.int(1, 5), draw.int(1, 5)
    last, by_channel = draw.chance(), op_type == "DepthToSpace" and draw.chance()
    wide = draw.tensor(draw.pick(MOVED), (n, h * side, w * side, channels))
    deep = np.zeros((n, h, w, channels * side * side), wide.data.dtype)
    for down in range(side):
        for right in range(side):
            for c in range(channels):
                place = (c * side + down) * side + right if by_channel else (down * side + right) * channels + c
                deep[..., place] = wide.data[:, down::side, right::side, c]
    x, y = (deep, wide.data) if op_type == "DepthToSpace" else (wide.data, deep)
    x, y = (x, y) if last else (x.transpose(0, 3, 1, 2), y.transpose(0, 3, 1, 2))
    x = Tensor(wide.dtype, np.ascontiguousarray(x))
    mode = ("CRD" if by_channel else draw.maybe("DCR")) if op_type == "DepthToSpace" else None
    return Op(x, exact(x, y), {"block_size": side, "mode": mode,
                               "data_format": draw.maybe("NHWC") if last else "NCHW"})


@judges("OneHot")
def one_hot(draw):
    dtype = draw.pick(["u8", "i32", "i64"])
    x = draw.tensor(dtype, draw.shape(0, 3, elements=300), "small")
    depth, axis = draw.int(0, 9), draw.axis(x.data.ndim, new=True)
    on, off = (draw.tensor(to, () if draw.chance() else (1,)) for to in [draw.pick(MOVED)] * 2)
    off = draw.tensor(on.dtype, off.shape)
    hot = np.moveaxis(x.data[..., None].astype(np.int64) == np.arange(depth), -1, axis)
    made = np.where(hot, on.data.reshape(()), off.data.reshape(()))
    return Op([x, draw.number(depth), on, off], exact(on, made), {"axis": axis if axis != -1 else draw.maybe(-1)})


@judges("Range")
def range_op(draw):
    """Of numbers that need no rounding in f16 and bf16, so that each element is exact."""
    dtype = draw.pick(NUMBER)
    low = 0 if dtype[0] == "u" else -20
    unit = draw.pick([1, 0.5, 0.25]) if dtype in FLOATS else 1
    start, limit = draw.int(low, 30) * unit, draw.int(low, 30) * unit
    delta = draw.int(1, 5) * unit * (1 if dtype[0] == "u" else draw.pick([1, -1]))
    numbers = [Tensor(dtype, np.array(n, CARRIERS[dtype]).reshape(() if draw.chance() else (1,)))
               for n in (start, limit, delta)]
    return Op(numbers, Answer(dtype, np.arange(start, limit, delta).astype(CARRIERS[dtype])))


@judges("Eye")
def eye(draw):
    numbers = {"f32": 0, "f16": 1, "i8": 2, "i32": 3, "u8": 4, "i16": 6, "u16": 7, "u32": 8, "i64": 9, "u64": 10,
               "f64": 11, "bool": 12, "bf16": 27}
    dtype = draw.pick(list(numbers))
    rows, columns, batch = draw.int(1, 9), draw.pick([None, 0, draw.int(1, 9)]), draw.shape(0, 2, elements=9)
    made = np.broadcast_to(np.eye(rows, columns or rows), batch + (rows, columns or rows)).astype(CARRIERS[dtype])
    return Op([], Answer(dtype, made), {"num_rows": rows, "num_columns": columns, "dtype": numbers[dtype],
                                        "batch_shape": list(batch) if batch else draw.maybe([])})


@judges("Shape", "Size", "Rank")
def shape_op(draw, op_type):
    x = moved(draw, 0)
    dtype = "i32" if op_type == "Rank" else draw.pick(["i32", "i64"])
    number = {"Shape": x.shape, "Size": x.data.size, "Rank": x.data.ndim}[op_type]
    attrs = {} if op_type == "Rank" else {"dtype": 9 if dtype == "i64" else draw.maybe(3)}
    return Op(x, Answer(dtype, np.array(number, CARRIERS[dtype])), attrs)


# ---- Indices ----

def rows_of_places(draw, shape, negative=True):
    """Indices of slices of a shape, and these as tuples, in order."""
    depth, outer = draw.int(1, len(shape)), draw.shape(0, 2, elements=12)
    if 0 in shape[:depth]:
        outer = (0,)
    columns = [draw.random.integers(-n if negative else 0, max(n, 1), outer) for n in shape[:depth]]
    indices = np.stack(columns, -1)
    flat = indices.reshape(int(np.prod(outer)), depth)
    return indices, outer, depth, [tuple(map(int, row)) for row in flat]


@judges("GatherNd")
def gather_nd(draw):
    x = moved(draw)
    negative = draw.chance()
    indices, outer, depth, rows = rows_of_places(draw, x.shape, negative)
    made = np.zeros((len(rows),) + x.shape[depth:], x.data.dtype)
    for i, row in enumerate(rows):
        made[i] = x.data[row]
    return Op([x, Tensor(draw.pick(["i32", "i64"]), indices)], exact(x, made.reshape(outer + x.shape[depth:])),
              {"negative_index_support": negative or draw.maybe(False)})


def places_along(draw, shape, axis):
    """Indices of elements along an axis: their shape, and pairs of a place in it and of the whole."""
    part = [draw.int(0, 6) if i == axis else draw.int(0, n) for i, n in enumerate(shape)]
    if shape[axis] == 0:
        part[axis] = 0
    indices = draw.random.integers(-shape[axis], max(shape[axis], 1), part)
    pairs = [(at, at[:axis] + (int(indices[at]),) + at[axis + 1:]) for at in np.ndindex(*part)]
    return indices, pairs


@judges("GatherElements")
def gather_elements(draw):
    x = moved(draw)
    dim = draw.axis(x.data.ndim)
    indices, pairs = places_along(draw, x.shape, dim % x.data.ndim)
    made = np.zeros(indices.shape, x.data.dtype)
    for at, place in pairs:
        made[at] = x.data[place]
    return Op([x, Tensor(draw.pick(["i32", "i64"]), indices)], exact(x, made), {"dim": dim if dim else draw.maybe(0)})


JOINS = {"Update": lambda old, new: new, "Add": np.add, "Sub": np.subtract, "Mul": np.multiply,
         "Max": np.maximum, "Min": np.minimum}


def joined_in(made, dtype, place, update, how):
    """made[place] joined with an update, in the data type."""
    value = JOINS[how](made[place], update)
    made[place] = rounded(dtype, value) if dtype in FLOATS else value


@judges("ScatterElements")
def scatter_elements(draw):
    how = draw.pick(["Update", "Add", "Mul"])
    x = draw.tensor(draw.pick(MOVED if how == "Update" else NUMBER), draw.shape(1, 4, elements=600))
    axis = draw.axis(x.data.ndim)
    indices, pairs = places_along(draw, x.shape, axis % x.data.ndim)
    updates, made = draw.tensor(x.dtype, indices.shape), x.data.copy()
    for at, place in pairs:
        joined_in(made, x.dtype, place, updates.data[at], how)
    word = {"Update": draw.maybe("none"), "Add": "add", "Mul": "mul"}[how]
    return Op([x, Tensor(draw.pick(["i32", "i64"]), indices), updates], exact(x, made),
              {"axis": axis if axis else draw.maybe(0), "reduction": word})


@judges("ScatterNd", "TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax",
        "TensorScatterMin", "ScatterNdUpdate", "ScatterNdAdd")
def scatter_rows(draw, op_type):
    how = "Add" if op_type == "ScatterNd" else op_type.removeprefix("TensorScatter").removeprefix("ScatterNd")
    x = draw.tensor(draw.pick(MOVED if how == "Update" else NUMBER), draw.shape(1, 4, elements=600))
    indices, outer, depth, rows = rows_of_places(draw, x.shape)
    updates = draw.tensor(x.dtype, outer + x.shape[depth:])
    made = np.zeros_like(x.data) if op_type == "ScatterNd" else x.data.copy()
    for row, update in zip(rows, updates.data.reshape((len(rows),) + x.shape[depth:])):
        joined_in(made, x.dtype, row, update, how)
    indices = Tensor(draw.pick(["i32", "i64"]), indices)
    if op_type == "ScatterNd":
        return Op([indices, updates, draw.numbers(np.array(x.shape, int))], Answer(x.dtype, made, signed=False))
    if not op_type.startswith("Tensor"):
        op = Op([x, indices, updates], exact(x, made), memory=0)
        op.implied = draw.chance()
        return op
    return Op([x, indices, updates], Answer(x.dtype, made, signed=how not in ("Max", "Min")))


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
    """Operands and the answer of a gather, and whether x has all places."""
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
    inside = bool(((indices >= (-count if negative else 0)) & (indices < count)).all())
    return x, Tensor(dtype, indices), Answer(x.dtype, made, written=written), attrs, inside


@judges("Gather")
def gather(draw):
    batch = draw.pick([0, 0, 1, 2])
    x, indices, result, attrs, inside = gathered(draw, batch, batch)
    attrs["validate_indices"] = draw.maybe(draw.chance(), 0.3)
    return Op([x, indices], result, attrs, guarded=inside)


also("Embedding", "Gather")


@judges("GatherV2")
def gather_v2(draw):
    axis = draw.int(0, 2)
    batch = draw.int(0, axis)
    x, indices, result, attrs, inside = gathered(draw, axis, batch)
    shown = axis - x.data.ndim if draw.chance() else axis
    return Op([x, indices, draw.number(shown)], result, attrs, guarded=inside)


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
