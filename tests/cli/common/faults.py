"""Whatever fails while a command works, memory, files or processes, at any call: it ends in a message
and a documented status, each output is the old or the new one, and nothing is left behind. What may
happen to good files, parts of reads and writes and signals, changes nothing.

Some calls of each command are tried; `make torture` tries all (`faults.py --all`).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from cut_off import CC, COMPILER, listing, read, start_anew, write_modules

ALL = "--all" in sys.argv
SAMPLES = 12
LEAK_SAMPLES = 5
FAILING = "alloc", "open", "read", "write", "rename", "sync", "mmap", "stat", "fork"
HARMLESS = "short", "signal"
STATUSES = 0, 1, 3, 4
LEAKS = 99
SKIRC = shutil.which(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
os.mkdir("tmp")
os.environ.update(TMPDIR=os.path.abspath("tmp"), LC_ALL="C", CCACHE_DISABLE="1", CC=COMPILER)

LIBRARY = os.path.abspath("fail_at.so")
subprocess.run([*CC, "-O1", "-shared", "-fPIC", os.path.join(tap.SOURCE, "tests", "fail_at.c"),
                "-o", LIBRARY, "-ldl"], check=True)


def run(command, kind, n, *before):
    """The command, whose n-th call of a kind fails, and the number of calls of that kind."""
    if os.path.exists("count"):
        os.unlink("count")
    environment = dict(os.environ, LD_PRELOAD=LIBRARY, SKIR_FAIL=f"{kind}:{n}",
                       SKIR_FAIL_IN="skirc", SKIR_FAIL_COUNT=os.path.abspath("count"))
    done = subprocess.run([*before, SKIRC, *command], env=environment, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=120)
    counts = read("count").split() if os.path.exists("count") else []
    return done, max(map(int, counts), default=0)


done, _ = run(["--version"], "alloc", 0)
if done.returncode != 0:
    print("1..0 # SKIP this skirc does not run with a library that replaces malloc")
    sys.exit(0)

EXAMPLE = os.path.join(tap.SOURCE, "docs", "examples", "decoder_layer.skir")
shutil.copy(EXAMPLE, "layer.skir")
subprocess.run([SKIRC, "export", "--format=ge-txt", "layer.skir", "-o", "layer.txt"], check=True,
               capture_output=True)
write_modules("-g", "-gz")
UGLY = read("add.skir").decode().replace("    %a", "%a")
WRONG = "//! opt\n//! nothing is done\n" + UGLY + "//! expect\nskir 1\n"

# Claim, command, outputs with what they have before (None: nothing), and how many calls of each kind
# are tried at most with --all.
COMMANDS = (
    ("compile of a decoder layer", ["compile", "layer.skir", "-o", "out.o", "-j1"], {"out.o": "old"}, None),
    ("compile to a new file, with remarks", ["compile", "layer.skir", "-o", "out.o", "--remarks=out.json", "-j1"],
     {"out.o": None, "out.json": None}, 200),
    ("compile by threads", ["compile", "layer.skir", "-o", "out.o", "-j3"], {"out.o": "old"}, 200),
    ("check", ["check", "--explain", "layer.skir", "-j1"], {}, 300),
    ("fmt -i", ["fmt", "-i", "out.skir"], {"out.skir": UGLY}, None),
    # Passes behind this one look at objects, and do without those that they cannot read.
    ("opt", ["opt", "--stop-after=insert-syncs", "layer.skir", "-o", "out.skir", "-j1"], {"out.skir": "old"}, 300),
    ("import", ["import", "layer.txt", "-o", "out.skir"], {"out.skir": "old"}, None),
    ("export", ["export", "--format=json", "layer.skir", "-o", "out.json"], {"out.json": "old"}, 300),
    ("run", ["run", "add.skir", "-i", "x=1", "-i", "y=1", "-ob=out.npy", "--repeat=1", "--threads=1",
             "--json=out.json", "--compare=unfused"], {"out.npy": "old", "out.json": None}, None),
    ("run with the system's loader", ["run", "own.skir", "-i", "x=1", "-oy=out.npy", "--repeat=0", "--threads=1"],
     {"out.npy": "old"}, 60),
    ("objdump of an object with compressed sections", ["objdump", "k.o"], {}, None),
    ("test --bless", ["test", "--bless", "-j1", "outs"], {"outs/a.skir": WRONG}, None),
)


def is_same(path, got, expected):
    """What JSON says of a command depends on what it comes to, and on clocks."""
    if got == expected or not path.endswith(".json"):
        return got == expected
    try:
        return "diagnostics" in json.loads(got)
    except ValueError:
        return False


def wrong_after(done, kind, before, new, stdout):
    """What is wrong behind a command of which something has failed."""
    said = done.stderr.decode(errors="replace")
    good = done.returncode == 0
    if done.returncode not in STATUSES:
        return f"the status is {done.returncode}: {said}"
    if not good and not any(mark in said + done.stdout.decode(errors="replace")
                            for mark in ("skirc: ", "error: ", "failed")):
        return f"status {done.returncode} without a message: {said}"
    if "Sanitizer" in said:
        return said
    if not good and kind in HARMLESS:
        return f"status {done.returncode}: {said}"
    for path in new:
        old = before[path].encode() if path in before else None
        got = read(path) if os.path.exists(path) else None
        if good and (got is None or not is_same(path, got, new[path])):
            return f"{path} is not what it is to be, but the status is 0"
        if got != old and (got is None or not is_same(path, got, new[path])):
            return f"{path} is damaged"
    if good and stdout is not None and done.stdout != stdout:
        return "the output is another one, but the status is 0"
    extra = listing() - known - {"./" + path for path in new} - {"./count"}
    if extra:
        return f"left behind: {sorted(extra)}"
    return None


def places(count, most):
    """Which calls are to fail."""
    most = most or count
    tried = min(count, most if ALL else SAMPLES)
    return sorted({1 + i * count // tried for i in range(tried)}) if count else []


def torture(claim, command, outputs, most):
    before = {path: text for path, text in outputs.items() if text is not None}
    steady = "run" not in command[0] and "test" not in command[0]
    for kind in (*FAILING, *HARMLESS):
        start_anew(before)
        done, count = run(command, kind, 0)
        new = {path: read(path) for path in outputs}
        stdout = done.stdout if steady else None
        if done.returncode != 0:
            tap.check(f"{claim}, {kind}", False, f"it fails by itself: {done}")
            continue
        tried, refused, wrong = places(count, most), 0, []
        for n in tried:
            start_anew(before)
            done, _ = run(command, kind, n)
            refused += done.returncode != 0
            problem = wrong_after(done, kind, before, new, stdout)
            if problem:
                wrong.append(f"{kind} {n} of {count}: {problem}")
                shutil.rmtree("tmp")
                os.mkdir("tmp")
        totals[0] += len(tried)
        totals[1] += refused
        if tried:
            print(f"# {claim}, {kind}: {len(tried)} of {count} calls fail, {refused} times it is refused")
            tap.check(f"{claim}, {kind}", not wrong, "\n".join(wrong[:10]))


known = listing()
totals = [0, 0]
for case in COMMANDS:
    torture(*case)
print(f"# in all, {totals[0]} calls fail, and {totals[1]} times that is refused")

# ---- Leaks ----

VALGRIND = ["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect",
            "--show-leak-kinds=definite,indirect", f"--error-exitcode={LEAKS}"]
if not ALL:
    print("# leaks are looked for by make torture")
elif not shutil.which("valgrind"):
    tap.skip("nothing is leaked", "valgrind is not installed")
else:
    for claim, command, outputs, _ in (COMMANDS[0], COMMANDS[5], COMMANDS[10]):
        before = {path: text for path, text in outputs.items() if text is not None}
        for kind in "alloc", "open", "read", "write", "rename":
            start_anew(before)
            _, count = run(command, kind, 0)
            tried = sorted({1 + i * count // LEAK_SAMPLES for i in range(LEAK_SAMPLES)}) if count else []
            leaks = []
            for n in tried:
                start_anew(before)
                done, _ = run(command, kind, n, *VALGRIND)
                if done.returncode == LEAKS:
                    leaks.append(f"{kind} {n} of {count}: {done.stderr.decode(errors='replace')}")
            if tried:
                tap.check(f"{claim}: nothing is leaked where {kind} fails, {len(tried)} of {count} calls", not leaks,
                          "\n".join(leaks[:3]))

tap.done()
