"""Examples of TorchAir's pages: a scope, streams with npu_wait_tensor, and set_dim_gears. Each gives the
same bits from its script, from dumps of it as TorchAir writes them, and by hand.

The scripts are docs/examples/torchair/*.py, for which torchair and torch_npu are stand-ins. Needs a
Python that has torch: SKIR_TORCH_PYTHON, this one, or that of the system. Without one all is skipped."""

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
        tap.skip("the examples of TorchAir's pages run", "no Python here has torch")
        tap.done()
    os.environ["SKIR_HAS_TORCH"] = "1"
    os.execv(found, [found, os.path.abspath(__file__)])

import importlib
import re
import struct
import tempfile

SOURCE = os.path.abspath(tap.SOURCE)
EXAMPLES = os.path.join(SOURCE, "docs", "examples", "torchair")
DUMPS = os.path.join(SOURCE, "tests", "import")
tap.SKIRC = os.path.abspath(tap.SKIRC)
sys.dont_write_bytecode = True
sys.path[:0] = [EXAMPLES, os.path.join(EXAMPLES, "standin"),
                os.path.join(SOURCE, "frontend", "python")]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
os.environ.update(SKIRC=tap.SKIRC, SKIR_FOLDER=scratch.name)
import torch
import torchair


def bits(tensor):
    return bytes(tensor.contiguous().view(torch.uint8).flatten().tolist())


def run_file(path, inputs, *options):
    """The bits of what a file's graph returns, by the names that it has."""
    text = tap.read(path).decode()
    params, results, _ = torchair._signature(path)
    arguments = []
    for param, tensor in zip(params, inputs):
        torchair._write_npy(param + ".npy", tensor)
        arguments += ["-i", f"{param}={param}.npy"]
    for i, result in enumerate(results):
        arguments += ["-o", f"{result}=result{i}.npy"]
    done = tap.skirc("run", "--repeat=0", *options, path, *arguments)
    if done.returncode:
        return f"{path}: {done.stderr}\n{text}"
    values = [tap.read(f"result{i}.npy") for i in range(len(results))]
    return [value[10 + struct.unpack("<H", value[8:10])[0]:] for value in values]


def imported(name, *options):
    """Files of what import makes of both dumps."""
    for form, suffix in (("torchair-txt", "txt"), ("torchair-pbtxt", "pbtxt")):
        path = f"{name}_{suffix}.skir"
        dump = os.path.join(DUMPS, form, f"seed_{name}.{suffix}")
        done = tap.skirc("import", "--format=" + form, *options, dump, "-o", path)
        tap.check(f"{name}.{suffix} is imported, without a word", done.returncode == 0
                  and not done.stderr, done.stderr)
        yield path


def events(path):
    """Which op waits for which op of another stream, by their types."""
    text = tap.skirc("opt", "--passes=insert-events", path).stdout
    ops = re.findall(r"(?:= |^ +)(\w+)\([^\n]*?(?: send \[([^\]]*)\])?(?: recv \[([^\]]*)\])?$",
                     text, re.M)
    senders = {event: type for type, sent, _ in ops for event in sent.split(", ") if event}
    return [(senders.get(event), type) for type, _, received in ops
            for event in received.split(", ") if event]


def same(name, inputs, wanted, paths, *options):
    for path in paths:
        got = run_file(path, inputs, *options)
        tap.check(f"{name}: {os.path.basename(path)} gives the bits of the script", got == wanted, got)


for name in "scope", "multi_stream":
    program = importlib.import_module(name)
    model, inputs = program.make()
    compiled = torch.compile(model.npu(), backend=torchair.get_npu_backend())
    wanted = [bits(tensor) for tensor in compiled(*inputs)]
    by_hand = os.path.join(EXAMPLES, name + ".skir")
    files = [*imported(name), by_hand]
    same(name, inputs, wanted, files)
    script, = compiled.files.values()
    orders = {path: events(path) for path in [script, *files]}
    tap.check(f"{name}: the same ops wait for the same ops",
              all(order == orders[by_hand] for order in orders.values()), orders)
    if name == "multi_stream":
        waits = [("Add", "MatMul"), ("MatMul", "Add"), ("Add", "MatMul")]
        tap.check(f"{name}: every npu_wait_tensor counts", orders[by_hand] == waits, orders)

# The gears of a script are those of its dump; each combination of shapes is a case.
program = importlib.import_module("gears")
model, inputs = program.make()
for tensor in inputs:
    torchair.inference.set_dim_gears(tensor, {0: [2, 4]})
compiled = torch.compile(model.npu(), backend=torchair.get_npu_backend(), dynamic=True)
files = [*imported("gears", "--input-shape=arg1_1:-1,2;arg2_1:-1,2", "--dynamic-dims=2,2;4,4"),
         os.path.join(EXAMPLES, "gears.skir")]
for rows in 2, 4:
    inputs = inputs if rows == 2 else program.make(rows)[1]
    same(f"gears, {rows} rows", inputs, [bits(compiled(*inputs))], files)
try:
    compiled(*program.make(3)[1])
    refused = False
except RuntimeError:
    refused = True
tap.check("gears: a shape that is none of them is refused by the script", refused)
for path in files:
    got = run_file(path, program.make(3)[1])
    tap.check(f"gears: and by {os.path.basename(path)}", isinstance(got, str)
              and "is 3 by" in got, got)


def run_script(name, **settings):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1",
                   "PYTHONPATH": os.pathsep.join(sys.path[:3]), **settings}
    return subprocess.run([sys.executable, os.path.join(EXAMPLES, name + ".py")],
                          capture_output=True, text=True, timeout=120, env=environment)


for name in "scope", "multi_stream", "gears":
    done = run_script(name)
    tap.check(f"{name}.py runs as a script", done.returncode == 0 and "tensor(" in done.stdout,
              done.stderr)
done = run_script("scope", SKIRC="absent")
tap.check("without the command it says what to do", done.returncode == 1 and done.stderr ==
          "no command 'absent': add it to PATH, or set SKIRC to its path\n", done.stderr)
tap.done()
