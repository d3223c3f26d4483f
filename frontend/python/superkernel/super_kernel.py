"""compile() of fusion requests, as GE calls it: it runs `skirc import` and `skirc compile`, and leaves
kernel_meta/NAME.o and kernel_meta/NAME.json.

Environment variables:
    SKIRC        the command; without it the one beside which this is installed, or that of PATH
    SKIR_DEVICE  what `skirc import --device` is given, such as aic=24,aiv=48,arch=c220; without it GE's
                 own package for compilers, asc_op_compile_base, says what the device is
"""

import json
import os
import re
import shutil
import subprocess
import tempfile

__all__ = ["compile"]


def _skirc():
    """The command, as a path."""
    # PREFIX/share/skir/python/superkernel/super_kernel.py
    beside = os.path.join(os.path.abspath(__file__), *[os.pardir] * 5, "bin", "skirc")
    for command in (os.environ.get("SKIRC"), os.path.normpath(beside), "skirc"):
        found = command and shutil.which(command)
        if found:
            return os.path.abspath(found)
    raise RuntimeError("there is no skirc: set SKIRC to its path")


def _device():
    """What --device is given, and the name of the chip, where that is known by its name."""
    if os.environ.get("SKIR_DEVICE"):
        return os.environ["SKIR_DEVICE"], None
    try:
        from asc_op_compile_base.common.platform.platform_info import get_soc_spec
    except ImportError as error:
        raise RuntimeError("which device it is for is not known: set SKIR_DEVICE, for example to "
                           "aic=24,aiv=48,arch=c220") from error
    return (f"aic={get_soc_spec('ai_core_cnt')},aiv={get_soc_spec('vector_core_cnt')}",
            get_soc_spec("SHORT_SOC_VERSION"))


def _kernel_meta():
    """The folder where GE looks for kernels."""
    parent = "."
    try:
        from asc_op_compile_base.common.buildcfg import get_current_build_config
        parent = get_current_build_config("kernel_meta_parent_dir")
    except ImportError:
        pass
    folder = os.path.join(os.path.abspath(parent), "kernel_meta")
    os.makedirs(folder, exist_ok=True)
    return folder


def _run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"skirc {words[1]} ended with status {done.returncode}:\n{done.stderr}")
    return done.stderr


def _request(kernel_infos):
    """The request as skirc reads it: its paths are relative to this process's folder."""
    request = json.loads(kernel_infos) if isinstance(kernel_infos, (str, bytes)) else dict(kernel_infos)
    if not request.get("op_list"):
        raise ValueError("a fusion request needs an op_list")
    request["op_list"] = [{key: os.path.abspath(value) if key in ("bin_path", "json_path") else value
                           for key, value in op.items()} for op in request["op_list"]]
    return request


def _import(request, name, folder):
    """The module of a request, as a file."""
    device, chip = _device()
    path, module = os.path.join(folder, "request.json"), os.path.join(folder, name + ".skir")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(request, file)
    _run(_skirc(), "import", "--format=kernel-info", "--device=" + device, "--name=" + name, path, "-o",
         module)
    if chip:
        with open(module, encoding="utf-8") as file:
            text = file.read()
        with open(module, "w", encoding="utf-8") as file:
            file.write(re.sub(r'^target "[^"]*"', f"target {json.dumps(chip)}", text, count=1, flags=re.M))
    return module


def compile(kernel_infos, called_kernel_name="ascendc_super_kernel_plus", compile_infos=""):
    """Makes kernel_meta/NAME.o and kernel_meta/NAME.json of a fusion request (a dict or its JSON text),
    and raises an error, with what skirc says, where it cannot. `compile_infos` is GE's impl_mode, which
    has no meaning for super kernels."""
    del compile_infos
    request, name = _request(kernel_infos), called_kernel_name
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"'{name}' is no name of a kernel")
    meta = _kernel_meta()
    # An object that is there may be another request's.
    for suffix in (".o", ".json"):
        if os.path.exists(os.path.join(meta, name + suffix)):
            os.remove(os.path.join(meta, name + suffix))
    with tempfile.TemporaryDirectory(prefix=name + ".", dir=meta) as folder:
        module = _import(request, name, folder)
        output = os.path.join(folder, name + ".o")
        said = _run(_skirc(), "compile", module, "--target=ascend", "-o", output)
        if not os.path.exists(output):  # without a toolkit that is a warning
            raise RuntimeError(said)
        for suffix in (".json", ".o"):
            os.replace(os.path.join(folder, name + suffix), os.path.join(meta, name + suffix))
