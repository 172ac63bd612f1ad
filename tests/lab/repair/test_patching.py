"""A patch that rests on documentation alone: its edited script runs to the end once, and must not end worse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.lab.repair.descent import Descent
from traindx.config import Config
from traindx.lab.conduct.attempts import Attempt
from traindx.lab.conduct.journal import Journal
from traindx.lab.edits import Advice, Patch
from traindx.lab.repair import patching
from traindx.lab.repair.bench import Bench
from traindx.lab.repair.combinations import Applied
from traindx.lab.repair.document import Proof, conclude
from traindx.lab.repair.documented_faults import Documented
from traindx.lab.repair.options import Options
from traindx.lab.repair.patching import write_patch
from traindx.lab.repair.search import Search

FIX = "switch-to-eval-mode"


class Edited(Descent):
    """A script that descends at `rates[0]`, and at `rates[1]` where its source is edited."""

    def __init__(self, *rates: float) -> None:
        super().__init__(rates[0])
        self.rates = rates
        self.lengths: list[int | None] = []

    def __call__(
        self,
        command: Sequence[str],
        out: Path,
        interventions: Sequence[str],
        steps: int | None,
        **asked: Any,
    ) -> Attempt:
        self.rate = self.rates[bool(asked["edited"])]
        if asked["edited"]:
            self.lengths.append(steps)
        return super().__call__(command, out, interventions, steps)


def offered(folder: Path, monkeypatch: pytest.MonkeyPatch, script: Edited, fix: str = FIX) -> Proof:
    """What is offered for a documented fault of the script, of which no trial has proven a fix."""
    monkeypatch.chdir(folder)
    (folder / "fix").mkdir()
    (folder / "train.py").write_text("a = 1\n")
    monkeypatch.setattr(patching, "find_documented", lambda _: Documented(fix, "the documentation of it"))
    bench = Bench(["python", "train.py"], script, Journal(folder / "fix", {}), budget=1e6, jobs=1)
    search = Search(bench, Config(), Options())
    search.diagnose()
    search.prepare()
    assert bench.source is not None
    made = Patch(before={"train.py": "a = 1\n"}, after={"train.py": "a = 2\n"}, words=("train.py:1: a",))
    monkeypatch.setattr(bench.source, "patch_for", lambda *_: made)
    return write_patch(search, conclude(search, 0.0), folder / "fix").proof


def test_what_ends_no_worse_is_offered_with_its_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Edited(0.3, 0.02)
    report = offered(tmp_path, monkeypatch, script).report
    assert report.patch
    assert "train/loss ended at" in report.patch_basis or "val/loss ended at" in report.patch_basis
    assert report.by_hand is None
    assert script.lengths == [None], "once, to its end"


def test_what_ends_worse_is_advice_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = offered(tmp_path, monkeypatch, Edited(0.11, 0.3)).report
    assert (report.verdict, report.patch, report.diff) == ("not-fixed", None, "")
    assert report.by_hand is not None
    assert "train.py:1: a" in report.by_hand.write
    assert "is correct by the documentation of it, but" in report.by_hand.why


def test_a_mask_makes_every_metric_worse_and_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = offered(tmp_path, monkeypatch, Edited(0.11, 0.3), "mask-the-future").report
    assert report.patch
    assert report.patch_basis.endswith("Its effect on this run is not shown.")


def test_without_time_for_it_no_patch_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bench, "run_within_budget", lambda _self, _work, otherwise, _lacks: otherwise)
    report = offered(tmp_path, monkeypatch, Edited(0.3, 0.02)).report
    assert report.patch is None
    assert report.by_hand is not None
    assert "no time" in report.by_hand.why


def test_of_two_proven_changes_the_one_with_an_edit_is_the_patch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fix").mkdir()
    (tmp_path / "train.py").write_text("a = 1\n")
    script, starts = Edited(0.1, 0.01), list[tuple[str, ...]]()

    def start(
        command: Sequence[str], out: Path, interventions: Sequence[str], steps: int | None, **asked: Any
    ) -> Attempt:
        if asked.get("edited"):
            starts.append(tuple(interventions))
        return script(command, out, interventions, steps, **{"edited": {}, **asked})

    bench = Bench(["python", "train.py"], start, Journal(tmp_path / "fix", {}), budget=1e6, jobs=1)
    search = Search(bench, Config(), Options())
    search.diagnose()
    search.prepare()
    made = Patch(before={"train.py": "a = 1\n"}, after={"train.py": "a = 2\n"}, words=("train.py:1: a",))
    by_hand = Advice(file="train.py", line=1, write="clip", why="no optimizer.step() was found")
    assert bench.source is not None
    monkeypatch.setattr(bench.source, "patch_for", lambda _, given: by_hand if "clip=1.0" in given else made)
    proof = conclude(search, 0.0)
    search.applied = [Applied("lower-learning-rate", ("lr=*0.1",)), Applied("clip-gradients", ("clip=1.0",))]
    search.base = ("lr=*0.1", "clip=1.0")
    proof = proof._replace(report=replace(proof.report, applied=("lower-learning-rate", "clip-gradients")))
    found = write_patch(search, proof, tmp_path / "fix")
    report = found.proof.report
    assert (tmp_path / "fix" / "fix.patch").read_text().endswith("-a = 1\n+a = 2\n")
    assert report.by_hand == by_hand
    assert "the patch lacks clip=1.0, which was proven together with it" in report.notes
    assert starts, "the edited script is compared with what was proven, and gets the rest from outside"
    assert all("clip=1.0" in given and "lr=*0.1" not in given for given in starts)


def test_what_has_no_edit_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proof = offered(tmp_path, monkeypatch, Edited(0.3, 0.02))
    applied = proof._replace(report=replace(proof.report, applied=("reinitialize-weights",)))
    bare = Advice(file="a.py", line=3, write="init=he", why="there are two optimizers")
    shown = patching.with_advice(applied, bare).report.by_hand
    assert shown is not None
    assert shown.write.startswith("initialize the weights again: He for ReLU")
    assert shown.write.endswith("(init=he)")
    for spec, words in (
        ("weight_decay=*0.01", "0.01 times the weight decay (weight_decay=*0.01)"),
        ("clip=1.0", "a limit of the gradient norm of 1.0 (clip=1.0)"),
    ):
        shown = patching.with_advice(applied, replace(bare, write=spec)).report.by_hand
        assert shown is not None
        assert shown.write == words
    written = replace(bare, write="a learning rate of 0.01")
    assert patching.with_advice(applied, written).report.by_hand == written
