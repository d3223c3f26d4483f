"""A second reader of the language, written from docs/language.md alone: a parser of modules and the
order that the page demands of a graph's ops. It shares nothing with skirc, so that what the two
disagree on is a fault of one of them or of the page. Entries are skipped."""

import itertools
import re

DTYPES = set(
    "f32 f16 bf16 f64 hif8 f8e5m2 f8e4m3fn f8e8m0 f6e3m2 f6e2m3 f4e2m1 f4e1m2 hif4 "
    "i2 i4 i8 i16 i32 i64 u1 u2 u8 u16 u32 u64 bool c32 c64 c128 string resource variant".split()
)
PASSIVE = set(
    "Data RefData Variable Const Constant ConstPlaceHolder FileConstant PlaceHolder Placeholder "
    "Send Recv SendMem RecvMem SendNotify RecvNotify".split()
)
VIEWS = set("Identity Reshape Squeeze Unsqueeze ExpandDims FlattenV2".split())
# What `opt --op-type` says: results that are operands, and operands that are written.
ALIAS = {"ScatterUpdate": [0], "Assign": [0], **{view: [0] for view in VIEWS}}
WRITES = {"ScatterUpdate": [0], "Assign": [0]}

TOKENS = re.compile(
    r"""(?P<blank>\s+|//[^\n]*)
    |(?P<value>%(?:[A-Za-z0-9_.$]+|"[^"\n]*"))
    |(?P<symbol>@(?:[A-Za-z0-9_.$]+|"[^"\n]*"))
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<number>-?(?:0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|inf\b))
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<mark>->|\.\.|[-(){}\[\],:=?+*])""",
    re.X,
)


class Refused(Exception):
    """The text breaks a rule; the argument is the id of the diagnostic that is due."""


class Op:
    def __init__(self):
        self.results, self.operands, self.types, self.attrs = [], [], [], {}
        self.via, self.after, self.send, self.recv = None, [], [], []
        self.type = self.stream = self.scope = self.kernel = None
        self.beside = None  # the launch in whose `scope none` it stands

    def passive(self):
        return self.type in PASSIVE or self.view()

    def view(self):
        return (self.type in VIEWS and self.via is None and not self.writes()
                and not texts(self.attrs.get("writes"))
                and all(self.alias(i) is not None for i in range(len(self.results))))

    def values(self):
        return [value for _, _, values in self.operands for value in values]

    def numbers(self, key, default):
        """The operands that 'inplace' or 'alias' names, as lists of values; None for 'none'."""
        found = []
        for item in self.attrs.get(key, default):
            if item == "none":
                found.append(None)
            elif isinstance(item, int):
                if not 0 <= item < len(self.operands):
                    raise Refused("number-range")
                found.append(self.operands[item][2])
            else:
                named = [values for label, _, values in self.operands if label == item]
                if not named:
                    raise Refused("operand-label")
                found.append(named[0])
        return found

    def said(self, table):
        """What the data of the op's type says, if the op is held to it."""
        return [] if self.attrs.get("_unchecked") else table.get(self.type, [])

    def writes(self):
        listed = self.numbers("inplace", self.said(WRITES))
        return [value for values in listed for value in values or []]

    def alias(self, i):
        if self.types[i] == "token":
            return None
        listed = self.numbers("alias", self.said(ALIAS))
        if i >= len(listed) or not listed[i]:
            return None
        if any(kind == "list" and values is listed[i] for _, kind, values in self.operands):
            raise Refused("operand-label")
        return listed[i][0]


class Launch:
    """A super kernel."""

    def __init__(self, name, attrs):
        self.name, self.attrs, self.send, self.recv = name, attrs, [], []
        self.stream = attrs.get("stream", "0")


class Graph:
    def __init__(self, name):
        self.name, self.params, self.ops, self.launches = name, {}, [], []
        self.addresses = {}
        self.returned, self.result_types, self.blocks = [], [], []
        self.beside = None  # the launch in whose `scope none` the parser is


def texts(data):
    return [data] if isinstance(data, str) else data or []


class Parser:
    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text):
            match = TOKENS.match(text, at)
            if not match:
                raise Refused("syntax")
            if match.lastgroup != "blank":
                self.tokens.append((match.lastgroup, match.group()))
            at = match.end()
        self.tokens.append(("end", ""))
        self.at = 0

    def peek(self, text, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1] == text

    def kind(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][0]

    def take(self, *wanted):
        kind, text = self.tokens[self.at]
        if wanted and kind not in wanted and text not in wanted:
            raise Refused("syntax")
        self.at += 1
        return text

    def name(self, kind):
        text = self.take(kind)[1:]
        return text[1:-1] if text.startswith('"') else text

    def string(self):
        return self.take("string")[1:-1]

    def accept(self, text):
        if self.peek(text) and self.kind() in ("mark", "word"):
            self.at += 1
            return True
        return False

    def listed(self, item, end):
        """Items with commas between, up to `end`; a comma may stand before it."""
        found = []
        while not self.accept(end):
            found.append(item())
            if not self.accept(","):
                self.take(end)
                break
        return found

    def values(self):
        found = [self.name("value")]
        while self.accept(","):
            found.append(self.name("value"))
        return found

    def dim(self):
        text = ""
        while not self.peek(",") and not self.peek("]"):
            text += self.take("word", "number", "?", "+", "*", "..")
        return int(text) if text.isdigit() else text

    def result(self):
        if self.accept("token"):
            return "token"
        dtype = self.take("word", "?")
        if dtype not in DTYPES and dtype != "?":
            raise Refused("syntax")
        self.take("[")
        dims = self.listed(self.dim, "]")
        form = self.take("word") if self.accept(":") else "ND"
        return dtype, tuple(dims), form

    def types(self):
        if self.accept("("):
            return self.listed(self.result, ")")
        return [self.result()]

    def begins_attrs(self):
        return (self.peek("{") and self.kind(1) in ("word", "string")
                and any(self.peek(mark, 2) for mark in "=,}"))

    def attrs(self):
        if not self.begins_attrs():
            return {}
        self.take("{")
        return self.attrs_inside()

    def attrs_inside(self):
        found = {}

        def attr():
            key = self.take("word", "string").strip('"')
            if key in found:
                raise Refused("duplicate")
            found[key] = self.data() if self.accept("=") else True

        self.listed(attr, "}")
        return found

    def data(self):
        kind, text = self.tokens[self.at]
        if kind == "mark" and self.accept("["):
            found = self.listed(self.data, "]")
            if not found and self.accept(":"):
                self.take("word")
            return found
        if kind == "mark" and self.accept("{"):
            return self.attrs_inside()
        if kind == "word" and text in DTYPES and self.peek("[", 1):
            return self.result()
        if kind == "number":
            self.at += 1
            return int(text, 0) if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", text) else float(text)
        if kind in ("value", "symbol"):
            return self.name(kind)
        if kind == "string":
            return self.string()
        self.take("word")
        return {"true": True, "false": False}.get(text, text)

    def module(self):
        graphs = []
        self.take("skir")
        if self.take("number") != "1":
            raise Refused("version")
        while self.kind() != "end":
            word = self.take("target", "include", "kernel", "graph", "entry")
            if word == "graph":
                graphs.append(self.graph())
                continue
            self.take("symbol", "string")
            if word in ("kernel", "entry"):
                self.take(":")
                self.take("word")
            self.attrs()
            if word == "entry":
                self.skip_entry()
        return graphs

    def skip_entry(self):
        self.take("{")
        depth = 1
        while depth:
            if self.kind() == "end":
                raise Refused("syntax")
            mark = self.take() if self.kind() == "mark" else self.take() and ""
            depth += (mark == "{") - (mark == "}")

    def graph(self):
        graph = Graph(self.name("symbol"))
        self.take("(")

        def param():
            name = self.name("value")
            self.take(":")
            if name in graph.params:
                raise Refused("duplicate")
            graph.params[name] = self.result()
            graph.addresses[name] = self.attrs().get("address")

        self.listed(param, ")")
        self.attrs()
        if self.accept("dims"):
            self.take("(")
            self.listed(lambda: self.take("word"), ")")
        if self.accept("gears"):
            self.take("zip", "product")
            self.take("(")
            self.listed(self.gear, ")")
        self.take("->")
        graph.result_types = self.types()
        self.take("{")
        while self.accept("["):
            self.listed(lambda: self.take("number"), "]")
            self.name("symbol")
        self.statements(graph, "0", None, None)
        if self.accept("return") and self.kind() == "value":
            graph.returned = self.values()
        self.take("}")
        return graph

    def gear(self):
        self.take("word")
        self.take("=")
        self.take("[")
        self.listed(lambda: self.take("number"), "]")

    def statements(self, graph, stream, scope, launch):
        while not self.peek("}") and not (self.peek("return") and self.kind() == "word"):
            kind, text = self.tokens[self.at]
            if kind == "word" and text in ("scope", "stream", "superkernel"):
                self.block(graph, stream, scope, launch)
            else:
                graph.ops.append(self.op())
                graph.ops[-1].stream, graph.ops[-1].scope = stream, scope
                graph.ops[-1].kernel = launch
                graph.ops[-1].beside = graph.beside

    def block(self, graph, stream, scope, launch):
        word = self.take()
        if word == "scope":
            none = self.accept("none")
            if launch and not none or graph.beside:
                raise Refused("nesting")
            scope = "" if none else self.name("symbol")
            graph.blocks.append((word, scope, self.attrs() if scope else {}))
            graph.beside, launch = launch, None
        elif word == "stream":
            stream = self.string()
            graph.blocks.append((word, stream, self.attrs()))
        else:
            if launch or scope is not None:
                raise Refused("nesting")
            launch = self.launch(graph)
        self.take("{")
        self.statements(graph, stream, scope, launch)
        self.take("}")
        if word == "scope":
            graph.beside = None

    def launch(self, graph):
        """A super kernel, or one that goes on; what it says of itself stands where it begins."""
        launch = Launch(self.name("symbol"), self.attrs())
        self.events(launch)
        for begun in graph.launches:
            if begun.name == launch.name:
                if launch.attrs or launch.send or launch.recv:
                    raise Refused("duplicate")
                return begun
        graph.launches.append(launch)
        return launch

    def events(self, owner):
        for word, found in (("send", owner.send), ("recv", owner.recv)):
            if self.accept(word):
                self.take("[")
                found += self.listed(lambda: self.take("word", "number"), "]")

    def operand(self):
        label = None
        if self.kind() == "word" and self.peek("=", 1):
            label = self.take()
            self.take("=")
        if self.accept("none"):
            return label, "none", []
        if self.accept("["):
            return label, "list", self.listed(lambda: self.name("value"), "]")
        return label, "value", [self.name("value")]

    def op(self):
        op = Op()
        if self.kind() == "value":
            op.results = self.values()
            self.take("=")
        if self.kind() == "string":
            op.type = self.string()
        else:
            op.type = self.take("word")
            if not re.match("[A-Z_]", op.type):
                raise Refused("syntax")
        self.take("(")
        op.operands = self.listed(self.operand, ")")
        op.attrs = self.attrs()
        if self.accept(":"):
            op.types = self.types()
        if len(op.types) != len(op.results):
            raise Refused("result-count")
        if self.accept("via"):
            op.via = self.name("symbol")
        if self.accept("after"):
            self.take("(")
            op.after = self.values()
            self.take(")")
        self.events(op)
        return op


def read(text):
    return Parser(text).module()


# ---- The rules ----


def elements(type):
    count = 1
    for dim in type[1]:
        if not isinstance(dim, int):
            return None
        count *= dim
    return count


def one_memory(a, b):
    sizes = elements(a), elements(b)
    alike = a[0] == b[0] or "?" in (a[0], b[0])
    return alike and (None in sizes or sizes[0] == sizes[1])


def check(graph):
    """Raises Refused for the first rule of the page that the graph breaks."""
    types, places = dict(graph.params), {}
    if "token" in types.values() or "token" in graph.result_types:
        raise Refused("token")
    everywhere = {value for op in graph.ops for value in op.results}
    for number, op in enumerate(graph.ops):
        for value in op.values() + op.after:
            if value not in types:
                raise Refused("use-before-definition" if value in everywhere else "unknown-value")
        if any(types[value] == "token" for value in op.values()) or "token" in op.types[:-1]:
            raise Refused("token")
        labelled = [label is not None for label, _, _ in op.operands]
        if labelled != sorted(labelled):
            raise Refused("operand-label")
        labels = [label for label, _, _ in op.operands if label]
        if len(labels) != len(set(labels)):
            raise Refused("duplicate")
        for value, type in zip(op.results, op.types):
            if value in types:
                raise Refused("duplicate")
            types[value], places[value] = type, number
        op.writes()
        if "alias" in op.attrs and len(op.attrs["alias"]) != len(op.results):
            raise Refused("alias")
        if any(type == "token" and named for type, named in zip(op.types, op.numbers("alias", []))):
            raise Refused("alias")
        for i, value in enumerate(op.results):
            source = op.alias(i)
            if source is not None and not one_memory(types[value], types[source]):
                raise Refused("alias")
            checked = not op.attrs.get("_unchecked")
            if checked and op.type in VIEWS and not one_memory(types[value], types[op.values()[0]]):
                raise Refused("op-signature")
    for value in graph.returned:
        if value not in types:
            raise Refused("unknown-value")
        if types[value] == "token":
            raise Refused("token")
    if len(graph.returned) != len(graph.result_types):
        raise Refused("return")
    shared = {}
    for op in graph.ops:
        if op.type in ("Variable", "RefData") and op.attrs.get("shared_name"):
            for type in op.types:
                name = op.attrs["shared_name"]
                if type != "token" and not one_memory(shared.setdefault(name, type), type):
                    raise Refused("alias")
    check_blocks(graph)
    check_events(graph)
    order = Order(graph)
    check_bytes(graph, order)
    return order


def check_bytes(graph, order):
    """Ops that access the same bytes, one of them writing, are in order."""
    accesses = [order.accesses(op) for op in graph.ops]
    for accessed in accesses:
        for (cell, a, wrote), (other, b, writes) in itertools.combinations(accessed, 2):
            if cell != other and wrote != writes and meet(a, b):
                raise Refused("overlap")
    if apart(graph, order, order.launched().before):
        raise Refused("overlap")


def apart(graph, order, before):
    """Pairs of ops of one byte, one of them writing, of which neither is before the other."""
    accesses = [order.accesses(op) for op in graph.ops]
    return {(name_of(graph.ops[i]), name_of(graph.ops[j]))
            for i, j in itertools.combinations(range(len(graph.ops)), 2)
            if not (before[j] >> i | before[i] >> j) & 1
            and any(meet(a, b) and (wrote or writes)
                    for _, a, wrote in accesses[i] for _, b, writes in accesses[j])}


def meet(a, b):
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


def check_blocks(graph):
    said, ids = {}, {}
    for word, name, attrs in graph.blocks:
        for key in ("id", "priority") if word == "stream" else ("options",):
            if key in attrs and said.setdefault((word, name, key), attrs[key]) != attrs[key]:
                raise Refused("conflict")
        if word == "stream" and "id" in attrs:
            if (attrs["id"] == 0) != (name == "0") or ids.setdefault(attrs["id"], name) != name:
                raise Refused("conflict")


def check_events(graph):
    senders, receivers = {}, {}
    for owner in graph.ops + graph.launches:
        for event in owner.send:
            if event in senders:
                raise Refused("duplicate")
            senders[event] = owner
        for event in owner.recv:
            receivers.setdefault(event, []).append(owner)
    if senders.keys() != receivers.keys():
        raise Refused("event-partner")
    for event, sender in senders.items():
        for receiver in receivers[event]:
            if (isinstance(sender, Op) and isinstance(receiver, Op) and sender is not receiver
                    and not sender.passive() and not receiver.passive()
                    and sender.stream == receiver.stream and sender.kernel is receiver.kernel):
                raise Refused("event-order")


class Relation:
    """A relation of numbers from 0, and what follows from it: sets are bits of integers."""

    def __init__(self, count, rows=None):
        self.before = list(rows) if rows else [0] * count

    def add(self, first, then):
        self.before[then] |= 1 << first

    def close(self):
        for middle in range(len(self.before)):
            bit, row = 1 << middle, self.before[middle]
            for then, those in enumerate(self.before):
                if those & bit:
                    self.before[then] |= row
        return self

    def circle(self):
        return any(row >> i & 1 for i, row in enumerate(self.before))

    def pairs(self):
        return {(first, then) for then, row in enumerate(self.before)
                for first in range(len(self.before)) if row >> first & 1}


class Order:
    """The order that section Order demands of the ops of a graph; `pairs` holds those that execute
    something, by their names, `uses` those of them where data or memory itself orders, `overwrites`
    those where the second writes what the first reads, `read_after` those where it but reads what
    the first reads and writes."""

    def __init__(self, graph):
        self.graph = graph
        self.relation = Relation(len(graph.ops))
        self.place = {id(op): i for i, op in enumerate(graph.ops)}
        self.shares, self.kept, self.read_too = set(), set(), set()
        self.data()
        self.streams()
        self.events()
        self.memory()
        self.relation.close()
        if self.relation.circle():
            raise Refused("cycle")
        self.names = [name_of(op) for op in graph.ops]
        self.bytes = {}
        self.addresses()
        self.shared_bytes()
        active = [i for i, op in enumerate(graph.ops) if not op.passive()]
        named = [{(self.names[a], self.names[b]) for a, b in pairs if a in active and b in active}
                 for pairs in (self.relation.pairs(), self.shares, self.kept, self.read_too)]
        self.pairs, self.uses, self.overwrites, self.read_after = named

    def data(self):
        definition = {value: i for i, op in enumerate(self.graph.ops) for value in op.results}
        sources = {}
        for i, op in enumerate(self.graph.ops):
            for value in op.values():
                if value in definition:
                    self.relation.add(definition[value], i)
            for value in op.after:
                for waiting in self.waiting(i) if value in definition else ():
                    self.relation.add(definition[value], waiting)
            read = {source for value in op.values() for source in sources.get(value, ())}
            self.shares |= {(source, i) for source in read}
            for value in op.results:
                sources[value] = read if op.passive() else {i}

    def streams(self):
        last = {}
        for i, op in enumerate(self.graph.ops):
            if not op.passive():
                if op.stream in last:
                    self.relation.add(last[op.stream], i)
                last[op.stream] = i

    def waiting(self, i):
        """The ops that wait for what a clause of an op names: it, and later ones of its stream."""
        op, ops = self.graph.ops[i], self.graph.ops
        if not op.passive() or op.attrs.get("off_stream"):
            return [i]
        return [i] + [j for j in range(i + 1, len(ops))
                      if ops[j].stream == op.stream and not ops[j].passive()]

    def ends(self, owner, first):
        """The ops that wait for an event (`first`) or send it."""
        if isinstance(owner, Op):
            place = self.place[id(owner)]
            return self.waiting(place) if first else [place]
        found = {}
        for i, op in enumerate(self.graph.ops):
            if op.kernel is owner and not op.passive() and not (first and op.stream in found):
                found[op.stream] = i
        return found.values()

    def events(self):
        senders = {e: o for o in self.graph.ops + self.graph.launches for e in o.send}
        for owner in self.graph.ops + self.graph.launches:
            for event in owner.recv:
                for sender in self.ends(senders[event], False):
                    for receiver in self.ends(owner, True):
                        self.relation.add(sender, receiver)

    def memory(self):
        memory = {value: ("value", value) for value in self.graph.params}
        accesses = {}
        self.cells, self.writers = memory, {}
        for i, op in enumerate(self.graph.ops):
            write = {memory[value] for value in op.writes()}
            write |= {("buffer", name) for name in texts(op.attrs.get("writes"))}
            read = {memory[value] for value in op.values() if value in memory}
            read |= {("buffer", name) for name in texts(op.attrs.get("reads"))}
            for cell in write | read:
                for other, has_read, wrote in accesses.get(cell, []):
                    if wrote or cell in write:
                        self.relation.add(other, i)
                        self.shares.add((other, i))
                    if has_read and (wrote or cell in write):
                        (self.kept if cell in write else self.read_too).add((other, i))
                accesses.setdefault(cell, []).append((i, cell in read, cell in write))
            for cell in write:
                self.writers.setdefault(cell, []).append(i)
            for j, value in enumerate(op.results):
                source = op.alias(j)
                shared = op.attrs.get("shared_name") if op.type in ("Variable", "RefData") else None
                memory[value] = (memory[source] if source is not None
                                 else ("shared", shared) if shared else ("value", value))
                if source is None and not op.passive():
                    self.writers.setdefault(memory[value], []).append(i)

    def addresses(self):
        """Where memory is: buffer, first byte and the one behind the last."""
        types = dict(self.graph.params)
        said = dict(self.graph.addresses)
        for op in self.graph.ops:
            types.update(zip(op.results, op.types))
            said.update(zip(op.results, op.attrs.get("address", {}).get("results", ())))
        for value, address in said.items():
            if address and address != "none":
                where = address[0], address[1], address[1] + 4 * elements(types[value])
                self.bytes[self.cells[value]] = where

    def accesses(self, op):
        """The memory of an op that has an address: its cell, its bytes, and whether they are
        written."""
        if op.passive():
            return []
        written = {self.cells[value] for value in op.writes()}
        own = {self.cells[value] for i, value in enumerate(op.results)
               if op.types[i] != "token" and op.alias(i) is None}
        cells = written | own | {self.cells[value] for value in op.values()}
        return [(cell, self.bytes[cell], cell in written | own)
                for cell in sorted(cells) if cell in self.bytes]

    def launched(self):
        """The order with launches of one stream behind one another."""
        relation = Relation(0, self.relation.before)
        units = [(i, op.kernel or op) for i, op in enumerate(self.graph.ops)
                 if not op.passive() and not op.scope]
        for (i, first), (j, then) in itertools.combinations(units, 2):
            if first is not then and first.stream == then.stream:
                relation.add(i, j)
        return relation.close()

    def shared_bytes(self):
        """Orders of ops that access the same bytes by different names are of memory, too."""
        ops = self.graph.ops
        for i, j in self.relation.pairs():
            for cell, a, wrote in self.accesses(ops[i]):
                for other, b, writes in self.accesses(ops[j]):
                    if cell != other and meet(a, b) and (wrote or writes):
                        self.shares.add((i, j))
                        (self.read_too if wrote else self.kept).add((i, j))

    def written(self, op, number):
        """The names of the ops before one that write what its operand of a number reads."""
        found = set()
        for value in op.operands[number][2]:
            found |= {self.names[i] for i in self.writers.get(self.cells[value], ())}
        return {name for name in found if (name, name_of(op)) in self.pairs}


def name_of(op):
    return op.attrs.get("_id", op.results[0] if op.results else op.type)


# ---- Launches and events, as docs/passes.md has them behind insert-events ----


class Launches:
    """What runs in order of itself, and by events, where graph is what insert-events made."""

    def __init__(self, graph):
        self.graph = graph
        self.active = [op for op in graph.ops if not op.passive()]
        self.place = {id(op): i for i, op in enumerate(self.active)}
        self.base = Relation(len(self.active))
        units = {}
        for op in self.active:
            unit = op.kernel or op
            units.setdefault(id(unit), (unit, []))[1].append(op)
        self.units = {key: ops for key, (_, ops) in units.items()}
        last_launch, last_op = {}, {}
        for unit, ops in units.values():
            if unit.stream in last_launch:
                self.all_before(self.base, last_launch[unit.stream], ops)
            last_launch[unit.stream] = ops
        for op in self.active:
            if op.kernel:
                key = id(op.kernel), op.stream
                if key in last_op:
                    self.base.add(self.place[id(last_op[key])], self.place[id(op)])
                last_op[key] = op

    def all_before(self, relation, first, then):
        for a in first:
            for b in then:
                relation.add(self.place[id(a)], self.place[id(b)])

    def ops(self, owner):
        return [owner] if isinstance(owner, Op) else self.units.get(id(owner), [])

    def edges(self):
        senders = {e: o for o in self.graph.ops + self.graph.launches for e in o.send}
        return [(event, senders[event], owner) for owner in self.graph.ops + self.graph.launches
                for event in owner.recv]

    def named(self, relation):
        names = [name_of(op) for op in self.active]
        return {(names[a], names[b]) for a, b in relation.pairs()}

    def ordered(self, without=None):
        relation = Relation(0, self.base.before)
        for event, sender, receiver in self.edges():
            if event != without:
                self.all_before(relation, self.ops(sender), self.ops(receiver))
        return self.named(relation.close())

    def allowed(self, required):
        """The most that may be ordered: events of first and last ops are those of the launch."""
        relation = Relation(0, self.base.before)
        by_name = {name_of(op): op for op in self.active}
        for first, then in required:
            a, b = by_name[first], by_name[then]
            if a.kernel is not None and a.kernel is b.kernel:
                self.all_before(relation, [a], [b])
                continue
            before, behind = self.unit(a), self.unit(b)
            self.all_before(relation, before if a is before[-1] else [a],
                            behind if b is behind[0] else [b])
        return self.named(relation.close())

    def unit(self, op):
        return self.units[id(op.kernel or op)]
