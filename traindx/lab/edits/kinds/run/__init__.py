"""Edits of the whole run: its precision, seed, modes and length."""
