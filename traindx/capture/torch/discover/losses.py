"""Loss functions: which one is used, its inputs, and its values on held-out data.

A loss belongs to an evaluation pass if it is computed with gradients off, or by a model in evaluation mode
and without a backward pass. The evaluation pass ends when training goes on. Its mean over samples is a
validation loss."""

import warnings
import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import torch

from traindx.capture.session import Stream
from traindx.capture.session.events import (
    BatchSeen,
    LossComputed,
    LossDifferentiated,
    MetricLogged,
    ModelCalled,
    OutputsSeen,
    ValidationPassed,
)
from traindx.capture.torch.discover.models import unwrap_model
from traindx.capture.torch.hooks import is_tracing

FUNCTIONS = (
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div", "ctc_loss", "gaussian_nll_loss", "poisson_nll_loss",
    "hinge_embedding_loss", "margin_ranking_loss", "cosine_embedding_loss", "triplet_margin_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss",
)  # fmt: skip
CLASSED = ("cross_entropy", "nll_loss", "multi_margin_loss")
# These compare outputs with one another, so the second argument is no target.
PAIRED = ("margin_ranking_loss", "cosine_embedding_loss", "triplet_margin_loss")
# Called as (input, target, weight).
WEIGHTED_THIRD = (*CLASSED[:2], "binary_cross_entropy", "binary_cross_entropy_with_logits")
DESCRIBED = 3  # calls whose inputs are described
COMPARED = 20  # backward passes in which the terms of the training loss are determined
REMEMBERED = 100  # targets
TARGETS_SHOWN = 2  # backward passes within which a loss function would have shown the targets
SUMS = ("AddBackward0", "MulBackward0", "DivBackward0", "SubBackward0", "ToCopyBackward0")
ADDENDS = 16  # terms of a loss at most


class Value(NamedTuple):
    """One value of a loss function in an evaluation pass."""

    value: torch.Tensor
    samples: int
    function: str
    provisional: bool  # gradients were on: a backward pass may still follow
    train_mode: bool


class Losses:
    """Wraps the loss functions of `torch.nn.functional`, which the loss modules call, too."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.scene = stream, stream.scene
        self.seen: dict[str, int] = {}  # function -> training calls
        # Sequence number of a loss in the graph since the last backward pass -> its function.
        self.nodes: dict[int, str] = {}
        self.compared = 0
        self.training_loss = ""  # the function whose value is (a term of) what `backward` is called on
        self.evaluated: dict[tuple[str, Any], list[Value]] = {}  # by line and data
        self.reported: dict[tuple[str, Any], tuple[int, list[Value]]] = {}  # with the step
        self.names: dict[tuple[str, Any], str] = {}
        self.targets: dict[int, weakref.ref[torch.Tensor]] = {}  # targets seen in training without a loader
        self.trained: set[int] = set()  # ids of those that were used again: they are the whole data set
        self.inside = False
        self.quiet = False  # everything is known of the training's losses

    def attach(self) -> None:
        for name in FUNCTIONS:
            self.stream.patches.replace(torch.nn.functional, name, partial(self.wrap, name))
        self.stream.hear(ModelCalled, self.model_called)
        self.stream.hear(LossDifferentiated, self.backward_begins)

    def wrap(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        stream, losses = self.stream, self

        def loss(input: Any, *args: Any, **named: Any) -> Any:
            if torch.compiler.is_compiling() or losses.inside or not stream.active or is_tracing():
                return original(input, *args, **named)
            value = original(input, *args, **named)
            if losses.quiet and name in losses.seen and losses.is_already_read(value):
                return value
            target = None if name in PAIRED else args[0] if args else named.get("target")
            ignored = named.get("ignore_index") if name in CLASSED else None
            stream.safely(losses.computed, name, value, input, target, reduction_of(named), ignored)
            if losses.seen.get(name, 0) == 1:
                stream.safely(losses.read_weights, name, args, named)
            if stream.attentive:
                stream.safely(stream.tell, LossComputed(original, input, args, named, value))
            return value

        return loss

    def is_already_read(self, value: Any) -> bool:
        """Whether this is the loss of another training step, of which nothing is to be read."""
        session = self.stream.opened
        return (
            session is not None
            and not session.wants_outputs
            and self.scene.training
            and not self.evaluated
            and type(value) is torch.Tensor  # a subclass, or a mode, would notice the question
            and not torch._C._is_torch_function_mode_enabled()
            and value.requires_grad
        )

    def computed(self, name: str, value: Any, given: Any, target: Any, reduction: str, ignored: Any) -> None:
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            return
        target = mask_ignored(target, ignored)
        grad = value.requires_grad
        scene = self.scene
        if grad and (scene.training or not scene.roots):
            self.trained_on(name, value, given, target, reduction)
        elif self.stream.opened is not None:
            counted = given if target is None else target
            samples = len(counted) if isinstance(counted, torch.Tensor) and counted.dim() else 1
            single = value.detach() / samples if reduction == "sum" else value.detach()
            where = self.stream.lines.here(4)
            modes = [root() for root in scene.roots]
            train_mode = any(root is not None and unwrap_model(root).training for root in modes)
            found = Value(single, samples, name, grad, train_mode)
            self.evaluated.setdefault((where, self.data(target)), []).append(found)
            if not grad and target is not None:
                self.stream.tell(BatchSeen(None, target, False))

    def trained_on(self, name: str, value: torch.Tensor, given: Any, target: Any, reduction: str) -> None:
        """A loss in training: it is described once, its targets are always read."""
        if self.evaluated:
            self.end()
        count = self.seen[name] = self.seen.get(name, 0) + 1
        self.scene.untold = False
        if count <= DESCRIBED:
            self.describe(name, given, target, reduction)
        if self.compared < COMPARED and value.grad_fn is not None:
            self.nodes[value.grad_fn._sequence_nr()] = name
        if isinstance(target, torch.Tensor) and self.scene.data is None:
            self.remember(target)
        session = self.stream.opened
        main = name == (self.training_loss or next(iter(self.seen)))
        if session is not None and session.wants_outputs and main:
            self.stream.tell(OutputsSeen(given, name, name in CLASSED))
            if target is not None:
                self.stream.tell(BatchSeen(None, target, True))

    def remember(self, target: torch.Tensor) -> None:
        """A tensor that is used twice in training is the training data itself."""
        known = self.targets.get(id(target))
        if known is not None and known() is target:
            self.trained.add(id(target))
        elif len(self.targets) < REMEMBERED:
            self.targets[id(target)] = weakref.ref(target)

    def describe(self, name: str, given: Any, target: Any, reduction: str) -> None:
        fact, first = self.stream.fact, len(self.seen) == 1
        prefix = "" if first else f"loss/{len(self.seen)}/"
        self.stream.line("loss")
        fact(f"{prefix}loss" if first else f"{prefix}function", name)
        fact(f"{prefix}reduction" if not first else "loss_reduction", reduction)
        if not isinstance(given, torch.Tensor):
            return
        if given.numel():  # what an empty selection leaves has no range
            fact(f"{prefix}loss_input", kind_of(given, name))
        fact(f"{prefix}loss_input_shape", shape_of(given))
        if isinstance(target, torch.Tensor):
            fact(f"{prefix}loss_target_shape", shape_of(target))
            fact(f"{prefix}loss_target_dtype", str(target.dtype).removeprefix("torch."))
        if name in CLASSED and given.dim() > 1:
            fact(f"{prefix}classes", given.shape[1])
        elif name.startswith("binary") and given.numel() == len(given):
            fact(f"{prefix}classes", 2)

    def read_weights(self, name: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Whether a training loss gives some classes or samples more weight, at its first call."""
        given = [named.get("weight"), named.get("pos_weight")]
        given += [args[1]] if name in WEIGHTED_THIRD and len(args) > 1 else []
        uneven = any(isinstance(w, torch.Tensor) and not bool((w == 1).all()) for w in given)
        if uneven or "loss_weighted" not in self.stream.known:
            self.stream.fact("loss_weighted", uneven)

    def model_called(self, event: ModelCalled) -> None:
        """A root is called. If it is trained, the evaluation before is over."""
        if event.training and self.evaluated:
            self.end()

    def backward_begins(self, event: LossDifferentiated) -> None:
        """Provisional values were training values after all. Determine the terms of the training loss."""
        if self.evaluated:
            final = {key: [v for v in values if not v.provisional] for key, values in self.evaluated.items()}
            self.evaluated = {key: values for key, values in final.items() if values}
            self.end()
        self.quiet = self.compared >= COMPARED and not self.stream.attentive
        if self.compared < COMPARED:
            self.compared += 1
            self.scene.untold = self.compared > TARGETS_SHOWN and not self.seen
            numbers = [node._sequence_nr() for node in terms(event.loss)]
            names = [self.nodes[number] for number in numbers if number in self.nodes]
            self.nodes.clear()
            if names and not self.training_loss:
                self.training_loss = names[0]
                self.stream.fact("loss", " + ".join(dict.fromkeys(names)))

    def data(self, target: Any) -> Any:
        """What identifies an evaluated data set: the loader's, or the training targets."""
        most = self.scene.most
        larger = (
            isinstance(target, torch.Tensor) and 0 < most < target.numel()
        )  # than the loader's last batch
        if self.scene.data is not None and not larger:
            return self.scene.data
        known = self.targets.get(id(target)) if id(target) in self.trained else None
        return id(target) if known is not None and known() is target else None

    def end(self) -> None:
        """An evaluation pass is over: report its means."""
        evaluated, self.evaluated = self.evaluated, {}
        session = self.stream.opened
        if session is None:
            return
        for key, values in evaluated.items():
            # Gradients between two parts of an evaluation (adaptation to each task) do not make two of it.
            step, before = self.reported.get(key, (None, []))
            values = [*before, *values] if step == session.step else values
            self.reported[key] = session.step, values
            mean = sum(precise(v.value) * v.samples for v in values) / sum(v.samples for v in values)
            name = self.name_of(key, values[0])
            if self.is_training_data(key[1]):
                self.stream.tell(MetricLogged(f"eval_{name}", mean))
                continue
            self.stream.tell(ValidationPassed(name, mean))
            self.stream.fact("validation_in_train_mode", values[-1].train_mode)
            self.stream.fact("where/validation", key[0])

    def is_training_data(self, data: Any) -> bool:
        return data is not None and (data in self.scene.trained_data or data in self.trained)

    def name_of(self, key: tuple[str, Any], value: Value) -> str:
        """`loss` for the function of the training loss, its own name for another; numbered from the second
        line or data set on."""
        known = self.names.get(key)
        if known is None:
            plain = "loss" if value.function == (self.training_loss or value.function) else value.function
            kind, ours = self.is_training_data(key[1]), self.names.items()
            same = sum(n.split("_at_")[0] == plain and self.is_training_data(k[1]) == kind for k, n in ours)
            known = self.names[key] = plain if not same else f"{plain}_at_{same + 1}"
        return known


def mask_ignored(target: Any, ignored: Any) -> Any:
    """Class numbers, with -100 for those that a loss ignores (padding, say)."""
    if not isinstance(ignored, int) or ignored < 0 or not isinstance(target, torch.Tensor):
        return target
    return target.detach().masked_fill(target == ignored, -100)


def precise(value: torch.Tensor) -> torch.Tensor:
    """In double precision where that is cheap, so that the sum of a mean is not rounded at each addition."""
    return value.double() if value.device.type == "cpu" else value


def kind_of(given: torch.Tensor, name: str) -> str:
    """The kind of a loss's input: "probabilities", "log-probabilities" or "scores"."""
    values = given.detach()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        low, high = float(values.min()), float(values.max())
        if name.startswith("binary"):
            return "probabilities" if low >= 0 and high <= 1 else "scores"
        if values.dim() < 2 or values.shape[1] < 2 or not values.is_floating_point():
            return "scores"
        near = 1e-3 if values.dtype.itemsize > 2 else 0.05  # what rounding leaves of a sum
        values = values.float()
        if low >= 0 and high <= 1 and bool((values.sum(1) - 1).abs().max() < near):
            return "probabilities"
        if high <= 1e-6 and bool((values.exp().sum(1) - 1).abs().max() < near):
            return "log-probabilities"
        return "scores"


def shape_of(tensor: torch.Tensor) -> str:
    return "x".join(map(str, tensor.shape)) or "scalar"


def terms(loss: torch.Tensor) -> list[Any]:
    """The graph nodes of a loss and of the terms of its sum, through constant factors."""
    found: list[Any] = []
    nodes = [loss.grad_fn]
    while nodes and len(found) < ADDENDS:
        node = nodes.pop(0)
        if node is None:
            continue
        found.append(node)
        if type(node).__name__ in SUMS:
            nodes += [following for following, _ in node.next_functions]
    return found


def reduction_of(named: Mapping[str, Any]) -> Any:
    """How a loss function reduces: the older arguments `size_average` and `reduce` come before `reduction`."""
    average, reduces = named.get("size_average"), named.get("reduce")
    if average is None and reduces is None:
        return named.get("reduction", "mean")
    if reduces is False:
        return "none"
    return "sum" if average is False else "mean"
