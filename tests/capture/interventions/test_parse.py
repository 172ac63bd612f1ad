"""NAME=VALUE: what is understood, in which order, and what is refused with a reason."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from traindx.capture import experiment
from traindx.capture.interventions import catalogue, parse
from traindx.capture.interventions.kinds import STAGES
from traindx.errors import ConfigError


def test_every_example_is_understood() -> None:
    for kind in catalogue():
        for value in kind.examples:
            (given,) = parse([f"{kind.name}={value}"])
            assert given.spec == f"{kind.name}={value}"
            assert given.kind is kind


def test_every_kind_has_a_page_and_a_stage() -> None:
    names = [kind.name for kind in catalogue()]
    assert len(set(names)) == len(names)
    for kind in catalogue():
        assert len(kind.page) > 60, kind.name
        assert kind.stage in STAGES


def test_some_framework_applies_every_intervention() -> None:
    """By the text of the modules: importing them needs the frameworks."""
    rooms = Path(experiment.__file__).parents[1].glob("*/interventions/**/*.py")
    applied = set(
        re.findall(r'^@applies\(\s*"([^"]+)"', "".join(p.read_text() for p in rooms), re.MULTILINE)
    )
    for kind in catalogue():
        where = f'with @applies("{kind.name}") below traindx/capture/torch/interventions'
        assert kind.name in applied, f"no framework applies {kind.name}: add a function {where}"
    assert applied == {kind.name for kind in catalogue()}


def test_a_training_runs_under_every_intervention() -> None:
    tests = "".join(
        p.read_text() for p in Path(__file__).parent.glob("*.py") if p.name != Path(__file__).name
    )
    for kind in catalogue():
        add = (
            f"{kind.name}={kind.examples[0]}: add a test to tests/capture/interventions that trains under it"
        )
        assert re.search(rf"[\"']{re.escape(kind.name)}=", tests), add


def test_order_does_not_depend_on_how_they_are_given() -> None:
    given = ["optimizer=adam", "lr=*0.1", "clip=1.0", "lr=constant", "steps=5", "clip=off", "lr.warmup=3"]
    expected = ["steps=5", "clip=off", "clip=1.0", "lr=constant", "lr=*0.1", "lr.warmup=3", "optimizer=adam"]
    assert [found.spec for found in parse(given)] == expected
    assert [found.spec for found in parse(given[::-1])] == expected


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("lrr=*0.1", "did you mean lr?"),
        ("clippp=1", "did you mean clip?"),
        ("lr", "needs a value, such as lr=*0.1"),
        ("lr=", "needs a value"),
        ("lr=fast", "not a schedule"),
        ("lr=-1", "at least 0"),
        ("lr=*nan", "at least 0"),
        ("lr=*x", "'x' is not a number"),
        ("lr=sweep:1:2", "sweep:A:B:N"),
        ("lr=sweep:0:1:10", "above 0"),
        ("lr=cosine:ten", "not a whole number"),
        ("lr=plateau", "validation loss"),
        ("lr.warmup=1.5", "not a whole number"),
        ("clip=0", "above 0"),
        ("clip.value=inf", "above 0"),
        ("betas=0.9", "two numbers"),
        ("betas=0.9,1", "two numbers below 1"),
        ("momentum=2", "at most 1"),
        ("optimizer=lion", "sgd or momentum or adam or adamw"),
        ("steps=0", "at least 1"),
        ("seed=-1", "at least 0"),
        ("precision=float16", "float32 or bfloat16"),
        ("zero_grad=never", "each-step"),
        ("mode=eval", "train"),
        ("compile=on", "cannot be done from outside"),
        ("checkpoint_activations=on", "cannot be done from outside"),
        ("quant.bits=8", "cannot be done from outside"),
        ("stop=val", "cannot be done from outside"),
    ],
)
def test_what_makes_no_sense_is_said(spec: str, why: str) -> None:
    with pytest.raises(ConfigError, match=f"--with {spec.split('=')[0].replace('.', '[.]')}") as error:
        parse([spec])
    assert why in str(error.value)


def test_contradictions() -> None:
    for first, second in (("lr=0.1", "lr=*2"), ("lr=constant", "lr=cosine:9"), ("clip=1", "clip=2")):
        with pytest.raises(ConfigError, match="contradicts"):
            parse([first, second])


def test_parsing_needs_no_torch() -> None:
    code = (
        "import sys, traindx.capture.interventions as i; i.parse(['lr=1']); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
