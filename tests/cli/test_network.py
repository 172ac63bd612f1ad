"""What the verbs that experiment say of the network, and of a machine that cannot hold a script."""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from pathlib import Path

import pytest

from tests.cli.process import traindx
from tests.lab.conduct.processes import POST, server
from traindx.lab.conduct import enclosure

VERBS = ("check", "find-lr", "fix", "investigate")
UNSHARE = {"x86_64": 272, "aarch64": 97}  # the number of the system call
WISH = "The script tried to reach the network; experiments run without it. Allow it with --network."
LIMITS = "traindx: This machine cannot keep an experiment from "


@pytest.mark.parametrize("verb", VERBS)
def test_only_with_the_network_anything_is_sent(tmp_path: Path, verb: str) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(POST)
    with server() as (address, posts):
        command = ("--", sys.executable, "train.py", address)
        done = traindx(verb, *command, cwd=tmp_path)
        assert done.status == 2
        if enclosure.possible():
            assert posts == []
            assert WISH in done.err
            assert LIMITS not in done.err
        else:
            assert done.err.startswith(LIMITS)
            posts.clear()
        done = traindx(verb, "--network", *command, cwd=tmp_path)
        assert done.status == 2
        assert set(posts) == {b"loss=0.1"}
        assert WISH not in done.err


def without_namespaces() -> None:
    """Refuse this process the system call that makes namespaces, as Docker does by default."""
    libc = ctypes.CDLL(None, use_errno=True)
    load, equal, done = 0x20, 0x15, 0x06
    refused, allowed = 0x50001, 0x7FFF0000
    rules = (
        (load, 0, 0, 0),
        (equal, 0, 1, UNSHARE[platform.machine()]),
        (done, 0, 0, refused),
        (done, 0, 0, allowed),
    )
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(text))
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # no new privileges
    assert libc.prctl(22, 2, program, 0, 0) == 0  # a filter of system calls


@pytest.mark.skipif(
    platform.machine() not in UNSHARE or sys.platform != "linux", reason="filters of system calls"
)
@pytest.mark.parametrize("verb", VERBS)
def test_a_machine_that_cannot_hold_a_script_says_so_first(tmp_path: Path, verb: str) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(POST)
    with server() as (address, posts):
        command = ("--", sys.executable, "train.py", address)
        done = traindx(verb, *command, cwd=tmp_path, before=without_namespaces)
        assert done.err.startswith(LIMITS)
        assert "or using the network.\n" in done.err
        assert posts  # which is what it said
        done = traindx(verb, "--network", *command, cwd=tmp_path, before=without_namespaces)
        assert "the network." not in done.err
        assert "or changing permissions and times of your files.\n" in done.err
