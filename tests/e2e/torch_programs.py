"""torch_skir.py: PyTorch programs become .skir, which skirc takes, and computes what torch does.

Needs a Python that has torch: SKIR_TORCH_PYTHON, this one, or that of the system. Without one all
is skipped."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap


def find_python():
    """A Python that has torch, or None."""
    for python in (os.environ.get("SKIR_TORCH_PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and os.path.exists(python) and subprocess.run(
                [python, "-c", "import torch.fx"], capture_output=True).returncode == 0:
            return python
    return None


if "SKIR_HAS_TORCH" not in os.environ:
    found = find_python()
    if found is None:
        tap.skip("PyTorch programs become .skir", "no Python here has torch")
        tap.done()
    os.environ["SKIR_HAS_TORCH"] = "1"
    os.execv(found, [found, os.path.abspath(__file__)])

import re
import struct
import tempfile
import types
import warnings

SCRIPT = os.path.join(os.path.abspath(tap.SOURCE), "frontend", "exchange", "torch_skir.py")
tap.SKIRC = os.path.abspath(tap.SKIRC)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(SCRIPT))
import torch
from torch_skir import (limit_core_num, npu_rms_norm, npu_stream_switch, npu_wait_tensor,
                        super_kernel, to_skir)

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
torch.manual_seed(1)


# ---- Programs ----


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(32)
        self.fc1 = torch.nn.Linear(32, 48)
        self.fc2 = torch.nn.Linear(48, 16)

    def forward(self, x):
        with super_kernel("mlp", "stream-fusion=1"):
            return torch.softmax(self.fc2(torch.relu(self.fc1(self.norm(x)))), -1)


class SampleMlp(Mlp):
    """Of ops that have sample kernels."""

    def forward(self, x):
        with super_kernel("mlp"):
            hidden, _ = npu_rms_norm(self.fc1(x), self.fc1.bias)
            return torch.softmax(self.fc2(hidden * hidden + 1), -1)


class Attention(torch.nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (torch.nn.Linear(32, 32, bias=False) for _ in range(4))

    def split(self, x):
        batch, length, size = x.shape
        if self.heads == 1:
            return x
        return x.view(batch, length, self.heads, size // self.heads).transpose(1, 2)

    def forward(self, x):
        with super_kernel("attention"):
            q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
            weights = torch.matmul(q, k.transpose(-2, -1)) * (32 // self.heads) ** -0.5
            y = torch.matmul(torch.softmax(weights, dim=-1), v)
            return self.o(y if self.heads == 1 else y.transpose(1, 2).reshape(x.shape))


class Streams(torch.nn.Module):
    def forward(self, x, y):
        with super_kernel("pair", "stream-fusion=1"):
            a = torch.matmul(x, y)
            with npu_stream_switch("side", 2), limit_core_num(4, 8):
                b = npu_wait_tensor(y, a) * 0.5
            with super_kernel(None):
                c = torch.isinf(b)
            return a + npu_wait_tensor(b, a), c


# ---- Helpers ----


def npy(tensor):
    code, descr = {torch.float32: ("f", "<f4"), torch.int64: ("q", "<i8")}[tensor.dtype]
    numbers = tensor.detach().flatten().tolist()
    return tap.npy(descr, tuple(tensor.shape), struct.pack(f"<{len(numbers)}{code}", *numbers))


def read_floats(path):
    with open(path, "rb") as file:
        data = file.read()
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return torch.tensor(struct.unpack(f"<{len(data) // 4}f", data))


def returned(text):
    """Names of what the graph returns."""
    return [name.strip()[1:] for name in text.split("\n  return ")[1].split("\n")[0].split(",")]


def accepts(claim, text):
    done = tap.skirc("check", "--no-lower", "-", stdin=text)
    tap.check(f"{claim}: skirc takes it", done.returncode == 0 and not done.stderr,
              done.stderr + text)
    printed = tap.skirc("fmt", "-", stdin=text).stdout
    tap.check(f"{claim}: it is canonical", printed == text, printed)


def says(claim, text, *parts):
    missing = [part for part in parts if part not in text]
    tap.check(claim, not missing, "\n".join([*missing, "is not in", text]))


def computes(claim, module, inputs, **options):
    """skirc computes what torch does, fused and not."""
    text = to_skir(module, inputs.values(), path="program.skir", **options)
    arguments = []
    if "weights" not in options:
        inputs = {**inputs, **dict(module.named_parameters())}
    with open("program.skir", "w", encoding="utf-8") as file:
        file.write(text)
    for name, tensor in inputs.items():
        if f"%{name}: " in text:
            with open(f"{name}.npy", "wb") as file:
                file.write(npy(tensor))
            arguments += ["-i", f"{name}={name}.npy"]
    done = tap.skirc("run", "program.skir", "--compare=unfused", "-o",
                     f"{returned(text)[0]}=out.npy", *arguments)
    if not tap.check(f"{claim}: it runs", done.returncode == 0, done.stderr + text):
        return
    wanted = module(*(inputs[name] for name in inputs if name in ("x", "y")))
    wanted = (wanted[0] if isinstance(wanted, tuple) else wanted).flatten()
    worst = (wanted - read_floats("out.npy")).abs().max().item()
    tap.check(f"{claim}: it computes what torch does", worst < 1e-5, f"differs by {worst}")


def warned(claim, part, function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    texts = "\n".join(str(warning.message) for warning in caught)
    tap.check(claim, part in texts, texts)
    return result


# ---- Cases ----


def check_mlp():
    x = torch.rand(8, 32)
    text = to_skir(Mlp(), [x])
    accepts("an MLP", text)
    says("the names of parameters are kept", text, "%fc1.weight: f32[48, 32]", "%fc2.bias: f32[16]")
    says("what is between is an op of GE each", text,
         "%layer_norm, %layer_norm.mean, %layer_norm.variance = LayerNorm(%x, %norm.weight, "
         "%norm.bias) {begin_norm_axis = 1, begin_params_axis = 1, epsilon = 1e-05}",
         "%linear.matmul = MatMul(%layer_norm, %fc1.weight) {transpose_x2} : f32[8, 48]",
         "%linear = Add(%linear.matmul, %fc1.bias) : f32[8, 48]", "%relu = Relu(%linear)",
         "%softmax = Softmax(%linear_1)")
    with open("mlp.skir", "w", encoding="utf-8") as file:
        file.write(text)
    account = tap.skirc("check", "--explain", "mlp.skir")
    says("its scope is one super kernel", account.stdout,
         "scope '@mlp': super kernel '@main_mlp' has 7 ops")
    computes("an MLP of sample kernels", SampleMlp(), {"x": x})
    computes("an MLP with its weights in a file", SampleMlp(), {"x": torch.rand(2, 3, 32)},
             weights="weights.bin")


def check_other_traces():
    x, module = torch.rand(8, 32), SampleMlp()
    computes("a program traced to ATen", module, {"x": x}, aten=True, weights="weights.bin")
    text = to_skir(torch.fx.symbolic_trace(Mlp()), [x])
    accepts("a GraphModule", text)
    says("modules that a GraphModule calls are looked into", text,
         "scope @mlp", "%fc1.weight: f32[48, 32]", "LayerNorm")
    text = to_skir(Mlp())
    accepts("without inputs, types are unknown", text)
    says("and said so", text, "%x: ?[..]", "-> ?[..]")
    says("a function", to_skir(lambda x: x + 1, [x]), "%x: f32[8, 32]", "Add(%x, %add.const)")


def check_attention():
    x = torch.rand(2, 8, 32)
    computes("attention", Attention(1), {"x": x})
    text = to_skir(Attention(4), [x])
    accepts("attention of several heads", text)
    says("transposed keys are a flag of the product", text,
         "MatMul(%transpose, %transpose_1) {transpose_x2} : f32[2, 4, 8, 8]",
         "TransposeD(%view) {perm = [0, 2, 1, 3]} : f32[2, 4, 8, 8]")


def check_streams():
    inputs = {"x": torch.rand(16, 16), "y": torch.rand(16, 16)}
    text = to_skir(Streams(), inputs.values())
    accepts("two streams", text)
    says("scopes, streams and waits are written", text,
         'scope @pair {options = "stream-fusion=1"} {', 'stream "side" {priority = 2} {',
         "%npu_wait_tensor = Identity(%y) : f32[16, 16] after (%matmul)",
         '_op_aicore_num = "4", _op_vectorcore_num = "8"', "scope none {")
    account = tap.skirc("check", "--explain", "-", stdin=text)
    says("what waits is on its stream", account.stdout,
         'Identity %npu_wait_tensor (stream "side"), Mul %mul,')
    computes("two streams", Streams(), inputs)
    says("and in ATen", to_skir(Streams(), inputs.values(), aten=True), 'stream "side"',
         "after (%mm)")


def check_own_types():
    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bn = torch.nn.Conv1d(4, 4, 3), torch.nn.BatchNorm1d(4)
            self.emb = torch.nn.Embedding(8, 6)

        def forward(self, x, index):
            y = self.bn(self.conv(self.emb(index)[:, :4].float()))
            with super_kernel("own"):
                a, b = torch.split(x, [1, 3], 1)
                y.add_(1.5)
                best = torch.topk(x, 2)
            return y, torch.cat([b, a], 1).to(torch.float16), best.indices, x > 0.5

    text = to_skir(Own().eval(), [torch.rand(4, 4), torch.zeros(1, 4, dtype=torch.int64)],
                   stubs=True)
    accepts("ops of own types", text)
    says("they keep what they are called with", text,
         '"aten.conv1d"(%getitem, %conv.weight, %conv.bias) {stride = [1], padding = [0], '
         "dilation = [1], groups = 1} : f32[1, 4, 4] via @aten_conv1d",
         '"torch.nn.BatchNorm1d"(%conv1d, %bn.weight, %bn.bias, %bn.running_mean',
         '"aten.topk"(%x) {k = 2} : (f32[4, 2], i64[4, 2])', 'kernel @aten_topk : aiv_only {',
         "Gather(%emb.weight, %index)", "SplitVD(%x) {size_splits = [1, 3]",
         "ConcatD([%split.1, %split.0]) {concat_dim = 1, N = 2}", "{inplace = [0], alias = [0]}",
         "%gt = Greater(%x, %gt.const) : bool[4, 4]")
    done = tap.skirc("compile", "-", "-o", "stubs.o", stdin=text)
    tap.check("with stubs they compile", done.returncode == 0, done.stderr)


def check_exported():
    """An ExportedProgram has parameters as inputs, symbols in shapes, and marks as nodes."""
    graph = torch.fx.Graph()
    w, x = graph.placeholder("p_w"), graph.placeholder("x")
    symbols = types.SimpleNamespace
    w.meta["val"] = symbols(dtype=torch.float32, shape=[4, 2])
    x.meta["val"] = symbols(dtype=torch.float32, shape=["s0", 4])

    def scope_enter(keys, values):
        pass

    def scope_exit():
        pass

    graph.call_function(scope_enter, (["_super_kernel_scope", "_user_stream_label"], ["s", "1"]))
    y = graph.call_function(torch.ops.aten.mm.default, (x, w))
    y.meta["val"] = symbols(dtype=torch.float32, shape=["s0", 2])
    graph.call_function(scope_exit)
    graph.output((y,))
    program = symbols(
        graph_module=torch.fx.GraphModule(torch.nn.Module(), graph), state_dict={
            "layer.w": torch.nn.Parameter(torch.rand(4, 2))}, constants={},
        graph_signature=symbols(inputs_to_parameters={"p_w": "layer.w"}, inputs_to_buffers={}))
    text = to_skir(program)
    accepts("an exported program", text)
    says("it has names of parameters, dimensions and scopes", text,
         "graph @main(%layer.w: f32[4, 2], %x: f32[s0, 4]) dims (s0) -> f32[s0, 2] {",
         "scope @s {", 'stream "1" {', "%mm_default = MatMul(%x, %layer.w) : f32[s0, 2]")


def check_messages():
    def branch(x):
        return x + 1 if x.shape[0] > 2 else x

    x = torch.ones(4, 4)
    text = warned("a branch by shapes is traced to ATen", "traced down to ATen",
                  lambda: to_skir(branch, [x]))
    says("as it goes", text, "%add = Add(")
    warned("a write into a transposed tensor is told", "writes into a transposed",
           lambda: to_skir(lambda x: x.transpose(0, 1).add_(1), [x]))
    text = warned("an op that fails here has an unknown type", "the types behind 'reshape'",
                  lambda: to_skir(lambda x: x.reshape(5) + 1, [x]))
    says("and is there", text, ": ?[..]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = to_skir(torch.nn.Linear(4, 4).half(), [x.half()])
        says("one that does not compute a dtype here has a type", text, "%linear = Add(",
             ": f16[4, 4]")
    text = to_skir(lambda x, *more, scale=2: abs(x) * more[0] * scale, [x, x], aten=True)
    says("arguments without a name", text, "(%x: f32[4, 4], %arg1: f32[4, 4])", "%abs_1 = Abs(%x)")
    try:
        to_skir(branch, aten=True)
        tap.check("ATen needs inputs", False)
    except ValueError as error:
        tap.check("ATen needs inputs", "needs example inputs" in str(error), error)


def check_page():
    """The example of docs/importing.md."""
    with open(os.path.join(os.path.abspath(tap.SOURCE), "docs", "importing.md"),
              encoding="utf-8") as file:
        blocks = dict(re.findall(r"^```(?:python|skir) file=(\S+)$\n(.*?)^```$", file.read(),
                                 re.M | re.S))
    with open("block.py", "w", encoding="utf-8") as file:
        file.write(blocks["block.py"])
    done = subprocess.run([sys.executable, "-B", SCRIPT, "block.py:make"], capture_output=True,
                          text=True)
    tap.check("the page's example is what it says", done.stdout == blocks["block.skir"],
              done.stderr + done.stdout)


def check_command():
    with open("model.py", "w", encoding="utf-8") as file:
        file.write("import torch\nfrom torch_skir import super_kernel\n\n\ndef program(x):\n"
                   "    with super_kernel('s'):\n        return torch.relu(x) + x\n\n\n"
                   "def make():\n    return program, [torch.rand(2, 3)]\n")
    command = [sys.executable, "-B", SCRIPT]
    done = subprocess.run([*command, "model.py:make", "-o", "out.skir", "--name=relu", "--stubs"],
                          capture_output=True, text=True)
    tap.check("the command writes a file", done.returncode == 0 and not done.stdout, done.stderr)
    with open("out.skir", encoding="utf-8") as file:
        text = file.read()
    accepts("what the command writes", text)
    says("with its options", text, "graph @relu(%x: f32[2, 3]) -> f32[2, 3] {", "scope @s {",
         "kernel @Relu : aiv_only")
    for where, part in (("model.py", "not of the form FILE.py:FUNCTION"),
                        ("model.py:none", "no attribute 'none'"), ("no.py:make", "No such file")):
        done = subprocess.run([*command, where], capture_output=True, text=True)
        tap.check(f"the command refuses {where}", done.returncode == 1 and part in done.stderr,
                  done.stderr)


check_mlp()
check_other_traces()
check_attention()
check_streams()
check_own_types()
check_exported()
check_messages()
check_command()
check_page()
tap.done()
