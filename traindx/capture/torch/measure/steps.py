"""What is measured of gradients, weights and activations in a step, and the signals made of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from traindx.capture.session.clock import Clock
from traindx.capture.torch.measure.activations import FIELDS
from traindx.capture.torch.measure.forward import ForwardProbe
from traindx.capture.torch.measure.layout import Layout
from traindx.capture.torch.measure.movement import Movement
from traindx.capture.torch.measure.parameters import Updates, gradient_norms, gradient_squares, weight_sizes
from traindx.vocabulary.run import Floats, Ints
from traindx.vocabulary.setup import Fact

SLOW = 4  # samples between sizes of weights, which change slowly
Panel = tuple[str, str, Floats]  # signal, modules joined by line feeds, one value a module


class Plan(NamedTuple):
    """What one optimizer answers for, as long as `key` holds: places of its parameters in the layout
    (the first `own` are in its groups) and the parameters."""

    key: tuple[int, ...]
    places: Ints
    parameters: list[torch.Tensor]
    own: int


class Measures:
    """All models and optimizers of a session. Readings are added to `vectors` (kind, about, values)
    and `gathered`; `panels` turns them into signals once they are on the host."""

    def __init__(self, failed: Callable[[str, Exception], None], clock: Clock | None = None) -> None:
        self.layout = Layout()
        self.probe = ForwardProbe(self.layout, failed, clock)
        self.movement = Movement(self.layout)
        self.optimizers: list[torch.optim.Optimizer] = []
        self.held: dict[int, Ints] = {}  # id(optimizer) -> places of its parameters
        self.vectors: list[tuple[str, Any, Any]] = []
        self.gathered: list[tuple[Ints, Any, float]] = []  # places, norms or their squares, factor
        self._updates: dict[int, Updates] = {}
        self._device: bool | None = None
        self._plans: dict[int, Plan] = {}
        self._changes = 0  # of what optimizers hold
        self._grouped: dict[bytes, tuple[str, Ints, Floats]] = {}
        self._joined: dict[tuple[str, ...], dict[bytes, str]] = {}
        self.seconds = 0.0  # spent on what is measured on sampled steps only

    @property
    def device(self) -> bool:
        """Whether parameters lie on an accelerator: readings then stay there until fetched."""
        if self._device is None and self.layout.parameters:
            self._device = any(p.device.type != "cpu" for p in self.layout.parameters)
        return bool(self._device)

    def add_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        if id(optimizer) not in self.held:
            self.optimizers.append(optimizer)
            self._hold(optimizer)

    def _hold(self, optimizer: torch.optim.Optimizer) -> None:
        """Places of an optimizer's parameters (again when groups were added)."""
        given = [p for group in optimizer.param_groups for p in group["params"]]
        self.layout.add_loose(iter(given), type(optimizer).__name__)
        self.held[id(optimizer)] = np.array([self.layout.place[id(p)] for p in given], np.int64)
        self._changes += 1

    def plan(self, optimizer: torch.optim.Optimizer | None) -> Plan:
        """The parameters an optimizer answers for: its own, and for the first one those of nobody.
        None stands for a loop that has no optimizer, and answers for all."""
        count = 0
        for group in optimizer.param_groups if optimizer is not None else ():
            count += len(group["params"])
        known = self._plans.get(id(optimizer))
        if known is not None and known.key == (count, len(self.layout.parameters), self._changes):
            return known
        if optimizer is not None and count != len(self.held[id(optimizer)]):
            self._hold(optimizer)
        every = self.layout.parameters
        places = np.arange(len(every)) if optimizer is None else self.held[id(optimizer)]
        if self.optimizers and optimizer is self.optimizers[0]:
            taken = np.zeros(len(every), bool)
            taken[np.concatenate(list(self.held.values()))] = True
            places = np.append(places, np.flatnonzero(~taken))
        own = len(places) if optimizer is None else count
        found = Plan((count, len(every), self._changes), places, [every[i] for i in places], own)
        self._plans[id(optimizer)] = found
        return found

    def places(self, optimizer: torch.optim.Optimizer | None) -> Ints:
        """The places of `plan` alone."""
        return self.plan(optimizer).places

    def gradients(self, optimizer: torch.optim.Optimizer | None, factor: float) -> Any:
        """Norms of the gradients that a step is about to use (times `factor`, which undoes a loss
        scale). Returns the global norm over the optimizer's parameters (float, or a tensor)."""
        _, places, parameters, own = self.plan(optimizer)
        if self.device:
            norms = gradient_norms(parameters)
            self.gathered.append((places, norms, factor))
            return torch.linalg.vector_norm(norms[:own]) * factor
        squares = gradient_squares(parameters)
        self.gathered.append((places, squares, factor))
        return math.sqrt(sum(squares if own == len(squares) else squares[:own])) * factor

    def norm_so_far(self, optimizer: torch.optim.Optimizer) -> float:
        """Global norm of the gradients that have gathered (on the host)."""
        plan = self.plan(optimizer)
        return math.sqrt(sum(gradient_squares(plan.parameters[: plan.own])))

    def begin(self, optimizer: torch.optim.Optimizer | None) -> None:
        """A sampled step is about to be made: gradients are there, weights are still the old ones."""
        began = time.perf_counter()
        plan = self.plan(optimizer)
        updates = self._updates.setdefault(id(optimizer), Updates(self.device))
        self.vectors.append(("zeros", plan.places, updates.begin(plan.parameters)))
        self.seconds += time.perf_counter() - began

    def end(self, optimizer: torch.optim.Optimizer | None) -> None:
        """The sampled step was made."""
        updates = self._updates.get(id(optimizer))
        if updates is None:
            return
        began = time.perf_counter()
        _, places, parameters, _ = self.plan(optimizer)
        found = updates.end(len(places))
        self.vectors.append(("updates", (places, self._rates(optimizer, len(places))), found))
        if updates.turn % SLOW == 1:
            self.vectors.append(("weights", places, weight_sizes(parameters, self.device)))
        self.seconds += time.perf_counter() - began

    def activations(self) -> None:
        """Take over what the probe saw in the sampled forward pass."""
        readings = self.probe.collect()
        names = list(readings)
        values = [v for name in names for v in readings[name]]
        tensors = [v for v in values if isinstance(v, torch.Tensor)]
        made: Any = values
        if tensors:
            device = tensors[0].device
            filled = [v if isinstance(v, torch.Tensor) else torch.full((), v, device=device) for v in values]
            made = torch.stack([v.detach().float().to(device) for v in filled])
        if names:
            self.vectors.append(("activations", names, made))

    def facts(self) -> dict[str, Fact]:
        """What was found out about all gradients."""
        grids = {updates.grid.name for updates in self._updates.values()} - {""}
        return {"gradients_rounded_to": " ".join(sorted(grids))} if grids else {}

    def _rates(self, optimizer: torch.optim.Optimizer | None, count: int) -> Floats:
        """Learning rate of each of the parameters of `places`; 0 where no optimizer moves it."""
        if optimizer is None:
            return np.ones(count)
        rates = [float(g["lr"]) if "lr" in g else 1.0 for g in optimizer.param_groups for _ in g["params"]]
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
        """The signals in one reading; parameters of a module are taken together."""
        if kind == "activations":
            yield from self._activation_panels(tuple(about), np.asarray(values).reshape(len(about), -1))
            return
        places = about[0] if isinstance(about, tuple) else about
        names, group, sizes = self._groups(places)

        def summed(each: Floats) -> Floats:
            return np.asarray(np.bincount(group, weights=each), np.float64)

        if kind == "gradients":
            yield "grad_norm", names, np.sqrt(summed(values if about[2] else np.square(values))) * about[1]
        elif kind == "zeros":
            self.movement.gradients(places, values)
            there = np.isfinite(values)
            share = summed(np.where(there, values, 0) * sizes) / np.maximum(summed(there * sizes), 1)
            yield "grad_zero_fraction", names, np.where(summed(there * sizes) > 0, share, np.nan)
        elif kind == "updates":
            yield from self._update_panels(places, about[1], values.reshape(3, -1), names, summed)
        else:
            norms, largest = values.reshape(2, -1)
            yield "weight_norm", names, np.sqrt(summed(np.square(norms)))
            most = np.full(names.count("\n") + 1, -np.inf)
            np.maximum.at(most, group, largest)
            yield "weight_absmax", names, most

    def _activation_panels(self, about: tuple[str, ...], table: Floats) -> Iterator[Panel]:
        """Each signal with the modules that have it; moments, which all have, may be NaN."""
        known = ~np.isnan(table.T)
        known[:3] = True
        some = np.asarray(known.any(1))
        joined = self._joined.setdefault(about, {})
        for i, signal in enumerate((*FIELDS, "act_zero_fraction")):
            if some[i]:
                mark = known[i].tobytes()
                if mark not in joined:
                    joined[mark] = "\n".join(n for n, k in zip(about, known[i], strict=True) if k)
                yield signal, joined[mark], table[known[i], i]

    def _groups(self, places: Ints) -> tuple[str, Ints, Floats]:
        """The modules of parameters (joined), the place among them of each, and its size."""
        found = self._grouped.get(places.tobytes())
        if found is None:
            modules, group = np.unique(self.layout.owner[places], return_inverse=True)
            sizes = np.array([self.layout.parameters[i].numel() for i in places], np.float64)
            found = "\n".join(self.layout.modules[m] for m in modules), group, sizes
            self._grouped[places.tobytes()] = found
        return found

    def _update_panels(
        self, places: Ints, rates: Floats, values: Floats, names: str, summed: Callable[[Floats], Floats]
    ) -> Iterator[Panel]:
        change, size, unchanged = values
        self.movement.changes(places, rates, unchanged)
        known = np.isfinite(change)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.sqrt(summed(np.where(known, change**2, 0)) / summed(np.where(known, size**2, 0)))
            still = summed(np.where(known, unchanged, 0)) / summed(known.astype(np.float64))
        yield "update_ratio", names, np.where(np.isfinite(ratio), ratio, np.nan)
        yield "update_zero_fraction", names, still
