"""skirc opt: lists of passes, parts of them, and what is printed between passes."""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

try:
    import jsonschema
except ImportError:
    jsonschema = None

tap.SKIRC = os.path.abspath(tap.SKIRC)
EXAMPLES = os.path.join(tap.SOURCE, "docs", "examples")
small = os.path.join(EXAMPLES, "quant_swiglu_small.skir")
streams = os.path.join(EXAMPLES, "multi_stream.skir")
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

listed = [line.split()[0] for line in tap.skirc("opt", "--list-passes").stdout.splitlines()]


def ran(*arguments, file=streams):
    """The passes that run, in their order; or what is wrong."""
    done = tap.skirc("opt", "--time-passes", "-o", "out.skir", *arguments, file)
    if done.returncode:
        return done.stderr
    return [line.split()[2] for line in done.stderr.splitlines() if " ms  " in line]


def upto(last, first=listed[0]):
    return listed[listed.index(first):listed.index(last) + 1]


# ---- Lists ----

CASES = [
    ("default", ["-p", "default"], listed),
    ("a range from the begin", ["-p", "default..insert-syncs"], upto("insert-syncs")),
    ("a range without a begin", ["-p", "..insert-syncs"], upto("insert-syncs")),
    ("a range of two passes", ["-p", "default..split-nonfusable,insert-events..bind-kernels"],
     upto("split-nonfusable") + ["insert-events", "bind-kernels"]),
    ("a range of one pass", ["-p", "inline-calls..inline-calls"], ["inline-calls"]),
    ("a range to the end", ["-p", "default..dcci,debug-sync-all.."], listed),
    ("a range to the end of default", ["-p", "default..dcci,debug-sync-all..default"], listed),
    ("all of default as a range", ["-p", "default..default"], listed),
    ("a range without ends", ["-p", ".."], listed),
    ("blanks", ["-p", " inline-calls , assign-streams .. partition-scopes ,"],
     upto("partition-scopes", "inline-calls")),
    ("several lists", ["-p", "inline-calls", "--passes=assign-streams", "-ppartition-scopes"],
     upto("partition-scopes", "inline-calls")),
    ("a pass that is named again", ["-p", "inline-calls,inline-calls", "-p", "inline-calls"],
     ["inline-calls"] * 3),
    ("an empty list", ["-p", ""], []),
    ("many passes", ["-p", ",".join(["default"] + ["verify-sync"] * 500)],
     listed + ["verify-sync"] * 500),
    ("up to a pass", ["-p", "default", "--stop-after=insert-syncs"], upto("insert-syncs")),
    ("up to a pass, of default", ["--stop-after=insert-syncs"], upto("insert-syncs")),
    ("behind the last pass", ["--start-after=verify-launches"], []),
    ("the first of several is stopped after", ["-p", "inline-calls,assign-streams,inline-calls",
                                               "--stop-after=inline-calls"], ["inline-calls"]),
    ("from one pass to the other", ["-p", "inline-calls,assign-streams,inline-calls",
                                    "--start-after=assign-streams", "--stop-after=inline-calls"],
     ["inline-calls"]),
]
for claim, arguments, passes in CASES:
    names = ran(*arguments)
    tap.check(claim, names == passes, f"{names}\n{passes}")

tap.skirc("opt", "-p", "..bind-kernels", "-o", "bound.skir", streams)
names = ran("--start-after=bind-kernels", file="bound.skir")
tap.check("what is left behind a pass", names == listed[listed.index("bind-kernels") + 1:], names)
whole = tap.skirc("opt", "-p", "default", streams).stdout
with open("out.skir") as file:
    tap.check("both parts do what the whole does", file.read() == whole, whole)

WRONG = [
    ("an unknown pass", ["-p", "inline-call"],
     "skirc: --passes: unknown pass 'inline-call'; did you mean 'inline-calls'?\n"),
    ("an unknown pass at the end of a range", ["-p", "default..insert-sync"],
     "skirc: --passes: unknown pass 'insert-sync'; did you mean 'insert-syncs'?\n"),
    ("nothing like a pass", ["-p", "x"], "skirc: --passes: unknown pass 'x'; see --list-passes\n"),
    ("an empty place", ["-p", "inline-calls,,dcci"], "skirc: --passes: a name is missing before ','\n"),
    ("a range backwards", ["-p", "dcci .. profile,insert-syncs .. dcci, profile..dcci"],
     "skirc: --passes: in 'profile..dcci', 'dcci' comes before 'profile'\n"),
    ("a pass to stop after that does not run", ["-p", "inline-calls", "--stop-after=dcci"],
     "skirc: --stop-after: 'dcci' is not among the passes to run\n"),
    ("a pass to stop after that has run", ["--start-after=dcci", "--stop-after=inline-calls"],
     "skirc: --stop-after: 'inline-calls' is not among the passes to run, behind that of "
     "--start-after\n"),
    ("a pass to start after that does not run", ["-p", "inline-calls", "--start-after=dcci"],
     "skirc: --start-after: 'dcci' is not among the passes to run\n"),
    ("an unknown pass to stop after", ["--stop-after=dci"],
     "skirc: --stop-after: unknown pass 'dci'; did you mean 'dcci'?\n"),
    ("an unknown pass to start after", ["--start-after=nowhere-near"],
     "skirc: --start-after: unknown pass 'nowhere-near'; see --list-passes\n"),
    ("passes to print after that do not run", ["-p", "inline-calls", "--print-after=dcci..profile"],
     "skirc: --print-after: 'dcci..profile' is not among the passes to run\n"),
    ("an unknown pass to print after", ["-p", "default", "--print-after=default..dci"],
     "skirc: --print-after: unknown pass 'dci'; did you mean 'dcci'?\n"),
]
for claim, arguments, error in WRONG:
    done = tap.skirc("opt", *arguments, streams)
    tap.check(claim, (done.returncode, done.stdout, done.stderr) == (2, "", error), done)

# ---- Dumps and differences ----


def stages(*arguments):
    """Name and text of each dump."""
    err = tap.skirc("opt", "-p", "default", *arguments, "-o", "out.skir", streams).stderr
    parts = re.split(r"^// after (.*)\n", err, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


dumps = stages("--print-after=default..split-nonfusable,dcci")
tap.check("dumps after several passes", [name for name, _ in dumps] ==
          upto("split-nonfusable") + ["dcci"], dumps)

err = tap.skirc("opt", "-p", "default", "--print-changed", "-o", "out.skir", streams).stderr
blocks = re.split(r"^--- before (.*)\n\+\+\+ after (.*)\n", err, flags=re.M)
names, again, hunks = blocks[1::3], blocks[2::3], blocks[3::3]
tap.check("differences name their pass", blocks[0] == "" and names and names == again and
          set(names) < set(listed), err)



def patched(text, hunks):
    """A text with the hunks of a unified diff applied."""
    old, new, at = text.splitlines(True), [], 0
    for line in hunks.splitlines(True):
        start = re.match(r"@@ -(\d+)(,0)?", line)
        if start:
            begin = int(start[1]) - (not start[2])
            new += old[at:begin]
            at = begin
        elif line[0] == "+":
            new.append(line[1:])
        else:
            if old[at] != line[1:]:
                return None
            new += [line[1:]] if line[0] == " " else []
            at += 1
    return "".join(new + old[at:])


texts = dict(stages("--print-after=all"))
before = tap.skirc("opt", streams).stdout
good = True
for name in listed:
    changes = hunks[names.index(name)] if name in names else ""
    good &= patched(before, changes) == texts[name][:-1] and bool(changes) == (
        before != texts[name][:-1])
    before = texts[name][:-1]
tap.check("each pass has done what its difference says", good, err)

done = tap.skirc("opt", "-p", "verify-sync", "--print-changed", "-o", "out.skir", streams)
tap.check("a pass that changes nothing has none", done.stderr == "" and done.returncode == 0, done)
done = tap.skirc("opt", "--print-changed", streams)
tap.check("differences need passes", done.returncode == 2 and "this needs passes to run" in done.stderr,
          done)

# ---- Parts ----

def part(only, *arguments, file=streams):
    done = tap.skirc("opt", "-p", "default", f"--only={only}", *arguments, file)
    return done.stdout if done.returncode == 0 else done.stderr


def heads(text):
    """What stands in a text besides its target: words like "graph @g"."""
    return set(re.findall(r"^(kernel|graph|entry) (@\w+)", text, flags=re.M))


CALLS = """skir 1

kernel @k : aiv_only {
  block = 2
}

kernel @l : aiv_only {
  block = 2
}

graph @then(%x: f32[4]) -> f32[4] {
  %y = Foo(%x) : f32[4] via @k
  return %y
}

graph @unused(%x: f32[4]) -> f32[4] {
  %y = Foo(%x) : f32[4] via @l
  return %y
}

graph @main(%c: bool[], %x: f32[4]) -> f32[4] {
  %y = If(%c, %x) {then_branch = @then, else_branch = @other} : f32[4]
  return %y
}

graph @other(%x: f32[4]) -> f32[4] {
  %y = Foo(%x) : f32[4] via @k
  return %y
}
"""
with open("calls.skir", "w") as file:
    file.write(CALLS)
everything = heads(whole)
tap.check("entries alone, with kernels", heads(part("entries")) ==
          {head for head in everything if head[0] != "graph"}, part("entries"))
tap.check("graphs alone, with kernels", heads(part("graphs")) ==
          {head for head in everything if head[0] != "entry"}, part("graphs"))
entry = [name for kind, name in everything if kind == "entry"][0]
tap.check("an entry by its name, with its kernels", heads(part(entry)) == heads(part("entries")),
          part(entry))
tap.check("a kernel by its name", heads(part("@mat_mul")) == {("kernel", "@mat_mul")}, part("@mat_mul"))
tap.check("a graph by its name, with those that it calls and their kernels",
          heads(part("@main", "--passes=", file="calls.skir")) ==
          {("graph", "@main"), ("graph", "@then"), ("graph", "@other"), ("kernel", "@k")},
          part("@main", file="calls.skir"))
good = True
for only in "entries", "graphs", entry, "@mat_mul":
    with open("part.skir", "w") as file:
        file.write(part(only))
    good &= tap.skirc("opt", "part.skir").stdout == part(only)
tap.check("a part is a text of its own", good)
err = tap.skirc("opt", "-p", "default", "--print-after=insert-syncs", "--only=entries",
                "-o", "out.skir", streams).stderr
tap.check("dumps have the part alone", heads(err) == heads(part("entries")), err)
err = tap.skirc("opt", "-p", "default", "--print-changed", "--only=graphs", "-o", "out.skir",
                streams).stderr
tap.check("differences are those of the part", "+++ after partition-scopes" in err and
          "insert-syncs" not in err, err)
for claim, only, error in [
        ("a part that there is not", "@no_such", "skirc: --only: the result has no '@no_such'\n"),
        ("a part that is misspelt", "@mat_mull",
         "skirc: --only: the result has no '@mat_mull'; did you mean '@mat_mul'?\n"),
        ("a name without '@'", "main", "skirc: '--only' can be entries, graphs or @NAME, not 'main'; "
         "a name begins with '@': --only=@main\ntry 'skirc opt --help'\n"),
        ("no name", "@", "skirc: '--only' can be entries, graphs or @NAME, not '@'\n"
         "try 'skirc opt --help'\n")]:
    done = tap.skirc("opt", "-p", "default", f"--only={only}", streams)
    tap.check(claim, (done.returncode, done.stdout, done.stderr) == (2, "", error), done)

# ---- JSON ----

with open(os.path.join(tap.SOURCE, "docs", "opt.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)


def report(claim, *arguments, status=0, path=None):
    """The JSON of a run, held against the schema."""
    done = tap.skirc("opt", *arguments)
    text = done.stdout
    if path:
        with open(path) as file:
            text = file.read()
    found = json.loads(text)
    error = jsonschema and jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(SCHEMA).iter_errors(found))
    tap.check(claim, done.returncode == status == found["status"] and not error, f"{error}{done}")
    return found


found = report("JSON in the place of the result", "-p", "default", "--json", streams)
tap.check("passes, and which of them changed something",
          [run["pass"] for run in found["passes"]] == listed and
          [run["pass"] for run in found["passes"] if run["changed"]] == names, found)
tap.check("counts", found["file"] == streams and found["before"]["superkernels"] == 0 and
          found["after"]["superkernels"] == 1 and found["after"]["instructions"]["call"] == 7, found)
found = report("JSON beside the result", "--stop-after=insert-syncs", "--json", "-o", "out.skir",
               streams)
with open("out.skir") as file:
    tap.check("the result", "superkernel @" in file.read())
found = report("JSON in a file", "-p", "default", "--json=out.json", streams, path="out.json")
found = report("JSON of no passes", "--json", streams)
tap.check("nothing has run", found["passes"] == [] and found["before"] == found["after"], found)
unsynchronised = tap.skirc("opt", "-p", "..lower-superkernels", streams).stdout
with open("wrong.skir", "w") as file:
    file.write(unsynchronised)
found = report("JSON of a run that fails", "-p", "inline-calls,verify-sync", "--json", "wrong.skir",
               status=1)
tap.check("what has run before", [run["pass"] for run in found["passes"]] == ["inline-calls"] and
          "after" not in found, found)
tap.check("  and why", [said["id"] for said in found["diagnostics"]] == ["sync-undrained"] * len(
    found["diagnostics"]) and found["diagnostics"], found)
found = report("JSON of a file that is not there", "--json", "absent.skir", status=1)
tap.check("  and why", [said["id"] for said in found["diagnostics"]] == ["file"] and
          found["passes"] == [] and "before" not in found, found)
with open("syntax.skir", "w") as file:
    file.write("skir 1\ngraph\n")
found = report("JSON of a text that is wrong", "--json", "syntax.skir", status=1)
tap.check("  and where", [(said["id"], said["line"]) for said in found["diagnostics"]] ==
          [("syntax", 3)], found)
done = tap.skirc("opt", "--json", "-o", "many/", streams, small)
tap.check("one report a file", [json.loads(text)["file"] for text in
                                re.findall(r"\{\"file\".*?\]\}\n", done.stdout, flags=re.S)]
          == [streams, small], done)
done = tap.skirc("opt", "--json=out.json", "-o", "many/", streams, small)
tap.check("a file has one report", done.returncode == 2 and done.stderr ==
          "skirc: --json=FILE.json takes one file's report, but there are 2 files\n"
          "try 'skirc opt --help'\n", done)
done = tap.skirc("opt", "-p", "default", "--verify-each", "-o", "out.skir", "calls.skir", streams)
done = tap.skirc("opt", "-p", "default", "--verify-each", streams)
tap.check("every stage can be read back", done.returncode == 0 and done.stdout == whole, done)

# A launch that goes on in several blocks waits as a whole for what stood below its first one.
with open("waits.skir", "w", encoding="utf-8") as file:
    file.write("""skir 1

target "t" {aic = 1, aiv = 2}

kernel @k_add : aiv_only {
  op = "Add",
  block = 1,
  object = "add.o",
  function = "add",
  params = [x1, x2, y, tiling]
}

kernel @k_relu : aiv_only {
  op = "Relu",
  block = 1,
  object = "relu.o",
  function = "relu",
  params = [x, y, tiling]
}

graph @g0(%a: f16[8, 8], %b: f16[8, 8]) -> (f16[8, 8]) {
  scope @s0 {
    %v2 = MatMul(%a, %a) : f16[8, 8]
  }
  scope @s0 {
    %v4 = Relu(%a) : f16[8, 8]
  }
  scope @s2 {
    scope none {
      stream "2" {
        %v5 = MatMul(%v4, %a) : f16[8, 8]
      }
    }
  }
  scope @s0 {
    %v6 = Relu(%v5) : f16[8, 8]
  }
  scope @s2 {
    stream "2" {
      %v7 = Relu(%a) : f16[8, 8]
    }
  }
  stream "1" {
    scope @s1 {
      %v8 = Relu(%a) : f16[8, 8]
    }
  }
  scope @s0 {
    %v10 = Add(%a, %v7) : f16[8, 8]
  }
  stream "2" {
    scope @s2 {
      %v11 = Relu(%v8) : f16[8, 8]
    }
  }
  scope @s1 {
    stream "1" {
      %v14 = Add(%v6, %v11) : f16[8, 8]
    }
  }
  return %v10
}
""")
done = tap.skirc("opt", "--passes=default", "--remarks", "waits.skir", "-o", "once.skir")
again = tap.skirc("opt", "--passes=default", "once.skir", "-o", "twice.skir")
texts = [open(name, encoding="utf-8").read() for name in ("once.skir", "twice.skir") if again.returncode == 0]
tap.check("a second run of all passes changes nothing where launches wait side by side",
          "[launch-waits]" in done.stderr and len(texts) == 2 and texts[0] == texts[1],
          done.stderr + again.stderr)

# Far more than parts could be joined one by one.
MANY = 40000
with open("alternate.skir", "w", encoding="utf-8") as file:
    file.write("skir 1\ngraph @g(%v0: f32[4]) -> f32[4] {\n")
    for i in range(MANY):
        file.write(f'stream "{i % 3}" {{ scope @{"abc"[i % 3]} {{ %v{i + 1} = Relu(%v{i}) : f32[4]\n}} }}\n')
    file.write(f"return %v{MANY}\n}}\n")
done = tap.skirc("opt", "--passes=partition-scopes,insert-events", "--remarks", "alternate.skir", "-o", "joined.skir")
with open("joined.skir", encoding="utf-8") as file:
    blocks = re.findall(r"superkernel (@\S+)", file.read())
tap.check("scopes that alternate very often are one launch each", len(blocks) == MANY and len(set(blocks)) == 3,
          f"{len(blocks)} blocks of {len(set(blocks))}: {done.stderr[:500]}")

tap.done()
