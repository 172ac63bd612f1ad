"""prc rules: precision."""
