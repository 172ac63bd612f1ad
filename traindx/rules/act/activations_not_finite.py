"""ACT003 activations-not-finite."""

from numpy.typing import NDArray

from traindx.features.per_module.panels import panel
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, np, rule, threshold


@rule(
    code="ACT003",
    needs=("act_nonfinite/*",),
    min_points=1,
    severity="critical",
    message="the first NaN or infinity is in the output of {where} at step {step:g} ({count:.0f} values)",
    follows=("inputs-not-finite", "gradient-not-finite"),
)
def activations_not_finite(
    run: Run,
    features: Features,
    *,
    lasting: float = threshold(0.5, "of the rows after it", "convention", "in fewer, it was a single batch"),
) -> Iterator[Evidence]:
    """A module produces NaN or infinity in the forward pass.

    ## What it sees
    The first recorded step with values that are not finite, and the first module of the model with such
    values at that step. Severity is critical if half of the later steps have them too, high if it was a
    single batch, and info if the loss stays finite.

    ## Why it matters
    Everything downstream of that module is lost, and a single optimizer step writes NaN into the weights.

    ## When it is wrong
    Attention masks contain minus infinity on purpose. The loss is then finite, and the finding is a note.

    ## What to try
    Look at the input of that module at that step: the data, a division, a logarithm, an exponential, or half
    precision.

    ## Sources
    Micikevicius et al. (2018), Mixed precision training, arXiv:1710.03740. PyTorch, numerical accuracy:
    https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html.
    """
    found = panel(features, "act_nonfinite")
    bad: NDArray[np.bool_] = np.asarray(np.nan_to_num(found.values) > 0, dtype=np.bool_)
    rows = np.flatnonzero(np.any(bad, axis=1))
    if not len(rows):
        return
    row = int(rows[0])
    module = int(np.argmax(bad[row]))
    name, step, count = found.modules[module], float(found.steps[row]), float(found.values[row, module])
    objective = features.objective
    unharmed = objective is not None and len(objective.nonfinite_steps) == 0
    stays = float(bad[row:].any(axis=1).mean()) >= lasting
    yield Evidence(
        onset=step,
        last=float(found.steps[rows[-1]]),
        where=name,
        severity="info" if unharmed else "critical" if stays else "high",
        strength=0.5 if unharmed else 1.0,
        aspects=(
            "lasting" if stays else "passing",
            *("from-start",) * (row == 0),
            *("first-module",) * (module == 0),
            *("loss-finite",) * unharmed,
        ),
        values={"count": count, "where": name, "step": step},
        points=(EvidencePoint(f"act_nonfinite/{name}", step, count, 0.0),),
    )
