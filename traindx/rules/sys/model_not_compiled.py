"""SYS008 model-not-compiled."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold

ACCELERATORS = ("cuda", "gpu", "rocm", "hip", "xpu", "tpu", "mps")
NAMES = ("compile", "compiled", "torch_compile")


@rule(
    code="SYS008",
    needs=("setup:device", "setup:compile|setup:compiled|setup:torch_compile"),
    min_points=0,
    severity="info",
    message="the model runs on {device} without being compiled",
)
def model_not_compiled(
    run: Run,
    features: Features,
    *,
    length: float = threshold(
        1000, "points", "convention", "shorter runs do not make up for the compilation"
    ),
) -> Iterator[Evidence]:
    """The model runs on an accelerator without being compiled.

    ## What it sees
    Setup facts alone: an accelerator, a compile option that is off, and a run long enough (in actual or
    planned steps) to make up for the compilation time.

    ## Why it matters
    Compiled models often train a third faster or more, with no other change.

    ## When it is wrong
    Models with changing shapes or much Python code gain little and recompile often.

    ## What to try
    Compile the model and compare the step time after the first hundred steps.

    ## Sources
    Ansel et al. (2024), PyTorch 2, https://doi.org/10.1145/3620665.3640366.
    """
    device = str(run.setup.device)
    answers = [str(run.setup.facts[name]).lower() for name in NAMES if name in run.setup.facts]
    if not all(a in ("true", "false", "0", "1", "yes", "no", "none") for a in answers):
        raise CannotJudge("the compile option's value is not a yes or no")
    on = any(a in ("true", "1", "yes") for a in answers)
    steps = max(float(run.points), run.setup.planned_steps or 0.0, run.last_step or 0.0)
    if on or steps < length or not any(word in device.lower() for word in ACCELERATORS):
        return
    yield Evidence(
        strength=0.5,
        values={"device": device},
        points=(EvidencePoint("setup:compile", None, 0.0, 1.0),),
    )
