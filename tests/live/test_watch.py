"""`traindx watch` as a process, next to a process that writes the log."""

from __future__ import annotations

import importlib.resources
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.process import COMMAND, environment, traindx
from tests.processes import started

PATIENCE = 60.0  # seconds until an event that must come

FALL = [f"step {i} | loss {2.3 * 0.97**i + 0.3:.4f} | lr 0.1\n" for i in range(100)]
BROKEN = [f"step {i} | loss nan | lr 0.1\n" for i in range(100, 120)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    log = tmp_path / "train.log"
    log.write_text("".join(FALL))
    return log


def variables(tmp_path: Path) -> dict[str, str]:
    return environment(XDG_STATE_HOME=str(tmp_path / "state"))


def next_line(process: subprocess.Popen[bytes]) -> bytes:
    """The next line on stdout, which must come in time."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
    assert ready, "nothing was printed"
    return process.stdout.readline()


def next_event(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(next_line(process), parse_constant=lambda word: pytest.fail(word))
    validator().validate(event)
    return event


@cache
def validator() -> jsonschema.Draft202012Validator:
    """Of the schema that is shipped."""
    shipped = importlib.resources.files("traindx.reports").joinpath("event.schema.json").read_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(shipped))
    return jsonschema.Draft202012Validator(json.loads(shipped))


def test_the_schema_of_events_refuses_what_is_wrong(log: Path) -> None:
    append(log, BROKEN)
    done = traindx("watch", log.name, "--json", "--once", cwd=log.parent, env=variables(log.parent))
    events = [json.loads(line) for line in done.out.splitlines()]
    assert {event["kind"] for event in events} == {"run-started", "finding", "decision"}
    for event in events:
        validator().validate(event)
        for field, wrong in (
            ("schema", "traindx.event/2"),
            ("kind", "alarm"),
            ("step", "9"),
            ("text", None),
        ):
            assert not validator().is_valid({**event, field: wrong})
        for field in event:
            assert not validator().is_valid({key: value for key, value in event.items() if key != field})


def watching(log: Path, *options: str) -> Any:
    command = [*COMMAND, "watch", log.name, "--json", *options]
    return started(
        command,
        cwd=log.parent,
        env=variables(log.parent),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def append(log: Path, lines: list[str]) -> None:
    with log.open("a") as stream:
        stream.writelines(lines)


def test_events_come_as_lines_of_strict_json(log: Path) -> None:
    with watching(log) as process:
        first = next_event(process)
        append(log, BROKEN)
        second, third = next_event(process), next_event(process)
    assert (first["schema"], first["kind"], first["run"]) == ("traindx.event/1", "run-started", "train.log")
    assert (second["kind"], second["finding"]["slug"]) == ("finding", "loss-not-finite")
    assert second["finding"]["evidence"][0]["value"] == "NaN"
    assert (third["kind"], third["decision"]["action"]) == ("decision", "stop")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", first["at"])


def test_after_kill_nothing_is_repeated_and_nothing_lost(log: Path) -> None:
    with watching(log) as process:
        cursor = next_event(process)["cursor"]
        append(log, BROKEN)
        before = [next_event(process), next_event(process)]
        process.send_signal(signal.SIGKILL)
    append(log, ["RuntimeError: CUDA error: out of memory\n"])
    with watching(log) as process:
        after = next_event(process)
    assert after["episode"] not in {event["episode"] for event in before if event["episode"]}
    done = traindx(
        "watch", log.name, "--json", "--once", "--since", cursor, cwd=log.parent, env=variables(log.parent)
    )
    events = [json.loads(line) for line in done.out.splitlines()]
    assert events[:2] == before
    assert len({event["cursor"] for event in events}) == len(events)


def test_once_reports_the_state_and_its_status(log: Path) -> None:
    done = traindx("watch", log.name, "--once", cwd=log.parent, env=variables(log.parent))
    assert (done.status, done.err) == (0, "")
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d  train.log step 99: Continue: [^\n]+ Look again at step 124\.\n", done.out
    )
    append(log, BROKEN)
    done = traindx("watch", log.name, "--once", cwd=log.parent, env=variables(log.parent))
    assert done.status == 1
    assert "CRITICAL: " in done.out
    assert "Stop: " in done.out
    again = traindx("watch", log.name, "--once", cwd=log.parent, env=variables(log.parent))
    assert [line[8:] for line in again.out.splitlines()] == [line[8:] for line in done.out.splitlines()]


def test_quiet_until_wakes_for_news_only(log: Path) -> None:
    with watching(log, "--quiet-until", "high", "--until-done") as process:
        append(log, [*BROKEN, "Traceback (most recent call last):\n", "ValueError: no\n"])
        events = [next_event(process) for _ in range(3)]
        assert process.wait(PATIENCE) == 1
    assert [event["kind"] for event in events] == ["finding", "decision", "run-failed"]


def test_nothing_to_follow_is_a_sentence(tmp_path: Path) -> None:
    done = traindx("watch", "no.log", cwd=tmp_path, env=variables(tmp_path))
    assert done.status == 2
    assert done.err == (
        "traindx: error: no.log: there is nothing to follow (name a log, or a folder in which runs appear)\n"
    )


def test_a_foreign_cursor_is_refused(log: Path) -> None:
    done = traindx(
        "watch", log.name, "--once", "--since", "abc:3", cwd=log.parent, env=variables(log.parent)
    )
    assert done.status == 2
    assert "not a cursor of these paths" in done.err


def test_the_log_and_its_folder_stay_as_they_are(
    log: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = log.stat().st_mtime_ns, log.read_bytes()
    traindx("watch", ".", "--once", cwd=log.parent, env=variables(tmp_path_factory.mktemp("elsewhere")))
    assert (log.stat().st_mtime_ns, log.read_bytes()) == before
    assert [path.name for path in log.parent.iterdir()] == ["train.log"]


def screen_of(descriptor: int, wanted: str) -> str:
    """What a terminal was sent until a word came."""
    seen, end = b"", time.monotonic() + PATIENCE
    while wanted.encode() not in seen and time.monotonic() < end:
        if select.select([descriptor], [], [], 1.0)[0]:
            seen += os.read(descriptor, 65536)
    return seen.decode("utf-8", "replace")


def test_the_view_shows_a_run_opens_its_page_and_ends(log: Path) -> None:
    append(log, BROKEN)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "traindx", "watch", log.name], cwd=log.parent, stdin=theirs, stdout=theirs,
        stderr=subprocess.PIPE, env={**variables(log.parent), "COLUMNS": "80", "LINES": "24"}, start_new_session=True,
    )  # fmt: skip
    try:
        view = screen_of(ours, "Stop:")
        assert "failed" in view
        assert "NaN" in view
        os.write(ours, b"\r")
        assert "FAILED" in screen_of(ours, "FAILED")
        os.write(ours, b"q")
        assert process.wait(PATIENCE) == 1
    finally:
        process.kill()
        os.close(ours)
        os.close(theirs)
