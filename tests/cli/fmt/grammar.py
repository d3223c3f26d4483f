"""The grammar in docs/language.md and the parser's, ir/syntax/grammar.y, are one language: what is
derived from either, as it is or with a token changed, both accept or both refuse."""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import grammars
import tap

COUNT = int(os.environ.get("SKIR_TEST_COUNT", "500"))
SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))
BATCH = 250  # files for one call of skirc
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def read(*path):
    with open(os.path.join(tap.SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def first_column(path, macro):
    return re.findall(rf"^{macro}\((\w+)", read("ir/core", path), re.M)


def one_of(*words):
    return ("any", [("text", word) for word in words])


def instruction_rules():
    """What stands for the operands of ir/core/instrs.def, which the parser reads by that table."""
    group = ("any", [("class", name) for name in ("value", "word", "string")])
    event, nothing = ("rule", "event"), ("all", [])
    forms = {
        "K": ("class", "symbol"), "N": ("class", "integer"), "S": group, "V": event,
        "L": ("any", [event, ("all", [("text", "lock"), group])]),
        "G": one_of("aic", "aiv"), "F": one_of("c2v", "v2c"), "A": ("text", "all"),
        "P": one_of("begin", "end", "complement"), "B": one_of("begin", "end"),
        "E": ("all", [("any", [nothing, ("all", [("text", "early_wait"),
                                                 one_of("aic", "aiv", "mix")])]),
                      ("any", [nothing, ("text", "early_set")])])}
    rows = [("all", [("text", "call"), group])]
    for name, operands in re.findall(r'^INSTR\((\w+), "([^"]*)"', read("ir/core", "instrs.def"), re.M):
        rows.append(("all", [("text", name)] + [forms.get(operand, ("text", operand))
                                                for operand in operands.split()]))
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
    wrong = [texts[i] for i in no if i % 3 == 0]
    tap.check(f"{claim}: as they are, all are accepted", not wrong, wrong[:5])


def with_type_words(body):
    """A rule for calls of ops, whose types are words that do not begin with a small letter."""
    kind, of = body
    if kind in ("all", "any"):
        return (kind, [with_type_words(part) for part in of])
    return ("class", "type_word") if body == ("class", "word") else body


page = grammars.read_ebnf(re.search(r"```ebnf\n(.*?)```", read("docs", "language.md"), re.S)[1])
parser = grammars.read_bison(read("ir", "syntax", "grammar.y"))
# What the parser's actions look at.
parser["instr"] = instruction_rules()
parser["args_word"] = ("text", "args")
parser["head"], parser["call"] = with_type_words(parser["head"]), with_type_words(parser["call"])
parser["rare_op_type"] = ("class", "string")
parser["core"] = one_of("aic", "aiv")
parser["program"] = ("all", [("rule", "core"), ("text", "{"), ("rule", "instrs"), ("text", "}")])
parser["list_type"] = one_of("int", "float", "bool", "string", "type", "list")
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
