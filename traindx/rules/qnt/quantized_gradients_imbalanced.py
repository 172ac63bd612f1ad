"""QNT003 quantized-gradients-imbalanced."""

import msgspec

from traindx.features.per_module.panels import at_end, panel, typical
from traindx.features.per_module.quantization import by_module
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    Features,
    Iterator,
    Panel,
    Run,
    Severity,
    is_learning,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="QNT003",
    needs=("quant/gradient/*|grad_norm/*", "quant/zero_fraction/*|quant/majority/*"),
    min_points=1,
    severity="high",
    message="gradients of quantized modules ({where}) are {ratio:.3g} times those of float ones ({beside})",
)
def quantized_gradients_imbalanced(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(100.0, "x", "seed", "catalogue: scales >> or << the rest, x 100"),
    passed: float = threshold(
        20.0, "x", "convention", "straight through is 1; clipping and learnt scales stay within a few times"
    ),
    dead: float = threshold(
        0.95, "of a module's weights", "convention", "as ternary-weights-collapse: no gradient gets past"
    ),
    next_to_none: float = threshold(
        0.005, "x", "measured", "a scale times a sign passes its scale, 0.02-0.1; plain rounding 1e-8-0.006"
    ),
    rows: float = threshold(3, "rows", "convention", "a median needs three"),
) -> Iterator[Evidence]:
    """Gradients of the quantized modules are of quite another size than they should be, or than those of float ones.

    ## What it sees
    The gradient that reaches the float weights against the one that reaches their quantized copies (straight
    through: 1), typical of the first or of the last third of the run; twenty times more or less. Where that
    was not measured, the median gradient norm over the quantized modules against that over the others, in
    the median over the steps; a hundred times more or less (modules whose weights are nearly all the same
    left out). Or a learnt scale changes, for its own size, a hundred times as fast as its weights in the
    first third of the run. High where the run does not learn, and for what the backward pass does; low where
    the run learns with an optimizer that does not follow the gradient's size (medium where nearly nothing
    passes: what does is no gradient).

    ## Why it matters
    One learning rate cannot suit both: the quantized layers are torn, or never leave where they started. It
    comes from a backward pass that forgets the scale, or from learnt scales without a factor.

    ## When it is wrong
    Very deep nets have gradients that differ by depth; an optimizer that divides by the gradient's size
    (Adam) does not mind.

    ## What to try
    Pass the gradient straight through; scale that of learnt step sizes by 1 / sqrt(n * levels); a learning
    rate of their own.

    ## Sources
    Bengio et al. (2013), arXiv:1308.3432; Esser et al. (2020), Learned step size quantization.
    """
    if run.setup.word("quantized_in") == "evaluation":
        raise CannotJudge("weights are quantized in evaluation only")
    certain = is_learning(features) is False
    scale_free = any(
        word in run.setup.word("optimizer") for word in ("adam", "lamb", "lion", "rmsprop", "muon")
    )
    through = by_module(features, "quant/gradient")
    if through is not None and np.isfinite(through.values).any():
        found, direct = (
            list(straight(through, by_module(features, "quant/kept"), passed, next_to_none)),
            not scale_free,
        )
        found = found or list(of_scales(features, through.modules, ratio))
    else:
        found, direct = list(beside_float(features, ratio, dead, int(rows))), False
    for one in found:
        lost = "lost" in one.aspects  # what passes is not the gradient, whoever divides by its size
        severity: Severity = "high" if certain or direct else "medium" if lost or not scale_free else "low"
        yield msgspec.structs.replace(
            one, severity=severity, strength=1.0 if certain or direct or lost else 0.5
        )


def straight(found: Panel, kept: Panel | None, passed: float, lost: float) -> Iterator[Evidence]:
    """What the backward pass makes of a gradient on its way through the quantizer; the worst module. A quantizer
    that scales weights (to the range -1 .. 1) rightly has the gradient scaled by as much ("kept")."""
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
        message="the gradient at the float weights of {where} is {ratio:.3g} times that at the quantized ones",
        values={"where": found.modules[worst], "ratio": times},
        points=(at_end("quant/gradient", found, worst, times, 1.0),),
    )


def of_scales(features: Features, quantized: tuple[str, ...], ratio: float) -> Iterator[Evidence]:
    """Learnt scales that move far faster than the weights that they quantize, each for its own size, from the start:
    those of a module within the one that holds the weights."""
    found = by_module(features, "update_ratio")
    if found is None or len(found.steps) < 1:
        return
    speed = typical(found.values[: max(1, len(found.steps) // 3)])
    pairs = [(i, found.modules.index(q)) for i, m in enumerate(found.modules) for q in quantized
             if m.startswith(f"{q}.") and q in found.modules]  # fmt: skip
    times = np.array([speed[i] / speed[j] if speed[j] > 0 else np.nan for i, j in pairs])
    if not np.isfinite(times).any() or np.nanmax(times) < ratio:
        return
    worst = int(np.nanargmax(times))
    place, beside = pairs[worst]
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[place],
        aspects=("larger", "scale"),
        message="the scale {where} moves {ratio:.3g} times as fast as the weights that it quantizes",
        values={"where": found.modules[place], "ratio": float(times[worst])},
        points=(at_end("update_ratio", found, place, float(speed[place]), float(speed[beside])),),
    )


def beside_float(features: Features, ratio: float, dead: float, rows: int) -> Iterator[Evidence]:
    """Quantized modules against float ones."""
    found = panel(features, "grad_norm", rows=rows)
    names = [by_module(features, n) for n in ("quant/zero_fraction", "quant/majority")]
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
    times = float(median(one[known] / other[known]))
    if 1 / ratio < times < ratio:
        return
    place = int(np.flatnonzero(inside)[0])
    where, beside = (", ".join(np.array(found.modules)[mask][:3]) for mask in (inside, ~inside))
    yield Evidence(
        onset=float(found.steps[known][0]),
        last=float(found.steps[-1]),
        where=found.modules[place],
        aspects=("larger",) if times > 1 else ("smaller",),
        values={"where": where, "beside": beside, "ratio": times},
        points=(
            at_end("grad_norm", found, place, float(median(one[known])), float(median(other[known])), "L2"),
        ),
    )
