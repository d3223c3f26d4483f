"""Random fusion requests: what each core of the entry in AscendC executes is what
docs/ascend.md says that it must, worked out here from the request alone. The entry runs under the
stand-in for the device that logs what is called, beside the repository; without it, or without
clang++, nothing is tested. SKIR_TEST_COUNT is the number of requests, SKIR_TEST_SEED the first.
"""

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
FOLDER = os.environ.get("SKIR_CONFORMANCE",
                        os.path.join(tap.SOURCE, os.pardir, "shared", "conformance"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "12"))
SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))

# By kernel type: AICs and AIVs of a block, and whether blocks count AIVs.
TYPES = {
    "AIV_ONLY": (0, 1, True),
    "AIC_ONLY": (1, 0, False),
    "MIX_AIV_1_0": (0, 1, True),
    "MIX_AIC_1_0": (1, 0, False),
    "MIX_AIC_1_1": (1, 1, False),
    "MIX_AIC_1_2": (1, 2, False),
}
SYNC = ("arrive", "await", "set", "wait", "pipe_barrier")
AIC, AIV = 0, 1
NAMES = ("aic", "aiv")


class Op:
    """An op of a request and its kernel."""

    def __init__(self, place, kind, blocks, params, code):
        self.place, self.kind, self.blocks, self.params, self.code = place, kind, blocks, params, code
        self.stream = 0
        self.send, self.recv = [], []
        self.set = self.wait = self.sync_all = False
        self.before = self.after = self.disable = False

    def has(self, core):
        return TYPES[self.kind][core] > 0

    def mixed(self):
        return self.has(AIC) and self.has(AIV)

    def main(self):
        return AIC if self.has(AIC) else AIV

    def function(self, core):
        return f"k{self.place}_body" + (f"_mix_{NAMES[core]}" if self.mixed() else "")

    def json(self):
        """The metadata of its kernel."""
        if self.mixed():
            names = {f"dav-c220-{part}": {"func_name": self.function(core), "obj_files": "-"}
                     for core, part in enumerate(("cube", "vec"))}
        else:
            names = {"AiCore": {"func_name": self.function(AIV), "obj_files": "-"}}
        return {
            "kernelName": f"k{self.place}", "blockDim": self.blocks,
            "sub_operator_op_type": f"Op{self.place}",
            "sub_operator_params": [f"p{i}" for i in range(self.params)],
            "sub_operator_kernel_type": "KERNEL_TYPE_" + self.kind,
            "sub_operator_kernel_name": names,
            "sub_operator_early_start_set_flag": self.set,
            "sub_operator_early_start_wait_flag": self.wait,
            "sub_operator_call_dcci_before_kernel_start": self.before,
            "sub_operator_call_dcci_after_kernel_end": self.after,
            "sub_operator_call_dcci_disable_on_kernel": self.disable,
            "sub_op_with_sync_all": self.sync_all,
        }


class Request:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.options = {}
        self.ops = []
        self.fill()

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def fill(self):
        choose = self.random.choice
        kinds = choose((list(TYPES), ["AIV_ONLY", "MIX_AIV_1_0"], ["AIC_ONLY", "MIX_AIC_1_0"],
                        ["MIX_AIC_1_1"], ["AIV_ONLY", "AIC_ONLY"], ["MIX_AIC_1_1", "MIX_AIC_1_2"]))
        self.ops = [Op(i, choose(kinds), self.random.randint(1, 4), self.random.randint(1, 4),
                       choose((100, 2048, 3000, 9000, 40000)))
                    for i in range(self.random.randint(1, 8))]
        self.dual = False
        self.choose_options()
        self.choose_streams()
        self.choose_events()
        self.choose_flags()

    def choose_options(self):
        choose = self.random.choice
        for key, values, percent in (
                ("split-mode", (1, 2, 3), 70), ("preload-code", ("max", "per-func", "none"), 40),
                ("debug-dcci-all", (0, 1), 25), ("debug-sync-all", (0, 1), 20),
                ("early-start", (0, 1, 2), 40), ("func-align", (0, 2, 1024), 20),
                ("stream-fusion", (0, 1), 50), ("feed-sync-all", (0, 1), 30)):
            if self.chance(percent):
                self.options[key] = choose(values)
        types = [f"Op{op.place}" for op in self.ops]
        for key in ("dcci-before-kernel-start", "dcci-after-kernel-end", "dcci-disable-on-kernel"):
            if self.chance(20):
                self.options[key] = ",".join(self.random.sample(types, min(2, len(types))))

    def choose_streams(self):
        """Several streams need the option, or events that make one list of them."""
        if self.options.get("stream-fusion") == 1:
            for op in self.ops:
                op.stream = self.random.randrange(3)
        elif self.chance(25):
            for op in self.ops:
                op.stream = self.random.randrange(2)
            for number, (a, b) in enumerate(zip(self.ops, self.ops[1:])):
                if a.stream != b.stream:
                    self.connect(a, b, 500 + number)

    def connect(self, a, b, event):
        a.send.append(event)
        b.recv.append(event)

    def choose_events(self):
        numbers = itertools.count(10)
        for a, b in itertools.combinations(self.ops, 2):
            if a.stream != b.stream and self.chance(20):
                self.connect(a, b, next(numbers))
        for a, b in itertools.combinations(self.ops, 2):
            if (a.stream != b.stream and self.options.get("stream-fusion") == 1
                    and self.chance(6) and (a.place, b.place) not in self.orders()):
                self.connect(b, a, next(numbers))
        self.outer = set()
        for op in self.ops:
            if op is not self.ops[-1] and self.chance(10):
                op.send.append(next(numbers))
                self.outer.add(op.send[-1])
            if op is not self.ops[0] and self.chance(10):
                op.recv.append(next(numbers))
                self.outer.add(op.recv[-1])

    def choose_flags(self):
        self.dual = self.options.get("stream-fusion") == 1 and not self.is_chain()
        early = self.options.get("early-start", 1) != 0 and not self.dual
        for op in self.ops:
            op.set, op.wait = early and self.chance(30), early and self.chance(30)
            op.before, op.after, op.disable = (self.chance(12) for _ in range(3))
            op.sync_all = self.options.get("feed-sync-all") == 1 and self.chance(30)

    # ---- what follows from it ----

    def orders(self):
        """Pairs of places that the streams and the events demand, and what follows from them."""
        pairs = {(a.place, b.place) for a, b in itertools.permutations(self.ops, 2)
                 if (a.place < b.place and a.stream == b.stream) or set(a.send) & set(b.recv)}
        places = range(len(self.ops))
        for middle, a, b in itertools.product(places, places, places):
            if (a, middle) in pairs and (middle, b) in pairs:
                pairs.add((a, b))
        return pairs

    def lists_hold(self):
        """Whether each core type can call its ops in the order of the request."""
        pairs = self.orders()
        return not any((b.place, a.place) in pairs for a, b in itertools.combinations(self.ops, 2)
                       if not self.dual or any(a.has(core) and b.has(core) for core in (AIC, AIV)))

    def is_chain(self):
        pairs = self.orders()
        return all((i, i + 1) in pairs for i in range(len(self.ops) - 1))

    def launch(self):
        """Kernel type and blocks."""
        shapes = [TYPES[op.kind] for op in self.ops]
        most = max(op.blocks for op in self.ops)
        if not any(op.has(AIC) for op in self.ops):
            return "MIX_AIV_1_0", most
        if not any(op.has(AIV) for op in self.ops):
            return "MIX_AIC_1_0", most
        if all(op.kind == "MIX_AIC_1_1" for op in self.ops):
            return "MIX_AIC_1_1", most
        aics = max((op.blocks for op in self.ops if op.has(AIC)), default=0)
        aivs = max((op.blocks * shape[AIV] for op, shape in zip(self.ops, shapes)), default=0)
        if aivs <= aics and not any(op.kind == "MIX_AIC_1_2" for op in self.ops):
            return "MIX_AIC_1_1", aics
        return "MIX_AIC_1_2", max(aics, (aivs + 1) // 2)

    def slots(self):
        """Of each op: where its parameters, sent and received events begin."""
        rows, at = [], 1
        for op in self.ops:
            rows.append((at, at + op.params, at + op.params + len(op.send)))
            at += op.params + len(op.send) + len(op.recv)
        return rows

    def request(self):
        return {
            "super_kernel_options": ":".join(f"{k}={v}" for k, v in self.options.items()),
            "op_list": [{"stream_id": op.stream, "bin_path": f"k{op.place}.o",
                         "json_path": f"k{op.place}.json", "send_event_list": op.send,
                         "recv_event_list": op.recv} for op in self.ops],
        }

    # ---- what a core executes ----

    def listed(self, op, key):
        return f"Op{op.place}" in str(self.options.get(key, "")).split(",")

    def includes(self, op, core, block, index):
        return op.has(core) and (index if TYPES[op.kind][2] else block) < op.blocks

    def preload(self, op, core, block, index, copy):
        if self.includes(op, core, block, index):
            units = -(-min(op.code, 16384) // 2048)
            yield f"preload {op.function(core)}{copy} {units}"

    def caches(self, op, core, where, key):
        disabled = op.disable or self.listed(op, "dcci-disable-on-kernel")
        if op.has(core) and not disabled and (where or self.listed(op, key)):
            yield "dcci all"

    def fed(self, op, core):
        kind, blocks = self.launch()
        cores = blocks * TYPES[kind][AIV] if TYPES[op.kind][2] else blocks
        return op.sync_all and op.has(core) and op.blocks < cores

    def events(self, op, core, index, sends):
        """Of one op: core 0 of its main type stores, or looks at, the words of outer events."""
        if core != op.main() or index != 0:
            return
        params, send, recv = self.slots()[op.place]
        for i, event in enumerate(op.send if sends else op.recv):
            if event in self.outer:
                yield f"slot {(send if sends else recv) + i}"

    def call(self, op, core, block, index, copy):
        included = self.includes(op, core, block, index)
        yield from self.caches(op, core, op.before, "dcci-before-kernel-start")
        if included:
            yield f"call {op.function(core)}{copy} {self.slots()[op.place][0]}"
        if self.fed(op, core):
            yield "feed_sync end" if included else "feed_sync complement"
        yield from self.caches(op, core, op.after, "dcci-after-kernel-end")
        if self.options.get("debug-dcci-all") == 1 and (op.has(core) or not self.dual):
            yield "dcci all"

    def plain(self, core, block, index):
        """What the core executes but for synchronisation."""
        split = self.options.get("split-mode", 4)
        copy = f"_split{index % split}" if index % split else ""
        mode = self.options.get("preload-code", "per-func")
        ops = [op for op in self.ops if op.has(core)] if self.dual else self.ops
        if mode == "max":
            yield "preload_all 8"
        for n, op in enumerate(ops):
            if mode == "per-func":
                for next_op in ops[n + (n > 0):n + 2]:
                    yield from self.preload(next_op, core, block, index, copy)
            if n > 0:
                yield from self.events(ops[n - 1], core, index, True)
            yield from self.events(op, core, index, False)
            yield from self.call(op, core, block, index, copy)
        if ops:
            yield from self.events(ops[-1], core, index, True)
        resets = [line for op in ops for line in self.events(op, core, index, False)]
        yield from sorted((line.replace("slot", "reset") for line in resets),
                          key=lambda line: int(line.split()[1]))


# ---- running ----


def make_object(path, symbols, size):
    source = ".text\n"
    for symbol in symbols:
        source += f".globl {symbol}\n.type {symbol},@function\n{symbol}:\n ret\n"
    source += f".space {max(0, size - len(symbols))}\n"
    source += '.section .note.GNU-stack,"",@progbits\n'
    subprocess.run(["as", "--64", "-o", path, "-"], input=source, text=True, check=True)


def write(request):
    for op in request.ops:
        path = f"k{op.place}.o"
        if op.mixed():
            parts = [f"k{op.place}_{name}.o" for name in NAMES]
            for core, part in enumerate(parts):
                make_object(part, [op.function(core)], op.code)
            subprocess.run(["ar", "rcD", path, *parts], check=True)
        else:
            make_object(path, [op.function(op.main())], op.code)
        with open(f"k{op.place}.json", "w", encoding="utf-8") as file:
            json.dump(op.json(), file)
    with open("request.json", "w", encoding="utf-8") as file:
        json.dump(request.request(), file)


def skirc(*arguments):
    done = tap.skirc(*arguments)
    return "" if done.returncode == 0 else f"{arguments[0]}: {done.returncode}: {done.stderr}"


def once(lines):
    """A line that stands several times in a row is logged once, if it is a slot's."""
    kept = []
    for line in lines:
        if not (line.startswith("slot") and kept and kept[-1] == line):
            kept.append(line)
    return kept


def compare_traces(request, cores):
    for (name, block, sub), trace in cores.items():
        core = NAMES.index(name)
        index = block if core == AIC else block * TYPES[request.launch()[0]][AIV] + sub
        got = [line for line in trace if line.split()[0] not in SYNC]
        want = once(request.plain(core, block, index))
        if got != want:
            return f"{name} {block}.{sub} executes\n{got}\nbut must execute\n{want}"
    return ""


def compare_order(request, cores):
    places = {row[0]: place for place, row in enumerate(request.slots())}
    result = sync_model.simulate(cores, lambda line: places[int(line.split()[2])])
    if result["stuck"]:
        return f"deadlock: {result['stuck']}"
    late = [pair for pair in request.orders() if pair[0] not in result["before"][pair[1]]]
    if late or result["overflow"] or result["dangling"] or sync_model.undrained(cores):
        return (f"not ordered: {late}, overflow: {result['overflow']}, left set: "
                f"{result['dangling']}, undrained: {sync_model.undrained(cores)}")
    return ""


def compare_info(request, info):
    kind, blocks = request.launch()
    want = {"kernel_type": "KERNEL_TYPE_" + kind, "block_num": blocks,
            "param_offset": [row[0] for row in request.slots()]}
    found = {key: info.get(key) for key in want}
    return "" if found == want else f"the launch is {found}, not {want}"


def run(request):
    write(request)
    why = (skirc("import", "--format=kernel-info", "--device=aic=24,aiv=48", "--name=sk",
                 "request.json", "-o", "case.skir")
           or skirc("compile", "--emit=compile-info", "case.skir", "-o", "info.json")
           or skirc("compile", "--emit=ascendc", "case.skir", "-o", "entry.cpp"))
    if why:
        return why
    with open("info.json", encoding="utf-8") as file:
        info = json.load(file)
    with open("entry.cpp", encoding="utf-8") as file:
        source = file.read()
    split = request.options.get("split-mode", 4)
    early = {op.function(core) + copy: (op.wait, op.set)
             for op in request.ops for core in (AIC, AIV)
             for copy in [""] + [f"_split{i}" for i in range(1, split)]}
    kind, blocks = request.launch()
    launch = {"MIX_AIV_1_0": "aiv", "MIX_AIC_1_0": "aic", "MIX_AIC_1_1": "mix11",
              "MIX_AIC_1_2": "mix12"}[kind]
    traces = trace.run(source, launch, blocks, (), early)
    cores = {(core["core"], core["block"], core["sub"]): core["trace"] for core in traces}
    return (compare_info(request, info)
            or (request.lists_hold() and compare_traces(request, cores))
            or compare_order(request, cores))


def apart(work, *arguments):
    """Does the work in a folder of its own."""
    back = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return work(*arguments)
        finally:
            os.chdir(back)


def verdict(seed):
    """Why the request fails, or nothing."""
    request = Request(seed)
    why = apart(run, request)
    return why and f"{why}\n{json.dumps(request.request())}\n" + "\n".join(
        json.dumps(op.json()) for op in request.ops)


# ---- dynamic kernels ----

# By tiling key: type, blocks of the tiling, and functions.
VARIANTS = {
    5: ("AIV_ONLY", 3, (None, "small")),
    70: ("MIX_AIC_1_2", 2, ("large_mix_aic", "large_mix_aiv")),
    8: ("AIC_ONLY", 1, ("cube", None)),
    6000000000: ("MIX_AIC_1_1", 2, ("one_mix_aic", "one_mix_aiv")),
}


def variant_json(kind, functions):
    names = dict(zip(("dav-c220-cube", "dav-c220-vec"), functions))
    return {"kernel_type": "KERNEL_TYPE_" + kind,
            **{key: name for key, name in names.items() if name}}


def write_dynamic():
    """A dynamic op behind one of AIVs: two slots, then the three words of its tiling at 5 to 7."""
    first = Op(0, "AIV_ONLY", 4, 2, 100)
    dynamic = Op(1, "MIX_AIC_1_2", 1, 2, 100).json()
    dynamic["sub_operator_kernel_name"] = {"dynamic_func_names": {
        str(key): variant_json(kind, functions)
        for key, (kind, _, functions) in VARIANTS.items()}}
    make_object("k0.o", [first.function(AIV)], 100)
    make_object("k1.o", [name for row in VARIANTS.values() for name in row[2] if name], 100)
    rows = [{"stream_id": 0, "bin_path": f"k{i}.o", "json_path": f"k{i}.json"} for i in (0, 1)]
    rows[1]["task_type"] = "dynamic"
    for path, value in (("k0.json", first.json()), ("k1.json", dynamic), ("request.json", {
            "super_kernel_options": "split-mode=2", "op_list": rows})):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)


def dynamic_calls(key, core, block, index):
    kind, blocks, functions = VARIANTS[key]
    copy = "_split1" if index % 2 else ""
    calls = [f"call k0_body{copy} 1"] if core == AIV and index < 4 else []
    if functions[core] and (index if TYPES[kind][2] else block) < blocks:
        calls.append(f"call {functions[core]}{copy} 3")
    return calls


def run_dynamic():
    write_dynamic()
    why = (skirc("import", "--format=kernel-info", "--device=aic=4,aiv=8", "--name=sk",
                 "request.json", "-o", "case.skir")
           or skirc("compile", "--emit=ascendc", "case.skir", "-o", "entry.cpp"))
    if why:
        return why
    with open("entry.cpp", encoding="utf-8") as file:
        source = file.read()
    for key, (_, blocks, _) in VARIANTS.items():
        for core in trace.run(source, "mix12", 4, (f"5={key}", f"6={blocks}")):
            kind = NAMES.index(core["core"])
            index = core["block"] if kind == AIC else core["block"] * 2 + core["sub"]
            calls = [line for line in core["trace"] if line.startswith("call")]
            want = dynamic_calls(key, kind, core["block"], index)
            if calls != want:
                return f"key {key}: {core['core']} {index} executes {calls}, not {want}"
            closed = "reset 7" in core["trace"]
            if closed != (kind == AIC and index == 0):
                return f"key {key}: {core['core']} {index}: {core['trace']}"
    return ""


def missing():
    for name in ("sync_model.py", "ascemul/trace.py"):
        if not os.path.exists(os.path.join(FOLDER, name)):
            return f"there is no {FOLDER}"
    for tool in ("clang++", "as", "ar"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    return ""


if missing():
    tap.skip("random fusion requests", missing())
else:
    sys.path[:0] = [FOLDER, os.path.join(FOLDER, "ascemul")]
    import sync_model
    import trace

    why = apart(run_dynamic)
    tap.check("a dynamic kernel: each core calls the function of the key", not why, why)
    for seed in range(SEED, SEED + COUNT):
        why = verdict(seed)
        tap.check(f"request {seed}: each core executes what it must", not why, why)
tap.done()
