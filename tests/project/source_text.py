"""What all sources in C, their tables and shell scripts have in common: lines end at column 100,
headers are guarded by the name of their path, and no line ends in blanks or has tabs."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

FOLDERS = ("ir", "passes", "backend", "frontend", "tests")
ENDINGS = (".c", ".h", ".y", ".re", ".def", ".sh")
GENERATED = (
    "ir/syntax/lexer.c",
    "ir/syntax/grammar.c",
    "ir/syntax/grammar.h",
    "frontend/import/ge_readable_text.c",
    "frontend/import/text/proto_text.c",
    "frontend/import/text/python_text.c",
)
MAX_COLUMN = 100
OWN_GUARDS = ("SKRT_H", "SKIR_H")  # of installed headers


def sources():
    for folder in FOLDERS:
        for directory, _, files in os.walk(os.path.join(tap.SOURCE, folder)):
            for name in files:
                path = os.path.relpath(os.path.join(directory, name), tap.SOURCE)
                if name.endswith(ENDINGS) and path not in GENERATED:
                    yield path
    yield from ("bootstrap", ".ci/run")


def guard(path):
    return re.sub(r"[^A-Z0-9]", "_", path.upper())


def is_guarded(path, text):
    found = re.search(r"^#ifndef (\w+)\n#define \1\n", text, re.M)
    return found and (found[1] == guard(path) or found[1] in OWN_GUARDS)


paths = sorted(sources())
long, blank, tabs, unguarded = [], [], [], []
for path in paths:
    with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as file:
        text = file.read()
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MAX_COLUMN:
            long.append(f"{path}:{number}: {len(line)} columns")
        if line != line.rstrip():
            blank.append(f"{path}:{number}")
        if "\t" in line:
            tabs.append(f"{path}:{number}")
    if path.endswith(".h") and not is_guarded(path, text):
        unguarded.append(f"{path}: #ifndef {guard(path)}")

tap.check("sources are found", len(paths) > 200, f"{len(paths)} in {tap.SOURCE}")
tap.check(f"lines end at column {MAX_COLUMN}", not long, "\n".join(long))
tap.check("no line ends in blanks", not blank, "\n".join(blank))
tap.check("there are no tabs", not tabs, "\n".join(tabs))
tap.check("headers are guarded by the name of their path", not unguarded, "\n".join(unguarded))
tap.done()
