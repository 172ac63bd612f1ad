"""The largest and the smallest eigenvalue of the Hessian of a batch's loss, by the Lanczos method.

It uses the graph of the loss from which the training's own backward pass is about to begin. No forward pass
is repeated, so no random number is drawn, and no dropout mask and no running statistic differs. One
measurement takes up to MOST products of the Hessian with a vector. Each takes about as long as two backward
passes, and all of them need memory for a second graph and six copies of the weights."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from traindx.capture.torch.hooks import something_is_compiled
from traindx.capture.torch.measure.loss.graph import nodes_of
from traindx.vocabulary import Fact

MOST = 40  # products of one measurement
TOLERANCE = 0.01  # relative to the larger eigenvalue: error bound at which it stops
START_SECONDS, SHARE = 2.0, 0.2  # time for it: at the start, and as a share of the run's
MOST_NODES = 100_000  # of a graph in which such functions are looked for
APART, GROWTH = 5, 0.02  # steps between measurements: at least, and relative to the step number


class Eigenvalues(NamedTuple):
    """Extremes of the spectrum, the bound of their error, and the products they took."""

    low: float
    high: float
    error: float
    products: int


class NotDifferentiable(Exception):
    """The Hessian of this loss cannot be computed; says why."""


def lanczos(
    product: Callable[[torch.Tensor], torch.Tensor], start: torch.Tensor, most: int = MOST
) -> Eigenvalues:
    """Extreme eigenvalues of a symmetric matrix, given by its products with vectors `[n]`.

    The three-term recurrence without reorthogonalization (Golub, Van Loan 2013, Matrix computations, 10.1):
    rounding gives copies of eigenvalues that have converged, which leaves the extremes as they are. The
    error is the residual norm of the Ritz pairs."""
    vector = start / torch.linalg.vector_norm(start)
    before = torch.zeros_like(vector)
    alphas: list[float] = []
    betas: list[float] = []
    low = high = error = float("nan")
    for count in range(1, min(most, start.numel()) + 1):
        image = product(vector)
        alpha = float(torch.dot(image.double(), vector.double()))
        image = image - alpha * vector - (betas[-1] * before if betas else 0.0)
        beta = float(torch.linalg.vector_norm(image, dtype=torch.float64))
        alphas.append(alpha)
        if not np.isfinite(alpha + beta):
            raise NotDifferentiable("second derivatives are not finite")
        values, vectors = np.linalg.eigh(np.diag(alphas) + np.diag(betas, 1) + np.diag(betas, -1))
        low, high = float(values[0]), float(values[-1])
        size = max(abs(low), abs(high))
        error = beta * float(np.abs(vectors[-1, [0, -1]]).max())
        if (count > 2 and error <= TOLERANCE * size) or beta <= 1e-6 * size or size == 0:
            break
        betas.append(beta)
        before, vector = vector, image / beta
    return Eigenvalues(low, high, error, len(alphas))


def hessian_product(
    loss: torch.Tensor, parameters: Sequence[torch.Tensor]
) -> Callable[[torch.Tensor], torch.Tensor]:
    """Products of the Hessian of `loss` with vectors over all `parameters` in their order. Keeps the graph
    of the loss. Raises NotDifferentiable."""
    once = _only_once(loss)
    if once:
        raise NotDifferentiable(f"{once} is differentiable only once")
    differentiate: Any = getattr(torch.autograd.grad, "__wrapped__", torch.autograd.grad)
    try:
        gradients = differentiate(loss, parameters, create_graph=True, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        raise NotDifferentiable(_first_line(error)) from error
    if any(g is not None and g.layout is not torch.strided for g in gradients):
        raise NotDifferentiable("gradients are sparse")
    live = [i for i, g in enumerate(gradients) if g is not None and g.requires_grad]
    sizes = [p.numel() for p in parameters]

    def product(vector: torch.Tensor) -> torch.Tensor:
        if not live:
            return torch.zeros_like(vector)
        parts = vector.split(sizes)
        given = [parts[i].view_as(gradients[i]).to(gradients[i].dtype) for i in live]
        try:
            found = differentiate(
                [gradients[i] for i in live], parameters, given, retain_graph=True, allow_unused=True
            )
        except RuntimeError as error:
            raise NotDifferentiable(_first_line(error)) from error
        zero = [p if f is None else f for p, f in zip(parts, found, strict=True)]
        flat = [
            (torch.zeros_like(z) if f is None else f).reshape(-1) for z, f in zip(zero, found, strict=True)
        ]
        return torch.cat([f.float() if f.dtype.itemsize < 4 else f for f in flat])

    return product


def extremes(loss: torch.Tensor, parameters: Sequence[torch.Tensor], seed: int = 0) -> Eigenvalues:
    """Extreme eigenvalues of the Hessian of a loss whose graph is still there. `seed` of the start vector,
    which is not drawn from PyTorch's own generators. Raises NotDifferentiable."""
    with torch.enable_grad():
        product = hessian_product(loss, parameters)
        draw = np.random.default_rng(seed).standard_normal(sum(p.numel() for p in parameters))
        kind = parameters[0].dtype if parameters[0].dtype.itemsize >= 4 else torch.float32
        return lanczos(product, torch.from_numpy(draw).to(parameters[0].device, kind))


def obstacle(parameters: Sequence[torch.Tensor], models: Iterable[nn.Module]) -> str:
    """Why this loss cannot be differentiated twice without side effects (hooks of the user's would be
    called), or ""."""
    if not parameters:
        return "no parameters are trained"
    if any(type(p) not in (torch.Tensor, nn.Parameter) for p in parameters):
        return "parameters are spread over processes"
    if something_is_compiled():
        return "torch.compile has no second derivatives"
    if len({(p.device, p.dtype) for p in parameters}) > 1:
        return "parameters differ in type or device"
    if any(p._backward_hooks for p in parameters):
        return "there are hooks on gradients"
    modules = [m for model in models for m in model.modules()]
    if any(m._backward_hooks or m._backward_pre_hooks for m in modules):
        return "there are hooks on backward passes"
    return ""


class Curvature:
    """Measures every few steps, as often as the time allows."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._began: float | None = None
        self._next = 0
        self.seconds, self.products, self.measured = 0.0, 0, 0
        self.refused = ""

    def due(self, step: int) -> bool:
        """Whether to measure in the step after `step` finished ones."""
        if self.refused or step < self._next:
            return False
        self._began = self._began or self._now()
        return self.seconds <= START_SECONDS + SHARE * (self._now() - self._began)

    def measure(
        self, loss: torch.Tensor, parameters: Sequence[torch.Tensor], models: Sequence[nn.Module], step: int
    ) -> Eigenvalues | None:
        """`Eigenvalues` of a loss before its backward pass; None where they are unknown, and `refused` says
        why."""
        self._next = step + max(APART, int(GROWTH * step))
        wanted = [p for p in parameters if p.requires_grad]
        self.refused = obstacle(wanted, models)
        if self.refused or not loss.requires_grad or not bool(torch.isfinite(loss.detach()).all()):
            return None
        began = self._now()
        state, buffers = _random_state(), [(b, b.detach().clone()) for m in models for b in m.buffers()]
        try:
            found = extremes(loss, wanted, step)
            self.products += found.products
            self.measured += 1
            return found
        except NotDifferentiable as error:
            self.refused = str(error)
            return None
        finally:
            self._restore(state, buffers)
            self.seconds += self._now() - began

    def facts(self) -> dict[str, Fact]:
        if not self.measured:
            return {}
        return {
            "curvature_seconds": round(self.seconds, 3),
            "curvature_products": self.products,
            "curvature_measurements": self.measured,
        }

    def _restore(self, state: Any, buffers: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
        """Checkpointed blocks run forward again: what that changed is restored."""
        torch.set_rng_state(state[0])
        if state[1] is not None:
            torch.cuda.set_rng_state_all(state[1])
        for buffer, before in buffers:
            if not torch.equal(buffer, before):
                buffer.data.copy_(before)  # by `data`, so that the graph does not see a change


def _random_state() -> tuple[torch.Tensor, list[torch.Tensor] | None]:
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None


def _only_once(loss: torch.Tensor) -> str:
    """The name of a function in the graph that is marked `once_differentiable`, or "". Autograd assumes its
    second derivative to be zero where the gradient that goes into it is constant."""
    for node in nodes_of(loss, MOST_NODES):
        function: Any = getattr(type(node), "_forward_cls", None)
        code = getattr(getattr(function, "backward", None), "__code__", None)
        if code is not None and code.co_qualname.startswith("once_differentiable"):
            return str(function.__name__)
    return ""


def _first_line(error: Exception) -> str:
    text = str(error).strip().split("\n")[0][:200]
    return "the loss must be given before its backward pass" if "second time" in text else text
