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
    if again.stdout != there.stdout:
        return "the second export differs from the first"
    return difference(says(text), says(back.stdout))


# ---- Random modules ----

def correct(text):
    return skirc("check", "-", stdin=text).returncode == 0


def fused(text):
    """What the passes make of a module, with its entries; itself where they fail."""
    done = skirc("opt", "--passes=default", "-", stdin=text)
    return text if done.returncode else done.stdout


def correct_modules():
    """Seeds and texts of correct random modules, some of which are fused."""
    seed, made, tried = SEED, 0, 0
    while made < COUNT and tried < 20 * COUNT:
        text = random_modules.text(seed).encode()
        tried += 1
        if correct(text):
            made += 1
            yield seed, fused(text) if made % 4 == 0 else text
        seed += 1


def check_random(format):
    failures, written, total = [], 0, 0
    for seed, text in correct_modules():
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


def correct_files():
    """Paths, folders and texts of what `check` accepts alone."""
    paths = sorted(glob.glob(os.path.join(tap.SOURCE, "docs/examples/*.skir")) +
                   glob.glob(os.path.join(tap.SOURCE, "tests/golden/**/*.skir"), recursive=True))
    for path in paths:
        folder, text = os.path.dirname(path), program(path)
        if b"include " not in text and not subprocess.run(
                [tap.SKIRC, "check", "-"], input=text, capture_output=True, cwd=folder).returncode:
            yield path, folder, text


def check_files(format, files):
    failures = []
    for path, folder, text in files:
        found = failure(format, text, folder)
        if found:
            failures.append(f"{os.path.relpath(path, tap.SOURCE)}: {found[:600]}")
    tap.check(f"{len(files)} files as {format}", not failures and len(files) > 50,
              "\n".join(failures[:20]))


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


files = list(correct_files())
for format in FORMATS:
    check_random(format)
    check_files(format, files)
tap.done()
