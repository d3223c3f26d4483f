"""Runs the examples of README.md and docs/*.md, and holds the pages to the tables they describe.

A fenced block's first line says what it is:

    ```skir                    a module that `skirc check` accepts; `//! error: TEXT` as in golden
                               files
    ```skir COMMAND ARGUMENTS  the same with another command than `check`
    ```skir expect             what the block before prints, to the byte
    ```skir test               a golden file as it is
    ```c from=FILE             an excerpt of that file of the tree; a line `...` stands for any
                               lines
    ```console                 commands behind `$`, and what they print. Numbers before " ms" and
                               " %" or behind "ms": do not count, nor those of measured runs and how
                               they compare, nor those behind "lines " (sizes of objects that were
                               made here); a line `...` stands for any lines

`file=NAME` behind `skir` or `c` also keeps the block as a file for the page's console blocks, and for
examples that include it. Console blocks run in one folder per page, where `build` is the build folder and `docs` that of the source tree.
Blocks of other kinds are not looked at.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

SKIRC = os.path.abspath(tap.SKIRC)
SOURCE = os.path.abspath(tap.SOURCE)
DIAGNOSTICS = "docs/diagnostics.md"
CONSOLE_TIMEOUT = 120  # seconds per command


class Block:
    def __init__(self, page, line, info, section):
        words = info.split()
        self.where = f"{page}:{line}"
        self.kind = words[0] if words else ""
        self.names = [word[5:] for word in words[1:] if word.startswith("file=")]
        self.sources = [word[5:] for word in words[1:] if word.startswith("from=")]
        self.words = [word for word in words[1:] if "=" not in word or word.startswith("-")]
        self.section = section
        self.lines = []

    def text(self):
        return "".join(line + "\n" for line in self.lines)


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def pages():
    names = sorted(os.listdir(os.path.join(SOURCE, "docs")))
    return ["README.md"] + ["docs/" + name for name in names if name.endswith(".md")]


def blocks_of(page):
    blocks, block, section = [], None, ""
    for number, line in enumerate(read(page).split("\n"), 1):
        if block is None and line.startswith("#"):
            section = line.lstrip("# ")
        elif block is None and line.startswith("```"):
            block = Block(page, number, line[3:], section)
        elif block is not None and line == "```":
            blocks.append(block)
            block = None
        elif block is not None:
            block.lines.append(line)
    return blocks


# ---- modules ----


def check_module(folder, block, expected):
    """As a golden file: the runner compares diagnostics and output."""
    text = block.text()
    if block.words != ["test"]:
        text = f"//! {' '.join(block.words) or 'check'}\n//! {block.where}\n" + text
    if expected is not None:
        # `fmt` prints the header of the golden file too.
        header = text[: -len(block.text())] if block.words[:1] == ["fmt"] else ""
        text += "//! expect\n" + header + expected.text()
    elif not re.search(r"//! *(error|warning|remark|note|help|expect)\b", block.text()):
        text += "//! expect nothing\n"
    path = os.path.join(folder, "example.skir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    result = tap.skirc("test", path)
    shown = re.sub(r"(?m)^  run 'skirc test --bless.*\n", "", result.stdout + result.stderr)
    tap.check(f"{block.where}: the example does what the page says", result.returncode == 0, shown)


def check_section(folder, block):
    """An example in the section of a diagnostic triggers it."""
    path = os.path.join(folder, "example.skir")
    result = tap.skirc(*(block.words or ["check"]), "--remarks", path)
    tap.check(f"{block.where}: the example triggers [{block.section}]",
              f" [{block.section}]\n" in result.stderr, result.stderr)


def check_canonical(block):
    """The canonical form of the canonical form is itself."""
    once = tap.skirc("fmt", "-", stdin=block.text())
    twice = tap.skirc("fmt", "-", stdin=once.stdout)
    tap.check(
        f"{block.where}: fmt is the identity on its own output",
        once.returncode == 0 and twice.returncode == 0 and once.stdout == twice.stdout,
        once.stderr + twice.stderr + once.stdout,
    )


def expects(block, severity):
    return any(re.search(f"//! *({severity})", line) for line in block.lines)


# ---- excerpts ----


def check_excerpt(block, path):
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in block.lines
    )
    tap.check(f"{block.where}: {path} has these lines", re.search(pattern, read(path)))


# ---- consoles ----


def make_console_folder(folder):
    os.symlink(os.path.dirname(SKIRC), os.path.join(folder, "build"))
    os.symlink(os.path.join(SOURCE, "docs"), os.path.join(folder, "docs"))


def commands_of(block):
    """Pairs of a command and the lines that it prints."""
    commands, open_command = [], False
    for line in block.lines:
        if open_command:
            commands[-1][0] += "\n" + line
        elif line.startswith("$ "):
            commands.append([line[2:], []])
        elif commands:
            commands[-1][1].append(line)
        open_command = line.endswith("\\") and (open_command or line.startswith("$ "))
    return commands


def run_console(folder, command):
    environment = dict(os.environ, NO_COLOR="1")
    environment["PATH"] = os.path.join(folder, "build") + os.pathsep + environment["PATH"]
    environment["PKG_CONFIG_PATH"] = os.path.join(folder, "build")
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=CONSOLE_TIMEOUT,
    ).stdout


# What `run` says of the times of two ways.
COMPARED = (r"\S+ takes [0-9.]+ times as long as |no difference but noise: "
            r"|too few runs to compare their times$")


def hide_numbers(line):
    if re.match(COMPARED, line):
        return "TIMES COMPARED"
    line = re.sub(r"(?<= of )[0-9]+(?= runs\b)", "N", line)
    # Right-aligned: the width is the number's.
    line = re.sub(r"(^|  ) *(?=[0-9.]+ (ms\b|%))", r"\1", line)
    line = re.sub(r"[0-9.]+(?= %)", "N", line)
    return re.sub(r'[0-9]+(\.[0-9]+)?(?= ms\b)|(?<=\blines )[0-9]+|(?<="ms":)[0-9.]+', "N", line)


def matches(expected, printed):
    """Whether lines fit, where a line `...` stands for any number of them."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(hide_numbers(line)) + r"\n" for line in expected
    )
    return re.fullmatch(pattern, "".join(hide_numbers(line) + "\n" for line in printed)) is not None


def check_console(folder, block):
    for command, expected in commands_of(block):
        printed = run_console(folder, command)
        tap.check(
            f"{block.where}: $ {command.splitlines()[0]}",
            matches(expected, printed.splitlines()),
            "printed:\n" + printed,
        )


# ---- pages ----


def check_page(page):
    with tempfile.TemporaryDirectory() as consoles, tempfile.TemporaryDirectory() as scratch:
        make_console_folder(consoles)
        blocks = blocks_of(page)
        for i, block in enumerate(blocks):
            for name in block.names:
                for folder in (consoles, scratch):
                    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                        file.write(block.text())
            for path in block.sources:
                check_excerpt(block, path)
            if block.kind == "console":
                check_console(consoles, block)
            if block.kind != "skir" or block.words == ["expect"]:
                continue
            following = blocks[i + 1] if i + 1 < len(blocks) else None
            expected = following if following and following.words == ["expect"] else None
            check_module(scratch, block, expected)
            if page == DIAGNOSTICS and expects(block, "error|remark"):
                check_section(scratch, block)
            if not expects(block, "error"):
                check_canonical(block)


def anchors(page):
    """What GitHub makes of headings: lower case, hyphens for blanks, no punctuation."""
    prose = re.sub(r"(?ms)^```.*?^```$", "", read(page))
    return [re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", prose, re.M)]


def check_links(page):
    missing = []
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", read(page)):
        path = os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page
        if not os.path.exists(os.path.join(SOURCE, path)):
            missing.append(target)
        elif anchor and anchor not in anchors(path):
            missing.append(f"{target}#{anchor}")
    tap.check(f"{page}: links lead somewhere", not missing, "\n".join(missing))


FOLDERS = "backend", "docs", "frontend", "ir", "passes", "tests"


def check_paths(page):
    """Folders, files and files without their endings; what has capitals stands for any."""
    prose = re.sub(r"(?ms)^```.*?^```$", "", read(page))
    paths = set(re.findall(rf"`((?:{'|'.join(FOLDERS)})/[a-z0-9_./-]+)`", prose))
    missing = [path for path in sorted(paths)
               if not (os.path.exists(os.path.join(SOURCE, path))
                       or glob.glob(os.path.join(SOURCE, path + ".*")))]
    tap.check(f"{page}: the files that it names are there", not missing, "\n".join(missing))


# ---- completeness ----


def first_columns(table, macro):
    return re.findall(rf"^{macro}\(([A-Za-z0-9_]+)", read(table), re.M)


def check_names(page, what, names):
    prose = re.sub(r"(?ms)^```.*?^```$", "", read(page))
    code = " ".join(re.findall(r"`([^`]+)`", prose))
    known = set(re.findall(r"[A-Za-z0-9_-]+", code))
    missing = [name for name in names if name not in known]
    tap.check(f"{page} has all {what}", names and not missing, " ".join(missing))


def check_tables():
    language = "docs/language.md"
    check_names(language, "keywords", first_columns("ir/core/words.def", "KEYWORD"))
    check_names(language, "dtypes", first_columns("ir/core/dtypes.def", "DTYPE"))
    check_names(language, "formats", first_columns("ir/core/formats.def", "FORMAT"))
    check_names(language, "kernel types", first_columns("ir/core/kernel_types.def", "KERNEL_TYPE"))
    check_names(language, "instructions", first_columns("ir/core/instrs.def", "INSTR"))
    check_names(language, "attributes",
                re.findall(r"^ATTR\(\w+, (\w+)", read("ir/core/attr_keys.def"), re.M))
    check_names(language, "options of scopes",
                re.findall(r'^SK_OPTION\(\w+, "([a-z-]+)"', read("ir/core/sk_options.def"), re.M))
    check_samples()
    check_op_types()
    targets = "backend/target/backends.def"
    check_names("docs/command-line.md", "targets", first_columns(targets, "BACKEND"))
    check_names("docs/command-line.md", "emissions",
                re.findall(r'^EMISSION\(\w+, "([^"]+)"', read(targets), re.M))
    check_properties()
    check_headings(DIAGNOSTICS, "diagnostics",
                   re.findall(r'^DIAG\(\w+, \w+, "([a-z-]+)"', read("ir/support/diag_ids.def"), re.M))
    passes = tap.skirc("opt", "--list-passes").stdout.splitlines()
    check_headings("docs/passes.md", "passes", [line.split()[0] for line in passes])


def check_samples():
    """The op types of the table of sample kernels."""
    rows = read("backend/kernels/sample_kernels.def")
    types = re.findall(r"^KERNEL\(\w+, (\w+),", rows, re.M)
    check_names("docs/sample-kernels.md", "sample kernels", sorted(set(types)))


def check_op_types():
    """Keys, sets of data types and functions of rules, of which the page has tables."""
    page, reader = "docs/op-types.md", read("ir/optypes/op_type_reader.c")
    check_names(page, "keys of op types", re.findall(r'^    {"([a-z_]+)", FORM_', reader, re.M))
    check_names(page, "sets of dtypes",
                re.findall(r'^    \{"(\w+)", ', read("ir/optypes/op_type_reader.c"), re.M))
    check_names(page, "functions of rules", first_columns("ir/optypes/op_functions.def", "FUNCTION"))


def check_properties():
    """What each pass needs and gives, in the page's table as in passes.def."""
    rows = re.findall(r'^PASS\(\w+, "([a-z-]+)", \w+,\s*([^,]+), ([^,]+),', read("passes/manager/passes.def"),
                      re.M)

    def properties(value):
        return ", ".join(re.findall(r"[a-z]+", value.replace("PROPERTY_", "").lower()))

    said = re.findall(r"^\| `([a-z-]+)` \| ([a-z, ]*?) ?\| ([a-z, ]*?) ?\|$",
                      read("docs/passes.md"), re.M)
    wrong = [name for name, needs, gives in rows
             if (name, properties(needs), properties(gives)) not in said]
    tap.check("docs/passes.md says what each pass needs and gives", rows and not wrong,
              " ".join(wrong))


def check_headings(page, what, names):
    headings = set(re.findall(r"^#+ `?([a-z-]+)`?$", read(page), re.M))
    missing = [name for name in names if name not in headings]
    tap.check(f"{page} has a section for each of the {what}", names and not missing,
              " ".join(missing))


def commands():
    text = tap.skirc("--help").stdout.split("\nCommands:\n")[1].split("\n\n")[0]
    return [name for name in re.findall(r"^  ([a-z]+) ", text, re.M) if name != "help"]


def options(command):
    return re.findall(r"--([a-z-]+)", "\n".join(
        re.findall(r"^  (?:-\w, |    )--.*", tap.skirc(command, "--help").stdout, re.M)))


def sections(text, heading):
    """The text of each section, by heading."""
    parts = re.split(rf"^{heading} (.*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def check_options(page, command, wanted, described):
    """`described` are the options in the page's section, or None where it has none."""
    missing = [f"not described: --{name}" for name in wanted if name not in (described or [])]
    extra = [f"does not exist: --{name}" for name in described or [] if name not in wanted]
    tap.check(f"{page} describes 'skirc {command}' and its options, and no others",
              described is not None and not missing + extra, "\n".join(missing + extra))


def check_commands():
    """A table row or list item begins with an option's names; common ones have a section."""
    reference = sections(read("docs/command-line.md"), "##")
    manual = sections(read("docs/man/skirc.1"), r"\.S[sh]")
    common = "Options of every command"

    def in_reference(name):
        rows = re.findall(r"^\| (`-[^|]*) \|", reference.get(name, ""), re.M)
        return re.findall(r"--([a-z-]+)", " ".join(rows)) if name in reference else None

    def in_manual(name):
        items = re.findall(r"^\.It (Fl .*)", manual.get(name, ""), re.M)
        return re.findall(r"Fl -([a-z-]+)", " ".join(items)) if name in manual else None

    for page, described in (("docs/command-line.md", in_reference), ("skirc.1", in_manual)):
        for command in commands():
            own = described(f"skirc {command}")
            check_options(page, command, options(command),
                          None if own is None else own + (described(common) or []))


def check_manuals():
    folder = os.path.join(SOURCE, "docs", "man")
    for name in sorted(os.listdir(folder)):
        if not shutil.which("mandoc"):
            tap.skip(f"{name} is correct mdoc", "there is no mandoc")
            continue
        result = subprocess.run(["mandoc", "-Tlint", os.path.join(folder, name)],
                                capture_output=True, text=True)
        tap.check(f"{name} is correct mdoc", result.returncode == 0 and not result.stdout,
                  result.stdout + result.stderr)


for page in pages():
    check_page(page)
    check_links(page)
    check_paths(page)
check_tables()
check_commands()
check_manuals()
tap.done()
