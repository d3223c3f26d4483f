"""skirc export --format=kernel-info: requests that are imported, exported and imported again are
the same modules, wherever their files stand; and what no request can have is refused.
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
shutil.copytree(os.path.join(tap.SOURCE, "tests", "import", "kernel-info"), "requests")


def skirc(*arguments, stdin=""):
    return subprocess.run([tap.SKIRC, *arguments], input=stdin, capture_output=True, text=True,
                          timeout=60)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- There and back ----

OPTIONS = ["--name=sk", "--device=aic=24,aiv=48"]
FOLDERS = ["requests", "requests/inner", "other/far"]


def failure(request, folder, there):
    """Why a module in one folder, whose request goes to the other, does not come back."""
    first, back, again = f"{folder}/first.skir", f"{folder}/back.skir", f"{there}/again.json"
    for step in (("import", *OPTIONS, request, "-o", first),
                 ("export", "--format=kernel-info", first, "-o", again),
                 ("import", *OPTIONS, again, "-o", back)):
        done = skirc(*step)
        if done.returncode:
            return f"{' '.join(step)}: {done.stderr}"
    return "" if read(first) == read(back) else read(back)


for folder in FOLDERS:
    os.makedirs(folder, exist_ok=True)
requests = [path[:-5] + ".json" for path in sorted(glob.glob("requests/*.skir"))]
tap.check("there are requests", len(requests) > 2, requests)
for request in requests:
    for folder in FOLDERS:
        for there in FOLDERS:
            wrong = failure(request, folder, there)
            tap.check(f"{request}, as a module in {folder}, exported to {there}", not wrong, wrong)

# ---- What stands in it ----

skirc("import", *OPTIONS, "requests/whole.json", "-o", "requests/whole.skir")
exported = json.loads(skirc("export", "--format=kernel-info", "requests/whole.skir").stdout)
asked = json.loads(read("requests/whole.json"))
DEFAULTS = {"send_event_list": [], "recv_event_list": [], "task_type": "normal"}
ops = [{**DEFAULTS, **op} for op in asked["op_list"] if "json_path" in op]
for op in ops:
    op.pop("compile_log", None)
    if op["bin_path"] is None:
        del op["bin_path"]
tap.check("a request has all that it had", exported == {
    "super_kernel_options": asked["super_kernel_options"], "op_list": ops}, exported)

# What passes make of a request is one, too.
passed = skirc("opt", "--passes=partition-scopes,insert-events", "requests/whole.skir")
again = skirc("export", "--format=kernel-info", "-", stdin=passed.stdout)
tap.check("passes leave it as it is", again.stdout and json.loads(again.stdout) == exported,
          passed.stderr + again.stderr + again.stdout)

skirc("opt", "--passes=", "requests/whole.skir", "-o", "other/whole.skir")
moved = skirc("export", "--format=kernel-info", "other/whole.skir", "-o", "requests/moved.json")
tap.check("paths of kernels that were imported follow a module to its folder",
          moved.returncode == 0 and json.loads(read("requests/moved.json")) == exported,
          moved.stderr)

# ---- What is refused ----

KERNEL = 'kernel @k : aiv_only {block = 1, _json = "k.json"}\n'
BAD = b"\xff".decode("utf-8", "surrogateescape")


def module(body, more=""):
    return f"skir 1\n{KERNEL}{more}graph @g(%x: f32[4]) -> () {{\n{body}\n}}\n"


def refuses(claim, message, text):
    done = subprocess.run([tap.SKIRC, "export", "--format=kernel-info", "-"], capture_output=True,
                          input=text.encode("utf-8", "surrogateescape"), timeout=60)
    said = done.stderr.decode("utf-8", "surrogateescape")
    tap.check(claim, done.returncode == 1 and message + " [not-exported]" in said
              and not done.stdout, f"{done.returncode}: {said}")


refuses("two workspaces", "<stdin>:5:21: error: kernel-info has one workspace of an op",
        module("superkernel @s {\nFoo(%x) {address = {workspace = [[0, 4], [8, 4]]}} via @k\n}"))
refuses("no super kernel", "<stdin>: error: there is no super kernel, and kernel-info is one",
        module("Foo(%x) via @k"))
refuses("no graph", "there is no super kernel, and kernel-info is one", "skir 1\n")
refuses("two super kernels",
        "<stdin>:7:1: error: kernel-info is one super kernel, and '@b' is another",
        module("superkernel @a {\nFoo(%x) via @k\n}\nsuperkernel @b {\nFoo(%x) via @k\n}"))
refuses("two super kernels in two graphs", "and '@b' is another",
        module("superkernel @a {\nFoo(%x) via @k\n}") + "graph @h(%x: f32[4]) -> () {\n"
        "superkernel @b {\nFoo(%x) via @k\n}\n}\n")
done = skirc("export", "--format=kernel-info", "-", stdin=module(
    "superkernel @a {\nFoo(%x) send [e]\n}\nsuperkernel @b {stream = \"1\"} recv [e] {\nstream \"1\" {\nFoo(%x) send [f]\n}\n}\n"
    "superkernel @a {\nFoo(%x) recv [f]\n}"))
tap.check("two side by side, for no other reason", done.stderr.count("error:") == 1
          and ":7:1: error: kernel-info is one super kernel, and '@b' is another" in done.stderr, done.stderr)
refuses("a super kernel without ops",
        "this super kernel has no op, and kernel-info is a list of them",
        module("superkernel @a {\n}"))
refuses("an op without a kernel", ":6:1: error: nothing says which kernel this op calls ('via'), "
        "and kernel-info is a list of kernels",
        module("superkernel @a {\nFoo(%x) via @k\nBar(%x)\n}"))
refuses("a kernel without metadata",
        "the kernel '@m' of this op has no metadata for kernel-info to name",
        module("superkernel @a {\nFoo(%x) via @m\n}", "kernel @m : aiv_only {block = 1}\n"))
refuses("metadata that are no path",
        "the kernel '@m' of this op has no metadata for kernel-info to name",
        module("superkernel @a {\nFoo(%x) via @m\n}", "kernel @m : aiv_only {block = 1, _json}\n"))
for clause in "send", "recv":
    refuses(f"an event that is a word: {clause}",
            "the event 'e0' of this op is no number, which kernel-info wants",
            module(f"superkernel @a {{fixed_slots}} {{\nFoo(%x) via @k {clause} [e0]\n}}"))
for stream in "x", "01", "", "4294967296":
    refuses(f"the stream {stream!r}",
            f'the stream "{stream}" of this op is no number, which kernel-info wants',
            module(f'superkernel @a {{\nstream "{stream}" {{\nFoo(%x) via @k\n}}\n}}'))
refuses("events of the super kernel",
        "kernel-info has events of ops, and none of the super kernel as a whole",
        module('superkernel @a send [1] {\nFoo(%x) via @k\n}\nstream "1" {\nFoo(%x) recv [1]\n}'))
refuses("options that are not UTF-8",
        "the text of the options is not UTF-8, which kernel-info wants",
        module(f'superkernel @a {{options = "compile-options={BAD}"}} {{\nFoo(%x) via @k\n}}'))
for key, what in ("_json", "metadata"), ("object", "object"):
    attrs = {"_json": '"m.json"', "object": '"m.o"', key: f'"{BAD}"'}
    refuses(f"{key} that is not UTF-8",
            f"the path of the kernel's {what} is not UTF-8, which kernel-info wants",
            module("superkernel @a {\nFoo(%x) via @m\n}", "kernel @m : aiv_only {block = 1, "
                   + ", ".join(f"{k} = {v}" for k, v in attrs.items()) + "}\n"))

outside = skirc("export", "--format=kernel-info", "-", stdin=module(
    'Bar(%x)\nstream "0" {\nsuperkernel @a {\nstream "4294967295" {\nFoo(%x) via @k\n}\n'
    "Foo(%x) via @k\n}\n}"))
tap.check("ops outside are no part of it", outside.stdout and [
    op["stream_id"] for op in json.loads(outside.stdout)["op_list"]] == [2 ** 32 - 1, 0],
          outside.stderr + outside.stdout)
tap.done()
