"""A question with the program that was pasted into it: what the source shows is the first cause, and a correct program
is no evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.requirements.logs import said_of_text

FLAT = "\n".join(
    f"Epoch [{i}/10], Loss: {2.3026 + 0.0004 * (-1) ** i:.4f}, acc: 0.1000" for i in range(1, 11)
)
RISING = "\n".join(f"epoch {i} loss {2.3 * 1.4**i:.3f}" for i in range(9))
BEST = "\n".join(
    f"epoch {i} train_loss {1.2 * 0.6**i:.4f} val_loss {1.0 * 0.5**i:.4f} val_acc {1 - 0.2 * 0.4**i:.4f}"
    for i in range(7)
)
LOOP = """for x, y in loader:
    {first}
    loss = criterion(model(x), y)
    loss.backward()
    {then}
    optimizer.step()
"""
CLEARED = LOOP.format(
    first="optimizer.zero_grad()", then="torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
)
QUESTION = "I am training a small net and the loss does not go down. What is wrong with my code?\n\n"
FAULTS = [
    ("double-softmax", "self.out = nn.Softmax(dim=1)\ncriterion = nn.CrossEntropyLoss()\n" + CLEARED, FLAT),
    ("double-softmax", "The last layer of my model is a softmax and I use nn.CrossEntropyLoss.\n", FLAT),
    ("double-softmax", "model = nn.Sequential(nn.Linear(9, 1), nn.Sigmoid())\nloss = nn.BCEWithLogitsLoss()\n", FLAT),
    ("missing-zero-grad", LOOP.format(first="x = x.to(device)", then="pass"), RISING),
    ("missing-optimizer-step", LOOP.format(first="model.train()", then="optimizer.zero_grad()"), FLAT),
    ("wrong-output-activation", "model.add(Dense(1, activation='softmax'))\n", FLAT),
    ("detached-graph", "loss = Variable(loss.data, requires_grad=True)\nloss.backward()\noptimizer.step()\n", FLAT),
    ("train-val-leakage", "model.fit(x_train, y_train, validation_data=(x_train, y_train))\n", BEST),
]  # fmt: skip
CORRECT = [
    "model = nn.Sequential(nn.Linear(784, 10))\ncriterion = nn.CrossEntropyLoss()\n" + CLEARED,
    "out = F.log_softmax(self.fc(x), dim=1)\nloss = F.nll_loss(out, y)\n" + CLEARED,
    "self.attention = nn.Softmax(dim=-1)\ncriterion = nn.CrossEntropyLoss()\n" + CLEARED,
    "model.add(Dense(10, activation='softmax'))\nmodel.compile(loss='categorical_crossentropy')\n",
    "model = nn.Sequential(nn.Linear(9, 1), nn.Sigmoid())\nloss = nn.BCELoss()\n" + CLEARED,
    "loss.backward()\noptimizer.step()\noptimizer.zero_grad()\n",
    "model.eval()\nwith torch.no_grad():\n    val_loss = evaluate(model, val_loader)\n" + CLEARED,
    "I normalized the inputs and froze all layers except the last one.\n",
]


@pytest.mark.parametrize(("cause", "program", "rows"), FAULTS)
def test_what_the_program_shows_is_the_first_cause(
    tmp_path: Path, cause: str, program: str, rows: str
) -> None:
    run = said_of_text(tmp_path, QUESTION + program + "\n" + rows + "\n")
    assert run.hypotheses[0].cause == cause
    assert run.hypotheses[0].probability > 0.5
    # On training data only the measurement is wrong, not the model.
    assert run.health in (("watch",) if cause == "train-val-leakage" else ("sick", "failed"))


@pytest.mark.parametrize("program", CORRECT)
@pytest.mark.parametrize("rows", [FLAT, BEST], ids=["flat", "best"])
def test_a_correct_program_is_no_evidence(tmp_path: Path, program: str, rows: str) -> None:
    run = said_of_text(tmp_path, QUESTION + program + "\n" + rows + "\n")
    assert "mistakes" not in run.run.setup
    assert all(f.slug != "program-shows-mistake" for f in run.findings)


def test_a_log_that_holds_source_and_no_question_is_not_searched(tmp_path: Path) -> None:
    run = said_of_text(tmp_path, "self.out = nn.Softmax(dim=1)\ncriterion = nn.CrossEntropyLoss()\n" + FLAT)
    assert all(f.slug != "program-shows-mistake" for f in run.findings)
