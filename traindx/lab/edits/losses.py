"""The losses of a training in its source, and what goes into them."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from traindx.lab.edits.follow import resolve
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, NotCertain, Source, argument
from traindx.lab.edits.training import backwards

MODULES = {
    "torch.nn.CrossEntropyLoss": "cross_entropy",
    "torch.nn.NLLLoss": "nll_loss",
    "torch.nn.BCELoss": "binary_cross_entropy",
    "torch.nn.BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "torch.nn.MSELoss": "mse_loss",
    "torch.nn.L1Loss": "l1_loss",
    "torch.nn.SmoothL1Loss": "smooth_l1_loss",
    "torch.nn.HuberLoss": "huber_loss",
}
OF_VALUES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
CLASSES = {function: module.rpartition(".")[2] for module, function in MODULES.items()}
FUNCTIONS = {f"torch.nn.functional.{function}": function for function in CLASSES}


class Loss(NamedTuple):
    """A use of a loss on a training batch: `made` is the call that holds its settings (the module's, or the
    function's own), `use` the call that computes it."""

    source: Source
    use: cst.Call
    home: Source
    made: cst.Call
    kind: str

    @property
    def by_module(self) -> bool:
        return self.made is not self.use

    @property
    def line(self) -> int:
        return self.source.line(self.use)

    def doubt(self, write: str, why: str) -> NotCertain:
        """That an edit of this loss is not certain, to be raised."""
        return self.source.doubt(self.use, write, why)

    @property
    def input(self) -> cst.BaseExpression | None:
        arg = argument(self.use, "input", 0)
        return arg.value if arg else None

    @property
    def target(self) -> cst.BaseExpression | None:
        arg = argument(self.use, "target", 1)
        return arg.value if arg else None


def losses(project: Project) -> list[Loss]:
    """Every use of a known loss function, in the order of the text."""
    found: list[Loss] = []
    for source in project.sources:
        for call in source.calls():
            function = FUNCTIONS.get(source.name(call.func))
            if function:
                found.append(Loss(source, call, source, call, function))
                continue
            if not isinstance(call.func, (cst.Name, cst.Attribute)):
                continue
            home, made = resolve(project, source, call.func)
            kind = MODULES.get(home.name(made.func)) if isinstance(made, cst.Call) else None
            if kind and isinstance(made, cst.Call) and made is not call:
                found.append(Loss(source, call, home, made, kind))
    return found


def training_loss(project: Project) -> Loss:
    """The only loss that is computed next to a backward pass. Raises NotCertain where several could be
    it."""
    found = losses(project)
    near = [one for one in found if any(together(one, back) for back in backwards(project))]
    recorded = project.place("loss")
    exact = [
        o for o in found if recorded and o.source is recorded[0] and o.source.covers(o.use, recorded[1])
    ]
    chosen = exact if len(exact) == 1 else near if len(near) == 1 else found
    if len(chosen) != 1:
        why = f"{len(chosen)} losses are computed" if chosen else "no loss function of PyTorch was found"
        write = "the change goes to the training loss"
        raise chosen[0].doubt(write, why) if chosen else project.doubt(write, why)
    return chosen[0]


def together(one: Loss, back: Found) -> bool:
    """Whether a loss and a backward pass are in the same loop of the same function."""
    source = back.source
    if one.source is not source or source.function(one.use) is not source.function(back.call):
        return False
    loops = source.loops(back.call)
    return not loops or source.inside(one.use, loops[0])


def rename(one: Loss, kind: str) -> None:
    """Put another loss in its place: the class of the module, or the function."""
    source, func = one.home, one.made.func
    new = CLASSES[kind] if one.by_module else kind
    if isinstance(func, cst.Attribute):
        source.change(func, lambda node: node.with_changes(attr=cst.Name(new)))
        return
    raise source.doubt(one.made, f"{new} in place of {source.code(func)}", "it is imported by its own name")


def replace_loss(project: Project, kind: str, wanted: str) -> None:
    """Put the loss `wanted` in place of every use of the loss `kind`."""
    for one in {id(one.made): one for one in losses(project) if one.kind == kind}.values():
        rename(one, wanted)
        project.say(one.home, one.home.line(one.made), f"{kind} becomes {wanted}")
