"""The error at the end of a log: what it means is said in the first sentences, and no advice that has nothing to do
with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.requirements.logs import said_of_text

ROWS = """epoch 1 train_loss 2.1042 val_loss 1.9921
epoch 2 train_loss 1.8810 val_loss 1.8042
epoch 3 train_loss 1.7305 val_loss 1.7011
"""
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 88, in <module>\n    main()\n'
ERRORS = [
    ("IndexError: Target 10 is out of bounds.", "one output for each class"),
    ("RuntimeError: all elements of input should be between 0 and 1", "put a sigmoid before it"),
    (
        "RuntimeError: Expected all tensors to be on the same device, but found cuda:0 and cpu!",
        "to one device",
    ),
    ("ValueError: Expected more than 1 value per channel when training", "drop_last=True"),
    ("RuntimeError: Trying to backward through the graph a second time", "Detach"),
    ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x512 and 784x10)", "shapes"),
    ("RuntimeError: Error(s) in loading state_dict for Net: size mismatch", "as it was saved"),
    ("OSError: [Errno 28] No space left on device", "disk"),
    ("RuntimeError: DataLoader worker (pid 4521) is killed by signal: Killed.", "main memory"),
]


@pytest.mark.parametrize(("error", "words"), ERRORS)
@pytest.mark.parametrize("rows", ["", ROWS], ids=["alone", "after-rows"])
def test_what_an_error_means_is_in_the_first_sentences(
    tmp_path: Path, error: str, words: str, rows: str
) -> None:
    run = said_of_text(tmp_path, rows + TRACE + error + "\n")
    assert run.health == "failed"
    assert run.decision.action == "stop"
    assert words in run.decision.reason
    assert all(advice.kind != "logging" for advice in run.recommendations)


def test_an_unknown_error_has_no_remedy(tmp_path: Path) -> None:
    run = said_of_text(tmp_path, ROWS + TRACE + "RuntimeError: the moon is full\n")
    assert run.decision.reason.endswith("Fix that first")


def test_labels_out_of_range_are_to_be_counted_and_not_joined(tmp_path: Path) -> None:
    run = said_of_text(tmp_path, TRACE + "IndexError: Target 10 is out of bounds.\n")
    assert run.hypotheses[0].cause == "misaligned-labels"
    assert run.hypotheses[0].fixes[0].fix == "renumber-labels"


def test_outputs_out_of_range_are_a_matter_of_the_last_layer(tmp_path: Path) -> None:
    kernel = (
        "Loss.cu:111: operator(): block: [3,0,0] Assertion `input_val >= zero && input_val <= one` failed.\n"
    )
    run = said_of_text(tmp_path, kernel + TRACE + "RuntimeError: CUDA error: device-side assert triggered\n")
    assert run.hypotheses[0].cause == "wrong-output-activation"
    assert "sigmoid" in run.hypotheses[0].fixes[0].change


def test_an_error_of_the_allocator_is_a_lack_of_memory(tmp_path: Path) -> None:
    error = "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n"
    assert said_of_text(tmp_path, TRACE + error).hypotheses[0].cause == "out-of-memory"
