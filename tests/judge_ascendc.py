"""What the source of entries for the NPU must do, from docs/ascend.md, docs/device-model.md and
docs/language.md alone: what each core does, as the entry says, and what compile info says of it."""

import re

import judge_entries
from ascendc_core import FEED, MANY, SLOT, TASK, TRACED, Core, Ends, Function, Place, Pointer, World
from ascendc_source import Source
from judge_entries import KINDS, Wrong

TYPES = ("aic", "aiv", "mix")


class Kernel(judge_entries.Kernel):
    """A kernel with its variants: key, shape, and a function by core type."""

    def __init__(self, type, attrs):
        self.shape = judge_entries.SHAPES[type]
        block = re.search(r"\bblock = (\d+)", attrs)
        self.block = int(block[1]) if block else None
        self.variants = {}
        listed = re.search(r"variants = \[(.*)\]", attrs)
        for one in re.findall(r"\{(.*?)\}", listed[1] if listed else ""):
            words = dict(re.findall(r'(\w+) = "?(\w+)"?', one))
            self.variants[int(words["key"])] = judge_entries.SHAPES[words["type"]], words
        function = re.search(r'\bfunction = (?:"(\w+)"|\{aic = "(\w+)", aiv = "(\w+)"\})', attrs)
        self.functions = {}
        if function:
            self.functions = {"aic": function[2], "aiv": function[3]} if function[2] else \
                {kind: function[1] for kind in KINDS if self.on(kind)}

    def type(self):
        return TYPES[2 if min(self.shape) else int(self.shape[1] > 0)]


def read_kernels(text):
    found = re.findall(r"^kernel @([\w.$-]+) : (\w+) \{(.*?)^\}", text, re.M | re.S)
    return {name: Kernel(type, attrs) for name, type, attrs in found}


class Entry(judge_entries.Entry):
    """An entry with its attributes, and the numbers of its slots. Names are plain words."""

    def __init__(self, name, type, attrs, body, first):
        parts = re.findall(r"^  (aic|aiv) \{\n(.*?)^  \}", body, re.M | re.S)
        programs = {kind: [line.split() for line in lines.splitlines()
                           if not line.lstrip().startswith("//")] for kind, lines in parts}
        numbers = dict(re.findall(r"\b(\w+) = (\d+)", attrs))
        super().__init__(name, type, int(numbers["block"]), {}, programs)
        self.type, self.split = type, int(numbers.get("split", 1))
        self.align, self.dump = int(numbers.get("align", 512)), bool(re.search(r"\bdump\b", attrs))
        self.size = int(numbers.get("workspace", 0))
        self.begin, self.words = {}, {}
        slot = first
        for group, listed in re.findall(r"^  args (?:(\S+) = )?\[(.*)\]$", body, re.M):
            words = re.findall(r"\[.*?\]|[^,\[\]]+", listed)
            words = [word.strip() for word in words if word.strip()]
            if group:
                self.begin[group], self.groups[group] = slot, words
            for word in words:
                self.words.setdefault((group, word), slot)
                slot += 1
        self.behind = slot

    def slot(self, word, group=None):
        """The slot of a word of a group; of an event, of any."""
        found = [slot for (name, one), slot in self.words.items()
                 if one == word and (group is None or name == group)]
        if not found:
            raise Wrong(f"entry {self.name} has no slot {word}")
        return found[0]

    def mixed(self):
        return min(self.shape) > 0


def read_entries(text, first):
    found = re.findall(r'^entry @("[^"]*"|\S+) : (\w+) \{([^\n]*)\} \{\n(.*?)^\}', text,
                       re.M | re.S)
    return [Entry(*one, first) for one in found]


def listed(group, words, how):
    return [word.split()[1] for word in words if word.startswith(how + " ")]


class Says:
    """What an entry says that a core does, in the words of Core."""

    def __init__(self, entry, kernels, info, place, tilings):
        self.entry, self.kernels, self.info, self.place = entry, kernels, info, place
        self.tilings, self.world = tilings, place.world
        self.program = entry.programs.get(place.kind, [])
        self.list, self.did, self.records = list(entry.groups), [], 0
        self.fed, self.line = None, None
        self.feeds = any(line[0] in ("feed_sync", "clear_workspace") for line in self.program)

    def do(self, *what):
        self.did.append(what)

    def record(self, head):
        """The first record of a launch has its task, the others what they are about."""
        world = self.world
        if world.area is not None and world.room > self.records and world.magic:
            self.do("record", self.records, head)
            self.records += 1

    def run(self):
        if self.world.has_base() and self.world.base:
            self.do("base", (0, 0))
        if self.entry.dump:
            self.do("dump", self.entry.mixed(),
                    (self.entry.slot("sync_workspace", ""), self.entry.size), 0)
        if any(line[0] == "profile" for line in self.program):
            number = self.place.index + (50 if self.place.kind == "aic" else 0)
            self.record(TASK << 32 | number << 8 | 0xff)
        self.begin_trace()
        try:
            for at, line in enumerate(self.program):
                getattr(self, "do_" + line[0])(at, line)
        except Ends:
            pass
        return self.did

    # The trace

    def begin_trace(self):
        words = ("trace", "count_arrive", "count_set", "check_await", "check_wait")
        if self.world.tracing is None or not self.world.traced or \
                all(line[0] not in words for line in self.program):
            return
        self.line = dict.fromkeys((0, 1, 2, 4, 5, 6, 7), 0)
        self.write(0, (self.place.kind == "aiv") << 48 | self.place.index << 32 | TRACED)

    def write(self, at, word):
        self.line[at] = word
        self.do("line", dict(self.line))

    def do_trace(self, at, line):
        if self.line:
            self.line[2] += 1
            self.write(1, int(line[2]) << 32 | int(line[1]))

    def do_count_arrive(self, at, line):
        """It is drained that the count is there before what it counts happens."""
        if self.line:
            self.write(4, self.line[4] + (1 << 32 * (line[0] == "count_set")))
            self.do("pipe_barrier")

    do_count_set = do_count_arrive

    def do_check_await(self, at, line):
        """A barrier is checked on all cores of the type, a flag on those of the AI core."""
        if not self.line:
            return
        flag, own, block = line[0] == "check_wait", self.place.kind == "aiv", self.place.block
        self.write(5, self.line[5] + (1 << 32 * flag))
        aivs = self.entry.shape[1]
        cores = range(self.entry.block * (aivs if own else 1))
        if flag:
            cores = [block] if own else range(block * aivs, (block + 1) * aivs)
        for core in cores:
            self.check(flag, own ^ flag, core)

    do_check_wait = do_check_await

    def check(self, flag, type, core):
        """The line of one core, which has counted too little where it is behind."""
        self.do("check", int(flag), type * self.place.aics + core)
        mine = type == (self.place.kind == "aiv") and core == self.place.index
        counted = 0 if self.world.behind else MANY
        expected = self.line[5] >> 32 * flag & 0xffffffff
        counted = self.line[4] >> 32 * flag & 0xffffffff if mine else counted
        if counted < expected:
            self.line[6], self.line[7] = counted << 32 | expected, type << 16 | core
            self.write(0, self.line[0] | (flag + 1) << 56)
            self.do("trap")
            raise Ends

    # What a core calls

    def kernel(self, word):
        return self.kernels[re.sub(r"\.ai[cv]$", "", word[1:])]

    def includes(self, shape, blocks):
        if not shape[0]:
            return self.place.kind == "aiv" and self.place.index < blocks
        return self.place.block < blocks

    def calls(self, line):
        return self.includes(self.kernel(line[1]).shape, int(line[5]))

    def names(self, group):
        return self.info["sub_operator"][self.list.index(group)]["sub_kernel_names"]

    def function(self, kernel, group):
        names = self.names(group)
        kinds = [kind for kind in KINDS if kernel.on(kind)]
        copy = self.place.physical % self.entry.split
        if not names and not kernel.functions:  # has none but in the source
            return Function(f"skir_kernel_{list(self.kernels.values()).index(kernel)}"
                            f"_{self.place.kind}" + (f"_split{copy}" if copy else ""))
        if len(names) != len(kinds) * self.entry.split:
            raise Wrong(f"compile info has the symbols {names} of {group}")
        found = names[copy * len(kinds) + kinds.index(self.place.kind)]
        function = kernel.functions.get(self.place.kind)
        copies = f"_split{copy}" if copy else ""
        if function and not re.fullmatch(rf"({function}(_k\d+)?|skir_function_\d+_\d+){copies}",
                                         found):
            raise Wrong(f"compile info has the symbol {found} for a copy of {function}")
        return Function(found)

    # Instructions

    def do_call(self, at, line):
        kernel, group, rest = self.kernel(line[1]), line[3], line[6:]
        if kernel.variants:
            return self.call_selected(line)
        config = None
        early = "early_wait" in rest and rest[rest.index("early_wait") + 1]
        if early:
            config = 4 * TYPES.index(early) + TYPES.index(kernel.type())
        if self.calls(line):
            self.call(self.function(kernel, group), group, config, None)
            return None
        if early:
            self.do("early wait", config)
        if "early_set" in rest:
            self.do("early set")
        return None

    def call(self, function, group, config, blocks):
        wanted = {}
        if config is not None:
            wanted["g_super_kernel_early_start_config"] = config
        if blocks is not None:
            wanted["g_super_kernel_dynamic_block_num"] = blocks
        if self.feeds:
            wanted[FEED + "Enable"] = int(self.fed is not None)
            wanted[FEED + "ConfigGmBaseAddr"] = self.entry.slot("sync_workspace", ""), 0
        if self.fed is not None:
            wanted[FEED + "SyncIdx"], wanted[FEED + "ConfigGmAddr"] = 0, self.fed
        self.do("call", function, self.entry.begin[group], wanted)

    def waits_early(self, line):
        """The type of the op that a call waits for early, or None."""
        return line[line.index("early_wait") + 1] if "early_wait" in line else None

    def early_set(self, at):
        """Of an `await` and a `set` on a c310, what a kernel of the other type is told that waits
        early for this flag; None where none does."""
        own, other = self.place.kind, "aiv" if self.place.kind == "aic" else "aic"
        if self.world.has_base() or [line[0] for line in self.program[at:at + 2]] != ["await", "set"]:
            return None
        sets = sum(line[0] == "set" or self.waits_early(line) in (own, "mix")
                   and min(self.kernel(line[1]).shape) > 0 for line in self.program[:at + 1])
        waits = [line for line in self.entry.programs.get(other, [])
                 if line[0] == "wait" or self.waits_early(line) in (own, "mix")]
        line = waits[sets]
        if line[0] == "wait":
            return None
        return 4 * TYPES.index(self.waits_early(line)) + TYPES.index(self.kernel(line[1]).type())

    def do_select(self, at, line):
        group = next(later[3] for later in self.program[at:] if later[0] == "call")
        slots = [self.entry.slot(word, group) for word in ("lock", "tiling_key", "block_num")]
        key, blocks = self.tilings[group]
        for slot, value in zip(slots, (1, key, blocks)):
            self.do("read", (slot, 0), value)
        if key not in self.kernel(line[1]).variants:
            self.do("trap")
            raise Ends

    def call_selected(self, line):
        group = line[3]
        key, blocks = self.tilings[group]
        shape, words = self.kernel(line[1]).variants[key]
        if self.place.kind not in words or not self.includes(shape, blocks):
            return
        copy = self.place.physical % self.entry.split
        pattern = words[self.place.kind] + r"(_k\d+)?" + (f"_split{copy}" if copy else "")
        found = [name for name in self.names(group) if re.fullmatch(pattern, name)]
        if len(found) != 1:
            raise Wrong(f"compile info has no symbol {pattern} of {group}")
        self.call(Function(found[0]), group, None, blocks)

    def do_arrive(self, at, line):
        self.do(*line)

    do_wait = do_pipe_barrier = do_arrive

    def do_await(self, at, line):
        config = self.early_set(at)
        self.do(*(line if config is None else ("early wait", config)))

    def do_set(self, at, line):
        if at == 0 or self.early_set(at - 1) is None:
            self.do(*line)

    def do_dcci(self, at, line):
        self.do("dcci")

    def do_preload(self, at, line):
        later = next((later for later in self.program[at:] if later[:2] == ["call", line[1]]), None)
        if later and self.calls(later):
            self.do("preload", self.function(self.kernel(line[1]), later[3]), int(line[3]))

    def do_preload_all(self, at, line):
        self.do("preload_all", int(line[1]))

    def do_preload_data(self, at, line):
        group = line[2]
        first, count = self.entry.begin[group], len(self.entry.groups[group])
        if group == self.list[0] and first:
            first, count = first - 1, count + 1
        for slot in range(first, first + count, 8):
            self.do("preload_data", slot)

    def zero(self):
        return self.place.index == 0

    def do_notify(self, at, line):
        if self.zero():
            place = self.entry.slot("send " + line[1]), 0
            self.do("store", place, 1)
            self.do("clean", place)

    def do_wait_event(self, at, line):
        if self.zero():
            self.do("read", (self.entry.slot("recv " + line[1]), 0), 1)

    def do_reset(self, at, line):
        if self.zero():
            lock = line[1] == "lock"
            slot = self.entry.slot("lock", line[2]) if lock else self.entry.slot("recv " + line[1])
            self.do("store", (slot, 0), 0)

    def counter(self, op):
        number = op + (len(self.list) if self.place.kind == "aiv" else 0)
        return self.entry.slot("sync_workspace", ""), 64 * number

    def do_clear_workspace(self, at, line):
        if self.place.sub == 0:
            for op in range(self.place.block, len(self.list), self.entry.block):
                self.clear(*self.counter(op))
        self.do("pipe_barrier")

    def clear(self, slot, offset):
        """An AIC of a c310 has no copies to memory."""
        if self.place.kind == "aiv" or self.world.has_base():
            self.do("zero", (slot, offset), 64)
            return
        for word in range(0, 64, 8):
            self.do("store", (slot, offset + word), 0)

    def beside(self, at):
        way = 1 if self.program[at][1] == "begin" else -1
        while self.program[at][0] != "call":
            at += way
        return self.program[at]

    def do_feed_sync(self, at, line):
        call = self.beside(at)
        counter, included = self.counter(self.list.index(call[3])), self.calls(call)
        if line[1] == "begin":
            self.fed = counter
            self.do("feed begin")
            return
        if included == (line[1] == "end"):
            self.do("feed " + line[1], counter)
            self.fed = None

    def do_profile(self, at, line):
        number, kind, end = int(line[2]), int(line[3]), int(line[1] == "end")
        if kind >= 2:
            way, word, how = (-1 if end else 1), ("notify", "wait_event")[kind - 2], kind - 2
            while self.program[at][0] != word:
                at += way
            event = self.program[at][1]
            slot = self.entry.slot(("send ", "recv ")[how] + event)
            number = int(event) if event.isdigit() else slot
        elif kind == 1:
            number += 1
        self.record(number << 32 | end << 12 | (0, 8, 4, 12)[kind] << 8)


# ---- Both ----

def same(did, says):
    """Whether a core does what the entry says; what calls find in variables is a part of it."""
    if did[0] != "call" or says[0] != "call":
        return did == says
    if did[1:3] != says[1:3]:
        return False
    found = {name: (value.address // SLOT - 1, value.address % SLOT)
             if isinstance(value, Pointer) else int(value) for name, value in did[3].items()}
    return all(found.get(name) == value for name, value in says[3].items())


def compare(did, says, where):
    for at, (one, other) in enumerate(zip(did + [("end",)] * len(says), says + [("end",)])):
        if not same(one, other):
            shown = one[:3] + tuple(str(x) for x in one[3:])
            raise Wrong(f"{where}: step {at} of the source is {shown}, of the entry {other}")
    if len(did) > len(says):
        raise Wrong(f"{where}: the source goes on with {did[len(says)]}")


def check_info(entry, info):
    """Compile info says the same of slots and the launch as the entry."""
    if info["kernel_type"] != "KERNEL_TYPE_" + entry.type.upper() \
            or info["block_num"] != entry.block or info["workspace_size"] != entry.size \
            or info["split_mode"] != entry.split:
        raise Wrong(f"compile info of {entry.name} has another launch")
    begins, sends, receives = [], [], []
    for group, words in entry.groups.items():
        own = sum(not re.match(r"(send|recv) ", word) for word in words)
        begins.append(entry.begin[group])
        sends.append(begins[-1] + own)
        receives.append(sends[-1] + len(listed(group, words, "send")))
    for key, value in (("param_offset", begins), ("notify_param_offset", sends),
                       ("wait_param_offset", receives)):
        if info[key] != value:
            raise Wrong(f"{key} of {entry.name} is {info[key]}, in the entry {value}")
    for key, how in (("send_event_list", "send"), ("recv_event_list", "recv")):
        found = [[str(event) for event in events] for events in info[key]]
        if found != [listed(group, words, how) for group, words in entry.groups.items()]:
            raise Wrong(f"{key} of {entry.name} is {found}")


def check_comment(entry, text):
    """The comment above an entry names the slots of its groups."""
    found = re.search(rf"^// entry @{re.escape(entry.name)} .*\n((?://   .*\n)*)", text, re.M)
    shown = re.findall(r"^//   p\[(\d+)\]: (\S+) =", found[1] if found else "", re.M)
    if [(name, int(slot)) for slot, name in shown] != list(entry.begin.items()):
        raise Wrong(f"the comment of {entry.name} has the slots {shown}")


def places(entry, world):
    for block in range(entry.block):
        if entry.shape[0]:
            yield Place(entry, "aic", block, 0, world)
        for sub in range(entry.shape[1]):
            yield Place(entry, "aiv", block, sub, world)


def check_config(entries, parts):
    """The run configuration is defined by the part for the main core type alone."""
    main = "aic" if any(entry.shape[0] for entry in entries) else "aiv"
    for kind, source in parts.items():
        if source.configs != [kind == main]:
            raise Wrong(f"the run configuration of the part for an {kind}: {source.configs}")


def check_types(entries, infos, parts):
    """Each part has a section for each of its functions, and no other."""
    wanted = {kind: {} for kind in KINDS}
    for entry, info in zip(entries, infos):
        aics, aivs = entry.shape
        main = "AIC" if aics else "AIV"
        for kind, count in zip(KINDS, entry.shape):
            if not count:
                continue
            plain = entry.type in ("aic_only", "aiv_only")
            name = info["kernel_name"] + ("" if plain else f"_mix_{kind}")
            wanted[kind][f".ascend.meta.{name}"] = "={{{F_TYPE_KTYPE,sizeof(unsignedint)}," + (
                f"K_TYPE_{main}}}}};" if plain else
                f"K_TYPE_MIX_{main}_MAIN}},{{{{F_TYPE_MIX_TASK_RATION,sizeof(unsignedint)}},"
                f"{aics},{aivs}}}}};")
    for kind, source in parts.items():
        if source.types != wanted[kind]:
            raise Wrong(f"the {kind} part has the kernel types {source.types}, not {wanted[kind]}")


def world_of(entry, arch, chance, tilings, plain):
    """What a host may pass; a plain one all that there may be."""
    words = {}
    for (group, word), slot in entry.words.items():
        if word.startswith("recv "):
            words[slot] = "event", 1
        elif word == "lock":
            words[slot] = "lock", 1
        elif word in ("tiling_key", "block_num"):
            words[slot] = "word", tilings[group][word == "block_num"]
    area = entry.words.get(("", "profiling"))
    world = World(arch, words, area, entry.words.get(("", "tracing")))
    if plain:
        return world
    world.room = chance.choice([0, 3, 200, 200, 200]) if area is not None else 0
    world.magic, world.base, world.traced = [chance.random() < 0.85 for _ in range(3)]
    world.behind = chance.random() < 0.2
    return world


def tiling(entry, kernels, chance, plain):
    """A key and blocks for each op of a dynamic kernel; seldom a key that no variant has."""
    found = {}
    for line in sum(entry.programs.values(), []):
        if line[0] == "call" and line[3] not in found:
            kernel = kernels[re.sub(r"\.ai[cv]$", "", line[1][1:])]
            if kernel.variants:
                keys = list(kernel.variants)
                unknown = chance.random() < 0.05 and not plain
                found[line[3]] = (max(keys) + 1 if unknown else chance.choice(keys),
                                  chance.randint(1, int(line[5])))
    return found


def prove(text, entry_text, infos, arch, chance, plain=False):
    """Raises Wrong where the source is not what the entries say, with what a host may pass, or all
    that it can; returns what cores did, by kind, and the entries."""
    kernels = read_kernels(entry_text)
    entries = read_entries(entry_text, 1 if arch == "c220" else 0)
    if "entries" in infos:  # of a module with gears
        infos = infos["entries"]
    infos = infos if isinstance(infos, list) else [infos]
    if len(infos) != len(entries):
        raise Wrong("compile info has other entries")
    defined = {"__NPU_ARCH__": 2201 if arch == "c220" else 3510, "TILING_KEY_VAR": 0}
    for word in sum((info["compile_option"] for info in infos), []):
        if match := re.match(r"-D(\w+)(?:=(.*))?$", word):
            defined[match[1]] = match[2] or 1
    parts = {kind: Source(text, defined | {name: 1})
             for kind, name in (("aic", "__DAV_CUBE__"), ("aiv", "__DAV_VEC__"))}
    if arch == "c220":
        check_config(entries, parts)
    check_types(entries, infos, parts)
    counts = {}
    for entry, info in zip(entries, infos):
        check_info(entry, info)
        check_comment(entry, text)
        tilings = tiling(entry, kernels, chance, plain)
        world = world_of(entry, arch, chance, tilings, plain)
        prove_entry(entry, kernels, info, parts, world, tilings, counts)
    return counts, entries


def prove_entry(entry, kernels, info, parts, world, tilings, counts):
    name = f"auto_gen_{info['kernel_name']}_kernel"
    aligned = parts["aic"].aligned.get(name)
    if (aligned or 0) != entry.align:
        raise Wrong(f"{name} is aligned to {aligned}")
    for place in places(entry, world):
        where = f"{entry.name}: {place.kind} {place.index}"
        core = Core(parts[place.kind], place)
        says = Says(entry, kernels, info, place, tilings).run()
        try:
            did = core.run(name)
        except (RecursionError, KeyError, AttributeError, TypeError) as error:
            raise Wrong(f"{where}: {error!r}") from error
        compare(did, says, where)
        for one in did:
            counts[one[0]] = counts.get(one[0], 0) + 1
