"""What the entries in AscendC execute on every core, held against what the reference compiler's do, by
the conformance cases beside the repository; without these, or without clang++, nothing is tested.
"""

import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

FOLDER = os.environ.get("SKIR_CONFORMANCE",
                        os.path.join(tap.SOURCE, os.pardir, "shared", "conformance"))
CASES = os.path.join(FOLDER, "cases.json")
CHECK = os.path.join(FOLDER, "check.py")
SHARDS = 2  # that run at a time


def start(names):
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    return subprocess.Popen([sys.executable, CHECK, os.path.abspath(tap.SKIRC), CASES, *names, "-v"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=environment)


def verdicts(names):
    """By name of a case: "ok", or why it fails."""
    found, rest = {}, []
    for shard in [start(names[i::SHARDS]) for i in range(SHARDS)]:
        for line in shard.communicate(timeout=1200)[0].splitlines():
            name, colon, why = line.partition(": ")
            if colon and name in names:
                found[name] = why
            else:
                rest.append(line)
    return found, "\n".join(rest)


def missing():
    if not os.path.exists(CASES) or not os.path.exists(CHECK):
        return f"there is no {FOLDER}"
    for tool in ("clang++", "as"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    return ""


if missing():
    tap.skip("the reference's fusion requests", missing())
else:
    with open(CASES, encoding="utf-8") as file:
        every = [case["name"] for case in json.load(file)]
    found, rest = verdicts(every)
    for name in every:
        tap.check(f"{name}: every core executes what the reference has it execute",
                  found.get(name) == "ok", found.get(name, rest))
tap.done()
