"""The cells: what is wrong with each, the data, and the causes that name it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

FEATURES, CLASSES = 20, 4


@dataclass(frozen=True)
class Cell:
    """A training. `scale`: of initial weights, against the framework's own start; `bias`: initial one of hidden layers;
    `answer`: activation behind the last layer; `loss`: of classes or of numbers."""

    name: str
    causes: tuple[str, ...] = ("healthy",)
    hidden: tuple[int, ...] = (64, 64)
    activation: str = "relu"
    answer: str = ""
    bias: float = 0.0
    scale: float = 1.0
    optimizer: str = "adam"
    rate: float = 2e-3
    cosine: bool = False
    epochs: int = 12
    batch: int = 32
    dropout: float = 0.0
    norm: bool = False
    frozen: bool = False
    loss: str = "classes"
    data: str = "plain"

    @property
    def healthy(self) -> bool:
        return self.causes == ("healthy",)


PLAIN = Cell("plain")
HEALTHY = (
    PLAIN,
    replace(PLAIN, name="dropout", dropout=0.2),
    replace(PLAIN, name="norm", norm=True),
    replace(PLAIN, name="momentum", optimizer="momentum", rate=0.03, cosine=True),
    replace(PLAIN, name="numbers", loss="numbers"),
    replace(PLAIN, name="tanh", activation="tanh"),
)
FAULTS = (
    replace(PLAIN, name="rate-too-high", causes=("learning-rate-too-high",), optimizer="momentum", rate=4.0),
    replace(PLAIN, name="rate-too-low", causes=("learning-rate-too-low",), rate=2e-6),
    replace(PLAIN, name="dead-units", causes=("dead-relus", "bad-initialization"), bias=-6.0),
    replace(
        PLAIN, name="saturation", causes=("saturating-activations", "bad-initialization"), activation="tanh", scale=40.0
    ),
    replace(
        PLAIN, name="vanishing", causes=("deep-without-skip-or-norm", "saturating-activations"), activation="sigmoid",
        hidden=(32,) * 10,
    ),
    replace(
        PLAIN, name="overfitting", causes=("insufficient-regularization", "too-little-data"), hidden=(256, 256),
        data="few", epochs=150,
    ),
    replace(PLAIN, name="raw-inputs", causes=("unnormalized-inputs",), data="raw"),
    replace(PLAIN, name="imbalance", causes=("class-imbalance",), data="rare"),
    replace(PLAIN, name="nan", causes=("corrupt-samples", "unstable-numerics"), data="nan"),
    replace(PLAIN, name="output-activation", causes=("wrong-output-activation",), answer="relu"),
    replace(PLAIN, name="frozen", causes=("frozen-parameters", "params-not-in-optimizer"), frozen=True),
    replace(PLAIN, name="shuffled-labels", causes=("misaligned-labels", "label-noise"), data="shuffled"),
)  # fmt: skip
CELLS = {cell.name: cell for cell in (*HEALTHY, *FAULTS)}


@dataclass(frozen=True)
class Arrays:
    x: np.ndarray
    y: np.ndarray
    held_x: np.ndarray
    held_y: np.ndarray

    def batches(self, cell: Cell, epoch: int) -> list[np.ndarray]:
        """Places of the samples of each batch."""
        order = np.random.default_rng(epoch).permutation(len(self.x))
        return [order[i : i + cell.batch] for i in range(0, len(order) - cell.batch + 1, cell.batch)]


def arrays(cell: Cell) -> Arrays:
    """Samples of a teacher with two layers."""
    chance = np.random.default_rng(7)
    count = 64 if cell.data == "few" else 1024
    x = chance.normal(size=(count + 512, FEATURES)).astype("f4")
    inner, outer = chance.normal(size=(FEATURES, 16)) / FEATURES**0.5, chance.normal(size=(16, CLASSES))
    scores = np.tanh(x @ inner) @ outer
    y = scores.argmax(1)
    if cell.loss == "numbers":
        y = ((scores[:, :1] - scores[:, :1].mean()) / scores[:, :1].std()).astype("f4")
    if cell.data == "rare":
        keep = (y == 0) | (chance.random(len(y)) < 0.02)
        x, y = x[keep], y[keep]
        x, y = np.tile(x, (3, 1)) + chance.normal(0, 0.3, (3 * len(x), FEATURES)).astype("f4"), np.tile(y, 3)
        order = chance.permutation(len(x))
        x, y = x[order], y[order]
    held = 512 if cell.data != "rare" else len(x) // 3
    if cell.data == "raw":
        x = (x * chance.uniform(20, 400, FEATURES) + chance.uniform(-900, 900, FEATURES)).astype("f4")
    x, y, held_x, held_y = x[:-held], y[:-held], x[-held:], y[-held:]
    if cell.data == "nan":
        x = x.copy()
        x[chance.choice(len(x), 4, replace=False), 3] = np.nan
    if cell.data == "shuffled":
        y = y[chance.permutation(len(y))]
    kind = np.float32 if cell.loss == "numbers" else np.int32
    return Arrays(x, y.astype(kind), held_x, held_y.astype(kind))
