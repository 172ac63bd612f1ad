"""Train a small network once for every style of printing, and keep the logs.

    python tests/logs/make/text_logs.py

Writes `tests/logs/text/<style>.log` and next to it `<style>.json` with the numbers as the loop
printed them: columns with steps and values, and for some styles facts, events and the axis.
"""

from __future__ import annotations

import json
from pathlib import Path

import text_styles_detection
import text_styles_language
import text_styles_plain
import text_styles_tables
import text_styles_vision
from text_training import Printer

OUT = Path(__file__).parents[1] / "text"
MODULES = (
    text_styles_plain,
    text_styles_language,
    text_styles_vision,
    text_styles_tables,
    text_styles_detection,
)


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for module in MODULES:
        for name, style in module.STYLES.items():
            out = Printer()
            more = style(out) or {}
            text = "".join(out.lines)
            data = more.pop("bytes", None) or text.encode()
            (OUT / f"{name}.log").write_bytes(data)
            expected = {"columns": out.columns, **more}
            (OUT / f"{name}.json").write_text(
                json.dumps(expected, indent=None, separators=(",", ":")) + "\n", encoding="utf-8"
            )


if __name__ == "__main__":
    main()
