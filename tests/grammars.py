"""Two readings of the grammar of .skir as one form, with a generator and a recogniser for it.

A grammar is a dictionary from a rule's name to an expression:

    ("text", TEXT)          the token that is written so
    ("class", CLASS)        a token of one of CLASSES
    ("rule", NAME)
    ("all", [EXPRESSION])   one behind the other; of none: nothing
    ("any", [EXPRESSION])   one of them
    ("many", EXPRESSION)    any number of times
"""

import random
import re

CLASSES = {"value", "symbol", "string", "integer", "number", "word", "type_word", "dtype",
           "mnemonic", "keyword", "switch"}


# ---- tokens ----

TOKEN = re.compile(r"""\s+ | //[^\n]*
    | (?P<value>%(?:[A-Za-z0-9_.$]+|"(?:[^"\\\n]|\\.)+"))
    | (?P<symbol>@(?:[A-Za-z0-9_.$]+|"(?:[^"\\\n]|\\.)+"))
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<number>-?[0-9]+(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)|-?inf\b|nan\b)
    | (?P<integer>0x[0-9A-Fa-f]+|-?[0-9]+)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<mark>->|\.\.|[{}()\[\]=:,?+*])""", re.VERBOSE)


class Words:
    """What a word is, by itself."""

    def __init__(self, keywords, dtypes, mnemonics):
        self.keywords = [word for word in keywords if word not in ("true", "false")]
        self.dtypes, self.mnemonics = dtypes, mnemonics
        self.classes = {}
        for words, name in ((mnemonics, "mnemonic"), (dtypes, "dtype"),
                            (self.keywords, "keyword"), (("true", "false"), "switch")):
            self.classes.update((word, name) for word in words)

    def tokens(self, text):
        """The tokens of a text, as (class, text)."""
        tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                return None
            at, kind = match.end(), match.lastgroup
            if kind == "word":
                kind = self.classes.get(match.group(), "word")
            if kind:
                tokens.append((kind, match.group()))
        return tokens


# ---- EBNF, as docs/language.md writes it ----

def read_ebnf(text):
    """`NAME = ALTERNATIVES ;` with "text", [ optional ], { repeated } and ( grouped )."""
    marks = re.findall(r'"[^"]*"|[a-z_]+|[=;|(){}\[\]]', text)
    rules, at = {}, 0

    def alternatives(closing):
        nonlocal at
        found = [[]]
        while marks[at] not in closing:
            mark = marks[at]
            at += 1
            if mark == "|":
                found.append([])
            elif mark in "([{":
                inner = alternatives({"(": ")", "[": "]", "{": "}"}[mark])
                at += 1
                found[-1].append({"(": inner, "[": ("any", [("all", []), inner]),
                                  "{": ("many", inner)}[mark])
            elif mark[0] == '"':
                found[-1].append(("text", mark[1:-1]))
            else:
                found[-1].append(("class" if mark in CLASSES else "rule", mark))
        return ("any", [("all", parts) for parts in found])

    while at < len(marks):
        name = marks[at]
        assert marks[at + 1] == "=", marks[at:at + 5]
        at += 2
        rules[name] = alternatives(";")
        at += 1
    return rules


# ---- the rules of a grammar for Bison ----

SPECIAL = {"ATTR_BRACE": ("text", "{"), "ARROW": ("text", "->"), "DOTS": ("text", ".."),
           "VALUE": ("class", "value"),
           "SYMBOL": ("class", "symbol"), "STRING": ("class", "string"),
           "INT": ("class", "integer"), "FLOAT": ("class", "number"), "WORD": ("class", "word"),
           "DTYPE": ("class", "dtype"), "INSTR": ("class", "mnemonic"),
           "EVENT_INSTR": ("class", "mnemonic")}
# Alternatives with these are left out: TYPE, DICT and REST are other spellings of what has been read
# before, HEAD and MORE several tokens in one, and the others what follows an error.
LEFT_OUT = {"error", "RESYNC", "TYPE", "DICT", "REST", "HEAD", "MORE"}


def without_actions(text):
    """Bison's rules without what stands in braces, comments and names of symbols."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    kept, depth, at = [], 0, 0
    while at < len(text):
        literal = re.compile(r"'(?:\\.|[^'])'|\"(?:\\.|[^\"])*\"").match(text, at)
        piece = literal.group() if literal else text[at]
        at += len(piece)
        depth += piece == "{"
        if depth == 0:
            kept.append(piece)
        depth -= piece == "}"
    return re.sub(r"\[[a-z_]+\]", "", "".join(kept)) # names behind symbols


def bison_symbol(mark):
    if mark[0] == "'":
        return ("text", mark[1:-1])
    if mark.startswith("KW_"):
        return ("class", "switch") if mark in ("KW_true", "KW_false") else ("text", mark[3:])
    return SPECIAL.get(mark) or ("rule", mark)


def read_bison(text):
    marks = re.findall(r"'[^']'|%empty|[A-Za-z_]+|[:|]", without_actions(text.split("\n%%\n")[1]))
    rules, name = {}, None
    for mark, following in zip(marks, marks[1:] + [""]):
        if following == ":" and mark != "'":
            name = mark
            rules[name] = [[]]
        elif mark == "|":
            rules[name].append([])
        elif mark not in (":", "%empty"):
            rules[name][-1].append(mark)
    return {name: ("any", [("all", [bison_symbol(mark) for mark in parts])
                           for parts in alternatives if not LEFT_OUT & set(parts)])
            for name, alternatives in rules.items()}


# ---- random texts ----

class Generator:
    def __init__(self, rules, words, seed):
        self.rules, self.words, self.random = rules, words, random.Random(seed)
        self.least = {name: 10**9 for name in rules}
        changed = True
        while changed: # how deep the shallowest text of each rule is
            changed = False
            for name, body in rules.items():
                depth = 1 + self.depth(body)
                if depth < self.least[name]:
                    self.least[name], changed = depth, True
        endless = [name for name, depth in self.least.items() if depth == 10**9]
        assert not endless, endless

    def depth(self, body):
        kind, of = body
        if kind == "rule":
            return self.least[of]
        if kind == "all":
            return max(map(self.depth, of), default=0)
        return min(map(self.depth, of)) if kind == "any" else 0

    def token(self, name):
        """The text of a token of a class."""
        pick = self.random.choice
        if name in ("value", "symbol"):
            sigil = "%" if name == "value" else "@"
            return sigil + pick(["a", "b", "0", "x.1", '"a b"', "then", "k.aic"])
        return pick({"string": ['"s"', '""', '"a\\"b"', '"1"'], "integer": ["0", "1", "24", "0x10"],
                     "number": ["0.5", "1e-05", "inf", "-inf", "nan", "-2.5"],
                     "word": ["Add", "MatMul", "_x", "aic", "aiv", "Xy1", "label"],
                     "type_word": ["Add", "MatMul", "_x", "Xy1", "_"],
                     "dtype": self.words.dtypes, "mnemonic": self.words.mnemonics,
                     "keyword": self.words.keywords, "switch": ["true", "false"]}[name])

    def tokens(self, body, budget):
        """The texts of a random derivation, not much deeper than the budget."""
        kind, of = body
        if kind == "text":
            return [of]
        if kind == "class":
            return [self.token(of)]
        if kind == "rule":
            return self.tokens(self.rules[of], budget - 1)
        if kind == "all":
            return [token for part in of for token in self.tokens(part, budget)]
        if kind == "any":
            deep = [part for part in of if self.depth(part) <= budget]
            return self.tokens(self.random.choice(deep or [min(of, key=self.depth)]), budget)
        tokens = []
        while self.depth(of) <= budget and self.random.random() < 0.6:
            tokens += self.tokens(of, budget)
        return tokens

    def mutated(self, tokens):
        """The same with one token lost, doubled, swapped with the next, or another."""
        tokens, at = list(tokens), self.random.randrange(len(tokens))
        how = self.random.randrange(5)
        if how == 0:
            del tokens[at]
        elif how == 1:
            tokens.insert(at, tokens[at])
        elif how == 2 and at + 1 < len(tokens):
            tokens[at], tokens[at + 1] = tokens[at + 1], tokens[at]
        elif how == 3:
            tokens[at] = self.random.choice(tokens)
        else:
            classes = sorted(CLASSES)
            tokens[at] = self.random.choice(list("{}()[]=:,?") + ["->", ".."]
                                            + [self.token(name) for name in classes])
        return tokens

    def spaced(self, tokens):
        """A text of the tokens; marks may stand beside others without a blank."""
        text = ""
        for token in tokens:
            close = text and (text[-1] in "{}()[]=:,?" or token in "{}()[]=:,?")
            blank = self.random.choice([" ", " ", "\n", ""] if close else [" ", "\n"])
            text += blank + token
        return text.lstrip() + "\n"


# ---- recognition ----

class Recogniser:
    """Whether tokens are derived from a rule. No rule may begin with itself."""

    def __init__(self, rules, words):
        self.rules, self.words = rules, words

    def accepts(self, rule, text):
        self.input = self.words.tokens(text)
        self.known = {}
        return self.input is not None and len(self.input) in self.ends(("rule", rule), 0)

    def fits(self, kind, of, at):
        is_a, text = self.input[at]
        if kind == "text":
            return text == of
        return is_a == of or (of == "type_word" and is_a == "word" and not text[0].islower())

    def ends(self, body, at):
        """Where the derivations that begin at a token may end."""
        kind, of = body
        if kind in ("text", "class"):
            return {at + 1} if at < len(self.input) and self.fits(kind, of, at) else set()
        if kind == "rule":
            if (of, at) not in self.known:
                self.known[of, at] = self.ends(self.rules[of], at)
            return self.known[of, at]
        if kind == "any":
            return set().union(*(self.ends(part, at) for part in of))
        found = {at}
        if kind == "all":
            for part in of:
                found = set().union(*(self.ends(part, begin) for begin in found))
            return found
        fresh = found
        while fresh:
            fresh = set().union(*(self.ends(of, begin) for begin in fresh)) - found
            found = found | fresh
        return found
