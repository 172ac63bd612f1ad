"""A fault that the author of a question describes, in words or in the code that he pastes."""

from __future__ import annotations

import pytest

from tests.readers.sources import memory
from traindx import pipeline
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.readers.textlog.mistakes import MISTAKES, find_mistakes
from traindx.rules import list_entries
from traindx.rules.lop.program_shows_mistake import WORDS

FALLS = "".join(
    f"Epoch {i} train loss {1.2 / i + 0.4:.4f} val loss {1.2 / i + 0.45:.4f}\n" for i in range(1, 9)
)
LEVEL = "".join(f"Epoch {i} loss {2.3026 - i / 4000:.4f}\n" for i in range(1, 9))
LOOP = "for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()\n"
ZERO = LOOP.replace("    loss.back", "    optimizer.zero_grad()\n    loss.back")


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        (ZERO + "model.eval()\n", "training-in-eval-mode"),
        (ZERO + "losses.append(loss)\n", "graph-is-kept"),
        ("We augment the images and then split them.", "train-and-validation-overlap"),
        ("I froze all layers of the network and forgot to replace the head.", "all-layers-frozen"),
        ("model.add(Dense(1, activation='relu'))\nmodel.compile(loss='binary_crossentropy')", "output-cannot-reach-targets"),
        ("def forward(self, x):\n    return F.relu(self.fc2(x))\nnn.CrossEntropyLoss()", "output-cannot-reach-targets"),
        ("Validation on the same data is bad, but only with batch normalization.", "modes-disagree"),
        ("My columns contain some NaN values", "inputs-not-finite"),
        ("With amp I get nan, in fp32 it works.", "half-precision-overflows"),
        ("It prints loss: 0.0 and grad_norm: nan from step 1", "half-precision-overflows"),
        ("the gradient norm is nan while the loss is zero", "half-precision-overflows"),
        ("evaluate() on the training set has accuracy 0.5, I use a ResNet", "modes-disagree"),
        ("The files are sorted by class.", "batches-sorted-by-class"),
        ("I use MSELoss for classification.", "loss-does-not-fit-targets"),
        ("With BatchNorm, model.eval() gives much worse results.", "modes-disagree"),
    ],
)  # fmt: skip
def test_a_fault_that_a_question_describes(text: str, slug: str) -> None:
    assert slug in [*find_mistakes(text)["described"], *find_mistakes(text)["mistakes"]]


@pytest.mark.parametrize(
    "text",
    [
        "return F.log_softmax(x, dim=1)\ncriterion = nn.NLLLoss()",
        "I removed the softmax because CrossEntropyLoss includes it.",
        "My last layer has no softmax, the loss is nn.CrossEntropyLoss.",
        "probs = torch.softmax(logits, dim=1)\nloss = nn.CrossEntropyLoss()(logits, y)",  # for an accuracy
        "Dense(10, activation='softmax')\nloss='categorical_crossentropy'",
        "x = torch.sigmoid(self.fc(x))\ncriterion = nn.BCELoss()",
        "x = F.relu(self.fc1(x))\nreturn self.fc2(x)\ncriterion = nn.CrossEntropyLoss()",
        ZERO,
        ZERO + "model.eval()\nmodel.train()\n",
        ZERO + "losses.append(loss.item())\n",
        "model.fit(x_train, y_train, validation_data=(x_val, y_val))",
        "We split the images and then augment the training set.",
        "GPU utilization is 95%",
        "the loss is 0.02 and the gradient norm is 1.3",
        "evaluate() on the test set has accuracy 0.5, I use a ResNet",
        "I checked that there are no NaN values in the inputs.",
        "I filled the missing values with the mean.",
        "I use MSELoss for a regression.",
        "I froze all layers except the head.",
        "The GPU works in fp32.",
    ],
)
def test_what_describes_no_fault(text: str) -> None:
    found = find_mistakes(text)
    assert not {*found["described"], *found["mistakes"]} - {"half-precision-overflows"}


@pytest.mark.parametrize(
    "text",
    [
        "The network ends with a sigmoid and I use BCEWithLogitsLoss.",
        "x = torch.sigmoid(self.fc(x))\ncriterion = nn.BCEWithLogitsLoss()",
    ],
)
def test_a_sigmoid_before_a_loss_that_applies_one(text: str) -> None:
    assert find_mistakes(text)["mistakes"] == ["sigmoid-before-logits-loss"]


def test_each_mistake_has_the_name_that_its_fact_asks_for() -> None:
    rules = {rule.slug for rule in list_entries()}
    for mistake in MISTAKES:
        named = rules if mistake.fact == "described" else set(WORDS)
        assert mistake.slug in named, f"{mistake.slug}: see the docstring of textlog/mistakes.py"


def asked(question: str, rows: str) -> tuple[str, str, str]:
    """Health, action and leading cause of a pasted question."""
    (log,) = read_source(memory(f"Why does my model not do what I want?\n{question}\n\n{rows}"))
    (run,) = assemble(log)
    found = pipeline.diagnose([run]).document.runs[0]
    return found.health, found.decision.action, found.hypotheses[0].cause


@pytest.mark.parametrize(
    ("question", "cause"),
    [
        ("We augment the images and then split them.", "train-val-leakage"),
        ("GPU utilization is only 5%, it is waiting for the data.", "data-loader-bottleneck"),
    ],
)
def test_a_described_fault_leads_and_is_to_be_inspected(question: str, cause: str) -> None:
    assert asked(question, FALLS) == ("watch", "inspect", cause)


def test_without_a_described_fault_a_falling_loss_goes_on() -> None:
    assert asked(ZERO, FALLS) == ("healthy", "continue", "healthy")


def test_a_described_fault_does_not_hide_that_nothing_is_learned() -> None:
    assert asked("I use MSELoss for classification.", LEVEL) == ("sick", "inspect", "wrong-loss")


def test_a_log_that_nobody_asks_about_describes_nothing() -> None:
    (log,) = read_source(memory(f"GPU utilization is 5%\n{FALLS}"))
    assert "described" not in log.facts
