"""The source of entries for NPUs before the published AscendC headers: clang finds no error and warns of
nothing in it, for both chips and both types of core. The headers, and declarations of what the device
compiler knows itself, are in a folder beside the repository; without them, or without clang, nothing is
tested. SKIR_HEADERS=all compiles what all golden files, examples and fusion requests make, which takes
minutes; otherwise it is a part of them."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
SOURCE = os.path.abspath(tap.SOURCE)
SHARED = os.path.join(SOURCE, os.pardir, "shared")
FOLDER = os.environ.get("SKIR_ASCENDC_HEADERS", os.path.join(SHARED, "ascend"))
CONFORMANCE = os.environ.get("SKIR_CONFORMANCE", os.path.join(SHARED, "conformance"))
COMPILE = os.path.join(FOLDER, "compile_real.py")
ALL = os.environ.get("SKIR_HEADERS") == "all"
EACH = 1 if ALL else 40  # of golden files with subjects of their own, every so-many-th
ARCHES = {"c220": "2201", "c310": "3510"}
CHIPS = tuple(ARCHES)
ENTRY = 'extern "C" __global__'


def for_chip(text, chip):
    """A module's text with a target of that chip."""
    found = re.search(r'^target +("[^"]*"|[\w.$-]+) *\{([^{}\n]*)\}', text, re.M)
    if not found:
        return re.sub(r"^skir 1$", f'skir 1\n\ntarget "t" {{arch = "{chip}", aic = 24, aiv = 48}}',
                      text, count=1, flags=re.M)
    others = [one.strip() for one in found[2].split(",") if one.strip() and "arch" not in one]
    attrs = ", ".join([f'arch = "{chip}"', *others])
    return text[:found.start()] + f"target {found[1]} {{{attrs}}}" + text[found.end():]


def texts():
    """Name, folder and text of each module."""
    golden = os.path.join(SOURCE, "tests", "golden", "*", "*.skir")
    examples = os.path.join(SOURCE, "docs", "examples", "*.skir")
    chosen = [path for number, path in enumerate(sorted(glob.glob(golden)))
              if number % EACH == 0 or os.path.basename(os.path.dirname(path)) == "ascend"]
    for path in chosen + sorted(glob.glob(examples)):
        with open(path, encoding="utf-8") as file:
            text = file.read().split("\n//! expect")[0]
        yield os.path.relpath(path, SOURCE).replace(os.sep, "-"), os.path.dirname(path), text


def requests(scratch):
    """The same of what fusion requests are imported as."""
    if not os.path.exists(os.path.join(CONFORMANCE, "cases.json")):
        return
    sys.path.insert(0, CONFORMANCE)
    import check
    with open(os.path.join(CONFORMANCE, "cases.json"), encoding="utf-8") as file:
        cases = [case for case in json.load(file) if not case["expect"].get("error")]
    for case in cases[::1 if ALL else 8]:
        folder = tempfile.mkdtemp(dir=scratch)
        check.unpack(case, folder)
        done = subprocess.run([tap.SKIRC, "import", "--format=kernel-info", "--device=aic=24,aiv=48",
                               "--name=k", "request.json"], cwd=folder, capture_output=True, text=True)
        if tap.check(f"request {case['name']} is imported", done.returncode == 0, done.stderr):
            yield "request-" + case["name"], folder, done.stdout


def write_sources(scratch):
    """Sources by chip; modules that have none, such as those that are refused, are left out."""
    written = {chip: [] for chip in CHIPS}
    for name, folder, text in [*texts(), *requests(scratch)]:
        for chip in CHIPS:
            done = subprocess.run([tap.SKIRC, "compile", "-", "--emit=ascendc"], cwd=folder,
                                  input=for_chip(text, chip), capture_output=True, text=True)
            if done.returncode or ENTRY not in done.stdout:
                continue
            written[chip].append(os.path.join(scratch, f"{chip}-{name}.cpp"))
            with open(written[chip][-1], "w", encoding="utf-8") as file:
                file.write(done.stdout)
    return written


def start(chip, sources, **more):
    environment = {**os.environ, "CHIP": chip, "PYTHONDONTWRITEBYTECODE": "1", **more}
    return subprocess.Popen([sys.executable, COMPILE, *sources], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=environment)


# What the host emulation's header needs for itself.
OWN = {"BACKEND_ASCEND_TWIN_KERNEL_OPERATOR_H", "TWIN_LINE", "twin_local"}


def preprocessed(text, arch):
    """The lines of the emulation's header that are for a chip."""
    kept, on = [], [True]
    for line in text.splitlines():
        if line.startswith("#if"):
            on.append(line.split("==")[-1].strip() == arch if "__NPU_ARCH__" in line else True)
        elif line.startswith("#else"):
            on[-1] = not on[-1]
        elif line.startswith("#endif"):
            on.pop()
        elif all(on):
            kept.append(line)
    return "\n".join(kept)


def declared(text):
    """Names that a header declares, with their namespaces, and the macros that it defines."""
    macros = re.findall(r"^#define (\w+)", text, re.M)
    text = re.sub(r"/\*.*?\*/|^#.*?$", "", text, flags=re.M | re.S)
    outer, inner = text.split("namespace AscendC", 1)
    names = []
    for space, part in (("", outer), ("AscendC", inner)):
        # Of functions, variables and types; then of enumerators.
        found = re.findall(r"\bstatic inline [\w<> *]*?(\w+)\(", part)
        found += re.findall(r"^static twin_local<.*> (\w+);", part, re.M)
        found += re.findall(r"^(?:struct|enum class|enum) (\w+) [{]", part, re.M)
        for listed in re.findall(r"^enum(?: \w+)?(?: : \w+)? [{](.*?)[}]", part, re.M | re.S):
            found += re.findall(r"(\w+)(?: = \w+)?(?:,|$)", listed.strip())
        names += [f"{space}::{name}" for name in dict.fromkeys(found) if name not in OWN]
        for scoped, listed in re.findall(r"^enum class (\w+) [{](.*?)[}]", part, re.M | re.S):
            names += [f"{space}::{scoped}::{name}" for name in re.findall(r"\w+", listed)]
    return names, [macro for macro in macros if macro not in OWN]


def write_names(scratch, chip):
    """A source that uses all that the host emulation's header declares: the published ones have it
    as well."""
    with open(os.path.join(SOURCE, "backend", "ascend", "twin", "kernel_operator.h"),
              encoding="utf-8") as file:
        names, macros = declared(preprocessed(file.read(), ARCHES[chip]))
    tap.check(f"the host emulation declares names for a {chip}", len(names) > 60, names)
    lines = ['#include "kernel_operator.h"']
    for number, name in enumerate(names):
        lines.append(f"constexpr auto value_{number} = {name};" if name.count("::") > 1 else
                     f"namespace n{number} {{ using {name}; }}")
    lines += [f"#ifndef {macro}\nstatic_assert(false, \"{macro}\");\n#endif" for macro in macros]
    path = os.path.join(scratch, f"{chip}-names.cpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def check_sources(scratch):
    written = write_sources(scratch)
    kernel = os.path.join(SOURCE, "docs", "examples", "ascend_launch", "add.cpp")
    running = {chip: start(chip, [write_names(scratch, chip), kernel, *written[chip]])
               for chip in CHIPS}
    dumps = {chip: start(chip, [path for path in written[chip] if "dump" in path], DUMP="1")
             for chip in CHIPS[:2 if ALL else 1]}
    for chip in CHIPS:
        said = running[chip].communicate(timeout=3000)[0]
        tap.check(f"{len(written[chip])} sources for a {chip}, a sub-kernel, and the names of the host "
                  "emulation compile with the published headers",
                  running[chip].returncode == 0 and len(written[chip]) > 15, said)
    for chip, process in dumps.items():
        said = process.communicate(timeout=3000)[0]
        tap.check(f"so do sources with dumps for a {chip}", process.returncode == 0, said)


def check_fault(scratch):
    """What the headers do not declare is found."""
    path = os.path.join(scratch, "fault.cpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write('#include "kernel_operator.h"\n'
                   'extern "C" __global__ __aicore__ void f(void)\n{\n    no_such_primitive();\n}\n')
    process = start("c220", [path])
    said = process.communicate(timeout=600)[0]
    tap.check("a primitive that the headers lack is an error",
              process.returncode == 1 and "no_such_primitive" in said, said)


def missing():
    if not os.path.exists(COMPILE):
        return f"there is no {COMPILE}"
    for tool in ("clang++", "xz"):
        if not shutil.which(tool):
            return f"there is no {tool}"
    return ""


if missing():
    tap.skip("the source before the published headers", missing())
else:
    with tempfile.TemporaryDirectory(prefix="skir-test.") as folder:
        check_sources(folder)
        if ALL:
            check_fault(folder)
tap.done()
