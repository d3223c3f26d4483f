"""Cores that execute the source of an entry for the NPU down to the primitives of AscendC, and
keep a list of what they do. What the primitives mean, docs/ascend.md and docs/device-model.md say."""

from ascendc_source import BASES, Type
from judge_entries import Wrong

SLOT = 1 << 20          # Each slot points to a region of memory of its own.
PARAMETERS = 1 << 12    # Where slots themselves are.
PROFILING_PART = 4096   # Bytes of a core's part of the profiling area.
MAGIC = 0xbdca8756
TRACED = 0x54524b53     # What a core's line of the trace begins with.
MANY = 1000             # What others have counted, where they are not behind.
TASK = 77
PATIENCE = 50           # Reads of a word before a core counts as blocked for ever.
COMES_AFTER = 3         # How often a word must be fetched before it has its value.


class Pointer:
    def __init__(self, address, of):
        self.address, self.of = address, of

    def plus(self, count):
        return Pointer(self.address + count * (self.of.size or 1), self.of)


class Function(str):
    """A kernel's function, as a value."""


class Ends(Exception):
    """A core that ends where it traps."""


class Returned(Exception):
    pass


class Broken(Exception):
    pass


BARRIERS = {("PIPE_FIX", 0, "AscendC::SYNC_AIC_FLAG"): ("arrive", "aic"),
            ("PIPE_MTE3", 0, "AscendC::SYNC_AIV_ONLY_ALL"): ("arrive", "aiv"),
            ("PIPE_MTE3", 2, "AscendC::SYNC_AIC_AIV_FLAG"): ("set", "c2v"),
            ("PIPE_MTE3", 2, "AscendC::SYNC_AIV_FLAG"): ("set", "v2c")}
WAITS = {flag: ("await" if how == "arrive" else "wait", what)
         for (_, _, flag), (how, what) in BARRIERS.items()}
NAMES = {"PIPE_FIX", "PIPE_MTE3", "PIPE_ALL", "PIPE_S", "EVENT_ID0",
         "cache_line_t::ENTIRE_DATA_CACHE", "dcci_dst_t::CACHELINE_OUT", *WAITS}
FEED = "AscendC::g_superKernelAutoSyncAll"
GLOBALS = {FEED + "SyncIdx", FEED + "Enable", FEED + "ConfigGmAddr", FEED + "ConfigGmBaseAddr",
           "g_super_kernel_early_start_config", "g_super_kernel_dynamic_block_num"}
ARITHMETIC = {
    "||": lambda a, b: a or b, "&&": lambda a, b: a and b, "|": lambda a, b: a | b,
    "&": lambda a, b: a & b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b, "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
    "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b,
    "%": lambda a, b: a % b}


class Place:
    """A core: its numbers, and what the host has put into memory."""

    def __init__(self, entry, kind, block, sub, world):
        self.kind, self.block, self.sub, self.world = kind, block, sub, world
        self.aics, self.aivs = entry.block * entry.shape[0], max(entry.shape[1], 1)
        self.index = block if kind == "aic" else block * self.aivs + sub
        self.blocks = entry.block
        self.counters = entry.words.get(("", "sync_workspace"))
        self.physical = (self.index * 5 + 3 + (kind == "aiv")) % 64


class World:
    """What the host has put into the slots: words that come, the profiling area, a sync base,
    lines of the trace; and whether other cores are `behind` with what they count there."""

    def __init__(self, arch, words, area=None, tracing=None):
        self.arch, self.words, self.area, self.tracing = arch, words, area, tracing
        self.room, self.magic, self.base, self.traced, self.behind = 200, True, True, True, False

    def null(self, slot):
        return (slot == self.area and not self.room or slot == self.tracing and not self.traced
                or slot == 0 and self.has_base() and not self.base)

    def has_base(self):
        return self.arch == "c220"


class Core:
    """Executes an entry's function and keeps a list of what it does."""

    def __init__(self, source, place):
        self.source, self.place, self.world = source, place, place.world
        self.did, self.globals, self.locals = [], {}, [{}]
        self.memory, self.cache, self.dirty, self.fetches = {}, {}, {}, {}
        self.opened, self.ready, self.zeroed, self.flags = False, set(), 0, set()
        self.reads, self.shown = 0, {}
        self.area()
        self.line = self.line_of(place.kind == "aiv", place.index)

    def do(self, *what):
        self.did.append(what)

    def area(self):
        """The core's part of the profiling area."""
        if self.world.area is None or not self.world.room:
            return
        base = (self.world.area + 1) * SLOT
        number = self.place.index + (50 if self.place.kind == "aic" else 0)
        self.part = base + 64 + number * PROFILING_PART
        self.memory[base + 12] = PROFILING_PART
        self.memory[self.part] = MAGIC if self.world.magic else 0
        self.memory[self.part + 8] = self.first = self.part + 32
        self.memory[self.part + 16] = self.first + 16 * self.world.room

    def run(self, name):
        if name not in self.source.functions:
            raise Wrong(f"there is no function {name}")
        try:
            self.call_function(name, [])
        except Ends:
            pass
        if any(self.in_area(address) or self.in_trace(address) for address in self.dirty):
            raise Wrong("a record is not written back")
        if any(self.slot_of(address)[0] == self.place.counters for address in self.dirty):
            raise Wrong("a counter is not written back")
        if self.flags:
            raise Wrong("an event of pipes is left set")
        return self.did

    # The trace

    def line_of(self, type, number):
        """The address of a core's line of the trace."""
        return ((self.world.tracing or 0) + 1) * SLOT + 64 * (type * self.place.aics + number)

    def in_trace(self, address):
        return self.world.tracing is not None and self.slot_of(address)[0] == self.world.tracing

    def load_trace(self, address, size):
        word, line = address & ~7, address // 64
        if line == self.line // 64:
            value = self.cache.get(word, self.memory.get(word, 0))
        else:
            value = 0 if self.world.behind or line not in self.ready else MANY << 32 | MANY
            self.ready.discard(line)
        if size == 4:
            number, offset = divmod(address - self.line_of(0, 0), 64)
            self.do("check", (offset - 32) // 4, number)
            value = value >> 8 * (address - word) & 0xffffffff
        return value

    def show_line(self):
        """What the line says when it is written out, as far as that is new."""
        words = {at: self.memory.get(self.line + 8 * at, 0) for at in (0, 1, 2, 4, 5, 6, 7)}
        if words != self.shown:
            self.do("line", words)
        self.shown = words

    # Memory

    def slot_of(self, address):
        return address // SLOT - 1, address % SLOT

    def in_area(self, address):
        return self.world.area is not None and self.slot_of(address)[0] == self.world.area

    def load(self, pointer):
        address = pointer.address
        if pointer.of.inner:
            slot = (address - PARAMETERS) // 8
            if slot < 0 or (address - PARAMETERS) % 8:
                raise Wrong(f"a parameter at {address}")
            value = 0 if self.world.null(slot) else (slot + 1) * SLOT
            if self.world.area is not None and slot == self.world.area + 1:
                value = 9 << 32 | TASK
            return Pointer(value, Type("GM_ADDR", 1))
        if self.in_trace(address):
            return self.load_trace(address, pointer.of.size)
        if address in self.cache:
            value = self.cache[address]
        elif self.in_area(address):
            value = self.cache[address] = self.memory.get(address, -1)
        else:
            value = self.cache[address] = self.fetch(address)
        if not self.in_area(address):
            self.read(self.slot_of(address), value)
        return value

    def fetch(self, address):
        """A word as it is in memory: nothing that has a meaning, if it was not made sure that the
        cache does not have it, or before it has come."""
        slot, offset = self.slot_of(address)
        count = self.fetches.get(address, 0)
        kind, value = self.world.words.get(slot, ("none", 0))
        if offset or kind == "none" or not count:
            return -1
        if kind in ("event", "lock"):
            self.opened |= kind == "lock" and count >= COMES_AFTER
            return value if count >= COMES_AFTER else 0
        return value if self.opened else -1

    def read(self, place, value):
        again = bool(self.did) and self.did[-1][:2] == ("read", place)
        self.reads = self.reads + 1 if again else 0
        if self.reads > PATIENCE:
            raise Wrong(f"waits for ever for the word of slot {place[0]}")
        if again:
            self.did.pop()
        self.do("read", place, value)

    def store(self, pointer, value):
        address = pointer.address
        self.cache[address] = self.dirty[address] = value
        if self.in_trace(address):
            if address // 64 != self.line // 64:
                raise Wrong("writes to the line of another core")
        elif not self.in_area(address):
            self.do("store", self.slot_of(address), value)
        elif address >= self.first and (address - self.first) % 16 == 0:
            self.do("record", (address - self.first) // 16, value)

    def clean(self, line):
        for address in [a for a in set(self.cache) | set(self.dirty)
                        if line is None or a // 64 == line]:
            if address in self.dirty:
                self.memory[address] = self.dirty.pop(address)
                other = self.in_area(address) or self.in_trace(address)
                if line is not None and not other and self.memory[address]:
                    self.do("clean", self.slot_of(address))
            self.cache.pop(address, None)
        if line is not None and line == self.line // 64:
            self.show_line()

    # Statements

    def execute(self, tree):
        getattr(self, "do_" + tree[0])(*tree[1:])

    def do_block(self, statements):
        self.locals.append({})
        for statement in statements:
            self.execute(statement)
        self.locals.pop()

    def do_expression(self, tree):
        self.value(tree)

    def do_declare(self, of, name, tree):
        self.locals[-1][name] = self.made(of, self.value(tree))

    def made(self, of, value):
        if isinstance(value, list) and of.name in self.source.structs:
            return dict(zip(self.source.structs[of.name], value))
        return value

    def do_if(self, condition, then, other):
        if self.true(condition):
            self.execute(then)
        elif other:
            self.execute(other)

    def true(self, tree):
        value = self.value(tree)
        return bool(value.address if isinstance(value, Pointer) else value)

    def do_while(self, condition, body):
        for _ in range(10000):
            if not self.true(condition):
                return
            self.execute(body)
        raise Wrong("a loop does not end")

    def do_switch(self, tree, cases):
        value, on = self.value(tree), False
        labels = [self.value(label) if label else None for label, _ in cases]
        wanted = value if value in labels else None
        try:
            for label, (_, body) in zip(labels, cases):
                on = on or label == wanted
                for statement in body if on else ():
                    self.execute(statement)
        except Broken:
            pass

    def do_break(self):
        raise Broken

    def do_return(self, tree):
        raise Returned(self.value(tree) if tree else None)

    # Expressions

    def value(self, tree):
        return getattr(self, "value_" + tree[0])(*tree[1:])

    def value_number(self, number):
        return number

    def value_is(self, kind):
        return self.place.kind == kind

    def value_list(self, trees):
        return [self.value(tree) for tree in trees]

    def scope(self, name):
        return next((scope for scope in reversed(self.locals) if name in scope), None)

    def value_name(self, name, space):
        scope = self.scope(name)
        if scope is not None:
            return scope[name]
        if name.lstrip(":") in self.source.kernels:
            return Function(name.lstrip(":"))
        if name in GLOBALS:
            return self.globals[name]
        if name in self.source.constants:
            return self.source.constants[name]
        if name in NAMES or name.startswith("cache_line_t") or name.startswith("dcci_dst"):
            return name
        raise Wrong(f"unknown name {name}")

    def value_choice(self, condition, then, other):
        return self.value(then if self.true(condition) else other)

    def value_binary(self, sign, left, right):
        if sign == "&&":
            return self.true(left) and self.true(right)
        if sign == "||":
            return self.true(left) or self.true(right)
        a, b = self.value(left), self.value(right)
        if sign == "+":
            return a.plus(b) if isinstance(a, Pointer) else a + b
        a, b = [x.address if isinstance(x, Pointer) else x for x in (a, b)]
        if isinstance(a, Function) and b == 0 and sign in ("==", "!="):
            return sign == "!="
        return ARITHMETIC[sign](a, b)

    def value_unary(self, sign, tree):
        if sign == "!":
            return not self.true(tree)
        value = self.value(tree)
        return self.load(value) if sign == "*" else -value

    def value_cast(self, of, tree):
        value = self.value(tree)
        if isinstance(value, Function):
            return value
        address = value.address if isinstance(value, Pointer) else value
        if of.size:
            return Pointer(address, of)
        return address & (1 << 8 * BASES.get(of.name, 8)) - 1

    def value_index(self, tree, index):
        return self.load(self.value(tree).plus(self.value(index)))

    def value_field(self, tree, name):
        value = self.value(tree)
        if not isinstance(value, dict) or name not in value:
            raise Wrong(f"no field {name}")
        return value[name]

    def value_assign(self, sign, place, tree):
        value = self.value(tree)
        if sign == "+=":
            old = self.value(place)
            value = old.plus(value) if isinstance(old, Pointer) else old + value
        if place[0] == "name":
            self.assign_name(place[1], value)
        elif place[0] == "field":
            self.value(place[1])[place[2]] = value
        elif place[0] == "index":
            self.store(self.value(place[1]).plus(self.value(place[2])), value)
        elif place[:2] == ("unary", "*"):
            self.store(self.value(place[2]), value)
        else:
            raise Wrong("an assignment to what is no place")
        return value

    def assign_name(self, name, value):
        scope = self.scope(name)
        if scope is not None:
            old = scope[name]
            scope[name] = dict(zip(old, value)) if isinstance(value, list) else value
        elif name in GLOBALS:
            self.globals[name] = value
            if name == FEED + "Enable" and value:
                self.do("feed begin")
        else:
            raise Wrong(f"unknown name {name}")

    # Calls

    def value_call(self, what, trees):
        if what[0] != "name":
            return self.call_kernel(self.value(what), [self.value(tree) for tree in trees])
        name, space = what[1:]
        for full in (space + name, name):
            if full in self.source.functions:
                return self.call_function(full, [self.value(tree) for tree in trees])
        values = [self.value(tree) for tree in trees]
        if name.lstrip(":") in self.source.kernels:
            return self.call_kernel(Function(name.lstrip(":")), values)
        plain, _, template = name.replace("AscendC::", "AscendC_").partition("<")
        method = getattr(self, "prim_" + plain, None)
        if not method:
            raise Wrong(f"unknown function {name}")
        try:
            return method(*([template] if template else []), *values)
        except TypeError as error:
            raise Wrong(f"{name}: {error}") from error

    def call_function(self, name, values):
        parameters, body = self.source.functions[name]
        if len(parameters) != len(values) or body is None:
            raise Wrong(f"{name} is called with {len(values)} arguments")
        outer = self.locals
        self.locals = [dict(zip((parameter for _, parameter in parameters), values))]
        try:
            self.execute(body)
        except Returned as returned:
            return returned.args[0]
        finally:
            self.locals = outer
        return None

    def call_kernel(self, function, values):
        if not isinstance(function, Function) or len(values) != 1:
            raise Wrong(f"a call of {function}")
        self.do("call", function, *values, dict(self.globals))

    # Primitives

    def prim_get_para_base(self):
        return Pointer(PARAMETERS, Type("GM_ADDR", 8, 1))

    def prim_set_ffts_base_addr(self, address):
        self.do("base", self.slot_of(address))

    def prim_get_coreid(self):
        return self.place.physical

    def prim_get_block_idx(self):
        return self.place.block

    def prim_get_subblockid(self):
        return self.place.sub

    def prim_AscendC_GetBlockIdx(self):
        return self.place.index

    def prim_get_block_num(self):
        return self.place.blocks

    def prim_AscendC_GetSystemCycle(self):
        return 5

    def prim_trap(self):
        self.do("trap")
        raise Ends

    def prim_preload(self, function, units):
        self.do("preload", function, units)

    def prim_AscendC_PreLoad(self, units):
        self.do("preload_all", units)

    def prim_AscendC_WaitPreTaskEndImpl(self, config):
        self.early("WAIT_PRE_TASK_END")
        self.do("early wait", int(config))

    def prim_AscendC_SetNextTaskStart(self):
        self.early("SET_NEXT_TASK_START")
        self.do("early set")

    def early(self, what):
        for name in ("__ASCENDC_SUPERKERNEL_EARLY_START_V2", f"__ASCENDC_ENABLE_{what}"):
            if name not in self.source.defined:
                raise Wrong(f"without {name} an early start does nothing")

    def prim_dc_preload(self, pointer, offset):
        slot, rest = divmod(pointer.address + offset - PARAMETERS, 8)
        self.do("preload_data", slot, *[rest] * (rest > 0))

    def prim_pipe_barrier(self, pipe):
        if pipe != "PIPE_ALL":
            raise Wrong(f"pipe_barrier({pipe})")
        self.do("pipe_barrier")

    def prim_AscendC_PipeBarrier(self, pipe):
        self.prim_pipe_barrier(pipe)

    def prim_dcci(self, pointer, how, where):
        if (pointer.address, how, where) == (0, "cache_line_t::ENTIRE_DATA_CACHE",
                                             "dcci_dst_t::CACHELINE_OUT"):
            self.clean(None)
            return self.do("dcci")
        if (how, where) != (0, 2):
            raise Wrong(f"dcci({how}, {where})")
        self.clean(pointer.address // 64)
        self.ready.add(pointer.address // 64)
        self.fetches[pointer.address] = self.fetches.get(pointer.address, 0) + 1

    def prim_wait_flag_dev(self, *words):
        if words[:-1] != (() if self.world.has_base() else ("PIPE_S",)) or words[-1] not in WAITS:
            raise Wrong(f"wait_flag_dev{words}")
        self.do(*WAITS[words[-1]])

    def prim_AscendC_GetffstMsg(self, mode, flag):
        return mode, flag

    def prim_ffts_cross_core_sync(self, pipe, message):
        if (pipe, *message) not in BARRIERS:
            raise Wrong(f"ffts_cross_core_sync({pipe}, {message})")
        self.do(*BARRIERS[pipe, *message])

    def feeds(self, what):
        counter = self.globals.get(FEED + "ConfigGmAddr")
        if not counter or not self.globals.get(FEED + "Enable"):
            raise Wrong(f"{what} without counters")
        self.do(what, self.slot_of(counter.address))

    def prim_AscendC_SuperKernelAutoSyncAllEndImpl(self):
        self.feeds("feed end")

    def prim_AscendC_SuperKernelAutoSyncAllComplementImpl(self):
        self.feeds("feed complement")

    def prim_AscendC_SetFlag(self, event, number):
        self.flags.add((event, number))

    def prim_AscendC_WaitFlag(self, event, number):
        if (event, number) not in self.flags:
            raise Wrong(f"waits for ever for an event {event}")
        self.flags.remove((event, number))
        self.ready.add(event.split("::")[-1])

    def prim_create_cbuf_matrix(self, pointer, repeat, value):
        if self.place.kind != "aic" or value:
            raise Wrong("what is to be zeroes is none")
        self.zeroed, self.ready = (repeat & 0xffff) * 32, set()

    def prim_AscendC_DuplicateImpl(self, pointer, value, count):
        if self.place.kind != "aiv" or value:
            raise Wrong("what is to be zeroes is none")
        self.zeroed, self.ready = count * 4, set()

    def copied(self, target, size, event):
        if size > self.zeroed or event not in self.ready:
            raise Wrong("counters are cleared by what is no zeroes yet")
        self.do("zero", self.slot_of(target.address), size)

    def prim_copy_cbuf_to_gm(self, target, source, sid, bursts, length, *gaps):
        if not self.world.has_base():
            raise Wrong("a c310 has no copy_cbuf_to_gm")
        self.copied(target, bursts * length * 32, "MTE2_MTE3")

    def prim_copy_ubuf_to_gm(self, target, source, sid, bursts, length, *gaps):
        if not self.world.has_base():
            raise Wrong("a c310 has no copy_ubuf_to_gm")
        self.copied(target, bursts * length * 32, "V_MTE3")

    def prim_copy_ubuf_to_gm_align_v2(self, target, source, sid, bursts, length, *gaps):
        if self.world.has_base():
            raise Wrong("a c220 has no copy_ubuf_to_gm_align_v2")
        self.copied(target, bursts * length, "V_MTE3")

    def prim_AscendC_InitDump(self, mixed, address, size):
        self.do("dump", bool(mixed), self.slot_of(address.address), size)
