"""ARC011 modes-disagree."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ARC011",
    needs=("setup:modes_loss_train", "setup:modes_loss_eval", "setup:modes_loss_first"),
    min_points=1,
    severity="high",
    message="on one batch the loss is {train:.3g} in training mode and {evaluated:.3g} in evaluation mode",
)
def modes_disagree(
    run: Run,
    features: Features,
    *,
    learnt: float = threshold(0.3, "of the first loss", "convention", "a smaller fall may be batch noise"),
    lost: float = threshold(0.5, "of the progress", "convention", "half of what was learned is lost"),
) -> Iterator[Evidence]:
    """The model is much worse in evaluation mode than in training mode.

    ## What it sees
    The loss of the last training batch in both modes (measured by `traindx check`): in evaluation mode
    more than half of the progress of the training is lost.

    ## Why it matters
    Normalization layers use their running statistics in evaluation mode. If these never changed or
    belong to other data, every evaluation and every use of the model is wrong, however well it trains.

    ## When it is wrong
    After a few steps the running statistics have not caught up yet. (Dropout has the opposite effect.)

    ## What to try
    Use the default momentum of batch normalization and larger batches. Do not share statistics between
    layers with different data. Or use group or layer normalization.

    ## Sources
    Ioffe, Szegedy (2015), Batch normalization, https://arxiv.org/abs/1502.03167.
    """
    names = ("modes_loss_train", "modes_loss_eval", "modes_loss_first")
    train, evaluated, first = (run.setup.number(name) for name in names)
    if train is None or evaluated is None or first is None:
        raise CannotJudge("a loss is not finite")
    gained = first - train
    if gained < learnt * abs(first):
        raise CannotJudge("too little was learned to compare the modes")
    if evaluated - train <= lost * gained:
        return
    yield Evidence(
        values={"train": train, "evaluated": evaluated},
        points=(EvidencePoint("modes_loss_eval", None, evaluated, train + lost * gained, "loss"),),
    )
