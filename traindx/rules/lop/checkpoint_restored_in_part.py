"""LOP015 checkpoint-restored-in-part."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule


@rule(
    code="LOP015",
    needs=("setup:checkpoint_restores_model", "setup:checkpoint_restores_optimizer"),
    min_points=1,
    severity="medium",
    message="the checkpoint holds the states of model and optimizer, but training resumes without "
    "that of the {missing}",
)
def checkpoint_restored_in_part(run: Run, features: Features) -> Iterator[Evidence]:
    """Training resumes from a checkpoint, and part of its content is not restored.

    ## What it sees
    A file read by `torch.load`, the states in it, and those passed to `load_state_dict` before the next
    optimizer step. Severity is medium if the model is restored and the optimizer is not, and high the other
    way round. A file with only one of them is not judged.

    ## Why it matters
    Adam's moments start at zero, so its first steps are as large as at the start of training. With new
    weights and old moments, training starts again in a wrong direction.

    ## When it is wrong
    Fine-tuning from a published checkpoint with a new optimizer.

    ## What to try
    Call `optimizer.load_state_dict` together with model.load_state_dict, and also restore scheduler,
    scaler and random states.

    ## Sources
    PyTorch tutorials, Saving and loading a general checkpoint,
    https://docs.pytorch.org/tutorials/recipes/recipes/saving_and_loading_a_general_checkpoint.html.
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
