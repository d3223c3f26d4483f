"""run: ops that call graphs, by what comes out."""

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

BRANCHES = """
graph @double(%x: f32[4]) -> f32[4] {
  scope @s {
    %y = Add(%x, %x) : f32[4]
  }
  return %y
}

graph @square(%x: f32[4]) -> f32[4] {
  %y = Mul(%x, %x) : f32[4]
  return %y
}

graph @same(%x: f32[4]) -> f32[4] {
  return %x
}
"""


def elements(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    code = "f" if b"'<f4'" in data[:10 + size] else "i"
    return list(struct.unpack(f"<{(len(data) - 10 - size) // 4}{code}", data[10 + size:]))


def run(file, outputs, *arguments, **inputs):
    """The run, and the first element of each output, NaN where there is none."""
    for output in outputs:
        if os.path.exists(output + ".npy"):
            os.remove(output + ".npy")
    options = [f"-i{name}={n if isinstance(n, str) else f'rand:{n}..{n}'}"
               for name, n in inputs.items()]
    options += [f"-o{name}={name}.npy" for name in outputs]
    done = tap.skirc("run", file, *options, *arguments)
    return done, [elements(name + ".npy")[0] if os.path.exists(name + ".npy") else None
                  for name in outputs]


def gives(claim, file, wanted, *arguments, text="", **inputs):
    done, found = run(file, wanted, *arguments, **inputs)
    tap.check(claim, done.returncode == 0 and found == list(wanted.values()) and
              text in done.stdout, f"{found}: {done.stdout}{done.stderr}")


def refuses(claim, file, status, text, *arguments, **inputs):
    done, _ = run(file, [], *arguments, **inputs)
    tap.check(claim, done.returncode == status and text in done.stderr,
              f"status {done.returncode}: {done.stdout}{done.stderr}")


# ---- One of several ----

write("if.skir", "skir 1\n" + BRANCHES + """
graph @main(%c: bool[], %f: f16[1], %n: i64[], %x: f32[4]) -> (f32[4], f32[4], f32[4], f32[4]) {
  %p = If(%c, %x) {then_branch = @double, else_branch = @square} : f32[4]
  %q = If(%f, %x) {then_branch = @double, else_branch = @square} : f32[4]
  %r = StatelessIf(%n, %x) {then_branch = @same, else_branch = @square} : f32[4]
  %k = Case(%n, %x) {branches = [@double, @square, @same]} : f32[4]
  return %p, %q, %r, %k
}
""")
gives("what is not 0 is true: bool, floats and integers", "if.skir",
      {"p": 6, "q": 6, "r": 3, "k": 9}, c="ones", f=0.5, n=1, x=3)
gives("0 is false, and so is -0", "if.skir", {"p": 9, "q": 9, "r": 9, "k": 6},
      c="zeros", f="rand:-0..-0", n=0, x=3)
gives("an index below 0 is the last graph", "if.skir", {"k": 3}, n=-1, x=3)
gives("and so is one past the end", "if.skir", {"k": 3}, n=1000000000000, x=3)
gives("only the chosen graphs are launched, and compared with themselves op by op", "if.skir",
      {"p": 6}, "--compare=unfused", "--race-check", text="4 ops in 3 launches",
      c="ones", f="ones", n=1, x=3)

# ---- Loops ----

write("while.skir", "skir 1\n" + BRANCHES + """
graph @left(%n: f32[], %m: f32[], %x: f32[4]) -> f32[] {
  return %n
}

graph @next(%n: f32[], %m: f32[], %x: f32[4]) -> (f32[], f32[], f32[4]) {
  %left = Add(%n, %m) : f32[]
  %y = If(%left, %x) {then_branch = @double, else_branch = @square} : f32[4]
  %z = PartitionedCall(%y) {f = @same} : f32[4]
  return %left, %m, %z
}

graph @main(%n: f32[], %m: f32[], %x: f32[4]) -> (f32[], f32[4]) {
  %k, %l, %y = While(%n, %m, %x) {cond = @left, body = @next} : (f32[], f32[], f32[4])
  return %k, %y
}
""")
gives("a While counts, an If in it takes both branches", "while.skir", {"k": 0, "y": 144},
      "--compare=unfused", "--race-check", text="bit-exact", n=3, m=-1, x=3)
gives("a While that never is true returns its arguments", "while.skir", {"k": 0, "y": 3},
      text="in 0 launches", n=0, m=-1, x=3)
refuses("a While that does not end is ended", "while.skir", 1,
        "While %k of graph '@main' has called its body 50 times: --max-iterations allows no more",
        "--max-iterations=50", n=3, m=0, x=1)
gives("up to as many calls as are allowed", "while.skir", {"k": 0}, "--max-iterations=3",
      n=3, m=-1, x=1)
refuses("another graph may be run by itself", "while.skir", 0, "", "--graph=same")
done, _ = run("while.skir", [], "--profile=profile.json", n=3, m=-1)
tap.check("launches of called graphs are in profiles, each time",
          done.returncode == 0 and open("profile.json").read().count("double_s") >= 2, done.stderr)

write("for.skir", """skir 1
graph @fib(%i: i32[], %last: i32[], %a: f32[4], %b: f32[4]) -> (i32[], f32[4], f32[4]) {
  %s = Add(%a, %b) : f32[4]
  return %i, %s, %a
}

graph @keep(%i: i32[], %cache: f32[4], %x: f32[4]) -> (f32[4], f32[4]) {
  Assign(%cache, %x) {inplace = [0]}
  %y = Add(%x, %x) : f32[4]
  return %cache, %y
}

graph @main(%from: i32[], %to: i32[], %step: i32[], %x: f32[4], %cache: f32[4])
    -> (f32[4], f32[4]) {
  %i, %a, %b = For(%from, %to, %step, %to, %x, %x) {body = @fib} : (i32[], f32[4], f32[4])
  %c, %y = For(%from, %to, %step, %cache, %x) {body = @keep, alias = [3, none]} : (f32[4], f32[4])
  return %a, %c
}
""")
gives("a For counts up to its limit, and passes on what is returned in another place", "for.skir",
      {"i": 5, "a": 5, "b": 3, "cache": 4, "c": 4, "y": 8}, "--compare=unfused",
      **{"from": 1, "to": 6, "step": 2, "x": 1, "cache": "zeros"})
gives("and down", "for.skir", {"i": 2, "a": 8, "b": 5, "c": 8},
      **{"from": 5, "to": 1, "step": -1, "x": 1})
gives("and not at all", "for.skir", {"i": 5, "a": 1, "b": 1, "cache": 7, "c": 7},
      **{"from": 5, "to": 5, "step": 1, "x": 1, "cache": 7})
refuses("but not by 0", "for.skir", 1, "For %i of graph '@main' counts by 0",
        **{"from": 1, "to": 6, "step": 0})

# ---- Choice of the graph ----

write("two.skir", "skir 1\n" + BRANCHES)
refuses("of several graphs that no other calls one is chosen", "two.skir", 2, "choose one by --graph")
refuses("also by its name", "two.skir", 0, "", "--graph=square")
write("gears.skir", """skir 1
graph @p(%x: f32[b, 2]) gears zip (b = [2, 4]) -> f32[b, 2] {
  %z = Exp(%x)
  return %z
}
graph @q(%y: f32[c, 2]) gears zip (c = [2, 4]) -> f32[c, 2] {
  %z = Exp(%y)
  return %z
}
graph @r(%x: f32[b, 2]) gears zip (b = [2, 8]) -> f32[b, 2] {
  %z = Exp(%x)
  return %z
}
""")
several = "the file has several graphs that no other calls; choose one by --graph: "
refuses("graphs that have a name which is given are told", "gears.skir", 2,
        several + "'p' or 'r', which have 'b'\n", "--bind=b=4")
refuses("and one alone", "gears.skir", 2, several + "'q', which has 'c', '%y'\n", "--bind=c=4",
        "--shape=y=4,2")
refuses("and all where none has what is given", "gears.skir", 2, several + "'p', 'q' or 'r'\n",
        "--bind=c=4", "--bind=b=4")
refuses("a graph is chosen by its name, whatever others have", "gears.skir", 0, "", "--graph=p",
        "--bind=b=4")
refuses("whose names are meant", "gears.skir", 2, "--bind: the graph 'p' declares no dimension 'c'",
        "--graph=p", "--bind=c=4")

# ---- Calls and their graphs in their place give the same ----


def random_module(seed, left):
    """Graphs that call those before them; `left`: in a way that inline-calls leaves calls."""
    # launches of several streams have their cores side by side
    rng, text = random.Random(seed), 'skir 1\ntarget "large" {aic = 512, aiv = 1024}\n'
    for graph in range(4):
        values = ["%p", "%q"]
        text += f"graph @g{graph}(%p: f32[16], %q: f32[16]) -> (f32[16], f32[16]) {{\n"
        for n in range(rng.randrange(2, 6)):
            a, b = rng.choice(values), rng.choice(values)
            stream = rng.randrange(3)
            line = f"%v{n} = {rng.choice(['Add', 'Mul'])}({a}, {b}) : f32[16]"
            if graph and rng.random() < 0.5:
                own = ', writes = "log"' if left else ""
                line = (f"%v{n}, %w{n} = PartitionedCall({a}, {b}) {{f = @g{rng.randrange(graph)}{own}}}"
                        " : (f32[16], f32[16])")
                values.append(f"%w{n}")
            values.append(f"%v{n}")
            if rng.random() < 0.3:
                line = f"scope @s{stream} {{\n{line}\n}}"
            text += f'stream "{stream}" {{\n{line}\n}}\n' if stream else line + "\n"
        text += f"return {rng.choice(values)}, {rng.choice(values)}\n}}\n"
    # Results of the last graph, under names that do not depend on what is inlined.
    return text + """graph @main(%a: f32[16], %b: f32[16]) -> (f32[16], f32[16]) {
  %c, %d = StatefulPartitionedCall(%a, %b) {f = @g3, writes = "log"} : (f32[16], f32[16])
  return %c, %d
}
"""


bad = []
for seed in range(12):
    results = []
    for left in False, True:
        write("random.skir", random_module(seed, left))
        done = tap.skirc("run", "random.skir", "--graph=main", "--sk-options=stream-fusion=1", "-oc=c.npy",
                         "-od=d.npy", "--race-check")
        results.append((done.returncode, elements("c.npy") + elements("d.npy"))
                       if done.returncode == 0 else (done.returncode, done.stderr))
    if results[0] != results[1] or results[0][0] != 0:
        bad.append(f"seed {seed}: {results}")
tap.check("random modules compute the same, whether calls are replaced or not", not bad,
          "\n".join(bad))

# ---- Many graphs ----


def chain(count, calls):
    """Graphs each of which calls the one before so often."""
    text = "skir 1\ngraph @g0(%x: f32[4]) -> f32[4] {\n  %y = Add(%x, %x) : f32[4]\n  return %y\n}\n"
    for i in range(1, count):
        text += f"graph @g{i}(%x: f32[4]) -> f32[4] {{\n  %y0 = Mul(%x, %x) : f32[4]\n"
        for j in range(calls):
            text += f"  %y{j + 1} = PartitionedCall(%y{j}) {{f = @g{i - 1}}} : f32[4]\n"
        text += f"  return %y{calls}\n}}\n"
    return text


write("twice.skir", chain(24, 2))
done = tap.skirc("opt", "--passes=inline-calls", "--remarks", "twice.skir", "-o", "out.skir")
tap.check("calls are left where the module would become too large", done.returncode == 0 and
          "this call is left: the module would become too large, by more than 65536 ops and four "
          "times those that it had [call-left]" in done.stderr and
          20_000 < open("out.skir").read().count("\n") < 100_000, done.stderr[:500])
# Did each of them look at all, this would not end.
write("long.skir", chain(30000, 1))
done = tap.skirc("check", "--explain", "long.skir")
tap.check("30,000 graphs that call each other do not each look at all", done.returncode == 0,
          done.stderr[:500])

tap.done()
