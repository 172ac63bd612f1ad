"""LOP015 checkpoint-restored-in-part."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule


@rule(
    code="LOP015",
    needs=("setup:checkpoint_restores_model", "setup:checkpoint_restores_optimizer"),
    min_points=1,
    severity="medium",
    message="a checkpoint holds the state of model and optimizer, and training goes on without that of the {missing}",
)
def checkpoint_restored_in_part(run: Run, features: Features) -> Iterator[Evidence]:
    """Training goes on from a checkpoint, and part of what that holds was not restored.

    ## What it sees
    A file that `torch.load` has read, the states in it, and which of them `load_state_dict` was called with
    before the next optimizer step. Medium where the model's was and the optimizer's was not, high the other
    way round. A file that holds one of them only is not judged.

    ## Why it matters
    Adam's moments begin at zero, and its first steps are as long as at the very start; with new weights and
    old moments the run begins anew in a wrong direction.

    ## When it is wrong
    Fine-tuning from somebody's checkpoint with an optimizer of one's own.

    ## What to try
    `optimizer.load_state_dict` next to model.load_state_dict; scheduler, scaler and random states as well.

    ## Sources
    PyTorch tutorials, Saving and loading a general checkpoint; fault catalogue 99.
    """
    setup = run.setup
    model, optimizer = setup.flag("checkpoint_restores_model"), setup.flag("checkpoint_restores_optimizer")
    lost = bool(setup.flag("checkpoint_holds_optimizer")) and bool(model) and not optimizer
    new = bool(setup.flag("checkpoint_holds_model")) and bool(optimizer) and not model
    if lost or new:
        yield Evidence(
            severity="medium" if lost else "high",
            aspects=("optimizer",) if lost else ("model",),
            values={"missing": "optimizer" if lost else "model"},
            points=(EvidencePoint("checkpoint_restores_optimizer", None, float(bool(optimizer))),),
        )
