"""The source of entries for the NPU before a second judge, tests/judge_ascendc.py, which knows it
from the pages only: in random modules and golden files each core does what the entry says, with the
slots of compile info; of faults put into a source each is found."""

import glob
import json
import os
import random
import re
import sys
import tempfile
import types

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import judge_ascendc
import judge_graphs
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))
COUNT = int(os.environ.get("SKIR_TEST_COUNT", "100"))
FAULTS, WORLDS = 6, 4
FILES = os.path.join(os.path.abspath(tap.SOURCE), "tests", "golden", "*", "*.skir")
EACH = max(1, 1200 // COUNT)  # of golden files, every so-many-th
ARCHES = {"c220": ['"t" {aic = 4, aiv = 8, arch = "c220"}', '"a" {aic = 4, aiv = 8}'],
          "c310": ['"t" {aic = 4, aiv = 8, arch = "c310"}', '"Ascend910_9599" {aic = 4, aiv = 8}',
                   '"ascend350" {aic = 4, aiv = 8}']}


# ---- Modules ----

class Module:
    """A random module for a chip: a random graph with kernels that have functions, sizes, variants,
    early start and so on, and with options."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.arch = self.random.choice(list(ARCHES))
        text = judge_graphs.Text(seed, False, True).text()
        options = self.options(text)
        self.dynamic = self.chance(0.3) and "early_start" not in text and "sync_all" not in text
        text = re.sub(r"^kernel @(\w+) : (\w+) \{(.*)\}$", self.kernel, text, flags=re.M)
        text = re.sub(r'(?<=options = ")[^"]*', lambda match: match[0] + options, text)
        if self.chance(0.5):
            text = re.sub(r"\be(\d+)\b", r"\1", text)
        target = self.random.choice(ARCHES[self.arch])
        self.text = text.replace("skir 1\n", f"skir 1\n\ntarget {target}\n", 1)

    def chance(self, odds):
        return self.random.random() < odds

    def functions(self, name, type):
        if type.startswith("mix"):
            return f'{{aic = "{name}_mix_aic", aiv = "{name}_mix_aiv"}}'
        return f'"{name}"'

    def variant(self, name, key, type):
        shape = judge_ascendc.judge_entries.SHAPES[type]
        parts = "".join(f', {kind} = "{name}_{key}_{kind}"'
                        for kind, count in zip(("aic", "aiv"), shape) if count)
        return f"{{key = {key}, type = {type}{parts}}}"

    def kernel(self, match):
        name, type, attrs = match.groups()
        if self.dynamic and self.chance(0.5):
            types = {"mix_aic_1_2": judge_graphs.KERNELS,
                     "mix_aic_1_1": ["aic_only", "mix_aic_1_1"]}.get(type, [type])
            keys = self.random.sample(range(50), self.random.randint(0, 4))
            made = [self.variant(name, key, self.random.choice(types)) for key in keys]
            made.append(self.variant(name, 60, type))
            self.random.shuffle(made)
            return f"kernel @{name} : {type} {{dynamic, variants = [{', '.join(made)}]}}"
        attrs += f", code = {self.random.choice([0, 100, 5000, 20000])}"
        if self.chance(0.8):
            attrs += f", function = {self.functions(name, type)}"
        elif self.chance(0.3):
            attrs += ", stub"
        for word, odds in (("dcci_before", 0.1), ("dcci_after", 0.1),
                           ('_debugOptions = "printf", _debugBufSize = 512', 0.05)):
            attrs += f", {word}" if self.chance(odds) else ""
        return f"kernel @{name} : {type} {{{attrs}}}"

    def options(self, text):
        made = f":split-mode={self.random.choice([1, 1, 2, 3, 4])}"
        for option, odds, values in (
                ("preload-code", 0.4, ["max", "none"]), ("debug-dcci-all", 0.15, [1]),
                ("debug-sync-all", 0.1, [1]), ("profiling", 0.3, [1]),
                ("preload-data", 0.3, ["advance-step"]), ("debug-op-exec-trace", 0.15, [1]),
                ("debug-cross-core-sync-check", 0.15, [1]), ("func-align", 0.2, [0, 64]),
                ("early-start", 0.1, [2])):
            if self.chance(odds) and option not in text:
                made += f":{option}={self.random.choice(values)}"
        if self.chance(0.3):
            made += self.random.choice([":debug-aic-num=4:debug-aiv-num=8", ":debug-aiv-num=8",
                                        ":debug-aic-num=4:debug-aiv-num=4", ":debug-aic-num=4"])
        return made

    def more(self, text):
        """The text with more instructions that order nothing, anywhere in the programs but beside
        what must stand by itself."""
        beside = re.compile(" +(profile|trace|feed_sync|count|check)")
        lines, made, kind = text.splitlines(True), [], ""
        for at, (line, later) in enumerate(zip(lines, lines[1:] + [""])):
            made.append(line)
            if line in ("  aic {\n", "  aiv {\n"):
                kind = line.split()[0]
                calls = re.findall(r"call (@\w+(?:\.\w+)?) args (\S+)", "".join(
                    lines[at:lines.index("  }\n", at)]))
            kind = "" if line == "  }\n" else kind
            if kind and self.chance(0.3) and not beside.match(line) and not beside.match(later):
                made.append(self.instruction(calls))
        return "".join(made)

    def instruction(self, calls):
        choices = ["pipe_barrier", "dcci all", f"preload_all {self.random.randint(1, 8)}"]
        if calls:
            kernel, group = self.random.choice(calls)
            choices.append(f"preload_data args {group}")
            if not self.dynamic:
                choices.append(f"preload {kernel} units {self.random.randint(1, 8)}")
        return f"    {self.random.choice(choices)}\n"


# ---- Sources and their faults ----

def compiled(path, text=""):
    """The entry, the source and compile info of a file; or why there are none."""
    made = []
    for what in ("entry", "ascendc", "compile-info"):
        done = tap.skirc("compile", path, f"--emit={what}", stdin=text)
        if done.returncode:
            return None, done.stderr + f"status {done.returncode}"
        made.append(done.stdout)
    return made, ""


STATE = re.compile(r"g_super|= \{0, 0\};|records =|InitProfiling|InitTrace|InitDump|const uint64_t")


def statements(lines):
    """The lines of entries that are statements, each the whole of one."""
    inside = False
    for i, line in enumerate(lines):
        inside = inside and not line.startswith("}") or line.startswith('extern "C" __global__')
        if inside and re.match(r" {8,}\S.*(;|; \})$", line) and not re.search(
                r"set_ffts|InitProfiling|records =|InitTrace", line):
            yield i


def faults(text, chance):
    """Sources with one fault each."""
    lines = text.splitlines()
    places = list(statements(lines))
    for _ in range(FAULTS if places else 0):
        i = chance.choice(places)
        kind = chance.choice(["drop", "twice", "swap", "change", "change"])
        made = lines[:]
        if kind == "drop":
            if re.search(r"Enable|BaseAddr", lines[i]) or \
                    "early_start_config" in lines[i] and lines[i] in lines[:i]:
                continue
            del made[i]
        elif kind == "twice":
            if STATE.search(lines[i]) or re.search("select_|wait_event", lines[i]):
                continue
            made.insert(i, lines[i])
        elif kind == "swap":
            other = i + 1
            pair = lines[i:i + 2]
            if other not in places or pair[0] == pair[1] or any(map(STATE.search, pair)) \
                    or re.search(r"feed_(end|complement).* if \(|feed_end.*feed_c|feed_c.*feed_end",
                                 "".join(pair)) \
                    or re.match(" *", pair[0])[0] != re.match(" *", pair[1])[0]:
                continue
            made[i:i + 2] = pair[::-1]
        else:
            made[i] = changed(lines[i], chance)
            if made[i] == lines[i]:
                continue
        yield f"{kind} line {i + 1}: {lines[i].strip()} -> {made[i].strip()}", "\n".join(made)


def changed(line, chance):
    """The line with another number, flag or pipe."""
    if re.search(r"Enable|BaseAddr|= \{0, 0\}|select_\w+\(p \+ \d+, 0\)", line):
        return line
    choices = [m.span() for m in re.finditer(r"(?<![\w.])\d+(?!\w)|0x0\b|0x02\b|SYNC_\w+|PIPE_\w+|"
                                             r"true|false", line)]
    if not choices:
        return line
    begin, end = chance.choice(choices)
    word = line[begin:end]
    if word[0].isdigit() and not word.startswith("0x"):
        new = str(max(0, int(word) + chance.choice([-1, 1])))
    else:
        new = {"0x0": "0x02", "0x02": "0x0", "true": "false", "false": "true",
               "PIPE_ALL": "PIPE_S", "PIPE_S": "PIPE_ALL", "PIPE_FIX": "PIPE_MTE3",
               "PIPE_MTE3": "PIPE_FIX", "SYNC_AIC_FLAG": "SYNC_AIV_ONLY_ALL",
               "SYNC_AIV_ONLY_ALL": "SYNC_AIC_FLAG", "SYNC_AIV_FLAG": "SYNC_AIC_AIV_FLAG",
               "SYNC_AIC_AIV_FLAG": "SYNC_AIV_FLAG"}[word]
    return line[:begin] + new + line[end:]


# An AIC clears counters.
AIC_CLEARS = re.compile(r"ASCEND_IS_AIC \{\n(?:(?!    \}\n).*\n)*? .*clear_counters\(")

# Faults of functions: what a statement of an entry must have that uses it, and what becomes what.
HELPERS = [
    ("skir::wait_event(", "    dcci((__gm__ uint64_t *)address, 0, 2);\n    return *word",
     "    return *word"),
    ("skir::notify(", "write_word(address, 1);\n        dcci((__gm__ uint64_t *)address, 0, 2);",
     "write_word(address, 1);"),
    ("skir::notify(", "write_word(address, 1)", "write_word(address, 0)"),
    ("skir::notify(", "AscendC::GetBlockIdx() == 0", "AscendC::GetBlockIdx() == 1"),
    ("skir::reset(", "write_word(address, 0)", "write_word(address, 1)"),
    ("skir::clear_counters(", "counters + i * 64", "counters + 8 + i * 64"),
    ("skir::clear_counters(", "    AscendC::PipeBarrier<PIPE_ALL>();\n", ""),
    (AIC_CLEARS, "word < 8", "word < 7"),
    (AIC_CLEARS, "            dcci((__gm__ uint64_t *)counter, 0, 2);\n", ""),
    ("skir::feed_begin(", "Enable = true", "Enable = false"),
    ("skir::feed_begin(", "SyncIdx = 0", "SyncIdx = 1"),
    ("RecordProfiling(", "!start << 12", "start << 12"),
    ("RecordProfiling(", "records.next += 16", "records.next += 8"),
    ("RecordTrace(", "state << 32 | index", "index << 32 | state"),
    ("RecordTrace(", "trace.own[2] + 1", "trace.own[2] + 2"),
    ("CheckBarrier(", "found >= expected", "found > 5 + expected"),
    ("skir::call_selected(", "index < blocks", "index <= 64 + blocks - blocks"),
]


ENTRY = 'extern "C" __global__'


def helper_faults(text):
    """Sources with a fault in a function that an entry uses."""
    entries = text[text.index(ENTRY):]
    for used, before, after in HELPERS:
        if re.search(used if used is AIC_CLEARS else re.escape(used), entries) and before in text:
            yield f"{before.strip()} -> {after.strip()}", text.replace(before, after)


class Run:
    def __init__(self):
        self.judged = self.entries = self.refused = self.faults = 0
        self.did, self.wrong, self.missed, self.crashes = {}, [], [], []

    def wrong_of(self, text, made, module, chance, plain=False):
        try:
            counts, entries = judge_ascendc.prove(text, made[0], json.loads(made[2]), module.arch,
                                                  chance, plain)
        except judge_ascendc.Wrong as wrong:
            return str(wrong)
        if text == made[1]:
            self.entries += len(entries)
            for word, count in counts.items():
                self.did[word] = self.did.get(word, 0) + count
        return None

    def module(self, path, seed, module, text):
        with open(path, "w") as file:
            file.write(text)
        made, why = compiled(path)
        if not made:
            self.refused += 1
            if "error: " not in why:
                self.crashes.append(f"seed {seed}: {why}\n{text}")
            return
        if ENTRY not in made[1]:  # nothing is fused
            self.refused += 1
            return
        self.judged += 1
        wrong = self.wrong_of(made[1], made, module, module.random)
        if wrong:
            self.wrong.append(f"seed {seed}: {wrong}\n{text}\n{made[0]}\n{made[1]}")
            return
        self.faulty(made, module, seed)

    def faulty(self, made, module, seed):
        chosen = list(helper_faults(made[1]))
        module.random.shuffle(chosen)
        for what, source in [*faults(made[1], module.random), *chosen[:3]]:
            self.faults += 1
            if not any(self.wrong_of(source, made, module, random.Random(world), world < 2)
                       for world in range(WORLDS)):
                self.missed.append(f"seed {seed}: {what}\n{made[0]}\n{source}")

    def file(self, path):
        """A golden file or example, if it makes a source and its names are plain."""
        with open(path, encoding="utf-8") as file:
            text = file.read().split("\n//! expect")[0]
        os.chdir(os.path.dirname(path))
        made, _ = compiled("-", text)
        if not made or re.search('(call|kernel|entry) @"', made[0]):
            return
        chip = re.search(r'^target (\S+) \{.*?(?:arch = "(\w+)")?\}', made[0], re.M)
        named = chip and (chip[2] or re.search("910_95|Ascend[93]50", chip[1]) and "c310")
        module = types.SimpleNamespace(arch=named or "c220", random=random.Random(SEED))
        self.judged += 1
        wrong = self.wrong_of(made[1], made, module, module.random)
        if wrong:
            self.wrong.append(f"{path}: {wrong}\n{made[0]}\n{made[1]}")

    def seed(self, folder, seed):
        module = Module(seed)
        path = os.path.join(folder, f"s{seed}.skir")
        self.module(path, seed, module, module.text)
        if seed % 3 == 0:
            lowered = tap.skirc("compile", path, "--emit=skir")
            if lowered.returncode == 0:
                self.module(path, seed, module, module.more(lowered.stdout))


def few(texts):
    return f"{len(texts)} of them\n" + "\n".join(sorted(texts, key=len)[
        :int(os.environ.get("SHOW", "1"))])


print(f"# seeds {SEED} to {SEED + COUNT - 1}", flush=True)
run = Run()
with tempfile.TemporaryDirectory(prefix="skir-test.") as folder:
    for seed in range(SEED, SEED + COUNT):
        run.seed(folder, seed)
for path in sorted(glob.glob(FILES))[SEED % EACH::EACH]:
    run.file(path)
shown = ", ".join(f"{count} {word}" for word, count in sorted(run.did.items()))
print(f"# {shown}; {run.refused} modules are refused")
tap.check("the compiler says why it refuses", not run.crashes, few(run.crashes))
tap.check(f"cores of {run.entries} entries in {run.judged} sources do what the entries say",
          not run.wrong and run.entries > COUNT // 2, few(run.wrong))
tap.check(f"of {run.faults} faults put in each is found", not run.missed and run.faults > COUNT,
          few(run.missed))
tap.done()
