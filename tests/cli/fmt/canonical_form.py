"""What fmt prints is canonical, and means what its input means: for every golden file's input that
can be parsed, fmt leaves fmt's output as it is, and opt prints the same before and after fmt. One of
them has every instruction."""

import glob
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
EXPECTATIONS = re.compile(r"^//! (expect|also)( .*)?$.*", re.M | re.S)


def program(path):
    """Without the header and expectations, which would end it, or be out of place."""
    text = tap.read(path).decode(errors="surrogateescape")
    return EXPECTATIONS.sub("", "".join(text.splitlines(keepends=True)[2:]))


def faults(number, folder, paths):
    """How many programs of a folder can be parsed, and what is wrong of them."""
    source = os.path.join(scratch.name, f"{number}")
    os.mkdir(source)
    if os.path.isdir(os.path.join(folder, "kernels")):  # what programs include
        shutil.copytree(os.path.join(folder, "kernels"), os.path.join(source, "kernels"))
    for path in paths:
        tap.write(os.path.join(source, os.path.basename(path)), program(path))

    def made(command, names):
        """What a command makes of programs: the text, by name."""
        target = tempfile.mkdtemp(dir=scratch.name)
        tap.skirc(*command, "-o", target + "/", *(os.path.join(source, name) for name in names))
        return {name: tap.read(os.path.join(target, name)) for name in sorted(os.listdir(target))}

    names = list(made(["fmt"], sorted(map(os.path.basename, paths))))
    formatted = [os.path.join(source, name) for name in names]
    before = made(["opt"], names)
    tap.skirc("fmt", "-i", *formatted)
    after = made(["opt"], names)
    check = tap.skirc("fmt", "--check", *formatted)
    wrong = [f"{folder}/{name}: another program" for name in names
             if before.get(name) != after.get(name)]
    if names and check.returncode:
        wrong.append(f"{folder}: a canonical form is not stable: {check}")
    return len(names), wrong


folders = {}
for pattern in ("tests/golden/**/*.skir", "docs/examples/*.skir"):
    for path in sorted(glob.glob(os.path.join(tap.SOURCE, pattern), recursive=True)):
        folders.setdefault(os.path.dirname(path), []).append(path)
count, wrong = 0, []
for number, (folder, paths) in enumerate(folders.items()):
    parsed, found = faults(number, folder, paths)
    count += parsed
    wrong += found
tap.check(f"the canonical form of {count} programs is stable and means the same", not wrong,
          "\n".join(wrong))
tap.check("most golden files have programs", count > sum(map(len, folders.values())) // 2)

entries = tap.read(os.path.join(tap.SOURCE, "tests/golden/language/entries.skir")).decode()
instructions = re.findall(r"^INSTR\((\w+),", tap.read(os.path.join(tap.SOURCE, "ir/core/instrs.def")).decode(),
                          re.M)
for name in instructions:
    tap.check(f"a golden file has '{name}' in canonical form", re.search(rf"\b{name}\b", entries))
tap.done()
