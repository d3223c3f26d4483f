"""Random programs of one function of PyTorch each, in the forms that people write it, with their inputs."""

import sys
import zlib

import numpy as np
import torch
from judge_kernels.draws import Draw
from judge_kernels.numbers import INTS

TORCH = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "bool": torch.bool,
         "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8}
FLOAT = "f32 f32 f32 bf16 f64"  # torch 1.13 computes little in f16 without a GPU
NUMBER = FLOAT + " i32 i64"
ANY = NUMBER + " bool u8 i8 f16"


# ---- Programs ----


class Program(Draw):
    """A program of one function: the text of a module, and its inputs."""

    def __init__(self, name, seed):
        super().__init__([seed, zlib.crc32(name.encode())])
        self.label, self.ulps = f"{name} {seed}", ROWS[name][1]
        self.inputs, self.modules, self.buffers = [], [], []
        self.aten = self.chance(0.25)  # whether it is traced down to ATen in any case
        self.reference = None  # the body of another program, which says what must come out
        self.body = ROWS[name][0](self)
        self.text = self.text_of(self.body)

    def text_of(self, body):
        lines = body.split("; ") if "return " in body else ["return " + body]
        parameters = "".join(f", x{i}" for i in range(len(self.inputs)))
        return "\n".join([
            "class Program(torch.nn.Module):",
            "    def __init__(self):", "        super().__init__()",
            *(f"        self.m{i} = {each}" for i, each in enumerate(self.modules)),
            *(f"        self.register_buffer({name!r}, {value})" for name, value in self.buffers),
            f"    def forward(self{parameters}):", *("        " + line for line in lines)])

    def make(self, body=None):
        scope = {"torch": torch, "torch_skir": sys.modules.get("torch_skir")}
        exec(self.text_of(body or self.body), scope)
        return scope["Program"]()

    def size(self, empty=False):
        return int(self.random.choice([1, self.int(2, 5), self.int(2, 9), self.int(10, 40)], p=[0.15, 0.4, 0.35, 0.1]))

    def shape(self, low=0, high=4, elements=600, empty=False):
        return super().shape(low, high, elements, empty)

    def give(self, dtype, data):
        """One more input; its name."""
        if dtype == "bf16":
            tensor = torch.tensor(np.asarray(data, np.float32)).to(torch.bfloat16)
        else:
            tensor = torch.tensor(np.asarray(data)).to(TORCH[dtype])
        self.inputs.append(tensor)
        return f"x{len(self.inputs) - 1}"

    def x(self, dtype, shape, kind="plain"):
        """One more input with elements of a kind; its name."""
        return self.give(dtype, self.elements(dtype, shape, kind))

    def elements(self, dtype, shape, kind):
        if dtype == "bool":
            return self.random.random(shape) < 0.5
        if kind == "distinct":
            return self.random.permutation(int(np.prod(shape))).reshape(shape) - 3
        if dtype in INTS:
            low = {"positive": 1, "nonzero": 1, "count": 0}.get(kind, 0 if dtype[0] == "u" else -7)
            made = self.random.integers(low, 7, shape, endpoint=True)
            return np.where(self.random.random(shape) < 0.5, -made, made) if kind == "nonzero" and dtype != "u8" else made
        uniform = {"unit": (-0.99, 0.99), "positive": (0.1, 6), "above1": (1, 6), "narrow": (-2, 2)}
        if kind in uniform:
            return self.random.uniform(*uniform[kind], shape)
        if kind == "special":
            return self.random.choice([np.nan, np.inf, -np.inf, 0, 1.5, -2], shape)
        if kind == "powers":
            return self.random.choice([1, -1, 2, 0.5], shape)
        made = self.random.standard_normal(shape) * 3
        if kind == "plain":
            return made
        made = np.clip(np.rint(made), -8, 8)
        return np.where(made == 0, 3, made) if kind == "nonzero" else made  # else "whole"

    def dtype(self, choices):
        return self.pick(choices.split())

    def module(self, text):
        """One more submodule; its name."""
        self.modules.append(text)
        return f"self.m{len(self.modules) - 1}"

    def scalar(self):
        return repr(self.pick([2, -3, 0.5, 1.5, 4]))

    def keywords(self, **values):
        """Arguments by name, each of which may be left out if it is given with its default: (value, default)."""
        said = [f"{name}={value!r}" for name, (value, default) in values.items() if value != default or self.chance(0.3)]
        return "".join(", " + each for each in said)

    def dims(self, rank, low=1):
        """Dimensions as an argument: one, some, or none said."""
        if rank and self.chance(0.4):
            return repr(self.axis(rank))
        chosen = self.axes(rank, low)
        return repr(tuple(chosen) if self.chance() else chosen)


ROWS = {}


def row(*names, ulps=None):
    """The functions that a function draws programs of; `ulps` of f32 are how exact they are, if they are not."""
    def known(function):
        for name in names:
            ROWS[name] = (lambda d, name=name: function(d, name)), ulps
        return function
    return known


# ---- Element by element ----

FUNCTIONAL = "F."
UNARY = """
abs NUMBER plain | ceil FLOAT plain | floor FLOAT plain | trunc FLOAT plain | round FLOAT plain | frac FLOAT plain
neg NUMBER plain | sign NUMBER plain | sgn NUMBER plain | square NUMBER whole | positive NUMBER plain
isfinite FLOAT special | isinf FLOAT special | isnan FLOAT special | logical_not ANY plain | signbit NUMBER nonzero
bitwise_not INT plain | relu NUMBER plain | F.relu6 FLOAT plain | F.hardtanh FLOAT plain | zeros_like ANY plain
ones_like ANY plain | clone ANY plain | detach ANY plain | contiguous ANY plain
"""
NEAR_UNARY = """
acos FLOAT unit | acosh FLOAT above1 | asin FLOAT unit | asinh FLOAT plain | atan FLOAT plain | atanh FLOAT unit
cos FLOAT plain | cosh FLOAT narrow | erf FLOAT narrow | erfc FLOAT narrow | exp FLOAT narrow | exp2 FLOAT narrow
expm1 FLOAT narrow | lgamma FLOAT positive | log FLOAT positive | log10 FLOAT positive | log1p FLOAT unit
log2 FLOAT positive | reciprocal FLOAT positive | rsqrt FLOAT positive | sigmoid FLOAT plain | sin FLOAT plain
sinh FLOAT narrow | sqrt FLOAT positive | tan FLOAT unit | tanh FLOAT plain | digamma FLOAT positive
F.silu FLOAT plain | F.mish FLOAT plain | F.selu FLOAT plain | F.softsign FLOAT plain | F.hardswish FLOAT plain
F.hardsigmoid FLOAT plain | F.logsigmoid FLOAT plain | F.tanhshrink FLOAT plain | deg2rad FLOAT plain | rad2deg FLOAT plain
"""
CLASSES = {"relu": "ReLU", "relu6": "ReLU6", "silu": "SiLU", "mish": "Mish", "selu": "SELU", "softsign": "Softsign",
           "hardswish": "Hardswish", "hardsigmoid": "Hardsigmoid", "hardtanh": "Hardtanh", "sigmoid": "Sigmoid",
           "tanh": "Tanh", "logsigmoid": "LogSigmoid", "tanhshrink": "Tanhshrink"}
METHODS = {"clone", "detach", "contiguous"}
PLACELESS = METHODS | {"isfinite", "isinf", "isnan", "signbit", "positive", "zeros_like", "ones_like"}  # have no NAME_


def unary_rows(table, ulps):
    for cell in table.replace("\n", "|").split("|"):
        if not cell.strip():
            continue
        whole, dtypes, kind = cell.split()
        name = whole.replace(FUNCTIONAL, "")

        def program(d, name, dtypes=dtypes, kind=kind, functional=whole != name):
            x = d.x(d.dtype({"INT": "i32 i64 i8 bool"}.get(dtypes) or globals()[dtypes]), d.shape(), kind)
            forms = [] if name in METHODS else [f"{'torch.nn.functional' if functional else 'torch'}.{name}({x})"]
            if not functional and not name.endswith("_like"):
                forms.append(f"{x}.{name}()")
                if name not in PLACELESS:
                    forms.append(f"y = {x}.clone(); y.{name}_(); return y")
            if name in CLASSES and d.chance(0.4):
                return f"{d.module(f'torch.nn.{CLASSES[name]}()')}({x})"
            return d.pick(forms)

        row(name, ulps=ulps)(program)


unary_rows(UNARY, None)
unary_rows(NEAR_UNARY, 32)


@row("gelu", "elu", "celu", "leaky_relu", "softplus", "softshrink", "hardshrink", "threshold", ulps=32)
def activation(d, name):
    x = d.x(d.dtype(FLOAT), d.shape())
    module, keywords = {
        "gelu": ("GELU", {"approximate": (d.pick(["none", "tanh"]), "none")}),
        "elu": ("ELU", {"alpha": (d.pick([1.0, 0.3]), 1.0)}),
        "celu": ("CELU", {"alpha": (d.pick([1.0, 2.5]), 1.0)}),
        "leaky_relu": ("LeakyReLU", {"negative_slope": (d.pick([0.01, 0.2]), 0.01)}),
        "softplus": ("Softplus", {"beta": (d.pick([1, 2]), 1), "threshold": (d.pick([20, 3]), 20)}),
        "softshrink": ("Softshrink", {"lambd": (d.pick([0.5, 1.5]), 0.5)}),
        "hardshrink": ("Hardshrink", {"lambd": (d.pick([0.5, 1.5]), 0.5)}),
        "threshold": ("Threshold", {"threshold": (d.pick([0.5, -1.0]), None), "value": (d.pick([0.0, 7.0]), None)}),
    }[name]
    said = d.keywords(**keywords)
    if d.chance(0.4):
        return f"{d.module(f'torch.nn.{module}({said[2:]})')}({x})"
    return f"torch.nn.functional.{name}({x}{said})"


@row("prelu", ulps=4)
def prelu(d, _):
    t, shape = d.dtype("f32 f64"), d.shape(2)
    return f"torch.nn.functional.prelu({d.x(t, shape)}, {d.x(t, (d.pick([1, shape[1]]),))})"


BINARY = {  # operator, dtypes, elements of both; exactly unless in NEAR_BINARY
    "add": ("+", ANY, "plain plain"), "sub": ("-", NUMBER, "plain plain"), "mul": ("*", ANY, "whole whole"),
    "true_divide": ("/", NUMBER, "plain nonzero"), "floor_divide": ("//", NUMBER, "whole nonzero"),
    "remainder": ("%", NUMBER, "whole nonzero"), "fmod": ("", NUMBER, "whole nonzero"),
    "maximum": ("", NUMBER, "plain plain"), "minimum": ("", NUMBER, "plain plain"), "fmax": ("", NUMBER, "plain plain"),
    "fmin": ("", NUMBER, "plain plain"), "eq": ("==", ANY, "whole whole"), "ne": ("!=", ANY, "whole whole"),
    "lt": ("<", NUMBER, "whole whole"), "le": ("<=", NUMBER, "whole whole"), "gt": (">", NUMBER, "whole whole"),
    "ge": (">=", NUMBER, "whole whole"), "logical_and": ("", ANY, "whole whole"), "logical_or": ("", ANY, "whole whole"),
    "logical_xor": ("", ANY, "whole whole"), "bitwise_and": ("&", "i32 i64 bool", "plain plain"),
    "bitwise_or": ("|", "i32 i64 bool", "plain plain"), "bitwise_xor": ("^", "i32 i64 bool", "plain plain"),
    "bitwise_left_shift": ("<<", "i32 i64", "plain count"), "bitwise_right_shift": (">>", "i32 i64", "plain count"),
    "copysign": ("", FLOAT, "plain nonzero"),
}
NEAR_BINARY = {
    "pow": ("**", FLOAT, "positive narrow"), "atan2": ("", FLOAT, "plain plain"), "hypot": ("", FLOAT, "plain plain"),
    "logaddexp": ("", FLOAT, "plain plain"), "xlogy": ("", FLOAT, "plain positive"),
}
SCALARS = {"add", "sub", "mul", "true_divide", "floor_divide", "remainder", "fmod", "eq", "ne", "lt", "le", "gt", "ge", "pow"}


def binary(d, name):
    sign, dtypes, kinds = (BINARY.get(name) or NEAR_BINARY[name])
    first = d.dtype(dtypes)
    second = d.dtype(dtypes) if d.chance(0.2) else first
    if name in ("add", "mul", "eq", "ne") and "bool" in (first, second) and d.chance():
        first = second = "f32"
    shapes, kinds = d.parts(2)[0], kinds.split()
    x = d.x(first, shapes[0], kinds[0])
    if name in SCALARS and d.chance(0.35):
        y = d.scalar()
        if name == "pow":
            y = repr(d.pick([2, 3, 0.5, -1, -0.5]))
    else:
        y = d.x(second, shapes[1], kinds[1])
    forms = [f"torch.{name}({x}, {y})", f"{x}.{name}({y})"] + [f"{x} {sign} {y}"] * 2 * bool(sign)
    if name in ("sub", "add") and d.chance(0.3):
        alpha = d.pick([2, -1, 3])
        return d.pick([f"torch.{name}({x}, {y}, alpha={alpha})", f"{x}.{name}({y}, alpha={alpha})"])
    if sign and y[0] != "x" and name not in ("floor_divide", "remainder", "true_divide", "pow"):
        forms.append(f"{y} {sign} {x}")
    if first == second and shapes[0] == np.broadcast_shapes(*shapes) and "." not in y and name in SCALARS - {
            "true_divide", "eq", "ne", "lt", "le", "gt", "ge"}:
        forms.append(f"y = {x}.clone(); y.{name}_({y}); return y")
    return d.pick(forms)


row(*BINARY)(binary)
row(*NEAR_BINARY, ulps=64)(binary)


@row("div")
def div(d, _):
    t, shapes = d.dtype(NUMBER), d.parts(2)[0]
    x, y = d.x(t, shapes[0], "whole"), d.x(t, shapes[1], "nonzero")
    y = d.pick([y, d.scalar()])
    return f"torch.div({x}, {y}{d.keywords(rounding_mode=(d.pick([None, 'floor', 'trunc']), None))})"


@row("rsub", "addcmul", "addcdiv", "lerp", ulps=8)
def several(d, name):
    t, shapes = d.dtype("f32 f64"), d.parts(3)[0]
    x, y, z = (d.x(t, shape, kind) for shape, kind in zip(shapes, ("whole", "nonzero", "nonzero")))
    value = d.keywords(value=(d.pick([1, 2, -0.5]), 1))
    return {"rsub": f"torch.rsub({x}, {y}{d.keywords(alpha=(d.pick([1, 2]), 1))})", "lerp": f"torch.lerp({x}, {y}, {z})",
            "addcmul": f"torch.addcmul({x}, {y}, {z}{value})", "addcdiv": f"torch.addcdiv({x}, {y}, {z}{value})"}[name]


@row("clamp", "clamp_min", "clamp_max", "clip")
def clamp(d, name):
    x = d.x(d.dtype(FLOAT + " i64"), d.shape())
    low, high = d.pick([-1, -0.5, 0]), d.pick([0, 1, 2.5])
    if name in ("clamp_min", "clamp_max"):
        return f"{x}.{name}({low if name == 'clamp_min' else high})"
    sides = d.pick([f"{low}, {high}", f"min={low}", f"max={high}", f"min={low}, max={high}"])
    return d.pick([f"torch.{name}({x}, {sides})", f"{x}.{name}({sides})"])


@row("where", "masked_fill", "nan_to_num")
def chosen(d, name):
    t, shapes = d.dtype(FLOAT + " i64"), d.parts(3)[0]
    if name == "nan_to_num":
        x = d.x("f32", shapes[0], "special")
        return f"torch.nan_to_num({x}{d.keywords(nan=(d.pick([0.0, 2.0]), 0.0), posinf=(d.pick([None, 9.0]), None))})"
    if name == "masked_fill":
        x, mask = d.x(t, np.broadcast_shapes(*shapes[:2])), d.x("bool", shapes[1])
        return f"{x}.masked_fill({mask}, {d.pick(['0', '-3', '1e4' if t != 'i64' else '7'])})"
    mask, x = d.x("bool", shapes[0]), d.x(t, shapes[1])
    y = d.pick([d.x(t, shapes[2]), "2.0" if t == "f32" else d.x(t, shapes[2])])
    return d.pick([f"torch.where({mask}, {x}, {y})", f"torch.where({x} > 0, {x}, {x} * 2)"])


@row("to", "float", "double", "half", "bfloat16", "long", "int", "bool", "type_as")
def cast(d, name):
    target = d.dtype(ANY)
    source = d.dtype(ANY)
    x = d.x(source, d.shape(), "positive" if target == "u8" or name == "to" else "plain")
    if name == "type_as":
        return f"{x}.type_as({d.x(target, ())})"
    if name == "to":
        return d.pick([f"{x}.to({TORCH[target]})", f"{x}.to(dtype={TORCH[target]})", f"{x}.type({TORCH[target]})"])
    return f"{x}.{name}()"


# ---- Reductions ----


@row("sum", "prod", "amax", "amin", "all", "any", "argmax", "argmin", "max", "min", "count_nonzero")
def reduction(d, name):
    t = "bool" if name in ("all", "any") else d.dtype(NUMBER)
    kind = {"prod": "powers", "sum": "whole", "count_nonzero": "whole"}.get(name, "plain")
    shape = d.shape(0 if name in ("sum", "all") else 1, elements=200)
    if t == "bf16" and name not in ("amax", "amin", "max", "min") or name.startswith("arg") or name in ("max", "min"):
        t, kind = ("f32" if t == "bf16" else t), "distinct" if name in ("argmax", "argmin", "max", "min") else kind
    x = d.x(t, shape, kind)
    keep = d.keywords(keepdim=(d.chance(), False))
    if not shape or d.chance(0.25) and name not in ("amax", "amin"):
        return d.pick([f"torch.{name}({x})", f"{x}.{name}()"])
    dims = repr(d.axis(len(shape)))
    if name in ("sum", "amax", "amin", "count_nonzero"):
        dims = d.dims(len(shape))
        keep = "" if name == "count_nonzero" else keep
    if name == "sum" and d.chance(0.2):
        keep += f", dtype={TORCH[d.pick(['f32', 'f64', 'i64'])]}"
    if name in ("max", "min") and d.chance():
        return f"y = {x}.{name}({dims}{keep}); return y.values, y.indices"
    return d.pick([f"torch.{name}({x}, {dims}{keep})", f"{x}.{name}(dim={dims}{keep})"])


@row("mean", "std", "var", "norm", "logsumexp", "softmax", "log_softmax", "var_mean", ulps=64)
def near_reduction(d, name):
    t, shape = d.dtype("f32 f32 f64"), d.shape(1, elements=300)
    x, keep = d.x(t, shape), d.keywords(keepdim=(d.chance(), False))
    dims, axis = d.dims(len(shape)), d.axis(len(shape))
    if name in ("softmax", "log_softmax"):
        classes = {"softmax": "Softmax", "log_softmax": "LogSoftmax"}
        return d.pick([f"torch.{name}({x}, {axis})", f"torch.nn.functional.{name}({x}, dim={axis})", f"{x}.{name}({axis})",
                       f"{d.module(f'torch.nn.{classes[name]}(dim={axis})')}({x})"])
    if name == "norm":
        return d.pick([f"{x}.norm()", f"torch.norm({x}, dim={dims}{keep})", f"{x}.norm(2, {axis}{keep})",
                       f"{x}.norm(1, {axis}{keep})", f"torch.linalg.norm({x}, dim={axis}{keep})"])
    if name == "mean":
        return d.pick([f"{x}.mean()", f"torch.mean({x}, {dims}{keep})", f"{x}.mean(dim={dims}{keep})"])
    if name == "logsumexp":
        return f"torch.logsumexp({x}, {dims}{keep})"
    unbiased = d.keywords(unbiased=(d.chance() and shape[axis] > 1, True))
    return d.pick([f"torch.{name}({x}, {axis}{unbiased}{keep})"] + [f"{x}.{name}({axis}{unbiased}{keep})"] * (
        name != "var_mean"))


@row("cumsum", "cumprod", "topk", "sort", "argsort", "flip", "roll", "diff")
def along(d, name):
    t, shape = d.dtype("f32 f32 f64 i32 i64"), d.shape(1, elements=200)
    axis = d.axis(len(shape))
    if name == "cumprod":
        x = d.x("f32", tuple(min(n, 9) for n in shape), "powers")
    else:
        x = d.x(t, shape, "whole" if name == "cumsum" else "distinct")
    largest = d.keywords(largest=(d.chance(), True)) if name == "topk" else d.keywords(descending=(d.chance(), False))
    k = d.int(1, shape[axis])
    last = d.int(1, shape[-1])
    y = d.pick([f"torch.topk({x}, {k}, dim={axis}{largest})", f"{x}.topk({last}{largest})"])
    return {"cumsum": f"torch.cumsum({x}, {axis})", "cumprod": f"{x}.cumprod(dim={axis})",
            "topk": f"y = {y}; return y[0], y[1]", "sort": f"y, i = torch.sort({x}, dim={axis}{largest}); return y, i",
            "argsort": f"torch.argsort({x}, {axis}{largest})", "flip": f"torch.flip({x}, {d.axes(len(shape))})",
            "roll": f"torch.roll({x}, {d.int(-3, 3)}, {axis})", "diff": f"torch.diff({x}, dim={axis})"}[name]


# ---- Matrices ----


@row("matmul", "mm", "bmm", "mv", "dot", "vdot", "outer", "addmm", "baddbmm", "addbmm", "addmv", "linear", "einsum")
def matrices(d, name):
    t, (m, k, n, b) = d.dtype("f32 f32 f64"), [d.int(1, 9) for _ in range(4)]

    def x(*shape):
        return d.x(t, shape, "whole")

    def maybe_turned(*shape):
        return f"{x(*shape[:-2], shape[-1], shape[-2])}.transpose(-1, -2)" if d.chance(0.4) else x(*shape)
    if name == "matmul":
        batch = tuple(d.int(1, 3) for _ in range(d.int(0, 2)))
        lhs = d.pick([lambda: x(k), lambda: maybe_turned(m, k), lambda: maybe_turned(*batch, m, k)])()
        rhs = d.pick([lambda: x(k), lambda: maybe_turned(k, n), lambda: maybe_turned(*d.part(batch), k, n)])()
        return d.pick([f"torch.matmul({lhs}, {rhs})", f"{lhs} @ {rhs}", f"{lhs}.matmul({rhs})"])
    if name in ("addbmm", "addmv"):
        values = d.keywords(beta=(d.pick([1, 2]), 1), alpha=(d.pick([1, 3]), 1))
        bias = x(m) if name == "addmv" else x(m, n)
        return f"torch.{name}({bias}, " + (f"{x(m, k)}, {x(k)}" if name == "addmv" else f"{x(b, m, k)}, {x(b, k, n)}") + f"{values})"
    if name in ("addmm", "baddbmm"):
        lead = (b,) if name == "baddbmm" else ()
        values = d.keywords(beta=(d.pick([1, 2, 0.5]), 1), alpha=(d.pick([1, 3]), 1))
        bias = x(*(d.pick([(n,), (m, n), (1, n)]) if name == "addmm" else (b, m, n)))
        return f"torch.{name}({bias}, {maybe_turned(*lead, m, k)}, {maybe_turned(*lead, k, n)}{values})"
    if name == "linear":
        lead = tuple(d.int(1, 4) for _ in range(d.int(0, 3)))
        return f"torch.nn.functional.linear({x(*lead, k)}, {x(n, k)}{d.pick(['', ', ' + x(n)])})"
    if name == "einsum":
        text, shapes = d.pick([("ij,jk->ik", [(m, k), (k, n)]), ("bij,bjk->bik", [(b, m, k), (b, k, n)]),
                               ("bhqd,bhkd->bhqk", [(2, b, m, k), (2, b, n, k)]), ("i,j->ij", [(m,), (n,)]),
                               ("bi,bi->b", [(b, k), (b, k)]), ("ij->ji", [(m, n)]), ("ijk->ik", [(m, k, n)])])
        return f"torch.einsum({text!r}, {', '.join(x(*shape) for shape in shapes)})"
    shapes = {"mm": [(m, k), (k, n)], "bmm": [(b, m, k), (b, k, n)], "mv": [(m, k), (k,)], "dot": [(k,), (k,)], "vdot": [(k,), (k,)],
              "outer": [(m,), (n,)]}[name]
    operands = [maybe_turned(*shape) if name in ("mm", "bmm") else x(*shape) for shape in shapes]
    return d.pick([f"torch.{name}({', '.join(operands)})", f"{operands[0]}.{name}({operands[1]})"])


@row("Linear", "LayerNorm", "layer_norm", "BatchNorm", "GroupNorm", "InstanceNorm", "normalize", "Embedding", "Dropout",
     ulps=512)
def layers(d, name):
    shape = d.shape(2, elements=400)
    last = shape[d.int(0, len(shape) - 1):]
    if name == "Linear":
        return f"{d.module(f'torch.nn.Linear({shape[-1]}, {d.int(1, 9)}, bias={d.chance()})')}({d.x('f32', shape)})"
    if name == "LayerNorm":
        said = d.keywords(eps=(d.pick([1e-5, 1e-2]), 1e-5), elementwise_affine=(d.chance(0.8), True))
        return f"{d.module(f'torch.nn.LayerNorm({list(last)}{said})')}({d.x('f32', shape)})"
    if name == "layer_norm":
        weights = d.pick(["", f", {d.x('f32', last)}", f", {d.x('f32', last)}, {d.x('f32', last)}"])
        eps = d.keywords(eps=(d.pick([1e-5, 1e-3]), 1e-5))
        return f"torch.nn.functional.layer_norm({d.x('f32', shape)}, {list(last)}{weights}{eps})"
    if name in ("BatchNorm", "InstanceNorm"):
        rank = d.int(1, 2)
        shape = (d.int(1, 3), d.int(1, 6)) + tuple(d.int(2, 5) for _ in range(rank))
        said = d.keywords(eps=(d.pick([1e-5, 0.1]), 1e-5), affine=(d.chance(), name == "BatchNorm"))
        return f"{d.module(f'torch.nn.{name}{rank}d({shape[1]}{said})')}({d.x('f32', shape)})"
    if name == "GroupNorm":
        groups, each = d.int(1, 3), d.int(1, 4)
        shape = (d.int(1, 3), groups * each) + tuple(d.int(2, 5) for _ in range(d.int(1, 2)))
        return f"{d.module(f'torch.nn.GroupNorm({groups}, {groups * each})')}({d.x('f32', shape)})"
    if name == "normalize":
        said = d.keywords(p=(d.pick([2.0, 1.0]), 2.0), dim=(d.axis(len(shape)), 1))
        return f"torch.nn.functional.normalize({d.x('f32', shape)}{said})"
    if name == "Embedding":
        rows, places = d.int(1, 9), d.shape(0, 2, elements=30)
        x = d.give(d.pick(["i64", "i32"]), d.random.integers(0, rows, places))
        if d.chance():
            return f"torch.nn.functional.embedding({x}, {d.x('f32', (rows, shape[-1]))})"
        return f"{d.module(f'torch.nn.Embedding({rows}, {shape[-1]})')}({x})"
    return f"{d.module('torch.nn.Dropout(0.3)')}({d.x('f32', shape)})"


@row("buffer")
def buffer(d, _):
    """State that a program has, and writes: the first run is with what it begins with."""
    d.buffers.append(("n", d.pick(["torch.tensor([1.0, 2.0, 4.0])", "torch.zeros(3)", "torch.tensor(3.0)"])))
    d.x("f32", (d.int(1, 4), 3), "whole")
    return d.pick(["return x0 * (self.n * 2 + 1) - self.n.sum()", "self.n += 1; return x0 * self.n",
                   "self.n.mul_(2); return x0 + self.n, self.n + 1", "self.n = self.n + 1; return x0 * self.n",
                   "n = self.n; n += x0.sum(); return x0 * self.n", "self.n.copy_(x0.sum()); return self.n * 2",
                   "y = x0 + self.n; self.n.fill_(7); return y, self.n + 0"])
