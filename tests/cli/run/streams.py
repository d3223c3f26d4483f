"""run: launches of different streams run at the same time, and report how they keep each other from going on."""

import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def right(claim, path, *options):
    done = tap.skirc("run", path, "--compare=unfused", *options)
    tap.check(claim, done.returncode == 0 and "bit-exact" in done.stdout, done.stdout + done.stderr)
    return done


def fails(claim, report, path, *options):
    """The run ends with the report, long before its timeout."""
    start = time.monotonic()
    done = tap.skirc("run", path, *options)
    seconds = time.monotonic() - start
    tap.check(claim, done.returncode == 1 and done.stderr == report and seconds < 30,
              f"status {done.returncode}, {seconds:.1f} s:\n{done.stdout}{done.stderr}")


# ---- Events in the middle ----

# @left notifies %w of stream 2 in the middle; @right notifies @third in the middle, which waits in the
# middle, as @right does for the end of @left.
write("middle.skir", """skir 1

target "wide" {aic = 24, aiv = 144}

graph @middle(%a: f32[32, 64], %b: f32[32, 64]) -> (f32[32, 64], f32[32, 64], f32[32, 64]) {
  stream "1" {
    scope @left {
      %p = Add(%a, %b) : f32[32, 64]
      %q = Mul(%p, %a) : f32[32, 64]
    }
  }
  stream "2" {
    %w = Mul(%p, %b) : f32[32, 64]
    scope @right {
      %x = Mul(%w, %b) : f32[32, 64]
      %y = Add(%x, %w) : f32[32, 64] after (%q)
      %z = Add(%y, %x) : f32[32, 64]
    }
  }
  stream "3" {
    scope @third {
      %f = Mul(%a, %a) : f32[32, 64]
      %g = Add(%f, %y) : f32[32, 64]
      %h = Add(%g, %f) : f32[32, 64]
    }
  }
  return %q, %z, %h
}
""")
lowered = tap.skirc("compile", "--emit=skir", "middle.skir").stdout
tap.check("launches wait and notify in the middle", "wait_event y" in lowered
          and "notify p" in lowered, lowered)
for threads in 1, 2, 5:
    done = right(f"launches that wait for each other in the middle, on {threads} threads",
                 "middle.skir", f"--threads={threads}", "--race-check")
    tap.check("  race-free", "race-free" in done.stdout and "in 4 launches" in done.stdout, done.stdout)
right("and in turns", "middle.skir", "--unproven")
right("and one after another", "middle.skir", "--serial")

# ---- Rings ----

# @s waits in the middle for two ops beside it, which wait for what it notifies in the middle.
RING = """skir 1

kernel @add : aiv_only {op = "Add", block = BLOCK, object = "add.o", function = "add", params = [x1, x2, y, tiling]}

kernel @mul : aiv_only {op = "Mul", block = BLOCK, object = "mul.o", function = "mul", params = [x1, x2, y, tiling]}

graph @g(%a: f16[64, 64], %b: f16[64, 64]) -> (f16[64, 64], f16[64, 64], f16[64, 64]) {
  scope @s {
    %m = Add(%a, %b) : f16[64, 64]
    %n = Mul(%m, %b) : f16[64, 64]
  }
  stream "1" {
    %x = Softmax(%m)ATTRS : f16[64, 64]
    %w = Exp(%x)ATTRS : f16[64, 64]
  }
  scope @s {
    %y = Mul(%x, %n) : f16[64, 64]
    %z = Add(%y, %w) : f16[64, 64]
  }
  return %n, %w, %z
}
"""
for name, block, attrs, launches in (("cores", 8, "", 3), ("none", 48, " {no_cores}", 3), ("missing", 48, "", 4)):
    write(f"ring_{name}.skir", RING.replace("BLOCK", str(block)).replace("ATTRS", attrs))
    for threads in 1, 2:
        done = right(f"a ring ({name}) on {threads} threads", f"ring_{name}.skir", f"--threads={threads}", "--race-check")
        tap.check("  race-free", "race-free" in done.stdout and f"in {launches} launches" in done.stdout, done.stdout)
write("ring_text.skir", tap.skirc("opt", "--passes=partition-scopes..bind-kernels", "ring_none.skir").stdout)
done = right("the same, written down", "ring_text.skir")
tap.check("  is one launch, too", "in 3 launches" in done.stdout, done.stdout)
done = tap.skirc("run", "ring_missing.skir", "--unproven", "--repeat=0")
tap.check("where it has no cores, the op beside and the launch wait for each other", done.returncode == 1 and
          done.stderr.startswith("skirc: deadlock\ndeadlock: no launch goes on: there is one that needs cores") and
          'stream "1", launch Softmax: 0 AICs, 48 AIVs, 48 unfinished, 48 of 48 blocks not begun' in done.stderr, done.stderr)
done = tap.skirc("run", "ring_none.skir", "--serial", "--repeat=0")
tap.check("one after another a ring cannot run", done.returncode == 1 and
          "'--serial' cannot run this op beside '@g_s', which waits for it in the middle" in done.stderr, done.stderr)

# Scopes that need parts of each other are launches side by side, where there are cores for both.
SIDES = RING[:RING.index("graph")] + """graph @g(%a: f16[64, 64], %b: f16[64, 64]) -> (f16[64, 64], f16[64, 64]) {
  scope @s {
    %m = Add(%a, %b) : f16[64, 64]
  }
  stream "1" {
    scope @t {
      %x = Mul(%m, %b) : f16[64, 64]
    }
  }
  scope @s {
    %y = Mul(%x, %m) : f16[64, 64]
  }
  stream "1" {
    scope @t {
      %z = Add(%y, %x) : f16[64, 64]
    }
  }
  return %y, %z
}
"""
for name, block, launches in (("cores", 8, 2), ("missing", 48, 4)):
    write(f"sides_{name}.skir", SIDES.replace("BLOCK", str(block)))
    for threads in 1, 2:
        done = right(f"scopes side by side ({name}) on {threads} threads", f"sides_{name}.skir", f"--threads={threads}", "--race-check")
        tap.check("  race-free", "race-free" in done.stdout and f"in {launches} launches" in done.stdout, done.stdout)
done = tap.skirc("run", "sides_cores.skir", "--serial", "--repeat=0")
tap.check("one after another they cannot run", done.returncode == 1 and
          "'--serial' cannot run '@g_s' beside others, for which it waits in the middle" in done.stderr, done.stderr)
done = tap.skirc("run", "sides_missing.skir", "--serial", "--repeat=0")
tap.check("  but where they are cut", done.returncode == 0, done.stderr)

# The text is sorted, so that one after another they can run, too.
write("below.skir", """skir 1

target "wide" {aic = 24, aiv = 144}

graph @below(%a: f32[32, 64]) -> (f32[32, 64], f32[32, 64]) {
  superkernel @first {stream = "1"} {
    stream "1" {
      %p = Add(%a, %a) : f32[32, 64]
      %q = Mul(%p, %a) : f32[32, 64] recv [e]
      %r = Mul(%q, %a) : f32[32, 64]
    }
  }
  %x = Mul(%a, %a) : f32[32, 64] send [e]
  return %r, %x
}
""")
right("a launch that waits in the middle for one below it", "below.skir", "--race-check")
right("also one after another", "below.skir", "--serial")

# ---- Launches that keep each other's cores ----

PASSES = [line.split()[0] for line in tap.skirc("opt", "--list-passes").stdout.splitlines()]


def write_lowered(path, text):
    """With entries, as they are without the passes that keep launches from hanging."""
    write("source.skir", text)
    names = ",".join(name for name in PASSES if name not in ("limit-residency", "verify-launches"))
    done = tap.skirc("opt", "--passes=" + names, "source.skir", "-o", path)
    assert done.returncode == 0, done.stderr


def scopes(more, after):
    return f"""skir 1

graph @g(%a: f16[384, 64], %b: f16[64, 64]) -> (f16[384, 64], f16[384, 64]) {{
  stream "1" {{
{more}    scope @first {{
      %m = MatMul(%a, %b) : f16[384, 64]
      %n = MatMul(%m, %b) : f16[384, 64]
      %o = MatMul(%n, %b) : f16[384, 64]
    }}
  }}
  stream "2" {{
    scope @second {{
      %x = MatMul(%a, %b) : f16[384, 64]
      %y = MatMul(%x, %b) : f16[384, 64]{after}
    }}
  }}
  return %o, %y
}}
"""


write("halves.skir", scopes("", ""))
done = tap.skirc("run", "halves.skir")
tap.check("launches that can hang are not run", done.returncode == 1
          and "[launches-hang]" in done.stderr, done.stderr)
write_lowered("halves_lowered.skir", scopes("", ""))
fails("two launches with full barriers that each get half of the cores", """skirc: deadlock
deadlock: no launch goes on: there is one that needs cores which others keep
stream "1", launch g_first: 24 AICs, 0 AIVs, 24 unfinished, 12 of 24 blocks not begun
  aic 0..11: blocked in `await aic`: 12 of 24 AICs have not arrived: aic 12..23; last op MatMul(%a, %b, %m)
  aic 12..23: waits for a core of the device; last op none
stream "2", launch g_second: 24 AICs, 0 AIVs, 24 unfinished, 12 of 24 blocks not begun
  aic 0..11: blocked in `await aic`: 12 of 24 AICs have not arrived: aic 12..23; last op MatMul(%a, %b, %x)
  aic 12..23: waits for a core of the device; last op none
cores of the device
  aic 0, aic 2, aic 4, aic 6, aic 8, aic 10, aic 12, aic 14 and 4 more: stream "1", launch g_first
  aic 1, aic 3, aic 5, aic 7, aic 9, aic 11, aic 13, aic 15 and 4 more: stream "2", launch g_second
  aiv 0..47: free
""", "halves_lowered.skir", "--unproven")
done = tap.skirc("run", "halves_lowered.skir", "--unproven", "--serial")
tap.check("one after another they run", done.returncode == 0, done.stderr)

# The second launch has begun, and has all cores, when the first could.
KEPT = (scopes("    %i = MatMul(%a, %b) : f16[384, 64]\n", " after (%n)")
        .replace("%m = MatMul(%a", "%m = MatMul(%i"))
write("mended.skir", KEPT)
right("a launch that would wait in the middle waits as a whole", "mended.skir", "--race-check")
write_lowered("kept.skir", KEPT)
fails("a launch that waits in the middle for one that gets no cores", """skirc: deadlock
deadlock: no launch goes on: there is one that needs cores which others keep
stream "1", launch g_first: 24 AICs, 0 AIVs, 24 unfinished, 24 of 24 blocks not begun
  aic 0..23: waits for a core of the device; last op none
stream "2", launch g_second: 24 AICs, 0 AIVs, 24 unfinished
  aic 0: blocked in `wait_event n`: the event of slot 9 has not come; last op MatMul(%a, %b, %x)
  aic 1..23: blocked in `await aic`: 1 of 24 AICs has not arrived: aic 0; last op MatMul(%a, %b, %x)
cores of the device
  aic 0..23: stream "2", launch g_second
  aiv 0..47: free
""", "kept.skir", "--unproven")

# ---- Profiles ----

done = tap.skirc("run", "middle.skir", "--profile=trace.json")
with open("trace.json") as file:
    events = json.load(file)["traceEvents"]
processes = {event["pid"]: event["args"]["name"] for event in events
             if event["name"] == "process_name"}
tap.check("each stream is a process of the trace", sorted(processes.values())
          == ['stream "1"', 'stream "2"', 'stream "3"'], processes)
launches = {(processes[event["pid"]], event["args"]["launch"]) for event in events
            if event["ph"] == "B"}
tap.check("  that has its launches", launches == {
    ('stream "1"', "middle_left"), ('stream "2"', "middle_right"), ('stream "3"', "middle_third"),
    ('stream "2"', "Mul")}, launches)
times = {}
wrong = []
for event in events:
    if event["ph"] != "M":
        row = event["pid"], event["tid"]
        if event["ts"] < times.get(row, 0):
            wrong.append(event)
        times[row] = event["ts"]
tap.check("  on which no core goes back in time", not wrong, wrong[:3])

tap.done()
