"""support: what shells and editors are told of skirc is made from its tables, and they take it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

SOURCE = os.environ["SKIR_SOURCE"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
files = {}
for name in "bash", "zsh", "vim", "vscode":
    done = tap.skirc("support", name)
    tap.check(f"support {name} prints a file", done.returncode == 0 and done.stdout and not done.stderr,
              done.stderr)
    files[name] = os.path.join(scratch.name, name)
    with open(files[name], "w") as file:
        file.write(done.stdout)
done = tap.skirc("support", "bsh")
tap.check("another word is wrong usage, with what may be meant", done.returncode == 2
          and "there is no file for 'bsh'; did you mean 'bash'?" in done.stderr, done.stderr)
done = tap.skirc("support", "vim", "-o", os.path.join(scratch.name, "other"))
with open(os.path.join(scratch.name, "other")) as other, open(files["vim"]) as vim:
    tap.check("-o writes a file", done.returncode == 0 and other.read() == vim.read(), done.stderr)


def run(claim, *command, **options):
    """The program's output, or None, with the claim skipped, where it is not there."""
    if not shutil.which(command[0]):
        tap.skip(claim, f"{command[0]} is not installed")
        return None
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def table(path, pattern):
    with open(os.path.join(SOURCE, path)) as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return re.findall(pattern, text, re.M)


KEYWORDS = table("ir/core/words.def", r"^KEYWORD\((\w+)\)")
DTYPES = table("ir/core/dtypes.def", r"^DTYPE\((\w+),")
INSTRUCTIONS = table("ir/core/instrs.def", r"^INSTR\((\w+),")
KERNEL_TYPES = table("ir/core/kernel_types.def", r"^KERNEL_TYPE\((\w+),")
PASSES = table("passes/manager/passes.def", r'^PASS\(\w+, "([-\w]+)",')
SK_OPTIONS = table("ir/core/sk_options.def", r'^SK_OPTION\(\w+, "([-\w]+)"')
assert min(map(len, (KEYWORDS, DTYPES, INSTRUCTIONS, KERNEL_TYPES, PASSES, SK_OPTIONS))) > 5

# ---- Shells ----

for shell in "bash", "zsh":
    claim = f"{shell} parses its completion"
    done = run(claim, shell, "-n", files[shell])
    if done:
        tap.check(claim, done.returncode == 0 and not done.stderr, done.stderr)

# As readline does: words end at '=' and ':', too, which are words themselves.
QUERY = r"""
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
line=${2//=/ = }
line=${line//:/ : }
read -r -a COMP_WORDS <<<"$line"
[[ $2 != *[[:blank:]=:] ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_skirc
printf '%s\n' "${COMPREPLY[@]}"
"""
os.makedirs(os.path.join(scratch.name, "here", "folder"))
for name in "a.skir", "ab.skir", "with blank.skir":
    open(os.path.join(scratch.name, "here", name), "w").close()


def completes(line, *words, exactly=True):
    claim = f"bash: '{line}' is completed"
    done = run(claim, "bash", "-c", QUERY, "-", files["bash"], line,
               cwd=os.path.join(scratch.name, "here"))
    if done:
        found = [word for word in done.stdout.split("\n") if word]
        tap.check(claim, not done.stderr and (sorted(found) == sorted(words) if exactly
                                              else set(words) <= set(found)),
                  f"{found}\n{done.stderr}")


help_text = tap.skirc("--help").stdout
commands = re.findall(r"^  ([a-z]+) ", help_text, re.M)
tap.check("there are commands", len(commands) > 10, help_text)
completes("skirc ", *commands, exactly=False)
completes("skirc com", "compile")
for command in commands:
    if command == "help":
        continue
    options = re.findall(r"--([a-z][-a-z]*)", "\n".join(re.findall(
        r"^ {2,6}(?:-\w, | {4})--[-a-z]+.*", tap.skirc(command, "--help").stdout, re.M)))
    shown = subprocess.run(["bash", "-c", QUERY, "-", files["bash"], f"skirc {command} --"],
                           capture_output=True, text=True).stdout.split()
    missing = [name for name in options if f"--{name}" not in shown and f"--{name}=" not in shown]
    tap.check(f"bash: all {len(options)} options of {command}", options and not missing, missing)
completes("skirc run --kernel-", "--kernel-dir=")
completes("skirc run --target=", "host", "ascend")
completes("skirc run --target ", "host", "ascend")
completes("skirc compile --emit=asc", "ascendc")
completes("skirc opt --passes=", "default", *PASSES)
completes("skirc opt -p insert-", "insert-events", "insert-syncs")
completes("skirc opt --passes=default,insert-s", "default,insert-syncs")
completes("skirc run --sk-options=", *[option + "=" for option in SK_OPTIONS])
completes("skirc run --sk-options=early-start=1:strict", "strict-scope-check=")
completes("skirc check --partition=", "fewest", "reference")
completes("skirc trace --names=", "own", "reference")
completes("skirc import --format=sk", "sk-graph")
completes("skirc export --format=sk")
completes("skirc check --color=n", "never")
completes("skirc check a", "a.skir", "ab.skir")
completes("skirc fmt -i with", "with blank.skir")
completes("skirc run --remarks=a", "a.skir", "ab.skir")
completes("skirc run --kernel-dir=", "folder")
completes("skirc run --seed=")
completes("skirc support v", "vim", "vscode")
completes("skirc help wh", "where")

# ---- Editors ----

with open(files["vscode"]) as file:
    grammar = json.load(file)


def rules(patterns):
    for rule in patterns:
        yield rule
        yield from rules(rule.get("patterns", []))


def scope_of(line, word):
    """The first rule of those that match at the earliest place, on and on along the line."""
    at, target = 0, line.index(word)
    while at <= target:
        best = None
        for rule in grammar["patterns"]:
            match = re.compile(rule.get("match") or rule["begin"]).search(line, at)
            if match and match.group() and (not best or match.start() < best[1].start()):
                best = rule, match
        if not best:
            return None
        rule, match = best
        end = re.compile(rule["end"]).search(line, match.end()).end() if "end" in rule else match.end()
        if match.start() <= target < end:
            return rule["name"]
        at = end
    return None


wrong = []
for rule in rules(grammar["patterns"]):
    for key in "match", "begin", "end":
        try:
            re.compile(rule.get(key, ""))
        except re.error as error:
            wrong.append((rule, error))
tap.check("VS Code: all patterns of the grammar are such", not wrong, wrong)
SAMPLES = [("//! check", "check", "meta.directive.skir", "skirDirective"),
           ("  x = 1 // text", "text", "comment.line.double-slash.skir", "skirComment"),
           ("%a = Add(%b, %c)", "%b", "variable.other.skir", "skirValue"),
           ("%a = Add(%b, %c)", "Add", "support.function.skir", "skirOpType"),
           ("  call @k.aic args %m", "@k", "entity.name.function.skir", "skirSymbol"),
           ('  scope @s {options = "dcci=1"} {', '"', "string.quoted.double.skir", "skirString"),
           ('  scope @s {options = "preload-code=1"} {', "preload-code", "string.quoted.double.skir",
            "skirOption"),
           ("%x: f32[16, 2]:FRACTAL_NZ", "16", "constant.numeric.skir", "skirNumber"),
           ("%x: f32[16, 2]:FRACTAL_NZ", "FRACTAL", "storage.modifier.skir", "skirFormat")]
SAMPLES += [(f"  {word} ", word, "keyword.control.skir", "skirKeyword") for word in KEYWORDS]
SAMPLES += [(f"  {word} ", word, "keyword.operator.instruction.skir", "skirInstruction")
            for word in INSTRUCTIONS]
SAMPLES += [(f"%x: {word}[1]", word, "storage.type.skir", "skirDtype") for word in DTYPES]
SAMPLES += [(f"kernel @k : {word} ", word, "storage.type.kernel.skir", "skirKernelType")
            for word in KERNEL_TYPES]
wrong = [(line, word, scope, scope_of(line, word)) for line, word, scope, _ in SAMPLES
         if scope_of(line, word) != scope]
tap.check(f"VS Code: {len(SAMPLES)} words are what they are", not wrong, wrong)

lines = os.path.join(scratch.name, "sample.skir")
with open(lines, "w") as file:
    file.write("".join(line + "\n" for line, *_ in SAMPLES))
with open(os.path.join(scratch.name, "ask.vim"), "w") as file:
    file.write(f"edit {lines}\nsource {files['vim']}\nlet out = []\n")
    for number, (line, word, *_) in enumerate(SAMPLES, 1):
        file.write(f"call add(out, synIDattr(synID({number}, {line.index(word) + 1}, 1), 'name'))\n")
    file.write(f"call writefile(out, '{scratch.name}/vim.out')\nqa!\n")
claim = f"Vim: {len(SAMPLES)} words are what they are"
done = run(claim, "vim", "-u", "NONE", "-N", "-es", "-c", "syntax on", "-S",
           os.path.join(scratch.name, "ask.vim"), stdin=subprocess.DEVNULL)
if done:
    with open(os.path.join(scratch.name, "vim.out")) as file:
        groups = file.read().split("\n")
    wrong = [(sample, group) for sample, group in zip(SAMPLES, groups) if sample[3] != group]
    tap.check(claim, len(groups) > len(SAMPLES) and not wrong, f"{wrong}\n{done.stdout}{done.stderr}")
tap.done()
