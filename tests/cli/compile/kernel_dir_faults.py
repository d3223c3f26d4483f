"""What is wrong with a file of --kernel-dir is told in that file: its line and column, the text of the
line, and the same in --remarks."""

import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

SAMPLES = os.path.join(os.path.dirname(tap.SKIRC), "backend", "kernels")
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


write("g.skir", """skir 1
graph @g(%x: f32[16, 64]) -> f32[16, 64] {
  %a = Add(%x, %x) : f32[16, 64]
  %b = Add(%a, %x) : f32[16, 64]
  return %b
}
""")
with open(os.path.join(SAMPLES, "add.json"), encoding="utf-8") as file:
    add = json.load(file)


def description(**changes):
    return json.dumps({**add, **changes}, indent=1)


def place(text, wanted):
    """Line and column of what is wrong."""
    before = text[:text.index(wanted)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


# The file, its text, where in it, and what is said.
TYPE = '{"Mine":\n  {"operands": ["x"], "results": ["y"],\n   %s}}\n'
for name, text, wanted, identity, said in (
        ("own.ops.json", TYPE % '"shapes": []', '"shapes"', "op-data", "op type 'Mine': unknown key 'shapes'"),
        ("own.ops.json", TYPE % '"shape": ["x[q]"]', '"x[q]"', "op-data", "op type 'Mine': rule 'x[q]'"),
        ("own.ops.json", '\n [1]', '[1]', "op-data", "this is no object of op types"),
        ("own.ops.json", '{"Mine": {}', '{"Mine', "op-data", "this '{' is not ended by '}'"),
        ("add.json", description(kernelName=7), "7", "file", "'kernelName' must be a string, not a number"),
        ("add.json", description(blockDim="x1[0] *"), '"x1[0] *"', "block-rule",
         "'blockDim' is no expression: a value is missing at the end")):
    write("k/" + name, text)
    shutil.copy(os.path.join(SAMPLES, "add.o"), "k")
    line, column = place(text, wanted)
    head = f"k/{name}:{line}:{column}: error: {said}"
    for command in (["check"], ["opt", "--passes=default"], ["compile", "-o", "g.o"]):
        done = tap.skirc(*command, "--kernel-dir=k", "g.skir")
        tap.check(f"{command[0]}: {said}: by its place, once", done.returncode == 1 and
                  done.stderr.startswith(head) and done.stderr.count("error: ") == 1 and
                  f"[{identity}]\n{line:5} | {text.splitlines()[line - 1]}\n" in done.stderr, done.stderr)
    done = tap.skirc("check", "--kernel-dir=k", "--remarks=r.json", "g.skir")
    with open("r.json", encoding="utf-8") as file:
        told = json.load(file)["diagnostics"]
    tap.check("  and in JSON", [(one["file"], one["line"], one["column"]) for one in told] ==
              [(f"k/{name}", line, column)] and told[0]["text"].startswith(said), str(told))
    shutil.rmtree("k")

write("k/own.ops.json", TYPE % '"views": true')
done = tap.skirc("opt", "--op-type=Mine", "--kernel-dir=k")
tap.check("opt --op-type says the place, too", done.returncode == 1 and done.stderr ==
          "skirc: k/own.ops.json:3:4: op type 'Mine': unknown key 'views'\n", done.stderr)
write("bad/add.json", description(kernelName=7))
skirc = tap.skirc("export", "--format=ge-txt", "g.skir", "-o", "g.txt")
done = tap.skirc("import", "--kernel-dir=bad", "g.txt")
tap.check("import does as well", done.returncode == 1 and done.stderr.startswith("bad/add.json:2:16: error: "),
          skirc.stderr + done.stderr)

# ---- Every command that verifies a module knows the types of the folder ----

write("types/own.ops.json", '{"Mine": {"operands": ["x"], "results": ["y"], "dtypes": {"x": "f32", "y": "x"}, '
      '"shape": ["y = x"]}}')
write("own.skir", """skir 1
graph @g(%x: f32[16, 64]) -> f32[16, 64] {
  %y = Mine(%x)
  return %y
}
""")
for form in "dot", "json", "ge-txt", "onnx-txt":
    done = tap.skirc("export", f"--format={form}", "own.skir")
    tap.check(f"export to {form} does not know them alone", done.returncode == 1 and
              "nothing is known of the op type 'Mine'" in done.stderr, done.stderr)
    done = tap.skirc("export", f"--format={form}", "--kernel-dir=types", "own.skir")
    tap.check("  and does with the folder", done.returncode == 0 and not done.stderr and "Mine" in done.stdout,
              done.stderr)
    done = tap.skirc("export", f"--format={form}", "--kernel-dir=k", "own.skir")
    tap.check("  and refuses one that is wrong", done.returncode == 1 and
              done.stderr.startswith("k/own.ops.json:3:4: error: op type 'Mine': unknown key 'views'"),
              done.stderr)
write("held.skir", """skir 1
graph @g(%x: f16[16, 64]) -> f16[16, 64] {
  %y = Mine(%x) : f16[16, 64]
  return %y
}
""")
done = tap.skirc("export", "--format=json", "--kernel-dir=types", "held.skir")
tap.check("ops are held to it", done.returncode == 1 and "operand 'x' of Mine must be f32, but is f16" in done.stderr,
          done.stderr)
tap.done()
