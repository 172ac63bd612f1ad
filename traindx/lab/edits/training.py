"""The parts of a training in its source: optimizers, schedules, steps, backward passes, loaders, the
model, and the loop of epochs with what is known at its end."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import libcst as cst

from traindx.lab.edits.follow import places_set, resolve
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import INSTANTIATE, Found, NotCertain, Source, dotted_name

OPTIMIZERS = "torch.optim."
SCHEDULES = ("torch.optim.lr_scheduler.", "transformers.get_", "transformers.optimization.get_")
LOADER, TENSORS = "torch.utils.data.DataLoader", "torch.utils.data.TensorDataset"
WRAPPERS = ("enumerate", "tqdm", "list", "iter", "tqdm.tqdm", "tqdm.auto.tqdm", "track")


def optimizers(project: Project) -> list[Found]:
    """The calls that make optimizers. Of several in the branches of one condition, only the recorded one."""
    calls = project.calls()
    found = [one for one in calls if is_optimizer(one.source.name(one.call.func))]
    recorded = project.place("optimizer")
    here = [
        one
        for one in calls
        if recorded and one.source is recorded[0] and one.source.covers(one.call, recorded[1])
    ]
    made = [one for one in here if one in found]
    if not made:
        return [*found, *(one for one in here if is_looked_up(project, one))]
    if len(made) != 1:
        return found
    return [one for one in found if one is made[0] or not alternatives(one, made[0])]


def is_looked_up(project: Project, made: Found) -> bool:
    """Whether the class that a call makes is looked up by name: `CLASSES[kind](...)`, `CLASSES.get(kind)(...)`,
    `getattr(optim, kind)(...)`."""
    source, what = resolve(project, made.source, made.call.func)
    if source.name(made.call.func) == f"hydra.utils.{INSTANTIATE}":
        return True
    named = isinstance(what, cst.Call) and dotted_name(what.func).rpartition(".")[2] in ("getattr", "get")
    return named or (isinstance(what, cst.Subscript) and source.code(what.value) not in ("", "self"))


def class_of(made: Found, write: str) -> str:
    """The class that a call makes ("SGD"). Raises NotCertain where it is looked up by name."""
    if not is_optimizer(made.source.name(made.call.func)):
        raise made.doubt(write, "the class of the optimizer is looked up by name")
    return made.kind


def is_optimizer(name: str) -> bool:
    rest = name.removeprefix(OPTIMIZERS)
    return name.startswith(OPTIMIZERS) and "." not in rest and rest[:1].isupper()


def alternatives(one: Found, other: Found) -> bool:
    """Whether two calls are in different branches of one condition, of which only one runs."""
    if one.source is not other.source:
        return False
    above = [a for a in one.source.ancestors(one.call) if isinstance(a, (cst.If, cst.IfExp))]
    return any(a in above for a in other.source.ancestors(other.call))


def schedules(project: Project) -> list[Found]:
    """The calls that make learning-rate schedules."""
    return [one for one in project.calls() if one.source.name(one.call.func).startswith(SCHEDULES)]


def steps(project: Project) -> list[Found]:
    """The calls that step an optimizer: `opt.step()`, `scaler.step(opt)`."""
    made = {one.target.rpartition(".")[2] for one in optimizers(project) if one.target}
    others = {one.target.rpartition(".")[2] for one in schedules(project)}
    found = []
    for one in project.methods("step"):
        call = one.call
        at = dotted_name(call.func.value).rpartition(".")[2] if isinstance(call.func, cst.Attribute) else ""
        inside = dotted_name(call.args[0].value).rpartition(".")[2] if len(call.args) == 1 else ""
        known = inside in made or (at in made and not inside)
        if at not in others and (known or was_recorded(project, one)):
            found.append(one)
    return found


def was_recorded(project: Project, step: Found) -> bool:
    """Whether the recording saw a step at this call."""
    place = project.place("step")
    return place is not None and place == (step.source, step.line)


def optimizer_of(step: Found) -> str:
    """The optimizer of a step, as written there."""
    code = step.source.code
    if step.call.args:
        return code(step.call.args[0].value)
    return code(step.call.func.value) if isinstance(step.call.func, cst.Attribute) else ""


def scaler_of(step: Found) -> str:
    """The gradient scaler of a step, "" without one."""
    with_scaler = step.call.args and isinstance(step.call.func, cst.Attribute)
    return step.source.code(step.call.func.value) if with_scaler else ""  # type: ignore[attr-defined]


def backwards(project: Project) -> list[Found]:
    """The backward passes."""
    return project.methods("backward")


def only_step(project: Project) -> Found:
    """The only step of the training. Raises NotCertain where there are several, or none."""
    found = steps(project)
    if len(found) != 1:
        why = f"there are {len(found)} calls of step()" if found else "no optimizer.step() was found"
        write = "the change goes next to the step of the optimizer that trains the model"
        raise found[0].doubt(write, why) if found else NotCertain(write, why)
    return found[0]


def only_backward(project: Project) -> Found:
    """The only backward pass. Raises NotCertain where there are several, or none."""
    found = backwards(project)
    if len(found) != 1:
        why = f"there are {len(found)} calls of backward()" if found else "no backward() was found"
        raise NotCertain(
            "the change goes next to the backward pass", why, found[0].source.path if found else ""
        )
    return found[0]


def model_at(project: Project, at: Found) -> str:
    """How the trained model can be written at a place, "" where that is not certain."""
    found = optimizers(project)
    for one in found[:1] if len(found) == 1 else ():
        params = one.argument("params", 0)
        if not (isinstance(params, cst.Call) and isinstance(params.func, cst.Attribute)):
            return ""
        if params.func.attr.value != "parameters" or params.args:
            return ""
        return expression_at(project, one, params.func.value, at)
    return ""


def expression_at(project: Project, made: Found, model: cst.BaseExpression, at: Found) -> str:
    """How an expression next to the optimizer is written at another place: by the same name where that means
    the same there, as an attribute of the object, or as the parameter that it is passed to."""
    name = dotted_name(model)
    same_class = made.source.owner(made.call) is at.source.owner(at.call)
    if name.startswith("self."):
        return name if same_class and made.source is at.source else ""
    if not isinstance(model, cst.Name) or (
        made.source is not at.source and at.source.function(at.call) is None
    ):
        return ""
    if made.source is at.source and visible(at.source, model, at.call):
        return name
    owner = at.source.owner(at.call)
    target = resolve(project, made.source, model)
    for attribute in at.source.all(cst.Attribute) if owner is not None else ():
        if dotted_name(attribute.value) == "self" and at.source.owner(attribute) is owner:
            given = places_set(at.source, owner, attribute.attr.value) if owner else []
            if len(given) == 1 and resolve(project, at.source, attribute)[1] is target[1]:
                return dotted_name(attribute)
    function = at.source.function(at.call)
    for param in function.params.params if function is not None else ():
        uses = [
            n
            for n in at.source.all(cst.Name)
            if n.value == param.name.value and at.source.function(n) is function
        ]
        if uses and resolve(project, at.source, uses[-1])[1] is target[1]:
            return param.name.value
    return ""


def visible(source: Source, name: cst.Name, at: cst.CSTNode) -> bool:
    """Whether a name means the same at another place of the file."""
    here, there = source.scopes.get(name), source.scopes.get(at)
    if here is None or there is None or name.value not in there or name.value not in here:
        return False
    return set(here[name.value]) == set(there[name.value])


def parameters_at(project: Project, at: Found) -> str:
    """The trained parameters, as an expression at the place of a step."""
    model = model_at(project, at)
    return (
        f"{model}.parameters()"
        if model
        else f'[p for g in {optimizer_of(at)}.param_groups for p in g["params"]]'
    )


def loaders(project: Project) -> list[Found]:
    return project.calls(LOADER)


def training_loaders(project: Project) -> list[Found]:
    """The loaders whose batches reach a backward pass. Where that cannot be followed, the only loader there
    is."""
    every = loaders(project)
    found: list[Found] = []
    for back in backwards(project):
        for loop in back.source.loops(back.call):
            if isinstance(loop, cst.For):
                source, node = resolve(project, back.source, unwrap_iterable(back.source, loop.iter))
                found += [
                    one for one in every if one.source is source and one.call is node and one not in found
                ]
    return found or (every if len(every) == 1 else [])


def unwrap_iterable(source: Source, node: cst.BaseExpression) -> cst.BaseExpression:
    """What is inside `enumerate`, a progress bar and the like."""
    while isinstance(node, cst.Call) and dotted_name(node.func).rpartition(".")[2] in WRAPPERS and node.args:
        node = node.args[0].value
    return node


HELD, MEAN = "val|valid|validation|test|eval|dev|v", "avg|mean|average|epoch|total|running"
VALIDATION = re.compile(
    rf"(({MEAN})_)?({HELD})_?loss(_({MEAN}))?|(({MEAN})_)?loss_?({HELD})|({HELD})_({MEAN})_loss",
    re.IGNORECASE,
)
SCORE = re.compile(
    rf"(({MEAN})_)?({HELD})_?(acc|accuracy|f1|auc|iou|dice|r2)|(acc|accuracy|f1|auc)_?({HELD})",
    re.IGNORECASE,
)
UNKNOWN = (
    "the change goes after the validation of each epoch",
    "cannot tell which name holds the validation loss",
)
LABEL = re.compile(
    r"([A-Za-z][A-Za-z _./-]*?)\s*[:=]?\s*$"
)  # the words in front of a number that is printed


class Measured(NamedTuple):
    """What a validation gives at the end of an epoch, as code, whether it should be high, and where it is."""

    code: str
    higher: bool
    at: cst.CSTNode


def epochs(project: Project) -> tuple[Source, cst.For]:
    """The outermost loop of the training. Where the loop of batches is in a separate function, the loop that
    calls it. Raises NotCertain where there is not exactly one."""
    found: list[tuple[Source, cst.For]] = []
    for back in backwards(project):
        loops = [one for one in back.source.loops(back.call) if isinstance(one, cst.For)]
        function = back.source.function(back.call)
        outer = called_in_loop(project, function.name.value) if function is not None else None
        if outer is not None:
            found.append(outer)
        elif loops:
            found.append((back.source, loops[-1]))
    if len({id(loop) for _, loop in found}) != 1:
        raise project.doubt("the change goes to the loop of epochs", "cannot tell which loop that is")
    return found[0]


def only_call(project: Project, name: str) -> Found | None:
    """The only call of a function, None where there are several or none."""
    calls = [one for one in project.calls() if dotted_name(one.call.func).rpartition(".")[2] == name]
    plain = [
        one for one in calls if dotted_name(one.call.func) in (name, f"self.{name}")
    ]  # `step()`, not `opt.step()`
    found = plain or calls
    return found[0] if len(found) == 1 else None


def called_in_loop(project: Project, name: str) -> tuple[Source, cst.For] | None:
    """The outermost loop around the only call of a function."""
    found = only_call(project, name)
    loops = [one for one in found.source.loops(found.call) if isinstance(one, cst.For)] if found else []
    return (found.source, loops[-1]) if found and loops else None


def validation_loss(source: Source, loop: cst.For) -> tuple[str, cst.BaseSmallStatement]:
    """The name that holds the validation loss at the end of an epoch, and the statement that assigns it.
    Raises NotCertain where there is not one."""
    found = {code: at for name, code, at in assigned_names(source, loop) if VALIDATION.fullmatch(name)}
    if len(found) != 1:
        raise source.doubt(loop, *UNKNOWN)
    return next(iter(found.items()))


def validation(source: Source, loop: cst.For) -> Measured:
    """The validation loss, or else a score, that an epoch assigns to a name or prints under one. Raises
    NotCertain where there is none."""
    found = [*assigned_names(source, loop), *printed_expressions(source, loop)]
    for pattern in (VALIDATION, SCORE):
        named = [(code, at) for name, code, at in found if pattern.fullmatch(name)]
        if named:
            return Measured(named[-1][0], pattern is SCORE, named[-1][1])
    raise source.doubt(loop, *UNKNOWN)


def assigned_names(source: Source, loop: cst.For) -> Iterator[tuple[str, str, cst.BaseSmallStatement]]:
    """The names that an epoch assigns in the body of its loop: name, code, statement."""
    for line in loop.body.body:
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        inner = [small] if small is not None else smalls(line) if isinstance(line, cst.With) else []
        for one in inner:
            targets = [t.target for t in one.targets] if isinstance(one, cst.Assign) else []
            targets += [one.target] if isinstance(one, cst.AugAssign) else []
            for target in targets:
                parts = [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]
                yield from (
                    (dotted_name(p).rpartition(".")[2], dotted_name(p), one) for p in parts if dotted_name(p)
                )


def printed_expressions(source: Source, loop: cst.For) -> Iterator[tuple[str, str, cst.CSTNode]]:
    """The expressions that an epoch writes after a label into a text, in the body of its loop."""
    for text in source.all(cst.FormattedString):
        if source.loops(text)[:1] != [loop]:
            continue
        for before, part in pairwise(text.parts):
            if isinstance(before, cst.FormattedStringText) and isinstance(
                part, cst.FormattedStringExpression
            ):
                label = LABEL.search(before.value)
                if label is not None:
                    yield re.sub(r"[ ./-]+", "_", label[1].strip()), source.code(part.expression), text


def smalls(block: cst.With) -> list[cst.BaseSmallStatement]:
    return [line.body[0] for line in block.body.body if isinstance(line, cst.SimpleStatementLine)]
