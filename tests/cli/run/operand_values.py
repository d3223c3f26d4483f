"""What stands in operands: numbers in range are right, one out of range is named, wherever it comes from."""

import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def dims_text(dims):
    return "[" + ", ".join(str(dim) for dim in dims) + "]"


def write_npy(path, dtype, dims, numbers):
    shape = "(" + "".join(f"{dim}, " for dim in dims) + ")"
    header = f"{{'descr': '<{dtype}{'48'[dtype[1:] == '64']}', 'fortran_order': False, 'shape': {shape}}}"
    header = header.replace("<i324", "<i4").replace("<i648", "<i8")
    header += " " * ((-11 - len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<" + "iq"[dtype == "i64"] * len(numbers), *numbers))


# ---- An op of each type, with numbers that it can have, and a place at which others are wrong ----


class Case:
    """op: text with %x ... and the operand as %@; number and wrong of it: a list each. Where the
    error is at one element its place is told, else NONE: it is of all together."""

    def __init__(self, op, name, dims, good, wrong, place, params=None, dtype=None):
        self.op, self.name, self.dims = op, name, dims
        self.good, self.wrong, self.place = good, wrong, place
        self.params = params or {"x": "f32[4, 6]"}
        self.dtype = dtype or RNG.choice(["i32", "i64"])

    def blames(self, name):
        """What is wrong shows at another operand."""
        self.name = name
        return self

    def index(self):
        """As messages begin."""
        if self.place is None or len(self.good) == 1:
            return f"operand '{self.name}'"
        at, place = [], self.place
        for dim in reversed(self.dims):
            at.insert(0, place % dim)
            place //= dim
        return f"element {dims_text(at)} of operand '{self.name}'"


RNG = random.Random(7)


def spoiled(good, *numbers):
    """One element is another."""
    place = RNG.randrange(len(good))
    wrong = list(good)
    wrong[place] = RNG.choice(numbers)
    return good, wrong, place


def gather(op, name="indices", **more):
    dims = RNG.choice([[], [1], [3], [2, 3]])
    n = len(dims) and eval("*".join(map(str, dims))) or 1
    low = more.pop("low", 0)
    good = [RNG.randint(low, 3) for _ in range(n)]
    return Case(op(dims_text([*dims, 6])), name, dims, *spoiled(good, low - 1, 4, 1000), **more)


def reduce(op, dtype="f32"):
    axes = RNG.sample([0, 1], RNG.choice([1, 2]))
    left = [[4, 6][axis] for axis in (0, 1) if axis not in axes]
    good = [RNG.choice([axis, axis - 2]) for axis in axes]
    return Case(f"%y = {op}(%x, %@) : {dtype}{dims_text(left)}", "axes", [len(good)], *spoiled(good, 2, -3),
                {"x": f"{dtype}[4, 6]"})


def axis_of(op, name, good, dims=None):
    return Case(op, name, dims or RNG.choice([[], [1]]), *spoiled([good], 2, -3, 99))


def transpose():
    perm = RNG.sample(range(3), 3)
    shape = [4, 6, 2]
    y = dims_text([shape[axis] for axis in perm])
    perm = [RNG.choice([axis, axis - 3]) for axis in perm]
    return Case(f"%y = Transpose(%x, %@) : f32{y}", "perm", [3], *spoiled(perm, 3, -4), {"x": "f32[4, 6, 2]"})


def twice():
    """An order with an axis twice is wrong as a whole."""
    return Case("%y = Transpose(%x, %@) : f32[4, 4]", "perm", [2], [1, 0], [1, 1], None, {"x": "f32[4, 4]"})


def pad(op, name="paddings", pairs=True):
    before, behind = [RNG.randint(0, 3) for _ in "ab"], [RNG.randint(0, 3) for _ in "ab"]
    y = dims_text([dim + a + b for dim, a, b in zip((4, 6), before, behind)])
    good = [before[0], behind[0], before[1], behind[1]] if pairs else before + behind
    return Case(op.replace("f32Y", "f32" + y), name, [2, 2], *spoiled(good, -1, 99))


def slice_offsets():
    good = [RNG.randint(0, 2), RNG.randint(0, 3)]
    return Case("%y = Slice(%x, %@, %size) : f32[2, 3]", "offsets", [2], *spoiled(good, -1, 5),
                {"x": "f32[4, 6]", "size": ("i32", [2], [2, 3])}, "i32")


def slice_size():
    good = [RNG.choice([2, -1]), 3]
    return Case("%y = Slice(%x, %offsets, %@) : f32[2, 3]", "size", [2], *spoiled(good, -2, 7),
                {"x": "f32[4, 6]", "offsets": ("i32", [2], [2, 1])}, "i32")


def strided(name, good, wrong, place):
    numbers = {"begin": [1, -1], "end": [4, -7], "strides": [1, -2]}
    others = {other: ("i32", [2], numbers[other]) for other in numbers if other != name}
    values = ", ".join("%@" if other == name else "%" + other for other in numbers)
    return Case(f"%y = StridedSlice(%x, {values}) : f32[3, 3]", name, [2], good, wrong, place,
                {"x": "f32[4, 6]", **others}, "i32")


def groups(kind):
    ends = sorted(RNG.randint(0, 4) for _ in range(3))
    good = [ends[0], ends[1] - ends[0], ends[2] - ends[1]] if kind else ends
    return Case(f"%y = GroupedMatmul([%x], [%w], group_list = %@) {{split_item = 3, group_type = 0, "
                f"group_list_type = {kind}}} : f32[4, 2]", "group_list", [3],
                *spoiled(good, -1, 5), {"x": "f32[4, 6]", "w": "f32[3, 6, 2]"}, "i64")


def make_cases():
    cases = [
        gather(lambda y: f"%y = Gather(%x, %@) : f32{y}"),
        gather(lambda y: f"%y = Embedding(%x, %@) : f32{y}"),
        gather(lambda y: f"%y = Gather(%x, %@) {{negative_index_support}} : f32{y}", low=-4),
        gather(lambda y: f"%y = GatherV2(%x, %@, %axis) : f32{y}",
               params={"x": "f32[4, 6]", "axis": ("i64", [], [RNG.choice([0, -2])])}),
        axis_of("%y = GatherV2(%x, %i, %@) : f32[4, 3]", "axis", RNG.choice([1, -1])),
        Case("%y = GatherV2(%x, %i, %@) : f32[4, 3]", "axis", [], [1], [0], None),
        transpose(),
        twice(),
        pad("%y = Pad(%x, %@) : f32Y"),
        pad("%y = PadV3(%x, %@) : f32Y"),
        pad('%y = PadV3(%x, %@) {mode = "reflect", paddings_contiguous = false} : f32Y', pairs=False),
        pad('%y = PadV3(%x, %@) {mode = "edge"} : f32Y'),
        slice_offsets(),
        slice_size(),
        strided("strides", [1, -2], [1, 0], 1),
        strided("end", [4, -7], [4, -5], None),
        strided("begin", [1, -1], [1, -4], None).blames("end"),
        groups(0),
        groups(1),
        *(reduce(op) for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
                                   "ReduceLogSumExp")),
        *(reduce(op, "bool") for op in ("ReduceAll", "ReduceAny")),
        Case("%y = SqueezeV3(%x, %@) : f32[4, 6]", "axes", [1], *spoiled([RNG.choice([1, -2])], 3, -4),
             {"x": "f32[4, 1, 6]"}),
        Case("%y = UnsqueezeV3(%x, %@) : f32[4, 1, 6]", "axes", [1], *spoiled([RNG.choice([1, -2])], 3, -4)),
        Case("%y, %z, %rstd = LayerNormV4(%x, %@) : (f32[4, 6], f32[4, 1], f32[4, 1])", "normalized_shape", [1],
             *spoiled([6], 4, 7)),
        axis_of("%y = ReverseV2(%x, %@) : f32[4, 6]", "axis", RNG.choice([0, 1, -1, -2])),
        Case("%y = Expand(%x, %@) : f32[2, 4, 6]", "shape", [3],
             *spoiled([2, RNG.choice([4, 1]), 6], 5, 0)),
        Case("%y = StridedSliceV3(%x, %begin, %@, %axes) : f32[4, 3]", "end", [1], [4], [9], None,
             {"x": "f32[4, 6]", "begin": ("i32", [1], [1]), "axes": ("i32", [1], [-1])}, "i32"),
        Case("%y = StridedSliceV3(%x, %begin, %end, %@) : f32[4, 3]", "axes", [1], [1], [2], 0,
             {"x": "f32[4, 6]", "begin": ("i32", [1], [1]), "end": ("i32", [1], [4])}, "i32"),
        Case("%y = StridedSliceV3(%x, %begin, %end, strides = %@) : f32[1, 6]", "strides", [1], [2], [0], 0,
             {"x": "f32[4, 6]", "begin": ("i32", [1], [1]), "end": ("i32", [1], [3])}, "i32"),
        pad("%y = PadV2(%x, %@, %v) : f32Y"),
        pad('%y = MirrorPad(%x, %@) {mode = "SYMMETRIC"} : f32Y'),
        Case("%y = GatherElements(%x, %@) {dim = 1} : f32[4, 2]", "index", [4, 2], *spoiled([0, 5, -6, 1] * 2, 6, -7)),
        Case("%y = GatherNd(%x, %@) : f32[2]", "indices", [2, 2], [0, 5, 3, 2], [0, 5, 4, 2], 2),
        Case("%y = ScatterElements(%x, %@, %u) : f32[4, 6]", "indices", [2, 2], *spoiled([0, 3, -4, 1], 4, -5)),
        *(Case(f"%y = {op}(%x, %@, %u) : f32[4, 6]", "indices", [2, 2], [0, 5, -4, 2], [0, 5, 4, 2], 2)
          for op in ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax",
                     "TensorScatterMin", "ScatterNdUpdate", "ScatterNdAdd")),
        Case("%y = ScatterNd(%@, %u, %to) : f32[4, 6]", "indices", [2, 2], [0, 5, -4, 2], [0, 6, -4, 2], 1),
        Case("%y = ScatterNd(%at, %u, %@) : f32[4, 6]", "shape", [2], *spoiled([4, 6], 5, -1)),
        Case("%y = OneHot(%i, %@, %v, %v) : f32[3, 4]", "depth", [], *spoiled([4], 5, -1)),
        axis_of("%y = Cumprod(%x, %@) : f32[4, 6]", "axis", RNG.choice([0, 1, -1, -2])),
        axis_of("%y = ArgMin(%x, %@) : i32[6]", "dimension", RNG.choice([0, -2])),
        axis_of("%y = Cumsum(%x, %@) : f32[4, 6]", "axis", RNG.choice([0, 1, -1, -2])),
        axis_of("%y = CumSum(%x, %@) : f32[4, 6]", "axis", RNG.choice([0, 1, -1, -2])),
        axis_of("%y = ArgMaxV2(%x, %@) : i32[6]", "dimension", RNG.choice([0, -2])),
        axis_of("%y = ArgMax(%x, %@) : i64[4]", "dimension", RNG.choice([1, -1])),
        Case("%y, %z = TopK(%x, %@) : (f32[4, 3], i32[4, 3])", "k", [1], *spoiled([3], 2, 7, -1), dtype="i32"),
        Case("%y, %z = TopKV2(%x, %@) {dim = 0} : (f32[2, 6], i32[2, 6])", "k", [], *spoiled([2], 3, 0)),
        Case("%y = Tile(%x, %@) : f32[8, 18]", "multiples", [2], *spoiled([2, 3], 4, -1)),
        Case("%y = Tile(%x, %@) : f32[8, 18]", "multiples", [2], *spoiled([2, 3], 1 << 62), dtype="i64"),
        Case("%y = BroadcastTo(%x, %@) : f32[2, 4, 6]", "shape", [3],
             *spoiled([2, RNG.choice([4, -1]), 6], 5, 0)),
        Case("%y = Fill(%@, %v) : f32[2, 3]", "dims", [2], *spoiled([2, 3], 4, 0), {"v": "f32[]"}),
        Case("%y = Reshape(%x, %@) : f32[3, 8]", "shape", [2], [3, RNG.choice([8, -1])], [4, 8], None),
        Case("%y = ExpandDims(%x, %@) : f32[4, 6, 1]", "axis", [], *spoiled([RNG.choice([2, -1])], 3, -4)),
        Case("%y = ConcatV2([%x, %x], %@) : f32[8, 6]", "concat_dim", [], [RNG.choice([0, -2])], [1], None),
        Case("%y, %z = SplitV(%x, %@, %axis) : (f32[4, 2], f32[4, 4])", "size_splits", [2],
             *spoiled([RNG.choice([2, -1]), 4], 3, 0), {"x": "f32[4, 6]", "axis": ("i64", [1], [1])}),
        axis_of("%y, %z = SplitV(%x, %parts, %@) : (f32[4, 2], f32[4, 4])", "split_dim", 1),
        gather(lambda y: f"%y = ScatterUpdate(%x, %@, %u) : f32[4, 6]"),
    ]
    for case in cases:
        if "%i," in case.op:
            case.params["i"] = ("i32", [3], [0, 1, 2])
        if "%parts" in case.op:
            case.params["parts"] = ("i32", [2], [2, 4])
        for name, of in (("%at", ("i32", [2, 2], [0, 1, 2, 3])), ("%to", ("i32", [2], [4, 6])), ("%v", "f32[]"),
                         ("%u", "f32[2, 2]" if "Elements" in case.op else "f32[2]")):
            if name + ")" in case.op or name + "," in case.op:
                case.params.setdefault(name[1:], of)
        if "= ScatterUpdate" in case.op:
            case.dims, case.good, case.wrong, case.place = [2], [3, 1], [3, 4], 1
            case.params["u"] = "f32[2, 6]"
    return cases


# ---- A graph of all of them, each with numbers of its own ----


class Program:
    """`source` is where the numbers come from: "input", "const", "op" or "default"."""

    def __init__(self, cases, wrong, source):
        self.options, self.lines = [], []
        params, body = [], []
        for n, case in enumerate(cases):
            op, numbers = case.op, case.wrong if wrong else case.good
            names = sorted(case.params, key=len, reverse=True)
            for name in (*names, "y", "z"):
                op = op.replace("%" + name, f"%{name}_{n}")
            for name in names:
                of = case.params[name]
                text = of if isinstance(of, str) else f"{of[0]}{dims_text(of[1])}"
                if not isinstance(of, str) and source == "const":
                    body.append(f"%{name}_{n} = Const() {{value = {dims_text(of[2])}}} : {text}")
                    continue
                params.append(f"%{name}_{n}: {text}")
                if not isinstance(of, str) and source != "default":
                    self.give(f"{name}_{n}", *of)
            type_text = f"{case.dtype}{dims_text(case.dims)}"
            value = f"%n_{n}"
            if source == "const":
                body.append(f"%n_{n} = Const() {{value = {dims_text(numbers)}}} : {type_text}")
            else:
                params.append(f"%n_{n}: {type_text}")
                if source != "default":
                    self.give(f"n_{n}", case.dtype, case.dims, numbers)
            if source == "op":
                body.append(f"%m_{n} = Adds(%n_{n}) {{value = 0}} : {type_text}")
                value = f"%m_{n}"
            body.append(op.replace("%@", value))
            self.lines.append(len(body))
        head = f"skir 1\ngraph @g({', '.join(params)}) -> () {{\nscope @s {{\n"
        self.lines = [line + head.count("\n") for line in self.lines]
        write("p.skir", head + "\n".join(body) + "\n}\n}\n")

    def give(self, name, dtype, dims, numbers):
        write_npy(name + ".npy", dtype, dims, numbers)
        self.options.append(f"--input={name}={name}.npy")

    def run(self):
        return tap.skirc("run", "p.skir", "--repeat=0", "--max-errors=1000", *self.options, timeout=240)

    def check(self):
        return tap.skirc("check", "p.skir", "--max-errors=1000", timeout=240)


def errors_of(done):
    """Their lines, and texts up to the type."""
    found = []
    for line in done.stderr.splitlines():
        if ": error: " in line:
            place, text = line.split(": error: ")
            found.append((int(place.split(":")[1]), text))
    return found


def are_named(claim, done, program, cases):
    """An error for each case, at its op, that names what is wrong, and no other."""
    wanted = [(line, case) for line, case in zip(program.lines, cases)]
    found = errors_of(done)
    ok = done.returncode == 1 and len(found) == len(wanted)
    for (line, text), (at, case) in zip(sorted(found), wanted):
        if line != at or not text.startswith(case.index()) or not text.endswith("[operand-value]"):
            return tap.check(claim, False, f"{line}: {text}\nwanted {at}: {case.index()} of {case.op}")
    return tap.check(claim, ok, f"status {done.returncode}: {done.stdout}{done.stderr}")


def is_right(claim, done):
    return tap.check(claim, done.returncode == 0 and not done.stderr,
                     f"status {done.returncode}: {done.stdout}{done.stderr}")


for seed in range(2):
    RNG.seed(seed)
    cases = make_cases()
    for source in "input", "op":
        is_right(f"numbers in range: {source} {seed}", Program(cases, False, source).run())
        program = Program(cases, True, source)
        are_named(f"one out of range is named: {source} {seed}", program.run(), program, cases)
    program = Program(cases, False, "const")
    is_right(f"constants in range: {seed}", program.check())
    program = Program(cases, True, "const")
    are_named(f"one out of range is refused: {seed}", program.check(), program, cases)

plain = [case for case in cases if "StridedSlice" not in case.op]
for seed in "1", "2":
    done = Program(plain, False, "default").run()
    is_right(f"inputs that nobody gives are in range: {seed}",
             tap.skirc("run", "p.skir", "--repeat=0", "--seed=" + seed, timeout=240))

covered = {case.op.split("= ")[1].split("(")[0] for case in cases}
known = {"MoeDistributeDispatch", "ScatterNdUpdate"}  # there is no kernel: tests/golden/verify
for name in tap.skirc("opt", "--op-type=all").stdout.splitlines():
    name = name.split()[0] if name.startswith("  ") else ""
    if name and "\n  values " in tap.skirc("opt", "--op-type=" + name).stdout:
        known.add(name)
tap.check("all types that say what may stand in operands are tried",
          known - covered <= {"MoeDistributeDispatch", "ScatterNdUpdate", "GroupedMatMul"}, known - covered)

# ---- Where numbers come from ----

NAMED = "operand 'indices' of Gather is 4, but must be 0 to 3"


def is_named(claim, name, *options, line, text=NAMED, count=1):
    done = tap.skirc("run", name, "--repeat=0", *options)
    found = errors_of(done)
    tap.check(claim, done.returncode == 1 and len(found) == count and found[0][0] == line and
              text in found[0][1], f"status {done.returncode}: {done.stdout}{done.stderr}")
    return done


write("called.skir", """skir 1
graph @pick(%x: f32[4, 2], %i: i32[]) -> f32[2] {
  %y = Gather(%x, %i) : f32[2]
  return %y
}
graph @g(%x: f32[4, 2], %i: i32[]) -> f32[2] {
  %y = PartitionedCall(%x, %i) {f = @pick} : f32[2]
  return %y
}
""")
is_named("in a graph that is called", "called.skir", "-i", "i=4", line=3)
is_right("whose caller's inputs are in range", tap.skirc("run", "called.skir", "--repeat=0"))

write("loop.skir", """skir 1
graph @go(%i: i32[], %x: f32[4, 2], %y: f32[2]) -> bool[] {
  %last = Const() {value = LAST} : i32[]
  %c = LessEqual(%i, %last) : bool[]
  return %c
}
graph @step(%i: i32[], %x: f32[4, 2], %y: f32[2]) -> (i32[], f32[4, 2], f32[2]) {
  %r = Gather(%x, %i) : f32[2]
  %n = Adds(%i) {value = 1} : i32[]
  return %n, %x, %r
}
graph @g(%x: f32[4, 2], %y: f32[2]) -> f32[2] {
  %zero = Const() {value = 0} : i32[]
  %i, %xx, %r = While(%zero, %x, %y) {cond = @go, body = @step} : (i32[], f32[4, 2], f32[2])
  return %r
}
""")
text = open("loop.skir").read()
write("loop.skir", text.replace("LAST", "3"))
is_right("in all iterations of a loop", tap.skirc("run", "loop.skir", "--repeat=0"))
write("loop.skir", text.replace("LAST", "4"))
is_named("in the last iteration of a loop", "loop.skir", line=8)

write("for.skir", """skir 1
graph @step(%n: i32[], %x: f32[9, 2], %i: i32[2], %y: f32[2, 2]) -> (f32[9, 2], i32[2], f32[2, 2]) {
  %r = Gather(%x, %i) : f32[2, 2]
  %s = Gather(%x, %n) : f32[2]
  return %x, %i, %r
}
graph @g(%to: i32[], %x: f32[9, 2], %i: i32[2], %y: f32[2, 2]) -> f32[2, 2] {
  %from = Const() {value = 0} : i32[]
  %by = Const() {value = 1} : i32[]
  %xx, %ii, %r = For(%from, %to, %by, %x, %i, %y) {body = @step} : (f32[9, 2], i32[2], f32[2, 2])
  return %r
}
""")
for seed in "12345678":
    is_right(f"inputs of what a loop calls, behind its own: {seed}",
             tap.skirc("run", "for.skir", "--repeat=0", "-i", "to=9", "--seed=" + seed))
is_named("and what the loop counts", "for.skir", "-i", "to=10", line=4,
         text="operand 'indices' of Gather is 9, but must be 0 to 8")

write("rewritten.skir", """skir 1
graph @g(%x: f32[4, 2], %v: i32[], %w: i32[]) -> (f32[2], f32[2]) {
  scope @s {
    %i = Adds(%v) {value = 0} : i32[]
    %a = Gather(%x, %i) : f32[2]
    %j = Adds(%i) {value = VALUE, inplace = [0], alias = [0]} : i32[]
    %b = Gather(%x, %j) : f32[2]
  }
  return %a, %b
}
""")
text = open("rewritten.skir").read()
write("rewritten.skir", text.replace("VALUE", "2"))
is_right("before and behind an update in place",
         tap.skirc("run", "rewritten.skir", "--repeat=0", "-i", "v=1"))
is_named("behind an update in place", "rewritten.skir", "-i", "v=2", line=7)
write("rewritten.skir", text.replace("VALUE", "-2"))
is_named("before an update in place that makes it right", "rewritten.skir", "-i", "v=4", line=5)

write("views.skir", """skir 1
graph @g(%x: f32[4, 2], %i: i32[2, 2]) -> f32[4, 2] {
  %f = Reshape(%i) : i32[4]
  %y = Gather(%x, %f) : f32[4, 2]
  return %y
}
""")
is_right("inputs that are seen otherwise are in range", tap.skirc("run", "views.skir", "--repeat=0"))
done = is_named("or named as they are seen", "views.skir", "-i", "i=arange:1", line=4,
                text="element [3] of operand 'indices' of Gather is 4, but must be 0 to 3")
tap.check("with the option that gives it others", "help: --input i=rand:0..3 gives it numbers that are right" in done.stderr, done.stderr)

write("scatter.skir", """skir 1
graph @g(%v: f32[2, 2], %i: i32[2], %u: f32[2, 2]) -> f32[2, 2] {
  %w = ScatterUpdate(%v, %i, %u) : f32[2, 2]
  return %w
}
""")
is_named("also where results happen to be written", "scatter.skir", "-i", "i=arange:1", line=3,
         text="element [1] of operand 'indices' of ScatterUpdate is 2, but must be 0 to 1")
done = tap.skirc("run", "scatter.skir", "--repeat=0", "--trust-kernels", "-i", "i=arange:1", "-i", "v=0",
                 "-i", "u=7", "--print=w")
tap.check("unless that is trusted: then nothing is written there",
          done.returncode == 0 and "[[0 0]\n   [7 7]]" in done.stdout, done.stdout + done.stderr)
write("scatter.skir", open("scatter.skir").read().replace("%u)", "%u) {_unchecked, inplace = [0], alias = [0]}"))
is_right("or the op is not held to its type", tap.skirc("run", "scatter.skir", "--repeat=0", "-i", "i=arange:1"))

write("two.skir", open("views.skir").read().replace("%f =", "%s = SliceD(%x) {offsets = [0, 0], size = [3, 2]} "
                                                    ": f32[3, 2]\n  %f =").replace("Gather(%x", "Gather(%s"))
done = tap.skirc("run", "views.skir", "--repeat=0", "-i", "i=3", "--compare=two.skir")
tap.check("each of two graphs is looked at", done.returncode == 1 and "two.skir:5:" in done.stderr and
          "is 3, but must be 0 to 2" in done.stderr, done.stdout + done.stderr)

# ---- Types of one's own ----

os.mkdir("own")
write("own/own.ops.json", """{"Own": {"operands": ["x", "n"], "results": ["y"], "dtypes": {"n": "i32"},
  "shape": ["x = [..r, k]", "y = x"], "values": {"n": "1 .. k"}}}""")
write("own.skir", """skir 1
graph @g(%x: f32[4, 2]) -> f32[4, 2] {
  %n = Const() {value = 3} : i32[]
  %y = Own(%x, %n) : f32[4, 2]
  return %y
}
""")
done = tap.skirc("check", "--no-lower", "--kernel-dir=own", "own.skir")
tap.check("a type of one's own says what may stand in its operands",
          done.returncode == 1 and "operand 'n' of Own is 3, but must be 1 to 2 by '1 .. k'" in done.stderr,
          done.stderr)
tap.done()
