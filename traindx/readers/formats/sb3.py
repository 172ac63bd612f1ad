"""Stable-Baselines: progress.csv of its logger, and monitor files, one for each environment."""

from pathlib import Path
from typing import Any

from traindx.readers.api import (
    Event,
    Floats,
    NotALog,
    RawColumn,
    RawLog,
    ReadError,
    Source,
    column,
    np,
    source_of,
)
from traindx.readers.formats import sb3_evaluations
from traindx.readers.json.document import JSON_ERRORS, decode
from traindx.readers.tables.columns import number
from traindx.readers.tables.layout import Layout, peek_layout
from traindx.readers.tables.parsing import read_table

NAME = "stable-baselines"
MOST = 0.98
HOLDS = (b"#|%|//|rew|approx|Return",)  # the comment of a monitor file, or one of KNOWN
AXES = (
    "time/total_timesteps",
    "total_timesteps",
    "misc/total_timesteps",
    "TotalEnvSteps",
    "steps",
    "serial_timesteps",
)
KNOWN = ("rollout/ep_rew_mean", "ep_rew_mean", "eprewmean", "eval/mean_reward", "train/approx_kl", "approxkl",
         "Evaluation/AverageReturn", "episode_reward_mean", "mean 100 episode reward")  # fmt: skip
ROLES = {
    "rollout/ep_rew_mean": "train/reward",
    "ep_rew_mean": "train/reward",
    "ep_reward_mean": "train/reward",
    "eprewmean": "train/reward",
    "mean 100 episode reward": "train/reward",
    "eval/mean_reward": "val/reward",
    "Evaluation/AverageReturn": "val/reward",
    "r": "train/reward",
    "l": "train/episode_length",
    "t": "elapsed",
}
STEPS = "env_steps"


def sniff(source: Source) -> float:
    layout = peek_layout(source.head)
    if layout is None:
        return 0.0
    if monitor_header(layout) is not None:
        return 0.98
    known = layout.header and layout.delimiter == "," and set(layout.names) & set(KNOWN)
    return 0.9 if known and set(layout.names) & set(AXES) else 0.6 if known else 0.0


def monitor_header(layout: Layout) -> dict[str, Any] | None:
    """The JSON comment above the table of a monitor file, if this is one."""
    if not {"r", "l", "t"} <= set(layout.names) or not layout.comments:
        return None
    try:
        header = decode(layout.comments[0].lstrip("#").encode())
    except JSON_ERRORS:
        return {}
    return header if isinstance(header, dict) else {}


def read(source: Source) -> list[RawLog]:
    """One log: by environment steps (progress.csv) or by episode (a monitor file)."""
    table = read_table(source)
    header = monitor_header(table.layout)
    if header is not None:
        return [monitor_log(source.name, [(header, table.columns)], table.events)]
    log = table.log(source, NAME, framework="stable-baselines", roles=ROLES)
    log.axis = next((name for name in AXES if name in log.columns), None)
    return [log]


def monitor_log(
    name: str, parts: list[tuple[dict[str, Any], dict[str, RawColumn]]], events: list[Event]
) -> RawLog:
    """The episodes of one or more environments in the order in which they ended, with the
    environment steps of all of them so far, as Stable-Baselines' own plots count them."""
    starts = [number(header.get("t_start")) or 0.0 for header, _ in parts]
    names = [n for n in parts[0][1] if all(n in columns for _, columns in parts)]
    if not {"r", "l", "t"} <= set(names):
        raise ReadError(
            name, "lacks a column of a monitor file", hint="r, l and t are needed in the second line"
        )
    rows = [whole_rows(columns, names) for _, columns in parts]
    table = np.concatenate(rows)
    ended = np.concatenate([r[:, names.index("t")] + s for r, s in zip(rows, starts, strict=True)])
    table, count = table[np.argsort(ended, kind="stable")], np.arange(len(table))
    columns = {n: column(table[:, i], count) for i, n in enumerate(names)}
    columns["episode"] = column(count + 1.0, count)
    columns[STEPS] = column(np.cumsum(table[:, names.index("l")]), count)
    log = RawLog(name, NAME, "stable-baselines", columns, axis="episode", axis_kind="episode", events=events)
    log.roles = ROLES
    environment = parts[0][0].get("env_id")
    log.facts = {"env_id": environment} if isinstance(environment, str) else {}
    return log


def whole_rows(columns: dict[str, RawColumn], names: list[str]) -> Floats:
    """Rows [n, names] in which reward, length and time are there; other names may be NaN."""
    count = 1 + max(int(c.rows[-1]) for c in columns.values())
    table = np.full((count, len(names)), np.nan)
    for i, name in enumerate(names):
        table[columns[name].rows, i] = columns[name].values
    needed = [names.index(n) for n in ("r", "l", "t")]
    whole: Floats = table[np.isfinite(table[:, needed]).all(axis=1)]
    return whole


def sniff_folder(path: Path) -> float:
    """A folder of monitor files of several environments, without folders in it."""
    found = len(monitor_files(path))
    return 0.9 if found > 1 and not any(child.is_dir() for child in path.iterdir()) else 0.0


def monitor_files(path: Path) -> list[Source]:
    found = []
    for file in sorted(f for f in path.glob("*monitor.csv") if f.is_file()):
        source = source_of(file)
        if sniff(source) > 0.95:
            found.append(source)
    return found


def read_folder(path: Path) -> list[RawLog]:
    """The episodes of all monitor files as one log, then the logger's other files."""
    parts, events = [], []
    for source in monitor_files(path):
        try:
            table = read_table(source)
        except NotALog:
            continue  # an environment in which no episode has ended yet
        if {"r", "l", "t"} <= table.columns.keys():
            parts.append((monitor_header(table.layout) or {}, table.columns))
            events += table.events
    logs = [monitor_log(str(path), parts, events)] if parts else []
    for name, reader in (("progress.csv", read), ("evaluations.npz", sb3_evaluations.read)):
        file = path / name
        if file.is_file():
            logs += reader(source_of(file))
    return logs
