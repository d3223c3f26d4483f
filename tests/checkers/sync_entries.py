"""Synchronised entries, checked against a model that is written from the documentation alone.

Random modules are compiled by `skirc opt`. Each final module is read as text, all its launches are simulated core by core by
the rules of docs/device-model.md, and judged: required orders, hangs, counts of flags and arrivals, drains, events, locks, fed
barriers, stale caches, and launches that keep each other's cores. Then entries are mutated, one or a few instructions at a time,
and the verdict of skirc on each mutant is compared with that of the model. A *false accept* is a module that skirc accepts and the
model refutes; a *false refusal* is the opposite. The script fails at a false accept.

    sync_entries.py                                  a few seeds of each family
    sync_entries.py --seeds N --family early         N seeds of one family: early, dynamic or residency
    sync_entries.py --first-seed N --keep FOLDER     begin with another seed, keep modules with different verdicts
    sync_entries.py --check FILE.skir                print what the model finds in one module

The model is tests/checkers/sync_model.py.
"""

import argparse
import collections
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ.get("SKIR_SOURCE", "."), "tests"))
import tap
from checkers.sync_model import Checker
from checkers.sync_text import SHAPES, Module


# ---- Random modules ----


class Generator:
    """A random module of a family, as text."""

    def __init__(self, family, seed):
        self.random = random.Random(f"{family} {seed}")
        self.family = family
        self.aic = self.random.choice((1, 2, 2, 3))
        self.aiv = self.aic * self.random.choice((1, 2, 2, 2))
        self.chance = lambda p: self.random.random() < p

    def kernels(self):
        texts = []
        self.names = []
        for i in range(self.random.randint(2, 4)):
            types = ["aic_only", "aiv_only", "mix_aic_1_1"] + (["mix_aic_1_2"] if self.aiv == 2 * self.aic else [])
            type = self.random.choice(types + ["aiv_only", "aic_only"])
            most = self.aiv if type == "aiv_only" else self.aic
            rows = []
            if self.family == "dynamic" and self.chance(0.4):
                part = SHAPES[type]
                functions = [f'{core} = "f{i}_{core}"' for core, n in zip(("aic", "aiv"), part) if n]
                variants = [f"{{key = 1, type = {type}, {', '.join(functions)}}}"]
                if part[0] and part[1] and self.chance(0.5):
                    variants.append(f'{{key = 2, type = aiv_only, aiv = "g{i}"}}')
                rows += ["dynamic", f"variants = [{', '.join(variants)}]"]
            else:
                rows += [f"block = {self.random.choice((1, most, most, self.random.randint(1, most)))}", "stub"]
            early = []
            if self.family == "early" and self.chance(0.6):
                early = self.random.choice((["set"], ["wait"], ["set", "wait"], ["set", "wait"]))
                early = early + [word for word, half in (("reads_done", "set"), ("reads_late", "wait"))
                                 if half in early and self.chance(0.6)]
                rows.append(f"early_start = [{', '.join(early)}]")
            if self.chance(0.02 if rows[0] == "dynamic" else 0.1 if self.family == "residency" else 0.2):
                rows.append("sync_all")
            if "set" not in early and self.chance(0.15):
                rows.append("undrained")
            if self.chance(0.2):
                rows.append("scalar_reads = [0]")
            self.names.append(f"k{i}")
            texts.append(f"kernel @k{i} : {type} {{\n  " + ",\n  ".join(rows) + "\n}\n")
        return texts

    def options(self):
        feed = self.chance(0.9)
        words = [f"feed-sync-all={int(feed)}", f"stream-fusion={int(self.family == 'residency' or self.chance(0.85))}"]
        if self.family == "early":
            words[1] = "stream-fusion=0"
        if self.chance(0.8):
            words.append("dcci-scalar-reads=1")
        if self.chance(0.8):
            words.append("preload-code=none")
        return ":".join(words)

    def text(self):
        kernels = self.kernels()
        scopes = ["s", "t", "u"][:1 if self.family != "residency" else self.random.randint(1, 3)]
        options = {scope: self.options() for scope in scopes}
        values, views, order, body = ["%a", "%b"], {}, [], []
        before, users, last, places = {}, collections.defaultdict(set), {}, {}
        mine = collections.defaultdict(lambda: ["%a", "%b"])
        count = self.random.randint(3, 9)
        streams = {"early": ["0"], "dynamic": ["0", "1"], "residency": ["0", "1", "2"]}[self.family]
        beside = "9" if self.chance(0.5) else None
        for i in range(count):
            outside = self.chance({"early": 0.12, "dynamic": 0.1, "residency": 0.2}[self.family])
            at = self.random.randrange(len(scopes)) if not outside and self.chance(0.4) else i * len(scopes) // count
            scope = None if outside else scopes[at]
            stream = self.random.choice(streams)
            if outside and beside and self.chance(0.8):
                stream = beside
            if self.family == "residency" and scope and self.chance(0.8):
                stream = str(scopes.index(scope))
            result = f"%v{i}"
            near = values[-4:] if self.family != "residency" or self.chance(0.4) else mine[scope or stream][-3:]
            inputs = [self.random.choice(near) for _ in range(self.random.randint(1, 2))]
            ancestors = set()
            for value in inputs:
                ancestors |= before.get(value, set()) | {value}
            if stream in last:
                ancestors |= before[last[stream]] | {last[stream]}
            attributes = []
            root = views.get(inputs[-1], inputs[-1])
            if self.chance(0.2) and len(set(views.get(v, v) for v in inputs)) == len(inputs):
                attributes.append(f"inplace = [{len(inputs) - 1}]")
                if self.chance(0.5):
                    attributes.append(f"alias = [{len(inputs) - 1}]")
                    views[result] = root
                ancestors |= users[root] | {root}
                for user in list(users[root]):
                    ancestors |= before.get(user, set())
            free = [place for place, owners in places.items() if owners <= ancestors and not owners & set(inputs)]
            if result not in views and self.chance(0.5):
                place = self.random.choice(free) if free and self.chance(0.8) else 64 * len(places)
                attributes.append(f"address = {{results = [[pool, {place}]]}}")
                if place in places:
                    values = [v for v in values if v not in places[place] and views.get(v, v) not in places[place]] or ["%a"]
                    for known in mine.values():
                        known[:] = [v for v in known if v in values] or ["%a"]
                places[place] = {result}
            if self.chance(0.08):
                attributes.append('writes = ["log"]' if self.chance(0.5) else 'reads = ["log"]')
            for value in inputs:
                users[views.get(value, value)].add(result)
                for owners in places.values():
                    if views.get(value, value) in owners:
                        owners.add(result)
            after = ""
            if order and self.chance(0.15):
                other = self.random.choice(order)
                after = f" after ({other})"
                ancestors |= before[other] | {other}
            before[result] = ancestors
            last[stream] = result
            order.append(result)
            values.append(result)
            mine[scope or stream].append(result)
            if outside and self.chance(0.2):
                attributes.append("no_cores")
            braces = f" {{{', '.join(attributes)}}}" if attributes else ""
            type = f"Op{self.random.randrange(3)}"
            line = f"{result} = {type}({', '.join(inputs)}){braces} : f32[16] via @{self.random.choice(self.names)}{after}"
            text = [line]
            if self.chance(0.06):
                text.append(f"%w{i} = Identity({result}) : f32[16]")
                views[f"%w{i}"] = views.get(result, result)
                before[f"%w{i}"] = before[result] | {result}
                values.append(f"%w{i}")
            if stream != "0":
                text = [f'stream "{stream}" {{', *("  " + t for t in text), "}"]
            if scope:
                text = [f'scope @{scope} {{options = "{options[scope]}"}} {{', *("  " + t for t in text), "}"]
            body += ["  " + t for t in text]
        target = f'target "t" {{aic = {self.aic}, aiv = {self.aiv}}}\n'
        graph = "graph @g(%a: f32[16], %b: f32[16]) -> f32[16] {\n" + "\n".join(body) + f"\n  return {order[-1]}\n}}\n"
        return "\n".join(["skir 1\n", target, *kernels, graph])


# ---- Mutants ----

SYNC = ("arrive", "await", "set", "wait", "pipe_barrier", "notify", "wait_event", "reset", "select", "dcci", "feed_sync",
        "clear_workspace")


class Mutator:
    """Changes programs of a module's text."""

    def __init__(self, text, seed):
        self.random, self.lines = random.Random(seed), text.split("\n")

    def programs(self):
        """The programs, each as the numbers of its lines."""
        found, inside = [], False
        for number, line in enumerate(self.lines):
            if line in ("  aic {", "  aiv {"):
                inside = True
                found.append([])
            elif line == "  }":
                inside = False
            elif inside:
                found[-1].append(number)
        return [program for program in found if program]

    def mutant(self):
        lines = list(self.lines)
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            programs = self.programs()
            if not programs:
                return None
            self.change(self.random.choice(programs))
        text, self.lines = "\n".join(self.lines), lines
        return text if text != "\n".join(lines) else None

    def change(self, program):
        lines, kind = self.lines, self.lines[program[0] - 1].strip()[:3]
        word = lambda n: lines[n].split()[0]
        sync = [n for n in program if word(n) in SYNC] or program
        one = self.random.choice(sync)
        what = self.random.choice(("delete", "swap", "move", "move", "pair", "pair", "split", "split", "drain", "add", "flag",
                                   "blocks", "early", "launch", "target", "call"))
        if what == "delete":
            del lines[one]
        elif what == "swap":
            at = self.random.choice(program[:-1] or program)
            if at + 1 in program:
                lines[at], lines[at + 1] = lines[at + 1], lines[at]
        elif what == "move":
            line = lines.pop(one)
            lines.insert(self.random.choice(program), line)
        elif what in ("pair", "split", "drain"):  # an arrive and its await: deleted, torn apart, or a drain alone
            pairs = [n for n in program if lines[n].strip() == f"arrive {kind}" and lines[n + 1].strip() == f"await {kind}"]
            if pairs:
                at = self.random.choice(pairs)
                del lines[at:at + 2]
                if what == "drain":
                    lines.insert(at, "    pipe_barrier")
                elif what == "split":
                    up = max(program[0], at - self.random.choice((0, 0, 1, 2, 3)))
                    down = min(program[-1] - 1, at + self.random.choice((0, 1, 2, 3)))
                    lines.insert(down, f"    await {kind}")
                    lines.insert(up, f"    arrive {kind}")
        elif what == "add":
            at = self.random.choice(program)
            lines[at:at] = self.random.choice(([f"    arrive {kind}", f"    await {kind}"], ["    pipe_barrier"], ["    dcci all"]))
        elif what == "flag":  # the n-th set of one program and the n-th wait of the other: deleted, or new ones
            self.change_flag()
        elif what == "blocks":
            kernel = self.random.choice([n for n, line in enumerate(lines) if line.startswith("  block = ")] or [0])
            if kernel:
                name = re.match(r"kernel @(\w+)", lines[max(n for n in range(kernel) if lines[n].startswith("kernel"))])[1]
                blocks = self.random.randint(1, 4)
                lines[kernel] = f"  block = {blocks},"
                for n, line in enumerate(lines):
                    if re.match(rf"    call @{name}(\.ai[cv])? args ", line):
                        lines[n] = re.sub(r"blocks \d+", f"blocks {blocks}", line)
        elif what == "early":
            calls = [n for n in program if "early_" in lines[n]]
            if calls:
                n = self.random.choice(calls)
                lines[n] = re.sub(r"early_wait \w+", "early_wait " + self.random.choice(("aic", "aiv", "mix")), lines[n])
            words = [n for n, line in enumerate(lines) if line.startswith("  early_start") and "reads_" in line]
            if words and self.random.random() < 0.5:
                n = self.random.choice(words)
                lines[n] = re.sub(r", reads_\w+", "", lines[n], count=1)
        elif what == "launch":
            entries = [n for n, line in enumerate(lines) if line.startswith("entry")]
            n = self.random.choice(entries)
            block = re.search(r"\{block = (\d+)", lines[n])
            lines[n] = lines[n].replace(block[0], f"{{block = {max(1, int(block[1]) + self.random.choice((-1, 1, 1)))}")
        elif what == "target":
            n = next(n for n, line in enumerate(lines) if line.startswith("target"))
            aic, aiv = (int(number) for number in re.findall(r" = (\d+)", lines[n]))
            cubes = max(1, aic + self.random.choice((-1, 0, 1)))
            aic, aiv = cubes, aiv // aic * cubes if cubes != aic else aiv + 1
            lines[n] = f'target "t" {{aic = {aic}, aiv = {aiv}}}'
        elif what == "call":
            calls = [n for n in program if word(n) == "call"]
            a, b = self.random.choice(calls or program), self.random.choice(calls or program)
            lines[a], lines[b] = lines[b], lines[a]

    def change_flag(self):
        flag = self.random.choice(("c2v", "v2c"))
        sets = [n for n, line in enumerate(self.lines) if line == f"    set {flag}"]
        waits = [n for n, line in enumerate(self.lines) if line == f"    wait {flag}"]
        programs = self.programs()
        if sets and len(sets) == len(waits) and self.random.random() < 0.6:
            i = self.random.randrange(len(sets))
            for n in sorted((sets[i], waits[i]), reverse=True):
                del self.lines[n]
        elif len(programs) == 2:
            count = self.random.choice((1, 1, 1, 15, 16))
            source, sink = programs if flag == "c2v" else programs[::-1]
            places = [(self.random.choice(source), f"    set {flag}"), (self.random.choice(sink), f"    wait {flag}")]
            for n, line in sorted(places, reverse=True):
                self.lines[n:n] = [line] * count


# ---- Comparison ----


PROOFS = "verify-sync,verify-launches"  # passes that change nothing; those before them could repair a mutant


class Verdict:
    """What skirc says about one file."""

    def __init__(self):
        self.errors, self.stale = [], False


def verdicts(passes, texts, folder):
    """Runs passes over many modules; a verdict and the text that comes out, None where it is refused, for each."""
    out = os.path.join(folder, "out")
    os.makedirs(out, exist_ok=True)
    paths = [tap.write(os.path.join(folder, f"m{i}.skir"), text) for i, text in enumerate(texts)]
    for name in os.listdir(out):
        os.unlink(os.path.join(out, name))
    run = tap.skirc("opt", "-p", passes, "-j1", "-o", out + "/", *paths, timeout=600)
    if run.returncode not in (0, 1):
        raise SystemExit(f"skirc ends with {run.returncode}:\n{run.stderr[-2000:]}")
    found = [Verdict() for _ in texts]
    for number, kind, id in re.findall(r"/m(\d+)\.skir:\d+:\d+: (error|warning): .* \[([\w-]+)\]$", run.stderr, re.M):
        if kind == "error":
            found[int(number)].errors.append(id)
        elif id == "stale-read":
            found[int(number)].stale = True
    outputs = []
    for i in range(len(texts)):
        path = os.path.join(out, f"m{i}.skir")
        outputs.append(tap.read(path).decode() if os.path.exists(path) else None)
        if outputs[-1] is None and not found[i].errors:
            found[i].errors.append("no-output")
    return list(zip(found, outputs))


class Family:
    """Compares verdicts over the modules and mutants of a family."""

    def __init__(self, name, keep, mutants):
        self.name, self.keep, self.mutants = name, keep, mutants
        self.count, self.refused, self.kinds = collections.Counter(), collections.Counter(), collections.Counter()

    def compare(self, text, verdict, label, source=None):
        """Counts one module. Its faults are compared with the errors, stale caches with the warning."""
        module = Module(text)
        faults = Checker(module).check()
        if source:  # what the graph demanded before passes changed it
            names = {op.name: op for op in module.ops}
            faults += Checker(module, {(names[a.name], names[b.name]): why for (a, b), why in source.orders().items()
                                     if a.name in names and b.name in names}).check()
        stale = any(kind == "stale" for kind, _ in faults)
        wrong = [fault for fault in faults if fault[0] != "stale"]
        self.kinds.update({kind for kind, _ in wrong} or {"none"})
        if verdict.errors and wrong:
            outcome = "agreed refusals"
        elif verdict.errors:
            outcome = "false refusals"
        elif wrong:
            outcome = "false accepts"
        elif stale != verdict.stale:
            outcome = "stale accepts" if stale else "stale refusals"
        else:
            outcome = "agreed accepts"
        self.count[outcome] += 1
        if "agreed" not in outcome and self.keep:
            said = f"// {outcome}: skirc says {verdict.errors}, stale {verdict.stale}\n// model: {faults[:6]}\n"
            tap.write(os.path.join(self.keep, f"{outcome.split()[0]}-{outcome.split()[1]}-{label}.skir"), said + text)

    def run(self, seeds, folder):
        for first in range(seeds.start, seeds.stop, 25):
            chunk = range(first, min(first + 25, seeds.stop))
            sources = [Generator(self.name, seed).text() for seed in chunk]
            finals = []
            for seed, source, (verdict, text) in zip(chunk, sources, verdicts("default..trace", sources, folder)):
                if text is None:
                    self.refused.update(set(verdict.errors))
                else:
                    finals.append((seed, source, text))
            results = verdicts(PROOFS, [text for _, _, text in finals], folder)
            for (seed, source, text), (verdict, _) in zip(finals, results):
                self.count["entries"] += len(re.findall("^entry", text, re.M))
                self.count["modules"] += 1
                self.compare(text, verdict, f"{self.name}-{seed}", Module(source))
            mutants = []
            for seed, _, text in finals:
                mutator = Mutator(text, f"{self.name} {seed}")
                made = {mutator.mutant() for _ in range(self.mutants)} - {None}
                mutants += [(f"{self.name}-{seed}.{i}", mutant) for i, mutant in enumerate(sorted(made))]
            for at in range(0, len(mutants), 200):
                batch = mutants[at:at + 200]
                results = verdicts(PROOFS, [text for _, text in batch], folder)
                for (label, text), (verdict, _) in zip(batch, results):
                    self.count["mutants"] += 1
                    self.compare(text, verdict, label)

    def line(self):
        count = self.count
        return (f"{self.name}: {count['entries']} entries, {count['mutants']} mutants, "
                f"{count['agreed accepts'] + count['agreed refusals']} agreed ({count['agreed accepts']} accepts, "
                f"{count['agreed refusals']} refusals), {self.false_accepts()} false accepts, "
                f"{count['false refusals'] + count['stale refusals']} false refusals")

    def false_accepts(self):
        return self.count["false accepts"] + self.count["stale accepts"]


def main():
    parser = argparse.ArgumentParser(description="Compare verdicts on synchronised entries with a model.")
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("SKIR_TEST_COUNT", "25")))
    parser.add_argument("--first-seed", type=int, default=int(os.environ.get("SKIR_TEST_SEED", "1")))
    parser.add_argument("--mutants", type=int, default=20, help="of each module")
    parser.add_argument("--family", choices=("early", "dynamic", "residency"))
    parser.add_argument("--keep", help="folder for modules with different verdicts")
    parser.add_argument("--check", metavar="FILE")
    parser.add_argument("--verbose", action="store_true", help="count the reasons of refusals")
    arguments = parser.parse_args()
    if arguments.check:
        for fault in Checker(Module(tap.read(arguments.check).decode())).check():
            print(*fault, sep=": ")
        return
    with tempfile.TemporaryDirectory(prefix="skir-test.") as folder:
        for name in [arguments.family] if arguments.family else ["early", "dynamic", "residency"]:
            family = Family(name, arguments.keep, arguments.mutants)
            family.run(range(arguments.first_seed, arguments.first_seed + arguments.seeds), folder)
            tap.check(family.line(), family.count["mutants"] and not family.false_accepts())
            if arguments.verbose:
                print("#", dict(family.count), "modules refused:", dict(family.refused), "faults:", dict(family.kinds))
    tap.done()


if __name__ == "__main__":
    main()
