"""run --profile: what was recorded is a trace in which every op begins and ends on each core that it runs on."""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

# The source for NPUs records no barriers and flags.
ON_HOST = os.environ.get("SKIR_TARGET", "host") == "host"
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def trace(path="trace.json"):
    with open(path) as file:
        return json.load(file)


def spans(events, claim):
    """The spans of each core, as (category, name, begin, end, launch); checks that they nest."""
    rows = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
            if event["name"] == "thread_name"}
    found, stacks, wrong = collections.defaultdict(list), collections.defaultdict(list), []
    last = collections.defaultdict(float)
    for event in events:
        if event["ph"] == "M":
            continue
        row = event["pid"], event["tid"]
        core, stack = rows[row], stacks[row]
        if event["ts"] < last[row]:
            wrong.append(f"{core} goes back in time at {event}")
        last[row] = event["ts"]
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

MS = r" *([\d.]+) ms"
ROW = re.compile(rf"{MS}  {MS}  +([\d.]+) %  +(\d+) (ai[cv])(?:  {MS}|  +-)?  (.*?)(?:, alone| in (\w+))")


def tables(printed):
    """The rows that are printed: (blocked, name, launch, core type) with (cores, all, longest,
    share, of the other run)."""
    rows, blocked = {}, None
    for line in printed.splitlines():
        if line.startswith("time in which cores "):
            blocked = line == "time in which cores were blocked:"
        row = ROW.fullmatch(line)
        if row:
            total, longest, share, cores, core, other, name, launch = row.groups()
            rows[blocked, name, launch, core] = (int(cores), total, longest, share, other)
    return rows


def check_tables(claim, printed, data, found):
    rows = tables(printed)
    numbers = {(blocked, row["name"], row.get("launch"), row["core_type"]):
               (row["cores"], f"{row['all_cores_ms']:.3f}", f"{row['longest_core_ms']:.3f}",
                f"{row['share'] * 100:.1f}")
               for blocked, key in ((False, "ops"), (True, "blocked"))
               for row in data["otherData"][key]}
    tap.check(claim + ": the tables say what the file says", rows and numbers ==
              {row: values[:4] for row, values in rows.items()}, printed)
    counts = collections.Counter(
        (kind not in ("op", "notify"), name, None if launch == "Softmax" else launch, core[:3])
        for core in found for kind, name, launch in {(s[0], s[1], s[4]) for s in found[core]}
        if kind != "kernel")
    tap.check(claim + ": and have as many cores as the trace has rows with them",
              counts == {row: values[0] for row, values in rows.items()}, (counts, rows))
    for blocked in False, True:
        order = [float(values[1]) for row, values in rows.items() if row[0] == blocked]
        tap.check(claim + ": the longest stands first", order == sorted(order, reverse=True), order)
    tap.check(claim + ": an op that is a launch is alone", (False, "Softmax(%v, %o)", None, "aiv")
              in rows and (False, "MatMul(%a, %b, %m)", "g_s", "aic") in rows, rows)
    tap.check(claim + ": barriers and flags are there by name", not ON_HOST or any(
        row[:2] == (True, "await aiv before " + ADD) for row in rows) and any(
        row[0] and row[1].startswith("wait c2v before " + FEW) for row in rows), rows)


MATMUL, FEW, ADD = "MatMul(%a, %b, %m)", "Mul(%m, %a, %v)", "Add(%v, %b, %w)"
for mode in "0", "1":
    claim = "stream-fusion=" + mode
    done = tap.skirc("run", "graph.skir", "--profile=trace.json", "--sk-options=stream-fusion=" + mode)
    tap.check(claim + ": runs, and prints what it always does", done.returncode == 0
              and re.search(r"^g: 6 ops in \d+ launches, median [\d.]+ ms of \d+ runs, "
                            r"minimum [\d.]+ ms, spread [\d.]+ ms\n\Z", done.stdout, re.M)
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
    check_tables(claim, done.stdout, data, found)
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
    tap.check(claim + ": the launch of an op is recorded on its cores",
              cores_of(found, "op", "Softmax(%v, %o)") == cores_of(found, "kernel", "Softmax")
              == names("aiv", 48), cores_of(found, "kernel", "Softmax"))
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
          and json.JSONDecoder().raw_decode(done.stdout)[0]["traceEvents"], done.stdout[:300] + done.stderr)
done = tap.skirc("run", "graph.skir", "--sk-options=profiling=1", "--compare=unfused")
tap.check("with the option alone nothing is written, and results are the same",
          done.returncode == 0 and "bit-exact" in done.stdout, done.stdout + done.stderr)
write("none.skir", "skir 1\ngraph @g(%a: f16[4]) -> f16[4] {\n  %b = Add(%a, %a) : f16[4]\n  return %b\n}\n")
done = tap.skirc("run", "none.skir", "--profile=none.json")
found = spans(trace("none.json")["traceEvents"], "no super kernel")
tap.check("without super kernels it is that of the ops", done.returncode == 0
          and cores_of(found, "op", "Add(%a, %a, %b)") == names("aiv", 48), done.stderr)
done = tap.skirc("run", "graph.skir", "--profile=trace.json", "--compare=unfused", "--repeat=2")
rows = tables(done.stdout)
tap.check("the other run stands beside it", done.returncode == 0
          and all((values[4] is None) == (row[0] or row[1].startswith("notify"))
                  for row, values in rows.items()) and re.search("cores +unfused  op$", done.stdout, re.M),
          done.stdout)

# Barriers of a kernel.
write("own.c", """
#include "skrt.h"
void own(skrt_core *core, uint64_t args);
void own(skrt_core *core, uint64_t args)
{
    (void)args;
    skrt_kernel_sync_all(core);
}
""")
CC = os.environ.get("CC", "cc").split() or ["cc"]
subprocess.run([*CC, "-c", "-fPIC", "-O0", "-fno-stack-protector",
                *("-I" + os.path.join(tap.SOURCE, folder) for folder in ("backend/runtime", "ir/core")),
                "own.c", "-o", "own.o"], check=True)
write("own.skir", """skir 1
kernel @own : aiv_only {
  op = "Own", block = 8, object = "own.o", function = "own", params = [x, y], sync_all = true
}
graph @g(%x: f16[4]) -> f16[4] {
  scope @s {
    %y = Own(%x) : f16[4] via @own
    %z = Own(%y) : f16[4] via @own
  }
  return %z
}
""")
done = tap.skirc("run", "own.skir", "--profile=own.json", "--repeat=0", "--compare=unfused",
                 "--trust-kernels")
row = tables(done.stdout).get((True, "full barrier in Own(%x, %y)", "g_s", "aiv"))
tap.check("a kernel's own barriers are blocked time inside of its op, in both runs",
          row and row[0] == 7 and row[4] or not ON_HOST, done.stdout + done.stderr)
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
          and not [event for event in trace()["traceEvents"]
                   if event["ph"] == "B" and event["args"]["launch"] != "Softmax"], done.stderr)
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
