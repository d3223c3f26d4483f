"""Files that are none: devices, pipes that nobody writes to, folders. Nothing hangs or grows."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
os.mkfifo("pipe")
os.mkdir("folder")

GRAPH = """skir 1

graph @g(%a: f32[8]) -> f32[8] {
  scope @s {
    %b = Add(%a, %a) : f32[8]
  }
  return %b
}
"""
NEITHER = "is neither a file nor a pipe; standard input is '-'"
NO_FILE = "is not a regular file"


def limited(limit, *arguments, **options):
    return subprocess.run(["sh", "-c", limit + 'exec "$0" "$@"', tap.SKIRC, *arguments],
                          capture_output=True, text=True, timeout=60, **options)


# A sanitizer needs more address space than any limit gives.
LIMIT = "ulimit -v 524288; "
LIMIT = LIMIT if limited(LIMIT, "--version").returncode == 0 else ""


def skirc(*arguments, **options):
    """Runs with half a GiB of memory."""
    return limited(LIMIT, *arguments, **options)


def refuses(claim, error, *arguments, status=1):
    done = skirc(*arguments)
    tap.check(claim, done.returncode == status and error in done.stdout + done.stderr, done)


write("g.skir", GRAPH)

# ---- Texts ----

for command in ("opt", "check", "fmt", "run", "compile", "import", "export"):
    extra = {"export": ["--format=json"], "compile": ["-o", "none.o"]}.get(command, [])
    refuses(f"{command} of a device", NEITHER, command, *extra, "/dev/zero")
refuses("opt of a folder", "Is a directory", "opt", "folder")
refuses("run compares with a device", NEITHER, "run", "--compare=/dev/zero", "g.skir")
refuses("a trace is no device", NEITHER, "trace", "/dev/zero")
refuses("metadata are no device", NEITHER, "where", "/dev/zero", "--line=1")

with subprocess.Popen(["sh", "-c", "sleep 1; cat g.skir > pipe"]) as writer:
    done = skirc("opt", "pipe")
    tap.check("a pipe is read as soon as somebody writes", done.returncode == 0 and
              done.stdout == GRAPH, done)
done = subprocess.run(["bash", "-c", f"'{tap.SKIRC}' opt <(cat g.skir)"], capture_output=True,
                      text=True, timeout=60)
tap.check("what a shell's substitution gives is a pipe", done.stdout == GRAPH, done)
with open("g.skir") as file:
    tap.check("standard input may be a file", skirc("opt", "-", stdin=file).stdout == GRAPH)
    file.seek(0)
    tap.check("also by its path", skirc("opt", "/dev/stdin", stdin=file).stdout == GRAPH)
tap.check("the empty device is empty", skirc("check", "/dev/null").returncode == 1)
with open("large.skir", "w") as file:
    file.truncate(5 << 30)
refuses("a text above what positions can say", "'large.skir' is larger than 4 GiB", "opt",
        "large.skir")

# ---- Objects, kernels, arrays ----

write("kernel.skir", """skir 1

kernel @k : aiv_only {
  block = 4,
  object = "OBJECT",
  function = "f",
  params = [x, y, tiling]
}

graph @g(%a: f32[8]) -> f32[8] {
  scope @s {
    %b = Foo(%a) : f32[8] via @k
  }
  return %b
}
""")
for path in ("/dev/zero", os.path.abspath("pipe"), os.path.abspath("folder")):
    with open("kernel.skir") as file:
        write("object.skir", file.read().replace("OBJECT", path))
    for command in (["check"], ["compile", "-o", "none.o"], ["run"]):
        refuses(f"{path[-6:]} as object: {command[0]}", f"'{path}' {NO_FILE}", *command, "object.skir")
refuses("objdump of a device", NO_FILE, "objdump", "/dev/zero")

for name, error in (("x.json", NO_FILE), ("x.ops.json", NO_FILE)):
    os.mkdir(f"of_{name}")
    for kind, make in (("pipe", os.mkfifo), ("device", lambda path: os.symlink("/dev/zero", path)),
                       ("folder", os.mkdir)):
        make(f"of_{name}/{name}")
        refuses(f"{name} is a {kind}", f"of_{name}/{name}' {error}", "check", f"--kernel-dir=of_{name}",
                "g.skir")
        (os.rmdir if kind == "folder" else os.unlink)(f"of_{name}/{name}")

os.symlink("/dev/zero", "zero.npy")
os.mkfifo("pipe.npy")
for path in ("zero.npy", "pipe.npy"):
    refuses(f"{path} is no array", f"'{path}' is no regular file", "run", "g.skir", "-i", f"a={path}")

# ---- Tests ----

refuses("a test is no device", f"'/dev/zero' {NO_FILE}", "test", "/dev/zero")
refuses("nor a pipe", f"'pipe' {NO_FILE}", "test", "pipe")
tap.check("nothing is written", not os.path.exists("none.o"))

# ---- Names that leave no room for that of a temporary file; links ----

os.mkdir("written")
write("g.skir", GRAPH)
for size in 248, 249, 255:
    name = "written/" + "n" * (size - 5) + ".skir"
    for turn in "a new file", "one that is there":
        done = tap.skirc("opt", "g.skir", "-o", name)
        tap.check(f"an output whose name has {size} bytes: {turn}", done.returncode == 0 and
                  open(name).read() == GRAPH, done.stderr)
os.symlink("target.skir", "written/link")
os.symlink("link", "written/again")
for turn in "that is not there", "that is there":
    done = tap.skirc("opt", "g.skir", "-o", "written/again")
    tap.check(f"links stay, and lead to the output, {turn}", done.returncode == 0
              and os.path.islink("written/again") and os.path.islink("written/link")
              and not os.path.islink("written/target.skir")
              and open("written/target.skir").read() == GRAPH, done.stderr)
os.symlink("round", "written/round")
refuses("links that lead nowhere", "Too many levels of symbolic links", "opt", "g.skir",
        "-o", "written/round")
# ---- Outputs that are inputs ----

write("in.skir", GRAPH)
for claim, arguments in (
        ("compile", ["compile", "in.skir", "-o", "in.skir"]),
        ("compile by another name", ["compile", "in.skir", "-o", "./written/../in.skir"]),
        ("remarks", ["check", "in.skir", "--remarks=in.skir"]),
        ("passes' report", ["opt", "in.skir", "--json=in.skir"]),
        ("a run's result", ["run", "in.skir", "-o", "b=in.skir"]),
        ("a run's report", ["run", "in.skir", "--json=in.skir"]),
        ("a profile", ["run", "in.skir", "--profile=in.skir"])):
    refuses(f"{claim} does not replace the input", "would replace an input", *arguments,
            status=1)
write("other.skir", GRAPH)
assert tap.skirc("run", "other.skir", "--repeat=0", "-o", "b=in.npy").returncode == 0
with open("in.npy", "rb") as file:
    array = file.read()
for claim, name, arguments in (
        ("an expected array", "in.npy", ["--expect=b=in.npy", "-o", "b=./in.npy"]),
        ("an array by a report", "in.npy", ["-i", "a=in.npy", "--json=in.npy"]),
        ("the other module", "other.skir", ["--compare=other.skir", "--json=other.skir"])):
    refuses(f"{claim} is not replaced", f"{name}' would replace an input", "run", "in.skir",
            *arguments)
for claim, arguments in (
        ("two results", ["run", "in.skir", "-o", "a=new.npy", "-o", "b=new.npy"]),
        ("a result and a report", ["run", "in.skir", "-o", "b=in.npy", "--json=./in.npy"]),
        ("an object and remarks", ["compile", "in.skir", "-o", "new.o", "--remarks=new.o"]),
        ("a module and passes' report", ["opt", "in.skir", "-o", "new.skir", "--json=new.skir"])):
    refuses(f"{claim} are not one file", "would both be written to", *arguments, status=2)
done = tap.skirc("run", "in.skir", "--repeat=0", "-i", "a=in.npy", "-o", "a=in.npy")
tap.check("a result may be where its input was", done.returncode == 0, done.stderr)
done = tap.skirc("run", "in.skir", "--repeat=0", "-o", "a=/dev/null", "-o", "b=/dev/null")
tap.check("devices may be", done.returncode == 0, done.stderr)
with open("in.npy", "rb") as file:
    tap.check("the array is as it was", file.read() == array)
for command in "fmt", "opt":
    done = tap.skirc(command, "in.skir", "-o", "in.skir")
    tap.check(f"{command} may do its work in place", done.returncode == 0, done.stderr)
tap.check("it is as it was", open("in.skir").read() == GRAPH)
write("kernel.skir", GRAPH.replace("skir 1\n", """skir 1

kernel @k : aiv_only { op = "Own", block = 1, object = "own.o", function = "own", params = [a, b] }
""").replace("= Add(%a, %a) : f32[8]", "= Own(%a) : f32[8] via @k"))
subprocess.run([*(os.environ.get("CC", "cc").split() or ["cc"]), "-xc", "-c", "-", "-o", "own.o"],
               input="void own(void) {}", text=True, check=True)
with open("own.o", "rb") as file:
    own = file.read()
refuses("nor is a kernel's object replaced", "'own.o' would replace an input", "run",
        "kernel.skir", "-o", "b=own.o")
with open("own.o", "rb") as file:
    tap.check("  which is as it was", file.read() == own)

# ---- Pipes that are written ----

with subprocess.Popen(["sh", "-c", "sleep 1; cat pipe > read.skir"]) as reader:
    done = skirc("opt", "g.skir", "-o", "pipe")
with open("read.skir") as file:
    tap.check("a pipe is written as soon as another process reads it", done.returncode == 0
              and file.read() == GRAPH, done)

# ---- A test that is read-only; folders that look like options ----

write("test.skir", "//! opt\n//! nothing is done\n" + GRAPH + "//! expect\nskir 1\n")
os.chmod("test.skir", 0o444)
before = open("test.skir").read()
done = tap.skirc("test", "--bless", "test.skir")
tap.check("--bless does not replace what is read-only", done.returncode == 1
          and "cannot write 'test.skir': it is read-only" in done.stdout
          and open("test.skir").read() == before, done.stdout + done.stderr)
subprocess.run([*(os.environ.get("CC", "cc").split() or ["cc"]), "-xc", "-c", "-fPIC", "-", "-o",
                "made.o"], check=True, text=True,
               input="__attribute__((constructor)) static void f(void) {}\n"
                     "void own(void *core, unsigned long at) {}")
write("made.skir", open("kernel.skir").read().replace("own.o", "made.o"))
os.mkdir("-tmp")
done = subprocess.run([tap.SKIRC, "run", "made.skir", "--trust-kernels"], capture_output=True,
                      text=True, env={**os.environ, "TMPDIR": "-tmp"})
tap.check("a temporary folder is no option of the compiler", done.returncode == 0
          and not os.listdir("./-tmp"), done.stderr)

tap.check("nothing else is there", len(os.listdir("written")) == 7, os.listdir("written"))
# ---- Limits ----

RUN = "run", "g.skir", "--repeat=0"
done = limited("ulimit -s 64; ", *RUN, "--json")
tap.check("a stack that is too small is told", done.returncode == 3 and not done.stdout and done.stderr ==
          "skirc: the limit of the stack (ulimit -s) is 64 KiB, but must be at least 512\n", done)
done = limited("ulimit -s 512; ", *RUN)
tap.check("  and one that is not is enough", done.returncode == 0, done)
done = limited("ulimit -n 4; ", *RUN, "--json")
tap.check("too few open files to read the input of a run are told in JSON, too", done.returncode == 1 and
          "(ulimit -n) is too low" in json.loads(done.stdout or "{}")["diagnostics"][0]["text"], done)
if LIMIT:
    done = limited("ulimit -v 20000; ", *RUN, "--json")
    tap.check("want of memory is told in JSON, too", done.returncode == 3 and json.loads(done.stdout or "{}").get(
        "failure") == "out of memory" and done.stderr == "skirc: out of memory\n", done)

tap.done()
