"""What most verbs need, for one import: `from traindx.cli.api import click, emit`. It reads no log and knows no rule."""

from pathlib import Path

import click

from traindx.cli.options import (
    FENCE_OPTIONS,
    OUTPUT_OPTIONS,
    Format,
    Output,
    codes,
    command_argument,
    config_options,
    full_option,
    output_options,
    price_option,
    reading_options,
    settle_output,
    state_limits,
    with_options,
)
from traindx.cli.streams import emit, note, progress, stdout_colors, stdout_width, write_file
from traindx.config import Config
from traindx.errors import ConfigError, ReadError

__all__ = [
    "FENCE_OPTIONS",
    "OUTPUT_OPTIONS",
    "Config",
    "ConfigError",
    "Format",
    "Output",
    "Path",
    "ReadError",
    "click",
    "codes",
    "command_argument",
    "config_options",
    "emit",
    "full_option",
    "note",
    "output_options",
    "price_option",
    "progress",
    "reading_options",
    "settle_output",
    "state_limits",
    "stdout_colors",
    "stdout_width",
    "with_options",
    "write_file",
]
