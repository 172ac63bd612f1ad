"""The general reader of text logs, in parts: lines, numbers, grammar, templates, axis, selection."""
