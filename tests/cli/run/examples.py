"""What the examples of docs/examples are for: each runs like its ops one by one, or is lowered."""

import glob
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

EXAMPLES = os.path.join(tap.SOURCE, "docs", "examples")
OPTIONS = {
    "attention_step": ["--bind", "b=2", "--bind", "s=64"],
    "decoder_gears": ["--shape", "x=4,32,64"],
    "gears": ["--shape", "x=4,2"],
    "attention_layer": ["--bind", "b=2", "--bind", "s=16", "-i", "past=5", "-i", "places=arange"],
}
STUBS = {"moe_layer"}  # kernels whose objects are not there

for path in sorted(glob.glob(os.path.join(EXAMPLES, "*.skir"))):
    name = os.path.basename(path)[:-5]
    if name in STUBS:
        lowered = tap.skirc("compile", "--emit=entry", path)
        tap.check(f"{name} is lowered and proven",
                  lowered.returncode == 0 and "entry @" in lowered.stdout, lowered.stderr)
        continue
    ran = tap.skirc("run", path, "--compare=unfused", "--race-check", *OPTIONS.get(name, []))
    tap.check(f"{name}: fused is bit-exact and free of races",
              ran.returncode == 0 and "bit-exact" in ran.stdout and "race-free" in ran.stdout,
              ran.stdout + ran.stderr)

step = os.path.join(EXAMPLES, "attention_step.skir")
for s in 16, 48:
    ran = tap.skirc("run", step, "--compare=unfused", "--bind", "b=3", "--bind", f"s={s}")
    tap.check(f"attention_step with caches of {s} rows",
              ran.returncode == 0 and "bit-exact" in ran.stdout, ran.stdout + ran.stderr)

tap.done()
