"""What most verbs need, for one import: `from traindx.cli.api import click, emit`. It reads no log and knows no rule."""

from pathlib import Path

import click

from traindx.cli.options import (
    READING_OPTIONS,
    Format,
    Output,
    codes,
    command_argument,
    config_options,
    fence_options,
    full_option,
    output_options,
    plain_output_options,
    price_option,
    reading_options,
    resolve_config,
    severity_option,
    state_limits,
    with_resolved_options,
)
from traindx.cli.streams import emit, figures_in, note, progress, stdout_colors, stdout_width, write_file
from traindx.config import Config
from traindx.errors import ConfigError, ReadError

__all__ = [
    "READING_OPTIONS",
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
    "fence_options",
    "figures_in",
    "full_option",
    "note",
    "output_options",
    "plain_output_options",
    "price_option",
    "progress",
    "reading_options",
    "resolve_config",
    "severity_option",
    "state_limits",
    "stdout_colors",
    "stdout_width",
    "with_resolved_options",
    "write_file",
]
