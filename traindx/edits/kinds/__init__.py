"""The kinds of edits, one file each."""
