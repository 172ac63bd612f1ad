"""Edits of the optimizer, its settings, its schedule and its step."""
