"""gen rules: generalization."""
