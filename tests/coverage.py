#!/usr/bin/env python3
"""Line coverage of a build that was configured with --enable-coverage, file by file.

usage: coverage.py SOURCE_DIR BUILD_DIR     (after `make check`; `make coverage` does both)
"""

import collections
import json
import os
import subprocess
import sys

FOLDERS = ("ir", "passes", "backend", "frontend")


def reports(build):
    """What gcov says about every object that ran."""
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith(".gcda"):
                path = os.path.join(folder, name)
                text = subprocess.run(
                    ["gcov", "--json-format", "--stdout", path],
                    cwd=build, capture_output=True, text=True, check=True,
                ).stdout
                for line in text.splitlines():
                    yield json.loads(line)


def main():
    source, build = (os.path.realpath(path) for path in sys.argv[1:3])
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    for report in reports(build):
        for entry in report["files"]:
            path = os.path.realpath(os.path.join(report["current_working_directory"], entry["file"]))
            name = os.path.relpath(path, source)
            if name.startswith(FOLDERS) and not name.startswith(os.pardir):
                for line in entry["lines"]:
                    lines[name][line["line_number"]] += line["count"]
    if not lines:
        sys.exit("coverage: no data; configure with --enable-coverage and run make check")
    rows = [(sum(1 for n in hits.values() if n), len(hits), name) for name, hits in lines.items()]
    rows.sort(key=lambda row: row[0] / row[1] if row[1] else 1)
    rows.append((sum(r[0] for r in rows), sum(r[1] for r in rows), "total"))
    for covered, total, name in rows:
        print(f"{100 * covered / max(total, 1):6.1f} %  {covered:6} of {total:6}  {name}")


if __name__ == "__main__":
    main()
