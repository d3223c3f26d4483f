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
                [python, "-c", "import numpy, torch.fx"], capture_output=True).returncode == 0:
            return python
    return None


if "SKIR_HAS_TORCH" not in os.environ:
    found = find_python()
    if found is None:
        tap.skip("PyTorch programs become .skir", "no Python here has torch")
        tap.done()
    os.environ["SKIR_HAS_TORCH"] = "1"
    os.execv(found, [found, os.path.abspath(__file__)])

import contextlib
import copy
import functools
import io
import operator
import re
import tempfile
import types
import warnings

import numpy

SCRIPT = os.path.join(os.path.abspath(tap.SOURCE), "frontend", "python", "torch_skir.py")
PAGE = os.path.join(os.path.abspath(tap.SOURCE), "docs", "importing.md")
tap.SKIRC = os.path.abspath(tap.SKIRC)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(SCRIPT))
import torch
import torch.nn.functional as F
import torch_skir
from torch import nn
from torch_skir import (Refused, _copied, _State, limit_core_num, npu_dequant_swiglu_quant,
                        npu_quant_matmul, npu_rms_norm, npu_stream_switch, npu_wait_tensor,
                        super_kernel, to_skir)
from torch_skir_ops import REWRITES, ROWS, translations

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
torch.manual_seed(1)


# ---- Helpers ----


def tensors_of(structure):
    if torch.is_tensor(structure):
        return [structure]
    if isinstance(structure, dict):
        structure = structure.values()
    return [leaf for element in structure for leaf in tensors_of(element)] \
        if isinstance(structure, (list, tuple, type({}.values()))) else []


def save(path, tensor):
    numpy.save(path, tensor.detach().numpy())


def load(path):
    return torch.from_numpy(numpy.load(path))


def differ(wanted, got):
    """What is different between two tensors, or None."""
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    if not wanted.is_floating_point():
        return None if torch.equal(wanted, got) else f"{got} instead of {wanted}"
    if torch.allclose(got.double(), wanted.double(), rtol=2e-5, atol=2e-6, equal_nan=True):
        return None
    return f"differs by up to {(wanted.double() - got.double()).abs().max().item()}"


def returned(text):
    """Names of what the graph returns."""
    if "\n  return " not in text:
        return []
    return [name.strip().strip('%"') for name in
            text.split("\n  return ")[1].split("\n")[0].split(",")]


def parameters(text):
    """Names of the parameters of the graph."""
    head = re.search(r"^graph @\w+\((.*?)\)(?: ->| dims| \{|\n)", text, re.M | re.S).group(1)
    return re.findall(r'%"?([\w.]+)"?: ', head)


def quiet(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function()


_known = {}


def run(text, values, *options):
    """(what the graph returns, what is in its parameters then), or the message of skirc. What has
    been run before, as a graph that is the same in ATen, is known."""
    key = (text, options, *(values[name].numpy().tobytes() for name in parameters(text)))
    if key not in _known:
        _known[key] = run_graph(text, values, *options)
    return _known[key]


def run_graph(text, values, *options):
    tap.write("program.skir", text)
    names, given = list(dict.fromkeys(returned(text))), parameters(text)
    arguments = []
    for name in given:
        save(f"in.{name}.npy", values[name])
        arguments += ["-i", f"{name}=in.{name}.npy", "-o", f"{name}=end.{name}.npy"]
    for name in names:
        if name not in given:
            arguments += ["-o", f"{name}=out.{name}.npy"]
    done = tap.skirc("run", "program.skir", "--repeat=0", *options, *arguments)
    if done.returncode != 0:
        return done.stderr
    ends = {name: load(f"end.{name}.npy") for name in given}
    return [ends[name] if name in ends else load(f"out.{name}.npy")
            for name in returned(text)], ends


def state_of(program):
    """Copies of the tensors of a module by the names that the graph gives them."""
    state = _State({"": program} if isinstance(program, nn.Module) else {"LIN": LIN, "NORM": NORM})
    return {state.names[key]: tensor.detach().clone() for key, tensor in state.tensors.items()}


def computes(claim, program, inputs, steps=1, options=(), **arguments):
    """skirc computes what torch does, `steps` times, and leaves the same in buffers and inputs.
    Neither the program nor the inputs are changed by the import."""
    before, kept = state_of(program), [t.clone() for t in tensors_of(inputs)]
    try:
        text = quiet(lambda: to_skir(program, inputs.values(), path="program.skir", **arguments))
    except Exception as error:
        return tap.check(claim, False, f"{type(error).__name__}: {error}")
    same = not any(map(differ, [*before.values(), *kept],
                       [*state_of(program).values(), *tensors_of(inputs)]))
    eager, values, problems = _copied(program)[0], {**before, **inputs}, []
    if not same:
        problems.append("the import has changed the module or its inputs")
    for step in range(steps):
        given = {name: value.clone() for name, value in inputs.items()}
        with torch.no_grad():
            wanted = tensors_of(eager(*given.values()))
        result = run(text, values, *options)
        if isinstance(result, str):
            problems.append(result)
            break
        got, ends = result
        ends_wanted = {**state_of(eager), **given}
        if len(wanted) != len(got):
            problems.append(f"{len(got)} results instead of {len(wanted)}")
        problems += filter(None, map(differ, wanted, got))
        problems += [f"{name}: {problem}" for name, problem in
                     ((name, differ(ends_wanted[name], end)) for name,
                      end in ends.items()) if problem]
        values.update({name: end for name, end in ends.items() if name not in inputs})
    return tap.check(claim, not problems, "\n".join([*problems, text]))


def accepts(claim, text):
    done = tap.skirc("check", "--no-lower", "-", stdin=text)
    tap.check(f"{claim}: skirc takes it", done.returncode == 0 and not done.stderr,
              done.stderr + text)
    printed = tap.skirc("fmt", "-", stdin=text).stdout
    tap.check(f"{claim}: it is canonical", printed == text, printed)


def says(claim, text, *parts):
    missing = [part for part in parts if part not in text]
    tap.check(claim, not missing, "\n".join([*missing, "is not in", text]))


def warned(claim, part, function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    texts = "\n".join(str(warning.message) for warning in caught)
    tap.check(claim, part in texts, texts)
    return result


def refused(claim, part, program, *inputs, **arguments):
    before = state_of(program)
    try:
        text = to_skir(program, inputs or None, **arguments)
        tap.check(claim, False, text)
    except Refused as error:
        tap.check(claim, part in str(error), error)
    if isinstance(program, nn.Module):
        tap.check(f"{claim}: the module is as it was", not any(
            map(differ, before.values(), state_of(program).values())))


# ---- Small programs ----

X, Y = torch.rand(4, 6) * 4 - 2, torch.rand(4, 6) * 4 - 2
P = torch.rand(4, 6) * 0.8 + 0.1
B, C = torch.rand(2, 3, 4), torch.rand(2, 4, 5)
I, J = torch.arange(-6, 6).reshape(3, 4), torch.tensor([[3, -2, 5, 1]])
M = X > 0
ODD = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.5, -2.5, 0.5])
IMAGE = torch.rand(2, 4, 6, 6)
LIN, NORM = nn.Linear(6, 3), nn.LayerNorm(6)

PROGRAMS = {
    "arithmetic": (lambda x, y: (x + y, x - y * 2, 3 - x, torch.add(x, y, alpha=0.5),
                                 torch.sub(x, y, alpha=2), torch.rsub(x, y), -x, abs(x)), X, Y),
    "division of floats": (lambda x, y: (x / y, x // y, x % y, torch.fmod(x, y), 1 / x,
                                         torch.div(x, y, rounding_mode="floor"),
                                         torch.div(x, y, rounding_mode="trunc")), X, Y),
    "division of integers": (lambda x, y: (x / y, x // y, x % y, torch.fmod(x, y), x / 2, x // 2,
                                           torch.div(x, y, rounding_mode="trunc"), 7 // y), I, J),
    "mixed types": (lambda x, y: (x + y, x * 1.5, y * 1.5, x / y, y + True, (x > 0) + y, x > y,
                                  (x > 0) * y, x + torch.tensor(2, dtype=torch.float64)),
                    X[:3, :4], I),
    "integers": (lambda x, y: (x + y, x - y, x * y, -x, abs(x), x ** 2, x + 5, 2 * x, x.square(),
                               torch.add(x, y, alpha=3), x.relu(), x.clamp(-2, 3)), I, J),
    "integers of 32 bits": (lambda x, y: (x + y, x * 2, x + 0.5, x // y, x.sum(), x.max(),
                                          x == y), I.int(), J.int()),
    "small integers": (lambda x: (x + x, x.float() / 3, x.sum(), x.to(torch.int32), x > 1, -x),
                       I.to(torch.int8)),
    "bytes": (lambda x: (x.float() / 3, x.to(torch.int32) * 2, x.bool(), x.sum(), x - 3, x * -1,
                         x == -6, x < 300, x.masked_fill(x > 9, -2)), I.to(torch.uint8)),
    "powers": (lambda x, y: (x ** 2, x ** 3, y ** 0.5, y ** -0.5, y ** -1, 2 ** x, y ** x,
                             y.pow(2.5), y.square()), X, P),
    "exponentials": (lambda x, y: (torch.exp(x), torch.expm1(x), torch.log(y), torch.log1p(y),
                                   torch.log2(y), torch.log10(y), torch.exp2(x), torch.sqrt(y),
                                   torch.rsqrt(y), torch.reciprocal(y), torch.logit(y, 0.3)), X, P),
    "functions of integers": (lambda x: (x.exp(), x.float().sqrt().nan_to_num(), x.sigmoid(),
                                         x.tanh(),
                                         x.floor(), x.round(), x.sign(), torch.erf(x)), I),
    "trigonometry": (lambda x: (x.sin(), x.cos(), x.tanh(), torch.erf(x)), X),
    "more trigonometry": (lambda x, y: (x.tan(), y.asin(), y.acos(), x.atan(), x.sinh(), x.cosh(),
                                        x.asinh(), (y + 1).acosh(), y.atanh(), torch.atan2(x, y),
                                        torch.erfc(x)), X, P),
    "rounding": (lambda x: (x.floor(), x.ceil(), x.round(), x.trunc(), x.frac(), x.int(), x.long(),
                            x.to(torch.int8), x.bool()), X * 3),
    "odd numbers": (lambda x: (x.relu(), x.isnan(), x.isinf(), x.isfinite(), x.abs(),
                               x.clamp(-1, 1),
                               torch.maximum(x, x.flip(0)), x > 0, x != x, x.nan_to_num(),
                               x.max(), x.sum(), x.round(), torch.sign(x)), ODD),
    "activations": (lambda x: (F.relu(x), F.silu(x), F.gelu(x), F.gelu(x, approximate="tanh"),
                               F.leaky_relu(x), F.leaky_relu(x, 0.3), F.softplus(x),
                               F.logsigmoid(x),
                               F.softplus(x, 2, 1), F.glu(x), torch.sigmoid(x)), X * 3),
    "hard activations": (lambda x: (F.relu6(x), F.hardtanh(x), F.hardtanh(x, -0.3, 0.7),
                                    F.hardswish(x), F.hardsigmoid(x), F.hardshrink(x),
                                    F.softshrink(x, 0.3), F.threshold(x, 0.1, -2)), X * 3),
    "exponential activations": (lambda x: (F.elu(x), F.elu(x, 0.5), F.selu(x), F.celu(x),
                                           F.celu(x, 0.7), F.mish(x), F.softsign(x),
                                           F.tanhshrink(x)), X * 3),
    "activations with weights": (lambda x, w: (F.prelu(x, w), F.prelu(x, w[:1])), X, torch.rand(6)),
    "comparisons": (lambda x, y: (x == y, x != 1, x > y, x >= 0.5, x < y, x <= y, 0 < x,
                                  (x > 0) == (y > 0), (x > 0) > (y > 0)), X, Y),
    "comparisons of integers": (lambda x, y: (x == y, x > 0.5, x <= y, x < 2), I, J),
    "logic": (lambda x, y: (x & y, x | y, x ^ y, ~x, x.logical_and(y), x.logical_or(y),
                            x.logical_xor(y), x.logical_not(), x.any(), x.all(), x.any(1),
                            x.all(0, keepdim=True)), M, M.flip(0)),
    "logic of numbers": (lambda x, y: (x.logical_and(y), x.logical_not(), x.any(1), x.all()), X,
                         I[0, :1]),
    "bits": (lambda x, y: (x & y, x | y, x ^ y, ~x, x << 2, x >> 1, x & 3), I, J),
    "where": (lambda x, y, m: (torch.where(m, x, y), torch.where(m[0], x, y),
                               torch.where(m, x, 0.0),
                               torch.where(x > 0, x, y[:, :1]), x.masked_fill(m, -1),
                               x.masked_fill(m[:, :1], float("-inf")), torch.where(m, 1, 0)), X, Y,
                               M),
    "clamps": (lambda x, y: (x.clamp(-1, 1), x.clamp(min=0.5), x.clamp(max=0.5), x.clamp(1, -1),
                             torch.clamp(x, y), torch.maximum(x, y), torch.minimum(x, y),
                             x.clamp_min(0), x.clamp_max(0)), X, Y),
    "odd pairs": (lambda x, y: (torch.fmax(x, y), torch.fmin(x, y), torch.hypot(x, y),
                                torch.heaviside(x, y), torch.xlogy(x, y.abs()), torch.deg2rad(x),
                                torch.copysign(x, -2), torch.sgn(x), torch.where(x != x, y, x)),
                  ODD, ODD.flip(0)),
    "sums of logarithms": (lambda x, y: (torch.logaddexp(x, y), torch.rad2deg(x)), X, Y),
    "mixtures": (lambda x, y: (torch.lerp(x, y, 0.3), torch.lerp(x, y, 0.7), torch.lerp(x, y, x),
                               torch.addcmul(x, x, y, value=2), torch.addcdiv(x, y, y + 5)), X, Y),
    "sums": (lambda x: (x.sum(), x.sum(1), x.sum(-1, keepdim=True), x.sum((0, 1)), x.mean(),
                        x.mean(0), x.mean((0, 1), True), x.prod(1), x.prod(), x.nansum(),
                        x.sum(0, dtype=torch.float64).float()), X),
    "sums of integers": (lambda x, m: (x.sum(), x.sum(0), x.prod(1), m.sum(), m.sum(1),
                                       x.float().mean(), torch.count_nonzero(x),
                                       torch.count_nonzero(x, 1), x.mean(1, dtype=torch.float32)),
                         I.int(), M),
    "extremes": (lambda x: (x.amax(), x.amin(0), x.amax((0, 1), True), x.max(), x.min(), x.max(1),
                            x.min(0, keepdim=True), x.argmax(), x.argmax(1), x.argmin(0),
                            x.argmin(1, True), torch.aminmax(x)), X),
    "extremes of integers": (lambda x: (x.max(), x.amin(1), x.max(0), x.argmax(), x.argmin(1)), I),
    "spread": (lambda x: (x.var(), x.var(1), x.std(0), x.var(1, unbiased=False),
                          x.std(1, True, True),
                          torch.var_mean(x, 1), torch.std_mean(x, 0, False)), X),
    "norms": (lambda x: (x.norm(), x.norm(dim=1), x.norm(1, 0), x.norm(float("inf")),
                         x.norm(3, 1, True),
                         torch.linalg.norm(x), torch.linalg.vector_norm(x, 2, -1),
                         F.normalize(x), F.cosine_similarity(x, x.flip(0))), X),
    "running sums": (lambda x, i: (x.cumsum(0), x.cumsum(-1), i.cumsum(1), i.int().cumsum(0),
                                   x.cumprod(1), (i > 0).cumsum(0)), X, I),
    "logarithms of sums": (lambda x: (x.logsumexp(1), x.logsumexp((0, 1)), x.logsumexp(0, True)),
                           X),
    "largest": (lambda x, i: (x.topk(2), x.topk(3, 0, False), x.sort(), x.sort(0, descending=True),
                              x.argsort(1), i.sort(descending=True), i.topk(2)),
                torch.randperm(24).reshape(4, 6).float(), torch.randperm(12).reshape(3, 4)),
    "softmax": (lambda x: (x.softmax(1), x.softmax(0), F.softmax(x, -1), F.log_softmax(x, 1),
                           F.softmin(x, 1), torch.softmax(x.half(), -1, torch.float32)), X),
    "softmax of three dimensions": (lambda x: (x.softmax(1), F.log_softmax(x, 0)), B),
    "matrices": (lambda x, y: (x @ y.T, x.t() @ y, torch.mm(x, y.t()), torch.matmul(x.T, y),
                               x @ y[0], y[0] @ x.t(), torch.dot(x[0], y[0]), torch.mv(x, y[1]),
                               torch.outer(x[0], y[1])), X, Y),
    "products with sums": (lambda x, y: (torch.addmm(x[:, :4], x, y.T), torch.addmm(
        x[0, :4], x, y.T, beta=0.5, alpha=2), torch.addmv(x[:, 0], x, y[0]), F.linear(x, y),
        torch.addmm(x[:, :4], x, y.T, beta=0)), X, Y),
    "products of integers": (lambda x, y: (x @ x.T, x @ y[0], y @ x.T,
                                           torch.bmm(x[None], x.T[None]),
                                           torch.dot(x[0], y[0])), I, J),
    "more products": (lambda x, y: (torch.linalg.cross(x[:, :3], y[:, :3]), torch.trace(x),
                                    torch.addbmm(x[:, :4], x[None], y.T[None], alpha=2),
                                    torch.inner(x, y), torch.kron(x[:2, :2], y[:2, :2]),
                                    torch.diag_embed(
                                        x, 1)), X, Y),
    "batches": (lambda x, y: (torch.bmm(x, y), x @ y, x @ y[0], torch.matmul(x, y[:1]),
                              torch.baddbmm(x[:, :, :1], x, y), x.transpose(1, 2) @ x,
                              torch.matmul(x[None], y[:, None][:, [0, 0]])), B, C),
    "einsum": (lambda x, y: (torch.einsum("bij,bjk->bik", x, y), torch.einsum("bij->bji", x),
                             torch.einsum("bij,bij->b", x, x), torch.tensordot(x, y, [[2], [1]])),
                             B, C),
    "shapes": (lambda x: (x.view(6, 4), x.reshape(-1), x.flatten(), x[None], x.unsqueeze(-1),
                          x.unsqueeze(0).squeeze(0), x.view(2, 2, 1, 6).squeeze(),
                          x.unflatten(1, (2, 3)),
                          x[:, None, :].squeeze(1)), X),
    "transposes": (lambda x: (x.permute(2, 0, 1), x.transpose(1, 2),
                              x.transpose(0, -1).reshape(4, 6),
                              x.mT, x.movedim(0, 2), x.transpose(0, 1).contiguous().view(-1),
                              x.swapaxes(0, 1) * 2), B),
    "expansions": (lambda x: (x[:, :1].expand(4, 6), x.expand(2, 4, 6), x.repeat(2, 1),
                              x.repeat(2, 1, 3),
                              torch.broadcast_to(x[0], (3, 6)), x.tile(2), x.expand_as(x)), X),
    "parts": (lambda x: (x[1], x[:, 2], x[1:3], x[:, ::2], x[1::2, 1:5:3], x[-1], x[..., -2:],
                         x[2:1],
                         x.narrow(1, 2, 3), x[-3:-1], x.diff(), x[:, 100:]), X),
    "splits": (lambda x: (x.split(2), x.split([1, 2, 3], 1), x.chunk(4, 1), x.unbind(),
                          x.unbind(1)[2],
                          x.tensor_split(4, 1), x.chunk(2, -1)[1] * 2), X),
    "joins": (lambda x, y, i: (torch.cat([x, y]), torch.cat([x, y, x], 1), torch.stack([x, y]),
                               torch.stack([x, y], -1), torch.cat([x[:3, :4], i]),
                               torch.hstack([x, y]),
                               torch.vstack([x, y]), torch.cat([x, torch.zeros(0, 6)])), X, Y, I),
    "places": (lambda x, i: (x[i], x.index_select(1, i[0]), x[:, i[1]], x[[0, -1]], x[i, i],
                             x[i[0], 1:], x[i[0, 0], ...], x[:, i[1, 1]], F.embedding(i, x)), X,
               torch.tensor([[1, 0, 3], [2, 2, 1]])),
    "places of three dimensions": (lambda x, i: (x[i, :, i + 1], x[:, i, i + 1], x[i][:, i],
                                                 x[i, i], x[0, :, i], x[:, None, i]),
                                   torch.rand(3, 4, 5), torch.tensor([1, 0, -1])),
    "gather": (lambda x, i: (x.gather(1, i), torch.gather(x, 0, i),
                             x.take_along_dim(x.argsort(1), 1)), X,
               torch.tensor([[1, 0, 3], [2, 2, 1]])),
    "scatter": (lambda x, i: (x.scatter(1, i, 2.5), x.scatter(0, i, x),
                              x.scatter_add(1, i, x[:2, :3]),
                              x.index_add(0, i[0], x[:3], alpha=2), x.index_fill(1, i[1], 3.0),
                              x.index_copy(1, i[0], x[:, :3]), x.take(i), x.scatter(
                                  1, i, 2.0, reduce="multiply")), X,
                torch.tensor([[1, 0, 3], [2, 3, 1]])),
    "order": (lambda x: (x.flip(0), x.flip(0, 1), x.roll(1, 0), x.roll(-2, 1), x.roll(5), x.roll(
        (1, 2), (0, 1)), x.tril(), x.triu(1), x.tril(-1), x.diagonal(), x.diag(1), torch.rot90(x)),
        X),
    "edges": (lambda x: (F.pad(x, (1, 2)), F.pad(x, (0, 1, 2, 0), value=3.5), F.pad(x, (-1, 1)),
                         F.pad(x[None], (1, 2), mode="reflect"),
                         F.pad(x[None], (1, 2), mode="replicate")), X),
    "windows": (lambda x: (x.unfold(1, 3, 2), F.pixel_shuffle(x.view(1, 4, 2, 3), 2)), X),
    "pooling": (lambda x: (F.avg_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1), F.max_pool2d(x, 2),
                           F.max_pool2d(x, 3, 2, 1, return_indices=True), F.max_pool1d(x[0], 2),
                           F.avg_pool1d(x[0], 3), F.lp_pool2d(x, 2, 2), F.interpolate(
                               x, scale_factor=1.7), F.interpolate(x[0], size=4)), IMAGE),
    "channels": (lambda x: (F.channel_shuffle(x, 2), F.pixel_unshuffle(x, 2)), IMAGE),
    "constants": (lambda x: (x + torch.arange(6), x * torch.eye(4, 6), torch.zeros_like(x) + x,
                             torch.full((4, 6), 2.0) - x, x.new_ones(6) + x, torch.ones(4, 6),
                             x + torch.linspace(0, 1, 6), x * torch.tensor([1, 0, 1, 0, 1, 0]),
                             torch.tril(torch.ones(4, 4)) @ x, x[torch.tensor([1, 0])],
                             F.one_hot(torch.arange(4), 6) + x, torch.tensor(3).item() * x), X),
    "odd constants": (lambda x: (torch.tensor([0.0, -0.0, float("nan"), float("-inf")]).expand(
        2, 4) + 0 * x[:2, :4], torch.copysign(torch.tensor([0.0, -0.0]), 1), torch.tensor([
            [True, False]]), torch.zeros(0, 3), torch.full((2,), float("nan"))), X),
    "one hot": (lambda i: F.one_hot(i, 5), torch.tensor([[1, 0], [4, 2]])),
    "casts": (lambda x, i: (x.half().float(), x.int(), x.long(), i.float(), i.bool(),
                            i.to(torch.int32), x.type_as(i), x.to(i), x.double().float(),
                            i.to(torch.int8), x.type(torch.float16).float()), X * 3, I),
    "normalisation": (lambda x: (F.layer_norm(x, (6,)), F.layer_norm(x, (4, 6)), NORM(x),
                                 F.layer_norm(x, (6,), eps=0.1)), X),
    "normalisation of images": (lambda x: (F.group_norm(x, 2), F.instance_norm(x), F.batch_norm(
        x, x.mean((0, 2, 3)), x.var((0, 2, 3))), F.adaptive_avg_pool2d(x, 1), x.mean((2, 3))),
        IMAGE),
    "linear": (lambda x: (LIN(x), F.linear(x[0], LIN.weight),
                          F.linear(x[None], LIN.weight, LIN.bias)), X),
    "losses": (lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y),
                             F.mse_loss(x, y, reduction="none"), F.mse_loss(x, y, reduction="sum")),
                             X, Y),
    "more losses": (lambda x, p: (F.binary_cross_entropy(p, p.flip(0)),
                                  F.binary_cross_entropy_with_logits(
        x, p, pos_weight=p[0]), F.huber_loss(x, p, delta=0.5), F.soft_margin_loss(x, p), F.kl_div(
            x, p, reduction="batchmean"), F.poisson_nll_loss(x, p), F.pairwise_distance(x, p)), X,
            P),
    "cross entropy": (lambda x, t: (F.cross_entropy(x, t), F.nll_loss(x, t, reduction="sum"),
                                    F.cross_entropy(x, t, reduction="none"), F.cross_entropy(
                                        x, t, weight=torch.arange(6.0)), F.cross_entropy(
                                            x, t, ignore_index=2)), X, torch.tensor([1, 0, 5, 2])),
    "what is written in place": (lambda x, y: (x.clone().add_(y).mul_(2).relu_(),
                                               F.relu(x * 2, True),
                                               x.clone().clamp_(0, 1), x.clone().copy_(y[0])), X,
                                               Y),
    "an empty dimension": (lambda x: (x[:0].sum(0), torch.cat([x[:0], x]), x[:0] + 1), X),
    "numbers without dimensions": (lambda x: (x + 1, x * x, x.exp(), x.sum(), x.max(),
                                              x.reshape(1)),
                                   torch.tensor(2.5)),
}


class Written(nn.Module):
    """Writes into views of what it has made."""

    def forward(self, x):
        y = torch.zeros(4, 6)
        y[0] = x.sum(0)
        y[1:3, ::2] = x[:2, :3]
        y[:, 5].mul_(2)
        z = y.view(6, 4).t()
        z[1] += 1
        w = x.clone()
        w[w > 1] = 0.5
        w[1:, x[0] < 0] = x[0, 0]
        w[:, [0, -1]] = 3
        w[[0, 1], [2, 3]] = x[0, :2]
        w.diagonal().fill_(7)
        w.fill_diagonal_(5)
        return y, z, w


class ViewOfInput(nn.Module):
    def forward(self, x):
        x[1].zero_()
        return x * 2


class Attention(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32, bias=False) for _ in range(4))

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


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.fc1 = nn.Linear(32, 48)
        self.fc2 = nn.Linear(48, 16)

    def forward(self, x):
        with super_kernel("mlp", "stream-fusion=1"):
            return torch.softmax(self.fc2(torch.relu(self.fc1(self.norm(x)))), -1)


class DecoderBlock(nn.Module):
    """A step of a decoder: RMS norm, rotary positions, a cache of keys and values that is written
    in place, grouped queries, a causal mask, and a gated MLP on a stream of its own."""

    def __init__(self, size=32, heads=4, groups=2, length=8):
        super().__init__()
        self.heads, self.groups, self.width = heads, groups, size // heads
        self.norm1, self.norm2 = (nn.Parameter(torch.rand(size) + 0.5) for _ in range(2))
        self.qkv = nn.Linear(size, size + 2 * groups * self.width, bias=False)
        self.out = nn.Linear(size, size, bias=False)
        self.gate, self.up = (nn.Linear(size, 48, bias=False) for _ in range(2))
        self.down = nn.Linear(48, size, bias=False)
        angles = torch.outer(torch.arange(length).float(),
                             10000 ** -(torch.arange(0, self.width, 2) / self.width))
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos())
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin())
        self.register_buffer("keys", torch.zeros(2, groups, length, self.width))
        self.register_buffer("values", torch.zeros(2, groups, length, self.width))

    def turn(self, x, position):
        first, second = x.chunk(2, -1)
        return x * self.cos[position] + torch.cat([-second, first], -1) * self.sin[position]

    def attend(self, x, position):
        batch, count, _ = x.shape
        sizes = [self.heads * self.width, self.groups * self.width, self.groups * self.width]
        q, k, v = (part.view(batch, count, -1, self.width).transpose(1, 2)
                   for part in self.qkv(x).split(sizes, -1))
        self.keys[:, :, position] = self.turn(k, position)
        self.values[:, :, position] = v
        keys, values = (cache[:, :, None].expand(-1, -1, self.heads // self.groups, -1, -1)
                        .flatten(1, 2) for cache in (self.keys, self.values))
        scores = self.turn(q, position) @ keys.transpose(-1, -2) / self.width ** 0.5
        later = torch.arange(keys.shape[2]) > position[:, None]
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        return self.out((weights @ values).transpose(1, 2).reshape(x.shape))

    def forward(self, x, position):
        with super_kernel("block", "stream-fusion=1"):
            h = x + self.attend(npu_rms_norm(x, self.norm1)[0], position)
            y, _ = npu_rms_norm(h, self.norm2)
            with npu_stream_switch("1"):
                up = self.up(npu_wait_tensor(y, h))
            return h + self.down(F.silu(self.gate(y)) * up)


# ---- State ----


class Scaled(nn.Module):
    """Arithmetic on buffers and on tensors that are none."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.rand(6))

    def forward(self, x):
        return x * (self.scale * 2 + 1) + torch.ones(6).exp()


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        before = self.n.clone()
        self.n += 1
        return x * self.n, before, self.n


class Caches(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.zeros(2, 8, 4))

    def forward(self, x, place):
        old = self.k.sum()
        self.k[:, place] = x
        self.k.mul_(2)
        return self.k.sum(1), old


class CacheOfOne(Caches):
    """Its cache is written by nothing else."""

    def forward(self, x, place):
        self.k[:, place] = x
        return self.k.sum(1)


class Assigned(nn.Module):
    """Assigns another tensor to a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("h", torch.zeros(4, 6))

    def forward(self, x):
        self.h = torch.tanh(x + self.h)
        return self.h + 1


class Swapped(nn.Module):
    """Two buffers change places, one is returned as it was."""

    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.zeros(4, 6))
        self.register_buffer("b", torch.ones(4, 6))

    def forward(self, x):
        old = self.a
        self.a, self.b = self.b * 1, self.a + x
        return old, self.a, self.b


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 6)
        self.head = nn.Linear(6, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, i):
        return self.head(self.embed(i))


def check_programs():
    for name, (program, *inputs) in PROGRAMS.items():
        names = program.__code__.co_varnames[:len(inputs)]
        for mode, aten in (("", False), (", in ATen", True)):
            computes(f"{name}{mode}", program, dict(zip(names, inputs)), aten=aten)


def check_modules():
    x = torch.rand(2, 5, 32)
    layer = nn.TransformerEncoderLayer(32, 4, 48, batch_first=True).eval()
    for mode, aten in (("", False), (", in ATen", True)):
        computes(f"writes into views{mode}", Written(), {"x": X}, aten=aten)
        computes(f"a write into a view of an input{mode}", ViewOfInput(), {"x": X}, aten=aten)
        computes(f"an encoder layer{mode}", layer, {"src": x}, aten=aten)
        computes(f"attention of heads{mode}", Attention(4), {"x": x}, aten=aten)
        computes(f"attention of a module{mode}", nn.MultiheadAttention(
            32, 4, batch_first=True).eval(), {"query": x, "key": x * 2, "value": x + 1}, aten=aten)
        computes(f"an LSTM{mode}", nn.LSTM(6, 5, batch_first=True), {"input": torch.rand(2, 3, 6)},
                 aten=aten)
        computes(f"batch norm{mode}", nn.BatchNorm2d(4).eval(), {"input": IMAGE}, aten=aten)
        computes(f"a decoder block, three steps{mode}", DecoderBlock(), {
            "x": torch.rand(2, 1, 32), "position": torch.tensor([2])}, steps=3, aten=aten)
        computes(f"a decoder block, fused and not{mode}", DecoderBlock(), {
            "x": torch.rand(2, 3, 32), "position": torch.tensor([0, 1, 2])},
            options=["--compare=unfused"], aten=aten)
    computes("an encoder", nn.TransformerEncoder(layer, 2), {"src": x})
    computes("a norm before, and gelu", nn.TransformerEncoderLayer(
        32, 4, 48, activation="gelu", batch_first=True, norm_first=True).eval(), {"src": x})
    computes("weight norm", nn.utils.weight_norm(nn.Linear(6, 3)), {"input": X})
    computes("tied weights", Tied(), {"i": torch.tensor([[1, 4], [0, 2]])})
    hooked = nn.Linear(6, 3)
    hooked.register_forward_hook(lambda module, inputs, result: result * 3)
    computes("a hook", hooked, {"input": X})


def check_state():
    for mode, aten in (("", False), (", in ATen", True)):
        computes(f"arithmetic on buffers is traced{mode}", Scaled(), {"x": X}, aten=aten)
        computes(f"a counter counts{mode}", Counter(), {"x": X}, steps=3, aten=aten)
        for place in (torch.tensor([3, 5]), torch.tensor([0, -1])):
            computes(f"a cache is written at {place.tolist()}{mode}", Caches(), {
                "x": torch.rand(2, 2, 4), "place": place}, steps=2, aten=aten)
        computes(f"a cache is written at one place{mode}", CacheOfOne(), {
            "x": torch.rand(2, 4), "place": torch.tensor(3)}, steps=2, aten=aten)
        computes(f"a buffer is assigned{mode}", Assigned(), {"x": X}, steps=3, aten=aten)
        computes(f"buffers change places{mode}", Swapped(), {"x": X}, steps=3, aten=aten)
    says("a buffer is a parameter of the graph", to_skir(Scaled(), [X]), "%scale: f32[6]",
         "= Mul(%scale, ")
    text = to_skir(CacheOfOne(), [torch.rand(2, 1, 4), torch.tensor([3])])
    says("a cache that is written once is written in place", text, "= ScatterUpdate(%k, ")
    tap.check("and not copied", "TensorMove" not in text and "Assign" not in text, text)
    text = to_skir(Counter(), [X], weights="weights.bin", path="program.skir")
    says("with --weights, a buffer is a variable that is assigned", text, "%n = Variable() {value",
         "Assign(%n, %add)", "TensorMove(%n)")

    class InPython(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.n = n

        def forward(self, x):
            self.n = 1 if self.n is None else self.n + 1
            return x * self.n

    refused("a counter in Python", "changes 'n', which is no tensor, from 0 to 1", InPython(0), X)

    class Keeps(nn.Module):
        def __init__(self):
            super().__init__()
            self.past = {}

        def forward(self, x):
            self.past["x"] = torch.cat([self.past["x"], x]) if self.past else x
            return self.past["x"].sum(0)

    refused("a dictionary that grows", "changes 'past', which is no tensor, while", Keeps(), X)
    refused("an attribute that becomes a number", "from None to 1", InPython(None), X)

    class Grows(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(0, 6))

        def forward(self, x):
            self.cache = torch.cat([self.cache, x])
            return self.cache

    refused("a buffer that grows", "changes 'cache' from f32[0, 6] to f32[4, 6]", Grows(), X)

    class Hidden(nn.Module):
        def forward(self, x):
            if hasattr(self, "last"):
                return x + self.last
            self.last = x * 2
            return x

    refused("state that a second call finds", "called a second time", Hidden(), X)
    module = nn.Linear(6, 3)
    says("a function's module has its name", to_skir(lambda x: module(x) * 2, [X]),
         "%module.weight: f32[3, 6]")
    says("so has a bound method's", to_skir(module.forward, [X]), "%weight: f32[3, 6]")
    says("so has a partial function's", to_skir(functools.partial(module.forward), [X]),
         "%weight: f32[3, 6]")

    class Holder:
        def __init__(self):
            self.inner, self.calls = module, 0

        def __call__(self, x):
            self.calls += 1
            return self.inner(x) * self.calls

    holder = Holder()
    refused("a counter of an object", "called a second time", holder, X)
    tap.check("which has counted nothing", holder.calls == 0)
    outside = torch.zeros(6)
    refused("a write into a tensor outside", "no tensor of a module", lambda x: x + outside.add_(1),
            X)
    tap.check("which is as it was", torch.equal(outside, torch.zeros(6)))


def check_refusals():
    refused("a branch by a value", "reads values of a tensor", lambda x: x if x.sum() > 0 else -x,
            X)
    refused("item", "reads values of a tensor", lambda x: x * x.sum().item(), X)
    refused("numpy", "(numpy)", lambda x: x + torch.from_numpy(x.numpy()), X)
    refused("tolist", "(tolist)", lambda x: x * x.tolist()[0][0], X)
    refused("with the place", "torch_programs.py:", lambda x: x * float(x[0, 0]), X)
    refused("dropout in training", "call eval() of the module", nn.Dropout(0.5), X)
    refused("random numbers", "random numbers", lambda x: x + torch.rand(6), X)
    refused("batch norm in training", "call eval() of the module", nn.BatchNorm1d(6), X)
    refused("a mask as an index", "depends on values", lambda x: x[x > 0], X)
    def several(x):
        y = x.clone()
        y[:, torch.tensor([True, False] * 3)] = x[:, :3]
        return y

    refused("several values by a mask and a slice", "use torch.where", several, X)
    refused("nonzero", "depends on values", lambda x: x.nonzero(), X)
    compiled = torch.jit.script(nn.Linear(6, 3))
    refused("a ScriptModule", "not traced", lambda x: compiled(x), X)
    refused("a module in two", "cannot be copied", type("Held", (), {
        "__call__": lambda self, x: x, "__deepcopy__": lambda self, memo: 1 / 0})(), X)
    refused("a program without inputs", "example inputs", nn.Linear(4, 4))
    refused("a program without results", "returns no tensors", lambda x: 3, X)
    warned("a result that is no tensor is named", "returns 3, which is no tensor",
           lambda: to_skir(lambda x: (x + 1, 3), [X]))
    says("a branch by shapes goes as the example does",
         to_skir(lambda x: x + 1 if x.shape[0] > 2 else x, [X]), "Add(")


def check_structure():
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
    tap.write("mlp.skir", text)
    account = tap.skirc("check", "--explain", "mlp.skir")
    says("its scope is one super kernel", account.stdout,
         "scope '@mlp': super kernel '@main_mlp' has 7 ops")
    computes("an MLP with its weights in a file", Mlp(), {"x": torch.rand(2, 3, 32)},
             weights="weights.bin")
    text = to_skir(Attention(4), [torch.rand(2, 8, 32)])
    accepts("attention of several heads", text)
    says("transposed keys are a flag of the product", text,
         "MatMul(%transpose, %transpose_1) {transpose_x2} : f32[2, 4, 8, 8]",
         "{perm = [0, 2, 1, 3]} : f32[2, 4, 8, 8]")
    text = to_skir(lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), [X])
    says("gelu is exact unless it says otherwise", text, 'GeluV2(%x) {approximate = "none"}',
         'GeluV2(%x) {approximate = "tanh"}')
    index = torch.zeros(1, dtype=torch.int64)
    says("embedding has the table first", to_skir(nn.Embedding(8, 6), [index]),
         "Gather(%weight, %input)")
    says("arguments without a name", to_skir(
        lambda x, *more, scale=2: abs(x) * more[0] * scale, [x, x]),
        "(%x: f32[8, 32], %arg1: f32[8, 32])", "%abs_1 = Abs(%x)")
    def in_bf16(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return LIN(x).float()

    says("autocast casts", to_skir(in_bf16, [X]), "Cast(%x) : bf16[4, 6]", ": bf16[4, 3]")
    says("several ops of halves round once", to_skir(torch.logaddexp, [X.bfloat16(), Y.bfloat16()]),
         "Cast(%arg0) : f32[4, 6]", "Exp(%where) : f32[4, 6]", "Cast(%add) : bf16[4, 6]")
    says("lists and dictionaries of tensors", to_skir(
        lambda xs, d: xs[0] + xs[1] * d["k"], [[X, X], {"k": X}]), "%xs.0: ", "%xs.1: ", "%d.k: ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = to_skir(nn.Linear(4, 4).half(), [torch.ones(4, 4).half()])
        says("a type that this machine does not compute", text, "%linear = Add(", ": f16[4, 4]")


# ---- Scopes and streams ----


class Streams(nn.Module):
    def forward(self, x, y):
        with super_kernel("pair", "stream-fusion=1"):
            a = torch.matmul(x, y)
            with npu_stream_switch("side", 2), limit_core_num(4, 8):
                b = npu_wait_tensor(y, a) * 0.5
                npu_wait_tensor(x, b)
            with super_kernel(None):
                c = torch.isinf(b)
            h, _ = npu_rms_norm(a, y[0])
            return h + npu_wait_tensor(b, a), c


MARKS = ('scope @pair {options = "stream-fusion=1"} {', 'stream "side" {priority = 2} {',
         "%npu_wait_tensor = Identity(%y) : f32[16, 16] after (%matmul)",
         "%npu_wait_tensor_1 = Identity(%x) : f32[16, 16] after (%mul)",
         '_op_aicore_num = "4", _op_vectorcore_num = "8"', "scope none {", "RmsNorm(%matmul, ")


def check_streams():
    from torch.fx.experimental.proxy_tensor import make_fx
    inputs = {"x": torch.rand(16, 16), "y": torch.rand(16, 16)}
    pair = list(inputs.values())
    text = to_skir(Streams(), pair)
    accepts("two streams", text)
    says("scopes, streams and waits are written, also of what is not used", text, *MARKS)
    account = tap.skirc("check", "--explain", "-", stdin=text)
    says("what waits is on its stream", account.stdout,
         'Identity %npu_wait_tensor (stream "side"), Mul %mul')
    computes("two streams", Streams(), inputs, options=["--compare=unfused"])
    in_aten = [part.replace("matmul", "mm") for part in MARKS]
    says("marks are kept in ATen", to_skir(Streams(), pair, aten=True), *in_aten)
    symbolic = torch.fx.symbolic_trace(Streams())
    symbolic.graph.eliminate_dead_code()
    symbolic.recompile()
    says("in a GraphModule whose dead code was eliminated", to_skir(symbolic, pair), *MARKS)
    again = torch.fx.symbolic_trace(torch.fx.symbolic_trace(symbolic))
    says("and which was traced again", to_skir(copy.deepcopy(again), pair), *MARKS)
    says("and again by a Transformer", to_skir(torch.fx.Transformer(again).transform(), pair),
         *MARKS)
    taken_apart = make_fx(again)(*pair)
    marks = [part.replace("%x", "%arg0_1").replace("%y", "%arg1_1") for part in in_aten]
    says("and by make_fx, without inputs", to_skir(taken_apart), *marks)
    result = npu_wait_tensor(X, Y), *npu_rms_norm(X, X[0])
    tap.check("outside of a trace they compute", torch.equal(result[0], X) and differ(
        X * torch.rsqrt((X * X).mean(1, True) + 1e-6) * X[0], result[1]) is None)


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-9, 9, (16, 12), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(12) / 64)
        self.register_buffer("bias", torch.randint(-9, 9, (12,), dtype=torch.int32))

    def forward(self, x, rows):
        with super_kernel("quantised"):
            y = npu_quant_matmul(x, self.weight, self.scale, pertoken_scale=rows, bias=self.bias,
                                 output_dtype=torch.float16)
            z, scale = npu_dequant_swiglu_quant(y, weight_scale=self.scale, activate_left=True,
                                                activation_scale=rows.unsqueeze(1))
        return y.float(), z, scale


def check_quantised():
    inputs = {"x": torch.randint(-9, 9, (8, 16), dtype=torch.int8), "rows": torch.rand(8)}
    computes("quantised products and gates", Quantised(), inputs)
    says("are one op each", to_skir(Quantised(), inputs.values()),
         "= QuantBatchMatmulV3(%x, %weight, %scale, none, %bias, %rows) {dtype = 1} : f16[8, 12]",
         "= DequantSwigluQuant(%npu_quant_matmul, %scale, %npu_dequant_swiglu_quant.reshape, none, "
         'none, none, none) {activate_left, quant_mode = "dynamic"}')
    refused("a quantised product in 8 bits", "needs an output_dtype", lambda x, y: npu_quant_matmul(
        x, y, x[0]), X, Y)
    refused("a static gate", "quant_mode = 1", lambda x: npu_dequant_swiglu_quant(
        x, quant_mode=0)[0], X)


# ---- Ops without a row ----


def check_stubs():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.pool = nn.Conv1d(4, 4, 3), nn.MaxPool1d(2)

        def forward(self, x):
            with super_kernel("own"):
                y = self.conv(x)
            return y.relu(), torch.median(x), torch.round(x, decimals=1)

    text = warned("a warning names what no row translates",
                  "'aten.convolution' is an op without a kernel: no "
                  "row translates it", lambda: to_skir(Own(), [torch.rand(1, 4, 8)], stubs=True))
    accepts("ops of own types", text)
    says("they keep what they are called with", text,
         '"aten.convolution"(%x, %conv.weight, %conv.bias) {stride = [1], padding = [0], '
         "dilation = [1], transposed = false, output_padding = [0], groups = 1} : f32[1, 4, 6] "
         "via @aten_convolution", "kernel @aten_median : aiv_only {",
         '"aten.round"(%x) {decimals = 1} : f32[1, 4, 8] via @aten_round')
    warned("and what a row does not cover",
           "'aten.round' is an op without a kernel: its row does not "
           "cover decimals = 1", lambda: to_skir(lambda x: torch.round(x, decimals=1), [X]))
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

    def program(**mutated):
        return symbols(
            graph_module=torch.fx.GraphModule(nn.Module(), graph), state_dict={
                "layer.w": nn.Parameter(torch.rand(4, 2))}, constants={},
            graph_signature=symbols(inputs_to_parameters={"p_w": "layer.w"}, inputs_to_buffers={},
                                    **mutated))

    text = warned("an exported program is experimental", "experimental", lambda: to_skir(program()))
    accepts("an exported program", text)
    says("it has names of parameters, dimensions and scopes", text,
         "graph @main(%x: f32[s0, 4], %layer.w: f32[4, 2]) dims (s0) -> f32[s0, 2] {",
         "scope @s {", 'stream "1" {', "%mm_default = MatMul(%x, %layer.w) : f32[s0, 2]")
    check_exported_functions()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused("one that writes buffers", "writes into its buffers", program(
            buffers_to_mutate={"a": "b"}))
        with graph.inserting_before(y):
            graph.call_function(torch.relu, (x,))
        refused("one that calls what is no function of ATen", "no function of ATen", program())


def check_exported_functions():
    """Functions that make_fx takes apart and torch.export keeps."""
    aten, x, y = torch.ops.aten, torch.rand(2, 4, 6), torch.rand(5, 6)
    norm, half = torch.rand(6), torch.rand(1, 2, 8, 16).half()
    calls = [(aten.linear.default, (x, y)), (aten.matmul.default, (x, x.mT)),
             (aten.softmax.int, (x, 1)), (aten.log_softmax.int, (x, -1)),
             (aten.layer_norm.default, (x, [6], norm, norm)),
             (aten.layer_norm.default, (x, [4, 6])),
             (aten.dropout.default, (x, 0.5, False)), (aten.flatten.using_ints, (x, 1)),
             (aten.reshape.default, (x, [8, -1])), (aten.to.dtype, (x, torch.int32)),
             (aten.gelu.default, (x,)), (aten.chunk.default, (x, 2, -1))]
    for function, args in calls:
        graph, inputs = torch.fx.Graph(), {}
        for i, arg in enumerate(args):
            if torch.is_tensor(arg):
                inputs[f"x{i}"] = arg
        nodes = {name: graph.placeholder(name) for name in inputs}
        for name, node in nodes.items():
            node.meta["val"] = inputs[name]
        call = graph.call_function(function, tuple(
            nodes[f"x{i}"] if torch.is_tensor(arg) else arg for i, arg in enumerate(args)))
        call.meta["val"] = wanted = function(*args)
        parts = [wanted]
        if isinstance(wanted, (list, tuple)):
            parts, call = list(wanted), [graph.call_function(operator.getitem, (call, i))
                                         for i in range(len(wanted))]
            for node, part in zip(call, parts):
                node.meta["val"] = part
        graph.output(tuple(call) if isinstance(call, list) else (call,))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            text = to_skir(types.SimpleNamespace(
                graph_module=torch.fx.GraphModule(nn.Module(), graph), state_dict={},
                graph_signature=types.SimpleNamespace()))
        result = run(text, inputs)
        problem = result if isinstance(result, str) else "\n".join(
            filter(None, map(differ, parts, result[0])))
        tap.check(f"an exported {function}", not problem and len(caught) == 1, f"{problem}\n{text}")
    query = torch.fx.Graph()
    nodes = [query.placeholder(name) for name in "qkv"]

    def scaled_dot_product_attention(*args):
        pass

    names = [types.SimpleNamespace(name=name) for name in ("query", "key", "value")]
    scaled_dot_product_attention._schema = types.SimpleNamespace(arguments=names, is_mutable=False)
    call = query.call_function(scaled_dot_product_attention, tuple(nodes))
    for node in [*nodes, call]:
        node.meta["val"] = half
    query.output((call,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = to_skir(types.SimpleNamespace(
            graph_module=types.SimpleNamespace(graph=query), state_dict={},
            graph_signature=types.SimpleNamespace()))
    wanted = half.float()
    wanted = torch.softmax(wanted @ wanted.mT / 4, -1) @ wanted
    result = run(text, dict.fromkeys("qkv", half))
    tap.check("exported attention", not isinstance(result, str) and torch.allclose(
        result[0][0].float(), wanted, atol=2e-3), f"{result}\n{text}")


# ---- The table, the page and the command ----


def check_table():
    """Rows have the parameters and defaults of torch."""
    wrong, unknown = [], []
    for name, row in [*ROWS.items(), *REWRITES.items()]:
        packet = getattr(torch.ops.aten, name, None)
        if packet is None:
            unknown.append(name)
            continue
        same = {"self": "input", "batch1": "mat1", "batch2": "mat2"}
        schemas = [{same.get(arg.name, arg.name): repr(arg.default_value)
                    if arg.has_default_value() else "required" for arg in schema.arguments}
                   for schema in (getattr(packet, name)._schema for name in packet.overloads())]
        for param, default in row.params.items():
            text = "required" if type(default) is object else repr(default)
            kinds = {schema[param] for schema in schemas if param in schema}
            without = any(param not in schema for schema in schemas)  # what it does is the default
            if not kinds or text not in kinds and (text == "required" or not without
                                                   and text != "None"):
                wrong.append(f"{name}({param} = {text}), in torch {kinds or 'missing'}")
    tap.check("rows have the parameters of torch, and their defaults", not wrong, "\n".join(wrong))
    tap.check("of functions that ATen has", set(unknown) <= {
        "npu_dequant_swiglu_quant", "npu_quant_matmul", "npu_rms_norm", "npu_wait_tensor",
        "scaled_dot_product_attention"}, unknown)
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    status, output, errors = command("--translations")
    tap.check("--translations prints the table", output == translations(), errors)
    tap.check("the page has the table as --translations prints it", f"\n{output}" in f"{page}\n",
              "replace the table of docs/importing.md by what is printed:\n" + output)


def check_page():
    """The example of docs/importing.md."""
    with open(PAGE, encoding="utf-8") as file:
        blocks = dict(re.findall(r"^```(?:python|skir) file=(\S+)$\n(.*?)^```$", file.read(),
                                 re.M | re.S))
    tap.write("block.py", blocks["block.py"])
    done = subprocess.run([sys.executable, "-B", SCRIPT, "block.py:make"], capture_output=True,
                          text=True)
    tap.check("the page's example is what it says", done.stdout == blocks["block.skir"],
              done.stderr + done.stdout)


def command(*arguments):
    """What the command does in this process, which has torch already: (status, output, errors)."""
    streams, shown, argv = [io.StringIO(), io.StringIO()], warnings.showwarning, sys.argv
    sys.argv = [SCRIPT, *arguments]
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            torch_skir._main()
        status, message = 0, ""
    except SystemExit as error:
        status, message = (error.code, "") if isinstance(error.code, int) else (1, error.code)
    finally:
        warnings.showwarning, sys.argv = shown, argv
    return status, streams[0].getvalue(), streams[1].getvalue() + message


def check_command():
    tap.write("model.py", "import torch\nfrom torch_skir import super_kernel\n\n\ndef program(x):\n"
              "    with super_kernel('s'):\n        return torch.median(x) + x\n\n\n"
              "def make():\n    return program, [torch.rand(2, 3)]\n\n\n"
              "def draws():\n    return torch.nn.Dropout(), [torch.rand(2, 3)]\n")
    done = subprocess.run([sys.executable, "-B", SCRIPT, "model.py:make", "-o", "out.skir",
                           "--name=own", "--stubs"], capture_output=True, text=True)
    tap.check("the command writes a file, and says what has no kernel", done.returncode == 0
              and not done.stdout and done.stderr == "torch_skir: 'aten.median' is an op without a "
              "kernel: no row translates it\n", done.stderr)
    with open("out.skir", encoding="utf-8") as file:
        text = file.read()
    accepts("what the command writes", text)
    says("with its options", text, "graph @own(%x: f32[2, 3]) -> f32[2, 3] {", "scope @s {",
         "kernel @aten_median : aiv_only")
    for where, part in (("model.py", "not of the form FILE.py:FUNCTION"),
                        ("model.py:none", "no attribute 'none'"), ("no.py:make", "No such file"),
                        ("model.py:draws", "torch_skir: the program draws random numbers")):
        status, _, errors = command(where)
        tap.check(f"the command refuses {where}", status == 1 and part in errors, errors)
    status, _, errors = command()
    tap.check("the command needs a program", status == 2 and "no program" in errors, errors)
    status, output, errors = command("--help")
    tap.check("its help says what is experimental", status == 0 and "experimental" in output,
              output)


check_programs()
check_modules()
check_state()
check_refusals()
check_structure()
check_streams()
check_quantised()
check_stubs()
check_exported()
check_table()
check_command()
check_page()
tap.done()
