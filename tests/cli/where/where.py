"""skirc where: by the metadata alone, the counters that a launch has left in its buffer of traces name the
core, the op and the instruction; an address on the device does so by where the core type began."""

import json
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
MAGIC = 0x54524b53
AIC, AIV = 0, 1

PROGRAM = """skir 1

kernel @mm : aic_only {
  op = "MatMul", block = 2, function = "mm"
}
kernel @add : aiv_only {
  op = "Add", block = 4, function = "add"
}

graph @g(%a: f32[8, 8], %b: f32[8, 8]) -> f32[8, 8] {
  superkernel @s {options = "split-mode=1:debug-op-exec-trace=1"} {
    %m = MatMul(%a, %b) : f32[8, 8] via @mm
    %y = Add(%m, %b) : f32[8, 8] via @add
  }
  return %y
}
"""


def line(type, core, index, state, fault=0):
    """A core's line of the buffer."""
    return struct.pack("<QQ48x", fault << 56 | type << 48 | core << 32 | MAGIC, state << 32 | index)


def dump(*lines):
    with open("buffer", "wb") as file:
        file.write(b"".join(lines))


def where(*arguments, meta="s.json"):
    return tap.skirc("where", meta, *arguments)


def answers(claim, expected, *arguments, meta="s.json"):
    done = where(*arguments, meta=meta)
    tap.check(claim, done.returncode == 0 and done.stdout == expected, done.stdout + done.stderr)


def refused(claim, status, text, *arguments, meta="s.json"):
    done = where(*arguments, meta=meta)
    tap.check(f"{claim} is refused", done.returncode == status and text in done.stderr and not done.stdout,
              done.stdout + done.stderr)


def check_traces():
    dump(line(AIC, 0, 0, 2), line(AIC, 1, 0, 1), line(AIV, 0, 0, 0), *[line(AIV, i, 0, 0) for i in (1, 2)],
         bytes(64))
    answers("counters name core, op and instruction", """'@s', AIC 0:
  at `arrive aic`, then `await aic`, then `set c2v`
  behind MatMul(%a, %b, %m), s.skir:12
'@s', AIC 1:
  at `call @mm args %m blocks 2`
  in MatMul(%a, %b, %m), s.skir:12
'@s', AIV 0..2:
  at `wait c2v`
  before Add(%m, %b, %y), s.skir:13
""", "--trace=buffer")
    dump(line(AIV, 3, 1, 1, fault=1), line(AIC, 0, 0, 3))
    answers("a failed check, and an end, too", """'@s', AIV 3: ended by a failed check
  at `call @add args %y blocks 4`
  in Add(%m, %b, %y), s.skir:13
'@s', AIC 0:
  at the end
  behind MatMul(%a, %b, %m), s.skir:12
""", "--trace=buffer")
    dump(bytes(640))
    refused("an empty buffer", 1, "'buffer' has no trace of this kernel", "--trace=buffer")
    refused("a file that is not there", 1, "cannot open 'no'", "--trace=no")


def check_run():
    """What the virtual device leaves is read, too."""
    write("run.skir", """skir 1
graph @g(%a: f32[64], %b: f32[64]) -> f32[64] {
  superkernel @r {options = "debug-op-exec-trace=1"} {
    %m = Add(%a, %b) : f32[64]
    %y = Mul(%m, %b) : f32[64]
  }
  return %y
}
""")
    done = tap.skirc("run", "run.skir", "--trace=run.trace")
    tap.skirc("compile", "run.skir", "--emit=meta", "-o", "run.json")
    found = where("--trace=run.trace", meta="run.json")
    tap.check("traces of a run name all cores", done.returncode == found.returncode == 0 and re.fullmatch(
        r"'@r', AIV 0\.\.\d+:\n  at the end\n  behind Mul\(%m, %b, %y\), run.skir:5\n", found.stdout),
              done.stderr + found.stdout + found.stderr)


def check_addresses():
    """As a toolkit's compiler says them: parts of the entry, and a kernel."""
    with open("s.json", encoding="utf-8") as file:
        meta = json.load(file)
    row = next(one for one in meta["skir"]["instructions"] if one["text"] == "wait c2v")
    meta["skir"]["code"] = [
        {"begin": 0, "end": 256, "core": "aic", "function": "s_mix_aic", "lines": [[0, row["line"] - 5]]},
        {"begin": 512, "end": 768, "core": "aiv", "function": "s_mix_aiv", "lines": [[16, row["line"]]]},
        {"begin": 1024, "end": 1280, "core": "aiv", "function": "add", "copy": 0, "ops": [1]}]
    write("placed.json", json.dumps(meta))
    answers("an address on the device is one behind the part's begin",
            f"s_mix_aiv + 0x20, line {row['line']} of the source\n'@s', AIVs: wait c2v\n"
            "  before Add(%m, %b, %y), s.skir:13\n",
            "--pc=0x12c0c1200220", "--start=0x12c0c1200200", "--core=aiv", meta="placed.json")
    answers("also where it is in a kernel", "add + 0x10\n'@s', AIVs: a kernel, copy 0 of its code, called by\n"
            "  Add(%m, %b, %y), s.skir:13\n",
            "--pc=0x12c0c1200410", "--start=0x12c0c1200200", "--core=aiv", meta="placed.json")
    refused("an address before it", 1, "there is no code", "--pc=0x100", "--start=0x200000", "--core=aic",
            meta="placed.json")
    both = [meta, {**meta, "kernelName": "r"}]
    write("both.json", json.dumps(both))
    refused("one of several kernels", 1, "the metadata are of several kernels", "--trace=buffer",
            meta="both.json")
    dump(line(AIV, 0, 1, 2))
    done = where("--trace=buffer", "--entry=r", meta="both.json")
    tap.check("its help removes the error", done.returncode == 0 and done.stdout.startswith("'@r', AIV 0:\n"),
              done.stdout + done.stderr)
    refused("a kernel that is not there", 1, "the metadata have no kernel 'q'", "--trace=buffer", "--entry=q",
            meta="both.json")
    for claim, words, text in (("--start without --core", ["--pc=1", "--start=1"], "belong together"),
                               ("a core type that is none", ["--pc=1", "--start=1", "--core=ai"],
                                "'--core' cannot be 'ai', only 'aic' or 'aiv'"),
                               ("both questions", ["--pc=1", "--trace=buffer"], "either --pc or --line")):
        refused(claim, 2, text, *words)


write("s.skir", PROGRAM)
made = tap.skirc("compile", "s.skir", "--emit=meta", "-o", "s.json")
if tap.check("metadata are made", made.returncode == 0, made.stderr):
    check_traces()
    check_run()
    check_addresses()
tap.done()
