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
    var, updates = uniform("f32", 2, 5, 3), uniform("f32", 2, 4, 3)
    places = [4, 0, 1, 4]
    wanted = var.elements.copy()
    for n, place in enumerate(places):
        wanted[:, place] = updates.elements[:, n]
    cases.add("ScatterUpdate", [var, Tensor("i32", places), updates], Result("f32", wanted), "axis = 1")
    ref, value = integers("i16", 4, 5), integers("i16", 4, 5)
    cases.add("Assign", [ref, value], Result("i16", value.elements), updates=0)
