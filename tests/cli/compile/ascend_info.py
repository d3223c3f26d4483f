"""Compile info and metadata of the Ascend target: as their schemas say, with keys in one order, and
for the fusion requests of the conformance cases beside the repository what the reference compiler
gives the host."""

import json
import os
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.SKIRC = os.path.abspath(tap.SKIRC)
SCRATCH = tempfile.mkdtemp()
FOLDER = os.environ.get("SKIR_CONFORMANCE",
                        os.path.join(tap.SOURCE, os.pardir, "shared", "conformance"))


def schema_of(name):
    with open(os.path.join(tap.SOURCE, "docs", name), encoding="utf-8") as file:
        return json.load(file)


SCHEMA = schema_of("compile-info.schema.json")
META_SCHEMA = schema_of("kernel-meta.schema.json")


def against(schema, value):
    """What the schema has against a value, where it can be asked; or None."""
    if not jsonschema:
        return None
    error = jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(schema).iter_errors(value))
    return error and f"{error.json_path}: {error.message}"


def write(name, text):
    path = os.path.join(SCRATCH, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def emit(what, path, *options):
    """What is emitted of a file, or None; and what was said."""
    done = tap.skirc("compile", path, f"--emit={what}", *options)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


PROGRAM = """skir 1

kernel @mm : mix_aic_1_2 {
  op = "MatMul", block = 4, object = "mm.o", function = {aic = "mm_mix_aic", aiv = "mm_mix_aiv"},
  params = [x, w, y, workspace], early_start = [set]
}
kernel @add : aiv_only {
  op = "Add", block = 6, object = "add.o", function = "run", params = [a, b, y],
  _debugOptions = "printf,oom", _debugBufSize = 76800
}
kernel @mul : aiv_only {
  op = "Mul", block = 8, object = "mul.o", function = "run", params = [a, b, y],
  _debugOptions = "assert,printf", _debugBufSize = 512
}

graph @g(%x: f16[64, 64], %w: f16[64, 64]) -> f16[64, 64] {
  superkernel @s {options = "split-mode=2:compile-options=-g, -DX=1:preload-code=none"} {
    %m = MatMul(%x, %w) : f16[64, 64] via @mm
    %a = Add(%m, %x) : f16[64, 64] via @add
    %y = Mul(%a, %x) : f16[64, 64] via @mul
  }
  return %y
}
"""


def check_program():
    info, said = emit("compile-info", write("program.skir", PROGRAM))
    if not tap.check("compile info of a super kernel is made", info is not None, said):
        return
    tap.check("it is as its schema says", not against(SCHEMA, info), against(SCHEMA, info))
    tap.check("its keys stand in the order of the schema",
              list(info) == SCHEMA["$defs"]["entry"]["required"], list(info))
    tap.check("functions of one name in two objects are told apart",
              [kernel["sub_kernel_names"] for kernel in info["sub_operator"]] ==
              [["mm_mix_aic", "mm_mix_aiv", "mm_mix_aic_split1", "mm_mix_aiv_split1"],
               ["run", "run_split1"], ["run_k2", "run_k2_split1"]], info["sub_operator"])
    tap.check("words of dumps come once, with the largest buffer",
              (info["timestamp_option"], info["debug_option"], info["debug_size"]) ==
              (True, "printf,oom,assert", 76800), info)
    tap.check("the compiler is told of early start, the dump, and what the option says",
              info["compile_option"] ==
              ["-D__ASCENDC_ENABLE_SET_NEXT_TASK_START", "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END",
               "-D__ASCENDC_SUPERKERNEL_EARLY_START_V2", "-DASCENDC_DUMP", "-g", "-DX=1"],
              info["compile_option"])
    tap.check("options that were given, and no others",
              info["sp_options"] == {"preload-code": "none", "split-mode": 2,
                                     "compile-options": "-g, -DX=1"}, info["sp_options"])
    tap.check("slots are those of the entry",
              (info["param_offset"], info["notify_param_offset"], info["wait_param_offset"]) ==
              ([1, 5, 8], [5, 8, 11], [5, 8, 11]), info)


FED = """skir 1

kernel @sum : mix_aic_1_1 {
  op = "Sum", block = 2, object = "sum.a", function = {aic = "sum_mix_aic", aiv = "sum_mix_aiv"},
  params = [x, y], sync_all, dcci_after, split = 4
}
kernel @wide : aic_only {
  op = "Wide", block = 4, object = "wide.o", function = "wide", params = [x, y]
}

graph @g(%x: f16[64]) -> (f16[64], f16[64]) {
  scope @s {options = "stream-fusion=1:feed-sync-all=1:profiling=1"} {
    %a = Sum(%x) : f16[64] via @sum
    stream "7" {
      %b = Wide(%a) : f16[64] via @wide
    }
  }
  stream "main" {
    %c = Wide(%b) : f16[64] via @wide
  }
  return %b, %c
}
"""


def check_meta():
    meta, said = emit("meta", write("program.skir", PROGRAM))
    if not tap.check("metadata of a super kernel are made", meta is not None, said):
        return
    required = META_SCHEMA["$defs"]["entry"]["required"]
    tap.check("they are as their schema says", not against(META_SCHEMA, meta),
              against(META_SCHEMA, meta))
    tap.check("their keys stand in the order of the schema",
              [key for key in meta if key in required] == required, list(meta))
    write("meta.json", json.dumps(meta))
    done = tap.skirc("where", os.path.join(SCRATCH, "meta.json"), "--pc=0")
    tap.check("made without an object, they hold no addresses", done.returncode == 1 and
              "hold no addresses: they were made without an object [no-place]" in done.stderr and
              "'skirc compile --target=ascend -o OUT.o', which writes OUT.json" in done.stderr,
              done.stderr)
    tap.check("the launch is told", [meta[key] for key in
                                     ("blockDim", "coreType", "intercoreSync", "magic",
                                      "taskRation")] ==
              [4, "MIX", 1, "RT_DEV_BINARY_MAGIC_ELF", "1:2"], meta)
    tap.check("and its dump", (meta["debugOptions"], meta["debugBufSize"]) ==
              ("oom,assert", 76800), meta)
    tap.check("nothing is said of an object that is not there",
              "sha256" not in meta and meta["parameters"] == meta["memoryStamping"] == [], meta)
    fed, said = emit("meta", write("fed.skir", FED))
    if not tap.check("metadata of a launch with fed barriers are made", fed is not None, said):
        return
    tap.check("they are as their schema says, too", not against(META_SCHEMA, fed),
              against(META_SCHEMA, fed))
    info, said = emit("compile-info", write("fed.skir", FED))
    tap.check("both tell the same workspace",
              fed["workspace"]["size"] == [info["workspace_size"]], (fed, info))
    ops = fed["SuperkernelInfo"]["kernelList"]["aicore"]
    tap.check("of each op its kernel, stream and slots are told",
              [(op["func_name"], op["split_mode"], op["streamid"], op["sub_op_with_sync_all"],
                op["sub_operator_call_dcci_after_kernel_end"], op["arg_list"]["param_offset"])
               for op in ops] ==
              [("sum", 4, 0, True, True, 1), ("wide", None, 7, False, False, 4)], ops)


PAIR = """skir 1

target "NAME" {aic = 4, aiv = 8}

kernel @c : aic_only {
  block = 4, object = "c.o", function = "c", params = [x, y]
}
kernel @v : aiv_only {
  block = BLOCKS, object = "v.o", function = "v", params = [x, y]
}

graph @g(%x: f16[64]) -> f16[64] {
  superkernel @s {
    %m = Cube(%x) : f16[64] via @c
    %y = Vector(%m) : f16[64] via @v
  }
  return %y
}
"""


def check_definitions():
    """What headers depend on is defined in compilations of 1:1 launches."""
    one, split = "-D__MIX_CORE_AIC_RATION__=1", "-D__ASCENDC_DAVID_SPLIT_CORE__"
    for name, blocks, wanted in (("Ascend910B1", 4, [one]), ("Ascend910B1", 8, []),
                                 ("Ascend950PR", 4, [one, split]), ("Ascend350", 8, [])):
        text = PAIR.replace("NAME", name).replace("BLOCKS", str(blocks))
        done = tap.skirc("compile", "--emit=commands", write("pair.skir", text))
        words = done.stdout.replace("\\\n", " ").split()
        found = [word for word in (one, split) if words.count(word) == 2]
        tap.check(f"definitions of the compilation for {name} with {blocks} AIVs",
                  done.returncode == 0 and found == wanted and "-D__MIX_CORE_MACRO__=1" in words,
                  done.stdout + done.stderr)


def check_chip():
    path = write("chip.skir", PAIR.replace("NAME", "npu").replace("BLOCKS", "4"))
    for what in "ascendc", "compile-info", "commands":
        done = tap.skirc("compile", path, f"--emit={what}")
        tap.check(f"{what} takes a target whose name says no chip", done.returncode == 0, done.stderr)
        done = tap.skirc("compile", path, f"--emit={what}", "--target=ascend")
        tap.check(f"{what} with --target=ascend does not", done.returncode == 1 and not done.stdout
                  and "[unknown-chip]" in done.stderr, done.stderr)
    helped = tap.skirc("check", path, "--target=ascend")
    write("chip.skir", PAIR.replace("NAME", "npu").replace("BLOCKS", "4")
          .replace("aiv = 8}", 'aiv = 8, arch = "c220"}'))
    done = tap.skirc("check", path, "--target=ascend")
    tap.check("its help removes the error", """add 'arch = "c220"' to the target""" in helped.stderr
              and done.returncode == 0, helped.stderr + done.stderr)


def check_nothing():
    path = write("nothing.skir", "skir 1\n")
    info, said = emit("compile-info", path)
    tap.check("without a super kernel there is a list of none, and a warning",
              info == [] and "[nothing-to-fuse]" in said, (info, said))
    out = os.path.join(SCRATCH, "nothing.o")
    with open(out, "w") as file:
        file.write("of an earlier program")
    done = tap.skirc("compile", "--target=ascend", "-o", out, path)
    tap.check("and no object, not even an earlier one",
              done.returncode == 0 and "no object is made" in done.stderr and
              not os.path.exists(out), done.stderr)
    for name in ("nothing.json", "nothing.info.json"):
        with open(os.path.join(SCRATCH, name)) as file:
            tap.check(f"{name} has the list of none", json.load(file) == [])
    done = tap.skirc("compile", "--emit=commands", path)
    tap.check("and there are no commands", done.returncode == 0 and
              "there is no object to make" in done.stdout and "asc" not in done.stdout, done.stdout)


def check_case(case):
    """What is wrong with the compile info of a request, or None."""
    sys.path.insert(0, FOLDER)
    import check
    folder = tempfile.mkdtemp(dir=SCRATCH)
    check.unpack(case, folder)
    device = "aic={aic},aiv={aiv}".format(**case["device"])
    module = os.path.join(folder, "case.skir")
    done = tap.skirc("import", "--format=kernel-info", "--device", device, "--name=k",
                     os.path.join(folder, "request.json"), "-o", module)
    if done.returncode:
        return done.stderr
    info, said = emit("compile-info", module)
    if info is None:
        return said
    wrong = [f"{key}: {info[key]}, but the reference has {case['expect'][key]}"
             for key in ("kernel_type", "block_num", "param_offset", "compile_option")
             if key in case["expect"] and info[key] != case["expect"][key]]
    return "\n".join(wrong) or against(SCHEMA, info)


def check_requests():
    if not os.path.exists(os.path.join(FOLDER, "cases.json")):
        tap.skip("fusion requests", "there are no conformance cases")
        return
    with open(os.path.join(FOLDER, "cases.json"), encoding="utf-8") as file:
        cases = [case for case in json.load(file) if not case["expect"].get("error")]
    for case in cases:
        wrong = check_case(case)
        tap.check(f"the reference's for request {case['name']}", not wrong, wrong)


check_program()
check_meta()
check_definitions()
check_chip()
check_nothing()
check_requests()
tap.done()
