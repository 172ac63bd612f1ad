"""The JSON document: strict, complete, and as its schema says."""

from __future__ import annotations

import importlib.resources
import json
import math
from collections.abc import Callable
from typing import Any

import jsonschema
import msgspec
import numpy as np
import pytest

from tests.reports import made
from traindx.reports import json as report
from traindx.vocabulary.diagnosis import EvidencePoint


def parsed(text: str) -> Any:
    """Parse as strict JSON: the bare words NaN and Infinity are refused."""

    def refuse(token: str) -> float:
        raise AssertionError(f"{token} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_values_that_are_not_finite_are_strings() -> None:
    document = parsed(report.render(made.document(made.sick())[0]))
    points = document["runs"][0]["findings"][2]["evidence"]
    assert [p["value"] for p in points] == ["NaN", "Infinity"]
    assert report.strict({"value": [-math.inf, 1.5]}) == {"value": ["-Infinity", 1.5]}


def test_whole_steps_are_integers() -> None:
    text = report.render(made.document(made.sick())[0])
    run = parsed(text)["runs"][0]
    assert '"onset_step": 23620,' in text
    assert (run["run"]["first_step"], run["run"]["last_step"]) == (0, 29980)
    assert isinstance(run["run"]["setup"]["batch_size"], int)
    assert isinstance(run["forecast"][0]["at_step"], int)
    assert isinstance(report.strict({"step": 2.5})["step"], float)


def test_numpy_numbers_are_plain_numbers() -> None:
    point = EvidencePoint("loss", np.float64(3.0), np.float32(math.inf), np.int64(2))  # type: ignore[arg-type]
    document, _ = made.document(made.sick())
    finding = msgspec.structs.replace(document.runs[0].findings[0], evidence=(point,))
    run = msgspec.structs.replace(document.runs[0], findings=(finding,))
    parsed_value = parsed(report.render(msgspec.structs.replace(document, runs=(run,))))["runs"][0][
        "findings"
    ][0]["evidence"][0]
    assert (parsed_value["step"], parsed_value["value"], parsed_value["expected"]) == (3, "Infinity", 2)


def test_field_names_are_the_contract() -> None:
    document = parsed(report.render(made.document(made.sick(), made.healthy())[0]))
    assert document["schema"] == "traindx.diagnosis/1"
    for run in document["runs"]:
        assert set(run) == {"run", "health", "decision", "findings", "not_evaluated", "hypotheses", "next", "forecast",
                            "recommendations", "trials", "belief", "profile", "memory", "harm"}  # fmt: skip
        for hypothesis in run["hypotheses"]:
            assert {"cause", "title", "probability", "pattern", "for", "against", "fixes"} <= set(hypothesis)
        assert sum(h["probability"] for h in run["hypotheses"]) == pytest.approx(1)


def test_documents_fit_the_schema() -> None:
    schema = report.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for document in (made.document()[0], made.document(made.sick(), made.healthy())[0]):
        validator.validate(parsed(report.render(document)))
    for hostile in made.HOSTILE:
        validator.validate(parsed(report.render(made.hostile(hostile)[0])))


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("schema",), "traindx.diagnosis/2"),
        (("runs", 0, "health"), "fine"),
        (("runs", 0, "findings", 0, "severity"), "bad"),
        (("runs", 0, "hypotheses", 0, "probability"), 1.5),
        (("runs", 0, "findings", 0, "onset_step"), "nan"),
        (("runs", 0, "run", "events", 0, "message"), None),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: tuple[str | int, ...], wrong: object) -> None:
    document = parsed(report.render(made.document(made.sick())[0]))
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = wrong
    assert not jsonschema.Draft202012Validator(report.schema()).is_valid(document)


def test_the_schema_asks_for_every_field() -> None:
    document = parsed(report.render(made.document(made.sick())[0]))
    del document["runs"][0]["forecast"]
    assert not jsonschema.Draft202012Validator(report.schema()).is_valid(document)


@pytest.mark.parametrize(
    ("file", "made", "arguments"),
    [("diagnosis", report.schema, ""), ("event", report.event_schema, "event ")],
)
def test_the_shipped_schema_is_current(file: str, made: Callable[[], Any], arguments: str) -> None:
    name = f"{file}.schema.json"
    shipped = importlib.resources.files("traindx.reports").joinpath(name).read_text(encoding="utf-8")
    assert shipped == report.dumps(made()), (
        f"python -m traindx.reports.json {arguments}> traindx/reports/{name}"
    )


@pytest.mark.parametrize("hostile", made.HOSTILE, ids=range(len(made.HOSTILE)))
def test_hostile_text_survives_and_does_nothing(hostile: str) -> None:
    text = report.render(made.hostile(hostile)[0])
    assert text.replace("\n", "").isprintable()
    text.encode()
    parsed_value = parsed(text)["runs"][0]["run"]["id"]
    if "\ud800" in hostile:
        assert parsed_value == "\\ud800\\udcff lone"
    else:
        assert parsed_value == hostile
