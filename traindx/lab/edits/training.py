"""The parts of a training in its source: optimizers, schedules, steps, backward passes, loaders, the
model."""

from __future__ import annotations

import libcst as cst

from traindx.lab.edits.follow import places_set, resolve
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, NotCertain, Source, dotted

OPTIMIZERS = "torch.optim."
SCHEDULES = ("torch.optim.lr_scheduler.", "transformers.get_", "transformers.optimization.get_")
LOADER, TENSORS = "torch.utils.data.DataLoader", "torch.utils.data.TensorDataset"
WRAPPERS = ("enumerate", "tqdm", "list", "iter", "tqdm.tqdm", "tqdm.auto.tqdm", "track")


def optimizers(project: Project) -> list[Found]:
    """The calls that make optimizers. Of several in the branches of one condition, only the recorded one."""
    calls = [Found(source, call) for source in project.sources for call in source.calls()]
    found = [one for one in calls if is_optimizer(one.source.name(one.call.func))]
    recorded = project.place("optimizer")
    made = [
        one
        for one in found
        if recorded and one.source is recorded[0] and one.source.covers(one.call, recorded[1])
    ]
    if len(made) != 1:
        return found
    return [one for one in found if one is made[0] or not alternatives(one, made[0])]


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
                inside in made or (at in made and not inside) or was_recorded(project, source, call)
            ):
                found.append(Found(source, call))
    return found


def was_recorded(project: Project, source: Source, call: cst.Call) -> bool:
    """Whether the recording saw a step at this call."""
    place = project.place("step")
    return place is not None and place[0] is source and source.line(call) == place[1]


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
    return [Found(source, call) for source in project.sources for call in source.methods("backward")]


def the_step(project: Project) -> Found:
    """The only step of the training. Raises NotCertain where there are several, or none."""
    found = steps(project)
    if len(found) != 1:
        why = f"there are {len(found)} calls of step()" if found else "no optimizer.step() was found"
        write = "the change goes next to the step of the optimizer that trains the model"
        raise found[0].doubt(write, why) if found else NotCertain(write, why)
    return found[0]


def the_backward(project: Project) -> Found:
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
        params = one.given("params", 0)
        if not (isinstance(params, cst.Call) and isinstance(params.func, cst.Attribute)):
            return ""
        if params.func.attr.value != "parameters" or params.args:
            return ""
        return reached(project, one, params.func.value, at)
    return ""


def reached(project: Project, made: Found, model: cst.BaseExpression, at: Found) -> str:
    """How an expression next to the optimizer is written at another place: by the same name where that means
    the same there, as an attribute of the object, or as the parameter that it is passed to."""
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
    target = resolve(project, made.source, model)
    for attribute in at.source.all(cst.Attribute) if owner is not None else ():
        if dotted(attribute.value) == "self" and at.source.owner(attribute) is owner:
            given = places_set(at.source, owner, attribute.attr.value) if owner else []
            if len(given) == 1 and resolve(project, at.source, attribute)[1] is target[1]:
                return dotted(attribute)
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
    return [Found(source, call) for source in project.sources for call in source.calls(LOADER)]


def training_loaders(project: Project) -> list[Found]:
    """The loaders whose batches reach a backward pass. Where that cannot be followed, the only loader there
    is."""
    every = loaders(project)
    found: list[Found] = []
    for back in backwards(project):
        for loop in back.source.loops(back.call):
            if isinstance(loop, cst.For):
                source, node = resolve(project, back.source, unwrapped(back.source, loop.iter))
                found += [
                    one for one in every if one.source is source and one.call is node and one not in found
                ]
    return found or (every if len(every) == 1 else [])


def unwrapped(source: Source, node: cst.BaseExpression) -> cst.BaseExpression:
    """What is inside `enumerate`, a progress bar and the like."""
    while isinstance(node, cst.Call) and dotted(node.func).rpartition(".")[2] in WRAPPERS and node.args:
        node = node.args[0].value
    return node
