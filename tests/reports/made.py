"""Diagnoses made by hand for the report tests: rich, healthy, empty and hostile ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.make import healthy_loss, rng, run
from traindx.vocabulary.diagnosis import (
    Decision,
    Document,
    EvidencePoint,
    EvidenceTerm,
    Finding,
    FixOffer,
    ForecastPoint,
    Hypothesis,
    NextMeasure,
    NotEvaluated,
    Recommendation,
    RunDiagnosis,
    RunInfo,
    Severity,
    SignalInfo,
)
from traindx.vocabulary.run import Event, Run
from traindx.vocabulary.setup import Setup


def info(
    made: Run, originals: dict[str, str] | None = None, *, source: str = "runs/exp1/trainer_state.json"
) -> RunInfo:
    """What the pipeline says about a run."""
    names = originals or {}
    return RunInfo(
        id=made.id,
        source=source,
        format="hf-trainer",
        framework="transformers",
        steps=made.points,
        first_step=made.first_step,
        last_step=made.last_step,
        complete=False,
        axis=made.axis,
        signals=tuple(SignalInfo(n, names.get(n, n), len(s)) for n, s in made.series.items()),
        setup={"lr": 0.1, "batch_size": 32.0, "optimizer": "sgd"},
        events=tuple(
            {"kind": e.kind, "step": e.step, "place": e.place, "message": e.message} for e in made.events
        ),
    )


def sick_run(name: str = "exp1") -> Run:
    """Learns for 1,000 points, blows up, and is NaN from point 1,240 on; every 20th step is logged."""
    n = 1500
    loss = healthy_loss(n, seed=3, noise=0.08)
    loss[1190:1240] *= np.exp(np.linspace(0, 11, 50))
    loss[1240:] = math.nan
    norm = np.exp(0.25 * rng(1).standard_normal(n)) * 0.8
    norm[1180:1240] *= np.exp(np.linspace(0, 9, 60))
    norm[1240:] = math.inf
    steps = np.arange(n) * 20.0
    warm = np.minimum(1, np.arange(n) / 100)
    validation = 1.15 * healthy_loss(25, seed=9, noise=0.01)
    validation[-4:] = math.nan
    return run(
        {
            "train/loss": loss,
            "val/loss": (steps[::60][:25], validation),
            "lr": 0.1 * warm * 0.5 * (1 + np.cos(np.pi * np.arange(n) / 3000)),
            "grad_norm": norm,
            "time/step": 0.21 + 0.01 * rng(2).random(n),
            "mem/device": 8e9 + 1e6 * np.arange(n),
        },
        steps=steps,
        setup=Setup(lr=0.1, batch_size=32, optimizer="sgd"),
        events=(
            Event("parse-warning", "the last line is cut in the middle", place="line 1502"),
            Event("resume", "the run goes on from an earlier step", step=12000.0),
        ),
        name=name,
    )


def finding(
    code: str, slug: str, severity: Severity, onset: float | None, message: str, **more: Any
) -> Finding:
    """A finding, its fields in a line."""
    facts: dict[str, Any] = {"last_step": None, "where": None, **more}
    return Finding(
        code=code, slug=slug, family=code[:3], severity=severity, onset_step=onset, message=message, **facts
    )


def sick_findings() -> tuple[Finding, ...]:
    """An explosion with two consequences, a small matter of its own, and a note."""
    norm = (
        EvidencePoint("grad_norm", 24780.0, 6480.2, 0.81, "L2"),
        EvidencePoint("grad_norm", 23600.0, 0.79),
    )
    lost = (
        EvidencePoint("train/loss", 24800.0, math.nan, 0.33),
        EvidencePoint("grad_norm", 24800.0, math.inf),
    )
    explodes = "The gradient norm rises from 0.8 to 6,480 within 60 points, 310 times its own noise."
    climbs = "The loss climbs from 0.33 to 19,800."
    ends = "The loss is NaN at step 24,800 and in all 260 points after it."
    grows = "Device memory grows steadily, by 1.5 GB over the run."
    rare = "Validation was measured every 1,200 steps."
    first = "gradient-norm-explodes"
    return (
        finding(
            "GRD002",
            first,
            "critical",
            23620.0,
            explodes,
            last_step=24780.0,
            evidence=norm,
            aspects=("late",),
        ),
        finding("LOS002", "loss-diverges", "high", 23800.0, climbs, last_step=24780.0, consequence_of=first),
        finding(
            "LOS001",
            "loss-not-finite",
            "critical",
            24800.0,
            ends,
            consequence_of="loss-diverges",
            evidence=lost,
        ),
        finding("SYS005", "memory-grows", "low", 0.0, grows, last_step=29980.0, where="device 0"),
        finding("GEN008", "validation-too-rare", "info", None, rare),
    )


def missed(code: str, slug: str, signal: str) -> NotEvaluated:
    return NotEvaluated(code, slug, f"needs {signal}, which was not recorded", (signal,))


def sick(name: str = "exp1") -> tuple[RunDiagnosis, Run]:
    """A failed run: three findings, two of them consequences, a note, four causes, a forecast."""
    made = sick_run(name)
    reason = "The loss is NaN since step 24,800 and cannot come back; go back to step 23,600."
    few = "needs 40 points of val/loss, there are 25"
    gain = "tells a rate that is too high from a corrupt batch"
    back, why = (
        "Go back to the checkpoint of step 22,800.",
        "it is the last one before the gradient norm began to grow",
    )
    return RunDiagnosis(
        run=info(made, {"train/loss": "loss", "val/loss": "eval_loss", "lr": "learning_rate"}),
        health="failed",
        decision=Decision("stop", reason, 0.97),
        findings=sick_findings(),
        not_evaluated=(
            *(missed(f"ACT{i:03}", f"act-rule-{i}", "act_mean/*") for i in range(4)),
            *(missed(f"WGT{i:03}", f"weight-rule-{i}", "weight_norm/*") for i in range(5)),
            missed("PRC003", "loss-scale-collapses", "loss_scale"),
            NotEvaluated("GEN003", "validation-rises-then-falls", few, ("val/loss",)),
        ),
        hypotheses=(too_high(), corrupt(), *unlikely()),
        next=(
            NextMeasure("learning-rate range test", gain, "traindx find-lr -- python train.py", 0.62, 12.4),
        ),
        forecast=(
            ForecastPoint("val/loss", 60000.0, 0.351, 0.335, 0.366, 0.8),
            ForecastPoint("val/loss", 60000.0, 0.351, 0.322, 0.391, 0.95),
        ),
        recommendations=(Recommendation("checkpoint", back, why),),
    ), made


def terms(**log_odds: float) -> tuple[EvidenceTerm, ...]:
    """Evidence by slug, underscores for hyphens and two of them for a colon."""
    return tuple(EvidenceTerm(k.replace("__", ":").replace("_", "-"), v) for k, v in log_odds.items())


def too_high() -> Hypothesis:
    lower, stays = (
        "Lower the learning rate from 0.1 to 0.03.",
        "the norm stays near 0.8 and the loss goes on falling",
    )
    clip, calm = (
        "Clip the global gradient norm at 1.0.",
        "single large batches no longer throw the weights away",
    )
    return Hypothesis(
        cause="learning-rate-too-high",
        title="learning rate too high",
        probability=0.71,
        for_=terms(
            gradient_norm_explodes=2.4, loss_diverges=1.6, loss_not_finite__late=0.7, fact__no_clipping=0.4
        ),
        against=terms(loss_spikes_recur=-0.6),
        fixes=(
            FixOffer("lower-learning-rate", "runtime", lower, stays),
            FixOffer("clip-gradients", "patch", clip, calm),
        ),
    )


def corrupt() -> Hypothesis:
    look = "Log the ids of each batch and look at those of step 23,620."
    return Hypothesis(
        cause="corrupt-batch",
        title="corrupt batch",
        probability=0.19,
        for_=terms(loss_not_finite__late=1.1),
        against=terms(gradient_norm_grows=-0.8),
        fixes=(FixOffer("find-the-batch", "advice", look, "a corrupt sample shows"),),
    )


def unlikely() -> tuple[Hypothesis, ...]:
    return (
        Hypothesis(cause="half-precision-overflow", title="overflow in half precision", probability=0.08),
        Hypothesis(cause="healthy", title="nothing wrong", probability=0.02),
    )


def healthy(name: str = "exp2") -> tuple[RunDiagnosis, Run]:
    """A healthy run with a benign pattern and a forecast."""
    made = run(
        {
            "train/loss": healthy_loss(600),
            "val/accuracy": (np.arange(0, 600, 50), np.linspace(0.4, 0.8, 12)),
        },
        name=name,
    )
    return RunDiagnosis(
        run=info(made, source=f"runs/{name}/log.csv"),
        health="healthy",
        decision=Decision("continue", "The loss falls steadily and validation follows.", 0.93),
        hypotheses=(
            Hypothesis(
                cause="healthy",
                title="nothing wrong",
                probability=0.9,
                pattern="power-law-tail",
                for_=(EvidenceTerm("loss-plateaus", 1.0),),
            ),
            Hypothesis(cause="undertrained", title="not trained to the end", probability=0.1),
        ),
        forecast=(ForecastPoint("train/loss", 1200.0, 0.281, 0.27, 0.29, 0.8),),
    ), made


def document(*parts: tuple[RunDiagnosis, Run]) -> tuple[Document, tuple[Run, ...]]:
    """A document over several made runs, and the runs."""
    return Document(traindx_version="0.1.0", runs=tuple(d for d, _ in parts)), tuple(r for _, r in parts)


HOSTILE = (
    "</script><script>alert(1)</script>",
    '<img src=x onload="alert(1)">',
    "{{ 7*7 }}{% raw %}",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "\x9b31m",
    "\u202egnp.exe\u202c",
    "[bold red]markup[/bold red]",
    "line one\nline two\r\x00",
    "a|b`c`*d*_e_[f](javascript:alert(1))",
    "@everyone #1 https://evil.example/ www.evil.example",
    "\ud800\udcff lone",
    "<!-- ",
    "]]>",
    "$\\frac{x}{$y_",
    "名前" * 30,
    "x" * 1_000_000,
)


def hostile_info(text: str, made: Run) -> RunInfo:
    signals = (*(SignalInfo(n, text, 5) for n in made.series), SignalInfo("train/" + text, text, 9))
    return RunInfo(
        id=text,
        source=text,
        format=text,
        framework=text,
        steps=10,
        first_step=0.0,
        last_step=9.0,
        complete=True,
        axis=text,
        signals=signals,
        setup={text: text, "model": text},
        events=({"kind": "parse-warning", "step": None, "place": text, "message": text},),
    )


def hostile(text: str) -> tuple[Document, tuple[Run, ...]]:
    """A document in which every field that may come from a log holds `text`."""
    base, made = sick()
    point = EvidencePoint(text, 3.0, 1.0, unit=text)
    first = finding("LOS002", "loss-diverges", "high", 3.0, f"{text} climbs", where=text, evidence=(point,))
    cause = Hypothesis(
        cause="learning-rate-too-high",
        title=text,
        pattern=text,
        probability=1.0,
        for_=(EvidenceTerm(text, 1.0),),
        fixes=(FixOffer("x", "advice", text, text),),
    )
    diagnosis = RunDiagnosis(
        run=hostile_info(text, made),
        health="sick",
        decision=Decision("inspect", text, 0.5),
        findings=(first, *base.findings),
        not_evaluated=(NotEvaluated("X", "x", text, (text,)),),
        hypotheses=(cause,),
        next=(NextMeasure(text, text, text, 0.1, 2.0),),
        forecast=(ForecastPoint(text, 20.0, 1.0, 0.5, 1.5, 0.8),),
        recommendations=(Recommendation("x", text, text),),
        trials=({"fix": text, "verdict": "confirmed"},),
    )
    extra = dict(made.series) | {"train/" + text: made.series["train/loss"]}
    return Document(traindx_version="0", runs=(diagnosis,)), (
        Run(id=text, source=text, format=text, series=extra),
    )
