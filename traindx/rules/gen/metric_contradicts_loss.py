"""GEN008 metric-contradicts-loss."""

import msgspec

from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, api, np, rule, threshold

MIN_POINTS = 8


class Apart(msgspec.Struct, frozen=True):
    """From index `start` of the loss on: changes of loss and score (oriented: negative is better) over their
    spans."""

    loss: Curve
    metric: Curve
    start: int
    loss_change: float
    metric_change: float


@rule(
    code="GEN008",
    needs=("val/loss|train/loss", "val/*|train/*"),
    min_points=MIN_POINTS,
    severity="low",
    message="{loss} went from {loss_then:.4g} to {loss_now:.4g} while {metric} went from {then:.4g} "
    "to {now:.4g} (trends)",
)
def metric_contradicts_loss(
    run: Run,
    features: Features,
    *,
    sure: float = threshold(4.0, "x the error of the slope", "theory", "4 sigma, on both curves"),
    better: float = threshold(0.05, "of the curve's range", "convention", "visible in a plot"),
    worse: float = threshold(0.1, "of the curve's range", "convention", "clearly worse"),
) -> Iterator[Evidence]:
    """The loss and a score of the same split move in opposite directions.

    ## What it sees
    Slopes of opposite sign in the loss and the accuracy (or another score) of one split, over the last half
    of the run or since the loss was lowest. Each slope must exceed 4 standard errors. One must improve by 5
    % of its range, the other get worse by 10 %. Severity is low if the loss rises while the score improves,
    and medium if the score gets worse while the loss falls.

    ## Why it matters
    A rising validation loss with a rising accuracy is overconfidence: few predictions are wrong, but very
    wrong. A falling loss with a falling score means that the loss does not measure what is wanted.

    ## When it is wrong
    A score that is averaged over another time or other data than the loss. A loss with a penalty that
    shrinks.

    ## What to try
    Choose the checkpoint by the metric that matters. Check calibration, label smoothing, and what the loss
    and the score are computed from.

    ## Sources
    Guo et al. (2017), On calibration of modern neural networks, arXiv:1706.04599.
    """
    found = False
    for split in ("val/", "train/"):
        loss, metric = features.curve(split + "loss"), api.score(features, split)
        if loss is None or metric is None or min(loss.n, metric.n) < MIN_POINTS or features.is_reinforcement:
            continue
        found = True
        for start in sorted({int(np.argmin(loss.trend)), loss.n // 2}):
            apart = changes_since(loss, metric, start, sure)
            if apart is not None and is_contradiction(apart, better, worse):
                yield evidence(apart, split)
                return
    if not found:
        raise api.CannotJudge(
            f"needs the loss and a score of the same split, with at least {MIN_POINTS} points of each"
        )


def changes_since(loss: Curve, metric: Curve, start: int, sure: float) -> Apart | None:
    """The changes from point `start` of the loss on, if both are clear."""
    since = int(np.searchsorted(metric.steps, loss.step_at(start)))
    if min(loss.n - start, metric.n - since) < 4 or not loss.span or not metric.span:
        return None
    a = api.slope(loss.as_loss[start:])
    b = api.slope(metric.as_loss[since:]) if abs(a.z) >= sure else a
    if min(abs(a.z), abs(b.z)) < sure:
        return None
    return Apart(loss, metric, start, a.change / loss.span, b.change / metric.span)


def is_contradiction(apart: Apart, better: float, worse: float) -> bool:
    """Whether one improves and the other gets worse, by enough."""
    gains, pains = sorted((apart.loss_change, apart.metric_change))
    return gains <= -better and pains >= worse


def evidence(apart: Apart, split: str) -> Evidence:
    loss, metric = apart.loss, apart.metric
    at, last = loss.step_at(apart.start), loss.step_at(loss.n - 1)
    since = int(np.searchsorted(metric.steps, at))
    confident = apart.loss_change > 0
    severity: api.Severity = "low" if confident else "medium"
    aspects = ("overconfidence" if confident else "metric-worsens", split.strip("/"))
    then, now = float(metric.trend[since]) * metric.sign, metric.end * metric.sign
    loss_then, loss_now = float(loss.trend[apart.start]), loss.end
    return Evidence(
        onset=at,
        last=last,
        where=metric.name,
        aspects=aspects,
        severity=severity,
        values={
            "loss": loss.name,
            "loss_then": loss_then,
            "loss_now": loss_now,
            "metric": metric.name,
            "then": then,
            "now": now,
        },
        points=(
            api.EvidencePoint(loss.name, at, loss_then),
            api.EvidencePoint(loss.name, last, loss_now, loss_then),
            api.EvidencePoint(metric.name, at, then),
            api.EvidencePoint(metric.name, last, now, then),
        ),
    )
