"""Makes a .skir file of a PyTorch program. Needs nothing but PyTorch, 1.13 or later.

    from torch_skir import npu_stream_switch, npu_wait_tensor, super_kernel, to_skir

    class Block(torch.nn.Module):
        def forward(self, x):
            with super_kernel("block", "stream-fusion=1"):
                a = torch.relu(x)
                with npu_stream_switch("1"):
                    b = npu_wait_tensor(x, a) + 1
            return a * b

    text = to_skir(Block(), [torch.rand(4, 8)])

As a command, for a function that returns (module, example inputs):

    python3 torch_skir.py FILE.py:FUNCTION -o OUT.skir

The context managers and functions have the names and arguments of TorchAir's (torchair.scope,
torch_npu). They mean something while a program is traced, and nothing else.

A copy of the program is traced by make_fx of torch.fx with the example inputs. What it writes in
place, in views too, becomes values (torch's functionalization); what is written into inputs,
buffers and other tensors of the module is assigned to them at the end of the graph. The trace is
run and compared with the program, so that nothing is imported that computes something else.

Each function of ATen becomes what its row in torch_skir_ops.py says. A function without a row, and
a call that its row does not cover, becomes an op of its own type, "aten.NAME", with all its tensors
as operands and the rest as attributes, and a warning says why.

An ExportedProgram of torch.export (PyTorch 2) is taken as it is. This is experimental.
"""

import argparse
import contextlib
import copy
import ctypes
import importlib.util
import inspect
import math
import numbers
import operator
import os
import re
import sys
import traceback
import types
import warnings

import torch
import torch.fx
import torch.overrides
import torch.utils._python_dispatch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

import torch_skir_rewrites
from torch_skir_ops import (ROWS, Call, NotCovered, Refused, arguments_of, decompositions,
                            translations)

__all__ = ["Refused", "limit_core_num", "npu_dequant_swiglu_quant", "npu_quant_matmul",
           "npu_rms_norm", "npu_stream_switch", "npu_wait_tensor", "super_kernel", "to_skir"]

# ---- Scopes and streams ----


def _tracer():
    """The innermost tracer of torch.fx that runs the calling code, or None."""
    frame = inspect.currentframe()
    while frame:
        tracer = frame.f_locals.get("self") if frame.f_code.co_name == "trace" else None
        if isinstance(tracer, torch.fx.Tracer):
            return tracer
        frame = frame.f_back
    return None


def scope_enter(keys, values):
    """A node of a graph: what follows has these attributes, up to scope_exit. Traced again, it
    becomes such a node again."""
    tracer = _tracer()
    if tracer is not None:
        tracer.create_node("call_function", scope_enter, (list(keys), list(values)), {})


def scope_exit():
    tracer = _tracer()
    if tracer is not None:
        tracer.create_node("call_function", scope_exit, (), {})


@contextlib.contextmanager
def _marked(**marks):
    scope_enter(list(marks), list(marks.values()))
    try:
        yield
    finally:
        scope_exit()


def super_kernel(scope, options=""):
    """What is called within is to be fused; with None, it is not to be."""
    return _marked(_super_kernel_scope=scope, _super_kernel_options=options or "")


def npu_stream_switch(stream_tag, stream_priority=0, enable_inner_parallel=True):
    """What is called within runs on the stream of that label. The last argument means nothing."""
    return _marked(_user_stream_label=stream_tag, _user_stream_priority=int(stream_priority))


def limit_core_num(op_aicore_num, op_vectorcore_num):
    """What is called within runs on so many cores at most."""
    return _marked(_op_aicore_num=str(op_aicore_num), _op_vectorcore_num=str(op_vectorcore_num))


# Ops of their own, which no tracer looks into.
_library = torch.library.Library("skir", "DEF")


def _define(schema, function):
    _library.define(schema)
    _library.impl(schema.split("(")[0], function, "CompositeExplicitAutograd")


def _compute_rms_norm(x, gamma, epsilon):
    axes = list(range(x.dim() - gamma.dim(), x.dim()))
    rstd = torch.rsqrt(x.float().pow(2).mean(axes, keepdim=True) + epsilon)
    return (x.float() * rstd * gamma.float()).to(x.dtype), rstd


def _compute_quant_matmul(x1, x2, scale, offset, pertoken_scale, bias, output_dtype):
    total = x1.int() @ x2.int()
    y = (total if bias is None else total + bias).float() * scale
    return (y if pertoken_scale is None else y * pertoken_scale.unsqueeze(-1)).to(output_dtype)


def _compute_dequant_swiglu_quant(x, weight_scale, activation_scale, activate_left):
    x = x.float() if weight_scale is None else x.float() * weight_scale
    x = x if activation_scale is None else x * activation_scale.reshape(*x.shape[:-1], 1)
    first, second = x.chunk(2, -1) if activate_left else x.chunk(2, -1)[::-1]
    y = torch.nn.functional.silu(first) * second
    scale = y.abs().amax(-1) / 127
    return torch.round(y / scale.unsqueeze(-1)).nan_to_num(0).clamp(-127, 127).to(torch.int8), scale


_define("npu_wait_tensor(Tensor self, Tensor dependency) -> Tensor", lambda x, _: x.clone())
_define("npu_rms_norm(Tensor self, Tensor gamma, float epsilon) -> (Tensor, Tensor)",
        _compute_rms_norm)
_define("npu_quant_matmul(Tensor x1, Tensor x2, Tensor scale, Tensor? offset, "
        "Tensor? pertoken_scale, Tensor? bias, ScalarType output_dtype) -> Tensor",
        _compute_quant_matmul)
_define("npu_dequant_swiglu_quant(Tensor x, Tensor? weight_scale, Tensor? activation_scale, "
        "bool activate_left) -> (Tensor, Tensor)", _compute_dequant_swiglu_quant)
torch.fx.node._side_effectful_functions.update({
    scope_enter, scope_exit, torch.ops.skir.npu_wait_tensor,
    torch.ops.skir.npu_wait_tensor.default})


def _call_op(op, *args):
    proxies = [arg for arg in args if isinstance(arg, torch.fx.Proxy)]
    if proxies:
        return proxies[0].tracer.create_proxy("call_function", op, args, {})
    return op(*args)


def npu_wait_tensor(self, dependency):
    """`self`; its users wait for `dependency`, too."""
    return _call_op(torch.ops.skir.npu_wait_tensor.default, self, dependency)


def npu_rms_norm(self, gamma, epsilon=1e-6):
    """x over the root of the mean of its squares, times gamma; and what it was multiplied by."""
    results = _call_op(torch.ops.skir.npu_rms_norm.default, self, gamma, epsilon)
    return results[0], results[1]  # torch.fx cannot unpack a proxy in Python 3.11


def npu_quant_matmul(x1, x2, scale, *, offset=None, pertoken_scale=None, bias=None,
                     output_dtype=None):
    """((x1 * x2 + bias) * scale) * pertoken_scale of integers, as floats of the type."""
    if offset is not None or output_dtype not in (torch.float16, torch.bfloat16):
        raise Refused("npu_quant_matmul takes no offset, and needs an output_dtype of 16-bit "
                      "floats")
    return _call_op(torch.ops.skir.npu_quant_matmul.default, x1, x2, scale, offset, pertoken_scale,
                    bias, output_dtype)


def npu_dequant_swiglu_quant(x, *, weight_scale=None, activation_scale=None, bias=None,
                             quant_scale=None, quant_offset=None, group_index=None,
                             activate_left=False, quant_mode=1):
    """The gated halves of x * weight_scale * activation_scale in 8 bits, and the scales of rows."""
    if any(value is not None for value in (bias, quant_scale, quant_offset, group_index)) \
            or quant_mode not in (1, "dynamic"):
        raise Refused("npu_dequant_swiglu_quant takes quant_mode = 1 (dynamic), and no bias, "
                      "quant_scale, quant_offset and group_index")
    results = _call_op(torch.ops.skir.npu_dequant_swiglu_quant.default, x, weight_scale,
                       activation_scale, activate_left)
    return results[0], results[1]


# ---- What is traced as one function ----


def _is_matrix(*values):
    return all(torch.is_tensor(value) and value.dim() > 1 and value.is_floating_point()
               for value in values)


def _one_hot(input, num_classes):
    return (input.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


_define("linear(Tensor input, Tensor weight, Tensor? bias) -> Tensor", torch.nn.functional.linear)
_define("matmul(Tensor input, Tensor other) -> Tensor", torch.matmul)
for _name in ("isfinite", "isinf", "isnan"):
    _define(f"{_name}(Tensor input) -> Tensor", getattr(torch, _name))


class _Functions(torch.overrides.TorchFunctionMode):
    """Calls of PyTorch before it takes them apart. Without `whole`, only those that cannot be
    traced otherwise are replaced."""

    def __init__(self, whole):
        self.whole = whole

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if getattr(function, "__module__", None) not in _HOMES:
            return function(*args, **kwargs)
        if name in _READERS and torch._is_functional_tensor(args[0]):
            raise Refused(f"the program reads values of a tensor in Python ({name})" + _READ_HELP)
        if name in ("__getitem__", "__setitem__"):
            place = _places(*args[:2])
            if place and name == "__setitem__":
                return _write_places(args[0], *place, args[2])
            if name == "__setitem__" and _write_mask(*args):
                return None
            if place and any(index.dim() == 0 for index in place[1]):
                return _read_places(*place)
        if name == "new_tensor" and len(args) == 2:
            return torch.tensor(args[1], dtype=kwargs.get("dtype") or args[0].dtype)
        if function is torch.nn.functional.one_hot:
            count = kwargs.get("num_classes", (*args, -1, -1)[1])
            if count >= 0:
                return _one_hot(args[0] if args else kwargs["input"], count)
        if self.whole and not kwargs and not torch.is_autocast_cpu_enabled():
            if name == "linear" and _is_matrix(*args[:2]):
                return torch.ops.skir.linear(*(*args, None)[:3])
            if name in ("matmul", "__matmul__", "__rmatmul__") and _is_matrix(*args):
                pair = args[::-1] if name == "__rmatmul__" else args
                return torch.ops.skir.matmul(*pair)
            if name in ("isfinite", "isinf", "isnan") and args[0].is_floating_point():
                return getattr(torch.ops.skir, name)(args[0])
        return function(*args, **kwargs)


def _places(tensor, index):
    """(view, indices, dims) of an index with tensors of places: `view` is what the rest of the
    index selects, `dims` are its dimensions that the tensors index. None of any other index."""
    items = tuple(torch.tensor(item) if isinstance(item, list) and item else item
                  for item in (index if isinstance(index, tuple) else (index,)))
    indices = [item for item in items if torch.is_tensor(item)]
    if not indices or any(item.dtype not in (torch.int32, torch.int64) for item in indices) or any(
            isinstance(item, bool) or not isinstance(item, (int, slice, type(None), type(...),
                                                            torch.Tensor)) for item in items):
        return None
    dims, at = [], 0
    for item in items:
        if torch.is_tensor(item):
            dims.append(at)
        if item is ...:
            at += tensor.dim() - sum(other is not None and other is not ... for other in items)
        elif not isinstance(item, int):
            at += 1
    rest = tuple(slice(None) if torch.is_tensor(item) else item for item in items)
    return tensor[rest], [item.to(torch.int64) for item in indices], dims


def _write_mask(tensor, index, values):
    """As tensor[index] = values, where the index has a mask and there is one value. Whether it was
    such an index."""
    items = index if isinstance(index, tuple) else (index,)
    masks = [at for at, item in enumerate(items) if torch.is_tensor(item)]
    if len(masks) != 1 or items[masks[0]].dtype is not torch.bool or any(
            not isinstance(item, (slice, torch.Tensor)) for item in items) or (
                torch.is_tensor(values) and values.numel() != 1):
        return False
    at, mask = masks[0], items[masks[0]]
    view = tensor[(*items[:at], *[slice(None)] * mask.dim(), *items[at + 1:])]
    mask = mask.reshape(*mask.shape, *[1] * (view.dim() - at - mask.dim()))
    if torch.is_tensor(values):
        values = values.reshape(()).to(tensor.dtype)
    view.copy_(view.masked_fill(mask, values))
    return True


def _is_row(dims):
    return dims == list(range(dims[0], dims[0] + len(dims)))


def _read_places(view, indices, dims):
    """As view[..., indices, ...]. PyTorch reads the value of an index without dimensions."""
    front = view.movedim(dims, list(range(len(dims))))
    result = torch.ops.aten.index.Tensor(front, indices)
    count = result.dim() - view.dim() + len(dims)
    if count == 0 or not _is_row(dims):
        return result
    return result.movedim(list(range(count)), list(range(dims[0], dims[0] + count)))


def _write_places(tensor, view, indices, dims, values):
    """As view[..., indices, ...] = values, whose form PyTorch 1.13 cannot make functional."""
    if len(indices) == 1 and indices[0].dim() <= 1:
        axis, count = dims[0], view.shape[dims[0]]
        index = torch.where(indices[0] < 0, indices[0] + count, indices[0]).reshape(-1)
        whole = [*view.shape[:axis], *indices[0].shape, *view.shape[axis + 1:]]
        values = _expanded(values, tensor.dtype, whole)
        values = values if indices[0].dim() else values.unsqueeze(axis)
        view.index_copy_(axis, index, values)
        return
    shape = list(torch.broadcast_shapes(*(index.shape for index in indices)))
    rest = [size for axis, size in enumerate(view.shape) if axis not in dims]
    first = dims[0] if _is_row(dims) else 0
    values = _expanded(values, tensor.dtype, rest[:first] + shape + rest[first:])
    values = values.movedim(list(range(first, first + len(shape))), list(range(len(shape))))
    view.movedim(dims, list(range(len(dims)))).index_put_(tuple(indices), values)


def _expanded(values, dtype, shape):
    """What is assigned, as elements of the type in the shape; it may have more dimensions 1."""
    if not torch.is_tensor(values):
        values = torch.full((), values, dtype=dtype)
    while values.dim() > len(shape):
        values = values.squeeze(0)
    return values.to(dtype).expand(shape)


_HOMES = (None, "torch", "torch.functional", "torch.nn.functional", "torch._C._nn", "torch._tensor")
_READERS = ("numpy", "tolist", "__array__", "data_ptr")
_READ_HELP = "; a graph has no values while it is made: compute with tensors, as torch.where does"


class _WiderHalves(torch.utils._python_dispatch.TorchDispatchMode):
    """Computes in f32 what this machine does not compute in f16 or bf16."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        try:
            return function(*args, **kwargs)
        except RuntimeError as error:
            halves = {leaf.dtype for leaf in tree_flatten((args, kwargs))[0]
                      if torch.is_tensor(leaf) and leaf.dtype in (torch.float16, torch.bfloat16)}
            if "not implemented for" not in str(error) or not halves:
                raise
            return _convert(function(*_convert(args, halves, torch.float32),
                                     **_convert(kwargs, halves, torch.float32)),
                            {torch.float32}, halves.pop())


def _convert(structure, dtypes, dtype):
    return tree_map(lambda leaf: leaf.to(dtype) if torch.is_tensor(leaf) and leaf.dtype in dtypes
                    else leaf, structure)


# ---- Copies and state ----


def _copied(program):
    """(a copy of the program, the modules that it calls by their names)"""
    if isinstance(program, torch.nn.Module):
        module = _copy_of(program)
        return module, {"": module}
    if inspect.ismethod(program) and isinstance(program.__self__, torch.nn.Module):
        module = _copy_of(program.__self__)
        return getattr(module, program.__name__), {"": module}
    if not inspect.isfunction(program):
        program = _copy_of(program)
        inner = getattr(getattr(program, "func", None), "__self__", None)  # functools.partial
        found = {"": inner} if inner else getattr(program, "__dict__", {})
        return program, {name: value for name, value in found.items()
                         if isinstance(value, torch.nn.Module)}
    used = inspect.getclosurevars(program)
    modules = {name: _copy_of(value) for name, value in {**used.globals, **used.nonlocals}.items()
               if isinstance(value, torch.nn.Module)}
    cells = tuple(types.CellType(modules[name]) if name in modules else cell for name, cell in
                  zip(program.__code__.co_freevars, program.__closure__ or ()))
    function = types.FunctionType(program.__code__, {**program.__globals__, **modules},
                                  program.__name__, program.__defaults__, cells)
    function.__kwdefaults__ = program.__kwdefaults__
    return function, modules


def _copy_of(program):
    """Tensors that were computed, as weight_norm has them, are copied without their history."""
    modules = {"": program} if isinstance(program, torch.nn.Module) else {}
    memo = {key: tensor.detach().clone() for key, tensor in _State(modules).tensors.items()
            if tensor.grad_fn is not None}
    try:
        return copy.deepcopy(program, memo)
    except Exception as error:
        raise Refused(f"the program cannot be copied, and tracing may change it: {error}") \
            from error


class _State:
    """The tensors that modules have, wherever they have them. Each is one value of the graph,
    however many names it has."""

    def __init__(self, modules):
        self.places, self.names, self.tensors = [], {}, {}  # by identity of the tensor
        for root, top in modules.items():
            for path, module in top.named_modules():
                prefix = "".join(f"{part}." for part in (root, path) if part)
                if isinstance(module, torch.jit.ScriptModule):
                    raise Refused("a ScriptModule is not traced: hand in the module that it was "
                                  "made of")
                own = vars(module)
                for holder in (module._parameters, module._buffers):
                    self._find(prefix, holder, holder)
                self._find(prefix, own, {key: own[key] for key in own if key not in _INTERNAL})

    def _find(self, prefix, holder, items, depth=0):
        for key, value in list(items.items() if isinstance(items, dict) else enumerate(items)):
            if torch.is_tensor(value):
                self.names.setdefault(id(value), f"{prefix}{key}")
                self.tensors[id(value)] = value
                self.places.append((holder, key, id(value)))
            elif isinstance(value, (dict, list)) and depth < 8:
                self._find(f"{prefix}{key}.", value, value, depth + 1)

    def place(self, tensors):
        """Puts others in the places of the tensors, in the order of `self.tensors`."""
        others = dict(zip(self.tensors, tensors))
        for holder, key, identity in self.places:
            holder[key] = others[identity]

    def changed(self, placed):
        """What is there now, where the program has assigned another tensor."""
        others, result = dict(zip(self.tensors, placed)), {}
        for holder, key, identity in self.places:
            was, name = others[identity], self.names[identity]
            now = holder[key] if not isinstance(holder, dict) else holder.get(key)
            if not torch.is_tensor(now) or now.shape != was.shape or now.dtype != was.dtype:
                raise Refused(
                    f"the program changes '{name}' from {_shape_text(was)} to "
                    f"{_shape_text(now) if torch.is_tensor(now) else type(now).__name__}; what a "
                    "graph keeps has one type: allocate it as large as it gets, and write into it")
            if result.setdefault(identity, now) is not now:
                raise Refused("the program assigns another tensor to one of the names of "
                              f"'{name}'; write into the tensor instead, by copy_")
        return [result[identity] for identity in self.tensors]


_INTERNAL = set(vars(torch.nn.Module())) - {"training"}


def _shape_text(tensor):
    return f"{_dtype_text(tensor.dtype)}{list(tensor.shape)}"


def _plain_state(modules):
    """The attributes of modules that are no tensors: {name: something to compare}"""
    result = {}
    for root, top in modules.items():
        for path, module in top.named_modules():
            prefix = "".join(f"{part}." for part in (root, path) if part)
            for key, value in vars(module).items():
                if key not in _INTERNAL:
                    result[prefix + key] = _frozen(value, 0)
    return result


def _frozen(value, depth):
    if value is None or isinstance(value, (bool, int, float, str, torch.dtype)):
        return repr(value)
    if torch.is_tensor(value) or isinstance(value, torch.nn.Module) or depth > 4:
        return "a tensor or module"
    if isinstance(value, (list, tuple, set)):
        return [_frozen(element, depth + 1) for element in value]
    if isinstance(value, dict):
        return [(repr(key), _frozen(element, depth + 1)) for key, element in value.items()]
    if hasattr(value, "__dict__") and not callable(value):
        return _frozen(vars(value), depth + 1)
    return type(value).__name__


def _check_plain_state(before, modules):
    after = _plain_state(modules)
    for name, value in before.items():
        if after.get(name) != value:
            now = after.get(name, "nothing")
            change = f" from {value} to {now}" if isinstance(value, str) and isinstance(now, str) \
                else ""
            raise Refused(
                f"the program changes '{name}', which is no tensor,{change} while it runs, and a "
                "graph keeps nothing of this: make it a buffer (register_buffer) that is updated "
                "in place, return it, or leave it alone")


# ---- Tracing ----


class _Trace:
    """A program as a graph of ATen functions that write nothing but, at its end, what they are
    given. Its parameters are the tensors of `state`, then those of the inputs."""

    def __init__(self, program, inputs, aten):
        self.inputs, self.spec = tree_flatten(tuple(inputs))
        self.program, modules = _copied(program)
        self.state = _State(modules)
        before = _plain_state(modules)
        tensors = [tensor.detach().clone() for tensor in self.state.tensors.values()]
        tensors += _copies([leaf for leaf in self.inputs if torch.is_tensor(leaf)])
        self.aten, self.finishing = aten, False
        self.module, self.reasons = self._make(tensors)
        _check_plain_state(before, modules)
        self.names = self._names(program)

    def _make(self, tensors):
        from torch.fx.experimental.proxy_tensor import make_fx
        table, reasons = decompositions()
        try:
            with torch.no_grad(), _WiderHalves(), _Writes(self):
                return make_fx(self._run, table)(*tensors), reasons
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
            if any(text in str(error) for text in _READ_ERRORS):
                raise Refused(
                    f"{_place_of(error)}the program reads values of a tensor in Python (a branch "
                    "or item() does, and x[i] where i has no dimensions: write x[i, ...])" +
                    _READ_HELP) from error
            if "sym_strides() called on an undefined" in str(error):
                raise Refused(f"{_place_of(error)}what is assigned to an index with a mask has "
                              "more than one element: use torch.where") from error
            if "mutating a non-functional tensor" in str(error):
                raise Refused(f"{_place_of(error)}{_WRITE_HELP}") from error
            if isinstance(error, Refused):
                raise Refused(f"{_place_of(error)}{error}") from error
            raise

    def _run(self, *tensors):
        """What make_fx traces."""
        torch._enable_functionalization(reapply_views=True)
        try:
            wrapped = [torch._to_functional_tensor(tensor) for tensor in tensors]
            count = len(self.state.tensors)
            self.state.place(wrapped[:count])
            rest = iter(wrapped[count:])
            leaves = [next(rest) if torch.is_tensor(leaf) else leaf for leaf in self.inputs]
            with _Functions(not self.aten):
                result = self.program(*tree_unflatten(leaves, self.spec))
            now = self.state.changed(wrapped[:count]) + wrapped[count:]
            self.dropped = [leaf for leaf in _flat(result)
                            if leaf is not None and not torch.is_tensor(leaf)]
            result = [_plain(leaf) for leaf in _flat(result) if torch.is_tensor(leaf)]
            ends = [_plain(tensor) for tensor in now]
        finally:
            torch._disable_functionalization()
        given = {id(tensor) for tensor in tensors}
        ends = [end.clone() if id(end) in given and end is not tensor else end
                for tensor, end in zip(tensors, ends)]
        result = [leaf.clone() if id(leaf) in given else leaf for leaf in result]
        self.finishing = True
        for tensor, end in zip(tensors, ends):
            if tensor is not end:
                tensor.copy_(end)
        return result

    def _names(self, program):
        """Those of the parameters of the graph."""
        function = getattr(program, "forward", program)
        names = _input_names(function, len(self.spec.children_specs))
        paths = [path for name, child in zip(names, self.spec.children_specs)
                 for path in _paths(name, child)]
        return [*self.state.names.values(),
                *(path for path, leaf in zip(paths, self.inputs) if torch.is_tensor(leaf))]

    def check(self, program):
        """Runs the trace and the program: twice, and with the elements of the inputs reversed."""
        eager, _ = _copied(program)
        state = [tensor.detach().clone() for tensor in self.state.tensors.values()]
        original = tree_unflatten(self.inputs, self.spec)
        for number, inputs in enumerate((original, original, tree_map(_reversed, original))):
            eager_inputs, trace_inputs = _copies(inputs), _copies(inputs)
            with torch.no_grad(), _WiderHalves(), torch.random.fork_rng(devices=[]):
                try:
                    wanted = eager(*eager_inputs)
                except Exception:
                    if number == 2:
                        return
                    raise
                got = self.module(*state, *filter(torch.is_tensor, tree_flatten(trace_inputs)[0]))
            wanted = [leaf for leaf in _flat((wanted, eager_inputs)) if torch.is_tensor(leaf)]
            got = [leaf for leaf in _flat((got, trace_inputs)) if torch.is_tensor(leaf)]
            if len(wanted) != len(got) or not all(map(_is_close, wanted, got)):
                raise Refused(_DIFFERENCES[number])


_READ_ERRORS = ("value out of a tracing tensor", "tolist() shouldn't be called",
                "argument of type: <class 'numpy", "Cannot access data pointer")
_WRITE_HELP = "the program writes into a tensor that is no input and no tensor of a module: make " \
    "it a buffer (register_buffer)"
_DIFFERENCES = (
    "the program computes something else than its trace: does it keep something in Python between "
    "calls?",
    "called a second time, the program computes something else than its trace: it keeps something "
    "in Python between calls; make that a buffer (register_buffer) that is updated in place",
    "with other inputs, the program computes something else than its trace: it depends on values "
    "of the inputs in a way that was not traced",
)


class _Writes(torch.utils._python_dispatch.TorchDispatchMode):
    """Refuses writes that functionalization does not see, before they are done."""

    def __init__(self, trace):
        self.trace = trace

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name.rstrip("_") in _RANDOM:
            raise Refused(_RANDOM_HELP)
        if function._schema.is_mutable and not self.trace.finishing:
            raise Refused(_WRITE_HELP)
        return function(*args, **(kwargs or {}))


def _plain(tensor):
    if not torch._is_functional_tensor(tensor):
        return tensor
    torch._sync(tensor)
    return torch._from_functional_tensor(tensor)


def _reversed(leaf):
    return leaf.flatten().flip(0).reshape(leaf.shape) if torch.is_tensor(leaf) else leaf


def _is_close(wanted, got):
    if wanted.shape != got.shape or wanted.dtype != got.dtype:
        return False
    if not (wanted.is_floating_point() or wanted.is_complex()):
        return bool(torch.equal(wanted, got))
    share = 1e-2 if wanted.dtype in (torch.float16, torch.bfloat16) else 1e-4
    wanted, got = (tensor.to(torch.complex128) if tensor.is_complex() else tensor.double()
                   for tensor in (wanted, got))
    finite = wanted[torch.isfinite(wanted)]
    scale = finite.abs().max().item() if finite.numel() else 1
    return torch.allclose(got, wanted, rtol=share, atol=share * scale, equal_nan=True)


def _place_of(error):
    """FILE:LINE of the program's code that an error comes from."""
    own = (os.path.dirname(torch.__file__) + os.sep, __file__,
           sys.modules[Call.__module__].__file__, torch_skir_rewrites.__file__, "<")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if not frame.filename.startswith(own)]
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""


def _input_names(function, count):
    """Names for so many positional arguments: those of the parameters, as far as there are any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a function of PyTorch itself
        parameters = ()
    names = [parameter.name for parameter in parameters
             if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    return names[:count] + [f"arg{i}" for i in range(len(names), count)]


def _paths(name, spec):
    """Names of the leaves of a structure: NAME.0, NAME.KEY ..."""
    if not spec.children_specs:
        return [name]
    keys = spec.context if spec.type is dict else range(len(spec.children_specs))
    return [path for key, child in zip(keys, spec.children_specs)
            for path in _paths(f"{name}.{key}", child)]


def _copies(structure):
    return tree_map(lambda leaf: leaf.detach().clone() if torch.is_tensor(leaf) else leaf,
                    structure)


def _flat(structure):
    """What is in a structure of lists and dictionaries, in order."""
    if isinstance(structure, (list, tuple)):
        return [leaf for element in structure for leaf in _flat(element)]
    if isinstance(structure, dict):
        return [leaf for element in structure.values() for leaf in _flat(element)]
    return [structure]


def _inputs_of(module):
    """Inputs for a GraphModule that says what they are, of zeros."""
    result = []
    for node in getattr(module, "graph", torch.fx.Graph()).nodes:
        if node.op == "placeholder":
            known = _describe(node.meta.get("val", node.meta.get("tensor_meta")))
            if not isinstance(known, _Tensor) or not all(isinstance(d, int) for d in known.dims):
                return None
            result.append(torch.zeros(known.dims, dtype=known.dtype))
    return result or None


# ---- Types ----


class _Tensor:
    """What is known of a tensor. dims: None, or a list of integers, names and None."""

    def __init__(self, dtype, dims):
        self.dtype, self.dims = dtype, dims


_ANY = _Tensor(None, None)


def _describe(value):
    """A _Tensor for each tensor in a structure; anything else as it is."""
    if torch.is_tensor(value) or hasattr(value, "dtype") and hasattr(value, "shape"):
        return _Tensor(value.dtype, [_dim(dim) for dim in value.shape])
    if isinstance(value, (list, tuple)):
        return [_describe(element) for element in value]
    return value


def _dim(dim):
    """An integer, the text of a sum of products of names, or None."""
    if isinstance(dim, int):
        return dim
    text = str(dim)
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return text if re.fullmatch(r"\w+( *[*+] *\w+)*", text) else None


def _name_of(node):
    """The function that a node calls, without namespace and overload: "add", "copy_"."""
    packet = getattr(node.target, "overloadpacket", node.target)
    return getattr(packet, "__name__", str(packet)).split(".")[-1]


# ---- Text ----

_DTYPES = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "int8": "i8",
    "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "bool": "bool", "complex32": "c32", "complex64": "c64",
    "complex128": "c128", "float8_e5m2": "f8e5m2", "float8_e4m3fn": "f8e4m3fn",
    "float8_e8m0fnu": "f8e8m0",
}


def _dtype_text(dtype):
    return _DTYPES.get(str(dtype).split(".")[-1], "?")


def _type_text(tensor):
    if tensor.dims is None:
        return f"{_dtype_text(tensor.dtype)}[..]"
    return f"{_dtype_text(tensor.dtype)}[{', '.join(map(_dim_text, tensor.dims))}]"


def _dim_text(dim):
    return "?" if dim is None else str(dim)


def _types_text(types):
    return types[0] if len(types) == 1 else f"({', '.join(types)})"


def _string(text):
    def escape(match):
        byte = match.group()
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(byte, f"\\x{ord(byte):02x}")
    return '"' + re.sub(r"[\x00-\x1f\x7f]", escape, re.sub(r'(["\\])', r"\\\1", text)) + '"'


def _name_text(name):
    return name if re.fullmatch(r"[\w.$]+", name, re.ASCII) else _string(name)


def _key_text(key):
    return key if re.fullmatch(r"[A-Za-z_]\w*", key, re.ASCII) else _string(key)


def _float_text(number):
    """With the fewest digits that read back as the same."""
    if not math.isfinite(number):
        return str(number)
    text = next(text for text in (f"{number:.{digits}g}" for digits in range(1, 18))
                if float(text) == number)
    return text if "." in text or "e" in text else text + ".0"


def _data_text(data):
    """A value of an attribute, or None where the language has nothing for it."""
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, numbers.Integral):
        return str(int(data))
    if isinstance(data, float):
        return _float_text(data)
    if isinstance(data, str):
        return _string(data)
    if isinstance(data, torch.dtype):
        text = _dtype_text(data)
        return _string(str(data)) if text == "?" else text
    if isinstance(data, (list, tuple)):
        return f"[{', '.join(_data_text(element) or 'none' for element in data)}]"
    if isinstance(data, dict):
        return _attrs_text(data) or "{}"
    return None if data is None else _string(str(data))


def _attrs_text(attrs):
    parts = [_key_text(str(key)) + ("" if text == "true" else f" = {text}")
             for key, text in ((key, _data_text(data)) for key, data in attrs.items()) if text]
    return f"{{{', '.join(parts)}}}" if parts else ""


# ---- The graph that is made ----

_CONTENTS = ("Const", "Variable")
_VIEWS = ("Identity", "Reshape")
_LIST = 65536  # elements of a constant in the text


class _Value:
    """A value of the graph that is made."""

    def __init__(self, name, tensor, op=None):
        self.name, self.tensor, self.op = name, tensor, op

    def __str__(self):
        return "%" + _name_text(self.name)

    def memory(self):
        """The value whose memory this one is."""
        value = self
        while value.op and value.op.type in _VIEWS:
            value = value.op.operands[0]
        return value


class _Op:
    def __init__(self, type, operands, results, attrs, marks, after):
        self.type, self.operands, self.results, self.attrs = type, operands, results, attrs
        self.marks, self.after = marks, after
        self.kernel, self.is_own = None, False

    def text(self):
        results = ", ".join(map(str, self.results))
        type = self.type if re.fullmatch(r"[A-Z_]\w*", self.type, re.ASCII) else _string(self.type)
        text = f"{results} = " if results else ""
        text += f"{type}({', '.join(map(_operand_text, self.operands))})"
        attrs = _attrs_text(self.attrs)
        text += f" {attrs}" if attrs else ""
        if self.results:
            text += f" : {_types_text([_type_text(value.tensor) for value in self.results])}"
        text += f" via @{_name_text(self.kernel)}" if self.kernel else ""
        return text + (f" after ({self.after})" if self.after else "")


def _operand_text(operand):
    if operand is None:
        return "none"
    if isinstance(operand, list):
        return f"[{', '.join(map(str, operand))}]"
    return str(operand)


class _Builder:
    """A graph under construction: parameters, ops, and the value of each node of torch. A node that
    depends on nothing but constants is a tensor until something else uses it."""

    def __init__(self, module, params, reasons, weights):
        self.module, self.reasons, self.weights = module, reasons, weights
        self.pending = dict(params)  # by placeholder that has no value yet: (name, tensor or None)
        self.params, self.ops, self.returns, self.writes = [], [], [], []
        self.values, self.taken, self.consts = {}, set(), {}
        self.node, self.entered, self.warned = None, [{}], set()

    # -- names and values --

    def fresh(self, name):
        """The name, or with a number appended if it is taken."""
        result, n = name, 1
        while result in self.taken:
            result, n = f"{name}.{n}", n + 1
        self.taken.add(result)
        return result

    def base_name(self):
        return re.sub("^(_|native_)+", "", self.node.name) or self.node.name

    def tensor(self, dtype, dims):
        return _Tensor(dtype, dims)

    def add_param(self, name, tensor):
        value = _Value(self.fresh(name), tensor)
        self.params.append(value)
        return value

    def emit(self, type, operands, tensors, attrs=None, names=None, after=None):
        """An op with these results, whose names begin with that of the node; lists its values."""
        marks = self.entered[-1]
        limits = {key: value for key, value in marks.items()
                  if key.startswith("_op_") and type not in _VIEWS}
        names = names or [""] + [f".{i}" for i in range(1, len(tensors))]
        results = [_Value(self.fresh(self.base_name() + suffix), tensor)
                   for suffix, tensor in zip(names, tensors)]
        op = _Op(type, operands, results, {**(attrs or {}), **limits}, marks, after)
        for value in results:
            value.op = op
        self.ops.append(op)
        return results

    def part(self, type, operands, dtype, dims, attrs=None):
        """An op that gives one value on the way to that of the node."""
        return self.emit(type, operands, [_Tensor(dtype, dims)], attrs, [f".{type.lower()}"])[0]

    def const(self, data, dtype, dims):
        """A constant, one for all uses."""
        key = (str(data), dtype, tuple(dims))
        if key not in self.consts:
            self.consts[key] = self.constant(f"{self.base_name()}.const", _Tensor(dtype, dims),
                                             "Const", data)
        return self.consts[key]

    def constant(self, name, tensor, type, data):
        value = _Value(self.fresh(name), tensor)
        value.op = _Op(type, [], [value], {"value": data}, {}, None)
        self.ops.append(value.op)
        return value

    def place(self, tensor):
        """A constant with the elements of the tensor."""
        known = _describe(tensor)
        if tensor.dtype not in _LISTED:
            raise Refused(f"the program has a constant of {tensor.dtype}")
        flat = tensor.detach().reshape(-1)
        if flat.numel() and bool(((flat == flat[0]) & (flat.signbit() == flat[0].signbit())).all()):
            data = flat[0].item()
        elif flat.numel() <= _LIST or self.weights is None:
            data = flat.tolist()
        else:
            return self.constant(f"{self.base_name()}.const", known, "Const",
                                 self.weights.add(tensor))
        return self.const(data, known.dtype, known.dims)

    def value_of(self, node):
        """The value of a node."""
        if node in self.pending:
            name, tensor = self.pending.pop(node)
            known = _described(node)
            if tensor is None or self.weights is None:
                self.values[node] = self.add_param(name, known)
            else:
                is_written = any(_name_of(user) == "copy_" and user.args[0] is node
                                 for user in node.users)
                is_constant = isinstance(tensor, torch.nn.Parameter) and not is_written
                self.values[node] = self.constant(name, known, "Const" if is_constant else
                                                  "Variable", self.weights.add(tensor))
        value = self.values[node]
        if torch.is_tensor(value):
            value = self.values[node] = self.place(value)
        return value

    def resolve(self, arg):
        """An argument of a node, with the values of nodes in their places."""
        if isinstance(arg, torch.fx.Node):
            return self.value_of(arg)
        if isinstance(arg, (list, tuple)):
            return [self.resolve(element) for element in arg]
        return arg

    # -- nodes --

    def build(self):
        needed = _needed(self.module.graph)
        for node in self.module.graph.nodes:
            if node in needed:
                self.node = node
                self.add(node)
        self.finish_writes()
        self.drop_unused()

    def add(self, node):
        name = _name_of(node)
        if node.op == "placeholder":
            if node in self.pending and self.pending[node][1] is None:
                self.value_of(node)
        elif node.op == "get_attr":
            self.values[node] = operator.attrgetter(node.target)(self.module)
        elif node.op == "output":
            self.returns = [leaf for leaf in _flat(self.resolve(node.args[0]))
                            if isinstance(leaf, _Value)]
        elif name == "scope_enter":
            keys, values = (list(arg) for arg in node.args[:2])
            self.entered.append({**self.entered[-1], **dict(zip(keys, values))})
        elif name == "scope_exit":
            self.entered.pop()
        elif node.target is operator.getitem:
            self.values[node] = self.values[node.args[0]][node.args[1]]
        elif name == "copy_" and node.args[0].op == "placeholder":
            self.writes.append((self.value_of(node.args[0]), self.value_of(node.args[1])))
        else:
            self.values[node] = self.folded(node, name)
            if self.values[node] is None:
                self.values[node] = self.call(node, name)

    def folded(self, node, name):
        """The tensor that the node computes of constants alone."""
        _refuse_node(node, name)
        tensors = [self.values.get(arg) for arg in node.all_input_nodes]
        known = _described(node)
        if not all(map(torch.is_tensor, tensors)) or node.target not in _FOLDABLE and \
                getattr(node.target, "namespace", "aten") != "aten":
            return None
        if tensors and not all(isinstance(part, _Tensor) and math.prod(part.dims) <= _LIST
                               for part in _flat(known)):
            return None
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), self.values.__getitem__)
        with torch.no_grad(), _WiderHalves():
            return node.target(*args, **kwargs)

    def call(self, node, name):
        row = ROWS.get(name) if getattr(node.target, "namespace", "aten") in _ROW_SPACES else None
        reason, state = self.reasons.get(name, "no row translates it"), self.snapshot()
        if row:
            try:
                return self.translate(node, name, row)
            except NotCovered as error:
                reason = f"its row does not cover {error}"
                self.restore(state)
        self.warn(f"'{_own_type(node)}' is an op without a kernel: {reason}")
        return self.own(node)

    def translate(self, node, name, row):
        known = _described(node)
        if any(not isinstance(part, _Tensor) or part.dims is None for part in _flat(known)):
            raise NotCovered("results of unknown types")
        given = {key: self.resolve(value)
                 for key, value in arguments_of(node.target, node.args, node.kwargs).items()}
        if any(isinstance(leaf, _Value) and leaf.tensor.dims is None for leaf in _flat(given)):
            raise NotCovered("operands of unknown types")
        users = {user.args[1]: user for user in node.users if user.target is operator.getitem}
        return row.function(Call(self, name, row.bind(given), known,
                                 lambda i: i in users and bool(users[i].users)))

    def snapshot(self):
        return len(self.ops), set(self.taken), dict(self.consts)

    def restore(self, state):
        count, self.taken, self.consts = state
        del self.ops[count:]

    def own(self, node):
        """An op of the call's own type."""
        known = _described(node)
        tensors = [part if isinstance(part, _Tensor) else _ANY for part in _flat(known)]
        operands, attrs = [], {}
        for key, arg in _named_arguments(node):
            arg = self.resolve(arg)
            values = [leaf for leaf in _flat(arg) if isinstance(leaf, _Value)]
            if values:
                operands.append(arg if isinstance(arg, _Value) else values)
            if arg is not None and len(values) < len(_flat(arg)):
                attrs[key] = _data_of(arg)
        results = self.emit(_own_type(node), operands, tensors, attrs)
        self.ops[-1].is_own = True
        return results if isinstance(known, list) else results[0]

    def warn(self, text):
        if text not in self.warned:
            self.warned.add(text)
            warnings.warn(text)

    # -- the end --

    def finish_writes(self):
        """Assigns what the program has written. Values that are memory which is written are copied
        before, where they are returned or assigned themselves."""
        self.entered = [{}]
        self.writes = [(target, source) for target, source in self.writes
                       if not self.writes_in_place(target, source)]
        written = {id(target) for target, _ in self.writes}

        def kept(value, target=None):
            memory = value.memory()
            if id(memory) not in written or memory is target:
                return value
            return self.part("TensorMove", [value], value.tensor.dtype, value.tensor.dims)

        sources = [kept(source, target) for target, source in self.writes]
        self.returns = [kept(value) for value in self.returns]
        for (target, _), source in zip(self.writes, sources):
            if source is not target:
                self.emit("Assign", [target, source], [])

    def writes_in_place(self, target, source):
        """Makes a ScatterUpdate of a copy of the target one of the target itself, where nothing
        later reads what was there before."""
        update = source.op
        move = update.operands[0].op if update and update.type == "ScatterUpdate" else None
        if not move or move.operands[0] is not target or not self.is_read_by(move, update):
            return False
        later = _flat([op.operands for op in self.ops[self.ops.index(update) + 1:]])
        later += [*self.returns, *(other for _, other in self.writes)]
        if any(isinstance(value, _Value) and value.memory() is target for value in later):
            return False
        update.operands[0] = target
        self.ops.remove(move)
        return True

    def is_read_by(self, op, user):
        """Whether nothing else uses what the op gives."""
        return all(other is user or not any(value in op.results for value in _flat(other.operands))
                   for other in self.ops)

    def drop_unused(self):
        """Drops transposes that rows have seen through; contents come first."""
        kept, used = [], {id(value) for value in self.returns}
        for op in reversed(self.ops):
            if op.type in ("Const", "TransposeD") \
                    and not any(id(value) in used for value in op.results):
                continue
            kept.append(op)
            used.update(id(leaf) for leaf in _flat([op.operands, op.after]))
        kept.reverse()
        self.ops = [op for op in kept if op.type in _CONTENTS] \
            + [op for op in kept if op.type not in _CONTENTS]


_LISTED = {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int16,
           torch.int32, torch.int64, torch.uint8, torch.bool}
_FOLDABLE = {torch.ops.skir.linear.default, torch.ops.skir.matmul.default}
_ROW_SPACES = ("aten", "skir", "npu")
_RANDOM = {"bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial",
           "native_dropout", "normal", "poisson", "rand", "rand_like", "randint", "randint_like",
           "randn", "randn_like", "random", "randperm", "rrelu_with_noise", "uniform"}
_RANDOM_HELP = "the program draws random numbers, as dropout does in training: call eval() of " \
    "the module, or hand the numbers in as an input"
_BY_VALUES = {"bincount", "masked_select", "nonzero", "nonzero_numpy", "unique_consecutive",
              "unique_dim", "_unique", "_unique2"}


def _refuse_node(node, name):
    if name.rstrip("_") in _RANDOM:
        raise Refused(_RANDOM_HELP)
    if name in _BY_VALUES or name == "index" and any(
            _described(arg).dtype in (torch.bool, torch.uint8) for arg in node.args[1] if arg):
        raise Refused(f"the shape of a result of {name} depends on values: use torch.where, or a "
                      "mask that is multiplied")
    if getattr(getattr(node.target, "_schema", None), "is_mutable", False):
        raise Refused(f"'{name}' writes into a tensor: {_WRITE_HELP}")


def _needed(graph):
    """The nodes that the results, writes and marks of a graph depend on."""
    needed = set()
    for node in reversed(graph.nodes):
        name = _name_of(node)
        if node.op in ("placeholder", "output") or name in ("copy_", "npu_wait_tensor") \
                or name in ("scope_enter", "scope_exit") or any(user in needed
                                                                for user in node.users):
            needed.add(node)
    return needed


def _described(node):
    """What a node gives. That of a list is at the nodes that take its elements."""
    known = _describe(node.meta.get("val", node.meta.get("tensor_meta")))
    if known is not None:
        return known
    parts = {user.args[1]: _described(user) for user in node.users
             if user.target is operator.getitem}
    return [parts.get(i, _ANY) for i in range(max(parts) + 1)] if parts else _ANY


def _own_type(node):
    packet = getattr(node.target, "overloadpacket", node.target)
    return str(packet) if hasattr(node.target, "overloadpacket") else f"aten.{_name_of(node)}"


def _named_arguments(node):
    if hasattr(node.target, "_schema"):
        return arguments_of(node.target, node.args, node.kwargs).items()
    return [*((f"arg{i}", arg) for i, arg in enumerate(node.args)), *node.kwargs.items()]


def _data_of(arg):
    if isinstance(arg, (list, tuple)):
        return [_data_of(element) for element in arg]
    return f"%{arg.name}" if isinstance(arg, _Value) else arg


# ---- Modules ----


class _Weights:
    """A file of the bytes of tensors, each at a multiple of 64."""

    def __init__(self, path, skir_path):
        self.file = open(path, "wb")
        self.path = os.path.relpath(path, os.path.dirname(os.path.abspath(skir_path or ".skir")))
        self.offset = 0

    def add(self, tensor):
        tensor = tensor.detach().cpu().contiguous()
        size, offset = tensor.numel() * tensor.element_size(), -(-self.offset // 64) * 64
        self.file.write(b"\0" * (offset - self.offset))
        if size:
            self.file.write((ctypes.c_char * size).from_address(tensor.data_ptr()))
        self.offset = offset + size
        return {"file": self.path, "offset": offset, "bytes": size}


def _blocks_of(op):
    """The blocks around an op, outermost first."""
    marks, blocks = op.marks, []
    if "_super_kernel_scope" in marks:
        scope, options = marks["_super_kernel_scope"], marks.get("_super_kernel_options")
        if scope:
            attrs = _attrs_text({"options": options}) if options else ""
            blocks.append(f"scope @{_name_text(scope)} {attrs + ' ' if attrs else ''}{{")
        else:
            blocks.append("scope none {")
    label, priority = marks.get("_user_stream_label"), int(marks.get("_user_stream_priority", 0))
    if label is not None:
        attrs = f" {{priority = {priority}}}" if priority else ""
        blocks.append(f"stream {_string(str(label))}{attrs} {{")
    return blocks


def _body_text(builder):
    lines, open_blocks = [], []
    for op in builder.ops:
        blocks = _blocks_of(op)
        shared = 0
        while shared < min(len(blocks), len(open_blocks)) \
                and blocks[shared] == open_blocks[shared]:
            shared += 1
        while len(open_blocks) > shared:
            open_blocks.pop()
            lines.append("  " * (1 + len(open_blocks)) + "}")
        for block in blocks[shared:]:
            lines.append("  " * (1 + len(open_blocks)) + block)
            open_blocks.append(block)
        lines.append("  " * (1 + len(open_blocks)) + op.text())
    while open_blocks:
        open_blocks.pop()
        lines.append("  " * (1 + len(open_blocks)) + "}")
    return lines


def _dim_names(builder):
    """Names in dimensions, in the order of the parameters."""
    tensors = [value.tensor for value in builder.params]
    tensors += [value.tensor for op in builder.ops for value in op.results]
    texts = " ".join(dim for tensor in tensors for dim in tensor.dims or [] if isinstance(dim, str))
    return list(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", texts)))


def _head_lines(name, builder):
    """Parameters wrap at column 100, as in the canonical form."""
    lines = [f"graph @{_name_text(name)}("]
    below = " " * len(lines[0])
    for i, value in enumerate(builder.params):
        text = f"{value}: {_type_text(value.tensor)}"
        text += "," if i + 1 < len(builder.params) else ")"
        if i > 0 and len(lines[-1]) + 1 + len(text) > 100:
            lines.append(below + text)
        else:
            lines[-1] += f" {text}" if i > 0 else text
    lines[-1] += "" if builder.params else ")"
    dims = _dim_names(builder)
    lines[-1] += f" dims ({', '.join(dims)})" if dims else ""
    results = _types_text([_type_text(value.tensor) for value in builder.returns])
    if len(lines[-1]) + len(f" -> {results} {{") <= 100:
        return [*lines[:-1], f"{lines[-1]} -> {results} {{"]
    return [*lines, f"    -> {results} {{"]


def _graph_text(name, builder):
    lines = [*_head_lines(name, builder), *_body_text(builder)]
    if builder.returns:
        lines.append(f"  return {', '.join(map(str, builder.returns))}")
    return "\n".join([*lines, "}"]) + "\n"


_CUBE = {"MatMul", "BatchMatMul", "aten.convolution"}


def _stubs_text(builder, which):
    """Kernels without code for the ops that have none, or for all."""
    texts, kernels = [], {}
    for op in builder.ops:
        if op.type in (*_CONTENTS, *_VIEWS) or not op.is_own and which != "all":
            continue
        if op.type not in kernels:
            kernels[op.type] = re.sub(r"[^\w$]", "_", op.type)
            cores, blocks = ("aic_only", 24) if op.type in _CUBE else ("aiv_only", 48)
            texts.append(f"kernel @{kernels[op.type]} : {cores} {{\n  op = {_string(op.type)},\n"
                         f"  block = {blocks},\n  stub\n}}\n\n")
        op.kernel = kernels[op.type]
    return "".join(texts)


# ---- Interface ----


def _lifted(program):
    """The parameters, buffers and constants that are placeholders of an ExportedProgram:
    {placeholder: (name, tensor)}"""
    signature, constants = program.graph_signature, getattr(program, "constants", {})
    for key in ("buffers_to_mutate", "user_inputs_to_mutate"):
        if getattr(signature, key, None):
            raise Refused("the exported program writes into its buffers or inputs")
    tensors = {**constants, **program.state_dict}
    return {placeholder: (name, tensors.get(name))
            for key in ("inputs_to_parameters", "inputs_to_buffers",
                        "inputs_to_lifted_tensor_constants")
            for placeholder, name in (getattr(signature, key, None) or {}).items()}


def _make_builder(program, inputs, aten, store):
    if hasattr(program, "graph_signature"):
        warnings.warn("the import of programs of torch.export is experimental")
        lifted, module = _lifted(program), program.graph_module
        params = {node: lifted.get(node.name, (node.name, None)) for node in module.graph.nodes
                  if node.op == "placeholder"}
        for node in module.graph.nodes:
            if node.op == "call_function" and not hasattr(node.target, "_schema") and \
                    node.target is not operator.getitem and _name_of(node) not in (
                        "scope_enter", "scope_exit"):
                raise Refused(f"the exported program calls {_name_of(node)}, which is no function "
                              "of ATen")
        return _Builder(module, params, {}, store)
    inputs = _inputs_of(program) if inputs is None else list(inputs)
    if inputs is None:
        raise Refused("a program is traced with example inputs, and there are none")
    trace = _Trace(program, inputs, aten)
    nodes = [node for node in trace.module.graph.nodes if node.op == "placeholder"]
    tensors = list(trace.state.tensors.values())
    tensors += [None] * (len(nodes) - len(tensors))
    params = dict(zip(nodes, zip(trace.names, tensors)))
    builder = _Builder(trace.module, params, trace.reasons, store)
    for node in trace.module.graph.nodes:
        if node.op == "call_function" and _name_of(node) != "copy_":
            _refuse_node(node, _name_of(node))
    trace.check(program)
    for leaf in trace.dropped:
        builder.warn(f"the program returns {leaf!r}, which is no tensor and no result of the graph")
    return builder


def to_skir(program, example_inputs=None, *, name="main", aten=False, weights=None, stubs=None,
            path=None):
    """The text of a .skir file.

    program         a torch.nn.Module, a function, a torch.fx.GraphModule or an ExportedProgram
    example_inputs  a list of arguments. A copy of the program is run with copies of them. Only a
                    GraphModule that says what its inputs are, and an ExportedProgram, need none
    name            of the graph
    aten            take everything apart down to ATen, linear and matmul too
    weights         a file to write the contents of parameters and buffers to, which are constants
                    and variables of the graph then, and else its parameters
    stubs           True: declare kernels without code for ops that no row has made; "all": for
                    all. So the program compiles
    path            where the text will be written: `weights` is named relative to it

    Raises Refused where no graph computes what the program computes."""
    store = _Weights(weights, path) if weights else None
    try:
        builder = _make_builder(program, example_inputs, aten, store)
        builder.build()
    finally:
        if store:
            store.file.close()
    if not builder.returns and not builder.writes:
        raise Refused("the program returns no tensors, and writes none")
    kernels = _stubs_text(builder, stubs) if stubs else ""
    return f"skir 1\n\n{kernels}{_graph_text(name, builder)}"


# ---- Command ----


def _load(where):
    """What FILE.py:FUNCTION returns: a program and its inputs."""
    path, _, function = where.rpartition(":")
    if not path:
        raise SystemExit(f"torch_skir: '{where}' is not of the form FILE.py:FUNCTION")
    sys.modules.setdefault("torch_skir", sys.modules[__name__])
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["program"] = module
    try:
        spec.loader.exec_module(module)
        made = getattr(module, function)()
    except (OSError, AttributeError) as error:
        raise SystemExit(f"torch_skir: {where}: {error}") from error
    return made if isinstance(made, tuple) else (made, None)


def _main():
    parser = argparse.ArgumentParser(
        prog="torch_skir.py", description="Makes a .skir file of a PyTorch program.",
        epilog="An ExportedProgram of torch.export, which PyTorch 2 makes, is experimental.")
    parser.add_argument("program", metavar="FILE.py:FUNCTION", nargs="?",
                        help="a function that returns a module and example inputs")
    parser.add_argument("-o", "--output", metavar="OUT.skir", help="standard output without it")
    parser.add_argument("--name", default="main", help="name of the graph (main)")
    parser.add_argument("--aten", action="store_true", help="take everything apart down to ATen")
    parser.add_argument("--weights", metavar="FILE", help="write the contents of parameters there")
    parser.add_argument("--stubs", nargs="?", const=True, choices=["all"],
                        help="declare kernels without code for ops that have none, or for all")
    parser.add_argument("--translations", action="store_true",
                        help="print what each function of PyTorch becomes, and nothing else")
    options = parser.parse_args()
    if options.translations:
        sys.stdout.write(translations())
        return
    if not options.program:
        parser.error("no program")
    warnings.showwarning = lambda message, *_: print(f"torch_skir: {message}", file=sys.stderr)
    program, inputs = _load(options.program)
    try:
        text = to_skir(program, inputs, name=options.name, aten=options.aten,
                       weights=options.weights, stubs=options.stubs, path=options.output)
    except Refused as error:
        raise SystemExit(f"torch_skir: {error}") from error
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    _main()
