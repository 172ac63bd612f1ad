"""Score what names are taken for, on names from public repositories: `python -m benchmarks.roles [--confusions]`.

`names.json` holds names that 529 repositories log or print (found in their logs, and in calls such as `add_scalar`,
`self.log`, `wandb.log` and formatted prints), the statistics of the values where there is a log, and a label each:
a role, and for losses and measures the split that the name says. One reader gave the labels by meaning, without the
answers of the hand list; "?" is for names that nobody could place.

Two halves by the SHA-256 of the repository: the hand list (`traindx.readers.names`) is mended on the fitting half
and believed on the unseen one. A small model over hashed pieces of names (multinomial logistic, with the answer of
the hand list among its features) is fitted on the first half and scored on the second: where the hand list knows
nothing, and as a whole. It ships only if it is worth its size.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from traindx.readers.assembly.step_axis import AXIS_NAMES
from traindx.readers.names.aliases import role_of, words_of
from traindx.vocabulary.signals import direction_of

HERE = Path(__file__).parent
HALVES = ("fitting", "unseen")
# loss, part of a loss, measure (higher or lower is better), unknown, counter, time, pace, rate, norm, memory
ROLES = ("L", "P", "+", "-", "?", "C", "T", "S", "R", "N", "Y")
NOTHING = frozenset("?XI")  # unknown, another statistic, a setting: none of them is judged
DIRECTIONS = {"L": "lower", "P": "lower", "-": "lower", "+": "higher"}
PREFIXES = {"lr": "R", "time/": "T", "throughput": "S", "mem/": "Y", "util/": "Y"}
FIXED = {"train/loss": "L", "val/loss": "L", "": "?", "batch_size": "?", "loss_scale": "?", "epoch": "C",
         "skipped_steps": "C", "nan_steps": "C"}  # fmt: skip
BUCKETS = 1 << 11
SPLITS = {"t": "train", "v": "val", "": "train"}
DIGITS = re.compile(r"\d")


class Column(NamedTuple):
    """`label`: a role (one of `ROLES`, or X or I) and a letter for the split; `values`: count, least, most, first,
    last, median, shares of rises, falls and integers; empty where only a script is known."""

    name: str
    label: str
    values: tuple[float, ...]

    @property
    def role(self) -> str:
        return "?" if self.label[0] in NOTHING else self.label[0]


class Answer(NamedTuple):
    """What the hand list takes a name for."""

    role: str
    split: str

    @property
    def direction(self) -> str:
        return DIRECTIONS.get(self.role, "none")


def columns(half: int) -> Iterator[Column]:
    """The columns of every second repository, as its hash has it."""
    data = json.loads((HERE / "names.json").read_text(encoding="utf-8"))
    names = data["names"]
    for repository, files in data["repositories"].items():
        if hashlib.sha256(repository.encode()).digest()[0] % 2 == half:
            yield from (Column(*names[row[0]], tuple(row[1:])) for file in files for row in file)


def by_hand(name: str) -> Answer:
    """The role and split that the hand list gives a name."""
    signal = role_of(name).signal
    split = "val" if signal.startswith("val/") else "train"
    plain = name.strip().lower().replace(" ", "_")
    if plain in AXIS_NAMES:
        return Answer("C", split)
    known = next((role for prefix, role in PREFIXES.items() if signal.startswith(prefix)), "")
    role = FIXED.get(signal) or known or ("N" if signal.endswith("norm") else "")
    if role:
        return Answer(role, split)
    direction = direction_of(signal)
    if direction == "none":
        counts = plain.endswith(("step", "steps", "iteration", "epoch")) and "per" not in plain
        return Answer("C" if counts else "?", split)
    lower = "P" if "loss" in signal.rpartition("/")[2].lower() else "-"
    return Answer("+" if direction == "higher" else lower, split)


def agrees(label: str, answer: str) -> bool:
    """A part of a loss and an error count as the same."""
    return label == answer or {label, answer} == {"P", "-"}


def pieces(column: Column) -> list[str]:
    """What the model sees of a column: words and their parts, the hand list's answer, the shape of the values."""
    words = [DIGITS.sub("#", word) for word in words_of(column.name)]
    text = f"^{' '.join(words)}$"
    hand = by_hand(column.name)
    found = [f"hand {hand.role}", f"hand {hand.role} {hand.split}", *words]
    found += [f"{a} {b}" for a, b in pairwise(words)]
    found += [text[i : i + n] for n in (3, 4, 5) for i in range(len(text) - n + 1)]
    if len(column.values) == 9:
        _, least, most, first, last, _, rises, falls, whole = column.values
        span = "share" if 0 <= least <= most <= 1 else "percent" if 0 <= least <= most <= 100 else "wide"
        trend = "falls" if last < 0.95 * first else "rises" if last > 1.05 * first else "level"
        shape = [
            f"span {span}",
            f"trend {trend}",
            f"whole {whole > 0.95}",
            f"steady {max(rises, falls) > 0.8}",
        ]
        found += [*shape, *(f"hand {hand.role} {s}" for s in shape)]
    return found


def features(rows: Sequence[Column]) -> NDArray[np.float32]:
    """0 or 1 for every bucket that a piece of a column falls into."""
    hashed = np.zeros((len(rows), BUCKETS), np.float32)
    for i, column in enumerate(rows):
        hashed[i, [zlib.crc32(piece.encode()) % BUCKETS for piece in pieces(column)]] = 1.0
    return hashed


def fitted(x: NDArray[np.float32], roles: Sequence[str], *, decay: float = 1.0) -> NDArray[np.float32]:
    """Weights of a multinomial logistic model, by accelerated descent on its penalized likelihood."""
    wanted = np.eye(len(ROLES), dtype=np.float32)[[ROLES.index(role) for role in roles]]
    weights = ahead = np.zeros((BUCKETS, len(ROLES)), np.float32)
    pace = 4.0 / (float((x.sum(1)).max()) * len(x) / 2 + decay)
    for step in range(1, 800):
        slope = x.T @ (likely(x, ahead) - wanted) + decay * ahead
        new = ahead - pace * slope
        ahead, weights = new + step / (step + 3) * (new - weights), new
    return weights


def likely(x: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The probability of every role for every row."""
    scores = x @ weights
    chance = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(chance / chance.sum(1, keepdims=True), np.float32)


def score(rows: Sequence[Column], answers: Sequence[Answer]) -> list[str]:
    """Shares of roles, directions and splits that are right, and of known roles that are answered by unknown."""
    pairs = list(zip(rows, answers, strict=True))
    directed = [(c, a) for c, a in pairs if c.role in DIRECTIONS]
    return [
        f"{np.mean([agrees(c.role, a.role) for c, a in pairs]):.3f}",
        f"{np.mean([DIRECTIONS.get(c.role, 'none') == a.direction for c, a in pairs]):.3f}",
        f"{np.mean([SPLITS[c.label[1:]] == a.split for c, a in directed]):.3f}",
        f"{np.mean([a.role == '?' and c.role != '?' for c, a in pairs]):.3f}",
    ]


def with_model(hand: Sequence[Answer], chance: NDArray[np.float32], *, least: float) -> list[Answer]:
    """The hand list's answers, and the model's where it has none and the model is sure enough."""
    best = [ROLES[i] for i in chance.argmax(1)]
    sure = chance.max(1) >= least
    return [
        a._replace(role=role) if a.role == "?" and certain else a
        for a, role, certain in zip(hand, best, sure, strict=True)
    ]


def calibration(rows: Sequence[Column], chance: NDArray[np.float32]) -> Iterator[str]:
    """How often the model is right by how sure it is."""
    top, sure = chance.argmax(1), chance.max(1)
    right = np.array([agrees(c.role, ROLES[i]) for c, i in zip(rows, top, strict=True)])
    for low, high in ((0.0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        inside = (sure >= low) & (sure < high)
        if inside.any():
            mean, share = sure[inside].mean(), right[inside].mean()
            yield f"| {low:.1f} to {min(high, 1):.1f} | {inside.sum()} | {mean:.2f} | {share:.2f} |"


def judged_anew(rows: Sequence[Column], before: Sequence[Answer], after: Sequence[Answer]) -> str:
    """Columns that only the model gives a direction, and how many of these directions are right."""
    new = [(c, b) for c, a, b in zip(rows, before, after, strict=True) if a.direction != b.direction]
    right = sum(DIRECTIONS.get(c.role, "none") == b.direction for c, b in new)
    return f"A direction that only the model gives: {len(new)} of {len(rows)} columns, {right} right."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--confusions", action="store_true", help="what the fitting half is taken for")
    asked = parser.parse_args()
    halves = [list(columns(half)) for half in range(2)]
    hands = [[by_hand(c.name) for c in rows] for rows in halves]
    if asked.confusions:
        pairs = zip(halves[0], hands[0], strict=True)
        wrong = Counter((c.role, a.role, c.name) for c, a in pairs if not agrees(c.role, a.role))
        for (role, answer, name), count in sorted(wrong.items(), key=lambda item: item[0][:2]):
            print(f"{count:4d}  {role} for {answer}: {name}")
        return
    print("| | columns | role | direction | split | unknown |\n|---|---|---|---|---|---|")
    for half, rows, hand in zip(HALVES, halves, hands, strict=True):
        print(f"| hand list, {half} | {len(rows)} | {' | '.join(score(rows, hand))} |")
    rows, hand = halves[1], hands[1]
    weights = fitted(features(halves[0]), [c.role for c in halves[0]])
    chance = likely(features(rows), weights)
    alone = [a._replace(role=ROLES[i]) for a, i in zip(hand, chance.argmax(1), strict=True)]
    print(f"| model, unseen | {len(rows)} | {' | '.join(score(rows, alone))} |")
    for least in (0.5, 0.7, 0.9):
        both = with_model(hand, chance, least=least)
        print(f"| hand list, model from {least}, unseen | {len(rows)} | {' | '.join(score(rows, both))} |")
    print(f"\n{judged_anew(rows, hand, with_model(hand, chance, least=0.7))}")
    print("\n| model sure | columns | mean | right |\n|---|---|---|---|")
    print("\n".join(calibration(rows, chance)))


if __name__ == "__main__":
    main()
