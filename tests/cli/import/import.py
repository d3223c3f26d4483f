"""skirc import of hand-made dumps: tests/import/FORMAT/NAME.* and what is expected beside each.

NAME.skir is the module, NAME.counts what --counts prints, NAME.err what stands on the standard
error (none: nothing does; alone: the import fails), and NAME.args has options, one a line. What is
guessed must be the format that the folder is named after, if it is that of a format.

With --bless, and maybe FORMAT/NAME, writes what it gets instead, to be looked at.
"""

import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
EXPECTED = (".skir", ".counts", ".err", ".args")
os.chdir(os.path.join(tap.SOURCE, "tests", "import"))


def skirc(*arguments, stdin=b""):
    return subprocess.run([tap.SKIRC, *arguments], input=stdin, capture_output=True, timeout=60)


def formats():
    """The names of all formats that can be read."""
    said = skirc("import", "--format=?", "/dev/null").stderr.decode()
    return re.findall(r"'([a-z-]+)'", said.split("only", 1)[-1])


FORMATS = formats()


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def results(dump):
    """What there is for a dump, by the suffix of the file that has it; and the failures."""
    base, folder = os.path.splitext(dump)[0], dump.split("/")[0]
    options = (read(base + ".args") or b"").decode().split("\n")
    options = [option for option in options if option]
    done = skirc("import", *options, dump)
    # Which formats there are is no fact of a dump.
    said = re.sub(rb"; formats are .*(?= \[)", b"; formats are ...", done.stderr)
    got = {".err": said or None, ".skir": None, ".counts": None}
    if done.returncode not in (0, 1):
        return got, f"status {done.returncode}: {done.stderr.decode()}"
    if done.returncode:
        return got, "" if done.stderr else "it failed without a word"
    counts = skirc("import", *options, "--counts", dump)
    got.update({".skir": done.stdout, ".counts": counts.stdout})
    if folder in FORMATS:
        told = skirc("import", *options, "--counts", "--format=" + folder, dump)
        if told.stdout != counts.stdout:
            return got, f"it is not taken for {folder}"
    return got, judge(done.stdout)


def judge(text):
    """What is wrong with the text of a module."""
    for command in (["check", "--no-lower", "-"], ["fmt", "-"]):
        done = skirc(*command, stdin=text)
        if done.returncode:
            return f"{command[0]}: {done.stderr.decode()}"
    return "" if done.stdout == text else "fmt changes the module"


def shown(got):
    return "nothing" if got is None else got.decode("utf-8", "replace")


def check(dump):
    got, failure = results(dump)
    base = os.path.splitext(dump)[0]
    for suffix, text in got.items():
        expected = read(base + suffix)
        if text != expected:
            failure += (f"\n{base}{suffix} is not as expected, but:\n{shown(text)}"
                        f"\nskir's cli/import/import.py --bless {base} accepts it")
    tap.check(dump, not failure, failure)


def bless(dump):
    got, failure = results(dump)
    base = os.path.splitext(dump)[0]
    for suffix, text in got.items():
        if text is not None:
            with open(base + suffix, "wb") as file:
                file.write(text)
        elif os.path.exists(base + suffix):
            os.remove(base + suffix)
    if failure:
        print(f"{dump}: {failure}")


dumps = sorted(path for path in glob.glob("*/*")
               if not path.endswith(EXPECTED) and os.path.isfile(path))
if "--bless" in sys.argv:
    for path in dumps:
        if len(sys.argv) == 2 or os.path.splitext(path)[0] in sys.argv:
            bless(path)
    sys.exit(0)
for path in dumps:
    check(path)

# docs/importing.md has the tables as they are printed.
with open(os.path.join("..", "..", "docs", "importing.md"), encoding="utf-8") as file:
    described = file.read()
for source in "onnx", "tf":
    table = skirc("import", f"--translations={source}").stdout.decode()
    missing = [line for line in table.splitlines() if line not in described.splitlines()]
    tap.check(f"docs/importing.md has the translations of {source}", table and "\n\n" + table + "\n" in described,
              "\n".join(missing) + f"\nskirc import --translations={source} prints the table")
wrong = skirc("import", "--translations=onn")
tap.check("a source without a table", wrong.returncode == 2 and b"no source 'onn', only onnx and tf" in wrong.stderr, wrong.stderr)

bases = {os.path.splitext(path)[0] for path in dumps}
stray = [path for path in glob.glob("*/*")
         if path.endswith(EXPECTED) and os.path.splitext(path)[0] not in bases]
tap.check("every expectation has a dump", not stray, "\n".join(stray))
tap.done()
