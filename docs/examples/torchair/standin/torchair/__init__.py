"""Stands in for TorchAir where there is no NPU: what a script compiles for its backend becomes a .skir
file, which `skirc run` runs.

The module of the script is traced by torch_skir.py, once for each combination of shapes. The files are
`MODULE_1.skir` and so on in the folder SKIR_FOLDER (the current one); SKIRC is the command (skirc)."""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import types

import torch
import torch_skir
from torchair import scope  # the marks are those of torch_skir

_folder = os.environ.get("SKIR_FOLDER", ".")
_skirc = os.environ.get("SKIRC", "skirc")
_gears = {}  # by the address of a tensor: its gears


class CompilerConfig:
    def __init__(self):
        self.debug = types.SimpleNamespace(graph_dump=types.SimpleNamespace(type=None, path="./"))
        self.inference_config = types.SimpleNamespace(dynamic_gears_merge_policy="zip")


class inference:
    @staticmethod
    def set_dim_gears(t, dim_gears):
        _gears[t.data_ptr()] = dim_gears


def get_npu_backend(*, compiler_config=None):
    return "npu"


# By the names that .skir has for data types: PyTorch's, and NumPy's, which lacks some.
_DTYPES = {"f16": (torch.float16, "<f2"), "f32": (torch.float32, "<f4"), "f64": (torch.float64, "<f8"),
           "bf16": (torch.bfloat16, None), "i8": (torch.int8, "|i1"), "i32": (torch.int32, "<i4"),
           "i64": (torch.int64, "<i8"), "u8": (torch.uint8, "|u1"), "bool": (torch.bool, "|b1")}
_FORMATS = dict(_DTYPES.values())


def _bytes(tensor):
    return bytes(tensor.contiguous().view(torch.uint8).flatten().tolist())


def _write_npy(path, tensor):
    header = (f"{{'descr': '{_FORMATS[tensor.dtype]}', 'fortran_order': False, "
              f"'shape': {tuple(tensor.shape)}, }}")
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                   + _bytes(tensor))


def _read_npy(path, type):
    dtype, dims = re.fullmatch(r"(\w+)\[(.*)\]", type).groups()
    with open(path, "rb") as file:
        data = file.read()
    data = bytearray(data[10 + struct.unpack("<H", data[8:10])[0]:])
    shape = [int(dim) for dim in dims.split(",") if dim]
    return torch.frombuffer(data, dtype=_DTYPES[dtype][0]).reshape(shape)


def _signature(path):
    """Of the graph in a file: names of its parameters, names and types of what it returns."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head, body = text.split("graph @", 1)[1].split("{\n", 1)
    params, types = head.split("->")
    returned = body.rsplit("\n  return ", 1)[1].split("\n")[0]
    return (re.findall(r"%([\w.]+):", params), re.findall(r"%([\w.]+)", returned),
            re.findall(r"\w+\[[^]]*\]", types))


class _Compiled:
    def __init__(self, model):
        self.model, self.files, self.gears = model, {}, None

    def __call__(self, *inputs):
        shapes = tuple(tuple(tensor.shape) for tensor in inputs)
        self._check_gears(inputs)
        if shapes not in self.files:
            self.files[shapes] = self._compile(inputs)
        return self._run(self.files[shapes], inputs)

    def _check_gears(self, inputs):
        """Those of the first call hold for all."""
        if self.gears is None:
            self.gears = [_gears.get(tensor.data_ptr(), {}) for tensor in inputs]
        for tensor, gears in zip(inputs, self.gears):
            for dim, sizes in gears.items():
                if tensor.shape[dim] not in sizes:
                    raise RuntimeError(f"dimension {dim} is {tensor.shape[dim]}, but its gears are "
                                       f"{list(sizes)}")

    def _compile(self, inputs):
        name = type(self.model).__name__.lower()
        path = os.path.join(_folder, f"{name}_{len(self.files) + 1}.skir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(torch_skir.to_skir(self.model, list(inputs), name=name, path=path))
        return path

    def _run(self, path, inputs):
        params, results, types = _signature(path)
        with tempfile.TemporaryDirectory() as scratch:
            arguments = []
            for param, tensor in zip(params, inputs):
                _write_npy(f"{scratch}/{param}.npy", tensor)
                arguments += ["-i", f"{param}={scratch}/{param}.npy"]
            for i, result in enumerate(results):
                arguments += ["-o", f"{result}={scratch}/result{i}.npy"]
            if not shutil.which(_skirc):
                sys.exit(f"no command '{_skirc}': add it to PATH, or set SKIRC to its path")
            subprocess.run([_skirc, "run", "--repeat=0", path, *arguments], check=True,
                           stdout=subprocess.DEVNULL)
            values = [_read_npy(f"{scratch}/result{i}.npy", type) for i, type in enumerate(types)]
        return values[0] if len(values) == 1 else tuple(values)


def _compile(model, *, backend=None, dynamic=None, fullgraph=False):
    return _Compiled(model)


torch.compile = _compile
torch.Tensor.npu = lambda self: self
torch.nn.Module.npu = lambda self: self
