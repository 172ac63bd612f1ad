"""Edits of the loss, and the graph behind it."""
