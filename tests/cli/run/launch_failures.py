"""run: programs that do not come to a good end are reported, promptly and with what each core did."""

import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

CC = os.environ.get("CC", "cc").split() or ["cc"]
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)
os.mkdir("tmp")
os.environ["TMPDIR"] = os.path.abspath("tmp")


def check(claim, texts, *arguments, limit=10):
    """The run fails within `limit` seconds, and the texts stand in its report in this order."""
    start = time.monotonic()
    done = tap.skirc("run", *arguments)
    seconds = time.monotonic() - start
    at, missing = 0, None
    for text in texts:
        found = re.compile(text).search(done.stderr, at)
        missing = missing or (None if found else text)
        at = found.end() if found else at
    tap.check(claim, done.returncode == 1 and not missing and seconds < limit,
              f"status {done.returncode}, {seconds:.1f} s, no match for {missing!r} in:\n"
              f"{done.stdout}{done.stderr}")
    tap.check("  nothing stays behind in TMPDIR", not os.listdir("tmp"), os.listdir("tmp"))


# ---- Entries that are wrong ----

# A cube op, a vector op that needs it, and another cube op that needs that.
MIXED = """skir 1
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> f16[32, 32] {
  scope @s {
    %m = MatMul(%a, %b) : f16[32, 32]
    %v = Add(%m, %a) : f16[32, 32]
    %r = MatMul(%v, %b) : f16[32, 32]
  }
  return %r
}
"""
write("mixed.skir", MIXED)
lowered = tap.skirc("compile", "--emit=skir", "mixed.skir").stdout
head, aic, aiv = re.match(r"(.*\n  aic \{\n)(.*?)(  \}\n  aiv \{.*)", lowered, re.S).groups()
write("right.skir", lowered)
right = tap.skirc("run", "right.skir", "--compare=unfused")
tap.check("the entry that the compiler made is right", right.returncode == 0
          and "bit-exact" in right.stdout, right.stdout + right.stderr)


def edited(claim, texts, aic_edit=None, aiv_edit=None, refuted=True):
    """Runs the module with a part of a program replaced; the first occurrence counts. Without
    --unproven it is refused, where its synchronisation is what is wrong."""
    new_aic, new_aiv = aic, aiv
    if aic_edit:
        new_aic = aic.replace(*aic_edit, 1)
    if aiv_edit:
        new_aiv = aiv.replace(*aiv_edit, 1)
    assert new_aic + new_aiv != aic + aiv, claim
    write("edited.skir", head + new_aic + new_aiv)
    if refuted:
        done = tap.skirc("run", "edited.skir")
        tap.check(claim + " is refuted", done.returncode == 1 and "[sync-" in done.stderr,
                  done.stderr)
    check(claim, texts, "edited.skir", "--timeout=30", "--unproven")


SET, WAIT = "    set c2v\n", "    wait c2v\n"
edited("a wait that nothing releases", ["skirc: deadlock", "launch g_s", "blocked in `wait c2v`"],
       aic_edit=(SET, ""))
edited("a release that nobody waits for", ["left set", "c2v"], aiv_edit=(WAIT, ""))
edited("a release too many", ["left set", "c2v"], aic_edit=(SET, SET * 2))
edited("more releases than a flag counts", ["overflow", "set c2v"], aic_edit=(SET, SET * 17))
edited("an await without arrivals", ["skirc: deadlock", "blocked in `await aic`", "have not arrived"],
       aic_edit=("    arrive aic\n", ""))
edited("an await too many", ["skirc: deadlock", "blocked in `await aic`"],
       aic_edit=("    await aic\n", "    await aic\n    await aic\n"))
edited("two waits in a circle", ["skirc: deadlock", "blocked in `wait v2c`", "blocked in `wait c2v`"],
       aic_edit=(SET, "    wait v2c\n" + SET), aiv_edit=(WAIT, WAIT + "    set v2c\n"))

# What the graph says about the entry is checked before anything runs.
write("event.skir", head + aic.replace(SET, "    wait_event e0\n" + SET) + aiv)
check("an event that nobody sends", ["the entry has no 'recv e0' among its arguments"],
      "event.skir")
write("slots.skir", re.sub(r"(  args %\w+ = \[)%a, %b", r"\1%b, %a", lowered, count=1))
check("an entry whose arguments are not its ops'", ["this must be %a, which the op \\w+ %\\w+ takes"],
      "slots.skir")
write("more.skir", re.sub(r"(  args %\w+ = \[)", r"\1tiling, ", lowered, count=1))
check("an entry with an argument too many", ["these are \\d+ arguments, but the op"], "more.skir")
# ---- Sub-kernels that are wrong ----

write("k.c", """#include "skrt.h"
#include <stdlib.h>

void good(skrt_core *core, uint64_t offset)
{
    (void)core;
    (void)offset;
}

void endless(skrt_core *core, uint64_t offset)
{
    (void)core;
    for (volatile uint64_t i = offset;; i++)
        ;
}

void crashing(skrt_core *core, uint64_t offset)
{
    (void)core;
    (void)offset;
    *(volatile int *)8 = 1;
}

static int deep(volatile char *above, int n)
{
    volatile char frame[1024];
    frame[0] = *above;
    return n == 0 ? 0 : deep(frame, n - 1) + frame[0];
}

void overflowing(skrt_core *core, uint64_t offset)
{
    volatile char top = (char)offset;
    if (deep(&top, 1 << 20) > 100)
        skrt_kernel_sync_all(core);
}

void aborting(skrt_core *core, uint64_t offset)
{
    (void)core;
    (void)offset;
    abort();
}

void unequal(skrt_core *core, uint64_t offset)
{
    (void)offset;
    if (skrt_block_idx(core) == 0)
        skrt_kernel_sync_all(core);
}
""")
INCLUDES = ["-I" + os.path.join(tap.SOURCE, folder) for folder in ("backend/runtime", "ir/core")]


def build(source, output, *options):
    subprocess.run([*CC, "-c", "-fPIC", "-O0", "-fno-stack-protector", *options, *INCLUDES, source,
                    "-o", output], check=True)


def kernel(function, object_file="k.o", more=""):
    path = f"{function}.skir"
    write(path, f"""skir 1
kernel @k : aiv_only {{
  op = "Own", block = 4, object = "{object_file}", function = "{function}", params = [x, y]
}}
graph @g(%x: f16[4]) -> f16[4] {{
  scope @s {{
    %y = Own(%x) : f16[4] via @k
  }}
  return %y
}}
""")
    return path


build("k.c", "k.o")
done = tap.skirc("run", kernel("good"), "--trust-kernels")
tap.check("a kernel of the user's own runs", done.returncode == 0, done.stderr)
for mode in [], ["--compare=unfused"]:
    check("a kernel that never returns " + " ".join(mode),
          ["skirc: timeout", "1000 ms", r"running at `call @k args %y blocks 4`; in op Own\(%x, %y\)"],
          kernel("endless"), "--timeout=1", *mode)
check("a kernel that crashes", [r"a sub-kernel crashed \(signal 11\)", "call @k", r"Own\(%x, %y\)"],
      kernel("crashing"))
check("a kernel that overflows its stack", [r"a sub-kernel crashed \(signal \d+\)", "call @k"],
      kernel("overflowing"))
check("a kernel that aborts", [r"a sub-kernel crashed \(signal 6\)", "call @k"], kernel("aborting"))
check("a barrier inside a kernel that not all its cores come to", ["skirc: deadlock", "launch g_s"],
      kernel("unequal"))
write("kept.npy", "kept")
check("a launch that fails", ["crashed"], kernel("crashing"), "-oy=kept.npy")
with open("kept.npy") as file:
    tap.check("  leaves outputs as they were", file.read() == "kept")

# Interrupted, it leaves nothing behind either.
process = subprocess.Popen([tap.SKIRC, "run", kernel("endless"), "--timeout=0"],
                           stderr=subprocess.DEVNULL)
time.sleep(2)
process.terminate()
process.wait(10)
tap.check("a run that is interrupted leaves nothing behind in TMPDIR", not os.listdir("tmp"),
          os.listdir("tmp"))

# ---- Objects that are wrong ----

check("a function that is not there", ["'./k.o' does not define the function 'absent' of '@k'",
                                       r"\[kernel-object\]"], kernel("absent"))
check("an object that is not there", ["the object 'none.o' of '@k' is not there", "looked for in"],
      kernel("good", "none.o"))
write("garbage.o", "This is no object.\n" * 100)
check("an object that is none", ["garbage.o: is not an ELF object"], kernel("good", "garbage.o"))
with open("k.o", "rb") as file:
    whole = file.read()
with open("cut.o", "wb") as file:
    file.write(whole[:len(whole) // 2])
check("an object that is cut off", ["cut.o: "], kernel("good", "cut.o"))
check("a folder as object", ["is not a regular file"], kernel("good", "tmp"))
# e_machine, of which no compiler here has a value of 0xfffe.
with open("machine.o", "wb") as file:
    file.write(whole[:18] + b"\xfe\xff" + whole[20:])
check("an object for another machine", ["machine.o is for .*, but .* is for "],
      kernel("good", "machine.o"))
write("undefined.c", "void absent(void);\nvoid good(void)\n{\n    absent();\n}\n")
build("undefined.c", "undefined.o")
check("an object that needs a function that nothing has", ["undefined symbol: absent"],
      kernel("good", "undefined.o"))

# What the system's linker says is about the user's object, not about what was made of it.
write("fixed.c", """static int table[64];
__attribute__((constructor)) static void fill(void)
{
    for (int i = 0; i < 64; i++)
        table[i] = i;
}
void fixed(void *core, unsigned long offset)
{
    ((volatile int *)table)[offset % 64] = 1;
}
""")
build("fixed.c", "fixed.o", "-fno-pic", "-O1")
done = tap.skirc("run", kernel("fixed", "fixed.o"))
tap.check("what the linker says names the object", done.returncode == 4 and "'fixed.o'" in done.stderr
          and "linked.o" not in done.stderr, done.stderr)
build("fixed.c", "linkable.o")
done = subprocess.run([tap.SKIRC, "run", kernel("fixed", "linkable.o")], text=True,
                      env={**os.environ, "CC": "true"}, capture_output=True)
tap.check("a compiler that makes nothing is a failure of the tool", done.returncode == 4
          and "'true' has ended well, but has made no file" in done.stderr
          and "CC names the C compiler" in done.stderr, done.stderr)

# What stands behind -o is written, but is no object.
write("garbage", """#!/bin/sh
for word; do [ "$last" = -o ] && echo garbage > "$word"; last=$word; done
""")
os.chmod("garbage", 0o755)
NONE = "'./garbage' has ended well, but has made no object: what it has written is none [tool]"
for variable, language, arguments in (("CC", "C", [kernel("fixed", "linkable.o")]),
                                      ("CXX", "C++", ["--target=ascend", kernel("good")]),
                                      ("CC", "C", ["--target=ascend", kernel("good")])):
    done = subprocess.run([tap.SKIRC, "run", *arguments], text=True, capture_output=True,
                          env={**os.environ, variable: "./garbage"})
    tap.check(f"{variable} that writes garbage is a failure of the tool: {arguments}",
              done.returncode == 4 and NONE in done.stderr
              and f"{variable} names the {language} compiler" in done.stderr, done)
for text in "abc", "0", "-5", "1e3", "5x", "1000001", "99999999999999999999":
    done = subprocess.run([tap.SKIRC, "opt", kernel("good")], text=True, capture_output=True,
                          env={**os.environ, "SKIR_TOOL_TIMEOUT": text})
    tap.check(f"SKIR_TOOL_TIMEOUT={text} is refused", done.returncode == 2 and
              f"SKIR_TOOL_TIMEOUT is '{text}' in the environment, but must be a number of seconds "
              "from 1 to 1000000" in done.stderr, done)
for text in "", "1", "1000000":
    done = subprocess.run([tap.SKIRC, "opt", kernel("good")], text=True, capture_output=True,
                          env={**os.environ, "SKIR_TOOL_TIMEOUT": text})
    tap.check(f"SKIR_TOOL_TIMEOUT={text} is not", done.returncode == 0, done)

done = tap.skirc("compile", kernel("good"), "-o", "./k.o")
with open("k.o", "rb") as file:
    tap.check("a kernel's object is no place for the output", done.returncode == 1
              and "would replace an input" in done.stderr and file.read() == whole,
              done.stderr)

# What compile makes of wrong objects, it does not leave half-written.
write("out.o", "kept")
done = tap.skirc("compile", kernel("good", "cut.o"), "-o", "out.o")
with open("out.o") as file:
    tap.check("compile that fails leaves the output as it was",
              done.returncode == 1 and file.read() == "kept", done.stderr)

tap.done()
