"""The launcher of docs/examples/ascend_launch: it compiles with the declarations of the runtime's headers
(SKIR_ACL_INCLUDE: with a folder that has acl/acl.h itself), and gives a runtime what compile info says:
the object, the function, the blocks, and each slot."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

tap.SKIRC = os.path.abspath(tap.SKIRC)
SOURCE = os.path.abspath(tap.SOURCE)
LAUNCH = os.path.join(SOURCE, "docs", "examples", "ascend_launch", "launch.cpp")
STUB = os.path.join(SOURCE, "tests", "acl_stub")
CXX = shutil.which("clang++") or shutil.which("g++")
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

PROGRAM = """skir 1

target "t" {aic = 4, aiv = 8, arch = "ARCH"}

kernel @add : aiv_only {
  op = "Add", block = 8, object = "add.o", function = "add", params = [x1, x2, y]
}
kernel @sum : aiv_only {
  op = "Sum", block = 4, object = "add.o", function = "sum", params = [x1, x2, y], sync_all
}

graph @g(%x: u8[64]) -> u8[64] {
  superkernel @s {fixed_slots, options = "feed-sync-all=1"} {
    %y = Add(%x, %x) : u8[64] via @add send [9]
    %z = Sum(%y, %x) {_unchecked} : u8[64] via @sum
  }
  stream "1" {
    %last = Add(%x, %x) {_unchecked} : u8[64] via @add recv [9]
  }
  return %z
}
"""


def save(path, data):
    """A .npy file of bytes."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(data)},), }}"
    header += " " * (118 - len(header) - 1) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def build(include, *words):
    return subprocess.run([CXX, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I" + include, *words],
                          capture_output=True, text=True)


def launch(*words, **environment):
    return subprocess.run(["./launch", "s.o", "s.info.json", *words], capture_output=True, text=True,
                          env={**os.environ, **environment})


def check_compilation():
    done = build(STUB, "-o", "launch", LAUNCH, os.path.join(STUB, "acl_stub.cpp"))
    tap.check("the launcher compiles with the runtime's declarations", done.returncode == 0, done.stderr)
    headers = os.environ.get("SKIR_ACL_INCLUDE")
    if not headers:
        tap.skip("the launcher compiles with the runtime's headers", "SKIR_ACL_INCLUDE is not set")
    else:
        done = build(headers, "-fsyntax-only", LAUNCH)
        tap.check("the launcher compiles with the runtime's headers", done.returncode == 0, done.stderr)


def check_launch(arch, first):
    write("s.skir", PROGRAM.replace("ARCH", arch))
    done = tap.skirc("compile", "s.skir", "--emit=compile-info", "-o", "s.info.json")
    if not tap.check(f"compile info for a {arch} is made", done.returncode == 0, done.stderr):
        return
    x = bytes(range(64))
    save("x.npy", x)
    save("z.npy", bytes(3 * i % 256 for i in x))
    words = ("0.0,0.1,1.1=x.npy", "0.2,1.0=64", "1.2=?z.npy")
    done = launch(*words, "--device=3", STUB_FIRST=str(first))
    lines = done.stdout.splitlines()
    word = "slot 2 of 64: 0"
    tensors = ["slot 0 of 64: 506097522914230528", "slot 0 of 64: 506097522914230528",
               "slot 1 of 64: 0"]
    slots = ["slot 0xff75"] * first + tensors + [word, "slot 1 of 64: 0",
                                                 "slot 0 of 64: 506097522914230528", "slot 3 of 64: 0"]
    tap.check(f"a {arch} gets each slot", lines[:4 + len(slots)] ==
              ["device 3", "load s.o", "function s", "launch 8"] + slots and
              lines[4 + len(slots)].startswith("slot 4 of ") and
              lines[5 + len(slots):-1] == ["slot 0"] * 3, done.stdout + done.stderr)
    tap.check("what it computes is compared", done.returncode == 0 and lines[-1] == "z.npy: equal",
              done.stdout + done.stderr)
    save("wrong.npy", bytes(63) + b"\1")
    done = launch(*words[:2], "1.2=?wrong.npy", "--device=3", STUB_FIRST=str(first))
    tap.check("a difference is told", done.returncode == 1 and lines[:-1] == done.stdout.splitlines()[:-1]
              and "wrong.npy: 63 of 64 elements differ, the first is number 1; see 'wrong.npy.device'\n"
              in done.stdout, done.stdout)
    with open("wrong.npy.device", "rb") as device, open("z.npy", "rb") as expected:
        tap.check("and what was computed is there", device.read() == expected.read())


def check_refused():
    for claim, words, text, environment in (
            ("a parameter without an argument", ["0.0=x.npy"], "the parameter 0.1 has no argument", {}),
            ("an op that is not there", ["2.0=x.npy"], "'2.0' is no parameter of an op", {}),
            ("a parameter that is an event", ["0.3=@1"], "'0.3' is no parameter of an op", {}),
            ("a file that is no array", ["0.0=s.skir"], "'s.skir' is no .npy file", {}),
            ("a runtime that fails", ["0.0,0.1,1.1=x.npy", "0.2,1.0=64", "1.2=64"],
             "aclrtBinaryGetFunction failed: 107000\nthe device is on fire",
             {"STUB_FAILS": "aclrtBinaryGetFunction"})):
        done = launch(*words, **environment)
        tap.check(f"{claim} ends with status 2", done.returncode == 2 and text in done.stderr,
                  done.stdout + done.stderr)


def check_example():
    """The example goes from its request to a comparison, as docs/ascend-launch.md says."""
    example = os.path.dirname(LAUNCH)
    done = tap.skirc("import", "--format=kernel-info", "--device=aic=24,aiv=48,arch=c220", "--name=s",
                     os.path.join(example, "request.json"), "-o", "s.skir")
    tap.check("the request is imported", done.returncode == 0, done.stderr)
    tap.skirc("compile", "s.skir", "--emit=compile-info", "-o", "s.info.json")
    save("x.npy", bytes(64))
    save("z.npy", bytes(64))
    done = launch("0.0,0.1,1.1=x.npy", "0.2,1.0=64", "1.2=?z.npy", STUB_FIRST="1", STUB_SENT="0")
    tap.check("and launched", done.returncode == 0 and "z.npy: equal" in done.stdout and
              done.stdout.count("\nslot 0 of") == 3, done.stdout + done.stderr)


if CXX:
    check_compilation()
    check_launch("c220", 1)
    check_launch("c310", 0)
    check_refused()
    check_example()
else:
    tap.skip("the launcher", "there is no C++ compiler")
tap.done()
