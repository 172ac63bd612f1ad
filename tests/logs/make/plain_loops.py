"""Train a small torch net and write its log in the exact form of tools that cannot be installed
next to the others (detectron2, mmcv 1, YOLO), and in forms of scripts without any tool.

pip install torch; python tests/logs/make/plain_loops.py
The numbers are those of a real training; only the writing is ours.
"""

from __future__ import annotations

import csv
import json

import torch
from net import data, net
from places import fresh, oracle

torch.set_num_threads(1)


def train(steps: int, lr: float = 0.1, seed: int = 0) -> list[dict[str, float]]:
    """Rows with iteration, loss, lr, grad_norm and, every tenth, val_loss and val_acc."""
    x, y = data(seed=0)
    held, truth = data(seed=1)
    model = net(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    rows = []
    for i in range(steps):
        batch = torch.randint(len(x), (32,), generator=torch.Generator().manual_seed(i))
        loss = torch.nn.functional.cross_entropy(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9)
        optimizer.step()
        row = {"iteration": i, "loss": loss.item(), "lr": lr, "grad_norm": norm.item()}
        if i % 10 == 9:
            with torch.no_grad():
                logits = model(held)
            row["val_loss"] = torch.nn.functional.cross_entropy(logits, truth).item()
            row["val_acc"] = (logits.argmax(-1) == truth).float().mean().item()
        rows.append(row)
    return rows


def lines(path, records) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


runs = [train(60), train(80, lr=0.05, seed=1)]
expected: dict[str, object] = {"runs": runs}

# detectron2: rows every 20 iterations, evaluation rows of their own, a second training appended
records = []
for run in runs:
    for row in run[19::20]:
        records.append(
            {
                "data_time": 0.01,
                "eta_seconds": 1.0,
                "iteration": row["iteration"],
                "lr": row["lr"],
                "time": 0.05,
                "total_loss": row["loss"],
            }
        )
        records.append(
            {"bbox/AP": 100 * row["val_acc"], "bbox/AP-rare": float("nan"), "iteration": row["iteration"]}
        )
lines(fresh("detectron2") / "metrics.json", records)

# mmcv 1: settings first, iter within the epoch, val rows with the size of the validation set
records = [
    {
        "env_info": "sys.platform: linux\nPython: 3.8\nMMCV: 1.7",
        "config": "optimizer = dict(type='SGD')",
        "seed": 0,
    }
]
for epoch in range(3):
    for row in runs[0][20 * epoch + 4 : 20 * epoch + 20 : 5]:
        records.append(
            {
                "mode": "train",
                "epoch": epoch + 1,
                "iter": row["iteration"] - 20 * epoch + 1,
                "lr": row["lr"],
                "memory": 1000,
                "data_time": 0.01,
                "loss": row["loss"],
                "grad_norm": row["grad_norm"],
                "time": 0.05,
            }
        )
    records.append(
        {
            "mode": "val",
            "epoch": epoch + 1,
            "iter": 256,
            "lr": 0.1,
            "bbox_mAP": row["val_acc"],
            "loss": row["val_loss"],
        }
    )
lines(fresh("mmcv") / "20250101_000000.log.json", records)

# YOLO v5: padded header; v8: plain; results.txt of early versions: none
folder = fresh("yolo")
epochs = runs[0][9::10]
names = [
    "epoch",
    "train/box_loss",
    "train/obj_loss",
    "train/cls_loss",
    "metrics/precision",
    "metrics/recall",
    "metrics/mAP_0.5",
    "metrics/mAP_0.5:0.95",
    "val/box_loss",
    "val/obj_loss",
    "val/cls_loss",
    "x/lr0",
    "x/lr1",
    "x/lr2",
]
with open(folder / "results_v5.csv", "w") as file:
    file.write(",".join(f"{name:>20}" for name in names) + "\n")
    for i, row in enumerate(epochs):
        values = [
            i,
            row["loss"],
            0.1,
            0.2,
            0.5,
            0.6,
            row["val_acc"],
            row["val_acc"] / 2,
            row["val_loss"],
            0.1,
            0.2,
            0.01,
            0.01,
            0.1,
        ]
        file.write(",".join(f"{value:>20.5g}" for value in values) + "\n")
with open(folder / "results_v8.csv", "w", newline="") as file:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(
        [
            "epoch",
            "time",
            "train/box_loss",
            "train/cls_loss",
            "train/dfl_loss",
            "metrics/precision(B)",
            "metrics/recall(B)",
            "metrics/mAP50(B)",
            "metrics/mAP50-95(B)",
            "val/box_loss",
            "val/cls_loss",
            "val/dfl_loss",
            "lr/pg0",
            "lr/pg1",
            "lr/pg2",
        ]
    )
    for i, row in enumerate(epochs):
        table.writerow(
            [
                i + 1,
                3.5 * (i + 1),
                round(row["loss"], 5),
                0.2,
                0.1,
                0.5,
                0.6,
                round(row["val_acc"], 5),
                round(row["val_acc"] / 2, 5),
                round(row["val_loss"], 5),
                0.2,
                0.1,
                0.01,
                0.01,
                0.01,
            ]
        )
(folder / "args.yaml").write_text(
    "task: detect\nmodel: yolov8n.pt\nepochs: 6\nbatch: 16\nlr0: 0.01\nmomentum: 0.937\n"
    "weight_decay: 0.0005\noptimizer: auto\nseed: 0\namp: true\nresume: null\n"
)
with open(folder / "results.txt", "w") as file:
    for i, row in enumerate(epochs):
        file.write(
            f"{i:>7}/{len(epochs) - 1}     1.05G"
            + "".join(f"{v:>10.4g}" for v in (row["loss"], 0.1, 0.2, row["loss"] + 0.3, 17, 640))
            + "".join(
                f"{v:>10.4g}"
                for v in (0.5, 0.6, row["val_acc"], row["val_acc"] / 2, row["val_loss"], 0.1, float("nan"))
            )
            + "\n"
        )

# scripts of one's own: JSON Lines with settings first, CSV of several dialects
folder = fresh("jsonl")
summary = {"_summary": {"n_params": 212, "final_loss": runs[0][-1]["loss"]}}
lines(
    folder / "settings_first.jsonl",
    [{"_meta": {"lr": 0.1, "optimizer": "sgd", "steps": 60, "seed": 0}}, *runs[0], summary],
)
split = []
for row in epochs:
    split.append({"split": "train", "epoch": (row["iteration"] + 1) // 10, "loss": row["loss"]})
    split.append(
        {
            "split": "val",
            "epoch": (row["iteration"] + 1) // 10,
            "loss": row["val_loss"],
            "scores": {"acc": row["val_acc"]},
        }
    )
lines(folder / "split_field.jsonl", split)
lines(
    folder / "log.txt",
    [
        {
            "train_lr": r["lr"],
            "train_loss": r["loss"],
            "test_loss": r["val_loss"],
            "test_acc1": 100 * r["val_acc"],
            "epoch": i,
            "n_parameters": 212,
        }
        for i, r in enumerate(epochs)
    ],
)
diverged = train(40, lr=1e25)
lines(folder / "bare_nan.jsonl", diverged)
expected["diverged"] = diverged
folder = fresh("csv")
with open(folder / "german.csv", "w", newline="\r\n") as file:
    file.write("\ufeffSchritt;Verlust;Lernrate\n")
    for row in runs[0]:
        file.write(f"{row['iteration']};{row['loss']!r};{row['lr']!r}\n".replace(".", ","))
with open(folder / "sparse_twice.csv", "w") as file:
    for run in runs:
        file.write("step,train loss,val loss\n")
        for row in run:
            file.write(f"{row['iteration']},{row['loss']!r},{row.get('val_loss', '')!r}\n".replace("''", ""))
(folder / "no_header.tsv").write_text("".join(f"{r['iteration']}\t{r['loss']!r}\n" for r in runs[0]))
with open(folder / "long_split.csv", "w") as file:
    file.write("epoch,phase,loss\n")
    for i, row in enumerate(epochs):
        file.write(f"{i},train,{row['loss']!r}\n{i},val,{row['val_loss']!r}\n")
oracle("plain_loops", expected)
