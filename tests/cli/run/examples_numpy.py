"""The models among the examples against the same in NumPy, in f64: within what f16 can be off."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap

tap.need_numpy()
import numpy as np

EXAMPLES = os.path.join(tap.SOURCE, "docs", "examples")
random = np.random.default_rng(7)
scratch = tempfile.TemporaryDirectory(prefix="skir-test.")


def normal(dtype, *shape, scale=1.0):
    return (random.standard_normal(shape) * scale).astype(dtype)


def run(name, inputs, outputs, *options):
    """What the outputs are, fused; the run compares all values with those of its ops one by one."""
    arguments = []
    for key, value in inputs.items():
        np.save(os.path.join(scratch.name, key), value)
        arguments += ["-i", f"{key}={scratch.name}/{key}.npy"]
    for key in outputs:
        arguments += ["-o", f"{key}={scratch.name}/{key}.out.npy"]
    path = os.path.join(EXAMPLES, name + ".skir")
    done = tap.skirc("run", path, "--compare=unfused", "--repeat=1", *arguments, *options)
    tap.check(f"{name}: fused is as unfused", done.returncode == 0 and "bit-exact" in done.stdout, done)
    return [np.load(f"{scratch.name}/{key}.out.npy") for key in outputs]


def close(claim, found, wanted, tolerance):
    """`tolerance`: relative to the largest element."""
    off = np.abs(found.astype(np.float64) - wanted).max() / np.abs(wanted).max()
    tap.check(claim, found.shape == wanted.shape and off <= tolerance, f"off by {off:.3g}")


def softmax(x):
    exps = np.exp(x - x.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


def rms_norm(x, gamma):
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-5) * gamma


def wide(inputs):
    return [value.astype(np.float64) for value in inputs.values()]


# ---- the mixture of experts ----


def moe_block(x, gamma, gate, *experts):
    h = rms_norm(x, gamma)
    share = softmax(h @ gate)
    share = np.where(share >= np.sort(share, -1)[:, -2:-1], share, 0)
    share /= share.sum(-1, keepdims=True)
    routed = 0
    for e, (up, down) in enumerate(zip(experts[:4], experts[4:])):
        a, b = np.split(h @ up, 2, -1)
        routed += share[:, e:e + 1] * (a / (1 + np.exp(-a)) * b @ down)
    return x + routed


inputs = {"x": normal("f2", 16, 64), "gamma": normal("f2", 64, scale=0.1) + np.float16(1),
          "gate": normal("f2", 64, 4)}
inputs |= {f"up{e}": normal("f2", 64, 256, scale=0.1) for e in range(4)}
inputs |= {f"down{e}": normal("f2", 128, 64, scale=0.1) for e in range(4)}
found, = run("moe_block", inputs, ["y"])
close("moe_block is as in NumPy", found, moe_block(*wide(inputs)), 2e-3)

# ---- attention with caches ----


def turned(x, cos, sin):
    first, second = np.split(x, 2, -1)
    return x * cos + np.concatenate([-second, first], -1) * sin


def attention_layer(past, x, gamma, wq, wk, wv, wo, keys, values, cos, sin):
    batches = len(x)
    h = rms_norm(x, gamma)
    q = turned((h @ wq).reshape(batches, 8, 32), cos[past], sin[past])
    keys[:, past] = turned((h @ wk).reshape(batches, 2, 32), cos[past], sin[past]).reshape(batches, 64)
    values[:, past] = h @ wv
    k = np.repeat(keys[:, :past + 1].reshape(batches, past + 1, 2, 32), 4, 2)
    v = np.repeat(values[:, :past + 1].reshape(batches, past + 1, 2, 32), 4, 2)
    weights = softmax(np.einsum("bnd,btnd->bnt", q, k) / np.sqrt(32))
    heads = np.einsum("bnt,btnd->bnd", weights, v).reshape(batches, 256)
    return x + heads @ wo, keys, values


for batches, rows, past in (2, 16, 5), (3, 40, 39), (1, 8, 0):
    angles = np.arange(rows)[:, None] / 10000 ** (np.arange(32) % 16 / 16)
    model = {"x": normal("f2", batches, 256), "gamma": normal("f2", 256, scale=0.1) + np.float16(1)}
    for name, columns in ("wq", 256), ("wk", 64), ("wv", 64), ("wo", 256):
        model[name] = normal("f2", 256, columns, scale=0.06)
    model |= {"keys": normal("f2", batches, rows, 64), "values": normal("f2", batches, rows, 64),
              "cos": np.cos(angles).astype("f2"), "sin": np.sin(angles).astype("f2")}
    inputs = model | {"past": np.array([past], "i4"), "places": np.arange(rows, dtype="i4")[None]}
    found = run("attention_layer", inputs, ["y", "keys1", "values1"], "--bind", f"b={batches}", "--bind", f"s={rows}")
    wanted = attention_layer(past, *wide(model))
    for name, one, other in zip(("y", "keys1", "values1"), found, wanted):
        close(f"{name} of attention_layer behind {past} of {rows} tokens is as in NumPy", one, other, 3e-3)

# ---- a step of training ----


def training_step(x, target, w1, b1, w2, b2):
    s1 = x @ w1 + b1
    h = np.maximum(s1, 0)
    prob = softmax(h @ w2 + b2)
    loss = -np.mean(np.sum(target * np.log(prob), -1))
    dlogits = (prob - target) / len(x)
    ds1 = dlogits @ w2.T * (s1 > 0)
    return (loss, w1 - 0.1 * x.T @ ds1, b1 - 0.1 * ds1.sum(0), w2 - 0.1 * h.T @ dlogits,
            b2 - 0.1 * dlogits.sum(0))


inputs = {"x": normal("f4", 32, 20), "target": np.eye(5, dtype="f4")[random.integers(0, 5, 32)],
          "w1": normal("f4", 20, 48, scale=0.3), "b1": normal("f4", 48, scale=0.1),
          "w2": normal("f4", 48, 5, scale=0.3), "b2": normal("f4", 5, scale=0.1)}
names = ["loss", "w1", "b1", "w2", "b2"]
losses = []
for _ in range(20):
    found = run("training_step", inputs, names)
    wanted = training_step(*wide(inputs))
    losses.append(float(found[0]))
    if len(losses) in (1, 20):
        for name, one, other in zip(names, found, wanted):
            close(f"{name} of training_step {len(losses)} is as in NumPy", one, np.asarray(other), 1e-5)
    inputs.update(zip(names[1:], found[1:]))
tap.check("what training is for", losses[-1] < losses[0], losses)
tap.done()
