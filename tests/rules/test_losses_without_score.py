"""Trainings whose losses show no score, made to go wrong and not: an agent, an autoencoder, preference tuning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.captured import with_facts
from traindx import pipeline
from traindx.vocabulary.run import series

torch = pytest.importorskip("torch")
F = torch.nn.functional
Row = Mapping[str, float]


def found(rows: Iterator[Row], folder: Path) -> dict[str, str]:
    """Severities of the findings in a table with these rows."""
    table = list(rows)
    lines = [",".join(table[0]), *(",".join(str(float(value)) for value in row.values()) for row in table)]
    (folder / "progress.csv").write_text("\n".join(lines))
    said = pipeline.diagnose(pipeline.read(folder / "progress.csv")).first
    return {finding.slug: finding.severity for finding in said.findings}


def agent(*, feeds_itself: bool, steps: int = 2000) -> Iterator[Row]:
    """A critic with one weight (Tsitsiklis and Van Roy): the state after has twice the feature of any before, so its
    own estimate of that state drives it up. Otherwise it learns from rewards alone."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.05)
    for step in range(steps):
        features = 1.0 + torch.randint(0, 2, (32,), generator=generator)
        value, reward = weight * features, 0.1 * torch.randn(32, generator=generator)
        after = 0.99 * 2.0 * weight.detach() if feeds_itself else torch.zeros(32)
        loss = F.mse_loss(value, reward + after)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0 and weight.detach().abs() < 1e30:
            yield {"global_step": step, "charts/episodic_return": float(10 * reward.sum().clamp(-1, 1)),
                   "losses/td_loss": float(loss.detach()),
                   "losses/q_values": float(value.detach().mean())}  # fmt: skip


def autoencoder(*, beta: float, steps: int = 400) -> Iterator[Row]:
    torch.manual_seed(0)
    factors = torch.randn(512, 2)
    samples = factors @ torch.randn(2, 20) + 0.1 * torch.randn(512, 20)
    encoder, decoder = torch.nn.Linear(20, 8), torch.nn.Linear(4, 20)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.02)
    for step in range(steps):
        mean, spread = encoder(samples).chunk(2, 1)
        code = mean + torch.randn_like(mean) * (spread / 2).exp()
        kl = -0.5 * (1 + spread - mean**2 - spread.exp()).sum(1).mean()
        recon = ((decoder(code) - samples) ** 2).sum(1).mean()
        optimizer.zero_grad()
        (recon + beta * kl).backward()
        optimizer.step()
        if step % 5 == 0:
            yield {"step": step, "train/loss": float((recon + beta * kl).detach()), "train/recon_loss": float(recon.detach()),
                   "train/kl_loss": float(kl.detach())}  # fmt: skip


def preferences(*, anchor: float, steps: int = 300) -> Iterator[Row]:
    """Direct preference optimization of a language model of single tokens; chosen and rejected answers share most of
    theirs. `anchor`: weight of the chosen answers' likelihood in the loss."""
    generator = torch.Generator().manual_seed(0)
    chosen = torch.randint(0, 40, (64, 12), generator=generator)
    rejected = torch.where(torch.rand(64, 12, generator=generator) < 0.8, chosen, chosen + 10)
    logits = torch.zeros(64, 60, requires_grad=True)
    common = torch.zeros(60, requires_grad=True)
    optimizer = torch.optim.Adam([logits, common], lr=0.05)
    reference = -12 * torch.log(torch.tensor(60.0))
    for step in range(steps):
        likely = F.log_softmax(logits + common, 1)
        good, bad = likely.gather(1, chosen).sum(1), likely.gather(1, rejected).sum(1)
        rewards = 0.1 * (good - reference), 0.1 * (bad - reference)
        margin = rewards[0] - rewards[1]
        loss = -F.logsigmoid(margin).mean() - anchor * good.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            yield {"step": step, "loss": float(loss.detach()), "rewards/chosen": float(rewards[0].detach().mean()),
                   "rewards/rejected": float(rewards[1].detach().mean()), "rewards/margins": float(margin.detach().mean()),
                   "rewards/accuracies": float((margin > 0).float().mean()), "logps/chosen": float(good.detach().mean()),
                   "logps/rejected": float(bad.detach().mean())}  # fmt: skip


def test_a_critic_that_feeds_itself(tmp_path: Path) -> None:
    assert found(agent(feeds_itself=True), tmp_path)["q-values-explode"] in ("medium", "high")
    assert "q-values-explode" not in found(agent(feeds_itself=False), tmp_path)


def test_a_divergence_that_weighs_too_much(tmp_path: Path) -> None:
    assert found(autoencoder(beta=100.0), tmp_path)["posterior-collapses"] == "medium"
    assert "posterior-collapses" not in found(autoencoder(beta=1.0), tmp_path)


def test_preferred_answers_that_lose_their_probability(tmp_path: Path) -> None:
    assert "chosen-answers-become-unlikely" in found(preferences(anchor=0.0), tmp_path)
    assert "chosen-answers-become-unlikely" not in found(preferences(anchor=0.2), tmp_path)


def test_batches_of_one_class_are_no_fault_between_two_players() -> None:
    """A discriminator is given ones, then zeros; a generator has its own optimizer and loss."""
    run, line = with_facts("sorted"), np.ones(60)
    steps = np.linspace(run.first_step or 0, run.last_step or 60, 60)
    players = {"optimizer/1/lr": series(steps, 1e-3 * line), "train/gan.py:31_loss": series(steps, line)}
    game = msgspec.structs.replace(run, series={**run.series, **players})
    for judged, expected in ((run, True), (game, False)):
        findings = pipeline.diagnose(judged).first.findings
        assert any(f.slug == "batches-sorted-by-class" for f in findings) is expected
