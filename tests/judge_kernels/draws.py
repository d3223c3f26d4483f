"""Random operands: shapes, elements and attributes; and ops, each with what its results must be."""

import numpy as np

from .numbers import CARRIERS, FLOATS, INTS, Answer, Tensor, rounded, smallest_exponent

FLOAT = ["f32", "f16", "bf16"]
REAL = FLOAT + ["f64"]
NUMBER = REAL + list(INTS)
MOVED = NUMBER + ["bool"]


class Op:
    """An op of a graph. `operands` are tensors, None, lists of tensors, or pairs of a label and one
    of these; `answers` what its results must be. With `memory`, the number of an operand, it writes
    into that, whose memory its first result is; without saying so if that is `implied`. `guarded` is
    false where elements may be left. One that is `unfit` has numbers that skirc may refuse, if it
    knows them."""

    def __init__(self, operands, answers, attrs=None, memory=None, guarded=True):
        self.type = None
        self.operands = [operands] if isinstance(operands, Tensor) else list(operands)
        self.answers = answers if isinstance(answers, list) else [answers]
        self.attrs = {key: data for key, data in (attrs or {}).items() if data is not None}
        self.memory, self.guarded = memory, guarded
        self.nameless = self.implied = False
        self.unfit = not guarded

    def spoil(self, draw, place):
        """Has an integer operand say what cannot be, so that the results are left alone: 0, as they
        are where that is not an error."""
        operand = self.operands[place]
        tensor = operand[1] if isinstance(operand, tuple) else operand
        tensor.data.flat[draw.int(0, tensor.data.size - 1)] += 1000
        self.answers = [Answer(answer.dtype, np.zeros(answer.shape, CARRIERS[answer.dtype]))
                        for answer in self.answers]
        self.guarded, self.unfit = False, True


class Draw:
    """A source of random numbers."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def chance(self, share=0.5):
        return self.random.random() < share

    def pick(self, items):
        return items[self.random.integers(len(items))]

    def int(self, low, high):
        """From low to high, both of which can come."""
        return int(self.random.integers(low, high, endpoint=True))

    def maybe(self, value, share=0.5):
        """A value, or None: an attribute that is left out."""
        return value if self.chance(share) else None

    # Shapes

    def size(self, empty=True):
        """A dimension; seldom a long one."""
        kinds = [0, 1, self.int(2, 9), self.int(2, 9), self.int(10, 70), self.int(71, 400)]
        return int(self.random.choice(kinds, p=[0.04 * empty, 0.2, 0.3, 0.26, 0.16,
                                                0.08 - 0.04 * empty]))

    def shape(self, low=0, high=4, elements=6000, empty=True):
        rank = self.int(low, high)
        while True:
            shape = tuple(self.size(empty) for _ in range(rank))
            if np.prod(shape) <= elements:
                return shape

    def part(self, shape):
        """A shape that is broadcast to this one."""
        dims = [1 if self.chance(0.3) else n for n in shape]
        return tuple(dims[self.int(0, len(dims)):] if self.chance(0.3) else dims)

    def parts(self, count):
        """Shapes that are broadcast together, and what to."""
        shape = self.shape()
        parts = [shape if self.chance(0.4) else self.part(shape) for _ in range(count)]
        return parts, np.broadcast_shapes(*parts)

    def axis(self, rank, new=False):
        """An axis of a rank, also from the end; with `new`, of one more."""
        count = rank + new
        return self.int(-count, count - 1)

    def axes(self, rank, low=1):
        """Some axes, each once, some of them from the end, in any order."""
        count = self.int(min(low, rank), rank)
        chosen = self.random.permutation(rank)[:count]
        return [int(axis) - rank * self.chance(0.3) for axis in chosen]

    # Elements

    def floats(self, dtype, shape, kind=None):
        kind = kind or self.pick(["plain", "plain", "wide", "special", "whole"])
        normal = self.random.standard_normal(shape)
        if kind == "plain":
            return rounded(dtype, normal * self.pick([0.3, 2.0, 20.0]))
        if kind == "whole":
            return rounded(dtype, np.rint(normal * 3) / self.pick([1, 2, 4]))
        low = smallest_exponent(dtype) - FLOATS[dtype][0]
        span = self.random.uniform(low, FLOATS[dtype][1] - (dtype == "f64"), shape)
        made = np.copysign(2.0 ** span, normal)
        if kind == "special":
            values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, 2.0 ** low * 2])
            chosen = self.random.choice(values, shape)
            made = np.where(self.random.random(shape) < 0.3, chosen, normal)
        return rounded(dtype, made)

    def integers(self, dtype, shape, kind=None):
        limits = np.iinfo(INTS[dtype])
        kind = kind or self.pick(["small", "full", "extreme"])
        small = self.random.integers(max(limits.min, -7), 7, shape, endpoint=True)
        if kind == "small":
            return small.astype(INTS[dtype])
        full = self.random.integers(limits.min, limits.max, shape, INTS[dtype], endpoint=True)
        if kind == "full":
            return full
        edges = np.array([limits.min, limits.max, limits.max - 1, 0, 1], INTS[dtype])
        chosen = self.random.choice(edges, shape)
        return np.where(self.random.random(shape) < 0.5, chosen, full).astype(INTS[dtype])

    def tensor(self, dtype, shape, kind=None):
        if dtype == "bool":
            return Tensor(dtype, self.random.random(shape) < 0.5)
        make = self.floats if dtype in FLOATS else self.integers
        return Tensor(dtype, make(dtype, shape, kind))

    def tame(self, dtype, shape, scale=1.0):
        """Floats without extremes, for ops that add many of them; of which some are zero."""
        made = self.random.standard_normal(shape) * scale
        made = np.where(self.random.random(shape) < 0.05, 0, made)
        return Tensor(dtype, rounded(dtype, made))

    def numbers(self, values, scalar=False):
        """Integers that say what an op does: places, axes and so on."""
        dtype = self.pick(["i32", "i64"])
        data = np.array(values, CARRIERS[dtype])
        return Tensor(dtype, data.reshape(()) if scalar else data, constant=self.chance())

    def number(self, value):
        return self.numbers([value], scalar=self.chance())
