"""The account of scopes: check --explain for people, --remarks=FILE.json for tools."""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

PROGRAM = """skir 1

graph @g(%a: f32[8], %b: f32[8]) -> f32[8] {
  scope @s {options = "stream-fusion=1"} {
    %x = Add(%a, %b) : f32[8]
    stream "2" {
      %y = Mul(%x, %b) : f32[8]
    }
    %n = Foo(%x) {supportSuperKernel = 0} : f32[8] via @foo
    stream "2" {
      scope none {
        %o = Mul(%n, %b) : f32[8]
      }
    }
    %z = Add(%n, %y) : f32[8] after (%o)
  }
  return %z
}

kernel @foo : aiv_only {
  block = 8,
  stub
}
"""
with open("program.skir", "w") as file:
    file.write(PROGRAM)

done = tap.skirc("check", "program.skir")
tap.check("check says nothing when all is well", done.returncode == 0
          and not done.stdout + done.stderr, done.stdout + done.stderr)

done = tap.skirc("check", "--explain", "program.skir")
tap.check("--explain ends with status 0, and all of it is on standard output",
          done.returncode == 0 and not done.stderr, done.stderr)
for claim, text in [
    ("a super kernel has its ops and their streams",
     "line 5: scope '@s': super kernel '@g_s_split_0_1' has 2 ops: Add %x (the default stream), "
     "Mul %y (stream \"2\") [fused]"),
    ("a break names the op and what it waits for",
     "line 15: scope '@s' breaks before this op of the default stream: it uses the result of "
     "Foo %n [split-nonfusable]"),
    ("and why that needs the part before",
     "line 9: that needs the part before: this uses the result of Add %x"),
    ("and what to do", "-> Foo %n cannot be fused: its kernel does not support it"),
]:
    tap.check(claim, text in done.stdout, done.stdout)

done = tap.skirc("check", "--explain", "--remarks=remarks.json", "program.skir")
with open("remarks.json") as file:
    remarks = json.load(file)["diagnostics"]
by_id = {remark["id"]: remark for remark in remarks}
fused = [remark for remark in remarks if remark["id"] == "fused"]
tap.check("JSON has a super kernel's ops and streams",
          fused[0]["scope"] == "s" and fused[0]["superkernel"] == "g_s_split_0_1"
          and fused[0]["ops"] == ["Add %x", "Mul %y"] and fused[0]["streams"] == ["", "2"], fused)
tap.check("lists have one element for one op", fused[1]["ops"] == ["Add %z"], fused)
cut = by_id.get("split-nonfusable", {})
tap.check("JSON has a break's op, stream, cause and root",
          [cut.get(key) for key in ("scope", "op", "stream", "cause", "root")]
          == ["s", "Add %z", "", "Foo %n", "Foo %n"], cut)
left_out = by_id.get("not-fused", {})
tap.check("and an op that is left out", left_out.get("op") == "Foo %n", left_out)

# Without the op on stream 2, the launch can be on that, and %n beside it.
with open("ring.skir", "w") as file:
    file.write(PROGRAM.replace(" after (%o)", "").replace("scope none {\n        %o = Mul(%n, %b) : f32[8]\n      }", "")
               .replace("{supportSuperKernel = 0}", "{no_cores}"))
done = tap.skirc("check", "--explain", "--remarks=ring.json", "ring.skir")
tap.check("what runs beside a super kernel is named", "in parallel with it: Foo %n (the default "
          "stream) [fused]" in done.stdout + done.stderr, done.stdout + done.stderr)
with open("ring.json") as file:
    fused = [remark for remark in json.load(file)["diagnostics"] if remark["id"] == "fused"]
tap.check("  in JSON, too", len(fused) == 1 and fused[0]["beside"] == ["Foo %n"]
          and fused[0]["ops"] == ["Add %x", "Mul %y", "Add %z"], fused)

with open("sides.skir", "w") as file:
    file.write("""skir 1
kernel @add : aiv_only {op = "Add", block = 8, object = "add.o", function = "add", params = [x1, x2, y, tiling]}
kernel @mul : aiv_only {op = "Mul", block = 8, object = "mul.o", function = "mul", params = [x1, x2, y, tiling]}
graph @g(%a: f32[8]) -> (f32[8], f32[8]) {
  scope @s { %b = Add(%a, %a) : f32[8] }
  stream "1" { scope @t { %c = Mul(%b, %a) : f32[8] } }
  scope @s { %d = Add(%c, %b) : f32[8] }
  stream "1" { scope @t { %e = Mul(%d, %c) : f32[8] } }
  return %d, %e
}
""")
done = tap.skirc("check", "--explain", "--remarks=sides.json", "sides.skir")
tap.check("super kernels side by side name each other", "(stream \"1\"), Mul %e; in parallel with it: "
          "'@g_s' [fused]" in done.stdout + done.stderr, done.stdout + done.stderr)
with open("sides.json") as file:
    fused = [remark for remark in json.load(file)["diagnostics"] if remark["id"] == "fused"]
tap.check("  in JSON, too", [remark.get("beside") for remark in fused] == [["@g_t"], ["@g_s"]], fused)
with open("sides.json") as file:
    rings = [remark for remark in json.load(file)["diagnostics"] if remark["id"] == "ring"]
tap.check("  with their ring, once", [ring["launches"] for ring in rings] == [["@g_s", "@g_t"]], rings)

# 150 scopes, each of which needs the one before it twice, the first one the last: a line for each wait, and lists that do not grow with all
# of them.
with open("many.skir", "w") as file:
    values = [f"%v{i}" for i in range(300)]
    file.write("skir 1\ngraph @g(%a: f32[8]) -> f32[8] {\n")
    for i in range(300):
        file.write(f'  stream "{i % 150 + 1}" {{ scope @s{i % 150} {{ {values[i]} = Add({values[i - 1] if i else "%a"}, %a) : f32[8] }} }}\n')
    file.write("  return %v299\n}\n")
done = tap.skirc("check", "--explain", "--no-lower", "many.skir")
lines = done.stdout.splitlines()
tap.check("of many launches in a ring each wait is a line", sum(" waits " in line for line in lines) == 299
          and sum("[ring]" in line for line in lines) == 1
          and "'@g_s0', '@g_s1', '@g_s2', '@g_s3', '@g_s4', '@g_s5' and 144 more run side by side" in done.stdout, done.stdout[:2000])
tap.skirc("check", "--explain", "--no-lower", "--remarks=many.json", "many.skir")
with open("many.json") as file:
    fused = [remark for remark in json.load(file)["diagnostics"] if remark["id"] == "fused"]
tap.check("  and no list has all of them once more", max(len(remark["beside"]) for remark in fused) == 100, fused[:2])

# More ops than a byte counts.
with open("long.skir", "w") as file:
    file.write("skir 1\ngraph @g(%a: f32[8]) -> f32[8] {\n  scope @s {\n")
    for i in range(600):
        file.write(f'    %v{i} = Add({f"%v{i - 1}" if i else "%a"}, %a) : f32[8]\n')
    file.write("  }\n  return %v599\n}\n")
done = tap.skirc("check", "--explain", "--no-lower", "long.skir")
tap.check("a long super kernel is told once", done.stdout.count("[fused]") == 1, done.stdout[:2000])

with open("plain.skir", "w") as file:
    file.write("skir 1\ngraph @g(%a: f32[8]) -> f32[8] { return %a }\n")
done = tap.skirc("check", "--explain", "plain.skir")
tap.check("a file without scopes is told so", "no op is in a scope" in done.stdout, done.stdout)

tap.done()
