"""What entries do, from docs/language.md and docs/device-model.md alone: a reader of entries, and a
device that executes them by name, on which each core knows which parts of ops are complete."""

import re
from collections import defaultdict, deque

SHAPES = {"mix_aic_1_0": (1, 0), "aic_only": (1, 0), "mix_aiv_1_0": (0, 1), "aiv_only": (0, 1),
          "mix_aic_1_1": (1, 1), "mix_aic_1_2": (1, 2)}


class Wrong(Exception):
    """What an entry does wrong."""


class Entry:
    def __init__(self, name, type, block, groups, programs):
        self.name, self.shape, self.block = name, SHAPES[type], block
        self.groups, self.programs = groups, programs


def read_kernels(text):
    found = re.findall(r"^kernel @(\w+) : (\w+) \{(.*?)^\}", text, re.M | re.S)
    return {name: (SHAPES[type], int(re.search(r"\bblock = (\d+)", attrs)[1]))
            for name, type, attrs in found}


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
    def __init__(self, kind, block, sub, index):
        self.kind, self.block, self.sub, self.index = kind, block, sub, index
        self.at, self.steps = 0, deque()
        self.known, self.pending = set(), set()
        self.arrivals, self.awaited = [], 0

    def drain(self):
        self.known |= self.pending
        self.pending = set()


class Device:
    """A launch of an entry. `before` has for each op those that must be complete, `waits` for each
    op the events from outside that it waits for."""

    def __init__(self, entry, kernels, before, waits, first):
        self.entry, self.kernels, self.before, self.waits = entry, kernels, before, waits
        aics, self.aivs = entry.shape
        self.cores = {"aic": [Core("aic", b, 0, b) for b in range(entry.block * aics)],
                      "aiv": [Core("aiv", b, s, b * self.aivs + s)
                              for b in range(entry.block) for s in range(self.aivs)]}
        self.flags = defaultdict(deque)
        self.first = first
        self.called, self.notified, self.waited, self.reset = {}, [], set(), []
        self.parts, self.begun = {}, set()

    def includes(self, kernel, core):
        (aics, aivs), blocks = self.kernels[kernel]
        if not aics:
            return core.kind == "aiv" and core.index < blocks
        return core.block < blocks and (core.kind == "aic" or aivs > 0)

    def all_parts(self, op):
        kernel = self.called[op]
        return {(op, core.kind, core.index) for kind in ("aic", "aiv") for core in self.cores[kind]
                if self.includes(kernel, core)}

    def run(self):
        seen = set()
        for kind, program in self.entry.programs.items():
            for line in program:
                if line[0] == "call":
                    if (kind, line[3]) in seen:
                        raise Wrong(f"{line[3]} is called twice on {kind}")
                    seen.add((kind, line[3]))
                    kernel = re.sub(r"\.ai[cv]$", "", line[1][1:])
                    self.called[line[3]] = kernel
                    if int(line[5]) != self.kernels[kernel][1]:
                        raise Wrong(f"{line[3]} on {line[5]} blocks")
        if set(self.called) != set(self.entry.groups):
            raise Wrong(f"{set(self.entry.groups) - set(self.called)} are not called")
        self.parts = {op: self.all_parts(op) for op in self.called}
        for op in self.called:
            if not self.parts[op]:
                raise Wrong(f"{op} runs nowhere")
        order = self.cores[self.first] + self.cores["aiv" if self.first == "aic" else "aic"]
        moved = True
        while moved:
            moved = False
            for core in order:
                while self.step(core):
                    moved = True
        for core in order:
            if core.steps or core.at < len(self.entry.programs.get(core.kind, [])):
                raise Wrong(f"{core.kind} {core.index} is blocked at instruction {core.at}")
        if any(self.flags.values()):
            raise Wrong("a flag is left set")
        if any(len(core.arrivals) != core.awaited for core in order):
            raise Wrong("an arrival is not awaited")
        done = {part for core in order for part in core.known | core.pending}
        for op, parts in self.parts.items():
            if not parts <= done:
                raise Wrong(f"{op} is not called on {parts - done}")

    def step(self, core):
        """Executes one instruction, or says that the core waits or has ended."""
        if not core.steps:
            program = self.entry.programs.get(core.kind, [])
            if core.at == len(program):
                return False
            core.steps = deque(self.expand(core, program[core.at]))
            core.at += 1
            return True
        if not self.execute(core, core.steps[0]):
            return False
        core.steps.popleft()
        return True

    def expand(self, core, line):
        if line[0] != "call":
            return [line]
        steps, rest = [], line[6:]
        if "early_wait" in rest:
            steps = self.early(core, rest[rest.index("early_wait") + 1], self.called[line[3]])
            steps.append(["early_drain"])
        if self.includes(self.called[line[3]], core):
            steps += [["part", line[3]], ["end", line[3]]]
        if "early_set" in rest:
            steps.append(["arrive", core.kind])
        return steps

    def early(self, core, previous, kernel):
        own, other = ("aic", "aiv") if core.kind == "aic" else ("aiv", "aic")
        here = self.kernels[kernel][0][0 if other == "aic" else 1]
        names = {"aic": ("c2v", "v2c"), "aiv": ("v2c", "c2v")}[own]
        steps = []
        if previous in (own, "mix"):
            steps.append(["await", own])
            if here:
                steps.append(["set", names[0]])
        if previous in (other, "mix"):
            steps.append(["wait", names[1]])
        return steps

    def partners(self, core):
        other = "aiv" if core.kind == "aic" else "aic"
        return [c for c in self.cores[other] if c.block == core.block]

    def execute(self, core, line):
        word = line[0]
        if word == "part":
            self.part(core, line[1])
        elif word == "end":
            # The parts of a mixed kernel may wait for each other inside of it.
            kernel = self.called[line[1]]
            if any((line[1], other.kind, other.index) not in self.begun
                   for other in self.partners(core)
                   if min(self.kernels[kernel][0]) and self.includes(kernel, other)):
                return False
        elif word in ("pipe_barrier", "early_drain"):
            core.drain()
        elif word == "arrive":
            core.arrivals.append(core.known | core.pending)
            if len(core.arrivals) - core.awaited > 15:
                raise Wrong(f"{core.kind} {core.index} arrives for the sixteenth time ahead")
        elif word == "await":
            everyone = self.cores[core.kind]
            if any(len(other.arrivals) <= core.awaited for other in everyone):
                return False
            core.drain()
            for other in everyone:
                core.known |= other.arrivals[core.awaited]
            core.awaited += 1
        elif word == "set":
            for other in self.partners(core):
                flag = self.flags[core.kind, core.index, other.index]
                flag.append(set(core.known))
                if len(flag) > 15:
                    raise Wrong(f"{core.kind} {core.index} sets a flag for the sixteenth time")
        elif word == "wait":
            flags = [self.flags[other.kind, other.index, core.index]
                     for other in self.partners(core)]
            if not all(flags):
                return False
            for flag in flags:
                core.known |= flag.popleft()
        elif word in ("notify", "wait_event", "reset") and core.index == 0:
            self.event(core, word, line[1])
        return True

    def part(self, core, op):
        if core.pending:
            raise Wrong(f"{op} on {core.kind} {core.index}: {core.pending} is not drained")
        for other in self.before.get(op, ()):
            if other in self.parts and not self.parts[other] <= core.known:
                raise Wrong(f"{op} on {core.kind} {core.index} does not know {other}")
        for event in self.waits.get(op, ()):
            if ("event", event) not in core.known:
                raise Wrong(f"{op} on {core.kind} {core.index} does not know event {event}")
        core.pending.add((op, core.kind, core.index))
        self.begun.add((op, core.kind, core.index))

    def event(self, core, word, event):
        if word == "wait_event":
            if event in self.waited:
                raise Wrong(f"event {event} is waited for twice")
            self.waited.add(event)
            core.known.add(("event", event))
        elif word == "notify":
            self.notified.append((event, core.known | set()))
        else:
            self.reset.append((event, set(core.known)))


def prove(entry, kernels, before, waits, sends):
    """Raises Wrong where the entry does not enforce what it must."""
    for first in ("aic", "aiv"):
        device = Device(entry, kernels, before, waits, first)
        device.run()
        for op, events in sends.items():
            for event in events:
                knowing = [known for name, known in device.notified if name == event]
                if len(knowing) != 1 or not device.parts[op] <= knowing[0]:
                    raise Wrong(f"event {event} is sent before {op} is complete, or not")
        awaited = {event for events in waits.values() for event in events}
        if sorted(event for event, _ in device.reset) != sorted(awaited):
            raise Wrong("an event that was waited for is not reset once")
        if len(device.notified) != sum(map(len, sends.values())):
            raise Wrong("an event is sent that no op sends")
