"""Random nodes of TensorFlow with their operands, and the GraphDefs that have them."""

import zlib

import numpy as np
from judge_kernels.draws import Draw
from judge_kernels.numbers import FLOATS, INTS, Tensor, rounded, to_bits

DT = {"f32": "FLOAT", "f64": "DOUBLE", "f16": "HALF", "bf16": "BFLOAT16", "bool": "BOOL",
      **{name: name.replace("i", "INT").replace("u", "UINT") for name in INTS}}
FIELD = {"f32": "float_val", "f64": "double_val", "f16": "half_val", "bf16": "half_val", "bool": "bool_val",
         "i64": "int64_val", "u32": "uint32_val", "u64": "uint64_val"}  # of TensorProto; int_val for all others


class Node(Draw):
    """A node of an operator with its operands, which its model draws in their order, and the model's answers."""

    def __init__(self, op, seed, models):
        super().__init__([seed, zlib.crc32(op.encode())])
        self.op, self.label, self.attrs, self.operands = op, f"{op} {seed}", {}, []
        self.before, self.after, self.inputs = [], [], None  # other nodes, and inputs that are not the operands
        self.outputs = None  # the numbers of those that have answers, where the operator has several
        self.unknown = 0.5 if self.chance(0.08) else 0  # how many dimensions of placeholders are -1
        with np.errstate(all="ignore"):
            answers = models[op](self)
        self.answers = answers if isinstance(answers, list) else [answers]

    def attr(self, value, name, default=None):
        """Has an attribute; one that has its default value may be left out. The value."""
        if value != default or self.chance():
            kind = {bool: "b", int: "i", float: "f", str: "s"}
            text = {bool: lambda v: str(v).lower(), str: lambda v: f'"{v}"'}

            def spelled(v):
                return f"{kind[type(v)]}: {text.get(type(v), repr)(v)}"

            listed = " ".join(map(spelled, value)) if isinstance(value, list) else ""
            self.attrs[name] = f"list {{ {listed} }}" if isinstance(value, list) else spelled(value)
        return value

    def flag(self, name, default=False):
        return self.attr(self.chance(), name, default)

    def type(self, dtype, *names):
        for name in names:
            self.attrs[name] = f"type: DT_{DT[dtype]}"
        return dtype

    def dtype(self, choices, *names):
        """One of some dtypes, which attributes have; T if none is named."""
        return self.type(self.pick(choices.split()), *(names or ["T"]))

    def give(self, dtype, data, constant=0.15):
        """One more operand; `constant` is how often it is one. Its elements, floats as f64."""
        tensor = Tensor(dtype, rounded(dtype, data) if dtype in FLOATS else data, self.chance(constant))
        self.operands.append(tensor)
        return tensor.data.astype(np.float64) if dtype in FLOATS else tensor.data

    def number(self, values, name=None, choices="i32 i64"):
        """One more operand that says what the node does, nearly always a constant."""
        dtype = self.pick(choices.split())
        if name:
            self.type(dtype, name)
        self.give(dtype, values, constant=0.9)
        return values

    def data(self, dtype, shape, kind="plain"):
        """One more operand with elements of a kind."""
        return self.give(dtype, self.elements(dtype, shape, kind))

    def elements(self, dtype, shape, kind):
        if dtype == "bool":
            return self.random.random(shape) < 0.5
        if kind == "distinct":
            return self.random.permutation(int(np.prod(shape))).reshape(shape) - 3
        if dtype in INTS:
            low = {"positive": 1, "nonzero": 1, "count": 0}.get(kind, -7 if dtype[0] == "i" else 0)
            made = self.random.integers(low, 7, shape, endpoint=True)
            negative = kind == "nonzero" and dtype[0] == "i"
            return np.where(self.random.random(shape) < 0.5, -made, made) if negative else made
        uniform = {"unit": (-0.99, 0.99), "positive": (0.1, 6), "above1": (1, 6), "narrow": (-2, 2)}
        if kind in uniform:
            return self.random.uniform(*uniform[kind], shape)
        if kind == "special":
            return self.random.choice([np.nan, np.inf, -np.inf, 0, 1.5, -2], shape)
        if kind == "powers":
            return self.random.choice([1, -1, 2, 0.5], shape)
        if kind == "zeros":
            return self.random.choice([0, 1.5, -2, 4], shape)
        made = self.random.standard_normal(shape) * 3
        if kind == "plain":
            return made
        made = np.clip(np.rint(made), -8, 8)
        return np.where(made == 0, 3, made) if kind == "nonzero" else made  # else "whole"

    def size(self, empty=False):
        return int(self.random.choice([1, self.int(2, 5), self.int(2, 9), self.int(10, 40)], p=[0.2, 0.4, 0.3, 0.1]))

    def shape(self, low=0, high=4, elements=900, empty=False):
        return super().shape(low, high, elements, empty)

    def text(self):
        """The GraphDef."""
        nodes, names = [], []
        for i, tensor in enumerate(self.operands):
            names.append(f"x{i}")
            if tensor.constant:
                nodes.append(node_text(names[-1], "Const", [], {
                    "dtype": f"type: DT_{DT[tensor.dtype]}", "value": f"tensor {{ {self.tensor_text(tensor)} }}"}))
            else:
                shape = [-1 if self.chance(self.unknown) else n for n in tensor.shape]
                nodes.append(node_text(names[-1], "Placeholder", [], {
                    "dtype": f"type: DT_{DT[tensor.dtype]}", "shape": f"shape {{ {dims_text(shape)} }}"}))
        nodes += self.before
        nodes.append(node_text("y", self.op, self.inputs or names, self.attrs))
        for i in self.outputs or []:
            nodes.append(node_text(f"r{i}", "Identity", [f"y:{i}" if i else "y"], {
                "T": f"type: DT_{DT[self.answers[self.outputs.index(i)].dtype]}"}))
        return "\n".join(nodes + self.after) + "\nversions { producer: 1087 }\n"

    def tensor_text(self, tensor):
        """A TensorProto: elements one by one, the last for all that follow it, or bytes."""
        head = f"dtype: DT_{DT[tensor.dtype]} tensor_shape {{ {dims_text(tensor.shape)} }}"
        array = to_bits(tensor)
        if tensor.data.size and self.chance(0.4):
            octets = "".join(f"\\{byte:03o}" for byte in np.ascontiguousarray(array).tobytes())
            return f'{head} tensor_content: "{octets}"'
        if tensor.dtype in ("f16", "bf16"):
            array = array.view(np.uint16)
        listed = array.ravel().tolist()
        while len(listed) > 1 and listed[-1] == listed[-2]:
            listed.pop()
        words = [str(value).lower() for value in listed]
        return head + "".join(f" {FIELD.get(tensor.dtype, 'int_val')}: {word}" for word in words)


def dims_text(shape):
    return " ".join(f"dim {{ size: {n} }}" for n in shape)


def node_text(name, op, inputs, attrs):
    listed = "".join(f'  input: "{each}"\n' for each in inputs)
    listed += "".join(f'  attr {{ key: "{key}" value {{ {value} }} }}\n' for key, value in attrs.items())
    return f'node {{\n  name: "{name}"\n  op: "{op}"\n{listed}}}'
