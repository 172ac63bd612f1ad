"""Alerts: what is due when, nothing lost and nothing sent twice, and no secret shown. Real commands and a real server."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import COMMAND, environment, traindx
from tests.live.receiver import Web, server
from tests.processes import started
from traindx import config
from traindx.config import Alerts
from traindx.errors import ConfigError
from traindx.live.alerts.channels import command as channel
from traindx.live.alerts.delivery import Lane, Progress
from traindx.live.alerts.messages import REPEATED, NotDelivered, message
from traindx.live.alerts.targets import Target, channel_of, targets
from traindx.vocabulary.diagnosis import Finding
from traindx.vocabulary.live import LiveEvent

PATIENCE = 60.0  # seconds until something that must come
FALL = [f"step {i} | loss {2.3 * 0.97**i + 0.3:.4f} | lr 0.1\n" for i in range(100)]
BROKEN = [f"step {i} | loss nan | lr 0.1\n" for i in range(100, 120)]
NOW = datetime(2026, 11, 25, 12, 0).timestamp()


def event(severity: str = "high", run: str = "a.log", kind: str = "finding") -> LiveEvent:
    finding = Finding(
        code="LOS002", slug="loss-diverges", family="LOS", severity=severity, onset_step=1.0, last_step=2.0,
        where=None, message="train/loss rose",
    )  # fmt: skip
    return LiveEvent(cursor="ab:1", run=run, source=run, kind=kind, text="train/loss rose", finding=finding)


def lane(done: int = 0, sending: int = 0, digest: bool = False, at: float = 0.0, **settings: Any) -> Lane:
    made = Alerts(group_seconds=2, least_seconds=60, **settings)
    return Lane(
        Target("command", "true", "high"), made, Progress(done, sending, at), Path("receipt"), digest
    )


def test_only_what_reaches_the_severity_is_sent() -> None:
    assert lane().pending([event("medium"), event("high"), event("critical"), event("low")]) == [
        event("high"), event("critical"),
    ]  # fmt: skip
    assert lane(done=1).pending([event(), event("medium")]) == []
    assert len(lane(digest=True).pending([event("low"), event()])) == 2


def test_events_wait_for_others_and_a_target_gets_one_message_a_minute() -> None:
    waits = lane()
    assert not waits.due([event()], NOW, False)
    assert not waits.due([event(), event(run="b.log")], NOW + 1.9, False)
    assert waits.due([event(), event(run="b.log")], NOW + 2, False)
    limited = lane(at=NOW - 10)
    assert not limited.due([event()], NOW, False)
    assert not limited.due([event()], NOW + 49, False)
    assert limited.due([event()], NOW + 50, False)
    assert lane(at=NOW - 10).due([event()], NOW, True)  # there will be no later call
    assert not lane().due([], NOW, True)


def test_a_clock_that_was_set_back_stops_no_alert() -> None:
    waits = lane(at=NOW + 86400)
    assert not waits.due([event()], NOW, False)
    assert waits.due([event()], NOW - 7200, False)


@pytest.mark.parametrize(
    ("hours", "quiet"), [("22:00-07:00", False), ("11:30-12:30", True), ("12:01-11:59", False)]
)
def test_quiet_hours_hold_all_but_failures_and_what_is_critical(hours: str, quiet: bool) -> None:
    held = lane(quiet_hours=hours)
    held.due([event()], NOW, False)
    assert held.due([event()], NOW + 3, False) is not quiet
    assert held.due([event(), event("critical")], NOW + 3, False)
    assert held.due([event(), event(kind="run-failed")], NOW + 3, False)


def test_a_digest_comes_in_its_time() -> None:
    assert not lane(digest=True, at=NOW - 3600, digest_hours=24).due([event()], NOW, False)
    assert lane(digest=True, at=NOW - 86400, digest_hours=24).due([event()], NOW, False)


def test_a_target_that_fails_for_weeks_is_tried_every_ten_minutes() -> None:
    failing = lane()
    failing.failures, failing.failed_at = 5000, NOW
    assert not failing.due([event()], NOW + 599, False)
    assert failing.due([event()], NOW + 600, False)


def test_an_unexpected_error_is_named_without_its_text(tmp_path: Path) -> None:
    made = lane()
    made.receipt = tmp_path / "secret-folder/receipt"  # which is not there
    made.deliver([event()], 1, lambda: None)
    assert made.complaint == "not delivered to true: FileNotFoundError"
    assert (made.failures, made.progress.done) == (1, 0)
    made.receipt = tmp_path / "receipt"
    made.deliver([event()], 1, lambda: None)
    assert (made.failures, made.progress.done, made.complaint) == (0, 1, "")


@pytest.mark.parametrize("broken", [True, False])
def test_a_message_in_doubt_stays_so_when_it_fails(tmp_path: Path, broken: bool) -> None:
    made = Lane(
        Target("command", "false" if broken else "true", "high"),
        Alerts(),
        Progress(0, 1),
        tmp_path / "receipt",
    )
    made.deliver([event()], 1, lambda: None)
    assert made.in_doubt is broken
    assert made.progress.sending == 1
    assert made.progress.done == (0 if broken else 1)


def test_a_command_that_does_not_end_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "LIMIT", 1.0)
    script = tmp_path / "hangs.py"
    script.write_text(
        "import subprocess, sys\nchild = subprocess.Popen(['sleep', '300'])\n"
        "open(sys.argv[1], 'w').write(str(child.pid))\nchild.wait()\n"
    )
    with pytest.raises(NotDelivered, match="did not end within 1 s"):
        channel.send(
            f"{sys.executable} {script} {tmp_path / 'child'}", message([event()], tmp_path / "receipt")
        )
    child = Path("/proc") / (tmp_path / "child").read_text() / "stat"
    until(lambda: not child.exists() or child.read_text().split()[2] == "Z")


def test_without_apprise_it_is_said_how_to_install_it(log: Path) -> None:
    (log.parent / "apprise.py").write_text("raise ImportError('not installed')\n")
    paths = f"{log.parent}{os.pathsep}{environment().get('PYTHONPATH', '')}"
    env = {"XDG_STATE_HOME": str(log.parent / "state"), "PYTHONPATH": paths}
    done = traindx("watch", log.name, "--once", "--notify", "json://localhost", cwd=log.parent, env=env)
    assert (done.status, "pip install 'traindx[alerts]'" in done.err) == (2, True)


def test_many_runs_with_one_finding_are_one_line() -> None:
    made = message([event(run=f"sweep/run{i}.log") for i in range(40)], Path("receipt"))
    assert made.title == "traindx high: 40 runs"
    assert made.text.splitlines() == [made.text]
    assert made.text.endswith("(and in 39 more runs: sweep/run1.log, sweep/run2.log, ...)")
    few = message([event(), event(run="b.log")], Path("receipt"))
    assert len(few.text.splitlines()) == 2


def test_secrets_come_from_a_variable_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = (
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnl",
        "json://me:hunter2secret@localhost",
        "mailto://a:b@c.de",
    )
    for spec in (*written, "TIiajkdnl/x"):
        with pytest.raises(ConfigError, match=r"by a variable .* or a file") as raised:
            channel_of(spec)
        assert "hunter2secret" not in str(raised.value)
        assert "TIiajkdnl" not in str(raised.value)
    monkeypatch.setenv("HOOK", "T1/A2")
    (tmp_path / "url").write_text("ntfy://topic/$not-a-variable\n")
    for spec in ("json://localhost:80/x", "slack://$HOOK", f"@{tmp_path / 'url'}"):
        assert channel_of(spec) == "apprise"
    assert Target("apprise", "slack://${HOOK}/x", "high").address() == "slack://T1/A2/x"
    assert Target("apprise", f"@{tmp_path / 'url'}", "high").address() == "ntfy://topic/$not-a-variable"
    monkeypatch.delenv("HOOK")
    with pytest.raises(ConfigError, match="HOOK is not set"):
        channel_of("slack://$HOOK")


def test_what_cannot_work_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="no program 'no-such-program'"):
        targets(Alerts(on=(("high", "no-such-program --now"),)))
    pytest.importorskip("apprise")
    with pytest.raises(ConfigError, match="apprise knows no service"):
        targets(Alerts(notify=("json://",)))


def test_settings_are_read_and_checked() -> None:
    made = config.parse(
        {"alerts": {"on": {"high": "./a.sh"}, "quiet-hours": "22:00-07:00"}}, "x.toml"
    ).alerts
    assert made.on == (("high", "./a.sh"),)
    assert made.is_quiet(datetime(2026, 1, 1, 23, 0))
    assert not made.is_quiet(datetime(2026, 1, 1, 7, 0))
    assert not Alerts().is_quiet(datetime(2026, 1, 1, 0, 0))
    for wrong in (
        {"quiet-hour": ""},
        {"quiet-hours": "22-7"},
        {"on": {"grave": "./a.sh"}},
        {"digest-hours": -1},
    ):
        with pytest.raises(ConfigError, match=r"x\.toml: alerts"):
            config.parse({"alerts": wrong}, "x.toml")


def test_the_example_of_the_page_runs_and_its_settings_are_valid(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/watch.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```", page, re.DOTALL | re.M))
    settings = tomllib.loads(blocks["toml"])["tool"]["traindx"]
    assert config.parse(settings, "the page").alerts.on == (("critical", "python alert.py"),)
    (tmp_path / "alert.py").write_text(blocks["python"])
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.log").write_text("".join(FALL + BROKEN))
    (command,) = re.findall(r"`traindx (watch runs --on .*?)`", page)
    words = shlex.split(command.replace("python", sys.executable))
    done = traindx(*words, "--once", cwd=tmp_path, env={"XDG_STATE_HOME": str(tmp_path / "state")})
    assert done.status == 1, done.err
    assert "a.log: finding: train/loss is NaN" in (tmp_path / "alerts.txt").read_text()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    log = tmp_path / "train.log"
    log.write_text("".join(FALL))
    return log


def append(log: Path, lines: list[str]) -> None:
    with log.open("a") as stream:
        stream.writelines(lines)


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not true():
        assert time.monotonic() < end, "it did not happen"
        pause.wait(0.05)


@contextlib.contextmanager
def watching(log: Path, *options: str, **variables: str) -> Iterator[Any]:
    (log.parent / "traindx.toml").write_text("alerts.group-seconds = 0\nalerts.least-seconds = 0\n")
    command = [*COMMAND, "watch", log.name, "--json", *options]
    env = environment(XDG_STATE_HOME=str(log.parent / "state"), **variables)
    with (
        (log.parent / "out").open("ab") as out,
        (log.parent / "err").open("ab") as err,
        started(command, cwd=log.parent, env=env, stdout=out, stderr=err) as process,
    ):
        until(lambda: b"run-started" in (log.parent / "out").read_bytes())
        yield process


def keeping(log: Path, rest: str = "") -> str:
    """A command that keeps what it is given, and then does the rest."""
    script = log.parent / "keep.py"
    script.write_text(f"import os, signal, sys\nopen('kept', 'a').write(sys.stdin.read())\n{rest}\n")
    return f"{sys.executable} keep.py"


def sending(log: Path) -> bool:
    """Whether a message is on its way, so that a watch that is killed now cannot know whether it arrived."""
    (file,) = (log.parent / "state").rglob("alerts")
    return any(progress["sending"] > progress["done"] for progress in json.loads(file.read_text()).values())


def kept(log: Path) -> list[dict[str, Any]]:
    file = log.parent / "kept"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_a_command_gets_the_events_as_json(log: Path) -> None:
    with watching(log, "--on", "high", keeping(log)):
        append(log, BROKEN)
        until(lambda: len(kept(log)) == 2)
    printed = [json.loads(line) for line in (log.parent / "out").read_text().splitlines()]
    assert kept(log) == printed[1:3]
    assert [event["kind"] for event in kept(log)] == ["finding", "decision"]


@pytest.mark.parametrize(("ends", "runs"), [("sys.exit(0)", 1), ("sys.exit('busy')", 2)])
def test_a_command_that_is_running_when_the_watch_is_killed(log: Path, ends: str, runs: int) -> None:
    """It is run again only if it fails, also where the next watch starts while it is still running."""
    rest = (
        "if not os.path.exists('again'):\n    os.kill(int(open('pid').read()), signal.SIGKILL)\n"
        f"    while not os.path.exists('again'):\n        pass\n    {ends}"
    )
    with watching(log, "--on", "critical", keeping(log, rest)) as process:
        (log.parent / "pid").write_text(str(process.pid))
        append(log, BROKEN)
        assert process.wait(PATIENCE) == -signal.SIGKILL
    with watching(log, "--on", "critical", keeping(log, rest)):
        (log.parent / "again").touch()
        append(log, ["Traceback (most recent call last):\n", "ValueError: shapes\n"])
        until(lambda: "run-failed" in [event["kind"] for event in kept(log)])
        until(lambda: not sending(log))
    cursors = [event["cursor"] for event in kept(log)]
    assert cursors.count(cursors[0]) == runs
    assert {"finding", "decision", "run-failed"} <= {event["kind"] for event in kept(log)}


def test_what_fails_is_tried_again_and_survives_a_restart(log: Path) -> None:
    command = keeping(log, "").replace("keep.py", "fail.py")
    (log.parent / "fail.py").write_text(
        "import os, sys\nif not os.path.exists('open'):\n    open('tried', 'a').write('.')\n    sys.exit('closed')\n"
        "open('kept', 'a').write(sys.stdin.read())\n"
    )
    tried = log.parent / "tried"
    with watching(log, "--on", "high", command) as process:
        append(log, BROKEN)
        until(lambda: "not delivered to" in (log.parent / "err").read_text())
        tries = len(tried.read_text())
        until(lambda: len(tried.read_text()) > tries)  # again, and the reason is not repeated
        until(lambda: not sending(log))
        process.send_signal(signal.SIGKILL)
    assert (log.parent / "err").read_text().count("exit status 1: closed") == 1
    (log.parent / "open").touch()
    with watching(log, "--on", "high", command):
        until(lambda: len(kept(log)) == 2)


def url(web: Web) -> str:
    return f"json://me:hunter2secret@localhost:{web.port}"


def test_a_service_gets_a_message_and_no_secret_is_shown_or_kept(log: Path) -> None:
    pytest.importorskip("apprise")
    with server() as web:
        web.statuses.extend([500, 500])
        with watching(log, "--notify", "$HOOK", HOOK=url(web)):
            append(log, BROKEN)
            until(lambda: web.bodies)
    (body,) = [json.loads(body) for body in web.bodies]
    assert body["title"] == "traindx critical: train.log"
    assert "CRITICAL: train/loss is NaN" in body["message"]
    assert "not delivered to $HOOK" in (log.parent / "err").read_text()
    files = [path for path in log.parent.rglob("*") if path.is_file()]
    assert not [path for path in files if b"hunter2secret" in path.read_bytes()]


def test_a_message_that_was_cut_off_is_sent_again_and_says_so(log: Path) -> None:
    """The server kills the watch before it answers. Nobody can know whether the message arrived."""
    pytest.importorskip("apprise")
    with server() as web:
        with watching(log, "--notify", "$HOOK", HOOK=url(web)) as process:
            web.before_answer.append(lambda: os.kill(process.pid, signal.SIGKILL))
            append(log, BROKEN)
            assert process.wait(PATIENCE) == -signal.SIGKILL
        web.before_answer.clear()
        with watching(log, "--notify", "$HOOK", HOOK=url(web)):
            until(lambda: len(web.bodies) > 1 and not sending(log))
        with watching(log, "--notify", "$HOOK", HOOK=url(web)):
            append(log, ["Traceback (most recent call last):\n", "ValueError: shapes\n"])
            until(lambda: "ValueError" in web.bodies[-1])
    texts = [json.loads(body)["message"] for body in web.bodies]
    assert texts[1] == f"{REPEATED}\n{texts[0]}"
    assert sum("is NaN" in text for text in texts) == 2


def test_one_watch_at_a_time_sends_the_alerts_of_a_folder(log: Path) -> None:
    with watching(log, "--on", "high", keeping(log)):
        env = {"XDG_STATE_HOME": str(log.parent / "state")}
        second = traindx("watch", log.name, "--once", "--on", "high", keeping(log), cwd=log.parent, env=env)
    assert (second.status, "sends alerts already" in second.err) == (2, True)


def test_a_settings_file_runs_and_sends_nothing_unless_it_is_asked_for(log: Path) -> None:
    """It may have come with a project: `$HOME` could be any secret, and the command anything."""
    (log.parent / "traindx.toml").write_text(
        f'alerts.on = {{ high = "{keeping(log)}" }}\nalerts.group-seconds = 0\n'
    )
    env = environment(XDG_STATE_HOME=str(log.parent / "state"))
    append(log, BROKEN)
    quiet = traindx("watch", log.name, "--once", cwd=log.parent, env=env)
    assert quiet.err == "The settings file names alerts. They are sent with --alerts only.\n"
    assert not (log.parent / "kept").exists()
    asked = traindx("watch", log.name, "--once", "--alerts", cwd=log.parent, env=env)
    assert asked.err == ""
    assert (
        json.loads((log.parent / "kept").read_text().splitlines()[0])["finding"]["slug"] == "loss-not-finite"
    )
