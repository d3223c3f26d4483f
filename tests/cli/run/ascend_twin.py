"""run --target=ascend: what goes to the NPU, compiled as C++ for the virtual device, does what the host
target's entries do: the examples, golden files that can be run, and other tests of `run`. A part of
these; all with SKIR_TWIN=all."""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

tap.SKIRC = os.path.abspath(tap.SKIRC)
SOURCE = os.path.abspath(tap.SOURCE)
EXAMPLES = os.path.join(SOURCE, "docs", "examples")
OPTIONS = {"attention_step": ["--bind", "b=2", "--bind", "s=64"],
           "decoder_gears": ["--shape", "x=4,32,64"],
           "gears": ["--shape", "x=4,2"],
           "attention_layer": ["--bind", "b=2", "--bind", "s=16", "-i", "past=5", "-i", "places=arange"]}
STUBS = {"moe_layer"}  # kernels whose objects are not there
CC = os.environ.get("CC", "cc").split() or ["cc"]
ALL = os.environ.get("SKIR_TWIN") == "all"
GOLDENS = 1 if ALL else 6  # every so-many-th file
OTHERS = ["early_start", "dynamic_kernels"]
if ALL:
    OTHERS += ["profile", "race_check", "split_code", "streams", "one_aiv", "repeated_runs",
               "called_graphs", "run_values"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def run(*arguments, target="ascend", **more):
    return tap.skirc("run", "--target=" + target, *arguments, **more)


def said(done):
    """What a run says, without times."""
    return re.sub(r"[0-9.]+ ms", "", done.stdout) + done.stderr


# ---- The compiler ----

ADD = """skir 1
graph @g(%a: f32[16]) -> f32[16] {
  scope @s {
    %b = Add(%a, %a) : f32[16]
    %c = Mul(%b, %a) : f32[16]
  }
  return %c
}
"""
write("add.skir", ADD)
first = run("add.skir")
if first.returncode == 4:
    tap.skip("runs for the target ascend", "there is no C++ compiler: " + first.stderr.split("\n")[0])
    tap.done()
environment = dict(os.environ, CXX="no-such-c++")
done = subprocess.run([tap.SKIRC, "run", "--target=ascend", "add.skir"], capture_output=True,
                      text=True, env=environment)
tap.check("without a C++ compiler it is said", done.returncode == 4
          and "error: cannot run 'no-such-c++'" in done.stderr, done.stderr)
done = subprocess.run([tap.SKIRC, "run", "add.skir"], capture_output=True, text=True,
                      env=environment)
tap.check("the host needs none", done.returncode == 0, done.stderr)

# ---- Examples and golden files ----

for path in sorted(glob.glob(os.path.join(EXAMPLES, "*.skir"))):
    name = os.path.basename(path)[:-5]
    if name in STUBS:
        continue
    done = run(path, "--race-check", "--compare=unfused", *OPTIONS.get(name, []))
    tap.check(f"{name}: bit-exact and free of races", done.returncode == 0
              and "bit-exact" in done.stdout and "race-free" in done.stdout, said(done))

goldens = sorted(glob.glob(os.path.join(SOURCE, "tests", "golden", "*", "*.skir")))[::GOLDENS]
ran, wrong = 0, []  # what cannot be run on the host is left out
for path in goldens:
    with open(path, encoding="utf-8") as file:
        text = file.read().split("\n//! expect")[0]
    os.chdir(os.path.dirname(path))
    for graph in re.findall(r"^graph @([\w.$-]+)", text, re.M):
        options = ["-", "--graph=" + graph, "--timeout=20", "--race-check"]
        if run(*options, target="host", stdin=text).returncode:
            continue
        options += ["--compare=unfused", "--full-barriers"]
        host, done = run(*options, target="host", stdin=text), run(*options, stdin=text)
        ran += 1
        if done.returncode != host.returncode or said(done) != said(host):
            wrong.append(f"{path} @{graph}:\n{said(done)}{said(host)}")
os.chdir(scratch.name)
tap.check(f"golden files do what they do on the host ({ran} graphs of {len(goldens)} files)",
          not wrong and ran >= (90 if ALL else 5), "\n".join(wrong))

# ---- Options of scopes ----

write("step.skir", """skir 1
target "some" {aic = 24, aiv = 48, arch = "c220"}
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> (f16[32, 32], f16[32, 32]) {
  scope @s {
    %m = MatMul(%a, %b) : f16[32, 32]
    %v = Add(%m, %a) : f16[32, 32]
    stream "1" {
      %w = Mul(%b, %b) : f16[32, 32]
      %n = MatMul(%v, %w) : f16[32, 32]
    }
    %x = Add(%n, %w) : f16[32, 32]
  }
  return %x, %n
}
""")
with open("step.skir", encoding="utf-8") as file:
    write("c310.skir", file.read().replace("c220", "c310"))
for options in ("", ":split-mode=1", ":early-start=0:profiling=1:func-align=0",
                ":debug-sync-all=1:debug-dcci-all=1", ":preload-code=max:split-mode=7",
                ":preload-data=advance-step:debug-op-exec-trace=1",
                ":debug-cross-core-sync-check=1"):
    for file in "step.skir", "c310.skir":
        done = run(file, "--sk-options=stream-fusion=1" + options, "--race-check",
                   "--compare=unfused", "--full-barriers")
        tap.check(f"{file} stream-fusion=1{options}: bit-exact and free of races", done.returncode == 0
                  and "bit-exact" in done.stdout and "race-free" in done.stdout, said(done))

# ---- Entries that are wrong ----

MIXED = """skir 1
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> f16[32, 32] {
  scope @s {
    %m = MatMul(%a, %b) : f16[32, 32]
    %v = Add(%m, %a) : f16[32, 32]
    %w = Mul(%v, %a) : f16[32, 32]
  }
  return %w
}
"""
write("mixed.skir", MIXED)
lowered = tap.skirc("compile", "--emit=skir", "mixed.skir").stdout
BARRIER = "    arrive aiv\n    await aiv\n"
for claim, without, word in (("a missing flag", "    set c2v\n", "deadlock"),
                             ("a missing wait", "    wait c2v\n", "left set"),
                             ("a missing barrier", BARRIER, "race"),
                             ("a missing arrival", "    arrive aic\n", "deadlock")):
    write("wrong.skir", lowered.replace(without, "", 1))
    options = ["wrong.skir", "--unproven", "--race-check"]
    host, done = run(*options, target="host"), run(*options)
    tap.check(f"{claim} is reported as on the host", lowered.count(without) and done.returncode == 1
              and word in done.stderr and said(done) == said(host), said(done) + said(host))

# ---- Fed barriers ----

# The kernel's function is called as its super kernel's entry is.
write("rotate.c", """#include "skrt.h"
void g_s(skrt_core *core, uint64_t args)
{
    float *x = (float *)(uintptr_t)skrt_args(core, args)[0];
    float *y = (float *)(uintptr_t)skrt_args(core, args)[1];
    uint32_t n = skrt_block_num(core), own = skrt_block_idx(core);
    y[own] = x[own];
    for (uint32_t round = 0; round < 3; round++) {
        skrt_kernel_sync_all(core);
        float next = y[(own + 1) % n];
        skrt_kernel_sync_all(core);
        y[own] = next;
    }
}
""")
write("fewer.skir", """skir 1
kernel @rotate : aiv_only {
  block = 5, object = "rotate.o", function = "g_s", params = [x, y], sync_all
}
graph @g(%a: f32[5], %b: f32[5]) -> f32[5] {
  scope @s {
    %s = Add(%a, %b) : f32[5]
    %r = Rotate(%s) : f32[5] via @rotate
    %t = Rotate(%r) : f32[5] via @rotate
    %u = Mul(%t, %b) : f32[5]
    %v = Rotate(%u) : f32[5] via @rotate
  }
  return %v
}
graph @body(%i: i32[], %a: f32[5], %b: f32[5]) -> (f32[5], f32[5]) {
  %c = PartitionedCall(%a, %b) {f = @g} : f32[5]
  return %c, %b
}
graph @twice(%a: f32[5], %b: f32[5]) -> f32[5] {
  %zero = Const() {value = 0} : i32[]
  %one = Const() {value = 1} : i32[]
  %two = Const() {value = 2} : i32[]
  %y, %z = For(%zero, %two, %one, %a, %b) {body = @body} : (f32[5], f32[5])
  return %y
}
""")
subprocess.run(CC + ["-O1", "-fPIC", "-I" + os.path.join(SOURCE, "backend", "runtime"),
                     "-I" + os.path.join(SOURCE, "ir/core"), "-c", "rotate.c"], check=True)
for options in "", ":split-mode=3:profiling=1":
    done = run("fewer.skir", "--graph=twice", "--sk-options=feed-sync-all=1" + options,
               "--full-barriers", "--compare=unfused", "--race-check")
    tap.check(f"idle cores take part in barriers, again and again{options}", done.returncode == 0
              and "bit-exact" in done.stdout and "race-free" in done.stdout, said(done))
with open("fewer.skir") as file:
    write("fewer310.skir", file.read().replace("skir 1\n", 'skir 1\ntarget "Ascend950" {aic = 24, aiv = 48}\n', 1)
          .replace("aiv_only", "aic_only"))
done = run("fewer310.skir", "--graph=g", "--sk-options=feed-sync-all=1", "--full-barriers",
           "--compare=unfused", "--race-check")
tap.check("AICs of a c310 clear their counters without a copy", done.returncode == 0
          and "bit-exact" in done.stdout and "race-free" in done.stdout, said(done))
lowered = tap.skirc("opt", "--passes=default", "--sk-options=feed-sync-all=1", "fewer.skir").stdout
write("missing.skir", lowered.replace("    clear_workspace\n", "", 1))
done = run("missing.skir", "--graph=twice", "--full-barriers", "--unproven")
tap.check("a workspace that is not cleared is found", "clear_workspace\n" in lowered
          and done.returncode == 1 and "the workspace was not cleared" in done.stderr, said(done))

# ---- Time records ----


def trace(target):
    done = run("fewer.skir", "--graph=g", "--sk-options=feed-sync-all=1", "--profile=-", target=target)
    events = json.JSONDecoder().raw_decode(done.stdout)[0]["traceEvents"]
    return sorted((str(e.get("name")), str(e.get("ph")), str(e.get("pid")), str(e.get("tid")))
                  for e in events if e.get("cat") not in ("barrier", "flag"))


tap.check("time records are of the same ops on the same cores", trace("host") == trace("ascend"))

# ---- Other tests, with the other target ----

write("skirc", f"""#!/bin/sh
test "$1" = run || exec '{tap.SKIRC}' "$@"
shift
for file
do
    case $SKIR_CHIP$file in
    c310*.skir) grep -q ^target "$file" || sed -i 's/^skir 1$/skir 1 target "t" {{arch = "c310"}}/' "$file";;
    esac
done
exec '{tap.SKIRC}' run --target=ascend "$@"
""")
os.chmod("skirc", 0o755)
os.symlink(os.path.join(os.path.dirname(tap.SKIRC), "backend"), "backend")
environment = dict(os.environ, SKIRC=os.path.abspath("skirc"), SKIR_TARGET="ascend")
for name, chip in [(name, "c220") for name in OTHERS] + [("early_start", "c310")]:
    done = subprocess.run([sys.executable, os.path.join(SOURCE, "tests", "cli", "run", name + ".py")],
                          capture_output=True, text=True, env={**environment, "SKIR_CHIP": chip})
    failed = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
    tap.check(f"{name}.py passes for it, too, as a {chip}", done.returncode == 0,
              "\n".join(failed) + done.stderr)

tap.done()
