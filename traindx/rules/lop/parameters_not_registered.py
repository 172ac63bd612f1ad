"""LOP011 parameters-not-registered."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="LOP011",
    needs=("setup:parameters_unregistered",),
    min_points=1,
    severity="high",
    message="{count:.0f} values are used in the forward pass but are not parameters of the model ({names})",
)
def parameters_not_registered(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(
        0, "values", "theory", "the parameters of every layer belong to the model"
    ),
) -> Iterator[Evidence]:
    """Layers that the model uses are not among its parameters.

    ## What it sees
    Parameters that get a gradient, are in a plain list, tuple or dict of a module, and are neither in
    model.parameters() nor in any optimizer (measured by `traindx check`). Severity is high, and medium if the
    run learns.

    ## Why it matters
    They are never trained, never saved, and never moved to another device.

    ## When it is wrong
    Layers may be kept out of the model on purpose and still get gradients.

    ## What to try
    Use `nn.ModuleList`, nn.ModuleDict or nn.ParameterList instead of the plain container.

    ## Sources
    PyTorch documentation, ModuleList,
    https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html.
    """
    count = run.setup.number("parameters_unregistered")
    if count is None:
        raise CannotJudge("their number is not known")
    if count <= any_at_all:
        return
    yield Evidence(
        severity=api.progress_severity(features, stuck="high", unknown="high", learns="medium"),
        values={"count": count, "names": run.setup.known("parameters_unregistered_names") or ""},
        points=(api.EvidencePoint("parameters_unregistered", None, count, 0.0, "values"),),
    )
