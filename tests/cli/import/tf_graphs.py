"""Whole graphs of TensorFlow as people freeze them: imported, run, and compared with NumPy.

tests/checkers/tf_values.py draws nodes of each operator. Here are graphs whose shapes are computed, whose variables change,
and whose order matters.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.need_numpy()
import numpy as np
from checkers import imported

random = np.random.default_rng(29)
TYPES = {np.dtype(np.float32): ("DT_FLOAT", "float_val"), np.dtype(np.int32): ("DT_INT32", "int_val"),
         np.dtype(np.int64): ("DT_INT64", "int64_val"), np.dtype(np.bool_): ("DT_BOOL", "bool_val")}


def shape_text(shape):
    return " ".join(f"dim {{ size: {n} }}" for n in shape)


def attr_text(value):
    if isinstance(value, np.ndarray):
        dtype, field = TYPES[value.dtype]
        numbers = " ".join(f"{field}: {str(n).lower() if field == 'bool_val' else repr(n)}" for n in value.reshape(-1).tolist())
        return f"tensor {{ dtype: {dtype} tensor_shape {{ {shape_text(value.shape)} }} {numbers} }}"
    if isinstance(value, tuple):
        return f"shape {{ {shape_text(value)} }}"
    if isinstance(value, list):
        return f"list {{ {' '.join(map(attr_text, value))} }}"
    if isinstance(value, bool):
        return f"b: {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"{'i' if isinstance(value, int) else 'f'}: {value}"
    return f"type: {value}" if value.startswith("DT_") else f's: "{value}"'


class Graph:
    """Nodes as text, and the inputs that the run gets."""

    def __init__(self):
        self.nodes, self.inputs, self.numbered = [], {}, 0

    def node(self, op, *inputs, name=None, **attrs):
        if name is None:
            self.numbered += 1
            name = f"{op}_{self.numbered}"
        fields = [f'name: "{name}"', f'op: "{op}"'] + [f'input: "{given}"' for given in inputs]
        fields += [f'attr {{ key: "{key}" value {{ {attr_text(value)} }} }}' for key, value in attrs.items()]
        self.nodes.append(f"node {{ {' '.join(fields)} }}\n")
        return name

    def f32(self, op, *inputs, **attrs):
        return self.node(op, *inputs, T="DT_FLOAT", **attrs)

    def const(self, value, dtype=np.int32):
        value = np.asarray(value, dtype)
        return self.node("Const", dtype=TYPES[value.dtype][0], value=value)

    def input(self, name, array):
        self.inputs[name] = array
        return self.node("Placeholder", name=name, dtype=TYPES[array.dtype][0], shape=array.shape)

    def weight(self, *shape):
        array = random.standard_normal(shape).astype(np.float32)
        return self.const(array, np.float32), array

    def check(self, what, *expected, atol=1e-5):
        """Runs the graph, whose results are what nobody takes, in the order of the nodes."""
        with tempfile.TemporaryDirectory(prefix="skir-test.") as folder:
            base = os.path.join(folder, "graph")
            source = tap.write(base + ".pbtxt", "".join(self.nodes) + "versions { producer: 1087 }\n")
            try:
                text = imported.import_graph("tf-graphdef", source, base + ".skir")
                files = []
                for name, array in self.inputs.items():
                    np.save(f"{base}.{name}.npy", array)
                    files.append((name, f"{base}.{name}.npy"))
                found = [np.load(path) for path in run(base + ".skir", text, files, len(expected))]
            except imported.Ended as ended:
                tap.check(what, False, ended.outcome.text)
                return
        wrong = [f"{a.dtype}{a.shape}: {a}\nexpected {b.dtype}{b.shape}: {b}" for a, b in zip(found, expected)
                 if a.dtype != b.dtype or a.shape != b.shape or not np.allclose(a, b, rtol=1e-4, atol=atol)]
        tap.check(what, not wrong, "\n".join(wrong))


def run(path, text, files, count):
    """As imported.run, but variables get contents, too."""
    results = imported.interface(text, "graph")[1]
    if len(results) != count:
        raise imported.Ended("wrong", f"{len(results)} results, expected {count}")
    outputs = [f"{path}.{i}.npy" for i in range(count)]
    imported.command("run", "--repeat=0", path, *(f"--input={name}={file}" for name, file in files),
                     *(f"--output={name}={file}" for name, file in zip(results, outputs)))
    return outputs


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def lstm():
    """Two steps of an LSTM cell: one kernel for all gates, i, j, f, o, and a forget bias of 1."""
    g, size = Graph(), 5
    steps = [random.standard_normal((3, 4)).astype(np.float32) for _ in range(2)]
    kernel, k = g.weight(4 + size, 4 * size)
    bias, b = g.weight(4 * size)
    axis, one = g.const(1), g.const(1.0, np.float32)
    h = c = np.zeros((3, size), np.float32)
    h_name = c_name = g.const(h, np.float32)
    for i, x in enumerate(steps):
        joined = g.f32("ConcatV2", g.input(f"x{i}", x), h_name, axis, N=2, Tidx="DT_INT32")
        gates = g.f32("BiasAdd", g.f32("MatMul", joined, kernel), bias)
        split = g.f32("Split", axis, gates, num_split=4)
        forget = g.f32("Sigmoid", g.f32("Add", f"{split}:2", one))
        new = g.f32("Mul", g.f32("Sigmoid", split), g.f32("Tanh", f"{split}:1"))
        c_name = g.f32("Add", g.f32("Mul", c_name, forget), new)
        h_name = g.f32("Mul", g.f32("Tanh", c_name), g.f32("Sigmoid", f"{split}:3"))
        gate = np.split(np.concatenate([x, h], 1) @ k + b, 4, 1)
        c = c * sigmoid(gate[2] + 1) + sigmoid(gate[0]) * np.tanh(gate[1])
        h = np.tanh(c) * sigmoid(gate[3])
    g.check("an LSTM cell", h)


def attention():
    """A block of BERT, with shapes that are computed from Shape, and masks as floats."""
    g, batch, length, heads, width = Graph(), 2, 6, 2, 4
    ids = random.integers(0, 9, (batch, length)).astype(np.int32)
    mask = (random.random((batch, length)) < 0.7).astype(np.int32)
    table, t = g.weight(9, heads * width)
    shape = g.node("Shape", g.input("ids", ids), T="DT_INT32", out_type="DT_INT32")
    sizes = [g.node("StridedSlice", shape, g.const([i]), g.const([i + 1]), g.const([1]), T="DT_INT32", Index="DT_INT32",
                    shrink_axis_mask=1) for i in range(2)]
    flat = g.node("Reshape", "ids", g.const([-1]), T="DT_INT32", Tshape="DT_INT32")
    x = g.node("GatherV2", table, flat, g.const(0), Tparams="DT_FLOAT", Tindices="DT_INT32", Taxis="DT_INT32")
    split = g.node("Pack", *sizes, g.const(heads), g.const(width), N=4, T="DT_INT32", axis=0)
    perm = g.const([0, 2, 1, 3])
    parts, values = [], []
    for _ in range(3):
        weight, w = g.weight(heads * width, heads * width)
        made = g.f32("Reshape", g.f32("MatMul", x, weight), split, Tshape="DT_INT32")
        parts.append(g.f32("Transpose", made, perm, Tperm="DT_INT32"))
        values.append((t[ids] @ w).reshape(batch, length, heads, width).transpose(0, 2, 1, 3))
    scores = g.f32("Mul", g.f32("BatchMatMulV2", parts[0], parts[1], adj_y=True), g.const(width ** -0.5, np.float32))
    wide = g.node("Cast", g.node("ExpandDims", g.input("mask", mask), g.const(1), T="DT_INT32", Tdim="DT_INT32"),
                  SrcT="DT_INT32", DstT="DT_FLOAT")
    away = g.f32("Mul", g.f32("Sub", g.const(1.0, np.float32), g.f32("ExpandDims", wide, g.const(2), Tdim="DT_INT32")),
                 g.const(-10000.0, np.float32))
    weights = g.f32("Softmax", g.f32("AddV2", scores, away))
    mixed = g.f32("Transpose", g.f32("BatchMatMulV2", weights, parts[2]), perm, Tperm="DT_INT32")
    rows = g.node("Mul", sizes[0], sizes[1], T="DT_INT32")
    y = g.f32("Reshape", mixed, g.node("Pack", rows, g.const(heads * width), N=2, T="DT_INT32"), Tshape="DT_INT32")
    mean = g.f32("Mean", y, g.const([-1]), keep_dims=True, Tidx="DT_INT32")
    variance = g.f32("Mean", g.f32("SquaredDifference", y, mean), g.const([-1]), keep_dims=True, Tidx="DT_INT32")
    scale = g.f32("Rsqrt", g.f32("AddV2", variance, g.const(1e-5, np.float32)))
    normed = g.f32("Mul", g.f32("Sub", y, mean), scale)
    erf = g.f32("Erf", g.f32("RealDiv", normed, g.const(2 ** 0.5, np.float32)))
    g.f32("Mul", g.f32("Mul", normed, g.const(0.5, np.float32)), g.f32("AddV2", erf, g.const(1.0, np.float32)))
    q, k, v = values
    z = softmax(q @ k.swapaxes(-1, -2) * width ** -0.5 + (1 - mask[:, None, None]) * np.float32(-10000)) @ v
    z = z.transpose(0, 2, 1, 3).reshape(batch * length, heads * width)
    z = (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + 1e-5)
    from math import erf as erf_of
    g.check("a block of BERT", (z * 0.5 * (1 + np.vectorize(erf_of)(z / 2 ** 0.5))).astype(np.float32), atol=1e-4)


def classifier():
    """The end of a ResNet: FusedBatchNorm of NCHW, a mean over places, a dense layer."""
    g, image = Graph(), random.standard_normal((2, 3, 4, 5)).astype(np.float32)
    vectors = [g.weight(3) for _ in range(3)]
    variance = random.uniform(0.5, 2, 3).astype(np.float32)
    norm = g.node("FusedBatchNormV3", g.input("image", image), *(name for name, _ in vectors),
                  g.const(variance, np.float32), T="DT_FLOAT", U="DT_FLOAT", is_training=False, data_format="NCHW",
                  epsilon=0.001)
    pooled = g.f32("Mean", g.f32("Relu", norm), g.const([2, 3]), Tidx="DT_INT32")
    weight, w = g.weight(7, 3)
    g.f32("Softmax", g.f32("MatMul", pooled, weight, transpose_b=True))
    scale, offset, mean = (v.reshape(3, 1, 1) for _, v in vectors)
    y = (image - mean) / np.sqrt(variance.reshape(3, 1, 1) + 0.001) * scale + offset
    g.check("the end of a ResNet", softmax(np.maximum(y, 0).mean((2, 3)) @ w.T))


def einsum(equation, *shapes):
    g = Graph()
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    g.f32("Einsum", *(g.input(f"x{i}", x) for i, x in enumerate(arrays)), N=len(arrays), equation=equation)
    g.check(f"Einsum {equation}", np.einsum(equation.replace(" ", ""), *arrays))


def variables():
    """What is read keeps its value when the variable changes, and order by control edges decides what is read."""
    g = Graph()
    state, x = (random.standard_normal((2, 3)).astype(np.float32) for _ in range(2))
    g.node("VarHandleOp", name="state", dtype="DT_FLOAT", shape=(2, 3), shared_name="", container="")
    g.inputs["state"] = state
    g.input("x", x)
    before = g.node("ReadVariableOp", "state", dtype="DT_FLOAT")
    g.node("AssignAddVariableOp", "state", "x", f"^{before}", name="add", dtype="DT_FLOAT")
    g.node("NoOp", "^add", name="group")
    after = g.node("ReadVariableOp", "state", "^group", dtype="DT_FLOAT")
    g.f32("Sub", after, before)
    g.f32("Neg", before)
    g.check("a variable that changes", x, -state)


lstm()
attention()
classifier()
einsum("ab,bc->ac", (3, 4), (4, 5))
einsum("abc,cde->abde", (2, 3, 4), (4, 2, 5))
einsum("abcd,cde->abe", (2, 3, 2, 4), (2, 4, 5))
einsum("BTNH,BFNH->BNFT", (2, 3, 2, 4), (2, 5, 2, 4))
einsum("BNFT,BTNH->BFNH", (2, 2, 5, 3), (2, 3, 2, 4))
einsum("ij, kj -> ik", (3, 4), (5, 4))
einsum("i,j->ij", (3,), (4,))
einsum("ij,ij->i", (3, 4), (3, 4))
variables()
tap.done()
