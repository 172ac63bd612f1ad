"""PRC001 half-precision-overflows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.features.gradients import suffers
from traindx.features.shared import Features
from traindx.features.systems import halvings, settles, stretches
from traindx.vocabulary.diagnosis import EvidencePoint
from traindx.vocabulary.rule import CannotJudge, Evidence, rule, threshold
from traindx.vocabulary.run import Run


@rule(
    code="PRC001",
    needs=("loss_scale",),
    min_points=5,
    severity="medium",
    message="half precision overflowed again and again: the loss scale was halved {count:.0f} times",
    follows=("gradient-norm-explodes", "loss-not-finite"),
)
def half_precision_overflows(
    run: Run,
    features: Features,
    *,
    halved: float = threshold(4, "halvings in a row", basis="convention", source="16-fold; one is everyday"),
    rest: float = threshold(3, "rows without a fall", basis="convention", source="then the first scale is found"),
    usual: float = threshold(
        2.0**14, "scale", basis="convention", source="scales of 2**15-2**20 are where fp16 runs settle"
    ),
    worse: float = threshold(0.1, "of the earlier loss", basis="convention", source="a rise that cannot be overlooked"),
    score: float = threshold(4.0, "x noise of the loss", basis="convention", source="1 in 15,000 under normal noise"),
) -> Iterator[Evidence]:
    """The dynamic loss scale is halved again and again.

    What it sees: after the scale has been found, it falls at least 16-fold with no rise in between. Medium when
    the loss or the gradient norm is not finite later on or the loss ends higher, else low. If the scale has not been
    found by the end of the log, low, and only once it is below 2**14.

    Why it matters: every halving is a step whose gradients did not fit into half precision and which was
    thrown away; a chain of them means that the gradients themselves grow.

    When it is wrong: every fp16 run begins with a scale that is too high and halves it, up to twenty times; and
    every couple of thousand steps it tries a higher one and halves it once.

    What to try: look at the gradient norm and the loss at the onset; bfloat16 has the range of float32.

    Sources: Micikevicius et al. (2018), Mixed precision training; NVIDIA Apex, dynamic loss scaling.
    """
    curve = features.curve("loss_scale")
    assert curve is not None
    steps, scale = curve.steps[curve.values > 0], curve.values[curve.values > 0]
    if len(scale) == 0:
        raise CannotJudge("the loss scale is never positive: it is not in use")
    begin, fell = settles(scale, rows=int(rest)), halvings(scale)
    if begin is None:
        deep = [(1, len(scale))] if fell.sum() >= halved and scale[-1] < usual else []
    else:  # a chain may pause at a level, but a rise ends it
        after = [(max(a, begin + 1), b) for a, b in stretches(fell >= 0)]
        deep = [(a, b) for a, b in after if fell[a:b].sum() >= halved]
    if not deep:
        return
    first = deep[0][0] + int(np.argmax(fell[slice(*deep[0])] > 0))
    hurt = begin is not None and suffers(features, float(steps[first]), share=worse, score=score)
    yield Evidence(
        onset=float(steps[first]),
        last=float(steps[deep[-1][1] - 1]),
        strength=1.0 if hurt else 0.5,
        severity="medium" if hurt else "low",
        aspects=("from-start" if begin is None else "later",),
        values={"count": sum(float(fell[a:b].sum()) for a, b in deep)},
        points=(EvidencePoint("loss_scale", float(steps[first]), float(scale[first]), float(scale[first - 1])),),
    )
