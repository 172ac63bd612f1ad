"""ENV004 accelerator-missing."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV004",
    needs=("setup:accelerator_usable", "setup:device"),
    min_points=1,
    severity="medium",
    message="{what}",
)
def accelerator_missing(
    run: Run,
    features: Features,
    *,
    small: float = threshold(
        1e6, "parameters", "convention", "with fewer, a CPU is often as fast as an accelerator"
    ),
) -> Iterator[Evidence]:
    """The machine has an accelerator, and the training does not use it.

    ## What it sees
    An accelerator that the machine or the library reports, compared with the device of the parameters.
    Severity is medium for models of a million parameters and more, and low for smaller ones.

    ## Why it matters
    Training on the CPU takes ten to a hundred times as long.

    ## When it is wrong
    An accelerator does not speed up small models. It may also be reserved for another job.

    ## What to try
    Call `model.to("cuda")` (or "mps"), and the same for every batch. If the library finds no accelerator,
    install the build that fits its driver, and check CUDA_VISIBLE_DEVICES.

    ## Sources
    PyTorch documentation, CUDA semantics, https://docs.pytorch.org/docs/stable/notes/cuda.html.
    """
    setup = run.setup
    usable, present = bool(setup.flag("accelerator_usable")), bool(setup.flag("accelerator_present"))
    if not (usable or present) or not setup.word("device").startswith("cpu"):
        return
    name = setup.known("accelerator") or "an accelerator"
    parameters = setup.number("parameters") or 0.0
    what = f"{name} is available, but the model is on the CPU"
    if not usable:
        what = f"this machine has {name}, but this build of the library cannot use it"
    yield Evidence(
        severity="medium" if parameters >= small else "low",
        strength=1.0 if parameters >= small else 0.5,
        aspects=() if usable else ("not-usable",),
        values={"what": what},
        points=(EvidencePoint("parameters", None, parameters, small, "parameters"),),
    )
