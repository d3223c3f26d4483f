"""skirc export, import, export: what a module says is the same behind it, in every format that both
reads and writes, of all examples and golden files and of random modules.

SKIR_TEST_COUNT says how many random ones, SKIR_TEST_SEED which are the first, by default the same
each time; 0: any.
"""

import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")

COUNT = int(os.environ.get("SKIR_TEST_COUNT", "60"))
SEED = int(os.environ.get("SKIR_TEST_SEED", "1")) or random.randrange(1, 10 ** 9)
FORMATS = ["ge-txt", "torchair-pbtxt", "onnx-txt"]


def skirc(*arguments, stdin=b""):
    return subprocess.run([tap.SKIRC, *arguments], input=stdin, capture_output=True, timeout=60)


# ---- What a module says ----

def unordered(value):
    """Attributes have no order; those of lists do."""
    if isinstance(value, dict):
        return {key: unordered(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [unordered(element) for element in value]
    return value


def chain(graph, index):
    """The blocks around an op, the innermost first, each with the ops that it has."""
    found = []
    while index is not None:
        block = graph["blocks"][index]
        found.append({key: unordered(block[key]) for key in block if key != "parent"})
        index = block["parent"]
    return found


def value(graph, index):
    return None if index is None else graph["values"][index]["name"]


def values(graph, indices):
    return [value(graph, index) for index in indices]


def operands(graph, op):
    forms = op.get("forms") or [{"label": None, "value": index} for index in op["operands"]]
    return [(form["label"], values(graph, form["list"]) if "list" in form
             else value(graph, form["value"])) for form in forms]


def op_says(graph, op):
    return {
        "type": op["type"],
        "operands": operands(graph, op),
        "results": [(value(graph, i), graph["values"][i]["type"]) for i in op["results"]],
        "attrs": unordered(op["attrs"]),
        "kernel": op["kernel"],
        "blocks": chain(graph, op["block"]),
        "after": [value(graph, i) for i in op["after"] if i >= len(graph["params"])],
        "send": op["send"],
        "recv": op["recv"],
    }


def graph_says(graph):
    return {
        "params": [(graph["values"][param["value"]]["name"],
                    graph["values"][param["value"]]["type"], unordered(param["attrs"]))
                   for param in graph["params"]],
        "ops": [op_says(graph, op) for op in graph["ops"]],
        "returns": values(graph, graph["returns"]),
        "results": graph["results"],
        "dims": graph["dims"],
        "gears": graph["gears"],
        "attrs": unordered(graph["attrs"]),
    }


def says(text):
    """All that a module says, but for the order of its elements, of attributes, and empty blocks."""
    done = skirc("export", "--format=json", "-", stdin=text)
    if done.returncode:
        raise ValueError("json: " + done.stderr.decode("utf-8", "replace"))
    module = json.loads(done.stdout)
    return {
        "graphs": {graph["name"]: graph_says(graph) for graph in module["graphs"]},
        "kernels": {kernel["name"]: unordered(kernel) for kernel in module["kernels"]},
        "entries": {entry["name"]: unordered(entry) for entry in module["entries"]},
        "target": unordered(module["target"]),
    }


def difference(a, b, path=""):
    """Where two of them differ first."""
    if a == b:
        return None
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return next(found for key in a if (found := difference(a[key], b[key], f"{path}/{key}")))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        return next(found for i in range(len(a)) if (found := difference(a[i], b[i], f"{path}/{i}")))
    return f"{path}: {a!r} became {b!r}"


def may_differ(text):
    """Whether the order of graphs is another, or blocks are lost."""
    module = json.loads(skirc("export", "--format=json", "-", stdin=text).stdout)
    blocks = [block for graph in module["graphs"] for block in graph["blocks"]]
    return len(module["graphs"]) > 1 or any(block["count"] == 0 for block in blocks)


REFUSED = re.compile(rb"\[not-exported\]")


def failure(format, text, folder):
    """What is wrong with a way there and back; None where the format cannot have the module."""
    def run(*arguments, stdin=b""):
        return subprocess.run([tap.SKIRC, *arguments], input=stdin, capture_output=True,
                              timeout=60, cwd=folder)

    there = run("export", "--format=" + format, "-", stdin=text)
    if there.returncode:
        return None if REFUSED.search(there.stderr) else "export: " + there.stderr.decode()
    back = run("import", "--keep-attrs=all", "-", stdin=there.stdout)
    if back.returncode:
        return "import: " + back.stderr.decode("utf-8", "replace")
    told = run("import", "--counts", "--format=" + format, "--keep-attrs=all", "-",
               stdin=there.stdout)
    if told.returncode or json.loads(told.stdout)["dropped"]:
        return "lost: " + told.stdout.decode("utf-8", "replace")
    again = run("export", "--format=" + format, "-", stdin=back.stdout)
    if again.returncode:
        return "second export: " + again.stderr.decode("utf-8", "replace")
    if again.stdout != there.stdout and not may_differ(text):
        return "the second export differs from the first"
    return difference(says(text), says(back.stdout))


# ---- Random modules ----

class Maker:
    DTYPES = ("f32 f16 bf16 f64 i8 i32 i64 u8 u64 bool hif8 f8e5m2 i4 u1 c64 string resource "
              "f4e2m1").split()
    FORMATS = "NCHW NHWC FRACTAL_NZ NC1HWC0 NCL".split()
    KINDS = "int float bool string type list".split()

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0
        self.events = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, part):
        return self.random.random() < part

    def name(self):
        self.names += 1
        plain = f"{self.pick('x', 'y', 'add_', 'n.')}{self.names}"
        if self.chance(0.1):
            return f'"{plain}{self.pick("/é", " b", ":1", "^", "", chr(92) + "x01", "&<")}"'
        return plain if self.chance(0.95) else f'"^{plain}"'

    def dim(self):
        return self.pick("1", "2", "8", "0", "4096", "?", *self.dims, *self.sums)

    def type(self):
        dtype = "?" if self.chance(0.08) else self.random.choice(self.DTYPES)
        if self.chance(0.08):
            return dtype + "[..]"
        dims = ", ".join(self.dim() for _ in range(self.random.randrange(4)))
        text = f"{dtype}[{dims}]"
        return text + ":" + self.random.choice(self.FORMATS) if self.chance(0.2) else text

    def string(self):
        return self.pick('"a"', '""', '"two words"', r'"\"q\" \\ \n\x00\x7f"', '"é"', "\"it's\"",
                         '"a:b=c"', '"NaN"')

    def data(self, depth=0):
        kind = self.random.randrange(14 if depth < 2 else 8)
        if kind == 0:
            return str(self.pick(0, 1, -1, 7, 2 ** 63 - 1, -2 ** 63))
        if kind == 1:
            return self.pick("0.5", "1e-05", "inf", "-inf", "nan", "-0.0", "3.0", "1e+300")
        if kind in (2, 3):
            return self.string()
        if kind == 4:
            return self.pick("true", "false")
        if kind == 5:
            return self.pick("word", "none", "f32", "value", "call")
        if kind == 6:
            return self.type()
        if kind == 7:
            return "[]" + (":" + self.random.choice(self.KINDS) if self.chance(0.8) else "")
        if kind == 8:
            return "{" + ", ".join(f"k{i} = {self.data(depth + 1)}"
                                   for i in range(self.random.randrange(1, 3))) + "}"
        if kind == 9:
            return "[" + ", ".join(self.data(depth + 1)
                                   for _ in range(self.random.randrange(1, 4))) + "]"
        elements = {10: ["1", "-2"], 11: ["0.5", "inf"], 12: ['"a"', '"b"'],
                    13: ["[1, 2]", "[3]"]}[kind]
        return "[" + ", ".join(self.random.choice(elements)
                               for _ in range(self.random.randrange(1, 4))) + "]"

    def attrs(self, part, more=()):
        keys = self.random.sample(["_a", "_b c", "_é", "_super_kernel_scope", "_index", "_name",
                                   "_skir", "_user_stream_priority", "_input_name_key"],
                                  self.random.randrange(1, 4)) if self.chance(part) else []
        texts = list(more) + [f'"{key}" = {self.data()}' for key in keys]
        return " {" + ", ".join(texts) + "}" if texts else ""

    def operands(self, known):
        if self.chance(0.7):
            return ", ".join(self.random.choice(known)
                             for _ in range(self.random.randrange(3)))
        forms = []
        for _ in range(self.random.randrange(1, 4)):
            forms.append(self.pick("none", self.random.choice(known),
                                   "[" + ", ".join(self.random.sample(known, min(2, len(known))))
                                   + "]", "[]"))
        at = self.random.randrange(len(forms) + 1) if self.chance(0.4) else len(forms)
        return ", ".join(form if i < at else f"l{i} = {form}" for i, form in enumerate(forms))

    def op(self, known, waited, streams, kernels):
        results = [f"%{self.name()}" for _ in range(self.pick(0, 1, 1, 1, 2, 3))]
        types = [self.type() for _ in results]
        tokens = []
        if self.chance(0.15):
            tokens = [f"%{self.name()}"]
            types.append("token")
        label = streams[-1] if streams else "0"
        kind = self.pick("Foo", "Bar_2", "_Odd", '"small op"', '"dom::Op"', "Data", "NetOutput")
        text = ", ".join(results + tokens) + (" = " if results + tokens else "")
        text += f"{kind}({self.operands(known)})" + self.attrs(0.4)
        if types:
            text += " : (" + ", ".join(types) + ")"
        if kernels and self.chance(0.0):
            text += " via " + self.random.choice(kernels)
        if waited and self.chance(0.3):
            text += " after (" + ", ".join(self.random.sample(waited, min(2, len(waited)))) + ")"
        clauses = ""
        if self.pending and self.pending[0][1] != label and self.chance(0.7):
            event, _ = self.pending.pop(0)
            clauses = f" recv [{event}]"
        if kind not in ("Data", "NetOutput") and self.chance(0.2):
            self.events += 1
            event = self.pick(f"e{self.events}", str(self.events))
            self.pending.append((event, label))
            text += f" send [{event}]"
        known += results
        waited += results + tokens
        return text + clauses

    def block(self, lines, known, waited, scopes, streams, depth, indent):
        kind = self.pick("scope", "scope", "none", "stream", "stream", "superkernel")
        if "k" in scopes and kind != "stream":
            kind = "stream"
        if scopes and kind == "superkernel":
            kind = "stream"
        inner_scopes, inner_streams = scopes, streams
        if kind == "scope":
            name = self.pick("s", "t", "None")
            told = ['options = "stream-fusion=1"'] if name == "s" and self.chance(0.7) else []
            head, inner_scopes = f"scope @{name}" + self.attrs(0.1, told), scopes + ["s"]
        elif kind == "none":
            head, inner_scopes = "scope none" + self.attrs(0.1), scopes + ["s"]
        elif kind == "stream":
            label = self.pick("1", "2", "0", "main one")
            told = ["priority = 3"] if label == "2" and self.chance(0.7) else []
            told += ['queue = "high"'] if label == "1" and self.chance(0.2) else []
            head, inner_streams = f'stream "{label}"' + self.attrs(0.1, told), streams + [label]
        else:
            self.names += 1
            told = self.random.sample(["scope = @s", 'options = "stream-fusion=1"', "entry = @e"], 2)
            told = [each for each in told if not each.startswith("entry")]
            head = f"superkernel @k{self.names}" + self.attrs(0.1, told)
            inner_scopes = scopes + ["k"]
        lines.append(indent + head + " {")
        self.body(lines, known, waited, inner_scopes, inner_streams, depth + 1)
        lines.append(indent + "}")

    def body(self, lines, known, waited, scopes, streams, depth):
        indent = "  " * (depth + 1)
        for _ in range(self.random.randrange(1, 5)):
            if depth < 3 and self.chance(0.4):
                self.block(lines, known, waited, scopes, streams, depth, indent)
            else:
                lines.append(indent + self.op(known, waited, streams, []))

    def constants(self, lines, known):
        for _ in range(self.random.randrange(3)):
            name = "%" + self.name()
            type, said = self.pick(("f16[2]", "[0.1, 2]"), ("i32[4]", "7"), ("f32[]", "0.5"),
                                   ("bool[2]", "[true, 0]"), ("i64[1]", "[-1]"),
                                   ("f32[3, 2]", '{file = "w.bin", offset = 8, bytes = 24}'),
                                   ("u8[70]", "1"), ("c64[2]", '{file = "c.bin"}'),
                                   ("f32[2]:NCL", "[1, 1]"))
            lines.append(f"  {name} = {self.pick('Const', 'Constant', 'Variable')}() "
                         f"{{value = {said}}} : {type}")
            known.append(name)

    def graph(self, name, called):
        self.dims, self.sums, self.pending = [], [], []
        head = ""
        if self.chance(0.3):
            self.dims, self.sums = ["b", "s"], ["2*b + 1", "b*s"]
            head = " dims (b, s)" if self.chance(0.5) else \
                " gears " + self.pick("zip", "product") + " (b = [2, 4], s = [3, 5])"
        params = [("%" + self.name(), self.type()) for _ in range(self.random.randrange(1, 4))]
        known = [param for param, _ in params]
        waited, lines = list(known), []
        self.constants(lines, known)
        self.body(lines, known, waited, [], [], 0)
        for callee, takes, gives in called:
            results = ["%" + self.name() for _ in gives]
            if not takes or self.dims:
                continue
            lines.append(f"  {', '.join(results)}{' = ' if results else ''}PartitionedCall("
                         f"{', '.join(params[0][0] for _ in takes)}) {{f = @{callee}}}"
                         + (f" : ({', '.join('?[..]' for _ in gives)})" if gives else ""))
        shown = ", ".join(f"{param}: {type}" + self.attrs(0.2, ["static"] if self.chance(0.1) else [])
                          for param, type in params)
        returned = self.random.sample(known, self.random.randrange(min(3, len(known))) + 0)
        results = ", ".join("?[..]" for _ in returned)
        text = f"graph @{name}({shown}){self.attrs(0.3)}{head} -> ({results}) {{\n"
        text += "\n".join(lines) + "\n"
        text += f"  return {', '.join(returned)}\n" if returned else ""
        return text + "}\n", (name, params, returned)

    def module(self):
        graphs, called = [], []
        text = "skir 1\n"
        if self.chance(0.3):
            text += 'target "t" {aic = 8, aiv = 16}\n'
        if self.chance(0.3):
            text += 'kernel @k : aiv_only {block = 4, params = [x, y], _why = "a\\"b"}\n'
        for i in range(self.pick(1, 1, 2)):
            made, signature = self.graph(f"g{i}" if self.chance(0.8) else f'"g {i}"', [])
            graphs.append(made)
        return text + "\n".join(graphs)


def correct(text):
    return skirc("check", "-", stdin=text).returncode == 0


def random_modules():
    """Seeds and texts of correct random modules."""
    seed, made, tried = SEED, 0, 0
    while made < COUNT and tried < 20 * COUNT:
        text = Maker(seed).module().encode()
        tried += 1
        if correct(text):
            made += 1
            yield seed, text
        seed += 1


def check_random(format):
    failures, written, total = [], 0, 0
    for seed, text in random_modules():
        total += 1
        found = failure(format, text, scratch.name)
        written += found is None
        if found:
            failures.append(f"SKIR_TEST_SEED={seed}: {found[:600]}")
        if len(failures) == 3:
            break
    tap.check(f"{total} random modules as {format}, from seed {SEED} on",
              not failures and total >= min(COUNT, 5), "\n".join(failures))


def program(path):
    with open(path, "rb") as file:
        text = file.read()
    if text.startswith(b"//!"):
        text = text.split(b"\n//! expect")[0] + b"\n"
    return text


def check_files(format):
    failures, total = [], 0
    paths = sorted(glob.glob(os.path.join(tap.SOURCE, "docs/examples/*.skir")) +
                   glob.glob(os.path.join(tap.SOURCE, "tests/golden/**/*.skir"), recursive=True))
    for path in paths:
        folder, text = os.path.dirname(path), program(path)
        if b"include " in text or subprocess.run([tap.SKIRC, "check", "-"], input=text,
                                                 capture_output=True, cwd=folder).returncode:
            continue
        total += 1
        found = failure(format, text, folder)
        if found:
            failures.append(f"{os.path.relpath(path, tap.SOURCE)}: {found[:600]}")
    tap.check(f"{total} files as {format}", not failures and total > 50, "\n".join(failures[:20]))


for format in FORMATS:
    check_random(format)
    check_files(format)
tap.done()
