"""What carets stand below: in each text, « and » are around what diagnostics of `check` mark, in
the order of the text; one place may have several diagnostics."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

HEAD = "skir 1\n"
CASES = {
    "a name of a dimension in the type of a parameter": """
graph @f(%a: f32[n, 2*«m»], %b: f32[4]) dims (n) -> () {
}""",
    "and in a type that an op gives": """
graph @f(%a: f32[4]) -> () {
  %b = Relu(%a) : f32[«k»+2, 4]
}""",
    "names in the results of a graph": """
graph @f(%a: f32[4]) -> (f32[4], f32[«b»+«c», 4]) {
  return %a, «%a»
}""",
    "one that stands in the only result": """
graph @f(%a: f32[4]) {tag = "->"} -> f32[«b»] {
  return «%a»
}""",
    "a format": """
graph @f(%a: f16[16, 16]:«NZZ») -> () {
}""",
    "the type of a token that is no parameter, and that of one that is no result": """
graph @f(%a: «token») -> (f32[4], «token») {
  return «%a», «%a»
}""",
    "a static shape with a gear": """
graph @f(%a: f32[4, b], %c: «f32[b, 4]» {static}) gears product (b = [2, 4]) -> () {
}""",
    "values of gears": """
graph @f(%a: f32[b]) gears product (b = [«1», 2, «0», «-3»]) -> () {
}""",
    "the value that is one too many for zip": """
graph @f(%a: f32[b, c]) gears zip (b = [2, 3], c = [2, 3, «4»]) -> () {
}""",
    "the gear that has one too few": """
graph @f(%a: f32[b, c]) gears zip (b = [2, 3, 4], «c» = [2, 3]) -> () {
}""",
    "the first value behind the hundredth": """
graph @f(%a: f32[b]) gears product (b = [%s, «102», 103]) -> () {
}""".replace("%s", ", ".join(map(str, range(2, 102)))),
    "a graph by its name": """
graph // of two
  «@"f g"»(%a: f32[4]) -> () {
}
graph «@"f g"» (%a: f32[4]) -> () {
}""",
}


def marked(text):
    """The text without marks, and the places of what is marked: line, column, width."""
    places, plain = [], ""
    for part in re.split("([«»])", text):
        if part == "«":
            places.append((plain.count("\n") + 1, len(plain) - plain.rfind("\n"), len(plain)))
        elif part == "»":
            line, column, begin = places[-1]
            places[-1] = (line, column, len(plain) - begin)
        else:
            plain += part
    return plain, places


def carets(errors):
    """The same of what was printed; excerpts of long lines are cut, but not their carets."""
    found = re.findall(r":(\d+):(\d+): (?:error|note): .*\n.*\n +\| +(\^~*)\n", errors)
    return sorted({(int(line), int(column), len(caret)) for line, column, caret in found})


for what, text in CASES.items():
    plain, places = marked(HEAD + text.lstrip("\n") + "\n")
    result = tap.skirc("check", "-", stdin=plain)
    found = carets(result.stderr)
    tap.check(what, result.returncode == 1 and found == places,
              f"{found} is not {places}:\n{plain}{result.stderr}")
tap.done()
