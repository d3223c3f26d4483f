"""Small programs of PyTorch, as people write them, with their inputs: what aten_values.py traces and runs as a whole."""

import math

import torch
import torch.nn.functional as F
from torch import nn

MODELS = {}  # name: a function that makes the module or function, and one that makes the inputs


def model(inputs):
    """A program; `inputs` makes its inputs. A class is made without arguments."""
    def known(program):
        make = program if isinstance(program, type) else lambda: program
        MODELS[program.__name__] = make, inputs
        return program
    return known


def rand(*shapes):
    return lambda: [torch.randn(shape) for shape in shapes]


def ids(*shape, below):
    return torch.randint(0, below, shape)


# ---- Layers ----


@model(rand((8, 16)))
class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.layers(x)


@model(rand((2, 5, 16)))
class SwiGlu(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.gate, self.down = nn.Linear(16, 24, False), nn.Linear(16, 24, False), nn.Linear(24, 16, False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


@model(rand((2, 5, 16)))
class GegluInOne(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(16, 48)

    def forward(self, x):
        value, gate = self.up(x).chunk(2, dim=-1)
        return value * F.gelu(gate)


@model(rand((2, 5, 16)))
class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(16))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


@model(rand((4, 8), (4, 8)))
class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.linear, self.dropout = nn.LayerNorm(8), nn.Linear(8, 8), nn.Dropout(0.1)

    def forward(self, x, skip):
        return skip + self.dropout(torch.tanh(self.linear(self.norm(x))))


@model(lambda: [ids(2, 7, below=20)])
class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(20, 8), nn.Embedding(16, 8)

    def forward(self, words):
        places = torch.arange(words.shape[1])
        return self.words(words) * math.sqrt(8) + self.places(places)


@model(lambda: [ids(3, 6, below=12)])
class TiedHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(12, 8)

    def forward(self, words):
        return self.words(words).mean(1) @ self.words.weight.t()


@model(rand((3, 6, 4, 4)))
class BatchNormInference(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(6)
        self.norm.running_mean.uniform_(-1, 1)
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return F.relu(self.norm(x)).mean((2, 3))


@model(rand((5, 8)))
class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Linear(8, 2), nn.Linear(2, 8)

    def forward(self, x):
        return x * torch.sigmoid(self.up(F.relu(self.down(x))))


@model(rand((4, 6), (4, 6)))
class LstmCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.x, self.h = nn.Linear(6, 24), nn.Linear(6, 24, bias=False)

    def forward(self, x, h):
        i, f, g, o = (self.x(x) + self.h(h)).split(6, dim=1)
        c = torch.sigmoid(i) * torch.tanh(g) + torch.sigmoid(f) * h
        return torch.sigmoid(o) * torch.tanh(c), c


@model(rand((4, 6), (4, 6)))
class GruCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.x, self.h = nn.Linear(6, 18), nn.Linear(6, 18)

    def forward(self, x, h):
        xr, xz, xn = self.x(x).chunk(3, 1)
        hr, hz, hn = self.h(h).chunk(3, 1)
        z = torch.sigmoid(xz + hz)
        return (1 - z) * torch.tanh(xn + torch.sigmoid(xr + hr) * hn) + z * h


@model(rand((3, 5, 4)))
class UnrolledRecurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 4)

    def forward(self, x):
        h = torch.zeros(3, 4)
        states = []
        for step in range(5):
            h = torch.tanh(self.cell(torch.cat([x[:, step], h], -1)))
            states.append(h)
        return torch.stack(states, 1)


@model(rand((4, 12)))
class LowRankAdapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.base, self.a, self.b = nn.Linear(12, 10), nn.Parameter(torch.randn(12, 2)), nn.Parameter(torch.randn(2, 10))

    def forward(self, x):
        return self.base(x) + (x @ self.a @ self.b) * 0.5


@model(rand((4, 3)))
class BufferScale(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 4.0]))

    def forward(self, x):
        return x * (self.scale * 2 + 1) - self.scale.mean()


# ---- Attention ----


class Attention(nn.Module):
    def __init__(self, causal=False, heads=2):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        if self.causal:
            scores = scores.masked_fill(torch.triu(torch.ones(n, n), 1).bool(), float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))


@model(rand((2, 6, 16)))
class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        return self.attention(x)


@model(rand((2, 6, 16)))
class CausalAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention(causal=True)

    def forward(self, x):
        return self.attention(x)


@model(rand((2, 4, 8), (2, 7, 8)))
class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.kv = nn.Linear(8, 8), nn.Linear(8, 16)

    def forward(self, x, memory):
        k, v = torch.split(self.kv(memory), 8, dim=-1)
        return torch.bmm(torch.softmax(torch.bmm(self.q(x), k.transpose(1, 2)) * 8 ** -0.5, dim=2), v)


@model(lambda: [torch.randn(2, 5, 8), torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]).bool()])
def padding_mask(x, keep):
    scores = torch.matmul(x, x.transpose(1, 2)).masked_fill(~keep[:, None, :], -1e9)
    return torch.matmul(F.softmax(scores, dim=-1), x)


@model(rand((2, 4, 5, 8), (2, 2, 5, 8), (2, 2, 5, 8)))
def grouped_queries(q, k, v):
    k, v = (t[:, :, None].expand(2, 2, 2, 5, 8).reshape(2, 4, 5, 8) for t in (k, v))
    return torch.softmax(q @ k.transpose(-1, -2) * 0.35, -1) @ v


@model(rand((2, 3, 6, 8)))
class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        angles = torch.arange(6).float()[:, None] * 10000 ** (-torch.arange(0, 8, 2).float() / 8)
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos())
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin())

    def forward(self, q):
        first, second = q[..., :4], q[..., 4:]
        return q * self.cos + torch.cat([-second, first], dim=-1) * self.sin


@model(rand((2, 6, 8)))
def rotary_pairs(x):
    even, odd = x[..., ::2], x[..., 1::2]
    angle = torch.arange(6.0)[:, None] / torch.tensor([1.0, 10.0, 100.0, 1000.0])
    made = torch.stack([even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()], -1)
    return made.flatten(-2)


@model(rand((2, 4, 5, 5)))
def alibi(scores):
    slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625])
    distance = torch.arange(5)[None, :] - torch.arange(5)[:, None]
    return torch.softmax(scores + slopes[:, None, None] * distance, dim=-1)


@model(rand((1, 2, 6, 4), (1, 2, 1, 4)))
def cache_update(cache, new):
    cache = cache.clone()
    cache[:, :, 3:4] = new
    return cache, cache[:, :, :4].sum(2)


@model(rand((1, 2, 6, 4), (1, 2, 1, 4)))
def cache_append(cache, new):
    cache = torch.cat([cache, new], dim=2)
    return cache, torch.softmax(new @ cache.transpose(2, 3), -1) @ cache


@model(rand((2, 6, 8)))
def windowed(x):
    windows = x.view(2, 3, 2, 8)
    return torch.einsum("bwid,bwjd->bwij", windows, windows).relu().sum((2, 3))


@model(rand((2, 5, 8)))
def linear_attention(x):
    q, k = F.elu(x) + 1, F.elu(x) + 1
    return q @ (k.transpose(1, 2) @ x) / (q @ k.sum(1)[:, :, None])


# ---- Choices ----


@model(rand((6, 8)))
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 4), nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])

    def forward(self, x):
        weights, chosen = torch.topk(torch.softmax(self.gate(x), -1), 2, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        y = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            share = (weights * (chosen == i)).sum(-1, keepdim=True)
            y = y + share * expert(x)
        return y


@model(rand((5, 12)))
def top_k_filter(logits):
    least = logits.topk(4).values[:, -1:]
    return torch.where(logits < least, torch.full_like(logits, -1e4), logits).softmax(-1)


@model(rand((4, 9)))
def greedy(logits):
    return logits.argmax(dim=-1), logits.max(-1).values, F.one_hot(logits.argmax(-1), 9)


@model(lambda: [torch.randn(4, 6), ids(4, below=6)])
def log_likelihood(logits, targets):
    chosen = torch.log_softmax(logits, -1).gather(1, targets.unsqueeze(1)).squeeze(1)
    return -chosen.mean()


@model(lambda: [torch.randn(4, 6), ids(4, below=6)])
def smoothed_labels(logits, targets):
    target = F.one_hot(targets, 6).float() * 0.9 + 0.1 / 6
    return -(target * F.log_softmax(logits, dim=1)).sum(1)


@model(lambda: [torch.randn(3, 5, 4), torch.tensor([2, 5, 3])])
def masked_mean(x, lengths):
    mask = (torch.arange(5)[None] < lengths[:, None]).float().unsqueeze(-1)
    return (x * mask).sum(1) / mask.sum(1).clamp(min=1)


@model(lambda: [torch.randn(3, 5, 4), torch.tensor([2, 4, 0])])
def last_token(x, places):
    return x[torch.arange(3), places]


@model(lambda: [ids(3, 6, below=3)])
def positions_without_padding(words):
    mask = words.ne(0).int()
    return torch.cumsum(mask, dim=1) * mask


@model(rand((7,), (7,)))
def huber(x, y):
    error = (x - y).abs()
    return torch.where(error < 1.0, 0.5 * error ** 2, error - 0.5).sum()


@model(rand((4, 5)))
def branches_by_shape(x):
    if x.shape[0] > 3 and x.dim() == 2:
        x = x.reshape(-1, x.shape[1] * 2)
    return x * x.size(1)


@model(rand((4, 5)))
def clamped(x):
    return torch.clamp(x, -0.5, 0.5) + x.clamp_min(0) - x.clamp(max=1)


# ---- Shapes and numbers ----


@model(rand((2, 3, 8, 8)))
def patches(x):
    b, c, h, w = x.shape
    x = x.reshape(b, c, h // 4, 4, w // 4, 4).permute(0, 2, 4, 3, 5, 1)
    return x.reshape(b, (h // 4) * (w // 4), 4 * 4 * c)


@model(rand((2, 8, 3, 3)))
def pixel_shuffle_by_hand(x):
    return x.view(2, 2, 2, 2, 3, 3).permute(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 6)


@model(rand((2, 6, 4)))
def channel_shuffle(x):
    return x.view(2, 2, 3, 4).transpose(1, 2).flatten(1, 2)


@model(rand((3, 4), (3, 4)))
def cosine(x, y):
    return F.cosine_similarity(x, y, dim=-1), F.normalize(x, dim=1) @ F.normalize(y, dim=1).T


@model(rand((4, 3), (5, 3)))
def distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1).sqrt()


@model(rand((6, 4)))
def standardised(x):
    return (x - x.mean(0)) / (x.std(0, unbiased=False) + 1e-5)


@model(rand((3, 5)))
def stable_log_sum(x):
    top = x.max(dim=1, keepdim=True)[0]
    return (top + (x - top).exp().sum(1, keepdim=True).log()).squeeze(1)


@model(rand((3, 6)))
def in_place(x):
    y = x.clone()
    y += 1
    y.mul_(2).sub_(x)
    y[:, 1:3] = 0
    y[0].add_(10)
    return y


@model(rand((3, 6)))
def views_share_memory(x):
    y = x + 0
    z = y.view(6, 3)
    z[0] = 7
    y[:, -1].zero_()
    return y, z


@model(lambda: [torch.tensor([[1, -2, 7], [5, 0, -9]]), torch.tensor([[2, 3, -2], [3, 4, 4]])])
def integers(x, y):
    return x // y, x % y, torch.div(x, y, rounding_mode="trunc"), (x / y) + 1, x * 2 - y


@model(lambda: [torch.randn(4, 4), torch.arange(16).reshape(4, 4)])
def promotions(x, i):
    return x + i, i * 2.5, (x > 0) + i, x.half() + x, i.float() / 3, (i % 3 == 0).sum()


@model(rand((5, 7)))
def casts(x):
    return (x * 3).int(), (x > 0).float(), x.to(torch.float16).float(), x.long().to(torch.bool)


@model(rand((2, 3, 4)))
def reductions(x):
    return x.sum(), x.mean((0, 2)), x.amax(1), x.var(-1), x.prod(0), (x > 0).any(), (x > -9).all(dim=1)


@model(rand((2, 4), (2, 4)))
def interleaved(x, y):
    return torch.stack((x, y), dim=2).view(2, 8).roll(1, 1).flip(0).repeat(1, 2)


@model(rand((2, 5)))
def padded(x):
    return F.pad(x, (1, 2), value=-1) + F.pad(x, (0, 3, 0, 0))


@model(rand((3, 4)))
def fake_quantised(x):
    scale = x.abs().amax(-1, keepdim=True) / 127
    return torch.clamp(torch.round(x / scale), -128, 127) * scale


@model(rand((3, 3)))
def lower_triangle(x):
    return x.tril() + torch.triu(x, diagonal=1).t() * torch.eye(3)


@model(rand((2, 6, 8)))
class TransformerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))
        self.up, self.down, self.dropout = nn.Linear(8, 32), nn.Linear(32, 8), nn.Dropout(0.1)

    def heads(self, x):
        return x.view(x.size(0), x.size(1), 2, 4).transpose(1, 2)

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = self.heads(self.q(h)), self.heads(self.k(h)), self.heads(self.v(h))
        mask = torch.full((x.size(1), x.size(1)), float("-inf")).triu(1)
        weights = F.softmax(torch.matmul(q, k.transpose(-2, -1)) / 2 + mask, dim=-1)
        h = torch.matmul(self.dropout(weights), v).transpose(1, 2).contiguous().view(x.shape)
        x = x + self.dropout(self.o(h))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))


@model(rand((2, 6, 8)))
class EncoderLayer(nn.Module):
    """The layer of torch itself, which tracing does not look into, or does."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x):
        return self.layer(x)


@model(lambda: [ids(2, 6, below=16)])
class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(16, 8), nn.Parameter(torch.randn(6, 8))
        self.blocks = nn.ModuleList([TransformerBlock() for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 16, bias=False)

    def forward(self, words):
        x = self.words(words) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))[:, -1].log_softmax(-1)
