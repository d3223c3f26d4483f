"""Random graphs with gears that can be run, and the static graphs that they stand for: for tests
of what becomes of gears. `Geared(seed)` is always the same graph for a seed.

Dimensions are kept as terms of names here, and printed either so, in some order, or as the numbers
that this file works out of them: nothing of skirc has a part in the static text.
"""

import itertools
import math
import random

FLOATS = ["f32", "f16", "bf16"]
UNARY = ["Neg", "Relu", "Exp", "Tanh", "Square", "Abs"]
BINARY = ["Add", "Sub", "Mul", "Maximum", "Minimum"]
NAMES = ["b", "s", "n", "none", "f32"]


class Dim:
    """A sum of products: {names in order: coefficient}."""

    def __init__(self, terms):
        self.terms = {names: times for names, times in terms.items() if times}

    @staticmethod
    def number(n):
        return Dim({(): n})

    def __add__(self, other):
        terms = dict(self.terms)
        for names, times in other.terms.items():
            terms[names] = terms.get(names, 0) + times
        return Dim(terms)

    def __mul__(self, other):
        terms = {}
        for (a, m), (b, n) in itertools.product(self.terms.items(), other.terms.items()):
            names = tuple(sorted(a + b))
            terms[names] = terms.get(names, 0) + m * n
        return Dim(terms)

    def __eq__(self, other):
        return self.terms == other.terms

    def value(self, row):
        return sum(times * math.prod(row[name] for name in names)
                   for names, times in self.terms.items())

    def even(self):
        return all(times % 2 == 0 for times in self.terms.values())

    def bare(self):
        """Whether it is a name and nothing else."""
        return [(len(names), times) for names, times in self.terms.items()] == [(1, 1)]

    def half(self):
        return Dim({names: times // 2 for names, times in self.terms.items()})

    def text(self, chance):
        """As a text of the language, with its terms in a random order."""
        terms = []
        for names, times in self.terms.items():
            factors = list(names) + ([str(times)] if times != 1 or not names else [])
            chance.shuffle(factors)
            terms.append("*".join(factors))
        chance.shuffle(terms)
        return " + ".join(terms) or "0"


ONE = Dim.number(1)


class Geared:
    """One graph. `text()` has gears, `static(row)` the values of one row; `rows` are all that the
    gears make, each once and sorted."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.values, self.lines, self.params = {}, [], []
        self.count = 0
        self.make_gears()
        self.make_params()
        self.blocks = []
        for _ in range(self.chance.randrange(2, 12)):
            self.open_or_close()
            self.op()
        while self.blocks:
            self.close()
        made = [name for name in self.values if name.startswith("%v")] or list(self.values)
        self.returned = self.chance.sample(made, min(len(made), self.chance.randrange(1, 4)))
        self.spelling = self.chance.random()

    # ---- Gears and parameters ----

    def make_gears(self):
        self.names = self.chance.sample(NAMES, self.chance.randrange(1, 4))
        self.mode = self.chance.choice(["zip", "product"])
        count = self.chance.randrange(2, 5)
        self.gears = {}
        for name in self.names:
            if self.mode == "product":
                count = self.chance.randrange(2, 4)
            self.gears[name] = [self.chance.randrange(2, 7) for _ in range(count)]
        make = zip if self.mode == "zip" else itertools.product
        rows = sorted(set(make(*self.gears.values())))
        self.rows = [dict(zip(self.names, row)) for row in rows]

    def dim(self):
        name, other = (Dim({(self.chance.choice(self.names),): 1}) for _ in range(2))
        number = Dim.number(self.chance.randrange(1, 6))
        return self.chance.choice([name, name, number, number, name * number, name * other,
                                   name + number, name * Dim.number(2)])

    def add_value(self, kind, dtype, dims):
        self.count += 1
        name = f"%{kind}{self.count}"
        self.values[name] = (dtype, dims)
        return name

    def make_params(self):
        shapes = [[Dim({(name,): 1})] for name in self.names]
        for _ in range(self.chance.randrange(1, 3)):
            shapes.append([self.dim() for _ in range(self.chance.randrange(1, 4))])
        for dims in shapes:
            while len(dims) < 3 and self.chance.random() < 0.4:
                dims.insert(self.chance.randrange(len(dims) + 1), self.dim())
            self.params.append(self.add_value("p", self.chance.choice(FLOATS), dims))

    # ---- Statements ----

    def line(self, results, call, attrs=""):
        self.lines.append(("op", len(self.blocks), results, call, attrs))

    def open_or_close(self):
        kinds = [kind for kind in ("scope", "stream") if kind not in self.blocks]
        if kinds and self.chance.random() < 0.4:
            kind = self.chance.choice(kinds)
            self.count += 1
            head = f'stream "{self.count % 2}"' if kind == "stream" else \
                f'scope @s{self.count} {{options = "stream-fusion=1"}}'
            self.lines.append(("text", len(self.blocks), head + " {"))
            self.blocks.append(kind)
        elif self.blocks and self.chance.random() < 0.25:
            self.close()

    def close(self):
        self.blocks.pop()
        self.lines.append(("text", len(self.blocks), "}"))

    def result(self, call, dtype, dims, attrs=""):
        name = self.add_value("v", dtype, dims)
        self.line([name], call, attrs)
        return name

    def pick(self, fits=lambda dtype, dims: True):
        names = [name for name, (dtype, dims) in self.values.items() if fits(dtype, dims)]
        return self.chance.choice(names[-6:] if self.chance.random() < 0.7 else names) \
            if names else None

    def op(self):
        makers = [self.unary, self.unary, self.binary, self.binary, self.binary, self.cast,
                  self.softmax, self.reduce, self.flat, self.transpose, self.concat, self.split,
                  self.matmul, self.matmul, self.constant, self.expand]
        self.chance.choice(makers)()

    def unary(self):
        x = self.pick()
        self.result(f"{self.chance.choice(UNARY)}({x})", *self.values[x])

    def cast(self):
        x = self.pick()
        self.result(f"Cast({x})", self.chance.choice(FLOATS), self.values[x][1])

    def softmax(self):
        x = self.pick()
        self.result(f"Softmax({x})", *self.values[x])

    def alike(self, x, dtype):
        """A value that x can be joined with: sometimes one that fits only with some values of the
        gears, such as [b] and [n]."""
        dims = self.values[x][1]
        other = None
        if self.chance.random() < 0.4:
            other = self.pick(lambda d, o: len(o) <= len(dims) and any(
                a != b and a.bare() and b.bare() for a, b in zip(o[::-1], dims[::-1])))
            if other and self.values[other][0] != dtype:
                other = self.result(f"Cast({other})", dtype, self.values[other][1])
        return other or self.pick(lambda d, o: d == dtype and len(o) <= len(dims) and
                                  o == dims[len(dims) - len(o):])

    def binary(self):
        x = self.pick()
        dtype, dims = self.values[x]
        y = self.alike(x, dtype)
        call = f"{self.chance.choice(BINARY)}({x}, {y})"
        theirs = self.values[y][1]
        first = len(dims) - len(theirs)
        self.result(call, dtype, dims[:first] + [b if a == ONE else a
                                                 for a, b in zip(dims[first:], theirs)])

    def reduce(self):
        x = self.pick(lambda dtype, dims: len(dims) > 1)
        if x:
            dtype, dims = self.values[x]
            axis = self.chance.randrange(len(dims))
            keep = self.chance.random() < 0.5
            rest = dims[:axis] + ([ONE] if keep else []) + dims[axis + 1:]
            self.result(f"{self.chance.choice(['ReduceSumD', 'ReduceMaxD'])}({x})", dtype, rest,
                        f" {{axes = [{axis}], keep_dims = {str(keep).lower()}}}")

    def flat(self):
        """Two dimensions next to each other become one."""
        x = self.pick(lambda dtype, dims: len(dims) > 1)
        if x:
            dtype, dims = self.values[x]
            at = self.chance.randrange(len(dims) - 1)
            self.result(f"Reshape({x})", dtype,
                        dims[:at] + [dims[at] * dims[at + 1]] + dims[at + 2:])

    def expand(self):
        x = self.pick(lambda dtype, dims: len(dims) < 4)
        if x:
            dtype, dims = self.values[x]
            at = self.chance.randrange(len(dims) + 1)
            self.result(f"Reshape({x})", dtype, dims[:at] + [ONE] + dims[at:])

    def transpose(self):
        x = self.pick(lambda dtype, dims: len(dims) > 1)
        if x:
            dtype, dims = self.values[x]
            order = list(range(len(dims)))
            self.chance.shuffle(order)
            self.result(f"TransposeD({x})", dtype, [dims[i] for i in order], f" {{perm = {order}}}")

    def concat(self):
        x = self.pick()
        dtype, dims = self.values[x]
        axis = self.chance.randrange(len(dims))
        y = self.pick(lambda d, o: d == dtype and len(o) == len(dims) and
                      all(a == b for i, (a, b) in enumerate(zip(o, dims)) if i != axis))
        self.result(f"ConcatD([{x}, {y}])", dtype,
                    dims[:axis] + [dims[axis] + self.values[y][1][axis]] + dims[axis + 1:],
                    f" {{concat_dim = {axis}, N = 2}}")

    def split(self):
        x = self.pick(lambda dtype, dims: any(dim.even() for dim in dims))
        if x:
            dtype, dims = self.values[x]
            axis = self.chance.choice([i for i, dim in enumerate(dims) if dim.even()])
            half = dims[:axis] + [dims[axis].half()] + dims[axis + 1:]
            names = [self.add_value("v", dtype, half) for _ in range(2)]
            self.line(names, f"SplitD({x})", f" {{split_dim = {axis}, num_split = 2}}")

    def matmul(self):
        x = self.pick(lambda dtype, dims: len(dims) == 2)
        if x:
            dtype, (m, k) = self.values[x]
            meant = self.pick(lambda d, o: d == dtype and len(o) == 2 and o[0] == k)
            y = meant or x
            turned = "" if meant else " {transpose_x2 = true}"
            n = self.values[y][1][1 if meant else 0]
            self.result(f"MatMul({x}, {y})", dtype, [m, n], turned)

    def constant(self):
        self.result("Const()", self.chance.choice(FLOATS), [self.dim()],
                    f" {{value = {self.chance.choice(['0.5', '-2.0', '3.0'])}}}")

    # ---- Texts ----

    def type_text(self, name, dim):
        dtype, dims = self.values[name]
        return f"{dtype}[{', '.join(dim(d) for d in dims)}]"

    def body(self, dim):
        for line in self.lines:
            indent = "  " * (line[1] + 1)
            if line[0] == "text":
                yield indent + line[2]
                continue
            _, _, results, call, attrs = line
            types = ", ".join(self.type_text(name, dim) for name in results)
            types = f"({types})" if len(results) > 1 else types
            yield f"{indent}{', '.join(results)} = {call}{attrs} : {types}"

    def graph(self, head, dim):
        params = ", ".join(f"{name}: {self.type_text(name, dim)}" for name in self.params)
        results = ", ".join(self.type_text(name, dim) for name in self.returned)
        return "\n".join([
            "skir 1\n", f"graph @g({params}){head} -> ({results}) {{", *self.body(dim),
            f"  return {', '.join(self.returned)}", "}\n"])

    def text(self):
        chance = random.Random(self.spelling)
        gears = ", ".join(f"{name} = {values}" for name, values in self.gears.items())
        return self.graph(f" gears {self.mode} ({gears})", lambda dim: dim.text(chance))

    def static(self, row):
        return self.graph("", lambda dim: str(dim.value(row)))

    def shapes(self, row):
        """Options that say the shapes of all parameters."""
        return [f"--shape={name[1:]}=" + ",".join(str(dim.value(row))
                                                  for dim in self.values[name][1])
                for name in self.params]
