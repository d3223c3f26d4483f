"""Objects of graphs with gears: the table that finds a combination by its shape, what it launches, and
the same bits as graphs that are compiled by themselves."""

import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

EXAMPLES = os.path.join(tap.SOURCE, "docs", "examples")
CC = os.environ.get("CC", "cc").split() or ["cc"]
RUNTIME = os.path.join(tap.SOURCE, "backend", "runtime")
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def example(name):
    return os.path.join(EXAMPLES, name + ".skir")


# ---- Static graphs ----

DIMS = {"gears": ({"b": 4, "c": 4}, "x=4,2"), "decoder_gears": ({"b": 2, "s": 32}, "x=2,32,64")}
for name, (values, shape) in DIMS.items():
    with open(example(name)) as file:
        text = re.sub(r" gears \w+ \([^)]*\)", "", file.read())
    text = re.sub(r"\[([^\]\n%]*)\]", lambda dims: "[" + re.sub(
        r"[bcs](\*[bcs])*(?=[,\] ]|$)",
        lambda product: str(eval(product.group(), dict(values))), dims.group(1)) + "]", text)
    write("static.skir", text)
    ran = tap.skirc("run", example(name), "--shape", shape, "--compare=static.skir")
    tap.check(f"{name}: as the static graph, bit for bit",
              ran.returncode == 0 and "bit-exact" in ran.stdout, ran.stdout + ran.stderr + text)

# ---- Tables ----

# A combination with room for a shape: (4, 6) has fewer elements than (6, 4), the long rows of %y count.
ROOM = """
graph @room(%x: f32[b, 8], %y: f32[c, 100]) gears zip (b = [2, 6, 4, 8], c = [2, 4, 6, 8]) -> f32[b, 8] {
  %z = Add(%x, %x) : f32[b, 8]
  return %z
}
"""
ROOMS = [((2, 2), (2, 2)), ((1, 1), (2, 2)), ((3, 2), (6, 4)), ((2, 5), (4, 6)), ((5, 5), (8, 8)),
         ((8, 8), (8, 8)), ((9, 2), None), ((2, 9), None)]


def many(count):
    """A graph with so many combinations of two gears."""
    values = list(range(2, 2 + count))
    return f"""skir 1
graph @many(%x: f32[b, 8], %y: f32[2*c + 1]) gears zip (b = {values}, c = {values[::-1]}) -> f32[b, 8] {{
  scope @s {{
    %z = Add(%x, %x) : f32[b, 8]
    %w = Mul(%z, %x) : f32[b, 8]
  }}
  return %w
}}
"""


SOURCE = """#include "skrt.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

extern const struct skrt_gears many, room;

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void print_room(int64_t a, int64_t b)
{
    int64_t shape[] = {a, b};
    const struct skrt_gear_case *found = skrt_gears_fit(&room, shape);
    if (found)
        printf("%d, %d fit %d, %d of %d\\n", (int)a, (int)b, (int)found->shape[0],
               (int)found->shape[1], (int)found->elements);
    else
        printf("%d, %d fit none\\n", (int)a, (int)b);
}

int main(void)
{
    char text[200];
    int64_t shape[3];
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < many.n_cases; i++) {
        const struct skrt_gear_case *found = skrt_gears_find(&many, many.cases[i].shape);
        memcpy(shape, many.cases[i].shape, sizeof(int64_t) * many.n_dims);
        shape[1] += 2;
        wrong += found != &many.cases[i] || found->n_launches != 1 || !found->launches[0].entry ||
                 skrt_gears_find(&many, shape) != NULL;
    }
    shape[0] = 1, shape[1] = 7;
    skrt_gears_misfit(&many, shape, text, sizeof text);
    printf("%u dims, %u cases, %u wrong\\n%s\\n", many.n_dims, many.n_cases, wrong, text);
    shape[0] = many.cases[0].shape[0], shape[1] = many.cases[1].shape[1];
    skrt_gears_misfit(&many, shape, text, sizeof text);
    printf("%s\\n", text);
    const struct skrt_gear_launch *launch = many.cases[0].launches;
    printf("%s: %u blocks of %u and %u, %u params\\n", launch->name, launch->blocks, launch->aics,
           launch->aivs, launch->n_params);
    double begin = now();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 1000000; i++)
        sum += skrt_gears_find(&many, many.cases[i % many.n_cases].shape)->n_launches;
    fprintf(stderr, "%.1f ns\\n", (now() - begin) / (double)sum);
    ROOMS
    return 0;
}
"""
write("main.c", SOURCE.replace("ROOMS", " ".join(
    f"print_room({a}, {b});" for (a, b), _ in ROOMS)))
FLAGS = ["-std=gnu11", "-O1", "-w", *("-I" + os.path.join(tap.SOURCE, folder)
                                      for folder in ("", "ir/core", "backend/runtime"))]
subprocess.run([*CC, *FLAGS, "-c", *glob.glob(os.path.join(RUNTIME, "*.c"))], check=True)
objects = glob.glob("*.o")
sizes = {}
for count in 2, 10, 100:
    write("many.skir", many(count) + ROOM)
    compiled = tap.skirc("compile", "many.skir", "-o", "many.o")
    sizes[count] = os.path.getsize("many.o") if compiled.returncode == 0 else 0
    built = subprocess.run([*CC, *FLAGS, "main.c", "many.o", *objects, "-lm", "-lpthread", "-o",
                            "main"], capture_output=True, text=True)
    ran = subprocess.run(["./main"], capture_output=True, text=True) if built.returncode == 0 \
        else built
    expected = (f"2 dims, {count} cases, 0 wrong\n"
                "dimension 0 of 'x' is 1, but the gears of 'many' make it 2, 3")
    together = "no combination of gears of 'many' has all of these dimensions\n"
    tap.check(f"{count} combinations are found, and nothing else is", compiled.returncode == 0 and
              ran.returncode == 0 and ran.stdout.startswith(expected) and together in ran.stdout and
              re.search(r"^many_b2_c\d+_s: 48 blocks of 0 and 1, 9 params$", ran.stdout, re.M),
              compiled.stderr + ran.stdout + ran.stderr)
    rooms = "".join(f"{a}, {b} fit " + (f"{to[0]}, {to[1]} of {8 * to[0] + 100 * to[1]}\n"
                                        if to else "none\n") for (a, b), to in ROOMS)
    tap.check(f"{count} combinations: the next larger one of another graph has the fewest elements",
              ran.stdout.endswith(rooms), ran.stdout + rooms)
    print(f"# {count} combinations: {sizes[count]} bytes, {ran.stderr.strip()} a look-up")
for values, status, text in ((("b=2", "b=4"), 2, "--bind gives 'b' twice, as 2 and 4"),
                             (("b=2", "b=2"), 0, "")):
    options = [word for value in values for word in ("--bind", value)]
    ran = tap.skirc("compile", example("decoder_gears"), "-o", "bound.o", *options)
    tap.check(f"--bind {' and '.join(values)}", ran.returncode == status and text in ran.stderr,
              ran.stderr)

tap.check("entries that are equal share their code", sizes[100] < sizes[2] + 100 * 1000, sizes)

tap.done()
