"""What the author of a question says is wrong, in the words that people use."""

from __future__ import annotations

import pytest

from tests.readers.sources import memory
from traindx import pipeline
from traindx.errors import ReadError
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.readers.textlog.complaints import (
    COMPLAINTS,
    NOTES,
    complaint_facts,
    complaints_in,
    names_chance,
)
from traindx.rules import SAID, list_entries
from traindx.vocabulary import RunDiagnosis


def said(text: str, classes: int | None = None) -> list[str]:
    """Everything that a question says, in words as they are printed in a fact."""
    facts = complaint_facts(dict(complaints_in(text)), text, classes)
    return [*facts["symptoms"], *facts["noticed"]]


def page(question: str) -> RunDiagnosis:
    runs = [run for log in read_source(memory(question)) for run in assemble(log)]
    (run,) = pipeline.diagnose(runs).document.runs
    return run


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        ("my loss is nan from the very first batch, please help", "loss-not-finite"),
        ("the loss turns into nan as soon as I use my own images", "loss-not-finite"),
        ("Training speed slows down a lot after some epochs", "step-time-creeps"),
        ("The time per epoch increases from 2 to 20 minutes, why?", "step-time-creeps"),
        ("every epoch takes longer than the one before", "step-time-creeps"),
        ("nvidia-smi shows GPU utilization of 8%, the rest of the time it waits", "step-waits-for-data"),
        ("It is waiting for the data most of the time.", "step-waits-for-data"),
        ("Why is my GPU idle most of the time?", "step-waits-for-data"),
        ("the GPU memory usage keeps growing until it crashes", "memory-grows"),
        ("RAM gets bigger with each epoch", "memory-grows"),
        ("the RAM goes up with every epoch", "memory-grows"),
        ("Why does it need more time in every iteration?", "step-time-creeps"),
        ("The discriminator loss drops to 0 and the generator loss keeps increasing", "discriminator-wins"),
        ("D loss goes to 0 quickly", "discriminator-wins"),
        ("In my VAE the KL term goes to zero after one epoch", "posterior-collapses"),
        ("validation loss is lower than training loss, is this a bug?", "validation-beats-training"),
        ("Why is my training loss higher than validation loss?", "validation-beats-training"),
        ("training accuracy is 99% but validation accuracy is only 60%", "validation-gap-grows"),
        ("I get a great training score but terrible test results", "validation-gap-grows"),
        ("my model does not generalize at all", "validation-gap-grows"),
        ("the val loss does not decrease while the training loss does", "validation-gap-grows"),
        ("my network predicts the same class for every image", "predictions-collapse"),
        ("It always predicts cat, no matter what I feed", "predictions-collapse"),
        ("the output masks are all black", "predictions-collapse"),
        ("I get the same output for all inputs", "predictions-collapse"),
        ("my bert predicts positive for every sentence", "predictions-collapse"),
        ("it predicts the mean for all inputs, I only get a straight line", "predictions-collapse"),
        ("the GAN shows mode collapse", "predictions-collapse"),
        ("mAP50 is 0.0 all the time", "metric-constant-or-impossible"),
        ("why is the loss negative?", "loss-has-no-floor"),
        ("My dice is always 0", "metric-constant-or-impossible"),
        ("the mAP was still 0 at the end", "metric-constant-or-impossible"),
        ("Everything looks fine, but I get 0 mAP on the test images", "metric-constant-or-impossible"),
        ("loss: 0 after the second step", "metric-constant-or-impossible"),
        ("the loss fluctuates a lot from batch to batch", "loss-oscillates"),
        ("loss keeps jumping around and never settles", "loss-oscillates"),
        ("the loss decreases very slowly", "loss-falls-slowly"),
        ("my net seems not to learn anything", "loss-flat-from-start"),
        ("there is no progress after 20 epochs", "loss-flat-from-start"),
        ("the average reward never increases", "loss-flat-from-start"),
        ("the accuracy has stopped improving after epoch 5", "loss-plateaus"),
        ("loss goes down and then up again", "loss-diverges"),
        ("after a million steps the reward collapses", "loss-diverges"),
        ("I resumed from the last checkpoint. Now the loss is much higher than before.", "loss-jumps-on-resume"),
        ("the loss jumps when I restart the training", "loss-jumps-on-resume"),
        ("After I resumed, the loss is very high again", "loss-jumps-on-resume"),
        ("resuming gives a much higher loss", "loss-jumps-on-resume"),
        ("断点训练resume后，前后loss不同", "loss-jumps-on-resume"),
        ("Why does the value of the loss suddenly increase?", "loss-diverges"),
        ("the model will diverge after 4000 steps", "loss-diverges"),
        ("训练到一半loss突然变大", "loss-diverges"),
        ("the training result is much better than that of validation", "validation-gap-grows"),
        ("the grad_norm is nan in some steps", "gradient-not-finite"),
        ("我的loss基本没有任何下降", "loss-flat-from-start"),
        ("acc一直停在0.1附近", "loss-flat-from-start"),
        ("loss变成负数了", "loss-has-no-floor"),
    ],
)  # fmt: skip
def test_what_is_said_in_the_words_of_people(words: str, slug: str) -> None:
    assert said(words) == [slug]


@pytest.mark.parametrize(
    "words",
    [
        "The loss decreases nicely, and it does not overfit.",
        "I am not sure that I understand the learning rate finder.",
        "Some people say that it is because some data is not released during training.",
        "validation loss and training loss are about the same",
        "Which batch size should I use on a GPU with 24 GB?",
        "How do I resume training in Keras?",
        "I load a checkpoint with torch.load and get a KeyError",
        "What does a discriminator do, and what does a generator do?",
        "I'd go from 100 to 0 workers, is that ok?",
        "the KL divergence is 12 at the end",
        "The model predicts the class of each image with 94 % accuracy.",
        "return the number of steps, always",
        "Is a validation loss of 0.3 good?",
        "What is the value of epsilon that increases most?",
        "The accuracy was 1.0 according to the printout.",
        "the gradient norm is 0.3 throughout",
        "我想继续训练这个模型",
    ],
)  # fmt: skip
def test_what_is_said_without_a_complaint(words: str) -> None:
    assert said(words) == []


@pytest.mark.parametrize(
    ("words", "classes", "expected"),
    [
        ("the loss is stuck at 0.693", None, True),  # ln 2
        ("my loss stays at 2.30", 10, True),  # ln 10
        ("accuracy is always 50%", None, True),
        ("the acc stays at 0.1", 10, True),
        ("the accuracy is stuck at 36%", 3, False),
        ("the accuracy is stuck at 33.3%", 3, True),
        ("my loss stays at 2.30", None, False),  # of how many classes is unknown
        ("the loss stays at 0.55", None, False),
        ("the accuracy is stuck at 70%", None, False),
        ("it is stuck at 0.5", None, False),  # of what?
    ],
)
def test_the_value_of_guessing_is_known(words: str, classes: int | None, expected: bool) -> None:
    assert names_chance(words, classes) is expected
    assert ("loss-at-chance" in said(words, classes)) is expected


@pytest.mark.parametrize(
    ("words", "tried"),
    [
        ("I lowered the learning rate to 1e-5 but nothing changes", True),
        ("different learning rates do not help", True),
        ("it doesn't matter if I reduce my learning rate", True),
        ("With a lower learning rate it trains well.", False),
        ("Should I use a smaller learning rate?", False),
    ],
)
def test_a_lower_rate_that_did_not_help_is_known(words: str, tried: bool) -> None:
    assert (complaint_facts({}, words, None)["tried"] == ("lower-rate",)) is tried


def test_a_lower_rate_that_did_not_help_leaves_another_cause() -> None:
    asked = "My loss is nan from the first epoch on, why?\n"
    assert page(asked).hypotheses[0].cause == "learning-rate-too-high"
    tried = page(f"{asked}I reduced the learning rate and it is still the same.\n")
    assert tried.hypotheses[0].cause != "learning-rate-too-high"
    assert tried.health in ("sick", "failed")


def test_guessing_is_said_once_and_gravely() -> None:
    run = page("Why is the accuracy of my two classes stuck at 50%? It does not learn.\n")
    assert [f.slug for f in run.findings] == ["loss-at-chance"]
    assert run.health == "sick"


def test_an_agent_gets_the_advice_for_agents() -> None:
    run = page("My DQN agent does not learn, the reward stays at -200. What can I do?\n")
    assert "random actions" in " ".join(r.text for r in run.recommendations)
    assert "random actions" not in " ".join(
        r.text for r in page("My CNN does not learn, why?\n").recommendations
    )


def test_every_complaint_has_words_for_the_page_and_a_rule() -> None:
    slugs = {slug for slug, _ in COMPLAINTS} | {"loss-at-chance", "loss-jumps-on-resume"}
    assert slugs == set(SAID)
    assert slugs <= {rule.slug for rule in list_entries()}
    assert slugs >= NOTES


def test_a_question_without_rows_is_answered() -> None:
    run = page("Why does my network predict the same class for every image?\nI have 300 images.\n")
    assert "predictions-collapse" in {f.slug for f in run.findings}
    assert run.decision.action == "inspect"
    assert "too short" not in run.decision.reason


def test_what_is_more_often_normal_is_no_alarm() -> None:
    run = page("Is it normal that the validation loss is lower than the training loss?\n")
    assert {f.severity for f in run.findings if f.slug == "validation-beats-training"} == {"info"}
    assert "normal" in run.decision.reason


def test_the_title_of_a_question_is_no_row_of_a_log() -> None:
    run = page("Loss: 0 after 15 steps\nI do not understand why this happens, can you help?\n")
    assert [f.slug for f in run.findings if f.severity == "medium"] == ["metric-constant-or-impossible"]
    assert not run.run.signals


def test_a_single_row_with_nan_stays_a_row() -> None:
    (log,) = read_source(memory("9/500 [....] - ETA: 43:03 - loss: nan - acc: 0.25\n"))
    assert "loss" in log.columns


def test_comments_of_a_program_are_not_what_somebody_says() -> None:
    code = "    return n  # always just return the same value for every batch\n"
    rows = "".join(f"step {i} loss {3 / i:.3f}\n" for i in range(1, 30))
    (log,) = read_source(memory(f"I print the number of tokens, is that right?\n{code}{rows}"))
    assert "symptoms" not in log.facts


def test_a_question_that_is_not_understood_is_told_what_to_paste() -> None:
    with pytest.raises(ReadError, match="no line") as refused:
        read_source(memory("Hi, how long does it take to train a detector on 1000 images?\n"))
    assert "paste them" in str(refused.value.hint)


def test_a_text_that_asks_nothing_is_refused() -> None:
    with pytest.raises(ReadError):
        read_source(memory("Install the package, then read the manual.\nThe license is MIT.\n"))


def test_a_loss_that_is_said_to_be_nan_has_failed() -> None:
    assert page("After some 2000 iterations my loss becomes nan. Any ideas why?").health == "failed"
    rows = "\n".join(f"step {i} loss {3 - 0.1 * i:.2f}" for i in range(3))
    assert page(f"Sometimes the loss becomes nan, is that normal?\n\n{rows}\n").health != "failed"


def test_a_boxed_table_may_be_indented() -> None:
    box = "\n".join(["-" * 30, "| loss/policy_loss | -0.011 |", "| ep_rewmean | 21.5 |", "-" * 30])
    indented = box.replace("\n", "\n  ")
    named = [
        set(assemble(log)[0].series)
        for text in (box, indented)
        for log in read_source(memory(f"My run:\n{text}"))
    ]
    assert named[0] == named[1] != set()


@pytest.mark.parametrize(
    "words",
    [
        "Overfit a single batch of data",
        "first I try to overfit on one small batch",
        "Gradient clipping of norm 1.0 is added to avoid exploding gradients.",
        "Dropout helps to prevent overfitting.",
    ],
)
def test_what_is_done_on_purpose_or_against_a_fault_is_no_complaint(words: str) -> None:
    assert said(words) == []


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        ("How can I prevent overfitting?", "validation-gap-grows"),
        ("I added dropout to prevent overfitting but the model still overfits.", "validation-gap-grows"),
        ("The model is overfitting the training images badly", "validation-gap-grows"),
        ("How to avoid exploding gradients in my LSTM?", "gradient-norm-explodes"),
        ("I use clipping against exploding gradients, yet the loss explodes.", "gradient-norm-explodes"),
    ],
)
def test_what_happens_nevertheless_is_one(words: str, slug: str) -> None:
    assert said(words) == [slug]
