"""GE's notation for gears, both ways: import from options and from attributes of dumps, what is refused,
export, the metadata of NPUs; and round trips of random gears."""

import json
import os
import random
import re
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "30"))


def quoted(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def dump(params, attrs=(), model=False, result="-1"):
    """A graph as GE has it, whose inputs are added up; `attrs` are those of the graph, or model."""
    said = "".join(f'attr {{ key: "{key}" value {{ s: "{quoted(value)}" }} }}\n'
                   for key, value in attrs)
    ops = "".join(
        f'op {{ name: "{name}" type: "Data" attr {{ key: "index" value {{ i: {i} }} }}\n'
        f'  output_desc {{ dtype: DT_FLOAT layout: "ND" shape {{ '
        + " ".join(f"dim: {dim}" for dim in dims) + " } } }\n"
        for i, (name, dims) in enumerate(params))
    inputs = " ".join(f'input: "{name}:0"' for name, _ in params)
    return (('' if not model else said) + f'graph {{\nname: "g"\n{ops}'
            f'op {{ name: "sum" type: "AddN" {inputs}\n'
            f'  output_desc {{ dtype: DT_FLOAT layout: "ND" shape {{ dim: {result} dim: 2 }} }} }}\n'
            f'op {{ name: "out" type: "NetOutput" input: "sum:0" }}\n'
            + ('' if model else said) + '}\n')


def texts(shape, dims, node="1"):
    return [("ge.inputShape", shape), ("ge.dynamicDims", dims), ("ge.dynamicNodeType", node)]


def dressed(params, attrs=()):
    """The same as TorchAir has it for tools of TensorFlow, where the node that returns has the
    attributes."""
    def attr(key, text):
        return f'attr {{ key: "{key}" value {{ s: "{quoted(text)}" }} }}\n'

    def desc(dims):
        dims = " ".join(f"dim: {dim}" for dim in dims)
        return f'dtype: DT_FLOAT layout: "ND" shape {{ {dims} }}'

    nodes = "".join(f'node {{ name: "{name}" op: "Data"\n' + attr("index", f"i: {i}")
                    + attr("[o]y0", desc(dims)) + "}\n" for i, (name, dims) in enumerate(params))
    inputs = " ".join(f'input: "{name}:0"' for name, _ in params)
    said = "".join(attr(key, f's: "{quoted(value)}"') for key, value in attrs)
    return (f'{nodes}node {{ name: "sum" op: "AddN" {inputs}\n{attr("[o]y0", desc([-1, 2]))}}}\n'
            f'node {{ name: "out" op: "NetOutput" input: "sum:0"\n{said}}}\n')


def onnx(params, attrs=()):
    """The same as an ONNX model, whose properties are the attributes."""
    def tensor(field, name, dims):
        shape = " ".join("dim { }" if dim == -1 else f"dim {{ dim_value: {dim} }}" for dim in dims)
        return (f'{field} {{ name: "{name}" type {{ tensor_type {{ elem_type: 1 '
                f'shape {{ {shape} }} }} }} }}\n')

    inputs = " ".join(f'input: "{name}"' for name, _ in params)
    return ("ir_version: 8\nopset_import { version: 13 }\ngraph {\nname: \"g\"\n"
            f'node {{ op_type: "Add" {inputs} output: "sum" }}\n'
            + "".join(tensor("input", name, dims) for name, dims in params)
            + tensor("output", "sum", [-1, 2]) + "}\n"
            + "".join(f'metadata_props {{ key: "{key}" value: "{quoted(value)}" }}\n'
                      for key, value in attrs))


def head(done):
    """The head of the imported graph, in one line."""
    found = re.search(r"^graph .*?\{$", done.stdout, re.M | re.S)
    return " ".join(found.group().split()) if done.returncode == 0 and found else ""


# ---- Import ----

TWO = [("x1", [-1, 2]), ("x2", [-1, 2])]
write("two.txt", dump(TWO))
HEADS = [
    ("x1:-1,2;x2:-1,2", "2,2;4,4",
     "graph @g(%x1: f32[x1_0, 2], %x2: f32[x1_0, 2]) gears zip (x1_0 = [2, 4]) -> f32[x1_0, 2] {"),
    ("x1:-1,2;x2:-1,2", "4,2;2,4",
     "graph @g(%x1: f32[x1_0, 2], %x2: f32[x2_0, 2]) gears zip (x1_0 = [4, 2], x2_0 = [2, 4]) -> "),
    ("x2:-1,2; x1:-1,2", "8,2;2,2;8,4;2,4",
     "graph @g(%x1: f32[x1_0, 2], %x2: f32[x2_0, 2]) gears product (x2_0 = [8, 2], x1_0 = [2, 4]) -> "),
    ("x1:-1,2;x2:-1,2", "2,16;4,16",
     "graph @g(%x1: f32[x1_0, 2], %x2: f32[x2_0, 2]) gears zip (x1_0 = [2, 4], x2_0 = [16, 16]) -> "),
    ("x1:-1,2", "2;4", "graph @g(%x1: f32[x1_0, 2], %x2: f32[?, 2]) gears zip (x1_0 = [2, 4]) -> "),
    ("x1:4,2;x2:4,2", None, "graph @g(%x1: f32[4, 2], %x2: f32[4, 2]) -> f32[4, 2] {"),
]
# How many combinations the sum contradicts: that is told, with who says them.
CONTRADICTED = {"4,2;2,4": "2 of 2", "8,2;2,2;8,4;2,4": "3 of 4", "2,16;4,16": "2 of 2"}


def told(done, key, dims):
    return (f"{key}: {CONTRADICTED[dims]} combinations contradict the graph [import-shapes]" in
            done.stderr and done.stderr.count("warning") == 1
            if dims in CONTRADICTED else done.stderr == "")


for shape, dims, expected in HEADS:
    options = [f"--input-shape={shape}"] + ([f"--dynamic-dims={dims}"] if dims else [])
    done = tap.skirc("import", *options, "two.txt")
    tap.check(f"--input-shape={shape} --dynamic-dims={dims}", head(done).startswith(expected) and
              told(done, "--dynamic-dims", dims), done.stdout + done.stderr)
    for model in False, True:
        attrs = texts(shape, dims) if dims else texts(shape, "")[:1]
        write("attrs.txt", dump(TWO, attrs, model))
        done = tap.skirc("import", "attrs.txt")
        tap.check(f"  the same as attributes of the {'model' if model else 'graph'}",
                  head(done).startswith(expected) and told(done, "ge.dynamicDims", dims),
                  done.stdout + done.stderr)
    attrs = texts(shape, dims) if dims else texts(shape, "")[:1]
    for form, make, name in ("torchair-pbtxt", dressed, "graph"), ("onnx-txt", onnx, "g"):
        write("attrs.txt", make(TWO, attrs))
        done = tap.skirc("import", f"--format={form}", "attrs.txt")
        tap.check(f"  the same in {form}",
                  head(done).startswith(expected.replace("@g", "@" + name)),
                  done.stdout + done.stderr)
write("colon.txt", dump([("a:b:0", [-1, 2])]))
done = tap.skirc("import", "--input-shape=a:b:0:-1,2", "--dynamic-dims=2;3", "colon.txt")
tap.check("the last colon ends a name", '(%"a:b:0": f32[a_b_0_0, 2]) gears zip (a_b_0_0 = [2, 3])'
          in head(done), done.stdout + done.stderr)
write("attrs.txt", dump(TWO, texts("x1:-1,2;x2:-1,2", "2,2;4,4")))
done = tap.skirc("import", "--input-shape=x1:-1,2;x2:-1,2", "--dynamic-dims=3,3;5,5", "attrs.txt")
tap.check("options count over attributes, which is said", "(x1_0 = [3, 5])" in head(done) and re.search(
    r"attrs.txt:\d+:\d+: warning: ge.dynamicDims is '2,2;4,4' here, but --dynamic-dims is '3,3;5,5' "
    r"\[import-shapes\]\n(.*\n)+  help: the options count\n$", done.stderr) and
          done.stderr.count("warning") == 1, done.stdout + done.stderr)
done = tap.skirc("import", "--input-shape=x1:4,2;x2:4,2", "attrs.txt")
tap.check("also where combinations are in the dump alone", "%x1: f32[4, 2]" in head(done) and
          "ge.inputShape is 'x1:-1,2;x2:-1,2' here, but --input-shape is 'x1:4,2;x2:4,2'" in done.stderr
          and "ge.dynamicDims is '2,2;4,4' here, but --dynamic-dims is not given" in done.stderr,
          done.stdout + done.stderr)
done = tap.skirc("import", "--input-shape=x1:-1,2;x2:-1,2", "--dynamic-dims=2,2;4,4", "attrs.txt")
tap.check("but not where they say the same", "(x1_0 = [2, 4])" in head(done) and not done.stderr,
          done.stdout + done.stderr)
write("half.txt", dump(TWO, texts("x1:-1,2;x2:-1,2", "")[:1]))
done = tap.skirc("import", "--input-shape=x1:-1,2;x2:-1,2", "--dynamic-dims=2,2;4,4", "half.txt")
tap.check("nor where the dump says nothing of combinations", "(x1_0 = [2, 4])" in head(done) and
          not done.stderr, done.stdout + done.stderr)
done = tap.skirc("import", "--input-shape=x1:4,2;x2:8,2", "two.txt")
tap.check("shapes that inputs cannot have together are told", done.returncode == 0 and re.match(
    r"two.txt: warning: --input-shape: the graph contradicts these shapes \[import-shapes\]\n"
    r"two.txt:\d+:\d+: note: operand 'x' \[8, 2\] of AddN has ", done.stderr), done.stderr)
write("named.textproto", """ir_version: 8
graph {
  name: "g"
  node { op_type: "Add" input: "x" input: "y" output: "z" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 2 } } } } }
  input { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 2 } } } } }
  output { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 2 } } } } }
}
""")
done = tap.skirc("import", "--input-shape=x:-1,2;y:-1,2", "--dynamic-dims=2,2;4,4", "named.textproto")
tap.check("names that dimensions have stay", head(done) == "graph @g(%x: f32[n, 2], %y: f32[n, 2]) "
          "gears zip (n = [2, 4]) -> f32[n, 2] {", done.stdout + done.stderr)

# ---- What is refused ----

REFUSED = [
    ("", "2,2;4,4", "--input-shape: it is empty"),
    (";x1:-1,2", "2;4", "--input-shape: '' is no NAME:N,N,..."),
    ("x1", "2;4", "--input-shape: 'x1' is no NAME:N,N,..."),
    (":-1,2", "2;4", "--input-shape: ':-1,2' is no NAME:N,N,..."),
    ("x1:-1,b", "2;4", "--input-shape: 'x1:-1,b' is no NAME:N,N,..."),
    ("x1:-2,2", "2;4", "--input-shape: 'x1:-2,2' is no NAME:N,N,..."),
    ("x1:99999999999999999999,2", "2;4", "is no NAME:N,N,..."),
    ("x1:" + ",".join("1" * 100), "2;4", "has too many dimensions"),
    (";".join(f"x{i}:2" for i in range(10001)), "2;4", "--input-shape: it has more than 10000 inputs"),
    (";".join(f"x{i}:" + ",".join(["-1"] * 20) for i in range(51)), "2;4",
     "--input-shape: more than 1000 dimensions of inputs are -1"),
    ("x1:-1,2;x1:-1,2", "2,2;4,4", "--input-shape: 'x1' stands twice"),
    ("x1:-1,2;x3:-1,2", "2,2;4,4", "--input-shape: the graph has no input 'x3'; did you mean 'x"),
    ("x1:-1;x2:-1,2", "2,2;4,4", "--input-shape: 'x1' has 2 dimensions in the graph, not 1"),
    ("x1:-1,-1;x2:-1,2", "2,2,2;4,4,4",
     "--input-shape: dimension 1 of 'x1' is 2 in the graph, not -1"),
    ("x1:-1,3;x2:-1,2", "2,2;4,4", "--input-shape: dimension 1 of 'x1' is 2 in the graph, not 3"),
    ("x1:-1,2;x2:-1,2", "", "--dynamic-dims: it is empty"),
    ("x1:4,2;x2:4,2", "2,2;4,4", "--dynamic-dims: no dimension of an input is -1"),
    ("x1:-1,2;x2:-1,2", "2,2", "--dynamic-dims: it has fewer than two combinations"),
    ("x1:-1,2;x2:-1,2", "2,2;4", "--dynamic-dims: '4' has 1 number, but 2 dimensions of inputs are -1"),
    ("x1:-1,2;x2:4,2", "2;4,4", "--dynamic-dims: '4,4' has 2 numbers, but 1 dimension of inputs is -1"),
    ("x1:-1,2;x2:-1,2", "2,2;4,4;", "--dynamic-dims: '' is no list of whole numbers"),
    ("x1:-1,2;x2:-1,2", "2,2;4,x", "--dynamic-dims: '4,x' is no list of whole numbers"),
    ("x1:-1,2;x2:-1,2", "2,2;-1,4", "--dynamic-dims: '-1,4' is no list of whole numbers"),
    ("x1:-1,2;x2:-1,2", "2,2;1,4", "--dynamic-dims: '1,4' has a value below 2, which gears cannot have"),
    ("x1:-1,2;x2:-1,2", "2,2;4,4;2,2", "--dynamic-dims: '2,2' stands twice"),
    ("x1:-1,2;x2:2,2", ";".join(map(str, range(2, 103))),
     "--dynamic-dims: it has more than 100 combinations"),
]
for shape, dims, expected in REFUSED:
    done = tap.skirc("import", f"--input-shape={shape}", f"--dynamic-dims={dims}", "two.txt")
    tap.check(f"refused: {expected[:70]}", done.returncode == 1 and expected in done.stderr and
              "[gear]" in done.stderr and not done.stdout, done.stdout + done.stderr)
    write("attrs.txt", dump(TWO, texts(shape, dims)))
    done = tap.skirc("import", "attrs.txt")
    expected = expected.replace("--input-shape", "ge.inputShape").replace("--dynamic-dims",
                                                                        "ge.dynamicDims")
    tap.check("  as attributes, too", done.returncode == 1 and expected in done.stderr and
              "attrs.txt:" in done.stderr, done.stdout + done.stderr)
    for form, make in ("torchair-pbtxt", dressed), ("onnx-txt", onnx):
        write("attrs.txt", make(TWO, texts(shape, dims)))
        done = tap.skirc("import", f"--format={form}", "attrs.txt")
        tap.check(f"  and in {form}", done.returncode == 1 and expected in done.stderr and
                  re.match(r"attrs.txt:\d+:\d+: ", done.stderr), done.stdout + done.stderr)
done = tap.skirc("import", "--dynamic-dims=2;4", "two.txt")
tap.check("--dynamic-dims alone says nothing", done.returncode == 2 and
          "'--dynamic-dims' needs '--input-shape'" in done.stderr, done.stderr)
write("attrs.txt", dump(TWO, texts("x", "2,2;4,4")[1:]))
done = tap.skirc("import", "attrs.txt")
tap.check("nor does the attribute", done.returncode == 1 and
          "ge.dynamicDims: it needs ge.inputShape" in done.stderr, done.stderr)
write("attrs.txt", dump(TWO, texts("x1:-1,2;x2:-1,2", "2,2;4,4", "0")))
done = tap.skirc("import", "attrs.txt")
tap.check("other nodes than inputs are not known", done.returncode == 1 and
          "ge.dynamicNodeType: it is '0', but only 1, inputs of the graph, is known" in done.stderr,
          done.stderr)
DOUBLED = texts("x1:-1,2;x2:-1,2", "2,2;4,4") + [("ge.dynamicDims", "2,2;8,8")]
for form, text in (("ge-txt", dump(TWO, DOUBLED)), ("ge-txt", dump(TWO, DOUBLED, model=True)),
                   ("torchair-pbtxt", dressed(TWO, DOUBLED)), ("onnx-txt", onnx(TWO, DOUBLED))):
    write("attrs.txt", text)
    done = tap.skirc("import", f"--format={form}", "attrs.txt")
    line = [i + 1 for i, one in enumerate(text.splitlines()) if "8,8" in one][0]
    first = [i + 1 for i, one in enumerate(text.splitlines()) if "4,4" in one][0]
    tap.check(f"two values of one key, in {form}", done.returncode == 1 and
              re.search(rf"^attrs.txt:{line}:\d+: error: ge.dynamicDims: it is '2,2;8,8' here, but another "
                        r"value stands before \[gear\]$", done.stderr, re.M) and
              re.search(rf"^attrs.txt:{first}:\d+: note: here it is '2,2;4,4'$", done.stderr, re.M) and
              "  help: leave one of both away\n" in done.stderr, done.stderr)
write("attrs.txt", dump(TWO, DOUBLED[:-1] + DOUBLED[1:2]))
done = tap.skirc("import", "attrs.txt")
tap.check("the same value twice is one", "(x1_0 = [2, 4])" in head(done) and not done.stderr, done.stderr)
write("attrs.txt", dump(TWO, texts("x1:-1,2;x2:-1,3", "2,2;4,4")))
done = tap.skirc("import", "attrs.txt")
tap.check("what is wrong with a key stands at that key", done.stderr.splitlines()[1].count("ge.inputShape"),
          done.stderr)
write("attrs.txt", dressed(TWO, texts("x1:-1,2;x2:-1,2", "2,2;4,4")).replace(
    's: "s: \\"1\\""', 's: "i: 1"'))
done = tap.skirc("import", "--remarks", "attrs.txt")
tap.check("what is no text is said to be dropped", done.returncode == 0 and
          "remark: the attribute 'ge.dynamicNodeType', which is no text [not-imported]" in done.stderr,
          done.stderr)
done = tap.skirc("import", "--input-shape=x:-1,2;y:-1,2", "--dynamic-dims=2,4;4,2", "named.textproto")
tap.check("one name is one number", done.returncode == 1 and
          "dimension 0 of 'y' is 'n' as another one, which has other values" in done.stderr,
          done.stderr)

# ---- Random gears, there and back ----


def random_graph(rng):
    """A graph with gears of all kinds: its text, and its combinations as GE has them."""
    names = ["b", "c", "n"][:rng.randint(1, 3)]
    product = rng.random() < 0.5
    if product:
        values = {name: rng.sample(range(2, 40), rng.randint(2, 3)) for name in names}
    else:
        count = rng.randint(2, 6)
        values = {name: [rng.randint(2, 9) for _ in range(count)] for name in names}
    dims = [rng.choice(names + ["2*" + names[0] + " + 1", names[0] + "*" + names[-1], "3", "7"])
            for _ in range(rng.randint(0, 3))] + names
    rng.shuffle(dims)
    params = [[] for _ in range(rng.randint(1, 3))]
    for dim in dims:
        rng.choice(params).append(dim)
    rows = [{}]
    if product:
        for name in names:
            rows = [{**row, name: value} for row in rows for value in values[name]]
    else:
        rows = [{name: values[name][i] for name in names} for i in range(count)]
    columns = [dim for param in params for dim in param if not dim.isdigit()]
    tuples = {tuple(eval(dim, dict(row)) for dim in columns) for row in rows}
    gears = ", ".join(f"{name} = {values[name]}" for name in names)
    head = ", ".join(f"%p{i}: f32[{', '.join(param)}]" for i, param in enumerate(params))
    text = (f"skir 1\ngraph @g({head}) gears {'product' if product else 'zip'} ({gears}) -> "
            f"f32[{', '.join(params[0])}] {{\n  %y = Exp(%p0) : f32[{', '.join(params[0])}]\n"
            "  return %y\n}\n")
    shape = ";".join(f"p{i}:" + ",".join(dim if dim.isdigit() else "-1" for dim in param)
                     for i, param in enumerate(params))
    return text, shape, tuples


# How texts appear in a format, and the comments that only skirc writes.
FORMS = {
    "ge-txt": r'key: "(ge\.\w+)"\s+value \{\s+s: "([^"]*)"',
    "torchair-pbtxt": r'key: "(ge\.\w+)"\s+value \{\s+s: "s: \\"([^"]*)\\"\\n"',
    "onnx-txt": r'key: "(ge\.\w+)"\s+value: "([^"]*)"',
}


def without_comments(dumped):
    return re.sub(r"(?m)^#.*\n", "", dumped)


def attrs_of(form, dumped):
    """GE's texts in a dump, the combinations as a set."""
    found = dict(re.findall(FORMS[form], dumped))
    rows = [tuple(map(int, row.split(","))) for row in found.get("ge.dynamicDims", "0").split(";")]
    return found.get("ge.inputShape"), set(rows), len(rows), found.get("ge.dynamicNodeType")


def try_form(form, text, wanted):
    exported = tap.skirc("export", f"--format={form}", "r.skir")
    if not wanted:
        tap.check("  one combination alone is nothing to GE", "ge.inputShape" not in exported.stdout,
                  text + exported.stdout)
        return
    tap.check(f"  export to {form} has all combinations", attrs_of(form, exported.stdout) == wanted,
              text + str((attrs_of(form, exported.stdout), wanted)) + exported.stderr)
    write("r.txt", exported.stdout)
    back = tap.skirc("import", f"--format={form}", "--keep-attrs=all", "r.txt")
    same = tap.skirc("fmt", "-o", "-", "r.skir").stdout
    tap.check("  with what skirc adds it is the same module", back.stdout == same,
              back.stdout + same + back.stderr)
    foreign = without_comments(exported.stdout)
    write("foreign.txt", foreign)
    imported = tap.skirc("import", f"--format={form}", "foreign.txt", "-o", "foreign.skir")
    again = tap.skirc("export", f"--format={form}", "foreign.skir")
    tap.check("  and without that the same combinations", foreign != exported.stdout and
              imported.returncode == 0 and attrs_of(form, again.stdout) == wanted,
              text + imported.stderr + again.stderr + str((attrs_of(form, again.stdout), wanted)))


rng = random.Random(9)
for number in range(COUNT):
    text, shape, tuples = random_graph(rng)
    write("r.skir", text)
    sound = tap.skirc("check", "--no-lower", "r.skir")
    alone = len(tuples) < 2 or sound.returncode
    tap.check(f"gears {number}", True)
    for form in FORMS:
        try_form(form, text, None if alone else (shape, tuples, len(tuples), "1"))

# ---- Combinations that the graph contradicts ----

CLASH = """skir 1
graph @g(%x: f32[b, 2], %y: f32[c, 2]) gears product (b = [2, 4, 8], c = [VALUES]) -> f32[b, 2] {
  %z = Add(%x, %y) : f32[b, 2]
  return %z
}
"""
for values, wanted, gears, left in (
        ("4, 2", {(2, 2), (4, 4)}, r" gears zip \((x_0 = \[2, 4\]|b = \[2, 4\], c = \[2, 4\])\) ", "4 of 6"),
        ("4, 16", {(0,)}, r" -> f32\[", "5 of 6"),
        ("16, 32", None, "", "6 of 6")):
    write("r.skir", CLASH.replace("VALUES", values))
    for form in FORMS:
        done = tap.skirc("export", f"--format={form}", "r.skir")
        said = "error: " if wanted is None else "warning: "
        tap.check(f"export to {form} says that {left} are left out", re.match(
            rf"r.skir:2:55: {said}{left} combinations of gears contradict the graph", done.stderr) and
            "note: with b = 2, c = " in done.stderr, done.stderr)
        if wanted is None:
            tap.check("  and writes nothing where none is left", done.returncode == 1 and not done.stdout,
                      done.stdout)
            continue
        tap.check("  and lists the others alone", done.returncode == 0 and
                  attrs_of(form, done.stdout)[1] == wanted, done.stdout)
        write("r.txt", done.stdout)
        back = tap.skirc("import", f"--format={form}", "r.txt")
        tap.check("  with what skirc adds it is the same module", not back.stderr and back.stdout ==
                  tap.skirc("fmt", "-o", "-", "r.skir").stdout, back.stdout + back.stderr)
        write("r.txt", without_comments(done.stdout))
        back = tap.skirc("import", f"--format={form}", "r.txt", "-o", "back.skir")
        again = tap.skirc("export", f"--format={form}", "back.skir")
        with open("back.skir", encoding="utf-8") as file:
            text = " ".join(file.read().split())
        tap.check("  and without it those alone, silently", re.search(gears, text) and not back.stderr and
                  not again.stderr and attrs_of(form, again.stdout)[1] == wanted,
                  text + back.stderr + again.stderr)
done = tap.skirc("export", "--format=json", "r.skir")
tap.check("formats that list no combinations have gears as they are", done.returncode == 0 and
          not done.stderr, done.stderr)

write("two.skir", """skir 1
graph @g(%x: f32[b, 2]) gears zip (b = [2, 4]) -> f32[b, 2] {
  %y = Exp(%x) : f32[b, 2]
  return %y
}
""")
exported = tap.skirc("export", "--format=ge-txt", "two.skir").stdout
write("changed.txt", exported.replace('"2;4"', '"2;8"'))
done = tap.skirc("import", "changed.txt")
tap.check("a text that was changed counts, not the module of export", done.returncode == 0 and
          "the text has changed since [exported-module]" in done.stderr and
          re.search(r"gears zip \(\w+ = \[2, 8\]\)", done.stdout), done.stderr + done.stdout)
done = tap.skirc("import", "-", stdin=without_comments(exported.replace('"2;4"', '"2;8"')))
tap.check("without its comments there is no warning", done.returncode == 0 and not done.stderr,
          done.stderr)
write("two.txt", exported)
done = tap.skirc("import", "--input-shape=x:-1,2", "--dynamic-dims=2;8", "two.txt")
tap.check("options count, too", done.returncode == 0 and
          "'--input-shape' changes it [exported-module]" in done.stderr and
          re.search(r"gears zip \(\w+ = \[2, 8\]\)", done.stdout), done.stderr + done.stdout)
for text, column, why in (
        ("graph @g(%x: f32[b, ?])", 10, "gears do not give all of its dimensions"),
        ("graph @g(%x: f32[b, n]) dims (n)", 10, "gears do not give all of its dimensions"),
        ("graph @g(%x: f32[b, 2], %y: ?[..])", 25, "how many dimensions it has is not known"),
        ('graph @g(%x: f32[b, 2], %"a;b": f32[2])', 25, "its name has a semicolon"),
        ('graph @g(%x: f32[b, 2], %"^a": f32[2])', 25, "no node can have its name")):
    write("unsaid.skir", "skir 1\n" + text + " gears zip (b = [2, 4]) -> () {\n}\n")
    for form in "ge-txt", "torchair-pbtxt", "onnx-txt":
        done = tap.skirc("export", "--format=" + form, "unsaid.skir")
        tap.check(f"GE has no words for {text}, in {form}", done.returncode == 0 and
                  "ge." not in done.stdout and f"unsaid.skir:2:{column}: warning: {form} does not list "
                  f"the combinations of gears: {why} [gears-unsaid]" in done.stderr,
                  done.stdout + done.stderr)
        write("unsaid.txt", done.stdout)
        back = tap.skirc("import", "--format=" + form, "unsaid.txt")
        tap.check("  but import takes back what skirc has added", "gears zip (b = [2, 4])" in head(back),
                  back.stdout + back.stderr)

# ---- Metadata for NPUs ----

for kind, schema in ("meta", "kernel-meta"), ("compile-info", "compile-info"):
    with open(os.path.join(tap.SOURCE, "docs", schema + ".schema.json")) as file:
        schema = json.load(file)
    example = os.path.join(tap.SOURCE, "docs", "examples", "decoder_gears.skir")
    done = tap.skirc("compile", "--target=ascend", f"--emit={kind}", example, "-o", kind + ".json")
    if not tap.check(f"{kind} of a graph with gears", done.returncode == 0, done.stderr):
        continue
    with open(kind + ".json") as file:
        found = json.load(file)
    error = jsonschema and jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(schema).iter_errors(found))
    tap.check("  is as its schema says", not error, error)
    table = found["gears"][0]
    tap.check("  has the table", (len(found["gears"]), table["graph"], table["dims"]) == (
        1, "decoder_gears", [{"name": "x", "param": 0, "dim": 0}, {"name": "x", "param": 0, "dim": 1}])
        and [row["shape"] for row in table["cases"]] == [[2, 16], [2, 32], [4, 16], [4, 32]], table)
    tap.check("  in GE's notation, too", table["ge.inputShape"].startswith("x:-1,-1,64;g1:64;") and
              (table["ge.dynamicDims"], table["ge.dynamicNodeType"]) == ("2,16;2,32;4,16;4,32", "1"),
              table)
    name, blocks = ("kernelName", "blockDim") if kind == "meta" else ("kernel_name", "block_num")
    entries = {entry[name]: entry for entry in found["entries"]}
    rows = [launch for row in table["cases"] for launch in row["launches"]]
    tap.check("  whose rows launch the entries", len(rows) == len(entries) == 4 and all(
        row["blockDim"] == entries[row["kernelName"]][blocks] for row in rows), rows)
    if kind == "meta":
        text = tap.skirc("compile", "--emit=entry", example).stdout
        slots = {name: sum(len(one.split(",")) for one in re.findall(r"args (?:\S+ = )?\[(.*)\]", body))
                 for name, body in re.findall(r"^entry @(\w+) (.*?)^}", text, re.M | re.S)}
        tap.check("  with as many parameters", all(
            row["parameters"] == slots[row["kernelName"]] for row in rows), (rows, slots))
done = tap.skirc("where", "meta.json", "--line=1")
tap.check("where reads metadata with gears", "no metadata" not in done.stderr and
          "these are no" not in done.stderr, done.stdout + done.stderr)
for text in '{"entries":[{"entries":[]}]}', '{"entries":[]}', '{"entries":3}':
    write("none.json", text)
    done = tap.skirc("where", "none.json", "--line=1")
    tap.check(f"but not {text}", done.returncode == 1 and done.stderr, done.stdout + done.stderr)

tap.done()
