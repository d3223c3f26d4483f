"""Objects of the Ascend target: what the device toolchain is called with, what it says and where,
links in the order of the reference compiler with copies of code, by skirc's own engine and by the
commands that it prints, of this machine's objects, of aarch64's and of a machine that nobody knows.

The toolchain is a stand-in, tests/device_toolkit.py.
"""

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import device_toolkit
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
SCRATCH = tempfile.mkdtemp()
HOME = os.path.join(SCRATCH, "toolkit")
TOOLS, HEADERS = device_toolkit.folders(HOME)
LOG = os.path.join(SCRATCH, "log")

KERNEL = r"""#include "kernel_operator.h"
static uint64_t calls;
extern "C" void NAME(uint64_t args)
{
    unused_by_entry++;
    g_opSystemRunCfg.l2Cacheoffset++;
    stand_step("NAME", args, g_super_kernel_early_start_config);
    stand_step("code", (uint64_t)&NAME, ++calls);
}
"""

RUNNER = r"""#include <cstdint>
#include <cstdio>
#include <cstdlib>
static uint64_t slots[64], core;
extern "C" {
void stand_step(const char *what, uint64_t a, uint64_t b)
{ printf("%s %llx %llu\n", what, (unsigned long long)a, (unsigned long long)b); }
uint64_t stand_coreid() { return core; }
uint64_t *stand_para_base() { return slots; }
void ENTRY();
}
int main(int, char **argv) { core = strtoul(argv[1], 0, 10); ENTRY(); }
"""

PROGRAM = """skir 1

kernel @mm : mix_aic_1_2 {
  op = "MatMul", block = 4, object = "mm.a", function = {aic = "mm_mix_aic", aiv = "mm_mix_aiv"},
  params = [x, w, y]
}
kernel @add : aiv_only {
  op = "Add", block = 8, object = "add.o", function = "add", params = [a, b, y],
  early_start = [wait]
}
kernel @cube : aic_only {
  op = "Cube", block = 4, object = "cube.o", function = "cube", params = [a, y]
}
kernel @narrow : mix_aic_1_2 {
  op = "Narrow", block = 2, object = "mm.a",
  function = {aic = "mm_mix_aic", aiv = "mm_mix_aiv"}, params = [x, w, y]
}

graph @g(%x: f16[64, 64], %w: f16[64, 64]) -> f16[64, 64] {
  superkernel @s {options = "OPTIONS"} {
    %m = MatMul(%x, %w) : f16[64, 64] via @mm
    %a = Add(%m, %x) : f16[64, 64] via @add
    %c = Cube(%a) : f16[64, 64] via @cube
    %y = Narrow(%c, %w) : f16[64, 64] via @narrow
  }
  return %y
}
"""


def write(path, text):
    path = os.path.join(SCRATCH, path)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def tools(**more):
    return {**os.environ, "ASCEND_HOME_PATH": HOME, "STAND_LOG": LOG, **more}


def compile_kernel(name, environment):
    """An object with one function, by the toolchain itself."""
    write(f"{name}.cpp", KERNEL.replace("NAME", name))
    subprocess.run([os.path.join(TOOLS, "bisheng"), f"-I{HEADERS}", "-O2", "-std=c++17", "-c", "-o",
                    f"{name}.o", f"{name}.cpp"], cwd=SCRATCH, env=environment, check=True)


def compile_kernels(environment):
    for name in ("mm_mix_aic", "mm_mix_aiv", "add", "cube"):
        compile_kernel(name, environment)
    archive = os.path.join(SCRATCH, "mm.a")
    if os.path.exists(archive):
        os.remove(archive)
    # The vector part comes first, so that the order of the link is not that of the archive.
    subprocess.run(["ar", "rcD", "mm.a", "mm_mix_aiv.o", "mm_mix_aic.o"], cwd=SCRATCH, check=True)


def skirc(*arguments, environment):
    return subprocess.run([tap.SKIRC, *arguments], cwd=SCRATCH, env=environment,
                          capture_output=True, text=True, timeout=120)


def build(options="split-mode=1", environment=None, output="out.o"):
    write("program.skir", PROGRAM.replace("OPTIONS", options))
    if os.path.exists(LOG):
        os.remove(LOG)
    return skirc("compile", "program.skir", "--target=ascend", "-o", output,
                 environment=environment or tools())


def relocatable(path):
    """What the linker was given for an object that it has finished."""
    with open(os.path.join(SCRATCH, path), "rb") as file:
        data = bytearray(file.read())
    data[16:18] = (1).to_bytes(2, "little")
    with open(os.path.join(SCRATCH, "relocatable.o"), "wb") as file:
        file.write(data)
    return "relocatable.o"


def symbols(path, *options):
    out = subprocess.run(["nm", *options, path], cwd=SCRATCH, capture_output=True, text=True,
                         check=True).stdout
    return [line.split()[-1] for line in out.splitlines()]


def functions(path):
    out = subprocess.run(["nm", "-g", "--defined-only", path], cwd=SCRATCH, capture_output=True,
                         text=True, check=True).stdout
    return [line.split()[2] for line in out.splitlines() if line.split()[1] in "TW"]


def run_entry(entry, core=0, output="out.o"):
    """What the steps of an entry are, as the runner prints them."""
    write("runner.cpp", RUNNER.replace("ENTRY", entry))
    subprocess.run(["clang++", "-no-pie", "-o", "runner", "runner.cpp", relocatable(output)],
                   cwd=SCRATCH, check=True)
    return subprocess.run(["./runner", str(core)], cwd=SCRATCH, capture_output=True, text=True,
                          check=True).stdout.splitlines()


def calls(steps):
    return [step.split()[0] for step in steps if step.split()[0] in ("mm_mix_aic", "mm_mix_aiv",
                                                                     "add", "cube")]


def check_object():
    done = build()
    if not tap.check("a toolchain is found and called", done.returncode == 0 and not done.stderr,
                     done.stderr):
        return
    path = os.path.join(SCRATCH, "out.o")
    tap.check("the parts of the entry are all that is global",
              symbols(path, "-g", "--defined-only") == ["s_mix_aic", "s_mix_aiv"],
              symbols(path, "-g", "--defined-only"))
    code = [name for name in symbols(path, "-n") if name in
            ("s_mix_aic", "mm_mix_aic", "cube", "s_mix_aiv", "mm_mix_aiv", "add")]
    tap.check("entry and cube parts come before vector parts",
              code == ["s_mix_aic", "mm_mix_aic", "cube", "s_mix_aiv", "mm_mix_aiv", "add"], code)
    cube, vector = run_entry("s_mix_aic"), run_entry("s_mix_aiv")
    tap.check("AICs run their parts", calls(cube) == ["mm_mix_aic", "cube", "mm_mix_aic"], cube)
    tap.check("AIVs run theirs", calls(vector) == ["mm_mix_aiv", "add", "mm_mix_aiv"], vector)
    tap.check("the variable that entry and kernels share is one",
              any(re.fullmatch(r"add \w+ [0-9]", step) for step in vector), vector)
    check_metadata(path)
    check_types(path)


def section(path, name):
    """The bytes of a section."""
    bytes_of = os.path.join(SCRATCH, "section.bin")
    subprocess.run(["objcopy", "-O", "binary", "--only-section=" + name, "--set-section-flags",
                    name + "=alloc", path, bytes_of], cwd=SCRATCH, check=True)
    with open(bytes_of, "rb") as file:
        return file.read()


def check_types(path):
    """The runtime reads the ratio of AICs to AIVs from sections of the object."""
    for name in ("s_mix_aic", "s_mix_aiv"):
        found = section(path, ".ascend.meta." + name)
        tap.check(f"{name} has its kernel type", found == struct.pack("<HHIHHHH", 1, 4, 4, 3, 4, 1, 2),
                  found)


def check_metadata(path):
    with open(os.path.join(SCRATCH, "out.json"), encoding="utf-8") as file:
        meta = json.load(file)
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    tap.check("the metadata beside the object name it and its digest",
              (meta["binFileName"], meta["sha256"]) == ("out", digest), meta)
    if jsonschema:
        with open(os.path.join(tap.SOURCE, "docs", "kernel-meta.schema.json"),
                  encoding="utf-8") as file:
            errors = [error.message for error in
                      jsonschema.Draft202012Validator(json.load(file)).iter_errors(meta)]
        tap.check("they are as their schema says", not errors, errors)
    check_places(meta["skir"])
    check_end(meta)


def where(*arguments):
    return skirc("where", "out.json", *arguments, environment=dict(os.environ))


def statement(table, core, line):
    """The line of a core type's statement that a line of its code belongs to, and what is said."""
    lines = {row["line"]: row for row in table["instructions"] if row["line"] <= line}
    if lines and lines[max(lines)]["core"] == core:
        return max(lines), f"{core.upper()}s: {lines[max(lines)]['text']}\n"
    behind = any(row["core"] == core for row in lines.values())
    return None, (f"{core.upper()}s: " + ("at the end, behind its last" if behind else
                                          "before its first") + " instruction\n")


def check_places(table):
    """Every row of the table is what skirc where answers."""
    parts = {code["function"]: code for code in table["code"]}
    tap.check("all functions have a place",
              sorted(parts) == ["add", "cube", "mm_mix_aic", "mm_mix_aiv", "s_mix_aic",
                                "s_mix_aiv"], parts)
    wrong, met = [], set()
    for name in ("s_mix_aic", "s_mix_aiv"):
        for offset, line in parts[name]["lines"]:
            said = where(f"--pc={hex(parts[name]['begin'] + offset)}").stdout
            number, text = statement(table, parts[name]["core"], line)
            if f", line {line} of the source\n" not in said or text not in said:
                wrong.append((name, offset, line, said))
            met.add(number)
    tap.check("every address of an entry has its line and instruction", not wrong, wrong)
    lines = {row["line"] for row in table["instructions"]}
    tap.check("every instruction has an address", met >= lines, lines - met)
    said = where(f"--pc={parts['cube']['begin'] + 1}")
    tap.check("an address in a kernel has its ops", said.returncode == 0 and
              "cube + 0x1\n'@s', AICs: a kernel, copy 0 of its code, called by\n"
              "  Cube(%a, %c), program.skir:23\n" == said.stdout, said.stdout + said.stderr)
    line = next(row["line"] for row in table["instructions"] if row["text"] == "set c2v")
    said = where(f"--line={line}")
    tap.check("a line has its instruction, and the ops around it", said.stdout ==
              "'@s', AICs: set c2v\n  behind MatMul(%x, %w, %m), program.skir:21\n"
              "  before Cube(%a, %c), program.skir:23\n", said.stdout + said.stderr)
    check_refused(table)


def check_refused(table):
    for claim, arguments, status, text in (
            ("an address behind the code", ["--pc=0xffffff"], 1, "at 0xffffff there is no code"),
            ("a line before the entries", ["--line=1"], 1, "line 1 of the source is no"),
            ("a line behind the source", [f"--line={table['source_lines'] + 1}"], 1, "[no-place]"),
            ("what is no address", ["--pc=here"], 2, "'here' is no address"),
            ("neither of both", [], 2, "either --pc or --line"),
            ("both", ["--pc=1", "--line=1"], 2, "either --pc or --line")):
        said = where(*arguments)
        tap.check(f"{claim} is refused", said.returncode == status and text in said.stderr,
                  said.stderr)
    write("other.json", '{"kernelName": "k"}')
    said = skirc("where", "other.json", "--line=5", environment=dict(os.environ))
    tap.check("metadata without the table are refused", said.returncode == 1 and
              "they have no 'skir'" in said.stderr, said.stderr)


EVENTS = """skir 1

kernel @add : aiv_only {
  op = "Add", block = 8, object = "add.o", function = "add", params = [a, b, y]
}

graph @g(%x: f16[64, 64], %w: f16[64, 64]) -> f16[64, 64] {
  superkernel @s {fixed_slots, options = "split-mode=2OPTIONS"} {
    %m = Add(%x, %w) : f16[64, 64] via @add
    %y = Add(%m, %x) : f16[64, 64] via @add recv [9]
  }
  return %y
}
"""


def inlined(options):
    """The answers for the loop that waits for the event: its rows are of functions above."""
    write("events.skir", EVENTS.replace("OPTIONS", options))
    done = skirc("compile", "events.skir", "--target=ascend", "-o", "out.o", environment=tools())
    if not tap.check("an entry that waits for an event is made", done.returncode == 0, done.stderr):
        return []
    with open(os.path.join(SCRATCH, "out.json"), encoding="utf-8") as file:
        table = json.load(file)["skir"]
    part = next(code for code in table["code"] if code["function"].startswith("s"))
    waits = next(row["line"] for row in table["instructions"] if "wait_event" in row["text"])
    rows = part["lines"]
    first = next(i for i, (_, line) in enumerate(rows) if line == waits)
    last = next(i for i in range(first, len(rows)) if rows[i][1] > waits)
    answers = [where(f"--pc={part['begin'] + offset}").stdout
               for offset in range(rows[first][0], rows[last][0])]
    tap.check("all of its loop is the wait's", answers and all(
        f", line {waits} of the source\n'@s', AIVs: wait_event 9\n" in said for said in answers),
              answers)
    wrong = [(offset, line) for offset, line in rows[first:] if "before its first" in
             where(f"--pc={part['begin'] + offset}").stdout]
    tap.check("nothing behind it is before the first instruction", not wrong, wrong)
    return [line for _, line in rows]


def check_inlined():
    lines = inlined("")
    tap.check("lines of inlined functions are met", any(line < 30 for line in lines), lines)
    lines = inlined(":compile-options=-gno-inline-line-tables")
    tap.check("a compiler may leave them out", not any(line < 30 for line in lines), lines)


def check_end(meta):
    """A part's end may have the line of the entry's, which is behind the other's statements."""
    cube = next(code for code in meta["skir"]["code"] if code["function"] == "s_mix_aic")
    cube["lines"].append([cube["end"] - cube["begin"] - 1, meta["skir"]["source_lines"]])
    write("end.json", json.dumps(meta))
    said = skirc("where", "end.json", f"--pc={cube['end'] - 1}", environment=dict(os.environ))
    tap.check("the end of a part is no other part's", said.stdout.endswith(
        "of the source\n'@s', AICs: at the end, behind its last instruction\n"), said.stdout)


def check_calls():
    with open(LOG, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\0") for line in file]
    tap.check("the source is compiled for each type of core",
              [[word for word in line if "arch" in word] for line in lines] ==
              [["--cce-aicore-arch=dav-c220-cube"], ["--cce-aicore-arch=dav-c220-vec"]], lines)
    tap.check("each time by the name of that part",
              [[word for word in line if "auto_gen" in word] for line in lines] ==
              [["-Dauto_gen_s_kernel=s_mix_aic"], ["-Dauto_gen_s_kernel=s_mix_aiv"]], lines)
    tap.check("with what compile info says",
              all("-D__ASCENDC_SUPERKERNEL_EARLY_START_V2" in line and "-DASCENDC_DUMP=0" in line
                  for line in lines), lines)


def check_copies():
    done = build("split-mode=4")
    if not tap.check("copies of code are linked", done.returncode == 0, done.stderr):
        return
    undefined = symbols("out.o", "-u")
    tap.check("the run configuration, too, is defined",
              sorted(undefined) == ["stand_coreid", "stand_para_base", "stand_step"], undefined)
    places = set()
    for core in range(5):
        steps = run_entry("s_mix_aic", core)
        places.add(tuple(step.split()[1][-4:] for step in steps if step.startswith("code")))
        tap.check(f"core {core} runs a copy",
                  calls(steps) == ["mm_mix_aic", "cube", "mm_mix_aic"], steps)
    tap.check("four copies for five cores", len(places) == 4, places)


def check_errors():
    done = build("split-mode=1:compile-options=-DSTAND_BREAK")
    where = next(number for number, line in enumerate(
        open(os.path.join(SCRATCH, "program.skir"), encoding="utf-8"), 1) if "%m = " in line)
    tap.check("a failing compilation ends with status 4", done.returncode == 4, done.stderr)
    tap.check("its errors stand at the program's ops",
              re.search(rf"^program\.skir:{where + 2}:\d+: error: the device compiler says: .*"
                        r"no_such_pipe.* \[tool\]$", done.stderr, re.M), done.stderr)
    tap.check("with the line of the source",
              re.search(r"line \d+ of the source is 'ffts_cross_core_sync\(PIPE_FIX, ",
                        done.stderr), done.stderr)
    silent = os.path.join(SCRATCH, "silent", "bin")
    os.makedirs(silent)
    os.chmod(write("silent/bin/bisheng", "#!/bin/sh\n"), 0o755)
    done = build(environment=tools(ASCEND_HOME_PATH=os.path.join(SCRATCH, "silent")))
    tap.check("a compiler that writes nothing is named", done.returncode == 4 and
              f"'{silent}/bisheng' wrote no object, and says nothing of that: status 0 [tool]"
              in done.stderr, done.stderr)
    done = build("split-mode=1:compile-options=-no-such-option")
    tap.check("other errors are told as they are",
              done.returncode == 4 and "no-such-option" in done.stderr and
              "bisheng' failed" in done.stderr, done.stderr)


def check_without():
    environment = {key: value for key, value in os.environ.items() if key != "ASCEND_HOME_PATH"}
    folder = os.path.join(SCRATCH, "without")
    os.mkdir(folder)
    done = build(environment=environment, output="without/k.o")
    tap.check("without a toolchain one line says so",
              done.returncode == 0 and len(done.stderr.splitlines()) == 1 and
              "no object is made: ASCEND_HOME_PATH is not set" in done.stderr, done.stderr)
    tap.check("and everything else is written",
              sorted(os.listdir(folder)) ==
              ["k.ascendc.cpp", "k.info.json", "k.json", "k.sh"], os.listdir(folder))
    done = build(environment={**environment, "ASCEND_HOME_PATH": "/no/such/folder"},
                 output="without/k.o")
    tap.check("a folder without a compiler is told, too",
              "'/no/such/folder', has no bisheng" in done.stderr, done.stderr)
    write("without/k.o", "of an earlier program")
    done = build(environment=environment, output="without/k.o")
    tap.check("an object that was there is not left beside the new metadata",
              done.returncode == 0 and not os.path.exists(os.path.join(folder, "k.o")),
              done.stderr)
    done = build(environment=environment, output="cube.o")
    tap.check("but that of a kernel is", done.returncode == 1 and
              "the output 'cube.o' would replace an input" in done.stderr and
              os.path.exists(os.path.join(SCRATCH, "cube.o")), done.stderr)
    done = build(environment=environment, output="/dev/null")
    tap.check("nothing stands beside /dev/null", done.returncode == 0 and
              not os.path.exists("/dev/null.sh") and "[no-toolchain]" in done.stderr, done.stderr)


def check_replaced():
    done = build(output="add.o")
    tap.check("the object of a kernel is not replaced", done.returncode == 1 and
              "the output 'add.o' would replace an input" in done.stderr, done.stderr)
    write("meta.json", "{}")
    write("program.skir", PROGRAM.replace("OPTIONS", "").replace(
        'function = "add"', 'function = "add", _json = "meta.json"'))
    done = skirc("compile", "program.skir", "--target=ascend", "-o", "meta.o", environment=tools())
    tap.check("nor are the metadata of one", done.returncode == 1 and
              "'meta.json', the metadata of the output, would replace those of '@add'"
              in done.stderr and
              open(os.path.join(SCRATCH, "meta.json"), encoding="utf-8").read() == "{}",
              done.stderr)


NAMED = """skir 1

kernel @other : aic_only {
  op = "Other", block = 4, object = "cube.o", function = "cube", params = [a, y]
}
kernel @cube : aic_only {
  op = "Cube", block = 4, object = "named.o", function = "cube", params = [a, y], split = 3,
  copies = [["cube", "second", "third"]]
}

graph @g(%x: f16[64, 64]) -> f16[64, 64] {
  superkernel @n {options = "split-mode=3"} {
    %a = Other(%x) : f16[64, 64] via @other
    %y = Cube(%a) : f16[64, 64] via @cube
  }
  return %y
}
"""


def check_named_copies():
    """An object with copies of its own, by other names, and a function of another object's name."""
    code = KERNEL.replace("NAME", "cube") + "".join(
        KERNEL.split("\n", 2)[2].replace("NAME", name) for name in ("second", "third"))
    write("named.cpp", code)
    subprocess.run([os.path.join(TOOLS, "bisheng"), f"-I{HEADERS}", "-O2", "-std=c++17", "-c", "-o",
                    "named.o", "named.cpp"], cwd=SCRATCH, env=tools(), check=True)
    write("named.skir", NAMED)
    done = skirc("compile", "named.skir", "--target=ascend", "-o", "out.o", environment=tools())
    tap.check("copies with names of their own are linked", done.returncode == 0, done.stderr)
    skirc("compile", "named.skir", "--emit=commands", "-o", "make.sh", environment=tools())
    skirc("compile", "named.skir", "--emit=ascendc", "-o", "n.ascendc.cpp", environment=tools())
    done = subprocess.run(["sh", "make.sh"], cwd=SCRATCH, env=tools(), capture_output=True,
                          text=True)
    if not tap.check("the commands link them, too", done.returncode == 0, done.stderr):
        return
    tap.check("and leave only entries global", functions("n.o") == functions("out.o"),
              functions("n.o"))
    for core in range(3):
        steps = [[step.split()[0] for step in run_entry("n_mix_aic", core, path)]
                 for path in ("out.o", "n.o")]
        tap.check(f"core {core} runs its copy", steps[0] == steps[1] and
                  ("cube", "second", "third")[core] in steps[0], steps)


def check_commands():
    if not (shutil.which("llvm-objcopy") and shutil.which("ld.lld")):
        tap.skip("the commands make the same", "there are no llvm-objcopy and ld.lld")
        return
    objcopy = os.path.join(TOOLS, "llvm-objcopy")
    os.symlink(shutil.which("llvm-objcopy"), objcopy)
    done = build("split-mode=2", output="out.o")
    tap.check("the toolchain's linker has the last word", done.returncode == 0, done.stderr)
    done = skirc("compile", "program.skir", "--emit=commands", "-o", "make.sh", environment=tools())
    tap.check("commands are printed", done.returncode == 0, done.stderr)
    done = skirc("compile", "program.skir", "--emit=ascendc", "-o", "s.ascendc.cpp",
                 environment=tools())
    skirc("compile", "program.skir", "--emit=meta", "-o", "s.json", environment=tools())
    for _ in range(2):
        done = subprocess.run(["sh", "make.sh"], cwd=SCRATCH, env=tools(), capture_output=True,
                              text=True)
    with open(os.path.join(SCRATCH, "s.json"), encoding="utf-8") as file:
        meta = json.load(file)
    with open(os.path.join(SCRATCH, "s.o"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    tap.check("the digest of the object comes into its metadata", meta.get("sha256") == digest and
              open(os.path.join(SCRATCH, "s.json")).read().count("sha256") == 1, meta)
    if tap.check("they make an object of the source", done.returncode == 0,
                 done.stderr + open(os.path.join(SCRATCH, "make.sh"), encoding="utf-8").read()):
        tap.check("with the same global functions", functions("s.o") == functions("out.o"),
                  functions("s.o"))
        tap.check("that does the same",
                  [calls(run_entry(entry, 1, "s.o")) for entry in ("s_mix_aic", "s_mix_aiv")] ==
                  [["mm_mix_aic", "cube", "mm_mix_aic"],
                   ["mm_mix_aiv", "add", "mm_mix_aiv"]])
    check_named_copies()
    os.remove(objcopy)


def check_words():
    """Words of the script are no commands, whoever gives them."""
    environment = {key: value for key, value in os.environ.items() if key != "ASCEND_HOME_PATH"}
    folder = os.path.join(SCRATCH, "words")
    os.mkdir(folder)
    name = "k\ntouch made #"
    done = build("split-mode=1:compile-options=-I$asc/$(touch${IFS}made)",
                 environment=environment, output=f"words/{name}.o")
    script = os.path.join(folder, f"{name}.sh")
    if tap.check("a script of odd names is made", os.path.exists(script), done.stderr):
        subprocess.run(["sh", script], cwd=folder, env={**environment, "ASCEND_HOME_PATH": folder},
                       capture_output=True, check=False)
        tap.check("and its words are no commands",
                  not os.path.exists(os.path.join(folder, "made")),
                  open(script, encoding="utf-8").read())


def check_machines():
    for claim, environment, machine in (
            ("aarch64", tools(STAND_OPTIONS="--target=aarch64-linux-gnu -ffreestanding"),
             "aarch64"),
            ("a machine that nobody knows", tools(STAND_MACHINE="4137"), "4137")):
        try:
            compile_kernels(environment)
        except subprocess.CalledProcessError:
            tap.skip(f"objects of {claim}", "clang++ does not compile for it")
            continue
        done = build("split-mode=3", environment)
        tap.check(f"objects of {claim} are linked", done.returncode == 0, done.stderr)
        done = skirc("objdump", relocatable("out.o"), environment=environment)
        tap.check("for that machine, with copies of code",
                  machine in done.stdout.splitlines()[0] and
                  len(re.findall(r"^  cube_split[12] local func", done.stdout, re.M)) == 2 and
                  len(re.findall(r" global func .text ", done.stdout)) == 2,
                  "\n".join(done.stdout.splitlines()[:3]))


def set_version(path, version):
    with open(os.path.join(SCRATCH, path), "r+b") as file:
        file.seek(20)
        file.write(version.to_bytes(4, "little"))


def check_stack():
    """The largest stack that a part says it needs is that of the object."""
    for versions, expected in (((0x5a5a0101, 0x5a5a0201), 0x5a5a0201), ((0x5a5a0201, 1), 0x5a5a0201),
                               ((1, 7), 1)):
        compile_kernels(tools())
        for name, version in zip(("add.o", "cube.o"), versions):
            set_version(name, version)
        done = build()
        with open(os.path.join(SCRATCH, "out.o"), "rb") as file:
            found = int.from_bytes(file.read()[20:24], "little")
        tap.check(f"of stacks {', '.join(map(hex, versions))} the larger one is kept",
                  done.returncode == 0 and found == expected, f"{hex(found)}\n{done.stderr}")
    set_version("add.o", 0x5a5a0201)
    done = skirc("objdump", "add.o", environment=tools())
    tap.check("objdump prints it", "sections, version 0x5a5a0201\n" in done.stdout, done.stdout)
    compile_kernels(tools())


def check_relocations():
    """An object that cannot be loaded is none."""
    out = os.path.join(SCRATCH, "loose.o")
    lld = os.path.join(TOOLS, "ld.lld")
    done = build(environment=tools(STAND_IDLE="1"), output="loose.o")
    tap.check("relocations that the linker leaves are an error", done.returncode == 4 and
              re.search(r"could not be loaded: \d+ relocations of its code remain, the first of '\w+'"
                        r" \[tool\]\n  help: '" + lld + "' has left them", done.stderr) and
              not os.path.exists(out), done.stderr)
    os.rename(lld, lld + ".away")
    done = build(output="loose.o")
    tap.check("so is a toolkit without one", done.returncode == 4 and
              "relocations of its code remain" in done.stderr and
              f"put the toolkit's 'ld.lld' beside '{TOOLS}/bisheng'" in done.stderr and
              not os.path.exists(out), done.stderr)
    os.rename(lld + ".away", lld)
    done = build(output="loose.o")
    tap.check("its help removes the error", done.returncode == 0 and os.path.exists(out), done.stderr)


SAMPLES = """skir 1
graph @g(%a: f32[16], %b: f32[16]) -> f32[16] {
  scope @s {
    %c = Add(%a, %b) : f32[16]
    %d = Mul(%c, %b) : f32[16]
  }
  return %d
}
"""


def check_samples():
    """Sample kernels are for this machine."""
    write("samples.skir", SAMPLES)
    environment = {key: value for key, value in os.environ.items() if key != "ASCEND_HOME_PATH"}
    for claim, words in (("commands", ["--emit=commands"]),
                         ("an object", ["--target=ascend", "-o", "samples.o"])):
        done = skirc("compile", "samples.skir", *words, environment=environment)
        tap.check(f"sample kernels are not in {claim} for NPUs", done.returncode == 1 and
                  not done.stdout and "the kernel '@mul' is a sample kernel" in done.stderr and
                  "[sample-object]" in done.stderr and
                  not os.path.exists(os.path.join(SCRATCH, "samples.sh")), done.stderr)
    done = skirc("check", "--target=ascend", "samples.skir", environment=tools())
    tap.check("check says so, too, where objects would be linked", done.returncode == 1 and
              "[sample-object]" in done.stderr, done.stderr)
    kernels = "".join(f'kernel @{name} : aiv_only {{op = "{name}", block = 4, object = "add.o", '
                      f'function = "add", params = [x1, x2, y]}}\n' for name in ("Add", "Mul"))
    write("samples.skir", SAMPLES.replace("skir 1\n", "skir 1\n" + kernels))
    done = skirc("compile", "samples.skir", "--emit=commands", environment=environment)
    tap.check("its help removes the error", done.returncode == 0, done.stderr)


if shutil.which("clang++"):
    device_toolkit.make(HOME)
    compile_kernels(tools())
    check_object()
    check_calls()
    check_inlined()
    check_copies()
    check_errors()
    check_without()
    check_replaced()
    check_commands()
    check_words()
    check_stack()
    check_relocations()
    check_samples()
    check_machines()
else:
    tap.skip("objects by the device toolchain", "there is no clang++ to stand in for its compiler")
shutil.rmtree(SCRATCH)
tap.done()
