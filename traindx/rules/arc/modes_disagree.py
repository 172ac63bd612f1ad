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
    learnt: float = threshold(0.3, "of the first loss", "convention", "less could be the batch's noise"),
    lost: float = threshold(0.5, "of the progress", "convention", "half of what was learned is gone"),
) -> Iterator[Evidence]:
    """In evaluation mode the model has forgotten what it does in training mode.

    ## What it sees
    The loss of the last training batch in both modes (made by traindx check): more than half of what
    training has gained is gone in evaluation mode.

    ## Why it matters
    Normalization layers use their running statistics then; where these never moved or belong to other data,
    every evaluation and every use of the model is wrong, however well it trains.

    ## When it is wrong
    Statistics that have not caught up after a few steps; dropout is the other way round and not meant.

    ## What to try
    The momentum of batch normalization at its default; batches of a decent size; layers that are used on
    different data share no statistics; group or layer normalization.

    ## Sources
    Ioffe, Szegedy (2015), Batch normalization; fault catalogue rows 88, 89.
    """
    names = ("modes_loss_train", "modes_loss_eval", "modes_loss_first")
    train, evaluated, first = (run.setup.number(name) for name in names)
    if train is None or evaluated is None or first is None:
        raise CannotJudge("a loss is not finite")
    gained = first - train
    if gained < learnt * abs(first):
        raise CannotJudge("too little was learned to tell the modes apart")
    if evaluated - train <= lost * gained:
        return
    yield Evidence(
        values={"train": train, "evaluated": evaluated},
        points=(EvidencePoint("modes_loss_eval", None, evaluated, train + lost * gained, "loss"),),
    )
