"""Models of TensorFlow's operators in NumPy: variables, as small graphs in which control edges say what is first."""

import numpy as np
from checkers.tf_models import NUMBER, exact, op
from checkers.tf_nodes import DT, dims_text, node_text
from checkers.tf_scatters import MODELS, places_in, scattered

__all__ = ["MODELS"]


def type_text(dtype):
    return f"type: DT_{DT[dtype]}"


def variable_attrs(t, shape):
    return {"dtype": type_text(t), "shape": f"shape {{ {dims_text(shape)} }}", "shared_name": 's: ""', "container": 's: ""'}


class Steps:
    """What is done to a variable in turn: each step has a control edge from the one before, also by way of a NoOp.

    `value` is what the variable has, and `read` the nodes whose values are results, with their answers."""

    def __init__(self, node, t, value):
        self.node, self.t, self.value, self.handle, self.last = node, t, value, "v", None
        self.texts, self.read, self.numbered = [], [], 0

    def operand(self, dtype, data):
        made = self.node.give(dtype, data)
        return f"x{len(self.node.operands) - 1}", made

    def step(self, op):
        """Does what an operator does to the variable. Inputs and attributes of its node."""
        node, t, dtype = self.node, self.t, {"dtype": type_text(self.t)}
        inputs = [self.handle]
        if op == "ReadVariableOp":
            self.answer = self.value
        elif op in ("ResourceGather", "ResourceScatterUpdate"):
            kind, lead = node.pick(["i32", "i64"]), node.shape(0, 2, elements=20)
            gathers, rows = op == "ResourceGather", self.value.shape[:1]
            name, places = self.operand(kind, places_in(node, rows, lead, not gathers)[..., 0])
            inputs.append(name)
            dtype["Tindices"] = type_text(kind)
            if gathers:
                self.answer = self.value[places]
            else:
                name, updates = self.operand(t, node.elements(t, places.shape + self.value.shape[1:], "whole"))
                inputs.append(name)
                self.value = scattered("Update", self.value, places[..., None], updates)
        else:
            name, x = self.operand(t, node.elements(t, self.value.shape, "whole"))
            inputs.append(name)
            self.value = {"AssignVariableOp": lambda v: x, "AssignAddVariableOp": lambda v: v + x,
                          "AssignSubVariableOp": lambda v: v - x}[op](self.value)
        return inputs + ([f"^{self.last}"] if self.last else []), dtype

    def add(self, op, name=None):
        """Adds a node of an operator; with a name, that of the model."""
        self.numbered += 1
        inputs, attrs = self.step(op)
        self.done(op, name or f"s{self.numbered}")
        if name:
            self.node.inputs, self.node.attrs = inputs, attrs
        else:
            self.texts.append(node_text(self.last, op, inputs, attrs))

    def done(self, op, name):
        self.last = name
        if op in ("ReadVariableOp", "ResourceGather"):
            self.read.append((name, exact(self.t, self.answer)))

    def group(self):
        """Has a NoOp between this step and the next."""
        if self.node.chance(0.3):
            self.numbered += 1
            self.texts.append(node_text(f"g{self.numbered}", "NoOp", [f"^{self.last}"], {}))
            self.last = f"g{self.numbered}"


def place(node, before, after, results):
    """Has the nodes before and after that of the model, also in any order, since edges alone say what is first. Those of
    results are last."""
    if node.chance(0.4):
        mixed = [(before + after)[i] for i in node.random.permutation(len(before + after))]
        cut = node.int(0, len(mixed))
        before, after = mixed[:cut], mixed[cut:]
    node.before, node.after = before, after + results


CHANGES = ["AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp"]
OF_ROWS = ["ResourceGather", "ResourceScatterUpdate"]


@op("VarHandleOp", "ReadVariableOp", *CHANGES, *OF_ROWS)
def resource(node):
    t, shape = node.pick(NUMBER.split()), node.shape(node.op in OF_ROWS)
    others = ["ReadVariableOp", *CHANGES, *(["ResourceGather"] if shape else [])]
    steps, of_variable = Steps(node, t, np.zeros(shape)), variable_attrs(t, shape)
    is_handle = node.op == "VarHandleOp"
    steps.handle = "y" if is_handle else "v"
    if is_handle:
        node.inputs, node.attrs = ["^x0"], of_variable
    else:
        steps.texts.append(node_text("v", "VarHandleOp", [], of_variable))
        if node.op == "AssignVariableOp" and node.chance():
            steps.add("AssignVariableOp", "y")
            node.before, steps.texts = steps.texts, []
    if node.inputs is None or is_handle:
        steps.add("AssignVariableOp")
        steps.group()
    if node.inputs is None:
        for _ in range(node.int(0, 2)):
            steps.add(node.pick(others))
            steps.group()
        steps.add(node.op, "y")
        node.before, steps.texts = steps.texts, []
    for _ in range(node.int(0, 2)):
        steps.group()
        steps.add(node.pick(others))
    steps.group()
    if not steps.read or node.chance(0.7):
        steps.add("ReadVariableOp")
    place(node, node.before, steps.texts, [node_text(f"r{i}", "Identity", [name], {"T": type_text(t)})
                                           for i, (name, _) in enumerate(steps.read)])
    return [answer for _, answer in steps.read]


SCATTERS = {"ScatterUpdate": "Update", "ScatterNdUpdate": "Update", "ScatterNdAdd": "Add"}


@op("AssignAdd", "AssignSub", *SCATTERS)
def reference(node):
    """A chain of changes, each of which has the reference that the one before returns, or that of the variable."""
    t, shape = node.pick(NUMBER.split()), node.shape(node.op in SCATTERS)
    texts = [node_text("v", node.pick(["Variable", "VariableV2"]), [], variable_attrs(t, shape))]
    value = node.data(t, shape, "whole")
    texts.append(node_text("a", "Assign", ["v", "x0"], {"T": type_text(t)}))
    last, chain, own = "a", ["AssignAdd", "AssignSub"][:node.int(0, 2)], node.int(0, 2)
    chain.insert(own, node.op)
    own, unused = min(own, len(chain) - 1), []
    for i, name in enumerate(chain):
        inputs, order, attrs = [last], [], {"T": type_text(t)}
        if node.chance(0.4):
            inputs, order = ["v"], [f"^{last}"]
            unused.append(last)
        if name in SCATTERS:
            kind, lead = node.pick(["i32", "i64"]), node.shape(0, 2, elements=20)
            depth = node.int(1, len(shape)) if "Nd" in name else 1
            attrs["Tindices"] = type_text(kind)
            places = places_in(node, shape[:depth], lead, SCATTERS[name] == "Update")
            node.give(kind, places if "Nd" in name else places[..., 0])
            inputs.append(f"x{len(node.operands) - 1}")
            updates = node.data(t, places.shape[:-1] + shape[depth:], "whole")
            value = scattered(SCATTERS[name], value, places, updates)
        else:
            other = node.data(t, shape, "whole")
            value = value + other if name == "AssignAdd" else value - other
        if node.chance(0.3):
            attrs["use_locking"] = "b: false"
        inputs.append(f"x{len(node.operands) - 1}")
        if i == own:
            node.attrs, node.inputs, last = attrs, inputs + order, "y"
            node.before, texts = texts, []
        else:
            last = f"s{i}"
            texts.append(node_text(last, name, inputs + order, attrs))
    # A reference that no change takes would be a result, whose value depends on when it is read; its shape does not.
    place(node, node.before, texts, [node_text("r", "Identity", [last], {"T": type_text(t)})] + [
        node_text(f"n{i}", "Shape", [name], {"T": type_text(t)}) for i, name in enumerate(unused)])
    return [exact(t, value)] + [exact("i32", np.array(shape, int)) for _ in unused]
