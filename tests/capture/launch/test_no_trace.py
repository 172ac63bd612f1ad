"""A script that looks closely at what it trains, in every way in which scripts do, sees what it sees without us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.capture.launch.launching import LIMIT, SCRIPTS, Launched, alone, launched
from traindx import pipeline

pytest.importorskip("torch")

TRACES = SCRIPTS / "traces"
LOOKS = (
    "hooks", "names", "signatures", "sources", "global_hooks", "copied", "pickled", "stored", "spawned", "scripted",
    "traced", "traced_in_training", "symbolic", "exported", "functional", "wrong",
)  # fmt: skip
COMPILED = ("whole", "in_place", "part", "with_hooks", "function", "ahead_of_time")
COMPILED_SLOWLY = ("inductor", "reduced", "tuned")


class Both:
    """A script as it is and under capture: what it found, by look."""

    def __init__(self, folder: Path, *command: str, curvature: bool = False) -> None:
        start = [sys.executable, str(TRACES / command[0]), *command[1:]]
        self.alone = alone("", folder / "alone", command=start)
        self.recorded = launched("", folder / "recorded", command=start, curvature=curvature)
        assert self.alone.status == 0, self.alone.err.decode()

    def same(self, look: str) -> None:
        expected = found(self.alone)[look]
        assert found(self.recorded)[look] == expected

    def steps(self) -> int:
        assert not [e for e in self.recorded.run().events if e.code == "capture-failed"]
        return len(self.recorded.run().series["grad_norm"])


def found(done: Launched) -> dict[str, str]:
    """What a script printed, by check."""
    lines = [json.loads(line) for line in done.out.decode().splitlines() if line.startswith('{"look"')]
    return {line["look"]: line["found"] for line in lines}


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(tmp_path_factory.mktemp("looks"), "looks.py")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(tmp_path_factory.mktemp("compiled"), "compiled.py")


@pytest.fixture(scope="module")
def compiled_slowly(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(tmp_path_factory.mktemp("slowly"), "compiled.py", "slow")


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("moment", ["early", "late"])
def test_it_looks_as_it_would(look: str, moment: str, looks: Both) -> None:
    """Early, every step is measured in full; late, few are."""
    looks.same(f"{look} {moment}")


def test_each_look_found_something(looks: Both) -> None:
    """A check that fails in both ways would show nothing."""
    failed = {look: text for look, text in found(looks.alone).items() if "Error: " in text[:40]}
    assert failed == {}
    assert len(set(found(looks.alone).values())) > len(LOOKS)


def test_it_looks_as_it_would_before_and_after(looks: Both) -> None:
    for look in ("hooks before", "signatures before", "sources before", "stored after"):
        looks.same(look)
    assert looks.recorded.out == looks.alone.out
    assert looks.recorded.err == looks.alone.err


def test_all_was_recorded(looks: Both) -> None:
    assert looks.steps() == 130
    assert {"act_std", "update_ratio", "attention_logit_max"} <= set(looks.recorded.run().panels)


@pytest.mark.parametrize("steps", [0, 3, 40])
@pytest.mark.parametrize("look", COMPILED)
def test_the_same_is_compiled(look: str, steps: int, compiled: Both) -> None:
    """Graphs, how many there are, where they break, warnings, and losses; before and while it is recorded."""
    compiled.same(f"compiled {look} after {steps}")
    assert "Error: " not in found(compiled.alone)[f"compiled {look} after {steps}"][:40]


@pytest.mark.slow
@pytest.mark.parametrize("look", COMPILED_SLOWLY)
def test_the_same_is_compiled_to_machine_code(look: str, compiled_slowly: Both) -> None:
    for steps in (0, 3, 40):
        compiled_slowly.same(f"compiled {look} after {steps}")


ODD = {"no_truth": 60, "sparse": 60, "scripted": 60, "traced": 60, "partly_scripted": 60, "two_threads": 200,
       "next_thread": 60}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_it_does_not_let_go(name: str, tmp_path: Path) -> None:
    """All steps of the (first) training are there, and the script computes what it computes without us."""
    both = Both(tmp_path, "odd.py", name, curvature=name == "sparse")
    assert both.recorded.status == 0, both.recorded.err.decode()
    assert both.recorded.out == both.alone.out
    assert both.steps() == ODD[name]
    run = both.recorded.run()
    said = {e.code: e.message for e in run.events}
    assert ("other-thread" in said) == (name == "two_threads")
    assert said.get("not-measured", "") == (
        "curvature is not measured: gradients are sparse" * (name == "sparse")
    )
    hidden = {"scripted": "all", "traced": "all", "partly_scripted": "1"}
    assert run.setup.known("forward_not_seen") == hidden.get(name)
    assert ("act_std" in run.panels) == (name not in ("scripted", "traced"))
    assert {"grad_norm", "update_ratio", "weight_norm"} <= set(run.panels)


@pytest.mark.parametrize(("name", "why"), [("odd_rate", "no number"), ("odd_batches", "no values")])
def test_what_cannot_be_read_is_left_out(name: str, why: str, tmp_path: Path) -> None:
    """The reason is noted once, all else is recorded to the end, and `--steps` still ends the script."""
    done = launched("", tmp_path, steps=40, command=[sys.executable, str(TRACES / "odd.py"), name])
    assert done.status == 0
    assert [int(line.split()[0]) for line in done.out.decode().splitlines()] == list(range(39))
    run = done.run()
    assert len(run.series["grad_norm"]) == 40
    notes = [e.message for e in run.events if e.code == "signal-dropped"]
    assert notes
    assert all(why in note for note in notes)
    assert done.err.decode().splitlines() == [f"traindx: {note}" for note in notes]
    assert run.setup.known("optimizer") == "SGD"
    found = pipeline.diagnose(run)
    assert found.first.findings or found.first.health


SURROUNDINGS = """
import os, sys, torch
print(sorted(name for name in os.environ if name != "_"), torch.get_num_threads(), torch.get_num_interop_threads())
print(sys.path[1:], sys.argv)
"""


def test_the_command_gives_the_script_its_own_surroundings(tmp_path: Path) -> None:
    """The command bounds the threads of its own arithmetic: the script's sums would have another order with them."""
    script = tmp_path / "script.py"
    script.write_text(SURROUNDINGS)
    env = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    run = [sys.executable, "-m", "traindx", "run", "--quiet", "--out", str(tmp_path / "run"), "--"]
    command = [sys.executable, str(script)]
    plain, recorded = (
        subprocess.run([*before, *command], env=env, capture_output=True, text=True, timeout=LIMIT).stdout
        for before in ([], run)
    )
    assert plain.count("\n") == 2
    assert recorded.startswith(plain)
