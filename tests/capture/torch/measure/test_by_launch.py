"""Facts that only a launched script shows: calls of schedules, divided losses, whose data is evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import traindx
from tests.capture.launch.launching import attached
from traindx.vocabulary.run import Run

HEAD = """
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(240, 6)
y = x[:, :3].argmax(1)
data = TensorDataset(x, y)
def step(i, backward=True):
    loss = F.cross_entropy(net(x[i * 24 % 240:][:24]), y[i * 24 % 240:][:24])
    if backward:
        loss.backward()
    return loss
"""


def run_of(script: str, folder: Path) -> Run:
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text(HEAD + script)
    done = attached(folder / "train.py", folder)
    assert done.status == 0, done.err.decode()[-2000:]
    run = done.run()
    assert not [event for event in run.events if event.code == "capture-failed"]
    return run


LOOP = """
for i in range(20):
    optimizer.zero_grad()
    step(i)
    optimizer.step()
    {per_batch}
    if i % 5 == 4:
        {per_epoch}
"""
SCHEDULES = {
    "each batch": ("s = L.StepLR(optimizer, 3)", "s.step()", "pass", 20),
    "each epoch": ("s = L.StepLR(optimizer, 3)", "pass", "s.step()", 4),
    "of others": (
        "s = L.SequentialLR(optimizer, [L.LinearLR(optimizer, 0.1, total_iters=2), L.StepLR(optimizer, 2)], [2])",
        "pass",
        "s.step()",
        4,
    ),
    "chained": (
        "s = L.ChainedScheduler([L.StepLR(optimizer, 9), L.ExponentialLR(optimizer, 0.9)])",
        "s.step()",
        "0",
        20,
    ),
    "on a plateau": ("s = L.ReduceLROnPlateau(optimizer)", "pass", "s.step(1.0)", 4),
    "restarts": ("s = L.CosineAnnealingWarmRestarts(optimizer, 5)", "s.step()", "pass", 20),
    "its own": (
        "class Mine(L.LRScheduler):\n    def get_lr(self): return [0.1]\n"
        "    def step(self, epoch=None): super().step()\ns = Mine(optimizer)",
        "s.step()",
        "pass",
        20,
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_calls_of_a_schedule_are_counted(name: str, tmp_path: Path) -> None:
    made, per_batch, per_epoch, expected = SCHEDULES[name]
    loop = LOOP.format(per_batch=per_batch, per_epoch=per_epoch)
    run = run_of(f"L = torch.optim.lr_scheduler\n{made}\n{loop}", tmp_path)
    assert run.setup.number("scheduler_steps") == expected
    assert run.setup.number("optimizer_steps") == 20


ACCUMULATIONS = {
    "divided": ("for k in range(4): (step(4 * i + k, False) / 4).backward()", True),
    "not divided": ("for k in range(4): step(4 * i + k)", False),
    "a sum": (
        "for k in range(4): F.cross_entropy(net(x[k::4]), y[k::4], reduction='sum').backward()",
        None,
    ),
    "two losses of one pass": (
        "out = net(x)\n    for z in (y, (y + 1) % 3): F.cross_entropy(out, z).backward(retain_graph=True)",
        None,
    ),
    "one batch": ("step(i)", None),
    "one batch twice, as sharpness-aware": ("step(i)\n    optimizer.zero_grad()\n    step(i)", None),
}


@pytest.mark.parametrize("name", ACCUMULATIONS)
def test_whether_accumulated_losses_are_divided(name: str, tmp_path: Path) -> None:
    inner, expected = ACCUMULATIONS[name]
    run = run_of(
        f"for i in range(12):\n    optimizer.zero_grad()\n    {inner}\n    optimizer.step()\n", tmp_path
    )
    assert run.setup.flag("accumulation_loss_scaled") is expected
    assert run.setup.accumulation == (
        None if name.startswith("one batch") else 2 if name.startswith("two") else 4
    )


def test_a_closure_that_is_called_again_accumulates_nothing(tmp_path: Path) -> None:
    run = run_of(
        "optimizer = torch.optim.LBFGS(net.parameters(), max_iter=5)\n"
        "def closure():\n    optimizer.zero_grad()\n    return step(0)\n"
        "for i in range(6): optimizer.step(closure)\n",
        tmp_path,
    )
    assert run.setup.accumulation is None


EPOCHS = """
def evaluate(loader):
    net.eval()
    with torch.no_grad():
        total = sum(F.cross_entropy(net(a), b).item() for a, b in loader)
    net.train()
    return total / len(loader)
for epoch in range(3):
    for a, b in train:
        optimizer.zero_grad()
        F.cross_entropy(net(a), b).backward()
        optimizer.step()
    {evaluations}
"""
LOADERS = """
order = torch.randperm(240).tolist()
train = DataLoader(data, 16, sampler=SubsetRandomSampler(order[:160]))
val = DataLoader(data, 16, sampler=SubsetRandomSampler(order[{start}:]))
again = DataLoader(data, 16, sampler=train.sampler)
"""


@pytest.mark.parametrize(("start", "share"), [(160, 0.0), (120, 1 / 3)])
def test_two_parts_of_one_data_set(start: int, share: float, tmp_path: Path) -> None:
    script = LOADERS.format(start=start) + EPOCHS.format(evaluations="evaluate(again); evaluate(val)")
    run = run_of(script, tmp_path)
    found = run.setup.number("train_val_overlap_share")
    assert found is not None
    assert (0.2 * share <= found <= share + 0.01) if share else found == 0  # not every batch may be hashed
    assert run.setup.flag("validation_is_training_data") is False
    assert run.setup.number("val_samples_hashed") == 240 - start
    assert len(run.series["val/loss"]) == 3
    assert len(run.series["train/eval_loss"]) == 3
    assert run.setup.number("val_class_majority_share") is not None
    assert len(run.series["val_outputs_majority_share"]) == 3


def test_a_training_accuracy_is_no_leak(tmp_path: Path) -> None:
    script = "train = DataLoader(data, 24, shuffle=True)\n" + EPOCHS.format(evaluations="evaluate(train)")
    run = run_of(script, tmp_path)
    assert run.setup.flag("validation_is_training_data") is True
    assert run.setup.known("train_val_overlap_share") is None
    assert "val/loss" not in run.series


def test_classes_in_order_and_the_scale_of_most_inputs(tmp_path: Path) -> None:
    script = """
x[5, 2] = 1e6
order = y.argsort()
for i in range(10):
    optimizer.zero_grad()
    part = order[i * 24:][:24]
    F.cross_entropy(net(x[part].clamp(-50, 50)), y[part]).backward()
    optimizer.step()
"""
    run = run_of(script, tmp_path)
    assert run.setup.number("inputs_absmax_median") == pytest.approx(2.0, abs=0.6)
    assert run.setup.number("inputs_max") == 50.0
    assert run.setup.number("batch_single_class_share") == pytest.approx(0.8, abs=0.15)
    entropy = run.setup.number("label_entropy")
    assert entropy is not None
    assert 1.0 < entropy <= 1.0987


OUTLIVES = """
a, b = next(iter(DataLoader(data, 24, shuffle=True)))
for i in range(20):
    optimizer.zero_grad()
    F.cross_entropy(net({inputs}), {targets}).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("inputs", "targets", "known"),
    [("a", "b", 240), ("x[24 * (i % 5):][:24]", "y[24 * (i % 5):][:24]", None)],
)
def test_the_loader_of_a_batch_that_outlives_it(
    inputs: str, targets: str, known: int | None, tmp_path: Path
) -> None:
    run = run_of(OUTLIVES.format(inputs=inputs, targets=targets), tmp_path)
    assert run.setup.number("dataset_size") == known
    assert run.setup.number("batches_distinct") == (
        1 if known else 5
    )  # so many batches are read however busy the machine is


def test_the_loader_of_a_batch_of_three_that_outlives_it(tmp_path: Path) -> None:
    """As triplets are: no part of the batch is the target of another."""
    drawn = "a, b, c = next(iter(DataLoader(torch.utils.data.TensorDataset(x, x.flip(0), y), 24)))"
    script = OUTLIVES.format(inputs="a", targets="c").replace(OUTLIVES.splitlines()[1], drawn)
    assert run_of(script, tmp_path).setup.number("dataset_size") == 240


def test_labels_of_two_losses_of_one_kind_are_not_out_of_range(tmp_path: Path) -> None:
    """As in BERT: a yes-or-no loss and one over a vocabulary. Labels of both are counted together."""
    script = """
words, heads = torch.randint(0, 29, (240,)), nn.ModuleList([nn.Linear(6, 29), nn.Linear(6, 2)])
optimizer.add_param_group({"params": heads.parameters()})
for i in range(20):
    optimizer.zero_grad()
    part = slice(i * 24 % 240, i * 24 % 240 + 24)
    loss = F.cross_entropy(heads[0](x[part]).reshape(-1, 4, 29).transpose(1, 2), words[part].reshape(-1, 4))
    (loss + F.cross_entropy(heads[1](x[part]), (y[part] > 0).long())).backward()
    optimizer.step()
"""
    run = run_of(script, tmp_path)
    slugs = {finding.slug for finding in traindx.diagnose(run).first.findings}
    assert "targets-out-of-range" not in slugs


LABELLED = """
x = torch.randn(40, 7, 6)
y = x[..., :3].argmax(-1)
for i in range(12):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""
LOSSES = {
    "a row for each position": "F.cross_entropy(net(x).reshape(-1, 3), y.reshape(-1))",
    "classes before positions": "F.cross_entropy(net(x).transpose(1, 2), y)",
    "probabilities before positions": "F.nll_loss(net(x).log_softmax(-1).transpose(1, 2), y)",
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_width_of_outputs_is_that_of_the_classes(name: str, tmp_path: Path) -> None:
    setup = run_of(LABELLED.format(loss=LOSSES[name]), tmp_path).setup
    assert setup.number("outputs_width") == setup.number("classes") == 3


def test_the_width_of_numbers_for_each_position_is_their_last_dimension(tmp_path: Path) -> None:
    numbers = LABELLED.format(loss="F.mse_loss(net(x), x[..., :3])")
    assert run_of(numbers, tmp_path).setup.number("outputs_width") == 3


def test_made_up_labels_of_pairs_are_no_classes_and_no_validation(tmp_path: Path) -> None:
    """Answers that were seen and drawn ones: the program itself writes ones for these and zeros for those."""
    run = run_of(
        """
call = nn.BCEWithLogitsLoss()
for i in range(40):
    scores = net(x[i * 24 % 240:][:24])
    loss = call(scores[:, 0], torch.ones(24)) + call(scores[:, 1], torch.zeros(24))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        tmp_path,
    )
    assert run.setup.known("batch_class_purity") is None
    assert not [name for name in run.series if name.startswith("val/")]
    assert run.setup.known("where/validation") is None


def test_sorted_batches_of_two_classes_are_seen(tmp_path: Path) -> None:
    run = run_of(
        """
y = (torch.arange(240) >= 120).float()
for i in range(40):
    loss = F.binary_cross_entropy_with_logits(net(x[i * 24 % 240:][:24])[:, 0], y[i * 24 % 240:][:24])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        tmp_path,
    )
    assert (run.setup.number("batch_class_purity") or 0) > 0.9
    assert not [name for name in run.series if name.startswith("val/")]


WITHIN = """
held, wanted = torch.randn(60, 6), torch.randint(0, 3, (60,))
for epoch in range(3):
    for rows, labels in DataLoader(data, batch_size=24, shuffle=True):
        optimizer.zero_grad()
        F.cross_entropy(net(rows), labels).backward()
        optimizer.step()
        net.eval()
        with torch.no_grad():
            loss = F.cross_entropy(net({held}), {wanted})
        net.train()
"""


@pytest.mark.parametrize(("held", "wanted", "same"), [("held", "wanted", False), ("rows", "labels", True)])
def test_whose_samples_are_evaluated_in_the_loop_over_the_training_data(
    held: str, wanted: str, same: bool, tmp_path: Path
) -> None:
    setup = run_of(WITHIN.format(held=held, wanted=wanted), tmp_path).setup
    assert bool(setup.flag("validation_is_training_data")) is same
