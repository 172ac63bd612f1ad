"""The activation that a PyTorch model ends with: where it is in the source, and how it is removed or
exchanged; and the losses of a training, with what goes into them."""

from typing import NamedTuple

import libcst as cst

from traindx.lab.edits.follow import resolve
from traindx.lab.edits.model import SEQUENTIAL, forward_of, in_sequence, kind, uses_of
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, NotCertain, Source, argument, assigned_name, dotted_name
from traindx.lab.edits.training import backwards

SQUASHING = ("Softmax", "Sigmoid")
KINDS = {"softmax": "Softmax", "sigmoid": "Sigmoid", "relu": "ReLU", "tanh": "Tanh"}
CALLS = {f"{home}.{name}": made for name, made in KINDS.items() for home in ("torch", "torch.nn.functional")}
RESHAPING = ("squeeze", "view", "reshape", "flatten")  # what a forward pass may do with it before it returns


class Last(NamedTuple):
    """An activation at the end of a model: the call that applies it, or that makes its module."""

    source: Source
    call: cst.Call
    kind: str

    @property
    def line(self) -> int:
        return self.source.line(self.call)


def last_activations(project: Project, kinds: tuple[str, ...] = SQUASHING) -> list[Last]:
    """The activations of these kinds that a model ends with: last in a sequence or a forward pass, or around
    the input of the loss."""
    found: list[Last] = []
    for source, call in project.calls():
        made = kind(source, call)
        if made in kinds and is_last(source, call):
            found.append(Last(source, call, made))
        name = CALLS.get(source.name(call.func)) or method(call) or made_by_class(project, source, call)
        if name in kinds and (
            is_returned(source, call) or any(one.input is call for one in losses(project))
        ):
            found.append(Last(source, call, name))
    return found


def method(call: cst.Call) -> str:
    """ "Softmax" of `x.softmax(1)`; `self.softmax(x)` is a module's."""
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) and not is_self_call(call) else ""
    return KINDS.get(name, "")


def made_by_class(project: Project, source: Source, call: cst.Call) -> str:
    """ "Softmax" of `self.out(x)` in a class that makes `self.out` one."""
    if not is_self_call(call):
        return ""
    home, value = resolve(project, source, call.func)
    made = kind(home, value) if isinstance(value, cst.Call) else ""
    return made if made in KINDS.values() else ""


def is_self_call(call: cst.Call) -> bool:
    """Whether an object calls one of its members."""
    return isinstance(call.func, cst.Attribute) and dotted_name(call.func.value) == "self"


def is_last(source: Source, call: cst.Call) -> bool:
    """Whether a module is the last one of a sequence that is the whole model, or its end."""
    outer = in_sequence(source, call)
    if outer is None or outer.args[-1].value is not call or in_sequence(source, outer) is not None:
        return False
    uses = uses_of(source, outer)
    name = assigned_name(source.parents.get(outer))
    inner = [arg.value for one in source.calls(SEQUENTIAL) for arg in one.args]
    if uses:
        return all(is_returned(source, use) for use in uses)
    return not any(name and dotted_name(one) == name for one in inner)


def is_returned(source: Source, call: cst.Call) -> bool:
    """Whether a forward pass returns the result, as it is, reshaped, or by its name in the next line."""
    node: cst.CSTNode = call
    while isinstance(parent := source.parents.get(node), (cst.Attribute, cst.Call)):
        if isinstance(parent, cst.Attribute) and parent.attr.value not in RESHAPING:
            return False
        node = parent
    if forward_of(source, call) is None:
        return False
    name, line = assigned_name(parent), source.parents.get(parent) if parent is not None else None
    block = source.parents.get(line) if line is not None else None
    if not name or not isinstance(block, cst.IndentedBlock):
        return isinstance(parent, cst.Return)
    after = block.body[[one is line for one in block.body].index(True) + 1 :][:1]
    return any(source.code(one) == f"return {name}" for one in after)


def remove_activation(project: Project, last: Last) -> None:
    """Remove the activation, and keep everything else."""
    source, node = last.source, last.call
    outer = in_sequence(source, node)
    parent = source.parents.get(node)
    if outer is not None:
        place = [arg.value is node for arg in outer.args].index(True)
        source.change(outer, lambda call: without_place(call, place))
    elif isinstance(parent, cst.Assign) and source.code(argument_of(last)) == assigned_name(parent):
        source.remove(parent)  # x = torch.sigmoid(x)
    else:
        inner = argument_of(last)
        source.change(node, lambda _: inner)
    source.say(node, f"removed: {last.kind} ({source.code(node)})")


def argument_of(last: Last) -> cst.BaseExpression:
    """What the activation is applied to: `x` of `torch.sigmoid(x)`, `x.sigmoid()` and `self.sigmoid(x)`."""
    func = last.call.func
    if (
        isinstance(func, cst.Attribute)
        and last.source.name(func) not in CALLS
        and not is_self_call(last.call)
    ):
        return func.value
    return last.call.args[0].value


def softmax_to_sigmoid(project: Project, last: Last) -> None:
    """Put a sigmoid in place of a softmax, which has no other arguments than its input."""
    source, made = last.source, last.call
    if is_self_call(made):
        home, node = resolve(project, source, made.func)
        if not isinstance(node, cst.Call):
            raise source.doubt(made, "a sigmoid", "cannot tell which module this is")
        source, made = home, node
    func = made.func
    if not isinstance(func, cst.Attribute):
        raise source.doubt(made, "a sigmoid", "the softmax is imported by its own name")
    name = "Sigmoid" if func.attr.value == "Softmax" else "sigmoid"
    args = [made.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)] if source.name(func) in CALLS else []
    new = func.with_changes(attr=cst.Name(name))
    says = f"{source.code(made)} becomes a sigmoid"
    source.change(made, lambda call: call.with_changes(func=new, args=args), says)


def without_place(call: cst.Call, place: int) -> cst.Call:
    """The call without an argument. What ends the last line of the arguments stays, and so do comments."""
    args = [arg for i, arg in enumerate(call.args) if i != place]
    if args and place == len(call.args) - 1:
        last, comma = call.args[-1], args[-1].comma
        own, end = (getattr(one, "whitespace_after", None) for one in (comma, last.comma))
        if isinstance(own, cst.ParenthesizedWhitespace) and isinstance(end, cst.ParenthesizedWhitespace):
            comma = cst.Comma(whitespace_after=end.with_changes(first_line=own.first_line))
        else:
            comma = last.comma
        args[-1] = args[-1].with_changes(comma=comma, whitespace_after_arg=last.whitespace_after_arg)
    return call.with_changes(args=args)


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
    for source, call in project.calls():
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
    near = [one for one in found if any(share_loop(one, back) for back in backwards(project))]
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


def share_loop(one: Loss, back: Found) -> bool:
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
    if not isinstance(func, cst.Attribute):
        raise source.doubt(
            one.made, f"{new} in place of {source.code(func)}", "it is imported by its own name"
        )
    source.rename(func, new, f"{one.kind} becomes {kind}", at=one.made)


def replace_loss(project: Project, kind: str, wanted: str) -> None:
    """Put the loss `wanted` in place of every use of the loss `kind`."""
    for one in {id(one.made): one for one in losses(project) if one.kind == kind}.values():
        rename(one, wanted)
