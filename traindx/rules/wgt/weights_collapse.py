"""WGT005 weights-collapse."""

from traindx.features.per_module.panels import evidence_at_end, first_known, name_marked_modules, panel
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="WGT005",
    needs=("weight_norm/*", "objective"),
    min_points=1,
    severity="high",
    message="the weights of {where} shrank to {share:.1%} of their initial norm",
)
def weights_collapse(
    run: Run,
    features: Features,
    *,
    left: float = threshold(
        0.2, "of the first norm", "measured", "279 healthy runs of 58 kinds: 90 % and more"
    ),
    usual: float = threshold(0.5, "of the modules", "convention", "a single one can be meant to vanish"),
    head: float = threshold(3, "rows", "convention", "where the first norm is looked for"),
) -> Iterator[Evidence]:
    """The weights shrink to a small part of their initial norm, and the run does not learn.

    ## What it sees
    The last norm of each module divided by its first. Half of the modules must be at 20 % or less. Severity
    is high if the run does not learn and low if that is not known. A run that learns is not reported.

    ## Why it matters
    Weight decay or a penalty has won over the data. A network without weights predicts the same for every
    input.

    ## When it is wrong
    Layers before a normalization may shrink without changing the output. Pruning and sparsity penalties
    shrink on purpose.

    ## What to try
    A hundredth of the weight decay or penalty. With an adaptive optimizer use decoupled weight decay
    (AdamW).

    ## Sources
    Loshchilov and Hutter (2019), Decoupled weight decay regularization, arXiv:1711.05101. The bound is
    measured: 279 healthy runs kept 90 % and more.
    """
    found = panel(features, "weight_norm")
    values = np.where(np.isfinite(found.values), found.values, np.nan)
    start = first_known(np.where(values > 0, values, np.nan), int(head))
    end = first_known(values[::-1], len(values))
    known = np.isfinite(start) & np.isfinite(end)
    if not known.any():
        raise CannotJudge("no finite norm at the start")
    share = np.where(known, end / np.where(known, start, 1.0), np.nan)
    small = np.nan_to_num(share, nan=1.0) <= left
    learning = api.is_learning(features)
    if learning or small.sum() < usual * known.sum():
        return
    worst = int(np.nanargmin(share))
    onset = int(np.argmax(np.nan_to_num(values[:, worst], nan=np.inf) <= start[worst] * left))
    yield Evidence(
        onset=float(found.steps[onset]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        severity="high" if learning is False else "low",
        strength=1.0 if learning is False else 0.5,
        values={"where": name_marked_modules(found, small), "share": float(api.median(share[small]))},
        points=(evidence_at_end("weight_norm", found, worst, end[worst], start[worst]),),
    )
