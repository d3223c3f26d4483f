"""No output replaces what a module names: files that it includes, its kernels' objects and metadata,
contents; whatever the command and the option."""

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

NAMED = {"parts/lib.skir": "a file that is included", "parts/own.o": "the object of '@k'",
         "parts/own.json": "the metadata of '@k'", "parts/c.bin": "the contents of '%c'"}
# `fmt` and `opt` without passes leave what is included alone, which alone names what it has.
OWN = {"parts/lib.skir", "parts/c.bin"}
RUN = ["--repeat=0", "--trust-kernels"]
COMMANDS = (
    ("fmt -o", ["fmt", "m.skir", "-o"], OWN),
    ("fmt --remarks", ["fmt", "m.skir", "-o", "out", "--remarks="], OWN),
    ("opt -o", ["opt", "m.skir", "-o"], NAMED),
    ("opt --json", ["opt", "m.skir", "-o", "out", "--json="], NAMED),
    ("opt --remarks", ["opt", "m.skir", "-o", "out", "--remarks="], NAMED),
    ("check --remarks", ["check", "m.skir", "--remarks="], NAMED),
    ("export -o", ["export", "--format=json", "m.skir", "-o"], NAMED),
    ("compile -o", ["compile", "m.skir", "-o"], NAMED),
    ("compile --emit=c -o", ["compile", "m.skir", "--emit=c", "-o"], NAMED),
    ("compile --remarks", ["compile", "m.skir", "-o", "out", "--remarks="], NAMED),
    ("run -o", ["run", "m.skir", *RUN, "-oy="], NAMED),
    ("run --json", ["run", "m.skir", *RUN, "--json="], NAMED),
    ("run --trace", ["run", "m.skir", *RUN, "--trace="], NAMED),
    ("run --profile", ["run", "m.skir", *RUN, "--profile="], NAMED),
    ("run --remarks", ["run", "m.skir", *RUN, "--remarks="], NAMED),
    ("run -o, of what it is compared with",
     ["run", "other.skir", *RUN, "--compare=m.skir", "-oy="], NAMED),
)
for claim, command, files in COMMANDS:
    wrong = []
    for path in files:
        for spelled in path, os.path.abspath(path), "./parts/../" + path:
            before = read(path)
            words = [*command[:-1], command[-1] + spelled] if command[-1].endswith("=") else \
                [*command, spelled]
            done = tap.skirc(*words)
            text = f"error: the output '{spelled}' would replace {NAMED[path]}"
            if done.returncode != 1 or text not in done.stderr or read(path) != before:
                wrong.append(f"{words}: {done.returncode}, {done.stderr}")
                with open(path, "wb") as file:
                    file.write(before)
    tap.check(f"{claim} replaces nothing that the module names", not wrong, "\n".join(wrong))

# What options read.
write("passes.so", "no plugin\n")
write("scopes", "Relu s\n")
for words, path in ((["opt", "m.skir", "--pass-plugin=passes.so", "-o", "passes.so"], "passes.so"),
                    (["compile", "m.skir", "--pass-plugin=passes.so", "-o", "passes.so"], "passes.so"),
                    (["run", "m.skir", "--pass-plugin=passes.so", "--json=./passes.so"], "passes.so"),
                    (["import", "m.skir", "--scopes=scopes", "-o", "./scopes"], "scopes"),
                    (["trace", "passes.so", "--module=m.skir", "-o", "m.skir"], "m.skir")):
    before = read(path)
    done = tap.skirc(*words)
    tap.check(f"nor what an option reads: {' '.join(words)}", done.returncode == 2 and
              f"would replace the input '{path}'" in done.stderr and read(path) == before, done)

# What stands in a folder of kernels.
os.mkdir("kernels")
with open("kernels/own.o", "wb") as file:
    file.write(read("parts/own.o"))
write("named.skir", read("parts/lib.skir").decode().replace(',\n  _json = "parts/own.json"', "") +
      "graph @g(%x: f32[4], %c: f32[4]) -> f32[4] {\n  scope @s {\n"
      "    %y = Own(%x, %c) : f32[4] via @k\n  }\n  return %y\n}\n")
done = tap.skirc("compile", "named.skir", "--emit=skir", "--kernel-dir=kernels", "-o", "kernels/own.o")
tap.check("nor an object of --kernel-dir", done.returncode == 1 and
          "would replace the object of '@k'" in done.stderr and
          read("kernels/own.o") == read("parts/own.o"), done)

# A run that is refused has JSON, too.
write("wrong.skir", read("m.skir").decode().replace("return %y", "return %x, %y"))
before = read("parts/lib.skir")
done = tap.skirc("run", "wrong.skir", "--json=parts/lib.skir")
tap.check("nor does JSON of a run that is refused replace what is included", done.returncode == 1 and
          "would replace a file that is included" in done.stderr and read("parts/lib.skir") == before, done)

# Descriptions in a folder of kernels, all of which are read.
DESCRIBED = ["--kernel-dir=kernels", "own-op.skir"]
write("own-op.skir", read("other.skir"))
os.mkdir("elsewhere")
write("kernels/t.ops.json", "{}\n")
write("elsewhere/linked.json", "{}\n")
os.symlink("../elsewhere/linked.json", "kernels/linked.json")
for command in (["run", *RUN, "-oy="], ["run", *RUN, "--json="], ["run", *RUN, "--trace="],
                ["run", *RUN, "--profile="], ["run", *RUN, "--remarks="], ["opt", "-o="], ["opt", "--json="],
                ["compile", "-o="], ["export", "--format=json", "-o="]):
    wrong = []
    for path in "kernels/t.ops.json", os.path.abspath("kernels/t.ops.json"), "elsewhere/linked.json":
        last = [command[-1] + path] if command[-1] != "-o=" else ["-o", path]
        done = tap.skirc(*command[:-1], *DESCRIBED, *last)
        if done.returncode != 2 or f"would replace the input '{path}'" not in done.stderr or \
                read(path) != b"{}\n":
            wrong.append(f"{last}: {done.returncode} {done.stderr}")
            write(path, "{}\n")
    tap.check(f"nor a description of --kernel-dir: {' '.join(command)}", not wrong, "\n".join(wrong))
os.rename("elsewhere/linked.json", "kernels/own-op.json")
done = tap.skirc("export", "--format=json", *DESCRIBED, "-o", "kernels/")
tap.check("  by a folder", done.returncode == 2 and
          "would replace the input 'kernels/own-op.json'" in done.stderr, done)

# Outputs that are not there yet, by several names.
os.symlink("r.npy", "l.npy")
BOTH = "would both be written to"
for one, other in (("-oy=z.npy", "-ox=./z.npy"), ("-oy=z.npy", f"-ox={os.getcwd()}/z.npy"),
                   ("-oy=z.npy", "-ox=elsewhere/../z.npy"), ("-oy=r.npy", "-ox=l.npy"),
                   ("-oy=r.npy", "--json=./l.npy"), ("--profile=r.npy", "--json=./r.npy"),
                   ("-oy=r.npy", "--trace=l.npy"), ("-oy=r.npy", "--remarks=./r.npy")):
    done = tap.skirc("run", "other.skir", *RUN, one, other)
    tap.check(f"{one} and {other.replace(os.getcwd(), '...')} are one file", done.returncode == 2 and
              BOTH in done.stderr and not os.path.exists("z.npy") and not os.path.exists("r.npy"), done)
    for path in "z.npy", "r.npy":
        if os.path.exists(path):
            os.unlink(path)
# Standard output is what it leads to.
for arguments in (["run", "other.skir", *RUN, "-oy=-", "--json=/dev/stdout"], ["run", "other.skir", *RUN, "-oy=-", "--json=out"],
                  ["run", "other.skir", *RUN, "-oy=out", "-ox=-"], ["opt", "m.skir", "-o", "-", "--json=/dev/stdout"]):
    with open("out", "w") as file:
        done = subprocess.run([tap.SKIRC, *arguments], stdout=file, stderr=subprocess.PIPE, text=True)
    tap.check(f"a file behind standard output is one: {' '.join(arguments[-2:])}", done.returncode == 2 and
              BOTH in done.stderr and "to '-'" not in done.stderr and os.path.getsize("out") == 0, done)
done = subprocess.run([tap.SKIRC, "run", "other.skir", *RUN, "-oy=-", "--json=/dev/stdout"], capture_output=True)
tap.check("  others may be written to", done.returncode == 0 and b"NUMPY" in done.stdout and
          b'"file"' in done.stdout, done)
done = tap.skirc("run", "other.skir", *RUN, "-oy=r.npy", "--json=x=r.npy")
tap.check("a file of JSON has no name of a value before it",
          done.returncode == 0 and os.path.exists("x=r.npy"), done)
done = tap.skirc("compile", "m.skir", "-o", "new.o")
tap.check("what is named by nobody is written", done.returncode == 0 and os.path.exists("new.o"), done)

tap.done()
