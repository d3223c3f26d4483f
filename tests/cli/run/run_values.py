"""run: what goes in and what comes out."""

import os
import stat
import statistics
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import npy, read, write

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

ADD = """skir 1
graph @add(%left: f32[2, 3], %right: f32[2, 3]) -> f32[2, 3] {
  scope @s {
    %sum = Add(%left, %right) : f32[2, 3]
  }
  return %sum
}
"""


def elements(path, code):
    data = read(path)
    data = data[10 + struct.unpack("<H", data[8:10])[0]:]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def run(*arguments, file="add.skir"):
    return tap.skirc("run", file, *arguments)


def refuses(claim, status, text, *arguments, file="add.skir"):
    """The run ends with this status, and says this."""
    done = run(*arguments, file=file)
    tap.check(claim, done.returncode == status and text in done.stderr,
              f"status {done.returncode}: {done.stdout}{done.stderr}")


write("add.skir", ADD)

# ---- Every form of SPEC ----

run("-ileft=ones", "--input=right=zeros", "-osum=sum.npy")
tap.check("ones and zeros", elements("sum.npy", "f") == [1.0] * 6)
write("left.npy", npy("<f4", "(2, 3)", floats(1, 2, 3, 4, 5, 6)))
run("-ileft=left.npy", "-i%right=ones", "-o%sum=sum.npy")
tap.check("a file; names may have their sign", elements("sum.npy", "f") == [2, 3, 4, 5, 6, 7])
tap.check("what is written is a file that numpy knows",
          read("sum.npy") == npy("<f4", "(2, 3)", floats(2, 3, 4, 5, 6, 7)))
run("-ileft=sum.npy", "-iright=zeros", "-osum=again.npy")
tap.check("and skirc reads it", read("again.npy") == read("sum.npy"))
run("-ileft=rand:5..6", "-oleft=left5.npy")
values = elements("left5.npy", "f")
tap.check("a range", all(5 <= value < 6 for value in values) and len(set(values)) > 1, values)
run("-ileft=rand:5..6:7", "-oleft=a.npy")
run("-ileft=rand:5..6:7", "--seed=99", "-oleft=b.npy")
run("-ileft=rand:5..6:8", "-oleft=c.npy")
tap.check("a seed of its own does not depend on --seed", read("a.npy") == read("b.npy"))
tap.check("and makes other numbers than another", read("a.npy") != read("c.npy"))
run("-oleft=a.npy")
run("-oleft=b.npy")
run("-oleft=c.npy", "--seed=2")
tap.check("inputs that are not given are the same in every run", read("a.npy") == read("b.npy"))
tap.check("--seed changes them", read("a.npy") != read("c.npy"))
run("-ileft=zeros", "-ileft=ones", "-oleft=a.npy")
tap.check("of two inputs for a parameter the last counts", elements("a.npy", "f") == [1.0] * 6)
run("-ileft=zeros", "-iright=ones", "-osum=-.npy", "-oright=r.npy", "-oleft=l.npy")
tap.check("several outputs", elements("-.npy", "f") == elements("r.npy", "f") == [1.0] * 6
          and elements("l.npy", "f") == [0.0] * 6)

run("-ileft=2.5", "-iright=arange:0:-1", "-osum=sum.npy")
tap.check("a number, and steps", elements("sum.npy", "f") == [2.5, 1.5, 0.5, -0.5, -1.5, -2.5])


def random_bits(seed, index):
    """The generator of the documentation."""
    def mix(bits):
        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9 & 2**64 - 1
        bits = (bits ^ bits >> 27) * 0x94d049bb133111eb & 2**64 - 1
        return bits ^ bits >> 31
    golden = 0x9e3779b97f4a7c15
    return mix((mix((seed + golden) & 2**64 - 1) + (index + 1) * golden) & 2**64 - 1)


write("normal.skir", """skir 1
graph @g(%x: f32[5000]) -> f32[5000] {
  %y = Add(%x, %x) : f32[5000]
  return %y
}
""")
run("-ix=normal:9", "-ox=x.npy", file="normal.skir")
quantile = statistics.NormalDist().inv_cdf
normal = [quantile(((random_bits(9, i) >> 12) + 0.5) * 2.0**-52) for i in range(5000)]
wrong = [(i, a, b) for i, (a, b) in enumerate(zip(elements("x.npy", "f"), normal))
         if struct.pack("<f", a) != struct.pack("<f", b)]
tap.check("normal numbers are those of the documentation", not wrong, wrong[:3])

# ---- Formats and types ----

NZ = """skir 1
graph @g(%x1: i8[17, 64], %x2: i8[64, 70]:FRACTAL_NZ, %scale: f32[70], %pt: f32[17]) -> bf16[17, 70] {
  scope @s {
    %y = QuantBatchMatmulV3(%x1, %x2, %scale, none, none, %pt) : bf16[17, 70]
  }
  return %y
}
"""
write("nz.skir", NZ)
write("nd.skir", NZ.replace(":FRACTAL_NZ", ""))
weight = bytes((i * 7 + i // 64) % 11 for i in range(64 * 70))
write("w.npy", npy("|i1", "(64, 70)", weight))
for name in "nz", "nd":
    done = run("-ix2=w.npy", "-ox2=w2.npy", f"-oy={name}.npy", "--compare=unfused", file=name + ".skir")
    tap.check(f"{name}: the parameter comes back as it went in",
              done.returncode == 0 and read("w2.npy") == read("w.npy"), done.stderr)
tap.check("the format in which a tensor is stored does not change the result",
          read("nz.npy") == read("nd.npy") and len(read("nz.npy")) > 17 * 70 * 2)

# ---- What does not fit ----

refuses("a parameter that is not there", 2, "no parameter 'rigth'; did you mean 'right'?",
        "-irigth=ones")
refuses("a result is no parameter", 2, "no parameter 'sum'", "-isum=ones")
refuses("a value that is not there", 2, "no value 'smu'; did you mean 'sum'?", "-osmu=x.npy")
refuses("an input without a value", 2, "expected NAME=SPEC", "-ileft")
refuses("an output without a file", 2, "expected NAME=FILE.npy", "-osum=")
refuses("a SPEC that is none", 1, "did you mean 'zeros'?", "-ileft=zeroes")
refuses("a file that is not there", 1, "cannot open 'none.npy'", "-ileft=none.npy")
refuses("a folder", 1, "is no regular file", "-ileft=./")
refuses("a range that is none", 1, "has no range", "-ileft=rand:3")
refuses("a range without an end", 1, "has no range", "-ileft=rand:3..")
refuses("a range upside down", 1, "its low end above its high end", "-ileft=rand:3..2")
refuses("a seed that is none", 1, "no seed", "-ileft=rand:3..4:x")
refuses("a graph that is not there", 2, "did you mean 'add'?", "--graph=ad")
refuses("a number of threads that is none", 2, "'--threads' needs a whole number", "--threads=two")
refuses("more seconds than there are", 2, "'--timeout' needs", "--timeout=99999999999999999999")
write("shape.npy", npy("<f4", "(3, 2)", floats(1, 2, 3, 4, 5, 6)))
refuses("a file of another shape", 1, "[3, 2]", "-ileft=shape.npy")
write("dtype.npy", npy("<f8", "(2, 3)", struct.pack("<6d", 1, 2, 3, 4, 5, 6)))
refuses("a file of another dtype", 1, "<f8", "-ileft=dtype.npy")
write("text.npy", "no array")
refuses("a file that is no array", 1, "'text.npy'", "-ileft=text.npy")
whole = read("left.npy")
wrong = []
for cut in range(len(whole)):
    write("cut.npy", whole[:cut])
    if cut % 8 and cut < len(whole) - 24:
        continue
    done = run("-ileft=cut.npy")
    if done.returncode != 1 or "'cut.npy'" not in done.stderr:
        wrong.append((cut, done.returncode, done.stderr))
tap.check("a file that is cut anywhere", not wrong, wrong)
write("long.npy", whole + b"\0")
refuses("a file with more than the array", 1, "'long.npy'", "-ileft=long.npy")

write("two.skir", ADD + ADD.replace("skir 1\n", "").replace("@add", "@other"))
refuses("a file of two graphs, without a choice", 2, "--graph", file="two.skir")
done = run("--graph=other", file="two.skir")
tap.check("with a choice", done.returncode == 0 and done.stdout.startswith("other: "), done.stderr)
write("huge.skir", ADD.replace("[2, 3]", "[4000000, 3000000]"))
refuses("tensors for which no machine has memory", 1, "GiB", file="huge.skir")
write("overflow.skir", ADD.replace("[2, 3]", "[9000000000000000000, 3]"))
refuses("tensors for which no number has bits", 1, "too large", file="overflow.skir")
write("dynamic.skir", ADD.replace("[2, 3]", "[?, 3]"))
refuses("a dimension that is not known", 1, "dimension 0", file="dynamic.skir")
write("empty.skir", ADD.replace("[2, 3]", "[0, 3]"))
done = run("-osum=sum.npy", "--compare=unfused", file="empty.skir")
tap.check("tensors without elements", done.returncode == 0
          and read("sum.npy") == npy("<f4", "(0, 3)", b""), done.stderr)

# ---- Output files ----

write("kept.npy", "kept")
for option in "-osum=no/such.npy", "-osum=.", "--json=no/such.json", "--profile=no/such.json", "--trace=no/such":
    done = run(option)
    tap.check(f"a file that cannot be written is noticed before the run: {option}",
              done.returncode == 1 and done.stderr.count(": cannot write") == 1 and not done.stdout,
              f"status {done.returncode}: {done.stdout}{done.stderr}")
refuses("an input that fails", 1, "none.npy", "-ileft=none.npy", "-osum=kept.npy")
tap.check("leaves the output as it was", read("kept.npy") == b"kept")
os.mkdir("folder.npy")
refuses("a folder as output", 1, "Is a directory", "-osum=folder.npy")
refuses("an output in no folder", 1, "cannot write", "-osum=nowhere/sum.npy")
tap.check("no half-written file remains", not [name for name in os.listdir(".") if ".npy." in name],
          os.listdir("."))
os.chmod("kept.npy", 0o604)
run("-osum=kept.npy")
tap.check("a file that is replaced keeps its mode",
          stat.S_IMODE(os.stat("kept.npy").st_mode) == 0o604 and read("kept.npy") != b"kept")
done = run("-osum=/dev/null")
tap.check("a device is written to and stays a device",
          done.returncode == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode), done.stderr)

# ---- Output of compile, opt, fmt and objdump ----

for command, output in (("compile", "-oout.txt"), ("opt", "-oout.txt"), ("fmt", "-oout.txt"),
                        ("objdump", "-oout.txt")):
    write("bad.skir", ADD.replace("%left,", "%lift,").replace("Add(", "Add(("))
    write("out.txt", "kept")
    done = tap.skirc(command, "bad.skir", output)
    tap.check(f"{command} that fails leaves the output as it was",
              done.returncode == 1 and read("out.txt") == b"kept", done.stderr)
for command in ["compile", "--emit=obj"], ["opt"], ["fmt"]:
    done = tap.skirc(*command, "add.skir", "-o", "nowhere/out.txt")
    tap.check(f"{command[0]} into no folder",
              done.returncode == 1 and "nowhere/out.txt" in done.stderr, done.stderr)
tap.check("commands that fail leave no temporary files",
          not [name for name in os.listdir(".") if name.startswith("out.txt.")])
write("link.skir", ADD.replace("  ", " "))
os.symlink("link.skir", "symlink.skir")
tap.skirc("fmt", "-i", "symlink.skir")
tap.check("fmt -i through a symbolic link changes the file and keeps the link",
          os.path.islink("symlink.skir") and read("link.skir").decode() == tap.skirc("fmt", "add.skir").stdout)

# ---- Standard input and output ----

for command in ["fmt"], ["check"], ["opt", "--passes=default"], ["compile", "--emit=c"], ["run"]:
    done = tap.skirc(*command, "-", stdin=ADD)
    tap.check(f"{command[0]} reads standard input", done.returncode == 0, done.stderr)
    done = tap.skirc(*command, "-", stdin="skir 1 graf")
    tap.check(f"{command[0]} calls it <stdin>",
              done.returncode == 1 and done.stderr.startswith("<stdin>:1:8: error:"), done.stderr)
tap.skirc("compile", "add.skir", "-o", "add.o")
script = '"$1" compile "$2" -o - >piped.o && "$1" objdump - <piped.o >piped.txt'
done = tap.subprocess.run(["sh", "-c", script, "sh", tap.SKIRC, "add.skir"], timeout=60)
tap.check("an object goes through a pipe", done.returncode == 0 and read("piped.o") == read("add.o")
          and read("piped.txt").decode() == tap.skirc("objdump", "add.o").stdout)

tap.done()
