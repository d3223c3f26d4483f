"""run: kernels that compute with what nobody has written, or that write values of other ops: without a
trace of poison, which only other contents show."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import MODULE, OWN, build, check, run

READS = ["the kernel of Own %y computes with what nobody has written"]
VARIES = ["the kernel of Own %y makes something else of the same operands each time it runs"]
PROBE = ("--check-kernels", "--repeat=0")
HEAD = """
void own(skrt_core *core, uint64_t offset)
{
    uint64_t *args = skrt_args(core, offset);
    %s *x = (void *)args[0], *y = (void *)args[1], *w = (void *)args[2];
    if (skrt_block_idx(core) == 0)
        for (int i = 0; i < 4; i++) {
            %s
        }
}
"""


def own(name, body, dtype="f32"):
    module = MODULE.replace("f32", dtype).replace(
        "params = [x, y]", "workspace = 64, params = [x, y, workspace]")
    if dtype == "f16":
        module = module.replace("Relu", "Abs")
    ctype = {"f32": "float", "i32": "int32_t", "i8": "int8_t", "f16": "_Float16"}[dtype]
    return build(name, HEAD % (ctype, body), module)


def good(claim, path, *arguments):
    done, _ = run(path, *arguments)
    tap.check(claim, done.returncode == 0 and not done.stderr, done.stdout + done.stderr)
    if os.path.exists("new.npy"):
        os.unlink("new.npy")


GREATEST = "y[i] = y[i] > x[i] ? y[i] : x[i];"
LEAST = "y[i] = y[i] < x[i] ? y[i] : x[i];"
for dtype in "f32", "i32", "i8":
    for name, body in ("greatest", GREATEST), ("least", LEAST):
        path = own(name, body, dtype)
        for flags in PROBE, ("--repeat=2",), ("--repeat=3", "--compare=unfused"), ():
            check(f"{name} of {dtype} over what is there before: {' '.join(flags)}", path, READS,
                  *flags)
# What is the same for all large numbers, or for all small ones.
FLAG = "y[i] = %s ? x[i] : -x[i];"
for name, dtype, body in (("flag", "i8", FLAG % "y[i]"), ("flag", "f32", FLAG % "y[i]"),
                          ("even", "i32", FLAG % "y[i] % 2"), ("masked", "i8", "y[i] &= x[i];"),
                          ("far", "f32", "y[i] = y[i] > -1e6 && y[i] < 1e6 ? y[i] + x[i] : x[i];"),
                          ("great", "f32", "y[i] = (y[i] < 0 ? -y[i] : y[i]) > 1 ? x[i] : -x[i];"),
                          ("workspace", "f32", FLAG % "w[i]"), ("behind", "f32", FLAG % "x[i + 1]")):
    path = own("set_" + name, body, dtype)
    for flags in PROBE, (), ("--check-kernels", "--compare=unfused", "--repeat=0"):
        check(f"one that takes {name} of {dtype} before it writes: {' '.join(flags)}", path, READS, *flags)
for name, body in (("behind", "y[i] = x[i] + x[i + 1];"), ("before", "y[i] = x[i] + x[i - 1];"),
                   ("workspace", "y[i] = x[i] + w[i];"), ("beside_workspace", "y[i] = x[i] + w[i + 16];")):
    path = own(name, body)
    check(f"a kernel that reads so: {body}", path, READS, *PROBE)
    if "w" not in body:
        check("  in measured runs", path, READS)
# Locals that are not set: of this call, and deep on its stack.
for name, size, ways in ("locals", 16, (PROBE, ())), ("deep", 40000, (PROBE,)):
    path = own(name, f"volatile float locals[{size}]; y[i] = x[i] + locals[i];")
    for flags in ways:
        check(f"a kernel that reads {size} locals that it has not set: {' '.join(flags)}", path, READS, *flags)
path = own("varies", "static int calls; y[i] = x[i] + calls++;")
check("a kernel that gives something else each time", path, VARIES, *PROBE)
check("  in measured runs", path, VARIES)
# Of two halves, one in turn: no element is unwritten in two runs, nor in each second one.
HALVES = """
void own(skrt_core *core, uint64_t offset)
{
    static int calls;
    float *y = (void *)skrt_args(core, offset)[1];
    if (skrt_block_idx(core) == 0) {
        int n = %s, first = n == 1 ? 2 : 0, end = n == 0 ? 2 : 4;
        for (int i = first; i < end; i++)
            y[i] = 1;
    }
}
"""
path_of_halves = build("halves", HALVES % "calls++ % 2")
for flags in PROBE, ("--repeat=0",), ("--repeat=2",), ("--repeat=0", "--compare=unfused"), ():
    check(f"a kernel that writes one half in turn: {' '.join(flags)}", path_of_halves, VARIES, *flags)
check("one that does so in the super kernel alone", build("early_halves", "#include <stdio.h>\n" + HALVES % (
    '({ char *said = getenv("CALLS"), text[9]; int n = said ? atoi(said) : 0; sprintf(text, "%d", n + 1);'
    ' setenv("CALLS", text, 1); n; })')),
      ["the graph leaves other elements unwritten each time it runs"], "--repeat=0")
# Two ops may write a memory in parts.
PARTS = """
void own(skrt_core *core, uint64_t offset)
{
    float *y = (void *)skrt_args(core, offset)[1];
    for (int i = 0; i < 2 && skrt_block_idx(core) == 0; i++)
        y[i] = 1;
}
void rest(skrt_core *core, uint64_t offset)
{
    float *y = (void *)skrt_args(core, offset)[0];
    for (int i = 2; i < 4 && skrt_block_idx(core) == 0; i++)
        y[i] = %s;
}
"""
IN_PARTS = MODULE.replace("%%y = Own(%%x)", "%%u = Own(%%x)").replace("params = [x, y] }", """params = [x, y] }
kernel @r : aiv_only { op = "Rest", block = 4, object = "NAME.o", function = "rest", params = [x, y] }""", 1).replace(
    "    %%z =", "    %%y = Rest(%%u) {inplace = [0], alias = [0]} : f32[4] via @r\n    %%z =")
for name, value, wrong in ("parts", "3", None), ("read_parts", "y[i] + 1", "the kernel of Rest %y computes 2 of 4 elements of '%u' with what stands there before"):
    path_of_parts = build(name, PARTS % value, IN_PARTS.replace("NAME", name))
    for flags in PROBE, ("--check-kernels", "--compare=unfused", "--repeat=2"):
        if wrong:
            check(f"  but not with what nobody has written: {' '.join(flags)}", path_of_parts, [wrong], *flags)
        else:
            good(f"a memory that two ops write in parts: {' '.join(flags)}", path_of_parts, *flags)
done, _ = run(path, "--repeat=2", "--trust-kernels")
tap.check("one that is trusted is not looked at op by op", done.returncode == 1
          and "DIFFERENT from run to run" in done.stdout and "wrong-kernel" not in done.stderr, done)
good("one that is trusted may compute with anything", own("trusted", GREATEST), "--repeat=3",
     "--trust-kernels")
for flags in PROBE, ("--repeat=3",), ("--check-kernels", "--compare=unfused", "--repeat=2"):
    good(f"a kernel that does what it is to do: {' '.join(flags)}", own("good", "y[i] = x[i] + 1;"), *flags)
good("one that keeps in its workspace what it needs", own("kept", "w[i] = x[i]; y[i] = w[i] + 1;"), *PROBE)

done, _ = run(path, "--check-kernels", "--trust-kernels")
tap.check("kernels are checked or trusted", done.returncode == 2 and
          "'--check-kernels' and '--trust-kernels' exclude each other" in done.stderr, done)

# ---- Values of others ----

# The call behind another one writes that one's result, which nobody reads.
TWICE = MODULE.replace("    %%z = Relu(%%y)", "    %%p = Own(%%x) : f32[4] via @k\n    %%z = Relu(%%p)")
OTHER = """
static float *first;
static int calls;
""" + OWN % "if (calls++ %% 2 == 0) first = y; else first[2] %s;"
for name, body in ("another", "= 77"), ("the_same", "= first[2]"):
    path = build(name, OTHER % body, TWICE)
    for flags in PROBE, ("--compare=unfused", "--repeat=0"), ("--compare=unfused", "--repeat=2"):
        check(f"a kernel that writes what another op has made, {body}: {' '.join(flags)}", path,
              ["the kernel of Own %p writes into '%y', which is none of the op's values"], *flags)
done, _ = run(path, *PROBE)
tap.check("it says where", ":6:10: error: the kernel of Own %p" in done.stderr and
          "help: first in launch Own: aiv 2 at `call @k args %p blocks 4`; in op Own(%x, %p)" in
          done.stderr, done.stderr)
# By the system, which cannot write what only its op may write: the runs do not leave the same.
ZEROS = "{ int f = open(\"/dev/zero\", 0); read(f, first, 16); close(f); }"
SYSTEM = build("system", "#include <fcntl.h>\n" + OTHER.replace("first[2] %s;", "%s") % ZEROS, TWICE)
for flags in PROBE, ("--check-kernels", "--repeat=2"):
    check(f"a kernel that reads a file into a value of others: {' '.join(flags)}", SYSTEM,
          ["the graph leaves something else than its ops do where they run one by one"], *flags)
done, _ = run(SYSTEM, *PROBE)
tap.check("  it is told where", ":3:7: error: the graph leaves" in done.stderr and
          "help: first difference: %y[0] of Own is 0, op by op 1\n" in done.stderr, done.stderr)
CHAIN = TWICE.replace("%%p = Own(%%x)", "%%p = Own(%%y)")
check("a kernel that writes an operand", build("operand", OTHER % "= first[2]", CHAIN),
      ["the kernel of Own %p writes into its operand '%y', which the op only reads"], *PROBE)
INPUT = build("input", OWN % "float *x = (float *)skrt_args(core, offset)[0]; x[1] = x[1];")
check("a kernel that writes an input", INPUT, ["the kernel of Own %y writes (1 element of )?'%x'"], *PROBE)

# ---- Later runs ----

STOPS = build("stops", """
static int calls;
void own(skrt_core *core, uint64_t offset)
{
    float *y = (float *)skrt_args(core, offset)[1];
    for (int i = 0; i < 4 && skrt_block_idx(core) == 0 && calls < 9; i++)
        y[i] = 1;
    if (skrt_block_idx(core) == 0) /* others would write it back at the same time */
        calls++;
}
""")
done, _ = run(STOPS, "--repeat=20")
tap.check("a kernel that stops to write behind some runs", done.returncode == 1 and
          "first difference: %y[0] of Own is 1, in run 10 of fused: 0\n" in done.stdout, done)

# Ops that call graphs, and values that are one memory.
CALLS = """skir 1
kernel @k : aiv_only { op = "Own", block = 4, object = "%s.o", function = "own", params = [x, y] }
graph @f(%%a: f32[4]) -> f32[4] {
  %%b = Own(%%a) : f32[4] via @k
  %%c = Own(%%b) {inplace = [0]} : f32[4] via @k
  return %%c
}
graph @g(%%x: f32[4], %%n: i32[1]) -> (f32[4], f32[4]) {
  %%y = PartitionedCall(%%x) {f = @f} : f32[4]
  %%z = PartitionedCall(%%y) {f = @f} : f32[4]
  return %%y, %%z
}
"""
good("ops that call graphs", build("calls", OWN % "", CALLS), "--check-kernels", "--compare=unfused",
     "--repeat=2")

tap.done()
