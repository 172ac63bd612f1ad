"""Outcomes made by hand, with the real slugs on rules that do nothing; and short ways to rank them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tests import make
from traindx.causes import decide, rank
from traindx.features.shared import Features
from traindx.rules.findings import findings
from traindx.vocabulary.diagnosis import Decision, Health, Hypothesis
from traindx.vocabulary.rule import Evidence, Outcome, Rule
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def nothing(run: Run, features: Features) -> Iterator[Evidence]:
    yield from ()


def rule(
    slug: str,
    *,
    severity: Any = "medium",
    needs: tuple[str, ...] = ("run",),
    follows: tuple[str, ...] = (),
    code: str = "XXX000",
) -> Rule:
    """A rule with a real slug that does nothing."""
    return Rule(
        code=code,
        slug=slug,
        needs=needs,
        min_points=2,
        severity=severity,
        message=slug.replace("-", " "),
        follows=follows,
        persistence="brief",
        check=nothing,
    )


def fired(
    text: str,
    *,
    severity: Any = "medium",
    strength: float = 1.0,
    follows: tuple[str, ...] = (),
    code: str = "XXX000",
) -> Outcome:
    """An outcome from "slug:aspect,aspect"."""
    slug, _, marks = text.partition(":")
    evidence = Evidence(
        onset=1.0, strength=strength, aspects=tuple(m for m in marks.split(",") if m), severity=severity
    )
    return Outcome(
        rule=rule(slug, severity=severity, follows=follows, code=code), status="fired", evidence=(evidence,)
    )


def clear(*slugs: str) -> tuple[Outcome, ...]:
    return tuple(Outcome(rule=rule(slug), status="clear") for slug in slugs)


def absent(slug: str, *needs: str) -> Outcome:
    """A rule that could not be evaluated for want of a signal."""
    return Outcome(rule=rule(slug, needs=needs or ("run",)), status="not-evaluated", reason="not recorded")


# What a log with train and validation loss, lr and gradient norm lets one judge.
SEEN = (
    "loss-not-finite", "loss-diverges", "loss-flat-from-start", "loss-plateaus", "loss-falls-slowly", "loss-oscillates",
    "loss-spikes-and-recovers", "loss-spikes-recur", "loss-spikes-then-fails", "loss-drops-late", "loss-at-chance",
    "loss-near-zero-early", "loss-still-falling-at-end", "loss-repeats-each-epoch", "validation-gap-grows",
    "losses-stay-high", "validation-beats-training", "gradient-norm-explodes", "gradient-norm-grows",
    "gradient-norm-vanishes", "learning-rate-is-zero", "learning-rate-vanishes-early", "learning-rate-jumps",
)  # fmt: skip


def all_but(*outcomes: Outcome) -> tuple[Outcome, ...]:
    """`outcomes`, and every other rule of `SEEN` clear."""
    named = {o.rule.slug for o in outcomes}
    return (*outcomes, *clear(*(s for s in SEEN if s not in named)))


def plain_run(setup: Mapping[str, Any] | None = None, **signals: object) -> Run:
    """A run of 200 points with a healthy training loss, unless `signals` say otherwise."""
    chosen = {k.replace("__", "/"): v for k, v in signals.items()} or {"train/loss": make.healthy_loss(200)}
    return make.run(chosen, setup=Setup().with_facts(setup or {}, "given"))


def ranked(
    *outcomes: Outcome, setup: Mapping[str, Any] | None = None, run: Run | None = None
) -> tuple[Hypothesis, ...]:
    run = run or plain_run(setup)
    return rank(outcomes, run, Features(run))


def order(*outcomes: Outcome, setup: Mapping[str, Any] | None = None, run: Run | None = None) -> list[str]:
    """Causes, most probable first, when every other rule is clear."""
    return [h.cause for h in ranked(*all_but(*outcomes), setup=setup, run=run)]


def faults(*outcomes: Outcome, setup: Mapping[str, Any] | None = None, run: Run | None = None) -> list[str]:
    """The same without `healthy`."""
    return [slug for slug in order(*outcomes, setup=setup, run=run) if slug != "healthy"]


def decided(*outcomes: Outcome, run: Run | None = None) -> tuple[Health, Decision]:
    """Health and decision when every other rule is clear."""
    run = run or plain_run()
    everything, features = all_but(*outcomes), Features(run)
    return decide(findings(everything, run), rank(everything, run, features), everything, run, features)


def curve(n: int = 200, seed: int = 0) -> np.ndarray:
    return make.healthy_loss(n, seed=seed)
