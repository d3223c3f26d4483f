"""What softmaxes, norms and their kin compute: near to real numbers, by the sizes of the terms."""

import numpy as np

from .draws import FLOAT, REAL, Op
from .numbers import Answer, Tensor, rounded
from .table import judges

UNIT = 2.0 ** -24


def softmax(wide, axes):
    shifted = wide - np.max(wide, axis=axes, keepdims=True, initial=-np.inf)
    powers = np.exp(shifted)
    return powers / powers.sum(axis=axes, keepdims=True)


def softmax_unit(dtype):
    return UNIT if dtype != "f64" else 2.0 ** -53


def softmax_error(wide, axes, unit=UNIT):
    """Of the relative error: of the exponents, each by its magnitude, and of the sum."""
    finite = np.where(np.isfinite(wide), np.abs(wide), 0)
    count = np.prod([wide.shape[axis] for axis in axes], dtype=float)
    return unit * (4 + 4 * finite.max(initial=0) + count)


def softmax_input(draw, dtype, shape):
    """Logits, seldom such as have no softmax."""
    x = draw.tame(dtype, shape, draw.pick([1.0, 5.0, 30.0]))
    if draw.chance(0.2):
        rare = draw.random.random(x.shape) < 0.1
        x.data = np.where(rare, x.data.dtype.type(draw.pick([-np.inf, np.inf, np.nan])), x.data)
    return x


def near_softmax(dtype, wide, axes):
    made = softmax(wide, axes)
    error = softmax_error(wide, axes, softmax_unit(dtype)) * np.where(np.isnan(made), 0, made) + 2.0 ** -126
    return Answer(dtype, made, near=2, error=error)


@judges("Softmax")
def softmax_last(draw):
    x = softmax_input(draw, draw.pick(REAL), draw.shape(1, 4))
    return Op(x, near_softmax(x.dtype, x.data.astype(np.float64), (-1,)))


def softmax_axes(draw):
    x = softmax_input(draw, draw.pick(REAL), draw.shape(1, 4))
    axes = draw.maybe(draw.axes(x.data.ndim), 0.7)
    return x, tuple(axes or (-1,)), {"axes": axes}


@judges("SoftmaxV2")
def softmax_v2(draw):
    x, axes, attrs = softmax_axes(draw)
    dtype = draw.pick([x.dtype, "f32" if x.dtype != "f64" else "f64"])
    attrs["half_to_float"] = (dtype != x.dtype) or draw.maybe(False)
    return Op(x, near_softmax(dtype, x.data.astype(np.float64), axes), attrs)


@judges("LogSoftmaxV2")
def log_softmax_v2(draw):
    x, axes, attrs = softmax_axes(draw)
    wide = x.data.astype(np.float64)
    shifted = wide - np.max(wide, axis=axes, keepdims=True, initial=-np.inf)
    made = shifted - np.log(np.exp(shifted).sum(axis=axes, keepdims=True))
    error = softmax_error(wide, axes, softmax_unit(x.dtype))
    return Op(x, Answer(x.dtype, made, near=2, error=error), attrs)


@judges("ScaledMaskedSoftmax")
def scaled_masked_softmax(draw):
    x = draw.tame(draw.pick(FLOAT), draw.shape(2, 4), 3.0)
    scale, upper = draw.pick([None, 1.0, 0.125, -2.0]), draw.chance(0.3)
    mask = draw.tensor("bool", draw.part(x.shape)) if draw.chance(0.7) else None
    wide = x.data.astype(np.float64) * float(np.float32(1.0 if scale is None else scale))
    covered = mask.data if mask else False
    if upper:
        rows, columns = x.shape[-2:]
        covered = np.arange(columns)[None, :] > np.arange(rows)[:, None]
    wide = np.where(covered, -10000.0, wide)
    made = softmax(wide, (-1,))
    visible = np.where(covered, 0, wide)
    error = np.where(made > 0, softmax_error(visible, (-1,)) * made, 0) + 2.0 ** -126
    return Op([x] + ([mask] if mask or draw.chance() else []),
              Answer(x.dtype, made, near=2, error=error),
              {"scale": scale, "fixed_triu_mask": upper or draw.maybe(False)})


@judges("MoeGatingTopKSoftmax")
def moe_gating(draw):
    """Of logits that are equal, or not nearly so."""
    shape = draw.shape(1, 3, elements=2000, empty=False)
    experts, rows = shape[-1], shape[:-1]
    logits = np.rint(draw.random.standard_normal(shape) * 12) / 4
    x = Tensor(draw.pick(FLOAT), logits.astype(np.float32))
    finished = draw.tensor("bool", rows) if draw.chance() else None
    k = draw.int(1, experts)
    chosen = np.argsort(-logits, -1, kind="stable")[..., :k]
    made = softmax(logits, (-1,))
    values = np.take_along_axis(made, chosen, -1)
    error = softmax_error(logits, (-1,)) * values
    if finished:
        chosen = np.where(finished.data[..., None], experts, chosen)
    count = int(np.prod(rows))
    places = np.arange(k)[None, :] * count + np.arange(count)[:, None]
    answers = [Answer(x.dtype, values, near=2, error=error),
               Answer("i32", chosen.astype(np.int32)),
               Answer("i32", places.reshape(rows + (k,)).astype(np.int32))]
    return Op([x] + ([finished] if finished or draw.chance() else []), answers, {"k": k})


# ---- Norms ----

def normed_shape(draw):
    """A shape, and how many dimensions of it are normed."""
    shape = draw.shape(1, 4, elements=4000, empty=draw.chance(0.3))
    return shape, draw.int(1, len(shape))


def mean_of(values, axes):
    """Means along axes; those of nothing are NaN."""
    return values.sum(axis=axes, keepdims=True) / np.prod([values.shape[axis] for axis in axes])


def rms(data, axes, epsilon):
    """The reciprocal root of the mean of squares, of which the relative error is small."""
    wide = data.astype(np.float64)
    return 1 / np.sqrt(mean_of(wide * wide, axes) + float(np.float32(epsilon)))


def rms_answers(x, gamma, epsilon):
    """The results of RmsNorm of a tensor."""
    axes = tuple(range(x.data.ndim - gamma.data.ndim, x.data.ndim))
    root = rms(x.data, axes, epsilon)
    error = UNIT * (8 + np.prod(gamma.shape))
    made = x.data * root * gamma.data
    rstd = root.reshape(x.shape[:axes[0]] + (1,) * len(axes))
    return [Answer(x.dtype, made, near=4, error=error * np.abs(made)),
            Answer("f32", rstd, near=4, error=error * rstd)]


def epsilon_of(draw, default):
    epsilon = draw.pick([None, 1e-5, 0.25, 1e-12])
    return default if epsilon is None else epsilon, {"epsilon": epsilon}


@judges("RmsNorm")
def rms_norm(draw):
    shape, count = normed_shape(draw)
    x = draw.tame(draw.pick(FLOAT), shape, draw.pick([0.01, 1.0, 100.0]))
    gamma = draw.tame(draw.pick([x.dtype, "f32"]), shape[len(shape) - count:])
    epsilon, attrs = epsilon_of(draw, 1e-6)
    return Op([x, gamma], rms_answers(x, gamma, epsilon), attrs)


@judges("AddRmsNorm")
def add_rms_norm(draw):
    shape, count = normed_shape(draw)
    dtype = draw.pick(FLOAT)
    terms = [draw.tame(dtype, shape) for _ in range(2)]
    gamma = draw.tame(dtype, shape[len(shape) - count:])
    epsilon, attrs = epsilon_of(draw, 1e-6)
    total = Tensor(dtype, rounded(dtype, terms[0].data + terms[1].data))
    answers = rms_answers(total, gamma, epsilon) + [Answer(dtype, total.data)]
    return Op([*terms, gamma], answers, attrs)


@judges("LRN")
def lrn(draw):
    x = draw.tame(draw.pick(FLOAT), draw.shape(4, 4, elements=400))
    radius, numbers = draw.pick([None, 0, 1, 3]), [draw.pick([None, 0.5, 2.0]) for _ in range(3)]
    bias, alpha, beta = ((otherwise if number is None else number)
                         for number, otherwise in zip(numbers, (1, 1, 0.5)))
    reach, wide = 5 if radius is None else radius, x.data.astype(np.float64)
    sums = np.zeros_like(wide)
    for at in range(x.shape[-1]):
        sums[..., at] = (wide[..., max(at - reach, 0):at + reach + 1] ** 2).sum(axis=-1)
    made = wide / (bias + alpha * sums) ** beta
    return Op(x, Answer(x.dtype, made, near=4, error=40 * UNIT * np.abs(made)),
              {"depth_radius": radius, "bias": numbers[0], "alpha": numbers[1], "beta": numbers[2],
               "norm_region": draw.maybe("ACROSS_CHANNELS", 0.2)})


@judges("LayerNorm", "LayerNormV3", "LayerNormV4")
def layer_norm(draw, op_type):
    shape, count = normed_shape(draw)
    x = draw.tame(draw.pick(FLOAT), shape, draw.pick([0.1, 1.0, 100.0]))
    norm = len(shape) - count
    shaped = op_type == "LayerNormV4"
    params = norm if shaped or draw.chance(0.6) else draw.int(0, len(shape) - 1)
    gamma = draw.tame(draw.pick([x.dtype, "f32"]), shape[params:])
    beta = draw.tame(gamma.dtype, gamma.shape)
    stored = draw.pick([x.dtype, "f32"])
    epsilon, attrs = epsilon_of(draw, 1e-7 if op_type == "LayerNorm" else 1e-5)
    given = [gamma if not shaped or draw.chance() else None, beta if not shaped or draw.chance() else None]
    gamma = given[0] or Tensor("f32", np.ones(gamma.shape, np.float32))
    beta = given[1] or Tensor("f32", np.zeros(beta.shape, np.float32))
    if not shaped:
        attrs.update(begin_norm_axis=norm - len(shape) * draw.chance(0.3) if norm else draw.maybe(0),
                     begin_params_axis=params if params else draw.maybe(0))
    wide, axes = x.data.astype(np.float64), tuple(range(norm, len(shape)))
    mean = mean_of(wide, axes)
    variance = mean_of((wide - mean) ** 2, axes)
    root = 1 / np.sqrt(variance + float(np.float32(epsilon)))
    made = (wide - mean) * root * gamma.data + beta.data
    step = UNIT * (8 + np.prod(shape[norm:], dtype=float))
    mean_error = step * mean_of(np.abs(wide), axes)
    deviation = np.abs(wide - mean) * (root + root ** 3 * mean_error ** 2)
    error = (step * deviation + mean_error * root) * np.abs(gamma.data) + UNIT * np.abs(beta.data)
    variance_error = step * variance + mean_error ** 2
    last = Answer(stored, variance, near=4, error=4 * variance_error)
    if op_type != "LayerNorm":
        last = Answer(stored, root, near=4, error=4 * (root ** 3 * variance_error + step * root))
    said = [draw.numbers(shape[norm:])] if shaped else []
    return Op([x, *said, *given],
              [Answer(x.dtype, made, near=4, error=4 * error),
               Answer(stored, mean, near=4, error=mean_error), last], attrs)
