"""Edits of the model."""
