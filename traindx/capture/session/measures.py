"""What is measured of gradients, weights and updates in a step, and the signals made of it; which parameters
are trained, and which do not move although they should."""

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from traindx.capture.process.patches import reference
from traindx.capture.session.backend import Backend, Updates
from traindx.capture.session.layout import Gone, Layout
from traindx.capture.signals import families_by_kind, parameter_families
from traindx.capture.signals.family import Modules, Panel
from traindx.vocabulary import Fact, Floats, Ints


class Plan(NamedTuple):
    """What one optimizer answers for, as long as `key` holds: places of its parameters in the layout
    (the first `own` are in its groups) and the parameters."""

    key: tuple[int, ...]
    places: Ints
    parameters: list[Any]
    own: int


class Measures:
    """All models and optimizers of a session. Readings are added to `vectors` (kind, about, values) and
    `gathered`; `panels` turns them into signals once they are on the host. What the script frees is released
    here at once; `let_go` is called then."""

    def __init__(self, backend: Backend, let_go: Callable[[], None] = lambda: None) -> None:
        self.backend, self._let_go = backend, let_go
        self.layout = Layout(backend.size, backend.trainable, self._parameters_gone)
        self.movement = Movement(self.layout, backend)
        self._optimizers: list[Callable[[], Any]] = []
        self.held: dict[
            int, Ints
        ] = {}  # id(optimizer) -> places of its parameters; below 0 of those that are gone
        self.ever: set[int] = set()  # places that an optimizer has held
        self.vectors: list[tuple[str, Any, Any]] = []
        self.gathered: list[tuple[Ints, Any, float]] = []  # places, norms or their squares, factor
        self._updates: dict[int, Updates | None] = {}
        self._device: bool | None = None
        self._plans: dict[int, Plan] = {}
        self._changes = 0  # of what optimizers hold
        self._grouped: dict[bytes, Modules] = {}
        self._families = families_by_kind()
        self._read = parameter_families()
        self.seconds = 0.0  # spent on what is measured on sampled steps only

    @property
    def device(self) -> bool:
        """Whether parameters lie on an accelerator: readings then stay there until fetched."""
        if self._device is None and self.layout.parameters:
            self._device = self.backend.elsewhere([p for _, p in self.layout.alive()])
        return bool(self._device)

    @property
    def optimizers(self) -> list[Any]:
        """In their order; None in place of one that was freed."""
        return [optimizer() for optimizer in self._optimizers]

    def is_first(self, optimizer: Any) -> bool:
        """Whether this is the optimizer that counts the steps. Asked several times a step."""
        return bool(self._optimizers) and optimizer is self._optimizers[0]()

    def add_optimizer(self, optimizer: Any) -> None:
        if id(optimizer) not in self.held:
            if all(known() is None for known in self._optimizers):
                self._optimizers.clear()  # this one has taken their place
            self._optimizers.append(reference(optimizer, partial(self._gone, id(optimizer))))
            self._place_parameters(optimizer)

    def _gone(self, key: int, _reference: Any) -> None:
        """An optimizer is no more, and another may get its id."""
        self.held[-len(self.held) - 1] = self.held.pop(key)
        self._updates.pop(key, None)
        self._changes += 1
        self._parameters_gone()

    def _parameters_gone(self) -> None:
        self._plans.clear()
        self._let_go()

    def _place_parameters(self, optimizer: Any) -> None:
        """Places of an optimizer's parameters (again when groups were added)."""
        given = self.backend.parameters_of(optimizer)
        self.layout.add_loose((p for p in given if id(p) not in self.layout.place), optimizer)
        self.held[id(optimizer)] = np.array([self.layout.place[id(p)] for p in given], np.int64)
        self.ever.update(self.held[id(optimizer)].tolist())
        self._changes += 1

    def plan(self, optimizer: Any) -> Plan:
        """The parameters an optimizer answers for: its own, and for the first one those of nobody.
        A loop without an optimizer (None) answers for all."""
        count = 0 if optimizer is None else self.backend.count(optimizer)
        known = self._plans.get(id(optimizer))
        if known is not None and known.key == (count, len(self.layout.parameters), self._changes):
            return known
        if optimizer is not None and (count != len(self.held[id(optimizer)]) or self._lost(optimizer)):
            self._place_parameters(optimizer)
        every = self.layout.parameters
        places = np.arange(len(every)) if optimizer is None else self.held[id(optimizer)]
        if optimizer is not None and self.is_first(optimizer):
            taken = np.zeros(len(every), bool)
            taken[np.concatenate(list(self.held.values()))] = True
            places = np.append(places, np.flatnonzero(~taken))
        if self.layout.lost:
            places = places[np.isin(places, [place for place, _ in self.layout.alive()])]
        own = len(places) if optimizer is None else count
        found = Plan((count, len(every), self._changes), places, [every[i] for i in places], own)
        self._plans[id(optimizer)] = found
        return found

    def _lost(self, optimizer: Any) -> bool:
        """Whether modules are gone to whose parameters an optimizer holds on."""
        return bool(self.layout.lost) and any(
            type(self.layout.parameters[place]) is Gone for place in self.held[id(optimizer)]
        )

    def gradients(self, optimizer: Any, factor: float) -> Any:
        """Norms of the gradients that a step is about to use (times `factor`, which undoes a loss
        scale). Returns the global norm over the optimizer's parameters (float, or a tensor)."""
        _, places, parameters, own = self.plan(optimizer)
        squares = self.backend.gradient_squares(parameters, self.device)
        self.gathered.append((places, squares, factor))
        if self.device:
            return self.backend.global_norm(squares if own == len(places) else squares[:own]) * factor
        return math.sqrt(sum(squares if own == len(squares) else squares[:own])) * factor

    def accumulated_norm(self, optimizer: Any) -> float:
        """Global norm of the gradients that have gathered (on the host)."""
        plan = self.plan(optimizer)
        return math.sqrt(sum(self.backend.gradient_squares(plan.parameters[: plan.own], False)))

    def begin(self, optimizer: Any) -> None:
        """A sampled step is about to be made: gradients are there, weights are still the old ones."""
        began = time.perf_counter()
        plan = self.plan(optimizer)
        self.movement.trained = [self.layout.trainable(i) for i in range(len(self.layout.parameters))]
        if id(optimizer) not in self._updates:
            self._updates[id(optimizer)] = self.backend.updates(self.device)
        updates = self._updates[id(optimizer)]
        if updates is not None:
            self.vectors.append(("zeros", plan.places, updates.begin(plan.parameters)))
        self.seconds += time.perf_counter() - began

    def end(self, optimizer: Any) -> None:
        """The sampled step was made."""
        updates = self._updates.get(id(optimizer))
        if updates is None:
            return
        began = time.perf_counter()
        _, places, parameters, _ = self.plan(optimizer)
        found = updates.end(len(places))
        self.vectors.append(("updates", (places, self._rates(optimizer, len(places))), found))
        for family in self._read:
            if (updates.turn - 1) % family.apart == 0:
                reading = self.backend.read(family.kind, parameters, self.device)
                if reading is not None:
                    self.vectors.append((family.kind, places, reading))
        self.seconds += time.perf_counter() - began

    def facts(self) -> dict[str, Fact]:
        """What was found out about all gradients."""
        grids = {updates.number_format for updates in self._updates.values() if updates} - {""}
        return {"gradients_rounded_to": " ".join(sorted(grids))} if grids else {}

    def _rates(self, optimizer: Any, count: int) -> Floats:
        """Learning rate of each of the parameters of `places`; 0 where no optimizer moves it."""
        if optimizer is None:
            return np.ones(count)
        rates = self.backend.rates(optimizer)
        return np.array(rates + [0.0] * (count - len(rates)))

    def take(self) -> list[tuple[str, Any, Any]]:
        """The readings since the last call, gradients first."""
        out: list[tuple[str, Any, Any]] = []
        for places, found, factor in self.gathered:
            out.append(("gradients", (places, factor, isinstance(found, list)), found))
        out += self.vectors
        self.gathered, self.vectors = [], []
        return out

    def panels(self, kind: str, about: Any, values: Floats) -> Iterator[Panel]:
        """The signals in one reading: of modules that `about` lists by name, or of parameters, which are
        taken together by module."""
        turn = self._families[kind].panels
        if turn is None:
            return
        if isinstance(about, list):
            yield from turn(tuple(about), values)
            return
        places = about[0] if isinstance(about, tuple) else about
        if kind == "gradients":
            factor, squared = about[1:]
            values = (values if squared else np.square(values)) * factor**2
        elif kind == "zeros":
            self.movement.gradients(places, values)
        elif kind == "updates":
            self.movement.changes(places, about[1], values.reshape(3, -1)[2])
        yield from turn(self._modules(places), values)

    def _modules(self, places: Ints) -> Modules:
        """The modules of parameters."""
        found = self._grouped.get(places.tobytes())
        if found is None:
            owners, group = np.unique(self.layout.owner[places], return_inverse=True)
            sizes = np.array([self.layout.size(i) for i in places], np.float64)
            found = Modules("\n".join(self.layout.modules[m] for m in owners), group, sizes)
            self._grouped[places.tobytes()] = found
        return found


CHECKS = 3  # sampled steps before a parameter is judged
FEWEST = 2  # of them where the run has no more
NAMED = 10  # parameters that a fact names
SEEN, GRADED, NONZERO, ASKED, MOVED = range(5)


class Movement:
    """Counts for each parameter over the sampled steps: steps seen, with a gradient, with one that
    is not zero (in the window that is read), those of them with a learning rate, and those in
    which it changed."""

    def __init__(self, layout: Layout, backend: Backend) -> None:
        self._layout, self._backend = layout, backend
        self._counts: Ints = np.zeros((5, 0), np.int64)
        self._nonzero: Ints = np.zeros(0, np.int64)
        self.trained: list[bool] = []  # at the last sampled step: a script may freeze or unfreeze after it

    def _fit(self) -> None:
        more = len(self._layout.parameters) - self._counts.shape[1]
        if more > 0:
            self._counts = np.pad(self._counts, ((0, 0), (0, more)))
            self._nonzero = np.pad(self._nonzero, (0, more))

    def gradients(self, places: Ints, zero_shares: Floats) -> None:
        """Share of zeros in the gradients of these parameters (NaN: there was none)."""
        self._fit()
        self._nonzero[:] = 0
        self._nonzero[places] = zero_shares < 1
        self._counts[SEEN, places] += 1
        self._counts[GRADED, places] += ~np.isnan(zero_shares)
        self._counts[NONZERO, places] += zero_shares < 1

    def changes(self, places: Ints, rates: Floats, unchanged: Floats) -> None:
        """Share of values that stayed as they were in the step just read."""
        asked = (self._nonzero[places] > 0) & (rates != 0) & ~np.isnan(unchanged)
        self._counts[ASKED, places[asked]] += 1
        self._counts[MOVED, places[asked & (unchanged < 1)]] += 1

    def facts(self, optimizers: Sequence[Any], ever: Collection[int] = ()) -> dict[str, Fact]:
        """Counts and names of parameters by what is wrong with them (docs/capture.md). `ever`: places that
        an optimizer has held, which counts of those that are gone."""
        self._fit()
        layout, counts = self._layout, self._counts
        held = {id(p) for o in optimizers if o is not None for p in self._backend.parameters_of(o)}
        every = range(len(layout.parameters))
        known = self.trained
        wanted = np.array([known[i] if i < len(known) else layout.trainable(i) for i in every], bool)
        inside = np.array([i in ever for i in every], bool)
        gone = any(o is None for o in optimizers)  # a model often outlives its optimizer: `return model`
        for place, parameter in layout.alive():
            inside[place] = id(parameter) in held or (gone and place in ever)
        often = counts[SEEN] >= max(FEWEST, min(CHECKS, int(counts[SEEN].max(initial=0))))
        sizes = [layout.size(i) for i in every]
        if not sizes:  # boosted trees
            return {}
        out: dict[str, Fact] = {
            "parameters": sum(sizes),
            "parameters_total": sum(sizes),
            "parameters_trainable": int(np.dot(wanted, sizes)) if sizes else 0,
        }
        for name, those in (
            ("parameters_frozen", ~wanted),
            ("parameters_without_optimizer", wanted & ~inside),
            ("parameters_without_gradient", wanted & often & (counts[GRADED] == 0)),
            ("parameters_with_zero_gradient", often & (counts[GRADED] > 0) & (counts[NONZERO] == 0)),
            ("parameters_not_moving", (counts[ASKED] >= CHECKS) & (counts[MOVED] == 0)),
        ):
            found = np.flatnonzero(those)
            out[name] = sum(sizes[i] for i in found)
            out[f"{name}_tensors"] = len(found)
            if len(found):
                out[f"{name}_names"] = ", ".join(layout.names[i] for i in found[:NAMED])
        return out
