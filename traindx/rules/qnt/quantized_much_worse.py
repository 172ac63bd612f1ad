"""QNT004 quantized-much-worse."""

import msgspec

from traindx.features.per_module.panels import evidence_at_end, module_panel, name_marked_modules
from traindx.features.per_module.quantization import FEW, gaps, late_values, onset
from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold

LEAST = 2  # points of a curve after quantization began
WORDS = {
    "late": "{name} is {value:.4g} with quantization, which begins near the end, and was "
    "{without:.4g} before",
    "early": "{name} is {value:.4g} with quantization, which begins while it still falls, and was "
    "{without:.4g} before",
}


@rule(
    code="QNT004",
    needs=("quant/kept/*|quant/loss_gap|val/*|train/*",),
    min_points=1,
    severity="high",
    message="{name} is {value:.4g} with quantization and {without:.4g} without",
    follows=("ternary-weights-collapse", "quantized-gradients-imbalanced"),
)
def quantized_much_worse(
    run: Run,
    features: Features,
    *,
    lost: float = threshold(
        0.3, "of the float metric's progress", "convention", "a third of what was learned is missing"
    ),
    fallen: float = threshold(
        0.05, "of the progress so far", "convention", "quantization that begins late; 8 bits cost < 1 %"
    ),
    changed: float = threshold(
        0.5, "of the norm of the weights", "measured", "8 bits 0.01, 4 bits 0.1, 3 bits 0.2-0.3, 2 bits 0.8"
    ),
    kept: float = threshold(
        0.2, "of the float weights", "measured", "8 bits: 1.0, ternary 0.4-0.8 in healthy runs"
    ),
    tail: float = threshold(0.34, "of the run", "convention", "its last third"),
    soon: float = threshold(0.25, "of the run", "paper", "Krishnamoorthi 2018: the last tenth to third"),
    hasty: float = threshold(0.2, "of the progress", "convention", "in the quarter before it begins"),
) -> Iterator[Evidence]:
    """The quantized network is much worse than the float one, or little of its weights survives.

    ## What it sees
    The first of these that can be measured:

    - metrics logged with and without quantization that differ by 30 % of what the float metric has gained;
    - a network that is quantized in evaluation only, if its validation metric is behind by as much, or if
      rounding changes the weights by half of their norm;
    - an objective that falls back by 5 % of its progress after quantization begins in mid-run. It is called
      late if less than a quarter of the run is left, and early if a fifth of the progress came in the
      quarter before;
    - quantized weights that keep less than 20 % of the float ones (as a projection).

    ## Why it matters
    The quantized network is the one that is deployed.

    ## When it is wrong
    Levels without a scale (plain signs) may be far from the float weights and work.

    ## What to try
    Quantize during training, and earlier. Use finer groups or more bits. Check the scales for outliers.

    ## Sources
    Jacob et al. (2018), arXiv:1712.05877. Nagel et al. (2021), arXiv:2106.08295. Krishnamoorthi (2018),
    Quantizing deep convolutional networks for efficient inference, arXiv:1806.08342.
    """
    apart = gaps(features)
    only_used = run.setup.word("quantized_in") == "evaluation"
    begun = next(
        (e.step for e in run.events if e.code == "quantization-begins" and e.step is not None), None
    )
    if not apart and module_panel(features, "quant/kept") is None and begun is None and not only_used:
        raise api.CannotJudge("needs a metric with and without quantization, or measured quantized weights")
    seen = list(metrics_apart(features, lost))
    if not seen and only_used:
        seen = list(worse_in_evaluation(features, lost)) or list(other_weights(features, changed, tail))
    elif not seen:
        seen = list(worse_since_quantization(features, begun, fallen, soon, hasty)) or list(
            lost_weights(features, kept, tail)
        )
    yield from seen[:1]


def metrics_apart(features: Features, lost: float) -> Iterator[Evidence]:
    """Metrics that were logged with and without quantization."""
    for gap in gaps(features):
        if gap.span is None or gap.curve.end <= max(lost * gap.span, 2 * gap.curve.noise) or gap.span <= 0:
            continue
        last = gap.curve.step_at(gap.curve.n - 1)
        other = features.needed_curve(gap.reference or "objective")
        one = features.needed_curve(gap.name)
        value = one.end * one.sign if gap.reference else other.end + gap.curve.end
        yield evidence(
            one.name,
            gap.reference or other.name,
            value,
            other.end * other.sign,
            (gap.curve.step_at(0), last),
        )


def worse_in_evaluation(features: Features, lost: float) -> Iterator[Evidence]:
    """Metrics of a network that is trained in floating point and quantized in evaluation."""
    for pair in api.pairs(features, min_points=FEW // 2):
        train = pair.train_at_val()
        few = max(1, pair.val.n // 3)
        behind = float(median(pair.val.as_loss[-few:] - train[-few:]))
        if not pair.same or behind <= max(lost * pair.train.span, 2 * pair.val.noise):
            continue
        steps = pair.val.step_at(0), pair.val.step_at(pair.val.n - 1)
        value, other = float(median(pair.val.values[-few:])), pair.train.end * pair.train.sign
        yield evidence(pair.val.name, pair.train.name, value, other, steps)


def other_weights(features: Features, changed: float, tail: float) -> Iterator[Evidence]:
    """Evaluated with weights that differ much from those that were trained."""
    found = module_panel(features, "quant/error")
    error = np.zeros(0) if found is None else np.nan_to_num(late_values(found, tail))
    if found is None or not (error > changed).any():
        return
    worst = int(error.argmax())
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        severity="medium",
        aspects=("weights",),
        message="quantization in evaluation changes the weights of {where} by {share:.0%} of their norm",
        values={
            "where": name_marked_modules(found, error > changed),
            "share": float(median(error[error > changed])),
        },
        points=(evidence_at_end("quant/error", found, worst, error[worst], changed),),
    )


def worse_since_quantization(
    features: Features, begun: float | None, fallen: float, soon: float, hasty: float
) -> Iterator[Evidence]:
    """Quantization begins in the middle of a run, and the objective does not return to its level.

    The training loss is used if the objective has too few points there. It is late if little of the run is
    left, and early if the curve still fell fast.
    """
    if begun is None:
        return
    for curve in (features.objective, features.curve("train/loss")):
        before = 0 if curve is None else int(np.searchsorted(curve.steps, begun))
        if curve is None or before < FEW // 2 or curve.n - before < LEAST:
            continue
        low, after = float(curve.trend[:before].min()), curve.as_loss[before:]
        end, gained = float(median(after[-max(1, len(after) // 2) :])), float(np.ptp(curve.trend[:before]))
        if end - low > max(fallen * gained, 4 * curve.noise / np.sqrt(max(1, len(after) // 2))):
            first, last = curve.step_at(0), curve.step_at(curve.n - 1)
            lately = float(curve.trend[: before - before // 4].min()) - low
            late, early = last - begun < soon * (last - first), lately > hasty * gained
            found = evidence(
                curve.name, f"{curve.name} before", end * curve.sign, low * curve.sign, (begun, last)
            )
            marks = (*found.aspects, *("late",) * late, *("early",) * (early and not late))
            yield msgspec.structs.replace(
                found, points=found.points[:1], aspects=marks, message=WORDS.get(marks[-1])
            )
        return


def evidence(name: str, without: str, value: float, other: float, steps: tuple[float, float]) -> Evidence:
    """The evidence of two metrics that differ."""
    return Evidence(
        onset=steps[0],
        last=steps[1],
        where=name,
        aspects=("metric",),
        values={"name": name, "value": value, "without": other},
        points=(
            api.EvidencePoint(name, steps[1], value, other),
            api.EvidencePoint(without, steps[1], other),
        ),
    )


def lost_weights(features: Features, kept: float, tail: float) -> Iterator[Evidence]:
    """Weights of which quantization leaves little."""
    found = module_panel(features, "quant/kept")
    if found is None:
        return
    share = late_values(found, tail)
    poor = np.nan_to_num(share, nan=1.0) < kept
    if not poor.any():
        return
    worst = int(np.nanargmin(share))
    learning = api.is_learning(features)
    yield Evidence(
        onset=onset(found, worst, lambda values: values < kept),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        severity="high" if learning is False else "medium",
        strength=1.0 if learning is False else 0.5,
        aspects=("weights",),
        message="only {share:.0%} of the weights of {where} survives quantization",
        values={"share": max(0.0, float(median(share[poor]))), "where": name_marked_modules(found, poor)},
        points=(evidence_at_end("quant/kept", found, worst, share[worst], kept, ""),),
    )
