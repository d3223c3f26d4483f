"""Options that add to entries for debugging: what is computed stays the same to the bit, what is compiled
is proven, and what is there already is not added again."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

EXAMPLES = os.path.join(os.environ["SKIR_SOURCE"], "docs", "examples")
OPTIONS = [
    "debug-sync-all=1",
    "debug-dcci-all=1",
    "dcci-before-kernel-start=MatMul,Add,QuantBatchMatmulV3:dcci-after-kernel-end=Add,DequantSwigluQuant",
    "debug-sync-all=1:debug-dcci-all=1:dcci-before-kernel-start=Add,MatMul:dcci-after-kernel-end=Add,MatMul",
]

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


for name in "decoder_layer", "multi_stream", "quant_swiglu_small":
    example = os.path.join(EXAMPLES, name + ".skir")
    for options in OPTIONS:
        for streams in ":stream-fusion=0", ":stream-fusion=1":
            option = "--sk-options=" + options + streams
            lowered = tap.skirc("opt", "--passes=default", "--verify-each", option, example)
            if lowered.returncode != 0 and "[stream-fusion]" in lowered.stderr:
                continue  # streams that only run side by side
            write("lowered.skir", lowered.stdout)
            again = tap.skirc("opt", "--passes=default", "lowered.skir")
            tap.check(f"{name}, {options}{streams}: the pipeline's output is its output",
                      lowered.returncode == again.returncode == 0
                      and lowered.stdout == again.stdout, lowered.stderr + again.stderr)
            done = tap.skirc("run", "--compare=unfused", option, example)
            tap.check(f"{name}, {options}{streams}: it computes the same",
                      done.returncode == 0 and "bit-exact" in done.stdout,
                      done.stdout + done.stderr)

tap.done()
