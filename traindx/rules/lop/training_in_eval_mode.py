"""LOP005 training-in-eval-mode."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="LOP005",
    needs=("setup:steps_in_eval_mode_share",),
    min_points=1,
    severity="medium",
    message="{share:.0%} of the training steps ran with the model in eval mode",
)
def training_in_eval_mode(
    run: Run,
    features: Features,
    *,
    whole: float = threshold(0.99, "of the steps", "convention", "statistics are never updated"),
    share: float = threshold(0.05, "of the steps", "convention", "a few may be measurements"),
) -> Iterator[Evidence]:
    """The model is in eval mode while it is trained.

    ## What it sees
    Training passes with the model in eval mode. Severity is medium if the model has dropout, or if a model
    with normalization trains like this from its first step on. It is low if the model has only normalization,
    which is often harmless or intended. If it has neither, the mode changes nothing, and nothing is reported.

    ## Why it matters
    Dropout is off and batch statistics are frozen: there is less regularization than intended, and the
    statistics no longer fit.

    ## When it is wrong
    Batch normalization may be frozen on purpose during fine-tuning.

    ## What to try
    Call model.train() after each evaluation.

    ## Sources
    PyTorch documentation, Module.eval,
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html.
    """
    found = run.setup.number("steps_in_eval_mode_share") or 0.0
    dropout, norm = run.setup.flag("has_dropout"), run.setup.flag("has_normalization")
    if found < share or (dropout is False and norm is False):
        return
    frozen = bool(run.setup.number("parameters_frozen")) or bool(run.setup.flag("finetuning"))
    never = norm is True and found >= whole and not frozen  # the statistics never saw any data
    yield Evidence(
        severity="medium" if dropout or dropout is None or never else "low",
        strength=1.0 if dropout or never else 0.5,
        aspects=("dropout-off",) if dropout else ("normalization-frozen",),
        values={"share": found},
        points=(EvidencePoint("steps_in_eval_mode_share", None, found, 0.0, "0..1"),),
    )
