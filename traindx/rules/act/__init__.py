"""act rules: activations, from capture."""
