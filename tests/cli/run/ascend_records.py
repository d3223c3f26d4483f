"""run --target=ascend --profile: time records of host emulation are of the same ops on the same cores as on the host target:
ops that leave cores out, kernels with parts on both core types, events between streams."""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

EXAMPLES = os.path.join(os.path.abspath(tap.SOURCE), "docs", "examples")
tap.SKIRC = os.path.abspath(tap.SKIRC)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

# One op has five blocks; another one, in a stream, is between events of the super kernel.
tap.write("few.skir", """skir 1
kernel @few : aiv_only {
  op = "Mul", block = 5, object = "mul.o", function = "mul", params = [x1, x2, y, tiling]
}
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> (f16[32, 32], f16[32, 32]) {
  stream "1" {
    %u = MatMul(%a, %a) : f16[32, 32]
  }
  scope @s {
    %m = MatMul(%a, %b) : f16[32, 32]
    %v = Mul(%m, %a) : f16[32, 32] via @few
    %w = Add(%v, %u) : f16[32, 32]
    %x = Mul(%w, %a) : f16[32, 32]
  }
  stream "2" {
    %o = Softmax(%w) : f16[32, 32]
  }
  return %x, %o
}
""")


def records(path, target):
    """Names, phases and cores; waits depend on which core runs first."""
    done = tap.skirc("run", path, "--target=" + target, "--profile=-")
    if done.returncode == 4:
        tap.skip("time records of host emulation", "there is no C++ compiler")
        tap.done()
        sys.exit()
    events = json.JSONDecoder().raw_decode(done.stdout)[0]["traceEvents"]
    return sorted((str(event.get("name")), str(event.get("ph")), str(event.get("pid")), str(event.get("tid")))
                  for event in events if event.get("cat") not in ("barrier", "flag"))


for name in ["few", "multi_stream", "decoder_layer", "quant_swiglu_small"]:
    path = name + ".skir" if name == "few" else os.path.join(EXAMPLES, name + ".skir")
    expected, found = records(path, "host"), records(path, "ascend")
    tap.check(f"time records of {name}.skir are of the same ops on the same cores",
              len(expected) > 100 and found == expected,
              str((set(expected) ^ set(found), len(expected), len(found))))
tap.done()
