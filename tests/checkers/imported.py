"""What a graph of another system becomes: imported, run, and how that ended. Shared by checkers of imports.

A case ends "equal", "wrong" (another value, dtype or shape, or a command that fails in another way than by a refusal),
"refused" with a reason, or "no plain tensors", where its values have no files.
"""

import collections
import concurrent.futures
import importlib.util
import os
import re
import subprocess
import sys

import tap

VERDICTS = "equal", "wrong", "refused", "no plain tensors"
Outcome = collections.namedtuple("Outcome", "verdict text", defaults=[""])  # text: what differs, or why it is refused


class Ended(Exception):
    """A case has ended before its results could be compared."""

    def __init__(self, verdict, text=""):
        super().__init__(text)
        self.outcome = Outcome(verdict, text)


def need(modules, package):
    """Continues with a Python that has these modules; without one, the whole test is a skipped case."""
    if all(map(importlib.util.find_spec, modules)):
        return
    # The first python3 may not be that of the system, which packages belong to.
    for python in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if python != sys.executable and os.path.exists(python) and subprocess.run(
                [python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode == 0:
            os.execv(python, [python, *sys.argv])
    tap.skip(", ".join(modules), f"no python3 has these; on Debian, install the package {package}")
    tap.done()


def reason(stderr, *kinds):
    """The first diagnostic of these kinds, without its place."""
    found = re.search(rf"(?:^|: )(?:{'|'.join(kinds)}): (.*)", stderr, re.M)
    return found.group(1) if found else ""


# What an imported graph may be refused for when it runs; other errors are about the text that import has written.
RUN_REFUSALS = re.compile(r"\[(stub|unknown-op-type|unsupported|operand-value)\]$|must be .* but is .*\[op-signature\]$")


def command(stage, *arguments):
    """A command of skirc that succeeds, or ends the case. A refusal is an error that blames the input, with status 1."""
    try:
        done = subprocess.run([tap.SKIRC, stage, *arguments], capture_output=True, text=True, timeout=60, errors="replace")
    except subprocess.TimeoutExpired as error:
        raise Ended("wrong", f"{stage}: no end after {error.timeout} seconds") from None
    why = reason(done.stderr, "error")
    if done.returncode == 1 and why and (stage == "import" or RUN_REFUSALS.search(why)):
        raise Ended("refused", f"{stage}: {why}")
    if done.returncode != 0:
        raise Ended("wrong", f"{stage}: status {done.returncode}\n{done.stderr}")
    return done


def import_graph(form, source, target):
    """The text of an imported graph. One with a stub is refused, for the reason that a remark has."""
    done = command("import", f"--format={form}", "--remarks", source, "-o", target)
    text = tap.read(target).decode()
    if re.search(r"^  stub$", text, re.M):
        why = reason(done.stderr, "warning", "remark")
        raise Ended("refused", why and f"import: {why}")
    return text


def interface(text, graph):
    """Names of the parameters and results of a graph, from its text."""
    body = re.search(rf'^graph @(?:{re.escape(graph)}|"{re.escape(graph)}")\(.*?^}}', text, re.M | re.S).group()
    head, body = re.split(r"\{$", body, maxsplit=1, flags=re.M)
    name = r'%("(?:[^"\\]|\\.)*"|[^\s:,(){}]+)'
    returned = re.search(r"^  return (.*)", body, re.M | re.S)
    return ([found.strip('"') for found in re.findall(name + ":", head)],
            [found.strip('"') for found in re.findall(name, returned.group(1))] if returned else [])


def run(path, text, graph, inputs, count):
    """Runs a graph with inputs, a list of (name, .npy file); the files of its results, of which there must be `count`."""
    parameters, results = interface(text, graph)
    if len(results) != count:
        raise Ended("wrong", f"{len(results)} results, expected {count}")
    for name, _ in inputs:
        if name not in parameters:
            raise Ended("wrong", f"the graph has no parameter {name}")
    files = {name: f"{path}.result{i}.npy" for i, name in enumerate(results)}  # a value may be several results
    command("run", "--repeat=0", "--threads=1", path, *(f"--input={name}={file}" for name, file in inputs),
            *(f"--output={name}={file}" for name, file in files.items()))
    return [files[name] for name in results]


def outcomes(judge, cases):
    """What judge(case) returns or ends with for each case, on all processors."""
    def one(case):
        try:
            return judge(case)
        except Ended as ended:
            return ended.outcome

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("SKIR_TEST_JOBS", os.cpu_count()))) as pool:
        return list(pool.map(one, cases))


def counted(verdicts):
    counts = collections.Counter(verdicts)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]) or "none"


def faults(found, refusals=True):
    """The lines about what is wrong with named outcomes; without `refusals`, no case may be refused."""
    wrong = [f"{name}: {o.text}" for name, o in found if o.verdict == "wrong"]
    refused = [f"{name}: refused: {o.text}" for name, o in found if o.verdict == "refused" and o.text and not refusals]
    return wrong + refused + [f"{name}: refused without a reason" for name, o in found
                              if o.verdict == "refused" and not o.text]
