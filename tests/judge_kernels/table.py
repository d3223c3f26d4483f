"""Who draws an op of a type: JUDGES has a function Draw -> Op for each name."""

JUDGES = {}

# Operands that say at run time what an op does, by their places.
SAYING = {"Transpose": [1], "Slice": [1, 2], "Tile": [1], "BroadcastTo": [1], "Fill": [0],
          "Pad": [1], "PadV3": [1], "ConcatV2": [1], "SplitV": [1, 2], "GatherV2": [2],
          "ArgMaxV2": [1], "ArgMax": [1], "Cumsum": [1], "CumSum": [1], "TopK": [1], "TopKV2": [1],
          "ReduceSum": [1], "ReduceMax": [1], "ReduceMin": [1], "ReduceProd": [1],
          "ReduceMean": [1], "ReduceAll": [1], "ReduceAny": [1], "ReduceLogSumExp": [1],
          "ReverseV2": [1], "Expand": [1], "PadV2": [1], "MirrorPad": [1], "ScatterNd": [2],
          "OneHot": [1], "ArgMin": [1], "Cumprod": [1], "GroupedMatmul": [3], "GroupedMatMul": [3]}


def judges(*types):
    """Registers a function for op types; it gets the type, too, if there are several."""
    def register(function):
        for op_type in types:
            assert op_type not in JUDGES, op_type
            JUDGES[op_type] = function if len(types) == 1 else named(function, op_type)
        return function
    return register


def named(function, op_type):
    return lambda draw: function(draw, op_type)


def also(name, known):
    """Another name of a type."""
    JUDGES[name] = JUDGES[known]


def draw_op(draw, op_type):
    op = JUDGES[op_type](draw)
    op.type = op_type
    places = [place for place in SAYING.get(op_type, ()) if says(op, place)]
    if places and draw.chance(0.1):
        op.spoil(draw, draw.pick(places))
    return op


def says(op, place):
    """Whether an op has such an operand, with an element or more."""
    operand = op.operands[place] if place < len(op.operands) else None
    tensor = operand[1] if isinstance(operand, tuple) else operand
    return tensor is not None and tensor.data.size > 0
