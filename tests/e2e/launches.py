"""skirc check --launches: the account of a program's launches, and the answer to a table of
launches: where its scopes are to be split so that nothing hangs. Answers are as the schema in docs
says, tables are refused with the place of what is wrong, and large ones take no time."""

import json
import os
import re
import sys
import tempfile
import time

try:
    import jsonschema
except ImportError:
    jsonschema = None

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

SCRATCH = tempfile.mkdtemp()
with open(os.path.join(tap.SOURCE, "docs", "launches.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)


def against(part, value):
    """What the schema has against a value, where it can be asked; or None."""
    if not jsonschema:
        return None
    schema = {"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{part}"}
    error = jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(schema).iter_errors(value))
    return error and f"{error.json_path}: {error.message}"


def write(name, text):
    path = os.path.join(SCRATCH, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def ask(table, name="table.json"):
    """The answer to a table, its exit status, and how many seconds it took."""
    text = table if isinstance(table, str) else json.dumps(table)
    path = write(name, text)
    start = time.monotonic()
    done = tap.skirc("check", "--launches", path, timeout=120)
    return done, time.monotonic() - start


def compute(stream, task, blocks=24, core="cube", scope=None, **more):
    return {"task": task, "stream": stream, "kind": "compute", "core": core, "blocks": blocks,
            "scope": scope, **more}


def wait(stream, task, event, scope=None):
    return {"task": task, "stream": stream, "kind": "wait", "event": event, "scope": scope}


def notify(stream, task, event, scope=None):
    return {"task": task, "stream": stream, "kind": "notify", "event": event, "scope": scope}


def check_answer(claim, nodes, verdict, splits, device=None):
    """`splits`: pairs of a node and an action."""
    table = {"device": device, "nodes": nodes} if device else nodes
    done, _ = ask(table)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        tap.check(claim, False, done.stdout + done.stderr)
        return None
    said = [(split["node"], split["action"]) for split in answer["splits"]]
    wrong = against("table", table) or against("answer", answer)
    tap.check(claim, answer["verdict"] == verdict and said == splits and not wrong
              and done.returncode == (0 if verdict == "safe" else 1),
              f"{wrong}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
    return answer


# ---- Answers ----

def two_scopes(blocks, waits):
    return [compute(0, 1, blocks, scope="s"), compute(0, 2, blocks, scope="s")] + \
        ([notify(0, 3, "e", "s")] if waits else []) + \
        [compute(0, 4, blocks, scope="s"), compute(1, 5, blocks, scope="t")] + \
        ([wait(1, 6, "e", "t")] if waits else []) + \
        [compute(1, 7, blocks, scope="t"), compute(1, 8, blocks, scope="t")]


answer = check_answer("a scope that waits in the middle with all cores is split at the wait",
                      two_scopes(24, True), "safe", [(6, "BEFORE_NODE")])
tap.check("the reason says so, and names a task that lacks cores",
          answer and answer["splits"][0]["reason"].startswith("deadlock")
          and answer["splits"][0]["other"] == 1, answer)
check_answer("where both scopes have cores it stays", two_scopes(12, True), "safe", [])
check_answer("of scopes that keep cores from each other the tasks of one are taken out",
             two_scopes(24, False), "safe",
             [(task, "EXCLUDE_NODE") for task in (1, 2, 4)])
check_answer("also where each of them sends",
             [compute(0, 1, scope="s"), notify(0, 2, "a", "s"), compute(0, 3, scope="s"),
              compute(1, 4, scope="t"), notify(1, 5, "b", "t"), compute(1, 6, scope="t")],
             "safe", [(1, "EXCLUDE_NODE"), (3, "EXCLUDE_NODE")])
check_answer("where they fit beside each other, none is", two_scopes(12, False), "safe", [])
RING = [compute(0, "a", scope=1), notify(0, "b", 7, 1), wait(0, "c", 8, 1),
        compute(0, "d", scope=1), wait(1, "e", 7), compute(1, "f", 8), notify(1, "g", 8)]
check_answer("a ring through a task outside is split", RING, "safe", [("c", "BEFORE_NODE")])
check_answer("and stays where that task has other cores",
             [{**node, "core": "vector"} if node["task"] == "f" else node for node in RING],
             "safe", [])
check_answer("kernels with barriers over all cores need those that they were built for",
             [compute(0, 1, 24, scope="s"), compute(0, 2, 8, scope="s", sync_all=True),
              compute(0, 3, 24, scope="s")], "safe",
             [(2, "BEFORE_NODE"), (3, "BEFORE_NODE")])
check_answer("and stay where they have them",
             [compute(0, 1, 24, scope="s"), compute(0, 2, 24, scope="s", sync_all=True)],
             "safe", [])
check_answer("two such kernels in no scopes cannot be helped",
             [compute(0, 1, sync_all=True), compute(1, 2, sync_all=True)], "hangs", [])
check_answer("nor can a circle of events",
             [wait(0, 1, "a"), compute(0, 2), notify(0, 3, "b"),
              wait(1, 4, "b"), compute(1, 5), notify(1, 6, "a")], "circle", [])
check_answer("an event that nobody sends comes from outside",
             [wait(0, 1, "a"), compute(0, 2), compute(1, 3)], "safe", [])
check_answer("an event that is sent again is waited for again",
             [compute(0, 1), notify(0, 2, "a"), compute(0, 3), notify(0, 4, "a"),
              wait(1, 5, "a"), compute(1, 6), wait(1, 7, "a"), compute(1, 8)], "safe", [])
check_answer("a scope on two streams is one launch, in the order of its events",
             [compute(0, 1, scope="s"), wait(0, 2, "a", "s"), compute(0, 3, scope="s"),
              compute(1, 4, scope="s"), notify(1, 5, "a", "s")], "safe", [])
check_answer("what stands before it on the other stream comes before it, what behind it behind",
             [compute(0, 1, scope="s"), compute(0, 2, scope="s"), compute(1, 3, 24, sync_all=True),
              compute(1, 4, scope="s"), compute(1, 5, 24, sync_all=True)], "safe", [])
check_answer("vector blocks on each AI core keep mixed ones out, though cores are free",
             [compute(0, 1, 2, scope="s", core="vector"),
              wait(0, 2, "e", "s"), compute(0, 3, 2, scope="s", core="vector"),
              compute(1, 4, 1, core="mix", ratio=[1, 2]), notify(1, 5, "e")],
             "safe", [(2, "BEFORE_NODE")], {"aic": 2, "aiv": 4})
check_answer("but not where an AI core is left",
             [compute(0, 1, 1, scope="s", core="vector"),
              wait(0, 2, "e", "s"), compute(0, 3, 1, scope="s", core="vector"),
              compute(1, 4, 1, core="mix", ratio=[1, 2]), notify(1, 5, "e")],
             "safe", [], {"aic": 2, "aiv": 4})
answer = check_answer("a task with barriers over more cores than there are",
                      [compute(0, 1, 5, sync_all=True)], "hangs", [], {"aic": 4, "aiv": 8})
tap.check("the state found says who has what",
          answer and answer["state"] == ["task 1 on stream 0 has 4 of 5 AICs, keeps them, and "
                                         "lacks the others"], answer)

# ---- The graph of the ahead-of-time super kernel ----

done = tap.skirc("check", "--launches",
                 os.path.join(tap.SOURCE, "tests", "import", "sk-graph", "again.json"))
tap.check("sk_graph_origin.json is a table, too", '"verdict":"safe"' in done.stdout,
          done.stdout + done.stderr)

# ---- What is refused ----

GOOD = json.dumps(compute(0, 1))
REFUSED = [
    ("no kind", '[{"stream": 0}]', "1:2: error: this task has no 'kind' [foreign-form]"),
    ("no stream", '[{"kind": "wait", "event": 1}]', "1:2: error: this task has no 'stream'"),
    ("no event", '[{"kind": "wait", "stream": 1}]', "1:2: error: this task has no 'event'"),
    ("no blocks", '[{"kind": "compute", "stream": 1, "core": "cube"}]',
     "1:2: error: this task has no 'blocks'"),
    ("no core", '[{"kind": "compute", "stream": 1, "blocks": 1}]',
     "1:2: error: this task has no 'core'"),
    ("another core", '[{"kind": "compute", "stream": 1, "blocks": 1, "core": "dsp"}]',
     "1:56: error: this must be 'cube', 'vector' or 'mix', whose 'ratio' is [1, 1] or [1, 2]"),
    ("no mixed ratio", '[{"kind": "compute", "stream": 1, "blocks": 1, "core": "mix", '
     '"ratio": [2, 1]}]', "1:56: error: this must be 'cube', 'vector' or 'mix'"),
    ("a large ratio", '[{"ratio": [1, 3]}]', "1:16: error: this must be a number from 0 to 2"),
    ("too many blocks", '[{"blocks": 65537}]',
     "1:13: error: this must be a number from 0 to 65536 [number-range]"),
    ("blocks that are no number", '[{"blocks": "8"}]',
     "1:13: error: this must be a number, not a string"),
    ("a task that is no number", '[{"task": 1.5}]', "1:11: error: this must be a whole number"),
    ("a task that is a list", '[{"task": []}]', "1:11: error: this must be a string, not a list"),
    ("no nodes", '{"device": {}}', "1:1: error: this is no table of tasks: it has no 'nodes'"),
    ("a large device", '{"device": {"aic": 4096}}', "1:20: error: this must be a number from 0"),
    ("an event sent twice", json.dumps([notify(0, 1, "a"), notify(0, 2, "a"), wait(1, 3, "a")]),
     "error: this event is sent 2 times, and waited for 1 times"),
    ("a task between", json.dumps([compute(0, 1, scope="s"), compute(0, 2),
                                   compute(0, 3, scope="s")]),
     "error: this task stands on its stream between tasks of a scope that it is not in"),
    ("a circle in a scope", json.dumps([wait(0, 1, "a", "s"), notify(0, 2, "b", "s"),
                                        wait(1, 3, "b", "s"), notify(1, 4, "a", "s")]),
     "error: this task waits for itself, by events of its scope"),
    ("half a table", f'[{GOOD},', "[foreign-syntax]"),
    ("two values", f'[{GOOD}] 1', "[foreign-syntax]"),
    ("no JSON", "skir 1", "[foreign-syntax]"),
    ("nothing", "", "[foreign-syntax]"),
    ("deep lists", "[" * 100000, "error: this must be an object, not a list"),
    ("deep objects", '[{"a":' * 100000, "error:"),
    ("many streams", json.dumps([compute(i, i, 1) for i in range(5000)]),
     "error: there are more than 4096 streams"),
]
for name, text, message in REFUSED:
    done, _ = ask(text)
    tap.check(f"refused: {name}", done.returncode == 1 and message in done.stderr
              and not done.stdout, f"status {done.returncode}\n{done.stdout}{done.stderr[:2000]}")
done = tap.skirc("check", "--launches", os.path.join(SCRATCH, "absent.json"))
tap.check("a table that is not there", done.returncode == 1 and "[file]" in done.stderr,
          done.stderr)

# ---- Large tables ----

def layers(count):
    nodes = []
    for i in range(count):
        nodes += [compute(1, f"y{i}", 8, "vector"), notify(1, f"n{i}", f"e{i}"),
                  compute(0, f"a{i}", 24, "mix", scope=f"s{i}"),
                  wait(0, f"w{i}", f"e{i}", f"s{i}"),
                  compute(0, f"b{i}", 24, "mix", scope=f"s{i}")]
    return nodes


for count in (500, 5000):
    done, seconds = ask(layers(count))
    answer = json.loads(done.stdout)
    tap.check(f"{2 * count} launches: all {count} scopes that wait inside are split",
              answer["verdict"] == "safe" and len(answer["splits"]) == count, done.stdout[:500])
    print(f"# {2 * count} launches: {answer['states']} states, {seconds:.2f} s")


def tangle(count):
    """Launches that nobody orders, and that are too many together for a bound, but not to fit."""
    return [compute(stream, f"{stream}.{i}", 13, core, sync_all=True, ratio=ratio)
            for stream, core, ratio in ((0, "mix", [1, 1]), (1, "vector", [0, 1]))
            for i in range(count)]


check_answer("what comes together in few ways is tried", tangle(20), "safe", [])
check_answer("what does in too many is not known", tangle(600), "unknown", [])

KERNELS = """skir 1

kernel @mix : mix_aic_1_1 {
  block = 13,
  sync_all
}

kernel @vec : aiv_only {
  block = 13,
  sync_all
}

graph @g(%a: f32[16]) -> () {
"""
program = KERNELS + "".join(f"  %m{i} = Mine(%a) : f32[16] via @mix\n" for i in range(600)) \
    + '  stream "1" {\n' \
    + "".join(f"    %v{i} = Mine(%a) : f32[16] via @vec\n" for i in range(600)) + "  }\n}\n"
done = tap.skirc("opt", "--passes=limit-residency", "-o", "/dev/null",
                 write("tangle.skir", program))
tap.check("of a program that is a warning", done.returncode == 0
          and "[launches-unknown]" in done.stderr, done.stderr)
done = tap.skirc("check", "--launches", write("tangle.skir", program))
tap.check("and the account says so", "not known: " in done.stdout, done.stdout[-300:])



def scope_ring(count):
    """Scopes of one core on streams of their own, each of which needs a part of the one before."""
    first = "".join(f'  stream "{i}" {{ scope @s{i} {{ %p{i} = Add(%a, %a) : f16[8] via @k }} }}\n'
                    for i in range(count))
    last = "".join(f'  stream "{i}" {{ scope @s{i} {{ %q{i} = Add(%p{(i - 1) % count}, %a) : f16[8]'
                   " via @k } }\n" for i in range(count))
    return ('skir 1\ntarget "t" {aic = 1, aiv = 2}\n'
            'kernel @k : aiv_only {op = "Add", block = 1, stub}\n'
            "graph @g(%a: f16[8]) -> f16[8] {\n" + first + last + "  return %q0\n}\n")


done = tap.skirc("check", "--explain", write("ring.skir", scope_ring(200)))
tap.check("of many streams it is said once, however often launches are changed",
          done.stderr.count("[launches-unknown]") == 1 and done.stdout.count("[launch-waits]") > 0,
          done.stderr[-600:])
ways = re.search(r"more than (\d+) ways", done.stderr)
tap.check("with as many ways as were tried", ways and int(ways.group(1)) != 1 << 18,
          done.stderr[-600:])

# ---- The account ----

GOLDEN = os.path.join(tap.SOURCE, "tests", "golden", "launches")


def check_account(claim, name, lines, status=0):
    path = os.path.join(GOLDEN, name + ".skir")
    done = tap.skirc("check", "--launches", path)
    tap.check(claim, done.stdout.splitlines() == [path + ":"] + lines and done.returncode == status,
              done.stdout + done.stderr)


check_account("the account: launches, what was changed, and the verdict", "wait_inside", [
    "  changed: line 19: '@g_t' waits as a whole for what MatMul %y waits for, 'n': waiting here "
    "it would keep the cores that '@g_s' lacks",
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@g_s' on the default stream, cube, 24 AICs at once; sends n in the middle",
    "    1: '@g_t' on stream \"1\", cube, 24 AICs at once; waits for n before it starts",
    "    nothing hangs (2 states tried)"])
check_account("waits in the middle, where they can stay", "wait_inside_fits", [
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@g_s' on the default stream, cube, 12 AICs at once; sends n in the middle",
    "    1: '@g_t' on stream \"1\", cube, 12 AICs at once; waits for n in the middle",
    "    nothing hangs (1 state tried)"])
check_account("graphs that are called have accounts of their own", "called_fits", [
    "  '@inner': 1 launch on 1 stream, with 24 AICs and 48 AIVs",
    "    0: '@inside' on the default stream, cube, 4 AICs at once",
    "    nothing hangs (1 state tried)",
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@first' on the default stream, cube, 20 AICs at once",
    "    1: If %x on stream \"1\", cube, 4 AICs at once",
    "    nothing hangs (1 state tried)"])
check_account("what is mixed, in turn, or sent at the end", "groups_fit", [
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@mixed' on the default stream, mix 1:2, 1 AIC and 2 AIVs; sends mixed at its end",
    "    1: '@vector' on stream \"1\", vector, 23 AIVs at once; waits for mixed in the middle",
    "    nothing hangs (1 state tried)"])
check_account("the state found, where something hangs", "halves", [
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@first' on the default stream, cube, 24 AICs at once",
    "    1: '@second' on stream \"1\", cube, 24 AICs at once",
    "    can hang (1 state tried):",
    "      '@first' on the default stream has 23 of 24 AICs, keeps them, and lacks the others",
    "      '@second' on stream \"1\" has 1 of 24 AICs, keeps them, and lacks the others"], 1)

done = tap.skirc("check", "--explain", os.path.join(GOLDEN, "wait_inside.skir"))
tap.check("the account of scopes says what waits as a whole, where kernels are known",
          "line 19: '@g_t' waits as a whole" in done.stdout and done.returncode == 0,
          done.stdout + done.stderr)
done = tap.skirc("check", "--launches", "--remarks",
                 os.path.join(tap.SOURCE, "docs", "examples", "multi_stream.skir"))
tap.check("remarks stand with the diagnostics, where they are asked for",
          "[fused]" in done.stderr and "nothing hangs" in done.stdout, done.stdout + done.stderr)
done = tap.skirc("check", "--launches", write("wrong.skir", "skir 1\ngraph @g() -> () {\n"
                                              "  %a = Unknown() : f32[1]\n}\n"))
tap.check("what cannot be lowered has no account",
          done.returncode == 1 and not done.stdout and "[unknown-op-type]" in done.stderr,
          done.stdout + done.stderr)

tap.done()
