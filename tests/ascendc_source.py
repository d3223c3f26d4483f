"""A reader of the C++ that entries for the NPU are made of: functions as trees."""

import re

from judge_entries import Wrong

TOKEN = re.compile(r'\s+|//[^\n]*|(?P<t>(?:::)?[A-Za-z_]\w*(?:::\w+)*|0x[0-9a-f]+|\d+|"[^"]*"|'
                   r'<<|>>|<=|>=|==|!=|&&|\|\||\+=|\+\+|.)')
QUALIFIERS = {"const", "__gm__", "__cbuf__", "__ubuf__", "volatile", "struct", "static", "inline",
              "__aicore__", "extern", "__global__", "constexpr", '"C"'}
BASES = {"uint64_t": 8, "uint32_t": 4, "uint8_t": 1, "int64_t": 8, "void": 1, "bool": 1, "GM_ADDR": 8}
BINARY = [["||"], ["&&"], ["|"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"],
          ["+", "-"], ["*", "/", "%"]]


def preprocess(text, defined):
    """The lines of a text that the definitions leave."""
    kept, on = [], [True]
    for line in text.splitlines():
        word = line.split()[0] if line.split() else ""
        if word == "#if":
            condition = re.sub(r"defined\s*\(?(\w+)\)?", lambda m: str(m[1] in defined), line[3:])
            for name, value in defined.items():
                condition = re.sub(rf"\b{name}\b", str(value), condition)
            condition = re.sub(r"\b(\d+)UL\b", r"\1", condition)
            condition = condition.replace("&&", " and ").replace("||", " or ")
            if re.sub(r"\b(True|False|and|or|\d+|==)\b|\s|==", "", condition):
                raise Wrong(f"condition {line}")
            on.append(bool(eval(condition)))
        elif word == "#else":
            on[-1] = not on[-1]
        elif word == "#endif":
            on.pop()
        elif all(on) and word != "#include":
            kept.append(line)
    return "\n".join(kept)


class Type:
    """Bytes of what a pointer points to, 0 of what is none; of a pointer to pointers, `inner`."""

    def __init__(self, name, size, inner=0):
        self.name, self.size, self.inner = name, size, inner


class Source:
    """The functions of a source, as trees."""

    def __init__(self, text, defined):
        text = preprocess(text, defined)
        self.tokens = [m["t"] for m in TOKEN.finditer(text) if m["t"]] + [""]
        self.at, self.space = 0, ""
        self.functions, self.kernels, self.structs, self.configs = {}, set(), {}, []
        self.aligned, self.constants, self.defined, self.types = {}, {}, defined, {}
        while self.tokens[self.at]:
            self.item()

    # Tokens

    def peek(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def need(self, token):
        if not self.take(token):
            raise Wrong(f"'{self.peek()}' where '{token}' is expected")

    # Items

    def item(self):
        if self.take("namespace"):
            self.need("skir")
            self.need("{")
            self.space = "skir::"
        elif self.space and self.take("}"):
            self.space = ""
        elif self.peek() == "struct" and self.peek(2) == "{":
            self.struct()
        elif self.peek(2).startswith("struct") and self.peek(3).startswith("FunLevel"):
            self.kernel_type()
        else:
            self.function()

    def kernel_type(self):
        """A function's section with its kernel type: what is in it, by the name of the section."""
        words = []
        while not words or words[-1] != ";":
            words.append(self.next())
        section = words[words.index("section") + 2].strip('"')
        if section in self.types:
            raise Wrong(f"two sections {section}")
        self.types[section] = "".join(words[words.index("="):])

    def struct(self):
        self.next()
        name, fields = self.next(), []
        self.need("{")
        while not self.take("}"):
            self.type()
            fields.append(self.next())
            self.need(";")
        self.need(";")
        self.structs[name] = self.structs[self.space + name] = fields

    def function(self):
        begin, aligned = self.at, None
        while self.peek(1) != "(" or self.peek() == "__attribute__":
            if self.take("__attribute__"):
                for token in ("(", "(", "aligned", "("):
                    self.need(token)
                aligned = int(self.next())
                for token in (")", ")", ")"):
                    self.need(token)
            elif self.peek() in (";", "="):
                return self.variable(begin)
            elif not self.next():
                raise Wrong("the source ends in the middle")
        name, parameters = self.space + self.next(), []
        self.need("(")
        while not self.take(")"):
            if self.peek() == "void" and self.peek(1) == ")":
                self.next()
                continue
            of = self.type()
            parameters.append((of, self.next()))
            self.take(",")
        words = set(self.tokens[begin:self.at])
        body = None if self.take(";") else self.block()
        if "extern" in words and "__global__" not in words:
            if name in self.kernels:
                raise Wrong(f"{name} is declared twice")
            self.kernels.add(name)
        elif name in self.functions:
            raise Wrong(f"{name} is defined twice")
        else:
            self.functions[name] = parameters, body
            self.aligned[name] = aligned

    def variable(self, begin):
        words = self.tokens[begin:self.at]
        if "constexpr" in words and self.peek(2) == ";":
            self.constants[words[-1]] = int(self.peek(1))
        while self.next() != ";":
            pass
        if words[-1] in self.constants:
            return
        if words[-1] != "g_opSystemRunCfg":
            raise Wrong(f"variable {words}")
        self.configs.append("extern" not in words)

    # Types

    def is_type(self):
        name = self.peek()
        return name in QUALIFIERS or name in BASES or name in self.structs

    def type(self):
        while self.peek() in QUALIFIERS:
            self.next()
        name = self.next()
        if name not in BASES and name not in self.structs:
            raise Wrong(f"type {name}")
        size, inner, stars = 0, 0, 0
        while self.peek() in ("*", "&") or self.peek() in QUALIFIERS:
            stars += self.next() == "*"
        if name == "GM_ADDR":
            size, inner = (8, 1) if stars else (1, 0)
        elif stars:
            size = BASES[name]
        if name == "void" and self.peek() == "(":
            for token in ("(", "*", ")", "(", "uint64_t", ")"):
                self.need(token)
            name = "function"
        return Type(name, size, inner)

    # Statements

    def block(self):
        self.need("{")
        made = []
        while not self.take("}"):
            made.append(self.statement())
        return "block", made

    def statement(self):
        token = self.peek()
        if token == "{":
            return self.block()
        if token in ("if", "while", "for", "switch", "return"):
            self.next()
            return getattr(self, "statement_" + token)()
        if token == "break":
            self.next()
            self.need(";")
            return ("break",)
        if token == "[":
            for token in ("[", "[", "maybe_unused", "]", "]"):
                self.need(token)
        if self.is_type() and self.peek() != "(":
            made = self.declaration()
        else:
            made = "expression", self.expression()
        self.need(";")
        return made

    def declaration(self):
        of, name = self.type(), self.next()
        self.need("=")
        return "declare", of, name, self.initial()

    def initial(self):
        if not self.take("{"):
            return self.expression()
        values = []
        while not self.take("}"):
            values.append(self.expression())
            self.take(",")
        return "list", values

    def condition(self):
        self.need("(")
        made = self.expression()
        self.need(")")
        return made

    def statement_if(self):
        if self.peek() in ("ASCEND_IS_AIC", "ASCEND_IS_AIV"):
            condition = "is", self.next()[-3:].lower()
        else:
            condition = self.condition()
        then = self.statement()
        return "if", condition, then, self.statement() if self.take("else") else None

    def statement_while(self):
        return "while", self.condition(), self.statement()

    def statement_for(self):
        self.need("(")
        first = self.declaration()
        self.need(";")
        condition = self.expression()
        self.need(";")
        step = self.expression()
        self.need(")")
        return "block", [first, ("while", condition,
                                 ("block", [self.statement(), ("expression", step)]))]

    def statement_switch(self):
        value, cases = self.condition(), []
        self.need("{")
        while not self.take("}"):
            label = self.expression() if not self.take("default") and self.take("case") else None
            self.need(":")
            body = []
            while self.peek() not in ("case", "default", "}"):
                body.append(self.statement())
            cases.append((label, body))
        return "switch", value, cases

    def statement_return(self):
        value = None if self.peek() == ";" else self.initial()
        self.need(";")
        return "return", value

    # Expressions

    def expression(self):
        left = self.choice()
        for sign in ("=", "+="):
            if self.take(sign):
                return "assign", sign, left, self.expression()
        return left

    def choice(self):
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        then = self.expression()
        self.need(":")
        return "choice", condition, then, self.expression()

    def binary(self, level):
        if level == len(BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in BINARY[level]:
            left = "binary", self.next(), left, self.binary(level + 1)
        return left

    def unary(self):
        if self.peek() in ("!", "*", "-"):
            return "unary", self.next(), self.unary()
        if self.peek() == "(":
            self.next()
            if self.is_type():
                of = self.type()
                self.need(")")
                return "cast", of, self.unary()
            inner = self.expression()
            self.need(")")
            return self.postfix(inner)
        return self.postfix(self.primary())

    def primary(self):
        token = self.next()
        if token[:1].isdigit():
            number = int(token, 0)
            if self.peek() == "ull":
                self.next()
            return "number", number
        if token in ("true", "false", "nullptr"):
            return "number", int(token == "true")
        if not re.match(r"(::)?[A-Za-z_]", token):
            raise Wrong(f"'{token}' in an expression")
        if self.peek() == "<" and re.search(
                r"::(SetFlag|WaitFlag|PipeBarrier|WaitPreTaskEndImpl)$", token):
            self.next()
            token += "<" + self.next()
            self.need(">")
        return "name", token, self.space

    def postfix(self, made):
        while True:
            if self.take("++"):
                made = "assign", "+=", made, ("number", 1)
            elif self.take("["):
                made = "index", made, self.expression()
                self.need("]")
            elif self.take("."):
                made = "field", made, self.next()
            elif self.take("("):
                values = []
                while not self.take(")"):
                    values.append(self.expression())
                    self.take(",")
                made = "call", made, values
            else:
                return made
