"""GRD008 gradients-imbalanced."""

from traindx.features.per_module.panels import evidence_at_end, panel, rows_after_start, typical
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="GRD008",
    needs=("grad_norm/*", "objective"),
    min_points=1,
    severity="medium",
    message="the gradient norm of {high} is {ratio:.0f} times that of {low}",
    follows=("gradients-vanish-with-depth", "relu-units-dead"),
)
def gradients_imbalanced(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(1000.0, "x", "measured", "at most 224 in 279 healthy runs of 58 kinds"),
    warm: float = threshold(0.1, "of the run", "convention", "first steps are left out"),
    rows: float = threshold(3, "rows", "convention", "a median needs three"),
    few: float = threshold(3, "modules", "convention", "two to compare, without embeddings"),
) -> Iterator[Evidence]:
    """The gradients of two modules differ by three orders of magnitude, and the run does not learn.

    ## What it sees
    The median gradient norm of each module after the first tenth of the run, zeros left out. The largest
    must be at least 1000 times the smallest. Modules whose name contains "emb" are left out. Severity is
    medium; low if it is not known whether the run learns, or if the optimizer does not depend on the scale
    of the gradient (Adam, LAMB, Lion, RMSprop, Muon). A run that learns is not reported.

    ## Why it matters
    No single learning rate fits both modules: it is too large for the one or too small for the other.

    ## When it is wrong
    Embeddings (a batch touches few of their rows), scalars and layers of very different size have different
    norms by nature.

    ## What to try
    Normalization layers, another initialization, an adaptive optimizer, or a learning rate per parameter
    group.

    ## Sources
    You et al. (2017), Large batch training of convolutional networks (LARS), arXiv:1708.03888. Glorot and
    Bengio (2010), https://proceedings.mlr.press/v9/glorot10a.html. Measured: at most 224 times in 279
    healthy runs.
    """
    found = rows_after_start(panel(features, "grad_norm", rows=int(rows)), warm)
    level = typical(np.where(found.values > 0, found.values, np.nan))
    level[["emb" in m.lower() for m in found.modules]] = np.nan
    if np.isfinite(level).sum() < few:
        raise CannotJudge(
            f"needs {few:.0f} modules with a gradient, there are {int(np.isfinite(level).sum())}"
        )
    high, low = int(np.nanargmax(level)), int(np.nanargmin(level))
    learning = api.is_learning(features)
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
        points=(evidence_at_end("grad_norm", found, high, level[high], level[low], "L2"),),
    )
