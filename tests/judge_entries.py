"""What entries do, from docs/language.md and docs/device-model.md alone: a reader of entries, and a
device that executes them by name, on which each core knows which parts of ops are complete."""

import re
from collections import defaultdict, deque

SHAPES = {"mix_aic_1_0": (1, 0), "aic_only": (1, 0), "mix_aiv_1_0": (0, 1), "aiv_only": (0, 1),
          "mix_aic_1_1": (1, 1), "mix_aic_1_2": (1, 2)}


KINDS = ("aic", "aiv")
BEGIN, END, COMPLEMENT = "feed_sync begin", "feed_sync end", "feed_sync complement"
# What orders nothing and waits for nothing.
HINTS = ("profile", "trace", "count_arrive", "check_await", "count_set", "check_wait", "dcci",
         "preload", "preload_all", "preload_data")


class Wrong(Exception):
    """What an entry does wrong."""


class Entry:
    def __init__(self, name, type, block, groups, programs):
        self.name, self.shape, self.block = name, SHAPES[type], block
        self.groups, self.programs = groups, programs


class Kernel:
    def __init__(self, type, attrs):
        self.shape, self.block = SHAPES[type], int(re.search(r"\bblock = (\d+)", attrs)[1])
        self.early = self.listed(attrs, "early_start")
        self.scalar = self.listed(attrs, "scalar_reads")
        self.sync_all = bool(re.search(r"\bsync_all\b", attrs))
        self.undrained = bool(re.search(r"\bundrained\b", attrs))

    @staticmethod
    def listed(attrs, key):
        found = re.search(rf"\b{key} = \[(.*?)\]", attrs)
        return found[1].split(", ") if found else []

    def on(self, kind):
        return self.shape[KINDS.index(kind)] > 0


def read_kernels(text):
    found = re.findall(r"^kernel @(\w+) : (\w+) \{(.*?)^\}", text, re.M | re.S)
    return {name: Kernel(type, attrs) for name, type, attrs in found}


def read_entries(text):
    """Entries of a text in canonical form, by name; instructions are lists of words."""
    found = {}
    for name, type, attrs, body in re.findall(
            r"^entry @(\S+) : (\w+) \{([^\n]*)\} \{\n(.*?)^\}", text, re.M | re.S):
        parts = re.findall(r"^  (aic|aiv) \{\n(.*?)^  \}", body, re.M | re.S)
        programs = {core: [line.split() for line in lines.splitlines()] for core, lines in parts}
        groups = dict(re.findall(r"^  args (\S+) = \[(.*)\]$", body, re.M))
        block = int(re.search(r"\bblock = (\d+)", attrs)[1])
        found[name] = Entry(name, type, block, groups, programs)
    return found


class Core:
    """What a core knows are bits of `known`: parts of ops that have written all ("w"), those that
    have read all as well ("r"), events, cleared workspaces, and waits that are over; `pending` are
    those of its own calls that are not known to be drained, `busy` that of the last one."""

    def __init__(self, kind, block, sub, index):
        self.kind, self.block, self.sub, self.index = kind, block, sub, index
        self.at, self.steps = 0, deque()
        self.known, self.pending, self.busy, self.clean, self.calls = 0, 0, 0, 0, []
        self.arrivals, self.awaited = [], 0
        self.sets = 0

    def returned(self):
        """What calls of its own that are drained have read, which it tells nobody."""
        return sum({read for wrote, read in self.calls if self.known & wrote})

    def drain(self):
        self.known |= self.pending
        self.pending = 0


class Demands:
    """What an entry must do, op by op; `before` are the ops that must be complete, `uses` those of
    them whose memory the op shares, `overwrites` those that read what the op writes, `waits` and
    `sends` events of the outside. Of the others each element is a list of events of the middle, one
    of which tells: `told` that what the op shares memory with is complete, `tells` that nobody
    reads any more what the op reads; and `reads` of what must be known where the cache is cleaned,
    where ops of the launch stand for themselves. `circles` are pairs of events of which the first
    comes only when the second has been sent."""

    def __init__(self):
        self.before, self.uses, self.overwrites, self.waits, self.sends = [
            defaultdict(list) for _ in range(5)]
        self.reads, self.told, self.tells = [defaultdict(list) for _ in range(3)]
        self.circles = []


class Device:
    """A launch of an entry: a network of cores in which the n-th wait meets the n-th set, so that
    one run tells what all do."""

    def __init__(self, entry, kernels, demands):
        self.entry, self.kernels, self.demands = entry, kernels, demands
        aics, self.aivs = entry.shape
        self.cores = {"aic": [Core("aic", b, 0, b) for b in range(entry.block * aics)],
                      "aiv": [Core("aiv", b, s, b * self.aivs + s)
                              for b in range(entry.block) for s in range(self.aivs)]}
        self.order = self.cores["aic"] + self.cores["aiv"]
        self.flags, self.numbers = defaultdict(list), {}
        self.called, self.notified, self.waited, self.reset = {}, [], set(), []
        self.stale = set()
        self.begun, self.ended, self.there, self.feeding = set(), set(), set(), set()

    def bit(self, *key):
        return 1 << self.numbers.setdefault(key, len(self.numbers))

    def bits(self, keys):
        found = 0
        for key in keys:
            found |= self.bit(*key)
        return found

    def includes(self, op, core):
        kernel = self.called[op]
        if not kernel.on("aic"):
            return core.kind == "aiv" and core.index < kernel.block
        return core.block < kernel.block and (core.kind == "aic" or kernel.on("aiv"))

    def places(self, op):
        """The cores of an op's parts, and those that a call of it leaves out."""
        cores = [core for core in self.order if self.called[op].on(core.kind)]
        inside = [core for core in cores if self.includes(op, core)]
        return inside, [core for core in cores if core not in inside]

    def calls(self):
        seen = set()
        for kind, program in self.entry.programs.items():
            for line in program:
                if line[0] == "call":
                    self.calls_one(kind, line, seen)
        if set(self.called) != set(self.entry.groups):
            raise Wrong(f"{set(self.entry.groups) - set(self.called)} are not called")
        self.inside, self.outside = {}, {}
        for op, kernel in self.called.items():
            self.inside[op], self.outside[op] = self.places(op)
            if any((kind, op) not in seen for kind in KINDS if kernel.on(kind)):
                raise Wrong(f"{op} is not called on each core type")
        self.complete = {(how, op): self.bits((how, op, core.kind, core.index) for core in inside)
                         for op, inside in self.inside.items() for how in "wr"}

    def calls_one(self, kind, line, seen):
        kernel = self.kernels[re.sub(r"\.ai[cv]$", "", line[1][1:])]
        if (kind, line[3]) in seen:
            raise Wrong(f"{line[3]} is called twice on {kind}")
        seen.add((kind, line[3]))
        self.called[line[3]] = kernel
        if int(line[5]) != kernel.block:
            raise Wrong(f"{line[3]} on {line[5]} blocks")
        for word in ("set", "wait"):
            if (word in kernel.early) != (f"early_{word}" in line):
                raise Wrong(f"{line[3]} is called with another early_{word} than it has")

    def run(self):
        self.calls()
        self.full_barriers()
        for kind, program in self.entry.programs.items():
            self.feeds(kind, [line for line in program if line[0] not in HINTS])
            self.settles([line[0] for line in program if line[0] not in (*HINTS, "feed_sync")],
                         [self.called[line[3]] for line in program if line[0] == "call"])
        moved = True
        while moved:
            moved = False
            for core in self.order:
                while self.step(core):
                    moved = True
        for core in self.order:
            if core.steps or core.at < len(self.entry.programs.get(core.kind, [])):
                raise Wrong(f"{core.kind} {core.index} is blocked at instruction {core.at}")
            if len(core.arrivals) != core.awaited:
                raise Wrong("an arrival is not awaited")
        if any(len(sets) != taken for sets, taken in self.flags.values()):
            raise Wrong("a flag is left set")

    def halves(self, kind, until):
        """How often a program arrives, awaits, sets and waits before the work of an op, which
        begins when its kernel has waited."""
        found = defaultdict(int)
        for line in self.entry.programs.get(kind, []):
            here = line[0] == "call" and line[3] == until
            for step in self.expand(kind, line[:-1] if here and line[-1] == "early_set" else line):
                found[step[0], step[-1]] += 1
            if here:
                break
        return found

    def full_barriers(self):
        for op, kernel in self.called.items():
            if not kernel.sync_all:
                continue
            before = {kind: self.halves(kind, op) for kind in KINDS}
            for kind in KINDS:
                if kernel.on(kind) and before[kind]["arrive", kind] != before[kind]["await", kind]:
                    raise Wrong(f"an arrival of {kind} is outstanding at {op}")
            for setter, waiter, flag in (KINDS + ("c2v",), KINDS[::-1] + ("v2c",)):
                sets, waits = before[setter]["set", flag], before[waiter]["wait", flag]
                if min(kernel.shape) and sets != waits:
                    raise Wrong(f"a release of {flag} is outstanding at {op}")

    def feeds(self, kind, program):
        """The steps of feed_sync and the calls that they are beside."""
        used = set()
        for i, line in enumerate(program):
            if line[0] != "call":
                continue
            op = line[3]
            around = [program[i - 1] if i else []] + program[i + 1:i + 3]
            beside = [" ".join(near) for near in around]
            fed = beside[0] == BEGIN and set(beside[1:]) == {END, COMPLEMENT}
            left_out = any(core.kind == kind for core in self.outside[op])
            if self.called[op].sync_all and left_out and not fed:
                raise Wrong(f"{op} leaves cores of type {kind} out and is not fed")
            if fed:
                used |= {i - 1, i + 1, i + 2}
            elif beside[:2] == [BEGIN, END] and not left_out:
                used |= {i - 1, i + 1}
        if used != {i for i, line in enumerate(program) if line[0] == "feed_sync"}:
            raise Wrong(f"feed_sync is not beside a call on {kind}")

    @staticmethod
    def settles(words, kernels):
        """Directly behind each call of a kernel that leaves its pipes busy they are drained."""
        calls = [i for i, word in enumerate(words) if word == "call"]
        for i, kernel in zip(calls, kernels):
            if kernel.undrained and words[i + 1:i + 2] != ["pipe_barrier"]:
                raise Wrong("a call of an undrained kernel is not drained")

    def step(self, core):
        """Executes one instruction, or says that the core waits or has ended."""
        if not core.steps:
            program = self.entry.programs.get(core.kind, [])
            if core.at == len(program):
                return False
            core.steps = deque(self.expand(core.kind, program[core.at], core))
            core.at += 1
            return True
        if not self.execute(core, core.steps[0]):
            return False
        core.steps.popleft()
        return True

    def expand(self, kind, line, core=None):
        if line[0] == "feed_sync":
            return [line] if core else []
        if line[0] != "call":
            return [line]
        op, rest, steps = line[3], line[6:], []
        inside = core and self.includes(op, core)
        if inside:
            steps.append(["begin", op])
        if "early_wait" in rest:
            steps += self.early(kind, rest[rest.index("early_wait") + 1], self.called[op])
        if inside:
            steps += [["part", op], ["end", op]]
        elif core:
            steps.append(["left out", op])
        if "early_set" in rest:
            steps.append(["arrive", op if inside else None, kind])
        return steps

    def early(self, own, previous, kernel):
        other = "aiv" if own == "aic" else "aic"
        names = ("c2v", "v2c") if own == "aic" else ("v2c", "c2v")
        steps = []
        if previous in (own, "mix"):
            steps.append(["await", own])
            if kernel.on(other):
                steps.append(["set", names[0]])
        if previous in (other, "mix"):
            steps.append(["wait", names[1]])
        return steps

    def partners(self, core):
        other = "aiv" if core.kind == "aic" else "aic"
        if other == "aic" and not self.cores["aic"]:
            raise Wrong("an AIV without AIC executes a flag instruction")
        return [c for c in self.cores[other] if c.block == core.block]

    def execute(self, core, line):
        return getattr(self, "do_" + line[0].replace(" ", "_"), self.nothing)(core, line)

    def nothing(self, core, line):
        return True

    def do_pipe_barrier(self, core, line):
        core.drain()
        return True

    def do_dcci(self, core, line):
        core.clean |= core.known
        return True

    def do_arrive(self, core, line):
        pending = core.pending
        if len(line) > 2 and line[1] and "reads_done" not in self.called[line[1]].early:
            pending &= ~self.bit("r", line[1], core.kind, core.index)
        core.arrivals.append(core.known | pending)
        if len(core.arrivals) - core.awaited > 15:
            raise Wrong(f"{core.kind} {core.index} arrives for the sixteenth time ahead")
        return True

    def do_await(self, core, line):
        everyone = self.cores[core.kind]
        if any(len(other.arrivals) <= core.awaited for other in everyone):
            return False
        for other in everyone:
            core.known |= other.arrivals[core.awaited]
        core.pending &= ~core.known
        core.awaited += 1
        return True

    def room(self, core, other):
        """Whether the core knows that one release more is not the sixteenth."""
        key = core.kind, core.index, other.index
        count = len(self.flags.setdefault(key, [[], 0])[0]) + 1
        if count > 15 and not core.known & self.bit("took", key, count - 15):
            raise Wrong(f"{core.kind} {core.index} sets a flag for the sixteenth time")
        return self.flags[key][0]

    def do_set(self, core, line):
        for other in self.partners(core):
            self.room(core, other).append(core.known)
        return True

    def do_wait(self, core, line):
        keys = [(other.kind, other.index, core.index) for other in self.partners(core)]
        flags = [self.flags.setdefault(key, [[], 0]) for key in keys]
        if any(len(sets) <= taken for sets, taken in flags):
            return False
        for key, flag in zip(keys, flags):
            core.known |= flag[0][flag[1]]
            flag[1] += 1
            core.known |= self.bit("took", key, flag[1])
        return True

    def do_begin(self, core, line):
        """Where a call begins: what counts for a kernel that reads before it has waited."""
        op = line[1]
        if "reads_late" not in self.called[op].early:
            self.knows(core, op, self.demands.uses)
            for events in self.demands.told.get(op, ()):
                if not any(core.known & self.bit("event", event) for event in events):
                    raise Wrong(f"{op} begins before it knows any of the events {events}")
        for needed in self.demands.reads.get(op, ()):
            if not any(self.is_clean(core, one) for one in needed):
                self.stale.add(op)
        return True

    def is_clean(self, core, needed):
        wanted = self.complete["w", needed[1]] if needed[0] == "op" else self.bit(*needed)
        return wanted & ~core.clean == 0

    def knows(self, core, op, before):
        for other in before.get(op, ()):
            how = "r" if other in self.demands.overwrites.get(op, ()) else "w"
            if self.complete[how, other] & ~(core.known | core.returned()):
                what = "to have read" if how == "r" else "to be complete"
                raise Wrong(f"{op} on {core.kind} {core.index} does not know {other} {what}")

    def do_part(self, core, line):
        op = line[1]
        if core.pending & core.busy:
            raise Wrong(f"{op} on {core.kind} {core.index}: the call before is not drained")
        self.knows(core, op, self.demands.before)
        for event in self.demands.waits.get(op, ()):
            if not core.known & self.bit("event", event):
                raise Wrong(f"{op} on {core.kind} {core.index} does not know event {event}")
        self.first_release(core, op)
        core.busy = self.bit("w", op, core.kind, core.index)
        read = self.bit("r", op, core.kind, core.index)
        core.pending |= core.busy | read
        core.calls.append((core.busy, read))
        self.begun.add((op, core))
        return True

    def first_release(self, core, op):
        """Of v2c, by the first full barrier of a kernel."""
        kernel = self.called[op]
        if kernel.sync_all and min(kernel.shape) and core.kind == "aiv":
            for other in self.partners(core):
                self.room(core, other)

    def do_left_out(self, core, line):
        if self.called[line[1]].sync_all:
            self.first_release(core, line[1])
        return True

    def do_end(self, core, line):
        """The parts of a mixed kernel may wait for each other inside of it, those of one with
        full barriers for all others, and for the cores that take part in them."""
        op, kernel = line[1], self.called[line[1]]
        others = self.inside[op]
        if not kernel.sync_all:
            others = self.partners(core) if min(kernel.shape) else []
        if any((op, other) not in self.begun for other in others if self.includes(op, other)):
            return False
        return not kernel.sync_all or all((op, other) in self.there for other in self.outside[op])

    def do_feed_sync(self, core, line):
        """`complement` waits for the cores of the call, as these wait for it."""
        all_clear = self.bits(("clear", core.kind, other.index) for other in self.cores[core.kind])
        self.feeding.add(core.kind)
        if all_clear & ~core.known:
            raise Wrong(f"{core.kind} {core.index} feeds, the workspace may not be clear")
        op = self.beside(core)
        if self.includes(op, core):
            if line[1] == "end":
                self.ended.add((op, core))
        elif line[1] == "complement":
            self.there.add((op, core))
            return all((op, other) in self.ended for other in self.inside[op]
                       if other.kind == core.kind)
        return True

    def beside(self, core):
        """The call beside the step of feed_sync that a core is at."""
        program = self.entry.programs[core.kind]
        at = core.at - 1
        way = 1 if program[at][1] == "begin" else -1
        while program[at][0] != "call":
            at += way
        return program[at][3]

    def do_clear_workspace(self, core, line):
        if core.kind in self.feeding:
            raise Wrong(f"{core.kind} {core.index} clears the workspace that others work with")
        core.known |= self.bit("clear", core.kind, core.index)
        return True

    def do_wait_event(self, core, line):
        if core.index == 0:
            if line[1] in self.waited:
                raise Wrong(f"event {line[1]} is waited for twice")
            self.waited.add(line[1])
            core.known |= self.bit("event", line[1])
        return True

    def do_notify(self, core, line):
        if core.index == 0:
            self.notified.append((line[1], core.known))
        return True

    def do_reset(self, core, line):
        if core.index == 0:
            if not core.known & self.bit("event", line[1]):
                raise Wrong(f"event {line[1]} is reset before the wait for it is over")
            self.reset.append(line[1])
        return True


def check_counts(device, entry):
    """What is checked anywhere is counted everywhere: in turns, a count and what it is of. Each
    check has one wait before it that no other has."""
    for giver, taker, word, give, take, count, check in (
            ("aic", "aic", "aic", "arrive", "await", "count_arrive", "check_await"),
            ("aiv", "aiv", "aiv", "arrive", "await", "count_arrive", "check_await"),
            ("aic", "aiv", "c2v", "set", "wait", "count_set", "check_wait"),
            ("aiv", "aic", "v2c", "set", "wait", "count_set", "check_wait")):
        def said(kind, words):
            steps = (step for line in entry.programs.get(kind, []) for step in device.expand(kind, line))
            return [step[0] for step in steps if step[0] in words and step[-1] == word]
        taken = said(taker, (take, check))
        given = said(giver, (count, give))
        if check not in taken:
            continue
        if given != [count, give] * (len(given) // 2):
            raise Wrong(f"{giver} counts {word} otherwise than it gives")
        waits = 0
        for number, step in enumerate(taken):
            waits += step == take
            if step == check and waits != taken[:number + 1].count(check):
                raise Wrong(f"{taker} checks {word} otherwise than it waits")


def prove(entry, kernels, demands):
    """Raises Wrong where the entry does not enforce what it must; gives the ops that may read what
    is old from their caches."""
    device = Device(entry, kernels, demands)
    device.run()
    check_counts(device, entry)
    for op, events in demands.sends.items():
        for event in events:
            knowing = [known for name, known in device.notified if name == event]
            if len(knowing) != 1 or device.complete["w", op] & ~knowing[0]:
                raise Wrong(f"event {event} is sent before {op} is complete, or not")
    for op, needed in demands.tells.items():
        for events in needed:
            known = [known for event, known in device.notified if event in events]
            if all(device.complete["r", op] & ~told for told in known):
                raise Wrong(f"one of the events {events} is sent before {op} has read all")
    for event, told in demands.circles:
        if any(name == told and known & device.bit("event", event)
               for name, known in device.notified):
            raise Wrong(f"event {event} is waited for before {told} is sent, for which it waits")
    awaited = {event for events in demands.waits.values() for event in events}
    if sorted(device.reset) != sorted(awaited):
        raise Wrong("an event that was waited for is not reset once")
    if len(device.notified) != sum(map(len, demands.sends.values())):
        raise Wrong("an event is sent that no op sends")
    return device.stale
