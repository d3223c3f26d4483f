"""Contents of constants and variables, as `run` puts them into memory, bit for bit."""

import os
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def run(ops, *options, params="", folder="."):
    """Runs a graph of these ops, and one that computes; their bytes by the names in `options`."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "graph.skir")
    with open(path, "w") as file:
        file.write("skir 1\ngraph @g(" + params + ") -> () {\n" + ops + "\n}\n")
    return tap.skirc("run", path, *options)


def data_of(path):
    with open(path, "rb") as file:
        data = file.read()
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def check_bytes(claim, op, expected, *options):
    done = run(f"  %v = {op}", "-o", "v=v.npy", *options)
    got = data_of("v.npy") if done.returncode == 0 else b""
    tap.check(claim, got == expected, f"{done.stderr}{got.hex()} instead of {expected.hex()}")


def check_error(claim, op, text, status=1, *options):
    done = run(f"  %v = {op}", *options)
    tap.check(claim, done.returncode == status and text in done.stderr, done)


# ---- numbers ----

check_bytes("one number fills", "Const() {value = -3} : i16[2, 2]", struct.pack("<4h", -3, -3, -3, -3))
check_bytes("a list has an element each", "Const() {value = [1, 2.5, -0.0]} : f32[3]",
            struct.pack("<3f", 1, 2.5, -0.0))
check_bytes("f64", "Const() {value = [0.1, inf]} : f64[2]", struct.pack("<2d", 0.1, float("inf")))
check_bytes("f16 is rounded to the nearest, ties to even",
            "Const() {value = [2049, 2051, 65519.99, 6e-8, 2.98e-8, 1e-30]} : f16[6]",
            struct.pack("<6H", 0x6800, 0x6802, 0x7bff, 1, 0, 0))
check_bytes("bf16", "Const() {value = [1, 1.00390625, 1.01171875]} : bf16[3]",
            struct.pack("<3H", 0x3f80, 0x3f80, 0x3f82))
check_bytes("integers are rounded once",
            "Const() {value = [9007199791611905, 9007199791611904, -9007199791611905]} : f32[3]",
            struct.pack("<3I", 0x5a000001, 0x5a000000, 0xda000001))
check_bytes("all of i64", "Const() {value = [-9223372036854775808, 9223372036854775807]} : i64[2]",
            struct.pack("<2q", -(1 << 63), (1 << 63) - 1))
check_bytes("bool", "Const() {value = [true, 0, 1]} : bool[3]", bytes([1, 0, 1]))
check_bytes("a scalar", "Constant() {value = 200} : u8[]", bytes([200]))
check_bytes("nothing", "Const() {value = []} : f32[0, 3]", b"")
check_bytes("a list is in row-major order, whatever the format",
            "Const() {value = [1, 2, 3, 4, 5, 6]} : f16[2, 3]:FRACTAL_NZ",
            struct.pack("<6e", 1, 2, 3, 4, 5, 6))

# ---- files ----

with open("w.bin", "wb") as file:
    file.write(bytes(range(256)) * 8)
check_bytes("a file", 'FileConstant() {value = {file = "w.bin"}} : u8[2, 3]', bytes(range(6)))
check_bytes("a part of it", 'Variable() {value = {file = "w.bin", offset = 130, bytes = 8}} : i32[2]',
            bytes(range(130, 138)))
check_bytes("by an absolute path",
            f'Const() {{value = {{file = "{os.path.abspath("w.bin")}", offset = 2047}}}} : u8[1]',
            b"\xff")
blocks = bytes(range(256)) * 2
check_bytes("as it is in memory", 'Const() {value = {file = "w.bin", bytes = 512}} : u8[2, 2]:FRACTAL_NZ',
            bytes([0, 1, 32, 33]))
os.makedirs("sub")
with open("sub/own.bin", "wb") as file:
    file.write(b"abcd")
done = run('  %v = Const() {value = {file = "own.bin"}} : u8[4]', "-o", "v=v.npy", folder="sub")
tap.check("the path is relative to the file", done.returncode == 0 and data_of("v.npy") == b"abcd", done)
os.mkfifo("pipe")
for claim, contents, text in [
    ("a file that is not there", '{file = "no.bin"}', "graph.skir:3:17: error: input 'v': cannot open './no.bin': No such"),
    ("a file that is too short", '{file = "w.bin", offset = 2046}',
     "'./w.bin' has 2048 bytes, but 4 from byte 2046 on are needed"),
    ("an offset behind the end", '{file = "w.bin", offset = 9223372036854775807}', "are needed"),
    ("a folder", '{file = "sub"}', "'./sub' is not a regular file"),
    ("a pipe", '{file = "pipe"}', "'./pipe' is not a regular file"),
    ("a device", '{file = "/dev/zero"}', "'/dev/zero' is not a regular file"),
]:
    check_error(claim, f"Const() {{value = {contents}}} : f32[1]", text)
check_error("another size than the format has",
            'Const() {value = {file = "w.bin", bytes = 4}} : u8[2, 2]:FRACTAL_NZ',
            "'bytes' is 4, but the tensor takes 512")
check_error("a dtype whose numbers are not known", "Const() {value = 1} : hif8[2]", "hif8")

# ---- arrays of NumPy ----


def npy(name, descr, shape, data, fortran=False):
    """Writes an array as version 1.0 has it; the size of its header."""
    head = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    head += b" " * (117 - len(head)) + b"\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)
    return 10 + len(head)


ELEMENTS = struct.pack("<6f", *range(6))
BEGIN = npy("w.npy", "<f4", (2, 3), ELEMENTS)
npy("f64.npy", "<f8", (2, 3), bytes(48))
npy("fortran.npy", "<f4", (2, 3), ELEMENTS, fortran=True)
shutil.copy("w.npy", "array.bin")
shutil.copy("w.bin", "raw.npy")
check_bytes("an array, by its name", 'Const() {value = {file = "w.npy"}} : f32[2, 3]', ELEMENTS)
check_bytes("in another format", 'Const() {value = {file = "w.npy"}} : f32[2, 3]:FRACTAL_NZ', ELEMENTS)
check_bytes("its elements as bytes", f'Const() {{value = {{file = "w.npy", offset = {BEGIN}}}}} : f32[2, 3]',
            ELEMENTS)
for claim, file, text in [
    ("of another dtype", "f64.npy", "graph.skir:3:17: error: input 'v': './f64.npy' holds f64, items of type '<f8', "
                                    "but the dtype is f32"),
    ("in Fortran order", "fortran.npy", "'./fortran.npy' is in Fortran order, which is not supported"),
    ("that is none", "raw.npy", "'./raw.npy' is no .npy file"),
    ("that is not there", "no.npy", "cannot open './no.npy': No such"),
    ("by another name", "array.bin", "'./array.bin' is an array of NumPy: name it '*.npy' and say nothing but 'file', "
                                     "or say by 'offset' where its elements begin"),
]:
    check_error(f"an array {claim}", f'Const() {{value = {{file = "{file}"}}}} : f32[2, 3]', text)
KINDS = [("w.npz", "an archive of NumPy's savez"), ("w.pt", "a file of PyTorch's save"), ("w.PTH", "a file of PyTorch's save"),
         ("w.ckpt", "a file of PyTorch's save"), ("w.pkl", "a pickle of Python's"), ("w.pickle", "a pickle of Python's"),
         ("w.csv", "text"), ("w.tsv", "text"), ("w.json", "text"), ("w.h5", "an HDF5 file"), ("w.hdf5", "an HDF5 file"),
         ("w.safetensors", "a file of safetensors"), ("w.npy.gz", "compressed"), ("w.zip", "a ZIP archive")]
for name, kind in KINDS:
    shutil.copy("w.bin", name)
    check_error(f"{kind}, by the name {name}", f'Const() {{value = {{file = "{name}"}}}} : f32[2, 3]',
                f"graph.skir:3:26: error: '{name}' is {kind}, by its name: contents are a .npy file or bytes")
    with open(name, "rb") as file:
        some = file.read()[8:32]
    check_bytes("  with an offset they are bytes", f'Const() {{value = {{file = "{name}", offset = 8}}}} : f32[2, 3]', some)
    for path in name, "./" + name:
        done = run("  %v = Relu(%x) : f32[2, 3]", "-i", f"x={path}", params="%x: f32[2, 3]")
        tap.check("  nor are they an input", done.returncode == 1 and f"input 'x': '{path}' is {kind}: arrays are "
                  "read from .npy files, which numpy.save writes" in done.stderr, done)
SIGNATURES = [(b"PK\3\4", "a ZIP archive, as NumPy's savez and PyTorch's save write them"),
              (b"\x80\2\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19", "a file of PyTorch's save"), (b"\x89HDF\r\n\x1a\n", "an HDF5 file")]
for magic, kind in SIGNATURES:
    for name in "other.bin", "other.npy":
        with open(name, "wb") as file:
            file.write(magic + bytes(24))
        check_error(f"{kind}, by its first bytes, in {name}", f'Const() {{value = {{file = "{name}"}}}} : f32[2, 3]',
                    f"input 'v': './{name}' is {kind}: arrays are read")
    with open("other.bin", "wb") as file:
        file.write(magic[:-1] + bytes(24))
    check_bytes("  bytes that are nearly the same", 'Const() {value = {file = "other.bin"}} : f32[2, 3]', magic[:-1] + bytes(25 - len(magic)))
check_error("an array of another shape", 'Const() {value = {file = "w.npy"}} : f32[3, 2]',
            "'./w.npy' has the shape [2, 3], but [3, 2] is needed")

# ---- escaped strings ----


def escaped(text, size, offset=0):
    """An op whose contents are the strings in a file that is made of the text."""
    with open("dump.pbtxt", "wb") as file:
        file.write(text)
    return (f'Const() {{value = {{file = "dump.pbtxt", offset = {offset}, bytes = {size}, escaped}}}}'
            f' : u8[{size}]')


LETTERS = rb'"\a\b\f\n\r\t\v\?\'\"\\"'
check_bytes("escapes of letters", escaped(LETTERS, 11), b"\a\b\f\n\r\t\v?'\"\\")
check_bytes("numbers in octal and hexadecimal",
            escaped(rb'"\0\17\3777\x4\x41F\XfF\400"', 9), b"\0\x0f\xff7\4AF\xff\0")
check_bytes("code points", escaped(rb"'\u00e9\U0001f600\ud83d\ude00\ud83d'", 13),
            "\u00e9\U0001f600\U0001f600".encode() + b"\xed\xa0\xbd")
check_bytes("bytes that are no ASCII, and the other quote", escaped(b"\"\xff'\x80\"", 3), b"\xff'\x80")
check_bytes("several literals", escaped(b"'ab' # one\n\t\"cd\"'e'\n#'x'\n 'f' }", 6), b"abcdef")
check_bytes("up to the end of the file", escaped(b"'ab'#", 2), b"ab")
check_bytes("an empty one", escaped(b"''", 0), b"")
check_bytes("behind other things", escaped(b'tensor_content: "\\001"', 1, 16), b"\1")
data = bytes(i * 7919 % 256 for i in range(200000))
text = b"".join(b"\\%03o" % byte if i % 3 else b"\\U%08x" % (byte % 128) if i % 2 else b"\\x%02x" % byte
                for i, byte in enumerate(data))
check_bytes("long ones", escaped(b"'" + text + b"'", len(data)),
            bytes(byte if i % 3 or i % 2 == 0 else byte % 128 for i, byte in enumerate(data)))
check_bytes("long ones without escapes", escaped(b"'" + b"x" * 150000 + b"'", 150000), b"x" * 150000)
for claim, file, text in [
    ("no string", (b"ab'cd'", 2), "no string begins at byte 0 of './dump.pbtxt'"),
    ("an offset behind the end", (b"''", 2, 5), "no string begins at byte 2 of './dump.pbtxt'"),
    ("a string without an end", (b"''  'abc", 3), "at byte 4 of './dump.pbtxt' does not end on its"),
    ("one that ends behind its line", (b"'a\nb'", 3), "at byte 0 of './dump.pbtxt' does not end"),
    ("an escape that is none", (rb"'a\q'", 2), "no escape begins at byte 2 of './dump.pbtxt'"),
    ("a code point that is none", (rb"'\U00110000'", 4), "no escape begins at byte 1"),
    ("half an escape", (b"'a\\", 2), "no escape begins at byte 2"),
    ("too few bytes", (b"'abc'", 4), "the string in './dump.pbtxt' has 3 bytes, not 4"),
    ("too many bytes", (b"'ab' 'cd'", 3), "has more than 3 bytes, as byte 6 tells"),
]:
    check_error(claim, escaped(*file), text)
check_error("escaped, a file that is not there",
            'Const() {value = {file = "no.bin", bytes = 1, escaped}} : u8[1]', "cannot open './no.bin'")
check_error("escaped, a folder", 'Const() {value = {file = "sub", bytes = 1, escaped}} : u8[1]',
            "'./sub' is not a regular file")

# ---- without contents ----

check_bytes("what has no contents is an input by its name", "PlaceHolder() : f32[2]",
            struct.pack("<2f", 1, 1), "-i", "v=ones")
check_bytes("which counts over contents", "Variable() {value = 3} : f32[2]", bytes(8), "-i", "v=zeros")
check_error("other ops are none", "PlaceHolder() : f32[2]\n  %sum = Add(%v, %v) : f32[2]",
            "the graph has no parameter 'sum'", 2, "-i", "sum=ones")
random = [run(f"  %v = {op}() : f32[8]", "-o", "v=v.npy") and data_of("v.npy")
          for op in ("Data", "RefData", "Variable", "PlaceHolder", "Const")]
done = run("", "-o", "v=v.npy", params="%v: f32[8]")
tap.check("else it is random, as parameters are", set(random) == {data_of("v.npy")} and any(random[0]),
          random)
done = run("""  %a = Variable() {shared_name = "v"} : f32[2]
  %b = Variable() {shared_name = "v", value = 5} : f32[2]
  %c = Variable() {shared_name = "v"} : f32[2]""", "-o", "a=a.npy", "-o", "c=c.npy")
tap.check("variables of one name have the contents that one of them has",
          data_of("a.npy") == data_of("c.npy") == struct.pack("<2f", 5, 5), done)
done = run("""  %a = Variable() {shared_name = "", value = 1} : f32[2]
  %b = Variable() {shared_name = "", value = 2} : f32[2]
  %sum = Add(%a, %b) : f32[2]""", "-o", "sum=sum.npy")
tap.check("an empty name joins no variables", data_of("sum.npy") == struct.pack("<2f", 3, 3), done)
done = run("  %v = Recv(%x) : f32[2]", params="%x: f32[2]")
tap.check("what comes from elsewhere is not run",
          done.returncode == 1 and "the results of 'Recv' come from elsewhere" in done.stderr, done)

# ---- a graph ----

GRAPH = """skir 1

graph @layer(%x: f32[8, 16]) -> f32[8, 16] {
  %bias = Const() {value = 0.5} : f32[8, 16]
  %scale = PlaceHolder() : f32[8, 16]
  %mask = Constant() {value = {file = "mask.bin"}} : f32[8, 16]
  stream "3" {
    %s = Add(%x, %bias) : f32[8, 16]
  }
  scope @s {
    %a = Mul(%s, %scale) : f32[8, 16]
    %b = Add(%a, %mask) : f32[8, 16]
    %c = Mul(%b, %bias) : f32[8, 16]
  }
  return %c
}
"""
with open("layer.skir", "w") as file:
    file.write(GRAPH)
with open("mask.bin", "wb") as file:
    file.write(struct.pack("<128f", *range(128)))
done = tap.skirc("run", "--compare=unfused", "--race-check", "-i", "scale=ones", "-i", "x=zeros",
                 "-o", "c=c.npy", "layer.skir")
tap.check("a graph with constants, fused and unfused, is bit-exact",
          done.returncode == 0 and "bit-exact" in done.stdout and "race-free" in done.stdout, done)
tap.check("and right", data_of("c.npy") == struct.pack("<128f", *((0.5 + i) * 0.5 for i in range(128))),
          data_of("c.npy").hex())
done = tap.skirc("compile", "-o", "layer.o", "layer.skir")
tap.check("it compiles, whatever the files", done.returncode == 0 and not done.stderr, done)
os.remove("mask.bin")
done = tap.skirc("compile", "-o", "layer.o", "layer.skir")
tap.check("which it does not open", done.returncode == 0 and not done.stderr, done)

for command in ("opt", "fmt"):
    done = tap.skirc(command, "-o", "sub/moved.skir", "layer.skir")
    with open("sub/moved.skir") as file:
        tap.check(f"{command} to another folder leads back to the file",
                  'file = "../mask.bin"' in file.read(), done)

# ---- a dump ----

# Bytes of more than 64 elements: by their place in the dump, or as a list where it came by a pipe.
HALVES = struct.pack("<70e", *(n / 8 for n in range(70)))
DUMP = """graph {{ name: "g"
  op {{ name: "c" type: "Const"
    attr {{ key: "value" value {{ t {{ {desc} data: "{data}" }} }} }} output_{desc} }}
  op {{ name: "NetOutput" type: "NetOutput" input: "c:0" }}
}}
""".format(desc="desc { dtype: DT_FLOAT16 shape { dim: 70 } }",
           data="".join(f"\\{byte:03o}" for byte in HALVES))
tap.write("dump.txt", DUMP)
for claim, source in (("a file", "dump.txt"), ("a pipe", "-")):
    imported = tap.skirc("import", source, "-o", "dump.skir", stdin=DUMP)
    done = tap.skirc("run", "dump.skir", "-o", "c=c.npy")
    tap.check(f"contents of a dump from {claim}", imported.stderr == done.stderr == ""
              and data_of("c.npy") == HALVES, (imported, done))

tap.done()
