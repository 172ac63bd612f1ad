"""los rules: loss."""
