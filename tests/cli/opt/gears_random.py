"""Random graphs with gears: each combination is the static graph that somebody would write with its
numbers, down to entries, blocks and barriers, and gives the same bits; those that no static graph
could have are left out. What of modules of all that the language has becomes of gears, too.

SKIR_TEST_COUNT says how many graphs of either kind, SKIR_TEST_SEED which is the first, by default
the same ones each time.
"""

import itertools
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import random_gears
import random_modules
import tap
from tap import write

FIRST = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "20"))
MAX_ROWS = 4  # of a graph that are run
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def parts(text):
    """{'graph @f_b2': its text} of a printed module, in which events have the names that they have
    where there is no other graph."""
    text = re.sub(r"\b(v\d+)_\d+\b", r"\1", text)
    pieces = re.split(r"(?m)^(?=(?:graph|entry|kernel|target) )", text)
    return {" ".join(re.match(r'\w+ @?(?:"(?:[^"\\]|\\.)*"|[^\s(:]+)', piece).group().split()):
            piece.strip() for piece in pieces[1:]}


def opt(path, passes):
    ran = tap.skirc("opt", f"--passes={passes}", "-o", "out.skir", path)
    if ran.returncode:
        return ran.returncode, "", ran.stderr
    with open("out.skir", encoding="utf-8", errors="surrogateescape") as file:
        return 0, file.read(), ran.stderr


def row_name(row):
    return "g" + "".join(f"_{name}{value}" for name, value in row.items())


# ---- Graphs that can be run ----


def table(text):
    """The names in the table of combinations."""
    return re.findall(r"(?m)^  \[[\d, ]+\] @(\S+)$", text)


def compare_parts(expanded, static):
    """What of the static module the expanded one does not have, as text."""
    return "\n".join(f"not found, or otherwise:\n{text}\nis:\n{expanded.get(name)}"
                     for name, text in static.items() if expanded.get(name) != text)


def run_row(graph, row):
    ran = tap.skirc("run", "g.skir", *graph.shapes(row), "--compare=s.skir", "--repeat=0")
    return "" if ran.returncode == 0 and "bit-exact" in ran.stdout else ran.stdout + ran.stderr


def refused_row(graph, row):
    ran = tap.skirc("run", "g.skir", *graph.shapes(row), "--repeat=0")
    return "" if ran.returncode == 1 and "error: " in ran.stderr else ran.stdout + ran.stderr


def judge_row(graph, row, expanded, run):
    """What is wrong with a combination, or nothing; and whether there can be one."""
    static = graph.static(row).replace("graph @g(", f"graph @{row_name(row)}(")
    write("s.skir", static)
    status, text, _ = opt("s.skir", "default")
    if status:
        there = f"graph @{row_name(row)}" in expanded
        return ("it is not left out" if there else refused_row(graph, row) if run else ""), False
    return compare_parts(expanded, parts(text)) or (run_row(graph, row) if run else ""), True


def judge_graph(seed):
    graph = random_gears.Geared(seed)
    write("g.skir", graph.text())
    status, text, errors = opt("g.skir", "default")
    expanded, wrong, good = parts(text), [], 0
    for i, row in enumerate(graph.rows):
        run = len(graph.rows) <= MAX_ROWS or i * MAX_ROWS % len(graph.rows) < MAX_ROWS
        fault, possible = judge_row(graph, row, expanded, run)
        good += possible
        if fault:
            wrong.append(f"{row}: {fault}")
    if status != (good == 0) or len(table(text)) != good:
        wrong.append(f"status {status}, {good} combinations are possible\n{errors}")
    return good, len(graph.rows) - good, "\n".join([*wrong, graph.text()] if wrong else [])


faults, good, left_out = [], 0, 0
for seed in range(FIRST, FIRST + COUNT):
    row_good, row_bad, fault = judge_graph(seed)
    good, left_out = good + row_good, left_out + row_bad
    if fault:
        faults.append(f"SKIR_TEST_SEED={seed} SKIR_TEST_COUNT=1\n{fault}")
print(f"# seeds {FIRST} to {FIRST + COUNT - 1}: {good} combinations, {left_out} that no graph can "
      "have")
tap.check("each combination is the static graph with its numbers, and gives its bits",
          not faults and good, "\n".join(faults[:3]))

# ---- Modules of all that the language has ----


class Marked(random_modules.Maker):
    """Dimensions with names stand between marks, so that numbers can be put in their place."""

    def dim(self):
        dim = super().dim()
        return f"\x01{dim}\x02" if dim in [*self.dims, *self.sums] else dim


NAME = r'@(?:"(?:[^"\\]|\\.)*"|[A-Za-z_0-9.$]+)'


def numbers(text, row):
    """With numbers in the place of names: between the marks, and in the parameter that has them
    all."""
    text = text.replace(f"f32[{', '.join(row)}]", f"f32[{', '.join(map(str, row.values()))}]")
    return re.sub("\x01(.*?)\x02", lambda dim: str(eval(
        re.sub(r"[A-Za-z_]\w*", lambda name: str(row[name.group()]), dim.group(1)))), text)


def unmarked(text):
    return re.sub("[\x01\x02]", "", text)


def renamed(name, row):
    tail = "".join(f"_{key}{value}" for key, value in row.items())
    return name[:-1] + tail + '"' if name.endswith('"') else name + tail


def static_module(text, row):
    """A marked module in which the graph with gears is the one of a row, how it was called, and how
    that is."""
    pieces = re.split(r"(?m)^(?=(?:graph|entry|kernel|target) )", text)
    at, = (i for i, piece in enumerate(pieces) if " gears " in piece.split("\n")[0])
    piece = numbers(re.sub(r" gears \w+ \(.*?\) ->", " ->", pieces[at], count=1), row)
    for name in re.findall(rf"(?m)^ *superkernel ({NAME})", piece):
        piece = re.sub(rf"{re.escape(name)}(?![\w.$])",
                       lambda found: renamed(found.group(), row), piece)
    graph = re.match(rf"graph ({NAME})", piece).group(1)
    pieces[at] = piece.replace(graph, renamed(graph, row), 1)
    pieces.append(f"graph {graph}() -> () {{\n}}\n")  # others may name it
    return unmarked("".join(pieces)), graph, renamed(graph, row)


def gears_of(text):
    mode, gears = re.search(r" gears (\w+) \((.*?)\) ->", text).groups()
    gears = {name: eval(values) for name, values in re.findall(r"(\w+) = (\[.*?\])", gears)}
    rows = zip(*gears.values()) if mode == "zip" else itertools.product(*gears.values())
    return [dict(zip(gears, row)) for row in rows]


def judge_module(text):
    """What is wrong with the combinations of a marked module, and how many there are."""
    write("g.skir", unmarked(text))
    if tap.skirc("check", "--no-lower", "g.skir").returncode:
        return "", 0
    _, printed, errors = opt("g.skir", "expand-gears")
    wrong, good = [], 0
    for row in gears_of(unmarked(text)):
        static, geared, graph = static_module(text, row)
        write("s.skir", static)
        status, told, why = opt("s.skir", "")
        good += status == 0
        if status == 0:
            told = parts(told)
            told.pop(f"graph {geared}")
            wrong.append(compare_parts(parts(printed), told))
        elif f"graph {graph}(" in printed:
            wrong.append(f"{row} is not left out: {why}")
    if not good and not errors:
        wrong.append("nothing is left, which is no error")
    wrong = "\n".join(filter(None, wrong))
    return wrong and f"{errors}{wrong}\n{unmarked(text)}".encode(
        errors="backslashreplace").decode(), good


faults, good, modules, seed = [], 0, 0, FIRST
while modules < COUNT:
    text = Marked(seed).module()
    if " gears " in text:
        fault, rows = judge_module(text)
        good, modules = good + rows, modules + 1
        if fault:
            faults.append(f"seed {seed}\n{fault}")
    seed += 1
print(f"# seeds {FIRST} to {seed - 1}: {modules} modules with gears, {good} combinations")
tap.check("each combination of a module has the text of the static one",
          not faults and good > modules, "\n".join(faults[:3]))
tap.done()
