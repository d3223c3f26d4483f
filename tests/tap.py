"""Helpers for tests in Python. A test script begins with

    import os, sys
    sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
    import tap

and ends with tap.done(). The makefile sets SKIRC and SKIR_SOURCE.
"""

import importlib.util
import os
import struct
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


def todo(claim, detail, reason):
    """Reports a case that is known to fail; it does not fail the test."""
    global _cases
    _cases += 1
    print(f"not ok {_cases} - {claim} # TODO {reason}")
    for line in str(detail).splitlines():
        print("#", line)
    sys.stdout.flush()


def skip(claim, reason):
    global _cases
    _cases += 1
    print(f"ok {_cases} - {claim} # SKIP {reason}", flush=True)


def skirc(*arguments, stdin="", timeout=60):
    """Runs skirc with text in and out; returns subprocess.CompletedProcess."""
    return subprocess.run(
        [SKIRC, *arguments], input=stdin, capture_output=True, text=True, timeout=timeout
    )


def write(path, data):
    """Writes a file, text as UTF-8 and bytes that are none as they were; makes its folder. The path."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def npy(descr, shape, data):
    """An .npy file of version 1.0 with these bytes of elements; `shape` is a tuple, or its text."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def need_numpy():
    """Goes on with a Python that has NumPy; where there is none, the whole test is a skipped case."""
    if importlib.util.find_spec("numpy"):
        return
    # The first python3 may be one beside that of the system, which NumPy is packaged for.
    for python in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import numpy"], capture_output=True).returncode == 0:
            os.execv(python, [python, *sys.argv])
    skip("NumPy", "no python3 has NumPy; on Debian, install the package python3-numpy")
    done()


def done():
    print(f"1..{_cases}", flush=True)
    sys.exit(1 if _failures else 0)
