"""skirc check --launches: the account of a program's launches, and whether they can hang."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

SCRATCH = tempfile.mkdtemp()


def write(name, text):
    path = os.path.join(SCRATCH, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


# ---- More states than are tried ----

KERNELS = """skir 1

kernel @mix : mix_aic_1_1 {
  block = 13,
  sync_all
}

kernel @vec : aiv_only {
  block = 13,
  sync_all
}

graph @g(%a: f32[16]) -> () {
"""
program = KERNELS + "".join(f"  %m{i} = Mine(%a) : f32[16] via @mix\n" for i in range(600)) \
    + '  stream "1" {\n' \
    + "".join(f"    %v{i} = Mine(%a) : f32[16] via @vec\n" for i in range(600)) + "  }\n}\n"
done = tap.skirc("opt", "--passes=limit-residency..verify-launches", "-o", "/dev/null",
                 write("tangle.skir", program))
tap.check("a program with more states than are tried is refused", done.returncode == 1
          and "[launches-unknown]" in done.stderr, done.stderr)
ways = re.search(r"more than (\d+) ways", done.stderr)
tap.check("with as many ways as were tried", ways and int(ways.group(1)) == 1 << 18,
          done.stderr[-600:])
done = tap.skirc("check", "--launches", write("tangle.skir", program))
tap.check("and the account says so", "not known: " in done.stdout, done.stdout[-300:])


def scope_ring(count):
    """Scopes of one core on streams of their own, each of which needs a part of the one before."""
    first = "".join(f'  stream "{i}" {{ scope @s{i} {{ %p{i} = Add(%a, %a) : f16[8] via @k }} }}\n'
                    for i in range(count))
    last = "".join(f'  stream "{i}" {{ scope @s{i} {{ %q{i} = Add(%p{(i - 1) % count}, %a) : f16[8]'
                   " via @k } }\n" for i in range(count))
    return ('skir 1\ntarget "t" {aic = 1, aiv = 2}\n'
            'kernel @k : aiv_only {op = "Add", block = 1, stub}\n'
            "graph @g(%a: f16[8]) -> f16[8] {\n" + first + last + "  return %q0\n}\n")


done = tap.skirc("check", "--explain", write("ring.skir", scope_ring(50)))
tap.check("a ring of many streams is changed until nothing hangs", done.returncode == 0
          and done.stdout.count("[launch-waits]") > 0, done.stderr[-600:])

# ---- The account ----

GOLDEN = os.path.join(tap.SOURCE, "tests", "golden", "launches")


def check_account(claim, name, lines, status=0):
    path = os.path.join(GOLDEN, name + ".skir")
    done = tap.skirc("check", "--launches", path)
    tap.check(claim, done.stdout.splitlines() == [path + ":"] + lines and done.returncode == status,
              done.stdout + done.stderr)


check_account("the account: launches, what was changed, and the verdict", "wait_inside", [
    "  changed: line 19: '@g_t' waits as a whole for what MatMul %y waits for: waiting here for "
    "'n' it would keep the cores that '@g_s' lacks",
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@g_s' on the default stream, cube, 24 AICs at once; sends n in the middle",
    "    1: '@g_t' on stream \"1\", cube, 24 AICs at once; waits for n before it starts",
    "    nothing hangs (2 states tried)"])
check_account("waits in the middle, where they can stay", "wait_inside_fits", [
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@g_s' on the default stream, cube, 12 AICs at once; sends n in the middle",
    "    1: '@g_t' on stream \"1\", cube, 12 AICs at once; waits for n in the middle",
    "    nothing hangs (1 state tried)"])
check_account("graphs that are called have accounts of their own", "called_fits", [
    "  '@inner': 1 launch on 1 stream, with 24 AICs and 48 AIVs",
    "    0: '@inside' on the default stream, cube, 4 AICs at once",
    "    nothing hangs (1 state tried)",
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@first' on the default stream, cube, 20 AICs at once",
    "    1: If %x on stream \"1\", cube, 4 AICs at once",
    "    nothing hangs (1 state tried)"])
check_account("what is mixed, in turn, or sent at the end", "groups_fit", [
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@mixed' on the default stream, mix 1:2, 1 AIC and 2 AIVs; sends mixed at its end",
    "    1: '@vector' on stream \"1\", vector, 23 AIVs at once; waits for mixed in the middle",
    "    nothing hangs (1 state tried)"])
check_account("the state found, where something hangs", "halves", [
    "  '@g': 2 launches on 2 streams, with 24 AICs and 48 AIVs",
    "    0: '@first' on the default stream, cube, 24 AICs at once",
    "    1: '@second' on stream \"1\", cube, 24 AICs at once",
    "    can hang (1 state tried):",
    "      '@first' on the default stream has 23 of 24 AICs, keeps them, and lacks the others",
    "      '@second' on stream \"1\" has 1 of 24 AICs, keeps them, and lacks the others"], 1)

done = tap.skirc("check", "--explain", os.path.join(GOLDEN, "wait_inside.skir"))
tap.check("the account of scopes says what waits as a whole, where kernels are known",
          "line 19: '@g_t' waits as a whole" in done.stdout and done.returncode == 0,
          done.stdout + done.stderr)
done = tap.skirc("check", "--launches", "--remarks",
                 os.path.join(tap.SOURCE, "docs", "examples", "multi_stream.skir"))
tap.check("remarks stand with the diagnostics, where they are asked for",
          "[fused]" in done.stderr and "nothing hangs" in done.stdout, done.stdout + done.stderr)
done = tap.skirc("check", "--launches", write("wrong.skir", "skir 1\ngraph @g() -> () {\n"
                                              "  %a = Unknown() : f32[1]\n}\n"))
tap.check("what cannot be lowered has no account",
          done.returncode == 1 and not done.stdout and "[unknown-op-type]" in done.stderr,
          done.stdout + done.stderr)

tap.done()
