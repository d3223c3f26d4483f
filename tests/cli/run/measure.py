"""run: what is measured is run again and again with the same inputs, and must come out the same."""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

try:
    import jsonschema
except ImportError:
    jsonschema = None

CC = os.environ.get("CC", "cc").split() or ["cc"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def run(claim, *arguments, out="", err="", status=0):
    """What it prints matches these patterns as a whole; `out` and `err` are patterns of lines."""
    done = tap.skirc("run", *arguments)
    tap.check(claim, done.returncode == status and re.fullmatch(out, done.stdout)
              and re.fullmatch(err, done.stderr),
              f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


MS = r"[0-9]+\.[0-9]{3} ms"


def times(count=r"(9|[1-9][0-9]|100)"):
    return rf"median {MS} of {count} runs, minimum {MS}, spread {MS}"


NUMBER = r"[0-9]+\.[0-9]{2}"


def compared(a, b):
    """What may be said of the times of two ways."""
    return "(" + "|".join(
        rf"{x} takes {NUMBER} times as long as {y} \({NUMBER} to {NUMBER}\)\n"
        rf"|no difference but noise: {x} takes {NUMBER} to {NUMBER} times as long as {y}\n"
        for x, y in ((a, b), (b, a))) + ")"


# ---- How often ----

write("graph.skir", """skir 1
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> f16[32, 32] {
  scope @s {
    %m = MatMul(%a, %b) : f16[32, 32]
    %v = Add(%m, %a) : f16[32, 32]
  }
  return %v
}
""")
run("as often as it takes, by default", "graph.skir", out=rf"g: 2 ops in 1 launch, {times()}\n")
run("and with --repeat=auto", "graph.skir", "--repeat=auto", "--race-check",
    out=rf"g: 2 ops in 1 launch, {times()}; race-free \(1 order\)\n")
run("as often as is said", "graph.skir", "--repeat=3", out=rf"g: 2 ops in 1 launch, {times(3)}\n")
run("once", "graph.skir", "--repeat=1", out=rf"g: 2 ops in 1 launch, {MS} of 1 run\n")
run("not at all", "graph.skir", "--repeat=0", out=rf"g: 2 ops in 1 launch, {MS} \(first run\)\n")
for option in "--race-check", "--trace=trace", "--unproven":
    run(f"nor with {option}", "graph.skir", option,
        out=rf"g: 2 ops in 1 launch, {MS} \(first run\)(; race-free \(1 order\))?\n")
run("a number that is none", "graph.skir", "--repeat=often", status=2,
    err=r"skirc: '--repeat' needs a whole number from 0 to 1000000 or 'auto', not 'often'\n.*\n")

# ---- Two ways ----

LAST = r"g: 2 ops in 1 launch; unfused in 2 launches; bit-exact\n"
run("both ways in turn, and what can be said of them", "graph.skir", "--compare=unfused",
    out=rf"fused:   {times()}\nunfused: {times()}\n" + compared("fused", "unfused") + LAST)
run("nothing is said of few runs", "graph.skir", "--compare=unfused", "--repeat=7",
    out=rf"fused:   {times(7)}\nunfused: {times(7)}\ntoo few runs to compare their times\n" + LAST)
run("of more there is something to say", "graph.skir", "--compare=unfused", "--repeat=8",
    out=rf"fused:   {times(8)}\nunfused: {times(8)}\n" + compared("fused", "unfused") + LAST)
run("nothing of none", "graph.skir", "--compare=unfused", "--repeat=0", out=LAST)

# ---- Two graphs ----

for option in "--compare=unfussed", "--compare", "--compare=file.txt":
    run("what can be compared is said", "graph.skir", *option.split(), *([""] if option == "--compare" else []),
        status=2, err=r"skirc: '--compare' needs 'unfused', FILE\.skir or options of scopes "
        r"\(NAME=VALUE\), not '.*'\n.*\n")
run("options are checked", "graph.skir", "--compare=erly-start=0", status=2,
    err=r"--compare:1:1: error: unknown option 'erly-start' \[unknown-option\]\n"
    r"(?s:.*)did you mean 'early-start'(?s:.*)--compare has errors\n.*\n")
run("a file that is not there", "graph.skir", "--compare=none.skir", status=1,
    err=r"none\.skir: error: cannot open 'none\.skir': .*\n")
done = tap.skirc("run", "-", "--compare=early-start=0", stdin="skir 1\n")
tap.check("standard input is read once", done.returncode == 2 and
          "'--compare=early-start=0' reads the input twice, and '-' can be read once" in done.stderr,
          done.stderr)
run("two option sets", "graph.skir", "--compare=early-start=0:split-mode=1",
    out=rf"graph.skir: +{times()}\nearly-start=0:split-mode=1: {times()}\n"
    + compared("graph.skir", "early-start=0:split-mode=1")
    + r"g: 2 ops in 1 launch; early-start=0:split-mode=1: 2 ops in 1 launch; bit-exact\n")
# Inputs and results go by name, else by position; what only one has is said.
write("other.skir", """skir 1
graph @h(%x: f16[32, 32], %a: f16[32, 32], %more: f16[4]) -> f16[32, 32] {
  %m = MatMul(%a, %x) : f16[32, 32]
  %v = Add(%a, %m) : f16[32, 32]
  return %v
}
""")
write("renamed.skir", """skir 1
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> (f16[32, 32], f16[32, 32]) {
  %m = MatMul(%a, %b) : f16[32, 32]
  %w = Add(%m, %a) : f16[32, 32]
  %n = Neg(%w) : f16[32, 32]
  return %w, %n
}
graph @uncalled(%a: f16[32, 32]) -> f16[32, 32] {
  return %a
}
""".replace("Neg(%w)", "Mul(%w, %w)"))
FILES = rf"graph.skir: +{times(2)}\n\S+.skir: +{times(2)}\ntoo few runs to compare their times\n"
# %a has its partner by name, and %b then that in the place of neither: it has none.
run("a file with parameters in another order", "graph.skir", "--compare=other.skir", "--repeat=0",
    "-ib=ones", status=1,
    out=r"first difference: %v\[0, 0\] is \S+, other.skir \S+ \([0-9]+ of 1024 differ, by at most \S+\)\n"
    r"g: 2 ops in 1 launch; other.skir: 2 ops in 2 launches; DIFFERENT\n")
with open("other.skir") as file:
    text = file.read()
write("other.skir", text.replace("%x: f16[32, 32], %a: f16[32, 32]", "%a: f16[32, 32], %x: f16[32, 32]"))
run("a file with another name of a parameter", "graph.skir", "--compare=other.skir", "--repeat=2",
    out=FILES + r"g: 2 ops in 1 launch; other.skir: 2 ops in 2 launches; bit-exact\n")
# Some of so many bytes are those that unwritten memory has, so kernels are run once more.
for name in "bytes", "other_bytes":
    write(name + ".skir", "skir 1\ngraph @g(%x: i8[4096]) -> i8[4096] {\n  %y = Neg(%x) : i8[4096]\n"
          "  return %y\n}\n")
run("kernels of the other file are checked with the inputs of the first", "bytes.skir",
    "--compare=other_bytes.skir", "-i", "x=arange", "--repeat=0",
    out=r"g: 1 op in 1 launch; other_bytes.skir: 1 op in 1 launch; bit-exact\n")
run("a file with another name of a result, and more of them", "graph.skir", "--compare=renamed.skir",
    "--repeat=2", out=r"result %n of renamed.skir is not in graph.skir\n" + FILES
    + r"g: 2 ops in 1 launch; renamed.skir: 3 ops in 3 launches; bit-exact\n")
write("added.skir", text.replace("%x: f16[32, 32], %a: f16[32, 32]", "%a: f16[32, 32], %b: f16[32, 32]")
      .replace("%x", "%b").replace("Add(%a, %m)", "Add(%m, %m)"))
DIFFERS = r"first difference: %v\[0, 0\] is \S+, added.skir \S+ \(10[0-9]{2} of 1024 differ, by at most [0-9.]+\)\n"
run("other results", "graph.skir", "--compare=added.skir", status=1,
    out=DIFFERS + r"g: 2 ops in 1 launch; added.skir: 2 ops in 2 launches; DIFFERENT\n")
run("within a tolerance", "graph.skir", "--compare=added.skir", "--atol=100", "--repeat=0",
    out=r"g: 2 ops in 1 launch; added.skir: 2 ops in 2 launches; within the tolerance\n")
run("and out of it", "graph.skir", "--compare=added.skir", "--atol=0.001", "--repeat=0", status=1,
    out=DIFFERS + r"g: .*; DIFFERENT\n")
with open("graph.skir") as file:
    text = file.read()
write("wide.skir", text.replace("f16", "f32"))
run("inputs of other types", "graph.skir", "--compare=wide.skir", status=1,
    err=r"graph.skir: error: input %a: f16\[32, 32\] cannot be that of wide.skir, %a: f32\[32, 32\] \[contents\]\n")
write("two.skir", text.replace("@g", "@p") + text.replace("skir 1\n", "").replace("@g", "@q"))
run("which graph is not known", "graph.skir", "--compare=two.skir", status=2,
    err=r"skirc: two.skir has no graph 'g', and not one alone that no other calls\n.*\n")
write("result.skir", """skir 1
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> f16[1024] {
  %v = Reshape(%a) : f16[1024]
  return %v
}
""")
run("results of other types", "graph.skir", "--compare=result.skir", "--repeat=0", status=1,
    out=r"%v: f16\[32, 32\] cannot be compared with that of result.skir, %v: f16\[1024\]\n"
    r"g: 2 ops in 1 launch; result.skir: 1 op in 0 launches; DIFFERENT\n")
# What only the file says of a constant counts, unless --input says otherwise.
for name, value in ("one", "1.0"), ("two", "2.0"):
    write(name + ".skir", f"""skir 1
graph @g(%a: f32[4]) -> f32[4] {{
  %c = Const() {{value = {value}}} : f32[4]
  %u = Variable() : f32[4]
  %v = Add(%a, %c) : f32[4]
  %w = Add(%v, %u) : f32[4]
  return %w
}}
""")
run("constants are those of their files", "one.skir", "--compare=two.skir", "--repeat=0", "-ia=ones",
    "-iu=zeros", status=1, out=r"first difference: %w\[0\] is 2, two.skir 3 .*\ng: .*; DIFFERENT\n")
run("but for what is given", "one.skir", "--compare=two.skir", "--repeat=0", "-ic=ones",
    out=r"g: .*; bit-exact\n")
write("unread.skir", """skir 1
graph @g(%a: f32[4]) -> f32[4] {
  %c = Const() {value = {file = "absent.npy"}} : f32[4]
  %v = Add(%a, %c)
  return %v
}
""")
for other in "unread.skir", "debug-sync-all=1":
    run(f"and a file that need not be there then, by {other}", "unread.skir", "--compare=" + other,
        "--repeat=0", "-ic=ones", out=r"g: .*; bit-exact\n")
done = tap.skirc("run", "graph.skir", "--compare=other.skir", "--repeat=2", "--profile=p.json")
tap.check("time records of both", done.returncode == 0 and re.search(
    r"^ +all cores +longest core +share +cores +other.skir +op$", done.stdout, re.M), done.stdout)

# ---- Inputs ----

write("update.skir", """skir 1
graph @g(%v: f32[4], %x: f32[4]) -> f32[4] {
  %w = Variable() : f32[4]
  scope @s {
    %sum = Add(%v, %x) : f32[4]
    %done = Assign(%v, %sum) : token
    %z = Add(%w, %x) : f32[4]
    %stored = Assign(%w, %z) : token
  }
  return %v
}
""")
for repeat in "0", "20":
    run(f"inputs that are updated are what they were before each run, {repeat} runs", "update.skir",
        "--repeat=" + repeat, "--compare=unfused", "-iv=ones", "-ix=ones", "-ow=ones", "-ov=v.npy",
        "-ow=w.npy", out=r"(?s:.*); bit-exact\n")
    with open("v.npy", "rb") as file:
        tap.check("  and are updated once", file.read()[-16:] == bytes.fromhex("00000040") * 4)

# ---- Runs that differ ----

write("count.c", """
#include "skrt.h"
static int runs;
void count(skrt_core *core, uint64_t args);
void count(skrt_core *core, uint64_t args)
{
    uint64_t *slots = skrt_args(core, args);
    const float *x = (const float *)slots[0];
    float *y = (float *)slots[1];
    for (int i = 0; i < 8; i++)
        y[i] = x[i];
    if (++runs >= SICK)
        OUTBREAK;
}
""")


def kernel(name, sick, outbreak):
    includes = ["-I" + os.path.join(tap.SOURCE, folder) for folder in ("backend/runtime", "ir/core")]
    subprocess.run([*CC, "-c", "-fPIC", "-O1", "-fno-stack-protector", f"-DSICK={sick}",
                    f"-DOUTBREAK={outbreak}", *includes, "count.c", "-o", name + ".o"], check=True)
    write(name + ".skir", f"""skir 1
kernel @count : aiv_only {{
  block = 1, object = "{name}.o", function = "count", params = [x, y]
}}
graph @g(%x: f32[2, 4]) -> f32[2, 4] {{
  scope @s {{
    %y = Count(%x) : f32[2, 4] via @count
    %z = Mul(%y, %y) : f32[2, 4]
  }}
  return %z
}}
""")


kernel("drifts", 3, "y[5] = 7.0f")
VARIES = (r"turns\.skir:7:10: error: the kernel of Count %y computes with what nobody has written, or "
          r"something else each time \[wrong-kernel\]\n.*\n.*\n  help: its results change with .*\n")
DRIFT = r"first difference: %y\[1, 1\] of Count is 1, in run {} of {}: 7\n"
# Where all ops run one by one, the kernel runs twice: too rarely for this one to be blamed.
run("a run that differs from the first is reported", "drifts.skir", "-ix=ones", status=1,
    out=DRIFT.format(3, "fused") + r"g: 2 ops in 1 launch, .*; DIFFERENT from run to run\n")
run("of both ways, too", "drifts.skir", "-ix=ones", "--compare=unfused", status=1,
    out=DRIFT.format(3, "(un)?fused") + r"(?s:.*)g: 2 ops in 1 launch; unfused in 2 launches; "
    r"bit-exact; DIFFERENT from run to run\n")
kernel("turns", 2, "y[5] = 7.0f")
SUMMARY = DRIFT.format(2, "(un)?fused") + (
    r"g: 2 ops in 1 launch; unfused in 2 launches; bit-exact; DIFFERENT from run to run\n")
run("and the kernel, where it differs by itself", "turns.skir", "-ix=ones", status=1,
    out=DRIFT.format(2, "fused") + r"g: 2 ops in 1 launch.*; DIFFERENT from run to run\n", err=VARIES)
run("before both were measured once, too", "turns.skir", "-ix=ones", "--compare=unfused", status=1,
    out=SUMMARY, err=VARIES)
run("also as JSON", "turns.skir", "-ix=ones", "--compare=unfused", "--json", status=1,
    out=r'(?s:.*"repeatable":false.*)', err=SUMMARY + VARIES)
run("one that is not made is not seen", "drifts.skir", "-ix=ones", "--repeat=1",
    out=r"g: 2 ops .*\n")
kernel("hangs", 4, "for (;;) skrt_kernel_wait_c2v(core)")
done = run("a hang in a later run is reported", "hangs.skir", "--repeat=10", "--trace=hang.trace",
           status=1, err=r"skirc: misuse(?s:.*)")
seen = tap.skirc("trace", "hang.trace")
tap.check("  and its trace is of that run", seen.returncode == 0 and "aiv 0: in op 0" in seen.stdout,
          seen.stdout + seen.stderr)

# ---- JSON ----

with open(os.path.join(tap.SOURCE, "docs", "run.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)


def report(claim, *arguments, status=0, path=None):
    """The JSON of a run, held against the schema."""
    done = tap.skirc("run", *arguments)
    text = done.stdout
    if path:
        with open(path) as file:
            text = file.read()
    found = json.loads(text)
    error = jsonschema and jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(SCHEMA).iter_errors(found))
    tap.check(claim, done.returncode == status == found["status"] and not error, f"{error}{done}")
    return found


found = report("JSON on standard output", "graph.skir", "--compare=unfused", "--repeat=9", "--json",
               "--profile=p.json")
ways = found["runs"]
tap.check("all that was run", [(way["name"], way["graph"], way["ops"], way["launches"], way["runs"],
                                len(way["times_ms"])) for way in ways]
          == [("fused", "g", 2, 1, 11, 9), ("unfused", "g", 2, 2, 11, 9)], ways)
for way in ways:
    times = sorted(way["times_ms"])
    tap.check("  the times", way["minimum_ms"] == times[0] and way["median_ms"] == times[4] and
              abs(way["spread_ms"] - (times[6] - times[2])) < 1e-5 and way["first_ms"] > 0, way)
tap.check("what they come to", found["comparison"]["results"] == "bit-exact" and found["repeatable"]
          and found["comparison"]["times"]["low"] <= found["comparison"]["times"]["ratio"]
          <= found["comparison"]["times"]["high"] and found["differences"] == [], found)
with open("p.json") as file:
    other = json.load(file)["otherData"]
tap.check("records as in their file", ways[0]["profile"] == other, other)
done = tap.skirc("run", "graph.skir", "--json=run.json", "--repeat=2", "--print=v")
tap.check("what is printed stays where there is a file", "g: 2 ops in 1 launch, median" in done.stdout
          and "%v: f16[32, 32]" in done.stdout, done.stdout)
found = report("JSON in a file", "graph.skir", "--json=run.json", "--race-check", path="run.json")
tap.check("of one way", len(found["runs"]) == 1 and found["orders_checked"] == 1
          and "comparison" not in found and found["runs"][0]["times_ms"] == [], found)
done = tap.skirc("run", "graph.skir", "--json", "--print=v")
tap.check("it goes to standard error otherwise", json.loads(done.stdout)["status"] == 0
          and "%v: f16[32, 32]" in done.stderr and "g: 2 ops" in done.stderr, done)
found = report("JSON of values", "graph.skir", "--json", "--repeat=0", "-ia=arange", "--print=a",
               "--expect=a=arange", "--expect=a=1", status=1)
tap.check("what is printed", found["values"] == [
    {"name": "%a", "type": "f16[32, 32]", "elements": 1024, "min": 0, "max": 1023, "mean": 511.5, "nan": 0,
     "inf": 0}], found)
tap.check("what is expected", found["expected"] == [
    {"name": "%a", "spec": "arange", "holds": True, "elements": 1024, "different": 0,
     "largest_error": 0, "largest_relative_error": 0},
    {"name": "%a", "spec": "1", "holds": False, "elements": 1024, "different": 1023, "first": [0, 0],
     "largest_error": 1022, "largest_relative_error": 1022}], found)
with open("far.skir", "w") as file:
    file.write("skir 1\ngraph @g(%a: i64[2], %b: u64[1], %c: i64[1]) -> () {\n}\n")
found = report("JSON of numbers that are no doubles", "far.skir", "--json", "--repeat=0", "--print=a", "--print=b",
               "--print=c", "-ia=arange:9223372036854775807", "-ib=18446744073709551615", "-ic=9e15")
tap.check("they are digits", [(value["min"], value["max"]) for value in found["values"]] == [
    ("-9223372036854775808", "9223372036854775807"), ("18446744073709551615",) * 2, (9000000000000000,) * 2], found)
found = report("JSON of values that are not as expected", "graph.skir", "--json", "--repeat=0",
               "-ia=arange", "--expect=a=arange:0:2", status=1)
tap.check("how they are not", found["expected"] == [
    {"name": "%a", "spec": "arange:0:2", "holds": False, "elements": 1024, "different": 1023,
     "first": [0, 1], "largest_error": 1023, "largest_relative_error": 0.5}], found)
found = report("JSON of what differs", "graph.skir", "--compare=added.skir", "--json", status=1)
tap.check("how", found["comparison"] == {"results": "different"} and len(found["differences"]) == 1
          and found["differences"][0].startswith("first difference: %v[0, 0] is "), found)
found = report("JSON of runs that differ", "drifts.skir", "--json", "-ix=ones", status=1)
tap.check("how they do", not found["repeatable"] and len(found["differences"]) == 1, found)
found = report("JSON of a launch that fails", "hangs.skir", "--json", "--repeat=10", status=1)
tap.check("why", found["failure"] == "misuse" and len(found["runs"][0]["times_ms"]) == 2, found)


# ---- JSON of what is refused ----

HEAD = "skir 1\ngraph @g(%a: f32[4], %i: i32[1]) -> () {\n  %r = Relu(%a) : f32[4]\n"
REFUSED = {"stub.skir": "  %s = Foo(%r) {stub} : f32[4]\n}\n",
           "syntax.skir": "  %s = Foo(%r) {stub : f32[4]\n}\n",
           "range.skir": "  %axis = Const() {value = 0} : i32[]\n  %s = GatherV2(%r, %i, %axis) : f32[1]\n}\n"}
for name, text in REFUSED.items():
    with open(name, "w") as file:
        file.write(HEAD + text)


def told(found):
    return [(said["severity"], said["id"], said.get("file"), said.get("line"))
            for said in found["diagnostics"]]


found = report("JSON of a graph with a stub", "stub.skir", "--json", status=1)
tap.check("what is refused", told(found) == [("error", "stub", None, 4)] and found["runs"] == [] and
          "Foo is a stub" in found["diagnostics"][0]["text"] and
          "leave 'stub' out" in found["diagnostics"][0]["notes"][0]["text"], found)
found = report("JSON of a text that is wrong, in a file", "syntax.skir", "--json=run.json", status=1, path="run.json")
tap.check("where", told(found)[0] == ("error", "syntax", None, 4), found)
found = report("JSON of a file that is not there", "absent.skir", "--json", status=1)
tap.check("why", told(found) == [("error", "file", None, None)], found)
with open("short.npy", "wb") as file:
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }".ljust(117) + b"\n"
    file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"\0" * 8)
for claim, argument, id, text in (
        ("an input that is not there", "-ia=absent.npy", "contents", "input 'a': cannot open 'absent.npy'"),
        ("an input of another shape", "-ia=short.npy", "contents", "input 'a': 'short.npy'"),
        ("an output that cannot be written", "-om=absent/m.npy", "file", "cannot write 'absent/m.npy'")):
    found = report(f"JSON of {claim}", "graph.skir", argument, "--json", status=1)
    tap.check("  the reason", told(found) == [("error", id, None, None)] and
              found["diagnostics"][0]["text"].startswith(text), found)
found = report("JSON of an operand that is out of range", "range.skir", "--json", "-ii=7", status=1)
tap.check("its code and place", told(found) == [("error", "operand-value", None, 5)] and
          "is 7" in found["diagnostics"][0]["text"], found)
found = report("JSON of a second file that is refused", "graph.skir", "--compare=stub.skir", "--json", status=1)
tap.check("which", told(found) == [("error", "stub", "stub.skir", 4)] or
          told(found)[-1][2] == "stub.skir", found)
done = tap.skirc("run", "stub.skir", "--json", "--graph=no")
tap.check("wrong usage has none", done.returncode == 2 and not done.stdout, done)
done = tap.skirc("run", "graph.skir", "--json=no/such/run.json", "--repeat=0")
tap.check("a file that cannot be written is status 1", done.returncode == 1
          and "no/such/run.json" in done.stderr, done)

tap.done()
