"""Commands agree on what scopes become, by either rule: check --explain, compile and run; what a bad rule is told."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

# %n cannot be fused, and nothing of the scope needs it; %x, on another stream, makes a ring of @r.
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
  stream "1" {
    %x = Exp(%b) : f32[64]
  }
  scope @r {
    %c = Mul(%x, %b) : f32[64]
  }
  return %"odd/d", %x, %c
}
''')

OWN = ["g_r_split_0_0", "g_r_split_1_1", "g_s"]
THEIRS = ["g_r_split_0_0", "g_r_split_1_1", "g_s_split_0_0", "g_s_split_2_2"]
NAMED = ["sk_r_split_3_5_start_b_end_b", "sk_r_split_5_7_start_c_end_c", "sk_s_split_0_2_start_a_end_a",
         "sk_s_split_2_4_start_odd/d_end_odd/d"]
OWN_NAMED = ["sk_r_split_3_5_start_b_end_b", "sk_r_split_5_7_start_c_end_c", "sk_s_start_a_end_odd/d"]


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
    warned = "partition-differs" in done.stderr
    tap.check(f"run {shown}: the ring is warned of where the reference makes one launch of it",
              warned == ("--partition=reference" in rules), done.stderr)

for strict, status in ("bypass", 0), ("abort", 1):
    text = open("graph.skir").read().replace("scope @r {", f'scope @r {{options = "strict-scope-check={strict}"}} {{')
    with open("strict.skir", "w") as file:
        file.write("skir 1\n" + text[text.index("graph"):].replace('scope @s {options = "stream-fusion=1"}', "scope none"))
    done = tap.skirc("check", "--explain", "--partition=reference", "strict.skir")
    tap.check(f"{strict} is for a ring that the reference does not cut, too", done.returncode == status and
              f"strict-scope-check={strict}" in done.stderr and "partition-differs" in done.stderr, done.stderr)
    tap.check(f"{strict}: the account says that nothing is fused", "nothing is fused" in done.stdout and
              "nothing is marked" not in done.stdout, done.stdout)

for command in "check", "opt", "compile", "run", "trace":
    done = tap.skirc(command, "--partition=most", "graph.skir")
    tap.check(f"{command}: a rule that there is not is wrong usage", done.returncode == 2 and
              "'--partition' cannot be 'most', only 'fewest' or 'reference'" in done.stderr, done.stderr)

tap.done()
