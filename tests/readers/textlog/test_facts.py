"""What a text says of its setup before it trains, and what is no log at all."""

from __future__ import annotations

import warnings

import pytest

from tests.readers.sources import memory
from traindx.errors import NotALog
from traindx.readers import read_source
from traindx.readers.raw import RawLog

STEPS = "".join(f"step {i} loss {3 / (i + 1):.4f}\n" for i in range(30))


def facts(before: str) -> dict[str, object]:
    (log,) = read_source(memory(f"{before}\n{STEPS}"))
    assert list(log.columns) == ["loss"]
    return log.facts


@pytest.mark.parametrize(
    ("line", "optimizer"),
    [
        ("Using AdamW optimizer", "AdamW"),  # nanoGPT and many others
        ("using fused AdamW: True", "AdamW"),
        (
            "optimizer: SGD with parameter groups 123 weight, 134 weight (no decay), 123 bias",
            "SGD",
        ),  # YOLOv5
        (
            "optimizer: AdamW(lr=0.000714, momentum=0.9) with parameter groups 57 weight(decay=0.0)",
            "AdamW",
        ),  # YOLOv8
        ("optimizer = dict(type='SGD', lr=0.02, momentum=0.9, weight_decay=0.0001)", "SGD"),  # mmdetection
        ('{"optimizer": {"type": "SGD", "lr": 0.02}}', "SGD"),
        (
            "AdamW (\nParameter Group 0\n    amsgrad: False\n    betas: (0.9, 0.999)\n    lr: 0.0005\n)",
            "AdamW",
        ),  # PyTorch
        ("optimizer : <class 'torch.optim.adam.Adam'>", "Adam"),
        ("Training with optimizer Adam, learning rate of 0.01", "Adam"),
        ("INFO:root:optimizer sgd, learning rate 0.1, batch size 32", "sgd"),  # MXNet's examples
        ("Namespace(arch='resnet18', lr=0.1, optimizer='adam', momentum=0.9)", "adam"),
        ("python train.py --optimizer lion --lr 3e-4", "lion"),
    ],
)
def test_the_optimizer_that_a_log_names(line: str, optimizer: str) -> None:
    assert facts(line)["optimizer"] == optimizer


@pytest.mark.parametrize(
    "line",
    [
        "using fused AdamW: False",
        "choose an optimizer among adam, sgd and rmsprop",  # which one was chosen is not said
        "    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)",  # code says what may happen
        "we compare with Adam",
        "lamb chops: 3",
    ],
)
def test_what_names_none(line: str) -> None:
    assert "optimizer" not in facts(line)


@pytest.mark.parametrize(
    ("line", "precision"),
    [
        ("Using 16bit Automatic Mixed Precision (AMP)", "fp16"),  # Lightning
        ("Using bfloat16 Automatic Mixed Precision (AMP)", "bf16"),
        ("Trainer(precision='bf16-mixed')", "bf16"),
        ("python train.py --bf16 --lr 1e-4", "bf16"),
        ("mixed precision: bf16", "bf16"),
    ],
)
def test_the_precision_that_a_log_names(line: str, precision: str) -> None:
    assert facts(line)["precision"] == precision


PROSE = """# Results
We trained for 100 epochs with a learning rate of 0.01 and a batch size of 32. The loss was 0.34 after 10 epochs
and accuracy reached 92.3% on the test set. In version 2.0 we use 3 layers with 128 units.
"""
KERAS_SUMMARY = """Model: "sequential"
_________________________________________________________________
 Layer (type)                Output Shape              Param #
=================================================================
 conv2d (Conv2D)             (None, 26, 26, 32)        320
 dense (Dense)               (None, 128)               1179776
 dense_1 (Dense)             (None, 10)                1290
=================================================================
Total params: 1181386 (4.51 MB)
Trainable params: 1181386 (4.51 MB)
Non-trainable params: 0 (0.00 Byte)
"""
YOLO_LAYERS = """                 from  n    params  module                                  arguments
  0                -1  1      3520  models.common.Conv                      [3, 32, 6, 2, 2]
  1                -1  1     18560  models.common.Conv                      [32, 64, 3, 2]
  2                -1  1     18816  models.common.C3                        [64, 64, 1]
  3                -1  1     73984  models.common.Conv                      [64, 128, 3, 2]
Model summary: 213 layers, 7225885 parameters, 7225885 gradients, 16.4 GFLOPs
"""
LIGHTNING_LAYERS = """  | Name  | Type       | Params
-------------------------------------
0 | embed | Embedding  | 5.0 M
1 | lstm  | LSTM       | 3.2 M
-------------------------------------
8.2 M     Trainable params
0         Non-trainable params
32.800    Total estimated model params size (MB)
"""
PACKAGES = "numpy==1.26.4\ntorch==2.1.0\nscipy==1.11\npandas==2.0.3\n"


@pytest.mark.parametrize("text", [PROSE, KERAS_SUMMARY, YOLO_LAYERS, LIGHTNING_LAYERS, PACKAGES])
def test_what_is_no_log_is_refused(text: str) -> None:
    with pytest.raises(NotALog):
        read_source(memory(text))


def test_a_sentence_of_losses_that_comes_again_and_again_is_a_log() -> None:
    text = "".join(
        f"the loss of epoch {i} is {2 / (i + 1):.4f} and the accuracy is {i / 20:.3f}\n" for i in range(12)
    )
    (log,) = read_source(memory(text))
    assert {len(column.values) for column in log.columns.values()} == {12}


YOLO = """
      Epoch   gpu_mem       box       obj       cls    labels  img_size
      {e}/49      5.05G   {a:.5f}   {b:.5f}   {c:.5f}        35       640: 100%|##| 25/25 [00:08<00:00,  3.05it/s]
               Class     Images     Labels          P          R     mAP@.5 mAP@.5:.95: 100%|##| 4/4 [00:02<00:00]
                 all        128        929      {p:.3f}      {r:.3f}      {m:.3f}      {n:.3f}
"""


def test_the_headings_of_a_detector_are_no_numbers() -> None:
    """mAP@.5:.95 is a heading, its .95 no measurement; P and R mean precision and recall."""
    lines = (
        YOLO.format(e=e, a=0.1 - e / 1000, b=0.05, c=0.02, p=0.5, r=0.4, m=0.3 + e / 100, n=0.2)
        for e in range(50)
    )
    log: RawLog
    (log,) = read_source(memory("".join(lines)))
    assert log.columns["mAP@.5"].values.tolist() == [round(0.3 + e / 100, 3) for e in range(50)]
    assert set(log.columns["mAP@.5:.95"].values) == {0.2}
    assert set(log.columns["val/recall"].values) == {0.4}
    assert log.columns["box"].values[0] == 0.1


def test_a_metric_that_is_printed_as_zero_is_kept_and_a_line_number_is_not() -> None:
    text = "".join(f"step {i} loss {3 / (i + 1):.4f} quality 0.0000 of 640\n" for i in range(30))
    (log,) = read_source(memory(text))
    assert set(log.columns) == {"loss", "quality"}


def test_what_is_in_the_brackets_of_an_optimizer() -> None:
    first = "optimizer: SGD(lr=0.01, momentum=0.937) with parameter groups 57 weight(decay=0.0), 60 bias\n"
    (log,) = read_source(memory(first + "".join(f"step {i} loss {3 / (i + 1):.4f}\n" for i in range(30))))
    assert (log.facts["optimizer"], log.facts["lr"], log.facts["momentum"]) == ("SGD", 0.01, 0.937)


def test_options_alone_are_no_log() -> None:
    with pytest.raises(NotALog):
        read_source(memory("# Setting\n\n- batch size 128, lr 0.1\n"))


def test_numbers_without_end_are_no_line_numbers() -> None:
    """The difference of two infinities is a warning in numpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_source(memory("".join(f"step {i} loss {3 / (i + 1):.4f} level inf\n" for i in range(30))))


def asked_facts(text: str) -> dict[str, object]:
    (log,) = read_source(memory(text))
    return log.facts


@pytest.mark.parametrize(
    ("words", "fact", "value"),
    [
        ("I have only 250 images of two kinds, is that enough?", "dataset_size", 250),
        ("I trained it with Adam, what is wrong?", "optimizer", "adam"),
        ("My dropout is 0.7, should I change it?", "dropout", 0.7),
        ("I set a momentum of 0.99, can that be?", "momentum", 0.99),
        ("I train with SGD(lr = 0.1, momentum = 0.9), is that too high?", "lr", 0.1),
        ("model.compile(loss='mse', optimizer=Adagrad(lr=1.0, rho=0.95))\nWhy does it not learn?", "lr", 1.0),
        ("model.compile(loss='mse', optimizer=Adagrad(lr=1.0, rho=0.95))\nWhy does it not learn?", "optimizer",
         "Adagrad"),
        ("My learning rate is 3e-4. I see this, is it normal?", "lr", 3e-4),
        ("I set the batch size to 8 and get", "batch_size", 8),
        ("I have 25 classes and get", "classes", 25),
        ("I fine-tune with fp16. Should I worry?", "precision", "fp16"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("above", [True, False])
def test_what_somebody_says_who_asks(words: str, fact: str, value: object, above: bool) -> None:
    assert asked_facts(f"{words}\n{STEPS}" if above else f"{STEPS}\n{words}\n")[fact] == value


@pytest.mark.parametrize(
    "words",
    [
        "optimizer = SGD(model.parameters(), lr = 0.1)",  # a program that was printed, and nobody asks
        "I do not use fp16, what else could it be?",
        "I train on 2 GPUs and the loss is 3.1, is that normal?",
        "I looked at image 250 of the images, what do you see?",
        "I tried both with Adam and with SGD and Lion, what else?",
        "I lowered it by a factor of 10, is that enough?",
    ],
)
def test_what_says_nothing_of_the_setup(words: str) -> None:
    assert not asked_facts(f"{words}\n{STEPS}").keys() & {
        "lr",
        "optimizer",
        "precision",
        "classes",
        "batch_size",
    }


@pytest.mark.parametrize(
    ("words", "symptom"),
    [
        ("I trained for a day, but the loss does not decrease at all", "loss-flat-from-start"),
        ("Hi, why is my accuracy always 0.1 on the test data?", "metric-constant-or-impossible"),
        ("I see that the mAP is still 0 after ten epochs", "metric-constant-or-impossible"),
        ("I think the generator isn't learning anything.", "loss-flat-from-start"),
        ("为什么我的损失一直不下降？", "loss-flat-from-start"),
        ("When I train on the GPU all losses are nan, on the CPU it works", "loss-not-finite"),
        ("Does anybody know why the validation loss increases?", "validation-gap-grows"),
        ("I see that the loss suddenly explodes in the third epoch", "loss-diverges"),
    ],
)
def test_what_somebody_says_is_wrong(words: str, symptom: str) -> None:
    assert facts(words).get("symptoms") == symptom


@pytest.mark.parametrize(
    "words",
    [
        "I get the same accuracy as in the paper, is it normal?",
        "Hi, the loss decreases nicely. How many epochs should I train?",
        "Epoch 00012: val_loss did not improve from 0.80084",
        "Some weights of the model were not initialized from the checkpoint",
    ],
)
def test_what_is_no_complaint(words: str) -> None:
    assert "symptoms" not in facts(words)
