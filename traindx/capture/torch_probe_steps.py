"""What is measured of gradients, weights and activations in a step, and the signals made of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from traindx.capture.measure_activations import FIELDS
from traindx.capture.measure_parameters import Updates, gradient_norms, weight_sizes
from traindx.capture.torch_probe import ForwardProbe
from traindx.capture.torch_probe_layout import Layout
from traindx.capture.torch_probe_movement import Movement
from traindx.vocabulary.run import Floats, Ints

SLOW = 4  # samples between sizes of weights, which change slowly
Panel = tuple[str, str, Floats]  # signal, modules joined by line feeds, one value a module


class Measures:
    """All models and optimizers of a session. Readings are added to `vectors` (kind, about, values)
    and `norm`; `panels` turns them into signals once they are on the host."""

    def __init__(self, failed: Callable[[str, Exception], None]) -> None:
        self.layout = Layout()
        self.probe = ForwardProbe(self.layout, failed)
        self.movement = Movement(self.layout)
        self.optimizers: list[torch.optim.Optimizer] = []
        self.held: dict[int, Ints] = {}  # id(optimizer) -> places of its parameters
        self.vectors: list[tuple[str, Any, Any]] = []
        self.norms: list[tuple[Ints, Any, float]] = []  # places, norms, factor
        self._updates: dict[int, Updates] = {}
        self._device: bool | None = None
        self._key: tuple[int, ...] = ()
        self._own: Ints = np.zeros(0, np.int64)
        self._grouped: dict[bytes, tuple[str, Ints, Floats]] = {}
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

    def places(self, optimizer: torch.optim.Optimizer | None) -> Ints:
        """The parameters an optimizer answers for: its own, and for the first one those of nobody.
        None stands for a loop that has no optimizer, and answers for all."""
        if optimizer is None:
            return np.arange(len(self.layout.parameters))
        count = sum(len(group["params"]) for group in optimizer.param_groups)
        if count != len(self.held[id(optimizer)]):
            self._hold(optimizer)
        own = self.held[id(optimizer)]
        if optimizer is not self.optimizers[0]:
            return own
        key = (len(self.layout.parameters), *map(len, self.held.values()))
        if key != self._key:
            taken = np.zeros(len(self.layout.parameters), bool)
            taken[np.concatenate(list(self.held.values()))] = True
            self._key, self._own = key, np.append(own, np.flatnonzero(~taken))
        return self._own

    def gradients(self, optimizer: torch.optim.Optimizer | None, factor: float) -> Any:
        """Norms of the gradients that a step is about to use (times `factor`, which undoes a loss
        scale). Returns the global norm over the optimizer's parameters (float, or a tensor)."""
        places = self.places(optimizer)
        parameters = self.layout.parameters
        norms = gradient_norms([parameters[i].grad for i in places], self.device)
        self.norms.append((places, norms, factor))
        own = norms if optimizer is None else norms[: len(self.held[id(optimizer)])]
        if isinstance(own, torch.Tensor):
            return torch.linalg.vector_norm(own) * factor
        return float(np.sqrt(np.dot(own, own))) * factor

    def norm_so_far(self, optimizer: torch.optim.Optimizer) -> float:
        """Global norm of the gradients that have gathered (on the host)."""
        parameters = [self.layout.parameters[i] for i in self.held[id(optimizer)]]
        norms = gradient_norms([p.grad for p in parameters], False)
        return float(np.sqrt(np.dot(norms, norms)))

    def begin(self, optimizer: torch.optim.Optimizer | None) -> None:
        """A sampled step is about to be made: gradients are there, weights are still the old ones."""
        began = time.perf_counter()
        places = self.places(optimizer)
        updates = self._updates.setdefault(id(optimizer), Updates(self.device))
        self.vectors.append(("zeros", places, updates.begin([self.layout.parameters[i] for i in places])))
        self.seconds += time.perf_counter() - began

    def end(self, optimizer: torch.optim.Optimizer | None) -> None:
        """The sampled step was made."""
        updates = self._updates.get(id(optimizer))
        if updates is None:
            return
        began = time.perf_counter()
        places = self.places(optimizer)
        self.vectors.append(("updates", (places, self._rates(optimizer, len(places))), updates.end(len(places))))
        if updates.turn % SLOW == 1:
            there = [self.layout.parameters[i] for i in places]
            self.vectors.append(("weights", places, weight_sizes(there, self.device)))
        self.seconds += time.perf_counter() - began

    def activations(self) -> None:
        """Take over what the probe saw in the sampled forward pass."""
        self.probe.disarm()
        names = list(self.probe.readings)
        values = [v for name in names for v in self.probe.readings[name]]
        tensors = [v for v in values if isinstance(v, torch.Tensor)]
        made: Any = np.array(values) if not tensors else None
        if tensors:
            device = tensors[0].device
            filled = [v if isinstance(v, torch.Tensor) else torch.full((), v, device=device) for v in values]
            made = torch.stack([v.detach().float().to(device) for v in filled])
        if names:
            self.vectors.append(("activations", names, made))
        self.probe.readings = {}

    def _rates(self, optimizer: torch.optim.Optimizer | None, count: int) -> Floats:
        """Learning rate of each of the parameters of `places`; 0 where no optimizer moves it."""
        if optimizer is None:
            return np.ones(count)
        rates = [float(g["lr"]) if "lr" in g else 1.0 for g in optimizer.param_groups for _ in g["params"]]
        return np.append(rates, np.zeros(count - len(rates)))

    def take(self) -> list[tuple[str, Any, Any]]:
        """The readings since the last call, gradients first."""
        out = [("gradients", (places, factor), norms) for places, norms, factor in self.norms]
        out += self.vectors
        self.norms, self.vectors = [], []
        return out

    def panels(self, kind: str, about: Any, values: Floats) -> Iterator[Panel]:
        """The signals in one reading; parameters of a module are taken together."""
        if kind == "activations":
            table = np.asarray(values).reshape(len(about), -1)
            for i, signal in enumerate((*FIELDS, "act_zero_fraction")):
                known = ~np.isnan(table[:, i]) if signal not in FIELDS[:3] else np.ones(len(about), bool)
                if known.any():
                    yield signal, "\n".join(n for n, k in zip(about, known, strict=True) if k), table[known, i]
            return
        places = about[0] if isinstance(about, tuple) else about
        names, group, sizes = self._groups(places)

        def summed(each: Floats) -> Floats:
            return np.asarray(np.bincount(group, weights=each), np.float64)

        if kind == "gradients":
            yield "grad_norm", names, np.sqrt(summed(np.square(values))) * about[1]
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
