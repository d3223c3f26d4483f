"""Launches by the tables of gears, as a host does it: each combination of a compiled object is found by
its shape, launched with what the table says, and gives the bits of the static graph that somebody would
have written, which is compiled by itself."""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

CC = os.environ.get("CC", "cc").split() or ["cc"]
RUNTIME = os.path.join(tap.SOURCE, "backend", "runtime")
FLAGS = ["-std=gnu11", "-O1", "-w", *("-I" + os.path.join(tap.SOURCE, folder)
                                      for folder in ("", "ir/core", "backend/runtime"))]
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4}
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


# ---- What a host knows of a graph: its ops, and the slots of its super kernel ----

class Host:
    """C that launches one combination: buffers, the descriptions of tensors, parameters."""

    def __init__(self, module, graph):
        self.graph = graph
        self.entry = next(e for e in module["entries"] if e["name"].startswith(graph["name"] + "_"))
        self.names = {value["name"]: i for i, value in enumerate(graph["values"])}
        self.places = list(range(len(graph["values"])))
        for op in graph["ops"]:
            if op["type"] == "Reshape":  # a view
                self.places[op["results"][0]] = self.places[op["operands"][0]]
        self.lines = []

    def buffer(self, name):
        return f"(uint64_t)buffer[{self.places[self.names[name]]}]"

    def size(self, name):
        shape = self.graph["values"][self.names[name]]["type"]
        size = BYTES[shape["dtype"]]
        for dim in shape["dims"]:
            size *= dim
        return size

    def tensor(self, name, form="SKRT_TENSOR", more=""):
        shape = self.graph["values"][self.names[name]]["type"]
        dims = ", ".join(map(str, shape["dims"]))
        return f"{{SKRT_{shape['dtype']}, SKRT_ND, {len(shape['dims'])}, {form}, {{{dims}}}{more}}}"

    def attrs(self, op):
        for key, value in op["attrs"].items():
            if isinstance(value, (int, float)):
                yield f'{{"{key}", {int(value)}, {float(value)!r}, NULL, NULL, 0}}'

    def slot(self, arg, group):
        """The parameter of one argument; lines that it needs stand before."""
        if "value" in arg:
            return self.buffer(arg["value"])
        if "list" in arg:
            shapes, name = [], f"list{len(self.lines)}"
            for i, value in enumerate(arg["list"]):
                dims = self.graph["values"][self.names[value]]["type"]["dims"]
                shapes += [f"{len(dims)} | {i}ull << 32", *map(str, dims)]
            words = [str(8 * (1 + len(shapes))), *shapes, *map(self.buffer, arg["list"])]
            self.lines.append(f"    uint64_t {name}[] = {{{', '.join(words)}}};")
            return f"(uint64_t){name}"
        if "send" in arg or "recv" in arg:
            return f"(uint64_t)&event_{arg.get('send') or arg['recv']}"
        return "(uint64_t)&" + self.tiling(group) if arg.get("word") == "tiling" else "0"

    def tiling(self, group):
        tensors, name = [], f"tiling{len(self.lines)}"
        op = next(op for op in self.graph["ops"]
                  if self.names[group["name"]["value"]] in op["results"])
        for arg in group["args"]:
            if "value" in arg:
                tensors.append(self.tensor(arg["value"]))
            elif "list" in arg:
                of = ", ".join(map(self.tensor, arg["list"]))
                self.lines.append(f"    struct skrt_tensor of{len(self.lines)}[] = {{{of}}};")
                tensors.append(f"{{.form = SKRT_LIST, .count = {len(arg['list'])}, "
                               f".list = of{len(self.lines) - 1}}}")
            elif "none" in arg:
                tensors.append("{.form = SKRT_ABSENT}")
        attrs = list(self.attrs(op))
        self.lines += [f"    struct skrt_tensor tensors_{name}[] = {{{', '.join(tensors)}}};",
                       f"    struct skrt_attr attrs_{name}[] = {{{', '.join(attrs) or '{{0}}'}}};",
                       f"    struct skrt_tiling {name} = {{{len(tensors)}, {len(attrs)}, "
                       f"tensors_{name}, attrs_{name}}};"]
        return name

    def function(self, number):
        slots = ["0"] + [self.slot(arg, group) for group in self.entry["groups"]
                         for arg in group["args"]]
        names = [value["name"] for value in self.graph["values"]]
        events = sorted({arg.get("send") or arg.get("recv") for group in self.entry["groups"]
                         for arg in group["args"] if "send" in arg or "recv" in arg})
        params = [names[p["value"]] for p in self.graph["params"]]
        results = [names[value] for value in self.graph["returns"]]
        return "\n".join([
            f"static int run{number}(const struct skrt_gear_case *found)", "{",
            *(f"    uint64_t event_{event} = 0;" for event in events),
            f"    unsigned char *buffer[{len(names)}];",
            *(f"    buffer[{i}] = aligned_alloc(64, {(self.size(name) + 63) // 64 * 64});"
              for i, name in enumerate(names)),
            *(f'    load("{name}.npy", buffer[{self.places[self.names[name]]}], {self.size(name)});'
              for name in params),
            *self.lines,
            f"    uint64_t params[] = {{{', '.join(slots)}}};",
            "    int status = launch(found, params, sizeof params / sizeof *params);",
            *(f'    save("{name}.raw", buffer[{self.places[self.names[name]]}], {self.size(name)});'
              for name in results),
            "    return status;", "}", ""])


COMMON = """#include "skrt.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void load(const char *path, void *data, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, -(long)size, SEEK_END) || fread(data, 1, size, file) != size)
        perror(path);
}

static void save(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    fwrite(data, 1, size, file);
    fclose(file);
}

static int launch(const struct skrt_gear_case *found, uint64_t *params, size_t n_params)
{
    struct skrt_device_config config = {.aic = 24, .aiv = 48};
    struct skrt_device *device = skrt_device_open(&config);
    const struct skrt_gear_launch *from = found->launches;
    struct skrt_launch launch = {.name = from->name, .entry = from->entry, .blocks = from->blocks,
                                 .aics = from->aics, .aivs = from->aivs, .params = params,
                                 .n_params = from->n_params};
    struct skrt_result result;
    if (found->n_launches != 1 || from->n_params != n_params || from->workspace)
        return 3;
    return skrt_launch(device, &launch, &result) == SKRT_OK ? 0 : 4;
}

"""


def host_source(module, table):
    rows = table["gears"]["cases"]
    graphs = {graph["name"]: graph for graph in module["graphs"]}
    cases = [graphs[row["graph"]] for row in rows]
    return COMMON + "\n".join(Host(module, graph).function(i) for i, graph in enumerate(cases)) + f"""
extern const struct skrt_gears {table["name"]};

int main(int argc, char **argv)
{{
    static const char *const graphs[] = {{{", ".join(f'"{row["graph"]}"' for row in rows)}}};
    static int (*const runs[])(const struct skrt_gear_case *) = {{
        {", ".join(f"run{i}" for i in range(len(rows)))}}};
    int64_t shape[16];
    for (int i = 1; i < argc; i++)
        shape[i - 1] = atoll(argv[i]);
    const struct skrt_gear_case *found = skrt_gears_find(&{table["name"]}, shape);
    for (unsigned i = 0; found && i < {len(rows)}; i++)
        if (strcmp(found->graph, graphs[i]) == 0)
            return runs[i](found);
    return 2;
}}
"""


# ---- Static graphs ----

def static_text(text, values):
    """The graph with numbers in the place of names, as somebody would have written it."""
    text = re.sub(r" gears \w+ \([^)]*\)", "", text)
    return re.sub(r"\[([^\]\n%]*)\]", lambda dims: "[" + re.sub(
        r"\b[a-z](\*[a-z])*(?=[,\] ]|$)",
        lambda product: str(eval(product.group(), dict(values))), dims.group(1)) + "]", text)


def check_dispatch(claim, text, expected):
    """Each of the expected combinations, {gear: value}, by the table and by itself."""
    write("gears.skir", text)
    compiled = tap.skirc("compile", "gears.skir", "-o", "table.o")
    lowered = tap.skirc("compile", "--emit=skir", "gears.skir", "-o", "lowered.skir")
    exported = tap.skirc("export", "--format=json", "lowered.skir")
    if not tap.check(f"{claim}: it compiles", exported.returncode == 0,
                     compiled.stderr + lowered.stderr + exported.stderr):
        return
    module = json.loads(exported.stdout)
    table = next(graph for graph in module["graphs"] if graph["gears"])
    gears = list(table["gears"]["dims"])
    found = [dict(zip(gears, row["values"])) for row in table["gears"]["cases"]]
    tap.check(f"{claim}: these combinations, and no others", found == expected, found)
    write("host.c", host_source(module, table))
    built = subprocess.run([*CC, *FLAGS, "host.c", "table.o", *RUNTIME_OBJECTS, "-lm", "-lpthread",
                            "-o", "host"], capture_output=True, text=True)
    if not tap.check(f"{claim}: a host links it", built.returncode == 0, built.stderr):
        return
    names = [value["name"] for value in table["values"]]
    dims = [dim for param in table["params"]
            for dim in table["values"][param["value"]]["type"]["dims"] if isinstance(dim, str)]
    results = None
    for row, values in zip(table["gears"]["cases"], found):
        graph = next(graph for graph in module["graphs"] if graph["name"] == row["graph"])
        results = [graph["values"][value]["name"] for value in graph["returns"]]
        write("static.skir", static_text(text, values))
        ran = tap.skirc("run", "static.skir", "--repeat=0", "--seed=7",
                        *(f"-o{name}={name}.npy" for name in [*names[:len(table["params"])], *results]))
        launched = subprocess.run(["./host", *(str(eval(dim, dict(values))) for dim in dims)],
                                  capture_output=True, text=True)
        same = ran.returncode == 0 and launched.returncode == 0 and all(
            same_bits(name) for name in results)
        tap.check(f"{claim}: {values} by the table gives the bits of the static graph", same,
                  ran.stdout + ran.stderr + launched.stderr + str(launched.returncode))
    launched = subprocess.run(["./host", *("3" for _ in dims)], capture_output=True)
    tap.check(f"{claim}: a shape between is not found", launched.returncode == 2,
              launched.returncode)


def same_bits(name):
    with open(name + ".raw", "rb") as file:
        found = file.read()
    with open(name + ".npy", "rb") as file:
        return len(found) > 0 and file.read()[-len(found):] == found


subprocess.run([*CC, *FLAGS, "-c", *glob.glob(os.path.join(RUNTIME, "*.c"))], check=True)
RUNTIME_OBJECTS = glob.glob("*.o")

# TorchAir's own example: two inputs, each (2, 2) and (4, 2). Added, two of the four that 'product'
# tries contradict; used apart, all are right.
ADDED = """skir 1
graph @added(%x: f32[b, 2], %y: f32[c, 2]) gears POLICY (b = [2, 4], c = [2, 4]) -> f32[b, 2] {
  scope @s {
    %sum = Add(%x, %y) : f32[b, 2]
    %sq = Mul(%sum, %x) : f32[b, 2]
  }
  return %sq
}
"""
APART = """skir 1
graph @apart(%x: f32[b, 2], %y: f32[c, 2]) gears POLICY (b = [2, 4], c = [2, 4]) -> (f32[b, 2], f32[c, 2]) {
  scope @s {
    %u = Mul(%x, %x) : f32[b, 2]
    %v = Softmax(%y) : f32[c, 2]
    %w = Adds(%v) {value = 2.5} : f32[c, 2]
  }
  return %u, %w
}
"""
EQUAL = [{"b": 2, "c": 2}, {"b": 4, "c": 4}]
ALL = [{"b": b, "c": c} for b in (2, 4) for c in (2, 4)]
for graph, policy, expected in ((ADDED, "zip", EQUAL), (ADDED, "product", EQUAL),
                                (APART, "zip", EQUAL), (APART, "product", ALL)):
    name = re.search(r"@(\w+)", graph).group(1)
    check_dispatch(f"TorchAir's example, {name}, {policy}", graph.replace("POLICY", policy), expected)
with open(os.path.join(tap.SOURCE, "docs", "examples", "decoder_gears.skir")) as file:
    check_dispatch("a layer of a decoder", file.read(),
                   [{"b": b, "s": s} for b in (2, 4) for s in (16, 32)])

tap.done()
