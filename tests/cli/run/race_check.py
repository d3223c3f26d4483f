"""run --race-check: order that is not enforced is found in any run, whether the result is right or not."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def run(text, *options):
    write("run.skir", text)
    return tap.skirc("run", "run.skir", "--race-check", *options)


# Cube, vector, vector, cube: each needs the one before; the last needs the first vector op too.
GRAPH = """skir 1
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> f16[32, 32] {
  scope @s {
    %m = MatMul(%a, %b) : f16[32, 32]
    %v = Add(%m, %a) : f16[32, 32]
    %w = Mul(%v, %a) : f16[32, 32]
    %r = MatMul(%w, %v) : f16[32, 32]
  }
  return %r
}
"""
write("graph.skir", GRAPH)
made = tap.skirc("compile", "--emit=skir", "graph.skir").stdout
HEAD = re.match(r".*\n  aic \{\n", made, re.S).group()
AIC = """    call @mat_mul args %m blocks 24
    arrive aic
    await aic
    set c2v
    wait v2c
    call @mat_mul args %r blocks 24
"""
AIV = """  }
  aiv {
    wait c2v
    call @add args %v blocks 48
    arrive aiv
    await aiv
    call @mul args %w blocks 48
    arrive aiv
    await aiv
    set v2c
  }
}
"""
CUBE_BARRIER = "    arrive aic\n    await aic\n"
VECTOR_BARRIER = "    arrive aiv\n    await aiv\n"

done = run(made)
tap.check("an entry that the compiler made has no race", done.returncode == 0
          and re.fullmatch(r"g: 4 ops in 1 launch, [\d.]+ ms \(first run\); race-free \(4 orders\)\n", done.stdout),
          done.stdout + done.stderr)
done = run(HEAD + AIC + AIV, "--compare=unfused")
tap.check("neither has one that is written by hand; the comparison is shown as well", done.returncode == 0
          and done.stdout.endswith("; bit-exact; race-free (4 orders)\n"), done.stdout + done.stderr)


def racing(claim, text, lines, undrained=False):
    """The module is refuted; unproven, it runs to its end, and its check reports exactly these lines
    behind the first two, however many threads there are."""
    done = run(text)
    tap.check(claim + ": is refuted", done.returncode == 1 and "[sync-" in done.stderr, done.stderr)
    write("run.skir", text)
    done = tap.skirc("run", "run.skir", "--unproven")
    tap.check(claim + ": runs without the check", done.returncode == 0, done.stderr)
    for threads in "1", "3":
        done = run(text, "--unproven", "--threads=" + threads)
        report = done.stderr.splitlines()
        tap.check(f"{claim}: is reported, {threads} threads", done.returncode == 1
                  and done.stdout == "" and report[0] == "skirc: race"
                  and report[1].startswith("race: ") and report[2].startswith("launch g_s: 24 AICs")
                  and report[3:] == lines, done.stdout + done.stderr)


MATMUL, ADD, MUL, LAST = "MatMul(%a, %b, %m)", "Add(%m, %a, %v)", "Mul(%v, %a, %w)", "MatMul(%w, %v, %r)"
racing("no barrier of the cube cores", HEAD + AIC.replace(CUBE_BARRIER, "    pipe_barrier\n", 1) + AIV,
       [f"  aiv 0..47: started {ADD} without knowing that {MATMUL} was complete on all cores, "
        "for example aiv 0 on aic 1..23"])
racing("no barrier between the vector ops", HEAD + AIC
       + AIV.replace(VECTOR_BARRIER, "    pipe_barrier\n", 1),
       [f"  aiv 0..47: started {MUL} without knowing that {ADD} was complete on all cores, "
        "for example aiv 0 on aiv 1..47"])
racing("no drain between the vector ops", HEAD + AIC + AIV.replace(VECTOR_BARRIER, "", 1),
       [f"  aiv 0..47: started {MUL} before {ADD} had drained there",
        f"  aiv 0..47: started {MUL} without knowing that {ADD} was complete on all cores, "
        "for example aiv 0 on aiv 1..47"])
racing("no flags", HEAD + AIC.replace("    set c2v\n", "").replace("    wait v2c\n", "")
       + AIV.replace("    wait c2v\n", "").replace("    set v2c\n", ""),
       [f"  aiv 0..47: started {ADD} without knowing that {MATMUL} was complete on aic 0..23",
        f"  aic 0..23: started {LAST} without knowing that {ADD} was complete on aiv 0..47",
        f"  aic 0..23: started {LAST} without knowing that {MUL} was complete on aiv 0..47"])

# ---- Several launches ----

TWO = GRAPH.replace("    %w = Mul", "  }\n  %x = Softmax(%v) : f16[32, 32]\n  scope @t {\n    %w = Mul") \
           .replace("Mul(%v, %a)", "Mul(%x, %a)")
write("two.skir", TWO)
two = tap.skirc("compile", "--emit=skir", "two.skir").stdout
done = run(two)
tap.check("orders within launches are counted, not those between them", done.returncode == 0
          and "in 3 launches" in done.stdout and "race-free (2 orders)" in done.stdout,
          done.stdout + done.stderr)
done = run(re.sub(r"    arrive ai.\n    await ai.\n", "    pipe_barrier\n", two), "--unproven")
tap.check("each launch that has races is reported", done.returncode == 1
          and done.stderr.count("race: 1 required order is not enforced\n") == 2
          and done.stderr.count("skirc: race\n") == 1, done.stderr)
done = run(GRAPH.replace("scope @s", "scope none"))
tap.check("without super kernels there is nothing to check", done.returncode == 0
          and "race-free (0 orders)" in done.stdout, done.stdout + done.stderr)

# ---- Other ends ----

done = run(HEAD + AIC.replace("    set c2v\n", "", 1) + AIV, "--unproven")
tap.check("a deadlock stays one", done.returncode == 1
          and done.stderr.startswith("skirc: deadlock\ndeadlock: "), done.stderr)
done = run(HEAD + AIC + AIV.replace("    set v2c\n", "    set v2c\n    set v2c\n"), "--unproven")
tap.check("a flag that is left set stays one", done.returncode == 1
          and done.stderr.startswith("skirc: flag left set\n"), done.stderr)
write("kept.npy", "kept")
done = run(HEAD + AIC.replace(CUBE_BARRIER, "    pipe_barrier\n", 1) + AIV, "--unproven",
           "-or=kept.npy")
with open("kept.npy") as file:
    tap.check("a race leaves outputs as they were", done.returncode == 1 and file.read() == "kept")

calls = re.findall(r"    call @\S+ args %\w+ blocks \d+\n", AIV)
SWAPPED = AIV.replace(calls[0], "X").replace(calls[1], calls[0]).replace("X", calls[1])
racing("calls in the wrong order", HEAD + AIC + SWAPPED,
       [f"  aiv 0..47: started {MUL} without knowing that {ADD} was complete on aiv 0..47"])
done = run(HEAD + AIC + AIV.replace(calls[1], calls[0]), "--unproven")
tap.check("an entry that calls an op twice is refused, proven or not", done.returncode == 1
          and "does not call the op Mul %w on aiv [entry-calls]" in done.stderr
          and "the op Add %v is called twice [entry-calls]" in done.stderr, done.stderr)

# ---- Calls in another order, in two lists ----

FREE = """skir 1
graph @g(%a: f16[32, 32], %b: f16[32, 32]) -> (f16[32, 32], f16[32, 32]) {
  scope @s {options = "stream-fusion=1"} {
    %m = MatMul(%a, %b) : f16[32, 32]
    %v = Add(%m, %a) : f16[32, 32]
    stream "1" {
      %w = Mul(%b, %a) : f16[32, 32]
      %r = MatMul(%w, %b) : f16[32, 32]
      %t = Add(%r, %w) : f16[32, 32]
    }
  }
  return %v, %t
}
"""
write("free.skir", FREE)
free = tap.skirc("compile", "--emit=skir", "free.skir").stdout
heads = re.fullmatch(r"(.*\n  aic \{\n).*?(  \}\n  aiv \{\n).*?(  \}\n\}\n)", free, re.S).groups()


def programs(aic, aiv):
    """The entry with these programs; calls by the names of their ops."""
    return heads[0] + aic + heads[1] + aiv + heads[2]


def calls_of(names):
    kernels = {"m": "mat_mul", "r": "mat_mul", "v": "add", "t": "add", "w": "mul"}
    return [f"    call @{kernels[n]} args %{n} blocks {24 if n in 'mr' else 48}\n" for n in names]


R, M = calls_of("rm")
W, T, V = calls_of("wtv")
byhand = programs("    wait v2c\n" + R + CUBE_BARRIER + "    set c2v\n" + M + CUBE_BARRIER + "    set c2v\n",
                  W + VECTOR_BARRIER + "    set v2c\n    wait c2v\n" + T
                  + "    wait c2v\n    pipe_barrier\n" + V)
for claim, text in (("a legal order of calls, synchronised by hand", byhand),
                    ("the same, synchronised by the passes", programs(R + M, W + T + V)),
                    ("another one", programs(R + M, W + V + T)),
                    ("with records and barriers", programs(R + M, W + T + V).replace(
                        "stream-fusion=1", "stream-fusion=1:debug-sync-all=1:profiling=1"))):
    done = run(text, "--compare=unfused")
    tap.check(claim + ": bit-exact and race-free", done.returncode == 0
              and "; bit-exact; race-free (4 orders)" in done.stdout, done.stdout + done.stderr)
done = run(programs(R + M, V + T + W))
tap.check("an order that the graph does not allow is refused", done.returncode == 1
          and "cannot call its ops in this order" in done.stderr and "[entry-calls]" in done.stderr,
          done.stderr)
write("byhand.skir", byhand)
for command, *options in (("check", "--explain"), ("compile", "-obyhand.o"), ("compile", "--emit=c"),
                          ("export", "--format=json"), ("export", "--format=dot")):
    done = tap.skirc(command, *options, "byhand.skir")
    tap.check(f"{command} {options[-1]} takes calls in another order", done.returncode == 0, done.stderr)
write("byhand.skir", byhand.replace("stream-fusion=1", "stream-fusion=1:profiling=1"))
done = tap.skirc("run", "byhand.skir", "--profile=trace.json")
with open("trace.json") as file:
    seen = re.findall(r'"name": ?"([A-Z]\w+)[^"]*"', file.read())
tap.check("records are those of the ops that were called", done.returncode == 0
          and {"MatMul", "Add", "Mul"} <= set(seen), f"{done.stderr}{set(seen)}")

tap.done()
