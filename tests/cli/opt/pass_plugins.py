"""Passes from outside of the tree: the plugin of docs/add-a-pass.md, built by nothing but the headers
that are installed; rows that are wrong; passes that break their contract."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
BUILD = os.path.dirname(tap.SKIRC)
CC = os.environ.get("CC", "cc").split()
streams = os.path.join(os.path.abspath(tap.SOURCE), "docs", "examples", "multi_stream.skir")
SOURCE = os.path.abspath(tap.SOURCE)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
os.chdir(scratch.name)

# ---- Headers, as they are installed ----

with open(os.path.join(SOURCE, "passes", "local.mk"), encoding="utf-8") as file:
    HEADERS = re.search(r"^plugin_headers = \\\n((?:\t.*\n)*)", file.read(), re.M)[1]
HEADERS = HEADERS.replace("\\", "").split()
for header in HEADERS:
    os.makedirs(os.path.join("include", os.path.dirname(header)), exist_ok=True)
    shutil.copy(os.path.join(SOURCE, header), os.path.join("include", header))
shutil.copy(os.path.join(BUILD, "passes", "plugin_headers.h"), "include/passes")
tap.check("the list of headers was read", len(HEADERS) > 40, HEADERS)

# clang does not know the warning, which says nothing then
STRICT = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]
good, errors = True, ""
for header in HEADERS:
    if not header.endswith(".h"):
        continue
    with open("one.c", "w") as file:
        file.write(f'#include "{header}"\n')
    done = subprocess.run([*CC, *STRICT, "-fsyntax-only", "-Iinclude", "one.c"],
                          capture_output=True, text=True, check=False)
    good &= done.returncode == 0
    errors += done.stderr
tap.check("each of them stands on its own, with no other headers of the tree", good, errors)


def build(name, text, *options):
    """The shared object of a plugin, or what the compiler says."""
    with open(f"{name}.c", "w") as file:
        file.write(text)
    done = subprocess.run([*CC, *STRICT, "-shared", "-fPIC", "-Iinclude", *options, f"{name}.c",
                           "-o", f"{name}.so"], capture_output=True, text=True, check=False)
    return done.stderr


# ---- Functions ----

exported = subprocess.run([*os.environ.get("NM", "nm").split(), "-D", "--defined-only", tap.SKIRC],
                          capture_output=True, text=True, check=True).stdout
exported = {line.split()[-1] for line in exported.splitlines()}
missing = set()
for header in HEADERS:
    with open(os.path.join("include", header), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    text = re.sub(r"^#.*(?:\\\n.*)*\n", "", text, flags=re.M)
    text = re.sub(r"^(?:static|typedef)\b.*?(?:^\}|;)", "", text, flags=re.M | re.S)
    declared = re.findall(r"^[a-z][\w ]*[ *](\w+)\([^{};]*\)[^{};()]*(?:\(\(.*?\)\))?;", text, flags=re.M)
    missing |= {(header, name) for name in declared if name not in exported}
tap.check("skirc exports what they declare", not missing and "module_add_kernel" in exported,
          sorted(missing))

# ---- The plugin of the page ----

with open(os.path.join(SOURCE, "docs", "add-a-pass.md"), encoding="utf-8") as file:
    PAGE = re.search(r"^```c file=drain_calls.c\n(.*?)^```", file.read(), re.M | re.S)[1]
error = build("drain_calls", PAGE)
tap.check("the plugin of the page is built outside of the tree", not error, error)
PLUGIN = "--pass-plugin=drain_calls.so"


def opt(*arguments, file=streams):
    return tap.skirc("opt", *arguments, file)


def calls_and_drains(text):
    return text.count("    call @"), len(re.findall(r"    call @.*\n(?:    preload .*\n)?    pipe_barrier\n", text))


listed = [line.split()[0] for line in tap.skirc("opt", "--list-passes").stdout.splitlines()]
own = [line.split()[0] for line in tap.skirc("opt", PLUGIN, "--list-passes").stdout.splitlines()]
at = listed.index("insert-syncs") + 1
tap.check("the pass is listed where its row puts it", own == [*listed[:at], "drain-calls", *listed[at:]], own)
done = opt(PLUGIN, "-p", "..drain-calls", "--verify-each")
tap.check("it runs", done.returncode == 0 and calls_and_drains(done.stdout) == (7, 7), done)
tap.check("without it there are less", calls_and_drains(opt("-p", "..insert-syncs").stdout)[1] < 7)
with open("drained.skir", "w") as file:
    file.write(done.stdout)
again = opt(PLUGIN, "-p", "drain-calls", "--print-changed", file="drained.skir")
tap.check("on its own output it changes nothing", again.stdout == done.stdout and again.stderr == "", again)
done = opt(PLUGIN, "-p", "default", "--verify-each", "--time-passes", "-o", "out.skir")
tap.check("default runs it", done.returncode == 0 and
          [line.split()[2] for line in done.stderr.splitlines()] == own, done)
for command in ["compile", "--emit=skir"], ["compile", "--emit=entry"]:
    done = tap.skirc(*command, PLUGIN, streams)
    tap.check(f"so does skirc {' '.join(command)}", calls_and_drains(done.stdout) == (7, 7), done)
done = tap.skirc("run", PLUGIN, streams, "--compare=unfused")
tap.check("and skirc run", done.returncode == 0 and "bit-exact" in done.stdout, done)
done = tap.skirc("compile", "--pass-plugin", "./drain_calls.so", "-o", "out.o", streams)
tap.check("an object is made", done.returncode == 0 and os.path.exists("out.o"), done)
pkg_config = shutil.which("pkg-config")
if pkg_config:
    flags = subprocess.run([pkg_config, "--cflags", "skir-plugin"], capture_output=True, text=True,
                           env=dict(os.environ, PKG_CONFIG_PATH=BUILD), check=False)
    done = subprocess.run([*CC, "-shared", "-fPIC", *flags.stdout.split(), "drain_calls.c", "-o",
                           "second.so"], capture_output=True, text=True, check=False)
    done = opt("--pass-plugin=second.so", "-p", "..drain-calls")
    tap.check("in the tree pkg-config finds the headers", calls_and_drains(done.stdout) == (7, 7), done)
else:
    tap.skip("in the tree pkg-config finds the headers", "there is no pkg-config")

GOLDEN = """//! opt drain-calls --pass-plugin=drain_calls.so
//! a pipe barrier stands behind each call
skir 1

kernel @add : aiv_only {
  block = 8
}

graph @g(%a: f16[64], %b: f16[64]) -> f16[64] {
  superkernel @s {
    %p = Add(%a, %b) : f16[64] via @add
  }
  return %p
}

entry @s : mix_aiv_1_0 {block = 8} {
  args %p = [%a, %b, %p]
  aiv {
    call @add args %p blocks 8
  }
}
//! expect
"""
PROGRAM = GOLDEN.split("\n", 2)[2].replace("//! expect\n", "")
with open("golden.skir", "w") as file:
    file.write(GOLDEN + PROGRAM.replace("blocks 8\n", "blocks 8\n    pipe_barrier\n"))
with open("golden_wrong.skir", "w") as file:
    file.write(GOLDEN + PROGRAM)
done = tap.skirc("test", "golden.skir", "golden_wrong.skir")
tap.check("it has golden files", "1 passed, 1 failed" in done.stdout, done)

# ---- Rows ----

HEAD = """#include "passes/pass_plugin.h"
static bool pass_nothing(struct pass_context *context)
{
    (void)context;
    return true;
}
"""


def row(name, where, needs="0", gives="0", changes="NOTHING", function="nothing"):
    return f'PASS({function}, {name}, {where}, {needs}, {gives}, {changes}, "do nothing")'


def plugin(name, *rows, functions=""):
    error = build(name, f"{HEAD}{functions}SKIR_PASS_PLUGIN({', '.join(rows)})\n")
    if error:
        tap.check(f"{name} is built", False, error)
    return f"--pass-plugin={name}.so"


rows = plugin("rows", row('"first"', "FIRST"), row('"asked"', "ASKED"), row('"a"', 'AFTER("dcci")'),
              row('"b"', 'AFTER("dcci")'), row('"c"', 'AFTER("a")'), row('"second"', "FIRST"))
more = plugin("more", row('"d"', 'AFTER("dcci")'), row('"last"', 'AFTER("verify-launches")'),
              row('"e"', 'AFTER("last")'), row('"asked-too"', "ASKED"))
found = tap.skirc("opt", rows, more, "--list-passes").stdout.splitlines()
names = [line.split()[0] for line in found]
expected = list(listed)
at = expected.index("dcci") + 1
expected[at:at] = ["a", "b", "c", "d"]
expected = ["first", "second", *expected, "last", "e", "asked", "asked-too"]
tap.check("first, behind others, last and not in default", names == expected, names)
tap.check("what only runs where it is named is said so",
          [line.split()[0] for line in found if line.endswith("(only where it is named)")]
          == ["asked", "asked-too"], found)
done = opt(rows, "-p", "a..b,asked,default..first,c", "--time-passes", "-o", "out.skir")
tap.check("lists have them", [line.split()[2] for line in done.stderr.splitlines()] ==
          ["a", "b", "asked", "first", "c"], done)
done = opt(rows, "-p", "a..asked")
tap.check("what is not in default is no end of a range", done.returncode == 2 and done.stderr ==
          "skirc: --passes: 'asked' cannot end a range: 'default' does not run it\n", done)
done = opt(rows, "-p", "secnd")
tap.check("did you mean", "did you mean 'second'?" in done.stderr, done)

WRONG_ROWS = [
    ("a name that is taken", row('"dcci"', "ASKED"), "there is a pass 'dcci' already"),
    ("a name with other letters", row('"My_pass"', "ASKED"),
     "'My_pass' is no name of a pass: that is words and hyphens"),
    ("a name that lists use", row('"default"', "ASKED"),
     "'default' is no name of a pass: that is words and hyphens"),
    ("a name that dumps use", row('"all"', "ASKED"),
     "'all' is no name of a pass: that is words and hyphens"),
    ("no name", row("NULL", "ASKED"), "'' is no name of a pass: that is words and hyphens"),
    ("behind what there is not", row('"mine"', 'AFTER("insert-sync")'),
     "the pass 'mine' is to stand behind 'insert-sync', which 'default' does not run; did you mean "
     "'insert-syncs'?"),
    ("behind what default does not run", row('"one"', "ASKED") + ", " + row('"mine"', 'AFTER("one")'),
     "the pass 'mine' is to stand behind 'one', which 'default' does not run"),
    ("a property that there is not", row('"mine"', "ASKED", needs="64"),
     "the pass 'mine' needs or gives a property that there is not"),
    ("no function", '{"mine", "do nothing", NULL, NULL, 0, 0, CHANGES_NOTHING}',
     "the pass 'mine' has no function"),
    ("no summary", '{"mine", NULL, pass_nothing, NULL, 0, 0, CHANGES_NOTHING}',
     "the pass 'mine' has no summary"),
    ("changes that there are not", '{"mine", "do nothing", pass_nothing, NULL, 0, 0, 17}',
     "the pass 'mine' changes what there is not"),
]
for number, (claim, rows, error) in enumerate(WRONG_ROWS):
    done = opt(plugin(f"wrong{number}", rows, row('"used"', "ASKED")), "-p", "default")
    tap.check(claim, (done.returncode, done.stdout, done.stderr) ==
              (1, "", f"skirc: --pass-plugin: 'wrong{number}.so': {error}\n"), done)
done = opt(PLUGIN, "--pass-plugin=./drain_calls.so", "-p", "default")
tap.check("a plugin that is named twice", done.returncode == 1 and done.stderr ==
          "skirc: --pass-plugin: './drain_calls.so': there is a pass 'drain-calls' already\n", done)

# ---- Files ----

build("symbol", "int mine;\n")
build("interface", PAGE.replace("#include \"passes/pass_plugin.h\"", """#define SKIR_PASS_PLUGIN_INTERFACE OLD
#include "passes/pass_plugin.h"
#undef SKIR_PASS_PLUGIN_INTERFACE
#define SKIR_PASS_PLUGIN_INTERFACE 7"""))
build("headers", PAGE.replace("SKIR_PASS_PLUGIN(", "#undef SKIR_PLUGIN_HEADERS\n"
                              "#define SKIR_PLUGIN_HEADERS 1\nSKIR_PASS_PLUGIN("))
build("function", PAGE.replace("program_edit_add(&edit", "program_edit_more(&edit"),
      "-Wno-error=implicit-function-declaration")
with open("text.so", "w") as file:
    file.write("no object\n")
with open("symbol.so", "rb") as file:
    whole = file.read()
for size in (40, 4097):
    with open(f"cut_{size}.so", "wb") as file:
        file.write(whole[:size])
FILES = [
    ("a file that is not there", "absent.so", "cannot open 'absent.so': No such file"),
    ("a file that is no object", "text.so", "./text.so: file too short\n"),
    ("a device", "/dev/zero", "'/dev/zero' is not a regular file\n"),
    ("an object that ends within its headers", "cut_40.so", "./cut_40.so: file too short\n"),
    ("an object without a plugin", "symbol.so", "'symbol.so' has no 'skir_pass_plugin', which "
     "SKIR_PASS_PLUGIN(...) of passes/pass_plugin.h makes\n"),
    ("another version of the interface", "interface.so", "'interface.so' is for version 7 of the "
     "interface of plugins, and this skirc has version 1\n"),
    ("other headers", "headers.so", "'headers.so' was built by the headers of another skirc; build it "
     "again by those of this one\n"),
    ("a function that skirc does not have", "function.so",
     "./function.so: undefined symbol: program_edit_more"),
]
for claim, path, error in FILES:
    for command in (["opt", "-p", "default"], ["compile", "-o", "none.o"], ["run"], ["check"],
                    ["opt", "--list-passes"]):
        done = tap.skirc(*command, f"--pass-plugin={path}", *([] if "--list-passes" in command else [streams]))
        tap.check(f"{claim}: {command[0]}", done.returncode == 1 and done.stdout == "" and
                  done.stderr.startswith("skirc: --pass-plugin: " + error), done)
# Its headers name bytes after its end: the loader faults where it reads them.
done = opt(streams, "--pass-plugin=cut_4097.so", "-p", "default")
tap.check("an object that ends within its code", done.returncode == 3 and done.stdout == "" and
          re.match(r"skirc: the pass plugin 'cut_4097.so' has ended its process \(signal \d+\)\n",
                   done.stderr), done)
tap.check("nothing is written", not os.path.exists("none.o"))

# ---- What passes do ----

FUNCTIONS = """
#include "ir/syntax/locate.h"
static bool pass_say(struct pass_context *context)
{
    struct diags *diags = context->diags;
    const struct module *module = context->module;
    const struct op *op = &module->graphs.at[0].ops.at[0];
    diag_at(diags, DIAG_plugin_remark, locate_op(module, op, OP_TYPE_NAME, 0), "it is an op");
    diag_at(diags, DIAG_plugin_warning, locate_op(module, op, OP_RESULT, 0), "it has a result");
    return true;
}
static bool pass_refuse(struct pass_context *context)
{
    diag_at(context->diags, DIAG_plugin_error, no_span, "I do not like it");
    return false;
}
static bool pass_unbind(struct pass_context *context)
{
    context->module->graphs.at[0].ops.at[0].kernel = NONE;
    return true;
}
static bool pass_after(struct pass_context *context)
{
    struct graph *graph = &context->module->graphs.at[0];
    uint32_t value = graph->ops.at[0].results.first;
    struct clauses clauses = *op_clauses(graph, &graph->ops.at[graph->ops.count - 1]);
    clauses.after = graph_add_refs(graph, &value, 1);
    vec_push(&graph->clauses, clauses);
    graph->ops.at[graph->ops.count - 1].clauses = graph->clauses.count - 1;
    return true;
}
static bool pass_block(struct pass_context *context)
{
    context->module->entries.at[0].programs[CORE_AIV].instrs.count = 0;
    return true;
}
static bool pass_rename(struct pass_context *context)
{
    struct value *value = &context->module->graphs.at[0].values.at[0];
    value->name = module_name(context->module, "renamed");
    return true;
}
static bool pass_kernel(struct pass_context *context)
{
    module_add_kernel(context->module, module_name(context->module, "more"), KERNEL_aiv_only);
    return true;
}
static bool pass_retype(struct pass_context *context)
{
    context->module->graphs.at[0].values.at[0].type = context->module->graphs.at[0].values.at[1].type;
    context->module->graphs.at[0].ops.at[0].kernel = W_skir;
    return true;
}
static bool pass_deep(struct pass_context *context)
{
    struct module *module = context->module;
    struct attr_value value = {.kind = ATTR_INT, .i = 1};
    for (int i = 0; i < 20000; i++)
        value = (struct attr_value){.kind = ATTR_LIST, .count = 1,
                                    .first = module_add_values(module, &value, 1).first};
    vec_push(&module->attrs, (struct attr){module_name(module, "mine"), NONE, value});
    module->graphs.at[0].ops.at[0].attrs = (struct range){module->attrs.count - 1, 1};
    return true;
}
"""
does = plugin(
    "does", row('"say"', "ASKED", function="say"), row('"refuse"', "ASKED", function="refuse"),
    row('"want"', "ASKED", needs="PROPERTY_BOUND"), row('"promise"', "ASKED", gives="PROPERTY_PARTITIONED"),
    row('"unbind"', "ASKED", function="unbind", changes="KERNELS"),
    row('"after"', "ASKED", function="after", changes="ENTRIES"),
    row('"block"', "ASKED", function="block"), row('"rename"', "ASKED", function="rename", changes="ENTRIES"),
    row('"kernel"', "ASKED", function="kernel"),
    row('"kernel-said"', "ASKED", function="kernel", changes="KERNELS"),
    row('"after-said"', "ASKED", function="after", changes="GRAPHS"),
    row('"retype"', "ASKED", function="retype", changes="GRAPHS"),
    row('"deep"', "ASKED", function="deep", changes="GRAPHS"), functions=FUNCTIONS)
done = opt(does, "-p", "say", "--remarks", "-o", "out.skir")
tap.check("remarks and warnings of its own, with their places", done.returncode == 0 and
          re.search(r"multi_stream.skir:\d+:\d+: remark: it is an op \[plugin-remark\]", done.stderr) and
          re.search(r"multi_stream.skir:\d+:\d+: warning: it has a result \[plugin-warning\]", done.stderr),
          done)
done = opt(does, "-p", "say", "-o", "out.skir")
tap.check("remarks only where they are asked for", "[plugin-remark]" not in done.stderr and
          "[plugin-warning]" in done.stderr, done)
BEHAVIOUR = [
    ("it may refuse the input", "refuse", 1, "error: I do not like it [plugin-error]"),
    ("what it needs must be there", "want", 1, "error: the pass 'want' needs a kernel for every op; "
     "write 'via' or run 'bind-kernels' first [pass-order]"),
    ("what it gives must be there", "promise", 3, "error: behind the pass 'promise' the module is not "
     "partitioned any more, as its row says; this is a defect of the plugin does.so [pass-order]"),
    ("what was there must be kept", "..bind-kernels,unbind", 3, "error: behind the pass 'unbind' the "
     "module is not bound any more, as its row says; this is a defect of the plugin does.so [pass-order]"),
    ("it changes what its row says", "..insert-syncs,after", 3, "error: the pass 'after' has changed "
     "graphs, against its row; this is a defect of the plugin does.so [pass-order]"),
    ("entries that its row does not name", "..insert-syncs,block", 3, "error: the pass 'block' has changed "
     "entries, against its row; this is a defect of the plugin does.so [pass-order]"),
    ("graphs by a pass for entries", "..insert-syncs,rename", 3, "error: the pass 'rename' has changed "
     "graphs, against its row; this is a defect of the plugin does.so [pass-order]"),
    ("kernels", "..insert-syncs,kernel", 3, "error: the pass 'kernel' has changed kernels, against its "
     "row; this is a defect of the plugin does.so [pass-order]"),
    ("kernels that its row names", "..insert-syncs,kernel-said", 0, ""),
    ("then it may", "..partition-scopes,after-said", 0, ""),
    ("a module that is wrong", "retype", 3, "skirc: the pass 'retype' left a wrong module; this is a "
     "defect of the plugin does.so\n"),
    ("a module that its text does not say", "deep", 3, "skirc: the pass 'deep' left a module whose text "
     "is not the same module; this is a defect of the plugin does.so\n"),
]
FAILING = plugin("failing", row('"refuse"', 'AFTER("insert-syncs")', function="refuse"),
                 row('"again"', 'AFTER("bind-kernels")', function="say"), row('"no"', "ASKED"),
                 functions="""
static bool pass_refuse(struct pass_context *context)
{
    diag_at(context->diags, DIAG_plugin_error, no_span, "I do not like it");
    return false;
}
static bool pass_say(struct pass_context *context)
{
    diag_at(context->diags, DIAG_plugin_warning, no_span, "bound");
    return true;
}
""")
for command in (["check"], ["check", "--explain"], ["check", "--launches"], ["compile", "-o", "none.o"],
                ["run"]):
    done = tap.skirc(*command, FAILING, streams)
    tap.check(f"what it refuses, {' '.join(command)} refuses", done.returncode == 1 and
              done.stderr.count("error: I do not like it [plugin-error]") == 1 and
              done.stderr.count("warning: bound [plugin-warning]") == 1, done)
for claim, passes, status, error in BEHAVIOUR:
    done = opt(does, "-p", passes, "--verify-each", "-o", "out.skir")
    tap.check(claim, done.returncode == status and error in done.stderr, done)
ENDING = plugin("ending", row('"crash"', "ASKED", function="crash"), row('"leave"', "ASKED", function="leave"),
                row('"stay"', "ASKED", function="stay"), row('"no"', "ASKED"), functions="""
#include <stdlib.h>
static bool pass_crash(struct pass_context *context)
{
    (void)context;
    return *(volatile bool *)8;
}
static bool pass_leave(struct pass_context *context)
{
    (void)context;
    exit(0);
}
static bool pass_stay(struct pass_context *context)
{
    for (volatile int i = 0; context; i++)
        continue;
    return true;
}
""")
os.environ["SKIR_TOOL_TIMEOUT"] = "1"
for name, said in (("crash", "the pass plugin 'ending.so' has ended its process (signal 11)"),
                   ("leave", "the pass plugin 'ending.so' has ended its process (exit status 0)"),
                   ("stay", "timeout: the pass plugin 'ending.so' does not return")):
    done = opt(ENDING, "-p", name, "-o", "none.skir")
    tap.check(f"a pass that does not come back: {name}", done.returncode == 3 and done.stderr == f"skirc: {said}\n" and
              not os.path.exists("none.skir"), done)
del os.environ["SKIR_TOOL_TIMEOUT"]
CHANGING = plugin("changing", row('"block"', 'AFTER("insert-syncs")', function="block"),
                  row('"no"', "ASKED"), functions="""
static bool pass_block(struct pass_context *context)
{
    context->module->entries.at[0].programs[CORE_AIV].instrs.count = 0;
    return true;
}
""")
for command in ["check"], ["compile", "-o", "none.o"], ["run"]:
    done = tap.skirc(*command, CHANGING, streams)
    tap.check(f"what it changes against its row, {command[0]} says", done.returncode == 3 and
              "error: the pass 'block' has changed entries, against its row; this is a defect of the "
              "plugin changing.so [pass-order]" in done.stderr, done)

tap.done()
