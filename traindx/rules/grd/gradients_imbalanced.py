"""GRD008 gradients-imbalanced."""

from traindx.features.per_module.panels import after_warm_up, panel, typical
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    is_learning,
    np,
    rule,
    threshold,
)


@rule(
    code="GRD008",
    needs=("grad_norm/*", "objective"),
    min_points=1,
    severity="medium",
    message="the gradient of {high} is {ratio:.0f} times that of {low}",
    follows=("gradients-vanish-with-depth", "relu-units-dead"),
)
def gradients_imbalanced(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(
        1000.0, "x", "seed", "requirements: 1000x alarms; measured: at most 224 in 279 healthy runs"
    ),
    warm: float = threshold(0.1, "of the run", "convention", "first steps are left out"),
    rows: float = threshold(3, "rows", "convention", "a median needs three"),
    few: float = threshold(3, "modules", "convention", "embeddings exempt, two to compare"),
) -> Iterator[Evidence]:
    """The gradients of two modules differ by three orders of magnitude in a net that does not learn.

    ## What it sees
    Typical gradient norms per module after the first steps, zeros left out. Medium under an optimizer that
    follows the gradient's size, low under Adam and its kin, whose step does not; nothing where the run
    learns.

    ## Why it matters
    One learning rate cannot suit both: what is right for the one tears or freezes the other.

    ## When it is wrong
    Embeddings (of which a batch touches few rows), scalars and layers of very different size are apart by
    nature; therefore a module whose name holds "emb" is left out.

    ## What to try
    Normalization, another initialization, an adaptive optimizer, rates per group.

    ## Sources
    Glorot, Bengio (2010); You et al. (2017), Large batch training of convolutional networks (LARS).
    """
    found = after_warm_up(panel(features, "grad_norm", rows=int(rows)), warm)
    level = typical(np.where(found.values > 0, found.values, np.nan))
    level[["emb" in m.lower() for m in found.modules]] = np.nan
    if np.isfinite(level).sum() < few:
        raise CannotJudge(
            f"needs {few:.0f} modules with a gradient, there are {int(np.isfinite(level).sum())}"
        )
    high, low = int(np.nanargmax(level)), int(np.nanargmin(level))
    learning = is_learning(features)
    times = float(level[high] / level[low])
    if learning or times < ratio:
        return
    scale_free = any(
        word in run.setup.word("optimizer") for word in ("adam", "lamb", "lion", "rmsprop", "muon")
    )
    certain = learning is False and not scale_free
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[high],
        strength=1.0 if certain else 0.5,
        severity="medium" if certain else "low",
        aspects=("first-largest",) if high < low else ("last-largest",),
        values={"high": found.modules[high], "low": found.modules[low], "ratio": times},
        points=(
            EvidencePoint(
                f"grad_norm/{found.modules[high]}",
                float(found.steps[-1]),
                float(level[high]),
                float(level[low]),
                "L2",
            ),
        ),
    )
