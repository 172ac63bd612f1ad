"""Bad input: a diagnosis that names the damage, or exit status 2 with a reason. Never a traceback
(`traindx()` itself fails on one), and nothing of the user's is changed."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.cli.logs import csv_text, diverging_rows, healthy_rows, jsonl_text, written
from tests.cli.process import COMMAND, LIMIT, Done, environment, traindx

LOSSES = [{"step": i, "loss": 2.0 / (1 + i / 50)} for i in range(200)]


def refused(done: Done, *said: str) -> None:
    """Exit status 2, nothing on stdout, one line on stderr that holds all of `said`."""
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("traindx: error: ")
    assert done.err.count("\n") == 1
    for words in said:
        assert words in done.err


def diagnosed(path: Path, *options: str) -> dict[str, object]:
    """The only run of a log that is read in spite of its damage."""
    done = traindx("diagnose", path, "-f", "json", *options, cwd=path.parent)
    assert done.status in (0, 1), done.err
    (run,) = json.loads(done.out)["runs"]
    assert isinstance(run, dict)
    return run


def points(run: dict[str, object], name: str = "train/loss") -> int:
    return next(s["points"] for s in run["run"]["signals"] if s["name"] == name)  # type: ignore[index]


def warnings(run: dict[str, object]) -> list[dict[str, object]]:
    return [e for e in run["run"]["events"] if e["kind"] == "parse-warning"]  # type: ignore[index]


def test_missing_path(tmp_path: Path) -> None:
    refused(traindx("diagnose", "absent.csv", cwd=tmp_path), "absent.csv", "no such file")


def test_empty_file(tmp_path: Path) -> None:
    written(tmp_path / "empty.csv", "")
    refused(traindx("diagnose", "empty.csv", cwd=tmp_path), "empty.csv", "is empty")
    refused(traindx("diagnose", "-", cwd=tmp_path), "is empty")
    written(tmp_path / "blank.log", "\n \n\t\n")
    refused(traindx("diagnose", "blank.log", cwd=tmp_path), "blank.log")


def test_folder_without_logs(tmp_path: Path) -> None:
    written(tmp_path / "there" / "notes.txt", "remember the milk\n")
    refused(traindx("diagnose", "there", cwd=tmp_path), "there")
    (tmp_path / "nothing").mkdir()
    refused(traindx("diagnose", "nothing", cwd=tmp_path), "nothing")


@pytest.mark.parametrize(
    "name", ["rubbish", "rubbish.csv", "rubbish.json", "events.out.tfevents.1", "run.wandb", "x.npz"]
)
def test_binary_rubbish(tmp_path: Path, name: str) -> None:
    written(tmp_path / name, np.random.default_rng(0).bytes(100_000))
    refused(traindx("diagnose", name, cwd=tmp_path), name)


def test_prose_is_not_a_log(tmp_path: Path) -> None:
    written(tmp_path / "notes.md", "# Ideas\n\nTry more data. The learning rate of 2019 was good.\n" * 20)
    refused(traindx("diagnose", "notes.md", cwd=tmp_path), "notes.md")


def test_lfs_pointer(tmp_path: Path) -> None:
    oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
    written(
        tmp_path / "log.csv", f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12345\n"
    )
    refused(traindx("diagnose", "log.csv", cwd=tmp_path), "LFS pointer", "git lfs pull")


def crc32c(data: bytes) -> int:
    """Castagnoli's CRC, bit by bit, masked as TFRecord wants it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(payload: bytes) -> bytes:
    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", crc32c(head)) + payload + struct.pack("<I", crc32c(payload))


def event(step: int, tag: str, value: float) -> bytes:
    """A TensorBoard scalar, written out by hand: wall_time 1, step 2, summary 5 {tag 1, simple_value 2}."""
    one = b"\x0a" + bytes([len(tag)]) + tag.encode() + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + bytes([len(one)]) + one
    varint = bytes([step & 0x7F | 0x80, step >> 7]) if step > 127 else bytes([step])
    return record(
        b"\x09"
        + struct.pack("<d", 1.7e9 + step)
        + b"\x10"
        + varint
        + b"\x2a"
        + bytes([len(summary)])
        + summary
    )


def event_file(n: int = 200) -> list[bytes]:
    version = record(b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2")
    return [version, *(event(i, "train/loss", 2.0 / (1 + i / 50)) for i in range(n))]


def test_truncated_event_file(tmp_path: Path) -> None:
    log = written(tmp_path / "events.out.tfevents.1", b"".join(event_file())[:-7])
    assert points(diagnosed(log)) == 199


def test_broken_crc_in_the_middle(tmp_path: Path) -> None:
    records = event_file()
    broken = bytearray(records[100])
    broken[-6] ^= 0xFF
    log = written(
        tmp_path / "events.out.tfevents.1", b"".join([*records[:100], bytes(broken), *records[101:]])
    )
    run = diagnosed(log)
    assert points(run) == 199
    (warning,) = warnings(run)
    assert str(len(b"".join(records[:100]))) in str(warning["place"]) + str(warning["message"])


def test_csv_whose_columns_change_midway(tmp_path: Path) -> None:
    wide = [{"step": i, "loss": 1.0 / (1 + i / 50), "val_loss": 1.1 / (1 + i / 50)} for i in range(200, 400)]
    log = written(tmp_path / "log.csv", csv_text(LOSSES) + csv_text(wide))  # type: ignore[arg-type]
    run = diagnosed(log)
    assert points(run) == 400
    assert points(run, "val/loss") == 200


def test_csv_with_broken_rows(tmp_path: Path) -> None:
    lines = csv_text(LOSSES).splitlines()  # type: ignore[arg-type]
    lines[50] = '50,"0.7,,,'
    lines[80] += ",9,9,9"
    run = diagnosed(written(tmp_path / "log.csv", "\n".join(lines) + "\n"))
    assert points(run) >= 195
    assert warnings(run)


def test_json_with_bare_nan(tmp_path: Path) -> None:
    log = written(tmp_path / "log.jsonl", jsonl_text(diverging_rows()))
    assert b"NaN" in log.read_bytes()
    run = diagnosed(log)
    assert points(run) == 400
    assert "loss-not-finite" in {f["slug"] for f in run["findings"]}  # type: ignore[attr-defined]


def test_json_cut_in_the_middle(tmp_path: Path) -> None:
    history = [{"step": i, "loss": 2.0 / (1 + i), "epoch": i / 100} for i in range(100)]
    whole = json.dumps({"global_step": 99, "log_history": history, "is_world_process_zero": True}, indent=2)
    log = written(tmp_path / "trainer_state.json", whole[: len(whole) // 2])
    done = traindx("diagnose", log, "-f", "json", cwd=tmp_path)
    if done.status == 2:
        refused(done, "trainer_state.json")
    else:
        (run,) = json.loads(done.out)["runs"]
        assert points(run) >= 45
        assert warnings(run)


def test_one_row_only(tmp_path: Path) -> None:
    run = diagnosed(written(tmp_path / "log.csv", "step,loss\n0,2.3\n"))
    assert points(run) == 1
    assert run["decision"]["action"] != "stop"  # type: ignore[index]
    assert run["not_evaluated"]


def test_all_nan(tmp_path: Path) -> None:
    run = diagnosed(written(tmp_path / "log.csv", "step,loss\n" + "".join(f"{i},nan\n" for i in range(100))))
    assert points(run) == 100
    assert {f["slug"] for f in run["findings"]} >= {"loss-not-finite"}  # type: ignore[attr-defined]


def test_unsorted_steps(tmp_path: Path) -> None:
    order = np.random.default_rng(0).permutation(len(LOSSES))
    run = diagnosed(written(tmp_path / "log.csv", csv_text([LOSSES[i] for i in order])))  # type: ignore[arg-type]
    in_order = diagnosed(written(tmp_path / "sorted" / "log.csv", csv_text(LOSSES)))  # type: ignore[arg-type]
    assert points(run) == points(in_order) == 200
    assert run["findings"] == in_order["findings"]


def test_a_hundred_thousand_tags(tmp_path: Path) -> None:
    """One line each for 100,000 metrics, and a loss among them: bounded output, and the loss is judged."""
    row = {"step": 0, "train_loss": 0.0, **{f"weights/layer_{i}/norm": 1.0 for i in range(100_000)}}
    lines = [json.dumps(row)] + [
        json.dumps({"step": i, "train_loss": 2.0 / (1 + i / 9)}) for i in range(1, 60)
    ]
    log = written(tmp_path / "log.jsonl", "\n".join(lines) + "\n")
    done = traindx("diagnose", log, cwd=tmp_path)
    assert done.status in (0, 1)
    assert len(done.out) < 50_000
    run = diagnosed(log)
    assert points(run) == 60 or (points(run) == 59 and warnings(run))


HOSTILE = "<script>alert(1)</script>\x1b[2J\x1b]0;owned\x07\u202e"


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_hostile_metric_names(tmp_path: Path, form: str) -> None:
    rows = [{**row, HOSTILE: 1.0, f"val/{HOSTILE}_loss": 1.0 + row["step"]} for row in healthy_rows(100)]
    log = written(tmp_path / "log.jsonl", jsonl_text(rows))
    done = traindx("diagnose", log, "--format", form, cwd=tmp_path, env={"NO_COLOR": "1"})
    assert done.status in (0, 1)
    assert not set(done.out) & {"\x1b", "\x07", "\u202e"}
    if form in ("html", "markdown"):
        assert "<script>alert" not in done.out


def test_no_permission(tmp_path: Path) -> None:
    """A file in a folder that may not be entered; root may, so then a link that leads to itself."""
    log = written(tmp_path / "closed" / "log.csv", csv_text(healthy_rows()))
    log.parent.chmod(0o000)
    try:
        path = log
        if os.geteuid() == 0:
            path = tmp_path / "loop.csv"
            path.symlink_to(path)
        refused(traindx("diagnose", path, cwd=tmp_path), path.name)
    finally:
        log.parent.chmod(0o755)


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    log = written(tmp_path / "log.csv", csv_text(healthy_rows()))
    done = traindx("diagnose", log, "--output", "/proc/report.json", cwd=tmp_path)
    refused(done, "/proc/report.json")
    full = traindx("diagnose", log, "--output", "/dev/full", cwd=tmp_path)
    refused(full, "/dev/full", "No space left")


def test_stdout_that_is_full(tmp_path: Path) -> None:
    log = written(tmp_path / "log.csv", csv_text(healthy_rows()))
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "diagnose", str(log)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment(),
            timeout=LIMIT,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("traindx: error: ")
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    """Somebody appends rows the whole time, half a line at a time: what was whole is diagnosed."""
    log = written(tmp_path / "log.csv", csv_text(healthy_rows()))
    stop = threading.Event()

    def grow() -> None:
        with log.open("a") as stream:
            step = 400
            while not stop.is_set():
                stream.write(f"{step},0.3,")
                stream.flush()
                stream.write("0.33\n")
                stream.flush()
                step += 1

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        runs = [diagnosed(log) for _ in range(3)]
    finally:
        stop.set()
        writer.join()
    counts = [points(run) for run in runs]
    assert counts == sorted(counts)
    assert counts[0] >= 400


def test_a_fifo_is_read_like_stdin(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=(csv_text(diverging_rows()),))
    writer.start()
    done = traindx("diagnose", fifo, "-f", "json", cwd=tmp_path)
    writer.join()
    assert done.status == 1
    assert points(json.loads(done.out)["runs"][0]) == 400


@pytest.mark.parametrize(
    "command", [("python", "a.ipynb"), ("a.ipynb",), ("python3", "-u", "a.ipynb", "--lr", "1")]
)
def test_a_notebook_is_no_script(tmp_path: Path, command: tuple[str, ...]) -> None:
    refused(traindx("run", "--", *command, cwd=tmp_path), "jupyter nbconvert --to script a.ipynb")


def test_a_script_that_reads_a_notebook_is_one(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('read')\n")
    assert "nbconvert" not in traindx("run", "--", "python", "train.py", "a.ipynb", cwd=tmp_path).err
