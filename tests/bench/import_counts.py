#!/usr/bin/env python3
"""Counts what skirc import makes of dumps: for each file its ops, how many of these are stubs, and how
many have a type that skirc has no data of (`skirc opt --op-type=all`).

Paths are dumps, or folders of them; without any, those of tests/import. A file NAME.args next to a dump
has options of its import. With --against, another skirc counts, too.
"""

import argparse
import collections
import glob
import json
import os
import re
import subprocess

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Suffixes of what tests/import has besides dumps.
OTHER = (".skir", ".counts", ".err", ".args", ".scopes", ".o")

Counts = collections.namedtuple("Counts", "ops stubs unknown")


def known_types(skirc):
    """Types that the compiler has data of: the indented names, and others by which they go."""
    text = subprocess.run([skirc, "opt", "--op-type=all"], capture_output=True, text=True,
                          check=True).stdout
    return set(re.findall(r"^  (\S+)", text, re.M))


def count(skirc, known, path):
    """Counts of a dump, or the first line of why it is refused."""
    options = os.path.splitext(path)[0] + ".args"
    words = open(options).read().split("\n") if os.path.exists(options) else []
    done = subprocess.run([skirc, "import", *filter(None, words), os.path.basename(path)],
                          capture_output=True, cwd=os.path.dirname(path) or ".")
    if done.returncode:
        return done.stderr.decode("utf-8", "replace").split("\n")[0]
    module = json.loads(subprocess.run([skirc, "export", "--format=json", "-"], input=done.stdout,
                                       capture_output=True, check=True).stdout)
    stubs = {kernel["name"] for kernel in module["kernels"] if kernel["attrs"].get("stub")}
    ops = [op for graph in module["graphs"] for op in graph["ops"]]
    return Counts(len(ops), sum(op["kernel"] in stubs for op in ops),
                  sum(op["type"] not in known for op in ops))


def dumps(paths):
    for path in paths:
        if os.path.isdir(path):
            found = glob.glob(os.path.join(path, "**", "*"), recursive=True)
            yield from sorted(name for name in found
                              if os.path.isfile(name) and not name.endswith(OTHER)
                              and "/kernels/" not in name)
        else:
            yield path


def shown(counts):
    if isinstance(counts, str):
        return f"{'refused':>20}"
    return f"{counts.ops:6} {counts.stubs:6} {counts.unknown:6}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skirc", default="build/skirc")
    parser.add_argument("--against", help="another skirc, whose counts come first")
    parser.add_argument("--totals", action="store_true", help="no rows of single files")
    parser.add_argument("paths", nargs="*", default=[os.path.join(SOURCE, "tests", "import")])
    args = parser.parse_args()
    commands = [os.path.abspath(skirc) for skirc in (args.against, args.skirc) if skirc]
    known = {skirc: known_types(skirc) for skirc in commands}
    totals = {skirc: Counts(0, 0, 0) for skirc in commands}
    refused = {skirc: 0 for skirc in commands}
    print("   ops  stubs no data " * len(commands))
    for path in dumps(args.paths):
        row = []
        for skirc in commands:
            counts = count(skirc, known[skirc], path)
            row.append(shown(counts))
            if isinstance(counts, str):
                refused[skirc] += 1
            else:
                totals[skirc] = Counts(*map(sum, zip(totals[skirc], counts)))
        if not args.totals:
            print("  ".join(row), path)
    print("  ".join(shown(totals[skirc]) for skirc in commands), "in total, and refused:",
          ", ".join(str(refused[skirc]) for skirc in commands))


if __name__ == "__main__":
    main()
