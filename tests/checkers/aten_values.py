"""Functions of PyTorch: what torch_skir.py makes of a program computes what torch computes.

Small programs with random functions, forms (function, method, operator, module, in place), attributes, dtypes and shapes are
traced, run, and compared with torch. So are the programs of torch_models.py. A function may be refused with a reason.

    aten_values.py           some programs of each function
    aten_values.py --list    also every program that was refused, with the reason

SKIR_TEST_SEED (1) and SKIR_TEST_COUNT (programs of a function) choose other programs, ONLY="sum tile" functions and programs.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from checkers import imported
from checkers.imported import Ended, Outcome

imported.need(["numpy", "torch.fx"], "python3-torch")
import numpy as np
import torch
from checkers.aten_movement import DRAWN_AS, ROWS
from checkers.aten_programs import TORCH, Program
from checkers.torch_models import MODELS
from judge_kernels.numbers import CARRIERS, FLOATS, Answer, Tensor, quantum, to_bits

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(tap.SOURCE, "frontend", "python"))
import torch_skir

SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "3"))
ONLY = os.environ.get("ONLY", "").split()


class Traced:
    """A program and what it computes; the text that torch_skir makes of it, or how that ended."""

    def __init__(self, label, make, inputs, ulps, source="", aten=False, reference=None):
        self.label, self.inputs, self.ulps, self.source = label + " --aten" * aten, inputs, ulps, source
        torch.manual_seed(SEED)
        program = make()
        module = program if isinstance(program, torch.nn.Module) else torch.nn.Module()
        module.eval()
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.copy_(torch.randn_like(parameter) * parameter.shape[-1] ** -0.5)
            before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
            self.results = listed((reference or program)(*(tensor.clone() for tensor in inputs)))
            module.load_state_dict(before)
            self.inexact = [0] * len(self.results)
            if ulps and torch.bfloat16 in {tensor.dtype for tensor in inputs}:
                # Torch may round each step to bf16, and then is not exact itself.
                exact = listed(program(*(tensor.float() if tensor.dtype == torch.bfloat16 else tensor for tensor in inputs)))
                self.inexact = [(a.float() - b.float()).abs().numpy() for a, b in zip(self.results, exact)]
            module.load_state_dict(before)
        self.path = os.path.join(scratch.name, self.label.replace(" ", ".") + ".skir")
        self.ended = self.text = None
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.text = torch_skir.to_skir(program, [tensor.clone() for tensor in inputs], path=self.path,
                                               weights=self.path + ".bin", aten=aten)
            self.remarks = "; ".join(str(each.message) for each in caught)
            tap.write(self.path, self.text)
            if any(not torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items()):
                self.ended = Outcome("wrong", "the module has changed")
        except (AssertionError, AttributeError, IndexError, KeyError, TypeError, RecursionError) as error:
            self.ended = Outcome("wrong", f"torch_skir: {type(error).__name__}: {error}")
        except Exception as error:
            self.ended = Outcome("refused", f"torch_skir: {type(error).__name__}: {error}".splitlines()[0])


def listed(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


def carried(tensor):
    """A tensor's elements as judge_kernels has them."""
    name = {kind: name for name, kind in TORCH.items()}[tensor.dtype]
    tensor = tensor.detach()
    return Tensor(name, (tensor.float() if name in ("bf16", "f16") else tensor).numpy().astype(CARRIERS[name]))


def judge(traced):
    if traced.ended:
        return traced.ended
    files = []
    parameters, _ = imported.interface(traced.text, "main")
    if len(parameters) != len(traced.inputs):
        return Outcome("wrong", f"parameters {parameters}, expected {len(traced.inputs)}\n{traced.source}\n{traced.text}")
    for name, tensor in zip(parameters, traced.inputs):
        files.append((name, f"{traced.path}.{name}.npy"))
        np.save(files[-1][1], to_bits(carried(tensor)))
    try:
        paths = imported.run(traced.path, traced.text, "main", files, len(traced.results))
    except Ended as ended:
        if ended.outcome.verdict != "wrong" and traced.remarks:
            return Outcome("refused", f"{ended.outcome.text} ({traced.remarks})")
        raise
    for i, (tensor, path) in enumerate(zip(traced.results, paths)):
        wanted = carried(tensor)
        answer = Answer(wanted.dtype, wanted.data, signed=False)
        if traced.ulps and wanted.dtype in FLOATS:
            finite = np.where(np.isfinite(wanted.data), wanted.data, 0)
            largest = np.abs(finite).max(initial=0)
            error = quantum(wanted.dtype, finite) * (wanted.dtype != "f32") + traced.ulps * 1e-7 * np.clip(largest, 0.2, 1)
            answer = Answer(wanted.dtype, wanted.data, traced.ulps, error + np.nan_to_num(traced.inexact[i]))
        wrong = answer.difference(np.load(path))
        if wrong:
            return Outcome("wrong", f"in result {i}: {wrong}\n{traced.source}\n{traced.text}")
    return Outcome("equal")


def drawn(name, number):
    """A program that torch itself computes: not every dtype is implemented for every function."""
    for again in range(20):
        program = Program(name, SEED + number + 1000 * again)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return Traced(program.label, program.make, program.inputs, program.ulps, program.text,
                              program.aten, program.reference and program.make(program.reference))
        except RuntimeError as error:
            if "not implemented" not in str(error) and "not supported" not in str(error):
                refused_by_torch.append(f"{program.label}: {error}".splitlines()[0])
    raise AssertionError(f"torch computes no program of {name}")


scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
refused_by_torch = []
table = subprocess.run([sys.executable, torch_skir.__file__, "--translations"], capture_output=True, text=True).stdout
translated = [name for line in table.splitlines() if line.startswith("| `")
              for name in re.findall(r"`(\w+)(?:\([^`]*)?`", line.split("|")[1])]
missing = [name for name in translated if not {name, "aten." + name, DRAWN_AS.get(name)} & set(ROWS)]
tap.check("each row of the table has programs", translated and not missing, " ".join(missing))
names = [name for name in ROWS if not ONLY or name in ONLY]
programs = [(name, drawn(name, number)) for name in names for number in range(COUNT)]
models = [name for name in MODELS if not ONLY or name in ONLY]
for name in models:
    torch.manual_seed(SEED)
    make, inputs = MODELS[name]
    programs += [(name, Traced(name, make, inputs(), 512, aten=aten)) for aten in (False, True)]
found = collections.defaultdict(list)
for (name, traced), outcome in zip(programs, imported.outcomes(judge, [traced for _, traced in programs])):
    found[name].append((traced.label, outcome))
for name in [*names, *models]:
    # Models are equal; only those that are traced down to ATen may be refused.
    faults = [fault for label, outcome in found[name]
              for fault in imported.faults([(label, outcome)], refusals=label not in MODELS)]
    verdicts = [outcome.verdict for _, outcome in found[name]]
    tap.check(f"{name}: {imported.counted(verdicts)}", not faults, "\n".join(faults))
    if "--list" in sys.argv:
        for label, outcome in found[name]:
            if outcome.verdict == "refused":
                print(f"# {label}: {outcome.text or 'no reason'}")
if "--list" in sys.argv:
    print("\n".join("# torch refuses " + each for each in refused_by_torch))
print(f"# all: {imported.counted([outcome.verdict for each in found.values() for _, outcome in each])}")
tap.done()
