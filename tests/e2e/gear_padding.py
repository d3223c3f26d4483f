"""run --off-gear=pad: shapes between gears. Where it does not warn, results are those of the graph that
is compiled for the shape itself, bit for bit; where it does, some of them differ."""

import json
import os
import random
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
GRAPHS = int(os.environ.get("SKIR_TEST_COUNT", "60"))


def run(path, *options):
    return tap.skirc("run", path, "--repeat=0", "--off-gear=pad", *options)


# ---- Random graphs ----

class Graph:
    """Ops on values whose dimensions are lists of names and numbers. `c` is 1 or `b` in the shape that is
    asked for, so that what has it goes with what has `b`, by itself or broadcast."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.params = ["%p0: f32[b, s, 8]", "%w: f32[8, 8]", "%g: f32[8]", "%g2: f32[s, 8]",
                       "%m: f32[c, s, 8]", "%q: f32[b, n]", "%i: i32[b]"]
        self.values = [("p0", ["b", "s", "8"]), ("m", ["c", "s", "8"]), ("q", ["b", "n"])]

    def add(self, text, dims):
        name = f"v{len(self.lines)}"
        self.lines.append(f"    %{name} = {text} : f32[{', '.join(dims)}]")
        self.values.append((name, dims))

    def norm(self, name, dims, gamma, rank):
        result = f"v{len(self.lines)}"
        rows = dims[:-rank] + ["1"] * rank
        self.lines.append(f"    %{result}, %r{result} = RmsNorm(%{name}, %{gamma}) : "
                          f"(f32[{', '.join(dims)}], f32[{', '.join(rows)}])")
        self.values.append((result, dims))

    def step(self):
        name, dims = self.rng.choice(self.values)
        last, axis = len(dims) - 1, self.rng.randrange(len(dims))
        without = dims[:axis] + dims[axis + 1:]
        kind = self.rng.choice(["unary", "binary", "softmax", "softmax_axis", "reduce", "matmul", "rms",
                                "cumsum", "transpose", "merge", "concat", "gram", "rms2", "stretch",
                                "merge", "split", "split", "join", "slice", "gather", "layer_norm"])
        if kind == "unary":
            self.add(f"{self.rng.choice(['Exp', 'Relu', 'Cos'])}(%{name})", dims)
        elif kind == "binary":
            self.add(f"Add(%{name}, %{name})", dims)
        elif kind == "softmax":
            self.add(f"Softmax(%{name})", dims)
        elif kind == "softmax_axis":
            self.add(f"SoftmaxV2(%{name}) {{axes = [{axis - len(dims)}]}}", dims)
        elif kind == "reduce":
            self.add(f"Reduce{self.rng.choice(['Sum', 'Max'])}D(%{name}) {{axes = [{axis}], keep_dims = true}}",
                     dims[:axis] + ["1"] + dims[axis + 1:])
        elif kind == "matmul" and dims[last] == "8" and last == 1:
            self.add(f"MatMul(%{name}, %w)", dims)
        elif kind == "stretch":
            rows = ["b", "s", "8"]
            self.add(f"Sub(%{self.rng.choice([at for at, dims in self.values if dims == rows])}, %m)", rows)
        elif kind == "rms" and dims[last] == "8":
            self.norm(name, dims, "g", 1)
        elif kind == "rms2" and dims[-2:] == ["s", "8"]:
            self.norm(name, dims, "g2", 2)
        elif kind == "cumsum":
            back = self.rng.choice(["", ", reverse = true"])
            self.add(f"CumsumD(%{name}) {{axis = {axis}{back}}}", dims)
        elif kind == "transpose" and last == 2:
            order = self.rng.sample(range(3), 3)
            self.add(f"TransposeD(%{name}) {{perm = {order}}}", [dims[i] for i in order])
        elif kind == "merge" and axis < last and "1" not in dims[axis:axis + 2]:
            merged = "*".join(dims[axis:axis + 2]) if not dims[axis].isdigit() else None
            if merged and dims[axis + 1].isdigit():
                merged = f"{dims[axis + 1]}*{dims[axis]}"
            if merged and merged.count("*") == 1:
                self.add(f"Reshape(%{name})", dims[:axis] + [merged] + dims[axis + 2:])
        elif kind == "split" and any("*" in dim for dim in dims):
            axis = next(i for i, dim in enumerate(dims) if "*" in dim)
            parts = dims[axis].split("*")
            if parts[0].isdigit():
                parts.reverse()
            self.add(f"Reshape(%{name})", dims[:axis] + parts + dims[axis + 1:])
        elif kind == "join" and dims[axis] == "s":
            joined = dims[:axis] + ["s + 8"] + dims[axis + 1:]
            eights = dims[:axis] + ["8"] + dims[axis + 1:]
            ones = [other for other, given in self.values if given == eights]
            if ones:
                self.add(f"ConcatD([%{self.rng.choice(ones)}, %{name}]) {{concat_dim = {axis}}}", joined)
        elif kind == "slice":
            offsets = [0] * len(dims)
            size = [-1] * len(dims)
            size[axis] = 1
            if dims[axis] != "1":
                self.add(f"SliceD(%{name}) {{offsets = {offsets}, size = {size}}}",
                         dims[:axis] + [str(size[axis])] + dims[axis + 1:])
        elif kind == "gather" and dims[0] != "1":
            self.add(f"Gather(%{name}, %i)", ["b"] + dims[1:])
        elif kind == "layer_norm" and dims[last] == "8":
            result = f"v{len(self.lines)}"
            types = ", ".join(f"f32[{', '.join(d)}]" for d in (dims, dims[:-1] + ["1"], dims[:-1] + ["1"]))
            self.lines.append(f"    %{result}, %m{result}, %r{result} = LayerNorm(%{name}, %g, %g) "
                              f"{{begin_norm_axis = {last}, begin_params_axis = {last}}} : ({types})")
            self.values.append((result, dims))
        elif kind == "concat" and dims[axis].isdigit() and dims[axis] != "1":
            self.add(f"ConcatD([%{name}, %{name}]) {{concat_dim = {axis}}}",
                     dims[:axis] + [str(2 * int(dims[axis]))] + dims[axis + 1:])
        elif kind == "gram" and last == 1:
            self.add(f"MatMul(%{name}, %{name}) {{transpose_x1 = true}}", [dims[1], dims[1]])
        return without

    def text(self):
        result, dims = self.values[-1]
        body = "\n".join(self.lines)
        return (f"skir 1\ngraph @g({', '.join(self.params)}) dims (n) gears product "
                f"(b = [2, 4], s = [3, 6], c = [2, 4]) -> f32[{', '.join(dims)}] {{\n  scope @s {{\n{body}\n  }}\n  return %{result}\n}}\n")


# ---- Files, and what is said ----

def npy(path, shape, values):
    tap.write(path, tap.npy("<f4", tuple(shape), struct.pack(f"<{len(values)}f", *values)))


def data(path):
    """Shape and values of such a file."""
    with open(path, "rb") as file:
        content = file.read()
    size = 10 + struct.unpack("<H", content[8:10])[0]
    shape = re.search(rb"'shape': \(([^)]*)\)", content).group(1).decode()
    return ([int(dim) for dim in shape.split(",") if dim.strip()],
            list(struct.unpack(f"<{(len(content) - size) // 4}f", content[size:])))


SUM = """skir 1
graph @sum(%x: f32[b, 2], %y: f32[b, 2]) gears zip (b = [2, 4]) -> f32[b, 2] {
  %z = Add(%x, %y) : f32[b, 2]
  return %z
}
"""
for path, text in ("sum.skir", SUM), ("static.skir", SUM.replace("[b,", "[3,").replace(
        "gears zip (b = [2, 4]) ", "")):
    with open(path, "w") as file:
        file.write(text)
npy("x.npy", (3, 2), range(6))
npy("z.npy", (3, 2), [2 * i for i in range(6)])
npy("large.npy", (5, 2), range(10))
given = ["-i", "x=x.npy", "-i", "y=x.npy"]
ran = run("sum.skir", *given, "-o", "z=out.npy", "--expect", "z=z.npy", "--print", "y")
tap.check("files between two gears are padded, and results are cropped",
          ran.returncode == 0 and "padded to b = 4: 4 of 16 elements" in ran.stdout and
          "%z is z.npy" in ran.stdout and "%y: f32[3, 2]" in ran.stdout and ran.stderr == "" and
          data("out.npy") == ([3, 2], [2 * i for i in range(6)]), ran.stdout + ran.stderr)
for other in "static.skir", "exact", "unfused", "stream-fusion=1", "sum.skir":
    option = "--compare=" + (other if other != "sum.skir" else "./sum.skir")
    ran = run("sum.skir", *given, option)
    tap.check(f"what is padded is compared with {other}",
              ran.returncode == 0 and ran.stdout.endswith("; bit-exact\n"), ran.stdout + ran.stderr)
ran = tap.skirc("run", "sum.skir", "--repeat=0", "--bind=b=4", "--compare=./sum.skir")
tap.check("values of names are those of both files",
          ran.returncode == 0 and ran.stdout.endswith("; bit-exact\n"), ran.stdout + ran.stderr)
with open("four.skir", "w") as file:
    file.write(SUM.replace("[b,", "[4,").replace("gears zip (b = [2, 4]) ", ""))
for options in ["--bind=b=4"], ["--shape=x=4,2"]:
    ran = tap.skirc("run", "sum.skir", "--repeat=0", *options, "--compare=four.skir")
    tap.check(f"  and a graph without the name: {options[0]}", ran.returncode == 0 and
              ran.stdout.endswith("; bit-exact\n"), ran.stdout + ran.stderr)
ran = tap.skirc("run", "sum.skir", "--repeat=0", "--bind=q=4", "--compare=four.skir")
tap.check("  but not a name that neither has", ran.returncode == 2 and
          "--bind: no graph declares the dimension 'q'" in ran.stderr, ran.stdout + ran.stderr)
ran = run("sum.skir", "-i", "x=large.npy")
tap.check("a file that nothing has room for", ran.returncode == 1 and
          "no combination of gears has room for b = 5" in ran.stderr and
          "help: the largest is b = 4" in ran.stderr, ran.stdout + ran.stderr)
ran = run("sum.skir", "-i", "x=x.npy", "-i", "y=large.npy")
tap.check("files that are not of one size", ran.returncode == 1 and
          "dimension 0 of '%y' is 3, but 5 by large.npy" in ran.stderr, ran.stdout + ran.stderr)
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
with open("contents.skir", "w") as file:
    file.write("""skir 1
graph @f(%x: f32[b]) gears zip (b = [2, 4]) -> f32[b] {
  %c = Const() {value = {file = "four.npy"}} : f32[b]
  %y = Add(%x, %c)
  return %y
}
""")
npy("four.npy", (4,), range(4))
npy("three.npy", (3,), range(3))
ran = run("contents.skir", "-i", "x=three.npy", "-i", "c=three.npy", "--compare=exact", "--repeat=0")
tap.check("contents that --input names count for the shape itself, too", ran.returncode == 0 and
          ran.stdout.endswith("; bit-exact\n"), ran.stdout + ran.stderr)
with open("advice.skir", "w") as file:
    file.write("""skir 1
graph @f(%x: f32[b, 8], %w: f32[s, 8]) gears zip (b = [2, 4], s = [16, 8]) -> f32[b, 8] {
  %r = Reshape(%w) : f32[?, 16]
  %z = Exp(%x)
  return %z
}
""")
for options, advised in ((["--bind=b=3", "--bind=s=8"], True), (["--bind=b=3"], False),
                         (["--bind=b=2", "--bind=s=10"], True), (["--bind=s=10"], False),
                         (["--bind=b=2", "--bind=s=9"], False), (["--bind=b=5"], False),
                         (["--bind=b=3", "--bind=s=10"], False),
                         (["--shape=x=3,8", "--shape=w=10,8"], False)):
    ran = tap.skirc("run", "advice.skir", "--repeat=0", *options)
    padded = run("advice.skir", *options)
    tap.check(f"padding is advised where it can be done: {' '.join(options)}", ran.returncode == 1 and
              ("--off-gear=pad" in ran.stderr) == advised == (padded.returncode == 0),
              ran.stderr + padded.stdout + padded.stderr)
ran = run("sum.skir", "--shape", "x=2,2", "--compare=exact")
tap.check("a shape that a gear has is not padded", ran.returncode == 0 and
          "padded to" not in ran.stdout and ran.stdout.endswith("; bit-exact\n"),
          ran.stdout + ran.stderr)
ran = run("sum.skir", *given, "--json")
tap.check("padding stands in the JSON", ran.returncode == 0 and json.loads(ran.stdout)["padding"] ==
          {"combination": "b = 4", "elements": 16, "padding": 4}, ran.stdout + ran.stderr)
ran = tap.skirc("run", "sum.skir", "--compare=exact")
tap.check("exact is nothing without padding", ran.returncode == 2 and
          "'--compare=exact' needs '--off-gear=pad'" in ran.stderr, ran.stderr)
ran = tap.skirc("run", "-", "--off-gear=pad", "--compare=exact", stdin=SUM)
tap.check("exact reads the input twice", ran.returncode == 2 and
          "'-' can be read once" in ran.stderr, ran.stderr)
ran = tap.skirc("run", "sum.skir", "--off-gear=crop")
tap.check("what else --off-gear is not", ran.returncode == 2 and
          "'--off-gear' cannot be 'crop', only 'error' or 'pad'" in ran.stderr, ran.stderr)

# ---- Rows that stand for batch and length ----

ROWS = """skir 1
graph @g(%x: f32[b, s, 8], %w: f32[8, 8], %g: f32[8], %y: f32[b*s, 8]) gears product (b = [2, 4], s = [3, 6]) -> f32[RESULT] {
  %rows = Reshape(%x) : f32[b*s, 8]
  %m = MatMul(%rows, %w) : f32[b*s, 8]
  %a = Add(%m, %g) : f32[b*s, 8]
  %n, %r = RmsNorm(%a, %g) : (f32[b*s, 8], f32[b*s, 1])
  %d = Sub(%n, OTHER) : f32[b*s, 8]
  %z = Reshape(%d) : f32[b, s, 8]
  return %VALUE
}
"""
for claim, other, value, result, options, told in (
        ("that all ops treat alike, and a view makes what they were, change nothing", "%a", "z",
         "b, s, 8", [], None),
        ("that are returned are elsewhere", "%a", "d", "b*s, 8", [], "3:11: warning: Reshape may put"),
        ("that are printed are elsewhere", "%a", "z", "b, s, 8", ["--print=rows"],
         "3:11: warning: Reshape may put"),
        ("that go with others which lie otherwise do change", "%y", "z", "b, s, 8", [],
         "7:8: warning: Sub may put"),
        ("that go with one row do not", "%g", "z", "b, s, 8", [], None)):
    with open("rows.skir", "w") as file:
        file.write(ROWS.replace("RESULT", result).replace("OTHER", other).replace("VALUE", value))
    ran = run("rows.skir", "--bind=b=3", "--bind=s=5", "--compare=exact", *options)
    tap.check("rows " + claim, told in ran.stderr if told else ran.returncode == 0 and
              not ran.stderr and ran.stdout.endswith("; bit-exact\n"), ran.stdout + ran.stderr)

# ---- Random graphs without warnings ----

rng = random.Random(20)
silent = warned = different = 0
for number in range(GRAPHS):
    graph = Graph(rng)
    while len(graph.lines) < rng.randint(1, 5):
        graph.step()
    with open("g.skir", "w") as file:
        file.write(graph.text())
    batch, length = rng.choice([(3, 6), (3, 6), (4, 5), (2, 4), (3, 4)])
    shape = ["--bind", f"b={batch}", "--bind", f"s={length}", "--bind", f"c={rng.choice([1, batch])}",
             *rng.choice([["--bind", "n=5"], ["--shape", f"q={batch},5"]])]
    ran = run("g.skir", *shape, "--compare=exact")
    told = "[padding]" in ran.stderr
    exact = ran.returncode == 0 and ran.stdout.endswith("; bit-exact\n")
    differs = ran.returncode == 1 and ran.stdout.endswith("; DIFFERENT\n")
    silent += exact and not told
    warned += told
    different += told and differs
    tap.check(f"graph {number}: no warning, no difference", exact or (told and differs),
              graph.text() + " ".join(shape) + "\n" + ran.stdout + ran.stderr)
tap.check(f"{silent} graphs are silent, and {different} of {warned} others differ",
          GRAPHS < 20 or (silent > GRAPHS / 10 and different > GRAPHS / 10 and warned > different),
          (GRAPHS, silent, warned, different))

tap.done()
