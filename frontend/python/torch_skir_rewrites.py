"""The rewrites of torch_skir_ops.py: functions of PyTorch that other functions of PyTorch compute.

A rewrite runs while a program is traced. It gives None where the row of the same name in
torch_skir_ops.py is to make an op.
"""

import functools
import math

import torch

from torch_skir_ops import Refused, need, rewrite


def _in_f32(function):
    """As PyTorch does it, computes of f16 and bf16 in f32 and rounds once."""
    @functools.wraps(function)
    def computed(**arguments):
        types = {value.dtype for value in arguments.values()
                 if torch.is_tensor(value) and value.is_floating_point()}
        if types not in ({torch.float16}, {torch.bfloat16}) or arguments.get("dtype"):
            return function(**arguments)
        result = function(**{key: value.float() if torch.is_tensor(value) and value.dtype in types
                             else value for key, value in arguments.items()})
        rounded = [value.to(*types) if value.dtype is torch.float32 else value
                   for value in (result if isinstance(result, tuple) else [result])
                   if value is not None]
        return tuple(rounded) if isinstance(result, tuple) else rounded[0] if rounded else None
    return computed


@rewrite("softplus", "input, beta=1, threshold=20")
@_in_f32
def _scaled_softplus(input, beta, threshold):
    if beta == 1 and threshold >= 20:
        return None
    x = input * beta
    return torch.where(x > threshold, input, torch.nn.functional.softplus(x) / beta)


@rewrite("sign", "input", "1, 0 or -1 by `Greater` and `Less`; 0 of NaN")
def _sign(input):
    if input.dtype is torch.bool:
        return input
    return (input > 0).to(input.dtype) - (input < 0).to(input.dtype)


@rewrite("log2", "input", "`Log` and `Mul`")
@_in_f32
def _log2(input):
    return torch.log(input) * (1 / math.log(2))


@rewrite("log10", "input", "`Log` and `Mul`")
@_in_f32
def _log10(input):
    return torch.log(input) * (1 / math.log(10))


@rewrite("exp2", "input", "`Pow`")
@_in_f32
def _exp2(input):
    x = input if input.is_floating_point() else input.to(torch.get_default_dtype())
    return torch.pow(torch.full((), 2.0, dtype=x.dtype), x)


@rewrite("frac", "input", "`input - trunc(input)`")
def _frac(input):
    return input - torch.trunc(input)


@rewrite("xlogy", "input, other", "`SelectV2` of 0, `input * log(other)` and NaN")
@_in_f32
def _xlogy(input, other):
    input, other = (value if torch.is_tensor(value) else torch.full((), float(value))
                    for value in (input, other))
    product = input * torch.log(other)
    return torch.where((input == 0) & ~torch.isnan(other), torch.zeros_like(product), product)


@rewrite("nan_to_num", "input, nan=None, posinf=None, neginf=None", "`SelectV2`s")
def _nan_to_num(input, nan, posinf, neginf):
    if not input.is_floating_point():
        return input.clone()
    info = torch.finfo(input.dtype)
    x = torch.where(input != input, input.new_full((), 0.0 if nan is None else nan), input)
    x = torch.where(x == math.inf, x.new_full((), info.max if posinf is None else posinf), x)
    return torch.where(x == -math.inf, x.new_full((), info.min if neginf is None else neginf), x)


@rewrite("logit", "input, eps=None", "`log(z / (1 - z))`, of the input or, with `eps`, of a clamp")
@_in_f32
def _logit(input, eps):
    z = input if eps is None else torch.clamp(input, eps, 1 - eps)
    return torch.log(z / (1 - z))


@rewrite("threshold", "input, threshold, value", "`LessEqual` and `SelectV2`")
def _threshold(input, threshold, value):
    return torch.where(input <= threshold, input.new_full((), value), input)


@rewrite("glu", "input, dim=-1", "the first half times the sigmoid of the second")
@_in_f32
def _glu(input, dim):
    first, second = input.chunk(2, dim)
    return first * torch.sigmoid(second)


@rewrite("log_sigmoid_forward", "input", "`Minimum`, `Abs`, `Exp`, `Log1p`")
@_in_f32
def _log_sigmoid(input):
    return (torch.clamp(input, max=0) - torch.log1p(torch.exp(-torch.abs(input))),
            input.new_empty(0))


@rewrite("lerp", "input, end, weight", "`input + weight * (end - input)`")
@_in_f32
def _lerp(input, end, weight):
    if not torch.is_tensor(weight) and abs(weight) >= 0.5:
        return end - (end - input) * (1 - weight)
    return input + weight * (end - input)


@rewrite("addcmul", "input, tensor1, tensor2, value=1", "`input + value * tensor1 * tensor2`")
@_in_f32
def _addcmul(input, tensor1, tensor2, value):
    return input + (tensor1 if value == 1 else tensor1 * value) * tensor2


@rewrite("addcdiv", "input, tensor1, tensor2, value=1", "`input + value * tensor1 / tensor2`")
@_in_f32
def _addcdiv(input, tensor1, tensor2, value):
    return input + (tensor1 if value == 1 else tensor1 * value) / tensor2


def _all_dims(input, dim):
    """The dimensions of a reduction: none is all."""
    given = [dim] if isinstance(dim, int) else list(dim or [])
    return given or list(range(input.dim()))


def _count(input, dim):
    return math.prod(input.shape[axis] for axis in _all_dims(input, dim)) if input.dim() else 1


def _variance(input, dim, correction, keepdim):
    dim, correction = _all_dims(input, dim), 1 if correction is None else correction
    far = input - input.mean(dim, True)
    count = _count(input, dim) - correction
    return (far * far).sum(dim, keepdim) / (count if count > 0 else math.nan)


_BY_CORRECTION = "input, dim=None, correction=None, keepdim=False"


@rewrite("var", _BY_CORRECTION, "`ReduceMeanD`, `Sub`, `Mul`, `ReduceSumD`, `RealDiv`")
@_in_f32
def _var(input, dim, correction, keepdim):
    return _variance(input, dim, correction, keepdim)


@rewrite("std", _BY_CORRECTION, "`Sqrt` of `var`")
@_in_f32
def _std(input, dim, correction, keepdim):
    return torch.sqrt(_variance(input, dim, correction, keepdim))


@rewrite("var_mean", _BY_CORRECTION, "`var` and `mean`")
@_in_f32
def _var_mean(input, dim, correction, keepdim):
    return (_variance(input, dim, correction, keepdim),
            input.mean(_all_dims(input, dim), keepdim))


@rewrite("std_mean", _BY_CORRECTION, "`std` and `mean`")
@_in_f32
def _std_mean(input, dim, correction, keepdim):
    return (torch.sqrt(_variance(input, dim, correction, keepdim)),
            input.mean(_all_dims(input, dim), keepdim))


def _norm_of(x, order, dim, keepdim):
    dim = _all_dims(x, dim)
    if order == 2:
        return torch.sqrt((x * x).sum(dim, keepdim))
    size = torch.abs(x)
    if order == 1:
        return size.sum(dim, keepdim)
    if order == math.inf:
        return size.amax(dim, keepdim)
    if order == -math.inf:
        return size.amin(dim, keepdim)
    if order == 0:
        return (x != 0).to(x.dtype).sum(dim, keepdim)
    return size.pow(order).sum(dim, keepdim).pow(1 / order)


@rewrite("norm", "input, p=2, dim=None, keepdim=False, dtype=None",
          "`Sqrt` of a sum of squares; other orders by `Abs`, `Pow`, `ReduceMaxD`, `ReduceMinD`",
          "complex numbers")
@_in_f32
def _norm(input, p, dim, keepdim, dtype):
    need(not input.is_complex(), "complex numbers")
    x = input if dtype is None else input.to(dtype)
    return _norm_of(x, 2 if p is None else p, dim, keepdim)


@rewrite("linalg_vector_norm", "input, ord=2, dim=None, keepdim=False, dtype=None", "as `norm`",
          "complex numbers")
@_in_f32
def _vector_norm(input, ord, dim, keepdim, dtype):
    return _norm(input=input, p=ord, dim=dim, keepdim=keepdim, dtype=dtype)


@rewrite("nansum", "input, dim=None, keepdim=False, dtype=None", "`sum` of a `SelectV2`")
def _nansum(input, dim, keepdim, dtype):
    x = input
    if input.is_floating_point():
        x = torch.where(input != input, input.new_zeros(()), input)
    return x.sum(_all_dims(input, dim), keepdim, dtype=dtype)


@rewrite("count_nonzero", "input, dim=None", "`sum` of `input != 0`")
def _count_nonzero(input, dim):
    return (input != 0).sum(_all_dims(input, dim))


@rewrite("aminmax", "input, dim=None, keepdim=False", "`amin` and `amax`")
def _aminmax(input, dim, keepdim):
    dim = _all_dims(input, dim)
    return input.amin(dim, keepdim), input.amax(dim, keepdim)


@rewrite("addmm baddbmm", "input, mat1, mat2, beta=1, alpha=1")
def _scaled_addmm(input, mat1, mat2, beta, alpha):
    if beta == 1 and alpha == 1:
        return None
    product = mat1 @ mat2 if alpha == 1 else (mat1 @ mat2) * alpha
    return product if beta == 0 else input * beta + product


@rewrite("mv", "input, vec", "`MatMul` with a matrix of one column")
def _mv(input, vec):
    return (input @ vec.unsqueeze(1)).squeeze(1)


@rewrite("addmv", "input, mat, vec, beta=1, alpha=1", "`mv` and `Add`")
def _addmv(input, mat, vec, beta, alpha):
    product = mat @ vec.unsqueeze(1) * alpha
    return product.squeeze(1) if beta == 0 else input * beta + product.squeeze(1)


@rewrite("dot", "input, tensor", "`Mul` and `ReduceSumD`")
@_in_f32
def _dot(input, tensor):
    return (input * tensor).sum(dtype=input.dtype)


@rewrite("native_group_norm", "input, weight, bias, N, C, HxW, group, eps",
          "`native_layer_norm` of each group, `Mul` and `Add`")
@_in_f32
def _group_norm(input, weight, bias, N, C, HxW, group, eps):
    groups = input.reshape(N, group, C // group * HxW)
    y = torch.nn.functional.layer_norm(groups, groups.shape[2:], eps=eps).reshape(input.shape)
    shape = [1, C] + [1] * (input.dim() - 2)
    y = y if weight is None else y * weight.reshape(shape)
    y = y if bias is None else y + bias.reshape(shape)
    mean, rest = groups.mean(2), groups - groups.mean(2, True)
    return y, mean, torch.rsqrt((rest * rest).mean(2) + eps)


@rewrite("native_batch_norm",
          "input, weight, bias, running_mean, running_var, training, momentum, eps",
          "`Sub`, `Mul` with `Rsqrt`, `Mul`, `Add`",
          "training with running statistics: the import ends")
@_in_f32
def _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    if training and running_mean is not None:
        raise Refused("batch norm in training mode changes its statistics while it runs; call "
                      "eval() of the module")
    shape, mean, var = [1, input.shape[1]] + [1] * (input.dim() - 2), running_mean, running_var
    if training:
        dim = [axis for axis in range(input.dim()) if axis != 1]
        mean, var = input.mean(dim), _variance(input, dim, 0, False)
    y = (input - mean.reshape(shape)) * torch.rsqrt(var + eps).reshape(shape)
    y = y if weight is None else y * weight.reshape(shape)
    y = y if bias is None else y + bias.reshape(shape)
    return y, input.new_empty(0), input.new_empty(0)


@rewrite("_weight_norm_interface", "v, g, dim=0", "`v * (g / norm(v))`, the norm over the other "
          "dimensions")
@_in_f32
def _weight_norm(v, g, dim):
    norm = _norm_of(v, 2, [axis for axis in range(v.dim()) if axis != dim % v.dim()], True)
    return v * (g / norm), norm


@rewrite("view", "input, size")
def _strided_view(input, size):
    """A view of what was written has the layout of the written tensor only in PyTorch."""
    return None if input.is_contiguous() else input.contiguous().view(size)


@rewrite("unbind", "input, dim=0", "`SplitD`, a `Reshape` each")
def _unbind(input, dim):
    if input.shape[dim] == 0:
        return None
    return [part.squeeze(dim) for part in input.split(1, dim)]


@rewrite("constant_pad_nd", "input, pad, value=0")
def _negative_pad(input, pad, value):
    if min(pad, default=0) >= 0:
        return None
    for i in range(len(pad) // 2):
        axis, before, after = input.dim() - 1 - i, min(pad[2 * i], 0), min(pad[2 * i + 1], 0)
        input = input.narrow(axis, -before, input.shape[axis] + before + after)
    return torch.nn.functional.pad(input, [max(number, 0) for number in pad], value=value)


@rewrite("roll", "input, shifts, dims=[]", "`SliceD`s and `ConcatD`")
def _roll(input, shifts, dims):
    if not dims:
        return _roll(input.reshape(-1), shifts, [0]).reshape(input.shape)
    for shift, axis in zip(shifts, dims):
        count = input.shape[axis]
        at = -shift % count if count else 0
        if at:
            input = torch.cat([input.narrow(axis, at, count - at), input.narrow(axis, 0, at)],
                              axis)
    return input.clone()


@rewrite("diagonal", "input, offset=0, dim1=0, dim2=1", "`TransposeD`, `Reshape`, `GatherV2`")
def _diagonal(input, offset, dim1, dim2):
    dim1, dim2 = dim1 % input.dim(), dim2 % input.dim()
    rest = [axis for axis in range(input.dim()) if axis not in (dim1, dim2)]
    x = input.permute(*rest, dim1, dim2)
    return x.reshape(*x.shape[:-2], -1).index_select(-1, _diagonal_places(x, offset))


def _diagonal_places(x, offset):
    """Where the diagonals of matrices are in their elements."""
    rows, columns = x.shape[-2:]
    row, column = max(-offset, 0), max(offset, 0)
    count = max(min(rows - row, columns - column), 0)
    return torch.arange(count) * (columns + 1) + (row * columns + column)


@rewrite("diagonal_scatter", "input, src, offset=0, dim1=0, dim2=1",
          "`ScatterUpdate` of a `Reshape`")
def _diagonal_scatter(input, src, offset, dim1, dim2):
    order = [axis for axis in range(input.dim())
             if axis not in (dim1 % input.dim(), dim2 % input.dim())]
    order += [dim1 % input.dim(), dim2 % input.dim()]
    x = input.permute(order)
    places = _diagonal_places(x, offset)
    flat = x.reshape(*x.shape[:-2], -1).index_copy(-1, places, src.to(input.dtype))
    return flat.reshape(x.shape).permute([order.index(axis) for axis in range(input.dim())])


@rewrite("rot90", "input, k=1, dims=[0, 1]", "`TransposeD` and reversed dimensions")
def _rot90(input, k, dims):
    turns = k % 4
    if turns == 0:
        return input.clone()
    reversed = {1: [dims[1]], 2: dims, 3: [dims[0]]}[turns]
    return input.flip(reversed) if turns == 2 else input.flip(reversed).transpose(*dims)


@rewrite("diag", "input, diagonal=0", "`diagonal`, or `SelectV2` by a constant mask")
def _diag(input, diagonal):
    if input.dim() == 2:
        return _diagonal(input, diagonal, 0, 1)
    count = input.shape[0] + abs(diagonal)
    place = torch.arange(count)
    kept = place - place.unsqueeze(1) == diagonal
    x = torch.nn.functional.pad(input, (max(diagonal, 0), max(-diagonal, 0)))
    return torch.where(kept, x, input.new_zeros(()))


@rewrite("unfold", "input, dimension, size, step", "`GatherV2`, `Reshape`, `TransposeD`")
def _unfold(input, dimension, size, step):
    need(input.dim(), "an input without dimensions")
    axis = dimension % input.dim()
    count = (input.shape[axis] - size) // step + 1
    places = torch.arange(count).unsqueeze(1) * step + torch.arange(size)
    x = input.index_select(axis, places.reshape(-1))
    x = x.reshape(*input.shape[:axis], count, size, *input.shape[axis + 1:])
    return x.movedim(axis + 1, -1)


@rewrite("pixel_shuffle", "input, upscale_factor", "`Reshape`, `TransposeD`, `Reshape`")
def _pixel_shuffle(input, upscale_factor):
    r, (c, h, w) = upscale_factor, input.shape[-3:]
    lead = list(input.shape[:-3])
    n = len(lead)
    x = input.reshape(*lead, c // (r * r), r, r, h, w)
    x = x.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return x.reshape(*lead, c // (r * r), h * r, w * r)


@rewrite("copy", "input, src", "the source, cast and expanded")
def _copy(input, src):
    return src.to(input.dtype).expand(input.shape).clone()


@rewrite("fill", "input, value", "the value, cast and expanded")
def _fill(input, value):
    if torch.is_tensor(value):
        return value.to(input.dtype).expand(input.shape)
    return torch.full_like(input, value)


@rewrite("zero", "input", "`Const {value = 0}`")
def _zero(input):
    return torch.zeros_like(input)


@rewrite("slice_scatter", "input, src, dim=0, start=None, end=None, step=1",
          "`ConcatD` of what is before, the source, and what follows; with a `step`, a `GatherV2`")
def _slice_scatter(input, src, dim, start, end, step):
    count = input.shape[dim]
    start, end = (min(max(place + count if place < 0 else place, 0), count)
                  for place in (start or 0, count if end is None else end))
    src = src.to(input.dtype)
    if src.shape[dim] == count:
        return src.clone()
    if step == 1:
        parts = [input.narrow(dim, 0, start), src, input.narrow(dim, end, count - end)]
        return torch.cat([part for part in parts if part.shape[dim]], dim) if end > start \
            else input.clone()
    place = torch.arange(count)
    written = (place >= start) & (place < end) & ((place - start) % step == 0)
    place = torch.where(written, (place - start) // step + count, place)
    return torch.cat([input, src], dim).index_select(dim, place)


@rewrite("select_scatter", "input, src, dim, index", "as `slice_scatter`")
def _select_scatter(input, src, dim, index):
    index = index % input.shape[dim]
    return _slice_scatter(input, src.unsqueeze(dim), dim, index, index + 1, 1)


def _linear_places(input, indices):
    """(x, places, shape): x has the indexed dimensions as its first one; `shape` replaces it."""
    need(all(index is None or index.dtype in (torch.int32, torch.int64) for index in indices),
          "a mask, whose result has as many elements as the mask has true ones")
    indexed = [axis for axis, index in enumerate(indices) if index is not None]
    rest = [axis for axis in range(input.dim()) if axis not in indexed]
    counts = [input.shape[axis] for axis in indexed]
    tensors = torch.broadcast_tensors(*(index.to(torch.int64) for index in indices
                                        if index is not None))
    places = None
    for index, count in zip(tensors, counts):
        index = torch.where(index < 0, index + count, index)
        places = index if places is None else places * count + index
    x = input.permute(*indexed, *rest)
    x = x.reshape(math.prod(counts), *(input.shape[axis] for axis in rest))
    return x, places, indexed, rest


@rewrite("index", "input, indices",
          "`GatherV2`; of several dimensions, of a `Reshape` to one; negative places count from "
          "the end", "masks: the import ends, since the shape of the result depends on values")
def _index(input, indices):
    x, places, indexed, rest = _linear_places(input, indices)
    shape, first = list(places.shape), indexed[0]
    y = x.index_select(0, places.reshape(-1)).reshape(*shape, *x.shape[1:])
    if indexed != list(range(first, first + len(indexed))):  # the indexed dimensions stay first
        return y
    order = list(range(len(shape), len(shape) + first)) + list(range(len(shape)))
    return y.permute(*order, *range(len(order), y.dim()))


@rewrite("index_put", "input, indices, values, accumulate=False",
          "`ScatterUpdate`; with a mask and one value, `SelectV2`",
          "`accumulate`, a mask with several values")
def _index_put(input, indices, values, accumulate):
    need(not accumulate, "accumulate")
    if len(indices) == 1 and indices[0].dtype is torch.bool and values.numel() == 1:
        mask = indices[0].reshape(*indices[0].shape, *[1] * (input.dim() - indices[0].dim()))
        return torch.where(mask, values.reshape(()).to(input.dtype), input)
    x, places, indexed, rest = _linear_places(input, indices)
    first = indexed[0]
    need(indexed == list(range(first, first + len(indexed))), "dimensions apart from each other")
    shape = [*places.shape, *x.shape[1:]]
    if first:  # the values have the dimensions before the indexed ones first
        before = [input.shape[axis] for axis in rest[:first]]
        after = [input.shape[axis] for axis in rest[first:]]
        values = values.expand(*before, *places.shape, *after)
        values = values.movedim(list(range(first, first + places.dim())), list(range(places.dim())))
    values = values.expand(shape).reshape(places.numel(), *x.shape[1:])
    y = torch.index_copy(x, 0, places.reshape(-1), values)
    y = y.reshape(*(input.shape[axis] for axis in [*indexed, *rest]))
    order = [*indexed, *rest]
    return y.permute(*(order.index(axis) for axis in range(input.dim())))


@rewrite("mse_loss", "input, target, reduction=1", "`Sub`, `Mul`, a reduction")
@_in_f32
def _mse_loss(input, target, reduction):
    far = input - target
    return _loss(far * far, reduction)


@rewrite("smooth_l1_loss", "input, target, reduction=1, beta=1.0", "`SelectV2` and a reduction")
@_in_f32
def _smooth_l1_loss(input, target, reduction, beta):
    far = torch.abs(input - target)
    if beta == 0:
        return _loss(far, reduction)
    return _loss(torch.where(far < beta, 0.5 * far * far / beta, far - 0.5 * beta), reduction)


def _loss(loss, reduction):
    return loss.mean() if reduction == 1 else loss.sum() if reduction == 2 else loss


@rewrite("nll_loss_forward", "input, target, weight, reduction, ignore_index",
          "`Equal` with the classes, `SelectV2`, reductions")
@_in_f32
def _nll_loss(input, target, weight, reduction, ignore_index):
    hit = torch.arange(input.shape[-1]) == target.unsqueeze(-1)
    hit = hit & (target != ignore_index).unsqueeze(-1)
    zero = input.new_zeros(())
    share = torch.where(hit, input.new_ones(()) if weight is None else weight, zero).sum(-1)
    loss = -torch.where(hit, input, zero).sum(-1) * share
    total = share.sum()
    if reduction == 0 and input.dim() > 1:
        return loss, input.new_zeros(())
    return (loss.sum() / total if reduction == 1 else loss.sum()), total


# ---- More elementwise functions ----


@rewrite("copysign", "input, other", "`Abs`, `Neg`, `SelectV2`", "a negative zero as `other`")
def _copysign(input, other):
    need(not torch.is_tensor(other), "a tensor as 'other', whose negative zeros count")
    size = torch.abs(input) if input.is_floating_point() else torch.abs(input.float())
    return -size if math.copysign(1, other) < 0 else size


@rewrite("sgn", "input", "as `sign`", "complex numbers")
def _sgn(input):
    need(not input.is_complex(), "complex numbers")
    return _sign(input)


@rewrite("heaviside", "input, values", "`SelectV2`s; 0 of NaN")
def _heaviside(input, values):
    return torch.where(input == 0, values, (input > 0).to(input.dtype))


def _ignoring_nan(extreme):
    def function(input, other):
        result = extreme(input, other)
        if not result.is_floating_point():
            return result
        input, other = input.to(result.dtype), other.to(result.dtype)
        result = torch.where(torch.isnan(other), input, result)
        return torch.where(torch.isnan(input), other, result)
    return function


rewrite("fmax", "input, other", "`Maximum` and `SelectV2`s of what is no NaN")(
    _ignoring_nan(torch.maximum))
rewrite("fmin", "input, other", "`Minimum` and `SelectV2`s of what is no NaN")(
    _ignoring_nan(torch.minimum))


@rewrite("deg2rad", "input", "`Mul`")
def _deg2rad(input):
    return input * (math.pi / 180)


@rewrite("rad2deg", "input", "`Mul`")
def _rad2deg(input):
    return input * (180 / math.pi)


@rewrite("hypot", "input, other", "`Sqrt` of the scaled squares")
@_in_f32
def _hypot(input, other):
    first, second = torch.abs(input), torch.abs(other)
    large = torch.maximum(first, second)
    scale = torch.where((large == 0) | torch.isinf(large), torch.ones_like(large), large)
    return scale * torch.sqrt((first / scale) ** 2 + (second / scale) ** 2)


@rewrite("logaddexp", "input, other", "`Maximum`, `Exp`, `Log1p`")
@_in_f32
def _logaddexp(input, other):
    far = torch.where(input == other, torch.zeros_like(input - other), -torch.abs(input - other))
    return torch.maximum(input, other) + torch.log1p(torch.exp(far))


# ---- More products ----


def _integer_product(input, other):
    """Sums of products, which wrap as PyTorch's."""
    if input.is_floating_point() or input.is_complex():
        return None
    need(input.numel() * other.shape[-1] <= 1 << 22, "integers of these sizes")
    product = input.unsqueeze(-1) * other.unsqueeze(-3)
    return product.sum(-2, dtype=input.dtype)


@rewrite("mm bmm", "input, mat2")
def _integer_mm(input, mat2):
    return _integer_product(input, mat2)


@rewrite("vdot", "input, other", "`dot`", "complex numbers")
def _vdot(input, other):
    need(not input.is_complex(), "complex numbers")
    return _dot(input=input, tensor=other)


@rewrite("addbmm", "input, mat1, mat2, beta=1, alpha=1", "`bmm`, `sum` and `Add`")
def _addbmm(input, mat1, mat2, beta, alpha):
    product = torch.bmm(mat1, mat2).sum(0) * alpha
    return product if beta == 0 else input * beta + product


@rewrite("linalg_cross", "input, other, dim=-1", "products of rolled operands")
@_in_f32
def _cross(input, other, dim):
    input, other = torch.broadcast_tensors(input, other)

    def turned(x, by):
        return x.roll(-by, dim)
    return turned(input, 1) * turned(other, 2) - turned(input, 2) * turned(other, 1)


@rewrite("trace", "input", "the sum of the diagonal")
def _trace(input):
    return _diagonal(input, 0, 0, 1).sum()


@rewrite("diag_embed", "input, offset=0, dim1=-2, dim2=-1", "`SelectV2` by a constant mask, "
         "`TransposeD`")
def _diag_embed(input, offset, dim1, dim2):
    count = input.shape[-1] + abs(offset)
    place = torch.arange(count)
    x = torch.nn.functional.pad(input, (max(offset, 0), max(-offset, 0))).unsqueeze(-2)
    x = torch.where(place - place.unsqueeze(1) == offset, x, input.new_zeros(()))
    return x.movedim((-2, -1), (dim1, dim2))


# ---- More places ----


def _strided_places(input, size, stride, storage_offset):
    """The places in a contiguous tensor that a view with these strides has."""
    places = torch.full((1,) * len(size), storage_offset or 0)
    for axis, (count, step) in enumerate(zip(size, stride)):
        shape = [count if i == axis else 1 for i in range(len(size))]
        places = places + (torch.arange(count) * step).reshape(shape)
    last = (storage_offset or 0) + sum((count - 1) * step for count, step in zip(size, stride))
    need(input.is_contiguous() and input.storage_offset() == 0 and last < input.numel(),
         "a layout of its own")
    return places.reshape(-1)


@rewrite("as_strided", "input, size, stride, storage_offset=None", "`GatherV2` of a `Reshape`",
         "an input that is no contiguous tensor of its own")
def _as_strided(input, size, stride, storage_offset):
    places = _strided_places(input, size, stride, storage_offset)
    return input.reshape(-1).index_select(0, places).reshape(size)


@rewrite("as_strided_scatter", "input, src, size, stride, storage_offset=None",
         "`ScatterUpdate` of a `Reshape`", "an input that is no contiguous tensor of its own")
def _as_strided_scatter(input, src, size, stride, storage_offset):
    places = _strided_places(input, size, stride, storage_offset)
    return input.reshape(-1).index_copy(0, places, src.reshape(-1)).reshape(input.shape)


@rewrite("take", "input, index", "`GatherV2` of a `Reshape`")
def _take(input, index):
    index = torch.where(index < 0, index + input.numel(), index)
    return input.reshape(-1).index_select(0, index.reshape(-1)).reshape(index.shape)


@rewrite("index_fill", "input, dim, index, value", "`index_copy` of the value")
def _index_fill(input, dim, index, value):
    index = index.reshape(-1)
    index = torch.where(index < 0, index + input.shape[dim], index)
    shape = [index.numel() if axis == dim % input.dim() else n
             for axis, n in enumerate(input.shape)]
    value = value.to(input.dtype) if torch.is_tensor(value) else input.new_full((), value)
    return input.index_copy(dim, index, value.expand(shape))


@rewrite("index_add", "input, dim, index, source, alpha=1", "`scatter_add` of an expanded index")
def _index_add(input, dim, index, source, alpha):
    need(input.dim(), "an input without dimensions")
    shape = [index.numel() if axis == dim % input.dim() else 1 for axis in range(input.dim())]
    return input.scatter_add(dim, index.reshape(shape).expand(source.shape),
                             source if alpha == 1 else source * alpha)


# ---- Images ----


def _windows(input, axis, size, step, dilation=1):
    """The windows along a dimension: it is followed by a new one, which is the place in it."""
    axis = axis % input.dim()
    count = (input.shape[axis] - dilation * (size - 1) - 1) // step + 1
    places = torch.arange(count).unsqueeze(1) * step + torch.arange(size) * dilation
    x = input.index_select(axis, places.reshape(-1))
    return x.reshape(*input.shape[:axis], count, size, *input.shape[axis + 1:])


def _pair(value, default=()):
    value = list(value or default)
    return value * 2 if len(value) == 1 else value


@rewrite("avg_pool2d", "input, kernel_size, stride=[], padding=[0, 0], ceil_mode=False, "
         "count_include_pad=True, divisor_override=None", "`GatherV2`s of windows and a mean",
         "`ceil_mode`; `padding` without `count_include_pad`; `divisor_override`")
@_in_f32
def _avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                divisor_override):
    size, padding = _pair(kernel_size), _pair(padding)
    stride = _pair(stride, size)
    need(not ceil_mode and divisor_override is None, "ceil_mode or divisor_override")
    need(count_include_pad or padding == [0, 0], "padding that does not count")
    x = torch.nn.functional.pad(input, (padding[1],) * 2 + (padding[0],) * 2)
    x = _windows(_windows(x, -1, size[1], stride[1]), -3, size[0], stride[0])
    return x.mean((-3, -1))


@rewrite("max_pool2d_with_indices",
         "input, kernel_size, stride=[], padding=[0, 0], dilation=[1, 1], ceil_mode=False",
         "`GatherV2`s of windows, a maximum and its place", "`ceil_mode`; integers")
def _max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode):
    need(not ceil_mode and input.is_floating_point(), "ceil_mode or integers")
    size, padding = _pair(kernel_size), _pair(padding)
    dilation, stride = _pair(dilation), _pair(stride, size)
    x = torch.nn.functional.pad(input, (padding[1],) * 2 + (padding[0],) * 2, value=-math.inf)
    x = _windows(_windows(x, -1, size[1], stride[1], dilation[1]), -3, size[0], stride[0],
                 dilation[0])
    x = x.transpose(-3, -2)  # ..., rows, columns, window
    x = x.reshape(*x.shape[:-2], size[0] * size[1])
    values, place = x.max(-1)
    row = torch.arange(x.shape[-3]).unsqueeze(1) * stride[0] - padding[0]
    column = torch.arange(x.shape[-2]) * stride[1] - padding[1]
    row = row + torch.div(place, size[1], rounding_mode="floor") * dilation[0]
    return values, row * input.shape[-1] + column + place % size[1] * dilation[1]


@rewrite("upsample_nearest1d upsample_nearest2d upsample_nearest3d",
         "input, output_size=None, scale_factors=None", "`GatherV2` along each dimension",
         "the form with a scale for each dimension")
def _upsample_nearest(input, output_size, scale_factors):
    for i in range(input.dim() - 2):
        axis, factor = i + 2, scale_factors[i] if scale_factors else None
        before = input.shape[axis]
        after = output_size[i] if output_size else int(before * factor)
        places = torch.arange(after).float() * (1 / factor if factor else before / after)
        input = input.index_select(axis, places.floor().to(torch.int64).clamp(max=before - 1))
    return input


@rewrite("pixel_unshuffle", "input, downscale_factor", "`Reshape`, `TransposeD`, `Reshape`")
def _pixel_unshuffle(input, downscale_factor):
    r, (c, h, w), lead = downscale_factor, input.shape[-3:], list(input.shape[:-3])
    n = len(lead)
    x = input.reshape(*lead, c, h // r, r, w // r, r)
    x = x.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return x.reshape(*lead, c * r * r, h // r, w // r)


@rewrite("channel_shuffle", "input, groups", "`Reshape`, `TransposeD`, `Reshape`")
def _channel_shuffle(input, groups):
    x = input.reshape(input.shape[0], groups, input.shape[1] // groups, *input.shape[2:])
    return x.transpose(1, 2).reshape(input.shape)


# ---- More losses ----


@rewrite("huber_loss", "input, target, reduction=1, delta=1.0", "`SelectV2` and a reduction")
@_in_f32
def _huber_loss(input, target, reduction, delta):
    far = torch.abs(input - target)
    return _loss(torch.where(far <= delta, 0.5 * far * far, delta * (far - 0.5 * delta)), reduction)


@rewrite("soft_margin_loss", "input, target, reduction=1", "`Exp`, `Log1p` and a reduction")
@_in_f32
def _soft_margin_loss(input, target, reduction):
    return _loss(torch.log1p(torch.exp(-target * input)), reduction)


@rewrite("binary_cross_entropy", "input, target, weight=None, reduction=1",
         "`Log`, `Log1p`, `Maximum` and a reduction")
@_in_f32
def _binary_cross_entropy(input, target, weight, reduction):
    loss = (target - 1) * torch.clamp(torch.log1p(-input), min=-100) \
        - target * torch.clamp(torch.log(input), min=-100)
    return _loss(loss if weight is None else loss * weight, reduction)


@rewrite("binary_cross_entropy_with_logits", "input, target, weight=None, pos_weight=None, "
         "reduction=1", "`Exp`, `Log1p` and a reduction")
@_in_f32
def _binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction):
    below = torch.log1p(torch.exp(-torch.abs(input))) + torch.clamp(-input, min=0)
    share = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * input + share * below
    return _loss(loss if weight is None else loss * weight, reduction)
