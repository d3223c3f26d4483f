"""Protobuf's text format, judged by libprotobuf: what protoc prints of random messages, and texts
of them that are written in all ways that it takes, read as the messages."""

import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

COUNT = int(os.environ.get("SKIR_TEST_COUNT", "400"))
SEED = int(os.environ.get("SKIR_TEST_SEED", "1"))
BATCH = 50  # messages that one protoc is run for
DUMP = os.path.join(os.path.dirname(os.path.abspath(tap.SKIRC)), "tests/unit/proto_dump")

SCHEMA = """syntax = "proto2";
enum E { ZERO = 0; ONE = 1; NEG = -1; }
message M {
  repeated int32 i32 = 1; repeated int64 i64 = 2; repeated uint32 u32 = 3;
  repeated uint64 u64 = 4; repeated sint64 z64 = 5; repeated fixed32 x32 = 6;
  repeated sfixed64 x64 = 7; repeated bool b = 8; repeated E e = 9; repeated float f = 10;
  repeated double d = 11; repeated string s = 12; repeated bytes y = 13; repeated M m = 14;
  repeated group G = 15 { repeated M m = 14; repeated bytes y = 13; }
  optional int64 one = 16; optional M sub = 17;
  extensions 100 to 200;
}
extend M { repeated M ext = 100; repeated bytes ext_y = 101; }
"""

# Of all fields: name, type, whether there may be several.
FIELDS = {1: ("i32", "i32", True), 2: ("i64", "i64", True), 3: ("u32", "u32", True),
          4: ("u64", "u64", True), 5: ("z64", "z64", True), 6: ("x32", "x32", True),
          7: ("x64", "x64", True), 8: ("b", "bool", True), 9: ("e", "enum", True),
          10: ("f", "float", True), 11: ("d", "double", True), 12: ("s", "string", True),
          13: ("y", "bytes", True), 14: ("m", "message", True), 15: ("G", "group", True),
          16: ("one", "i64", False), 17: ("sub", "message", False), 100: ("[ext]", "message", True),
          101: ("[ext_y]", "bytes", True)}
IN_GROUP = (13, 14)
ENUM = {0: "ZERO", 1: "ONE", -1: "NEG"}
MESSAGES = ("message", "group")
RANGES = {"i32": (-1 << 31, 1 << 31), "i64": (-1 << 63, 1 << 63), "u32": (0, 1 << 32),
          "u64": (0, 1 << 64), "z64": (-1 << 63, 1 << 63), "x32": (0, 1 << 32),
          "x64": (-1 << 63, 1 << 63)}

# ---- Random messages: lists of (number, type, name, value), in the order in which they print ----


def random_integer(rng, kind):
    low, high = RANGES[kind]
    return rng.choice((low, high - 1, 0, 1, rng.randrange(low, high),
                       min(high - 1, max(low, rng.randrange(-300, 300)))))


def random_float(rng, single):
    value = rng.choice((0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan, 1e-7, 123456789.0,
                        rng.uniform(-1, 1), rng.uniform(-1e20, 1e20),
                        2.0 ** rng.randrange(-120, 120)))
    return struct.unpack("<f", struct.pack("<f", value))[0] if single else value


def random_bytes(rng):
    length = rng.choice((0, 1, 3, 10, 40))
    alphabet = rng.choice((range(256), range(32, 127), b"\\\"'?#{}<>\n01789abfx"))
    return bytes(rng.choice(alphabet) for _ in range(length))


def random_string(rng):
    letters = "a1 f\\\"'\n\t{}#\x7f\u00e9\u20ac\ud7ff\ue000\U0001f600\U0010ffff"
    return "".join(rng.choice(letters) for _ in range(rng.choice((0, 1, 5, 20)))).encode()


def random_value(rng, kind, depth, unknown):
    if kind in RANGES:
        return random_integer(rng, kind)
    if kind in MESSAGES:
        return random_message(rng, depth + 1, unknown, IN_GROUP if kind == "group" else FIELDS)
    if kind in ("float", "double"):
        return random_float(rng, kind == "float")
    return {"bool": lambda: rng.random() < 0.5, "enum": lambda: rng.choice(list(ENUM)),
            "string": lambda: random_string(rng), "bytes": lambda: random_bytes(rng)}[kind]()


def random_unknown(rng):
    """A field that the schema does not have; its bytes are no message."""
    kind, value = rng.choice((("varint", rng.randrange(1 << 64)),
                              ("fixed32", rng.randrange(1 << 32)),
                              ("fixed64", rng.randrange(1 << 64)),
                              ("raw", b"\x07" + random_bytes(rng))))
    return (300, kind, "300", value)


def random_message(rng, depth, unknown, numbers=FIELDS):
    fields = []
    for number in sorted(rng.sample(sorted(numbers), rng.randrange(min(len(numbers), 5) + 1))):
        name, kind, several = FIELDS[number]
        if kind in MESSAGES and depth > 4:
            continue
        for _ in range(rng.choice((1, 1, 2, 3)) if several else 1):
            fields.append((number, kind, name, random_value(rng, kind, depth, unknown)))
    if unknown and rng.random() < 0.2:
        fields.append(random_unknown(rng))
    return fields


# ---- Their bytes ----


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def tagged(number, wire, content):
    return varint(number << 3 | wire) + content


def encode_field(number, kind, value):
    if kind == "message":
        value, kind = encode(value), "bytes"
    if kind == "group":
        return tagged(number, 3, encode(value) + tagged(number, 4, b""))
    if kind in ("bytes", "string", "raw"):
        return tagged(number, 2, varint(len(value)) + value)
    if kind == "z64":
        return tagged(number, 0, varint(value << 1 ^ value >> 63))
    layout = {"x32": "<I", "fixed32": "<I", "float": "<f", "x64": "<q", "fixed64": "<Q",
              "double": "<d"}.get(kind)
    if layout:
        return tagged(number, 5 if layout in ("<I", "<f") else 1, struct.pack(layout, value))
    return tagged(number, 0, varint(int(value)))


def encode(message):
    return b"".join(encode_field(number, kind, value) for number, kind, _, value in message)


# ---- Their text, written in any way ----


def space(rng):
    return rng.choice(("", " ", " ", "\n", "\t ", " " * rng.randrange(30), " # a } \" '\n",
                       "\r\n#\n"))


def write_integer(rng, value):
    sign, size = ("-" + rng.choice(("", " ", "# c\n")) if value < 0 else ""), abs(value)
    return sign + rng.choice((f"{size}", f"0x{size:x}", f"0X{size:X}", f"0{size:o}"))


def write_float(rng, value):
    if math.isnan(value):
        return rng.choice(("nan", "NaN", "-nan"))
    sign = "-" if math.copysign(1, value) < 0 else ""
    if math.isinf(value):
        return sign + rng.choice(("inf", "Infinity", "INF"))
    digits = repr(abs(value))
    forms = [digits, f"{abs(value):.20e}", f"{abs(value):.17E}", digits + "f"]
    if digits.startswith("0."):
        forms.append(digits[1:])
    if digits.endswith(".0"):
        forms += [digits[:-1], digits[:-2], digits[:-2] + "F"]
    return sign + rng.choice(forms)


def write_byte(rng, byte, quote, before_digit):
    """`before_digit`: one follows that the escape must not take in."""
    names = {7: "a", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t", 11: "v", 63: "?", 39: "'", 34: '"',
             92: "\\"}
    forms = [f"\\{byte:03o}", f"\\x{byte:02x}", f"\\x{byte:02X}"]
    if byte in names:
        forms.append("\\" + names[byte])
    if not before_digit:
        forms += [f"\\{byte:o}", f"\\x{byte:x}"]
    if 32 <= byte < 127 and chr(byte) not in quote + "\\":
        forms += [chr(byte)] * 6
    return rng.choice(forms)


def write_literal(rng, content, quote):
    out = ""
    for i, byte in enumerate(content):
        digit = i + 1 < len(content) and chr(content[i + 1]) in "0123456789abcdefABCDEF"
        out += write_byte(rng, byte, quote, digit)
    return quote + out + quote


def write_code_points(rng, text, quote):
    out = ""
    for char in text:
        code = ord(char)
        forms = [f"\\U{code:08x}"]
        if code < 0x10000:
            forms.append(f"\\u{code:04X}")
        else:
            high, low = 0xd800 + (code - 0x10000 >> 10), 0xdc00 + (code & 0x3ff)
            forms.append(f"\\u{high:04x}\\u{low:04x}")
        if char not in quote + "\\\n":
            forms += [char] * 2
        out += rng.choice(forms)
    return quote + out + quote


def write_string(rng, kind, content):
    cuts = sorted(rng.randrange(len(content) + 1) for _ in range(rng.choice((0, 0, 1, 3))))
    parts = [content[a:b] for a, b in zip([0] + cuts, cuts + [len(content)])]
    if kind == "string" and rng.random() < 0.5:
        return write_code_points(rng, content.decode(), rng.choice("'\""))
    return space(rng).join(write_literal(rng, part, rng.choice("'\"")) for part in parts)


def write_value(rng, kind, value):
    if kind in MESSAGES:
        opening, closing = rng.choice(("{}", "<>"))
        return opening + write(rng, value) + space(rng) + closing
    if kind in RANGES:
        return write_integer(rng, value)
    if kind in ("float", "double"):
        return write_float(rng, value)
    if kind == "bool":
        return rng.choice(("true", "True", "t", "1") if value else ("false", "False", "f", "0"))
    return ENUM[value] if kind == "enum" else write_string(rng, kind, value)


def write_field(rng, run):
    """A field, or the list of several."""
    _, kind, name, _ = run[0]
    values = [write_value(rng, kind, value) for _, _, _, value in run]
    if name.startswith("["):
        name = "[" + space(rng) + name[1:-1] + space(rng) + "]"
    colon = rng.choice(("", ":")) if kind in MESSAGES else ":"
    value = values[0]
    if len(values) > 1 or (name[0] not in "os" and rng.random() < 0.2):
        value = "[" + (space(rng) + "," + space(rng)).join(values) + space(rng) + "]"
    # What follows a value must not go on with it.
    return name + space(rng) + colon + space(rng) + value + space(rng) + rng.choice((",", ";", " "))


def write(rng, message):
    out, at = "", 0
    while at < len(message):
        end = at + 1
        while end < len(message) and message[end][0] == message[at][0] and rng.random() < 0.6:
            end += 1
        out += space(rng) + write_field(rng, message[at:end])
        at = end
    return out


# ---- What is read ----


def flatten(message, depth=0):
    for _, kind, name, value in message:
        yield depth, kind, name, value
        if kind in MESSAGES:
            yield from flatten(value, depth + 1)


def same_float(bits, value, single):
    got = struct.unpack("<d", struct.pack("<Q", int(bits, 16)))[0]
    if math.isnan(value):
        return math.isnan(got)
    got = struct.unpack("<f", struct.pack("<f", got))[0] if single else got
    return struct.pack("<d", got) == struct.pack("<d", value)


def same_value(kind, value, words):
    """`words` are those of a line of the dump, behind the name."""
    read = dict(word.split("=", 1) for word in words if "=" in word)
    if kind in MESSAGES:
        return words == ["m"]
    if kind in ("string", "bytes", "raw"):
        return words[0] == "s" and bytes.fromhex("".join(words[1:])) == value
    if kind == "enum":
        return words[:2] == ["w", ENUM[value]]
    if kind == "bool":
        return read.get("b") == str(int(value))
    if kind in ("float", "double"):
        return "f" in read and same_float(read["f"], value, kind == "float")
    return words[0] == "n" and int(read.get("i", "-1")) & (1 << 64) - 1 == value & (1 << 64) - 1


def run(command, data):
    return subprocess.run(command, input=data, capture_output=True, timeout=300)


def dump(text):
    return run([DUMP], text)


def difference(message, text):
    """What is read differently of a text than it should be, or None."""
    done = dump(text)
    if done.returncode != 0:
        return done.stderr.decode(errors="replace")
    lines, expected = done.stdout.decode().splitlines(), list(flatten(message))
    if len(lines) != len(expected):
        return f"{len(lines)} fields instead of {len(expected)}"
    for line, (depth, kind, name, value) in zip(lines, expected):
        words = line.split()
        if words[:2] != [str(depth), name] or not same_value(kind, value, words[2:]):
            return f"{line}: not {depth} {name} {kind} {value!r}"
    return None


# ---- The judge ----


def protoc(action, data):
    return run(["protoc", f"--{action}=M", "--proto_path=" + scratch.name, "schema.proto"], data)


def batch(rng, unknown):
    return [(14, "message", "m", random_message(rng, 0, unknown)) for _ in range(BATCH)]


def check_printed(seed):
    message = batch(random.Random(seed), True)
    done = protoc("decode", encode(message))
    wrong = difference(message, done.stdout) if done.returncode == 0 else done.stderr.decode()
    tap.check(f"what protoc prints, seed {seed}", not wrong, wrong)


def check_written(seed):
    rng = random.Random(seed)
    message = batch(rng, False)
    text = write(rng, message).encode()
    encoded = protoc("encode", text)
    agreed = encoded.returncode == 0 and \
        protoc("decode", encoded.stdout).stdout == protoc("decode", encode(message)).stdout
    tap.check(f"protoc takes what is written here, seed {seed}", agreed, encoded.stderr.decode())
    wrong = difference(message, text)
    tap.check(f"it reads the same, seed {seed}", not wrong, wrong)


def mutate(rng, text):
    text = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(text) + 1)
        text[at:at + rng.randrange(3)] = bytes(rng.sample(b" -09.efx{}<>[],;:'\"\\#\0\x80", 1)) \
            if rng.random() < 0.9 else b""
    return bytes(text)


def check_mutated(seed, count):
    """What libprotobuf takes is taken here, but for strings with line breaks."""
    rng, taken = random.Random(seed), 0
    wrong = ""
    for _ in range(count):
        message = []
        while not message:
            message = random_message(rng, 3, False)
        text = mutate(rng, write(rng, message).encode())
        if protoc("encode", text).returncode != 0:
            continue
        taken += 1
        done = dump(text)
        if done.returncode != 0 and b"does not end on its line" not in done.stderr:
            wrong = f"{text!r}\n{done.stderr.decode(errors='replace')}"
    tap.check(f"changed texts that protoc takes, {taken} of {count}, seed {seed}", not wrong, wrong)


scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
with open(os.path.join(scratch.name, "schema.proto"), "w") as file:
    file.write(SCHEMA)

if not os.path.exists(DUMP):
    tap.skip("protobuf text", "tests/unit/proto_dump is not built")
elif not shutil.which("protoc"):
    tap.skip("protobuf text", "protoc is not installed; on Debian, the package protobuf-compiler")
else:
    for seed in range(SEED, SEED + max(1, COUNT // BATCH)):
        check_printed(seed)
        check_written(seed)
    check_mutated(SEED, max(10, COUNT // 4))
tap.done()
