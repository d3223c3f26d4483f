"""Cases of sample kernels against NumPy: what goes in, what must come out, and how exactly.

Needs NumPy. A case is one op; many of them are one graph, which is run once. A tensor is a Tensor: its
dtype, and its elements in a NumPy array of a dtype that has room for them (bf16: float32).
"""

import os

import numpy as np

import tap

NUMPY = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64, "bool": np.bool_,
         "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
# The bits behind the leading one, and the exponent of the smallest normal number.
FLOATS = {"f16": (10, -14), "bf16": (7, -126), "f32": (23, -126), "f64": (52, -1022)}

random = np.random.default_rng(1)


def to_bf16(x):
    """float32 that bf16 has: rounded to the nearest, ties to even."""
    x = np.asarray(x, np.float32)
    bits = x.reshape(-1).view(np.uint32).astype(np.int64)
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000
    return np.where(np.isnan(x), np.float32(np.nan), bits.astype(np.uint32).view(np.float32).reshape(x.shape))


class Tensor:
    """A tensor of this dtype; what it does not have is rounded, once."""

    def __init__(self, dtype, elements, format=""):
        self.dtype, self.format = dtype, format
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = np.asarray(elements)
            rounded = to_bf16(rounded.astype(np.float32)) if dtype == "bf16" else rounded
            self.elements = rounded.astype(NUMPY[dtype])

    @property
    def f32(self):
        return self.elements.astype(np.float32)

    @property
    def computed(self):
        """As kernels compute with floats: f32 but for f64."""
        return self.f64 if self.dtype == "f64" else self.f32

    @property
    def f64(self):
        return self.elements.astype(np.float64)

    @property
    def shape(self):
        return self.elements.shape

    def text(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]{self.format}"

    def save(self, path):
        raw = self.elements
        if self.dtype == "bf16":
            raw = (raw.reshape(-1).view(np.uint32) >> 16).astype(np.uint16).reshape(self.shape)
        np.save(path, raw.copy(order="C"))

    def load(self, path):
        """The elements of a file that are of this dtype."""
        raw = np.load(path)
        if self.dtype == "bf16":
            bits = raw.reshape(-1).view(np.uint16).astype(np.uint32) << 16
            raw = bits.view(np.float32).reshape(raw.shape)
        return raw


def uniform(dtype, *shape, low=-2.0, high=2.0):
    return Tensor(dtype, random.uniform(low, high, shape))


def integers(dtype, *shape, low=-100, high=100):
    return Tensor(dtype, random.integers(low, high, shape, endpoint=True))


def ulp(dtype, magnitude):
    """The distance of neighbours at this magnitude."""
    bits, smallest = FLOATS[dtype]
    exponent = np.frexp(np.maximum(np.abs(magnitude), 2.0 ** smallest))[1] - 1
    return np.ldexp(1.0, np.maximum(exponent, smallest) - bits)


class Result:
    """What must come out: at most `ulps` from it, of the size that the dtype has at the element or at
    `magnitude`, which is that of what was added up. An integer is so many off."""

    def __init__(self, dtype, elements, ulps=0, magnitude=0.0):
        self.wanted = np.asarray(elements)
        self.tensor = Tensor(dtype, self.wanted)
        self.ulps, self.magnitude = ulps, magnitude

    def difference(self, found):
        """How `found` differs, in words; None where it is right."""
        wanted = self.tensor.elements
        if found.shape != wanted.shape:
            return f"has the shape {found.shape} instead of {wanted.shape}"
        if self.tensor.dtype not in FLOATS:
            far = np.abs(found.astype(np.float64) - wanted.astype(np.float64))
            wrong = found != wanted if self.ulps == 0 else far > self.ulps
        else:
            with np.errstate(invalid="ignore", over="ignore"):
                size = ulp(self.tensor.dtype, np.maximum(np.abs(np.nan_to_num(wanted.astype(np.float64))),
                                                         self.magnitude))
                far = np.abs(found.astype(np.float64) - wanted.astype(np.float64)) / size
            same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
            wrong = ~same & ~(far <= self.ulps)
        if not wrong.any():
            return None
        at = np.unravel_index(np.argmax(wrong), wrong.shape)
        distance = f", {far[at]:.3g} ulps away, {np.nanmax(far):.3g} at most"
        return (f"{np.count_nonzero(wrong)} of {wrong.size} differ, the first at {list(map(int, at))}: "
                f"{found[at]} instead of {wanted[at]}{distance}")


class Op:
    """One case."""

    def __init__(self, type, operands, results, attributes, claim, updates):
        self.type, self.operands, self.results = type, operands, results
        self.attributes, self.updates = attributes, updates
        of = " ".join(self.type_text(operand) for operand in operands)
        self.claim = f"{type} {claim or f'{of} {attributes}'}"

    @staticmethod
    def type_text(operand):
        if isinstance(operand, list):
            return "[" + ", ".join(tensor.text() for tensor in operand) + "]"
        return operand.text() if operand else "none"

    def tensors(self):
        return [tensor for operand in self.operands if operand is not None
                for tensor in (operand if isinstance(operand, list) else [operand])]

    def names(self, number):
        """The values that have the results' elements."""
        if self.updates is not None:
            return [f"x{number}_{self.updates}"]
        return [f"y{number}_{place}" for place in range(len(self.results))]

    def text(self, number):
        values, n = [], 0
        for operand in self.operands:
            count = len(operand) if isinstance(operand, list) else operand is not None
            names = ", ".join(f"%x{number}_{n + i}" for i in range(count))
            values.append(f"[{names}]" if isinstance(operand, list) else names or "none")
            n += count
        call = f"{self.type}({', '.join(values)})" + (f" {{{self.attributes}}}" if self.attributes else "")
        if self.updates is not None:
            return call
        names = ", ".join("%" + name for name in self.names(number))
        types = ", ".join(result.tensor.text() for result in self.results)
        return f"{names} = {call} : {types if len(self.results) == 1 else f'({types})'}"


class Cases:
    """Cases of a family, of which so many are run in one graph."""

    AT_ONCE = 300

    def __init__(self):
        self.ops = []

    def add(self, op, operands, results, attributes="", claim="", updates=None):
        """`operands`: a Tensor, a list of them, or None. `updates`: the operand that the op writes, in
        place of having the result."""
        self.ops.append(Op(op, operands, results if isinstance(results, list) else [results], attributes,
                           claim, updates))

    def types(self):
        return {op.type for op in self.ops}

    def run(self, name, folder):
        """Runs all of them, on two devices, and reports a case for each."""
        for start in range(0, len(self.ops), self.AT_ONCE):
            part = Cases()
            part.ops = self.ops[start:start + self.AT_ONCE]
            part.run_together(f"{name} from {start} on", folder)

    def run_together(self, name, folder):
        found = [self.run_on(name, folder, device) for device in ("aic = 4, aiv = 8", "aic = 1, aiv = 3")]
        for number, op in enumerate(self.ops):
            if found[0] and found[1]:
                faults = [f"result {place} {fault}" for place, result in enumerate(op.results)
                          for fault in [result.difference(found[0][number, place])] if fault]
                faults += [f"result {place} is another one on other cores" for place in range(len(op.results))
                           if found[0][number, place].tobytes() != found[1][number, place].tobytes()]
                tap.check(op.claim, not faults, "\n".join(faults) + "\n" + op.text(number))

    def run_on(self, name, folder, device):
        """What came out, by the number of the op and the place of the result; None where nothing did."""
        path = os.path.join(folder, "cases.skir")
        text, arguments = self.graph(folder, device)
        with open(path, "w") as file:
            file.write(text)
        done = tap.skirc("run", path, "--repeat=1", *arguments, timeout=300)
        if not tap.check(f"{name} run on {device}", done.returncode == 0, done.stderr[:6000]):
            return None
        return {(number, place): result.tensor.load(os.path.join(folder, f"{number}_{place}.npy"))
                for number, op in enumerate(self.ops) for place, result in enumerate(op.results)}

    def graph(self, folder, device):
        """The text of a graph with all of them, and the options that name its files."""
        params, lines, arguments = [], [], []
        for number, op in enumerate(self.ops):
            for place, tensor in enumerate(op.tensors()):
                file = os.path.join(folder, f"x{number}_{place}.npy")
                params.append(f"%x{number}_{place}: {tensor.text()}")
                tensor.save(file)
                arguments += ["-i", f"x{number}_{place}={file}"]
            for place, value in enumerate(op.names(number)):
                arguments += ["-o", f"{value}={os.path.join(folder, f'{number}_{place}')}.npy"]
            lines.append("    " + op.text(number) + "\n")
        return (f'skir 1\ntarget "cases" {{{device}}}\ngraph @cases({", ".join(params)}) -> () {{\n'
                f"  scope @s {{\n{''.join(lines)}  }}\n}}\n", arguments)
