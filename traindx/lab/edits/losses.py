"""The losses of a training in its source, and what goes into them."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from traindx.lab.edits.follow import behind
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.source import Source, argument
from traindx.lab.edits.training import Found, backwards

MODULES = {
    "torch.nn.CrossEntropyLoss": "cross_entropy",
    "torch.nn.NLLLoss": "nll_loss",
    "torch.nn.BCELoss": "binary_cross_entropy",
    "torch.nn.BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "torch.nn.MSELoss": "mse_loss",
    "torch.nn.L1Loss": "l1_loss",
    "torch.nn.SmoothL1Loss": "smooth_l1_loss",
}
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

    @property
    def input(self) -> cst.BaseExpression | None:
        arg = argument(self.use, "input", 0)
        return arg.value if arg else None

    @property
    def target(self) -> cst.BaseExpression | None:
        arg = argument(self.use, "target", 1)
        return arg.value if arg else None


def losses(project: Project) -> list[Loss]:
    """Every use of a loss that is known, in the order of the text."""
    found: list[Loss] = []
    for source in project.sources:
        for call in source.calls():
            function = FUNCTIONS.get(source.name(call.func))
            if function:
                found.append(Loss(source, call, source, call, function))
                continue
            if not isinstance(call.func, (cst.Name, cst.Attribute)):
                continue
            home, made = behind(project, source, call.func)
            kind = MODULES.get(home.name(made.func)) if isinstance(made, cst.Call) else None
            if kind and isinstance(made, cst.Call) and made is not call:
                found.append(Loss(source, call, home, made, kind))
    return found


def training_loss(project: Project) -> Loss:
    """The only loss that is computed beside a backward pass. Raises NotCertain where it is not certain which."""
    found = losses(project)
    beside = [one for one in found if any(together(one, back) for back in backwards(project))]
    told = project.place("loss")
    exact = [one for one in found if told and one.source is told[0] and one.source.covers(one.use, told[1])]
    chosen = exact if len(exact) == 1 else beside if len(beside) == 1 else found
    if len(chosen) != 1:
        why = "no loss of torch was found" if not chosen else f"{len(chosen)} losses are computed"
        first = chosen[0] if chosen else None
        raise NotCertain(
            "the change goes to the training loss", why,
            first.source.path if first else project.script, first.line if first else 0,
        )  # fmt: skip
    return chosen[0]


def together(one: Loss, back: Found) -> bool:
    """Whether a loss and a backward pass stand in the same loop of the same function."""
    source = back.source
    if one.source is not source or source.function(one.use) is not source.function(back.call):
        return False
    loops = source.loops(back.call)
    return not loops or source.inside(one.use, loops[0])


def rename(one: Loss, kind: str) -> None:
    """Another loss in its place: the class of the module, or the function."""
    source, func = one.home, one.made.func
    new = CLASSES[kind] if one.by_module else kind
    if isinstance(func, cst.Attribute):
        source.change(func, lambda node: node.with_changes(attr=cst.Name(new)))
        return
    why = "it is imported by its own name"
    raise NotCertain(f"{new} in the place of {source.code(func)}", why, source.path, source.line(one.made))
