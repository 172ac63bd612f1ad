"""Probes of how a model treats the samples of a batch: leaks between samples, growth of the loss with their
number, and the loss in training and evaluation mode."""

import torch

from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.measure.reruns.future_tokens import replace_tensor
from traindx.capture.torch.measure.tensors.views import any_tensor, tensors_in
from traindx.vocabulary import Fact

LEAKS = 1e-5  # relative to the largest gradient: more than rounding errors
REPLACED = 8  # samples that are replaced at most, where inputs are whole numbers


class NotClear(Exception):
    """A probe is not applicable; says why."""


def output_of(live: Live, old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """The model's first output tensor, with one input replaced."""
    assert live.model is not None
    output = live.model(*replace_tensor(live.inputs, old, new), **replace_tensor(live.named, old, new))
    found = any_tensor(output if not hasattr(output, "logits") else output.logits)
    if found is None:
        raise NotClear("the model's output holds no tensor")
    return found


def whole_batch(live: Live) -> torch.Tensor:
    """The first input, where it is clear that its rows are the samples."""
    inputs = list(tensors_in((live.inputs, live.named)))
    count = live.samples()
    if not inputs or count < 2:
        raise NotClear("it is not clear which dimension holds the samples of a batch, or there is only one")
    assert live.model is not None
    every = [*inputs, *live.model.buffers()]
    related = any(t.layout != torch.strided or t.shape[:2] == (count, count) for t in every)
    if related or any(len(t) != count for t in inputs if t.dim()):
        raise NotClear("the inputs relate samples to each other, as those of a graph do")
    return inputs[0]


def leak(live: Live) -> dict[str, Fact]:
    """Pairs of samples (i, j) in which the output for i depends on the input of j, in evaluation mode."""
    first = whole_batch(live)
    assert live.model is not None
    live.model.eval()
    found = by_gradient(live, first) if first.is_floating_point() else by_replacement(live, first)
    return {"leak_pairs": found[0], "leak_pairs_checked": found[1]}


def by_gradient(live: Live, first: torch.Tensor) -> tuple[int, int]:
    given = first.detach().clone().requires_grad_()
    output = output_of(live, first, given)
    count = len(given)
    if not output.dim() or len(output) != count:
        raise NotClear("the output does not have one row for each sample")
    if not output.requires_grad:
        raise NotClear("no gradient leads from the output to the input")
    pairs = checked = 0
    for i in {0, count // 2, count - 1}:
        (gradient,) = torch.autograd.grad(
            output[i].float().sum(), given, retain_graph=True, allow_unused=True
        )
        if gradient is None:
            raise NotClear("no gradient leads from the output to the input")
        size = gradient.reshape(count, -1).float().abs().amax(1)
        if not bool(torch.isfinite(size).all()):
            raise NotClear("the gradient is not finite")
        others = torch.arange(count, device=size.device) != i
        pairs += int((size[others] > LEAKS * size.max()).sum()) if float(size.max()) > 0 else 0
        checked += count - 1
    return pairs, checked


def by_replacement(live: Live, first: torch.Tensor) -> tuple[int, int]:
    with torch.no_grad():
        before = output_of(live, first, first)
        count = len(first)
        if not before.dim() or len(before) != count:
            raise NotClear("the output does not have one row for each sample")
        scale = float(before.float().abs().max())
        pairs = checked = 0
        for j in range(min(count, REPLACED)):
            given = first.clone()
            given[j] = first[(j + 1) % count]
            change = (output_of(live, first, given) - before).float().reshape(count, -1).abs().amax(1)
            others = torch.arange(count, device=change.device) != j
            pairs += int((change[others] > 1e-3 * scale).sum())
            checked += count - 1
    return pairs, checked


def growth(live: Live) -> dict[str, Fact]:
    """The loss of two equal batches over the loss of one: 1 for a mean, 2 for a sum."""
    call, lost = live.loss, live.differentiated
    if call is None or lost is None or not isinstance(call.target, torch.Tensor) or not call.target.dim():
        if live.growth is None:
            raise NotClear(
                "the loss was not made by a loss function, and its last operation is no sum or mean"
            )
        return {"loss_batch_growth": live.growth}
    if call.value.dim() or len(call.target) != len(call.given):
        raise NotClear("the loss function did not give one number for the batch")
    with torch.no_grad():
        given, target = call.given.detach(), call.target
        one = float(call.again(given, target))
        two = float(call.again(torch.cat([given, given]), torch.cat([target, target])))
    if not one or one - one != 0 or two - two != 0:
        raise NotClear("the loss is zero or not finite")
    divided = float(lost) / one
    counts = {len(call.target), call.target.numel(), call.given.numel()}
    if any(abs(divided * n - 1) < 1e-3 for n in counts if n > 1):
        return {"loss_batch_growth": 1.0}  # a sum that is divided afterwards
    return {"loss_batch_growth": two / one}


def modes(live: Live) -> dict[str, Fact]:
    """The loss of the last batch with the model in training and in evaluation mode."""
    call, model, output = live.loss, live.model, live.output
    if call is None or model is None or live.first_loss is None:
        raise NotClear("the loss was not made by a loss function")
    output = any_tensor(output)
    if output is None or output.numel() != call.given.numel():
        raise NotClear("the loss is not computed from the model's output alone")
    if not torch.equal(output.detach().reshape(call.given.shape), call.given.detach()):
        raise NotClear("what the loss is computed from is not the model's output as it is")
    found = {}
    with torch.no_grad():
        for name, training in (("train", True), ("eval", False)):
            model.train(training)
            given = any_tensor(model(*live.inputs, **live.named))
            assert given is not None
            found[f"modes_loss_{name}"] = float(call.again(given.reshape(call.given.shape), call.target))
    return {**found, "modes_loss_first": live.first_loss}
