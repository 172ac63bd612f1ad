"""arc rules: the architecture."""
