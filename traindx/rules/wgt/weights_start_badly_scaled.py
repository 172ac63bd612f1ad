"""WGT006 weights-start-badly-scaled."""

from itertools import chain, islice

import msgspec

from traindx.features.per_module.panels import panel
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="WGT006",
    needs=("act_std/*", "objective"),
    min_points=10,
    severity="high",
    message="{what}",
)
def weights_start_badly_scaled(
    run: Run,
    features: Features,
    *,
    up: float = threshold(
        30.0, "x the first module's", "measured", "279 healthy runs of 58 kinds: 5.5x at most"
    ),
    down: float = threshold(
        1e-3, "x the first module's", "measured", "279 healthy runs: 0.14x and more; faults 1e-7"
    ),
    copies: float = threshold(
        0.5, "of the units", "convention", "healthy: none; a constant layer: all of its units"
    ),
    loud: float = threshold(5.0, "spread", "theory", "a normalized signal has 1, and 4 sigma of it 4"),
    faint: float = threshold(
        0.02, "x unit gain", "theory", "He 1.4, PyTorch 0.6, transformers 0.1 and more"
    ),
    strong: float = threshold(4.0, "x unit gain", "theory", "orthogonal for tanh has 1.7"),
    soon: float = threshold(0.02, "of the run", "convention", "later rows do not show the start"),
) -> Iterator[Evidence]:
    """At initialization the signal explodes or vanishes from layer to layer, or units are identical.

    ## What it sees
    One of three, at the first recorded step:

    - units that start with the weights of other units and still have them later (50 % of the units, the last
      layer left out);
    - a layer whose weights multiply the size of a signal by less than 0.02 or more than 4;
    - outputs whose spread is 30 times that of the first module (and above 5), or a thousandth of it, or zero
      everywhere. The last module is left out for the lower bound, and so are dead ReLUs.

    At least 10 points are needed, which show whether that does any harm. Severity is high if the run does not
    learn, medium if that is not known, and info if it learns.

    ## Why it matters
    A good initialization keeps the spread of the signal about the same in all layers. Otherwise gradients
    explode or vanish by the same factor. Identical units get identical gradients: the layer stays as wide as
    one unit.

    ## When it is wrong
    Residual branches may start at zero on purpose. Normalization later in the network can compensate, which
    is why a run that learns gets a note only.

    ## What to try
    Random instead of constant weights, He (ReLU) or Xavier (tanh) initialization, normalization layers.

    ## Sources
    He et al. (2015), Delving deep into rectifiers, arXiv:1502.01852. Mishkin and Matas (2016), All you need
    is a good init, arXiv:1511.06422. The bounds are measured on 279 healthy runs: 5.5 times at most, 0.14
    times at least.
    """
    severity = api.progress_severity(features, stuck="high", unknown="medium", learns="info")
    strength = 1.0 if api.is_learning(features) is False else 0.5
    spread = spread_at_start(run, features, (up, loud), down, soon)
    for found in islice(chain(copies_at_start(run, copies), gains_at_start(run, faint, strong), spread), 1):
        yield msgspec.structs.replace(found, severity=severity, strength=strength)


def copies_at_start(run: Run, most: float) -> Iterator[Evidence]:
    """Units that started with the weights of others and still have them."""
    identical = run.setup.number("weights_identical_units_later") or 0.0
    if identical >= most:
        yield Evidence(
            aspects=("symmetric",),
            values={
                "what": f"{identical:.0%} of the units started with the weights of another unit and "
                "still have them"
            },
            points=(EvidencePoint("weights_identical_units_later", None, identical, 0.0, "0..1"),),
        )


def gains_at_start(run: Run, faint: float, strong: float) -> Iterator[Evidence]:
    """The layer whose weights change the size of a signal most."""
    least, most = run.setup.number("initial_gain_min"), run.setup.number("initial_gain_max")
    if least is not None and least < faint:
        value, name, how = least, "initial_gain_min", "shrink"
    elif most is not None and most > strong:
        value, name, how = most, "initial_gain_max", "amplify"
    else:
        return
    place = run.setup.word(f"{name}_name")
    yield Evidence(
        where=place,
        aspects=("gain-low" if how == "shrink" else "gain-high",),
        values={
            "what": f"the initial weights of {place} {how} a signal: gain {value:.2g} (usual: 0.1 to 2)"
        },
        points=(EvidencePoint(name, None, value, 1.0, "x unit gain"),),
    )


def spread_at_start(
    run: Run, features: Features, up: tuple[float, float], down: float, soon: float
) -> Iterator[Evidence]:
    """The module whose spread in the first row differs most from that of the first module."""
    found, known = at_start(run, panel(features, "act_std"), soon)
    values = found.values[0, known]
    first, highest = float(values[0]), float(values.max())
    inner = values[:-1][values[:-1] > 0]
    lowest = float(inner.min()) if len(inner) else first
    if highest == 0:
        how, aspect, extreme = "is constant", "constant", highest
    elif first > 0 and highest >= max(up[0] * first, up[1]):
        how, aspect, extreme = "grows from layer to layer", "explodes", highest
    elif first > 0 and lowest <= down * first:
        how, aspect, extreme = "vanishes", "dies-out", lowest
    else:
        return
    place, front = found.modules[int(known[int(np.argmax(values == extreme))])], found.modules[int(known[0])]
    spreads = f"a spread of {first:.2g} after {front}, {extreme:.2g} after {place}"
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[0]),
        where=place,
        aspects=(aspect,),
        values={"what": f"at the start the signal {how}: {spreads}"},
        points=(EvidencePoint(f"act_std/{place}", float(found.steps[0]), extreme, first),),
    )


def at_start(run: Run, found: api.Panel, soon: float) -> tuple[api.Panel, api.Ints]:
    """The panel, and the places of the modules that were measured in its first row. Raises CannotJudge when
    that is not the start of the run, or there are fewer than two."""
    began = run.first_step if run.first_step is not None else float(found.steps[0])
    ended = max(run.last_step or 0.0, float(found.steps[-1]))
    if found.steps[0] - began > soon * max(ended - began, 1.0):
        raise api.CannotJudge("the start of the run was not measured")
    known = np.flatnonzero(~np.isnan(found.values[0]))
    if len(known) < 2:
        raise api.CannotJudge("needs the outputs of two modules at the start")
    return found, known
