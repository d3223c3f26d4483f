"""split-code: which copy of a kernel's code each core runs, and what is in the object."""

import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

CC = os.environ.get("CC", "cc").split() or ["cc"]
EXAMPLES = os.path.join(tap.SOURCE, "docs", "examples")
HEADERS = os.path.join(os.path.dirname(os.path.abspath(tap.SKIRC)), "backend", "kernels")
NAMES = ["quant_swiglu_small", "multi_stream", "decoder_layer"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def compile_kernel(name, source):
    write(name + ".c", '#include "skrt.h"\n' + source)
    subprocess.run(CC + ["-O2", "-fPIC", "-I" + HEADERS, "-c", name + ".c"], check=True)


def symbols(path):
    dump = tap.skirc("objdump", path).stdout
    return re.findall(r"^  (\S+) (local|global) func ", dump, re.M)


def values(path):
    """The 64-bit integers of a file.npy."""
    with open(path, "rb") as file:
        data = file.read()
    return [word for word, in struct.iter_unpack("<q", data[10 + data[8] + 256 * data[9]:])]


def reached(path, mode, *options):
    """By kernel, how many copies the cores reach that run its calls, which are the first of their
    type; the AIVs of an AI core count, but for kernels of AIVs alone, whose blocks these are."""
    text = tap.skirc("opt", "--passes=default", path, *options).stdout
    kinds = dict(re.findall(r"^kernel @(\S+) : (\w+)", text, re.M))
    most = {}
    for name, part, blocks in re.findall(r" call @(\S+?)(\.ai[cv])? args \S+ blocks (\d+)", text):
        part = part or "." + kinds[name][:3]
        cores = int(blocks) * (2 if part == ".aiv" and kinds[name] != "aiv_only" else 1)
        most[name] = max(most.get(name, 0), min(mode, cores))
    return most


# ---- examples ----

for name in NAMES:
    path = os.path.join(EXAMPLES, name + ".skir")
    for mode in 1, 2, 4, 64:
        option = f"--sk-options=split-mode={mode}"
        ran = tap.skirc("run", path, "--compare", "unfused", option)
        tap.check(f"{name}: split-mode={mode} is bit-exact",
                  ran.returncode == 0 and "bit-exact" in ran.stdout, ran.stdout + ran.stderr)
        compiled = tap.skirc("compile", path, "-o", "example.o", option)
        found = symbols("example.o")
        parts = [s for s, _ in found if re.search(r"\.ai[cv]$", s)]
        most = reached(path, mode, option)
        wanted = {part + (f"_split{k}" if k else "")
                  for part in parts for k in range(most[part.rsplit(".", 1)[0]])}
        copies = [s for s, _ in found if re.search(r"\.ai[cv](_split\d+)?$", s)]
        tap.check(f"{name}: split-mode={mode} has each copy that is reached once", parts and len(copies) == len(wanted)
                  and set(copies) == wanted, compiled.stderr + str(copies))
        tap.check(f"{name}: split-mode={mode} offers the entry alone",
                  len([s for s, binding in found if binding == "global"]) == 1)

# ---- who runs what ----

PROBE = """
static int calls; /* one for all copies */
void probe_{part}(skrt_core *core, uint64_t offset)
{{
    uint64_t *args = skrt_args(core, offset);
    int64_t *y = (int64_t *)(uintptr_t)args[{argument}];
    y[skrt_core_index(core)] = (int64_t)(uintptr_t)probe_{part};
    y[32 + skrt_core_index(core)] = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
}}
"""
compile_kernel("probe_aic", PROBE.format(part="aic", argument=1))
compile_kernel("probe_aiv", PROBE.format(part="aiv", argument=2))
subprocess.run(["ar", "rcD", "probe.a", "probe_aic.o", "probe_aiv.o"], check=True)
LAUNCHES = [("mix_aic_1_2", 5, 5, 10), ("mix_aic_1_1", 6, 6, 6), ("aic_only", 7, 7, 0),
            ("aiv_only", 9, 0, 9)]
for kind, blocks, aics, aivs in LAUNCHES:
    for mode in 1, 2, 4, 64:
        for fusion in 0, 1:
            entry = {"aic_only": '"probe_aic"', "aiv_only": '"probe_aiv"'}.get(
                kind, '{aic = "probe_aic", aiv = "probe_aiv"}')
            write("probe.skir", f"""skir 1
kernel @probe : {kind} {{block = {blocks}, object = "probe.a", function = {entry}}}
graph @g(%x: i64[64]) -> (i64[64], i64[64]) {{
  scope @s {{options = "split-mode={mode}:stream-fusion={fusion}"}} {{
    %c, %v = Probe(%x) : (i64[64], i64[64]) via @probe
  }}
  return %c, %v
}}
""")
            ran = tap.skirc("run", "probe.skir", "--repeat=0", "--trust-kernels", "-o", "c=c.npy",
                            "-o", "v=v.npy")
            good = ran.returncode == 0
            for path, cores in ("c.npy", aics), ("v.npy", aivs):
                both = values(path) if good else []
                seen, counts = both[:cores], both[32:32 + cores]
                good = good and all((seen[i] == seen[j]) == (i % mode == j % mode)
                                    for i in range(cores) for j in range(cores))
                good = good and sorted(counts) == list(range(1, cores + 1))
            tap.check(f"{kind}, split-mode={mode}, stream-fusion={fusion}: core c runs copy c mod "
                      f"{mode}, and all count in one variable", good, ran.stdout + ran.stderr)

# ---- what no core reaches ----

compile_kernel("few", """
void few(skrt_core *core, uint64_t offset)
{
    uint64_t *args = skrt_args(core, offset);
    ((int64_t *)(uintptr_t)args[1])[skrt_core_index(core)] = (int64_t)(uintptr_t)few;
}
void pair_aic(skrt_core *core, uint64_t offset) {}
void pair_aiv(skrt_core *core, uint64_t offset) { few(core, offset); }
""")
KINDS = {"aiv_only": ('"few"', 1), "aic_only": ('"few"', 1), "mix_aic_1_1": ('{aic = "pair_aic", aiv = "pair_aiv"}', 2),
         "mix_aic_1_2": ('{aic = "pair_aic", aiv = "pair_aiv"}', 2)}
for kind, (function, factor) in KINDS.items():
    for other in "aiv_only", "mix_aic_1_2":
        for mode in 2, 5, 64:
            write("few.skir", f"""skir 1
kernel @few : {kind} {{block = 4, object = "few.o", function = {function}}}
kernel @many : {other} {{block = 20, object = "few.o", function = {KINDS[other][0]}}}
graph @g(%x: i64[64]) -> (i64[64], i64[64]) {{
  scope @s {{options = "split-mode={mode}"}} {{
    %a = Few(%x) : i64[64] via @few
    %b = Many(%a) : i64[64] via @many
  }}
  return %a, %b
}}
""")
            for emit in "obj", "c":
                done = tap.skirc("compile", "few.skir", "-o", "few_entry." + emit, "--emit", emit)
                with open("few_entry." + emit, encoding="utf-8", errors="replace") as file:
                    text = tap.skirc("objdump", "few_entry.obj").stdout if emit == "obj" else file.read()
                made = set(re.findall(r"few\.ai[cv]_split\d+", text))
                most = min(mode, 4 * factor)
                parts = 2 if factor == 2 else 1
                tap.check(f"{kind} beside {other}, split-mode={mode}: copies of 4 blocks, --emit {emit}",
                          done.returncode == 0 and len(made) == parts * (most - 1), done.stderr + str(made))
            ran = tap.skirc("run", "few.skir", "--repeat=0", "--trust-kernels", "-o", "a=a.npy")
            seen = [value for value in values("a.npy") if value] if ran.returncode == 0 else []
            tap.check("  and each core has its own", len(seen) in (4, 8) and
                      all((a == b) == (i % mode == j % mode) for i, a in enumerate(seen)
                          for j, b in enumerate(seen)), ran.stdout + ran.stderr + str(seen))

# ---- kernels that bring their copies ----

OWN = "".join(f"""
void own{suffix}(skrt_core *core, uint64_t offset)
{{
    uint64_t *args = skrt_args(core, offset);
    ((int64_t *)(uintptr_t)args[1])[skrt_core_index(core)] = {number};
}}
""" for number, suffix in enumerate(["", "_split1", "_split2"]))
compile_kernel("own", OWN)


def own(split, mode):
    write("own.skir", f"""skir 1
kernel @own : aiv_only {{block = 8, object = "own.o", function = "own", split = {split}}}
graph @g(%x: i64[8]) -> i64[8] {{
  scope @s {{options = "split-mode={mode}"}} {{
    %y = Own(%x) : i64[8] via @own
  }}
  return %y
}}
""")
    return tap.skirc("run", "own.skir", "-o", "y=y.npy")


result = own(3, 3)
tap.check("a kernel's own copies are run", result.returncode == 0
          and values("y.npy") == [0, 1, 2, 0, 1, 2, 0, 1], result.stderr)
tap.skirc("compile", "own.skir", "-o", "own_entry.o")
tap.check("and are there once",
          sorted(s for s, _ in symbols("own_entry.o") if s.startswith("own"))
          == ["own.aiv", "own.aiv_split1", "own.aiv_split2"], symbols("own_entry.o"))
result = own(2, 2)
tap.check("of more copies than asked for, those asked for", result.returncode == 0
          and values("y.npy") == [0, 1] * 4, result.stderr)
result = own(4, 4)
tap.check("a copy that is missing is named", result.returncode == 1
          and "does not define the function 'own_split3'" in result.stderr
          and "[kernel-object]" in result.stderr, result.stderr)
result = own(3, 4)
tap.check("another number than the option's is refused", result.returncode == 1
          and "(split = 3)" in result.stderr and "(split-mode=4)" in result.stderr, result.stderr)
unfused = tap.skirc("run", "own.skir", "--sk-options=split-mode=3", "--compare", "unfused")
tap.check("a launch of one op runs the function itself, which the comparison sees",
          unfused.returncode == 1, unfused.stdout + unfused.stderr)

# ---- copies under names of their own ----

compile_kernel("named", OWN.replace("own_split1", "other").replace("own_split2", "third"))


def named(options):
    write("named.skir", f"""skir 1
kernel @own : aiv_only {{{{block = 8, object = "named.o", function = "own"}}}}
graph @g(%x: i64[8]) -> i64[8] {{{{
  scope @s {{{{options = "{options}"}}}} {{{{
    %y = Own(%x) : i64[8] via @own
  }}}}
  return %y
}}}}
""".replace("{{", "{").replace("}}", "}"))
    return tap.skirc("run", "named.skir", "--trust-kernels", "-o", "y=y.npy")


result = named("kernel-map=own/other/third")
tap.check("kernel-map names a kernel's own copies, and how many there are", result.returncode == 0
          and values("y.npy") == [0, 1, 2, 0, 1, 2, 0, 1], result.stderr)
result = named("kernel-map=own/third:split-mode=2")
tap.check("in their order", result.returncode == 0 and values("y.npy") == [0, 2] * 4, result.stderr)
result = named("kernel-map=own/fourth")
tap.check("one that is missing is named", result.returncode == 1
          and "does not define the function 'fourth', a copy for '@own'" in result.stderr,
          result.stderr)
result = named("split-mode=2")
tap.check("without it copies are made", result.returncode == 0 and values("y.npy") == [0] * 8,
          result.stderr)

# ---- names ----

write("names.skir", """skir 1
kernel @k : aiv_only {block = 1, object = "own.o", function = "own"}
kernel @k_split1 : aiv_only {block = 1, object = "own.o", function = "own"}
graph @g(%x: i64[8]) -> i64[8] {
  superkernel @"k.aiv_split1" {
    %a = Own(%x) : i64[8] via @k
    %b = Own(%a) : i64[8] via @k_split1
  }
  return %b
}
""")
result = tap.skirc("run", "names.skir", "--trust-kernels", "--compare", "unfused")
tap.check("names of kernels and entries do not meet those of copies", result.returncode == 0
          and "bit-exact" in result.stdout, result.stdout + result.stderr)

tap.done()
