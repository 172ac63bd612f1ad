"""wgt rules: weights and their updates, from capture."""
