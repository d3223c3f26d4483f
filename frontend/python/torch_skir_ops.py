"""What functions of PyTorch become in .skir: the table of torch_skir.py, a row a function.

A row has the names that functions have in ATen, their parameters with PyTorch's defaults, what they
become, and what the row refuses. Its function is of one of two kinds:

- `_row`: makes ops of GE. It is given a Call.
- `rewrite` (torch_skir_rewrites.py): computes the same by other functions of PyTorch while the
  program is traced.

Both raise NotCovered where the row does not cover a call, which then becomes an op of its own type.
`becomes` and `refused` are for the reader of the table that `torch_skir.py --translations` prints.
"""

import ast
import math
import numbers

import torch

ROWS = {}  # by the name of the function in ATen, without namespace and overload
REWRITES = {}

# Arguments that say where a tensor is and how it is laid out in memory.
IGNORED = {"device", "layout", "pin_memory", "memory_format", "non_blocking", "generator",
           "implicit", "scale_grad_by_freq", "sparse", "sparse_grad"}


class NotCovered(Exception):
    """Why a row does not cover a call."""


class Refused(ValueError):
    """Why no graph computes what a program computes."""


class Row:
    def __init__(self, names, params, becomes, refused, function):
        self.names, self.text, self.function = names.split(), params, function
        self.becomes, self.refused = becomes, refused
        arguments = ast.parse(f"lambda {params}: 0", mode="eval").body.args
        names = [argument.arg for argument in arguments.args]
        defaults = [ast.literal_eval(default) for default in arguments.defaults]
        self.params = dict.fromkeys(names[:len(names) - len(defaults)], _REQUIRED)
        self.params.update(zip(names[len(names) - len(defaults):], defaults))

    def bind(self, given):
        """The values of all parameters, from those that a call gives by their names in ATen."""
        values = dict(self.params)
        for key, value in given.items():
            key = _SAME.get(key, key)
            if key in values:
                values[key] = value
            elif key not in IGNORED and value is not None:
                raise NotCovered(f"the argument '{key}'")
        missing = [name for name, value in values.items() if value is _REQUIRED]
        if missing:
            raise NotCovered(f"a call without '{missing[0]}'")
        return values


_REQUIRED = object()
_SAME = {"self": "input", "batch1": "mat1", "batch2": "mat2"}


def _register(table, names, params, becomes, refused):
    def register(function):
        row = Row(names, params, becomes, refused, function)
        for name in row.names:
            table[name] = row
        return function
    return register


def _row(names, params, becomes, refused=""):
    return _register(ROWS, names, params, becomes, refused)


def rewrite(names, params, becomes="", refused=""):
    """Without `becomes`: a `_row` of the same name says it, which covers the other calls."""
    return _register(REWRITES, names, params, becomes, refused)


def arguments_of(target, args, kwargs):
    """The arguments of a call of an ATen function by the names that its schema has for them."""
    return {**{arg.name: value for arg, value in zip(target._schema.arguments, args)}, **kwargs}


def decompositions():
    """The rewrites as make_fx takes them, and what those that do not cover a call have said."""
    table, reasons = {}, {}
    for name, row in REWRITES.items():
        packet = getattr(torch.ops.aten, name, None)
        for overload in packet.overloads() if packet else []:
            target = getattr(packet, overload)
            if not target._schema.is_mutable:
                table[target] = _decompose(target, row, name, reasons)
    return table, reasons


def _decompose(target, row, name, reasons):
    def decompose(*args, **kwargs):
        try:
            result = row.function(**row.bind(arguments_of(target, args, kwargs)))
            return NotImplemented if result is None else result
        except NotCovered as error:
            reasons[name] = str(error)
            return NotImplemented
    return decompose


def translations():
    """The table as Markdown."""
    rows = {id(row): row for table in (ROWS, REWRITES) for row in table.values()
            if row.becomes}.values()
    lines = ["| function | becomes | not covered |", "|---|---|---|"]
    for row in sorted(rows, key=lambda row: row.names[0].strip("_")):
        names = ", ".join(f"`{name}`" for name in row.names[1:])
        function = f"`{row.names[0]}({row.text})`" + (f", {names}" if names else "")
        lines.append(f"| {function} | {row.becomes} | {row.refused} |".replace("  |", " |"))
    return "\n".join(lines) + "\n"


# ---- Calls ----


class Call:
    """A call of a function of ATen: its arguments by name, what it gives, and how to make ops."""

    def __init__(self, builder, name, values, result, used):
        self.builder, self.name, self.result, self.used = builder, name, result, used
        self.__dict__.update(values)

    def op(self, type, operands, attrs=None, extra=()):
        """The op whose first result is that of the call; `extra`: (suffix, tensor) of others."""
        tensors = [self.result, *(tensor for _, tensor in extra)]
        return self.builder.emit(type, operands, tensors, attrs,
                                 ["", *(suffix for suffix, _ in extra)])[0]

    def ops(self, type, operands, attrs):
        """The op whose results are the tensors that the call gives."""
        names = [f".{i}" for i in range(len(self.result))]
        return self.builder.emit(type, operands, self.result, attrs, names)

    def part(self, type, operands, like, sizes, attrs=None):
        """An op on the way to the result of the call, of the data type of `like`."""
        data_type = like if isinstance(like, torch.dtype) else dtype(like)
        return self.builder.part(type, operands, data_type, sizes, attrs)

    def cast(self, value, data_type):
        if dtype(value) is data_type:
            return value
        data = value.op.attrs["value"] if value.op and value.op.type == "Const" else None
        if isinstance(data, numbers.Number) and math.isfinite(data):
            number = data if data_type.is_floating_point else bool(data) \
                if data_type is torch.bool else int(data)
            return self.const(number, data_type, dims(value))
        return self.part("Cast", [value], data_type, dims(value))

    def reshape(self, value, sizes):
        return value if dims(value) == sizes else self.part("Reshape", [value], value, sizes)

    def reshape_result(self, value):
        """The value in the shape of the call's result."""
        return value if dims(value) == self.result.dims else self.op("Reshape", [value])

    def const(self, data, data_type, sizes=()):
        """A constant: a number, or a list of as many as `sizes` say. Integers wrap, as those of
        PyTorch do where it computes in a type that does not hold them."""
        if data_type.is_complex:
            raise NotCovered("complex numbers")
        values = [data] if isinstance(data, numbers.Number) else data
        if not data_type.is_floating_point and data_type is not torch.bool:
            need(not any(isinstance(value, float) for value in values), f"a float as {data_type}")
            info = torch.iinfo(data_type)
            values = [(value - info.min) % (info.max - info.min + 1) + info.min for value in values]
        kind = float if data_type.is_floating_point else bool if data_type is torch.bool else int
        values = [kind(value) for value in values]
        return self.builder.const(values[0] if isinstance(data, numbers.Number) else values,
                                  data_type, list(sizes))

    def operands(self, data_type, *values):
        """Tensors cast to the type, numbers as constants of it."""
        return [self.cast(value, data_type) if is_tensor(value) else self.const(value, data_type)
                for value in values]


def is_tensor(*values):
    return all(hasattr(value, "tensor") for value in values)


def dims(value):
    return value.tensor.dims


def dtype(value):
    return value.tensor.dtype


def sizes(value):
    """The dimensions of a value or tensor, which must be known."""
    known = value.dims if hasattr(value, "dims") else dims(value)
    if not all(isinstance(dim, int) for dim in known):
        raise NotCovered("dimensions that are not known")
    return known


def is_floating(data_type):
    return data_type.is_floating_point


def _axis(axis, rank):
    return axis + rank if axis < 0 else axis


def _promoted(*values):
    """The type that PyTorch computes a call with these operands in."""
    def example(value):
        return torch.empty([1] * len(dims(value)), dtype=dtype(value), device="meta") \
            if is_tensor(value) else value
    return torch.result_type(*map(example, values))


def need(condition, reason):
    if not condition:
        raise NotCovered(reason)


# ---- One op for one function ----

for _name, _type in {
        "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan",
        "atanh": "Atanh", "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "erfc": "Erfc", "exp": "Exp",
        "expm1": "Expm1", "hardswish": "HardSwish", "log": "Log", "log1p": "Log1p", "mish": "Mish",
        "reciprocal": "Reciprocal", "rsqrt": "Rsqrt", "sigmoid": "Sigmoid", "silu": "Swish",
        "sin": "Sin", "sinh": "Sinh", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh"}.items():
    @_row(_name, "input", f"`{_type}`; integers are cast to the type of the result")
    def _float_function(c, type=_type):
        return c.op(type, c.operands(c.result.dtype, c.input))

for _name, _type in {"ceil": "Ceil", "floor": "Floor", "trunc": "Trunc"}.items():
    @_row(_name, "input", f"`{_type}`; of integers, the input")
    def _rounding(c, type=_type):
        return c.op(type, [c.input]) if is_floating(dtype(c.input)) else c.input

for _name, _type in {"abs": "Abs", "neg": "Neg", "relu": "Relu"}.items():
    @_row(_name, "input", f"`{_type}`")
    def _number_function(c, type=_type):
        return c.op(type, [c.input])

for _name, _type in {"isfinite": "IsFinite", "isinf": "IsInf", "isnan": "IsNan"}.items():
    @_row(_name, "input", f"`{_type}`", "integers")
    def _test(c, type=_type):
        need(is_floating(dtype(c.input)), "integers")
        return c.op(type, [c.input])


@_row("round", "input, decimals=0", "`Round`; of integers, the input", "`decimals` other than 0")
def _round(c):
    need(c.decimals == 0, f"decimals = {c.decimals}")
    return c.op("Round", [c.input]) if is_floating(dtype(c.input)) else c.input


@_row("gelu", "input, approximate='none'", "`GeluV2 {approximate}`")
def _gelu(c):
    return c.op("GeluV2", [c.input], {"approximate": c.approximate})


@_row("leaky_relu", "input, negative_slope=0.01", "`LeakyRelu {negative_slope}`")
def _leaky_relu(c):
    return c.op("LeakyRelu", [c.input], {"negative_slope": float(c.negative_slope)})


@_row("elu", "input, alpha=1, scale=1, input_scale=1", "`Elu {alpha, scale, input_scale}`")
def _elu(c):
    return c.op("Elu", [c.input], {"alpha": float(c.alpha), "scale": float(c.scale),
                                   "input_scale": float(c.input_scale)})


@_row("celu", "input, alpha=1.0", "`CeluV2 {alpha}`")
def _celu(c):
    return c.op("CeluV2", [c.input], {"alpha": float(c.alpha)})


@_row("hardsigmoid", "input", "`HardSigmoid {alpha = 1/6, beta = 0.5}`")
def _hardsigmoid(c):
    return c.op("HardSigmoid", [c.input], {"alpha": 1 / 6, "beta": 0.5})


@_row("hardshrink", "input, lambd=0.5", "`HardShrink {lambd}`")
def _hardshrink(c):
    return c.op("HardShrink", [c.input], {"lambd": float(c.lambd)})


@_row("softshrink", "input, lambd=0.5", "`SoftShrink {lambd}`")
def _softshrink(c):
    return c.op("SoftShrink", [c.input], {"lambd": float(c.lambd)})


@_row("prelu", "input, weight", "`PRelu`")
def _prelu(c):
    return c.op("PRelu", [c.input, c.weight])


@_row("softplus", "input, beta=1, threshold=20",
      "`Softplus`; with another `beta` or a lower `threshold`, of `input * beta`, and a `SelectV2`")
def _softplus(c):
    need(c.beta == 1 and c.threshold >= 20, f"beta = {c.beta}, threshold = {c.threshold}")
    return c.op("Softplus", [c.input])


# ---- Arithmetic ----


for _name, _type in {"atan2": "Atan2", "floor_divide": "FloorDiv", "fmod": "Mod",
                     "maximum": "Maximum", "minimum": "Minimum", "remainder": "FloorMod"}.items():
    @_row(_name, "input, other", f"`{_type}` in the type of the result", "`bool`")
    def _arithmetic(c, type=_type):
        need(c.result.dtype is not torch.bool, "bool")
        return c.op(type, c.operands(c.result.dtype, c.input, c.other))


def _scaled(c, value):
    """value * alpha"""
    if c.alpha == 1:
        return value
    if not is_tensor(value):
        return value * c.alpha
    value, alpha = c.operands(c.result.dtype, value, c.alpha)
    return c.part("Mul", [value, alpha], value, dims(value))


@_row("add", "input, other, alpha=1",
      "`Add`, of `Mul` with another `alpha`; of `bool`, `LogicalOr`")
def _add(c):
    if c.result.dtype is torch.bool:
        need(c.alpha in (1, True), "alpha of bool")
        return c.op("LogicalOr", c.operands(torch.bool, c.input, c.other))
    return c.op("Add", c.operands(c.result.dtype, c.input, _scaled(c, c.other)))


@_row("sub", "input, other, alpha=1", "`Sub`, of `Mul` with another `alpha`")
def _sub(c):
    return c.op("Sub", c.operands(c.result.dtype, c.input, _scaled(c, c.other)))


@_row("rsub", "input, other, alpha=1", "`Sub` of swapped operands")
def _rsub(c):
    return c.op("Sub", c.operands(c.result.dtype, c.other, _scaled(c, c.input)))


@_row("mul", "input, other", "`Mul`; of `bool`, `LogicalAnd`")
def _mul(c):
    type = "LogicalAnd" if c.result.dtype is torch.bool else "Mul"
    return c.op(type, c.operands(c.result.dtype, c.input, c.other))


@_row("div", "input, other, rounding_mode=None",
      "`RealDiv` of floats, to which integers are cast; rounded to zero `Trunc` of it, or "
      "`TruncateDiv` of integers; rounded down `FloorDiv`")
def _div(c):
    pair = c.operands(c.result.dtype, c.input, c.other)
    if c.rounding_mode == "floor":
        return c.op("FloorDiv", pair)
    if c.rounding_mode is None:
        return c.op("RealDiv", pair)
    if not is_floating(c.result.dtype):
        return c.op("TruncateDiv", pair)
    return c.op("Trunc", [c.part("RealDiv", pair, c.result.dtype, c.result.dims)])


@_row("pow", "input, exponent",
      "`Pow`; `Square`, `Sqrt`, `Rsqrt`, `Reciprocal` where the exponent is 2, 0.5, -0.5, -1")
def _pow(c):
    special = {2: "Square", 0.5: "Sqrt", -0.5: "Rsqrt", -1: "Reciprocal"}
    need(c.result.dtype is not torch.bool, "bool")
    if not is_tensor(c.exponent) and c.exponent in special and (
            is_floating(c.result.dtype) or c.exponent == 2):
        return c.op(special[c.exponent], c.operands(c.result.dtype, c.input))
    return c.op("Pow", c.operands(c.result.dtype, c.input, c.exponent))


for _name, _type in {"eq": "Equal", "ne": "NotEqual", "gt": "Greater", "ge": "GreaterEqual",
                     "lt": "Less", "le": "LessEqual"}.items():
    @_row(_name, "input, other", f"`{_type}` in the type that PyTorch compares in")
    def _compare(c, type=_type):
        common = _promoted(c.input, c.other)
        if common is torch.bool and type not in ("Equal", "NotEqual"):
            common = torch.int8
        return c.op(type, c.operands(common, c.input, c.other))

for _name, _type in {"logical_and": "LogicalAnd", "logical_or": "LogicalOr",
                     "logical_xor": "NotEqual"}.items():
    @_row(_name, "input, other", f"`{_type}` of operands cast to `bool`")
    def _logical(c, type=_type):
        return c.op(type, c.operands(torch.bool, c.input, c.other))


@_row("logical_not", "input", "`LogicalNot` of the operand cast to `bool`")
def _logical_not(c):
    return c.op("LogicalNot", c.operands(torch.bool, c.input))


for _name, _type in {"bitwise_and": ("BitwiseAnd", "LogicalAnd"),
                     "bitwise_or": ("BitwiseOr", "LogicalOr"),
                     "bitwise_xor": ("BitwiseXor", "NotEqual")}.items():
    @_row(_name, "input, other", f"`{_type[0]}`; of `bool`, `{_type[1]}`")
    def _bitwise(c, types=_type):
        return c.op(types[c.result.dtype is torch.bool],
                    c.operands(c.result.dtype, c.input, c.other))


@_row("bitwise_not", "input", "`Invert`; of `bool`, `LogicalNot`")
def _bitwise_not(c):
    return c.op("LogicalNot" if c.result.dtype is torch.bool else "Invert", [c.input])


for _name, _type in {"__lshift__ bitwise_left_shift": "LeftShift",
                     "__rshift__ bitwise_right_shift": "RightShift"}.items():
    @_row(_name, "input, other", f"`{_type}`", "floats")
    def _shift(c, type=_type):
        need(not is_floating(c.result.dtype), "floats")
        return c.op(type, c.operands(c.result.dtype, c.input, c.other))


@_row("clamp", "input, min=None, max=None",
      "`ClipByValue`; with one bound, `Maximum` or `Minimum`")
def _clamp(c):
    type, bounds = ("ClipByValue", [c.min, c.max]) if None not in (c.min, c.max) else \
        ("Maximum", [c.min]) if c.max is None else ("Minimum", [c.max])
    return c.op(type, c.operands(c.result.dtype, c.input, *bounds))


@_row("clamp_min", "input, min", "`Maximum`")
def _clamp_min(c):
    return c.op("Maximum", c.operands(c.result.dtype, c.input, c.min))


@_row("clamp_max", "input, max", "`Minimum`")
def _clamp_max(c):
    return c.op("Minimum", c.operands(c.result.dtype, c.input, c.max))


@_row("hardtanh", "input, min_val=-1, max_val=1", "`ClipByValue`")
def _hardtanh(c):
    return c.op("ClipByValue", c.operands(c.result.dtype, c.input, c.min_val, c.max_val))


@_row("where", "condition, input, other", "`SelectV2` in the type of the result",
      "the form without `input` and `other`")
def _where(c):
    pair = c.operands(c.result.dtype, c.input, c.other)
    return c.op("SelectV2", [c.cast(c.condition, torch.bool), *pair])


@_row("masked_fill", "input, mask, value", "`SelectV2`")
def _masked_fill(c):
    value, x = c.operands(c.result.dtype, c.value, c.input)
    return c.op("SelectV2", [c.cast(c.mask, torch.bool), value, x])


# ---- Casts, copies and constants ----


@_row("_to_copy", "input, dtype=None", "`Cast`; to an integer it truncates", "complex numbers")
def _to_copy(c):
    need(not c.result.dtype.is_complex and not dtype(c.input).is_complex, "complex numbers")
    return c.input if dtype(c.input) is c.result.dtype else c.op("Cast", [c.input])


@_row("to", "input, dtype=None, copy=False", "as `_to_copy` (only in an `ExportedProgram`)",
      "complex numbers")
def _to(c):
    return _to_copy(c)


@_row("dropout", "input, p, train", "the input (only in an `ExportedProgram`)", "`train`")
def _dropout(c):
    need(not c.train, "dropout in training")
    return c.input


@_row("alias clone contiguous detach lift_fresh lift_fresh_copy", "input", "the input")
def _same(c):
    return c.input


for _name, _number in {"zeros_like empty_like": 0, "ones_like": 1}.items():
    @_row(_name, "input, dtype=None", f"`Const {{value = {_number}}}`")
    @_row(_name.replace("zeros_like", "new_zeros").replace("ones_like", "new_ones").replace(
        "empty_like", "new_empty"), "input, size, dtype=None", f"`Const {{value = {_number}}}`")
    def _filled_like(c, number=_number):
        return c.const(number, c.result.dtype, sizes(c.result))


@_row("full_like", "input, fill_value, dtype=None", "`Const {value = fill_value}`")
def _full_like(c):
    return c.const(c.fill_value, c.result.dtype, sizes(c.result))


@_row("new_full", "input, size, fill_value, dtype=None", "`Const {value = fill_value}`")
def _new_full(c):
    return c.const(c.fill_value, c.result.dtype, sizes(c.result))


# ---- Shapes ----


@_row("flatten", "input, start_dim=0, end_dim=-1", "`Reshape` (only in an `ExportedProgram`)")
@_row("unflatten", "input, dim, sizes", "`Reshape` (only in an `ExportedProgram`)")
@_row("reshape", "input, shape", "`Reshape` (only in an `ExportedProgram`)")
@_row("_reshape_alias", "input, size, stride", "`Reshape`")
@_row("view _unsafe_view", "input, size", "`Reshape`", "a view as another data type")
def _view(c):
    return c.reshape_result(c.input)


@_row("squeeze", "input, dim=None", "`Reshape`")
def _squeeze(c):
    return c.reshape_result(c.input)


@_row("unsqueeze", "input, dim", "`Reshape`")
def _unsqueeze(c):
    return c.reshape_result(c.input)


def _transposed(c, order):
    return c.input if order == sorted(order) else c.op("TransposeD", [c.input], {"perm": order})


@_row("permute", "input, dims", "`TransposeD {perm}`")
def _permute(c):
    return _transposed(c, [_axis(axis, len(c.dims)) for axis in c.dims])


@_row("transpose", "input, dim0, dim1", "`TransposeD {perm}`")
def _transpose(c):
    order = list(range(len(dims(c.input))))
    if order:
        order[c.dim0], order[c.dim1] = order[c.dim1], order[c.dim0]
    return _transposed(c, order)


@_row("t", "input", "`TransposeD {perm = [1, 0]}`")
def _t(c):
    return _transposed(c, list(range(len(dims(c.input))))[::-1])


@_row("expand", "input, size", "`BroadcastTo`")
def _expand(c):
    shape = sizes(c.result)
    if dims(c.input) == shape:
        return c.input
    return c.op("BroadcastTo", [c.input, c.const(shape, torch.int64, [len(shape)])])


@_row("repeat", "input, repeats", "`TileD {multiples}`, after a `Reshape` to as many dimensions")
def _repeat(c):
    missing = len(c.repeats) - len(dims(c.input))
    x = c.reshape(c.input, [1] * missing + dims(c.input))
    return c.op("TileD", [x], {"multiples": list(c.repeats)})


@_row("slice", "input, dim=0, start=None, end=None, step=1",
      "`SliceD {offsets, size}`, with a `step` `StridedSliceD {begin, end, strides}`")
def _slice(c):
    before, after = sizes(c.input), sizes(c.result)
    axis, step = _axis(c.dim, len(before)), c.step
    start = min(max(_axis(c.start or 0, before[axis]), 0), before[axis])
    if before == after:
        return c.input
    begin = [start if i == axis else 0 for i in range(len(before))]
    if step == 1:
        return c.op("SliceD", [c.input], {"offsets": begin, "size": after})
    end = [start + (n - 1) * step + 1 if i == axis and n else start if i == axis else n
           for i, n in enumerate(after)]
    strides = [step if i == axis else 1 for i in range(len(before))]
    return c.op("StridedSliceD", [c.input], {"begin": begin, "end": end, "strides": strides})


@_row("select", "input, dim, index", "`SliceD {offsets, size}` and `Reshape`")
def _select(c):
    before = sizes(c.input)
    axis = _axis(c.dim, len(before))
    begin = [_axis(c.index, before[axis]) if i == axis else 0 for i in range(len(before))]
    size = [1 if i == axis else n for i, n in enumerate(before)]
    x = c.input if size == before else c.part("SliceD", [c.input], c.input, size,
                                              {"offsets": begin, "size": size})
    return c.reshape_result(x)


def _split_along(c, axis):
    parts = [sizes(part)[axis] for part in c.result]
    if len(parts) == 1:
        return [c.input]
    attrs = {"split_dim": axis, "num_split": len(parts)}
    if len(set(parts)) == 1:
        return c.ops("SplitD", [c.input], attrs)
    return c.ops("SplitVD", [c.input], {"size_splits": parts, **attrs})


@_row("chunk", "input, chunks, dim=0", "as `split` (only in an `ExportedProgram`)")
@_row("split unsafe_split", "input, split_size, dim=0",
      "`SplitD`; in parts of different sizes `SplitVD`")
def _split(c):
    return _split_along(c, _axis(c.dim, len(dims(c.input))))


@_row("split_with_sizes unsafe_split_with_sizes", "input, split_sizes, dim=0",
      "`SplitD` or `SplitVD`")
def _split_with_sizes(c):
    return _split_along(c, _axis(c.dim, len(dims(c.input))))


@_row("cat", "tensors, dim=0",
      "`ConcatD {concat_dim, N}`, of operands cast to the type of the result")
def _cat(c):
    tensors = [value for value in c.tensors if dims(value) != [0]]
    need(tensors, "no tensors with elements")
    tensors = c.operands(c.result.dtype, *tensors)
    axis = _axis(c.dim, len(c.result.dims))
    if len(tensors) == 1:
        return tensors[0]
    return c.op("ConcatD", [tensors], {"concat_dim": axis, "N": len(tensors)})


@_row("stack", "tensors, dim=0", "`Pack {axis, N}`, of operands cast to the type of the result")
def _stack(c):
    tensors = c.operands(c.result.dtype, *c.tensors)
    return c.op("Pack", [tensors], {"axis": _axis(c.dim, len(c.result.dims)), "N": len(tensors)})


@_row("constant_pad_nd", "input, pad, value=0", "`PadV3`; negative padding is a slice")
def _constant_pad(c):
    return _pad(c, "constant", [c.const(c.value, c.result.dtype)])


@_row("reflection_pad1d reflection_pad2d reflection_pad3d", "input, padding",
      '`PadV3 {mode = "reflect"}`', "negative padding")
def _reflection_pad(c):
    c.pad = c.padding
    return _pad(c, "reflect", [])


@_row("replication_pad1d replication_pad2d replication_pad3d", "input, padding",
      '`PadV3 {mode = "edge"}`', "negative padding")
def _replication_pad(c):
    c.pad = c.padding
    return _pad(c, "edge", [])


def _pad(c, mode, value):
    """PyTorch lists the last dimension first."""
    need(min(c.pad) >= 0, "negative padding")
    pairs = [list(c.pad[i:i + 2]) for i in range(0, len(c.pad), 2)][::-1]
    pairs = [[0, 0]] * (len(dims(c.input)) - len(pairs)) + pairs
    paddings = c.const(sum(pairs, []), torch.int64, [len(pairs), 2])
    return c.op("PadV3", [c.input, paddings, *value], {"mode": mode})


@_row("flip", "input, dims", "`ReverseV2`")
def _flip(c):
    axes = [_axis(axis, len(dims(c.input))) for axis in c.dims]
    if not axes:
        return c.input
    return c.op("ReverseV2", [c.input, c.const(axes, torch.int64, [len(axes)])])


for _name, _type in {"tril": "Tril", "triu": "Triu"}.items():
    @_row(_name, "input, diagonal=0", f"`{_type} {{diagonal}}`")
    def _triangle(c, type=_type):
        return c.op(type, [c.input], {"diagonal": c.diagonal})


# ---- Places ----


@_row("embedding", "weight, indices, padding_idx=-1", "`Gather`")
def _embedding(c):
    return c.op("Gather", [c.weight, c.indices])


@_row("index_select", "input, dim, index", "`GatherV2`")
def _index_select(c):
    need(dims(c.input), "an input without dimensions")
    index = c.reshape(c.index, [1]) if dims(c.index) == [] else c.index
    axis = c.const(_axis(c.dim, len(dims(c.input))), torch.int64)
    return c.op("GatherV2", [c.input, index, axis])


@_row("index_copy", "input, dim, index, source", "`ScatterUpdate {axis}` of a `TensorMove`")
def _index_copy(c):
    need(dims(c.input), "an input without dimensions")
    index = c.reshape(c.index, [1]) if dims(c.index) == [] else c.index
    copy = c.part("TensorMove", [c.input], c.input, dims(c.input))
    return c.op("ScatterUpdate", [copy, index, c.source],
                {"axis": _axis(c.dim, len(dims(c.input)))})


@_row("gather", "input, dim, index", "`GatherElements {dim}`")
def _gather(c):
    need(dims(c.input), "an input without dimensions")
    return c.op("GatherElements", [c.input, c.index], {"dim": _axis(c.dim, len(dims(c.input)))})


@_row("scatter", "input, dim, index, src=None, value=None, reduce=None",
      "`ScatterElements {axis, reduction}` of the part of `src` that is as large as `index`")
def _scatter(c):
    reductions = {None: "none", "add": "add", "multiply": "mul"}
    need(c.reduce in reductions, f"reduce = {c.reduce}")
    return _scattered(c, c.value if c.src is None else c.src, reductions[c.reduce])


@_row("scatter_add", "input, dim, index, src", '`ScatterElements {axis, reduction = "add"}`')
def _scatter_add(c):
    return _scattered(c, c.src, "add")


def _scattered(c, updates, reduction):
    need(dims(c.input), "an input without dimensions")
    shape = sizes(c.index)
    if not is_tensor(updates):
        updates = c.const(updates, c.result.dtype, shape)
    elif sizes(updates) != shape:
        updates = c.part("SliceD", [updates], updates, shape, {"offsets": [0] * len(shape),
                                                               "size": shape})
    return c.op("ScatterElements", [c.input, c.index, updates],
                {"axis": _axis(c.dim, len(dims(c.input))), "reduction": reduction})


# ---- Reductions ----


def _axes(c):
    """The dimensions that a call reduces: none is all."""
    given = c.dim if isinstance(c.dim, (list, tuple)) else [] if c.dim is None else [c.dim]
    rank = len(dims(c.input))
    return sorted(_axis(axis, max(rank, 1)) for axis in given) if given else list(range(rank))


def _reduced(c, type, x):
    if not dims(x):
        return x
    attrs = {"axes": _axes(c), **({"keep_dims": True} if c.keepdim else {})}
    return c.op(type, [x], attrs)


for _name, _type in {"sum": "ReduceSumD", "mean": "ReduceMeanD", "prod": "ReduceProdD"}.items():
    @_row(_name, "input, dim=None, keepdim=False, dtype=None",
          f"`{_type} {{axes, keep_dims}}` in the type of the result: integers add up to `i64`"
          if _name != "mean" else f"`{_type} {{axes, keep_dims}}`")
    def _total(c, type=_type):
        return _reduced(c, type, c.cast(c.input, c.result.dtype))

for _name, _type in {"amax": "ReduceMaxD", "amin": "ReduceMinD"}.items():
    @_row(_name, "input, dim=[], keepdim=False", f"`{_type} {{axes, keep_dims}}`", "`bool`")
    def _extreme(c, type=_type):
        need(c.result.dtype is not torch.bool, "bool")
        return _reduced(c, type, c.input)

for _name, _types in {"max": ("ReduceMaxD", "ArgMaxD"), "min": ("ReduceMinD", "ArgMinD")}.items():
    @_row(_name, "input, dim=None, keepdim=False",
          f"`{_types[0]} {{axes, keep_dims}}`, with `dim` and `{_types[1]} {{dimension}}`",
          "`bool`")
    def _extreme_at(c, types=_types):
        need(dtype(c.input) is not torch.bool, "bool")
        if c.dim is None:
            return _reduced(c, types[0], c.input)
        need(dims(c.input), "an input without dimensions")
        values, places = c.result
        axis = _axes(c)[0]
        attrs = {"axes": [axis], **({"keep_dims": True} if c.keepdim else {})}
        return [c.builder.emit(types[0], [c.input], [values], attrs, [".values"])[0],
                _place_of_extreme(c, types[1], c.input, axis, places, ".indices")]

for _name, _type in {"argmax": "ArgMaxD", "argmin": "ArgMinD"}.items():
    @_row(_name, "input, dim=None, keepdim=False",
          f"`{_type} {{dimension}}`; without `dim`, of a `Reshape` to one dimension", "`bool`")
    def _arg_extreme(c, type=_type):
        need(dtype(c.input) is not torch.bool, "bool")
        x, axis = c.input, c.dim
        if c.dim is None or not dims(x):
            x, axis = c.reshape(x, [math.prod(sizes(x))]), 0
        return _place_of_extreme(c, type, x, _axis(axis, len(dims(x))), c.result, "")


def _place_of_extreme(c, type, x, axis, tensor, name):
    attrs = {"dimension": axis, "dtype": 9}  # i64
    flat = [dim for i, dim in enumerate(dims(x)) if i != axis]
    if flat == tensor.dims:
        return c.builder.emit(type, [x], [tensor], attrs, [name])[0]
    value = c.part(type, [x], tensor.dtype, flat, attrs)
    return c.builder.emit("Reshape", [value], [tensor], None, [name])[0]


for _name, _type in {"all": "ReduceAllD", "any": "ReduceAnyD"}.items():
    @_row(_name, "input, dim=None, keepdim=False",
          f"`{_type} {{axes, keep_dims}}` of the input cast to `bool`", "`uint8`")
    def _truth(c, type=_type):
        need(c.result.dtype is torch.bool, "uint8")
        return _reduced(c, type, c.cast(c.input, torch.bool))


@_row("logsumexp", "input, dim, keepdim=False", "`ReduceLogSumExp`")
def _logsumexp(c):
    need(dims(c.input), "an input without dimensions")
    x, axes = c.cast(c.input, c.result.dtype), _axes(c)
    return c.op("ReduceLogSumExp", [x, c.const(axes, torch.int64, [len(axes)])],
                {"keep_dims": True} if c.keepdim else {})


for _name, _type in {"cumsum": "CumsumD", "cumprod": "CumprodD"}.items():
    @_row(_name, "input, dim, dtype=None", f"`{_type} {{axis}}`: of integers in `i64`")
    def _running(c, type=_type):
        x = c.cast(c.input, c.result.dtype)
        return c.op(type, [x], {"axis": _axis(c.dim, len(dims(x)))}) if dims(x) else x


@_row("topk", "input, k, dim=-1, largest=True, sorted=True",
      "`TopKV2 {dim, largest, sorted}`; of equal elements, the first ones", "`bool`")
def _topk(c):
    return _top(c, c.k, c.largest, c.sorted)


@_row("sort", "input, dim=-1, descending=False, stable=None",
      "`TopKV2 {dim, largest}` of all elements; it is stable", "`bool`")
def _sort(c):
    need(dims(c.input), "an input without dimensions")
    return _top(c, sizes(c.input)[c.dim], c.descending, True)


def _top(c, k, largest, is_sorted):
    need(dtype(c.input) is not torch.bool, "bool")
    need(dims(c.input), "an input without dimensions")
    attrs = {"sorted": bool(is_sorted), "dim": _axis(c.dim, len(dims(c.input))),
             "largest": bool(largest), "indices_dtype": 9}  # i64
    return c.builder.emit("TopKV2", [c.input, c.const(k, torch.int32)], c.result, attrs,
                          [".values", ".indices"])


# ---- Matrix products ----


def _see_through(value):
    """(operand, flag) for a matrix product: a transpose of the last two dimensions is its flag."""
    op = value.op
    if op is not None and op.type == "TransposeD":
        order = op.attrs["perm"]
        if order[:-2] == list(range(len(order) - 2)) and order[-2] > order[-1]:
            return op.operands[0], True
    return value, False


def _product(c, x1, x2, bias=None):
    """x1 * x2 + bias, with the leading dimensions of x1 as one where x2 has none."""
    need(is_floating(dtype(x1)), "integers")
    rows, (x2, flag2) = dims(x1)[:-1], _see_through(x2)
    flat = len(dims(x2)) == 2 and len(rows) > 1
    if flat:
        known = all(isinstance(row, int) for row in rows)
        x1, flag1 = c.reshape(x1, [math.prod(rows) if known else None, dims(x1)[-1]]), False
    else:
        x1, flag1 = _see_through(x1)
    shape = [dims(x1)[0], c.result.dims[-1]] if flat else c.result.dims
    same = dims(x1)[:-2] == dims(x2)[:-2]
    keys = ("transpose_x1", "transpose_x2") if same else ("adj_x1", "adj_x2")
    attrs = {key: True for key, flag in zip(keys, (flag1, flag2)) if flag}
    type = "MatMul" if same else "BatchMatMul"
    if not flat and bias is None:
        return c.op(type, [x1, x2], attrs)
    value = c.part(type, [x1, x2], x1, shape, attrs)
    if bias is not None and not flat:
        return c.op("Add", [value, bias])
    if bias is not None:
        value = c.part("Add", [value, bias], value, shape)
    return c.op("Reshape", [value])


@_row("mm bmm", "input, mat2", "`MatMul`; transposed operands are its flags", "integers")
def _mm(c):
    return _product(c, c.input, c.mat2)


@_row("matmul", "input, other",
      "`MatMul`, or `BatchMatMul` where leading dimensions are broadcast; an operand of one "
      "dimension gets a second one", "integers")
def _matmul(c):
    need(len(dims(c.input)) > 1 and len(dims(c.other)) > 1, "an operand of one dimension")
    return _product(c, c.input, c.other)


@_row("addmm baddbmm", "input, mat1, mat2, beta=1, alpha=1",
      "`MatMul` and `Add`, each with a `Mul` where `beta` or `alpha` is not 1", "integers")
def _addmm(c):
    return _product(c, c.mat1, c.mat2, c.input)


@_row("linear", "input, weight, bias=None",
      "`MatMul {transpose_x2}` and `Add`, with a `Reshape` around them for more dimensions",
      "integers")
def _linear(c):
    need(len(dims(c.input)) > 1 and len(dims(c.weight)) == 2, "an operand of one dimension")
    swapped = c.part("TransposeD", [c.weight], c.weight, dims(c.weight)[::-1], {"perm": [1, 0]})
    return _product(c, c.input, swapped, c.bias)


@_row("scaled_dot_product_attention",
      "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, "
      "enable_gqa=False",
      "`FusedInferAttentionScore` (only in an `ExportedProgram`)",
      "other types than f16 and bf16, other than four dimensions, `attn_mask`, `dropout_p`, "
      "`is_causal`")
def _attention(c):
    shape = dims(c.query)
    need(c.attn_mask is None and not c.is_causal and not c.dropout_p, "a mask or dropout")
    need(len(shape) == 4 and isinstance(shape[-1], int), "other than four dimensions")
    need(c.result.dtype in (torch.float16, torch.bfloat16), f"{c.result.dtype}")
    scale = 1 / math.sqrt(shape[-1]) if c.scale is None else float(c.scale)
    attrs = {"num_heads": shape[1], "num_key_value_heads": dims(c.key)[1], "scale": scale,
             "input_layout": "BNSD"}
    sums = c.builder.tensor(torch.float32, [*shape[:3], 1])
    return c.op("FusedInferAttentionScore", [c.query, [c.key], [c.value]], attrs, [(".lse", sums)])


# ---- Normalisation ----


@_row("softmax", "input, dim, dtype=None", "as `_softmax` (only in an `ExportedProgram`)")
@_row("_softmax", "input, dim, half_to_float",
      "`Softmax` along the last dimension, else `SoftmaxV2 {axes}`")
def _softmax(c):
    need(dims(c.input), "an input without dimensions")
    x, axis = c.cast(c.input, c.result.dtype), _axis(c.dim, len(dims(c.input)))
    return c.op("Softmax", [x]) if axis == len(dims(x)) - 1 else c.op("SoftmaxV2", [x],
                                                                      {"axes": [axis]})


@_row("log_softmax", "input, dim, dtype=None", "as `_log_softmax` (only in an `ExportedProgram`)")
@_row("_log_softmax", "input, dim, half_to_float", "`LogSoftmaxV2 {axes}`")
def _log_softmax(c):
    need(dims(c.input), "an input without dimensions")
    x = c.cast(c.input, c.result.dtype)
    return c.op("LogSoftmaxV2", [x], {"axes": [_axis(c.dim, len(dims(x)))]})


@_row("layer_norm", "input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True",
      "as `native_layer_norm` (only in an `ExportedProgram`)")
@_row("native_layer_norm", "input, normalized_shape, weight, bias, eps",
      "`LayerNorm {begin_norm_axis, begin_params_axis, epsilon}`; absent weights are 1, biases 0",
      "use of the mean or the deviation that it returns")
def _layer_norm(c):
    need(not (c.used(1) or c.used(2)), "its mean or deviation is used")
    y = c.result[0] if isinstance(c.result, list) else c.result
    shape = list(c.normalized_shape)
    begin = len(y.dims) - len(shape)
    gamma, beta = (c.const(default, y.dtype, shape) if value is None else value
                   for value, default in ((c.weight, 1), (c.bias, 0)))
    attrs = {"begin_norm_axis": begin, "begin_params_axis": begin, "epsilon": float(c.eps)}
    stats = c.builder.tensor(y.dtype, [*y.dims[:begin], *[1] * len(shape)])
    value = c.builder.emit("LayerNorm", [c.input, gamma, beta], [y, stats, stats], attrs,
                           ["", ".mean", ".variance"])[0]
    return [value, None, None] if isinstance(c.result, list) else value


@_row("npu_rms_norm", "input, gamma, epsilon=1e-06", "`RmsNorm {epsilon}`")
def _rms_norm(c):
    return c.builder.emit("RmsNorm", [c.input, c.gamma], c.result, {"epsilon": float(c.epsilon)},
                          ["", ".rstd"])


@_row("npu_quant_matmul", "x1, x2, scale, offset, pertoken_scale, bias, output_dtype",
      "`QuantBatchMatmulV3 {dtype}`", "`offset`; results other than f16 and bf16: the import ends")
def _quant_matmul(c):
    return c.op("QuantBatchMatmulV3", [c.x1, c.x2, c.scale, c.offset, c.bias, c.pertoken_scale],
                {"dtype": {torch.float16: 1, torch.bfloat16: 27}[c.output_dtype]})


@_row("npu_dequant_swiglu_quant", "x, weight_scale, activation_scale, activate_left",
      '`DequantSwigluQuant {activate_left, quant_mode = "dynamic"}`',
      "`bias`, `quant_scale`, `quant_offset`, `group_index`, `quant_mode` other than 1: the import "
      "ends")
def _dequant_swiglu_quant(c):
    rows = c.activation_scale and c.reshape(c.activation_scale, dims(c.x)[:-1])
    operands = [c.x, c.weight_scale, rows, None, None, None, None]
    return c.builder.emit("DequantSwigluQuant", operands, c.result,
                          {"activate_left": c.activate_left, "quant_mode": "dynamic"},
                          ["", ".scale"])


@_row("npu_wait_tensor", "input, dependency",
      "`Identity(input) ... after (dependency)`, also where its result is not used")
def _wait_tensor(c):
    after = c.dependency if c.dependency.op else None
    return c.builder.emit("Identity", [c.input], [c.input.tensor], after=after)[0]
