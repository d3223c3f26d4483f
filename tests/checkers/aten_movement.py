"""Random programs of functions of PyTorch that move elements, of losses, and of rarer functions."""

import numpy as np
from checkers.aten_programs import ANY, FLOAT, ROWS, TORCH, row

__all__ = ["DRAWN_AS", "ROWS"]
# Functions of the table that programs reach under another name.
DRAWN_AS = {
    "lift_fresh": "tensor", "lift_fresh_copy": "tensor", "embedding": "Embedding", "dropout": "Dropout", "linalg_cross": "cross",
    "linalg_vector_norm": "vector_norm", "_weight_norm_interface": "weight_norm", "upsample_nearest1d": "upsample",
    "upsample_nearest3d": "upsample",
    **{f"{kind}_pad{rank}d": f"{kind}_pad" for kind in ("reflection", "replication") for rank in (1, 2, 3)},
}


def reshaped(d, shape):
    """Another shape of as many elements, maybe with -1."""
    rest, made = int(np.prod(shape)), []
    while rest > 1 and len(made) < 4:
        made.append(d.pick([n for n in range(1, rest + 1) if rest % n == 0]))
        rest //= made[-1]
    made += [rest] if rest > 1 or not made else []
    if d.chance(0.4):
        made[d.int(0, len(made) - 1)] = -1
    return made


@row("reshape", "view", "flatten", "unflatten", "transpose", "permute", "t", "squeeze", "unsqueeze", "movedim", "expand",
     "expand_as", "broadcast_to", "repeat", "tile", "repeat_interleave", "pad", "narrow", "select", "tril", "triu", "diagonal")
def reshaping(d, name):
    t = d.dtype(ANY if name not in ("pad", "tril", "triu") else FLOAT)
    shape = d.shape(1, elements=200)
    if name == "squeeze":
        shape = tuple(d.pick([1, n]) for n in shape)
    if name in ("tril", "triu", "diagonal"):
        shape = d.shape(2, 4, elements=200)
    if name == "t":
        shape = shape[:2]
    x, rank, axis = d.x(t, shape), len(shape), d.axis(len(shape))
    if name in ("reshape", "view"):
        made = reshaped(d, shape)
        return d.pick([f"{x}.{name}({', '.join(map(str, made))})", f"{x}.{name}({made})"])
    if name in ("expand", "expand_as", "broadcast_to"):
        x = d.x(t, d.part(shape))
        return {"expand": f"{x}.expand({', '.join(map(str, shape))})", "expand_as": f"{x}.expand_as(x0)",
                "broadcast_to": f"torch.broadcast_to({x}, {shape})"}[name] + (", x0 + 0" if name != "expand_as" else "")
    times = [d.int(1, 3) for _ in range(rank + d.chance(0.3))]
    other = d.axis(rank)
    low = d.int(0, shape[axis] - 1)
    pads = [d.int(0, 3) for _ in range(2 * d.int(1, rank))]
    mode = d.pick(["", f", value={d.scalar()}", ", mode='constant'"])
    begin, end = sorted([axis % rank, other % rank])
    return {
        "flatten": d.pick([f"torch.flatten({x}, {begin}, {end})", f"{x}.flatten()", f"{x}.flatten({begin})"]),
        "unflatten": f"{x}.unflatten({axis}, (1, {shape[axis]}))",
        "transpose": d.pick([f"{x}.transpose({axis}, {other})", f"torch.swapaxes({x}, {axis}, {other})"]),
        "permute": f"{x}.permute({', '.join(map(str, d.random.permutation(rank).tolist()))})",
        "t": d.pick([f"{x}.t()", f"{x}.T" if len(shape) == 2 else f"{x}.t()"]),
        "squeeze": d.pick([f"{x}.squeeze()", f"torch.squeeze({x}, {axis})"]),
        "unsqueeze": d.pick([f"{x}.unsqueeze({d.axis(rank, new=True)})", f"{x}[None]", f"{x}[..., None]"]),
        "movedim": f"torch.movedim({x}, {axis}, {other})",
        "repeat": f"{x}.repeat({', '.join(map(str, times))})", "tile": f"torch.tile({x}, {tuple(times)})",
        "repeat_interleave": f"torch.repeat_interleave({x}, {d.int(1, 3)}, dim={axis})",
        "pad": f"torch.nn.functional.pad({x}, {pads}{mode})",
        "narrow": f"{x}.narrow({axis}, {low}, {d.int(1, shape[axis] - low)})", "select": f"{x}.select({axis}, {low})",
        "tril": f"torch.tril({x}{d.keywords(diagonal=(d.int(-2, 2), 0))})",
        "triu": f"torch.triu({x}{d.keywords(diagonal=(d.int(-2, 2), 0))})",
        "diagonal": f"torch.diagonal({x}, 0, -2, -1)",
    }[name]


@row("as_strided", "as_strided_scatter")
def strided(d, name):
    x, size, stride = d.x("f32", (40,)), (d.int(1, 3), d.int(1, 4)), (d.pick([6, 4]), d.pick([1, 2]))
    said = f"{size}, {stride}, {d.int(0, 8)}"
    # What is scattered must not overlap: rows are at least 6 elements apart, and have at most 3.
    if name == "as_strided":
        return d.pick([f"torch.as_strided({x}, {said})", f"({x} + 1).as_strided({said})"])
    return f"torch.as_strided_scatter({x}, {d.x('f32', (size[0], 3))}, {(size[0], 3)}, (6, {stride[1]}), {d.int(0, 8)})"


@row("cat", "stack", "split", "chunk", "unbind", "tensor_split")
def joined(d, name):
    t, shape = d.dtype(ANY), list(d.shape(1, elements=100))
    axis, n = d.axis(len(shape)), d.int(1, 4)
    if name == "cat":
        parts = []
        for _ in range(n):
            shape[axis] = d.int(1, 5)
            parts.append(d.x(t, tuple(shape)))
        return d.pick([f"torch.cat([{', '.join(parts)}], {axis})", f"torch.cat(({', '.join(parts)},), dim={axis})"])
    if name == "stack":
        parts = ", ".join(d.x(t, tuple(shape)) for _ in range(n))
        return f"torch.stack([{parts}]{d.keywords(dim=(d.axis(len(shape), new=True), 0))})"
    sizes = [d.int(1, 4) for _ in range(n)]
    shape[axis] = sum(sizes)
    x = d.x(t, tuple(shape))
    first = d.pick([f"torch.split({x}, {sizes}, dim={axis})", f"{x}.split({d.int(1, 4)}, {axis})"])
    call = {"split": first, "chunk": f"{x}.chunk({d.int(1, 3)}, dim={axis})", "unbind": f"{x}.unbind({axis})",
            "tensor_split": f"torch.tensor_split({x}, {n}, dim={axis})"}[name]
    return f"y = {call}; return y[0], y[-1]"


@row("getitem", "setitem")
def indexed(d, name):
    t, shape = d.dtype(FLOAT + " i64"), d.shape(1, elements=200)
    x, index, dim = d.x(t, shape), [], 0
    ellipsis = d.chance(0.2)
    for n in shape[:d.int(1, len(shape))]:
        low = d.int(0, n - 1)
        kinds = [":", f"{low}:", f":{low + 1}", f"{low}:{d.int(low + 1, n)}", f"::{d.int(1, 3)}", f"-{low + 1}:",
                 str(d.int(-n, n - 1))]
        if name == "getitem" and d.chance(0.1):
            index.append("None")
        index.append(d.pick(kinds))
        dim += 1
    if ellipsis:
        index.append("...")
    text = ", ".join(index)
    if name == "getitem":
        return f"{x}[{text}]"
    value = d.pick(["2", "0"]) if d.chance() else f"{d.x(t, ())}"
    return d.pick([f"y = {x}.clone(); y[{text}] = {value}; return y", f"y = {x} * 2; y[{text}] += {value}; return y, y + 1",
                   f"y = {x} + 0; y[{text}].fill_(3); return y", f"y = {x} + 1; z = y[{text}]; z.mul_(2); return y"])


@row("gather", "index_select", "take_along_dim", "scatter", "scatter_add", "one_hot", "index", "index_put", "masked_select",
     "take")
def places(d, name):
    t, shape = d.dtype("f32 f32 f64 i64"), d.shape(1, 3, elements=100)
    axis = d.axis(len(shape))
    n, count = shape[axis], d.int(1, 5)
    if name == "one_hot":
        many = d.int(2, 6)
        return f"torch.nn.functional.one_hot({d.give('i64', d.random.integers(0, many, shape))}, {many})"
    x = d.x(t, shape, "whole")
    if name == "masked_select":
        return f"torch.masked_select({x}, {d.x('bool', shape)})"
    if name == "take":
        return f"torch.take({x}, {d.give('i64', d.random.integers(0, np.prod(shape), d.shape(0, 2, elements=20)))})"
    if name == "index_select":
        return f"torch.index_select({x}, {axis}, {d.give('i64', d.random.integers(0, n, count))})"
    if name == "index":
        many = d.give("i64", d.random.integers(-shape[0], shape[0], d.shape(1, 2, elements=12)))
        return d.pick([f"{x}[{many}]", f"{x}[..., {d.give('i64', d.random.integers(0, shape[-1], count))}]"])
    if name == "index_put":
        rows = d.give("i64", d.random.permutation(shape[0])[:count])
        return f"y = {x}.clone(); y[{rows}] = {d.scalar() if t != 'i64' else '3'}; return y"
    wide = list(shape)
    wide[axis] = min(count, n) if name == "scatter" else count
    if name == "scatter":
        order = np.argsort(d.random.random(shape), axis)
        index = d.give("i64", np.take(order, range(wide[axis]), axis))
    else:
        index = d.give("i64", d.random.integers(0, n, wide))
    if name.startswith("scatter"):
        return f"{x}.{name}({axis}, {index}, {d.x(t, tuple(wide), 'whole')})"
    return f"torch.{name}({x}, {axis}, {index})" if name == "gather" else f"torch.take_along_dim({x}, {index}, dim={axis})"


@row("arange", "zeros", "ones", "full", "full_like", "eye", "linspace", "new_zeros", "tensor")
def made(d, name):
    t, n = d.dtype("f32 f32 i64"), d.int(1, 9)
    x = d.x(t, (n, n))
    text = {"arange": d.pick([f"torch.arange({n})", f"torch.arange({x}.shape[0])", f"torch.arange(0, {2 * n}, 2)"]),
            "zeros": f"torch.zeros({n}, {n})", "ones": f"torch.ones({x}.shape)", "full": f"torch.full(({n}, 1), 2.5)",
            "full_like": f"torch.full_like({x}, 3)", "eye": f"torch.eye({n})", "linspace": f"torch.linspace(0, 4, {n})",
            "new_zeros": f"{x}.new_zeros({n})", "tensor": f"torch.tensor({[float(i) for i in range(n)]})"}[name]
    return f"{x} + {text}"


@row("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "cross_entropy", "nll_loss",
     "cosine_similarity", "binary_cross_entropy", "binary_cross_entropy_with_logits", ulps=256)
def losses(d, name):
    n, c = d.int(1, 6), d.int(1, 7)
    reduction = d.keywords(reduction=(d.pick(["mean", "sum", "none"]), "mean"))
    if name in ("cross_entropy", "nll_loss"):
        return f"torch.nn.functional.{name}({d.x('f32', (n, c))}, {d.give('i64', d.random.integers(0, c, n))}{reduction})"
    if name == "cosine_similarity":
        return f"torch.nn.functional.{name}({d.x('f32', (n, c))}, {d.x('f32', (n, c))}, dim={d.axis(2)})"
    x, y = d.x("f32", (n, c)), d.x("f32", (n, c))
    if name.startswith("binary"):
        x = x if name.endswith("logits") else f"torch.sigmoid({x})"
        weight = d.pick(["", f", weight={d.x('f32', (c,), 'positive')}"])
        if name.endswith("logits"):
            weight += d.pick(["", f", pos_weight={d.x('f32', (c,), 'positive')}"])
        return f"torch.nn.functional.{name}({x}, torch.sigmoid({y}){weight}{reduction})"
    if name == "soft_margin_loss":
        y = f"torch.sign({y})"
    extra = {"huber_loss": d.keywords(delta=(d.pick([1.0, 2.5]), 1.0)),
             "smooth_l1_loss": d.keywords(beta=(d.pick([1.0, 0.5]), 1.0))}.get(name, "")
    return f"torch.nn.functional.{name}({x}, {y}{reduction}{extra})"


# ---- Rarer ones ----


@row("aminmax", "std_mean", "nansum", "vector_norm", "trace", "cross", "heaviside", "logit", "glu", "weight_norm", ulps=64)
def rarer(d, name):
    shape = d.shape(1, 3, elements=200)
    axis, keep = d.axis(len(shape)), d.keywords(keepdim=(d.chance(), False))
    if name == "cross":
        shape = d.part(shape)[:-1] + (3,)
        return f"torch.linalg.cross({d.x('f32', shape, 'whole')}, {d.x('f32', shape, 'whole')})"
    if name == "weight_norm":
        return f"{d.module('torch.nn.utils.weight_norm(torch.nn.Linear(4, 3))')}({d.x('f32', (2, 4))})"
    if name == "trace":
        return f"torch.trace({d.x('f32', (d.int(1, 5), d.int(1, 5)), 'whole')})"
    if name == "glu":
        shape = shape[:-1] + (2 * d.int(1, 5),)
        return f"torch.nn.functional.glu({d.x('f32', shape)}{d.keywords(dim=(-1, -1))})"
    if name == "nansum":
        x = d.give("f32", np.where(d.random.random(shape) < 0.3, np.nan, 2))
        return d.pick([f"torch.nansum({x})", f"torch.nansum({x}, {axis}{keep})"])
    x = d.x("f32", shape, "special" if name == "logit" and d.chance(0.2) else "plain")
    if name == "heaviside":
        return f"torch.heaviside(torch.trunc({x}), {d.x('f32', d.part(shape))})"
    if name == "logit":
        return f"torch.logit(torch.sigmoid({x}){d.keywords(eps=(d.pick([None, 0.1]), None))})"
    if name == "vector_norm":
        order = d.pick([2, 1, 0, 3, float("inf"), float("-inf")])
        return f"torch.linalg.vector_norm({x}, float('{order}'), dim={axis}{keep})"
    if name == "aminmax":
        return f"y = torch.aminmax({x}, dim={axis}{keep}); return y.min, y.max"
    return f"y = torch.std_mean({x}, {axis}, unbiased=False{keep}); return y[0], y[1]"


@row("index_add", "index_copy", "index_fill", "select_scatter", "slice_scatter", "diagonal_scatter", "diag", "diag_embed",
     "fill", "zero", "copy", "new_full", "new_ones", "new_empty", "empty_like", "channel_shuffle", "pixel_shuffle",
     "pixel_unshuffle", "reflection_pad", "replication_pad", "constant_pad_nd", "rot90", "split_with_sizes", "unfold", "upsample")
def moved(d, name):
    t, shape = d.dtype("f32 f32 f64 i64"), d.shape(2, 3, elements=100)
    axis = d.axis(len(shape))
    n = shape[axis]
    low = d.int(0, n - 1)
    if name in ("channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "reflection_pad", "replication_pad", "upsample"):
        rank = d.int(1, 3)
        x = d.x("f32", (d.int(1, 2), 8, 4, 6)[:4 if name.startswith(("pixel", "channel")) else 2] + (
            (4, 2, 6)[:rank] if name in ("reflection_pad", "replication_pad", "upsample") else ()))
        pads = [d.int(0, 1) for _ in range(2 * rank)]
        mode = {"reflection_pad": "reflect", "replication_pad": "replicate"}.get(name)
        return {"channel_shuffle": f"torch.channel_shuffle({x}, {d.pick([2, 4])})", "pixel_shuffle": f"torch.pixel_shuffle({x}, 2)",
                "pixel_unshuffle": f"torch.pixel_unshuffle({x}, 2)",
                "upsample": f"torch.nn.functional.interpolate({x}, scale_factor={d.pick([2, 3])}, mode='nearest')",
                }.get(name, f"torch.nn.functional.pad({x}, {pads}, mode={mode!r})")
    x, wide = d.x(t, shape, "whole"), list(shape)
    if name in ("index_add", "index_copy", "index_fill"):
        wide[axis] = d.int(1, n)
        index = d.give("i64", d.random.permutation(n)[:wide[axis]])
        return f"{x}.{name}({axis}, {index}, {3 if name == 'index_fill' else d.x(t, tuple(wide), 'whole')}" + (
            d.keywords(alpha=(d.pick([1, 2]), 1)) if name == "index_add" else "") + ")"
    if name == "select_scatter":
        del wide[axis]
        return f"torch.select_scatter({x}, {d.x(t, tuple(wide))}, {axis}, {low})"
    if name == "slice_scatter":
        wide[axis] = d.int(1, n - low)
        return f"torch.slice_scatter({x}, {d.x(t, tuple(wide))}, dim={axis % len(shape)}, start={low}, end={low + wide[axis]}, step=1)"
    square = d.x(t, (3, 3)) if name in ("diagonal_scatter", "diag") else x
    return {
        "diagonal_scatter": f"torch.diagonal_scatter({square}, {d.x(t, (3,))})" if name == "diagonal_scatter" else "",
        "diag": f"torch.diag({square}{d.keywords(diagonal=(d.int(-1, 1), 0))})" if d.chance() else f"torch.diag({x}.flatten())",
        "diag_embed": f"torch.diag_embed({x})", "fill": f"y = {x} + 1; y[..., :1].fill_(2); return torch.fill({x}, 3), y",
        "zero": f"y = {x} + 1; y.zero_(); return y + {x}", "copy": f"y = {x} + 1; y[0].copy_({x}[-1] * 2); return y",
        "new_full": f"{x}.new_full((2, 3), 4) + {x}.sum()", "new_ones": f"{x}.new_ones({shape}) + {x}",
        "new_empty": f"{x}.new_empty({shape}).fill_(2) * {x}", "empty_like": f"y = torch.empty_like({x}); y.copy_({x}); return y * 2",
        "constant_pad_nd": f"torch.constant_pad_nd({x}, [1, 0, 2, 1], 5)", "rot90": f"torch.rot90({x}, {d.int(-1, 3)}, [0, 1])",
        "split_with_sizes": f"y = {x}.split_with_sizes([{low}, {n - low}], {axis}); return y[1], y[0].sum()",
        "unfold": f"{x}.unfold({axis}, {d.int(1, n)}, {d.int(1, 2)})",
    }[name]


@row("aten.alias", "aten._to_copy", "aten._reshape_alias", "aten._unsafe_view",
     "aten.slice", "aten.unsafe_split", "aten.unsafe_split_with_sizes", "aten._softmax", "aten._log_softmax",
     "aten.native_layer_norm", "aten.native_group_norm", "aten.native_batch_norm", "aten.nll_loss_forward",
     "aten.log_sigmoid_forward", "aten.max_pool2d_with_indices", "aten.avg_pool2d", "aten.__lshift__", "aten.__rshift__",
     "aten.scaled_dot_product_attention", "aten.upsample_nearest2d", ulps=512)
def named(d, whole):
    """Functions that programs do not name, but that others are made of."""
    name, d.aten = whole[5:], True
    shape, call = d.shape(2, 3, elements=100), f"torch.ops.{whole}"
    if name in ("__lshift__", "__rshift__"):
        return f"{call}({d.x('i64', shape, 'count')}, {d.x('i64', shape, 'count')})"
    if name == "nll_loss_forward":
        c = d.give("i64", d.random.integers(0, shape[1], shape[0]))
        return f"{call}({d.x('f32', shape[:2])}, {c}, None, {d.int(0, 2)}, -100)[0]"
    if name == "scaled_dot_product_attention":
        q, k, v = (d.x("f32", (2, 5, 4)) for _ in "qkv")
        return f"torch.nn.functional._scaled_dot_product_attention({q}, {k}, {v}{d.keywords(is_causal=(d.chance(), False))})[0]"
    if name in ("native_group_norm", "native_batch_norm", "max_pool2d_with_indices", "avg_pool2d", "upsample_nearest2d"):
        x = d.x("f32", (2, 4, 6, 5))
        w, b, mean = (d.x("f32", (4,)) for _ in range(3))
        return {"native_group_norm": f"{call}({x}, {w}, {b}, 2, 4, 30, 2, 0.001)[0]",
                "native_batch_norm": f"{call}({x}, {w}, {b}, {mean}, {mean}.abs() + 1, False, 0.1, 0.001)[0]",
                "max_pool2d_with_indices": f"y = {call}({x}, [2, 2], [{d.int(1, 2)}, 2], [{d.int(0, 1)}, 0]); return y[0], y[1]",
                "avg_pool2d": f"{call}({x}, [2, 3], [2, 1], [{d.int(0, 1)}, 0])",
                "upsample_nearest2d": f"{call}({x}, [12, 10])"}[name] + " + 0 * (x1.sum() + x2.sum() + x3.sum())" * (
                    not name.startswith("max") and not name.startswith("native"))
    x, axis = d.x("f32", shape), d.axis(len(shape))
    n, size = shape[axis], int(np.prod(shape))
    low = d.int(0, n - 1)
    if name == "native_layer_norm":
        w, b = d.x("f32", shape[-1:]), d.x("f32", shape[-1:])
        return f"y = {call}({x}, [{shape[-1]}], {w}, {b}, 1e-3); return y[0], y[1]"
    return {"_to_copy": f"{call}({x}, dtype={TORCH[d.dtype('f32 i64 f16')]})", "_reshape_alias": f"{call}({x}, [{size}], [1])",
            "_unsafe_view": f"{call}({x}, [{size}, 1])", "slice": f"{call}({x}, {axis}, {low}, {n}, {d.int(1, 2)})",
            "unsafe_split": f"{call}({x}, {d.int(1, n)}, {axis})[-1]", "log_sigmoid_forward": f"{call}({x})[0]",
            "unsafe_split_with_sizes": f"{call}({x}, [{low}, {n - low}], {axis})[1]", "_softmax": f"{call}({x}, {axis}, False)",
            "_log_softmax": f"{call}({x}, {axis}, False)"}.get(name, f"{call}({x}) + 1")


@row("npu_rms_norm", "npu_wait_tensor", "npu_quant_matmul", "npu_dequant_swiglu_quant", ulps=512)
def of_npus(d, name):
    """Functions of torch_npu, whose formulas are those of its documentation."""
    m, k, n = d.int(1, 6), d.int(1, 8), d.int(1, 8)
    if name == "npu_rms_norm":
        epsilon = d.pick([1e-6, 1e-6, 0.01])
        d.x("f32", (m, n, k)), d.x("f32", (k,))
        d.reference = f"r = torch.rsqrt((x0 * x0).mean(-1, keepdim=True) + {epsilon}); return x0 * r * x1, r"
        return f"y = torch_skir.npu_rms_norm(x0, x1{d.keywords(epsilon=(epsilon, 1e-6))}); return y[0], y[1]"
    if name == "npu_wait_tensor":
        d.x("f32", (m, n)), d.x("f32", (k,))
        d.reference = "x0 * 2, x1 + 1"
        return "y = x1 + 1; return torch_skir.npu_wait_tensor(x0, y) * 2, y"
    if name == "npu_quant_matmul":
        d.x("i8", (m, k)), d.x("i8", (k, n)), d.x("f32", (n,), "positive"), d.x("f32", (m,), "positive")
        d.reference = "((x0.float() @ x1.float()) * x2 * x3[:, None]).bfloat16()"
        return "torch_skir.npu_quant_matmul(x0, x1, x2, pertoken_scale=x3, output_dtype=torch.bfloat16)"
    d.x("i32", (m, 2 * k)), d.x("f32", (2 * k,), "positive"), d.x("f32", (m,), "positive")
    left = d.chance()
    a, b = ("left", "right") if left else ("right", "left")
    d.reference = ("left, right = (x0 * x1 * x2[:, None]).chunk(2, -1); "
                   f"y = torch.nn.functional.silu({a}) * {b}; return y.abs().amax(-1) / 127")
    return ("y = torch_skir.npu_dequant_swiglu_quant(x0, weight_scale=x1, activation_scale=x2, "
            f"activate_left={left}, quant_mode=1); return y[1]")


@row("scaled_dot_product", "MultiheadAttention", "conv2d", "max_pool2d", "avg_pool2d", "interpolate", ulps=512)
def large(d, name):
    x = d.x("f32", (2, 4, 6, 6))
    if name == "MultiheadAttention":
        return f"{d.module('torch.nn.MultiheadAttention(8, 2, batch_first=True)')}({d.x('f32', (2, 3, 8))}, x1, x1)[0]"
    if name == "scaled_dot_product":
        q, k, v = (d.x("f32", (2, 2, 5, 8)) for _ in "qkv")
        return f"torch.softmax({q} @ {k}.transpose(-2, -1) / 8 ** 0.5, -1) @ {v}"
    if name == "conv2d":
        return f"{d.module('torch.nn.Conv2d(4, 3, 3)')}({x})"
    return f"torch.nn.functional.{name}({x}, {'scale_factor=2' if name == 'interpolate' else 2})"
