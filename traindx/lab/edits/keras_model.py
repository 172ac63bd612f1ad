"""A Keras model in its source: its last activation, and the loss that `compile` is given."""

import math

import libcst as cst

from traindx.lab.edits.outputs import OF_VALUES
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, argument, without_argument

LAYERS = {"Dense": ("activation", 1), "Activation": ("activation", 0)}
RANGES = {"softmax": (0.0, 1.0), "sigmoid": (0.0, 1.0), "relu": (0.0, math.inf), "tanh": (-1.0, 1.0)}


def is_keras(project: Project) -> bool:
    """Whether the script compiles a Keras model."""
    return bool(compile_calls(project)) and bool(layers(project))


def compile_calls(project: Project) -> list[Found]:
    """The calls of `compile` with a loss."""
    found = project.methods("compile")
    return [one for one in found if one.argument("loss", 1) is not None]


def fits(project: Project) -> list[Found]:
    """The calls of `fit`."""
    return project.methods("fit")


def layers(project: Project) -> list[Found]:
    """The dense layers and activations, in the order of the text."""
    endings = tuple(f"keras.layers.{name}" for name in LAYERS)
    return [one for one in project.calls() if one.source.name(one.call.func).endswith(endings)]


def word(node: cst.CSTNode | None) -> str:
    """The text of a string literal, "" of anything else."""
    return str(node.evaluated_value) if isinstance(node, cst.SimpleString) else ""


def match_output(project: Project) -> None:
    """Give the last layer the activation that fits the loss and the targets. Raises NotCertain."""
    last = layers(project)[-1]
    given = last.argument(*LAYERS[last.kind])
    now = str(project.facts.get("outputs_last_activation", "")) or "linear"
    wanted = fitting_activation(project)
    write = f"{last.kind}(..., activation={wanted or 'one that fits the loss'})"
    if not wanted:
        raise last.doubt(write, "cannot tell what fits the loss and the targets")
    if (word(given) or "linear") == wanted:
        return
    # A cross-entropy of probabilities cuts linear outputs off at 0, so they are recorded as those of a ReLU.
    fits = {now, "linear"} if (now, wanted) == ("relu", "softmax") else {now}
    if (given is not None and not word(given)) or (word(given) or "linear") not in fits:
        raise last.doubt(write, f"the source does not show that {now} is the activation of this layer")
    says = f"the last activation: {word(given) or 'linear'} becomes {wanted}"
    if wanted == "linear" and (arg := argument(last.call, "activation")) is not None and arg.keyword:
        last.source.change(last.call, lambda call: without_argument(call, "activation"), says)
    else:
        last.source.set_argument(last.call, "activation", f'"{wanted}"', says, LAYERS[last.kind][1])


def fitting_activation(project: Project) -> str:
    """The last activation for the recorded loss, targets and outputs; "" where that is not certain."""
    loss, width = project.facts.get("loss"), project.number("outputs_width")
    now = str(project.facts.get("outputs_last_activation", "")) or "linear"
    low, high = project.number("targets_min"), project.number("targets_max")
    if any("from_logits" in one.source.code(one.call) for one in compile_calls(project)):
        return "linear"
    if loss in OF_VALUES and now in RANGES and low is not None and high is not None:
        return "linear" if low < RANGES[now][0] or high > RANGES[now][1] else ""
    if loss == "binary_cross_entropy" and width == 1:
        return "sigmoid"
    return "softmax" if loss == "cross_entropy" and (width or 0) > 1 else ""


def match_loss(project: Project) -> None:
    """Give `compile` the loss that fits classes behind a softmax or a sigmoid. Raises NotCertain."""
    (call, *others) = compile_calls(project)
    node, wanted = call.argument("loss", 1), fitting_loss(project)
    if others or not wanted or not word(node):
        why = "cannot tell which loss fits the output and the targets"
        raise call.doubt(f"compile(..., loss={wanted or 'one that fits the targets'})", why)
    if node is not None and word(node) != wanted:
        call.source.replace(node, f'"{wanted}"', f"the loss: {word(node)} becomes {wanted}", at=call.call)


def fitting_loss(project: Project) -> str:
    """The loss for the recorded targets and last activation; "" where that is not certain."""
    facts, width = project.facts, project.number("outputs_width") or 0
    last, shape = facts.get("outputs_last_activation"), str(facts.get("targets_shape", "?"))
    whole, binary = bool(facts.get("targets_whole")), bool(facts.get("targets_binary"))
    if last == "sigmoid" and width == 1 and binary:
        return "binary_crossentropy"
    if last != "softmax" or width < 2 or not whole:
        return ""
    if shape == f"{width:g}" and binary:
        return "categorical_crossentropy"
    return "sparse_categorical_crossentropy" if shape in ("", "1") else ""
