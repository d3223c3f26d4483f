"""Included files as they stand on a disk: which file is meant, what is refused, and where kernels'
objects are."""

import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
EXAMPLES = os.path.join(os.path.abspath(tap.SOURCE), "docs", "examples")
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

KERNEL = "kernel @{} : aiv_only {{block = 4}}\n"


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def check(claim, *arguments, error=None, stdin=""):
    done = tap.skirc("check", *arguments, stdin=stdin)
    good = done.returncode == (1 if error else 0) and (error or "") in done.stderr
    tap.check(claim, good and not done.stdout, done.stderr)


def including(*paths):
    return "skir 1\n" + "".join(f'include "{path}"\n' for path in paths)


# ---- which file ----

write("lib/k.skir", "skir 1\n" + KERNEL.format("k"))
os.symlink("k.skir", "lib/link.skir")
os.link("lib/k.skir", "hard.skir")
os.symlink("lib", "folder")
write("main.skir", including("lib/k.skir", "lib/link.skir", "hard.skir", "folder/k.skir",
                             os.path.abspath("lib/k.skir")))
check("a file counts once, by whatever links and paths it is named", "main.skir")
check("paths are relative to the file, not to the current folder",
      os.path.join(scratch.name, "main.skir"))
check("standard input is in the current folder", "-", stdin=including("lib/k.skir"))
check("positions are those of the included file", "-", stdin=including("lib/k.skir", "lib/b.skir"),
      error="lib/b.skir'")
write("lib/wrong.skir", "skir 1\n\n  kernel @w : aiv_only {blok = 3}")
write("outer.skir", including("lib/wrong.skir"))
check("an excerpt is that of the included file, though its last line has no end", "outer.skir",
      error="lib/wrong.skir:3:25: error: a kernel has no attribute 'blok'")
check("and the caret stands below", "outer.skir",
      error="    3 |   kernel @w : aiv_only {blok = 3}\n      |                         ^~~~\n")
write("empty.skir", "")
write("none.skir", including("empty.skir"))
check("an empty file is no module", "none.skir", error="empty.skir:1:1: error: expected 'skir'")

# ---- what is refused ----

os.mkfifo("pipe")
check("a pipe is not waited for", "-", stdin=including("pipe"),
      error="'pipe' is not a regular file [include]")
with open("huge.skir", "w") as file:
    file.truncate(1 << 33)
check("a file of 8 GiB is not read", "-", stdin=including("huge.skir"),
      error="'huge.skir' is larger than 4 GiB [include]")
os.symlink("loop.skir", "loop.skir")
check("a link to itself leads nowhere", "-", stdin=including("loop.skir"), error="[include]")
for i in range(80):
    write(f"chain/{i}.skir", including(f"{i + 1}.skir"))
write("chain/80.skir", including())
check("64 files deep is enough", "-", stdin=including("chain/17.skir"))
check("and 65 is too deep", "-", stdin=including("chain/16.skir"),
      error="chain/79.skir:2:1: error: files include each other more than 64 deep [include]")
for i in range(40):
    write(f"ring/{i}.skir", including(f"{(i + 1) % 40}.skir") + KERNEL.format(f"k{i}"))
check("a circle is read once", "ring/7.skir")
large = "skir 1\n" + "".join(KERNEL.format(f"k{i}") for i in range(60000))
write("large.skir", large)
write("large_wrong.skir", large.replace("@k", "@w") + "\nkernel @k7 : aiv_only {block = 4}")
write("both.skir", including("large.skir", "large_wrong.skir"))
check("files that are mapped are none the worse for it", "-", stdin=including("large.skir"))
check("and errors in them have their lines", "both.skir",
      error="large_wrong.skir:60003:8: error: the kernel '@k7' stands twice [duplicate]")
if os.getuid() != 0:
    os.chmod("hard.skir", 0)
    check("a file that must not be read is told", "-", stdin=including("hard.skir"),
          error="cannot open 'hard.skir': Permission denied [include]")
    os.chmod("hard.skir", 0o644)
done = tap.skirc("check", "--remarks=remarks.json", "outer.skir")
with open("remarks.json") as file:
    remarks = file.read()
tap.check("the JSON of diagnostics names the included file",
          '"file":"lib/wrong.skir","line":3,"column":25' in "".join(remarks.split()), remarks)

# ---- where it is written ----

os.makedirs("far/away")
for command in ("opt", "fmt"):
    done = tap.skirc(command, "-o", "far/away/main.skir", "main.skir")
    with open("far/away/main.skir") as file:
        text = file.read()
    tap.check(f"{command} to another folder leads back",
              'include "../../lib/k.skir"\n' in text
              and f'include "{os.path.abspath("lib/k.skir")}"\n' in text, done.stderr + text)
    check("and what it wrote is right", "far/away/main.skir")
    done = tap.skirc(command, "-o", "near.skir", "main.skir")
    with open("near.skir") as file:
        tap.check(f"{command} to the same folder leaves paths alone",
                  'include "lib/k.skir"\n' in file.read(), done.stderr)

# ---- objects ----

shutil.copytree(EXAMPLES, "examples")
GRAPH = ("""
graph @g(%x: f32[64], %y: f32[64]) -> f32[64] {
  scope @s {
    %a = Add(%x, %y) : f32[64] via @add
    %b = Add(%a, %y) : f32[64] via @add
  }
  return %b
}
""")
ADD = """skir 1
kernel @add : aiv_only {
  op = "Add", block = 48, object = "OBJECT", function = "add", params = [x1, x2, y, tiling]
}
"""
samples = os.path.join(os.path.dirname(tap.SKIRC), "backend", "kernels")
write("own/lib/deep/add.skir", ADD.replace("OBJECT", "objects/own_add.o"))
write("own/lib/all.skir", including("deep/add.skir"))
write("own/main.skir", including("lib/all.skir") + GRAPH)
os.makedirs("own/lib/deep/objects")
done = tap.skirc("run", "own/main.skir")
tap.check("an object that is not there was looked for in the file's folder, too",
          done.returncode == 1 and "own/lib/deep/add.skir:3:" in done.stderr
          and "it was looked for in the folder of 'own/lib/deep/add.skir', 'own' and" in done.stderr,
          done.stderr)
shutil.copy(os.path.join(samples, "add.o"), "own/lib/deep/objects/own_add.o")
done = tap.skirc("run", "--compare", "unfused", "own/main.skir")
tap.check("an included kernel's object is in the folder of its file",
          done.returncode == 0 and "bit-exact" in done.stdout, done.stderr)
done = tap.skirc("compile", "--emit=skir", "-o", "own/whole.skir", "own/main.skir")
with open("own/whole.skir") as file:
    text = file.read()
tap.check("a text that stands alone has the object's path from its own folder",
          'object = "lib/deep/objects/own_add.o"' in text and "include" not in text, text)
shutil.rmtree("own/lib/deep/objects")
os.mkdir("own/objects")
write("own/lib/deep/add.skir", ADD.replace("OBJECT", "add.o"))
done = tap.skirc("run", "own/main.skir")
tap.check("else it is one of the samples'", done.returncode == 0, done.stderr)

write("own/lib/deep/own.json", "{}")
write("own/own.json", "{}")
write("own/lib/deep/add.skir", ADD.replace('"OBJECT"', '"add.o", _json = "own.json"'))
done = tap.skirc("compile", "--emit=skir", "-o", "own/whole.skir", "own/main.skir")
with open("own/whole.skir") as file:
    text = file.read()
tap.check("metadata of an included kernel are in the folder of its file",
          '_json = "lib/deep/own.json"' in text and 'object = "add.o"' in text, text)
os.unlink("own/lib/deep/own.json")
done = tap.skirc("compile", "--emit=skir", "-o", "-", "own/main.skir")
tap.check("else their path stands as it is", '_json = "own.json"' in done.stdout, done)

for name in ("prefill", "decode"):
    done = tap.skirc("run", "--compare", "unfused", f"examples/two_files_{name}.skir")
    tap.check(f"the graph {name} runs with the library of both",
              done.returncode == 0 and "bit-exact" in done.stdout, done.stderr)

tap.done()
