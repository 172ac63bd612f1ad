"""Small trainings of many kinds. Each builds its parts from a fixed seed, and steps through them; the
same code runs with and without capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn import functional

Log = Callable[[Any], None]


@dataclass
class Loop:
    """Parts of a training: `step(log)` makes one step and logs its loss."""

    models: list[nn.Module]
    optimizers: list[torch.optim.Optimizer]
    step: Callable[[Log], None]
    scaler: Any = None
    extra: list[torch.Tensor] = field(default_factory=list)

    def state(self) -> Iterator[torch.Tensor]:
        """Everything that training changes, random state included."""
        for model in self.models:
            yield from model.state_dict().values()
        for optimizer in self.optimizers:
            for kept in optimizer.state.values():
                yield from (v for v in kept.values() if isinstance(v, torch.Tensor))
        yield from self.extra
        yield torch.get_rng_state()


def _classifier(model: nn.Module, shape: tuple[int, ...], optimizer: str = "SGD", batch: int = 16) -> Loop:
    kinds: dict[str, Callable[..., torch.optim.Optimizer]] = {
        "SGD": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
        "AdamW": lambda p: torch.optim.AdamW(p, lr=1e-3),
    }
    made = kinds[optimizer](model.parameters())

    def step(log: Log) -> None:
        x, y = torch.randn(batch, *shape), torch.randint(0, 4, (batch,))
        made.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        loss.backward()
        log(loss)
        made.step()

    return Loop([model], [made], step)


def mlp() -> Loop:
    layers = [nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4)]
    return _classifier(nn.Sequential(*layers), (20,))


class ConvNet(nn.Module):
    """Convolutions, batch norm, functional activations, one module used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.two, self.relu = nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(inplace=True)
        self.out = nn.Linear(8 * 4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.norm(self.one(x)))
        x = functional.relu(functional.max_pool2d(self.relu(self.two(x)), 4))
        return self.out(x.flatten(1))


def cnn() -> Loop:
    return _classifier(ConvNet(), (3, 8, 8))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.out = nn.LSTM(6, 12, num_layers=2, dropout=0.1, batch_first=True), nn.Linear(12, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.cell(x)[0][:, -1])


def rnn() -> Loop:
    loop = _classifier(Recurrent(), (7, 6), "AdamW")
    parameters = list(loop.models[0].parameters())
    loop.optimizers[0].register_step_pre_hook(lambda *a: nn.utils.clip_grad_norm_(parameters, 0.5) and None)
    return loop


class Transformer(nn.Module):
    """A causal transformer with a tied output layer."""

    def __init__(self, words: int = 40, width: int = 16, context: int = 12) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.zeros(context, width))
        layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.1, batch_first=True, activation="gelu")
        self.blocks = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.head(self.blocks(self.words(x) + self.places, mask=mask, is_causal=True))


def gpt() -> Loop:
    model = Transformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(log: Log) -> None:
        x = torch.randint(0, 40, (8, 13))
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        loss.backward()
        log(loss)
        optimizer.step()

    return Loop([model], [optimizer], step)


def amp() -> Loop:
    """bfloat16 autocast, and a loss scaler that finds an overflow on the fifth step."""
    model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=4)
    count = [0]

    def step(log: Log) -> None:
        count[0] += 1
        x = torch.randn(8, 10)
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = functional.mse_loss(model(x).float(), x[:, :1]) * (float("inf") if count[0] == 5 else 1.0)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        log(loss)
        scaler.step(optimizer)
        scaler.update()

    return Loop([model], [optimizer], step, scaler)


def accumulation() -> Loop:
    model = nn.Sequential(nn.Linear(10, 16), nn.LayerNorm(16), nn.SiLU(), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(
        [{"params": model[0].parameters(), "lr": 0.1}, {"params": model[3].parameters()}], 0.2
    )

    def step(log: Log) -> None:
        optimizer.zero_grad()
        for _ in range(4):
            loss = model(torch.randn(4, 10)).square().mean() / 4
            loss.backward()
            log(loss)
        optimizer.step()

    return Loop([model], [optimizer], step)


def gan() -> Loop:
    maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3), nn.Tanh())
    judge = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    first, second = (torch.optim.Adam(m.parameters(), lr=1e-3, betas=(0.5, 0.999)) for m in (judge, maker))
    score = nn.BCEWithLogitsLoss()

    def step(log: Log) -> None:
        real, made = torch.randn(8, 3), maker(torch.randn(8, 4))
        first.zero_grad()
        loss = score(judge(real), torch.ones(8, 1)) + score(judge(made.detach()), torch.zeros(8, 1))
        loss.backward()
        log(loss)
        first.step()
        second.zero_grad()
        score(judge(made), torch.ones(8, 1)).backward()
        second.step()

    return Loop([judge, maker], [first, second], step)


def lbfgs() -> Loop:
    model = nn.Sequential(nn.Linear(5, 8), nn.Sigmoid(), nn.Linear(8, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)
    x = torch.randn(32, 5)

    def step(log: Log) -> None:
        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = functional.mse_loss(model(x), x[:, :1])
            loss.backward()
            return loss

        log(optimizer.step(closure))

    return Loop([model], [optimizer], step)


def sparse() -> Loop:
    """Sparse gradients of an embedding, half-precision weights next to it, a checkpointed block."""
    from torch.utils.checkpoint import checkpoint

    words = nn.Embedding(50, 8, sparse=True)
    block = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2)).bfloat16()
    optimizer = torch.optim.SGD([*words.parameters(), *block.parameters()], lr=0.1)

    def step(log: Log) -> None:
        optimizer.zero_grad()
        inner = words(torch.randint(0, 50, (16,))).bfloat16()
        loss = checkpoint(block, inner, use_reentrant=False).float().square().mean()
        loss.backward()
        log(loss)
        optimizer.step()

    return Loop([words, block], [optimizer], step)


def compiled() -> Loop:
    loop = mlp()
    loop.models[0] = model = torch.compile(loop.models[0])  # type: ignore[assignment]
    optimizer = loop.optimizers[0]

    def step(log: Log) -> None:
        x, y = torch.randn(16, 20), torch.randint(0, 4, (16,))
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        loss.backward()
        log(loss)
        optimizer.step()

    loop.step = step
    return loop


LOOPS = (mlp, cnn, rnn, gpt, amp, accumulation, gan, lbfgs, sparse)
