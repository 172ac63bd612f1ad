"""optax in its source: the calls that make an optimizer, and the changes that interventions make in JAX, as code."""

import math
from functools import partial
from typing import Any

import libcst as cst

from traindx.capture.interventions.values import Change
from traindx.lab.edits.follow import resolve
from traindx.lab.edits.origins import certain_value, words_of, write_value
from traindx.lab.edits.project import Project
from traindx.lab.edits.source import Found, Source, with_argument, without_argument

ADAMS = ("adam", "adamw", "nadam", "nadamw", "radam", "adamax", "adabelief", "lamb", "lion")
OPTIMIZERS = (*ADAMS, "sgd", "rmsprop", "adagrad", "adadelta", "yogi", "novograd", "noisy_sgd", "lars")
DECAYED = {"adam": "adamw", "nadam": "nadamw"}
# Weight decay that an optimizer has of its own, with its default.
DECAYS = {"adamw": 1e-4, "nadamw": 1e-4, "lamb": 0.0, "lion": 1e-3}
PLACES = {("sgd", "momentum"): 1, ("rmsprop", "eps"): 2, **{(kind, "b1"): 1 for kind in ADAMS},
          **{(kind, "b2"): 2 for kind in ADAMS}, **{(kind, "eps"): 3 for kind in ADAMS if kind != "lion"}}  # fmt: skip
MOVED = ("sgd", "rmsprop", "noisy_sgd", "lars")
# The rates of schedules, the highest first.
RATES = {"constant_schedule": (("value", 0),), "cosine_decay_schedule": (("init_value", 0),),
         "exponential_decay": (("init_value", 0), ("end_value", None)),
         "linear_schedule": (("end_value", 1), ("init_value", 0)),
         "polynomial_schedule": (("init_value", 0), ("end_value", 1)),
         "piecewise_constant_schedule": (("init_value", 0),),
         "warmup_constant_schedule": (("peak_value", 1), ("init_value", 0)),
         "warmup_cosine_decay_schedule": (("peak_value", 1), ("end_value", 4), ("init_value", 0)),
         "warmup_exponential_decay_schedule": (("peak_value", 1), ("init_value", 0), ("end_value", None)),
         "cosine_onecycle_schedule": (("peak_value", 1),), "linear_onecycle_schedule": (("peak_value", 1),)}  # fmt: skip
KERAS = "keras.optimizers."
FALLING = ("ExponentialDecay", "CosineDecay", "CosineDecayRestarts", "PolynomialDecay", "InverseTimeDecay")
KERAS_RATES = dict.fromkeys(FALLING, (("initial_learning_rate", 0), ("warmup_target", None)))
CLIPS = ("clip_by_global_norm", "clip", "clip_by_block_rms")


def calls_of(project: Project, *kinds: str) -> list[Found]:
    """The calls of these functions of optax."""
    return project.calls(*(f"optax.{kind}" for kind in kinds))


def optax_made(project: Project) -> list[Found]:
    """The calls that make optimizers of optax."""
    return calls_of(project, *OPTIMIZERS)


def optax_rates(project: Project) -> list[tuple[Source, cst.CSTNode]]:
    """The expressions that set rates: numbers that optimizers get, and those of their schedules."""
    found: list[tuple[Source, cst.CSTNode]] = []
    for one in [*calls_of(project, *OPTIMIZERS, "scale_by_learning_rate"), *injected_calls(project)]:
        rate = one.argument("learning_rate", 0)
        if rate is not None and not is_schedule(project, one.source, rate):
            found.append((one.source, rate))
    for one in calls_of(project, *RATES):
        given = (one.argument(name, place) for name, place in RATES[one.kind])
        found += [(one.source, rate) for rate in given if rate is not None]
    return found


def injected_calls(project: Project) -> list[Found]:
    """The calls of what `inject_hyperparams(...)` returns."""
    made = {one.call for one in calls_of(project, "inject_hyperparams")}
    return [one for one in project.calls() if one.call.func in made]


def is_schedule(project: Project, source: Source, rate: cst.CSTNode) -> bool:
    """Whether a rate is a schedule that optax makes; its numbers are where it is made."""
    home, made = resolve(project, source, rate)
    name = home.name(made.func) if isinstance(made, cst.Call) else ""
    return name.startswith("optax.") and name.removeprefix("optax.") in (*RATES, "join_schedules")


def constant_rate(project: Project) -> None:
    """The highest rate of each schedule of optax or Keras, where an optimizer gets the schedule."""
    changed = False
    for one in [*optax_made(project), *keras_made(project)]:
        rate = one.argument("learning_rate", 0)
        home, made = resolve(project, one.source, rate) if rate is not None else (one.source, one.call.func)
        if rate is None or not isinstance(made, cst.Call):
            continue
        plan, wish, recorded = Found(home, made), "a constant learning rate", project.number("lr")
        nodes = [plan.argument(*place) for place in (RATES | KERAS_RATES).get(plan.kind, ())]
        peaks = [
            (certain_value(project, home, node, wish, one.call).value, home.code(node))
            for node in nodes
            if node
        ]
        highest, code = max(peaks, default=(None, ""))
        if highest is None or (recorded is not None and abs(highest - recorded) > 1e-6 * recorded):
            raise one.doubt(wish, f"cannot tell the highest rate of {home.code(made.func)}")
        seen = home is one.source and home.function(made) in (None, home.function(one.call))
        code = code if seen else words_of(float(highest))
        one.source.replace(rate, code, f"{one.kind}: {code} in each step", at=one.call)
        changed = True
    if not changed:
        raise project.doubt("a constant learning rate", "no schedule was found")


def keras_made(project: Project) -> list[Found]:
    """The calls that make optimizers of Keras."""
    calls = [Found(source, call) for source in project.sources for call in source.calls()]
    names = [(one, one.source.name(one.call.func)) for one in calls]
    return [one for one, name in names if KERAS in name and ".schedules." not in name]


def wrap(one: Found, code: str) -> None:
    """Write `code`, with `{optax}` and `{call}` in it, in place of the call. Changes nothing where it is there."""
    optax = one.source.how_written("optax", "optax")
    if not optax:
        raise one.doubt(code, "optax is not imported by its name in this file")
    new = code.format(optax=optax, call=one.source.code(one.call))
    outer = one.source.parents.get(one.source.parents.get(one.call, one.call))
    if outer is None or one.source.code(outer).replace(" ", "") != new.replace(" ", ""):
        one.source.replace(one.call, new, f"{one.kind}: {new}")


def wrap_all(project: Project, code: str) -> None:
    for one in optax_made(project):
        wrap(one, code)


def clip_optax(project: Project, kind: str, value: Change) -> None:
    """`clip=1.0`, `clip=*10`, `clip=off`; `kind`: the function of optax that clips."""
    if not value.relative:
        return wrap_all(project, f"{{optax}}.chain({{optax}}.{kind}({words_of(value.number)}), {{call}})")
    for one in calls_of(project, *CLIPS):
        node = one.call.args[0].value if one.call.args else None
        if node is None:
            raise one.doubt(f"{value} times the limit", "cannot tell where the limit comes from")
        if math.isinf(value.number):
            identity = f"{one.source.how_written('optax', 'optax')}.identity()"
            one.source.replace(one.call, identity, f"removed: {one.source.code(one.call)}")
            continue
        limit, recorded = (
            certain_value(project, one.source, node, "another limit", one.call),
            project.number("clip_norm"),
        )
        if recorded is None or limit.value != value.apply_to(recorded):
            write_value(project, limit.origin, value.apply_to(limit.origin.value), "the clipping limit")
    return None


def rename(one: Found, kind: str) -> None:
    """Call another function of optax."""
    if not isinstance(one.call.func, cst.Attribute):
        raise one.doubt(f"optax.{kind}(...)", "optax is not imported by its name in this file")
    one.source.rename(one.call.func, kind, f"{one.kind} becomes {kind}", at=one.call)


def set_optax(project: Project, name: str, value: Any) -> None:
    """`weight_decay=`, `momentum=`, `betas=`, `eps=` of each optimizer."""
    for one in optax_made(project):
        if name == "weight_decay":
            decay(project, one, value)
        elif name == "betas":
            for argument, beta in zip(("b1", "b2"), value, strict=True):
                set_argument(project, one, argument, words_of(beta), one.kind in ADAMS)
        else:
            has = (
                one.kind in MOVED
                if name == "momentum"
                else one.kind in (*ADAMS, "rmsprop", "adagrad", "yogi")
            )
            set_argument(project, one, name, words_of(value), has)


def set_argument(project: Project, one: Found, name: str, code: str, has: bool = True) -> None:
    """An argument with another value."""
    if not has:
        raise one.doubt(f"{name}={code}", f"{one.kind} has no {name}")
    node = one.argument(name, PLACES.get((one.kind, name)))
    if node is None:
        one.source.set_argument(one.call, name, code, f"{one.kind}: {name}={code}")
    elif one.source.code(node) != code:
        found = certain_value(project, one.source, node, f"{name}={code}", one.call)
        write_value(project, found.origin, float(code), name)


def decay(project: Project, one: Found, value: Change) -> None:
    """The weight decay that an optimizer has, or gets: Adam becomes AdamW, others get it chained before them."""
    if one.kind not in DECAYS:
        if value.relative:
            raise one.doubt(f"weight_decay={value}", "the optimizer has no weight decay")
        if one.kind not in DECAYED:
            decayed = f"{{optax}}.add_decayed_weights({words_of(value.number)})"
            return wrap(one, f"{{optax}}.chain({decayed}, {{call}})")
        rename(one, DECAYED[one.kind])
        return set_argument(project, one, "weight_decay", words_of(value.number))
    node, before = one.argument("weight_decay"), DECAYS[one.kind]
    traced = (
        certain_value(project, one.source, node, f"weight_decay={value}", one.call)
        if node is not None
        else None
    )
    now, recorded = (traced.value if traced is not None else before), project.number("weight_decay")
    wanted = value.apply_to(recorded if recorded is not None else now)
    if wanted == now:
        return None
    if traced is None:
        return set_argument(project, one, "weight_decay", words_of(wanted))
    return write_value(
        project, traced.origin, traced.origin.value * wanted / now if now else wanted, "weight_decay"
    )


def switch_optax(project: Project, value: str) -> None:
    """`optimizer=adamw`, `adam`, `sgd`, `momentum`, with the arguments that both have."""
    wanted = "sgd" if value == "momentum" else value
    for one in optax_made(project):
        moves = one.argument("momentum", 1) is not None if one.kind == "sgd" else False
        if one.kind == wanted and (wanted != "sgd" or moves == (value == "momentum")):
            continue
        kept = (
            ("learning_rate", "b1", "b2", "eps")
            if wanted in ADAMS and one.kind in ADAMS
            else ("learning_rate",)
        )
        if len([arg for arg in one.call.args if arg.keyword is None]) > 1 or any(
            arg.star for arg in one.call.args
        ):
            raise one.doubt(f"optax.{wanted}(...)", "not all of its arguments are known")
        if one.argument("weight_decay") is not None and wanted != "adamw":
            raise one.doubt(f"optax.{wanted}(...)", "its weight decay is to be kept")
        for arg in one.call.args:
            name = arg.keyword.value if arg.keyword is not None else ""
            if name and name not in (*kept, "weight_decay"):
                one.source.change(one.call, partial(without_argument, name=name))
        if value == "momentum":
            one.source.change(one.call, lambda call: with_argument(call, "momentum", "0.9"))
        if wanted == "adamw" and one.argument("weight_decay") is None:
            one.source.change(one.call, lambda call: with_argument(call, "weight_decay", "0.0"))
        if one.kind != wanted:
            rename(one, wanted)


def warm_up_optax(project: Project, count: int) -> None:
    """A linear warm-up in place of a rate that is a number."""
    for one in optax_made(project):
        node = one.argument("learning_rate", 0)
        if node is not None and is_schedule(project, one.source, node):
            home, made = resolve(project, one.source, node)
            if home.code(made).endswith(f"transition_steps={count - 1})"):
                continue
        optax = one.source.how_written("optax", "optax")
        if (
            node is None
            or not optax
            or not isinstance(node, (cst.Name, cst.Attribute, cst.Float, cst.Integer))
        ):
            raise one.doubt(
                f"a linear warm-up over {count} steps", "the rate is no number that is written twice easily"
            )
        certain_value(project, one.source, node, f"a linear warm-up over {count} steps", one.call)
        rate = one.source.code(node)
        new = f"{optax}.linear_schedule({rate} / {count}, {rate}, transition_steps={count - 1})"
        one.source.replace(node, new, f"{one.kind}: {new}", at=one.call)
