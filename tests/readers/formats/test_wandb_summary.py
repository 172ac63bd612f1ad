from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from traindx.errors import NotALog, ReadError
from traindx.readers.formats import wandb_summary
from traindx.readers.raw import Source

SUMMARY = {
    "train/loss": 0.25,
    "eval/loss": "NaN",
    "top": float("-inf"),
    "nested": {"min": 1, "max": 2},
    "_step": 400,
    "_runtime": 12.5,
    "_timestamp": 1.7e9,
    "_wandb": {"runtime": 12},
    "hist": {"_type": "histogram", "values": [1]},
    "note": "text",
    "flag": True,
}


def source(text: str) -> Source:
    data = text.encode()
    return Source("wandb-summary.json", data=data, head=data[:65536])


def test_reads_final_values_at_the_last_step():
    (log,) = wandb_summary.read(source(json.dumps(SUMMARY)))
    values = {name: column.values[0] for name, column in log.columns.items()}
    np.testing.assert_equal(
        values, {"train/loss": 0.25, "eval/loss": np.nan, "top": -np.inf, "nested.min": 1, "nested.max": 2}
    )
    assert {float(c.steps[0]) for c in log.columns.values()} == {400.0}
    assert {float(c.times[0]) for c in log.columns.values()} == {1.7e9}
    assert [(e.kind, e.code) for e in log.events] == [("note", "summary-only")]


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        (json.dumps(SUMMARY), True),
        (json.dumps(SUMMARY, indent=2), True),
        (json.dumps({"loss": 1, "_step": 1}), False),
        (json.dumps({"log_history": [], "_step": 1, "_runtime": 2}), False),
        ('{"loss": 1, "_step": 1, "_runtime": 2}\n{"loss": 1, "_step": 2, "_runtime": 3}\n', False),
        ("loss 1\n", False),
    ],
)
def test_claims_one_object_with_the_keys_of_wandb(text, claimed):
    assert (wandb_summary.sniff(source(text)) > 0.5) == claimed


def test_refuses_with_a_reason():
    with pytest.raises(ReadError, match=r"line 1.*not whole JSON"):
        wandb_summary.read(source(json.dumps(SUMMARY)[:60]))
    with pytest.raises(NotALog, match="without a number"):
        wandb_summary.read(source(json.dumps({"_step": 3, "_runtime": 2, "word": "x"})))
    with pytest.raises(ReadError):
        wandb_summary.read(source('{"_step": 1, "_runtime": ' + "[" * 100_000))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 300), st.binary(max_size=5))
def test_no_damage_raises_anything_but_read_error(at, octets):
    data = bytearray(json.dumps(SUMMARY).encode())
    data[at : at + 5] = octets
    try:
        wandb_summary.read(Source("s", data=bytes(data)))
    except ReadError:
        return
