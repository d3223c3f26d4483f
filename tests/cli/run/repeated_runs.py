"""run: fused launches are bit-exact however many threads run the cores, again and again."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

# Each run has its own inputs. SKIR_TEST_RUNS asks for more of them.
RUNS = int(os.environ.get("SKIR_TEST_RUNS", "10"))

for name in "multi_stream", "decoder_layer":
    path = os.path.join(tap.SOURCE, "docs", "examples", name + ".skir")
    for threads in 1, 2, 4:
        bad = []
        for seed in range(RUNS):
            done = tap.skirc("run", path, "--compare=unfused", f"--threads={threads}",
                             f"--seed={seed}", "--timeout=30", "--repeat=2")
            if done.returncode or not re.search("; bit-exact$", done.stdout):
                bad.append((seed, done.stdout + done.stderr))
        tap.check(f"{name} with {threads} threads, {RUNS} times", not bad, bad[:1])

tap.done()
