"""Finds the root modules: the outermost modules that are called and whose parameters are trained."""

import gc
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from traindx.capture.process.patches import remove_all
from traindx.capture.session import Stream
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
from traindx.capture.torch.discover.loaders import most_values, partner
from traindx.capture.torch.hooks import CALLS
from traindx.capture.torch.measure.models.tree import child_or_parameter, class_name

LISTED = 60  # modules in the fact `modules`
MOST_CALLS = 10_000  # of modules, after which no more calls are observed
WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "DataParallel")


class Models:
    """Observes every module call until the roots are known, then only those of the roots."""

    def __init__(self, stream: Stream, another: Callable[..., bool] | None = None) -> None:
        """`another(module, inputs, named)` is asked, outside of any measuring, when a model is called while
        one is looked for after the first step: True where another discovery has taken over."""
        self.stream, self.scene, self.another = stream, stream.scene, another
        self.wanted: set[int] = set()  # ids of trained parameters whose module is not known yet
        self.passed: set[int] = set()  # ids of modules that hold none of them
        self.unfed: dict[int, int] = {}  # ids of parts of roots that were never called -> ids of the roots
        self.calls_seen = 0
        self.handle: Any = None
        self.calls: list[Any] = []  # handles of the hooks on the roots
        self.blocked = False
        self.trained_mode = False  # a root was called in training mode

    def attach(self) -> None:
        """Observe no calls before something is trained."""
        hear = self.stream.hear
        hear(ParametersTrained, lambda event: self.want(event.parameters))
        hear(StepDue, lambda event: self.search(event.optimizer) if self.wanted else None)
        hear(StepEnds, self.stepped)
        hear(Compiled, lambda event: self.block(event.function))
        self.stream.ends.append(self.detach)

    def stepped(self, event: StepEnds) -> None:
        """A step is over once the first optimizer has made it, or where there is no optimizer."""
        if self.scene.primary in (None, id(event.optimizer)):
            self.scene.fed = 0

    def detach(self) -> None:
        self.disarm()
        remove_all(self.calls)

    def want(self, parameters: Any) -> None:
        """Look for the module of these parameters."""
        self.wanted |= {id(p) for p in parameters}
        if self.wanted:
            self.passed.clear()
            self.listen()

    def listen(self) -> None:
        """Observe every module call."""
        if self.handle is None and not self.blocked:
            self.handle = CALLS.add_hook_for_all(self.before_call)

    def disarm(self) -> None:
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    def block(self, function: bool) -> None:
        """Something is compiled, and hooks inside calls would be compiled with it: there are none from here
        on. Modules that a compiled `function` calls cannot be hooked at all."""
        self.blocked = True
        self.scene.within_function |= function
        self.disarm()

    def before_call(self, module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A module is about to be called."""
        if self.another is None or not self.scene.steps or not self.another(module, inputs, named):
            self.stream.safely(self.see, module, inputs, named)

    def see(self, module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A module is about to be called, whose parameters may be trained; outer ones come first."""
        if id(module) in self.passed:
            return
        inside = {id(p) for p in module.parameters()}
        if inside & self.wanted:
            outer: list[torch.nn.Module] = []
            if self.wanted - inside:  # the loop may call parts of a larger model
                outer = largest(lambda m: any(part is module for part in m.modules()))
            self.add(outer[0] if len(outer) == 1 else module, called=module)
            self.enter(module, inputs, named)
        elif id(module) in self.unfed:
            self.called_in(self.unfed[id(module)], module)
            self.enter(module, inputs, named)
        self.passed.add(id(module))
        self.calls_seen += 1
        if self.calls_seen > MOST_CALLS or not (self.wanted or self.unfed):
            self.disarm()

    def add(self, module: torch.nn.Module, called: torch.nn.Module | None = None) -> None:
        """A root. Where only a part of it is `called`, its batches are read there. None: not yet called."""
        if self.stream.session() is None or any(root is module for root in self.scene.alive()):
            return
        self.wanted -= {id(p) for p in module.parameters()}
        roots = self.scene.roots
        roots.append(weakref.ref(module))
        plain = unwrap_model(module)
        self.stream.tell(ModelFound(module, "" if len(roots) == 1 else type(plain).__name__.lower()))
        self.describe(module, plain)
        if called is not None or self.blocked:
            self.called_in(id(module), module if called is None else called)
        else:
            holding = [part for part in module.modules() if next(part.parameters(), None) is not None]
            self.unfed |= {id(part): id(module) for part in holding}
            self.calls_seen = 0
            self.listen()

    def called_in(self, root: int, module: torch.nn.Module) -> None:
        """The loop calls `module`, the root with that id or a part of it: batches are read there."""
        self.unfed = {part: of for part, of in self.unfed.items() if of != root}
        if id(module) != root:
            self.stream.tell(PartCalled(module))
        # Before the session, which takes the inputs for the batch where none was reported.
        self.calls.append(CALLS.add_before_hook(module, partial(self.stream.safely, self.enter), first=True))

    def search(self, optimizer: Any) -> None:
        """A step is due, and the module of some parameters was never called as a whole: take the largest of
        all modules that are alive. Modules of other optimizers are left out: another thread may train them,
        and free gradients while they are read."""
        self.disarm()
        mine = self.wanted & {id(p) for group in optimizer.param_groups for p in group["params"]}
        for module in largest(lambda m: any(id(p) in mine for p in m.parameters())) if mine else ():
            if self.wanted & mine:
                self.add(module)
        self.wanted -= mine
        if self.wanted or self.unfed:
            self.listen()

    def enter(self, module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        """A root is called: report its inputs, and whether this is part of training."""
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
            if (
                trained and most_values(inputs) > scene.most > 0
            ):  # other samples, in a loop over the training data
                source, trained = None, False
            needed = training and scene.untold and session.wants_outputs
            targets = partner(scene.pair, inputs) if needed else None
            self.stream.tell(BatchSeen(inputs if inputs else named, targets, training, source, trained))

    def is_fed(self, module: torch.nn.Module) -> bool:
        """Of several models, the first input of the one that the first optimizer trains is the batch."""
        main = self.scene.main
        return not self.scene.fed and (main is None or any(id(p) in main for p in module.parameters()))

    def describe(self, module: torch.nn.Module, plain: torch.nn.Module) -> None:
        """Facts of a root that the session does not find by itself."""
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
    # By type, not by isinstance: that reads `__class__`, at which some objects warn or fail.
    found = [
        m for m in gc.get_objects() if issubclass(type(m), torch.nn.Module) and "_modules" in m.__dict__
    ]
    found = [m for m in found if wanted(m)]
    inner = {id(child) for m in found for child in m.modules() if child is not m}
    return [m for m in found if id(m) not in inner]


def unwrap_model(module: torch.nn.Module) -> torch.nn.Module:
    """The model that a data-parallel wrapper or `torch.compile` holds."""
    while True:
        name = "module" if type(module).__name__ in WRAPPERS else "_orig_mod"
        inner = child_or_parameter(module, name)
        if inner is None:
            return module
        module = inner


def is_sharded(module: torch.nn.Module) -> bool:
    """Whether `fully_shard` has replaced the module's class by one whose name begins with FSDP."""
    return any(kind.__name__ == "FSDPModule" for kind in type(module).__mro__)


def tree(module: torch.nn.Module) -> str:
    """The leaves of a model by name and class, in one line: `0 Linear, 1 ReLU, ...`."""
    leaves = [
        f"{name} {class_name(m)}" for name, m in module.named_modules() if not len(m._modules) and name
    ]
    more = f", and {len(leaves) - LISTED} more" if len(leaves) > LISTED else ""
    return ", ".join(leaves[:LISTED]) + more
