"""lrs rules: schedule."""
