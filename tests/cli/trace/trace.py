"""run --trace and skirc trace: where each core stood, however the launch ended; checks of barriers
and flags; profiling areas as timelines."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

EXAMPLES = os.path.join(tap.SOURCE, "docs", "examples")
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


# ---- launches that end well ----

for name in ["quant_swiglu_small", "multi_stream", "decoder_layer"]:
    path = os.path.join(EXAMPLES, name + ".skir")
    for options in ("debug-cross-core-sync-check=1", "debug-per-op-max-core-num=1:feed-sync-all=1",
                    "debug-cross-core-sync-check=1:debug-sync-all=1:debug-dcci-all=1:early-start=2",
                    "debug-op-exec-trace=1:preload-data=advance-step:split-mode=1"):
        ran = tap.skirc("run", path, "--compare", "unfused", "--sk-options=" + options,
                        "--trace", "x.trace", "--profile", "x.json")
        tap.check(f"{name}, {options}: is bit-exact",
                  ran.returncode == 0 and "bit-exact" in ran.stdout, ran.stdout + ran.stderr)
        said = tap.skirc("trace", "x.trace")
        states = re.findall(r"^  ai[cv] \d+(?:\.\.\d+)?: (.*)$", said.stdout, re.M)
        tap.check("and all cores have ended", said.returncode == 0 and states
                  and set(states) == {"has ended"}, said.stdout + said.stderr)

# ---- one that does not ----

KERNEL = """
kernel @v : aiv_only {
  op = "Add", block = 4, object = "add.o", function = "add", params = [x1, x2, y, tiling]
}
"""


def module(program, slots="", options=""):
    return f"""skir 1
target "t" {{aic = 2, aiv = 4}}
graph @g(%a: f32[64], %b: f32[64]) -> f32[64] {{
  superkernel @g_s {{options = "{options}"}} {{
    %c = Add(%a, %b) : f32[64] via @v
    %d = Add(%c, %b) : f32[64] via @v
  }}
  return %d
}}
{KERNEL}
entry @g_s : mix_aiv_1_0 {{block = 4}} {{
  args %c = [%a, %b, %c, tiling]
  args %d = [%c, %b, %d, tiling]
  {slots}
  aiv {{
    {program}
  }}
}}
"""


write("hang.skir", module("""call @v args %c blocks 4
    arrive aiv
    await aiv
    await aiv
    call @v args %d blocks 4""", options="debug-op-exec-trace=1"))
ran = tap.skirc("run", "--unproven", "hang.skir", "--trace", "hang.trace")
tap.check("a deadlock leaves its trace", ran.returncode == 1 and "deadlock" in ran.stderr
          and os.path.exists("hang.trace"), ran.stderr)
said = tap.skirc("trace", "hang.trace")
tap.check("which says where cores stood",
          said.stdout == "launch of @g_s\n  aiv 0..3: behind op 0\n", said.stdout + said.stderr)
said = tap.skirc("trace", "hang.trace", "--module", "hang.skir")
tap.check("and with the module at what", said.stdout == "launch of @g_s\n  aiv 0..3: behind op 0; "
          "then `arrive aiv`, `await aiv`, `await aiv`\n", said.stdout + said.stderr)
said = tap.skirc("trace", "hang.trace", "-o", "said.txt")
tap.check("to a file, too", said.stdout == "" and "behind op 0" in open("said.txt").read())

# ---- checks ----

write("leave.c", """#include "skrt.h"
#include <stddef.h>
static const struct skrt_site site = {"left", NULL};
void leave_arrival(skrt_core *core, uint64_t args)
{
    (void)args;
    skrt_arrive(core, SKRT_AIV, &site);
}
void leave_release(skrt_core *core, uint64_t args)
{
    (void)args;
    skrt_set_c2v(core, &site);
}
""")
subprocess.run((os.environ.get("CC", "cc").split() or ["cc"]) + [
    "-O1", "-fPIC", "-I" + os.path.join(tap.SOURCE, "backend", "runtime"),
    "-I" + os.path.join(tap.SOURCE, "ir/core"), "-c", "-o", "leave.o",
    "leave.c"], check=True)
LEAVE = """
kernel @leave : %s {op = "Leave", block = %d, object = "leave.o", function = "leave_%s"}
"""

write("left.skir", module("""trace 0 0
    call @leave args %c blocks 4
    count_arrive aiv
    arrive aiv
    await aiv
    check_await aiv
    await aiv
    check_await aiv
    call @v args %d blocks 4""", "args [tracing]")
      .replace("%c = [%a, %b, %c, tiling]", "%c = [%a, %b, %c]")
      .replace("%c = Add(%a, %b) : f32[64] via @v", "%c = Leave(%a, %b) : f32[64] via @leave")
      + LEAVE % ("aiv_only", 4, "arrival"))
# Each core has left one arrival: who is late has counted none, or one, when another one has passed.
FAILED = r"it has passed (1 barriers, but aiv \d has come to 0|2 barriers, but aiv \d has come to [01]) of them"
ran = tap.skirc("run", "--unproven", "left.skir", "--trace", "left.trace")
tap.check("a barrier that is passed by an arrival that a kernel has left is found", ran.returncode == 1
          and re.search(r"misuse: aiv \d at `check_await aiv`: " + FAILED + ": a kernel has left arrivals", ran.stderr),
          ran.stderr)
said = tap.skirc("trace", "left.trace")
tap.check("and in the trace", re.search(r"aiv \d: has begun; a check failed: " + FAILED + "\n", said.stdout),
          said.stdout)

write("flag.skir", """skir 1
target "t" {aic = 1, aiv = 2}
graph @g(%a: f32[64], %b: f32[64]) -> f32[64] {
  superkernel @g_s {
    %c = Leave(%a, %b) : f32[64] via @leave
    %d = Add(%c, %b) : f32[64] via @v
  }
  return %d
}
""" + KERNEL.replace("block = 4", "block = 2") + LEAVE % ("aic_only", 1, "release") + """
entry @g_s : mix_aic_1_2 {block = 1} {
  args %c = [%a, %b, %c]
  args %d = [%c, %b, %d, tiling]
  args [tracing]
  aic {
    call @leave args %c blocks 1
  }
  aiv {
    wait c2v
    check_wait c2v
    call @v args %d blocks 2
  }
}
""")
ran = tap.skirc("run", "--unproven", "flag.skir", "--trace", "flag.trace")
tap.check("so is a flag that a kernel has left", ran.returncode == 1 and re.search(
    r"misuse: aiv \d at `check_wait c2v`: it has passed 1 releases, but aic 0 has made 0 of them: "
    "a kernel has left a flag set", ran.stderr), ran.stderr)

# ---- the same by the source for NPUs ----

if shutil.which("clang++"):
    path = os.path.join(EXAMPLES, "quant_swiglu_small.skir")
    for options in "debug-cross-core-sync-check=1", "debug-per-op-max-core-num=1:profiling=1":
        ran = tap.skirc("run", path, "--target=ascend", "--compare", "unfused",
                        "--sk-options=preload-data=advance-step:" + options, "--trace", "npu")
        tap.check(f"AscendC, {options}: is bit-exact", ran.returncode == 0
                  and "bit-exact" in ran.stdout, ran.stdout + ran.stderr)
        said = tap.skirc("trace", "npu")
        tap.check("and all cores have ended", "aic 0..23: has ended\n  aiv 0..47: has ended\n"
                  in said.stdout, said.stdout + said.stderr)
    ran = tap.skirc("run", "--target=ascend", "--unproven", "left.skir", "--trace", "npu")
    said = tap.skirc("trace", "npu")
    tap.check("a failed check traps", ran.returncode == 1 and "the source traps" in ran.stderr
              and re.search("a check failed: " + FAILED, said.stdout), ran.stderr + said.stdout)
else:
    tap.skip("AscendC runs", "there is no clang++")

# ---- dumps ----


def line(core, kind, index, state, fault=0, expected=0, found=0, other=0):
    return struct.pack("<IHBBIIQQ4I4I", 0x54524b53, core, kind, fault, index, state, 1, 2,
                       0, 0, 0, 0, expected, found, other, 0)


write("npu.trace", line(0, 0, 0, 1) + line(0, 1, 1, 4) + line(1, 1, 1, 5) + bytes(64) + bytes(64))
said = tap.skirc("trace", "npu.trace")
tap.check("a dump of the buffer alone is read, too", said.stdout ==
          "  aic 0: in op 0\n  aiv 0: before op 1, waits for the outside\n  aiv 1: before op 1\n"
          "  2 cores have not begun\n", said.stdout + said.stderr)
write("odd.trace", line(0, 0, 7, 9) + bytes(64) + line(1, 1, 0, 3, 2, 3, 2, 1 << 16 | 5))
said = tap.skirc("trace", "odd.trace")
tap.check("also with states that there are not", said.stdout ==
          "  aic 0: in state 9 of op 7\n  1 core has not begun\n"
          "  aiv 1: has ended; a check failed: it has passed 3 releases, but aiv 5 has made 2 of "
          "them\n", said.stdout + said.stderr)
said = tap.skirc("trace", "npu.trace", "--module", "hang.skir", "--entry", "g_s")
tap.check("the entry can be named", said.returncode == 0 and "aiv 0: before op 1" in said.stdout,
          said.stderr)
said = tap.skirc("trace", "npu.trace", "--module", "hang.skir", "--entry", "none")
tap.check("one that is not there is refused", said.returncode == 2
          and "there is no entry '@none'" in said.stderr, said.stderr)
said = tap.skirc("trace", "npu.trace", "--entry", "g_s")
tap.check("so is one without a module", said.returncode == 2
          and "there is no entry '@g_s': give its module by --module=FILE.skir" in said.stderr,
          said.stderr)
for name, content in ("empty", b""), ("short", b"SKRT"), ("zeroes", bytes(640)):
    write(name, content)
    said = tap.skirc("trace", name)
    tap.check(f"{name}: is no dump", said.returncode == 1
              and f"'{name}': it has neither a trace nor a profiling area" in said.stderr,
              said.stderr)
said = tap.skirc("trace", "nowhere")
tap.check("a file that is not there is reported", said.returncode == 1 and "nowhere" in said.stderr)
said = tap.skirc("trace", "npu.trace", "--mhz", "0")
tap.check("a clock that stands still is wrong usage", said.returncode == 2, said.stderr)

# ---- profiling areas ----

PART, BASE = 1024, 0x100000


def part(core, records):
    text = b"".join(struct.pack("<QQ", head, ticks) for head, ticks in records)
    head = struct.pack("<IIQQQ", 0xbdca8756, 0, BASE + 32 + len(text), BASE + PART, 0)
    return (head + text).ljust(PART, b"\0")


def record(index, kind, end):
    return index << 32 | end << 12 | kind << 8


area = struct.pack("<IIII", 1, 2, 3, PART).ljust(64, b"\0")
for core in range(51):
    used = {0: [(77 << 32 | 0xff, 1000), (record(0, 0, 0), 1010), (record(1, 8, 0), 1020),
                (record(1, 8, 1), 1070), (record(5, 12, 0), 1080), (record(5, 12, 1), 1090),
                (record(0, 0, 1), 1100)],
            50: [(77 << 32 | 50 << 8 | 0xff, 1000), (record(0, 0, 0), 1005),
                 (record(0, 0, 1), 1205)]}.get(core)
    area += part(core, used) if used else bytes(PART)
write("area", area)
said = tap.skirc("trace", "area", "-o", "area.json")
events = [e for e in json.load(open("area.json"))["traceEvents"] if e["ph"] != "M"]
rows = [(e["tid"] >= 1024, e["name"], e["ph"], e["ts"]) for e in events]
tap.check("a profiling area becomes a timeline", said.returncode == 0 and rows == [
    (True, "task 77", "B", 0.1), (True, "op 0", "B", 0.3), (True, "op 0", "E", 1.3),
    (True, "wait of op 5", "B", 1.5), (True, "wait of op 5", "E", 1.7),
    (True, "task 77", "E", 1.9),
    (False, "task 77", "B", 0), (False, "task 77", "E", 4)], str(rows) + said.stderr)
said = tap.skirc("trace", "area", "--mhz=100")
tap.check("by the clock that is said", json.loads(said.stdout)["traceEvents"][-1]["ts"] == 2,
          said.stdout)

tap.done()
