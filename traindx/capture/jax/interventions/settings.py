"""Settings of the optimizer, another optimizer, and the learning rate: another value, another schedule, a warm-up."""

import sys
from typing import Any

import jax.numpy as jnp

from traindx.capture.experiment.applies import applies
from traindx.capture.experiment.rates import rate_at, replaces_schedule, share_at
from traindx.capture.experiment.site import rate_factor
from traindx.capture.interventions.optimizer import Schedule
from traindx.capture.interventions.values import Change, Span
from traindx.capture.jax.experiment import Making, Site, base_of

MOMENTUM = 0.9
DECAYED = {"adam": "adamw", "nadam": "nadamw"}  # the same with weight decay, as optax names it


@applies("lr")
def lr(site: Site, wanted: Change | Schedule) -> None:
    """The `learning_rate` of optimizers, and of `scale_by_learning_rate`: a number, a schedule, or a rate that
    `inject_hyperparams` hands in at each step, which only factors and numbers can change. Values as in PyTorch. The
    base rate is the one that the optimizer was made with, or its schedule's highest."""
    if isinstance(wanted, Schedule):
        replace_schedule(site, wanted)
        return

    def new(rate: Any, own: Any) -> Any:
        times = rate_factor(site, wanted, None if wanted.relative else base_of(own))
        if times == 1:
            return rate
        return (lambda count: rate(count) * times) if callable(rate) else rate * times

    site.unused = "the script already uses this rate"
    site.on_rate(new)


def replace_schedule(site: Site, schedule: Schedule) -> None:
    """Each step uses the rate of a schedule, whatever the script's own would be."""
    replaces_schedule(site, schedule)

    def new(rate: Any, own: Any) -> Any:
        if schedule.name == "constant" and isinstance(rate, float | int):
            return rate
        refuse_injected(site, rate)
        site.fact("schedule", schedule.name)
        base = base_of(rate)  # which `lr=0.01` may have set
        return lambda count: jnp.asarray(rate_at(site, schedule, base, count, jnp), jnp.float32)

    site.on_rate(new)


@applies("lr.warmup", unused="the warm-up was over before the first step")
def warmup(site: Site, wanted: Span) -> None:
    """As in PyTorch. Refused where `inject_hyperparams` hands the rate in."""

    def new(rate: Any, _own: Any) -> Any:
        refuse_injected(site, rate)
        steps = site.resolve(wanted, "lr.warmup=50")
        if steps <= 1:
            return rate
        if not callable(rate):  # as the edit of the source writes it
            return sys.modules["optax"].linear_schedule(rate / steps, rate, steps - 1)
        return lambda count: rate(count) * share_at(site, wanted, count, jnp)

    site.on_rate(new)


def refuse_injected(site: Site, rate: Any) -> None:
    """A rate that is an array has no number of steps to follow."""
    if not callable(rate) and not isinstance(rate, float | int):
        site.refuse("the script sets the rate of each step itself (inject_hyperparams)")


@applies("weight_decay")
def weight_decay(site: Site, wanted: Change) -> None:
    """The `weight_decay` of optimizers that have one, with their masks. Adam becomes AdamW; SGD and others get
    `add_decayed_weights` before them. Refused where the script calls `update` without the parameters."""

    def new(making: Making) -> bool:
        own = float(making.value("weight_decay") or 0.0)
        decay = wanted.apply_to(own)
        if decay == own:
            return False
        if making.name in DECAYED:
            making.become(DECAYED[making.name])
        if making.takes("weight_decay"):
            making.given["weight_decay"] = decay
        else:
            making.wrappers.append(lambda optax, made: optax.chain(optax.add_decayed_weights(decay), made))
        site.hooks.decayed.append(site)
        return True

    site.unused = (
        "the script has no weight decay" if wanted.relative else "the script already uses this value"
    )
    site.on_optimizer(new)


def apply_settings(site: Site, settings: dict[str, float]) -> None:
    """Arguments of the optimizers get new values."""

    def new(making: Making) -> bool:
        missing = [name for name in settings if not making.takes(name)]
        if missing:
            site.refuse(
                f"optax.{making.name} has no {missing[0]}" + ("; it has b1" if making.takes("b1") else "")
            )
        if all(making.value(name) == value for name, value in settings.items()):
            return False
        making.given |= settings
        return True

    site.unused = "the script already uses this value"
    site.on_optimizer(new)


@applies("momentum")
def momentum(site: Site, wanted: float) -> None:
    """The `momentum` of SGD and RMSprop. Refused for optimizers that have none (for Adam: `betas`)."""
    apply_settings(site, {"momentum": wanted})


@applies("betas")
def betas(site: Site, wanted: tuple[float, ...]) -> None:
    """`b1` and `b2` of Adam and similar optimizers. Refused for optimizers that have none."""
    apply_settings(site, {"b1": wanted[0], "b2": wanted[1]})


@applies("eps")
def eps(site: Site, wanted: float) -> None:
    """`eps` of Adam and similar optimizers. Refused for optimizers that have none."""
    apply_settings(site, {"eps": wanted})


@applies("optimizer")
def optimizer(site: Site, wanted: str) -> None:
    """Another function of optax makes the optimizer, with the arguments that both have (rate, weight decay of AdamW,
    `b1`, `b2`, `eps`); `momentum` is 0.9 or the script's own. AdamW without a weight decay of the script gets none."""
    name = "sgd" if wanted == "momentum" else wanted

    def new(making: Making) -> bool:
        own = making.value("momentum")
        if making.name == name and (name != "sgd" or bool(own) == (wanted == "momentum")):
            return False
        decay = making.value("weight_decay") or 0.0
        making.become(name)
        if name == "sgd":
            making.given["momentum"] = (own or MOMENTUM) if wanted == "momentum" else None
        if name == "adamw":
            making.given["weight_decay"] = decay
        elif decay:
            making.wrappers.append(lambda optax, made: optax.chain(optax.add_decayed_weights(decay), made))
        return True

    site.unused = f"the script's optimizer is {name} already"
    site.on_optimizer(new)
