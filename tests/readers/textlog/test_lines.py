"""Bytes to lines: every kind of line end, across every block boundary, in bounded memory."""

from __future__ import annotations

import io
import tracemalloc

import pytest
from hypothesis import given, strategies as st

from traindx.readers.textlog import lines
from traindx.readers.textlog.lines import blocks, signature, signed_lines
from traindx.readers.textlog.scanner import FRUITLESS, MOST_TEMPLATES, Scanner


def all_lines(data: bytes) -> list[str]:
    return [line for block in blocks(io.BytesIO(data)) for line in block]


def test_line_ends_of_every_kind() -> None:
    assert all_lines(b"a\nb\r\nc\rd\x08\x08\x08e\nf") == ["a", "b", "c", "d", "e", "f"]


def test_colours_and_titles_are_taken_out() -> None:
    assert all_lines(b"\x1b[1;31mloss\x1b[0m \x1b]0;title\x07 0.5\x1b[K\n") == ["loss  0.5"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_byte_order_marks(encoding: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    assert all_lines(mark + "Verlust: 0,5 é\nstep 1\n".encode(encoding)) == ["Verlust: 0,5 é", "step 1"]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert all_lines(b"loss \xff\xfe 0.5\n") == ["loss \ufffd\ufffd 0.5"]


def test_a_line_without_end_is_cut() -> None:
    data = b"x" * (3 * lines.BLOCK) + b"\nloss 1\n"
    found = all_lines(data)
    assert len(found[0]) == lines.LONGEST
    assert found[1:] == ["loss 1"]


class Endless(io.RawIOBase):
    """A stream of one record without end, of `size` bytes."""

    def __init__(self, size: int) -> None:
        self.left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        take = min(len(view), self.left)
        view[:take] = (b"step 1 loss 2.5\n" * (take // 16 + 1))[:take]
        self.left -= take
        return take


def test_memory_does_not_grow_with_the_file() -> None:
    tracemalloc.start()
    count = sum(1 for _ in signed_lines(io.BufferedReader(Endless(8 << 20))))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == (8 << 20) // 16
    assert peak < 16 << 20


texts = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\x1b\x00\r\x08\n"), max_size=30), max_size=20
)


@given(texts, st.integers(1, 7))
def test_blocks_of_any_size_give_the_same_lines(parts: list[str], size: int) -> None:
    data = "\n".join([*parts, ""]).encode()

    class Small(io.BytesIO):
        def read1(self, _: int | None = -1) -> bytes:
            return super().read(size)

    together = [line for block in blocks(Small(data)) for line in block]
    assert together == [p.removeprefix("\ufeff") if i == 0 else p for i, p in enumerate(parts)]


@given(texts)
def test_signatures_by_the_block_are_those_of_the_lines(parts: list[str]) -> None:
    data = "\n".join([*parts, ""]).encode()
    for number, (line, mark) in signed_lines(io.BytesIO(data)):
        assert number >= 1
        assert mark == signature(line)
        assert not set(mark) & set(b"0123456789 \t")


def test_lines_that_each_have_names_of_their_own_are_given_up() -> None:
    """Without digits they all look the same, and no template of one fits another."""
    text = b"".join(b'{"step": %d, "m%d": 0.5}\n' % (i, i) for i in range(5 * FRUITLESS))
    scanner = Scanner(signed_lines(io.BytesIO(text + b"step 7 loss 0.25\n")))
    scanner.run()
    assert scanner.strays <= MOST_TEMPLATES + FRUITLESS
    assert any(f.name == "loss" for v in scanner.variants for f in v.fields)
