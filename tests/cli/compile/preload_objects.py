"""preload-code: sizes of code that come from object files."""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

CC = os.environ.get("CC", "cc").split() or ["cc"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def assemble(path, sections):
    """An object with a function at the beginning of each section: (section, function, bytes)."""
    text = ""
    for section, function, size in sections:
        text += f'.section {section},"ax",%progbits\n.globl {function}\n'
        text += f".type {function},%function\n{function}:\n.space {size}\n"
    text += '.section .note.GNU-stack,"",%progbits\n'
    subprocess.run(CC + ["-x", "assembler", "-c", "-o", path, "-"], input=text, text=True,
                   check=True)


def module(kernels, options="", folder=""):
    """A chain of ops, one for each kernel: (name, type, attributes)."""
    text, value = "skir 1\n", "%a"
    for name, kind, attributes in kernels:
        text += f"kernel @{name} : {kind} {{block = 4, {attributes}}}\n"
    text += "graph @g(%a: f32[4]) -> f32[4] {\n"
    text += f'  scope @s {{options = "{options}"}} {{\n'
    for i, (name, _, _) in enumerate(kernels):
        text += f"    %v{i} = Op({value}) : f32[4] via @{name}\n"
        value = f"%v{i}"
    return text + f"  }}\n  return {value}\n}}\n"


def lower(path, *arguments, command="opt"):
    words = ["--passes=default"] if command == "opt" else ["--emit=skir"]
    return tap.skirc(command, *words, "--remarks", *arguments, path)


def preloads(result):
    return re.findall(r"preload (\S+ units \d+)", result.stdout)


os.mkdir("in")
assemble("in/one.o", [(".text", "one", 3000)])
assemble("in/two.o", [(".text.a", "a", 6000), (".text.b", "b", 100000)])
assemble("in/cube.o", [(".text", "part_aic", 9000)])
assemble("in/vector.o", [(".text", "part_aiv", 1)])
subprocess.run(["ar", "rcD", "mixed.a", "cube.o", "vector.o"], cwd="in", check=True)
write("in/g.skir", module([
    ("one", "aiv_only", 'object = "one.o", function = "one"'),
    ("a", "aiv_only", 'object = "two.o", function = "a"'),
    ("b", "aiv_only", 'object = "two.o", function = "b"'),
    ("m", "mix_aic_1_1", 'object = "mixed.a", function = {aic = "part_aic", aiv = "part_aiv"}'),
    ("said", "aiv_only", 'object = "one.o", function = "one", code = 5000'),
]))
result = lower("in/g.skir")
WANTED = ["@m.aic units 5", "@one units 2", "@a units 3", "@b units 8", "@m.aiv units 1",
          "@said units 3"]
tap.check("the section of the function counts, whatever else the object or archive has; "
          "an attribute counts before it", preloads(result) == WANTED, result.stdout + result.stderr)
tap.check("nothing is said where sizes are known", "unknown-code" not in result.stderr, result.stderr)
compiled = lower("in/g.skir", command="compile")
tap.check("compile preloads as opt does", compiled.stdout == result.stdout, compiled.stderr)
tap.check("objects are found beside the file, wherever skirc runs",
          preloads(lower(os.path.abspath("in/g.skir"))) == WANTED)

# What is not known, and that each reason leaves the others alone.
write("in/unknown.skir", module([
    ("absent", "aiv_only", 'object = "absent.o", function = "one"'),
    ("broken", "aiv_only", 'object = "unknown.skir", function = "one"'),
    ("other", "aiv_only", 'object = "one.o", function = "two"'),
    ("nameless", "aiv_only", "op = \"Op\""),
    ("good", "aiv_only", 'object = "one.o", function = "one"'),
]))
result = lower("in/unknown.skir")
tap.check("a kernel whose object does not tell is not preloaded",
          preloads(result) == ["@good units 2"], result.stdout + result.stderr)
for name in "absent", "broken", "other", "nameless":
    tap.check(f"@{name}: a remark says so",
              f"the code of '@{name}' is of unknown size" in result.stderr, result.stderr)
tap.check("opt succeeds all the same", result.returncode == 0, result.stderr)

# Sample kernels: beside skirc, or where --kernel-dir says.
write("sample.skir", "skir 1\ngraph @g(%a: f32[4]) -> f32[4] {\n  scope @s {\n"
      "    %b = Add(%a, %a) : f32[4]\n  }\n  return %b\n}\n")
result = lower("sample.skir")
tap.check("sample kernels are preloaded", re.fullmatch(r"@add units [1-8]", *preloads(result)),
          result.stdout + result.stderr)
KERNELS = os.path.join(os.path.dirname(os.path.abspath(tap.SKIRC)), "backend", "kernels")
os.mkdir("samples")
assemble("samples/add.o", [(".text", "add", 2049)])
with open(os.path.join(KERNELS, "add.json")) as file:
    write("samples/add.json", file.read())
result = lower("sample.skir", "--kernel-dir=samples")
tap.check("those of --kernel-dir by their own sizes", preloads(result) == ["@add units 2"],
          result.stdout + result.stderr)

tap.done()
