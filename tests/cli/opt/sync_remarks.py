"""What insert-syncs says of each barrier and flag: without it, verify-sync misses an order of the op
that is named, or one before it."""

import json
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
SOURCE = os.path.abspath(tap.SOURCE)
os.chdir(scratch.name)


def programs(text, entry):
    """First and last line of the programs of an entry, by core type, as indices."""
    lines, found = text.splitlines(), {}
    at = next(i for i, line in enumerate(lines) if line.startswith(f"entry @{entry} "))
    while lines[at] != "}":
        if lines[at] in ("  aic {", "  aiv {"):
            core, begin = lines[at].split()[0], at
            while lines[at] != "  }":
                at += 1
            found[core] = (begin, at)
        at += 1
    return lines, found


def nth(lines, span, words, n):
    """The line of the n-th use of an instruction in a program."""
    at = [i for i in range(*span) if lines[i].strip() == words]
    return at[n - 1] if n <= len(at) else None


def without(text, remark):
    """The text without what the remark is about."""
    lines, found = programs(text, remark["entry"])
    number = int(remark["number"])
    if remark["sync"] == "barrier":
        core = remark["cores"]
        gone = [nth(lines, found[core], f"{word} {core}", number) for word in ("arrive", "await")]
        # what a barrier drains without a word stays drained
        lines[gone[0]] = "    pipe_barrier"
        gone = gone[1:]
    else:
        flag = remark["cores"]
        sender, receiver = ("aic", "aiv") if flag == "c2v" else ("aiv", "aic")
        gone = [nth(lines, found[sender], f"set {flag}", number),
                nth(lines, found[receiver], f"wait {flag}", number)]
    return "\n".join(line for i, line in enumerate(lines) if i not in gone) + "\n"


def verify(text):
    """The errors about a text."""
    done = tap.skirc("opt", "-p", "verify-sync", "--max-errors=0", "--remarks=errors.json", "-o",
                     os.devnull, "-", stdin=text)
    with open("errors.json", encoding="utf-8") as file:
        errors = json.load(file)["diagnostics"]
    return done.returncode, [error for error in errors if error["severity"] == "error"]


def check_remark(text, remark):
    """What is wrong with a remark, or None."""
    status, errors = verify(without(text, remark))
    if remark["why"] == "none":
        return None
    if status != 1:
        return f"without it all is well: {remark}"
    ids = {error["id"] for error in errors}
    if not remark["from"]:
        return None if ids else f"no error: {remark}"
    # of the orders that hang on it, verify-sync tells one for each op, up to the first that is wrong
    told = [error for error in errors if error["id"] == "sync-order" and
            (error.get("from") == remark["from"] or error["line"] <= remark["line"])]
    found = [(error["id"], error.get("from"), error.get("to")) for error in errors]
    return None if told else f"another order is missed: {remark}\n{found}"


def check_module(name, text, *options):
    """All remarks about a module, each held against verify-sync."""
    lowered = tap.skirc("opt", "-p", "..lower-superkernels", *options, "-", stdin=text)
    with open("lowered.skir", "w", encoding="utf-8") as file:
        file.write(lowered.stdout)
    done = tap.skirc("opt", "-p", "insert-syncs", "--remarks=remarks.json", "lowered.skir")
    if done.returncode:
        tap.check(f"{name}", False, done)
        return [], ""
    with open("remarks.json", encoding="utf-8") as file:
        remarks = [d for d in json.load(file)["diagnostics"] if d["id"] == "sync-inserted"]
    syncs = len(re.findall(r"^    (?:arrive|set) ", done.stdout, re.M))
    wrong = [what for what in (check_remark(done.stdout, remark) for remark in remarks) if what]
    tap.check(f"{name}: each of {syncs} barriers and flags is there for what is said",
              syncs == len(remarks) and not wrong, "\n".join(wrong) or remarks)
    return remarks, done.stdout


for example in ("decoder_layer", "moe_layer", "multi_stream", "quant_swiglu"):
    with open(os.path.join(SOURCE, "docs", "examples", f"{example}.skir"), encoding="utf-8") as file:
        check_module(example, file.read())

# ---- Random graphs ----

KERNELS = {"cube": "aic_only", "vector": "aiv_only", "mixed": "mix_aic_1_2"}


def random_graph(seed):
    """A super kernel of ops of all sizes, on streams that may be lists of their own."""
    rng = random.Random(seed)
    launch = rng.choice([1, 4])
    kernels = {}
    for name, kind in KERNELS.items():
        full = 2 * launch if kind == "aiv_only" else launch
        kernels[name] = f"kernel @{name} : {kind} {{\n  block = {full}\n}}\n"
        kernels[f"{name}_one"] = f"kernel @{name}_one : {kind} {{\n  block = 1\n}}\n"
    lines, values = [], ["%x"]
    small = rng.random() < 0.5
    for n in range(rng.randint(2, 9)):
        kernel = rng.choice(list(KERNELS)) + ("_one" if small and rng.random() < 0.5 else "")
        after = f" after ({rng.choice(values[1:])})" if n and rng.random() < 0.3 else ""
        attrs = " {writes = \"cache\"}" if rng.random() < 0.2 else ""
        op = f"%v{n} = Op({rng.choice(values)}, %x){attrs} : f32[8] via @{kernel}{after}"
        values.append(f"%v{n}")
        stream = rng.choice(["", "", "1", "2"])
        lines += [f'    stream "{stream}" {{', f"      {op}", "    }"] if stream else [f"    {op}"]
    fused = rng.choice([0, 1, 1])
    body = "\n".join(lines)
    if not fused:
        body = re.sub(r'    stream "." {\n  (.*)\n    }', r"\1", body)
    return ("skir 1\n\n" + "\n".join(kernels.values()) +
            f"\ngraph @g(%x: f32[8]) -> f32[8] {{\n  superkernel @s {{options = "
            f"\"stream-fusion={fused}\"}} {{\n{body}\n  }}\n  return {values[-1]}\n}}\n")


whys = set()
for seed in range(max(30, int(os.environ.get("SKIR_TEST_COUNT", "60")) // 4)):
    remarks, _ = check_module(f"random graph {seed}", random_graph(seed))
    whys |= {remark["why"] for remark in remarks}
tap.check("all kinds of order were met", {"data", "memory", "event", "stream"} <= whys, whys)

# ---- The facts of a refuted step ----

_, refuted = verify("""skir 1

entry @e : mix_aic_1_1 {block = 2} {
  aic {
    set c2v
    set c2v
  }
  aiv {
    wait c2v
  }
}
""")
facts = [{key: error.get(key) for key in ("entry", "core", "instruction", "text")}
         for error in refuted]
tap.check("a refuted step is told by its entry, core type, number and text",
          facts == [{"entry": "e", "core": "aic", "instruction": "1", "text": "set c2v"}], refuted)

# ---- Where there is nothing to say ----

ORDERED = random_graph(3)
with open("ordered.skir", "w", encoding="utf-8") as file:
    file.write(ORDERED)
lowered = tap.skirc("opt", "-p", "..insert-syncs", "-o", "synced.skir", "ordered.skir")
again = tap.skirc("opt", "-p", "insert-syncs", "--remarks", "synced.skir")
tap.check("an entry that is synchronised already gets nothing, and nothing is said",
          lowered.returncode == again.returncode == 0 and "sync-inserted" not in again.stderr, again)
quiet = tap.skirc("opt", "-p", "..insert-syncs", "ordered.skir")
told = tap.skirc("opt", "-p", "..insert-syncs", "--remarks", "ordered.skir")
tap.check("remarks come where they are asked for, and change nothing", quiet.stdout == told.stdout and
          "sync-inserted" in told.stderr and "sync-inserted" not in quiet.stderr, told)

tap.done()
