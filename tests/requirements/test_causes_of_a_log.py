"""Small logs whose rows show the cause: what must come first, and what the first sentence says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.requirements.logs import FALLING, NOISE, STEPS, by_slug, said, said_of_table, said_of_text
from traindx import pipeline
from traindx.vocabulary.diagnosis import RunDiagnosis

AT = np.arange(STEPS)
BUMPS = np.where(AT >= 50, 2.0 * np.exp(-(AT % 50) / 4), 0.0)


def test_spikes_at_each_rise_of_the_rate_are_those_of_the_rate(tmp_path: Path) -> None:
    run = said_of_table(tmp_path, loss=FALLING + BUMPS, lr=1e-3 * (1 + AT // 50))
    assert run.hypotheses[0].cause == "learning-rate-too-high"
    assert "each time right after the learning rate rose" in run.decision.reason


def test_spikes_at_one_batch_are_those_of_its_samples(tmp_path: Path) -> None:
    batch = AT % 40
    run = said_of_table(tmp_path, loss=FALLING + 4.0 * (batch == 30) + (batch == 31), batch=batch)
    assert run.hypotheses[0].cause == "corrupt-samples"
    assert "each time at batch 30" in run.decision.reason


def test_a_discriminator_that_wins_is_too_strong(tmp_path: Path) -> None:
    lost = 1 + 9 * (1 - np.exp(-AT / 30)) + 0.3 * NOISE
    run = said(tmp_path, loss_D=np.maximum(1e-4, 0.6 * np.exp(-AT / 15)), loss_G=lost)
    assert run.hypotheses[0].cause == "unbalanced-opponents"
    assert run.hypotheses[0].fixes[0].fix == "balance-opponents"


def test_two_players_in_balance_have_no_such_cause(tmp_path: Path) -> None:
    run = said(tmp_path, loss_D=1.2 + 0.1 * NOISE, loss_G=0.9 + 0.15 * NOISE[::-1])
    assert run.health == "healthy"
    assert all(h.cause != "unbalanced-opponents" or h.probability < 0.1 for h in run.hypotheses)


def test_memory_is_given_in_mebibytes(tmp_path: Path) -> None:
    run = said_of_table(tmp_path, loss=FALLING, gpu_mem_mb=4000.0 + 35 * AT)
    assert f"to {4000 + 35 * (STEPS - 1):,} MiB" in run.decision.reason


def test_an_f1_of_zero_with_a_high_accuracy_is_class_imbalance(tmp_path: Path) -> None:
    epochs = np.arange(20)
    columns = {"loss": 0.25 * np.exp(-epochs / 10) + 0.18, "val_loss": 0.22 + 0.02 * np.exp(-epochs / 5)}
    run = said(
        tmp_path,
        "epoch",
        **columns,
        val_accuracy=np.full(20, 0.95),
        val_recall=np.zeros(20),
        val_f1=np.zeros(20),
    )
    assert run.hypotheses[0].cause == "class-imbalance"
    assert "every sample gets the most frequent class" in run.decision.reason


def test_an_f1_of_zero_with_a_low_accuracy_is_not(tmp_path: Path) -> None:
    epochs = np.arange(20)
    run = said(
        tmp_path, "epoch", loss=2.3 - 0.001 * epochs, val_accuracy=np.full(20, 0.1), val_f1=np.zeros(20)
    )
    assert run.hypotheses[0].cause != "class-imbalance"


def test_a_jump_that_heals_slowly_is_named(tmp_path: Path) -> None:
    jump = np.where(AT >= 100, 1.2 * np.exp(-(AT - 100) / 30), 0.0)
    run = said(tmp_path, loss=1.5 + 3 * np.exp(-AT / 25) + 0.02 * NOISE + jump)
    assert run.health == "healthy"
    spike = next(f for f in run.findings if f.slug == "loss-spikes-and-recovers")
    assert spike.onset_step == 100


def test_a_jump_that_stays_is_no_recovered_spike(tmp_path: Path) -> None:
    run = said(tmp_path, loss=1.5 + 3 * np.exp(-AT / 25) + 0.02 * NOISE + np.where(AT >= 100, 1.2, 0.0))
    assert all(f.slug != "loss-spikes-and-recovers" for f in run.findings)


def test_a_rate_that_is_only_almost_zero_is_not_called_zero(tmp_path: Path) -> None:
    epochs = np.arange(30)
    run = said(tmp_path, "epoch", loss=1.8 + 0.6 * np.exp(-epochs / 3), lr=0.1 * 0.3**epochs)
    assert "almost" in run.decision.reason


def pasted(folder: Path, text: str) -> RunDiagnosis:
    (folder / "question.txt").write_text(text)
    return pipeline.diagnose(pipeline.read_all(folder / "question.txt")).first


def test_a_divergence_that_vanishes_in_five_epochs_without_a_loss_is_named(tmp_path: Path) -> None:
    terms = [(180.2, 3.1), (165.3, 0.4), (164.8, 0.02), (164.7, 0.001), (164.7, 0.0004)]
    rows = "\n".join(f"epoch {i} recon {recon} kl {kl}" for i, (recon, kl) in enumerate(terms, 1))
    run = pasted(tmp_path, rows)
    assert run.health == "sick"
    assert "free bits" in run.hypotheses[0].fixes[0].change


def test_a_divergence_that_is_used_is_not(tmp_path: Path) -> None:
    terms = [(180.2, 1.1), (140.3, 6.4), (121.8, 9.2), (115.7, 10.1), (112.7, 11.4)]
    run = pasted(
        tmp_path, "\n".join(f"epoch {i} recon {recon} kl {kl}" for i, (recon, kl) in enumerate(terms, 1))
    )
    assert not [f for f in run.findings if f.slug == "posterior-collapses"]


EPOCHS = "\n".join(f"Epoch {i} loss {2.3027 - 0.0003 * i:.4f} acc 0.1135" for i in range(1, 6))


def test_a_question_that_names_depth_and_sigmoids_is_about_them(tmp_path: Path) -> None:
    run = pasted(
        tmp_path, f"I'm training a 20 layer MLP with sigmoid on MNIST. Why is the loss stuck?\n{EPOCHS}\n"
    )
    assert run.hypotheses[0].cause == "saturating-activations"


def test_a_sigmoid_at_the_output_of_rectifiers_is_not(tmp_path: Path) -> None:
    run = pasted(
        tmp_path, f"I have 20 layers with relu and a sigmoid at the end. Why is it stuck?\n{EPOCHS}\n"
    )
    assert run.hypotheses[0].cause != "saturating-activations"


def test_a_zero_that_stands_for_nan_is_said_as_the_log_prints_it(tmp_path: Path) -> None:
    losses = [1.92, 1.75, 0.0, 0.0, 0.0]
    rows = [
        f"{{'loss': {loss}, 'learning_rate': 2e-4, 'epoch': {i / 100}}}" for i, loss in enumerate(losses, 1)
    ]
    run = pasted(tmp_path, "\n".join([*rows, "{'eval_loss': nan, 'epoch': 0.05}"]))
    assert run.health == "failed"
    assert any("the log prints 0 for it" in f.message for f in run.findings)


def test_weights_that_grow_a_hundredfold_in_a_healthy_run_are_mentioned(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text(
        "step,loss,weight_norm\n" + "\n".join(f"{i},{FALLING[i]:.4f},{10 * 1.03**i:.2f}" for i in AT)
    )
    document = pipeline.diagnose(pipeline.read_all(tmp_path / "metrics.csv"))
    assert document.first.health == "healthy"
    assert "norm of the weights grew" in document.to_text().partition("Assessment")[2]


def test_validation_at_chance_from_the_first_epoch_is_prepared_differently(tmp_path: Path) -> None:
    epochs = np.arange(15)
    learned = np.exp(-epochs / 4)
    run = said(
        tmp_path, "epoch", 1, train_loss=1.5 * learned + 0.1, train_acc=1 - 0.6 * learned,
        val_loss=2.9 + 0.15 * epochs, val_acc=0.11 + 0.005 * NOISE[:15],
    )  # fmt: skip
    assert run.hypotheses[0].cause == "val-preprocessing-mismatch"


def test_validation_that_was_good_first_is_not(tmp_path: Path) -> None:
    epochs = np.arange(15)
    learned = np.exp(-epochs / 4)
    run = said(
        tmp_path, "epoch", 1, train_loss=1.5 * learned + 0.1, train_acc=1 - 0.6 * learned,
        val_loss=1.7 - 0.9 * np.exp(-((epochs - 3) ** 2) / 8), val_acc=0.5 + 0.2 * np.exp(-((epochs - 3) ** 2) / 8),
    )  # fmt: skip
    assert run.hypotheses[0].cause != "val-preprocessing-mismatch"


def test_a_loss_of_clipped_probabilities_is_not_put_down_to_imbalance(tmp_path: Path) -> None:
    accuracy = 0.112 + 0.001 * NOISE[:20]
    columns = {"loss": 16.118 * (1 - accuracy), "accuracy": accuracy}
    run = said(
        tmp_path, "epoch", 1, **columns, val_loss=np.full(20, 14.2886), val_accuracy=np.full(20, 0.1135)
    )
    likely = {h.cause for h in run.hypotheses[:3]}
    assert {"learning-rate-too-high", "unnormalized-inputs"} <= likely
    assert "class-imbalance" not in likely


def test_a_rate_that_is_raised_right_before_nan_is_the_cause(tmp_path: Path) -> None:
    run = said_of_table(tmp_path, loss=np.where(AT < 130, FALLING, np.nan), lr=np.where(AT < 120, 0.05, 0.5))
    assert run.hypotheses[0].cause == "learning-rate-too-high"
    assert "from 0.5 to 0.05" in run.hypotheses[0].fixes[0].change


def test_a_rate_that_was_raised_long_before_nan_is_not_sure_to_be(tmp_path: Path) -> None:
    early = said_of_table(
        tmp_path, loss=np.where(AT < 130, FALLING, np.nan), lr=np.where(AT < 120, 0.05, 0.5)
    )
    late = said_of_table(tmp_path, loss=np.where(AT < 190, FALLING, np.nan), lr=np.where(AT < 60, 0.05, 0.5))
    belief = [
        next(h.probability for h in r.hypotheses if h.cause == "learning-rate-too-high")
        for r in (early, late)
    ]
    assert belief[0] > belief[1]


COSINE = 1e-3 * (0.5 + 0.5 * np.cos(np.pi * AT / 130))  # planned for 130 of 200 rows


def test_a_cosine_that_climbs_back_with_the_loss_is_a_wrong_schedule(tmp_path: Path) -> None:
    lost = np.where(AT < 150, 0.0, 0.6 * (1 - np.exp(-(AT - 150) / 15)))
    run = said_of_table(tmp_path, loss=FALLING + lost, lr=COSINE)
    assert run.hypotheses[0].cause == "learning-rate-schedule-fault"
    assert "climbed back" in run.decision.reason


def test_a_cosine_that_climbs_back_without_harm_is_a_note(tmp_path: Path) -> None:
    run = said_of_table(tmp_path, loss=FALLING, lr=COSINE)
    assert run.health == "healthy"


def test_a_loss_that_hardly_falls_is_not_healthy(tmp_path: Path) -> None:
    run = said_of_table(tmp_path, loss=2.306 - 0.0002 * AT + 0.002 * NOISE, grad_norm=np.full(STEPS, 1e-4))
    assert run.health == "watch"


def test_a_loss_of_zero_throughout_is_sick_whatever_the_cause(tmp_path: Path) -> None:
    epochs = np.arange(20)
    assert said(tmp_path, "epoch", loss=0.0 * epochs, val_loss=0.0 * epochs).health == "sick"


def test_a_generator_that_never_leaves_its_clipped_loss_is_not_only_watched(tmp_path: Path) -> None:
    lost = np.full(12, 16.11809539794922)
    run = said(tmp_path, "epoch", 1, dloss=1e-4 * np.exp(-np.arange(12) / 4), g_loss=lost)
    assert run.health == "sick"
    assert "the discriminator wins" in " ".join(f.message for f in run.findings)


def test_a_quantized_loss_is_no_part_of_a_total(tmp_path: Path) -> None:
    float_loss = FALLING + 1
    run = said_of_table(tmp_path, fp32_loss=float_loss, quant_loss=float_loss + 0.1 + 0.008 * AT)
    assert run.hypotheses[0].cause == "quantization-gap"
    gap = next(f for f in run.findings if f.slug == "quantization-gap-widens")
    assert gap.evidence[0].value == pytest.approx(0.1 + 0.008 * STEPS, abs=0.1)


def test_a_codebook_whose_loss_rises_is_healthy(tmp_path: Path) -> None:
    book = 0.02 + 0.25 * (1 - np.exp(-AT / 30))
    run = said_of_table(tmp_path, loss=FALLING + book, recon_loss=FALLING, quant_loss=book)
    assert run.health == "healthy"


def test_a_batch_size_that_changes_is_named_in_a_healthy_run(tmp_path: Path) -> None:
    run = said_of_table(
        tmp_path, loss=FALLING, lr=np.full(STEPS, 3e-4), batch_size=np.where(AT < 100, 256, 512)
    )
    assert run.health == "healthy"
    (finding,) = [f for f in run.findings if f.slug == "batch-size-jumps"]
    assert "from 256 to 512 at step 100; the learning rate stayed at 0.0003" in finding.message


def test_a_term_of_the_loss_that_stays_is_no_fault(tmp_path: Path) -> None:
    terms = {"Loss/regularization_loss": np.full(STEPS, 0.15), "Loss/box_loss": FALLING}
    run = said_of_table(tmp_path, **terms, **{"Loss/total_loss": FALLING + 0.15})
    assert run.health == "healthy"
    assert {s.name for s in run.run.signals} == {"train/loss", "train/box_loss", "train/regularization_loss"}


def test_validation_at_chance_while_training_is_perfect_is_sick(tmp_path: Path) -> None:
    t = np.arange(60)
    run = said(
        tmp_path, "epoch", train_loss=2.3 * np.exp(-t / 10), val_loss=2.31 + 0.03 * np.sqrt(t),
        train_acc=1 - 0.9 * np.exp(-t / 9), val_acc=0.1 + 0.004 * NOISE[:60],
    )  # fmt: skip
    assert run.health == "sick"
    assert "train/accuracy is 0.9986" in run.decision.reason


def test_the_first_sentence_on_a_rising_validation_loss_says_from_where(tmp_path: Path) -> None:
    t = np.arange(30)
    rising = 0.2 + 0.7 * np.exp(-t / 4) + 0.02 * np.maximum(0, t - 8)
    run = said(
        tmp_path, "epoch", loss=0.1 + np.exp(-t / 5), val_loss=rising,
        accuracy=1 - 0.5 * np.exp(-t / 5), val_accuracy=0.8 - 0.3 * np.exp(-t / 4),
    )  # fmt: skip
    assert "val/loss rose from" in run.decision.reason


@pytest.mark.parametrize(("optimizer", "suspect"), [("", False), ("AdamW", False), ("SGD", True)])
def test_a_decay_of_0_05_is_usual_where_it_may_be_decoupled(
    tmp_path: Path, optimizer: str, suspect: bool
) -> None:
    lines = [f"optimizer: {optimizer}"] * bool(optimizer) + ["weight_decay: 0.05"]
    lines += [f"epoch {i} loss {0.3 + 0.7 * np.exp(-i / 12):.4f}" for i in range(40)]
    run = said_of_text(tmp_path, "\n".join(lines))
    assert (run.hypotheses[0].cause == "weight-decay-too-high") == suspect


def test_a_rate_that_falls_away_after_six_epochs_is_a_wrong_schedule(tmp_path: Path) -> None:
    epochs = np.arange(60)
    learned = np.minimum(epochs, 12 + (epochs - 12) / 50)
    loss = 2.3 * np.exp(-learned / 14) + 0.004 * NOISE[:60]
    run = said_of_table(tmp_path, loss=loss, lr=0.1 * 0.1 ** (epochs // 6))
    assert run.hypotheses[0].cause == "learning-rate-schedule-fault"
    usual = said_of_table(tmp_path, loss=2.3 * np.exp(-epochs / 14), lr=0.1 * 0.1 ** (epochs // 20))
    assert "learning-rate-vanishes-early" not in by_slug(usual)


def test_a_loss_that_doubles_late_is_not_healthy(tmp_path: Path) -> None:
    late = np.maximum(0, np.arange(STEPS) - 120)
    run = said_of_table(tmp_path, loss=FALLING + 0.007 * late)
    assert "loss-diverges" in by_slug(run)
    assert run.health != "healthy"
    near = said_of_table(tmp_path, loss=FALLING + 0.001 * late)  # by a tenth
    assert near.health == "healthy"


def test_a_loss_at_chance_that_had_fallen_did_improve(tmp_path: Path) -> None:
    loss = 2.3026 + 2.3 * np.exp(-np.arange(STEPS) / 15) + 0.001 * NOISE
    assert "has not improved" not in said_of_table(tmp_path, loss=loss).decision.reason


def test_spikes_at_one_place_of_each_epoch_point_at_a_batch(tmp_path: Path) -> None:
    epochs, batches = np.repeat(np.arange(6), 200), np.tile(np.arange(200), 6)
    steps = np.arange(1200)
    smooth = 0.3 + 2 * np.exp(-steps / 300)
    run = said_of_table(tmp_path, epoch=epochs, loss=smooth + 3.5 * (batches == 137))
    assert run.hypotheses[0].cause == "corrupt-samples"
    assert "each time at point 138 of an epoch" in by_slug(run)["loss-spikes-recur"].message
    anywhere = smooth + 3.5 * np.isin(steps, (137, 301, 522, 777, 809, 1101))
    other = said_of_table(tmp_path, epoch=epochs, loss=anywhere)
    assert "each time" not in by_slug(other)["loss-spikes-recur"].message


def test_three_spikes_of_twice_the_level_do_no_harm(tmp_path: Path) -> None:
    steps = np.arange(400)
    level = 0.9 + 4.8 * (1 + steps / 2) ** -0.3
    rises = np.where(np.isin(steps, (60, 170, 261)), 2.4, np.where(np.isin(steps, (61, 171, 262)), 1.5, 1))
    assert said_of_table(tmp_path, loss=level * rises).health == "healthy"
    high = said_of_table(tmp_path, loss=level * np.where(rises > 1, 5 * rises, 1))
    assert high.health != "healthy"


def test_time_for_data_beside_time_for_computing_is_waiting(tmp_path: Path) -> None:
    times = {"data_time": np.full(STEPS, 0.41), "compute_time": np.full(STEPS, 0.07)}
    run = said_of_table(tmp_path, loss=FALLING, **times)
    assert run.hypotheses[0].cause == "data-loader-bottleneck"
