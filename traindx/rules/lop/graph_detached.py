"""LOP004 graph-detached."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="LOP004",
    needs=("setup:parameters_without_gradient|setup:parameters_with_zero_gradient",),
    min_points=1,
    severity="high",
    message="{count:.0f} parameters {what} ({names})",
)
def graph_detached(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "parameters", "theory", "whatever is used gets a gradient"),
    silent: float = threshold(0.95, "of the units", "convention", "a dead layer explains the zeros"),
    nearly: float = threshold(0.999, "of the parameters", "theory", "another model's optimizer"),
    tiny: float = threshold(0.01, "of the parameters", "convention", "single biases may have no effect"),
) -> Iterator[Evidence]:
    """Parameters that are used in the forward pass never get a gradient.

    ## What it sees
    Parameters of the optimizer without a gradient, or with a gradient of exactly zero throughout, whose
    modules ran in the forward pass. Nothing is reported if a layer of dead ReLUs or a constant output
    explains the zeros. Severity is high, and medium or low if the run learns. It is low for agents, whose
    target networks only follow, and info for modules that never ran.

    ## Why it matters
    The graph is cut after them (detach, item, NumPy, rounding, argmax), so they stay at their initial
    values.

    ## When it is wrong
    Only some batches may use a part of the model. Some outputs are not meant to train (targets of a moving
    average).

    ## What to try
    Inspect the code after the last of these modules. Use a straight-through estimator where rounding is
    needed.

    ## Sources
    Bengio et al. (2013), Estimating or propagating gradients through stochastic neurons,
    https://arxiv.org/abs/1308.3432.
    """
    setup = run.setup
    absent = setup.number("parameters_without_gradient") or 0.0
    zero = setup.number("parameters_with_zero_gradient") or 0.0
    total = setup.number("parameters_trainable") or 0.0
    names = str(setup.known("parameters_without_gradient_names") or "")
    if absent >= nearly * total > 0:
        raise CannotJudge(
            "no parameter of the optimizer gets a gradient, so it may hold those of another model"
        )
    used = absent > any_at_all and ran_forward(run, names)
    everything = zero >= nearly * total > 0
    still = setup.number("outputs_min") == setup.number("outputs_max")
    cut = zero > tiny * total and not is_blocked(run, silent) and not (everything and still)
    if absent <= any_at_all and not cut:
        return
    kind = "no-gradient" if used else "unused" if not cut else "all-zero" if everything else "zero-gradient"
    count = absent if absent else zero
    partly = absent < nearly * total
    yield Evidence(
        severity="info" if kind == "unused" else severity_of(features, used, partly),
        strength=1.0 if used else 0.5 if cut else 1 / 4,
        aspects=(kind,),
        values={
            "count": count,
            "what": "get no gradient" if absent else "get a gradient of exactly zero",
            "names": names or setup.known("parameters_with_zero_gradient_names") or "",
        },
        points=(api.EvidencePoint("parameters_without_gradient", None, count, 0.0, "parameters"),),
    )


def severity_of(features: Features, used: bool, partly: bool) -> api.Severity:
    """By whether the run learns; low for an agent with a gradient in part of its parameters."""
    if features.is_reinforcement and partly:
        return "low"  # target networks of an agent only follow
    return api.progress_severity(features, stuck="high", unknown="high", learns="medium" if used else "low")


def ran_forward(run: Run, names: str) -> bool:
    """Whether a module that owns one of the parameters `names` ran in the forward pass."""
    seen = {m.split("#")[0] for name, p in run.panels.items() if name.startswith("act_") for m in p.modules}
    owners = {name.strip().rpartition(".")[0] for name in names.split(",")}
    return bool(owners & seen)


def is_blocked(run: Run, silent: float) -> bool:
    """Whether a layer of rectifiers is dead, so that it passes no gradient."""
    zeros = run.panels.get("act_zero_fraction")
    return zeros is not None and bool((zeros.values >= silent).any())
