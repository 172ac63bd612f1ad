"""Which training and held-out signals of a run belong together."""

from collections.abc import Mapping

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.shared import Features, favours_rare_classes
from traindx.features.statistics import median
from traindx.vocabulary import Floats, Series, direction_of, threshold


class Pair(msgspec.Struct, frozen=True):
    """A held-out curve and the training curve to compare it with; `same` when both are the same metric,
    so that their difference means something."""

    train: Curve
    val: Curve
    same: bool

    def train_at_val(self) -> Floats:
        """Level of the training curve (oriented, noise removed) at the steps of the held-out one; shape
        `[val.n]`."""
        if len(self.train.steps) == self.val.n and np.array_equal(self.train.steps, self.val.steps):
            return self.train.as_loss
        return np.interp(self.val.steps, self.train.steps, self.train.trend)

    @property
    def trained(self) -> Floats:
        """Values of the training curve up to the last evaluation: one of the beginning shows nothing of the end."""
        before = int(np.searchsorted(self.train.steps, self.val.steps[-1], "right"))
        return self.train.values[: max(1, before)]

    @property
    def first_ratio(self) -> float:
        """Validation loss over training loss at the first of four evaluations or more, else 0. A ratio from
        before anything was learned is one of units: a sum and a mean, or another head."""
        trained = float(self.train.at_steps(self.val.steps[:1])[0])
        return float(self.val.values[0]) / trained if self.val.n >= 4 and trained > 0 else 0.0

    def still_improves(self, part: float) -> bool:
        """Whether validation still gets better over its last half, by more than `part` of its level."""
        y = self.val.as_loss
        if len(y) < 3:
            return False
        if len(y) < 4 * 2:
            return bool(np.all(np.diff(y[-3:]) < 0))
        third = max(1, len(y) // (2 * 3))
        before, end = float(median(y[len(y) // 2 :][:third])), float(median(y[-third:]))
        return before - end > part * abs(end)

    def course(self, part: float) -> str:
        """What the page says of the course of a wide gap."""
        if self.val.n == 1:
            return "in the only evaluation"
        closes = "is closing" if self.still_improves(part) else "does not close"
        return f"(medians at the end), and the gap {closes}"

    def is_apart(
        self,
        train: float,
        val: float,
        *,
        least: float = threshold(
            0.1, "of the way to the training loss", basis="convention", source="less is the same fit"
        ),
    ) -> bool:
        """Whether the last levels of two losses differ by a part of the way that training came: where both end
        near zero, any ratio of them is large."""
        first = max(float(self.val.values[0]), float(self.trained[0]))
        return val - train >= least * (first - train)


def metrics(series: Mapping[str, Series], split: str) -> list[str]:
    """Names (without the split) of the split's signals that have a direction: "loss" first, then other
    losses, then the rest, each by name."""
    names = [n.removeprefix(split) for n in series if n.startswith(split) and len(series[n])]
    known = [n for n in names if direction_of(split + n) != "none"]
    return sorted(known, key=lambda n: (n != "loss", "loss" not in n, n))


def pairs(features: Features, *, min_points: int) -> list[Pair]:
    """Curves to compare, the loss first: the same metric on both splits; without any, each held-out metric
    with the training loss. Both have at least `min_points` finite points."""
    series = features.run.series
    train, val = metrics(series, "train/"), metrics(series, "val/")
    shared = [(n, n) for n in val if n in train]
    if "loss" in train and not shared:
        # Accuracy is given up for recall while such a loss falls.
        traded = ("acc", "top") if favours_rare_classes(features.run) else ()
        shared = [("loss", n) for n in val if not n.startswith(traded)]
    found = []
    for t, v in shared:
        pair = Pair(features.curve("train/" + t), features.curve("val/" + v), t == v)  # type: ignore[arg-type]
        if pair.train is not None and pair.val is not None and min(pair.train.n, pair.val.n) >= min_points:
            found.append(pair)
    return found


def tested(features: Features) -> list[Pair]:
    """Scores of a test set, each with that of the validation set, where both are logged (`val_acc`, `test_acc`)."""
    found = []
    for name in features.run.series:
        words = name.removeprefix("val/").lower().split("_")
        if not name.startswith("val/") or "test" not in words or direction_of(name) != "higher":
            continue
        rest = "_".join("accuracy" if w == "acc" else w for w in words if w != "test")
        val, test = features.curve(f"val/{rest}"), features.curve(name)
        if val is not None and test is not None and test.n and val.n > 1:
            found.append(Pair(val, test, True))
    return found


SCORE_WORDS = ("error", "err", "wer", "cer")  # lower is better, and still a score rather than a loss


def score(features: Features, split: str) -> Curve | None:
    """The split's score (accuracy and the like, error rates): an accuracy first, then the one with most
    points; None without any."""
    series = features.run.series
    scores = [
        n
        for n in metrics(series, split)
        if "loss" not in n
        and (direction_of(split + n) == "higher" or set(n.lower().split("_")) & set(SCORE_WORDS))
    ]
    if not scores:
        return None
    return features.curve(split + max(scores, key=lambda n: ("acc" in n, len(series[split + n]))))


def accuracy(features: Features, split: str) -> Floats | None:
    """The split's accuracy over time as shares in 0..1 (from percent or an error rate where it is logged
    so), shape `[n]`; None where no accuracy is logged."""
    curve = score(features, split)
    words = set() if curve is None else set(curve.name.rsplit("/", 1)[-1].lower().split("_"))
    if curve is None or not curve.n or not any(w.startswith(("acc", "top1", "err")) for w in words):
        return None
    values = curve.values / 100.0 if curve.values.max() > 1.5 else curve.values
    if values.min() < 0 or values.max() > 1.0:
        return None
    return 1.0 - values if curve.sign > 0 else values


def samples_behind(
    features: Features,
    split: str,
    *,
    most: float = threshold(
        50, "samples", basis="convention", source="one of them more or less is 2 % or more"
    ),
    least: float = threshold(6, "points", basis="convention", source="fewer fit many divisors by chance"),
    rounding: float = threshold(1e-3, "of a sample", basis="theory", source="six digits of a share"),
) -> int:
    """From how few samples the split's accuracy is counted: the least number of which all its values are multiples;
    0 for more than `most`, or if it cannot be seen."""
    values = accuracy(features, split)
    if values is None or len(values) < least or np.ptp(values) == 0:
        return 0
    counts = (
        n for n in range(2, int(most) + 1) if np.abs(values * n - np.round(values * n)).max() < rounding
    )
    return next(counts, 0)


def differ_in_unit(
    features: Features,
    *,
    below: float = threshold(
        0.3, "x the least", basis="theory", source="a wrong answer costs ln 2 at least"
    ),
    above: float = threshold(
        50.0, "nats a wrong answer", basis="theory", source="single precision gives no probability so small"
    ),
) -> bool:
    """Whether one of the losses is no mean over samples, as the accuracy next to it shows: it was divided by the
    size of the batch once more, or summed over the set."""
    for split in ("train/", "val/"):
        loss, known = features.curve(split + "loss"), accuracy(features, split)
        wrong = 0.0 if known is None else 1 - float(known[-1])
        if loss is not None and wrong > 0 and not below * np.log(2) * wrong <= loss.end <= above * wrong:
            return True
    return False
