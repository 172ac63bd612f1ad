"""The version of traindx, as documents and records give it."""

from __future__ import annotations

VERSION = "0.1.0"
