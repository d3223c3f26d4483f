"""Random graphs for the judges: with faults, or with kernels, to be lowered to entries."""

import random

KERNELS = ["aiv_only", "aic_only", "mix_aic_1_1", "mix_aic_1_2"]


class Text:
    """A random graph. With `faults`, some break a rule."""

    def __init__(self, seed, faults, lower=False):
        self.random = random.Random(seed)
        self.faults = faults and self.random.random() < 0.6
        self.ops, self.lines, self.launches = 0, [], 0
        self.values = [f"p{i}" for i in range(self.random.randint(1, 3))]
        self.params = len(self.values)
        self.tokens, self.places = [], []
        self.scopes = self.random.random() < 0.6
        self.kernels = self.random.random() < (0.25 if self.scopes else 0.7)
        self.busy = self.random.random()
        self.quiet, self.lower = self.chance(0.2), lower
        self.early = lower and self.chance(0.4)  # kernels built for early start: one stream
        self.places_bytes = self.chance(0.2)
        self.full, self.cached = self.chance(0.4), self.chance(0.3)
        fusion = 0 if self.early else 1
        self.options = f'options = "stream-fusion={fusion}'
        self.options += ":feed-sync-all=1" if self.full else ""
        self.options += f":dcci-scalar-reads={self.random.randint(0, 1)}" if self.cached else ""
        watched = "debug-cross-core-sync-check=1:preload-data=advance-step:profiling=1"
        self.options += f":{watched}" if self.chance(0.2) else ""
        self.options += '"'
        self.blocks = self.random.choice([1, 2, 4])
        while self.ops < 3 or self.random.random() < 0.8 and self.ops < 12:
            self.statements(1, None)
        self.events()

    def chance(self, odds):
        return self.random.random() < odds

    def fault(self, odds=0.02):
        return self.faults and self.chance(odds)

    def put(self, depth, line):
        self.lines.append("  " * depth + line)

    def statements(self, depth, inside):
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.55 or depth > 3:
                self.op(depth, inside)
                continue
            if kind < 0.8:
                label = self.random.choice(["0", "1", "1", "2", "two words"])
                if self.early:
                    self.aside(depth, inside)
                    continue
                head = f'stream "{label}"'
                if self.fault(0.1):
                    head += f" {{priority = {self.random.randint(0, 1)}}}"
            elif self.kernels and (inside is None or self.fault(0.1)):
                self.launches += 1
                head = f"superkernel @k{self.launches}"
                if lower_options := self.lower and f" {{{self.options}}}":
                    head += lower_options
                elif self.chance(0.3):
                    head += f' {{stream = "{self.random.choice("012")}"}}'
                self.places.append(len(self.lines))
            elif self.scopes and (inside != "kernel" or self.fault()):
                head = self.random.choice(["scope @s", "scope @s", "scope @t", "scope none"])
                if self.lower and "none" not in head:
                    head += f" {{{self.options}}}"
            else:
                continue
            now = {"sup": "kernel", "sco": "scope"}.get(head[:3], inside)
            self.put(depth, head + " {")
            self.statements(depth + 1, now)
            self.put(depth, "}")

    def aside(self, depth, inside):
        """Single ops on another stream, beside super kernels of one stream."""
        if inside is None:
            self.put(depth, 'stream "1" {')
            self.op(depth + 1, inside)
            self.put(depth, "}")

    def value(self):
        if self.tokens and self.fault():
            return "%" + self.random.choice(self.tokens)
        if self.fault(0.01):
            return f"%v{self.ops + self.random.randint(0, 2)}"
        recent = self.values[-4:] if self.chance(0.6) else self.values
        return "%" + self.random.choice(recent)

    def op(self, depth, inside):
        n, self.ops = self.ops, self.ops + 1
        kind, attrs, types = self.random.random(), [f"_id = {n}"], []
        count = self.random.randint(1, 3)
        operands = []
        if kind < 0.12:
            type, operands, results = "Reshape", [self.value()], 1
            if not self.lower and self.chance(0.1):
                attrs.append("alias = [none]")
        elif kind < 0.2:
            type, results = self.random.choice(["Const", "Data"]), 1
        elif kind < 0.27:
            type, results = self.random.choice(["Variable", "RefData"]), 1
            if self.chance(0.8):
                attrs.append(f'shared_name = "{self.random.choice(["v", "w", ""])}"')
        elif kind < 0.31:
            type, results = self.random.choice(["Send", "Recv"]), self.random.randint(0, 1)
            operands = [self.value() for _ in range(self.random.randint(0, 1))]
        else:
            type, results = "Work", self.random.choice([0, 1, 1, 1, 2])
            for i in range(count):
                pick = self.random.random()
                operands.append("none" if pick < 0.05
                                else f"[{self.value()}, {self.value()}]" if pick < 0.1
                                else self.value())
            if self.chance(0.3) and not self.lower:
                operands[-1] = "last = " + operands[-1]
            self.attributes(attrs, operands, results, inside)
        shared = any(attr.startswith("alias") for attr in attrs)
        if type == "Work" and results and self.places_bytes and not shared and self.chance(0.5):
            attrs.append(f"address = {{results = [[pool, {self.random.randint(0, 6) * 8}]]}}")
        token = self.chance(0.25) or self.lower and not results and type == "Work"
        if type == "Reshape" and token:
            token = False
        results += token and not results and type != "Work"
        names = [f"v{n}", f"w{n}"][:results] + [f"t{n}"] * token
        for i in range(results):
            types.append("f32[4]" if self.chance(0.7) and type != "Reshape" else "f32[2, 2]")
            if type == "Work" and self.fault():
                types[-1] = self.random.choice(["f32[5]", "f16[4]", "token"])
        types += ["token"] * token
        if token and not self.fault():
            attrs = [a[:-1] + ", none]" if a.startswith("alias") else a for a in attrs]
        text = ", ".join("%" + name for name in names) + " = " if names else ""
        text += f"{type}({', '.join(operands)}) {{{', '.join(attrs)}}}"
        text += f" : {types[0]}" if len(types) == 1 else f" : ({', '.join(types)})" if types else ""
        if self.lower and type == "Work":
            text += f" via @k{self.random.choice(KERNELS)}{self.random.choice(['', '_2'])}"
        defined = self.values[self.params:] + self.tokens
        if defined and self.chance(0.2):
            text += f" after (%{self.random.choice(defined)})"
        self.places.append(len(self.lines))
        self.put(depth, text)
        self.values += names[:results]
        self.tokens += names[results:]

    def attributes(self, attrs, operands, results, inside):
        numbers = [i for i, operand in enumerate(operands) if "none" not in operand]
        if numbers and self.chance(0.35):
            number = self.random.choice(numbers)
            if self.fault(0.1):
                number = len(operands)
            last = operands[-1].startswith("last") and number == len(operands) - 1
            attrs.append(f"inplace = [{'last' if last and self.chance(0.5) else number}]")
        plain = [i for i in numbers if "[" not in operands[i] or self.fault()]
        if plain and results and self.chance(0.3):
            where = [str(self.random.choice(plain)) if self.chance(0.7) else "none"
                     for _ in range(results)]
            if self.fault(0.1):
                where = where[1:]
            if where:
                attrs.append(f"alias = [{', '.join(where)}]")
        if self.chance(0.05) and (self.quiet or inside != "kernel"):
            attrs.append("supportSuperKernel = 0")
        for key in ("reads", "writes")[self.places_bytes:]:
            if self.chance(0.2 if self.early else 0.08):
                attrs.append(f'{key} = "{self.random.choice("ab")}"')

    def events(self):
        sends, receives, number = {}, {}, 100 if self.quiet else 0
        if self.quiet:
            return
        while self.chance(0.6 * self.busy + 0.2) and len(self.places) > 1:
            count = min(len(self.places), self.random.choice([2, 2, 3]))
            first, *others = self.random.sample(self.places, count)
            if first > min(others) and self.chance(0.8):
                first, others = min(others), [first]
            number += 1
            if not self.fault():
                sends.setdefault(first, []).append(f"e{number}")
            if self.fault():
                sends.setdefault(others[0], []).append(f"e{number}")
            for other in others:
                if not self.fault():
                    receives.setdefault(other, []).append(f"e{number}")
        for place in self.places:
            clauses = "".join(f" {word} [{', '.join(events[place])}]"
                              for word, events in (("send", sends), ("recv", receives))
                              if place in events)
            line = self.lines[place]
            brace = line.lstrip().startswith("superkernel")
            self.lines[place] = line[:-2] + clauses + " {" if brace else line + clauses

    def kernel(self, type):
        """The attributes of a kernel."""
        block = self.random.randint(1, self.blocks) * (2 if type == "aiv_only" else 1)
        attrs = [f"block = {block}"]
        words = self.random.choice(["set", "wait", "set, wait", ""]) if self.early else ""
        vouched = [("set", "reads_done"), ("wait", "reads_late")]
        words += "".join(f", {word}" for half, word in vouched
                         if half in words and self.chance(0.5))
        attrs += [f"early_start = [{words}]"] if words else []
        attrs += ["sync_all"] if self.full and self.chance(0.5) else []
        attrs += ["undrained"] if self.cached and "set" not in words and self.chance(0.3) else []
        attrs += ["scalar_reads = [0]"] if self.cached and self.chance(0.5) else []
        return attrs

    def text(self):
        params = ", ".join(f"%p{i}: f32[4]" for i in range(self.params))
        kernels = ""
        for type in KERNELS if self.lower else []:
            for name in (type, type + "_2"):
                kernels += f"kernel @k{name} : {type} {{{', '.join(self.kernel(type))}}}\n\n"
        return f"skir 1\n\n{kernels}graph @g({params}) -> () {{\n" + "\n".join(self.lines) + "\n}\n"
