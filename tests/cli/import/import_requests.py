"""Fusion requests: what skirc makes of the reference compiler's own, held against what that makes of
them: which ones are refused, the type and size of the launch, and the slots of the parameters. Their
modules are exported, and imported again.

The requests are those of the conformance cases beside the repository; without them nothing is
tested.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
FOLDER = os.environ.get("SKIR_CONFORMANCE",
                        os.path.join(tap.SOURCE, os.pardir, "shared", "conformance"))
CASES = os.path.join(FOLDER, "cases.json")


def make_object(path, symbols, text_bytes):
    source = ".text\n"
    for symbol in symbols:
        source += f".globl {symbol}\n.type {symbol},@function\n{symbol}:\n ret\n"
    source += f".space {max(0, text_bytes - len(symbols))}\n"
    source += '.section .note.GNU-stack,"",@progbits\n'
    subprocess.run(["as", "--64", "-o", path, "-"], input=source, text=True, check=True)


def make_objects(case):
    for part in case["objects"]:
        members = part.get("members", [part])
        for member in members:
            make_object(member["path"], member["symbols"], member["text_bytes"])
        if "members" in part:
            subprocess.run(["ar", "rcD", part["path"], *(m["path"] for m in members)], check=True)
            for member in members:
                os.remove(member["path"])


def skirc(*arguments):
    done = subprocess.run([tap.SKIRC, *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def groups_of(entry):
    """The arguments of the ops of an entry in its text, group by group."""
    lines = re.findall(r"^  args (?:\S+|\"[^\"]*\") = \[(.*)\]$", entry, re.M)
    return [line.split(", ") if line else [] for line in lines]


def offsets(entry):
    """Of each op: where its parameters, its sent and its received events begin."""
    rows, at = [], 1
    for group in groups_of(entry):
        sends = sum(argument.startswith("send ") for argument in group)
        recvs = sum(argument.startswith("recv ") for argument in group)
        rows.append((at, at + len(group) - sends - recvs, at + len(group) - recvs))
        at += len(group)
    return rows


def events_of(entry):
    """Of each op: the events that it sends, and those that it receives."""
    return [([a[5:] for a in group if a.startswith("send ")],
             [a[5:] for a in group if a.startswith("recv ")]) for group in groups_of(entry)]


def compare(case, entry, want):
    """What differs in the entry, or nothing."""
    head = re.search(r"^entry @\S+ : (\w+) \{block = (\d+)", entry, re.M)
    if not head:
        return "there is no entry"
    kind = "KERNEL_TYPE_" + head.group(1).upper()
    if kind != want["kernel_type"] or int(head.group(2)) != want["block_num"]:
        return f"it is {kind} of {head.group(2)}, not {want['kernel_type']} of {want['block_num']}"
    rows = offsets(entry)
    if [row[0] for row in rows] != want["param_offset"]:
        return f"parameters begin at {[row[0] for row in rows]}, not {want['param_offset']}"
    asked = [([str(e) for e in op.get("send_event_list", [])],
              [str(e) for e in op.get("recv_event_list", [])]) for op in case["request"]["op_list"]]
    if events_of(entry) != asked:
        return f"the events are {events_of(entry)}, not {asked}"
    return ""


def exports(options):
    """Why an export of the module, and an import of that, are not the same again, or nothing."""
    for output, back in (("again.json", "again.skir"), ("other/again.json", "back.skir")):
        for step in (("export", "--format=kernel-info", "case.skir", "-o", output),
                     ("import", *options, output, "-o", back)):
            status, _, error = skirc(*step)
            if status:
                return f"{step[0]}: status {status}: {error}"
        with open("case.skir") as first, open(back) as second:
            if first.read() != second.read():
                return f"{back} is not case.skir"
    return ""


def run(case):
    """Why the case fails, or nothing."""
    want, device = case["expect"], "aic={aic},aiv={aiv}".format(**case["device"])
    name = "sk_" + case["name"].replace("-", "_")
    make_objects(case)
    for path, metadata in case["kernels"].items():
        with open(path, "w") as file:
            json.dump(metadata, file)
    with open("request.json", "w") as file:
        json.dump(case["request"], file)
    steps = (("import", "--device", device, "--name", name, "request.json", "-o", "case.skir"),
             ("fmt", "--check", "case.skir"), ("check", "case.skir"),
             ("compile", "--emit=entry", "case.skir"))
    for step in steps:
        status, output, error = skirc(*step)
        if status == 1 and want.get("error") and "error:" in error:
            return ""
        if status:
            return f"{step[0]}: status {status}: {error}"
    if want.get("error"):
        return "it is not refused"
    os.mkdir("other")
    return compare(case, output, want) or exports(("--device", device, "--name", name))


def warns(case):
    """Why an import does not warn of an object without the kernel's function, or nothing."""
    for part in case["objects"]:
        make_object(part["path"], ["other"], 16)
    for path, metadata in case["kernels"].items():
        with open(path, "w") as file:
            json.dump(metadata, file)
    with open("request.json", "w") as file:
        json.dump(case["request"], file)
    status, _, error = skirc("import", "request.json")
    found = re.search(r"request\.json:1:\d+: warning: '\S+' does not define the function '\w+' of "
                      r"'@\w+' \[imported-object\]", error)
    return "" if status == 0 and found else f"status {status}: {error}"


def agrees(case, run=run):
    with tempfile.TemporaryDirectory() as folder:
        back = os.getcwd()
        os.chdir(folder)
        try:
            return run(case)
        finally:
            os.chdir(back)


if not os.path.exists(CASES):
    print(f"1..0 # SKIP there are no conformance cases at {CASES}")
    sys.exit(0)
with open(CASES) as file:
    cases = json.load(file)
failures = {case["name"]: agrees(case) for case in cases}
for name, failure in failures.items():
    tap.check(name, not failure, failure)
failure = agrees(next(case for case in cases if not case["expect"].get("error")), warns)
tap.check("an object without the kernel's function is said at import", not failure, failure)
agreed = sum(not failure for failure in failures.values())
print(f"# {agreed} of {len(cases)} requests agree")
tap.done()
