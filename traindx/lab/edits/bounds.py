"""Limits on the length and nesting of a source that is edited. LibCST's parser overflows its stack and ends
the process at a few thousand open brackets, and it spends about a tenth of a millisecond on each token."""

from __future__ import annotations

import re

MOST_TOKENS = 50_000  # about 5,000 lines of a script, or 5 s of parsing
DEEPEST = 200  # expressions inside one another; Python itself takes no more brackets
STRING = r"\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
TOKEN = re.compile(rf"(?P<comment>\#[^\n]*|\\\r?\n)|{STRING}|\w+|\n|[^\s\w]", re.DOTALL)
WORDS = frozenset({"not", "and", "or", "in", "is", "if", "else", "for", "lambda", "await", "yield"})


def refusal(text: str) -> str:
    """Why a source is too long or too deeply nested to be parsed, "" where it is not.

    An operator makes an expression one deeper until the comma or the line that ends it (`1 + 1 + 1` is
    nested as well)."""
    counts, depth, number = [0], 0, 0  # operators so far in each open bracket, and in all of them
    for match in TOKEN.finditer(text):
        token = match[0]
        number += match["comment"] is None
        if number > MOST_TOKENS:
            return f"the file has more than {MOST_TOKENS} tokens"
        if token in ("(", "[", "{"):
            counts[-1] += 1
            counts.append(0)
            depth += 1
        elif token in (")", "]", "}"):
            if len(counts) > 1:
                depth -= counts.pop()
        elif token == "," or (token == "\n" and len(counts) == 1):
            depth -= counts[-1]
            counts[-1] = 0
        elif token in WORDS or (len(token) == 1 and not token.isalnum() and token not in "_\n:;@"):
            counts[-1] += 1
            depth += 1
        if depth > DEEPEST:
            return f"an expression in the file is more than {DEEPEST} deep"
    return ""
