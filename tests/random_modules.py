"""Random modules in .skir with what the language has, most of them correct: for tests of what must
work for every module. `text(seed)` is always the same text for a seed.

Most names are plain; some are those that others use with a meaning of their own.
"""

import random

DTYPES = ("f32 f16 bf16 f64 i8 i32 i64 u8 u64 bool hif8 f8e5m2 i4 u1 c64 string resource "
          "f4e2m1").split()
FORMATS = "NCHW NHWC FRACTAL_NZ NC1HWC0 NCL".split()
KINDS = "int float bool string type list".split()

# Op types with a meaning in some format, or data of their own that _unchecked passes over.
ODD_TYPES = ["Data", "NetOutput", "RefData", "Send", "Recv", "Placeholder", "_Arg", "_Retval",
             "MatMul", "ConcatV2", "Pack", "IncreFlashAttention", "Split", "Identity", "Const",
             "Gemm", "AippData", "FileConstant", "NextIteration", "Enter"]
PLAIN_TYPES = ["Foo", "Bar_2", "_Odd", '"small op"', '"dom::Op"', '"ai.onnx::Op"', '"a::b::C"',
               '"_skir_Data"', '"subgraph"', '"none"', '"é"', '"::X"', '"X::"']

# Names of values that could be those of nodes without results, of what is returned, or words.
ODD_NAMES = ["NetOutput", "NetOutput_1", "Foo", "Foo_1", "value", "value_1", "none", "f32", "0",
             "_", "Data", "Bar_2", "Last", "token", '"%x"', '"@g"', '"$"', '":0"', '"a.1"',
             '"_skir"', "unused"]

# Keys of attributes that readers look at.
KEYS = ["_a", "_b c", "_é", "_super_kernel_scope", "_super_kernel_options", "_index", "_name",
        "_skir", "_user_stream_label", "_user_stream_priority", "_input_name_key",
        "_input_name_value", "_input_name_idx_key", "_parent_node_index", "_subgraphs", "_meta"]
OP_KEYS = KEYS + ["index", "event_id", "notify_id", "file_path", "location", "offset", "length",
                  "name", "dtype", "shape", "type", "N", "T", "[i]x0", "[o]y0", "input", "axis",
                  "then_branch", "f", "_loc", "src_name", "DT_FLOAT", "a=b", " ", "domain", "true",
                  "none", "f32", "call", "supportSuperKernel", "_hccl", "value"]

# The blocks of one AI core that kernels of a type can be called on.
KERNEL_TYPES = "aiv_only aic_only mix_aic_1_0 mix_aiv_1_0 mix_aic_1_1 mix_aic_1_2".split()


class Values:
    """The values of a graph so far: those that can be read, and those that can be waited for."""

    def __init__(self):
        self.read, self.waited = [], []


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0
        self.events = 0
        self.elements = []  # symbols that there are
        self.kernels = []   # name and parameters, or None where it takes any
        self.dims, self.sums, self.pending = [], [], []
        self.fixed = False  # in a super kernel with fixed slots
        self.callable = []  # families of graphs
        self.odd = []       # of ODD_NAMES, those that no value of the graph has

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, part):
        return self.random.random() < part

    def name(self):
        self.names += 1
        if self.odd and self.chance(0.1):
            return self.odd.pop(self.random.randrange(len(self.odd)))
        plain = f"{self.pick('x', 'y', 'add_', 'n.')}{self.names}"
        if self.chance(0.1):
            return f'"{plain}{self.pick("/é", " b", ":1", "^", "", chr(92) + "x01", "&<", ":-1")}"'
        if self.chance(0.05):
            return f"{plain}{self.pick('.1', '.2', '_1')}"
        return plain if self.chance(0.95) else f'"^{plain}"'

    def element(self, kind):
        """The name of a new element of the module."""
        self.names += 1
        plain = f"{kind}{self.names}"
        made = plain if self.chance(0.85) else \
            f'"{plain}{self.pick(" b", "/1", ":0", chr(92) + chr(34), "é", "^")}"'
        return "@" + made

    # ---- Types and data ----

    def dim(self):
        return self.pick("1", "2", "8", "0", "4096", "?", *self.dims, *self.sums)

    def type(self, plain=False):
        dtype = "?" if self.chance(0.08) else self.random.choice(DTYPES)
        if self.chance(0.08):
            return dtype + "[..]" + (":" + self.random.choice(FORMATS) if self.chance(0.2) else "")
        dims = ", ".join(self.dim() for _ in range(self.random.randrange(4)))
        text = f"{dtype}[{dims}]"
        return text + ":" + self.random.choice(FORMATS) if self.chance(0.2) and not plain else text

    def string(self):
        return self.pick('"a"', '""', '"two words"', r'"\"q\" \\ \n\x00\x7f"', '"é"', "\"it's\"",
                         '"a:b=c"', '"NaN"', r'"\xff"', '"}, {"', '"f32[2]"')

    def data(self, depth=0):
        kind = self.random.randrange(16 if depth < 2 else 8)
        if kind == 0:
            return str(self.pick(0, 1, -1, 7, 2 ** 63 - 1, -2 ** 63))
        if kind == 1:
            return self.pick("0.5", "1e-05", "inf", "-inf", "nan", "-0.0", "3.0", "1e+300", "0.1")
        if kind in (2, 3):
            return self.string()
        if kind == 4:
            return self.pick("true", "false")
        if kind == 5:
            return self.pick("word", "none", "f32", "value", "call")
        if kind == 6:
            return self.type()
        if kind == 7:
            return "[]" + (":" + self.random.choice(KINDS) if self.chance(0.8) else "")
        if kind == 8:
            return "{" + ", ".join(f"k{i} = {self.data(depth + 1)}"
                                   for i in range(self.random.randrange(1, 3))) + "}"
        if kind == 9:
            return "[" + ", ".join(self.data(depth + 1)
                                   for _ in range(self.random.randrange(1, 4))) + "]"
        if kind == 14:
            return self.random.choice(self.elements) if self.elements else "1"
        if kind == 15:
            return "{}"
        elements = {10: ["1", "-2"], 11: ["0.5", "inf"], 12: ['"a"', '"b"'],
                    13: ["[1, 2]", "[3]"]}[kind]
        return "[" + ", ".join(self.random.choice(elements)
                               for _ in range(self.random.randrange(1, 4))) + "]"

    def attrs(self, part, more=(), keys=KEYS):
        keys = self.random.sample(keys, self.random.randrange(1, 4)) if self.chance(part) else []
        texts = list(more)
        for key in keys:
            if key == "_loc":
                texts.append('_loc = "model.py:7"')
            elif key in ("supportSuperKernel", "_hccl"):
                texts.append(key + self.pick("", " = 0", " = 1", " = false"))
            else:
                texts.append(f'"{key}" = {self.data()}')
        self.random.shuffle(texts)
        return " {" + ", ".join(texts) + "}" if texts else ""

    # ---- Kernels ----

    def kernel(self):
        name = self.element("k")
        kind = self.random.choice(KERNEL_TYPES)
        params = None
        texts = []
        if self.chance(0.5):
            params = [self.pick("x", "y", "key", "value", "f32", "none", "call") + str(i)
                      for i in range(self.random.randrange(4))]
            texts.append("params = [" + ", ".join(params + self.pick([], ["workspace"], ["tiling"]))
                         + "]")
        if self.chance(0.4):
            texts.append("stub")
        else:
            texts += self.code(kind)
        if "dynamic" not in texts:
            texts.append(f"block = {self.pick(1, 4, 8)}")
        for text in ("sync_all", "dcci_before", "dcci_after", "dcci_disable", "workspace = 4096",
                     "workspace_per_element = 4", "early_start = [set, wait]", "early_start = [set, wait, reads_done, reads_late]", "code = 5000",
                     '_why = "a\\"b"', '_json = "k.json"', '"_é" = {a = [1, @"not there"]}'):
            if self.chance(0.1):
                texts.append(text)
        self.kernels.append((name, params))
        self.elements.append(name)
        self.random.shuffle(texts)
        held = " {\n  " + ",\n  ".join(texts) + "\n}" if texts else ""
        return f"kernel {name} : {kind}{held}\n"

    def code(self, kind):
        """Attributes that say which code a kernel has."""
        mixed = kind in ("mix_aic_1_1", "mix_aic_1_2")
        if self.chance(0.2):
            parts = 'aic = "f", aiv = "g"' if mixed else \
                ('aiv = "f"' if kind in ("aiv_only", "mix_aiv_1_0") else 'aic = "f"')
            return ["dynamic", f"variants = [{{key = 0, type = {kind}, {parts}}}]"]
        function = '{aic = "f", aiv = "g"}' if mixed else '"f"'
        return self.pick([], ['object = "a b.o"'], [f"function = {function}", 'object = "k.o"'],
                         ["split = 2"])

    # ---- Ops ----

    def operands(self, read, plain=False):
        if plain or self.chance(0.6):
            return ", ".join(self.random.choice(read)
                             for _ in range(self.random.randrange(3)) if read)
        forms = []
        for _ in range(self.random.randrange(1, 4)):
            forms.append(self.pick("none", self.random.choice(read) if read else "none",
                                   "[" + ", ".join(self.random.sample(read, min(2, len(read))))
                                   + "]", "[]"))
        at = self.random.randrange(len(forms) + 1) if self.chance(0.4) else len(forms)
        names = self.random.sample(["l0", "x", "none", "f32", "value", "call", "l1"], len(forms))
        return ", ".join(form if i < at else f"{names[i]} = {form}" for i, form in enumerate(forms))

    def operands_of(self, params, read):
        """Operands of a kernel's parameters, by their order or by their names."""
        forms = [self.pick("none", self.random.choice(read) if read else "none", "[]")
                 for _ in params]
        at = self.random.randrange(len(forms) + 1)
        named = [f"{param} = {form}" for param, form in zip(params[at:], forms[at:])]
        self.random.shuffle(named)
        return ", ".join(forms[:at] + named)

    def clauses(self, values, label, slots):
        text = ""
        if values.waited and self.chance(0.3):
            some = self.random.sample(values.waited, min(self.pick(1, 2, 3), len(values.waited)))
            text += " after (" + ", ".join(some) + ")"
        send = recv = ""
        ready = [i for i, (_, sender) in enumerate(self.pending) if sender != label]
        if ready and self.chance(0.5) and slots:
            some = sorted(self.random.sample(ready, self.random.randrange(1, len(ready) + 1)),
                          reverse=True)
            recv = " recv [" + ", ".join(self.pending.pop(i)[0] for i in some) + "]"
        if slots and self.chance(0.2):
            sent = []
            for _ in range(self.pick(1, 1, 2)):
                self.events += 1
                sent.append(self.pick(f"e{self.events}", str(self.events), f"f{self.events}"))
                self.pending.append((sent[-1], label))
            send = " send [" + ", ".join(sent) + "]"
        return text + send + recv

    def op(self, values, label):
        results = [f"%{self.name()}" for _ in range(self.pick(0, 1, 1, 1, 2, 3))]
        types = [self.type() for _ in results]
        tokens, told = [], []
        if self.chance(0.15):
            tokens = [f"%{self.name()}"]
        kind = self.random.choice(PLAIN_TYPES)
        odd = self.chance(0.2)
        if odd:
            kind = self.random.choice(ODD_TYPES)
            told.append("_unchecked")
        via = self.random.choice(self.kernels) if self.kernels and self.chance(0.4) else None
        given = self.operands(values.read, via is not None)
        passive = kind in ("Data", "RefData", "NetOutput", "Placeholder", "Const", "Send", "Recv",
                           "FileConstant", "Identity")
        if via:
            kernel, params = via
            if params is not None:
                n_results = self.random.randrange(len(params) + 1)
                results = results[:n_results] + [f"%{self.name()}"
                                                 for _ in range(n_results - len(results))]
                types = [self.type() for _ in results]
                given = self.operands_of(params[:len(params) - n_results], values.read)
        elif self.chance(0.2):
            told += self.memory(given, len(results) + len(tokens))
        names = results + tokens
        types += ["token"] * len(tokens)
        text = (", ".join(names) + " = " if names else "") + f"{kind}({given})"
        text += self.attrs(0.4, told, OP_KEYS)
        if types:
            text += " : (" + ", ".join(types) + ")" if len(types) > 1 else " : " + types[0]
        text += (f" via {via[0]}" if via else "") + self.clauses(values, label, not (passive and self.fixed))
        values.read += results
        values.waited += results + tokens
        return text

    def memory(self, given, n_results):
        """What an op says of the memory that it accesses."""
        texts = []
        if self.chance(0.4):
            texts.append(self.pick('reads = "log"', 'writes = ["log", "é"]', "reads = []"))
        if given.startswith("%") and "," not in given:
            texts.append(self.pick("inplace = [0]", "inplace = []"))
        if self.chance(0.3):
            texts.append(f"alias = [{', '.join(['none'] * n_results)}]")
        return texts

    # ---- Blocks ----

    def block(self, lines, values, scopes, streams, depth):
        indent = "  " * (depth + 1)
        kind = self.pick("scope", "scope", "none", "stream", "stream", "superkernel")
        if ("k" in scopes and kind != "stream") or (scopes and kind == "superkernel"):
            kind = "stream"
        inner_scopes, inner_streams, clauses = scopes, streams, ""
        if kind == "scope":
            name = self.pick("s", "t", "None", "none", '"a b"', '"é"')
            told = ['options = "stream-fusion=1"'] if name == "s" and self.chance(0.7) else []
            head, inner_scopes = f"scope @{name}" + self.attrs(0.1, told), scopes + ["s"]
        elif kind == "none":
            head, inner_scopes = "scope none", scopes + ["s"]
        elif kind == "stream":
            label = self.pick("1", "2", "0", "main one", "é")
            told = ["priority = 3"] if label == "2" and self.chance(0.7) else []
            told += ['queue = "high"'] if label == "1" and self.chance(0.2) else []
            told += ["id = 7"] if label == "main one" and self.chance(0.3) else []
            head, inner_streams = f'stream "{label}"' + self.attrs(0.1, told), streams + [label]
        else:
            name = self.element("sk")
            told = self.random.sample(["scope = @s", 'options = "stream-fusion=1"', 'stream = "1"',
                                       "fixed_slots"], self.pick(0, 1, 2))
            head = f"superkernel {name}" + self.attrs(0.1, told)
            inner_scopes = scopes + ["k"]
            ready = [event for event, _ in self.pending]
            if ready and self.chance(0.3):
                self.pending.pop(0)
                clauses = f" recv [{ready[0]}]"
            if self.chance(0.2):
                self.events += 1
                clauses = f" send [e{self.events}]" + clauses
            self.elements.append(name)
        held = self.pending
        self.pending = [] if kind == "superkernel" else held
        lines.append(indent + head + clauses + " {")
        if not self.chance(0.05):
            fixed, self.fixed = self.fixed, self.fixed or "fixed_slots" in head
            self.body(lines, values, inner_scopes, inner_streams, depth + 1)
            self.fixed = fixed
        lines.append(indent + "}")
        if kind == "superkernel":
            self.pending += held
            if clauses.startswith(" send"):
                self.pending.append((f"e{self.events}" if " e" in clauses else "", "launch"))
                self.pending[-1] = (clauses.split("[")[1].split("]")[0], "launch")

    def body(self, lines, values, scopes, streams, depth):
        label = streams[-1] if streams else "0"
        for _ in range(self.random.randrange(1, 5)):
            if depth < 4 and self.chance(0.4):
                self.block(lines, values, scopes, streams, depth)
            elif self.callable and "k" not in scopes and self.chance(0.1):
                self.call(lines, values, "  " * (depth + 1))
            else:
                lines.append("  " * (depth + 1) + self.op(values, label))

    def constants(self, lines, values):
        for _ in range(self.random.randrange(3)):
            name = "%" + self.name()
            type, said = self.pick(("f16[2]", "[0.1, 2]"), ("i32[4]", "7"), ("f32[]", "0.5"),
                                   ("bool[2]", "[true, 0]"), ("i64[1]", "[-1]"),
                                   ("f32[3, 2]", '{file = "w.bin", offset = 8, bytes = 24}'),
                                   ("u8[70]", "1"), ("c64[2]", '{file = "c.bin"}'),
                                   ("f32[2]:NCL", "[1, 1]"), ("f32[0]", "[]"), ("bf16[]", "nan"),
                                   ("f4e2m1[2]", "[0.5, 6]"), ("u64[2]", "9223372036854775807"),
                                   ("f32[2]", '{file = "d.txt", offset = 3, bytes = 8, escaped}'),
                                   ("string[2]", None), ("f32[?]", None))
            told = [] if said is None else [f"value = {said}"]
            kind = self.pick("Const", "Constant", "Variable")
            if kind == "Variable" and self.chance(0.4):
                told.append(f'shared_name = "v{type}"')
            lines.append(f"  {name} = {kind}(){self.attrs(0.1, told)} : {type}")
            values.read.append(name)

    # ---- Graphs ----

    def made(self, lines, type, indent, values):
        """A value of just that type."""
        name = "%" + self.name()
        given = self.random.choice(values.read) if values.read and self.chance(0.5) else ""
        lines.append(f"{indent}{name} = Give({given}) : {type}")
        values.read.append(name)
        return name

    def call(self, lines, values, indent):
        """An op that calls graphs, with the parameters that these take."""
        family = self.random.choice(self.callable)
        lead = {"If": ["bool[]"], "Case": ["i32[]"], "For": ["i64[]"] * 3}.get(family["kind"], [])
        takes = family["takes"][1:] if family["kind"] == "For" else family["takes"]
        given = [self.made(lines, type, indent, values) for type in lead + takes]
        kind = family["kind"]
        if kind in ("If", "Case", "While") and self.chance(0.3):
            kind = "Stateless" + kind
        if kind == "PartitionedCall" and self.chance(0.3):
            kind = "StatefulPartitionedCall"
        results = ["%" + self.name() for _ in family["gives"]]
        types = [self.pick(type, "?[..]") for type in family["gives"]]
        text = f"{', '.join(results)}{' = ' if results else ''}{kind}({', '.join(given)})"
        text += self.attrs(0.2, family["attrs"])
        text += f" : ({', '.join(types)})" if types else ""
        if values.waited and self.chance(0.2):
            text += f" after ({self.random.choice(values.waited)})"
        lines.append(indent + text)
        values.read += results
        values.waited += results

    def family(self):
        """Graphs of one signature, and how an op calls them; their texts."""
        kind = self.pick("If", "If", "Case", "While", "For", "PartitionedCall", "PartitionedCall")
        self.dims, self.sums = [], []
        takes = [self.type() for _ in range(self.random.randrange(3))]
        gives = [self.type() for _ in range(self.random.randrange(3))]
        if kind == "While":
            takes = takes or ["f32[2]"]
        if kind in ("While", "For"):
            gives = takes
        if kind == "For":
            takes = ["i64[]"] + takes
        keys = {"If": ["then_branch", "else_branch"], "While": ["cond", "body"], "For": ["body"],
                "PartitionedCall": ["f"], "Case": []}[kind]
        names, texts = [], []
        count = len(keys) or self.random.randrange(1, 4)
        for i in range(count):
            if i and kind != "While" and self.chance(0.2):
                names.append(names[0])
                continue
            result = ["bool[]"] if kind == "While" and i == 0 else gives
            name, text = self.graph((takes, result))
            names.append(name)
            texts.append(text)
        attrs = [f"{key} = {name}" for key, name in zip(keys, names)] or \
            [f"branches = [{', '.join(names)}]"]
        self.callable.append({"kind": kind, "takes": takes, "gives": gives, "attrs": attrs})
        return texts

    def graph(self, signature=None):
        """Name and text of a graph."""
        name = self.element("g")
        self.odd = list(ODD_NAMES)
        self.dims, self.sums, self.pending = [], [], []
        head = ""
        if not signature and self.chance(0.3):
            self.dims = self.pick(["b", "s"], ["none", "x_1"], ["f32", "call"])
            self.sums = [f"2*{self.dims[0]} + 1", f"{self.dims[0]}*{self.dims[1]}"]
            head = f" dims ({', '.join(self.dims)})" if self.chance(0.5) else \
                " gears " + self.pick("zip", "product") + \
                f" ({self.dims[0]} = [2, 4], {self.dims[1]} = [3, 5])"
        geared = " gears " in head
        types = signature[0] if signature else [self.type(plain=geared)
                                                for _ in range(self.random.randrange(4))]
        if geared:
            types.append(f"f32[{', '.join(self.dims)}]")
        params = [("%" + self.name(), type) for type in types]
        values, lines = Values(), []
        values.read = [param for param, _ in params]
        values.waited = list(values.read)
        self.constants(lines, values)
        self.body(lines, values, [], [], 0)
        while self.callable and not signature and self.chance(0.5):
            self.call(lines, values, "  ")
        if self.pending:
            lines.append('  stream "last" {\n    Last() recv ['
                         + ", ".join(event for event, _ in self.pending) + "]\n  }")
        told = ["static"] if self.chance(0.1) and not self.dims else []
        shown = ", ".join(f"{param}: {type}{self.attrs(0.2, told)}" for param, type in params)
        if signature:
            returned = [self.made(lines, type, "  ", values) for type in signature[1]]
            results = [self.pick(type, "?[..]") for type in signature[1]]
        else:
            returned = [self.random.choice(values.read)
                        for _ in range(self.random.randrange(4)) if values.read]
            results = ["?[..]"] * len(returned)
        text = f"graph {name}({shown}){self.attrs(0.3)}{head} -> ({', '.join(results)}) {{\n"
        text += "\n".join(lines) + "\n"
        text += f"  return {', '.join(returned)}\n" if returned else ""
        self.elements.append(name)
        return name, text + "}\n"

    # ---- Entries ----

    def entry(self):
        """An entry that is the code of no super kernel."""
        kind = self.random.choice(KERNEL_TYPES)
        groups = [self.pick(f"%v{i}", f"Word{i}", f'"f32{i}"') for i in range(self.pick(0, 1, 2))]
        lines = []
        for group in groups:
            held = [self.pick("%a", "none", "tiling", "workspace", "[%a, %b]", "send e", "recv 3")
                    for _ in range(self.random.randrange(4))]
            lines.append(f"  args {group} = [{', '.join(held)}]")
        cores = {"aiv_only": ["aiv"], "mix_aiv_1_0": ["aiv"], "aic_only": ["aic"],
                 "mix_aic_1_0": ["aic"]}.get(kind, ["aic", "aiv"])
        for core in cores:
            lines.append(f"  {core} {{")
            pair = [] if len(cores) == 1 else \
                ["set c2v", "wait v2c"] if core == "aic" else ["wait c2v", "set v2c"]
            count, check = self.pick(("", ""), (f"count_arrive {core}\n    ",
                                               f"\n    check_await {core}"))
            some = [f"{count}arrive {core}\n    await {core}{check}", "pipe_barrier", "dcci all",
                    "trace 3 4", "preload_all 2"]
            some += [f"preload_data args {group}" for group in groups]
            lines += ["    " + self.random.choice(some) for _ in range(self.random.randrange(4))]
            lines += ["    " + step for step in pair]
            lines.append("  }")
        head = f"entry {self.element('e')} : {kind}"
        told = ["block = 4"] + self.pick([], ["split = 2"], ["workspace = 64"])
        return head + self.attrs(0.2, told) + " {\n" + "\n".join(lines) + "\n}\n"

    def module(self):
        parts = []
        for _ in range(self.pick(0, 0, 1, 2, 3)):
            parts.append(self.kernel())
        for _ in range(self.pick(0, 0, 0, 1, 1, 2)):
            parts += self.family()
        for _ in range(self.pick(1, 1, 1, 2)):
            parts.append(self.graph()[1])
        for _ in range(self.pick(0, 0, 0, 1, 2)):
            parts.append(self.entry())
        if self.chance(0.2):
            self.random.shuffle(parts)
        text = "skir 1\n"
        if self.chance(0.3):
            text += 'target "t é"' + self.pick("", " {aic = 8, aiv = 16}", " {events = 9}",
                                               ' {aic = 8, aiv = 16, _loc = "f:1"}') + "\n"
        return text + "\n".join(parts)


def text(seed):
    return Maker(seed).module()
