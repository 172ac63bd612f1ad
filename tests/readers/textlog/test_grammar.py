"""One line at a time: which numbers are metrics, which count, and which are neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.readers.textlog.grammar import Parsed, parse
from traindx.readers.textlog.variants import Variant

LOGS = Path(__file__).parents[2] / "logs" / "text"


def metrics(line: str) -> dict[str, float]:
    found = parse(line)
    pairs = zip(found.fields, found.spans, strict=True)
    return {
        f.name: float(line[a:b].replace(",", "")) * f.factor for f, (a, b) in pairs if f.kind == "metric"
    }


def counters(line: str) -> list[tuple[str, int]]:
    found = parse(line)
    pairs = zip(found.fields, found.spans, strict=True)
    return [(f.name, int(float(line[a:b]))) for f, (a, b) in pairs if f.kind in ("counter", "within")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("loss=0.5, acc: 0.25 | lr 1e-3", {"loss": 0.5, "acc": 0.25, "lr": 1e-3}),
        ("step 3 loss -1.234E+01", {"loss": -12.34}),
        ("Validation loss decreased (inf --> 0.8).  Saving model ...", {}),
        ("val_loss 0.8 (decreased from 0.9)", {"val_loss": 0.8}),
        ("Computing loss:   8%|#8        | 1/13 [00:00<00:07,  1.55it/s]", {"it/s": 1.55}),
        ("loss: 0.5:  62%|######    | 8/13 [00:04<00:03,  1.55it/s]", {"loss": 0.5, "it/s": 1.55}),
        ("acc: 91%| loss: 0.2", {"acc": 91.0, "loss": 0.2}),
        ("iter 3: loss 15.2k", {"loss": 15200.0}),
        ("it 3 loss .5 acc 5.", {"loss": 0.5, "acc": 5.0}),
        ("{'loss': '1.5', \"acc\": 0.5}", {"loss": 1.5, "acc": 0.5}),
        ("‘loss’: ‘1.5’", {"loss": 1.5}),
        ("top-5 acc: 0.9 mAP50-95 0.3 Acc@1 72.1", {"top-5_acc": 0.9, "mAP50-95": 0.3, "Acc@1": 72.1}),
        ("Loss 3.91 (3.90) Time 0.3 (0.4)", {"Loss": 3.91, "Loss_running_mean": 3.9, "Time": 0.3}),
        ("wps: 7,890 loss: 2.5", {"wps": 7890.0, "loss": 2.5}),
        (
            "Train Loss: 0.5 | Acc: 0.8 | Val Loss: 0.6 | Acc: 0.7",
            {"Train_Loss": 0.5, "Acc": 0.8, "Val_Loss": 0.6, "val/Acc": 0.7},
        ),
        ("val Loss: 0.6 Acc: 0.7", {"val_Loss": 0.6, "val/Acc": 0.7}),
        ("| epoch 2 | valid on 'valid' subset | ppl 4.5", {"val/ppl": 4.5}),
        ("{'train': {'loss': 0.5}, 'val': {'loss': 0.6}}", {"loss": 0.5, "val/loss": 0.6}),
        ("D(x): 0.8 D(G(z)): 0.3", {"D(x)": 0.8, "D(G(z))": 0.3}),
        ("loss: tensor(0.25, device='cuda:0')", {"loss": 0.25}),
        ("loss is 0.5 and accuracy of 0.7", {"loss": 0.5, "accuracy": 0.7}),
        ("epoch 3: 1250.5, 0.31 avg loss, 12 images", {"avg_loss": 0.31}),
        ("🔥 Epoch 1 ✅ loss: 0.5", {"loss": 0.5}),
        ("INFO:root:loss=0.5", {"loss": 0.5}),
        (
            "seen 1, loss: x 0.5, y .25, total 0.75",
            {"seen": 1.0, "x_loss": 0.5, "y_loss": 0.25, "loss": 0.75},
        ),
        ("loss: 0.5, x 0.25", {"loss": 0.5}),
        ("loss: cls 0.5, acc 0.25", {"cls_loss": 0.5, "acc": 0.25}),
        ("1m 4s (- 15m 5s) (5000 6%) 2.8525", {"value": 2.8525}),
        ("5000 6% (0m 12s) 2.4177 Garcia / Spanish", {"value": 2.4177}),
        ("Epoch: 3 (loss = 0.42f0, acc = 88.5)", {"loss": 0.42, "acc": 88.5}),
        (
            "Step: 9. Elapsed: 3.5 s. Mean Reward: 2.5. Std of Reward: 0.5.",
            {"Mean_Reward": 2.5, "Std_of_Reward": 0.5},
        ),
        ("Step 3: KL Loss=4, Total Loss=.5", {"KL_Loss": 4.0, "Total_Loss": 0.5}),
        ("Trainer finished an Epoch with Loss=2.5", {"Loss": 2.5}),
        ("训练时，loss出现Nan值", {}),
    ],
)
def test_metrics(line: str, expected: dict[str, float]) -> None:
    assert metrics(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Epoch: [24]  [1230/1251]  loss: 0.5", [("epoch", 24), ("", 1230)]),
        ("Epoch [1][50/7330]\tlr: 1.978e-02", [("epoch", 1), ("", 50)]),
        ("[17][3] loss 0.5", [("", 17), ("", 3)]),
        ("step:125/3242 loss:4.1", [("step", 125)]),
        (" iteration 29020/ 311541 | lm loss: 2.77E+00", [("iteration", 29020)]),
        (
            "| epoch 001:    200 / 1374 loss=14.3, num_updates=190",
            [("epoch", 1), ("", 200), ("num_updates", 190)],
        ),
        ("validation loss at iteration 7000 | lm loss value: 7.1", [("iteration", 7000)]),
        ("76980 nan", [("", 76980)]),
        ("[10]\tvalidation_0-rmse:1.66", [("", 10)]),
        ("Train Epoch: 2 [640/60000 (1%)]\tLoss: 0.5", [("epoch", 2), ("", 640)]),
        ("global_step=18.00, loss=1", [("global_step", 18)]),
    ],
)
def test_counters(line: str, expected: list[tuple[str, int]]) -> None:
    assert counters(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "2021-05-23 08:41:04,123 eta: 1 day, 3:30:43 pid 4711 port: 29500 seed=42 rank 3",
        'File "train.py", line 320, in <module>',
        "I0604 20:56:53.277104   904 solver.cpp:229] Using GPUs 0",
        "Epoch 3: val_loss improved from 0.48 to 0.40, saving model",
        "loading checkpoint from step_300.pt took 3.2s",
        "the number of nan values was checked",
        "val_loss: nope",
        "  lr ..................... 0.00015",
        'log(f"loss:{loss:.4f}")',
        "wrote 3 files, 17 blocks",
        "version 1.2.3 at 10.0.0.1, 0x7f7569ab5ec5",
    ],
)
def test_side_numbers_are_no_metrics(line: str) -> None:
    assert metrics(line) == {}


def texts_of(line: str, parsed: Parsed) -> list[str]:
    stamp = [line[slice(*parsed.stamp)]] if parsed.stamp else []
    return stamp + [line[a:b] for a, b in parsed.spans]


def test_templates_read_what_the_grammar_reads() -> None:
    """A template is made from one line; on any other line that it fits it must find what the
    grammar finds there."""
    checked = 0
    for path in sorted(LOGS.glob("*.log")):
        text = path.read_bytes().decode("utf-16" if path.stem == "utf16" else "utf-8", errors="replace")
        known: list[Variant] = []
        for line in text.replace("\r", "\n").replace("\x08", "\n").split("\n"):
            parsed = parse(line)
            if not parsed.fields:
                continue
            fitting = [v for v in known if v.fields == parsed.fields and v.fits(line)]
            for variant in fitting[:1]:
                found = variant.compiled()(line)
                assert found is not None
                assert list(found.groups()) == texts_of(line, parsed), (path.stem, line)
                checked += 1
            if not fitting:
                known.append(Variant(line, parsed, lambda *_: None))
                assert known[-1].fits(line), (path.stem, line)
    assert checked > 2000
