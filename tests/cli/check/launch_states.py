"""verify-launches against an exhaustive run of entries, core by core and instruction by instruction:
what hangs in some order of events and cores is refused, and of random programs nothing else is.

SKIR_TEST_COUNT says how many programs, SKIR_TEST_SEED which is the first.
"""

import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

FIRST = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "60"))
TYPE = "f32[4, 16]"
MAX_STATES = 40000
# Cores of one block: AICs and AIVs.
SHAPES = {"aic_only": (1, 0), "aiv_only": (0, 1), "mix_aic_1_0": (1, 0), "mix_aiv_1_0": (0, 1),
          "mix_aic_1_1": (1, 1), "mix_aic_1_2": (1, 2)}
PASSES = [line.split()[0] for line in tap.skirc("opt", "--list-passes").stdout.splitlines()]


# ---- Programs ----

def program(seed):
    """Scopes and single ops on streams of their own, on a device of few cores."""
    chance = random.Random(seed)
    aics = chance.choice([1, 2, 2, 3])
    lines = ["skir 1", f'target "t" {{aic = {aics}, aiv = {2 * aics}}}']
    kernels = []
    for kind, most in (("aiv_only", 2 * aics), ("aic_only", aics), ("mix_aic_1_2", aics)):
        for blocks in {1, most, chance.randint(1, most)}:
            kernels.append(f"@{kind}{blocks}")
            lines.append(f"kernel @{kind}{blocks} : {kind} {{block = {blocks}, stub}}")
    kinds = chance.choice([kernels, [k for k in kernels if "mix" not in k],
                           [k for k in kernels if "aiv" in k]])
    lines.append(f"graph @g(%a: {TYPE}) -> () {{")
    places = [(f"@s{i}", i + 1) for i in range(chance.randint(1, 3))
              for _ in range(chance.randint(2, 3))]
    places += [(None, chance.choice([1, 2, 5])) for _ in range(chance.randint(0, 2))]
    chance.shuffle(places)
    values = []
    for i, (scope, stream) in enumerate(places):
        operand = chance.choice(values) if values and chance.random() < 0.5 else "%a"
        after = f" after ({chance.choice(values)})" if values and chance.random() < 0.2 else ""
        lines += [f'scope {scope} {{options = "stream-fusion=1"}} {{'] if scope else []
        lines += [f'stream "{stream}" {{',
                  f"%v{i} = Op({operand}) : {TYPE} via {chance.choice(kinds)}{after}", "}"]
        lines += ["}"] if scope else []
        values.append(f"%v{i}")
    return "\n".join([*lines, "return", "}"]) + "\n"


# ---- Launches ----

class Launch:
    """What the device gets: blocks of a shape, and programs as lists of instructions that
    synchronise. `waits` are events before it starts, `sends` those at its end."""

    def __init__(self, name, stream):
        self.name, self.stream = name, stream
        self.waits, self.sends = [], []
        self.blocks, self.shape, self.programs = 1, (1, 0), {"aic": [], "aiv": []}

    def keeps(self):
        return any(line.startswith(("await", "wait_event"))
                   for lines in self.programs.values() for line in lines)

    def events(self, word):
        return [line.split()[1] for lines in self.programs.values() for line in lines
                if line.startswith(word + " ")]


def events_of(line):
    """What a line waits for and sends as a whole."""
    found = [re.search(word + r" \[(.*?)\]", line) for word in ("recv", "send")]
    return [[name.strip() for name in names[1].split(",")] if names else [] for names in found]


def launches_of(text):
    """The launches of a lowered module, in the order of the text."""
    kernels = {name: (kind, int(blocks)) for name, kind, blocks in
               re.findall(r"kernel @(\w+) : (\w+) \{\s*block = (\d+)", text)}
    found, entries, blocks, entry, kind = {}, {}, [], None, None
    for line in text[text.index("\ngraph @"):].splitlines():
        line = line.strip()
        entered = re.match(r"entry @(\w+) : (\w+) \{block = (\d+)", line)
        if entered:
            entry = entries[entered[1]] = (entered[2], int(entered[3]), {"aic": [], "aiv": []})
        elif entry and line in ("aic {", "aiv {"):
            kind = line[:3]
        elif entry and line == "}":
            entry, kind = (entry, None) if kind else (None, None)
        elif entry and kind:
            entry[2][kind].append(line)
        elif line.startswith("superkernel @"):
            name = re.match(r"superkernel @(\w+)", line)[1]
            blocks.append(("kernel", name))
            stream = re.search(r'stream = "(\w+)"', line)
            if name not in found:
                launch = found[name] = Launch(name, stream[1] if stream else None)
                launch.waits, launch.sends = events_of(line)
        elif line.endswith("{"):
            label = re.match(r'stream "(\w+)"', line)
            blocks.append(("stream", label[1]) if label else ("none", None))
        elif line == "}" and blocks:
            blocks.pop()
        elif " = Op(" in line and [block for block, _ in blocks
                                   if block != "stream"][-1:] != ["kernel"]:
            labels = [name for block, name in blocks if block == "stream"]
            launch = found[line.split()[0]] = Launch(line.split()[0], labels[-1] if labels else None)
            kernel, launch.blocks = kernels[re.search(r"via @(\w+)", line)[1]]
            launch.shape = SHAPES[kernel]
            launch.waits, launch.sends = events_of(line)
    sync = ("wait_event", "notify", "arrive", "await", "set ", "wait ")
    for name, (kind, blocks, programs) in entries.items():
        launch = found[name]
        launch.blocks, launch.shape = blocks, SHAPES[kind]
        launch.programs = {core: [line for line in lines if line.startswith(sync)]
                           for core, lines in programs.items()}
    return list(found.values())


def run_inside(launch, zero, others, events, done):
    """How far a launch comes with these blocks on cores, block 0 (`zero`) and others: the events that
    it may notify next, of which `done` are notified, and whether it has ended."""
    aics, aivs = launch.shape
    blocks = ([0] if zero else []) + list(range(1, 1 + others))
    cores = [("aic", b, 0) for b in blocks for _ in range(aics)] + \
        [("aiv", b, s) for b in blocks for s in range(aivs)]
    at, arrived, awaited = dict.fromkeys(cores, 0), {}, {}
    flags, ready, any_passed = {}, set(), True
    totals = {"aic": launch.blocks * aics, "aiv": launch.blocks * aivs}
    while any_passed:
        any_passed = False
        for core in cores:
            kind, block, sub = core
            program = launch.programs[kind]
            while at[core] < len(program):
                word, name = program[at[core]].split()[:2]
                first = block == 0 and sub == 0
                if word == "wait_event" and first and name not in events:
                    break
                if word == "notify" and first and name not in done:
                    ready.add(name)
                    break
                if word == "arrive":
                    arrived[core] = arrived.get(core, 0) + 1
                if word == "await":
                    n = awaited.get(core, 0) + 1
                    if sum(1 for c in cores if c[0] == kind and arrived.get(c, 0) >= n) < totals[kind]:
                        break
                    awaited[core] = n
                if word == "set":
                    for to in cores:
                        if to[1] == block and to[0] != kind:
                            flags[core, to] = flags.get((core, to), 0) + 1
                if word == "wait":
                    setters = [c for c in cores if c[1] == block and c[0] != kind]
                    if any(flags.get((c, core), 0) == 0 for c in setters):
                        break
                    for c in setters:
                        flags[c, core] -= 1
                at[core] += 1
                any_passed = True
    over = len(blocks) == launch.blocks and all(at[c] == len(launch.programs[c[0]]) for c in cores)
    return ready, over


# ---- All orders ----

class Device:
    """A state: of each stream its launch, whether it has block 0, how many other blocks it has and
    has had, and what it has notified; and of each AI core who has its AIC and its AIVs."""

    def __init__(self, launches, aics):
        self.aics = aics
        labels = sorted({launch.stream for launch in launches}, key=str)
        self.streams = [[l for l in launches if l.stream == label] for label in labels]
        self.inside = {}
        self.sent_here = {e for l in launches for e in l.sends + l.events("notify")}

    def events(self, state):
        at, _ = state
        sent = set()
        for line, (index, _, _, _, done) in zip(self.streams, at):
            for launch in line[:index]:
                sent |= {*launch.sends, *launch.events("notify")}
            sent |= set(done)
        return sent

    def is_sent(self, sent, event):
        return event in sent or event not in self.sent_here

    def places(self, cores, who, shape):
        """Ways to put a block on free cores."""
        aics, aivs = shape
        for i, (aic, vectors) in enumerate(cores):
            free = [k for k in (0, 1) if vectors[k] == 0]
            if (aics and aic) or len(free) < aivs:
                continue
            for k in ([free[:aivs]] if aivs != 1 else [[f] for f in free]):
                vectors_now = tuple(who if n in k else vectors[n] for n in (0, 1))
                now = list(cores)
                now[i] = (who if aics else aic, tuple(sorted(vectors_now)))
                yield tuple(sorted(now))

    def release(self, cores, who):
        return tuple(sorted((0 if aic == who else aic,
                             tuple(sorted(0 if v == who else v for v in vectors)))
                            for aic, vectors in cores))

    def successors(self, state):
        at, cores = state
        sent = self.events(state)

        def step(s, now, cores):
            return (*at[:s], now, *at[s + 1:]), cores
        for s, line in enumerate(self.streams):
            index, zero, others, had, done = at[s]
            if index == len(line):
                continue
            launch, who = line[index], s + 1
            if not all(self.is_sent(sent, event) for event in launch.waits):
                continue
            if not launch.keeps():
                # one block at a time takes nothing that others do not get back
                if not others:
                    for now in self.places(cores, who, launch.shape):
                        yield step(s, (index, False, 1, had, done), now)
                else:
                    over = had + 1 == launch.blocks
                    now = (index + 1, False, 0, 0, ()) if over else (index, False, 0, had + 1, done)
                    yield step(s, now, self.release(cores, who))
                continue
            if not zero:
                for now in self.places(cores, who, launch.shape):
                    yield step(s, (index, True, others, 0, done), now)
            if others < launch.blocks - 1:
                for now in self.places(cores, who, launch.shape):
                    yield step(s, (index, zero, others + 1, 0, done), now)
            events = frozenset(e for e in launch.events("wait_event") if self.is_sent(sent, e))
            key = launch.name, zero, others, events, done
            if key not in self.inside:
                self.inside[key] = run_inside(launch, zero, others, events, done)
            ready, over = self.inside[key]
            for event in ready:
                yield step(s, (index, zero, others, 0, tuple(sorted((*done, event)))), cores)
            if over:
                yield step(s, (index + 1, False, 0, 0, ()), self.release(cores, who))

    def hangs(self):
        """Whether some state has no successor before all is over; None: there are too many."""
        first = tuple((0, False, 0, 0, ()) for _ in self.streams), \
            tuple((0, (0, 0)) for _ in range(self.aics))
        known, open_states = {first}, [first]
        while open_states:
            state, stuck = open_states.pop(), True
            for following in self.successors(state):
                stuck = False
                if following not in known:
                    known.add(following)
                    open_states.append(following)
            if stuck and any(a[0] < len(line) for a, line in zip(state[0], self.streams)):
                return True
            if len(known) > MAX_STATES:
                return None
        return False


def check_program(seed, left_out, counts):
    """What the last pass says of the entries of a program, against all that can happen."""
    passes = ",".join(name for name in PASSES if name not in left_out)
    made = tap.skirc("opt", "--passes=" + passes, "-", stdin=program(seed))
    if made.returncode:
        counts["not lowered"] += 1
        return None
    said = tap.skirc("opt", "--passes=verify-launches", "-", "-o", os.devnull, stdin=made.stdout)
    aics = int(re.search(r"aic = (\d+)", made.stdout)[1])
    hangs = Device(launches_of(made.stdout), aics).hangs()
    refused = said.returncode != 0
    known = "[launches-hang]" in said.stderr or "[launches-circle]" in said.stderr
    if hangs is None:
        counts["too large"] += 1
        return None
    counts["hang"] += hangs
    counts["refused"] += refused
    counts["false refusals"] += refused and not hangs
    if hangs and not refused or refused and not known:
        return f"seed {seed}, without {left_out}: {'hangs' if hangs else 'is safe'}\n{said.stderr}"
    if refused and not hangs:
        print(f"# seed {seed}, without {left_out}: refused, but does not hang", flush=True)
    return None


if __name__ == "__main__":
    print(f"# seeds {FIRST} to {FIRST + COUNT - 1}", flush=True)
    for left_out in (("limit-residency", "verify-launches"), ("verify-launches",)):
        counts = dict.fromkeys(("hang", "refused", "false refusals", "not lowered", "too large"), 0)
        faults = [fault for seed in range(FIRST, FIRST + COUNT)
                  if (fault := check_program(seed, left_out, counts))]
        print(f"# without {' and '.join(left_out)}: {counts}", flush=True)
        tap.check(f"of {COUNT} programs each that hangs is refused", not faults,
                  "\n".join(faults[:3]))
        tap.check("and of those refused at most a fiftieth cannot hang",
                  50 * counts["false refusals"] <= counts["refused"], str(counts))
        tap.check("most programs are tried in all ways",
                  counts["too large"] + counts["not lowered"] < COUNT / 3, str(counts))
    tap.done()
