"""No output replaces a file that the command reads: what a module includes, its kernels' objects,
contents, what options name; whatever the command and the option."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import read, write

CC = os.environ.get("CC", "cc").split() or ["cc"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
os.mkdir("parts")


write("own.c", "void own(void *core, unsigned long at) {}\n")
subprocess.run([*CC, "-c", "-fPIC", "own.c", "-o", "parts/own.o"], check=True)
write("parts/own.json", "{}\n")
write("parts/lib.skir", "skir 1\nkernel @k : aiv_only {\n"
      '  op = "Own", block = 1, object = "own.o", function = "own", params = [x, c, y],\n'
      '  _json = "parts/own.json"\n}\n')
with open("parts/c.bin", "wb") as file:
    file.write(bytes(16))
write("m.skir", 'skir 1\ninclude "parts/lib.skir"\ngraph @g(%x: f32[4]) -> f32[4] {\n'
      '  %c = Const() {value = {file = "parts/c.bin"}} : f32[4]\n'
      "  scope @s {\n    %y = Own(%x, %c) : f32[4] via @k\n  }\n  return %y\n}\n")
write("other.skir", "skir 1\ngraph @g(%x: f32[4]) -> f32[4] {\n  scope @s {\n"
      "    %y = Relu(%x) : f32[4]\n  }\n  return %y\n}\n")

LIB, OBJECT, CONTENTS = "parts/lib.skir", "parts/own.o", "parts/c.bin"
RUN = ["--repeat=0", "--trust-kernels"]
COMMANDS = (
    ("opt -o", ["opt", "m.skir", "-o"], {LIB}),
    ("opt --json", ["opt", "m.skir", "-o", "out", "--json="], {LIB}),
    ("opt --remarks", ["opt", "m.skir", "-o", "out", "--remarks="], {LIB}),
    ("check --remarks", ["check", "m.skir", "--remarks="], {LIB, OBJECT}),
    ("export -o", ["export", "--format=json", "m.skir", "-o"], {LIB}),
    ("compile -o", ["compile", "m.skir", "-o"], {LIB, OBJECT}),
    ("compile --emit=c -o", ["compile", "m.skir", "--emit=c", "-o"], {LIB}),
    ("compile --remarks", ["compile", "m.skir", "-o", "out", "--remarks="], {LIB, OBJECT}),
    ("run -o", ["run", "m.skir", *RUN, "-oy="], {LIB, OBJECT, CONTENTS}),
    ("run --json", ["run", "m.skir", *RUN, "--json="], {LIB, OBJECT, CONTENTS}),
    ("run --trace", ["run", "m.skir", *RUN, "--trace="], {LIB, OBJECT, CONTENTS}),
    ("run --profile", ["run", "m.skir", *RUN, "--profile="], {LIB, OBJECT, CONTENTS}),
    ("run --remarks", ["run", "m.skir", *RUN, "--remarks="], {LIB, OBJECT, CONTENTS}),
    ("run -o, of what it is compared with",
     ["run", "other.skir", *RUN, "--compare=m.skir", "-oy="], {LIB, OBJECT}),
)
for claim, command, files in COMMANDS:
    wrong = []
    for path in files:
        for spelled in path, os.path.abspath(path), "./parts/../" + path:
            before = read(path)
            words = [*command[:-1], command[-1] + spelled] if command[-1].endswith("=") else \
                [*command, spelled]
            done = tap.skirc(*words)
            text = f"the output '{spelled}' would replace an input"
            if done.returncode != 1 or text not in done.stderr or read(path) != before:
                wrong.append(f"{words}: {done.returncode}, {done.stderr}")
                with open(path, "wb") as file:
                    file.write(before)
    tap.check(f"{claim} replaces no input", not wrong, "\n".join(wrong))

# What options read.
write("passes.so", "no plugin\n")
before = read("passes.so")
done = tap.skirc("run", "m.skir", "--pass-plugin=passes.so", "--json=./passes.so")
tap.check("nor what an option reads", done.returncode == 1 and
          "passes.so' would replace an input" in done.stderr and read("passes.so") == before, done)

# Descriptions in a folder of kernels, which are read with it, by a link, too.
write("own-op.skir", read("other.skir"))
os.mkdir("kernels")
os.mkdir("elsewhere")
write("kernels/t.ops.json", "{}\n")
write("elsewhere/linked.ops.json", "{}\n")
os.symlink("../elsewhere/linked.ops.json", "kernels/linked.ops.json")
for command in (["run", *RUN, "-oy="], ["opt", "-o="], ["opt", "--json="], ["compile", "-o="],
                ["export", "--format=json", "-o="]):
    wrong = []
    for path in "kernels/t.ops.json", "elsewhere/linked.ops.json":
        last = [command[-1] + path] if command[-1] != "-o=" else ["-o", path]
        done = tap.skirc(*command[:-1], "--kernel-dir=kernels", "own-op.skir", *last)
        if done.returncode != 1 or "would replace an input" not in done.stderr or read(path) != b"{}\n":
            wrong.append(f"{last}: {done.returncode} {done.stderr}")
            write(path, "{}\n")
    tap.check(f"nor a description of --kernel-dir: {' '.join(command)}", not wrong, "\n".join(wrong))

# Two outputs that are one file.
BOTH = "would both be written to"
write("old.npy", "")
for one, other in (("-oy=z.npy", "-ox=z.npy"), ("-oy=z.npy", "--json=z.npy"),
                   ("--profile=z.npy", "--json=z.npy"), ("-oy=old.npy", "-ox=./old.npy")):
    done = tap.skirc("run", "other.skir", *RUN, one, other)
    tap.check(f"{one} and {other} are one file", done.returncode == 2 and BOTH in done.stderr and
              not os.path.exists("z.npy"), done)
done = subprocess.run([tap.SKIRC, "run", "other.skir", *RUN, "-oy=-", "--json=/dev/stdout"], capture_output=True)
tap.check("  others may be written to", done.returncode == 0 and b"NUMPY" in done.stdout and
          b'"file"' in done.stdout, done)
done = tap.skirc("run", "other.skir", *RUN, "-oy=r.npy", "--json=x=r.npy")
tap.check("a file of JSON has no name of a value before it",
          done.returncode == 0 and os.path.exists("x=r.npy"), done)
done = tap.skirc("compile", "m.skir", "-o", "new.o")
tap.check("what is named by nobody is written", done.returncode == 0 and os.path.exists("new.o"), done)

tap.done()
