"""Advice that holds whatever the cause: prevention rather than cure."""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from traindx.causes.verdict.ending import ended_badly
from traindx.features.shared import Features
from traindx.vocabulary import Finding, Hypothesis, Outcome, Recommendation, Run, format_step, threshold

MOST = 5
SPIKES = ("loss-spikes-recur", "gradient-norm-spikes", "loss-spikes-then-fails", "gradient-norm-explodes")


class Scene(Struct, frozen=True):
    """What the advice depends on: `seen` are the slugs of the findings, `sure` is the probability of the leading
    cause, `broken` means that a finding is critical or an error ended the run."""

    seen: frozenset[str]
    leading: str
    sure: float
    broken: bool
    run: Run
    features: Features

    def has(self, *slugs: str) -> bool:
        return any(s in self.seen for s in slugs)


def recommend(
    findings: Sequence[Finding],
    hypotheses: Sequence[Hypothesis],
    outcomes: Sequence[Outcome],
    run: Run,
    features: Features,
) -> tuple[Recommendation, ...]:
    """At most five pieces of advice for this run, most useful first."""
    notes = {f.slug for f in findings if f.severity == "info" and f.slug in SPIKES}  # they did no harm
    fired = {o.rule.slug for o in outcomes if o.status == "fired"} - notes
    leading, sure = next(((h.cause, h.probability) for h in hypotheses), ("healthy", 0.0))
    broken = any(f.severity == "critical" for f in findings) or ended_badly(run, features) is not None
    scene = Scene(
        frozenset(fired | {f.slug for f in findings} - notes), leading, sure, broken, run, features
    )
    fitting = [r for advice in (FOR_TREES if run.boosted else ADVICE) if (r := advice(scene)) is not None]
    return tuple(fitting[:MOST])


def keep_the_best(scene: Scene) -> Recommendation | None:
    curve = scene.features.curve("val/loss")
    if (
        not scene.has("validation-gap-grows")
        or curve is None
        or curve.n < 3
        or curve.values[-1] <= curve.values.min()
    ):
        return None
    step = curve.steps[int(np.argmin(curve.values))]
    return Recommendation(
        "checkpoint",
        f"Save a checkpoint whenever validation improves; val/loss was lowest at {scene.run.axis} {format_step(step)}.",
        "validation was better then than at the end",
    )


def overfit_one_batch(
    scene: Scene,
    *,
    settled: float = threshold(
        0.95, "probability", basis="convention", source="an almost certain cause needs no further search"
    ),
) -> Recommendation | None:
    features = scene.features
    if (
        features.is_reinforcement
        or features.is_game
        or features.is_duel
        or not scene.has("loss-flat-from-start", "loss-at-chance", "losses-stay-high")
    ):
        return None
    if scene.leading == "healthy" or scene.sure >= settled:
        return None
    return Recommendation(
        "sanity",
        "Train on one small batch: if model and loop are correct, its loss falls to almost 0 in a few "
        "hundred steps.",
        "the run learns little, and this separates faults of model and loop from those of data",
    )


def explore(scene: Scene) -> Recommendation | None:
    if not (scene.features.is_reinforcement and scene.has("loss-flat-from-start")):
        return None
    return Recommendation(
        "sanity",
        "Check whether random actions ever reach a higher reward. If not, reward steps towards the goal. "
        "If so, let the agent explore more (a larger entropy bonus, more random actions).",
        "the rewards have not risen, and an agent learns only from rewards that it receives",
    )


def judge_samples(scene: Scene) -> Recommendation | None:
    if not scene.run.setup.word("diffusion"):
        return None
    return Recommendation(
        "sanity",
        "Judge the generated samples instead of the loss, for example by their FID.",
        "the loss of a diffusion model is that of random noise levels: it scatters between batches, and hardly falls "
        "after the first epochs while the samples still improve",
    )


def clip_spikes(scene: Scene) -> Recommendation | None:
    if not scene.has(*SPIKES):
        return None
    if scene.run.setup.number("clip_norm") or "clip_ratio" in scene.run.series:
        return None
    return Recommendation(
        "stability",
        "Clip the gradient norm at 1.0, or slightly above its usual value, and keep checkpoints from before "
        "each spike.",
        "the log shows spikes and no gradient clipping",
    )


def validate(scene: Scene) -> Recommendation | None:
    if scene.features.is_reinforcement or any(n.startswith("val/") for n in scene.run.series):
        if not scene.has("validation-too-rare"):
            return None
        return Recommendation(
            "validation",
            "Evaluate more often, every 100 to 500 steps or several times per epoch.",
            "with so few evaluations, overfitting is noticed late",
        )
    if not scene.has("validation-missing") or scene.leading != "healthy":
        return None  # where there is a fault, this would not change it
    often = "after each epoch" if scene.run.axis == "epoch" else "every 100 to 500 steps"
    return Recommendation(
        "validation",
        f"Add a validation set and evaluate it {often}.",
        "the log has no validation, so it can show neither overfitting nor leakage",
    )


def decay_rate(
    scene: Scene,
    *,
    constant: float = threshold(
        0.01, "relative range", basis="convention", source="a rate that hardly changes"
    ),
) -> Recommendation | None:
    lr = scene.features.curve("lr")
    if lr is None or lr.n < 10 or not scene.has("loss-oscillates", "loss-plateaus"):
        return None
    if lr.values.max() <= 0 or np.ptp(lr.values) > constant * lr.values.max():
        return None
    return Recommendation(
        "schedule",
        "Decay the learning rate towards the end (cosine or linear, after a short warm-up).",
        f"the learning rate is constant, and {scene.features.objective_name} oscillates or has levelled off",
    )


def go_on(scene: Scene) -> Recommendation | None:
    if not scene.has("loss-still-falling-at-end") or scene.leading not in ("healthy", "undertrained"):
        return None
    return Recommendation(
        "budget",
        "Plan for more steps, and stretch the schedule with them.",
        f"{scene.features.objective_name} was still improving when the log ended",
    )


def log_more_often(
    scene: Scene,
    *,
    few: float = threshold(
        10, "points", basis="convention", source="fewer points do not separate a trend from noise"
    ),
) -> Recommendation | None:
    broken = scene.broken or scene.has("loss-not-finite")  # more rows would not change that
    if broken or not scene.run.series or scene.run.points >= few:
        return None
    points = f"{scene.run.points} point{'s' * (scene.run.points != 1)}"
    if scene.run.setup.word("symptoms"):  # somebody pasted a part
        return Recommendation("logging", "Paste more rows of the log.", f"only {points} can be judged")
    if scene.run.axis == "epoch":
        return None  # one value an epoch is what epochs have
    return Recommendation("logging", "Log more often.", f"the longest curve has only {points}")


ADVICE: tuple[Callable[[Scene], Recommendation | None], ...] = (
    judge_samples, keep_the_best, overfit_one_batch, explore, clip_spikes, decay_rate, go_on, validate, log_more_often,
)  # fmt: skip
FOR_TREES = (keep_the_best, validate, log_more_often)
