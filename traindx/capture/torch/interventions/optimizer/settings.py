"""Another optimizer, and settings other than the learning rate, which are set for the duration of each step."""

import weakref

from traindx.capture.torch.alter.api import Any, Change, Optimizer, Site, applies, are_equal


@applies("momentum")
def momentum(site: Site, wanted: float) -> None:
    apply_settings(site, "momentum", wanted)


@applies("betas")
def betas(site: Site, wanted: tuple[float, ...]) -> None:
    apply_settings(site, "betas", wanted)


@applies("eps")
def eps(site: Site, wanted: float) -> None:
    apply_settings(site, "eps", wanted)


def apply_settings(site: Site, key: str, wanted: Any) -> None:
    # An equal value stays the script's own object, which may be a tensor or a list.
    site.group(key, lambda _optimizer, _group, own: own if are_equal(own, wanted) else wanted)
    site.unused = "the script already uses this value"


@applies("weight_decay", unused="the script already uses this value")
def weight_decay(site: Site, wanted: Change) -> None:
    def new(optimizer: Optimizer, _: int, own: Any) -> Any:
        if wanted.relative:
            return own * wanted.number
        exempt = not own and any(group.get("weight_decay") for group in optimizer.param_groups)
        return own if exempt or own == wanted.number else wanted.number

    if wanted.relative and wanted.number != 1:
        site.unused = "the script has no weight decay"
    site.group("weight_decay", new)


CLASSES = {"sgd": "SGD", "momentum": "SGD", "adam": "Adam", "adamw": "AdamW"}
MOMENTUM = 0.9
SHARED = ("lr", "weight_decay", "maximize")


@applies("optimizer")
def optimizer(site: Site, wanted: str) -> None:
    others: weakref.WeakKeyDictionary[Optimizer, Optimizer] = weakref.WeakKeyDictionary()

    def step(own: Optimizer) -> None:
        if has_setting(own, wanted):
            return
        if own not in others:
            others[own] = other = replacement(site, own, wanted)
            if len(others) == 1:
                record_settings(site, other)
        other = others[own]
        follow(own, other)
        type(other).step.__wrapped__(other)  # without the hooks of steps: the script makes this one
        site.withhold(own)
        site.touched("steps")

    site.on_gradients(step)
    site.unused = f"the script's optimizer is {CLASSES[wanted]} already"


def has_setting(own: Optimizer, wanted: str) -> bool:
    if type(own).__module__.partition(".")[0] != "torch" or type(own).__name__ != CLASSES[wanted]:
        return False
    return "betas" in own.param_groups[0] or all(
        (g["momentum"] != 0) == (wanted == "momentum") for g in own.param_groups
    )


def replacement(site: Site, own: Optimizer, wanted: str) -> Optimizer:
    """The other optimizer, over the same lists of parameters."""
    import torch

    if any("lr" not in group for group in own.param_groups):
        site.refuse(f"{type(own).__name__} has no learning rate")
    more = {"momentum": MOMENTUM} if wanted == "momentum" else {}
    with site.unseen():
        groups = [{"params": group["params"]} for group in own.param_groups]
        other: Optimizer = getattr(torch.optim, CLASSES[wanted])(groups, lr=0.0, **more)
    if wanted == "sgd":
        for group in other.param_groups:
            group["fixed"] = True
    return other


def follow(own: Optimizer, other: Optimizer) -> None:
    """Take over parameters and settings as they are now."""
    for group in own.param_groups[len(other.param_groups) :]:
        other.add_param_group({"params": list(group["params"])})
    for theirs, ours in zip(own.param_groups, other.param_groups, strict=True):
        ours["params"] = theirs["params"]
        for name in SHARED:
            if name in theirs:
                ours[name] = float(theirs[name]) if name == "lr" else theirs[name]
        if "betas" in ours and "betas" in theirs:
            ours["betas"], ours["eps"] = tuple(theirs["betas"]), theirs.get("eps", ours["eps"])
        if "momentum" in ours and theirs.get("momentum") and "fixed" not in other.param_groups[0]:
            ours["momentum"] = theirs["momentum"]


def record_settings(site: Site, other: Optimizer) -> None:
    from traindx.capture.torch.backend import TorchBackend

    follow_facts: dict[str, Any] = TorchBackend().optimizer_facts(other)
    for name, fact in follow_facts.items():
        if name not in ("lr", "weight_decay", "parameter_groups"):
            site.fact(name, fact)
