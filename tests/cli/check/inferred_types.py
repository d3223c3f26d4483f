"""Types of results that are left out are those that were written: of every golden file and example that checks, each op's
types are taken away where they follow, and come back. Where they differ, the text had made a choice, or said less."""

import collections
import glob
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

SOURCE = os.path.abspath(tap.SOURCE)
OP = re.compile(r'^ *%.* = ("?)\w[^(]*\(')
REST = re.compile(r" (via|after|send|recv) |  ?//")


def types_of(line):
    """Where the types of an op's line begin and end; None where there are none."""
    if not OP.match(line):
        return None
    depth, quoted, at = 0, False, 0
    while at < len(line):
        char = line[at]
        if quoted:
            at += char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif depth == 0 and line.startswith(" : ", at):
            rest = REST.search(line, at + 3)
            return at, rest.start() if rest else len(line)
        depth += (char in "([{") - (char in ")]}") if not quoted else 0
        at += 1
    return None


def makers(lines, user):
    """The lines of the ops that make the operands of one, and that one."""
    names = set(re.findall(r"%[\w.$]+", lines[user].partition(" = ")[2]))
    return [n for n, line in enumerate(lines)
            if n == user or names & set(re.findall(r"%[\w.$]+", line.partition(" = ")[0] if " = " in line else ""))]


def opt(folder, text):
    path = os.path.join(folder, "input.skir")
    with open(path, "w") as file:
        file.write(text)
    return tap.skirc("opt", "--passes=", "--max-errors=0", path)


def infer(folder, written):
    """The text whose types are inferred where that can be, the lines where it cannot with the reason, and those that follow
    otherwise."""
    lines = written.splitlines()
    places = {n: types_of(line) for n, line in enumerate(lines) if types_of(line) and "token" not in line}
    otherwise, kept = {}, {}
    for _ in range(40):
        text = "\n".join(line if n not in places or n in kept
                         else line[:places[n][0]] + line[places[n][1]:] for n, line in enumerate(lines)) + "\n"
        result = opt(folder, text)
        wrong = {int(n) - 1: why for n, why in re.findall(r"input\.skir:(\d+):\d+: error: (.*)", result.stderr)}
        if result.returncode == 0:
            found = result.stdout.splitlines()
            if len(found) != len(lines):
                return places, kept, otherwise, f"{len(found)} lines of {len(lines)}"
            differing = [n for n in range(len(lines)) if found[n] != lines[n]]
            if not differing:
                return places, kept, otherwise, None
            otherwise[differing[0]] = (lines[differing[0]], found[differing[0]])
            kept[differing[0]] = "otherwise"
            continue
        untold = {n: why for n, why in wrong.items() if "[cannot-infer]" in why}
        if not untold:  # where types are written, it is those of operands that are others
            untold = {n: "otherwise" for line in wrong for n in makers(lines, line) if n in places and n not in kept}
        if not untold:
            return places, kept, otherwise, result.stderr
        kept.update(untold)
    return places, kept, otherwise, "it takes too long"


def programs():
    for path in sorted(glob.glob(f"{SOURCE}/tests/golden/**/*.skir", recursive=True) +
                       glob.glob(f"{SOURCE}/docs/examples/*.skir")):
        with open(path, errors="surrogateescape") as file:
            lines = file.read().split("\n")
        if lines[0].startswith("//!"):
            lines = lines[2:]
        ends = [n for n, line in enumerate(lines) if re.match(r"//! (expect|also)\b", line)]
        yield path, "\n".join(lines[:ends[0]] if ends else lines)


def dims_agree(a, b):
    """Whether two types differ in what one of them does not say, '?' or '..', or in the data type alone."""
    split = [re.fullmatch(r"([\w?]+)\[(.*)\](?::(\w+))?", text) for text in (a, b)]
    if not all(split):
        return False
    (_, first, form), (_, second, other) = (match.groups() for match in split)
    if form != other and "?" not in (a[0], b[0]):
        return False
    if ".." in (first, second):
        return True
    pair = [text.split(", ") if text else [] for text in (first, second)]
    return len(pair[0]) == len(pair[1]) and all(
        x == y or "?" in (x, y) or not (x.isdigit() and y.isdigit()) for x, y in zip(*pair))


def all_types(line):
    begin, end = types_of(line)
    return re.findall(r"[\w?]+\[[^\]]*\](?::\w+)?|token", line[begin + 3:end])


def explained(written, found):
    a, b = all_types(written), all_types(found)
    return len(a) == len(b) and all(dims_agree(x, y) for x, y in zip(a, b))


counts, reasons, wrong, choices = collections.Counter(), collections.Counter(), [], collections.Counter()
with tempfile.TemporaryDirectory() as folder:
    for path, text in programs():
        for name in ("kernels", "parts"):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
            if os.path.isdir(os.path.join(os.path.dirname(path), name)):
                shutil.copytree(os.path.join(os.path.dirname(path), name), os.path.join(folder, name))
        written = opt(folder, text)
        if written.returncode != 0 or "\\" in written.stdout or not re.search(r" = ", written.stdout):
            continue
        places, kept, otherwise, failed = infer(folder, written.stdout)
        counts["programs"] += 1
        counts["ops"] += len(places)
        counts["inferred"] += len(places) - len(kept)
        counts["otherwise"] += len(otherwise)
        for why in kept.values():
            reasons[re.sub(r"'%[^']*'|'[^']*'| of [\w\"]+|The.*", "", why)[:90]] += 1
        if failed:
            wrong.append(f"{path}: {failed[:400]}")
        for before, after in otherwise.values():
            if not explained(before, after):
                wrong.append(f"{path}: '{before.strip()}' becomes '{after.strip()}'")
            choices[re.search(r" = \"?(\w+)", before).group(1)] += 1

print("#", dict(counts))
for why, count in reasons.most_common(12):
    print(f"# {count:5} {why}")
print("# otherwise:", dict(choices.most_common(30)))
tap.check(f"types of {counts['inferred']} ops in {counts['programs']} programs are those that follow",
          not wrong and counts["inferred"] > 400, "\n".join(wrong[:20]))
tap.check("few follow otherwise than they are written, and say as much or more",
          counts["otherwise"] * 10 < counts["inferred"], dict(choices))
tap.done()
