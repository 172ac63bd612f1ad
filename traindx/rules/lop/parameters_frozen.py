"""LOP003 parameters-frozen."""

from traindx.rules.api import (
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    progress_severity,
    rule,
    threshold,
)


@rule(
    code="LOP003",
    needs=(
        "setup:parameters_frozen",
        "setup:parameters_total",
    ),
    min_points=1,
    severity="medium",
    message="{share:.0%} of the parameters are frozen{names}",
)
def parameters_frozen(
    run: Run,
    features: Features,
    *,
    share: float = threshold(0.05, "of the parameters", "convention", "many models have a few constants"),
    most: float = threshold(0.5, "of the frozen weights", "convention", "the rest may have been trained"),
) -> Iterator[Evidence]:
    """Some parameters do not require a gradient.

    ## What it sees
    The share of frozen parameters among all parameters. Severity is medium if the run does not learn, low if
    that is not known, and info if it learns: a frozen pretrained base is no fault. Frozen weights that are
    distributed like random draws were never trained. They are medium, and low if the run learns.

    ## Why it matters
    Parameters that are frozen before they were trained stay random.

    ## When it is wrong
    Fine-tuning a head or adapters on a frozen base is common. Position tables and quantizers may be fixed.

    ## What to try
    Check requires_grad of the named parameters, and unfreeze those that were never trained.

    ## Sources
    Howard, Ruder (2018), Universal language model fine-tuning, https://arxiv.org/abs/1801.06146.
    """
    frozen, total = run.setup.number("parameters_frozen") or 0.0, run.setup.number("parameters_total") or 0.0
    if total <= 0 or frozen < share * total:
        return
    listed = run.setup.known("parameters_frozen_names")
    drawn = run.setup.number("frozen_weights_drawn")
    raw = drawn is not None and drawn >= most
    tuned = bool(run.setup.flag("finetuning")) or (drawn is not None and not raw)
    severity = progress_severity(
        features, stuck="medium", unknown="medium" if raw else "low", learns="low" if raw else "info"
    )
    yield Evidence(
        severity="info" if tuned else severity,
        strength=1 / 4 if severity == "info" or tuned else 1.0 if severity == "medium" or raw else 0.5,
        aspects=(*("finetuning",) * tuned, *("random",) * raw, *("all",) * (frozen >= total)),
        values={"share": frozen / total, "names": f" ({listed})" if listed else ""},
        points=(EvidencePoint("parameters_frozen", None, frozen, 0.0, "parameters"),),
    )
