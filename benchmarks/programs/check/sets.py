"""Small made-up data sets that the scripts train on; each from its own seed."""

import math

import torch


def digits(n=1500, seed=1, noise=0.8):
    """Images of 8 x 8 from 0 to 16: ten smooth prototypes, shifted by a pixel and noisy."""
    g = torch.Generator().manual_seed(seed)
    base = torch.randn(10, 1, 4, 4, generator=torch.Generator().manual_seed(99))
    base = torch.nn.functional.interpolate(base, size=(8, 8), mode="bilinear")[:, 0]
    y = torch.randint(0, 10, (n,), generator=g)
    shift = torch.randint(-1, 2, (n, 2), generator=g)
    moves = zip(y.tolist(), shift.tolist(), strict=True)
    x = torch.stack([base[c].roll((a, b), (0, 1)) for c, (a, b) in moves])
    x = x + noise * torch.randn(n, 8, 8, generator=g)
    return ((x + 2.5) * 3.2).clamp(0, 16).reshape(n, 64), y


def scaled_digits(n=1500, seed=1, noise=0.8):
    x, y = digits(n, seed, noise)
    return x / 8 - 1, y


def circles(n=1000, seed=2):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 2, (n,), generator=g)
    angle = 2 * math.pi * torch.rand(n, generator=g)
    radius = torch.where(y == 1, 0.5, 1.0)
    x = torch.stack([radius * angle.cos(), radius * angle.sin()], 1) + 0.1 * torch.randn(n, 2, generator=g)
    return x / x.std(), y


def tumours(n=560, seed=3):
    """Thirty features on scales from a thousandth to a thousand, two classes."""
    g = torch.Generator().manual_seed(seed)
    y = (torch.rand(n, generator=g) < 0.4).long()
    x = torch.randn(n, 30, generator=g) + 1.3 * y[:, None] * (torch.rand(30, generator=g) - 0.3)
    return (x * 0.2 + 1) * torch.logspace(-2, 3, 30), y


def standardized(x):
    return (x - x.mean(0)) / x.std(0)


def diabetes(n=440, seed=4):
    """Ten standardised features, a target from 25 to 350."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 10, generator=g)
    w = torch.tensor([3.0, -2.0, 2.0, 1.5, -1.0, 1.0, 0.5, 0.0, 0.0, 2.0])
    t = x @ w + 1.5 * x[:, 0] * x[:, 1] + 2.0 * torch.randn(n, generator=g)
    return x, 150 + 77 * (t - t.mean()) / t.std()


def text(n=40000, seed=5):
    """A stream of letters from a made-up grammar of 300 words."""
    g = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, 7, (300,), generator=g).tolist()
    words = [torch.randint(1, 27, (k,), generator=g) for k in lengths]
    order = torch.randint(0, 300, (n // 3,), generator=g).tolist()
    stream = torch.cat([torch.cat([words[i], torch.zeros(1, dtype=torch.long)]) for i in order])
    return stream[:n]


def images(n=900, seed=6, classes=4, size=12):
    """One-channel images with stripes in one of some directions."""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    axis = torch.arange(size, dtype=torch.float32)
    row, column = torch.meshgrid(axis, axis, indexing="ij")
    angle = y.float() * math.pi / classes
    phase = 6.28 * torch.rand(n, generator=g)
    wave = row * angle.cos()[:, None, None] + column * angle.sin()[:, None, None]
    x = torch.sin(1.3 * wave + phase[:, None, None]) + 0.5 * torch.randn(n, size, size, generator=g)
    return x[:, None], y
