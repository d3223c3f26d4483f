"""The grammar in docs/language.md and that of the parser, ir/syntax/grammar.y, are one language: what
is derived from either, as it is or with a token changed, both accept or both refuse."""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import grammars
import tap

COUNT = int(os.environ.get("SKIR_TEST_COUNT", "1000"))
SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))
BATCH = 250  # files for one call of skirc
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def read(*path):
    with open(os.path.join(tap.SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def first_column(path, macro):
    return re.findall(rf"^{macro}\((\w+)", read("ir", path), re.M)


def instruction_rules():
    """What stands for the operands of ir/instrs.def, which the parser reads by that table."""
    part = {"K": ["symbol"], "N": ["integer"]}
    words = {"G": ["aic", "aiv"], "F": ["c2v", "v2c"], "A": ["all"],
             "P": ["begin", "end", "complement"], "B": ["begin", "end"]}
    early = ("any", [("all", []), ("text", "early_set"),
                     ("all", [("text", "early_wait"),
                              ("any", [("text", word) for word in ("aic", "aiv", "mix")]),
                              ("any", [("all", []), ("text", "early_set")])])])
    rows = []
    for name, operands in re.findall(r'^INSTR\((\w+), "([^"]*)"', read("ir", "instrs.def"), re.M):
        row = [("text", name)]
        for operand in operands.split():
            if operand == "E":
                row.append(early)
            elif operand in part:
                row += [("class", name) for name in part[operand]]
            elif operand in words:
                row.append(("any", [("text", word) for word in words[operand]]))
            else:
                row.append(("text", operand))
        rows.append(("all", row))
    return ("any", rows)


def refused(texts):
    """Which of the texts skirc finds syntax errors in."""
    found = set()
    for begin in range(0, len(texts), BATCH):
        names = []
        for i, text in enumerate(texts[begin:begin + BATCH]):
            names.append(f"{begin + i}.skir")
            with open(names[-1], "w", encoding="utf-8") as file:
                file.write(text)
        ran = tap.skirc("fmt", "--check", "--max-errors=0", *names, timeout=300)
        found |= {int(n) for n in re.findall(r"^(\d+)\.skir:\d+:\d+: error: .*\[(?:syntax|"
                                             r"instr-operands)\]$", ran.stderr, re.M)}
        for name in names:
            os.remove(name)
    return found


def compare(claim, generator, start, recogniser):
    texts = []
    for i in range(COUNT):
        tokens = generator.tokens(("rule", start), generator.random.randrange(6, 22))
        texts.append(generator.spaced(tokens))
        for _ in range(2):
            texts.append(generator.spaced(generator.mutated(tokens)))
    no = refused(texts)
    differ = [(i, text) for i, text in enumerate(texts)
              if (i in no) == recogniser.accepts("module", text)]
    shortest = sorted(differ, key=lambda pair: len(pair[1]))[:8]
    shown = "\n".join(f"{'page' if i in no else 'parser'} accepts: {' '.join(text.split())}"
                      for i, text in shortest)
    tap.check(f"{claim}: {len(texts)} texts, {len(texts) - len(no)} of them accepted (seed {SEED})",
              not differ, f"{len(differ)} differ\n{shown}")
    tap.check(f"{claim}: as they are, all are accepted",
              not any(i % 3 == 0 for i in no), sorted(no)[:5])


page = grammars.read_ebnf(re.search(r"```ebnf\n(.*?)```", read("docs", "language.md"), re.S)[1])
parser = grammars.read_bison(read("ir", "syntax", "grammar.y"))
parser["instr"] = instruction_rules()
keywords = re.search(r"The keywords `([^`]*)`", read("docs", "language.md"))[1].split()
words = grammars.Words(keywords, first_column("dtypes.def", "DTYPE"),
                       first_column("instrs.def", "INSTR"))
tap.check("the page's keywords are those of the scanner",
          sorted(keywords) == sorted(first_column("words.def", "KEYWORD")), keywords)
recogniser = grammars.Recogniser(page, words)
compare("derived from the page", grammars.Generator(page, words, SEED), "module", recogniser)
compare("derived from the parser", grammars.Generator(parser, words, SEED + 1), "module",
        recogniser)

tap.done()
