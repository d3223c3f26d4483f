"""Threads: whatever their number, check, opt and compile write and say the same, byte for byte."""

import glob
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import random_gears
import tap

SOURCE = os.path.abspath(os.environ["SKIR_SOURCE"])
FIRST = int(os.environ.get("SKIR_TEST_SEED", 1))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", 60))

tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

# All that can be said with one file, and with many graphs; --max-errors as it is.
COMMANDS = [["check", "--explain"], ["opt", "--passes=default"], ["compile"]]


def put(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return path


def written(folder):
    """{name: bytes} of a folder, which need not be there."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    found = {}
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def outcome(command, jobs, paths):
    folder = f"out-{command[0]}-{jobs}"
    output = [] if command[0] == "check" else ["-o", folder]
    os.makedirs(folder, exist_ok=True)
    ran = tap.skirc(*command, "-j", str(jobs), "--remarks", *output, *paths)
    result = ran.returncode, ran.stdout, ran.stderr.replace(folder, "out"), written(folder)
    for name in result[3]:
        os.remove(os.path.join(folder, name))
    return result


def same(claim, paths, numbers=(2, 7)):
    """Whether these numbers of threads make of the files what one does, with each command."""
    faults, said = [], 0
    for command in COMMANDS:
        one = outcome(command, 1, paths)
        said += len(one[1]) + len(one[2]) + sum(map(len, one[3].values()))
        for jobs in numbers:
            several = outcome(command, jobs, paths)
            faults += [f"{command} -j {jobs}: {what} differ\n{a}\n{b}"[:4000]
                       for what, a, b in zip(("status", "output", "messages"), one, several) if a != b]
            faults += [f"{command} -j {jobs}: {name} differs" for name in one[3].keys() | several[3].keys()
                       if one[3].get(name) != several[3].get(name)]
    tap.check(claim, not faults and said > 1000, "\n".join(faults[:4]) or f"only {said} bytes")


def chunks(paths, size=100):
    """Files of one name in several folders are written in turn."""
    groups = []
    for path in paths:
        name = os.path.basename(path)
        group = next((g for g in groups if len(g) < size and name not in g), None)
        if group is None:
            groups.append(group := {})
        group[name] = path
    return [[*group.values()] for group in groups]


def many(graphs, ops, faulty=()):
    """Many graphs; in those with these numbers a type is wrong."""
    text = "skir 1\n"
    for g in range(graphs):
        text += f"graph @g{g}(%x: f32[64]) -> f32[64] {{\n  scope @s {{\n    %v0 = Abs(%x)\n"
        for i in range(1, ops):
            text += f"    %v{i} = Add(%v{i - 1}, %x) : f32[{63 if g in faulty and i == 2 else 64}]\n"
        text += f"  }}\n  return %v{ops - 1}\n}}\n"
    return text


goldens = sorted(glob.glob(SOURCE + "/tests/golden/**/*.skir", recursive=True))
for number, paths in enumerate(chunks(goldens), 1):
    same(f"golden files, part {number}", paths, (7,)) # most have fewer graphs and entries than that
same("examples", sorted(glob.glob(SOURCE + "/docs/examples/*.skir")))
same(f"random graphs with gears, seeds {FIRST} to {FIRST + COUNT - 1}",
     [put(f"g{seed}.skir", random_gears.Geared(seed).text()) for seed in range(FIRST, FIRST + COUNT)], (7,))
same("many graphs", [put("many.skir", many(200, 20))])
same("many graphs, some of them wrong", [put("wrong.skir", many(200, 20, {3, 4, 77, 199}))])
same("many graphs with more errors than are shown", [put("all.skir", many(60, 4, range(60)))])

with open(SOURCE + "/docs/examples/decoder_gears.skir") as file:
    layer = file.read()
start = layer.index("product (")
table = f"product (b = {[*range(2, 12)]}, s = {[*range(16, 176, 16)]})"
same("100 combinations of gears",
     [put("layer.skir", layer[:start] + table + layer[layer.index(")", start) + 1:])])

# What each pass over entries does where it is asked to.
OPTIONS = ["debug-sync-all=1", "feed-sync-all=1", "profiling=1", "debug-op-exec-trace=1",
           "debug-cross-core-sync-check=1", "early-start=0", "early-start=2", "preload-code=max",
           "preload-data=advance-step", "split-mode=4", "debug-dcci-all=1",
           "dcci-before-kernel-start=MatMul,Add", "dcci-scalar-reads=1",
           "profiling=1:debug-op-exec-trace=1:debug-cross-core-sync-check=1:debug-sync-all=1",
           "feed-sync-all=1:profiling=1:split-mode=2"]
paths = []
for number, options in enumerate(OPTIONS):
    for lists in (0, 1):
        text = layer.replace("stream-fusion=1", f"stream-fusion={lists}:{options}")
        if not lists:
            text = text.replace('stream "1" {', 'stream "0" {')
        paths.append(put(f"options{number}_{lists}.skir", text))
same("options of passes over entries", paths)

for jobs in ("0", "257", "x", "-1"):
    ran = tap.skirc("check", "-j", jobs, "many.skir")
    tap.check(f"-j {jobs} is refused", ran.returncode == 2 and "from 1 to 256" in ran.stderr, str(ran))
tap.done()
