"""GRD001 gradients-vanish-with-depth."""

from traindx.features.per_module.panels import panel, typical
from traindx.features.statistics.trends import rank_correlation
from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold


@rule(
    code="GRD001",
    needs=("grad_norm/*",),
    min_points=1,
    severity="high",
    message="the gradient vanishes with depth: its norm in the first modules ({first}) is {ratio:.1e} times that "
    "in the last ({last})",
)
def gradients_vanish_with_depth(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(
        0.01, "first over last modules", "measured", "279 healthy runs of 58 kinds: 0.11 and more"
    ),
    strong: float = threshold(1e-3, "first over last modules", "paper", "AUTOTRAINER (Zhang 2021)"),
    steady: float = threshold(0.6, "rank correlation", "convention", "of the gradient with depth"),
    deep: float = threshold(4, "modules", "convention", "fewer have no depth"),
    rows: float = threshold(3, "rows", "convention", "a median needs three; fewer must be strong"),
) -> Iterator[Evidence]:
    """The gradient shrinks from the last modules to the first, and the run does not learn.

    ## What it sees
    The gradient norm of the first third of the modules is at most 1 % of that of the last third. Both are
    medians over modules and rows, without zeros. The norm must fall along the depth (rank correlation at
    least 0.6). With fewer than 3 rows it must be at most 0.1 %. Severity is high if the run does not learn.
    If that is not known it is medium at 0.1 %, and low above. A run that learns is not reported.

    ## Why it matters
    The first layers do not change. The later ones must work with random features.

    ## When it is wrong
    Modules are taken in the order in which the model holds them: a model that holds its last layer first
    appears upside down. Frozen or dead layers have no gradient and are left out.

    ## What to try
    Normalization layers or skip connections. ReLU or GELU with He initialization instead of sigmoids.

    ## Sources
    Glorot and Bengio (2010), https://proceedings.mlr.press/v9/glorot10a.html. Zhang et al. (2021),
    AUTOTRAINER: an automatic DNN training problem detection and repair system,
    doi:10.1109/ICSE43902.2021.00043. The bound is measured: at least 11 % in 279 healthy runs.
    """
    found = panel(features, "grad_norm")
    learning = api.is_learning(features)
    level = typical(np.where(found.values > 0, found.values, np.nan))
    known = np.isfinite(level)
    level, names = level[known], [m for m, k in zip(found.modules, known, strict=True) if k]
    if len(names) < deep:
        raise api.CannotJudge(f"needs {deep:.0f} modules with a gradient, there are {len(names)}")
    part = max(1, len(level) // 3)
    front, back = float(median(level[:part])), float(median(level[-part:]))
    bound = ratio if len(found.steps) >= rows else strong
    along = rank_correlation(np.arange(len(level), dtype=np.float64), level)
    if learning or along < steady or front >= bound * back:
        return
    certain, severe = learning is False, front < strong * back
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=names[0],
        strength=1.0 if certain and severe else 0.5,
        severity="high" if certain else "medium" if severe else "low",
        aspects=("strong",) if severe else (),
        values={
            "first": ", ".join(names[:part][:2]),
            "last": ", ".join(names[-part:][-2:]),
            "ratio": front / back,
        },
        points=(api.EvidencePoint(f"grad_norm/{names[0]}", float(found.steps[-1]), front, back, "L2"),),
    )
