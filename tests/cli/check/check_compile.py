"""`check` refuses what `compile` refuses, and nothing else: over the golden files, the examples, those of the
documentation, random modules, and texts that are such with a change.

By `compile --emit=c`, which calls no tool; where `check` refuses what that takes, and for some of those that both take,
by the object.

SKIR_TEST_COUNT random texts of each kind (150), from the seed in SKIR_TEST_SEED (1; 0: another each time)."""

import glob
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
import random_modules

SOURCE = os.path.abspath(tap.SOURCE)
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "150"))
SEED = int(os.environ.get("SKIR_TEST_SEED", "1")) or random.randrange(1, 10 ** 9)
OBJECTS = 12  # that are made of what both take
TARGETS = {"host": "--emit=c", "ascend": "--emit=ascendc"}

print(f"# SKIR_TEST_SEED={SEED}")
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
chance = random.Random(SEED)


def object_status(path):
    out = os.path.join(scratch.name, f"{abs(hash(path))}.o")
    return tap.skirc("compile", "-o", out, path, timeout=120).returncode


def compare(path, target="host"):
    """What is wrong, or nothing; and whether both take the file."""
    check = tap.skirc("check", f"--target={target}", path)
    emit = tap.skirc("compile", f"--target={target}", TARGETS[target], "-o", os.devnull, path)
    status = emit.returncode
    if status == 0 and check.returncode == 1 and target == "host":
        status = object_status(path)
    if check.returncode == status and status in (0, 1):
        return "", status == 0
    with open(path, errors="replace") as file:
        text = file.read()
    return (f"{path}: check ends with {check.returncode}, compile with {status}\n{check.stderr}"
            f"-- compile:\n{emit.stderr}-- text:\n{text[:3000]}"), False


def compare_all(claim, paths, target="host"):
    """Those that both take."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: compare(path, target), paths))
    wrong = [why for why, _ in results if why]
    taken = [path for path, (_, both) in zip(paths, results) if both]
    tap.check(f"{claim}: {len(paths)} files, of which {len(taken)} are taken", paths and not wrong,
              "\n".join(wrong[:3]))
    return taken


def write(name, text):
    path = os.path.join(scratch.name, name)
    with open(path, "w", errors="surrogateescape") as file:
        file.write(text)
    return path


# ---- Files ----

goldens = sorted(glob.glob(os.path.join(SOURCE, "tests/golden/**/*.skir"), recursive=True))
examples = sorted(glob.glob(os.path.join(SOURCE, "docs/examples/**/*.skir"), recursive=True))
pages = []
for page in sorted(glob.glob(os.path.join(SOURCE, "docs/*.md"))):
    with open(page, encoding="utf-8") as file:
        found = re.findall(r"(?m)^```skir.*\n((?:.*\n)*?)```$", file.read())
    pages += [write(f"{os.path.basename(page)}.{i}.skir", text) for i, text in enumerate(found)]

taken = compare_all("golden files", goldens) + compare_all("examples", examples)
taken += compare_all("examples of the documentation", pages)
compare_all("for ascend: examples", examples, "ascend")
compare_all("for ascend: examples of the documentation", pages, "ascend")

# ---- Random texts ----

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@]?[\w.]+|->|\S|\s+')
WORDS = ["%a", "@s", "f16", "f32[8]", "i32", "Add", "MatMul", "via", "after", "send", "[e]", "{", "}", "0",
         "1", "7", "4096", '"1"', "none", "?", "[..]", "inplace = [0]", "stub", "block = 48",
         '"stream-fusion=0"', "mix_aic_1_2", "arrive aiv", "await aiv", "pipe_barrier"]


def change_lines(text):
    lines = text.split("\n")
    i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.randrange(3)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def change_number(text):
    """One that is no part of a name."""
    numbers = list(re.finditer(r"(?<![%@\w.])\d+(?![\w.])", text))
    if not numbers:
        return text
    number = chance.choice(numbers)
    return text[:number.start()] + chance.choice("01248") + text[number.end():]


def change_token(text):
    tokens = TOKEN.findall(text)
    solid = [i for i, token in enumerate(tokens) if not token.isspace()]
    i, j = chance.choice(solid), chance.choice(solid)
    kind = chance.randrange(4)
    if kind == 0:
        tokens[i] = ""
    elif kind == 1:
        tokens[i], tokens[j] = tokens[j], tokens[i]
    elif kind == 2:
        tokens[i] = " " + chance.choice(WORDS) + " "
    else:
        tokens[i] = tokens[j]
    return "".join(tokens)


def input_of(path):
    with open(path, errors="surrogateescape") as file:
        return re.sub(r"(?m)^//!.*\n|//!.*$", "", file.read().split("\n//! expect")[0])


compare_all("random modules", [write(f"random{i}.skir", random_modules.text(SEED + i))
                               for i in range(COUNT)])
bases = [text for text in map(input_of, taken) if len(text) < 20000 and "include " not in text]
changed = [write(f"changed{i}.skir", chance.choice([change_token, change_lines, change_number])(chance.choice(bases)))
           for i in range(3 * COUNT)]
both = compare_all("texts with a change", changed)

# ---- Objects ----

ALONE = """skir 1
kernel @own : aiv_only {{block = 1, object = "{object}", function = "{function}", params = [x, y]}}
graph @g(%a: f32[8]) -> f32[8] {{
  %b = Own(%a) : f32[8] via @own
  {scope}
  return %b
}}
"""
FUSED = "scope @s { %c = Add(%a, %a) : f32[8] }"


def statuses(text):
    """Of check, compile and run, and the ids of what they say."""
    path = write("alone.skir", text)
    runs = [tap.skirc("check", path),
            tap.skirc("compile", "-o", os.path.join(scratch.name, "alone.o"), path),
            tap.skirc("run", path)]
    return [(run.returncode, " ".join(re.findall(r"(?m)\[[a-z-]+\]$", run.stderr))) for run in runs]


def equal(claim, found, expected):
    tap.check(claim, found == expected, f"{found}\nexpected: {expected}")


with open(os.path.join(scratch.name, "own.c"), "w") as file:
    file.write("void own(void *core, unsigned long args) { (void)core, (void)args; }\n")
with open(os.path.join(scratch.name, "helped.c"), "w") as file:
    file.write("double helper(double), cbrt(double);\n"
               "double own(void *core, unsigned long args) { (void)core; return cbrt(helper(args)); }\n")
with open(os.path.join(scratch.name, "counted.c"), "w") as file:
    file.write("int counts[4];\nvoid own(void *core, unsigned long args) { (void)core, counts[1] += (int)args; }\n")
for name in ("own", "helped", "counted"):
    subprocess.run([os.environ.get("CC", "cc"), "-c", "-fPIC", "-o",
                    os.path.join(scratch.name, f"{name}.o"), os.path.join(scratch.name, f"{name}.c")],
                   check=True)

refused = [(1, "[kernel-object]")] * 3
equal("the object of an op that is launched alone is absent: all refuse it",
      statuses(ALONE.format(object="absent.o", function="own", scope=FUSED)), refused)
equal("so where nothing is fused",
      statuses(ALONE.format(object="absent.o", function="own", scope="")), refused)
equal("or its function is", statuses(ALONE.format(object="own.o", function="other", scope=FUSED)),
      refused)
warned = [(0, "[undefined-symbol]"), (0, "[undefined-symbol]"), (1, "[link]")]
helped = ALONE.format(object="helped.o", function="own", scope=FUSED)
equal("a name that the machine does not have is a warning, and an error of run", statuses(helped),
      warned)
own = "%b = Own(%a) : f32[8] via @own"
equal("so in a super kernel", statuses(helped.replace(own, "scope @t { " + own + " }")), warned)

with open(os.path.join(scratch.name, "own.o"), "rb") as own, open(os.path.join(scratch.name, "other.o"), "wb") as other:
    data = bytearray(own.read())
    data[18:20] = (8).to_bytes(2, "little")  # e_machine: MIPS
    other.write(data)
for where, scope in (("an op that is launched alone", ""), ("a super kernel", "scope @t { %c = Own(%a) : f32[8] via @own }")):
    equal(f"an object for another machine, in {where}",
          statuses(ALONE.format(object="other.o", function="own", scope=scope)), refused)
with open(os.path.join(scratch.name, "needs.c"), "w") as file:
    file.write("void " + ", ".join(f"f{i}(void)" for i in range(6)) + ";\n"
               "void own(void) { " + " ".join(f"f{i}();" for i in range(6)) + " }\n")
subprocess.run([os.environ.get("CC", "cc"), "-c", "-o", os.path.join(scratch.name, "needs.o"),
                os.path.join(scratch.name, "needs.c")], check=True)
said = tap.skirc("check", write("needs.skir", ALONE.format(object="needs.o", function="own", scope=FUSED))).stderr
tap.check("the first names that nobody defines are told", "needs 'f0', 'f1', 'f2', 'f3', ..., which" in said, said)
counted = write("counted.skir", ALONE.format(object="counted.o", function="own", scope=FUSED))
tap.check("variables of position-independent code need nothing more", not tap.skirc("check", counted).stderr)

wrong = [path for path in chance.sample(taken + both, min(OBJECTS, len(taken + both)))
         if object_status(path)]
tap.check(f"of what both take {OBJECTS} objects are made", not wrong, "\n".join(wrong))

tap.done()
