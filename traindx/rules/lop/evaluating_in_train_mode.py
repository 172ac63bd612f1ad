"""LOP006 evaluating-in-train-mode."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="LOP006",
    needs=("setup:validation_in_train_mode_share|setup:eval_in_training_mode",),
    min_points=1,
    severity="medium",
    message="{share:.0%} of the passes without gradient ran with the model in train mode",
)
def evaluating_in_train_mode(
    run: Run,
    features: Features,
    *,
    share: float = threshold(0.5, "of the passes", "convention", "some may be measurements during training"),
    least: float = threshold(
        0.01, "of the outputs", "convention", "a smaller change is not visible in a score"
    ),
) -> Iterator[Evidence]:
    """The model is in train mode while it is evaluated.

    ## What it sees
    Passes without gradient, of a model with dropout or batch normalization, in train mode. If the mode was
    tried on a batch and changed the outputs by less than a hundredth, nothing is reported.

    ## Why it matters
    Dropout makes the scores worse and different each time. Batch normalization even learns from the
    validation data.

    ## When it is wrong
    Monte-Carlo dropout, re-estimating batch statistics, and generating samples for training need train mode.

    ## What to try
    Call model.eval() before evaluating, and model.train() after it.

    ## Sources
    PyTorch documentation, Module.eval,
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html.
    """
    if run.setup.flag("has_dropout") is False and run.setup.flag("has_normalization") is False:
        return
    found = run.setup.number("validation_in_train_mode_share")
    if found is None:
        found = 1.0 if run.setup.flag("eval_in_training_mode") else 0.0
    effect = run.setup.number("mode_effect")
    if found < share or (effect is not None and effect < least):
        return
    measured = (
        [] if effect is None else [EvidencePoint("mode_effect", None, effect, least, "of the outputs")]
    )
    yield Evidence(
        values={"share": found},
        points=(EvidencePoint("validation_in_train_mode_share", None, found, 0.0, "0..1"), *measured),
    )
