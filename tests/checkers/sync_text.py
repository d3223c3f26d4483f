"""Reads modules in canonical form: kernels, graphs with their orders and accesses to memory, launches and entries.

It reads what tests/checkers/sync_entries.py writes and what `skirc opt` prints of it, by docs/language.md; no more of the language.
"""

import collections
import re

SHAPES = {"aic_only": (1, 0), "mix_aic_1_0": (1, 0), "aiv_only": (0, 1), "mix_aiv_1_0": (0, 1), "mix_aic_1_1": (1, 1),
          "mix_aic_1_2": (1, 2)}  # kernel type: AICs and AIVs of a block
VIEWS = ("Identity", "Reshape")

Kernel = collections.namedtuple("Kernel", "name type block early sync_all undrained scalar_reads dynamic")
Instruction = collections.namedtuple("Instruction", "word args line")


class Op:
    """An op of a graph: what it reads and writes, its place in the text, and the launch that it is of."""

    def __init__(self, line, stream, kernels, label):
        match = re.match(r"(?:(%[\w.]+) = )?(\w+)\((.*?)\)(.*)", line)
        self.result, self.type, operands, rest = match.groups()
        self.name = self.result or label(self.type)
        self.operands = re.findall(r"%[\w.]+", operands)
        self.stream = stream
        via = re.search(r" via @(\w+)", rest)
        self.kernel = kernels.get(via.group(1)) if via else None
        self.view = self.type in VIEWS and not via
        self.after = re.findall(r"%[\w.]+", (re.search(r" after \((.*?)\)", rest) or [0, ""])[1])
        self.send, self.recv = clauses(rest)
        numbers = lambda key: [int(n) for n in re.findall(r"\d+", (re.search(key + r" = \[(.*?)\]", rest) or [0, ""])[1])]
        self.inplace = numbers("inplace")
        self.alias = 0 if self.view else (numbers("alias") or [None])[0]
        self.place = address(re.search(r"results = \[(\[.*?\])\]", rest))
        self.workspace = address(re.search(r"workspace = \[(\[.*?\])\]", rest))
        self.writes = re.findall(r'writes = \["(\w+)"\]', rest)
        self.reads = re.findall(r'reads = \["(\w+)"\]', rest)
        self.no_cores = "no_cores" in rest
        self.launch = None


def address(match):
    """`[pool, OFFSET, LENGTH]` as (pool, first byte, last byte); tensors are f32[16]."""
    if match is None:
        return None
    words = re.findall(r"\w+", match.group(1))
    return words[0], int(words[1]), int(words[1]) + (int(words[2]) if len(words) > 2 else 64) - 1


def clauses(text):
    lists = [re.search(rf" {word} \[(.*?)\]", text) for word in ("send", "recv")]
    return [re.findall(r"[\w.]+", match.group(1)) if match else [] for match in lists]


class Launch:
    """A super kernel, or an op in none."""

    def __init__(self, name, stream, send, recv):
        self.name, self.stream, self.send, self.recv = name, stream, send, recv
        self.ops, self.entry, self.number = [], None, 0


class Module:
    """A module in canonical form, of which `skirc opt` prints one item a line."""

    def __init__(self, text):
        self.kernels, self.ops, self.launches, self.entries = {}, [], [], {}
        self.aic, self.aiv, self.places = 24, 48, {}
        lines = [line.strip() for line in re.sub(r"\n    ->", " ->", text).split("\n")]
        stack, labels, supers, program = [], collections.Counter(), {}, None

        def label(type):
            labels[type] += 1
            return type if labels[type] == 1 else f"{type}_{labels[type] - 1}"

        for number, line in enumerate(lines):
            if line.startswith("target"):
                self.aic, self.aiv = (int(re.search(key + r" = (\d+)", line)[1]) for key in ("aic", "aiv"))
            elif line.startswith("kernel"):
                body = "\n".join(lines[number:number + lines[number:].index("}")])
                flag = lambda word: bool(re.search(rf"^{word},?$", body, re.M))
                early = re.search(r"early_start = \[(.*?)\]", body)
                reads = re.search(r"scalar_reads = \[(.*?)\]", body)
                name, type = re.match(r"kernel @(\w+) : (\w+)", line).groups()
                block = re.search(r"^block = (\d+)", body, re.M)
                self.kernels[name] = Kernel(
                    name, type, int(block[1]) if block else 0, early[1].split(", ") if early else [], flag("sync_all"),
                    flag("undrained"), [int(n) for n in re.findall(r"\d+", reads[1])] if reads else [], flag("dynamic"))
                stack.append(("kernel", None))
            elif line.startswith("graph"):
                for value, place in re.findall(r"(%\w+): [^%{]*\{address = (\[.*?\])\}", line):
                    self.places[value] = address(re.match("(.*)", place))
                stack.append(("graph", None))
            elif line.startswith("entry"):
                name, type, block = re.match(r"entry @(\w+) : (\w+) \{block = (\d+)", line).groups()
                entry = self.entries[name] = Entry(name, type, int(block), "workspace = " in line)
                stack.append(("entry", None))
            elif line in ("aic {", "aiv {"):
                program = entry.programs.setdefault(line[:3], [])
                stack.append(("program", None))
            elif line == "}":
                stack and stack.pop()
            elif stack and stack[-1][0] == "program":
                words = line.split()
                program.append(Instruction(words[0], words[1:], number))
            elif line.startswith("superkernel"):
                name = re.match(r"superkernel @(\w+)", line)[1]
                if name not in supers:
                    stream = re.search(r'stream = "(\w+)"', line)
                    supers[name] = Launch(name, stream[1] if stream else "0", *clauses(re.sub(r"\{.*?\}", "", line)))
                stack.append(("superkernel", supers[name]))
            elif line.startswith("stream"):
                stack.append(("stream", re.match(r'stream "(\w+)"', line)[1]))
            elif line.startswith("scope"):
                stack.append(("scope", None))
            elif stack and stack[0][0] == "graph" and line and not line.startswith("return"):
                streams = [what for kind, what in stack if kind == "stream"]
                op = Op(line, streams[-1] if streams else "0", self.kernels, label)
                inner = [(kind, what) for kind, what in stack if kind in ("superkernel", "scope")]
                self.ops.append(op)
                if not op.view:
                    op.launch = inner[-1][1] if inner and inner[-1][0] == "superkernel" else None
                    if op.launch is None:
                        op.launch = Launch(op.name, op.stream, op.send, op.recv)
                    if op.launch not in self.launches:
                        self.launches.append(op.launch)
                    op.launch.ops.append(op)
        for number, launch in enumerate(self.launches):
            launch.number = number
            if launch.name in self.entries:
                launch.entry = self.entries[launch.name]
        self.find_accesses()

    def find_accesses(self):
        """What ops access, as ((buffer, first byte, last byte), writes, op that defines the memory), and ops that define values."""
        self.definer, root = {}, {}
        for op in self.ops:
            if op.result:
                joined = op.operands[op.alias] if op.alias is not None else op.result
                root[op.result] = root.get(joined, joined)
                if op.place:
                    self.places[root[op.result]] = op.place
                self.definer[op.result] = self.definer.get(op.operands[0]) if op.view else op
        bytes_of = lambda value: self.places.get(root.get(value, value), (root.get(value, value), 0, 63))
        for op in self.ops:
            op.accesses = [] if op.view else [(bytes_of(value), i in op.inplace, self.definer.get(root.get(value, value)))
                                              for i, value in enumerate(op.operands)]
            op.roots = {root.get(value, value) for value in op.operands}
            op.write_roots = {root.get(op.operands[i], op.operands[i]) for i in op.inplace}
            if op.result and op.alias is None:
                op.accesses.append((bytes_of(op.result), True, op))
            if op.workspace:
                op.accesses.append((op.workspace, True, None))
            op.accesses += [((name, 0, 1 << 40), False, None) for name in op.reads]
            op.accesses += [((name, 0, 1 << 40), True, None) for name in op.writes]

    def orders(self):
        """Pairs of ops that the graph orders, each with what demands it: data, memory or order (docs/language.md, Order)."""
        found = collections.defaultdict(set)
        senders, last = collections.defaultdict(list), {}
        for launch in self.launches:
            streams = {op.stream: op for op in launch.ops}
            for event in launch.send:
                senders[event] += streams.values()
        for op in self.ops:
            for event in op.send if op.launch and op.launch.ops != [op] else []:
                senders[event].append(op)
        started = set()
        ops = [op for op in self.ops if not op.view]
        for i, op in enumerate(ops):
            for value in op.operands:
                if self.definer.get(value):
                    found[self.definer[value], op].add("data")
            for value in op.after:
                if self.definer.get(value):
                    found[self.definer[value], op].add("order")
            if op.stream in last:
                found[last[op.stream], op].add("order")
            last[op.stream] = op
            events = list(op.recv)
            if (op.launch, op.stream) not in started:
                events += op.launch.recv
            started.add((op.launch, op.stream))
            for event in events:
                for sender in senders[event]:
                    found[sender, op].add("order")
            for other in ops[:i]:
                shared = other.roots & op.roots
                written = op.write_roots | other.write_roots
                buffers = set(op.writes + other.writes) & set(op.reads + op.writes) & set(other.reads + other.writes)
                if shared & written or buffers:
                    found[other, op].add("memory")
        return found

    def overlaps(self):
        """Pairs of ops, in the order of the text, that access one byte which one of them writes, by other means than a result of
        one whose memory is an operand of the other: that is an order by data."""
        ops = [op for op in self.ops if not op.view]
        for i, op in enumerate(ops):
            for other in ops[:i]:
                if any(a[0] == b[0] and a[1] <= b[2] and b[1] <= a[2] and (v or w) and not (other is of_b and of_a is of_b)
                       for a, v, of_a in other.accesses for b, w, of_b in op.accesses):
                    yield other, op


# ---- Entries ----


class Entry:
    def __init__(self, name, type, block, workspace):
        self.name, self.type, self.block, self.workspace = name, type, block, workspace
        self.programs = {}
        aics, aivs = SHAPES[type]
        self.cores = [("aic", b, b) for b in range(block * aics)]
        self.cores += [("aiv", b * aivs + s, b) for b in range(block) for s in range(aivs)]  # type, number, block


def includes(kernel, blocks, core):
    """Does a call run on this core? (docs/device-model.md, Calls)"""
    kind, number, block = core
    aics, aivs = SHAPES[kernel.type]
    if not aics:
        return kind == "aiv" and number < blocks
    return block < blocks and (kind == "aic" or aivs > 0)


def early_wait(kind, previous, kernel):
    """What a kernel awaits in the place of the entry (docs/device-model.md, What waits are)."""
    on = {"aic": SHAPES[kernel.type][0] > 0, "aiv": SHAPES[kernel.type][1] > 0}
    before = {"aic": previous in ("aic", "mix"), "aiv": previous in ("aiv", "mix")}
    other = "aiv" if kind == "aic" else "aic"
    if not on[kind]:
        return []
    steps = ["await"] if before[kind] else []
    if before[kind] and on[other]:
        steps.append("set")
    if before[other]:
        steps.append("wait")
    return steps
