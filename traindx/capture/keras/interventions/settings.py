"""Settings of the optimizer, another optimizer, and the learning rate: another value, another schedule, a
warm-up."""

from traindx.capture.experiment.rates import rate_at, replaces_schedule, share_at
from traindx.capture.experiment.site import rate_factor
from traindx.capture.interventions.optimizer import Schedule
from traindx.capture.keras import facts
from traindx.capture.keras.interventions.api import Any, Change, Site, Span, applies, keras, ops
from traindx.capture.keras.interventions.gradients import inner

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


def apply_settings(site: Site, settings: dict[str, float], facts: dict[str, float]) -> None:
    """Attributes of the optimizer that its step reads get new values. `facts` are recorded where one changes."""

    def set_them(model: Any) -> None:
        optimizer = inner(model)
        missing = [name for name in settings if not hasattr(optimizer, name)]
        if missing:
            instead = "; it has beta_1" if hasattr(optimizer, "beta_1") else ""
            site.refuse(f"{type(optimizer).__name__} has no {missing[0]}{instead}")
        if all(getattr(optimizer, name) == value for name, value in settings.items()):
            return
        momentum = settings.get("momentum")
        if momentum is not None and bool(optimizer.momentum) != bool(momentum) and optimizer.built:
            site.refuse("the optimizer has been built without momentum")
        for name, value in settings.items():
            setattr(optimizer, name, value)
        for name, value in facts.items():
            site.fact(name, value)
        site.touched("optimizers")

    site.on_model(set_them)
    site.unused = "the script already uses this value"


@applies("momentum")
def momentum(site: Site, wanted: float) -> None:
    """The momentum of SGD and RMSprop. Refused for optimizers that have none (for Adam: `betas`)."""
    apply_settings(site, {"momentum": wanted}, {"momentum": wanted})


@applies("betas")
def betas(site: Site, wanted: tuple[float, ...]) -> None:
    """`beta_1` and `beta_2` of Adam and similar optimizers. Refused for optimizers that have none."""
    facts = {"beta1": wanted[0], "beta2": wanted[1], "momentum": wanted[0]}
    apply_settings(site, {"beta_1": wanted[0], "beta_2": wanted[1]}, facts)


@applies("eps")
def eps(site: Site, wanted: float) -> None:
    """`epsilon` of Adam and similar optimizers. Refused for optimizers that have none."""
    apply_settings(site, {"epsilon": wanted}, {"eps": wanted})


@applies("weight_decay")
def weight_decay(site: Site, wanted: Change) -> None:
    """The optimizer's `weight_decay`, which is decoupled from the gradients in Keras. What `exclude_from_weight_decay`
    names still has none. Penalties of layers (`kernel_regularizer`) stay."""

    def set_it(model: Any) -> None:
        optimizer = inner(model)
        own = optimizer.weight_decay or 0.0
        new = wanted.apply_to(own)
        if new == own:
            return
        optimizer.weight_decay = new or None
        site.fact("weight_decay", new)
        site.touched("optimizers")

    site.on_model(set_it)
    same = "the script already uses this value"
    site.unused = "the script has no weight decay" if wanted.relative else same


@applies("optimizer")
def optimizer(site: Site, wanted: str) -> None:
    """Another optimizer replaces the model's before its first training: with the same rate or schedule, clipping,
    weight decay, averages and accumulation (momentum of `momentum`: 0.9, or the script's own). An optimizer that the
    script holds separately is not used. Refused where the model's optimizer has made steps."""

    def exchange(model: Any) -> None:
        own = inner(model)
        if has_setting(own, wanted):
            return
        if own.built and int(keras.ops.convert_to_numpy(own.iterations)):
            site.refuse("the model's optimizer has already made steps")
        other = replacement(own, wanted)
        if own is model.optimizer:
            model.optimizer = other
        else:
            model.optimizer = keras.optimizers.LossScaleOptimizer(other)
        for name, fact in facts.optimizer_facts(other).items():
            if name not in ("lr", "weight_decay"):
                site.fact(name, fact)
        site.touched("optimizers")

    site.on_model(exchange)
    site.unused = f"the script's optimizer is {CLASSES[wanted]} already"


def has_setting(own: Any, wanted: str) -> bool:
    if type(own).__name__ != CLASSES[wanted]:
        return False
    return wanted not in ("sgd", "momentum") or bool(own.momentum) == (wanted == "momentum")


def replacement(own: Any, wanted: str) -> Any:
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


@applies("lr")
def lr(site: Site, wanted: Change | Schedule) -> None:
    """The rate is changed where the optimizer uses it; the script's callbacks and schedules still see their own.
    Values as in PyTorch. The base rate is the rate that the optimizer was made with, or its schedule's highest."""
    if isinstance(wanted, Schedule):
        replace_schedule(site, wanted)
        return

    def new(optimizer: Any, own: Any, step: Any) -> Any:
        return own * rate_factor(site, wanted, None if wanted.relative else site.base(optimizer))

    site.unused = "the script already uses this rate"
    site.on_rate(new)
    if not wanted.relative:
        site.fact("lr", wanted.number)


def replace_schedule(site: Site, schedule: Schedule) -> None:
    """Each step uses the rate of a schedule, whatever the script's own would be."""
    replaces_schedule(site, schedule)
    site.fact("schedule", schedule.name)
    site.on_rate(
        lambda optimizer, own, step: own * 0 + rate_at(site, schedule, site.base(optimizer), step, ops)
    )


@applies("lr.warmup", unused="the warm-up was over before the first step")
def warmup(site: Site, wanted: Span) -> None:
    """As in PyTorch."""

    def new(_optimizer: Any, own: Any, step: Any) -> Any:
        return own * share_at(site, wanted, step, ops)

    site.on_rate(new)
