"""The parts of a training in its source: optimizers, schedules, steps, backward passes, loaders, the model."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from traindx.lab.edits.follow import behind, own
from traindx.lab.edits.project import NotCertain, Project
from traindx.lab.edits.source import Source, argument, dotted

OPTIMIZERS = "torch.optim."
SCHEDULES = ("torch.optim.lr_scheduler.", "transformers.get_", "transformers.optimization.get_")
LOADER = "torch.utils.data.DataLoader"
WRAPPERS = ("enumerate", "tqdm", "list", "iter", "tqdm.tqdm", "tqdm.auto.tqdm", "track")


class Found(NamedTuple):
    """A call and the file that it stands in."""

    source: Source
    call: cst.Call

    @property
    def line(self) -> int:
        return self.source.line(self.call)

    @property
    def kind(self) -> str:
        """ "SGD" of `torch.optim.SGD(...)`."""
        return self.source.name(self.call.func).rpartition(".")[2]

    @property
    def target(self) -> str:
        """ "self.optim" where the call is assigned to that; "" where it is not assigned."""
        parent = self.source.parents.get(self.call)
        if not isinstance(parent, (cst.Assign, cst.AnnAssign)):
            return ""
        return dotted(parent.targets[0].target if isinstance(parent, cst.Assign) else parent.target)

    @property
    def small(self) -> cst.BaseSmallStatement:
        small = self.source.small(self.call)
        if small is None:
            raise NotCertain(
                "(nothing)", "the call is no part of a simple statement", self.source.path, self.line
            )
        return small

    def given(self, name: str, place: int | None = None) -> cst.BaseExpression | None:
        arg = argument(self.call, name, place)
        return arg.value if arg is not None else None


def optimizers(project: Project) -> list[Found]:
    """The calls that make optimizers; of those in the branches of one condition, the one that was recorded."""
    found = [
        Found(source, call)
        for source in project.sources
        for call in source.calls()
        if is_optimizer(source.name(call.func))
    ]
    told = project.place("optimizer")
    made = [one for one in found if told and one.source is told[0] and one.source.covers(one.call, told[1])]
    if len(made) != 1:
        return found
    return [one for one in found if one is made[0] or not alternatives(one, made[0])]


def is_optimizer(name: str) -> bool:
    rest = name.removeprefix(OPTIMIZERS)
    return name.startswith(OPTIMIZERS) and "." not in rest and rest[:1].isupper()


def alternatives(one: Found, other: Found) -> bool:
    """Whether two calls stand in branches of one condition, of which one is taken."""
    if one.source is not other.source:
        return False
    above = [a for a in one.source.ancestors(one.call) if isinstance(a, (cst.If, cst.IfExp))]
    return any(a in above for a in other.source.ancestors(other.call))


def schedules(project: Project) -> list[Found]:
    """The calls that make learning-rate schedules."""
    return [
        Found(source, call)
        for source in project.sources
        for call in source.calls()
        if source.name(call.func).startswith(SCHEDULES)
    ]


def steps(project: Project) -> list[Found]:
    """The calls that step an optimizer: `opt.step()`, `scaler.step(opt)`."""
    made = {one.target.rpartition(".")[2] for one in optimizers(project) if one.target}
    others = {one.target.rpartition(".")[2] for one in schedules(project)}
    found = []
    for source in project.sources:
        for call in source.methods("step"):
            at = dotted(call.func.value).rpartition(".")[2] if isinstance(call.func, cst.Attribute) else ""
            inside = dotted(call.args[0].value).rpartition(".")[2] if len(call.args) == 1 else ""
            if at not in others and (
                inside in made or (at in made and not inside) or told(project, source, call)
            ):
                found.append(Found(source, call))
    return found


def told(project: Project, source: Source, call: cst.Call) -> bool:
    """Whether the recording saw a step there."""
    place = project.place("step")
    return place is not None and place[0] is source and source.line(call) == place[1]


def optimizer_of(step: Found) -> str:
    """The optimizer of a step, as it is written there."""
    code = step.source.code
    if step.call.args:
        return code(step.call.args[0].value)
    return code(step.call.func.value) if isinstance(step.call.func, cst.Attribute) else ""


def scaler_of(step: Found) -> str:
    """The gradient scaler of a step; "" where there is none."""
    with_scaler = step.call.args and isinstance(step.call.func, cst.Attribute)
    return step.source.code(step.call.func.value) if with_scaler else ""  # type: ignore[attr-defined]


def backwards(project: Project) -> list[Found]:
    """The backward passes."""
    return [Found(source, call) for source in project.sources for call in source.methods("backward")]


def the_step(project: Project) -> Found:
    """The only step of the training. Raises NotCertain where there are several, or none."""
    found = steps(project)
    if len(found) != 1:
        why = "no optimizer.step() was found" if not found else f"there are {len(found)} calls of step()"
        first = found[0] if found else None
        raise NotCertain(
            "the change goes beside the step of the optimizer that trains the model", why,
            first.source.path if first else "", first.line if first else 0,
        )  # fmt: skip
    return found[0]


def the_backward(project: Project) -> Found:
    """The only backward pass. Raises NotCertain where there are several, or none."""
    found = backwards(project)
    if len(found) != 1:
        why = "no backward() was found" if not found else f"there are {len(found)} calls of backward()"
        raise NotCertain(
            "the change goes beside the backward pass", why, found[0].source.path if found else ""
        )
    return found[0]


def model_at(project: Project, at: Found) -> str:
    """The trained model as it can be written at a place; "" where that is not certain."""
    found = optimizers(project)
    for one in found[:1] if len(found) == 1 else ():
        params = one.given("params", 0)
        if not (isinstance(params, cst.Call) and isinstance(params.func, cst.Attribute)):
            return ""
        if params.func.attr.value != "parameters" or params.args:
            return ""
        return reached(project, one, params.func.value, at)
    return ""


def reached(project: Project, made: Found, model: cst.BaseExpression, at: Found) -> str:
    """What an expression beside the optimizer is called at another place: the same name, where it means the same
    there, an attribute of the object, or the parameter that it is given to."""
    name = dotted(model)
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
    target = behind(project, made.source, model)
    for attribute in at.source.all(cst.Attribute) if owner is not None else ():
        if dotted(attribute.value) == "self" and at.source.owner(attribute) is owner:
            given = own(at.source, owner, attribute.attr.value) if owner else []
            if len(given) == 1 and behind(project, at.source, attribute)[1] is target[1]:
                return dotted(attribute)
    function = at.source.function(at.call)
    for param in function.params.params if function is not None else ():
        uses = [
            n
            for n in at.source.all(cst.Name)
            if n.value == param.name.value and at.source.function(n) is function
        ]
        if uses and behind(project, at.source, uses[-1])[1] is target[1]:
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
    return [Found(source, call) for source in project.sources for call in source.calls(LOADER)]


def training_loaders(project: Project) -> list[Found]:
    """The loaders whose batches go into a backward pass; where that cannot be followed, the only loader there is."""
    every = loaders(project)
    found: list[Found] = []
    for back in backwards(project):
        for loop in back.source.loops(back.call):
            if isinstance(loop, cst.For):
                source, node = behind(project, back.source, unwrapped(back.source, loop.iter))
                found += [
                    one for one in every if one.source is source and one.call is node and one not in found
                ]
    return found or (every if len(every) == 1 else [])


def unwrapped(source: Source, node: cst.BaseExpression) -> cst.BaseExpression:
    """What `enumerate`, a progress bar and the like go through."""
    while isinstance(node, cst.Call) and dotted(node.func).rpartition(".")[2] in WRAPPERS and node.args:
        node = node.args[0].value
    return node
