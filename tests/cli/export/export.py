"""skirc export: what each format says is held against the module, on all examples and goldens."""

import collections
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from tap import write

try:
    import jsonschema
except ImportError:
    jsonschema = None

scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)


def skirc(*arguments, stdin=b""):
    """Runs skirc with bytes; bytes that are no UTF-8 are surrogates in the texts."""
    done = subprocess.run([tap.SKIRC, *arguments], input=stdin, capture_output=True, timeout=60)
    done.stdout = done.stdout.decode("utf-8", "surrogateescape")
    done.stderr = done.stderr.decode("utf-8", "surrogateescape")
    return done


def export(format, name):
    done = skirc("export", "--format=" + format, name)
    if done.returncode:
        raise ValueError(f"{format} of {name}: status {done.returncode}: {done.stderr}")
    return done.stdout


def export_all(format, names):
    """By name, what is exported of files; nothing of those that cannot be. One command takes a folder."""
    texts, folders = {}, collections.defaultdict(list)
    for name in names:
        folders[os.path.dirname(name)].append(name)
    for group in folders.values():
        folder = tempfile.mkdtemp(dir=".")
        skirc("export", "--format=" + format, "-o", folder, *group)
        for name in group:
            path = os.path.join(folder, os.path.basename(name)[:-5] + "." + format)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                    texts[name] = file.read()
        shutil.rmtree(folder)
    return texts


# ---- The spelling of .skir ----

ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def quoted(name):
    return '"' + "".join(ESCAPES.get(c, f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c)
                         for c in name) + '"'


def word(name):
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.A) and name not in ("inf", "nan")
    return name if plain else quoted(name)


def sigil(sign, name):
    return sign + (name if re.fullmatch(r"[A-Za-z0-9_.$]+", name, re.A) else quoted(name))


def value_name(graph, index):
    return sigil("%", graph["values"][index]["name"])


def value_names(graph, indices):
    return ", ".join(value_name(graph, index) for index in indices)


def spell_dim(dim):
    if dim is None:
        return "?"
    return str(dim)


def spell_type(type):
    if type == "token":
        return type
    dims = ".." if type["dims"] is None else ", ".join(map(spell_dim, type["dims"]))
    return f"{type['dtype'] or '?'}[{dims}]" + (":" + type["format"] if type["format"] != "ND" else "")


def value_type(graph, index):
    return spell_type(graph["values"][index]["type"])


def spell_data(data):
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, (int, float)):
        return repr(data)
    if isinstance(data, str):
        return quoted(data)
    if isinstance(data, list):
        return "[" + ", ".join(map(spell_data, data)) + "]"
    (tag, inner), = data.items()
    return {"int": str, "float": str, "word": word, "symbol": lambda name: sigil("@", name),
            "value": lambda name: sigil("%", name), "type": spell_type,
            "dict": spell_dict, "list": "[]:{}".format}[tag](inner)


def spell_dict(attrs):
    return "{" + ", ".join(f"{word(key)} = {spell_data(data)}" for key, data in attrs.items()) + "}"


def spell_attrs(attrs):
    return " " + spell_dict(attrs) if attrs else ""


# ---- JSON back to .skir ----

def form_text(graph, form):
    label = word(form["label"]) + " = " if form["label"] is not None else ""
    if "list" in form:
        return f"{label}[{value_names(graph, form['list'])}]"
    return label + ("none" if form["value"] is None else value_name(graph, form["value"]))


def operands_text(graph, op):
    if "forms" not in op:
        return value_names(graph, op["operands"])
    return ", ".join(form_text(graph, form) for form in op["forms"])


def op_text(graph, op):
    text = value_names(graph, op["results"]) + (" = " if op["results"] else "")
    text += f"{quoted(op['type'])}({operands_text(graph, op)})" + spell_attrs(op["attrs"])
    if op["results"]:
        types = [value_type(graph, index) for index in op["results"]]
        text += " : (" + ", ".join(types) + ")"
    if op["kernel"] is not None:
        text += " via " + sigil("@", op["kernel"])
    if op["after"]:
        text += f" after ({value_names(graph, op['after'])})"
    return text + event_clauses(op)


def event_clauses(side):
    return "".join(f" {clause} [{', '.join(side[clause])}]" for clause in ("send", "recv")
                   if side[clause])


def block_label(block):
    if block["kind"] == "scope none":
        return "scope none"
    name = block["name"]
    return block["kind"] + " " + (quoted(name) if block["kind"] == "stream" else sigil("@", name))


def body_lines(graph):
    """Ops and blocks in text order. Blocks stand in the order in which they open."""
    blocks, ends, lines = collections.deque(enumerate(graph["blocks"])), [], []
    for place in range(len(graph["ops"]) + 1):
        while True:
            inner = blocks and ends and blocks[0][1]["parent"] == ends[-1][1]
            if ends and ends[-1][0] == place and not inner:
                ends.pop()
                lines.append("}")
            elif blocks and blocks[0][1]["first"] == place:
                index, block = blocks.popleft()
                ends.append((place + block["count"], index))
                lines.append(block_label(block) + spell_attrs(block["attrs"])
                             + event_clauses(block) + " {")
            else:
                break
        if place < len(graph["ops"]):
            lines.append(op_text(graph, graph["ops"][place]))
    return lines


def graph_text(graph):
    params = ", ".join(f"{value_name(graph, param['value'])}: {value_type(graph, param['value'])}"
                       + spell_attrs(param["attrs"]) for param in graph["params"])
    gears = f" dims ({', '.join(graph['dims'])})" if graph["dims"] else ""
    if graph["gears"]:
        dims = ", ".join(f"{word(name)} = [{', '.join(map(str, values))}]"
                         for name, values in graph["gears"]["dims"].items())
        gears += f" gears {graph['gears']['mode']} ({dims})"
    results = ", ".join(map(spell_type, graph["results"]))
    lines = [f"graph {sigil('@', graph['name'])}({params})"
             f"{spell_attrs(graph['attrs'])}{gears} -> ({results}) {{"]
    lines += [f"[{', '.join(map(str, case['values']))}] {sigil('@', case['graph'])}"
              for case in (graph["gears"] or {}).get("cases", [])]
    lines += body_lines(graph)
    if graph["returns"]:
        lines.append("return " + value_names(graph, graph["returns"]))
    return "\n".join([*lines, "}"])


def spell_arg(arg):
    (kind, name), = arg.items()
    if kind == "list":
        return "[" + ", ".join(sigil("%", value) for value in name) + "]"
    return {"value": lambda: sigil("%", name), "word": lambda: name,
            "none": lambda: "none"}.get(kind, lambda: f"{kind} {name}")()


def spell_group(group):
    value, word = group["name"]["value"], group["name"]["word"]
    name = sigil("%", value) if value is not None else quoted(word) if word is not None else None
    args = "[" + ", ".join(map(spell_arg, group["args"])) + "]"
    return f"args {name} = {args}" if name is not None else f"args {args}"


def entry_text(entry):
    lines = [f"entry {sigil('@', entry['name'])} : {entry['type']}{spell_attrs(entry['attrs'])} {{"]
    lines += map(spell_group, entry["groups"])
    for core in "aic", "aiv":
        if entry[core] is not None:
            lines += [core + " {", *(instr["text"] for instr in entry[core]), "}"]
    return "\n".join([*lines, "}"])


def module_text(module):
    target = module["target"]
    items = ["skir 1"]
    if target:
        items.append(f"target {quoted(target['name'])}{spell_attrs(target['attrs'])}")
    items += ["kernel " + sigil("@", kernel["name"]) + " : " + kernel["type"]
              + spell_attrs(kernel["attrs"]) for kernel in module["kernels"]]
    items += [*map(graph_text, module["graphs"]), *map(entry_text, module["entries"])]
    return "\n".join(items) + "\n"


def items_of(text):
    """The items of a canonical text, whatever their order; and programs in one order."""
    program = r"(\n  %s \{(?:\n    .*)*\n  \})"
    swapped = program % "aiv" + program % "aic"
    return sorted(re.sub(swapped, r"\2\1", item).replace("\n  return\n", "\n")
                  for item in re.split(r"\n\n+", text.strip()))


# JSON has what came by includes in the place of their lines, and no comments.
COMMENT = re.compile(r"^ *//.*\n", re.M)
INCLUDE = re.compile(r'^include "(.*)"\n', re.M)


def whole_items(name, text, seen):
    """The items of the canonical text of a file, and those of the files that it includes."""
    found = []
    for path in INCLUDE.findall(text):
        path = os.path.realpath(os.path.join(os.path.dirname(name), path))
        if path not in seen:
            seen.add(path)
            found += whole_items(path, skirc("opt", path).stdout, seen)
    return found + items_of(INCLUDE.sub("", COMMENT.sub("", text)))


def all_items(name, text):
    """The same, with the line of the version once."""
    items = whole_items(name, text, {os.path.realpath(name)})
    return sorted(["skir 1", *filter(lambda item: item != "skir 1", items)])


# ---- DOT ----

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[{}\[\];,=]|[A-Za-z_0-9]+)', re.S)


class Dot:
    """A digraph: nodes with their labels and clusters, clusters with their labels, edges."""

    def __init__(self, tokens):
        self.tokens, self.nodes, self.clusters, self.edges = tokens, {}, {}, []
        self.expect("digraph")
        self.name = unescape(self.tokens.popleft())
        self.block(())

    def expect(self, token):
        if self.tokens.popleft() != token:
            raise ValueError(f"no '{token}' before {list(self.tokens)[:5]}")

    def attributes(self):
        found = {}
        while self.tokens[0] == "[":
            self.expect("[")
            while self.tokens[0] != "]":
                key = self.tokens.popleft()
                self.expect("=")
                found[key] = unescape(self.tokens.popleft())
                if self.tokens[0] == ",":
                    self.expect(",")
            self.expect("]")
        return found

    def block(self, path):
        self.expect("{")
        while self.tokens[0] != "}":
            self.statement(path)
        self.expect("}")

    def statement(self, path):
        first = self.tokens.popleft()
        if first == "subgraph":
            name = self.tokens.popleft()
            cluster = self.clusters.setdefault(name, {"path": path})
            if not name.startswith("cluster") or cluster["path"] != path:
                raise ValueError(f"{name} stands in different clusters")
            self.block(path + (name,))
            return
        if self.tokens[0] == "=":
            self.expect("=")
            self.tokens.popleft()
        elif self.tokens[0] == "->":
            self.expect("->")
            if path:
                raise ValueError("an edge within a cluster")
            self.edges.append((first, self.tokens.popleft(), self.attributes()))
        elif first == "graph":
            self.clusters[path[-1]].update(self.attributes())
        elif first != "node":
            if first in self.nodes:
                raise ValueError(f"{first} stands there twice")
            self.nodes[first] = {"path": path, **self.attributes()}
        else:
            self.attributes()
        self.expect(";")


def unescape(token):
    if token[0] != '"':
        return token
    text = re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], token[1:-1])
    if re.search("&(?!amp;)", text):
        raise ValueError(f"an entity in {token}")
    return text.replace("&amp;", "&")


def parse_dot(text):
    tokens, at = collections.deque(), 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"what is {text[at:at + 40]!r}?")
        tokens.append(match[1])
        at = match.end()
    graphs = []
    while tokens:
        graphs.append(Dot(tokens))
    return graphs


def definer(graph, index):
    op = graph["values"][index]["op"]
    return f"param{index}" if op is None else f"op{op}"


def event_node(graph, side, sends):
    """The node of an op, or of a super kernel, and the block at whose border the edge ends."""
    kind, index = side
    if kind == "op":
        return f"op{index}", None
    block = graph["blocks"][index]
    inside = block["first"] + (block["count"] - 1 if sends else 0)
    return (f"op{inside}" if block["count"] else f"block{index}"), index


def expected_edges(graph):
    edges = collections.Counter()
    events = {"send": {}, "recv": collections.defaultdict(list)}
    for place, op in enumerate(graph["ops"]):
        for index in op["operands"]:
            edges[definer(graph, index), f"op{place}", "solid", value_type(graph, index)] += 1
        for index in op["after"]:
            edges[definer(graph, index), f"op{place}", "dotted", "after"] += 1
        events["send"].update({event: ("op", place) for event in op["send"]})
        for event in op["recv"]:
            events["recv"][event].append(("op", place))
    for number, index in enumerate(graph["returns"]):
        edges[definer(graph, index), f"return{number}", "solid", value_type(graph, index)] += 1
    for index, block in enumerate(graph["blocks"]):
        if block["kind"] == "superkernel":
            for event in block["send"]:
                events["send"][event] = "block", index
            for event in block["recv"]:
                events["recv"][event].append(("block", index))
    borders = []
    for event, sides in events["recv"].items():
        if event not in events["send"]:
            continue  # from outside of the graph, and there is no node for that
        for side in sides:
            tail, from_block = event_node(graph, events["send"][event], True)
            head, to_block = event_node(graph, side, False)
            edges[tail, head, "dashed", event] += 1
            borders.append((tail, head, event, from_block, to_block))
    return edges, borders


def block_path(graph, index):
    path = []
    while index is not None:
        path.insert(0, index)
        index = graph["blocks"][index]["parent"]
    return path


CALLS = {"If": ("then_branch", "else_branch"), "Case": ("branches",), "While": ("cond", "body"),
         "For": ("body",), "PartitionedCall": ("f",)}


def called_graphs(op):
    """The graphs that an op calls, each with the attribute that names it."""
    calls = []
    for key in CALLS.get(re.sub("^State(less|ful)", "", op["type"]), ()):
        named = op["attrs"].get(key, [])
        calls += [f"{key} {sigil('@', data['symbol'])}"
                  for data in (named if isinstance(named, list) else [named])]
    return calls


def check_graph(dot, graph):
    """What is wrong with a digraph, or None."""
    nodes = {}
    for param in graph["params"]:
        index = param["value"]
        nodes[f"param{index}"] = value_name(graph, index) + "\n" + value_type(graph, index)
    for place, op in enumerate(graph["ops"]):
        label = [word(op["type"])]
        label += [value_names(graph, op["results"])] if op["results"] else []
        label += [sigil("@", op["kernel"])] if op["kernel"] is not None else []
        label += called_graphs(op)
        nodes[f"op{place}"] = "\n".join(label)
    for number, index in enumerate(graph["returns"]):
        nodes[f"return{number}"] = f"return {number}\n" + value_name(graph, index)
    blocks = {f"block{index}" for index, block in enumerate(graph["blocks"]) if block["count"] == 0}
    found = {id: node.get("label") for id, node in dot.nodes.items() if id not in blocks}
    if dot.name != sigil("@", graph["name"]) or found != nodes or not blocks <= set(dot.nodes):
        return f"nodes: {found} instead of {nodes}, {blocks}"
    clusters = {}
    for place, op in enumerate(graph["ops"]):
        path = dot.nodes[f"op{place}"]["path"]
        inside = block_path(graph, op["block"])
        labels = [dot.clusters[cluster]["label"] for cluster in path]
        if labels != [block_label(graph["blocks"][index]) for index in inside]:
            return f"op{place} is in {labels}"
        clusters.update(zip(inside, path))
    names = collections.Counter((cluster["path"], cluster["label"])
                                for cluster in dot.clusters.values())
    if any(count > 1 and key[1] != "scope none" for key, count in names.items()):
        return f"one block is several clusters: {names}"
    edges, borders = expected_edges(graph)
    drawn = collections.Counter((tail, head, attributes.get("style", "solid"), attributes["label"])
                                for tail, head, attributes in dot.edges)
    if drawn != edges:
        return f"edges: {drawn - edges} too many, {edges - drawn} too few"
    ends = {(tail, head, attributes["label"], attributes.get("ltail"), attributes.get("lhead"))
            for tail, head, attributes in dot.edges}
    for tail, head, event, from_block, to_block in borders:
        if (tail, head, event, clusters.get(from_block), clusters.get(to_block)) not in ends:
            return f"the event {event} does not end at {from_block}, {to_block}"
    return None


# ---- The schema ----

SCHEMA = os.path.join(tap.SOURCE, "docs", "json.schema.json")
with open(SCHEMA, encoding="utf-8") as file:
    schema = json.load(file)
if jsonschema:
    VALIDATOR = jsonschema.Draft202012Validator(schema)
    VALIDATOR.check_schema(schema)
else:
    tap.skip("docs/json.schema.json takes the JSON of all modules",
             "there is no python3-jsonschema")


judged = set()


def unjudged(data, path=()):
    """The JSON without elements of lists that a list of the same name has had: validation is slow, and
    takes each element by itself."""
    if isinstance(data, dict):
        return {key: unjudged(inner, (*path, key)) for key, inner in data.items()}
    if not isinstance(data, list) or path[-1] not in ("kernels", "graphs", "values", "ops", "blocks", "entries",
                                                      "groups", "aic", "aiv"):
        return data
    new = []
    for element in data:
        key = path, json.dumps(element)
        if key not in judged:
            judged.add(key)
            new.append(unjudged(element, path))
    return new


def schema_says(module):
    """What the schema has against the JSON of a module, where it can be asked; or None."""
    error = jsonschema and jsonschema.exceptions.best_match(VALIDATOR.iter_errors(unjudged(module)))
    return f"schema: {error.json_path}: {error.message}"[:1000] if error else None


# ---- All formats of all files ----

GRAPHVIZ = shutil.which("dot")


def graphviz_says(text):
    """What Graphviz has against the text of digraphs; nothing where it can read them."""
    done = subprocess.run([GRAPHVIZ, "-Tcanon"], input=text.encode("utf-8"), capture_output=True,
                          timeout=60)
    return done.stderr.decode() or (f"status {done.returncode}" if done.returncode else "")


def check_file(name, text, exported=None, digraphs=None):
    """What is wrong with what is exported of a file, whose canonical text this is; or None."""
    module = json.loads(export("json", name) if exported is None else exported)
    wrong = schema_says(module)
    if wrong:
        return wrong
    rebuilt = skirc("opt", write("rebuilt.skir", module_text(module)))
    if items_of(rebuilt.stdout) != all_items(name, text):
        return f"JSON: {rebuilt.stderr[:500]}{rebuilt.stdout[:1000]}"
    dots = parse_dot(export("dot", name) if digraphs is None else digraphs)
    if len(dots) != len(module["graphs"]):
        return f"{len(dots)} digraphs"
    for dot, graph in zip(dots, module["graphs"]):
        wrong = check_graph(dot, graph)
        if wrong:
            return wrong
    return None


def check_all(claim, names, least):
    wrong, count, said = [], 0, []
    exported, digraphs = export_all("json", names), export_all("dot", names)
    for name in names:
        printed = skirc("opt", name)
        if printed.returncode:
            continue
        count += 1
        try:
            detail = check_file(name, printed.stdout, exported[name], digraphs[name])
        except (ValueError, KeyError, IndexError) as error:
            detail = repr(error)
        if detail:
            wrong.append(f"{name}: {detail}")
        if GRAPHVIZ:
            said += filter(None, [graphviz_says(digraphs.get(name, ""))])
    tap.check(f"{claim}: JSON and digraphs say what the module says", not wrong and count >= least,
              "\n".join(wrong[:3]) + f"\n{count} files")
    if GRAPHVIZ:
        tap.check(claim + ": Graphviz reads them", not said, "\n".join(said[:3]))
    else:
        tap.skip(claim + ": Graphviz reads them", "there is no dot")


examples = sorted(glob.glob(os.path.join(tap.SOURCE, "docs", "examples", "*.skir")))
check_all("examples", examples, 4)
lowered = []
for example in examples:
    lowered.append("lowered_" + os.path.basename(example))
    skirc("opt", "--passes=default", "-o", lowered[-1], example)
check_all("examples behind the pipeline", lowered, 4)
goldens = os.path.join(tap.SOURCE, "tests", "golden", "**", "*.skir")
check_all("golden files", sorted(glob.glob(goldens, recursive=True)), 200)

# ---- Blocks and events ----

write("blocks.skir", """skir 1
graph @g(%a: f32[4]) -> f32[4] {
  stream "1" {
    scope @s { %b = A(%a) : f32[4] }
    scope @t { }
    scope @s { %c = A(%a) : f32[4] }
  }
  stream "2" { scope @s { %d = A(%a) : f32[4] } }
  scope none { %e = A(%a) : f32[4] }
  stream "1" { scope @s { %f = A(%a) : f32[4] } }
  scope none { %h = A(%a) : f32[4] }
  scope @s { %i = A(%a) : f32[4] after (%h, %a) }
  return %i
}
""")
dot, = parse_dot(export("dot", "blocks.skir"))
path = {name: dot.nodes[f"op{place}"]["path"] for place, name in enumerate("bcdefhi")}
tap.check("blocks of one scope in the same place are one cluster",
          path["b"] == path["c"] == path["f"] and len(path["b"]) == 2, path)
tap.check("in different ones they are several with one label",
          len({path["b"], path["d"], path["i"]}) == 3
          and {dot.clusters[path[name][-1]]["label"] for name in "bdi"} == {"scope @s"}, path)
tap.check("each 'scope none' is a cluster of its own", path["e"] != path["h"], path)
node = dot.nodes["block2"]
tap.check("an empty block is drawn by a node that is not seen",
          node["style"] == "invis" and len(node["path"]) == 2, dot.nodes)
printed = skirc("opt", "blocks.skir").stdout
tap.check("and so say all formats", check_file("blocks.skir", printed) is None,
          check_file("blocks.skir", printed))

write("events.skir", """skir 1
graph @g(%a: f32[4]) -> f32[4] {
  %b = A(%a) : f32[4] send [e0]
  superkernel @g_s {scope = @s} send [e1, e2] recv [e0] {
    stream "1" { %c = A(%b) : f32[4] }
    %d = A(%b) : f32[4]
  }
  stream "3" { superkernel @g_t {scope = @t} recv [e1] { %e = A(%d) : f32[4] } }
  stream "2" { %f = A(%d) : f32[4] recv [e2] }
  return %f
}
""")
done = skirc("opt", "events.skir")
tap.check("the module with events is correct", done.returncode == 0, done.stderr)
dot, = parse_dot(export("dot", "events.skir"))
events = {attributes["label"]: (tail, head, attributes.get("ltail"), attributes.get("lhead"))
          for tail, head, attributes in dot.edges if attributes.get("style") == "dashed"}
kernels = [dot.nodes[f"op{place}"]["path"] for place in (2, 3)]
tap.check("events of super kernels are edges from and to their borders", events == {
    "e0": ("op0", "op1", None, kernels[0][0]),
    "e1": ("op2", "op3", kernels[0][0], kernels[1][-1]),
    "e2": ("op2", "op4", kernels[0][0], None)}, events)
tap.check("events of super kernels in all formats", check_file("events.skir", done.stdout) is None,
          check_file("events.skir", done.stdout))

# ---- Names and numbers that no one would choose ----

HOSTILE = ['"', "\\", "\\\\", '\\"', "a\\", "\n", "\\n", "\t\r", "\x01\x7f", "\0", "a\0b", "&amp;",
           "&", "</b>", "<b>", "\\N", "\\G", "\\l", "{", "}", "];", "->", "//", "/*", "*/", "# x",
           "é", "☃", "𝕏", " ", "%", "@", "digraph", "null", "__proto__", "\u2028", "x" * 5000]
lines = ["skir 1"]
for name in HOSTILE:
    text, graph, result = quoted(name), quoted(name + "g"), quoted(name + "y")
    path = quoted(name.replace("\0", ""))  # no file has it in its name
    lines.append(f"""kernel @{text} : aiv_only {{block = 1, object = {path}}}
graph @{graph}(%{text}: f32[4]) -> f32[4] {{
  scope @{text} {{
    stream {text} {{
      %{result} = {text}(%{text}) {{{text} = {text}}} : f32[4] via @{text}
    }}
  }}
  return %{result}
}}""")
write("hostile.skir", "\n".join(lines) + "\n")
check_all("hostile names", ["hostile.skir"], 1)
module = json.loads(export("json", "hostile.skir"))
tap.check("JSON has the names themselves",
          [kernel["name"] for kernel in module["kernels"]] == HOSTILE and [
              list(graph["ops"][0]["attrs"].items()) for graph in module["graphs"]]
          == [[(name, name)] for name in HOSTILE])

BAD = ["\udcff", "a\udc80b", "\udcc3", "\udcc3(", "\udced\udca0\udc80"]
write("bytes.skir", "skir 1\n" + "".join(
    f"graph @{text}(%{text}: f32[4]) -> f32[4] {{\n  return %{text}\n}}\n"
    for text in map(quoted, BAD)))
replaced = [re.sub("[\udc80-\udcff]", "\ufffd", name) for name in BAD]
module = json.loads(export("json", "bytes.skir"))
dots = parse_dot(export("dot", "bytes.skir"))
tap.check("bytes that are no UTF-8 become U+FFFD",
          [graph["name"] for graph in module["graphs"]] == replaced
          and [dot.name for dot in dots] == ["@" + quoted(name) for name in replaced], module)

SAFE = 2 ** 53
INTEGERS = [0, -1, SAFE, -SAFE, SAFE + 1, -SAFE - 1, 2 ** 63 - 1, -2 ** 63]
FLOATS = ["0.5", "1e-05", "1e+300", "5e-324", "-0.0", "1.0", "0.1", "nan", "inf", "-inf"]
write("data.skir", f"""skir 1
target "t" {{aic = 8}}
kernel @k : mix_aic_1_1 {{
  function = {{aic = "f", aiv = "g"}}, params = [x, tiling], inputs = [f32[?, 2]]
}}
graph @g(%a: f32[b, ?, {2 ** 62}] {{static = false}}, %s: bf16[])
    gears product (b = [2, {2 ** 60}]) -> () {{
  A(%a) {{i = [{', '.join(map(str, INTEGERS))}], f = [{', '.join(FLOATS)}], b = [true, false], flag,
         s = "s", w = w, k = @k, v = %a, t = i8[2, b]:FRACTAL_NZ, l = [[], [1, [w]]],
         d = {{d = {{}}, "a key" = {{scope = 1}}}}}}
}}
""")
check_all("data of all kinds", ["data.skir"], 1)
module = json.loads(export("json", "data.skir"))
attrs = module["graphs"][0]["ops"][0]["attrs"]
tap.check("integers that doubles cannot tell apart are strings", attrs["i"] ==
          [{"int": str(i)} if abs(i) > SAFE else i for i in INTEGERS], attrs["i"])
graph = module["graphs"][0]
tap.check("so are dimensions and gears",
          graph["values"][0]["type"]["dims"] == ["b", None, str(2 ** 62)]
          and graph["gears"] == {"mode": "product", "dims": {"b": [2, str(2 ** 60)]}}, graph)
tap.check("floats are numbers, those that JSON does not have are tagged", all(
    repr(data) == repr(float(text)) if math.isfinite(float(text)) else data == {"float": text}
    for data, text in zip(attrs["f"], FLOATS)), attrs["f"])
keys = "b", "flag", "s", "w", "k", "v", "t", "l", "d"
tap.check("all that JSON does not have is tagged", [attrs[key] for key in keys] == [
    [True, False], True, "s", {"word": "w"}, {"symbol": "k"}, {"value": "a"},
    {"type": {"dtype": "i8", "dims": [2, "b"], "format": "FRACTAL_NZ"}}, [[], [1, [{"word": "w"}]]],
    {"dict": {"d": {"dict": {}}, "a key": {"dict": {"scope": 1}}}}], attrs)

write("entry.skir", """skir 1
kernel @m : mix_aic_1_1 {block = 1}
kernel @v : aiv_only {block = 1}
entry @e : mix_aic_1_1 {block = 1} {
  args %a = [%a, none, [%b, %c], send e0, tiling_key, block_num, lock]
  args U = [recv e0]
  args [sync_workspace]
  aic { }
  aiv {
    preload @v units 3
    preload_all 2
    call @m.aiv args U blocks 1 early_wait mix early_set
    wait c2v
    notify e0
    reset lock %a
    call U
    profile begin 1 2
    dcci all
    feed_sync complement
    arrive aiv
  }
}
""")
entry = json.loads(export("json", "entry.skir"))["entries"][0]
tap.check("arguments stand in their groups", entry["groups"] == [
    {"name": {"value": "a", "word": None}, "slot": 1, "args": [
        {"value": "a"}, {"none": True}, {"list": ["b", "c"]}, {"send": "e0"},
        {"word": "tiling_key"}, {"word": "block_num"}, {"word": "lock"}]},
    {"name": {"value": None, "word": "U"}, "slot": 8, "args": [{"recv": "e0"}]},
    {"name": {"value": None, "word": None}, "slot": 9, "args": [{"word": "sync_workspace"}]}],
          entry["groups"])
instrs = entry["aiv"]
tap.check("instructions have their operands by name", [
    {key: instr[key] for key in instr if key not in ("text",)} for instr in instrs] == [
        {"instr": "preload", "kernel": "v", "part": None, "units": 3},
        {"instr": "preload_all", "numbers": [2]},
        {"instr": "call", "kernel": "m", "part": "aiv", "args": 1, "blocks": 1, "early_wait": "mix",
         "early_set": True},
        {"instr": "wait", "flag": "c2v"},
        {"instr": "notify", "event": "e0", "lock": None},
        {"instr": "reset", "event": None, "lock": 0},
        {"instr": "call", "of": {"value": None, "word": "U"}},
        {"instr": "profile", "phase": "begin", "numbers": [1, 2]},
        {"instr": "dcci"},
        {"instr": "feed_sync", "phase": "complement"},
        {"instr": "arrive", "group": "aiv"}], instrs)
write("vector.skir", "skir 1\nentry @e : aiv_only {block = 1} {\n  aiv { dcci all }\n}\n")
entry = json.loads(export("json", "vector.skir"))["entries"][0]

if jsonschema:
    modules = [json.loads(export("json", name))
               for name in ("data.skir", "entry.skir", "events.skir")]

    def objects(data, path=()):
        """All objects whose keys the schema gives."""
        free = path[-1:] in (("attrs",), ("dict",)) or path[-2:] == ("gears", "dims")
        if isinstance(data, dict) and not free:
            yield data
        for key, inner in data.items() if isinstance(data, dict) else enumerate(
                data if isinstance(data, list) else ()):
            yield from objects(inner, (*path, key))

    taken, changes = [], 0
    for module in modules:
        for found in objects(module):
            whole = dict(found)
            less = [{key: whole[key] for key in whole if key != left} for left in whole]
            for changed in [{**whole, "other": 0}, *less]:
                found.clear()
                found.update(changed)
                changes += 1
                if VALIDATOR.is_valid(module):
                    taken.append((whole, changed))
            found.clear()
            found.update(whole)
    tap.check("the schema takes no key more and no key less", not taken and changes > 200
              and all(map(VALIDATOR.is_valid, modules)), f"{changes} changes, {taken[:5]}")

def table_names(path, macro):
    with open(os.path.join(tap.SOURCE, path), encoding="utf-8") as file:
        return re.findall(rf"^{macro}\((\w+)", file.read(), re.M)


known = [kind["properties"]["instr"] for kind in schema["$defs"]["instruction"]["oneOf"]]
known = {name for kind in known for name in kind.get("enum", [kind.get("const")])}
tap.check("the schema has all instructions", known == set(table_names("ir/core/instrs.def", "INSTR")),
          known)
known = schema["$defs"]["kernelType"]["enum"]
tap.check("and all kernel types", known == table_names("ir/core/kernel_types.def", "KERNEL_TYPE"), known)
tap.check("a program that is not there is null",
          entry["aic"] is None and len(entry["aiv"]) == 1, entry)
tap.check("a module without graphs has no digraph", export("dot", "entry.skir") == "")

# ---- The command ----

table = os.path.join(tap.SOURCE, "frontend", "exchange.def")
with open(table, encoding="utf-8") as file:
    rows = re.findall(r'^FORMAT\(\w+, "([^"]+)", "([^"]*)", \w+, (yes|some|graph|no),\s+"([^"]+)"\)',
                      file.read(), re.M)
written = [(name, suffix) for name, suffix, writes, _ in rows if writes != "no"]


def refuses(claim, status, text, *arguments):
    done = skirc("export", *arguments)
    tap.check(claim, done.returncode == status and text in done.stderr and not done.stdout,
              f"{done.returncode}\n{done.stderr}{done.stdout}")


LIST = " or ".join(", ".join(f"'{name}' ({suffix})" if suffix else f"'{name}'"
                             for name, suffix in written).rsplit(", ", 1))
write("good.skir", "skir 1\ngraph @g(%a: f32[4]) -> f32[4] {\n  return %a\n}\n")
refuses("no format", 2, "skirc: say by --format=NAME which: " + LIST, "good.skir")
refuses("a suffix that says nothing", 2, "skirc: the name 'x.svg' does not tell the format; say by "
        "--format=NAME which: " + LIST, "good.skir", "-o", "x.svg")
refuses("a suffix alone", 2, "does not tell the format", "good.skir", "-o", ".dot")
refuses("an unknown format", 2, "skirc: there is no format 'jsn', only " + LIST
        + "; did you mean 'json'?\ntry 'skirc export --help'\n", "--format=jsn", "good.skir")
refuses("an unknown format that is like none", 2,
        f"skirc: there is no format 'svg', only {LIST}\n", "--format=svg", "good.skir")
refuses("a wrong module", 1, "[syntax]", "--format=json", write("wrong.skir", "skir"))
refuses("a module that is not verified", 1, "[unknown-value]", "--format=dot",
        write("unknown.skir", "skir 1\ngraph @g() -> () {\n  A(%x)\n}\n"))
refuses("a file that is not there", 1, "absent.skir", "--format=dot", "absent.skir")
refuses("output that cannot be written", 1, "no/such/x.json", "good.skir", "-o", "no/such/x.json")
with open("/dev/full", "w") as full:
    done = subprocess.run([tap.SKIRC, "export", "--format=dot", "good.skir"], stdout=full,
                          stderr=subprocess.PIPE, text=True, timeout=60)
tap.check("a full disk", done.returncode == 1 and "cannot write the output" in done.stderr,
          done.stderr)
for format, suffix in filter(lambda row: row[1], written):
    done = skirc("export", "good.skir", "-o", "by_suffix" + suffix)
    with open("by_suffix" + suffix, encoding="utf-8") as file:
        tap.check(f"the suffix {suffix} tells the format", done.returncode == 0
                  and file.read() == export(format, "good.skir"), done.stderr)
done = skirc("export", "--format=dot", "good.skir", "-o", "good.json")
with open("good.json", encoding="utf-8") as file:
    tap.check("--format counts over the suffix", file.read().startswith("digraph"), done.stderr)
done = skirc("export", "--format=json", "-", stdin=b"skir 1\n")
tap.check("standard input and output", json.loads(done.stdout)["graphs"] == [], done.stderr)
before = os.path.getsize("by_suffix.json")
refuses("of a wrong module nothing is written", 1, "", "wrong.skir", "-o", "by_suffix.json")
tap.check("and what was there stays", os.path.getsize("by_suffix.json") == before)

# What is listed anywhere is what the table has.
help = re.sub(r"\s+", " ", skirc("export", "--help").stdout)
missing = [row for row in rows
           if row[2] != "no" and f"{row[0]} (NAME{row[1]}): {row[3]}" not in help]
tap.check("help has all formats that can be written", rows and not missing, f"{missing}\n{help}")
for page in ("docs", "command-line.md"), ("docs", "man", "skirc.1"):
    with open(os.path.join(tap.SOURCE, *page), encoding="utf-8") as file:
        text = file.read()
    section = re.search(r"^(## skirc export|\.Ss skirc export)$(.*?)^(## |\.Ss |\.Sh )", text,
                        re.M | re.S)
    missing = [row[0] for row in rows if row[2] != "no"
               and not re.search(rf"(`|Cm ){row[0]}\b", section[2] if section else "")]
    tap.check("/".join(page) + " has them, too", not missing, missing)

# ---- Size ----


def many(count):
    """A graph in which ops, blocks, types, attributes, edges and events are many."""
    lines = ["skir 1", "graph @g(%y0: f32[64, 64]) -> () {"]
    for i in range(count):
        type = f"f32[64, {i % 1000}]"
        op = f"%y{i + 1} = Scale(%y{i // 3}, %y0) : {type} send [e{i}]"
        if i % 2:
            op = (f"%y{i + 1} = Join(%y{i}, %y{i // 2}) {{index = {i}}} : {type} "
                  f"after (%y{i // 4}) recv [e{i - 1}]")
        if i % 3:
            op = f'scope @s{i // 100} {{ stream "{i % 7 + 1}" {{ {op} }} }}'
        elif i % 2 == 0:
            op = f'stream "x" {{ {op} }}'
        lines.append(op)
    return "\n".join([*lines, "}"]) + "\n"


def many_calls(count):
    """A super kernel of compiled kernels that is long, as kernel-info wants it."""
    lines = ["skir 1", 'kernel @k : aiv_only {block = 1, _json = "k.json"}',
             "graph @g(%x: f32[4]) -> () {", "superkernel @s {fixed_slots} {"]
    for i in range(count):
        op = f"Foo(%x) via @k send [{i}]" + (f" recv [{i - 2}]" if i > 1 else "")
        lines.append(f'stream "{i % 3 + 1}" {{ {op} }}')
    return "\n".join([*lines, "}", "}"]) + "\n"


write("20000.skir", many(20_000))
write("100000.skir", many(100_000))
write("100000_calls.skir", many_calls(100_000))
for format, _ in written: # were each op looked at with each, this would not end
    kind = "_calls" if format == "kernel-info" else ""
    done = skirc("export", "--format=" + format, f"100000{kind}.skir", "-o", "big." + format)
    tap.check(f"{format}: 100,000 ops", done.returncode == 0, done.stderr[:500])
with open("big.json", encoding="utf-8") as file:
    module = json.load(file)
tap.check("100,000 ops are all there", len(module["graphs"][0]["ops"]) == 100_000
          and module["graphs"][0]["ops"][-1]["operands"] == [99_999, 49_999])
dot, = parse_dot(export("dot", "20000.skir"))
wrong = check_graph(dot, json.loads(export("json", "20000.skir"))["graphs"][0])
tap.check("a digraph of 20,000 ops", wrong is None, str(wrong)[:1000])

tap.done()
