"""Names in other languages, and the heads that loggers print before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx import pipeline
from traindx.readers.names.aliases import TERMS, any_term, in_english, role_of


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("训练损失", "train/loss"), ("验证损失", "val/loss"), ("验证准确率", "val/accuracy"), ("学习率", "lr"),
        ("平均损失", "train/loss"), ("検証損失", "val/loss"), ("정확도", "train/accuracy"), ("학습률", "lr"),
        ("损失_val", "val/loss"), ("Verlust", "train/loss"), ("точность", "train/accuracy"),
        ("exactitud_validacion", "val/accuracy"), ("Kayıp", "train/loss"), ("akurasi", "train/accuracy"),
        ("Trainingsverlust", "train/loss"), ("Validierungsgenauigkeit", "val/accuracy"),
        ("perte_d'entraînement", "train/loss"),
        ("pérdida de validación", "val/loss"), ("precisión de validación", "val/accuracy"),
        ("потери на валидации", "val/loss"), ("потери на обучении", "train/loss"), ("doğrulama kaybı", "val/loss"),
        ("mất mát kiểm định", "val/loss"), ("Độ chính xác kiểm tra", "val/accuracy"), ("Loss huấn luyện", "train/loss"),
        ("accuratezza di validazione", "val/accuracy"), ("دقة التحقق", "val/accuracy"),
    ],
)  # fmt: skip
def test_a_name_means_what_its_english_means(name: str, signal: str) -> None:
    assert role_of(name).signal == signal


@pytest.mark.parametrize(
    "name", ["loss", "val_loss", "naïve_score", "λ", "verlustig", "temperature", "d_loss", "stratagem"]
)
def test_what_is_not_known_stays(name: str) -> None:
    assert in_english(name) == name


def test_no_word_means_two() -> None:
    words = [word for terms in TERMS.values() for word in terms.split()]
    assert len(set(words)) == len(words)
    assert all(any_term().fullmatch(word) for word in words)


LINE = "{head}{epoch} {n}/10, {train}: {loss:.4f}, {val}: {held:.4f}\n"
ENGLISH = {"epoch": "Epoch", "train": "train_loss", "val": "val_loss"}


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("INFO:__main__:", ENGLISH),
        ("INFO:train_2:", ENGLISH),
        ("DEBUG:my_project.loops:", ENGLISH),
        ("[INFO] ", {"epoch": "轮次", "train": "训练损失", "val": "验证损失"}),
        ("", {"epoch": "エポック", "train": "訓練損失", "val": "検証損失"}),
    ],
)
def test_a_log_reads_like_the_plain_one(tmp_path: Path, head: str, words: dict[str, str]) -> None:
    values = [(n, 2.5 / n, 2.6 / n + 0.1) for n in range(1, 8)]
    file = tmp_path / "train.log"
    file.write_text("".join(LINE.format(head=head, n=n, loss=a, held=b, **words) for n, a, b in values))
    (run,) = pipeline.read_all(file)
    assert run.axis == "epoch"
    for name, column in (("train/loss", 1), ("val/loss", 2)):
        assert run.series[name].steps.tolist() == [v[0] for v in values]
        assert run.series[name].values == pytest.approx([v[column] for v in values], abs=1e-4)
