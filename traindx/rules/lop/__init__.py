"""lop rules: the training loop."""
