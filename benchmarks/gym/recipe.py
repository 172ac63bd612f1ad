"""A recipe: a whole training script in parts, and the script that it amounts to."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from benchmarks.gym.net import Net
from benchmarks.gym.skeletons import SKELETONS

METRICS = {"classes": "accuracy", "binary": "accuracy", "multilabel": "accuracy", "segment": "pixel_accuracy",
           "regression": "mae", "lm": "perplexity"}  # fmt: skip
RIGHT = {"classes": "(out.argmax(1) == y).sum().item()", "regression": "(out - y).abs().sum().item()"}


@dataclass(frozen=True, kw_only=True)
class Log:
    """What a style adds to a script: lines before the loop, when a batch has come, after a step, after an epoch, at
    the end; the file that holds the log (None: what the script prints); whether the gradient norm must be computed,
    validation done; about how many lines of steps there are."""

    setup: str = ""
    batch: str = ""
    step: str = ""
    epoch: str = ""
    end: str = ""
    file: str | None = None
    norm: bool = False
    val: bool = True
    lines: int = 100


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The parts. `kind` says what the outputs are for (classes, binary, multilabel, segment, regression, lm,
    autoencoder, contrastive); `data` leaves x_train, y_train, x_val, y_val, x_test, y_test as arrays, `scale`
    prepares them, `spoil` and `spoil_late` (after scaling) are empty in a clean script. `pattern` is the benign
    shape expected. A script of another shape is given as a `whole`, of kind "own", and leaves its skill as
    `score`. With two `ranks` the script trains in two processes; `shard` makes the loader of each."""

    setting: str
    task: str
    kind: str
    data: str
    net: Net
    criterion: str
    scale: str = ""
    optimizer: str = "SGD"
    lr: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 0.0
    options: str = ""
    scheduler: str = ""
    per: str = "epoch"
    batch: int = 64
    epochs: int = 20
    shuffle: bool = True
    clip: float | None = None
    spoil: str = ""
    spoil_late: str = ""
    init: str = ""
    after_optimizer: str = ""
    epoch_start: str = "model.train()"
    on_batch: str = ""
    forward: str = "out = model(x)"
    loss: str = "loss = criterion(out, y)"
    zero: str = "optimizer.zero_grad()"
    backward: str = "loss.backward()"
    step: str = "optimizer.step()"
    eval_mode: str = "model.eval()"
    params: str = "model.parameters()"
    imports: str = ""
    pattern: str | None = None
    pretrain: str = ""
    whole: str = ""
    ranks: int = 1
    shard: str = ""

    @property
    def metric(self) -> str:
        """Name of the validation metric; "" where there is none."""
        return METRICS.get(self.kind, "")


def script(recipe: Recipe, log: Log, seed: int, skeleton: str = "flat") -> str:
    """The source of a training script."""
    if recipe.whole:
        return recipe.whole.lstrip().replace("SEED", str(seed))
    slots = {**before_loop(recipe, log), **in_loop(recipe, log), **logged(recipe, log)}
    slots["constants"] += f"\nSEED = {seed}"
    return fill(SKELETONS["ranks" if recipe.ranks > 1 else skeleton], slots)


def shared_names(recipe: Recipe, log: Log) -> list[str]:
    """What a function of one epoch leaves for the rest of the script."""
    made = "\n".join((log.setup, recipe.epoch_start, recipe.after_optimizer))
    kept = [n for n in ("tick", "recent", "held", "optimizer") if f"{n} =" in made]
    return ["step", *kept, *(["grad_norm"] if norm(recipe, log) else [])]


def before_loop(recipe: Recipe, log: Log) -> dict[str, str]:
    """The parts before the loop."""
    return {
        "constants": f"EPOCHS = {recipe.epochs}\nBATCH = {recipe.batch}\nLR = {recipe.lr:.6g}",
        "imports": recipe.imports,
        "data": "\n".join(
            filter(None, (recipe.data.strip(), recipe.spoil, recipe.scale.strip(), recipe.spoil_late))
        ),
        "tensors": tensors(recipe),
        "net": recipe.net.source(),
        "shard": recipe.shard,
        "init": "\n".join(filter(None, (lazy(recipe), recipe.pretrain, recipe.init))),
        "criterion": f"criterion = {recipe.criterion}",
        "optimizer": "\n".join(filter(None, (optimizer(recipe), recipe.after_optimizer))),
        "scheduler": f"scheduler = {recipe.scheduler}" if recipe.scheduler else "",
    }


def in_loop(recipe: Recipe, log: Log) -> dict[str, str]:
    """The parts of an epoch and of a step."""
    return {
        "epoch_start": recipe.epoch_start,
        "on_batch": recipe.on_batch,
        "zero": recipe.zero,
        "forward": recipe.forward,
        "loss": recipe.loss,
        "backward": recipe.backward,
        "norm": norm(recipe, log),
        "step": recipe.step,
        "scheduler_step": "scheduler.step()" if recipe.scheduler and recipe.per == "step" else "",
        "scheduler_epoch": "scheduler.step()" if recipe.scheduler and recipe.per == "epoch" else "",
    }


def logged(recipe: Recipe, log: Log) -> dict[str, str]:
    """The parts that validate and log."""
    return {
        "every": f"LOG_EVERY = max(1, EPOCHS * len(train_loader) // {log.lines})"
        if "LOG_EVERY" in log.step
        else "",
        "globals": "global " + ", ".join(shared_names(recipe, log)),
        "log_setup": log.setup,
        "log_batch": log.batch,
        "log_step": log.step,
        "log_epoch": log.epoch,
        "log_end": log.end,
        "evaluate": evaluate(recipe) if log.val else "",
        "call_evaluate": "val_loss, val_metric = evaluate()" if log.val else "",
        "def_evaluate": evaluation(recipe) if log.val else "",
    }


def fill(skeleton: str, slots: dict[str, str]) -> str:
    """Lines `@name` are replaced by the slot, at their indent; an empty slot leaves nothing."""
    lines: list[str] = []
    for line in skeleton.strip("\n").splitlines():
        bare = line.lstrip()
        if not bare.startswith("@"):
            lines.append(line)
        elif slots[bare[1:]]:
            lines += textwrap.indent(slots[bare[1:]], line[: len(line) - len(bare)]).splitlines()
    return "\n".join(lines) + "\n"


def tensors(recipe: Recipe) -> str:
    """Arrays to tensors, and the loaders."""
    y = "int64" if recipe.kind in ("classes", "lm", "contrastive") else "float32"
    x = "int64" if recipe.kind == "lm" else "float32"
    names = ("train", "val", "test")
    lines = [f"x_{n} = torch.tensor(x_{n}, dtype=torch.{x})" for n in names]
    lines += [f"y_{n} = torch.tensor(y_{n}, dtype=torch.{y})" for n in names]
    lines += [
        f"train_loader = DataLoader(TensorDataset(x_train, y_train), batch_size=BATCH, shuffle={recipe.shuffle})",
        "val_loader = DataLoader(TensorDataset(x_val, y_val), batch_size=256)",
    ]
    return "\n".join(lines)


def lazy(recipe: Recipe) -> str:
    return "model(x_train[:2])" if recipe.net.kind == "cnn" else ""


def optimizer(recipe: Recipe) -> str:
    given = [recipe.params, "lr=LR"]
    if recipe.optimizer in ("SGD", "RMSprop") and recipe.momentum:
        given.append(f"momentum={recipe.momentum:.6g}")
    if recipe.weight_decay:
        given.append(f"weight_decay={recipe.weight_decay:.6g}")
    return f"optimizer = torch.optim.{recipe.optimizer}({', '.join(given)}{recipe.options})"


def norm(recipe: Recipe, log: Log) -> str:
    if recipe.clip is not None:
        return f"grad_norm = nn.utils.clip_grad_norm_(model.parameters(), {recipe.clip:g})"
    if log.norm:
        return (
            "grad_norm = sum(p.grad.pow(2).sum() for p in model.parameters() if p.grad is not None) ** 0.5"
        )
    return ""


def evaluation(recipe: Recipe) -> str:
    """Validation as a function."""
    return f"def evaluate():\n{textwrap.indent(evaluate(recipe), '    ')}\n    return val_loss, val_metric\n"


def evaluate(recipe: Recipe) -> str:
    """Validation loss as mean over samples, and the metric of the recipe's kind."""
    right = RIGHT.get(recipe.kind, "((out > 0) == (y > 0.5)).sum().item()")
    total = {"lm": "val_metric = math.exp(min(val_loss, 20.0))", "autoencoder": "val_metric = None",
             "contrastive": "val_metric = None"}  # fmt: skip
    return "\n".join(
        [
            recipe.eval_mode,
            "total, right, count, elements = 0.0, 0.0, 0, 0",
            "with torch.no_grad():",
            "    for x, y in val_loader:",
            "        out = model(x)",
            "        total += criterion(out, y).item() * len(x)",
            *([f"        right += {right}"] if recipe.kind not in total else []),
            "        count += len(x)",
            "        elements += y.numel()",
            "val_loss = total / count",
            total.get(recipe.kind, "val_metric = right / elements"),
        ]
    )
