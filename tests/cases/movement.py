"""Kernels that put elements elsewhere: exact."""

import numpy as np

from numpy_cases import Result, Tensor, integers, uniform


DTYPES = ("f32", "f16", "i64", "u8", "bool")


def any(dtype, *shape):
    return integers(dtype, *shape, low=0, high=1) if dtype == "bool" else \
        integers(dtype, *shape, low=0, high=100) if dtype[0] in "iu" else uniform(dtype, *shape)


def ints(values, dtype="i32"):
    return Tensor(dtype, values)


def text(values):
    return "[" + ", ".join(map(str, values)) + "]"


def add_axes(cases):
    for dtype in DTYPES:
        for shape, perm in (((5, 7, 3), (2, 0, 1)), ((4, 6), (1, 0)), ((2, 3, 4, 5), (0, 2, 1, 3)),
                            ((2, 1, 9), (-1, 1, 0)), ((3, 0), (1, 0)), ((), ())):
            x = any(dtype, *shape)
            moved = Result(dtype, np.transpose(x.elements, perm))
            cases.add("Transpose", [x, ints(np.array(perm, int))], moved, claim=f"Transpose {dtype}{shape} by {perm}")
            cases.add("TransposeD", [x], moved, f"perm = {text(perm)}")
        for shape, to in (((3, 1), (2, 3, 4)), ((), (5,)), ((7,), (7,)), ((1, 6), (0, 6))):
            x = any(dtype, *shape)
            wide = Result(dtype, np.broadcast_to(x.elements, to))
            cases.add("BroadcastTo", [x, ints(to, "i64")], wide, claim=f"BroadcastTo {dtype}{shape} to {to}")
            cases.add("BroadcastToD", [x], wide, f"shape = {text(to)}")
        for shape, times in (((3, 2), (2, 3)), ((4,), (0,)), ((2, 1, 3), (1, 4, 2))):
            x = any(dtype, *shape)
            tiled = Result(dtype, np.tile(x.elements, times))
            cases.add("Tile", [x, ints(times)], tiled, claim=f"Tile {dtype}{shape} by {times}")
            cases.add("TileD", [x], tiled, f"multiples = {text(times)}")
        value = any(dtype)
        cases.add("Fill", [ints([2, 300]), value], Result(dtype, np.full((2, 300), value.elements)))


def add_parts(cases):
    x = uniform("f32", 6, 9, 5)
    for first, size in (((1, 2, 0), (3, 4, 5)), ((0, 8, 2), (-1, -1, 1)), ((6, 0, 0), (0, 9, 5))):
        whole = [n if s == -1 else f + s for f, s, n in zip(first, size, x.shape)]
        part = Result("f32", x.elements[tuple(slice(f, e) for f, e in zip(first, whole))])
        cases.add("Slice", [x, ints(first), ints(size)], part, claim=f"Slice from {first}, {size}")
        cases.add("SliceD", [x], part, f"offsets = {text(first)}, size = {text(size)}")
    for begin, end, step, masks, at in (
            ((1, 0), (6, 9), (2, 3), "", np.s_[1:6:2, 0:9:3]),
            ((-1, 8), (-7, 0), (-1, -2), "", np.s_[-1:-7:-1, 8:0:-2]),
            ((0, 3), (0, 0), (1, 1), "begin_mask = 1, end_mask = 1, shrink_axis_mask = 2", np.s_[:, 3]),
            ((0, 1), (0, 3), (1, 1), "ellipsis_mask = 1", np.s_[..., 1:3]),
            ((2, 0), (4, 0), (1, 1), "new_axis_mask = 2", np.s_[2:4, None]),
            ((4,), (2,), (1,), "", np.s_[4:2]), ((-100,), (100,), (5,), "", np.s_[-100:100:5])):
        part = Result("f32", x.elements[at])
        cases.add("StridedSlice", [x, ints(begin), ints(end), ints(step)], part, masks,
                  f"StridedSlice {begin} {end} {step} {masks}")
        cases.add("StridedSliceD", [x], part,
                  f"begin = {text(begin)}, end = {text(end)}, strides = {text(step)}" + (", " + masks if masks else ""))
    cases.add("StridedSlice", [x, ints([1]), ints([3]), None], Result("f32", x.elements[1:3]))
    for axis, parts in ((0, 3), (1, 9), (-1, 5), (2, 1)):
        split = [Result("f32", part) for part in np.split(x.elements, parts, axis)]
        for op in ("SplitD", "Split"):
            cases.add(op, [x], split, f"split_dim = {axis}, num_split = {parts}")
    for axis, sizes in ((1, (2, 0, 7)), (-1, (4, 1))):
        split = [Result("f32", part) for part in np.split(x.elements, np.cumsum(sizes)[:-1], axis)]
        said = (-1, *sizes[1:])
        cases.add("SplitV", [x, ints(said, "i64"), ints([axis])], split, claim=f"SplitV {said} along {axis}")
        cases.add("SplitVD", [x], split, f"size_splits = {text(sizes)}, split_dim = {axis}, num_split = {len(sizes)}")


def add_joined(cases):
    for dtype in DTYPES:
        for axis in (0, 1, -1):
            parts = [any(dtype, *(n if at == axis % 3 else side for at, side in enumerate((3, 2, 5))))
                     for n in (1, 4, 0, 2)]
            joined = Result(dtype, np.concatenate([part.elements for part in parts], axis))
            for op in ("ConcatD", "ConcatV2D", "Concat"):
                cases.add(op, [parts], joined, f"concat_dim = {axis}, N = 4")
            cases.add("ConcatV2", [parts, ints(axis)], joined, "N = 4", f"ConcatV2 {dtype} along {axis}")
        parts = [any(dtype, 4, 3) for _ in range(3)]
        for axis in (0, 1, 2, -1):
            cases.add("Pack", [parts], Result(dtype, np.stack([part.elements for part in parts], axis)),
                      f"axis = {axis}, N = 3")
        x = any(dtype, 3, 4)
        for pads in (((1, 2), (0, 3)), ((0, 0), (0, 0))):
            cases.add("Pad", [x, ints(pads)], Result(dtype, np.pad(x.elements, pads)), claim=f"Pad {dtype} {pads}")
        value = any(dtype)
        pads = ((1, 2), (2, 3))
        cases.add("PadV3", [x, ints(pads), value],
                  Result(dtype, np.pad(x.elements, pads, constant_values=value.elements)))
        for mode in ("reflect", "edge"):
            cases.add("PadV3", [x, ints(pads, "i64"), None], Result(dtype, np.pad(x.elements, pads, mode)),
                      f'mode = "{mode}"')
        cases.add("PadV3", [x, ints(list(zip(*pads))), None], Result(dtype, np.pad(x.elements, pads)),
                  "paddings_contiguous = false")


def add_gathers(cases):
    for dtype in DTYPES:
        x = any(dtype, 4, 6, 3)
        for axis, at in ((0, [3, 0, 3]), (1, [[5, 1], [0, 0]]), (-1, 2), (1, np.zeros((0,)))):
            places = np.array(at, int)
            cases.add("GatherV2", [x, ints(places), ints(axis)], Result(dtype, np.take(x.elements, places, axis)),
                      claim=f"GatherV2 {dtype} {list(places.shape)} along {axis}")
        places = np.array([[1, 3], [0, 2]])
        for op in ("Gather", "Embedding"):
            cases.add(op, [x, ints(places, "i64")], Result(dtype, x.elements[places]))
    places = np.array([[5, 0], [1, 1], [2, 4], [0, 3]])
    by_row = np.stack([row[at] for row, at in zip(x.elements, places)])
    cases.add("GatherV2", [x, ints(places), ints([1])], Result(dtype, by_row), "batch_dims = 1")
    cases.add("Gather", [x, ints(places)], Result(dtype, by_row), "batch_dims = 1")
    cases.add("Gather", [x, ints([-1, 2])], Result(dtype, x.elements[[-1, 2]]), "negative_index_support = true")


def add_more_axes(cases):
    for dtype in DTYPES:
        x = any(dtype, 3, 4, 5)
        cases.add("TensorMove", [x], Result(dtype, x.elements))
        for axes in ((0,), (1, -1), (), (-2,)):
            cases.add("ReverseV2", [x, ints(np.array(axes, int))],
                      Result(dtype, np.flip(x.elements, axes) if axes else x.elements), claim=f"ReverseV2 {dtype} {axes}")
        for k in (None, 0, 1, -2, 9, -9):
            attributes = "" if k is None else f"diagonal = {k}"
            cases.add("Triu", [x], Result(dtype, np.triu(x.elements, k or 0)), attributes)
            cases.add("Tril", [x], Result(dtype, np.tril(x.elements, k or 0)), attributes)
        for low, high in ((0, 0), (1, 2), (-1, 0), (2, -1)):
            rows, columns = np.indices((4, 5))
            inside = ((low < 0) | (rows - columns <= low)) & ((high < 0) | (columns - rows <= high))
            cases.add("MatrixBandPart", [x, ints(low), ints([high])],
                      Result(dtype, np.where(inside, x.elements, np.zeros((), x.elements.dtype))),
                      claim=f"MatrixBandPart {dtype} {low} {high}")
        for shape, to in (((3, 1), (2, 1, 4)), ((2, 3, 1), (4,)), ((), (2, 2)), ((4, 5), (1, 1)), ((1, 0), (3, 1))):
            part = any(dtype, *shape)
            wanted = np.broadcast_to(part.elements, np.broadcast_shapes(shape, to))
            cases.add("Expand", [part, ints(to, "i64")], Result(dtype, wanted), claim=f"Expand {dtype}{shape} to {to}")
        for axis in (0, 1, -1):
            parts = [Result(dtype, np.take(x.elements, i, axis)) for i in range(x.shape[axis])]
            cases.add("Unpack", [x], parts, f"axis = {axis}, num = {len(parts)}")
        add_blocks(cases, dtype)


def add_blocks(cases, dtype):
    """Written with places as [side, side] and channels apart."""
    deep = any(dtype, 2, 3, 5, 12)
    for side, mode in ((2, "DCR"), (2, "CRD"), (1, "DCR")):
        n, h, w, c = deep.shape[0], deep.shape[1], deep.shape[2], 12 // side ** 2
        parts = deep.elements.reshape(n, h, w, *((side, side, c) if mode == "DCR" else (c, side, side)))
        parts = parts.transpose(0, 1, 3, 2, 4, 5) if mode == "DCR" else parts.transpose(0, 1, 4, 2, 5, 3)
        wide = parts.reshape(n, h * side, w * side, c)
        first = Tensor(dtype, deep.elements.transpose(0, 3, 1, 2))
        both = f'block_size = {side}, mode = "{mode}"'
        cases.add("DepthToSpace", [deep], Result(dtype, wide), both)
        cases.add("DepthToSpace", [first], Result(dtype, wide.transpose(0, 3, 1, 2)), both + ', data_format = "NCHW"')
        if mode == "DCR":
            back = f"block_size = {side}"
            cases.add("SpaceToDepth", [Tensor(dtype, wide)], Result(dtype, deep.elements), back)
            cases.add("SpaceToDepth", [Tensor(dtype, wide.transpose(0, 3, 1, 2))], Result(dtype, first.elements),
                      back + ', data_format = "NCHW"')


def add_more_parts(cases):
    x = uniform("f32", 6, 9, 5)
    for begin, end, axes, step, at in (
            ((1, 0), (6, 9), None, (2, 3), np.s_[1:6:2, 0:9:3]), ((-2,), (2 ** 31 - 1,), (1,), None, np.s_[:, -2:]),
            ((100,), (-100,), (-1,), (-2,), np.s_[..., ::-2]), ((3, 1), (9, 4), (2, 0), (1, 1), np.s_[1:4, :, 3:9]),
            ((4,), (2,), (0,), (1,), np.s_[4:2])):
        numbers = [ints(begin), ints(end), axes and ints(axes), step and ints(step)]
        cases.add("StridedSliceV3", [x, *numbers], Result("f32", x.elements[at]),
                  claim=f"StridedSliceV3 {begin} {end} {axes} {step}")
    for dtype in DTYPES:
        x, value, pads = any(dtype, 3, 4), any(dtype), ((1, 2), (2, 3))
        cases.add("PadV2", [x, ints(pads), value],
                  Result(dtype, np.pad(x.elements, pads, constant_values=value.elements)))
        for mode, most in (("reflect", pads), ("symmetric", ((3, 2), (4, 0)))):
            cases.add("MirrorPad", [x, ints(most)], Result(dtype, np.pad(x.elements, most, mode)),
                      f'mode = "{mode.upper()}"')


def add_made(cases):
    x = Tensor("i32", [[0, 2, -1], [3, 4, 1]])
    for dtype in DTYPES:
        on, off = (Tensor(dtype, n) for n in (1, 0))
        for axis in (-1, 0, 1):
            hot = np.moveaxis(x.elements[..., None] == np.arange(4), -1, axis)
            cases.add("OneHot", [x, ints([4]), on, off], Result(dtype, np.where(hot, on.elements, off.elements)),
                      f"axis = {axis}")
    for dtype, start, limit, delta in (("i32", 3, 20, 4), ("i64", 5, -6, -2), ("u8", 250, 255, 3), ("i16", 4, 4, 1),
                                       ("u64", 7, 9, 1), ("f32", 0.5, 3, 0.3), ("f64", 1, -1, -0.25), ("f16", 0, 3, 0.5)):
        says = [Tensor(dtype, n) for n in (start, limit, delta)]
        start, limit, delta = (float(t.elements) if dtype[0] == "f" else int(t.elements) for t in says)
        cases.add("Range", says, Result(dtype, np.arange(start, limit, delta)), claim=f"Range {dtype} {start} {limit} {delta}")
    for dtype, number in (("f32", 0), ("f16", 1), ("i8", 2), ("bool", 12), ("f64", 11)):
        cases.add("Eye", [], Result(dtype, np.eye(5)), f"num_rows = 5, dtype = {number}")
        cases.add("Eye", [], Result(dtype, np.broadcast_to(np.eye(3, 7), (2, 2, 3, 7))),
                  f"num_rows = 3, num_columns = 7, batch_shape = [2, 2], dtype = {number}")
    for shape in ((3, 4, 5), (), (0, 2)):
        x = uniform("f16", *shape)
        cases.add("Shape", [x], Result("i32", np.array(shape, int)))
        cases.add("Shape", [x], Result("i64", np.array(shape, int)), "dtype = 9")
        cases.add("Size", [x], Result("i64", np.array(x.elements.size)), "dtype = 9")
        cases.add("Rank", [x], Result("i32", np.array(len(shape))))


def add_places(cases):
    """Of slices by rows of indices, and of elements along an axis."""
    for dtype in DTYPES + ("f64", "bf16", "u32"):
        x = any(dtype, 4, 5, 3)
        for axis, shape in ((0, (2, 5, 3)), (1, (4, 7, 2)), (-1, (1, 1, 9))):
            index = integers("i64", *shape, low=-x.shape[axis], high=x.shape[axis] - 1)
            part = x.elements[tuple(slice(n) if i != axis % 3 else slice(None) for i, n in enumerate(shape))]
            cases.add("GatherElements", [x, index], Result(dtype, np.take_along_axis(part, index.elements, axis)),
                      f"dim = {axis}")
        for depth, shape in ((1, (6,)), (2, (2, 2)), (3, ()), (0, (2,))):
            rows = np.stack([integers("i32", *shape, low=0, high=x.shape[i] - 1).elements for i in range(depth)], -1) \
                if depth else np.zeros(shape + (0,), int)
            taken = x.elements[tuple(rows[..., i] for i in range(depth))] if depth else np.stack([x.elements] * 2)
            cases.add("GatherNd", [x, ints(rows)], Result(dtype, taken), claim=f"GatherNd {dtype} {depth}")
            if depth:
                cases.add("GatherNd", [x, ints(rows - np.array(x.shape[:depth]))], Result(dtype, taken),
                          "negative_index_support = true")
        add_scatters(cases, x)


def add_scatters(cases, x):
    dtype = x.dtype
    wide = x.elements.astype(bool) if dtype == "bool" else x.elements
    for axis, shape in ((0, (3, 5, 3)), (1, (4, 2, 2)), (-1, (1, 1, 3))):
        order = np.argsort(uniform("f32", *(x.shape[axis] if i == axis % 3 else n for i, n in enumerate(shape))).elements, axis)
        index = Tensor("i64", np.take(order, range(shape[axis]), axis))
        updates, made = any(dtype, *shape), wide.copy()
        part = tuple(slice(n) if i != axis % 3 else slice(None) for i, n in enumerate(shape))
        inner = made[part].copy()
        np.put_along_axis(inner, index.elements, updates.elements, axis)
        made[part] = inner
        cases.add("ScatterElements", [x, index, updates], Result(dtype, made), f"axis = {axis}")
    if dtype == "bool":
        return
    index, updates = Tensor("i64", [[1, 1, -1, 0]]), any(dtype, 1, 4)
    row = any(dtype, 2, 5)
    for how, join in (("add", np.add), ("mul", np.multiply)):
        made = Tensor(dtype, row.elements.copy())
        for at, update in zip(index.elements[0], updates.elements[0]):
            made.elements[0, at] = Tensor(dtype, join(made.elements[0, at], update)).elements
        cases.add("ScatterElements", [row, index, updates], Result(dtype, made.elements),
                  f'axis = 1, reduction = "{how}"')
    for depth, shape in ((1, (6,)), (2, (2, 2)), (3, (5,))):
        rows = np.stack([integers("i32", *shape, low=-x.shape[i], high=x.shape[i] - 1).elements for i in range(depth)], -1)
        updates = any(dtype, *shape, *x.shape[depth:])
        flat = list(zip(rows.reshape(-1, depth).tolist(), updates.elements.reshape((-1,) + x.shape[depth:])))
        for op, join in (("Update", lambda a, b: b), ("Add", np.add), ("Sub", np.subtract), ("Max", np.maximum),
                         ("Min", np.minimum)):
            made = Tensor(dtype, x.elements.copy())
            for row, update in flat:
                made.elements[tuple(row)] = Tensor(dtype, join(made.elements[tuple(row)], update)).elements
            result = Result(dtype, made.elements)
            cases.add("TensorScatter" + op, [x, ints(rows), updates], result)
            if op in ("Update", "Add"):
                cases.add("ScatterNd" + op, [Tensor(dtype, x.elements), ints(rows), updates], result)
        made = Tensor(dtype, np.zeros(x.shape))
        for row, update in flat:
            made.elements[tuple(row)] = Tensor(dtype, made.elements[tuple(row)] + update).elements
        cases.add("ScatterNd", [ints(rows), updates, ints(x.shape)], Result(dtype, made.elements))


def add_collectives(cases):
    x = uniform("bf16", 4, 300)
    same = Result("bf16", x.elements)
    for op, attributes in (("HcomAllReduce", 'reduction = "sum", group = "g"'), ("AllReduce", ""),
                           ("HcomAllGather", 'rank_size = 1, group = "g"'), ("AllGather", ""),
                           ("HcomReduceScatter", 'reduction = "max", rank_size = 1'), ("ReduceScatter", ""),
                           ("HcomAllToAll", 'group = "g"'), ("AlltoAll", ""), ("AllToAll", "")):
        cases.add(op, [x], same, attributes)


def add(cases):
    add_axes(cases)
    add_parts(cases)
    add_joined(cases)
    add_gathers(cases)
    add_collectives(cases)
    add_more_axes(cases)
    add_more_parts(cases)
    add_made(cases)
    add_places(cases)
    var, updates = uniform("f32", 2, 5, 3), uniform("f32", 2, 4, 3)
    places = [4, 0, 1, 4]
    wanted = var.elements.copy()
    for n, place in enumerate(places):
        wanted[:, place] = updates.elements[:, n]
    cases.add("ScatterUpdate", [var, Tensor("i32", places), updates], Result("f32", wanted), "axis = 1")
    ref, value = integers("i16", 4, 5), integers("i16", 4, 5)
    cases.add("Assign", [ref, value], Result("i16", value.elements), updates=0)
