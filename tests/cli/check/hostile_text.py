"""Text that no one would write: every command ends promptly with a status and bounded output."""

import itertools
import os
import random
import resource
import string
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

MEMORY = 2 << 30
SECONDS = 20
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


# Instrumented programs reserve more address space than there is.
with open(tap.SKIRC, "rb") as program:
    INSTRUMENTED = b"__asan_init" in program.read()


def limit(memory):
    if not INSTRUMENTED:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def call(*arguments, data=None, memory=MEMORY):
    """Runs skirc under limits, with bytes in and out; returns status, output, errors, seconds."""
    start = time.monotonic()
    try:
        done = subprocess.run([tap.SKIRC, *arguments], input=data, capture_output=True,
                              timeout=SECONDS, preexec_fn=lambda: limit(memory))
    except subprocess.TimeoutExpired:
        return "timeout", b"", b"", SECONDS
    return done.returncode, done.stdout, done.stderr, time.monotonic() - start


def check(claim, status, data, *arguments, text=b"", size=20000):
    """One input: the status, a text among the errors, and at most `size` bytes of them."""
    with open("input.skir", "wb") as file:
        file.write(data)
    got, _, errors, seconds = call(*(arguments or ["check"]), "input.skir")
    tap.check(claim, got == status and text in errors and len(errors) <= size,
              f"status {got}, {len(errors)} bytes, {seconds:.1f} s: {errors[:500]!r}")


def graph(body, end="return %x"):
    return f"skir 1\ngraph @g(%x: f32[1]) -> f32[1] {{\n{body}\n{end}\n}}\n".encode()


MANY = 100_000
OP = "%y{0} = Add(%x, %x) : f32[1]"

# ---- Size ----

check("100 MB of parentheses", 1, b"(" * 100_000_000, text=b"[syntax]")
check("100 MB of blanks", 1, b" " * 100_000_000, text=b"[syntax]")
check("a byte order mark", 1, b"\xef\xbb\xbfskir 1\n", text=b"input.skir:1:1: error: unexpected byte "
      b"0xef of a byte order mark: files have none [syntax]")
check("100 MB without a line end in a comment", 1, b"//" + b"x" * 100_000_000, text=b"[syntax]")
check("a name of 5 MB", 1, graph("", "return %" + "y" * 5_000_000), text=b"[unknown-value]")
check("a string that does not end", 1, b'skir 1\nkernel @k : aiv_only {op = "' + b"x" * 1_000_000)
check("a number of 100,000 digits", 1, graph("%y = A(%x) {a = " + "9" * 100_000 + "} : f32[1]"),
      text=b"[number-range]")
check("dimensions whose product overflows", 0, graph(
    "%y = A(%x) : f32[9223372036854775807, 9223372036854775807, 2]"), "check", "--no-lower")

# ---- Number ----

errors = graph("\n".join(f"  %y{i} = Add(%q{i}, %x) : f32[1]" for i in range(10_000)))
check("10,000 errors, of which 20 are shown", 1, errors, text=b"9980 more errors")
check("10,000 errors, all shown", 1, errors, "check", "--max-errors=0", text=b"'%q9999'",
      size=3_000_000)
check("10,000 errors, one shown", 1, errors, "check", "--max-errors=1", text=b"9999 more errors",
      size=400)
check("100,000 attributes of an op", 0, graph(
    "%y = Add(%x, %x) {" + ", ".join(f"a{i} = {i}" for i in range(MANY)) + "} : f32[1]"),
    "check", "--no-lower")
check("100,000 attributes of the same name", 1, graph(
    "%y = Add(%x, %x) {" + ", ".join(f"a = {i}" for i in range(MANY)) + "} : f32[1]"),
    text=b"99979 more errors")
check("all of 100,000 errors in one line", 1, graph(
    "%y = Add(%x, %x) {" + ", ".join(f"a = {i}" for i in range(MANY)) + "} : f32[1]"),
    "check", "--max-errors=0", size=50_000_000)
check("100,000 operands", 0, graph("%y = A(" + ", ".join(["%x"] * MANY) + ") : f32[1]"),
      "check", "--no-lower")
labels = ", ".join(f"l{i}" for i in range(MANY))
labelled = graph("%y = A(" + labels.replace(",", " = %x,") + " = %x) : f32[1] via @k")
check("100,000 labels, of as many parameters", 0,
      labelled + b"kernel @k : aiv_only {stub, params = [" + labels.encode() + b", y]}")
check("100,000 labels, of no parameter", 1, labelled + b"kernel @k : aiv_only {params = [" +
      labels.replace("l", "m").encode() + b", y]}", text=b"has no parameter 'l0'")
blocks = graph("\n".join(f"scope @s{i} {{\n{OP.format(i)}\n}}" for i in range(MANY)))
check("100,000 scopes", 0, blocks)
check("100,000 scopes become as many super kernels", 0, blocks, "opt", "--passes=partition-scopes")
same = graph("\n".join(f'scope @s {{\nstream "{i % 7}" {{\n{OP.format(i)}\n}}\n}}' for i in range(MANY)))
check("100,000 blocks of one scope on seven streams become one", 0, same, "opt",
      "--passes=partition-scopes")
chain = graph("\n".join(f"%y{i + 1} = A(%y{i}) : f32[1]" for i in range(MANY)).replace("%y0)", "%x)"))
check("a chain of 100,000 ops is ordered without recursion", 0, chain, "opt",
      "--passes=partition-scopes")
beside = "\n".join(f"""%a{i} = Add(%b{i - 1}, %x) : f32[1]
stream "1" {{
scope none {{
%b{i} = Mul(%a{i}, %x) {{no_cores}} : f32[1]
}}
}}""" for i in range(50_000)).replace("%b-1", "%x")
check("50,000 ops beside a super kernel, each waited for in turn, are proved right", 0,
      graph(f"scope @s {{\n{beside}\n%y = Add(%b49999, %x) : f32[1]\n}}", "return %y"))
WAITS = 150_000
waited = "\n".join(f"%w{i} = Neg(%x) : f32[64]" for i in range(WAITS))
waiting = "\n".join(f"%v{i} = Add(%v{i - 1}, %w{i}) : f32[64]" for i in range(WAITS))
check("150,000 waits in the middle of a super kernel become waits of the launch", 0, graph(
    f'stream "1" {{\n{waited}\n}}\nscope @s {{\n{waiting}\n}}', f"return %v{WAITS - 1}").replace(
        b"%v-1", b"%x").replace(b"f32[1]", b"f32[64]"), size=3_000_000)

received = "\n".join(f"%a{i} = Add(%x, %x) : f32[1] send [e{i}]" for i in range(MANY))
events = ", ".join(f"e{i}" for i in range(MANY))
check("an op that receives 100,000 events", 0, graph(
    f'stream "1" {{\n{received}\n}}\n%y = Add(%x, %x) : f32[1] recv [{events}]'), "check", "--no-lower")
check("an op that receives 100,000 events that nobody sends", 1, graph(
    f"%y = Add(%x, %x) : f32[1] recv [{events}]"), text=b"99980 more errors")
check("an op with 100,000 operands that nothing defines", 1, graph(
    "%y = A(" + ", ".join(f"%y{i}" for i in range(MANY)) + ") : f32[1]"), text=b"99980 more errors")

GRAPH = "graph @g{0}(%x: f32[1]) -> f32[1] {{ return %x }}"
calls = "\n".join(f"%y{i} = PartitionedCall(%x) {{f = @h{i}}} : f32[1]" for i in range(MANY))
check("100,000 calls of graphs that are not there, among as many", 1,
      graph(calls) + "\n".join(GRAPH.format(i) for i in range(MANY)).encode(),
      "check", "--no-lower", text=b"there is no graph '@h0'")

GEARED = """graph @g{0}(%x: f32[b]) gears zip (b = [2, 4]) -> f32[b] {{
superkernel @s{0} {{
%y = Add(%x, %x) {{own = @s{0}}} : f32[b]
}}
return %y
}}"""
check("20,000 graphs with gears and super kernels that they name", 0,
      ("skir 1\n" + "\n".join(GEARED.format(i) for i in range(20_000))).encode(),
      "opt", "--passes=expand-gears")
named = ", ".join(f"d{i}" for i in range(400_000))
check("400,000 names of dimensions", 0, (
    "skir 1\ngraph @g(" + ", ".join(f"%p{i}: f32[d{i}]" for i in range(400_000)) +
    f") dims ({named}) -> f32[d0] {{ return %p0 }}").encode(), "check", "--no-lower")
check("200,000 warnings that errors take back", 1, graph(
    "\n".join(f"%y{i} = Add(%x, %x) {{suportSuperKernel = 0}} : f32[1]" for i in range(200_000))),
    text=b"199980 more errors")


def slips(word, count):
    """So many words, each of which is another one with two letters changed."""
    found = {}
    letters = string.ascii_lowercase + string.digits
    for i, j in itertools.combinations(range(1, len(word)), 2):
        for a, b in itertools.product(letters, repeat=2):
            if a != word[i] and b != word[j]:
                found[word[:i] + a + word[i + 1:j] + b + word[j + 1:]] = True
    return list(found)[:count]


def check_each(claim, status, severity, names, *arguments):
    """All are told, each with the word that was meant, in the memory and the time that there is."""
    with open("input.skir", "wb") as file:
        file.write(graph("\n".join(f"%y{i} = Add(%x, %x) {{{name} = 0}} : f32[1]" for i, name in enumerate(names))))
    got, _, errors, seconds = call(*arguments, "--max-errors=0", "input.skir", memory=512 << 20)
    told = errors.count(f": {severity}: ".encode())
    meant = errors.count(b"did you mean 'supportSuperKernel'?")
    tap.check(claim, got == status and told == meant == len(names) and len(errors) < 300 * len(names),
              f"status {got}, {told} told, {meant} of them with what was meant, {len(errors)} bytes, {seconds:.1f} s: {errors[-300:]!r}")


different = slips("supportSuperKernel", 150_000)
check_each("150,000 warnings, each of another word", 0, "warning", different, "check", "--no-lower")
check_each("150,000 errors, each with what was meant", 1, "error", ["suportSuperKernel"] * 150_000, "check")
check_each("  of compile", 1, "error", ["suportSuperKernel"] * 150_000, "compile", "-o", "output.o")
tap.check("  which leaves no output", not os.path.exists("output.o"), os.listdir())

# ---- Depth ----

calls = "\n".join(f"graph @g{i}(%x: f32[1]) -> f32[1] {{\n%a = PartitionedCall(%x) {{f = @g{i - 1}}} : f32[1]"
                  "\nreturn %a\n}" for i in range(1, 300_000))
check("300,000 graphs, each of which calls the one before", 0,
      f"skir 1\ngraph @g0(%x: f32[1]) -> f32[1] {{\n{OP.format(0)}\nreturn %y0\n}}\n{calls}\n".encode())
deep = MANY
check("100,000 scopes in each other", 1, graph(
    "\n".join(f"scope @s{i} {{" for i in range(deep)) + OP.format(0) + "}" * deep),
    text=b"nested too deeply")
check("100,000 lists in each other", 1, graph(
    "%y = A(%x) {a = " + "[" * deep + "]" * deep + "} : f32[1]"), text=b"nested too deeply")
check("100,000 dictionaries in each other", 1, graph(
    "%y = A(%x) {a = " + "{a = " * deep + "}" * deep + "} : f32[1]"), text=b"nested too deeply")
shallow = 2000
nested = graph("\n".join(f'scope @s{i} {{\nstream "{i}" {{\n{OP.format(i)}' for i in range(shallow // 2))
               + "}" * shallow)
check("what is not too deep for the parser is not for the printer", 0, nested, "fmt")
check("and not for the passes", 0, nested, "opt", "--passes=partition-scopes")

# ---- Bytes ----

check("an empty file", 1, b"", text=b"found the end of the file")
check("bytes that are no UTF-8", 1, b"skir 1\n\xff\xfe", text=b"unexpected byte 0xff")
check("bytes that are no UTF-8 in a name", 1, b'skir 1\nkernel @"\xc3\x28" : aiv_only {x = 1}')
check("NUL bytes", 1, b"skir 1\n\0graph", text=b"unexpected byte 0x00")
check("control characters do not reach the terminal", 1, b"skir 1 \x1b[31m", text=b"?[31m")
NAMED = '''skir 1
graph @"g\\x1b[31m" () -> () {
  scope @"s\\x1b\u0085" {
    Foo() {_loc = "a\\x07:1"}
    Foo() via @"k\\x1b\u009b"
  }
}
'''
check("nor do those of names", 1, NAMED.encode(), text=b"'@k??'")
with open("input.skir", "wb") as file:
    file.write(NAMED.replace(' via @"k\\x1b\u009b"', "").encode())
done = call("check", "--no-lower", "--explain", "input.skir")
tap.check("nor in accounts of scopes", done[0] == 0 and b"scope '@s??'" in done[1] and
          not any(byte < 0x20 and byte != 10 for byte in done[1]), str(done))
done = call("export", "--format=\x1b[31m", "input.skir")
tap.check("nor those of the command line", done[0] == 2 and b"'?[31m'" in done[2], str(done))


def is_text(data):
    try:
        return bool(data.decode())
    except UnicodeDecodeError:
        return False


# Long lines are cut where they are shown, before and behind the caret.
shown = [call("check", "-", data=f'skir 1\n{" " * blanks}"{letter * 200}" none "{letter * 200}"'.encode())[2]
         for letter in ("é", "€", "𝄞") for blanks in range(4)]
tap.check("what is shown of a line are whole letters",
          all(is_text(text) and text.count(b"...") for text in shown), shown)

with open(os.path.join(tap.SOURCE, "docs", "examples", "multi_stream.skir"), "rb") as file:
    EXAMPLE = file.read()
check("lines that end in CR LF", 0, EXAMPLE.replace(b"\n", b"\r\n"))
check("a file without an end of line", 0, EXAMPLE.rstrip(b"\n"))
with open(tap.SKIRC, "rb") as file:
    check("a binary", 1, file.read(1_000_000))

# A cut file is wrong wherever it is cut; behind the last brace only blanks follow.
last = EXAMPLE.rindex(b"}")
head = EXAMPLE.index(b"skir 1")
wrong = []
for cut in [0, *range(1, last, 37), last]:
    status, _, errors, _ = call("compile", "--emit=c", "-", data=EXAMPLE[:cut])
    expected = 0 if head + 6 <= cut < EXAMPLE.index(b"graph") else 1
    if status != expected or (status and not errors):
        wrong.append((cut, status, errors[:200]))
tap.check("a file cut at any place is refused with a message", not wrong, wrong)

# Whatever one byte is replaced by, skirc ends with status 0 or 1.
random.seed(1)
wrong = []
for _ in range(300):
    data = bytearray(EXAMPLE)
    for _ in range(random.randint(1, 4)):
        data[random.randrange(len(data))] = random.choice(b"{}[]()%@:,=\"0aZ\n\xff\0")
    status, _, errors, _ = call("compile", "--emit=c", "-", data=bytes(data))
    if status not in (0, 1) or (status and not errors):
        wrong.append((status, errors[:300], bytes(data)))
tap.check("a file with some bytes replaced is compiled or refused", not wrong, wrong[:1])

# ---- Tests ----

MANY_ON_A_LINE = 60_000
USES = " ".join(f"%y{i} = Relu(%no{i}) : f32[4]" for i in range(MANY_ON_A_LINE))
EXPECTED = {
    "each by a part of its own": " ".join(f"//! error: defines '%no{i}'"
                                          for i in range(MANY_ON_A_LINE)),
    "each by the same part": " ".join(["//! error: nothing defines"] * MANY_ON_A_LINE),
}
for claim, expected in EXPECTED.items():
    with open("test.skir", "w") as file:
        file.write("//! check --max-errors=0\n//! many on one line\nskir 1\n"
                   "graph @g(%x: f32[4]) -> f32[4] {\n" + f"{USES} {expected}\nreturn %x\n}}\n")
    status, output, _, _ = call("test", "test.skir")
    tap.check(f"{MANY_ON_A_LINE} diagnostics of one line, {claim}",
              status == 0 and b"1 passed" in output, (status, output[:500]))

# ---- Files ----

status, _, errors, _ = call("check", ".")
tap.check("a folder", status == 1 and b"Is a directory" in errors, errors)
status, _, errors, _ = call("check", "absent.skir")
tap.check("no such file", status == 1 and b"absent.skir" in errors, errors)
status, _, errors, _ = call("check", "/dev/null")
tap.check("a device", status == 1 and b"[syntax]" in errors, errors)

tap.done()
