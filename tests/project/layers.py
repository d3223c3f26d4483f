"""Who uses whom: includes of sources and symbols of objects against tests/layers.txt, and no circle
of object files within a layer. An offence is named with the include or the symbols that make it."""

import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

FOLDERS = ("ir", "passes", "backend", "frontend")
SOURCES = (".c", ".h", ".y", ".re", ".def")
GENERATED = ("ir/syntax/lexer.c", "ir/syntax/grammar.c", "ir/syntax/grammar.h")  # in releases
NM = shlex.split(os.environ.get("NM", "nm"))


def read_layers(path):
    """Rows in order: layer -> layers that it may use."""
    layers, several, wrong = {}, {}, []
    for line in open(path):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("@"):
            name, meant = line.split(" = ")
            several[name] = meant
            continue
        for name, meant in several.items():
            line = line.replace(name, meant)
        layer, uses = line.split(":")
        wrong += [f"{layer}: {use} is not above it" for use in uses.split()
                  if use not in layers and not is_table(use)]
        layers[layer] = uses.split()
    return layers, wrong


def is_table(stem):
    return os.path.isfile(os.path.join(tap.SOURCE, stem + ".def"))


def walk(root, endings):
    for folder in FOLDERS:
        for directory, subfolders, files in os.walk(os.path.join(root, folder)):
            subfolders[:] = [name for name in subfolders if name != ".libs"]
            for name in files:
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(directory, name), root)


def layer_of(path, layers):
    """The layer that is the file itself, with or without its ending, or else the nearest folder."""
    stem = path if path in layers else os.path.splitext(path)[0]
    while stem and stem not in layers:
        stem = os.path.dirname(stem)
    return stem


def may_use(user, used, layers):
    """Files; a table may be named on its own."""
    allowed = layers[layer_of(user, layers)] + [layer_of(user, layers)]
    return layer_of(used, layers) in allowed or os.path.splitext(used)[0] in allowed


# ---- includes ----


def includes(path):
    text = open(os.path.join(tap.SOURCE, path), encoding="utf-8").read()
    return re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M)


def check_includes(layers):
    sources = sorted(set(walk(tap.SOURCE, SOURCES)) - set(GENERATED))
    wrong, relative = [], []
    homeless = [path for path in sources if not layer_of(path, layers)]
    tap.check("every source is in a layer", not homeless and len(sources) > 100,
              "\n".join(homeless))
    for path in sources:
        for name in includes(path):
            if name == "config.h" or name == "dtypes.def":  # generated; beside the installed skrt.h
                continue
            if not name.startswith(FOLDERS):
                relative.append(f"{path} includes {name}")
            elif not may_use(path, name, layers):
                wrong.append(f"{path} includes {name}")
    tap.check("includes name whole paths from the root", not relative, "\n".join(relative))
    tap.check("includes go where tests/layers.txt allows", not wrong, "\n".join(wrong))


# ---- symbols ----


def source_of(obj):
    """The source that an object of the build folder was made of, or None: it may be gone."""
    folder, name = os.path.split(obj)
    stem = re.sub(r"^lib\w+?_l?a-", "", os.path.splitext(name)[0])
    for ending in (".c", ".y", ".re"):
        path = os.path.join(folder, stem + ending)
        if os.path.exists(os.path.join(tap.SOURCE, path)):
            return path
    return None


def find_objects(build):
    """By source, its newest object: others may be left over from another way of building it."""
    def age(obj):
        return os.path.getmtime(os.path.join(build, obj))
    objects = {source_of(obj): obj for obj in sorted(walk(build, (".o",)), key=age)}
    return {source: obj for source, obj in objects.items()
            if source is not None and not is_sample_kernel(source)}


def read_symbols(build):
    """By source: the external symbols that its object defines, and those that it uses."""
    defines, uses = {}, {}
    for source, obj in find_objects(build).items():
        defines[source], uses[source] = set(), set()
        lines = subprocess.run([*NM, "-g", os.path.join(build, obj)],
                               capture_output=True, text=True, check=True).stdout
        for line in lines.splitlines():
            kind, symbol = line.split()[-2:]
            (uses if kind == "U" else defines)[source].add(symbol)
    return defines, uses


def is_sample_kernel(source):
    """Sample kernels are objects of their own, which are linked into nothing here."""
    return os.path.exists(os.path.join(tap.SOURCE, os.path.splitext(source)[0] + ".json"))


def find_edges(defines, uses):
    """user -> used -> symbols"""
    owner = {symbol: source for source, symbols in defines.items() for symbol in symbols}
    edges = {source: {} for source in uses}
    for source, symbols in uses.items():
        for symbol in symbols:
            if owner.get(symbol, source) != source:
                edges[source].setdefault(owner[symbol], set()).add(symbol)
    return edges


def find_circles(edges):
    """Groups of files each of which reaches the others: Tarjan's strongly connected components."""
    index, low, stack, on_stack, circles = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for used in edges[node]:
            if used not in index:
                visit(used)
                low[node] = min(low[node], low[used])
            elif used in on_stack:
                low[node] = min(low[node], index[used])
        if low[node] == index[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
                on_stack.discard(group[-1])
            if len(group) > 1:
                circles.append(sorted(group))

    sys.setrecursionlimit(10000)
    for node in edges:
        if node not in index:
            visit(node)
    return circles


def list_edges(edges, among=None):
    return [f"{user} uses {used}: {', '.join(sorted(symbols))}"
            for user, by_used in sorted(edges.items()) for used, symbols in sorted(by_used.items())
            if among is None or (user in among and used in among)]


def check_symbols(layers):
    build = os.path.dirname(os.path.abspath(tap.SKIRC))
    edges = find_edges(*read_symbols(build))
    tap.check("objects of all layers are there", len(edges) > 100, f"{len(edges)} in {build}")
    wrong = {user: {used: symbols for used, symbols in by_used.items()
                    if not may_use(user, used, layers)} for user, by_used in edges.items()}
    tap.check("symbols are used where tests/layers.txt allows", not any(wrong.values()),
              "\n".join(list_edges(wrong)))
    circles = find_circles(edges)
    tap.check("no object files use one another in a circle", not circles,
              "\n".join(line for circle in circles for line in list_edges(edges, circle)))


LAYERS, misplaced = read_layers(os.path.join(tap.SOURCE, "tests", "layers.txt"))
tap.check("rows of tests/layers.txt name only layers above them", not misplaced,
          "\n".join(misplaced))
check_includes(LAYERS)
check_symbols(LAYERS)
tap.done()
