from __future__ import annotations

import json
from typing import Any

import jsonschema
import numpy as np
import pytest

import traindx
from tests.survey.made import COLUMNS, rng, sound
from traindx.checks.catalogue import DATA_CHECKS
from traindx.survey.inspection import DataCheck, check_data
from traindx.vocabulary.check import CheckResult

UNFITTED = tuple(check for check in DATA_CHECKS if check.slug != "label-noise")
HEALTHY = ("digits", "breast_cancer", "wine", "diabetes", "iris")


def results(found: DataCheck) -> dict[str, CheckResult]:
    return {check.slug: check for check in found.report.checks}


def failed(found: DataCheck) -> set[str]:
    return {check.slug for check in found.report.checks if check.status == "failed"}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_data_fail_nothing(name: str) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    data = getattr(datasets, f"load_{name}")()
    names = [str(n) for n in data.feature_names]
    columns = {n: data.data[:, i] for i, n in enumerate(names)}
    assert failed(check_data({**columns, "y": data.target}, "y")) == set()


def test_random_splits_of_healthy_data_fail_nothing() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    for name in HEALTHY:
        data = getattr(datasets, f"load_{name}")()
        for seed in range(3):
            order = rng(seed).permutation(len(data.target))
            first, second = np.split(order, [int(0.8 * len(order))])
            split = [(data.data[part], data.target[part]) for part in (first, second)]
            found = check_data(
                split[0],
                validation=split[1],
                checks=UNFITTED,
                sensitive=rng(seed).integers(0, 3, len(first)),
            )
            assert failed(found) == set(), (name, seed)


def test_every_check_ends_in_one_of_three_ways() -> None:
    training, fresh = sound(900), sound(500, seed=9)
    found = check_data(training, "label", validation=fresh, sensitive=np.arange(900) % 2)
    assert not found.failed
    for check in found.report.checks:
        assert check.status in ("passed", "not-run")
        assert check.message
        assert "was not recorded" not in check.message
    assert results(check_data(training))["labels"].message == "no target was named (--target)"
    assert (
        results(check_data(training, "label"))["overlap"].message
        == "no validation data were given (--validation)"
    )


def spoilt(kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A sound data set with one fault, and options."""
    data, options = sound(900), {}
    a, label = data["a"], data["label"]
    if kind == "missing":
        data["a"] = np.where(np.arange(900) == 5, np.nan, a).astype(object)
    elif kind == "inputs-finite":
        data["a"] = np.where(np.arange(900) == 5, np.inf, a)
    elif kind == "input-outliers":
        data["a"] = np.where(np.arange(900) == 5, 1e5, a)
    elif kind == "labels":
        data["label"] = [("Yes" if i % 9 else "yes") if v else "no" for i, v in enumerate(label)]
    elif kind == "target-outliers":
        data["label"] = np.where(np.arange(900) == 5, 1e5, a + 0.1 * rng().standard_normal(900))
        del data["a"]
    elif kind == "contradictions":
        data = {k: np.concatenate([v, v[:50]]) for k, v in data.items()}
        data["label"][900:] = (data["label"][900:] + 1) % 3
    elif kind == "leakage":
        data["code"] = label * 7 + 3
    elif kind == "overlap":
        options = {"validation": {k: v[:200] for k, v in data.items()}}
    elif kind == "validation-shift":
        fresh = sound(400, seed=9)
        options = {"validation": {**fresh, "c": fresh["c"] + 1.5}}
    elif kind == "slices":
        group = np.where(rng(3).random(900) < 0.3, "p", "q")
        data["label"] = np.where((group == "p") & (rng(4).random(900) < 0.6), 0, label)
        options = {"sensitive": group}
    return data, options


FAULTS = ("missing", "inputs-finite", "input-outliers", "labels", "target-outliers", "contradictions", "leakage",
          "overlap", "validation-shift", "slices")  # fmt: skip


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_fails_its_check(kind: str) -> None:
    data, options = spoilt(kind)
    found = check_data(data, "label", checks=UNFITTED, **options)
    expected = {kind, "missing"} if kind == "missing" else {kind}
    assert failed(found) == expected
    assert found.report.diagnosis is not None
    assert found.report.diagnosis.health != "healthy"


def test_wrong_labels_fail_and_the_cause_is_named() -> None:
    pytest.importorskip("cleanlab")
    data = sound(900)
    wrong = rng(1).choice(900, 90, replace=False)
    data["label"] = np.where(np.isin(np.arange(900), wrong), (data["label"] + 1) % 3, data["label"])
    found = check_data(data, "label")
    assert failed(found) == {"label-noise"}
    assert found.report.diagnosis is not None
    assert found.report.diagnosis.hypotheses[0].cause == "label-noise"
    assert len(np.intersect1d(found.rows["labels-look-noisy"], wrong)) > 80


def test_noise_in_hard_or_unlearnable_labels_is_not_claimed() -> None:
    pytest.importorskip("cleanlab")
    chance = rng()
    label = chance.integers(0, 2, 2000)
    hard = {"x": chance.standard_normal(2000) + 1.6 * label, "label": label}
    unlearnable = {"x": chance.standard_normal(2000), "label": label}
    assert failed(check_data(hard, "label")) == set()
    assert results(check_data(unlearnable, "label"))["label-noise"].status == "not-run"


def test_settings_hold_for_data_too() -> None:
    data, _ = spoilt("leakage")
    config = traindx.Config(ignore=("feature-predicts-target",))
    assert failed(check_data(data, "label", config=config)) == set()
    strict = traindx.Config(severity="info")
    wide = {**sound(900), "big": 1e4 * rng().standard_normal(900)}
    assert failed(check_data(wide, "label")) == set()
    assert failed(check_data(wide, "label", config=strict)) == {"input-scale"}
    with pytest.raises(traindx.ConfigError, match="DAT"):
        check_data(data, "label", config=traindx.Config(select=("LOS",)))


def test_the_page_in_every_form() -> None:
    data, options = spoilt("validation-shift")
    data = {"\x1b[31mred<b>": data.pop("c"), **data}
    options["validation"] = {"\x1b[31mred<b>": options["validation"].pop("c"), **options["validation"]}
    found = check_data(data, "label", **options)
    for page in (found.to_text(), found.to_markdown(), found.to_html(), found.to_json()):
        assert "\x1b" not in page
    assert "red<b>" not in found.to_html()
    document = json.loads(found.to_json())
    assert document["schema"] == "traindx.check/1"
    jsonschema.validate(document["diagnosis"]["run"]["setup"]["facts"], {"type": "object"})
    assert {c["status"] for c in document["checks"]} <= {"passed", "failed", "not-run"}


def test_arrays_and_columns_say_the_same() -> None:
    data = sound(900)
    values = np.stack([data[c] for c in COLUMNS], axis=1)
    as_arrays = check_data(values, data["label"], validation=(values[:100], data["label"][:100]))
    as_columns = check_data(data, "label", validation={k: v[:100] for k, v in data.items()})
    assert {k: c.status for k, c in results(as_arrays).items()} == {
        k: c.status for k, c in results(as_columns).items()
    }
