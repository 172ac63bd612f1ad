"""`traindx diagnose` as a process: what comes out where, with which exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.logs import csv_text, diverging_rows, healthy_log, jsonl_text, sick_log, written
from tests.cli.process import COMMAND, LIMIT, at_terminal, environment, traindx
from tests.processes import started
from traindx.cli.demo_network import FAULTS, train
from traindx.vocabulary.diagnosis import SEVERITIES


def test_a_sick_run_gives_exit_status_1(tmp_path: Path) -> None:
    done = traindx("diagnose", sick_log(tmp_path), cwd=tmp_path)
    assert done.status == 1
    assert "\x1b" not in done.out
    assert done.err == ""
    assert len(done.out.splitlines()) <= 36
    full = traindx("diagnose", sick_log(tmp_path), "--full", cwd=tmp_path)
    assert "LOS001" in full.out
    assert len(full.out.splitlines()) > len(done.out.splitlines())


def test_a_healthy_run_has_exit_status_0(tmp_path: Path) -> None:
    done = traindx("diagnose", healthy_log(tmp_path), cwd=tmp_path)
    assert (done.status, done.err) == (0, "")


def test_a_failed_run_has_exit_status_1_without_a_finding(tmp_path: Path) -> None:
    lines = [f"epoch {i}: train_loss={2 / (i + 1):.4f}" for i in range(30)]
    error = ["Traceback (most recent call last):", '  File "t.py", line 3, in <module>', "KeyError: 'x'"]
    log = written(tmp_path / "out.log", "\n".join([*lines, *error, ""]))
    assert traindx("diagnose", log, cwd=tmp_path).status == 1
    ended = written(tmp_path / "ended.log", "\n".join([*lines, ""]))
    assert traindx("diagnose", ended, cwd=tmp_path).status == 0


def test_json_is_the_contract(tmp_path: Path) -> None:
    done = traindx("diagnose", sick_log(tmp_path), healthy_log(tmp_path), "--format", "json", cwd=tmp_path)
    document = json.loads(done.out)
    assert done.status == 1
    assert document["schema"] == "traindx.diagnosis/1"
    assert [Path(run["run"]["source"]).name for run in document["runs"]] == ["sick.csv", "healthy.csv"]
    assert "loss-not-finite" in {finding["slug"] for finding in document["runs"][0]["findings"]}


@pytest.mark.parametrize(("rows", "text"), [(diverging_rows(), csv_text), (diverging_rows(), jsonl_text)])
def test_stdin(tmp_path: Path, rows: list[dict[str, float]], text: object) -> None:
    assert callable(text)
    done = traindx("diagnose", "-", "-f", "json", cwd=tmp_path, given=text(rows))
    assert done.status == 1
    assert len(json.loads(done.out)["runs"]) == 1


def test_pasted_text_says_the_same_as_the_file(tmp_path: Path) -> None:
    rows = diverging_rows()
    log = written(
        tmp_path / "train.log", "".join(f"step {r['step']} | loss {r['train_loss']:.5f}\n" for r in rows)
    )
    file = json.loads(traindx("diagnose", log, "-f", "json", cwd=tmp_path).out)["runs"][0]
    pasted = json.loads(traindx("diagnose", "-", "-f", "json", cwd=tmp_path, given=log.read_text()).out)[
        "runs"
    ][0]
    assert file["findings"] == pasted["findings"] != []
    assert file["hypotheses"] == pasted["hypotheses"]


def test_globs_and_folders(tmp_path: Path) -> None:
    sick_log(tmp_path / "a", "metrics.csv")
    healthy_log(tmp_path / "b", "metrics.csv")
    for path in ("*/metrics.csv", "."):
        done = traindx("diagnose", path, "-f", "json", cwd=tmp_path)
        assert done.status == 1
        assert len(json.loads(done.out)["runs"]) == 2
    done = traindx("diagnose", "*/nothing.csv", cwd=tmp_path)
    assert done.status == 2
    assert "no file matches" in done.err


def test_one_bad_path_of_several(tmp_path: Path) -> None:
    done = traindx("diagnose", tmp_path / "absent.csv", sick_log(tmp_path), "-f", "json", cwd=tmp_path)
    assert done.status == 2
    assert len(json.loads(done.out)["runs"]) == 1
    assert done.err.startswith("traindx: error: ")
    assert "absent.csv" in done.err
    assert done.err.count("\n") == 1


def test_severity_decides_the_exit_status_only(tmp_path: Path) -> None:
    log = tmp_path / "overfitting.csv"
    train(FAULTS["overfitting"].recipe, log, 0, lambda step: None)
    document = json.loads(traindx("diagnose", log, "-f", "json", cwd=tmp_path).out)
    found = [SEVERITIES.index(finding["severity"]) for finding in document["runs"][0]["findings"]]
    assert found
    assert min(found) > 0  # nothing critical, so that the levels on both sides can be asked for
    for level, severity in enumerate(SEVERITIES):
        done = traindx("diagnose", log, "-f", "json", "--severity", severity, cwd=tmp_path)
        assert done.status == int(level >= min(found))
        assert json.loads(done.out) == document


def test_select_and_ignore(tmp_path: Path) -> None:
    log = sick_log(tmp_path)

    def codes(*options: str) -> set[str]:
        run = json.loads(traindx("diagnose", log, "-f", "json", *options, cwd=tmp_path).out)["runs"][0]
        return {f["code"] for f in (*run["findings"], *run["not_evaluated"])}

    assert {code[:3] for code in codes("--select", "LOS,GEN")} <= {"LOS", "GEN"}
    everything = codes()
    assert codes("--ignore", "LOS") == {code for code in everything if not code.startswith("LOS")}
    assert codes("--select", "loss-not-finite") == {"LOS001"}
    refused = traindx("diagnose", log, "--select", "XYZ", cwd=tmp_path)
    assert refused.status == 2
    assert "XYZ" in refused.err


def test_settings_file_is_found_and_overridden(tmp_path: Path) -> None:
    log = sick_log(tmp_path)
    written(tmp_path / "pyproject.toml", "[tool.traindx]\nselect = ['GEN']\nseverity = 'critical'\n")
    assert traindx("diagnose", log, cwd=tmp_path).status == 0
    assert traindx("diagnose", log, "--select", "LOS", cwd=tmp_path).status == 1
    other = written(tmp_path / "other.toml", "selct = []\n")
    refused = traindx("diagnose", log, "--config", other, cwd=tmp_path)
    assert refused.status == 2
    assert "did you mean 'select'?" in refused.err


def test_map_and_fact(tmp_path: Path) -> None:
    rows = [{"step": r["step"], "zork": r["train_loss"]} for r in diverging_rows()]
    log = written(tmp_path / "log.csv", csv_text(rows))
    options = ("--map", "train/loss=zork", "--fact", "optimizer=sgd", "--fact", "classes=10")
    run = json.loads(traindx("diagnose", log, "-f", "json", *options, cwd=tmp_path).out)["runs"][0]
    assert {"name": "train/loss", "original": "zork", "points": 400} in run["run"]["signals"]
    assert run["run"]["setup"]["optimizer"] == "sgd"
    assert run["run"]["setup"]["classes"] == 10


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--map", "train/loss"], "--map needs KEY=VALUE"),
        (["--map", "loss=x"], "'loss' is not a signal"),
        (["--fact", "clases=10"], "did you mean 'classes'?"),
        (["--severity", "awful"], "awful"),
        (["--format", "pdf"], "pdf"),
        (["--formt", "json"], "--format"),
        (["--config", "absent.toml"], "cannot be read"),
        (["--output", "."], "is a folder"),
        (["--output", "no/such/folder.json"], "there is no folder"),
        (["--ask"], "--ask needs a terminal"),
    ],
)
def test_bad_options(tmp_path: Path, options: list[str], said: str) -> None:
    done = traindx("diagnose", healthy_log(tmp_path), *options, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("traindx: error: ")
    assert done.err.count("\n") == 1
    assert said in done.err


def test_no_path(tmp_path: Path) -> None:
    done = traindx("diagnose", cwd=tmp_path)
    assert done.status == 2
    assert "PATH" in done.err


@pytest.mark.parametrize(
    ("name", "begins"), [("r.json", "{"), ("r.md", "#"), ("r.html", "<!doctype html>"), ("r.txt", "")]
)
def test_output_file_takes_its_form_from_the_suffix(tmp_path: Path, name: str, begins: str) -> None:
    done = traindx("diagnose", sick_log(tmp_path), "--output", name, cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert (tmp_path / name).read_text().lower().startswith(begins)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["sick.csv", name])


def test_output_keeps_mode_and_link(tmp_path: Path) -> None:
    target = written(tmp_path / "real" / "report.md", "old")
    target.chmod(0o640)
    link = tmp_path / "report.md"
    link.symlink_to(target)
    assert traindx("diagnose", healthy_log(tmp_path), "--output", link, cwd=tmp_path).status == 0
    assert link.is_symlink()
    assert target.read_text().startswith("#")
    assert target.stat().st_mode & 0o777 == 0o640


def test_output_to_a_device(tmp_path: Path) -> None:
    done = traindx("diagnose", healthy_log(tmp_path), "--output", "/dev/stdout", "-f", "json", cwd=tmp_path)
    assert json.loads(done.out)["schema"] == "traindx.diagnosis/1"


def test_a_pipe_that_closes_early_is_no_error(tmp_path: Path) -> None:
    sick_log(tmp_path)
    script = f'{" ".join(COMMAND)} diagnose sick.csv -f html | head -c 20; echo "status ${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
        timeout=LIMIT,
    )
    assert done.stderr == ""
    assert done.stdout.endswith("status 1\n")


def test_interrupting_leaves_nothing_half_written(tmp_path: Path) -> None:
    """The process waits for the rest of a log on stdin when Ctrl-C comes. A pipe holds 64 KiB: when more
    has gone through it, the process has begun to read."""
    report = written(tmp_path / "report.json", "old")
    command = [*COMMAND, "diagnose", "-", "--output", str(report)]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(command, cwd=tmp_path, env=environment(), **pipes) as process:
        assert process.stdin is not None
        process.stdin.write(csv_text(diverging_rows()).encode() * 8)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert err.decode().strip() == "traindx: interrupted"
    assert report.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


def test_colours(tmp_path: Path) -> None:
    log = sick_log(tmp_path)
    assert "\x1b[" in traindx("diagnose", log, cwd=tmp_path, env={"FORCE_COLOR": "1"}).out
    assert (
        "\x1b[" not in traindx("diagnose", log, cwd=tmp_path, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out
    )
    assert "\x1b[" not in traindx("diagnose", log, "--no-color", cwd=tmp_path, env={"FORCE_COLOR": "1"}).out
    assert "\x1b[" in at_terminal(["diagnose", log], cwd=tmp_path).out
    assert "\x1b[" not in at_terminal(["diagnose", log], cwd=tmp_path, env={"NO_COLOR": "1"}).out
    assert "\x1b[" not in at_terminal(["diagnose", log], cwd=tmp_path, env={"TERM": "dumb"}).out


def test_text_fits_the_terminal(tmp_path: Path) -> None:
    log = sick_log(tmp_path)
    for columns in (60, 100):
        done = traindx("diagnose", log, cwd=tmp_path, env={"COLUMNS": str(columns)})
        assert max(map(len, done.out.splitlines())) <= columns


def test_html_does_not_go_to_a_terminal(tmp_path: Path) -> None:
    done = at_terminal(["diagnose", sick_log(tmp_path), "--format", "html"], cwd=tmp_path)
    assert done.status == 2
    assert "--output" in done.out
    assert "<html" not in done.out


def test_questions_are_asked_for_what_is_not_known(tmp_path: Path) -> None:
    answers = "\n".join(["adam", "fast", "1e-3", "", "50000", "", "10", "", "1,4"]) + "\n"
    arguments = ["diagnose", sick_log(tmp_path), "--ask", "--output", "d.json"]
    done = at_terminal(arguments, cwd=tmp_path, typed=answers)
    assert "lr must be a number" in done.out
    setup = json.loads((tmp_path / "d.json").read_text())["runs"][0]["run"]["setup"]
    assert setup["optimizer"] == "adam"
    assert setup["lr"] == 1e-3
    assert setup["dataset_size"] == 50_000
    assert setup["classes"] == 10
    assert setup["facts"]["symptoms"] == "loss-plateaus,loss-not-finite"
    assert "batch_size" not in setup


def test_figures(tmp_path: Path) -> None:
    done = traindx(
        "diagnose", sick_log(tmp_path), "--figures", tmp_path / "figures", "--quiet", cwd=tmp_path
    )
    assert (done.status, done.err) == (1, "")
    drawn = sorted((tmp_path / "figures").iterdir())
    assert drawn
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


def test_the_log_is_left_as_it_was(tmp_path: Path) -> None:
    log = sick_log(tmp_path)
    before = (log.read_bytes(), log.stat().st_mtime_ns)
    log.chmod(0o444)
    os.chmod(tmp_path, 0o555)
    try:
        traindx("diagnose", log, cwd=tmp_path)
    finally:
        os.chmod(tmp_path, 0o755)
    assert (log.read_bytes(), log.stat().st_mtime_ns) == before
