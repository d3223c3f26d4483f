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


def refuses(claim, text, *arguments, status=2):
    done = tap.skirc("import", *arguments)
    with open(dump, encoding="utf-8") as file:
        kept = file.read() == DUMP
    tap.check(claim, done.returncode == status and text in done.stderr and not done.stdout and kept,
              done.stderr)


def warns(claim, text, *arguments):
    done = tap.skirc("import", *arguments)
    tap.check(claim, done.returncode == 0 and text in done.stderr and done.stdout, done.stderr)


scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
dump = write("dump.txt", DUMP)
ops = write("ops.txt", DUMP[:-2] + '  op {\n    name: "a"\n    type: "Foo"\n    input: "x:0"\n'
            '    attr {\n      key: "axis"\n      value {\n        i: 1\n      }\n    }\n'
            '    output_desc {\n    }\n  }\n  op {\n    name: "b"\n    type: "Bar"\n'
            '    input: "a:0"\n  }\n}\ngraph {\n  name: "h"\n  op {\n    name: "c"\n'
            '    type: "Foo"\n  }\n}\n')
link = os.path.join(scratch.name, "link.txt")
os.symlink(dump, link)

for device in ("aic=4", "aiv=8,aiv=4", "aic=0,aiv=0", "aic=1025,aiv=1", "aic=4,aiv=8,", "4,8", "",
               "aic=4,aiv=8,arch=c330", "aic=4,aiv=8,arch=", "arch=c310"):
    refuses(f"--device={device}", "--device is aic=N,aiv=N with numbers up to 1024, not both 0",
            f"--device={device}", dump)
chip = tap.skirc("import", "--device=aiv=8,aic=4,arch=c310", dump)
tap.check("--device with a chip", 'target "ascend" {aic = 4, aiv = 8, arch = "c310"}' in chip.stdout,
          chip.stdout + chip.stderr)
for scope in ("", "=x", "name="):
    refuses(f"--scope={scope}", f"--scope: '{scope}' is neither NAME nor NAME=PATTERN nor "
            "NAME=FROM..TO", f"--scope={scope}", dump)
refuses("--dangling=drop", "'drop'", "--dangling=drop", dump)
refuses("--format of none", "there is no format 'ge-text'", "--format=ge-text", dump)
refuses("a format that is only written", "the format 'dot' cannot be read", "--format=dot", dump)
for keys, text in (("", "a name is missing"), ("axis,", "a name is missing"),
                   ("all,none", "'all' stands alone, or there are names of attributes"),
                   ("axis,known", "'known' stands alone")):
    refuses(f"--keep-attrs={keys}", f"--keep-attrs: {text}", f"--keep-attrs={keys}", dump)

# A line, and what is underlined in it, or else where the caret is.
for number, (line, place, text) in enumerate((
        ("op x scope=s", "op", "a line begins with 'name', 'type', 'range' or 'all'"),
        ("name", 5, "a pattern is missing"),
        ("name scope=s", "scope=s", "a pattern is missing [scopes-syntax]"),
        ('type "a*  scope=s', '"a*  scope=s', "this quote has no end"),
        ('name a scope="s', '"s', "this quote has no end"),
        ("range a-b scope=s", "a-b", "a range is FROM..TO, the names of its first and its last op"),
        ("range", 6, "a range is FROM..TO, the names of its first and its last op"),
        ("all priority=high", "priority=high", "a priority is a number from -1024 to 1024"),
        ("all scope=", "scope=", "a name is missing behind the '='"),
        ('all stream=""', 'stream=""', "a name is missing behind the '='"),
        ("all color=red", "color=red",
         "ops get 'scope=NAME', 'options=TEXT', 'stream=LABEL' or 'priority=N'"),
        ("name a* priority=1", "a*", "a priority is that of a stream, which is missing"),
        ("all options=a=1 stream=1", "a=1", "options are those of a scope, which is missing"),
        ("all # scope=s", "all", "the line gives its ops neither a scope nor a stream"),
        ("type * scope=s options=bogus=1", "bogus", "unknown option 'bogus' [unknown-option]"),
        ('type * scope=s options="bogus=1"', "bogus", "unknown option 'bogus' [unknown-option]"),
        ('type * scope=s "options=bogus=1"', '"options=bogus=1"', "unknown option 'bogus'"))):
    path = write(f"scopes{number}", "# marks\n\n" + line + "\nname x stream=1\n")
    at = place if isinstance(place, int) else line.index(place) + 1
    marked = " " * (at - 1) + "^" + "~" * (0 if isinstance(place, int) else len(place) - 1)
    for text in (f"{path}:3:{at}: error: {text}", f"    3 | {line}\n      | {marked}\n"):
        refuses(f"--scopes: {line}", text, "--scopes", path, ops, status=1)
refuses("--scopes of no file", "cannot open", "--scopes", os.path.join(scratch.name, "no"), dump)
scopes = write("scopes", "all scope=s\n")
for subject, text in (
        ("name conv*", "no op's name fits 'conv*'"), ("type conv", "no op's type fits 'conv'"),
        ("range b..a", "the range is reversed: 'a' stands before 'b'"),
        ("range a..z", "the range has no end: no op is 'z'"),
        ("range z..a", "the range has no begin: no op is 'z'"),
        ("range y..z", "the range has no ends: no op is 'y', and none is 'z'"),
        ("range a..c", "the range has its ends 'a' and 'c' in different graphs")):
    path = write("idle", f"{subject}  scope=s\n")
    at = subject.index(" ") + 2
    warns(subject, f"{path}:1:{at}: warning: {text} [idle-mark]\n    1 | {subject}  scope=s\n"
          f"      | {' ' * (at - 1)}^", "--scopes", path, ops)
    if not subject.startswith("type"):
        warns(f"--scope: {subject}", f"{ops}: warning: --scope: {text} [idle-mark]\n",
              "--scope=s=" + subject.split()[1], ops)
empty = 'graph {\n  name: "g"\n  attr {\n    key: "a"\n    value {\n      i: 1\n    }\n  }\n}\n'
empty = write("empty.txt", empty)
warns("there is no op", f"{empty}: warning: --scope: there is no op [idle-mark]", "--scope=s",
      empty)
warns("--keep-attrs of no attribute", f"{ops}: warning: --keep-attrs: no op has the attribute "
      "'axes' [idle-key]\n  help: did you mean 'axis'?", "--keep-attrs=axes,axis", ops)
done = tap.skirc("import", "--help")
for name in ("sk-graph", "kernel-info", "ge-txt", "onnx-txt", "torchair-py", "tf-graphdef"):
    tap.check(f"the help names {name}", f"\n{name}: " in done.stdout, done.stdout)
for command in ("check", "run", "fmt", "opt"):
    done = tap.skirc(command, dump)
    tap.check(f"{command} of a dump", done.returncode == 1 and
              "help: it looks like 'ge-txt', which 'skirc import' reads\n" in done.stderr,
              done.stderr)
refuses("a dump read as another format", "there is no graph in the text [foreign-form]\n"
        "  help: it looks like 'ge-txt'\n", "--format=onnx-txt", dump, status=1)
refuses("a dump that another format cannot read", "error: 'graph' appears twice in the model",
        "--format=onnx-txt", ops, status=1)
refuses("and what it looks like", "\n  help: it looks like 'ge-txt'\n", "--format=onnx-txt", ops,
        status=1)
refuses("the output is the input", "would replace an input", dump, "-o", dump, status=1)
refuses("the output leads to the input", "would replace an input", dump, "-o", link, status=1)
refuses("the output is the file of scopes", "would replace an input", dump, "--scopes", scopes,
        "-o", scopes, status=1)

for cores in ("aic=4,aiv=8", "aiv=8,aic=4"):
    done = tap.skirc("import", f"--device={cores}", dump)
    tap.check(f"--device={cores} is taken", 'target "ascend" {aic = 4, aiv = 8}' in done.stdout,
              done.stderr)
tap.done()
