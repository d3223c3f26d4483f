"""Commands with several files: each by itself, into a folder, under its own name."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

GRAPH = """skir 1

graph @{0}(%x: f32[64]) -> f32[64] {{
  scope @s {{
    %a = Add(%x, %x) : f32[64]
    %b = Mul(%a, %x) : f32[64]
  }}
  return %b
}}
"""
for path, name in (("a.skir", "a"), ("sub/b.skir", "b"), ("plain", "p"), ("other/a.skir", "oa")):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(GRAPH.format(name))
with open("wrong.skir", "w") as file:
    file.write(GRAPH.format("w").replace("return %b", "return %c"))


def listed(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else None


def case(claim, arguments, folder, files, status=0, error=""):
    done = tap.skirc(*arguments)
    good = done.returncode == status and error in done.stderr and listed(folder) == files
    tap.check(claim, good and (error or status or not done.stderr), f"{done}\n{listed(folder)}")
    return done


THREE = ["a.skir", "sub/b.skir", "plain"]
case("compile makes a folder of objects", ["compile", "-o", "objects/", *THREE], "objects",
     ["a.o", "b.o", "plain.o"])
os.mkdir("texts")
case("text takes the suffix of what it is", ["compile", "--emit=c", "-o", "texts", *THREE], "texts",
     ["a.c", "b.c", "plain.c"])
case("a folder may have other files", ["compile", "--emit=entry", "-o", "texts", *THREE], "texts",
     ["a.c", "a.skir", "b.c", "b.skir", "plain.c", "plain.skir"])
case("opt", ["opt", "-p", "default", "-o", "opt/", *THREE], "opt", ["a.skir", "b.skir", "plain.skir"])
with open("opt/b.skir") as file:
    text = file.read()
tap.check("each file by itself", "graph @b" in text and "entry @b_s" in text and "graph @a" not in text, text)
case("fmt", ["fmt", "-o", "fmt/", *THREE], "fmt", ["a.skir", "b.skir", "plain.skir"])
case("export, by the format's suffix", ["export", "--format=json", "-o", "json/", *THREE], "json",
     ["a.json", "b.json", "plain.json"])
case("export to a folder does not tell the format", ["export", "-o", "none/", *THREE], "none", None,
     2)
case("one file may go to a folder, too", ["opt", "-o", "one/", "sub/b.skir"], "one", ["b.skir"])
done = tap.skirc("check", *THREE)
tap.check("check", done.returncode == 0 and not done.stdout + done.stderr, done)
done = tap.skirc("fmt", *THREE)
tap.check("fmt prints one behind the other", done.returncode == 0 and done.stdout.count("skir 1") == 3,
          done)

case("what is wrong with one does not stop the others, and the worst status counts",
     ["compile", "-o", "some/", "a.skir", "wrong.skir", "absent.skir", "sub/b.skir"], "some",
     ["a.o", "b.o"], 1, "absent.skir: error: cannot open")
case("the same of opt", ["opt", "-o", "some_opt/", "wrong.skir", "a.skir"], "some_opt", ["a.skir"], 1)
case("the same of export", ["export", "--format=dot", "-o", "some_dot/", "wrong.skir", "a.skir"],
     "some_dot", ["a.dot"], 1)
done = tap.skirc("opt", "--stats", "-o", "stats/", "a.skir", "sub/b.skir")
tap.check("counts have the file's name above", "a.skir:\n" in done.stderr and
          "sub/b.skir:\n" in done.stderr, done.stderr)

for command in ("compile", "opt", "fmt", "export"):
    form = ["--format=dot"] if command == "export" else []
    suffix = {"compile": "o", "export": "dot"}.get(command, "skir")
    case(f"{command}: one name for two files is refused before anything is written",
         [command, *form, "-o", "clash/", "sub/b.skir", "a.skir", "other/a.skir"], "clash", None, 2,
         f"'a.skir' and 'other/a.skir' would both be written to 'clash/a.{suffix}'")
    case(f"{command}: standard input has no name",
         [command, *form, "-o", "clash/", "a.skir", "-"], "clash", None, 2, "standard input")
    case(f"{command}: a file is no folder",
         [command, *form, "-o", "a.skir", "sub/b.skir", "plain"], "clash", None, 2,
         "2 files need a folder: 'a.skir' is none, 'a.skir/' is made")
    case(f"{command}: what is in a file cannot be a folder",
         [command, *form, "-o", "a.skir/", "sub/b.skir"], "clash", None, 1,
         "cannot make the folder 'a.skir/': ")
    case(f"{command}: a folder in no folder", [command, *form, "-o", "no/where/", "a.skir"], "no",
         None, 1, "cannot make the folder 'no/where/'")
for command in ("opt", "fmt"):
    case(f"{command}: an input is not replaced", [command, "-o", ".", "a.skir"], "clash", None, 2,
         "the output './a.skir' would replace the input 'a.skir'")
for command in ("opt", "export", "compile"):
    form = {"export": ["--format=dot"], "compile": ["--emit=skir"]}.get(command, [])
    case(f"{command}: several files are not printed", [command, *form, "a.skir", "plain"], "clash",
         None, 2, "2 files need a folder to be written to: -o FOLDER/")
case("diagnostics as JSON are those of one file", ["check", "--remarks=r.json", "a.skir", "plain"],
     "r.json", None, 2, "--remarks=FILE.json takes one file's diagnostics, but there are 2 files")
with open("a.skir") as file:
    tap.check("no input was touched", file.read() == GRAPH.format("a"))

tap.done()
