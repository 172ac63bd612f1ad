"""The loop: optimizers, backward passes, steps, and what is accumulated between them."""

import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.optim import optimizer as optim

from traindx.capture.process.patches import LiveIds, remove_all
from traindx.capture.process.places import Place, places
from traindx.capture.session import REPLACED, Stream
from traindx.capture.session.events import (
    BackwardBegins,
    BackwardEnds,
    GradientsZeroed,
    GraphWhole,
    LossDifferentiated,
    LossMade,
    LossScaled,
    OptimizerFound,
    ParametersTrained,
    StepBegins,
    StepDue,
    StepEnds,
    StepSkipped,
)
from traindx.capture.torch.discover.manual import Manual
from traindx.capture.torch.discover.wrappers import call_after
from traindx.capture.torch.measure.loss.graph import constant_divisor

UNDECIDED_STEPS = 4  # steps in which it is determined whether the loss is divided for accumulation
HELD = 4096  # losses held between two steps
CHAIN = 4  # factors of a loss, at most


class Held(NamedTuple):
    """The loss of one backward pass: detached, its line, and what it had been divided by."""

    value: torch.Tensor
    where: str
    divisor: float


class Loop:
    """Reports every step to the session. The loss is what `backward` was called on, before loss scaling and
    before the division by the number of micro-batches."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.scene = stream, stream.scene
        self.manual = Manual(stream, self.hand_on)
        self.stepping = LiveIds()  # of optimizers that the session knows
        self.made_at = ""  # line of the optimizer that counts the steps
        self.used = 0  # optimizers that made a step
        self.fresh: list[tuple[weakref.ref[Any], str]] = []  # optimizers without a step yet, and their lines
        self.at: tuple[Place, ...] = ()  # where the script was at a step of the optimizer that counts them
        self.held: list[Held] = []
        self.passes: Counter[str] = Counter()  # backward passes since the last step, by line
        self.inside_step = False
        self.others = 0  # steps of other optimizers since the last one that was counted
        self.factor, self.undecided = 1.0, UNDECIDED_STEPS
        self.divisors: set[float] = set()  # that losses of accumulated micro-batches had
        self.lines: set[str] = set()  # of backward passes that accumulate one loss
        self.handles: list[Any] = []

    def attach(self) -> None:
        safely, patches = self.stream.safely, self.stream.patches
        patches.replace(torch.autograd, "backward", self.backward)
        patches.replace(torch.optim.Optimizer, "__init__", call_after(self.stream, self.add))
        for owner in (torch.optim.Optimizer, torch.nn.Module):
            patches.replace(owner, "zero_grad", call_after(self.stream, self.zero_grad))
        before, after = optim.register_optimizer_step_pre_hook, optim.register_optimizer_step_post_hook
        self.handles += [
            before(self.step_comes),
            after(lambda optimizer, _args, _named: safely(self.step_ends, optimizer)),
        ]
        self.stream.successor = self.successor
        self.stream.hear(LossScaled, self.remember_scaled)
        self.stream.hear(StepSkipped, lambda _event: self.held.clear())

    def remember_scaled(self, event: LossScaled) -> None:
        self.scene.scaled = (weakref.ref(event.scaled), weakref.ref(event.loss))

    def attach_last(self) -> None:
        """The hook that may end the script comes after all other hooks of a step."""
        self.handles.append(optim.register_optimizer_step_post_hook(self.step_counted))

    def release(self) -> None:
        """Take the hooks of steps away; not from inside of one, where PyTorch is going through them."""
        remove_all(self.handles)

    def end(self) -> None:
        self.manual.end()
        self.hand_on()

    # Optimizers.

    def add(self, _made: None, optimizer: torch.optim.Optimizer, *_args: Any, **_named: Any) -> None:
        """A new optimizer: its settings, and whose parameters it holds."""
        self.stream.report("optimizer")
        place = self.stream.line("optimizer")
        given = [p for group in optimizer.param_groups for p in group["params"]]
        self.stream.tell(ParametersTrained(given))
        self.scene.trained |= {id(p) for p in given}
        self.fresh.append((weakref.ref(optimizer), place))
        self.scene.optimizers += 1

    def zero_grad(self, _done: None, owner: Any, *_args: Any, **_named: Any) -> None:
        if self.stream.opened is not None and not self.scene.held_back:
            if "where/zero_grad" not in self.stream.known:
                self.stream.line("zero_grad")
            self.passes.clear()  # what came before goes into no step, as the first pass of a sharpness-aware one
            self.stream.tell(GradientsZeroed(owner))

    # Steps.

    def step_comes(self, optimizer: torch.optim.Optimizer, _args: Any, _named: Any) -> None:
        if self.stream.active and self.scene.primary is not None:
            self.stream.step_comes(id(optimizer) == self.scene.primary)
        self.stream.safely(self.step_begins, optimizer)

    def step_begins(self, optimizer: torch.optim.Optimizer) -> None:
        scene = self.scene
        if self.stream.session() is None or scene.held_back:
            return
        if scene.primary is None:
            self.count_by(optimizer)
            scene.main = {id(p) for group in optimizer.param_groups for p in group["params"]}
            self.stream.line("step")
        if id(optimizer) == scene.primary and not scene.steps & (scene.steps - 1):
            self.at = places(self.stream.lines)
        self.stream.tell(StepDue(optimizer))
        if id(optimizer) not in self.stepping:
            self.add_stepped_optimizer(optimizer)
        if self.undecided:
            self.decide()
        self.hand_on()
        self.inside_step = True
        self.stream.tell(StepBegins(optimizer))

    def add_stepped_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """The first step of an optimizer: it is one of this training."""
        place = next((place for made, place in self.fresh if made() is optimizer), "")
        gone = (None, optimizer)  # compared by identity: an optimizer may refuse other questions
        self.fresh = [one for one in self.fresh if not any(one[0]() is other for other in gone)]
        self.stepping.remember(optimizer)
        if id(optimizer) == self.scene.primary:
            self.made_at = place
        if place != self.made_at or not self.used:
            self.used += 1
        if self.used > 1:
            self.stream.fact("optimizers", self.used)
            self.stream.fact(f"optimizer/{self.used}", f"{type(optimizer).__name__} at {place}")
        self.stream.tell(OptimizerFound(optimizer))

    def count_by(self, optimizer: torch.optim.Optimizer) -> None:
        """The optimizer that steps first counts the steps. Once it is freed none does, even if another gets
        its id."""
        self.scene.primary = id(optimizer)
        self.primary = weakref.ref(optimizer, lambda _: self.forget_primary())

    def successor(self) -> torch.optim.Optimizer | None:
        """The optimizer that was freed was made again at the same line, for the same model: an epoch each, or a
        rate each. Its steps are counted from here on."""
        for made, place in self.fresh:
            optimizer = made()
            if optimizer is not None and place == self.made_at and self.scene.primary == 0:
                mine = {id(p) for group in optimizer.param_groups for p in group["params"]}
                if any(id(p) in mine for root in self.scene.alive() for p in root.parameters()):
                    self.count_by(optimizer)
                    self.scene.main = mine
                    return optimizer
        return None

    def forget_primary(self) -> None:
        self.scene.primary, self.scene.main = 0, set()

    def step_counted(self, optimizer: torch.optim.Optimizer, _args: Any, _named: Any) -> None:
        """Not guarded: ending the script after the last step is an exception that must reach it. Where the
        optimizer that counts the steps is freed or steps no more, the steps of others count, or the script
        would never end."""
        scene = self.scene
        if self.stream.let_go and scene.primary is None:
            self.count_by(optimizer)
        if scene.held_back or not (self.stream.active or self.stream.let_go):
            return
        if id(optimizer) == scene.primary:
            self.others = 0
        elif self.stream.elsewhere():
            return
        elif scene.primary:
            self.others += 1
            if self.others <= REPLACED:
                return
        scene.steps += 1
        self.stream.after_step(scene.steps)

    def step_ends(self, optimizer: torch.optim.Optimizer) -> None:
        self.inside_step = False
        session = self.stream.session()
        if session is None or self.scene.held_back:
            return
        if self.held:
            first: dict[str, Held] = {}  # a closure may compute the loss many times: the first counts
            for held in self.held:
                first.setdefault(held.where, held)
            self.held = list(first.values())
            self.hand_on()
        self.stream.tell(StepEnds(optimizer))
        if not session.active:
            self.stream.let_go = True
            self.stream.detach()

    # Backward passes.

    def backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        stream, scene = self.stream, self.scene

        def backward(tensors: Any, *args: Any, **named: Any) -> Any:
            if torch.compiler.is_compiling() or scene.inside_backward or not stream.active:
                return original(tensors, *args, **named)
            stream.safely(self.backward_begins, tensors, named.get("inputs"))
            scene.inside_backward = True
            try:
                return original(tensors, *args, **named)
            finally:
                scene.inside_backward = False
                stream.safely(self.backward_ends)

        return backward

    def backward_begins(self, tensors: Any, inputs: Any, stale: bool | None = None) -> None:
        """`stale`: False where gradients of the step before are not added to."""
        session = self.stream.session()
        if session is None:
            return
        self.stream.report("backward")
        where = self.stream.line("backward")
        tensor = tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors), None)
        if isinstance(tensor, torch.Tensor) and tensor.numel() == 1 and inputs is None:
            scene = self.scene
            scaled, scene.scaled = scene.scaled, None
            if scaled is not None and scaled[0]() is tensor:
                tensor = tensor if (loss := scaled[1]()) is None else loss
            if not scene.optimizers:
                self.manual.backward_begins(tensor)
            self.stream.tell(LossDifferentiated(tensor))
            self.hold_or_report(tensor, where)
            if session.wants_losses and not self.inside_step:
                scene.main_line = scene.main_line or where
                if where == scene.main_line:
                    self.stream.tell(GraphWhole(tensor, self.factor))
        self.stream.tell(BackwardBegins(stale))

    def backward_ends(self) -> None:
        if self.stream.session() is not None:
            self.stream.tell(BackwardEnds())
            if not self.scene.optimizers:
                self.manual.backward_ends()

    def hold_or_report(self, loss: torch.Tensor, where: str) -> None:
        """The loss of one backward pass. It is held back inside a step's closure, and while it is unknown
        why it was divided."""
        where = min(self.lines) if where in self.lines else where
        by = 1.0
        if self.undecided:
            self.passes[where] += not self.inside_step  # a closure that is called again accumulates nothing
            by = divisor(loss)
        if self.inside_step or by != 1.0:
            if len(self.held) < HELD:
                self.held.append(Held(loss.detach(), where, by))
        else:
            self.stream.tell(LossMade(loss if self.factor == 1.0 else loss.detach() * self.factor, where))

    def hand_on(self) -> None:
        """Report the losses that were held back."""
        if not self.held:
            return
        held, self.held = self.held, []
        for value, where, _ in held:
            self.stream.tell(LossMade(value if self.factor == 1.0 else value * self.factor, where))

    def decide(self) -> None:
        """Micro-batches: as many backward passes of one line as the loss is divided by."""
        passes, self.passes = self.passes, Counter()
        if not passes:
            return
        self.undecided -= 1
        where, count = passes.most_common(1)[0]
        divisors = {held.divisor for held in self.held}
        if len(divisors) == 1 and len(self.held) == passes.total():
            self.stream.fact("loss_divided_by", next(iter(divisors)))
        if len(passes) > 1 and divided_by(passes.total(), divisors) and len(self.held) == passes.total():
            # One loss from several lines: the last micro-batch, which synchronizes the ranks, has its own.
            self.lines = set(passes)
            count = passes.total()
            where = min(passes)
            self.held = [held._replace(where=where) for held in self.held]
        if count > 1:
            self.stream.fact("accumulation", count)
            found = {held.divisor for held in self.held if held.where == where}
            self.divisors |= found or {1.0}
            if divided_by(count, found):
                self.factor, self.undecided = float(count), 0
            if not self.undecided and self.scene.fed >= count:
                self.report_scaling(count)

    def report_scaling(self, count: int) -> None:
        """Whether the loss is divided by the number of micro-batches, where that is known: a mean without a
        division is not."""
        if self.factor == count:
            self.stream.fact("accumulation_loss_scaled", True)
        elif self.divisors == {1.0} and self.stream.known.get("loss_reduction") == "mean":
            self.stream.fact("accumulation_loss_scaled", False)


def divided_by(count: int, divisors: set[float]) -> bool:
    """Whether all losses were divided by that count."""
    return len(divisors) == 1 and abs(next(iter(divisors)) - count) < 1e-6 * count


def divisor(loss: torch.Tensor) -> float:
    """The number (no tensor of the user's) that a loss was divided by before `backward` was called."""
    found, node = 1.0, loss.grad_fn
    for _ in range(CHAIN):
        number = constant_divisor(node)
        if number is None or node is None:
            break
        found, node = found * number, node.next_functions[0][0]
    return found
