"""What verify-sync says to write where, in JSON for tools, is right: written there, the entry is proven.

Each refuted entry of tests/golden/sync whose diagnostics have the fact `insert` is repaired by it, and by `remove`, one
diagnostic at a time, until `skirc check` has nothing left to say. Of a file with many entries, so is each for which
there is such a hint at first: what is drawn at random has entries without, such as those that wait in a circle."""

import glob
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

SOURCE = os.path.abspath(tap.SOURCE)
ROUNDS = 8  # for each entry, since one mistake may hide others

# What must be taken out is not said as an insertion.
INCOMPLETE = {"events_inner_word": "the event's instructions are to be taken out",
              "events_missing_circle_one": "the launches wait for each other when it is notified",
              "feed_steps": "steps elsewhere are to be taken out",
              "full_barriers": "waits behind the call are to be taken out",
              "other_calls": "calls are to be exchanged"}

# What offers a choice, since it may be the kernel's description that is wrong, has no insertion.
CHOICE = "let the kernel declare it, or put "

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


def errors(name):
    """What is wrong with a file, or None."""
    done = tap.skirc("check", "--max-errors=0", "--remarks=facts.json", name)
    if done.returncode == 0:
        return None
    found = json.loads(read("facts.json"))["diagnostics"]
    found = [diag for diag in found if diag["severity"] == "error"]
    if done.returncode != 1 or not found:
        raise ValueError(f"status {done.returncode} without errors: {done.stderr}")
    return found


def subject(diag):
    """The entry that a diagnostic is of; of others, what it says."""
    return diag.get("entry") or diag["text"]


def repair(text, kept):
    """Whether the text is proven in the end, but for the subjects that are kept."""
    for _ in range(ROUNDS * text.count("\nentry ")):
        with open("repaired.skir", "w", encoding="utf-8") as file:
            file.write(text)
        found = [diag for diag in errors("repaired.skir") or [] if subject(diag) not in kept]
        hinted = [diag for diag in found if diag.get("insert")]
        if not hinted:
            return all(diag["id"] == "sync-order" and
                       any(note["text"].startswith(CHOICE) for note in diag.get("notes", []))
                       for diag in found)
        lines = text.split("\n")
        for core, index, instrs, key in sorted(edits(hinted[0]), key=lambda place: -int(place[1])):
            edit(lines, hinted[0]["entry"], core, int(index), instrs, key)
        text = "\n".join(lines)
    return False


for path in sorted(glob.glob(os.path.join(SOURCE, "tests/golden/sync/*.skir"))):
    name = os.path.basename(path)[: -len(".skir")]
    text = read(path)
    if not text.startswith("//! check") or "//! error" not in text:
        continue
    found = errors(path) or []
    hinted = {diag["entry"] for diag in found if diag.get("insert")}
    if not hinted:
        continue
    proven = repair(re.sub(r" *//!.*", "", text), {subject(diag) for diag in found} - hinted)
    if name in INCOMPLETE:
        tap.check(f"{name} is not repaired by insertions alone: {INCOMPLETE[name]}", not proven)
    else:
        tap.check(f"{name} is proven with what the hints insert", proven)
tap.done()
