"""The status line below a script's output, at real pseudo terminals of 80x24: what it says, and that it changes nothing
of what the script prints."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import random
import re
import select
import struct
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cli.process import COMMAND, environment
from tests.processes import started
from traindx.capture.launch import status_line
from traindx.capture.launch.status_line import StatusLine
from traindx.capture.store.recorder import Recorder
from traindx.live.status import Counter, Tail

LIMIT = 600  # seconds after which a process hangs
PLAIN = b"".join(b"epoch %d/9 loss %.4f\n" % (i, 1 / i) for i in range(1, 10))
BARS = b"".join(b"\r%3d%%|%s| %d/20 [00:0%d]" % (5 * i, b"#" * i, i, i % 9) for i in range(21)) + b"\ndone\n"
COLORS = b"\x1b[32mINFO\x1b[0m saved \x1b]8;;file:///a\x1b\\a\x1b]8;;\x1b\\\nnext\r\n" * 3
RICH = b"\r\x1b[2K\x1b[1A\x1b[2Kbar 1\nbar 2"  # a block of two lines that is drawn again
PROMPT = b"epoch 1\nGo on? [y/n] "


def screen(data: bytes) -> list[str]:
    """The lines that a terminal shows; of the sequences only those that are used here."""
    lines, row, at = [""], 0, 0
    for piece in re.findall(r"\x1b\[[\d;]*[A-Za-z]|\x1b\].*?\x1b\\|.", data.decode(), re.DOTALL):
        if piece == "\n":
            row, at = row + 1, 0
            lines += [""] * (row == len(lines))
        elif piece == "\r":
            at = 0
        elif piece == "\x1b[K":
            lines[row] = lines[row][:at]
        elif piece == "\x1b[2K":
            lines[row] = ""
        elif piece.endswith(("A", "B")) and len(piece) > 1:
            row += int(piece[2:-1] or 1) * (1 if piece.endswith("B") else -1)
        elif piece.endswith("L") and len(piece) > 1:
            lines[row:row] = [""] * int(piece[2:-1])
        elif not piece.startswith("\x1b"):
            lines[row] = lines[row][:at].ljust(at) + piece + lines[row][at + 1 :]
            at += 1
    return [line.rstrip() for line in lines]


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def shown(ours: int) -> bytes:
    seen = b""
    while select.select([ours], [], [], 0)[0]:
        seen += os.read(ours, 65536)
    return seen


@pytest.mark.parametrize("printed", [PLAIN, BARS, COLORS, PROMPT, PLAIN + BARS + PLAIN])
def test_the_output_of_the_script_is_on_the_screen_as_without_it(
    terminal: tuple[int, int], printed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_line, "DRAWN", 0.0)  # also between bars
    ours, theirs = terminal
    for seed in range(20):
        below, chance, left = StatusLine(theirs), random.Random(seed), printed
        seen = b""
        while left:
            size = chance.randint(1, 40)
            assert below.pass_on(left[:size])
            left = left[size:]
            if chance.random() < 0.7:
                below.receive(
                    b"Sstep %d" % chance.randint(0, 99999) + b" of 9999" * chance.randint(0, 20) + b"\n"
                )
            seen += shown(ours)
        below.close()
        assert screen(seen + shown(ours)) == screen(printed)


def test_it_is_at_the_bottom_and_fits_the_terminal(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    below = StatusLine(theirs)
    below.receive(b"Sstep 1" + b" and so on" * 20 + b"\n")
    below.pass_on(b"epoch 1\n")
    seen = shown(ours)
    assert [line[:7] for line in screen(seen)] == ["epoch 1", "step 1 "]
    assert len(screen(seen)[-1]) == 79
    below.receive(b"Sstep 2\nLa finding\nSst")
    below.receive(b"ep 3\n")
    assert screen(seen + shown(ours)) == ["epoch 1", "a finding", "step 3"]


def test_a_script_that_draws_or_asks_has_the_terminal_to_itself(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    for printed in (b"\r 10%|#  |", b"\r100%|###|\n", b"\x1b[2J\n", b"1/9\b\b\b2/9\n", PROMPT):
        below = StatusLine(theirs)
        below.pass_on(printed)
        below.receive(b"Sstep 1\n")
        assert shown(ours) == printed
    below.receive(b"La finding\n")  # which is on a line of its own
    assert shown(ours) == b"\na finding\nstep 1"


@pytest.mark.parametrize(
    ("printed", "seen"),
    [
        (b"\r 10%|#  |\r 20%|## |", ["a finding", "b", " 20%|## |"]),  # below them the bar goes on
        (b"10%\r20%\r", ["a finding", "b", "20%"]),
        (b"epoch 1\n\r 1/2\n\r  3/9\x1b[A\r 2/2", ["epoch 1", "a finding", "b", " 2/2", "  3/9"]),
        (
            b"log\nbar 1\nbar 2" + RICH[:-1] + b"2" + RICH[:-1] + b"done",
            ["log", "a finding", "b", "bar 1", "bar done"],
        ),
        (b"an open line", ["an open line", "a finding", "b"]),
        (b"a line\r", ["a line", "a finding", "b"]),  # whose end is \r\n
    ],
)
def test_a_finding_is_above_the_bar_and_below_everything_else(
    terminal: tuple[int, int], printed: bytes, seen: list[str]
) -> None:
    ours, theirs = terminal
    below = StatusLine(theirs)
    below.pass_on(printed)
    below.receive(b"La finding\nLb\n")
    assert "\n".join(screen(shown(ours))).rstrip("\n") == "\n".join(seen)


def test_while_a_password_is_asked_for_nothing_is_printed(terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    below, modes = StatusLine(theirs), termios.tcgetattr(theirs)
    hidden = [*modes[:3], modes[3] & ~termios.ECHO, *modes[4:]]
    termios.tcsetattr(theirs, termios.TCSANOW, hidden)
    below.receive(b"Sstep 1\nLa finding\n")
    assert shown(ours) == b""
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    below.receive(b"Sstep 2\n")
    assert screen(shown(ours)) == ["a finding", "step 2"]


def test_lines_that_stay_are_printed_without_a_terminal_too(tmp_path: Path) -> None:
    with open(tmp_path / "err", "w+b") as file:
        below = StatusLine(file.fileno())
        below.pass_on(b"open line")
        below.receive(b"La finding\nSstep 1\n")
        below.close()
        file.seek(0)
        assert file.read() == b"open line\na finding\n"


@pytest.mark.parametrize(
    ("printed", "end"),
    [
        ([(1, 40), (2, 80), (3, 120)], 400),  # "epoch 1/10" after each epoch
        ([(1, 1), (2, 41), (3, 81)], 401),  # before each
        ([(0, 40), (1, 80)], 400),  # counted from 0, after each
        ([(6, 40), (7, 80)], 200),  # resumed
        ([(1, 40)], None),  # how long an epoch takes is unknown
        ([(8, 40), (9, 80), (1, 120)], None),  # counted within something else
    ],
)
def test_the_planned_end_follows_from_what_the_script_counts(
    printed: list[tuple[int, int]], end: float | None
) -> None:
    counter = Counter()
    for count, steps in printed:
        counter.read(b"Epoch [%d/10] loss 0.1\nstep 3/7\n" % count, steps)
        counter.read(b"nothing\n", steps + 20)
    assert counter.end() == end


def test_the_end_of_a_growing_record_is_read_from_where_it_was_left(tmp_path: Path) -> None:
    recorder, tail = Recorder(tmp_path, budget=1 << 20), Tail(tmp_path)
    tail.read()
    assert tail.time == 0
    for i in range(1, 41):
        recorder.scalars(i, 100.0 + i, {"train/loss": 1 / i, f"signal/{i}": 0.0})
        recorder.panel(i, 100.0 + i, "weight_norm", "a\nb", np.ones(2).tolist())
        if i % 10 == 0:
            recorder.flush()
            tail.read()
            assert (tail.step, tail.time, tail.values["train/loss"]) == (i, 100.0 + i, 1 / i)
    assert tail.first == (1, 101.0)
    assert tail.offset == sum(file.stat().st_size for file in tmp_path.glob("steps-*"))
    recorder.close()
    tail.read()
    assert tail.step == 40


SCRIPT = """
import os, sys, torch

model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(1, 100000):
    for _ in range(50):
        x = torch.randn(16, 8)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
        loss.backward()
        optimizer.step()
        if sys.argv[1] == "bars":
            print(end=f"\\r epoch {epoch}/100000", flush=True)
    print(f"epoch {epoch}/100000", flush=True)
    if os.path.exists("enough"):
        break
if sys.argv[1] == "dies":
    raise ValueError("on purpose")
"""


@pytest.mark.parametrize("kind", ["plain", "dies", "bars", "piped"])
def test_a_run_at_a_terminal(tmp_path: Path, kind: str) -> None:
    """The line appears while a script prints, and is gone when the report comes. With bars, or where a pipe takes the
    script's output, whose reader may print to the same terminal, there is none: a first event shows that it was time."""
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(SCRIPT)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    options = ["--out", "record", "--ignore", "SYS", "--events", "events.jsonl"]
    command = [*COMMAND, "run", *options, "--", sys.executable, "train.py", kind]
    if kind == "piped":
        command = ["sh", "-c", '"$@" | cat', "sh", *command]
    with started(
        command, terminal=True, cwd=tmp_path, env=environment(PYTHONWARNINGS=""), stdin=theirs, stdout=theirs,
        stderr=theirs,
    ):  # fmt: skip
        os.close(theirs)
        seen, wanted = b"", kind in ("plain", "dies")
        with contextlib.suppress(OSError):  # the end of a pseudo terminal
            while piece := os.read(ours, 65536):
                seen += piece
                begun = (tmp_path / "events.jsonl").exists() and (tmp_path / "events.jsonl").stat().st_size
                if begun and (not wanted or b" left" in seen):
                    (tmp_path / "enough").touch()
    os.close(ours)
    lines = screen(seen)
    line = re.compile(
        rb"traindx: epoch [\d,]+/100000, step [\d,]+, \w+, loss [\d.e-]+, (?:[\d,.]+ steps/s, )?[^\r\n]+ left"
    )
    assert bool(line.search(seen)) == wanted, seen[-5000:]
    assert not any(text.startswith("traindx: epoch") for text in lines)
    if kind != "bars":
        epochs = [int(text.split()[1].partition("/")[0]) for text in lines if text.startswith("epoch ")]
        assert epochs == list(range(1, len(epochs) + 1))
    assert ("ValueError: on purpose" in "\n".join(lines)) == (kind == "dies")
    assert any(text.startswith("The record: record") for text in lines)
