"""ACT003 activations-not-finite."""

from numpy.typing import NDArray

from traindx.features.per_module.panels import panel
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, np, rule, threshold


@rule(
    code="ACT003",
    needs=("act_nonfinite/*",),
    min_points=1,
    severity="critical",
    message="{count:.0f} values of {where} are not finite at step {step:g}, the first in the forward pass",
    follows=("inputs-not-finite", "gradient-not-finite"),
)
def activations_not_finite(
    run: Run,
    features: Features,
    *,
    lasting: float = threshold(0.5, "of the rows after it", "convention", "else it was a passing batch"),
) -> Iterator[Evidence]:
    """A module put out NaN or infinity.

    ## What it sees
    The first sampled step with values that are not finite, and the first module (in the order of the model)
    that had them. Aspects say whether the gradients before were finite, and whether they had grown.

    ## Why it matters
    From there on everything downstream is lost, and one step writes it into the weights.

    ## When it is wrong
    Masks made with minus infinity before a softmax are infinite on purpose; where the loss stays finite
    throughout it is information only.

    ## What to try
    Look at what goes into that module at that step: the data, a division, a logarithm, an exponential.

    ## Sources
    The definition; Micikevicius et al. (2018), Mixed precision training.
    """
    found = panel(features, "act_nonfinite")
    bad: NDArray[np.bool_] = np.asarray(np.nan_to_num(found.values) > 0, dtype=np.bool_)
    rows = np.flatnonzero(np.any(bad, axis=1))
    if not len(rows):
        return
    row = int(rows[0])
    module = int(np.argmax(bad[row]))
    objective = features.objective
    unharmed = objective is not None and len(objective.nonfinite_steps) == 0
    stays = float(bad[row:].any(axis=1).mean()) >= lasting
    yield Evidence(
        onset=float(found.steps[row]),
        last=float(found.steps[rows[-1]]),
        where=found.modules[module],
        severity="info" if unharmed else "critical" if stays else "high",
        strength=0.5 if unharmed else 1.0,
        aspects=(
            "lasting" if stays else "passing",
            *("from-start",) * (row == 0),
            *("first-module",) * (module == 0),
            *("loss-finite",) * unharmed,
        ),
        values={
            "count": float(found.values[row, module]),
            "where": found.modules[module],
            "step": float(found.steps[row]),
        },
        points=(
            EvidencePoint(
                f"act_nonfinite/{found.modules[module]}",
                float(found.steps[row]),
                float(found.values[row, module]),
                0.0,
            ),
        ),
    )
