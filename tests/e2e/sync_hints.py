"""What verify-sync says to write where, in JSON for tools, is right: written there, the entry is proven.

Each refuted entry of tests/golden/sync whose diagnostics have the fact `insert` is repaired by it, and by `remove`, one
diagnostic at a time, until `skirc check` has nothing left to say."""

import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

SOURCE = os.path.abspath(tap.SOURCE)
ROUNDS = 8  # one mistake may hide others

# What must be taken out is not said as an insertion.
INCOMPLETE = {"events_inner_word": "the event's instructions are to be taken out",
              "feed_steps": "steps elsewhere are to be taken out",
              "full_barriers": "waits behind the call are to be taken out",
              "other_calls": "calls are to be exchanged"}

# One instruction of those that hints insert.
INSTR = (r"(?:notify|wait_event|reset) (?:lock )?\S+|"
         r"[a-z_]+(?: [^a-z]\S*| aic| aiv| c2v| v2c)?")

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def edit(lines, entry, core, index, text, key):
    """Puts instructions before one of an entry's program, which has one per line, or takes it out."""
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"entry @{entry} "))
    at = lines.index(f"  {core} {{", begin) + 1 + index
    if key == "insert":
        lines[at:at] = ["    " + instr for instr in re.findall(INSTR, text)]
    elif lines.pop(at).strip() != text:
        raise ValueError(f"instruction {index} of the {core} program is not '{text}'")


def edits(diag):
    return [(*re.fullmatch(r"(ai[cv]) (\d+): (.*)", line).groups(), key)
            for key in ("insert", "remove") for line in diag.get(key, [])]


def first_inserts(name):
    done = tap.skirc("check", "--remarks=facts.json", name)
    if done.returncode == 0:
        return None
    for diag in json.loads(read("facts.json"))["diagnostics"]:
        if diag.get("insert"):
            return diag["entry"], edits(diag)
    return []


def repair(text):
    """Whether the text is proven in the end."""
    for _ in range(ROUNDS):
        with open("repaired.skir", "w", encoding="utf-8") as file:
            file.write(text)
        inserts = first_inserts("repaired.skir")
        if not inserts:
            return inserts is None
        lines = text.split("\n")
        entry, inserts = inserts
        for core, index, instrs, key in sorted(inserts, key=lambda place: -int(place[1])):
            edit(lines, entry, core, int(index), instrs, key)
        text = "\n".join(lines)
    return False


for path in sorted(glob.glob(os.path.join(SOURCE, "tests/golden/sync/*.skir"))):
    name = os.path.basename(path)[: -len(".skir")]
    text = read(path)
    if not text.startswith("//! check") or "//! error" not in text:
        continue
    inserts = first_inserts(path)
    if not inserts:
        continue
    proven = repair(re.sub(r" *//!.*", "", text))
    if name in INCOMPLETE:
        tap.check(f"{name} is not repaired by insertions alone: {INCOMPLETE[name]}", not proven)
    else:
        tap.check(f"{name} is proven with what the hints insert", proven)
tap.done()
