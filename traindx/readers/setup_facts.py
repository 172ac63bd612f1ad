"""Setup facts out of the configuration in or next to a log."""

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from traindx.readers.compressed import open_plain

MAX_FACTS = 200
MAX_TEXT = 200

# `Setup` field -> names under which trainers keep it (last part of a nested name, lower case).
NAMES: dict[str, tuple[str, ...]] = {
    "lr": ("lr", "learning_rate", "base_lr", "lr0", "init_lr", "peak_lr", "max_lr", "learningrate", "eta"),
    "optimizer": ("optimizer", "optim", "opt", "optimizer_name", "optimizer_type"),
    "schedule": ("schedule", "scheduler", "lr_scheduler", "lr_scheduler_type", "lr_schedule", "sched"),
    "warmup_steps": ("warmup_steps", "warmup_iters", "num_warmup_steps", "lr_warmup_steps"),
    "momentum": ("momentum",),
    "weight_decay": ("weight_decay", "wd", "weightdecay"),
    "batch_size": ("global_batch_size", "total_batch_size", "batch_size", "train_batch_size", "batchsize", "batch",
                   "per_device_train_batch_size"),
    "accumulation": ("gradient_accumulation_steps", "accumulate_grad_batches", "accum_iter", "grad_accum"),
    "clip_norm": ("max_grad_norm", "clip_norm", "gradient_clip_val", "grad_clip", "clip_grad", "clip_grad_norm"),
    "precision": ("precision", "mixed_precision", "dtype"),
    "loss": ("loss_fn", "loss_function", "criterion", "objective"),
    "classes": ("num_classes", "n_classes", "nb_classes", "num_labels", "num_class"),
    "dataset_size": ("dataset_size", "num_train_samples", "train_size", "n_train", "num_samples"),
    "parameters": ("n_parameters", "num_parameters", "n_params", "num_params", "parameters", "total_params"),
    "model": ("model", "model_name", "arch", "architecture", "model_name_or_path", "backbone", "model_type"),
    "planned_steps": ("max_steps", "total_steps", "num_steps", "max_iters", "train_iters", "num_train_steps",
                      "max_iter", "total_iters", "training_steps", "total_timesteps", "num_iterations", "steps"),
    "planned_epochs": ("epochs", "num_epochs", "n_epochs", "max_epochs", "num_train_epochs", "nb_epochs"),
    "workers": ("num_workers", "dataloader_num_workers", "workers", "nworkers"),
    "device": ("device", "accelerator"),
    "seed": ("seed", "random_seed", "manual_seed"),
}  # fmt: skip
FIELD_OF = {name: field for field, names in NAMES.items() for name in names}
WORDS = frozenset({"optimizer", "schedule", "precision", "loss", "model", "device"})
COUNTS = frozenset({"classes", "workers", "seed"})
POSITIVE = frozenset(
    {"planned_steps", "planned_epochs", "batch_size", "classes", "dataset_size", "parameters"}
)


def flat(config: Mapping[Any, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """The scalars of a nested mapping as (name joined by "/", value); lists are left out."""
    for key, value in config.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            if depth < 8:
                yield from flat(value, f"{name}/", depth + 1)
        elif isinstance(value, str | int | float):
            yield name, value


def facts_from(config: Mapping[Any, Any]) -> dict[str, object]:
    """Facts under `Setup`'s field names where the name is known, else under their own name.

    Values of a kind that does not fit the field stay free facts. At most `MAX_FACTS`.
    """
    facts: dict[str, object] = {}
    rank: dict[str, int] = {}
    for name, value in flat(config):
        if len(facts) >= MAX_FACTS:
            break
        last = name.rsplit("/", 1)[-1].lower().lstrip("_").replace("-", "_")
        if last in ("type", "class_name", "name") and "/" in name:
            last = name.rsplit("/", 2)[-2].lower()
        field = FIELD_OF.get(last)
        fitting = None if field is None else _fit(field, value)
        if field is None or fitting is None:
            facts.setdefault(name[:MAX_TEXT], value[:MAX_TEXT] if isinstance(value, str) else value)
        elif NAMES[field].index(last) < rank.get(field, len(NAMES[field])):
            facts[field], rank[field] = fitting, NAMES[field].index(last)
    if "precision" not in facts:
        on = [flag for flag in ("bf16", "fp16", "amp") if facts.get(flag) is True]
        facts.update({"precision": on[0]} if on else {})
    return facts


def _fit(field: str, value: object) -> object | None:
    """`value` as the field wants it, or None."""
    if field in WORDS:
        return value[:MAX_TEXT] if isinstance(value, str) and value else None
    if isinstance(value, bool):
        return None
    try:
        amount = float(value)  # type: ignore[arg-type]
    except (ValueError, OverflowError, TypeError):
        return None
    if not isfinite(amount) or (field in POSITIVE and amount <= 0):
        return None
    return int(amount) if field in COUNTS else amount


YAML_LINE = r"^(?P<indent> *)(?P<key>[\w./-]{1,100}): *(?P<value>[^#]*?)\s*(?:#.*)?$"


def flat_yaml(text: str) -> dict[str, object]:
    """The `key: scalar` lines of a YAML file, nested keys joined by "/"; all else is skipped.

    Enough for the settings that trainers write next to their logs; tags, anchors and lists are not
    looked at.
    """
    found: dict[str, object] = {}
    parents: list[tuple[int, str]] = []
    for line in text.splitlines()[:5000]:
        match = re.match(YAML_LINE, line[:1000])
        if match is None:
            continue
        indent = len(match["indent"])
        while parents and parents[-1][0] >= indent:
            parents.pop()
        name = "/".join([*(parent for _, parent in parents), match["key"]])
        if match["value"]:
            found[name] = yaml_scalar(match["value"])
        else:
            parents.append((indent, match["key"]))
    return {key: value for key, value in found.items() if value is not None}


def yaml_scalar(text: str) -> object | None:
    """A YAML scalar as str, int, float or bool; None for null, lists, mappings and tags."""
    word = text.strip()
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if word in ("null", "~", "") or word[0] in "[{!&*|>":
        return None
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return word[1:-1]
    for kind in (int, float):
        try:
            return kind(word) if len(word) < 40 else word
        except ValueError:
            continue
    return word


def facts_from_files(log: Path | None, *names: str) -> dict[str, object]:
    """Facts of the settings files (YAML or JSON) of these names in the folder of a log."""
    facts: dict[str, object] = {}
    for name in names if log is not None else ():
        assert log is not None
        text = small_text(log.parent / name)
        if name.endswith(".json"):
            try:
                config = msgspec.json.decode(text or b"{}")
            except (ValueError, RecursionError):  # UnicodeDecodeError among them
                config = {}
        else:
            config = flat_yaml(text.decode("utf-8", "replace"))
        found = facts_from(config) if isinstance(config, dict) else {}
        facts.update({key: value for key, value in found.items() if key not in facts})
    return facts


def small_text(path: Path, most: int = 1 << 20) -> bytes:
    """The bytes of a settings file; none when there is no such file or it is unreasonably large."""
    try:
        with open_plain(path) as stream:
            text = stream.read(most + 1)
    except (OSError, EOFError):
        return b""
    return text if len(text) <= most else b""
