"""Generated dumps, in all forms that skirc import reads: chains of ops of about as much text to an op
as real dumps have.

FORMS has for each form what its file's name ends with, and the functions that write it. An op's line
or message is made of its number, its type and the numbers of the ops whose results it takes.
"""

import collections
import json
import os

KINDS = ("Add", "Relu", "Mul", "Sigmoid")
SHAPE = (8, 64, 28, 28)

Form = collections.namedtuple("Form", "suffix head op tail")


def kind_of(number):
    return KINDS[number % 4] if number else "Data"


def name_of(number):
    return f"model/block{number // 64}/{kind_of(number).lower()}_{number}"


def proto_attr(indent, key, value):
    return f"{indent}attr {{\n{indent}  key: \"{key}\"\n{indent}  value {{\n{indent}    {value}\n" \
           f"{indent}  }}\n{indent}}}\n"


# ---- GE's graphs as protobuf text; TorchAir's are its first message, without the braces ----

GE_ATTRS = (("_datadump_original_op_names", 's: "block"'), ("imply_type", "i: 1"),
            ("alpha", "f: 0.25"), ("_is_aicore", "b: true"), ("stream_label", 's: "main"'))


def ge_desc(indent, kind, name=""):
    dims = "".join(f"{indent}    dim: {n}\n" for n in SHAPE)
    return (f"{indent}{kind} {{\n{name}{indent}  dtype: DT_FLOAT16\n"
            f"{indent}  shape {{\n{dims}{indent}  }}\n{indent}  layout: \"NCHW\"\n"
            + proto_attr(indent + "  ", "origin_format", 's: "NCHW"')
            + f"{indent}  has_out_attr: true\n{indent}  size: 802816\n{indent}}}\n")


def ge_op(number, inputs, indent="  "):
    inner = indent + "  "
    text = f'{indent}op {{\n{inner}name: "{name_of(number)}"\n{inner}type: "{kind_of(number)}"\n'
    text += "".join(f'{inner}input: "{name_of(n)}:0"\n' for n in inputs)
    text += "".join(proto_attr(inner, key, value) for key, value in GE_ATTRS)
    text += f"{inner}has_out_attr: true\n"
    text += "".join(ge_desc(inner, "input_desc") for _ in inputs)
    return text + ge_desc(inner, "output_desc") + f"{inner}id: {number + 1}\n{indent}}}\n"


def torchair_op(number, inputs):
    return ge_op(number, inputs, "")


# ---- Nodes of TensorFlow, and TorchAir's in that form: messages in strings ----

def tf_op(number, inputs):
    op = kind_of(number) if number else "Placeholder"
    dims = "".join(f"        dim {{\n          size: {n}\n        }}\n" for n in SHAPE)
    return (f'node {{\n  name: "{name_of(number)}"\n  op: "{op}"\n'
            + "".join(f'  input: "{name_of(n)}"\n' for n in inputs)
            + '  device: "/device:NPU:0"\n' + proto_attr("  ", "T", "type: DT_HALF")
            + proto_attr("  ", "_output_shapes", "list {\n      shape {\n" + dims + "      }\n    }")
            + "}\n")


def torchair_pbtxt_op(number, inputs):
    def quoted(text):
        return "s: '" + text.replace("\n", "\\n") + "'"

    def desc(name):
        text = ge_desc("", "d", f'  name: "{name}"\n')
        return quoted("".join(line[2:] for line in text.splitlines(True)[1:-1]))

    return (f'node {{\n  name: "{name_of(number)}"\n  op: "{kind_of(number)}"\n'
            + "".join(f'  input: "{name_of(n)}:0"\n' for n in inputs)
            + "".join(proto_attr("  ", key, quoted(value + "\n")) for key, value in GE_ATTRS)
            + "".join(proto_attr("  ", f"[i]x{i}", desc(f"x{i}")) for i in range(len(inputs)))
            + proto_attr("  ", "[o]y", desc("y")) + "}\n")


# ---- ONNX, and GE's idea of it ----

def onnx_attr(name, kind, values):
    values = "".join(f"      {value}\n" for value in values)
    return f'    attribute {{\n      name: "{name}"\n{values}      type: {kind}\n    }}\n'


def onnx_op(number, inputs):
    if number == 0:
        return '  input {\n    name: "value_0"\n' + onnx_type + "  }\n"
    return ("  node {\n" + "".join(f'    input: "value_{n}"\n' for n in inputs)
            + f'    output: "value_{number}"\n    name: "{name_of(number)}"\n'
            + f'    op_type: "{kind_of(number)}"\n' + onnx_attr("alpha", "FLOAT", ["f: 0.25"])
            + onnx_attr("kernel_shape", "INTS", ["ints: 3", "ints: 3"])
            + onnx_attr("auto_pad", "STRING", ['s: "NOTSET"'])
            + f'  }}\n  value_info {{\n    name: "value_{number}"\n' + onnx_type + "  }\n")


onnx_type = ("    type {\n      tensor_type {\n        elem_type: 10\n        shape {\n"
             + "".join(f"          dim {{\n            dim_value: {n}\n          }}\n" for n in SHAPE)
             + "        }\n      }\n    }\n")


def ge_onnx_op(number, inputs):
    def desc(side, n):
        return (onnx_attr(f"{side}_desc_dtype:{n}", "STRING", ['s: "DT_FLOAT16"'])
                + onnx_attr(f"{side}_desc_layout:{n}", "STRING", ['s: "NCHW"'])
                + onnx_attr(f"{side}_desc_shape:{n}", "INTS", [f"ints: {d}" for d in SHAPE])
                + onnx_attr(f"{side}_desc_size:{n}", "INT", ["i: 802816"]))

    return ("  node {\n" + "".join(f'    input: "{name_of(n)}:0"\n' for n in inputs)
            + f'    output: "{name_of(number)}:0"\n    name: "{name_of(number)}"\n'
            + f'    op_type: "ge:{kind_of(number)}"\n' + onnx_attr("imply_type", "INT", ["i: 1"])
            + "".join(desc("input", i) for i in range(len(inputs))) + desc("output", 0) + "  }\n")


# ---- A line to an op ----

def readable_op(number, inputs):
    takes = ", ".join(f"x{i + 1}=%{name_of(n)}" for i, n in enumerate(inputs))
    attrs = 'attrs = {alpha: 0.250000, axes: {1, 2, 3}, data_format: "NCHW", keep_dims: true}'
    if number == 0:
        return f"  %{name_of(0)} : [#users=1] = Node[type=Data] (attrs = {{index: 0}})\n"
    return (f"  %{name_of(number)} : [#users=1] = Node[type={kind_of(number)}] "
            f"(inputs = ({takes}), {attrs})\n")


def python_name(number):
    return name_of(number).replace("/", "_") + "_0"


def python_op(number, inputs):
    takes = "".join(python_name(n) + ", " for n in inputs)
    if number == 0:
        return (f'{python_name(0)} = ge.Data(index=0, dtype=1, shape={list(SHAPE)}, '
                f'placement="NPU", node_name="{name_of(0)}")\n')
    return (f"{python_name(number)} = ge.{kind_of(number)}({takes}alpha=0.25, axes=[1, 2, 3], "
            f'data_format="NCHW", keep_dims=True, node_name="{name_of(number)}")\n')


# ---- Tasks of the ahead-of-time super kernel ----

def task(number, inputs):
    """Each tenth waits for the one before it."""
    del inputs
    kernel = {"funcName": f"{kind_of(number)}_{number % 50}", "funcHandle": "0x55d0",
              "numBlocks": 24, "devargs": "0x12c0", "argsSize": 64, "isHostArgs": 0,
              "launchKernelCfg": "0x0", "kernelType": "AI_VECTOR_CORE", "taskRatio": [0, 1],
              "resolvedFuncs": [{"funcAddr": ["0x1", "0x2"], "funcOffset": ["0x100", "0x200"],
                                 "prefetchCnt": [2, 2], "symbolBind": ["LOCAL", "GLOBAL"]}]}
    event = number // 10
    kind = {8: "NOTIFY", 9: "WAIT"}.get(number % 10, "KERNEL")
    part = {"kernelParams": kernel} if kind == "KERNEL" else {"eventParams": {"eventId": event}}
    node = {"nodeId": number, "streamIdxInGraph": 0, "nodeIdxInStream": number, "nodeType": kind,
            "scopeName": f"scope{number // 500}", "isScopeNode": False, "isScopeBegin": False,
            "isScopeEnd": False, "isScopePlaceholder": False, "preNodeId": number - 1,
            "taskInfo": [{"taskId": number, "streamId": 0, "taskType": kind, **part}]}
    lines = json.dumps(node, indent=2).replace("\n", "\n        ")
    return (",\n" if number else "") + "        " + lines


TASKS_HEAD = ('{\n  "version": "1.0",\n  "totalStreams": 1,\n  "streams": [\n    {\n'
              '      "streamIdxInGraph": 0,\n      "nodes": [\n')
ONNX_HEAD = 'ir_version: 9\nproducer_name: "generated"\ngraph {\n  name: "generated"\n'

FORMS = {
    "ge-txt": Form(".txt", 'graph {\n  name: "generated"\n', ge_op, "}\n"),
    "ge-onnx": Form(".pbtxt", ONNX_HEAD, ge_onnx_op, "}\n"),
    "ge-readable": Form(".txt", 'graph("generated"):\n', readable_op, ""),
    "torchair-txt": Form(".txt", 'name: "generated"\n', torchair_op, ""),
    "torchair-pbtxt": Form(".pbtxt", "", torchair_pbtxt_op, ""),
    "torchair-py": Form(".py", "from torchair.ge._ge_graph import get_default_ge_graph\n\n",
                        python_op, ""),
    "onnx-txt": Form(".textproto", ONNX_HEAD, onnx_op, "}\n"),
    "tf-graphdef": Form(".pbtxt", "", tf_op, ""),
    "sk-graph": Form(".json", TASKS_HEAD, task, "\n      ]\n    }\n  ]\n}\n"),
}


def path_of(folder, form, megabytes):
    return os.path.join(folder, f"{form}-{megabytes}{FORMS[form].suffix}")


def generate(path, form, size):
    """Writes about `size` bytes. Every second op takes two results: the last one and a recent one."""
    rule = FORMS[form]
    with open(path + ".part", "w") as out:
        written = out.write(rule.head) + out.write(rule.op(0, []))
        number = 0
        while written < size:
            number += 1
            count = 2 if kind_of(number) in ("Add", "Mul") else 1
            recent = [max(number - 1 - i * 7, 0) for i in range(count)]
            written += out.write(rule.op(number, recent))
        out.write(rule.tail)
    os.replace(path + ".part", path)
