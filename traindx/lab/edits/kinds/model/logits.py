"""`logits=on`: removes a softmax or sigmoid between the model and a loss that applies it itself, or has a
form that does.

Whatever reads the model's output must mean the same without it. The largest of several stays the largest,
and a comparison with 0.5 becomes one with 0. Anything else that reads probabilities makes it advice."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.follow import resolve
from traindx.lab.edits.kind import Kind
from traindx.lab.edits.losses import losses, replace_loss, training_loss
from traindx.lab.edits.model import forward_of, in_sequence, kind, leaves
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source, dotted
from traindx.lab.edits.training import model_at

SOFT = ("Softmax", "Sigmoid")
CALLS = {"torch.softmax": "Softmax", "torch.nn.functional.softmax": "Softmax", "torch.sigmoid": "Sigmoid",
         "torch.nn.functional.sigmoid": "Sigmoid"}  # fmt: skip
WANTED = {("cross_entropy", "Softmax"): "cross_entropy", ("cross_entropy", "Sigmoid"): "cross_entropy",
          ("nll_loss", "Softmax"): "cross_entropy",
          ("binary_cross_entropy", "Sigmoid"): "binary_cross_entropy_with_logits",
          ("binary_cross_entropy_with_logits", "Sigmoid"): "binary_cross_entropy_with_logits"}  # fmt: skip
LARGEST = ("argmax", "topk", "max")


def edit(project: Project, _value: str) -> None:
    loss = training_loss(project)
    found = squashings(project)
    if not found and loss.kind in ("cross_entropy", "binary_cross_entropy_with_logits"):
        return
    if len(found) != 1:
        why = f"{len(found)} places could squash the model's output"
        raise loss.doubt("give the model's scores to the loss", why)
    source, node, what = found[0]
    wanted = WANTED.get((loss.kind, what))
    if wanted is None:
        raise loss.doubt("a loss that fits the output", f"{what} before {loss.kind}")
    readers(project, what)
    take_away(project, source, node, what)
    if wanted != loss.kind:
        replace_loss(project, loss.kind, wanted)


def squashings(project: Project) -> list[tuple[Source, cst.Call, str]]:
    """The calls and modules that squash the model's output: last in a sequence or a forward pass, or around
    the input of the loss."""
    found: list[tuple[Source, cst.Call, str]] = []
    for source in project.sources:
        for call in source.calls():
            made = kind(source, call)
            if made in SOFT and is_last(source, call):
                found.append((source, call, made))
            name = CALLS.get(source.name(call.func)) or method(call) or made_by_class(project, source, call)
            if name and (returned(source, call) or into_loss(project, source, call)):
                found.append((source, call, name))
    return found


def method(call: cst.Call) -> str:
    """ "Softmax" of `x.softmax(1)`; `self.softmax(x)` is a module's."""
    name = call.func.attr.value if isinstance(call.func, cst.Attribute) and not of_self(call) else ""
    return {"softmax": "Softmax", "sigmoid": "Sigmoid"}.get(name, "")


def made_by_class(project: Project, source: Source, call: cst.Call) -> str:
    """ "Softmax" of `self.out(x)` in a class that makes `self.out` one."""
    if not of_self(call):
        return ""
    home, value = resolve(project, source, call.func)
    made = kind(home, value) if isinstance(value, cst.Call) else ""
    return made if made in SOFT else ""


def of_self(call: cst.Call) -> bool:
    """Whether an object calls one of its members."""
    return (
        isinstance(call.func, cst.Attribute)
        and isinstance(call.func.value, cst.Name)
        and call.func.value.value == "self"
    )


def is_last(source: Source, call: cst.Call) -> bool:
    outer = in_sequence(source, call)
    return outer is not None and outer.args[-1].value is call and in_sequence(source, outer) is None


def returned(source: Source, call: cst.Call) -> bool:
    """Whether a forward pass returns the result as it is."""
    return forward_of(source, call) is not None and isinstance(source.parents.get(call), cst.Return)


def into_loss(project: Project, source: Source, call: cst.Call) -> bool:
    return any(one.source is source and one.input is call for one in losses(project))


def take_away(project: Project, source: Source, node: cst.Call, what: str) -> None:
    """Remove the squashing, and keep everything else."""
    outer = in_sequence(source, node)
    if outer is not None:
        place = [arg.value is node for arg in outer.args].index(True)
        source.change(outer, lambda call: without_place(call, place))
    else:
        bare = (
            isinstance(node.func, cst.Attribute)
            and source.name(node.func) not in CALLS
            and not of_self(node)
        )
        inner = node.func.value if bare and isinstance(node.func, cst.Attribute) else node.args[0].value
        source.change(node, lambda _: inner)
    project.say(source, source.line(node), f"removed: {what} ({source.code(node)})")


def without_place(call: cst.Call, place: int) -> cst.Call:
    args = [arg for i, arg in enumerate(call.args) if i != place]
    if args and place == len(call.args) - 1:
        last = call.args[-1]
        args[-1] = args[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    return call.with_changes(args=args)


def readers(project: Project, what: str) -> None:
    """Compare the output with 0 where it was compared with 0.5. Refuse whatever else reads probabilities."""
    if what != "Sigmoid":
        return
    for source in project.sources:
        for node in source.all(cst.Comparison):
            if len(node.comparisons) != 1 or source.code(node.comparisons[0].comparator) != "0.5":
                continue
            if reads_output(project, source, node.left):
                source.replace(node.comparisons[0].comparator, "0")
                project.say(source, source.line(node), f"{source.code(node)}: compared with 0")
            elif not any(name.startswith(("torch.rand", "random.")) for name in names_in(source, node.left)):
                raise source.doubt(
                    node,
                    "a comparison with 0, if so",
                    "cannot tell whether this reads the model's output",
                )
        for call in source.methods("round"):
            if isinstance(call.func, cst.Attribute) and reads_output(project, source, call.func.value):
                raise source.doubt(
                    call, "(output > 0) in place of round()", "rounding expects probabilities"
                )


def reads_output(project: Project, source: Source, node: cst.CSTNode) -> bool:
    """Whether an expression holds a call of the model, or a name that was assigned one."""
    parts = list(leaves(node))
    for name in [n for n in parts if isinstance(n, cst.Name)]:
        home, value = resolve(project, source, name)
        parts += list(leaves(value)) if home is source and value is not name else []
    calls = [one for one in parts if isinstance(one, cst.Call)]
    return any(
        dotted(one.func) == model_at(project, Found(source, one)) != ""
        for one in calls
        if one in source.parents
    )


def names_in(source: Source, node: cst.CSTNode) -> list[str]:
    return [source.name(one) for one in leaves(node) if isinstance(one, (cst.Name, cst.Attribute))]


KIND = Kind(edit=edit, interventions=("logits",), fixes=("feed-logits-to-loss", "match-output-to-loss"))
