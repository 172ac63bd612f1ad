"""grd rules: gradients."""
