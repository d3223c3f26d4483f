"""Models of TensorFlow's operators in NumPy: those that change shapes and move elements, and rarer ones."""

import collections

import numpy as np
from checkers.tf_models import ANY, FLOAT, MODELS, NUMBER, exact, near, op
from checkers.tf_nodes import DT, dims_text, node_text
from judge_kernels.numbers import FLOATS, INTS

__all__ = ["MODELS"]


@op("Reshape")
def reshape(node):
    t, shape = node.dtype(ANY), node.shape()
    x, rest, wanted = node.data(t, shape), int(np.prod(shape)), []
    while rest > 1 and len(wanted) < 4:
        part = node.pick([n for n in range(1, rest + 1) if rest % n == 0])
        wanted.append(part)
        rest //= part
    wanted += [rest] if rest > 1 else []
    asked = list(wanted)
    if asked and node.chance(0.4):
        asked[node.int(0, len(asked) - 1)] = -1
    node.number(np.array(asked, int), "Tshape")
    return exact(t, x.reshape(wanted))


@op("Transpose")
def transpose(node):
    t, shape = node.dtype(ANY), node.shape()
    x, perm = node.data(t, shape), node.random.permutation(len(shape))
    return exact(t, x.transpose(node.number(perm, "Tperm")))


@op("Squeeze")
def squeeze(node):
    t, shape = node.dtype(ANY), tuple(node.pick([1, 1, node.size()]) for _ in range(node.int(0, 5)))
    ones = [axis for axis, n in enumerate(shape) if n == 1]
    some = node.random.permutation(ones)[:node.int(0, len(ones))].tolist() if ones else []
    some = [int(axis) - len(shape) * node.chance(0.3) for axis in some]
    node.attr(some, "squeeze_dims", [])
    return exact(t, np.squeeze(node.data(t, shape), tuple(some) if some else None))


@op("ExpandDims")
def expand_dims(node):
    t, shape = node.dtype(ANY), node.shape()
    x, axis = node.data(t, shape), node.axis(len(shape), new=True)
    number = np.array([axis]) if node.chance(0.2) else axis
    node.number(number, "Tdim")
    return exact(t, np.expand_dims(x, axis))


@op("Concat", "ConcatV2")
def concat(node):
    t, shape, n = node.dtype(ANY), list(node.shape(1)), node.int(2, 5)
    node.attr(n, "N")
    axis = node.axis(len(shape))
    if node.op == "Concat":
        node.number(axis, choices="i32")
    parts = []
    for _ in range(n):
        shape[axis] = node.int(1, 6)
        parts.append(node.data(t, tuple(shape)))
    if node.op == "ConcatV2":
        node.number(axis, "Tidx")
    return exact(t, np.concatenate(parts, axis))


@op("Pack")
def pack(node):
    t, shape, n = node.dtype(ANY), node.shape(), node.int(1, 5)
    node.attr(n, "N")
    axis = node.attr(node.axis(len(shape), new=True), "axis", 0)
    return exact(t, np.stack([node.data(t, shape) for _ in range(n)], axis))


@op("Unpack")
def unpack(node):
    t, shape = node.dtype(ANY), tuple(min(n, 6) for n in node.shape(1))
    axis = node.attr(node.axis(len(shape)), "axis", 0)
    n = node.attr(shape[axis], "num")
    x, node.outputs = node.data(t, shape), list(range(n))
    return [exact(t, np.take(x, i, axis)) for i in range(n)]


@op("Split")
def split(node):
    t, shape, n = node.dtype(ANY), list(node.shape(1)), node.int(1, 4)
    axis = node.number(node.axis(len(shape)), choices="i32")
    shape[axis] = n * node.int(1, 4)
    x, node.outputs = node.data(t, tuple(shape)), list(range(node.attr(n, "num_split")))
    return [exact(t, part) for part in np.split(x, n, axis)]


@op("SplitV")
def split_v(node):
    t, shape, n = node.dtype(ANY), list(node.shape(1)), node.int(1, 4)
    axis, sizes = node.axis(len(shape)), [node.int(1, 5) for _ in range(n)]
    shape[axis] = sum(sizes)
    x, asked = node.data(t, tuple(shape)), list(sizes)
    if node.chance(0.3):
        asked[node.int(0, n - 1)] = -1
    node.number(np.array(asked), "Tlen")
    node.number(axis, choices="i32")
    node.outputs = list(range(node.attr(n, "num_split")))
    return [exact(t, part) for part in np.split(x, np.cumsum(sizes)[:-1], axis)]


@op("Slice")
def cut(node):
    t, shape = node.dtype(ANY), node.shape()
    begin = [node.int(0, n - 1) for n in shape]
    size = [node.int(1, n - low) for n, low in zip(shape, begin)]
    x, kind = node.data(t, shape), node.dtype("i32 i64", "Index")
    asked = [-1 if low + n == whole and node.chance() else n for low, n, whole in zip(begin, size, shape)]
    node.number(np.array(begin, int), choices=kind)
    node.number(np.array(asked, int), choices=kind)
    return exact(t, x[tuple(slice(low, low + n) for low, n in zip(begin, size))])


@op("StridedSlice")
def strided_slice(node):
    t, shape = node.dtype(ANY), node.shape(1)
    x, kind, masks = node.data(t, shape), node.dtype("i32 i64", "Index"), collections.Counter()
    used, index, numbers, dim = node.int(1, len(shape)), [], [], 0
    ellipsis = node.int(0, used) if node.chance(0.25) else -1
    while len(numbers) < 7 and (dim < used or ellipsis == dim):
        bit = 1 << len(numbers)
        if ellipsis == dim and not masks["ellipsis_mask"]:
            masks["ellipsis_mask"] += bit
            index.append(Ellipsis)
            numbers.append((0, 0, 1))
            dim, used = len(shape) - (used - dim), len(shape)
            ellipsis = -1
            continue
        if node.chance(0.15):
            masks["new_axis_mask"] += bit
            index.append(None)
            numbers.append((node.int(-2, 2), node.int(-2, 2), 1))
            continue
        n = shape[dim]
        dim += 1
        if node.chance(0.25):
            masks["shrink_axis_mask"] += bit
            index.append(node.int(-n, n - 1))
            numbers.append((index[-1], index[-1] + 1 if node.chance() else node.int(-n, n), 1))
            continue
        step = node.pick([1, 1, 1, 2, 3, -1, -2])
        low, high = node.int(-n - 1, n + 1), node.int(-n - 1, n + 1)
        masks["begin_mask"] += bit * (begins := node.chance(0.3))
        masks["end_mask"] += bit * (ends := node.chance(0.3))
        index.append(slice(None if begins else low, None if ends else high, step))
        numbers.append((low, high, step))
    for row in zip(*numbers):
        node.number(np.array(row), choices=kind)
    for name in "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask":
        node.attr(int(masks[name]), name, 0)
    return exact(t, x[tuple(index)])


@op("Pad", "PadV2")
def pad(node):
    t, shape = node.dtype(NUMBER), node.shape(1)
    x = node.data(t, shape)
    widths = node.number(np.array([[node.int(0, 3), node.int(0, 3)] for _ in shape]), "Tpaddings")
    value = node.give(t, 3, 0.9) if node.op == "PadV2" else 0
    return exact(t, np.pad(x, widths, constant_values=value))


@op("MirrorPad")
def mirror_pad(node):
    t, shape, reflects = node.dtype(NUMBER), node.shape(1, elements=300), node.chance()
    x = node.data(t, shape)
    widths = [[node.int(0, min(3, n - reflects)), node.int(0, min(3, n - reflects))] for n in shape]
    node.number(np.array(widths), "Tpaddings")
    node.attr("REFLECT" if reflects else "SYMMETRIC", "mode")
    return exact(t, np.pad(x, widths, "reflect" if reflects else "symmetric"))


@op("Tile")
def tile(node):
    t, shape = node.dtype(ANY), node.shape(1, elements=200)
    return exact(t, np.tile(node.data(t, shape), node.number(np.array([node.int(1, 3) for _ in shape]), "Tmultiples")))


@op("BroadcastTo")
def broadcast_to(node):
    t, shape = node.dtype(ANY), node.shape()
    x = node.data(t, node.part(shape))
    node.number(np.array(shape, int), "Tidx")
    return exact(t, np.broadcast_to(x, shape))


@op("Fill")
def fill(node):
    t, shape = node.dtype(ANY), node.shape()
    node.number(np.array(shape, int), "index_type")
    return exact(t, np.full(shape, node.data(t, ())))


@op("ReverseV2")
def reverse(node):
    t, shape = node.dtype(ANY), node.shape(1)
    x, axes = node.data(t, shape), node.axes(len(shape))
    node.number(np.array(axes, int), "Tidx")
    return exact(t, np.flip(x, tuple(axes)))


@op("Shape", "Size", "Rank")
def shape_of(node):
    t, shape, out = node.dtype(ANY), node.shape(), "i32"
    node.data(t, shape)
    if node.op != "Rank":
        out = node.pick(["i32", "i64"])
        if out == "i64" or node.chance():
            node.type(out, "out_type")
    return exact(out, {"Shape": np.array(shape, int), "Size": int(np.prod(shape)), "Rank": len(shape)}[node.op])


# Elements at places


@op("Gather", "GatherV2")
def gather(node):
    v2, t = node.op == "GatherV2", node.dtype(ANY, "Tparams")
    shape, batch, axis = node.shape(1), 0, 0
    if v2:
        axis = node.int(0, len(shape) - 1)
        batch = node.int(0, axis) if node.chance(0.4) else 0
    x, kind = node.data(t, shape), node.dtype("i32 i64", "Tindices")
    places = node.give(kind, node.random.integers(0, shape[axis], shape[:batch] + node.shape(0, 2, elements=20)))
    if v2:
        node.number(axis - len(shape) * node.chance(0.3), "Taxis")
        node.attr(batch, "batch_dims", 0)
    lead = shape[:batch]
    made = [np.take(x[i], places[i], axis - batch) for i in np.ndindex(*lead)]
    return exact(t, np.array(made).reshape(lead + made[0].shape))


@op("GatherNd")
def gather_nd(node):
    t, shape = node.dtype(ANY, "Tparams"), node.shape(1)
    x, kind, depth = node.data(t, shape), node.dtype("i32 i64", "Tindices"), node.int(1, len(shape))
    lead = node.shape(0, 2, elements=20)
    places = np.stack([node.random.integers(0, n, lead) for n in shape[:depth]], -1)
    return exact(t, x[tuple(np.moveaxis(node.give(kind, places), -1, 0))])


@op("Select")
def select(node):
    t, shape = node.dtype(ANY), node.shape()
    kinds = [shape, ()] + ([shape[:1]] if shape else [])
    chosen = node.data("bool", node.pick(kinds))
    x, y = node.data(t, shape), node.data(t, shape)
    chosen = chosen.reshape(chosen.shape + (1,) * (len(shape) - chosen.ndim)) if chosen.ndim else chosen
    return exact(t, np.where(chosen, x, y))


@op("SelectV2")
def select_v2(node):
    t, parts = node.dtype(ANY), node.parts(3)[0]
    return exact(t, np.where(node.data("bool", parts[0]), node.data(t, parts[1]), node.data(t, parts[2])))


@op("OneHot")
def one_hot(node):
    t, shape, depth = node.dtype(ANY), node.shape(0, 3, elements=60), node.int(1, 6)
    kind = node.dtype("i32 i64 u8", "TI")
    places = node.give(kind, node.random.integers(0 if kind == "u8" else -1, depth + 1, shape))
    node.number(depth, choices="i32")
    on, off = node.data(t, ()), node.data(t, ())
    axis = node.attr(node.int(-1, len(shape)), "axis", -1)
    where = np.expand_dims(places.astype(int), axis)
    levels = np.arange(depth).reshape([-1 if i == (axis % (len(shape) + 1)) else 1 for i in range(len(shape) + 1)])
    return exact(t, np.where(where == levels, on, off))


@op("Range")
def counted(node):
    t, delta = node.dtype("i32 i64 f32 f64", "Tidx"), node.pick([1, 1, 2, -1, 3])
    low = node.int(-5, 5)
    high = low + delta * node.int(1, 9) + node.int(0, abs(delta) - 1) * (1 if delta > 0 else -1)
    for number in low, high, delta:
        node.number(number, choices=t)
    return exact(t, np.arange(low, high, delta))


@op("Cast")
def cast(node):
    source, target = node.dtype(ANY + " i16 u16", "SrcT"), node.dtype(ANY + " i16", "DstT")
    if node.chance():
        node.attr(False, "Truncate", False)
    unsigned = target[0] == "u" and source != "bool"
    x = node.data(source, node.shape(), "positive" if unsigned else "plain")
    if target == "bool":
        return exact(target, x != 0)
    return exact(target, np.trunc(x) if target in INTS and source in FLOATS else x)


@op("ClipByValue")
def clip_by_value(node):
    t, shape = node.dtype(FLOAT + " i32"), node.shape()
    x, sides = node.data(t, shape), node.pick([(), (), shape])
    low = node.give(t, np.full(sides, -node.int(0, 3)), 0.6)
    high = node.give(t, np.full(sides, node.int(0, 3)), 0.6)
    return exact(t, np.minimum(np.maximum(x, low), high))


@op("ConjugateTranspose")
def conjugate_transpose(node):
    return transpose(node)  # no dtype here is complex


@op("InvertPermutation")
def invert_permutation(node):
    t = node.dtype("i32 i64")
    return exact(t, np.argsort(node.give(t, node.random.permutation(node.int(1, 9)))))


@op("MatrixBandPart")
def matrix_band_part(node):
    t, shape = node.dtype(NUMBER), node.shape(2)
    x, kind = node.data(t, shape), node.dtype("i32 i64", "Tindex")
    lower, upper = (node.number(node.int(-1, 4), choices=kind) for _ in range(2))
    row, column = np.ogrid[:shape[-2], :shape[-1]]
    kept = ((lower < 0) | (row - column <= lower)) & ((upper < 0) | (column - row <= upper))
    return exact(t, np.where(kept, x, 0))


@op("ScatterNd")
def scatter_nd(node):
    t, shape, kind = node.dtype("f32 f32 i32 i64"), node.shape(1), node.dtype("i32 i64", "Tindices")
    depth, lead = node.int(1, len(shape)), node.shape(1, 1, elements=20)
    places = node.give(kind, np.stack([node.random.integers(0, n, lead) for n in shape[:depth]], -1))
    updates = node.data(t, lead + shape[depth:], "whole")
    node.number(np.array(shape), choices=kind)
    made = np.zeros(shape, updates.dtype)
    np.add.at(made, tuple(np.moveaxis(places, -1, 0)), updates)
    return exact(t, made)


@op("Einsum")
def einsum(node):
    t, (b, m, k, n) = node.dtype("f32 f32 f16 bf16"), [node.int(1, 7) for _ in range(4)]
    equation, shapes = node.pick([
        ("ij,jk->ik", [(m, k), (k, n)]), ("bij,bjk->bik", [(b, m, k), (b, k, n)]), ("bhqd,bhkd->bhqk", [(2, b, m, k), (2, b, n, k)]),
        ("abc,cd->abd", [(b, m, k), (k, n)]), ("...ij,...jk->...ik", [(b, m, k), (b, k, n)]), ("ij->ji", [(m, n)]),
        ("bi,bi->b", [(b, k), (b, k)]), ("i,j->ij", [(m,), (n,)]), ("ijk->ik", [(m, k, n)]), ("abc,acd->bd", [(b, m, k), (b, k, n)])])
    node.attr(equation, "equation")
    node.attr(len(shapes), "N")
    return exact(t, np.einsum(equation, *(node.data(t, shape, "whole") for shape in shapes)))


@op("IdentityN", "ShapeN")
def several(node):
    count = node.int(1, 3)
    dtypes, shapes = [node.pick(ANY.split()) for _ in range(count)], [node.shape() for _ in range(count)]
    node.outputs = list(range(count))
    if node.op == "IdentityN":
        node.attrs["T"] = "list { " + " ".join(f"type: DT_{DT[t]}" for t in dtypes) + " }"
        return [exact(t, node.data(t, shape)) for t, shape in zip(dtypes, shapes)]
    node.attr(count, "N")
    t, out = node.type(dtypes[0], "T"), node.dtype("i32 i64", "out_type")
    for shape in shapes:
        node.data(t, shape)
    return [exact(out, np.array(shape, int)) for shape in shapes]


@op("CheckNumerics", "EnsureShape", "PlaceholderWithDefault")
def passes(node):
    t, shape = node.type(node.pick(FLOAT.split()), "dtype" if node.op == "PlaceholderWithDefault" else "T"), node.shape()
    if node.op == "CheckNumerics":
        node.attr("not a number", "message")
    else:
        node.attrs["shape"] = f"shape {{ {dims_text(shape)} }}"
    return exact(t, node.data(t, shape))


@op("NoOp", "ControlTrigger")
def no_op(node):
    t, shape = node.pick(NUMBER.split()), node.shape()
    x = node.give(t, node.elements(t, shape, "plain"), constant=0)
    node.inputs = ["^x0"]
    node.after = [node_text("r", "Identity", ["x0", "^y"], {"T": f"type: DT_{DT[t]}"})]
    return exact(t, x)


@op("Variable", "VariableV2", "Assign")
def variable(node):
    t, shape = node.pick(["f32", "f32", "i32", "f16"]), node.shape()
    of_variable = {"dtype": f"type: DT_{DT[t]}", "shape": f"shape {{ {dims_text(shape)} }}", "shared_name": 's: ""', "container": 's: ""'}
    x, of_assign = node.data(t, shape, "whole"), {"T": f"type: DT_{DT[t]}"}
    if node.op.startswith("Variable"):
        node.attrs, node.inputs = of_variable, ["^x0"]
        node.after = [node_text("r", "Assign", ["y", "x0"], of_assign)]
        return exact(t, x)
    node.attrs = of_assign
    node.before = [node_text("v", node.pick(["Variable", "VariableV2"]), [], of_variable)]
    node.inputs = ["v", "x0"]
    return exact(t, x)


@op("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(node):
    t, shape, first = "f32", node.shape(4, 4), node.chance(0.4)
    t = node.dtype("f32" if node.op == "FusedBatchNorm" else "f32 f32 f16 bf16")
    if node.op != "FusedBatchNorm":
        node.type("f32", "U")
    node.attr("NCHW" if first else "NHWC", "data_format", "NHWC")
    epsilon = node.attr(node.pick([1e-4, 1e-4, 1e-3, 0.1]), "epsilon", 1e-4)
    training = node.attr(node.chance(0.15), "is_training", True)
    channels = shape[1 if first else 3]
    x = node.data(t, shape)
    scale, offset, mean = (node.give("f32", node.random.standard_normal(0 if training and i == 2 else channels), 0.5)
                           for i in range(3))
    variance = node.give("f32", node.random.uniform(0.01, 2, 0 if training else channels), 0.5)
    x = np.moveaxis(x, 1, -1) if first else x
    if training:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    y = (x - mean) / np.sqrt(variance + epsilon) * scale + offset
    node.outputs = [0]
    return [near(t, np.moveaxis(y, -1, 1) if first else y, 64, 1e-4 if training else 1e-5)]


# ---- Running them ----
