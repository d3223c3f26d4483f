"""Helpers for tests in Python. A test script begins with

    import os, sys
    sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
    import tap

and ends with tap.done(). The makefile sets SKIRC and SKIR_SOURCE.
"""

import os
import subprocess
import sys

SKIRC = os.environ.get("SKIRC", "skirc")
SOURCE = os.environ.get("SKIR_SOURCE", ".")

_cases = 0
_failures = 0


def check(claim, passed, detail=""):
    """Reports one case; `detail` is shown when it failed."""
    global _cases, _failures
    _cases += 1
    print(f"{'ok' if passed else 'not ok'} {_cases} - {claim}")
    if not passed:
        _failures += 1
        for line in str(detail).splitlines():
            print("#", line)
    sys.stdout.flush()
    return passed


def skip(claim, reason):
    global _cases
    _cases += 1
    print(f"ok {_cases} - {claim} # SKIP {reason}", flush=True)


def skirc(*arguments, stdin="", timeout=60):
    """Runs skirc with text in and out; returns subprocess.CompletedProcess."""
    return subprocess.run(
        [SKIRC, *arguments], input=stdin, capture_output=True, text=True, timeout=timeout
    )


def done():
    print(f"1..{_cases}", flush=True)
    sys.exit(1 if _failures else 0)
