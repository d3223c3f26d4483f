"""What the formats of graphs cannot have is refused, each with its message at its place; and nothing
is written. Fusion requests have tests/cli/export/export_requests.py."""

import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

FORMATS = "ge-txt", "torchair-pbtxt", "onnx-txt"
seen = []


def export(format, text):
    done = subprocess.run([tap.SKIRC, "export", "--format=" + format, "-"], timeout=60,
                          capture_output=True, input=text.encode("utf-8", "surrogateescape"))
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "surrogateescape")


def refuses(claim, format, text, *messages):
    status, out, said = export(format, text)
    errors = [line for line in said.splitlines() if ": error: " in line]
    seen.extend(errors)
    tap.check(f"{format}: {claim}", status == 1 and not out and errors == [
        f"<stdin>:{message} [not-exported]" for message in messages], f"{status}: {said}")


def takes(claim, format, text):
    status, out, said = export(format, text)
    tap.check(f"{format}: {claim}", status == 0 and out and not said, f"{status}: {said}")


def calls(names):
    """A graph for each name, which calls the next."""
    text = "skir 1\n"
    for name, callee in zip(names, [*names[1:], None]):
        text += f"graph @{name}() -> () {{\n"
        text += f"  PartitionedCall() {{f = @{callee}}}\n" if callee else ""
        text += "}\n"
    return text


# Graphs are located behind their names.
BYTES = r"""skir 1
graph @"g\xff"(%"a\xfe": f32[4]) -> f32[4] {
  %"b\xfd" = "A\xfc"(%"a\xfe") : f32[4]
  return %"b\xfd"
}
"""
TWO = "skir 1\ngraph @g() -> () {\n}\ngraph @h() -> () {\n}\n"
EMPTY = '''skir 1
graph @g() -> () {
  A()
  superkernel @s {
    stream "1" {
    }
  }
}
'''

for format in FORMATS:
    refuses("no graph", format, "skir 1\nkernel @k : aiv_only {block = 1}\n",
            f" error: there is no graph, and {format} has nothing else")
    refuses("names that are not UTF-8", format, BYTES, *(
        f"{place}: error: {what} '{name}' is not UTF-8, which {format} wants"
        for place, what, name in (("2:7", "the name of the graph", "g\udcff"),
                                  ("2:16", "the name of the value", "a\udcfe"),
                                  ("3:3", "the name of the value", "b\udcfd"),
                                  ("3:14", "the op type", "A\udcfc"))))
    takes("the same in UTF-8", format, re.sub(r"\\x..", "é", BYTES))
    takes("blocks without ops", format, EMPTY)

takes("two graphs", "ge-txt", TWO)
refuses("two graphs", "torchair-pbtxt", TWO,
        "4:7: error: torchair-pbtxt is one graph, and this is another")
refuses("two graphs", "onnx-txt", TWO,
        "4:7: error: onnx-txt is one graph and those that it calls, and this is another")
takes("a graph and one that it calls", "onnx-txt", calls("gh"))
takes("graphs 24 deep within another", "onnx-txt", calls([f"g{i}" for i in range(25)]))
refuses("one more", "onnx-txt", calls([f"g{i}" for i in range(26)]),
        "2:7: error: the graphs that this one calls nest more than 24 deep, "
        "which onnx-txt cannot have")

# What is refused in the sources, but for fusion requests.
writers = os.path.join(tap.SOURCE, "frontend", "export", "*.c")
messages = []
for path in sorted(set(glob.glob(writers)) - set(glob.glob(writers.replace("*", "kernel_info")))):
    with open(path, encoding="utf-8") as file:
        messages += re.findall(r'DIAG_not_exported,\s*\w+,\s*((?:"[^"]*"\s*)+)', file.read())
messages = ["".join(re.findall('"([^"]*)"', message)) for message in messages]
untested = [message for message in messages if not any(
    re.search(re.sub(r"%(\\\.\\\*)?[sd]", ".*", re.escape(message)), error) for error in seen)]
tap.check("every message was seen", len(messages) > 3 and not untested,
          "\n".join(untested or messages))
tap.done()
