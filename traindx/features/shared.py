"""All features of one run, computed at first use and shared by every rule."""

import re
from functools import cached_property

import numpy as np

from traindx.features.adversarial import TERMS, is_duel, player_of, words_of
from traindx.features.curve import Curve, Derived
from traindx.vocabulary import CannotJudge, Floats, Run, direction_of, threshold

# Held-out signals that mark a reinforcement-learning run, whose losses say little about progress.
REWARD = re.compile(r"reward|return|(?<![a-z])(?:ep|mean|avg|min|max)?rews?(?:mean|min|max|std)?(?![a-z])")
INTRINSIC = frozenset(
    {"int", "intrinsic", "curiosity", "bonus"}
)  # what a net earns by exploring, not by the task
DIVERGENCES = frozenset({"kl", "kld", "kldiv", "mmd"})
TRAININGS = frozenset({"fold", "folds", "seed", "trial", "subject", "cv"})  # columns that number trainings
OTHER_LOSS = r"train/.+:\d+_loss"  # a further loss, named after the line that computes it
EARLY = 0.1  # of the run; an optimizer that comes later is the first one made anew
FEW = 10  # points: fewer do not separate a trend from noise


def is_unordered(
    values: Floats,
    *,
    surely: float = threshold(2.0, "x standard error", "theory", "neighbours alike by more than chance"),
    least: float = threshold(10, "points", "convention", "fewer do not show an order"),
) -> bool:
    """Whether neighbouring values are no more similar than others (von Neumann's ratio is 2 then)."""
    known = values[np.isfinite(values)]
    with np.errstate(all="ignore"):  # squares of 1e200 are infinite: no order is shown then
        ratio = np.mean(np.diff(known) ** 2) / max(float(np.var(known)), 1e-300) if len(known) > 1 else 0.0
    return len(known) >= least and bool(np.ptp(known) == 0 or ratio > 2 - surely * 2 / np.sqrt(len(known)))


def counts(values: Floats) -> bool:
    """Whether every value is above the one before it."""
    return len(values) > 1 and bool(np.isfinite(values).all() and (values[1:] > values[:-1]).all())


class Features(Derived):
    """`curve(name)` prepares one signal; `objective` is the one that shows best whether the run
    learns: the training loss, or the reward where there is one, or else what is left."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._curves: dict[str, Curve] = {}
        super().__init__()

    def curve(self, name: str) -> Curve | None:
        """The prepared signal, or None when the run has not logged it."""
        if name == "objective":
            return self.objective
        raw = self.run.series.get(name)
        if raw is None or len(raw) == 0:
            return None
        if name not in self._curves:
            self._curves[name] = Curve(name, raw)
        return self._curves[name]

    def needed_curve(self, name: str) -> Curve:
        """The prepared signal of a rule that declares it among its needs."""
        curve = self.curve(name)
        if curve is None:
            raise CannotJudge(f"needs {name}, which was not recorded")
        return curve

    def curve_with(self, *words: str, split: str = "") -> Curve | None:
        """The longest curve of a split whose name has all the words."""
        names = [n for n in self.run.series if n.startswith(split) and all(w in n.lower() for w in words)]
        return self.curve(max(names, key=lambda name: len(self.run.series[name]))) if names else None

    def floor(self, name: str) -> float:
        """The least that a signal can be, by its original name: 1 for a perplexity, else 0."""
        words = re.split(r"[^a-z]+", self.run.originals.get(name, name).lower())
        return 1.0 if {"ppl", "perplexity"} & set(words) else 0.0

    @cached_property
    def is_reinforcement(self) -> bool:
        """Whether rewards are logged, or the program plays in a simulator: then a loss may rise while the
        agent learns."""
        return bool(self.run.setup.word("simulator")) or any(
            REWARD.search(name.lower()) for name in self.run.series
        )

    @cached_property
    def is_game(self) -> bool:
        """Whether several optimizers work against each other or side by side, each with its own loss,
        from early on (as capture records them), or models that take turns: then no single loss shows
        progress."""
        if self.run.setup.flag("models_in_turns"):
            return True
        second = [s for n, s in self.run.series.items() if n.startswith("optimizer/1/") and len(s)]
        losses = second and [s for n, s in self.run.series.items() if re.fullmatch(OTHER_LOSS, n) and len(s)]
        first, last = self.run.first_step, self.run.last_step
        if not second or not losses or first is None or last is None:
            return False
        return bool(min(s.steps[0] for s in (*second, *losses)) <= first + EARLY * (last - first))

    @cached_property
    def is_duel(self) -> bool:
        """Whether a generator and a discriminator are logged."""
        return not self.is_reinforcement and is_duel(self.run.series)

    @cached_property
    def is_evaluation(self) -> bool:
        """Whether scores are all there is, without a step, on held-out data or in no order: the results of models
        or of samples, of which nothing says that one was trained from the other. Also a table with a row for each
        training (fold, seed), in no order."""
        kept = [n for n in self.run.series if n.startswith(("train/", "val/"))]
        if any(TRAININGS & set(words_of(n)) and counts(s.values) for n, s in self.run.series.items()):
            return self.run.axis == "row" and all(is_unordered(self.run.series[n].values) for n in kept)
        scores = all(direction_of(n) != "lower" for n in kept) and not self.is_reinforcement
        counted = any(counts(s.values) for n, s in self.run.series.items() if n not in (*kept, "index"))
        known = all(n.startswith("val/") and is_unordered(self.run.series[n].values) for n in kept)
        known = known or (not counted and all(is_unordered(self.run.series[n].values) for n in kept))
        return self.run.axis == "row" and "epoch" not in self.run.series and scores and known

    @property
    def loss_is_no_score(self) -> bool:
        """Whether no number of this run shows how well it goes: agents without rewards, nets against each
        other."""
        if self.is_game or self.objective is None:
            return self.is_game or self.is_reinforcement
        name = self.objective.name
        return (self.is_reinforcement and name == "train/loss") or (self.is_duel and bool(player_of(name)))

    @cached_property
    def objective(self) -> Curve | None:
        """The curve that LOS rules judge."""
        name = self.objective_name
        return self.curve(name) if name else None

    @cached_property
    def objective_name(self) -> str | None:
        series = self.run.series
        if self.is_reinforcement:
            rewards = [n for n in series if REWARD.search(n.lower()) and "std" not in n.lower()]
            # "Episode 40, score 131": so many programs that play in a simulator call what their agent gets.
            rewards = rewards or [n for n in series if words_of(n)[-1:] == ["score"]]
            rewards = [n for n in rewards if direction_of(n) == "higher"] or rewards
            rewards = [n for n in rewards if not INTRINSIC & set(words_of(n))] or rewards
            # Of preferences, the margin goes on rising after all pairs are in the right order.
            rewards = [n for n in rewards if "margin" in n] or rewards
            if rewards:
                return max(rewards, key=lambda n: (len(series[n]), n.endswith("/reward")))
        if self.is_evaluation:
            return None
        # Next to a dense val/loss, a sparse train/loss still is the one that shows learning, unless it is too short.
        held = len(series["val/loss"]) if "val/loss" in series else 0
        for name in ("train/loss", "val/loss"):
            if name in series and len(series[name]) and not len(series[name]) < FEW <= held / 2:
                return name
        for split in ("train/", "val/", ""):
            known = [n for n in series if n.startswith(split) and direction_of(n) != "none" and "/" in n]
            known = [n for n in known if not n.startswith(("time/", "mem/", "util/", "grad_", "throughput"))]
            if self.is_duel:  # what measures something comes before the players
                known = [n for n in known if not player_of(n) and not is_counterpart(n)]
                known = [n for n in known if direction_of(n) == "lower"] or [
                    n for n in series if player_of(n)
                ]
            # Of the parts of a loss, a divergence that pulls against the rest shows least: it rises as a net
            # learns.
            known = [n for n in known if not DIVERGENCES & set(words_of(n))] or known
            known = [n for n in known if not (words_of(n) == ["kl"] and rises(series[n].values))]
            if known:
                return max(known, key=lambda n: len(series[n]))
        return None


def rises(values: Floats) -> bool:
    """Whether values end higher than they begin: a divergence that does is a distance from where a policy was."""
    known = values[np.isfinite(values)]
    return len(known) > 0 and bool(known[-1] > known[0])


def is_counterpart(name: str) -> bool:
    """Whether a loss without the name of a player is still one side's term (`gan`, `real`, `fake`)."""
    return bool(set(words_of(name)) & TERMS)


def favours_rare_classes(run: Run) -> bool:
    """Whether rare classes count more than their share, in the loss or in how samples are drawn. The model is then
    asked for less accuracy than always giving the largest class would have."""
    return bool(run.setup.flag("loss_weighted")) or "weighted" in run.setup.word("sampler")
