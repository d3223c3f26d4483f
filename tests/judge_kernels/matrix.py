"""What the products of matrices compute: sums in f32 in the order of k, rounded once."""

import numpy as np

from .draws import FLOAT, Op

WIDE = ["f64", "i32", "i64"]
from .numbers import FLOATS, Answer, Tensor, rounded
from .table import also, judges

ZERO = np.float32(0)


def product(x, y, bias=ZERO):
    """The sums, in f32 or in the type itself, of [..., m, k] and [..., k, n], each of which begins at 0, plus a bias."""
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    total = np.zeros(batch + (x.shape[-2], y.shape[-1]), x.dtype)
    for i in range(x.shape[-1]):
        total = total + x[..., :, i:i + 1] * y[..., i:i + 1, :]
    return total + bias if bias is not ZERO else total


def turned(tensor):
    """The tensor as it is stored for a transposed operand."""
    return Tensor(tensor.dtype, np.swapaxes(tensor.data, -1, -2).copy())


def matrices(draw, dtype, batches=((), ())):
    m, k, n = (draw.pick([1, draw.int(0, 9), draw.int(10, 70)]) for _ in range(3))
    kind = draw.pick(["plain", "whole", "plain", "special"]) if dtype in FLOATS else None
    return (draw.tensor(dtype, tuple(batches[0]) + (m, k), kind),
            draw.tensor(dtype, tuple(batches[1]) + (k, n), kind))


def stored(draw, x, y, names, nz):
    """Both as they are given to the op, and the attributes that say so."""
    operands, attrs = [], {}
    for tensor, name in zip((x, y), names):
        transposed = draw.chance(0.3)
        operands.append(turned(tensor) if transposed else Tensor(tensor.dtype, tensor.data))
        attrs[name] = transposed or draw.maybe(False)
        if nz and tensor.dtype in FLOAT and tensor.data.ndim == 2 and draw.chance(0.3):
            operands[-1].form = "FRACTAL_NZ"
    return operands, attrs


@judges("MatMul")
def mat_mul(draw):
    dtype = draw.pick(FLOAT * 2 + ["f64", "i32"])
    batch = draw.pick([(), (), (2,), (3, 2)])
    x, y = matrices(draw, dtype, (batch, batch))
    operands, attrs = stored(draw, x, y, ("transpose_x1", "transpose_x2"), True)
    made = draw.pick([dtype, "f32"]) if dtype in FLOAT else dtype
    return Op(operands, stored_as(made, product(x.data, y.data)), attrs)


def stored_as(dtype, total):
    return Answer(dtype, rounded(dtype, total) if dtype in FLOATS else total)


def with_bias(draw, x, y, operands, attrs):
    made, of_bias = ((x.dtype if x.dtype in WIDE else draw.pick(FLOAT)) for _ in range(2))
    offset, bias = [], draw.tensor(of_bias, y.shape[-1:]) if draw.chance() else None
    total = product(x.data, y.data, bias.data if bias else ZERO)
    if bias or draw.chance():
        offset = [bias] + ([None] if draw.chance() else [])
    return Op(operands + offset, stored_as(made, total), attrs)


@judges("MatMulV2")
def mat_mul_v2(draw):
    batch = draw.pick([(), (), (2,)])
    x, y = matrices(draw, draw.pick(FLOAT * 2 + WIDE), (batch, batch))
    return with_bias(draw, x, y, *stored(draw, x, y, ("transpose_x1", "transpose_x2"), True))


@judges("BatchMatMul", "BatchMatMulV2")
def batch_mat_mul(draw, op_type):
    dtype = draw.pick(FLOAT * 2 + (WIDE if op_type == "BatchMatMulV2" else ["f64", "i32"]))
    whole = tuple(draw.int(1, 3) for _ in range(draw.int(0, 3)))
    x, y = matrices(draw, dtype, (draw.part(whole), draw.part(whole)))
    operands, attrs = stored(draw, x, y, ("adj_x1", "adj_x2"), False)
    if op_type == "BatchMatMulV2":
        return with_bias(draw, x, y, operands, attrs)
    return Op(operands, stored_as(dtype, product(x.data, y.data)), attrs)


# ---- Groups ----

class Groups:
    """A random op: the rows of each group, and how they are said."""

    def __init__(self, draw):
        self.draw, self.count = draw, draw.int(1, 4)
        self.listed = draw.chance()  # the groups are tensors of x
        self.sizes = [draw.int(0, 6) for _ in range(self.count)]
        self.stacked = draw.chance()  # weight is one tensor
        self.k, self.n = draw.int(1, 20), draw.int(1, 20)
        self.together = draw.chance()
        self.behind = draw.int(0, 3) if self.together and not self.listed else 0
        self.dtype, self.made = draw.pick(FLOAT), draw.pick(FLOAT)

    def widths(self, alike, size):
        """A dimension of each group: the same of all, or its own."""
        return [size if alike else self.draw.int(1, 20) for _ in range(self.count)]

    def draw_operands(self):
        draw = self.draw
        ks = self.widths(self.stacked or not self.listed, self.k)
        ns = self.widths(self.stacked or self.together, self.n)
        self.rows = [draw.tensor(self.dtype, (m, k), "plain") for m, k in zip(self.sizes, ks)]
        self.weights = [draw.tensor(self.dtype, (k, n), "plain") for k, n in zip(ks, ns)]
        bias = draw.pick(FLOAT)
        self.bias = [draw.tensor(bias, (n,), "plain") for n in ns] if draw.chance() else None

    def operands(self, transposed):
        x = self.rows
        if not self.listed:
            rest = self.draw.tensor(self.dtype, (self.behind, self.k), "plain")
            x = [Tensor(self.dtype, np.concatenate([part.data for part in self.rows + [rest]]))]
        weights = [turned(weight) for weight in self.weights] if transposed else self.weights
        bias = self.bias or []
        if self.stacked:
            weights, bias = self.as_one(weights), self.as_one(bias)
        return [x, weights, bias]

    def as_one(self, parts):
        return [Tensor(parts[0].dtype, np.stack([part.data for part in parts]))] if parts else []

    def answers(self):
        biases = [part.data for part in self.bias] if self.bias else [ZERO] * self.count
        made = [rounded(self.made, product(x.data, weight.data, bias))
                for x, weight, bias in zip(self.rows, self.weights, biases)]
        if self.together:
            rest = np.zeros((self.behind, self.n), np.float32)
            made = [np.concatenate(made + [rest])]
        return [Answer(self.made, part) for part in made]


@judges("GroupedMatmul")
def grouped(draw):
    groups = Groups(draw)
    groups.draw_operands()
    transposed = draw.chance(0.3)
    operands = groups.operands(transposed)
    kind = draw.pick([None, 0, 1])
    lengths = groups.sizes if kind == 1 else np.cumsum(groups.sizes)
    says = not groups.listed and (groups.count > 1 or draw.chance())
    if says:
        lengths = Tensor("i64", lengths, constant=draw.chance())
        operands.append(("group_list", lengths))
    elif not groups.listed:
        groups.behind = 0
        return grouped(draw)
    attrs = {"split_item": draw.pick([2, 3]) if groups.together else draw.pick([None, 0, 1]),
             "group_list_type": kind if says else None,
             "transpose_weight": transposed or draw.maybe(False),
             "group_type": draw.pick([0, None]) if says else draw.pick([-1, None])}
    return Op(operands, groups.answers(), attrs)


also("GroupedMatMul", "GroupedMatmul")


# ---- Quantised ----

@judges("QuantBatchMatmulV3")
def quant_batch_matmul(draw):
    m, k, n = (draw.pick([1, draw.int(0, 9), draw.int(10, 70)]) for _ in range(3))
    x, y = draw.tensor("i8", (m, k)), draw.tensor("i8", (k, n))
    if draw.chance(0.4):
        y.form = "FRACTAL_NZ"
    scale = draw.tensor("f32", (n,), draw.pick(["plain", "special"]))
    bias = draw.tensor("i32", (n,)) if draw.chance() else None
    by_row = draw.tensor("f32", (m,), "plain") if draw.chance() else None
    total = x.data.astype(np.int32) @ y.data.astype(np.int32) + (bias.data if bias else 0)
    made = total.astype(np.int32).astype(np.float32) * scale.data
    made = made * by_row.data[:, None] if by_row else made
    dtype = draw.pick(["f16", "bf16"])
    return Op([x, y, scale, None, bias, by_row], Answer(dtype, rounded(dtype, made)))
