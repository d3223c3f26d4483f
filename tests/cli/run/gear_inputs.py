"""run: the combination of gears that the shapes of input files choose, and files that choose none."""

import os
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def run(path, *options):
    return tap.skirc("run", path, "--repeat=0", *options)


def npy(path, shape, values):
    tap.write(path, tap.npy("<f4", tuple(shape), struct.pack(f"<{len(values)}f", *values)))


SUM = """skir 1
graph @sum(%x: f32[b, 2], %y: f32[b, 2]) gears zip (b = [2, 4]) -> f32[b, 2] {
  %z = Add(%x, %y) : f32[b, 2]
  return %z
}
"""
for path, text in ("sum.skir", SUM), ("four.skir", SUM.replace("[b,", "[4,").replace(
        "gears zip (b = [2, 4]) ", "")):
    with open(path, "w") as file:
        file.write(text)
npy("x.npy", (4, 2), range(8))
npy("z.npy", (4, 2), [2 * i for i in range(8)])
npy("two.npy", (2, 2), range(4))
npy("three.npy", (3, 2), range(6))
ran = run("sum.skir", "-i", "x=x.npy", "-i", "y=x.npy", "--expect", "z=z.npy", "--print", "y")
tap.check("the shapes of files choose a combination",
          ran.returncode == 0 and "%z is z.npy" in ran.stdout and "%y: f32[4, 2]" in ran.stdout and
          ran.stderr == "", ran.stdout + ran.stderr)
for options in ["--bind=b=4", "--compare=./sum.skir"], ["--bind=b=4", "--compare=four.skir"], \
        ["--shape=x=4,2", "--compare=four.skir"]:
    ran = run("sum.skir", *options)
    tap.check(f"values of names are those of both files, or of the one that has them: {options}",
              ran.returncode == 0 and ran.stdout.endswith("; bit-exact\n"), ran.stdout + ran.stderr)
ran = run("sum.skir", "--bind=q=4", "--compare=four.skir")
tap.check("but not a name that neither has", ran.returncode == 2 and
          "--bind: no graph declares the dimension 'q'" in ran.stderr, ran.stdout + ran.stderr)
ran = run("sum.skir", "-i", "x=three.npy")
tap.check("a file that no combination has", ran.returncode == 1 and
          "dimension 0 of '%x' is 3 by three.npy, but no combination of gears has that" in ran.stderr and
          "help: the combinations are b = 2; b = 4" in ran.stderr, ran.stdout + ran.stderr)
ran = run("sum.skir", "-i", "x=x.npy", "-i", "y=two.npy")
tap.check("files that are not of one size", ran.returncode == 1 and
          "dimension 0 of '%y' is 4, but 2 by two.npy" in ran.stderr, ran.stdout + ran.stderr)
npy("rank.npy", (4, 2, 1), range(8))
with open("text.npy", "w") as file:
    file.write("no array\n")
for value, text in (("absent.npy", "cannot open 'absent.npy': No such file or directory"),
                    ("text.npy", "'text.npy' is no .npy file"),
                    ("rank.npy", "'rank.npy' has the shape [4, 2, 1], but [b, 2] is needed"),
                    ("rand:a", "")):
    ran = run("sum.skir", "-i", "x=" + value)
    tap.check(f"{value}, which chooses no combination: the cause is told", ran.returncode == 1 and
              "sum.skir:2:12: error: input 'x': " + text in ran.stderr and
              "nothing says" not in ran.stderr, ran.stdout + ran.stderr)
ran = run("sum.skir", "-i", "z=x.npy")
tap.check("an input that the graph does not have", ran.returncode == 2 and
          "the graph has no parameter 'z'" in ran.stderr, ran.stdout + ran.stderr)
ran = run("sum.skir", "-i", "x=ones")
tap.check("values of any shape choose no combination", ran.returncode == 1 and
          "nothing says which of 2 combinations" in ran.stderr, ran.stdout + ran.stderr)

tap.done()
