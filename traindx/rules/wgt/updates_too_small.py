"""WGT002 updates-too-small."""

from traindx.features.per_module.panels import panel, rows_after_start, typical
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="WGT002",
    needs=("update_ratio/*", "objective"),
    min_points=1,
    severity="high",
    message="an optimizer step changes the weights by {ratio:.1e} of their norm, and the loss does "
    "not improve",
    follows=("learning-rate-is-zero", "learning-rate-vanishes-early", "gradients-vanish-with-depth"),
)
def updates_too_small(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(
        5e-5, "of the weights", "measured", "fine-tuning works at 6e-5; faulty runs have 1e-5"
    ),
    tiny: float = threshold(1e-5, "of the weights", "convention", "1e5 steps to renew the weights"),
    warm: float = threshold(0.1, "of the run", "convention", "warm-up is left out"),
    grown: float = threshold(3.0, "x the first norm", "convention", "weights that blew up before"),
) -> Iterator[Evidence]:
    """Optimizer steps change the weights by almost nothing, and the run does not learn.

    ## What it sees
    The norm of the update divided by the norm of the weights after the first tenth of the run, as a median
    over the modules that move at all. It must be below 5e-5. It is reported only if the run does not learn.
    If the weights first grew to 3 times their size, the ratio is small for another reason and is not
    reported.

    ## Why it matters
    At that pace the weights stay at their initialization for the whole run.

    ## When it is wrong
    Fine-tuning of large models works with small updates. A run that learns is never reported.

    ## What to try
    Ten times the learning rate, a looser gradient clip, or another schedule. If only the first layers are
    slow, see `gradients-vanish-with-depth`.

    ## Sources
    Karpathy (2022), Building makemore part 3 (about 1e-3 of the weights per step is usual),
    https://github.com/karpathy/nn-zero-to-hero. Measured: fine-tuning worked at 6e-5, faulty runs had 1e-5.
    """
    found = panel(features, "update_ratio")
    level = typical(rows_after_start(found, warm).values)
    moving = level[np.isfinite(level) & (level > 0)]
    if not len(moving):
        raise CannotJudge("no parameter moves at all")
    norm = features.curve("grad_norm")
    if norm is not None and (norm.n == 0 or float(api.median(norm.values)) == 0):
        raise CannotJudge("there is no gradient, or it is zero")
    middle = float(api.median(moving))
    if api.is_learning(features) is not False or middle >= ratio or weights_grew(run, grown):
        return
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        strength=1.0 if middle < tiny else 0.5,
        aspects=("everywhere",) if float(moving.max()) < ratio else ("in-part",),
        values={"ratio": middle},
        points=(api.EvidencePoint("update_ratio", float(found.steps[-1]), middle, ratio),),
    )


def weights_grew(run: Run, grown: float) -> bool:
    """Whether the weights ended several times as large as they began."""
    weights = run.panels.get("weight_norm")
    if weights is None or len(weights.steps) == 0:
        return False
    norms = np.sqrt(np.sum(np.nan_to_num(weights.values) ** 2, axis=1))
    return bool(norms[-1] > grown * norms[0] > 0)
