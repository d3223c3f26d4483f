"""Tensors of skir's data types in NumPy, their rounding, and when two are the same."""

import numpy as np

# Data type: mantissa bits with the hidden one, largest exponent, both of 1.x * 2^e.
FLOATS = {"f16": (11, 15), "bf16": (8, 127), "f32": (24, 127), "f64": (53, 1023)}
INTS = {f"{kind}{bits}": np.dtype(f"{kind}{bits // 8}")
        for kind in "iu" for bits in (8, 16, 32, 64)}
# What holds their elements: f16 and bf16 are f32 whose values have few bits.
CARRIERS = {"f16": np.float32, "bf16": np.float32, "f32": np.float32, "f64": np.float64,
            "bool": np.dtype(bool), **INTS}
DTYPES = list(CARRIERS)


def smallest_exponent(dtype):
    """That of the smallest normal number."""
    return 1 - FLOATS[dtype][1]


def quantum(dtype, values):
    """The distance of neighbours of the data type around each value, which is finite."""
    bits, _ = FLOATS[dtype]
    exponents = np.frexp(np.asarray(values, np.float64))[1] - 1
    return np.ldexp(1.0, np.maximum(exponents, smallest_exponent(dtype)) - (bits - 1))


def rounded(dtype, values):
    """Floats rounded once, to the nearest and to even, as the carrier of the data type."""
    values = np.asarray(values)
    if values.dtype == CARRIERS[dtype] and dtype in ("f32", "f64"):
        return values
    wide = values.astype(np.float64)
    finite = np.isfinite(wide)
    steps = quantum(dtype, np.where(finite, wide, 1))
    made = np.where(finite, np.rint(wide / steps) * steps, wide)
    largest = (2 - 2.0 ** (1 - FLOATS[dtype][0])) * 2.0 ** FLOATS[dtype][1]
    made = np.where(finite & (np.abs(made) > largest), np.copysign(np.inf, made), made)
    return made.astype(CARRIERS[dtype])


def wide_of_integers(values):
    """Integers as f64, of which the lowest bit stands for all that are lost, so that rounding to a
    narrower type than f64 is as if it were done once."""
    if values.dtype.itemsize < 8:
        return values.astype(np.float64)
    low = values & values.dtype.type(0xfff)
    odd = (values - low) | ((low != 0).astype(values.dtype) << values.dtype.type(12))
    large = np.abs(values.astype(np.float64)) >= 2.0 ** 53
    return np.where(large, odd, values).astype(np.float64)


def truncated(dtype, values):
    """Floats towards zero, as integers of a type, and which of them the type has."""
    limits = np.iinfo(INTS[dtype])
    whole = np.trunc(values.astype(np.float64))
    inside = (whole >= float(limits.min)) & (whole < float(limits.max) + (limits.bits < 64))
    return np.where(inside, whole, 0).astype(INTS[dtype]), inside


class Tensor:
    """Elements in their carrier. A constant one stands in the graph's text."""

    def __init__(self, dtype, data, constant=False, form="ND"):
        self.dtype, self.constant, self.form = dtype, constant, form
        self.data = np.asarray(data, CARRIERS[dtype], order="C")

    @property
    def shape(self):
        return self.data.shape

    def type_text(self):
        return type_text(self.dtype, self.shape) + (f":{self.form}" if self.form != "ND" else "")


def type_text(dtype, shape):
    return f"{dtype}[{', '.join(map(str, shape))}]"


class Answer:
    """What a result must be. `values` are in the carrier and exact, or, with `near`, what the real
    numbers are: then that many units in the last place of f32 are allowed (of f64 if that is the data type, and
    two more for the reference), and `error` besides, and the rounding to the data type. `written` says which elements there are; `signed` that -0 is not
    0."""

    def __init__(self, dtype, values, near=None, error=0.0, written=None, signed=True):
        self.dtype, self.values = dtype, np.asarray(values)
        self.near, self.error, self.written, self.signed = near, error, written, signed
        if near is None:
            assert self.values.dtype == CARRIERS[dtype], (dtype, self.values.dtype)

    @property
    def shape(self):
        return self.values.shape

    def wrong(self, found):
        """Where a result, in the carrier, is not this."""
        with np.errstate(all="ignore"):
            if self.near is None:
                bad = differing(found, self.values, self.signed)
            else:
                bad = self.far(found.astype(np.float64))
        return bad if self.written is None else bad & self.written

    def difference(self, array):
        """What is wrong with the array of a file, or ''."""
        descr = to_bits(Tensor(self.dtype, np.zeros(0))).dtype
        if array.dtype != descr:
            return f"dtype {array.dtype}, expected {descr}"
        if array.shape != self.shape:
            return f"shape {array.shape}, expected {self.shape}"
        found = from_bits(self.dtype, array)
        bad = self.wrong(found)
        if not bad.any():
            return ""
        first = np.unravel_index(np.argmax(bad), bad.shape)
        return (f"{np.count_nonzero(bad)} of {bad.size} elements differ, first "
                f"{[int(i) for i in first]}: {found[first]}, expected {self.values[first]}")

    def far(self, found):
        expected = self.values.astype(np.float64)
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        error = np.broadcast_to(self.error, expected.shape)
        finite = np.isfinite(expected)
        size = np.where(finite, expected, 0)
        if self.dtype in FLOATS:
            computed = "f64" if self.dtype == "f64" else "f32"
            near = self.near + 2 * (self.dtype == "f64")
            bound = error + 0.5001 * quantum(self.dtype, size) + near * quantum(computed, size)
            top = 2.0 ** (FLOATS[self.dtype][1] + (self.dtype != "f64"))
            found, expected = (np.clip(each, -top, top) for each in (found, expected))
        else:
            bound = error + 0.5 + self.near * quantum("f32", size)
            limits = np.iinfo(INTS[self.dtype])
            expected = np.clip(expected, limits.min, limits.max)
        return ~same & ~(np.abs(found - expected) <= bound)


def differing(found, expected, signed):
    bad = found != expected
    if found.dtype.kind == "f":
        bad &= ~(np.isnan(found) & np.isnan(expected))
        if signed:
            bad |= (found == 0) & (expected == 0) & (np.signbit(found) != np.signbit(expected))
    return bad


def to_bits(tensor):
    """The array that is written to a file."""
    if tensor.dtype == "f16":
        return tensor.data.astype(np.float16)
    if tensor.dtype == "bf16":
        bits = np.frombuffer(tensor.data.tobytes(), np.uint32) >> 16
        return bits.astype(np.uint16).view("V2").reshape(tensor.shape)
    return tensor.data


def from_bits(dtype, array):
    """The elements of a file in their carrier."""
    if dtype == "bf16":
        bits = np.frombuffer(array.tobytes(), np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(array.shape)
    return array.astype(CARRIERS[dtype], copy=False)
