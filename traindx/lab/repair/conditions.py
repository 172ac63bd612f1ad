"""Whether a run needs a repair, and whether interventions are possible."""

from collections.abc import Mapping, Sequence

from traindx.capture.experiment.applies import names_in
from traindx.capture.interventions import parse
from traindx.capture.interventions.kinds import Intervention
from traindx.causes.experiments import TRIED
from traindx.causes.experiments.belief import update_belief
from traindx.errors import ConfigError
from traindx.lab.repair.best_stop import ANY
from traindx.lab.repair.source import Source, outside_interventions
from traindx.reports.labels import FRAMEWORKS
from traindx.vocabulary import Fact, Hypothesis, Run, RunDiagnosis, Setup

CURES = {cause: interventions for cause, (_, interventions) in TRIED.items()}
# Belief in a cause, and in `healthy`, between which an apparently healthy run is tried all the same.
DOUBT, SURE = 0.2, 0.75
PLAUSIBLE = 0.03  # belief in a cause below which no experiment is made for it
# Changes that find nothing to do in a recording with these facts, and why.
CHECKED: Mapping[str, tuple[Mapping[str, Fact], str]] = {
    "zero_grad=each-step": ({"zero_grad_missing_steps": 0}, "the gradients are cleared before each backward pass"),
    "mode=train": ({"steps_in_eval_mode_share": 0}, "the model is in training mode in each step"),
    "unfreeze=all": ({"parameters_frozen": 0}, "no parameter is frozen"),
    "register=all": (
        {"parameters_without_optimizer": 0, "parameters_unregistered": 0}, "the optimizer holds every parameter",
    ),
    "logits=on": ({"loss_input_looks_like_probabilities": False}, "the loss gets no probabilities"),
    "loss=/accumulation": ({"backwards_per_step": 1}, "there is one backward pass for each step"),
    "data=shuffle": ({"shuffle": True}, "the data is shuffled"),
    "precision=float32": ({"precision": "float32", "parameter_dtype": "float32"}, "the precision is float32"),
}  # fmt: skip
OF_OPTIMIZERS = ("gradients", "settings", "step")  # stages of interventions that act on an optimizer
OF_LOADERS = ("batch", "data", "workers", "prefetch")  # changes of a DataLoader
# Losses of PyTorch whose targets are classes or probabilities, which have no scale of their own.
OF_CLASSES = ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")
# What shows that clipping (and a DataLoader) would have been seen in PyTorch, and what is recorded of clipping.
STEPS_SEEN, LIMITS = "zero_grad_checked_steps", ("clip_norm", "clip_value")
SETTINGS = ("weight_decay", "momentum", "dropout")  # of which the setup gives the value that is used


def is_fine(diagnosis: RunDiagnosis) -> bool:
    """Whether a diagnosis leaves nothing to repair."""
    first = diagnosis.hypotheses[0] if diagnosis.hypotheses else None
    return diagnosis.health == "healthy" or (
        first is not None and first.cause == "healthy" and first.probability > 0.5
    )


def suspects(hypotheses: Sequence[Hypothesis]) -> tuple[str, ...]:
    """The causes with a cure that are suspected, unless the run is almost certainly healthy."""
    if next((h.probability for h in hypotheses if h.cause == "healthy"), 0.0) >= SURE:
        return ()
    return tuple(h.cause for h in hypotheses if CURES.get(h.cause) and h.probability >= DOUBT)


def refusal(*specs: str, run: Run | None = None) -> str:
    """Why interventions are impossible (together, in the framework that trained a run), or ""."""
    try:
        given = parse(outside_interventions(specs))
    except ConfigError as error:
        return str(error).partition(": ")[2] or str(error)
    return "" if run is None else next(filter(None, (why_unsupported(one.kind, run) for one in given)), "")


def why_unsupported(kind: Intervention, run: Run) -> str:
    """Why an intervention cannot be made in the framework that trained, or "": no start is spent on it."""
    known, setup, name = names_in(run.framework or ""), run.setup, kind.name
    if known and name not in known:
        made_by = FRAMEWORKS.get(run.framework or "", run.framework)
        return f"not possible from outside in {made_by} trainings"
    if name in OF_LOADERS and setup.known(STEPS_SEEN) is not None and setup.known("sampler") is None:
        return "the script draws no batches from a DataLoader, it makes them itself"
    if run.framework == "torch" and setup.optimizer == "by hand" and kind.stage in OF_OPTIMIZERS:
        return "the script changes its parameters itself, without an optimizer"
    if name == "targets" and setup.word("loss_name") in OF_CLASSES:
        return f"the loss is {setup.word('loss_name')}, not a regression loss"
    made = setup.optimizer or setup.schedule or setup.number("lr")
    if run.framework == "jax" and name not in ("seed", "steps") and made is None:
        return "the script makes no optimizer of optax, which could be changed from outside"
    return ""


def why_idle(spec: str, setup: Setup, base: Sequence[str], source: Source | None) -> str:
    """Why an intervention would change nothing in a run with this setup, or "". `base`: those that are applied
    already, whose settings the setup does not show. Unknown is not absent: with several parameter groups the
    setup gives the value of the first alone, and functions of dropout are no modules."""
    name, _, value = spec.partition("=")
    if any(name == one.partition("=")[0] for one in base):
        return ""
    if name == "class_weights" and setup.number("future_effect") is not None:
        return "its classes are the next tokens, so weights would change what it learns to predict"
    facts, why = CHECKED.get(spec, ({}, ""))
    if why and all(setup.known(fact) == value for fact, value in facts.items()):
        return why
    scaled = value.startswith("*")
    if name == "clip" and (scaled or value == "off") and setup.known(STEPS_SEEN) is not None:
        return "" if any(setup.known(limit) is not None for limit in LIMITS) else "the script does not clip"
    if name == "dropout" and (scaled or value == "0") and setup.flag("has_dropout") is False:
        return "" if source is None or source.mentions("dropout") else "the model has no dropout"
    if name == "dropout" and not scaled and value != "0" and setup.number("depth") == 1:
        return "the model has no hidden layer, after which dropout could be"
    now = (
        setup.number(name) if name in SETTINGS and not (setup.number("parameter_groups") or 1) > 1 else None
    )
    if spec == ANY:
        return "its validation does not end worse than it was"
    if scaled and now == 0:
        return f"the {name} is 0, so there is nothing to scale"
    return f"the {name} is {now:g} already" if now is not None and not scaled and float(value) == now else ""


def without_idle(
    hypotheses: Sequence[Hypothesis], setup: Setup, source: Source | None
) -> tuple[Hypothesis, ...]:
    """The hypotheses, knowing which single changes would find nothing to do: what they cure is not there. The same
    as after starts with these changes, which are saved."""
    for way in dict.fromkeys(CURES.get(h.cause, ()) for h in hypotheses if h.probability >= PLAUSIBLE):
        if len(way) == 1 and why_idle(way[0], setup, (), source):
            cured = [h.cause for h in hypotheses if CURES.get(h.cause) == way]
            hypotheses = update_belief(hypotheses, cured, "idle", way[0], keep_health=True)
    return tuple(hypotheses)
