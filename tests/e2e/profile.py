"""run --profile: what was recorded is a trace in which every op begins and ends on each core that it runs on."""

import collections
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def trace(path="trace.json"):
    with open(path) as file:
        return json.load(file)


def spans(events, claim):
    """The spans of each core, as (category, name, begin, end, launch); checks that they nest."""
    rows = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    found, stacks, wrong = collections.defaultdict(list), collections.defaultdict(list), []
    last = collections.defaultdict(float)
    for event in events:
        if event["ph"] == "M":
            continue
        core, stack = rows[event["tid"]], stacks[event["tid"]]
        if event["ts"] < last[core]:
            wrong.append(f"{core} goes back in time at {event}")
        last[core] = event["ts"]
        if event["ph"] == "B":
            stack.append(event)
            continue
        begin = stack.pop() if stack else {}
        if begin.get("name") != event["name"] or begin["ts"] > event["ts"]:
            wrong.append(f"{core}: {begin} does not fit {event}")
            continue
        found[core].append((event["cat"], event["name"], begin["ts"], event["ts"],
                            event["args"]["launch"]))
    wrong += [f"no end of {stack}" for stack in stacks.values() if stack]
    tap.check(claim + ": every begin has its end, behind it and on the same core", not wrong,
              "\n".join(wrong[:5]))
    return found


def cores_of(found, category, name):
    counts = collections.Counter(core for core in found for span in found[core]
                                 if span[:2] == (category, name))
    return counts


def names(kind, count):
    return {f"{kind} {i}": 1 for i in range(count)}


# A cube op, a mixed op of fewer blocks, vector ops of fewer blocks; and an op outside.
write("graph.skir", """skir 1
kernel @few : aiv_only {
  op = "Mul", block = 5, object = "mul.o", function = "mul", params = [x1, x2, y, tiling]
}
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> (f16[32, 32], f16[32, 32]) {
  scope @s {
    %m = MatMul(%a, %b) : f16[32, 32]
    %v = Mul(%m, %a) : f16[32, 32] via @few
    stream "1" {
      %w = Add(%v, %b) : f16[32, 32]
    }
  }
  stream "2" {
    %o = Softmax(%v) : f16[32, 32]
  }
  scope @t {
    %n = MatMul(%w, %b) : f16[32, 32]
    %r = Add(%n, %o) : f16[32, 32]
  }
  return %r, %w
}
""")

MATMUL, FEW, ADD = "MatMul(%a, %b, %m)", "Mul(%m, %a, %v)", "Add(%v, %b, %w)"
for mode in "0", "1":
    claim = "stream-fusion=" + mode
    done = tap.skirc("run", "graph.skir", "--profile=trace.json", "--sk-options=stream-fusion=" + mode)
    tap.check(claim + ": runs, and prints what it always does", done.returncode == 0
              and re.fullmatch(r"g: 6 ops in \d+ launches, median [\d.]+ ms of \d+ runs, "
                                r"minimum [\d.]+ ms, spread [\d.]+ ms\n", done.stdout)
              and done.stderr == "", done.stdout + done.stderr)
    data = trace()
    tap.check(claim + ": nothing was dropped", data["otherData"]["dropped"] == 0, data["otherData"])
    found = spans(data["traceEvents"], claim)
    tap.check(claim + ": one row per core", set(found) == set(names("aic", 24)) | set(names("aiv", 48)),
              sorted(found))
    for name, cores in (MATMUL, names("aic", 24)), (FEW, names("aiv", 5)), (ADD, names("aiv", 48)):
        tap.check(f"{claim}: {name} is recorded once on the cores that it runs on, and on no other",
                  cores_of(found, "op", name) == cores, cores_of(found, "op", name))
    for launch in "g_s", "g_t":
        tap.check(f"{claim}: {launch} is recorded on all cores",
                  cores_of(found, "kernel", launch) == {**names("aic", 24), **names("aiv", 48)},
                  cores_of(found, "kernel", launch))
    inside = all(any(kernel[0] == "kernel" and kernel[4] == span[4] and kernel[2] <= span[2]
                     and span[3] <= kernel[3] for kernel in row)
                 for row in found.values() for span in row)
    tap.check(claim + ": all of a launch is within its kernel's span", inside)
    begins = {name: min(span[2] for row in found.values() for span in row if span[1] == name)
              for name in (MATMUL, FEW, ADD)}
    ends = {name: max(span[3] for row in found.values() for span in row if span[1] == name)
            for name in (MATMUL, FEW, ADD)}
    tap.check(claim + ": an op begins after the one that it needs has ended",
              ends[MATMUL] <= begins[FEW] and ends[FEW] <= begins[ADD], (begins, ends))
    launches = {name: [span for row in found.values() for span in row if span[1] == name]
                for name in ("g_s", "g_t")}
    tap.check(claim + ": a launch begins after the one before it has ended",
              max(span[3] for span in launches["g_s"]) <= min(span[2] for span in launches["g_t"]))

# ---- Events ----

write("events.skir", """skir 1
graph @g(%a: f16[32, 32]) -> (f16[32, 32], f16[32, 32]) {
  stream "1" {
    %u = MatMul(%a, %a) : f16[32, 32]
  }
  scope @s {
    %v = Mul(%a, %a) : f16[32, 32]
    %w = Add(%v, %u) : f16[32, 32]
    %x = Mul(%w, %a) : f16[32, 32]
  }
  stream "2" {
    %o = Softmax(%w) : f16[32, 32]
  }
  return %x, %o
}
""")
done = tap.skirc("run", "events.skir", "--profile=trace.json")
found = spans(trace()["traceEvents"], "events")
lowered = tap.skirc("compile", "--emit=entry", "events.skir").stdout
tap.check("the entry waits and notifies", "wait_event" in lowered and "notify" in lowered, lowered)
for category, name in ("notify", "notify of Add(%v, %u, %w)"), ("wait", "wait of Add(%v, %u, %w)"):
    tap.check(f"a {category} is recorded on the core that executes it",
              cores_of(found, category, name) == {"aiv 0": 1}, cores_of(found, category, name))

# ---- Options, and what goes wrong ----

done = tap.skirc("run", "graph.skir", "--profile=-", "--sk-options=profiling=0")
tap.check("--profile counts over --sk-options; the file - is standard output", done.returncode == 0
          and json.loads(done.stdout.splitlines()[0])["traceEvents"], done.stdout[:300] + done.stderr)
done = tap.skirc("run", "graph.skir", "--sk-options=profiling=1", "--compare=unfused")
tap.check("with the option alone nothing is written, and results are the same",
          done.returncode == 0 and "bit-exact" in done.stdout, done.stdout + done.stderr)
write("none.skir", "skir 1\ngraph @g(%a: f16[4]) -> f16[4] {\n  %b = Add(%a, %a) : f16[4]\n  return %b\n}\n")
done = tap.skirc("run", "none.skir", "--profile=none.json")
tap.check("without super kernels the trace is empty", done.returncode == 0
          and trace("none.json")["traceEvents"] == [], done.stderr)
done = tap.skirc("run", "graph.skir", "--profile=no/such/folder.json")
tap.check("a file that cannot be written is status 1", done.returncode == 1
          and "no/such/folder.json" in done.stderr, done.stderr)
done = tap.skirc("run", "graph.skir", "--profile=trace.json", "--race-check")
tap.check("records and race check go together", done.returncode == 0 and "race-free" in done.stdout,
          done.stdout + done.stderr)

# Text that a pass would not make: an entry with records but without the slots for a buffer.
made = tap.skirc("compile", "--emit=skir", "graph.skir", "--sk-options=profiling=1").stdout
write("slots.skir", made.replace("  args [profiling, profiling]\n", ""))
done = tap.skirc("run", "slots.skir", "--profile=trace.json")
tap.check("records without slots are passed over", done.returncode == 0
          and trace()["traceEvents"] == [], done.stderr)
write("workspace.skir", made.replace("  args [profiling", "  args [sync_workspace]\n  args [profiling")
      .replace("split = 4}", "split = 4, workspace = 4096}"))
done = tap.skirc("run", "workspace.skir", "--profile=trace.json")
tap.check("the slot of the entry's workspace stands before those of the buffer", done.returncode == 0
          and "sync_workspace" in open("workspace.skir").read()
          and len(spans(trace()["traceEvents"], "with a workspace")) == 72, done.stderr)
write("deadlock.skir", re.sub(r"    set c2v\n", "", made, count=1))
done = tap.skirc("run", "deadlock.skir", "--unproven", "--profile=trace.json")
tap.check("of a launch that hangs there is what it did", done.returncode == 1
          and "deadlock" in done.stderr and any(event["name"] == MATMUL and event["ph"] == "E"
                                                for event in trace()["traceEvents"]), done.stderr)

tap.done()
