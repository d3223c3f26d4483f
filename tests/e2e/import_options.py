"""Options of skirc import that are wrong, and outputs that would replace what is read."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
DUMP = 'graph {\n  name: "g"\n  op {\n    name: "x"\n    type: "Data"\n  }\n}\n'


def write(name, text):
    path = os.path.join(scratch.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def refuses(claim, text, *arguments):
    done = tap.skirc("import", *arguments)
    with open(dump, encoding="utf-8") as file:
        kept = file.read() == DUMP
    tap.check(claim, done.returncode == 2 and text in done.stderr and not done.stdout and kept,
              done.stderr)


scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
dump = write("dump.txt", DUMP)
link = os.path.join(scratch.name, "link.txt")
os.symlink(dump, link)

for device in ("aic=4", "aiv=8,aiv=4", "aic=0,aiv=0", "aic=1025,aiv=1", "aic=4,aiv=8,", "4,8", ""):
    refuses(f"--device={device}", "--device is aic=N,aiv=N with numbers up to 1024, not both 0",
            f"--device={device}", dump)
for scope in ("", "=x", "name="):
    refuses(f"--scope={scope}", f"--scope: '{scope}' is neither NAME nor NAME=PATTERN nor "
            "NAME=FROM..TO", f"--scope={scope}", dump)
refuses("--dangling=drop", "'drop'", "--dangling=drop", dump)
refuses("--format of none", "there is no format 'ge-text'", "--format=ge-text", dump)
refuses("a format that is only written", "the format 'dot' cannot be read", "--format=dot", dump)
for number, (line, text) in enumerate((
        ("op x scope=s", "a line begins with 'name', 'type', 'range' or 'all'"),
        ("name", "a pattern is missing"),
        ("range a-b scope=s", "a range is FROM..TO, the names of its first and its last op"),
        ("all priority=high", "a priority is a number from -1024 to 1024"),
        ("all color=red", "ops get 'scope=NAME', 'options=TEXT', 'stream=LABEL' or 'priority=N'"),
        ("all priority=1", "the line gives its ops neither a scope nor a stream"))):
    path = write(f"scopes{number}", "# marks\n\n" + line + "\n")
    refuses(f"--scopes: {line}", f"{path}:3: {text}", "--scopes", path, dump)
refuses("--scopes of no file", "cannot open", "--scopes", os.path.join(scratch.name, "no"), dump)
scopes = write("scopes", "all scope=s\n")
refuses("the output is the input", "would replace the input", dump, "-o", dump)
refuses("the output leads to the input", "would replace the input", dump, "-o", link)
refuses("the output is the file of scopes", "would replace the input", dump, "--scopes", scopes,
        "-o", scopes)

for cores in ("aic=4,aiv=8", "aiv=8,aic=4"):
    done = tap.skirc("import", f"--device={cores}", dump)
    tap.check(f"--device={cores} is taken", 'target "ascend" {aic = 4, aiv = 8}' in done.stdout,
              done.stderr)
tap.done()
