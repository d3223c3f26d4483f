"""A small change of a graph is a small change of what the passes make of its order: events are named after who sends
them, so that those of other ops stay as they are."""

import difflib
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

SOURCE = os.path.abspath(tap.SOURCE)
PASSES = "--passes=assign-streams,partition-scopes,insert-events"
MOST = 12  # lines of a patch, those that go and those that come


def events(text):
    result = tap.skirc("opt", PASSES, "-", stdin=text)
    return result.stdout if result.returncode == 0 else result.stderr


def changed(before, after):
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in diff if line[0] in "+-" and line[:3] not in ("+++", "---")]


def moved(text, op, before):
    """The text with an op's line moved to before another line."""
    line, = re.findall(rf"^ *%{op} = .*\n", text, re.M)
    place, = re.findall(rf"^ *{before}.*\n", text, re.M)
    return text.replace(line, "").replace(place, line + place)


def check_move(claim, text, op, before):
    after = moved(text, op, before)
    lines = changed(events(text), events(after))
    names = re.findall(r"(?:send|recv) \[[^\]]*\]", events(after))
    tap.check(f"{claim}: {len(lines)} lines of {events(after).count(chr(10))}, with {len(names)} events, change",
              names and len(lines) <= MOST, "\n".join(lines))


with open(os.path.join(SOURCE, "docs", "examples", "multi_stream.skir")) as file:
    example = file.read()
check_move("%scaled on stream 1", example, "scaled", "%inf =")
check_move("%finite on stream 2", example, "finite", "%scaled =")
check_move("%mm on stream 2", example, "mm", "%scaled =")

# Many layers, each with three streams that wait for each other.
text = "skir 1\n\ngraph @layers(%y0: f32[4]) -> f32[4] {\n"
for i in range(1, 41):
    text += f"""  %a{i} = Add(%y{i - 1}, %y{i - 1}) : f32[4]
  stream "1" {{
    %b{i} = Mul(%a{i}, %y{i - 1}) : f32[4]
  }}
  stream "2" {{
    %c{i} = Sub(%a{i}, %y{i - 1}) : f32[4]
    %d{i} = Exp(%b{i}) : f32[4]
  }}
  %y{i} = Add(%c{i}, %d{i}) : f32[4]
"""
text += "  return %y40\n}\n"
check_move("an op of layer 2 of 40 on another stream", text, "c2", "%b2 =")
check_move("an op of layer 3 of 40 on another stream", text, "d3", "%y3 =")
before = events(text)
lines = changed(before, events(text.replace("  %a5 =", "  %new = Add(%y4, %b4) : f32[4]\n  %a5 =")))
tap.check(f"one op more: {len(lines)} lines change", len(lines) <= MOST, "\n".join(lines))


# ---- Entries ----

def entry(text):
    result = tap.skirc("opt", "--passes=default", "-", stdin=text)
    return result.stdout[result.stdout.find("\nentry "):] if result.returncode == 0 else ""


with open(os.path.join(SOURCE, "docs", "examples", "decoder_layer.skir")) as file:
    layer = file.read()
longer = layer.replace("    %ctx = MatMul(%ph,",
                       "    %ph2 = Mul(%ph, %ph) : f16[64, 64]\n    %ctx = MatMul(%ph2,")
before, after = entry(layer), entry(longer)
lines = changed(before, after)
tap.check(f"one op more in a layer: {len(lines)} lines of its entry's {before.count(chr(10))} change",
          before and after and lines and len(lines) <= MOST, "\n".join(lines))

tap.done()
