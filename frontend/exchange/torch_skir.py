"""Makes a .skir file of a PyTorch program. Needs nothing but torch, 1.13 or later.

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

A module or function is traced by torch.fx, or, with `aten`, by make_fx down to ATen. A GraphModule
and an ExportedProgram are taken as they are. ATen functions become ops of GE, as far as skir knows
these (`skirc opt --op-type=all`) and both do the same; every other one is an op of its own type,
"aten.NAME", with all its tensors as operands and the rest as attributes.
"""

import argparse
import contextlib
import ctypes
import dis
import importlib.util
import inspect
import math
import numbers
import operator
import os
import re
import sys
import warnings

import torch
import torch.fx
import torch.utils._pytree

__all__ = ["limit_core_num", "npu_rms_norm", "npu_stream_switch", "npu_wait_tensor",
           "super_kernel", "to_skir"]

# ---- Scopes and streams ----

_MARKS = "skir"  # key of Node.meta: a dictionary by the names that GE has for such attributes
_entered = [{}]


@contextlib.contextmanager
def _marking():
    """While it lasts, the nodes of any graph that is made get the innermost marks."""
    create = torch.fx.Graph.create_node

    def create_marked(self, *args, **kwargs):
        node = create(self, *args, **kwargs)
        node.meta.setdefault(_MARKS, _entered[-1])
        return node

    torch.fx.Graph.create_node = create_marked
    try:
        yield
    finally:
        torch.fx.Graph.create_node = create


@contextlib.contextmanager
def _marked(**marks):
    with _marking() if len(_entered) == 1 else contextlib.nullcontext():
        _entered.append({**_entered[-1], **marks})
        try:
            yield
        finally:
            _entered.pop()


def super_kernel(scope, options=""):
    """What is called within is to be fused; with None, it is not to be."""
    return _marked(_super_kernel_scope=scope, _super_kernel_options=options or "")


def npu_stream_switch(stream_tag, stream_priority=0):
    """What is called within runs on the stream of that label."""
    return _marked(_user_stream_label=stream_tag, _user_stream_priority=int(stream_priority))


def limit_core_num(op_aicore_num, op_vectorcore_num):
    """What is called within runs on so many cores at most."""
    return _marked(_op_aicore_num=str(op_aicore_num), _op_vectorcore_num=str(op_vectorcore_num))


# Under make_fx, calls of functions in Python are not seen, those of ops are.
_library = torch.library.Library("skir", "DEF")
_library.define("npu_wait_tensor(Tensor self, Tensor dependency) -> Tensor")
_library.define("npu_rms_norm(Tensor self, Tensor gamma, float epsilon) -> (Tensor, Tensor)")
_tracing_aten = [False]


def _traced(function, *args):
    """The call as a node where it is being traced, else None."""
    proxies = [arg for arg in args if isinstance(arg, torch.fx.Proxy)]
    if proxies:
        return proxies[0].tracer.create_proxy("call_function", function, args, {})
    return getattr(torch.ops.skir, function.__name__)(*args) if _tracing_aten[0] else None


def npu_wait_tensor(self, dependency):
    """`self`; who uses it waits for `dependency`, too."""
    made = _traced(npu_wait_tensor, self, dependency)
    return self if made is None else made


def npu_rms_norm(self, gamma, epsilon=1e-6):
    """x over the root of the mean of its squares, times gamma; and what it was multiplied by."""
    made = _traced(npu_rms_norm, self, gamma, epsilon)
    return _compute_rms_norm(self, gamma, epsilon) if made is None else made


def _compute_rms_norm(x, gamma, epsilon):
    axes = list(range(x.dim() - gamma.dim(), x.dim()))
    rstd = torch.rsqrt(x.float().pow(2).mean(axes, keepdim=True) + epsilon)
    return (x.float() * rstd * gamma.float()).to(x.dtype), rstd


_library.impl("npu_wait_tensor", lambda x, dependency: x.clone(), "CompositeExplicitAutograd")
_library.impl("npu_rms_norm", _compute_rms_norm, "CompositeExplicitAutograd")


# ---- Tracing ----


def _unpack(proxy):
    """`a, b = x.shape` says how many there are. torch.fx of 1.13 does not find that in the code of
    Python 3.11."""
    frame = inspect.currentframe().f_back
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
            return (proxy[i] for i in range(instruction.argval))
    return proxy.tracer.iter(proxy)


class _Proxy(torch.fx.Proxy):
    __iter__ = _unpack

    def __abs__(self):
        return torch.abs(self)

    def __getattr__(self, name):
        return _Attribute(self, name)


class _Attribute(torch.fx.proxy.Attribute):
    __iter__ = _unpack


class _Tracer(torch.fx.Tracer):
    """Looks into the modules of torch.nn, but for those whose code depends on shapes."""

    def is_leaf_module(self, module, name):
        home = type(module).__module__
        return home.startswith("torch.nn.") and not home.endswith(".container") \
            and not _can_trace(module)

    def proxy(self, node):
        return _Proxy(node, self)


_traceable = {}  # by class


def _can_trace(module):
    kind = type(module)
    if kind not in _traceable:
        try:
            _Tracer().trace(module)
            _traceable[kind] = True
        except Exception:  # whatever code does with what is no tensor
            _traceable[kind] = False
    return _traceable[kind]


def _expand(module):
    """The graph with the modules of torch.nn that it calls replaced by what these call."""
    graph, values = torch.fx.Graph(), {}
    modules = dict(module.named_modules())
    for node in module.graph.nodes:
        if node.op == "output":
            graph.output(torch.fx.node.map_arg(node.args[0], values.__getitem__))
            continue
        inner = modules.get(node.target) if node.op == "call_module" else None
        if inner is None or not _can_trace(inner):
            values[node] = graph.node_copy(node, values.__getitem__)
        else:
            values[node] = _inline(graph, node, inner, values)
    return torch.fx.GraphModule(module, graph)


def _inline(graph, call, module, values):
    inner = _Tracer().trace(module)
    args = [torch.fx.node.map_arg(arg, values.__getitem__) for arg in call.args]
    kwargs = {key: torch.fx.node.map_arg(arg, values.__getitem__)
              for key, arg in call.kwargs.items()}
    made = {}
    for node in inner.nodes:
        if node.op == "placeholder":
            default = node.args[0] if node.args else None
            made[node] = args.pop(0) if args else kwargs.get(node.target, default)
        elif node.op == "output":
            return torch.fx.node.map_arg(node.args[0], made.__getitem__)
        else:
            made[node] = _copy_node(graph, node, made)
            made[node].meta.update(call.meta)
            if node.op in ("get_attr", "call_module"):
                made[node].target = f"{call.target}.{node.target}"
    return None


def _copy_node(graph, node, values):
    """As Graph.node_copy, but what a node stands for may be a plain value."""
    def value(arg):
        return values[arg]
    return graph.create_node(node.op, node.target, torch.fx.node.map_arg(node.args, value),
                             torch.fx.node.map_arg(node.kwargs, value), node.name, node.type)


def _trace(program, inputs, aten):
    """(GraphModule, names of tensors by their identity)"""
    if isinstance(program, torch.fx.GraphModule):
        return _expand(program), {}
    names = {}
    if isinstance(program, torch.nn.Module):
        names = {id(tensor): name for tensors in (program.named_parameters(),
                                                  program.named_buffers())
                 for name, tensor in tensors}
    if aten:
        return _trace_aten(program, inputs), names
    try:
        tracer = _Tracer()
        graph = tracer.trace(program)
        return torch.fx.GraphModule(tracer.root, graph), names
    except (torch.fx.proxy.TraceError, TypeError) as error:  # a branch or a loop by shapes
        if inputs is None:
            raise
        warnings.warn(f"traced down to ATen, since torch.fx cannot trace this: {error}")
        return _trace_aten(program, inputs), names


def _trace_aten(program, inputs):
    from torch.fx.experimental.proxy_tensor import make_fx
    if inputs is None:
        raise ValueError("tracing down to ATen needs example inputs")
    _tracing_aten[0] = True
    try:
        with torch.no_grad():
            names = _input_names(getattr(program, "forward", program), len(inputs))
            listed = ", ".join(names)
            wrapper = eval(f"lambda {listed}: program_({listed})", {"program_": program})
            module = make_fx(wrapper)(*_copies(inputs))
    finally:
        _tracing_aten[0] = False
    nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
    for node, name in zip(nodes, names if len(nodes) == len(names) else []):
        node.target = name
    return module


def _input_names(function, count):
    """Names for so many positional arguments: those of the parameters, as far as there are any."""
    names = [parameter.name for parameter in inspect.signature(function).parameters.values()
             if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
    return names[:count] + [f"arg{i}" for i in range(len(names), count)]


def _copies(inputs):
    """What running a program with may change."""
    if torch.is_tensor(inputs):
        return inputs.detach().clone()
    if isinstance(inputs, (list, tuple)):
        return type(inputs)(_copies(element) for element in inputs)
    if isinstance(inputs, dict):
        return {key: _copies(element) for key, element in inputs.items()}
    return inputs


# ---- What every node gives ----

_UNKNOWN = object()


class _Shapes(torch.fx.Interpreter):
    """Runs the graph once, on copies of what it may change, and keeps what every node gives."""

    def __init__(self, module):
        super().__init__(module)
        self.values = {}

    def run_node(self, node):
        try:
            value = self._value(node)
        except Exception as error:  # an op that is not there on this machine, or not for the dtype
            value = self._value_without_contents(node, error)
        self.values[node] = _describe(value)
        return value

    def _value_without_contents(self, node, error):
        """Tensors of the device "meta" have types, and nothing in them."""
        def without(arg):
            value = self.env[arg]
            return torch.utils._pytree.tree_map(
                lambda leaf: leaf.to("meta") if torch.is_tensor(leaf) else leaf, value)
        try:
            args = torch.fx.node.map_arg(node.args, without)
            kwargs = torch.fx.node.map_arg(node.kwargs, without)
            return getattr(self, node.op)(node.target, args, kwargs)
        except Exception:
            warnings.warn(f"the types behind '{node.name}' are not known: {error}")
            return _UNKNOWN

    def _value(self, node):
        if any(self.env.get(arg, None) is _UNKNOWN for arg in node.all_input_nodes):
            return _UNKNOWN
        if _name_of(node) in ("scope_enter", "scope_exit"):
            return None
        value = super().run_node(node)
        return value.clone() if node.op == "get_attr" and torch.is_tensor(value) else value


class _Tensor:
    """What is known of a tensor. dims: None, or a list of integers, names and None."""

    def __init__(self, dtype, dims):
        self.dtype, self.dims = dtype, dims


_ANY = _Tensor(None, None)


def _describe(value):
    """A _Tensor for each tensor in a structure; anything else as it is."""
    if torch.is_tensor(value):
        return _Tensor(value.dtype, [_dim(dim) for dim in value.shape])
    if hasattr(value, "dtype") and hasattr(value, "shape"):  # TensorMetadata
        return _Tensor(value.dtype, [_dim(dim) for dim in value.shape])
    if isinstance(value, (list, tuple)):
        return [_describe(element) for element in value]
    if isinstance(value, dict):
        return {key: _describe(element) for key, element in value.items()}
    return value


def _dim(dim):
    """An integer, the text of a sum of products of names, or None."""
    if isinstance(dim, int):
        return dim
    text = str(dim)
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return text if re.fullmatch(r"\w+( *[*+] *\w+)*", text) else None


def _values_of(module, inputs):
    """What each node gives: from a run, or from what a tracer has left at the nodes."""
    if inputs is not None:
        shapes = _Shapes(module)
        with torch.no_grad():
            shapes.run(*_copies(tuple(inputs)))
        return shapes.values
    return {node: _describe(node.meta.get("val", node.meta.get("tensor_meta", _UNKNOWN)))
            for node in module.graph.nodes}


def _name_of(node):
    """What a node calls, without namespace and overload: "add", "linear"."""
    if node.op == "call_method":
        return node.target
    if node.op != "call_function":
        return ""
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


# ---- Ops ----

_CONTENTS = ("Const", "Variable")
_PASSIVE = (*_CONTENTS, "Identity", "Reshape")  # run nothing


class _Value:
    """A value of the graph that is made."""

    def __init__(self, name, tensor, op=None):
        self.name, self.tensor, self.op = name, tensor, op

    def __str__(self):
        return "%" + _name_text(self.name)


class _Op:
    def __init__(self, type, operands, results, attrs, marks, after):
        self.type, self.operands, self.results, self.attrs = type, operands, results, attrs
        self.marks, self.after = marks, after
        self.kernel = None

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


def _flat(structure):
    """What is in a structure of lists and dictionaries, in order."""
    if isinstance(structure, (list, tuple)):
        return [leaf for element in structure for leaf in _flat(element)]
    if isinstance(structure, dict):
        return [leaf for element in structure.values() for leaf in _flat(element)]
    return [structure]


class _Builder:
    """A graph on its way: parameters, ops, and what each node of torch stands for."""

    def __init__(self, module, described, names, weights):
        self.module, self.described, self.names, self.weights = module, described, names, weights
        self.params, self.ops, self.returns = [], [], []
        self.values, self.tensors, self.taken = {}, {}, set()
        self.node, self.marks, self.entered, self.consts = None, {}, [{}], {}

    # -- names and values --

    def fresh(self, name):
        """The name, or with a number behind it if it is taken."""
        result, n = name, 1
        while result in self.taken:
            result, n = f"{name}.{n}", n + 1
        self.taken.add(result)
        return result

    def add_param(self, name, tensor):
        value = _Value(self.fresh(name), tensor)
        self.params.append(value)
        return value

    def add_params(self, name, described):
        """A structure of parameters: those of a list are NAME.0, NAME.1 ..."""
        if isinstance(described, _Tensor):
            return self.add_param(name, described)
        if isinstance(described, (list, tuple)):
            return [self.add_params(f"{name}.{i}", element) for i, element in enumerate(described)]
        if isinstance(described, dict):
            return {key: self.add_params(f"{name}.{key}", element)
                    for key, element in described.items()}
        return self.add_param(name, _ANY) if described is _UNKNOWN else described

    def emit(self, type, operands, tensors, attrs=None, names=None, after=None):
        """An op with these results, whose names begin with that of the node; lists its values."""
        marks = {key: value for key, value in self.marks.items()
                 if key.startswith("_op_") and type not in _PASSIVE}
        names = names or [""] + [f".{i}" for i in range(1, len(tensors))]
        results = [_Value(self.fresh(self.node.name + suffix), tensor)
                   for suffix, tensor in zip(names, tensors)]
        op = _Op(type, operands, results, {**(attrs or {}), **marks}, self.marks, after)
        for value in results:
            value.op = op
        self.ops.append(op)
        return results

    def part(self, type, operands, tensor, attrs=None):
        """An op that gives one value on the way to that of the node."""
        return self.emit(type, operands, [tensor], attrs, [f".{type.lower()}"])[0]

    def const(self, data, dtype, dims):
        """A constant, one for all uses."""
        key = (str(data), dtype, tuple(dims))
        if key not in self.consts:
            self.consts[key] = self.constant(f"{self.node.name}.const", _Tensor(dtype, dims),
                                             "Const", data)
        return self.consts[key]

    def cast(self, value, dtype):
        if value.tensor.dtype in (dtype, None) or dtype is None:
            return value
        return self.part("Cast", [value], _Tensor(dtype, value.tensor.dims))

    def reshape(self, value, dims):
        return self.part("Reshape", [value], _Tensor(value.tensor.dtype, dims))

    # -- parameters and buffers --

    def weight(self, target):
        """The value of a tensor that belongs to a module."""
        tensor = self.module
        for part in target.split("."):
            tensor = getattr(tensor, part)
        if not torch.is_tensor(tensor):
            return tensor
        if id(tensor) not in self.tensors:
            name = self.names.get(id(tensor), target)
            self.tensors[id(tensor)] = self.place_weight(name, tensor)
        return self.tensors[id(tensor)]

    def place_weight(self, name, tensor):
        known = _describe(tensor)
        if name.split(".")[-1].startswith("_tensor_constant") and tensor.numel() <= 64 \
                and not tensor.is_complex():
            data = tensor.tolist() if tensor.dim() == 0 else tensor.flatten().tolist()
            return self.constant(name, known, "Const", data)
        if self.weights is None:
            return self.add_param(name, known)
        return self.constant(name, known,
                             "Const" if isinstance(tensor, torch.nn.Parameter) else "Variable",
                             self.weights.add(tensor))

    def constant(self, name, tensor, type, data):
        value = _Value(self.fresh(name), tensor)
        value.op = _Op(type, [], [value], {"value": data}, {}, None)
        self.ops.append(value.op)
        return value

    # -- nodes --

    def resolve(self, arg):
        """What an argument of a node stands for: values and plain data."""
        if isinstance(arg, torch.fx.Node):
            return self.values[arg]
        if isinstance(arg, (list, tuple)):
            return [self.resolve(element) for element in arg]
        if isinstance(arg, dict):
            return {key: self.resolve(element) for key, element in arg.items()}
        if isinstance(arg, slice):
            return slice(*(self.resolve(part) for part in (arg.start, arg.stop, arg.step)))
        return arg

    def is_plain(self, node):
        """Whether the node gives no tensors, but something that a run has shown."""
        leaves = _flat(self.described.get(node, _UNKNOWN))
        return node.op not in ("placeholder", "get_attr", "output") and not any(
            leaf is _UNKNOWN or isinstance(leaf, _Tensor) for leaf in leaves) and leaves != [None]

    def add(self, node):
        self.node, self.marks = node, node.meta.get(_MARKS) or self.entered[-1]
        name = _name_of(node)
        if name == "scope_enter":
            keys, values = (list(self.resolve(arg)) for arg in node.args[:2])
            self.entered.append({**self.entered[-1], **dict(zip(keys, values))})
        elif name == "scope_exit":
            self.entered.pop()
        elif node.op == "placeholder":
            self.values[node] = self.add_params(node.target.lstrip("*"), self.described.get(
                node, _UNKNOWN))
        elif node.op == "get_attr":
            self.values[node] = self.weight(node.target)
        elif node.op == "output":
            self.returns = [leaf for leaf in _flat(self.resolve(node.args[0]))
                            if isinstance(leaf, _Value)]
        elif self.is_plain(node):
            self.values[node] = self.described[node]
        else:
            self.values[node] = self.call(node, name)

    def call(self, node, name):
        call = _Call(self, node, name)
        rule = _RULES.get(name) if node.op != "call_module" else None
        made = rule(call) if rule else None
        return call.own() if made is None else made

    def build(self):
        for node in self.module.graph.nodes:
            self.add(node)
        self.drop_unused()

    def drop_unused(self):
        """Drops transposes that rules have seen through; what gives contents stands first."""
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


# ---- Calls ----


def _is_inplace(node):
    """Whether the name of what is called says so: add_, but not operator.and_."""
    name = _name_of(node)
    return (name.endswith("_") and not name.endswith("__")
            and getattr(node.target, "__module__", None) != "_operator")


class _Call:
    """A call of a function of torch: what it is given, what it gives."""

    def __init__(self, builder, node, name):
        self.builder, self.node, self.name = builder, node, name
        self.args = [builder.resolve(arg) for arg in node.args]
        self.kwargs = {key: builder.resolve(arg) for key, arg in node.kwargs.items()}
        described = builder.described.get(node, _UNKNOWN)
        self.result = _ANY if described is _UNKNOWN or described is None else described
        self.inplace = _is_inplace(node)

    def bind(self, params):
        """Arguments by their names; false if there are others. "*": only the first counts."""
        if params[-1] == "*":
            setattr(self, params[0], self.args[0] if self.args else self.kwargs.get(params[0]))
            return True
        if len(self.args) > len(params) or any(key not in params for key in self.kwargs):
            return False
        for name in params:
            setattr(self, name, None)
        for name, value in [*zip(params, self.args), *self.kwargs.items()]:
            setattr(self, name, value)
        return True

    def writes(self):
        """Whether anything in the graph is written in place."""
        return any(_is_inplace(node) or node.kwargs.get("inplace")
                   for node in self.node.graph.nodes)

    # -- results --

    def op(self, type, operands, attrs=None, extra=()):
        """The op that gives what the call gives; `extra` are results more: (suffix, tensor)."""
        attrs = dict(attrs or {})
        if self.inplace:
            attrs.update(inplace=[0], alias=[0])
            _warn_of_copies(self)
        results = self.builder.emit(type, operands, [self.result, *(t for _, t in extra)], attrs,
                                    ["", *(suffix for suffix, _ in extra)])
        return results[0]

    def ops(self, type, operands, attrs):
        """The same where the call gives a list of tensors."""
        names = [f".{i}" for i in range(len(self.result))]
        return self.builder.emit(type, operands, self.result, attrs, names)

    def own(self):
        """An op of the call's own type."""
        leaves = _flat(self.result)
        tensors = [leaf if isinstance(leaf, _Tensor) else _ANY for leaf in leaves
                   if leaf is not None]
        operands, attrs = self.own_operands()
        if self.inplace and operands and len(tensors) == 1:
            attrs.update(inplace=[0], alias=[0])
        values = iter(self.builder.emit(self.own_type(), operands, tensors, attrs))
        return _refill(self.result, values)

    def own_type(self):
        target, node = self.node.target, self.node
        if node.op == "call_module":
            kind = type(self.builder.module.get_submodule(target))
            home = "torch.nn" if kind.__module__.startswith("torch.nn.") else kind.__module__
            return f"{home}.{kind.__qualname__}"
        if node.op == "call_function":
            packet = str(getattr(target, "overloadpacket", target))
            if hasattr(target, "overloadpacket"):
                return packet
            home = getattr(target, "__module__", "") or ""
            if home.split(".")[0] not in ("torch", "_operator", "") and not isinstance(
                    target, type(len)):
                return f"{home}.{self.name}"
        return f"aten.{self.name.strip('_')}"

    def own_operands(self):
        operands, attrs = [], {}
        if self.node.op == "call_module":
            module = self.builder.module.get_submodule(self.node.target)
            named = [(None, arg) for arg in self.args] + list(self.kwargs.items()) + [
                (None, self.builder.weight(f"{self.node.target}.{name}"))
                for tensors in (module.named_parameters(), module.named_buffers())
                for name, _ in tensors]
        else:
            names = _argument_names(self.node)
            named = [*zip(names, self.args), *self.kwargs.items()]
        for i, (name, arg) in enumerate(named):
            leaves = _flat(arg)
            values = [leaf for leaf in leaves if isinstance(leaf, _Value)]
            if values:
                operands.append(arg if isinstance(arg, _Value) else values)
            if arg is not None and len(values) < len(leaves):
                attrs[name or f"arg{i}"] = _data_of(arg)
        return operands, attrs


def _data_of(arg):
    if isinstance(arg, (list, tuple)):
        return [_data_of(element) for element in arg]
    if isinstance(arg, dict):
        return {key: _data_of(element) for key, element in arg.items()}
    if isinstance(arg, _Value):
        return f"%{arg.name}"
    if isinstance(arg, slice):
        return ":".join("" if part is None else str(_data_of(part))
                        for part in (arg.start, arg.stop, arg.step))
    return "..." if arg is Ellipsis else arg


def _refill(structure, values):
    """The structure with the values in place of what gives tensors."""
    if isinstance(structure, (list, tuple)):
        return [_refill(element, values) for element in structure]
    if isinstance(structure, dict):
        return {key: _refill(element, values) for key, element in structure.items()}
    return None if structure is None else next(values)


def _argument_names(node):
    """Names of the arguments by position, as far as anyone says them."""
    target = node.target
    try:
        if hasattr(target, "_schema"):
            return [arg.name for arg in target._schema.arguments]
        if node.op == "call_function" and inspect.isfunction(target):
            return list(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        pass
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{_name_of(node)}")
    for schema in schemas:
        if len(schema.arguments) >= len(node.args):
            return [arg.name for arg in schema.arguments]
    return [f"arg{i}" for i in range(len(node.args))]


def _warn_of_copies(call):
    """A write into what is a view in torch, and memory of its own in the graph."""
    value = call.args[0]
    if isinstance(value, _Value) and value.op and value.op.type in ("TransposeD", "BroadcastTo"):
        warnings.warn(f"'{call.node.name}' writes into a transposed or expanded tensor; "
                      "in the graph, the original is not written")


# ---- Rules: a function of torch as an op of GE ----

_RULES = {}


def _rule(names, params, lists=False):
    """For functions of these names with these parameters. A rule that gives None does not fit, and
    must not have made anything. `lists`: what is given may be a list."""
    def register(function):
        for name in names.split():
            _RULES[name] = _Rule(function, params.split(), lists)
        return function
    return register


class _Rule:
    def __init__(self, function, params, lists):
        self.function, self.params, self.lists = function, params, lists

    def __call__(self, call):
        fits = isinstance(call.result, _Tensor) or self.lists
        return self.function(call) if fits and call.bind(self.params) else None


def _dims(value):
    return value.tensor.dims if isinstance(value, _Value) else None


def _dtype(value):
    return value.tensor.dtype if isinstance(value, _Value) else None


def _is_floating(dtype):
    return dtype is not None and dtype.is_floating_point


def _is_tensor(*values):
    return all(isinstance(value, _Value) for value in values)


def _axis(axis, rank):
    return axis + rank if axis < 0 else axis


_UNARY = {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "exp": "Exp", "log": "Log",
    "sqrt": "Sqrt", "rsqrt": "Rsqrt", "reciprocal": "Reciprocal", "square": "Square", "neg": "Neg",
    "abs": "Abs", "silu": "Swish",
}
_TESTS = {"isinf": "IsInf", "isfinite": "IsFinite", "isnan": "IsNan"}
_BINARY = {
    "add": "Add", "sub": "Sub", "rsub": "Sub", "mul": "Mul", "div": "RealDiv", "truediv": "RealDiv",
    "maximum": "Maximum", "minimum": "Minimum", "pow": "Pow", "eq": "Equal",
    "ne": "NotEqual", "gt": "Greater", "ge": "GreaterEqual", "lt": "Less", "le": "LessEqual",
    "logical_and": "LogicalAnd", "logical_or": "LogicalOr", "and": "LogicalAnd", "or": "LogicalOr",
    "bitwise_and": "LogicalAnd", "bitwise_or": "LogicalOr",
}


def _unary(call):
    type = _UNARY[call.name.rstrip("_")]
    if not _is_tensor(call.input) or _dtype(call.input) is not call.result.dtype:
        return None
    call.inplace = call.inplace or bool(getattr(call, "inplace_", False))
    return call.op(type, [call.input])


for _name in _UNARY:
    _rule(f"{_name} {_name}_", "input")(_unary)


@_rule("relu silu", "input inplace")
def _activation(call):
    inplace, call.inplace = call.inplace, False
    call.inplace_ = inplace
    return _unary(call)


@_rule(" ".join(_TESTS), "input")
def _test(call):
    if not _is_tensor(call.input) or not _is_floating(_dtype(call.input)):
        return None
    return call.op(_TESTS[call.name], [call.input])


@_rule("gelu", "input approximate")
def _gelu(call):
    attrs = {} if call.approximate in (None, "none") else {"approximate": call.approximate}
    return call.op("Gelu", [call.input], attrs) if _is_tensor(call.input) else None


@_rule("leaky_relu", "input negative_slope inplace")
def _leaky_relu(call):
    if call.inplace or not _is_tensor(call.input):
        return None
    slope = 0.01 if call.negative_slope is None else float(call.negative_slope)
    return call.op("LeakyRelu", [call.input], {"negative_slope": slope})


@_rule(" ".join(f"{name} {name}_" for name in _BINARY), "input other alpha")
def _binary(call):
    """Operands of different types are cast to that of the computation first, as torch does it."""
    pair = [call.input, call.other]
    if call.alpha not in (None, 1) or not any(_is_tensor(value) for value in pair):
        return None
    if any(not _is_tensor(value) and not isinstance(value, numbers.Number) for value in pair):
        return None
    dtype = _common_dtype(pair, call.result.dtype)
    type = _binary_type(call.name, dtype)
    if dtype is None and not _is_tensor(*pair) or type is None:
        return None
    if call.inplace and (_dtype(call.input) is not dtype or _dims(call.input) != call.result.dims):
        return None
    return call.op(type, [_as_operand(call, value, dtype) for value in pair])


def _binary_type(name, dtype):
    type = _BINARY[name.rstrip("_")]
    if type in ("LogicalAnd", "LogicalOr") and dtype is not torch.bool:
        return None
    return "Pows" if type == "Pow" and _is_floating(dtype) else type


def _common_dtype(pair, result):
    """The type that both operands are computed in; None: it is not known."""
    if result is not torch.bool:
        return result
    known = [torch.empty([1] * len(_dims(value) or [1]), dtype=_dtype(value), device="meta")
             if _is_tensor(value) and _dtype(value) else value for value in pair]
    if any(isinstance(value, _Value) for value in known):
        return None
    return torch.result_type(*known)


def _as_operand(call, value, dtype):
    if _is_tensor(value):
        return call.builder.cast(value, dtype)
    value = float(value) if dtype.is_floating_point else value
    return call.builder.const(value, dtype, [])


@_rule("rsub", "other input alpha")
def _reversed_sub(call):
    return _binary(call)


@_rule("logical_not", "input")
def _logical_not(call):
    return call.op("LogicalNot", [call.input]) if _dtype(call.input) is torch.bool else None


@_rule("where", "condition input other")
def _where(call):
    if not _is_tensor(call.condition) or _dims(call.condition) != call.result.dims:
        return None
    if _dtype(call.condition) is not torch.bool or call.result.dtype is None:
        return None
    pair = [_as_operand(call, value, call.result.dtype) for value in (call.input, call.other)]
    return call.op("Select", [call.condition, *pair])


@_rule("masked_fill", "input mask value")
def _masked_fill(call):
    if not _is_tensor(call.input, call.mask) or _dims(call.mask) != call.result.dims \
            or call.result.dtype is None:
        return None
    value = _as_operand(call, call.value, call.result.dtype)
    return call.op("Select", [call.mask, value, call.input])


# -- casts and what does nothing --


@_rule("float half bfloat16 double int long bool", "input")
def _cast_to(call):
    return _cast(call)


@_rule("to type _to_copy type_as", "input dtype device non_blocking copy memory_format layout "
       "pin_memory")
def _cast(call):
    if not _is_tensor(call.input) or call.result.dtype is None:
        return None
    if _dtype(call.input) is call.result.dtype:
        return call.input
    return call.op("Cast", [call.input])


@_rule("contiguous detach alias lift_fresh", "input memory_format")
def _same(call):
    return call.input


@_rule("clone lift_fresh_copy", "input memory_format")
def _clone(call):
    """Nobody can tell a copy where nothing is written."""
    return None if call.writes() else call.input


@_rule("dropout feature_dropout alpha_dropout", "input p training inplace")
def _dropout(call):
    return call.input if call.training is False else None


@_rule("npu_wait_tensor wait_tensor", "input dependency")
def _wait_tensor(call):
    if not _is_tensor(call.input, call.dependency):
        return None
    after = call.dependency if call.dependency.op else None
    return call.builder.emit("Identity", [call.input], [call.input.tensor], after=after)[0]


@_rule("zeros zeros_like ones ones_like", "input *")
def _fill(call):
    dims = call.result.dims
    if dims is None or not all(isinstance(dim, int) for dim in dims) or call.writes() \
            or call.result.dtype is None or call.result.dtype.is_complex:
        return None
    value = 0 if call.name.startswith("zeros") else 1
    value = float(value) if _is_floating(call.result.dtype) else value
    return call.builder.const(value, call.result.dtype, dims)


@_rule("slice", "input *")
def _slice(call):
    """In ATen x[:, 0] begins with a slice that is all of x."""
    whole = _dims(call.input) is not None and _dims(call.input) == call.result.dims
    return call.input if whole and call.args[4:] in ([], [1]) else None


@_rule("view reshape _unsafe_view _reshape_alias flatten unflatten squeeze unsqueeze "
       "view_as reshape_as", "input *")
def _reshape(call):
    if not _is_tensor(call.input) or _dtype(call.input) is not call.result.dtype:
        return None  # a view as another type
    return call.op("Reshape", [call.input])


# -- transposes --


def _permutation(call, rank):
    """What the call does to dimensions, by its name; None: this is not known."""
    order = list(range(rank))
    if call.name in ("permute", "T", "mT"):
        axes = call.args[1:] or [call.kwargs.get("dims", order[::-1])]
        axes = axes[0] if isinstance(axes[0], (list, tuple)) else axes
        return [_axis(axis, rank) for axis in axes]
    pair = [*call.args[1:], *call.kwargs.values()] if call.name not in ("t", "numpy_T") else [0, 1]
    if rank < 2 or len(pair) != 2:
        return order if rank < 2 else None
    first, second = (_axis(axis, rank) for axis in pair)
    order[first], order[second] = order[second], order[first]
    return order


@_rule("transpose swapaxes swapdims t permute", "input *")
def _transpose(call):
    if not _is_tensor(call.input) or _dims(call.input) is None:
        return None
    order = _permutation(call, len(_dims(call.input)))
    if order is None:
        return None
    return call.op("TransposeD", [call.input], {"perm": order})


@_rule("getattr", "input attribute", lists=True)
def _attribute(call):
    if isinstance(call.input, list) and call.attribute in ("values", "indices"):
        return call.input[call.attribute == "indices"]
    if call.attribute not in ("T", "mT") or _dims(call.input) is None:
        return None
    order = list(range(len(_dims(call.input))))
    order = order[::-1] if call.attribute == "T" else [*order[:-2], order[-1], order[-2]]
    return call.op("TransposeD", [call.input], {"perm": order})


def _see_through(value):
    """(operand, flag) for a matrix product: a transpose of the last two dimensions is its flag."""
    op = value.op
    if op is not None and op.type == "TransposeD":
        order = op.attrs["perm"]
        if order[:-2] == list(range(len(order) - 2)) and order[-2] > order[-1]:
            return op.operands[0], True
    return value, False


# -- matrix products --


@_rule("matmul mm bmm", "input other mat2")
def _matmul(call):
    x1, x2 = call.input, call.mat2 if call.other is None else call.other
    if not _is_tensor(x1, x2) or None in (_dims(x1), _dims(x2)):
        return None
    if len(_dims(x1)) < 2 or len(_dims(x2)) < 2 or _dtype(x1) is not _dtype(x2):
        return None
    return _product(call, x1, x2)


def _product(call, x1, x2, bias=None):
    """x1 * x2 + bias, with the leading dimensions of x1 as one where x2 has none."""
    rows, (x2, flag2) = _dims(x1)[:-1], _see_through(x2)
    flat = len(_dims(x2)) == 2 and len(rows) > 1
    if flat:
        if not all(isinstance(row, int) for row in rows):
            rows = None
        x1, flag1 = call.builder.reshape(x1, [math.prod(rows) if rows else None,
                                              _dims(x1)[-1]]), False
    else:
        x1, flag1 = _see_through(x1)
    n = call.result.dims[-1] if call.result.dims else None
    tensor = _Tensor(call.result.dtype, [_dims(x1)[0], n]) if flat else call.result
    type, attrs = _product_type(x1, x2, flag1, flag2)
    if not flat and bias is None:
        return call.op(type, [x1, x2], attrs)
    value = call.builder.part(type, [x1, x2], tensor, attrs)
    if bias is not None and not flat:
        return call.op("Add", [value, bias])
    if bias is not None:
        value = call.builder.part("Add", [value, bias], tensor)
    return call.op("Reshape", [value])


def _product_type(x1, x2, flag1, flag2):
    same = _dims(x1)[:-2] == _dims(x2)[:-2]
    keys = ("transpose_x1", "transpose_x2") if same else ("adj_x1", "adj_x2")
    attrs = {key: True for key, flag in zip(keys, (flag1, flag2)) if flag}
    return "MatMul" if same else "BatchMatMul", attrs


@_rule("linear", "input weight bias")
def _linear(call):
    x, weight = call.input, call.weight
    if not _is_tensor(x, weight) or None in (_dims(x), _dims(weight)):
        return None
    if len(_dims(x)) < 2 or len(_dims(weight)) != 2 or _dtype(x) is not _dtype(weight):
        return None
    swapped = call.builder.part("TransposeD", [weight], _Tensor(
        _dtype(weight), _dims(weight)[::-1]), {"perm": [1, 0]})
    return _product(call, x, swapped, call.bias)


@_rule("addmm", "input mat1 mat2 beta alpha")
def _addmm(call):
    if call.beta not in (None, 1) or call.alpha not in (None, 1):
        return None
    if not _is_tensor(call.input, call.mat1, call.mat2) or call.result.dims is None:
        return None
    return _product(call, call.mat1, call.mat2, call.input)


@_rule("scaled_dot_product_attention", "query key value attn_mask dropout_p is_causal scale "
       "enable_gqa")
def _attention(call):
    dims = _dims(call.query)
    if call.attn_mask is not None or call.is_causal or call.dropout_p or not dims \
            or len(dims) != 4 or call.result.dtype not in (torch.float16, torch.bfloat16) \
            or not isinstance(dims[-1], int):
        return None
    scale = 1 / math.sqrt(dims[-1]) if call.scale is None else float(call.scale)
    attrs = {"num_heads": dims[1], "num_key_value_heads": _dims(call.key)[1], "scale": scale,
             "input_layout": "BNSD"}
    sums = (".lse", _Tensor(torch.float32, [*dims[:3], 1]))
    return call.op("FusedInferAttentionScore", [call.query, [call.key], [call.value]], attrs,
                   [sums])


# -- norms --


@_rule("softmax _softmax", "input dim half_to_float dtype _stacklevel")
def _softmax(call):
    return _along(call, "Softmax", "SoftmaxV2")


@_rule("log_softmax _log_softmax", "input dim half_to_float dtype _stacklevel")
def _log_softmax(call):
    return _along(call, None, "LogSoftmaxV2")


def _along(call, last, any):
    """A function of its own type along one dimension; `last` is for the last one."""
    if isinstance(call.half_to_float, torch.dtype):  # torch.softmax(x, dim, dtype)
        call.dtype = call.half_to_float
    if not _is_tensor(call.input) or call.dim is None or _dims(call.input) == []:
        return None
    x = call.builder.cast(call.input, call.result.dtype)
    if last and call.dim in (-1, len(_dims(call.input) or []) - 1):
        return call.op(last, [x])
    return call.op(any, [x], {"axes": [call.dim]})


def _first_only(node):
    """Whether of a call's results no other is taken than the first."""
    return all(user.target is operator.getitem and (user.args[1] == 0 or not user.users)
               for user in node.users)


@_rule("layer_norm native_layer_norm", "input normalized_shape weight bias eps cudnn_enable",
       lists=True)
def _layer_norm(call):
    native = call.name == "native_layer_norm"
    if native and not _first_only(call.node) or not _is_tensor(call.input):
        return None
    result = call.result[0] if native and isinstance(call.result, list) else call.result
    if result.dims is None:
        return None
    shape, dims = list(call.normalized_shape), result.dims
    begin = len(dims) - len(shape)
    gamma, beta = (value if _is_tensor(value) else call.builder.const(default, result.dtype, shape)
                   for value, default in ((call.weight, 1.0), (call.bias, 0.0)))
    call.result = result
    attrs = {"begin_norm_axis": begin, "begin_params_axis": begin,
             "epsilon": 1e-5 if call.eps is None else float(call.eps)}
    stats = _Tensor(result.dtype, [*dims[:begin], *[1] * len(shape)])
    value = call.op("LayerNorm", [call.input, gamma, beta], attrs,
                    [(".mean", stats), (".variance", stats)])
    return [value, None, None] if native else value


@_rule("rms_norm", "input normalized_shape weight eps")
def _rms_norm(call):
    if not _is_tensor(call.input) or call.result.dims is None:
        return None
    shape, dims = list(call.normalized_shape), call.result.dims
    gamma = call.weight if _is_tensor(call.weight) else call.builder.const(
        1.0, call.result.dtype, shape)
    eps = torch.finfo(call.result.dtype).eps if call.eps is None else float(call.eps)
    rstd = _Tensor(torch.float32, [*dims[:len(dims) - len(shape)], *[1] * len(shape)])
    return call.op("RmsNorm", [call.input, gamma], {"epsilon": eps}, [(".rstd", rstd)])


@_rule("npu_rms_norm", "input gamma epsilon", lists=True)
def _npu_rms_norm(call):
    if not _is_tensor(call.input, call.gamma) or not isinstance(call.result, list):
        return None
    epsilon = 1e-6 if call.epsilon is None else float(call.epsilon)
    return call.builder.emit("RmsNorm", [call.input, call.gamma], call.result,
                             {"epsilon": epsilon}, ["", ".rstd"])


# -- lists and indices --


@_rule("getitem", "input index", lists=True)
def _getitem(call):
    if isinstance(call.input, (list, tuple, dict)):
        return call.input[call.index]
    return None


@_rule("cat concat concatenate", "tensors dim")
def _cat(call):
    if not _is_tensor(*_flat(call.tensors)) or call.result.dtype is None:
        return None
    values = [call.builder.cast(value, call.result.dtype) for value in call.tensors]
    return call.op("ConcatD", [values], {"concat_dim": call.dim or 0, "N": len(values)})


@_rule("stack", "tensors dim")
def _stack(call):
    if not _is_tensor(*_flat(call.tensors)):
        return None
    return call.op("Pack", [call.tensors], {"axis": call.dim or 0, "N": len(call.tensors)})


@_rule("split split_with_sizes chunk tensor_split", "tensor *", lists=True)
def _split(call):
    if not isinstance(call.result, list) or not call.result or not _is_tensor(call.tensor):
        return None
    axis, count = call.kwargs.get("dim", (*call.args, None, 0, 0)[2] or 0), len(call.result)
    if any(not isinstance(part, _Tensor) or part.dims is None for part in call.result):
        return None
    sizes = [part.dims[axis] for part in call.result]
    attrs = {"split_dim": axis, "num_split": count}
    if len(set(sizes)) == 1:
        return call.ops("SplitD", [call.tensor], attrs)
    return call.ops("SplitVD", [call.tensor], {"size_splits": sizes, **attrs})


@_rule("embedding", "input weight padding_idx scale_grad_by_freq sparse max_norm norm_type")
def _embedding(call):
    """torch.embedding and ATen's take the table first, torch.nn.functional's the places."""
    pair = [call.input, call.weight]
    if call.max_norm is not None or not _is_tensor(*pair):
        return None
    return call.op("Gather", pair if _is_floating(_dtype(call.input)) else pair[::-1])


@_rule("index_select", "input dim index")
def _index_select(call):
    if not _is_tensor(call.input, call.index):
        return None
    if call.dim == 0:
        return call.op("Gather", [call.input, call.index])
    axis = call.builder.const(call.dim, torch.int64, [])
    return call.op("GatherV2", [call.input, call.index, axis])


@_rule("expand broadcast_to expand_as", "input *")
def _expand_to(call):
    dims = call.result.dims
    if not _is_tensor(call.input) or dims is None or not all(isinstance(d, int) for d in dims):
        return None
    if _dims(call.input) == dims:
        return call.input
    shape = call.builder.const(list(dims), torch.int64, [len(dims)])
    return call.op("BroadcastTo", [call.input, shape])


_REDUCTIONS = {"sum": "ReduceSumD", "mean": "ReduceMeanD", "amax": "ReduceMaxD",
               "amin": "ReduceMinD"}


@_rule(" ".join(_REDUCTIONS), "input dim keepdim dtype")
def _reduce(call):
    if not _is_tensor(call.input) or _dims(call.input) is None or call.result.dtype is None:
        return None
    if call.dtype is None and isinstance(call.dim, torch.dtype):
        return None
    axes = call.dim if isinstance(call.dim, (list, tuple)) else [call.dim]
    if axes in ([None], []):
        axes = range(len(_dims(call.input)))
    attrs = {"axes": list(axes)}
    if call.keepdim:
        attrs["keep_dims"] = True
    x = call.builder.cast(call.input, call.result.dtype)
    return call.op(_REDUCTIONS[call.name], [x], attrs)


@_rule("cumsum", "input dim dtype")
def _cumsum(call):
    if not _is_tensor(call.input) or call.dim is None or call.result.dtype is None:
        return None
    x = call.builder.cast(call.input, call.result.dtype)
    return call.op("CumsumD", [x], {"axis": call.dim})


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
    """The blocks that an op stands in, outermost first."""
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


_SAMPLES = {"Add", "Mul", "Pows", "Cast", "IsInf", "IsFinite", "MatMul", "AddN", "ConcatD",
            "FusedInferAttentionScore", "RmsNorm", "Softmax"}
_CUBE = {"MatMul", "BatchMatMul", "aten.conv1d", "aten.conv2d", "aten.conv3d", "aten.convolution"}


def _stubs_text(builder, which):
    """Kernels without code for the ops that have none, or for all."""
    texts, kernels = [], {}
    for op in builder.ops:
        if op.type in _PASSIVE or (op.type in _SAMPLES and which != "all"):
            continue
        if op.type not in kernels:
            kernels[op.type] = re.sub(r"[^\w$]", "_", op.type)
            cores, blocks = ("aic_only", 24) if op.type in _CUBE else ("aiv_only", 48)
            texts.append(f"kernel @{kernels[op.type]} : {cores} {{\n  op = {_string(op.type)},\n"
                         f"  block = {blocks},\n  stub\n}}\n\n")
        op.kernel = kernels[op.type]
    return "".join(texts)


def _from_exported(program):
    """(GraphModule, what its placeholders that are no inputs stand for)"""
    signature = program.graph_signature
    lifted = {}
    for names, tensors in (
            (getattr(signature, "inputs_to_parameters", {}), program.state_dict),
            (getattr(signature, "inputs_to_buffers", {}), {
                **getattr(program, "constants", {}), **program.state_dict}),
            (getattr(signature, "inputs_to_lifted_tensor_constants", {}) or {},
             getattr(program, "constants", {}))):
        for placeholder, name in names.items():
            lifted[placeholder] = (name, tensors.get(name))
    return program.graph_module, lifted


class _ExportedBuilder(_Builder):
    """Parameters and buffers of an ExportedProgram are inputs of its graph."""

    def __init__(self, lifted, *args):
        super().__init__(*args)
        self.lifted = lifted

    def add(self, node):
        name, tensor = self.lifted.get(node.name, (None, None)) if node.op == "placeholder" \
            else (None, None)
        if name is None:
            super().add(node)
        elif tensor is None:
            self.values[node] = self.add_params(name, self.described[node])
        else:
            self.values[node] = self.place_weight(name, tensor)


def to_skir(program, example_inputs=None, *, name="main", aten=False, weights=None, stubs=None,
            path=None):
    """The text of a .skir file.

    program         a torch.nn.Module, a function, a torch.fx.GraphModule or an ExportedProgram
    example_inputs  a list of arguments. The program is run with copies of them once, to find types
                    and shapes. Without, these are what the graph says, or unknown
    name            of the graph
    aten            trace down to ATen by make_fx; loops and branches may depend on shapes
    weights         a file to write the contents of parameters and buffers to, which are constants
                    and variables of the graph then, and else its parameters
    stubs           True: declare kernels without code for ops of types that have no sample kernel;
                    "all": for all. So the program compiles
    path            where the text will be written: `weights` is named relative to it
    """
    store = _Weights(weights, path) if weights else None
    try:
        builder = _make_builder(program, example_inputs, aten, store)
        builder.build()
    finally:
        if store:
            store.file.close()
    kernels = _stubs_text(builder, stubs) if stubs else ""
    return f"skir 1\n\n{kernels}{_graph_text(name, builder)}"


def _make_builder(program, inputs, aten, store):
    if hasattr(program, "graph_signature"):
        module, lifted = _from_exported(program)
        return _ExportedBuilder(lifted, module, _values_of(module, None), {}, store)
    module, names = _trace(program, inputs, aten)
    return _Builder(module, _values_of(module, inputs), names, store)


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
        prog="torch_skir.py", description="Makes a .skir file of a PyTorch program.")
    parser.add_argument("program", metavar="FILE.py:FUNCTION",
                        help="a function that returns a module, or a module and example inputs")
    parser.add_argument("-o", "--output", metavar="OUT.skir", help="standard output without it")
    parser.add_argument("--name", default="main", help="name of the graph (main)")
    parser.add_argument("--aten", action="store_true", help="trace down to ATen")
    parser.add_argument("--weights", metavar="FILE", help="write the contents of parameters there")
    parser.add_argument("--stubs", nargs="?", const=True, choices=["all"],
                        help="declare kernels without code for ops that have none, or for all")
    options = parser.parse_args()
    program, inputs = _load(options.program)
    text = to_skir(program, inputs, name=options.name, aten=options.aten, weights=options.weights,
                   stubs=options.stubs, path=options.output)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    _main()
