"""Damaged logs of every table and JSON format: read in part or refused, never a crash, soon done."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.readers.sources import LOGS, memory, source
from traindx.errors import ReadError
from traindx.readers.formats import (
    boosting,
    csv_table,
    detectron2_json,
    hf_trainer,
    json_document,
    jsonl,
    keras_log,
    lightning_csv,
    mlflow,
    mmengine_json,
    sacred,
    sb3,
    yolo_csv,
)
from traindx.readers.raw import RawLog, Source

MODULES = (
    boosting,
    csv_table,
    detectron2_json,
    hf_trainer,
    json_document,
    jsonl,
    keras_log,
    lightning_csv,
    mlflow,
    mmengine_json,
    sacred,
    sb3,
    yolo_csv,
)
OWN = {
    "csv/german.csv": csv_table,
    "csv/sparse_twice.csv": csv_table,
    "csv/long_split.csv": csv_table,
    "keras/shifted.csv": keras_log,
    "keras/history.json": json_document,
    "lightning_csv/version_0/metrics.csv": lightning_csv,
    "yolo/results_v5.csv": yolo_csv,
    "yolo/results.txt": yolo_csv,
    "sb3/progress.csv": sb3,
    "sb3/0.monitor.csv": sb3,
    "jsonl/settings_first.jsonl": jsonl,
    "jsonl/bare_nan.jsonl": jsonl,
    "hf_trainer/healthy/trainer_state.json": hf_trainer,
    "detectron2/metrics.json": detectron2_json,
    "mmcv/20250101_000000.log.json": mmengine_json,
    "mmengine/by_epoch.json": mmengine_json,
    "sacred/1/metrics.json": sacred,
    "boosting/lightgbm_evals_result.json": boosting,
    "catboost/catboost_info/catboost_training.json": boosting,
    "catboost/catboost_info/test_error.tsv": boosting,
    "mlflow/mlflow.db.gz": mlflow,
}
ROUNDS = 12
LONGEST = 10.0  # seconds of the processor for one damaged log; the whole round takes milliseconds


def content(name: str) -> bytes:
    data = (LOGS / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


def logs_of(module: ModuleType, source: Source) -> list[RawLog]:
    """What a reader makes of bytes; nothing where it refuses. Any other exception fails the test."""
    try:
        logs: list[RawLog] = module.read(source)
    except ReadError:
        return []
    return logs


def damaged(data: bytes, other: bytes, rng: np.random.Generator) -> bytes:
    """Bytes flipped, cut, spliced with another log, repeated, or with a stretch of zeros."""
    at, to = sorted(int(i) for i in rng.integers(0, len(data), 2))
    kind = rng.integers(6)
    if kind == 0:
        flipped = bytearray(data)
        for i in rng.integers(0, len(data), 8):
            flipped[i] = int(rng.integers(256))
        return bytes(flipped)
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + other[: int(rng.integers(1, len(other)))] + data[to:]
    if kind == 3:
        return data[:to] + data[at:]
    if kind == 4:
        return data[:at] + b"\0" * (to - at) + data[to:]
    return data[:at] + rng.integers(0, 256, to - at, dtype=np.uint8).tobytes() + data[to:]


@pytest.mark.parametrize("name", OWN)
def test_damage_is_reported_or_refused(name: str) -> None:
    rng = np.random.default_rng(len(name))
    others = [content(other) for other in ("keras/shifted.csv", "hf_trainer/diverged/trainer_state.json")]
    for round_ in range(ROUNDS):
        damage = memory(damaged(content(name), others[round_ % 2], rng), name)
        begun = time.process_time()
        for module in MODULES:
            assert 0.0 <= module.sniff(damage) <= 1.0
        for module in (OWN[name], csv_table, json_document, jsonl):
            for log in logs_of(module, damage):
                for column in log.columns.values():
                    assert len(column.values) == len(column.rows) > 0
                    assert (np.diff(column.rows) >= 0).all()
        assert time.process_time() - begun < LONGEST


@pytest.mark.parametrize("name", OWN)
def test_the_whole_log_is_claimed_by_its_own_format_first(name: str) -> None:
    log = memory(content(name), str(LOGS / name))
    claims: dict[ModuleType, float] = {module: module.sniff(log) for module in MODULES}
    assert max(claims, key=lambda module: claims[module]) is OWN[name]


RUBBISH = (
    b"",
    b"\n\n\n",
    b"\xff" * 100,
    b"{" * 70_000,
    b"[" * 70_000,
    b'{"a":' * 20_000,
    b"," * 70_000,
    b"1" * 70_000,
    b"a,b\n" * 20_000,
    b'"' * 70_000,
    b"1," * 40_000,
    b'{"a": 1' + b"0" * 6000 + b"}\n",
    b"version https://git-lfs.github.com/spec/v1\n",
)


@pytest.mark.parametrize("data", RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_is_refused_or_read_by_everyone(data: bytes) -> None:
    rubbish = memory(data)
    begun = time.process_time()
    for module in MODULES:
        assert 0.0 <= module.sniff(rubbish) <= 1.0
        logs_of(module, rubbish)
    assert time.process_time() - begun < LONGEST


def test_a_cut_gzip_keeps_what_was_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = "".join(f"{i},{x!r}\n" for i, x in enumerate(rng.standard_normal(50_000).tolist()))
    packed = gzip.compress(f"step,loss\n{rows}".encode())
    path = tmp_path / "log.csv.gz"
    path.write_bytes(packed[: len(packed) // 2])
    log = csv_table.read(source(path))[0]
    assert 1000 < len(log.columns["loss"].values) < 50_000
    assert "compressed" in log.events[0].message
