"""skirc test as a process: what is measured passes again, and files that only look like tests."""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

GRAPH = """skir 1

graph @g(%a: f32[64, 64]) -> f32[64, 64] {
  scope @s {
    %b = Add(%a, %a) : f32[64, 64]
    %c = Mul(%b, %a) : f32[64, 64]
    %d = MatMul(%c, %b) : f32[64, 64]
  }
  return %d
}
"""


# Each prints what is never the same twice.
COMMANDS = ["run --profile=/dev/stdout --compare=unfused --repeat=9",
            "run --profile=- --json --compare=unfused --repeat=auto",
            "run --repeat=auto", "opt default --time-passes --json"]
write("measured.skir", f"//! {COMMANDS[0]}\n//! a claim\n{GRAPH}"
      + "".join(f"//! also {command}\n" for command in COMMANDS[1:])
      + "//! expect of report\n//! expect lines\n{{.*}}\n")
load = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count())]
try:
    done = tap.skirc("test", "--bless", "measured.skir")
    tap.check("what is measured can be blessed",
              done.returncode == 0 and "1 blessed" in done.stdout, done.stdout)
    for attempt in range(5):
        done = tap.skirc("test", "measured.skir")
        if not tap.check(f"and passes, whatever else the machine does ({attempt + 1})",
                         done.returncode == 0, done.stdout):
            break
finally:
    for process in load:
        process.kill()
        process.wait()

write("plain.skir", "//! opt\n//! a claim\nskir 1\n\ngraph @g(%a: f32[8]) -> f32[9] {\n"
      "  return %a\n}\n")
done = tap.skirc("test", "--bless", "plain.skir")
tap.check("a test is blessed in place", done.returncode == 0 and "1 blessed" in done.stdout
          and "//! error: this is f32[8]" in open("plain.skir").read(), done.stdout)

os.mkdir("many")
for number in range(60):
    write(f"many/{number}.skir", "//! opt\n//! a claim\nskir 1\n//! expect no changes\n")
for limit in (40, 16):
    command = f'ulimit -n {limit}; exec "$0" test -j 256 many'
    done = subprocess.run(["sh", "-c", command, tap.SKIRC], capture_output=True, text=True,
                          timeout=120)
    tap.check(f"256 jobs are as many as {limit} descriptors allow", done.returncode == 0
              and "60 passed, 0 failed" in done.stdout, done.stdout[-2000:] + done.stderr)

os.mkdir("folder")
write("folder/marked.skir", "\ufeff//! opt\n//! a claim\nskir 1\n//! expect no changes\n")
done = tap.skirc("test", "folder")
tap.check("a test behind a byte order mark is not passed over", done.returncode == 1
          and "begins with a byte order mark" in done.stdout, done.stdout + done.stderr)
tap.done()
