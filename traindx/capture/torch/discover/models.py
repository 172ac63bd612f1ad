"""Finds the root modules: the outermost modules called whose parameters an optimizer holds."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import torch

from traindx.capture.session.events import (
    BatchSeen,
    Compiled,
    ModelCalled,
    ModelFed,
    ModelFound,
    ParametersTrained,
    PartCalled,
    StepDue,
    StepEnds,
)
from traindx.capture.session.stream import Stream
from traindx.capture.torch.discover.loaders import partner
from traindx.capture.torch.hooks import CALLS
from traindx.capture.torch.measure.models.tree import class_name, held

LISTED = 60  # modules in the fact `modules`
MOST_LOOKS = 10_000  # calls of modules after which a root that is never called itself is given up
WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "DataParallel")


class Models:
    """Watches every module call until the roots are known, then only the roots."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.scene = stream, stream.scene
        self.wanted: set[int] = set()  # ids of trained parameters whose module is not known yet
        self.passed: set[int] = set()  # ids of modules that hold none of them
        self.unfed: dict[
            int, int
        ] = {}  # ids of parts of roots that were never called yet -> ids of the roots
        self.looks = 0
        self.handle: Any = None
        self.calls: list[Any] = []  # handles of the hooks on the roots
        self.blocked = False
        self.trained_mode = False  # a root was seen in training mode

    def attach(self) -> None:
        """Nothing is looked for before something is trained."""
        hear = self.stream.hear
        hear(ParametersTrained, lambda event: self.want(event.parameters))
        hear(StepDue, lambda event: self.search(event.optimizer) if self.wanted else None)
        hear(StepEnds, self.stepped)
        hear(Compiled, lambda event: self.block(event.function))
        self.stream.ends.append(self.detach)

    def stepped(self, event: StepEnds) -> None:
        """A step is over where the first optimizer has made one, or where there is none."""
        if self.scene.primary in (None, id(event.optimizer)):
            self.scene.fed = 0

    def detach(self) -> None:
        self.disarm()
        for handle in self.calls:
            handle.remove()
        self.calls.clear()

    def want(self, parameters: Any) -> None:
        """Look for the module of these parameters."""
        self.wanted |= {id(p) for p in parameters}
        if self.wanted:
            self.passed.clear()
            self.listen()

    def listen(self) -> None:
        """Look at every module call."""
        if self.handle is None and not self.blocked:
            safely = self.stream.safely
            self.handle = CALLS.hear_all(
                lambda module, inputs, named: safely(self.seen, module, inputs, named)
            )

    def disarm(self) -> None:
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    def block(self, function: bool) -> None:
        """Something is compiled, and would be compiled with the hooks: no more looking from inside
        of calls. What a compiled `function` calls cannot be hooked at all."""
        self.blocked = True
        self.scene.within_function |= function
        self.disarm()

    def seen(self, module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A module is about to be called; outer ones come first."""
        if id(module) in self.passed:
            return
        own = {id(p) for p in module.parameters()}
        if own & self.wanted:
            whole = (
                largest(lambda m: any(part is module for part in m.modules())) if self.wanted - own else []
            )
            self.found(whole[0] if len(whole) == 1 else module, called=module)
            self.entered(module, inputs, named)
        elif id(module) in self.unfed:
            self.called_in(self.unfed[id(module)], module)
            self.entered(module, inputs, named)
        self.passed.add(id(module))
        self.looks += 1
        if self.looks > MOST_LOOKS or not (self.wanted or self.unfed):
            self.disarm()

    def found(self, module: torch.nn.Module, called: torch.nn.Module | None = None) -> None:
        """A root; where only a part of it is `called`, batches are seen there. None: not yet called."""
        session = self.stream.session()
        if session is None or any(root() is module for root in self.scene.roots):
            return
        self.wanted -= {id(p) for p in module.parameters()}
        roots = self.scene.roots
        roots.append(weakref.ref(module))
        plain = unwrapped(module)
        self.stream.tell(ModelFound(module, "" if len(roots) == 1 else type(plain).__name__.lower()))
        self.describe(module, plain)
        if called is not None or self.blocked:
            self.called_in(id(module), module if called is None else called)
        else:
            holding = [part for part in module.modules() if next(part.parameters(), None) is not None]
            self.unfed |= {id(part): id(module) for part in holding}
            self.looks = 0
            self.listen()

    def called_in(self, root: int, module: torch.nn.Module) -> None:
        """The loop calls `module`, the root with that id or a part of it: batches are seen there."""
        self.unfed = {part: of for part, of in self.unfed.items() if of != root}
        if id(module) != root:
            self.stream.tell(PartCalled(module))

        def entered(module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
            self.stream.safely(self.entered, module, inputs, named)

        # before the session, which takes the inputs for the batch where none was told
        self.calls.append(CALLS.hear_before(module, entered, first=True))

    def search(self, optimizer: Any) -> None:
        """A step is due and the module of some parameters was never called as a whole: look among all
        modules that are alive, and take the largest. Those of other optimizers may be trained in another thread,
        where gradients are freed while they are read."""
        self.disarm()
        mine = self.wanted & {id(p) for group in optimizer.param_groups for p in group["params"]}
        for module in largest(lambda m: any(id(p) in mine for p in m.parameters())) if mine else ():
            if self.wanted & mine:
                self.found(module)
        self.wanted -= mine
        if self.wanted or self.unfed:
            self.listen()

    def entered(self, module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A root is called: say with what, and whether this is part of training."""
        grad = torch.is_grad_enabled()
        self.trained_mode |= grad and module.training
        scene = self.scene
        training = scene.training = grad and (module.training or not self.trained_mode)
        self.stream.tell(ModelCalled(training))
        if training:
            if len(scene.roots) > 1 and not self.is_fed(module):
                return
            scene.fed += 1
            self.stream.tell(ModelFed(module, inputs, named))
        session = self.stream.session()
        if session is not None:
            source = None if training else scene.data
            trained = source is not None and source in scene.trained_data
            targets = (
                partner(scene.pair, inputs) if training and scene.untold and session.wants_outputs else None
            )
            self.stream.tell(BatchSeen(inputs if inputs else named, targets, training, source, trained))

    def is_fed(self, module: torch.nn.Module) -> bool:
        """Of several models, the batch is what the one trained by the first optimizer gets first."""
        main = self.scene.main
        return not self.scene.fed and (main is None or any(id(p) in main for p in module.parameters()))

    def describe(self, module: torch.nn.Module, plain: torch.nn.Module) -> None:
        """What the session does not tell of a root by itself."""
        number = len(self.scene.roots)
        self.stream.fact("modules" if number == 1 else f"modules/{number}", tree(plain))
        if number > 1:
            self.stream.fact(f"model/{number}", type(plain).__name__)
        for wrapper in WRAPPERS:
            if type(module).__name__ == wrapper:
                self.stream.fact("wrapper", wrapper)
        if is_sharded(module):
            self.stream.fact("wrapper", "fully_shard")


def largest(wanted: Callable[[torch.nn.Module], bool]) -> list[torch.nn.Module]:
    """Of all modules that are alive, those that are `wanted` and within no other such."""
    # By type, not by isinstance: that asks objects for their class, and some warn or fail then.
    found = [
        m for m in gc.get_objects() if issubclass(type(m), torch.nn.Module) and "_modules" in m.__dict__
    ]
    found = [m for m in found if wanted(m)]
    inner = {id(child) for m in found for child in m.modules() if child is not m}
    return [m for m in found if id(m) not in inner]


def unwrapped(module: torch.nn.Module) -> torch.nn.Module:
    """The model that a data-parallel wrapper or `torch.compile` holds."""
    while True:
        name = "module" if type(module).__name__ in WRAPPERS else "_orig_mod"
        inner = held(module, name)
        if inner is None:
            return module
        module = inner


def is_sharded(module: torch.nn.Module) -> bool:
    """Whether `fully_shard` has changed the module's class, to one whose name begins with FSDP."""
    return any(kind.__name__ == "FSDPModule" for kind in type(module).__mro__)


def tree(module: torch.nn.Module) -> str:
    """The leaves of a model by name and class, in one line: `0 Linear, 1 ReLU, ...`."""
    leaves = [
        f"{name} {class_name(m)}" for name, m in module.named_modules() if not len(m._modules) and name
    ]
    more = f", and {len(leaves) - LISTED} more" if len(leaves) > LISTED else ""
    return ", ".join(leaves[:LISTED]) + more
