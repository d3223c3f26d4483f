"""Modules of many ops, run by skirc; and what of them is not as it must be."""

import functools
import os
import re
import tempfile

import numpy as np
import tap

from . import attention, elementwise, matrix, movement, normalisation, quantisation, reduction
from .numbers import from_bits, to_bits, type_text


class Module:
    """The text of a graph of some ops, each on a line, and the files of its values."""

    def __init__(self, ops, draw, folder):
        self.folder, self.draw = folder, draw
        self.parameters, self.constants, self.options, self.results = [], [], [], []
        self.lines = {op: self.line(op, i) for i, op in enumerate(ops)}
        self.text = self.put_together(ops)

    def line(self, op, number):
        """The text of an op, behind which its operands are known."""
        self.tensors = []
        given = self.labelled(op)
        operands = [self.operand(operand, number) for operand in given]
        attrs = dict(op.attrs)
        if op.memory is not None and not op.implied:
            place = place_of(op.operands[op.memory], given)
            attrs.update(inplace=[place], alias=[place])
        text = f"{op.type}({', '.join(operands)}){in_braces(attrs)}"
        if op.nameless:
            self.want(op, [self.tensors[op.memory]])
            return text
        names = [f"r{number}_{i}" for i in range(len(op.answers))]
        self.want(op, names)
        types = ", ".join(type_text(answer.dtype, answer.shape) for answer in op.answers)
        left = ", ".join("%" + name for name in names)
        return f"{left} = {text} : {f'({types})' if len(names) > 1 else types}"

    def want(self, op, names):
        """Has values written that are the results of an op."""
        for name in names:
            self.options += ["-o", f"{name}={os.path.join(self.folder, name)}.npy"]
        self.results.append((op, names))

    def labelled(self, op):
        """The operands, the last of them maybe by their names in any order, without absent ones."""
        operands, names = op.operands, operand_names(op.type)
        if op.nameless or self.draw.chance(0.7):
            return operands
        first = self.draw.int(0, len(operands))
        named = [each if isinstance(each, tuple) else (name, each)
                 for name, each in list(zip(names, operands))[first:]]
        named = [(name, each) for name, each in named if each is not None]
        return operands[:first] + [named[i] for i in self.draw.random.permutation(len(named))]

    def operand(self, operand, number):
        if operand is None:
            return "none"
        if isinstance(operand, tuple):
            return f"{operand[0]} = {self.operand(operand[1], number)}"
        if isinstance(operand, list):
            return "[" + ", ".join(self.operand(each, number) for each in operand) + "]"
        return "%" + self.value(operand, number)

    def value(self, tensor, number):
        name = f"x{number}_{len(self.tensors)}"
        self.tensors.append(name)
        if tensor.constant and tensor.data.size <= 64 and tensor.data.size:
            data = tensor.data.ravel().tolist()
            self.constants.append(f"%{name} = Const() {{value = {spelled(data)}}} : "
                                  f"{tensor.type_text()}")
            return name
        path = os.path.join(self.folder, name + ".npy")
        np.save(path, to_bits(tensor))
        self.options += ["-i", f"{name}={path}"]
        self.parameters.append(f"%{name}: {tensor.type_text()}")
        return name

    def put_together(self, ops):
        """All ops, each in one of two scopes or in none, on a device of some size."""
        places = {op: self.draw.int(0, 2) for op in ops}
        cores = self.draw.pick([1, 3, 24])
        text = [f'skir 1\ntarget "judged" {{aic = {cores}, aiv = {2 * cores}}}',
                f"graph @g({', '.join(self.parameters)}) -> () {{", *self.constants]
        for place, opening in enumerate(("scope none", "scope @s", "scope @t")):
            text += [opening + " {", *(self.lines[op] for op in ops if places[op] == place), "}"]
        return "\n".join(text + ["}", ""])

    def op_of(self, line):
        """The op that stands on a line, or nothing."""
        text = self.text.splitlines()[line - 1]
        return next((op for op, own in self.lines.items() if own == text), None)

    def found(self, name, dtype):
        return from_bits(dtype, np.load(os.path.join(self.folder, name + ".npy")))


@functools.lru_cache(None)
def operand_names(op_type):
    """The names that an op type's operands have."""
    text = tap.skirc("opt", f"--op-type={op_type}").stdout
    operands = text.split("  results ")[0].split("  operands ")[-1]
    return re.findall(r"^ *(\w+)[?*]*:", operands, re.M)


def in_braces(attrs):
    pairs = [f"{key} = {spelled(data)}" for key, data in attrs.items()]
    return " {" + ", ".join(pairs) + "}" if pairs else ""


def place_of(tensor, operands):
    """How an attribute calls an operand: by its number, or its label."""
    for i, operand in enumerate(operands):
        if operand is tensor:
            return i
        if isinstance(operand, tuple) and operand[1] is tensor:
            return Word(operand[0])


class Word(str):
    """A text that is written without quotes."""


def spelled(data):
    if isinstance(data, Word):
        return str(data)
    if isinstance(data, bool):
        return str(data).lower()
    if isinstance(data, str):
        return f'"{data}"'
    if isinstance(data, (list, tuple)):
        return "[" + ", ".join(map(spelled, data)) + "]"
    return repr(data)


def judged(ops, draw, guarded, folder):
    """Pairs of an op and what is wrong with it, or nothing. Those that skirc refuses go first, and
    none stands for a module that cannot be run."""
    left = list(ops)
    while left:
        with tempfile.TemporaryDirectory(dir=folder) as inner:
            module = Module(left, draw, inner)
            path = os.path.join(inner, "judged.skir")
            with open(path, "w") as file:
                file.write(module.text)
            ran = tap.skirc("run", "--repeat=0", "--max-errors=0", *module.options,
                            *([] if guarded else ["--trust-kernels"]), path, timeout=280)
            if ran.returncode == 0:
                for op, names in module.results:
                    yield op, differences(op, names, module)
                return
            refused = refusals(module, ran.stderr)
            if not refused:
                yield None, f"status {ran.returncode}: {ran.stderr}\n{module.text}"
                return
        for op, text in refused.items():
            yield op, "" if op.unfit and "[operand-value]" in text else text
        left = [op for op in left if op not in refused]


def refusals(module, errors):
    """What errors say, by the op that they are about."""
    found = {}
    for line, message in re.findall(r"judged\.skir:(\d+):.*?\b(error: .*)$", errors, re.M):
        op = module.op_of(int(line))
        if op:
            found[op] = f"{message}\n{module.lines[op]}"
    return found


def differences(op, names, module):
    """A text about the results that are wrong."""
    texts = []
    for i, (name, answer) in enumerate(zip(names, op.answers)):
        found = module.found(name, answer.dtype)
        wrong = np.atleast_1d(answer.wrong(found))
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0]) if answer.shape else ()
            texts.append(f"result {i} {list(map(int, at))} is {found[at]!r}, expected "
                         f"{answer.values[at]!r}; {wrong.sum()} of {wrong.size} wrong"
                         + operands_at(op, answer, at))
    return "\n".join(texts + [module.lines[op]]) if texts else ""


def operands_at(op, answer, at):
    """The elements of operands that are broadcast to the result, as far as there are any."""
    texts = []
    for operand in op.operands:
        data = getattr(operand, "data", None)
        try:
            texts.append(repr(np.broadcast_to(data, answer.shape)[at]) if data is not None else "-")
        except ValueError:
            pass
    return f" of ({', '.join(texts)})"
