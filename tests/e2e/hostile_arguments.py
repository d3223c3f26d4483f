"""run: kernels that write into what they are given beside tensors: slots of arguments, lists, tilings,
their keys. Rows of an entry, its source for NPUs, and ops that are launched alone."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import CALL, MODULE, OWN, build, check, check_harmless, run

CRASHED = r"skirc: a sub-kernel crashed \(signal 11\)"
READ = ", which kernels only read"
SLOTS = "uint64_t *a = skrt_args(core, 0); "

# The first is of launches that have one more before them.
for body, slot, op in (("a[1] ^= 4;", 1, r"Own\(%x, %y\)"), ("a[2] = a[2];", 2, r"Own\(%x, %y\)"),
                       ("a[4] ^= 4;", 4, r"Relu\(%y, %z\)"), ("a[0] = 1;", 0, None)):
    texts = [CRASHED, CALL, f"slot {slot} of the launch's arguments{READ}" +
             (f"; it is for {op}" if op else "")]
    path = build("slots", OWN % (SLOTS + body))
    check(f"a kernel that does: {body}", path, texts)
    check("  in source for NPUs", path, texts, "--target=ascend")
    done, _ = run(path, "--in-process")
    tap.check("  in the process that was called", done.returncode == 1 and "crashed (signal 11)" in
              done.stderr and f"slot {slot} of the launch's arguments" in done.stderr, done.stderr)

# What the kernel of an op has that runs alone.
ALONE = MODULE.replace("  scope @s {\n", "").replace("  }\n  return", "  return")
alone = build("alone", OWN % (SLOTS + "a[1] ^= 4;"), ALONE)
check("a kernel of an op that is launched alone", alone,
      [CRASHED, r"launch Own: aiv 2 at `call @k args %y blocks 4`; in op Own\(%x, %y\)",
       "slot 1 of the launch's arguments"])

# Measured runs are not guarded; a change is seen behind the launch, and nobody knows whose it is.
for flags in (), ("--target=ascend",):
    check("a kernel that does it in a measured run", build("later", """
static int runs;
""" + OWN % (SLOTS + "if (++runs == 3) a[4] ^= 4;")),
          ["skirc: misuse", f"launch g_s: a kernel has changed slot 4 of the launch's arguments{READ}; "
           r"it is for Relu\(%y, %z\)"], "--repeat=5", *flags)
check("a kernel that is trusted", build("trusted", OWN % (SLOTS + "a[4] ^= 4;")),
      ["skirc: misuse", "a kernel has changed slot 4"], "--trust-kernels")
check("a kernel that makes them writable", build("writable", OWN % (
    SLOTS + "mprotect((void *)((uintptr_t)a & ~4095ul), 4096, 3); a[4] ^= 4;")),
      ["skirc: misuse", "a kernel has changed slot 4"])
check_harmless("a kernel that sets it back in a measured run", build("back", """
static int runs;
""" + OWN % (SLOTS + "if (++runs == 3) { a[4] ^= 4; a[4] ^= 4; }")), "--repeat=5")

# ---- What slots lead to ----

TABLES = """skir 1
kernel @k : aiv_only { op = "Own", block = 4, object = "%s.o", function = "own", params = [x, y] }
graph @g(%%x: f32[4], %%b: f16[3]) -> (f32[4], f16[3], f32[8]) {
  scope @s {
    %%y = Own(%%x) : f32[4] via @k
    %%z = Add(%%b, %%b) {dynamic, tiling_key = 0} : f16[3]
    %%w = ConcatV2D([%%y, %%y]) {concat_dim = 0} : f32[8]
  }
  return %%y, %%z, %%w
}
"""
for slot, byte, what, first in ((6, 0, "tiling of 312 bytes", 6), (7, 0, "tiling key of 16 bytes", 7),
                                (8, 8, "tiling key of 16 bytes", 7), (10, 0, "list of 56 bytes", 10),
                                (12, 0, "tiling of 472 bytes", 12)):
    path = build("tables", OWN % (SLOTS + f"*(uint64_t *)a[{slot}] ^= 1;"), TABLES)
    check(f"a kernel that writes what slot {slot} leads to", path,
          [CRASHED, CALL, f"it touched what is at byte {byte} of a {what}{READ}"])
    check("  in a measured run", build("tables", """
static int runs;
""" + OWN % (SLOTS + f"if (++runs == 3) *(uint64_t *)a[{slot}] ^= 1;"), TABLES),
          [f"launch g_s: a kernel has changed the table in slot {first} of the launch's arguments"],
          "--repeat=5")

# What tilings lead to: tensors, lists of them, attributes with their texts and numbers.
SAYS = MODULE.replace("params = [x, y]", "params = [x, y, tiling]").replace(
    "Own(%%x)", 'Own(%%x) {own = [1, 2], say = "so"}')
T = "struct skrt_tiling *t = (struct skrt_tiling *)a[%d]; "
for slot, change, module in (
        (6, "((struct skrt_tensor *)t->tensors)[2].dtype = SKRT_i32;", TABLES),
        (12, "((struct skrt_attr *)t->attrs)[0].i = 1;", TABLES),
        (12, "((struct skrt_tensor *)t->tensors[0].list)[1].dims[0] = 3;", TABLES),
        (3, "((int64_t *)t->attrs[0].ints)[1] = 3;", SAYS),
        (3, "((char *)t->attrs[1].text)[1] = 'a';", SAYS)):
    check(f"a kernel that does: {change}", build("deep", OWN % (SLOTS + T % slot + change), module),
          [CRASHED, CALL, "of a tiling of .* bytes" + READ])
    check("  in a measured run", build("deep", "static int runs;\n" + OWN % (
        SLOTS + T % slot + f"if (++runs == 3) {{ {change} }}"), module),
          [f"launch g_s: a kernel has changed the table in slot {slot} of the launch's arguments"],
          "--repeat=5")

# More tables than there are pages for: those of the launch have theirs all the same.
ops = "".join(f"    %%w{i} = ConcatV2D([%%y, %%y]) {{concat_dim = 0}} : f32[8]\n" for i in range(600))
many = TABLES.replace("    %%w = ConcatV2D([%%y, %%y]) {concat_dim = 0} : f32[8]\n",
                      ops).replace("return %%y, %%z, %%w", "return %%y, %%z, %%w9")
check("slots of many ops", build("many", OWN % (SLOTS + "a[1800] ^= 4;"), many),
      [CRASHED, "slot 1800 of the launch's arguments"], "--repeat=0")
check("lists of many ops", build("many", OWN % (SLOTS + "*(uint64_t *)a[1807] ^= 1;"), many),
      ["skirc: misuse", "a kernel has changed the table in slot 1807"], "--repeat=0")

tap.done()
