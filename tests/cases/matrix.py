"""Matrix products: in f32, one product after the other in the order of k."""

import numpy as np

from numpy_cases import Result, Tensor, integers, to_bf16, uniform

FLOATS = ("f32", "f16", "bf16")


def product(a, b):
    """The f32 sums in the order of k, exactly."""
    a, b = a.astype(np.float32), b.astype(np.float32)
    sums = np.zeros(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + (a.shape[-2], b.shape[-1]),
                    np.float32)
    for k in range(a.shape[-1]):
        sums += a[..., :, k, None] * b[..., None, k, :]
    return sums


def turned(x):
    return np.swapaxes(x, -1, -2)


def add_mat_mul(cases):
    for dtype in FLOATS:
        for m, k, n in ((5, 7, 3), (1, 130, 33), (67, 1, 9), (4, 0, 4)):
            a, b = uniform(dtype, m, k), uniform(dtype, k, n)
            cases.add("MatMul", [a, b], Result(dtype, product(a.f32, b.f32)))
        a, b = uniform(dtype, 2, 7, 5), uniform(dtype, 2, 4, 7)
        wanted = product(turned(a.f32), turned(b.f32))
        cases.add("MatMul", [a, b], Result("f32", wanted), "transpose_x1, transpose_x2")


def add_batched(cases):
    for dtype in FLOATS:
        for left, right in (((3, 1, 4, 5), (2, 5, 6)), ((2, 7, 9), (9, 3)), ((8, 9), (2, 2, 9, 1)),
                            ((2, 0, 3, 4), (4, 2))):
            a, b = uniform(dtype, *left), uniform(dtype, *right)
            wanted = product(a.f32, b.f32)
            cases.add("BatchMatMul", [a, b], Result(dtype, wanted))
            bias = uniform(dtype, right[-1])
            cases.add("BatchMatMulV2", [Tensor(dtype, turned(a.elements)), b, bias],
                      Result(dtype, wanted + bias.f32), "adj_x1")
        a, b = uniform(dtype, 5, 7), uniform(dtype, 6, 7)
        wanted = product(a.f32, turned(b.f32))
        cases.add("MatMulV2", [a, b], Result(dtype, wanted), "transpose_x2")
        bias = uniform("f32", 6)
        cases.add("MatMulV2", [a, b, bias], Result("f32", wanted + bias.f32), "transpose_x2")
        cases.add("BatchMatMul", [a, b], Result(dtype, wanted), "adj_x2")


def add_wide(cases):
    """Of f64, and of integers, which wrap."""
    for dtype in ("f64", "i32", "i64"):
        a, b = (integers(dtype, *shape, low=-9, high=9) for shape in ((2, 5, 7), (2, 7, 4)))
        wanted = a.elements @ b.elements
        x, y = Tensor(dtype, turned(a.elements)), Tensor(dtype, turned(b.elements))
        cases.add("BatchMatMulV2", [x, y], Result(dtype, wanted), "adj_x1, adj_x2")
        cases.add("BatchMatMulV2", [a, Tensor(dtype, b.elements[1]), Tensor(dtype, [1, 2, 3, 4])],
                  Result(dtype, a.elements @ b.elements[1] + [1, 2, 3, 4]))
        cases.add("MatMulV2", [Tensor(dtype, a.elements[0]), Tensor(dtype, b.elements[0])], Result(dtype, wanted[0]))
        if dtype != "i64":
            cases.add("MatMul", [x, y], Result(dtype, wanted), "transpose_x1, transpose_x2")
            cases.add("BatchMatMul", [a, b], Result(dtype, wanted))
    a, b = uniform("f64", 3, 50), uniform("f64", 50, 3)
    cases.add("MatMul", [a, b], Result("f64", a.elements @ b.elements, 8, 50))
    large = Tensor("i32", [[2 ** 30, 2 ** 30]])
    cases.add("MatMul", [large, Tensor("i32", [[3], [2]])], Result("i32", [[2 ** 30]]))


def add_grouped(cases):
    sizes = [3, 0, 70, 1]
    ends = np.cumsum(sizes)
    for dtype in FLOATS:
        x, w = uniform(dtype, 80, 20), uniform(dtype, 4, 20, 33)
        bias = uniform(dtype, 4, 33)
        parts = [product(rows, matrix) for rows, matrix in zip(np.split(x.f32, ends)[:4], w.f32)]
        rest = np.zeros((80 - ends[-1], 33), np.float32)
        wanted = np.concatenate(parts + [rest])
        with_bias = np.concatenate([part + row for part, row in zip(parts, bias.f32)] + [rest])
        none = [[]] * 4
        matrices = [Tensor(dtype, matrix) for matrix in w.elements]
        turned_w = Tensor(dtype, turned(w.elements))
        cases.add("GroupedMatmul", [[x], [w], [], *none, Tensor("i64", ends)], Result(dtype, wanted),
                  "split_item = 3, group_type = 0")
        cases.add("GroupedMatmul", [[x], matrices, [bias], *none, Tensor("i64", sizes)],
                  Result(dtype, with_bias), "split_item = 2, group_type = 0, group_list_type = 1")
        cases.add("GroupedMatMul", [[x], [turned_w], [], *none, Tensor("i64", ends)], Result("f32", wanted),
                  "split_item = 3, group_type = 0, transpose_weight")
        apart = [product(r, m) for r, m in zip(np.split(x.f32, ends)[:4], w.f32)]
        cases.add("GroupedMatmul", [[x], [w], [], *none, Tensor("i64", ends)],
                  [Result(dtype, part) for part in apart], "group_type = 0")
        rows = [uniform(dtype, n, 20) for n in sizes]
        biases = [Tensor(dtype, row) for row in bias.elements]
        parts = [product(r.f32, m) + b for r, m, b in zip(rows, w.f32, bias.f32)]
        cases.add("GroupedMatmul", [rows, matrices, biases, *none], Result(dtype, np.concatenate(parts)),
                  "split_item = 2")
        cases.add("GroupedMatmul", [rows, matrices, [bias], *none], [Result(dtype, part) for part in parts],
                  "split_item = 0, group_type = -1")
        cases.add("GroupedMatmul", [rows[2:3], matrices[2:3], [], *none], Result(dtype, product(rows[2].f32, w.f32[2])))


def add_quantised(cases):
    x1, x2 = integers("i8", 9, 20), integers("i8", 20, 11)
    scale, token = uniform("f32", 11, low=0.001, high=0.01), uniform("f32", 9, low=0.5)
    bias = integers("i32", 11, low=-1000, high=1000)
    sums = x1.elements.astype(np.int32) @ x2.elements.astype(np.int32)
    for dtype in ("f16", "bf16"):
        plain = sums.astype(np.float32) * scale.elements
        cases.add("QuantBatchMatmulV3", [x1, x2, scale], Result(dtype, plain))
        whole = (sums + bias.elements).astype(np.float32) * scale.elements * token.elements[:, None]
        cases.add("QuantBatchMatmulV3", [x1, x2, scale, None, bias, token], Result(dtype, whole))


def add(cases):
    add_mat_mul(cases)
    add_batched(cases)
    add_wide(cases)
    add_grouped(cases)
    add_quantised(cases)
