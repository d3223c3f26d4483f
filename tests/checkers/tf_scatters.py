"""Models of TensorFlow's operators in NumPy: those that move blocks of an image, and scatters."""

import numpy as np
from checkers.tf_models import ANY, NUMBER, exact, op
from checkers.tf_movement import MODELS

__all__ = ["MODELS"]


@op("SpaceToDepth", "DepthToSpace")
def blocks(node):
    """The place in a block, row before column, is the high part of the deep image's channel."""
    t, block, first = node.dtype(ANY), node.int(2, 4), node.chance(0.4)
    node.attr(block, "block_size")
    node.attr("NCHW" if first else "NHWC", "data_format", "NHWC")
    n, h, w, c = (node.int(1, 3) for _ in range(4))
    deep = node.op == "DepthToSpace"
    shape = (n, h, w, block * block * c) if deep else (n, h * block, w * block, c)
    x = node.data(t, tuple(shape[i] for i in (0, 3, 1, 2)) if first else shape)
    x = x.transpose(0, 2, 3, 1) if first else x
    if deep:
        y = x.reshape(n, h, w, block, block, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * block, w * block, c)
    else:
        y = x.reshape(n, h, block, w, block, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h, w, block * block * c)
    return exact(t, y.transpose(0, 3, 1, 2) if first else y)


SCATTERED = {"Add": np.add, "Sub": np.subtract, "Max": np.maximum, "Min": np.minimum}


def places_in(node, dims, lead, once):
    """Random places in dimensions as an array of lead + (rank,); with `once`, none comes twice. Then fewer may fit, and
    the array is shorter."""
    if not once:
        return np.stack([node.random.integers(0, n, lead) for n in dims], -1)
    count = int(np.prod(dims))
    lead = lead if np.prod(lead) <= count else (count,)
    chosen = node.random.permutation(count)[:int(np.prod(lead))].reshape(lead)
    return np.stack(np.unravel_index(chosen, dims), -1)


def scattered(how, x, places, updates):
    """x with updates at places, whose last dimension is one of coordinates."""
    made, where = x.copy(), tuple(np.moveaxis(places, -1, 0))
    if how == "Update":
        made[where] = updates
    else:
        SCATTERED[how].at(made, where, updates)
    return made


@op("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin")
def tensor_scatter(node):
    how = node.op.removeprefix("TensorScatter")
    t, shape, kind = node.dtype(ANY if how == "Update" else NUMBER), node.shape(1), node.dtype("i32 i64", "Tindices")
    x, depth = node.data(t, shape, "whole"), node.int(1, len(shape))
    places = node.give(kind, places_in(node, shape[:depth], node.shape(0, 2, elements=20), how == "Update"))
    updates = node.data(t, places.shape[:-1] + shape[depth:], "whole")
    return exact(t, scattered(how, x, places, updates))
