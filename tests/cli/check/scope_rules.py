"""Commands agree on what scopes become, by either rule: check --explain, compile and run; what a bad rule is told."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

# %n cannot be fused, and nothing of the scope needs it; %x, on another stream, makes a ring of @r, for which it needs no cores.
with open("graph.skir", "w") as file:
    file.write('''skir 1
graph @g(%p: f32[64]) -> (f32[64], f32[64], f32[64]) {
  scope @s {options = "stream-fusion=1"} {
    %a = Add(%p, %p) : f32[64]
    %n = Relu(%a) {supportSuperKernel = 0} : f32[64]
    stream "1" {
      %"odd/d" = Mul(%a, %p) : f32[64]
    }
  }
  scope @r {
    %b = Add(%n, %p) : f32[64]
  }
  stream "2" {
    %x = Exp(%b) {no_cores} : f32[64]
  }
  scope @r {
    %c = Mul(%x, %b) : f32[64]
  }
  return %"odd/d", %x, %c
}
''')

OWN = ["g_r", "g_s"]
THEIRS = ["g_r", "g_s_split_0_0", "g_s_split_2_2"]
NAMED = ["sk_r_start_b_end_c", "sk_s_split_0_2_start_a_end_a", "sk_s_split_2_4_start_odd/d_end_odd/d"]
OWN_NAMED = ["sk_r_start_b_end_c", "sk_s_start_a_end_odd/d"]


def names(text, keyword):
    return sorted(name.strip('"') for name in re.findall(keyword + r' \'?@("[^"]*"|[\w/]+)', text))


for rules, expected in ([], OWN), (["--partition=fewest", "--names=own"], OWN), (["--partition=reference"], THEIRS), \
        (["--partition=reference", "--names=reference"], NAMED), (["--names=reference"], OWN_NAMED):
    shown = " ".join(rules) or "by default"
    done = tap.skirc("compile", "--emit=skir", "graph.skir", *rules)
    tap.check(f"compile {shown}: launches", done.returncode == 0 and names(done.stdout, "entry") == expected,
              done.stdout + done.stderr)
    done = tap.skirc("check", "--explain", "graph.skir", *rules)
    told = set(names(done.stdout + done.stderr, "super kernel")) - {""}
    tap.check(f"check --explain {shown}: the same", done.returncode == 0 and sorted(told) == expected,
              done.stdout + done.stderr)
    done = tap.skirc("run", "graph.skir", "--compare=unfused", "--repeat=0", *rules)
    tap.check(f"run {shown}: right", done.returncode == 0 and "bit-exact" in done.stdout, done.stdout + done.stderr)
    tap.check(f"run {shown}: nothing differs from the reference", "partition-differs" not in done.stderr, done.stderr)

# Where it needs cores, there are none beside @r.
with open("cores.skir", "w") as file:
    file.write(open("graph.skir").read().replace(" {no_cores}", ""))
for rules in [], ["--partition=reference"]:
    done = tap.skirc("run", "cores.skir", "--compare=unfused", "--repeat=0", *rules)
    tap.check(f"run {' '.join(rules)}: a ring without cores for it is cut, with a warning where the reference makes one launch",
              done.returncode == 0 and "bit-exact" in done.stdout and
              ("partition-differs" in done.stderr) == bool(rules), done.stdout + done.stderr)

for strict, status in ("bypass", 0), ("abort", 1):
    text = open("cores.skir").read().replace("scope @r {", f'scope @r {{options = "strict-scope-check={strict}"}} {{')
    with open("strict.skir", "w") as file:
        file.write("skir 1\n" + text[text.index("graph"):].replace('scope @s {options = "stream-fusion=1"}', "scope none"))
    done = tap.skirc("check", "--explain", "--partition=reference", "strict.skir")
    tap.check(f"{strict} is for a ring that the reference does not cut, but that has no cores, too", done.returncode == status and
              f"strict-scope-check={strict}" in done.stderr, done.stderr)

for command in "check", "opt", "compile", "run", "trace":
    done = tap.skirc(command, "--partition=most", "graph.skir")
    tap.check(f"{command}: a rule that there is not is wrong usage", done.returncode == 2 and
              "'--partition' cannot be 'most', only 'fewest' or 'reference'" in done.stderr, done.stderr)

tap.done()
