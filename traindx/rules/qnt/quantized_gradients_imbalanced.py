"""QNT003 quantized-gradients-imbalanced."""

import msgspec

from traindx.features.per_module.panels import evidence_at_end, module_panel, panel, typical
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="QNT003",
    needs=("quant/gradient/*|grad_norm/*", "quant/zero_fraction/*|quant/majority/*"),
    min_points=1,
    severity="high",
    message="gradient norms of quantized modules ({where}) are {ratio:.3g} times those of float "
    "modules ({floats})",
)
def quantized_gradients_imbalanced(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(100.0, "x", "convention", "two orders of magnitude"),
    passed: float = threshold(
        20.0, "x", "convention", "straight through is 1; learned scales change it a few times"
    ),
    dead: float = threshold(0.95, "of a module's weights", "convention", "as in ternary-weights-collapse"),
    next_to_none: float = threshold(
        0.005, "x", "measured", "a scale times a sign passes its scale, 0.02-0.1; plain rounding 1e-8-0.006"
    ),
    rows: float = threshold(3, "rows", "convention", "a median needs three"),
) -> Iterator[Evidence]:
    """The gradients of the quantized modules have the wrong size.

    ## What it sees
    One of three:

    - the gradient at the float weights divided by that at their quantized copies, which is 1 for a
      straight-through estimator: 20 times more or less in the first or last third of the run;
    - where that was not measured, the median gradient norm of the quantized modules divided by that of the
      float modules: 100 times more or less (modules with 95 % equal weights are left out);
    - a learned scale that changes, relative to its size, 100 times as fast as its weights in the first third
      of the run.

    Severity is high if the run does not learn, or if the backward pass is wrong. It is low if the run learns
    with an optimizer that does not depend on the scale of the gradient (Adam, LAMB, Lion, RMSprop, Muon). If
    almost nothing passes it is medium, because what passes is then not a gradient.

    ## Why it matters
    No single learning rate fits both: the quantized layers move too fast or not at all. The reason is a
    backward pass that omits the scale, or learned scales without a gradient factor.

    ## When it is wrong
    The gradients of very deep networks differ by depth. An adaptive optimizer compensates for it.

    ## What to try
    Pass the gradient straight through. Multiply the gradient of learned step sizes by 1 / sqrt(weights x
    levels), or give them a separate learning rate.

    ## Sources
    Bengio et al. (2013), Estimating or propagating gradients through stochastic neurons, arXiv:1308.3432.
    Esser et al. (2020), Learned step size quantization, arXiv:1902.08153.
    """
    if run.setup.word("quantized_in") == "evaluation":
        raise CannotJudge("weights are quantized in evaluation only")
    certain = api.is_learning(features) is False
    scale_free = any(
        word in run.setup.word("optimizer") for word in ("adam", "lamb", "lion", "rmsprop", "muon")
    )
    through = module_panel(features, "quant/gradient")
    if through is not None and np.isfinite(through.values).any():
        found = list(through_quantizer(through, module_panel(features, "quant/kept"), passed, next_to_none))
        found, direct = found or list(fast_scales(features, through.modules, ratio)), not scale_free
    else:
        found, direct = list(compared_with_float(features, ratio, dead, int(rows))), False
    for one in found:
        lost = "lost" in one.aspects  # what passes is not a gradient, so no optimizer can rescale it
        severity: api.Severity = (
            "high" if certain or direct else "medium" if lost or not scale_free else "low"
        )
        yield msgspec.structs.replace(
            one, severity=severity, strength=1.0 if certain or direct or lost else 0.5
        )


def through_quantizer(
    found: api.Panel, kept: api.Panel | None, passed: float, lost: float
) -> Iterator[Evidence]:
    """How the backward pass through the quantizer changes the size of a gradient, for the worst module. A
    quantizer that scales weights (to the range -1 .. 1) rightly scales the gradient by as much ("kept")."""
    third = max(1, len(found.steps) // 3)
    values = np.where(found.values > 0, found.values, np.nan)
    ends = np.log(np.stack([typical(values[:third]), typical(values[-third:])]))
    slopes = (
        {} if kept is None else dict(zip(kept.modules, np.nan_to_num(typical(kept.values)), strict=True))
    )
    slope = np.log([max(1.0, slopes.get(m, 1.0)) for m in found.modules])
    size = np.abs(np.where(np.isfinite(ends), ends - np.clip(ends, 0, slope), 0.0))
    if size.max(initial=0.0) < np.log(passed):
        return
    worst = int(size.max(0).argmax())
    times = float(np.exp(ends[int(size[:, worst].argmax()), worst]))
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        aspects=("larger" if times > 1 else "smaller", "backward", *("lost",) * (times < lost)),
        message="the gradient at the float weights of {where} is {ratio:.3g} times that at their "
        "quantized copies",
        values={"where": found.modules[worst], "ratio": times},
        points=(evidence_at_end("quant/gradient", found, worst, times, 1.0),),
    )


def fast_scales(features: Features, quantized: tuple[str, ...], ratio: float) -> Iterator[Evidence]:
    """Learned scales that change far faster than the weights that they quantize, relative to their sizes,
    from the start. A scale belongs to a module inside the one that holds the weights."""
    found = module_panel(features, "update_ratio")
    if found is None or len(found.steps) < 1:
        return
    speed = typical(found.values[: max(1, len(found.steps) // 3)])
    pairs = [(i, found.modules.index(q)) for i, m in enumerate(found.modules) for q in quantized
             if m.startswith(f"{q}.") and q in found.modules]  # fmt: skip
    times = np.array([speed[i] / speed[j] if speed[j] > 0 else np.nan for i, j in pairs])
    if not np.isfinite(times).any() or np.nanmax(times) < ratio:
        return
    worst = int(np.nanargmax(times))
    place, other_place = pairs[worst]
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[place],
        aspects=("larger", "scale"),
        message="the scale {where} changes {ratio:.3g} times as fast as the weights that it quantizes",
        values={"where": found.modules[place], "ratio": float(times[worst])},
        points=(
            evidence_at_end("update_ratio", found, place, float(speed[place]), float(speed[other_place])),
        ),
    )


def compared_with_float(features: Features, ratio: float, dead: float, rows: int) -> Iterator[Evidence]:
    """Quantized modules against float ones."""
    found = panel(features, "grad_norm", rows=rows)
    names = [module_panel(features, n) for n in ("quant/zero_fraction", "quant/majority")]
    quantized = {m for p in names if p is not None for m in p.modules}
    for share in (p for p in names if p is not None):
        quantized -= {m for m, v in zip(share.modules, typical(share.values), strict=True) if v > dead}
    inside = np.array([m in quantized for m in found.modules])
    if not quantized:
        return
    if not inside.any() or inside.all():
        raise CannotJudge("needs gradients of quantized and of float modules")
    norms = np.where(np.isfinite(found.values) & (found.values > 0), found.values, np.nan)
    one, other = typical(norms[:, inside].T), typical(norms[:, ~inside].T)
    known = np.isfinite(one) & np.isfinite(other)
    if known.sum() < rows:
        raise CannotJudge(f"needs {rows} steps with gradients of both, there are {int(known.sum())}")
    times = float(api.median(one[known] / other[known]))
    if 1 / ratio < times < ratio:
        return
    place = int(np.flatnonzero(inside)[0])
    where, floats = (", ".join(np.array(found.modules)[mask][:3]) for mask in (inside, ~inside))
    yield Evidence(
        onset=float(found.steps[known][0]),
        last=float(found.steps[-1]),
        where=found.modules[place],
        aspects=("larger",) if times > 1 else ("smaller",),
        values={"where": where, "floats": floats, "ratio": times},
        points=(
            evidence_at_end(
                "grad_norm",
                found,
                place,
                float(api.median(one[known])),
                float(api.median(other[known])),
                "L2",
            ),
        ),
    )
