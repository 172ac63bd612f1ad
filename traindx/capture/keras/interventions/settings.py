"""Settings of the optimizer, and another optimizer."""

from __future__ import annotations

from typing import Any

import keras

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import change, number, one_of, positive
from traindx.capture.keras import facts
from traindx.capture.keras.experiment import Site
from traindx.capture.keras.interventions.gradients import inner
from traindx.errors import ConfigError

CLASSES = {"sgd": "SGD", "momentum": "SGD", "adam": "Adam", "adamw": "AdamW"}
MOMENTUM = 0.9
SHARED = (
    "clipnorm",
    "clipvalue",
    "global_clipnorm",
    "use_ema",
    "ema_momentum",
    "gradient_accumulation_steps",
)


def setting(site: Site, names: tuple[str, ...], values: tuple[float, ...], told: dict[str, float]) -> None:
    """Attributes of the optimizer that its step reads."""

    def set_them(model: Any) -> None:
        optimizer = inner(model)
        missing = [name for name in names if not hasattr(optimizer, name)]
        if missing:
            instead = "; it has beta_1" if hasattr(optimizer, "beta_1") else ""
            site.refuse(f"{type(optimizer).__name__} has no {missing[0]}{instead}")
        if [getattr(optimizer, name) for name in names] == list(values):
            return
        if "momentum" in names and bool(optimizer.momentum) != bool(values[0]) and optimizer.built:
            site.refuse("the optimizer has been built without momentum")
        for name, value in zip(names, values, strict=True):
            setattr(optimizer, name, value)
        for name, value in told.items():
            site.fact(name, value)
        site.touched("optimizers")

    site.on_model(set_them)
    site.unused = "the script's own are the same"


@intervention("momentum", stage="settings", values=("0.9",), order=3)
def momentum(value: str) -> Apply:
    """That of SGD and RMSprop. Refused for optimizers that have none (of Adam: `betas`)."""
    wanted = number(value, "momentum", high=0.9999)
    return lambda site: setting(site, ("momentum",), (wanted,), {"momentum": wanted})


@intervention("betas", stage="settings", values=("0.9,0.95",), order=4)
def betas(value: str) -> Apply:
    """`beta_1` and `beta_2` of Adam and its kin. Refused for optimizers that have none."""
    wanted = tuple(number(part.strip(), "betas", high=1.0) for part in value.split(","))
    if len(wanted) != 2 or max(wanted) == 1.0:
        raise ConfigError(f"--with betas={value}: two numbers below 1, such as betas=0.9,0.95")
    told = {"beta1": wanted[0], "beta2": wanted[1], "momentum": wanted[0]}
    return lambda site: setting(site, ("beta_1", "beta_2"), wanted, told)


@intervention("eps", stage="settings", values=("1e-6",), order=5)
def eps(value: str) -> Apply:
    """`epsilon` of Adam and its kin. Refused for optimizers that have none."""
    wanted = positive(value, "eps")
    return lambda site: setting(site, ("epsilon",), (wanted,), {"eps": wanted})


@intervention("weight_decay", stage="settings", values=("0.01", "*3"), order=2)
def weight_decay(value: str) -> Apply:
    """The optimizer's own, which is decoupled from the gradients in Keras; what `exclude_from_weight_decay` names stays
    free of it. Penalties of layers (`kernel_regularizer`) stay."""
    wanted = change(value, "weight_decay")

    def apply(site: Site) -> None:
        def set_it(model: Any) -> None:
            optimizer = inner(model)
            own = optimizer.weight_decay or 0.0
            new = own * wanted.number if wanted.relative else wanted.number
            if new == own:
                return
            optimizer.weight_decay = new or None
            site.fact("weight_decay", new)
            site.touched("optimizers")

        site.on_model(set_it)
        site.unused = "the script has no weight decay" if wanted.relative else "the script's own is the same"

    return apply


@intervention("optimizer", stage="step", values=("adamw", "adam", "sgd", "momentum"))
def optimizer(value: str) -> Apply:
    """Another optimizer takes the place of the model's before its first training: with the same rate or schedule,
    clipping, weight decay (SGD with momentum: 0.9, or the script's own), averages and accumulation. An optimizer that
    the script holds besides is not used. Refused where the model's own has made steps."""
    wanted = one_of(value, "optimizer", tuple(CLASSES))

    def apply(site: Site) -> None:
        def exchange(model: Any) -> None:
            own = inner(model)
            if is_already(own, wanted):
                return
            if own.built and int(keras.ops.convert_to_numpy(own.iterations)):
                site.refuse("the model's optimizer has made steps already")
            other = made(own, wanted)
            if own is model.optimizer:
                model.optimizer = other
            else:
                model.optimizer = keras.optimizers.LossScaleOptimizer(other)
            for name, fact in facts.of_optimizer(other).items():
                if name not in ("lr", "weight_decay"):
                    site.fact(name, fact)
            site.touched("optimizers")

        site.on_model(exchange)
        site.unused = f"the script's optimizer is {CLASSES[wanted]} already"

    return apply


def is_already(own: Any, wanted: str) -> bool:
    if type(own).__name__ != CLASSES[wanted]:
        return False
    return wanted not in ("sgd", "momentum") or bool(own.momentum) == (wanted == "momentum")


def made(own: Any, wanted: str) -> Any:
    """The other optimizer."""
    rate = own._learning_rate
    if isinstance(rate, keras.Variable):
        rate = float(rate.numpy())
    more = {name: getattr(own, name) for name in SHARED}
    if own.weight_decay is not None or wanted == "adamw":
        more["weight_decay"] = own.weight_decay or 0.0
    if wanted == "momentum":
        more["momentum"] = getattr(own, "momentum", 0.0) or MOMENTUM
    return getattr(keras.optimizers, CLASSES[wanted])(rate, **more)
