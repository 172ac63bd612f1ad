"""Log real training losses to MLflow's folder store and to its SQLite store.

pip install torch mlflow-skinny sqlalchemy alembic; python tests/logs/make/mlflow_stores.py
"""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"

import mlflow
import torch
from net import data, net
from places import fresh, oracle


def train(lr: float, steps: int) -> list[tuple[int, float, float | None]]:
    x, y = data(seed=0)
    held = data(seed=1)
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    rows = []
    for step in range(steps):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        check = torch.nn.functional.cross_entropy(model(held[0]), held[1]).item() if step % 5 == 0 else None
        rows.append((step, loss.item(), check))
    return rows


def log_runs(uri: str) -> dict[str, list[tuple[int, float, float | None]]]:
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment("blobs")
    logged = {}
    for name, lr in (("good", 0.5), ("diverged", 1e38)):
        rows = train(lr, 30)
        with mlflow.start_run(run_name=name):
            mlflow.log_params({"lr": lr, "optimizer": "sgd", "batch_size": 256, "epochs": 30})
            for step, loss, check in rows:
                mlflow.log_metric("train/loss", loss, step=step)
                if check is not None:
                    mlflow.log_metric("val_loss", check, step=step)
        logged[name] = rows
    return logged


target = fresh("mlflow")
with tempfile.TemporaryDirectory() as work:
    folder = Path(work) / "mlruns"
    files = log_runs(folder.as_uri())
    shutil.copytree(folder, target / "mlruns", ignore=shutil.ignore_patterns("artifacts", ".trash"))
    database = log_runs(f"sqlite:///{work}/mlflow.db")
    tidy = sqlite3.connect(f"{work}/mlflow.db")
    tidy.executescript("""
        UPDATE runs SET user_id = '', source_name = '', artifact_uri = '';
        UPDATE experiments SET artifact_location = '';
        DELETE FROM tags WHERE key != 'mlflow.runName';
        PRAGMA page_size = 512;
        VACUUM;
    """)
    tidy.close()
    (target / "mlflow.db.gz").write_bytes(gzip.compress(Path(f"{work}/mlflow.db").read_bytes(), 9, mtime=0))
for meta in target.rglob("meta.yaml"):  # the maker's own path and name are nobody's business
    lines = [line for line in meta.read_text().splitlines() if not line.startswith(("artifact", "user_id"))]
    meta.write_text("\n".join(lines) + "\n")
for tag in (*target.rglob("mlflow.user"), *target.rglob("mlflow.source.*")):
    tag.unlink()
oracle("mlflow", {"files": files, "database": database})
