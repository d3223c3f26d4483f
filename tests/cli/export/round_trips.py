"""skirc export, import, export: what a module says is the same afterwards, in every format that both
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
import random_modules
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")

COUNT = int(os.environ.get("SKIR_TEST_COUNT", "60"))
SEED = int(os.environ.get("SKIR_TEST_SEED", "1")) or random.randrange(1, 10 ** 9)
FORMATS = ["ge-txt", "torchair-pbtxt", "onnx-txt"]
SUFFIXES = {"ge-txt": ".txt", "torchair-pbtxt": ".pbtxt", "onnx-txt": ".textproto", "json": ".json"}


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


def says(module):
    """All that a module says, but for the order of its elements, of attributes, and empty blocks."""
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


# ---- Sets of modules ----

def blamed(stderr, id=""):
    """Names of the files with errors of that id."""
    return {os.path.basename(path) for path in re.findall(rf"(?m)^([^\s:]+):.* error: .*{id}$", stderr)}


class Modules:
    """The correct ones of modules in one folder, by names of files: one command takes all of them."""

    def __init__(self, folder, texts):
        self.folder = folder
        for name, text in texts.items():
            tap.write(os.path.join(folder, name), text)
        wrong = blamed(self.run("check", "--max-errors=0", *texts).stderr.decode())
        self.names = [name for name in texts if name not in wrong]

    def run(self, *arguments):
        return subprocess.run([tap.SKIRC, *arguments], capture_output=True, timeout=300, cwd=self.folder)

    def export(self, format, names):
        """By name, the text in a format, or None; and what is said on standard error."""
        if not names:
            return {}, ""
        done = self.run("export", "--max-errors=0", "--format=" + format, "-o", "./", *names)
        texts = dict.fromkeys(names)
        for name in names:
            path = os.path.join(self.folder, os.path.splitext(name)[0] + SUFFIXES[format])
            if os.path.exists(path):
                texts[name] = tap.read(path)
                os.remove(path)
        return texts, done.stderr.decode("utf-8", "replace")

    def says(self, names):
        texts, stderr = self.export("json", names)
        return {name: says(json.loads(text)) if text else "json: " + stderr for name, text in texts.items()}

    def failures(self, format):
        """By name, what is wrong with a way there and back; nothing where the format cannot have the module."""
        found, back = {}, {}
        there, stderr = self.export(format, self.names)
        refused = blamed(stderr, r"\[not-exported\]")
        for name, text in there.items():
            if text is None:
                if name not in refused:
                    found[name] = "export: " + stderr
                continue
            tap.write(os.path.join(self.folder, "there"), text)
            done = self.run("import", "--keep-attrs=all", "there")
            told = self.run("import", "--counts", "--format=" + format, "--keep-attrs=all", "there")
            if done.returncode:
                found[name] = "import: " + done.stderr.decode("utf-8", "replace")
            elif told.returncode or json.loads(told.stdout)["dropped"]:
                found[name] = "lost: " + told.stdout.decode("utf-8", "replace")
            else:
                back[name] = "back_" + name
                tap.write(os.path.join(self.folder, back[name]), done.stdout)
        again, stderr = self.export(format, back.values())
        before, after = self.says(list(back)), self.says(back.values())
        for name, copy in back.items():
            if again[copy] is None:
                found[name] = "second export: " + stderr
            elif again[copy] != there[name]:
                found[name] = "the second export differs from the first"
            elif wrong := difference(before[name], after[copy]):
                found[name] = wrong
        return found


# ---- Random modules ----

def random_modules_set():
    """Correct random modules, some of which are fused."""
    folder = tempfile.mkdtemp(dir=scratch.name)
    modules = Modules(folder, {f"seed{seed}.skir": random_modules.text(seed).encode()
                               for seed in range(SEED, SEED + 20 * COUNT)})
    modules.names = modules.names[:COUNT]
    for name in modules.names[3::4]:
        done = modules.run("opt", "--passes=default", name)
        if done.returncode == 0:  # the entries of the fused module, too
            tap.write(os.path.join(folder, name), done.stdout)
    return modules


def check_random(format, modules):
    failures = [f"{name}: {found[:600]}" for name, found in modules.failures(format).items()]
    tap.check(f"{len(modules.names)} random modules as {format}, from seed {SEED} on",
              not failures and len(modules.names) >= min(COUNT, 5), "\n".join(failures[:3]))


# ---- Files ----

def program(path):
    text = tap.read(path)
    if text.startswith(b"//!"):
        text = text.split(b"\n//! expect")[0] + b"\n"
    return text


def file_sets():
    """The examples and golden files that include nothing, folder by folder."""
    folders = {}
    for path in sorted(glob.glob(os.path.join(tap.SOURCE, "docs/examples/*.skir")) +
                       glob.glob(os.path.join(tap.SOURCE, "tests/golden/**/*.skir"), recursive=True)):
        text = program(path)
        if b"include " not in text:
            folders.setdefault(os.path.dirname(path), {})[os.path.basename(path)] = text
    return [Modules(tempfile.mkdtemp(dir=scratch.name), texts) for texts in folders.values()]


def check_files(format, sets):
    count = sum(len(modules.names) for modules in sets)
    failures = [f"{name}: {found[:600]}" for modules in sets for name, found in modules.failures(format).items()]
    tap.check(f"{count} files as {format}", not failures and count > 50, "\n".join(failures[:20]))


# ---- Texts that are not as export wrote them ----

MODULE = b"""skir 1

kernel @k : aiv_only {
  block = 4
}

graph @g(%a: f32[8]) -> f32[8] {
  %b = Abs(%a) : f32[8] via @k
  return %b
}
"""
HEAD = b"# The module of this graph, for skirc import; hash "


def fnv(data):
    number = 0xcbf29ce484222325
    for byte in data:
        number = (number ^ byte) * 0x100000001b3 % 2 ** 64
    return number


def with_hash(text):
    """The text with the hash that it should have."""
    before, lines = text.split(HEAD)
    lines = lines.split(b"\n", 1)[1]
    return before + HEAD + b"%016x\n" % fnv(before + lines) + lines


def check_import(claim, text, status, said, *arguments):
    done = skirc("import", *arguments, "-", stdin=text)
    tap.check(claim, done.returncode == status and (said in done.stderr if said else not done.stderr)
              and b"via @k" not in done.stdout, (done.stdout + done.stderr).decode())


def check_taken(claim, text):
    done = skirc("import", "-", stdin=text)
    tap.check(claim, done.stdout == MODULE and not done.stderr, (done.stdout + done.stderr).decode())


def check_changed(format):
    text = skirc("export", "--format=" + format, "-", stdin=MODULE).stdout
    check_taken(f"{format}: the module is imported", text)
    check_taken("the hash is of all of the text", with_hash(text))
    changed = b": warning: the module that skirc export wrote here is not imported: "
    since = changed + b"the text has changed since [exported-module]"
    check_import("a changed graph counts", text.replace(b"Abs", b"Neg"), 0, since)
    check_import("so does one of a changed module", text.replace(b"# skir 1", b"# skir 2"), 0, since)
    check_import("or without its end", text[:-3], 0, since)
    check_import("or with line ends of Windows", text.replace(b"\n", b"\r\n"), 0, since)
    check_import("or with another text after it", text + b"x: 1\n", 0, since)
    check_import("options that change the graph count", text, 0,
                 changed + b"'--scope' changes it [exported-module]", "--scope=S")
    check_import("attributes that nobody wants are such a change", text, 0,
                 changed + b"'--keep-attrs' changes it [exported-module]", "--keep-attrs=none")
    check_import("without the comments there is nothing to say", text.split(HEAD)[0], 0, b"")
    check_import("a module that is none is an error", with_hash(text.replace(b"# skir 1", b"# x")),
                 1, b"this is not as skirc export writes it: ")


for format in FORMATS:
    check_changed(format)


drawn, files = random_modules_set(), file_sets()
for format in FORMATS:
    check_random(format, drawn)
    check_files(format, files)
tap.done()
