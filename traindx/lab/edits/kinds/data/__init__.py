"""Edits of the data and their loaders."""
