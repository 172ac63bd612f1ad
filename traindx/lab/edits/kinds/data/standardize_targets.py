"""`targets=standardize`: a regression model predicts in standard units, and its last step turns them into the
units of the targets (fix `normalize-targets`).

The mean and the standard deviation are written into the source as numbers, so a saved model needs nothing else.
Every printed loss and metric keeps its unit. In PyTorch the loss is divided before the backward pass, so that
gradients are those in standard units."""

from collections.abc import Sequence
from typing import TypeVar

from traindx.lab.edits.api import (
    OF_VALUES,
    Found,
    Project,
    Source,
    cst,
    dotted_name,
    is_keras,
    model_at,
    only_backward,
    optimizers,
    resolve,
    training_loss,
    writes,
)
from traindx.lab.edits.keras_model import layers
from traindx.lab.edits.model import SEQUENTIAL

MEAN, STD, RESCALE = "target_mean", "target_std", "Rescale"
WRITE = "output * std + mean at the end of the model"
POWERS = {"mse_loss": " ** 2", "l1_loss": ""}  # of the deviation, by which the loss is divided
Part = TypeVar("Part", cst.Arg, cst.Element)
ADAPTIVE = ("adam", "rmsprop", "adagrad", "adadelta")


@writes("targets", fixes=("normalize-targets",))
def standardize_targets(project: Project, _value: str) -> None:
    mean, std = statistics(project)
    if is_keras(project):
        return rescale_keras(project, mean, std)
    loss, back = training_loss(project), only_backward(project)
    source, power = back.source, POWERS.get(loss.kind)
    if any(RESCALE in one.text or MEAN in one.text for one in project.sources):
        return None
    if power is None or not isinstance(back.call.func, cst.Attribute):
        raise loss.doubt(WRITE, f"the gradient of {loss.kind} does not scale with the targets")
    convert_to_units(project, model_of(project, back), mean, std)
    scaled = f"({source.code(back.call.func.value)} / {number(std)}{power})"
    says = "gradients are those of the loss in standard units"
    source.replace(back.call.func.value, scaled, says, at=back.call)
    return None


def statistics(project: Project) -> tuple[float, float]:
    """The mean and the standard deviation of the targets, as recorded. Raises NotCertain."""
    std, size = project.number("targets_std_max"), project.number("targets_mean_abs")
    low, high = project.number("targets_min"), project.number("targets_max")
    if not std or size is None or low is None or high is None or (project.number("outputs_width") or 1) > 1:
        raise project.doubt(WRITE, "the scale of the targets is unknown, or differs between columns")
    sign = -1.0 if low + high < 0 else 1.0  # only the size of the mean is recorded
    return (sign * size if low * high >= 0 or size < std else 0.0), std


def number(value: float) -> str:
    return f"{value:.4g}"


def model_of(project: Project, back: Found) -> Found:
    """The call that makes the model: a sequence, or a class of the project. Raises NotCertain."""
    made = optimizers(project)
    params = made[0].argument("params", 0) if len(made) == 1 else None
    if isinstance(params, cst.Call) and isinstance(params.func, cst.Attribute):
        home, node = resolve(project, made[0].source, params.func.value)
        while (
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Attribute)
            and node.func.attr.value == "to"
        ):
            home, node = resolve(project, home, node.func.value)  # Net().to(device)
        if isinstance(node, cst.Call):
            return Found(home, node)
    raise back.doubt(WRITE, f"cannot tell where {model_at(project, back) or 'the model'} is made")


def convert_to_units(project: Project, made: Found, mean: float, std: float) -> None:
    """Turn what the model returns into the units of the targets. Raises NotCertain."""
    source, units = made.source, f"{MEAN}, {STD} = {number(mean)}, {number(std)}"
    if source.name(made.call.func) == SEQUENTIAL and made.call.args:
        home = source.how_written("torch.nn.Module", "torch.nn", "torch")
        forward = f"    def forward(self, x):\n        return x * {STD} + {MEAN}\n"
        source.insert_before(made.small, units, f"class {RESCALE}({home}):\n{forward}")
        new = made.call.args[-1].with_changes(value=cst.parse_expression(f"{RESCALE}()"))
        source.change(made.call, lambda call: call.with_changes(args=add_part(call.args, new)))
    else:
        within, result = returned_output(project, made)
        within.insert_before(within.owner(result) or result, units)
        code = within.code(result)
        within.replace(
            result, f"{code if isinstance(result, (cst.Call, cst.Name)) else f'({code})'} * {STD} + {MEAN}"
        )
    project.say(source, made.line, f"the model returns output * {number(std)} + {number(mean)}")


def add_part(parts: Sequence[Part], new: Part) -> list[Part]:
    """The arguments of a call, or the elements of a list, with one more, formatted like the existing ones."""
    *first, last = parts
    between = first[-1].comma if first else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    end = last.comma
    own, after = (getattr(one, "whitespace_after", None) for one in (between, end))
    if isinstance(own, cst.ParenthesizedWhitespace) and isinstance(after, cst.ParenthesizedWhitespace):
        # A comment behind the last part stays there.
        between = cst.Comma(whitespace_after=own.with_changes(first_line=after.first_line))
        end = cst.Comma(whitespace_after=after.with_changes(first_line=cst.TrailingWhitespace()))
    return [*first, last.with_changes(comma=between), new.with_changes(comma=end)]


def returned_output(project: Project, made: Found) -> tuple[Source, cst.BaseExpression]:
    """The only thing that the forward pass of the model's class returns. Raises NotCertain."""
    name = dotted_name(made.call.func).rpartition(".")[2]
    for source in project.sources:
        ends = [
            one.value
            for one in source.all(cst.Return)
            if (owner := source.owner(one)) is not None
            and owner.name.value == name
            and (within := source.function(one)) is not None
            and within.name.value == "forward"
        ]
        if len(ends) == 1 and ends[0] is not None and not isinstance(ends[0], cst.Tuple):
            return source, ends[0]
    raise made.doubt(WRITE, "cannot tell what the model returns")


def rescale_keras(project: Project, mean: float, std: float) -> None:
    """A `Rescaling` layer after the last one. Raises NotCertain."""
    last = layers(project)[-1]
    source, call = last.source, last.call
    if any("Rescaling" in one.text for one in project.sources):
        return
    optimizer = str(project.facts.get("optimizer", "")).lower()
    if not any(word in optimizer for word in ADAPTIVE) or project.facts.get("loss") not in OF_VALUES:
        raise last.doubt(WRITE, "the gradients of this optimizer would grow with the targets")
    home, _, _ = source.name(call.func).rpartition(".")
    maker = (
        f"{source.code(call.func.value)}.Rescaling" if isinstance(call.func, cst.Attribute) else "Rescaling"
    )
    new, outer = f"{maker}({number(std)}, {number(mean)})", source.parents[call]
    if maker == "Rescaling":
        source.insert_before(last.small, f"from {home} import Rescaling")
    if isinstance(outer, cst.Call):  # Dense(1)(x)
        source.replace(outer, f"{new}({source.code(outer)})")
    elif isinstance(outer, cst.Element):  # Sequential([..., Dense(1)])
        group, place = source.parents[outer], cst.Element(cst.parse_expression(new))
        if isinstance(group, cst.List):
            source.change(group, lambda found: found.with_changes(elements=add_part(found.elements, place)))
    elif isinstance(outer, cst.Arg) and isinstance(last.small, cst.Expr):  # model.add(Dense(1))
        source.insert_after(last.small, source.code(last.small).replace(source.code(call), new))
    else:
        raise last.doubt(new, "the last layer is part of a larger expression")
    project.say(source, last.line, f"the model returns output * {number(std)} + {number(mean)}")
