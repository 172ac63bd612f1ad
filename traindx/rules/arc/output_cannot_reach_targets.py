"""ARC005 output-cannot-reach-targets."""

import math

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, rule, threshold


@rule(
    code="ARC005",
    needs=(
        "setup:outputs_min",
        "setup:outputs_max",
    ),
    min_points=1,
    severity="high",
    message="{what}",
)
def output_cannot_reach_targets(
    run: Run,
    features: Features,
    *,
    edge: float = threshold(1e-06, "output", "theory", "bounds of sigmoid, tanh and ReLU, up to rounding"),
    beyond: float = threshold(0.05, "of the targets' range", "convention", "a few targets may be outside"),
    near: float = threshold(0.02, "of the bound", "convention", "outputs at the bound"),
) -> Iterator[Evidence]:
    """The last activation of the model cannot produce the targets.

    ## What it sees
    - Outputs that never leave the range of a ReLU (at least exactly 0), sigmoid (0 to 1) or tanh (-1 to 1),
      with real-valued targets outside of it.
    - Logits for a cross-entropy that end in a ReLU or a sigmoid. A binary cross-entropy may be given
      probabilities, so there only a ReLU counts.
    - A constant output.

    Severity is high if the run does not learn, medium if that is not known, and low if it learns.

    ## Why it matters
    The loss cannot fall below the error of the unreachable targets, and saturated or dead outputs pass
    no gradient.

    ## When it is wrong
    Outputs may happen to stay within such a range. Therefore the bound must be reached on the side of the
    targets, or the graph must show that the last operation is such an activation. A model whose last
    operation is known to be linear is not judged.

    ## What to try
    End with a linear layer, or scale the targets into the range.

    ## Sources
    Goodfellow et al. (2016), Deep learning, section 6.2.2, https://www.deeplearningbook.org.
    """
    setup = run.setup
    low, high = setup.number("outputs_min"), setup.number("outputs_max")
    if low is None or high is None:
        raise api.CannotJudge("outputs are not finite")
    last = last_activation(run)
    loss = setup.word("loss_name") or setup.word("loss")
    if low == high and setup.number("outputs_width") == 1:
        what, aspect = f"the output is {low:g} for every sample", "constant"
    elif "cross_entropy" in loss and (last == "relu" or "binary" not in loss):
        looks = setup.flag("loss_input_looks_like_probabilities")
        bound = bounding_activation(low, high, last, edge, near) if not looks else ""
        if bound not in ("relu", "sigmoid"):
            return
        what, aspect = (
            f"logits for {loss} end in a {bound}: they range from {low:.3g} to {high:.3g}",
            f"{bound}-scores",
        )
    else:
        ends = (-math.inf, math.inf) if last else (low - near, high + near)
        outside = unreachable(run, bounding_activation(low, high, last, edge, near), ends, beyond)
        if not outside:
            return
        what, aspect = f"outputs range from {low:.3g} to {high:.3g}, targets {outside}", "range"
    yield Evidence(
        severity=api.progress_severity(features, stuck="high", unknown="medium", learns="low"),
        strength=1.0,
        aspects=(aspect,),
        values={"what": what},
        points=(EvidencePoint("outputs_min", None, low), EvidencePoint("outputs_max", None, high)),
    )


def last_activation(run: Run) -> str:
    """The activation before the loss ("other" where it is known to be unbounded): by the graph, else the
    last of the modules; "" where unknown."""
    known = run.setup.word("outputs_last_activation")
    if known in ("relu", "sigmoid", "tanh"):
        return known
    if known and known not in ("clamp", "hardtanh", "hardsigmoid"):
        return "other"
    modules = run.setup.word("modules").rsplit(",", 1)[-1].split()
    return modules[-1] if modules and modules[-1] in ("relu", "sigmoid", "tanh") else ""


def bounding_activation(low: float, high: float, last: str, edge: float, near: float) -> str:
    """The activation that bounds the outputs: "relu", "sigmoid", "tanh" or "". Where its name is unknown
    (""), the bound must be reached. For a ReLU the minimum is exactly 0 and other values occur: a layer
    of zeros gives only zeros."""
    within = low >= -edge and high <= 1 + edge
    if last == "relu" or (not last and low == 0.0 < high != 1.0):
        return "relu" if low >= 0 else ""
    if last == "sigmoid" or (not last and within and 0 <= max(low, 1 - high) <= near):
        return "sigmoid" if within else ""
    touched = not last and low < 0 and min(1 + low, 1 - high) <= near
    return "tanh" if (last == "tanh" or touched) and low >= -1 - edge and high <= 1 + edge else ""


def unreachable(run: Run, bound: str, ends: tuple[float, float], beyond: float) -> str:
    """The range of the targets in words, where much of it is beyond the bound; otherwise "". `ends`: of the
    outputs. Targets press them against the bound, so it counts only on a side where they reach it."""
    start, end = run.setup.number("targets_min"), run.setup.number("targets_max")
    if not bound or start is None or end is None or end <= start:
        return ""
    floor, ceiling = (-1.0 if bound == "tanh" else 0.0), (math.inf if bound == "relu" else 1.0)
    below = max(floor - start, 0.0) if ends[0] <= floor else 0.0
    above = max(end - ceiling, 0.0) if ends[1] >= ceiling else 0.0
    return f"from {start:.3g} to {end:.3g}" if below + above > beyond * (end - start) else ""
