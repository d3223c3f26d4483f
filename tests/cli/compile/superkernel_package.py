"""The Python package superkernel, in the place of the reference compiler's: compile() leaves kernel_meta/NAME.o
and NAME.json of fusion requests, and raises an error with what skirc says where it cannot. Requests are the
example's and the conformance cases beside the repository; the toolkit is a stand-in."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import device_toolkit
import tap

SKIRC = os.path.abspath(tap.SKIRC)
SOURCE = os.path.abspath(tap.SOURCE)
PACKAGE = os.path.join(SOURCE, "frontend", "python")
EXAMPLE = os.path.join(SOURCE, "docs", "examples", "ascend_launch")
CONFORMANCE = os.environ.get("SKIR_CONFORMANCE",
                             os.path.join(SOURCE, os.pardir, "shared", "conformance"))
CASES = ("chain-aiv", "chain-mixed-types", "chain-mix12", "chain-mix11", "split-2", "dual-join",
         "compile-options")
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")
HOME = os.path.join(scratch.name, "toolkit")
BASE = {**os.environ, "PYTHONPATH": PACKAGE, "SKIRC": SKIRC, "ASCEND_HOME_PATH": HOME,
        "SKIR_DEVICE": "aic=24,aiv=48,arch=c220", "PYTHONDONTWRITEBYTECODE": "1"}
CALL = """import json, sys
from superkernel import super_kernel
with open("request.json", encoding="utf-8") as file:
    super_kernel.compile(json.load(file), sys.argv[1], "")
"""


def call(folder, name, code=CALL, **environment):
    return subprocess.run([sys.executable, "-c", code, name], cwd=folder, capture_output=True, text=True,
                          env={**BASE, **environment})


def check_kernel(folder, name, claim, done):
    """Both files, and nothing else, fit to each other."""
    meta = os.path.join(folder, "kernel_meta")
    if not tap.check(f"{claim}: an object and its metadata are made", done.returncode == 0 and
                     sorted(os.listdir(meta)) == [name + ".json", name + ".o"],
                     done.stderr + str(os.path.isdir(meta) and os.listdir(meta))):
        return None
    with open(os.path.join(meta, name + ".json"), encoding="utf-8") as file:
        info = json.load(file)
    with open(os.path.join(meta, name + ".o"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    tap.check(f"{claim}: the metadata are those of the object",
              (info["binFileName"], info["kernelName"], info["sha256"]) == (name, name, digest), info)
    return info


def check_example():
    folder = os.path.join(scratch.name, "example")
    shutil.copytree(EXAMPLE, folder)
    subprocess.run(["clang++", "-c", "-o", "add.o", "-x", "c++", "-"], cwd=folder, check=True, text=True,
                   input='extern "C" void add(unsigned long args) {}')
    info = check_kernel(folder, "s", "the example", call(folder, "s"))
    tap.check("it has the request's ops", info and [
        op["func_name"] for op in info["SuperkernelInfo"]["kernelList"]["aicore"]] == ["add", "add"], info)
    again = call(folder, "s", 'from superkernel import super_kernel\nsuper_kernel.compile(\n'
                 'open("request.json").read(), "s", compile_infos="")')
    check_kernel(folder, "s", "its text", again)
    check_refused(folder)
    check_platform(folder)


def check_refused(folder):
    kernel = os.path.join(folder, "kernel_meta", "s.o")
    for claim, name, environment, text in (
            ("no toolkit", "s", {"ASCEND_HOME_PATH": ""}, "no object is made: ASCEND_HOME_PATH is not set"),
            ("no device", "s", {"SKIR_DEVICE": ""}, "set SKIR_DEVICE, for example to aic=24"),
            ("a device that is none", "s", {"SKIR_DEVICE": "much"}, "skirc import ended with status 2"),
            ("no skirc", "s", {"SKIRC": "", "PATH": "/nowhere"}, "there is no skirc: set SKIRC"),
            ("a name that is a path", "../s", {}, "'../s' is no name of a kernel"),
            ("options that are none", "s", {"SKIR_REQUEST": "1"}, "unknown")):
        code = CALL
        if "SKIR_REQUEST" in environment:
            code = CALL.replace("json.load(file)", 'dict(json.load(file), super_kernel_options="no=1")')
        done = call(folder, name, code, **environment)
        tap.check(f"{claim} is an error that says so", done.returncode == 1 and text in done.stderr,
                  done.stderr)
    tap.check("an object of an earlier request does not stay", not os.path.exists(kernel))
    done = call(folder, "s", 'from superkernel import super_kernel\nsuper_kernel.compile({}, "s")')
    tap.check("a request without ops is one, too", "needs an op_list" in done.stderr, done.stderr)


def check_platform(folder):
    """GE's own package says what the device is, and where kernels go."""
    root = os.path.join(folder, "ge", "asc_op_compile_base", "common")
    for path, text in (("platform/platform_info.py", "def get_soc_spec(key):\n    return {'ai_core_cnt': '20', "
                        "'vector_core_cnt': '40', 'SHORT_SOC_VERSION': 'Ascend910B'}[key]\n"),
                       ("buildcfg/__init__.py", "def get_current_build_config(key):\n    return 'else'\n")):
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)
    done = call(folder, "s", SKIR_DEVICE="", PYTHONPATH=PACKAGE + ":" + os.path.join(folder, "ge"))
    check_kernel(os.path.join(folder, "else"), "s", "with GE's package", done)
    path = os.path.join(root, "platform", "platform_info.py")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("Ascend910B", "Ascend310P"))
    done = call(folder, "s", SKIR_DEVICE="", PYTHONPATH=PACKAGE + ":" + os.path.join(folder, "ge"))
    tap.check("a chip that is not known is an error", done.returncode == 1 and
              "no chip is known by the name 'Ascend310P'" in done.stderr, done.stderr)


def check_requests():
    if not os.path.exists(os.path.join(CONFORMANCE, "cases.json")) or not shutil.which("as"):
        tap.skip("fusion requests", "there are no conformance cases, or no assembler")
        return
    sys.path.insert(0, CONFORMANCE)
    import check
    with open(os.path.join(CONFORMANCE, "cases.json"), encoding="utf-8") as file:
        cases = {case["name"]: case for case in json.load(file)}
    for name in CASES:
        folder = tempfile.mkdtemp(dir=scratch.name)
        check.unpack(cases[name], folder)
        done = call(folder, "te_superkernel_1")
        info = check_kernel(folder, "te_superkernel_1", name, done)
        want = cases[name]["expect"]
        tap.check(f"{name}: the launch is the reference's", info and info["blockDim"] == want["block_num"] and
                  [op["arg_list"]["param_offset"] for op in info["SuperkernelInfo"]["kernelList"]["aicore"]]
                  == want["param_offset"], info)


if shutil.which("clang++"):
    device_toolkit.make(HOME)
    check_example()
    check_requests()
else:
    tap.skip("the package superkernel", "there is no clang++ to stand in for the device compiler")
tap.done()
