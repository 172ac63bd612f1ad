"""The loop: optimizers, backward passes, steps, and what is accumulated between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.optim import optimizer as optim

from traindx.capture.torch.discover.manual import Manual

if TYPE_CHECKING:
    from traindx.capture.session.session import Session
    from traindx.capture.torch.discover.discovery import Discovery

UNDECIDED_STEPS = 4  # steps in which it is found out whether the loss is divided for accumulation
HELD = 4096  # losses held between two steps
CHAIN = 4  # factors that may stand before a loss


class Held(NamedTuple):
    """The loss of one backward pass: detached, where it was, and what it had been divided by."""

    value: torch.Tensor
    where: str
    divisor: float


class Loop:
    """Tells the session of every step. The loss is what `backward` was called on, before loss
    scaling and before it was divided by the number of micro-batches."""

    def __init__(self, discovery: Discovery) -> None:
        self.discovery = discovery
        self.manual = Manual(discovery)
        self.optimizers: set[int] = set()
        self.stepping: set[int] = set()  # ids of those that the session knows
        self.primary: int | None = None  # id of the optimizer that steps first, which counts the steps
        self.main: set[int] | None = None  # ids of its parameters
        self.trained: set[int] = set()  # ids of those of all optimizers
        self.steps = 0
        self.held: list[Held] = []
        self.passes: Counter[str] = Counter()  # backward passes since the last step, by line
        self.inside_backward = self.inside_step = False
        self.main_line = ""  # of the first backward pass
        self.factor, self.undecided = 1.0, UNDECIDED_STEPS
        self.divisors: set[float] = set()  # that losses of accumulated micro-batches had
        self.lines: set[str] = set()  # of backward passes that accumulate one loss
        self.handles: list[Any] = []
        self.held_back = False  # an intervention keeps this step from being one (accumulation)
        self.scaled: tuple[torch.Tensor, torch.Tensor] | None = None  # what GradScaler.scale gave, and got

    def attach(self) -> None:
        safely, patches = self.discovery.safely, self.discovery.patches
        patches.replace(torch.autograd, "backward", self.backward)
        patches.replace(torch.optim.Optimizer, "__init__", self.made)
        patches.replace(torch.optim.Optimizer, "zero_grad", self.zeroed)
        patches.replace(torch.nn.Module, "zero_grad", self.zeroed)
        before, after = optim.register_optimizer_step_pre_hook, optim.register_optimizer_step_post_hook
        self.handles += [
            before(lambda optimizer, _args, _named: safely(self.step_begins, optimizer)),
            after(lambda optimizer, _args, _named: safely(self.step_ends, optimizer)),
        ]

    def attach_last(self) -> None:
        """What may end the script comes after all other hooks of a step."""
        self.handles.append(optim.register_optimizer_step_post_hook(self.step_counted))

    def release(self) -> None:
        """Take the hooks of steps away; not from inside of one, where PyTorch is going through them."""
        for handle in self.handles:
            handle.remove()
        self.handles.clear()

    def end(self) -> None:
        self.manual.end()
        self.hand_on()

    # Optimizers.

    def made(self, original: Callable[..., None]) -> Callable[..., None]:
        discovery = self.discovery

        def __init__(self: torch.optim.Optimizer, *args: Any, **named: Any) -> None:
            original(self, *args, **named)
            discovery.safely(discovery.loop.add, self)

        return __init__

    def add(self, optimizer: torch.optim.Optimizer) -> None:
        """A new optimizer: its settings, and whose parameters it holds."""
        self.discovery.report("optimizer")
        place = self.discovery.line("optimizer")
        self.discovery.models.want(p for group in optimizer.param_groups for p in group["params"])
        self.optimizers.add(id(optimizer))
        self.trained |= {id(p) for group in optimizer.param_groups for p in group["params"]}
        number = len(self.optimizers)
        if number > 1:
            self.discovery.fact("optimizers", number)
            self.discovery.fact(f"optimizer/{number}", f"{type(optimizer).__name__} at {place}")

    def zeroed(self, original: Callable[..., None]) -> Callable[..., None]:
        discovery = self.discovery

        def zero_grad(self: Any, *args: Any, **named: Any) -> None:
            original(self, *args, **named)
            discovery.safely(discovery.loop.zero_grad, self)

        return zero_grad

    def zero_grad(self, owner: Any) -> None:
        if self.discovery.opened is not None and not self.held_back:
            if "where/zero_grad" not in self.discovery.known:
                self.discovery.line("zero_grad")
            self.discovery.opened.zero_grad(owner)

    # Steps.

    def step_begins(self, optimizer: torch.optim.Optimizer) -> None:
        session = self.discovery.session()
        if session is None or self.held_back:
            return
        if self.primary is None:
            self.primary = id(optimizer)
            self.main = {id(p) for group in optimizer.param_groups for p in group["params"]}
            self.discovery.line("step")
        if self.discovery.models.wanted:
            self.discovery.models.search()
        if id(optimizer) not in self.stepping:
            self.stepping.add(id(optimizer))
            session.add_optimizer(optimizer)
        if self.undecided:
            self.decide()
        self.hand_on()
        self.inside_step = True
        session.optimizer_step_begin(optimizer)

    def step_counted(self, optimizer: torch.optim.Optimizer, _args: Any, _named: Any) -> None:
        """Not guarded: ending the script after the last step is meant to reach it."""
        if id(optimizer) == self.primary and self.discovery.active and not self.held_back:
            self.steps += 1
            self.discovery.after_step(self.steps)

    def step_ends(self, optimizer: torch.optim.Optimizer) -> None:
        self.inside_step = False
        session = self.discovery.session()
        if session is None or self.held_back:
            return
        if self.held:
            first: dict[str, Held] = {}  # a closure may compute the loss many times: the first is that of the step
            for held in self.held:
                first.setdefault(held.where, held)
            self.held = list(first.values())
            self.hand_on()
        session.optimizer_step_end(optimizer)
        if id(optimizer) == self.primary:
            self.discovery.models.fed = 0
        if not session.active:
            self.discovery.detach()

    # Backward passes.

    def backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        discovery = self.discovery

        def backward(tensors: Any, *args: Any, **named: Any) -> Any:
            if discovery.loop.inside_backward or not discovery.active:
                return original(tensors, *args, **named)
            discovery.safely(discovery.loop.backward_begins, tensors, named.get("inputs"))
            discovery.loop.inside_backward = True
            try:
                return original(tensors, *args, **named)
            finally:
                discovery.loop.inside_backward = False
                discovery.safely(discovery.loop.backward_ends)

        return backward

    def backward_begins(self, tensors: Any, inputs: Any, stale: bool | None = None) -> None:
        """`stale`: False where gradients that are still there are not added to."""
        session = self.discovery.session()
        if session is None:
            return
        self.discovery.report("backward")
        where = self.discovery.line("backward")
        tensor = tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors), None)
        if isinstance(tensor, torch.Tensor) and tensor.numel() == 1 and inputs is None:
            scaled, self.scaled = self.scaled, None
            if scaled is not None and scaled[0] is tensor:
                tensor = scaled[1]
            if not self.optimizers:
                self.manual.backward_begins(tensor)
            self.discovery.losses.backward_begins(tensor)
            if self.discovery.live is not None:
                self.discovery.live.backward_begins(tensor)
            self.lost(session, tensor, where)
            if session.wants_losses and not self.inside_step:
                self.main_line = self.main_line or where
                if where == self.main_line:
                    session.before_backward(tensor, self.factor)
        self.discovery.loaders.backward_begins(session)
        session.backward_begin(stale)

    def backward_ends(self) -> None:
        session = self.discovery.session()
        if session is not None:
            session.backward_end()
            if not self.optimizers:
                self.manual.backward_ends(session)

    def lost(self, session: Session, loss: torch.Tensor, where: str) -> None:
        """The loss of one backward pass. It is held back while it is not known what it was divided
        for, and inside of a step's closure."""
        where = min(self.lines) if where in self.lines else where
        by = 1.0
        if self.undecided:
            self.passes[where] += not self.inside_step  # a closure that is called again accumulates nothing
            by = divisor(loss)
        if self.inside_step or by != 1.0:
            if len(self.held) < HELD:
                self.held.append(Held(loss.detach(), where, by))
        else:
            session.loss(loss if self.factor == 1.0 else loss.detach() * self.factor, where=where)

    def hand_on(self) -> None:
        """Give the session the losses that were held back."""
        if not self.held:
            return
        held, self.held = self.held, []
        session = self.discovery.opened
        if session is not None:
            for value, where, _ in held:
                session.loss(value if self.factor == 1.0 else value * self.factor, where=where)

    def decide(self) -> None:
        """Micro-batches: as many backward passes of one line as the loss is divided by."""
        passes, self.passes = self.passes, Counter()
        if not passes:
            return
        self.undecided -= 1
        where, count = passes.most_common(1)[0]
        divisors = {held.divisor for held in self.held}
        if len(passes) > 1 and divided_by(passes.total(), divisors) and len(self.held) == passes.total():
            self.lines = set(passes)  # one loss, from several lines: the last micro-batch synchronizes the ranks
            count = passes.total()
            where = min(passes)
            self.held = [held._replace(where=where) for held in self.held]
        if count > 1:
            self.discovery.fact("accumulation", count)
            found = {held.divisor for held in self.held if held.where == where}
            self.divisors |= found or {1.0}
            if divided_by(count, found):
                self.factor, self.undecided = float(count), 0
            if not self.undecided and self.discovery.models.fed >= count:
                self.scaled_for(count)

    def scaled_for(self, count: int) -> None:
        """Whether the loss is divided by the number of micro-batches, where that can be told: a mean that is
        left as it is is not."""
        if self.factor == count:
            self.discovery.fact("accumulation_loss_scaled", True)
        elif self.divisors == {1.0} and self.discovery.known.get("loss_reduction") == "mean":
            self.discovery.fact("accumulation_loss_scaled", False)


def divided_by(count: int, divisors: set[float]) -> bool:
    """Whether all losses were divided by that count."""
    return len(divisors) == 1 and abs(next(iter(divisors)) - count) < 1e-6 * count


def divisor(loss: torch.Tensor) -> float:
    """By what number (no tensor of the user's) a loss was divided before `backward` was called."""
    found, node = 1.0, loss.grad_fn
    for _ in range(CHAIN):
        name = type(node).__name__
        if name not in ("DivBackward0", "MulBackward0"):
            break
        other = getattr(node, "_saved_other", None)
        if not isinstance(other, torch.Tensor) or other.numel() != 1 or other.device.type != "cpu":
            break
        number = float(other)
        if not number:
            break
        found = found * number if name == "DivBackward0" else found / number
        node = node.next_functions[0][0]
    return found
